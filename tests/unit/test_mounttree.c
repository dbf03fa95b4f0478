/* SPDX-License-Identifier: MIT */
/* The tree of mounts, from made tables. */
#include "unit.h"

#include "mounttree.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A record by its IDs and its point. */
static struct mount record(uint64_t id, uint64_t parent, const char *point)
{
	return (struct mount){
		.key = id,
		.parent_key = parent,
		.id = (uint32_t)id,
		.parent_id = (uint32_t)parent,
		.point = point,
		.root = "/",
		.dev_minor = (uint32_t)id,
	};
}

static bool is(const struct mtree *tree, uint64_t key, enum mt_state state)
{
	return tree->nodes[mtree_find(tree, key)].states & 1u << state;
}

/** Make a tree and compute the states.  @root  The node of the root, or MT_NONE. */
static void judge(struct mtree *tree, const struct mount *mounts, size_t n, uint64_t root_id,
                  uint32_t root, const char *prefix)
{
	CU_ASSERT_EQUAL_FATAL(mtree_init(tree, mounts, n, root_id), 0);
	CU_ASSERT_EQUAL(mtree_judge(tree, root, prefix), 0);
}

/** The key of the mount that covers a mount; 0: none. */
static uint64_t coverer(const struct mtree *tree, uint64_t key)
{
	uint32_t by = tree->nodes[mtree_find(tree, key)].covered_by;
	return by == MT_NONE ? 0 : tree->nodes[by].mount->key;
}

/** Every node is in the order once, after its parent. */
static void check_order(const struct mtree *tree)
{
	bool *seen = calloc(tree->count + 1, sizeof(*seen));
	CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t node = tree->order[i], parent = tree->nodes[node].parent;
		CU_ASSERT_FALSE(seen[node]);
		CU_ASSERT_TRUE(parent == MT_NONE || seen[parent]);
		seen[node] = true;
	}
	free(seen);
}

static void test_leaf_and_internal(void)
{
	/* In an order that is not topological, as after moves. */
	const struct mount mounts[] = {
		record(5, 3, "/a/b/c"), record(3, 1, "/a"), record(1, 1, "/"),
		record(4, 1, "/d"),     record(6, 3, "/a/e"),
	};
	struct mtree tree;
	CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, mounts, 5, 0), 0);
	check_order(&tree);
	uint32_t root = mtree_find(&tree, 1), a = mtree_find(&tree, 3);
	CU_ASSERT_FALSE(mtree_is_leaf(&tree, root));
	CU_ASSERT_FALSE(mtree_is_leaf(&tree, a));
	CU_ASSERT_TRUE(mtree_is_leaf(&tree, mtree_find(&tree, 5)));
	CU_ASSERT_EQUAL(tree.nodes[mtree_find(&tree, 5)].depth, 2);
	CU_ASSERT_EQUAL(tree.waiting, 5);

	/* Naming the last mount of a node makes it a LEAF, and so on upwards. */
	mtree_settle(&tree, mtree_find(&tree, 5));
	CU_ASSERT_FALSE(mtree_is_leaf(&tree, a));
	mtree_settle(&tree, mtree_find(&tree, 6));
	mtree_settle(&tree, mtree_find(&tree, 6));
	CU_ASSERT_TRUE(mtree_is_leaf(&tree, a));
	mtree_settle(&tree, a);
	CU_ASSERT_FALSE(mtree_is_leaf(&tree, root));
	mtree_settle(&tree, mtree_find(&tree, 4));
	CU_ASSERT_TRUE(mtree_is_leaf(&tree, root));
	CU_ASSERT_EQUAL(tree.waiting, 1);
	CU_ASSERT_TRUE(tree.nodes[root].has_children);
	mtree_destroy(&tree);
}

