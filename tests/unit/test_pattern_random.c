/* SPDX-License-Identifier: MIT */
/*
 * Random patterns, against a matcher written here from the rules in search/pattern.h: it tries
 * everything, and shares no code with what it tests.  Where fnmatch(3) has the same rules, it
 * is compared too.
 */
#include "unit.h"

#include "search/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The rules, once more */

enum { MAX_CODES = 256, MAX_ALTERNATIVES = 64, MAX_COMPONENTS = 64, RAW = 0xdc00 };

struct span {
	const char *at, *end;
};

/** A code in UTF-8.  @return its length, or 0 if it is no character. */
static size_t encode(uint32_t code, unsigned char *out)
{
	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	if (n == 1) {
		out[0] = (unsigned char)code;
		return 1;
	}
	for (size_t i = n - 1; i > 0; --i, code >>= 6)
		out[i] = 0x80 | (code & 0x3f);
	out[0] = (unsigned char)((0xf00u >> n & 0xff) | code);
	return n;
}

/** Take the first character of a span. */
static uint32_t first_char(struct span *span)
{
	size_t left = (size_t)(span->end - span->at);
	const unsigned char *s = (const unsigned char *)span->at;
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	for (size_t n = 1; n <= 4 && n <= left; ++n) {
		unsigned char again[4];
		uint32_t code = s[0] & masks[n];
		for (size_t i = 1; i < n; ++i)
			code = code << 6 | (s[i] & 0x3f);
		if (encode(code, again) == n && memcmp(again, s, n) == 0) {
			span->at += n;
			return code;
		}
	}
	++span->at;
	return RAW + s[0];
}

static size_t codes_of(struct span span, uint32_t *codes)
{
	size_t n = 0;
	while (span.at < span.end && n < MAX_CODES)
		codes[n++] = first_char(&span);
	return n;
}

static bool starts(struct span span, const char *text)
{
	size_t n = strlen(text);
	return (size_t)(span.end - span.at) >= n && memcmp(span.at, text, n) == 0;
}

/** Whether a class has a character.  @return -1 if there is no such class. */
static int class_has(const char *name, size_t n, uint32_t code)
{
	static const struct {
		const char *name, *members;
	} classes[] = {
		{"upper", "AZ"}, {"lower", "az"}, {"digit", "09"}, {"alpha", "azAZ"},
		{"alnum", "azAZ09"}, {"xdigit", "09afAF"}, {"blank", "  \t\t"}, {"space", "\t\r  "},
		{"punct", "!/:@[`{~"}, {"graph", "!~"}, {"print", " ~"}, {"cntrl", "\001\037\177\177"},
	};
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); ++i) {
		if (strlen(classes[i].name) != n || memcmp(classes[i].name, name, n) != 0)
			continue;
		for (const char *m = classes[i].members; *m; m += 2) {
			if (code >= (unsigned char)m[0] && code <= (unsigned char)m[1])
				return 1;
		}
		return 0;
	}
	return -1;
}

/** Take a member of a bracket that is one character.  @return it, or -1. */
static int64_t take_member(struct span *span)
{
	if (starts(*span, "\\") && span->end - span->at > 1) {
		++span->at;
		return first_char(span);
	}
	for (const char *kind = "=."; *kind; ++kind) {
		char open[3] = {'[', *kind}, close[3] = {*kind, ']'};
		if (!starts(*span, open))
			continue;
		struct span one = {span->at + 2, span->end};
		if (one.at < one.end) {
			uint32_t code = first_char(&one);
			if (starts(one, close)) {
				span->at = one.at + 2;
				return code;
			}
		}
		/* The name of a character. */
		size_t n = strspn(span->at + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		                                "0123456789-");
		one.at = span->at + 2 + n;
		if (n > 1 && one.at <= one.end && starts(one, close))
			return -1;
	}
	return first_char(span);
}

/** Read a bracket that is at the span.  @has [out] whether it has the code.
    @return where it ends, or NULL if it is invalid. */
static const char *brute_bracket(struct span span, uint32_t code, bool *has)
{
	++span.at;
	bool not = starts(span, "!") || starts(span, "^");
	span.at += not;
	*has = false;
	for (bool first = true; span.at < span.end; first = false) {
		if (*span.at == ']' && !first) {
			*has = *has != not;
			return span.at + 1;
		}
		if (starts(span, "[:")) {
			size_t n = strspn(span.at + 2, "abcdefghijklmnopqrstuvwxyz");
			struct span behind = {span.at + 2 + n, span.end};
			if (n > 0 && behind.at <= behind.end && starts(behind, ":]")) {
				int in = class_has(span.at + 2, n, code);
				if (in < 0)
					return NULL;
				*has = *has || in;
				span.at = behind.at + 2;
				continue;
			}
		}
		int64_t from = take_member(&span), to = from;
		if (from >= 0 && starts(span, "-") && span.end - span.at > 1 && span.at[1] != ']') {
			++span.at;
			to = take_member(&span);
		}
		if (from < 0 || to < from)
			return NULL;
		*has = *has || (code >= from && code <= to);
	}
	return NULL;
}

