/* SPDX-License-Identifier: MIT */
/*
 * getmnt profile: what each algorithm costs, and what each rule saves.
 *
 *     PATH or --live --> turns: each row, in an order of its own --> medians --> tables
 *
 * The first turn warms the caches and shows how long a row takes, so that the others fit into the
 * time limit.  A run that was stopped is not repeated.
 */
#include "cmd/profile/profile.h"

#include "cmd/columns.h"
#include "cmd/listing.h"
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Seconds: of a run, of everything; of all turns of a row, and of its runs in a turn, which must
   be long enough for the ticks by which the kernel tells user from system time. */
#define MAX_TIME 30.0
#define TOTAL_TIME 50.0
#define ROW_TIME 0.4
#define TURN_TIME 0.04
#define SEED 1988

enum { TURNS_LEAST = 3, TURNS_MOST = 7 };

#define FLAG(field) OPT_IS_FLAG(struct profile_opts, field)
#define ONCE(field) OPT_IS_ONCE(struct profile_opts, field)

static const struct option_row profile_option_rows[] = {
	{"live", 0, NULL, "measure the whole machine", FLAG(live)},
	{"layers", 0, NULL, "show where the time goes, by clocks around calls", FLAG(layers)},
	{"json", 'J', NULL, "print JSON, with every measurement", FLAG(json)},
	{"cold", 0, NULL, "drop the kernel's caches before each run (root)", FLAG(cold)},
	{"repeats", 0, "N", "measure each row N times (3 to 7, as time permits)",
	 ONCE(repeats_text)},
	{"max-time", 0, "SEC", "stop a run after SEC seconds (30)",
	 OPT_IS_SECONDS(struct profile_opts, max_time, 1e6)},
	{"total-time", 0, "SEC", "stop everything after SEC seconds (50)",
	 OPT_IS_SECONDS(struct profile_opts, total_time, 1e6)},
	{"seed", 0, "N", "seed of the order of the runs (1988)", ONCE(seed_text)},
	OPTION_HELP(struct profile_opts, help),
};

const struct option_table profile_table = {
	"profile", profile_option_rows, sizeof(profile_option_rows) / sizeof(*profile_option_rows),
};

static void profile_help(FILE *out)
{
	options_help(&profile_table,
	             "Usage:\n getmnt profile [options] PATH\n getmnt profile [options] --live\n\n"
	             "Measure what getmnt1, getmnt2 and getmnt3 cost below PATH, and what each\n"
	             "pruning rule of getmnt3 saves.\n",
	             "Exit status: 0 done, 1 usage or system error, 64 a run was stopped or "
	             "skipped.\n",
	             out);
}

/** Parse the numbers, and check that the options go together. */
static int check(struct profile_opts *a, int argc, char **argv)
{
	uint64_t number = 0;
	if (argc - optind > 1)
		return usage_error(argv[optind + 1],
		                   "only one PATH is accepted; \"%s\" is already given",
		                   argv[optind]);
	a->path = optind < argc ? argv[optind] : NULL;
	if (a->path && !*a->path)
		return usage_error("PATH", "the path is empty; name a directory");
	if (a->path && a->live)
		return usage_error("--live",
		                   "--live measures the whole machine; remove it or remove \"%s\"",
		                   a->path);
	if (!a->path && !a->live)
		return usage_error(
			"profile",
			"PATH is missing; name a directory, or give --live for the whole machine");
	if (a->max_time <= 0)
		a->max_time = MAX_TIME;
	if (a->total_time <= 0)
		a->total_time = a->max_time > MAX_TIME ? a->max_time * TOTAL_TIME / MAX_TIME
		                                       : TOTAL_TIME;
	if (a->repeats_text) {
		if (!option_number(a->repeats_text, PROFILE_TURNS, &number) || number == 0)
			return usage_error("--repeats", "\"%s\": not a number from 1 to %d",
			                   a->repeats_text, PROFILE_TURNS);
		a->repeats = (unsigned)number;
	}
	a->seed = SEED;
	if (a->seed_text && !option_number(a->seed_text, UINT64_MAX, &a->seed))
		return usage_error("--seed", "\"%s\": not a whole number", a->seed_text);
	return 0;
}

/* The study. */

/** The state of a study. */
struct course {
	struct profile_study *study;
	struct os *os;
	double start, end;         /* by os_now() */
	bool shows;                /* show progress */
	unsigned turns[PROFILE_ROWS], loops[PROFILE_ROWS];   /* of each row */
	const struct profile_row *row;
	unsigned turn;
};

