/* SPDX-License-Identifier: MIT */
/*
 * The plain back end of the bulk read: openat, getdents64, statx.
 *
 * A directory costs an openat, one getdents64 for each buffer of entries, one
 * that returns 0, since only that is the end (a short read is not: signals,
 * the freezer and tracers cause them), and the caller's close.
 */
#include "bulk/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* The size of the buffer does not matter (0.4 us an entry); that of the C
   library's is kind to the cache. */
enum { SYNC_BUFFER = 32 * 1024 };

struct bulk {
	struct os *os;
	alignas(struct k_dirent) char buf[SYNC_BUFFER];
	struct bulk_entry *wanted;   /* entries of this buffer that wait for metadata */
	size_t nwanted, wanted_size;
};

struct bulk *bulk_sync_new(struct os *os)
{
	struct bulk *bulk = malloc(sizeof(*bulk));
	if (!bulk)
		return NULL;
	bulk->os = os;
	bulk->wanted = NULL;
	bulk->nwanted = bulk->wanted_size = 0;
	return bulk;
}

void bulk_sync_free(struct bulk *bulk)
{
	if (!bulk)
		return;
	free(bulk->wanted);
	free(bulk);
}

/** Open a directory of a bunch for reading. */
static int sync_open(struct os *os, const struct bulk_dir *dir)
{
	if (dir->same_mount && os->caps & OSC_OPENAT2) {
		int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
		int fd = os_openat2(os, dir->parentfd, dir->name, flags | O_NOATIME, K_RESOLVE_NO_XDEV);
		if (fd < 0 && errno == EPERM)
			fd = os_openat2(os, dir->parentfd, dir->name, flags, K_RESOLVE_NO_XDEV);
		return fd;
	}
	return os_opendir(os, dir->parentfd, dir->name);
}

/** Pass on the metadata of one entry. */
static enum bulk_verdict sync_stat(struct bulk *bulk, const struct bulk_policy *policy,
                                   struct bulk_dir *dir, const struct bulk_entry *entry, void *arg)
{
	struct k_statx st;
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	int error = 0;
	int rc = os_statx(bulk->os, dir->fd, entry->name, flags, policy->statx_mask, &st);
	/* FUSE without allow_other tells other users, root too, nothing but what
	   the VFS itself knows: the mount ID. */
	if (rc != 0 && errno == EACCES)
		rc = os_statx(bulk->os, dir->fd, entry->name, flags, 0, &st);
	if (rc != 0)
		error = errno;
	enum bulk_verdict verdict = policy->meta(arg, dir, entry, &st, error);
	return verdict == BULK_ENTER ? policy->enter(arg, dir, entry) : verdict;
}

/** Fetch the metadata that was asked for so far. */
static enum bulk_verdict sync_flush(struct bulk *bulk, const struct bulk_policy *policy,
                                    struct bulk_dir *dir, void *arg)
{
	for (size_t i = 0; i < bulk->nwanted; ++i) {
		enum bulk_verdict verdict = sync_stat(bulk, policy, dir, &bulk->wanted[i], arg);
		if (verdict >= BULK_END_DIR) {
			bulk->nwanted = 0;
			return verdict;
		}
	}
	bulk->nwanted = 0;
	return BULK_SKIP;
}

/** Take one entry. */
static enum bulk_verdict sync_entry(struct bulk *bulk, const struct bulk_policy *policy,
                                    struct bulk_dir *dir, const struct bulk_entry *entry, void *arg)
{
	enum bulk_verdict verdict = policy->entry(arg, dir, entry);
	if (verdict == BULK_ENTER)
		return policy->enter(arg, dir, entry);
	if (verdict != BULK_WANT)
		return verdict;
	if (policy->batch <= 1)
		return sync_stat(bulk, policy, dir, entry, arg);

	if (bulk->nwanted == bulk->wanted_size) {
		size_t size = bulk->wanted_size ? bulk->wanted_size * 2 : 64;
		struct bulk_entry *bigger = realloc(bulk->wanted, size * sizeof(*bigger));
		if (!bigger)
			return sync_stat(bulk, policy, dir, entry, arg);
		bulk->wanted = bigger;
		bulk->wanted_size = size;
	}
	bulk->wanted[bulk->nwanted++] = *entry;
	return bulk->nwanted < policy->batch ? BULK_SKIP : sync_flush(bulk, policy, dir, arg);
}

/** Take a buffer of entries. */
static enum bulk_verdict sync_buffer(struct bulk *bulk, const struct bulk_policy *policy,
                                     struct bulk_dir *dir, size_t len, void *arg)
{
	enum bulk_verdict verdict = BULK_SKIP;
	for (size_t at = 0; at < len && verdict < BULK_END_DIR;) {
		const struct k_dirent *de = os_dirent(bulk->buf, len, &at);
		if (!de) {
			dir->error = errno;
			break;
		}
		const char *name = de->name;
		if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')))
			continue;
		/* A broken file system may give such a name; it leads elsewhere. */
		if (name[0] == '\0' || strchr(name, '/'))
			continue;
		++dir->entries;
		struct bulk_entry entry = {.name = name, .ino = de->ino, .type = de->type};
		verdict = sync_entry(bulk, policy, dir, &entry, arg);
	}
	/* The names are in the buffer, which the next read overwrites. */
	if (verdict < BULK_END_DIR)
		verdict = sync_flush(bulk, policy, dir, arg);
	bulk->nwanted = 0;
	return verdict;
}

enum bulk_verdict bulk_sync_read(struct bulk *bulk, const struct bulk_policy *policy,
                                 struct bulk_dir *dirs, size_t n, void *arg)
{
	for (size_t i = 0; i < n; ++i) {
		struct bulk_dir *dir = &dirs[i];
		dir->error = 0;
		dir->entries = 0;
		dir->ended = dir->paused = false;
		if (!dir->resume)
			dir->fd = sync_open(bulk->os, dir);
		if (dir->fd < 0) {
			dir->error = errno;
			continue;
		}
		enum bulk_verdict verdict = BULK_SKIP;
		ssize_t len = 0;
		while (verdict < BULK_END_DIR && dir->error == 0 && !dir->paused
		       && (len = os_getdents(bulk->os, dir->fd, bulk->buf, sizeof(bulk->buf))) > 0) {
			verdict = sync_buffer(bulk, policy, dir, (size_t)len, arg);
			dir->paused = verdict < BULK_END_DIR && dir->error == 0 && policy->pause
			              && policy->pause(arg, dir);
		}
		if (len < 0)
			dir->error = errno;
		dir->ended = verdict >= BULK_END_DIR;
		if (verdict == BULK_END_ALL) {
			for (size_t left = i + 1; left < n; ++left)
				dirs[left].fd = -1;
			return verdict;
		}
	}
	return BULK_SKIP;
}
