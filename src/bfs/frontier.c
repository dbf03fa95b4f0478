/* SPDX-License-Identifier: MIT */
/*
 * The frontier: for each queue a list of bunches, served first in first out (breadth-first) or
 * last in first out (depth-first).  If the policy wants the newest too, a heap has the same
 * directories by their time of change.  Turns alternate, so that a search costs at most twice
 * what the better of the two orders would; when the newest find less than the queue, as after
 * a copy that set every time anew, they get one turn in eight until they find more.
 *
 * Invariants (bfs_frontier_check()):
 *  - a kid is taken once; list and heap skip those that are taken;
 *  - waiting is the number of kids in the lists that are not taken, and no bunch in a list
 *    is without one;
 *  - a bunch lives while its list, a heap entry, or a read under way refers to it;
 *  - in a heap no entry comes before its parent.
 */
#include "bfs/bfs_impl.h"

#include <stdlib.h>

enum {
	PERIOD_EQUAL = 2,    /* every other turn */
	PERIOD_RARE = 8,
	LEARN_TURNS = 64,    /* of the newest, between two decisions */
};

struct bfs_bunch *bfs_bunch_new(struct bfs_dir *dir, uint32_t n, size_t names_len)
{
	struct bfs_bunch *bunch = malloc(sizeof(*bunch) + n * sizeof(*bunch->kids) + names_len);
	if (!bunch)
		return NULL;
	*bunch = (struct bfs_bunch){
		.dir = dir,
		.count = n,
		.left = n,
		.refs = 1,
	};
	bunch->names = (char *)(bunch->kids + n);
	++dir->refs;
	return bunch;
}

void bfs_bunch_unref(struct bfs_frontier *frontier, struct bfs_bunch *bunch)
{
	if (--bunch->refs > 0)
		return;
	frontier->release(frontier->release_arg, bunch);
	window_free(bunch->rest);
	free(bunch);
}

/** Whether a comes before b: the newer one, or that added first. */
static bool heap_before(const struct bfs_heap_entry *a, const struct bfs_heap_entry *b)
{
	return a->mtime != b->mtime ? a->mtime > b->mtime : a->serial < b->serial;
}

/** Place an entry at position n or above. */
static void heap_raise(struct bfs_heap_entry *heap, size_t n, struct bfs_heap_entry entry)
{
	while (n > 0 && heap_before(&entry, &heap[(n - 1) / 2])) {
		heap[n] = heap[(n - 1) / 2];
		n = (n - 1) / 2;
	}
	heap[n] = entry;
}

/** Remove the entries whose kid is taken. */
static void heap_compact(struct bfs_frontier *frontier, int q)
{
	struct bfs_heap_entry *heap = frontier->queues[q].heap;
	size_t kept = 0;
	for (size_t i = 0; i < frontier->queues[q].nheap; ++i) {
		struct bfs_heap_entry entry = heap[i];
		if (entry.bunch->kids[entry.kid].taken)
			bfs_bunch_unref(frontier, entry.bunch);
		else
			heap_raise(heap, kept++, entry);
	}
	frontier->queues[q].nheap = kept;
}

/** Add an entry; without memory it is left to the list. */
static void heap_add(struct bfs_frontier *frontier, int q, struct bfs_bunch *bunch, uint32_t kid)
{
	if (frontier->queues[q].nheap == frontier->queues[q].heap_size) {
		heap_compact(frontier, q);
		size_t size = frontier->queues[q].heap_size;
		if (frontier->queues[q].nheap >= size - size / 4) {
			size = size ? size * 2 : 256;
			struct bfs_heap_entry *bigger =
				realloc(frontier->queues[q].heap, size * sizeof(*bigger));
			if (!bigger && frontier->queues[q].nheap == frontier->queues[q].heap_size)
				return;
			if (bigger) {
				frontier->queues[q].heap = bigger;
				frontier->queues[q].heap_size = size;
			}
		}
	}
	struct bfs_heap_entry entry = {bunch->kids[kid].mtime, frontier->serial++, bunch, kid};
	++bunch->refs;
	heap_raise(frontier->queues[q].heap, frontier->queues[q].nheap++, entry);
}

/** Take the first entry. */
static struct bfs_heap_entry heap_take(struct bfs_frontier *frontier, int q)
{
	struct bfs_heap_entry *heap = frontier->queues[q].heap;
	struct bfs_heap_entry first = heap[0];
	size_t n = --frontier->queues[q].nheap;
	struct bfs_heap_entry last = heap[n];
	size_t at = 0;
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
	int q = bunch->queue;
	if (in_front) {
		bunch->next = frontier->queues[q].head;
		bunch->prev = NULL;
		if (bunch->next)
			bunch->next->prev = bunch;
		else
			frontier->queues[q].tail = bunch;
		frontier->queues[q].head = bunch;
	} else {
		bunch->prev = frontier->queues[q].tail;
		bunch->next = NULL;
		if (bunch->prev)
			bunch->prev->next = bunch;
		else
			frontier->queues[q].head = bunch;
		frontier->queues[q].tail = bunch;
	}
	bunch->queued = true;
	frontier->waiting += bunch->left;
	if (!frontier->newest || frontier->order != BFS_BREADTH)
		return;
	for (uint32_t i = 0; i < bunch->count; ++i) {
		if (bunch->kids[i].mtime != INT64_MIN)
			heap_add(frontier, q, bunch, i);
	}
}

