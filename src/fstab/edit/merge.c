/* SPDX-License-Identifier: MIT */
/*
 * Which line is of which mount, and what becomes of both.
 *
 *     merge_take_file(), merge_take_plan()   indexes, by mount point
 *     merge_decide()  what becomes of each mount and of the lines on its place
 *     rest()          lines that are of no mount, damaged or odd
 *     merge_order(), merge_write()
 *
 * Nothing that is not known to be wrong is held to be: a source that may be the same
 * device is, and options that the kernel does not show are.
 */
#include "fstab/edit/merge_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *merge_format(struct merger *m, const char *format, ...)
{
	struct strbuf text;
	va_list args;
	strbuf_init(&text);
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	const char *kept = text.failed ? NULL : arena_strndup(m->arena, strbuf_str(&text), text.len);
	strbuf_destroy(&text);
	m->failed |= !kept;
	return kept ? kept : "";
}

struct fstab_note *merge_note(struct merger *m, enum fstab_note_kind kind, const struct old *old,
                              const struct new *new, const char *text)
{
	struct fstab_merged *out = m->out;
	if (out->nnotes == m->notes_room) {
		size_t room = m->notes_room ? 2 * m->notes_room : 64;
		struct fstab_note *more = realloc(out->notes, room * sizeof(*more));
		if (!more) {
			m->failed = true;
			return NULL;
		}
		out->notes = more;
		m->notes_room = room;
	}
	struct fstab_note *note = &out->notes[out->nnotes++];
	*note = (struct fstab_note){.kind = kind, .line = old ? old->line : NULL,
	                            .live = new ? new->line : NULL, .text = text};
	return note;
}

void merge_note_more(struct merger *m, enum fstab_note_kind kind, const struct old *old, const struct new *new,
                      const char *text, bool done, bool edited)
{
	struct fstab_note *note = merge_note(m, kind, old, new, text);
	if (note) {
		note->done = done;
		note->edited = edited;
	}
}

const char *merge_normal(struct merger *m, const char *path)
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

/* The file. */

void merge_take(struct merger *m, const struct tabline *line, struct old *old)
{
	*old = (struct old){.line = line, .next = NO_LINE, .live = NO_LINE};
	if (line->kind != TABLINE_ENTRY)
		return;
	const char *raw = tabline_value(line, TABLINE_OPTIONS);
	char *options = raw ? arena_strndup(m->arena, raw, strlen(raw)) : NULL;
	if (raw && !options)
		m->failed = true;
	/* As mount(8): decoded first, and taken apart then. */
	if (options)
		options[unescape_octal(options, options, strlen(options))] = '\0';
	old->words = (struct words){
		tabline_value(line, TABLINE_SOURCE), tabline_value(line, TABLINE_TARGET),
		tabline_value(line, TABLINE_FSTYPE), options && *options ? options : "defaults", line->passno,
	};
	old->swap = strcmp(old->words.fstype, "swap") == 0;
	old->noauto = opt_noauto(old->words.options);
	if (!old->swap && *old->words.target == '/')
		old->key = merge_normal(m, old->words.target);
}

void merge_index(struct merger *m, uint32_t i)
{
	const char *key = m->old[i].key;
	if (!key || m->failed)
		return;
	uint32_t first = map64_put(&m->old_by, map64_text(key), i);
	if (first == MAP64_NONE) {
		m->failed = true;
		return;
	}
	if (first != i)
		m->old[m->last[first]].next = i;
	m->last[first] = i;
}

const char *merge_lead(struct merger *m, const char *key)
{
	if (merge_live(m, key) || !m->in->follow)
		return key;
	struct strbuf path;
	strbuf_init(&path);
	const char *there = m->in->follow(m->in->arg, key, &path) > 0 ? merge_normal(m, strbuf_str(&path)) : NULL;
	m->failed |= path.failed;
	strbuf_destroy(&path);
	return there && merge_live(m, there) ? there : key;
}

void merge_room(struct merger *m, size_t lines)
{
	m->nold = lines;
	m->old = calloc(lines + 1, sizeof(*m->old));
	m->last = calloc(lines + 1, sizeof(*m->last));
	m->failed |= !m->old || !m->last;
}

void merge_take_file(struct merger *m, const struct tablines *file)
{
	merge_room(m, file->count);
	for (uint32_t i = 0; i < m->nold && !m->failed; ++i) {
		struct old *old = &m->old[i];
		merge_take(m, &file->lines[i], old);
		old->key = old->key ? merge_lead(m, old->key) : NULL;
		merge_index(m, i);
	}
}

/* The plan. */

/** Which of two lines of the plan on one place speaks for it. */
static bool is_better(const struct fstab_line *a, const struct fstab_line *b)
{
	return a->fate < b->fate;
}

