/* SPDX-License-Identifier: MIT */
/**
 * A small world of mounts, runs of the command in it, and the verdict on a
 * run with a fault by comparison with the run without.
 */
#ifndef GM_TESTS_FAULT_RUN_H
#define GM_TESTS_FAULT_RUN_H

#include "fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scenario_flags {
	SC_ANY_FORM = 1 << 0,      /* not the document that is compared row by row */
	SC_FEW      = 1 << 1,      /* its calls are those of others: a few errors do */
	SC_SLOW     = 1 << 2,      /* its input comes when it is waited for */
	SC_HASTE    = 1 << 3,      /* its time is short: any mount may be held to be hung */
	SC_SILENT   = 1 << 4,      /* there is nothing to be told */
};

/** A command line to be run again and again. */
struct scenario {
	const char *name;
	const char *const *args;   /* behind "getmnt", ended by NULL */
	const char *disable;       /* GETMNT_DISABLE; NULL: none */
	const char *input;         /* text on standard input, by a pipe; NULL: none */
	unsigned flags;            /* enum scenario_flags */
};

/** What the command told of one mount. */
struct told {
	uint32_t id, covered_by;
	unsigned states;           /* set of 1 << enum mt_state */
	char *target, *named, *fstype, *source, *options;   /* NULL: null */
};

/** What one run gave. */
struct outcome {
	int status;
	char *out, *err;
	size_t out_len, err_len;
	struct told *rows;
	size_t nrows, rows_room;
	bool complete, reasons;    /* of the document */
	bool children;             /* processes were left */
	char *text;                /* what the rows' strings are cut from */
	struct fault_count count;
};

/**
 * Enter a world of its own: a mount namespace, whose root holds /proc, /sys
 * and below /w mounts of all standings (stacked, hidden, deleted, of files,
 * below what blocks, layered).
 *
 * @return whether that is permitted here.
 */
bool world_enter(void);

/** Go back to the old one: sanitizers and gcov have something to do at exit. */
void world_leave(void);

/** Mount a FUSE whose server keeps its requests, on /w/kept.  @return whether
    that can be. */
bool world_hang(void);

/** Let go of who waits for it. */
void world_release(void);

/** Whether one of the world's automounts was asked for. */
bool world_triggered(void);

/** The scenarios of the world; ended by a NULL name. */
extern const struct scenario scenarios[];

/** Mount many more, so that tables are read by threads; and make directories
    below /t, so that they are searched by threads. */
bool world_grow(void);

/** Some that probe that; each run takes as long as it is waited for. */
extern const struct scenario scenarios_hung[];

/** Those of the grown world. */
extern const struct scenario scenarios_threads[];

/** Run a scenario.  @got [out] to be freed by outcome_free(), or given again.
    @limit  As for fault_begin(). */
void scenario_run(const struct scenario *scenario, const struct fault *fault, uint64_t limit,
                  struct outcome *got);

void outcome_free(struct outcome *outcome);

/** The runs of one scenario. */
struct trial {
	const struct scenario *scenario;
	struct outcome base;       /* without a fault */
	struct outcome got;        /* of the last run */
	uint64_t limit;            /* of kernel calls, for all to end in */
	unsigned long faults;      /* that were to be tried */
	unsigned long runs, wrong;
};

/**
 * Begin: run it without a fault, and see that fault.c sees every call that
 * is counted in struct os.
 *
 * @return false for one that is not to be run: GETMNT_FAULT_ONLY=NAME in the
 *         environment is another's.
 */
bool trial_begin(struct trial *trial, const struct scenario *scenario);

/**
 * Run it with a fault, and judge: nothing is left (memory, descriptors,
 * threads), and the answer is that without, or tells less and says so, or
 * there is none and a message.  What is wrong is a failed assertion.
 *
 * GETMNT_FAULT_STEP=N in the environment: only every N-th is run.
 */
void trial_run(struct trial *trial, const struct fault *fault);

/** End.  @return the number of runs. */
unsigned long trial_end(struct trial *trial);

#endif
