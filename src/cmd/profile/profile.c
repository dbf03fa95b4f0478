/* SPDX-License-Identifier: MIT */
/*
 * getmnt profile: measure the cost of each algorithm, and the savings of each rule.
 *
 *     PATH or --live --> turns: each row, in varying order --> medians --> tables
 *
 * A row is an algorithm (getmnt1, getmnt2 or getmnt3), or getmnt3 without a certain rule.  The
 * first turn warms the caches and shows how long each row takes, so that the other turns fit into
 * the time limit.  A row that was stopped is not run again.
 */
#include "cmd/profile/profile.h"

#include "cmd/progress.h"
#include "cmd/run.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>

/* Times in seconds. */
#define MAX_TIME 30.0      /* default of --max-time: limit of a run */
#define TOTAL_TIME 50.0    /* default of --total-time: limit of the study */
#define ROW_TIME 0.4       /* for all turns of a row */
#define TURN_TIME 0.04     /* for the runs of a row in a turn: long enough for the clock ticks by
                              which the kernel divides user from system time */
#define SAMPLE_TIME 0.6    /* for the runs of an algorithm with a sampler */

enum { SEED = 1988, TURNS_LEAST = 3, TURNS_MOST = 7, LOOPS_MOST = 1000 };

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

/** Parse the numbers and PATH, check combinations of options, and set defaults.
    @return 0, or an exit status after a message. */
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

/** Get the seconds left for the next run. */
static double profile_left(const struct profile_study *study)
{
	double left = study->end - os_now();
	return left < study->opts->max_time ? left : study->opts->max_time;
}

/** Run a row in the current turn, and store the results.
    @return 0, or an exit status after a message. */
static int run_row(struct profile_study *study, size_t i)
{
	struct profile_row *row = &study->rows[i];
	struct profile_turn turn;
	double limit = profile_left(study);
	int status = profile_run_row(study, i, PROFILE_PLAIN, limit, study->loops[i], &turn);
	if (status)
		return status;
	if (turn.died) {
		row->died = true;
		study->repeats[i] = 0;
	}
	turn.times.turn = study->turn;
	if (study->turn == 0) {
		row->state = turn.state;
		row->counts = turn.counts;
		row->limit = limit;
		if (!*study->fstype && *turn.fstype) {
			study->mounts = turn.counts.mounts;
			memcpy(study->fstype, turn.fstype, sizeof(study->fstype));
		}
		if (i + 1 == PROFILE_ALGORITHMS && turn.state == PROFILE_DONE)
			memcpy(study->reason, turn.reason, sizeof(study->reason));
	} else if (turn.state != PROFILE_DONE) {
		return 0;   /* no time was left for this turn; the earlier turns count */
	}
	row->varies |= turn.varies || memcmp(&row->counts, &turn.counts, sizeof(turn.counts)) != 0;
	ARENA_PUSH(&study->arena, row->times, row->ntimes, turn.times);
	if (arena_check(&study->arena) == 0)
		return 0;
	return message_error(NULL, errno, CX_ERROR);
}

/** Decide from the first turn how often to run each row. */
static void plan_turns(struct profile_study *study)
{
	for (size_t i = 0; i < study->nrows; ++i) {
		const struct profile_row *row = &study->rows[i];
		double one = row->ntimes ? row->times[0].real : 0;
		if (!study->opts->cold)
			study->loops[i] = profile_fit(one, TURN_TIME, 1, LOOPS_MOST);
		study->repeats[i] = study->opts->repeats;
		if (row->state != PROFILE_DONE)
			study->repeats[i] = 0;
		else if (!study->opts->repeats)
			study->repeats[i] = profile_fit(one * study->loops[i], ROW_TIME,
			                                TURNS_LEAST, TURNS_MOST);
	}
}

/** Whether to run a row in the current turn: it has turns left, and there is time. */
static bool needs_turn(const struct profile_study *study, size_t i)
{
	double left = study->end - os_now();
	if (study->turn == 0)
		return left > 0.01;
	return study->turn <= study->repeats[i]
	       && left > study->rows[i].times[0].real * study->loops[i] * 1.5;
}

/** Measure how the time of an algorithm divides into layers: with clocks, then with a sampler.
    Each of these measurements is started only if 1.5 times the time of a run is left.
    @return 0, or an exit status after a message. */
