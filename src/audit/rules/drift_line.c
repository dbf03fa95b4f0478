/* SPDX-License-Identifier: MIT */
/*
 * Compare a line with its mount: source, options, read-only.
 */
#include "audit/rules/drift_impl.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"
#include "mountopts/fsopts.h"
#include "mountopts/vfsflags.h"

#include <stdlib.h>
#include <string.h>

static bool names_subvolume(const struct fstab_entry *line)
{
	return fstab_entry_find(line, "subvol") || fstab_entry_find(line, "subvolid");
}

void drift_note_named(struct drift *drift)
{
	for (size_t i = 0; i < drift->in->file->count; ++i) {
		const struct fstab_line *of = drift->in->match->of[i];
		if (of && of->mount && fstype_flags(of->mount->fstype) & FST_SUBVOL
		    && names_subvolume(&drift->in->file->entries[i]))
			map64_put(&drift->named, mount_dev(of->mount), 0);
	}
}

bool drift_may_be_default(const struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	const char *source = line->source, *fstype = line->fstype;
	if (!m || !(fstype_flags(m->fstype) & FST_SUBVOL) || !shown_type(fstype, m->fstype)
	    || names_subvolume(line))
		return false;
	bool tag = strchr(source, '='),
	     looked_up = drift->in->facts->devices;
	bool own = m->source && strcmp(source, m->source) == 0;
	return map64_get(&drift->named, mount_dev(m)) == MAP64_NONE
	       && (own || drift_same_device(drift, source, live) || (tag && !looked_up));
}

void drift_report_source(struct drift *drift, const struct fstab_entry *line,
                         const struct fstab_line *live, enum drift_source kind)
{
	static const struct {
		enum audit_code code;
		enum audit_severity severity;
		const char *message;
	} kinds[] = {
		[DRIFT_OF_OTHER] = {DRIFT_SOURCE, AUDIT_CRITICAL,
			"another source is mounted than the line names"},
		[DRIFT_OF_OTHER_TYPE] = {DRIFT_TYPE, AUDIT_WARNING,
			"it is mounted as another type than the line names"},
		[DRIFT_OF_DEFAULT_SUBVOLUME] = {DRIFT_SOURCE, AUDIT_INFO,
			"the line does not name the mounted subvolume: correct if it is the "
			"default of the file system"},
	};
	bool image = line->root && live->mount && fstype_flags(live->mount->fstype) & FST_READONLY;
	drift_report(drift, kinds[kind].code, line, live, kinds[kind].severity,
		     drift_line_name(drift, line, live), drift_live_name(drift, live, line),
		     image ? "comment the line out if the root is an image on purpose"
		     : kind == DRIFT_OF_DEFAULT_SUBVOLUME
		     ? "check with btrfs subvolume get-default; add subvol= to the line"
		     : drift->report->elsewhere ? "correct the line or the mount"
		     : "correct the line or the mount; getmnt fstab --merge --fix=source --diff "
		       "shows the line of the mount", "%s", kinds[kind].message);
}

/** Whether a line of "/" does not name the mounted subvolume, which the kernel command line or the
    default of the file system may have selected. */
static bool lacks_root(const struct fstab_entry *line, const struct mount *m)
{
	size_t n;
	const char *subvol = m->fs_opts && strcmp(line->target, "/") == 0
	                                     && shown_type(line->fstype, m->fstype)
	                             ? opt_find(m->fs_opts, "subvol", 6, &n)
	                             : NULL;
	return subvol && n > 8 && !names_subvolume(line);   /* not for "subvol=/", the top level */
}

/** Make a hint with a command that remounts a mount, and text before and after the command.
    @options  "remount,rw", or "remount". */
static const char *remount_hint(struct drift *drift, const struct fstab_line *live,
                                const char *before, const char *options, const char *after)
{
	const char *command = audit_command(drift->report, "remount it", "mount", "-o", options,
	                                    "--", live->target, NULL);
	return audit_format(drift->report, "%s%s%s", before, command, after);
}

/** A hint to change the propagation of a mount.  A mount that is made shared gets no peers.
    @after  Text after the command. */
static const char *propagation_hint(struct drift *drift, const struct fstab_entry *line,
                                    const struct fstab_line *live, const char *after)
{
	bool named;
	unsigned flags = vfs_propagation_of_line(line->options, live->usual, &named);
	if (flags & MP_SHARED)
		return audit_format(drift->report, "unmount it and mount it again%s", after);
	const char *make = audit_format(drift->report, "--make-%s",
	                                vfs_propagation_options(flags, false));
	return audit_format(drift->report, "%s%s",
	                    audit_command(drift->report, "change the propagation", "mount", make,
	                                  "--", live->target, NULL), after);
}

/** Whether the device of a mount is known to be write-protected. */
static bool is_protected(struct drift *drift, const struct mount *m)
{
	const struct fstab_facts *facts = drift->in->facts;
	struct fstab_device device = {0};
	fstab_device_of(facts, m, NULL, &drift->report->arena, &device);
	if (!device.numbered)
		return false;
	const char *number = audit_format(drift->report, "%u:%u", device.major, device.minor);
	return fstab_answer(facts, FSTAB_IS_PROTECTED, number) > 0;
}

