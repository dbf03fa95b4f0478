/* SPDX-License-Identifier: MIT */
/*
 * Mount points, types, and the helpers that types need.
 */
#include "audit/audit_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "fstab/places.h"

#include <string.h>

/** Whether mount(8) needs a helper for a type; all types of FUSE share one. */
static bool wants_helper(const char *fstype, const char **name)
{
	static const char *const types[] = {
	        "nfs",    "nfs4",   "cifs",    "smb3", "glusterfs",   "davfs", "ntfs-3g",
	        "lustre", "beegfs", "moosefs", "s3fs", "vmhgfs-fuse", "fuse",  "zfs",
	};
	*name = fstype;
	if (strncmp(fstype, "fuse.", 5) == 0) {
		*name = "fuse";
		return true;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i) {
		if (strcmp(fstype, types[i]) == 0)
			return true;
	}
	return false;
}

/** Whether mount(8) can mount a type: 1, 0; -1: not known. */
static int can_mount(struct audit *audit, const char *type)
{
	const struct fstab_facts *facts = audit->in->facts;
	if (strcmp(type, "auto") == 0)
		return 1;
	int known = facts->fstype ? facts->fstype(facts->arg, type) : -1;
	/* A helper may mount anything. */
	if (known == 0 && facts->helper
	    && facts->helper(facts->arg, audit_format(audit, "mount.%s", type)) != 0)
		return -1;
	return known;
}

/** Judge the helpers of a type, and whether the kernel has it. */
static void judge_helpers(struct audit *audit, const struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *name;
	bool wanted = wants_helper(entry->fstype, &name)
	              || (strcmp(entry->fstype, "efs") == 0 && entry->flags & FST_NET);
	if (wanted || (entry->line->passno > 0 && entry->flags & FST_FSCK)) {
		const char *helper = audit_format(audit, "%s.%s", wanted ? "mount" : "fsck", name);
		int there = facts->helper ? facts->helper(facts->arg, helper) : -1;
		if (there < 0)
			audit_not_checked(audit->report, FSTAB_HELPER_MISSING);
		else if (there == 0)
			audit_add_for(
			        audit, entry, FSTAB_HELPER_MISSING,
			        &(struct audit_details){
			                audit_is_contained(facts, entry->source, &audit->container)
			                        ? AUDIT_INFO
						: AUDIT_WARNING,
			                false, audit_format(audit, "%s is not installed", helper),
			                helper, NULL,
			                wanted ? "install its package"
					       : "install it, or use 0 as the fsck pass"});
	}
	if (entry->bind || entry->swap || wanted || !*entry->fstype
	    || strcmp(entry->fstype, "none") == 0 || strcmp(entry->fstype, "ignore") == 0)
		return;
	/* One type of a list is enough. */
	bool held = true;
	int known = 0;
	size_t n;
	for (const char *type = entry->fstype; *type && known == 0; type += n + (type[n] == ',')) {
		n = strcspn(type, ",");
		const char *one = audit_format(audit, "%.*s", (int)n, type);
		held &= (fstype_flags(one) & FST_KNOWN) != 0;
		if (n > 0)
			known = can_mount(audit, one);
	}
	if (known < 0)
		audit_not_checked(audit->report, FSTAB_TYPE_UNSUPPORTED);
	/* A removable medium of a known type: the module is loaded with it. */
	else if (known == 0 && !(entry->noauto && held))
		audit_add_for(
		        audit, entry, FSTAB_TYPE_UNSUPPORTED,
		        &(struct audit_details){
		                entry->noauto || entry->nofail ? AUDIT_WARNING : AUDIT_CRITICAL,
		                true,
		                audit_format(audit, "the kernel cannot mount the type %s",
				             entry->fstype),
		                NULL, NULL, "correct the name, or install the module"});
}

/** Whether systemd mounts the lines: it creates the directories. */
bool audit_is_systemd(struct audit *audit)
{
	static const char *const places[] = {
	        "/run/systemd/system",
	        "/run/systemd/generator",
	        "/usr/lib/systemd/systemd",
	        "/lib/systemd/systemd",
	        NULL,
	};
	const struct fstab_facts *facts = audit->in->facts;
	for (size_t i = 0; facts->look && places[i] && !audit->systemd; ++i) {
		enum fact_kind kind = facts->look(facts->arg, places[i], NULL);
		audit->systemd = kind == FACT_DIR || kind == FACT_FILE ? 1 : places[i + 1] ? 0 : -1;
	}
	return audit->systemd > 0;
}

