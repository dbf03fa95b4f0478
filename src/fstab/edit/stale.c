/* SPDX-License-Identifier: MIT */
#include "fstab/edit/merge_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Differences in the making. */
struct stale {
	struct merger file;
	struct loaded base;
	struct fstab_merged merged;      /* its arena has the strings */
	struct fstab_stale *list;
	size_t count, room;
};

static void add(struct stale *s, enum fstab_stale_kind kind, const struct tabline *line, const char *target)
{
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		struct fstab_stale *more = reallocarray(s->list, room, sizeof(*more));
		if (!more) {
			s->file.failed = true;
			return;
		}
		s->list = more;
		s->room = room;
	}
	s->list[s->count++] = (struct fstab_stale){kind, line, target};
}

/** Where a place is when the links on the way are followed, as far as the way is there;
    NULL: nowhere else. */
static const char *follow(struct merger *m, const char *key)
{
	struct strbuf path, begin;
	const char *there = NULL;
	strbuf_init(&path);
	strbuf_init(&begin);
	for (size_t n = strlen(key); n > 1 && !there && !m->failed;) {
		strbuf_reset(&begin);
		strbuf_add(&begin, key, n);
		if (m->in->follow(m->in->arg, strbuf_str(&begin), &path) > 0) {
			strbuf_puts(&path, key + n);
			there = path.failed ? NULL : merge_normal(m, strbuf_str(&path));
		}
		do {
			--n;
		} while (n > 1 && key[n] != '/');
	}
	m->failed |= path.failed || begin.failed;
	strbuf_destroy(&path);
	strbuf_destroy(&begin);
	return there;
}

/** The unit that a line of the file would be: of its place, or its swap space; or NULL. */
static const struct old *unit_of(struct stale *s, const struct old *old)
{
	struct merger *m = &s->file;
	const struct old *of = merge_find_loaded(m, &s->base, old, &(struct new){.key = old->key});
	const char *there = !of && old->key && m->in->follow ? follow(m, old->key) : NULL;
	return there ? merge_find_loaded(m, &s->base, old, &(struct new){.key = there}) : of;
}

static void judge_line(struct stale *s, const struct old *old)
{
	struct merger *m = &s->file;
	if (!old->key && !old->swap)
		return;
	const struct old *of = unit_of(s, old);
	const char *target = old->swap ? old->words.source : old->words.target;
	/* Of a swap space one line has its unit, the first. */
	if (of && old->swap && of->live != NO_LINE)
		return;
	if (of)
		s->base.m.old[of - s->base.m.old].live = 0;
	if (merge_edited_source(m, old, &s->base, of))
		add(s, of ? FSTAB_STALE_SOURCE : FSTAB_STALE_NEW, old->line, target);
	else if (merge_edited_options(m, old, &s->base, of))
		add(s, FSTAB_STALE_OPTIONS, old->line, target);
	else if (merge_edited_pass(m, old, &s->base, of))
		add(s, FSTAB_STALE_PASS, old->line, target);
}

/** Whether the file has, or may have, a line that a unit is of beside those that were
    judged: one that nobody can read, or another of the same swap space. */
static bool may_have_line(struct stale *s, const struct old *unit)
{
	struct merger *m = &s->file;
	bool may = unit->swap ? s->base.any_damaged : map64_get(&s->base.damaged, map64_text(unit->key)) != MAP64_NONE;
	for (size_t i = 0; unit->swap && !may && i < m->nold; ++i)
		may = m->old[i].swap && merge_loaded_source(m, &m->old[i], unit->unit);
	return may;
}

ssize_t fstab_stale(const struct fstab_merge_input *in, struct fstab_stale **list)
{
	struct stale s = {0};
	merge_init(&s.file, in, &s.merged);
	merge_init(&s.base.m, in, &s.base.none);
	map64_init(&s.base.damaged);
	merge_take_plan(&s.file);
	if (!s.file.failed)
		merge_take_file(&s.file, in->file);
	if (!s.file.failed)
		merge_take_base(&s.base, &s.file);
	for (size_t i = 0; i < s.file.nold && !s.file.failed; ++i)
		judge_line(&s, &s.file.old[i]);
	/* A line that is cut off may be of any of them. */
	bool whole = in->file->ended && !s.base.blind;
	for (size_t i = 0; i < s.base.m.nold && whole && !s.file.failed; ++i) {
		const struct old *unit = &s.base.m.old[i];
		if (unit->live == NO_LINE && !may_have_line(&s, unit))
			add(&s, FSTAB_STALE_GONE, NULL, unit->swap ? unit->unit->source : unit->unit->target);
	}
	bool failed = s.file.failed || s.base.m.failed;
	merge_destroy(&s.file);
	merge_destroy(&s.base.m);
	map64_destroy(&s.base.damaged);
	fstab_merged_destroy(&s.base.none);
	fstab_merged_destroy(&s.merged);
	if (failed) {
		free(s.list);
		errno = ENOMEM;
		return -1;
	}
	*list = s.list;
	return (ssize_t)s.count;
}
