/* SPDX-License-Identifier: MIT */
/**
 * `getmnt profile --layers`: each algorithm run again with clocks around its calls, and again
 * under a sampler.
 */
#ifndef GM_CMD_PROFILE_LAYERS_H
#define GM_CMD_PROFILE_LAYERS_H

#include "os/clock.h"
#include "os/sampler.h"
#include "profile/layers.h"
#include "profile/profile.h"

#include <stdbool.h>

struct json;
struct profile_how;
struct profile_study;

/** How a run is observed. */
enum profile_look {
	PROFILE_PLAIN,       /* not at all */
	PROFILE_CLOCKED,     /* each call is timed */
	PROFILE_SAMPLED,     /* by a sampler */
};

/** The observations, summed over the runs of a turn. */
struct profile_looked {
	struct os_clock clock;
	struct os_samples samples;
};

/** The state of an observation, in the process that runs. */
struct profile_watch {
	enum profile_look look;
	bool sampler;                   /* the sampler runs */
	uint64_t before[OS_NCALLS];     /* calls made before, which are not timed */
	struct os_clock clock;
};

/** Start to observe the calls of os.  @procfd  /proc, or -1. */
void profile_watch_start(struct profile_watch *w, struct os *os, enum profile_look look,
                         int procfd);

/** Stop, and add to the sums.  The counts of os are those of an unobserved run. */
void profile_watch_stop(struct profile_watch *w, struct os *os, struct profile_looked *sums);

/** The layers of an algorithm. */
struct profile_layer {
	bool made;
	bool died;                      /* not made because its process died */
	bool same;                      /* the same calls as without clocks */
	unsigned runs, sampled;         /* the number of runs of each kind */
	struct layers layers;           /* of all of these runs */
};

struct profile_layers {
	int procfd;                     /* /proc, or -1 */
	struct os_costs costs;
	struct profile_layer of[PROFILE_ALGORITHMS];
};

/**
 * Open /proc, and measure what a call, a page fault and the clocks cost.
 *
 * @return 0, or an exit status after a message.
 */
int profile_layers_begin(struct profile_layers *l, struct os *os);

/**
 * Measure the layers of a row whose first turn was made.
 *
 * @i      Index of the row, an algorithm.  A stopped one is left out.
 * @how    For both runs; its limit is the time left.
 * @loops  Number of runs that take about as long as a turn.
 * @return 0, or an exit status after a message.
 */
int profile_layers_row(struct profile_study *study, struct os *os, size_t i,
                       const struct profile_how *how, unsigned loops);

void profile_layers_end(struct profile_layers *l, struct os *os);

/** Print them as tables.  @return 0, or -1 (ENOMEM). */
int profile_layers_text(const struct profile_study *study);

/** Append them to a document, if they were requested. */
void profile_layers_json(struct json *json, const struct profile_study *study);

#endif
