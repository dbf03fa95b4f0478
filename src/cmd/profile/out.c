/* SPDX-License-Identifier: MIT */
/*
 * A study as tables: the cost of each algorithm, their ratios, what each rule saves, and with
 * --layers where the time goes.
 */
#include "cmd/column.h"
#include "cmd/profile/profile.h"

#include "cmd/text.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>

#define say(...) text_say(stdout, __VA_ARGS__)

/** A table that is filled cell by cell; initialized as {0}. */
struct sheet {
	struct libscols_table *table;
	struct libscols_line *line;
	size_t column;
	bool failed;
};

/** Add the columns of a list of names separated by '|'; a '>' before a name aligns the column to
    the right. */
static void sheet_columns(struct sheet *s, const char *names)
{
	char text[200], *rest = text, *name;
	snprintf(text, sizeof(text), "%s", names);
	if (!s->table)
		s->failed = !(s->table = scols_new_table());
	while (!s->failed && (name = strsep(&rest, "|"))) {
		bool right = *name == '>';
		s->failed = !scols_table_new_column(s->table, name + right, 0,
		                                    right ? SCOLS_FL_RIGHT : 0);
	}
}

/** Add a cell; after the last column a new row starts. */
__attribute__((format(printf, 2, 3)))
static void sheet_cell(struct sheet *s, const char *format, ...)
{
	char text[200];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!s->failed && s->column == 0)
		s->failed = !(s->line = scols_table_new_line(s->table, NULL));
	if (s->failed)
		return;
	s->failed = scols_line_set_data(s->line, s->column, text) != 0;
	s->column = (s->column + 1) % scols_table_get_ncols(s->table);
}

/** Print and free the table.  @return 0, or -1 (ENOMEM). */
static int sheet_end(struct sheet *s)
{
	if (!s->failed)
		s->failed = print_table(s->table) != 0;
	scols_unref_table(s->table);
	return s->failed ? -1 : 0;
}

/** Add a cell: a time given in seconds, printed in milliseconds with fewer decimals for longer
    times.
    @before  Text before the number. */
static void sheet_time(struct sheet *s, const char *before, double seconds)
{
	double ms = seconds * 1e3;
	sheet_cell(s, "%s%.*f", before, ms < 10 ? 3 : ms < 1000 ? 1 : 0, ms);
}

/** Get ">" for a row that was stopped, whose figures are lower bounds; else "". */
static const char *bound_of(const struct profile_row *row)
{
	return row->state == PROFILE_STOPPED ? ">" : "";
}

static void cell_figure(struct sheet *s, const struct profile_row *row, enum profile_figure figure)
{
	double value = profile_figure(row, figure);
	if (row->state == PROFILE_NOT_RUN)
		sheet_cell(s, "-");
	else if (figure >= PF_USER)
		sheet_time(s, bound_of(row), value);
	else
		sheet_cell(s, "%s%.0f", bound_of(row), value);
}

/** Add a cell: the difference between a figure of a row and of the algorithm getmnt3 with all its
    rules. */
static void cell_more(struct sheet *s, const struct profile_row *row,
                      const struct profile_row *all_rules, enum profile_figure figure)
{
	double more = profile_figure(row, figure) - profile_figure(all_rules, figure);
	if (row->state == PROFILE_NOT_RUN || all_rules->state != PROFILE_DONE)
		sheet_cell(s, "-");
	else if (figure >= PF_USER)
		sheet_cell(s, "%s%+.3f", bound_of(row), more * 1e3);
	else
		sheet_cell(s, "%s%+.0f", bound_of(row), more);
}

static void cell_ratio(struct sheet *s, struct profile_ratio ratio)
{
	static const char *const marks[] = {[PR_IS] = "", [PR_OVER] = ">", [PR_UNDER] = "<"};
	int digits = ratio.value < 9.95 ? 2 : ratio.value < 99.5 ? 1 : 0;
	if (ratio.how == PR_NONE)
		sheet_cell(s, "-");
	else
		sheet_cell(s, "%s%.*f", marks[ratio.how], digits, ratio.value);
}

/** Whether any of the rows `from` to `to` - 1 was stopped, was not run, or died. */
static bool has_states(const struct profile_study *study, size_t from, size_t to)
{
	for (size_t i = from; i < to; ++i) {
		if (study->rows[i].state != PROFILE_DONE || study->rows[i].died)
			return true;
	}
	return false;
}

