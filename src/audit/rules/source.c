/* SPDX-License-Identifier: MIT */
/*
 * Sources: what they name, and whether that exists.
 *
 * What exists now may not at boot: below the mount point of another line there may be an empty
 * directory, so nothing is reported there.
 */
#include "audit/audit_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/places.h"
#include "mountopts/layers.h"
#include "mounttree.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Whether a source is TAG=value of any tag. */
static bool is_tag(const char *source)
{
	size_t n = strspn(source, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return n >= 2 && source[n] == '=';
}

/** A tag without the quotes around its value. */
static const char *plain(struct audit *audit, const char *source)
{
	const char *equals = is_tag(source) ? strchr(source, '=') : NULL;
	size_t n = strlen(source);
	if (!equals || (equals[1] != '"' && equals[1] != '\'') || source + n < equals + 3
	    || source[n - 1] != equals[1])
		return source;
	return audit_format(audit, "%.*s=%.*s", (int)(equals - source), source,
	                    (int)(source + n - equals - 3), equals + 2);
}

/** Whether a text is a UUID, or the serial number of FAT or NTFS, without its tag. */
static bool looks_like_uuid(const char *text)
{
	size_t n = strlen(text), hex = 0, dashes = 0;
	for (size_t i = 0; i < n; ++i) {
		hex += isxdigit((unsigned char)text[i]) != 0;
		dashes += text[i] == '-';
	}
	return hex + dashes == n
	       && ((n == 36 && dashes == 4) || (n == 9 && dashes == 1 && text[4] == '-')
	           || (n == 16 && dashes == 0));
}

/** Whether a line needs a device, by its type or source. */
static bool on_device(const struct audit_entry *entry)
{
	if (entry->bind || strcmp(entry->fstype, "ignore") == 0)
		return false;
	if (entry->swap || entry->flags & FST_DEVICE || is_tag(entry->source))
		return true;
	return (strcmp(entry->fstype, "auto") == 0 || !*entry->fstype) && *entry->source != '\0'
	       && strcmp(entry->source, "none") != 0 && !strchr(entry->source, ':');
}

/** Whether the source is an image in a file. */
static bool is_image(struct audit *audit, const struct audit_entry *entry)
{
	if (audit_option(audit, entry, "loop") || audit_option(audit, entry, "offset"))
		return true;
	if (*entry->source != '/' || mtree_path_within(entry->source, "/dev"))
		return false;
	const struct fstab_facts *facts = audit->in->facts;
	return !facts->look || facts->look(facts->arg, entry->source, NULL) == FACT_FILE;
}

/** Whether a name is a prefix and more that ends with a digit: "sda1" of "sd". */
static bool is_numbered(const char *name, const char *head, bool letters)
{
	size_t n = strlen(head);
	if (strncmp(name, head, n) != 0)
		return false;
	return letters ? islower((unsigned char)name[n]) : isdigit((unsigned char)name[n]);
}

/** Prefixes of names in /dev that depend on the order in which the kernel finds devices. */
static const struct unstable {
	const char *head;
	bool letters, boot;
} unstable[] = {
	{"sd", true, true},   {"hd", true, true},     {"vd", true, false},
	{"xvd", true, false}, {"nvme", false, true},  {"mmcblk", false, false},
	{"dm-", false, true}, {"loop", false, true},  {"nbd", false, true},
	{"rbd", false, true}, {"pmem", false, false}, {"ram", false, false},
};

/** The row of a source; NULL: its name is stable. */
static const struct unstable *unstable_row(const char *source)
{
	for (size_t i = 0;
	     strncmp(source, "/dev/", 5) == 0 && i < sizeof(unstable) / sizeof(*unstable); ++i) {
		if (is_numbered(source + 5, unstable[i].head, unstable[i].letters))
			return &unstable[i];
	}
	return NULL;
}

bool audit_is_unstable(const char *source)
{
	return unstable_row(source) != NULL;
}

/** Judge whether a name in /dev is stable. */
static void judge_stable(struct audit *audit, const struct audit_entry *entry)
{
	const struct unstable *row = entry->noauto ? NULL : unstable_row(entry->source);
	if (!row)
		return;
	/* cloud-init writes the line for a cloud disk anew on each instance. */
	const char *by = audit_option(audit, entry, "comment");
	bool cloud = by && strcmp(by, "cloudconfig") == 0;
	audit_add_for(audit, entry, FSTAB_SRC_UNSTABLE,
	              &(struct audit_details){
	                      cloud ? AUDIT_INFO : AUDIT_WARNING, row->boot && !cloud,
	                      audit_format(audit, "%s may be another device after the next boot",
			                   entry->source),
	                      "UUID=, LABEL=, PARTUUID= or a name in /dev/disk or /dev/mapper",
	                      entry->source, "use its UUID, as getmnt fstab does"});
}

/** Judge whether block storage comes over a network. */
static void judge_network(struct audit *audit, const struct audit_entry *entry,
                          const struct fstab_device *device)
{
	static const char *const marks[] = {"/dev/nbd", "/dev/rbd", "/dev/drbd", "/dev/etherd/"};
	bool remote = device && device->remote;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); ++i)
		remote |= strncmp(entry->source, marks[i], strlen(marks[i])) == 0;
	if (strncmp(entry->source, "/dev/disk/by-path/", 18) == 0)
		remote |= strstr(entry->source, "-iscsi-") != NULL;
	if (!remote || entry->netdev || entry->noauto
	    || (entry->flags & FST_NET && entry->flags & FST_DEVICE))
		return;
	audit_add_for(
	        audit, entry, FSTAB_NETDEV,
	        &(struct audit_details){
	                AUDIT_WARNING, true,
	                "its device needs the network, which is not up when the line is mounted",
	                "_netdev", NULL, "add _netdev"});
}

