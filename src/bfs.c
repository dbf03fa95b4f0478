/* SPDX-License-Identifier: MIT */
/*
 * The search of a directory tree.
 *
 * After Smith, section 4, "path bunching": the frontier holds bunches, an open
 * parent directory with the names of its children, so that every directory is
 * opened relative to its parent's descriptor and no path is resolved from the
 * root.  Full paths are built only for what is reported.
 *
 *      frontier: bunches ---pop---> batch ---reader---> what was found
 *          ^                      (owner, or a worker)        |
 *          '------------------- deliver <---------------------'
 *
 * Invariants:
 *  - the frontier, the directories and their descriptors are the owner's;
 *  - a directory with reads under way (busy) keeps its descriptor;
 *  - a batch is either filled by the owner, read by one reader, or delivered.
 */
#include "bfs/bfs_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS_FROM = 256,   /* directories waiting, for workers to pay */
	THREADS_AFTER = 128,  /* directories read, for the same */
	QUEUED_BATCHES = 2,   /* for each worker: one being read, one at hand */
	LEAST_BATCH = 4,      /* directories of a worker's batch, where descriptors are few */
	OWN_BATCH = 16,       /* directories that the owner reads between deliveries */
	PAUSED_SHARE = 8,     /* of the descriptors, for directories read in part */
	RETRIES = 12,         /* of a directory, with half the descriptors each time */
};

static void bunch_release(void *arg, struct bfs_bunch *bunch)
{
	bfs_dir_unref(arg, bunch->dir);
}

/* The life of a search. */

/** Judge an entry at once: a search without workers. */
static enum bfs_verdict judge_now(void *arg, struct bfs_batch *batch, struct bfs_read *read,
                                  const char *name, const struct k_statx *st)
{
	struct bfs *bfs = arg;
	struct bfs_at at = read->at;
	struct bfs_enter enter = {0};
	at.name = name;
	enum bfs_verdict verdict = bfs->policy->judge(bfs->policy->arg, &at, st, &enter);
	if (enter.enter)
		bfs_batch_cross(batch, read, bfs_batch_name(batch, name, strlen(name)), &enter);
	return verdict;
}

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
	bfs->frontier.release = bunch_release;
	bfs->frontier.release_arg = bfs;
	bfs->frontier.order = policy->order;
	bfs->frontier.newest = policy->newest;
	bfs->reader = (struct bfs_reader){
		.os = os,
		.policy = policy,
		.bulk = bulk_new(os, &policy->how),
		.judge = judge_now,
		.judge_arg = bfs,
	};
	bfs->root = bfs_dir_new(NULL, "", 0, -1);
	if (bfs->root)
		bfs->root->refs = 1;
	if (!bfs->reader.bulk || !bfs->root) {
		bfs_free(bfs);
		errno = ENOMEM;
		return NULL;
	}
	bfs->root->fd = rootfd;
	return bfs;
}

/** A batch to fill. */
static struct bfs_batch *batch_take(struct bfs *bfs)
{
	struct bfs_batch *batch = bfs->spare;
	if (batch)
		bfs->spare = batch->next;
	else
		batch = calloc(1, sizeof(*batch));
	if (batch)
		bfs_batch_reset(batch);
	return batch;
}

/** Let go of what a batch refers to; keep it for later. */
static void batch_put(struct bfs *bfs, struct bfs_batch *batch)
{
	for (unsigned i = 0; i < batch->n; ++i) {
		struct bfs_bunch *bunch = batch->reads[i].item.bunch;
		--bunch->dir->busy;
		bulk_rest_free(batch->reads[i].rest);
		bulk_rest_free(batch->reads[i].portions);
		bfs_bunch_unref(&bfs->frontier, bunch);
	}
	batch->n = 0;
	batch->next = bfs->spare;
	bfs->spare = batch;
}

/** Close what a read opened; what it went on with is its directory's. */
static void read_close(struct bfs *bfs, struct bfs_read *read)
{
	if (!read->item.bunch->resume)
		os_close(bfs->os, read->fd);
}

/** Wait for the workers' batches, and let go of what they read. */
static void batches_drain(struct bfs *bfs)
{
	for (; bfs->under_way > 0; --bfs->under_way) {
		struct bfs_batch *batch = bfs_pool_get(bfs->pool, true);
		for (unsigned i = 0; i < batch->n; ++i)
			read_close(bfs, &batch->reads[i]);
		batch_put(bfs, batch);
	}
}

