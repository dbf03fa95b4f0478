/* SPDX-License-Identifier: MIT */
#include "audit/rules/host_impl.h"

#include "audit/audit_impl.h"
#include "base/fstypes.h"
#include "base/map64.h"
#include "fstab/common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OVERFLOW_UID = 65534 };

const char *host_form(struct host *host, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = audit_vformat(host->report, &host->text, format, args);
	va_end(args);
	host->failed |= !text;
	return text ? text : "";
}

void host_tell(struct host *host, const struct audit_finding *finding)
{
	host->failed |= audit_report_add(host->report, finding) != 0;
}

void host_unjudged(struct host *host, enum audit_code code)
{
	host->report->unjudged |= audit_bit(code);
}

static void judge_mtab(struct host *host)
{
	static const char hint[] = "ln -sfn ../proc/self/mounts /etc/mtab; or getmnt recover --diff shows what it should be";
	const struct audit_mtab *mtab = &host->in->mtab;
	struct audit_finding finding = {.code = MTAB_REGULAR, .severity = AUDIT_INFO, .target = "/etc/mtab"};
	switch (mtab->kind) {
	case AUDIT_MTAB_UNKNOWN:
		host_unjudged(host, MTAB_REGULAR);
		host_unjudged(host, MTAB_STALE);
		host_unjudged(host, MTAB_CORRUPT);
		return;
	case AUDIT_MTAB_NONE:
	case AUDIT_MTAB_KERNEL:
		return;
	case AUDIT_MTAB_NOWHERE:
		finding.code = MTAB_CORRUPT;
		finding.severity = AUDIT_WARNING;
		finding.message = "it is a symlink that leads nowhere";
		finding.hint = "ln -sfn ../proc/self/mounts /etc/mtab";
		host_tell(host, &finding);
		return;
	case AUDIT_MTAB_FILE:
		break;
	}
	finding.expected = "a symlink to ../proc/self/mounts";
	finding.actual = "a regular file";
	finding.message = "it is a file of its own, which nothing keeps up to date since util-linux 2.39";
	finding.hint = hint;
	host_tell(host, &finding);
	finding.severity = AUDIT_WARNING;
	finding.expected = "what is mounted";
	/* What cannot be read of it is missing in it. */
	if (mtab->wrong || mtab->gone || (mtab->missing && !mtab->unreadable)) {
		finding.code = MTAB_STALE;
		finding.message = "it says of mounts what is not so";
		finding.actual = host_form(host, "%zu wrong, %zu gone, %zu missing", mtab->wrong, mtab->gone, mtab->missing);
		host_tell(host, &finding);
	}
	if (mtab->unreadable) {
		finding.code = MTAB_CORRUPT;
		finding.message = "it has lines that are none";
		finding.expected = "lines of an mtab";
		finding.actual = host_form(host, "%zu unreadable", mtab->unreadable);
		host_tell(host, &finding);
	}
}

static void judge_mode(struct host *host)
{
	const struct audit_host *in = host->in;
	/* Of a namespace that does not have the owner, he is nobody that can be named. */
	if (!in->fstab_seen || in->fstab_uid == OVERFLOW_UID) {
		host_unjudged(host, FSTAB_MODE);
		return;
	}
	if (in->fstab_uid == 0 && !(in->fstab_mode & (S_IWGRP | S_IWOTH)))
		return;
	host_tell(host, &(struct audit_finding){
		.code = FSTAB_MODE, .severity = AUDIT_CRITICAL, .target = "",
		.message = "others than root can write to the fstab: who does that is root at the next boot",
		.expected = "of root, mode 0644", .actual = host_form(host, "of user %u, mode %04o", in->fstab_uid, in->fstab_mode & 07777),
		.hint = "chown root:root and chmod 0644 it, after a look at what it says"});
}

static const char shut_down[] = "the file system has shut down after an error: nothing is read or written any more";
static const char anew[] = "see the kernel's log and the device; umount it, check it, and mount it again";

/* Of a superblock that the table itself shows to have met an error. */
enum {
	FLIP_READONLY = 1, FLIP_EMERGENCY = 2, FLIP_SHUTDOWN = 4,
	FLIP_MEANT = 8,          /* it was mounted read-only somewhere: then it is, everywhere */
	FLIP_TOLD = 16,
};

/** What the options of a mount show of its superblock: FLIP_*; 0: nothing. */
static unsigned flip_of(const struct fstab_line *line)
{
	static const char *const types[] = {"ext2", "ext3", "ext4", "btrfs", "f2fs", "vfat", NULL};
	const struct mount *m = line->mount;
	if (!m || !line->target || !m->fstype || !m->fs_opts || !(fstype_flags(m->fstype) & FST_DEVICE))
		return 0;
	if (opt_shown_has(m->fs_opts, "shutdown"))
		return FLIP_SHUTDOWN;
	if (opt_shown_has(m->fs_opts, "emergency_ro"))
		return FLIP_EMERGENCY;
	/* Of others a file system that cannot be written to may be usual. */
	const char *const *type = types;
	while (*type && strcmp(*type, m->fstype) != 0)
		++type;
	if (!*type || !opt_shown_has(m->fs_opts, "ro") || strcmp(line->owner, "udisks") == 0 || strcmp(line->owner, "session") == 0)
		return 0;
	return m->vfs_opts && opt_shown_has(m->vfs_opts, "ro") ? FLIP_MEANT : FLIP_READONLY;
}

