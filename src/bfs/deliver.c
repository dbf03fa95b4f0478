/* SPDX-License-Identifier: MIT */
/*
 * What was read, taken in by the owner: children are queued, entries judged, descriptors kept
 * or closed, and the policy informed.
 */
#include "bfs/bfs_impl.h"

#include <errno.h>
#include <string.h>

enum {
	PAUSED_SHARE = 8,     /* of the descriptors, for directories read in part */
	RETRIES = 12,         /* of a directory, with half the descriptors each time */
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

/* It is opened with O_PATH first, which touches nothing. */
int bfs_push_start(struct bfs *bfs, struct bfs_dir *in, const char *path, uint32_t tag,
                   enum bfs_queue queue, int depth)
{
	struct bfs_dir *dir = bfs_dir_new(in, path, tag, depth - 1);
	if (!dir)
		return -1;
	dir->refs = 1;
	int rc = bfs_push_one(bfs, dir, ".", tag, queue, 0, false) ? 0 : -1;
	bfs_dir_unref(bfs, dir);
	return rc;
}

/** Queue a directory that the policy opened. */
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
	struct bfs_bunch *bunch = bfs_push_one(bfs, dir, ".", enter->tag, enter->queue, 0, false);
	if (bunch) {
		bunch->resume = true;
		++dir->busy;
		++bfs->paused;
		++bfs->stats.dirs;
	}
	bfs_dir_unref(bfs, dir);
	return bunch ? 0 : -1;
}

/** The directory that was read, for what waits in it; with a reference. */
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
		bunch->kids[i] = (struct bfs_kid){
			.mtime = kids[i].mtime,
			.name = (uint32_t)(kids[i].name - names),
			.tag = kids[i].tag,
		};
	bunch->tag = dir->tag;
	bunch->mixed = read->mixed;
	bunch->queue = read->item.bunch->queue;
	bfs_frontier_push(&bfs->frontier, bunch, false);
	return 0;
}

/** Judge what the workers left to the owner. */
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

/** Queue the rest of a directory.  @rest  Entries that wait; taken over. */
static void push_rest(struct bfs *bfs, const struct bfs_read *read, struct bfs_dir *dir,
                      struct bfs_window *rest, bool in_front)
{
	enum bfs_queue queue = (enum bfs_queue)read->item.bunch->queue;
	struct bfs_bunch *bunch = bfs_push_one(bfs, dir, ".", dir->tag, queue, 0, in_front);
	if (!bunch) {
		window_free(rest);
		bfs->failed = true;
		return;
	}
	bunch->resume = true;
	bunch->rest = rest;
	++dir->busy;
	++bfs->paused;
}

/** Queue the rest of a directory that was read in part, and its portions. */
static void deliver_pause(struct bfs *bfs, struct bfs_read *read, struct bfs_dir *dir)
{
	/* While it is read in parts, its descriptor holds the position. */
	bool was = read->item.bunch->resume;
	dir->busy -= was;
	bfs->paused -= was;
	/* Depth-first, what was found in it is read before its rest, so that little waits;
	   but each such rest keeps a descriptor, and its waiting entries would add to it. */
	bool last = bfs->policy->order == BFS_DEPTH && !read->rest
	            && bfs->paused < bfs->max_fds / PAUSED_SHARE;
	bool breadth = bfs->policy->order == BFS_BREADTH;
	if (read->paused) {
		push_rest(bfs, read, dir, read->rest, last || breadth);
		read->rest = NULL;
	}
	for (struct bfs_window *portion; (portion = window_pop(&read->portions));) {
		push_rest(bfs, read, dir, portion, breadth);
		bfs->divided = true;
	}
}

/** Enter what done() wants entered. */
static int deliver_enter(struct bfs *bfs, struct bfs_dir *in, const struct bfs_at *at,
                         const struct bfs_enter *enter)
{
	if (enter->opened)
		return push_opened(bfs, in, at, enter);
	return bfs_push_start(bfs, in, at->dir, enter->tag, enter->queue, at->depth);
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
		if (!bfs_push_one(bfs, bunch->dir, at.dir, at.tag, bunch->queue, bunch->retry + 1u,
		                  true))
			bfs->failed = true;
		return;
	}

	if (read->opened && !bunch->resume)
		++bfs->stats.dirs;
	bfs->stats.entries += read->entries;
	bfs_frontier_learn(&bfs->frontier, &read->item, read->found);
	deliver_judges(bfs, batch, read);
	const struct bfs_policy *policy = bfs->policy;
	if (read->nout > 0 && policy->bulk && policy->bulk->deliver)
		policy->bulk->deliver(policy->arg, &at, batch->output.dir.data + read->out,
		                      read->nout);
	struct bfs_enter enter = {0};
	at.parentfd = read->parentfd;
	at.opened = read->opened;
	if (read->verdict == BFS_END_ALL
	    || policy->done(policy->arg, &at, read->entries, read->error, &enter) == BFS_END_ALL)
		bfs->ended = true;
	if (enter.enter && deliver_enter(bfs, bunch->dir, &at, &enter) != 0)
		bfs->failed = true;

	if (read->nkids > 0 && !policy->wanted(policy->arg, at.tag)) {
		bfs->stats.dropped += read->nkids;
		read->nkids = 0;
	}
	bool more = read->nkids > 0 || read->ncrosses > 0 || read->paused || read->portions;
	if (!bunch->resume && (bfs->ended || read->fd < 0 || !more)) {
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
		if (bfs_push_start(bfs, dir, batch->names.data + cross->name, cross->tag,
		                   cross->queue,
		               dir->depth + 1) != 0)
			bfs->failed = true;
	}
	deliver_pause(bfs, read, dir);
	bfs_dir_unref(bfs, dir);
}

void bfs_deliver(struct bfs *bfs, struct bfs_batch *batch)
{
	/* Without memory for a name, offsets into names are wrong. */
	bfs->failed |= batch->failed;
	const struct bfs_bulk *bulk = bfs->policy->bulk;
	assert(batch->state == BATCH_READ || batch->n == 0);
	if (bulk && bulk->batch_done && !bfs->ended && !bfs->failed)
		bulk->batch_done(bfs->policy->arg, &batch->output);
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