bool bfs_lose_workers(struct bfs *bfs)
{
	bool any = bfs->pool != NULL;
	bfs_pool_lose(bfs->pool, bfs->os);
	bfs->pool = NULL;
	bfs->under_way = 0;
	/* Those of directories that the workers read would stay open. */
	for (struct bfs_dir *dir = bfs->newest; dir; dir = dir->older)
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
	if (bfs->root) {
		/* rootfd is the caller's: bfs_dir_close() leaves it alone. */
		bfs_dir_unref(bfs, bfs->root);
	}
	bulk_free(bfs->reader.bulk);
	free(bfs);
}

const struct bfs_stats *bfs_stats(const struct bfs *bfs)
{
	return &bfs->stats;
}

/** Queue one directory by its name in another. */
static struct bfs_bunch *push_one(struct bfs *bfs, struct bfs_dir *dir, const char *name,
                                  uint32_t tag, enum bfs_queue queue, unsigned retry, bool in_front)
{
	size_t n = strlen(name) + 1;
	struct bfs_bunch *bunch = bfs_bunch_new(dir, 1, n);
	if (!bunch)
		return NULL;
	memcpy(bunch->names, name, n);
	bunch->kids[0] = (struct bfs_kid){.mtime = INT64_MIN, .tag = tag};
	bunch->tag = tag;
	bunch->queue = queue;
	bunch->retry = (uint8_t)retry;
	bfs_frontier_push(&bfs->frontier, bunch, in_front);
	return bunch;
}

/**
 * Queue a directory that is on another mount than the one it is named in: it
 * is opened with O_PATH first, which touches nothing, and read only if it
 * shows the mount that its tag stands for.
 */
static int push_start(struct bfs *bfs, struct bfs_dir *in, const char *path, uint32_t tag,
                      enum bfs_queue queue, int depth)
{
	struct bfs_dir *dir = bfs_dir_new(in, path, tag, depth - 1);
	if (!dir)
		return -1;
	dir->refs = 1;
	int rc = push_one(bfs, dir, ".", tag, queue, 0, false) ? 0 : -1;
	bfs_dir_unref(bfs, dir);
	return rc;
}

/** Queue a directory that was opened otherwise, to be read by its descriptor. */
static int push_opened(struct bfs *bfs, struct bfs_dir *in, const struct bfs_at *at,
                       const struct bfs_enter *enter)
{
	struct bfs_dir *dir = bfs_dir_new(in, at->dir, enter->tag, at->depth);
	if (!dir) {
		os_close(bfs->os, enter->fd);
		return -1;
	}
	dir->refs = 1;
	bfs_dir_opened(bfs, dir, enter->fd, 0);
	struct bfs_bunch *bunch = push_one(bfs, dir, ".", enter->tag, enter->queue, 0, false);
	if (bunch) {
		bunch->resume = true;
		++dir->busy;
		++bfs->paused;
		++bfs->stats.dirs;
	}
	bfs_dir_unref(bfs, dir);
	return bunch ? 0 : -1;
}

int bfs_start(struct bfs *bfs, const char *path, uint32_t tag, enum bfs_queue queue, int depth)
{
	while (*path == '/')
		++path;
	if (strcmp(path, ".") == 0 || *path == '\0') {
		bfs->root->depth = depth - 1;
		return push_one(bfs, bfs->root, ".", tag, queue, 0, false) ? 0 : -1;
	}
	return push_start(bfs, bfs->root, path, tag, queue, depth);
}

/* Delivering what was read. */

/** Make a directory of one that was read, for what waits in it; with a reference. */
static struct bfs_dir *deliver_dir(struct bfs *bfs, struct bfs_read *read, unsigned by)
{
	struct bfs_at at = read->at;
	if (read->item.bunch->resume) {
		read->fd = -1;
		++read->item.bunch->dir->refs;
		return read->item.bunch->dir;
	}
	struct bfs_dir *dir = bfs_dir_new(read->item.bunch->dir, at.dir, at.tag, at.depth);
	if (!dir)
		return NULL;
	dir->refs = 1;
	bfs_dir_opened(bfs, dir, read->fd, by);
	read->fd = -1;
	return dir;
}

