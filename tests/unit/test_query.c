/* SPDX-License-Identifier: MIT */
/* Queries: the rows of tests/fixtures/search/query, and properties of any expression. */
#include "cases.h"
#include "fault.h"
#include "query_world.h"
#include "unit.h"

#include <time.h>

#define ROWS "tests/fixtures/search/query"

/* Rows */

static void check_row(const char *row, const char *outcome)
{
	char *text = strdup(row), *words = strstr(text, " // ");
	STRBUF(got);
	struct query_error error = {0};
	if (words) {
		*words = '\0';
		words += 4;
	}
	query_warning[0] = '\0';
	struct query_env world = query_world;
	world.follow = strncmp(text, "-L ", 3) == 0;
	struct query *query = query_parse_text(text + (world.follow ? 3 : 0), &world, &error);
	if (!query) {
		strbuf_printf(&got, "! %zu %s", error.at, strbuf_str(&error.why));
	} else if (words) {
		struct query_thing thing;
		query_thing_init(&thing, words);
		query_thing_describe(query, &thing, &got);
		strbuf_destroy(&thing.done);
	} else {
		query_print(query, &got);
		if (*query_warning)
			strbuf_printf(&got, " ? %s", query_warning);
	}
	unit_expect(strbuf_str(&got), outcome);
	strbuf_destroy(&error.why);
	query_free(query);
	free(text);
}

UNIT_TEST(rows)
{
	setenv("TZ", "UTC", 1);
	tzset();
	CU_ASSERT_TRUE(unit_each_row(ROWS, check_row) > 0);
}

/* Limits */

/** Whether an expression with a regular expression is accepted. */
static bool accepts_regex(const char *syntax, const char *regex)
{
	STRBUF(text);
	struct query_error error = {0};
	strbuf_printf(&text, "-regextype %s -regex %s", syntax, regex);
	struct query *query = query_parse_text(strbuf_str(&text), &query_world, &error);
	bool accepted = query;
	unit_note("%s: %s", strbuf_str(&text), strbuf_str(&error.why));
	CU_ASSERT_TRUE(accepted || strstr(strbuf_str(&error.why), "repeats too much"));
	strbuf_destroy(&error.why);
	query_free(query);
	return accepted;
}

/** n copies of a text between two others. */
static const char *repeated(const char *first, const char *text, size_t n, const char *last)
{
	static char all[4000];
	char *end = stpcpy(all, first);
	for (size_t i = 0; i < n; ++i)
		end = stpcpy(end, text);
	stpcpy(end, last);
	return all;
}

/** An expression that would take much memory, or stack, is refused; others are not. */
UNIT_TEST(regex_size)
{
	CU_ASSERT_FALSE(accepts_regex("emacs", repeated("x", "+", 30, "")));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", repeated("x", "+*", 30, "")));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", repeated("x", "{2}", 30, "")));
	CU_ASSERT_FALSE(accepts_regex("emacs", repeated("{2,x", "+", 30, "}")));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", "((x{999}){999}){999}"));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", "(((x{,99}){,99}){,99}){,99}"));
	CU_ASSERT_FALSE(accepts_regex("posix-basic", "'\\(\\(x\\{999\\}\\)\\{999\\}\\)'"));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", repeated("", "(", 600, "x")));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", "x{0,5000}"));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", "x{,32000}"));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", "(x?y*){1600}"));
	CU_ASSERT_FALSE(accepts_regex("posix-egrep", repeated("", "(x?){12}", 280, "")));
	CU_ASSERT_TRUE(accepts_regex("posix-egrep", "'.*/\\{12345678-1234-.*'"));
	CU_ASSERT_TRUE(accepts_regex("emacs", "'.*/{12345678-1234-.*'"));
	CU_ASSERT_TRUE(accepts_regex("posix-egrep", "x{500}y{0,500}"));
	CU_ASSERT_TRUE(accepts_regex("posix-egrep", repeated("", "[a-z]+/?", 200, "")));
	CU_ASSERT_TRUE(accepts_regex("posix-egrep", "'(.{1,127}/){9}.{1,255}'"));
	CU_ASSERT_TRUE(accepts_regex("posix-egrep", "'((a+)+(b*)*)+\\(\\{[({]'"));
	CU_ASSERT_TRUE(accepts_regex("emacs", repeated("x", "*", 9, "")));
}

