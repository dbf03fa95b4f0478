/* SPDX-License-Identifier: MIT */
#include "devmap/devmap_impl.h"

#include "os/file.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((format(printf, 3, 0)))
static bool devmap_vpath(char *buf, size_t size, const char *format, va_list args)
{
	int n = vsnprintf(buf, size, format, args);
	if (n < 0 || (size_t)n >= size) {
		errno = ENAMETOOLONG;
		return false;
	}
	return true;
}

bool devmap_path(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	bool fits = devmap_vpath(buf, size, format, args);
	va_end(args);
	return fits;
}

bool devmap_at(char *buf, size_t size, const char *root, const char *format, ...)
{
	if (!root) {
		errno = ENOENT;
		return false;
	}
	if (!devmap_path(buf, size, "%s/", root))
		return false;
	size_t n = strlen(buf);
	va_list args;
	va_start(args, format);
	bool fits = devmap_vpath(buf + n, size - n, format, args);
	va_end(args);
	return fits;
}

/** Whether text is a valid path component other than "." and "..". */
static bool devmap_is_component(const char *text)
{
	return *text && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 && !strchr(text, '/');
}

bool devmap_is_subpath(const char *text)
{
	for (;;) {
		size_t n = strcspn(text, "/");
		if (n == 0 || (n <= 2 && strncmp(text, "..", n) == 0))
			return false;
		if (!text[n])
			return true;
		text += n + 1;
	}
}

/** Record errno of a failed read.  @return whether the file may exist. */
static bool devmap_missed(struct devmap *map)
{
	bool missing = errno == ENOENT || errno == ENOTDIR || errno == ENODEV || errno == ENXIO
	               || errno == EINVAL;
	map->unread |= !missing;
	return !missing;
}

/** Open a path below the sysfs root.  On another mount, open only directories and regular files
    that cannot block. */
static int devmap_open(struct devmap *map, const char *path, int flags)
{
	char full[DEVMAP_PATH_MAX];
	if (!devmap_at(full, sizeof(full), map->roots.sys, "%s", path))
		return -1;
	if (map->sys < 0)
		map->sys = os_openat(map->os, AT_FDCWD, map->roots.sys, O_PATH | O_DIRECTORY);
	int fd = map->sys < 0 ? -1 : os_openat2(map->os, map->sys, path, flags, RESOLVE_NO_XDEV);
	if (fd >= 0 || (errno != ENOSYS && errno != EXDEV))
		return fd;
	return flags & (O_PATH | O_DIRECTORY) ? os_openat(map->os, AT_FDCWD, full, flags)
	                                      : os_open_regular(map->os, AT_FDCWD, full, 0);
}

static ssize_t devmap_read_path(struct devmap *map, char *buf, size_t size, const char *path)
{
	int fd = devmap_open(map, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		devmap_missed(map);
		return -1;
	}
	/* sysfs returns an attribute in one read; most end in a newline. */
	ssize_t n = 0, got;
	do {
		got = os_read(map->os, fd, buf + n, size - (size_t)n);
		n += got > 0 ? got : 0;
	} while (got > 0 && (size_t)n < size && buf[n - 1] != '\n');
	os_close(map->os, fd);
	if (got < 0) {
		devmap_missed(map);
		return -1;
	}
	if ((size_t)n == size || memchr(buf, '\0', (size_t)n))
		return fail(EINVAL);
	if (n > 0 && buf[n - 1] == '\n')
		--n;
	buf[n] = '\0';
	return n;
}

ssize_t devmap_read(struct devmap *map, char *buf, size_t size, const char *format, ...)
{
	char path[DEVMAP_PATH_MAX];
	va_list args;
	va_start(args, format);
	bool fits = devmap_vpath(path, sizeof(path), format, args);
	va_end(args);
	return fits ? devmap_read_path(map, buf, size, path) : -1;
}

ssize_t devmap_attr(struct devmap *map, const struct devmap_dev *dev, char *buf, size_t size,
                    const char *format, ...)
{
	char path[DEVMAP_PATH_MAX];
	va_list args;
	va_start(args, format);
	int n = snprintf(path, sizeof(path), "dev/block/%u:%u/", dev->major, dev->minor);
	bool fits = devmap_vpath(path + n, sizeof(path) - (size_t)n, format, args);
	va_end(args);
	return fits ? devmap_read_path(map, buf, size, path) : -1;
}

