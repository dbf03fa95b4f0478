/* SPDX-License-Identifier: MIT */
/**
 * The frontier of a search: bunches of directories that wait to be read.
 * Private to src/bfs*.c.
 */
#ifndef GM_BFS_FRONTIER_H
#define GM_BFS_FRONTIER_H

#include "bfs.h"

#include <stddef.h>
#include <stdint.h>

/** A directory that was entered and whose children wait, or one above it. */
struct bfs_dir {
	struct bfs_dir *newer, *older;   /* open descriptors, by age */
	uint32_t refs;             /* bunches and children */
	uint32_t busy;             /* reads under way that use fd: not to be closed */
	int fd;                    /* -1: to be opened again when needed */
	unsigned by;               /* who opened it: a worker's number; 0: the owner */
	/* What the owner writes often lies apart from what workers read. */
	char apart[64];
	struct bfs_dir *parent;    /* holds a reference; NULL for the root */
	uint32_t tag;
	int depth;                 /* -1: what a start is in */
	size_t shown;              /* length of its name in a path; 0 for the root and "." */
	char name[];               /* in parent; a start's is a path */
};

/** A directory that waits. */
struct bfs_kid {
	int64_t mtime;             /* ns; INT64_MIN if it was not looked at */
	uint32_t name;             /* offset in the bunch's names */
	uint32_t tag : 31;
	uint32_t taken : 1;
};

/** Directories of one parent that wait: opened relative to its descriptor. */
struct bfs_bunch {
	struct bfs_bunch *prev, *next;
	struct bfs_dir *dir;
	uint32_t tag;              /* of its directory */
	bool mixed;                /* children may have other tags */
	bool resume;               /* its one child is the directory itself, whose
	                              reading goes on */
	struct bulk_rest *rest;    /* with resume: what waits of it; else NULL */
	uint8_t queue;
	bool queued;
	uint8_t retry;             /* times it failed for want of descriptors */
	uint32_t count, at, left;  /* children; next in order; not taken */
	uint32_t refs;             /* the queue, the heap's entries, reads under way */
	char *names;
	struct bfs_kid kids[];
};

struct bfs_heap_entry {
	int64_t mtime;
	uint64_t serial;           /* ties: first come, first served */
	struct bfs_bunch *bunch;
	uint32_t kid;
};

/** Called when the last reference to a bunch goes, before it is freed. */
typedef void bfs_bunch_fn(void *arg, struct bfs_bunch *bunch);

struct bfs_frontier {
	bfs_bunch_fn *release;
	void *release_arg;
	enum bfs_order order;
	bool newest;
	unsigned turns, period;    /* every period-th turn is the newest's */
	unsigned tried[2], found[2];   /* by the queue's and by the newest's turns */
	struct {
		struct bfs_bunch *head, *tail;
		struct bfs_heap_entry *heap;
		size_t nheap, heap_size;
	} queues[BFS_NQUEUES];
	uint64_t waiting;          /* directories */
	uint64_t serial;
};

/** A kid taken out of the frontier. */
struct bfs_item {
	struct bfs_bunch *bunch;   /* a reference */
	uint32_t kid;
	bool newest;               /* it was the newest's turn */
};

/** Make a bunch for n kids and their names.  @return it with one reference
    (the caller's), or NULL.  Errors: ENOMEM. */
struct bfs_bunch *bfs_bunch_new(struct bfs_dir *dir, uint32_t n, size_t names_len);

/** Put a bunch in its queue: at its end, or in front.  Takes the caller's
    reference.  Cannot fail: a heap that finds no memory only costs order. */
void bfs_frontier_push(struct bfs_frontier *frontier, struct bfs_bunch *bunch, bool in_front);

/** Take the next directory.  @return false if none waits. */
bool bfs_frontier_pop(struct bfs_frontier *frontier, struct bfs_item *item);

/** Tell whether reading an item found what is searched for. */
void bfs_frontier_learn(struct bfs_frontier *frontier, const struct bfs_item *item, bool found);

/** Take all that is left of a bunch out of the queue, unread.  @return how many. */
uint32_t bfs_frontier_drop(struct bfs_frontier *frontier, struct bfs_bunch *bunch);

/** Drop a reference. */
void bfs_bunch_unref(struct bfs_frontier *frontier, struct bfs_bunch *bunch);

/** Free all that waits. */
void bfs_frontier_clear(struct bfs_frontier *frontier);

#endif
