/* SPDX-License-Identifier: MIT */
/**
 * What differs between two texts, by lines: as diff -u has it.  Pure.
 *
 * Lines are bytes: any byte may stand in one, NUL too; a line ends behind a newline,
 * or with the text.  "x" at the end of a text is another line than "x" with a newline.
 *
 * Applied to the old text the diff gives the new one, byte for byte.  It is the
 * shortest, as long as that can be found in a bounded number of steps (the time for
 * texts of 100,000 lines that were made to be slow is about a second); beyond,
 * it may have more lines than are needed.
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

/** Who takes a diff.  Any may be NULL. */
struct linediff_to {
	void *arg;
	/** A hunk begins: so many lines of the old text from that line on (counted from 1;
	    of none: the line before), and of the new. */
	void (*hunk)(void *arg, size_t old_line, size_t old_n, size_t new_line, size_t new_n);
	/** A line of it: mark is ' ', '-' or '+'; the newline is not of the n bytes.
	    @ended  false: it is the last of its text, and has none. */
	void (*line)(void *arg, char mark, const char *bytes, size_t n, bool ended);
};

/**
 * Compare two texts.
 *
 * @count [out]  May be NULL.
 * @return 0, or -1: ENOMEM; EFBIG: 2^30 lines and more.
 */
int linediff(const char *old, size_t old_len, const char *new, size_t new_len, const struct linediff_to *to,
             struct linediff_count *count);

/**
 * Append the hunks of a unified diff; nothing if nothing differs.  The two lines that
 * name the files are the caller's.
 *
 * @return 0, or -1 (ENOMEM, EFBIG); whether out failed is asked of it.
 */
int linediff_unified(struct strbuf *out, const char *old, size_t old_len, const char *new, size_t new_len,
                     struct linediff_count *count);

/** For linediff_to.hunk and .line of another: the same lines, appended to a strbuf. */
void linediff_put_hunk(void *out, size_t old_line, size_t old_n, size_t new_line, size_t new_n);
void linediff_put_line(void *out, char mark, const char *bytes, size_t n, bool ended);

#endif
