/* SPDX-License-Identifier: MIT */
/*
 * Open roots, and begin to search them: the given directories, and the targets of symlinks.
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

/** Queue an error of opening the current root. */
static void root_error(SEARCH *search, int error)
{
	struct bfs_at at = {.dir = ".", .name = ""};
	search_queue_error(search, &at, SEARCH_ERR_OPEN, error);
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
	search_source_end(search);
	bfs_free(search->bfs);
	search->bfs = NULL;
}

void search_root_close(SEARCH *search)
{
	search_dir_close(search);
	if (search->root.fd != search->root.topfd)
		os_close(&search->os, search->root.fd);
	search->root.fd = -1;
}

/** Begin to read directories at search->root.fd.
    @tag  Number of the root's node; UINT32_MAX: memory ran out. */
static void root_search(SEARCH *search, uint32_t tag, int depth)
{
	unsigned fds = os_nofile(&search->os, SEARCH_FDS, false) / 2;
	/* Leave two descriptors for running a command. */
	if (search->want.info && search->want.info->has_actions && fds > 3)
		fds -= 2;
	if (tag != UINT32_MAX)
		search->bfs = bfs_new(&search->os, &search->policy, search->root.fd,
		                      search->threads, fds);
	if (!search->bfs || bfs_start(search->bfs, ".", tag, BFS_NORMAL, depth) != 0) {
		search_root_end(search);
		search->failed = true;
	}
}

/** Whether the root's mount is known not to block, and no mount that can block may be entered.
    Then the attributes come from no server, and cached attributes are current. */
static bool root_local(const SEARCH *search)
{
	const struct search_mount *m = search_mount_find(&search->mounts, search->root.mount);
	return !search->mounts.any && m && !(m->flags & MOUNT_BLOCKS);
}

/** Set search->root.place to the mount and path of search->root.fd.
    @name  The path used to open the root. */
static void root_place(SEARCH *search, const char *name)
{
	struct os *os = &search->os;
	struct strbuf *place = &search->root.place.path;
	char path[PATH_MAX];
	if (search_place_of_fd(search, search->root.fd, &search->root.place))
		return;
	if (*name == '/' || (os_getcwd(os, path) == 0 && *path == '/')) {
		/* Without /proc, resolve the path of the root. */
		if (*name != '/')
			strbuf_puts(place, path);
		int fd = follow_path(os, NULL, AT_FDCWD, &search->root.place, name);
		if (fd < 0)
			strbuf_reset(place);
		os_close(os, fd);
	}
	if (search_mount_up(&search->mounts, search->root.mount, strbuf_str(place))
	    != search_mount_find(&search->mounts, search->root.mount))
		strbuf_reset(place);
	search->root.place.mount = search->root.mount;
}

/** Number the node of a root, for search->root.place.
    @node  live and self are set; mount and avoid [out].
    @return the number, or UINT32_MAX if memory ran out. */
static uint32_t root_node(SEARCH *search, struct node *node)
{
	node->avoid = search_mounts_node(&search->mounts, search->root.place.mount,
	                                 strbuf_str(&search->root.place.path));
	node->mount = search->root.place.mount;
	return search_node_number(search, node);
}

/** Set the mount and path of a place. */
static void place_set(struct follow_place *place, uint64_t mount, const char *path)
{
	place->mount = mount;
	strbuf_reset(&place->path);
	strbuf_puts(&place->path, path);
}

static int pending_step(void *arg, int dirfd, const char *name)
{
	SEARCH *search = arg;
	return follow_path(&search->os, &search->mounts, dirfd, &search->root.place, name);
}

/** Open the target of a symlink by the path of the symlink below the given root.  Needed if the
    path of the target is unknown, or leads to a mount other than the target's.
    @return a descriptor, or -1. */
static int pending_open(SEARCH *search, const char *via)
{
	place_set(&search->root.place, search->root.top.mount, strbuf_str(&search->root.top.path));
	return path_open_below(&search->os, search->root.topfd, via, pending_step, search);
}

