/* SPDX-License-Identifier: MIT */
/* The search and the bulk read below it, on a tree of plain directories. */
#include "unit.h"

#include "bfs.h"
#include "bfs/frontier.h"
#include "bfs/bulk.h"
#include "fault.h"
#include "os/ring.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The frontier: pure. */

static unsigned released;

static void count_release(void *arg, struct bfs_bunch *bunch)
{
	(void)arg;
	--bunch->dir->refs;
	++released;
}

/** A bunch of n kids called first, first + 1 ..., with these times. */
static struct bfs_bunch *bunch(struct bfs_dir *dir, char first, uint32_t n, const int64_t *mtimes)
{
	struct bfs_bunch *b = bfs_bunch_new(dir, n, (size_t)n * 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	for (uint32_t i = 0; i < n; ++i) {
		b->names[2 * i] = (char)(first + (char)i);
		b->names[2 * i + 1] = '\0';
		b->kids[i] = (struct bfs_kid){mtimes ? mtimes[i] : INT64_MIN, 2 * i, 0, 0};
	}
	return b;
}

/** Pop everything; the names in the order they came. */
static const char *pop_all(struct bfs_frontier *frontier)
{
	static char names[64];
	size_t n = 0;
	struct bfs_item item;
	while (bfs_frontier_pop(frontier, &item)) {
		names[n++] = item.bunch->names[item.bunch->kids[item.kid].name];
		bfs_bunch_unref(frontier, item.bunch);
	}
	names[n] = '\0';
	CU_ASSERT_EQUAL(frontier->waiting, 0);
	return names;
}

static void test_frontier_order(void)
{
	struct bfs_dir dir = {.refs = 1};
	struct bfs_frontier frontier = {.release = count_release, .order = BFS_BREADTH};
	released = 0;
	bfs_frontier_push(&frontier, bunch(&dir, 'a', 3, NULL), false);
	bfs_frontier_push(&frontier, bunch(&dir, 'x', 2, NULL), false);
	CU_ASSERT_EQUAL(frontier.waiting, 5);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "abcxy");

	frontier.order = BFS_DEPTH;
	bfs_frontier_push(&frontier, bunch(&dir, 'a', 3, NULL), false);
	bfs_frontier_push(&frontier, bunch(&dir, 'x', 2, NULL), false);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "xyabc");

	/* A queue is served when those before it are empty. */
	frontier.order = BFS_BREADTH;
	struct bfs_bunch *last = bunch(&dir, 'p', 1, NULL);
	last->queue = BFS_LAST;
	bfs_frontier_push(&frontier, last, false);
	bfs_frontier_push(&frontier, bunch(&dir, 'a', 2, NULL), false);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "abp");
	CU_ASSERT_EQUAL(released, 6);
	CU_ASSERT_EQUAL(dir.refs, 1);
	bfs_frontier_clear(&frontier);
}

static void test_frontier_newest(void)
{
	struct bfs_dir dir = {.refs = 1};
	struct bfs_frontier frontier = {.release = count_release, .order = BFS_BREADTH, .newest = true};
	const int64_t old[] = {1, 5, 2, 4}, young[] = {9, 7};
	released = 0;
	bfs_frontier_push(&frontier, bunch(&dir, 'a', 4, old), false);
	bfs_frontier_push(&frontier, bunch(&dir, 'x', 2, young), false);
	/* In turn: the newest of all, the first in the queue. */
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "xaybdc");

	/* What was not looked at has no time, and waits in the queue alone. */
	const int64_t unknown[] = {INT64_MIN, INT64_MIN, 3};
	bfs_frontier_push(&frontier, bunch(&dir, 'a', 3, unknown), false);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "cab");
	bfs_frontier_clear(&frontier);
	CU_ASSERT_EQUAL(released, 3);
	CU_ASSERT_EQUAL(dir.refs, 1);
}

