/* SPDX-License-Identifier: MIT */
#include "path/named.h"

#include "os/file.h"
#include "path/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int path_open_named(struct os *os, const char *path, const char *given)
{
	struct k_statx st;
	/* Opening a device has effects.  A FUSE that is not shared reports no type: 0. */
	if (os_statx(os, AT_FDCWD, path, AT_STATX_DONT_SYNC, 0, &st) != 0)
		return -1;
	unsigned type = st.mode & S_IFMT;
	/* A symlink to a pipe could make us wait for our own output. */
	if (type == S_IFIFO && !replace_is_direct(os, given ? given : path)) {
		errno = EPERM;
		return -1;
	}
	if (type == S_IFREG || type == S_IFIFO || type == 0) {
		/* O_NONBLOCK: the open of a FIFO must not wait for a writer. */
		int fd = os_openat(os, AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
		type = fd < 0 ? 0 : os_file_type(os, fd, NULL, NULL);
		if (type == S_IFREG || type == S_IFIFO || type == 0)
			return fd;
		os_close(os, fd);
	}
	errno = type == S_IFDIR ? EISDIR : ENOTSUP;
	return -1;
}

int path_read_named(struct os *os, const char *path, const char *given, size_t max, char **text,
                    size_t *len)
{
	int fd = path_open_named(os, path, given);
	int rc = fd < 0 ? -1 : os_read_fd(os, fd, max, text, len);
	os_close(os, fd);
	return rc;
}
