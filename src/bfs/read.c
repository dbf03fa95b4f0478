/* SPDX-License-Identifier: MIT */
/*
 * Directories: openat, getdents64, close.
 *
 * A directory costs an openat, one getdents64 for each buffer of entries, one
 * that returns 0, since only that is the end (a short read is not: signals,
 * the freezer and tracers cause them), and a close.  Where the file
 * system is known to have nothing behind its last position (last_pos), being
 * there is the end as well: of small directories that is one call of four.  Many
 * directories can be opened by one call: together.c.
 */
#include "bfs/bulk_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum {
	READ_BUFFER = 64 * 1024,  /* more makes nothing quicker: 0.4 us an entry */
	READ_ENTRIES = 64,
	READ_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
	TOUCH_MOST = 255,         /* directories, before O_NOATIME is tried again */
};

struct bulk {
	struct os *os;
	struct fetch fetch;
	struct together together;
	unsigned touch, touched;  /* directories to be opened without O_NOATIME; at the last
	                             refusal */
	alignas(struct k_dirent) char buf[READ_BUFFER + BULK_SLACK];
};

struct bulk *bulk_new(struct os *os, const struct bulk_how *how)
{
	struct bulk *bulk = malloc(sizeof(*bulk));
	if (!bulk)
		return NULL;
	bulk->os = os;
	bulk->touch = bulk->touched = 0;
	fetch_init(&bulk->fetch, os, how);
	together_init(&bulk->together, os, how->together);
	return bulk;
}

void bulk_free(struct bulk *bulk)
{
	if (!bulk)
		return;
	together_destroy(&bulk->together);
	fetch_destroy(&bulk->fetch);
	free(bulk);
}

/** Open a directory of a bunch. */
static int open_plain(struct os *os, const struct bulk_dir *dir, int flags)
{
	if (dir->same_mount && os->caps & OSC_OPENAT2)
		return os_openat2(os, dir->parentfd, dir->name, flags, K_RESOLVE_NO_XDEV);
	return os_openat(os, dir->parentfd, dir->name, flags);
}

/**
 * The same for reading, without a trace if we may.
 *
 * Who is not root may ask for O_NOATIME only in what is his.  Where he was refused, the next
 * will be another's as well: it is not asked for in 1, 3, 7 ... of them.
 */
static int read_open(struct bulk *bulk, const struct bulk_dir *dir)
{
	if (bulk->touch > 0) {
		--bulk->touch;
		return open_plain(bulk->os, dir, READ_FLAGS);
	}
	int fd = open_plain(bulk->os, dir, READ_FLAGS | O_NOATIME);
	if (fd >= 0)
		bulk->touched = 0;
	if (fd >= 0 || errno != EPERM)
		return fd;
	bulk->touched = bulk->touched < TOUCH_MOST ? bulk->touched * 2 + 1 : TOUCH_MOST;
	bulk->touch = bulk->touched;
	return open_plain(bulk->os, dir, READ_FLAGS);
}

/** Open some of a bunch together. */
static void read_open_some(struct bulk *bulk, struct bulk_dir *dirs, size_t n)
{
	int atime = bulk->touch > 0 ? 0 : O_NOATIME;
	size_t opened = together_open(&bulk->together, dirs, n, READ_FLAGS | atime, K_RESOLVE_NO_XDEV);
	if (atime && opened > 0)
		bulk->touched = 0;
	bulk->touch -= opened < bulk->touch ? (unsigned)opened : bulk->touch;
}

/** Take one entry. */
static enum bulk_verdict read_entry(struct bulk *bulk, const struct bulk_policy *policy,
                                    struct bulk_dir *dir, const struct bulk_entry *entry, void *arg)
{
	enum bulk_verdict verdict = policy->entry(arg, dir, entry);
	if (verdict == BULK_ENTER)
		return policy->enter(arg, dir, entry);
	return verdict == BULK_WANT ? fetch_add(&bulk->fetch, policy, dir, entry, arg) : verdict;
}

/** Take entries that stand one behind the other. */
static enum bulk_verdict read_entries(struct bulk *bulk, const struct bulk_policy *policy, struct bulk_dir *dir,
                                      const struct bulk_entry *entries, size_t n, void *arg)
{
	enum bulk_verdict verdict = BULK_SKIP;
	for (size_t i = 0; i < n && verdict < BULK_END_DIR; ++i) {
		size_t passed = policy->pass ? policy->pass(arg, dir, entries + i, n - i) : 0;
		dir->entries += (uint32_t)passed;
		i += passed;
		if (i == n)
			break;
		++dir->entries;
		verdict = read_entry(bulk, policy, dir, &entries[i], arg);
	}
	return verdict;
}

