/* SPDX-License-Identifier: MIT */
/*
 * Directories and their descriptors.
 *
 * The number of descriptors is limited.  A directory whose children wait stays open while there is
 * room.  Breadth-first, the directory opened last is closed first, as it is needed last;
 * depth-first, the one opened first.  A closed directory is reopened from its nearest open
 * ancestor, without following symlinks, and must show the same mount as before.
 *
 * Invariants (bfs_dirs_check()):
 *  - the list by age contains the directories with a descriptor, except the root, and
 *    open_fds is their number;
 *  - a busy directory has a descriptor.
 */
#include "bfs/bfs_impl.h"

#include "base/fail.h"
#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void bfs_dir_opened(struct bfs *bfs, struct bfs_dir *dir, int fd, unsigned by)
{
	dir->fd = fd;
	dir->by = by;
	TAILQ_INSERT_HEAD(&bfs->open, dir, open);
	if (++bfs->open_fds > bfs->stats.peak_fds)
		bfs->stats.peak_fds = bfs->open_fds;
}

/** Close a directory, which can be reopened.  @now  Close it here, not in the worker that opened
    it. */
static void dir_close(struct bfs *bfs, struct bfs_dir *dir, bool now)
{
	if (dir->fd < 0 || dir == bfs->root)
		return;
	if (dir->by && bfs->pool && !now)
		bfs_pool_close(bfs->pool, bfs->os, dir->by, dir->fd);
	else
		os_close(bfs->os, dir->fd);
	dir->fd = -1;
	TAILQ_REMOVE(&bfs->open, dir, open);
	--bfs->open_fds;
}

void bfs_dirs_evict(struct bfs *bfs, unsigned n)
{
	bool depth = bfs->policy->order == BFS_DEPTH;
	struct bfs_dir *dir = depth ? TAILQ_LAST(&bfs->open, bfs_dirs) : TAILQ_FIRST(&bfs->open);
	while (dir && bfs->open_fds > n) {
		struct bfs_dir *next = depth ? TAILQ_PREV(dir, bfs_dirs, open)
		                             : TAILQ_NEXT(dir, open);
		if (dir->busy == 0)
			dir_close(bfs, dir, n == 0);
		dir = next;
	}
}

/** Whether a name is part of a path: not the root, nor ".". */
static bool dir_shown(const char *name)
{
	return name[0] != '\0' && strcmp(name, ".") != 0;
}

struct bfs_dir *bfs_dir_new(struct bfs_dir *parent, const char *name, uint32_t tag, int depth)
{
	size_t n = strlen(name);
	struct bfs_dir *dir = malloc(sizeof(*dir) + n + 1);
	if (!dir)
		return NULL;
	*dir = (struct bfs_dir){
		.parent = parent,
		.fd = -1,
		.tag = tag,
		.depth = depth,
		.shown = dir_shown(name) ? n : 0,
	};
	memcpy(dir->name, name, n + 1);
	if (parent)
		++parent->refs;
	return dir;
}

void bfs_dir_unref(struct bfs *bfs, struct bfs_dir *dir)
{
	while (dir && --dir->refs == 0) {
		struct bfs_dir *parent = dir->parent;
		dir_close(bfs, dir, false);
		free(dir);
		dir = parent;
	}
}

/** Append the path of a directory below `top` to out, without a leading "/". */
static void dir_path(const struct bfs_dir *dir, const struct bfs_dir *top, struct strbuf *out)
{
	size_t len = 0;
	for (const struct bfs_dir *d = dir; d && d != top; d = d->parent) {
		if (d->shown)
			len += d->shown + 1;
	}
	if (len == 0)
		return;
	char *start = strbuf_extend(out, len - 1);
	char *end = start ? start + len - 1 : NULL;
	for (const struct bfs_dir *d = dir; start && d && d != top; d = d->parent) {
		if (!d->shown)
			continue;
		end -= d->shown;
		memcpy(end, d->name, d->shown);
		if (end > start)
			*--end = '/';
	}
}

void bfs_path(const struct bfs_at *at, struct strbuf *out)
{
	size_t start = out->len;
	strbuf_putc(out, '/');
	dir_path(at->parent, NULL, out);
	const char *parts[2] = {at->dir, at->name};
	for (int i = 0; i < 2; ++i) {
		if (!dir_shown(parts[i]))
			continue;
		if (out->len > start + 1)
			strbuf_putc(out, '/');
		strbuf_puts(out, parts[i]);
	}
}