/** Queue the children of a directory that was read. */
static int deliver_kids(struct bfs *bfs, const struct bfs_batch *batch, const struct bfs_read *read,
                        struct bfs_dir *dir)
{
	const struct bfs_found_kid *kids = batch->kids + read->kids;
	size_t names = kids[0].name;
	const struct bfs_found_kid *last = &kids[read->nkids - 1];
	size_t end = last->name + strlen(batch->names.data + last->name) + 1;
	struct bfs_bunch *bunch = bfs_bunch_new(dir, read->nkids, end - names);
	if (!bunch)
		return -1;
	memcpy(bunch->names, batch->names.data + names, end - names);
	for (uint32_t i = 0; i < read->nkids; ++i)
		bunch->kids[i] = (struct bfs_kid){kids[i].mtime, (uint32_t)(kids[i].name - names), kids[i].tag, 0};
	bunch->tag = dir->tag;
	bunch->mixed = read->mixed;
	bunch->queue = read->item.bunch->queue;
	bfs_frontier_push(&bfs->frontier, bunch, false);
	return 0;
}

/** Have what the workers left to be judged judged. */
static void deliver_judges(struct bfs *bfs, struct bfs_batch *batch, struct bfs_read *read)
{
	for (uint32_t i = 0; i < read->njudges && read->verdict < BFS_END_DIR; ++i) {
		const struct bfs_found_entry *entry = &batch->judges[read->judges + i];
		const char *name = batch->names.data + entry->name;
		struct bfs_at at = read->at;
		struct bfs_enter enter = {0};
		at.name = name;
		read->verdict = bfs->policy->judge(bfs->policy->arg, &at, &entry->st, &enter);
		if (enter.enter)
			bfs_batch_cross(batch, read, entry->name, &enter);
	}
}

/** Have a directory read on.  @rest  What waits of it; taken over. */
static void push_rest(struct bfs *bfs, const struct bfs_read *read, struct bfs_dir *dir,
                      struct bulk_rest *rest, bool in_front)
{
	struct bfs_bunch *bunch = push_one(bfs, dir, ".", dir->tag, (enum bfs_queue)read->item.bunch->queue, 0, in_front);
	if (!bunch) {
		bulk_rest_free(rest);
		bfs->failed = true;
		return;
	}
	bunch->resume = true;
	bunch->rest = rest;
	++dir->busy;
	++bfs->paused;
}

/** Have the rest of a directory read, if it was read in part, and the portions of it that
    are for any thread. */
static void deliver_pause(struct bfs *bfs, struct bfs_read *read, struct bfs_dir *dir)
{
	/* While it is read in parts its descriptor holds the place. */
	bool was = read->item.bunch->resume;
	dir->busy -= was;
	bfs->paused -= was;
	/* Depth-first, what was found in it is read before the rest of it, so that
	   little waits; but each that waits like this keeps a descriptor, and entries
	   that wait themselves would be kept beside it. */
	bool last = bfs->policy->order == BFS_DEPTH && !read->rest && bfs->paused < bfs->max_fds / PAUSED_SHARE;
	bool breadth = bfs->policy->order == BFS_BREADTH;
	if (read->paused) {
		push_rest(bfs, read, dir, read->rest, last || breadth);
		read->rest = NULL;
	}
	for (struct bulk_rest *portion; (portion = bulk_rest_take(&read->portions));) {
		push_rest(bfs, read, dir, portion, breadth);
		bfs->divided = true;
	}
}

/** Take in what one read found. */
static void deliver_read(struct bfs *bfs, struct bfs_batch *batch, struct bfs_read *read)
{
	struct bfs_bunch *bunch = read->item.bunch;
	struct bfs_at at = read->at;

	if ((read->error == EMFILE || read->error == ENFILE) && !read->opened
	    && bunch->retry < RETRIES) {
		bfs->max_fds = bfs->open_fds / 2 + 1;
		bfs_dirs_evict(bfs, bfs->max_fds);
		if (!push_one(bfs, bunch->dir, at.dir, at.tag, bunch->queue, bunch->retry + 1u, true))
			bfs->failed = true;
		return;
	}

	if (read->opened && !bunch->resume)
		++bfs->stats.dirs;
	bfs->stats.entries += read->entries;
	bfs_frontier_learn(&bfs->frontier, &read->item, read->found);
	deliver_judges(bfs, batch, read);
	if (read->nout > 0 && bfs->policy->deliver)
		bfs->policy->deliver(bfs->policy->arg, &at, batch->scratch.out.data + read->out, read->nout);
	struct bfs_enter enter = {0};
	at.parentfd = read->parentfd;
	at.opened = read->opened;
	if (read->verdict == BFS_END_ALL
	    || bfs->policy->done(bfs->policy->arg, &at, read->entries, read->error, &enter) == BFS_END_ALL)
		bfs->ended = true;
	if (enter.enter && (enter.opened ? push_opened(bfs, bunch->dir, &at, &enter)
	                    : push_start(bfs, bunch->dir, at.dir, enter.tag, enter.queue, at.depth)) != 0)
		bfs->failed = true;

	if (read->nkids > 0 && !bfs->policy->wanted(bfs->policy->arg, at.tag)) {
		bfs->stats.dropped += read->nkids;
		read->nkids = 0;
	}
	if (!bunch->resume && (bfs->ended || read->fd < 0
	                       || (read->nkids == 0 && read->ncrosses == 0 && !read->paused && !read->portions))) {
		os_close(bfs->os, read->fd);
		return;
	}

	struct bfs_dir *dir = deliver_dir(bfs, read, batch->by);
	if (!dir) {
		os_close(bfs->os, read->fd);
		bfs->failed = true;
		return;
	}
	if (read->nkids > 0 && deliver_kids(bfs, batch, read, dir) != 0)
		bfs->failed = true;
	for (uint32_t i = 0; i < read->ncrosses; ++i) {
		const struct bfs_found_cross *cross = &batch->crosses[read->crosses + i];
		if (push_start(bfs, dir, batch->names.data + cross->name, cross->tag, cross->queue,
		               dir->depth + 1) != 0)
			bfs->failed = true;
	}
	deliver_pause(bfs, read, dir);
	bfs_dir_unref(bfs, dir);
}

