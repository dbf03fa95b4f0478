/* SPDX-License-Identifier: MIT */
/**
 * `getmnt profile --layers`: each algorithm run once more with clocks around its calls, and
 * once more under a sampler; and where the time went.
 */
#ifndef GM_CMD_PROFILE_LAYERS_H
#define GM_CMD_PROFILE_LAYERS_H

#include "os/clock.h"
#include "os/sampler.h"
#include "profile/layers.h"
#include "profile/profile.h"

#include <stdbool.h>

struct strbuf;
struct profile_how;
struct profile_study;

/** How a run is looked at. */
enum profile_look {
	PROFILE_PLAIN,       /* not at all */
	PROFILE_CLOCKED,     /* each call is timed */
	PROFILE_SAMPLED,     /* now and then */
};

/** What that has told, in sums over the runs of a turn. */
struct profile_looked {
	struct os_clock clock;
	struct os_samples samples;
};

/** In the process that runs: around what is measured. */
struct profile_watch {
	enum profile_look look;
	bool sampler;                   /* it runs */
	uint64_t before[OS_NCALLS];     /* calls that are not timed */
	struct os_clock clock;
};

/** Begin to look at what os does.  @procfd  Of /proc, or -1. */
void profile_watch_start(struct profile_watch *w, struct os *os, enum profile_look look, int procfd);

/** End that, and add to the sums.  The calls of os are those that it would have made alone. */
void profile_watch_stop(struct profile_watch *w, struct os *os, struct profile_looked *sums);

/** The layers of an algorithm. */
struct profile_layer {
	bool made;
	bool died;                      /* it was not made, since its process has died */
	bool same;                      /* as many calls as without clocks */
	unsigned runs, sampled;         /* that were made */
	struct layers layers;           /* of all of these runs */
};

struct profile_layers {
	int procfd;                     /* of /proc, which a stage has not; -1 */
	struct os_costs costs;
	struct profile_layer of[PROFILE_ALGORITHMS];
};

/**
 * Before the stage is entered: open what it does not have, measure what things cost.
 *
 * @return 0, or an exit status after a message.
 */
int profile_layers_begin(struct profile_layers *l, struct os *os);

/**
 * Find out the layers of a row, whose first turn was made.
 *
 * @i      Of the row: an algorithm.  One that did not end is left out.
 * @how    For both runs; its limit is what is left.
 * @loops  Runs that take about as long as a turn.
 * @return 0, or an exit status after a message.
 */
int profile_layers_row(struct profile_study *study, struct os *os, size_t i, const struct profile_how *how,
                       unsigned loops);

void profile_layers_end(struct profile_layers *l, struct os *os);

/** Print them as tables.  @return 0, or -1 (ENOMEM). */
int profile_layers_text(const struct profile_study *study);

/** Append them to a document.  Nothing if they were not asked for. */
void profile_layers_json(struct strbuf *out, const struct profile_study *study);

#endif
