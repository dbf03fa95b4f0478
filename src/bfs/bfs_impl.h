/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of the traversal; declarations are in the order in which a directory passes
 * through the files.
 */
#ifndef GM_BFS_IMPL_H
#define GM_BFS_IMPL_H

#include "bfs.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

enum {
	BFS_BATCH = 32,               /* maximum number of directories in a batch */
	BFS_CLOSING = 128,            /* maximum number of descriptors left for a worker to close */
	BFS_BUFFER = 64 * 1024,       /* size for getdents64: more is not faster */
	BFS_BULKSTAT = 1024,          /* maximum number of entries in a bulk request */
	PACE_RUN = 32,                /* calls that are timed together */
	PACE_LOOK = 8,                /* runs until a decision */
	PACE_LONG = 128,              /* runs until a decision while calls wait */
};

/* frontier.c: directories that wait to be read. */

/** A directory that was entered and whose children wait, or an ancestor of such a directory. */
struct bfs_dir {
	TAILQ_ENTRY(bfs_dir) open; /* list of directories with a descriptor, by age */
	uint32_t refs;             /* references from bunches and children */
	uint32_t busy;             /* number of reads that use fd, which must stay open */
	int fd;                    /* -1: closed, to be reopened when needed */
	unsigned by;               /* number of the worker that opened it; 0: the owner */
	char apart[64];            /* keeps the owner's data off the cache line that workers read */
	struct bfs_dir *parent;    /* referenced; NULL for the root */
	uint32_t tag;
	int depth;                 /* -1: the directory that contains a start */
	size_t shown;              /* length of its name within a path; 0 for the root and "." */
	char name[];               /* relative to parent; for a start, a path */
};

/** A waiting directory. */
struct bfs_kid {
	int64_t mtime;             /* ns; INT64_MIN: unknown */
	uint32_t name;             /* offset in the bunch's names */
	uint32_t tag : 31;
	uint32_t taken : 1;
};

/** Waiting directories with the same parent: they are opened relative to its descriptor. */
struct bfs_bunch {
	TAILQ_ENTRY(bfs_bunch) order;
	struct bfs_dir *dir;
	uint32_t tag;              /* tag of its directory */
	bool mixed;                /* children may have other tags */
	bool resume;               /* its only child is the directory itself, to be read further */
	struct bfs_window *rest;   /* with resume: entries whose metadata is still needed; or
	                              NULL */
	uint8_t queue;
	bool queued;
	uint8_t retry;             /* how often no descriptor was available for it */
	uint32_t count, at, left;  /* children; next in order; not taken yet */
	uint32_t refs;             /* from the queue, heap entries, and reads */
	char *names;
	struct bfs_kid kids[];
};

struct bfs_heap_entry {
	int64_t mtime;
	uint64_t serial;           /* breaks ties: first in, first out */
	struct bfs_bunch *bunch;
	uint32_t kid;
};

struct bfs_waiting {
	TAILQ_HEAD(bfs_bunches, bfs_bunch) list;
	struct bfs_heap_entry *heap;
	size_t nheap, heap_size;
};

struct bfs_frontier {
	struct bfs *bfs;           /* the traversal that owns its directories */
	enum bfs_order order;
	bool newest;
	unsigned turns, period;    /* every period-th turn takes the newest */
	unsigned tried[2], found[2];   /* index 0: turns of the queue, 1: turns of the newest */
	struct bfs_waiting queues[BFS_NQUEUES];
	uint64_t waiting;          /* number of directories */
	uint64_t serial;
	uint64_t checks;           /* calls of bfs_frontier_check() */
};

/** A directory taken from the frontier. */
struct bfs_item {
	struct bfs_bunch *bunch;   /* holds a reference */
	uint32_t kid;
	bool newest;               /* taken in a turn of the newest */
};

void bfs_frontier_init(struct bfs_frontier *frontier, struct bfs *bfs, enum bfs_order order,
                       bool newest);

/** Create a bunch for n kids and their names, with one reference.
    @return the bunch, or NULL.  Errors: ENOMEM. */
struct bfs_bunch *bfs_bunch_new(struct bfs_dir *dir, uint32_t n, size_t names_len);

/** Add a bunch to its queue, at the end or at the front; takes over the caller's reference.  Cannot
    fail: if memory for the heap runs out, only the order is affected. */
void bfs_frontier_push(struct bfs_frontier *frontier, struct bfs_bunch *bunch, bool in_front);

