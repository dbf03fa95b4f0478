/* SPDX-License-Identifier: MIT */
/**
 * Traversal of a directory tree: frontier, path bunching, descriptors, worker threads.
 *
 * A policy decides what to look at, what to enter and when to end.  Each directory that is
 * entered carries a tag that the policy chooses (discovery: the index of the mount that it
 * belongs to).  bfs/bulk.h has what only policies that report many entries need.
 */
#ifndef GM_BFS_H
#define GM_BFS_H

#include "base/strbuf.h"
#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Number of counters that a policy may keep. */
enum { BFS_HITS = 16 };

/** The queue in which a directory waits; an earlier queue is served first. */
enum bfs_queue {
	BFS_NORMAL,
	BFS_BOUNDARY,   /* beyond a boundary that may hold nothing */
	BFS_LAST,       /* where mounts are unlikely */
	BFS_NQUEUES,
};

enum bfs_order {
	BFS_BREADTH,    /* breadth-first: Smith's getmnt3 */
	BFS_DEPTH,      /* depth-first: getmnt1 and getmnt2 */
};

struct bfs;
struct bfs_dir;
struct bfs_bulk;
struct bfs_output;

/** An entry of a directory. */
struct bfs_entry {
	const char *name;   /* valid during the callback */
	size_t len;         /* of name */
	uint64_t ino;       /* d_ino: at a mount point, that of the covered directory */
	uint8_t type;       /* DT_*; DT_UNKNOWN may be anything */
};

/**
 * What callbacks that may run in a worker thread write to.
 *
 * @hits    Counters; those of all threads are summed.
 * @tag     In entry() and meta(): the tag of the entry, if it is entered.  It starts as the
 *          tag of the directory.
 * @os      Of this thread, for system calls of the policy.
 * @fd      The directory that is being read.
 * @output  What the policy puts out (bfs/bulk.h).
 */
struct bfs_scratch {
	uint64_t hits[BFS_HITS];
	uint32_t tag;
	struct os *os;
	int fd;
	struct bfs_output *output;
};

/** Where an entry is: `name` in the directory `dir` in `parent`. */
struct bfs_at {
	const struct bfs_dir *parent;
	const char *dir;
	const char *name;          /* "" for the directory itself */
	uint32_t tag;              /* of dir */
	int depth;                 /* of dir; a start has 0 */
	int parentfd;              /* in done(): of parent; else -1 */
	bool opened;               /* in done(): dir was opened, whatever came then */
};

enum bfs_verdict {
	BFS_SKIP,       /* nothing */
	BFS_LOOK,       /* entry(): call statx, then meta() */
	BFS_ENTER,      /* read this directory later */
	BFS_JUDGE,      /* meta(): the owner's judge() decides */
	BFS_END_DIR,    /* skip the rest of this directory */
	BFS_END_ALL,    /* end the traversal */
};

/** What judge() and done() want entered: that entry, under another tag. */
struct bfs_enter {
	bool enter;
	uint32_t tag;
	enum bfs_queue queue;
	bool opened;               /* done(): read it by fd, which is taken over */
	int fd;
};

struct bfs_policy {
	enum bfs_order order;
	bool newest;               /* BFS_BREADTH: alternate between the queue and the
	                              directories changed most recently */
	unsigned statx_mask;
	int statx_flags;           /* besides NO_AUTOMOUNT and SYMLINK_NOFOLLOW */
	unsigned batch;            /* entries whose metadata is fetched together; 0: 1 */
	const struct bfs_bulk *bulk;   /* bfs/bulk.h; or NULL */

	/* Called in any thread: these only read what does not change, or is atomic, and write
	   to scratch. */
	enum bfs_verdict (*entry)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	                          const struct bfs_entry *entry);
	/** After BFS_LOOK.  @error  0, or the errno of statx; st is then zeroed. */
	enum bfs_verdict (*meta)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	                         const struct bfs_entry *entry, const struct k_statx *st,
	                         int error);

	/* Called in the owner's thread only. */
	/** The mount ID that directories of a tag must show when opened again; 0: unknown. */
	uint64_t (*mnt_id)(void *arg, uint32_t tag, bool *unique);
	/** May be NULL if meta() never returns BFS_JUDGE. */
	enum bfs_verdict (*judge)(void *arg, const struct bfs_at *at, const struct k_statx *st,
	                          struct bfs_enter *enter);
	/** Whether K_LAST_POS is the end of each directory of a tag.  NULL: of none. */
	bool (*last_pos)(void *arg, uint32_t tag);
	/** Whether directories of a tag are still worth reading. */
	bool (*wanted)(void *arg, uint32_t tag);
	/** A directory was read, or could not be (error).  One on another mount (EXDEV), or
	    opened otherwise, may be entered by `enter`.  @return BFS_END_ALL to end. */
	enum bfs_verdict (*done)(void *arg, const struct bfs_at *at, uint32_t entries, int error,
	                         struct bfs_enter *enter);

	void *arg;
};

struct bfs_stats {
	uint64_t dirs;             /* read */
	uint64_t entries;          /* read in them */
	uint64_t dropped;          /* directories dropped unread: no longer wanted */
	uint64_t reopened;         /* descriptors opened again */
	uint64_t peak_frontier;    /* most directories waiting */
	uint64_t peak_fds;         /* most descriptors held by the frontier */
	uint64_t hits[BFS_HITS];
	unsigned threads;          /* that read, the owner included; 0: no worker was started */
};

/**
 * Make a traversal.
 *
 * @rootfd
 *         Descriptor that starts are relative to; must stay open; may be AT_FDCWD.
 * @threads
 *         Threads that read, the caller's included, once the frontier is large and if there
 *         are descriptors for them; 1: no worker, and all counts are exact.
 * @max_fds
 *         Descriptors to use at most; fewer if the system refuses.
 * @return a traversal, or NULL.  Errors: ENOMEM.  Ownership: bfs_free().
 */
struct bfs *bfs_new(struct os *os, const struct bfs_policy *policy, int rootfd, unsigned threads,
                    unsigned max_fds);

/** Cancel, drain, and free a traversal; NULL is allowed. */
void bfs_free(struct bfs *bfs);

/**
 * Give up the worker threads in a child made by fork(2), where they do not exist.
 *
 * Call it before bfs_free().  All descriptors of the owner are closed.  Batches of the
 * workers may be half-written and are not freed.
 *
 * @return whether there were workers.
 */
bool bfs_lose_workers(struct bfs *bfs);

/**
 * Add a directory to start at.
 *
 * @path
 *         Relative to rootfd, without symbolic links; "." is rootfd itself.
 * @depth
 *         The depth of that directory.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int bfs_start(struct bfs *bfs, const char *path, uint32_t tag, enum bfs_queue queue, int depth);

/**
 * Traverse until nothing is left, or a callback ends it.
 *
 * @return 0 when nothing is left, 1 when a callback ended it, -1 on error.
 * Errors: ENOMEM.
 */
int bfs_run(struct bfs *bfs);

/**
 * Continue until at least one directory, or a part of one, was read.
 *
 * @return 2 when there is more to do, else as bfs_run().
 */
int bfs_step(struct bfs *bfs);

/** The counts so far. */
const struct bfs_stats *bfs_stats(const struct bfs *bfs);

/** Append the path of an entry, beginning with "/". */
void bfs_path(const struct bfs_at *at, struct strbuf *out);

/** Whether the path of an entry is this one; allocates nothing. */
bool bfs_path_is(const struct bfs_at *at, const char *path);

#endif
