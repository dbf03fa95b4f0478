/* SPDX-License-Identifier: MIT */
/*
 * Merge a plan into a file, in these steps:
 *
 *     match_add_file(), match_add_plan()
 *                     index lines and mounts by mount point
 *     merge_decide()  for each mount: keep, change or comment out its lines, or add a line
 *     report_rest()   report damaged and unusual lines, and lines whose source is mounted at a
 *                     different mount point
 *     merge_order()   order the lines
 *     merge_write()   write the text
 */
#include "fstab/edit/merge_impl.h"

#include "base/fail.h"

#include <string.h>

/** Report damaged lines, unusual lines, and lines whose source is mounted only at a different mount
    point. */
static void report_rest(struct merger *m)
{
	for (uint32_t i = 0; i < m->match.nentries && !m->arena->failed; ++i) {
		struct candidate *entry = &m->match.entries[i];
		const struct tabline *line = entry->is.line;
		if (line->kind == TABLINE_DAMAGED) {
			const char *key = fstab_normal(m->arena, entry->is.target);
			const struct planned *mount = key ? match_live(&m->match, key) : NULL;
			bool aside = m->in->fix & FSTAB_FIX_DAMAGED || (mount && mount->add);
			merge_note(m, FSTAB_NOTE_DAMAGED, entry, NULL,
			           (struct fstab_note){.text = line->why, .done = aside});
			if (aside)
				merge_aside(entry, line->why);
			continue;
		}
		if (line->kind == TABLINE_ENTRY && line->why && entry->act == KEPT)
			merge_note(m, FSTAB_NOTE_ODD, entry, NULL,
			           (struct fstab_note){.text = line->why});
		const struct planned *live = match_elsewhere(&m->match, entry);
		if (live)
			merge_note(m, FSTAB_NOTE_ELSEWHERE, entry, live, (struct fstab_note){0});
	}
}

/** Mark the mounts and swap spaces that in->add names, so that they get lines.  Report names
    without a mount that can be expressed in fstab. */
static void mark_named(struct merger *m)
{
	const struct fstab_merge_input *in = m->in;
	for (size_t i = 0; i < in->nadd && !m->arena->failed; ++i) {
		const char *name = in->add[i];
		const char *key = fstab_normal(m->arena, name);
		struct planned *found = NULL;
		const struct planned *live = key ? match_live(&m->match, key) : NULL;
		if (live && live->line->fate == FSTAB_LINE)
			found = &m->match.mounts[live - m->match.mounts];
		for (size_t k = 0; !found && k < m->match.nmounts; ++k) {
			const struct fstab_line *line = m->match.mounts[k].line;
			if (line->swap && (strcmp(line->swap, name) == 0
			                   || strcmp(line->source, name) == 0)
			    && line->fate == FSTAB_LINE)
				found = &m->match.mounts[k];
		}
		if (found)
			found->named = true;
		else
			merge_note(m, FSTAB_NOTE_UNKNOWN, NULL, live,
			           (struct fstab_note){.text = name});
	}
}

int fstab_merge(const struct fstab_merge_input *opts, struct fstab_merged *merged)
{
	struct fstab_merge_input in = *opts;
	/* `persistent` leaves one line for each mount: comment out the lines that repeat it. */
	if (in.persistent)
		in.fix |= FSTAB_FIX_DAMAGED;
	*merged = (struct fstab_merged){0};
	struct arena *arena = &merged->arena;
	struct merger m = {
		.in = &in, .out = merged, .arena = arena, .based = in.base || in.loaded};
	match_init(&m.match, &in.match, arena);
	match_init(&m.base, &in.match, arena);
	match_add_plan(&m.match);
	match_add_file(&m.match, in.match.file);
	m.damaged = m.based && merge_damaged(&m);
	merged->damaged = m.damaged || (m.based && !in.match.file->lines->ended);
	if (in.base) {
		match_add_plan(&m.base);
		match_add_file(&m.base, in.base);
	}
	if (!arena->failed)
		mark_named(&m);
	for (size_t i = 0; i < m.match.nmounts && !arena->failed; ++i)
		merge_decide(&m, &m.match.mounts[i]);
	report_rest(&m);
	if (!arena->failed)
		merge_precede(&m);
	if (!arena->failed)
		merge_order(&m);
	int rc = merge_write(&m);
	for (size_t i = 0; i < merged->nnotes; ++i) {
		merged->edited += merged->notes[i].edited;
		merged->left += !merged->notes[i].done && !merged->notes[i].edited;
	}
	return rc;
}

void fstab_merged_destroy(struct fstab_merged *merged)
{
	arena_destroy(&merged->arena);
	*merged = (struct fstab_merged){0};
}

int fstab_keep_options(const struct fstab_match_input *in, struct fstab_plan *plan)
{
	struct fstab_match match;
	bool failed = fstab_match(in, &match) != 0;
	for (size_t i = 0; i < in->file->count && !failed; ++i) {
		const struct fstab_line *live = match.of[i];
		const char *options = match.matcher->entries[i].is.options;
		if (!live || live->fate != FSTAB_LINE)
			continue;
		plan->lines[live - plan->lines].options = arena_text(&plan->arena, options);
	}
	fstab_match_destroy(&match);
	return failed ? fail(ENOMEM) : arena_check(&plan->arena);
}
