/* SPDX-License-Identifier: MIT */
/*
 * A study as tables: the cost of each algorithm, their ratios, and what each rule saves.
 */
#include "cmd/profile/profile.h"

#include "base/escape.h"
#include "cmd/output.h"

#include <errno.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void sheet_begin(struct sheet *s)
{
	*s = (struct sheet){.table = scols_new_table()};
	s->failed = !s->table;
}

void sheet_column(struct sheet *s, const char *name, bool number)
{
	if (!s->failed)
		s->failed = !scols_table_new_column(s->table, name, 0, number ? SCOLS_FL_RIGHT : 0);
}

void sheet_row(struct sheet *s)
{
	s->column = 0;
	if (!s->failed) {
		s->line = scols_table_new_line(s->table, NULL);
		s->failed = !s->line;
	}
}

void sheet_cell(struct sheet *s, const char *format, ...)
{
	char text[200];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!s->failed)
		s->failed = scols_line_set_data(s->line, s->column++, text) != 0;
}

int sheet_end(struct sheet *s)
{
	if (!s->failed)
		s->failed = print_table(s->table) != 0;
	scols_unref_table(s->table);
	return s->failed ? -1 : 0;
}

/** The mark of a lower bound, in the row of a stopped run. */
static const char *bound_of(const struct profile_row *row)
{
	return row->state == PROFILE_STOPPED ? ">" : "";
}

static void cell_count(struct sheet *s, const struct profile_row *row, uint64_t count)
{
	if (row->state == PROFILE_NOT_RUN)
		sheet_cell(s, "-");
	else
		sheet_cell(s, "%s%" PRIu64, bound_of(row), count);
}

void sheet_time(struct sheet *s, const char *before, double seconds)
{
	double ms = seconds * 1e3;
	sheet_cell(s, "%s%.*f", before, ms < 10 ? 3 : ms < 1000 ? 1 : 0, ms);
}

static void cell_time(struct sheet *s, const struct profile_row *row, double seconds)
{
	if (row->state == PROFILE_NOT_RUN)
		sheet_cell(s, "-");
	else
		sheet_time(s, bound_of(row), seconds);
}

static void cell_ratio(struct sheet *s, struct profile_ratio ratio)
{
	if (ratio.how == PR_NONE)
		sheet_cell(s, "-");
	else
		sheet_cell(s, "%s%.*f",
		           ratio.how == PR_OVER    ? ">"
		           : ratio.how == PR_UNDER ? "<"
		                                   : "",
		           ratio.value < 9.95   ? 2
		           : ratio.value < 99.5 ? 1
		                                : 0,
		           ratio.value);
}

/** Whether a row of these was not finished. */
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
	if (row->died && row->state == PROFILE_DONE) {
		sheet_cell(s, "done; a later run's process died");
		return;
	}
	if (row->died && row->counts.dirs == 0) {
		sheet_cell(s, "its process died");   /* before its first report */
		return;
	}
	if (row->died) {
		sheet_cell(s, "its process died at %" PRIu64 " directories", row->counts.dirs);
		return;
	}
	if (row->state == PROFILE_NOT_RUN)
		sheet_cell(s, "not run: no time left");
	else if (row->state == PROFILE_STOPPED)
		sheet_cell(s,
		           row->limit < 1000 ? "stopped after %.3g s and %" PRIu64 " directories"
		                             : "stopped after %.0f s and %" PRIu64 " directories",
		           row->limit, row->counts.dirs);
}