/** Begin to search the target of the first pending symlink. */
static void pending_begin(SEARCH *search)
{
	struct pending_link *pending = search->links.first;
	struct k_statx st;
	union new_node new;
	search->links.first = pending->next;
	search->links.end = &search->links.first;
	strbuf_reset(&search->root.via);
	strbuf_puts(&search->root.via, pending->via);
	place_set(&search->root.place, 0, "");
	if (*pending->target)
		search->root.fd = follow_path(&search->os, &search->mounts, AT_FDCWD,
		                              &search->root.place, pending->target);
	if (search->root.fd < 0 || search->root.place.mount != pending->mount) {
		os_close(&search->os, search->root.fd);
		search->root.fd = pending_open(search, pending->via);
	}
	unsigned mask = K_STATX_TYPE | K_STATX_INO | search_id_mask(search);
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	int error = search->root.fd < 0
	            || os_statx(&search->os, search->root.fd, "", flags, mask, &st) != 0
	            ? errno : 0;
	struct node from = {.self = SEEN_NONE};
	for (uint32_t i = pending->nabove; i-- > 0 && error == 0;) {
		pending->above[i].parent = (uint32_t)from.self;
		from.self = seen_add(&search->shared.seen, &pending->above[i]);
		error = from.self == SEEN_NONE ? ENOMEM : 0;
	}
	memcpy(new.node.live, pending->live, search->want.words * sizeof(*pending->live));
	new.node.mount = search->root.place.mount;
	if (error == 0)
		error = search_descend(search, &from, &new.node, &st);
	if (error == 0)
		root_search(search, root_node(search, &new.node), pending->depth);
	else if (error != EEXIST)
		root_error(search, error);
	if (error != 0)
		search_root_end(search);
	free(pending);
}

/** Find the mount of a root.  If search->mounts does not include this mount, read the mounts of its
    namespace.
    @st [out]  Attributes of the root. */
static void root_mounts(SEARCH *search, struct k_statx *st)
{
	struct search_mounts *mounts = &search->mounts, now;
	struct os *os = &search->os;
	if (search->reread.own.avoid) {
		search_mounts_destroy(mounts);
		*mounts = search->reread.own;
		search->reread.own = (struct search_mounts){0};
	}
	if (!search_dir_stat(search, search->root.fd, st))
		memset(st, 0, sizeof(*st));
	search->root.gone = st->mask & K_STATX_NLINK && st->nlink == 0;
	uint64_t id = os_statx_mnt_id(st, mounts->unique);
	if (id == 0 && (!mounts->any || search->more.exported))
		id = os_mount_id(os, search->root.fd);
	if (!mounts->any && !search_mount_find(mounts, id)) {
		uint64_t old = os_mount_id(os, search->root.fd);
		int rc = old ? search_read_mounts(search, old, &now) : -1;
		search->failed |= rc != 0 && old && errno == ENOMEM;
		if (rc == 0) {
			now.protected_links = mounts->protected_links;
			search->reread.own = *mounts;
			*mounts = now;
			id = old;
			search_dir_stat(search, search->root.fd, st);
		}
	}
	search->root.mount = mounts->entered = id;
	search->root.dev = makedev(st->dev_major, st->dev_minor);
	search->policy.statx_mask = search->statx_mask;
	if (search->xdev_looks || search->flags & SEARCH_FOLLOW)
		search->policy.statx_mask |= K_STATX_TYPE | search_id_mask(search);
	if (search->flags & SEARCH_FOLLOW)
		search->policy.statx_mask |= K_STATX_INO;
}

/** Open a root: a directory; with more.roots or more.files any object.  @return a descriptor, or
    -1. */
static int root_open(SEARCH *search, const char *name)
{
	struct os *os = &search->os;
	search->root.object = search->more.roots;
	if (search->more.opened)
		return os_openat(os, search->more.rootfd, ".", O_PATH | O_DIRECTORY);
	if (!search->more.roots) {
		int dir = os_openat(os, AT_FDCWD, name, O_PATH | O_DIRECTORY);
		if (dir >= 0 || !search->more.files || errno != ENOTDIR)
			return dir;
		search->root.object = true;
		return os_openat(os, AT_FDCWD, name, O_PATH);
	}
	int fd = -1;
	errno = ENOENT;
	if (search->flags & SEARCH_FOLLOW || search->more.follow_roots)
		fd = os_openat(os, AT_FDCWD, name, O_PATH);
	/* As find does: without FOLLOW, and for a dangling symlink, open the symlink itself.  With
	   FOLLOW, a loop of symlinks is an error. */
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		fd = os_openat(os, AT_FDCWD, name, O_PATH | O_NOFOLLOW);
	return fd;
}

/** Report the root as an object.
    @depth  0, or the depth of the root in a larger search.
    @return whether the root is to be entered. */
static bool root_object(SEARCH *search, const struct node *node, unsigned depth)
{
	struct k_statx st;
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT
	            | (search->more.exported ? AT_STATX_FORCE_SYNC : 0);
	unsigned mask = search->policy.statx_mask | K_STATX_TYPE;
	if (os_statx(&search->os, search->root.fd, "", flags, mask, &st) == 0) {
		if (search->more.exported)
			search_exported_ids(search, &st);
		return search_root_visit(search, node, &st, depth);
	}
	struct bfs_at at = {.dir = ".", .name = ""};
	search_queue_error(search, &at, SEARCH_ERR_STAT, errno);
	return false;
}

