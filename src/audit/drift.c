/* SPDX-License-Identifier: MIT */
#include "audit/drift.h"

#include "audit/audit_impl.h"
#include "audit/bound.h"
#include "audit/host_impl.h"
#include "base/escape.h"
#include "base/fstypes.h"
#include "base/secret.h"
#include "fstab/fstab_impl.h"
#include "fstab/shown.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_USER = 1000 };   /* the lowest user id of a person: login.defs(5) */

struct drift {
	const struct audit_drift_input *in;
	struct audit_report *report;
	struct map64 by_target;   /* hash of a mount point -> the uppermost line of the plan there */
	struct map64 lined;       /* mount -> the index of its line */
	struct map64 flipped;     /* superblock -> the line of which it was told to be read-only */
	bool *told;               /* of each line: what becomes of it is told already */
	size_t *cause;            /* of each line, the number from 1 of the finding that its source is not there; 0 */
	struct map64 named;       /* the devices of which a line names a subvolume that is mounted */
	bool any;                 /* a line of a mount or swap space */
	struct strbuf text, actual;
	signed char container;    /* audit_is_contained() */
	bool failed;
};

/** Whether it is no fault that a line is not mounted as it says. */
static bool is_contained(struct drift *drift, const struct tabline *line)
{
	return line && audit_is_contained(drift->in->facts, tabline_value(line, TABLINE_SOURCE), &drift->container);
}

__attribute__((format(printf, 2, 3)))
static const char *form(struct strbuf *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	strbuf_reset(out);
	strbuf_vprintf(out, format, args);
	va_end(args);
	return strbuf_str(out);
}

/** What gives a mount or swap space a line.  Its name is whoever's has mounted it. */
static const char *add_hint(struct strbuf *out, const char *name)
{
	strbuf_reset(out);
	strbuf_puts(out, "getmnt fstab --merge --add=");
	escape_shell_octal(out, name);
	strbuf_puts(out, " --diff");
	return strbuf_str(out);
}

/** What mounts a line. */
static const char *mount_hint(struct strbuf *out, const char *target)
{
	strbuf_reset(out);
	strbuf_puts(out, "mount ");
	escape_operand(out, target);
	strbuf_puts(out, ", or give the line noauto");
	return strbuf_str(out);
}

/** Tell of a line, a mount, or both. */
static void tell(struct drift *drift, enum audit_code code, const struct tabline *line,
                 const struct fstab_line *live, struct audit_finding *finding)
{
	const struct fstab_world *world = &drift->in->live->world;
	const char *target = live && live->swap ? live->swap : live ? live->target : NULL;
	if (!target && line) {
		target = tabline_value(line, TABLINE_TARGET);
		if (!target || *target != '/')
			target = tabline_value(line, TABLINE_SOURCE);
	}
	if (finding->hint && strcmp(drift->in->live->root, "/") != 0)
		finding->hint = NULL;   /* it would be done to this system */
	if (target && *target != '/' && world->secret && world->secret(target, NULL))
		target = NULL;
	if (code != DRIFT_READONLY && finding->severity > AUDIT_INFO && is_contained(drift, line)) {
		finding->severity = AUDIT_INFO;
		if (finding->hint)
			finding->hint = "in a container nothing mounts the devices of an fstab: take the line away";
	}
	finding->code = code;
	finding->line = line ? line->number : 0;
	finding->target = target ? target : "";
	finding->owner = line ? "fstab" : live->owner;
	finding->fstype = live && live->mount ? live->mount->fstype : live ? "swap" : tabline_value(line, TABLINE_FSTYPE);
	if (line)
		drift->told[line->number - 1] = true;
	drift->failed |= drift->text.failed || drift->actual.failed || audit_report_add(drift->report, finding) != 0;
}

/** A source and type, without secrets: also in a type, behind a comma that should be a blank. */
static const char *name_of(const struct drift *drift, struct strbuf *out, const char *source, const char *fstype)
{
	const struct fstab_world *world = &drift->in->live->world;
	bool secret = source && world->secret && world->secret(source, NULL);
	strbuf_reset(out);
	strbuf_puts(out, secret ? "***" : source ? source : "none");
	strbuf_puts(out, " (");
	mask_options(fstype ? fstype : "?", out);
	strbuf_puts(out, ")");
	return strbuf_str(out);
}

static const char *live_name(const struct drift *drift, struct strbuf *out, const struct fstab_line *live)
{
	bool own = live->fate == FSTAB_LINE || !live->mount;
	return name_of(drift, out, own ? live->source : live->mount->source, live->mount ? live->mount->fstype : "swap");
}

/** A name, and where more than that says what is mounted, the options that do: which
    subvolume, which layers, which directory.  @live  What is mounted; NULL of a line. */
