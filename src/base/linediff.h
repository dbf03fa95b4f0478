/* SPDX-License-Identifier: MIT */
/**
 * The differences between two texts by lines, as diff -u prints them.  Pure.
 *
 * A line is any bytes, also NUL, up to and including a newline or the end of the text; "x"
 * without a newline differs from "x" with one.
 *
 * Applied to the old text, the diff gives the new one, byte for byte.  It is the shortest unless
 * that takes too many steps (about a second for the worst texts of 100,000 lines).
 */
#ifndef GM_BASE_LINEDIFF_H
#define GM_BASE_LINEDIFF_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/** Lines of context around a change. */
enum { LINEDIFF_CONTEXT = 3 };

/** How many lines differ. */
struct linediff_count {
	size_t removed, added;
};

/** Callbacks that receive a diff.  Each may be NULL. */
struct linediff_to {
	void *arg;
	/** A hunk begins: old_n lines from old_line (from 1; if old_n is 0, the line before), and
	    the same for the new text. */
	void (*hunk)(void *arg, size_t old_line, size_t old_n, size_t new_line, size_t new_n);
	/** A line: mark is ' ', '-' or '+'; its n bytes do not include the newline.
	    @ended  false: the last line of its text, without a newline. */
	void (*line)(void *arg, char mark, const char *bytes, size_t n, bool ended);
};

/**
 * Compare two texts.
 *
 * @count [out]  May be NULL.
 * @return 0, or -1: ENOMEM; EFBIG: 2^30 lines and more.
 */
int linediff(const char *old, size_t old_len, const char *new, size_t new_len,
             const struct linediff_to *to, struct linediff_count *count);

/**
 * Append the hunks of a unified diff, without the two lines that name the files; nothing if
 * the texts are equal.
 *
 * @return 0, or -1 (ENOMEM, EFBIG).  Check out->failed as well.
 */
int linediff_unified(struct strbuf *out, const char *old, size_t old_len, const char *new,
                     size_t new_len, struct linediff_count *count);

/** For linediff_to.hunk and .line: append what linediff_unified() appends; out is a strbuf. */
void linediff_put_hunk(void *out, size_t old_line, size_t old_n, size_t new_line, size_t new_n);
void linediff_put_line(void *out, char mark, const char *bytes, size_t n, bool ended);

#endif
