/* SPDX-License-Identifier: MIT */
/*
 * Rules about the host: mtab, mode of the fstab, errors of file systems.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/map64.h"
#include "base/words.h"
#include "mountopts/shown.h"

#include <string.h>
#include <sys/stat.h>

enum { OVERFLOW_UID = 65534 };

static void check_mtab(const struct audit_live *in, struct audit_report *report)
{
	static const char hint[] = "ln -sfn ../proc/self/mounts /etc/mtab; getmnt recover --diff "
	                           "shows the right contents";
	const struct audit_mtab *mtab = &in->mtab;
	const struct audit_finding at = {.target = "/etc/mtab"};
	if (mtab->kind == HOST_MTAB_UNKNOWN) {
		audit_not_checked(report, MTAB_REGULAR);
		audit_not_checked(report, MTAB_STALE);
		audit_not_checked(report, MTAB_CORRUPT);
	}
	if (mtab->kind == HOST_MTAB_NOWHERE)
		audit_add_at(report, &at, MTAB_CORRUPT, AUDIT_WARNING, NULL, NULL,
			     "ln -sfn ../proc/self/mounts /etc/mtab", "dangling symlink");
	if (mtab->kind != HOST_MTAB_FILE)
		return;
	audit_add_at(report, &at, MTAB_REGULAR, AUDIT_INFO, "a symlink to ../proc/self/mounts",
		     "a regular file", hint,
		     "a regular file, which nothing updates since util-linux 2.39");
	/* If lines are unreadable, do not report missing mounts alone: the mount of an unreadable
	   line counts as missing. */
	if (mtab->wrong || mtab->gone || (mtab->missing && !mtab->unreadable))
		audit_add_at(report, &at, MTAB_STALE, AUDIT_WARNING, "what is mounted",
			     audit_format(report, "%zu wrong, %zu gone, %zu missing", mtab->wrong,
			                  mtab->gone, mtab->missing), hint,
			     "does not match what is mounted");
	if (mtab->unreadable)
		audit_add_at(report, &at, MTAB_CORRUPT, AUDIT_WARNING, "lines of an mtab",
			     audit_format(report, "%zu unreadable", mtab->unreadable), hint,
			     "has invalid lines");
}

static void check_mode(const struct audit_live *in, struct audit_report *report)
{
	/* In a user namespace that does not map the owner, the owner is unknown. */
	if (!in->fstab_seen || in->fstab_uid == OVERFLOW_UID)
		audit_not_checked(report, FSTAB_MODE);
	else if (in->fstab_uid != 0 || in->fstab_mode & (S_IWGRP | S_IWOTH))
		audit_add_at(report, &(struct audit_finding){.target = ""}, FSTAB_MODE,
			     AUDIT_CRITICAL, "of root, mode 0644",
			     audit_format(report, "of user %u, mode %04o", in->fstab_uid,
			                  in->fstab_mode & 07777),
			     "check its contents, then chown root:root and chmod 0644 it",
			     "users other than root can write to the fstab, and so become root at "
			     "the next boot");
}

static const char shut_down[] = "the file system shut down after an error: reads and writes fail";
static const char remount[] =
	"check the kernel log and the device; unmount it, run fsck, mount it again";

/** Errors of a superblock, as the options of its mounts show them. */
enum {
	FLIP_READONLY = 1, FLIP_EMERGENCY = 2, FLIP_SHUTDOWN = 4,
	FLIP_INTENDED = 8,          /* a mount is read-only, so the superblock may have been made
	                               read-only on purpose */
	FLIP_REPORTED = 16,         /* a finding already reports the error */
};

/** The errors that the options of a mount show: FLIP_*; 0: none. */
static unsigned flip_of(const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	if (!m || !line->target || !m->fstype || !m->fs_opts
	    || !(fstype_flags(m->fstype) & FST_DEVICE))
		return 0;
	enum shown_fault fault = shown_fault(m);
	if (fault != SHOWN_NO_FAULT)
		return fault == SHOWN_SHUTDOWN ? FLIP_SHUTDOWN : FLIP_EMERGENCY;
	/* A superblock of a type not in this list may be read-only without an error. */
	if (!word_in(m->fstype, strlen(m->fstype), "ext2 ext3 ext4 btrfs f2fs vfat")
	    || !shown_super_readonly(m)
	    || word_in(line->owner, strlen(line->owner), "udisks session"))
		return 0;
	return shown_mount_readonly(m) ? FLIP_INTENDED : FLIP_READONLY;
}

