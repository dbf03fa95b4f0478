/* SPDX-License-Identifier: MIT */
/*
 * cmd/linediff: a diff applied by this test and by patch(1) gives the new text; it is the
 * shortest, by the length of the longest common subsequence; and no text makes it slow.
 */
#include "unit.h"

#include "../lib/apply_diff.h"
#include "loop.h"

static uint64_t seed = 88172645463325252u;

static uint32_t chance(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static const char *diff_of(struct strbuf *out, const char *old, const char *new)
{
	strbuf_reset(out);
	struct linediff_count count;
	CU_ASSERT_EQUAL(linediff(out, old, strlen(old), new, strlen(new), &count), 0);
	return strbuf_str(out);
}

UNIT_TEST(forms)
{
	static const struct {
		const char *old, *new, *diff;
	} rows[] = {
		{"", "", ""},
		{"a\n", "a\n", ""},
		{"a", "a", ""},
		{"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		{"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		{"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"a", "b\na", "@@ -1 +1,2 @@\n+b\n a\n\\ No newline at end of file\n"},
		{"\n", "\n\n", "@@ -1 +1,2 @@\n \n+\n"},
		{"a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
		 "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		/* Six lines between two changes are one hunk; seven split it. */
		{"a\n1\n2\n3\n4\n5\n6\nb\n", "1\n2\n3\n4\n5\n6\n",
		 "@@ -1,8 +1,6 @@\n-a\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n"},
		{"a\n1\n2\n3\n4\n5\n6\n7\nb\n", "1\n2\n3\n4\n5\n6\n7\n",
		 "@@ -1,4 +1,3 @@\n-a\n 1\n 2\n 3\n@@ -6,4 +5,3 @@\n 5\n 6\n 7\n-b\n"},
	};
	STRBUF(out);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		const char *diff = diff_of(&out, rows[i].old, rows[i].new);
		if (strcmp(diff, rows[i].diff) != 0)
			printf("  row %zu:\n%s", i, diff);
		CU_ASSERT_STRING_EQUAL(diff, rows[i].diff);
	}
}

/** Whether the diff of two texts turns the old one into the new one. */
static bool applies(const char *old, size_t old_len, const char *new, size_t new_len,
                    struct linediff_count *count)
{
	STRBUF(diff);
	STRBUF(made);
	bool ok = linediff(&diff, old, old_len, new, new_len, count) == 0
	          && apply_diff(old, old_len, &diff, &made) && made.len == new_len
	          && memcmp(strbuf_str(&made), new, new_len) == 0;
	return ok;
}

/* Random texts. */

/** Append a line of a small alphabet; each is of other bytes. */
static void add_line(struct strbuf *out, uint32_t id, bool ended)
{
	static const char *const odd[] = {"", "\r", " ", "-", "+a", "@@ -1 +1 @@", "\\ No newline",
	                                  "--- a", "# comment"};
	if (id < COUNT(odd))
		strbuf_puts(out, odd[id]);
	else
		strbuf_printf(out, "UUID=%u /m/%u ext4 defaults 0 0", id, id);
	if (ended)
		strbuf_putc(out, '\n');
}

/** Make a text, or change one. */
static size_t make_ids(unsigned char *ids, size_t max, const unsigned char *from, size_t n,
                       unsigned alphabet)
{
	size_t count = 0;
	if (!from) {
		count = chance((uint32_t)max);
		for (size_t i = 0; i < count; ++i)
			ids[i] = (unsigned char)chance(alphabet);
		return count;
	}
	for (size_t i = 0; i <= n && count < max; ++i) {
		uint32_t what = chance(12);
		if (what == 0)
			ids[count++] = (unsigned char)chance(alphabet);
		if (what != 1 && i < n && count < max)
			ids[count++] = what == 2 ? (unsigned char)chance(alphabet) : from[i];
	}
	return count;
}

static void make_text(struct strbuf *out, const unsigned char *ids, size_t n, bool ended)
{
	strbuf_reset(out);
	for (size_t i = 0; i < n; ++i)
		add_line(out, ids[i], i + 1 < n || ended);
}

/** The length of the longest common subsequence. */
static size_t lcs(const unsigned char *a, size_t n, const unsigned char *b, size_t m, bool a_ended,
                  bool b_ended)
{
	enum { MAX = 64 };
	static size_t best[MAX + 1][MAX + 1];
	for (size_t i = 0; i <= n; ++i) {
		for (size_t j = 0; j <= m; ++j) {
			if (i == 0 || j == 0) {
				best[i][j] = 0;
				continue;
			}
			bool cut_a = i == n && !a_ended, cut_b = j == m && !b_ended;
			bool same = a[i - 1] == b[j - 1] && cut_a == cut_b;
			best[i][j] = same ? best[i - 1][j - 1] + 1
			             : best[i - 1][j] > best[i][j - 1] ? best[i - 1][j]
			             : best[i][j - 1];
		}
	}
	return best[n][m];
}

UNIT_TEST(random)
{
	unsigned char a[64], b[64];
	STRBUF(old);
	STRBUF(new);
	unsigned wrong = 0, long_ones = 0;
	for (int i = 0; i < 15000; ++i) {
		unsigned alphabet = 1 + chance(20);
		size_t n = make_ids(a, 60, NULL, 0, alphabet),
		           m = make_ids(b, 60, chance(3) ? a : NULL, n, alphabet);
		/* An empty last line needs a newline. */
		bool a_ended = chance(4) || n == 0 || a[n - 1] == 0, b_ended = chance(4) || m == 0
		               || b[m - 1] == 0;
		make_text(&old, a, n, a_ended);
		make_text(&new, b, m, b_ended);
		struct linediff_count count = {0};
		wrong += !applies(strbuf_str(&old), old.len, strbuf_str(&new), new.len, &count);
		size_t common = lcs(a, n, b, m, a_ended, b_ended);
		long_ones += count.removed != n - common || count.added != m - common;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(long_ones, 0);
}

/** Write a file of a directory.  @return whether it was written. */
/** patch(1) makes the new text of the old one, and the old of the new. */
UNIT_TEST(patch)
{
	if (system("patch --version >/dev/null 2>&1") != 0)
		UNIT_SKIP("no patch(1)");
	top_begin(NULL);
	unsigned char a[64], b[64];
	STRBUF(old);
	STRBUF(new);
	STRBUF(diff);
	unsigned wrong = 0;
	for (int i = 0; i < 120; ++i) {
		unsigned alphabet = 2 + chance(40);
		size_t n = make_ids(a, 60, NULL, 0, alphabet),
		           m = make_ids(b, 60, chance(4) ? a : NULL, n, alphabet);
		make_text(&old, a, n, chance(3));
		make_text(&new, b, m, chance(3));
		/* patch(1) removes empty files and refuses empty diffs. */
		if (old.len == 0 || new.len == 0 || strcmp(strbuf_str(&old), strbuf_str(&new)) == 0)
			continue;
		strbuf_reset(&diff);
		strbuf_puts(&diff, "--- f\n+++ f\n");
		CU_ASSERT_EQUAL(linediff(&diff, old.data, old.len, new.data, new.len,
		                         &(struct linediff_count){0}), 0);
		top_write("old", strbuf_str(&old));
		top_write("new", strbuf_str(&new));
		top_write("diff", strbuf_str(&diff));
		/* -F0: no fuzz. */
		if (!top_run("patch -s --binary -F0 -o got old diff >log 2>&1 && cmp -s got new"
		             " && patch -s --binary -R -F0 -o back new diff >log 2>&1"
		             " && cmp -s back old")) {
			printf("  %s\n", strbuf_str(&diff));
			++wrong;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
	top_end();
}

/* Texts that are hard to compare. */

enum { MANY = 100000 };

static void fill(struct strbuf *out, int kind, size_t n, bool new)
{
	strbuf_reset(out);
	for (size_t i = 0; i < n; ++i) {
		size_t id = 0;
		switch (kind) {
		case 0:   /* the same lines, backwards */
			id = new ? n - i : i;
			break;
		case 1:   /* of two lines, by chance */
			id = chance(2);
			break;
		case 2:   /* of many that are in both */
			id = chance((uint32_t)n);
			break;
		case 3:   /* nothing in common */
			id = 2 * i + new;
			break;
		case 4:   /* periods that do not fit */
			id = new ? i % 997 : i % 1009;
			break;
		case 5:   /* one line, and other lines in one text */
			id = new && i % 2 ? 1 : 0;
			break;
		case 6:   /* long runs */
			id = new ? i / 300 % 7 : i / 500 % 5;
			break;
		}
		strbuf_printf(out, "line %zu\n", id);
	}
}

UNIT_TEST(hostile)
{
	STRBUF(old);
	STRBUF(new);
	double worst = 0;
	for (int kind = 0; kind <= 6; ++kind) {
		fill(&old, kind, MANY, false);
		fill(&new, kind, kind == 5 ? MANY / 2 : MANY, true);
		double start = unit_cpu();
		struct linediff_count count = {0};
		CU_ASSERT_EQUAL(linediff(NULL, old.data, old.len, new.data, new.len, &count), 0);
		double took = unit_cpu() - start;
		worst = took > worst ? took : worst;
		CU_ASSERT_TRUE(applies(old.data, old.len, new.data, new.len, &count));
	}
	printf("  texts of %d lines: %.2f s of CPU at most\n", MANY, worst);
	CU_ASSERT_TRUE(worst < 30);   /* also under valgrind and sanitizers */
}
