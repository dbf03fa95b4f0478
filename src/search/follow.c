/* SPDX-License-Identifier: MIT */
/*
 * Follow symlinks component by component.
 *
 * Each component is opened with O_PATH and O_NOFOLLOW, since the last component of a lookup
 * triggers no automount.  The table of mounts has the names that lead to further mounts.
 * openat2(2) with RESOLVE_NO_XDEV refuses to cross into a mount, without accessing the mount; then
 * the ID of the mount decides whether it may be entered.
 */
#include "search/follow.h"

#include "base/array.h"
#include "base/fail.h"
#include "base/fstypes.h"
#include "bfs.h"
#include "os/change.h"
#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

bool search_dir_waits(struct os *os, int dirfd, const char *name)
{
	struct statfs st;
	return fstype_dir_waits("proc", name) && os_fstatfs(os, dirfd, &st) == 0
	       && st.f_type == PROC_SUPER_MAGIC;
}

/** The state of resolving a path. */
struct follow {
	struct os *os;
	const struct search_mounts *mounts;   /* NULL: everything may be accessed */
	struct path_walk walk;
	int start, at;            /* start: the caller's dirfd; at: the current directory */
	uint64_t mount;           /* mount ID of the current directory; 0: unknown */
	uint32_t node;            /* node of the current directory in mounts->avoid */
	int next;                 /* descriptor of the next component; or -1 */
	uint64_t next_mount;
	uint32_t next_node;
};

/** Replace the current directory, and close its descriptor. */
static void move_to(struct follow *follow, int fd)
{
	if (follow->at != follow->start)
		os_close(follow->os, follow->at);
	follow->at = fd;
}

/** Determine the mount that a name in the current directory leads to, and whether it may be
    entered.  Sets next_mount and next_node.
    @return 0, or -1.  Errors: as for search_mounts_refuse(). */
static int cross(struct follow *follow, const char *name)
{
	const struct search_mounts *mounts = follow->mounts;
	struct k_statx st;
	const struct search_mount *m = search_mount_at(mounts, follow->next_node);
	/* If the mounts below the current directory are unknown, even a statx of the mount's root
	   can block. */
	if (follow->node == AVOID_UNKNOWN)
		return fail(EXDEV);
	unsigned mask = mounts->unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (os_statx(follow->os, follow->at, name, flags, mask, &st) != 0)
		return fail(EREMOTE);
	uint64_t id = os_statx_mnt_id(&st, mounts->unique);
	int error = search_mounts_refuse(mounts, follow->os, id);
	if (error != 0)
		return fail(error);
	follow->next_mount = id ? id : m ? m->id : 0;
	if (id && (!m || m->id != id))
		follow->next_node = search_mounts_root(mounts, id);
	return 0;
}

/** Open a name in the current directory with O_PATH, if it may be accessed.
    @return a descriptor, or -1. */
static int open_name(struct follow *follow, const char *name)
{
	const struct search_mounts *mounts = follow->mounts;
	struct os *os = follow->os;
	int flags = O_PATH | O_NOFOLLOW;
	if (!mounts)
		return os_openat(os, follow->at, name, flags);
	follow->next_mount = follow->mount;
	follow->next_node = avoid_step(mounts->avoid, follow->node, name, strlen(name));
	if (search_mounts_blocked(mounts, follow->next_node)
	    || (!mounts->any && search_dir_waits(os, follow->at, name)))
		return fail(EREMOTE);
	int fd = os_openat2(os, follow->at, name, flags, RESOLVE_NO_XDEV);
	if (fd >= 0 || (errno != EXDEV && errno != ENOSYS))
		return fd;
	const struct search_mount *m = search_mount_at(mounts, follow->next_node);
	if (errno == EXDEV ? cross(follow, name) != 0 : follow->node == AVOID_UNKNOWN)
		return fail(errno == ENOSYS ? EREMOTE : errno);
	if (m && follow->next_mount == follow->mount)
		follow->next_mount = m->id;
	return os_openat(os, follow->at, name, flags);
}