static const char *with_part(const struct drift *drift, struct strbuf *out, const char *name, const char *fstype, const char *options,
                             const struct fstab_line *live)
{
	const struct fstab_world *world = &drift->in->live->world;
	unsigned flags = fstype_flags(fstype);
	if (live && live->fate != FSTAB_LINE && !(flags & (FST_SUBVOL | FST_LAYERED | FST_PSEUDO)) && live->mount && live->mount->root && strcmp(live->mount->root, "/") != 0) {
		strbuf_printf(out, ": %s", live->mount->root);
		return strbuf_str(out);
	}
	if (!(flags & (FST_SUBVOL | FST_LAYERED)) || !options || !*options || (world->secret && world->secret(NULL, options)))
		return name;
	size_t n = strlen(options);
	const char *part = flags & FST_LAYERED ? options : fstab_kept_find(options, "subvol", 6, &n);
	if (!part)
		part = fstab_kept_find(options, "subvolid", 8, &n);
	if (part)
		strbuf_printf(out, ": %.*s", (int)n, part);
	return strbuf_str(out);
}

/** Whether a line names the device that is mounted. */
static bool is_same_device(const struct drift *drift, const char *source, const struct fstab_line *live)
{
	const struct fstab_facts *facts = drift->in->facts;
	const struct fstab_world *world = &drift->in->live->world;
	struct fstab_device named = {0}, mounted = {0};
	return source && live->mount && facts && facts->devices && world->device && facts->devices(facts->arg, source, &named) == 1
	       && world->device(world->arg, live->mount, &mounted) == 0 && fstab_same_device(&named, &mounted) == 1;
}

static bool names_subvolume(const struct tabline *line)
{
	size_t n;
	const char *options = tabline_value(line, TABLINE_OPTIONS);
	return options && (fstab_kept_find(options, "subvol", 6, &n) || fstab_kept_find(options, "subvolid", 8, &n));
}

/** Note the devices of which lines name subvolumes that are mounted. */
static void note_named(struct drift *drift)
{
	for (size_t i = 0; i < drift->in->lines->count && !drift->failed; ++i) {
		const struct fstab_line *of = drift->in->merged->of[i];
		if (of && of->mount && fstype_flags(of->mount->fstype) & FST_SUBVOL && names_subvolume(&drift->in->lines->lines[i]))
			drift->failed |= map64_put(&drift->named, mount_dev(of->mount), 0) == MAP64_NONE;
	}
}

/** Whether a line that names no subvolume may be of the file system's default, which is not known:
    unless the line of another of its subvolumes names that. */
static bool may_be_default(const struct drift *drift, const struct tabline *line, const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	const char *source = tabline_value(line, TABLINE_SOURCE), *fstype = tabline_value(line, TABLINE_FSTYPE);
	if (!m || !(fstype_flags(m->fstype) & FST_SUBVOL) || !shown_type(fstype, m->fstype) || names_subvolume(line))
		return false;
	bool tag = source && strchr(source, '='), asked = drift->in->facts && drift->in->facts->devices;
	bool own = source && m->source && strcmp(source, m->source) == 0;
	return map64_get(&drift->named, mount_dev(m)) == MAP64_NONE && (own || is_same_device(drift, source, live) || (tag && !asked));
}

static const char of_default[] = "a subvolume is mounted that its line does not name: right if it is the default of the file system";

/** Tell that something else is mounted than a line names: as a warning, that it is of another type. */
static void tell_source(struct drift *drift, const struct tabline *line, const struct fstab_line *live,
                        enum audit_severity severity, const char *message)
{
	const char *source = tabline_value(line, TABLINE_SOURCE), *fstype = tabline_value(line, TABLINE_FSTYPE);
	const struct mount *m = live->mount;
	tell(drift, severity == AUDIT_WARNING ? DRIFT_TYPE : DRIFT_SOURCE, line, live, &(struct audit_finding){
		.severity = severity, .message = message,
		.expected = with_part(drift, &drift->text, name_of(drift, &drift->text, source, fstype), fstype,
		                      tabline_value(line, TABLINE_OPTIONS), NULL),
		.actual = with_part(drift, &drift->actual, live_name(drift, &drift->actual, live), m ? m->fstype : NULL,
		                    m ? m->fs_opts : NULL, live),
		.hint = message == of_default ? "btrfs subvolume get-default tells; write subvol= into the line"
		        : "see which is meant; getmnt fstab --merge --fix=source --diff shows the line of what is mounted"});
}

/** Whether the root is of a subvolume that its line does not name: the command line or the default
    has chosen it. */
static bool lacks_root(const struct tabline *line, const struct mount *m)
{
	const char *target = tabline_value(line, TABLINE_TARGET), *fstype = tabline_value(line, TABLINE_FSTYPE);
	size_t n;
	const char *subvol = m->fs_opts && strcmp(target ? target : "", "/") == 0 && shown_type(fstype, m->fstype)
	                     ? fstab_kept_find(m->fs_opts, "subvol", 6, &n) : NULL;
	return subvol && n > 8 && !names_subvolume(line);   /* "subvol=/" is the top */
}

