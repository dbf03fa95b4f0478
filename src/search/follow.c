/* SPDX-License-Identifier: MIT */
/*
 * Following symlinks component by component.
 *
 * Each component is opened with O_PATH and O_NOFOLLOW: the last component of a lookup triggers no
 * automount.  openat2(2) refuses to cross into another mount (RESOLVE_NO_XDEV) without accessing
 * it; then its path and its mount ID decide whether it may be entered.
 */
#include "search/follow.h"

#include "base/array.h"
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

void search_mounts_destroy(struct search_mounts *mounts)
{
	avoid_free(mounts->avoid);
	avoid_free(mounts->unlisted);
	map64_destroy(&mounts->known);
	for (uint32_t i = 0; i < mounts->nfs; ++i)
		bfs_fs_free(mounts->fs[i]);
	free(mounts->fs);
	*mounts = (struct search_mounts){0};
}

int search_mounts_refuse(const struct search_mounts *mounts, const struct os *os, uint64_t id)
{
	if (mounts->any || !(os->caps & OSC_STATX_MNT_ID))
		return 0;
	uint32_t known = map64_get(&mounts->known, id);
	return known == MAP64_NONE ? EXDEV : known & MOUNT_BLOCKS ? EREMOTE : 0;
}

bool search_dir_waits(struct os *os, int dirfd, const char *name)
{
	struct statfs st;
	return fstype_dir_waits("proc", name) && os_fstatfs(os, dirfd, &st) == 0
	       && st.f_type == PROC_SUPER_MAGIC;
}

/** The state of following a path. */
struct follow {
	struct os *os;
	const struct search_mounts *mounts, *policy;   /* mounts: NULL: all may be accessed */
	struct path_walk walk;
	int start, at;            /* the caller's directory; the current directory */
	int next;                 /* the next component, opened; or -1 */
};

/** Replace the current directory. */
static void move_to(struct follow *follow, int fd)
{
	if (follow->at != follow->start)
		os_close(follow->os, follow->at);
	follow->at = fd;
}

/** Whether the current directory may be accessed. */
static bool may_touch(const struct follow *follow)
{
	if (follow->walk.adrift)
		return false;
	uint32_t cover = avoid_cover(follow->mounts->avoid, path_text(&follow->walk));
	return cover == AVOID_NONE || cover == follow->mounts->entered;
}

/** Why the mount on a name in the current directory must not be entered; 0: it may be. */
static int refuse_cross(struct follow *follow, const char *name)
{
	const struct search_mounts *mounts = follow->mounts;
	struct k_statx st;
	if (!may_touch(follow))
		return EREMOTE;
	unsigned mask = mounts->unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (os_statx(follow->os, follow->at, name, flags, mask, &st) != 0)
		return EREMOTE;
	uint64_t id = os_statx_mnt_id(&st, mounts->unique);
	return id && id == mounts->entered_id ? 0 : search_mounts_refuse(mounts, follow->os, id);
}

/** Open a name in the current directory. */
static int open_name(struct follow *follow, const char *name)
{
	struct os *os = follow->os;
	int flags = O_PATH | O_NOFOLLOW;
	if (follow->mounts) {
		if (search_dir_waits(os, follow->at, name)) {
			errno = EREMOTE;
			return -1;
		}
		int fd = os_openat2(os, follow->at, name, flags, RESOLVE_NO_XDEV);
		if (fd >= 0 || (errno != EXDEV && errno != ENOSYS))
			return fd;
		int error = errno == EXDEV ? refuse_cross(follow, name)
		            : may_touch(follow) ? 0 : EREMOTE;
		if (error != 0) {
			errno = error;
			return -1;
		}
	}
	return os_openat(os, follow->at, name, flags);
}

/** Why the kernel would not follow the link that was opened; 0: it would.  (may_follow_link() and
    pick_link() in fs/namei.c) */
