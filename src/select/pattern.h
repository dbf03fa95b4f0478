/* SPDX-License-Identifier: MIT */
/**
 * The pattern language of the search: compiling and matching.
 *
 * A pattern consists of alternatives separated by `|`.  An entry is a result if an alternative
 * matches its path P, which is relative to the root of the search.
 *
 *   foo      unanchored: matches the last component of P
 *   b/foo    unanchored: matches the last two components of P, and so on
 *   /foo     anchored: matches all of P, so only in the root itself
 *   *        any number of characters within a component; ** is the same, except:
 *   ?        one character; with PATTERN_PAPER_Q zero or one, as in the paper
 *   [ab-z]   one of these characters; [!...] and [^...] any other character.
 *            Inside: ranges by code point, classes ([:alpha:], ASCII only), [=x=] and [.x.] for
 *            x; a ] that is first, a - that is first or last, and an escaped character stand
 *            for themselves
 *   \x       the character x itself; \/ is a slash as well
 *
 * With PATTERN_EXTENDED:
 *
 *   **       as a whole component: any number of components, also none; at the end at least one
 *   {a,b}    either of these, which may be empty, and contain slashes and more braces: as if each
 *            combination were an alternative of its own.  Braces without a comma of their own,
 *            and those that are not closed, stand for themselves
 *
 * Each other component matches exactly one component of P: a star before /foo does not find foo in
 * the root itself.  (The paper's implementations do find it: they pass P with its first slash to
 * fnmatch(3).)
 *
 * `/` and `|` are recognized before brackets, and brackets before braces: a bracket cannot contain
 * `/` or `|`, except as \|, and braces and commas within a bracket are characters of the bracket.
 * Alternatives that can never match are not errors: an empty alternative, one with an empty
 * component (a//b, a/, /), or one with "." or "..".
 *
 * Characters.  The locale has no effect: in names and patterns, a valid UTF-8 sequence is a
 * character, and so is each byte outside of such sequences.  So `?` matches an é, as in find(1) in
 * a UTF-8 locale, and an invalid byte.  In ranges an invalid byte counts as U+DC00 plus its value,
 * which is not a character.  Nothing is normalized.  With PATTERN_NOCASE, letters are converted to
 * lowercase before comparison (base/casefold.h), and a bracket matches a letter if it contains the
 * letter in either case.
 *
 * Matching accompanies a traversal.  Each directory has live states: the components to match its
 * entries against.  A step from a directory to an entry costs at most the length of the name times
 * the length of these components; no name on the path is matched again further down.  The pattern
 * of entries to exclude is compiled together with the pattern of results.
 *
 * Source: the paper "Search Should be a System Call", sections 2 and 4, or its implementations
 * where they differ from the paper; fnmatch(3) for the contents of a component.
 */
#ifndef GM_SELECT_PATTERN_H
#define GM_SELECT_PATTERN_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Flags that change the meaning of a pattern. */
enum pattern_flags {
	PATTERN_PERIOD  = 1 << 3,  /* only a period at the start of the component matches a leading
	                              period of a name: FNM_PERIOD */
	PATTERN_PAPER_Q = 1 << 8,  /* `?` is zero or one character */
	PATTERN_EXTENDED = 1 << 14,   /* ** and {a,b} */
	PATTERN_NOCASE  = 1 << 15,
	PATTERN_FLAGS   = PATTERN_PERIOD | PATTERN_PAPER_Q | PATTERN_EXTENDED | PATTERN_NOCASE,
};

enum {
	PATTERN_MAX = 65536,           /* maximum bytes of a pattern */
	PATTERN_COMPONENT_MAX = 4096,  /* maximum bytes of one component */
	PATTERN_COMPONENTS_MAX = PATTERN_MAX / 2,   /* maximum number of components, with braces
	                                               expanded */
	PATTERN_WORDS_MAX = PATTERN_COMPONENTS_MAX / 64,
};

/** Why a pattern was rejected. */
struct pattern_error {
	const char *why;   /* a phrase such as "[ without its ]; ..."; static text */
	size_t at;         /* offset of the error in the pattern */
	bool exclude;      /* the error is in `exclude`, not in `text` */
};