/** Tell of a mount that has options otherwise than its line.
    @differ  Those, as the mount has them. */
static void tell_differs(struct drift *drift, const struct tabline *line, const struct fstab_line *live, const char *differ)
{
	const struct fstab_world *world = &drift->in->live->world;
	bool secret = world->secret && world->secret(NULL, differ), ro = fstab_has_option(differ, "ro");
	/* mount(8) tries it read-only then, and tells who looks. */
	bool guarded = ro && live->mount && world->protected && world->protected(world->arg, live->mount), alone = strcmp(differ, "ro") == 0;
	const char *options = tabline_value(line, TABLINE_OPTIONS);
	bool hidden = audit_holds_secret(world->secret, options);
	size_t n;
	tell(drift, ro ? DRIFT_READONLY : DRIFT_OPTIONS, line, live, &(struct audit_finding){
		.severity = guarded && alone ? AUDIT_INFO : ro && !guarded ? AUDIT_CRITICAL : AUDIT_WARNING,
		.message = guarded ? "it is mounted read-only, for its device takes no writes, and its line does not say so"
		           : ro ? "it is mounted read-only, and its line does not say so" : "it is mounted with other options than its line says",
		.expected = hidden ? "options that hold a secret" : options && *options ? options : "defaults",
		.actual = secret ? "options that hold a secret" : differ,
		.hint = guarded ? "give the line ro, or see why: a switch of the medium, losetup -r, blockdev --getro"
		        : ro ? "look into the kernel's log for why; mount -o remount,rw once that is mended"
		        : fstype_flags(live->mount ? live->mount->fstype : NULL) & FST_NET && fstab_kept_find(differ, "vers", 4, &n)
		           ? "umount it, and mount it again; or getmnt fstab --merge --fix=options"
		           : "mount -o remount, or getmnt fstab --merge --fix=options"});
}

/** Whether a mount is one of which MNT-* tells: a line of it is not wrong. */
static bool is_lost(const struct drift *drift, const struct fstab_line *live)
{
	const struct discovery *d = drift->in->live->d;
	const struct mount *first = d->table->mounts;
	if (!live->mount || live->mount < first || live->mount >= first + d->table->count)
		return false;
	const struct mt_node *node = &d->tree.nodes[live->mount - first];
	return node->states & (1u << MT_HIDDEN | 1u << MT_DELETED);
}

/** What is not judged of everything. */
static void leave_open(struct drift *drift, enum audit_code code)
{
	drift->report->unjudged |= audit_bit(code);
}

/** Whether a line has an option, by its name. */
static bool asks_for(const struct tabline *line, const char *name)
{
	size_t n;
	return fstab_kept_find(tabline_value(line, TABLINE_OPTIONS), name, strlen(name), &n);
}

/** Whether one of a list of types is not the kernel's: its helper may mount anything. */
static bool is_of_helper(const char *types)
{
	char type[32];
	for (size_t n; types && *types; types += n + (types[n] == ',')) {
		n = strcspn(types, ",");
		if (n >= sizeof(type))
			return true;
		memcpy(type, types, n);
		type[n] = '\0';
		if (!(fstype_flags(type) & FST_KNOWN))
			return true;
	}
	return false;
}

/** Whether the source and type of a line say nothing of what is mounted: who serves FUSE names both
    as he likes, ceph shows addresses for names, and a root on layers or on NFS is its boot's. */
static bool is_of_server(const struct tabline *line, const struct fstab_line *live)
{
	const char *asked = tabline_value(line, TABLINE_FSTYPE);
	const char *fstype = live->mount && live->mount->fstype ? live->mount->fstype : "";
	bool root = live->target && strcmp(live->target, "/") == 0;
	/* One of FUSE that stands on a device has its number. */
	bool served = (strncmp(fstype, "fuse", 4) == 0 && live->mount->dev_major == 0) || strcmp(fstype, "ceph") == 0;
	bool may = !asks_for(line, "bind") && !asks_for(line, "rbind") && (shown_type(asked, fstype) || is_of_helper(asked));
	return (served && may)
	       || (root && (strcmp(fstype, "overlay") == 0 || strcmp(fstype, "composefs") == 0 || fstype_flags(fstype) & FST_NET));
}

/** Whether a mount or swap space may be that of a unit that many systems have, or of udisks,
    of which nothing is known here. */
static bool may_be_units(const struct drift *drift, const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	if (drift->in->live->world.unit)
		return false;
	if (live->swap)
		return strcmp(live->swap, "/var/swap") == 0;
	if (!m || !m->fstype || !live->target)
		return false;
	bool stick = strncmp(live->target, "/media/", 7) == 0 && strchr(live->target + 7, '/') && m->vfs_opts
	             && fstab_has_option(m->vfs_opts, "nosuid") && fstab_has_option(m->vfs_opts, "nodev");
	return stick || (strcmp(m->fstype, "tmpfs") == 0 && strcmp(live->target, "/tmp") == 0);
}

