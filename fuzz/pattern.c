/* SPDX-License-Identifier: MIT */
/*
 * Patterns of the search primitive: any text is compiled or refused, and all
 * ways to match a path agree.
 *
 * The input: a byte of flags (1: PERIOD, 2: PAPER_Q, 4: EXTENDED, 8: NOCASE), the pattern up to a
 * byte 0x1e, a path up to a NUL.
 */
#include "lib/fuzz.h"

#include "base/casefold.h"
#include "select/glob.h"
#include "select/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Compile what must be right. */
static struct pattern *compile(const char *text, size_t len, unsigned flags)
{
	struct pattern *pattern = pattern_compile(text, len, flags, NULL);
	FUZZ_CHECK(pattern);
	return pattern;
}

static void check_refused(const char *text, size_t len, const struct pattern_error *error)
{
	FUZZ_CHECK(error->why && error->at <= len);
	if (errno == EINVAL)
		FUZZ_CHECK(len == 0 || error->at < len);
	else
		FUZZ_CHECK(errno == E2BIG
		           && (len > PATTERN_COMPONENT_MAX || memchr(text, '{', len)));
}

/** Down a path, step by step.  @return whether it matches. */
static bool walk(const struct pattern *pattern, const char *path)
{
	size_t size = pattern_words(pattern) * sizeof(uint64_t);
	uint64_t *state = fuzz_alloc(size), *other = fuzz_alloc(size);
	unsigned verdict = pattern_root(pattern, state);
	for (const char *at = path + strspn(path, "/"); *at && verdict; at += strspn(at, "/")) {
		size_t len = strcspn(at, "/");
		/* Exactly the name's bytes are read. */
		char *name = fuzz_alloc(len);
		memcpy(name, at, len);
		unsigned before = verdict;
		unsigned file = pattern_step(pattern, state, name, len, NULL);
		verdict = pattern_step(pattern, state, name, len, other);
		FUZZ_CHECK(file == (verdict & PATTERN_MATCH));
		memcpy(state, other, size);
		FUZZ_CHECK(!verdict || before & PATTERN_BELOW);
		free(name);
		at += len;
	}
	free(state);
	free(other);
	return verdict & PATTERN_MATCH;
}

/** A pattern that is one path matches that, and nothing else. */
static void check_literal(const struct pattern *pattern, const char *path, bool matches)
{
	struct strbuf literal, plain;
	strbuf_init(&literal);
	strbuf_init(&plain);
	if (pattern_literal(pattern, &literal)) {
		for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
			size_t n = strcspn(path, "/");
			strbuf_puts(&plain, plain.len ? "/" : "");
			strbuf_add(&plain, path, n);
			path += n;
		}
		FUZZ_CHECK(matches == (strcmp(strbuf_str(&literal), strbuf_str(&plain)) == 0));
		FUZZ_CHECK(walk(pattern, strbuf_str(&literal)));
	} else {
		FUZZ_CHECK(literal.len == 0);
	}
	strbuf_destroy(&literal);
	strbuf_destroy(&plain);
}

/** A path with its bytes escaped is a pattern that matches it, also beside
    any other; and so are as many stars. */
static void try_path(const char *text, size_t len, unsigned flags, const char *path)
{
	struct strbuf name, stars;
	strbuf_init(&name);
	strbuf_init(&stars);
	strbuf_add(&name, text, len);
	size_t begin = name.len + 1;
	strbuf_putc(&name, '|');
	bool dots = false;
	const char *at = path + strspn(path, "/");
	while (*at) {
		size_t n = strcspn(at, "/");
		dots = dots || (n == 1 && *at == '.') || (n == 2 && memcmp(at, "..", 2) == 0)
		       || 2 * n > PATTERN_COMPONENT_MAX;
		strbuf_puts(&name, "/");
		strbuf_puts(&stars, "/*");
		for (; n > 0; --n, ++at) {
			strbuf_putc(&name, '\\');
			strbuf_putc(&name, *at);
		}
		at += strspn(at, "/");
	}
	if (stars.len && !dots && name.len <= PATTERN_MAX) {
		struct pattern *pattern = compile(name.data, name.len, flags);
		FUZZ_CHECK(walk(pattern, path));
		pattern_free(pattern);
		pattern = compile(name.data + begin, name.len - begin, flags);
		struct strbuf literal;
		strbuf_init(&literal);
		FUZZ_CHECK(walk(pattern, path));
		FUZZ_CHECK(pattern_literal(pattern, &literal) == !(flags & PATTERN_NOCASE));
		if (literal.len > 0)
			FUZZ_CHECK(walk(pattern, strbuf_str(&literal)));
		strbuf_destroy(&literal);
		pattern_free(pattern);
		pattern = compile(stars.data, stars.len, flags & ~(unsigned)PATTERN_PERIOD);
		FUZZ_CHECK(walk(pattern, path));
		pattern_free(pattern);
	}
	strbuf_destroy(&name);
	strbuf_destroy(&stars);
}

