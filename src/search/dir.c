/* SPDX-License-Identifier: MIT */
/* Open directories of a search, and find their paths. */
#include "search/source_impl.h"

#include "base/fail.h"
#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

int search_source_dir(const SEARCH *search, struct bfs_scratch *scratch)
{
	struct source_run *run = search->source.run;
	const char *path = strbuf_str(&run->path) + strlen(run->starts[0].path);
	if (run->dir_error)
		return fail(run->dir_error);
	int fd = run->fd;
	if (*path)
		fd = path_open_plain(scratch->os, run->fd, path + 1, O_PATH | O_DIRECTORY,
		                     RESOLVE_NO_XDEV);
	if (fd < 0)
		run->dir_error = errno;
	else
		scratch->fd = fd;
	return fd;
}

enum query_value search_source_knows(const SEARCH *search)
{
	return search->source.run->known;
}

void search_place_of(const SEARCH *search, const struct bfs_at *at, struct follow_place *place)
{
	struct strbuf *path = &place->path;
	place->mount = search_node_at(search, at->tag)->mount;
	strbuf_init(path);
	if (search->root.place.path.len == 0)
		return;
	struct bfs_at dir = *at;
	dir.name = "";
	strbuf_add(path, search->root.place.path.data, search->root.place.path.len);
	bfs_path(&dir, path);
	/* Strip a trailing slash, also the slash of a root directory "/". */
	while (path->len > 1 && path->data[path->len - 1] == '/')
		path->data[--path->len] = '\0';
}

bool search_place_of_fd(SEARCH *search, int fd, struct follow_place *place)
{
	char link[64], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (os_readlinkat(&search->os, AT_FDCWD, link, path, sizeof(path)) <= 0)
		return false;
	/* For a directory on a detached mount, the link shows a path from the mount's root.  So use
	   the path only if the table of mounts has it on the directory's mount. */
	const struct search_mounts *mounts = &search->mounts;
	if (*path == '/' && search_mount_up(mounts, place->mount, path)
	                    == search_mount_find(mounts, place->mount))
		strbuf_puts(&place->path, path);
	return true;
}

bool search_dir_stat(SEARCH *search, int fd, struct k_statx *st)
{
	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	unsigned mask = K_STATX_INO | K_STATX_NLINK | search_id_mask(search);
	return os_statx(&search->os, fd, "", flags, mask, st) == 0;
}

int search_root_open(SEARCH *search)
{
	struct os *os = &search->os;
	struct k_statx was, now;
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", search->root.fd);
	/* Without /proc use the root's name, which may lead to a different directory now. */
	const char *name = search->root.via.len ? strbuf_str(&search->root.place.path)
	                   : search_root_given(search);
	const char *const names[] = {link, name};
	const int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY;
	if (!search_dir_stat(search, search->root.fd, &was))
		return -1;
	for (int i = 0; i < 2; ++i) {
		int fd = os_openat(os, AT_FDCWD, names[i], flags | O_NOATIME);
		if (fd < 0 && errno == EPERM)
			fd = os_openat(os, AT_FDCWD, names[i], flags);
		if (fd < 0 && errno == EACCES)
			return -1;
		if (fd >= 0 && search_dir_stat(search, fd, &now) && now.ino == was.ino
		    && now.dev_major == was.dev_major
		    && now.dev_minor == was.dev_minor
		    && os_statx_mnt_id(&now, search->mounts.unique)
		       == os_statx_mnt_id(&was, search->mounts.unique))
			return fd;
		os_close(os, fd);
	}
	return -1;
}
