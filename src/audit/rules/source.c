/* SPDX-License-Identifier: MIT */
/*
 * Check the source of a line: its syntax, and whether the device or file exists.
 *
 * Paths below the mount point of another line are not reported, since the mount of that line may
 * contain them.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "fstab/target.h"
#include "mountopts/vfsflags.h"
#include "mounttree.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/** Whether a source is TAG=value, with any tag. */
static bool is_tag(const char *source)
{
	size_t n = strspn(source, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return n >= 2 && source[n] == '=';
}

const char *audit_unquoted(struct audit_report *report, const char *source)
{
	const char *equals = *source == '/' ? NULL : strchr(source, '=');
	size_t n = strlen(source);
	if (!equals || (equals[1] != '"' && equals[1] != '\'') || source + n < equals + 3
	    || source[n - 1] != equals[1])
		return source;
	return audit_format(report, "%.*s=%.*s", (int)(equals - source), source,
	                    (int)(source + n - equals - 3), equals + 2);
}

/** Whether a text without a tag looks like a UUID, or a serial number of FAT or NTFS. */
static bool looks_like_uuid(const char *text)
{
	size_t n = strlen(text), dashes = 0;
	for (size_t i = 0; i < n; ++i)
		dashes += text[i] == '-';
	return !text[strspn(text, "0123456789abcdefABCDEF-")]
	       && ((n == 36 && dashes == 4) || (n == 9 && dashes == 1 && text[4] == '-')
	           || (n == 16 && dashes == 0));
}

/** Whether a line needs a device, by its type or source. */
static bool on_device(const struct fstab_entry *entry)
{
	if (entry->bind || strcmp(entry->fstype, "ignore") == 0)
		return false;
	if (entry->swap || entry->type & FST_DEVICE || is_tag(entry->source))
		return true;
	return (strcmp(entry->fstype, "auto") == 0 || !*entry->fstype) && *entry->source != '\0'
	       && strcmp(entry->source, "none") != 0 && !strchr(entry->source, ':');
}

/** Whether the source is an image in a file. */
static bool is_image(struct audit *audit, const struct fstab_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	if (fstab_entry_value(entry, "loop") || fstab_entry_value(entry, "offset"))
		return true;
	return *entry->source == '/' && !word_below(entry->source, "/dev")
	       && (!facts->look || audit_look(facts, entry->source) == FACT_FILE);
}

/** Whether the name of a device depends on the order in which the kernel detects devices.
    @boot [out]  The name may change so easily that this is a risk for the boot. */
static bool is_numbered(const char *source, bool *boot)
{
	static const struct {
		char head[8];
		bool letters, boot;      /* letters: a letter follows, not a digit; boot: the
		                            result in *boot */
	} names[] = {
		{"sd", true, true},   {"hd", true, true},     {"vd", true, false},
		{"xvd", true, false}, {"nvme", false, true},  {"mmcblk", false, false},
		{"dm-", false, true}, {"loop", false, true},  {"nbd", false, true},
		{"rbd", false, true}, {"pmem", false, false}, {"ram", false, false},
		{"md", false, false}, {"md_d", false, false}, {"bcache", false, false},
		{"zd", false, false}, {"dasd", true, false},
	};
	if (strncmp(source, "/dev/", 5) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		size_t n = strlen(names[i].head);
		unsigned char next = strncmp(source + 5, names[i].head, n) == 0
		                     ? (unsigned char)source[5 + n] : 0;
		*boot = names[i].boot;
		if (names[i].letters ? islower(next) : isdigit(next))
			return true;
	}
	return false;
}

bool audit_is_unstable(const char *source)
{
	bool boot;
	return is_numbered(source, &boot);
}

/** Report a name in /dev that may be the name of another device after the next boot. */
static void check_stable(struct audit *audit, const struct fstab_entry *entry)
{
	bool boot;
	if (entry->idle || !is_numbered(entry->source, &boot))
		return;
	/* Only an info for lines of cloud-init, which rewrites them on each instance. */
	bool cloud = fstab_entry_has(entry, "comment=cloudconfig");
	audit_add_line(audit, entry, FSTAB_SRC_UNSTABLE,
		       cloud ? AUDIT_INFO : boot ? AUDIT_WARNING | AUDIT_BOOT : AUDIT_WARNING,
		       "UUID=, LABEL=, PARTUUID= or a name in /dev/disk or /dev/mapper",
		       entry->source, "use its UUID, as getmnt fstab does",
		       "%s may be another device after the next boot", entry->source);
}

/** Report network block storage without _netdev.
    @remote  The device is known to be reached over a network. */
static void check_network(struct audit *audit, const struct fstab_entry *entry, bool remote)
{
	remote |= audit_begins(entry->source, "/dev/nbd /dev/rbd /dev/drbd /dev/etherd/")
	          || (audit_begins(entry->source, "/dev/disk/by-path/")
	              && strstr(entry->source, "-iscsi-"));
	if (remote && !entry->netdev && !entry->idle
	    && !(entry->type & FST_NET && entry->type & FST_DEVICE))
		audit_add_line(audit, entry, FSTAB_NETDEV, AUDIT_WARNING | AUDIT_BOOT, "_netdev",
			       NULL, "add _netdev", "its device needs the network, which is not up "
			       "when the line is mounted");
}

/** Get the hint for a device whose content is not a file system, such as crypto_LUKS; NULL: content
    of this type may be a file system. */
static const char *name_instead(const char *type)
{
	static const char mapping[] =
		"use the mapping that crypttab(5) or cryptsetup opens: /dev/mapper/NAME";
	static const char *const rows[][2] = {
		{"crypto_LUKS", mapping},
		{"BitLocker", mapping},
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
	       ? "use the device that it is a member of, or its UUID" : NULL;
}

/** Report a line whose type differs from `type`, the type of the content of the device. */
static void check_type(struct audit *audit, const struct fstab_entry *entry, const char *type)
{
	static const char *const alike[][2] = {
		{"ext2 ext3 ext4", "ext2 ext3 ext4"},   {"vfat msdos", "vfat msdos"},
		{"ntfs ntfs3 ntfs-3g fuseblk", "ntfs"}, {"udf iso9660", "udf iso9660"},
		{"exfat fuse.exfat", "exfat"},          {"swap", "swap swsuspend"},
	};
	size_t n = strlen(entry->fstype), m = type ? strlen(type) : 0;
	/* No finding for mpath_member, a path of a multipath device whose map does not exist. */
	if ((!entry->path && !entry->swap) || !type || word_in(type, m, "none mpath_member"))
		return;
	const char *instead = name_instead(type);
	bool any = word_in(entry->fstype, n, " auto") || strchr(entry->fstype, ',');
	if ((any && !instead) || strcmp(entry->fstype, type) == 0)
		return;
	for (size_t i = 0; i < sizeof(alike) / sizeof(*alike); ++i) {
		if (word_in(entry->fstype, n, alike[i][0]) && word_in(type, m, alike[i][1]))
			return;
	}
	const char *hint = entry->swap
		? "use a swap space; mkswap would destroy the data on this device"
		: instead ? instead : audit_format(audit->report, "write %s", type);
	audit_add_line(audit, entry, FSTAB_TYPE_MISMATCH, AUDIT_CRITICAL | AUDIT_BOOT,
		       entry->swap ? "swap" : instead ? "a file system" : type,
		       entry->swap || instead ? type : entry->fstype, hint,
		       "the device contains %s", type);
}

/** Find the tag of an existing device that differs from a source only in upper and lower case; or
    NULL. */
static const char *other_case(struct audit *audit, const char *source)
{
	const char *value = is_tag(source) ? strchr(source, '=') + 1 : NULL;
	for (int upper = 0; value && upper < 2; ++upper) {
		const char *copy = audit_format(audit->report, "%.*s%s", (int)(value - source),
		                                source, audit_in_case(audit->report, value, upper));
		if (strcmp(copy, source) != 0 && audit_devices(audit->in->facts, copy, NULL) > 0)
			return copy;
	}
	return NULL;
}

/** The source of an entry for a report; NULL: it contains a secret. */
static const char *shown_source(const struct fstab_entry *entry)
{
	return source_has_secret(entry->source) ? NULL : entry->source;
}

/** Report a source that does not exist. */
static void add_missing(struct audit *audit, const struct fstab_entry *entry, const char *hint,
                        const char *message)
{
	bool later = entry->optional
	             || audit_is_contained(audit->in->facts, entry->source, &audit->container);
	audit_add_line(audit, entry, FSTAB_SRC_MISSING,
		       (later ? AUDIT_INFO : AUDIT_CRITICAL) | AUDIT_BOOT, NULL,
		       shown_source(entry), hint, "%s", message);
}

/** Report a source that cannot name a device.  For the root this is not a risk for the boot,
    because the line only remounts the root. */
static void add_invalid(struct audit *audit, const struct fstab_entry *entry, const char *hint,
                        const char *message)
{
	bool root = entry->root;
	audit_add_line(audit, entry, FSTAB_SRC_MISSING,
		       root ? AUDIT_WARNING
		            : (entry->optional ? AUDIT_WARNING : AUDIT_CRITICAL) | AUDIT_BOOT, NULL,
		       shown_source(entry), hint, "%s%s", message,
		       root ? "; the kernel has mounted the root already" : "");
}

/** Report a path that exists but is neither a block device nor an image.
    @return whether the path was reported. */
static bool add_no_device(struct audit *audit, const struct fstab_entry *entry, const char *source)
{
	enum fact_kind kind = audit_look(audit->in->facts, source);
	if (kind != FACT_DIR && kind != FACT_OTHER)
		return false;
	unsigned level = entry->optional || entry->root ? AUDIT_WARNING : AUDIT_CRITICAL;
	audit_add_line(audit, entry, FSTAB_SRC_MISSING, level | (entry->root ? 0 : AUDIT_BOOT),
		       entry->swap ? "a swap space" : "a block device", NULL,
		       kind == FACT_DIR && !entry->swap
		       ? "add bind and use the type none, or use a device" : "use a device",
		       kind == FACT_DIR ? "%s is a directory, not a device"
		                        : "%s is not a block device", source);
	return true;
}

/** Report a device without a known signature, which should contain a file system or swap space.
    @name  The name of the device; or NULL. */
static void check_blank(struct audit *audit, const struct fstab_entry *entry, const char *name)
{
	if (entry->idle || (!entry->path && !entry->swap)
	    || !(entry->swap || entry->type & FST_DEVICE
	         || word_in(entry->fstype, strlen(entry->fstype), " auto"))
	    /* Devices that udev does not probe. */
	    || (name && audit_begins(name, "/dev/zram /dev/nbd /dev/mtd /dev/fd /dev/ram"))
	    || fstab_entry_value(entry, "x-systemd.makefs"))
		return;
	/* A mounted device contains a file system, even if the udev database does not show it. */
	const struct discovery *d = audit->in->live;
	for (uint32_t i = 0; d && name && i < d->tree.count; ++i) {
		const char *source = d->tree.nodes[i].mount->source;
		if (source && strcmp(source, name) == 0)
			return;
	}
	audit_add_line(audit, entry, FSTAB_TYPE_MISMATCH,
		       (entry->optional ? AUDIT_WARNING : AUDIT_CRITICAL) | AUDIT_BOOT,
		       entry->swap ? "a swap space" : "a file system", NULL,
		       entry->swap
		       ? "check with blkid -p; create one with mkswap, or use another device"
		       : "check with blkid -p; create one with mkfs, or use another device",
		       "the device contains no known signature");
}

/** Report a missing image file.  Not if the file is below the mount point of another line, whose
    mount may contain the file. */
static void check_image(struct audit *audit, const struct fstab_entry *entry, const char *source)
{
	if (audit_above(audit, entry, source))
		return;
	if (!audit->in->facts->look)
		audit_not_checked(audit->report, FSTAB_SRC_MISSING);
	else if (audit_look(audit->in->facts, source) == FACT_MISSING)
		add_missing(audit, entry, "create the file, or remove the line",
		            "the file does not exist");
	else
		add_no_device(audit, entry, source);
}

const char *audit_opened_at_boot(const struct audit_report *report, const struct fstab_facts *facts,
                                 const char *source, bool *maybe)
{
	static const char *const dirs[] = {"/dev/mapper/", "/dev/disk/by-id/dm-name-"};
	const char *where = NULL;
	*maybe = false;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) && facts->opens && !where; ++i) {
		size_t n = strlen(dirs[i]);
		if (strncmp(source, dirs[i], n) == 0 && source[n])
			where = facts->opens(facts->arg, source + n);
	}
	*maybe = !where && facts->opens && report->elsewhere;
	return *maybe ? facts->opens(facts->arg, NULL) : where;
}