static void cell_state(struct sheet *s, const struct profile_row *row)
{
	uint64_t dirs = row->counts.dirs;
	if (row->died && row->state == PROFILE_DONE)
		sheet_cell(s, "done; a later run's process died");
	else if (row->died && dirs == 0)
		sheet_cell(s, "its process died");   /* died before its first report */
	else if (row->died)
		sheet_cell(s, "its process died at %" PRIu64 " directories", dirs);
	else if (row->state == PROFILE_NOT_RUN)
		sheet_cell(s, "not run: no time left");
	else if (row->state == PROFILE_STOPPED)
		sheet_cell(s, row->limit < 1000 ? "stopped after %.3g s and %" PRIu64 " directories"
		           : "stopped after %.0f s and %" PRIu64 " directories", row->limit, dirs);
	else
		sheet_cell(s, "done");
}

static int print_costs(const struct profile_study *study)
{
	struct sheet s = {0};
	bool states = has_states(study, 0, PROFILE_ALGORITHMS);
	sheet_columns(&s, "ALGORITHM|>STATX|>OPENAT|>GETDENTS|>CLOSE|>OTHER|>CALLS|>DIRS|>ENTRIES|"
	                  ">USER|>SYSTEM|>REAL");
	if (states)
		sheet_columns(&s, "STATE");
	for (size_t i = 0; i < PROFILE_ALGORITHMS; ++i) {
		const struct profile_row *row = &study->rows[i];
		sheet_cell(&s, "%s", row->name);
		for (enum profile_figure figure = 0; figure < PF_NFIGURES; ++figure)
			cell_figure(&s, row, figure);
		if (states)
			cell_state(&s, row);
	}
	return sheet_end(&s);
}

static int print_ratios(const struct profile_study *study)
{
	struct sheet s = {0};
	say("\n");
	sheet_columns(&s, "RATIO|>CALLS|>DIRS|>ENTRIES|>USER|>SYSTEM|>REAL");
	for (size_t p = 0; p < PROFILE_PAIRS; ++p) {
		const struct profile_row *above = &study->rows[profile_pairs[p][0]];
		const struct profile_row *below = &study->rows[profile_pairs[p][1]];
		sheet_cell(&s, "%s / %s", above->name, below->name);
		for (enum profile_figure figure = PF_CALLS; figure < PF_NFIGURES; ++figure)
			cell_ratio(&s, profile_ratio(above, below, figure));
	}
	return sheet_end(&s);
}

static int print_rules(const struct profile_study *study)
{
	static const enum profile_figure figures[] = {PF_CALLS, PF_DIRS, PF_REAL};
	struct sheet s = {0};
	say("\nCost of getmnt3 without each of its rules (+: difference from getmnt3 with "
	    "it)\n\n");
	const struct profile_row *all_rules = &study->rows[PROFILE_ALGORITHMS - 1];
	bool states = has_states(study, PROFILE_ALGORITHMS, study->nrows);
	sheet_columns(&s, "WITHOUT|>CALLS|>+CALLS|>DIRS|>+DIRS|>REAL|>+REAL");
	sheet_columns(&s, states ? "STATE|RULE" : "RULE");
	for (size_t i = PROFILE_ALGORITHMS; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		sheet_cell(&s, "%s", row->name);
		for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); ++k) {
			cell_figure(&s, row, figures[k]);
			cell_more(&s, row, all_rules, figures[k]);
		}
		if (states)
			cell_state(&s, row);
		sheet_cell(&s, "%s", discover_rules[row->rule].what);
	}
	return sheet_end(&s);
}

/** Get the minimum and maximum number of turns of the rows.  The first turn of a row counts only if
    the row has no other turn. */
static void count_turns(const struct profile_study *study, size_t *least, size_t *most)
{
	*least = *most = 0;
	for (size_t i = 0; i < study->nrows; ++i) {
		size_t n = study->rows[i].ntimes > 1 ? study->rows[i].ntimes - 1
		                                     : study->rows[i].ntimes;
		if (n && (!*least || n < *least))
			*least = n;
		*most = n > *most ? n : *most;
	}
}