static void test_frontier_learns(void)
{
	/* Turns of the newest that find nothing, while the queue's do, become
	   rare; and common again when they find more. */
	struct bfs_dir dir = {.refs = 1};
	struct bfs_frontier frontier = {.release = count_release, .order = BFS_BREADTH, .newest = true};
	unsigned newest[2] = {0};
	for (int half = 0; half < 2; ++half) {
		for (int i = 0; i < 4000; ++i) {
			struct bfs_item item;
			bfs_frontier_push(&frontier, bunch(&dir, 'a', 1, (int64_t[]){i}), false);
			CU_ASSERT_TRUE_FATAL(bfs_frontier_pop(&frontier, &item));
			newest[half] += item.newest;
			bfs_frontier_learn(&frontier, &item, item.newest == (half == 1));
			bfs_bunch_unref(&frontier, item.bunch);
		}
	}
	CU_ASSERT_TRUE(newest[0] < 4000 / 6);
	CU_ASSERT_TRUE(newest[1] > 4000 / 3);
	bfs_frontier_clear(&frontier);
	CU_ASSERT_EQUAL(dir.refs, 1);
}

static void test_frontier_compacts(void)
{
	/* The oldest never come up in the heap; it must not grow with them. */
	struct bfs_dir dir = {.refs = 1};
	struct bfs_frontier frontier = {.release = count_release, .order = BFS_BREADTH, .newest = true};
	for (int64_t i = 0; i < 100000; ++i) {
		struct bfs_item item;
		bfs_frontier_push(&frontier, bunch(&dir, 'a', 2, (int64_t[]){-i, -i}), false);
		for (int k = 0; k < 2; ++k) {
			CU_ASSERT_TRUE_FATAL(bfs_frontier_pop(&frontier, &item));
			bfs_bunch_unref(&frontier, item.bunch);
		}
	}
	CU_ASSERT_TRUE(frontier.queues[0].heap_size <= 512);
	bfs_frontier_clear(&frontier);
	CU_ASSERT_EQUAL(dir.refs, 1);
}

static void test_frontier_drop(void)
{
	struct bfs_dir dir = {.refs = 1};
	struct bfs_frontier frontier = {.release = count_release, .order = BFS_BREADTH, .newest = true};
	const int64_t times[] = {1, 2, 3, 4};
	struct bfs_item item;
	released = 0;
	bfs_frontier_push(&frontier, bunch(&dir, 'a', 4, times), false);
	bfs_frontier_push(&frontier, bunch(&dir, 'x', 1, times), false);
	CU_ASSERT_TRUE_FATAL(bfs_frontier_pop(&frontier, &item));
	CU_ASSERT_EQUAL(bfs_frontier_drop(&frontier, item.bunch), 3);
	CU_ASSERT_EQUAL(frontier.waiting, 1);
	CU_ASSERT_EQUAL(bfs_frontier_drop(&frontier, item.bunch), 0);
	bfs_bunch_unref(&frontier, item.bunch);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "x");
	/* Cleared with something in it, nothing is left behind. */
	bfs_frontier_push(&frontier, bunch(&dir, 'a', 4, times), false);
	bfs_frontier_clear(&frontier);
	CU_ASSERT_EQUAL(released, 3);
	CU_ASSERT_EQUAL(dir.refs, 1);
}

static void test_paths(void)
{
	struct bfs_dir *root = calloc(1, sizeof(*root) + 1);
	struct bfs_dir *start = calloc(1, sizeof(*start) + 8);
	struct bfs_dir *deep = calloc(1, sizeof(*deep) + 8);
	CU_ASSERT_TRUE_FATAL(root && start && deep);
	start->parent = root;
	start->shown = strlen(strcpy(start->name, "a/bc"));
	deep->parent = start;
	deep->shown = strlen(strcpy(deep->name, "d"));
	struct strbuf path;
	strbuf_init(&path);

	struct bfs_at at = {.parent = root, .dir = ".", .name = ""};
	bfs_path(&at, &path);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&path), "/");
	at = (struct bfs_at){.parent = deep, .dir = "e", .name = "f"};
	strbuf_reset(&path);
	bfs_path(&at, &path);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&path), "/a/bc/d/e/f");
	CU_ASSERT_TRUE(bfs_path_is(&at, "/a/bc/d/e/f"));
	static const char *const others[] = {"/a/bc/d/e/ff", "/a/bc/d/e", "/x/a/bc/d/e/f", "a/bc/d/e/f",
	                                     "/a/bcd/e/f", "", "/", "f", "/a/bc/d/ee/f"};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); ++i)
		CU_ASSERT_FALSE(bfs_path_is(&at, others[i]));
	strbuf_destroy(&path);
	free(root);
	free(start);
	free(deep);
}

/* Real directories. */

static char top[] = "/tmp/getmnt-bfs-XXXXXX";
static int topfd = -1;

