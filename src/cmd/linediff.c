/* SPDX-License-Identifier: MIT */
/*
 * Myers, An O(ND) Difference Algorithm and Its Variations (1986), the greedy algorithm.
 *
 *     lines --> numbers (equal lines have equal numbers) --> lines found in only one text are
 *     changed --> the other lines are compared --> line.changed --> hunks
 *
 * A point (x, y) of the edit graph stands for x lines of the old text and y lines of the new text.
 * A path starts at (0, 0).  It takes a step right (a line is removed), down (a line is added), or
 * along a diagonal k = x - y (a line that is in both texts).  rows[d] has the farthest x on each of
 * the d + 1 diagonals that d changes reach.  After CHANGES_MAX changes the farthest path is kept
 * and the search restarts at its end, so that time and memory are limited: the diff is still
 * correct, but may not be the shortest.
 *
 * Lines are numbered by sorting: chosen lines could make a hash slow.
 */
#include "cmd/linediff.h"

#include "base/fail.h"

#include <stdlib.h>

enum { CHANGES_MAX = 1000, LINES_MAX = 1 << 30 };

struct line {
	const char *at;
	size_t len;        /* including the newline */
	uint32_t number;   /* equal lines have equal numbers */
	bool is_new;       /* belongs to the new text */
	bool changed;      /* to be removed from the old text, or added in the new text */
};

struct text {
	struct line *lines;
	struct line **kept;   /* the lines that both texts contain: only these are compared */
	size_t count;         /* number of lines */
	int32_t nkept;        /* number of elements of `kept` */
};

/* Lines. */

static int text_split(struct text *text, const char *bytes, size_t len)
{
	size_t most = len > 0 && bytes[len - 1] != '\n';
	for (const char *at = bytes, *end = bytes + len;
	     at < end && (at = memchr(at, '\n', (size_t)(end - at))); ++at)
		++most;
	if (most >= LINES_MAX)
		return fail(EFBIG);
	text->lines = calloc(most + 1, sizeof(*text->lines));
	text->kept = calloc(most + 1, sizeof(struct line *));
	if (!text->lines || !text->kept)
		return -1;
	for (size_t at = 0; at < len; ++text->count) {
		const char *end = memchr(bytes + at, '\n', len - at);
		size_t n = end ? (size_t)(end + 1 - bytes) - at : len - at;
		text->lines[text->count] = (struct line){.at = bytes + at, .len = n};
		at += n;
	}
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *one = *(struct line *const *)a, *two = *(struct line *const *)b;
	if (one->len != two->len)
		return one->len < two->len ? -1 : 1;
	return memcmp(one->at, two->at, one->len);
}

/** Number the lines so that equal lines have equal numbers.  Mark the lines that only one text
    contains as changed, and collect the other lines in `kept`.  @return 0, or -1. */
static int number_lines(struct text *old, struct text *new)
{
	size_t n = old->count + new->count;
	struct line **all = calloc(n + 1, sizeof(*all));
	if (!all)
		return -1;
	for (size_t i = 0; i < n; ++i) {
		bool is_new = i >= old->count;
		all[i] = is_new ? &new->lines[i - old->count] : &old->lines[i];
		all[i]->is_new = is_new;
	}
	qsort(all, n, sizeof(*all), compare_lines);
	uint32_t number = 0;
	for (size_t first = 0, end; first < n; first = end, ++number) {
		bool in_both = false;
		for (end = first; end < n && compare_lines(&all[first], &all[end]) == 0; ++end)
			in_both |= all[end]->is_new != all[first]->is_new;
		for (size_t i = first; i < end; ++i) {
			all[i]->number = number;
			all[i]->changed = !in_both;
		}
	}
	free(all);
	for (int k = 0; k < 2; ++k) {
		struct text *text = k ? new : old;
		for (size_t i = 0; i < text->count; ++i) {
			if (!text->lines[i].changed)
				text->kept[text->nkept++] = &text->lines[i];
		}
	}
	return 0;
}

/* Comparison. */

/** Take one more step: to diagonal k, the i-th of its row, from a neighboring diagonal.
    @before  The row with one change fewer, of n diagonals.
    @is_down [out]  The step goes down, not right.
    @return the farthest x on k, before following the diagonal; -1: outside the texts. */
static int32_t step(const struct text *old, const struct text *new, const int32_t *before, int n,
                    int i, int32_t k, bool *is_down)
{
	int32_t down = i < n ? before[i] : -1, right = i > 0 ? before[i - 1] : -1;
	if (down >= 0 && down - k > new->nkept)
		down = -1;
	right = right < 0 || right == old->nkept ? -1 : right + 1;
	*is_down = down >= right;
	return *is_down ? down : right;
}

/** Find a path through the edit graph, and mark the lines that its steps remove or add as changed.
    @rows  Memory for CHANGES_MAX + 1 rows, one for each number of changes. */
