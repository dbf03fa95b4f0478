/* SPDX-License-Identifier: MIT */
/* The traversal on a tree of plain directories: frontier, reader, opening together. */
#include "unit.h"

#include "bfs/bfs_impl.h"
#include "fault.h"
#include "tree.h"
#include "os/ring.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

/* The frontier: pure. */

static struct bfs_dir frontier_dir = {.refs = 1};

/** Push n directories named first, first + 1 ..., changed at these times; NULL: unknown. */
static void push(struct bfs_frontier *frontier, char first, uint32_t n, const int64_t *mtimes,
                 enum bfs_queue queue)
{
	struct bfs_bunch *b = bfs_bunch_new(&frontier_dir, n, (size_t)n * 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	for (uint32_t i = 0; i < n; ++i) {
		b->names[2 * i] = (char)(first + (char)i);
		b->names[2 * i + 1] = '\0';
		b->kids[i] =
		        (struct bfs_kid){.mtime = mtimes ? mtimes[i] : INT64_MIN, .name = 2 * i};
	}
	b->queue = queue;
	bfs_frontier_push(frontier, b, false);
	bfs_frontier_check(frontier);
}

/** Pop all.  @return the names in the order in which they came. */
static const char *pop_all(struct bfs_frontier *frontier)
{
	static char names[64];
	size_t n = 0;
	struct bfs_item item;
	while (bfs_frontier_pop(frontier, &item)) {
		names[n++] = item.bunch->names[item.bunch->kids[item.kid].name];
		bfs_bunch_unref(frontier, item.bunch);
		bfs_frontier_check(frontier);
	}
	names[n] = '\0';
	CU_ASSERT_EQUAL(frontier->waiting, 0);
	return names;
}

/** Every bunch is freed. */
static void frontier_end(struct bfs_frontier *frontier)
{
	bfs_frontier_clear(frontier);
	CU_ASSERT_EQUAL(frontier_dir.refs, 1);
}

UNIT_TEST(frontier_order)
{
	struct bfs_frontier frontier;
	bfs_frontier_init(&frontier, NULL, BFS_BREADTH, false);
	for (int order = BFS_BREADTH; order <= BFS_DEPTH; ++order) {
		frontier.order = (enum bfs_order)order;
		push(&frontier, 'a', 3, NULL, BFS_NORMAL);
		push(&frontier, 'x', 2, NULL, BFS_NORMAL);
		CU_ASSERT_EQUAL(frontier.waiting, 5);
		CU_ASSERT_STRING_EQUAL(pop_all(&frontier),
		                       order == BFS_BREADTH ? "abcxy" : "xyabc");
	}
	/* A queue is served when those before it are empty. */
	push(&frontier, 'p', 1, NULL, BFS_LAST);
	push(&frontier, 'a', 2, NULL, BFS_NORMAL);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "abp");
	frontier_end(&frontier);
}

UNIT_TEST(frontier_newest_in_turn)
{
	struct bfs_frontier frontier;
	bfs_frontier_init(&frontier, NULL, BFS_BREADTH, true);
	/* In turn: the newest of all, the first in the queue. */
	push(&frontier, 'a', 4, (const int64_t[]){1, 5, 2, 4}, BFS_NORMAL);
	push(&frontier, 'x', 2, (const int64_t[]){9, 7}, BFS_NORMAL);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "xaybdc");
	/* Directories of unknown time wait in the queue alone. */
	push(&frontier, 'a', 3, (const int64_t[]){INT64_MIN, INT64_MIN, 3}, BFS_NORMAL);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "cab");
	frontier_end(&frontier);
}

/** Turns of the newest that find less than the queue become rare; and frequent again. */
UNIT_TEST(frontier_learns_which_turns_pay)
{
	enum { TURNS = 4000 };
	struct bfs_frontier frontier;
	bfs_frontier_init(&frontier, NULL, BFS_BREADTH, true);
	unsigned newest[2] = {0};
	for (int i = 0; i < 2 * TURNS; ++i) {
		struct bfs_item item;
		push(&frontier, 'a', 1, (const int64_t[]){i}, BFS_NORMAL);
		CU_ASSERT_TRUE_FATAL(bfs_frontier_pop(&frontier, &item));
		newest[i / TURNS] += item.newest;
		bfs_frontier_learn(&frontier, &item, item.newest == (i >= TURNS));
		bfs_bunch_unref(&frontier, item.bunch);
	}
	CU_ASSERT_TRUE(newest[0] < TURNS / 6 && newest[1] > TURNS / 3);
	frontier_end(&frontier);
}

