/* SPDX-License-Identifier: MIT */
/*
 * Check the mount point and type of a line, the helpers that the type needs, and unit files that
 * override the line.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/target.h"

#include <string.h>

bool audit_is_contained(const struct fstab_facts *facts, const char *source, signed char *known)
{
	/* Files that systemd, Docker, Podman and WSL make in a container. */
	static const char *const marks[] = {"/run/systemd/container", "/.dockerenv",
	                                    "/run/.containerenv", "/run/WSL"};
	if (!facts->look || !source
	    || (!fstab_is_tag(source) && strncmp(source, "/dev/", 5) != 0))
		return false;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks) && *known == 0; ++i)
		*known = audit_look(facts, marks[i]) == (i < 3 ? FACT_FILE : FACT_DIR);
	*known = *known ? *known : -1;
	return *known > 0;
}

/** Whether mount(8) can mount a type: 1, 0; -1: unknown. */
static int can_mount(struct audit *audit, const char *type)
{
	const struct fstab_facts *facts = audit->in->facts;
	if (strcmp(type, "auto") == 0)
		return 1;
	int known = fstab_answer(facts, FSTAB_HAS_TYPE, type);
	if (known != 0)
		return known;
	/* If the kernel lacks the type, but a helper may exist, the result is unknown: a helper can
	   mount any type. */
	const char *helper = audit_format(audit->report, "mount.%s", type);
	return fstab_answer(facts, FSTAB_HAS_HELPER, helper) != 0 ? -1 : 0;
}

/** Report a line whose type the kernel cannot mount; of a list of types, one type is enough. */
static void check_type(struct audit *audit, const struct fstab_entry *entry)
{
	bool loadable = true;
	int known = 0;
	size_t n;
	if (audit->typed == entry)
		return;
	for (const char *type = entry->fstype; *type && known == 0; type += n + (type[n] == ',')) {
		n = strcspn(type, ",");
		const char *one = audit_format(audit->report, "%.*s", (int)n, type);
		loadable &= (fstype_flags(one) & FST_KNOWN) != 0;
		if (n > 0)
			known = can_mount(audit, one);
	}
	if (known < 0)
		audit_not_checked(audit->report, FSTAB_TYPE_UNSUPPORTED);
	/* Not for a known type with noauto: the module for a removable medium is loaded when the
	   medium is inserted. */
	else if (known == 0 && !(entry->noauto && loadable))
		audit_add_line(audit, entry, FSTAB_TYPE_UNSUPPORTED,
			       (entry->optional ? AUDIT_WARNING : AUDIT_CRITICAL) | AUDIT_BOOT,
			       NULL, NULL, "correct the name, or install the module",
			       "the kernel cannot mount the type %s", entry->fstype);
}

/** Report a type whose helper of mount(8) or fsck(8) is not installed.  If the type needs no helper
    of mount(8), check whether the kernel can mount the type. */
static void check_helpers(struct audit *audit, const struct fstab_entry *entry)
{
	const char *name = strncmp(entry->fstype, "fuse.", 5) == 0 ? "fuse" : entry->fstype;
	/* All FUSE types share the helper mount.fuse. */
	bool wanted = word_in(name, strlen(name), "nfs nfs4 cifs smb3 glusterfs davfs ntfs-3g "
	                      "lustre beegfs moosefs s3fs vmhgfs-fuse fuse zfs")
	              || (strcmp(name, "efs") == 0 && entry->type & FST_NET);
	if (wanted || (entry->line->passno > 0 && entry->type & FST_FSCK)) {
		const char *helper =
			audit_format(audit->report, "%s.%s", wanted ? "mount" : "fsck", name);
		int installed = fstab_answer(audit->in->facts, FSTAB_HAS_HELPER, helper);
		bool skipped = audit_is_contained(audit->in->facts, entry->source,
		                                  &audit->container);
		if (installed < 0)
			audit_not_checked(audit->report, FSTAB_HELPER_MISSING);
		else if (installed == 0)
			audit_add_line(audit, entry, FSTAB_HELPER_MISSING,
				       skipped ? AUDIT_INFO : AUDIT_WARNING, helper, NULL,
				       wanted ? "install its package"
				              : "install it, or use 0 as the fsck pass",
				       "%s is not installed", helper);
	}
	if (!entry->bind && !wanted && *name && !word_in(name, strlen(name), "none ignore swap"))
		check_type(audit, entry);
}

