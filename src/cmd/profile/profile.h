/* SPDX-License-Identifier: MIT */
/**
 * What the files of `getmnt profile` share: the study, and how a row of it is run.
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

/** With --layers: where the time of an algorithm goes. */
struct profile_layer {
	bool made;
	bool died;                 /* not measured because its process died */
	bool same;                 /* the same calls as without clocks */
	unsigned runs, sampled;    /* runs with clocks, and with samples */
	struct layers layers;      /* of all of these runs */
};

struct profile_study {
	const struct profile_opts *opts;
	struct run *machine;       /* host, boot_id ... */
	struct os *os;             /* counts the calls of measuring, not the measured ones */
	struct profile_row rows[PROFILE_ROWS];
	size_t nrows;
	struct arena arena;        /* owns the times of the rows */
	double start, end;         /* by os_now() */
	double seconds;            /* of the whole study */
	bool shows;                /* show progress */
	unsigned turn, turns;      /* the current turn; turns begun */
	unsigned repeats[PROFILE_ROWS], loops[PROFILE_ROWS];   /* turns of a row; runs in each */
	bool died;                 /* the process of a run died */
	bool varies;
	char reason[160];          /* why getmnt3 did not find every mount, or "" */
	uint64_t mounts;           /* of the table, if fstype is known */
	char fstype[32];           /* of the root; "": unknown */
	bool in_memory;            /* fstype has no caches to drop */
	int procfd;                /* /proc, for --layers; or -1 */
	struct os_costs costs;
	struct profile_layer layers[PROFILE_ALGORITHMS];
};

/** "without " if a row is named after a rule, else "". */
static inline const char *profile_without(const struct profile_row *row)
{
	return row->rule < 0 ? "" : "without ";
}

/* run.c */

/** How a run is observed. */
enum profile_look {
	PROFILE_PLAIN,       /* not at all */
	PROFILE_CLOCKED,     /* each call is timed */
	PROFILE_SAMPLED,     /* by a sampler, whose signals change the calls */
};

/** The result of a turn of a row. */
struct profile_turn {
	enum profile_state state;
	bool died;                 /* stopped because its process died */
	struct profile_counts counts;    /* of the first run */
	struct profile_times times;      /* the mean over the runs */
	bool varies;               /* the runs made different calls */
	char reason[160];          /* why not every mount was found, or "" */
	char fstype[32];           /* of the root */
	struct os_clock clock;     /* sums over the runs, if they were observed */
	struct os_samples samples;
};

/** Run a row in a separate process: `getmnt discover --names=walk --threads=1` with its algorithm
    and rules, without printing.  Times are taken there by a clock and getrusage(2); the system
    calls are those of --stats.  The process is killed at the time limit.  If it dies by itself (out
    of memory), the row is stopped as well, after a message.
    @i  Index of the row.
    @limit  Seconds for all runs.
    @loops  Number of runs, at least 1; fewer if the time limit is reached.
    @turn [out]
    @return 0, or an exit status after a message: the root is not a directory, or the table cannot
    be read; with --cold, the caches cannot be dropped. */
int profile_run_row(struct profile_study *study, size_t i, enum profile_look look, double limit,
                    unsigned loops, struct profile_turn *turn);

/* out.c, json.c: both return 0, or -1 (ENOMEM). */

__attribute__((warn_unused_result))
int profile_text(const struct profile_study *study);
__attribute__((warn_unused_result))
int profile_json(const struct profile_study *study);

#endif