/** Print the heading: the measured directory, the algorithms, and the method. */
static int print_head(const struct profile_study *study)
{
	const struct profile_opts *opts = study->opts;
	size_t least, most;
	count_turns(study, &least, &most);
	say("Cost of finding ");
	if (*study->fstype)
		say("%" PRIu64 " mount%s", study->mounts, study->mounts == 1 ? "" : "s");
	else
		say("the mounts");
	say(" below %s%s%s%s by a search.\n", opts->path ? opts->path : "/",
	    *study->fstype ? " (" : "", study->fstype, *study->fstype ? ")" : "");
	say("getmnt1 reads every directory. getmnt2 reads none in file systems without mounts.\n"
	    "getmnt3 searches level by level, prunes by its rules, and ends when every mount is "
	    "found.\n"
	    "Kernel calls (OPENAT includes openat2; OTHER is mostly reading the mount table),\n"
	    "directories and entries are those of one run. Times are in milliseconds, the "
	    "median of\n");
	if (least != most)
		say("%zu to ", least);
	say("%zu turn%s%s. USER and SYSTEM are sampled: only their sum is exact.\n\n", most,
	    most == 1 ? "" : "s", opts->cold || most == 0 ? "" : " with warm caches");
	return 0;
}

/** Print which rows ran only once, in the first turn, when caches may have been cold. */
static void print_firsts(const struct profile_study *study)
{
	size_t n = 0;
	for (size_t i = 0; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		if (row->ntimes != 1 || row->state == PROFILE_NOT_RUN)
			continue;
		say("%s%s%s", n++ ? ", " : "\nMeasured once, without warm caches: ",
		    profile_without(row), row->name);
	}
	if (n)
		say(".\n");
}

/** Print which differences in real time are noise: all up to the interquartile range of the turns
    of the algorithm getmnt3, or up to the maximum difference between getmnt3 and a row with the
    same calls, if this is larger. */
static void print_noise(const struct profile_study *study)
{
	const struct profile_row *whole = &study->rows[PROFILE_ALGORITHMS - 1];
	double most = whole->spread;
	if (whole->state != PROFILE_DONE)
		return;
	for (size_t i = PROFILE_ALGORITHMS; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		double more = row->median.real - whole->median.real;
		more = more < 0 ? -more : more;
		if (row->state == PROFILE_DONE && more > most
		    && memcmp(row->counts.calls, whole->counts.calls, sizeof(row->counts.calls))
		               == 0)
			most = more;
	}
	say("+0: the rule has no effect here, or another rule has the same effect.\n");
	if (most > 0)
		say("+REAL: differences up to %.3f ms are noise.\n", most * 1e3);
}

/** Whether the real time of an algorithm is more than 1.5 times its processor time. */
static bool has_waited(const struct profile_study *study)
{
	for (size_t i = 0; i < PROFILE_ALGORITHMS; ++i) {
		const struct profile_times *t = &study->rows[i].median;
		if (t->real > 1e-3 && t->real > 1.5 * (t->user + t->system))
			return true;
	}
	return false;
}

/** Print notes about the reliability of the figures. */
static void print_notes(const struct profile_study *study)
{
	uint64_t errors = study->rows[0].counts.errors;
	if (study->opts->cold)
		say("\nThe kernel's caches were dropped before each run%s.\n",
		    study->in_memory ? ", but this file system is in memory and has none" : "");
	if (!study->opts->cold)
		print_firsts(study);
	if (has_waited(study) && !study->opts->cold)
		say("\nREAL is much more than the processor time: the runs waited for %s.\n",
		    study->in_memory ? "other work on this machine"
		                     : "the disk, or for other work on this machine");
	if (study->varies)
		say("\nRuns of one row made different calls: the tree or the mounts change. The "
		  "first is shown.\n");
	if (errors)
		say("\ngetmnt1 could not read %" PRIu64
		    " director%s; nothing below was measured.\n",
		    errors, errors == 1 ? "y" : "ies");
	if (*study->fstype && study->mounts <= 1)
		say("\nNothing is mounted below this directory; only getmnt1 searches it "
		  "anyway.\n");
	if (*study->reason)
		say("\nNot every mount was found: %s.\n", study->reason);
}

/* For --layers. */

/** Replace a value that would print as -0 by 0.  @least  Values between -least and 0 print as
    -0. */
static double no_minus(double value, double least)
{
	return value < 0 && value > -least ? 0 : value;
}

