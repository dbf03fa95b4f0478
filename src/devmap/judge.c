/* SPDX-License-Identifier: MIT */
/*
 * Decides by sysfs (and device mapper, for failed paths of a multipath):
 *
 * Can a device block?  Yes if it, or a device below it, is remote, suspended or shut down; "blocks"
 * is the reason.  A multipath blocks only if all its paths do.
 *
 * May a device be probed?  Not if it blocks, is removable, or is held by another device: the
 * contents of a member are not those of the file system, and a path of a multipath may hang.  The
 * same holds for the disk of a partition, which must be read for PARTUUID.
 *
 * The state can change afterwards; callers that must not block use the prober.
 */
#include "devmap/devmap_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char why_remote[] = "remote";

/** Whether a name is a prefix followed by a digit, or by anything after '!'. */
static bool devmap_name_is_kind(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncmp(name, prefix, n) == 0
	       && (prefix[n - 1] == '!' || isdigit((unsigned char)name[n]));
}

/** Whether the sysfs name of a device is of a kind. */
static bool devmap_is_kind(struct devmap *map, struct devmap_dev *dev, const char *prefix)
{
	return devmap_name_is_kind(devmap_kname(map, dev), prefix);
}

/** Whether I/O to a device leaves this kernel. */
static bool devmap_is_remote(struct devmap *map, struct devmap_dev *dev)
{
	static const char *const kinds[] = {
		"nbd", "rbd", "drbd", "rnbd", "etherd!",
		"ublkb",   /* a process serves it */
		"zd",      /* a zfs volume; zfs is not touched either */
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i) {
		if (devmap_is_kind(map, dev, kinds[i]))
			return true;
	}
	return dev->iscsi;
}

/** The path from a device's attributes to those of its disk. */
static const char *devmap_disk(const struct devmap_dev *dev)
{
	return dev->partition ? "../" : "";
}

/** Read an attribute of the disk. */
static ssize_t devmap_disk_attr(struct devmap *map, const struct devmap_dev *dev, const char *attr,
                                char *buf, size_t size)
{
	char path[DEVMAP_PATH_MAX];
	if (!devmap_path(path, sizeof(path), "%s%s", devmap_disk(dev), attr))
		return -1;
	return devmap_attr(map, dev, path, buf, size);
}

/** The controllers of an NVMe namespace with native multipath. */
struct devmap_nvme {
	const struct devmap_dev *dev;
	bool remote, any, live;
};

static bool devmap_each_nvme(struct devmap *map, const char *name, void *arg)
{
	struct devmap_nvme *nvme = arg;
	char path[DEVMAP_PATH_MAX], buf[64];
	if (!devmap_name_is_kind(name, "nvme")
	    || !devmap_path(path, sizeof(path), "device/%s/transport", name)
	    || devmap_disk_attr(map, nvme->dev, path, buf, sizeof(buf)) < 0)
		return true;
	nvme->any = true;
	nvme->remote |= strcmp(buf, "pcie") != 0 && strcmp(buf, "apple-nvme") != 0;
	if (devmap_path(path, sizeof(path), "device/%s/state", name)
	    && devmap_disk_attr(map, nvme->dev, path, buf, sizeof(buf)) >= 0)
		nvme->live |= strcmp(buf, "live") == 0;
	return true;
}

static const char *devmap_judge_nvme(struct devmap *map, const struct devmap_dev *dev)
{
	char path[DEVMAP_PATH_MAX], buf[64];
	if (devmap_disk_attr(map, dev, "device/transport", buf, sizeof(buf)) >= 0)
		return strcmp(buf, "pcie") == 0 || strcmp(buf, "apple-nvme") == 0 ? NULL
		                                                                  : why_remote;

	/* "/.": the directory is a link. */
	struct devmap_nvme nvme = {.dev = dev};
	if (!devmap_path(path, sizeof(path), "dev/block/%u:%u/%sdevice/.", dev->major, dev->minor,
	                 devmap_disk(dev))
	    || devmap_each(map, path, devmap_each_nvme, &nvme) != 0)
		return NULL;
	if (nvme.remote)
		return why_remote;
	return nvme.any && !nvme.live ? "no live controller" : NULL;
}

/** Whether an attribute exists and has none of the good values. */
static bool devmap_bad_state(struct devmap *map, const struct devmap_dev *dev, const char *attr,
                             const char *const *good)
{
	char buf[64];
	if (devmap_disk_attr(map, dev, attr, buf, sizeof(buf)) < 0)
		return false;
	for (; *good; ++good) {
		if (strcasecmp(buf, *good) == 0)
			return false;
	}
	return true;
}

