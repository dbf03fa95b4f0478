/* SPDX-License-Identifier: MIT */
/*
 * What the owner does with a batch that was read: queue children, judge entries, keep or close
 * descriptors, and inform the policy.
 */
#include "bfs/bfs_impl.h"

#include <errno.h>
#include <string.h>

enum {
	PAUSED_SHARE = 8,     /* 1/8 of the descriptors, for directories read in part */
	RETRIES = 12,         /* attempts for a directory, each with half the descriptors */
};

void bfs_batch_put(struct bfs *bfs, struct bfs_batch *batch)
{
	for (unsigned i = 0; i < batch->n; ++i) {
		struct bfs_bunch *bunch = batch->reads[i].item.bunch;
		--bunch->dir->busy;
		window_free(batch->reads[i].rest);
		window_free(batch->reads[i].portions);
		bfs_bunch_unref(&bfs->frontier, bunch);
	}
	assert(batch->state != BATCH_READING && batch->state != BATCH_SPARE);
	batch->state = BATCH_SPARE;
	batch->n = 0;
	batch->next = bfs->spare;
	bfs->spare = batch;
}

void bfs_read_close(struct bfs *bfs, struct bfs_read *read)
{
	if (!read->item.bunch->resume)
		os_close(bfs->os, read->fd);
}

struct bfs_bunch *bfs_push_one(struct bfs *bfs, struct bfs_dir *dir, const char *name,
                               uint32_t tag, enum bfs_queue queue, bool in_front)
{
	size_t n = strlen(name) + 1;
	struct bfs_bunch *bunch = bfs_bunch_new(dir, 1, n);
	if (!bunch)
		return NULL;
	memcpy(bunch->names, name, n);
	bunch->kids[0] = (struct bfs_kid){.mtime = INT64_MIN, .tag = tag};
	bunch->tag = tag;
	bunch->queue = queue;
	bfs_frontier_push(&bfs->frontier, bunch, in_front);
	return bunch;
}

/* The start is first opened with O_PATH, which accesses no file system. */
int bfs_push_start(struct bfs *bfs, struct bfs_dir *in, const char *path, uint32_t tag,
                   enum bfs_queue queue, int depth)
{
	struct bfs_dir *dir = bfs_dir_new(in, path, tag, depth - 1);
	if (!dir)
		return -1;
	dir->refs = 1;
	int rc = bfs_push_one(bfs, dir, ".", tag, queue, false) ? 0 : -1;
	bfs_dir_unref(bfs, dir);
	return rc;
}

/** Queue a directory to be read further by its descriptor.  @return false if memory ran out. */
static bool push_resume(struct bfs *bfs, struct bfs_dir *dir, uint32_t tag, enum bfs_queue queue,
                        struct bfs_window *rest, bool in_front)
{
	struct bfs_bunch *bunch = bfs_push_one(bfs, dir, ".", tag, queue, in_front);
	if (!bunch) {
		window_free(rest);
		return false;
	}
	bunch->resume = true;
	bunch->rest = rest;
	++dir->busy;
	++bfs->paused;
	return true;
}

/** Create a directory in `in` with a descriptor, which is taken over, and one reference. */
static struct bfs_dir *open_dir(struct bfs *bfs, struct bfs_dir *in, const struct bfs_at *at,
                                uint32_t tag, int fd, unsigned by)
{
	struct bfs_dir *dir = bfs_dir_new(in, at->dir, tag, at->depth);
	if (!dir) {
		os_close(bfs->os, fd);
		return NULL;
	}
	dir->refs = 1;
	bfs_dir_opened(bfs, dir, fd, by);
	return dir;
}

/** Enter the directory selected by done(). */
static bool deliver_enter(struct bfs *bfs, struct bfs_dir *in, const struct bfs_at *at,
                          const struct bfs_enter *enter)
{
	if (!enter->opened)
		return bfs_push_start(bfs, in, at->dir, enter->tag, enter->queue, at->depth) == 0;
	struct bfs_dir *dir = open_dir(bfs, in, at, enter->tag, enter->fd, 0);
	bool queued = dir && push_resume(bfs, dir, enter->tag, enter->queue, NULL, false);
	bfs->stats.dirs += queued;
	bfs_dir_unref(bfs, dir);
	return queued;
}

/** Queue the children of a directory that was read. */
static bool deliver_kids(struct bfs *bfs, const struct bfs_batch *batch,
                         const struct bfs_read *read, struct bfs_dir *dir)
{
	const struct bfs_found_kid *kids = batch->kids + read->kids;
	size_t names = kids[0].name;
	const struct bfs_found_kid *last = &kids[read->nkids - 1];
	size_t end = last->name + strlen(batch->names.data + last->name) + 1;
	struct bfs_bunch *bunch = bfs_bunch_new(dir, read->nkids, end - names);
	if (!bunch)
		return false;
	memcpy(bunch->names, batch->names.data + names, end - names);
	for (uint32_t i = 0; i < read->nkids; ++i)
		bunch->kids[i] = (struct bfs_kid){
			.mtime = kids[i].mtime,
			.name = (uint32_t)(kids[i].name - names),
			.tag = kids[i].tag,
		};
	bunch->tag = dir->tag;
	bunch->mixed = read->mixed;
	bunch->queue = read->item.bunch->queue;
	bfs_frontier_push(&bfs->frontier, bunch, false);
	return true;
}

