/* SPDX-License-Identifier: MIT */
/*
 * Names resolved below a directory, by hand.
 *
 * openat2(2) could do most of it, but not tell what is not known from what is not there,
 * and kernels before 5.6 lack it.  A place is held by a descriptor, got one name at a time
 * with O_PATH and O_NOFOLLOW: no rename in between leads out.  After a link or a ".." it
 * is found anew, from the top, by the names that have led there.
 */
#include "os/inside.h"

#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/crossing.h"   /* after the C library */

enum { LINKS_MAX = 40 };   /* the kernel's own bound: path_resolution(7) */

/** A name that is resolved. */
struct walk {
	struct os *os;
	int top;                   /* where it begins: ".." does not lead above */
	char at[PATH_MAX];         /* what is done, from the top: directories, no links */
	char rest[2 * PATH_MAX];   /* what is to be done */
	char last[NAME_MAX + 1];   /* the last name, below the descriptor; "": it is that itself */
	unsigned links;
};

void os_enter(struct os *os, int dir)
{
	*os = (struct os){.inside = dir + 1};
}

void os_leave(struct os *os)
{
	if (os->inside > 0)
		os_close(os, os->inside - 1);
	os->inside = 0;
}

/** One component, which may be a link.  @return a descriptor, or -1. */
static int step(struct os *os, int dir, const char *name, int flags)
{
	unsigned tries = 0;
	int fd;
	do {
		fd = OS_CALL(os, OS_OPENAT, openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC));
	} while (fd < 0 && os_again(&tries));
	return fd;
}

static unsigned type_of(struct os *os, int fd)
{
	struct stat st;
	return OS_CALL(os, OS_FSTAT, fstat(fd, &st)) == 0 ? st.st_mode & S_IFMT : 0;
}

/** Whether not all of a directory was recorded. */
static bool is_part(struct os *os, int dir)
{
	struct stat own, top;
	if (OS_CALL(os, OS_FSTAT, fstat(dir, &own)) != 0 || OS_CALL(os, OS_FSTAT, fstat(os->inside - 1, &top)) != 0
	    || (own.st_dev == top.st_dev && own.st_ino == top.st_ino))
		return true;
	return OS_CALL(os, OS_FSTAT, fstatat(dir, INSIDE_PART, &own, AT_SYMLINK_NOFOLLOW)) == 0 || errno != ENOENT;
}

/** Read an open link.  @return its length, 0 for what is none or does not fit. */
static size_t read_link(struct os *os, int fd, char buf[PATH_MAX])
{
	ssize_t n = OS_CALL(os, OS_READLINK, readlinkat(fd, "", buf, PATH_MAX));
	if (n <= 0 || n == PATH_MAX)
		return 0;
	buf[n] = '\0';
	return (size_t)n;
}

static bool stands_for_block(const char *link)
{
	return strncmp(link, INSIDE_BLOCK, sizeof(INSIDE_BLOCK) - 1) == 0;
}

/** ... for something that is there. */
static bool stands_for(const char *link)
{
	return stands_for_block(link) || strcmp(link, INSIDE_OTHER) == 0;
}

/** The directory of the names that are done.  @return a descriptor, or -1. */
static int open_done(struct walk *walk)
{
	char names[PATH_MAX];
	int fd = step(walk->os, walk->top, ".", O_PATH | O_DIRECTORY);
	memcpy(names, walk->at, strlen(walk->at) + 1);
	char *save = NULL;
	for (const char *name = strtok_r(names, "/", &save); name && fd >= 0; name = strtok_r(NULL, "/", &save)) {
		int next = step(walk->os, fd, name, O_PATH | O_DIRECTORY);
		os_close(walk->os, fd);
		fd = next;
	}
	return fd;
}

/** Take the next name off what is to be done.  @return 1, 0: there is none, or -1. */
static int take_name(struct walk *walk, char name[NAME_MAX + 1])
{
	for (;;) {
		size_t skip = strspn(walk->rest, "/"), n = strcspn(walk->rest + skip, "/");
		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, walk->rest + skip, n);
		name[n] = '\0';
		memmove(walk->rest, walk->rest + skip + n, strlen(walk->rest + skip + n) + 1);
		if (strcmp(name, ".") != 0)
			return n > 0;
	}
}

