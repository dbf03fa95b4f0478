/* SPDX-License-Identifier: MIT */
/*
 * Random patterns, compared with fnmatch(3) where it has the same rules, and with all combinations
 * of their braces.  tests/fixtures/search has the other rules.
 */
#include "tree.h"
#include "unit.h"

#include "select/pattern.h"

#include <fnmatch.h>
#include <sys/random.h>

static bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		++text;
	return *text == '\0';
}

/** Whether fnmatch(3) has the same rules for this.  It counts bytes; has no `?` for no
    character; refuses [. and [= without an end; in glibc 2.36, a star before an escaped slash
    matches nothing, and a leading period may be matched by a `?` after a star. */
static bool libc_knows(const char *text, const char *path, unsigned flags)
{
	return is_ascii(text) && is_ascii(path) && !(flags & PATTERN_PAPER_Q) && !strstr(text, "[.")
	       && !strstr(text, "[=") && !strstr(text, "\\/")
	       && !(flags & PATTERN_PERIOD && strchr(text, '?'));
}

/** The answer of fnmatch(3) for the path, or for what follows each slash, by one alternative. */
static bool libc_matches_one(const char *one, const char *path, int fn)
{
	if (*one == '/')
		return fnmatch(one, path, fn) == 0;
	const char *slash = path;
	while (slash && fnmatch(one, slash + 1, fn) != 0)
		slash = strchr(slash + 1, '/');
	return slash;
}

/** The same by each alternative of a pattern. */
static bool libc_match(const char *text, const char *path, unsigned flags)
{
	int fn = FNM_PATHNAME | (flags & PATTERN_PERIOD ? FNM_PERIOD : 0);
	char one[4096];
	for (size_t n = 0;; ++text) {
		if (*text && *text != '|') {
			if (*text == '\\' && text[1])
				one[n++] = *text++;
			one[n++] = *text;
			continue;
		}
		one[n] = '\0';
		if (libc_matches_one(one, path, fn))
			return true;
		if (!*text)
			return false;
		n = 0;
	}
}

/* Random input */

static uint64_t chance;

static uint32_t below(uint32_t n)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return (uint32_t)(chance >> 32) % n;
}

/** Begin with a seed that is printed; GETMNT_SEED=N repeats a run. */
static void seed_chance(const char *name)
{
	const char *given = getenv("GETMNT_SEED");
	if (given)
		chance = strtoull(given, NULL, 10);
	else if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
		chance = 0;
	chance |= 1;
	printf("  %s: GETMNT_SEED=%llu\n", name, (unsigned long long)chance);
}

static const char *any_of(const char *const *words, size_t n)
{
	return words[below((uint32_t)n)];
}
#define ANY_OF(words) any_of(words, sizeof(words) / sizeof((words)[0]))

static void add(char *out, const char *text)
{
	strcpy(out + strlen(out), text);
}

/** A name, which may have odd bytes; not "." nor "..". */
static void random_name(char *out)
{
	static const char *const plain[] = {"a", "b", "c", ".", "-"};
	static const char *const odd[] = {"\303\251", "\303", "\251", "\377", "\360\237\230\200",
	                                  "[",        "]",    "*",    "?",    "\\",
	                                  "|",        "!",    "^",    ":",    "\n",
	                                  " ",        "A",    "0"};
	*out = '\0';
	for (uint32_t n = 1 + below(6); n > 0; --n)
		add(out, below(5) ? ANY_OF(plain) : ANY_OF(odd));
	if (strcmp(out, ".") == 0 || strcmp(out, "..") == 0)
		strcpy(out, "a.");
}

static void random_path(char *out)
{
	*out = '\0';
	for (uint32_t n = 1 + below(4); n > 0; --n) {
		add(out, "/");
		random_name(out + strlen(out));
	}
}

/** A random alternative. */
static void random_words(char *out)
{
	static const char *const words[] = {
		"a", "b", "c", ".", "*", "*", "?", "[ab]", "[!a]", "/", "/", "-", "\303\251",
	};
	static const char *const odd[] = {
		"[", "]", "!", "^", "\\", "|", "\303", "\251", "[[:alpha:]]", "[a-c]", "[[=a=]]",
		"[[.-.]]", "[[:foo:]]", "[^.-]", "[]]", "[a\\]b]", "[c-a]", "[!\200-\377]",
		"[\303\240-\303\277]", "\\*", "\\a", "[\\a-c]", "**", "\360\237\230\200", "[[",
		"[:", "a-", "[=", "=]", "[.", ".]", ":]",
	};
	for (uint32_t n = 1 + below(7); n > 0; --n)
		add(out, below(4) ? ANY_OF(words) : ANY_OF(odd));
}

