/* SPDX-License-Identifier: MIT */
/*
 * Copies of mounts, in relation to the lines of a file: which of several peers has the line, and
 * which mounts a recursive bind makes.
 */
#include "fstab/match/matcher.h"

#include "base/words.h"

#include <string.h>

/** Exchange a copy and its origin: the copy becomes the line.  Other copies of the origin then
    refer to the copy, which takes the place of the origin in the plan. */
static void exchange(struct fstab_plan *plan, struct fstab_line *copy)
{
	struct fstab_line *origin = &plan->lines[copy->origin - plan->lines];
	struct fstab_line line = *copy, other = *origin;
	line.fate = FSTAB_LINE;
	line.origin = NULL;
	line.exchangeable = false;
	line.why = NULL;
	line.source = other.source;
	line.fstype = other.fstype;
	line.options = other.options;
	line.usual = other.usual;
	line.propagation = other.propagation;
	line.passno = other.passno;
	line.note = other.note;
	line.warning = other.warning;
	other.fate = FSTAB_COPY;
	other.origin = origin;
	other.exchangeable = true;
	line.before = NULL;
	*origin = line;
	*copy = other;
}

int fstab_prefer(struct fstab_plan *plan, const struct fstab_file *file, const char *const *add,
                 size_t nadd)
{
	struct arena arena = {0};
	struct pathmap lines = {.newest.arena = &arena}, named = lines;
	if (!plan->of[FSTAB_COPY])
		return 0;
	for (uint32_t i = 0; i < file->count; ++i) {
		const struct fstab_entry *entry = &file->entries[i];
		if (fstab_is_entry(entry) && entry->path && !entry->noauto)
			pathmap_add(&lines, entry->path, i);
	}
	for (uint32_t i = 0; i < nadd; ++i) {
		const char *path = fstab_normal(&arena, add[i]);
		if (path)
			pathmap_add(&named, path, i);
	}
	for (size_t i = 0; i < plan->count && !arena.failed; ++i) {
		struct fstab_line *line = &plan->lines[i];
		if (line->fate != FSTAB_COPY || !line->exchangeable || line->hidden
		    || pathmap_get(&lines, line->origin->target) != PATHMAP_NONE)
			continue;
		if (pathmap_get(&lines, line->target) != PATHMAP_NONE
		    || (pathmap_get(&named, line->target) != PATHMAP_NONE
		        && pathmap_get(&named, line->origin->target) == PATHMAP_NONE))
			exchange(plan, line);
	}
	fstab_name_origins(plan);
	plan->arena.failed |= arena.failed;
	arena_destroy(&arena);
	return arena_check(&plan->arena);
}

const struct fstab_entry *match_origin_line(const struct matcher *m, const struct planned *copy)
{
	uint32_t entry = m->mounts[copy->line->origin - m->in->plan->lines].entry;
	return entry == NO_LINE ? NULL : match_line(m, &m->entries[entry]);
}

bool match_came_along(struct matcher *m, const struct planned *mount)
{
	struct pathmap_at at = pathmap_of(mount->key ? mount->key : "");
	while (mount->key && pathmap_next_above(&m->entry_by, &at)) {
		const struct candidate *entry = &m->entries[at.value];
		struct fstab_bound bound;
		if (!mount->key[at.n] || entry->live == NO_LINE || entry->is.noauto
		    || !fstab_entry_find(&entry->is, "rbind")
		    || !match_bound(m, entry, &m->mounts[entry->live], &bound))
			continue;
		const char *path = fstab_join(m->arena, bound.path, mount->key + at.n);
		const struct planned *origin = match_live(m, path);
		if (origin && origin != mount
		    && mount_shows_same(origin->line->mount, mount->line->mount))
			return true;
	}
	return false;
}
