/* SPDX-License-Identifier: MIT */
/*
 * Traversal of a directory tree.
 *
 * After Smith, section 4, "path bunching": the frontier holds bunches.  A bunch is an open parent
 * directory with the names of its children, so every directory is opened relative to the descriptor
 * of its parent and no path is resolved from the root.  Full paths are built only for reported
 * entries.
 *
 *      frontier: bunches ---pop---> batch ---reader---> entries found
 *          ^                      (owner, or a worker)        |
 *          '------------------- deliver <---------------------'
 *
 * Invariants:
 *  - only the owner accesses the frontier, the directories and their descriptors
 *    (bfs_frontier_check(), bfs_dirs_check());
 *  - a directory that is being read (busy) keeps its descriptor;
 *  - a batch is filled by the owner, read by one reader, or delivered (enum bfs_batch_state).
 */
#include "bfs/bfs_impl.h"

#include "base/fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS_FROM = 256,   /* waiting directories from which workers are faster */
	THREADS_AFTER = 128,  /* likewise, directories already read */
	QUEUED_BATCHES = 2,   /* for each worker: one being read, one ready */
	LEAST_BATCH = 4,      /* directories in a worker's batch if descriptors are scarce */
	OWN_BATCH = 16,       /* directories that the owner reads between deliveries */
};

struct bfs *bfs_new(struct os *os, const struct bfs_policy *policy, int rootfd, unsigned threads,
                    unsigned max_fds)
{
	struct bfs *bfs = calloc(1, sizeof(*bfs));
	if (!bfs)
		return NULL;
	bfs->os = os;
	bfs->policy = policy;
	bfs->threads = threads;
	bfs->max_fds = max_fds < 1 ? 1 : max_fds;
	TAILQ_INIT(&bfs->open);
	bfs_frontier_init(&bfs->frontier, bfs, policy->order, policy->newest);
	bfs->reader = bfs_reader_new(os, policy, true);
	bfs->root = bfs_dir_new(NULL, "", 0, -1);
	if (bfs->root)
		bfs->root->refs = 1;
	if (!bfs->reader || !bfs->root) {
		bfs_free(bfs);
		return fail_null(ENOMEM);
	}
	bfs->root->fd = rootfd;
	return bfs;
}

/** Get a batch to fill; NULL: memory ran out, so the traversal has failed. */
static struct bfs_batch *batch_take(struct bfs *bfs)
{
	struct bfs_batch *batch = bfs->spare;
	if (batch) {
		bfs->spare = batch->next;
		bfs_batch_reset(batch);
	} else {
		batch = bfs_batch_new();
		bfs->failed |= !batch;
	}
	return batch;
}

/** Wait for the batches of the workers, and discard what they read. */
static void batches_drain(struct bfs *bfs)
{
	for (; bfs->under_way > 0; --bfs->under_way) {
		struct bfs_batch *batch = bfs_pool_get(bfs->pool, true);
		for (unsigned i = 0; i < batch->n; ++i)
			bfs_read_close(bfs, &batch->reads[i]);
		bfs_batch_put(bfs, batch);
	}
}

bool bfs_lose_workers(struct bfs *bfs)
{
	bool any = bfs->pool != NULL;
	bfs_pool_lose(bfs->pool, bfs->os);
	bfs->pool = NULL;
	bfs->under_way = 0;
	/* Directories that were being read are still marked busy. */
	struct bfs_dir *dir;
	TAILQ_FOREACH(dir, &bfs->open, open)
		dir->busy = 0;
	bfs_dirs_evict(bfs, 0);
	return any;
}

void bfs_free(struct bfs *bfs)
{
	if (!bfs)
		return;
	batches_drain(bfs);
	bfs_pool_free(bfs->pool, bfs->os);
	bfs->pool = NULL;
	bfs_frontier_clear(&bfs->frontier);
	while (bfs->spare) {
		struct bfs_batch *batch = bfs->spare;
		bfs->spare = batch->next;
		bfs_batch_free(batch);
	}
	bfs_dir_unref(bfs, bfs->root);
	bfs_reader_free(bfs->reader);
	free(bfs);
}

