/* SPDX-License-Identifier: MIT */
/*
 * Evaluate the query for an entry: first by the name and type, then with the attributes, then with
 * all facts.  A fact is looked up only if the result depends on it.
 *
 * Targets of symlinks are resolved component by component, as in a search with FOLLOW, so that no
 * mount that can block is accessed.
 */
#include "search/search_impl.h"

#include "os/file.h"
#include "search/query_host.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/** Open the directory that contains the object; if look->name is "", the object itself.
    @return a descriptor, borrowed; or -1.  Errors: as for search_visit_dir(). */
static int look_fd(struct look *look)
{
	int fd = look->fd != LOOK_UNOPENED ? look->fd
	         : look->visit ? search_visit_dir(look->visit)
	         : search_fd(look->search, look->scratch);
	if (fd >= 0)
		look->fd = fd;
	return fd;
}

static const char *look_path(void *arg)
{
	const struct look *look = arg;
	if (look->visit)
		return look->visit->path;
	const struct bfs_at *at = look->at;
	struct bfs_output *output = look->scratch->output;
	struct strbuf *path = &output->query_path.text;
	if (output->query_path.of != at->dir) {
		struct bfs_at dir = *at;
		dir.name = "";
		strbuf_reset(path);
		strbuf_add(path, look->search->root.name, look->search->root.len);
		strbuf_puts(path, strbuf_str(&look->search->root.via));
		bfs_path(&dir, path);
		if (path->len > 0 && path->data[path->len - 1] != '/')
			strbuf_putc(path, '/');
		output->query_path.of = at->dir;
		output->query_path.len = path->len;
	}
	if (path->failed)
		return NULL;
	path->len = output->query_path.len;
	strbuf_puts(path, look->name);
	return path->failed ? NULL : path->data;
}

/** Find the mount of an object; NULL: unknown. */
static const struct search_mount *look_mount(struct look *look)
{
	const struct search_mounts *mounts = &look->search->mounts;
	const struct search_mount *m = search_mount_at(mounts, look->avoid);
	struct k_statx st;
	if (m || look->mount)
		return m ? m : search_mount_find(mounts, look->mount);
	int fd = look_fd(look);
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC
	            | (*look->name ? 0 : AT_EMPTY_PATH);
	if (fd < 0 || os_statx(look->os, fd, look->name, flags, search_id_mask(look->search),
	                       &st) != 0)
		return NULL;
	return search_mount_find(mounts, os_statx_mnt_id(&st, mounts->unique));
}

static const char *look_fstype(void *arg)
{
	const struct search_mount *m = look_mount(arg);
	return m && m->type ? m->type : "";
}

static int look_target(void *arg, struct strbuf *text)
{
	struct look *look = arg;
	char target[PATH_MAX];
	const char *sent = look->visit ? search_target(look->search) : NULL;
	if (look->visit && look->search->last.remote && sent) {
		strbuf_puts(text, sent);
		return 0;
	}
	int fd = look_fd(look);
	if (fd < 0)
		return -1;
	ssize_t n = os_readlinkat(look->os, fd, look->name, target, sizeof(target));
	if (n < 0)
		return -1;
	strbuf_add(text, target, (size_t)n);
	return 0;
}

/** Get the mount and path of the directory that contains the object.
    @mount  ID of the mount.
    @place [out]  Zero before.  The path remains "" if it is unknown. */
static void visit_place(const struct look *look, uint64_t mount, struct follow_place *place)
{
	const struct strbuf *root = &look->search->root.place.path;
	struct strbuf *path = &place->path;
	place->mount = mount;
	/* With FOLLOW the printed path may lead through symlinks: use the open directory. */
	if (look->search->flags & SEARCH_FOLLOW)
		search_place_of_fd(look->search, look->fd, place);
	if (root->len == 0 || look->search->flags & SEARCH_FOLLOW)
		return;
	strbuf_add(path, root->data, root->len);
	if (*look->visit->below) {
		strbuf_putc(path, '/');
		strbuf_puts(path, look->visit->below);
	}
	while (path->len > 1 && path->data[path->len - 1] != '/')
		--path->len;
	while (path->len > 1 && path->data[path->len - 1] == '/')
		--path->len;
	if (!path->failed)
		path->data[path->len] = '\0';
}

/** Open the object or, if it is a symlink, its target.
    @return an O_PATH descriptor, or -1.  Errors: as for follow_path(). */
