/* SPDX-License-Identifier: MIT */
/**
 * A search for mounts: the rules (walk.c) and the passes (pass.c).  Private to these files.
 */
#ifndef GM_DISCOVER_WALK_H
#define GM_DISCOVER_WALK_H

#include "bfs.h"
#include "discover/discover_impl.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** The data of a mount that worker threads read; only `wanted` changes. */
struct walk_node {
	uint64_t key;              /* the mount ID that statx shows in it */
	uint32_t old_id;
	uint32_t dev_major, dev_minor;
	bool nlink;                /* DR_NLINK may be used */
	bool unlooked;             /* DR_UNLOOKED may be used */
	bool subvol;               /* btrfs */
	bool last_pos;             /* no entry comes after K_LAST_POS */
	bool proc;                 /* its directories can block: fstype_dir_waits() */
	bool avoids;               /* it contains names in walk.avoid */
	uint32_t same_dev;         /* the next node of the same device, or MT_NONE */
	_Atomic bool wanted;       /* its directories are worth reading */
};

/** A name that must not be examined: of an NFS mount. */
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
	struct map64 by_dev_first; /* device -> first node; for identity by device */
	int round;                 /* 0 or 1 */
	bool files;                /* this pass examines files */
	bool by_dev, unique, dtype, depth_bound;
	int depth;
	double until, next_tick;
	uint64_t ticks, dirs_before;
	struct bfs *bfs;
	uint64_t vanished, unread; /* directories of this pass */
	bool limited, failed;
	_Atomic bool late;         /* a thread saw that the time is over */
	char **denied;             /* paths of directories without permission */
	size_t ndenied, denied_size;
};

/** Fill walk->nodes.  @return 0, or -1 (ENOMEM, or the root cannot be examined). */
int walk_prepare(struct walk *walk);

/** Make the policy for bfs, without done(). */
void walk_policy(struct walk *walk, struct bfs_policy *policy);

/** Add the counters of a pass. */
void walk_count(struct walk *walk, const struct bfs_stats *done);

/** Whether a mount that was found is entered.  @queue [out]  Where it waits. */
bool walk_enters(const struct walk *walk, uint32_t node, enum bfs_queue *queue);

/** Mark everything below covered mounts as hidden. */
void walk_hide_below(struct walk *walk);

/** The path of an entry, to be freed by the caller.  @return it; NULL: walk->failed is set. */
char *walk_path_copy(struct walk *walk, const struct bfs_at *at);

/** Add a boundary that the table does not list. */
void walk_boundary(struct walk *walk, const struct bfs_at *at, const struct k_statx *st);

/** Add a directory without permission. */
void walk_denied(struct walk *walk, const struct bfs_at *at);

#endif
