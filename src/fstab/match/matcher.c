/* SPDX-License-Identifier: MIT */
#include "fstab/match/matcher.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "mountopts/optlist.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void match_init(struct matcher *m, const struct fstab_match_input *in, struct arena *arena)
{
	*m = (struct matcher){.in = in, .arena = arena};
	map64_init(&m->entry_by);
	map64_init(&m->mount_by);
	map64_init(&m->first_of);
	strbuf_init(&m->text);
	strbuf_init(&m->more);
}

void match_destroy(struct matcher *m)
{
	map64_destroy(&m->entry_by);
	map64_destroy(&m->mount_by);
	map64_destroy(&m->first_of);
	free(m->places);
	strbuf_destroy(&m->text);
	strbuf_destroy(&m->more);
	free(m->entries);
	free(m->mounts);
	free(m->last);
}

const char *match_format(struct matcher *m, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *kept = arena_vprintf(m->arena, format, args);
	va_end(args);
	m->failed |= !kept;
	return kept ? kept : "";
}

const char *match_normal(struct matcher *m, const char *path)
{
	size_t len = strlen(path);
	char *normal = arena_alloc(m->arena, len + 2), *to = normal;
	if (!normal) {
		m->failed = true;
		return NULL;
	}
	for (const char *at = path; *at;) {
		at += strspn(at, "/");
		size_t n = strcspn(at, "/");
		if (n > 0 && !(n == 1 && *at == '.')) {
			*to++ = '/';
			memcpy(to, at, n);
			to += n;
		}
		at += n;
	}
	if (to == normal)
		*to++ = '/';
	*to = '\0';
	return normal;
}

/* Lines of the file. */

void match_take(struct matcher *m, const struct tabline *line, struct entry *entry)
{
	*entry = (struct entry){.line = line, .next = NO_LINE, .live = NO_LINE};
	if (line->kind != TABLINE_ENTRY)
		return;
	const char *raw = tabline_value(line, TABLINE_OPTIONS);
	char *options = raw ? arena_strndup(m->arena, raw, strlen(raw)) : NULL;
	if (raw && !options)
		m->failed = true;
	/* mount(8) decodes the options before it separates them. */
	if (options)
		options[unescape_octal(options, options, strlen(options))] = '\0';
	entry->words = (struct words){
		tabline_value(line, TABLINE_SOURCE), tabline_value(line, TABLINE_TARGET),
		tabline_value(line, TABLINE_FSTYPE), options && *options ? options : "defaults",
		    line->passno,
	};
	entry->swap = strcmp(entry->words.fstype, "swap") == 0;
	entry->noauto = opt_noauto(entry->words.options);
	if (!entry->swap && *entry->words.target == '/')
		entry->key = match_normal(m, entry->words.target);
}

/** Add a line to the index. */
static void add_line(struct matcher *m, uint32_t i)
{
	const char *key = m->entries[i].key;
	if (!key || m->failed)
		return;
	uint32_t first = map64_put(&m->entry_by, map64_text(key), i);
	if (first == MAP64_NONE) {
		m->failed = true;
		return;
	}
	if (first != i)
		m->entries[m->last[first]].next = i;
	m->last[first] = i;
}

/** The mount point that a path resolves to if a mount has it; else the path.
    @place [out]  What it resolves to in any case. */
static const char *lead(struct matcher *m, const char *key, const char **place)
{
	*place = key;
	if (match_live(m, key) || !m->in->follow)
		return key;
	struct strbuf path;
	strbuf_init(&path);
	const char *there = m->in->follow(m->in->arg, key, &path) > 0
	    ? match_normal(m, strbuf_str(&path)) : NULL;
	m->failed |= path.failed;
	strbuf_destroy(&path);
	*place = there ? there : key;
	return there && match_live(m, there) ? there : key;
}

static void make_room(struct matcher *m, size_t lines)
{
	m->nentries = lines;
	m->entries = calloc(lines + 1, sizeof(*m->entries));
	m->last = calloc(lines + 1, sizeof(*m->last));
	m->failed |= !m->entries || !m->last;
}

