/* SPDX-License-Identifier: MIT */
/*
 * Two questions answered from sysfs (and device mapper, for failed paths of a multipath):
 *
 * Can a device block?  Yes if the device, or one below it, is remote, suspended or shut down;
 * "blocks" is the reason.  A multipath blocks only if all its paths do.
 *
 * May a device be probed?  Not if it blocks, is removable, or is held by another device: a member
 * does not contain the file system itself, and a path of a multipath may hang.  The same applies to
 * the disk of a partition, which must be read for PARTUUID.
 *
 * The state can change afterwards; callers that must not block use the prober.
 */
#include "devmap/devmap_impl.h"

#include <ctype.h>
#include <stdlib.h>

static const char why_remote[] = "remote";

/** Whether a name is a prefix followed by a digit, or by '!' and any text. */
static bool devmap_name_is_kind(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncmp(name, prefix, n) == 0
	       && (prefix[n - 1] == '!' || isdigit((unsigned char)name[n]));
}

/** Whether the sysfs name of a device starts with the prefix of a kind of device. */
static bool devmap_is_kind(struct devmap *map, struct devmap_dev *dev, const char *prefix)
{
	return devmap_name_is_kind(devmap_kname(map, dev), prefix);
}

/** Whether I/O to a device leaves this kernel. */
static bool devmap_is_remote(struct devmap *map, struct devmap_dev *dev)
{
	static const char *const kinds[] = {
		"nbd", "rbd", "drbd", "rnbd", "etherd!",
		"ublkb",   /* served by a process */
		"zd",      /* a zfs volume; do not access zfs either */
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i) {
		if (devmap_is_kind(map, dev, kinds[i]))
			return true;
	}
	return dev->iscsi;
}

/** The relative path from the attributes of a device to the attributes of its disk. */
static const char *devmap_disk(const struct devmap_dev *dev)
{
	return dev->partition ? "../" : "";
}

/** Whether an NVMe transport stays within the machine. */
static bool devmap_is_local(const char *transport)
{
	return strcmp(transport, "pcie") == 0 || strcmp(transport, "apple-nvme") == 0;
}

static const char *blocking_nvme(struct devmap *map, const struct devmap_dev *dev)
{
	const char *disk = devmap_disk(dev);
	char buf[64];
	if (devmap_attr(map, dev, buf, sizeof(buf), "%sdevice/transport", disk) >= 0)
		return devmap_is_local(buf) ? NULL : why_remote;

	/* The controllers of a namespace with native multipath.  "/.": the directory is a
	   symlink. */
	struct devmap_dir dir;
	bool remote = false, any = false, live = false;
	devmap_dir_open(map, &dir, "dev/block/%u:%u/%sdevice/.", dev->major, dev->minor, disk);
	for (const char *name; (name = devmap_dir_next(map, &dir)) != NULL;) {
		if (!devmap_name_is_kind(name, "nvme")
		    || devmap_attr(map, dev, buf, sizeof(buf), "%sdevice/%s/transport", disk,
		                   name) < 0)
			continue;
		any = true;
		remote |= !devmap_is_local(buf);
		live |= devmap_attr(map, dev, buf, sizeof(buf), "%sdevice/%s/state", disk,
		                    name) >= 0
		        && strcmp(buf, "live") == 0;
	}
	if (dir.os.error)
		return NULL;
	return remote ? why_remote : any && !live ? "no live controller" : NULL;
}

/** Whether an attribute of the disk exists with a value that is not in the list
    ",running,live,". */
static bool devmap_bad_state(struct devmap *map, const struct devmap_dev *dev, const char *attr,
                             const char *good)
{
	char buf[64] = ",";
	ssize_t n = devmap_attr(map, dev, buf + 1, sizeof(buf) - 2, "%s%s", devmap_disk(dev), attr);
	if (n < 0)
		return false;
	strcpy(buf + 1 + n, ",");
	return !strcasestr(good, buf);
}

static void find_blocking_at(struct devmap *map, struct devmap_dev *dev, int depth);

/** Check a device below another one, and add it to that device's list.
    @return why I/O to it could block, or NULL. */
