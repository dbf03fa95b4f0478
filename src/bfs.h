/* SPDX-License-Identifier: MIT */
/**
 * Traversal of a directory tree: frontier, path bunching, descriptors, worker threads.
 *
 * A policy decides what to look at, what to enter and when to end.  Each directory that is
 * entered carries a tag that the policy chooses (discovery: the index of its mount).
 */
#ifndef GM_BFS_H
#define GM_BFS_H

#include "base/strbuf.h"
#include "os/inodes.h"
#include "os/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BFS_HITS = 16,            /* counters that a policy may keep */
	BFS_SLACK = 32,           /* bytes after each name that pass() may read */
	/* Entries of one directory that wait to be fetched in inode order: in its first window,
	   in each share of a later one, and how many shares there are.  Long names count more. */
	BFS_AHEAD_FIRST = 4096,
	BFS_AHEAD_SHARE = 32768,
	BFS_AHEAD_SHARES = 8,
	BFS_PORTION = 2048,       /* a larger directory is divided into portions of this size */
};

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

/** How metadata is fetched. */
enum bfs_engine {
	BFS_AUTO,       /* one by one; in inode order while the calls wait for a disk */
	BFS_SYNC,       /* one by one */
	BFS_FS,         /* by the bulk interface of the file system, where there is one */
};

struct bfs;
struct bfs_dir;

/** An entry of a directory. */
struct bfs_entry {
	const char *name;   /* valid during the callback */
	size_t len;         /* of name */
	uint64_t ino;       /* d_ino: at a mount point, that of the covered directory */
	uint8_t type;       /* DT_*; DT_UNKNOWN may be anything */
};

/**
 * What the callbacks for one batch of directories put out.
 *
 * @dir          Of one directory, for deliver(); appended to.
 * @batch_done   Of all directories of the batch, for batch_done(): text, appended to, and
 *               a number.
 * @run_start    The policy's own; 0 at the start of each directory.
 * @path_prefix  The policy's own, kept from directory to directory while what bfs_at names
 *               stays valid; else empty and 0.
 */
struct bfs_output {
	struct strbuf dir;
	struct {
		struct strbuf text;
		uint64_t n;
	} batch_done;
	uint64_t run_start;
	struct {
		struct strbuf text;
		size_t len;
		const void *of;
	} path_prefix;
};

/**
 * What callbacks that may run in a worker thread write to.
 *
 * @hits    Counters; those of all threads are summed.
 * @tag     In entry() and meta(): the tag of the entry, if it is entered.  It starts as the
 *          tag of the directory.
 * @os      Of this thread, for system calls of the policy.
 * @fd      The directory that is being read.
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

/** From judge() and done(): enter that directory under another tag. */
struct bfs_enter {
	bool enter;
	uint32_t tag;
	enum bfs_queue queue;
	bool opened;               /* done(): read it by fd, which is taken over */
	int fd;
};

/** What the threads of a traversal may use in common. */
struct bfs_budget {
	atomic_uint shares;     /* that windows may grow by; starts as BFS_AHEAD_SHARES - 1 */
	atomic_uint portions;   /* that may wait to be fetched by another thread; 0: none */
};

/**
 * A file system with a bulk interface, shared by the threads of a traversal.
 *
 * It is set up when its first directory is opened; after a refusal it is never tried again.
 * Only for mounts without an ID mapping on which no file is covered by another mount: that
 * is not checked here.
 */
struct bfs_fs;

/** @return it, or NULL.  Errors: ENOMEM.  Ownership: bfs_fs_free(). */
struct bfs_fs *bfs_fs_new(enum os_inodes_of of);

/** Free it; NULL is allowed. */
void bfs_fs_free(struct bfs_fs *fs);

/** The rules of a traversal.  Members after `batch` are for policies that report many entries
    (search); all may be 0 and NULL. */
struct bfs_policy {
	enum bfs_order order;
	bool newest;               /* BFS_BREADTH: alternate between the queue and the
	                              directories changed most recently */
	unsigned statx_mask;
	int statx_flags;           /* besides NO_AUTOMOUNT and SYMLINK_NOFOLLOW */
	unsigned batch;            /* entries whose metadata is fetched together, at most
	                              1,024; 0: 1 */
	enum bfs_engine engine;
	bool ahead;                /* always in inode order */
	bool together;             /* open the directories of a batch by one call */
	struct bfs_budget *budget; /* must outlive the traversal; NULL: none */
	size_t pause;              /* a directory is read in parts, each ended when this many
	                              bytes were put out; 0: whole */

	/* Called in any thread: these only read what does not change, or is atomic, and write
	   to scratch. */
	enum bfs_verdict (*entry)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	                          const struct bfs_entry *entry);
	/** After BFS_LOOK.  @error  0, or the errno of statx; st is then zeroed. */
	enum bfs_verdict (*meta)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	                         const struct bfs_entry *entry, const struct k_statx *st,
	                         int error);
	/** Consecutive entries, before entry() is called for each: how many of them, from
	    the first, need no call.  at->name is "".  NULL: none. */
	size_t (*pass)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	               const struct bfs_entry *entries, size_t n);
	/** BFS_FS: the file system of directories of a tag; NULL: it has no bulk interface. */
	struct bfs_fs *(*fs)(void *arg, uint32_t tag);

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
	/** A batch was read.  The policy may take the text of output->batch_done, and leave
	    another in its place. */
	void (*batch_done)(void *arg, struct bfs_output *output);
	/** What was put out for (a part of) a directory. */
	void (*deliver)(void *arg, const struct bfs_at *at, const char *out, size_t size);

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
 * @rootfd   Descriptor that starts are relative to; must stay open; may be AT_FDCWD.
 * @threads  Threads that read, the caller's included, once the frontier is large and if there
 *           are descriptors for them; 1: no worker, and all counts are exact.
 * @max_fds  Descriptors to use at most; fewer if the system refuses.
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
 * @path   Relative to rootfd, without symbolic links; "." is rootfd itself.
 * @depth  The depth of that directory.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int bfs_start(struct bfs *bfs, const char *path, uint32_t tag, enum bfs_queue queue, int depth);

/** Traverse until nothing is left, or a callback ends it.
    @return 0 when nothing is left, 1 when a callback ended it, -1 on error.  Errors: ENOMEM. */
int bfs_run(struct bfs *bfs);

/** Continue until at least one directory, or a part of one, was read.
    @return 2 when there is more to do, else as bfs_run(). */
int bfs_step(struct bfs *bfs);

/** The counts so far. */
const struct bfs_stats *bfs_stats(const struct bfs *bfs);

/** Append the path of an entry, beginning with "/". */
void bfs_path(const struct bfs_at *at, struct strbuf *out);

/** Whether the path of an entry is this one; allocates nothing. */
bool bfs_path_is(const struct bfs_at *at, const char *path);

#endif
