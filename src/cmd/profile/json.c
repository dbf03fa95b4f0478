/* SPDX-License-Identifier: MIT */
/*
 * A study as a JSON document with every measurement.
 */
#include "cmd/profile/profile.h"

#include "cmd/json.h"
#include "cmd/output.h"

static void put_times(struct json *json, const struct profile_times *times)
{
	json_put_real(json, "user", times->user, 9);
	json_put_real(json, "system", times->system, 9);
	json_put_real(json, "real", times->real, 9);
	json_put_real(json, "discovery", times->discovery, 9);
}

/** Write what was measured of a row. */
static void put_row(struct json *json, const struct profile_row *row)
{
	const struct profile_counts *c = &row->counts;
	json_put_string(json, "state", profile_state_name(row->state));
	if (row->state == PROFILE_STOPPED && !row->died)
		json_put_real(json, "limit", row->limit, 6);
	else
		json_put_null(json, "limit");
	json_put_object(json, "calls", JSON_INLINE);
	for (enum os_call call = 0; call < OS_NCALLS; ++call)
		json_put_number(json, os_call_name(call), c->calls[call]);
	json_end(json);
	json_put_object(json, "kinds", JSON_INLINE);
	for (enum profile_kind kind = 0; kind < PK_NKINDS; ++kind)
		json_put_number(json, profile_kind_name(kind), profile_calls(c, kind));
	json_end(json);
	json_put_number(json, "total_calls", profile_total(c));
	json_put_number(json, "dirs", c->dirs);
	json_put_number(json, "entries", c->entries);
	json_put_number(json, "mounts", c->mounts);
	json_put_number(json, "named", c->named);
	json_put_number(json, "errors", c->errors);
	json_put_bool(json, "varies", row->varies);
	json_put_bool(json, "died", row->died);
	put_times(json, &row->median);
	json_put_array(json, "times", JSON_LINES);
	for (size_t i = 0; i < row->ntimes; ++i) {
		const struct profile_times *times = &row->times[i];
		json_put_object(json, NULL, JSON_INLINE);
		json_put_number(json, "turn", times->turn);
		json_put_number(json, "loops", times->loops);
		put_times(json, times);
		json_end(json);
	}
	json_end(json);
}

static void put_ratio(struct json *json, const struct profile_row *above,
                      const struct profile_row *below, enum profile_figure figure)
{
	static const char *const bounds[] = {[PR_IS] = "is", [PR_OVER] = "over",
	[PR_UNDER] = "under"};
	struct profile_ratio ratio = profile_ratio(above, below, figure);
	if (ratio.how == PR_NONE) {
		json_put_null(json, profile_figure_name(figure));
		return;
	}
	json_put_object(json, profile_figure_name(figure), JSON_INLINE);
	json_put_real(json, "ratio", ratio.value, 4);
	json_put_string(json, "bound", bounds[ratio.how]);
	json_end(json);
}

static void put_ratios(struct json *json, const struct profile_study *study)
{
	static const size_t pairs[][2] = {{0, 1}, {1, 2}, {0, 2}};
	json_put_array(json, "ratios", JSON_LINES);
	for (size_t p = 0; p < sizeof(pairs) / sizeof(*pairs); ++p) {
		const struct profile_row *above = &study->rows[pairs[p][0]];
		const struct profile_row *below = &study->rows[pairs[p][1]];
		json_put_object(json, NULL, JSON_INLINE);
		json_put_string(json, "of", profile_algorithm(above->algorithm));
		json_put_string(json, "to", profile_algorithm(below->algorithm));
		for (enum profile_figure figure = 0; figure < PF_NFIGURES; ++figure)
			put_ratio(json, above, below, figure);
		json_end(json);
	}
	json_end(json);
}

/** Write the difference between a row and getmnt3 with all its rules. */
static void put_more(struct json *json, const struct profile_row *row,
                     const struct profile_row *whole)
{
	if (row->state == PROFILE_NOT_RUN || whole->state != PROFILE_DONE) {
		json_put_null(json, "more");
		return;
	}
	json_put_object(json, "more", JSON_INLINE);
	for (enum profile_figure figure = 0; figure < PF_NFIGURES; ++figure) {
		double more = profile_figure(row, figure) - profile_figure(whole, figure);
		bool count = figure == PF_CALLS || figure == PF_DIRS || figure == PF_ENTRIES;
		json_put_real(json, profile_figure_name(figure), more, count ? 0 : 9);
	}
	json_end(json);
}

static void put_order(struct json *json, const struct profile_study *study)
{
	size_t order[PROFILE_ROWS];
	json_put_array(json, "order", JSON_LINES);
	for (unsigned turn = 0; turn < study->turns; ++turn) {
		profile_order(study->opts->seed, turn, order, study->nrows);
		json_put_array(json, NULL, JSON_INLINE);
		for (size_t k = 0; k < study->nrows; ++k) {
			const struct profile_row *row = &study->rows[order[k]];
			char name[40];
			snprintf(name, sizeof(name), "%s%s", row->rule < 0 ? "" : "-",
			         row->rule < 0 ? profile_algorithm(row->algorithm)
			                       : discover_rules[row->rule].name);
			json_put_string(json, NULL, name);
		}
		json_end(json);
	}
	json_end(json);
}

/** Write what was measured, and how. */
static void put_place(struct json *json, const struct profile_study *study)
{
	const struct profile_opts *opts = study->opts;
	json_put_text(json, "root", opts->path);
	json_put_bool(json, "live", opts->live);
	json_put_string(json, "fstype", study->fstype);
	json_put_bool(json, "in_memory", study->in_memory);
	json_put_bool(json, "cold", opts->cold);
	json_put_number(json, "seed", opts->seed);
	json_put_number(json, "turns", study->turns);
	json_put_real(json, "max_time", opts->max_time, 6);
	json_put_real(json, "total_time", opts->total_time, 6);
	json_put_real(json, "seconds", study->seconds, 6);
}

int profile_json(const struct profile_study *study)
{
	struct strbuf out;
	struct json json;
	strbuf_init(&out);
	json_init(&json, &out);
	json_put_object(&json, NULL, JSON_LINES);
	json_put_array(&json, "algorithms", JSON_LINES);
	for (size_t i = 0; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		if (i == PROFILE_ALGORITHMS) {
			json_end(&json);
			json_put_array(&json, "rules", JSON_LINES);
		}
		json_put_object(&json, NULL, JSON_INLINE);
		if (row->rule < 0) {
			json_put_string(&json, "name", profile_algorithm(row->algorithm));
		} else {
			json_put_string(&json, "without", discover_rules[row->rule].name);
			json_put_string(&json, "what", discover_rules[row->rule].what);
		}
		put_row(&json, row);
		if (row->rule >= 0)
			put_more(&json, row, &study->rows[PROFILE_ALGORITHMS - 1]);
		json_end(&json);
	}
	json_end(&json);
	put_ratios(&json, study);
	profile_layers_json(&json, study);
	put_place(&json, study);
	put_order(&json, study);
	json_head(study->machine, &json);
	json_end(&json);
	return print_buffer(&out);
}