/** If path[0..*len) ends with a name, cut the name off.  @return whether it does. */
static bool path_cut(const char *path, size_t *len, const char *name, size_t n)
{
	if (*len <= n || memcmp(path + *len - n, name, n) != 0 || path[*len - n - 1] != '/')
		return false;
	*len -= n + 1;
	return true;
}

bool bfs_path_is(const struct bfs_at *at, const char *path)
{
	size_t len = strlen(path);
	if (dir_shown(at->name) && !path_cut(path, &len, at->name, strlen(at->name)))
		return false;
	if (dir_shown(at->dir) && !path_cut(path, &len, at->dir, strlen(at->dir)))
		return false;
	for (const struct bfs_dir *d = at->parent; d; d = d->parent) {
		if (d->shown && !path_cut(path, &len, d->name, d->shown))
			return false;
	}
	return len == 0;
}

/** Open a path below a descriptor without following symlinks: with openat2 in as few pieces as the
    kernel accepts, otherwise name by name. */
static int open_below(struct bfs *bfs, int dirfd, char *path, bool same_mount)
{
	uint64_t resolve = RESOLVE_NO_SYMLINKS | (same_mount ? RESOLVE_NO_XDEV : 0);
	if (!(bfs->os->caps & OSC_OPENAT2))
		return path_open_below(bfs->os, dirfd, path, NULL, NULL);
	for (int at = dirfd;;) {
		char *cut = strlen(path) < PATH_MAX ? NULL : path + PATH_MAX - 1;
		while (cut && *cut != '/')
			--cut;
		if (cut)
			*cut = '\0';
		/* Without O_DIRECTORY, which would trigger an automount. */
		int fd = os_openat2(bfs->os, at, path, O_PATH | O_NOFOLLOW, resolve);
		if (at != dirfd)
			os_close(bfs->os, at);
		if (cut)
			*cut = '/';
		if (!cut || fd < 0)
			return fd;
		path = cut + 1;
		at = fd;
	}
}

/** Whether a descriptor is on the mount that belongs to the tag. */
static bool fd_shows(struct bfs *bfs, int fd, uint32_t tag)
{
	bool unique = false;
	uint64_t want = bfs->policy->mnt_id(bfs->policy->arg, tag, &unique);
	if (want == 0)
		return true;
	struct k_statx st;
	unsigned mask = unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	if (os_statx(bfs->os, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, &st) != 0)
		return false;
	if (os_statx_mnt_id(&st, unique) == want)
		return true;
	errno = EXDEV;
	return false;
}

int bfs_dir_open(struct bfs *bfs, struct bfs_dir *dir)
{
	if (dir == bfs->root || dir->fd >= 0)
		return 0;
	struct bfs_dir *from = dir->parent;
	while (from != bfs->root && from->fd < 0)
		from = from->parent;

	struct strbuf path = {0};
	dir_path(dir, from, &path);
	if (path.len == 0)
		strbuf_putc(&path, '.');
	if (path.failed) {
		strbuf_destroy(&path);
		return fail(ENOMEM);
	}
	++from->busy;
	bfs_dirs_evict(bfs, bfs->max_fds - 1);
	bool same = from != bfs->root && from->tag == dir->tag;
	int fd = open_below(bfs, from->fd, path.data, same);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		/* Fewer descriptors than max_fds are available: close all except the one needed. */
		bfs_dirs_evict(bfs, 0);
		fd = open_below(bfs, from->fd, path.data, same);
	}
	--from->busy;
	strbuf_destroy(&path);
	if (fd < 0)
		return -1;
	bool refused = same && bfs->os->caps & OSC_OPENAT2;
	if (!refused && !fd_shows(bfs, fd, dir->tag)) {
		os_close(bfs->os, fd);
		return -1;
	}
	bfs_dir_opened(bfs, dir, fd, 0);
	++bfs->stats.reopened;
	return 0;
}

void bfs_dirs_check(struct bfs *bfs)
{
#ifndef NDEBUG
	/* Check the whole list only sometimes: it may be long. */
	uint64_t turn = ++bfs->checks;
	const struct bfs_dir *dir;
	unsigned n = 0;
	assert((bfs->open_fds == 0) == TAILQ_EMPTY(&bfs->open));
	if (turn & (turn - 1))
		return;
	TAILQ_FOREACH(dir, &bfs->open, open) {
		assert(dir->fd >= 0 && dir->refs > 0 && dir != bfs->root);
		assert(!dir->parent || dir->parent->refs > 0);
		++n;
	}
	assert(n == bfs->open_fds && n <= bfs->stats.peak_fds);
#else
	(void)bfs;
#endif
}