/** Whether an ordinary user has mounted it by FUSE, in his home. */
static bool is_of_user(const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	size_t n;
	if (!m || !m->fstype || strncmp(m->fstype, "fuse", 4) != 0 || !m->vfs_opts || !m->fs_opts || !live->target
	    || strncmp(live->target, "/home/", 6) != 0 || !strchr(live->target + 6, '/'))
		return false;
	const char *id = fstab_kept_find(m->fs_opts, "user_id", 7, &n);
	return id && n > 8 && strtoul(id + 8, NULL, 10) >= FIRST_USER && fstab_has_option(m->vfs_opts, "nosuid") && fstab_has_option(m->vfs_opts, "nodev");
}

/** Whether it is in memory that is set up at boot: there can be no line of it. */
static bool is_of_zram(const struct fstab_line *live)
{
	return live->mount && live->mount->source && strncmp(live->mount->source, "/dev/zram", 9) == 0;
}

/** Whether a directory is bound onto itself, read-only: as NixOS has its store. */
static bool is_locked(const struct drift *drift, const struct fstab_line *live)
{
	const struct discovery *d = drift->in->live->d;
	const struct mount *m = live->mount, *first = d->table->mounts;
	return m && m >= first && m < first + d->table->count && m->vfs_opts && fstab_has_option(m->vfs_opts, "ro")
	       && fstab_upon_itself(d, (uint32_t)(m - first));
}

/** Whether something of a disk is in use that an fstab without a line has lost: a whole file
    system, not /usr, which an initrd mounts, or a swap space, where the root is of a disk as
    well, and in no container. */
static bool is_forgotten(struct drift *drift, const struct fstab_line *live)
{
	static const char dev[] = "/dev/", *const made[] = {"/dev/loop", "/dev/zram", "/dev/ram", "/dev/fuse", "/dev/sr", "/dev/scd"};
	const struct fstab_plan *plan = drift->in->plan;
	const char *source = live->swap ? live->swap : live->mount ? live->mount->source : NULL;
	if (!source || strncmp(source, dev, sizeof(dev) - 1) != 0 || audit_is_contained(drift->in->facts, source, &drift->container))
		return false;
	if (!live->swap && ((live->target && strcmp(live->target, "/usr") == 0)
	                    || (live->mount->root && strcmp(live->mount->root, "/") != 0)))
		return false;
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); ++i) {
		if (strncmp(source, made[i], strlen(made[i])) == 0)
			return false;
	}
	for (uint32_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		if (line->mount && line->mount->source && line->target && strcmp(line->target, "/") == 0)
			return strncmp(line->mount->source, dev, sizeof(dev) - 1) == 0;
	}
	return false;
}

/** Whether the device, file or directory of a line is missing, as far as is known. */
static bool is_missing(const struct drift *drift, const struct tabline *line)
{
	const struct fstab_facts *facts = drift->in->facts;
	const char *source = tabline_value(line, TABLINE_SOURCE);
	if (!facts || !source)
		return false;
	if (*source == '/' && strncmp(source, "/dev/", 5) != 0)
		return facts->look && source[1] != '/' && facts->look(facts->arg, source, NULL) == FACT_MISSING;
	return facts->devices && (*source == '/' || strchr(source, '=')) && facts->devices(facts->arg, source, NULL) == 0;
}

/** Whether a line binds what is read-only by itself: its mount began as that.  Where that was not to
    be, it is told of the line of that. */
static bool binds_readonly(const struct drift *drift, const struct tabline *line, const struct mount *m)
{
	const struct mount *in = drift->in->merged->bound[line->number - 1].in;
	if (!in || !in->vfs_opts || !in->fs_opts)
		return false;
	bool ro = fstab_has_option(in->vfs_opts, "ro");
	if (ro && fstab_has_option(m->vfs_opts, "ro"))
		return true;
	uint32_t of = ro || fstab_has_option(in->fs_opts, "ro") ? map64_get(&drift->lined, in->key) : MAP64_NONE;
	return of != MAP64_NONE && !(drift->report->ignored[of] & audit_bit(DRIFT_READONLY));
}