/** top/w0..w7/x0..x4/y, a link and a file in each; once. */
static void make_tree(void)
{
	if (topfd >= 0)
		return;
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	topfd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_TRUE_FATAL(topfd >= 0);
	for (int w = 0; w < 8; ++w) {
		for (int x = 0; x < 5; ++x) {
			char name[64];
			snprintf(name, sizeof(name), "w%d", w);
			mkdirat(topfd, name, 0755);
			snprintf(name, sizeof(name), "w%d/x%d", w, x);
			mkdirat(topfd, name, 0755);
			snprintf(name, sizeof(name), "w%d/x%d/y", w, x);
			mkdirat(topfd, name, 0755);
			snprintf(name, sizeof(name), "w%d/x%d/loop", w, x);
			CU_ASSERT_EQUAL(symlinkat("../..", topfd, name), 0);
		}
	}
}

static void remove_tree(void)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", top);
	CU_ASSERT_EQUAL(system(command), 0);
	close(topfd);
}

struct seen {
	unsigned dirs, entries, looked, errors;
	unsigned stop_after;      /* directories; 0: none */
	int depth;
	const char *unwanted;
};

static enum bfs_verdict see_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                  const struct bulk_entry *entry)
{
	struct seen *seen = arg;
	++scratch->hits[0];
	if (entry->type != DT_DIR)
		return BFS_SKIP;
	if (at->depth > seen->depth)
		seen->depth = at->depth;
	return entry->name[0] == 'x' ? BFS_LOOK : BFS_ENTER;
}

static enum bfs_verdict see_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                 const struct bulk_entry *entry, const struct k_statx *st, int error)
{
	(void)arg, (void)at, (void)entry;
	CU_ASSERT_EQUAL(error, 0);
	CU_ASSERT_TRUE(S_ISDIR(st->mode));
	++scratch->hits[1];
	return BFS_JUDGE;
}

static enum bfs_verdict see_judge(void *arg, const struct bfs_at *at, const struct k_statx *st,
                                  struct bfs_enter *enter)
{
	struct seen *seen = arg;
	(void)st;
	++seen->looked;
	/* As at a mount: entered under another tag. */
	*enter = (struct bfs_enter){true, at->tag + 1, BFS_NORMAL};
	return BFS_SKIP;
}

static bool see_wanted(void *arg, uint32_t tag)
{
	(void)arg, (void)tag;
	return true;
}

static uint64_t see_mnt_id(void *arg, uint32_t tag, bool *unique)
{
	(void)arg, (void)tag, (void)unique;
	return 0;
}

static enum bfs_verdict see_done(void *arg, const struct bfs_at *at, uint32_t entries, int error,
                                  struct bfs_enter *enter)
{
	struct seen *seen = arg;
	(void)at, (void)enter;
	seen->errors += error != 0;
	seen->entries += entries;
	++seen->dirs;
	return seen->stop_after && seen->dirs == seen->stop_after ? BFS_END_ALL : BFS_SKIP;
}

static struct bfs_stats search(enum bfs_order order, unsigned threads, unsigned max_fds,
                               struct seen *seen, int expect, const char *disable)
{
	struct os os;
	os_init(&os, disable ? disable : getenv("GETMNT_DISABLE"));
	struct bfs_policy policy = {
		.order = order,
		.statx_mask = K_STATX_TYPE,
		.statx_flags = AT_STATX_DONT_SYNC,
		.entry = see_entry,
		.meta = see_meta,
		.mnt_id = see_mnt_id,
		.judge = see_judge,
		.wanted = see_wanted,
		.done = see_done,
		.arg = seen,
	};
	uint64_t before = os.calls[OS_OPENAT] + os.calls[OS_OPENAT2], closed = os.calls[OS_CLOSE];
	struct bfs *bfs = bfs_new(&os, &policy, topfd, threads, max_fds);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bfs);
	CU_ASSERT_EQUAL(bfs_start(bfs, ".", 0, BFS_NORMAL, 0), 0);
	CU_ASSERT_EQUAL(bfs_run(bfs), expect);
	struct bfs_stats stats = *bfs_stats(bfs);
	bfs_free(bfs);
	/* Every descriptor that was opened was closed. */
	if (threads == 1)
		CU_ASSERT_EQUAL(os.calls[OS_OPENAT] + os.calls[OS_OPENAT2] - before,
		                os.calls[OS_CLOSE] - closed);
	return stats;
}

