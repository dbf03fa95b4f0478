/* SPDX-License-Identifier: MIT */
#include "os/entry.h"

#include "base/fstypes.h"
#include "base/mountinfo.h"
#include "os/change.h"
#include "os/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOUNTINFO_MAX = 256 << 20, TYPE_MAX = 128 };

/* With these flags and mask 0, statx(2) calls no FUSE server and is not refused to root. */
enum { STATX_CACHED = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC };

uint64_t os_mount_id(struct os *os, int fd)
{
	struct k_statx st;
	char path[64], text[256];
	if (os->caps & OSC_STATX_MNT_ID
	    && os_statx(os, fd, "", STATX_CACHED | AT_EMPTY_PATH, 0, &st) == 0
	    && st.mask & K_STATX_MNT_ID)
		return st.mnt_id;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	/* The ID is in one of the first lines: pos, flags, mnt_id. */
	int info = os_openat(os, AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	ssize_t n = info < 0 ? -1 : os_read(os, info, text, sizeof(text) - 1);
	int error = errno;
	os_close(os, info);
	text[n > 0 ? n : 0] = '\0';
	const char *at = strstr(text, "mnt_id:");
	if (at)
		return strtoull(at + 7, NULL, 10);
	errno = n < 0 ? error : ENODATA;
	return 0;
}

int os_is_on_mount(struct os *os, int fd, const struct mount *mount)
{
	struct k_statx st;
	/* A 32-bit ID can be that of an older mount. */
	bool unique = mount->uniq_id && os->caps & OSC_STATX_UNIQUE;
	uint64_t id = 0;
	if (!unique)
		id = os_mount_id(os, fd);
	else if (os_statx(os, fd, "", STATX_CACHED | AT_EMPTY_PATH, K_STATX_MNT_ID_UNIQUE, &st)
	         == 0)
		id = os_statx_mnt_id(&st, true);
	return id == 0 ? -1 : id == (unique ? mount->uniq_id : mount->id);
}

/** Whether a mount can block, by its type in mountinfo; true if it is not listed there. */
static bool blocks_by_mountinfo(struct os *os, uint64_t id)
{
	char *text;
	size_t len;
	bool blocks = true;
	if (id == 0
	    || os_read_kernel(os, AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &text, &len)
	               != 0)
		return true;
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		struct mount m = {0};
		if (!mountinfo_parse(line, end, &m) && m.id == id)
			blocks = fstype_blocks(m.fstype);
	}
	free(text);
	return blocks;
}

/** Whether a mount can block, by its type; true if the type is unknown.
    @dirfd, path, flags  An object on the mount, as in os_statx(). */
static bool mount_blocks(struct os *os, int dirfd, const char *path, int flags)
{
	union {
		struct k_statmount head;
		char bytes[sizeof(struct k_statmount) + TYPE_MAX];
	} buf;
	struct k_statx st;
	/* A FUSE mount without allow_other refuses even root any mask other than 0. */
	if (os->caps & OSC_LISTMOUNT && os->caps & OSC_STATX_UNIQUE) {
		if (os_statx(os, dirfd, path, flags, K_STATX_MNT_ID_UNIQUE, &st) != 0)
			return true;
		if (os_statmount(os, os_statx_mnt_id(&st, true), K_STATMOUNT_FS_TYPE, &buf.head,
		                 sizeof(buf)) == 0)
			return !(buf.head.mask & K_STATMOUNT_FS_TYPE)
			       || buf.head.fs_type >= TYPE_MAX
			       || fstype_blocks(buf.head.str + buf.head.fs_type);
	}
	uint64_t id = os_statx(os, dirfd, path, flags, 0, &st) == 0 ? os_statx_mnt_id(&st, false)
	                                                            : 0;
	if (id == 0 && flags & AT_EMPTY_PATH)
		id = os_mount_id(os, dirfd);
	return blocks_by_mountinfo(os, id);
}

