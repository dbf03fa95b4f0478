/* SPDX-License-Identifier: MIT */
/*
 * A study as a JSON document with every measurement.
 */
#include "cmd/json.h"
#include "cmd/profile/profile.h"
#include "cmd/stats.h"

static void put_figures(struct json *json, const struct profile_row *row, enum profile_figure from,
                        enum profile_figure to)
{
	for (enum profile_figure figure = from; figure <= to; ++figure)
		json_put_real(json, profile_figures[figure], profile_figure(row, figure), 0);
}

static void put_times(struct json *json, const struct profile_times *times)
{
	json_put_real(json, "user", times->user, 9);
	json_put_real(json, "system", times->system, 9);
	json_put_real(json, "real", times->real, 9);
	json_put_real(json, "discovery", times->discovery, 9);
}

/** Write the measurements of a row. */
static void put_row(struct json *json, const struct profile_row *row)
{
	static const char *const states[] = {
		[PROFILE_DONE] = "done", [PROFILE_STOPPED] = "stopped",
		[PROFILE_NOT_RUN] = "not run",
	};
	const struct profile_counts *c = &row->counts;
	json_put_string(json, "state", states[row->state]);
	if (row->state == PROFILE_STOPPED && !row->died)
		json_put_real(json, "limit", row->limit, 6);
	else
		json_put_string(json, "limit", NULL);
	json_put_object(json, "calls", JSON_INLINE);
	for (enum os_call call = 0; call < OS_NCALLS; ++call)
		json_put_number(json, os_call_name(call), c->calls[call]);
	json_end(json);
	json_put_object(json, "kinds", JSON_INLINE);
	put_figures(json, row, PF_STATX, PF_OTHER);
	json_end(json);
	json_put_real(json, "total_calls", profile_figure(row, PF_CALLS), 0);
	put_figures(json, row, PF_DIRS, PF_ENTRIES);
	json_put_number(json, "mounts", c->mounts);
	json_put_number(json, "named", c->named);
	json_put_number(json, "errors", c->errors);
	json_put_bool(json, "varies", row->varies);
	json_put_bool(json, "died", row->died);
	put_times(json, &row->median);
	json_put_array(json, "times", JSON_LINES);
	for (size_t i = 0; i < row->ntimes; ++i) {
		json_put_object(json, NULL, JSON_INLINE);
		json_put_number(json, "turn", row->times[i].turn);
		json_put_number(json, "loops", row->times[i].loops);
		put_times(json, &row->times[i]);
		json_end(json);
	}
	json_end(json);
}

static void put_ratios(struct json *json, const struct profile_row *rows)
{
	static const char *const bounds[] = {
		[PR_IS] = "is", [PR_OVER] = "over", [PR_UNDER] = "under",
	};
	json_put_array(json, "ratios", JSON_LINES);
	for (size_t p = 0; p < PROFILE_PAIRS; ++p) {
		const struct profile_row *above = &rows[profile_pairs[p][0]];
		const struct profile_row *below = &rows[profile_pairs[p][1]];
		json_put_object(json, NULL, JSON_INLINE);
		json_put_string(json, "of", above->name);
		json_put_string(json, "to", below->name);
		for (enum profile_figure figure = PF_CALLS; figure < PF_NFIGURES; ++figure) {
			struct profile_ratio ratio = profile_ratio(above, below, figure);
			if (ratio.how == PR_NONE) {
				json_put_string(json, profile_figures[figure], NULL);
				continue;
			}
			json_put_object(json, profile_figures[figure], JSON_INLINE);
			json_put_real(json, "ratio", ratio.value, 4);
			json_put_string(json, "bound", bounds[ratio.how]);
			json_end(json);
		}
		json_end(json);
	}
	json_end(json);
}