/** A line whose mount is read-only, or the file system below it, and was not to be. */
static void judge_readonly(struct drift *drift, const struct tabline *line, const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	if (!m || !m->vfs_opts || asks_for(line, "ro") || (m->fs_opts && shown_readonly(m)) || binds_readonly(drift, line, m))
		return;
	if (fstab_has_option(m->vfs_opts, "ro")) {
		if (live->fate != FSTAB_OWN && !(fstype_flags(m->fstype) & (FST_READONLY | FST_AUTOFS)))
			tell_differs(drift, line, live, "ro");
		return;
	}
	bool emergency = m->fs_opts && fstab_has_option(m->fs_opts, "emergency_ro");
	/* What has shut down is told as FS-ERRORS. */
	if (!m->fs_opts || fstab_has_option(m->fs_opts, "shutdown") || (!emergency && !fstab_has_option(m->fs_opts, "ro")))
		return;
	bool excused = drift->report->ignored[line->number - 1] & audit_bit(DRIFT_READONLY);
	uint32_t first = excused ? line->number : map64_put(&drift->flipped, mount_dev(m), line->number);
	drift->failed |= first == MAP64_NONE;
	if (first != line->number) {
		drift->told[line->number - 1] = true;   /* of the same file system */
		return;
	}
	tell(drift, DRIFT_READONLY, line, live, &(struct audit_finding){
		.severity = AUDIT_CRITICAL,
		.message = emergency ? "the file system has met an error, and takes no more writes"
		                     : "the file system is read-only, the mount is not: it may have met an error",
		.expected = "rw", .actual = emergency ? "rw,emergency_ro" : "ro",
		.hint = "look into the kernel's log, check the file system, and mount it again"});
}

/** The priority that options ask for a swap space with; -1: none that swapon(8) takes. */
static long priority_of(const char *options)
{
	long priority = -1;
	size_t n;
	for (const char *o; options && (o = fstab_kept_next(&options, &n)) != NULL;) {
		char *end;
		if (n > 4 && memcmp(o, "pri=", 4) == 0) {
			long value = strtol(o + 4, &end, 10);
			priority = end == o + n && value >= 0 && value <= 32767 ? value : -1;
		}
	}
	return priority;
}

/** A swap space is used with the priority of its line: /proc/swaps shows it as it was given. */
static void judge_priority(struct drift *drift, const struct tabline *line, const struct fstab_line *live)
{
	long asked = priority_of(tabline_value(line, TABLINE_OPTIONS)), is = priority_of(live->options);
	if (asked < 0 || asked == is)
		return;
	strbuf_reset(&drift->actual);
	if (is >= 0)
		strbuf_printf(&drift->actual, "pri=%ld", is);
	else
		strbuf_puts(&drift->actual, "what the kernel has chosen");
	tell(drift, DRIFT_OPTIONS, line, NULL, &(struct audit_finding){
		.severity = AUDIT_WARNING, .message = "it is used with another priority than the line says",
		.expected = form(&drift->text, "pri=%ld", asked), .actual = strbuf_str(&drift->actual),
		.hint = "swapoff it while there is memory, and swapon -a"});
}

/** Whether no line before this one is of a mount of the same file system, which has one set of options. */
static bool is_first_of(const struct drift *drift, const struct tabline *line, const struct mount *m)
{
	for (uint32_t i = 0; i + 1 < line->number; ++i) {
		const struct tabline *before = &drift->in->lines->lines[i];
		const struct fstab_line *other = drift->in->merged->of[i];
		const char *target = before->kind == TABLINE_ENTRY ? tabline_value(before, TABLINE_TARGET) : NULL;
		uint32_t at = target && !other ? map64_get(&drift->by_target, map64_text(target)) : MAP64_NONE;
		if (at != MAP64_NONE)
			other = &drift->in->plan->lines[at];   /* which the line does not name */
		if (other && other->mount && mount_dev(other->mount) == mount_dev(m) && !asks_for(before, "bind") && !asks_for(before, "rbind"))
			return false;
	}
	return true;
}

/** A line that asks for what its mount has not, of what a kernel always shows. */
static void judge_lacks(struct drift *drift, const struct tabline *line, const struct fstab_line *live)
{
	const struct fstab_world *world = &drift->in->live->world;
	const char *options = tabline_value(line, TABLINE_OPTIONS);
	if (asks_for(line, "bind") || asks_for(line, "rbind") || asks_for(line, "remount"))
		return;
	strbuf_reset(&drift->text);
	fstab_lacks(live->mount, options, &drift->text);
	if (!drift->text.len || !is_first_of(drift, line, live->mount))
		return;
	/* These drop it where the device has no such thing: images of many clouds ask for it on any. */
	bool able = strcmp(strbuf_str(&drift->text), "discard") != 0 || !fstab_type_in(live->mount->fstype, "ext4 xfs");
	strbuf_reset(&drift->actual);
	strbuf_printf(&drift->actual, "without %s", strbuf_str(&drift->text));
	tell(drift, DRIFT_OPTIONS, line, live, &(struct audit_finding){
		.severity = able ? AUDIT_WARNING : AUDIT_INFO,
		.message = able ? "it is mounted without options that its line asks for"
		                : "it is mounted without an option that its line asks for, of which its device may be incapable",
		.expected = audit_holds_secret(world->secret, options) ? "options that hold a secret" : options,
		.actual = strbuf_str(&drift->actual),
		.hint = "mount -o remount; what that does not change, unmount it and mount it again"});
}