/** Whether `on` allows the mount of an open entry; true if a mount is unknown. */
static bool is_allowed(struct os *os, int dirfd, int fd, enum os_entry_on on)
{
	uint64_t entry_mount = os_mount_id(os, fd), dir_mount = os_mount_id(os, dirfd);
	return entry_mount == dir_mount || entry_mount == 0 || dir_mount == 0
	       || (on == ENTRY_LOCAL && !mount_blocks(os, fd, "", STATX_CACHED | AT_EMPTY_PATH));
}

int os_open_entry(struct os *os, int dirfd, const char *name, int flags, enum os_entry_on on)
{
	char link[64];
	int fd = os_openat2(os, dirfd, name, flags | O_NOFOLLOW, RESOLVE_NO_XDEV);
	if (fd >= 0 || (errno != ENOSYS && !(errno == EXDEV && on == ENTRY_LOCAL)))
		return fd;
	int seen = os_openat(os, dirfd, name, O_PATH | O_NOFOLLOW);
	if (seen < 0)
		return -1;
	if (!is_allowed(os, dirfd, seen, on)) {
		os_close(os, seen);
		return fail(EXDEV);
	}
	if (flags & O_PATH)
		return seen;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", seen);
	unsigned type = os_file_type(os, seen, NULL, NULL);
	errno = ELOOP;
	if (type != S_IFLNK)
		fd = os_openat(os, AT_FDCWD, link, flags);
	if (fd < 0 && errno == ENOENT)
		fd = os_openat(os, dirfd, name, flags | O_NOFOLLOW);
	os_close(os, seen);
	return fd;
}

int os_look_entry(struct os *os, int dirfd, const char *name, enum os_entry_on on, struct stat *st)
{
	int fd = os_open_entry(os, dirfd, name, O_PATH, on);
	int rc = fd < 0 ? -1 : os_fstatat(os, fd, "", st);
	os_close(os, fd);
	return rc;
}

/** Whether a file that is not a directory is the root of a mount that can block; true if this is
    not known.  For kernels whose statx(2) does not report roots of mounts (before 5.8).
    @flags  O_NOFOLLOW, or 0. */
static bool is_blocking_root(struct os *os, int dirfd, const char *path, int flags)
{
	char link[64], target[PATH_MAX];
	bool blocks = true;
	int fd = os_openat(os, dirfd, path, O_PATH | flags);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = fd < 0 ? -1 : os_readlinkat(os, AT_FDCWD, link, target, sizeof(target));
	char *slash = n > 0 && *target == '/' ? strrchr(target, '/') : NULL;
	if (slash) {
		slash[slash == target] = '\0';   /* to its directory, which may be "/" */
		int dir = os_openat(os, AT_FDCWD, target, O_PATH | O_DIRECTORY | O_NOFOLLOW);
		blocks = dir < 0 || !is_allowed(os, dir, fd, ENTRY_LOCAL);
		os_close(os, dir);
	}
	os_close(os, fd);
	return blocks;
}

int os_open_regular(struct os *os, int dirfd, const char *path, int flags)
{
	struct k_statx st;
	const int look = STATX_CACHED | (flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0);
	if (os_statx(os, dirfd, path, look, 0, &st) != 0)
		return -1;
	unsigned type = st.mode & S_IFMT;
	if (st.attributes_mask & K_STATX_ATTR_MOUNT_ROOT
	            ? os_statx_is_mount_root(&st) && mount_blocks(os, dirfd, path, look)
	            : type == S_IFREG && is_blocking_root(os, dirfd, path, flags & O_NOFOLLOW))
		return fail(EREMOTE);
	/* Root may have replaced the file since then. */
	if (type == S_IFREG)
		return os_only_regular(
			os, os_openat(os, dirfd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK | flags));
	return fail(type == S_IFDIR ? EISDIR : type == S_IFLNK ? ELOOP : ENOTSUP);
}

int os_only_regular(struct os *os, int fd)
{
	unsigned type = fd < 0 ? 0 : os_file_type(os, fd, NULL, NULL);
	if (type == S_IFREG)
		return fd;
	if (type != 0)
		errno = type == S_IFDIR ? EISDIR : ENOTSUP;
	os_close(os, fd);
	return -1;
}
