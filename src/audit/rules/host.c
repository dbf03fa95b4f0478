/* SPDX-License-Identifier: MIT */
#include "audit/rules/host_impl.h"

#include "audit/audit_impl.h"
#include "base/fstypes.h"
#include "base/map64.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OVERFLOW_UID = 65534 };

const char *rules_format(struct host_rules *rules, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(&rules->report->arena, format, args);
	va_end(args);
	rules->failed |= !text;
	return text ? text : "";
}

void rules_add(struct host_rules *rules, const struct audit_finding *finding)
{
	rules->failed |= audit_report_add(rules->report, finding) != 0;
}

static void judge_mtab(struct host_rules *rules)
{
	static const char hint[] = "ln -sfn ../proc/self/mounts /etc/mtab; getmnt recover --diff "
	                           "shows the right contents";
	const struct audit_mtab *mtab = &rules->in->mtab;
	struct audit_finding finding = {.code = MTAB_REGULAR, .severity = AUDIT_INFO,
	                                .target = "/etc/mtab"};
	switch (mtab->kind) {
	case HOST_MTAB_UNKNOWN:
		audit_not_checked(rules->report, MTAB_REGULAR);
		audit_not_checked(rules->report, MTAB_STALE);
		audit_not_checked(rules->report, MTAB_CORRUPT);
		return;
	case HOST_MTAB_NONE:
	case HOST_MTAB_KERNEL:
		return;
	case HOST_MTAB_NOWHERE:
		finding.code = MTAB_CORRUPT;
		finding.severity = AUDIT_WARNING;
		finding.message = "dangling symlink";
		finding.hint = "ln -sfn ../proc/self/mounts /etc/mtab";
		rules_add(rules, &finding);
		return;
	case HOST_MTAB_FILE:
		break;
	}
	finding.expected = "a symlink to ../proc/self/mounts";
	finding.actual = "a regular file";
	finding.message = "a regular file, which nothing updates since util-linux 2.39";
	finding.hint = hint;
	rules_add(rules, &finding);
	finding.severity = AUDIT_WARNING;
	finding.expected = "what is mounted";
	/* An unreadable line also makes its mount count as missing. */
	if (mtab->wrong || mtab->gone || (mtab->missing && !mtab->unreadable)) {
		finding.code = MTAB_STALE;
		finding.message = "does not match what is mounted";
		finding.actual = rules_format(rules, "%zu wrong, %zu gone, %zu missing",
		                              mtab->wrong, mtab->gone, mtab->missing);
		rules_add(rules, &finding);
	}
	if (mtab->unreadable) {
		finding.code = MTAB_CORRUPT;
		finding.message = "has invalid lines";
		finding.expected = "lines of an mtab";
		finding.actual = rules_format(rules, "%zu unreadable", mtab->unreadable);
		rules_add(rules, &finding);
	}
}

static void judge_mode(struct host_rules *rules)
{
	const struct audit_host *in = rules->in;
	/* In a user namespace that does not map the owner, the owner is not known. */
	if (!in->fstab_seen || in->fstab_uid == OVERFLOW_UID) {
		audit_not_checked(rules->report, FSTAB_MODE);
		return;
	}
	if (in->fstab_uid == 0 && !(in->fstab_mode & (S_IWGRP | S_IWOTH)))
		return;
	rules_add(rules, &(struct audit_finding){
		.code = FSTAB_MODE, .severity = AUDIT_CRITICAL, .target = "",
		.message = "users other than root can write to the fstab, and so become root at "
		           "the next boot",
		.expected = "of root, mode 0644",
			.actual = rules_format(rules, "of user %u, mode %04o", in->fstab_uid,
			                       in->fstab_mode & 07777),
		.hint = "check its contents, then chown root:root and chmod 0644 it"});
}

static const char shut_down[] = "the file system shut down after an error: reads and writes fail";
static const char remount[] = "check the kernel log and the device; unmount it, run fsck, mount it "
                           "again";

/* What the options of mounts show of a superblock with an error. */
enum {
	FLIP_READONLY = 1, FLIP_EMERGENCY = 2, FLIP_SHUTDOWN = 4,
	FLIP_INTENDED = 8,          /* a mount is read-only, and so the superblock */
	FLIP_REPORTED = 16,
};

/** The errors that the options of a mount show: FLIP_*; 0: none. */
static unsigned flip_of(const struct fstab_line *line)
{
	static const char *const types[] = {"ext2", "ext3", "ext4", "btrfs", "f2fs", "vfat", NULL};
	const struct mount *m = line->mount;
	if (!m || !line->target || !m->fstype || !m->fs_opts
	    || !(fstype_flags(m->fstype) & FST_DEVICE))
		return 0;
	if (opt_shown_has(m->fs_opts, "shutdown"))
		return FLIP_SHUTDOWN;
	if (opt_shown_has(m->fs_opts, "emergency_ro"))
		return FLIP_EMERGENCY;
	/* Other types may be read-only without an error. */
	const char *const *type = types;
	while (*type && strcmp(*type, m->fstype) != 0)
		++type;
	if (!*type || !opt_shown_has(m->fs_opts, "ro") || strcmp(line->owner, "udisks") == 0
	    || strcmp(line->owner, "session") == 0)
		return 0;
	return m->vfs_opts && opt_shown_has(m->vfs_opts, "ro") ? FLIP_INTENDED : FLIP_READONLY;
}

