/* SPDX-License-Identifier: MIT */
/** A small tree of mounts, runs of the command in it, and checks of runs with a fault against the
    run without. */
#ifndef GM_TESTS_FAULT_RUN_H
#define GM_TESTS_FAULT_RUN_H

#include "fault.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scenario_flags {
	SC_ANY_FORM = 1 << 0,      /* not compared row by row */
	SC_FEW      = 1 << 1,      /* other scenarios make the same calls: few errors */
	SC_SLOW     = 1 << 2,      /* its input comes late */
	SC_HASTE    = 1 << 3,      /* short timeout: any mount may be reported as hung */
	SC_SILENT   = 1 << 4,      /* no output */
};

/** A command line that is run with many faults. */
struct scenario {
	const char *name;
	const char *const *args;   /* after "getmnt", ended by NULL */
	const char *disable;       /* GETMNT_DISABLE; NULL: none */
	const char *input;         /* text on standard input, by a pipe; NULL: none */
	unsigned flags;            /* enum scenario_flags */
};

/** One mount in the output. */
struct told {
	uint32_t id, covered_by;
	unsigned states;           /* set of 1 << enum mt_state */
	const char *target, *fstype, *source, *options;   /* NULL: null */
};

/** The outcome of a run. */
struct outcome {
	int status;
	char *out, *err;
	size_t out_len, err_len;
	struct told *rows;
	size_t nrows;
	bool complete, reasons;    /* of the document */
	bool children;             /* child processes were left */
	json_t *document;          /* the strings of the rows point here */
	struct fault_count count;
};

/** Enter a mount namespace whose root has /proc, /sys, and below /w mounts of all kinds: stacked,
    hidden, deleted, on files, blocking, layered.  @return whether that is permitted. */
bool world_enter(void);

/** Return to the old namespace, for sanitizers and gcov at exit. */
void world_leave(void);

/** Mount a FUSE on /w/kept whose server does not answer.  @return success. */
bool world_hang(void);

/** Answer its requests with an error. */
void world_release(void);

/** Whether an automount was triggered. */
bool world_triggered(void);

/** The scenarios of the world; ended by a NULL name. */
extern const struct scenario scenarios[];

/** Mount more and make directories below /t, so that threads are used. */
bool world_grow(void);

/** Scenarios that probe it; each run takes its full timeout. */
extern const struct scenario scenarios_hung[];

/** Scenarios for world_grow(). */
extern const struct scenario scenarios_threads[];

/** Run a scenario.  @got [out] to be freed by outcome_free(), or reused.
    @limit  See fault_begin(). */
void scenario_run(const struct scenario *scenario, const struct fault *fault, uint64_t limit,
                  struct outcome *got);

void outcome_free(struct outcome *outcome);

/** The runs of one scenario. */
struct trial {
	const struct scenario *scenario;
	struct outcome base;       /* without a fault */
	struct outcome got;        /* of the last run */
	uint64_t limit;            /* of kernel calls in a run */
	unsigned long faults;      /* requested */
	unsigned long runs, wrong;
};

/** Run a scenario without a fault, and check that fault.c sees every call counted in struct os.
    @return false: excluded by GETMNT_FAULT_ONLY=NAME in the environment. */
bool trial_begin(struct trial *trial, const struct scenario *scenario);

/** Run it with a fault and check: no memory, descriptors or threads are left; and the output is
    that
    of the run without, or has less and is marked as incomplete, or is an error message.
    GETMNT_FAULT_STEP=N in the environment: only every N-th fault is run. */
void trial_run(struct trial *trial, const struct fault *fault);

/** @return the number of runs. */
unsigned long trial_end(struct trial *trial);

#endif
