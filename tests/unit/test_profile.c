/* SPDX-License-Identifier: MIT */
/*
 * profile/: medians, ratios, the order of turns, what rows there are; topologies read,
 * refused with their line, and grown within their bounds.
 */
#include "unit.h"

#include "base/strbuf.h"
#include "profile/profile.h"
#include "profile/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

static void test_median(void)
{
	double one[] = {3}, odd[] = {5, 1, 9}, even[] = {8, 2, 4, 100}, same[] = {7, 7, 7, 7, 7};
	CU_ASSERT_EQUAL(profile_median(one, 0), 0);
	CU_ASSERT_EQUAL(profile_median(one, 1), 3);
	CU_ASSERT_EQUAL(profile_median(odd, 3), 5);
	CU_ASSERT_EQUAL(profile_median(even, 4), 6);
	CU_ASSERT_EQUAL(profile_median(same, 5), 7);
}

static void add(struct profile_row *row, unsigned turn, double user, double system, double real)
{
	struct profile_times times = {.user = user, .system = system, .real = real, .discovery = real / 2, .turn = turn, .loops = 1};
	CU_ASSERT_EQUAL(profile_add(row, &times), 0);
}

static void test_settle(void)
{
	/* The first turn alone, then others: it counts no longer. */
	struct profile_row row = {.rule = -1};
	profile_settle(&row);
	CU_ASSERT_EQUAL(row.median.real, 0);
	add(&row, 0, 5, 5, 100);
	profile_settle(&row);
	CU_ASSERT_TRUE(near(row.median.real, 100) && near(row.median.user, 5) && near(row.median.system, 5));
	/* All user in one turn, all system in another: the processor's time is known, its share
	   that of all. */
	add(&row, 1, 4, 0, 10);
	add(&row, 2, 0, 4, 30);
	add(&row, 3, 0, 4, 20);
	add(&row, 4, 0, 4, 40);
	profile_settle(&row);
	CU_ASSERT_TRUE(near(row.median.real, 25) && near(row.median.discovery, 12.5));
	CU_ASSERT_TRUE(near(row.median.user, 1) && near(row.median.system, 3));
	profile_row_destroy(&row);
	CU_ASSERT_EQUAL(row.ntimes, 0);
}

static void test_ratios(void)
{
	struct profile_row a = {.state = PROFILE_DONE}, b = {.state = PROFILE_DONE};
	a.counts.calls[OS_STATX] = 30;
	a.counts.calls[OS_OPENAT2] = 10;
	a.counts.calls[OS_OPENAT] = 5;
	b.counts.calls[OS_CLOSE] = 9;
	a.counts.dirs = 12;
	b.counts.dirs = 0;
	CU_ASSERT_EQUAL(profile_total(&a.counts), 45);
	CU_ASSERT_EQUAL(profile_calls(&a.counts, PK_OPENAT), 15);
	CU_ASSERT_EQUAL(profile_calls(&a.counts, PK_OTHER), 0);
	CU_ASSERT_EQUAL(profile_kind(OS_LISTMOUNT), PK_OTHER);
	struct profile_ratio r = profile_ratio(&a, &b, PF_CALLS);
	CU_ASSERT_TRUE(r.how == PR_IS && near(r.value, 5));
	CU_ASSERT_EQUAL(profile_ratio(&a, &b, PF_DIRS).how, PR_NONE);   /* of nothing */
	a.state = PROFILE_STOPPED;
	CU_ASSERT_EQUAL(profile_ratio(&a, &b, PF_CALLS).how, PR_OVER);
	CU_ASSERT_EQUAL(profile_ratio(&b, &a, PF_CALLS).how, PR_UNDER);
	b.state = PROFILE_STOPPED;
	CU_ASSERT_EQUAL(profile_ratio(&a, &b, PF_CALLS).how, PR_NONE);
	b.state = PROFILE_NOT_RUN;
	CU_ASSERT_EQUAL(profile_ratio(&a, &b, PF_CALLS).how, PR_NONE);
	CU_ASSERT_EQUAL(profile_ratio(&b, &a, PF_CALLS).how, PR_NONE);
}

