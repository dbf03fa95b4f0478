/* SPDX-License-Identifier: MIT */
/*
 * The devices of a mount: the device of its number or source, and the other devices of the same
 * file system.
 *
 *     btrfs        all devices of the file system, from sysfs
 *     XFS          its log and its real-time device, from the options logdev= and rtdev=
 *     ext2 to 4    an external journal, from /proc/fs/jbd2, which has a directory for each journal
 *                  in use: "sda1-8" for inode 8 of sda1, "sdb1" for an external journal.  The
 *                  kernel does not show which file system uses an external journal: if a file
 *                  system has no journal of its own, it may be any of them.
 */
#include "devmap/devmap_impl.h"

#include "base/fstypes.h"
#include "mountopts/optlist.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

/** The device with a name below /dev, or NULL. */
static struct devmap_dev *devmap_of_name(struct devmap *map, const char *name)
{
	uint32_t major, minor;
	if (devmap_node_number(map, name, &major, &minor) != 0)
		return devmap_by_name(map, name);
	return major != 0 ? devmap_get(map, major, minor) : NULL;
}

/** The source of a mount whose type has no device number of its own, if it is in /dev. */
static const char *devmap_source(const struct mount *m)
{
	bool named = m->dev_major == 0 && m->source && strncmp(m->source, "/dev/", 5) == 0;
	return named && (!m->fstype || fstype_flags(m->fstype) & FST_SUBVOL) ? m->source : NULL;
}

struct devmap_dev *devmap_of_mount(struct devmap *map, const struct mount *m)
{
	const char *source = devmap_source(m);
	struct devmap_dev *dev = NULL;
	if (m->dev_major != 0 || source)
		dev = devmap_get(map, m->dev_major, m->dev_minor);
	if (!dev || !source)
		return dev;
	/* Mounts with the same anonymous number usually have the same source. */
	if (!dev->source || strcmp(dev->source, source) != 0) {
		dev->of_source = devmap_of_name(map, source + 5);
		dev->source = arena_strndup(&map->arena, source, strlen(source));
	}
	return dev->of_source;
}

bool devmap_mount_device(struct devmap *map, const struct mount *m, uint32_t *major,
                         uint32_t *minor)
{
	const struct devmap_dev *dev = devmap_of_mount(map, m);
	if (!dev)
		return false;
	*major = dev->major;
	*minor = dev->minor;
	return true;
}

void devmap_mount_avoid(struct devmap *map, const struct mount *m)
{
	struct devmap_dev *dev = devmap_of_mount(map, m);
	if (!dev)
		return;
	dev->avoided = map->avoids = true;
	struct devmap_dev *disk = devmap_whole(map, dev);
	if (disk)
		disk->avoided = true;
}

/** Add another device of a file system; NULL: an unknown device. */
static void devmap_add_member(struct devmap *map, struct devmap_dev *of, struct devmap_dev *dev)
{
	if (dev)
		devmap_find_blocking(map, dev);
	of->fs_blocks |= !dev || dev->blocks || !devmap_add_below(map, &of->members, dev);
}

static void devmap_add_btrfs(struct devmap *map, struct devmap_dev *of)
{
	struct devmap_dir dir;
	char uuid[37];
	if (!devmap_btrfs(map, of, NULL, uuid))
		return;
	devmap_dir_open(map, &dir, "fs/btrfs/%s/devices", uuid);
	for (const char *name; (name = devmap_dir_next(map, &dir)) != NULL;)
		devmap_add_member(map, of, devmap_dev_at(map, "fs/btrfs/%s/devices/%s/dev", uuid,
		                                         name));
}

/** Add the devices named by the options of an XFS, or an unknown device. */
static void devmap_add_named(struct devmap *map, struct devmap_dev *of, const char *options)
{
	static const char *const names[] = {"logdev", "rtdev"};
	struct strbuf value = {0};
	of->fs_blocks |= !options;
	for (size_t i = 0; options && i < sizeof(names) / sizeof(*names); ++i) {
		if (!opt_shown_value(options, names[i], &value))
			continue;
		const char *name = strbuf_str(&value);
		bool below = strncmp(name, "/dev/", 5) == 0;
		devmap_add_member(map, of, below ? devmap_of_name(map, name + 5) : NULL);
	}
	map->arena.failed |= value.failed;
	strbuf_destroy(&value);
}