void drift_report_options(struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live, const char *differ)
{
	static const char hidden[] = "options that hold a secret";
	const char *change = drift->report->elsewhere ? ", or change the line"
	                     : ", or change the line: getmnt fstab --merge --fix=options";
	const char *options = line->options;
	const char *expected = opts_hold_secret(options) ? hidden : options;
	const char *actual = has_secret(differ) ? hidden : differ;
	size_t n;
	bool ro = opt_shown_has(differ, "ro");
	bool remote = fstype_flags(live->mount ? live->mount->fstype : NULL) & FST_NET;
	/* A remount does not change the propagation. */
	if (vfs_propagation_alone(differ))
		drift_report(drift, DRIFT_OPTIONS, line, live, AUDIT_WARNING, expected, actual,
			     propagation_hint(drift, line, live, change),
			     "it has another propagation than the line says");
	else if (ro && live->mount && is_protected(drift, live->mount))
		/* mount(8) mounts a write-protected device read-only without an error. */
		drift_report(drift, DRIFT_READONLY, line, live,
			     strcmp(differ, "ro") == 0 ? AUDIT_INFO : AUDIT_WARNING, expected,
			     actual, "add ro to the line, or find the cause: a switch on the "
			     "medium, losetup -r, blockdev --getro", "it is mounted read-only "
			     "since its device is write-protected, but the line does not say ro");
	else if (ro)
		drift_report(drift, DRIFT_READONLY, line, live, AUDIT_CRITICAL, expected, actual,
			     remount_hint(drift, live, "find the cause in the kernel log; then ",
			                  "remount,rw", ""),
			     "it is mounted read-only, but the line does not say ro");
	else
		drift_report(drift, DRIFT_OPTIONS, line, live, AUDIT_WARNING, expected, actual,
			     remote && opt_find(differ, "vers", 4, &n)
			     ? audit_format(drift->report, "unmount it and mount it again%s",
			                    change)
			     : remount_hint(drift, live, "", "remount", change),
			     "it is mounted with other options than the line says");
}

/** Whether a bind is read-only because the mount that contains its source is read-only.  If that
    mount should be writable, a finding about the line of that mount reports the fault. */
static bool binds_readonly(const struct drift *drift, const struct fstab_entry *line,
                           const struct mount *m)
{
	const struct mount *in = drift->in->match->bound[line->number - 1].in;
	if (!in || !in->vfs_opts || !in->fs_opts)
		return false;
	bool ro = shown_mount_readonly(in);
	if (ro && shown_mount_readonly(m))
		return true;
	uint32_t of = ro || shown_super_readonly(in) ? map64_get(&drift->lined, in->key)
	                                                     : MAP64_NONE;
	return of != MAP64_NONE && !audit_line_ignores(drift->report, of + 1, DRIFT_READONLY);
}

void drift_check_readonly(struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	if (!m || !m->vfs_opts || (m->fs_opts && shown_readonly(m))
	    || fstab_entry_has(fstab_match_entry(drift->in->match, line), "ro")
	    || binds_readonly(drift, line, m))
		return;
	if (shown_mount_readonly(m)) {
		if (live->fate != FSTAB_OWN
		    && !(fstype_flags(m->fstype) & (FST_READONLY | FST_AUTOFS)))
			drift_report_options(drift, line, live, "ro");
		return;
	}
	enum shown_fault fault = shown_fault(m);
	bool emergency = fault == SHOWN_EMERGENCY;
	/* A file system that shut down is reported as FS-ERRORS by audit_host(). */
	if (fault == SHOWN_SHUTDOWN || (!emergency && !shown_super_readonly(m)))
		return;
	bool ignored = audit_line_ignores(drift->report, line->number, DRIFT_READONLY);
	uint32_t first = ignored ? line->number
	                         : map64_put(&drift->flipped, mount_dev(m), line->number);
	if (first != line->number)
		drift->reported[line->number - 1] = true;   /* the error is already reported for
		                                               the file system */
	else
		drift_report(drift, DRIFT_READONLY, line, live, AUDIT_CRITICAL, "rw",
			     emergency ? "rw,emergency_ro" : "ro",
			     "read the kernel log, check the file system, and mount it again",
			     emergency ? "the file system has an error and rejects writes"
			               : "the file system is read-only although the mount is not: "
			                 "it may have an error");
}

/** Get the swap priority of a line; -1: the option is missing or invalid. */
static long priority_of(const struct fstab_entry *line)
{
	const char *text = fstab_entry_value(line, "pri");
	char *end;
	long value = text && *text ? strtol(text, &end, 10) : -1;
	return value >= 0 && value <= 32767 && !*end ? value : -1;
}

