/* SPDX-License-Identifier: MIT */
/**
 * What the files of the traversal share, in the order in which a directory passes them.
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
	BFS_BATCH = 32,               /* directories of a batch, at most */
	BFS_CLOSING = 128,            /* descriptors that a worker has yet to close, at most */
	BFS_BUFFER = 64 * 1024,       /* for getdents64: more is no faster */
	BFS_BULKSTAT = 1024,          /* entries requested from the bulk interface, at most */
	PACE_RUN = 32,                /* calls that are timed together */
	PACE_LOOK = 8,                /* runs until a decision */
	PACE_LONG = 128,              /* the same while calls wait */
};

/* frontier.c: directories that wait to be read. */

/** A directory that was entered and whose children wait, or an ancestor of one. */
struct bfs_dir {
	TAILQ_ENTRY(bfs_dir) open; /* with a descriptor: by age */
	uint32_t refs;             /* from bunches and children */
	uint32_t busy;             /* reads that use fd: it must stay open */
	int fd;                    /* -1: closed, to be opened again when needed */
	unsigned by;               /* who opened it: number of a worker; 0: the owner */
	char apart[64];            /* keeps what the owner writes off the line workers read */
	struct bfs_dir *parent;    /* holds a reference; NULL for the root */
	uint32_t tag;
	int depth;                 /* -1: the directory that a start is in */
	size_t shown;              /* length of its name in a path; 0 for the root and "." */
	char name[];               /* in parent; of a start, a path */
};

/** A directory that waits. */
struct bfs_kid {
	int64_t mtime;             /* ns; INT64_MIN: unknown */
	uint32_t name;             /* offset in the names of the bunch */
	uint32_t tag : 31;
	uint32_t taken : 1;
};

/** Directories of one parent that wait: they are opened relative to its descriptor. */
struct bfs_bunch {
	TAILQ_ENTRY(bfs_bunch) order;
	struct bfs_dir *dir;
	uint32_t tag;              /* of its directory */
	bool mixed;                /* children may have other tags */
	bool resume;               /* its one child is the directory itself, to be read on */
	struct bfs_window *rest;   /* with resume: entries whose metadata waits; or NULL */
	uint8_t queue;
	bool queued;
	uint8_t retry;             /* times that no descriptor was left for it */
	uint32_t count, at, left;  /* children; next in order; not taken */
	uint32_t refs;             /* the queue, heap entries, reads under way */
	char *names;
	struct bfs_kid kids[];
};

struct bfs_heap_entry {
	int64_t mtime;
	uint64_t serial;           /* breaks ties: first come, first served */
	struct bfs_bunch *bunch;
	uint32_t kid;
};

struct bfs_waiting {
	TAILQ_HEAD(bfs_bunches, bfs_bunch) list;
	struct bfs_heap_entry *heap;
	size_t nheap, heap_size;
};

struct bfs_frontier {
	struct bfs *bfs;           /* that its directories belong to */
	enum bfs_order order;
	bool newest;
	unsigned turns, period;    /* every period-th turn takes the newest */
	unsigned tried[2], found[2];   /* by turns of the queue and of the newest */
	struct bfs_waiting queues[BFS_NQUEUES];
	uint64_t waiting;          /* directories */
	uint64_t serial;
	uint64_t checks;           /* calls of bfs_frontier_check() */
};

/** A directory taken out of the frontier. */
struct bfs_item {
	struct bfs_bunch *bunch;   /* a reference */
	uint32_t kid;
	bool newest;               /* it was the turn of the newest */
};

void bfs_frontier_init(struct bfs_frontier *frontier, struct bfs *bfs, enum bfs_order order,
                       bool newest);

/** Make a bunch for n kids and their names, with one reference.
    @return it, or NULL.  Errors: ENOMEM. */
struct bfs_bunch *bfs_bunch_new(struct bfs_dir *dir, uint32_t n, size_t names_len);

/** Add a bunch to its queue, at the end or in front; takes over the caller's reference.
    Cannot fail: without memory for the heap only the order suffers. */
