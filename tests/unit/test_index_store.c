/* SPDX-License-Identifier: MIT */
/*
 * index/store: what is written is read; changes, commits and folds, and what is left of them when
 * something fails.
 */
#include "unit.h"

#include "fault.h"
#include "index/store/store_impl.h"
#include "store_world.h"
#include "tree.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

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
	world_begin(&tree);
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

/* Times of the journal and of the manifest, whose differences would overflow, are refused. */
UNIT_TEST(clock)
{
	static const int64_t times[] = {-1, INT64_MIN, INT64_MAX, 0};
	for (unsigned i = 0; i < COUNT(times) * 4; ++i) {
		struct tree tree;
		struct os os = unit_os();
		int64_t time = times[i / 4];
		struct world *w = world_new(1, 10, 20, 40);
		struct index *index = world_open(w, &os, &tree);
		index_dir dir = index_root(index);
		struct index_row row;
		CU_ASSERT_EQUAL(index_dir_row(index, dir, INDEX_ALL, &row), 0);
		/* The writer asserts that it stores no such time: make the bytes here. */
		struct journal_record put = {
			.type = JR_PUT_DIR, .cluster = index_dir_cluster(dir),
			.slot = index_dir_slot(dir), .row = row, .parent = INDEX_DIR_NONE,
			.name = "", .listed = i % 4 == 2 ? time : 0,
		};
		struct journal_record commit = journal_commit(&index->m.info);
		const struct journal_record synced = {.type = JR_SYNCED};
		uint64_t lsn = index->lsn;
		STRBUF(bytes);
		commit.fresh = i % 4 == 0 ? time : 0;
		commit.looked = i % 4 == 1 ? time : 0;
		index->m.info.fresh = time;
		int fd = i % 4 < 3 ? dup(index->journal)
		                   : openat(tree.fd, "manifest", O_WRONLY | O_TRUNC);
		off_t at = i % 4 < 3 ? (off_t)index->end : 0;
		if (i % 4 == 3) {
			CU_ASSERT_EQUAL(manifest_encode(&index->m, &bytes), 0);
		} else {
			journal_append(&bytes, index->m.journal, &put, ++lsn);
			journal_append(&bytes, index->m.journal, &commit, ++lsn);
			journal_append(&bytes, index->m.journal, &synced, ++lsn);
		}
		CU_ASSERT_EQUAL(pwrite(fd, bytes.data, bytes.len, at), (ssize_t)bytes.len);
		close(fd);
		index_close(index);
		index = index_open(&os, tree.fd, INDEX_READ);
		CU_ASSERT(time == 0 ? index != NULL : !index && errno == EBADMSG);
		index_close(index);
		free(w);
		tree_end(&tree);
	}
}

