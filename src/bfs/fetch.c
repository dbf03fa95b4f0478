/* SPDX-License-Identifier: MIT */
/*
 * Fetching metadata, after the verdict on a name.
 *
 *     fetch_add() --+----------------------------> wanted --+--> statx, one by one --+--> meta()
 *                   '--> window --> inode order -----^      '--> bulkstat: a range --'
 *
 * Unsorted, a batch is part of one buffer of names, and is fetched as soon as it is full.  In inode
 * order, names are copied, and the entries of many buffers are fetched together: a block of inodes
 * on the disk is then read once, instead of once for each inode when memory is short.
 *
 * BFS_AUTO times its calls; reading the clock does not enter the kernel.  Until it is known whether
 * calls wait for a disk, each buffer is sorted separately.  If they wait, all entries are sorted,
 * unless the directory is sorted already or the disk belongs to another machine.  If they do not
 * wait, nothing is sorted.
 *
 * If threads share a budget (struct bfs_budget), a large directory is divided: the thread that
 * reads the names puts them into portions, and any thread fetches these.  Portions of a window are
 * ranges of its order; otherwise names are in the order of the directory.
 */
#include "bfs/bfs_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>

enum {
	TURNS_TIMED = 4,          /* one in this many small parts is timed */
	SLOW_LEAST = 8000,        /* ns per call from which a call may be slow */
	SLOW_MOST = 25000,        /* ns per call from which a call is always slow */
	SLOW_TIMES = 3,           /* slow: this many times the fastest run */
	CALM_SLOW = 2,            /* with this many slow runs of PACE_LONG, calls still wait */
};

/* Whether metadata calls wait for a disk, decided by their times (pure).
 *
 *     PACE_TRIAL --+-- they wait ---------> PACE_WAITS --.
 *                  |                                     | they no longer wait
 *                  '-- they do not wait --> PACE_CALM <--'
 *
 * A call whose inode is in memory takes about a microsecond; if the inode is made from a cached
 * block, five; if the call waits for a disk, 50 and more.  The fastest run shows how long a call
 * takes on a slow or emulated machine without waiting.
 *
 * Calls are timed in runs of PACE_RUN or a few more.  A decision follows PACE_LOOK runs (PACE_LONG
 * while calls wait), each of which counts as slow or not.  So a pause of the thread itself
 * (preemption, a page fault), however long, makes only one run slow. */

void pace_set(struct pace *pace, enum pace_state state)
{
	pace->state = state;
	pace->runs = pace->slow = 0;
}

void pace_note(struct pace *pace, size_t calls, uint64_t ns)
{
	pace->calls += calls;
	pace->ns += ns == UINT64_MAX ? calls * 2 * SLOW_MOST : ns;
	if (pace->calls < PACE_RUN)
		return;
	uint64_t each = pace->ns / pace->calls;
	if (pace->quickest == 0 || each < pace->quickest)
		pace->quickest = each;
	uint64_t limit = pace->quickest * SLOW_TIMES;
	limit = limit < SLOW_LEAST ? SLOW_LEAST : limit > SLOW_MOST ? SLOW_MOST : limit;
	pace->slow += each > limit;
	pace->calls = 0;
	pace->ns = 0;
	bool waits = pace->state == PACE_WAITS;
	if (++pace->runs < (waits ? PACE_LONG : PACE_LOOK))
		return;
	waits = pace->slow >= (waits ? CALM_SLOW : PACE_LOOK / 2);
	pace_set(pace, waits ? PACE_WAITS : PACE_CALM);
}

/* Fetching. */

void fetch_init(struct bfs_fetch *fetch)
{
	*fetch = (struct bfs_fetch){.undivided = UINT64_MAX};
}

void fetch_destroy(struct bfs_fetch *fetch)
{
	free(fetch->bulkstat);
	free(fetch->wanted);
	window_free(fetch->window);
}

void fetch_forget(struct bfs_fetch *fetch)
{
	fetch->n = 0;
	if (fetch->window && fetch->window->n > 0)
		window_reset(fetch->window);
}

