/* SPDX-License-Identifier: MIT */
/*
 * Each component is opened relative to the previous one.  So the directory of the file stays open,
 * its path is known without /proc, and symlinks stay within a root even without openat2(2).
 */
#include "path/replace_impl.h"

#include "base/fail.h"
#include "os/change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { PROC_ROOT_INODE = 1 };

void place_destroy(struct place *place)
{
	int error = errno;
	os_close(place->os, place->fd);
	os_close(place->os, place->rootfd);
	os_close(place->os, place->pipe);
	path_destroy(&place->walk);
	free(place->link);
	errno = error;
}

/** Move to another directory.  @fd  Its descriptor; or -1 with errno set.  @return 0, or -1. */
static int move_to(struct place *place, int fd)
{
	if (fd < 0)
		return -1;
	os_close(place->os, place->fd);
	place->fd = fd;
	return 0;
}

static int place_top(void *arg, struct path_walk *walk)
{
	struct place *place = arg;
	(void)walk;
	return move_to(place, os_openat(place->os, place->rootfd, ".", O_PATH | O_DIRECTORY));
}

static int place_up(void *arg, struct path_walk *walk)
{
	struct place *place = arg;
	(void)walk;
	return move_to(place, os_openat(place->os, place->fd, "..", O_PATH | O_DIRECTORY));
}

/** Refuse the current component.  @return -1 with errno. */
static int refuse(struct place *place, enum replace_why why, int error, const char *step,
                  const char *more)
{
	place->refused = (struct replace_error){.why = why, .error = error};
	snprintf(place->refused.step, sizeof(place->refused.step), "%s%s%s", step,
	         path_text(&place->walk), more);
	return fail(error);
}

/** Path components given by the user may be accessed unchecked, but not the target of a symlink. */
static int place_may(void *arg, struct path_walk *walk)
{
	struct place *place = arg;
	const struct replace_name *opts = place->opts;
	bool given = walk->links == 0 && !place->in_root && (place->dir || opts->named);
	if (given || !opts->blocks || !opts->blocks(opts->blocks_arg, path_text(walk)))
		return 0;
	return refuse(place, RP_BLOCKS, EREMOTE, "", "");
}

/** Whether a symlink may be followed.  @fd  The symlink.  @st  Its attributes. */
static bool may_follow(const struct place *place, int fd, const struct stat *st)
{
	struct os *os = place->os;
	struct stat dir;
	struct statfs fs;
	uid_t euid = os_geteuid(os);
	if (place->opts->sticky)
		return os_fstatat(os, place->fd, "", &dir) == 0
		       && !path_is_planted(euid, st->st_uid, dir.st_uid, dir.st_mode);
	/* "self" and "mounts" belong to root, which may have no user ID in a user namespace. */
	return st->st_uid == euid || st->st_uid == 0
	       || (os_fstatfs(os, fd, &fs) == 0 && fs.f_type == PROC_MAGIC
	           && os_fstatat(os, place->fd, "", &dir) == 0 && dir.st_ino == PROC_ROOT_INODE);
}

