/* SPDX-License-Identifier: MIT */
/*
 * The graph: a place for each mount point, found by the hash of its path, so that the lines on
 * the way to a path are found by the hashes of its prefixes.  A line needs the first line of each
 * place on the way; of those above its mount point also the last, which covers the others.
 *
 * Source: mount_add_mount_dependencies() and mount_add_default_ordering_dependencies() of
 * systemd's src/core/mount.c; src/fstab-generator/fstab-generator.c; mount(8).
 */
#include "fstab/order_impl.h"

#include "base/array.h"
#include "base/map64.h"
#include "base/words.h"
#include "fstab/places.h"
#include "mountopts/optlist.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Patterns of branches that are compared with all mount points: the rest is not. */
enum { PATTERNS_MAX = 64 };

/** A mount point. */
struct place {
	const char *path;
	uint32_t next;           /* the next of the same hash */
	uint32_t first, last;    /* its lines that a boot mounts; ORDER_NONE */
	uint32_t idle;           /* its first line that none does; ORDER_NONE */
};

/** A line that is to be mounted before another one says so: x-systemd.before=. */
struct before {
	uint32_t line, next;
};

struct maker {
	struct order *order;
	struct place *places;
	uint32_t nplaces;
	struct map64 by_path;
	size_t needs_room, nowhere_room;
	uint32_t *seen;          /* for each line and kind: a need of it, if it is of this line */
	uint32_t *befores;       /* of each line: the first in `list` */
	struct before *list;
	size_t nlist, list_room;
	uint32_t at;             /* the line whose needs are looked for */
	unsigned patterns;
	bool failed;             /* ENOMEM */
};

/* Places. */

static struct place *find_place(const struct maker *m, const char *path, size_t n, uint64_t hash)
{
	for (uint32_t i = map64_get(&m->by_path, hash); i != MAP64_NONE; i = m->places[i].next) {
		if (strncmp(m->places[i].path, path, n) == 0 && !m->places[i].path[n])
			return &m->places[i];
	}
	return NULL;
}

/** The place of a path; NULL: it has none, or there is no path. */
static struct place *find_path(const struct maker *m, const char *path)
{
	return path ? find_place(m, path, strlen(path), map64_text(path)) : NULL;
}

/** Put a line to its place. */
static void add_line(struct maker *m, uint32_t i)
{
	const char *path = m->order->lines[i].path;
	struct place *place = find_path(m, path);
	if (!place) {
		uint64_t hash = map64_text(path);
		place = &m->places[m->nplaces];
		*place = (struct place){path, map64_remove(&m->by_path, hash), ORDER_NONE,
		                        ORDER_NONE, ORDER_NONE};
		m->failed |= map64_put(&m->by_path, hash, m->nplaces++) == MAP64_NONE;
	}
	if (m->order->flags[i] & ORDER_IS_IDLE) {
		place->idle = place->idle == ORDER_NONE ? i : place->idle;
		return;
	}
	place->first = place->first == ORDER_NONE ? i : place->first;
	place->last = i;
}

/* Needs. */

static struct order_need *add_need(struct maker *m, uint32_t line, enum order_kind kind,
                                   const char *path)
{
	struct order *order = m->order;
	uint32_t *seen = &m->seen[(size_t)line * ORDER_KINDS + kind];
	uint32_t count = order->begin[m->at + 1];
	if (line == m->at)
		return NULL;
	if (*seen >= order->begin[m->at] && *seen < count && order->needs[*seen].line == line
	    && order->needs[*seen].kind == kind)
		return &order->needs[*seen];
	m->failed |= count >= ORDER_NONE - 1 || !ARRAY_ROOM(order->needs, count, &m->needs_room);
	if (m->failed)
		return NULL;
	*seen = count;
	order->needs[count] = (struct order_need){.line = line, .kind = kind, .path = path};
	++order->begin[m->at + 1];
	return &order->needs[count];
}

/** Need the lines of a place.  @return whether there are any. */
static bool need_place(struct maker *m, const struct place *place, enum order_kind kind,
                       const char *path, struct order_need *of[2])
{
	const char *own = m->order->lines[m->at].path;
	/* Of the lines of one mount point none needs the other. */
	if (!place || (own && strcmp(own, place->path) == 0))
		return false;
	if (place->first == ORDER_NONE) {
		of[0] = add_need(m, place->idle, kind, path);
		of[1] = NULL;
	} else {
		/* Two calls may move the array: by number. */
		of[0] = add_need(m, place->first, kind, path);
		ptrdiff_t first = of[0] ? of[0] - m->order->needs : -1;
		bool covers = kind == ORDER_PARENT && place->last != place->first;
		of[1] = covers ? add_need(m, place->last, kind, path) : NULL;
		of[0] = first >= 0 ? &m->order->needs[first] : NULL;
	}
	return of[0] || of[1];
}