void merge_take_plan(struct merger *m)
{
	const struct fstab_plan *plan = m->in->plan;
	m->nnew = plan->count;
	m->new = calloc(m->nnew + 1, sizeof(*m->new));
	if (!m->new || map64_reserve(&m->new_by, m->nnew) != 0) {
		m->failed = true;
		return;
	}
	for (uint32_t i = 0; i < m->nnew && !m->failed; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		m->new[i] = (struct new){.line = line, .next = NO_LINE, .old = NO_LINE, .instead = NO_LINE, .before = NO_LINE};
		if (!line->mount || !line->target || *line->target != '/')
			continue;
		m->new[i].key = merge_normal(m, line->target);
		if (!m->new[i].key)
			return;
		uint64_t hash = map64_text(m->new[i].key);
		uint32_t first = map64_put(&m->new_by, hash, i);
		if (first == i)
			continue;
		/* One of them speaks for the place, and heads the others. */
		if (is_better(line, m->new[first].line)) {
			map64_remove(&m->new_by, hash);
			map64_put(&m->new_by, hash, i);
			m->new[i].next = first;
		} else {
			m->new[i].next = m->new[first].next;
			m->new[first].next = i;
		}
	}
}

const struct new *merge_live(const struct merger *m, const char *key)
{
	uint32_t i = map64_get(&m->new_by, map64_text(key));
	return i != MAP64_NONE && strcmp(m->new[i].key, key) == 0 ? &m->new[i] : NULL;
}

/* What is left of the file. */

/** By the names of devices that are mounted: the line of the plan. */
static void index_devices(struct merger *m, struct map64 *by)
{
	for (uint32_t i = 0; i < m->nnew && !m->failed; ++i) {
		const struct fstab_line *line = m->new[i].line;
		if (line->fate != FSTAB_LINE || !line->mount || strcmp(line->fstype, "none") == 0)
			continue;
		struct fstab_device device;
		merge_device(m, line, &device);
		const struct devmap_tags *tags = device.tags;
		if (!tags && *line->source == '/')
			map64_put(by, map64_text(line->source), i);
		if (!tags)
			continue;
		const char *const rows[][2] = {{"UUID=", tags->uuid}, {"LABEL=", tags->label}, {"PARTUUID=", tags->partuuid},
		                               {"PARTLABEL=", tags->partlabel}, {"", tags->name}};
		for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); ++k) {
			if (rows[k][1])
				map64_put(by, map64_bytes(map64_text(rows[k][0]), rows[k][1], strlen(rows[k][1])), i);
		}
	}
}

/** Look at the lines that are of no mount, and at how all are written. */
static void rest(struct merger *m)
{
	struct map64 by;
	map64_init(&by);
	index_devices(m, &by);
	for (uint32_t i = 0; i < m->nold && !m->failed; ++i) {
		struct old *old = &m->old[i];
		const struct tabline *line = old->line;
		if (line->kind == TABLINE_DAMAGED) {
			const char *target = tabline_value(line, TABLINE_TARGET);
			const char *key = target && *target == '/' ? merge_normal(m, target) : NULL;
			const struct new *new = key ? merge_live(m, key) : NULL;
			bool aside = m->in->fix & FSTAB_FIX_DAMAGED || (new && new->add);
			merge_note_more(m, FSTAB_NOTE_DAMAGED, old, NULL, line->why, aside, false);
			if (aside)
				merge_aside(m, old, line->why);
			continue;
		}
		if (line->kind != TABLINE_ENTRY)
			continue;
		if (line->why && old->act == KEPT)
			merge_note(m, FSTAB_NOTE_ODD, old, NULL, line->why);
		if (old->live != NO_LINE || !old->key || old->noauto || merge_live(m, old->key))
			continue;
		const char *tag = merge_tag(m, old->words.source), *name = tag ? tag : old->words.source;
		uint32_t other = map64_get(&by, map64_text(name));
		bool part = fstype_flags(old->words.fstype) & FST_SUBVOL;
		if (other != MAP64_NONE && !part)
			merge_note(m, FSTAB_NOTE_ELSEWHERE, old, &m->new[other], NULL);
	}
	map64_destroy(&by);
}

/** Mark what is named; what is not mounted is told. */
static void take_names(struct merger *m)
{
	for (size_t i = 0; i < m->in->nadd && !m->failed; ++i) {
		const char *name = m->in->add[i];
		const char *key = *name == '/' ? merge_normal(m, name) : NULL;
		struct new *found = NULL;
		const struct new *live = key ? merge_live(m, key) : NULL;
		if (live && live->line->fate == FSTAB_LINE)
			found = &m->new[live - m->new];
		for (size_t k = 0; !found && k < m->nnew; ++k) {
			const struct fstab_line *line = m->new[k].line;
			if (line->swap && (strcmp(line->swap, name) == 0 || strcmp(line->source, name) == 0)
			    && line->fate == FSTAB_LINE)
				found = &m->new[k];
		}
		if (found)
			found->named = true;
		else
			merge_note(m, FSTAB_NOTE_UNKNOWN, NULL, live, name);
	}
}

