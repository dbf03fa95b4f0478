/* SPDX-License-Identifier: MIT */
/*
 * Make the graph.  Each mount point is a `target`, found by the hash of its path, so that the mount
 * points above a path are found by the hashes of the prefixes of the path.  A line needs the first
 * line of each mount point above its paths.  If several lines have a mount point above the mount
 * point of a line, the line also needs the last of them, which is mounted over the first.
 *
 * Source: mount_add_mount_dependencies() and mount_add_default_ordering_dependencies() of
 * systemd's src/core/mount.c; src/fstab-generator/fstab-generator.c; mount(8).
 */
#include "fstab/order.h"

#include "base/pathmap.h"

#include <fnmatch.h>
#include <string.h>

/** Maximum number of glob patterns for branches (the directories that a mergerfs line unites), in
    all lines together, that are compared with the mount points. */
enum { PATTERNS_MAX = 64 };

/** A mount point. */
struct target {
	const char *path;
	uint32_t first, last;    /* first: the first line of this mount point without
	                            ORDER_IS_IDLE; last: as order.last; ORDER_NONE: no such line */
	uint32_t idle;           /* the first line of this mount point with ORDER_IS_IDLE;
	                            ORDER_NONE: no such line */
};

/** Line `from` needs the line need.line. */
struct edge {
	uint32_t from;
	struct order_need need;
};

struct maker {
	struct order *order;
	struct target *targets;
	uint32_t ntargets;
	struct pathmap by_path;
	struct edge *edges;
	size_t nedges;
	uint32_t *seen;          /* seen[line * ORDER_KINDS + kind]: index of the latest edge of
	                            this kind to `line` */
	uint32_t at;             /* the line whose needs are being found */
	unsigned patterns;
	struct order_paths paths;   /* paths that line `at` needs */
	struct arena *arena;     /* memory of the graph and of this struct */
};

/* Mount points of the lines. */

/** Find the target of a mount point; NULL: no line has this mount point, or path is NULL. */
static struct target *find_target(const struct maker *m, const char *path)
{
	uint32_t i = path ? pathmap_get(&m->by_path, path) : PATHMAP_NONE;
	return i == PATHMAP_NONE ? NULL : &m->targets[i];
}

/** Add line i to the target of its mount point. */
static void add_line(struct maker *m, uint32_t i)
{
	const char *path = fstab_entry_target(m->order->lines[i]);
	struct target *target = find_target(m, path);
	if (!target) {
		target = &m->targets[m->ntargets];
		*target = (struct target){path, ORDER_NONE, ORDER_NONE, ORDER_NONE};
		pathmap_add(&m->by_path, path, m->ntargets++);
	}
	/* A remount line after the first line of a mount point mounts nothing. */
	if (target->first != ORDER_NONE && m->order->lines[i]->remount)
		m->order->flags[i] |= ORDER_IS_IDLE;
	if (m->order->flags[i] & ORDER_IS_IDLE) {
		target->idle = target->idle == ORDER_NONE ? i : target->idle;
		return;
	}
	target->first = target->first == ORDER_NONE ? i : target->first;
	/* mount -a skips noauto lines, even automounts: they do not replace a `last` that is
	   already set. */
	if (target->last == ORDER_NONE || !m->order->lines[i]->noauto)
		target->last = i;
}

/* Needs of the lines: edges of the graph. */

/** Add an edge from line `from` to line `line`.
    @return the index of the edge; ORDER_NONE: both lines are the same, or memory ran out. */
static uint32_t add_edge(struct maker *m, uint32_t from, uint32_t line, enum order_kind kind,
                         const char *path)
{
	if (m->nedges >= ORDER_NONE - 1)
		arena_fail(m->arena);
	if (line == from || m->arena->failed)
		return ORDER_NONE;
	ARENA_PUSH(m->arena, m->edges, m->nedges,
	           (struct edge){from, {.line = line, .kind = kind, .path = path}});
	return m->arena->failed ? ORDER_NONE : (uint32_t)m->nedges - 1;
}

/** Record, only once for each kind, that line m->at needs `line`.
    @return the index of the edge, or ORDER_NONE. */