/** Need the lines that mount a directory above a path.  @itself  Or the path.
    @return whether one of the path itself was found. */
static bool need_path(struct maker *m, const char *path, bool itself, enum order_kind kind)
{
	struct order_need *of[2];
	ptrdiff_t nearest[2] = {-1, -1};
	uint64_t hash = MAP64_BYTES;
	const struct place *root = path[1] ? find_path(m, "/") : NULL;
	bool exact = false;
	/* The root is mounted before any line is read. */
	if (root && root->first != ORDER_NONE && m->order->lines[root->first].added)
		need_place(m, root, kind, path, of);
	for (size_t n = 0; path[n] && path[1] && !m->failed;) {
		size_t more = 1 + strcspn(path + n + 1, "/");
		hash = map64_bytes(hash, path + n, more);
		n += more;
		if (!path[n] && !itself)
			break;
		if (!need_place(m, find_place(m, path, n, hash), kind, path, of))
			continue;
		exact = !path[n];
		for (int k = 0; k < 2; ++k)
			nearest[k] = of[k] ? of[k] - m->order->needs : -1;
	}
	for (int k = 0; k < 2; ++k) {
		if (nearest[k] >= 0)
			m->order->needs[nearest[k]].nearest = true;
	}
	return exact;
}

/** Need all mount points that a pattern of branches matches, and the directory that it is in. */
static bool need_pattern(struct maker *m, const char *pattern)
{
	size_t n = strcspn(pattern, "*?[");
	while (n > 0 && pattern[n] != '/')
		--n;
	char *above = arena_strndup(&m->order->arena, pattern, n ? n : 1);
	m->failed |= !above;
	if (above)
		need_path(m, above, true, ORDER_BRANCH);
	for (uint32_t i = 0; i < m->nplaces && m->patterns < PATTERNS_MAX && !m->failed; ++i) {
		struct order_need *of[2];
		if (fnmatch(pattern, m->places[i].path, FNM_PATHNAME) == 0
		    && need_place(m, &m->places[i], ORDER_BRANCH, m->places[i].path, of)) {
			for (int k = 0; k < 2; ++k) {
				if (of[k])
					of[k]->nearest = true;
			}
		}
	}
	++m->patterns;
	return !m->failed;
}

static bool each_path(void *arg, const char *path, enum order_kind kind)
{
	struct maker *m = arg;
	if (kind == ORDER_BRANCH && strpbrk(path, "*?["))
		return need_pattern(m, path);
	need_path(m, path, true, kind);
	return !m->failed;
}

/** Decode the name of a mount or automount unit, in place: systemd.unit(5).
    @return whether it is one. */
static bool decode_unit(char *name)
{
	char *dot = strrchr(name, '.'), *to = name;
	if (!dot || dot == name || (strcmp(dot, ".mount") != 0 && strcmp(dot, ".automount") != 0))
		return false;
	*dot = '\0';
	for (const char *at = name; *at; ++to) {
		unsigned byte;
		bool escape = at[0] == '\\' && at[1] == 'x' && isxdigit((unsigned char)at[2])
		              && isxdigit((unsigned char)at[3])
		              && sscanf(at + 2, "%2x", &byte) == 1;
		*to = escape ? (char)byte : *at == '-' ? '/' : *at;
		at += escape ? 4 : 1;
	}
	*to = '\0';
	return true;
}

/** The mount point that a value of n bytes names, as a path or a unit; NULL: none. */
static const char *named_path(struct maker *m, const char *value, size_t n)
{
	struct arena *arena = &m->order->arena;
	char *text = arena_alloc(arena, n + 2);
	m->failed |= !text;
	if (!text)
		return NULL;
	memcpy(text + 1, value, n);
	text[0] = '/';
	text[n + 1] = '\0';
	if (*value == '/')
		return strncmp(value, "/dev/", 5) == 0 ? NULL : fstab_normal(arena, text + 1);
	return decode_unit(text + 1) ? fstab_normal(arena, text) : NULL;
}

/** The value of an option of systemd; NULL: it is another one. */
static const char *value_of(const char *option, size_t n, const char *name, size_t *len)
{
	size_t m = strlen(name);
	if (n <= m || strncmp(option, name, m) != 0)
		return NULL;
	*len = n - m;
	return option + m;
}

static void add_before(struct maker *m, uint32_t line)
{
	m->failed |= !ARRAY_ROOM(m->list, m->nlist, &m->list_room);
	if (m->failed)
		return;
	m->list[m->nlist] = (struct before){m->at, m->befores[line]};
	m->befores[line] = (uint32_t)m->nlist++;
}