void match_take_file(struct matcher *m, const struct tablines *file)
{
	make_room(m, file->count);
	for (uint32_t i = 0; i < m->nentries && !m->failed; ++i) {
		struct entry *entry = &m->entries[i];
		match_take(m, &file->lines[i], entry);
		entry->key = entry->key ? lead(m, entry->key, &entry->place) : NULL;
		add_line(m, i);
	}
}

/* Lines of the plan. */

/** Whether a line of the plan represents a mount point rather than another one. */
static bool is_better(const struct fstab_line *a, const struct fstab_line *b)
{
	return a->fate < b->fate;
}

void match_take_plan(struct matcher *m)
{
	const struct fstab_plan *plan = m->in->plan;
	m->nmounts = plan->count;
	m->mounts = calloc(m->nmounts + 1, sizeof(*m->mounts));
	if (!m->mounts || map64_reserve(&m->mount_by, m->nmounts) != 0) {
		m->failed = true;
		return;
	}
	for (uint32_t i = 0; i < m->nmounts && !m->failed; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		m->mounts[i] = (struct planned){.line = line, .next = NO_LINE, .entry = NO_LINE,
		                         .instead = NO_LINE, .before = NO_LINE};
		if (!line->mount || !line->target || *line->target != '/')
			continue;
		m->mounts[i].key = match_normal(m, line->target);
		if (!m->mounts[i].key)
			return;
		uint64_t hash = map64_text(m->mounts[i].key);
		uint32_t first = map64_put(&m->mount_by, hash, i);
		if (first == i)
			continue;
		/* One of them represents the mount point, and heads the others. */
		if (is_better(line, m->mounts[first].line)) {
			map64_remove(&m->mount_by, hash);
			map64_put(&m->mount_by, hash, i);
			m->mounts[i].next = first;
		} else {
			m->mounts[i].next = m->mounts[first].next;
			m->mounts[first].next = i;
		}
	}
}

const struct planned *match_live(const struct matcher *m, const char *key)
{
	uint32_t i = map64_get(&m->mount_by, map64_text(key));
	return i != MAP64_NONE && strcmp(m->mounts[i].key, key) == 0 ? &m->mounts[i] : NULL;
}

void match_index_devices(struct matcher *m, struct map64 *by)
{
	for (uint32_t i = 0; i < m->nmounts && !m->failed; ++i) {
		const struct fstab_line *line = m->mounts[i].line;
		if (line->fate != FSTAB_LINE || !line->mount || strcmp(line->fstype, "none") == 0)
			continue;
		struct fstab_device device;
		match_device(m, line, &device);
		const struct devmap_tags *tags = device.tags;
		if (!tags && *line->source == '/')
			m->failed |= map64_put(by, map64_text(line->source), i) == MAP64_NONE;
		if (!tags)
			continue;
		const char *const rows[][2] =
		    {{"UUID=", tags->uuid}, {"LABEL=", tags->label}, {"PARTUUID=", tags->partuuid},
		                               {"PARTLABEL=", tags->partlabel}, {"", tags->name}};
		for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); ++k) {
			if (rows[k][1])
				m->failed |= map64_put(by, map64_bytes(map64_text(rows[k][0]),
				                                       rows[k][1],
				                                       strlen(rows[k][1])),
				                       i) == MAP64_NONE;
		}
	}
}

const struct planned *match_elsewhere(struct matcher *m, const struct entry *entry,
                                      const struct map64 *by)
{
	if (entry->line->kind != TABLINE_ENTRY || entry->live != NO_LINE || !entry->key
	    || entry->noauto
	    || match_live(m, entry->key)
	    || fstype_flags(entry->words.fstype) & FST_SUBVOL)
		return NULL;
	const char *tag = match_tag(m, entry->words.source);
	uint32_t other = map64_get(by, map64_text(tag ? tag : entry->words.source));
	return other == MAP64_NONE ? NULL : &m->mounts[other];
}
