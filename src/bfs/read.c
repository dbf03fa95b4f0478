/* SPDX-License-Identifier: MIT */
/*
 * Reading the directories of a batch, in any thread.
 *
 * A reader owns its struct os, its buffers and the batch that it reads; it never accesses the
 * frontier, and of a directory it uses only the descriptor, the name and the chain of parents, none
 * of which changes while the directory is read.
 *
 * A directory costs an openat, one getdents64 for each buffer of entries, one getdents64 that
 * returns 0, since only that marks the end (signals, the freezer and tracers cause short reads),
 * and a close.  Where K_LAST_POS is known to be the end (last_pos), reaching that position saves
 * the last getdents64: one call of four in small directories.
 *
 * The directories of a batch can be opened by one io_uring call.  The kernel does the same work,
 * but is entered once; and threads that share a descriptor table block each other less.  (Closing
 * through the ring helps only where entering the kernel is expensive, since the kernel defers part
 * of the work.)  The kernel immediately refuses a name that it would have to look up on a disk or a
 * server, and a directory that cannot be opened; then a plain call opens it, or returns the
 * reason.  If most names are refused, some batches are opened by plain calls.
 */
#include "bfs/bfs_impl.h"

#include "os/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENTRIES = 64,             /* number for one call of pass() */
	OPEN_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
	TOUCH_MOST = 255,         /* directories before O_NOATIME is tried again, at most */
	/* Opening through a ring: */
	RING_LEAST = 4,           /* directories from which a ring is faster */
	RING_BEFORE = 8,          /* batches before the ring is created */
	RING_WORKERS = 1,         /* kernel threads, which have nothing to do here */
	RING_PLAIN = 15,          /* batches opened by plain calls */
	RING_VAIN = 4,            /* batches without any success, after which the kernel is assumed
	                             not to open directories through a ring */
};

/* Opening. */

/** Free the ring, and create no other. */
static void ring_end(struct bfs_reader *reader)
{
	os_ring_free(reader->os, reader->ring.os);
	reader->ring.os = NULL;
	reader->ring.off = true;
}

/** Whether to open n directories through the ring; creates it if necessary. */
static bool ring_pays(struct bfs_reader *reader, size_t n)
{
	struct bfs_ring *ring = &reader->ring;
	if (ring->off || n < RING_LEAST)
		return false;
	if (ring->plain > 0) {
		--ring->plain;
		return false;
	}
	if (!ring->os && ++ring->before > RING_BEFORE) {
		ring->os = os_ring_new(reader->os, BFS_BATCH, RING_WORKERS);
		ring->off = !ring->os;
	}
	return ring->os;
}

/** Close what the ring opened and nobody has read, from the i-th directory of a batch on.
    @return whether there was any. */
static bool ring_close(struct bfs_reader *reader, struct bfs_batch *batch, unsigned i)
{
	bool any = false;
	for (; i < batch->n; ++i) {
		struct bfs_read *read = &batch->reads[i];
		if (read->fd < 0 || read->resume)
			continue;
		os_close(reader->os, read->fd);
		read->fd = -1;
		any = true;
	}
	return any;
}

/** Open through the ring as many as possible of the directories whose fd is -1. */
static void ring_open(struct bfs_reader *reader, struct bfs_read *reads, size_t n)
{
	struct bfs_ring *ring = &reader->ring;
	struct os_ring_open opens[BFS_BATCH];
	struct bfs_read *which[BFS_BATCH];
	size_t wanted = 0, opened = 0;
	for (size_t i = 0; i < n; ++i) {
		if (reads[i].fd >= 0)
			continue;
		which[wanted] = &reads[i];
		opens[wanted++] = (struct os_ring_open){
			.dirfd = reads[i].parentfd, .name = reads[i].name,
		};
	}
	if (!ring_pays(reader, wanted))
		return;
	int atime = reader->touch > 0 ? 0 : O_NOATIME;
	int rc = os_ring_open(reader->os, ring->os, OPEN_FLAGS | atime, RESOLVE_NO_XDEV, opens,
	                      wanted);
	++ring->tried;
	for (size_t i = 0; i < wanted; ++i) {
		which[i]->fd = opens[i].fd;
		opened += opens[i].fd >= 0;
	}
	ring->opened |= opened > 0;
	if (rc != 0 || (ring->tried == RING_VAIN && !ring->opened))
		ring_end(reader);
	else if (opened < wanted / 2)
		ring->plain = RING_PLAIN;
	if (atime && opened > 0)
		reader->touched = 0;
	reader->touch -= opened < reader->touch ? (unsigned)opened : reader->touch;
}

static int open_plain(const struct bfs_reader *reader, const struct bfs_read *read, int flags)
{
	struct os *os = reader->os;
	/* Something may have been mounted there since it was examined. */
	if (os->caps & OSC_OPENAT2)
		return os_openat2(os, read->parentfd, read->name, flags, RESOLVE_NO_XDEV);
	return os_openat(os, read->parentfd, read->name, flags);
}

/**
 * Open a directory, without updating its access time if that is permitted.
 *
 * Users other than root may use O_NOATIME only for their own files.  The next directory after a
 * refusal probably has the same owner, so O_NOATIME is not tried for the next 1, 3, 7 ...
 * directories.
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

/* Reading. */

