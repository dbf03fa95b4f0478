/* SPDX-License-Identifier: MIT */
#include "devmap_impl.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool devmap_path(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(buf, size, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= size) {
		errno = ENAMETOOLONG;
		return false;
	}
	return true;
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

ssize_t devmap_read(struct devmap *map, char *buf, size_t size, const char *path)
{
	char full[DEVMAP_PATH_MAX];
	if (!devmap_path(full, sizeof(full), "%s/%s", map->sysroot, path))
		return -1;
	int fd = os_openat(map->os, AT_FDCWD, full, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	/* sysfs gives an attribute in one read. */
	ssize_t n = os_read(map->os, fd, buf, size);
	os_close(map->os, fd);
	if (n < 0)
		return -1;
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
	/* Not by statx: those are counted as looks at mounts. */
	char full[DEVMAP_PATH_MAX];
	if (!devmap_path(full, sizeof(full), "%s/%s", map->sysroot, path))
		return false;
	int fd = os_openat(map->os, AT_FDCWD, full, O_PATH);
	os_close(map->os, fd);
	return fd >= 0;
}

/** Parse an unsigned number at *str, no blanks or signs.  @return success. */
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

int devmap_each(struct devmap *map, const char *path,
                bool (*each)(struct devmap *map, const char *name, void *arg), void *arg)
{
	char full[DEVMAP_PATH_MAX];
	if (!devmap_path(full, sizeof(full), "%s/%s", map->sysroot, path))
		return -1;
	int fd = os_opendir(map->os, AT_FDCWD, full);
	if (fd < 0)
		return -1;

	union {
		struct k_dirent align;
		char bytes[4096];
	} buf;
	ssize_t n;
	while ((n = os_getdents(map->os, fd, buf.bytes, sizeof(buf.bytes))) > 0) {
		for (char *pos = buf.bytes, *end = pos + n; pos < end;) {
			const struct k_dirent *entry = (const void *)pos;
			pos += entry->reclen;
			if (devmap_is_component(entry->name) && !each(map, entry->name, arg))
				goto out;
		}
	}
out:
	os_close(map->os, fd);
	return n < 0 ? -1 : 0;
}

/** Whether a path has a component of a prefix and digits: "session1". */
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

void devmap_resolve(struct devmap *map, struct devmap_dev *dev)
{
	if (dev->resolved)
		return;
	dev->resolved = true;
	char path[DEVMAP_PATH_MAX], link[DEVMAP_PATH_MAX];
	if (dev->major == 0
	    || !devmap_path(path, sizeof(path), "%s/dev/block/%u:%u", map->sysroot, dev->major, dev->minor))
		return;
	ssize_t n = os_readlinkat(map->os, AT_FDCWD, path, link, sizeof(link));
	if (n <= 0 || (size_t)n >= sizeof(link) - 1)
		return;
	const char *base = strrchr(link, '/');
	base = base ? base + 1 : link;
	if (!devmap_is_component(base) || strlen(base) > 255)
		return;
	dev->kname = devmap_strndup(map, base, strlen(base));
	dev->resolved = dev->kname;
	dev->virtual = strstr(link, "/devices/virtual/block/");
	dev->iscsi = devmap_has_numbered(link, "session");
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
	search->found = devmap_path(search->path, DEVMAP_PATH_MAX, "fs/btrfs/%s/devices/%s", uuid, search->kname)
	                && devmap_exists(map, search->path);
	if (search->found)
		devmap_path(search->path, DEVMAP_PATH_MAX, "fs/btrfs/%s", uuid);
	return !search->found;
}

bool devmap_btrfs(struct devmap *map, const struct devmap_dev *dev, const char *uuid, char *path)
{
	if (!dev->kname)
		return false;
	struct devmap_btrfs_search search = {.kname = dev->kname, .path = path};
	if (uuid)
		devmap_match_btrfs(map, uuid, &search);
	else
		devmap_each(map, "fs/btrfs", devmap_match_btrfs, &search);
	return search.found;
}