static int look_open(struct look *look)
{
	SEARCH *search = look->search;
	if (!*look->name)
		return os_openat(look->os, AT_FDCWD, search_root_given(search), O_PATH);
	struct follow_place place = {0};
	struct k_statx st;
	int dir = look_fd(look), fd = -1;
	if (dir < 0)
		return -1;
	if (look->at)
		search_place_of(search, look->at, &place);
	else if (os_statx(look->os, dir, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
	                  search_id_mask(search), &st) == 0)
		visit_place(look, os_statx_mnt_id(&st, search->mounts.unique), &place);
	if (place.path.failed)
		errno = ENOMEM;
	else
		fd = follow_path(look->os, &search->mounts, dir, &place, look->name);
	int error = errno;
	strbuf_destroy(&place.path);
	errno = error;
	return fd;
}

/** Whether the object may be a mount point with a mount that must not be accessed. */
static bool may_block(const struct look *look)
{
	return look->depth > 0 && search_mounts(look->search)
	       && (look->visit || look->avoid != AVOID_NONE);
}

/** Get the type of the object itself, DT_LNK if it is a symlink that is followed; set look->link.
    @return DT_*; DT_UNKNOWN if the type cannot be determined. */
static uint8_t look_link(struct look *look)
{
	struct k_statx st;
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (look->link == DT_UNKNOWN && look_fd(look) >= 0
	    && os_statx(look->os, look->fd, look->name, flags, K_STATX_TYPE, &st) == 0)
		look->link = (uint8_t)IFTODT(st.mode);
	return look->link;
}

static int look_access(void *arg, int mode)
{
	struct look *look = arg;
	const char *name = look->name;
	/* On a mount point, access(2) would wait for the mount's server: use look_open(), which
	   fails instead. */
	bool opens = may_block(look) || look_link(look) == DT_LNK;
	int fd = opens ? look_open(look) : look_fd(look);
	if (fd < 0)
		return errno == EREMOTE || errno == ENOMEM ? -1 : 0;
	int rc = os_access(look->os, fd, opens ? "" : name, mode);
	if (opens)
		os_close(look->os, fd);
	/* access(2): each error counts as "no access". */
	return rc == 0;
}

/** Open the object, which is a directory, for reading.  @return a descriptor, or -1. */
static int look_opendir(struct look *look)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = -1;
	look_link(look);
	errno = EXDEV;
	if (look->link != DT_LNK && *look->name && look_fd(look) >= 0)
		fd = os_openat2(look->os, look_fd(look), look->name, flags, RESOLVE_NO_XDEV);
	if (fd >= 0 || (errno != EXDEV && errno != ENOSYS))
		return fd;
	int at = look_open(look);
	if (at < 0)
		return -1;
	fd = os_opendir(look->os, at, ".");
	os_close(look->os, at);
	return fd;
}

static int look_empty(void *arg)
{
	struct look *look = arg;
	alignas(struct k_dirent) char buf[1024];
	struct os_dir dir;
	int fd = look_opendir(look);
	if (fd < 0)
		return -1;
	os_dir_begin(&dir, look->os, fd, buf, sizeof(buf));
	bool empty = !os_dir_next(&dir);
	os_close(look->os, fd);
	errno = dir.error;
	return empty && dir.error ? -1 : empty;
}

static int look_xtype(void *arg, uint8_t *type)
{
	struct look *look = arg;
	struct k_statx st;
	/* A given root that ends in a slash is a directory, even if the name before the slash is a
	   symlink. */
	bool slash = look->depth == 0 && look->search->root.name[look->search->root.len] == '/';
	*type = slash ? DT_DIR : look_link(look);
	if (*type != DT_LNK || look->search->flags & SEARCH_FOLLOW
	    || (look->depth == 0 && look->search->more.follow_roots))
		return 0;
	int fd = look_open(look), rc = 0;
	if (fd < 0)
		/* A dangling symlink has its own type, DT_LNK. */
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (os_statx(look->os, fd, "", flags, K_STATX_TYPE, &st) == 0)
		*type = (uint8_t)IFTODT(st.mode);
	else
		rc = -1;
	os_close(look->os, fd);
	return rc;
}

static int look_owner(void *arg, bool group, uint32_t id)
{
	SEARCH *search = ((struct look *)arg)->search;
	pthread_mutex_lock(&search->shared.lock);
	uint32_t known = map64_get(&search->shared.owners, (uint64_t)group << 32 | id);
	pthread_mutex_unlock(&search->shared.lock);
	if (known != MAP64_NONE)
		return (int)known;
	int found = query_host_owner(group, id);
	pthread_mutex_lock(&search->shared.lock);
	if (found >= 0 && map64_put(&search->shared.owners, (uint64_t)group << 32 | id,
	                            (uint32_t)found) == MAP64_NONE) {
		errno = ENOMEM;
		found = -1;
	}
	pthread_mutex_unlock(&search->shared.lock);
	return found;
}