/** Pass metadata to the policy's meta(). */
static enum bfs_verdict meta_pass(struct bfs_reader *reader, struct bfs_read *read,
                             const struct bfs_entry *entry, struct k_statx *st, int error)
{
	/* FUSE without allow_other returns to other users, even root, only what the VFS itself
	   knows: the mount ID. */
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | reader->policy->statx_flags;
	if (error == EACCES)
		error = os_statx(reader->os, read->fd, entry->name, flags, 0, st) == 0 ? 0 : errno;
	if (error == 0)
		reader->fetch.dev = (uint64_t)st->dev_major << 32 | st->dev_minor;
	return reader_meta(reader, read, entry, st, error);
}

/** Fetch the metadata of one entry. */
static enum bfs_verdict fetch_one(struct bfs_reader *reader, struct bfs_read *read,
                                  const struct bfs_entry *entry)
{
	struct k_statx st;
	int error = reader_stat(reader, read, entry, &st);
	return meta_pass(reader, read, entry, &st, error);
}

/** The file system type of a directory, read once; 0: unknown. */
static unsigned fs_type(struct bfs_reader *reader, const struct bfs_read *read)
{
	struct bfs_fetch *fetch = &reader->fetch;
	struct statfs fs;
	if (fetch->type < 0)
		fetch->type = os_fstatfs(reader->os, read->fd, &fs) == 0 ? (unsigned)fs.f_type : 0;
	return (unsigned)fetch->type;
}

/** Whether the order of inode numbers is that of a disk in this machine. */
static bool order_known(struct bfs_reader *reader, const struct bfs_read *read)
{
	switch (fs_type(reader, read)) {
	case 0:
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case AFS_SUPER_MAGIC:
	case AFS_FS_MAGIC:
	case CODA_SUPER_MAGIC:
	case V9FS_MAGIC:
	case FUSE_SUPER_MAGIC:
		return false;
	default:
		return true;
	}
}

/** Whether calls are timed, and entries are sorted if the calls wait. */
static bool adapts(const struct bfs_reader *reader)
{
	return reader->policy->engine == BFS_AUTO && !reader->policy->ahead;
}

/** The calls wait: decide whether sorting helps. */
static void order_judge(struct bfs_reader *reader, const struct bfs_read *read,
                        const struct bfs_entry *wanted, size_t n)
{
	struct bfs_fetch *fetch = &reader->fetch;
	const struct bfs_window *window = fetch->window;
	bool already = window && window->sorted ? window->already_sorted
	                                        : window_already_sorted(wanted, n);
	fetch->ordered = fetch->dev;
	/* Lookups in a directory block each other: XFS locks the blocks of its index, and all
	   lookups use the first of these blocks. */
	if (fs_type(reader, read) == XFS_SUPER_MAGIC)
		fetch->undivided = fetch->dev;
	if (already || !order_known(reader, read))
		pace_set(&fetch->pace, PACE_CALM);
}

/** Call statx for up to PACE_RUN entries, and time the calls.  Callbacks are not timed, because
    they do not count as waiting. */
static void stat_timed(struct bfs_reader *reader, const struct bfs_read *read,
                      const struct bfs_entry *wanted, size_t n)
{
	struct bfs_fetch *fetch = &reader->fetch;
	uint64_t since = 0;
	n = n < PACE_RUN ? n : PACE_RUN;
	os_elapsed(reader->os, &since);
	for (size_t i = 0; i < n; ++i)
		fetch->run[i].error = reader_stat(reader, read, &wanted[i], &fetch->run[i].st);
	pace_note(&fetch->pace, n, os_elapsed(reader->os, &since));
}

