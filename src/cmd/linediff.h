/* SPDX-License-Identifier: MIT */
/**
 * The differences between two texts by lines, as diff -u prints them.  Pure.
 *
 * A line consists of any bytes, including NUL, up to and including a newline or up to the end of
 * the text; "x" without a newline differs from "x" with one.
 *
 * Applied to the old text, the diff yields the new text, byte for byte.  The diff is the shortest
 * possible if at most 1,000 lines that both texts contain are moved, removed or added.
 */
#ifndef GM_CMD_LINEDIFF_H
#define GM_CMD_LINEDIFF_H

#include "base/strbuf.h"

/** Number of lines of context around a change. */
enum { LINEDIFF_CONTEXT = 3 };

/** The number of lines that differ. */
struct linediff_count {
	size_t removed, added;
};

/** Append the hunks of a unified diff, without the two lines that name the files; nothing if the
    texts are equal.
    @out  NULL: only count.  Check out->failed afterwards.
    @count [out]
    @return 0, or -1.  Errors: ENOMEM; EFBIG: 2^30 lines or more. */
int linediff(struct strbuf *out, const char *old, size_t old_len, const char *new, size_t new_len,
             struct linediff_count *count);

#endif