/** Write the difference between a row and the algorithm getmnt3 with all its rules. */
static void put_more(struct json *json, const struct profile_row *row,
                     const struct profile_row *all_rules)
{
	if (row->state == PROFILE_NOT_RUN || all_rules->state != PROFILE_DONE) {
		json_put_string(json, "more", NULL);
		return;
	}
	json_put_object(json, "more", JSON_INLINE);
	for (enum profile_figure figure = PF_CALLS; figure < PF_NFIGURES; ++figure) {
		double more = profile_figure(row, figure) - profile_figure(all_rules, figure);
		json_put_real(json, profile_figures[figure], more, figure < PF_USER ? 0 : 9);
	}
	json_end(json);
}

/** Write how the time of an algorithm divides into layers. */
static void put_layer(struct json *json, const struct profile_layer *of)
{
	const struct layers *layers = &of->layers;
	json_put_bool(json, "same_calls", of->same);
	json_put_number(json, "runs", of->runs);
	json_put_number(json, "sampled_runs", of->sampled);
	json_put_number(json, "samples", layers->samples);
	json_put_real(json, "real", (double)layers->real / 1e9 / of->runs, 9);
	json_put_number(json, "total_calls", layers->calls / of->runs);
	json_put_array(json, "rows", JSON_LINES);
	for (size_t k = 0; k < layers->n; ++k) {
		const struct layer_row *row = &layers->rows[k];
		bool work = row->call != OS_NCALLS;
		json_put_object(json, NULL, JSON_INLINE);
		json_put_string(json, "layer", layer_key(row->layer));
		json_put_string(json, "call", work ? os_call_name(row->call) : NULL);
		json_put_real(json, "seconds", (double)row->ns / 1e9 / of->runs, 9);
		json_put_real(json, "share", layer_share(layers, row), 6);
		json_put_real(json, "count", (double)row->count / of->runs, 2);
		json_end(json);
	}
	json_end(json);
}

static void put_layers(struct json *json, const struct profile_study *study)
{
	json_put_object(json, "costs", JSON_INLINE);
	json_put_real(json, "clock_inside", study->costs.inside, 2);
	json_put_real(json, "clock_outside", study->costs.outside, 2);
	json_put_real(json, "empty_call", study->costs.empty, 2);
	json_put_real(json, "page_fault", study->costs.fault, 2);
	json_end(json);
	json_put_array(json, "layers", JSON_LINES);
	for (size_t i = 0; i < PROFILE_ALGORITHMS; ++i) {
		json_put_object(json, NULL, JSON_INLINE);
		json_put_string(json, "name", study->rows[i].name);
		json_put_bool(json, "made", study->layers[i].made);
		if (study->layers[i].made)
			put_layer(json, &study->layers[i]);
		json_end(json);
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
			snprintf(name, sizeof(name), "%s%s", row->rule < 0 ? "" : "-", row->name);
			json_put_string(json, NULL, name);
		}
		json_end(json);
	}
	json_end(json);
}

/** Write the measured directory, and the conditions: file system, caches, limits. */
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
	struct strbuf out = {0};
	struct json json = {.out = &out};
	json_put_object(&json, NULL, JSON_LINES);
	json_put_array(&json, "algorithms", JSON_LINES);
	for (size_t i = 0; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		if (i == PROFILE_ALGORITHMS) {
			json_end(&json);
			json_put_array(&json, "rules", JSON_LINES);
		}
		json_put_object(&json, NULL, JSON_INLINE);
		json_put_string(&json, row->rule < 0 ? "name" : "without", row->name);
		if (row->rule >= 0)
			json_put_string(&json, "what", discover_rules[row->rule].what);
		put_row(&json, row);
		if (row->rule >= 0)
			put_more(&json, row, &study->rows[PROFILE_ALGORITHMS - 1]);
		json_end(&json);
	}
	json_end(&json);
	put_ratios(&json, study->rows);
	if (study->opts->layers)
		put_layers(&json, study);
	put_place(&json, study);
	put_order(&json, study);
	json_head(study->machine, &json);
	json_end(&json);
	return json_print(&json);
}