bool devmap_flag(struct devmap *map, const struct devmap_dev *dev, const char *attr)
{
	char buf[32];
	return devmap_attr(map, dev, buf, sizeof(buf), "%s", attr) > 0 && buf[0] == '1';
}

bool devmap_exists(struct devmap *map, const char *format, ...)
{
	char path[DEVMAP_PATH_MAX];
	va_list args;
	va_start(args, format);
	bool fits = devmap_vpath(path, sizeof(path), format, args);
	va_end(args);
	/* Do not use statx: its count shows how many mounts were examined. */
	int fd = fits ? devmap_open(map, path, O_PATH) : -1;
	if (fd < 0)
		devmap_missed(map);
	os_close(map->os, fd);
	return fd >= 0;
}

struct devmap_dev *devmap_dev_at(struct devmap *map, const char *format, ...)
{
	char path[DEVMAP_PATH_MAX], buf[64];
	uint32_t major, minor;
	int n = 0;
	va_list args;
	va_start(args, format);
	bool fits = devmap_vpath(path, sizeof(path), format, args);
	va_end(args);
	if (!fits || devmap_read_path(map, buf, sizeof(buf), path) < 0
	    || sscanf(buf, "%" SCNu32 ":%" SCNu32 "%n", &major, &minor, &n) != 2 || buf[n]
	    || major == 0)
		return NULL;
	return devmap_get(map, major, minor);
}

void devmap_dir_begin(struct devmap *map, struct devmap_dir *dir, int fd)
{
	os_dir_begin(&dir->os, map->os, fd, dir->buf, sizeof(dir->buf));
	if (fd < 0) {
		dir->os.error = errno;
		devmap_missed(map);
	}
}

void devmap_dir_open(struct devmap *map, struct devmap_dir *dir, const char *format, ...)
{
	char path[DEVMAP_PATH_MAX];
	va_list args;
	va_start(args, format);
	bool fits = devmap_vpath(path, sizeof(path), format, args);
	va_end(args);
	int fd = fits ? devmap_open(map, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) : -1;
	devmap_dir_begin(map, dir, fd);
}

const char *devmap_dir_next(struct devmap *map, struct devmap_dir *dir)
{
	const char *name = dir->os.fd >= 0 ? os_dir_next(&dir->os) : NULL;
	if (name || dir->os.fd < 0)
		return name;
	devmap_dir_close(map, dir);
	if ((errno = dir->os.error) != 0)
		devmap_missed(map);
	return NULL;
}

void devmap_dir_close(struct devmap *map, struct devmap_dir *dir)
{
	os_close(map->os, dir->os.fd);
	dir->os.fd = -1;
}

/** Whether a path has a component that is a prefix followed by digits: "session1". */
static bool devmap_has_numbered(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);
	for (const char *at = path; (at = strchr(at, '/')); ++at) {
		const char *end = at + 1 + n;
		if (strncmp(at + 1, prefix, n) != 0 || !isdigit((unsigned char)*end))
			continue;
		end += strspn(end, "0123456789");
		if (*end == '/')
			return true;
	}
	return false;
}

/** Read the symlink of a device, and set kname, virtual and iscsi. */
static void devmap_resolve(struct devmap *map, struct devmap_dev *dev)
{
	dev->resolved = true;
	char path[DEVMAP_PATH_MAX], link[DEVMAP_PATH_MAX];
	if (dev->major == 0
	    || !devmap_at(path, sizeof(path), map->roots.sys, "dev/block/%u:%u", dev->major,
	                  dev->minor))
		return;
	ssize_t n = os_readlinkat(map->os, AT_FDCWD, path, link, sizeof(link));
	if (n < 0)
		dev->resolved = !devmap_missed(map);
	if (n <= 0 || (size_t)n >= sizeof(link) - 1)
		return;
	const char *base = strrchr(link, '/');
	base = base ? base + 1 : link;
	if (!devmap_is_component(base) || strlen(base) > 255)
		return;
	const char *kname = arena_strndup(&map->arena, base, strlen(base));
	dev->resolved = kname;
	dev->kname = kname ? kname : "";
	dev->virtual = strstr(link, "/devices/virtual/block/");
	dev->iscsi = devmap_has_numbered(link, "session");
}

