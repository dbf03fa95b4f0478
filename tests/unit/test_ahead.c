/* SPDX-License-Identifier: MIT */
/*
 * Attributes in inode order: when, sorting, and what waits while a directory is paused.
 */
#include "unit.h"

#include "bfs/bfs_impl.h"
#include "fault.h"
#include "tree.h"

/* Whether calls wait. */

enum { US = 1000 };

/** `times` notes of `calls` calls, each of `each` ns, lead to this state. */
struct notes {
	unsigned times;
	size_t calls;
	uint64_t each;
	enum pace_state state;
};

static void note(struct pace *pace, const struct notes *rows)
{
	for (size_t i = 0; rows[i].times; ++i) {
		for (unsigned n = 0; n < rows[i].times; ++n)
			pace_note(pace, rows[i].calls,
			          rows[i].each == UINT64_MAX ? UINT64_MAX
			                                     : rows[i].each * rows[i].calls);
		if (pace->state != rows[i].state)
			printf("  row %zu: %d\n", i, pace->state);
		CU_ASSERT_EQUAL(pace->state, rows[i].state);
	}
}

UNIT_TEST(whether_calls_wait)
{
	static const struct notes warm[] = {
	        {7, 32, US, PACE_TRIAL},
	        {1, 32, US, PACE_CALM},
	        {1000, 32, 2 * US, PACE_CALM},
	        /* One of eight, or three of each eight, as slow as may be. */
	        {1, 32, 100000 * US, PACE_CALM},
	        {7, 32, US, PACE_CALM},
	        {3, 32, 100000 * US, PACE_CALM},
	        {5, 32, US, PACE_CALM},
	        {3, 32, 100000 * US, PACE_CALM},
	        {0},
	};
	static const struct notes cold[] = {
		{7, 32, 50 * US, PACE_TRIAL}, {1, 32, 50 * US, PACE_WAITS},
		/* In order most are quick, and some are not. */
		{120, 32, US, PACE_WAITS}, {2, 32, 50 * US, PACE_WAITS}, {6, 32, US, PACE_WAITS},
		/* All are. */
		{127, 32, US, PACE_WAITS}, {1, 32, US, PACE_CALM},
		{4, 32, 50 * US, PACE_CALM}, {4, 32, US, PACE_WAITS}, {0},
	};
	static const struct notes slow_machine[] = {
	        /* The same without and with a disk that is waited for. */
	        {100, 32, 15 * US, PACE_CALM},
	        {4, 32, 16 * US, PACE_CALM},
	        {100, 32, 24 * US, PACE_CALM},
	        {12, 32, 90 * US, PACE_WAITS},
	        {0},
	};
	static const struct notes slow_disk[] = {
		/* Quickest or not: it is waited for. */
		{100, 32, 9000 * US, PACE_WAITS}, {0},
	};
	static const struct notes small[] = {
		/* Few at a time: some that wait are in every run. */
		{31, 10, 30 * US, PACE_TRIAL}, {1, 10, 30 * US, PACE_WAITS},
		{1, 32 * 128, US, PACE_WAITS}, {127, 40, US, PACE_CALM}, {0},
	};
	static const struct notes unknown[] = {
		{7, 32, UINT64_MAX, PACE_TRIAL}, {10000, 32, UINT64_MAX, PACE_WAITS}, {0},
	};
	static const struct notes *const tables[] = {warm,      cold,  slow_machine,
	                                             slow_disk, small, unknown};
	for (size_t i = 0; i < COUNT(tables); ++i) {
		unit_note("table %zu", i);
		struct pace pace = {0};
		note(&pace, tables[i]);
	}
	struct pace pace = {0};
	note(&pace, cold);
	pace_set(&pace, PACE_TRIAL);
	note(&pace, (const struct notes[]){{7, 32, US, PACE_TRIAL}, {1, 32, US, PACE_CALM}, {0}});
}

/* Sorting. */

