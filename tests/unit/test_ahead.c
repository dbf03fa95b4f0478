/* SPDX-License-Identifier: MIT */
/*
 * Attributes asked for in the order of inode numbers: when that is done, the order
 * itself, and what waits of a directory whose reading is paused.
 */
#include "unit.h"

#include "bfs/pace.h"
#include "bfs/window.h"
#include "fault.h"
#include "os/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* When. */

enum { US = 1000 };

/** So often so many calls take so many nanoseconds each; then it is in that state. */
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
			pace_note(pace, rows[i].calls, rows[i].each == UINT64_MAX ? UINT64_MAX : rows[i].each * rows[i].calls);
		if (pace->state != rows[i].state)
			printf("  row %zu: %d\n", i, pace->state);
		CU_ASSERT_EQUAL(pace->state, rows[i].state);
	}
}

static void test_pace(void)
{
	static const struct notes warm[] = {
		{7, 32, US, PACE_TRIAL}, {1, 32, US, PACE_CALM}, {1000, 32, 2 * US, PACE_CALM},
		/* One of eight, or three of each eight, as slow as may be. */
		{1, 32, 100000 * US, PACE_CALM}, {7, 32, US, PACE_CALM},
		{3, 32, 100000 * US, PACE_CALM}, {5, 32, US, PACE_CALM}, {3, 32, 100000 * US, PACE_CALM}, {0},
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
		{100, 32, 15 * US, PACE_CALM}, {4, 32, 16 * US, PACE_CALM}, {100, 32, 24 * US, PACE_CALM},
		{12, 32, 90 * US, PACE_WAITS}, {0},
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
	static const struct notes *const tables[] = {warm, cold, slow_machine, slow_disk, small, unknown};
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); ++i) {
		unit_note("table %zu", i);
		struct pace pace = {0};
		note(&pace, tables[i]);
	}
	struct pace pace = {0};
	note(&pace, cold);
	pace_set(&pace, PACE_TRIAL);
	note(&pace, (const struct notes[]){{7, 32, US, PACE_TRIAL}, {1, 32, US, PACE_CALM}, {0}});
}

/* The order. */

static uint64_t random_state;

static uint64_t random_number(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return random_state >> 17 ^ random_state << 40;
}

static int by_ino(const void *left, const void *right)
{
	const struct bulk_entry *a = left, *b = right;
	return a->ino != b->ino ? (a->ino < b->ino ? -1 : 1) : strcmp(a->name, b->name);
}

/** Fill a window with so many, whose numbers have those bits; see what it gives. */
static void order(size_t n, uint64_t bits, size_t part)
{
	enum { NAME = 20 };
	struct bulk_rest *window = window_new(NULL);
	struct bulk_entry *want = calloc(n + 1, sizeof(*want)), *got = calloc(n + 1, sizeof(*got));
	char *names = malloc(n * NAME + 1);
	CU_ASSERT_FATAL(window && want && got && names);
	for (size_t i = 0; i < n; ++i) {
		snprintf(names + i * NAME, NAME, "%zx", i);
		want[i] = (struct bulk_entry){names + i * NAME, strlen(names + i * NAME), random_number() & bits, (uint8_t)(i % 13)};
		CU_ASSERT_TRUE_FATAL(window_add(window, &want[i]));
	}
	bool apt = window_apt(want, n);
	window_sort(window);
	CU_ASSERT_EQUAL(window->apt, apt);
	size_t all = 0;
	for (size_t took; (took = window_take(window, got + all, part)) > 0; all += took)
		CU_ASSERT_TRUE(took == part || all + took == n);
	CU_ASSERT_EQUAL_FATAL(all, n);
	for (size_t i = 1; i < n; ++i)
		CU_ASSERT_TRUE(got[i - 1].ino <= got[i].ino);
	qsort(want, n, sizeof(*want), by_ino);
	qsort(got, n, sizeof(*got), by_ino);
	for (size_t i = 0; i < n; ++i) {
		CU_ASSERT_TRUE(want[i].ino == got[i].ino && want[i].len == got[i].len && want[i].type == got[i].type
		               && strcmp(want[i].name, got[i].name) == 0);
	}
	window_reset(window);
	CU_ASSERT_EQUAL(window_take(window, got, part), 0);
	bulk_rest_free(window);
	free(want);
	free(got);
	free(names);
}

