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
#include <string.h>

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
	bool avoids;               /* it contains mount points that must not be examined: NFS */
	uint32_t next_avoid;       /* the next node with its key in walk.avoid, or MT_NONE */
	uint32_t same_dev;         /* the next node of the same device, or MT_NONE */
	_Atomic bool wanted;       /* its directories are worth reading */
};

struct walk {
	struct dsc *dsc;
	struct walk_node *nodes;
	struct map64 avoid;        /* walk_avoid_key() -> the first node that must be avoided */
	struct map64 by_dev_first; /* device -> first node; for identity by device */
	int round;                 /* 0 or 1 */
	bool files;                /* this pass examines files */
	bool dtype;                /* DR_DTYPE is used */
	double until, next_tick;
	uint64_t ticks, dirs_before;
	struct bfs *bfs;
	uint64_t vanished, unread; /* directories of this pass */
	bool limited, failed;
	_Atomic bool late;         /* a thread saw that the time is over */
	const char **denied;             /* paths of directories without permission */
	size_t ndenied, denied_size;
};

/** The key in walk.avoid of a mount and the last component of a name in it. */
static inline uint64_t walk_avoid_key(uint32_t node, const char *last)
{
	return (uint64_t)node << 32 | (uint32_t)map64_bytes(MAP64_BYTES, last, strlen(last));
}

/** Whether all of a mount is searched because of its boundaries. */
bool walk_for_boundaries(const struct walk *walk, uint32_t node);

/** Make the policy for bfs, without done(). */
void walk_policy(struct walk *walk, struct bfs_policy *policy);

/** Add the counters of a pass. */
void walk_count(struct walk *walk, const struct bfs_stats *done);

/** Whether a mount that was found is entered.  @queue [out]  Where it waits. */
bool walk_enters(const struct walk *walk, uint32_t node, enum bfs_queue *queue);

/** Mark everything below covered mounts as hidden. */
void walk_hide_below(struct walk *walk);

/** Copy the path of an entry into the discovery.  @return it; NULL: walk->failed is set. */
const char *walk_path(struct walk *walk, const struct bfs_at *at);

/** Add a boundary that the table does not list. */
void walk_boundary(struct walk *walk, const struct bfs_at *at, const struct k_statx *st);

/** Add a directory without permission. */
void walk_denied(struct walk *walk, const struct bfs_at *at);

#endif