static void test_order(void)
{
	size_t order[13], again[13], firsts[13] = {0}, moved = 0;
	profile_order(1, 0, order, 13);
	CU_ASSERT_TRUE(order[0] == 2 && order[1] == 1 && order[2] == 0 && order[3] == 3 && order[12] == 12);
	profile_order(1, 0, order, 2);
	CU_ASSERT_TRUE(order[0] == 0 && order[1] == 1);
	for (unsigned turn = 1; turn <= 1300; ++turn) {
		unsigned seen = 0;
		profile_order(1988, turn, order, 13);
		profile_order(1988, turn, again, 13);
		CU_ASSERT_EQUAL(memcmp(order, again, sizeof(order)), 0);
		for (size_t i = 0; i < 13; ++i)
			seen |= 1u << order[i];
		CU_ASSERT_EQUAL(seen, (1u << 13) - 1);
		++firsts[order[0]];
		profile_order(1989, turn, again, 13);
		moved += memcmp(order, again, sizeof(order)) != 0;
	}
	/* Each is the first about as often: 100 times, and 5 sigmas are 48. */
	for (size_t i = 0; i < 13; ++i)
		CU_ASSERT_TRUE(firsts[i] > 52 && firsts[i] < 148);
	CU_ASSERT_TRUE(moved > 1290);
}

static void test_plan(void)
{
	CU_ASSERT_EQUAL(profile_loops(0, 0.1), 1000);
	CU_ASSERT_EQUAL(profile_loops(1e-9, 0.1), 1000);
	CU_ASSERT_EQUAL(profile_loops(0.01, 0.1), 10);
	CU_ASSERT_EQUAL(profile_loops(5, 0.1), 1);
	CU_ASSERT_EQUAL(profile_turns(0, 1, 3, 7), 7);
	CU_ASSERT_EQUAL(profile_turns(0.25, 1, 3, 7), 4);
	CU_ASSERT_EQUAL(profile_turns(100, 1, 3, 7), 3);
}

static void test_rows(void)
{
	struct profile_row rows[PROFILE_ROWS];
	size_t n = profile_rows(rows), rules = 0;
	for (int i = 0; discover_rules[i].name; ++i)
		rules += (discover_rules[i].algorithms & 1u << DA_GETMNT3) != 0;
	CU_ASSERT_EQUAL(n, PROFILE_ALGORITHMS + rules);
	CU_ASSERT_STRING_EQUAL(profile_algorithm(rows[0].algorithm), "getmnt1");
	CU_ASSERT_STRING_EQUAL(profile_algorithm(rows[1].algorithm), "getmnt2");
	CU_ASSERT_STRING_EQUAL(profile_algorithm(rows[2].algorithm), "getmnt3");
	for (size_t i = 0; i < n; ++i)
		CU_ASSERT_TRUE(rows[i].state == PROFILE_NOT_RUN && (i < 3 ? rows[i].rule < 0 : rows[i].algorithm == DA_GETMNT3));
}

/* Topologies. */

/** Whether a text is refused, at a line. */
static bool refused(const char *text, size_t len, uint32_t line, const char *why)
{
	struct topology *t = topology_parse(text, len);
	bool right = t && t->bad_line == line && strstr(t->why, why);
	if (!right)
		printf("  %.60s: line %u: %s\n", text, t ? t->bad_line : 0, t ? t->why : "no memory");
	topology_free(t);
	return right;
}