/** Take in a batch that was read. */
static void deliver(struct bfs *bfs, struct bfs_batch *batch)
{
	/* A name that found no memory is not there to be used. */
	bfs->failed |= batch->failed;
	if (bfs->policy->take && !bfs->ended && !bfs->failed)
		bfs->policy->take(bfs->policy->arg, &batch->scratch);
	for (unsigned i = 0; i < batch->n; ++i) {
		if (bfs->ended || bfs->failed)
			read_close(bfs, &batch->reads[i]);
		else
			deliver_read(bfs, batch, &batch->reads[i]);
	}
	for (int i = 0; i < BFS_HITS; ++i)
		bfs->stats.hits[i] += batch->scratch.hits[i];
	batch_put(bfs, batch);
	bfs_dirs_evict(bfs, bfs->max_fds);
	if (bfs->frontier.waiting > bfs->stats.peak_frontier)
		bfs->stats.peak_frontier = bfs->frontier.waiting;
}

/** Where a directory that was entered is. */
static struct bfs_at dir_at(const struct bfs_dir *dir)
{
	return (struct bfs_at){
		.parent = dir->parent,
		.dir = dir->name,
		.name = "",
		.tag = dir->tag,
		.depth = dir->depth,
		.parentfd = -1,
	};
}

/** Take the next directory that is still wanted, its parent being open. */
static bool next_item(struct bfs *bfs, struct bfs_item *item)
{
	while (!bfs->ended && bfs_frontier_pop(&bfs->frontier, item)) {
		struct bfs_bunch *bunch = item->bunch;
		int error = 0;
		if (!bfs->policy->wanted(bfs->policy->arg, bunch->kids[item->kid].tag)) {
			++bfs->stats.dropped;
			if (!bunch->mixed)
				bfs->stats.dropped += bfs_frontier_drop(&bfs->frontier, bunch);
		} else if (bfs_dir_open(bfs, bunch->dir) == 0) {
			return true;
		} else {
			error = errno;
			struct bfs_at at = dir_at(bunch->dir);
			bfs_frontier_drop(&bfs->frontier, bunch);
			if (bfs->policy->done(bfs->policy->arg, &at, 0, error, &(struct bfs_enter){0}) == BFS_END_ALL)
				bfs->ended = true;
		}
		bfs_bunch_unref(&bfs->frontier, bunch);
	}
	return false;
}

/** Where a directory that waits is. */
static struct bfs_at item_at(const struct bfs_item *item)
{
	const struct bfs_bunch *bunch = item->bunch;
	if (bunch->resume)
		return dir_at(bunch->dir);
	return (struct bfs_at){
		.parent = bunch->dir,
		.dir = bunch->names + bunch->kids[item->kid].name,
		.name = "",
		.tag = bunch->kids[item->kid].tag,
		.depth = bunch->dir->depth + 1,
		.parentfd = -1,
	};
}

