/* SPDX-License-Identifier: MIT */
#include "profile/layers.h"

static const struct {
	const char *key, *title;
} names[LAYER_NKINDS] = {
	[LAYER_OWN] = {"own", "our own code"},
	[LAYER_LIBC] = {"libc", "the C library"},
	[LAYER_LIBRARIES] = {"libraries", "other libraries"},
	[LAYER_TOGETHER] = {"user", "our code and the libraries"},
	[LAYER_FAULTS] = {"faults", "page faults"},
	[LAYER_CROSSING] = {"crossing", "the crossing"},
	[LAYER_WORK] = {"work", "kernel"},
	[LAYER_WAITING] = {"waiting", "waiting"},
	[LAYER_PROCESSOR] = {"processor", "no processor free"},
	[LAYER_CLOCKS] = {"clocks", "these clocks"},
	[LAYER_REST] = {"rest", "not accounted for"},
};

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/** A count times a cost, at most `most`. */
static uint64_t at_cost(uint64_t count, double cost, uint64_t most)
{
	double ns = (double)count * cost;
	return ns <= 0 ? 0 : ns >= (double)most ? most : (uint64_t)ns;
}

static void add(struct layers *layers, enum layer layer, enum os_call call, uint64_t ns,
                uint64_t count)
{
	layers->rows[layers->n++] = (struct layer_row){layer, call, (int64_t)ns, count};
}

/** Add the time outside of calls, divided by the samples if there are enough. */
static void add_user(struct layers *layers, uint64_t ns, const struct os_samples *samples)
{
	layers->libc_apart = !samples || samples->libc_apart;
	for (int i = 0; samples && i < OS_AT_CALL; ++i)
		layers->samples += samples->at[i];
	if (layers->samples < LAYERS_SAMPLES) {
		add(layers, LAYER_TOGETHER, OS_NCALLS, ns, layers->samples);
		return;
	}
	/* The first row also gets the rounding remainder. */
	struct layer_row *own = &layers->rows[layers->n];
	add(layers, LAYER_OWN, OS_NCALLS, ns, samples->at[OS_AT_PROGRAM]);
	for (int i = OS_AT_LIBC; i <= OS_AT_LIBRARY; ++i) {
		double each = (double)ns / (double)layers->samples;
		uint64_t part = at_cost(samples->at[i], each, (uint64_t)own->ns);
		own->ns -= (int64_t)part;
		if (samples->at[i])
			add(layers, i == OS_AT_LIBC ? LAYER_LIBC : LAYER_LIBRARIES, OS_NCALLS, part,
			    samples->at[i]);
	}
}

void layers_make(struct layers *layers, const struct os_clock *clock, const struct os_costs *costs,
                 const struct os_samples *samples)
{
	uint64_t work[OS_NCALLS], crossing = 0, off_in = 0;
	uint64_t off_out = min64(clock->outside_off, clock->outside);
	uint64_t off_look = min64(clock->looking_off, clock->looking);
	uint64_t clocks = clock->looking - off_look;
	memset(layers, 0, sizeof(*layers));
	layers->real = (int64_t)(os_clock_real(clock) + clock->looking);
	layers->queue_known = clock->queued != OS_UNKNOWN;

	for (int i = 0; i < OS_NCALLS; ++i) {
		uint64_t calls = clock->calls[i], off = min64(clock->off[i], clock->ns[i]);
		uint64_t ns = clock->ns[i] - off;
		uint64_t timing = at_cost(calls, costs->inside, ns);
		uint64_t empty = at_cost(calls, costs->empty, ns - timing);
		layers->calls += calls;
		off_in += off;
		clocks += timing;
		crossing += empty;
		work[i] = ns - timing - empty;
	}

	uint64_t user = clock->outside - off_out;
	uint64_t timing = at_cost(layers->calls, costs->outside, user);
	clocks += timing;
	user -= timing;
	uint64_t faults = at_cost(clock->faults, costs->fault, user);
	user -= faults;

	/* Outside of calls a thread never sleeps: if it does not run, it waits for a processor. */
	uint64_t queued = layers->queue_known ? min64(clock->queued, (uint64_t)layers->real) : 0;
	uint64_t queued_in = queued - min64(queued, off_out + off_look);
	uint64_t asleep = clock->sleeps ? off_in - min64(queued_in, off_in) : 0;

	add_user(layers, user, samples);
	add(layers, LAYER_FAULTS, OS_NCALLS, faults, clock->faults);
	add(layers, LAYER_CROSSING, OS_NCALLS, crossing, layers->calls);
	for (int i = 0; i < OS_NCALLS; ++i) {
		if (clock->calls[i])
			add(layers, LAYER_WORK, (enum os_call)i, work[i], clock->calls[i]);
	}
	for (int i = 0; i < OS_NCALLS; ++i) {
		uint64_t off = min64(clock->off[i], clock->ns[i]);
		uint64_t part = off ? at_cost(off, (double)asleep / (double)off_in, off) : 0;
		if (part)
			add(layers, LAYER_WAITING, (enum os_call)i, part, 0);
	}
	if (layers->queue_known)
		add(layers, LAYER_PROCESSOR, OS_NCALLS, queued, 0);
	add(layers, LAYER_CLOCKS, OS_NCALLS, clocks, layers->calls);

	int64_t rest = layers->real;
	for (size_t i = 0; i < layers->n; ++i)
		rest -= layers->rows[i].ns;
	layers->rows[layers->n++] = (struct layer_row){LAYER_REST, OS_NCALLS, rest, 0};
}

const char *layer_key(enum layer layer)
{
	return names[layer].key;
}

const char *layer_title(const struct layers *layers, enum layer layer)
{
	if (layer == LAYER_OWN && !layers->libc_apart)
		return "our code and the C library";
	return names[layer].title;
}
