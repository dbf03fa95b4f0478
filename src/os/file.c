/* SPDX-License-Identifier: MIT */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { WAITS_MAX = 1000 };   /* for a pipe to give something */

int os_read_fd(struct os *os, int fd, size_t max, char **text, size_t *len)
{
	size_t size = max < 64 * 1024 ? max + 2 : 64 * 1024, used = 0;
	unsigned waits = 0;
	char *buf = malloc(size);
	if (!buf)
		return -1;

	for (;;) {
		if (size - used < 2) {
			char *bigger = realloc(buf, size * 2);
			if (!bigger)
				goto fail;
			buf = bigger;
			size *= 2;
		}
		ssize_t n = os_read(os, fd, buf + used, size - used - 1);
		/* A pipe whose writer is slow; but others may read from it as well. */
		if (n < 0 && errno == EAGAIN && ++waits < WAITS_MAX && os_wait_readable(os, fd) == 0)
			continue;
		if (n < 0)
			goto fail;
		if (n == 0)
			break;
		waits = 0;
		used += (size_t)n;
		if (used > max) {
			errno = EFBIG;
			goto fail;
		}
	}
	buf[used] = '\0';
	*text = buf;
	*len = used;
	return 0;

fail:
	{
		int error = errno;
		free(buf);
		errno = error;
	}
	return -1;
}

int os_read_file(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len)
{
	/* O_NONBLOCK: the open of a FIFO must not wait for a writer. */
	int fd = os_openat(os, dirfd, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -1;

	int rc = -1;
	unsigned type = os_file_type(os, fd, NULL, NULL);
	if (type != S_IFREG && type != S_IFIFO) {
		if (type != 0)
			errno = type == S_IFDIR ? EISDIR : ENOTSUP;
		goto out;
	}
	rc = os_read_fd(os, fd, max, text, len);
out:
	os_close(os, fd);
	return rc;
}

int os_read_regular(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len)
{
	int fd = os_openat(os, dirfd, path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	unsigned type = os_file_type(os, fd, NULL, NULL);
	int rc = type == S_IFREG ? os_read_fd(os, fd, max, text, len) : -1;
	if (type != 0 && type != S_IFREG)
		errno = ENOTSUP;
	os_close(os, fd);
	return rc;
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