/** What to use instead of a device that holds no file system; NULL: it may hold one. */
static const char *name_instead(const char *type)
{
	static const char *const rows[][2] = {
	        {"crypto_LUKS",
		 "use the mapping that crypttab(5) or cryptsetup opens: /dev/mapper/NAME"},
	        {"BitLocker",
		 "use the mapping that crypttab(5) or cryptsetup opens: /dev/mapper/NAME"},
	        {"LVM2_member", "use a logical volume on it: /dev/VG/LV, or its UUID"},
	        {"linux_raid_member", "use its array: /dev/md/NAME, or the UUID of the array"},
	        {"zfs_member", "ZFS mounts its datasets by itself: zfs set mountpoint="},
	        {"bcache", "use the cached device: /dev/bcache0, or its UUID"},
	        {"swap", "use a device with a file system"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (strcmp(type, rows[i][0]) == 0)
			return rows[i][1];
	}
	size_t n = strlen(type);
	return n > 7 && strcmp(type + n - 7, "_member") == 0
	               ? "use the device that it is a member of, or its UUID"
		       : NULL;
}

/** Judge the type of a line by what the device holds. */
static void judge_type(struct audit *audit, const struct audit_entry *entry, const char *type)
{
	if (!entry->path && !entry->swap)
		return;
	static const char *const alike[][2] = {
	        {"ext2 ext3 ext4", "ext2 ext3 ext4"},   {"vfat msdos", "vfat msdos"},
	        {"ntfs ntfs3 ntfs-3g fuseblk", "ntfs"}, {"udf iso9660", "udf iso9660"},
	        {"exfat fuse.exfat", "exfat"},          {"swap", "swap swsuspend"},
	};
	/* A path of a multipath device whose map does not exist. */
	if (!type || strcmp(type, "none") == 0 || strcmp(type, "mpath_member") == 0)
		return;
	const char *instead = name_instead(type);
	bool any =
	        !*entry->fstype || strcmp(entry->fstype, "auto") == 0 || strchr(entry->fstype, ',');
	if ((any && !instead) || strcmp(entry->fstype, type) == 0)
		return;
	for (size_t i = 0; i < sizeof(alike) / sizeof(*alike); ++i) {
		const char *line = alike[i][0], *disk = alike[i][1];
		size_t n = strlen(entry->fstype), m = strlen(type);
		const char *a = strstr(line, entry->fstype), *b = strstr(disk, type);
		if (a && b && (a == line || a[-1] == ' ') && (!a[n] || a[n] == ' ')
		    && (b == disk || b[-1] == ' ') && (!b[m] || b[m] == ' '))
			return;
	}
	audit_add_for(
	        audit, entry, FSTAB_TYPE_MISMATCH,
	        &(struct audit_details){
	                AUDIT_CRITICAL, true, audit_format(audit, "the device holds %s", type),
	                entry->swap ? "swap"
			: instead   ? "a file system"
			            : type,
	                entry->swap || instead ? type : entry->fstype,
	                entry->swap
	                        ? "use a swap space; mkswap would destroy the data on this device"
			: instead ? instead
				  : audit_format(audit, "write %s", type)});
}

/** The existing tag that differs from one in upper and lower case only; or NULL. */
static const char *other_case(struct audit *audit, const char *source)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *equals = strchr(source, '=');
	for (int upper = 0; equals && upper < 2; ++upper) {
		char *copy = arena_strndup(&audit->report->arena, source, strlen(source));
		if (!copy) {
			audit->failed = true;
			return NULL;
		}
		for (char *c = copy + (equals - source); *c; ++c)
			*c = (char)(upper ? toupper((unsigned char)*c)
			                  : tolower((unsigned char)*c));
		if (strcmp(copy, source) != 0 && facts->devices(facts->arg, copy, NULL) > 0)
			return copy;
	}
	return NULL;
}