/** Fetch up to part_size() entries. */
static enum bfs_verdict fetch_part(struct bfs_reader *reader, struct bfs_read *read,
                                   const struct bfs_entry *wanted, size_t n)
{
	struct bfs_fetch *fetch = &reader->fetch;
	enum bfs_verdict verdict = BFS_SKIP;
	bool in_bulk = read->fs && fetch->bulkstat && n > 1;
	bool timed = adapts(reader)
	             && (n >= PACE_RUN || fetch->pace.state != PACE_CALM
	                 || ++fetch->turn % TURNS_TIMED == 0);
	bool waited = fetch->pace.state == PACE_WAITS;
	if (in_bulk)
		bulkstat_request(fetch->bulkstat, reader, read, wanted, n);
	for (size_t i = 0; i < n && verdict < BFS_END_DIR; ++i) {
		const struct bfs_entry *entry = &wanted[i];
		struct k_statx *st = in_bulk ? bulkstat_answer(fetch->bulkstat, i) : NULL;
		size_t turn = i % PACE_RUN;
		if (timed && turn == 0)
			stat_timed(reader, read, entry, n - i);
		if (timed)
			verdict = meta_pass(reader, read, entry, &fetch->run[turn].st,
			               fetch->run[turn].error);
		else if (st)
			verdict = meta_pass(reader, read, entry, st, 0);
		else
			verdict = fetch_one(reader, read, entry);
	}
	if (fetch->pace.state == PACE_WAITS && !waited)
		order_judge(reader, read, wanted, n);
	else if (waited && fetch->dev != fetch->ordered)
		pace_set(&fetch->pace, PACE_TRIAL);
	return verdict;
}

/** The number of entries that are fetched together. */
static size_t part_size(const struct bfs_reader *reader)
{
	return reader->policy->engine == BFS_FS ? BFS_BULKSTAT : reader->policy->batch;
}

/** Fetch the unsorted entries. */
static enum bfs_verdict fetch_wanted(struct bfs_reader *reader, struct bfs_read *read)
{
	struct bfs_fetch *fetch = &reader->fetch;
	enum bfs_verdict verdict = BFS_SKIP;
	size_t n = fetch->n, most = part_size(reader);
	fetch->n = 0;
	for (size_t i = 0; i < n && verdict < BFS_END_DIR; i += most)
		verdict = fetch_part(reader, read, fetch->wanted + i, n - i < most ? n - i : most);
	return verdict;
}

/** Allocate room for BFS_BULKSTAT entries in wanted.  @return false if memory ran out. */
static bool wanted_make(struct bfs_fetch *fetch)
{
	if (!fetch->wanted)
		fetch->wanted = malloc(BFS_BULKSTAT * sizeof(*fetch->wanted));
	return fetch->wanted;
}

/** Divide a large window into portions for any thread.  @return whether there are portions. */
static bool window_divides(struct bfs_reader *reader, struct bfs_read *read)
{
	struct bfs_window *window = reader->fetch.window;
	const size_t least = 2 * (size_t)BFS_PORTION;
	if (window->n - window->at < least || !window->budget
	    || atomic_load(&window->budget->portions) == 0 || reader->policy->engine == BFS_FS
	    || fs_type(reader, read) == XFS_SUPER_MAGIC)
		return false;
	while (window->n - window->at >= least && window_carve(window, &read->portions))
		;
	return read->portions;
}

/** Sort the entries of the window and fetch them, unless reading pauses before. */
static enum bfs_verdict fetch_window(struct bfs_reader *reader, struct bfs_read *read)
{
	struct bfs_fetch *fetch = &reader->fetch;
	struct bfs_window *window = fetch->window;
	if (!window || window->n == 0)
		return BFS_SKIP;
	if (!window->emptying)
		window_sort(window);
	if (window->already_sorted && window->n >= PACE_RUN)
		pace_set(&fetch->pace, PACE_CALM);
	if (window_divides(reader, read)) {
		fetch_pause(fetch, read);
		return BFS_SKIP;
	}
	struct bfs_entry one, *entries = &one;
	size_t n, most = part_size(reader);
	if (wanted_make(fetch))
		entries = fetch->wanted;
	else
		most = 1;
	while ((n = window_take(window, entries, most)) > 0) {
		enum bfs_verdict verdict = fetch_part(reader, read, entries, n);
		if (verdict >= BFS_END_DIR)
			return verdict;
		if (window->at < window->n && reader_pause(reader, read)) {
			fetch_pause(fetch, read);
			return verdict;
		}
	}
	window_reset(window);
	fetch->begun = true;
	return BFS_SKIP;
}

void fetch_pause(struct bfs_fetch *fetch, struct bfs_read *read)
{
	read->paused = true;
	if (fetch->window && fetch->window->n > 0) {
		read->rest = fetch->window;
		fetch->window = NULL;
	}
}