/** Judge a unit file of the administrator for the mount point of a line: systemd ignores the line
   then.
    @path  The mount point, or the swap space.
    @kind  ".mount", ".swap"; ".automount": only whether it is masked. */
static void judge_unit(struct audit *audit, const struct audit_entry *entry, const char *path,
                       const char *kind)
{
	static const char *const dirs[] = {"/etc/systemd/system", "/run/systemd/system"};
	const struct fstab_facts *facts = audit->in->facts;
	bool automount = strcmp(kind, ".automount") == 0;
	struct strbuf unit, name, real;
	strbuf_init(&unit);
	strbuf_init(&name);
	strbuf_init(&real);
	fstab_unit_name(&unit, path);
	strbuf_puts(&unit, kind);
	bool lacks = !unit.failed && facts->lacks_unit
	             && facts->lacks_unit(facts->arg, strbuf_str(&unit));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) && !lacks; ++i) {
		if (!audit->unit_dirs[i])
			audit->unit_dirs[i] =
			        facts->look(facts->arg, dirs[i], NULL) == FACT_DIR ? 1 : -1;
		if (audit->unit_dirs[i] < 0)
			continue;
		strbuf_reset(&name);
		strbuf_puts(&name, dirs[i]);
		strbuf_putc(&name, '/');
		strbuf_puts(&name, strbuf_str(&unit));
		strbuf_reset(&real);
		enum fact_kind is = facts->look(facts->arg, strbuf_str(&name), &real);
		bool masked = real.len && strcmp(strbuf_str(&real), "/dev/null") == 0;
		if (!masked && (is != FACT_FILE || automount))
			continue;
		const char *file = audit_format(audit, "%s", strbuf_str(&name));
		strbuf_reset(&real);
		escape_operand(&real, strrchr(file, '/') + 1);
		audit_add_for(
		        audit, entry, FSTAB_DUP_TARGET,
		        &(struct audit_details){
		                entry->noauto ? AUDIT_INFO : AUDIT_WARNING, true,
		                masked && automount ? "its automount unit is masked: systemd does "
				                      "not mount it on access"
				: masked && entry->swap
		                        ? "its unit is masked: systemd does not activate it"
				: masked ? "its unit is masked: systemd does not mount it"
				: entry->swap
		                        ? "a unit file for this swap space overrides the line"
					: "a unit file for this mount point overrides the line",
		                masked ? "not masked" : "only one of them", file,
		                masked ? audit_format(
		                                 audit,
		                                 "remove the line, or run: systemctl unmask %s",
		                                 strbuf_str(&real))
				       : "remove the line or the unit, and run systemctl "
				         "daemon-reload"});
		break;
	}
	audit->failed |= unit.failed || name.failed || real.failed;
	strbuf_destroy(&unit);
	strbuf_destroy(&name);
	strbuf_destroy(&real);
}

