/* SPDX-License-Identifier: MIT */
/*
 * A directory below a mount is visible in a clone of its parent mount: open_tree(2) with
 * OPEN_TREE_CLONE and without AT_RECURSIVE.  The clone has no mounts on it, so no path leads
 * through a mount or wakes an automount, and closing the descriptor frees the clone.
 */
#include "host/host.h"

#include "base/words.h"
#include "os/file.h"
#include "path/resolve.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

enum { ENTRIES = 32 * 1024, ENTRY_MAX = 512 };   /* bytes of one read; of one entry */

int host_open_mount(struct host *host, uint32_t node)
{
	/* With another root the name would lead to another place. */
	if (!host->in.own || mounts_block(host->in.d->mounts, node))
		return -1;
	const struct mount *m = host->in.d->tree.nodes[node].mount;
	const char *name = host->in.d->targets[node];
	int fd = path_open_plain(host->in.os, AT_FDCWD, name, O_PATH | O_DIRECTORY, 0);
	if (fd < 0 || os_is_on_mount(host->in.os, fd, m) == 1)
		return fd;
	os_close(host->in.os, fd);
	return -1;
}

/** Clone a mount.  @return an O_PATH descriptor, or -1. */
static int clone_mount(struct host *host, uint32_t node)
{
	int fd = host_open_mount(host, node);
	if (fd < 0)
		return -1;
	int clone = os_open_tree(host->in.os, fd);
	os_close(host->in.os, fd);
	return clone;
}

/** Whether a file name is that of an empty file that keeps a directory in an archive. */
static bool keeps_directory(const char *name)
{
	return word_in(name, strlen(name), ".keep .keepme .keepdir .gitkeep .gitignore .empty "
	               ".placeholder");
}

/** Count the entries that one read of a directory returns.  @return 0, or -1 (ENOMEM). */
static int count(struct os *os, int fd, struct host_covered *covered)
{
	static _Alignas(struct k_dirent) char entries[ENTRIES];
	const struct k_dirent *entry;
	size_t at = 0, len, kept = 0;
	ssize_t n = os_getdents(os, fd, entries, sizeof(entries));
	if (n < 0)
		return 0;
	while ((entry = os_dirent(entries, (size_t)n, &at, &len))) {
		if (len == 0 || strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0
		    || keeps_directory(entry->name))
			continue;
		if (kept < HOST_COVERED_NAMES && !(covered->names[kept++] = strdup(entry->name)))
			return -1;
		++covered->count;
	}
	/* A broken file system may return invalid entries. */
	if (at < (size_t)n)
		return 0;
	covered->more = (size_t)n > sizeof(entries) - ENTRY_MAX;
	covered->state = covered->count || covered->more ? HOST_COVERED_DATA : HOST_COVERED_NOTHING;
	return 0;
}

/** Read one directory.  @return 0, or -1 (ENOMEM). */
static int look(struct os *os, int clone, struct host_covered *covered)
{
	const uint64_t within = RESOLVE_NO_XDEV | RESOLVE_BENEATH;
	int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY;
	int fd = path_open_plain(os, clone, covered->place, flags | O_NOATIME, within);
	if (fd < 0 && errno == EPERM)
		fd = path_open_plain(os, clone, covered->place, flags, within);
	if (fd < 0) {
		/* A file with a file mounted on it; or a name that was removed in another
		   namespace. */
		if (errno == ENOTDIR || errno == ENOENT)
			covered->state = HOST_COVERED_NOTHING;
		return 0;
	}
	int rc = count(os, fd, covered);
	os_close(os, fd);
	return rc;
}

void host_cover_open(struct host_cover *cover, struct host *host)
{
	*cover = (struct host_cover){.host = host, .parent = MT_NONE, .clone = -1};
}

int host_cover_look(struct host_cover *cover, struct host_covered *covered)
{
	if (!covered->place)
		return 0;
	assert(covered->parent < cover->host->in.d->tree.count);
	assert(covered->state == HOST_COVERED_UNKNOWN && covered->count == 0);
	if (covered->parent != cover->parent) {
		os_close(cover->host->in.os, cover->clone);
		cover->parent = covered->parent;
		cover->clone = clone_mount(cover->host, covered->parent);
	}
	int rc = cover->clone < 0 ? 0 : look(cover->host->in.os, cover->clone, covered);
	return rc != 0 ? fail(ENOMEM) : 0;
}

void host_cover_close(struct host_cover *cover)
{
	os_close(cover->host->in.os, cover->clone);
}
