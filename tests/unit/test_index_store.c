/* SPDX-License-Identifier: MIT */
/*
 * index/store: what is written is read; changes, commits and folds, and what is left of them when
 * something fails.
 */
#include "unit.h"

#include "store_world.h"
#include "tree.h"

/** Open the index, and compare it with the world. */
static void expect_world(const struct world *w, struct os *os, int dirfd)
{
	STRBUF(expected);
	STRBUF(actual);
	struct index *index = index_open(os, dirfd, INDEX_READ);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	world_dump(w, &expected);
	CU_ASSERT_EQUAL(index_dump(index, &actual), 0);
	unit_expect(strbuf_str(&actual), strbuf_str(&expected));
	index_close(index);
}

UNIT_TEST(read)
{
	struct tree tree;
	struct os os = unit_os();
	tree_begin(&tree);
	struct world *w = world_new(1, 300, 5000, 40);
	CU_ASSERT_PTR_NULL(index_open(&os, tree.fd, INDEX_READ));
	CU_ASSERT_EQUAL(errno, ENOENT);
	CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
	expect_world(w, &os, tree.fd);
	struct index *index = index_open(&os, tree.fd, INDEX_READ);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	CU_ASSERT_EQUAL(index_clusters(index), 8);
	CU_ASSERT_EQUAL(index_info(index)->rows, 5300);
	CU_ASSERT_EQUAL(index_info(index)->dirs, 300);
	CU_ASSERT_STRING_EQUAL(index_info(index)->uuid, "1234-5678");
	CU_ASSERT_STRING_EQUAL(index_info(index)->source, "/dev/test");
	for (uint32_t i = 0; i < w->ndirs; ++i) {
		STRBUF(path);
		index_dir dir;
		CU_ASSERT_EQUAL(index_path(index, w->dirs[i].dir, index_root(index), &path), 0);
		CU_ASSERT_EQUAL(index_lookup(index, strbuf_str(&path), &dir), 0);
		CU_ASSERT_EQUAL(dir, w->dirs[i].dir);
		strbuf_puts(&path, "/x");
		CU_ASSERT(index_lookup(index, strbuf_str(&path), &dir) == -1 && errno == ENOENT);
	}
	/* A path from below the root; from beside. */
	STRBUF(path);
	const struct world_dir *d = &w->dirs[7];
	CU_ASSERT_EQUAL(index_path(index, d->dir, w->dirs[d->parent].dir, &path), 0);
	CU_ASSERT(path.len > 1 && strcmp(path.data + 1, d->name) == 0);
	CU_ASSERT(index_path(index, index_root(index), d->dir, &path) == -1 && errno == ENOENT);
	CU_ASSERT(index_remove_dir(index, d->dir) == -1 && errno == EBADF);
	index_close(index);
	free(w);
	tree_end(&tree);
}

UNIT_TEST(change)
{
	struct tree tree;
	struct os os = unit_os();
	tree_begin(&tree);
	struct world *w = world_new(2, 120, 2000, 30);
	CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
	struct index *index = index_open(&os, tree.fd, INDEX_WRITE);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	CU_ASSERT(!index_open(&os, tree.fd, INDEX_WRITE) && errno == EWOULDBLOCK);
	for (int i = 0; i < 60; ++i) {
		STRBUF(why);
		for (uint32_t n = 1 + world_random(w, 60); n > 0; --n)
			CU_ASSERT_EQUAL_FATAL(world_step(w, index), 0);
		CU_ASSERT_EQUAL_FATAL(index_commit(index), 0);
		if (i % 4 == 3)
			CU_ASSERT_EQUAL_FATAL(index_fold(index, world_random(w, 4) == 0), 0);
		expect_world(w, &os, tree.fd);
		CU_ASSERT_EQUAL(index_check(index, &why), 0);
		unit_expect(strbuf_str(&why), "");
		if (i % 7 == 6) {
			index_close(index);
			index = index_open(&os, tree.fd, INDEX_WRITE);
			CU_ASSERT_PTR_NOT_NULL_FATAL(index);
		}
	}
	index_close(index);
	free(w);
	tree_end(&tree);
}
