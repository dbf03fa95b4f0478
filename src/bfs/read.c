/* SPDX-License-Identifier: MIT */
/*
 * Reading directories: openat, getdents64, close.
 *
 * A directory costs an openat, one getdents64 for each buffer of entries, one that returns
 * 0, since only that is the end (signals, the freezer and tracers cause short reads), and a
 * close.  Where K_LAST_POS is known to be the end (last_pos), reaching it saves the last
 * getdents64: one call of four in small directories.  together.c opens many directories by
 * one call.
 */
#include "bfs/bfs_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

enum {
	ENTRIES = 64,             /* for one call of pass() */
	OPEN_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
	TOUCH_MOST = 255,         /* directories, before O_NOATIME is tried again */
};

static int open_plain(const struct bfs_reader *reader, const struct bfs_read *read, int flags)
{
	struct os *os = reader->os;
	/* Something may have been mounted there since it was looked at. */
	if (os->caps & OSC_OPENAT2)
		return os_openat2(os, read->parentfd, read->name, flags, RESOLVE_NO_XDEV);
	return os_openat(os, read->parentfd, read->name, flags);
}

/**
 * Open a directory, without updating its access time if that is allowed.
 *
 * Users other than root may use O_NOATIME only for what they own.  The next directory after a
 * refusal probably has the same owner: O_NOATIME is not tried for the next 1, 3, 7 ... .
 */
static int read_open(struct bfs_reader *reader, const struct bfs_read *read)
{
	if (reader->touch > 0) {
		--reader->touch;
		return open_plain(reader, read, OPEN_FLAGS);
	}
	int fd = open_plain(reader, read, OPEN_FLAGS | O_NOATIME);
	if (fd >= 0)
		reader->touched = 0;
	if (fd >= 0 || errno != EPERM)
		return fd;
	reader->touched = reader->touched < TOUCH_MOST ? reader->touched * 2 + 1 : TOUCH_MOST;
	reader->touch = reader->touched;
	return open_plain(reader, read, OPEN_FLAGS);
}

/** Open some directories of a batch together. */
static void read_open_some(struct bfs_reader *reader, struct bfs_read *reads, size_t n)
{
	int atime = reader->touch > 0 ? 0 : O_NOATIME;
	size_t opened = together_open(&reader->together, reads, n, OPEN_FLAGS | atime);
	if (atime && opened > 0)
		reader->touched = 0;
	reader->touch -= opened < reader->touch ? (unsigned)opened : reader->touch;
}

/** Take consecutive entries. */
static enum bfs_verdict read_entries(struct bfs_reader *reader, struct bfs_read *read,
                                     const struct bfs_entry *entries, size_t n)
{
	enum bfs_verdict verdict = BFS_SKIP;
	for (size_t i = 0; i < n && verdict < BFS_END_DIR; ++i) {
		if (reader->bulk->pass) {
			size_t passed = reader_pass(reader, read, entries + i, n - i);
			read->entries += (uint32_t)passed;
			i += passed;
			if (i == n)
				break;
		}
		++read->entries;
		verdict = reader_entry(reader, read, &entries[i]);
	}
	return verdict;
}

/** Take a buffer of entries.  @end [out]  It was the last. */
static enum bfs_verdict read_buffer(struct bfs_reader *reader, struct bfs_read *read, size_t len,
                                    bool *end)
{
	struct bfs_entry entries[ENTRIES];
	const size_t most = reader->bulk->pass ? ENTRIES : 1;
	enum bfs_verdict verdict = BFS_SKIP;
	int64_t next = 0;
	int error = 0;
	for (size_t at = 0; at < len && verdict < BFS_END_DIR && error == 0;) {
		size_t n = 0;
		while (n < most && at < len) {
			struct bfs_entry *entry = &entries[n];
			const struct k_dirent *de = os_dirent(reader->buf, len, &at, &entry->len);
			if (!de) {
				error = errno;
				break;
			}
			next = de->off;
			const char *name = entry->name = de->name;
			if (name[0] == '.'
			    && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')))
				continue;
			if (entry->len == 0)
				continue;
			entry->ino = de->ino;
			/* FUSE passes on any value. */
			entry->type = de->type <= DT_WHT ? de->type : DT_UNKNOWN;
			++n;
		}
		verdict = read_entries(reader, read, entries, n);
	}
	*end = read->last_pos && next == K_LAST_POS;
	read->error = verdict < BFS_END_DIR ? error : 0;
	/* After an error no other buffer comes. */
	return verdict < BFS_END_DIR && error == 0 ? fetch_buffer_ends(reader, read) : verdict;
}

/** Read an open directory, or what is left of it. */
static enum bfs_verdict read_dir(struct bfs_reader *reader, struct bfs_read *read)
{
	bool ended;
	ssize_t len = 0;
	fetch_begin(reader, read);
	enum bfs_verdict verdict = fetch_resume(reader, read, &ended);
	while (!ended && verdict < BFS_END_DIR && read->error == 0 && !read->paused
	       && (len = os_getdents(reader->os, read->fd, reader->buf, BFS_BUFFER)) > 0) {
		verdict = read_buffer(reader, read, (size_t)len, &ended);
		/* Portions are for other threads, at once. */
		bool pause = read->portions || reader_pause(reader, read);
		if (verdict < BFS_END_DIR && read->error == 0 && !ended && !read->paused && pause)
			fetch_pause(&reader->fetch, read);
	}
	if (len < 0)
		read->error = errno;
	if (verdict < BFS_END_DIR && !read->paused)
		verdict = fetch_end(reader, read);
	fetch_forget(&reader->fetch);
	if (verdict >= BFS_END_DIR) {
		read->verdict = verdict;
		window_free(read->portions);
		read->portions = NULL;
	}
	return verdict;
}

/** Close a directory unless something is left to do in it. */
static void read_close(struct bfs_reader *reader, struct bfs_read *read)
{
	if (read->resume || read->paused || read->portions
	    || read->nkids || read->njudges || read->ncrosses)
		return;
	os_close(reader->os, read->fd);
	read->fd = -1;
}

/** Close the directories that were opened together and are not read. */
static void read_none(struct bfs_reader *reader, struct bfs_read *reads, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if (!reads[i].resume && reads[i].fd >= 0)
			os_close(reader->os, reads[i].fd);
		reads[i].fd = -1;
	}
}

void bfs_reader_read(struct bfs_reader *reader, struct bfs_batch *batch)
{
	assert(batch->state == BATCH_FILLED && batch->n <= BFS_BATCH);
	batch->state = BATCH_READING;
	reader->batch = batch;
	reader->read = NULL;
	if (reader->bulk->engine == BFS_FS && reader->bulk->fs) {
		for (unsigned i = 0; i < batch->n; ++i) {
			struct bfs_read *read = &batch->reads[i];
			read->fs = reader->bulk->fs(reader->policy->arg, read->at.tag);
		}
	}
	read_open_some(reader, batch->reads, batch->n);
	for (unsigned i = 0; i < batch->n; ++i) {
		struct bfs_read *read = &batch->reads[i];
		if (read->fd < 0)
			read->fd = read_open(reader, read);
		read->opened = read->fd >= 0;
		if (!read->opened) {
			read->error = errno;
			continue;
		}
		enum bfs_verdict verdict = read_dir(reader, read);
		read_close(reader, read);
		if (verdict == BFS_END_ALL) {
			read_none(reader, read + 1, batch->n - i - 1);
			break;
		}
	}
	batch->state = BATCH_READ;
}
