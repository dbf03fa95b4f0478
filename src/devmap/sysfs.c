/* SPDX-License-Identifier: MIT */
#include "devmap/devmap_impl.h"

#include "os/entry.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool devmap_is_component(const char *text)
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

/** Handle errno of a failed read.  @return whether the file may exist. */
static bool devmap_missed(struct devmap *map)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case ENODEV:
	case ENXIO:
	case EINVAL:
		return false;
	default:
		map->unread = true;
		return true;
	}
}

/** Open a path below the sysfs root.  On another mount, only directories and regular files that
    cannot block are opened. */
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

ssize_t devmap_read(struct devmap *map, char *buf, size_t size, const char *path)
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
	if ((size_t)n == size || memchr(buf, '\0', (size_t)n)) {
		errno = EINVAL;
		return -1;
	}
	if (n > 0 && buf[n - 1] == '\n')
		--n;
	buf[n] = '\0';
	return n;
}

ssize_t devmap_attr(struct devmap *map, const struct devmap_dev *dev, const char *attr,
                    char *buf, size_t size)
{
	char path[DEVMAP_PATH_MAX];
	if (!devmap_path(path, sizeof(path), "dev/block/%u:%u/%s", dev->major, dev->minor, attr))
		return -1;
	return devmap_read(map, buf, size, path);
}

bool devmap_flag(struct devmap *map, const struct devmap_dev *dev, const char *attr)
{
	char buf[32];
	return devmap_attr(map, dev, attr, buf, sizeof(buf)) > 0 && buf[0] == '1';
}

bool devmap_exists(struct devmap *map, const char *path)
{
	/* Not statx: its count is that of examined mounts. */
	int fd = devmap_open(map, path, O_PATH);
	if (fd < 0)
		devmap_missed(map);
	os_close(map->os, fd);
	return fd >= 0;
}

/** Parse an unsigned number at *str without blanks and signs.  @return success. */
static bool devmap_parse_u32(const char **str, uint32_t *value)
{
	if (!isdigit((unsigned char)**str))
		return false;
	char *end;
	errno = 0;
	unsigned long long n = strtoull(*str, &end, 10);
	if (errno != 0 || n > UINT32_MAX)
		return false;
	*value = (uint32_t)n;
	*str = end;
	return true;
}

struct devmap_dev *devmap_dev_at(struct devmap *map, const char *path)
{
	char buf[64];
	uint32_t major, minor;
	const char *str = buf;
	if (devmap_read(map, buf, sizeof(buf), path) < 0 || !devmap_parse_u32(&str, &major)
	    || *str++ != ':' || !devmap_parse_u32(&str, &minor) || *str || major == 0)
		return NULL;
	return devmap_get(map, major, minor);
}

/** Call each() for the entries of an open directory, and close it.  fd < 0: with errno. */
static int devmap_each_in(struct devmap *map, int fd,
                          bool (*each)(struct devmap *map, const char *name, void *arg), void *arg)
{
	if (fd < 0) {
		devmap_missed(map);
		return -1;
	}

	union {
		struct k_dirent align;
		char bytes[4096];
	} buf;
	int rc = 0;
	bool more = true;
	while (more && rc == 0) {
		ssize_t n = os_getdents(map->os, fd, buf.bytes, sizeof(buf.bytes));
		rc = n < 0 ? -1 : 0;
		more = n > 0;
		for (size_t at = 0; more && rc == 0 && at < (size_t)n;) {
			const struct k_dirent *entry = os_dirent(buf.bytes, (size_t)n, &at, NULL);
			if (!entry)
				rc = -1;
			else if (devmap_is_component(entry->name))
				more = each(map, entry->name, arg);
		}
	}
	os_close(map->os, fd);
	if (rc != 0)
		devmap_missed(map);
	return rc;
}

int devmap_each(struct devmap *map, const char *path,
                bool (*each)(struct devmap *map, const char *name, void *arg), void *arg)
{
	int fd = devmap_open(map, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	return devmap_each_in(map, fd, each, arg);
}

int devmap_each_proc(struct devmap *map, const char *path,
                     bool (*each)(struct devmap *map, const char *name, void *arg), void *arg)
{
	char full[DEVMAP_PATH_MAX];
	if (!devmap_at(full, sizeof(full), map->roots.proc, "%s", path))
		return -1;
	int fd = os_openat(map->os, AT_FDCWD, full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	return devmap_each_in(map, fd, each, arg);
}

/** Whether a path has a component that is a prefix and digits: "session1". */
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

/** Set kname, virtual and iscsi by the link of a device. */
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
	const char *kname = devmap_strndup(map, base, strlen(base));
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

/** A search for the dm device of a name. */
struct devmap_dm_search {
	const char *name;
	struct devmap_dev *found;
};

static bool devmap_match_dm(struct devmap *map, const char *name, void *arg)
{
	struct devmap_dm_search *search = arg;
	char path[DEVMAP_PATH_MAX], buf[DEVMAP_ATTR_MAX];
	if (strncmp(name, "dm-", 3) != 0
	    || !devmap_path(path, sizeof(path), "class/block/%s/dm/name", name)
	    || devmap_read(map, buf, sizeof(buf), path) < 0 || strcmp(buf, search->name) != 0)
		return true;
	if (devmap_path(path, sizeof(path), "class/block/%s/dev", name))
		search->found = devmap_dev_at(map, path);
	return false;
}

struct devmap_dev *devmap_by_name(struct devmap *map, const char *name)
{
	if (!devmap_is_subpath(name))
		return NULL;
	if (strncmp(name, "mapper/", 7) == 0) {
		struct devmap_dm_search search = {.name = name + 7};
		devmap_each(map, "class/block", devmap_match_dm, &search);
		return search.found;
	}
	char path[DEVMAP_PATH_MAX];
	if (!devmap_path(path, sizeof(path), "class/block/%s", name))
		return NULL;
	for (char *c = path + strlen("class/block/"); *c; ++c) {
		if (*c == '/')
			*c = '!';
	}
	size_t n = strlen(path);
	if (!devmap_path(path + n, sizeof(path) - n, "/dev"))
		return NULL;
	return devmap_dev_at(map, path);
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

/** A search for the btrfs of a device. */
struct devmap_btrfs_search {
	const char *kname;
	char *path;
	bool found;
};

static bool devmap_match_btrfs(struct devmap *map, const char *uuid, void *arg)
{
	struct devmap_btrfs_search *search = arg;
	if (!devmap_is_uuid(uuid))
		return true;
	search->found = devmap_path(search->path, DEVMAP_PATH_MAX, "fs/btrfs/%s/devices/%s", uuid,
	                            search->kname)
	                && devmap_exists(map, search->path);
	if (search->found)
		devmap_path(search->path, DEVMAP_PATH_MAX, "fs/btrfs/%s", uuid);
	return !search->found;
}

bool devmap_btrfs(struct devmap *map, struct devmap_dev *dev, const char *uuid, char *path)
{
	struct devmap_btrfs_search search = {.kname = devmap_kname(map, dev), .path = path};
	if (!*search.kname)
		return false;
	if (uuid)
		devmap_match_btrfs(map, uuid, &search);
	else
		devmap_each(map, "fs/btrfs", devmap_match_btrfs, &search);
	return search.found;
}
