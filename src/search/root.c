/* SPDX-License-Identifier: MIT */
/*
 * Roots: the given directories, and the targets of symlinks.  If the pattern is a single path, it
 * is looked up without reading a directory.
 */
#include "search/search_impl.h"

#include "base/fstypes.h"
#include "path/resolve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/** Queue an error of a root. */
static void root_error(SEARCH *search, int error)
{
	struct bfs_at at = {.dir = ".", .name = ""};
	search_queue_error(search, &at, SEARCH_ERR_OPEN, error);
}

/** Whether a descriptor is on the mount of the root.  Errors: EXDEV, those of statx(2). */
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

/** Open one component in literal_dir() without openat2(2). */
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

/** Open a directory below the root without following symlinks.  @return a descriptor, or -1; for
    "." that of the root. */
static int literal_dir(SEARCH *search, const char *path)
{
	struct os *os = &search->os;
	if (strcmp(path, ".") == 0)
		return search->rootfd;
	if (os->caps & OSC_OPENAT2) {
		uint64_t resolve = RESOLVE_NO_SYMLINKS
		                   | (search->flags & SEARCH_XDEV ? RESOLVE_NO_XDEV : 0);
		return os_openat2(os, search->rootfd, path, O_PATH | O_NOFOLLOW, resolve);
	}
	return path_open_below(os, search->rootfd, path, literal_step, search);
}

/** The same, with FOLLOW through symlinks.
    @place  Initialized; [out] with FOLLOW the path of the directory from "/". */
static int literal_open(SEARCH *search, const char *path, struct strbuf *place)
{
	if (!(search->flags & SEARCH_FOLLOW))
		return literal_dir(search, path);
	strbuf_puts(place, strbuf_str(&search->place));
	return follow_path(&search->os, &search->mounts, search->rootfd, place, path);
}

/** Whether a path can be looked up: no component is a place to avoid, and no directory on the path
    is too deep to be entered or blocks when it is read.  If not, a normal search reports the
    reason.
    @avoid  The root's node, which is always entered. */
static bool literal_clear(const SEARCH *search, char *path, uint64_t avoid)
{
	for (unsigned depth = 1;; ++depth) {
		char *end = strchrnul(path, '/');
		avoid = avoid_step(search->mounts.avoid, (uint32_t)avoid, path,
		                   (size_t)(end - path));
		if (avoid_here(search->mounts.avoid, (uint32_t)avoid))
			return false;
		if (!*end)
			return true;
		*end = '\0';
		bool waits = search_mounts(search) && fstype_dir_waits("proc", path);
		*end = '/';
		if (waits || (search->depth && depth > search->depth))
			return false;
		path = end + 1;
	}
}

/** Whether a directory on a path may ignore case: a component exists in another case as well, or it
    has no letter to try.  Then only a listing shows its name. */
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
			struct strbuf place = {0};
			*end = '\0';
			*letter ^= 'a' ^ 'A';
			int fd = literal_open(search, path, &place);
			bool exists = fd >= 0 || errno != ENOENT;
			os_close(&search->os, fd);
			strbuf_destroy(&place);
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

/** Look up a name in scratch->fd.  @place  With FOLLOW: the path of that directory.
    @return whether it exists; errors are reported. */
static bool literal_entry(SEARCH *search, struct bfs_scratch *scratch, struct strbuf *place,
                          const char *name)
{
	struct bfs_entry entry = {.name = name, .len = strlen(name)};
	struct k_statx st;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | search->policy.statx_flags;
	bool follow = search->flags & SEARCH_FOLLOW;
	if (scratch->fd >= 0 && follow) {
		if (!(search->flags & SEARCH_XDEV) || literal_here(search, scratch->fd))
			search_follow_link(search, scratch, place, 0, &entry, NULL, NULL,
			                   PATTERN_MATCH);
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
		search_put_object(search, scratch, &entry, &st, -1);
		return true;
	}
	return false;
}

/** Whether a lookup in a directory can find names that the directory does not list; true if the
    mount table does not describe it.
    @dir  Its path from "/". */
static bool is_unlisted(const SEARCH *search, const struct strbuf *dir)
{
	const struct search_mounts *mounts = &search->mounts;
	return !mounts->unlisted || search->place.len == 0
	       || (search->root_mount
	           && map64_get(&mounts->known, search->root_mount) == MAP64_NONE)
	       || avoid_cover(mounts->unlisted, strbuf_str(dir)) != AVOID_NONE;
}

/** Search for a single path: look up the object without reading a directory.
    @return false: nothing was done, because directories on the path must be read. */