static void test_order(void)
{
	static const uint64_t bits[] = {
		0, 1, 0xff, 0x7ff, 0x800, 0x3fffff, 0xff00000000ffu, 0x8000000000000000u, 0xffc0000000000001u, UINT64_MAX,
	};
	static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 100, 2048, 5000};
	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); ++i) {
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); ++k) {
			unit_note("bits %jx, %zu", (uintmax_t)bits[i], sizes[k]);
			order(sizes[k], bits[i], k % 2 ? 256 : 7);
		}
	}
	/* About in order is in order. */
	struct bulk_entry entries[100];
	for (size_t i = 0; i < 100; ++i)
		entries[i] = (struct bulk_entry){.name = "x", .len = 1, .ino = 1000 + i};
	CU_ASSERT_TRUE(window_apt(entries, 100) && window_apt(entries, 1) && window_apt(entries, 0));
	for (size_t i = 0; i < 100; i += 10)
		entries[i].ino = 1;
	CU_ASSERT_TRUE(window_apt(entries, 100));
	for (size_t i = 0; i < 100; i += 2)
		entries[i].ino = 1;
	CU_ASSERT_FALSE(window_apt(entries, 100));
}

/** Fill a window with entries whose names have that length.  @return how many it took. */
static size_t fill(struct bulk_rest *window, size_t len, bool first)
{
	char name[256];
	memset(name, 'n', len);
	name[len] = '\0';
	struct bulk_entry entry = {.name = name, .len = len};
	size_t n = 0;
	do {
		entry.ino = n * 7919 % 100000;
		CU_ASSERT_TRUE_FATAL(window_add(window, &entry));
		++n;
	} while (!window_full(window, first));
	return n;
}

/** How many may wait: few at first, then a share, and more while there are shares. */
static void test_shares(void)
{
	struct bulk_spare spare;
	atomic_init(&spare.shares, 2);
	struct bulk_rest *one = window_new(&spare), *other = window_new(&spare), *alone = window_new(NULL);
	CU_ASSERT_FATAL(one && other && alone);
	CU_ASSERT_EQUAL(fill(one, 10, true), BULK_AHEAD_FIRST);
	CU_ASSERT_EQUAL(atomic_load(&spare.shares), 2);
	window_reset(one);
	CU_ASSERT_EQUAL(fill(one, 10, false), 3 * BULK_AHEAD_SHARE);
	CU_ASSERT_EQUAL(atomic_load(&spare.shares), 0);
	CU_ASSERT_EQUAL(fill(other, 10, false), BULK_AHEAD_SHARE);
	CU_ASSERT_EQUAL(fill(alone, 10, false), BULK_AHEAD_SHARE);
	/* What one has had is the other's, when it is empty. */
	window_reset(one);
	CU_ASSERT_EQUAL(atomic_load(&spare.shares), 2);
	window_reset(other);
	CU_ASSERT_EQUAL(fill(other, 10, false), 3 * BULK_AHEAD_SHARE);
	/* Of long names there are fewer: 64 bytes for each are there. */
	CU_ASSERT_EQUAL(fill(one, 255, false), BULK_AHEAD_SHARE / 4);
	window_reset(one);
	CU_ASSERT_EQUAL(fill(one, 255, true), BULK_AHEAD_FIRST / 4);
	/* One that is freed gives it back too. */
	bulk_rest_free(other);
	CU_ASSERT_EQUAL(atomic_load(&spare.shares), 2);
	bulk_rest_free(one);
	bulk_rest_free(alone);
	bulk_rest_free(NULL);
	CU_ASSERT_EQUAL(atomic_load(&spare.shares), 2);
}