static void test_search(void)
{
	make_tree();
	static const char *const disable[] = {NULL, "openat2"};
	for (int d = 0; d < 2; ++d) {
		for (int order = 0; order < 2; ++order) {
			for (unsigned fds = 1; fds <= 64; fds *= 4) {
				struct seen seen = {0};
				struct bfs_stats stats = search((enum bfs_order)order, 1, fds, &seen, 0, disable[d]);
				CU_ASSERT_EQUAL(seen.dirs, 1 + 8 + 40 + 40);
				CU_ASSERT_EQUAL(stats.dirs, 89);
				CU_ASSERT_EQUAL(seen.looked, 40);
				CU_ASSERT_EQUAL(seen.errors, 0);
				CU_ASSERT_EQUAL(seen.entries, 8 + 40 + 80);
				CU_ASSERT_EQUAL(stats.hits[0], 128);
				CU_ASSERT_EQUAL(stats.hits[1], 40);
				CU_ASSERT_TRUE(stats.peak_fds <= fds + 2);
				CU_ASSERT_TRUE(stats.reopened > 0 || fds >= (order == BFS_BREADTH ? 64 : 4));
			}
		}
	}
}

static void test_search_ends(void)
{
	make_tree();
	for (unsigned stop = 1; stop < 89; stop += 11) {
		struct seen seen = {.stop_after = stop};
		search(BFS_BREADTH, 1, 64, &seen, 1, NULL);
		CU_ASSERT_EQUAL(seen.dirs, stop);
	}
}

/* The bulk read. */

struct bulk_seen {
	unsigned names, metas, entered;
	enum bulk_verdict verdict;
	unsigned at;              /* say the verdict at this name */
};

static enum bulk_verdict bulk_entry_cb(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry)
{
	struct bulk_seen *seen = arg;
	(void)dir;
	CU_ASSERT_STRING_NOT_EQUAL(entry->name, ".");
	CU_ASSERT_STRING_NOT_EQUAL(entry->name, "..");
	return ++seen->names == seen->at ? seen->verdict : BULK_WANT;
}

static enum bulk_verdict bulk_meta_cb(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry,
                                      const struct k_statx *st, int error)
{
	struct bulk_seen *seen = arg;
	(void)dir, (void)entry;
	CU_ASSERT_EQUAL(error, 0);
	++seen->metas;
	return S_ISDIR(st->mode) ? BULK_ENTER : BULK_SKIP;
}

static enum bulk_verdict bulk_enter_cb(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry)
{
	struct bulk_seen *seen = arg;
	(void)dir, (void)entry;
	++seen->entered;
	return BULK_SKIP;
}

static void test_bulk(void)
{
	make_tree();
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	struct bulk *bulk = bulk_new(&os, &(struct bulk_how){0});
	CU_ASSERT_PTR_NOT_NULL_FATAL(bulk);
	for (unsigned batch = 1; batch <= 100; batch += 33) {
		struct bulk_policy policy = {
			.statx_mask = K_STATX_TYPE,
			.batch = batch,
			.entry = bulk_entry_cb,
			.meta = bulk_meta_cb,
			.enter = bulk_enter_cb,
		};
		struct bulk_dir dirs[4] = {
			{.parentfd = topfd, .name = "."},
			{.parentfd = topfd, .name = "missing"},
			{.parentfd = topfd, .name = "w3"},
			{.parentfd = topfd, .name = "w4"},
		};
		struct bulk_seen seen = {0};
		CU_ASSERT_EQUAL(bulk_read(bulk, &policy, dirs, 4, &seen), BULK_SKIP);
		CU_ASSERT_EQUAL(seen.names, 8 + 5 + 5);
		CU_ASSERT_EQUAL(seen.metas, 18);
		CU_ASSERT_EQUAL(seen.entered, 18);
		CU_ASSERT_EQUAL(dirs[0].entries, 8);
		CU_ASSERT_EQUAL(dirs[1].error, ENOENT);
		CU_ASSERT_EQUAL(dirs[1].fd, -1);
		for (int i = 0; i < 4; ++i) {
			if (dirs[i].fd >= 0)
				close(dirs[i].fd);
		}

		/* The rest of a directory, and the rest of all. */
		seen = (struct bulk_seen){.verdict = BULK_END_DIR, .at = 3};
		CU_ASSERT_EQUAL(bulk_read(bulk, &policy, dirs + 2, 2, &seen), BULK_SKIP);
		CU_ASSERT_EQUAL(seen.names, 3 + 5);
		CU_ASSERT_TRUE(dirs[2].ended);
		close(dirs[2].fd);
		close(dirs[3].fd);
		seen = (struct bulk_seen){.verdict = BULK_END_ALL, .at = 3};
		CU_ASSERT_EQUAL(bulk_read(bulk, &policy, dirs + 2, 2, &seen), BULK_END_ALL);
		CU_ASSERT_EQUAL(seen.names, 3);
		CU_ASSERT_EQUAL(dirs[3].fd, -1);
		close(dirs[2].fd);
	}
	/* A link is not followed, and what is no directory is not read. */
	struct bulk_policy policy = {.batch = 1, .entry = bulk_entry_cb, .meta = bulk_meta_cb, .enter = bulk_enter_cb};
	struct bulk_dir odd = {.parentfd = topfd, .name = "w0/x0/loop"};
	struct bulk_seen seen = {0};
	bulk_read(bulk, &policy, &odd, 1, &seen);
	CU_ASSERT_TRUE(odd.error == ENOTDIR || odd.error == ELOOP);
	bulk_free(bulk);
	remove_tree();
}