/** Take a buffer of entries.
    @end [out]  It was the last. */
static enum bulk_verdict read_buffer(struct bulk *bulk, const struct bulk_policy *policy,
                                     struct bulk_dir *dir, size_t len, bool *end, void *arg)
{
	struct bulk_entry entries[READ_ENTRIES];
	const size_t most = policy->pass ? READ_ENTRIES : 1;
	enum bulk_verdict verdict = BULK_SKIP;
	int64_t next = 0;
	int error = 0;
	for (size_t at = 0; at < len && verdict < BULK_END_DIR && error == 0;) {
		size_t n = 0;
		while (n < most && at < len) {
			struct bulk_entry *entry = &entries[n];
			const struct k_dirent *de = os_dirent(bulk->buf, len, &at, &entry->len);
			if (!de) {
				error = errno;
				break;
			}
			next = de->off;
			const char *name = entry->name = de->name;
			if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')))
				continue;
			if (entry->len == 0)
				continue;
			entry->ino = de->ino;
			/* FUSE passes on whatever it is told. */
			entry->type = de->type <= DT_WHT ? de->type : DT_UNKNOWN;
			++n;
		}
		verdict = read_entries(bulk, policy, dir, entries, n, arg);
	}
	*end = dir->last_pos && next == K_LAST_POS;
	dir->error = verdict < BULK_END_DIR ? error : 0;
	/* After an error no other buffer comes. */
	return verdict < BULK_END_DIR && error == 0 ? fetch_buffer_ends(&bulk->fetch, policy, dir, arg) : verdict;
}

/** Read a directory that is open, or what is left of it. */
static enum bulk_verdict read_dir(struct bulk *bulk, const struct bulk_policy *policy,
                                  struct bulk_dir *dir, void *arg)
{
	bool ended;
	ssize_t len = 0;
	fetch_begin(&bulk->fetch, policy, dir);
	enum bulk_verdict verdict = fetch_resume(&bulk->fetch, policy, dir, &ended, arg);
	while (!ended && verdict < BULK_END_DIR && dir->error == 0 && !dir->paused
	       && (len = os_getdents(bulk->os, dir->fd, bulk->buf, READ_BUFFER)) > 0) {
		verdict = read_buffer(bulk, policy, dir, (size_t)len, &ended, arg);
		/* What is left to others, they are to have at once. */
		bool pause = dir->portions || (policy->pause && policy->pause(arg, dir));
		if (verdict < BULK_END_DIR && dir->error == 0 && !ended && !dir->paused && pause)
			fetch_pause(&bulk->fetch, dir);
	}
	if (len < 0)
		dir->error = errno;
	if (verdict < BULK_END_DIR && !dir->paused)
		verdict = fetch_end(&bulk->fetch, policy, dir, arg);
	fetch_forget(&bulk->fetch);
	dir->ended = verdict >= BULK_END_DIR;
	if (dir->ended) {
		bulk_rest_free(dir->portions);
		dir->portions = NULL;
	}
	return verdict;
}

/** Close a directory that is not kept. */
static void read_close(struct bulk *bulk, struct bulk_dir *dir)
{
	os_close(bulk->os, dir->fd);
	dir->fd = -1;
}

/** Have those closed that were opened, and are not to be read. */
static void read_none(struct bulk *bulk, struct bulk_dir *dirs, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if (!dirs[i].resume && dirs[i].fd >= 0)
			read_close(bulk, &dirs[i]);
		dirs[i].fd = -1;
		dirs[i].opened = false;
	}
}

enum bulk_verdict bulk_read(struct bulk *bulk, const struct bulk_policy *policy,
                            struct bulk_dir *dirs, size_t n, void *arg)
{
	enum bulk_verdict verdict = BULK_SKIP;
	for (size_t i = 0; i < n; ++i) {
		if (!dirs[i].resume)
			dirs[i].fd = -1;
	}
	for (size_t i = 0; i < n && verdict < BULK_END_ALL; ++i) {
		struct bulk_dir *dir = &dirs[i];
		if (i % TOGETHER_MAX == 0)
			read_open_some(bulk, dir, n - i);
		dir->error = 0;
		dir->entries = 0;
		dir->ended = dir->paused = false;
		if (dir->fd < 0)
			dir->fd = read_open(bulk, dir);
		dir->opened = dir->fd >= 0;
		if (!dir->opened) {
			dir->error = errno;
			continue;
		}
		verdict = read_dir(bulk, policy, dir, arg);
		if (policy->keep && !policy->keep(arg, dir))
			read_close(bulk, dir);
		if (verdict == BULK_END_ALL)
			read_none(bulk, dir + 1, n - i - 1);
	}
	return verdict == BULK_END_ALL ? verdict : BULK_SKIP;
}
