/* SPDX-License-Identifier: MIT */
/*
 * Myers, An O(ND) Difference Algorithm and Its Variations (1986), section 4b: linear space,
 * from both ends at once.
 *
 *     lines --> numbers (equal lines have equal numbers) --> lines found in only one text are
 *     marked as changed --> the other lines are compared --> text.changed --> hunks
 *
 * - Lines are numbered by sorting: a hash could be made slow by a choice of lines.
 * - A line found in only one text belongs to no common subsequence and is not compared.
 * - A box of the edit graph is cut where the paths from both ends meet.  If they have not met
 *   after COST_MAX rounds, it is cut where one of them is farthest: the diff is still right, but
 *   may not be the shortest.  After STEPS_MAX comparisons in all, the rest of each box counts as
 *   changed.
 */
#include "base/linediff.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { COST_MAX = 1024, LINES_MAX = 1 << 30 };

static const uint64_t STEPS_MAX = 30000000;

/** A line: its bytes, with the newline. */
struct line {
	const char *at;
	size_t len;
};

/** One of the two texts. */
struct text {
	struct line *lines;
	uint32_t *number;      /* of each line */
	bool *changed;         /* each line: it is in this text alone */
	int32_t *kept;         /* the lines that are compared */
	uint32_t *value;       /* their numbers */
	size_t count;
	int32_t nkept;
};

struct compare {
	struct text old, new;
	int32_t *forward, *backward;   /* by diagonal: how far a path got on it */
	uint64_t steps;
};

/* Lines. */

static int text_split(struct text *text, const char *bytes, size_t len)
{
	size_t n = 0, i = 0;
	for (size_t at = 0; at < len; ++n) {
		const char *end = memchr(bytes + at, '\n', len - at);
		at = end ? (size_t)(end + 1 - bytes) : len;
	}
	if (n >= LINES_MAX) {
		errno = EFBIG;
		return -1;
	}
	text->count = n;
	text->lines = calloc(n + 1, sizeof(*text->lines));
	text->number = calloc(n + 1, sizeof(*text->number));
	text->changed = calloc(n + 1, sizeof(*text->changed));
	text->kept = calloc(n + 1, sizeof(*text->kept));
	text->value = calloc(n + 1, sizeof(*text->value));
	if (!text->lines || !text->number || !text->changed || !text->kept || !text->value) {
		errno = ENOMEM;
		return -1;
	}
	for (size_t at = 0; at < len; ++i) {
		const char *end = memchr(bytes + at, '\n', len - at);
		size_t next = end ? (size_t)(end + 1 - bytes) : len;
		text->lines[i] = (struct line){bytes + at, next - at};
		at = next;
	}
	return 0;
}

static void text_destroy(struct text *text)
{
	free(text->lines);
	free(text->number);
	free(text->changed);
	free(text->kept);
	free(text->value);
}

/** A line of either text, to be sorted. */
struct sorted {
	const struct line *line;
	uint32_t *number;
	bool *changed;
	bool new;
};

static int compare_lines(const void *a, const void *b)
{
	const struct line *one = ((const struct sorted *)a)->line;
	const struct line *two = ((const struct sorted *)b)->line;
	if (one->len != two->len)
		return one->len < two->len ? -1 : 1;
	return memcmp(one->at, two->at, one->len);
}

/** Number the lines from..to of each text, and mark lines that only one text has. */
static int number_lines(struct compare *c, size_t from, size_t old_to, size_t new_to)
{
	size_t n = 0, total = old_to - from + new_to - from;
	struct sorted *all = calloc(total + 1, sizeof(*all));
	if (!all)
		return -1;
	for (int k = 0; k < 2; ++k) {
		const struct text *t = k ? &c->new : &c->old;
		for (size_t i = from; i < (k ? new_to : old_to); ++i)
			all[n++] = (struct sorted){&t->lines[i], &t->number[i], &t->changed[i], k};
	}
	qsort(all, n, sizeof(*all), compare_lines);
	uint32_t number = 0;
	for (size_t first = 0, end; first < n; first = end, ++number) {
		bool both = false;
		for (end = first; end < n && compare_lines(&all[first], &all[end]) == 0; ++end)
			both |= all[end].new != all[first].new;
		for (size_t i = first; i < end; ++i) {
			*all[i].number = number;
			*all[i].changed = !both;
		}
	}
	free(all);
	return 0;
}