static const char *blocking_below(struct devmap *map, struct devmap_dev *dev,
                                      struct devmap_dev *below, int depth)
{
	if (!below)
		return "on an unknown device";
	find_blocking_at(map, below, depth + 1);
	return devmap_add_below(map, &dev->below, below) ? below->blocks : "out of memory";
}

/** Whether the UUID in device mapper starts with a prefix, such as "LVM-".
    @uuid [out]  256 bytes. */
static bool devmap_dm_uuid(struct devmap *map, struct devmap_dev *dev, const char *prefix,
                           char *uuid)
{
	return devmap_is_kind(map, dev, "dm-")
	       && devmap_attr(map, dev, uuid, 256, "dm/uuid") > 0
	       && strncmp(uuid, prefix, strlen(prefix)) == 0;
}

static const char *blocking_slaves(struct devmap *map, struct devmap_dev *dev, int depth)
{
	struct devmap_dir dir;
	size_t count = 0, blocked = 0;
	const char *disk = devmap_disk(dev), *first = NULL;
	devmap_dir_open(map, &dir, "dev/block/%u:%u/%sslaves", dev->major, dev->minor, disk);
	for (const char *name; (name = devmap_dir_next(map, &dir)) != NULL; ++count) {
		struct devmap_dev *below = devmap_dev_at(map, "dev/block/%u:%u/%sslaves/%s/dev",
		                                         dev->major, dev->minor, disk, name);
		const char *why = blocking_below(map, dev, below, depth);
		blocked += why != NULL;
		/* Keep the last reason, but prefer "remote". */
		if (why && first != why_remote)
			first = why;
	}
	if (dir.os.error)
		return NULL;
	char uuid[256], status[DEVMAP_ATTR_MAX];
	if (first == why_remote || !devmap_dm_uuid(map, dev, "mpath-", uuid))
		return first;
	/* Only device mapper reports failed paths, and only to root. */
	bool failed = devmap_paths_status(map, dev, status, sizeof(status)) > 0
	              && devmap_paths_failed(status);
	return failed || blocked == count ? "no working path" : NULL;
}

static const char *blocking_loop(struct devmap *map, struct devmap_dev *dev, int depth)
{
	if (!dev->backing) {
		char buf[DEVMAP_ATTR_MAX];
		ssize_t n = devmap_attr(map, dev, buf, sizeof(buf), "%sloop/backing_file",
		                        devmap_disk(dev));
		if (n <= 0)
			return n < 0 && errno != ENOENT ? "on an unknown file" : NULL;
		if (!devmap_take_file(map, dev, buf, (size_t)n))
			return "out of memory";
	}
	if (map->file_blocks && !map->trusts_files
	    && map->file_blocks(map->file_blocks_arg, dev->way, dev->major, dev->minor))
		return "on a file that can block";
	struct devmap_dev *below = strncmp(dev->backing, "/dev/", 5) == 0
	                                   ? devmap_by_name(map, dev->backing + 5) : NULL;
	return below ? blocking_below(map, dev, below, depth) : NULL;
}

/** Check a zram device by its backing device, if it has one. */
static const char *blocking_zram(struct devmap *map, struct devmap_dev *dev, int depth)
{
	char buf[DEVMAP_ATTR_MAX];
	if (devmap_attr(map, dev, buf, sizeof(buf), "%sbacking_dev", devmap_disk(dev)) <= 0
	    || strcmp(buf, "none") == 0)
		return NULL;
	return blocking_below(map, dev, strncmp(buf, "/dev/", 5) == 0
	                                            ? devmap_by_name(map, buf + 5) : NULL, depth);
}

/** Whether devmap_mount_avoid() applies to a device or its disk. */
static bool devmap_is_avoided(struct devmap *map, const struct devmap_dev *dev)
{
	if (!map->avoids || dev->avoided)
		return dev->avoided;
	const struct devmap_dev *disk = dev->partition ? devmap_whole(map, dev) : NULL;
	return disk && disk->avoided;
}

