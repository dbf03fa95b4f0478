/* SPDX-License-Identifier: MIT */
/**
 * Match one component of a pattern against one name (pattern.c), or a pattern against a complete
 * string (audit/config.c), where a slash is an ordinary byte.
 *
 * The caller allocates the arrays (struct glob_pool) that compiled components share.
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
	GLOB_STARS,   /* prefix, suffix, and between them stars and tokens that match one character
	                 each */
	GLOB_NFA,     /* prefix, any tokens, suffix: matched by an automaton (NFA) */
};

/** A compiled component. */
struct glob {
	uint32_t bytes;     /* offset in glob_pool.bytes of the literal bytes and a NUL: prefix,
	                       words, suffix */
	uint32_t tokens;    /* offset in glob_pool.tokens of ntokens tokens; GLOB_WORDS: of the
	                       length of each word */
	uint16_t nbytes, nprefix, nsuffix, ntokens;
	uint8_t kind;
	bool no_period;     /* never matches names that start with a period */
};

/** The characters of a bracket expression. */
struct glob_set {
	uint64_t ascii[2];
	uint32_t ranges, nranges;   /* in glob_pool.ranges: first and number of the ranges that end
	                               outside ASCII */
	bool negated, nocase;
};

struct glob_range {
	uint32_t from, to;          /* Unicode code points, or UTF8_RAW plus an invalid byte; both
	                               inclusive */
};

/** Arrays shared by components, with the maximum room that a pattern can need. */
struct glob_pool {
	char *bytes;                /* one for each byte of the pattern (with PATTERN_NOCASE:
	                               CASEFOLD_SIZE() of its length), and one for each component */
	uint32_t *tokens;           /* one for each byte of the pattern */
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

/** Find the end of the character, escaped character or bracket expression at text[at].
    @to  The end of the text.
    @return the offset after it; 0 with error set.
    Errors: EINVAL. */
size_t glob_atom_end(const char *text, size_t at, size_t to, struct pattern_error *error);

/** A byte of a pattern: an opening brace with alternatives, a comma between these, the closing
    brace, or another byte. */
struct glob_brace {
	uint32_t next;    /* for "{" and commas: offset of the next comma of this brace, or of its
	                     "}" */
	uint32_t close;   /* offset of the "}" of this brace; 0: another byte */
	uint32_t token;   /* [out] set by glob_automaton() for the byte after a brace, comma or
	                     slash, and for the first byte: index of the token that begins at this
	                     byte */
};

/**
 * Append the tokens of an alternative with braces to pool->tokens, as an automaton. pool->tokens
 * must have room for two tokens for each byte of the text, and one for each alternative;
 * pool->bytes is a buffer.
 *
 * @braces
 *         One element for each byte of the text, and one more.
 */
void glob_automaton(struct glob_pool *pool, const char *text, size_t from, size_t to,
                    unsigned flags, struct glob_brace *braces);

enum { GLOB_TOKENS_MAX = 2 * 2 * PATTERN_MAX + 2 };   /* maximum number of tokens in an automaton */

/** Number of 64-bit words of a set of n tokens and the end of the automaton. */
#define GLOB_SET(n) ((size_t)(n) / 64 + 1)

/**
 * Find the tokens at which an automaton can be after reading a name.
 *
 * @tokens
 *         n tokens.
 * @live
 *         A set of GLOB_SET(n) words: the tokens where the automaton starts; [out] the tokens that
 *         it reaches at the end of the name.
 * @period
 *         Only a period in the pattern matches a leading period of the name.
 */
void glob_run(const struct glob_pool *pool, const uint32_t *tokens, uint32_t n, uint64_t *live,
              const char *name, size_t len, bool period);

/** Whether a component matches every name. */
bool glob_is_any(const struct glob *glob);

/** Whether a component matches a name.  With PATTERN_NOCASE the name must be in lowercase.  The
    cost is at most the product of the lengths of the name and the component. */
bool glob_match(const struct glob_pool *pool, const struct glob *glob, const char *name,
                size_t len);

#endif
