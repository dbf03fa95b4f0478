/* SPDX-License-Identifier: MIT */
#include "audit/audit_impl.h"
#include "base/pathmap.h"

#include <string.h>

/** For each mount without a line number: set the number of the first line with the mount point of
    the mount, even if the line did not make the mount.  A comment above that line can then ignore
    findings about the mount. */
static void number_targets(struct fstab_plan *plan, const struct fstab_file *file,
                           struct arena *arena)
{
	struct pathmap by_target = {.newest.arena = arena};
	/* In reverse order, so that the first line of a mount point is found. */
	for (uint32_t i = (uint32_t)file->count; i-- > 0;) {
		/* A damaged line may still have a mount point. */
		const struct fstab_entry *line = &file->entries[i];
		if (*line->target == '/')
			pathmap_add(&by_target, line->target, i);
	}
	for (size_t i = 0; i < plan->count; ++i) {
		struct fstab_line *line = &plan->lines[i];
		uint32_t at = line->mount && line->target && !line->of
		              ? pathmap_get(&by_target, line->target) : PATHMAP_NONE;
		if (at != PATHMAP_NONE)
			line->of = file->entries[at].number;
	}
}

int audit_own(struct fstab_plan *plan, const struct fstab_match *match,
              const struct fstab_file *file, const struct fstab_facts *facts)
{
	for (size_t i = 0; i < file->count; ++i) {
		if (match->of[i]) {
			struct fstab_line *line = &plan->lines[match->of[i] - plan->lines];
			line->owner = audit_is_users(line->owner) ? line->owner : "fstab";
			line->of = line->of ? line->of : file->entries[i].number;
		}
	}
	for (size_t i = 0; i < match->count; ++i) {
		const struct fstab_difference *difference = &match->differences[i];
		/* If a mount has a different source than the fstab line with its mount point, set
		   the owner to "fstab", unless an ordinary user made the mount. */
		if (difference->kind == FSTAB_DIFFER_SOURCE
		    && !audit_is_users(difference->live->owner))
			plan->lines[difference->live - plan->lines].owner = "fstab";
	}
	for (size_t i = 0; i < plan->count; ++i) {
		struct fstab_line *line = &plan->lines[i];
		if (line->fate == FSTAB_COPY && !line->owner && line->origin->of)
			line->owner = line->origin->owner;
	}
	struct arena arena = {0};
	audit_own_copies(plan, match, file, &arena);
	for (size_t i = 0; i < plan->count; ++i) {
		struct fstab_line *line = &plan->lines[i];
		const char *name = line->swap ? line->swap : line->target;
		if (line->owner)
			continue;
		bool unit = name && fstab_answer(facts, FSTAB_UNIT, name) == FSTAB_IDLE_UNIT;
		line->owner = line->mount && name && strcmp(name, "/") == 0 ? "initrd"
		              : unit ? "unit" : "unknown";
	}
	number_targets(plan, file, &arena);
	for (size_t i = 0; i < plan->count; ++i) {
		struct fstab_line *line = &plan->lines[i];
		if (line->fate == FSTAB_COPY && !line->of)
			line->of = line->origin->of;
	}
	int rc = arena_check(&arena);
	arena_destroy(&arena);
	return rc;
}