static bool root_literal(SEARCH *search, char *path)
{
	struct bfs_output output = {0};
	struct bfs_scratch scratch = {.os = &search->os, .output = &output};
	char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct bfs_at at = {.dir = slash ? path : ".", .name = ""};
	struct strbuf place;
	if (slash)
		*slash = '\0';
	strbuf_init(&place);
	strbuf_puts(&place, strbuf_str(&search->place));
	strbuf_printf(&place, "/%s", at.dir);
	bool unlisted = is_unlisted(search, &place);
	strbuf_reset(&place);
	scratch.fd = unlisted ? -1 : literal_open(search, at.dir, &place);
	unlisted |= scratch.fd >= 0 && search->flags & SEARCH_FOLLOW && is_unlisted(search, &place);
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
	if (scratch.fd != search->rootfd)
		os_close(&search->os, scratch.fd);
	strbuf_destroy(&output.dir);
	strbuf_destroy(&place);
	return !unlisted;
}

void search_count_bfs(const SEARCH *search, struct search_counts *counts)
{
	const struct bfs_stats *stats = bfs_stats(search->bfs);
	counts->dirs += stats->dirs;
	counts->threads = counts->threads > stats->threads ? counts->threads : stats->threads;
}

void search_root_end(SEARCH *search)
{
	if (search->bfs)
		search_count_bfs(search, &search->counts);
	bfs_free(search->bfs);
	search->bfs = NULL;
	os_close(&search->os, search->rootfd);
	search->rootfd = -1;
}

/** Search search->rootfd.  @tag  The number of its node; UINT32_MAX: memory ran out. */
static void root_search(SEARCH *search, uint32_t tag, int depth)
{
	unsigned fds = os_nofile(&search->os, SEARCH_FDS, false) / 2;
	if (tag != UINT32_MAX)
		search->bfs =
			bfs_new(&search->os, &search->policy, search->rootfd, search->threads, fds);
	if (!search->bfs || bfs_start(search->bfs, ".", tag, BFS_NORMAL, depth) != 0) {
		search_root_end(search);
		search->failed = true;
	}
}

/** Whether neither a root nor the mounts entered below it can block: then cached attributes equal
    those that a server would return. */
static bool root_local(const SEARCH *search)
{
	return !search->mounts.any && (search->root_mount || search->place.len > 0)
	       && search->mounts.entered == AVOID_NONE
	       && search_mounts_refuse(&search->mounts, &search->os, search->root_mount) == 0;
}

/** Get the attributes that identify a directory. */
static bool root_stat(SEARCH *search, int fd, struct k_statx *st)
{
	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	return os_statx(&search->os, fd, "", flags, K_STATX_INO | search_id_mask(search), st) == 0;
}

int search_root_open(SEARCH *search)
{
	struct os *os = &search->os;
	struct k_statx was, now;
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", search->rootfd);
	/* Without /proc use its name, which may refer to another directory by now. */
	const char *name = search->via.len ? strbuf_str(&search->place) : search->root_name;
	const char *const names[] = {link, name};
	const int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY;
	if (!root_stat(search, search->rootfd, &was))
		return -1;
	for (int i = 0; i < 2; ++i) {
		int fd = os_openat(os, AT_FDCWD, names[i], flags | O_NOATIME);
		if (fd < 0 && errno == EPERM)
			fd = os_openat(os, AT_FDCWD, names[i], flags);
		if (fd < 0 && errno == EACCES)
			return -1;
		if (fd >= 0 && root_stat(search, fd, &now) && now.ino == was.ino
		    && now.dev_major == was.dev_major
		    && now.dev_minor == was.dev_minor
		    && os_statx_mnt_id(&now, search->mounts.unique)
		       == os_statx_mnt_id(&was, search->mounts.unique))
			return fd;
		os_close(os, fd);
	}
	return -1;
}

/** Find the path of rootfd from "/".  @name  The name used to open it. */
static void root_place(SEARCH *search, const char *name)
{
	struct os *os = &search->os;
	char link[64], path[PATH_MAX];
	strbuf_reset(&search->place);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", search->rootfd);
	if (os_readlinkat(os, AT_FDCWD, link, path, sizeof(path)) > 0) {
		if (*path == '/')
			strbuf_puts(&search->place, path);
		return;
	}
	/* Without /proc: resolve its name. */
	if (*name != '/' && (os_getcwd(os, path) != 0 || *path != '/'))
		return;
	if (*name != '/')
		strbuf_puts(&search->place, path);
	int fd = follow_path(os, NULL, AT_FDCWD, &search->place, name);
	if (fd < 0)
		strbuf_reset(&search->place);
	os_close(os, fd);
}

