/* SPDX-License-Identifier: MIT */
/*
 * Where the time of an algorithm goes.
 *
 *     runs with clocks ---> time in each call, between calls, off the processor ----.
 *     runs with samples --> between calls: our code, the C library, others ---------+-> layers
 *     measured first: an empty call, a page fault, the clocks themselves -----------'
 *
 * Two processes, because a sampler's signals change the calls: getdents64 returns early.
 * Sums are over all runs of a process, and printed for one run.
 */
#include "cmd/profile/profile.h"

#include "base/strbuf.h"
#include "cmd/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* Nanoseconds between samples, no multiple of a tick; seconds of sampling. */
#define SAMPLE_EVERY 97000
#define SAMPLE_TIME 0.6

void profile_watch_start(struct profile_watch *w, struct os *os, enum profile_look look, int procfd)
{
	w->look = look;
	if (look == PROFILE_PLAIN)
		return;
	memcpy(w->before, os->calls, sizeof(w->before));
	os_clock_start(os, &w->clock, look == PROFILE_SAMPLED, procfd);
	w->sampler = look == PROFILE_SAMPLED && os_sampler_start(&w->clock, SAMPLE_EVERY) == 0;
}

void profile_watch_stop(struct profile_watch *w, struct os *os, struct profile_looked *sums)
{
	if (w->look == PROFILE_PLAIN)
		return;
	if (w->sampler)
		os_sampler_stop(&sums->samples);
	os_clock_stop(os);
	os_clock_add(&sums->clock, &w->clock);
	for (int i = 0; i < OS_NCALLS; ++i)
		os->calls[i] = w->before[i] + w->clock.calls[i];
}

int profile_layers_begin(struct profile_layers *l, struct os *os)
{
	l->procfd = os_openat(os, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY);
	if (os_costs_measure(os, &l->costs) == 0)
		return 0;
	message("--layers", "the cost of a page fault cannot be measured: %s", strerror(errno));
	return CX_ERROR;
}

void profile_layers_end(struct profile_layers *l, struct os *os)
{
	os_close(os, l->procfd);
	l->procfd = -1;
}

/** Run a row with clocks or with samples.  @return 0, or an exit status. */
static int run_looked(struct profile_study *study, struct os *os, const struct profile_row *row,
                      struct profile_how *how, enum profile_look look, struct profile_turn *turn)
{
	double begun = os_now();
	how->look = look;
	int status = study->opts->cold ? profile_drop_caches(os) : 0;
	if (!status)
		status = profile_run_row(os, row, how, turn);
	if (!status)
		study->died |= turn->died;
	how->limit -= os_now() - begun;
	return status;
}

int profile_layers_row(struct profile_study *study, struct os *os, size_t i,
                       const struct profile_how *base, unsigned loops)
{
	struct profile_layers *l = study->layers;
	struct profile_layer *of = &l->of[i];
	const struct profile_row *row = &study->rows[i];
	struct profile_how how = *base;
	struct profile_turn clocked, sampled = {0};
	/* Not started unless 1.5 times what the first turn took fits into the time left. */
	double one = row->ntimes ? row->times[0].real : 0;
	if (row->state != PROFILE_DONE || one * 1.5 > how.limit)
		return 0;
	how.procfd = l->procfd;
	how.loops = loops;
	int status = run_looked(study, os, row, &how, PROFILE_CLOCKED, &clocked);
	if (status || clocked.state != PROFILE_DONE) {
		of->died = !status && clocked.died;
		return status;
	}
	how.loops = study->opts->cold ? 1 : profile_loops(one, SAMPLE_TIME);
	if (one * 1.5 <= how.limit)
		status = run_looked(study, os, row, &how, PROFILE_SAMPLED, &sampled);
	if (status)
		return status;
	of->made = true;
	of->runs = clocked.times.loops;
	of->sampled = sampled.times.loops;
	of->same = !clocked.varies
	           && memcmp(clocked.counts.calls, row->counts.calls, sizeof(row->counts.calls))
	                      == 0;
	layers_make(&of->layers, &clocked.looked.clock, &l->costs, &sampled.looked.samples);
	return 0;
}

/* Tables. */

/** 0 for a value that would be printed as -0. */
static double no_minus(double value, double least)
{
	return value < 0 && value > -least ? 0 : value;
}