/** Collect the lines to compare. */
static void keep_lines(struct text *text, size_t from, size_t to)
{
	for (size_t i = from; i < to; ++i) {
		if (text->changed[i])
			continue;
		text->kept[text->nkept] = (int32_t)i;
		text->value[text->nkept++] = text->number[i];
	}
}

/* Comparing. */

/** A part of the edit graph: lines x0..x1 of the old text, y0..y1 of the new. */
struct box {
	int32_t x0, x1, y0, y1;
};

/** The point farthest from one end that its paths have reached. */
static int64_t farthest(const struct box *box, const int32_t *reached, int32_t low, int32_t high,
                        bool forward, int32_t *x_out, int32_t *y_out)
{
	int64_t best = -1;
	for (int32_t k = high; k >= low; k -= 2) {
		int32_t x = reached[k], y;
		if (forward) {
			x = x > box->x1 ? box->x1 : x;
			x = x - k > box->y1 ? box->y1 + k : x;
		} else {
			x = x < box->x0 ? box->x0 : x;
			x = x - k < box->y0 ? box->y0 + k : x;
		}
		y = x - k;
		int64_t far = forward ? (int64_t)x - box->x0 + y - box->y0
		                      : (int64_t)box->x1 - x + box->y1 - y;
		/* On the edge of the box, and not beyond. */
		if (x < box->x0 || x > box->x1 || y < box->y0 || y > box->y1 || far <= best)
			continue;
		best = far;
		*x_out = x;
		*y_out = y;
	}
	return best;
}

/**
 * Find where to cut a box, whose corners do not match.
 *
 * A diagonal k has the points with x - y = k.  forward[k] is the greatest x that a path of
 * `cost` changes from the upper left reaches on it, backward[k] the least x from the lower right.
 *
 * @return whether a cut was found within STEPS_MAX.
 */
static bool find_cut(struct compare *c, const struct box *box, int32_t *x_out, int32_t *y_out)
{
	const uint32_t *old = c->old.value, *new = c->new.value;
	int32_t *fd = c->forward, *bd = c->backward;
	const int32_t least = box->x0 - box->y1, most = box->x1 - box->y0;
	const int32_t first = box->x0 - box->y0, last = box->x1 - box->y1;
	const bool odd = (first - last) & 1;
	int32_t flow = first, fhigh = first, blow = last, bhigh = last;
	fd[first] = box->x0;
	bd[last] = box->x1;
	for (int cost = 1;; ++cost) {
		/* One more change on each path: a diagonal more on either side, within the box. */
		if (flow > least)
			fd[--flow - 1] = -1;
		else
			++flow;
		if (fhigh < most)
			fd[++fhigh + 1] = -1;
		else
			--fhigh;
		for (int32_t k = fhigh; k >= flow; k -= 2) {
			int32_t x = fd[k - 1] < fd[k + 1] ? fd[k + 1] : fd[k - 1] + 1, y = x - k;
			const int32_t from = x;
			for (; x < box->x1 && y < box->y1 && old[x] == new[y]; ++x)
				++y;
			c->steps += (uint64_t)(x - from) + 1;
			fd[k] = x;
			if (odd && blow <= k && k <= bhigh && bd[k] <= x) {
				*x_out = x;
				*y_out = y;
				return true;
			}
		}
		if (blow > least)
			bd[--blow - 1] = INT32_MAX;
		else
			++blow;
		if (bhigh < most)
			bd[++bhigh + 1] = INT32_MAX;
		else
			--bhigh;
		for (int32_t k = bhigh; k >= blow; k -= 2) {
			int32_t x = bd[k - 1] < bd[k + 1] ? bd[k - 1] : bd[k + 1] - 1, y = x - k;
			const int32_t from = x;
			for (; x > box->x0 && y > box->y0 && old[x - 1] == new[y - 1]; --x)
				--y;
			c->steps += (uint64_t)(from - x) + 1;
			bd[k] = x;
			if (!odd && flow <= k && k <= fhigh && x <= fd[k]) {
				*x_out = x;
				*y_out = y;
				return true;
			}
		}
		if (c->steps > STEPS_MAX)
			return false;
		if (cost >= COST_MAX)
			break;
	}
	int32_t bx = 0, by = 0;
	int64_t ahead = farthest(box, fd, flow, fhigh, true, x_out, y_out);
	int64_t back = farthest(box, bd, blow, bhigh, false, &bx, &by);
	if (back > ahead) {
		*x_out = bx;
		*y_out = by;
	}
	return ahead > 0 || back > 0;
}