/** An alternative that is likely to match a path: a part of it, with wildcards. */
static void random_like(char *out, const char *path)
{
	const char *from = path;
	for (uint32_t n = below(4); n > 0 && strchr(from + 1, '/'); --n)
		from = strchr(from + 1, '/');
	if (below(3))
		++from;
	for (; *from; ++from) {
		char one[3] = {*from};
		if (*from != '/') {
			static const char *const wild[] = {"*",    "?",      "?",  "[a-c]",
			                                   "[!x]", "[.a-z]", "**", ""};
			if (below(3) == 0) {
				add(out, ANY_OF(wild));
				continue;
			}
			if (strchr("*?[\\|", *from))
				snprintf(one, sizeof(one), "\\%c", *from);
		}
		add(out, one);
		if (below(12) == 0)
			add(out, below(2) ? "*" : "?");
	}
}

static void random_pattern(char *out, const char *path)
{
	*out = '\0';
	for (uint32_t n = 1 + (below(3) == 0) + (below(9) == 0); n > 0; --n) {
		if (below(2))
			random_like(out + strlen(out), path);
		else
			random_words(out);
		if (n > 1)
			add(out, "|");
	}
}

static unsigned random_flags(void)
{
	return (below(4) == 0 ? PATTERN_PERIOD : 0) | (below(3) == 0 ? PATTERN_PAPER_Q : 0);
}

/** Print bytes, escaped. */
static void show(const char *label, const char *text)
{
	printf("  %s \"", label);
	for (; *text; ++text)
		printf(*text < ' ' || *text == '"' || *text == '\\' ? "\\%03o" : "%c",
		       (unsigned char)*text);
	printf("\"\n");
}

struct tally {
	unsigned bad, matched, by_libc;
};

/** Whether both matchers agree about one pair. */
static bool pair_agrees(const char *text, const char *path, unsigned flags, struct tally *tally)
{
	errno = 0;
	struct pattern *pattern = pattern_compile(text, strlen(text), flags, NULL);
	if (!pattern) {
		++tally->bad;
		return errno == EINVAL;
	}
	bool matches = tree_matches(pattern, path);
	bool agrees = tree_matches(pattern, path + 1) == matches;
	if (libc_knows(text, path, flags)) {
		agrees = agrees && libc_match(text, path, flags) == matches;
		++tally->by_libc;
	}
	tally->matched += matches;
	pattern_free(pattern);
	return agrees;
}

UNIT_TEST(random)
{
	enum { PAIRS = 100000 };
	struct tally tally = {0};
	seed_chance("random");
	for (int i = 0; i < PAIRS; ++i) {
		char path[256], text[4096];
		random_path(path);
		random_pattern(text, path);
		unsigned flags = random_flags();
		bool agrees = pair_agrees(text, path, flags, &tally);
		if (!agrees) {
			show("path", path);
			show("pattern", text);
			printf("  flags %#x\n", flags);
		}
		CU_ASSERT_TRUE_FATAL(agrees);
	}
	/* There were pairs of all kinds. */
	CU_ASSERT(tally.bad > PAIRS / 50);
	CU_ASSERT(tally.matched > PAIRS / 10 && tally.matched < PAIRS / 10 * 9);
	CU_ASSERT(tally.by_libc > PAIRS / 20);
}

/* Braces */

/** A list of texts. */
struct texts {
	char items[512][256];
	size_t n;
};

/** The comma or brace at the same depth as `at`, from there on; or the end. */
static const char *brace_next(const char *at)
{
	for (int depth = 0; *at; at += *at == '\\' && at[1] ? 2 : 1) {
		if (depth == 0 && (*at == ',' || *at == '}'))
			return at;
		depth += (*at == '{') - (*at == '}');
	}
	return at;
}

/** Add all combinations of a text to a list, each after a prefix: as in a shell, one brace at a
    time.  Texts have no brackets. */
static void combine(struct texts *out, const char *prefix, const char *text)
{
	char head[256];
	size_t n = strlen(prefix);
	strcpy(head, prefix);
	for (; *text; ++text) {
		const char *comma = *text == '{' ? brace_next(text + 1) : text;
		const char *close = comma;
		while (*text == '{' && *close == ',')
			close = brace_next(close + 1);
		if (*text == '{' && *comma == ',' && *close == '}') {
			head[n] = '\0';
			/* The combinations of an alternative, and of what follows. */
			for (const char *from = text + 1; from <= close; from = comma + 1) {
				char one[256];
				comma = brace_next(from);
				snprintf(one, sizeof(one), "%.*s", (int)(comma - from), from);
				struct texts *inner = calloc(1, sizeof(*inner));
				combine(inner, head, one);
				for (size_t i = 0; i < inner->n; ++i)
					combine(out, inner->items[i], close + 1);
				free(inner);
			}
			return;
		}
		if (*text == '\\' && text[1])
			head[n++] = *text++;
		else if (*text == '{' || *text == '}' || *text == ',')
			head[n++] = '\\';
		head[n++] = *text;
	}
	head[n] = '\0';
	CU_ASSERT_TRUE_FATAL(out->n < COUNT(out->items));
	strcpy(out->items[out->n++], head);
}