/** The devices below a device. */
struct devmap_slaves {
	struct devmap_dev *dev;
	size_t count, blocked;
	bool remote;
	const char *why;
	int depth;
};

static void devmap_judge_at(struct devmap *map, struct devmap_dev *dev, int depth);

static bool devmap_each_slave(struct devmap *map, const char *name, void *arg)
{
	struct devmap_slaves *slaves = arg;
	char path[DEVMAP_PATH_MAX];
	if (!devmap_path(path, sizeof(path), "dev/block/%u:%u/%sslaves/%s/dev", slaves->dev->major,
	                 slaves->dev->minor, devmap_disk(slaves->dev), name))
		return true;
	struct devmap_dev *slave = devmap_dev_at(map, path);
	const char *why = "on an unknown device";
	if (slave) {
		devmap_judge_at(map, slave, slaves->depth + 1);
		slaves->dev->removable |= slave->removable;
		why = slave->blocks;
		if (!devmap_add_below(map, &slaves->dev->below, slave))
			return false;
	}
	++slaves->count;
	if (why) {
		++slaves->blocked;
		if (!slaves->remote)
			slaves->why = why;
		slaves->remote |= why == why_remote;
	}
	return true;
}

static const char *devmap_judge_slaves(struct devmap *map, struct devmap_dev *dev, int depth)
{
	struct devmap_slaves slaves = {.dev = dev, .depth = depth};
	char path[DEVMAP_PATH_MAX], uuid[256];
	if (!devmap_path(path, sizeof(path), "dev/block/%u:%u/%sslaves", dev->major, dev->minor,
	                 devmap_disk(dev))
	    || devmap_each(map, path, devmap_each_slave, &slaves) != 0)
		return NULL;
	bool multipath = devmap_is_kind(map, dev, "dm-")
	                 && devmap_attr(map, dev, "dm/uuid", uuid, sizeof(uuid)) > 0
	                 && strncmp(uuid, "mpath-", 6) == 0;
	if (!multipath || slaves.remote)
		return slaves.why;
	/* Only device mapper reports failed paths, and only to root. */
	char status[DEVMAP_ATTR_MAX];
	bool failed = devmap_paths_status(map, dev, status, sizeof(status)) > 0
	              && devmap_paths_failed(status);
	return failed || slaves.blocked == slaves.count ? "no working path" : NULL;
}

/** Judge a device by one below it, which may be NULL. */
static const char *devmap_judge_below(struct devmap *map, struct devmap_dev *dev,
                                      struct devmap_dev *below, int depth)
{
	if (!below)
		return NULL;
	if (!devmap_add_below(map, &dev->below, below))
		return "out of memory";
	devmap_judge_at(map, below, depth + 1);
	dev->removable |= below->removable;
	return below->blocks;
}

static const char *devmap_judge_loop(struct devmap *map, struct devmap_dev *dev, int depth)
{
	if (!dev->backing) {
		char buf[DEVMAP_ATTR_MAX];
		ssize_t n = devmap_disk_attr(map, dev, "loop/backing_file", buf, sizeof(buf));
		if (n <= 0)
			return n < 0 && errno != ENOENT ? "on an unknown file" : NULL;
		if (!devmap_take_file(map, dev, buf, (size_t)n))
			return "out of memory";
	}
	if (map->judge && map->judge(map->judge_arg, dev->way, dev->major, dev->minor))
		return "on a file that can block";
	if (strncmp(dev->backing, "/dev/", 5) != 0)
		return NULL;
	return devmap_judge_below(map, dev, devmap_by_name(map, dev->backing + 5), depth);
}

/** Judge a zram device by its backing device, if it has one. */
static const char *devmap_judge_zram(struct devmap *map, struct devmap_dev *dev, int depth)
{
	char buf[DEVMAP_ATTR_MAX];
	if (devmap_disk_attr(map, dev, "backing_dev", buf, sizeof(buf)) <= 0
	    || strcmp(buf, "none") == 0)
		return NULL;
	struct devmap_dev *below = NULL;
	if (strncmp(buf, "/dev/", 5) == 0)
		below = devmap_by_name(map, buf + 5);
	return below ? devmap_judge_below(map, dev, below, depth) : "on an unknown device";
}

struct devmap_dev *devmap_whole(struct devmap *map, const struct devmap_dev *dev)
{
	char path[DEVMAP_PATH_MAX], buf[16];
	if (devmap_attr(map, dev, "partition", buf, sizeof(buf)) <= 0
	    || !devmap_path(path, sizeof(path), "dev/block/%u:%u/../dev", dev->major, dev->minor))
		return NULL;
	return devmap_dev_at(map, path);
}