void bfs_frontier_push(struct bfs_frontier *frontier, struct bfs_bunch *bunch, bool in_front);

/** Take the next directory.  @return false if none waits. */
bool bfs_frontier_pop(struct bfs_frontier *frontier, struct bfs_item *item);

/** Report whether reading an item found what the policy looks for. */
void bfs_frontier_learn(struct bfs_frontier *frontier, const struct bfs_item *item, bool found);

/** Remove the rest of a bunch from its queue, unread.  @return how many directories. */
uint32_t bfs_frontier_drop(struct bfs_frontier *frontier, struct bfs_bunch *bunch);

/** Drop a reference. */
void bfs_bunch_unref(struct bfs_frontier *frontier, struct bfs_bunch *bunch);

/** Free all that waits. */
void bfs_frontier_clear(struct bfs_frontier *frontier);

/** Assert the invariants at the head of frontier.c. */
void bfs_frontier_check(struct bfs_frontier *frontier);

/* read.c: reading a batch of directories, in any thread. */

/** A child to be read later. */
struct bfs_found_kid {
	size_t name;               /* offset in the names of the batch */
	int64_t mtime;
	uint32_t tag;
};

/** An entry for the owner to judge. */
struct bfs_found_entry {
	size_t name;
	struct k_statx st;
	bool judged;               /* the owner read it itself, and called judge() at once */
	struct bfs_enter enter;    /* the result of judge() */
};

/** One directory of a batch: what to read, and what was found. */
struct bfs_read {
	struct bfs_item item;      /* the owner's */
	struct bfs_at at;          /* the directory; at.name is "" */
	const char *name;          /* one component, or "." */
	int parentfd;              /* that name is relative to */
	bool resume;               /* fd is open; continue reading there */
	bool last_pos;             /* K_LAST_POS is the end */
	struct bfs_fs *fs;         /* BFS_FS: its file system; or NULL */
	struct bfs_window *rest;   /* with resume: entries to begin with; [out] with paused: those
	                              that are left; to be handed on, or freed; or NULL */

	/* Filled by the read. */
	int fd;                    /* open if something is left to do in it; else -1 */
	int error;                 /* errno of open or read; 0 */
	uint32_t entries;          /* read, without "." and ".." */
	bool opened;               /* it was, whatever came then */
	bool paused;               /* there may be more: read it again with resume */
	struct bfs_window *portions;   /* list: each to be handed to a read of its own, with
	                              resume, or freed */
	enum bfs_verdict verdict;  /* BFS_END_DIR or BFS_END_ALL, if a callback said so */
	bool mixed;                /* kids of other tags than its own */
	bool found;                /* an entry had to be judged */
	size_t out, nout;          /* range in output.dir of the batch */
	size_t text, ntext;        /* range in output.batch_done.text */
	uint32_t kids, nkids;      /* ranges in the arrays of the batch */
	uint32_t judges, njudges;
};

/** Who may touch a batch. */
enum bfs_batch_state {
	BATCH_SPARE,               /* the owner, to use it again */
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
	bool failed;               /* something was lost: ENOMEM */
	unsigned by;               /* who read it: number of a worker; 0: the owner */
};

/** Make a batch to fill, empty.  @return it, or NULL.  Errors: ENOMEM. */
struct bfs_batch *bfs_batch_new(void);

/** Make a batch empty, keeping its memory. */
void bfs_batch_reset(struct bfs_batch *batch);

/** Free a batch; NULL is allowed. */
void bfs_batch_free(struct bfs_batch *batch);

struct bfs_reader;

/** Make a reader; one for each thread.  @os, policy  Must outlive it.
    @owner  It runs in the owner's thread, so that it may call judge().
    @return it, or NULL.  Errors: ENOMEM.  Ownership: bfs_reader_free(). */
struct bfs_reader *bfs_reader_new(struct os *os, const struct bfs_policy *policy, bool owner);

/** Free a reader; NULL is allowed. */
void bfs_reader_free(struct bfs_reader *reader);