/** Remove a bunch from its list, and drop the reference of the list. */
static void frontier_unlink(struct bfs_frontier *frontier, struct bfs_bunch *bunch)
{
	int q = bunch->queue;
	if (bunch->prev)
		bunch->prev->next = bunch->next;
	else
		frontier->queues[q].head = bunch->next;
	if (bunch->next)
		bunch->next->prev = bunch->prev;
	else
		frontier->queues[q].tail = bunch->prev;
	bunch->queued = false;
	bfs_bunch_unref(frontier, bunch);
}

/** Take one kid of a bunch; the item holds a reference. */
static void frontier_take(struct bfs_frontier *frontier, struct bfs_bunch *bunch, uint32_t kid,
                          struct bfs_item *item)
{
	bunch->kids[kid].taken = true;
	--frontier->waiting;
	++bunch->refs;
	*item = (struct bfs_item){bunch, kid, false};
	if (--bunch->left == 0 && bunch->queued)
		frontier_unlink(frontier, bunch);
}

/** Take the kid that changed last. */
static bool frontier_pop_newest(struct bfs_frontier *frontier, int q, struct bfs_item *item)
{
	while (frontier->queues[q].nheap > 0) {
		struct bfs_heap_entry first = heap_take(frontier, q);
		bool got = !first.bunch->kids[first.kid].taken;
		if (got)
			frontier_take(frontier, first.bunch, first.kid, item);
		bfs_bunch_unref(frontier, first.bunch);
		if (got)
			return true;
	}
	return false;
}

bool bfs_frontier_pop(struct bfs_frontier *frontier, struct bfs_item *item)
{
	for (int q = 0; q < BFS_NQUEUES; ++q) {
		struct bfs_bunch *bunch = frontier->order == BFS_DEPTH ? frontier->queues[q].tail
		                                                       : frontier->queues[q].head;
		if (!bunch)
			continue;
		unsigned period = frontier->period ? frontier->period : PERIOD_EQUAL;
		if (frontier->turns++ % period == 0 && frontier_pop_newest(frontier, q, item)) {
			item->newest = true;
			return true;
		}
		while (bunch->kids[bunch->at].taken)
			++bunch->at;
		frontier_take(frontier, bunch, bunch->at, item);
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
	/* The newest pay at half the yield of the queue: what they find, they find before the
	   queue reaches its level. */
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
		while (frontier->queues[q].head)
			bfs_frontier_drop(frontier, frontier->queues[q].head);
		for (size_t i = 0; i < frontier->queues[q].nheap; ++i)
			bfs_bunch_unref(frontier, frontier->queues[q].heap[i].bunch);
		free(frontier->queues[q].heap);
		frontier->queues[q].heap = NULL;
		frontier->queues[q].nheap = frontier->queues[q].heap_size = 0;
	}
}

#ifndef NDEBUG
/** Check the list of a queue.  @return the directories that wait in it. */
static uint64_t list_check(const struct bfs_frontier *frontier, int q)
{
	const struct bfs_bunch *last = NULL;
	uint64_t waiting = 0;
	for (const struct bfs_bunch *b = frontier->queues[q].head; b; last = b, b = b->next) {
		assert(b->queued && b->prev == last && b->queue == q && b->dir->refs > 0);
		assert(b->refs > 0 && b->left > 0 && b->left <= b->count - b->at);
		assert(!b->resume || (b->count == 1 && b->dir->busy > 0));
		uint32_t left = 0;
		for (uint32_t i = 0; i < b->count; ++i)
			left += !b->kids[i].taken;
		assert(left == b->left);
		waiting += left;
	}
	assert(frontier->queues[q].tail == last);
	return waiting;
}
#endif

void bfs_frontier_check(struct bfs_frontier *frontier)
{
#ifndef NDEBUG
	/* All of it at times only: it may be large. */
	uint64_t turn = ++frontier->checks, waiting = 0;
	bool any = false;
	for (int q = 0; q < BFS_NQUEUES; ++q) {
		const struct bfs_bunch *head = frontier->queues[q].head;
		assert(!head == !frontier->queues[q].tail && (!head || head->left > 0));
		any |= head != NULL;
	}
	assert(any == (frontier->waiting > 0));
	if (turn & (turn - 1))
		return;
	for (int q = 0; q < BFS_NQUEUES; ++q) {
		const struct bfs_heap_entry *heap = frontier->queues[q].heap;
		waiting += list_check(frontier, q);
		for (size_t i = 0; i < frontier->queues[q].nheap; ++i) {
			assert(heap[i].bunch->refs > 0 && heap[i].kid < heap[i].bunch->count);
			assert(i == 0 || !heap_before(&heap[i], &heap[(i - 1) / 2]));
		}
	}
	assert(waiting == frontier->waiting);
#else
	(void)frontier;
#endif
}
