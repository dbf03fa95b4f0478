/* SPDX-License-Identifier: MIT */
/**
 * The tree of mounts: LEAF and INTERNAL, naming, standing.  Pure.
 *
 * Built from a table by IDs alone; names enter only where they are given, as
 * hints and as proof that a mount cannot be reached.  After Smith, section 4:
 * a node is INTERNAL while a mount below it waits for its name, and becomes a
 * LEAF the moment the last of them is settled (named, or proven unreachable).
 * Only INTERNAL nodes are worth searching; when all are LEAF, the search ends.
 */
#ifndef GM_MOUNTTREE_H
#define GM_MOUNTTREE_H

#include "base/map64.h"
#include "base/mount.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** "No node": of an index. */
#define MT_NONE UINT32_MAX

/** How a name was established; design.md section 4. */
enum mt_named {
	MT_NAMED_NONE,
	MT_NAMED_KERNEL,
	MT_NAMED_INFERRED,
	MT_NAMED_WALKED,
	MT_NAMED_VERIFIED,
};

/** Standings, strongest first; a node has a set of them (1 << state). */
enum mt_state {
	MT_OUTSIDE,
	MT_LOST,
	MT_UNSEARCHED,
	MT_HIDDEN,
	MT_HUNG,
	MT_STALE,
	MT_DENIED,
	MT_DELETED,
	MT_UNTESTED,
	MT_OK,
	MT_NSTATES,
};

/** Anomalies of the input. */
enum mt_odd {
	MT_ODD_MISSING_PARENT = 1 << 0,  /* became a root */
	MT_ODD_CYCLE          = 1 << 1,  /* its parents led back to it; became a root */
	MT_ODD_DUPLICATE      = 1 << 2,  /* its ID is another's too; kept, as a root */
};

struct mt_node {
	const struct mount *mount;
	uint32_t parent;         /* MT_NONE for a root */
	uint32_t first, next;    /* first child, next sibling; in table order */
	uint32_t top;            /* the uppermost mount stacked on this one's own
	                            root, itself if none */
	uint32_t covered_by;     /* of a hidden node: which mount; else MT_NONE */
	uint32_t pending;        /* children not settled; 0: a LEAF */
	uint32_t depth;          /* mounts between it and its root; 0 for a root */
	uint32_t group;          /* by mtree_group(): nodes of the same <device,
	                            mounted-on device>; lowest index of them */
	uint8_t odd;             /* enum mt_odd */
	uint8_t named;           /* enum mt_named */
	uint16_t states;         /* set of 1 << enum mt_state */
	bool settled;            /* named, or proven unreachable */
	bool has_children;       /* INTERNAL in the table, before any naming */
	bool place_hidden;       /* its mount point cannot be reached, by the table */
	bool made;               /* a root that no table lists */
	bool gone;               /* went away while we looked */
};

struct mtree {
	struct mt_node *nodes;   /* in table order; made roots behind */
	uint32_t count;
	uint32_t waiting;        /* nodes not settled */
	uint32_t *order;         /* all nodes, parents before children */
	struct map64 by_key;     /* key -> index */
	unsigned odd;            /* anomalies met anywhere */
	struct mount made;       /* the record of the made root */
};

/**
 * Build the tree.
 *
 * @mounts, n
 *         The records, in any order; they must outlive the tree.
 * @root_key
 *         The mount that holds the process's root, if it is known; else 0.
 *         When no record has this key, a root of that key is made, and nodes
 *         whose parent it is become its children.
 * @return 0, or -1.
 * Errors: ENOMEM; EOVERFLOW (more than 2^32 - 16 records).
 *
 * Cycles, duplicates and missing parents are noted in odd, never followed.
 * The only state that a node may have is MT_DELETED; the point names have been
 * used for `top` only where there are any.
 */
int mtree_init(struct mtree *tree, const struct mount *mounts, size_t n, uint64_t root_key);

/** Free the tree; the records are not its own. */
void mtree_destroy(struct mtree *tree);

/** Number the nodes by their pair of devices: Smith's Figure 5.
    @return 0, or -1 (ENOMEM). */
int mtree_group(struct mtree *tree);

/** The node of a key, or MT_NONE. */
uint32_t mtree_find(const struct mtree *tree, uint64_t key);

/**
 * Judge every node by the table alone: MT_HIDDEN (with covered_by) and
 * MT_OUTSIDE.  Settles nothing.
 *
 * @root
 *         The node of the process's root, MT_NONE if it is not known.
 * @prefix
 *         Mount points not at or below this directory are outside; "/" for none.
 * Linear but for a sort of each node's children.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int mtree_judge(struct mtree *tree, uint32_t root, const char *prefix);

/** The second half of that: MT_OUTSIDE alone.  For a root that is not the one
    which the points are named from, but a directory below that. */
void mtree_judge_outside(struct mtree *tree, uint32_t root, const char *prefix);

/**
 * Settle a node: its parent waits for one less, and becomes a LEAF when it
 * was the last.  Settling it again changes nothing.
 */
void mtree_settle(struct mtree *tree, uint32_t node);

/** Whether a node sits on its parent's own root, by their names. */
bool mtree_stacked(const struct mtree *tree, uint32_t node);

/** Whether a node is a LEAF: no mount directly on it waits for its name. */
static inline bool mtree_is_leaf(const struct mtree *tree, uint32_t node)
{
	return tree->nodes[node].pending == 0;
}

/** Whether IDs of a node that is there make no tree: a duplicate, a cycle. */
static inline bool mtree_contradicted(const struct mt_node *node)
{
	return !node->gone && node->odd & (MT_ODD_DUPLICATE | MT_ODD_CYCLE);
}

/** Add a state to a node. */
void mtree_state(struct mtree *tree, uint32_t node, enum mt_state state);

/** The state that is shown: the first of those a node has; MT_OK if none. */
enum mt_state mtree_shown_state(const struct mt_node *node);

/** Names, as the columns show them; "" is never returned. */
const char *mtree_state_name(enum mt_state state);
const char *mtree_named_name(enum mt_named named);

/** Whether a path is a directory itself ("/a") or something below it. */
bool mtree_path_within(const char *path, const char *dir);

#endif
