/* SPDX-License-Identifier: MIT */
/**
 * Traversal of a directory tree: frontier, path bunching, descriptors, worker threads.
 *
 * A policy decides what to examine, what to enter and when to end.  Each directory that is entered
 * carries a tag chosen by the policy (discovery: the index of its mount).
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
	BFS_HITS = 16,            /* number of counters that a policy may use */
	BFS_SLACK = COPY_BLOCK,   /* bytes after each name that pass() may read */
	/* The most entries of one directory that wait to be fetched in inode order: in its first
	   window, in each share of a later window, and the number of shares.  Long names count
	   more. */
	BFS_AHEAD_FIRST = 4096,
	BFS_AHEAD_SHARE = 32768,
	BFS_AHEAD_SHARES = 8,
	BFS_PORTION = 2048,       /* larger directories are divided into portions of this size */
};

/** The queue in which a directory waits; earlier queues are processed first. */
enum bfs_queue {
	BFS_NORMAL,
	BFS_BOUNDARY,   /* beyond a boundary that may contain nothing */
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
	BFS_FS,         /* through the bulk interface of the file system, if it has one */
};

struct bfs;
struct bfs_dir;

/** An entry of a directory. */
struct bfs_entry {
	const char *name;   /* valid during the callback */
	size_t len;         /* of name */
	uint64_t ino;       /* d_ino: at a mount point, of the covered directory */
	uint8_t type;       /* DT_*; DT_UNKNOWN: any type */
	uint64_t note;      /* in meta(): what entry() left in struct bfs_scratch; else undefined */
};

/**
 * The output of the callbacks for one batch of directories.
 *
 * @dir          Of one directory, for deliver(); append to it.
 * @batch_done   Of all directories in the batch, for batch_done(): text to append to, and
 *               a number.
 * @run_start    For the policy; 0 at the start of each directory.
 * @path_prefix  For the policy, kept from one directory to the next while the parent in bfs_at
 *               stays valid; otherwise empty and 0.
 * @query_path   The same.
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
	} path_prefix, query_path;
};

/**
 * What callbacks in a worker thread may write to.
 *
 * @hits    Counters; those of all threads are summed up.
 * @tag     In entry() and meta(): the tag of the entry, if it is entered.  Initially the
 *          tag of the directory.
 * @note    Data of the policy about an entry, kept for it: from pass() (of the first entry that
 *          it did not finish) to entry(), and from entry(), if that returns BFS_LOOK, to meta().
 *          Initially 0.
 * @os      For system calls of the policy in the current thread.
 * @fd      The directory being read.
 */
struct bfs_scratch {
	uint64_t hits[BFS_HITS];
	uint32_t tag;
	uint64_t note;
	struct os *os;
	int fd;
	struct bfs_output *output;
};

/** The position of an entry: `name` in the directory `dir` in `parent`. */
struct bfs_at {
	const struct bfs_dir *parent;
	const char *dir;
	const char *name;          /* "" for the directory itself */
	uint32_t tag;              /* of dir */
	int depth;                 /* of dir; 0 for a start */
	int parentfd;              /* in done(): that of parent; otherwise -1 */
	bool opened;               /* in done(): dir was opened, even if reading it failed */
};

enum bfs_verdict {
	BFS_SKIP,       /* ignore the entry */
	BFS_LOOK,       /* entry(): call statx, then meta() */
	BFS_ENTER,      /* read this directory later */
	BFS_JUDGE,      /* meta(): judge() decides, in the owner's thread */
	BFS_END_DIR,    /* skip the rest of this directory */
	BFS_END_ALL,    /* end the traversal */
};

/** Set by judge() and done(): enter this directory with another tag. */
struct bfs_enter {
	bool enter;
	uint32_t tag;
	enum bfs_queue queue;
	bool opened;               /* done(): read it through fd, which is taken over */
	int fd;
};

/** Limits shared by the threads of a traversal. */
struct bfs_budget {
	atomic_uint shares;     /* shares by which windows may grow; initially BFS_AHEAD_SHARES -
	                           1 */
	atomic_uint portions;   /* portions that may wait for another thread; 0: none */
};

/**
 * A file system with a bulk interface, shared by the threads of a traversal.
 *
 * It is set up when its first directory is opened; after a refusal it is never tried again.  Only
 * for mounts without an ID mapping on which no file is covered by another mount; the caller must
 * check that.
 */
struct bfs_fs;

/** Create it.  @return the object, or NULL.  Errors: ENOMEM.  Ownership: bfs_fs_free(). */
struct bfs_fs *bfs_fs_new(enum os_inodes_of of);

/** Free it; NULL is allowed. */
void bfs_fs_free(struct bfs_fs *fs);

/** The policy of a traversal.  Members after `batch` are for policies that report many entries
    (search); all may be 0 and NULL. */