/** The version that a mount of NFS has which is older than its line's type nfs4 asks for; NULL. */
static const char *older_nfs(const char *fstype, const struct mount *m, size_t *n)
{
	const char *vers = m->fs_opts && strcmp(fstype ? fstype : "", "nfs4") == 0 && strcmp(m->fstype ? m->fstype : "", "nfs") == 0
	                   ? fstab_kept_find(m->fs_opts, "vers", 4, n) : NULL;
	return vers && *n > 5 && vers[5] < '4' ? vers : NULL;
}

/** How a line's mount is made.  Where the merge has not compared it, what the line names is held
    against the mount; what else the mount has may be the system's, or a server's. */
static void judge_how(struct drift *drift, const struct tabline *line, const struct fstab_line *live)
{
	const char *options = tabline_value(line, TABLINE_OPTIONS), *fstype = tabline_value(line, TABLINE_FSTYPE);
	const struct mount *m = live->mount;
	if (live->swap)
		judge_priority(drift, line, live);
	judge_readonly(drift, line, live);
	if (!drift->told[line->number - 1] && m && lacks_root(line, m))
		tell_source(drift, line, live, AUDIT_INFO, of_default);
	/* Its root may be of layers that have their own options. */
	bool same = m && (asks_for(line, "bind") || asks_for(line, "rbind") || shown_type(fstype, m->fstype));
	if (!same || !options || drift->told[line->number - 1] || fstype_flags(m->fstype) & FST_AUTOFS)
		return;
	strbuf_reset(&drift->actual);
	if (live->fate != FSTAB_LINE)
		fstab_asked(live, options, &drift->actual);
	size_t n;
	const char *older = drift->actual.len ? NULL : older_nfs(fstype, m, &n);
	if (older)
		strbuf_add(&drift->actual, older, n);
	if (drift->actual.len)
		tell_differs(drift, line, live, strbuf_str(&drift->actual));
	else
		judge_lacks(drift, line, live);
}

/** A line of a mount of which it is not known whether it is its own. */
static void judge_unknown(struct drift *drift, const struct tabline *line, const struct fstab_line *live)
{
	if (live->fate != FSTAB_OWN) {
		leave_open(drift, DRIFT_SOURCE);
		leave_open(drift, DRIFT_OPTIONS);
	}
	judge_how(drift, line, live);
}

/** Note what is told already of lines whose source is not there, or names nothing. */
static void note_causes(struct drift *drift)
{
	const struct tablines *lines = drift->in->lines;
	for (size_t i = 0; i < drift->report->count; ++i) {
		const struct audit_finding *finding = &drift->report->findings[i];
		enum audit_code code = finding->code;
		if (finding->file || finding->line == 0 || finding->line > lines->count)
			continue;
		const char *source = tabline_value(&lines->lines[finding->line - 1], TABLINE_SOURCE);
		bool quoted = code == FSTAB_ESCAPE && source && (*source == '"' || *source == '\'');
		if (quoted || code == FSTAB_SRC_MISSING || code == FSTAB_BIND_SRC || code == FSTAB_OVERLAY_DIR)
			drift->cause[finding->line - 1] = i + 1;
	}
}

/** That something else is mounted than a line names where that is not there is no fault of its own:
    it is said with that, which is no mere information then. */
static void tell_cause(struct drift *drift, struct audit_finding *cause, bool contained, const struct fstab_line *live)
{
	struct audit_report *report = drift->report;
	const char *message = form(&drift->text, "%s; what is mounted is %s", cause->message, live_name(drift, &drift->actual, live));
	cause->message = arena_strndup(&report->arena, message, drift->text.len);
	drift->failed |= drift->text.failed || drift->actual.failed || !cause->message;
	if (cause->severity < AUDIT_WARNING && !contained) {
		--report->of[cause->severity];
		cause->severity = AUDIT_WARNING;
		++report->of[cause->severity];
	}
}

/** Whether a damaged line has the mount point: what is mended there may be its line. */
static bool is_of_damaged(const struct drift *drift, const struct fstab_line *live)
{
	return live->of && drift->in->lines->lines[live->of - 1].kind == TABLINE_DAMAGED;
}