/** Note who is to be mounted before others: which need it then. */
static void read_before(struct maker *m, uint32_t i)
{
	const char *list = m->order->lines[i].options, *value;
	size_t n, len;
	m->at = i;
	for (const char *o; (o = opt_next(&list, &n)) != NULL && !m->failed;) {
		if ((value = value_of(o, n, "x-systemd.before=", &len)) == NULL)
			continue;
		const char *path = named_path(m, value, len);
		const struct place *place = find_path(m, path);
		if (place)
			add_before(m, place->first != ORDER_NONE ? place->first : place->idle);
	}
}

static void read_systemd_options(struct maker *m, const char *list)
{
	size_t n, len;
	for (const char *o; (o = opt_next(&list, &n)) != NULL && !m->failed;) {
		struct order_need *of[2];
		const char *requires = value_of(o, n, "x-systemd.requires=", &len);
		const char *value = requires;
		if (!value)
			value = value_of(o, n, "x-systemd.after=", &len);
		const char *path = value ? named_path(m, value, len) : NULL;
		const struct place *place = find_path(m, path);
		enum order_kind kind = requires ? ORDER_REQUIRES : ORDER_AFTER;
		if (need_place(m, place, kind, path, of) && of[0])
			of[0]->nearest = true;
		if (requires && path && path[1] && !place) {
			struct order *order = m->order;
			m->failed |= !ARRAY_ROOM(order->nowhere, order->nnowhere, &m->nowhere_room);
			if (m->failed)
				return;
			order->nowhere[order->nnowhere++] = (struct order_nowhere){m->at, path};
		}
		value = value_of(o, n, "x-systemd.requires-mounts-for=", &len);
		path = value && *value == '/' ? named_path(m, value, len) : NULL;
		if (path)
			need_path(m, path, true, ORDER_REQUIRES);
	}
}

static void read_needs(struct maker *m, uint32_t i)
{
	struct order *order = m->order;
	const struct order_line *line = &order->lines[i];
	m->at = i;
	order->begin[i + 1] = order->begin[i];
	if (line->path)
		need_path(m, line->path, false, ORDER_PARENT);
	if (!m->failed && order_each_path(line, &order->arena, each_path, m) != 0)
		m->failed = true;
	read_systemd_options(m, line->options);
	for (uint32_t b = m->befores[i]; b != ORDER_NONE && !m->failed; b = m->list[b].next)
		add_need(m, m->list[b].line, ORDER_AFTER, order->lines[m->list[b].line].path);
}

int order_make(const struct order_line *lines, uint32_t count, struct order *order)
{
	size_t n = (size_t)count + 1;
	*order = (struct order){
		.lines = lines,
		.count = count,
		.flags = calloc(n, sizeof(*order->flags)),
		.begin = calloc(n, sizeof(*order->begin)),
		.sequence = calloc(n, sizeof(*order->sequence)),
		.first = calloc(n, sizeof(*order->first)),
		.last = calloc(n, sizeof(*order->last)),
		.root = ORDER_NONE,
	};
	arena_init(&order->arena);
	struct maker m = {
		.order = order,
		.places = calloc(n, sizeof(*m.places)),
		.seen = calloc(n * ORDER_KINDS, sizeof(*m.seen)),
		.befores = malloc(n * sizeof(*m.befores)),
	};
	map64_init(&m.by_path);
	m.failed = !order->flags || !order->begin || !order->sequence || !order->first
	           || !order->last || !m.places || !m.seen || !m.befores;
	for (uint32_t i = 0; i < count && !m.failed; ++i) {
		order->flags[i] = order_flags_of(&lines[i]);
		m.befores[i] = ORDER_NONE;
		if (lines[i].path)
			add_line(&m, i);
	}
	for (uint32_t i = 0; i < count && !m.failed; ++i)
		read_before(&m, i);
	for (uint32_t i = 0; i < count && !m.failed; ++i) {
		const char *path = lines[i].path;
		const struct place *place = find_path(&m, path);
		order->first[i] = place ? place->first : ORDER_NONE;
		order->last[i] = place ? place->last : ORDER_NONE;
		if (place && !path[1])
			order->root = place->first;
		read_needs(&m, i);
	}
	m.failed = m.failed || order_find_boot(order) != 0;
	map64_destroy(&m.by_path);
	free(m.places);
	free(m.seen);
	free(m.befores);
	free(m.list);
	if (m.failed)
		errno = ENOMEM;
	return m.failed ? -1 : 0;
}

void order_destroy(struct order *order)
{
	free(order->flags);
	free(order->needs);
	free(order->begin);
	free(order->sequence);
	free(order->first);
	free(order->last);
	free(order->nowhere);
	arena_destroy(&order->arena);
	*order = (struct order){0};
}