bool audit_has_systemd(const struct fstab_facts *facts)
{
	static const char *const files[] = {"/run/systemd/system", "/run/systemd/generator",
	                                     "/usr/lib/systemd/systemd", "/lib/systemd/systemd"};
	enum { FILES = sizeof(files) / sizeof(*files) };
	/* If files cannot be examined, assume systemd, which nearly all hosts use. */
	if (!facts || !facts->look)
		return true;
	for (size_t i = 0; i < FILES; ++i) {
		enum fact_kind kind = audit_look(facts, files[i]);
		if (kind == FACT_DIR || kind == FACT_FILE)
			return true;
	}
	return false;
}

bool audit_is_systemd(struct audit *audit)
{
	if (!audit->systemd)
		audit->systemd = audit_has_systemd(audit->in->facts) ? 1 : -1;
	return audit->systemd > 0;
}

/** Report a unit file of the administrator that overrides or masks the unit of a line. */
static void report_unit(struct audit *audit, const struct fstab_entry *entry, bool masked,
                        bool automount, const char *unit, const char *file)
{
	const char *unmask = audit_format(audit->report, "remove the line, or %s",
	                                  audit_command(audit->report, "unmask the unit",
	                                                "systemctl", "unmask", "--", unit, NULL));
	const char *message =
		!masked ? entry->swap ? "a unit file for this swap space overrides the line"
		                      : "a unit file for this mount point overrides the line"
		: automount   ? "its automount unit is masked: systemd does not mount it on access"
		: entry->swap ? "its unit is masked: systemd does not activate it"
		              : "its unit is masked: systemd does not mount it";
	audit_add_line(audit, entry, FSTAB_DUP_TARGET,
		       (entry->idle ? AUDIT_INFO : AUDIT_WARNING) | AUDIT_BOOT,
		       masked ? "not masked" : "only one of them", file,
		       masked ? unmask
		              : audit_format(audit->report, "remove the line or the unit; then %s",
		                             audit_command(audit->report, "reload systemd",
		                                           "systemctl", "daemon-reload", NULL)),
		       "%s", message);
}

/** Report a unit file of the administrator for the mount point or swap space of a line: systemd
    then ignores the line.
    @path  The mount point, or the swap space.
    @kind  ".mount", ".swap"; ".automount": report only a masked unit. */
static void check_unit(struct audit *audit, const struct fstab_entry *entry, const char *path,
                       const char *kind)
{
	static const char *const dirs[] = {"/etc/systemd/system", "/run/systemd/system"};
	const struct fstab_facts *facts = audit->in->facts;
	bool automount = strcmp(kind, ".automount") == 0, found = false;
	struct strbuf real = {.arena = &audit->report->arena};
	const char *unit = audit_unit_name(audit->report, path, kind);
	bool lacks = fstab_answer(facts, FSTAB_LACKS_UNIT, unit) > 0;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) && !lacks && !found; ++i) {
		if (!audit->unit_dirs[i])
			audit->unit_dirs[i] = audit_look(facts, dirs[i]) == FACT_DIR ? 1 : -1;
		if (audit->unit_dirs[i] < 0)
			continue;
		const char *file = audit_format(audit->report, "%s/%s", dirs[i], unit);
		strbuf_reset(&real);
		enum fact_kind is = facts->look(facts->arg, file, &real);
		bool masked = real.len && strcmp(strbuf_str(&real), "/dev/null") == 0;
		found = masked || (is == FACT_FILE && !automount);
		if (found)
			report_unit(audit, entry, masked, automount, unit, file);
	}
}

/** Check for a unit file of a swap space.  systemd names the unit by the path of the source; for a
    tag, by the path of the symlink in /dev/disk. */