/** Print the table of one algorithm. */
static int print_layers(const struct profile_layer *of)
{
	struct sheet s;
	const struct layers *layers = &of->layers;
	static const char *const heads[] = {"MS", "SHARE", "COUNT", "NS EACH"};
	sheet_begin(&s);
	sheet_column(&s, "LAYER", false);
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); ++i)
		sheet_column(&s, heads[i], true);
	for (size_t i = 0; i < layers->n; ++i) {
		const struct layer_row *row = &layers->rows[i];
		bool of_kind = row->call != OS_NCALLS;
		/* Samples are of other runs and have no cost each. */
		bool counted = row->count && row->layer > LAYER_TOGETHER;
		sheet_row(&s);
		sheet_cell(&s, "%s%s%s", layer_title(layers, row->layer), of_kind ? ": " : "",
		           of_kind ? os_call_name(row->call) : "");
		sheet_time(&s, "", no_minus((double)row->ns / 1e9 / of->runs, 0.5e-6));
		sheet_cell(&s, "%.1f%%", no_minus(layer_share(layers, row) * 100, 0.05));
		if (counted)
			sheet_cell(&s, "%.*f", row->count % of->runs ? 1 : 0,
			           (double)row->count / of->runs);
		else
			sheet_cell(&s, "-");
		if (counted)
			sheet_cell(&s, "%.0f", (double)row->ns / (double)row->count);
		else
			sheet_cell(&s, "-");
	}
	sheet_row(&s);
	sheet_cell(&s, "total");
	sheet_time(&s, "", (double)layers->real / 1e9 / of->runs);
	sheet_cell(&s, "100.0%%");
	sheet_cell(&s, "-");
	sheet_cell(&s, "-");
	return sheet_end(&s);
}

/** Print by how much clocks changed the processor time, if by more than 10 %.
    @without  Seconds of processor time of a run without clocks. */
static void print_apart(const struct profile_layer *of, double without)
{
	const struct layers *layers = &of->layers;
	double worked = (double)layers->real;
	for (size_t i = 0; i < layers->n; ++i) {
		enum layer kind = layers->rows[i].layer;
		if (kind == LAYER_PROCESSOR || kind == LAYER_CLOCKS || kind == LAYER_WAITING
		    || kind == LAYER_REST)
			worked -= (double)layers->rows[i].ns;
	}
	double more = without > 0 ? (worked / 1e9 / of->runs / without - 1) * 100 : 0;
	if (more > 10 || more < -10)
		printf("\nWithout these clocks' own cost, the run took %.0f%% %s processor time "
		       "than an unmeasured one\n"
		       "(other work on the machine, caches); the rows may be off by as much.\n",
		       more < 0 ? -more : more, more < 0 ? "less" : "more");
}

int profile_layers_text(const struct profile_study *study)
{
	const struct profile_layers *l = study->layers;
	int rc = 0;
	printf("\nWhere the time goes, by clocks around each call. Reading the clocks costs %.0f "
	       "ns a call,\n"
	       "entering and leaving the kernel %.0f ns (the crossing); the rest of a call is work "
	       "in the\n"
	       "kernel, or waiting. The first few calls, which probe the kernel's features, are in "
	       "no row.\n",
	       l->costs.inside + l->costs.outside, l->costs.empty);
	for (size_t i = 0; rc == 0 && i < PROFILE_ALGORITHMS; ++i) {
		const struct profile_row *row = &study->rows[i];
		const struct profile_layer *of = &l->of[i];
		if (!of->made) {
			printf("\n%s: %s.\n", profile_algorithm(row->algorithm),
			       of->died    ? "its process with clocks died"
			       : row->died ? "not run with clocks: its process died"
			                   : "not run with clocks: no time left (see --max-time "
			                     "and --total-time)");
			continue;
		}
		printf("\n%s, mean of %u run%s (%.3f ms without clocks):\n\n",
		       profile_algorithm(row->algorithm), of->runs, of->runs == 1 ? "" : "s",
		       row->median.real * 1e3);
		rc = print_layers(of);
		print_apart(of, row->median.user + row->median.system);
		if (of->layers.samples < LAYERS_SAMPLES)
			printf("\nToo few samples (%" PRIu64
			       ") to tell our code from the libraries.\n",
			       of->layers.samples);
		if (!of->same)
			puts("\nThe calls differ from those without clocks: the tree or the mounts "
			     "change.");
	}
	return rc;
}

/* JSON. */

/** Write where the time of one algorithm went. */
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
		json_put_object(json, NULL, JSON_INLINE);
		json_put_string(json, "layer", layer_key(row->layer));
		json_put_string(json, "call", row->call != OS_NCALLS ? os_call_name(row->call)
		                : NULL);
		json_put_real(json, "seconds", (double)row->ns / 1e9 / of->runs, 9);
		json_put_real(json, "share", layer_share(layers, row), 6);
		json_put_real(json, "count", (double)row->count / of->runs, 2);
		json_end(json);
	}
	json_end(json);
}

void profile_layers_json(struct json *json, const struct profile_study *study)
{
	const struct profile_layers *l = study->layers;
	if (!l)
		return;
	json_put_object(json, "costs", JSON_INLINE);
	json_put_real(json, "clock_inside", l->costs.inside, 2);
	json_put_real(json, "clock_outside", l->costs.outside, 2);
	json_put_real(json, "empty_call", l->costs.empty, 2);
	json_put_real(json, "page_fault", l->costs.fault, 2);
	json_end(json);
	json_put_array(json, "layers", JSON_LINES);
	for (size_t i = 0; i < PROFILE_ALGORITHMS; ++i) {
		json_put_object(json, NULL, JSON_INLINE);
		json_put_string(json, "name", profile_algorithm(study->rows[i].algorithm));
		json_put_bool(json, "made", l->of[i].made);
		if (l->of[i].made)
			put_layer(json, &l->of[i]);
		json_end(json);
	}
	json_end(json);
}