static void show_progress(void *arg, const struct profile_counts *counts, const char *where)
{
	struct course *c = arg;
	char head[160];
	bool rule = c->row->rule >= 0;
	if (!c->shows || os_now() - c->start < 1)
		return;
	snprintf(head, sizeof(head),
	         "%s%s%s, turn %u: %" PRIu64 " directories: ", profile_algorithm(c->row->algorithm),
	         rule ? " without " : "", rule ? discover_rules[c->row->rule].name : "",
	         c->turn + 1, counts->dirs);
	progress_line(head, where);
}

int profile_drop_caches(struct os *os)
{
	static const char path[] = "/proc/sys/vm/drop_caches";
	int fd = os_openat(os, AT_FDCWD, path, O_WRONLY | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : os_write(os, fd, "3", 1);
	int error = errno;
	os_close(os, fd);
	if (n == 1)
		return 0;
	message("--cold", "%s: cannot be written: %s; run as root outside of a container", path,
	        strerror(error));
	return CX_ERROR;
}

/** Run a row in a turn.  @return 0, or an exit status. */
static int run_row(struct course *c, size_t i)
{
	struct profile_study *study = c->study;
	struct profile_row *row = &study->rows[i];
	struct profile_turn turn;
	const struct profile_opts *opts = study->opts;
	if (opts->cold) {
		int status = profile_drop_caches(c->os);
		if (status)
			return status;
	}
	double left = c->end - os_now();
	struct profile_how how = {.root = opts->path,
	                          .limit = left < opts->max_time ? left : opts->max_time,
	                          .loops = c->turn ? c->loops[i] : 1,
	                          .silent = c->turn || i + 1 != PROFILE_ALGORITHMS,
	                          .progress = show_progress,
	                          .arg = c};
	c->row = row;
	show_progress(c, &row->counts, "");
	int status = profile_run_row(c->os, row, &how, &turn);
	if (status)
		return status;
	if (turn.died) {
		row->died = study->died = true;
		c->turns[i] = 0;
	}
	turn.times.turn = c->turn;
	if (c->turn == 0) {
		row->state = turn.state;
		row->counts = turn.counts;
		row->limit = how.limit;
		if (!study->known && *turn.fstype) {
			study->known = true;
			study->mounts = turn.counts.mounts;
			study->in_memory = turn.in_memory;
			memcpy(study->fstype, turn.fstype, sizeof(study->fstype));
		}
		if (i + 1 == PROFILE_ALGORITHMS) {
			if (!turn.complete && turn.state == PROFILE_DONE) {
				study->complete = false;
				memcpy(study->reason, turn.reason, sizeof(study->reason));
			}
		}
	} else if (turn.state != PROFILE_DONE) {
		return 0;   /* no time left; the earlier turns count */
	}
	row->varies |= turn.varies || memcmp(&row->counts, &turn.counts, sizeof(turn.counts)) != 0;
	if (profile_add(row, &turn.times) == 0)
		return 0;
	message(NULL, "%s", strerror(errno));
	return CX_ERROR;
}

/** Decide by the first turn how often to run each row. */
static void plan(struct course *c)
{
	const struct profile_study *study = c->study;
	for (size_t i = 0; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		double one = row->ntimes ? row->times[0].real : 0;
		c->loops[i] = study->opts->cold ? 1 : profile_loops(one, TURN_TIME);
		c->turns[i] = row->state != PROFILE_DONE ? 0
		              : study->opts->repeats    ? study->opts->repeats
		                                      : profile_turns(one * c->loops[i], ROW_TIME,
		                                                      TURNS_LEAST, TURNS_MOST);
	}
}

/** Whether a row still is to be run in a turn, and can be in the time. */
static bool wants(const struct course *c, size_t i)
{
	const struct profile_row *row = &c->study->rows[i];
	double left = c->end - os_now();
	if (c->turn == 0)
		return left > 0.01;
	return c->turn <= c->turns[i] && left > row->times[0].real * c->loops[i] * 1.5;
}

/** Make the runs of --layers: after the first turn, and before the others, which use up the time
    that is left. */
static int run_layers(struct course *c)
{
	const struct profile_opts *opts = c->study->opts;
	int status = 0;
	for (size_t i = PROFILE_ALGORITHMS; !status && i-- > 0;) {
		double left = c->end - os_now();
		struct profile_how how = {.root = opts->path,
		                          .limit = left < opts->max_time ? left : opts->max_time,
		                          .silent = true,
		                          .progress = show_progress,
		                          .arg = c};
		c->row = &c->study->rows[i];
		if (left > 0)
			status = profile_layers_row(c->study, c->os, i, &how, c->loops[i]);
	}
	return status;
}

/** Make all runs.  @return 0, or an exit status. */
static int run_all(struct course *c)
{
	struct profile_study *study = c->study;
	size_t order[PROFILE_ROWS];
	unsigned most = 0;
	int status = 0;
	for (c->turn = 0; !status && c->turn <= most; ++c->turn) {
		bool any = false;
		profile_order(study->opts->seed, c->turn, order, study->nrows);
		for (size_t k = 0; !status && k < study->nrows; ++k) {
			if (!wants(c, order[k]))
				continue;
			any = true;
			if (!c->shows)
				progress_reader(c->os);
			status = run_row(c, order[k]);
		}
		if (!any)
			break;
		study->turns = c->turn + 1;
		if (c->turn == 0)
			plan(c);
		if (c->turn == 0 && !status && study->layers)
			status = run_layers(c);
		for (size_t i = 0; i < study->nrows; ++i)
			most = c->turns[i] > most ? c->turns[i] : most;
	}
	progress_end();
	return status;
}

/** Make the study, and show it.  @return an exit status. */
static int study_make(struct profile_study *study, struct os *os, double start)
{
	struct course course = {.study = study,
	                        .os = os,
	                        .start = start,
	                        .end = start + study->opts->total_time,
	                        .shows = progress_open()};
	int status = study->layers ? profile_layers_begin(study->layers, os) : 0;
	if (!status)
		status = run_all(&course);
	if (status)
		return status;
	const struct profile_counts *first = &study->rows[0].counts;
	if (study->rows[0].state == PROFILE_DONE && first->dirs == 0 && first->errors > 0) {
		message(study->opts->path ? study->opts->path : "/",
		        "it cannot be read; run as root, or name another directory");
		return CX_ERROR;
	}
	study->seconds = os_now() - start;
	for (size_t i = 0; i < study->nrows; ++i) {
		profile_settle(&study->rows[i]);
		study->varies |= study->rows[i].varies;
		if (study->rows[i].state != PROFILE_DONE) {
			status = CX_INCOMPLETE;
			run_incomplete(study->machine,
			               "a run was stopped or not made: see its state");
		}
	}
	if (study->died) {
		status = CX_INCOMPLETE;
		run_incomplete(study->machine,
		               "the process of a run has died; is there enough memory?");
	}
	if (!study->complete)
		run_incomplete(study->machine, study->reason);
	if ((study->opts->json ? profile_json(study) : profile_text(study)) != 0) {
		message(NULL, "cannot create the output: %s", strerror(ENOMEM));
		return CX_ERROR;
	}
	return finish_stdout(study->opts->json) == 0 ? status : CX_ERROR;
}

int cmd_profile(int argc, char **argv)
{
	struct profile_opts opts = {0};
	struct options none = {0};
	struct columns no_columns = {0};
	struct profile_row rows[PROFILE_ROWS];
	int status = options_read(&profile_table, argc, argv, &opts, NULL);
	if (status)
		return status;
	if (opts.help) {
		profile_help(stdout);
		return finish_stdout(false) == 0 ? CX_OK : CX_ERROR;
	}
	status = check(&opts, argc, argv);
	if (status)
		return status;
	if (!opts.json)
		setlocale(LC_CTYPE, "");
	struct run machine;
	run_init(&machine, &none, &no_columns);
	machine.live = true;
	os_init(&machine.os, secure_getenv("GETMNT_DISABLE"));
	if (opts.json && machine_read(&machine) != 0) {
		message(NULL, "%s", strerror(errno));
		return CX_ERROR;
	}
	struct profile_study study = {.opts = &opts,
	                              .machine = &machine,
	                              .rows = rows,
	                              .nrows = profile_rows(rows),
	                              .complete = true};
	struct profile_layers layers = {.procfd = -1};
	study.layers = opts.layers ? &layers : NULL;
	status = study_make(&study, &machine.os, machine.start);
	profile_layers_end(&layers, &machine.os);
	for (size_t i = 0; i < study.nrows; ++i)
		profile_row_destroy(&rows[i]);
	run_destroy(&machine);
	return status;
}
