/* SPDX-License-Identifier: MIT */
/*
 * The frontier: each queue has a list of bunches, processed first in first out (breadth-first) or
 * last in first out (depth-first).  If the policy also wants the newest directories first, a heap
 * contains the same directories ordered by time of change.  Turns alternate, so that a search costs
 * at most twice as much as with the better of the two orders.  When the newest find less than the
 * queue, for example after a copy that set all times anew, they get one turn in eight until they
 * find more.
 *
 * Invariants (bfs_frontier_check()):
 *  - a kid is taken once; list and heap skip taken kids;
 *  - waiting is the number of kids in the lists that are not taken, and each bunch in a list has
 *    at least one such kid;
 *  - a bunch exists as long as its list, a heap entry, or a read refers to it;
 *  - in a heap no entry sorts before its parent.
 */
#include "bfs/bfs_impl.h"

#include "base/array.h"

#include <stdlib.h>

enum {
	PERIOD_EQUAL = 2,    /* every other turn */
	PERIOD_RARE = 8,
	LEARN_TURNS = 64,    /* turns of the newest between two decisions */
};

void bfs_frontier_init(struct bfs_frontier *frontier, struct bfs *bfs, enum bfs_order order,
                       bool newest)
{
	*frontier = (struct bfs_frontier){.bfs = bfs, .order = order};
	frontier->newest = newest && order == BFS_BREADTH;
	frontier->period = PERIOD_EQUAL;
	for (int q = 0; q < BFS_NQUEUES; ++q)
		TAILQ_INIT(&frontier->queues[q].list);
}

struct bfs_bunch *bfs_bunch_new(struct bfs_dir *dir, uint32_t n, size_t names_len)
{
	struct bfs_bunch *bunch = malloc(sizeof(*bunch) + n * sizeof(*bunch->kids) + names_len);
	if (!bunch)
		return NULL;
	*bunch = (struct bfs_bunch){.dir = dir, .count = n, .left = n, .refs = 1};
	bunch->names = (char *)(bunch->kids + n);
	++dir->refs;
	return bunch;
}

void bfs_bunch_unref(struct bfs_frontier *frontier, struct bfs_bunch *bunch)
{
	if (--bunch->refs > 0)
		return;
	bfs_dir_unref(frontier->bfs, bunch->dir);
	window_free(bunch->rest);
	free(bunch);
}

/** Whether a sorts before b: the newer one, or the one added first. */
static bool heap_before(const struct bfs_heap_entry *a, const struct bfs_heap_entry *b)
{
	return a->mtime != b->mtime ? a->mtime > b->mtime : a->serial < b->serial;
}

/** Place an entry at position n or above. */
static void heap_raise(struct bfs_heap_entry *heap, size_t n, struct bfs_heap_entry entry)
{
	for (; n > 0 && heap_before(&entry, &heap[(n - 1) / 2]); n = (n - 1) / 2)
		heap[n] = heap[(n - 1) / 2];
	heap[n] = entry;
}

/** Remove the entries whose kids are taken. */
static void heap_compact(struct bfs_frontier *frontier, struct bfs_waiting *queue)
{
	size_t kept = 0;
	for (size_t i = 0; i < queue->nheap; ++i) {
		struct bfs_heap_entry entry = queue->heap[i];
		if (entry.bunch->kids[entry.kid].taken)
			bfs_bunch_unref(frontier, entry.bunch);
		else
			heap_raise(queue->heap, kept++, entry);
	}
	queue->nheap = kept;
}

/** Add an entry; if memory runs out, the kid is only in the list. */
static void heap_add(struct bfs_frontier *frontier, struct bfs_waiting *queue,
                     struct bfs_bunch *bunch, uint32_t kid)
{
	if (queue->nheap == queue->heap_size) {
		heap_compact(frontier, queue);
		if (queue->nheap >= queue->heap_size - queue->heap_size / 4
		    && !array_grow(&queue->heap, &queue->heap_size, sizeof(*queue->heap))
		    && queue->nheap == queue->heap_size)
			return;
	}
	++bunch->refs;
	heap_raise(queue->heap, queue->nheap++, (struct bfs_heap_entry){
		bunch->kids[kid].mtime, frontier->serial++, bunch, kid,
	});
}

/** Take the first entry. */
static struct bfs_heap_entry heap_take(struct bfs_waiting *queue)
{
	struct bfs_heap_entry *heap = queue->heap, first = heap[0];
	size_t n = --queue->nheap, at = 0;
	struct bfs_heap_entry last = heap[n];
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && heap_before(&heap[child + 1], &heap[child]))
			++child;
		if (!heap_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
	}
	heap[at] = last;
	return first;
}

void bfs_frontier_push(struct bfs_frontier *frontier, struct bfs_bunch *bunch, bool in_front)
{
	struct bfs_waiting *queue = &frontier->queues[bunch->queue];
	if (in_front)
		TAILQ_INSERT_HEAD(&queue->list, bunch, order);
	else
		TAILQ_INSERT_TAIL(&queue->list, bunch, order);
	bunch->queued = true;
	frontier->waiting += bunch->left;
	for (uint32_t i = 0; frontier->newest && i < bunch->count; ++i) {
		if (bunch->kids[i].mtime != INT64_MIN)
			heap_add(frontier, queue, bunch, i);
	}
}

