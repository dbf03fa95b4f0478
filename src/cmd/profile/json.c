/* SPDX-License-Identifier: MIT */
/*
 * A study as a document: all that was measured.
 */
#include "cmd/profile/profile.h"

#include "base/escape.h"
#include "cmd/columns.h"
#include "cmd/output.h"

#include <inttypes.h>
#include <string.h>

static void put_bool(struct strbuf *out, const char *key, bool value)
{
	strbuf_printf(out, "\"%s\": %s", key, value ? "true" : "false");
}

/** Append the four times, in seconds. */
static void put_times(struct strbuf *out, const struct profile_times *times)
{
	strbuf_printf(out, "\"user\": %.9f, \"system\": %.9f, \"real\": %.9f, \"discovery\": %.9f",
	              times->user, times->system, times->real, times->discovery);
}

/** Append what was measured of a row. */
static void put_row(struct strbuf *out, const struct profile_row *row)
{
	const struct profile_counts *c = &row->counts;
	strbuf_printf(out, "\"state\": \"%s\", ", profile_state_name(row->state));
	if (row->state == PROFILE_STOPPED && !row->died)
		strbuf_printf(out, "\"limit\": %.6f,", row->limit);
	else
		strbuf_puts(out, "\"limit\": null,");
	strbuf_puts(out, "\n       \"calls\": {");
	for (enum os_call call = 0; call < OS_NCALLS; ++call)
		strbuf_printf(out, "%s\"%s\": %" PRIu64, call ? ", " : "", os_call_name(call),
		              c->calls[call]);
	strbuf_puts(out, "},\n       \"kinds\": {");
	for (enum profile_kind kind = 0; kind < PK_NKINDS; ++kind)
		strbuf_printf(out, "%s\"%s\": %" PRIu64, kind ? ", " : "", profile_kind_name(kind),
		              profile_calls(c, kind));
	strbuf_printf(out,
	              "}, \"total_calls\": %" PRIu64 ",\n       \"dirs\": %" PRIu64
	              ", \"entries\": %" PRIu64 ", \"mounts\": %" PRIu64 ", \"named\": %" PRIu64
	              ", \"errors\": %" PRIu64 ", ",
	              profile_total(c), c->dirs, c->entries, c->mounts, c->named, c->errors);
	put_bool(out, "varies", row->varies);
	strbuf_puts(out, ", ");
	put_bool(out, "died", row->died);
	strbuf_puts(out, ",\n       ");
	put_times(out, &row->median);
	strbuf_puts(out, ",\n       \"times\": [");
	for (size_t i = 0; i < row->ntimes; ++i) {
		const struct profile_times *times = &row->times[i];
		strbuf_printf(out, "%s\n          {\"turn\": %u, \"loops\": %u, ", i ? "," : "",
		              times->turn, times->loops);
		put_times(out, times);
		strbuf_putc(out, '}');
	}
	strbuf_puts(out, "]");
}

static void put_ratio(struct strbuf *out, const struct profile_row *above,
                      const struct profile_row *below, enum profile_figure figure)
{
	static const char *const bounds[] = {
		[PR_IS] = "is", [PR_OVER] = "over", [PR_UNDER] = "under"};
	struct profile_ratio ratio = profile_ratio(above, below, figure);
	if (ratio.how == PR_NONE)
		strbuf_printf(out, ", \"%s\": null", profile_figure_name(figure));
	else
		strbuf_printf(out, ", \"%s\": {\"ratio\": %.4f, \"bound\": \"%s\"}",
		              profile_figure_name(figure), ratio.value, bounds[ratio.how]);
}

static void put_ratios(struct strbuf *out, const struct profile_study *study)
{
	static const size_t pairs[][2] = {{0, 1}, {1, 2}, {0, 2}};
	strbuf_puts(out, ",\n   \"ratios\": [");
	for (size_t p = 0; p < sizeof(pairs) / sizeof(*pairs); ++p) {
		const struct profile_row *above = &study->rows[pairs[p][0]],
					 *below = &study->rows[pairs[p][1]];
		strbuf_printf(out, "%s\n      {\"of\": \"%s\", \"to\": \"%s\"", p ? "," : "",
		              profile_algorithm(above->algorithm),
		              profile_algorithm(below->algorithm));
		for (enum profile_figure figure = 0; figure < PF_NFIGURES; ++figure)
			put_ratio(out, above, below, figure);
		strbuf_putc(out, '}');
	}
	strbuf_puts(out, "\n   ]");
}

