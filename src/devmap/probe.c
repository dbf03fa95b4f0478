/* SPDX-License-Identifier: MIT */
#include "devmap/devmap_impl.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

/** Open a name below /dev, but not through a magic link of /proc, such as /dev/fd. */
static int devmap_node_open(struct devmap *map, const char *name, int flags)
{
	if (!map->roots.dev || !devmap_is_subpath(name) || strncmp(name, "fd/", 3) == 0
	    || strncmp(name, "std", 3) == 0)
		return fail(ENOENT);
	int dir = os_openat(map->os, AT_FDCWD, map->roots.dev, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return -1;
	int fd = os_openat2(map->os, dir, name, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
	if (fd < 0 && errno == ENOSYS)
		fd = os_openat(map->os, dir, name, flags);
	os_close(map->os, dir);
	return fd;
}

/** Open a node if it has this type and number.  Check before opening, since opening another device
    may have side effects, and again afterwards. */
static int devmap_open_node(struct devmap *map, const char *name, unsigned type, uint32_t major,
                            uint32_t minor, int flags)
{
	int fd = -1;
	for (int pass = 0; pass < 2; ++pass) {
		uint32_t its_major, its_minor;
		os_close(map->os, fd);
		fd = devmap_node_open(map, name, pass ? flags | O_NONBLOCK | O_NOCTTY : O_PATH);
		if (fd < 0)
			return -1;
		unsigned its_type = os_file_type(map->os, fd, &its_major, &its_minor);
		if (its_type == type && its_major == major && its_minor == minor)
			continue;
		if (its_type)
			errno = its_type == type ? ENOENT : ENOTBLK;
		os_close(map->os, fd);
		return -1;
	}
	return fd;
}

ssize_t devmap_paths_status(struct devmap *map, const struct devmap_dev *dev, char *buf,
                            size_t size)
{
	enum { MISC = 10, DM_CONTROL = 236 };
	int fd = devmap_open_node(map, "mapper/control", S_IFCHR, MISC, DM_CONTROL, O_RDWR);
	ssize_t n = fd < 0 ? -1 : os_dm_status(map->os, fd, dev->major, dev->minor, buf, size);
	os_close(map->os, fd);
	return n;
}

int devmap_node_number(struct devmap *map, const char *name, uint32_t *major, uint32_t *minor)
{
	int fd = devmap_node_open(map, name, O_PATH);
	unsigned type = fd < 0 ? 0 : os_file_type(map->os, fd, major, minor);
	os_close(map->os, fd);
	return type == S_IFBLK ? 0 : -1;
}

static int devmap_open(struct devmap *map, struct devmap_dev *dev)
{
	devmap_read_name(map, dev);
	errno = ENOENT;
	int fd = -1;
	if (dev->name)
		fd = devmap_open_node(map, dev->name + strlen("/dev/"), S_IFBLK, dev->major,
		                      dev->minor, O_RDONLY);
	/* Without udev, /dev/mapper may be empty: use the kernel's name. */
	if (fd < 0 && errno == ENOENT && dev->name && strncmp(dev->name, "/dev/mapper/", 12) == 0)
		fd = devmap_open_node(map, devmap_kname(map, dev), S_IFBLK, dev->major, dev->minor,
		                      O_RDONLY);
	return fd;
}

/** The state that errno of a failed open means. */
static enum devmap_known devmap_errno_known(int error)
{
	return error == EACCES || error == EPERM ? DEVMAP_DENIED
	       : error == ENXIO || error == ENODEV || error == ENOMEDIUM ? DEVMAP_NO_DEVICE
	       : error == ENOENT || error == ENOTDIR || error == ENOTBLK || error == ELOOP
	                       || error == EXDEV ? DEVMAP_NO_NODE : DEVMAP_FAILED;
}

/** Set a tag that is still NULL. */
static void devmap_found(struct devmap *map, const char **tag, const char *value)
{
	size_t n = value ? strnlen(value, DEVMAP_TAG_MAX) : 0;
	if (!*tag && n > 0 && n < DEVMAP_TAG_MAX)
		*tag = arena_strndup(&map->arena, value, n);
}

/** Find the signature of a file system, swap area or the like. */
static enum devmap_known devmap_probe_superblocks(struct devmap *map, int fd,
                                                  struct devmap_tags *tags)
{
	blkid_probe probe = blkid_new_probe();
	if (!probe) {
		arena_fail(&map->arena);
		return DEVMAP_FAILED;
	}
	enum devmap_known known = DEVMAP_FAILED;
	int flags = BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID | BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE;
	if (blkid_probe_set_device(probe, fd, 0, 0) != 0
	    || blkid_probe_enable_superblocks(probe, 1) != 0
	    || blkid_probe_set_superblocks_flags(probe, flags) != 0)
		goto out;
	int found = blkid_do_safeprobe(probe);
	known = found == 1 ? DEVMAP_UNTAGGED : found == -2 ? DEVMAP_AMBIVALENT : DEVMAP_FAILED;
	if (found != 0)
		goto out;

	struct {
		const char *key;
		const char **tag;
	} const keys[] = {
		{"TYPE", &tags->type}, {"USAGE", &tags->usage}, {"UUID", &tags->uuid},
		{"LABEL", &tags->label}, {"UUID_SUB", &tags->uuid_sub},
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); ++i) {
		const char *value = NULL;
		if (blkid_probe_lookup_value(probe, keys[i].key, &value, NULL) == 0)
			devmap_found(map, keys[i].tag, value);
	}
	known = tags->type ? DEVMAP_KNOWN : DEVMAP_UNTAGGED;
out:
	blkid_free_probe(probe);
	return known;
}

/** A numeric attribute, or -1. */
static long long devmap_number(struct devmap *map, const struct devmap_dev *dev, const char *attr)
{
	char buf[32];
	if (devmap_attr(map, dev, buf, sizeof(buf), "%s", attr) <= 0)
		return -1;
	char *end;
	errno = 0;
	long long n = strtoll(buf, &end, 10);
	return errno != 0 || *end || n < 0 ? -1 : n;
}

/**
 * Find a partition in the partition table of its disk.
 *
 * libblkid could do so itself (BLKID_PARTS_ENTRY_DETAILS), but would open the first node in /dev
 * that it finds for the disk.
 */
static void devmap_probe_partition(struct devmap *map, struct devmap_dev *dev,
                                   struct devmap_tags *tags)
{
	long long number = devmap_number(map, dev, "partition");
	long long start = devmap_number(map, dev, "start");
	if (number <= 0 || number > 65535 || start < 0)
		return;
	struct devmap_dev *disk = devmap_whole(map, dev);
	int fd = disk ? devmap_open(map, disk) : -1;
	if (fd < 0)
		return;
	blkid_probe probe = blkid_new_probe();
	if (!probe) {
		arena_fail(&map->arena);
		goto out;
	}
	if (blkid_probe_set_device(probe, fd, 0, 0) != 0
	    || blkid_probe_enable_superblocks(probe, 0) != 0
	    || blkid_probe_enable_partitions(probe, 1) != 0)
		goto out;
	blkid_partlist list = blkid_probe_get_partitions(probe);
	blkid_partition entry = NULL;
	if (list)
		entry = blkid_partlist_get_partition_by_partno(list, (int)number);
	/* Both values are in units of 512 bytes. */
	if (entry && blkid_partition_get_start(entry) == start) {
		devmap_found(map, &tags->partuuid, blkid_partition_get_uuid(entry));
		devmap_found(map, &tags->partlabel, blkid_partition_get_name(entry));
	}
out:
	blkid_free_probe(probe);
	os_close(map->os, fd);
}

enum devmap_known devmap_probe(struct devmap *map, struct devmap_dev *dev,
                               struct devmap_tags *tags)
{
	int fd = devmap_open(map, dev);
	if (fd < 0)
		return devmap_errno_known(errno);
	enum devmap_known known = devmap_probe_superblocks(map, fd, tags);
	os_close(map->os, fd);
	if (dev->partition && (!tags->partuuid || !tags->partlabel))
		devmap_probe_partition(map, dev, tags);
	return known;
}
