/* SPDX-License-Identifier: MIT */
/*
 * An mtab, checked against any table and rebuilt.  The input: a byte of
 * choices, a mountinfo up to an empty line; the rest is the file.
 *
 * Every line is told of once, and every mount; what is made has a line for each mount,
 * is right when it is checked, and is rebuilt the same; without hints it does not
 * depend on the file.  The kernel is not entered.
 */
#include "lib/fuzz.h"

#include "base/map64.h"
#include "recover/recover.h"
#include "mounts/table.h"

#include <stdlib.h>
#include <string.h>

/** Keep the hints that another source would confirm. */
static void confirm(const struct rec_input *in, struct rec_result *j)
{
	for (size_t i = 0; i < j->nhints && in->keep == REC_CHECKED; ++i) {
		struct rec_hint *hint = &j->hints[i];
		FUZZ_CHECK(in->rows[hint->row].target && *hint->option && !hint->kept);
		hint->kept = strlen(hint->option) % 2;
	}
}

static void check(const struct rec_input *in, const struct rec_result *j)
{
	size_t sum = 0;
	FUZZ_CHECK(j->nlines == in->lines->count);
	for (size_t i = 0; i < j->count; ++i) {
		const struct rec_finding *f = &j->findings[i];
		FUZZ_CHECK(i < j->nlines ? f->line == &in->lines->lines[i]
		           : f->verdict == REC_MISSING && !f->line);
		FUZZ_CHECK(f->row == REC_NONE || j->finding[f->row] == i);
		FUZZ_CHECK((f->row != REC_NONE) == (f->verdict <= REC_WRONG
		                                    || f->verdict == REC_MISSING));
		FUZZ_CHECK((f->verdict == REC_WRONG) == (f->fields != 0));
		FUZZ_CHECK(f->row != REC_NONE || f->why);
		FUZZ_CHECK(f->hint + f->nhints <= j->nhints);
	}
	for (size_t r = 0; r < in->nrows; ++r)
		FUZZ_CHECK(j->finding[r] < j->count && j->findings[j->finding[r]].row == r);
	for (unsigned v = 0; v < REC_NVERDICTS; ++v)
		sum += j->of[v];
	FUZZ_CHECK(sum == j->count);
}

/** Check a text, and rebuild the file.
    @confirms  There is another source of hints.
    @return whether the text was right. */
static bool remake(struct rec_input *in, bool confirms, const char *text, size_t len,
                   struct strbuf *made)
{
	struct rec_result j;
	struct tablines *lines = in->format == REC_MTAB ? tablines_parse(text,
	        len) : tablines_cut(text, len);
	FUZZ_CHECK(lines);
	in->lines = lines;
	FUZZ_CHECK(rec_check(in, &j) == 0);
	check(in, &j);
	if (confirms)
		confirm(in, &j);
	bool right = rec_is_right(&j);
	strbuf_init(made);
	rec_build(in, &j, made);
	rec_result_destroy(&j);
	tablines_free(lines);
	return right;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	unsigned choices = fuzz_byte(&in);
	const char *text = in.at;
	size_t n = (size_t)(in.end - in.at), len = n;
	const char *gap = n ? memmem(text, n, "\n\n", 2) : NULL;
	if (gap)
		len = (size_t)(gap - text) + 1;
	struct mount_table *table = table_parse_mountinfo(text, len);
	FUZZ_CHECK(table);
	const char *file = gap ? gap + 2 : in.end;

	struct map64 keys = {0};
	struct rec_row *rows = calloc(table->count + 1, sizeof(*rows));
	FUZZ_CHECK(rows);
	for (size_t i = 0; i < table->count; ++i)
		map64_put(&keys, table->mounts[i].key, (uint32_t)i);
	size_t nrows = 0;
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if (!m->point || *m->point != '/')
			continue;
		rows[nrows] = (struct rec_row){m, m->point,
		                               nrows == i ? map64_get(&keys, m->parent_key)
		                               : REC_NONE};
		++nrows;
	}
	struct rec_input input = {
	        .format = choices % 3,
	        .rows = rows,
	        .nrows = nrows,
	        .first_time = 5,
	        .last_time = 5000000000,
	        .keep = choices / 3 % 3,
	};
	struct strbuf made, again, plain, none;
	bool confirms = choices & 64;
	remake(&input, confirms, file, (size_t)(in.end - file), &made);
	FUZZ_CHECK(remake(&input, confirms, strbuf_str(&made), made.len, &again));
	FUZZ_SAME(strbuf_str(&again), strbuf_str(&made));
	size_t ends = 0;
	for (size_t i = 0; i < made.len; ++i)
		ends += made.data[i] == '\n';
	FUZZ_CHECK(ends == nrows);
	if (input.format != REC_MNTTAB) {
		input.keep = REC_NO;
		remake(&input, confirms, file, (size_t)(in.end - file), &plain);
		remake(&input, confirms, "", 0, &none);
		FUZZ_SAME(strbuf_str(&plain), strbuf_str(&none));
		strbuf_destroy(&plain);
		strbuf_destroy(&none);
	}
	strbuf_destroy(&made);
	strbuf_destroy(&again);
	map64_destroy(&keys);
	free(rows);
	table_free(table);
	return 0;
}
