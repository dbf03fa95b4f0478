/* SPDX-License-Identifier: MIT */
/*
 * The bounds of queries: what some expressions require; and that random objects for which random
 * expressions are true are within the bounds of these.
 */
#include "query_world.h"
#include "select/query_bounds.h"
#include "unit.h"

#include <dirent.h>
#include <inttypes.h>

static uint64_t seed;

static unsigned random_below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void put_range(struct strbuf *out, const char *name, uint64_t min, uint64_t max)
{
	if (min == 0 && max == UINT64_MAX)
		return;
	strbuf_printf(out, " %s=", name);
	if (min > 0)
		strbuf_printf(out, "%" PRIu64, min);
	strbuf_puts(out, "..");
	if (max < UINT64_MAX)
		strbuf_printf(out, "%" PRIu64, max);
}

static void put_times(struct strbuf *out, const char *name, int64_t min, int64_t max)
{
	if (min == INT64_MIN && max == INT64_MAX)
		return;
	strbuf_printf(out, " %s=", name);
	if (min > INT64_MIN)
		strbuf_printf(out, "%" PRId64, min);
	strbuf_puts(out, "..");
	if (max < INT64_MAX)
		strbuf_printf(out, "%" PRId64, max);
}

/** Append the bounds as words. */
static void describe(const struct query_bounds *b, struct strbuf *out)
{
	static const char letters[] = " pc d b f l s";
	if (b->none) {
		strbuf_puts(out, " none");
		return;
	}
	if (b->name)
		strbuf_printf(out, " %s%s=%s", b->any_case ? "i" : "",
		              b->literal ? "literal" : "name", b->name);
	if (b->types != UINT32_MAX) {
		strbuf_puts(out, " types=");
		for (unsigned i = 1; i < sizeof(letters) - 1; ++i) {
			if (letters[i] != ' ' && b->types >> i & 1)
				strbuf_putc(out, letters[i]);
		}
	}
	put_range(out, "uid", b->uid.min, b->uid.max);
	put_range(out, "gid", b->gid.min, b->gid.max);
	put_range(out, "size", b->size.min, b->size.max);
	put_range(out, "ino", b->ino.min, b->ino.max);
	put_range(out, "nlink", b->nlink.min, b->nlink.max);
	put_times(out, "mtime", b->mtime.min, b->mtime.max);
	put_times(out, "ctime", b->ctime.min, b->ctime.max);
	put_times(out, "atime", b->atime.min, b->atime.max);
	put_times(out, "btime", b->btime.min, b->btime.max);
}

static const struct {
	const char *query, *bounds;
} expected[] = {
	{"", ""},
	{"-name a", " literal=a"},
	{"-name 'a*'", " name=a*"},
	{"-name 'a\\*'", " name=a\\*"},
	{"-iname a", " iliteral=a"},
	{"-name a -o -name a", " literal=a"},
	{"-name a -o -name b", ""},
	{"-name a -o -iname a", ""},
	{"-name a -name b", " none"},
	{"-name 'a*' -name ab", " literal=ab"},
	{"! -name a", ""},
	{"-type f", " types=f"},
	{"-type f,d", " types=df"},
	{"! -type f", " types=pcdbls"},
	{"-type f -type d", " none"},
	{"-empty", " types=df"},
	{"-lname x", " types=l"},
	/* Sizes are rounded up. */
	{"-size 0", " size=..0"},
	{"-size 3", " size=1025..1536"},
	{"-size +3k", " size=3073.."},
	{"-size -3k", " size=..2048"},
	{"-size -0", " none"},
	{"-size -1M", " size=..0"},
	{"! -size +3k", " size=..3072"},
	{"! -size -3k", " size=2049.."},
	{"! -size 0", " size=1.."},
	{"! -size 3", ""},
	{"-size 5c", " size=5..5"},
	{"-size +18446744073709551615c", " none"},
	{"-size +18446744073709551615k", " none"},
	{"-size -18446744073709551615k", ""},
	{"-size 18446744073709551615k", " none"},
	{"-uid 7 -gid +8", " uid=7..7 gid=9.."},
	{"-user me", " uid=1000..1000"},
	{"! -uid 0", " uid=1.."},
	{"-inum 5 -o -inum 9", " ino=5..9"},
	{"-links +1", " nlink=2.."},
	{"-samefile f", " ino=7..7"},
	/* Now is 1000000000.5. */
	{"-mtime -1", " mtime=999913599.."},
	{"-mtime +1", " mtime=..999827200"},
	{"-mtime 1", " mtime=999827200..999913600"},
	{"! -mtime -1", " mtime=..999913599"},
	{"-newer f", " mtime=400.."},
	{"-newermc f", " mtime=300.."},
	{"-newerBt @9", " btime=9.."},
	{"! -newerBt @9", ""},
	{"-anewer f -cnewer f", " ctime=400.. atime=400.."},
	{"! -newerat @9", " atime=..9"},
	/* Only the way to actions counts. */
	{"-name a -print -o -name b", " literal=a"},
	{"-name a -print -o -name b -exec x {} +", ""},
	{"-name x -prune -o -uid 1 -print", " uid=1..1"},
	{"-name x -prune -o -uid 1", ""},
	{"-uid 1 -o -uid 3 -print", " uid=3..3"},
	{"( -uid 1 -o -uid 3 ) -print", " uid=1..3"},
	{"-uid 1 , -uid 3", " uid=3..3"},
	{"-uid 1 -print , -uid 3 -print", " uid=1..3"},
	{"-uid 1 -exec x ';' -o -uid 3 -print", " uid=1..3"},
	{"! ( -uid 0 -o -type f )", " types=pcdbls uid=1.."},
	{"! ( -uid +0 -a -uid -9 )", ""},
	{"-false", " none"},
	{"! -true", " none"},
	{"-false -o -uid 4", " uid=4..4"},
	{"-uid 4 -quit -o -uid 6 -print", " uid=4..6"},
	{"-exclude -uid 4", ""},
	{"-perm 4 -readable -path 'a*'", ""},
};

