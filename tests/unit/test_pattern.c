/* SPDX-License-Identifier: MIT */
/*
 * Patterns: refusals, states, and what matching costs.  What matches what is in
 * test_pattern_random.c and tests/system/search_rows.py.
 */
#include "tree.h"
#include "unit.h"

#include "select/pattern.h"

/** Compile a valid pattern. */
static struct pattern *compile(const char *text, unsigned flags)
{
	struct pattern *pattern = pattern_compile(text, strlen(text), flags, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
	return pattern;
}

/* Refusals */

UNIT_TEST(refused)
{
	static const struct {
		const char *text;
		size_t at;
		const char *why;
	} rows[] = {
		{"", 0, "empty"},
		{"a/b[c", 3, "no ] closes this ["},
		{"[]", 0, "no ] closes this ["},
		{"ok|x[a|b]", 4, "no ] closes this ["},
		{"[a/b]", 0, "before the next / or |"},
		{"ab[x-c]", 3, "before it begins"},
		{"[[:digit:][:foo:]]", 10, "unknown character class"},
		{"[[.space.]]", 1, "one character"},
		{"[a-[=xy=]]", 3, "one character"},
		{"x|ab\\", 4, "backslash"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
		struct pattern_error error = {0};
		errno = 0;
		CU_ASSERT_PTR_NULL(pattern_compile(rows[i].text, strlen(rows[i].text), 0, &error));
		CU_ASSERT_EQUAL(errno, EINVAL);
		CU_ASSERT_EQUAL(error.at, rows[i].at);
		CU_ASSERT_PTR_NOT_NULL_FATAL(error.why);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.why, rows[i].why));
	}
	struct pattern_error error = {0};
	CU_ASSERT_PTR_NULL(pattern_compile("a\0b", 3, 0, &error));
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_EQUAL(error.at, 1);
	CU_ASSERT_PTR_NULL(pattern_compile("a", 1, 1, &error));
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_STRING_EQUAL(error.why, "unknown flags");
	CU_ASSERT_PTR_NULL(pattern_compile("[", 1, 0, NULL));
	/* The text with the error is known, and its place in it. */
	CU_ASSERT_PTR_NULL(pattern_compile_excluding("a|[", 3, "bc|d", 4, 0, &error));
	CU_ASSERT_TRUE(errno == EINVAL && error.at == 2 && !error.exclude);
	CU_ASSERT_PTR_NULL(pattern_compile_excluding("a|[", 3, "bc|d\\", 5, 0, &error));
	CU_ASSERT_TRUE(errno == EINVAL && error.at == 4 && error.exclude);
	CU_ASSERT_PTR_NULL(pattern_compile_excluding("a", 1, "", 0, 0, &error));
	CU_ASSERT_TRUE(errno == EINVAL && error.exclude);
	pattern_free(NULL);
}