/** Append how much more a row is than getmnt3 with all its rules. */
static void put_more(struct strbuf *out, const struct profile_row *row,
                     const struct profile_row *whole)
{
	bool known = row->state != PROFILE_NOT_RUN && whole->state == PROFILE_DONE;
	strbuf_puts(out, ",\n       \"more\": ");
	if (!known)
		strbuf_puts(out, "null");
	for (enum profile_figure figure = 0; known && figure < PF_NFIGURES; ++figure) {
		double more = profile_figure(row, figure) - profile_figure(whole, figure);
		bool count = figure == PF_CALLS || figure == PF_DIRS || figure == PF_ENTRIES;
		strbuf_printf(out, "%s\"%s\": %.*f", figure ? ", " : "{",
		              profile_figure_name(figure), count ? 0 : 9, more);
	}
	strbuf_puts(out, known ? "}" : "");
}

static void put_order(struct strbuf *out, const struct profile_study *study)
{
	size_t order[PROFILE_ROWS];
	strbuf_puts(out, ",\n   \"order\": [");
	for (unsigned turn = 0; turn < study->turns; ++turn) {
		profile_order(study->opts->seed, turn, order, study->nrows);
		strbuf_printf(out, "%s\n      [", turn ? "," : "");
		for (size_t k = 0; k < study->nrows; ++k) {
			const struct profile_row *row = &study->rows[order[k]];
			strbuf_printf(out, "%s\"%s%s\"", k ? ", " : "", row->rule < 0 ? "" : "-",
			              row->rule < 0 ? profile_algorithm(row->algorithm)
			                            : discover_rules[row->rule].name);
		}
		strbuf_putc(out, ']');
	}
	strbuf_puts(out, "\n   ]");
}

/** Append what it was measured on. */
static void put_place(struct strbuf *out, const struct profile_study *study)
{
	const struct profile_opts *opts = study->opts;
	strbuf_puts(out, ",\n   ");
	if (opts->path)
		json_text(out, "root", opts->path);
	else
		strbuf_puts(out, "\"root\": null");
	strbuf_puts(out, ",\n   ");
	put_bool(out, "live", opts->live);
	strbuf_puts(out, ",\n   \"fstype\": ");
	escape_json(out, study->fstype);
	strbuf_puts(out, ",\n   ");
	put_bool(out, "in_memory", study->in_memory);
	strbuf_puts(out, ",\n   ");
	put_bool(out, "cold", opts->cold);
	strbuf_printf(out,
	              ",\n   \"seed\": %" PRIu64
	              ",\n   \"turns\": %u,\n   \"max_time\": %.6f,\n   \"total_time\": %.6f"
	              ",\n   \"seconds\": %.6f",
	              opts->seed, study->turns, opts->max_time, opts->total_time,
	              study->seconds);
}

int profile_json(const struct profile_study *study)
{
	struct strbuf out;
	strbuf_init(&out);
	strbuf_puts(&out, "{\n   \"algorithms\": [");
	for (size_t i = 0; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		if (i == PROFILE_ALGORITHMS)
			strbuf_puts(&out, "\n   ],\n   \"rules\": [");
		strbuf_puts(&out, i == 0 || i == PROFILE_ALGORITHMS ? "\n      {" : ",\n      {");
		if (row->rule < 0) {
			strbuf_printf(&out, "\"name\": \"%s\", ",
			              profile_algorithm(row->algorithm));
		} else {
			strbuf_printf(&out, "\"without\": \"%s\", \"what\": ",
			              discover_rules[row->rule].name);
			escape_json(&out, discover_rules[row->rule].what);
			strbuf_puts(&out, ", ");
		}
		put_row(&out, row);
		if (row->rule >= 0)
			put_more(&out, row, &study->rows[PROFILE_ALGORITHMS - 1]);
		strbuf_putc(&out, '}');
	}
	strbuf_puts(&out, "\n   ]");
	put_ratios(&out, study);
	profile_layers_json(&out, study);
	put_place(&out, study);
	put_order(&out, study);
	strbuf_puts(&out, ",\n   ");
	json_head(study->machine, &out);
	strbuf_puts(&out, "\n}\n");
	bool failed = out.failed;
	if (!failed)
		fwrite(strbuf_str(&out), 1, out.len, stdout);
	strbuf_destroy(&out);
	return failed ? -1 : 0;
}