static int print_costs(const struct profile_study *study)
{
	struct sheet s;
	bool states = has_states(study, 0, PROFILE_ALGORITHMS);
	sheet_begin(&s);
	sheet_column(&s, "ALGORITHM", false);
	for (enum profile_kind kind = 0; kind < PK_NKINDS; ++kind) {
		static const char *const heads[] = {
			[PK_STATX] = "STATX", [PK_OPENAT] = "OPENAT", [PK_GETDENTS] = "GETDENTS",
			[PK_CLOSE] = "CLOSE", [PK_OTHER] = "OTHER",
		};
		sheet_column(&s, heads[kind], true);
	}
	static const char *const more[] = {"CALLS", "DIRS", "ENTRIES", "USER", "SYSTEM", "REAL"};
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); ++i)
		sheet_column(&s, more[i], true);
	if (states)
		sheet_column(&s, "STATE", false);
	for (size_t i = 0; i < PROFILE_ALGORITHMS; ++i) {
		const struct profile_row *row = &study->rows[i];
		sheet_row(&s);
		sheet_cell(&s, "%s", profile_algorithm(row->algorithm));
		for (enum profile_kind kind = 0; kind < PK_NKINDS; ++kind)
			cell_count(&s, row, profile_calls(&row->counts, kind));
		cell_count(&s, row, profile_total(&row->counts));
		cell_count(&s, row, row->counts.dirs);
		cell_count(&s, row, row->counts.entries);
		cell_time(&s, row, row->median.user);
		cell_time(&s, row, row->median.system);
		cell_time(&s, row, row->median.real);
		if (states)
			cell_state(&s, row);
	}
	return sheet_end(&s);
}

static int print_ratios(const struct profile_study *study)
{
	static const enum profile_figure figures[] = {PF_CALLS, PF_DIRS,   PF_ENTRIES,
	                                              PF_USER,  PF_SYSTEM, PF_REAL};
	static const size_t pairs[][2] = {{0, 1}, {1, 2}, {0, 2}};
	struct sheet s;
	sheet_begin(&s);
	sheet_column(&s, "RATIO", false);
	static const char *const heads[] = {"CALLS", "DIRS", "ENTRIES", "USER", "SYSTEM", "REAL"};
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); ++i)
		sheet_column(&s, heads[i], true);
	for (size_t p = 0; p < sizeof(pairs) / sizeof(*pairs); ++p) {
		const struct profile_row *above = &study->rows[pairs[p][0]],
					 *below = &study->rows[pairs[p][1]];
		sheet_row(&s);
		sheet_cell(&s, "%s / %s", profile_algorithm(above->algorithm),
		           profile_algorithm(below->algorithm));
		for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); ++i)
			cell_ratio(&s, profile_ratio(above, below, figures[i]));
	}
	return sheet_end(&s);
}

/** The difference from getmnt3 with all its rules. */
static void cell_more(struct sheet *s, const struct profile_row *row,
                      const struct profile_row *whole, enum profile_figure figure)
{
	double more = profile_figure(row, figure) - profile_figure(whole, figure);
	if (row->state == PROFILE_NOT_RUN || whole->state != PROFILE_DONE)
		sheet_cell(s, "-");
	else if (figure == PF_REAL)
		sheet_cell(s, "%s%+.3f", bound_of(row), more * 1e3);
	else
		sheet_cell(s, "%s%+.0f", bound_of(row), more);
}

static int print_rules(const struct profile_study *study)
{
	struct sheet s;
	const struct profile_row *whole = &study->rows[PROFILE_ALGORITHMS - 1];
	bool states = has_states(study, PROFILE_ALGORITHMS, study->nrows);
	sheet_begin(&s);
	sheet_column(&s, "WITHOUT", false);
	static const char *const heads[] = {"CALLS", "+CALLS", "DIRS", "+DIRS", "REAL", "+REAL"};
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); ++i)
		sheet_column(&s, heads[i], true);
	if (states)
		sheet_column(&s, "STATE", false);
	sheet_column(&s, "RULE", false);
	for (size_t i = PROFILE_ALGORITHMS; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		sheet_row(&s);
		sheet_cell(&s, "%s", discover_rules[row->rule].name);
		cell_count(&s, row, profile_total(&row->counts));
		cell_more(&s, row, whole, PF_CALLS);
		cell_count(&s, row, row->counts.dirs);
		cell_more(&s, row, whole, PF_DIRS);
		cell_time(&s, row, row->median.real);
		cell_more(&s, row, whole, PF_REAL);
		if (states) {
			if (row->state == PROFILE_DONE && !row->died)
				sheet_cell(&s, "done");
			else
				cell_state(&s, row);
		}
		sheet_cell(&s, "%s", discover_rules[row->rule].what);
	}
	return sheet_end(&s);
}

/** The least and the most turns of any row. */
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