/** Why I/O to a device could block, or NULL. */
static const char *blocking_kind(struct devmap *map, struct devmap_dev *dev, int depth)
{
	if (devmap_is_remote(map, dev))
		return why_remote;
	if (devmap_is_avoided(map, dev))
		return "does not answer";
	if (devmap_is_kind(map, dev, "dm-")) {
		if (devmap_flag(map, dev, "dm/suspended"))
			return "suspended";
	} else if (strncmp(devmap_kname(map, dev), "md", 2) == 0) {
		if (devmap_bad_state(map, dev, "md/array_state", ",readonly,read-auto,clean,"
		                     "active,write-pending,active-idle,"))
			return "array not active";
	} else if (devmap_is_kind(map, dev, "loop")) {
		return blocking_loop(map, dev, depth);
	} else if (devmap_is_kind(map, dev, "zram")) {
		return blocking_zram(map, dev, depth);
	} else if (devmap_is_kind(map, dev, "nvme")) {
		const char *why = blocking_nvme(map, dev);
		if (why)
			return why;
	}
	if (dev->virtual)
		return blocking_slaves(map, dev, depth);
	return devmap_bad_state(map, dev, "device/state", ",running,live,connected,") ? "offline"
	                                                                              : NULL;
}

/** Whether a driver's devices are backed by files or servers; for devices missing from sysfs. */
static bool devmap_stands_on_others(uint32_t major)
{
	return major == 7 /* loop */ || major == 43 /* nbd */ || major == 147 /* drbd */;
}

static void find_blocking_at(struct devmap *map, struct devmap_dev *dev, int depth)
{
	/* Stop at a cycle of devices. */
	if (dev->judging || dev->judged)
		return;
	bool before = map->unread;
	map->unread = false;
	dev->blocks = NULL;
	bool known = *devmap_kname(map, dev);
	if (!known && devmap_stands_on_others(dev->major)) {
		dev->blocks = "not in sysfs";
	} else if (known && depth > DEVMAP_DEPTH_MAX) {
		dev->blocks = "on too many other devices";
	} else if (known) {
		char buf[16];
		dev->judging = true;
		if (!dev->looked)
			dev->partition = devmap_attr(map, dev, buf, sizeof(buf), "partition") > 0;
		dev->looked = !map->unread;
		dev->below = NULL;
		dev->blocks = blocking_kind(map, dev, depth);
		dev->judging = false;
		dev->judged = true;
	}
	if (map->unread && !dev->blocks)
		dev->blocks = "state unreadable";
	map->unread = before;
}

void devmap_find_blocking(struct devmap *map, struct devmap_dev *dev)
{
	find_blocking_at(map, dev, 0);
}

/** Whether the medium of a device, or of a device below it, is removable, or may be. */
static bool devmap_is_removable(struct devmap *map, struct devmap_dev *dev)
{
	char buf[16];
	if (!dev->removable_known) {
		map->unread = false;
		ssize_t n = devmap_attr(map, dev, buf, sizeof(buf), "%sremovable",
		                        devmap_disk(dev));
		dev->removable = (n > 0 && buf[0] == '1') || map->unread;
		dev->removable_known = true;
	}
	bool removable = dev->removable;
	dev->judging = true;
	for (struct devmap_below *b = dev->below; b && !removable; b = b->next)
		removable = !b->dev->judging && devmap_is_removable(map, b->dev);
	dev->judging = false;
	return removable;
}

bool devmap_remote(struct devmap *map, uint32_t major, uint32_t minor)
{
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	if (!dev)
		return false;
	devmap_find_blocking(map, dev);
	/* Devices served by a local process do not need the network. */
	return dev->blocks == why_remote && !devmap_is_kind(map, dev, "ublkb")
	       && !devmap_is_kind(map, dev, "zd");
}

bool devmap_removable(struct devmap *map, uint32_t major, uint32_t minor)
{
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	if (dev)
		devmap_find_blocking(map, dev);
	return dev && devmap_is_removable(map, dev);
}

bool devmap_crypt(struct devmap *map, uint32_t major, uint32_t minor)
{
	char uuid[256];
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	return dev && devmap_dm_uuid(map, dev, "CRYPT-", uuid);
}

bool devmap_protected(struct devmap *map, uint32_t major, uint32_t minor)
{
	const struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	return dev && devmap_flag(map, dev, "ro");
}

