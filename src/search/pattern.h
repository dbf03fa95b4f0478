/* SPDX-License-Identifier: MIT */
/**
 * The pattern language of the search primitive, compiled and matched.
 *
 * A pattern holds alternatives between `|`; an entry is a result if one of
 * them matches its path P, which is relative to the root of the search.
 *
 *   foo      unanchored: matches the last component of P
 *   b/foo    unanchored: matches the last two; as many as it has
 *   /foo     anchored: matches the whole of P, so only in the root itself
 *   *        any characters within a component, also none; ** is no more
 *   ?        one character; with PATTERN_PAPER_Q one or none, as in the paper
 *   [ab-z]   one of these characters; [!...] and [^...] one that is not.
 *            Inside: ranges by code, classes ([:alpha:], ASCII alone), [=x=]
 *            and [.x.] for one x; a ] that is first, a - that is first or
 *            last, and what a backslash escapes, stand for themselves
 *   \x       the character x itself; \/ is a slash all the same
 *
 * Each component takes exactly one of P: where a star stands before /foo, foo
 * is not found in the root itself.  (The paper's implementations find it: they
 * give fnmatch(3) P with its first slash, and the star takes what is before.)
 *
 * `/` and `|` are seen before brackets are: neither can stand in one, but
 * for \|.  What can never match is no error: an alternative that is empty,
 * has an empty component (a//b, a/, /), or one that is "." or "..".
 *
 * Characters.  Names and patterns are read alike, whatever the locale: valid
 * UTF-8 sequences are characters, and so is each byte that belongs to none.
 * So `?` matches an é, as find(1) and the shell have it under a UTF-8 locale,
 * and a byte that is no UTF-8.  In ranges such a byte stands at U+DC00 plus
 * its value, where no character is.  No case is folded, nothing normalised.
 *
 * Matching goes along with a walk.  Each directory has a state: the set of
 * components that its entries are to be matched with.  A step from it to an
 * entry costs at most the length of the name times the length of these
 * components, and nothing is ever matched twice on the way down.
 *
 * Source: "Search Should be a System Call", sections 2 and 4; where its
 * implementations differ from it, these; fnmatch(3) for what is in a name.
 */
#ifndef GM_SEARCH_PATTERN_H
#define GM_SEARCH_PATTERN_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The flags of a search that change what a pattern means. */
enum pattern_flags {
	PATTERN_PERIOD  = 1 << 3,  /* the first period of a name is matched by a period
	                              that begins the component alone: FNM_PERIOD */
	PATTERN_PAPER_Q = 1 << 8,  /* `?` is zero or one character */
	PATTERN_FLAGS   = PATTERN_PERIOD | PATTERN_PAPER_Q,
};

enum {
	PATTERN_MAX = 65536,           /* bytes of a pattern, at most */
	PATTERN_COMPONENT_MAX = 4096,  /* bytes of one component of it */
};

/** Why a pattern was refused. */
struct pattern_error {
	const char *why;   /* a phrase: "[ without its ]; ..."; constant */
	size_t at;         /* the byte of the pattern that it is about, from 0 */
};

/** What is to be done with an entry: bits. */
enum pattern_verdict {
	PATTERN_MATCH = 1 << 0,   /* it is a result */
	PATTERN_BELOW = 1 << 1,   /* below it something can match: enter it */
};

/** A compiled pattern.  It does not change: threads may share it. */
struct pattern;

/**
 * Compile a pattern.
 *
 * @text
 *         The pattern, of len bytes; it need not end in a NUL.
 * @flags
 *         enum pattern_flags.
 * @error [out]
 *         Where and why, unless memory ran out; may be NULL.
 * @return a pattern, one allocation, or NULL.
 * Errors: EINVAL: it is empty, holds a NUL, ends in a backslash, has a bad
 *         bracket (not closed, a range that ends before it begins, an unknown
 *         class), or a flag is unknown.  E2BIG: longer than PATTERN_MAX, or a
 *         component than PATTERN_COMPONENT_MAX.  ENOMEM.
 * Ownership: pattern_free().
 */
struct pattern *pattern_compile(const char *text, size_t len, unsigned flags,
                                struct pattern_error *error);

/** Free a pattern; NULL is fine. */
void pattern_free(struct pattern *pattern);

/**
 * The length of a state.  States are plain words in storage of the caller,
 * to be copied and compared as such.
 *
 * @return 1 for up to 64 components in all alternatives, 2 for up to 128 ...
 */
size_t pattern_words(const struct pattern *pattern);

/** Whether each object matches, wherever it is: "*", but for the root. */
bool pattern_everything(const struct pattern *pattern);

/**
 * The state of the root of a search.
 *
 * @state [out]
 *         pattern_words() words.
 * @return PATTERN_BELOW, or 0 if the pattern can match nothing.
 */
unsigned pattern_root(const struct pattern *pattern, uint64_t *state);

/**
 * The verdict on an entry of a directory.
 *
 * @state
 *         Of the directory.
 * @name
 *         Of the entry, not "." nor "..", len bytes without a slash.
 * @child [out]
 *         The state of the entry if it is a directory; may be state itself.
 *         NULL for what is no directory: PATTERN_BELOW is not asked then.
 * @return enum pattern_verdict.
 */
unsigned pattern_step(const struct pattern *pattern, const uint64_t *state, const char *name,
                      size_t len, uint64_t *child);

/**
 * The same for a path below the root, from component to component.
 *
 * @path
 *         As in pattern_match(); without components it is the root.
 * @state [out]
 *         Of the directory that the path names.
 * @return the verdict on it; 0 also where PATTERN_BELOW was not given on the
 *         way, and state is empty then.
 */
unsigned pattern_walk(const struct pattern *pattern, const char *path, uint64_t *state);

/**
 * The names that alone can match in a directory, or be entered, if these are
 * so few: they may be looked up one by one, and the directory left unread.
 * (A file system that folds case finds other spellings by a look-up.)
 *
 * @names [out]
 *         Up to max names, each once, without order; they are the pattern's.
 * @return how many names, or 0: the directory must be read.
 */
size_t pattern_names(const struct pattern *pattern, const uint64_t *state, const char **names,
                     size_t max);

/**
 * Whether the pattern is one path, anchored and without wildcards, so that
 * one look-up answers the search.
 *
 * @path [out]
 *         The path is appended, relative to the root: "a/b".
 */
bool pattern_literal(const struct pattern *pattern, struct strbuf *path);

/**
 * Whether a path matches.  It needs no state, nor storage.
 *
 * @path
 *         Relative to the root; slashes that lead, end, or are repeated count
 *         for nothing.  "." and ".." are not expected in it.
 */
bool pattern_match(const struct pattern *pattern, const char *path);

/**
 * The pattern that finds below a directory, taken as a root, what this one
 * finds there: to hand a part of the tree to another back end (the paper,
 * section 4: for "tmp/foo" and a mount at /var/tmp "/foo|tmp/foo").  It means
 * that under the same flags.
 *
 * @state
 *         Of that directory.
 * @text [out]
 *         The pattern is appended; nothing, if nothing can match there.
 * @return 0, or -1.
 * Errors: E2BIG: it would be longer than PATTERN_MAX.
 */
int pattern_rest(const struct pattern *pattern, const uint64_t *state, struct strbuf *text);

#endif