/** Take the next directory.  @return false if none waits. */
bool bfs_frontier_pop(struct bfs_frontier *frontier, struct bfs_item *item);

/** Record whether reading an item found something that the policy looks for. */
void bfs_frontier_learn(struct bfs_frontier *frontier, const struct bfs_item *item, bool found);

/** Remove the unread rest of a bunch from its queue.  @return the number of directories removed. */
uint32_t bfs_frontier_drop(struct bfs_frontier *frontier, struct bfs_bunch *bunch);

/** Drop a reference. */
void bfs_bunch_unref(struct bfs_frontier *frontier, struct bfs_bunch *bunch);

/** Free everything that waits. */
void bfs_frontier_clear(struct bfs_frontier *frontier);

/** Assert the invariants listed in frontier.c. */
void bfs_frontier_check(struct bfs_frontier *frontier);

/* batch.c: batches, and the callbacks of a policy that fill them. */

/** A child to be read later. */
struct bfs_found_kid {
	size_t name;               /* offset in the names of the batch */
	int64_t mtime;
	uint32_t tag;
};

/** An entry that the owner must judge. */
struct bfs_found_entry {
	size_t name;
	struct k_statx st;
	bool judged;               /* read by the owner itself, which has already called judge() */
	struct bfs_enter enter;    /* the result of judge() */
};

/** One directory of a batch: what to read, and the result. */
struct bfs_read {
	struct bfs_item item;      /* used by the owner only */
	struct bfs_at at;          /* the directory; at.name is "" */
	const char *name;          /* one component, or "." */
	int parentfd;              /* name is relative to this directory */
	bool resume;               /* fd is open; continue reading at its position */
	bool last_pos;             /* K_LAST_POS is the end */
	struct bfs_fs *fs;         /* BFS_FS: the file system of the directory; or NULL */
	struct bfs_window *rest;   /* with resume: entries to start with; [out] with paused:
	                              remaining entries, to be passed on or freed; or NULL */

	/* Filled by the read. */
	int fd;                    /* open if it is still needed; otherwise -1 */
	int error;                 /* errno of open or read; or 0 */
	uint32_t entries;          /* number read, without "." and ".." */
	bool opened;               /* the directory was opened, even if reading it failed */
	bool paused;               /* there may be more: read again with resume */
	struct bfs_window *portions;   /* a list; each window must be passed to a separate read with
	                                  resume, or freed */
	enum bfs_verdict verdict;  /* BFS_END_DIR or BFS_END_ALL, if a callback returned it */
	bool mixed;                /* some kids have other tags than the directory */
	bool found;                /* an entry had to be judged */
	size_t out, nout;          /* range in output.dir of the batch */
	size_t text, ntext;        /* range in output.batch_done.text */
	uint32_t kids, nkids;      /* ranges in the arrays of the batch */
	uint32_t judges, njudges;
};

/** Which thread may access a batch. */
enum bfs_batch_state {
	BATCH_SPARE,               /* the owner, for reuse */
	BATCH_FILLED,              /* the owner, filling it or handing it over */
	BATCH_READING,             /* one reader */
	BATCH_READ,                /* the owner, delivering it */
};

struct bfs_batch {
	struct bfs_batch *next;
	enum bfs_batch_state state;
	unsigned n;
	struct bfs_read reads[BFS_BATCH];
	struct strbuf names;
	struct bfs_found_kid *kids;
	struct bfs_found_entry *judges;
	size_t nkids, kids_size, njudges, judges_size;
	struct bfs_scratch scratch;
	struct bfs_output output;
	bool failed;               /* something was lost for lack of memory */
	unsigned by;               /* number of the worker that read it; 0: the owner */
};

/** Create an empty batch.  @return the batch, or NULL.  Errors: ENOMEM. */
struct bfs_batch *bfs_batch_new(void);

/** Empty a batch, keeping its memory. */
void bfs_batch_reset(struct bfs_batch *batch);

/** Free a batch; NULL is allowed. */
void bfs_batch_free(struct bfs_batch *batch);

struct bfs_reader;

/** Call pass() for consecutive entries.  @return how many it has finished. */
size_t reader_pass(struct bfs_reader *reader, struct bfs_read *read,
                   const struct bfs_entry *entries, size_t n);

/** Call entry() for an entry, and enter it if that is the verdict. */
enum bfs_verdict reader_entry(struct bfs_reader *reader, struct bfs_read *read,
                              const struct bfs_entry *entry);