void merge_init(struct merger *m, const struct fstab_merge_input *in, struct fstab_merged *merged)
{
	*m = (struct merger){.in = in, .out = merged, .arena = &merged->arena};
	*merged = (struct fstab_merged){0};
	arena_init(&merged->arena);
	map64_init(&m->old_by);
	map64_init(&m->new_by);
	map64_init(&m->first_of);
	strbuf_init(&m->text);
	strbuf_init(&m->more);
}

void merge_destroy(struct merger *m)
{
	map64_destroy(&m->old_by);
	map64_destroy(&m->new_by);
	map64_destroy(&m->first_of);
	free(m->places);
	strbuf_destroy(&m->text);
	strbuf_destroy(&m->more);
	free(m->old);
	free(m->new);
	free(m->last);
	free(m->items);
}

int fstab_merge(const struct fstab_merge_input *asked, struct fstab_merged *merged)
{
	struct fstab_merge_input in = *asked;
	/* Exactly one line for each. */
	if (in.persistent)
		in.fix |= FSTAB_FIX_DAMAGED;
	struct merger m;
	struct loaded base = {0};
	merge_init(&m, &in, merged);
	bool based = in.base || in.loaded;
	merge_init(&base.m, &in, &base.none);
	merge_take_plan(&m);
	if (!m.failed)
		merge_take_file(&m, in.file);
	m.damaged = based && merge_damaged(&m);
	merged->damaged = m.damaged || (based && !in.file->ended);
	if (in.base && !m.failed) {
		merge_take_base(&base, &m);
		m.failed |= base.m.failed;
	}
	int rc = -1;
	if (!m.failed) {
		take_names(&m);
		for (size_t i = 0; i < m.nnew && !m.failed; ++i)
			merge_decide(&m, &m.new[i], based ? &base : NULL);
		rest(&m);
		merge_order(&m);
	}
	merged->of = calloc(in.file->count + 1, sizeof(*merged->of));
	merged->bound = calloc(in.file->count + 1, sizeof(*merged->bound));
	m.failed |= !merged->of || !merged->bound;
	for (size_t i = 0; i < m.nold && !m.failed; ++i) {
		if (m.old[i].live != NO_LINE && m.old[i].act != ASIDE)
			merge_bound(&m, &m.old[i], &m.new[m.old[i].live], &merged->bound[i]);
	}
	errno = ENOMEM;
	if (!m.failed && !base.m.failed)
		rc = merge_write(&m);
	for (size_t i = 0; i < m.nold && rc == 0; ++i) {
		const struct old *old = &m.old[i];
		merged->changed += old->act == CHANGED;
		if (old->live != NO_LINE && old->act != ASIDE)
			merged->of[i] = m.new[old->live].line;
	}
	for (size_t i = 0; i < merged->nnotes; ++i) {
		merged->edited += merged->notes[i].edited;
		merged->left += !merged->notes[i].done && !merged->notes[i].edited;
	}
	int error = errno;
	merge_destroy(&m);
	merge_destroy(&base.m);
	fstab_merged_destroy(&base.none);
	errno = error;
	return rc;
}

void fstab_merged_destroy(struct fstab_merged *merged)
{
	free(merged->text);
	free(merged->notes);
	free(merged->of);
	free(merged->bound);
	merged->text = NULL;
	merged->notes = NULL;
	merged->of = NULL;
	merged->bound = NULL;
	arena_destroy(&merged->arena);
}

int fstab_keep_options(const struct fstab_merge_input *in, struct fstab_plan *plan)
{
	struct fstab_merged merged;
	struct merger m;
	merge_init(&m, in, &merged);
	merge_take_plan(&m);
	if (!m.failed)
		merge_take_file(&m, in->file);
	for (size_t i = 0; i < m.nnew && !m.failed; ++i) {
		const struct old *own = plan->lines[i].fate == FSTAB_LINE ? merge_choose(&m, &m.new[i]) : NULL;
		const char *options = own ? own->words.options : NULL;
		if (options && !(options = arena_strndup(&plan->arena, options, strlen(options))))
			m.failed = true;
		if (options)
			plan->lines[i].options = options;
	}
	bool failed = m.failed;
	merge_destroy(&m);
	fstab_merged_destroy(&merged);
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : 0;
}
