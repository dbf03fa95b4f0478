/* SPDX-License-Identifier: MIT */
#include "audit/owner.h"

#include <string.h>

const char *const audit_owners[] = {
	"api", "automount", "container", "credentials", "fstab", "gpt-auto", "initrd", "nsfs", "session", "snap",
	"udisks", "unit", "unknown", "zfs", NULL,
};

bool audit_is_owner(const char *owner, const char *name)
{
	size_t n = strlen(name);
	return owner && strncmp(owner, name, n) == 0 && (owner[n] == '\0' || owner[n] == ':');
}

const char *audit_owner_name(const char *owner)
{
	const char *const *name = audit_owners;
	while (*name && !audit_is_owner(owner, *name))
		++name;
	return *name;
}

/** Whether a unit file is there for what is mounted, whoever has started it. */
static bool has_unit(const struct fstab_world *world, const struct fstab_line *line)
{
	const char *name = line->swap ? line->swap : line->target;
	return world->unit && name && world->unit(world->arg, name) == FSTAB_IDLE_UNIT;
}

void audit_own(struct fstab_plan *plan, const struct fstab_merged *merged, size_t nlines, const struct fstab_world *world)
{
	for (size_t i = 0; i < nlines; ++i) {
		if (merged->of[i])
			plan->lines[merged->of[i] - plan->lines].owner = "fstab";
	}
	for (size_t i = 0; i < merged->nnotes; ++i) {
		const struct fstab_note *note = &merged->notes[i];
		if (note->line && note->live && note->kind == FSTAB_NOTE_SOURCE)
			plan->lines[note->live - plan->lines].owner = "fstab";
	}
	for (size_t i = 0; i < plan->count; ++i) {
		struct fstab_line *line = &plan->lines[i];
		if (!line->owner)
			line->owner = line->mount && line->target && strcmp(line->target, "/") == 0 ? "initrd"
			              : has_unit(world, line) ? "unit" : "unknown";
	}
}