static struct audit_finding about(const struct fstab_line *line)
{
	return (struct audit_finding){.target = line->target, .owner = line->owner,
	                              .line = line->of, .fstype = line->mount->fstype};
}

static void report_flip(struct audit_report *report, const struct fstab_line *line, unsigned flip)
{
	struct audit_finding at = about(line);
	if (flip & FLIP_SHUTDOWN)
		audit_add_at(report, &at, FS_ERRORS, AUDIT_CRITICAL, "none", "shut down", remount,
			     shut_down);
	else if (flip & FLIP_EMERGENCY)
		audit_add_at(report, &at, FS_ERRORS, AUDIT_CRITICAL, "rw", "rw,emergency_ro",
			     remount, "the file system has an error and rejects writes");
	else
		audit_add_at(report, &at, FS_ERRORS, AUDIT_CRITICAL, "rw", "ro", remount,
			     "the file system is read-only although the mount is not: it may have "
			     "an error");
}

/** Report each superblock whose mounts show an error once, unless FS-ERRORS or DRIFT-READONLY
    already reports the error. */
static void check_flips(const struct audit_live *in, struct audit_report *report)
{
	const struct fstab_plan *plan = in->plan;
	struct map64 seen = {.arena = &report->arena};
	/* flips[i]: FLIP_* of the superblock whose first mount is line i of the plan. */
	unsigned char *flips = arena_new(&report->arena, plan->count, 1);
	for (size_t i = 0; i < in->errors->count && !report->arena.failed; ++i) {
		uint32_t of = in->errors->list[i].of;
		map64_put(&seen, mount_dev(plan->lines[of].mount), of);
		flips[of] = FLIP_REPORTED;
	}
	for (uint32_t i = 0; i < plan->count && !report->arena.failed; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		unsigned flip = flip_of(line);
		uint32_t first = flip ? map64_put(&seen, mount_dev(line->mount), i) : MAP64_NONE;
		if (first == MAP64_NONE)
			continue;
		bool drifted = (report->readonly && report->readonly[i])
		               || audit_line_ignores(report, line->of, DRIFT_READONLY);
		if ((!(flip & FLIP_SHUTDOWN) && drifted) || (flip & FLIP_READONLY && line->of))
			flip |= FLIP_REPORTED;
		flips[first] = (unsigned char)(flips[first] | flip);
	}
	for (size_t i = 0; i < plan->count && !report->arena.failed; ++i) {
		unsigned flip = flips[i];
		if (!(flip & FLIP_REPORTED)
		    && (flip & (FLIP_SHUTDOWN | FLIP_EMERGENCY)
		        || (flip & (FLIP_READONLY | FLIP_INTENDED)) == FLIP_READONLY))
			report_flip(report, &plan->lines[i], flip);
	}
}

static void check_errors(const struct audit_live *in, struct audit_report *report)
{
	if (in->errors->unknown)
		audit_not_checked(report, FS_ERRORS);
	for (size_t i = 0; i < in->errors->count; ++i) {
		const struct host_errors *e = &in->errors->list[i];
		struct audit_finding at = about(&in->plan->lines[e->of]);
		const char *more = e->detail ? audit_format(report, ": %s", e->detail) : "";
		const char *count = audit_format(report, "%llu%s", e->count, more);
		if (e->shutdown)
			audit_add_at(report, &at, FS_ERRORS, AUDIT_CRITICAL, "none", "shut down",
				     remount, shut_down);
		else if (e->missing)
			audit_add_at(report, &at, FS_ERRORS, AUDIT_CRITICAL, "none",
				     audit_format(report, "%u missing%s", e->missing, more),
				     "btrfs device usage shows which device is missing; btrfs "
				     "replace replaces it",
				     "devices of the file system are missing");
		else if (strcmp(at.fstype, "btrfs") == 0)
			/* Only a warning: the errors may be old, since btrfs counts from the
			   creation of the device, or from the last reset of the counters. */
			audit_add_at(report, &at, FS_ERRORS, AUDIT_WARNING, "none", count,
				     "btrfs scrub start; once repaired, btrfs device stats -z",
				     "devices of the file system report errors");
		else
			audit_add_at(report, &at, FS_ERRORS, AUDIT_CRITICAL, "none", count,
				     "check the kernel log; back up its data, check the device, "
				     "then run fsck on the unmounted file system",
				     "the file system reports errors");
	}
}

int audit_host(const struct audit_live *in, struct audit_report *report)
{
	check_mtab(in, report);
	check_mode(in, report);
	check_errors(in, report);
	check_flips(in, report);
	audit_boot(in, report);
	audit_crypttab(in, report);
	return audit_finish(report);
}