/** A window gives its entries once, by inode number; in parts. */
UNIT_TEST(sorting)
{
	enum { N = 5000, PART = 256 };
	static unsigned char seen[N];
	struct bfs_window *window = window_new(NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(window);
	for (unsigned i = 0; i < N; ++i) {
		char name[20];
		snprintf(name, sizeof(name), "%x", i);
		/* Some numbers occur twice. */
		struct bfs_entry entry = {name, strlen(name), i * 2654435761u % (N / 2), i % 13};
		CU_ASSERT_TRUE_FATAL(window_add(window, &entry));
	}
	window_sort(window);
	CU_ASSERT_FALSE(window->already_sorted);
	struct bfs_entry got[PART];
	uint64_t last = 0;
	size_t all = 0;
	for (size_t n; (n = window_take(window, got, PART)) > 0; all += n) {
		CU_ASSERT_TRUE(n == PART || all + n == N);
		for (size_t i = 0; i < n; ++i) {
			unsigned long k = strtoul(got[i].name, NULL, 16);
			CU_ASSERT_TRUE_FATAL(k < N && !seen[k] && got[i].ino >= last);
			CU_ASSERT_TRUE(got[i].ino == (unsigned)k * 2654435761u % (N / 2)
			               && got[i].type == k % 13
			               && got[i].len == strlen(got[i].name));
			seen[k] = 1;
			last = got[i].ino;
		}
	}
	CU_ASSERT_EQUAL(all, N);
	window_reset(window);
	CU_ASSERT_EQUAL(window_take(window, got, PART), 0);
	window_free(window);
	/* Nearly sorted is sorted. */
	struct bfs_entry entries[100];
	for (size_t i = 0; i < 100; ++i)
		entries[i] = (struct bfs_entry){.name = "x", .len = 1, .ino = 1000 + i};
	CU_ASSERT_TRUE(window_already_sorted(entries, 100) && window_already_sorted(entries, 1)
	               && window_already_sorted(entries, 0));
	for (size_t i = 0; i < 100; i += 10)
		entries[i].ino = 1;
	CU_ASSERT_TRUE(window_already_sorted(entries, 100));
	for (size_t i = 0; i < 100; i += 2)
		entries[i].ino = 1;
	CU_ASSERT_FALSE(window_already_sorted(entries, 100));
}

/** Fill a window with entries whose names have that length.  @return how many it took. */
static size_t fill(struct bfs_window *window, size_t len, bool first)
{
	char name[256];
	memset(name, 'n', len);
	name[len] = '\0';
	struct bfs_entry entry = {.name = name, .len = len};
	size_t n = 0;
	do {
		entry.ino = n * 7919 % 100000;
		CU_ASSERT_TRUE_FATAL(window_add(window, &entry));
		++n;
	} while (!window_full(window, first));
	return n;
}

/** How many entries may wait: few at first, then a share, and more while shares are left. */
UNIT_TEST(shares)
{
	struct bfs_budget budget;
	atomic_init(&budget.shares, 2);
	struct bfs_window *one = window_new(&budget), *other = window_new(&budget),
	                  *alone = window_new(NULL);
	CU_ASSERT_FATAL(one && other && alone);
	CU_ASSERT_EQUAL(fill(one, 10, true), BFS_AHEAD_FIRST);
	CU_ASSERT_EQUAL(atomic_load(&budget.shares), 2);
	window_reset(one);
	CU_ASSERT_EQUAL(fill(one, 10, false), 3 * BFS_AHEAD_SHARE);
	CU_ASSERT_EQUAL(atomic_load(&budget.shares), 0);
	CU_ASSERT_EQUAL(fill(other, 10, false), BFS_AHEAD_SHARE);
	CU_ASSERT_EQUAL(fill(alone, 10, false), BFS_AHEAD_SHARE);
	/* Shares of an empty window are free for the other. */
	window_reset(one);
	CU_ASSERT_EQUAL(atomic_load(&budget.shares), 2);
	window_reset(other);
	CU_ASSERT_EQUAL(fill(other, 10, false), 3 * BFS_AHEAD_SHARE);
	/* Fewer long names: there are 64 bytes for each. */
	CU_ASSERT_EQUAL(fill(one, 255, false), BFS_AHEAD_SHARE / 4);
	window_reset(one);
	CU_ASSERT_EQUAL(fill(one, 255, true), BFS_AHEAD_FIRST / 4);
	/* So are those of a freed one. */
	window_free(other);
	CU_ASSERT_EQUAL(atomic_load(&budget.shares), 2);
	window_free(one);
	window_free(alone);
	window_free(NULL);
	CU_ASSERT_EQUAL(atomic_load(&budget.shares), 2);
}

/* Directories that are read in parts. */

enum { FILES = 9000, PART = 700 };

static struct tree top;

struct seen {
	unsigned char times[FILES];
	size_t metas, passed;         /* entries with and without attributes */
	size_t part, most;            /* of this part, of any */
	size_t back;                  /* times an inode number was below the last */
	uint64_t last;
	size_t stop;                  /* end after this many attributes; 0: never */
	size_t portions;              /* left to the other reader */
	int error;                    /* of the directory */
};

static unsigned long number_of(const struct bfs_entry *entry)
{
	return strtoul(entry->name, NULL, 16);
}

/** Put out a byte for each entry, so that a part has PART of them. */
static void see(struct seen *seen, struct bfs_scratch *scratch, const struct bfs_entry *entry)
{
	++seen->times[number_of(entry)];
	++seen->part;
	strbuf_putc(&scratch->output->dir, 'x');
}

/** Of one entry of three no attributes are wanted. */
static enum bfs_verdict see_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                  const struct bfs_entry *entry)
{
	struct seen *seen = arg;
	(void)at;
	if (number_of(entry) % 3)
		return BFS_LOOK;
	see(seen, scratch, entry);
	++seen->passed;
	return BFS_SKIP;
}