/** Whether a component is valid. */
static bool brute_valid(struct span span)
{
	bool has;
	while (span.at && span.at < span.end) {
		if (*span.at == '[') {
			span.at = brute_bracket(span, 0, &has);
		} else if (*span.at == '\\') {
			if (span.end - span.at < 2)
				return false;
			span.at += 2;
		} else {
			++span.at;
		}
	}
	return span.at != NULL;
}

/** Whether a component matches n characters: try all ways. */
static bool brute_rest(struct span span, const uint32_t *name, size_t n, unsigned flags)
{
	if (span.at == span.end)
		return n == 0;
	struct span behind = {span.at + 1, span.end};
	if (*span.at == '*')
		return brute_rest(behind, name, n, flags) || (n > 0 && brute_rest(span, name + 1, n - 1, flags));
	if (*span.at == '?')
		return (flags & PATTERN_PAPER_Q && brute_rest(behind, name, n, flags))
		       || (n > 0 && brute_rest(behind, name + 1, n - 1, flags));
	if (*span.at == '[') {
		bool has;
		behind.at = brute_bracket(span, n > 0 ? name[0] : 0, &has);
		return n > 0 && has && brute_rest(behind, name + 1, n - 1, flags);
	}
	/* Literal text, without its backslashes. */
	char text[MAX_CODES];
	uint32_t codes[MAX_CODES];
	size_t len = 0;
	while (span.at < span.end && !strchr("*?[", *span.at)) {
		span.at += *span.at == '\\';
		text[len++] = *span.at++;
	}
	size_t want = codes_of((struct span){text, text + len}, codes);
	return n >= want && memcmp(codes, name, want * sizeof(*codes)) == 0
	       && brute_rest(span, name + want, n - want, flags);
}

static bool brute_component(struct span pattern, struct span name, unsigned flags)
{
	if (flags & PATTERN_PERIOD && *name.at == '.' && !starts(pattern, ".")
	    && !starts(pattern, "\\."))
		return false;
	uint32_t codes[MAX_CODES];
	return brute_rest(pattern, codes, codes_of(name, codes), flags);
}

/** Split a span at each byte `at` that is not escaped. */
static size_t cut(struct span span, char at, bool escaped_too, struct span *parts)
{
	size_t n = 0;
	parts[0] = span;
	for (const char *p = span.at; p < span.end; ++p) {
		const char *here = p;
		if (*p == '\\' && p + 1 < span.end && !(escaped_too && p[1] == at)) {
			++p;
			continue;
		}
		if (*p == '\\' && p + 1 < span.end)
			++p;
		if (*p == at) {
			parts[n++].end = here;
			parts[n] = (struct span){p + 1, span.end};
		}
	}
	return n + 1;
}

struct brute {
	struct span components[MAX_ALTERNATIVES][MAX_COMPONENTS];
	size_t counts[MAX_ALTERNATIVES], n;
	bool anchored[MAX_ALTERNATIVES];
	unsigned flags;
};

/** Split a pattern.  @return false if it is invalid. */
static bool brute_read(struct brute *brute, const char *text, unsigned flags)
{
	struct span alternatives[MAX_ALTERNATIVES];
	size_t n = cut((struct span){text, text + strlen(text)}, '|', false, alternatives);
	brute->n = 0;
	brute->flags = flags;
	for (size_t i = 0; i < n; ++i) {
		struct span *parts = brute->components[brute->n];
		size_t k = cut(alternatives[i], '/', true, parts);
		bool anchored = k > 1 && parts[0].at == parts[0].end, never = false;
		if (anchored)
			memmove(parts, parts + 1, --k * sizeof(*parts));
		for (size_t c = 0; c < k; ++c) {
			if (!brute_valid(parts[c]))
				return false;
			char plain[MAX_CODES];
			size_t len = 0;
			for (const char *p = parts[c].at; p < parts[c].end; ++p) {
				p += *p == '\\';
				plain[len++] = *p;
			}
			never = never || len == 0 || (len == 1 && plain[0] == '.')
			        || (len == 2 && memcmp(plain, "..", 2) == 0);
		}
		if (never)
			continue;
		brute->anchored[brute->n] = anchored;
		brute->counts[brute->n++] = k;
	}
	return *text != '\0';
}

static bool brute_match(const struct brute *brute, const struct span *path, size_t depth)
{
	for (size_t i = 0; i < brute->n; ++i) {
		size_t k = brute->counts[i], c = 0;
		if (k > depth || (brute->anchored[i] && k < depth))
			continue;
		while (c < k && brute_component(brute->components[i][c], path[depth - k + c], brute->flags))
			++c;
		if (c == k)
			return true;
	}
	return false;
}