UNIT_TEST(limits)
{
	char *text = malloc(PATTERN_MAX + 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	struct pattern_error error;

	/* The longest component, all wildcards, and one that is longer. */
	memset(text, '?', PATTERN_COMPONENT_MAX + 1);
	struct pattern *pattern =
	        pattern_compile(text, PATTERN_COMPONENT_MAX, PATTERN_PAPER_Q, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
	CU_ASSERT_TRUE(tree_matches(pattern, "anything"));
	pattern_free(pattern);
	text[0] = '/';
	CU_ASSERT_PTR_NOT_NULL(pattern =
	                               pattern_compile(text, PATTERN_COMPONENT_MAX + 1, 0, &error));
	pattern_free(pattern);
	text[0] = '?';
	CU_ASSERT_PTR_NULL(pattern_compile(text, PATTERN_COMPONENT_MAX + 1, 0, &error));
	CU_ASSERT_EQUAL(errno, E2BIG);
	CU_ASSERT_EQUAL(error.at, 0);

	/* The longest pattern: 32,768 alternatives, the last of which matches. */
	for (size_t i = 0; i < PATTERN_MAX; i += 2)
		memcpy(text + i, "a|", 2);
	text[PATTERN_MAX - 2] = 'b';
	text[PATTERN_MAX] = 'b';
	pattern = pattern_compile(text, PATTERN_MAX, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
	CU_ASSERT_EQUAL(pattern_words(pattern), PATTERN_MAX / 2 / 64);
	CU_ASSERT_TRUE(tree_matches(pattern, "x/b"));
	CU_ASSERT_FALSE(tree_matches(pattern, "x/c"));
	uint64_t *state = calloc(2 * pattern_words(pattern), sizeof(*state));
	CU_ASSERT_PTR_NOT_NULL_FATAL(state);
	pattern_root(pattern, state);
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "b", 1, state + pattern_words(pattern)),
	                PATTERN_MATCH | PATTERN_BELOW);
	free(state);
	pattern_free(pattern);
	CU_ASSERT_PTR_NULL(pattern_compile(text, PATTERN_MAX + 1, 0, &error));
	CU_ASSERT_EQUAL(errno, E2BIG);
	free(text);
}

/** Braces are expanded only while that is short; the limits are errors. */
UNIT_TEST(limits_of_braces)
{
	static const struct {
		const char *unit;
		unsigned n, flags;
		size_t words;
		const char *matches, *not;
	} rows[] = {
		{"{a,b}", 40, 0, 1, "abababababababababababababababababababab", "ababa"},
		{"{a,b,}", 40, PATTERN_NOCASE, 1, "aBAb", "ababac"},
		{"{a/b,c,d}", 40, 0, 8, "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd", "cc"},
		{"{x/,}", 5000, 0, 340, "x/x/x/x/x/.x", "y/.y"},
		{"{**/,}", 100, 0, 120, "x/y/z/x", "x/y"},
		{"{**/,}", 5000, 0, 0, NULL, NULL},
		{"{a,b{c,d{e,f}}}", 2000, 0, 1, NULL, "abcbdebdf"},
		{"{a,b,c,d,e,f,g,h}|", 3000, 0, 376, "x/h", "i"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(text);
		for (unsigned n = 0; n < rows[i].n; ++n)
			strbuf_puts(&text, rows[i].unit);
		if (strchr(rows[i].unit, '/') && rows[i].n > 40)
			strbuf_puts(&text, "*x");
		struct pattern_error error;
		struct pattern *pattern =
		        pattern_compile(text.data, text.len, PATTERN_EXTENDED | rows[i].flags,
		                        &error);
		unit_note("%s", rows[i].unit);
		if (!rows[i].words) {
			CU_ASSERT_TRUE(!pattern && errno == E2BIG
			               && strstr(error.why, "32,768 components"));
			continue;
		}
		CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
		CU_ASSERT_TRUE(pattern_words(pattern) <= rows[i].words);
		if (rows[i].matches)
			CU_ASSERT_TRUE(tree_matches(pattern, rows[i].matches));
		if (rows[i].not)
			CU_ASSERT_FALSE(tree_matches(pattern, rows[i].not));
		pattern_free(pattern);
	}
}

/* States */

/** A step by name; state becomes that of the child. */
static unsigned step(const struct pattern *pattern, uint64_t *state, const char *name)
{
	uint64_t child[16];
	const size_t words = pattern_words(pattern);
	CU_ASSERT_TRUE_FATAL(words <= COUNT(child));
	unsigned verdict = pattern_step(pattern, state, name, strlen(name), child);
	memcpy(state, child, words * sizeof(*state));
	return verdict;
}

UNIT_TEST(states)
{
	uint64_t state[1], child[1];
	struct pattern *pattern = compile("/usr/*/bin/x*", 0);
	CU_ASSERT_EQUAL(pattern_words(pattern), 1);
	CU_ASSERT_EQUAL(pattern_root(pattern, state), PATTERN_BELOW);
	CU_ASSERT_EQUAL(step(pattern, state, "usr"), PATTERN_BELOW);
	CU_ASSERT_EQUAL(step(pattern, state, "share"), PATTERN_BELOW);
	/* Nothing is below what is not a directory. */
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "bin", 3, NULL), 0);
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "lib", 3, child), 0);
	CU_ASSERT_EQUAL(child[0], 0);
	CU_ASSERT_EQUAL(step(pattern, state, "bin"), PATTERN_BELOW);
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "x1", 2, NULL), PATTERN_MATCH);
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "y1", 2, child), 0);
	/* A directory that matches is not entered. */
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "x1", 2, child), PATTERN_MATCH);
	CU_ASSERT_EQUAL(child[0], 0);
	/* The name ends where len says. */
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "x1/rest", 2, NULL), PATTERN_MATCH);
	CU_ASSERT_TRUE(tree_matches(pattern, "/usr//a/bin/x/"));
	CU_ASSERT_FALSE(tree_matches(pattern, "usr/a/lib/b/c") || tree_matches(pattern, ""));
	pattern_free(pattern);

	pattern = compile("b/bar|/a", 0);
	pattern_root(pattern, state);
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "a", 1, child), PATTERN_MATCH | PATTERN_BELOW);
	CU_ASSERT_EQUAL(step(pattern, state, "b"), PATTERN_BELOW);
	CU_ASSERT_EQUAL(pattern_step(pattern, state, "a", 1, NULL), 0);
	CU_ASSERT_EQUAL(step(pattern, state, "bar"), PATTERN_MATCH | PATTERN_BELOW);
	pattern_free(pattern);

	pattern = compile("a/|", 0);
	CU_ASSERT_EQUAL(pattern_words(pattern), 1);
	CU_ASSERT_EQUAL(pattern_root(pattern, state), 0);
	CU_ASSERT_EQUAL(step(pattern, state, "a"), 0);
	pattern_free(pattern);
}