bool audit_is_contained(const struct fstab_facts *facts, const char *source, signed char *known)
{
	/* Markers of systemd, Docker, Podman and WSL. */
	static const char *const marks[] = {"/run/systemd/container", "/.dockerenv",
	                                    "/run/.containerenv", "/run/WSL"};
	if (!facts || !facts->look || !source
	    || (!is_tag(source) && strncmp(source, "/dev/", 5) != 0))
		return false;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks) && *known == 0; ++i)
		*known = facts->look(facts->arg, marks[i], NULL) == (i < 3 ? FACT_FILE : FACT_DIR);
	*known = *known ? *known : -1;
	return *known > 0;
}

/** Report a source that does not exist. */
static void add_missing(struct audit *audit, const struct audit_entry *entry, const char *message,
                        const char *hint)
{
	bool later = entry->noauto || entry->nofail
	             || audit_is_contained(audit->in->facts, entry->source, &audit->container);
	audit_add_for(
	        audit, entry, FSTAB_SRC_MISSING,
	        &(struct audit_details){later ? AUDIT_INFO : AUDIT_CRITICAL, true, message, NULL,
		                        audit->in->secret && audit->in->secret(entry->source, NULL)
	                                        ? NULL
						: entry->source,
		                        hint});
}

/** Judge a path that is neither a device nor an image.  @return whether it is reported. */
static bool add_no_device(struct audit *audit, const struct audit_entry *entry, const char *source,
                          enum fact_kind kind)
{
	if (kind != FACT_DIR && kind != FACT_OTHER)
		return false;
	bool later = entry->noauto || entry->nofail;
	audit_add_for(
	        audit, entry, FSTAB_SRC_MISSING,
	        &(struct audit_details){
	                later ? AUDIT_WARNING : AUDIT_CRITICAL, true,
	                kind == FACT_DIR
	                        ? audit_format(audit, "%s is a directory, not a device", source)
				: audit_format(audit, "%s is not a block device", source),
	                entry->swap ? "a swap space" : "a block device", NULL,
	                kind == FACT_DIR && !entry->swap
	                        ? "add bind and use the type none, or use a device"
				: "use a device"});
	return true;
}

/** Whether a device is mounted, whatever udev knows of it. */
static bool is_in_use(const struct audit *audit, const char *name)
{
	const struct discovery *d = audit->in->live;
	for (uint32_t i = 0; d && name && i < d->tree.count; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		if (m->source && strcmp(m->source, name) == 0)
			return true;
	}
	return false;
}