/**
 * Read the directories of a batch.
 *
 * Each is opened relative to its parent, on the same mount and through no link.  One that
 * fails has its error; the others are read all the same, unless a callback ends all: those
 * after it are then not opened.
 */
void bfs_reader_read(struct bfs_reader *reader, struct bfs_batch *batch);

/** Call meta() for an entry, and enter it if that is the verdict. */
enum bfs_verdict reader_meta(struct bfs_reader *reader, struct bfs_read *read,
                             const struct bfs_entry *entry, const struct k_statx *st, int error);

/** Whether enough was put out for this part of a directory. */
bool reader_pause(const struct bfs_reader *reader, const struct bfs_read *read);

/* window.c: entries of one directory that wait for their metadata. */

struct window_key {
	uint64_t ino;
	uint32_t name;             /* offset in names */
	uint16_t len;              /* of the name */
	uint8_t type;
};

/**
 * A window is filled, sorted by inode number once, and emptied.  One that is not empty when
 * the read of its directory pauses goes with the directory.
 */
struct bfs_window {
	struct window_key *keys;
	size_t n, at, size;        /* there, taken of them, room */
	struct strbuf names;       /* each with a NUL */
	bool emptying;             /* no entry is added any more */
	bool sorted;               /* by inode number, or part of a window that was */
	bool already_sorted;       /* it nearly was before */
	bool ended;                /* the directory was read to its end ... */
	int error;                 /* ... or to this error; 0 */
	struct bfs_budget *budget; /* what it may grow by; NULL: nothing */
	unsigned shares;           /* it has of the budget */
	bool portion;              /* it is one of the portions of the budget */
	struct bfs_window *next;   /* in a list */
};

/** @return an empty window, or NULL.  Errors: ENOMEM.  Ownership: window_free(). */
struct bfs_window *window_new(struct bfs_budget *budget);

/** Free a list of windows; NULL is allowed. */
void window_free(struct bfs_window *window);

/** Take the first window out of a list.  @return it, or NULL. */
struct bfs_window *window_pop(struct bfs_window **list);

/** Add an entry.  @return whether there was memory. */
bool window_add(struct bfs_window *window, const struct bfs_entry *entry);

/** Whether to add no more.  @first  It is the first of its directory, and stays small. */
bool window_full(struct bfs_window *window, bool first);

/** Whether entries come nearly in inode order. */
bool window_already_sorted(const struct bfs_entry *entries, size_t n);

/** Sort a window by inode number, to be emptied. */
void window_sort(struct bfs_window *window);

/** Take up to n entries; their names are valid until window_reset().  @return how many. */
size_t window_take(struct bfs_window *window, struct bfs_entry *entries, size_t n);

/** Count an empty window as a portion.  @return false: too many wait already. */
bool window_portion(struct bfs_window *window);

/** Add a portion to a list, to be emptied in the order in which it was filled. */
void window_leave(struct bfs_window *window, struct bfs_window **list);

/** Move the next entries of a sorted window to a portion in a list.
    @return whether there was memory, and another portion may wait. */
bool window_carve(struct bfs_window *window, struct bfs_window **list);

/** Make a window empty, and return what it has of the budget. */
void window_reset(struct bfs_window *window);

/* fetch.c: metadata, after the verdict on a name. */

/** Whether metadata calls wait for a disk. */
enum pace_state {
	PACE_TRIAL,                /* unknown yet */
	PACE_CALM,                 /* they do not */
	PACE_WAITS,
};

struct pace {
	enum pace_state state;
	unsigned runs, slow;       /* of this look */
	size_t calls;              /* of this run */
	uint64_t ns;               /* that they took */
	uint64_t quickest;         /* run so far, ns a call; 0: none yet */
};

/** Add calls and the nanoseconds that they took; UINT64_MAX: unknown, taken as waiting. */
void pace_note(struct pace *pace, size_t calls, uint64_t ns);

/** Begin a new look, in that state. */
void pace_set(struct pace *pace, enum pace_state state);