/** Whether fs.protected_symlinks forbids to follow the symlink `next`, called `name`. */
static bool is_protected(const struct follow *follow, const char *name)
{
	struct os *os = follow->os;
	struct k_statx st, dir;
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	/* With RESOLVE_NO_SYMLINKS, the kernel first checks fs.protected_symlinks (EACCES), and
	   then refuses every symlink (ELOOP). */
	const uint64_t resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
	int fd = os_openat2(os, follow->at, name, O_PATH, resolve);
	os_close(os, fd);
	if (fd >= 0 || errno != ENOSYS)
		return fd < 0 && errno == EACCES;
	if (os_statx(os, follow->next, "", flags, K_STATX_UID, &st) != 0
	    || os_statx(os, follow->at, "", flags, K_STATX_MODE | K_STATX_UID, &dir) != 0)
		return true;
	return path_is_planted(os_geteuid(os), st.uid, dir.uid, dir.mode);
}

/** Get the error with which the kernel would refuse to follow the symlink `next`; 0: it would
    follow the symlink. */
static int refuse_link(const struct follow *follow, const char *name)
{
	const struct search_mounts *mounts = follow->mounts;
	if (!mounts)
		return 0;
	if (mounts->protected_links && path_is_done(&follow->walk) && is_protected(follow, name))
		return EACCES;
	const struct search_mount *m = search_mount_find(mounts, follow->next_mount);
	return m && m->flags & MOUNT_NOSYMFOLLOW ? ELOOP : 0;
}

static ssize_t follow_link(void *arg, struct path_walk *walk, char target[PATH_MAX])
{
	struct follow *follow = arg;
	struct os *os = follow->os;
	follow->next = open_name(follow, path_name(walk));
	if (follow->next < 0)
		return fail(errno == EINVAL ? ENOTSUP : errno);   /* EINVAL: not a symlink */
	ssize_t n = os_readlinkat(os, follow->next, "", target, PATH_MAX);
	/* Both errors mean that the component is not a symlink. */
	if (n < 0 && (errno == ENOENT || errno == EINVAL))
		return fail(EINVAL);
	int error = n < 0 ? errno : refuse_link(follow, path_name(walk));
	os_close(os, follow->next);
	follow->next = -1;
	errno = error;
	return error == 0 ? n : -1;
}

static int follow_enter(void *arg, struct path_walk *walk)
{
	struct follow *follow = arg;
	move_to(follow, follow->next);
	follow->next = -1;
	follow->mount = follow->next_mount;
	follow->node = follow->next_node;
	/* A component followed by a slash or another component must be a directory. */
	if (walk->last || os_file_type(follow->os, follow->at, NULL, NULL) == S_IFDIR)
		return 0;
	return fail(ENOTDIR);
}

static int follow_up(void *arg, struct path_walk *walk)
{
	struct follow *follow = arg;
	const struct search_mounts *mounts = follow->mounts;
	struct os *os = follow->os;
	const struct search_mount *m = NULL;
	int fd = -1;
	errno = ENOSYS;
	if (mounts && !walk->path_unknown)
		m = search_mount_up(mounts, follow->mount, path_text(walk));
	if (m && m->id != follow->mount) {
		int error = search_mounts_refuse(mounts, os, m->id);
		if (error != 0)
			return fail(error);
		follow->mount = m->id;
	} else if (mounts && !mounts->any) {
		fd = os_openat2(os, follow->at, "..", O_PATH, RESOLVE_NO_XDEV);
		if (fd < 0 && (!m || errno != ENOSYS))
			return fail(errno == ENOSYS ? EREMOTE : errno);
	}
	if (fd < 0)
		fd = os_openat(os, follow->at, "..", O_PATH);
	if (fd < 0)
		return -1;
	move_to(follow, fd);
	if (mounts)
		follow->node = search_mounts_node(mounts, follow->mount,
		                                  walk->path_unknown ? "" : path_text(walk));
	return 0;
}

