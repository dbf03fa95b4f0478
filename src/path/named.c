/* SPDX-License-Identifier: MIT */
/* Files and directories that the user named.  place.c resolves the names. */
#include "path/named.h"

#include "base/fail.h"
#include "os/change.h"
#include "os/file.h"
#include "path/replace_impl.h"

#include <errno.h>
#include <fcntl.h>

enum { RACES = 100 };   /* the most changes of a name while it is opened */

/* Reading. */

/** Whether no symlink of another user is on the path. */
static bool is_direct(struct os *os, const char *path)
{
	struct place place;
	const struct replace_name name = {.path = path, .may_pipe = true};
	bool direct = place_find(&place, os, &name, false) == 0 || place.refused.why != RP_LINK;
	place_destroy(&place);
	return direct;
}

/** Open a file named by the user; opens no device. */
static int open_named(struct os *os, const char *path, const char *given)
{
	struct k_statx st;
	/* Opening a device can have side effects.  FUSE without allow_other reports type 0 to
	   others. */
	if (os_statx(os, AT_FDCWD, path, AT_STATX_DONT_SYNC, 0, &st) != 0)
		return -1;
	unsigned type = st.mode & S_IFMT;
	/* Through a symlink to a pipe we could wait for our own output. */
	if (type == S_IFIFO && !is_direct(os, given ? given : path))
		return fail(EPERM);
	if (type == S_IFREG || type == S_IFIFO || type == 0) {
		/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
		int fd = os_openat(os, AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
		type = fd < 0 ? 0 : os_file_type(os, fd, NULL, NULL);
		if (type == S_IFREG || type == S_IFIFO || type == 0)
			return fd;
		os_close(os, fd);
	}
	return fail(type == S_IFDIR ? EISDIR : ENOTSUP);
}

int path_read_named(struct os *os, const char *path, const char *given, size_t max, char **text,
                    size_t *len)
{
	int fd = open_named(os, path, given);
	int rc = fd < 0 ? -1 : os_read_fd(os, fd, max, text, len);
	os_close(os, fd);
	return rc;
}

/* Writing. */

/** Open an existing file that is the one that was looked at.  @return -1 with EAGAIN: another file
    has its name now. */
static int open_seen(const struct place *place, const char *name, const struct stat *seen)
{
	struct os *os = place->os;
	struct stat st;
	int fd = os_openat(os, place->fd, name, O_WRONLY | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return fail(errno == ENOENT || errno == ELOOP ? EAGAIN : errno);
	int rc = os_fstatat(os, fd, "", &st), error = errno;
	if (rc == 0 && (st.st_dev != seen->st_dev || st.st_ino != seen->st_ino)) {
		rc = -1;
		error = EAGAIN;
	} else if (rc == 0 && S_ISREG(st.st_mode)) {
		rc = os_ftruncate(os, fd, 0);
		error = errno;
	}
	if (rc == 0)
		return fd;
	os_close(os, fd);
	return fail(error);
}

/** Create or truncate the file of a place.  @return -1 with EAGAIN: its name has changed. */
static int create_at(const struct place *place, struct strbuf *why)
{
	struct os *os = place->os;
	const char *name = path_name(&place->walk);
	struct stat st, dir;
	if (!place->found)
		return fail(EISDIR);
	if (place->by_kernel)
		return os_create(os, place->fd, name, O_TRUNC);
	if (os_fstatat(os, place->fd, name, &st) != 0) {
		int fd = errno == ENOENT ? os_create(os, place->fd, name, O_EXCL | O_NOFOLLOW) : -1;
		if (fd < 0 && errno == EEXIST)
			errno = EAGAIN;
		return fd;
	}
	if (S_ISLNK(st.st_mode))
		return fail(EAGAIN);
	if (os_fstatat(os, place->fd, "", &dir) != 0)
		return -1;
	if (path_is_planted(os_geteuid(os), st.st_uid, dir.st_uid, dir.st_mode)) {
		strbuf_printf(why, "it belongs to uid %u, in a directory where everybody may "
		              "create files; remove it, or name a file elsewhere",
		              (unsigned)st.st_uid);
		return fail(EACCES);
	}
	return open_seen(place, name, &st);
}

int path_create_named(struct os *os, const char *path, struct strbuf *why)
{
	const struct replace_name name = {.path = path, .sticky = true};
	for (int i = 0; i < RACES; ++i) {
		struct place place;
		int fd = -1;
		if (place_find(&place, os, &name, false) == 0)
			fd = create_at(&place, why);
		else if (place.refused.why == RP_LINK)
			strbuf_printf(why, "%s, in a directory where everybody may create files; "
			              "name its target, or a file elsewhere", place.refused.step);
		place_destroy(&place);
		if (fd >= 0 || errno != EAGAIN)
			return fd;
	}
	return fail(ELOOP);
}

int path_open_dir_named(struct os *os, const char *path, bool create)
{
	const struct replace_name name = {.path = path};
	struct place place;
	int fd = -1;
	if (place_find_dir(&place, os, &name, create) == 0)
		fd = os_openat(os, place.fd, ".", O_RDONLY | O_DIRECTORY);
	else if (place.refused.why == RP_LINK)
		errno = ELOOP;
	place_destroy(&place);
	return fd;
}