UNIT_TEST(expected_bounds)
{
	for (size_t i = 0; i < COUNT(expected); ++i) {
		unit_note("%s", expected[i].query);
		struct query *query = query_parse_text(expected[i].query, &query_world, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(query);
		struct query_bounds bounds;
		query_bounds(query, &bounds);
		STRBUF(got);
		describe(&bounds, &got);
		unit_expect(strbuf_str(&got), expected[i].bounds);
		query_free(query);
	}
	struct query_bounds all;
	query_bounds(NULL, &all);
	STRBUF(got);
	describe(&all, &got);
	unit_expect(strbuf_str(&got), "");
	CU_ASSERT_TRUE(query_bounds_name(&all, "x", 1));
}

/* Random expressions */

static const char *const names[] = {"a", "ab", "A", "b.c", "x"};

static void put_leaf(struct strbuf *out)
{
	static const char *const patterns[] = {"a", "a*", "?b", "ab", "*.c", "[ab]*", "\\a", "A"};
	static const char *const numbers[] = {"-uid", "-gid", "-inum", "-links", "-size"};
	static const char *const dates[] = {"-newermt", "-newerat", "-newerct", "-newerBt"};
	static const char *const ages[] = {"-mtime", "-ctime", "-amin", "-mmin"};
	static const char *const others[] = {
		"-true", "-false", "-empty", "-readable", "-type f", "-type d,l", "-hidden",
		"-print", "-print", "-prune", "-quit", "-exec x ';'", "-exec x {} +", "-lname t",
		"-xtype f", "-nouser", "-used 0", "-perm 644", "-maxdepth 3", "-path a",
	};
	static const char *const signs[] = {"", "+", "-"}, *const units[] = {"", "c", "k", "w"};
	unsigned kind = random_below(8);
	if (kind < 2) {
		strbuf_printf(out, " -%sname '%s'", kind ? "i" : "",
		              patterns[random_below(COUNT(patterns))]);
	} else if (kind < 4) {
		unsigned which = random_below(COUNT(numbers));
		strbuf_printf(out, " %s %s%u%s", numbers[which], signs[random_below(3)],
		              random_below(4), which == 4 ? units[random_below(4)] : "");
	} else if (kind == 4) {
		strbuf_printf(out, " %s @%u.%u", dates[random_below(COUNT(dates))],
		              random_below(4), random_below(3));
	} else if (kind == 5) {
		strbuf_printf(out, " %s %s%u", ages[random_below(COUNT(ages))],
		              signs[random_below(3)], 11573 + random_below(3));
	} else {
		strbuf_printf(out, " %s", others[random_below(COUNT(others))]);
	}
}

static void put_expression(struct strbuf *out, int depth)
{
	static const char *const operators[] = {"", "", "", " -o", " -o", " ,"};
	if (random_below(4) == 0)
		strbuf_puts(out, " !");
	if (depth == 0 || random_below(5) == 0) {
		put_leaf(out);
		return;
	}
	strbuf_puts(out, " (");
	unsigned n = 1 + random_below(3);
	for (unsigned i = 0; i < n; ++i) {
		if (i > 0)
			strbuf_puts(out, operators[random_below(COUNT(operators))]);
		put_expression(out, depth - 1);
	}
	strbuf_puts(out, " )");
}

static void random_object(struct query_thing *thing)
{
	static const char types[] = "fdlbcps";
	char words[300];
	/* Ages count from 1000000000.5. */
	long age = random_below(2) ? (long)(1000000000u - 86400 * 11573u) : 0;
	snprintf(words, sizeof(words), "name=%s type=%c size=%u nlink=%u uid=%u gid=%u ino=%u "
	         "mtime=%ld.%u atime=%ld.%u ctime=%ld.%u btime=%u%s mode=644 target=t",
	         names[random_below(COUNT(names))], types[random_below(7)],
	         random_below(3) * random_below(1300), random_below(4), random_below(4),
	         random_below(4), random_below(4), age + random_below(4), random_below(3),
	         age + random_below(4), random_below(3), age + random_below(4), random_below(3),
	         random_below(4), random_below(4) ? "" : " unborn");
	/* Its strings are in words. */
	static char kept[sizeof(words)];
	memcpy(kept, words, sizeof(words));
	query_thing_init(thing, kept);
}

static bool in_range(struct query_range range, uint64_t n)
{
	return n >= range.min && n <= range.max;
}

static bool in_times(struct query_times times, int64_t sec)
{
	return sec >= times.min && sec <= times.max;
}

static bool is_within(const struct query_bounds *b, const struct query_thing *thing)
{
	const struct k_statx *st = &thing->st;
	const struct query_object *object = &thing->object;
	if (b->literal && !b->any_case && strcmp(b->name, object->name) != 0)
		return false;
	return !b->none && b->types >> object->type & 1 && in_range(b->uid, st->uid)
	       && in_range(b->gid, st->gid) && in_range(b->size, st->size)
	       && in_range(b->ino, st->ino) && in_range(b->nlink, st->nlink)
	       && in_times(b->mtime, st->mtime.sec) && in_times(b->ctime, st->ctime.sec)
	       && in_times(b->atime, st->atime.sec)
	       && (!(st->mask & K_STATX_BTIME) || in_times(b->btime, st->btime.sec))
	       && query_bounds_name(b, object->name, object->len);
}

static bool at_end(struct query_times times, int64_t sec)
{
	return sec == times.min || sec == times.max;
}

/** Whether the fraction of a second decides. */
static bool is_at_end(const struct query_bounds *b, const struct k_statx *st)
{
	return at_end(b->mtime, st->mtime.sec) || at_end(b->ctime, st->ctime.sec)
	       || at_end(b->atime, st->atime.sec) || at_end(b->btime, st->btime.sec);
}

UNIT_TEST(random_objects)
{
	unsigned within = 0, found = 0, all = 0, sure = 0;
	for (unsigned i = 0; i < 20000; i += unit_step()) {
		seed = i * 7919 + 1;
		STRBUF(text);
		put_expression(&text, 1 + (int)random_below(4));
		struct query *query = query_parse_text(strbuf_str(&text), &query_world, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(query);
		struct query_bounds bounds;
		query_bounds(query, &bounds);
		for (int j = 0; j < 20; ++j) {
			struct query_thing thing;
			struct query_outcome outcome;
			random_object(&thing);
			query_test(query, &thing.object, QUERY_ALL, &outcome);
			bool in = is_within(&bounds, &thing);
			++all;
			within += in;
			found += outcome.acts != QUERY_NO;
			if (outcome.acts != QUERY_NO && !in) {
				unit_note("%s", strbuf_str(&text));
				CU_FAIL("an object is out of bounds");
				i = 20000;
				break;
			}
			if (!bounds.exact || !in || thing.object.type == DT_UNKNOWN
			    || is_at_end(&bounds, &thing.st))
				continue;
			++sure;
			if (outcome.acts != QUERY_YES) {
				unit_note("%s", strbuf_str(&text));
				CU_FAIL("exact bounds contain an object that is not found");
				i = 20000;
				break;
			}
		}
		query_free(query);
	}
	/* They exclude something. */
	CU_ASSERT_TRUE(within - found < (all - found) * 3 / 4 || all < 1000);
	CU_ASSERT_TRUE(sure > all / 20 || all < 1000);
}
