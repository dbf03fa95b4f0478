/* SPDX-License-Identifier: MIT */
/**
 * A search for mounts: the rules (walk.c) and the passes that use them
 * (pass.c).  Private to these.
 */
#ifndef GM_DISCOVER_WALK_H
#define GM_DISCOVER_WALK_H

#include "bfs.h"
#include "discover/discover_impl.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** What a thread needs to know of a mount; only `wanted` changes. */
struct walk_node {
	uint64_t key;              /* what statx shows in it */
	uint32_t old_id;
	uint32_t dev_major, dev_minor;
	bool nlink;                /* DR_NLINK may be used */
	bool unlooked;             /* DR_UNLOOKED may be used */
	bool subvol;               /* btrfs */
	bool last_pos;             /* nothing comes at K_LAST_POS */
	bool proc;                 /* its directories may wait: fstype_dir_waits() */
	bool avoids;               /* there are names in it that must not be looked at */
	uint32_t same_dev;         /* the next node of its device, MT_NONE */
	_Atomic bool wanted;       /* a directory of it is worth reading */
};

/** A name that must not even be looked at: an NFS mount's. */
struct walk_avoid {
	const char *path;
	uint32_t next;
};

struct walk {
	struct dsc *dsc;
	struct walk_node *nodes;
	struct walk_avoid *avoid;
	struct map64 avoid_by;     /* walk_avoid_key() -> first of avoid */
	uint32_t navoid;
	struct map64 by_dev_first; /* device -> first node; of identity by device */
	int round;                 /* 0, or 1 */
	bool files;                /* the pass over files */
	bool by_dev, unique, dtype, depth_bound;
	int depth;
	double until, next_tick;
	uint64_t ticks, dirs_before;
	struct bfs *bfs;
	uint64_t vanished, unread; /* of this pass: directories */
	bool limited, failed;
	_Atomic bool late;         /* a thread saw that the time is over */
	char **denied;             /* paths of directories that were refused */
	size_t ndenied, denied_size;
};

/** Fill in what the threads read of each mount.  @return 0, or -1 (ENOMEM,
    or the root cannot be looked at). */
int walk_prepare(struct walk *walk);

/** What bfs asks of a search; all but done(). */
void walk_policy(struct walk *walk, struct bfs_policy *policy);

/** Take in what was counted in a pass. */
void walk_count(struct walk *walk, const struct bfs_stats *done);

/** Whether, and in which queue, a mount that was found is to be entered. */
bool walk_enters(const struct walk *walk, uint32_t node, enum bfs_queue *queue);

/** Hide what sits below mounts that were found covered, all the way down. */
void walk_hide_below(struct walk *walk);

/** Remember a boundary that the table does not list. */
void walk_boundary(struct walk *walk, const struct bfs_at *at, const struct k_statx *st);

/** Remember a directory that was refused. */
void walk_denied(struct walk *walk, const struct bfs_at *at);

#endif
