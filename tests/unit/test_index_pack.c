/* SPDX-License-Identifier: MIT */
/* Packing of directories into clusters, on synthetic trees; and rows as bytes. */
#include "unit.h"

#include "index/build/pack.h"
#include "index/build/spill.h"

/** A tree under construction. */
struct tree {
	struct pack_dir *dirs;
	uint32_t n;
	uint64_t rows;
};

static uint64_t state;

/** A number below n. */
static uint32_t random_below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % n);
}

static uint32_t add(struct tree *tree, uint32_t parent, uint32_t rows)
{
	if ((tree->n & (tree->n - 1)) == 0) {
		size_t room = tree->n ? 2 * (size_t)tree->n : 1;
		tree->dirs = realloc(tree->dirs, room * sizeof(*tree->dirs));
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(tree->dirs);
	tree->dirs[tree->n] = (struct pack_dir){parent, rows};
	tree->rows += rows;
	return tree->n++;
}

/** Pack a tree, and check all that is promised.  @return the percentage of clusters that are filled
    by 25 % to 100 %, or have one directory that is larger.  @clusters [out] */
static double check(const struct tree *tree, uint32_t *clusters)
{
	struct pack pack;
	CU_ASSERT_EQUAL_FATAL(index_pack(tree->dirs, tree->n, &pack), 0);
	uint32_t good = 0, wrong = 0, before = 0;
	CU_ASSERT_EQUAL(pack.places[0], 0);
	CU_ASSERT_EQUAL(pack.first[pack.clusters], tree->n);
	for (uint32_t c = 0; c < pack.clusters; ++c) {
		uint64_t rows = 0;
		const uint32_t dirs = pack.first[c + 1] - pack.first[c];
		wrong += dirs == 0 || dirs > INDEX_HARD_DIRS;
		for (uint32_t slot = 0; slot < dirs; ++slot) {
			uint32_t i = pack.members[pack.first[c] + slot];
			wrong += i >= tree->n
			         || pack.places[i] != (c << INDEX_SLOT_BITS | slot);
			rows += 1 + (i < tree->n ? tree->dirs[i].rows : 0);
		}
		wrong += rows > INDEX_SOFT_ROWS && dirs > 1;
		good += rows > INDEX_SOFT_ROWS || 4 * rows >= INDEX_SOFT_ROWS
		        || 4 * dirs >= INDEX_HARD_DIRS;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	/* Slots of a cluster are in the order of a walk: parents are before their children. */
	for (uint32_t i = 1; i < tree->n; ++i) {
		index_dir own = pack.places[i], above = pack.places[tree->dirs[i].parent];
		before += index_dir_cluster(own) == index_dir_cluster(above) ? above > own
		          : false;
	}
	CU_ASSERT_EQUAL(before, 0);
	*clusters = pack.clusters;
	double percent = 100.0 * good / pack.clusters;
	pack_destroy(&pack);
	return percent;
}

/** Check a tree and free it.  @least  Percentage of good clusters. */
static void check_tree(struct tree *tree, double least)
{
	uint32_t clusters;
	double percent = check(tree, &clusters);
	uint64_t rows = tree->rows + tree->n, ideal = rows / INDEX_SOFT_ROWS;
	ideal = tree->n / INDEX_HARD_DIRS > ideal ? tree->n / INDEX_HARD_DIRS : ideal;
	unit_note("%u directories, %llu rows: %u clusters, %.1f %% good", tree->n,
	          (unsigned long long)rows, clusters, percent);
	CU_ASSERT(percent >= least);
	CU_ASSERT(clusters <= 2 * ideal + 2);
	free(tree->dirs);
	*tree = (struct tree){0};
}

UNIT_TEST(shapes)
{
	struct tree tree = {0};
	uint32_t clusters;
	/* One directory; and a chain, which cannot all be in one cluster. */
	add(&tree, 0, 0);
	CU_ASSERT_EQUAL(check(&tree, &clusters), 0);
	CU_ASSERT_EQUAL(clusters, 1);
	for (uint32_t i = 0; i < 100000; ++i)
		add(&tree, i, 9);
	check_tree(&tree, 95);
	/* A million directories in one. */
	add(&tree, 0, 5);
	for (uint32_t i = 0; i < 1000000; ++i)
		add(&tree, 0, i % 7);
	check_tree(&tree, 95);
	/* Directories that just fit, and that do not; each with small ones. */
	add(&tree, 0, 0);
	for (uint32_t i = 0; i < 300; ++i) {
		uint32_t large = add(&tree, 0, INDEX_SOFT_ROWS - 2 + i % 4);
		for (uint32_t k = 0; k < 50; ++k)
			add(&tree, large, 3);
	}
	check_tree(&tree, 95);
	/* One directory of a million objects, with a hundred empty ones. */
	uint32_t top = add(&tree, 0, 0);
	uint32_t large = add(&tree, top, 1000000);
	for (uint32_t i = 0; i < 100; ++i)
		add(&tree, large, 0);
	CU_ASSERT(check(&tree, &clusters) >= 50);
	CU_ASSERT_EQUAL(clusters, 2);
	free(tree.dirs);
}

/** Like real trees: most directories are small, few are large. */
static uint32_t usual_rows(void)
{
	uint32_t kind = random_below(1000);
	return kind < 400 ? random_below(3) : kind < 900 ? random_below(20)
	       : kind < 995 ? random_below(200) : random_below(5000);
}

UNIT_TEST(random)
{
	for (uint32_t seed = 0; seed < 40; ++seed) {
		struct tree tree = {0};
		state = seed;
		add(&tree, 0, usual_rows());
		uint32_t n = 40000 + random_below(60000), way = seed % 4;
		while (tree.n < n) {
			uint32_t near = tree.n < 50 ? tree.n : 50;
			uint32_t parent = way == 0 ? random_below(tree.n)
			                  : way == 1 ? tree.n - 1 - random_below(near)
			                  : way == 2 ? random_below(near) : (tree.n - 1) / 8;
			add(&tree, parent, usual_rows());
		}
		check_tree(&tree, 95);
	}
}

UNIT_TEST(rows_as_bytes)
{
	static const uint64_t values[] = {
		0, 1, 127, 128, 255, 256, 65535, 65536, UINT32_MAX, (uint64_t)UINT32_MAX + 1,
		INT64_MAX, (uint64_t)1 << 63, UINT64_MAX, (uint64_t)1 << 55, (uint64_t)1 << 56,
	};
	static const char name[] = "a name\xff\n";
	struct index_row row, got;
	STRBUF(text);
	for (size_t i = 0; i < 20 * COUNT(values); ++i) {
		for (size_t k = 0; k < IC_COUNT; ++k)
			row.col[k] = values[(i + k * (1 + i / COUNT(values))) % COUNT(values)];
		spill_put(&text, name, i % sizeof(name), &row);
	}
	strbuf_add(&text, "12345678", SPILL_SLACK);
	const char *at = strbuf_str(&text);
	for (size_t i = 0; i < 20 * COUNT(values); ++i) {
		size_t len;
		const char *found = spill_get(&at, &got, &len);
		CU_ASSERT_EQUAL_FATAL(len, i % sizeof(name));
		CU_ASSERT_EQUAL(memcmp(found, name, len), 0);
		for (size_t k = IC_UID; k < IC_COUNT; ++k)
			CU_ASSERT_EQUAL(got.col[k], values[(i + k * (1 + i / COUNT(values)))
			                                   % COUNT(values)]);
	}
	unit_expect(at, "12345678");
	/* A usual row is small. */
	struct k_statx st = {
		.mask = K_STATX_BASIC | K_STATX_BTIME, .mode = S_IFREG | 0644, .uid = 1000,
		.gid = 1000, .size = 54321, .blocks = 112, .nlink = 1, .ino = 12345678,
		.mtime = {1700000000, 123456789, 0}, .ctime = {1700000000, 123456789, 0},
		.atime = {1700100000, 987654321, 0}, .btime = {1700000000, 123450000, 0},
	};
	strbuf_reset(&text);
	index_row_from(&row, &st);
	spill_put(&text, "name", 4, &row);
	CU_ASSERT(text.len <= 55);
}