struct bfs_fetch {
	struct bfs_entry *wanted;  /* as they come, or a part of the window; NULL: none yet */
	size_t n;
	struct bfs_window *window; /* NULL: none yet */
	bool begun;                /* the first window of the directory is done */
	size_t came;               /* entries to fetch of (this part of) the directory */
	bool full;                 /* no more portions may wait */
	struct pace pace;          /* BFS_AUTO */
	unsigned turn;             /* small parts fetched without a wait */
	struct {
		struct k_statx st;
		int error;
	} run[PACE_RUN];           /* calls made while the clock ran */
	uint64_t dev;              /* of the last answer */
	uint64_t ordered;          /* device where order may help */
	uint64_t undivided;        /* device whose directories are not divided */
	int64_t type;              /* file system of the directory, as in fstatfs; -1: not read
	                              yet, 0: unknown */
	struct bulkstat *bulkstat; /* BFS_FS; NULL: none yet */
};

void fetch_init(struct bfs_fetch *fetch);
void fetch_destroy(struct bfs_fetch *fetch);

/** A directory was opened: fetch what an earlier read left, unless it is to be paused again.
    @ended [out]  The directory was read to its end, or to read->error. */
enum bfs_verdict fetch_begin(struct bfs_reader *reader, struct bfs_read *read, bool *ended);

/** Add an entry; fetch a batch if it is full. */
enum bfs_verdict fetch_add(struct bfs_reader *reader, struct bfs_read *read,
                           const struct bfs_entry *entry);

/** The buffer with the names is used again: fetch what refers to it. */
enum bfs_verdict fetch_buffer_ends(struct bfs_reader *reader, struct bfs_read *read);

/** The directory was read to its end, or to read->error: fetch what waits. */
enum bfs_verdict fetch_end(struct bfs_reader *reader, struct bfs_read *read);

/** Leave what waits to another read of the directory. */
void fetch_pause(struct bfs_fetch *fetch, struct bfs_read *read);

/** Drop what waits. */
void fetch_forget(struct bfs_fetch *fetch);

/** Call statx for an entry.  @return 0, or errno. */
int fetch_stat(const struct bfs_reader *reader, const struct bfs_read *read,
               const struct bfs_entry *entry, struct k_statx *st);

/* bulkstat.c: metadata by the bulk interface of a file system. */

/** A directory was opened: see whether its file system has the interface.
    @bulk [in, out]  NULL: made, if there is memory; to be freed. */
void bulkstat_begin(const struct bfs_reader *reader, const struct bfs_read *read,
                    struct bulkstat **bulk);

/** Request the metadata of up to BFS_BULKSTAT entries of that directory. */
void bulkstat_request(struct bulkstat *bulk, const struct bfs_reader *reader,
                  const struct bfs_read *read, const struct bfs_entry *wanted, size_t n);

/** The metadata of the i-th of them; NULL: call statx. */
struct k_statx *bulkstat_answer(struct bulkstat *bulk, size_t i);

/** Directories opened by one io_uring call. */
struct bfs_ring {
	struct os_ring *os;        /* NULL: none yet */
	bool off;                  /* there is none, or none is wanted */
	unsigned before;           /* batches that it would have paid for, until it is made */
	unsigned plain;            /* batches to open by plain calls: names are not cached */
	unsigned tried;            /* batches */
	bool opened;               /* something was */
};

struct bfs_reader {
	struct os *os;
	const struct bfs_policy *policy;
	bool owner;                    /* judge() may be called */
	struct bfs_batch *batch;       /* being read */
	const struct bfs_read *read;   /* whose callbacks have begun; NULL: none */
	struct bfs_at at;              /* of its entries */
	struct bfs_fetch fetch;
	struct bfs_ring ring;
	unsigned touch;                /* directories to open without O_NOATIME */
	unsigned touched;              /* the same, at the last refusal */
	alignas(struct k_dirent) char buf[BFS_BUFFER + BFS_SLACK];
};

/* pool.c: worker threads. */

struct bfs_pool;

