/* SPDX-License-Identifier: MIT */
/**
 * Where the time of a run went, in layers that add up to its real time: our own
 * code, libraries, the way into the kernel, its work by kind of call, waiting.
 * Pure: from what clocks and counters said to rows.
 *
 * After "Anatomy of a Read and Write Call", which takes a call apart in this way.
 */
#ifndef GM_PROFILE_LAYERS_H
#define GM_PROFILE_LAYERS_H

#include "os/clock.h"
#include "os/sampler.h"

#include <stddef.h>
#include <stdint.h>

enum layer {
	LAYER_OWN,         /* our own code */
	LAYER_LIBC,        /* the C library */
	LAYER_LIBRARIES,   /* other libraries */
	LAYER_TOGETHER,    /* ... in place of these three: samples are too few to tell */
	LAYER_FAULTS,      /* pages at their first use: a kernel that nobody called */
	LAYER_CROSSING,    /* into the kernel and back */
	LAYER_WORK,        /* the kernel's work; one row for each kind of call */
	LAYER_WAITING,     /* asleep in calls, a row for each kind */
	LAYER_PROCESSOR,   /* ready to run, and no processor free */
	LAYER_CLOCKS,      /* what measuring cost */
	LAYER_REST,        /* not accounted for */
	LAYER_NKINDS,
};

enum {
	LAYERS_SAMPLES = 100,   /* fewer outside of calls tell nothing of shares */
	LAYERS_MAX = LAYER_NKINDS + 2 * OS_NCALLS,
};

struct layer_row {
	enum layer layer;
	enum os_call call;   /* of LAYER_WORK and LAYER_WAITING; else OS_NCALLS */
	int64_t ns;          /* below 0: LAYER_REST alone */
	uint64_t count;      /* of what made it: calls, pages, samples; 0: not known */
};

struct layers {
	struct layer_row rows[LAYERS_MAX];
	size_t n;
	int64_t real;        /* the sum of all rows, exactly */
	uint64_t calls;
	uint64_t samples;    /* outside of calls */
	bool libc_apart;     /* else LAYER_OWN is with the C library, that is linked into it */
	bool queue_known;    /* else LAYER_PROCESSOR is in LAYER_WAITING, or in the rest */
};

/**
 * Take a run apart.
 *
 * A row that is made of a count and a cost (crossing, pages, clocks) is never more than
 * what was measured of what it is taken from.  LAYER_REST is by how much the clocks, which
 * saw the thread off the processor, differ from the scheduler, which says that it was ready to
 * run and waited for one; below 0 where the latter says more.
 *
 * @clock    After os_clock_stop().
 * @samples  Of a run of the same; may be NULL: none.
 */
void layers_make(struct layers *layers, const struct os_clock *clock, const struct os_costs *costs,
                 const struct os_samples *samples);

/** One word for a layer, as JSON has it: "own". */
const char *layer_key(enum layer layer);

/** What a row is, in words: "our own code". */
const char *layer_title(const struct layers *layers, enum layer layer);

/** A row's share of real time, 0 to 1; below 0 for a rest that is. */
double layer_share(const struct layers *layers, const struct layer_row *row);

#endif
