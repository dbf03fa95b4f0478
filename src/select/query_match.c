/* SPDX-License-Identifier: MIT */
/*
 * Match patterns of fnmatch(3), and regular expressions of regex(3) in the syntaxes of GNU find.
 *
 * fnmatch() and regular expressions depend on the locale, as in GNU find.  Patterns without
 * brackets and question marks have the same meaning in every locale: glob.c compares their bytes.
 */
#include "select/query_impl.h"

#include "base/escape.h"
#include "select/glob.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

struct query_pattern {
	const char *text;
	bool any_case;
	bool bytes;                      /* compare bytes, with glob and pool; false: use
	                                    fnmatch() */
	struct glob glob;
	struct glob_pool pool;
};

/* Maximum bytes of a text that is compared without fnmatch() if case is ignored. */
enum { FOLD_MAX = 512 };

/** Copy a text, with ASCII letters in lowercase.
    @return false: the text has characters other than ASCII. */
static bool fold(char *to, const char *text, size_t len)
{
	unsigned char all = 0;
	for (size_t i = 0; i < len; ++i) {
		all |= (unsigned char)text[i];
		to[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]);
	}
	return all < 0x80;
}

/** Compile a pattern for comparing bytes, if possible (pattern->bytes).
    @return false: memory ran out. */
static bool compile_bytes(struct query_pattern *pattern, struct arena *arena, size_t len)
{
	const char *text = pattern->text;
	if (len == 0 || len > PATTERN_COMPONENT_MAX || strpbrk(text, "?[") || !utf8_valid(text))
		return true;
	struct pattern_error error;
	pattern->pool.bytes = arena_alloc(arena, len + 1);
	pattern->pool.tokens = arena_alloc(arena, len * sizeof(uint32_t));
	char *folded = arena_alloc(arena, len + 1);
	if (!pattern->pool.bytes || !pattern->pool.tokens || !folded)
		return false;
	if (pattern->any_case) {
		if (!fold(folded, text, len))
			return true;
		text = folded;
	}
	pattern->bytes = glob_compile(&pattern->pool, text, 0, len, 0, &pattern->glob,
	                              &error) == 0;
	return true;
}

const struct query_pattern *query_pattern_new(struct arena *arena, const char *text, bool any_case)
{
	struct query_pattern *pattern = arena_alloc(arena, sizeof(*pattern));
	if (!pattern)
		return NULL;
	*pattern = (struct query_pattern){.text = text, .any_case = any_case};
	return compile_bytes(pattern, arena, strlen(text)) ? pattern : NULL;
}

bool query_pattern_matches(const struct query_pattern *pattern, const char *text, size_t len)
{
	char folded[FOLD_MAX];
	if (pattern->bytes && !pattern->any_case)
		return glob_match(&pattern->pool, &pattern->glob, text, len);
	if (pattern->bytes && len <= sizeof(folded) && fold(folded, text, len))
		return glob_match(&pattern->pool, &pattern->glob, folded, len);
	return fnmatch(pattern->text, text, pattern->any_case ? FNM_CASEFOLD : 0) == 0;
}

/* Regular expressions */

struct query_syntax {
	const char *name;
	reg_syntax_t bits;
};

static const struct query_syntax syntaxes[] = {
	{"emacs", RE_SYNTAX_EMACS},   /* the default; "findutils-default" is not the default */
	{"findutils-default", RE_SYNTAX_EMACS | RE_DOT_NEWLINE},
	{"ed", RE_SYNTAX_ED},
	{"gnu-awk", RE_SYNTAX_GNU_AWK},
	{"grep", RE_SYNTAX_GREP},
	{"posix-awk", RE_SYNTAX_POSIX_AWK},
	{"awk", RE_SYNTAX_AWK},
	{"posix-basic", RE_SYNTAX_POSIX_BASIC},
	{"posix-egrep", RE_SYNTAX_POSIX_EGREP},
	{"egrep", RE_SYNTAX_EGREP},
	{"posix-extended", RE_SYNTAX_POSIX_EXTENDED},
	{"posix-minimal-basic", RE_SYNTAX_POSIX_MINIMAL_BASIC},
	{"sed", RE_SYNTAX_SED},
};

enum {
	GROUPS_MAX = 256,    /* maximum depth of the groups of an expression */
	NODES_MAX = 1 << 16, /* maximum number of nodes of an expression */
	CHOICES_MAX = 1500,  /* maximum number of optional nodes: regcomp() uses up to 100 MB */
};

enum { SYNTAXES = sizeof(syntaxes) / sizeof(*syntaxes) };

const struct query_syntax *query_syntax(const char *name)
{
	if (!name)
		return syntaxes;
	for (size_t i = 0; i < SYNTAXES; ++i) {
		if (strcmp(name, syntaxes[i].name) == 0)
			return &syntaxes[i];
	}
	return NULL;
}