/** Judge a device that holds nothing known. */
static void judge_blank(struct audit *audit, const struct audit_entry *entry, const char *name)
{
	/* udev does not probe these. */
	static const char *const heads[] = {"/dev/zram", "/dev/nbd", "/dev/mtd", "/dev/fd",
	                                    "/dev/ram"};
	bool wanted = entry->swap || !*entry->fstype || strcmp(entry->fstype, "auto") == 0
	              || entry->flags & FST_DEVICE;
	for (size_t i = 0; name && i < sizeof(heads) / sizeof(*heads); ++i)
		wanted &= strncmp(name, heads[i], strlen(heads[i])) != 0;
	if (!wanted || entry->noauto || (!entry->path && !entry->swap)
	    || audit_option(audit, entry, "x-systemd.makefs") || is_in_use(audit, name))
		return;
	audit_add_for(audit, entry, FSTAB_TYPE_MISMATCH,
	              &(struct audit_details){entry->nofail ? AUDIT_WARNING : AUDIT_CRITICAL, true,
	                                      "the device holds nothing known",
	                                      entry->swap ? "a swap space" : "a file system", NULL,
	                                      entry->swap ? "check with blkid -p; create one with "
	                                                    "mkswap, or use another device"
	                                                  : "check with blkid -p; create one with "
	                                                    "mkfs, or use another device"});
}

/** The tag of a link of udev, "UUID=x" for "/dev/disk/by-uuid/x"; or NULL. */
static const char *link_tag(struct audit *audit, const char *source)
{
	static const char *const dirs[][2] = {
	        {"uuid/", "UUID="},
	        {"label/", "LABEL="},
	        {"partuuid/", "PARTUUID="},
	        {"partlabel/", "PARTLABEL="},
	};
	static const char by[] = "/dev/disk/by-";
	if (strncmp(source, by, sizeof(by) - 1) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); ++i) {
		size_t n = strlen(dirs[i][0]), len = 0;
		const char *at = source + sizeof(by) - 1;
		if (strncmp(at, dirs[i][0], n) != 0)
			continue;
		char *value = arena_strndup(&audit->report->arena, at + n, strlen(at + n));
		if (!value)
			break;
		for (const char *c = value; *c; ++len) {
			unsigned byte;
			bool escape = c[0] == '\\' && c[1] == 'x' && isxdigit((unsigned char)c[2])
			              && isxdigit((unsigned char)c[3])
			              && sscanf(c + 2, "%2x", &byte) == 1 && byte;
			value[len] = escape ? (char)byte : *c;
			c += escape ? 4 : 1;
		}
		value[len] = '\0';
		return audit_format(audit, "%s%s", dirs[i][1], value);
	}
	return NULL;
}