/** Go on with what a link says.  @return 0, or -1. */
static int take_link(struct walk *walk, const char *link)
{
	size_t n = strlen(link), more = strlen(walk->rest);
	if (++walk->links > LINKS_MAX || n + more + 2 > sizeof(walk->rest)) {
		errno = walk->links > LINKS_MAX ? ELOOP : ENAMETOOLONG;
		return -1;
	}
	memmove(walk->rest + n + 1, walk->rest, more + 1);
	memcpy(walk->rest, link, n);
	walk->rest[n] = '/';
	if (*link == '/') {
		walk->at[0] = '\0';
		walk->top = walk->os->inside - 1;
	}
	return 0;
}

/** Add a name to what is done, or take one off.  @return 0, or -1. */
static int go(struct walk *walk, const char *name)
{
	size_t n = strlen(walk->at);
	char *slash = strrchr(walk->at, '/');
	if (strcmp(name, "..") == 0) {
		if (slash)
			*slash = '\0';
		return 0;
	}
	if (n + strlen(name) + 2 > sizeof(walk->at)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	walk->at[n] = '/';
	memcpy(walk->at + n + 1, name, strlen(name) + 1);
	return 0;
}

/** What there is not, or is not known. */
static int miss(struct walk *walk, int dir)
{
	if (errno == ENOENT && is_part(walk->os, dir))
		errno = EACCES;
	os_close(walk->os, dir);
	return -1;
}

/**
 * Resolve what is to be done.
 *
 * @follow  Also a link at the end.
 * @return a descriptor (O_PATH) of what is there, which may be a link that stands for a
 *         device, or one at the end; or -1.
 */
static int resolve(struct walk *walk, bool follow)
{
	char name[NAME_MAX + 1], link[PATH_MAX];
	int dir = open_done(walk), more;
	while (dir >= 0 && (more = take_name(walk, name)) != 0) {
		bool up = more > 0 && strcmp(name, "..") == 0;
		int fd = up || more < 0 ? -1 : step(walk->os, dir, name, O_PATH);
		if (more < 0 || (!up && fd < 0))
			return miss(walk, dir);
		size_t n = up ? 0 : read_link(walk->os, fd, link);
		bool special = n && (stands_for(link) || strcmp(link, INSIDE_MISSING) == 0);
		bool end = walk->rest[strspn(walk->rest, "/")] == '\0';
		if (special && (!end || !stands_for(link))) {
			errno = stands_for(link) ? ENOTDIR : ENOENT;
			os_close(walk->os, fd);
			os_close(walk->os, dir);
			return -1;
		}
		if (special || (n && end && !follow)) {
			os_close(walk->os, dir);
			return fd;
		}
		int rc = n ? take_link(walk, link) : go(walk, name);
		if (rc == 0 && !n && !up) {
			os_close(walk->os, dir);
			dir = fd;
			continue;
		}
		os_close(walk->os, fd);
		os_close(walk->os, dir);
		dir = rc == 0 ? open_done(walk) : -1;
	}
	return dir;
}

/** Resolve a name as openat(2) takes it, or "" for what dirfd is. */
static int find(struct os *os, int dirfd, const char *path, bool follow)
{
	struct walk *walk = calloc(1, sizeof(*walk));
	int fd = -1;
	if (!walk)
		return -1;
	walk->os = os;
	walk->top = *path == '/' ? os->inside - 1 : dirfd;
	if (walk->top < 0)
		errno = ENOENT;
	else if (strlen(path) >= PATH_MAX)
		errno = ENAMETOOLONG;
	else {
		memcpy(walk->rest, path, strlen(path) + 1);
		fd = resolve(walk, follow);
	}
	int error = errno;
	free(walk);
	errno = error;
	return fd;
}

int os_inside_open(struct os *os, int dirfd, const char *path, int flags)
{
	char link[PATH_MAX], self[sizeof("/proc/self/fd/") + 12];
	if ((flags & O_ACCMODE) != O_RDONLY) {
		errno = EROFS;
		return -1;
	}
	int fd = find(os, dirfd, path, !(flags & O_NOFOLLOW));
	if (fd < 0)
		return -1;
	unsigned type = type_of(os, fd);
	int error = 0;
	if (type == S_IFLNK && read_link(os, fd, link) && !stands_for(link) && !(flags & O_PATH))
		error = ELOOP;
	else if (flags & O_DIRECTORY && type != S_IFDIR)
		error = ENOTDIR;
	else if (!(flags & O_PATH) && type != S_IFREG && type != S_IFDIR)
		error = type == S_IFLNK ? EACCES : ENOTSUP;
	else if (!(flags & O_PATH) && type == S_IFDIR && is_part(os, fd))
		error = EACCES;
	if (error || flags & O_PATH) {
		if (error)
			os_close(os, fd);
		errno = error;
		return error ? -1 : fd;
	}
	/* The same again, to be read: it is a file or a directory, and no name is between. */
	int own;
	if (type == S_IFDIR) {
		own = step(os, fd, ".", flags);
	} else {
		size_t n = sizeof("/proc/self/fd/") - 1;
		memcpy(self, "/proc/self/fd/", n);
		char digits[12];
		size_t len = 0;
		for (int rest = fd; len == 0 || rest; rest /= 10)
			digits[len++] = (char)('0' + rest % 10);
		while (len)
			self[n++] = digits[--len];
		self[n] = '\0';
		own = OS_CALL(os, OS_OPENAT, openat(AT_FDCWD, self, (flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	}
	os_close(os, fd);
	return own;
}

bool os_inside_block(struct os *os, int fd, uint32_t *major, uint32_t *minor)
{
	char link[PATH_MAX], *end;
	if (!read_link(os, fd, link) || !stands_for_block(link))
		return false;
	unsigned long number = strtoul(link + sizeof(INSIDE_BLOCK) - 1, &end, 10);
	*major = (uint32_t)number;
	*minor = *end == ':' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
	return true;
}

int os_inside_statx(struct os *os, int dirfd, const char *path, int flags, struct k_statx *out)
{
	struct stat st;
	bool own = *path == '\0' && flags & AT_EMPTY_PATH;
	int fd = own ? dirfd : find(os, dirfd, path, !(flags & AT_SYMLINK_NOFOLLOW));
	if (fd < 0)
		return -1;
	int rc = OS_CALL(os, OS_FSTAT, fstat(fd, &st));
	if (rc == 0) {
		out->mask = K_STATX_TYPE | K_STATX_NLINK | K_STATX_INO;
		out->mode = (uint16_t)st.st_mode;
		out->nlink = (uint32_t)st.st_nlink;
		out->ino = st.st_ino;
		out->size = (uint64_t)st.st_size;
		/* Nodes of devices tell nothing: their numbers are of where they were made. */
		if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
			out->mode = S_IFSOCK;
		char link[PATH_MAX];
		if (S_ISLNK(st.st_mode) && os_inside_block(os, fd, &out->rdev_major, &out->rdev_minor))
			out->mode = S_IFBLK | 0600;
		else if (S_ISLNK(st.st_mode) && read_link(os, fd, link) && stands_for(link))
			out->mode = S_IFSOCK;
	}
	if (!own)
		os_close(os, fd);
	return rc;
}

ssize_t os_inside_readlink(struct os *os, int dirfd, const char *path, char *buf, size_t size)
{
	char link[PATH_MAX];
	int fd = find(os, dirfd, path, false);
	if (fd < 0)
		return -1;
	size_t n = read_link(os, fd, link);
	os_close(os, fd);
	if (n == 0 || stands_for(link)) {
		errno = EINVAL;
		return -1;
	}
	n = n < size ? n : size - 1;
	memcpy(buf, link, n);
	buf[n] = '\0';
	return (ssize_t)n;
}