/** One alternative of 200 components: its states span several words. */
UNIT_TEST(states_wide)
{
	enum { N = 200 };
	char text[2 * N + 1], path[2 * N + 1];
	for (int i = 0; i < N; ++i) {
		memcpy(text + 2 * i, "/?", 2);
		memcpy(path + 2 * i, "/x", 2);
	}
	text[2 * N] = path[2 * N] = '\0';
	struct pattern *anchored = compile(text, 0), *suffix = compile(text + 1, 0);
	CU_ASSERT_EQUAL_FATAL(pattern_words(anchored), 4);
	uint64_t a[4], s[4];
	pattern_root(anchored, a);
	pattern_root(suffix, s);
	for (int i = 1; i <= N + 70; ++i) {
		unsigned expected = i == N ? PATTERN_MATCH : i < N ? PATTERN_BELOW : 0;
		CU_ASSERT_EQUAL(step(anchored, a, "x"), expected);
		expected = PATTERN_BELOW | (i >= N ? PATTERN_MATCH : 0);
		CU_ASSERT_EQUAL(step(suffix, s, "x"), expected);
	}
	CU_ASSERT_TRUE(tree_matches(anchored, path));
	CU_ASSERT_FALSE(tree_matches(anchored, path + 2));
	CU_ASSERT_FALSE(tree_matches(suffix, path + 2));
	/* A name that does not match leaves only the first state of the suffix. */
	CU_ASSERT_EQUAL(step(suffix, s, "xx"), PATTERN_BELOW);
	CU_ASSERT_EQUAL(s[0] | s[1] | s[2] | s[3], 1);
	pattern_free(anchored);
	pattern_free(suffix);
}

UNIT_TEST(literal)
{
	static const struct {
		const char *text, *path;   /* NULL: not a path */
	} rows[] = {
	        {"/a", "a"},           {"/etc/fstab", "etc/fstab"},
	        {"\\/a\\/\\b", "a/b"}, {"/\\*\\|\\\\", "*|\\"},
	        {"/a||b/", "a"},       {"/.a", ".a"},
	        {"a", NULL},           {"/a*", NULL},
	        {"/a/[b]", NULL},      {"/?", NULL},
	        {"/a|/b", NULL},       {"/", NULL},
	        {"/a/", NULL},         {"/a/..", NULL},
	        {"|", NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
		struct pattern *pattern = compile(rows[i].text, PATTERN_PERIOD);
		STRBUF(path);
		strbuf_puts(&path, "root/");
		bool is = pattern_literal(pattern, &path);
		CU_ASSERT_EQUAL(is, rows[i].path != NULL);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&path) + 5, rows[i].path ? rows[i].path : "");
		if (is)
			CU_ASSERT_TRUE(tree_matches(pattern, rows[i].path));
		pattern_free(pattern);
	}
}

/* What it costs */

/** Patterns that are slow for matchers that backtrack: the cost is at most the length of the name
    times that of the pattern. */
UNIT_TEST(linear)
{
	enum { N = 100000 };
	static const struct {
		const char *text, *end;
		unsigned flags;
	} rows[] = {
		{"*a*a*a*a*b", "", 0},
		{"*a*a*a*a*b", "b", 0},
		{"*a*a*a*a*a*a*a*a*a*a*c*", "b", 0},
		{"*?*?*?*?*?*?*?*?*?*?*?*?b", "c", 0},
		{"*a?*a?*a?*a?*a?*a?*a?*[b]", "", 0},
		{"*[ab]*[ab]*[ab]*[ab]*[ab]*[ab]*[c]*", "", 0},
		{"[!b]*[!b]*[!b]*[!b]*[!b]*[!b]*[!b]*[!b]*[!b]?c", "", 0},
		{"*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab*", "", 0},
		{"*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa[b]", "", 0},
		{"a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaa*[b]", "", PATTERN_PAPER_Q},
		{"*a?*a?*a?*a?*a?[b]*a?*a?*a?*a?*a?*a?[b]", "", PATTERN_PAPER_Q},
		{"????????????????????????????????[b]*", "", PATTERN_PAPER_Q},
	};
	static char name[N + 2];
	memset(name, 'a', N);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
		struct pattern *pattern = compile(rows[i].text, rows[i].flags);
		double begin = unit_cpu();
		strcpy(name + N, rows[i].end);
		tree_matches(pattern, name);
		/* Usual are 30 ms, and three minutes if each star tries each place. */
		unit_note("%s: %.3f s", rows[i].text, unit_cpu() - begin);
		CU_ASSERT_TRUE(unit_cpu() - begin < 10);
		pattern_free(pattern);
	}
}