/** Mark what a box changes.  It calls itself for the smaller part of a cut, so 32
    deep at most. */
static void compare_box(struct compare *c, struct box box)
{
	for (;;) {
		const uint32_t *old = c->old.value, *new = c->new.value;
		while (box.x0 < box.x1 && box.y0 < box.y1 && old[box.x0] == new[box.y0]) {
			++box.x0;
			++box.y0;
		}
		while (box.x0 < box.x1 && box.y0 < box.y1 && old[box.x1 - 1] == new[box.y1 - 1]) {
			--box.x1;
			--box.y1;
		}
		int32_t x, y;
		if (box.x0 == box.x1 || box.y0 == box.y1 || c->steps > STEPS_MAX
		    || !find_cut(c, &box, &x, &y)) {
			for (; box.x0 < box.x1; ++box.x0)
				c->old.changed[c->old.kept[box.x0]] = true;
			for (; box.y0 < box.y1; ++box.y0)
				c->new.changed[c->new.kept[box.y0]] = true;
			return;
		}
		struct box before = {box.x0, x, box.y0, y}, after = {x, box.x1, y, box.y1};
		bool first = (int64_t)x - box.x0 + y - box.y0 < (int64_t)box.x1 - x + box.y1 - y;
		compare_box(c, first ? before : after);
		box = first ? after : before;
	}
}

static int compare_texts(struct compare *c)
{
	size_t from = 0, old_to = c->old.count, new_to = c->new.count;
	/* Most of a file is unchanged. */
	while (from < old_to && from < new_to
	       && compare_lines(&(struct sorted){&c->old.lines[from]},
	                        &(struct sorted){&c->new.lines[from]}) == 0)
		++from;
	while (from < old_to && from < new_to
	       && compare_lines(&(struct sorted){&c->old.lines[old_to - 1]},
	                        &(struct sorted){&c->new.lines[new_to - 1]}) == 0) {
		--old_to;
		--new_to;
	}
	if (number_lines(c, from, old_to, new_to) != 0)
		return -1;
	keep_lines(&c->old, from, old_to);
	keep_lines(&c->new, from, new_to);
	size_t diagonals = (size_t)c->old.nkept + (size_t)c->new.nkept + 3;
	int32_t *forward = malloc(diagonals * sizeof(*forward));
	int32_t *backward = malloc(diagonals * sizeof(*backward));
	if (forward && backward) {
		c->forward = forward + c->new.nkept + 1;
		c->backward = backward + c->new.nkept + 1;
		compare_box(c, (struct box){0, c->old.nkept, 0, c->new.nkept});
	}
	free(forward);
	free(backward);
	return forward && backward ? 0 : -1;
}

/* Hunks. */