/** What the merge has found. */
static void tell_note(struct drift *drift, const struct fstab_note *note)
{
	const struct fstab_line *live = note->live;
	const char *source = note->line ? tabline_value(note->line, TABLINE_SOURCE) : NULL;
	const char *fstype = note->line ? tabline_value(note->line, TABLINE_FSTYPE) : NULL;
	bool same = false;
	switch (note->kind) {
	case FSTAB_NOTE_MISSING:
		if (strcmp(live->owner, "unknown") != 0 || is_of_damaged(drift, live))
			break;
		/* Where there is no line at all, somebody else has mounted: a container's engine. */
		tell(drift, live->swap ? SWAP_EXTRA : DRIFT_NOT_IN_FSTAB, NULL, live, &(struct audit_finding){
			.severity = (drift->any || is_forgotten(drift, live)) && !may_be_units(drift, live) && !is_locked(drift, live) && !is_of_user(live) ? AUDIT_WARNING : AUDIT_INFO,
			.message = live->swap ? "it is in use, and no line has it" : "it is mounted, no line has it, and nothing is known that owns it",
			.expected = "a line", .actual = live_name(drift, &drift->actual, live),
			.hint = add_hint(&drift->text, live->swap ? live->swap : live->target)});
		break;
	case FSTAB_NOTE_NO_LINE:
		if (strcmp(live->owner, "unknown") != 0 || is_of_damaged(drift, live))
			break;
		if (live->mount && live->target && !live->hidden && fstab_hides_kernels(live->mount, live->target)) {
			tell(drift, DRIFT_NOT_IN_FSTAB, NULL, live, &(struct audit_finding){
				.severity = AUDIT_WARNING, .message = "it hides what the kernel has there, and nothing is known that owns it",
				.expected = "what the kernel shows", .actual = live_name(drift, &drift->actual, live),
				.hint = "see who has mounted it, and for what; umount it"});
			break;
		}
		tell(drift, live->swap ? SWAP_EXTRA : DRIFT_NOT_IN_FSTAB, NULL, live, &(struct audit_finding){
			.severity = (drift->any || is_forgotten(drift, live)) && live->unnamed && !may_be_units(drift, live) && !is_of_zram(live) ? AUDIT_WARNING : AUDIT_INFO,
			.message = form(&drift->text, live->unnamed ? "no line has it, and nothing is known that owns it; for a line it lacks a name: %s"
			                : "it has no line, and can have none: %s", note->text ? note->text : "?"),
			.actual = live_name(drift, &drift->actual, live)});
		break;
	case FSTAB_NOTE_SOURCE:
		if (is_of_server(note->line, live)) {
			leave_open(drift, DRIFT_TYPE);
			judge_unknown(drift, note->line, live);
		}
		if (is_lost(drift, live) || is_of_server(note->line, live)) {
			drift->told[note->line->number - 1] = true;
			break;
		}
		same = source && live->mount && live->mount->source && !shown_type(fstype, live->mount->fstype)
		       && (strcmp(source, live->mount->source) == 0 || is_same_device(drift, source, live));
		if (!same && drift->cause[note->line->number - 1]) {
			tell_cause(drift, &drift->report->findings[drift->cause[note->line->number - 1] - 1], is_contained(drift, note->line), live);
			drift->told[note->line->number - 1] = true;
			break;
		}
		if (!same && may_be_default(drift, note->line, live)) {
			tell_source(drift, note->line, live, AUDIT_INFO, of_default);
			break;
		}
		tell_source(drift, note->line, live, same ? AUDIT_WARNING : AUDIT_CRITICAL, same ? "it is mounted as another type than its line says"
		            : "something else is mounted there than its line says");
		break;
	case FSTAB_NOTE_OPTIONS:
		tell_differs(drift, note->line, live, note->text ? note->text : "");
		break;
	case FSTAB_NOTE_ELSEWHERE:
		tell(drift, DRIFT_NOT_MOUNTED, note->line, NULL, &(struct audit_finding){
			.severity = AUDIT_WARNING, .message = form(&drift->text, "it is not mounted; its source is, on %s", live->target),
			.expected = "mounted", .actual = "not mounted", .hint = "see which place is meant"});
		break;
	case FSTAB_NOTE_BESIDE:
	case FSTAB_NOTE_REPEATED:
	case FSTAB_NOTE_DAMAGED:
		/* FSTAB-DUP-TARGET, FSTAB-SYNTAX. */
		drift->told[note->line->number - 1] = true;
		break;
	case FSTAB_NOTE_REFUSED:
	case FSTAB_NOTE_ODD:
	case FSTAB_NOTE_NAME:
	case FSTAB_NOTE_PASS:
	case FSTAB_NOTE_ORDER:
	case FSTAB_NOTE_UNKNOWN:
	case FSTAB_NOTE_KINDS:
		break;
	}
}

