/* SPDX-License-Identifier: MIT */
/**
 * Divides the real time of a run into layers: our own code, libraries, entering the kernel, its
 * work by kind of call, waiting.  Pure: computed from clocks and counters.
 *
 * After "Anatomy of a Read and Write Call", which divides a system call in this way.
 */
#ifndef GM_PROFILE_LAYERS_H
#define GM_PROFILE_LAYERS_H

#include "os/clock.h"
#include "os/sampler.h"

enum layer {
	LAYER_OWN,         /* our own code */
	LAYER_LIBC,        /* the C library */
	LAYER_LIBRARIES,   /* other libraries */
	LAYER_TOGETHER,    /* the three layers above in one row, if there are too few samples */
	LAYER_FAULTS,      /* first use of memory pages */
	LAYER_CROSSING,    /* entering and leaving the kernel */
	LAYER_WORK,        /* the kernel's work; one row for each kind of call */
	LAYER_WAITING,     /* asleep in calls; one row for each kind of call */
	LAYER_PROCESSOR,   /* ready to run, but no processor is free */
	LAYER_CLOCKS,      /* the cost of measuring */
	LAYER_REST,        /* not accounted for */
	LAYER_NKINDS,
};

enum {
	LAYERS_SAMPLES = 100,   /* the least number from which shares are computed */
	LAYERS_MAX = LAYER_NKINDS + 2 * OS_NCALLS,
};

struct layer_row {
	enum layer layer;
	enum os_call call;   /* of LAYER_WORK and LAYER_WAITING; else OS_NCALLS */
	int64_t ns;          /* negative only for LAYER_REST */
	uint64_t count;      /* of calls, pages or samples; 0: unknown */
};

struct layers {
	struct layer_row rows[LAYERS_MAX];
	size_t n;
	int64_t real;        /* the exact sum of all rows */
	uint64_t calls;
	uint64_t samples;    /* outside of calls */
	bool libc_apart;     /* else the C library is linked statically and part of LAYER_OWN */
	bool queue_known;    /* else LAYER_PROCESSOR is part of LAYER_WAITING or LAYER_REST */
};

/**
 * Compute the layers of a run.
 *
 * A row that is a count times a cost (crossing, page faults, clocks) never exceeds the measured
 * time that contains it.  LAYER_REST is the difference between the clocks, which show how long the
 * thread was off the processor, and the scheduler, which counts how long it was ready to run;
 * negative if the scheduler counts more.
 *
 * @clock    After os_clock_stop().
 * @samples  Of another run with the same calls; NULL: none.
 */
void layers_make(struct layers *layers, const struct os_clock *clock, const struct os_costs *costs,
                 const struct os_samples *samples);

/** The name of a layer in JSON: "own". */
const char *layer_key(enum layer layer);

/** The name of a layer in a table: "our own code". */
const char *layer_title(const struct layers *layers, enum layer layer);

/** The share of the real time, 0 to 1; LAYER_REST may be negative. */
static inline double layer_share(const struct layers *layers, const struct layer_row *row)
{
	return layers->real ? (double)row->ns / (double)layers->real : 0;
}

#endif