/** Bits that say what to do with an entry. */
enum pattern_verdict {
	PATTERN_MATCH = 1 << 0,   /* the entry is a result */
	PATTERN_BELOW = 1 << 1,   /* something below the entry can match: enter it */
};

/** A compiled pattern, which never changes: threads may share it. */
struct pattern;

/**
 * Compile a pattern.
 *
 * @text
 *         The pattern, len bytes without a NUL.
 * @flags
 *         enum pattern_flags.
 * @error [out]
 *         Position and reason of the error, unless it is ENOMEM; may be NULL.
 * @return a pattern, or NULL.
 * Errors: EINVAL: the pattern is empty, holds a NUL, ends in a backslash, has a bad bracket (not
 *         closed, a range that ends before it begins, an unknown class), or a flag is unknown.
 *         E2BIG: the pattern is longer than PATTERN_MAX, a component is longer than
 *         PATTERN_COMPONENT_MAX, or the pattern has more than PATTERN_COMPONENTS_MAX components
 *         with braces expanded.  ENOMEM.
 * Ownership: pattern_free().
 */
struct pattern *pattern_compile(const char *text, size_t len, unsigned flags,
                                struct pattern_error *error);

/** Compile the pattern `text` without the entries that match the pattern `exclude` or are below
    such an entry.  Otherwise as pattern_compile().
    @exclude  exclude_len bytes; NULL: exclude nothing. */
struct pattern *pattern_compile_excluding(const char *text, size_t len, const char *exclude,
                                          size_t exclude_len, unsigned flags,
                                          struct pattern_error *error);

/** Free a pattern; NULL is allowed. */
void pattern_free(struct pattern *pattern);

/** The number of words in a set of live states, which the caller allocates: 1 for up to 64
    components in all alternatives, 2 for up to 128, and so on. */
size_t pattern_words(const struct pattern *pattern);

/** Whether the pattern matches every object at every depth, such as "*", and excludes nothing. */
bool pattern_everything(const struct pattern *pattern);

/** Whether any path can match; false if each alternative can never match, such as "a//b". */
bool pattern_possible(const struct pattern *pattern);

/** Get the live states of the root of a search.  @live [out]  pattern_words() words.
    @return PATTERN_BELOW, or 0 if the pattern cannot match anything. */
unsigned pattern_root(const struct pattern *pattern, uint64_t *live);

/**
 * Match an entry of a directory.
 *
 * @live
 *         The live states of the directory.
 * @name
 *         The name of the entry, not "." or "..", len bytes without a slash.
 * @child [out]
 *         The live states of the entry, if it is a directory; must not overlap `live`.  NULL: the
 *         entry is not a directory, and PATTERN_BELOW is not returned.
 * @return enum pattern_verdict; 0 also if the entry is excluded: then child is undefined.
 */
unsigned pattern_step(const struct pattern *pattern, const uint64_t *live, const char *name,
                      size_t len, uint64_t *child);

/**
 * Get conditions for the last component of a path that matches the pattern.
 *
 * @live [out]
 *         pattern_words() words: with these live states, pattern_step() returns PATTERN_MATCH for a
 *         name that can be the last component of a result.
 * @text [out]
 *         If all alternatives together have one last component: a pattern of fnmatch(3) is appended
 *         that each such name matches; with PATTERN_NOCASE, fnmatch() must ignore case.  The
 *         pattern has no special characters but "*" and backslashes.
 * @sole [out]
 *         The pattern has only one last component, and excludes nothing: whether a name that
 *         matches this component is a result depends only on the directory, see
 *         pattern_last_step().
 * @return false: the last component can be any name; live, text and sole are not changed.
 */
bool pattern_last(const struct pattern *pattern, uint64_t *live, struct strbuf *text, bool *sole);

/** Do the same as pattern_step() for a name that matches the only last component (pattern_last(),
    `sole`) and is not a directory. */
unsigned pattern_last_step(const struct pattern *pattern, const uint64_t *live);

/** Whether the pattern ignores case. */
bool pattern_nocase(const struct pattern *pattern);

/**
 * Whether the pattern is a single path, anchored and without wildcards, so that one lookup answers
 * the search.  False if the pattern excludes entries or ignores case.
 *
 * @path [out]
 *         The path is appended, relative to the root: "a/b".
 */
bool pattern_literal(const struct pattern *pattern, struct strbuf *path);

#endif