static int run_layer(struct profile_study *study, size_t i)
{
	struct profile_layer *of = &study->layers[i];
	const struct profile_row *row = &study->rows[i];
	struct profile_turn clocked, sampled = {0};
	double one = row->ntimes ? row->times[0].real : 0, limit = profile_left(study);
	if (row->state != PROFILE_DONE || limit <= 0 || one * 1.5 > limit)
		return 0;
	int status = profile_run_row(study, i, PROFILE_CLOCKED, limit, study->loops[i], &clocked);
	if (status || clocked.state != PROFILE_DONE) {
		of->died = !status && clocked.died;
		return status;
	}
	limit = profile_left(study);
	if (one * 1.5 <= limit) {
		unsigned loops = profile_fit(one, SAMPLE_TIME, 1, LOOPS_MOST);
		status = profile_run_row(study, i, PROFILE_SAMPLED, limit,
		                         study->opts->cold ? 1 : loops, &sampled);
	}
	if (status)
		return status;
	of->made = true;
	of->runs = clocked.times.loops;
	of->sampled = sampled.times.loops;
	const uint64_t *calls = row->counts.calls;
	of->same = !clocked.varies
	           && memcmp(clocked.counts.calls, calls, sizeof(clocked.counts.calls)) == 0;
	layers_make(&of->layers, &clocked.clock, &study->costs, &sampled.samples);
	return 0;
}

/** Perform all runs of the study.  @return 0, or an exit status after a message. */
static int run_all(struct profile_study *study)
{
	size_t order[PROFILE_ROWS];
	unsigned most = 0;
	int status = 0;
	for (study->turn = 0; !status && study->turn <= most; ++study->turn) {
		bool any = false;
		profile_order(study->opts->seed, study->turn, order, study->nrows);
		for (size_t k = 0; !status && k < study->nrows; ++k) {
			if (!needs_turn(study, order[k]))
				continue;
			any = true;
			if (!study->shows)
				progress_reader(study->os);
			status = run_row(study, order[k]);
		}
		if (!any)
			break;
		study->turns = study->turn + 1;
		if (study->turn == 0)
			plan_turns(study);
		/* Measure the layers before the other turns, which use up the remaining time. */
		bool layers = study->turn == 0 && study->opts->layers;
		for (size_t i = PROFILE_ALGORITHMS; layers && !status && i-- > 0;)
			status = run_layer(study, i);
		for (size_t i = 0; i < study->nrows; ++i)
			most = study->repeats[i] > most ? study->repeats[i] : most;
	}
	progress_end();
	return status;
}

/** Perform the study, and print it.  @return an exit status. */
static int study_make(struct profile_study *study)
{
	const struct profile_opts *opts = study->opts;
	if (opts->layers) {
		study->procfd = os_openat(study->os, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY);
		if (os_costs_measure(study->os, &study->costs) != 0) {
			message("--layers", "the cost of a page fault cannot be measured: %s",
			        strerror(errno));
			return CX_ERROR;
		}
	}
	int status = run_all(study);
	if (status)
		return status;
	const struct profile_counts *first = &study->rows[0].counts;
	if (study->rows[0].state == PROFILE_DONE && first->dirs == 0 && first->errors > 0) {
		message(opts->path ? opts->path : "/",
		        "cannot be read; run as root, or name another directory");
		return CX_ERROR;
	}
	study->seconds = os_now() - study->start;
	study->in_memory = strcmp(study->fstype, "tmpfs") == 0
	                   || strcmp(study->fstype, "ramfs") == 0;
	for (size_t i = 0; i < study->nrows; ++i) {
		profile_settle(&study->rows[i]);
		study->varies |= study->rows[i].varies;
		if (study->rows[i].state != PROFILE_DONE) {
			status = CX_INCOMPLETE;
			run_incomplete(study->machine,
			               "a run was stopped or not started: see its state");
		}
	}
	if (study->died) {
		status = CX_INCOMPLETE;
		run_incomplete(study->machine,
		               "the process of a run died; is there enough memory?");
	}
	if (*study->reason)
		run_incomplete(study->machine, study->reason);
	if ((opts->json ? profile_json(study) : profile_text(study)) != 0) {
		message(NULL, "cannot create the output: %s", strerror(ENOMEM));
		return CX_ERROR;
	}
	return finish_stdout() == 0 ? status : CX_ERROR;
}

int cmd_profile(int argc, char **argv)
{
	struct profile_opts opts = {0};
	const struct input_opts none = {0};
	int status = options_read(&profile_table, argc, argv, &opts);
	if (status)
		return status;
	if (opts.help) {
		profile_help(stdout);
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	status = check(&opts, argc, argv);
	if (status)
		return status;
	if (!opts.json)
		setlocale(LC_CTYPE, "");
	struct run machine;
	run_init(&machine, &none);
	machine.live = true;
	os_init(&machine.os, secure_getenv("GETMNT_DISABLE"));
	if (opts.json && machine_read(&machine, false) != 0)
		return message_error(NULL, errno, CX_ERROR);
	struct profile_study study = {
		.opts = &opts, .machine = &machine, .os = &machine.os,
		.start = machine.start, .end = machine.start + opts.total_time,
		.shows = progress_open(), .procfd = -1,
	};
	study.nrows = profile_rows(study.rows);
	for (size_t i = 0; i < study.nrows; ++i)
		study.loops[i] = 1;
	status = study_make(&study);
	os_close(study.os, study.procfd);
	arena_destroy(&study.arena);
	run_destroy(&machine);
	return status;
}
