/* SPDX-License-Identifier: MIT */
/**
 * Matching one component of a pattern against one name: for pattern.c, and for complete strings
 * (audit/config.c), where a slash is an ordinary byte.
 *
 * Compiled components share arrays in a block of memory that the caller owns.
 */
#ifndef GM_SELECT_GLOB_H
#define GM_SELECT_GLOB_H

#include "select/pattern.h"

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
	bool negated, nocase;
};

struct glob_range {
	uint32_t from, to;          /* codes, inclusive */
};

/** Arrays shared by components, with the maximum room that a text can need. */
struct glob_pool {
	char *bytes;                /* one for each byte (with PATTERN_NOCASE CASEFOLD_SIZE()),
	                               and one for each component */
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

/** The end of the character, escaped character or bracket expression at text[at].
    @return 0 with error set.  Errors: EINVAL. */
size_t glob_atom_end(const char *text, size_t at, size_t to, struct pattern_error *error);

/** A byte of a text with braces: those with alternatives, the commas between these, and others. */
struct glob_brace {
	uint32_t next;    /* of { and a comma: the next comma, or the } */
	uint32_t close;   /* the } of all of them; 0: another byte */
	uint32_t token;   /* [out] of glob_automaton(), after a brace, comma or slash, and at the
	                     start: the token here */
};

/**
 * Append an alternative with braces to pool->tokens, as an automaton.  pool->tokens has room for
 * two for each byte, and one for each alternative; pool->bytes is used in between.
 *
 * @braces
 *         For each byte of the text, and one more.
 */
void glob_automaton(struct glob_pool *pool, const char *text, size_t from, size_t to,
                    unsigned flags, struct glob_brace *braces);

enum { GLOB_TOKENS_MAX = 2 * 2 * PATTERN_MAX + 2 };   /* in an automaton */

/** The words of a set of n tokens, and the end. */
#define GLOB_SET(n) ((size_t)(n) / 64 + 1)

/**
 * Let a name pass through an automaton.
 *
 * @tokens
 *         n tokens.
 * @live
 *         GLOB_SET(n) words.  The tokens where it starts; [out] those where it ends.
 * @period
 *         Only a period matches a leading period.
 */
void glob_run(const struct glob_pool *pool, const uint32_t *tokens, uint32_t n, uint64_t *live,
              const char *name, size_t len, bool period);

/** Whether a component matches every name. */
bool glob_is_any(const struct glob *glob);

/** Whether a name, which is in lowercase with PATTERN_NOCASE, matches.  The cost is at most its
    length times that of the component. */
bool glob_match(const struct glob_pool *pool, const struct glob *glob, const char *name,
                size_t len);

#endif