static uint32_t add_need(struct maker *m, uint32_t line, enum order_kind kind, const char *path)
{
	uint32_t *seen = &m->seen[(size_t)line * ORDER_KINDS + kind];
	const struct edge *edge = *seen < m->nedges ? &m->edges[*seen] : NULL;
	if (!edge || edge->from != m->at || edge->need.line != line || edge->need.kind != kind)
		*seen = add_edge(m, m->at, line, kind, path);
	return *seen;
}

/** Record that line m->at needs the lines of a mount point.
    @of [out]  of[0]: index of the edge to the first line; of[1]: of the edge to the last line, if
               this line covers the first; ORDER_NONE: no edge.
    @return whether there is an edge. */
static bool need_target(struct maker *m, const struct target *target, enum order_kind kind,
                        const char *path, uint32_t of[2])
{
	const char *own = fstab_entry_target(m->order->lines[m->at]);
	/* Lines with the same mount point do not depend on each other. */
	if (!target || (own && strcmp(own, target->path) == 0))
		return false;
	bool idle = target->first == ORDER_NONE;
	bool covers = !idle && kind == ORDER_PARENT && target->last != target->first;
	of[0] = add_need(m, idle ? target->idle : target->first, kind, path);
	of[1] = covers ? add_need(m, target->last, kind, path) : ORDER_NONE;
	return of[0] != ORDER_NONE || of[1] != ORDER_NONE;
}

static void mark_nearest(struct maker *m, const uint32_t of[2])
{
	for (int k = 0; k < 2; ++k) {
		if (of[k] != ORDER_NONE)
			m->edges[of[k]].need.nearest = true;
	}
}

/** Record that line m->at needs the lines that mount directories above a path.
    @itself  Also the lines that mount the path itself. */
static void need_path(struct maker *m, const char *path, bool itself, enum order_kind kind)
{
	uint32_t of[2], nearest[2] = {ORDER_NONE, ORDER_NONE};
	const struct target *root = path[1] ? find_target(m, "/") : NULL;
	/* The root is mounted before the file is read, so a line of "/" is needed only if the merge
	   adds it: the merge then places it before all other lines. */
	if (root && root->first != ORDER_NONE && m->order->lines[root->first]->added)
		need_target(m, root, kind, path, of);
	for (struct pathmap_at at = pathmap_of(path); pathmap_next_above(&m->by_path, &at);) {
		if (at.n > 0 && (path[at.n] || itself)
		    && need_target(m, &m->targets[at.value], kind, path, of))
			memcpy(nearest, of, sizeof(of));
	}
	mark_nearest(m, nearest);
}

/** Record that line m->at needs all mount points matching a pattern of branches, and the directory
    in the pattern before the first wildcard. */
static void need_pattern(struct maker *m, const char *pattern)
{
	size_t n = strcspn(pattern, "*?[");
	while (n > 0 && pattern[n] != '/')
		--n;
	const char *above = arena_textn(m->arena, pattern, n ? n : 1);
	if (m->arena->failed)
		return;
	need_path(m, above, true, ORDER_BRANCH);
	for (uint32_t i = 0; i < m->ntargets && m->patterns < PATTERNS_MAX; ++i) {
		uint32_t of[2];
		if (m->targets[i].path[1] && fnmatch(pattern, m->targets[i].path, FNM_PATHNAME) == 0
		    && need_target(m, &m->targets[i], ORDER_BRANCH, m->targets[i].path, of))
			mark_nearest(m, of);
	}
	++m->patterns;
}

/** Record the needs that follow from an option of systemd such as x-systemd.requires=. */
static void read_option(struct maker *m, const struct opt *option)
{
	struct order *order = m->order;
	enum opt_meaning meaning = option->meaning;
	if (meaning < FO_REQUIRES || !option->value || !*option->value)
		return;
	char *value = arena_strndup(m->arena, option->value, strlen(option->value));
	if (!value)
		return;
	/* In a list of options, a backslash escapes a comma or a backslash. */
	for (char *at = value, *to = value; (*to = *at) != '\0'; ++at, ++to) {
		if (at[0] == '\\' && (at[1] == ',' || at[1] == '\\'))
			*to = *++at;
	}
	const char *path;
	if (meaning == FO_MOUNTS_FOR) {
		while ((path = order_next_required(&value, m->arena)) != NULL)
			need_path(m, path, true, ORDER_REQUIRES);
		return;
	}
	path = order_named_path(value, m->arena);
	const struct target *target = find_target(m, path);
	uint32_t of[2];
	if (meaning == FO_BEFORE) {
		if (target)
			add_edge(m, target->first != ORDER_NONE ? target->first : target->idle,
			         m->at, ORDER_AFTER, fstab_entry_target(order->lines[m->at]));
		return;
	}
	if (need_target(m, target, meaning == FO_AFTER ? ORDER_AFTER : ORDER_REQUIRES, path, of))
		mark_nearest(m, of);
	if (meaning != FO_REQUIRES || !path || !path[1] || target)
		return;
	ARENA_PUSH(m->arena, order->nowhere, order->nnowhere, (struct order_nowhere){m->at, path});
}