const char *query_syntax_name(const struct query_syntax *syntax)
{
	return syntax->name;
}

const char *query_syntax_nth(size_t i)
{
	return i < SYNTAXES ? syntaxes[i].name : NULL;
}

/** The cost of a part of an expression when its repetitions are expanded. */
struct cost {
	uint64_t nodes;
	uint64_t choices;    /* optional nodes and alternatives: time and memory grow by the square
	                        of their number */
};

/** Read "{N}", "{N,}", "{,M}" or "{N,M}"; a backslash may precede the second brace.
    @at  The text after the first brace.
    @times [out]  The number of copies: M, or N + 1 for "{N,}".
    @optional [out]  The number of these copies that are optional.
    @return the length up to and including the second brace; 0: not an interval. */
static size_t read_interval(const char *at, unsigned *times, unsigned *optional)
{
	unsigned numbers[2] = {0};
	size_t n = 0, digits = 0;
	int which = 0;
	for (; isdigit((unsigned char)at[n]) || (at[n] == ',' && which == 0); ++n) {
		if (at[n] == ',')
			++which;
		else if (numbers[which] <= RE_DUP_MAX)
			numbers[which] = 10 * numbers[which] + (unsigned)(at[n] - '0');
		digits += at[n] != ',';
	}
	n += at[n] == '\\';
	bool open = which > 0 && numbers[0] >= numbers[1];
	*times = which > 0 && !open ? numbers[1] : numbers[0] + open;
	*optional = *times - (numbers[0] < *times ? numbers[0] : *times);
	return at[n] == '}' && digits > 0 && *times <= RE_DUP_MAX ? n + 1 : 0;
}

/**
 * Whether an expression is too large when its repetitions are expanded. regcomp() copies a repeated
 * part, so that "x" and 30 times "+" take a gigabyte, and it recurses into each group.  A character
 * that is an operator only in other syntaxes, or stands in brackets, is counted as an operator,
 * too.
 */
static bool is_too_large(const char *text)
{
	struct cost sums[GROUPS_MAX] = {{0}}, last = {0};
	size_t depth = 0;
	for (const char *at = text; *at; ++at) {
		char c = *at == '\\' && at[1] ? *++at : *at;
		struct cost *sum = &sums[depth], more = {1, c == '|' || c == '\n'};
		unsigned times = c == '+' ? 2 : 1, optional = 1;
		size_t interval = c == '{' ? read_interval(at + 1, &times, &optional) : 0;
		if (c == '(') {
			if (++depth == GROUPS_MAX)
				return true;
			sums[depth] = more = (struct cost){0};
			sum = &sums[depth];
		} else if (c == ')' && depth > 0) {
			more = (struct cost){sum->nodes + 1, sum->choices};
			sum = &sums[--depth];
		} else if (c == '+' || c == '*' || c == '?' || interval > 0) {
			sum->nodes -= last.nodes;
			sum->choices -= last.choices;
			/* In a loop each choice can follow each other choice. */
			unsigned loops = c == '*' || c == '+' ? 2 : 1;
			more = (struct cost){last.nodes * times + 1,
			                     last.choices * times * loops + optional};
			at += interval;
		}
		sum->nodes += more.nodes;
		sum->choices += more.choices;
		last = more;
		if (sum->nodes > NODES_MAX || sum->choices > CHOICES_MAX)
			return true;
	}
	struct cost all = {0};
	for (size_t i = 0; i <= depth; ++i) {
		all.nodes += sums[i].nodes;
		all.choices += sums[i].choices;
	}
	return all.nodes > NODES_MAX || all.choices > CHOICES_MAX;
}

const char *query_regex_compile(struct query_regex *regex, const char *text, bool any_case)
{
	if (is_too_large(text))
		return "it repeats too much, or nests too many groups";
	/* re_compile_pattern() reads the syntax from a global variable, so only one thread may call
	   it. */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	reg_syntax_t saved = re_set_syntax(regex->syntax->bits | (any_case ? RE_ICASE : 0));
	const char *why = re_compile_pattern(text, strlen(text), &regex->buffer);
	re_set_syntax(saved);
	pthread_mutex_unlock(&lock);
	regex->compiled = !why;
	return why;
}

int query_regex_matches(const struct query_regex *regex, const char *text, size_t len)
{
	if (len > INT_MAX)
		return 0;
	/* Threads may share the buffer: re_match() changes only a lock in it. */
	struct re_pattern_buffer *buffer = (struct re_pattern_buffer *)(uintptr_t)&regex->buffer;
	int n = re_match(buffer, text, (int)len, 0, NULL);
	return n == -2 ? -1 : n == (int)len;
}