static void tell_flip(struct host *host, const struct fstab_line *line, unsigned flip)
{
	host_tell(host, &(struct audit_finding){
		.code = FS_ERRORS, .severity = AUDIT_CRITICAL, .target = line->target, .owner = line->owner, .line = line->of,
		.fstype = line->mount->fstype,
		.message = flip & FLIP_SHUTDOWN    ? shut_down
		           : flip & FLIP_EMERGENCY ? "the file system has met an error, and takes no more writes"
		                                   : "the file system is read-only, the mount is not: it may have met an error",
		.expected = flip & FLIP_SHUTDOWN ? "none" : "rw",
		.actual = flip & FLIP_SHUTDOWN ? "shut down" : flip & FLIP_EMERGENCY ? "rw,emergency_ro" : "ro", .hint = anew});
}

/** Whoever has mounted it, what has flipped is told once: of a line it may be as DRIFT-READONLY. */
static void judge_flips(struct host *host)
{
	const struct fstab_plan *plan = host->in->plan;
	struct map64 told, seen;
	unsigned char *flips = calloc(plan->count + 1, 1);
	map64_init(&told);
	map64_init(&seen);
	host->failed |= !flips;
	for (size_t i = 0; i < host->in->nerrors && !host->failed; ++i)
		host->failed |= map64_put(&told, map64_text(host->in->errors[i].target), FS_ERRORS) == MAP64_NONE;
	for (size_t i = 0; i < host->report->count && !host->failed; ++i) {
		const struct audit_finding *f = &host->report->findings[i];
		if (f->code == DRIFT_READONLY)
			host->failed |= map64_put(&told, map64_text(f->target), f->code) == MAP64_NONE;
	}
	for (uint32_t i = 0; i < plan->count && !host->failed; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		unsigned flip = flip_of(line);
		if (!flip)
			continue;
		uint32_t first = map64_put(&seen, mount_dev(line->mount), i);
		if (first == MAP64_NONE) {
			host->failed = true;
			break;
		}
		uint32_t code = map64_get(&told, map64_text(line->target));
		bool excused = line->of && line->of <= host->report->nlines && host->report->ignored[line->of - 1] & audit_bit(DRIFT_READONLY);
		if (code == FS_ERRORS || (!(flip & FLIP_SHUTDOWN) && (code == DRIFT_READONLY || excused))
		    || (flip & FLIP_READONLY && line->of))
			flip |= FLIP_TOLD;
		flips[first] = (unsigned char)(flips[first] | flip);
	}
	for (size_t i = 0; i < plan->count && !host->failed; ++i) {
		unsigned flip = flips[i];
		if (flip & FLIP_TOLD || !(flip & (FLIP_SHUTDOWN | FLIP_EMERGENCY | FLIP_READONLY)))
			continue;
		if (flip & (FLIP_SHUTDOWN | FLIP_EMERGENCY) || !(flip & FLIP_MEANT))
			tell_flip(host, &plan->lines[i], flip);
	}
	free(flips);
	map64_destroy(&told);
	map64_destroy(&seen);
}

static void judge_errors(struct host *host)
{
	const struct audit_host *in = host->in;
	if (in->errors_unknown)
		host_unjudged(host, FS_ERRORS);
	for (size_t i = 0; i < in->nerrors; ++i) {
		const struct audit_errors *e = &in->errors[i];
		const char *more = e->detail ? host_form(host, ": %s", e->detail) : "";
		struct audit_finding finding = {
			.code = FS_ERRORS, .severity = AUDIT_CRITICAL, .target = e->target, .owner = e->owner, .line = e->line,
			.expected = "none", .message = "the file system has met errors",
			.actual = host_form(host, "%llu%s", e->count, more),
			.hint = "see the kernel's log; save what is on it, check the device, then the file system while it is not mounted",
		};
		if (e->shutdown) {
			finding.message = shut_down;
			finding.actual = "shut down";
			finding.hint = anew;
		} else if (e->missing) {
			finding.message = "the file system lacks devices";
			finding.actual = host_form(host, "%u missing%s", e->missing, more);
			finding.hint = "see which device is gone; btrfs device usage and btrfs replace";
		} else if (strcmp(e->fstype, "btrfs") == 0) {
			/* Counted since the device was made, or since somebody has set them to nothing. */
			finding.severity = AUDIT_WARNING;
			finding.message = "devices of the file system have failed";
			finding.hint = "btrfs scrub start; then btrfs device stats -z once they are mended";
		}
		host_tell(host, &finding);
	}
}

int audit_host(const struct audit_host *in, struct audit_report *report)
{
	struct host host = {.in = in, .report = report};
	strbuf_init(&host.text);
	judge_mtab(&host);
	judge_mode(&host);
	judge_errors(&host);
	judge_flips(&host);
	host_boot_root(&host);
	host_crypttab(&host);
	if (!host.failed)
		audit_report_sort(report);
	strbuf_destroy(&host.text);
	if (host.failed)
		errno = ENOMEM;
	return host.failed ? -1 : 0;
}