/** Parse n copies of some words between others. */
static struct query *parse_many(size_t n, const char *first, const char *again, const char *last)
{
	STRBUF(text);
	strbuf_puts(&text, first);
	for (size_t i = 0; i < n; ++i)
		strbuf_puts(&text, again);
	strbuf_puts(&text, last);
	return query_parse_text(strbuf_str(&text), &query_world, NULL);
}

UNIT_TEST(long_chains)
{
	/* No recursion for each term, and each is evaluated. */
	static const struct {
		const char *first, *again, *last;
		enum query_value acts;
	} rows[] = {
		{"-name a", " -o -name b", " -o -name name", QUERY_YES},
		{"-name a", " -o -name b", "", QUERY_NO},
		{"-name n*", " -name n*", " -name *e", QUERY_YES},
		{"-name n*", " -a -name n*", " ! -name *e", QUERY_NO},
		{"-name a", " , -name b", " , -name name", QUERY_YES},
		{"-name n*", " -prune -name n*", "", QUERY_YES},
		{"", "! ", "-name name", QUERY_YES},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct query *query = parse_many(100000, rows[i].first, rows[i].again,
		                                 rows[i].last);
		CU_ASSERT_PTR_NOT_NULL_FATAL(query);
		char none[] = "";
		struct query_thing thing;
		query_thing_init(&thing, none);
		struct query_outcome outcome;
		query_test(query, &thing.object, QUERY_NAMES, &outcome);
		CU_ASSERT_EQUAL(outcome.acts, rows[i].acts);
		STRBUF(text);
		query_print(query, &text);
		struct query *again = query_parse_text(strbuf_str(&text), &query_world, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(again);
		STRBUF(printed);
		query_print(again, &printed);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&printed), strbuf_str(&text));
		query_free(again);
		query_free(query);
	}
}

UNIT_TEST(deep_nesting)
{
	STRBUF(close);
	for (size_t i = 0; i < 1000; ++i)
		strbuf_puts(&close, " )");
	struct query *query = parse_many(1000, "", "! ( ", "-name name");
	CU_ASSERT_PTR_NULL(query);
	CU_ASSERT_EQUAL(errno, EINVAL);
	STRBUF(text);
	strbuf_puts(&text, "-name name");
	strbuf_puts(&text, strbuf_str(&close));
	query = parse_many(1000, "", "! ( -true , ", strbuf_str(&text));
	CU_ASSERT_PTR_NOT_NULL_FATAL(query);
	query_free(query);
	strbuf_puts(&text, " )");
	const char *const again[] = {"! ( ", "( ", "-exclude ( ", "-exclude ! ( -true , "};
	for (size_t i = 0; i < COUNT(again); ++i) {
		CU_ASSERT_PTR_NULL(parse_many(i == 0 ? 1001 : 1000000, "", again[i],
		                              strbuf_str(&text)));
		CU_ASSERT_EQUAL(errno, i < 2 ? E2BIG : EINVAL);
	}
	query_free(NULL);
}

static int parse_all_kinds(void *arg)
{
	(void)arg;
	static const char text[] =
		"-maxdepth 3 -exclude ( -name a -o -hidden ) ( -name '*.c' -o -iname '*X' ) "
		"-path '*[a]*' -size +1 -mtime 3 -newer f -samefile f -perm -u+X -user me "
		"-fstype ext4 -type f,d , -prune -o -exec ls {} ; -printf %p -used 3 -lname x";
	struct query *query = query_parse_text(text, &query_world, NULL);
	if (!query)
		return -1;
	STRBUF(out);
	query_print(query, &out);
	query_free(query);
	errno = ENOMEM;
	return out.failed ? -1 : 0;
}

UNIT_TEST(without_memory)
{
	FAULT_OR_SKIP();
	fault_each_allocation(parse_all_kinds, NULL, 10);
}

