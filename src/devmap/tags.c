/* SPDX-License-Identifier: MIT */
/*
 * The identifiers of a device from their sources, in order of preference; lists of devices.
 */
#include "devmap/devmap_impl.h"

#include "base/array.h"
#include "base/words.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

/** Read the file of a device in the udev database. */
static void devmap_read_udev(struct devmap *map, const struct devmap_dev *dev,
                             struct devmap_tags *tags, struct devmap_udev *udev)
{
	char path[DEVMAP_PATH_MAX], *text;
	size_t len;
	if (!devmap_at(path, sizeof(path), map->roots.run, "udev/data/b%u:%u", dev->major,
	               dev->minor))
		return;
	if (os_read_file(map->os, AT_FDCWD, path, DEVMAP_UDEV_MAX, &text, &len) == 0) {
		devmap_parse_udev(map, text, len, tags, udev);
		free(text);
	} else {
		devmap_note(map, path);
	}
	if (tags->type && !tags->usage)
		tags->usage = devmap_usage(tags->type);
}

/** Read the tags of a mounted btrfs from sysfs.  @return whether that succeeded. */
static bool devmap_read_btrfs(struct devmap *map, struct devmap_dev *dev, struct devmap_tags *tags)
{
	char uuid[37], buf[DEVMAP_ATTR_MAX];
	/* A clone that is mounted together with its original has a temporary UUID. */
	if (!devmap_btrfs(map, dev, NULL, uuid)
	    || (devmap_read(map, buf, sizeof(buf), "fs/btrfs/%s/temp_fsid", uuid) > 0
	        && buf[0] == '1'))
		return false;
	tags->type = "btrfs";
	tags->usage = "filesystem";
	tags->uuid = arena_strndup(&map->arena, uuid, 36);
	ssize_t n = devmap_read(map, buf, sizeof(buf), "fs/btrfs/%s/label", uuid);
	tags->label = n > 0 ? arena_strndup(&map->arena, buf, (size_t)n) : NULL;
	return true;
}

/** Whether a device is one of several devices of a mounted btrfs. */
static bool devmap_is_multi(struct devmap *map, struct devmap_dev *dev, const char *known)
{
	struct devmap_dir dir;
	char uuid[37];
	size_t count = 0;
	if (!devmap_btrfs(map, dev, known, uuid))
		return false;
	devmap_dir_open(map, &dir, "fs/btrfs/%s/devices", uuid);
	while (devmap_dir_next(map, &dir))
		++count;
	return dir.os.error == 0 && count > 1;
}

/** Read PARTUUID from uevent, which contains it since Linux 6.9. */
static void devmap_read_uevent(struct devmap *map, const struct devmap_dev *dev,
                               struct devmap_tags *tags)
{
	static const char key[] = "\nPARTUUID=";
	char buf[DEVMAP_ATTR_MAX];
	if (devmap_attr(map, dev, buf, sizeof(buf), "uevent") < 0)
		return;
	const char *at = strstr(buf, key);
	size_t n = at ? strcspn(at + sizeof(key) - 1, "\n") : 0;
	if (n > 0 && n < DEVMAP_TAG_MAX)
		tags->partuuid = arena_strndup(&map->arena, at + sizeof(key) - 1, n);
}

/** Whether the zfs module is loaded.  sysfs shows no holders for members of zfs. */
static bool devmap_has_zfs(struct devmap *map)
{
	if (map->zfs < 0) {
		map->unread = false;
		map->zfs = devmap_exists(map, "module/zfs") || map->unread;
	}
	return map->zfs;
}

/** Whether the tags identify a device as a member of another device. */
static bool devmap_is_member(const struct devmap_tags *tags)
{
	/* libblkid reports the usage of zfs_member as "filesystem". */
	return (tags->usage && strcmp(tags->usage, "raid") == 0)
	       || strcmp(tags->type, "bcache") == 0 || word_ends(tags->type, "_member");
}

/** Read identifiers from their sources, in order of preference. */
static void devmap_read_tags(struct devmap *map, struct devmap_dev *dev, bool wanted,
                             struct devmap_tags *tags)
{
	struct devmap_udev udev = {0};
	devmap_read_udev(map, dev, tags, &udev);
	if (udev.path)
		dev->part = "path of a multipath";
	if (tags->type || udev.ambivalent) {
		tags->known = udev.ambivalent ? DEVMAP_AMBIVALENT : DEVMAP_KNOWN;
		return;
	}

	struct devmap_tags cached = {0};
	bool has_cached = devmap_cached(map, dev, &cached);
	const char *why = udev.unsafe ? udev.unsafe : devmap_unsafe(map, dev);
	if (!why && has_cached && cached.usage && strcmp(cached.usage, "raid") == 0)
		why = "member of another device, by the cache of libblkid";
	if (!why && !wanted && devmap_has_zfs(map))
		why = "possibly a member of zfs";
	if (!why) {
		tags->known = devmap_probe(map, dev, tags);
		if (tags->known == DEVMAP_KNOWN || tags->known == DEVMAP_UNTAGGED
		    || tags->known == DEVMAP_AMBIVALENT || tags->known == DEVMAP_FAILED)
			return;
	} else {
		tags->known = DEVMAP_UNSAFE;
		tags->reason = why;
	}

