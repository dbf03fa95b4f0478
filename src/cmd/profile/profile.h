/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of `getmnt profile`: the study, and the measurement of a row.
 */
#ifndef GM_CMD_PROFILE_H
#define GM_CMD_PROFILE_H

#include "base/arena.h"
#include "cmd/cmd.h"
#include "os/clock.h"
#include "os/sampler.h"
#include "profile/layers.h"
#include "profile/profile.h"

/** The options. */
struct profile_opts {
	const char *path;
	const char *repeats_text, *seed_text;
	bool live, cold, json, layers, help;
	unsigned repeats;          /* 0: as time permits */
	uint64_t seed;
	double max_time, total_time;
};

/** For --layers: how the time of an algorithm divides into layers. */
struct profile_layer {
	bool made;                 /* the algorithm was measured with clocks */
	bool died;                 /* not measured because its process died */
	bool same;                 /* the runs with clocks made the same calls as without clocks */
	unsigned runs, sampled;    /* number of runs with clocks, and with a sampler */
	struct layers layers;      /* sum over the runs with clocks */
};

struct profile_study {
	const struct profile_opts *opts;
	struct run *machine;       /* data about the machine: host, boot_id ... */
	struct os *os;             /* counts the calls for measuring, not the measured calls */
	struct profile_row rows[PROFILE_ROWS];
	size_t nrows;
	struct arena arena;        /* owns the times of the rows */
	double start, end;         /* start of the study, and its time limit, as os_now() */
	double seconds;            /* duration of the study */
	bool shows;                /* show progress */
	/* In a turn, each row is measured once, by one or several runs. */
	unsigned turn, turns;      /* index of the current turn; number of turns that were begun */
	unsigned repeats[PROFILE_ROWS], loops[PROFILE_ROWS];   /* for each row: number of turns
	                                                          after the first turn; number of
	                                                          runs in a turn */
	bool died;                 /* the process of a run died */
	bool varies;               /* runs of a row made different calls */
	char reason[160];          /* why the algorithm getmnt3 did not find every mount, or "" */
	uint64_t mounts;           /* number of mounts in the table, if fstype is known */
	char fstype[32];           /* file system type of the measured root; "": unknown */
	bool in_memory;            /* file systems of this type have no caches to drop */
	int procfd;                /* descriptor of /proc, for --layers; -1: none */
	struct os_costs costs;
	struct profile_layer layers[PROFILE_ALGORITHMS];
};

/** Get "without " if a row is named after the rule that is off, else "". */
static inline const char *profile_without(const struct profile_row *row)
{
	return row->rule < 0 ? "" : "without ";
}

/* run.c */

/** What to measure in a run besides its counts and total times. */
enum profile_look {
	PROFILE_PLAIN,       /* nothing */
	PROFILE_CLOCKED,     /* the time of each call */
	PROFILE_SAMPLED,     /* where the program is when a signal of the sampler arrives; these
	                        signals change the calls */
};

/** The result of a turn of a row. */
struct profile_turn {
	enum profile_state state;
	bool died;                 /* stopped because its process died */
	struct profile_counts counts;    /* counts of the first run */
	struct profile_times times;      /* mean over the runs */
	bool varies;               /* the runs differ in their calls */
	char reason[160];          /* why mounts are missing, or "" */
	char fstype[32];           /* file system type of the root */
	struct os_clock clock;     /* sums over the runs, except for PROFILE_PLAIN */
	struct os_samples samples; /* for PROFILE_SAMPLED */
};

/** Run a row in a separate process: `getmnt discover --names=walk --threads=1` with the algorithm
    and rules of the row, without printing.  In this process, a clock and getrusage(2) measure
    times, and system calls are counted as for --stats.  The process is killed at the time limit.
    If the process dies earlier (out of memory), the row is stopped too, after a message.
    @i  Index of the row.
    @limit  Seconds for all runs.
    @loops  Number of runs, at least 1; fewer if the time limit is reached.
    @turn [out]
    @return 0, or an exit status after a message: the root is not a directory, or the table cannot
    be read; with --cold, the caches cannot be dropped. */
int profile_run_row(struct profile_study *study, size_t i, enum profile_look look, double limit,
                    unsigned loops, struct profile_turn *turn);

/* Functions of out.c and json.c: return 0, or -1 (ENOMEM). */

__attribute__((warn_unused_result))
int profile_text(const struct profile_study *study);
__attribute__((warn_unused_result))
int profile_json(const struct profile_study *study);

#endif