/** The heap does not grow with the oldest, which it never gives. */
UNIT_TEST(frontier_memory_is_what_waits)
{
	struct bfs_frontier frontier;
	bfs_frontier_init(&frontier, NULL, BFS_BREADTH, true);
	for (int64_t i = 0; i < 100000; ++i) {
		push(&frontier, 'a', 2, (const int64_t[]){-i, -i}, BFS_NORMAL);
		CU_ASSERT_EQUAL(strlen(pop_all(&frontier)), 2);
	}
	CU_ASSERT_TRUE(frontier.queues[0].heap_size <= 512);
	frontier_end(&frontier);
}

UNIT_TEST(frontier_drop_and_clear)
{
	struct bfs_frontier frontier;
	bfs_frontier_init(&frontier, NULL, BFS_BREADTH, true);
	const int64_t times[] = {1, 2, 3, 4};
	struct bfs_item item;
	push(&frontier, 'a', 4, times, BFS_NORMAL);
	push(&frontier, 'x', 1, times, BFS_NORMAL);
	CU_ASSERT_TRUE_FATAL(bfs_frontier_pop(&frontier, &item));
	CU_ASSERT_EQUAL(bfs_frontier_drop(&frontier, item.bunch), 3);
	CU_ASSERT_EQUAL(frontier.waiting, 1);
	CU_ASSERT_EQUAL(bfs_frontier_drop(&frontier, item.bunch), 0);
	bfs_bunch_unref(&frontier, item.bunch);
	CU_ASSERT_STRING_EQUAL(pop_all(&frontier), "x");
	push(&frontier, 'a', 4, times, BFS_NORMAL);
	frontier_end(&frontier);
}

UNIT_TEST(paths)
{
	static const char *const others[] = {
		"/a/bc/d/e/ff", "/a/bc/d/e", "/x/a/bc/d/e/f", "a/bc/d/e/f", "/a/bcd/e/f", "", "/",
		"f", "/a/bc/d/ee/f",
	};
	struct bfs_dir *root = bfs_dir_new(NULL, "", 0, -1);
	struct bfs_dir *start = bfs_dir_new(root, "a/bc", 0, 0);
	struct bfs_dir *deep = bfs_dir_new(start, "d", 0, 1);
	CU_ASSERT_TRUE_FATAL(root && start && deep);
	STRBUF(path);
	struct bfs_at at = {.parent = root, .dir = ".", .name = ""};
	bfs_path(&at, &path);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&path), "/");
	at = (struct bfs_at){.parent = deep, .dir = "e", .name = "f"};
	strbuf_reset(&path);
	bfs_path(&at, &path);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&path), "/a/bc/d/e/f");
	CU_ASSERT_TRUE(bfs_path_is(&at, "/a/bc/d/e/f"));
	for (size_t i = 0; i < COUNT(others); ++i)
		CU_ASSERT_FALSE(bfs_path_is(&at, others[i]));
	free(deep);
	free(start);
	free(root);
}

/* Real directories. */

static struct tree top;

/** w0..w7/x0..x4/y, a link in each x; once. */
static void make_tree(void)
{
	if (*top.path)
		return;
	tree_begin(&top);
	for (int i = 0; i < 8 * 5; ++i) {
		char name[64];
		if (i % 5 == 0)
			tree_dir(&top, "w%d", i / 5);
		tree_dir(&top, "w%d/x%d", i / 5, i % 5);
		tree_dir(&top, "w%d/x%d/y", i / 5, i % 5);
		snprintf(name, sizeof(name), "w%d/x%d/loop", i / 5, i % 5);
		tree_link(&top, name, "../..");
	}
}

struct seen {
	unsigned dirs, entries, judged, errors;
	unsigned stop_after;      /* directories; 0: never */
};

static enum bfs_verdict see_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                  const struct bfs_entry *entry)
{
	(void)arg, (void)at;
	++scratch->hits[0];
	return entry->type != DT_DIR ? BFS_SKIP : entry->name[0] == 'x' ? BFS_LOOK : BFS_ENTER;
}

static enum bfs_verdict see_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                 const struct bfs_entry *entry, const struct k_statx *st, int error)
{
	(void)arg, (void)at, (void)entry;
	CU_ASSERT_TRUE(error == 0 && S_ISDIR(st->mode));
	++scratch->hits[1];
	return BFS_JUDGE;
}

