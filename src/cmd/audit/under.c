/* SPDX-License-Identifier: MIT */
/*
 * What lies under a mount is seen in a clone of the mount below it: open_tree(2) with
 * OPEN_TREE_CLONE and without AT_RECURSIVE.  There is no mount in it, so no name leads
 * through one, none is an automount's, and nothing has to be unmounted.  It ends with its
 * descriptor.
 */
#include "cmd/audit/under.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 32 * 1024, ENTRY_MAX = 512 };   /* bytes: of one read, of an entry */

/** Open the root of a mount by its name, if that is what is there.
    @return a descriptor made with O_PATH, or -1. */
static int open_mount(struct run *run, uint32_t node)
{
	const struct mount *m = run->d->tree.nodes[node].mount;
	const char *name = run->d->targets[node];
	struct k_statx st;
	bool unique = run->table->unique_ids;
	unsigned mask = unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	int fd = os_openat2(&run->os, AT_FDCWD, name, O_PATH | O_DIRECTORY | O_NOFOLLOW,
	                    K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS);
	if (fd < 0)
		return -1;
	if (os_statx(&run->os, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, &st) == 0
	    && os_statx_mnt_id(&st, unique) == (unique ? m->key : m->id))
		return fd;
	os_close(&run->os, fd);
	return -1;
}

/** A clone of a mount.  @return a descriptor made with O_PATH, or -1. */
static int clone_mount(struct run *run, uint32_t node)
{
	/* By its name alone it is not to be found in another root. */
	if (run->rootfd != AT_FDCWD || run->procfd != AT_FDCWD || node_blocks(run, node))
		return -1;
	int fd = open_mount(run, node);
	if (fd < 0)
		return -1;
	int clone = os_open_tree(&run->os, fd);
	os_close(&run->os, fd);
	return clone;
}

/** Count the entries of a directory by one read.  @return 0, or -1 (ENOMEM). */
static int count(struct os *os, int fd, struct audit_under *under)
{
	static _Alignas(struct k_dirent) char entries[ENTRIES];
	const struct k_dirent *entry;
	size_t at = 0, len, kept = 0;
	ssize_t n = os_getdents(os, fd, entries, sizeof(entries));
	if (n < 0)
		return 0;
	while ((entry = os_dirent(entries, (size_t)n, &at, &len))) {
		if (len == 0 || strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0 || audit_under_keeps(entry->name))
			continue;
		if (kept < AUDIT_UNDER_NAMES && !(under->names[kept++] = strdup(entry->name)))
			return -1;
		++under->count;
	}
	/* A broken file system may give what is no entry. */
	if (at < (size_t)n)
		return 0;
	under->more = (size_t)n > sizeof(entries) - ENTRY_MAX;
	under->seen = under->count || under->more ? AUDIT_UNDER_DATA : AUDIT_UNDER_NOTHING;
	return 0;
}

/** Look at one.  @return 0, or -1 (ENOMEM). */
static int look(struct os *os, int clone, struct audit_under *under)
{
	const uint64_t within = K_RESOLVE_NO_XDEV | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS | K_RESOLVE_BENEATH;
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = os_openat2(os, clone, under->place, flags | O_NOATIME, within);
	if (fd < 0 && errno == EPERM)
		fd = os_openat2(os, clone, under->place, flags, within);
	if (fd < 0) {
		/* A file, on which a file is mounted; a name that was removed in another namespace. */
		if (errno == ENOTDIR || errno == ENOENT)
			under->seen = AUDIT_UNDER_NOTHING;
		return 0;
	}
	int rc = count(os, fd, under);
	os_close(os, fd);
	return rc;
}

int audit_under_look(struct run *run, struct audit_under *list, size_t n)
{
	int clone = -1, rc = 0;
	uint32_t parent = MT_NONE;
	for (size_t i = 0; i < n && rc == 0; ++i) {
		if (!list[i].place)
			continue;
		if (list[i].parent != parent) {
			os_close(&run->os, clone);
			parent = list[i].parent;
			clone = clone_mount(run, parent);
		}
		if (clone >= 0)
			rc = look(&run->os, clone, &list[i]);
	}
	os_close(&run->os, clone);
	if (rc != 0)
		errno = ENOMEM;
	return rc;
}