static enum bulk_verdict middle_entry(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry)
{
	struct bulk_seen *seen = arg;
	(void)dir, (void)entry;
	++seen->names;
	return BULK_WANT;
}

static enum bulk_verdict middle_meta(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry,
                                     const struct k_statx *st, int error)
{
	struct bulk_seen *seen = arg;
	(void)dir, (void)entry, (void)st, (void)error;
	return ++seen->metas == seen->at ? seen->verdict : BULK_SKIP;
}

/** A directory whose reading is ended in its middle costs no metadata behind that, and no other
    buffer of names; with a batch of one not a name is looked at too many. */
static void test_bulk_middle(void)
{
	enum { FILES = 3000, BATCH = 64 };
	char where[] = "/tmp/getmnt-middle-XXXXXX", name[64];
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(where));
	int parent = open(where, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < FILES; ++i) {
		snprintf(name, sizeof(name), "entry-%04d", i);
		CU_ASSERT_EQUAL(mknodat(parent, name, S_IFREG | 0644, 0), 0);
	}
	static const unsigned places[] = {1, 2, 100, 2500};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); ++i) {
		for (unsigned batch = 1; batch <= BATCH; batch *= BATCH) {
			for (int all = 0; all < 2; ++all) {
				struct os os;
				os_init(&os, getenv("GETMNT_DISABLE"));
				struct bulk *bulk = bulk_new(&os, &(struct bulk_how){.engine = BULK_SYNC});
				CU_ASSERT_PTR_NOT_NULL_FATAL(bulk);
				struct bulk_policy policy = {
					.statx_mask = K_STATX_TYPE, .batch = batch, .entry = middle_entry, .meta = middle_meta,
				};
				struct bulk_dir dir = {.parentfd = parent, .name = "."};
				struct bulk_seen seen = {.verdict = all ? BULK_END_ALL : BULK_END_DIR, .at = places[i]};
				uint64_t looked = os.calls[OS_STATX] + os.calls[OS_FSTAT], read = os.calls[OS_GETDENTS];
				bulk_read(bulk, &policy, &dir, 1, &seen);
				CU_ASSERT_TRUE(dir.ended && dir.error == 0);
				CU_ASSERT_EQUAL(os.calls[OS_STATX] + os.calls[OS_FSTAT] - looked, places[i]);
				CU_ASSERT_TRUE(seen.names >= places[i] && seen.names < places[i] + batch);
				if (places[i] <= 100)
					CU_ASSERT_EQUAL(os.calls[OS_GETDENTS] - read, 1);
				close(dir.fd);
				bulk_free(bulk);
			}
		}
	}
	for (int i = 0; i < FILES; ++i) {
		snprintf(name, sizeof(name), "entry-%04d", i);
		unlinkat(parent, name, 0);
	}
	close(parent);
	CU_ASSERT_EQUAL(rmdir(where), 0);
}

/** Whether this thread takes a signal. */
static bool takes(int signal)
{
	sigset_t blocked;
	CU_ASSERT_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
	return !sigismember(&blocked, signal);
}

static void *thread_takes(void *arg)
{
	*(bool *)arg = takes(SIGINT) || takes(SIGUSR1) || takes(SIGRTMIN);
	return NULL;
}