/** As at a mount: enter it under another tag. */
static enum bfs_verdict see_judge(void *arg, const struct bfs_at *at, const struct k_statx *st,
                                  struct bfs_enter *enter)
{
	struct seen *seen = arg;
	(void)st;
	++seen->judged;
	*enter = (struct bfs_enter){.enter = true, .tag = at->tag + 1};
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
	return ++seen->dirs == seen->stop_after ? BFS_END_ALL : BFS_SKIP;
}

static struct bfs_stats traverse(enum bfs_order order, unsigned max_fds, struct seen *seen,
                                 const char *disable)
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
	uint64_t opens = os.calls[OS_OPENAT] + os.calls[OS_OPENAT2], closes = os.calls[OS_CLOSE];
	struct bfs *bfs = bfs_new(&os, &policy, top.fd, 1, max_fds);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bfs);
	CU_ASSERT_EQUAL(bfs_start(bfs, ".", 0, BFS_NORMAL, 0), 0);
	CU_ASSERT_EQUAL(bfs_run(bfs), seen->stop_after > 0);
	struct bfs_stats stats = *bfs_stats(bfs);
	bfs_free(bfs);
	CU_ASSERT_EQUAL(os.calls[OS_OPENAT] + os.calls[OS_OPENAT2] - opens,
	                os.calls[OS_CLOSE] - closes);
	return stats;
}

UNIT_TEST(traversal)
{
	make_tree();
	for (unsigned i = 0; i < 2 * 2 * 4; ++i) {
		unsigned fds = 1u << 2 * (i / 4);
		bool breadth = i & 1;
		struct seen seen = {0};
		struct bfs_stats stats = traverse(breadth ? BFS_BREADTH : BFS_DEPTH, fds, &seen,
		                                  i & 2 ? "openat2" : NULL);
		unit_note("%u descriptors, way %u", fds, i);
		CU_ASSERT_TRUE(seen.dirs == 1 + 8 + 40 + 40 && stats.dirs == seen.dirs);
		CU_ASSERT_TRUE(seen.judged == 40 && seen.errors == 0
		               && seen.entries == 8 + 40 + 80);
		CU_ASSERT_TRUE(stats.hits[0] == 128 && stats.hits[1] == 40);
		CU_ASSERT_TRUE(stats.peak_fds <= fds + 2);
		CU_ASSERT_TRUE(stats.reopened > 0 || fds >= (breadth ? 64 : 4));
	}
	for (unsigned stop = 1; stop < 89; stop += 11) {
		struct seen seen = {.stop_after = stop};
		traverse(BFS_BREADTH, 64, &seen, NULL);
		CU_ASSERT_EQUAL(seen.dirs, stop);
	}
}

/* The reader. */

struct reading {
	unsigned names, metas;
	unsigned end_name, end_meta;   /* end at this name, or metadata; 0: never */
	enum bfs_verdict end;
	bool skip;                     /* fetch nothing */
};

static enum bfs_verdict read_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                   const struct bfs_entry *entry)
{
	struct reading *reading = arg;
	(void)scratch, (void)at;
	CU_ASSERT_TRUE(strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0);
	if (++reading->names == reading->end_name)
		return reading->end;
	return reading->skip ? BFS_SKIP : BFS_LOOK;
}

static enum bfs_verdict read_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                  const struct bfs_entry *entry, const struct k_statx *st,
                                  int error)
{
	struct reading *reading = arg;
	(void)scratch, (void)at, (void)entry;
	CU_ASSERT_EQUAL(error, 0);
	if (++reading->metas == reading->end_meta)
		return reading->end;
	return S_ISDIR(st->mode) ? BFS_ENTER : BFS_SKIP;
}

/** A reader whose callbacks are those above, and a batch. */
struct bench {
	struct reading reading;
	struct bfs_policy policy;
	struct bfs_reader *reader;
	struct bfs_batch *batch;
};

static bool bench_begin(struct bench *b, struct os *os, unsigned batch, bool together)
{
	*b = (struct bench){
		.policy = {
			.engine = BFS_SYNC, .together = together,
			.statx_mask = K_STATX_TYPE, .batch = batch, .entry = read_entry,
			.meta = read_meta, .arg = &b->reading,
		},
	};
	b->reader = bfs_reader_new(os, &b->policy, true);
	b->batch = bfs_batch_new();
	return b->reader && b->batch;
}