static int refuse_link(const struct follow *follow)
{
	const struct search_mounts *policy = follow->policy;
	bool trailing = policy && policy->protected_links && path_is_done(&follow->walk);
	if (!trailing && !(policy && policy->nosymfollow))
		return 0;
	struct k_statx st, dir;
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	unsigned id = policy->unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	if (os_statx(follow->os, follow->next, "", flags, K_STATX_UID | id, &st) != 0)
		return errno;
	if (trailing && st.uid != os_geteuid(follow->os)) {
		if (os_statx(follow->os, follow->at, "", flags, K_STATX_MODE | K_STATX_UID, &dir)
		    != 0)
			return errno;
		if (dir.mode & S_ISVTX && dir.mode & S_IWOTH && dir.uid != st.uid)
			return EACCES;
	}
	uint32_t known = map64_get(&policy->known, os_statx_mnt_id(&st, policy->unique));
	return known != MAP64_NONE && known & MOUNT_NOSYMFOLLOW ? ELOOP : 0;
}

static ssize_t follow_link(void *arg, struct path_walk *walk, char target[PATH_MAX])
{
	struct follow *follow = arg;
	struct os *os = follow->os;
	follow->next = open_name(follow, path_name(walk));
	if (follow->next < 0) {
		errno = errno == EINVAL ? ENOTSUP : errno;   /* EINVAL: not a symlink */
		return -1;
	}
	ssize_t n = os_readlinkat(os, follow->next, "", target, PATH_MAX);
	/* Both errors mean that it is not a symlink. */
	if (n < 0 && (errno == ENOENT || errno == EINVAL)) {
		errno = EINVAL;
		return -1;
	}
	int error = n < 0 ? errno : refuse_link(follow);
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
	/* A component followed by a slash or another component must be a directory. */
	if (walk->last || os_file_type(follow->os, follow->at, NULL, NULL) == S_IFDIR)
		return 0;
	errno = ENOTDIR;
	return -1;
}

static int follow_up(void *arg, struct path_walk *walk)
{
	struct follow *follow = arg;
	(void)walk;
	int fd = open_name(follow, "..");
	if (fd < 0)
		return -1;
	move_to(follow, fd);
	return 0;
}

static int follow_top(void *arg, struct path_walk *walk)
{
	struct follow *follow = arg;
	int fd = os_openat(follow->os, AT_FDCWD, "/", O_PATH);
	if (fd < 0)
		return -1;
	move_to(follow, fd);
	walk->adrift = false;
	if (!follow->mounts || may_touch(follow))
		return 0;
	errno = EREMOTE;
	return -1;
}

int follow_path(struct os *os, const struct search_mounts *mounts, int dirfd,
                struct strbuf *place, const char *target)
{
	struct follow follow = {
		.os = os, .mounts = mounts && !mounts->any ? mounts : NULL, .policy = mounts,
		.start = dirfd, .at = dirfd, .next = -1,
	};
	const struct path_how how = {
		.link = follow_link, .enter = follow_enter, .up = follow_up, .top = follow_top,
		.arg = &follow,
	};
	struct path_walk *walk = &follow.walk;
	int rc = path_begin(walk, target);
	walk->adrift = !place->len;
	if (rc == 0 && *target == '/')
		rc = follow_top(&follow, walk);
	else if (rc == 0 && place->len > 1)
		strbuf_puts(&walk->text, strbuf_str(place));
	if (rc == 0)
		rc = path_resolve(walk, &how);
	if (rc == 0 && !walk->adrift) {
		strbuf_reset(place);
		strbuf_puts(place, path_text(walk));
	}
	if (rc == 0 && (place->failed || walk->text.failed)) {
		errno = ENOMEM;
		rc = -1;
	}
	if (rc == 0 && follow.at == dirfd) {
		follow.at = os_openat(os, dirfd, ".", O_PATH);
		rc = follow.at < 0 ? -1 : 0;
	}
	int error = errno;
	if (rc != 0)
		move_to(&follow, dirfd);
	path_destroy(walk);
	errno = error;
	return rc == 0 ? follow.at : -1;
}

bool seen_above(const struct seen *seen, const struct seen_dir *dir)
{
	for (uint32_t number = dir->parent; number != SEEN_NONE;) {
		const struct seen_dir *above = &seen->dirs[number];
		if (above->mount == dir->mount && above->dev == dir->dev && above->ino == dir->ino)
			return true;
		number = above->parent;
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