/** Remove a bunch from its list, and drop the reference of the list. */
static void frontier_unlink(struct bfs_frontier *frontier, struct bfs_bunch *bunch)
{
	TAILQ_REMOVE(&frontier->queues[bunch->queue].list, bunch, order);
	bunch->queued = false;
	bfs_bunch_unref(frontier, bunch);
}

/** Take one kid from a bunch; the item holds a reference. */
static void frontier_take(struct bfs_frontier *frontier, struct bfs_bunch *bunch, uint32_t kid,
                          bool newest, struct bfs_item *item)
{
	bunch->kids[kid].taken = true;
	--frontier->waiting;
	++bunch->refs;
	*item = (struct bfs_item){bunch, kid, newest};
	if (--bunch->left == 0 && bunch->queued)
		frontier_unlink(frontier, bunch);
}

/** Take the most recently changed kid. */
static bool frontier_pop_newest(struct bfs_frontier *frontier, struct bfs_waiting *queue,
                                struct bfs_item *item)
{
	bool got = false;
	while (!got && queue->nheap > 0) {
		struct bfs_heap_entry first = heap_take(queue);
		got = !first.bunch->kids[first.kid].taken;
		if (got)
			frontier_take(frontier, first.bunch, first.kid, true, item);
		bfs_bunch_unref(frontier, first.bunch);
	}
	return got;
}

bool bfs_frontier_pop(struct bfs_frontier *frontier, struct bfs_item *item)
{
	for (int q = 0; q < BFS_NQUEUES; ++q) {
		struct bfs_waiting *queue = &frontier->queues[q];
		struct bfs_bunch *bunch = frontier->order == BFS_DEPTH
		                          ? TAILQ_LAST(&queue->list, bfs_bunches)
		                          : TAILQ_FIRST(&queue->list);
		if (!bunch)
			continue;
		if (frontier->turns++ % frontier->period == 0
		    && frontier_pop_newest(frontier, queue, item))
			return true;
		while (bunch->kids[bunch->at].taken)
			++bunch->at;
		frontier_take(frontier, bunch, bunch->at, false, item);
		return true;
	}
	return false;
}

void bfs_frontier_learn(struct bfs_frontier *frontier, const struct bfs_item *item, bool found)
{
	++frontier->tried[item->newest];
	frontier->found[item->newest] += found;
	if (!frontier->newest || frontier->tried[1] < LEARN_TURNS || frontier->tried[0] == 0)
		return;
	/* The newest are worthwhile at half the yield of the queue: they find mounts before the
	   queue reaches their level. */
	uint64_t newest = 2ull * (frontier->found[1] + 1) * frontier->tried[0];
	uint64_t queue = (uint64_t)(frontier->found[0] + 1) * frontier->tried[1];
	frontier->period = newest >= queue ? PERIOD_EQUAL : PERIOD_RARE;
	for (int i = 0; i < 2; ++i) {
		frontier->tried[i] /= 2;
		frontier->found[i] /= 2;
	}
}

uint32_t bfs_frontier_drop(struct bfs_frontier *frontier, struct bfs_bunch *bunch)
{
	uint32_t dropped = bunch->left;
	if (!bunch->queued)
		return 0;
	for (uint32_t i = bunch->at; i < bunch->count; ++i)
		bunch->kids[i].taken = true;
	frontier->waiting -= dropped;
	bunch->left = 0;
	frontier_unlink(frontier, bunch);
	return dropped;
}

void bfs_frontier_clear(struct bfs_frontier *frontier)
{
	for (int q = 0; q < BFS_NQUEUES; ++q) {
		struct bfs_waiting *queue = &frontier->queues[q];
		while (!TAILQ_EMPTY(&queue->list))
			bfs_frontier_drop(frontier, TAILQ_FIRST(&queue->list));
		while (queue->nheap > 0)
			bfs_bunch_unref(frontier, queue->heap[--queue->nheap].bunch);
		free(queue->heap);
		queue->heap = NULL;
		queue->heap_size = 0;
	}
}

void bfs_frontier_check(struct bfs_frontier *frontier)
{
#ifndef NDEBUG
	/* Check everything only sometimes: the frontier may be large. */
	uint64_t turn = ++frontier->checks, waiting = 0;
	bool any = false;
	for (int q = 0; q < BFS_NQUEUES; ++q)
		any |= !TAILQ_EMPTY(&frontier->queues[q].list);
	assert(any == (frontier->waiting > 0));
	if (turn & (turn - 1))
		return;
	for (int q = 0; q < BFS_NQUEUES; ++q) {
		const struct bfs_waiting *queue = &frontier->queues[q];
		const struct bfs_bunch *b;
		TAILQ_FOREACH(b, &queue->list, order) {
			uint32_t left = 0;
			assert(b->queued && b->queue == q && b->dir->refs > 0);
			assert(b->refs > 0 && b->left > 0 && b->left <= b->count - b->at);
			assert(!b->resume || (b->count == 1 && b->dir->busy > 0));
			for (uint32_t i = 0; i < b->count; ++i)
				left += !b->kids[i].taken;
			assert(left == b->left);
			waiting += left;
		}
		for (size_t i = 0; i < queue->nheap; ++i) {
			const struct bfs_heap_entry *entry = &queue->heap[i];
			assert(entry->bunch->refs > 0 && entry->kid < entry->bunch->count);
			assert(i == 0 || !heap_before(entry, &queue->heap[(i - 1) / 2]));
		}
	}
	assert(waiting == frontier->waiting);
#else
	(void)frontier;
#endif
}