/** Judge the entries that a worker found.  @return the number of entries to be entered. */
static unsigned deliver_judges(struct bfs *bfs, struct bfs_batch *batch, struct bfs_read *read)
{
	const struct bfs_policy *policy = bfs->policy;
	unsigned enter = 0;
	for (uint32_t i = 0; i < read->njudges; ++i) {
		struct bfs_found_entry *entry = &batch->judges[read->judges + i];
		struct bfs_at at = read->at;
		at.name = batch->names.data + entry->name;
		if (!entry->judged && read->verdict < BFS_END_DIR)
			read->verdict = policy->judge(policy->arg, &at, &entry->st, &entry->enter);
		enter += entry->enter.enter;
	}
	return enter;
}

/** Queue the rest of a directory that was read in part, and its portions. */
static void deliver_pause(struct bfs *bfs, struct bfs_read *read, struct bfs_dir *dir)
{
	/* While the directory is read in parts, its descriptor keeps the position. */
	bool was = read->item.bunch->resume;
	dir->busy -= was;
	bfs->paused -= was;
	/* Depth-first, entries found in the directory are read before its rest, so that few
	   directories wait; but each rest keeps a descriptor, and its remaining entries use
	   memory. */
	bool last = bfs->policy->order == BFS_DEPTH && !read->rest
	            && bfs->paused < bfs->max_fds / PAUSED_SHARE;
	bool breadth = bfs->policy->order == BFS_BREADTH;
	enum bfs_queue queue = (enum bfs_queue)read->item.bunch->queue;
	if (read->paused && !push_resume(bfs, dir, dir->tag, queue, read->rest, last || breadth))
		bfs->failed = true;
	read->rest = NULL;
	for (struct bfs_window *portion; (portion = window_pop(&read->portions));) {
		if (!push_resume(bfs, dir, dir->tag, queue, portion, breadth))
			bfs->failed = true;
		bfs->divided = true;
	}
}

/** Process the result of one read. */
static void deliver_read(struct bfs *bfs, struct bfs_batch *batch, struct bfs_read *read)
{
	const struct bfs_policy *policy = bfs->policy;
	struct bfs_bunch *bunch = read->item.bunch;
	struct bfs_at at = read->at;

	if ((read->error == EMFILE || read->error == ENFILE) && !read->opened
	    && bunch->retry < RETRIES) {
		bfs->max_fds = bfs->open_fds / 2 + 1;
		bfs_dirs_evict(bfs, bfs->max_fds);
		struct bfs_bunch *again = bfs_push_one(bfs, bunch->dir, at.dir, at.tag,
		                                       bunch->queue, true);
		if (again)
			again->retry = (uint8_t)(bunch->retry + 1);
		else
			bfs->failed = true;
		return;
	}

	if (read->opened && !bunch->resume)
		++bfs->stats.dirs;
	bfs->stats.entries += read->entries;
	bfs_frontier_learn(&bfs->frontier, &read->item, read->found);
	unsigned crosses = deliver_judges(bfs, batch, read);
	if (read->nout > 0 && policy->deliver)
		policy->deliver(policy->arg, &at, batch->output.dir.data + read->out, read->nout);
	struct bfs_enter enter = {0};
	at.parentfd = read->parentfd;
	at.opened = read->opened;
	if (read->verdict == BFS_END_ALL
	    || policy->done(policy->arg, &at, read->entries, read->error, &enter) == BFS_END_ALL)
		bfs->ended = true;
	if (enter.enter && !deliver_enter(bfs, bunch->dir, &at, &enter))
		bfs->failed = true;

	if (read->nkids > 0 && !policy->wanted(policy->arg, at.tag)) {
		bfs->stats.dropped += read->nkids;
		read->nkids = 0;
	}
	bool more = read->nkids > 0 || crosses > 0 || read->paused || read->portions;
	if (!bunch->resume && (bfs->ended || read->fd < 0 || !more)) {
		os_close(bfs->os, read->fd);
		return;
	}

	struct bfs_dir *dir = bunch->dir;
	if (bunch->resume)
		++dir->refs;
	else
		dir = open_dir(bfs, dir, &at, at.tag, read->fd, batch->by);
	read->fd = -1;
	if (!dir) {
		bfs->failed = true;
		return;
	}
	if (read->nkids > 0 && !deliver_kids(bfs, batch, read, dir))
		bfs->failed = true;
	for (uint32_t i = 0; i < read->njudges; ++i) {
		const struct bfs_found_entry *entry = &batch->judges[read->judges + i];
		if (entry->enter.enter
		    && bfs_push_start(bfs, dir, batch->names.data + entry->name, entry->enter.tag,
		                      entry->enter.queue, dir->depth + 1) != 0)
			bfs->failed = true;
	}
	deliver_pause(bfs, read, dir);
	bfs_dir_unref(bfs, dir);
}

void bfs_deliver(struct bfs *bfs, struct bfs_batch *batch)
{
	/* If memory for a name ran out, offsets into names are wrong. */
	bfs->failed |= batch->failed;
	const struct bfs_policy *policy = bfs->policy;
	assert(batch->state == BATCH_READ || batch->n == 0);
	if (policy->batch_done && !bfs->ended && !bfs->failed)
		policy->batch_done(policy->arg, &batch->output);
	for (unsigned i = 0; i < batch->n; ++i) {
		if (bfs->ended || bfs->failed)
			bfs_read_close(bfs, &batch->reads[i]);
		else
			deliver_read(bfs, batch, &batch->reads[i]);
	}
	for (int i = 0; i < BFS_HITS; ++i)
		bfs->stats.hits[i] += batch->scratch.hits[i];
	bfs_batch_put(bfs, batch);
	bfs_dirs_evict(bfs, bfs->max_fds);
	if (bfs->frontier.waiting > bfs->stats.peak_frontier)
		bfs->stats.peak_frontier = bfs->frontier.waiting;
}