static void test_refused(void)
{
	static const struct {
		const char *text;
		uint32_t line;
		const char *why;
	} rows[] = {
		{"", 1, "not one mount"},
		{"# nothing\n\n", 1, "not one mount"},
		{"dirs /a 1 1 1\n", 1, "not one mount"},
		{"mount\n", 1, "mount PATH"},
		{"mount /a /b\n", 1, "mount PATH"},
		{"mount a\n", 1, "no absolute path"},
		{"mount /\n", 1, "the root is mounted"},
		{"mount //\n", 1, "the root is mounted"},
		{"mount /a\nmount /a/../b\n", 2, "\"..\""},
		{"mount /..\n", 1, "\"..\""},
		{"mount /a/./b\n", 1, "\".\""},
		{"mount /\\056\\056/b\n", 1, "\"..\""},
		{"umount /a\n", 1, "known are"},
		{"dirs /a 1 1\n", 1, "dirs PATH"},
		{"dirs /a 1 1 1 1 1\n", 1, "dirs PATH"},
		{"dirs /a 1 1 1 1 1 1 1 1 1 1\n", 1, "dirs PATH"},
		{"dirs /a 0 1 1\n", 1, "COUNT \"0\""},
		{"dirs /a -1 1 1\n", 1, "COUNT \"-1\""},
		{"dirs /a 1 65 1\n", 1, "DEPTH"},
		{"dirs /a 1 1 0x1\n", 1, "FANOUT"},
		{"dirs /a 300001 9 9\n", 1, "COUNT"},
		{"dirs /a 7 2 2\n", 1, "room for 6"},
		{"dirs /a 200000 64 10\ndirs /b 100001 64 10\n", 2, "more than 300000"},
		{"dirs /a 60000 64 10 5\n", 1, "more than 300000"},
		{"files /a 99999999999999999999999\n", 1, "COUNT"},
		{"seed\n", 1, "seed NUMBER"},
		{"seed 18446744073709551616\n", 1, "seed"},
		{"1 2 3\n", 1, "device number"},
		{"24 1 0:1 / / rw - ext4 x rw\n25 24 0:2 / /a/../b rw - tmpfs x rw\n", 2, "\"..\""},
		{"24 1 0:1 / / rw - ext4 x rw\n", 1, "not one mount"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
		CU_ASSERT_TRUE(refused(rows[i].text, strlen(rows[i].text), rows[i].line, rows[i].why));
	CU_ASSERT_TRUE(refused("mount /a\0b", 10, 1, "binary"));
	char longest[2048];
	snprintf(longest, sizeof(longest), "mount /%0300d\n", 1);
	CU_ASSERT_TRUE(refused(longest, strlen(longest), 1, "255"));
	size_t n = (size_t)snprintf(longest, sizeof(longest), "mount ");
	for (int i = 0; i < 500; ++i)
		n += (size_t)snprintf(longest + n, sizeof(longest) - n, "/ab");
	CU_ASSERT_TRUE(refused(longest, n, 1, "1024"));
	struct strbuf many;
	strbuf_init(&many);
	for (int i = 0; i < TOPOLOGY_MOUNTS + 1; ++i)
		strbuf_puts(&many, "mount /a\n");
	CU_ASSERT_TRUE(refused(many.data, many.len, TOPOLOGY_MOUNTS + 1, "more than 10000 mounts"));
	strbuf_destroy(&many);

	/* Directories on the way count: 650 ways of 463 are more than 300,000. */
	strbuf_init(&many);
	strbuf_puts(&many, "mount /m\n");
	for (int i = 0; i < 650; ++i) {
		strbuf_printf(&many, "dirs /%d", i);
		for (int k = 0; k < 462; ++k)
			strbuf_puts(&many, "/a");
		strbuf_puts(&many, " 1 1 1\n");
	}
	CU_ASSERT_TRUE(refused(many.data, many.len, 648, "on the way"));
	strbuf_destroy(&many);
}

/** What was told. */
struct told {
	struct strbuf text;
	uint64_t mounts, dirs, files;
	size_t deepest;
	uint64_t stop_at;
};

static int tell(struct told *told, uint64_t *count, const char *path)
{
	size_t depth = 0;
	for (const char *at = path; *at; ++at)
		depth += *at == '/';
	told->deepest = depth > told->deepest ? depth : told->deepest;
	strbuf_printf(&told->text, "%s\n", path);
	return ++*count == told->stop_at ? 7 : 0;
}

static int tell_mount(void *arg, const char *path, const struct topology_line *line)
{
	(void)line;
	return tell(arg, &((struct told *)arg)->mounts, path);
}

static int tell_dir(void *arg, const char *path, const struct topology_line *line)
{
	(void)line;
	return tell(arg, &((struct told *)arg)->dirs, path);
}

static int tell_file(void *arg, const char *path, const struct topology_line *line)
{
	(void)line;
	return tell(arg, &((struct told *)arg)->files, path);
}

/** Grow a text, of which nothing is wrong. */
static void grow(const char *text, struct told *told, int rc)
{
	struct topology *t = topology_parse(text, strlen(text));
	struct topology_maker maker = {tell_mount, tell_dir, tell_file, told};
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(t->bad_line, 0);
	CU_ASSERT_EQUAL(topology_grow(t, &maker), rc);
	if (rc == 0)
		CU_ASSERT_TRUE(told->mounts == t->mounts && told->files == t->files && told->dirs == t->dirs + t->way);
	topology_free(t);
}

static void test_grow(void)
{
	struct told told = {0};
	grow("mount /a//b/\\040c # text\r\nfiles / 2\ndirs /d 1 1 1 1\n", &told, 0);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&told.text), "/a\n/a/b\n/a/b/ c\n/a//b/ c\n/f1\n/f2\n/d\n/d/d1\n/d/d1/f1\n");
	strbuf_destroy(&told.text);

	/* Full trees: each place is taken, whatever the seed. */
	told = (struct told){0};
	grow("mount /m\ndirs / 14 3 2\ndirs /x 39 3 3 2\n", &told, 0);
	CU_ASSERT_EQUAL(told.dirs, 1 + 14 + 1 + 39);
	CU_ASSERT_EQUAL(told.files, 78);
	CU_ASSERT_EQUAL(told.deepest, 5);
	strbuf_destroy(&told.text);

	/* A chain, and one level. */
	told = (struct told){0};
	grow("mount /m\ndirs / 64 64 1\n", &told, 0);
	CU_ASSERT_EQUAL(told.deepest, 64);
	strbuf_destroy(&told.text);
	told = (struct told){0};
	grow("mount /m\ndirs / 5000 1 5000\n", &told, 0);
	CU_ASSERT_EQUAL(told.deepest, 1);
	strbuf_destroy(&told.text);

	/* On the way is what the line before has not made: by whole names, however many slashes. */
	told = (struct told){0};
	grow("mount /a/b\nmount //a/bc\ndirs /a//bc/ 1 1 1\nfiles /a 1\nfiles /a/b/c 1\nfiles / 1\nfiles /a 1\n", &told, 0);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&told.text), "/a\n/a/b\n/a/b\n/a/bc\n//a/bc\n/a//bc//d1\n/a/f1\n"
	                                               "/a/b\n/a/b/c\n/a/b/c/f1\n/f1\n/a\n/a/f1\n");
	strbuf_destroy(&told.text);

	/* What the maker returns ends it. */
	told = (struct told){.stop_at = 3};
	grow("mount /m\ndirs / 5000 1 5000\n", &told, 7);
	CU_ASSERT_EQUAL(told.dirs, 3);
	strbuf_destroy(&told.text);
}

