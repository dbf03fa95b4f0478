/* SPDX-License-Identifier: MIT */
#include "os/file.h"

#include "base/fstypes.h"
#include "base/mountinfo.h"
#include "base/strbuf.h"
#include "os/change.h"
#include "os/clock.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

enum { MOUNTINFO_MAX = 256 << 20, TYPE_MAX = 128 };

/* With these flags and mask 0, statx(2) calls no FUSE server and is not refused to root. */
enum { STATX_CACHED = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC };

enum { WAITS_MAX = 1000 };   /* attempts to read from a pipe that has no data */
enum { WRITER_MS = 3000 };   /* time to wait for the first writer of a FIFO */

/** Wait some seconds for the first writer of a FIFO that was opened with O_NONBLOCK and had no
    data.
    @return 1: read again; if there is still no data, no writer came.  0: the writer has closed it,
    or it is not a named FIFO.  -1: error. */
static int wait_writer(struct os *os, int fd)
{
	struct statfs st;
	/* All writers of an unnamed pipe exist from the start. */
	if (os_file_type(os, fd, NULL, NULL) != S_IFIFO
	    || (os_fstatfs(os, fd, &st) == 0 && st.f_type == PIPEFS_MAGIC))
		return 0;
	/* Before the first writer opens the FIFO, read(2) reports the end of file but poll(2) does
	   not. */
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	double end = os_now() + WRITER_MS / 1000.0;
	for (int ms = WRITER_MS; ms > 0; ms = (int)((end - os_now()) * 1000)) {
		int ready = os_poll(os, &polled, 1, ms);
		if (ready < 0)
			return -1;
		if (ready > 0)
			return polled.revents & POLLIN ? 1 : 0;
	}
	return 1;
}

/** After a failed read: wait for data from a pipe that has other readers or a slow writer.  A file
    without data (/proc/kmsg) may never have any.  Preserves errno.
    @return whether to read again. */
static bool waits_for_data(struct os *os, int fd)
{
	int error = errno;
	bool may_come = error == EAGAIN && os_file_type(os, fd, NULL, NULL) != S_IFREG
	                && os_poll(os, &(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1) >= 0;
	errno = error;
	return may_come;
}

/** Read to the end.  @waits  Wait for the first writer of a FIFO. */
static int read_all(struct os *os, int fd, size_t max, bool waits, char **text, size_t *len)
{
	const size_t first = max < 64 * 1024 ? max + 1 : 64 * 1024 - 1;
	struct strbuf buf = {0};
	bool late = false;
	unsigned empty = 0;
	for (;;) {
		if (buf.size - buf.len < 2 && !strbuf_room(&buf, buf.size ? buf.size : first)) {
			os->nomem = true;
			break;
		}
		ssize_t n = os_read(os, fd, buf.data + buf.len, buf.size - buf.len - 1);
		if (n < 0 && ++empty < WAITS_MAX && waits_for_data(os, fd)) {
			waits = late = false;   /* a writer exists */
			continue;
		}
		if (n == 0 && buf.len == 0 && waits) {
			n = wait_writer(os, fd);
			waits = false;
			late = n > 0;
			if (late)
				continue;
		} else if (n == 0 && buf.len == 0 && late) {
			errno = ETIME;
			break;
		}
		if (n == 0) {
			buf.data[buf.len] = '\0';
			*text = buf.data;
			*len = buf.len;
			return 0;
		}
		if (n < 0)
			break;
		empty = 0;
		buf.len += (size_t)n;
		if (buf.len > max) {
			errno = EFBIG;
			break;
		}
	}
	strbuf_destroy(&buf);
	return -1;
}

int os_read_fd(struct os *os, int fd, size_t max, char **text, size_t *len)
{
	return read_all(os, fd, max, true, text, len);
}

/** Read a descriptor to its end, and close it.  @fd  -1: fail with the current errno. */
static int read_open(struct os *os, int fd, size_t max, bool waits, char **text, size_t *len)
{
	int rc = fd < 0 ? -1 : read_all(os, fd, max, waits, text, len);
	os_close(os, fd);
	return rc;
}

/** Close a descriptor unless it refers to a regular file.
    @return fd, or -1.  Errors: errno is unchanged if fd is -1; EISDIR; ENOTSUP. */
static int os_only_regular(struct os *os, int fd)
{
	unsigned type = fd < 0 ? 0 : os_file_type(os, fd, NULL, NULL);
	if (type == S_IFREG)
		return fd;
	if (type != 0)
		errno = type == S_IFDIR ? EISDIR : ENOTSUP;
	os_close(os, fd);
	return -1;
}

int os_read_kernel(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len)
{
	return read_open(
		os,
		os_only_regular(os, os_openat(os, dirfd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK)),
		max, false, text, len);
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

int os_look_entry(struct os *os, int dirfd, const char *name, enum os_entry_on on, struct stat *st)
{
	int fd = os_open_entry(os, dirfd, name, O_PATH, on);
	int rc = fd < 0 ? -1 : os_fstatat(os, fd, "", st);
	os_close(os, fd);
	return rc;
}

int os_read_file(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len)
{
	return read_open(os, os_open_regular(os, dirfd, path, 0), max, false, text, len);
}

int os_read_regular(struct os *os, int dirfd, const char *path, size_t max, char **text,
                    size_t *len)
{
	return read_open(os, os_open_regular(os, dirfd, path, O_NOFOLLOW), max, false, text, len);
}

void os_dir_begin(struct os_dir *dir, struct os *os, int fd, void *buf, size_t size)
{
	*dir = (struct os_dir){.os = os, .fd = fd, .buf = buf, .size = size};
}

const char *os_dir_next(struct os_dir *dir)
{
	for (size_t len;;) {
		if (dir->at == dir->n) {
			ssize_t n = os_getdents(dir->os, dir->fd, dir->buf, dir->size);
			dir->error = n < 0 ? errno : 0;
			if (n <= 0)
				return NULL;
			dir->n = (size_t)n;
			dir->at = 0;
		}
		const struct k_dirent *entry = os_dirent(dir->buf, dir->n, &dir->at, &len);
		if (!entry) {
			dir->error = errno;
			return NULL;
		}
		if (len > 0 && strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
			return entry->name;
	}
}

int os_dir_readable(struct os *os, int dirfd)
{
	_Alignas(struct k_dirent) char buf[4096];
	int fd = os_opendir(os, dirfd, ".");
	ssize_t n = fd < 0 ? -1 : os_getdents(os, fd, buf, sizeof(buf));
	os_close(os, fd);
	return n < 0 ? -1 : 0;
}

ssize_t os_context(struct os *os, int dirfd, const char *name, char *buf, size_t size)
{
	/* getxattrat(2) exists since Linux 6.13. */
	char path[sizeof("/proc/self/fd/") + 12 + NAME_MAX];
	if (snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dirfd, name) >= (int)sizeof(path))
		return fail(ENAMETOOLONG);
	return OS_RETRY(OS_COUNTED(os, OS_GETXATTR,
	                           lgetxattr(path, "security.selinux", buf, size)));
}
