/* SPDX-License-Identifier: MIT */
/**
 * Traversal for policies that report many entries (search): output of the threads that read,
 * large directories in parts, and metadata fetched in bulk.
 */
#ifndef GM_BFS_BULK_H
#define GM_BFS_BULK_H

#include "bfs.h"
#include "os/inodes.h"

#include <stdatomic.h>

/** Bytes after each name that pass() may read. */
enum { BFS_SLACK = 32 };

/**
 * What callbacks of one batch of directories put out.
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

/** How metadata is fetched. */
enum bfs_engine {
	BFS_AUTO,       /* one by one; in inode order while the calls wait for a disk */
	BFS_SYNC,       /* one by one */
	BFS_FS,         /* by the bulk interface of the file system, where there is one */
};

/* Entries of one directory that wait to be fetched in order: in its first window, in each
   share of a later one, and how many shares there are.  Long names count for more. */
enum {
	BFS_AHEAD_FIRST = 4096,
	BFS_AHEAD_SHARE = 32768,
	BFS_AHEAD_SHARES = 8,
};

/* A directory of more entries than this is divided into portions of this size. */
enum { BFS_PORTION = 2048 };

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

struct bfs_bulk {
	enum bfs_engine engine;
	bool ahead;                /* always in inode order */
	bool together;             /* open the directories of a batch by one call */
	struct bfs_budget *budget; /* must outlive the traversal; NULL: none */
	size_t pause;              /* a directory is read in parts, each ended when this many
	                              bytes were put out; 0: whole */

	/* Called in any thread. */
	/** Consecutive entries, before entry() is called for each: how many of them, from
	    the first, need no call.  at->name is "".  NULL: none. */
	size_t (*pass)(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
	               const struct bfs_entry *entries, size_t n);
	/** BFS_FS: the file system of directories of a tag; NULL: it has no bulk interface. */
	struct bfs_fs *(*fs)(void *arg, uint32_t tag);

	/* Called in the owner's thread only; each may be NULL. */
	/** A batch was read.  The policy may take the text of output->batch_done, and leave
	    another in its place. */
	void (*batch_done)(void *arg, struct bfs_output *output);
	/** What was put out for (a part of) a directory. */
	void (*deliver)(void *arg, const struct bfs_at *at, const char *out, size_t size);
};

#endif
