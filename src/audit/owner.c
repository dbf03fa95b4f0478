/* SPDX-License-Identifier: MIT */
#include "audit/owner.h"

#include "base/map64.h"

#include <errno.h>
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

/** The mount point of a line, as a key; false: it has none. */
static bool key_of(const struct tabline *line, uint64_t *key)
{
	/* Of a damaged line as well, if that can be made out. */
	const char *target = line->kind >= TABLINE_ENTRY ? tabline_value(line, TABLINE_TARGET) : NULL;
	if (!target || *target != '/')
		return false;
	*key = map64_text(target);
	return true;
}

/** Say of what is mounted where a line has its mount point that it is of that line: of what is
    hidden, or another thing, the line says as well what is to be told.
    @return whether there was memory. */
static bool number_places(struct fstab_plan *plan, const struct tablines *lines)
{
	struct map64 by_target;
	uint64_t key;
	bool failed = false;
	map64_init(&by_target);
	for (uint32_t i = 0; i < lines->count && !failed; ++i) {
		if (key_of(&lines->lines[i], &key))
			failed = map64_put(&by_target, key, i) == MAP64_NONE;
	}
	for (size_t i = 0; i < plan->count && !failed; ++i) {
		struct fstab_line *line = &plan->lines[i];
		uint32_t at = line->mount && line->target && !line->of ? map64_get(&by_target, map64_text(line->target)) : MAP64_NONE;
		if (at != MAP64_NONE && strcmp(tabline_value(&lines->lines[at], TABLINE_TARGET), line->target) == 0)
			line->of = lines->lines[at].number;
	}
	map64_destroy(&by_target);
	return !failed;
}

/** The mount that is seen on a place, in an index of them; NULL: none. */
static struct fstab_line *seen_on(const struct fstab_plan *plan, const struct map64 *by_target, const char *head, size_t n, const char *rest)
{
	uint64_t hash = map64_bytes(map64_bytes(MAP64_BYTES, head, n), rest, strlen(rest));
	uint32_t at = map64_get(by_target, hash);
	struct fstab_line *line = at == MAP64_NONE ? NULL : &plan->lines[at];
	bool same = line && strncmp(line->target, head, n) == 0 && strcmp(line->target + n, rest) == 0;
	return same ? line : NULL;
}

/** Whether two mounts show the same. */
static bool shows_same(const struct mount *a, const struct mount *b)
{
	return mount_dev(a) == mount_dev(b) && strcmp(a->root ? a->root : "/", b->root ? b->root : "/") == 0;
}

/**
 * Say of what came with a bind that it is of the bind's line: mounts below what is bound
 * recursively, and what was mounted there since and passed on, stand below the bind as well.
 *
 * @return whether there was memory.
 */
static bool own_copies(struct fstab_plan *plan, const struct fstab_merged *merged, const struct tablines *lines)
{
	struct map64 by_target, binds;
	bool failed = false, any = false;
	map64_init(&by_target);
	map64_init(&binds);
	for (uint32_t i = 0; i < lines->count && !failed; ++i) {
		const char *target = merged->bound[i].in && merged->of[i] ? merged->of[i]->target : NULL;
		if (target && target[1]) {
			any = true;
			failed = map64_put(&binds, map64_text(target), i) == MAP64_NONE;
		}
	}
	for (uint32_t i = 0; any && i < plan->count && !failed; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		if (line->mount && line->target && !line->hidden)
			failed = map64_put(&by_target, map64_text(line->target), i) == MAP64_NONE;
	}
	for (size_t i = 0; any && i < plan->count && !failed; ++i) {
		struct fstab_line *line = &plan->lines[i];
		const char *target = line->owner || !line->mount || line->hidden ? NULL : line->target;
		uint64_t hash = MAP64_BYTES;
		for (size_t n = 0; target && target[n] && target[1];) {
			size_t more = 1 + strcspn(target + n + 1, "/");
			hash = map64_bytes(hash, target + n, more);
			n += more;
			uint32_t at = target[n] ? map64_get(&binds, hash) : MAP64_NONE;
			if (at == MAP64_NONE || strncmp(merged->of[at]->target, target, n) != 0 || merged->of[at]->target[n])
				continue;
			const char *path = merged->bound[at].path;
			const struct fstab_line *origin = seen_on(plan, &by_target, path, path[1] ? strlen(path) : 0, target + n);
			if (origin && origin != line && shows_same(origin->mount, line->mount)) {
				line->owner = "fstab";
				line->of = lines->lines[at].number;
				break;
			}
		}
	}
	map64_destroy(&by_target);
	map64_destroy(&binds);
	return !failed;
}

int audit_own(struct fstab_plan *plan, const struct fstab_merged *merged, const struct tablines *lines, const struct fstab_world *world)
{
	for (size_t i = 0; i < lines->count; ++i) {
		if (merged->of[i]) {
			struct fstab_line *line = &plan->lines[merged->of[i] - plan->lines];
			line->owner = "fstab";
			line->of = line->of ? line->of : lines->lines[i].number;
		}
	}
	for (size_t i = 0; i < merged->nnotes; ++i) {
		const struct fstab_note *note = &merged->notes[i];
		if (note->line && note->live && note->kind == FSTAB_NOTE_SOURCE)
			plan->lines[note->live - plan->lines].owner = "fstab";
	}
	bool good = own_copies(plan, merged, lines);
	for (size_t i = 0; i < plan->count; ++i) {
		struct fstab_line *line = &plan->lines[i];
		if (!line->owner)
			line->owner = line->mount && line->target && strcmp(line->target, "/") == 0 ? "initrd"
			              : has_unit(world, line) ? "unit" : "unknown";
	}
	if (good && number_places(plan, lines))
		return 0;
	errno = ENOMEM;
	return -1;
}