static int follow_top(void *arg, struct path_walk *walk)
{
	struct follow *follow = arg;
	const struct search_mounts *mounts = follow->mounts;
	if (mounts) {
		follow->mount = mounts->top;
		follow->node = search_mounts_node(mounts, follow->mount, "/");
		if (search_mounts_refuse(mounts, follow->os, follow->mount) == EREMOTE)
			return fail(EREMOTE);
	}
	int fd = os_openat(follow->os, AT_FDCWD, "/", O_PATH);
	if (fd < 0)
		return -1;
	move_to(follow, fd);
	walk->path_unknown = false;
	return 0;
}

int follow_path(struct os *os, const struct search_mounts *mounts, int dirfd,
                struct follow_place *place, const char *target)
{
	struct follow follow = {
		.os = os, .mounts = mounts, .start = dirfd, .at = dirfd, .next = -1,
		.mount = place->mount,
	};
	const struct path_how how = {
		.link = follow_link, .enter = follow_enter, .up = follow_up, .top = follow_top,
		.arg = &follow,
	};
	struct path_walk *walk = &follow.walk;
	int rc = path_begin(walk, target);
	walk->path_unknown = !place->path.len;
	if (rc == 0 && *target == '/')
		rc = follow_top(&follow, walk);
	else if (rc == 0 && place->path.len > 1)
		strbuf_puts(&walk->text, strbuf_str(&place->path));
	if (mounts && *target != '/')
		follow.node = search_mounts_node(mounts, place->mount, strbuf_str(&place->path));
	if (rc == 0)
		rc = path_resolve(walk, &how);
	place->mount = follow.mount;
	strbuf_reset(&place->path);
	if (rc == 0 && !walk->path_unknown)
		strbuf_puts(&place->path, path_text(walk));
	if (rc == 0 && (place->path.failed || walk->text.failed)) {
		errno = ENOMEM;
		rc = -1;
	}
	if (rc == 0 && follow.at == dirfd) {
		follow.at = os_openat(os, dirfd, ".", O_PATH);
		rc = follow.at < 0 ? -1 : 0;
	}
	if (rc != 0)
		move_to(&follow, dirfd);
	path_destroy(walk);
	return rc == 0 ? follow.at : -1;
}

void seen_destroy(struct seen *seen)
{
	free(seen->dirs);
	map64_destroy(&seen->by_hash);
	*seen = (struct seen){0};
}

static bool seen_same(const struct seen_dir *a, const struct seen_dir *b)
{
	return a->mount == b->mount && a->dev == b->dev && a->ino == b->ino;
}

bool seen_above(const struct seen *seen, const struct seen_dir *dir)
{
	for (uint32_t number = dir->parent; number != SEEN_NONE;) {
		if (seen_same(&seen->dirs[number], dir))
			return true;
		number = seen->dirs[number].parent;
	}
	return false;
}

uint32_t seen_add(struct seen *seen, const struct seen_dir *dir)
{
	if (seen->n == SEEN_NONE || !ARRAY_ROOM(seen->dirs, seen->n, &seen->size))
		return SEEN_NONE;
	seen->dirs[seen->n] = *dir;
	return seen->n++;
}

int seen_once(struct seen *seen, const struct seen_dir *dir)
{
	const uint64_t what[] = {dir->mount, dir->dev, dir->ino, dir->state};
	uint64_t hash = map64_bytes(MAP64_BYTES, (const char *)what, sizeof(what));
	/* If another directory has the same hash, try the next hash. */
	for (uint32_t old; (old = map64_get(&seen->by_hash, hash)) != MAP64_NONE; ++hash) {
		if (seen_same(&seen->dirs[old], dir) && seen->dirs[old].state == dir->state)
			return EEXIST;
	}
	uint32_t n = seen_add(seen, dir);
	return n != SEEN_NONE && map64_put(&seen->by_hash, hash, n) == n ? 0 : ENOMEM;
}