/** Report a device that is, or may be in, a mapping that is not open now but opened at boot.
    @return false: no line of a table such as /etc/crypttab opens such a mapping; true: the device
            was reported, or a table could not be read. */
static bool add_closed(struct audit *audit, const struct fstab_entry *entry, const char *source)
{
	bool maybe;
	const char *where = audit_opened_at_boot(audit->report, audit->in->facts, source, &maybe);
	const char *what = is_tag(source) ? "no device has this identifier"
	                                  : "the device does not exist";
	if (where && !*where)
		audit_not_checked(audit->report, FSTAB_SRC_MISSING);
	else if (where)
		audit_add_line(audit, entry, FSTAB_SRC_MISSING, AUDIT_INFO, NULL,
			       shown_source(entry), "open the mapping to check this line",
			       maybe ? "%s now, but it may be in a mapping that is not open: %s "
			               "opens it at boot"
			             : "%s now: it is a mapping, and %s opens it at boot",
			       what, where);
	return where;
}

/** Report a device that does not exist. */
static void add_no_source(struct audit *audit, const struct fstab_entry *entry, const char *source)
{
	const char *other = other_case(audit, source);
	bool file = *source == '/' && !word_below(source, "/dev");
	if (!other && !file && add_closed(audit, entry, source))
		return;
	add_missing(audit, entry,
	            other ? audit_format(audit->report, "did you mean %s? Upper and lower case "
	                                 "differ", other)
	            : file ? "create it (a swap file: mkswap --file), or remove the line"
	                   : "check with lsblk -f; correct the source, or add nofail if it may be "
	                     "missing",
	            is_tag(source) ? "no device has this identifier"
	            : file ? "the file does not exist" : "the device does not exist");
}