static void judge_device(struct audit *audit, const struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *source = plain(audit, entry->source);
	judge_stable(audit, entry);
	if (!is_tag(source) && *source != '/') {
		/* Several devices of bcachefs, or a mere name. */
		bool uuid = looks_like_uuid(source);
		add_missing(audit, entry,
		            uuid ? "the path does not exist, and looks like a UUID"
		                 : "the source is neither a path nor a tag",
		            uuid ? audit_format(audit, "use UUID=%s", source)
		                 : "use a path, or TAG=value");
		return;
	}
	if (is_tag(source) && !fstab_is_tag(source)) {
		add_missing(audit, entry, "the tag is unknown to mount(8)",
		            "UUID, LABEL, PARTUUID, PARTLABEL or ID");
		return;
	}
	if (is_image(audit, entry)) {
		const struct audit_entry *above = audit_above(audit, entry, source);
		if (above)
			return;
		enum fact_kind kind =
		        facts->look ? facts->look(facts->arg, source, NULL) : FACT_UNKNOWN;
		if (!facts->look)
			audit_not_checked(audit->report, FSTAB_SRC_MISSING);
		else if (kind == FACT_MISSING)
			add_missing(audit, entry, "the file does not exist",
			            "create the file, or remove the line");
		else
			add_no_device(audit, entry, source, kind);
		return;
	}
	struct fstab_device device = {0};
	int count = facts->devices ? facts->devices(facts->arg, source, &device) : -1;
	/* A link of udev leads to one of the devices with the tag. */
	const char *tag = count == 1 ? link_tag(audit, source) : NULL;
	int all = tag ? facts->devices(facts->arg, tag, NULL) : 0;
	count = all > 1 ? all : count;
	judge_network(audit, entry, count > 0 ? &device : NULL);
	if (count < 0 && *source == '/' && facts->look && !audit_above(audit, entry, source)
	    && add_no_device(audit, entry, source, facts->look(facts->arg, source, NULL)))
		return;
	if (count < 0) {
		audit_not_checked(audit->report, FSTAB_SRC_MISSING);
		audit_not_checked(audit->report, FSTAB_SRC_AMBIGUOUS);
		audit_not_checked(audit->report, FSTAB_TYPE_MISMATCH);
	} else if (count == 0) {
		const char *other = is_tag(source) ? other_case(audit, source) : NULL;
		bool file = *source == '/' && !mtree_path_within(source, "/dev");
		add_missing(audit, entry,
		            is_tag(source) ? "no device has it"
		            : file         ? "the file does not exist"
		                           : "the device does not exist",
		            other  ? audit_format(audit,
		                                  "did you mean %s? Upper and lower case differ",
		                                  other)
		            : file ? "create it (a swap file: mkswap --file), or remove the line"
		                   : "check with lsblk -f; correct the source, or add nofail if it "
		                     "may be missing");
	} else if (count > 1) {
		audit_add_for(
		        audit, entry, FSTAB_SRC_AMBIGUOUS,
		        &(struct audit_details){
		                entry->noauto ? AUDIT_WARNING : AUDIT_CRITICAL, true,
		                audit_format(audit,
				             "%d devices have it, and any of them may be mounted",
				             count),
		                "one device", source,
		                "use PARTUUID= or a path in /dev/disk/by-id, or change the tag of "
				"one device"});
	} else if (device.tags && device.tags->known == DEVMAP_UNTAGGED) {
		judge_blank(audit, entry, device.tags->name);
	} else if (device.tags) {
		judge_type(audit, entry, device.tags->type);
	}
}

/** What is at a path now; unknown if the mount of another line will hide it. */
static enum fact_kind look(struct audit *audit, const struct audit_entry *entry, const char *path,
                           enum audit_code code)
{
	const struct fstab_facts *facts = audit->in->facts;
	if (!facts->look) {
		audit_not_checked(audit->report, code);
		return FACT_UNKNOWN;
	}
	enum fact_kind kind = facts->look(facts->arg, path, NULL);
	if (kind == FACT_UNKNOWN)
		audit_not_checked(audit->report, code);
	return kind == FACT_MISSING && audit_above(audit, entry, path) ? FACT_UNKNOWN : kind;
}

static void judge_bind(struct audit *audit, const struct audit_entry *entry)
{
	const char *path = fstab_normal(&audit->report->arena, entry->source);
	if (!path) {
		/* Quotation marks are reported already. */
		if (*entry->source != '"' && *entry->source != '\'')
			audit_add_for(
			        audit, entry, FSTAB_BIND_SRC,
			        &(struct audit_details){AUDIT_CRITICAL, true,
				                        "the bind source is not an absolute path",
				                        "/...", NULL, "use an absolute path"});
		return;
	}
	if (look(audit, entry, path, FSTAB_BIND_SRC) == FACT_MISSING)
		audit_add_for(
		        audit, entry, FSTAB_BIND_SRC,
		        &(struct audit_details){
		                entry->noauto || entry->nofail ? AUDIT_INFO : AUDIT_CRITICAL, true,
		                audit_format(audit, "the bind source does not exist: %s", path),
		                NULL, NULL, "create it, or remove the line"});
}

/** Judge the layers of an overlay. */
struct overlay {
	struct audit *audit;
	const struct audit_entry *entry;
};