static void test_thread_signals(void)
{
	pthread_t thread;
	bool taken = true;
	CU_ASSERT_TRUE(takes(SIGINT) && takes(SIGUSR1) && takes(SIGRTMIN));
	CU_ASSERT_EQUAL_FATAL(os_thread(&thread, thread_takes, &taken), 0);
	CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
	CU_ASSERT_FALSE(taken);
	CU_ASSERT_TRUE(takes(SIGINT) && takes(SIGUSR1) && takes(SIGRTMIN));
}

/* Directories that are opened together. */

/** Whether this kernel opens directories by a ring. */
static bool ring_opens(struct os *os)
{
	struct os_ring_open one = {.dirfd = topfd, .name = "w0"};
	if (!(os->caps & OSC_OPENAT2))   /* as under valgrind */
		return false;
	struct os_ring *ring = os_ring_new(os, 8, 1);
	int fd = os_openat2(os, topfd, "w0", O_RDONLY | O_DIRECTORY, K_RESOLVE_CACHED);
	if (ring)
		CU_ASSERT_EQUAL(os_ring_open(os, ring, O_RDONLY | O_DIRECTORY, 0, &one, 1) == 0 && one.fd >= 0, fd >= 0);
	if (ring && one.fd >= 0)
		close(one.fd);
	os_ring_free(os, ring);
	os_close(os, fd);
	return ring && fd >= 0;
}

/** Descriptors below 256 that are open; of a ring, one of them. */
static unsigned open_fds(int *ring)
{
	unsigned n = 0;
	for (int fd = 0; fd < 256; ++fd) {
		char path[64], link[64];
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t len = readlink(path, link, sizeof(link) - 1);
		if (len < 0)
			continue;
		link[len] = '\0';
		++n;
		if (ring && strcmp(link, "anon_inode:[io_uring]") == 0)
			*ring = fd;
	}
	return n;
}

static enum bulk_verdict bulk_skip_cb(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry)
{
	(void)arg, (void)dir, (void)entry;
	return BULK_SKIP;
}

static bool bulk_keep_none(void *arg, const struct bulk_dir *dir)
{
	(void)arg, (void)dir;
	return false;
}

enum { BUNCH = 40, AMISS = 7 };   /* of AMISS, one is not there */

/** Read a bunch of directories, some of which are not there, and hold it against what it is. */
static void read_bunch(struct bulk *bulk, bool keep, unsigned stop)
{
	char names[BUNCH][16];
	struct bulk_dir dirs[BUNCH];
	struct bulk_policy policy = {
		.statx_mask = K_STATX_TYPE,
		.batch = 1,
		.entry = bulk_entry_cb,
		.meta = bulk_meta_cb,
		.keep = keep ? NULL : bulk_keep_none,
		.enter = bulk_enter_cb,
	};
	struct bulk_seen seen = {.verdict = BULK_END_ALL, .at = stop};
	unsigned all = 0, before = open_fds(NULL), left = 0;
	for (unsigned i = 0; i < BUNCH; ++i) {
		if (i % AMISS == AMISS - 1)
			snprintf(names[i], sizeof(names[i]), "missing");
		else
			snprintf(names[i], sizeof(names[i]), "w%u", i % 8);
		dirs[i] = (struct bulk_dir){.parentfd = topfd, .name = names[i], .same_mount = i % 5 != 0};
		all += i % AMISS == AMISS - 1 ? 0 : 5;
	}
	enum bulk_verdict verdict = bulk_read(bulk, &policy, dirs, BUNCH, &seen);
	CU_ASSERT_EQUAL(verdict, stop ? BULK_END_ALL : BULK_SKIP);
	CU_ASSERT_EQUAL(seen.names, stop ? stop : all);
	unsigned told = 0;
	for (unsigned i = 0; i < BUNCH; ++i) {
		if (told < seen.names && i % AMISS == AMISS - 1) {
			CU_ASSERT_EQUAL(dirs[i].error, ENOENT);
			CU_ASSERT_FALSE(dirs[i].opened);
		} else if (told < seen.names) {
			told += dirs[i].entries;
			CU_ASSERT_TRUE(dirs[i].opened);
			CU_ASSERT_EQUAL(dirs[i].fd >= 0, keep);
		} else {
			CU_ASSERT_TRUE(dirs[i].fd == -1 && !dirs[i].opened);
		}
		left += dirs[i].fd >= 0;
		if (dirs[i].fd >= 0)
			close(dirs[i].fd);
	}
	CU_ASSERT_EQUAL(told, seen.names);
	/* A ring may have been made, or let go of. */
	unsigned after = open_fds(NULL);
	CU_ASSERT_TRUE(after <= before + 1 && after + 1 >= before);
	CU_ASSERT_TRUE(left > 0 || !keep);
}