/** Judge a unit file for a swap space, named after the path that systemd makes of its source. */
static void judge_swap_unit(struct audit *audit, const struct audit_entry *entry)
{
	static const char *const tags[][2] = {
	        {"UUID=", "/dev/disk/by-uuid/"},
	        {"LABEL=", "/dev/disk/by-label/"},
	        {"PARTUUID=", "/dev/disk/by-partuuid/"},
	        {"PARTLABEL=", "/dev/disk/by-partlabel/"},
	};
	const char *path = *entry->source == '/' ? entry->source : NULL;
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags) && !path; ++i) {
		size_t n = strlen(tags[i][0]);
		const char *value =
		        strncmp(entry->source, tags[i][0], n) == 0 ? entry->source + n : NULL;
		/* udev escapes other bytes in its own way. */
		if (value
		    && !value[strspn(
		            value,
		            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.")])
			path = audit_format(audit, "%s%s", tags[i][1], value);
	}
	if (path && audit->in->facts->look && audit_is_systemd(audit))
		judge_unit(audit, entry, path, ".swap");
}

/** Whether a bind source is known to be a directory and the mount point a file, or the reverse.
   What lies below another line may change when that is mounted. */
static bool is_other_kind(struct audit *audit, const struct audit_entry *entry, enum fact_kind kind)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *source = fstab_normal(&audit->report->arena, entry->source);
	if (!source || audit_above(audit, entry, source) || audit_above(audit, entry, entry->path))
		return false;
	enum fact_kind bound = facts->look(facts->arg, source, NULL);
	return bound != kind && (bound == FACT_DIR || (bound > FACT_DIR && kind == FACT_DIR));
}

/** Judge a mount point that resolves to that of another line. */
static void judge_led(struct audit *audit, const struct audit_entry *entry, const char *real)
{
	const struct audit_entry *other =
	        entry->noauto ? NULL : audit_at(audit, NULL, real, strlen(real), map64_text(real));
	if (other && other != entry)
		audit_add_for(audit, entry, FSTAB_DUP_TARGET,
		              &(struct audit_details){
		                      AUDIT_WARNING, true,
		                      audit_format(audit,
				                   "it resolves to %s, the mount point of line %u: "
				                   "one is mounted over the other",
				                   real, other->line->number),
		                      "one line", NULL, "remove one, or add noauto"});
}

void audit_place(struct audit *audit, const struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	/* If a field is missing, the next one is not a type. */
	if (entry->path || entry->swap)
		judge_helpers(audit, entry);
	if (entry->swap)
		judge_swap_unit(audit, entry);
	if (!entry->path || !entry->path[1])
		return;
	if (!facts->look) {
		audit_not_checked(audit->report, FSTAB_TGT_MISSING);
		audit_not_checked(audit->report, FSTAB_TGT_SYMLINK);
		return;
	}
	const char *real = entry->real;
	enum fact_kind kind = entry->kind;
	if (kind == FACT_UNKNOWN) {
		audit_not_checked(audit->report, FSTAB_TGT_MISSING);
		audit_not_checked(audit->report, FSTAB_TGT_SYMLINK);
	} else if (kind == FACT_MISSING) {
		if (!entry->mkdir && !audit_above(audit, entry, entry->path))
			audit_add_for(
			        audit, entry, FSTAB_TGT_MISSING,
			        &(struct audit_details){
			                entry->noauto || entry->nofail || audit_is_systemd(audit)
			                        ? AUDIT_INFO
						: AUDIT_WARNING,
			                false,
			                "the mount point does not exist: systemd creates it, "
					"mount(8) does not",
			                NULL, NULL, "create it, or add X-mount.mkdir"});
	} else if (kind == FACT_FILE && !entry->bind) {
		audit_add_for(audit, entry, FSTAB_TGT_MISSING,
		              &(struct audit_details){AUDIT_WARNING, false,
		                                      "the mount point is a file", "a directory",
		                                      NULL, "use a directory"});
	} else if (entry->bind && (kind == FACT_FILE || kind == FACT_DIR)
	           && is_other_kind(audit, entry, kind)) {
		audit_add_for(audit, entry, FSTAB_TGT_MISSING,
		              &(struct audit_details){
		                      AUDIT_WARNING, false,
		                      kind == FACT_FILE ? "the bind source is a directory, and the "
				                          "mount point is a file"
				                        : "the bind source is a file, and the "
				                          "mount point is a directory",
		                      kind == FACT_FILE ? "a directory" : "a file", NULL,
		                      "both must be directories, or both files"});
	} else if (real && strcmp(real, entry->path) != 0) {
		audit_add_for(
		        audit, entry, FSTAB_TGT_SYMLINK,
		        &(struct audit_details){
		                AUDIT_INFO, false,
		                audit_format(audit, "it resolves to %s, where it is mounted", real),
		                NULL, NULL, "use the resolved path"});
		judge_led(audit, entry, real);
	}
	if (audit_is_systemd(audit)) {
		const char *path = real ? real : entry->path;
		judge_unit(audit, entry, path, ".mount");
		if (entry->automount)
			judge_unit(audit, entry, path, ".automount");
	}
}