/** Whether devmap_avoid() was called for a device or its disk. */
static bool devmap_is_avoided(struct devmap *map, const struct devmap_dev *dev)
{
	if (!map->avoids || dev->avoided)
		return dev->avoided;
	const struct devmap_dev *disk = dev->partition ? devmap_whole(map, dev) : NULL;
	return disk && disk->avoided;
}

/** Why I/O to a device could block, or NULL. */
static const char *devmap_judge_kind(struct devmap *map, struct devmap_dev *dev, int depth)
{
	static const char *const running[] = {"running", "live", "connected", NULL};
	static const char *const serving[] = {
		"readonly", "read-auto", "clean", "active", "write-pending", "active-idle", NULL,
	};
	if (devmap_is_remote(map, dev))
		return why_remote;
	if (devmap_is_avoided(map, dev))
		return "does not answer";
	if (devmap_is_kind(map, dev, "dm-")) {
		if (devmap_flag(map, dev, "dm/suspended"))
			return "suspended";
	} else if (strncmp(devmap_kname(map, dev), "md", 2) == 0) {
		if (devmap_bad_state(map, dev, "md/array_state", serving))
			return "array not active";
	} else if (devmap_is_kind(map, dev, "loop")) {
		return devmap_judge_loop(map, dev, depth);
	} else if (devmap_is_kind(map, dev, "zram")) {
		return devmap_judge_zram(map, dev, depth);
	} else if (devmap_is_kind(map, dev, "nvme")) {
		const char *why = devmap_judge_nvme(map, dev);
		if (why)
			return why;
	}
	if (dev->virtual)
		return devmap_judge_slaves(map, dev, depth);
	return devmap_bad_state(map, dev, "device/state", running) ? "offline" : NULL;
}

/** Whether a driver's devices are on files or servers; for devices that sysfs does not have. */
static bool devmap_stands_on_others(uint32_t major)
{
	return major == 7 /* loop */ || major == 43 /* nbd */ || major == 147 /* drbd */;
}

static void devmap_judge_at(struct devmap *map, struct devmap_dev *dev, int depth)
{
	/* A cycle of devices ends here. */
	if (dev->judging || (dev->judged && (dev->removable_known || !map->opening)))
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
			dev->partition = devmap_attr(map, dev, "partition", buf, sizeof(buf)) > 0;
		dev->looked = !map->unread;
		if (map->opening && !dev->removable_known) {
			bool unread = map->unread;
			map->unread = false;
			ssize_t n = devmap_disk_attr(map, dev, "removable", buf, sizeof(buf));
			/* If unknown, the device is not opened; it may still not block. */
			dev->removable = (n > 0 && buf[0] == '1') || map->unread;
			map->unread = unread;
		}
		dev->removable_known = map->opening;
		dev->below = NULL;
		dev->blocks = devmap_judge_kind(map, dev, depth);
		dev->judging = false;
		dev->judged = true;
	}
	if (map->unread && !dev->blocks)
		dev->blocks = "state unreadable";
	map->unread = before;
}

void devmap_judge(struct devmap *map, struct devmap_dev *dev)
{
	devmap_judge_at(map, dev, 0);
}

bool devmap_remote(struct devmap *map, uint32_t major, uint32_t minor)
{
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	if (!dev)
		return false;
	devmap_judge(map, dev);
	/* Devices served by a local process need not need the network. */
	return dev->blocks == why_remote && !devmap_is_kind(map, dev, "ublkb")
	       && !devmap_is_kind(map, dev, "zd");
}

bool devmap_crypt(struct devmap *map, uint32_t major, uint32_t minor)
{
	char uuid[256];
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	return dev && devmap_is_kind(map, dev, "dm-")
	       && devmap_attr(map, dev, "dm/uuid", uuid, sizeof(uuid)) > 0
	       && strncmp(uuid, "CRYPT-", 6) == 0;
}

bool devmap_protected(struct devmap *map, uint32_t major, uint32_t minor)
{
	const struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	return dev && devmap_flag(map, dev, "ro");
}

/** A numeric attribute of a loop device; 0 if it does not exist. */
static uint64_t devmap_loop_number(struct devmap *map, const struct devmap_dev *dev,
                                   const char *attr)
{
	char buf[32];
	ssize_t n = devmap_disk_attr(map, dev, attr, buf, sizeof(buf));
	return n > 0 ? strtoull(buf, NULL, 10) : 0;
}

