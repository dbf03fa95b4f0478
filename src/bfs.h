/* SPDX-License-Identifier: MIT */
/**
 * The search of a directory tree: frontier, path bunching, descriptors,
 * worker threads.  It knows no policy: what to look at, what to enter and
 * when to end is asked of the caller.
 *
 * Every directory entered carries a tag of the caller's (discovery: the index
 * of the mount that it belongs to).
 */
#ifndef GM_BFS_H
#define GM_BFS_H

#include "base/strbuf.h"
#include "bfs/bulk.h"
#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Counters that a policy may keep; each worker has its own, added up. */
enum { BFS_HITS = 16 };

/** In which queue a directory waits: the first that is not empty is served. */
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

/**
 * What callbacks that may run in a worker write to; theirs alone during a call.
 *
 * @hits    Counters, added up.
 * @tag     On entry() and meta(): the tag of what is entered; as that of the
 *          directory, unless changed.
 * @os      Of this thread, for calls of the policy's own.
 * @fd      The directory that is being read.
 * @out     What is to be given to deliver(), appended to.
 * @whole   What is to be given to take(), of all that was read together: text,
 *          appended to, and a number.
 * @note    The policy's own; 0 when another directory is begun.
 * @about   The policy's own, kept from one directory to the next as long as what
 *          bfs_at names stays where it is; empty and 0 when that may have gone.
 */
struct bfs_scratch {
	uint64_t hits[BFS_HITS];
	uint32_t tag;
	struct os *os;
	int fd;
	struct strbuf out;
	struct {
		struct strbuf text;
		uint64_t n;
	} whole;
	uint64_t note;
	struct {
		struct strbuf text;
		size_t len;
		const void *of;
	} about;
};

/** Where an entry is: the directory `dir` in `parent`, and the entry in it. */
struct bfs_at {
	const struct bfs_dir *parent;
	const char *dir;
	const char *name;          /* "" for the directory itself */
	uint32_t tag;              /* of dir */
	int depth;                 /* of dir; the start has 0 */
	int parentfd;              /* of parent; in done() alone, else -1 */
	bool opened;               /* in done(): dir was, whatever came then */
};

enum bfs_verdict {
	BFS_SKIP,       /* nothing */
	BFS_LOOK,       /* statx it, then ask meta() */
	BFS_ENTER,      /* a directory to be read later */
	BFS_JUDGE,      /* let the owner's judge() decide */
	BFS_END_DIR,    /* no more of this directory */
	BFS_END_ALL,    /* the search is over */
};

/** What judge() wants entered: the entry judged, under another tag. */
struct bfs_enter {
	bool enter;
	uint32_t tag;
	enum bfs_queue queue;
	bool opened;               /* of done(): by fd, which can be read; it is taken over */
	int fd;
};

struct bfs_policy {
	enum bfs_order order;
	bool newest;               /* BFS_BREADTH: in turn with the directories
	                              changed most recently */
	unsigned statx_mask;
	int statx_flags;
	unsigned batch;            /* entries whose metadata is fetched together; 0: 1 */
	struct bulk_how how;       /* ... and how */
	size_t pause;              /* a directory is read in parts, each ended when
	                              this much was put out; 0: whole */