static void test_hostile_ids(void)
{
	/* A cycle of two with a tail, one that is its own tail's parent, a
	   missing parent, a duplicate: reported, each a root, none followed. */
	const struct mount mounts[] = {
		record(1, 1, "/"),     record(2, 3, "/x"),  record(3, 2, "/y"),
		record(4, 3, "/y/z"),  record(5, 99, "/o"), record(6, 5, "/o/p"),
		record(1, 1, "/twin"), record(7, 4, "/y/z/w"),
	};
	struct mtree tree;
	CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, mounts, 8, 0), 0);
	CU_ASSERT_EQUAL(tree.count, 8);
	check_order(&tree);
	CU_ASSERT_EQUAL(tree.odd, MT_ODD_CYCLE | MT_ODD_MISSING_PARENT | MT_ODD_DUPLICATE);
	CU_ASSERT_EQUAL(tree.nodes[4].odd, MT_ODD_MISSING_PARENT);
	CU_ASSERT_EQUAL(tree.nodes[6].odd, MT_ODD_DUPLICATE);
	CU_ASSERT_EQUAL(tree.nodes[1].odd | tree.nodes[2].odd, MT_ODD_CYCLE);
	/* One of the cycle is a root, the tail still hangs on it. */
	CU_ASSERT_TRUE((tree.nodes[1].parent == MT_NONE) != (tree.nodes[2].parent == MT_NONE));
	CU_ASSERT_EQUAL(tree.nodes[3].parent, 2);
	CU_ASSERT_EQUAL(tree.nodes[7].parent, 3);
	/* Depths are right also where a cycle was cut. */
	for (uint32_t i = 0; i < tree.count; ++i) {
		uint32_t parent = tree.nodes[i].parent;
		CU_ASSERT_EQUAL(tree.nodes[i].depth,
		                parent == MT_NONE ? 0 : tree.nodes[parent].depth + 1);
	}
	CU_ASSERT_EQUAL(mtree_judge(&tree, MT_NONE, "/"), 0);
	mtree_destroy(&tree);
}

static void test_stack(void)
{
	const struct mount mounts[] = {
		record(1, 1, "/"),   record(2, 1, "/s"), record(3, 2, "/s"),
		record(4, 3, "/s"),  record(5, 2, "/s/under"), record(6, 4, "/s/on"),
	};
	struct mtree tree;
	CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, mounts, 6, 0), 0);
	CU_ASSERT_EQUAL(tree.nodes[1].top, 3);
	CU_ASSERT_EQUAL(mtree_judge(&tree, 0, "/"), 0);
	CU_ASSERT_TRUE(is(&tree, 2, MT_HIDDEN) && is(&tree, 3, MT_HIDDEN));
	CU_ASSERT_FALSE(is(&tree, 4, MT_HIDDEN));
	CU_ASSERT_EQUAL(coverer(&tree, 2), 4);
	/* What sits on a covered mount is covered with it. */
	CU_ASSERT_TRUE(is(&tree, 5, MT_HIDDEN));
	CU_ASSERT_EQUAL(coverer(&tree, 5), 4);
	CU_ASSERT_FALSE(is(&tree, 6, MT_HIDDEN));
	/* Its place is to be reached all the same: the stack's name is known. */
	CU_ASSERT_FALSE(tree.nodes[1].place_hidden);
	CU_ASSERT_TRUE(tree.nodes[4].place_hidden);
	mtree_destroy(&tree);
}

static void test_covered_directory(void)
{
	/* 3 was mounted over the directory that 2 sits below; "/a-b" sorts
	   between "/a" and "/a/x", and is no directory above anything. */
	const struct mount mounts[] = {
		record(1, 1, "/"),      record(2, 1, "/a/x/m"),   record(3, 1, "/a"),
		record(4, 2, "/a/x/m/n"), record(5, 1, "/a-b/m"), record(6, 3, "/a/x"),
		record(7, 1, "/a.b"),
	};
	struct mtree tree;
	judge(&tree, mounts, 7, 0, 0, "/");
	CU_ASSERT_TRUE(is(&tree, 2, MT_HIDDEN));
	CU_ASSERT_EQUAL(coverer(&tree, 2), 3);
	CU_ASSERT_TRUE(is(&tree, 4, MT_HIDDEN));
	CU_ASSERT_EQUAL(coverer(&tree, 4), 3);
	CU_ASSERT_TRUE(!is(&tree, 3, MT_HIDDEN) && !is(&tree, 5, MT_HIDDEN)
	               && !is(&tree, 6, MT_HIDDEN) && !is(&tree, 7, MT_HIDDEN));
	mtree_destroy(&tree);

	/* All in one directory, one of them on it. */
	const struct mount below[] = {
		record(1, 1, "/"),         record(2, 1, "/srv/a/x"), record(3, 1, "/srv/a"),
		record(4, 1, "/srv/a-b"),  record(5, 1, "/srv/ab"),
	};
	judge(&tree, below, 5, 0, 0, "/");
	CU_ASSERT_TRUE(coverer(&tree, 2) == 3 && coverer(&tree, 3) == 0 && coverer(&tree, 4) == 0
	               && coverer(&tree, 5) == 0);
	mtree_destroy(&tree);
	const struct mount covered[] = {
		record(1, 1, "/"), record(2, 1, "/srv/a"), record(3, 1, "/srv/b/c"),
		record(4, 1, "/srv"),
	};
	judge(&tree, covered, 4, 0, 0, "/");
	CU_ASSERT_TRUE(coverer(&tree, 2) == 4 && coverer(&tree, 3) == 4);
	mtree_destroy(&tree);
}