/** List the journals in use. */
static void devmap_read_journals(struct devmap *map)
{
	struct devmap_dir dir;
	char path[DEVMAP_PATH_MAX];
	uint32_t number;
	if (!devmap_at(path, sizeof(path), map->roots.proc, "fs/jbd2"))
		return;
	devmap_dir_begin(map, &dir, os_openat(map->os, AT_FDCWD, path,
	                                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
	for (const char *name; (name = devmap_dir_next(map, &dir)) != NULL;)
		map->arena.failed |= intern_put(&map->journals, name, strlen(name), &number) != 0;
}

/** The length of a name without a final '-' and number. */
static size_t devmap_unnumbered(const char *name)
{
	const char *dash = strrchr(name, '-');
	bool numbered = dash && dash[1] && !dash[1 + strspn(dash + 1, "0123456789")];
	return numbered ? (size_t)(dash - name) : strlen(name);
}

/** Add the devices that may contain the journal of an ext2, ext3 or ext4. */
static void devmap_add_journals(struct devmap *map, struct devmap_dev *of)
{
	char task[32];
	const char *kname = devmap_kname(map, of);
	if (!map->journals_read)
		devmap_read_journals(map);
	map->journals_read = !map->unread;
	for (size_t i = 0; i < map->journals.count; ++i) {
		const char *name = map->journals.of[i];
		size_t n = devmap_unnumbered(name);
		if (name[n] && n == strlen(kname) && !memcmp(name, kname, n))
			return;
	}
	if (map->journals.count
	    && devmap_read(map, task, sizeof(task), "fs/ext4/%s/journal_task", kname) > 0
	    && strcmp(task, "<none>") == 0)
		return;
	for (size_t i = 0; i < map->journals.count; ++i) {
		const char *name = map->journals.of[i];
		struct devmap_dev *dev = devmap_by_name(map, name);
		/* "dm-0" is a device, but "sda1-8" is not. */
		if (dev || !name[devmap_unnumbered(name)])
			devmap_add_member(map, of, dev);
	}
}

bool devmap_mount_blocks(struct devmap *map, const struct mount *m)
{
	unsigned flags = fstype_flags(m->fstype);
	struct devmap_dev *dev = devmap_of_mount(map, m);
	if (!dev)
		return m->dev_major != 0 || devmap_source(m);
	/* 0: not judged yet; a device may have another file system by now. */
	unsigned kind = 1 + (flags & (FST_SUBVOL | FST_OPT_DEVICES | FST_JOURNAL));
	devmap_find_blocking(map, dev);
	if (dev->fs_judged != kind) {
		map->unread = dev->fs_blocks = false;
		dev->members = NULL;
		if (flags & FST_SUBVOL)
			devmap_add_btrfs(map, dev);
		else if (flags & FST_OPT_DEVICES)
			devmap_add_named(map, dev, m->fs_opts);
		else if (flags & FST_JOURNAL)
			devmap_add_journals(map, dev);
		dev->fs_blocks |= map->unread;
		dev->fs_judged = kind;
	}
	return dev->blocks || dev->fs_blocks;
}

/** Add the backing files below a device. */
static void add_files(struct devmap *map, struct devmap_dev *dev, int depth)
{
	if (dev->judging || depth > DEVMAP_DEPTH_MAX)
		return;
	dev->judging = true;
	assert(!dev->backing == !dev->way);
	if (dev->backing)
		ARENA_PUSH(&map->arena, map->files, map->nfiles,
		           (struct devmap_file){dev->way, dev->major, dev->minor});
	for (const struct devmap_below *below = dev->below; below; below = below->next)
		add_files(map, below->dev, depth + 1);
	dev->judging = false;
}

const struct devmap_file *devmap_mount_files(struct devmap *map, const struct mount *m, size_t *n)
{
	struct devmap_dev *dev = devmap_of_mount(map, m);
	map->files = NULL;
	map->nfiles = 0;
	assert(!dev || dev->fs_judged);   /* by devmap_mount_blocks() */
	if (dev)
		add_files(map, dev, 0);
	for (const struct devmap_below *of = dev ? dev->members : NULL; of; of = of->next) {
		if (of->dev != dev)
			add_files(map, of->dev, 0);
	}
	*n = map->nfiles;
	return map->files;
}