bool devmap_loop(struct devmap *map, uint32_t major, uint32_t minor, struct devmap_loop *loop)
{
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	if (dev)
		devmap_judge(map, dev);
	if (!dev || !dev->backing)
		return false;
	if (!dev->loop_read) {
		dev->loop_offset = devmap_loop_number(map, dev, "loop/offset");
		dev->loop_limit = devmap_loop_number(map, dev, "loop/sizelimit");
		dev->loop_read = true;
	}
	*loop = (struct devmap_loop){
		.file = dev->backing, .partition = dev->partition,
		.offset = dev->loop_offset, .limit = dev->loop_limit,
	};
	return true;
}

/** A device that holds another. */
struct devmap_holder {
	const char *dir;         /* of the device, below the sysfs root */
	const char *why;
};

static bool devmap_each_holder(struct devmap *map, const char *name, void *arg)
{
	struct devmap_holder *holder = arg;
	char path[DEVMAP_PATH_MAX], uuid[256];
	holder->why = "held by another device";
	if (devmap_name_is_kind(name, "bcache")) {
		holder->why = "member of bcache";
	} else if (devmap_name_is_kind(name, "dm-")) {
		if (devmap_path(path, sizeof(path), "%s/holders/%s/dm/uuid", holder->dir, name)
		    && devmap_read(map, uuid, sizeof(uuid), path) > 0) {
			if (strncmp(uuid, "mpath-", 6) == 0)
				holder->why = "path of a multipath";
			else if (strncmp(uuid, "LVM-", 4) == 0)
				holder->why = "member of LVM";
		}
	} else if (strncmp(name, "md", 2) == 0) {
		holder->why = "member of md";
	}
	return false;
}

/** Why the device of a sysfs directory is held, or NULL. */
static const char *devmap_held(struct devmap *map, struct devmap_dev *dev, const char *dir)
{
	struct devmap_holder holder = {.dir = dir};
	char path[DEVMAP_PATH_MAX];
	if (devmap_path(path, sizeof(path), "%s/holders", dir))
		devmap_each(map, path, devmap_each_holder, &holder);
	/* A member without a holder yet; bcache0 itself also has an entry of this name. */
	if (!holder.why && !devmap_is_kind(map, dev, "bcache")
	    && devmap_path(path, sizeof(path), "%s/bcache", dir) && devmap_exists(map, path))
		holder.why = "member of bcache";
	return holder.why;
}

const char *devmap_part(struct devmap *map, uint32_t major, uint32_t minor)
{
	struct devmap_dev *dev = devmap_get(map, major, minor);
	if (!dev || !dev->told || !*devmap_kname(map, dev))
		return NULL;
	bool unread = map->unread;
	char dir[64];
	struct devmap_dev *disk = devmap_whole(map, dev);
	const char *why = dev->part ? dev->part : disk ? disk->part : NULL;
	/* An open LUKS device is held, but its label is its own. */
	bool crypto = dev->tags.usage && strcmp(dev->tags.usage, "crypto") == 0;
	if (!why && !crypto && devmap_path(dir, sizeof(dir), "dev/block/%u:%u", major, minor))
		why = devmap_held(map, dev, dir);
	if (!why && disk
	    && devmap_path(dir, sizeof(dir), "dev/block/%u:%u", disk->major, disk->minor))
		why = devmap_held(map, disk, dir);
	map->unread = unread;
	return why;
}

/** Whether a dm device is internal to LVM: LVM-<64 bytes>-tmeta. */
static bool devmap_is_private(struct devmap *map, struct devmap_dev *dev)
{
	char uuid[256];
	return devmap_is_kind(map, dev, "dm-")
	       && devmap_attr(map, dev, "dm/uuid", uuid, sizeof(uuid)) > 0
	       && strncmp(uuid, "LVM-", 4) == 0 && strlen(uuid) > 4 + 64 && uuid[4 + 64] == '-';
}

const char *devmap_unsafe(struct devmap *map, struct devmap_dev *dev)
{
	char dir[64], size[32];
	if (!devmap_path(dir, sizeof(dir), "dev/block/%u:%u", dev->major, dev->minor))
		return "no such device";
	map->unread = false;
	map->opening = true;
	devmap_judge(map, dev);
	if (dev->blocks)
		return dev->blocks;
	if (dev->removable)
		return "removable media";
	if (devmap_is_kind(map, dev, "loop") && !dev->backing)
		return "no backing file";
	if (devmap_attr(map, dev, "size", size, sizeof(size)) > 0 && strcmp(size, "0") == 0)
		return "size 0";
	if (devmap_is_private(map, dev))
		return "internal to LVM";
	const char *why = devmap_held(map, dev, dir);
	if (!why && dev->partition
	    && devmap_path(dir, sizeof(dir), "dev/block/%u:%u/..", dev->major, dev->minor))
		why = devmap_held(map, dev, dir);
	return !why && map->unread ? "state unreadable" : why;
}