struct bfs_policy {
	enum bfs_order order;
	bool newest;               /* BFS_BREADTH: alternate between the queue and the directories
	                              changed most recently */
	unsigned statx_mask;
	int statx_flags;           /* in addition to NO_AUTOMOUNT and SYMLINK_NOFOLLOW */
	unsigned batch;            /* entries whose metadata is fetched together, at most 1,024; 0:
	                              1 */
	enum bfs_engine engine;
	bool ahead;                /* always in inode order */
	bool together;             /* open the directories of a batch with one call */
	struct bfs_budget *budget; /* must remain valid during the traversal; NULL: none */
	size_t pause;              /* a directory is read in parts, each of which ends after this
	                              many bytes of output; 0: in one part */

	/* Called in any thread: these may only read data that is constant or atomic, and write to
	   scratch. */
	enum bfs_verdict (*entry)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	                          const struct bfs_entry *entry);
	/** Called after BFS_LOOK.  @error  0, or the errno of statx; st is then zeroed. */
	enum bfs_verdict (*meta)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	                         const struct bfs_entry *entry, const struct k_statx *st,
	                         int error);
	/** Called with consecutive entries, before entry() is called for each of them.  at->name is
	    "".  NULL: none.  @return how many entries, counted from the first, need no call of
	    entry(). */
	size_t (*pass)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	               const struct bfs_entry *entries, size_t n);
	/** BFS_FS: the file system of directories with a tag; NULL: it has no bulk interface. */
	struct bfs_fs *(*fs)(void *arg, uint32_t tag);

	/* Called only in the owner's thread. */
	/** The mount ID that directories with a tag must show when reopened; 0: unknown. */
	uint64_t (*mnt_id)(void *arg, uint32_t tag, bool *unique);
	/** May be NULL if meta() never returns BFS_JUDGE. */
	enum bfs_verdict (*judge)(void *arg, const struct bfs_at *at, const struct k_statx *st,
	                          struct bfs_enter *enter);
	/** Whether K_LAST_POS is the end of all directories with a tag.  NULL: of none. */
	bool (*last_pos)(void *arg, uint32_t tag);
	/** Whether directories with a tag still need to be read. */
	bool (*wanted)(void *arg, uint32_t tag);
	/** A directory was read, or reading failed (error).  If the directory is on another mount
	    (EXDEV), or done() opened it by other means, `enter` can enter it.
	    @return BFS_END_ALL to end the traversal. */
	enum bfs_verdict (*done)(void *arg, const struct bfs_at *at, uint32_t entries, int error,
	                         struct bfs_enter *enter);
	/** A batch was read.  The policy may take the text of output->batch_done, and leave another
	    one in its place. */
	void (*batch_done)(void *arg, struct bfs_output *output);
	/** Called with the output for a directory, or for a part of it. */
	void (*deliver)(void *arg, const struct bfs_at *at, const char *out, size_t size);

	void *arg;
};

struct bfs_stats {
	uint64_t dirs;             /* directories read */
	uint64_t entries;          /* entries in these directories */
	uint64_t dropped;          /* directories dropped unread: no longer wanted */
	uint64_t reopened;         /* descriptors that were reopened */
	uint64_t peak_frontier;    /* maximum number of waiting directories */
	uint64_t peak_fds;         /* maximum number of descriptors held by the frontier */
	uint64_t hits[BFS_HITS];
	unsigned threads;          /* threads that read, including the owner; 0: no worker was
	                              started */
};

/**
 * Create a traversal.
 *
 * @rootfd   The directory that starts are relative to; must stay open; may be AT_FDCWD.
 * @threads  The number of reading threads, including the caller's, once the frontier is large and
 *           if there are enough descriptors; 1: no workers, and all counts are exact.
 * @max_fds  The most descriptors to use; fewer if the system refuses.
 * @return a traversal, or NULL.  Errors: ENOMEM.  Ownership: bfs_free().
 */
struct bfs *bfs_new(struct os *os, const struct bfs_policy *policy, int rootfd, unsigned threads,
                    unsigned max_fds);

/** Cancel, drain, and free a traversal; NULL is allowed. */
void bfs_free(struct bfs *bfs);

/**
 * Abandon the worker threads in a child made by fork(2), where they do not exist.
 *
 * Call it before bfs_free().  Closes all descriptors of the owner.  Batches of the workers may be
 * half-written and are not freed.
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

/** Traverse until nothing is left, or a callback ends the traversal.
    @return 0 if nothing is left, 1 if a callback ended it, -1 on error.  Errors: ENOMEM. */
int bfs_run(struct bfs *bfs);

/** Continue until at least one directory, or a part of one, was read.
    @return 2 if there is more to do, otherwise as bfs_run(). */
int bfs_step(struct bfs *bfs);

/** The counts so far. */
const struct bfs_stats *bfs_stats(const struct bfs *bfs);

/** Append the path of an entry, starting with "/". */
void bfs_path(const struct bfs_at *at, struct strbuf *out);

/** Whether an entry has this path; allocates nothing. */
bool bfs_path_is(const struct bfs_at *at, const char *path);

#endif