/** Report a source that is neither a path nor a tag that mount(8) knows. */
static void add_no_tag(struct audit *audit, const struct fstab_entry *entry, const char *source)
{
	size_t n = strcspn(source, "=/:");
	bool tag = n && source[n] == '=', uuid = looks_like_uuid(tag ? source + n + 1 : source);
	add_invalid(audit, entry,
	            uuid  ? audit_format(audit->report, "use UUID=%s", source + (tag ? n + 1 : 0))
	            : tag ? "use UUID=, LABEL=, PARTUUID=, PARTLABEL= or ID="
	                  : "use a path, or TAG=value",
	            tag ? audit_format(audit->report, "%.*s= is not a tag that mount(8) or systemd "
	                               "knows", (int)n, source)
	            : uuid ? "the path does not exist, and looks like a UUID"
	                   : "the source is neither a path nor a tag");
}

/** Check a source of bcachefs that lists devices: /dev/a:/dev/b.
    @return whether the source is such a list. */
static bool check_list(struct audit *audit, const struct fstab_entry *entry, const char *source)
{
	if (strcmp(entry->fstype, "bcachefs") != 0 || !strstr(source, ":/"))
		return false;
	int found = 1;
	if (!entry->idle)
		audit_add_line(audit, entry, FSTAB_SRC_MISSING, AUDIT_WARNING | AUDIT_BOOT,
			       "UUID=", source, "use the UUID= of the file system",
			       "the source lists several devices: systemd waits for one device "
			       "with this whole name, which never appears");
	for (const char *at = source, *end; at && found > 0; at = end ? end + 1 : NULL) {
		end = strstr(at, ":/");
		const char *one = end ? audit_format(audit->report, "%.*s", (int)(end - at), at)
		                      : at;
		found = audit_devices(audit->in->facts, one, NULL);
		if (found == 0 && !add_closed(audit, entry, one))
			add_missing(audit, entry, "check with lsblk -f; use the UUID= of the file "
			            "system", audit_format(audit->report, "the device %s does not "
			                                   "exist", one));
	}
	if (found < 0)
		audit_not_checked(audit->report, FSTAB_SRC_MISSING);
	return true;
}