static void bench_end(struct bench *b)
{
	bfs_reader_free(b->reader);
	bfs_batch_free(b->batch);
}

/** Read directories.  @return their reads; all descriptors are closed. */
static struct bfs_read *bench_read(struct bench *b, struct reading reading, int parent,
                                   const char *const names[], unsigned n)
{
	b->reading = reading;
	b->batch->state = BATCH_SPARE;
	bfs_batch_reset(b->batch);
	for (unsigned i = 0; i < n; ++i)
		b->batch->reads[i] =
		        (struct bfs_read){.parentfd = parent, .name = names[i], .fd = -1};
	b->batch->n = n;
	bfs_reader_read(b->reader, b->batch);
	for (unsigned i = 0; i < n; ++i) {
		struct bfs_read *read = &b->batch->reads[i];
		CU_ASSERT_EQUAL(read->fd >= 0, read->nkids > 0);
		if (read->fd >= 0)
			close(read->fd);
	}
	return b->batch->reads;
}

UNIT_TEST(reader)
{
	static const char *const names[] = {".", "missing", "w3", "w4", "w0/x0/loop"};
	make_tree();
	struct os os = unit_os();
	struct bench b;
	for (unsigned batch = 1; batch <= 100; batch += 33) {
		CU_ASSERT_TRUE_FATAL(bench_begin(&b, &os, batch, false));
		struct bfs_read *reads = bench_read(&b, (struct reading){0}, top.fd, names, 5);
		CU_ASSERT_TRUE(b.reading.names == 18 && b.reading.metas == 18
		               && b.batch->nkids == 18);
		CU_ASSERT_TRUE(reads[0].entries == 8 && reads[1].error == ENOENT
		               && !reads[1].opened);
		/* A link is not followed. */
		CU_ASSERT_TRUE(reads[4].error == ENOTDIR || reads[4].error == ELOOP);
		/* The end of a directory, and of all. */
		reads = bench_read(&b, (struct reading){.end = BFS_END_DIR, .end_name = 3}, top.fd,
		                   names + 2, 2);
		CU_ASSERT_TRUE(b.reading.names == 3 + 5 && reads[0].verdict == BFS_END_DIR);
		reads = bench_read(&b, (struct reading){.end = BFS_END_ALL, .end_name = 3}, top.fd,
		                   names + 2, 2);
		CU_ASSERT_TRUE(b.reading.names == 3 && reads[0].verdict == BFS_END_ALL);
		CU_ASSERT_TRUE(reads[1].fd == -1 && !reads[1].opened);
		bench_end(&b);
	}
}

/** A directory ended in its middle costs no metadata after that, and no other buffer of names;
    with a batch of one not a name is looked at too many. */
