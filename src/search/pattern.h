/* SPDX-License-Identifier: MIT */
/**
 * The pattern language of the search, compiled and matched.
 *
 * A pattern holds alternatives separated by `|`; an entry is a result if one of them matches
 * its path P, which is relative to the root of the search.
 *
 *   foo      unanchored: matches the last component of P
 *   b/foo    unanchored: matches the last two; as many as it has
 *   /foo     anchored: matches the whole of P, so only in the root itself
 *   *        any number of characters within a component; ** is the same
 *   ?        one character; with PATTERN_PAPER_Q one or none, as in the paper
 *   [ab-z]   one of these characters; [!...] and [^...] one other than these.
 *            Inside: ranges by code point, classes ([:alpha:], ASCII only), [=x=] and [.x.] for
 *            x; a ] that is first, a - that is first or last, and an escaped character stand
 *            for themselves
 *   \x       the character x itself; \/ is a slash all the same
 *
 * Each component matches exactly one of P: a star before /foo does not find foo in the root
 * itself.  (The implementations of the paper find it: they give fnmatch(3) P with its first
 * slash.)
 *
 * `/` and `|` are recognized before brackets: neither can stand in one, but for \|.  What can
 * never match is no error: an empty alternative, one with an empty component (a//b, a/, /), or
 * one with "." or "..".
 *
 * Characters.  Names and patterns are read alike in every locale: a valid UTF-8 sequence is a
 * character, and so is each byte outside of one.  So `?` matches an é, as in find(1) under a
 * UTF-8 locale, and an invalid byte.  In ranges an invalid byte stands at U+DC00 plus its value,
 * where there is no character.  Case is significant; nothing is normalized.
 *
 * Matching goes along with a walk.  Each directory has live states: the components that its
 * entries are matched with.  A step from it to an entry costs at most the length of the name
 * times the length of these components, and nothing is matched twice on the way down.
 *
 * Source: "Search Should be a System Call", sections 2 and 4; where its implementations differ
 * from it, the implementations; fnmatch(3) for what is in a name.
 */
#ifndef GM_SEARCH_PATTERN_H
#define GM_SEARCH_PATTERN_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Flags that change what a pattern means. */
enum pattern_flags {
	PATTERN_PERIOD  = 1 << 3,  /* a leading period of a name is matched only by a
	                              period that begins the component: FNM_PERIOD */
	PATTERN_PAPER_Q = 1 << 8,  /* `?` is zero or one character */
	PATTERN_FLAGS   = PATTERN_PERIOD | PATTERN_PAPER_Q,
};

enum {
	PATTERN_MAX = 65536,           /* bytes of a pattern */
	PATTERN_COMPONENT_MAX = 4096,  /* bytes of one component */
};

/** Why a pattern was refused. */
struct pattern_error {
	const char *why;   /* a phrase: "[ without its ]; ..."; constant */
	size_t at;         /* the offset in the pattern */
};

/** What to do with an entry: bits. */
enum pattern_verdict {
	PATTERN_MATCH = 1 << 0,   /* it is a result */
	PATTERN_BELOW = 1 << 1,   /* something below it can match: enter it */
};

/** A compiled pattern.  It never changes: threads may share it. */
struct pattern;

/**
 * Compile a pattern.
 *
 * @text
 *         The pattern, len bytes without a NUL.
 * @flags
 *         enum pattern_flags.
 * @error [out]
 *         Where and why, unless ENOMEM; may be NULL.
 * @return a pattern, one allocation, or NULL.
 * Errors: EINVAL: it is empty, holds a NUL, ends in a backslash, has a bad
 *         bracket (not closed, a range that ends before it begins, an unknown
 *         class), or a flag is unknown.  E2BIG: longer than PATTERN_MAX, or a
 *         component than PATTERN_COMPONENT_MAX.  ENOMEM.
 * Ownership: pattern_free().
 */
struct pattern *pattern_compile(const char *text, size_t len, unsigned flags,
                                struct pattern_error *error);

/** Free a pattern; NULL is allowed. */
void pattern_free(struct pattern *pattern);

/** The words of a set of live states, in storage of the caller: 1 for up to 64 components in
    all alternatives, 2 for up to 128 ... */
size_t pattern_words(const struct pattern *pattern);

/** Whether every object matches, wherever it is: "*". */
bool pattern_everything(const struct pattern *pattern);

/** The live states of the root of a search.  @live [out]  pattern_words() words.
    @return PATTERN_BELOW, or 0 if the pattern can match nothing. */
unsigned pattern_root(const struct pattern *pattern, uint64_t *live);

/**
 * The verdict on an entry of a directory.
 *
 * @live
 *         Of the directory.
 * @name
 *         Of the entry, not "." nor "..", len bytes without a slash.
 * @child [out]
 *         The live states of the entry, if it is a directory; may be live itself.  NULL if it
 *         is not: PATTERN_BELOW is then not returned.
 * @return enum pattern_verdict.
 */
unsigned pattern_step(const struct pattern *pattern, const uint64_t *live, const char *name,
                      size_t len, uint64_t *child);

/**
 * Whether the pattern is one path, anchored and without wildcards, so that one look-up answers
 * the search.
 *
 * @path [out]
 *         The path is appended, relative to the root: "a/b".
 */
bool pattern_literal(const struct pattern *pattern, struct strbuf *path);

#endif