static void test_bulk_together(void)
{
	make_tree();
	static const char *const disable[] = {NULL, "uring", "openat2"};
	for (int d = 0; d < 3; ++d) {
		struct os os;
		os_init(&os, disable[d] ? disable[d] : getenv("GETMNT_DISABLE"));
		unsigned before = open_fds(NULL);
		struct bulk *bulk = bulk_new(&os, &(struct bulk_how){.together = true});
		CU_ASSERT_PTR_NOT_NULL_FATAL(bulk);
		for (unsigned i = 0; i < 40; ++i)
			read_bunch(bulk, i % 2, i % 3 ? 0 : 1 + i * 4);
		int ring = -1;
		open_fds(&ring);
		CU_ASSERT_EQUAL(ring >= 0, d == 0 && ring_opens(&os));
		if (ring >= 0) {
			/* Each 5th may be on another mount, and is opened by itself; 4 others are
			   not there, which a plain call tells. */
			uint64_t enters = os.calls[OS_URING_ENTER], opens = os.calls[OS_OPENAT2];
			read_bunch(bulk, false, 0);
			CU_ASSERT_EQUAL(os.calls[OS_URING_ENTER] - enters, 1);
			CU_ASSERT_EQUAL(os.calls[OS_OPENAT2] - opens, 4);
			/* It breaks: all is opened by plain calls. */
			int null = open("/dev/null", O_RDWR | O_CLOEXEC);
			CU_ASSERT_EQUAL(dup2(null, ring), ring);
			close(null);
			opens = os.calls[OS_OPENAT2];
			read_bunch(bulk, false, 0);
			CU_ASSERT_EQUAL(os.calls[OS_OPENAT2] - opens, BUNCH - BUNCH / 5);
		}
		bulk_free(bulk);
		CU_ASSERT_EQUAL(open_fds(NULL), before);
	}
}

/** Read bunches until a ring is in use, and more.  @left  Descriptors that there are; 0: enough.
    @return directories that were opened. */
static unsigned read_bunches(rlim_t left)
{
	struct bulk_policy policy = {.batch = 1, .entry = bulk_skip_cb, .keep = bulk_keep_none};
	struct rlimit limit, few;
	struct os os;
	unsigned opened = 0;
	os_init(&os, getenv("GETMNT_DISABLE"));
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	struct bulk *bulk = bulk_new(&os, &(struct bulk_how){.together = true});
	for (unsigned round = 0; bulk && round < 12; ++round) {
		struct bulk_dir dirs[8];
		for (unsigned i = 0; i < 8; ++i) {
			static const char *const names[] = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"};
			dirs[i] = (struct bulk_dir){.parentfd = topfd, .name = names[i], .same_mount = true};
		}
		few.rlim_cur = open_fds(NULL) + left;
		if (left && round == 10)
			CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
		bulk_read(bulk, &policy, dirs, 8, NULL);
		for (unsigned i = 0; i < 8; ++i) {
			CU_ASSERT_TRUE(dirs[i].fd == -1 && dirs[i].opened == (dirs[i].error != EMFILE && dirs[i].error != EIO));
			opened += dirs[i].opened;
		}
	}
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	bulk_free(bulk);
	return opened;
}