const struct bfs_stats *bfs_stats(const struct bfs *bfs)
{
	return &bfs->stats;
}

int bfs_start(struct bfs *bfs, const char *path, uint32_t tag, enum bfs_queue queue, int depth)
{
	while (*path == '/')
		++path;
	if (strcmp(path, ".") == 0 || *path == '\0') {
		bfs->root->depth = depth - 1;
		return bfs_push_one(bfs, bfs->root, ".", tag, queue, false) ? 0 : -1;
	}
	return bfs_push_start(bfs, bfs->root, path, tag, queue, depth);
}

/** The position of a directory that was entered. */
static struct bfs_at dir_at(const struct bfs_dir *dir)
{
	return (struct bfs_at){
		.parent = dir->parent, .dir = dir->name, .name = "", .tag = dir->tag,
		.depth = dir->depth, .parentfd = -1,
	};
}

/** Take the next directory that is still wanted, and make sure that its parent is open. */
static bool next_item(struct bfs *bfs, struct bfs_item *item)
{
	const struct bfs_policy *policy = bfs->policy;
	while (!bfs->ended && bfs_frontier_pop(&bfs->frontier, item)) {
		struct bfs_bunch *bunch = item->bunch;
		if (!policy->wanted(policy->arg, bunch->kids[item->kid].tag)) {
			++bfs->stats.dropped;
			if (!bunch->mixed)
				bfs->stats.dropped += bfs_frontier_drop(&bfs->frontier, bunch);
		} else if (bfs_dir_open(bfs, bunch->dir) == 0) {
			return true;
		} else {
			int error = errno;
			struct bfs_at at = dir_at(bunch->dir);
			struct bfs_enter none = {0};
			bfs_frontier_drop(&bfs->frontier, bunch);
			if (policy->done(policy->arg, &at, 0, error, &none) == BFS_END_ALL)
				bfs->ended = true;
		}
		bfs_bunch_unref(&bfs->frontier, bunch);
	}
	return false;
}

/** The position of a waiting directory. */
static struct bfs_at item_at(const struct bfs_item *item)
{
	const struct bfs_bunch *bunch = item->bunch;
	if (bunch->resume)
		return dir_at(bunch->dir);
	const struct bfs_kid *kid = &bunch->kids[item->kid];
	return (struct bfs_at){
		.parent = bunch->dir, .dir = bunch->names + kid->name, .name = "", .tag = kid->tag,
		.depth = bunch->dir->depth + 1, .parentfd = -1,
	};
}

/** Fill a batch with up to n directories. */
static void batch_fill(struct bfs *bfs, struct bfs_batch *batch, unsigned n)
{
	const struct bfs_policy *policy = bfs->policy;
	/* Without openat2, a directory may turn out to be on another mount after it is opened. */
	bool known = policy->last_pos && bfs->os->caps & OSC_OPENAT2
	             && !(bfs->os->disabled & OSC_LAST_POS);
	struct bfs_item item;
	bool large = false;
	/* A directory read in parts may have much output, so it ends the batch. */
	while (batch->n < n && !large && next_item(bfs, &item)) {
		struct bfs_dir *dir = item.bunch->dir;
		assert(dir->fd >= 0 || dir == bfs->root);
		large = item.bunch->resume;
		++dir->busy;
		struct bfs_read *read = &batch->reads[batch->n++];
		*read = (struct bfs_read){
			.item = item, .at = item_at(&item), .parentfd = dir->fd, .resume = large,
			.fd = large ? dir->fd : -1, .rest = item.bunch->rest,
		};
		read->name = large ? "." : read->at.dir;
		read->last_pos = known && policy->last_pos(policy->arg, read->at.tag);
		item.bunch->rest = NULL;
	}
}