/* What waits. */

enum { FILES = 9000, PART = 700 };

static char top[100];
static int topfd;

struct seen {
	unsigned char times[FILES];
	size_t metas, passed;         /* by whom */
	size_t part, most;            /* of this part, of any */
	size_t back;                  /* times a number was below the last */
	uint64_t last;
	size_t stop;                  /* end it after so many; 0: never */
	size_t portions;              /* that were left to others */
	int error;                    /* what its reading ended with */
};

/** Which file it is. */
static unsigned long number_of(const struct bulk_entry *entry)
{
	return strtoul(entry->name, NULL, 16);
}

/** One of three is not looked at, but put out at once. */
static enum bulk_verdict see_entry(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry)
{
	struct seen *seen = arg;
	(void)dir;
	if (number_of(entry) % 3)
		return BULK_WANT;
	++seen->times[number_of(entry)];
	++seen->passed;
	++seen->part;
	return BULK_SKIP;
}

static enum bulk_verdict see_meta(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry,
                                  const struct k_statx *st, int error)
{
	struct seen *seen = arg;
	(void)dir;
	CU_ASSERT_TRUE(error == 0 && st->ino == entry->ino && strlen(entry->name) == entry->len);
	++seen->times[number_of(entry)];
	seen->back += entry->ino < seen->last;
	seen->last = entry->ino;
	++seen->metas;
	++seen->part;
	return seen->stop && seen->metas == seen->stop ? BULK_END_ALL : BULK_SKIP;
}

static bool see_pause(void *arg, struct bulk_dir *dir)
{
	const struct seen *seen = arg;
	(void)dir;
	return seen->part >= PART;
}

static enum bulk_verdict see_enter(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry)
{
	(void)arg, (void)dir, (void)entry;
	return BULK_SKIP;
}

static void make_files(void)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(top, sizeof(top), "%s/getmnt-ahead-XXXXXX", tmp ? tmp : "/tmp");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	topfd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; i < FILES; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "%x", i);
		CU_ASSERT_EQUAL_FATAL(mknodat(topfd, name, S_IFREG | 0600, 0), 0);
	}
}

static void remove_files(void)
{
	for (unsigned i = 0; i < FILES; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "%x", i);
		unlinkat(topfd, name, 0);
	}
	close(topfd);
	CU_ASSERT_EQUAL(rmdir(top), 0);
}

static const struct bulk_policy policy = {
	.statx_mask = K_STATX_BASIC, .batch = 256,
	.entry = see_entry, .meta = see_meta, .enter = see_enter, .pause = see_pause,
};

/** Have portions of a directory fetched, until the end of all is asked for.  @return whether it was. */
static bool fetch_portions(struct bulk *bulk, struct bulk_dir *dir, struct seen *seen)
{
	bool end = false;
	for (struct bulk_rest *portion; !end && (portion = bulk_rest_take(&dir->portions)); ++seen->portions) {
		struct bulk_dir part = {.parentfd = topfd, .name = ".", .resume = true, .fd = dir->fd, .rest = portion};
		do {
			seen->part = 0;
			end = bulk_read(bulk, &policy, &part, 1, seen) == BULK_END_ALL;
			CU_ASSERT_TRUE(part.entries == 0 && part.error == 0 && !part.portions);
		} while (!end && part.paused);
		bulk_rest_free(part.rest);
	}
	return end;
}

/** Read the directory to its end, each part by the next of two readers, and its portions by
    the other.
    @parts  End before that part.  @return the parts. */