static void check_swap_unit(struct audit *audit, const struct fstab_entry *entry)
{
	static const char plain[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.";
	const char *path = *entry->source == '/' ? entry->source : NULL;
	for (size_t i = 0; i < FSTAB_TAGS && !path; ++i) {
		size_t n = strlen(fstab_tags[i].tag);
		const char *value = entry->source + n;
		/* Skip values with further bytes, which udev would escape. */
		if (strncmp(entry->source, fstab_tags[i].tag, n) == 0
		    && !value[strspn(value, plain)])
			path = audit_format(audit->report, "%s%s", fstab_tags[i].dir, value);
	}
	if (path && audit->in->facts->look && audit_is_systemd(audit))
		check_unit(audit, entry, path, ".swap");
}

/** Whether a bind source is known to be a directory and the mount point a file, or vice versa.
    False if either path is at or below the mount point of another line, whose mount may change the
    type.
    @kind  The type of the file at the mount point. */
static bool is_other_kind(struct audit *audit, const struct fstab_entry *entry, enum fact_kind kind)
{
	const char *source = fstab_normal(&audit->report->arena, entry->source);
	if (!source || audit_above(audit, entry, source) || audit_above(audit, entry, entry->path))
		return false;
	enum fact_kind bound = audit_look(audit->in->facts, source);
	return bound != kind && (bound == FACT_DIR || (bound > FACT_DIR && kind == FACT_DIR));
}

void audit_target(struct audit *audit, const struct fstab_entry *entry)
{
	const char *real = entry->real;
	enum fact_kind kind = entry->kind;
	/* Without an absolute mount point, a field is probably missing, and the third field is not
	   the type. */
	if (entry->path || entry->swap)
		check_helpers(audit, entry);
	if (entry->swap)
		check_swap_unit(audit, entry);
	if (!entry->path || entry->root)
		return;
	if (entry->skipped && !entry->idle && (entry->bind || !(entry->type & FST_PSEUDO)))
		audit_add_line(audit, entry, FSTAB_DUP_TARGET, AUDIT_WARNING,
			       "another mount point", NULL, "use another mount point", "systemd "
			       "mounts %s itself and skips this line%s", real ? real : entry->path,
			       entry->noauto ? "" : "; mount -a mounts it over that");
	if (kind == FACT_UNKNOWN) {
		audit_not_checked(audit->report, FSTAB_TGT_MISSING);
		audit_not_checked(audit->report, FSTAB_TGT_SYMLINK);
	} else if (kind == FACT_MISSING) {
		if (!entry->mkdir && !audit_above(audit, entry, entry->path))
			audit_add_line(audit, entry, FSTAB_TGT_MISSING,
				       entry->optional || audit_is_systemd(audit) ? AUDIT_INFO
				                                                  : AUDIT_WARNING,
				       NULL, NULL, "create it, or add X-mount.mkdir",
				       "the mount point does not exist: systemd creates it, "
				       "mount(8) does not");
	} else if (kind == FACT_FILE && !entry->bind) {
		audit_add_line(audit, entry, FSTAB_TGT_MISSING, AUDIT_WARNING, "a directory", NULL,
			       "use a directory", "the mount point is a file");
	} else if (entry->bind && (kind == FACT_FILE || kind == FACT_DIR)
	           && is_other_kind(audit, entry, kind)) {
		bool file = kind == FACT_FILE;
		audit_add_line(audit, entry, FSTAB_TGT_MISSING, AUDIT_WARNING,
			       file ? "a directory" : "a file", NULL,
			       "both must be directories, or both files",
			       "the bind source is a %s, and the mount point is a %s",
			       file ? "directory" : "file", file ? "file" : "directory");
	} else if (real && strcmp(real, entry->path) != 0) {
		audit_add_line(audit, entry, FSTAB_TGT_SYMLINK, AUDIT_INFO, NULL, NULL,
			       "use the resolved path", "it resolves to %s, where it is mounted",
			       real);
	}
	if (audit_is_systemd(audit)) {
		const char *path = real ? real : entry->path;
		check_unit(audit, entry, path, ".mount");
		if (entry->automount)
			check_unit(audit, entry, path, ".automount");
	}
}
