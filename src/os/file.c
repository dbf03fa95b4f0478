/* SPDX-License-Identifier: MIT */
#include "os/file.h"

#include "base/strbuf.h"
#include "os/clock.h"
#include "os/entry.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

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

int os_read_kernel(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len)
{
	return read_open(
		os,
		os_only_regular(os, os_openat(os, dirfd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK)),
		max, false, text, len);
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

int os_fs_sizes(struct os *os, int fd, struct os_sizes *sizes)
{
	struct statfs st;
	if (os_fstatfs(os, fd, &st) != 0)
		return -1;
	*sizes = (struct os_sizes){
		.blocks = st.f_blocks,
		.bfree = st.f_bfree,
		.bavail = st.f_bavail,
		.frsize = (uint64_t)(st.f_frsize ? st.f_frsize : st.f_bsize),
		.files = st.f_files,
		.ffree = st.f_ffree,
	};
	return 0;
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