/** Create the node of a root, at search->place.
    @return its number, or UINT32_MAX if memory ran out. */
static uint32_t root_node(SEARCH *search, struct node *node, uint64_t mount)
{
	node->avoid = search->mounts.avoid && search->place.len > 0
	              ? avoid_find(search->mounts.avoid, search->place.data) : AVOID_NONE;
	node->mount = mount;
	return search_node_number(search, node);
}

/** Start the search of the next link's target. */
static void pending_begin(SEARCH *search)
{
	struct pending_link *pending = search->pending;
	struct k_statx st;
	union new_node new;
	search->pending = pending->next;
	search->pending_end = &search->pending;
	strbuf_reset(&search->via);
	strbuf_puts(&search->via, pending->via);
	strbuf_reset(&search->place);
	search->rootfd = follow_path(&search->os, &search->mounts, AT_FDCWD, &search->place,
	                             pending->target);
	unsigned mask = K_STATX_TYPE | K_STATX_INO | search_id_mask(search);
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	int error = search->rootfd < 0
	            || os_statx(&search->os, search->rootfd, "", flags, mask, &st) != 0 ? errno : 0;
	struct node from = {.self = SEEN_NONE};
	for (uint32_t i = pending->nabove; i-- > 0 && error == 0;) {
		pending->above[i].parent = (uint32_t)from.self;
		from.self = seen_add(&search->seen, &pending->above[i]);
		error = from.self == SEEN_NONE ? ENOMEM : 0;
	}
	memcpy(new.node.live, pending->live, search->words * sizeof(*pending->live));
	if (error == 0)
		error = search_descend(search, &from, &new.node, &st);
	uint64_t mount = error == 0 ? os_statx_mnt_id(&st, search->mounts.unique) : 0;
	if (error == 0)
		root_search(search, root_node(search, &new.node, mount), pending->depth);
	else
		root_error(search, error);
	if (error != 0)
		search_root_end(search);
	free(pending);
}

bool search_root_begin(SEARCH *search)
{
	search_nodes_clear(search);
	if (search->pending) {
		pending_begin(search);
		return true;
	}
	if (search->root == search->nroots)
		return false;
	const char *name = search->roots[search->root++];
	name = *name ? name : ".";
	search->root_name = name;
	search->root_len = strlen(search->root_name);
	search->root_len -= search->root_len > 0 && search->root_name[search->root_len - 1] == '/';
	strbuf_reset(&search->via);
	search->rootfd = os_openat(&search->os, AT_FDCWD, name, O_PATH | O_DIRECTORY);
	if (search->rootfd < 0) {
		root_error(search, errno);
		return true;
	}
	struct k_statx st;
	union new_node new = {.words = {0}};
	struct node *node = &new.node;
	if (!pattern_root(search->pattern, node->live)) {
		search_root_end(search);
		return true;
	}
	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	unsigned mask = search_id_mask(search);
	mask |= search->flags & SEARCH_FOLLOW ? K_STATX_INO : 0;
	if (os_statx(&search->os, search->rootfd, "", flags, mask, &st) != 0)
		memset(&st, 0, sizeof(st));
	st.attributes = 0;   /* a root is always entered */
	search->root_mount = os_statx_mnt_id(&st, search->mounts.unique);
	search->root_dev = makedev(st.dev_major, st.dev_minor);
	if (search->mounts.avoid || search->flags & SEARCH_FOLLOW)
		root_place(search, name);
	search->mounts.entered = search->mounts.avoid && search->place.len > 0
	                         ? avoid_cover(search->mounts.avoid, search->place.data)
	                         : AVOID_NONE;
	search->mounts.entered_id = search->root_mount;
	struct strbuf literal;
	strbuf_init(&literal);
	uint32_t tag = UINT32_MAX;
	if (!(search->flags & SEARCH_FOLLOW)
	    || search_descend(search, &(struct node){.self = SEEN_NONE}, node, &st) == 0)
		tag = root_node(search, node, search->root_mount);
	bool looked_up = tag != UINT32_MAX && pattern_literal(search->pattern, &literal)
	                 && !literal.failed && literal_clear(search, literal.data, node->avoid);
	/* A mount that can block could only be a later one; its server must not be contacted. */
	bool cached = search->flags & SEARCH_CACHED || root_local(search);
	search->policy.statx_flags = cached ? AT_STATX_DONT_SYNC : 0;
	if (looked_up && root_literal(search, literal.data))
		search_root_end(search);
	else
		root_search(search, tag, 0);
	strbuf_destroy(&literal);
	return true;
}
