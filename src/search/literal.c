/* SPDX-License-Identifier: MIT */
/*
 * Look up the object of a pattern that is a single path, without reading a directory.
 */
#include "search/search_impl.h"

#include "base/fstypes.h"
#include "path/resolve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/** Whether a descriptor is on the mount of the root.  Errors: EXDEV: it is on another mount; errors
    of statx(2). */
static bool literal_here(SEARCH *search, int fd)
{
	struct k_statx st;
	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	if (os_statx(&search->os, fd, "", flags, search_id_mask(search), &st) != 0)
		return false;
	if (!search_elsewhere(search, &st))
		return true;
	errno = EXDEV;
	return false;
}

/** Without openat2(2): open one component of a path for literal_dir(). */
static int literal_step(void *arg, int dirfd, const char *name)
{
	SEARCH *search = arg;
	int fd = os_openat(&search->os, dirfd, name, O_PATH | O_NOFOLLOW);
	if (fd >= 0 && search->flags & SEARCH_XDEV && !literal_here(search, fd)) {
		os_close(&search->os, fd);
		return -1;
	}
	return fd;
}

/** Open a directory below the root without following symlinks.
    @return a descriptor, or -1; for "." the descriptor of the root, search->root.fd. */
static int literal_dir(SEARCH *search, const char *path)
{
	struct os *os = &search->os;
	if (strcmp(path, ".") == 0)
		return search->root.fd;
	if (os->caps & OSC_OPENAT2) {
		uint64_t resolve = RESOLVE_NO_SYMLINKS
		                   | (search->flags & SEARCH_XDEV ? RESOLVE_NO_XDEV : 0);
		return os_openat2(os, search->root.fd, path, O_PATH | O_NOFOLLOW, resolve);
	}
	return path_open_below(os, search->root.fd, path, literal_step, search);
}

/** Open a path below the root.  With FOLLOW symlinks are followed.
    @place  Initialized.  With FOLLOW [out] mount and path of the opened object.
    @return as literal_dir(). */
static int literal_open(SEARCH *search, const char *path, struct follow_place *place)
{
	if (!(search->flags & SEARCH_FOLLOW))
		return literal_dir(search, path);
	place->mount = search->root.mount;
	strbuf_puts(&place->path, strbuf_str(&search->root.place.path));
	return follow_path(&search->os, &search->mounts, search->root.fd, place, path);
}

/** Whether a directory on a mount may not list every name that can be looked up in it; true for an
    unknown mount. */
static bool is_unlisted(const SEARCH *search, uint64_t id)
{
	const struct search_mount *m = search_mount_find(&search->mounts, id);
	return !m || m->flags & MOUNT_UNLISTED;
}

/** Whether a path below the root can be looked up instead of reading directories.  No component may
    lead to a mount that can block or is unknown.  No directory on the path may be too deep to be
    entered, block when it is read, or have names that it does not list.  If the result is false,
    the normal search reports the reason.
    @node  Node of the root in the table of mounts. */
static bool literal_clear(const SEARCH *search, char *path, uint32_t node)
{
	uint64_t mount = search->root.mount;
	for (unsigned depth = 1;; ++depth) {
		char *end = strchrnul(path, '/');
		if (node == AVOID_UNKNOWN || is_unlisted(search, mount))
			return false;
		node = avoid_step(search->mounts.avoid, node, path, (size_t)(end - path));
		if (search_mounts_blocked(&search->mounts, node))
			return false;
		if (!*end)
			return true;
		const struct search_mount *m = search_mount_at(&search->mounts, node);
		mount = m ? m->id : mount;
		*end = '\0';
		bool waits = search_mounts(search) && fstype_dir_waits("proc", path);
		*end = '/';
		if (waits || (search->depth && depth > search->depth))
			return false;
		path = end + 1;
	}
}

/** Whether a directory on a path may ignore case, so that only listing it shows how a name is
    written.  True if a component also exists with one letter in the other case, or has non-ASCII
    letters only. */