/** Call statx for an entry.  @return 0, or an error number. */
int reader_stat(const struct bfs_reader *reader, const struct bfs_read *read,
                const struct bfs_entry *entry, struct k_statx *st);

/** Call meta() for an entry, and enter it if that is the verdict. */
enum bfs_verdict reader_meta(struct bfs_reader *reader, struct bfs_read *read,
                             const struct bfs_entry *entry, const struct k_statx *st, int error);

/** Whether there is enough output for this part of a directory. */
bool reader_pause(const struct bfs_reader *reader, const struct bfs_read *read);

/* read.c: reading a batch of directories, in any thread. */

/** Create a reader, one for each thread.  @os, policy  Must remain valid as long as the reader.
    @owner  The reader runs in the owner's thread, so it may call judge().
    @return the reader, or NULL.  Errors: ENOMEM.  Ownership: bfs_reader_free(). */
struct bfs_reader *bfs_reader_new(struct os *os, const struct bfs_policy *policy, bool owner);

/** Free a reader; NULL is allowed. */
void bfs_reader_free(struct bfs_reader *reader);

/**
 * Read the directories of a batch.
 *
 * Each directory is opened relative to its parent, on the same mount and without following
 * symlinks.  If this fails for one directory, its error is set and the others are still read.  If a
 * callback ends the traversal, the following directories are not opened.
 */
void bfs_reader_read(struct bfs_reader *reader, struct bfs_batch *batch);

/* window.c: entries of one directory whose metadata is still to be fetched. */

struct window_key {
	uint64_t ino;
	uint64_t note;
	uint32_t name;             /* offset in names */
	uint16_t len;              /* length of the name */
	uint8_t type;
};

/**
 * A window is filled, sorted once by inode number, and emptied.  If it is not empty when reading
 * its directory pauses, it stays with the directory.
 */
struct bfs_window {
	struct window_key *keys;
	size_t n, at, size;        /* entries added, entries taken, room */
	struct strbuf names;       /* each with a NUL */
	bool emptying;             /* no more entries are added */
	bool sorted;               /* by inode number, possibly as part of a sorted window */
	bool already_sorted;       /* the entries were nearly sorted when added */
	bool ended;                /* the directory was read to its end ... */
	int error;                 /* ... or to this error; 0: none */
	struct bfs_budget *budget; /* lets the window grow; NULL: it may not grow */
	unsigned shares;           /* the shares of the budget that it holds */
	bool portion;              /* counts as a portion of the budget */
	struct bfs_window *next;   /* in a list */
};

/** Create an empty window.  @return the window, or NULL.  Errors: ENOMEM.  Ownership:
    window_free(). */
struct bfs_window *window_new(struct bfs_budget *budget);

/** Free a list of windows; NULL is allowed. */
void window_free(struct bfs_window *window);

/** Remove the first window from a list.  @return the window, or NULL. */
struct bfs_window *window_pop(struct bfs_window **list);

/** Add an entry.  @return false if memory ran out. */
bool window_add(struct bfs_window *window, const struct bfs_entry *entry);

/** Whether a window is full.  @first  It is the first of its directory, and stays small. */
bool window_full(struct bfs_window *window, bool first);

/** Whether entries are nearly in inode order. */
bool window_already_sorted(const struct bfs_entry *entries, size_t n);

/** Sort a window by inode number; from now on it is only emptied. */
void window_sort(struct bfs_window *window);

/** Take up to n entries; their names are valid until window_reset().  @return the number taken. */
size_t window_take(struct bfs_window *window, struct bfs_entry *entries, size_t n);

/** Count an empty window as a portion.  @return false: the limit of waiting portions is reached. */
bool window_portion(struct bfs_window *window);

/** Add a portion to a list, to be emptied in the order in which it was filled. */
void window_leave(struct bfs_window *window, struct bfs_window **list);

/** Move the next entries of a sorted window to a new portion in a list.
    @return false if memory ran out or the limit of waiting portions is reached. */
bool window_carve(struct bfs_window *window, struct bfs_window **list);

/** Empty a window, and return its shares to the budget. */
void window_reset(struct bfs_window *window);

/* fetch.c: fetching metadata, after the verdict on a name. */

/** Whether metadata calls wait for a disk. */
enum pace_state {
	PACE_TRIAL,                /* unknown yet */
	PACE_CALM,                 /* they do not wait */
	PACE_WAITS,
};