static enum bfs_verdict see_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                 const struct bfs_entry *entry, const struct k_statx *st, int error)
{
	struct seen *seen = arg;
	(void)at;
	CU_ASSERT_TRUE(error == 0 && st->ino == entry->ino && strlen(entry->name) == entry->len);
	see(seen, scratch, entry);
	seen->back += entry->ino < seen->last;
	seen->last = entry->ino;
	return ++seen->metas == seen->stop ? BFS_END_ALL : BFS_SKIP;
}

static void make_files(void)
{
	tree_begin(&top);
	for (unsigned i = 0; i < FILES; ++i)
		tree_file(&top, "%x", i);
}

/** Read (a part of) the directory.  @return whether all was ended. */
static bool read_part(struct bfs_reader *reader, struct bfs_batch *batch, struct bfs_read *read,
                      struct seen *seen)
{
	seen->part = 0;
	batch->state = BATCH_SPARE;
	bfs_batch_reset(batch);
	batch->reads[0] = *read;
	batch->n = 1;
	bfs_reader_read(reader, batch);
	*read = batch->reads[0];
	CU_ASSERT_TRUE(read->paused ? read->error == 0 : !read->rest);
	return read->verdict == BFS_END_ALL;
}

/** The next read of a directory.  @rest  Entries to begin with. */
static struct bfs_read next_read(int fd, struct bfs_window *rest)
{
	return (struct bfs_read){
	        .parentfd = fd, .name = ".", .resume = true, .fd = fd, .rest = rest};
}

/** Read the directory to its end, each part by the next of two readers, and its portions by
    the other.  @parts  End before that part.  @return the parts. */