UNIT_TEST(tests_alone)
{
	static const struct {
		const char *text, *printed;
	} rows[] = {
		{"-name x", "-name x"},
		{"-name x -fprintf secret %p -o -fls secret -prune",
		 "-name x -print -o -print -prune"},
		{"-print -name x -quit", "-print -name x -quit"},
		{"-print0 , -ls", "-print , -print"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct query *query = query_parse_text(rows[i].text, &query_world, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(query);
		STRBUF(text);
		query_print_tests(query, &text);
		unit_expect(strbuf_str(&text), rows[i].printed);
		query_free(query);
	}
}

UNIT_TEST(info)
{
	static const struct {
		const char *text;
		unsigned mask, levels;
		const char *flags;   /* a(ll), p(rints), w(aits), x(type), P(rune), A(ctions) */
	} rows[] = {
		{"", 0, 0, "ap"},
		{"-print", 0, 0, "apA"},
		{"-print0", 0, 0, "apA"},
		{"-print -print", 0, 0, "A"},
		{"-name a -print -o -name b -print", 0, 1, "pA"},
		{"-name a -print , -name b -print", 0, 1, "A"},
		{"! -print -o -print", 0, 0, "A"},
		{"-print -o -print0", 0, 0, "A"},
		{"-exclude -name x", 0, 1, "pP"},
		{"-quit", 0, 0, ""},
		{"-name a", 0, 1, "p"},
		{"-type f", 0, 1, "p"},
		{"-type f -size 1", K_STATX_SIZE, 3, "p"},
		{"-mtime 1 -anewer f", K_STATX_MTIME | K_STATX_ATIME, 2, "p"},
		{"-newerBt @1", K_STATX_BTIME, 2, "p"},
		{"-readable", 0, 4, "p"},
		{"-xtype f", 0, 4, "px"},
		{"-nouser", K_STATX_UID, 6, "p"},
		{"-empty", K_STATX_SIZE, 6, "p"},
		{"-samefile f", K_STATX_INO, 2, "p"},
		{"-name x -prune -o -print", 0, 1, "pPA"},
		{"-exec a ; -o -prune", 0, 0, "wPA"},
		{"-exec a {} + -o -prune", 0, 0, "PA"},
		{"-exec a ; , -prune", 0, 0, "wPA"},
		{"( -name x , -delete ) -depth -prune", 0, 1, "PA"},
		{"-name x -ok a ;", 0, 1, "wA"},
		{"-type f -execdir a ;", 0, 1, "A"},
		{"-type d,l -execdir a ;", 0, 1, "wA"},
		{"! ( -type d ) -exec a ;", 0, 1, "A"},
		{"! -type f -exec a ;", 0, 1, "wA"},
		{"-type d -o -exec a ;", 0, 1, "A"},
		{"-type f -o -exec a ;", 0, 1, "wA"},
		{"-type f , -exec a ;", 0, 1, "wA"},
		{"-type f ( -name x -o -exec a ; )", 0, 1, "A"},
		{"! ( -exec a ; ) -name y -prune", 0, 1, "wPA"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].text);
		struct query *query = query_parse_text(rows[i].text, &query_world, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(query);
		const struct query_info *info = query_info(query);
		CU_ASSERT_EQUAL(info->mask, rows[i].mask);
		CU_ASSERT_EQUAL(info->levels, rows[i].levels);
		STRBUF(flags);
		strbuf_printf(&flags, "%s%s%s%s%s%s", info->all ? "a" : "",
		              info->only_prints ? "p" : "", info->waits ? "w" : "",
		              info->xtype ? "x" : "", info->has_prune ? "P" : "",
		              info->has_actions ? "A" : "");
		unit_expect(strbuf_str(&flags), rows[i].flags);
		query_free(query);
	}
}

UNIT_TEST(durations)
{
	static const struct {
		const char *text;
		double seconds;      /* -1: refused */
	} rows[] = {
		{"2d", 172800}, {"1h 30min", 5400}, {"1h30m", 5400}, {" 1.5 weeks ", 907200},
		{"90s", 90}, {"10 sec", 10}, {"1M", 2630016}, {"1y", 31557600}, {"250ms", 0.25},
		{"0s", 0}, {"", -1}, {"2", -1}, {"d", -1}, {"2x", -1}, {"-2d", -1}, {"2d ago", -1},
		{"2d 3", -1}, {"9999999999s", -1}, {"1..5h", -1}, {"2D", -1},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].text);
		struct timespec duration = {0};
		int result = query_duration(rows[i].text, &duration);
		CU_ASSERT_EQUAL(result, rows[i].seconds < 0 ? -1 : 0);
		CU_ASSERT_TRUE(result != 0 || (double)duration.tv_sec + (double)duration.tv_nsec
		                              / 1e9 == rows[i].seconds);
	}
}