/** Read up to n directories in the owner's thread.  @return false if none is left. */
static bool run_own(struct bfs *bfs, unsigned n)
{
	struct bfs_batch *batch = batch_take(bfs);
	if (!batch)
		return false;
	batch_fill(bfs, batch, n);
	bool any = batch->n > 0;
	if (any)
		bfs_reader_read(bfs->reader, batch);
	bfs_deliver(bfs, batch);
	return any;
}

/** Give batches to the workers; one directory is left to the owner. */
static void supply_workers(struct bfs *bfs)
{
	unsigned workers = bfs->stats.threads - 1, most = workers * QUEUED_BATCHES;
	struct bfs_batch *batch;
	while (bfs->under_way < most && bfs->frontier.waiting > 1 && !bfs->ended
	       && (batch = batch_take(bfs))) {
		/* Distribute a small frontier among all threads. */
		uint64_t share = bfs->frontier.waiting / (most + 1) + 1;
		batch_fill(bfs, batch, share < bfs->batch ? (unsigned)share : bfs->batch);
		if (batch->n == 0) {
			bfs_batch_put(bfs, batch);
			break;
		}
		bfs_pool_put(bfs->pool, batch);
		++bfs->under_way;
	}
}

/** Supply the workers, read a few directories, and deliver what the workers have read.  The owner
    waits only when it has nothing else to do.  @return false at the end. */
static bool run_shared(struct bfs *bfs)
{
	supply_workers(bfs);
	bool own = !bfs->failed && run_own(bfs, OWN_BATCH);
	if (!own && bfs->under_way == 0)
		return false;
	while (bfs->under_way > 0) {
		struct bfs_batch *batch = bfs_pool_get(bfs->pool, !own);
		if (!batch)
			break;
		--bfs->under_way;
		bfs_deliver(bfs, batch);
		own = true;
	}
	return true;
}

/** Start as many workers as descriptors allow, if the frontier or a directory is large. */
static void start_workers(struct bfs *bfs)
{
	if (bfs->pool || bfs->threads <= 1
	    || (bfs->frontier.waiting < THREADS_FROM && bfs->stats.dirs < THREADS_AFTER
	        && !bfs->divided))
		return;
	/* Directories being read may use at most half of the descriptors. */
	unsigned most = bfs->max_fds / 2 / QUEUED_BATCHES;
	unsigned threads = bfs->threads < most / LEAST_BATCH ? bfs->threads : most / LEAST_BATCH;
	if (threads <= 1) {
		bfs->threads = 1;
		return;
	}
	bfs->batch = most / threads < BFS_BATCH ? most / threads : BFS_BATCH;
	os_grow_fds(bfs->os, bfs->root->fd, bfs->max_fds);
	unsigned workers = threads - 1;
	unsigned left = bfs->max_fds - threads * QUEUED_BATCHES * bfs->batch;
	unsigned closing = left / 4 / workers < BFS_CLOSING ? left / 4 / workers : BFS_CLOSING;
	bfs->pool = bfs_pool_new(bfs->os, bfs->policy, &workers, closing);
	if (bfs->pool) {
		bfs->stats.threads = workers + 1;
		bfs->max_fds = left - workers * closing;
	} else {
		bfs->threads = 1;
	}
}

int bfs_step(struct bfs *bfs)
{
	start_workers(bfs);
	bool more = bfs->pool ? run_shared(bfs) : run_own(bfs, 1);
	bfs_frontier_check(&bfs->frontier);
	bfs_dirs_check(bfs);
	if (more && !bfs->ended && !bfs->failed)
		return 2;
	batches_drain(bfs);
	if (bfs->failed)
		return fail(ENOMEM);
	return bfs->ended ? 1 : 0;
}

int bfs_run(struct bfs *bfs)
{
	int rc;
	bfs->ended = false;
	while ((rc = bfs_step(bfs)) == 2)
		;
	return rc;
}
