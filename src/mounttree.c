/* SPDX-License-Identifier: MIT */
/*
 * The tree of mounts.
 *
 * Nodes are linked by mount IDs in one pass over a hash of the keys; a second pass puts parents
 * before children (tree->order).  Later passes iterate over that order instead of recursing, since
 * a table may contain a stack of 32,000 mounts.
 *
 * Invariants, asserted by mtree_check():
 *  - a node's pending is the number of its children that are not settled;
 *  - the tree's waiting is the number of nodes that are not settled;
 *  - order contains each node once, after its parent.
 *
 * Reachability by the table (Smith did not need it: in 1988 nothing could be mounted over a
 * mount).  A mount C on its parent P is at a *place*, a directory of P.
 *
 *      the place of C is hidden  if  C is stacked on the root of P, and the place of P is hidden;
 *                                or  C is elsewhere in P, and P is hidden, or another child of P
 *                                    is on a directory above C's (it was mounted later, else C
 *                                    would be *its* child)
 *      C is hidden               if  its place is hidden, or a mount is stacked on its root.
 *
 * The mount that contains the process's root is never hidden, and covers the mounts stacked on it.
 */
#include "mounttree.h"
#include "base/fail.h"
#include "base/words.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *mtree_state_name(enum mt_state state)
{
	static const char *const names[MT_NSTATES] = {
		[MT_OUTSIDE] = "outside",       [MT_LOST] = "lost",
		[MT_UNSEARCHED] = "unsearched", [MT_HIDDEN] = "hidden",
		[MT_HUNG] = "hung",             [MT_STALE] = "stale",
		[MT_DENIED] = "denied",         [MT_DELETED] = "deleted",
		[MT_UNTESTED] = "untested",     [MT_OK] = "ok",
	};
	return names[state];
}

const char *mtree_named_name(enum mt_named named)
{
	static const char *const names[] = {
		[MT_NAMED_NONE] = "none",         [MT_NAMED_KERNEL] = "kernel",
		[MT_NAMED_INFERRED] = "inferred", [MT_NAMED_WALKED] = "walked",
		[MT_NAMED_VERIFIED] = "verified",
	};
	return names[named];
}

uint32_t mtree_find(const struct mtree *tree, uint64_t key)
{
	return map64_get(&tree->by_key, key);
}

void mtree_state(struct mtree *tree, uint32_t node, enum mt_state state)
{
	tree->nodes[node].states |= 1u << state;
}

void mtree_uncover(struct mtree *tree, uint32_t node)
{
	tree->nodes[node].states &= (uint16_t)~(1u << MT_HIDDEN);
	tree->nodes[node].covered_by = MT_NONE;
}

enum mt_state mtree_shown_state(const struct mt_node *node)
{
	for (int state = 0; state < MT_NSTATES; ++state) {
		if (node->states & 1u << state)
			return (enum mt_state)state;
	}
	return MT_OK;
}

void mtree_settle(struct mtree *tree, uint32_t node)
{
	struct mt_node *n = &tree->nodes[node];
	if (n->settled)
		return;
	assert(tree->waiting > 0);
	n->settled = true;
	--tree->waiting;
	if (n->parent != MT_NONE) {
		assert(tree->nodes[n->parent].pending > 0);
		--tree->nodes[n->parent].pending;
	}
}

/** Find each node's parent by its key, and record anomalies. */
static void mtree_link_parents(struct mtree *tree, uint32_t made)
{
	for (uint32_t i = 0; i < tree->count; ++i) {
		struct mt_node *node = &tree->nodes[i];
		const struct mount *m = node->mount;
		if (i == made || m->parent_key == m->key)
			continue;
		uint32_t parent = mtree_find(tree, m->parent_key);
		if (node->odd & MT_ODD_DUPLICATE)
			continue;
		if (parent == MAP64_NONE || parent == i)
			node->odd |= MT_ODD_MISSING_PARENT;
		else
			node->parent = parent;
	}
}

/** Build the lists of children, in table order. */
static void mtree_link_children(struct mtree *tree)
{
	for (uint32_t i = 0; i < tree->count; ++i) {
		tree->nodes[i].first = MT_NONE;
		tree->nodes[i].next = MT_NONE;
		tree->nodes[i].pending = 0;
	}
	for (uint32_t i = tree->count; i-- > 0;) {
		struct mt_node *node = &tree->nodes[i];
		if (node->parent == MT_NONE)
			continue;
		struct mt_node *parent = &tree->nodes[node->parent];
		node->next = parent->first;
		parent->first = i;
		++parent->pending;
	}
}

