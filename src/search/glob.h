/* SPDX-License-Identifier: MIT */
/**
 * Matching one component of a pattern against one name: for pattern.c, and for complete strings
 * (audit/config.c), where a slash is an ordinary byte.
 *
 * Compiled components share arrays in a block of memory that the caller owns.
 */
#ifndef GM_SEARCH_GLOB_H
#define GM_SEARCH_GLOB_H

#include "search/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum glob_kind {
	GLOB_EXACT,   /* no wildcards */
	GLOB_WORDS,   /* prefix * word * word * ... * suffix; without words: prefix*suffix */
	GLOB_STARS,   /* prefix, stars and tokens of one character each, suffix */
	GLOB_NFA,     /* prefix, any tokens, suffix */
};

/** A compiled component. */
struct glob {
	uint32_t bytes;     /* offset of its literal bytes and a NUL: prefix, words, suffix */
	uint32_t tokens;    /* GLOB_WORDS: the length of each word */
	uint16_t nbytes, nprefix, nsuffix, ntokens;
	uint8_t kind;
	bool no_period;     /* does not match names that start with a period */
};

/** The characters of a bracket expression. */
struct glob_set {
	uint64_t ascii[2];
	uint32_t ranges, nranges;   /* ranges that end outside ASCII */
	bool negated;
};

struct glob_range {
	uint32_t from, to;          /* codes, inclusive */
};

/** Arrays shared by components, with the maximum room that a text can need. */
struct glob_pool {
	char *bytes;                /* one for each byte, and one for each component */
	uint32_t *tokens;           /* one for each byte */
	struct glob_set *sets;      /* one for each `[` */
	struct glob_range *ranges;  /* one for each byte outside of ASCII */
	uint32_t nbytes, ntokens, nsets, nranges;   /* number of elements in use */
};

/**
 * Compile a component: the bytes from `from` to `to` of a pattern, at least one and at most
 * PATTERN_COMPONENT_MAX, without a slash.
 *
 * @flags
 *         enum pattern_flags.
 * @return 0, or -1 with error set.
 * Errors: EINVAL.
 */
int glob_compile(struct glob_pool *pool, const char *text, size_t from, size_t to, unsigned flags,
                 struct glob *glob, struct pattern_error *error);

/** Whether a component matches every name. */
bool glob_is_any(const struct glob *glob);

/** Whether a name matches.  The cost is at most its length times that of the component. */
bool glob_match(const struct glob_pool *pool, const struct glob *glob, const char *name,
                size_t len);

#endif