/** Print how the time of an algorithm divides into layers. */
static int print_layer(const struct profile_layer *of)
{
	struct sheet s = {0};
	const struct layers *layers = &of->layers;
	sheet_columns(&s, "LAYER|>MS|>SHARE|>COUNT|>NS EACH");
	for (size_t i = 0; i < layers->n; ++i) {
		const struct layer_row *row = &layers->rows[i];
		bool of_call = row->call != OS_NCALLS;
		/* Layers up to LAYER_TOGETHER count samples, which were taken in other runs: a time
		   for each sample would mean nothing. */
		bool counted = row->count && row->layer > LAYER_TOGETHER;
		sheet_cell(&s, "%s%s%s", layer_title(layers, row->layer), of_call ? ": " : "",
		           of_call ? os_call_name(row->call) : "");
		sheet_time(&s, "", no_minus((double)row->ns / 1e9 / of->runs, 0.5e-6));
		sheet_cell(&s, "%.1f%%", no_minus(layer_share(layers, row) * 100, 0.05));
		if (counted) {
			sheet_cell(&s, "%.*f", row->count % of->runs ? 1 : 0,
			           (double)row->count / of->runs);
			sheet_cell(&s, "%.0f", (double)row->ns / (double)row->count);
		} else {
			sheet_cell(&s, "-");
			sheet_cell(&s, "-");
		}
	}
	sheet_cell(&s, "total");
	sheet_time(&s, "", (double)layers->real / 1e9 / of->runs);
	sheet_cell(&s, "100.0%%");
	sheet_cell(&s, "-");
	sheet_cell(&s, "-");
	return sheet_end(&s);
}

/** Print how much the processor time of the runs with clocks differs from the processor time
    of a run without clocks, if by more than 10 %.  The cost of reading the clocks is subtracted.
    @without  Processor time in seconds of a run without clocks. */
static void print_apart(const struct profile_layer *of, double without)
{
	const struct layers *layers = &of->layers;
	double worked = (double)layers->real;
	for (size_t i = 0; i < layers->n; ++i) {
		if (layers->rows[i].layer >= LAYER_WAITING)
			worked -= (double)layers->rows[i].ns;
	}
	double more = without > 0 ? (worked / 1e9 / of->runs / without - 1) * 100 : 0;
	if (more > 10 || more < -10)
		say("\nWithout these clocks' own cost, the run took %.0f%% %s processor time "
		    "than an unmeasured one\n"
		    "(other work on the machine, caches); the rows may be off by as much.\n",
		    more < 0 ? -more : more, more < 0 ? "less" : "more");
}

static int print_layers(const struct profile_study *study)
{
	int rc = 0;
	say("\nWhere the time goes, by clocks around each call. Reading the clocks costs %.0f "
	    "ns a call,\n"
	    "entering and leaving the kernel %.0f ns (the crossing); the rest of a call is work "
	    "in the\n"
	    "kernel, or waiting. The first few calls, which probe the kernel's features, are in "
	    "no row.\n",
	    study->costs.inside + study->costs.outside, study->costs.empty);
	for (size_t i = 0; rc == 0 && i < PROFILE_ALGORITHMS; ++i) {
		const struct profile_row *row = &study->rows[i];
		const struct profile_layer *of = &study->layers[i];
		if (!of->made) {
			say("\n%s: %s.\n", row->name,
			    of->died    ? "the process with clocks died"
			    : row->died ? "not run with clocks: its process died"
			                : "not run with clocks: no time left (see --max-time "
			                  "and --total-time)");
			continue;
		}
		say("\n%s, mean of %u run%s (%.3f ms without clocks):\n\n", row->name,
		    of->runs, of->runs == 1 ? "" : "s", row->median.real * 1e3);
		rc = print_layer(of);
		print_apart(of, row->median.user + row->median.system);
		if (of->layers.samples < LAYERS_SAMPLES)
			say("\nToo few samples (%" PRIu64
			    ") to separate our code from the libraries.\n",
			    of->layers.samples);
		if (!of->same)
			say("\nThe calls differ from those without clocks: the tree or the mounts "
			  "change.\n");
	}
	return rc;
}

int profile_text(const struct profile_study *study)
{
	if (print_head(study) != 0 || print_costs(study) != 0 || print_ratios(study) != 0
	    || print_rules(study) != 0)
		return -1;
	print_noise(study);
	print_notes(study);
	return study->opts->layers ? print_layers(study) : 0;
}