/** Append roots and their descendants to the order, tree by tree.  @return the length of the
    order. */
static uint32_t mtree_order_trees(struct mtree *tree)
{
	uint32_t n = 0;
	for (uint32_t root = 0, done = 0; root < tree->count; ++root) {
		if (tree->nodes[root].parent != MT_NONE)
			continue;
		tree->nodes[root].depth = 0;
		tree->order[n++] = root;
		for (; done < n; ++done) {
			const struct mt_node *node = &tree->nodes[tree->order[done]];
			for (uint32_t c = node->first; c != MT_NONE; c = tree->nodes[c].next) {
				tree->nodes[c].depth = node->depth + 1;
				tree->order[n++] = c;
			}
		}
	}
	return n;
}

/** Build the order, parents before children.  A cycle is cut at its first node in the table, which
    becomes a root.  @return 0, or -1 (ENOMEM). */
static int mtree_make_order(struct mtree *tree)
{
	uint32_t n = mtree_order_trees(tree);
	if (n == tree->count)
		return 0;

	uint8_t *seen = calloc(tree->count, 1);
	if (!seen)
		return -1;
	for (uint32_t i = 0; i < n; ++i)
		seen[tree->order[i]] = 2;
	/* A node below a cycle is not part of the cycle: climb from each node until this climb
	   meets a node again, and cut there. */
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t at = i;
		while (!seen[at]) {
			seen[at] = 1;
			at = tree->nodes[at].parent;
		}
		bool cycle = seen[at] == 1;
		for (uint32_t met = i; seen[met] == 1; met = tree->nodes[met].parent)
			seen[met] = 2;
		if (cycle) {
			tree->nodes[at].parent = MT_NONE;
			tree->nodes[at].odd |= MT_ODD_CYCLE;
		}
	}
	free(seen);

	mtree_link_children(tree);
	mtree_order_trees(tree);
	return 0;
}

bool mtree_stacked(const struct mtree *tree, uint32_t child)
{
	const struct mt_node *node = &tree->nodes[child];
	if (node->parent == MT_NONE)
		return false;
	const char *point = node->mount->point, *under = tree->nodes[node->parent].mount->point;
	return point && under && strcmp(point, under) == 0;
}

/** Find the top of each stack, children first. */
static void mtree_find_tops(struct mtree *tree)
{
	for (uint32_t i = tree->count; i-- > 0;) {
		uint32_t index = tree->order[i];
		struct mt_node *node = &tree->nodes[index];
		if (node->top == MT_NONE)
			node->top = index;
		if (mtree_stacked(tree, index))
			tree->nodes[node->parent].top = node->top;
	}
}

int mtree_group(struct mtree *tree)
{
	struct map64 devs = {0}, pairs = {0};
	int rc = -1;
	if (map64_reserve(&devs, tree->count) != 0 || map64_reserve(&pairs, tree->count) != 0)
		goto out;
	/* A device is represented by its first node. */
	for (uint32_t i = 0; i < tree->count; ++i)
		map64_put(&devs, mount_dev(tree->nodes[i].mount), i);
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		/* Roots are grouped by their own device only. */
		const struct mount *on = NULL;
		if (node->parent != MT_NONE)
			on = tree->nodes[node->parent].mount;
		uint64_t below = on ? map64_get(&devs, mount_dev(on)) : MAP64_NONE;
		uint64_t above = map64_get(&devs, mount_dev(node->mount));
		tree->nodes[i].group = map64_put(&pairs, above << 32 | below, i);
	}
	rc = 0;
out:
	map64_destroy(&devs);
	map64_destroy(&pairs);
	return rc;
}

/** Whether the mount's root directory was removed: "//deleted".  No other path contains "//". */
static bool mtree_root_removed(const struct mount *mount)
{
	static const char mark[] = "//deleted";
	size_t n = mount->root ? strlen(mount->root) : 0;
	return n >= sizeof(mark) - 1 && strcmp(mount->root + n - (sizeof(mark) - 1), mark) == 0;
}