static bool literal_folds(SEARCH *search, char *path)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (char *name = path;; ++name) {
		char *end = strchrnul(name, '/'), after = *end, *letter = name;
		bool ascii = true;
		for (; letter < end && !memchr(letters, *letter, sizeof(letters) - 1); ++letter)
			ascii &= (unsigned char)*letter < 0x80;
		if (letter == end && !ascii)
			return true;
		if (letter < end) {
			struct follow_place place = {0};
			*end = '\0';
			*letter ^= 'a' ^ 'A';
			int fd = literal_open(search, path, &place);
			bool exists = fd >= 0 || errno != ENOENT;
			os_close(&search->os, fd);
			strbuf_destroy(&place.path);
			*letter ^= 'a' ^ 'A';
			*end = after;
			if (exists)
				return true;
		}
		if (!after)
			return false;
		name = end;
	}
}

/** Look up a name in scratch->fd, and report the object.
    @place  With FOLLOW: mount and path of scratch->fd.
    @return whether the object exists; errors are reported. */
static bool literal_entry(SEARCH *search, struct bfs_scratch *scratch, struct follow_place *place,
                          const char *name)
{
	struct bfs_entry entry = {.name = name, .len = strlen(name)};
	struct k_statx st;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | search->policy.statx_flags;
	bool follow = search->flags & SEARCH_FOLLOW;
	if (scratch->fd >= 0 && follow) {
		if (!(search->flags & SEARCH_XDEV) || literal_here(search, scratch->fd))
			search_follow_link(search, scratch, place, 0, NULL, &entry, NULL, NULL,
			                   &(struct name_note){.does = PATTERN_MATCH});
		return scratch->output->dir.len > 0 || scratch->output->batch_done.n > 0;
	} else if (scratch->fd < 0
	           || os_statx(&search->os, scratch->fd, name, flags, search->policy.statx_mask,
	                       &st) != 0) {
		if (errno != ENOENT && errno != ENOTDIR
		    && (follow || (errno != ELOOP && errno != EXDEV)))
			search_put_error(scratch, &entry,
			                 scratch->fd < 0 ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT,
			                 errno);
	} else {
		entry.type = (uint8_t)IFTODT(st.mode);
		search_put_object(search, scratch, &entry, &st, -1, 1);
		return true;
	}
	return false;
}

/** Look up the object with a path below the root, and report it.
    @return false: nothing was done, because directories on the path must be read. */
static bool look_up(SEARCH *search, char *path)
{
	struct bfs_output output = {0};
	struct bfs_scratch scratch = {.os = &search->os, .output = &output};
	char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct bfs_at at = {.dir = slash ? path : ".", .name = ""};
	struct follow_place place = {.mount = search->root.mount};
	if (slash)
		*slash = '\0';
	scratch.fd = literal_open(search, at.dir, &place);
	bool unlisted = scratch.fd >= 0 && is_unlisted(search, place.mount);
	if (!unlisted && literal_entry(search, &scratch, &place, name)) {
		if (slash)
			*slash = '/';
		unlisted = literal_folds(search, path);
		if (slash)
			*slash = '\0';
	}
	search->failed |= output.dir.failed;
	if (!unlisted) {
		if (output.dir.len > 0)
			search_queue_part(search, &at, output.dir.data, output.dir.len);
		search_batch_done(search, &output);
	}
	if (scratch.fd != search->root.fd)
		os_close(&search->os, scratch.fd);
	strbuf_destroy(&output.dir);
	strbuf_destroy(&place.path);
	return !unlisted;
}

bool search_root_literal(SEARCH *search, uint32_t node)
{
	struct strbuf path = {0};
	bool done = pattern_literal(search->want.pattern, &path) && !path.failed
	            && literal_clear(search, path.data, node) && look_up(search, path.data);
	strbuf_destroy(&path);
	return done;
}
