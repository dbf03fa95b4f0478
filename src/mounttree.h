/* SPDX-License-Identifier: MIT */
/**
 * The tree of mounts: LEAF and INTERNAL nodes, names, states.  Pure.
 *
 * The tree is built from mount IDs.  Mount points, if the table has them, are hints, and can prove
 * that a mount is unreachable.  After Smith, section 4: a node is INTERNAL while the name of a
 * mount on it is missing, and becomes a LEAF when the last of these mounts is settled (named, or
 * proven unreachable).  Only INTERNAL nodes are searched; the search ends when all nodes are LEAF.
 */
#ifndef GM_MOUNTTREE_H
#define GM_MOUNTTREE_H

#include "base/map64.h"
#include "base/mount.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** An invalid index: no node. */
#define MT_NONE UINT32_MAX

/** How the name of a mount was established. */
enum mt_named {
	MT_NAMED_NONE,
	MT_NAMED_KERNEL,
	MT_NAMED_INFERRED,
	MT_NAMED_WALKED,
	MT_NAMED_VERIFIED,
};

/** States, strongest first; a node has a set of them (1 << state). */
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

/** Anomalies of the table. */
enum mt_odd {
	MT_ODD_MISSING_PARENT = 1 << 0,  /* became a root */
	MT_ODD_CYCLE          = 1 << 1,  /* its ancestors form a cycle, which was cut here */
	MT_ODD_DUPLICATE      = 1 << 2,  /* another mount has the same ID; became a root */
};

struct mt_node {
	const struct mount *mount;
	uint32_t parent;         /* MT_NONE for a root */
	uint32_t first, next;    /* first child, next sibling; in table order */
	uint32_t top;            /* the top of the stack of mounts on this mount's root; without
	                            mounts, this node itself */
	uint32_t covered_by;     /* the mount that hides this one, or MT_NONE */
	uint32_t pending;        /* number of children that are not settled; 0: a LEAF */
	uint32_t depth;          /* number of ancestors */
	uint32_t group;          /* from mtree_group(): the lowest index of the nodes with the same
	                            <device, mounted-on device> */
	uint8_t odd;             /* enum mt_odd */
	uint8_t named;           /* enum mt_named */
	uint16_t states;         /* set of 1 << enum mt_state */
	bool settled;            /* named, or proven unreachable */
	bool has_children;       /* INTERNAL in the table, before any naming */
	bool place_hidden;       /* according to the table the mount point cannot be reached */
	bool made;               /* a synthetic root, which the table does not list */
	bool gone;               /* unmounted during the run */
};

struct mtree {
	struct mt_node *nodes;   /* in table order, then the synthetic root */
	uint32_t count;
	uint32_t waiting;        /* number of nodes that are not settled */
	uint32_t *order;         /* all nodes, parents before children */
	struct map64 by_key;     /* key -> index */
	unsigned odd;            /* all anomalies of the nodes */
	struct mount made;       /* the record of the synthetic root */
};

/**
 * Build the tree of some records, which must remain valid as long as the tree.  Cycles, duplicates
 * and missing parents are recorded in odd and resolved.  Nodes have no state except MT_DELETED.
 *
 * @root_key
 *         The mount that contains the process's root; 0 if unknown.  If no record has this key, a
 *         synthetic root with this key becomes the parent of the nodes whose parent_key it is.
 * @return 0, or -1.  Errors: ENOMEM; EOVERFLOW (more than 2^32 - 16 records).
 */
int mtree_init(struct mtree *tree, const struct mount *mounts, size_t n, uint64_t root_key);

/** Free the tree, but not the records. */
void mtree_destroy(struct mtree *tree);

/** Assert the invariants listed in mounttree.c; does nothing if NDEBUG is defined. */
void mtree_check(const struct mtree *tree);

/** Fill in the groups: Smith's Figure 5.  @return 0, or -1 (ENOMEM). */
int mtree_group(struct mtree *tree);

/** The node with a key, or MT_NONE. */
uint32_t mtree_find(const struct mtree *tree, uint64_t key);

/**
 * Find, by the table alone, which nodes are MT_HIDDEN (and set covered_by) or MT_OUTSIDE.  Settles
 * no node.
 *
 * @root    The node of the process's root; MT_NONE if unknown.
 * @prefix  Mount points outside this directory are MT_OUTSIDE.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int mtree_judge(struct mtree *tree, uint32_t root, const char *prefix);

/** Find only which nodes are MT_OUTSIDE, if the root is below the directory that mount points are
    relative to. */
void mtree_judge_outside(struct mtree *tree, uint32_t root, const char *prefix);

/** Mark a node as settled; has no effect the second time.  Its parent becomes a LEAF if this was
    the last pending child. */
void mtree_settle(struct mtree *tree, uint32_t node);

/** Whether the mount points of a node and its parent are the same. */
bool mtree_stacked(const struct mtree *tree, uint32_t node);

/** Whether a node is a LEAF: all mounts directly on it are settled. */
static inline bool mtree_is_leaf(const struct mtree *tree, uint32_t node)
{
	return tree->nodes[node].pending == 0;
}

/** Whether the table contradicts itself about a node: its ID is duplicated, or it is in a cycle. */
static inline bool mtree_contradicted(const struct mt_node *node)
{
	return !node->gone && node->odd & (MT_ODD_DUPLICATE | MT_ODD_CYCLE);
}

/** Add a state to a node. */
void mtree_state(struct mtree *tree, uint32_t node, enum mt_state state);

/** Make a hidden node visible. */
void mtree_uncover(struct mtree *tree, uint32_t node);

/** The strongest state of a node; MT_OK if it has no state. */
enum mt_state mtree_shown_state(const struct mt_node *node);

/** Names as the columns show them. */
const char *mtree_state_name(enum mt_state state);
const char *mtree_named_name(enum mt_named named);

#endif