static void give_line(const struct linediff_to *to, char mark, const struct line *line)
{
	bool ended = line->at[line->len - 1] == '\n';
	if (to->line)
		to->line(to->arg, mark, line->at, line->len - ended, ended);
}

/** Give the lines of both texts between two places that match there. */
static void give_hunk(const struct compare *c, const struct linediff_to *to, size_t i, size_t i_end,
                      size_t j, size_t j_end)
{
	if (to->hunk)
		to->hunk(to->arg, i + (i_end > i), i_end - i, j + (j_end > j), j_end - j);
	while (i < i_end || j < j_end) {
		if (i < i_end && c->old.changed[i])
			give_line(to, '-', &c->old.lines[i++]);
		else if (j < j_end && c->new.changed[j])
			give_line(to, '+', &c->new.lines[j++]);
		else {
			give_line(to, ' ', &c->old.lines[i++]);
			++j;
		}
	}
}

static void give_hunks(const struct compare *c, const struct linediff_to *to,
                       struct linediff_count *count)
{
	size_t i = 0, j = 0;
	size_t begin_i = 0, begin_j = 0, end_i = 0, end_j = 0;   /* of the hunk, with context */
	size_t same = 0;                                          /* lines since the last change */
	bool open = false;
	while (i < c->old.count || j < c->new.count) {
		bool gone = i < c->old.count && c->old.changed[i];
		bool come = j < c->new.count && c->new.changed[j];
		if (gone || come) {
			if (open && same > 2 * LINEDIFF_CONTEXT) {
				give_hunk(c, to, begin_i, end_i, begin_j, end_j);
				open = false;
			}
			if (!open) {
				size_t context = i < LINEDIFF_CONTEXT ? i : LINEDIFF_CONTEXT;
				begin_i = i - context;
				begin_j = j - context;
			}
			open = true;
			same = 0;
			count->removed += gone;
			count->added += !gone;
			i += gone;
			j += !gone;
			end_i = i;
			end_j = j;
		} else {
			++i;
			++j;
			if (++same <= LINEDIFF_CONTEXT) {
				end_i = i;
				end_j = j;
			}
		}
	}
	if (open)
		give_hunk(c, to, begin_i, end_i, begin_j, end_j);
}

int linediff(const char *old, size_t old_len, const char *new, size_t new_len,
             const struct linediff_to *to, struct linediff_count *count)
{
	struct compare c = {0};
	struct linediff_count counted = {0};
	int rc = -1;
	if (text_split(&c.old, old, old_len) == 0 && text_split(&c.new, new, new_len) == 0
	    && compare_texts(&c) == 0) {
		give_hunks(&c, to, &counted);
		if (count)
			*count = counted;
		rc = 0;
	}
	int error = errno;
	text_destroy(&c.old);
	text_destroy(&c.new);
	errno = error;
	return rc;
}

void linediff_put_hunk(void *arg, size_t old_line, size_t old_n, size_t new_line, size_t new_n)
{
	struct strbuf *out = arg;
	strbuf_printf(out, old_n == 1 ? "@@ -%zu" : "@@ -%zu,%zu", old_line, old_n);
	strbuf_printf(out, new_n == 1 ? " +%zu @@\n" : " +%zu,%zu @@\n", new_line, new_n);
}

void linediff_put_line(void *arg, char mark, const char *bytes, size_t n, bool ended)
{
	struct strbuf *out = arg;
	strbuf_putc(out, mark);
	strbuf_add(out, bytes, n);
	strbuf_puts(out, ended ? "\n" : "\n\\ No newline at end of file\n");
}

int linediff_unified(struct strbuf *out, const char *old, size_t old_len, const char *new,
                     size_t new_len, struct linediff_count *count)
{
	struct linediff_to to = {.arg = out, .hunk = linediff_put_hunk, .line = linediff_put_line};
	return linediff(old, old_len, new, new_len, &to, count);
}