/** What excludes leaves what neither matches nor is below what matches. */
static void try_exclude(const struct pattern *pattern, const char *text, size_t len, unsigned flags,
                        const char *path)
{
	bool excluded = false;
	struct pattern *rest = pattern_compile_excluding("*", 1, text, len, flags, NULL);
	char *above = fuzz_string(path, strlen(path));
	FUZZ_CHECK(rest);
	for (char *at = above + strspn(above, "/"); *at && !excluded; at += strspn(at, "/")) {
		at += strcspn(at, "/");
		char end = *at;
		*at = '\0';
		excluded = walk(pattern, above);
		*at = end;
	}
	bool any = path[strspn(path, "/")];
	FUZZ_CHECK(walk(rest, path) == (any && !excluded));
	free(above);
	pattern_free(rest);
}

/** The text as one component, in as little memory as is promised to do. */
static void try_component(const char *text, size_t len, unsigned flags, const char *name)
{
	if (len == 0 || len > PATTERN_COMPONENT_MAX || memchr(text, '\0', len))
		return;
	size_t sets = 0, ranges = 0;
	for (size_t i = 0; i < len; ++i) {
		sets += text[i] == '[';
		ranges += (uint8_t)text[i] >= 0x80;
	}
	struct glob_pool pool = {
		.bytes = fuzz_alloc(flags & PATTERN_NOCASE ? CASEFOLD_SIZE(len) : len + 1),
		.tokens = fuzz_alloc(len * sizeof(*pool.tokens)),
		.sets = fuzz_alloc(sets * sizeof(*pool.sets)),
		.ranges = fuzz_alloc(ranges * sizeof(*pool.ranges)),
	};
	struct glob glob;
	struct pattern_error error = {0};
	if (glob_compile(&pool, text, 0, len, flags, &glob, &error) == 0) {
		FUZZ_CHECK(pool.nbytes <= CASEFOLD_SIZE(len) && pool.ntokens <= len);
		FUZZ_CHECK(pool.nsets <= sets && pool.nranges <= ranges);
		glob_match(&pool, &glob, name, strlen(name));
	} else {
		FUZZ_CHECK(errno == EINVAL);
		check_refused(text, len, &error);
	}
	free(pool.bytes);
	free(pool.tokens);
	free(pool.sets);
	free(pool.ranges);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	uint8_t bits = fuzz_byte(&in);
	unsigned flags = (bits & 1 ? PATTERN_PERIOD : 0) | (bits & 2 ? PATTERN_PAPER_Q : 0)
	                 | (bits & 4 ? PATTERN_EXTENDED : 0) | (bits & 8 ? PATTERN_NOCASE : 0);
	size_t len, n;
	const char *given = fuzz_until(&in, 0x1e, &len);
	const char *bytes = fuzz_bytes(&in, size, &n);
	char *text = fuzz_alloc(len), *path = fuzz_string(bytes, n);
	if (len)
		memcpy(text, given, len);

	struct pattern_error error = {0};
	struct pattern *pattern = pattern_compile(text, len, flags, &error);
	if (pattern) {
		bool matches = walk(pattern, path);
		check_literal(pattern, path, matches);
		try_path(text, len, flags, path);
		if (!(flags & PATTERN_PERIOD))
			try_exclude(pattern, text, len, flags, path);
		pattern_free(pattern);
	} else {
		check_refused(text, len, &error);
	}
	try_component(text, len, flags, path);
	free(text);
	free(path);
	return 0;
}