static bool judge_layer(void *arg, const char *path, enum order_kind kind_of_need)
{
	const struct overlay *overlay = arg;
	struct audit *audit = overlay->audit;
	(void)kind_of_need;
	enum fact_kind kind = look(audit, overlay->entry, path, FSTAB_OVERLAY_DIR);
	if (kind == FACT_MISSING || kind == FACT_FILE)
		audit_add_for(
		        audit, overlay->entry, FSTAB_OVERLAY_DIR,
		        &(struct audit_details){
		                overlay->entry->noauto || overlay->entry->nofail ? AUDIT_INFO
				                                                 : AUDIT_CRITICAL,
		                true, audit_format(audit, "the directory %s does not exist", path),
		                NULL, NULL, "create it"});
	return true;
}

static void judge_overlay(struct audit *audit, const struct audit_entry *entry)
{
	const char *upper = audit_option(audit, entry, "upperdir"),
	           *work = audit_option(audit, entry, "workdir");
	bool lower =
	        audit_option(audit, entry, "lowerdir") || audit_option(audit, entry, "lowerdir+");
	const char *lack = !lower           ? "lowerdir"
	                   : upper && !work ? "workdir"
	                   : !upper && work ? "upperdir"
	                                    : NULL;
	/* In a live system, the line of the root only remounts it. */
	bool mounted = entry->path && strcmp(entry->path, "/") == 0 && !lower && !upper && !work;
	if (lack && !mounted)
		audit_add_for(audit, entry, FSTAB_OVERLAY_DIR,
		              &(struct audit_details){AUDIT_CRITICAL, true,
		                                      audit_format(audit, "%s is missing", lack),
		                                      audit_format(audit, "%s=", lack), NULL,
		                                      "add the missing option"});
	const char *up = upper ? fstab_normal(&audit->report->arena, upper) : NULL;
	const char *down = work ? fstab_normal(&audit->report->arena, work) : NULL;
	if (up && down && (mtree_path_within(up, down) || mtree_path_within(down, up)))
		audit_add_for(audit, entry, FSTAB_OVERLAY_DIR,
		              &(struct audit_details){
		                      AUDIT_CRITICAL, true,
		                      "workdir and upperdir overlap: the kernel refuses the mount",
		                      "two separate directories",
		                      audit_format(audit, "upperdir=%s,workdir=%s", upper, work),
		                      "use another directory"});
	audit->failed |=
	        order_each_path(&audit->order_lines[entry - audit->entries], &audit->report->arena,
		                judge_layer, &(struct overlay){audit, entry})
	        != 0;
	audit_overlay(audit, entry);
}

/** Judge the type none, which binds, moves and remounts have. */
static void judge_none(struct audit *audit, const struct audit_entry *entry)
{
	static const char *const words[] = {
	        "move",    "remount", "private", "rprivate",   "shared",
	        "rshared", "slave",   "rslave",  "unbindable", "runbindable",
	};
	bool fits = audit->typo == entry;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !fits; ++i)
		fits = audit_option(audit, entry, words[i]);
	if (!fits)
		audit_add_for(audit, entry, FSTAB_TYPE_UNSUPPORTED, &(struct audit_details){
			entry->noauto || entry->nofail ? AUDIT_WARNING : AUDIT_CRITICAL, true,
			"the type none is for bind mounts, and bind is missing", "bind", NULL,
			"add bind, or use the type of the file system"});
}

/** Whether a source is the kernel's name of the device that it booted from. */
static bool is_any_root(const struct audit_entry *entry)
{
	return entry->path && strcmp(entry->path, "/") == 0
	       && (strcmp(entry->source, "/dev/root") == 0 || strcmp(entry->source, "rootfs") == 0);
}

/** The form that the source of a network file system should have; NULL: it has, or none is known.
 */