static void mark_changes(struct text *old, struct text *new, int32_t *rows)
{
	const int32_t x_end = old->nkept, y_end = new->nkept;
	for (int32_t x0 = 0, y0 = 0; x0 < x_end || y0 < y_end;) {
		int changes = 0, best = 0;
		int32_t *row = rows, far, x, k;
		bool is_down;
		for (;; row += ++changes) {
			far = -1;
			for (int i = 0; i <= changes; ++i) {
				k = x0 - y0 + 2 * i - changes;
				x = changes == 0 ? x0 : step(old, new, row - changes, changes, i, k,
				                             &is_down);
				while (x >= 0 && x < x_end && x - k < y_end
				       && old->kept[x]->number == new->kept[x - k]->number)
					++x;
				row[i] = x;
				if (x >= 0 && x - x0 + x - k - y0 > far) {
					far = x - x0 + x - k - y0;
					best = i;
				}
			}
			if (far == x_end - x0 + y_end - y0 || changes == CHANGES_MAX)
				break;
		}
		int32_t x_next = row[best], y_next = x_next - (x0 - y0 + 2 * best - changes);
		/* Follow the path back from its end, and mark the lines. */
		for (int i = best; changes > 0; row -= changes--) {
			k = x0 - y0 + 2 * i - changes;
			x = step(old, new, row - changes, changes, i, k, &is_down);
			if (is_down)
				new->kept[x - k - 1]->changed = true;
			else
				old->kept[x - 1]->changed = true;
			i -= !is_down;
		}
		x0 = x_next;
		y0 = y_next;
	}
}

/* Hunks. */

static void put_line(struct strbuf *out, char mark, const struct line *line)
{
	bool has_end = line->at[line->len - 1] == '\n';
	strbuf_putc(out, mark);
	strbuf_add(out, line->at, line->len);
	strbuf_puts(out, has_end ? "" : "\n\\ No newline at end of file\n");
}

/** Append the hunk of old[i] to old[i_end - 1] and new[j] to new[j_end - 1]. */
static void put_hunk(struct strbuf *out, const struct line *old, size_t i, size_t i_end,
                     const struct line *new, size_t j, size_t j_end)
{
	size_t n = i_end - i, m = j_end - j;
	strbuf_printf(out, n == 1 ? "@@ -%zu" : "@@ -%zu,%zu", i + (n > 0), n);
	strbuf_printf(out, m == 1 ? " +%zu @@\n" : " +%zu,%zu @@\n", j + (m > 0), m);
	while (i < i_end || j < j_end) {
		if (i < i_end && old[i].changed) {
			put_line(out, '-', &old[i++]);
		} else if (j < j_end && new[j].changed) {
			put_line(out, '+', &new[j++]);
		} else {
			put_line(out, ' ', &old[i++]);
			++j;
		}
	}
}

static void put_hunks(struct strbuf *out, const struct text *old, const struct text *new,
                      struct linediff_count *count)
{
	size_t i = 0, j = 0;
	size_t i_begin = 0, j_begin = 0, i_end = 0, j_end = 0;   /* bounds of the hunk, with the
	                                                            context before it, without the
	                                                            context after it */
	*count = (struct linediff_count){0};
	while (i < old->count || j < new->count) {
		bool is_removed = i < old->count && old->lines[i].changed;
		bool is_added = !is_removed && j < new->count && new->lines[j].changed;
		bool has_hunk = count->removed + count->added > 0;
		if (!is_removed && !is_added) {
			++i;
			++j;
			continue;
		}
		/* i - i_end lines since the last change are unchanged.  If the context of the last
		   change and of this change does not meet, a new hunk begins. */
		if (!has_hunk || i - i_end > 2 * LINEDIFF_CONTEXT) {
			if (has_hunk && out)
				put_hunk(out, old->lines, i_begin, i_end + LINEDIFF_CONTEXT,
				         new->lines, j_begin, j_end + LINEDIFF_CONTEXT);
			size_t context = i < LINEDIFF_CONTEXT ? i : LINEDIFF_CONTEXT;
			i_begin = i - context;
			j_begin = j - context;
		}
		count->removed += is_removed;
		count->added += is_added;
		i_end = i += is_removed;
		j_end = j += is_added;
	}
	size_t context = i - i_end < LINEDIFF_CONTEXT ? i - i_end : LINEDIFF_CONTEXT;
	if (count->removed + count->added > 0 && out)
		put_hunk(out, old->lines, i_begin, i_end + context, new->lines, j_begin,
		         j_end + context);
}

int linediff(struct strbuf *out, const char *old, size_t old_len, const char *new, size_t new_len,
             struct linediff_count *count)
{
	struct text a = {0}, b = {0};
	int32_t *rows = malloc((CHANGES_MAX + 1) * (CHANGES_MAX + 2) / 2 * sizeof(*rows));
	int rc = -1;
	if (rows && text_split(&a, old, old_len) == 0 && text_split(&b, new, new_len) == 0
	    && number_lines(&a, &b) == 0) {
		mark_changes(&a, &b, rows);
		put_hunks(out, &a, &b, count);
		rc = 0;
	}
	free(rows);
	free(a.lines);
	free(a.kept);
	free(b.lines);
	free(b.kept);
	return rc;
}