UNIT_TEST(reader_ended_in_the_middle)
{
	enum { FILES = 3000, BATCH = 64 };
	static const unsigned places[] = {1, 2, 100, 2500};
	struct tree files;
	tree_begin(&files);
	for (int i = 0; i < FILES; ++i)
		tree_file(&files, "entry-%04d", i);
	for (unsigned i = 0; i < 4 * 4; ++i) {
		unsigned place = places[i / 4], batch = i & 1 ? BATCH : 1;
		enum bfs_verdict end = i & 2 ? BFS_END_ALL : BFS_END_DIR;
		struct os os = unit_os();
		struct bench b;
		CU_ASSERT_TRUE_FATAL(bench_begin(&b, &os, batch, false));
		uint64_t looked = os.calls[OS_STATX] + os.calls[OS_FSTAT],
		         reads = os.calls[OS_GETDENTS];
		struct bfs_read *read =
		        bench_read(&b, (struct reading){.end = end, .end_meta = place}, files.fd,
			           (const char *const[]){"."}, 1);
		CU_ASSERT_TRUE(read->verdict == end && read->error == 0);
		CU_ASSERT_EQUAL(os.calls[OS_STATX] + os.calls[OS_FSTAT] - looked, place);
		CU_ASSERT_TRUE(b.reading.names >= place && b.reading.names < place + batch);
		CU_ASSERT_TRUE(place > 100 || os.calls[OS_GETDENTS] - reads == 1);
		bench_end(&b);
	}
	tree_end(&files);
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

UNIT_TEST(threads_take_no_signals)
{
	pthread_t thread;
	bool taken = true;
	CU_ASSERT_TRUE(takes(SIGINT) && takes(SIGUSR1) && takes(SIGRTMIN));
	CU_ASSERT_EQUAL_FATAL(os_thread(&thread, thread_takes, &taken), 0);
	CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
	CU_ASSERT_FALSE(taken);
	CU_ASSERT_TRUE(takes(SIGINT) && takes(SIGUSR1) && takes(SIGRTMIN));
}

/* Directories opened by one call. */

enum { TRIES = 100 };   /* of what a mount elsewhere can spoil */

/** Whether this kernel opens directories by a ring. */
static bool ring_opens(struct os *os)
{
	struct os_ring_open one = {.dirfd = top.fd, .name = "w0", .fd = -1};
	if (!(os->caps & OSC_OPENAT2))   /* as under valgrind */
		return false;
	struct os_ring *ring = os_ring_new(os, 8, 1);
	bool opens = false, cached = true;
	/* While anything is mounted the kernel may refuse a name that is in its cache. */
	for (int try = 0; try < TRIES && opens != (ring && cached); ++try) {
		int fd = os_openat2(os, top.fd, "w0", O_RDONLY | O_DIRECTORY, RESOLVE_CACHED);
		cached = fd >= 0;
		opens = ring && os_ring_open(os, ring, O_RDONLY | O_DIRECTORY, 0, &one, 1) == 0
		        && one.fd >= 0;
		os_close(os, one.fd);
		os_close(os, fd);
	}
	CU_ASSERT_EQUAL(opens, ring && cached);
	os_ring_free(os, ring);
	return opens;
}

/** Open descriptors below 256.  @ring [out]  That of a ring; may be NULL. */
static unsigned open_fds(int *ring)
{
	unsigned n = 0;
	for (int fd = 0; fd < 256; ++fd) {
		char path[64], link[64] = "";
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, link, sizeof(link) - 1) < 0)
			continue;
		++n;
		if (ring && strcmp(link, "anon_inode:[io_uring]") == 0)
			*ring = fd;
	}
	return n;
}

/** Read a batch of which every seventh directory is missing.  @stop  End at that name; 0: never. */
static void read_bunch(struct bench *b, unsigned stop)
{
	static char texts[BFS_BATCH][16];
	const char *names[BFS_BATCH];
	unsigned present = 0, seen = 0;
	for (unsigned i = 0; i < BFS_BATCH; ++i) {
		bool missing = i % 7 == 6;
		snprintf(texts[i], sizeof(texts[i]), missing ? "missing" : "w%u", i % 8);
		names[i] = texts[i];
		present += !missing;
	}
	const struct bfs_read *reads =
	        bench_read(b, (struct reading){.end = BFS_END_ALL, .end_name = stop}, top.fd, names,
		           BFS_BATCH);
	CU_ASSERT_EQUAL(b->reading.names, stop ? stop : present * 5);
	for (unsigned i = 0; i < BFS_BATCH; ++i) {
		bool reached = seen < b->reading.names;
		seen += reads[i].entries;
		CU_ASSERT_EQUAL(reads[i].opened, reached && i % 7 != 6);
		CU_ASSERT_EQUAL(reads[i].error, reached && i % 7 == 6 ? ENOENT : 0);
	}
	CU_ASSERT_EQUAL(seen, b->reading.names);
}

UNIT_TEST(opened_together)
{
	static const char *const disable[] = {NULL, "uring", "openat2"};
	make_tree();
	for (int d = 0; d < 3; ++d) {
		struct os os;
		struct bench b;
		unsigned before = open_fds(NULL);
		int ring = -1;
		os_init(&os, disable[d] ? disable[d] : getenv("GETMNT_DISABLE"));
		CU_ASSERT_TRUE_FATAL(bench_begin(&b, &os, 1, true));
		for (unsigned i = 0; i < 40; ++i)
			read_bunch(&b, i % 3 ? 0 : 1 + i * 3);
		CU_ASSERT_EQUAL(open_fds(&ring), before + (ring >= 0));
		CU_ASSERT_EQUAL(ring >= 0, d == 0 && ring_opens(&os));
		if (ring >= 0) {
			/* Plain calls are for the four that are missing; when the ring breaks, for
			 * all. */
			uint64_t enters = 0, opens = 0;
			for (int try = 0; try < TRIES && (enters != 1 || opens != 4); ++try) {
				enters = os.calls[OS_URING_ENTER];
				opens = os.calls[OS_OPENAT2];
				read_bunch(&b, 0);
				enters = os.calls[OS_URING_ENTER] - enters;
				opens = os.calls[OS_OPENAT2] - opens;
			}
			CU_ASSERT_TRUE(enters == 1 && opens == 4);
			int null = open("/dev/null", O_RDWR | O_CLOEXEC);
			CU_ASSERT_EQUAL(dup2(null, ring), ring);
			close(null);
			opens = os.calls[OS_OPENAT2];
			read_bunch(&b, 0);
			CU_ASSERT_EQUAL(os.calls[OS_OPENAT2] - opens, BFS_BATCH);
		}
		bench_end(&b);
		CU_ASSERT_EQUAL(open_fds(NULL), before);
	}
}