static void add_flip(struct host_rules *rules, const struct fstab_line *line, unsigned flip)
{
	rules_add(rules, &(struct audit_finding){
		.code = FS_ERRORS, .severity = AUDIT_CRITICAL, .target = line->target,
			.owner = line->owner, .line = line->of,
		.fstype = line->mount->fstype,
		.message = flip & FLIP_SHUTDOWN    ? shut_down
		           : flip & FLIP_EMERGENCY
		           ? "the file system has an error and rejects writes"
		                                   : "the file system is read-only although the "
		                                     "mount is not: it may have an error",
		.expected = flip & FLIP_SHUTDOWN ? "none" : "rw",
		.actual = flip & FLIP_SHUTDOWN ? "shut down" : flip & FLIP_EMERGENCY
			? "rw,emergency_ro" : "ro", .hint = remount});
}

/** Report each superblock with an error once, unless DRIFT-READONLY reports it for a line. */
static void judge_flips(struct host_rules *rules)
{
	const struct fstab_plan *plan = rules->in->plan;
	struct map64 reported, seen;
	unsigned char *flips = calloc(plan->count + 1, 1);
	map64_init(&reported);
	map64_init(&seen);
	rules->failed |= !flips;
	for (size_t i = 0; i < rules->in->errors->count && !rules->failed; ++i) {
		const char *target = plan->lines[rules->in->errors->list[i].of].target;
		rules->failed |= map64_put(&reported, map64_text(target), FS_ERRORS) == MAP64_NONE;
	}
	for (size_t i = 0; i < rules->report->count && !rules->failed; ++i) {
		const struct audit_finding *f = &rules->report->findings[i];
		if (f->code == DRIFT_READONLY)
			rules->failed |= map64_put(&reported, map64_text(f->target),
			                           f->code) == MAP64_NONE;
	}
	for (uint32_t i = 0; i < plan->count && !rules->failed; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		unsigned flip = flip_of(line);
		if (!flip)
			continue;
		uint32_t first = map64_put(&seen, mount_dev(line->mount), i);
		if (first == MAP64_NONE) {
			rules->failed = true;
			break;
		}
		uint32_t code = map64_get(&reported, map64_text(line->target));
		bool excused = audit_line_ignores(rules->report, line->of, DRIFT_READONLY);
		if (code == FS_ERRORS || (!(flip & FLIP_SHUTDOWN)
		                          && (code == DRIFT_READONLY || excused))
		    || (flip & FLIP_READONLY && line->of))
			flip |= FLIP_REPORTED;
		flips[first] = (unsigned char)(flips[first] | flip);
	}
	for (size_t i = 0; i < plan->count && !rules->failed; ++i) {
		unsigned flip = flips[i];
		if (flip & FLIP_REPORTED
		    || !(flip & (FLIP_SHUTDOWN | FLIP_EMERGENCY | FLIP_READONLY)))
			continue;
		if (flip & (FLIP_SHUTDOWN | FLIP_EMERGENCY) || !(flip & FLIP_INTENDED))
			add_flip(rules, &plan->lines[i], flip);
	}
	free(flips);
	map64_destroy(&reported);
	map64_destroy(&seen);
}

static void judge_errors(struct host_rules *rules)
{
	const struct audit_host *in = rules->in;
	if (in->errors->unknown)
		audit_not_checked(rules->report, FS_ERRORS);
	for (size_t i = 0; i < in->errors->count; ++i) {
		const struct host_errors *e = &in->errors->list[i];
		const struct fstab_line *line = &in->plan->lines[e->of];
		const char *more = e->detail ? rules_format(rules, ": %s", e->detail) : "";
		struct audit_finding finding = {
			.code = FS_ERRORS, .severity = AUDIT_CRITICAL, .target = line->target,
				.owner = line->owner, .line = line->of,
			.expected = "none", .message = "the file system reports errors",
			.actual = rules_format(rules, "%llu%s", e->count, more),
			.hint = "check the kernel log; back up its data, check the device, then "
			        "run fsck on the unmounted file system",
		};
		if (e->shutdown) {
			finding.message = shut_down;
			finding.actual = "shut down";
			finding.hint = remount;
		} else if (e->missing) {
			finding.message = "devices of the file system are missing";
			finding.actual = rules_format(rules, "%u missing%s", e->missing, more);
			finding.hint = "btrfs device usage shows which device is missing; btrfs "
			               "replace replaces it";
		} else if (strcmp(line->mount->fstype, "btrfs") == 0) {
			/* btrfs counts since the device was created or the counts were reset. */
			finding.severity = AUDIT_WARNING;
			finding.message = "devices of the file system report errors";
			finding.hint = "btrfs scrub start; once repaired, btrfs device stats -z";
		}
		rules_add(rules, &finding);
	}
}

int audit_host(const struct audit_host *in, struct audit_report *report)
{
	struct host_rules rules = {.in = in, .report = report};
	judge_mtab(&rules);
	judge_mode(&rules);
	judge_errors(&rules);
	judge_flips(&rules);
	rules_boot_root(&rules);
	rules_crypttab(&rules);
	if (!rules.failed)
		audit_report_sort(report);
	if (rules.failed)
		errno = ENOMEM;
	return rules.failed ? -1 : 0;
}