/** Whether anything can match below a directory. */
static bool brute_below(const struct brute *brute, const struct span *path, size_t depth)
{
	for (size_t i = 0; i < brute->n; ++i) {
		size_t c = 0;
		while (c < depth && c < brute->counts[i]
		       && brute_component(brute->components[i][c], path[c], brute->flags))
			++c;
		if (!brute->anchored[i] || (c == depth && depth < brute->counts[i]))
			return true;
	}
	return false;
}

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

/** The answer of fnmatch(3) for the path, or for what follows each slash. */
static bool libc_match(const char *text, const char *path, unsigned flags)
{
	struct span alternatives[MAX_ALTERNATIVES];
	size_t n = cut((struct span){text, text + strlen(text)}, '|', false, alternatives);
	int fn = FNM_PATHNAME | (flags & PATTERN_PERIOD ? FNM_PERIOD : 0);
	for (size_t i = 0; i < n; ++i) {
		char one[4096];
		snprintf(one, sizeof(one), "%.*s", (int)(alternatives[i].end - alternatives[i].at),
		         alternatives[i].at);
		if (*one == '/') {
			if (fnmatch(one, path, fn) == 0)
				return true;
			continue;
		}
		for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
			if (fnmatch(one, slash + 1, fn) == 0)
				return true;
		}
	}
	return false;
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
	static const char *const odd[] = {"\303\251", "\303", "\251", "\377", "\360\237\230\200", "[", "]",
	                                  "*", "?", "\\", "|", "!", "^", ":", "\n", " ", "A", "0"};
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
		"[", "]", "!", "^", "\\", "|", "\303", "\251", "[[:alpha:]]", "[a-c]", "[[=a=]]", "[[.-.]]",
		"[[:foo:]]", "[^.-]", "[]]", "[a\\]b]", "[c-a]", "[!\200-\377]", "[\303\240-\303\277]", "\\*",
		"\\a", "[\\a-c]", "**", "\360\237\230\200", "[[", "[:", "a-", "[=", "=]", "[.", ".]", ":]",
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
			static const char *const wild[] = {"*", "?", "?", "[a-c]", "[!x]", "[.a-z]", "**", ""};
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
		printf(*text < ' ' || *text == '"' || *text == '\\' ? "\\%03o" : "%c", (unsigned char)*text);
	printf("\"\n");
}

struct tally {
	unsigned bad, matched, by_libc, steps;
};

/** Walk down a path, and compare each step with the rules. */
static bool walk_agrees(const struct pattern *pattern, const struct brute *brute,
                        const struct span *path, size_t depth, struct tally *tally)
{
	uint64_t state[4];
	if (pattern_words(pattern) > 4
	    || (pattern_root(pattern, state) != 0) != brute_below(brute, path, 0))
		return false;
	for (size_t i = 0; i < depth; ++i) {
		size_t len = (size_t)(path[i].end - path[i].at);
		unsigned expected = (brute_match(brute, path, i + 1) ? PATTERN_MATCH : 0)
		                    | (brute_below(brute, path, i + 1) ? PATTERN_BELOW : 0);
		if (pattern_step(pattern, state, path[i].at, len, NULL) != (expected & PATTERN_MATCH)
		    || pattern_step(pattern, state, path[i].at, len, state) != expected)
			return false;
		++tally->steps;
	}
	return true;
}

/** Whether all matchers agree about one pair. */
static bool pair_agrees(const char *text, const char *path, unsigned flags, struct tally *tally)
{
	struct brute brute;
	struct span parts[8] = {0};
	bool valid = brute_read(&brute, text, flags);
	errno = 0;
	struct pattern *pattern = pattern_compile(text, strlen(text), flags, NULL);
	if (!pattern) {
		++tally->bad;
		return !valid && errno == EINVAL;
	}
	size_t depth = 0;
	for (const char *p = path; *p; ++depth) {
		size_t len = strcspn(p + 1, "/");
		parts[depth] = (struct span){p + 1, p + 1 + len};
		p += 1 + len;
	}
	bool matches = brute_match(&brute, parts, depth);
	bool agrees = valid && pattern_match(pattern, path) == matches
	              && pattern_match(pattern, path + 1) == matches
	              && walk_agrees(pattern, &brute, parts, depth, tally);
	if (libc_knows(text, path, flags)) {
		agrees = agrees && libc_match(text, path, flags) == matches;
		++tally->by_libc;
	}
	tally->matched += matches;
	pattern_free(pattern);
	return agrees;
}

static void test_random(void)
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
	CU_ASSERT(tally.steps > PAIRS);
}

static const struct unit_test tests[] = {
	{"random", test_random},
	{NULL, NULL},
};

const struct unit_suite suite_pattern_random = {"pattern_random", tests};
