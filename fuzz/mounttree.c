/* SPDX-License-Identifier: MIT */
/*
 * The tree of mounts, of any IDs: cycles, doubles, missing parents.
 *
 * The input: the root's ID, a prefix, then four bytes for each mount (its ID,
 * its parent's, its device, its mount point), and then, behind a byte 0xff,
 * the mounts in the order in which they are settled.
 *
 * The invariants at the head of src/mounttree.c hold at each step; what is
 * hidden is what its definition there says, found by a naive search.
 */
#include "lib/fuzz.h"

#include "base/words.h"
#include "mounttree.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MOUNTS = 40 };

/* Normal paths, such that some hold others and some only begin alike. */
static const char *const points[] = {
	"/", "/a", "/a/b", "/a/b/c", "/ab", "/a b", "/a.d", "/a/bc", "/b", "/b/a", "/a/\xff",
	"/a\x01", NULL,
	"/c/d/e/f", "/c/d", "/a/b/c/d",
};
static const char *const roots[] = {"/", "/sub", "/gone//deleted", NULL};
static const char *const prefixes[] = {"/", NULL, "/a", "/a/b", "/c/d"};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void check_lists(const struct mtree *tree)
{
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		uint32_t before = MT_NONE, children = 0, pending = 0;
		for (uint32_t c = node->first; c != MT_NONE; before = c, c = tree->nodes[c].next) {
			FUZZ_CHECK(c < tree->count && tree->nodes[c].parent == i);
			FUZZ_CHECK(before == MT_NONE || before < c);
			pending += !tree->nodes[c].settled;
			FUZZ_CHECK(++children <= tree->count);
		}
		FUZZ_CHECK(node->pending == pending && mtree_is_leaf(tree, i) == (pending == 0));
		FUZZ_CHECK(node->has_children == (children > 0));
	}
}

/** The mounts not settled, and each node's list of children. */
static void check_counts(const struct mtree *tree)
{
	uint32_t waiting = 0, hanging = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		waiting += !node->settled;
		hanging += node->parent != MT_NONE;
		FUZZ_CHECK(node->parent == MT_NONE || node->parent < tree->count);
	}
	FUZZ_CHECK(tree->waiting == waiting && hanging <= tree->count);
	check_lists(tree);
}

static void check_order(const struct mtree *tree)
{
	uint8_t seen[MAX_MOUNTS + 1] = {0};
	for (uint32_t k = 0; k < tree->count; ++k) {
		uint32_t i = tree->order[k];
		FUZZ_CHECK(i < tree->count && !seen[i]);
		seen[i] = 1;
		const struct mt_node *node = &tree->nodes[i];
		if (node->parent == MT_NONE)
			FUZZ_CHECK(node->depth == 0);
		else
			FUZZ_CHECK(seen[node->parent]
			           && node->depth == tree->nodes[node->parent].depth + 1);
	}
}

/** The first record of a key, which is what the key stands for. */
static uint32_t first_of(const struct mtree *tree, uint64_t key)
{
	for (uint32_t i = 0; i < tree->count; ++i) {
		if (tree->nodes[i].mount->key == key)
			return i;
	}
	return MT_NONE;
}

static void check_parents(const struct mtree *tree)
{
	unsigned odd = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		uint64_t key = node->mount->key, above = node->mount->parent_key;
		bool twice = first_of(tree, key) != i;
		odd |= node->odd;
		FUZZ_CHECK(mtree_find(tree, key) == first_of(tree, key));
		FUZZ_CHECK(!!(node->odd & MT_ODD_DUPLICATE) == twice);
		if (node->parent != MT_NONE)
			FUZZ_CHECK(!node->odd && node->parent == first_of(tree, above));
		else
			FUZZ_CHECK(node->made || key == above || node->odd);
		if (node->odd & MT_ODD_MISSING_PARENT)
			FUZZ_CHECK(first_of(tree, above) == MT_NONE);
	}
	FUZZ_CHECK(tree->odd == odd);
}

/** Smith's Figure 5, by comparing all with all. */
static void check_groups(const struct mtree *tree)
{
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		uint32_t first = 0;
		for (;; ++first) {
			const struct mt_node *other = &tree->nodes[first];
			if (mount_dev(other->mount) != mount_dev(node->mount)
			    || (other->parent == MT_NONE) != (node->parent == MT_NONE))
				continue;
			if (node->parent == MT_NONE
			    || mount_dev(tree->nodes[other->parent].mount)
			           == mount_dev(tree->nodes[node->parent].mount))
				break;
		}
		FUZZ_CHECK(node->group == first);
	}
}

static bool is_hidden(const struct mtree *tree, uint32_t i, uint32_t root);

static bool is_same_point(const struct mtree *tree, uint32_t a, uint32_t b)
{
	const char *p = tree->nodes[a].mount->point, *q = tree->nodes[b].mount->point;
	return p && q && strcmp(p, q) == 0;
}