/** Start workers; they block all signals.  @closing  Descriptors that each may have yet to
    close, at most BFS_CLOSING.  @return them, or NULL.  Errors: EAGAIN, ENOMEM. */
struct bfs_pool *bfs_pool_new(const struct os *os, const struct bfs_policy *policy, unsigned n,
                              unsigned closing);

/** Hand over a batch. */
void bfs_pool_put(struct bfs_pool *pool, struct bfs_batch *batch);

/** Let the worker that opened a descriptor close it, since its CPU has it cached; or close
    it at once, if many wait.  @by  Number of the worker, from 1. */
void bfs_pool_close(struct bfs_pool *pool, struct os *os, unsigned by, int fd);

/** Take a finished batch.  @wait  One is under way: wait for it.  @return NULL: none. */
struct bfs_batch *bfs_pool_get(struct bfs_pool *pool, bool wait);

/** Stop the workers, which have no work, and add their counts to os. */
void bfs_pool_free(struct bfs_pool *pool, struct os *os);

/** Free a pool, but not what its workers use, in a child made by fork(2).  NULL is allowed. */
void bfs_pool_lose(struct bfs_pool *pool, struct os *os);

/* bfs.c, deliver.c: what was read, taken in by the owner. */

struct bfs {
	struct os *os;
	const struct bfs_policy *policy;
	struct bfs_stats stats;
	struct bfs_frontier frontier;
	struct bfs_dir *root;         /* what starts are relative to */
	TAILQ_HEAD(bfs_dirs, bfs_dir) open;   /* open descriptors, the newest first */
	unsigned open_fds, max_fds;
	uint64_t checks;              /* calls of bfs_dirs_check() */
	unsigned paused;              /* reads of directories that are to continue */
	bool divided;                 /* a directory was so large that threads share it */
	struct bfs_reader *reader;    /* the owner's */
	struct bfs_batch *spare;      /* batches to use again */
	struct bfs_pool *pool;
	unsigned threads;             /* requested; 1: none, or none any more */
	unsigned batch;               /* directories that a worker gets at once, at most */
	unsigned under_way;           /* batches with the workers */
	bool ended, failed;
};

/** Queue one directory by its name in another.  @return it, or NULL: no memory. */
struct bfs_bunch *bfs_push_one(struct bfs *bfs, struct bfs_dir *dir, const char *name,
                               uint32_t tag, enum bfs_queue queue, bool in_front);

/** Queue a directory that may be on another mount than its parent: it is read only if it
    shows the mount of its tag.  @return 0, or -1. */
int bfs_push_start(struct bfs *bfs, struct bfs_dir *in, const char *path, uint32_t tag,
                   enum bfs_queue queue, int depth);

/** Release a batch, to be used again. */
void bfs_batch_put(struct bfs *bfs, struct bfs_batch *batch);

/** Close what a read opened; what it continued with belongs to its directory. */
void bfs_read_close(struct bfs *bfs, struct bfs_read *read);

/** Take in a batch that was read. */
void bfs_deliver(struct bfs *bfs, struct bfs_batch *batch);

/* dirs.c: directories and their descriptors. */

/** Note that a directory has a descriptor.  @by  Who opened it. */
void bfs_dir_opened(struct bfs *bfs, struct bfs_dir *dir, int fd, unsigned by);

/** Close descriptors until at most n are open; with 0, at once. */
void bfs_dirs_evict(struct bfs *bfs, unsigned n);

/** A new directory, without a reference and without a descriptor. */
struct bfs_dir *bfs_dir_new(struct bfs_dir *parent, const char *name, uint32_t tag, int depth);

/** Drop a reference to a directory, and so on upwards. */
void bfs_dir_unref(struct bfs *bfs, struct bfs_dir *dir);

/** Open a directory, unless it is open.  @return 0, or -1 with errno. */
int bfs_dir_open(struct bfs *bfs, struct bfs_dir *dir);

/** Assert the invariants at the head of dirs.c. */
void bfs_dirs_check(struct bfs *bfs);

#endif
