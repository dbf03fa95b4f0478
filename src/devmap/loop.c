/* SPDX-License-Identifier: MIT */
/*
 * The backing files of loop devices, and whether their names refer to them.
 *
 * sysfs shows the path of the file relative to the reader's root.  For a file that is not below
 * that root (its mount was detached, or is in another namespace) it shows the path relative to the
 * file's mount: "/disk.img" may be a file like that, or a file in "/".  To distinguish them, the
 * path is read again with the directory of the file as root: then a file in that directory is shown
 * as "/disk.img", any other file as before.  This does not access the file, and works for deleted
 * files as well.  LOOP_GET_STATUS64 would return the device number of the file, but calls
 * vfs_getattr(), which can block.
 */
#include "devmap/devmap_impl.h"

#include "base/words.h"
#include "os/process.h"

#include <fcntl.h>

bool devmap_take_file(struct devmap *map, struct devmap_dev *dev, const char *file, size_t n)
{
	const char *backing = arena_strndup(&map->arena, file, n), *way = backing;
	const char *base = backing ? strrchr(backing, '/') : NULL;
	if (base && word_ends(backing, " (deleted)")) {
		size_t dir = (size_t)(base - backing);
		way = arena_strndup(&map->arena, file, dir ? dir : 1);
	}
	/* Both or none: callers test only the first. */
	dev->backing = way ? backing : NULL;
	dev->way = way;
	return way;
}

/** Read the path of a backing file again, with its directory as the root. */
static enum devmap_here devmap_look_here(struct devmap *map, const struct devmap_dev *dev,
                                         int dirfd)
{
	char path[DEVMAP_PATH_MAX], dir[DEVMAP_ATTR_MAX], buf[DEVMAP_ATTR_MAX];
	const char *base = strrchr(dev->backing, '/');
	if (*dev->backing != '/')
		return DEVMAP_ELSEWHERE;
	/* For a file in "/" both paths are the same. */
	if (base == dev->backing || map->unrooted)
		return DEVMAP_NAMED;
	if (!devmap_at(path, sizeof(path), map->roots.sys, "dev/block/%u:%u/%sloop/backing_file",
	               dev->major, dev->minor, dev->partition ? "../" : "")
	    || !devmap_path(dir, sizeof(dir), "%.*s", (int)(base - dev->backing), dev->backing))
		return DEVMAP_ELSEWHERE;
	const char *name = dirfd == AT_FDCWD ? dir : dir + strspn(dir, "/");
	int root = os_openat(map->os, dirfd, name, O_PATH | O_DIRECTORY);
	int fd = os_openat(map->os, AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	ssize_t n = 0;
	if (root >= 0 && fd >= 0)
		n = os_read_rooted(map->os, root, fd, buf, sizeof(buf));
	os_close(map->os, root);
	os_close(map->os, fd);
	/* If chroot(2) is not permitted, do not try again. */
	map->unrooted = n < 0 && errno == EPERM;
	if (n < 0)
		return DEVMAP_NAMED;
	bool here = (size_t)n == strlen(base) + 1 && memcmp(buf, base, (size_t)n - 1) == 0;
	return n > 0 && here ? DEVMAP_HERE : DEVMAP_ELSEWHERE;
}

enum devmap_here devmap_file_here(struct devmap *map, uint32_t major, uint32_t minor, int dirfd)
{
	struct devmap_dev *dev = devmap_get(map, major, minor);
	if (!dev || !dev->backing)
		return DEVMAP_ELSEWHERE;
	if (dev->here == DEVMAP_UNREAD)
		dev->here = devmap_look_here(map, dev, dirfd);
	return dev->here == DEVMAP_NAMED && dev->way != dev->backing ? DEVMAP_ELSEWHERE : dev->here;
}
