/* SPDX-License-Identifier: MIT */
#include "devmap/devmap_impl.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** Open a name below /dev, but not through a magic link of /proc such as /dev/fd. */
static int devmap_node_open(struct devmap *map, const char *name, int flags)
{
	if (!map->roots.dev || !devmap_is_subpath(name) || strncmp(name, "fd/", 3) == 0
	    || strncmp(name, "std", 3) == 0) {
		errno = ENOENT;
		return -1;
	}
	int dir = os_openat(map->os, AT_FDCWD, map->roots.dev, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return -1;
	int fd = os_openat2(map->os, dir, name, flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
	if (fd < 0 && errno == ENOSYS)
		fd = os_openat(map->os, dir, name, flags);
	os_close(map->os, dir);
	return fd;
}

/** The number of an open block device.  @return 0, or -1 with ENOTBLK. */
static int devmap_fd_number(struct devmap *map, int fd, uint32_t *major, uint32_t *minor)
{
	unsigned type = os_file_type(map->os, fd, major, minor);
	if (type != S_IFBLK) {
		if (type != 0)
			errno = ENOTBLK;
		return -1;
	}
	return 0;
}

ssize_t devmap_paths_status(struct devmap *map, const struct devmap_dev *dev, char *buf,
                            size_t size)
{
	enum { MISC = 10, DM_CONTROL = 236 };
	static const char name[] = "mapper/control";
	uint32_t major, minor;
	/* Check the number before opening it. */
	int fd = devmap_node_open(map, name, O_PATH);
	if (fd < 0)
		return -1;
	unsigned type = os_file_type(map->os, fd, &major, &minor);
	os_close(map->os, fd);
	if (type != S_IFCHR || major != MISC || minor != DM_CONTROL) {
		errno = ENOENT;
		return -1;
	}
	fd = devmap_node_open(map, name, O_RDWR | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	ssize_t n = os_dm_status(map->os, fd, dev->major, dev->minor, buf, size);
	os_close(map->os, fd);
	return n;
}

int devmap_node_number(struct devmap *map, const char *name, uint32_t *major, uint32_t *minor)
{
	int fd = devmap_node_open(map, name, O_PATH);
	if (fd < 0)
		return -1;
	int rc = devmap_fd_number(map, fd, major, minor);
	os_close(map->os, fd);
	return rc;
}

/** Open a name for reading if it is the node of a device. */
static int devmap_open_name(struct devmap *map, const struct devmap_dev *dev, const char *name)
{
	/* Check the number first: opening another device may have side effects. */
	uint32_t major, minor;
	if (devmap_node_number(map, name, &major, &minor) != 0)
		return -1;
	int fd = -1;
	if (major == dev->major && minor == dev->minor)
		fd = devmap_node_open(map, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	else
		errno = ENOENT;
	if (fd >= 0 && (devmap_fd_number(map, fd, &major, &minor) != 0 || major != dev->major
	                || minor != dev->minor)) {
		os_close(map->os, fd);
		errno = ENOENT;
		return -1;
	}
	return fd;
}

static int devmap_open(struct devmap *map, struct devmap_dev *dev)
{
	devmap_read_name(map, dev);
	if (!dev->name) {
		errno = ENOENT;
		return -1;
	}
	int fd = devmap_open_name(map, dev, dev->name + strlen("/dev/"));
	/* Without udev, /dev/mapper may be empty. */
	if (fd < 0 && errno == ENOENT && strncmp(dev->name, "/dev/mapper/", 12) == 0)
		fd = devmap_open_name(map, dev, devmap_kname(map, dev));
	return fd;
}

/** The meaning of a failed open. */
static enum devmap_known devmap_errno_known(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return DEVMAP_DENIED;
	case ENXIO:
	case ENODEV:
	case ENOMEDIUM:
		return DEVMAP_NO_DEVICE;
	case ENOENT:
	case ENOTDIR:
	case ENOTBLK:
	case ELOOP:
	case EXDEV:
		return DEVMAP_NO_NODE;
	default:
		return DEVMAP_FAILED;
	}
}

/** Set a tag that is still NULL. */
static void devmap_found(struct devmap *map, const char **tag, const char *value)
{
	size_t n = value ? strnlen(value, DEVMAP_TAG_MAX) : 0;
	if (!*tag && n > 0 && n < DEVMAP_TAG_MAX)
		*tag = devmap_strndup(map, value, n);
}

/** Find the signature of a file system or the like. */
static enum devmap_known devmap_probe_superblocks(struct devmap *map, int fd,
                                                  struct devmap_tags *tags)
{
	blkid_probe probe = blkid_new_probe();
	if (!probe) {
		map->failed = true;
		return DEVMAP_FAILED;
	}
	enum devmap_known known = DEVMAP_FAILED;
	int flags = BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID | BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE;
	if (blkid_probe_set_device(probe, fd, 0, 0) != 0
	    || blkid_probe_enable_superblocks(probe, 1) != 0
	    || blkid_probe_set_superblocks_flags(probe, flags) != 0)
		goto out;
	switch (blkid_do_safeprobe(probe)) {
	case 0:
		break;
	case 1:
		known = DEVMAP_UNTAGGED;
		goto out;
	case -2:
		known = DEVMAP_AMBIVALENT;
		goto out;
	default:
		goto out;
	}

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
		map->failed = true;
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
	/* Both are in units of 512 bytes. */
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