/** A numeric attribute of a loop device; 0 if it is missing. */
static uint64_t devmap_loop_number(struct devmap *map, const struct devmap_dev *dev,
                                   const char *attr)
{
	char buf[32];
	ssize_t n = devmap_attr(map, dev, buf, sizeof(buf), "%sloop/%s", devmap_disk(dev), attr);
	return n > 0 ? strtoull(buf, NULL, 10) : 0;
}

bool devmap_loop(struct devmap *map, uint32_t major, uint32_t minor, struct devmap_loop *loop)
{
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	if (dev)
		devmap_find_blocking(map, dev);
	if (!dev || !dev->backing)
		return false;
	if (!dev->loop_read) {
		dev->loop_offset = devmap_loop_number(map, dev, "offset");
		dev->loop_limit = devmap_loop_number(map, dev, "sizelimit");
		dev->loop_read = true;
	}
	*loop = (struct devmap_loop){
		.file = dev->backing, .partition = dev->partition,
		.offset = dev->loop_offset, .limit = dev->loop_limit,
	};
	return true;
}

/** Why a device, or its disk, is held by another device; or NULL.
    @up  "/..": check the disk. */
static const char *devmap_held(struct devmap *map, struct devmap_dev *dev, const char *up)
{
	struct devmap_dir dir;
	char uuid[256];
	const char *why = NULL;
	devmap_dir_open(map, &dir, "dev/block/%u:%u%s/holders", dev->major, dev->minor, up);
	const char *name = devmap_dir_next(map, &dir);
	if (name) {
		bool dm = devmap_name_is_kind(name, "dm-")
		          && devmap_read(map, uuid, sizeof(uuid),
		                         "dev/block/%u:%u%s/holders/%s/dm/uuid", dev->major,
		                         dev->minor, up, name) > 0;
		why = devmap_name_is_kind(name, "bcache")     ? "member of bcache"
		      : dm && strncmp(uuid, "mpath-", 6) == 0 ? "path of a multipath"
		      : dm && strncmp(uuid, "LVM-", 4) == 0   ? "member of LVM"
		      : strncmp(name, "md", 2) == 0           ? "member of md"
		                                              : "held by another device";
	}
	devmap_dir_close(map, &dir);
	/* A member that has no holder yet; bcache0 itself also has a directory of this name. */
	if (!why && !devmap_is_kind(map, dev, "bcache")
	    && devmap_exists(map, "dev/block/%u:%u%s/bcache", dev->major, dev->minor, up))
		why = "member of bcache";
	return why;
}

const char *devmap_part(struct devmap *map, uint32_t major, uint32_t minor)
{
	struct devmap_dev *dev = devmap_get(map, major, minor);
	if (!dev || !dev->has_tags || !*devmap_kname(map, dev))
		return NULL;
	bool unread = map->unread;
	struct devmap_dev *disk = devmap_whole(map, dev);
	const char *why = dev->part ? dev->part : disk ? disk->part : NULL;
	/* An open LUKS device is held, but its label is its own. */
	bool crypto = dev->tags.usage && strcmp(dev->tags.usage, "crypto") == 0;
	if (!why && !crypto)
		why = devmap_held(map, dev, "");
	if (!why && disk)
		why = devmap_held(map, disk, "");
	map->unread = unread;
	return why;
}

const char *devmap_unsafe(struct devmap *map, struct devmap_dev *dev)
{
	char size[32], uuid[256];
	devmap_find_blocking(map, dev);
	if (dev->blocks)
		return dev->blocks;
	if (devmap_is_removable(map, dev))
		return "removable media";
	if (devmap_is_kind(map, dev, "loop") && !dev->backing)
		return "no backing file";
	map->unread = false;
	if (devmap_attr(map, dev, size, sizeof(size), "size") > 0 && strcmp(size, "0") == 0)
		return "size 0";
	/* An internal volume of LVM: LVM-<64 bytes>-tmeta. */
	if (devmap_dm_uuid(map, dev, "LVM-", uuid) && strlen(uuid) > 4 + 64 && uuid[4 + 64] == '-')
		return "internal to LVM";
	const char *why = devmap_held(map, dev, "");
	if (!why && dev->partition)
		why = devmap_held(map, dev, "/..");
	return !why && map->unread ? "state unreadable" : why;
}