int mtree_init(struct mtree *tree, const struct mount *mounts, size_t n, uint64_t root_key)
{
	*tree = (struct mtree){0};
	if (n >= UINT32_MAX - 16)
		return fail(EOVERFLOW);
	/* One more, for a synthetic root. */
	tree->nodes = calloc(n + 1, sizeof(*tree->nodes));
	tree->order = calloc(n + 1, sizeof(*tree->order));
	if (!tree->nodes || !tree->order || map64_reserve(&tree->by_key, n + 1) != 0)
		goto fail;

	for (size_t i = 0; i <= n; ++i) {
		struct mt_node *node = &tree->nodes[i];
		*node = (struct mt_node){
			.parent = MT_NONE,
			.first = MT_NONE,
			.next = MT_NONE,
			.top = MT_NONE,
			.covered_by = MT_NONE,
		};
		if (i < n) {
			node->mount = &mounts[i];
			if (map64_put(&tree->by_key, mounts[i].key, (uint32_t)i) != i)
				node->odd |= MT_ODD_DUPLICATE;
		}
	}
	tree->count = (uint32_t)n;

	uint32_t made = MT_NONE;
	if (root_key != 0 && mtree_find(tree, root_key) == MAP64_NONE) {
		made = tree->count++;
		tree->made = (struct mount){
			.key = root_key,
			.parent_key = root_key,
			.id = root_key <= UINT32_MAX ? (uint32_t)root_key : 0,
			.uniq_id = root_key > UINT32_MAX ? root_key : 0,
			.point = "/",
			.freq = -1,
			.passno = -1,
		};
		tree->nodes[made].mount = &tree->made;
		tree->nodes[made].made = true;
		map64_put(&tree->by_key, root_key, made);
	}

	mtree_link_parents(tree, made);
	mtree_link_children(tree);
	if (mtree_make_order(tree) != 0)
		goto fail;
	for (uint32_t i = 0; i < tree->count; ++i) {
		tree->nodes[i].has_children = tree->nodes[i].first != MT_NONE;
		tree->odd |= tree->nodes[i].odd;
		if (mtree_root_removed(tree->nodes[i].mount))
			mtree_state(tree, i, MT_DELETED);
	}
	mtree_find_tops(tree);
	tree->waiting = tree->count;
	mtree_check(tree);
	return 0;

fail:
	mtree_destroy(tree);
	return fail(ENOMEM);
}

void mtree_destroy(struct mtree *tree)
{
	free(tree->nodes);
	free(tree->order);
	map64_destroy(&tree->by_key);
	*tree = (struct mtree){0};
}

void mtree_check(const struct mtree *tree)
{
#ifndef NDEBUG
	uint32_t waiting = 0, n = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		uint32_t pending = 0;
		for (uint32_t c = node->first; c != MT_NONE; c = tree->nodes[c].next) {
			assert(tree->nodes[c].parent == i);
			pending += !tree->nodes[c].settled;
		}
		assert(node->pending == pending);
		waiting += !node->settled;
	}
	assert(tree->waiting == waiting);
	/* Walk in the order of mtree_order_trees(). */
	for (uint32_t i = 0; i < tree->count; ++i) {
		if (tree->nodes[i].parent != MT_NONE)
			continue;
		uint32_t done = n;
		assert(tree->order[n] == i);
		++n;
		for (; done < n; ++done) {
			uint32_t c = tree->nodes[tree->order[done]].first;
			for (; c != MT_NONE; c = tree->nodes[c].next, ++n)
				assert(n < tree->count && tree->order[n] == c);
		}
	}
	assert(n == tree->count);
#else
	(void)tree;
#endif
}

/* States found by the table alone. */

/**
 * Find the child of a node that is mounted on a path of n bytes.
 *
 * @places    Hashes of parent and path -> child.  Paths with the same hash have consecutive keys.
 * @key       The hash; [out] the key of the child, or a free one.
 */
static uint32_t mtree_child_at(const struct mtree *tree, const struct map64 *places, uint64_t *key,
                               uint32_t parent, const char *path, size_t n)
{
	uint32_t child;
	for (; (child = map64_get(places, *key)) != MAP64_NONE; ++*key) {
		const char *point = tree->nodes[child].mount->point;
		if (tree->nodes[child].parent == parent && strncmp(point, path, n) == 0
		    && point[n + strspn(point + n, "/")] == '\0')
			break;
	}
	return child;
}