const char *devmap_kname(struct devmap *map, struct devmap_dev *dev)
{
	if (!dev->resolved)
		devmap_resolve(map, dev);
	return dev->kname;
}

void devmap_read_name(struct devmap *map, struct devmap_dev *dev)
{
	if (dev->named)
		return;
	dev->named = true;
	char path[DEVMAP_PATH_MAX], buf[DEVMAP_ATTR_MAX];
	const char *folder = "", *name = devmap_kname(map, dev);
	if (!*name)
		return;

	if (strncmp(name, "dm-", 3) == 0 && devmap_attr(map, dev, buf, sizeof(buf), "dm/name") > 0
	    && devmap_is_component(buf)) {
		folder = "mapper/";
		name = buf;
	}
	if (!devmap_path(path, sizeof(path), "/dev/%s%s", folder, name))
		return;
	/* sysfs replaces '/' in names by '!'; names of device mapper keep a '!' of their own. */
	for (char *c = path; !*folder && *c; ++c) {
		if (*c == '!')
			*c = '/';
	}
	if (devmap_is_subpath(path + strlen("/dev/"))) {
		dev->name = arena_strndup(&map->arena, path, strlen(path));
		dev->named = dev->name;
	}
}

const char *devmap_name(struct devmap *map, uint32_t major, uint32_t minor)
{
	struct devmap_dev *dev = major != 0 ? devmap_get(map, major, minor) : NULL;
	if (!dev)
		return NULL;
	devmap_read_name(map, dev);
	return dev->name;
}

struct devmap_dev *devmap_whole(struct devmap *map, const struct devmap_dev *dev)
{
	char buf[16];
	return devmap_attr(map, dev, buf, sizeof(buf), "partition") <= 0 ? NULL
	       : devmap_dev_at(map, "dev/block/%u:%u/../dev", dev->major, dev->minor);
}

/** The device with a name in device mapper, or NULL. */
static struct devmap_dev *devmap_by_dm_name(struct devmap *map, const char *dm_name)
{
	struct devmap_dir dir;
	char buf[DEVMAP_ATTR_MAX];
	struct devmap_dev *found = NULL;
	devmap_dir_open(map, &dir, "class/block");
	for (const char *name; (name = devmap_dir_next(map, &dir)) != NULL;) {
		if (strncmp(name, "dm-", 3) == 0
		    && devmap_read(map, buf, sizeof(buf), "class/block/%s/dm/name", name) >= 0
		    && strcmp(buf, dm_name) == 0) {
			found = devmap_dev_at(map, "class/block/%s/dev", name);
			break;
		}
	}
	devmap_dir_close(map, &dir);
	return found;
}

struct devmap_dev *devmap_by_name(struct devmap *map, const char *name)
{
	char kname[DEVMAP_PATH_MAX];
	if (!devmap_is_subpath(name) || !devmap_path(kname, sizeof(kname), "%s", name))
		return NULL;
	if (strncmp(name, "mapper/", 7) == 0)
		return devmap_by_dm_name(map, name + 7);
	for (char *c = kname; *c; ++c)
		*c = *c == '/' ? '!' : *c;
	return devmap_dev_at(map, "class/block/%s/dev", kname);
}

/** Whether text has the form of a UUID. */
static bool devmap_is_uuid(const char *text)
{
	for (int i = 0; i < 36; ++i) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	}
	return !text[36];
}

/** Whether a name in fs/btrfs is the UUID of the file system of a device.
    @uuid [out]  That UUID. */
static bool devmap_in_btrfs(struct devmap *map, const char *name, const char *kname, char uuid[37])
{
	if (!devmap_is_uuid(name) || !devmap_exists(map, "fs/btrfs/%s/devices/%s", name, kname))
		return false;
	memcpy(uuid, name, 37);
	return true;
}

bool devmap_btrfs(struct devmap *map, struct devmap_dev *dev, const char *known, char uuid[37])
{
	struct devmap_dir dir;
	const char *kname = devmap_kname(map, dev);
	bool found = false;
	if (!*kname)
		return false;
	if (known)
		return devmap_in_btrfs(map, known, kname, uuid);
	devmap_dir_open(map, &dir, "fs/btrfs");
	for (const char *name; !found && (name = devmap_dir_next(map, &dir)) != NULL;)
		found = devmap_in_btrfs(map, name, kname, uuid);
	devmap_dir_close(map, &dir);
	return found;
}