enum bfs_verdict fetch_begin(struct bfs_reader *reader, struct bfs_read *read, bool *ended)
{
	struct bfs_fetch *fetch = &reader->fetch;
	fetch->begun = read->resume;
	fetch->came = read->resume ? BFS_PORTION : 0;
	fetch->full = *ended = false;
	fetch->type = -1;
	if (read->rest) {
		window_free(fetch->window);
		fetch->window = read->rest;
		read->rest = NULL;
	}
	if (read->fs && reader->policy->batch > 1)
		bulkstat_begin(reader, read, &fetch->bulkstat);
	const struct bfs_window *window = fetch->window;
	if (!window || !window->emptying)
		return BFS_SKIP;
	bool end = window->ended;
	int error = window->error;
	enum bfs_verdict verdict = fetch_window(reader, read);
	if (!read->paused && verdict < BFS_END_DIR) {
		*ended = end;
		read->error = error;
	}
	return verdict;
}

enum bfs_verdict fetch_end(struct bfs_reader *reader, struct bfs_read *read)
{
	struct bfs_fetch *fetch = &reader->fetch;
	enum bfs_verdict verdict = fetch->n > 0 ? fetch_wanted(reader, read) : BFS_SKIP;
	if (verdict >= BFS_END_DIR)
		return verdict;
	if (fetch->window && fetch->window->n > 0) {
		fetch->window->ended = true;
		fetch->window->error = read->error;
	}
	verdict = fetch_window(reader, read);
	if (read->paused)
		read->error = 0;
	return verdict;
}

/** Whether to leave entries to other threads: the directory is large, and threads that fetch its
    entries wait neither for a disk nor for each other. */
static bool divides(const struct bfs_reader *reader)
{
	const struct bfs_fetch *fetch = &reader->fetch;
	if (fetch->came <= BFS_PORTION)
		return false;
	return adapts(reader) ? fetch->pace.state == PACE_CALM && fetch->undivided != fetch->dev
	                      : reader->policy->engine == BFS_SYNC && !reader->policy->ahead;
}

/** Allocate the window on first use.  @return false if memory ran out. */
static bool window_make(struct bfs_reader *reader)
{
	struct bfs_fetch *fetch = &reader->fetch;
	if (!fetch->window)
		fetch->window = window_new(reader->policy->budget);
	return fetch->window;
}

/** Start a portion.  @return false: the limit of waiting portions is reached. */
static bool portion_begin(struct bfs_reader *reader)
{
	struct bfs_fetch *fetch = &reader->fetch;
	if (!fetch->full)
		fetch->full = !window_make(reader) || !window_portion(fetch->window);
	return !fetch->full;
}

enum bfs_verdict fetch_add(struct bfs_reader *reader, struct bfs_read *read,
                           const struct bfs_entry *entry)
{
	struct bfs_fetch *fetch = &reader->fetch;
	if (reader->policy->batch <= 1)
		return fetch_one(reader, read, entry);
	++fetch->came;
	/* A window with entries may come from another reader, whose calls waited. */
	if (reader->policy->ahead || (adapts(reader) && fetch->pace.state != PACE_CALM)
	    || (fetch->window && fetch->window->n > 0)
	    || (divides(reader) && portion_begin(reader))) {
		if (!window_make(reader) || !window_add(fetch->window, entry))
			return fetch_one(reader, read, entry);
		if (fetch->window->portion && fetch->window->n == BFS_PORTION && divides(reader)) {
			window_leave(fetch->window, &read->portions);
			fetch->window = NULL;
		}
		return BFS_SKIP;
	}
	if (!wanted_make(fetch))
		return fetch_one(reader, read, entry);
	fetch->wanted[fetch->n] = *entry;
	return ++fetch->n < reader->policy->batch ? BFS_SKIP : fetch_wanted(reader, read);
}

enum bfs_verdict fetch_buffer_ends(struct bfs_reader *reader, struct bfs_read *read)
{
	struct bfs_fetch *fetch = &reader->fetch;
	/* The names in the window are copies, so these entries can wait. */
	if (fetch->n > 0)
		return fetch_wanted(reader, read);
	if (!fetch->window || fetch->window->n == 0)
		return BFS_SKIP;
	bool trial = adapts(reader) && fetch->pace.state == PACE_TRIAL;
	if (!trial && !window_full(fetch->window, !fetch->begun))
		return BFS_SKIP;
	return fetch_window(reader, read);
}