/** Map the mount points of all nodes that are not stacked.  @return 0, or -1 (ENOMEM). */
static int mtree_map_places(const struct mtree *tree, struct map64 *places)
{
	if (map64_reserve(places, tree->count) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t parent = tree->nodes[i].parent;
		const char *point = tree->nodes[i].mount->point;
		if (parent == MT_NONE || !point || mtree_stacked(tree, i))
			continue;
		size_t n = strlen(point);
		while (n > 0 && point[n - 1] == '/')
			--n;
		uint64_t key = map64_bytes(MAP64_BYTES ^ parent, point, n);
		if (mtree_child_at(tree, places, &key, parent, point, n) == MT_NONE)
			map64_put(places, key, i);
	}
	return 0;
}

/** Find the topmost sibling that is mounted on a directory above a node's mount point. */
static uint32_t mtree_sibling_above(const struct mtree *tree, const struct map64 *places,
                                    uint32_t node)
{
	uint32_t parent = tree->nodes[node].parent;
	const char *point = tree->nodes[node].mount->point;
	uint64_t hash = MAP64_BYTES ^ parent;
	for (size_t i = 0, from = 0; point && point[i]; ++i) {
		if (point[i] != '/' || (i > 0 && point[i - 1] == '/'))
			continue;
		hash = map64_bytes(hash, point + from, i - from);
		from = i;
		uint64_t key = hash;
		uint32_t above = mtree_child_at(tree, places, &key, parent, point, i);
		if (above != MT_NONE && strcmp(tree->nodes[above].mount->point, point) != 0)
			return above;
	}
	return MT_NONE;
}

/** Mark a node as hidden by another one. */
static void mtree_hide(struct mtree *tree, uint32_t node, uint32_t by)
{
	tree->nodes[node].covered_by = by;
	mtree_state(tree, node, MT_HIDDEN);
}

/** Find the hidden nodes, parents first.  @return 0, or -1 (ENOMEM). */
static int mtree_judge_hidden(struct mtree *tree, uint32_t root)
{
	struct map64 places = {0};
	if (mtree_map_places(tree, &places) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t index = tree->order[i];
		struct mt_node *node = &tree->nodes[index];

		/* The process always sees its own root, even if a mount covers it. */
		if (index == root) {
			node->place_hidden = false;
			mtree_uncover(tree, index);
		}
		/* A mount on the node's root covers the node. */
		if (node->top != index && !node->place_hidden)
			mtree_hide(tree, index, node->top);

		for (uint32_t c = node->first; c != MT_NONE; c = tree->nodes[c].next) {
			bool stacked = mtree_stacked(tree, c);
			uint32_t by = MT_NONE;
			tree->nodes[c].place_hidden = true;
			if (stacked && index == root)
				mtree_hide(tree, c, node->top);
			else if (stacked ? node->place_hidden : node->states & 1u << MT_HIDDEN)
				mtree_hide(tree, c, node->covered_by);
			else if (!stacked
			         && (by = mtree_sibling_above(tree, &places, c)) != MT_NONE)
				mtree_hide(tree, c, tree->nodes[by].top);
			else
				tree->nodes[c].place_hidden = false;
		}
	}
	map64_destroy(&places);
	return 0;
}

int mtree_judge(struct mtree *tree, uint32_t root, const char *prefix)
{
	/* Mounts stacked on the process's root do not cover "/". */
	if (root != MT_NONE) {
		uint32_t at = root;
		tree->nodes[at].top = root;
		while (mtree_stacked(tree, at)) {
			at = tree->nodes[at].parent;
			tree->nodes[at].top = root;
		}
	}
	if (mtree_judge_hidden(tree, root) != 0)
		return -1;
	mtree_judge_outside(tree, root, prefix);
	return 0;
}

void mtree_judge_outside(struct mtree *tree, uint32_t root, const char *prefix)
{
	bool whole = !prefix || strcmp(prefix, "/") == 0;
	for (uint32_t i = 0; i < tree->count && !whole; ++i) {
		const char *point = tree->nodes[i].mount->point;
		/* The mount that contains the root may have its mount point above the prefix. */
		if (i != root && point && !word_below(point, prefix))
			mtree_state(tree, i, MT_OUTSIDE);
	}
}