static void test_covered_stack(void)
{
	/* A stack of two on a covered directory: neither covers the other for
	   anybody, least of all itself. */
	const struct mount mounts[] = {
		record(1, 1, "/"), record(2, 1, "/a/s"), record(3, 2, "/a/s"), record(4, 1, "/a"),
	};
	struct mtree tree;
	judge(&tree, mounts, 4, 0, 0, "/");
	CU_ASSERT_TRUE(is(&tree, 2, MT_HIDDEN) && is(&tree, 3, MT_HIDDEN));
	CU_ASSERT_TRUE(coverer(&tree, 2) == 4 && coverer(&tree, 3) == 4);
	mtree_destroy(&tree);
}

static void test_over_root(void)
{
	/* Mounted over "/" while the process stays below: what it sees is the
	   mount of its root, and 2 is what cannot be reached. */
	const struct mount mounts[] = {
		record(1, 1, "/"), record(2, 1, "/"), record(3, 1, "/usr"), record(4, 2, "/usr"),
	};
	struct mtree tree;
	judge(&tree, mounts, 4, 1, 0, "/");
	CU_ASSERT_TRUE(!is(&tree, 1, MT_HIDDEN) && is(&tree, 2, MT_HIDDEN)
	               && !is(&tree, 3, MT_HIDDEN) && is(&tree, 4, MT_HIDDEN));
	mtree_destroy(&tree);

	/* Not knowing the root, the top of the stack is what is seen. */
	judge(&tree, mounts, 4, 0, MT_NONE, "/");
	CU_ASSERT_TRUE(is(&tree, 1, MT_HIDDEN) && !is(&tree, 2, MT_HIDDEN));
	mtree_destroy(&tree);

	/* A root that others see another mount over is not hidden to who has it. */
	const struct mount jail[] = {
		record(1, 1, "/"), record(2, 1, "/jail"), record(3, 2, "/jail/proc"),
		       record(4, 1, "/"),
	};
	judge(&tree, jail, 4, 2, 1, "/jail");
	CU_ASSERT_TRUE(!is(&tree, 2, MT_HIDDEN) && !is(&tree, 3, MT_HIDDEN)
	               && is(&tree, 1, MT_HIDDEN));
	mtree_destroy(&tree);
}

static void test_made_root(void)
{
	/* A chroot into a plain directory of mount 77. */
	const struct mount mounts[] = {record(5, 77, "/proc"), record(6, 77, "/dev"),
	                               record(7, 6, "/dev/pts")};
	struct mtree tree;
	CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, mounts, 3, 77), 0);
	CU_ASSERT_EQUAL(tree.count, 4);
	uint32_t root = mtree_find(&tree, 77);
	CU_ASSERT_TRUE(tree.nodes[root].made);
	CU_ASSERT_EQUAL(tree.nodes[0].parent, root);
	CU_ASSERT_EQUAL(tree.nodes[root].pending, 2);
	CU_ASSERT_EQUAL(tree.odd, 0);
	mtree_destroy(&tree);
	/* Without it they are roots, and the table is odd. */
	CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, mounts, 3, 0), 0);
	CU_ASSERT_EQUAL(tree.odd, MT_ODD_MISSING_PARENT);
	mtree_destroy(&tree);
}