/** Whether a path in /dev has a letter in place of a number or name, as in "/dev/sdX1": names of
    disks have no upper-case letters. */
static bool has_letter(const char *source)
{
	static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	return audit_begins(source, "/dev/sd /dev/hd /dev/vd /dev/xvd /dev/nvme /dev/mmcblk")
	       && !strchr(source + 5, '/') && source[strcspn(source, upper)];
}

/** Report a tag that no device can have, also if the source is a link in /dev/disk.
    @searched  true: a search found no device with the tag.
    @return whether the source was reported. */
static bool add_impossible(struct audit *audit, const struct fstab_entry *entry,
                           const char *source, bool searched)
{
	struct strbuf link = {.arena = &audit->report->arena};
	const char *last = strrchr(source, '/'),
	           *hint = "use the value that lsblk -f or blkid shows",
	           *tag = fstab_link_tag(source, &link) ? strbuf_str(&link)
	                : *source == '/' ? NULL : source,
	           *fault = tag ? audit_tag_fault(audit, entry, tag, searched, &hint)
	                  : word_below(source, "/dev")
	                    && (audit_is_placeholder(last + 1) || has_letter(source))
	                    ? "the source is a placeholder" : NULL;
	if (fault)
		add_invalid(audit, entry, hint, fault);
	return fault;
}