void search_look_init(struct look *look)
{
	look->facts = (struct query_facts){
		.arg = look, .path = look_path, .fstype = look_fstype, .target = look_target,
		.access = look_access, .empty = look_empty, .xtype = look_xtype,
		.owner = look_owner,
	};
}

/** Whether -unique has already tested this object, by device and inode. */
__attribute__((noinline))
static bool is_seen(SEARCH *search, const struct k_statx *st)
{
	struct seen_dir object = {
		.dev = makedev(st->dev_major, st->dev_minor), .ino = st->ino, .parent = SEEN_NONE,
	};
	pthread_mutex_lock(&search->shared.lock);
	int error = seen_once(&search->shared.unique, &object);
	pthread_mutex_unlock(&search->shared.lock);
	return error == EEXIST;
}

/** Whether an object is the root of a mount other than the searched mount, for -mount. */
__attribute__((noinline))   /* search_judge() runs for each entry, this for few queries */
static bool is_mount_point(const SEARCH *search, const struct look *look,
                           const struct k_statx *st)
{
	return look->depth > 0
	       && (search_mount_at(&search->mounts, look->avoid)
	           || (st && st->mask & (K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE)
	               && search_elsewhere(search, st)));
}

void search_judge(SEARCH *search, struct look *look, const struct query_object *object,
                  struct judgment *judged)
{
	const struct query_info *info = search->want.info;
	const struct k_statx *st = object->st;
	if (info && ((info->mount && is_mount_point(search, look, st))
	             || (info->unique && st && is_seen(search, st)))) {
		*judged = (struct judgment){0};
		return;
	}
	enum query_value known = search->source.run ? search_source_knows(search) : QUERY_OPEN;
	select_object(&search->want, object, look->only_below, known, judged);
	/* A fact needs access to a mount that can block.  With `look`, search_entry() reports the
	   mount as an error. */
	if (judged->error == EREMOTE && !judged->look)
		judged->look = !st && !object->lost
		               && search_mounts_blocked(&search->mounts, look->avoid);
}

/** See search_judge_entry().
    @lost  The attributes of the entry cannot be read; `st` is NULL. */
static void judge_entry(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                        const struct bfs_entry *entry, uint8_t type, const struct node *child,
                        const struct k_statx *st, bool wanted, bool lost,
                        struct query_memo *memo, struct judgment *judged)
{
	struct look look = {
		.search = search, .os = scratch->os, .scratch = scratch, .at = at,
		.fd = scratch->fd, .name = entry->name, .link = entry->type, .mount = child->mount,
		.avoid = (uint32_t)child->avoid, .depth = (unsigned)at->depth + 1,
		.only_below = !wanted,
	};
	search_look_init(&look);
	struct query_object object = {
		.name = entry->name, .len = entry->len, .type = type, .depth = look.depth,
		.st = st, .lost = lost, .facts = &look.facts, .memo = memo,
	};
	if (look.link == DT_UNKNOWN && !(search->flags & SEARCH_FOLLOW))
		look.link = type;
	search_judge(search, &look, &object, judged);
	if (judged->error && !judged->look)
		search_put_error(scratch, entry, SEARCH_ERR_ACCESS, judged->error);
	if (judged->object && !judged->look && search->more.visit) {
		struct search_visit visit = {
			.object = object, .actions = judged->actions, .path = look_path(&look),
			.search = search, .dirfd = search_fd(search, scratch),
		};
		if (visit.path)
			search_visit_now(search, &visit, judged);
		else
			search->failed = true;   /* memory ran out; with visit() there is only the
			                            owner's thread */
		judged->object = false;
	}
}

void search_judge_entry(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                        const struct bfs_entry *entry, uint8_t type, const struct node *child,
                        const struct k_statx *st, bool wanted, struct query_memo *memo,
                        struct judgment *judged)
{
	judge_entry(search, scratch, at, entry, type, child, st, wanted, false, memo, judged);
}

void search_put_lost(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                     const struct bfs_entry *entry, const struct node *child,
                     struct query_memo *memo)
{
	struct judgment judged;
	uint8_t type = search->flags & SEARCH_FOLLOW ? DT_UNKNOWN : entry->type;
	judge_entry(search, scratch, at, entry, type, child, NULL, true, true, memo, &judged);
	if (judged.object)
		search_put_object(search, scratch, entry, &(struct k_statx){0}, -1, judged.actions);
}
