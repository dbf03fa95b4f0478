/* SPDX-License-Identifier: MIT */
/*
 * On the server of a delegated NFS mount: facts about the root that the client cannot see.
 */
#include "search/search_impl.h"

#include "os/file.h"
#include "os/inodes.h"
#include "search/hosts/delegate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

enum { EXPORTS_MAX = 16 << 20 };

int search_exported_refuse(SEARCH *search)
{
	const char *path = strbuf_str(&search->root.place.path);
	const struct search_mount *m = search_mount_find(&search->mounts, search->root.mount);
	char *exports;
	size_t len;
	if (search_mounts_below(&search->mounts, search->root.mount, path))
		return EBUSY;
	if (delegate_type(m->type)
	    || os_read_kernel(&search->os, AT_FDCWD, "/proc/fs/nfsd/exports", EXPORTS_MAX, &exports,
	                      &len) != 0)
		return 0;
	bool is_list = delegate_is_list(exports, path);
	free(exports);
	return is_list ? EXDEV : 0;
}

void search_exported_ids(SEARCH *search, struct k_statx *st)
{
	int fd = search_root_open(search);
	if (fd >= 0)
		os_fs_ids(&search->os, fd, st->fs_ids);
	os_close(&search->os, fd);
}