static void check_device(struct audit *audit, const struct fstab_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *source = audit_unquoted(audit->report, entry->source);
	check_stable(audit, entry);
	/* This tag cannot be looked up: only mount.bcachefs reads it. */
	if (strcmp(entry->fstype, "bcachefs") == 0 && strncmp(source, "OLD_BLKID_UUID=", 15) == 0) {
		audit_not_checked(audit->report, FSTAB_SRC_MISSING);
		return;
	}
	if (*source != '/' && !fstab_is_tag(source)) {
		add_no_tag(audit, entry, source);
		return;
	}
	if (check_list(audit, entry, source))
		return;
	if (is_image(audit, entry)) {
		check_image(audit, entry, source);
		return;
	}
	struct fstab_device device = {0};
	int count = audit_devices(facts, source, &device);
	/* If the source is a symlink of udev, which leads to only one device, count the devices
	   with the tag of the symlink. */
	struct strbuf tag = {.arena = &audit->report->arena};
	int all = count == 1 && fstab_link_tag(source, &tag)
	          ? audit_devices(facts, strbuf_str(&tag), NULL) : 0;
	count = all > 1 ? all : count;
	check_network(audit, entry, count > 0 && device.remote);
	if (count <= 0 && add_impossible(audit, entry, source, count == 0))
		return;
	if (count < 0 && *source == '/' && !audit_above(audit, entry, source)
	    && add_no_device(audit, entry, source))
		return;
	if (count < 0) {
		audit_not_checked(audit->report, FSTAB_SRC_MISSING);
		audit_not_checked(audit->report, FSTAB_SRC_AMBIGUOUS);
		audit_not_checked(audit->report, FSTAB_TYPE_MISMATCH);
	} else if (count == 0) {
		add_no_source(audit, entry, source);
	} else if (count > 1) {
		audit_add_line(audit, entry, FSTAB_SRC_AMBIGUOUS,
			       (entry->idle ? AUDIT_WARNING : AUDIT_CRITICAL) | AUDIT_BOOT,
			       "one device", source, "use PARTUUID= or a path in /dev/disk/by-id, "
			       "or change the tag of one device",
			       "%d devices have this identifier: any of them may be "
			       "mounted", count);
	} else if (device.tags && device.tags->known == DEVMAP_UNTAGGED) {
		check_blank(audit, entry, device.tags->name);
	} else if (device.tags) {
		check_type(audit, entry, device.tags->type);
	}
}