static size_t read_parts(struct os *os, enum bfs_engine engine, bool ahead,
                         struct bfs_budget *budget, struct seen *seen, size_t parts)
{
	struct bfs_policy policy = {
		.engine = engine, .ahead = ahead, .budget = budget, .pause = PART,
		.statx_mask = K_STATX_BASIC, .batch = 256,
		.entry = see_entry, .meta = see_meta, .arg = seen,
	};
	struct bfs_reader *readers[2] = {bfs_reader_new(os, &policy, true),
	                                 bfs_reader_new(os, &policy, true)};
	struct bfs_batch *batch = bfs_batch_new();
	struct bfs_read read = next_read(os_openat(os, top.fd, ".", O_RDONLY | O_DIRECTORY), NULL);
	struct bfs_window *portion;
	int fd = read.fd;
	size_t n = 0;
	bool end;
	CU_ASSERT_FATAL(readers[0] && readers[1] && batch);
	do {
		end = read_part(readers[n % 2], batch, &read, seen);
		seen->error = read.error;
		seen->most = seen->part > seen->most ? seen->part : seen->most;
		for (; !end && (portion = window_pop(&read.portions)); ++seen->portions) {
			struct bfs_read part = next_read(fd, portion);
			do {
				end = read_part(readers[(n + 1) % 2], batch, &part, seen);
				CU_ASSERT_TRUE(part.entries == 0 && part.error == 0
				               && !part.portions);
				part = part.paused ? next_read(fd, part.rest) : part;
			} while (!end && part.resume && part.rest);
			window_free(part.rest);
		}
		CU_ASSERT_EQUAL(end, seen->stop && seen->metas == seen->stop);
		end |= !read.paused;
		struct bfs_read next = next_read(fd, read.rest);
		next.portions = read.portions;
		read = next;
	} while (++n < parts && !end);
	window_free(read.portions);
	window_free(read.rest);
	os_close(os, fd);
	bfs_batch_free(batch);
	bfs_reader_free(readers[0]);
	bfs_reader_free(readers[1]);
	return n;
}

UNIT_TEST(read_in_parts)
{
	static const struct {
		enum bfs_engine engine;
		bool ahead, clock;
		unsigned portions;
	} ways[] = {
		{BFS_SYNC, false, true, 0}, {BFS_SYNC, true, true, 3}, {BFS_AUTO, true, true, 3},
		{BFS_AUTO, false, true, 0}, {BFS_AUTO, false, false, 3}, {BFS_FS, true, true, 3},
		{BFS_SYNC, false, true, 1}, {BFS_SYNC, false, true, 8}, {BFS_AUTO, false, true, 3},
	};
	struct bfs_budget budget;
	struct fault_count count;
	make_files();
	atomic_init(&budget.shares, BFS_AHEAD_SHARES - 1);
	atomic_init(&budget.portions, 0);
	for (size_t way = 0; way < COUNT(ways); ++way) {
		bool ahead = ways[way].ahead, clock = ways[way].clock;
		enum bfs_engine engine = ways[way].engine;
		struct os os = unit_os();
		os.disabled |= clock ? 0 : OSC_CLOCK;
		/* Neither bulk answers nor small windows are divided. */
		bool never = engine == BFS_FS || !clock || ways[way].portions == 0;
		bool divided = !never && (engine == BFS_SYNC || ahead);
		atomic_store(&budget.portions, ways[way].portions);
		for (size_t parts = 1; parts < 100; parts = parts < 3 ? parts + 1 : parts * 5) {
			unit_note("way %zu, %zu parts", way, parts);
			struct seen seen = {0};
			fault_begin(NULL, 100000);
			size_t n = read_parts(&os, engine, ahead, &budget, &seen, parts), once = 0;
			fault_end(&count);
			CU_ASSERT_TRUE(count.blocks == 0 && count.fds == 0
			               && count.bad_closes == 0);
			CU_ASSERT_EQUAL(atomic_load(&budget.shares), BFS_AHEAD_SHARES - 1);
			CU_ASSERT_EQUAL(atomic_load(&budget.portions), ways[way].portions);
			/* A part exceeds the limit by a buffer, or a batch, at most. */
			CU_ASSERT_TRUE(seen.most <= PART + 2800);
			for (size_t i = 0; i < FILES; ++i) {
				CU_ASSERT_TRUE(seen.times[i] <= 1);
				once += seen.times[i];
			}
			CU_ASSERT_TRUE(once == seen.metas + seen.passed && seen.error == 0);
			if (n < parts)
				CU_ASSERT_TRUE(once == FILES
				               && (!never || n >= FILES / (PART + 2800)));
			if (clock && (never || (divided && n < parts)))
				CU_ASSERT_EQUAL(divided, seen.portions > 0);
			/* Sorted but where a window begins: buffers of two readers who do not know
			   the pace yet, a small window, a large one. */
			CU_ASSERT_TRUE(seen.back <= (ahead ? 1 : clock ? FILES : 8));
		}
		/* Left in the middle of a window. */
		for (size_t stop = 1; stop <= FILES * 2 / 3; stop += 990) {
			unit_note("way %zu, left after %zu", way, stop);
			struct seen seen = {.stop = stop};
			fault_begin(NULL, 100000);
			read_parts(&os, engine, ahead, &budget, &seen, 100);
			fault_end(&count);
			CU_ASSERT_TRUE(seen.metas == stop && count.blocks == 0 && count.fds == 0);
		}
	}
	tree_end(&top);
}