static size_t read_parts(struct os *os, const struct bulk_how *how, struct seen *seen, size_t parts)
{
	struct bulk *bulks[2] = {bulk_new(os, how), bulk_new(os, how)};
	struct bulk_dir dir = {.parentfd = topfd, .name = "."};
	size_t n = 0;
	CU_ASSERT_FATAL(bulks[0] && bulks[1]);
	do {
		seen->part = 0;
		enum bulk_verdict verdict = bulk_read(bulks[n % 2], &policy, &dir, 1, seen);
		CU_ASSERT_TRUE(dir.paused ? dir.error == 0 : !dir.rest);
		seen->error = dir.error;
		CU_ASSERT_EQUAL(verdict == BULK_END_ALL, seen->stop && seen->metas == seen->stop);
		seen->most = seen->part > seen->most ? seen->part : seen->most;
		dir.resume = true;
		if (fetch_portions(bulks[(n + 1) % 2], &dir, seen))
			dir.paused = false;
	} while (++n < parts && dir.paused);
	bulk_rest_free(dir.portions);
	bulk_rest_free(dir.rest);
	os_close(os, dir.fd);
	bulk_free(bulks[0]);
	bulk_free(bulks[1]);
	return n;
}

static void test_rest(void)
{
	static const struct {
		enum bulk_engine engine;
		bool ahead, clock;
		unsigned portions;
	} ways[] = {
		{BULK_SYNC, false, true, 0}, {BULK_SYNC, true, true, 3}, {BULK_AUTO, true, true, 3}, {BULK_AUTO, false, true, 0},
		{BULK_AUTO, false, false, 3}, {BULK_FS, true, true, 3},
		{BULK_SYNC, false, true, 1}, {BULK_SYNC, false, true, 8}, {BULK_AUTO, false, true, 3},
	};
	make_files();
	struct bulk_spare spare;
	atomic_init(&spare.shares, BULK_AHEAD_SHARES - 1);
	atomic_init(&spare.portions, 0);
	struct fault_count count;
	for (size_t way = 0; way < sizeof(ways) / sizeof(*ways); ++way) {
		struct os os;
		os_init(&os, getenv("GETMNT_DISABLE"));
		os.disabled |= ways[way].clock ? 0 : OSC_CLOCK;
		const struct bulk_how how = {ways[way].engine, ways[way].ahead, &spare};
		/* What a ring or the file system itself is asked for is not divided, nor small windows. */
		bool plain = ways[way].engine == BULK_SYNC || ways[way].engine == BULK_AUTO;
		bool never = !plain || !ways[way].clock || ways[way].portions == 0;
		bool divided = !never && (ways[way].engine == BULK_SYNC || ways[way].ahead);
		atomic_store(&spare.portions, ways[way].portions);
		for (size_t parts = 1; parts < 100; parts = parts < 3 ? parts + 1 : parts * 5) {
			unit_note("way %zu, %zu parts", way, parts);
			struct seen seen = {0};
			fault_begin(NULL, 100000);
			size_t n = read_parts(&os, &how, &seen, parts);
			fault_end(&count);
			CU_ASSERT_TRUE(count.blocks == 0 && count.fds == 0 && count.bad_closes == 0);
			CU_ASSERT_EQUAL(atomic_load(&spare.shares), BULK_AHEAD_SHARES - 1);
			CU_ASSERT_EQUAL(atomic_load(&spare.portions), ways[way].portions);
			/* No more at a time than a buffer, or a batch, over what was asked for. */
			CU_ASSERT_TRUE(seen.most <= PART + 2800);
			size_t once = 0;
			for (size_t i = 0; i < FILES; ++i) {
				CU_ASSERT_TRUE(seen.times[i] <= 1);
				once += seen.times[i];
			}
			CU_ASSERT_TRUE(once == seen.metas + seen.passed && seen.error == 0);
			if (n < parts)
				CU_ASSERT_TRUE(once == FILES && (!never || n >= FILES / (PART + 2800)));
			/* Windows of who never knows are small, but not always. */
			if (ways[way].clock && (never || (divided && n < parts)))
				CU_ASSERT_TRUE(divided == (seen.portions > 0));
			/* In order, but where a window begins: buffers of two readers who do not know
			   yet, a small window, a large one. */
			size_t most = ways[way].ahead ? 1 : ways[way].clock ? FILES : 8;
			CU_ASSERT_TRUE(seen.back <= most);
		}
		/* Left in the middle of a window. */
		for (size_t stop = 1; stop <= FILES * 2 / 3; stop += 990) {
			unit_note("way %zu, left after %zu", way, stop);
			struct seen seen = {.stop = stop};
			fault_begin(NULL, 100000);
			read_parts(&os, &how, &seen, 100);
			fault_end(&count);
			CU_ASSERT_TRUE(seen.metas == stop && count.blocks == 0 && count.fds == 0);
		}
	}
	remove_files();
}