	/* The device was not probed, or the probe failed. */
	struct devmap_tags btrfs = {0};
	const struct devmap_tags *found = has_cached ? &cached : NULL;
	if (devmap_read_btrfs(map, dev, &btrfs))
		found = &btrfs;
	if (!found)
		return;
	tags->known = DEVMAP_KNOWN;
	tags->reason = NULL;
	tags->type = found->type;
	tags->usage = found->usage;
	tags->uuid = found->uuid;
	tags->label = found->label;
	if (!tags->partuuid)
		tags->partuuid = cached.partuuid;
	if (!tags->partlabel)
		tags->partlabel = cached.partlabel;
}

/** Read the tags of a device.
    @wanted  The device itself was requested; false: it is part of a list.
    @return the tags, or NULL.  Errors: ENOMEM. */
static const struct devmap_tags *devmap_dev_tags(struct devmap *map, struct devmap_dev *dev,
                                                 bool wanted)
{
	if (dev->tagged)
		return &dev->tags;
	struct devmap_tags tags = {.known = DEVMAP_NO_DEVICE};
	devmap_read_name(map, dev);
	tags.name = dev->name;
	if (*devmap_kname(map, dev)) {
		devmap_read_tags(map, dev, wanted, &tags);
		assert((tags.known == DEVMAP_UNSAFE) == (tags.reason != NULL));
		assert(tags.known != DEVMAP_KNOWN || tags.type);
		if (!tags.partuuid)
			devmap_read_uevent(map, dev, &tags);
		if (!dev->part && tags.type && devmap_is_member(&tags))
			dev->part = "member of another device";
		if (tags.type && strcmp(tags.type, "btrfs") == 0 && tags.uuid)
			tags.multi_device = devmap_is_multi(map, dev, tags.uuid);
	}
	if (map->arena.failed)
		return fail_null(ENOMEM);
	dev->tags = tags;
	dev->has_tags = true;
	/* A device that was not probed for a list may still be requested itself. */
	dev->tagged = wanted || tags.known != DEVMAP_UNSAFE;
	return &dev->tags;
}

const struct devmap_tags *devmap_tags(struct devmap *map, uint32_t major, uint32_t minor)
{
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	errno = ENOMEM;
	return map->arena.failed ? NULL : dev ? devmap_dev_tags(map, dev, true) : &map->anonymous;
}

const struct devmap_tags *devmap_mount_tags(struct devmap *map, const struct mount *m)
{
	struct devmap_dev *dev = devmap_of_mount(map, m);
	errno = ENOMEM;
	const struct devmap_tags *tags = map->arena.failed ? NULL : &map->anonymous;
	if (tags && dev)
		tags = devmap_dev_tags(map, dev, true);
	/* The source is an arbitrary string: check the type as well. */
	bool multi = tags && tags->type
	             && (!strcmp(tags->type, "btrfs") || !strcmp(tags->type, "bcachefs"));
	return m->dev_major != 0 || !tags || multi ? tags : &map->anonymous;
}

/** List all devices except empty ones and RAM disks.
    @devs [out]  The caller frees it.  @return their number; or -1 with errno. */
static ssize_t devmap_list_devs(struct devmap *map, struct devmap_dev ***devs)
{
	struct devmap_dir dir;
	size_t count = 0, room = 0;
	char size[32];
	*devs = NULL;
	devmap_dir_open(map, &dir, "class/block");
	for (const char *name; !map->arena.failed && (name = devmap_dir_next(map, &dir)) != NULL;) {
		if (strncmp(name, "ram", 3) == 0 || strncmp(name, "zram", 4) == 0
		    || devmap_read(map, size, sizeof(size), "class/block/%s/size", name) <= 0
		    || strcmp(size, "0") == 0)
			continue;
		struct devmap_dev *dev = devmap_dev_at(map, "class/block/%s/dev", name);
		if (dev && ARRAY_ROOM(*devs, count, &room))
			(*devs)[count++] = dev;
		else
			map->arena.failed |= dev != NULL;
	}
	devmap_dir_close(map, &dir);
	errno = map->arena.failed ? ENOMEM : dir.os.error;
	return errno ? -1 : (ssize_t)count;
}

static int devmap_by_number(const void *a, const void *b)
{
	const struct devmap_dev *x = *(struct devmap_dev *const *)a;
	const struct devmap_dev *y = *(struct devmap_dev *const *)b;
	if (x->major != y->major)
		return x->major < y->major ? -1 : 1;
	return x->minor < y->minor ? -1 : x->minor > y->minor;
}

ssize_t devmap_list(struct devmap *map, bool all, struct devmap_device **devices, bool *whole)
{
	struct devmap_dev **devs;
	ssize_t n = devmap_list_devs(map, &devs), count = 0;
	struct devmap_device *list = n < 0 ? NULL : malloc(((size_t)n + 1) * sizeof(*list));
	map->arena.failed |= n >= 0 && !list;
	if (n > 0)
		qsort(devs, (size_t)n, sizeof(*devs), devmap_by_number);
	*whole = true;
	for (ssize_t i = 0; i < n && !map->arena.failed; ++i) {
		const struct devmap_dev *dev = devs[i];
		const struct devmap_tags *tags = devmap_dev_tags(map, devs[i], false);
		if (!tags)
			break;
		bool fs = tags->usage && strcmp(tags->usage, "filesystem") == 0;
		*whole &= tags->known == DEVMAP_KNOWN || tags->known == DEVMAP_UNTAGGED;
		bool known = tags->known == DEVMAP_KNOWN
		             || (all && (tags->partuuid || tags->partlabel));
		if (known && (all || fs))
			list[count++] = (struct devmap_device){dev->major, dev->minor, tags};
	}
	free(devs);
	if (n >= 0 && !map->arena.failed) {
		*devices = list;
		return count;
	}
	free(list);
	return fail(map->arena.failed ? ENOMEM : errno);
}