struct pace {
	enum pace_state state;
	unsigned runs, slow;       /* runs since the last decision; slow ones among them */
	size_t calls;              /* calls in the current run */
	uint64_t ns;               /* ns that these calls took */
	uint64_t quickest;         /* the fastest run so far, in ns per call; 0: none yet */
};

/** Add calls and the nanoseconds that they took; UINT64_MAX: unknown, counts as waiting. */
void pace_note(struct pace *pace, size_t calls, uint64_t ns);

/** Set a state, and start to observe anew. */
void pace_set(struct pace *pace, enum pace_state state);

struct bfs_fetch {
	struct bfs_entry *wanted;  /* unsorted entries, or a part of the window; NULL: not
	                              allocated */
	size_t n;
	struct bfs_window *window; /* NULL: not allocated */
	bool begun;                /* the first window of the directory is done */
	size_t came;               /* entries to fetch in (this part of) the directory */
	bool full;                 /* the limit of waiting portions is reached */
	struct pace pace;          /* BFS_AUTO */
	unsigned turn;             /* number of small parts fetched without waiting */
	struct {
		struct k_statx st;
		int error;
	} run[PACE_RUN];           /* calls made while being timed */
	uint64_t dev;              /* device in the last result */
	uint64_t ordered;          /* device for which inode order may help */
	uint64_t undivided;        /* device whose directories are not divided */
	int64_t type;              /* file system type of the directory, as in fstatfs; -1: not read
	                              yet, 0: unknown */
	struct bulkstat *bulkstat; /* BFS_FS; NULL: not allocated */
};

void fetch_init(struct bfs_fetch *fetch);
void fetch_destroy(struct bfs_fetch *fetch);

/** A directory was opened: fetch what an earlier read left, unless reading must pause again.
    @ended [out]  The directory was read to its end, or to read->error. */
enum bfs_verdict fetch_begin(struct bfs_reader *reader, struct bfs_read *read, bool *ended);

/** Add an entry, and fetch a batch if it is full. */
enum bfs_verdict fetch_add(struct bfs_reader *reader, struct bfs_read *read,
                           const struct bfs_entry *entry);

/** The buffer with the names will be overwritten: fetch the entries that refer to it. */
enum bfs_verdict fetch_buffer_ends(struct bfs_reader *reader, struct bfs_read *read);

/** The directory was read to its end, or to read->error: fetch the remaining entries. */
enum bfs_verdict fetch_end(struct bfs_reader *reader, struct bfs_read *read);

/** Leave the remaining entries to another read of the directory. */
void fetch_pause(struct bfs_fetch *fetch, struct bfs_read *read);

/** Discard the remaining entries. */
void fetch_forget(struct bfs_fetch *fetch);

/* bulkstat.c: metadata through the bulk interface of a file system. */

/** A directory was opened: find whether its file system has a bulk interface.
    @bulk [in, out]  NULL: allocated if memory permits; the caller frees it. */
void bulkstat_begin(const struct bfs_reader *reader, const struct bfs_read *read,
                    struct bulkstat **bulk);

/** Request the metadata of up to BFS_BULKSTAT entries of that directory. */
void bulkstat_request(struct bulkstat *bulk, const struct bfs_reader *reader,
                  const struct bfs_read *read, const struct bfs_entry *wanted, size_t n);

/** The metadata of the i-th requested entry; NULL: call statx. */
struct k_statx *bulkstat_answer(struct bulkstat *bulk, size_t i);

/** Directories opened by one io_uring call. */
struct bfs_ring {
	struct os_ring *os;        /* NULL: not created */
	bool off;                  /* unavailable, or not to be used */
	unsigned before;           /* counts batches until the ring is created */
	unsigned plain;            /* batches still to open by plain calls: names are not cached */
	unsigned tried;            /* number of batches */
	bool opened;               /* at least one open has succeeded */
};

struct bfs_reader {
	struct os *os;
	const struct bfs_policy *policy;
	bool owner;                    /* judge() may be called */
	struct bfs_batch *batch;       /* the batch being read */
	const struct bfs_read *read;   /* the directory whose callbacks have started; NULL: none */
	struct bfs_at at;              /* of its entries */
	struct bfs_fetch fetch;
	struct bfs_ring ring;
	unsigned touch;                /* directories still to open without O_NOATIME */
	unsigned touched;              /* their number after the last refusal */
	alignas(struct k_dirent) char buf[BFS_BUFFER + BFS_SLACK];
};