/** Whether the place of a mount is hidden, by its definition. */
static bool is_place_hidden(const struct mtree *tree, uint32_t i, uint32_t root)
{
	const struct mt_node *node = &tree->nodes[i];
	uint32_t parent = node->parent;
	if (parent == MT_NONE || i == root)
		return false;
	if (is_same_point(tree, i, parent))
		return parent == root || is_place_hidden(tree, parent, root);
	if (is_hidden(tree, parent, root))
		return true;
	for (uint32_t c = tree->nodes[parent].first; c != MT_NONE; c = tree->nodes[c].next) {
		const char *above = tree->nodes[c].mount->point, *point = node->mount->point;
		if (!above || !point || is_same_point(tree, c, parent) || strcmp(above, point) == 0)
			continue;
		if (word_below(point, above))
			return true;
	}
	return false;
}

/** Whether a mount stands on the way from the root down its own stack. */
static bool is_below_root(const struct mtree *tree, uint32_t i, uint32_t root)
{
	for (uint32_t at = root; at != MT_NONE
	     && is_same_point(tree, at, root); at = tree->nodes[at].parent) {
		if (at == i)
			return true;
	}
	return false;
}

static bool is_hidden(const struct mtree *tree, uint32_t i, uint32_t root)
{
	if (is_place_hidden(tree, i, root))
		return true;
	if (i == root)
		return false;
	for (uint32_t c = tree->nodes[i].first; c != MT_NONE; c = tree->nodes[c].next) {
		if (is_same_point(tree, c, i))
			return true;
	}
	return is_below_root(tree, i, root) && i != root;
}

static void check_judged(const struct mtree *tree, uint32_t root, const char *prefix)
{
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		const char *point = node->mount->point, *sub = node->mount->root;
		bool hidden = node->states & 1u << MT_HIDDEN;
		FUZZ_CHECK(hidden == is_hidden(tree, i, root));
		FUZZ_CHECK(node->place_hidden == is_place_hidden(tree, i, root));
		FUZZ_CHECK(hidden == (node->covered_by != MT_NONE));
		FUZZ_CHECK(!hidden || (node->covered_by < tree->count && node->covered_by != i));
		/* What is seen in its place is told, not what is hidden as well. */
		FUZZ_CHECK(!hidden || !(tree->nodes[node->covered_by].states & 1u << MT_HIDDEN));
		bool outside = prefix && i != root && point && !word_below(point, prefix);
		FUZZ_CHECK(!!(node->states & 1u << MT_OUTSIDE) == outside);
		FUZZ_CHECK(!!(node->states & 1u << MT_DELETED) == (sub
		                                                   && strstr(sub, "//deleted")));
		FUZZ_CHECK(mtree_shown_state(node) == (outside ? MT_OUTSIDE : hidden ? MT_HIDDEN
		                                       : node->states ? MT_DELETED : MT_OK));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	uint64_t root_key = fuzz_byte(&in);
	root_key = root_key & 0x80 ? root_key << 32 : root_key % 32;
	const char *prefix = prefixes[fuzz_byte(&in) % COUNT(prefixes)];
	struct mount *mounts = fuzz_alloc(MAX_MOUNTS * sizeof(*mounts));
	size_t n = 0;
	while (n < MAX_MOUNTS && in.at < in.end && (uint8_t)*in.at != 0xff) {
		uint8_t bytes[4];
		for (int i = 0; i < 4; ++i)
			bytes[i] = fuzz_byte(&in);
		mounts[n++] = (struct mount){
			.key = 1 + bytes[0] % 32, .parent_key = bytes[1] % 40,
			       .dev_minor = bytes[2] & 7,
			.root = roots[bytes[2] >> 3 & 3], .point = points[bytes[3] % COUNT(points)],
		};
	}

	struct mtree tree;
	FUZZ_CHECK(mtree_init(&tree, mounts, n, root_key) == 0 && mtree_group(&tree) == 0);
	bool made = root_key != 0;
	for (size_t i = 0; i < n; ++i)
		made &= mounts[i].key != root_key;
	FUZZ_CHECK(tree.count == n + made);
	FUZZ_CHECK(!made || (tree.nodes[n].made && tree.nodes[n].parent == MT_NONE));
	check_counts(&tree);
	check_order(&tree);
	check_parents(&tree);
	check_groups(&tree);

	uint32_t root = root_key ? mtree_find(&tree, root_key) : MT_NONE;
	FUZZ_CHECK(mtree_judge(&tree, root, prefix) == 0);
	check_counts(&tree);
	check_judged(&tree, root, prefix);

	fuzz_byte(&in);
	while (in.at < in.end && tree.count) {
		uint32_t i = fuzz_byte(&in) % tree.count;
		mtree_settle(&tree, i);
		FUZZ_CHECK(tree.nodes[i].settled);
		check_counts(&tree);
	}
	mtree_destroy(&tree);
	free(mounts);
	return 0;
}