static void read_needs(struct maker *m, uint32_t i)
{
	struct order *order = m->order;
	const struct fstab_entry *line = order->lines[i];
	const char *path = fstab_entry_target(line);
	m->at = i;
	if (path)
		need_path(m, path, false, ORDER_PARENT);
	order_read_paths(&m->paths, line);
	for (size_t k = 0; k < m->paths.count && !m->arena->failed; ++k) {
		const struct order_path *need = &m->paths.list[k];
		if (need->kind == ORDER_BRANCH && strpbrk(need->path, "*?["))
			need_pattern(m, need->path);
		else
			need_path(m, need->path, true, need->kind);
	}
	for (uint32_t k = 0; k < line->nopts && !m->arena->failed; ++k)
		read_option(m, &line->opts[k]);
}

/** Store the edges in order->needs, sorted by `from`. */
static void sort_needs(struct maker *m)
{
	struct order *order = m->order;
	order->needs = arena_new(m->arena, m->nedges, sizeof(*order->needs));
	if (!order->needs)
		return;
	for (size_t k = 0; k < m->nedges; ++k)
		++order->begin[m->edges[k].from + 2];
	for (uint32_t i = 0; i < order->count; ++i)
		order->begin[i + 2] += order->begin[i + 1];
	for (size_t k = 0; k < m->nedges; ++k)
		order->needs[order->begin[m->edges[k].from + 1]++] = m->edges[k].need;
}

/** The flags that follow from the properties of a line. */
static uint16_t flags_of(const struct fstab_entry *line)
{
	return (uint16_t)((line->idle ? ORDER_IS_IDLE : 0) | (line->nofail ? ORDER_IS_NOFAIL : 0)
	                  | (line->automount ? ORDER_IS_AUTOMOUNT : 0)
	                  | (line->network ? ORDER_IS_NETWORK : 0)
	                  | (line->bind ? ORDER_IS_BIND : 0) | (line->swap ? ORDER_IS_SWAP : 0));
}

void order_make(const struct fstab_entry *const *lines, uint32_t count, struct arena *arena,
                struct order *order)
{
	size_t n = (size_t)count + 1;
	*order = (struct order){
		.lines = lines,
		.count = count,
		.flags = arena_new(arena, n, sizeof(*order->flags)),
		.begin = arena_new(arena, n + 1, sizeof(*order->begin)),
		.sequence = arena_new(arena, n, sizeof(*order->sequence)),
		.first = arena_new(arena, n, sizeof(*order->first)),
		.last = arena_new(arena, n, sizeof(*order->last)),
		.root = ORDER_NONE,
		.arena = arena,
	};
	struct maker m = {
		.order = order, .arena = arena, .paths.arena = arena, .by_path.newest.arena = arena,
		.targets = arena_new(arena, n, sizeof(*m.targets)),
		.seen = arena_new(arena, n * ORDER_KINDS, sizeof(*m.seen)),
	};
	for (uint32_t i = 0; i < count && !arena->failed; ++i) {
		order->flags[i] = flags_of(lines[i]);
		if (fstab_entry_target(lines[i]))
			add_line(&m, i);
	}
	for (uint32_t i = 0; i < count && !arena->failed; ++i) {
		const char *path = fstab_entry_target(lines[i]);
		const struct target *target = find_target(&m, path);
		/* idle: the first line with this mount point is a line that boot does not mount
		   (ORDER_IS_IDLE).  A missing line is ORDER_NONE, greater than every index. */
		bool idle = target && target->idle < target->first;
		order->first[i] = !target ? ORDER_NONE : idle ? target->idle : target->first;
		order->last[i] = target ? target->last : ORDER_NONE;
		if (target && !path[1])
			order->root = target->first;
		read_needs(&m, i);
	}
	sort_needs(&m);
	order_find_boot(order);
}