	/* Called by workers too, so they may only read what does not change, or
	   is atomic, and write to scratch. */
	/** Entries of a directory that stand one behind the other, before entry() is asked of each:
	    how many, from the first, are done with.  at->name is ""; may be NULL: none. */
	size_t (*pass)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	               const struct bulk_entry *entries, size_t n);
	enum bfs_verdict (*entry)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	                          const struct bulk_entry *entry);
	enum bfs_verdict (*meta)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	                         const struct bulk_entry *entry, const struct k_statx *st, int error);

	/** With how.engine BULK_FS: the file system of directories of a tag, if it can
	    be asked for many inodes at once; else NULL.  May be NULL. */
	struct bulk_fs *(*fs)(void *arg, uint32_t tag);

	/* Called by the owner alone. */
	/** The mount ID that directories of a tag show; 0: not known.
	    A directory that is opened again, or begun at, must show it. */
	uint64_t (*mnt_id)(void *arg, uint32_t tag, bool *unique);
	enum bfs_verdict (*judge)(void *arg, const struct bfs_at *at, const struct k_statx *st,
	                          struct bfs_enter *enter);
	/** Whether directories of a tag have nothing at K_LAST_POS: struct bulk_dir.
	    May be NULL: none has. */
	bool (*last_pos)(void *arg, uint32_t tag);
	/** Whether directories of a tag are still worth reading. */
	bool (*wanted)(void *arg, uint32_t tag);
	/** Directories were read together: scratch->whole is what was put out for all; the
	    text may be taken, and another left in its place.  May be NULL. */
	void (*take)(void *arg, struct bfs_scratch *scratch);
	/** What was put out while (a part of) a directory was read; may be NULL. */
	void (*deliver)(void *arg, const struct bfs_at *at, const char *out, size_t size);
	/** A directory was read, or could not be (error); BFS_END_ALL to stop.
	    One that is on another mount (EXDEV), or was opened in another way, can be
	    entered all the same. */
	enum bfs_verdict (*done)(void *arg, const struct bfs_at *at, uint32_t entries, int error,
	                         struct bfs_enter *enter);

	void *arg;
};

struct bfs_stats {
	uint64_t dirs;             /* read */
	uint64_t entries;          /* read in them */
	uint64_t dropped;          /* directories dropped unread: no longer wanted */
	uint64_t reopened;         /* descriptors opened again */
	uint64_t peak_frontier;    /* directories waiting, at most */
	uint64_t peak_fds;         /* descriptors held by the frontier, at most */
	uint64_t hits[BFS_HITS];
	unsigned threads;          /* that read, with the owner; 0: no others were started */
};

/**
 * Make a search.
 *
 * @rootfd
 *         Descriptor that the names of starts are relative to; the caller's,
 *         open as long as the search; may be AT_FDCWD.
 * @threads
 *         Threads that read once the frontier is large, this one among them, or as
 *         many as there are descriptors for; 1: no others, and all counts are exact.
 * @max_fds
 *         Descriptors that the search may hold; it finds out when they are less.
 * @return a search, or NULL.  Errors: ENOMEM.  Ownership: bfs_free().
 */
struct bfs *bfs_new(struct os *os, const struct bfs_policy *policy, int rootfd, unsigned threads,
                    unsigned max_fds);

/** Cancel, drain, and free a search; NULL is fine. */
void bfs_free(struct bfs *bfs);

/**
 * Give up the worker threads in a child that fork(2) made, where they do not exist.
 *
 * Call it before bfs_free().  All descriptors of the owner are closed.  What the workers
 * had in hand may be half-written and is not freed.
 *
 * @return whether there were any.
 */
bool bfs_lose_workers(struct bfs *bfs);

/**
 * Add a directory to begin at.
 *
 * @path
 *         Relative to rootfd, without links in it; "." is rootfd itself.
 * @depth
 *         How deep that directory is held to be.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int bfs_start(struct bfs *bfs, const char *path, uint32_t tag, enum bfs_queue queue, int depth);

/**
 * Search until nothing is left, or a callback ends it.
 *
 * @return 0 when nothing is left, 1 when a callback ended it, -1 on error.
 * Errors: ENOMEM.
 */
int bfs_run(struct bfs *bfs);

/**
 * Search on for a while: at least until a directory, or a part of one, was read.
 *
 * @return 2 when there is more to do, else as bfs_run().
 */
int bfs_step(struct bfs *bfs);

/** What was done so far. */
const struct bfs_stats *bfs_stats(const struct bfs *bfs);

/** Append the path of an entry, beginning with "/". */
void bfs_path(const struct bfs_at *at, struct strbuf *out);

/** Whether the path of an entry is this one; allocates nothing. */
bool bfs_path_is(const struct bfs_at *at, const char *path);

#endif