/** Where there is no memory, or it is not told what file system it is: each entry is
    asked for once, in whatever order. */
static void test_faults(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	static const struct {
		int kind;
		bool ahead;
		uint64_t first;     /* the first two allocations are the readers */
	} rows[] = {{FAULT_ALLOC, true, 3}, {FAULT_ALLOC, false, 3}, {OS_STATFS, false, 1}};
	make_files();
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	os.disabled |= OSC_CLOCK;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		const struct bulk_how how = {BULK_AUTO, rows[i].ahead, NULL};
		struct seen all = {0};
		struct fault_count count;
		fault_begin(NULL, 100000);
		read_parts(&os, &how, &all, 1000);
		fault_end(&count);
		uint64_t calls = count.calls[rows[i].kind];
		CU_ASSERT_TRUE(calls >= rows[i].first && all.metas + all.passed == FILES);
		for (uint64_t n = rows[i].first; n <= calls; ++n) {
			for (int mode = FAULT_ONCE; mode <= FAULT_ON; ++mode) {
				struct seen seen = {0};
				unit_note("row %zu, fault %ju", i, (uintmax_t)n);
				fault_begin(&(struct fault){(enum fault_mode)mode, rows[i].kind, n, ENOMEM}, 100000);
				read_parts(&os, &how, &seen, 1000);
				fault_end(&count);
				CU_ASSERT_TRUE(seen.metas + seen.passed == FILES && count.hits > 0 && count.blocks == 0 && count.fds == 0);
				CU_ASSERT_PTR_NULL(memchr(seen.times, 0, FILES));
			}
		}
	}
	remove_files();
}

/** A directory whose reading fails: what was read of it comes first, then the error. */
static void test_read_fails(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	make_files();
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	os.disabled |= OSC_CLOCK;
	for (uint64_t n = 1; n <= 5; ++n) {
		static const struct bulk_how hows[] = {{.engine = BULK_SYNC}, {.engine = BULK_SYNC, .ahead = true}, {.engine = BULK_AUTO}};
		size_t want = 0;
		for (size_t i = 0; i < sizeof(hows) / sizeof(*hows); ++i) {
			struct seen seen = {0};
			struct fault_count count;
			unit_note("read %ju, way %zu", (uintmax_t)n, i);
			fault_begin(&(struct fault){FAULT_ONCE, OS_GETDENTS, n, EIO}, 100000);
			read_parts(&os, &hows[i], &seen, 1000);
			fault_end(&count);
			want = i == 0 ? seen.metas + seen.passed : want;
			CU_ASSERT_TRUE(seen.error == EIO && count.hits == 1 && count.blocks == 0 && count.fds == 0);
			CU_ASSERT_TRUE(seen.metas + seen.passed == want && (want > 0) == (n > 1));
			for (size_t k = 0; k < FILES; ++k)
				CU_ASSERT_TRUE(seen.times[k] <= 1);
		}
	}
	remove_files();
}

static const struct unit_test tests[] = {
	{"whether it waits", test_pace},
	{"order", test_order},
	{"shares", test_shares},
	{"what waits", test_rest},
	{"faults", test_faults},
	{"reading fails", test_read_fails},
	{NULL, NULL},
};
const struct unit_suite suite_ahead = {"ahead", tests};