static void test_same(void)
{
	/* The same each time, another with another seed. */
	static const char *const texts[] = {
		"seed 1\nmount /m\ndirs / 500 5 5 1\n", "seed 1\nmount /m\ndirs / 500 5 5 1\n", "seed 2\nmount /m\ndirs / 500 5 5 1\n",
	};
	struct told told[3] = {0};
	for (int i = 0; i < 3; ++i)
		grow(texts[i], &told[i], 0);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&told[0].text), strbuf_str(&told[1].text));
	CU_ASSERT_STRING_NOT_EQUAL(strbuf_str(&told[0].text), strbuf_str(&told[2].text));
	for (int i = 0; i < 3; ++i)
		strbuf_destroy(&told[i].text);

	/* The one that is built in, and a host's. */
	struct told own = {0}, host = {0};
	grow(topology_default, &own, 0);
	CU_ASSERT_TRUE(own.mounts >= 24 && own.mounts < 60 && own.dirs > 5000 && own.dirs < 20000);
	strbuf_destroy(&own.text);
	grow("24 1 0:1 / / rw - ext4 x rw\n25 24 0:2 / /proc rw - proc x rw\n26 24 0:3 / /a\\040b/c rw - tmpfs x rw\n", &host, 0);
	CU_ASSERT_EQUAL(host.mounts, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&host.text), "/a b/c\n/a b/c\n"));
	strbuf_destroy(&host.text);
}

static const struct unit_test tests[] = {
	{"median", test_median},
	{"medians of a row", test_settle},
	{"ratios", test_ratios},
	{"order of turns", test_order},
	{"how often", test_plan},
	{"rows", test_rows},
	{"topologies refused", test_refused},
	{"topologies grown", test_grow},
	{"the same each time", test_same},
	{NULL, NULL},
};

const struct unit_suite suite_profile = {"profile", tests};