/** Read batches until a ring is in use, and more.  @left  Descriptors for the last; 0: enough.
    @return directories that were opened. */
static unsigned read_bunches(rlim_t left)
{
	static const char *const names[] = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"};
	struct rlimit limit, few;
	struct os os = unit_os();
	struct bench b;
	unsigned opened = 0;
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	bool ready = bench_begin(&b, &os, 1, true);
	for (unsigned round = 0; ready && round < 12; ++round) {
		few = limit;
		few.rlim_cur = open_fds(NULL) + left;
		if (left && round == 10)
			CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
		const struct bfs_read *reads =
		        bench_read(&b, (struct reading){.skip = true}, top.fd, names, 8);
		for (unsigned i = 0; i < 8; ++i) {
			CU_ASSERT_EQUAL(reads[i].opened,
			                reads[i].error != EMFILE && reads[i].error != EIO);
			opened += reads[i].opened;
		}
	}
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	bench_end(&b);
	return opened;
}

/** Without the ring, or descriptors, or memory, plain calls read the same. */
UNIT_TEST(opened_together_with_faults)
{
	FAULT_OR_SKIP();
	static const struct {
		int kind, error;
	} faults[] = {
		{OS_URING_SETUP, EPERM}, {OS_URING_REGISTER, EINVAL}, {OS_URING_ENTER, EINTR},
		{OS_URING_ENTER, EAGAIN}, {OS_URING_ENTER, EBUSY}, {OS_URING_ENTER, ENOMEM},
		{OS_URING_ENTER, EPERM}, {OS_OPENAT2, EIO}, {FAULT_ALLOC, ENOMEM},
	};
	make_tree();
	struct os os = unit_os();
	bool rings = ring_opens(&os);
	for (size_t i = 0; i < COUNT(faults); ++i) {
		int kind = faults[i].kind, error = faults[i].error;
		uint64_t calls = 1;
		for (uint64_t n = 0; n <= calls; ++n) {
			for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_ON; ++mode) {
				struct fault_count count;
				unit_note("%s %ju, %d", fault_kind_name(kind), (uintmax_t)n, mode);
				fault_begin(
				        &(struct fault){n ? mode : FAULT_NONE, kind, n, error},
				        100000);
				unsigned opened = read_bunches(0);
				fault_end(&count);
				CU_ASSERT_TRUE(count.blocks == 0 && count.fds == 0
				               && count.bad_closes == 0);
				calls = n ? calls : count.calls[kind];
				CU_ASSERT_TRUE(n || !rings || calls > 0);
				CU_ASSERT_TRUE(opened == 12 * 8 || (n && kind == OS_OPENAT2)
				               || kind == FAULT_ALLOC);
			}
		}
	}
	/* Descriptors run out within a batch: all of it is read, whether or not the ring opened the
	   first and, ahead of its turn, the next. */
	for (rlim_t left = 1; left < 10; ++left) {
		struct fault_count count;
		CU_ASSERT_EQUAL(read_bunches(left), 12 * 8);
		fault_begin(&(struct fault){FAULT_SHORT, OS_URING_ENTER, 0, 0}, 100000);
		CU_ASSERT_EQUAL(read_bunches(left), 12 * 8);
		fault_end(&count);
		CU_ASSERT_EQUAL(count.hits > 0, rings);
		CU_ASSERT_TRUE(count.fds == 0 && count.bad_closes == 0);
	}
	tree_end(&top);
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
	free(entry);
}

UNIT_TEST(entries)
{
	static const char bytes[] = {'/',    '\0',   '.',    '0',    'a',
	                             '\x01', '\x7f', '\x80', '\xaf', '\xff'};
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
			name[i] = bytes[(unsigned)rand_r(&chance) % (run % 2 ? sizeof(bytes) : 4)
			                + (run % 2 ? 0 : 2)];
		expect_dirent(name, n, (size_t)rand_r(&chance) % 9);
	}
}