/** A line of nothing that is mounted. */
static void judge_line(struct drift *drift, const struct tabline *line)
{
	const char *target = tabline_value(line, TABLINE_TARGET), *fstype = tabline_value(line, TABLINE_FSTYPE);
	bool swap = fstype && strcmp(fstype, "swap") == 0;
	bool automount = asks_for(line, "x-systemd.automount") || asks_for(line, "comment=systemd.automount");
	if (!target || !fstype || strcmp(fstype, "ignore") == 0 || (asks_for(line, "noauto") && !automount)
	    || (!swap && *target != '/') || (drift->in->uptime >= 0 && drift->in->uptime < AUDIT_BOOTING))
		return;
	uint32_t at = map64_get(&drift->by_target, map64_text(target));
	const struct fstab_line *live = at == MAP64_NONE || swap ? NULL : &drift->in->plan->lines[at];
	if (live && strcmp(live->target, target) == 0) {
		/* What the system mounts by itself, as the line has it. */
		bool idle = live->mount && fstype_flags(live->mount->fstype) & FST_AUTOFS;
		bool alike = (live->mount && shown_type(fstype, live->mount->fstype)) || is_of_server(line, live);
		if (!idle && alike)
			judge_unknown(drift, line, live);
		/* What covers the line's mount, and is nobody's, is told by itself. */
		if (idle || alike || live->fate != FSTAB_OWN || asks_for(line, "bind") || asks_for(line, "rbind"))
			return;
		tell(drift, DRIFT_TYPE, line, live, &(struct audit_finding){
			.severity = AUDIT_WARNING, .message = "the system has mounted another type there than its line says",
			.expected = fstype, .actual = live->mount && live->mount->fstype ? live->mount->fstype : "?"});
		return;
	}
	bool missing = is_missing(drift, line), can = missing && (asks_for(line, "nofail") || automount);
	tell(drift, swap ? SWAP_NOT_ACTIVE : DRIFT_NOT_MOUNTED, line, NULL, &(struct audit_finding){
		.severity = can ? AUDIT_INFO : AUDIT_WARNING,
		.message = swap ? missing ? "it is not in use, and is not there" : "it is not in use"
		           : automount ? missing ? "it is neither mounted nor set up to be, and its source is not there"
		                                 : "it is neither mounted nor set up to be when it is entered"
		           : missing ? "it is not mounted, and its source is not there" : "it is not mounted",
		.expected = swap ? "in use" : "mounted", .actual = swap ? "not in use" : "not mounted",
		.hint = missing ? "see to the device, or give the line noauto" : swap ? "swapon -a, or take the line away"
		        : automount ? "systemctl daemon-reload, and start its automount unit"
		                    : mount_hint(&drift->text, target)});
}

/** A line that binds recursively, without what was mounted below its source. */
static void tell_left_out(void *arg, const struct tabline *line, const struct fstab_line *child)
{
	struct drift *drift = arg;
	if (drift->told[line->number - 1])
		return;
	tell(drift, DRIFT_OPTIONS, line, drift->in->merged->of[line->number - 1], &(struct audit_finding){
		.severity = AUDIT_WARNING, .message = form(&drift->text, "it was to be bound with all that is mounted below, and %s is not there", child->target),
		.expected = "rbind", .actual = "bind", .hint = "umount it, and mount it again; or write bind"});
}

int audit_drift(const struct audit_drift_input *in, struct audit_report *report)
{
	struct drift drift = {.in = in, .report = report, .told = calloc(in->lines->count + 1, sizeof(bool)),
	                      .cause = calloc(in->lines->count + 1, sizeof(size_t))};
	map64_init(&drift.by_target);
	map64_init(&drift.named);
	map64_init(&drift.flipped);
	map64_init(&drift.lined);
	strbuf_init(&drift.text);
	strbuf_init(&drift.actual);
	drift.failed = !drift.told || !drift.cause;
	if (!drift.failed) {
		note_causes(&drift);
		note_named(&drift);
	}
	for (uint32_t i = 0; i < in->lines->count && !drift.failed; ++i) {
		const struct fstab_line *of = in->merged->of[i];
		drift.any |= in->lines->lines[i].kind == TABLINE_ENTRY;
		if (of && of->mount)
			drift.failed |= map64_put(&drift.lined, of->mount->key, i) == MAP64_NONE;
	}
	for (uint32_t i = 0; i < in->plan->count && !drift.failed; ++i) {
		const struct fstab_line *line = &in->plan->lines[i];
		if (line->mount && line->target && !line->hidden)
			drift.failed |= map64_put(&drift.by_target, map64_text(line->target), i) == MAP64_NONE;
	}
	for (size_t i = 0; i < in->merged->nnotes && !drift.failed; ++i)
		tell_note(&drift, &in->merged->notes[i]);
	for (size_t i = 0; i < in->lines->count && !drift.failed; ++i) {
		const struct tabline *line = &in->lines->lines[i];
		if (line->kind != TABLINE_ENTRY || drift.told[i])
			continue;
		if (in->merged->of[i]) {
			judge_how(&drift, line, in->merged->of[i]);
		} else {
			judge_line(&drift, line);
		}
	}
	drift.failed |= !drift.failed && !audit_left_out(in->plan, in->merged, in->lines, in->live->d, tell_left_out, &drift);
	if (!drift.failed)
		audit_report_sort(report);
	free(drift.told);
	free(drift.cause);
	map64_destroy(&drift.named);
	map64_destroy(&drift.by_target);
	map64_destroy(&drift.flipped);
	map64_destroy(&drift.lined);
	strbuf_destroy(&drift.text);
	strbuf_destroy(&drift.actual);
	if (drift.failed)
		errno = ENOMEM;
	return drift.failed ? -1 : 0;
}