static void test_outside_and_deleted(void)
{
	struct mount mounts[] = {
		record(1, 1, "/"), record(2, 1, "/jail"), record(3, 2, "/jail/dev"),
		record(4, 1, "/jailer"), record(5, 2, "/jail/gone"),
	};
	mounts[4].root = "/was//deleted";
	struct mtree tree;
	judge(&tree, mounts, 5, 0, 1, "/jail");
	CU_ASSERT_TRUE(is(&tree, 1, MT_OUTSIDE));
	CU_ASSERT_FALSE(is(&tree, 2, MT_OUTSIDE));
	CU_ASSERT_FALSE(is(&tree, 3, MT_OUTSIDE));
	CU_ASSERT_TRUE(is(&tree, 4, MT_OUTSIDE));
	CU_ASSERT_TRUE(is(&tree, 5, MT_DELETED));
	CU_ASSERT_EQUAL(mtree_shown_state(&tree.nodes[4]), MT_DELETED);
	CU_ASSERT_EQUAL(mtree_shown_state(&tree.nodes[2]), MT_OK);
	mtree_destroy(&tree);
}

static void test_device_pairs(void)
{
	/* Smith's Figure 5: <device, mounted-on device>. */
	struct mount mounts[] = {
		record(1, 1, "/"), record(2, 1, "/a"), record(3, 1, "/b"), record(4, 2, "/a/c"),
	};
	mounts[2].dev_minor = mounts[1].dev_minor;
	struct mtree tree;
	CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, mounts, 4, 0), 0);
	CU_ASSERT_EQUAL_FATAL(mtree_group(&tree), 0);
	CU_ASSERT_EQUAL(tree.nodes[1].group, tree.nodes[2].group);
	CU_ASSERT_NOT_EQUAL(tree.nodes[0].group, tree.nodes[1].group);
	CU_ASSERT_NOT_EQUAL(tree.nodes[3].group, tree.nodes[1].group);
	mtree_destroy(&tree);

	/* Also where a child comes before its parent: 2 on 1 is not 2 on 2. */
	struct mount moved[] = {record(2, 1, "/a"), record(3, 2, "/a/b"), record(1, 1, "/")};
	moved[1].dev_minor = moved[0].dev_minor;
	CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, moved, 3, 0), 0);
	CU_ASSERT_EQUAL_FATAL(mtree_group(&tree), 0);
	CU_ASSERT_NOT_EQUAL(tree.nodes[0].group, tree.nodes[1].group);
	mtree_destroy(&tree);
	struct mount same[] = {record(2, 1, "/a"), record(3, 1, "/b"), record(1, 1, "/")};
	same[1].dev_minor = 1;
	CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, same, 3, 0), 0);
	CU_ASSERT_EQUAL_FATAL(mtree_group(&tree), 0);
	CU_ASSERT_NOT_EQUAL(tree.nodes[0].group, tree.nodes[1].group);
	mtree_destroy(&tree);
}

static void test_path_within(void)
{
	CU_ASSERT_TRUE(mtree_path_within("/a", "/a"));
	CU_ASSERT_TRUE(mtree_path_within("/a/b", "/a"));
	CU_ASSERT_TRUE(mtree_path_within("/a/b", "/a/"));
	CU_ASSERT_TRUE(mtree_path_within("/a", "/"));
	CU_ASSERT_FALSE(mtree_path_within("/ab", "/a"));
	CU_ASSERT_FALSE(mtree_path_within("/", "/a"));
}

static void test_empty(void)
{
	struct mtree tree;
	judge(&tree, NULL, 0, 0, MT_NONE, "/");
	CU_ASSERT_EQUAL(mtree_find(&tree, 1), MT_NONE);
	mtree_destroy(&tree);
}

static const struct unit_test tests[] = {
	{"leaf and internal", test_leaf_and_internal},
	{"hostile ids", test_hostile_ids},
	{"stack", test_stack},
	{"covered directory", test_covered_directory},
	{"covered stack", test_covered_stack},
	{"over the root", test_over_root},
	{"made root", test_made_root},
	{"outside and deleted", test_outside_and_deleted},
	{"device pairs", test_device_pairs},
	{"path within", test_path_within},
	{"empty", test_empty},
	{NULL, NULL},
};

const struct unit_suite suite_mounttree = {"mounttree", tests};