/** Print what was measured, and how. */
static int print_head(const struct profile_study *study)
{
	const struct profile_opts *opts = study->opts;
	struct strbuf name;
	size_t least, most;
	strbuf_init(&name);
	count_turns(study, &least, &most);
	fputs("Cost of finding ", stdout);
	if (study->known)
		printf("%" PRIu64 " mount%s", study->mounts, study->mounts == 1 ? "" : "s");
	else
		fputs("the mounts", stdout);
	escape_terminal(&name, opts->path ? opts->path : "/");
	printf(" below %s%s%s%s by a search.\n", strbuf_str(&name), study->known ? " (" : "",
	       study->fstype, study->known ? ")" : "");
	printf("getmnt1 reads every directory. getmnt2 reads none in file systems without mounts.\n"
	       "getmnt3 searches level by level, prunes by its rules, and ends when every mount is "
	       "found.\n"
	       "Kernel calls (OPENAT includes openat2; OTHER is mostly reading the mount table),\n"
	       "directories and entries are those of one run. Times are in milliseconds, the "
	       "median of\n");
	if (least != most)
		printf("%zu to ", least);
	printf("%zu turn%s%s. USER and SYSTEM are sampled: only their sum is exact.\n\n", most,
	       most == 1 ? "" : "s", opts->cold || most == 0 ? "" : " with warm caches");
	strbuf_destroy(&name);
	return name.failed ? -1 : 0;
}

/** Name the rows of which only the first run exists, with whatever caches it found. */
static void print_firsts(const struct profile_study *study)
{
	size_t n = 0;
	for (size_t i = 0; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		if (row->ntimes != 1 || row->state == PROFILE_NOT_RUN)
			continue;
		printf("%s%s%s", n++ ? ", " : "\nMeasured once, without warm caches: ",
		       row->rule < 0 ? "" : "without ",
		       row->rule < 0 ? profile_algorithm(row->algorithm)
		                     : discover_rules[row->rule].name);
	}
	if (n)
		puts(".");
}

/** Print the difference of real time that is scatter: the greatest between rows that made the
    same calls, or the middle half of getmnt3's turns. */
static void print_scatter(const struct profile_study *study)
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
	puts("+0: the rule has nothing to do here, or another rule has the same effect.");
	if (most > 0)
		printf("+REAL: differences up to %.3f ms are scatter.\n", most * 1e3);
}

/** Whether an algorithm waited much longer than it worked. */
static bool has_waited(const struct profile_study *study)
{
	for (size_t i = 0; i < PROFILE_ALGORITHMS; ++i) {
		const struct profile_times *t = &study->rows[i].median;
		if (t->real > 1e-3 && t->real > 1.5 * (t->user + t->system))
			return true;
	}
	return false;
}

/** Print what qualifies the figures. */
static void print_notes(const struct profile_study *study)
{
	uint64_t errors = study->rows[0].counts.errors;
	if (study->opts->cold)
		printf("\nThe kernel's caches were dropped before each run%s.\n",
		       study->in_memory ? ", but this file system is in memory and has none" : "");
	if (!study->opts->cold)
		print_firsts(study);
	if (has_waited(study) && !study->opts->cold)
		printf("\nREAL is much more than the processor time: the runs waited for %s.\n",
		       study->in_memory ? "other work on this machine"
		                        : "the disk, or for other work on this machine");
	if (study->varies)
		puts("\nRuns of one row made different calls: the tree or the mounts change. The "
		     "first is shown.");
	if (errors)
		printf("\ngetmnt1 could not read %" PRIu64
		       " director%s; nothing below was measured.\n",
		       errors, errors == 1 ? "y" : "ies");
	if (study->known && study->mounts <= 1)
		puts("\nNothing is mounted below it, so there is nothing to find; only getmnt1 "
		     "searches all the same.");
	if (!study->complete)
		printf("\nNot every mount was found: %s.\n", study->reason);
}

int profile_text(const struct profile_study *study)
{
	int rc = print_head(study);
	if (rc == 0)
		rc = print_costs(study);
	if (rc == 0) {
		putchar('\n');
		rc = print_ratios(study);
	}
	if (rc == 0) {
		printf("\nCost of getmnt3 without each of its rules (+: difference from getmnt3 "
		       "with it)\n\n");
		rc = print_rules(study);
	}
	if (rc == 0) {
		print_scatter(study);
		print_notes(study);
	}
	if (rc == 0 && study->layers)
		rc = profile_layers_text(study);
	return rc;
}