static void random_braces(char *out)
{
	static const char *const words[] = {
		"a", "b", "ab", "*", "?", "**", "/", "/", "/**/", "{a,b}", "{", "{", ",", ",", "}",
		"}",
		"{a/,}", "{,/b}", "{**,a}", "{a,*/}", "{**/,b}", "\\{", "\\,", "\\/", "{,}",
		".",
	};
	*out = '\0';
	if (below(3) == 0)
		add(out, "/");
	for (uint32_t n = 1 + below(6); n > 0; --n)
		add(out, ANY_OF(words));
}

/** Whether the name or path is matched by one of the combinations. */
static bool any_matches(const struct texts *texts, const char *path, unsigned flags)
{
	bool matches = false;
	for (size_t i = 0; i < texts->n && !matches; ++i) {
		const char *text = texts->items[i];
		struct pattern *pattern = *text ? pattern_compile(text, strlen(text), flags, NULL)
		                                : NULL;
		matches = pattern && tree_matches(pattern, path);
		pattern_free(pattern);
	}
	return matches;
}

/** Insert braces that change nothing before each slash and at the end, so that there are too many
    combinations to expand. */
static void add_combinations(char *out, const char *text)
{
	for (;; ++text) {
		bool slash = *text == '/' || (*text == '\\' && text[1] == '/');
		if (!*text || slash)
			add(out, "{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}{,}");
		char one[3] = {*text};
		if (*text == '\\' && text[1])
			one[1] = *++text;
		add(out, one);
		if (!*text)
			return;
	}
}

/** The answer for a pattern, or for what is left if it excludes. */
static bool braces_match(const char *text, const char *path, bool exclude, unsigned flags)
{
	size_t len = strlen(text);
	struct pattern *pattern = exclude
	        ? pattern_compile_excluding("*", 1, text, len, flags, NULL)
	        : pattern_compile(text, len, flags, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
	bool matches = tree_matches(pattern, path);
	pattern_free(pattern);
	return matches;
}

UNIT_TEST(braces)
{
	enum { PAIRS = 20000 };
	unsigned matched = 0, combined = 0;
	struct texts *texts = malloc(sizeof(*texts));
	CU_ASSERT_PTR_NOT_NULL_FATAL(texts);
	seed_chance("braces");
	for (int i = 0; i < PAIRS; ++i) {
		static const char *const names[] = {
			"a", "b", "ab", "{", ",", "}", ".a", "aa", "b,",
		};
		char path[64] = "", text[256], large[4096] = "";
		for (uint32_t n = 1 + below(4); n > 0; --n) {
			add(path, "/");
			add(path, ANY_OF(names));
		}
		do
			random_braces(text);
		while (text[0] == '\0');
		unsigned flags = PATTERN_EXTENDED | (below(4) ? 0 : PATTERN_PERIOD);
		texts->n = 0;
		combine(texts, "", text);
		add_combinations(large, text);
		bool expected = any_matches(texts, path, flags), excluded = false;
		bool agrees = braces_match(text, path, false, flags) == expected
		              && braces_match(large, path, false, flags) == expected;
		/* It is excluded if it, or a directory above it, matches. */
		for (char *end = path + 1; end && !(flags & PATTERN_PERIOD); ) {
			end = strchr(end + 1, '/');
			char above[sizeof(path)];
			strcpy(above, path);
			if (end)
				above[end - path] = '\0';
			excluded |= any_matches(texts, above, flags);
		}
		if (!(flags & PATTERN_PERIOD))
			agrees = agrees && braces_match(text, path, true, flags) == !excluded
			         && braces_match(large, path, true, flags) == !excluded;
		if (!agrees) {
			show("path", path);
			show("pattern", text);
			printf("  flags %#x, expected %d, excluded %d\n", flags, expected,
			       excluded);
		}
		CU_ASSERT_TRUE_FATAL(agrees);
		matched += expected;
		combined += texts->n > 1;
	}
	free(texts);
	CU_ASSERT(matched > PAIRS / 20 && matched < PAIRS / 20 * 19);
	CU_ASSERT(combined > PAIRS / 4);
}