/** Process consecutive entries. */
static enum bfs_verdict read_entries(struct bfs_reader *reader, struct bfs_read *read,
                                     struct bfs_entry *entries, size_t n)
{
	enum bfs_verdict verdict = BFS_SKIP;
	for (size_t i = 0; i < n && verdict < BFS_END_DIR; ++i) {
		if (reader->policy->pass)
			i += reader_pass(reader, read, entries + i, n - i);
		if (i == n)
			break;
		++read->entries;
		verdict = reader_entry(reader, read, &entries[i]);
		entries[i].note = reader->batch->scratch.note;
		reader->batch->scratch.note = 0;
		if (verdict == BFS_LOOK)
			verdict = fetch_add(reader, read, &entries[i]);
	}
	return verdict;
}

/** Process a buffer of entries.  @end [out]  It was the last buffer. */
static enum bfs_verdict read_buffer(struct bfs_reader *reader, struct bfs_read *read, size_t len,
                                    bool *end)
{
	struct bfs_entry entries[ENTRIES];
	const size_t most = reader->policy->pass ? ENTRIES : 1;
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
			/* FUSE does not check this value. */
			entry->type = de->type <= DT_WHT ? de->type : DT_UNKNOWN;
			++n;
		}
		verdict = read_entries(reader, read, entries, n);
	}
	*end = read->last_pos && next == K_LAST_POS;
	read->error = verdict < BFS_END_DIR ? error : 0;
	/* After an error no other buffer follows. */
	return verdict < BFS_END_DIR && error == 0 ? fetch_buffer_ends(reader, read) : verdict;
}

/** Read the next entries of a directory into the buffer.
    @first  No entries were read before.
    @return as os_getdents().  Errors: ENOENT: the directory was removed before its first entries
            were read, for example by a command that the search ran for the directory. */
static ssize_t read_next(struct bfs_reader *reader, const struct bfs_read *read, bool first)
{
	errno = 0;
	ssize_t len = os_getdents(reader->os, read->fd, reader->buf, BFS_BUFFER);
	return len == 0 && first && errno == ENOENT ? -1 : len;
}

/** Read an open directory, or its rest. */
static enum bfs_verdict read_dir(struct bfs_reader *reader, struct bfs_read *read)
{
	bool ended, first = !read->resume;
	ssize_t len = 0;
	enum bfs_verdict verdict = fetch_begin(reader, read, &ended);
	while (!ended && verdict < BFS_END_DIR && read->error == 0 && !read->paused
	       && (len = read_next(reader, read, first)) > 0) {
		first = false;
		verdict = read_buffer(reader, read, (size_t)len, &ended);
		/* Portions are for other threads, so pause now. */
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
	/* Close the directory unless it is still needed. */
	if (!read->resume && !read->paused && !read->portions && !read->nkids && !read->njudges) {
		os_close(reader->os, read->fd);
		read->fd = -1;
	}
	return verdict;
}

void bfs_reader_read(struct bfs_reader *reader, struct bfs_batch *batch)
{
	const struct bfs_policy *policy = reader->policy;
	enum bfs_verdict verdict = BFS_SKIP;
	assert(batch->state == BATCH_FILLED && batch->n <= BFS_BATCH);
	batch->state = BATCH_READING;
	reader->batch = batch;
	reader->read = NULL;
	for (unsigned i = 0; i < batch->n && policy->engine == BFS_FS && policy->fs; ++i)
		batch->reads[i].fs = policy->fs(policy->arg, batch->reads[i].at.tag);
	ring_open(reader, batch->reads, batch->n);
	for (unsigned i = 0; i < batch->n; ++i) {
		struct bfs_read *read = &batch->reads[i];
		if (read->fd < 0)
			read->fd = read_open(reader, read);
		/* The ring may refuse this directory and use the last descriptors for the next. */
		if (read->fd < 0 && (errno == EMFILE || errno == ENFILE)
		    && ring_close(reader, batch, i + 1))
			read->fd = read_open(reader, read);
		read->opened = read->fd >= 0;
		if (read->opened)
			verdict = read_dir(reader, read);
		else
			read->error = errno;
		if (verdict == BFS_END_ALL) {
			ring_close(reader, batch, i + 1);
			break;
		}
	}
	batch->state = BATCH_READ;
}

struct bfs_reader *bfs_reader_new(struct os *os, const struct bfs_policy *policy, bool owner)
{
	struct bfs_reader *reader = malloc(sizeof(*reader));
	if (!reader)
		return NULL;
	/* Except the buffer, which need not be cleared. */
	memset(reader, 0, offsetof(struct bfs_reader, buf));
	reader->os = os;
	reader->policy = policy;
	reader->owner = owner;
	reader->ring.off = !policy->together || !(os->caps & OSC_OPENAT2);
	fetch_init(&reader->fetch);
	return reader;
}

void bfs_reader_free(struct bfs_reader *reader)
{
	if (!reader)
		return;
	ring_end(reader);
	fetch_destroy(&reader->fetch);
	free(reader);
}
