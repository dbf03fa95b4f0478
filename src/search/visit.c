/* SPDX-License-Identifier: MIT */
/*
 * Support for actions of a query, in the owner's thread: the paths of an object, the directory that
 * contains the object, and -depth.
 *
 * With -depth the record of a directory is kept until its root has been searched.  Directories are
 * found before their contents, so they are returned in reverse order.  Other objects are returned
 * when they are found.
 */
#include "search/search_impl.h"

#include "base/fail.h"
#include "path/resolve.h"
#include "remote/remote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { SERVED = 256 };   /* postponed directories that are returned together */

void search_visit_paths(const SEARCH *search, struct search_visit *visit, size_t root_len)
{
	size_t len = strlen(visit->path);
	visit->root = search->root.name;
	if (search->last.remote) {
		visit->root = search->roots.names[search->last.root];
		visit->prefix = remote_prefix(visit->root);
	}
	visit->below = visit->path + (len > root_len ? root_len + 1 : len);
}

void search_visit_now(SEARCH *search, struct search_visit *visit, struct judgment *judged)
{
	search_visit_paths(search, visit, search->root.len);
	enum search_go go = search->more.visit(search->more.arg, visit);
	judged->enter &= go == SEARCH_GO;
	if (go == SEARCH_STOP) {
		search->ended = true;
		atomic_store(&search->stopped, true);
	}
}

/** Get the identity of an open directory.  @return whether that succeeded. */
static bool dir_id(struct os *os, const SEARCH *search, int fd, struct dir_id *id)
{
	struct k_statx st;
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	if (os_statx(os, fd, "", flags, K_STATX_INO | search_id_mask(search), &st) != 0)
		return false;
	*id = (struct dir_id){
		os_statx_mnt_id(&st, search->mounts.unique),
		makedev(st.dev_major, st.dev_minor), st.ino,
	};
	return true;
}

void search_put_dir_id(const SEARCH *search, struct bfs_scratch *scratch)
{
	struct dir_id id;
	struct record record = {.source = DIR_ID, .len = sizeof(id)};
	if (!dir_id(scratch->os, search, search_fd(search, scratch), &id))
		return;
	strbuf_add(&scratch->output->dir, (const char *)&record, sizeof(record));
	strbuf_add(&scratch->output->dir, (const char *)&id, sizeof(id));
}

void search_dir_close(SEARCH *search)
{
	if (search->parts.dirfd >= 0)
		os_close(&search->os, search->parts.dirfd);
	search->parts.dirfd = LOOK_UNOPENED;
}

/** Open the directory that contains the given root.  The root's name in it is search->root.base.
    @return a descriptor, or -1. */
static int open_root_dir(SEARCH *search)
{
	struct strbuf dir = {0};
	const char *name = search_root_given(search);
	size_t len = strlen(name);
	while (len > 1 && name[len - 1] == '/')
		--len;
	while (len > 0 && name[len - 1] != '/')
		--len;
	strbuf_add(&dir, len ? name : ".", len ? len : 1);
	const char *path = strbuf_text(&dir);
	int fd = path ? os_openat(&search->os, AT_FDCWD, path, O_PATH | O_DIRECTORY) : -1;
	int error = errno;
	strbuf_destroy(&dir);
	errno = error;
	return fd;
}

/** Open the directory of the current part by its path.  @return a descriptor, or -1. */
static int open_part_dir(SEARCH *search)
{
	struct os *os = &search->os;
	struct strbuf path = {0};
	struct follow_place place = {.mount = search->root.top.mount};
	strbuf_add(&path, strbuf_str(&search->root.via), search->root.via.len);
	if (search->parts.path_len > 1)
		strbuf_add(&path, search->parts.path, search->parts.path_len);
	const char *below = strbuf_text(&path);
	int fd = -1;
	if (below)
		below = path.len > 1 ? below + 1 : ".";
	if (!below) {
		errno = ENOMEM;
	} else if (search->flags & SEARCH_FOLLOW) {
		strbuf_puts(&place.path, strbuf_str(&search->root.top.path));
		fd = follow_path(os, &search->mounts, search->root.topfd, &place, below);
	} else {
		fd = path_open_plain(os, search->root.fd, below, O_PATH | O_DIRECTORY, 0);
	}
	int error = errno;
	strbuf_destroy(&path);
	strbuf_destroy(&place.path);
	errno = error;
	return fd;
}

int search_visit_dir(const struct search_visit *visit)
{
	SEARCH *search = visit->search;
	struct dir_id now;
	if (search->last.remote)
		return fail(EREMOTE);
	if (visit->dirfd != LOOK_UNOPENED)
		return visit->dirfd;
	if (search->parts.dirfd != LOOK_UNOPENED) {
		errno = search->parts.dirfd < 0 ? ESTALE : 0;
		return search->parts.dirfd;
	}
	int fd = *visit->below ? open_part_dir(search) : open_root_dir(search);
	if (fd >= 0 && *visit->below && search->parts.has_id
	    && (!dir_id(&search->os, search, fd, &now)
	        || memcmp(&now, &search->parts.dir_id, sizeof(now)) != 0)) {
		os_close(&search->os, fd);
		fd = -1;
		errno = ESTALE;
	}
	return search->parts.dirfd = fd;
}

bool search_postpone(SEARCH *search, const char *record, size_t size)
{
	struct strbuf *items = &search->parts.postponed;
	size_t at = items->len, dir = search->parts.path_len > 1 ? search->parts.path_len : 0;
	struct record id = {.source = DIR_ID, .len = sizeof(search->parts.dir_id)};
	struct part part = {
		.path = (uint32_t)(search->root.via.len + dir),
		.records = (uint32_t)(size + (search->parts.has_id ? sizeof(id) + id.len : 0)),
	};
	if (search->parts.serving || !search->want.info || !search->want.info->depth)
		return false;
	strbuf_add(items, (const char *)&part, sizeof(part));
	strbuf_add(items, strbuf_str(&search->root.via), search->root.via.len);
	strbuf_add(items, search->parts.path, dir);
	if (search->parts.has_id) {
		strbuf_add(items, (const char *)&id, sizeof(id));
		strbuf_add(items, (const char *)&search->parts.dir_id, id.len);
	}
	strbuf_add(items, record, size);
	strbuf_add(&search->parts.postponed_at, (const char *)&at, sizeof(at));
	search->failed |= items->failed || search->parts.postponed_at.failed;
	return true;
}

bool search_serve_postponed(SEARCH *search)
{
	struct strbuf *items = &search->parts.postponed, *places = &search->parts.postponed_at;
	if (places->len == 0) {
		search->parts.serving = false;
		return false;
	}
	search->parts.serving = true;
	strbuf_reset(&search->root.via);
	for (int i = 0; i < SERVED && places->len > 0; ++i) {
		size_t at;
		places->len -= sizeof(at);
		memcpy(&at, places->data + places->len, sizeof(at));
		strbuf_add(&search->parts.text, items->data + at, items->len - at);
		items->len = at;
	}
	return true;
}

const char *search_target(const SEARCH *search)
{
	const struct strbuf *target = &search->last.target;
	return target->len && *target->data ? target->data : NULL;
}

const char *search_xattrs(const SEARCH *search)
{
	if (search->last.target.len == 0)
		return NULL;
	size_t target = strlen(search->last.target.data);
	return target < search->last.target.len ? search->last.target.data + target + 1 : NULL;
}