/* pool.c: worker threads. */

struct bfs_pool;

/** Start workers, which block all signals.
    @n  Their number; [out] how many could be started, at least one.
    @closing  The most descriptors left for each worker to close, up to BFS_CLOSING.
    @return the pool, or NULL.  Errors: EAGAIN, ENOMEM. */
struct bfs_pool *bfs_pool_new(const struct os *os, const struct bfs_policy *policy, unsigned *n,
                              unsigned closing);

/** Hand a batch to the workers. */
void bfs_pool_put(struct bfs_pool *pool, struct bfs_batch *batch);

/** Let the worker that opened a descriptor close it, because its CPU has the file cached; if many
    wait to be closed, close it immediately.  @by  Number of the worker, from 1. */
void bfs_pool_close(struct bfs_pool *pool, struct os *os, unsigned by, int fd);

/** Take a finished batch.  @wait  At least one is being read: wait for it.  @return NULL: none. */
struct bfs_batch *bfs_pool_get(struct bfs_pool *pool, bool wait);

/** Stop the workers, which must be idle, and add their counts to os. */
void bfs_pool_free(struct bfs_pool *pool, struct os *os);

/** Free a pool in a child made by fork(2), but not what its workers use.  NULL is allowed. */
void bfs_pool_lose(struct bfs_pool *pool, struct os *os);

/* bfs.c, deliver.c: what the owner does with a batch that was read. */

struct bfs {
	struct os *os;
	const struct bfs_policy *policy;
	struct bfs_stats stats;
	struct bfs_frontier frontier;
	struct bfs_dir *root;         /* the directory that starts are relative to */
	TAILQ_HEAD(bfs_dirs, bfs_dir) open;   /* directories with a descriptor, the newest first */
	unsigned open_fds, max_fds;
	uint64_t checks;              /* calls of bfs_dirs_check() */
	unsigned paused;              /* number of paused reads that must continue */
	bool divided;                 /* a directory was so large that threads share it */
	struct bfs_reader *reader;    /* of the owner */
	struct bfs_batch *spare;      /* batches for reuse */
	struct bfs_pool *pool;
	unsigned threads;             /* requested number; 1: no workers, or no longer */
	unsigned batch;               /* maximum number of directories in a worker's batch */
	unsigned under_way;           /* batches held by the workers */
	bool ended, failed;
};

/** Queue one directory by its name in another.  @return the bunch, or NULL if memory ran out. */
struct bfs_bunch *bfs_push_one(struct bfs *bfs, struct bfs_dir *dir, const char *name,
                               uint32_t tag, enum bfs_queue queue, bool in_front);

/** Queue a directory that may be on another mount than its parent: it is read only if it
    shows the mount of its tag.  @return 0, or -1. */
int bfs_push_start(struct bfs *bfs, struct bfs_dir *in, const char *path, uint32_t tag,
                   enum bfs_queue queue, int depth);

/** Release a batch for reuse. */
void bfs_batch_put(struct bfs *bfs, struct bfs_batch *batch);

/** Close the descriptor that a read opened; a resumed descriptor belongs to its directory. */
void bfs_read_close(struct bfs *bfs, struct bfs_read *read);

/** Process a batch that was read. */
void bfs_deliver(struct bfs *bfs, struct bfs_batch *batch);

/* dirs.c: directories and their descriptors. */

/** Record the descriptor of a directory.  @by  The worker that opened it; 0: the owner. */
void bfs_dir_opened(struct bfs *bfs, struct bfs_dir *dir, int fd, unsigned by);

/** Close descriptors until at most n are open; with n = 0, immediately. */
void bfs_dirs_evict(struct bfs *bfs, unsigned n);

/** Create a directory without references and without a descriptor. */
struct bfs_dir *bfs_dir_new(struct bfs_dir *parent, const char *name, uint32_t tag, int depth);

/** Drop a reference to a directory; when the last one is gone, also its reference to the parent. */
void bfs_dir_unref(struct bfs *bfs, struct bfs_dir *dir);

/** Open a directory unless it is open already.  @return 0, or -1 with errno. */
int bfs_dir_open(struct bfs *bfs, struct bfs_dir *dir);

/** Assert the invariants listed in dirs.c. */
void bfs_dirs_check(struct bfs *bfs);

#endif