/** Report a swap space whose priority differs from its line. */
static void check_priority(struct drift *drift, const struct fstab_entry *line,
                           const struct fstab_line *live)
{
	struct fstab_entry planned;
	fstab_line_entry(live, &drift->report->arena, &planned);
	long wanted = priority_of(line), is = priority_of(&planned);
	if (wanted >= 0 && wanted != is)
		drift_report(drift, DRIFT_OPTIONS, line, NULL, AUDIT_WARNING,
			     audit_format(drift->report, "pri=%ld", wanted),
			     is < 0 ? "chosen by the kernel"
			            : audit_format(drift->report, "pri=%ld", is),
			     drift->report->elsewhere
			     ? "correct the line, or stop and start the swap space"
			     : "run swapoff while memory is free, then swapon -a",
			     "its priority is not that of the line");
}

/** Whether no line before `line` mounts the file system of the mount `m`.  The options of the first
    such line apply to all mounts of the file system. */
static bool is_first_of(const struct drift *drift, const struct fstab_entry *line,
                        const struct mount *m)
{
	for (uint32_t i = 0; i + 1 < line->number; ++i) {
		const struct fstab_entry *before = &drift->in->file->entries[i];
		const struct fstab_line *other = drift->in->match->of[i];
		/* If no mount matches the line, take the mount on its mount point. */
		if (fstab_is_entry(before) && !other)
			other = drift_live_at(drift, before->target);
		if (other && other->mount && mount_dev(other->mount) == mount_dev(m)
		    && !before->bind)
			return false;
	}
	return true;
}

/** Report options of a line that its mount lacks, although the kernel always shows these
    options. */
static void check_lacks(struct drift *drift, const struct fstab_entry *line,
                        const struct fstab_line *live)
{
	const char *options = fstab_match_entry(drift->in->match, line)->options;
	struct strbuf lacks = {.arena = &drift->report->arena};
	if (line->bind || line->remount)
		return;
	shown_lacks(live->mount, options, &lacks);
	/* Only an info if ext4 or xfs lacks "discard": both drop the option if the device does not
	   support discarding, and many cloud images request the option for any device. */
	bool able = strcmp(strbuf_str(&lacks), "discard") != 0
	            || !fsopt_type_in(live->mount->fstype, "ext4 xfs");
	if (lacks.len && is_first_of(drift, line, live->mount))
		drift_report(drift, DRIFT_OPTIONS, line, live, able ? AUDIT_WARNING : AUDIT_INFO,
			     opts_hold_secret(options) ? "options that hold a secret" : options,
			     audit_format(drift->report, "without %s", strbuf_str(&lacks)),
			     remount_hint(drift, live, "", "remount", "; if that changes "
			                  "nothing, unmount it and mount it again"),
			     able ? "it is mounted without options that the line requests"
			          : "it is mounted without an option that the line requests; its "
			            "device may not support it");
}

/** Get the option vers= of an NFS mount if the version is below 4 although the type of the line is
    nfs4; or NULL. */
static const char *older_nfs(const char *fstype, const struct mount *m, size_t *n)
{
	const char *vers = m->fs_opts && strcmp(fstype ? fstype : "", "nfs4") == 0
	                                   && strcmp(m->fstype ? m->fstype : "", "nfs") == 0
	                           ? opt_find(m->fs_opts, "vers", 4, n)
	                           : NULL;
	return vers && *n > 5 && vers[5] < '4' ? vers : NULL;
}

void drift_check_how(struct drift *drift, const struct fstab_entry *line,
                     const struct fstab_line *live)
{
	const char *options = fstab_match_entry(drift->in->match, line)->options,
	           *fstype = line->fstype;
	const struct mount *m = live->mount;
	if (live->swap)
		check_priority(drift, line, live);
	drift_check_readonly(drift, line, live);
	if (!drift->reported[line->number - 1] && m && lacks_root(line, m))
		drift_report_source(drift, line, live, DRIFT_OF_DEFAULT_SUBVOLUME);
	/* same: the mount has the type of the line.  If not, as for a layered root, the options of
	   the mount do not come from the line. */
	bool same = m && (line->bind || shown_type(fstype, m->fstype));
	if (!same || drift->reported[line->number - 1]
	    || fstype_flags(m->fstype) & FST_AUTOFS)
		return;
	struct strbuf differ = {.arena = &drift->report->arena};
	size_t n;
	if (live->fate != FSTAB_LINE)
		fstab_match_named(live, options, &differ);
	const char *older = differ.len ? NULL : older_nfs(fstype, m, &n);
	if (older)
		strbuf_add(&differ, older, n);
	if (differ.len)
		drift_report_options(drift, line, live, strbuf_str(&differ));
	else
		check_lacks(drift, line, live);
}

void drift_check_unknown(struct drift *drift, const struct fstab_entry *line,
                         const struct fstab_line *live)
{
	if (live->fate != FSTAB_OWN) {
		audit_not_checked(drift->report, DRIFT_SOURCE);
		audit_not_checked(drift->report, DRIFT_OPTIONS);
	}
	drift_check_how(drift, line, live);
}