/** Read a symlink that may be followed; target and owner are read from the same inode. */
static ssize_t read_owned(struct place *place, char target[PATH_MAX])
{
	struct os *os = place->os;
	struct stat st;
	struct statfs fs;
	char owner[64];
	int fd = os_openat(os, place->fd, path_name(&place->walk), O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	ssize_t n = os_fstatat(os, fd, "", &st);
	place->by_kernel = n == 0 && place->opts->sticky && os_fstatfs(os, fd, &fs) == 0
	                   && fs.f_type == PROC_MAGIC;
	if (place->by_kernel) {
		errno = EINVAL;
		n = -1;
	} else if (n == 0 && may_follow(place, fd, &st)) {
		n = os_readlinkat(os, fd, "", target, PATH_MAX);
	} else if (n == 0) {
		snprintf(owner, sizeof(owner), " belongs to uid %u", (unsigned)st.st_uid);
		n = refuse(place, RP_LINK, EPERM, "the symlink ", owner);
	}
	os_close(os, fd);
	return n;
}

static ssize_t place_link(void *arg, struct path_walk *walk, char target[PATH_MAX])
{
	struct place *place = arg;
	const char *name = path_name(walk);
	bool last = walk->last && !place->dir;
	place->by_kernel = false;
	ssize_t n = os_readlinkat(place->os, place->fd, name, target, PATH_MAX);
	if (n < 0) {
		/* If the component is missing, place_enter() creates it or ends the resolution. */
		if (errno == ENOENT && (last || place->create))
			errno = EINVAL;
		return -1;
	}
	if (!last || place->opts->sticky)
		return read_owned(place, target);
	if (!place->at_link) {
		n = read_owned(place, target);
		if (n < 0)
			return -1;
		/* A link in /proc/PID/fd refers to the pipe; its text is not a path. */
		if (place->opts->may_pipe && strncmp(target, "pipe:[", 6) == 0) {
			place->pipe = os_openat(place->os, place->fd, name,
			                        O_RDONLY | O_NONBLOCK | O_NOCTTY);
			return fail(place->pipe < 0 ? errno : EINVAL);
		}
	}
	if (!place->link && !(place->link = strdup(target)))
		return -1;
	if (!place->at_link)
		return n;
	return fail(EINVAL);
}

static int place_enter(void *arg, struct path_walk *walk)
{
	struct place *place = arg;
	const char *name = path_name(walk);
	if (walk->last && !place->dir) {
		place->found = true;
		return 1;
	}
	int flags = O_PATH | O_DIRECTORY | (place->by_kernel ? 0 : O_NOFOLLOW);
	int fd = os_openat(place->os, place->fd, name, flags);
	if (fd < 0 && errno == ENOENT && place->create) {
		if (os_mkdirat(place->os, place->fd, name, 0700) != 0 && errno != EEXIST)
			return -1;
		fd = os_openat(place->os, place->fd, name, flags);
	}
	return move_to(place, fd);
}

/** Resolve a path from the current place. */
static int resolve(struct place *place)
{
	return path_resolve(&place->walk, &(struct path_how){
		.may = place_may, .link = place_link, .enter = place_enter, .up = place_up,
		.top = place_top, .arg = place});
}

/** Start at "/" or the working directory. */
static int begin(struct place *place, const char *path)
{
	struct os *os = place->os;
	char cwd[PATH_MAX] = "/";
	if (path_begin(&place->walk, path) != 0)
		return -1;
	if (!*path)
		return fail(ENOENT);
	place->rootfd = os_openat(os, AT_FDCWD, "/", O_PATH | O_DIRECTORY);
	place->fd = os_openat(os, AT_FDCWD, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY);
	if (place->fd < 0 || place->rootfd < 0)
		return -1;
	int rc = *path != '/' ? os_getcwd(os, cwd) : 0;
	/* The path serves messages only. */
	if (place->opts->sticky && (rc != 0 || *cwd != '/')) {
		place->walk.path_unknown = true;
		return 0;
	}
	if (rc != 0)
		return -1;
	/* "(unreachable)/x" */
	if (*cwd != '/')
		return fail(ENOENT);
	strbuf_puts(&place->walk.text, cwd[1] ? cwd : "");
	return 0;
}

/** Resolve the root, and start there. */
static int begin_in_root(struct place *place, const char *root, const char *path)
{
	struct path_walk walk;
	bool dir = place->dir;
	place->dir = true;
	if (begin(place, root) != 0 || resolve(place) != 0)
		return -1;
	place->dir = dir;
	place->in_root = true;
	os_close(place->os, place->rootfd);
	place->rootfd = place->fd;
	place->fd = os_openat(place->os, place->rootfd, ".", O_PATH | O_DIRECTORY);
	if (path_begin(&walk, path) == 0)
		strbuf_puts(&walk.text, strbuf_str(&place->walk.text));
	walk.root = walk.text.len;
	path_destroy(&place->walk);
	place->walk = walk;
	return place->fd < 0 || !walk.rest ? -1 : 0;
}

/** Resolve the path of the options. */
static int find(struct place *place)
{
	const char *root = place->opts->root, *path = place->opts->path;
	place->fd = place->rootfd = place->pipe = -1;
	int rc = root && *root && strcmp(root, "/") != 0 ? begin_in_root(place, root, path)
	                                                 : begin(place, path);
	rc = rc == 0 ? resolve(place) : rc;
	return rc == 0 && place->walk.text.failed ? fail(ENOMEM) : rc;
}

int place_find(struct place *place, struct os *os, const struct replace_name *opts, bool at_link)
{
	*place = (struct place){.os = os, .opts = opts, .at_link = at_link};
	return find(place);
}

int place_find_dir(struct place *place, struct os *os, const struct replace_name *opts,
                   bool create)
{
	*place = (struct place){.os = os, .opts = opts, .dir = true, .create = create};
	return find(place);
}