static const char *other_form(struct audit *audit, const struct audit_entry *entry)
{
	static const struct {
		const char *types, *form;
		bool share;
	} rows[] = {
	        {"nfs nfs4", "SERVER:/PATH", false},
	        {"fuse.sshfs sshfs", "[USER@]HOST:[PATH]", false},
	        {"cifs smb3", "//SERVER/SHARE", true},
	};
	const char *source = entry->source;
	/* The root of a diskless host is mounted before: /dev/nfs. */
	if (entry->path && strcmp(entry->path, "/") == 0)
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (!*source || !word_in(entry->fstype, strlen(entry->fstype), rows[i].types))
			continue;
		if (!rows[i].share)
			return strchr(source, ':') ? NULL : rows[i].form;
		size_t n = strspn(source, "/\\") == 2 ? strcspn(source + 2, "/\\") : 0;
		bool good = n && source[2 + n] && source[2 + n + 1];
		return good || audit_option(audit, entry, "unc")
		                       || audit_option(audit, entry, "target")
		                       || audit_option(audit, entry, "path")
		               ? NULL
			       : rows[i].form;
	}
	return NULL;
}

static void add_form(struct audit *audit, const struct audit_entry *entry, const char *form)
{
	bool hidden = audit->in->secret && audit->in->secret(entry->source, NULL);
	audit_add_for(
	        audit, entry, FSTAB_SRC_MISSING,
	        &(struct audit_details){
	                entry->noauto || entry->nofail ? AUDIT_WARNING : AUDIT_CRITICAL, true,
	                audit_format(audit, "the source of %s must be %s", entry->fstype, form),
	                form, hidden ? NULL : entry->source,
	                "correct the server and the directory"});
}

/** Judge files with secrets that options name: without them the mount fails, or asks for input. */
static void judge_keys(struct audit *audit, const struct audit_entry *entry)
{
	static const char *const names[] = {"credentials",  "cred",         "secretfile",
	                                    "IdentityFile", "passwordfile", "passwd_file"};
	const struct fstab_facts *facts = audit->in->facts;
	for (size_t i = 0; facts->look && i < sizeof(names) / sizeof(*names); ++i) {
		const char *path = audit_option(audit, entry, names[i]);
		if (!path || *path != '/' || strchr(path, '%') || audit_above(audit, entry, path))
			continue;
		enum fact_kind kind = facts->look(facts->arg, path, NULL);
		if (kind == FACT_FILE && facts->open_to_all
		    && facts->open_to_all(facts->arg, path) > 0)
			audit_add_for(
			        audit, entry, FSTAB_SECRET,
			        &(struct audit_details){
			                AUDIT_WARNING, false,
			                audit_format(audit, "all users can read the file of %s",
					             names[i]),
			                "readable by root only", path,
			                audit_format(audit, "chmod 600 %s", path)});
		if (kind == FACT_MISSING)
			audit_add_for(audit, entry, FSTAB_SRC_MISSING,
			              &(struct audit_details){
			                      AUDIT_WARNING, false,
			                      audit_format(audit, "the file of %s does not exist",
					                   names[i]),
			                      "a file", path, "create it, readable for root only"});
	}
}

void audit_source(struct audit *audit, const struct audit_entry *entry)
{
	if (entry->flags & FST_NET || strncmp(entry->fstype, "fuse", 4) == 0)
		judge_keys(audit, entry);

	const char *form = entry->bind ? NULL : other_form(audit, entry);
	if (is_any_root(entry) && !entry->bind)
		audit_add_for(
		        audit, entry, FSTAB_SRC_UNSTABLE,
		        &(struct audit_details){
		                AUDIT_INFO, false,
		                audit_format(audit, "%s is whichever device the kernel booted from",
				             entry->source),
		                "UUID=, LABEL= or PARTUUID=", entry->source,
		                "use its UUID, as getmnt fstab does"});
	else if (form)
		add_form(audit, entry, form);
	else if (entry->bind)
		judge_bind(audit, entry);
	else if (strcmp(entry->fstype, "none") == 0 && entry->path)
		judge_none(audit, entry);
	else if (strcmp(entry->fstype, "overlay") == 0)
		judge_overlay(audit, entry);
	else if (on_device(entry) && *entry->source != '"' && *entry->source != '\'')
		judge_device(audit, entry);
}