UNIT_TEST(change)
{
	struct tree tree;
	struct os os = unit_os();
	struct world *w = world_new(2, 120, 2000, 30);
	struct index *index = world_open(w, &os, &tree);
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

/** As many parents as a journal can name take no quadratic time. */
UNIT_TEST(parents)
{
	enum { N = 12 << 20, DISTINCT = 1 << 20 };
	struct index_cluster c = {0};
	uint64_t sum = 0;
	for (uint32_t i = 0; i < N; ++i)
		CU_ASSERT_EQUAL_FATAL(cluster_add_parent(&c, 0, INDEX_SLOTS + i % DISTINCT), 0);
	CU_ASSERT(c.nparents >= DISTINCT && c.nparents <= 4 * DISTINCT);
	struct index index = {.m = {.clusters = &c, .nclusters = 1}};
	for (uint32_t i = 0; i < DISTINCT; i += DISTINCT / 64)
		sum += cluster_has_parent(&index, 0, INDEX_SLOTS + i);
	CU_ASSERT_EQUAL(sum, 64);
	CU_ASSERT(!cluster_has_parent(&index, 0, INDEX_SLOTS + DISTINCT));
	size_t n = c.nparents;
	CU_ASSERT_EQUAL(cluster_add_parent(&c, 0, 1), 0);
	CU_ASSERT_EQUAL(cluster_add_parent(&c, 0, INDEX_DIR_NONE), 0);
	CU_ASSERT_EQUAL(cluster_add_parent(&c, 0, c.parents[n - 9]), 0);
	CU_ASSERT_EQUAL(c.nparents, n);
	free(c.parents);
}

/* Names that no object can have: of a caller, and of a journal that was not written by us. */
UNIT_TEST(names)
{
	static const struct {
		const char *name;
		size_t len;
	} rows[] = {{"", 0}, {".", 1}, {"..", 2}, {"a/b", 3}, {"/", 1}, {"a\0b", 3}};
	struct tree tree;
	struct os os = unit_os();
	struct world *w = world_new(3, 5, 20, 5);
	struct index *index = world_open(w, &os, &tree);
	index_dir root = index_root(index);
	const struct index_row row = {{0}};
	for (size_t i = 0; i <= COUNT(rows); ++i) {
		bool good = i == COUNT(rows);
		const char *name = good ? "..." : rows[i].name;
		size_t len = good ? 3 : rows[i].len;
		unit_note("row %zu", i);
		errno = EINVAL;
		CU_ASSERT_EQUAL(index_put(index, root, name, len, &row), good ? 0 : -1);
		CU_ASSERT_EQUAL(errno, EINVAL);
		for (enum journal_type type = JR_PUT; type <= JR_PUT_DIR; ++type) {
			STRBUF(bytes);
			struct journal_record got, r = {.type = type, .name = name, .len = len};
			size_t at = 0;
			CU_ASSERT_EQUAL(journal_append(&bytes, 7, &r, 1), 0);
			CU_ASSERT_EQUAL(journal_next(bytes.data, bytes.len, &at, 7, 1, &got), good);
		}
	}
	index_close(index);
	free(w);
	tree_end(&tree);
}

enum { ROUNDS = 8 };

/** Change an index: commits, and folds after some of them.
    @done [out]  The number of commits that succeeded. */
static int run_rounds(struct world *w, struct index *index, int *done)
{
	for (*done = 0; *done < ROUNDS; ) {
		if (world_steps(w, index) != 0 || index_commit(index) != 0)
			return -1;
		++*done;
		if (*done % 3 == 2 && index_fold(index, *done > 5) != 0)
			return -1;
	}
	return 0;
}

/** Let the n-th call of a kind fail while an index is changed: what is on disk stays a commit, and
    later changes work.  @return whether a call failed. */
static bool expect_kept(const struct world *start, char *const *states, int kind, uint64_t n,
                        int error)
{
	struct tree tree;
	struct os os = unit_os();
	STRBUF(why);
	struct fault fault = {FAULT_ONCE, kind, n, error, NULL, NULL};
	struct fault_count count;
	struct world *w = malloc(sizeof(*w));
	int done = 0;
	memcpy(w, start, sizeof(*w));
	world_begin(&tree);
	CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
	fault_begin(&fault, 100000);
	struct index *index = index_open(&os, tree.fd, INDEX_WRITE);
	int rc = index ? run_rounds(w, index, &done) : -1, got = errno;
	if (rc == 0 || kind == FAULT_ALLOC) {
		index_close(index);
		index = NULL;
	}
	fault_end(&count);
	unit_note("%s %d, %d commits", fault_kind_name(kind), (int)n, done);
	CU_ASSERT(rc == 0 || (got == error && count.hits > 0));
	if (!index_has(&os, tree.fd, states[done], &why)) {
		CU_FAIL("the state of the last commit");
		printf("  %s %d, %d commits: %s\n", fault_kind_name(kind), (int)n, done, why.data);
	}
	if (!index)
		CU_ASSERT(count.blocks == 0 && count.fds == 0);
	if (index) {
		CU_ASSERT_EQUAL(index_commit(index), 0);
		CU_ASSERT_EQUAL(world_steps(w, index), 0);
		CU_ASSERT_EQUAL(index_fold(index, n % 2), 0);
		expect_world(w, &os, tree.fd);
		CU_ASSERT_EQUAL(world_steps(w, index), 0);
		CU_ASSERT_EQUAL(index_commit(index), 0);
		index_close(index);
		expect_world(w, &os, tree.fd);
	}
	free(w);
	tree_end(&tree);
	return count.hits > 0;
}

UNIT_TEST(calls_fail)
{
	FAULT_OR_SKIP();
	static const struct { int kind, error; } kinds[] = {
		{OS_PWRITE, ENOSPC}, {OS_FDATASYNC, EIO}, {OS_FSYNC, ENOSPC}, {OS_OPENAT, EMFILE},
		{OS_RENAME, ENOSPC}, {OS_FTRUNCATE, EIO}, {OS_GETDENTS, EIO}, {OS_UNLINK, EROFS},
		{OS_READ, EIO}, {FAULT_ALLOC, ENOMEM},
	};
	struct world *start = world_new(3, 40, 300, 20), *w = malloc(sizeof(*w));
	char *states[ROUNDS + 1];
	memcpy(w, start, sizeof(*w));
	for (int i = 0; i <= ROUNDS; ++i) {
		states[i] = world_text(w);
		world_steps(w, NULL);
	}
	for (size_t k = 0; k < COUNT(kinds); ++k) {
		uint64_t n = 1, step = kinds[k].kind == FAULT_ALLOC ? unit_step() : 1;
		while (expect_kept(start, states, kinds[k].kind, n, kinds[k].error))
			n += step;
		CU_ASSERT(n > 1 || kinds[k].kind == OS_FTRUNCATE);
	}
	for (int i = 0; i <= ROUNDS; ++i)
		free(states[i]);
	free(start);
	free(w);
}

UNIT_TEST(build_fails)
{
	FAULT_OR_SKIP();
	static const int kinds[] = {OS_PWRITE, OS_FSYNC, OS_OPENAT, OS_RENAME, FAULT_ALLOC};
	static const char empty[] = "fresh 0, looked 0, generation 0\n";
	struct tree tree;
	struct os os = unit_os();
	struct world *old = world_new(4, 40, 300, 20), *new = world_new(5, 60, 300, 20);
	char *expected = world_text(old);
	world_begin(&tree);
	CU_ASSERT_EQUAL_FATAL(world_build(old, &os, tree.fd), 0);
	for (size_t k = 0; k < COUNT(kinds); ++k) {
		struct fault_count count = {.hits = 1};
		for (uint64_t n = 1; count.hits > 0; ++n) {
			STRBUF(why);
			struct fault fault = {FAULT_ONCE, kinds[k], n, ENOSPC, NULL, NULL};
			struct index_info info = {.uuid = "u"};
			fault_begin(&fault, 10000);
			struct index_writer *writer = index_writer_new(&os, tree.fd);
			int rc = writer ? 0 : -1;
			if (rc == 0)
				rc = index_writer_finish(writer, &info, INDEX_DIR_NONE);
			index_writer_free(writer);
			fault_end(&count);
			CU_ASSERT(count.fds == 0 && count.blocks == 0);
			bool kept = index_has(&os, tree.fd, expected, &why);
			bool made = !kept && index_has(&os, tree.fd, empty, &why);
			/* The last sync, after the rename: the new one is there. */
			CU_ASSERT(rc == 0 ? made : kept || (made && kinds[k] == OS_FSYNC));
			if (!kept)
				CU_ASSERT_EQUAL_FATAL(world_build(old, &os, tree.fd), 0);
		}
	}
	/* What is left of a build that was killed is removed by the next. */
	tree_file(&tree, "segment.999");
	tree_file(&tree, "manifest.new");
	CU_ASSERT_EQUAL(world_build(new, &os, tree.fd), 0);
	expect_world(new, &os, tree.fd);
	CU_ASSERT_EQUAL(unit_count(tree.path), 2 + 4);
	free(expected);
	free(old);
	free(new);
	tree_end(&tree);
}

/* A drop beside a writer: each is interrupted by the other, between any two kernel calls. */

static struct {
	struct os os;
	struct tree tree;
	struct world *world;
	int rc, error;            /* of the one that interrupts */
	struct index_writer *writer;
	bool ran;
} beside;

/** Build, as the command does.  @return 0, or -1. */
static int beside_build(void)
{
	os_mkdirat(&beside.os, beside.tree.fd, "ix", 0700);
	int fd = os_openat(&beside.os, beside.tree.fd, "ix", O_RDONLY | O_DIRECTORY);
	int rc = fd < 0 ? -1 : world_build(beside.world, &beside.os, fd), error = errno;
	os_close(&beside.os, fd);
	errno = error;
	return rc;
}

static int beside_drop(void)
{
	return index_drop(&beside.os, beside.tree.fd, "ix", false);
}

/** Open to write, change and commit. */
static int beside_write(void)
{
	int fd = os_openat(&beside.os, beside.tree.fd, "ix", O_RDONLY | O_DIRECTORY);
	struct index *index = fd < 0 ? NULL : index_open(&beside.os, fd, INDEX_WRITE);
	int rc = index ? index_set_fresh(index, beside.world->fresh + 1, false) : -1;
	rc = rc == 0 ? index_commit(index) : -1;
	int error = errno;
	index_close(index);
	os_close(&beside.os, fd);
	errno = error;
	return rc;
}

static void note_beside(int rc)
{
	beside.ran = true;
	beside.rc = rc;
	beside.error = errno;
}

static void hook_build(void) { note_beside(beside_build()); }
static void hook_drop(void) { note_beside(beside_drop()); }
static void hook_write(void) { note_beside(beside_write()); }

UNIT_TEST(drop)
{
	FAULT_OR_SKIP();
	static const struct {
		int (*run)(void);
		void (*hook)(void);
		bool whole, damaged;     /* at the beginning, an index exists; it is damaged */
	} rows[] = {
		{beside_drop, hook_build, true, false}, {beside_drop, hook_build, true, true},
		{beside_drop, hook_build, false, false},
		{beside_drop, hook_write, true, false}, {beside_drop, hook_drop, true, false},
		{beside_build, hook_drop, true, false}, {beside_build, hook_drop, true, true},
		{beside_build, hook_drop, false, false}, {beside_write, hook_drop, true, false},
	};
	beside.os = unit_os();
	beside.world = world_new(6, 20, 100, 10);
	for (size_t k = 0; k < COUNT(rows); ++k) {
		beside.ran = true;
		for (uint64_t n = 1; beside.ran; ++n) {
			struct fault fault = {.mode = FAULT_HOOK, .n = n, .hook = rows[k].hook};
			struct fault_count count;
			unit_note("%zu, call %llu", k, (unsigned long long)n);
			world_begin(&beside.tree);
			char ix[64], manifest[80];
			snprintf(ix, sizeof(ix), "%s/ix", beside.tree.path);
			snprintf(manifest, sizeof(manifest), "%s/manifest", ix);
			CU_ASSERT_EQUAL(mkdirat(beside.tree.fd, "ix", 0700), 0);
			if (rows[k].whole)
				CU_ASSERT_EQUAL_FATAL(beside_build(), 0);
			if (rows[k].damaged)
				CU_ASSERT_EQUAL(truncate(manifest, 9), 0);
			beside.ran = false;
			fault_begin(&fault, 100000);
			int rc = rows[k].run(), error = errno;
			fault_end(&count);
			/* One of them did its work; the other one, too, or it says why not. */
			CU_ASSERT(rc == 0 || !beside.ran || beside.rc == 0);
			CU_ASSERT(rc == 0 || error == EWOULDBLOCK || error == ENOENT);
			CU_ASSERT(!beside.ran || beside.rc == 0 || beside.error == EWOULDBLOCK
			          || beside.error == ENOENT);
			/* There is a whole index, or none and no directory. */
			int fd = openat(beside.tree.fd, "ix", O_RDONLY | O_DIRECTORY);
			struct index *index = fd < 0 ? NULL
			                      : index_open(&beside.os, fd, INDEX_READ);
			CU_ASSERT(fd < 0 || index || (rows[k].damaged && rc != 0));
			if (index) {
				STRBUF(why);
				CU_ASSERT_EQUAL(index_check(index, &why), 0);
				CU_ASSERT_EQUAL(unit_count(ix), 2 + 4);
			}
			index_close(index);
			if (fd >= 0)
				close(fd);
			tree_end(&beside.tree);
		}
	}
	free(beside.world);
}

/** Unless the index is locked: what a drop has done when another writer begins. */
static void hook_relock(void)
{
	int fd = os_openat(&beside.os, beside.tree.fd, "ix", O_RDONLY | O_DIRECTORY);
	int lock = store_lock(&beside.os, fd);
	beside.ran = true;
	if (lock >= 0) {
		unlinkat(fd, "lock", 0);
		close(lock);
		beside.writer = index_writer_new(&beside.os, fd);
	}
	close(fd);
}

UNIT_TEST(two_locks)
{
	FAULT_OR_SKIP();
	unsigned both = 0;
	beside.os = unit_os();
	beside.world = world_new(6, 20, 100, 10);
	beside.ran = true;
	for (uint64_t n = 1; beside.ran; ++n) {
		struct fault fault = {.mode = FAULT_HOOK, .n = n, .hook = hook_relock};
		struct fault_count count;
		world_begin(&beside.tree);
		CU_ASSERT_EQUAL_FATAL(beside_build(), 0);
		beside.ran = false;
		fault_begin(&fault, 100000);
		int rc = beside_write();
		fault_end(&count);
		both += rc == 0 && beside.writer;
		index_writer_free(beside.writer);
		beside.writer = NULL;
		tree_end(&beside.tree);
	}
	/* When the lock was closed, before the two directories are. */
	CU_ASSERT_EQUAL(both, 2);
	free(beside.world);
}

UNIT_TEST(readers)
{
	enum { COMMITS = 150 };
	struct shared { _Atomic uint32_t commits; } *shared;
	struct tree tree;
	struct os os = unit_os();
	struct world *w = world_new(9, 60, 500, 20), *ahead = malloc(sizeof(*ahead));
	char *states[COMMITS + 1];
	uint32_t opened = 0, seen = 0, last = 0;
	int status;
	world_begin(&tree);
	memcpy(ahead, w, sizeof(*w));
	for (int i = 0; i <= COMMITS; ++i) {
		states[i] = world_text(ahead);
		world_steps(ahead, NULL);
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	              -1, 0);
	CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct index *index = index_open(&os, tree.fd, INDEX_WRITE);
		for (uint32_t i = 1; index && i <= COMMITS; ++i) {
			if (world_steps(w, index) != 0 || index_commit(index) != 0
			    || (i % 2 == 0 && index_fold(index, i % 4 == 0) != 0))
				_exit(1);
			atomic_store(&shared->commits, i);
		}
		/* valgrind looks for leaks in this process, too. */
		index_close(index);
		free(ahead);
		free(w);
		for (int i = 0; i <= COMMITS; ++i)
			free(states[i]);
		_exit(index ? 0 : 1);
	}
	/* Each reader has a state that was the last one during its opening. */
	while (waitpid(pid, &status, WNOHANG) == 0) {
		STRBUF(dump);
		uint32_t from = atomic_load(&shared->commits);
		struct index *index = index_open(&os, tree.fd, INDEX_READ);
		uint32_t to = atomic_load(&shared->commits) + 1;
		CU_ASSERT_PTR_NOT_NULL_FATAL(index);
		/* Files that the writer has removed since are still read. */
		CU_ASSERT_EQUAL_FATAL(index_dump(index, &dump), 0);
		index_close(index);
		uint32_t i = from;
		while (i < to && (i > COMMITS || strcmp(states[i], dump.data) != 0))
			++i;
		CU_ASSERT(i <= COMMITS && strcmp(states[i], dump.data) == 0);
		++opened;
		seen += i != last;
		last = i;
	}
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CU_ASSERT(opened > 3 && seen > 1);
	for (int i = 0; i <= COMMITS; ++i)
		free(states[i]);
	munmap(shared, sizeof(*shared));
	free(ahead);
	free(w);
	tree_end(&tree);
}