/** Match the part of more.name from the root of the larger search to this root.
    @live [out]  Live states at this root.
    @below [out]  Whether objects below this root can match.
    @return the depth of this root in the larger search; -1: neither the root nor objects below can
    match. */
static int root_descend(const SEARCH *search, uint64_t *live, bool *below)
{
	union new_node child;
	const char *name = search->more.name ? search->more.name + search->more.name_root : "";
	int depth = 0;
	*below = pattern_root(search->want.pattern, live);
	for (; *name && *below; ++depth) {
		size_t len = strcspn(++name, "/");
		*below = pattern_step(search->want.pattern, live, name, len, child.node.live)
		         & PATTERN_BELOW;
		memcpy(live, child.node.live, search->want.words * sizeof(*live));
		name += len;
	}
	return *name ? -1 : depth;
}

bool search_root_begin(SEARCH *search)
{
	search_nodes_clear(search);
	search_root_close(search);
	if (search->links.first) {
		pending_begin(search);
		return true;
	}
	while (search->roots.next < search->roots.n
	       && search_remote_root(search, search->roots.next))
		++search->roots.next;
	if (search->roots.next == search->roots.n)
		return false;
	++search->roots.next;
	const char *name = search_root_given(search);
	search->root.name = search->more.name ? search->more.name : name;
	if (search->more.prefix && !search->more.name) {
		strbuf_reset(&search->root.text);
		strbuf_puts(&search->root.text, search->more.prefix);
		strbuf_puts(&search->root.text, name);
		search->root.name = strbuf_str(&search->root.text);
		search->failed |= search->root.text.failed;
	}
	search->root.len = strlen(search->root.name);
	search->root.len -= search->root.len > 0 && search->root.name[search->root.len - 1] == '/';
	strbuf_reset(&search->root.via);
	os_close(&search->os, search->root.topfd);
	search->root.topfd = -1;
	search->root.fd = root_open(search, name);
	if (search->root.fd < 0) {
		root_error(search, errno);
		return true;
	}
	struct k_statx st;
	union new_node new = {.words = {0}};
	struct node *node = &new.node;
	bool below;
	int depth = root_descend(search, node->live, &below);
	if (depth < 0 || (!below && !search->root.object)) {
		search_root_end(search);
		return true;
	}
	root_mounts(search, &st);
	st.attributes = 0;   /* a root is entered even if it is an automount point */
	place_set(&search->root.place, search->root.mount, "");
	if (search->flags & SEARCH_FOLLOW || !search->mounts.any || search->remotes.delegates
	    || search->mounts.exclude_types || search->more.exported || search->more.source
	    || (search->want.info && (search->want.info->xtype || search->want.info->fstype
	                              || search->want.info->mount)))
		root_place(search, name);
	int refused = search->more.exported ? search_exported_refuse(search) : 0;
	if (refused) {
		root_error(search, refused);
		search_root_end(search);
		return true;
	}
	if ((search->root.object && !root_object(search, node, (unsigned)depth)) || !below) {
		search_root_end(search);
		return true;
	}
	if (search->flags & SEARCH_FOLLOW) {
		search->root.topfd = search->root.fd;
		place_set(&search->root.top, search->root.mount,
		          strbuf_str(&search->root.place.path));
	}
	seen_destroy(&search->shared.once);
	node->mount = search->root.mount;
	uint32_t tag = UINT32_MAX;
	if (!(search->flags & SEARCH_FOLLOW)
	    || search_descend(search, &(struct node){.self = SEEN_NONE}, node, &st) == 0)
		tag = root_node(search, node);
	if (tag != UINT32_MAX && search->remotes.delegates && search_delegate_root(search)) {
		search_root_end(search);
		return true;
	}
	/* A local root needs no server.  If a mount that can block is made during the search, its
	   server must not be contacted. */
	bool cached = search->flags & SEARCH_CACHED || root_local(search);
	search->policy.statx_flags = cached ? AT_STATX_DONT_SYNC : 0;
	if (tag != UINT32_MAX && search->more.source) {
		search->failed |= !search_source_begin(search, tag, depth);
		return true;
	}
	if (tag != UINT32_MAX && !search->want.judges && !search->mounts.exclude_types
	    && !search->more.name && !search->remotes.delegates
	    && search_root_literal(search, (uint32_t)node->avoid))
		search_root_end(search);
	else
		root_search(search, tag, depth);
	return true;
}
