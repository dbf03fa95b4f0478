/* SPDX-License-Identifier: MIT */
/**
 * Applying a unified diff, as strictly as it can be read.
 */
#ifndef GM_TESTS_APPLY_DIFF_H
#define GM_TESTS_APPLY_DIFF_H

#include "cmd/linediff.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/** The length of the line at a place, with its newline. */
static inline size_t line_length(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));
	return newline ? (size_t)(newline + 1 - at) : (size_t)(end - at);
}

/**
 * Apply the hunks of a diff to a text.
 *
 * @new [out]  Empty before.
 * @return whether lines, lengths, context and the order of hunks are right.
 */
static inline bool apply_diff(const char *old, size_t n, const struct strbuf *diff,
                              struct strbuf *new)
{
	const char *old_end = old + n, *end = strbuf_str(diff) + diff->len;
	size_t line = 0, new_line = 0, left[2] = {0}, same = 0;   /* of the hunk, per text */
	bool begun = false;
	for (const char *at = strbuf_str(diff); at < end;) {
		size_t len = line_length(at, end);
		if (*at == '@' && !left[0] && !left[1]) {
			size_t starts[2], between = 0;
			const char *number = at + 3;
			for (int i = 0; i < 2; ++i) {
				int used = 0;
				left[i] = 1;
				if (sscanf(number, "%*1[-+]%zu%n,%zu%n", &starts[i], &used,
				           &left[i], &used) < 1)
					return false;
				number += used + 1;
				starts[i] -= left[i] > 0;
			}
			if (strncmp(number, "@@\n", 3) != 0 || (begun && same != LINEDIFF_CONTEXT))
				return false;
			for (; line < starts[0] && old < old_end; ++line, ++new_line, ++between) {
				size_t m = line_length(old, old_end);
				strbuf_add(new, old, m);
				old += m;
			}
			if (line != starts[0] || new_line != starts[1] || (begun && !between))
				return false;
			begun = true;
			same = 0;
			at += len;
			continue;
		}
		/* The newline that is not in the text is marked in the next line of the diff. */
		bool cut = at + len < end && at[len] == '\\';
		size_t m = len - 1 - cut;
		same = *at == ' ' ? same + 1 : 0;
		if (!strchr(" -+", *at) || same > 2 * LINEDIFF_CONTEXT)
			return false;
		if (*at != '+') {
			if (left[0]-- == 0 || line_length(old, old_end) != m
			    || memcmp(old, at + 1, m) != 0)
				return false;
			old += m;
			++line;
		}
		if (*at != '-') {
			if (left[1]-- == 0)
				return false;
			strbuf_add(new, at + 1, m);
			++new_line;
		}
		at += len;
		if (cut)
			at += line_length(at, end);
	}
	strbuf_add(new, old, (size_t)(old_end - old));
	return !left[0] && !left[1] && same <= LINEDIFF_CONTEXT;
}

#endif
