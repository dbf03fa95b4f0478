/* SPDX-License-Identifier: MIT */
/**
 * What the parts of the search of a tree share.  Private to src/bfs*.c.
 */
#ifndef GM_BFS_IMPL_H
#define GM_BFS_IMPL_H

#include "bfs.h"

#include "bfs/frontier.h"
#include "bfs/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct bfs {
	struct os *os;
	const struct bfs_policy *policy;
	struct bfs_stats stats;
	struct bfs_frontier frontier;
	struct bfs_dir *root;         /* what starts are relative to */
	struct bfs_dir *newest, *oldest;   /* open descriptors, by age */
	unsigned open_fds, max_fds;
	unsigned paused;              /* reads of directories that are to go on */
	bool divided;                 /* one is so large that others take a part in it */
	struct bfs_reader reader;     /* the owner's own */
	struct bfs_batch *spare;      /* batches to be used again */
	struct bfs_pool *pool;
	unsigned threads;             /* asked for; 1: none, or none any more */
	unsigned batch;               /* directories that a worker is given at once, at most */
	unsigned under_way;           /* batches with the workers */
	bool ended, failed;
};

/* dirs.c */

/** Note a descriptor of a directory, and that it may be closed.  @by  Who opened it. */
void bfs_dir_opened(struct bfs *bfs, struct bfs_dir *dir, int fd, unsigned by);

/** Close descriptors until at most n are open; for 0, at once.  @return whether one was. */
bool bfs_dirs_evict(struct bfs *bfs, unsigned n);

/** A new directory, without a reference, its descriptor not yet noted. */
struct bfs_dir *bfs_dir_new(struct bfs_dir *parent, const char *name, uint32_t tag, int depth);

/** Drop a reference to a directory, and so on upwards. */
void bfs_dir_unref(struct bfs *bfs, struct bfs_dir *dir);

/** Have a directory's descriptor.  @return 0, or -1 with errno. */
int bfs_dir_open(struct bfs *bfs, struct bfs_dir *dir);

#endif