static void check_bind(struct audit *audit, const struct fstab_entry *entry)
{
	const char *path = fstab_normal(&audit->report->arena, entry->source);
	/* Quotation marks were already reported by audit_syntax(). */
	if (!path && *entry->source != '"' && *entry->source != '\'')
		audit_add_line(audit, entry, FSTAB_BIND_SRC, AUDIT_CRITICAL | AUDIT_BOOT, "/...",
			       NULL, "use an absolute path",
			       "the bind source is not an absolute path");
	if (path && audit_look_for(audit, entry, path, FSTAB_BIND_SRC) == FACT_MISSING)
		audit_add_line(audit, entry, FSTAB_BIND_SRC,
			       (entry->optional ? AUDIT_INFO : AUDIT_CRITICAL) | AUDIT_BOOT, NULL,
			       NULL, "create it, or remove the line",
			       "the bind source does not exist: %s", path);
}

/** Report the type "none" in a line without bind.  Options to move or remount a mount, or to change
    its propagation, also fit this type. */
static void check_none(struct audit *audit, const struct fstab_entry *entry)
{
	bool fits = audit->typo == entry || entry->remount, deep;
	for (uint32_t i = 0; i < entry->nopts && !fits; ++i) {
		const struct opt *o = &entry->opts[i];
		fits = strcmp(o->name, "move") == 0
		       || vfs_propagation(o->text, o->nname, &deep) >= 0;
	}
	if (!fits)
		audit_add_line(audit, entry, FSTAB_TYPE_UNSUPPORTED,
			       (entry->optional ? AUDIT_WARNING : AUDIT_CRITICAL) | AUDIT_BOOT,
			       "bind", NULL, "add bind, or use the type of the file system",
			       "the type none is for bind mounts, and bind is missing");
}

void audit_source(struct audit *audit, const struct fstab_entry *entry)
{
	if (audit_remote(audit, entry))
		return;
	if (entry->bind)
		check_bind(audit, entry);
	else if (entry->root && word_in(entry->source, strlen(entry->source), "/dev/root rootfs"))
		audit_add_line(audit, entry, FSTAB_SRC_UNSTABLE, AUDIT_INFO,
			       "UUID=, LABEL= or PARTUUID=", entry->source,
			       "use its UUID, as getmnt fstab does",
			       "%s is whichever device the kernel booted from", entry->source);
	else if (strcmp(entry->fstype, "none") == 0 && entry->path)
		check_none(audit, entry);
	else if (strcmp(entry->fstype, "overlay") == 0)
		audit_overlay(audit, entry);
	else if (on_device(entry) && *entry->source != '"' && *entry->source != '\'')
		check_device(audit, entry);
}