static void test_bulk_together_faults(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	make_tree();
	static const int kinds[] = {
		OS_URING_SETUP, OS_URING_REGISTER, OS_URING_ENTER, OS_OPENAT2, FAULT_ALLOC,
	};
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	bool rings = ring_opens(&os);
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); ++kind) {
		uint64_t calls = 1;
		for (uint64_t n = 0; n <= calls; ++n) {
			for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_ON; ++mode) {
				struct fault_count count;
				struct fault fault = {n ? mode : FAULT_NONE, kinds[kind], n, kinds[kind] == FAULT_ALLOC ? ENOMEM : EIO};
				unit_note("%s %ju, %d", fault_kind_name(kinds[kind]), (uintmax_t)n, mode);
				fault_begin(&fault, 100000);
				unsigned opened = read_bunches(0);
				fault_end(&count);
				CU_ASSERT_TRUE(count.blocks == 0 && count.fds == 0 && count.bad_closes == 0);
				calls = n ? calls : count.calls[kinds[kind]];
				CU_ASSERT_TRUE(n || !rings || calls > 0);
				/* Whatever becomes of the ring, it is done without. */
				CU_ASSERT_TRUE(opened == 12 * 8 || (n && kinds[kind] == OS_OPENAT2) || kinds[kind] == FAULT_ALLOC);
			}
		}
	}
	/* Descriptors run out within a bunch; the others of it are read, one by one. */
	for (rlim_t left = 1; left < 10; ++left)
		CU_ASSERT_EQUAL(read_bunches(left), 12 * 8);
}

/* Entries, as the kernel gives them. */

/** What os_dirent() says of a name of n bytes with `rest` more bytes of room; the
    slow way. */
static void expect_dirent(const char *name, size_t n, size_t rest)
{
	/* Not a byte more than there is, for ASan and valgrind to see. */
	const size_t head = offsetof(struct k_dirent, name), size = (head + n + rest + 7) / 8 * 8;
	struct k_dirent *entry = malloc(size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	memset(entry, 0xff, size);
	entry->reclen = (uint16_t)size;
	memcpy(entry->name, name, n);
	size_t at = 0, len = SIZE_MAX, room = size - head, want = strnlen(entry->name, room);
	const struct k_dirent *got = os_dirent(entry, size, &at, &len);
	if (want == room) {
		CU_ASSERT_PTR_NULL(got);
		CU_ASSERT_EQUAL(errno, EIO);
		CU_ASSERT_EQUAL(at, 0);
	} else {
		CU_ASSERT_PTR_EQUAL(got, entry);
		CU_ASSERT_EQUAL(at, size);
		CU_ASSERT_EQUAL(len, memchr(entry->name, '/', want) ? 0 : want);
	}
	/* Both ways: machines take one. */
	bool slash[2] = {false, false};
	size_t lens[] = {size > head ? os_dirent_len(entry, &slash[0]) : 0,
	                 size > head ? os_dirent_len_words(entry, &slash[1]) : 0};
	CU_ASSERT_EQUAL(lens[0], want);
	CU_ASSERT_EQUAL(lens[1], want);
	CU_ASSERT_TRUE(want == room || slash[0] == slash[1]);
	free(entry);
}

static void test_dirent(void)
{
	static const char bytes[] = {'/', '\0', '.', '0', 'a', '\x01', '\x7f', '\x80', '\xaf', '\xff'};
	unsigned chance = 1;
	char name[NAME_MAX + 1];
	for (size_t n = 0; n <= 40; ++n) {
		for (size_t odd = 0; odd <= n; ++odd) {
			for (size_t i = 0; i < sizeof(bytes); ++i) {
				memset(name, 'x', n);
				name[n] = '\0';
				name[odd] = odd < n ? bytes[i] : '\0';
				expect_dirent(name, n + 1, n % 3 * 8);
			}
		}
	}
	for (int run = 0; run < 100000; ++run) {
		size_t n = (size_t)rand_r(&chance) % 24;
		for (size_t i = 0; i < n; ++i)
			name[i] = bytes[(unsigned)rand_r(&chance) % (run % 2 ? sizeof(bytes) : 4) + (run % 2 ? 0 : 2)];
		expect_dirent(name, n, (size_t)rand_r(&chance) % 9);
	}
}

static const struct unit_test tests[] = {
	{"entries", test_dirent},
	{"frontier: order", test_frontier_order},
	{"frontier: newest in turn", test_frontier_newest},
	{"frontier: learns whose turns pay", test_frontier_learns},
	{"frontier: memory is what waits", test_frontier_compacts},
	{"frontier: drop and clear", test_frontier_drop},
	{"paths", test_paths},
	{"search with few descriptors", test_search},
	{"search that is ended", test_search_ends},
	{"bulk read, opened together", test_bulk_together},
	{"bulk read, together, with faults", test_bulk_together_faults},
	{"bulk read", test_bulk},
	{"bulk read, ended in the middle", test_bulk_middle},
	{"threads take no signals", test_thread_signals},
	{NULL, NULL},
};

const struct unit_suite suite_bfs = {"bfs", tests};