/** Fill a batch with up to n directories. */
static void batch_fill(struct bfs *bfs, struct bfs_batch *batch, unsigned n)
{
	const struct bfs_policy *policy = bfs->policy;
	/* Another mount may be met where it cannot be refused. */
	bool known = policy->last_pos && bfs->os->caps & OSC_OPENAT2 && !(bfs->os->disabled & OSC_LAST_POS);
	struct bfs_item item;
	bool large = false;
	/* Of a directory that is read in parts much may come: one to a batch. */
	while (batch->n < n && !large && next_item(bfs, &item)) {
		large = item.bunch->resume;
		++item.bunch->dir->busy;
		struct bfs_read *read = &batch->reads[batch->n++];
		*read = (struct bfs_read){
			.item = item,
			.at = item_at(&item),
			.parentfd = item.bunch->dir->fd,
			.fd = -1,
			.rest = item.bunch->rest,
		};
		read->last_pos = known && policy->last_pos(policy->arg, read->at.tag);
		item.bunch->rest = NULL;
	}
}

/** Read up to n directories ourselves.  @return false when none is left. */
static bool run_own(struct bfs *bfs, unsigned n)
{
	struct bfs_batch *batch = batch_take(bfs);
	if (!batch) {
		bfs->failed = true;
		return false;
	}
	batch_fill(bfs, batch, n);
	bool any = batch->n > 0;
	if (any)
		bfs_reader_read(&bfs->reader, batch);
	deliver(bfs, batch);
	return any;
}

/** Have the workers supplied, but for one directory, which is the owner's.  @return 0, or -1. */
static int supply_workers(struct bfs *bfs)
{
	unsigned workers = bfs->stats.threads - 1, most = workers * QUEUED_BATCHES;
	while (bfs->under_way < most && bfs->frontier.waiting > 1 && !bfs->ended) {
		/* Share what waits: a small frontier must not go to one thread. */
		uint64_t share = bfs->frontier.waiting / (most + 1) + 1;
		struct bfs_batch *batch = batch_take(bfs);
		if (!batch) {
			bfs->failed = true;
			return -1;
		}
		batch_fill(bfs, batch, share < bfs->batch ? (unsigned)share : bfs->batch);
		if (batch->n == 0) {
			batch_put(bfs, batch);
			break;
		}
		bfs_pool_put(bfs->pool, batch);
		++bfs->under_way;
	}
	return 0;
}

/**
 * Supply the workers, read a few directories ourselves, and take in what the
 * workers have done: the owner waits only when nothing else is left to do.
 *
 * @return false at the end.
 */
static bool run_shared(struct bfs *bfs)
{
	if (supply_workers(bfs) != 0)
		return false;
	bool own = run_own(bfs, OWN_BATCH);
	if (!own && bfs->under_way == 0)
		return false;
	while (bfs->under_way > 0) {
		struct bfs_batch *batch = bfs_pool_get(bfs->pool, !own);
		if (!batch)
			break;
		--bfs->under_way;
		deliver(bfs, batch);
		own = true;
	}
	return true;
}

/** Start the workers, if the frontier is large, or a directory: as many as descriptors allow. */
static void start_workers(struct bfs *bfs)
{
	if (bfs->pool || bfs->threads <= 1
	    || (bfs->frontier.waiting < THREADS_FROM && bfs->stats.dirs < THREADS_AFTER && !bfs->divided))
		return;
	/* What is being read has at most half of them. */
	unsigned most = bfs->max_fds / 2 / QUEUED_BATCHES;
	unsigned threads = bfs->threads < most / LEAST_BATCH ? bfs->threads : most / LEAST_BATCH;
	if (threads <= 1) {
		bfs->threads = 1;
		return;
	}
	bfs->batch = most / threads < BFS_BATCH ? most / threads : BFS_BATCH;
	os_grow_fds(bfs->os, bfs->root->fd, bfs->max_fds);
	unsigned workers = threads - 1, left = bfs->max_fds - threads * QUEUED_BATCHES * bfs->batch;
	unsigned closing = left / 4 / workers < BFS_CLOSING ? left / 4 / workers : BFS_CLOSING;
	bfs->pool = bfs_pool_new(bfs->os, bfs->policy, workers, closing);
	if (bfs->pool) {
		bfs->stats.threads = threads;
		bfs->max_fds = left - workers * closing;
	} else {
		bfs->threads = 1;
	}
}

int bfs_step(struct bfs *bfs)
{
	start_workers(bfs);
	bool more = bfs->pool ? run_shared(bfs) : run_own(bfs, 1);
	if (more && !bfs->ended && !bfs->failed)
		return 2;
	batches_drain(bfs);
	if (bfs->failed) {
		errno = ENOMEM;
		return -1;
	}
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
