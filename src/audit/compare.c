/* SPDX-License-Identifier: MIT */
/*
 * Compare an fstab with its former text.
 *
 * Some risks depend on both texts: the new text no longer makes a mount, or boot now needs a mount
 * that was optional.  A risk that the former text also has is not new.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "fstab/target.h"

#include <assert.h>
#include <string.h>

/** The lines of a mount point in both texts. */
struct target {
	const char *path;
	const struct fstab_entry *old;   /* the first line of the old text that is mounted at boot
	                                    or on access, from a device, server or directory */
	const struct fstab_entry *now;   /* as `old`, but of the new text */
	const struct fstab_entry *line;  /* the first line of the new text, preferably mounted at
	                                    boot or on access */
	const struct fstab_entry *needed;   /* the first line of the new text that boot needs, from
	                                       a device, server or directory */
	bool had, could_do_without;      /* had: the old text has lines for the mount point;
	                                    could_do_without: all these lines are noauto, nofail
	                                    or an automount */
};

struct comparison {
	struct target *targets;
	uint32_t count;
	struct pathmap by_path;          /* path -> index of its target */
};

/** Find the target of a mount point; add the target if it does not exist. */
static struct target *target_of(struct comparison *of, const char *path)
{
	uint32_t i = pathmap_get(&of->by_path, path);
	if (i != PATHMAP_NONE)
		return &of->targets[i];
	pathmap_add(&of->by_path, path, of->count);
	of->targets[of->count] = (struct target){.path = path, .could_do_without = true};
	return &of->targets[of->count++];
}

static void add(struct audit_report *report, enum audit_code code, unsigned severity,
                const struct target *target, const struct fstab_entry *line, const char *hint,
                const char *message)
{
	struct audit_finding at = {.line = line ? line->number : 0, .target = target->path};
	audit_add_at(report, &at, code, severity | AUDIT_BOOT, NULL, NULL, hint, "%s", message);
}

/** Whether a line is mounted at boot, or on first access. */
static bool boots(const struct fstab_entry *entry)
{
	return !entry->idle;
}

/** Whether the source of a line is a device, a server or a directory. */
static bool has_source(const struct fstab_entry *entry)
{
	return entry->bind || (!(entry->type & (FST_PSEUDO | FST_LAYERED))
	                       && strcmp(entry->fstype, "none") != 0);
}

/** Whether a line is an entry with a mount point, and not disabled by the type "ignore". */
static bool mounts(const struct fstab_entry *entry)
{
	return fstab_is_entry(entry) && entry->path && strcmp(entry->fstype, "ignore") != 0;
}

int audit_compare(const struct fstab_file *old, const struct fstab_file *new,
                  struct audit_report *report, audit_lost_fn *lost, void *arg)
{
	struct arena *arena = &report->arena;
	struct comparison of = {
		.targets = arena_new(arena, old->count + new->count, sizeof(*of.targets)),
		.by_path.newest.arena = arena};
	for (size_t i = 0; i < old->count && !arena->failed; ++i) {
		const struct fstab_entry *entry = &old->entries[i];
		if (!mounts(entry))
			continue;
		struct target *target = target_of(&of, entry->path);
		target->had = true;
		target->could_do_without &= entry->optional || entry->automount;
		if (boots(entry) && has_source(entry) && !target->old)
			target->old = entry;
	}
	for (size_t i = 0; i < new->count && !arena->failed; ++i) {
		const struct fstab_entry *entry = &new->entries[i];
		if (!mounts(entry))
			continue;
		struct target *target = target_of(&of, entry->path);
		if (!target->line || (boots(entry) && !boots(target->line)))
			target->line = entry;
		if (boots(entry) && has_source(entry) && !target->now)
			target->now = entry;
		if (entry->needed && has_source(entry) && !target->needed)
			target->needed = entry;
	}
	assert(of.count <= old->count + new->count);
	for (size_t i = 0; i < of.count && !arena->failed; ++i) {
		const struct target *target = &of.targets[i];
		int is_lost = target->old && !target->now && lost ? lost(arg, target->path) : 0;
		if (target->old && !target->now
		    && (is_lost > 0 || (is_lost == 0 && fstab_is_system(target->path))))
			add(report, FSTAB_LOST, AUDIT_CRITICAL, target, target->line,
			    "keep the former line",
			    !target->line ? "the new fstab has no line for this mount"
			    : !boots(target->line)
			    ? "the new line has noauto: it is not mounted at boot any more"
			    : "the new line mounts no device, server or directory");
		if (target->had && target->could_do_without && target->needed && target->path[1])
			add(report, FSTAB_NOFAIL, AUDIT_WARNING, target, target->needed,
			    "add nofail, as before", "boot fails without this mount, which was "
			    "optional (nofail, noauto or an automount)");
	}
	return audit_finish(report);
}

static uint64_t risk_hash(const struct audit_finding *finding)
{
	return map64_bytes(
	    map64_bytes(MAP64_BYTES, (const char *)&finding->code, sizeof(finding->code)),
	    finding->target, strlen(finding->target));
}

int audit_clear_old_risks(const struct audit_report *old, struct audit_report *report)
{
	struct map64 known = {.arena = &report->arena};
	for (size_t i = 0; i < old->count; ++i) {
		if (old->findings[i].boot)
			map64_put(&known, risk_hash(&old->findings[i]), 0);
	}
	for (size_t i = 0; i < report->count; ++i)
		report->findings[i].boot &=
			map64_get(&known, risk_hash(&report->findings[i])) == MAP64_NONE;
	return arena_check(&report->arena);
}
