/* SPDX-License-Identifier: MIT */
/* The tree of mounts, from made tables. */
#include "unit.h"

#include "mounttree.h"

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

UNIT_TEST(leaf_and_internal)
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

UNIT_TEST(hostile_ids)
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

/** Mounts, and which of them cannot be seen. */
static const struct scene {
	const char *what;
	uint64_t root_id;
	uint32_t root;                /* the node of the root, or MT_NONE */
	const char *prefix;
	const char *expected;
	struct {
		uint64_t id, parent;
		const char *point, *fsroot;
	} mounts[8];
} scenes[] = {
	/* What is mounted on a covered mount is covered with it; the name of the stack is known. */
	{"stack", 0, 0, "/", "2<4 3<4 5<4*", {
		{1, 1, "/"}, {2, 1, "/s"}, {3, 2, "/s"}, {4, 3, "/s"}, {5, 2, "/s/below"},
		{6, 4, "/s/on"}}},
	/* "/a-b" sorts between "/a" and "/a/x", and is a parent of neither. */
	{"covered directory", 0, 0, "/", "2<3* 4<3*", {
		{1, 1, "/"}, {2, 1, "/a/x/m"}, {3, 1, "/a"}, {4, 2, "/a/x/m/n"}, {5, 1, "/a-b/m"},
		{6, 3, "/a/x"}, {7, 1, "/a.b"}}},
	{"one of a directory", 0, 0, "/", "2<3*", {
		{1, 1, "/"}, {2, 1, "/srv/a/x"}, {3, 1, "/srv/a"}, {4, 1, "/srv/a-b"},
		{5, 1, "/srv/ab"}}},
	{"all of a directory", 0, 0, "/", "2<4* 3<4*", {
		{1, 1, "/"}, {2, 1, "/srv/a"}, {3, 1, "/srv/b/c"}, {4, 1, "/srv"}}},
	{"stack on a covered directory", 0, 0, "/", "2<4* 3<4*", {
		{1, 1, "/"}, {2, 1, "/a/s"}, {3, 2, "/a/s"}, {4, 1, "/a"}}},
	/* The process stays below: it sees the mount of its root. */
	{"over the root", 1, 0, "/", "2<1* 4<1*", {
		{1, 1, "/"}, {2, 1, "/"}, {3, 1, "/usr"}, {4, 2, "/usr"}}},
	{"over an unknown root", 0, MT_NONE, "/", "1<2 3<2*", {
		{1, 1, "/"}, {2, 1, "/"}, {3, 1, "/usr"}, {4, 2, "/usr"}}},
	/* A root over which others see a mount is not hidden from a process that has it. */
	{"over the parent of a root", 2, 1, "/jail", "1<4 4!", {
		{1, 1, "/"}, {2, 1, "/jail"}, {3, 2, "/jail/proc"}, {4, 1, "/"}}},
	{"outside and deleted", 0, 1, "/jail", "1! 4! 5-", {
		{1, 1, "/"}, {2, 1, "/jail"}, {3, 2, "/jail/dev"}, {4, 1, "/jailer"},
		{5, 2, "/jail/gone", "/was//deleted"}}},
	{"empty", 0, MT_NONE, "/", "", {{0}}},
};

/** Text: "ID<BY" for a hidden mount, "*" if its place is too; "ID!" outside; "ID-" deleted. */
static void unseen(const struct mtree *tree, char *text)
{
	*text = '\0';
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *n = &tree->nodes[i];
		char *to = text + strlen(text);
		unsigned id = (unsigned)n->mount->key;
		if (n->states & 1u << MT_HIDDEN)
			sprintf(to, " %u<%u%s", id,
			        n->covered_by == MT_NONE
			        ? 0 : (unsigned)tree->nodes[n->covered_by].mount->key,
			        n->place_hidden ? "*" : "");
		else if (n->states & (1u << MT_OUTSIDE | 1u << MT_DELETED))
			sprintf(to, " %u%c", id, n->states & 1u << MT_OUTSIDE ? '!' : '-');
		if (n->states & 1u << MT_DELETED)
			CU_ASSERT_EQUAL(mtree_shown_state(n), MT_DELETED);
	}
}

UNIT_TEST(scenes)
{
	for (size_t i = 0; i < COUNT(scenes); ++i) {
		const struct scene *scene = &scenes[i];
		struct mount mounts[8];
		size_t n = 0;
		for (; n < 8 && scene->mounts[n].id; ++n) {
			mounts[n] = record(scene->mounts[n].id, scene->mounts[n].parent,
			                   scene->mounts[n].point);
			if (scene->mounts[n].fsroot)
				mounts[n].root = scene->mounts[n].fsroot;
		}
		struct mtree tree;
		char text[200];
		CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, mounts, n, scene->root_id), 0);
		check_order(&tree);
		CU_ASSERT_EQUAL(mtree_judge(&tree, scene->root, scene->prefix), 0);
		CU_ASSERT_EQUAL(mtree_find(&tree, 99), MT_NONE);
		unseen(&tree, text);
		unit_note("%s", scene->what);
		unit_expect(text + (*text == ' '), scene->expected);
		mtree_destroy(&tree);
	}
}

UNIT_TEST(made_root)
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

/** Which of up to 4 mounts are of one pair of Smith's Figure 5, <device, mounted-on device>. */
UNIT_TEST(device_pairs)
{
	static const struct {
		struct {
			uint64_t id, parent;
			unsigned dev;
		} mounts[4];
		bool same[4];         /* as the second */
	} rows[] = {
		{{{1, 1, 1}, {2, 1, 2}, {3, 1, 2}, {4, 2, 4}}, {false, true, true, false}},
		/* Also where a child comes before its parent: 2 on 1 is not 2 on 2. */
		{{{2, 1, 2}, {3, 2, 2}, {1, 1, 1}}, {false, true, false}},
		{{{2, 1, 2}, {3, 1, 1}, {1, 1, 1}}, {false, true, false}},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct mount mounts[4];
		size_t n = 0;
		for (; n < 4 && rows[i].mounts[n].id; ++n) {
			mounts[n] = record(rows[i].mounts[n].id, rows[i].mounts[n].parent, "/x");
			mounts[n].dev_minor = rows[i].mounts[n].dev;
		}
		struct mtree tree;
		CU_ASSERT_EQUAL_FATAL(mtree_init(&tree, mounts, n, 0), 0);
		CU_ASSERT_EQUAL_FATAL(mtree_group(&tree), 0);
		for (size_t k = 0; k < n; ++k)
			CU_ASSERT_EQUAL(tree.nodes[k].group == tree.nodes[1].group,
			                rows[i].same[k]);
		mtree_destroy(&tree);
	}
}