/** Read the directory with a fault, and without a budget. */
static struct seen read_with(const struct fault *fault, enum bfs_engine engine, bool ahead,
                             struct fault_count *count)
{
	struct seen seen = {0};
	struct os os = unit_os();
	os.disabled |= OSC_CLOCK;
	fault_begin(fault, 100000);
	read_parts(&os, engine, ahead, NULL, &seen, 1000);
	fault_end(count);
	CU_ASSERT_TRUE(count->blocks == 0 && count->fds == 0);
	for (size_t i = 0; i < FILES; ++i)
		CU_ASSERT_TRUE(seen.times[i] <= 1);
	return seen;
}

/** Without memory, or the type of the file system, each entry is fetched once, in any order. */
UNIT_TEST(faults)
{
	FAULT_OR_SKIP();
	enum { FIRST = 4 };   /* after those for two readers and a batch */
	static const struct {
		int kind;
		bool ahead;
		uint64_t first;
	} rows[] = {{FAULT_ALLOC, true, FIRST}, {FAULT_ALLOC, false, FIRST}, {OS_STATFS, false, 1}};
	struct fault_count count;
	make_files();
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct seen seen = read_with(NULL, BFS_AUTO, rows[i].ahead, &count);
		uint64_t calls = count.calls[rows[i].kind];
		CU_ASSERT_TRUE(calls >= rows[i].first && seen.metas + seen.passed == FILES);
		for (uint64_t n = rows[i].first; n <= calls; ++n) {
			for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_ON; ++mode) {
				unit_note("row %zu, fault %ju", i, (uintmax_t)n);
				struct fault fault = {.mode = mode,
				                      .kind = rows[i].kind,
				                      .n = n,
				                      .error = ENOMEM};
				seen = read_with(&fault, BFS_AUTO, rows[i].ahead, &count);
				CU_ASSERT_TRUE(seen.metas + seen.passed == FILES && count.hits > 0);
			}
		}
	}
	/* A directory whose reading fails: what was read comes first, then the error. */
	for (uint64_t n = 1; n <= 5; ++n) {
		static const enum bfs_engine engines[] = {BFS_SYNC, BFS_SYNC, BFS_AUTO};
		size_t expected = 0;
		for (size_t i = 0; i < 3; ++i) {
			struct fault fault = {
			        .mode = FAULT_ONCE, .kind = OS_GETDENTS, .n = n, .error = EIO};
			struct seen seen = read_with(&fault, engines[i], i == 1, &count);
			unit_note("read %ju, way %zu", (uintmax_t)n, i);
			expected = i == 0 ? seen.metas + seen.passed : expected;
			CU_ASSERT_TRUE(seen.error == EIO && count.hits == 1);
			CU_ASSERT_TRUE(seen.metas + seen.passed == expected
			               && (expected > 0) == (n > 1));
		}
	}
	tree_end(&top);
}
