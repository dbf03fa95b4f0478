/* SPDX-License-Identifier: MIT */
/* The report of where time goes: its rows add up; and the clocks and the sampler behind it. */
#include "unit.h"

#include "os/change.h"
#include "os/clock.h"
#include "os/sampler.h"
#include "profile/layers.h"

#include <poll.h>
#include <signal.h>

/* The model. */

static int64_t sum(const struct layers *layers)
{
	int64_t all = 0;
	for (size_t i = 0; i < layers->n; ++i)
		all += layers->rows[i].ns;
	return all;
}

/** The nanoseconds of a row; -1: no such row. */
static int64_t ns_of(const struct layers *layers, enum layer layer, enum os_call call)
{
	for (size_t i = 0; i < layers->n; ++i) {
		if (layers->rows[i].layer == layer && layers->rows[i].call == call)
			return layers->rows[i].ns;
	}
	return -1;
}

static const struct os_costs costs = {.inside = 30, .outside = 20, .empty = 200, .fault = 500};

/** A run of 1 ms in 100 calls that never left the processor. */
static const struct os_clock warm = {
	.calls = {[OS_STATX] = 80, [OS_GETDENTS] = 20},
	.ns = {[OS_STATX] = 80 * 1330, [OS_GETDENTS] = 20 * 20230},
	.outside = 482000, .looks = 7, .looking = 7000, .faults = 100, .queued = 0,
};

UNIT_TEST(a_run_that_did_not_wait)
{
	struct layers layers;
	struct os_samples samples = {.at = {300, 90, 10, 5000}, .libc_apart = true};
	layers_make(&layers, &warm, &costs, &samples);
	CU_ASSERT_EQUAL(layers.real, 80 * 1330 + 20 * 20230 + 482000 + 7000);
	CU_ASSERT_EQUAL(sum(&layers), layers.real);
	CU_ASSERT_EQUAL(layers.calls, 100);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_CROSSING, OS_NCALLS), 100 * 200);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WORK, OS_STATX), 80 * 1100);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WORK, OS_GETDENTS), 20 * 20000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WORK, OS_CLOSE), -1);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_CLOCKS, OS_NCALLS), 7000 + 100 * 50);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_FAULTS, OS_NCALLS), 50000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_OWN, OS_NCALLS), 430000 / 4 * 3);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_LIBC, OS_NCALLS), 430000 / 400 * 90);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_LIBRARIES, OS_NCALLS), 430000 / 40);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_PROCESSOR, OS_NCALLS), 0);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_REST, OS_NCALLS), 0);
	CU_ASSERT_EQUAL(layers.rows[layers.n - 1].layer, LAYER_REST);
	CU_ASSERT_STRING_EQUAL(layer_title(&layers, LAYER_OWN), "our own code");
	double shares = 0;
	for (size_t i = 0; i < layers.n; ++i)
		shares += layer_share(&layers, &layers.rows[i]);
	CU_ASSERT_DOUBLE_EQUAL(shares, 1, 1e-9);
}

UNIT_TEST(too_few_samples)
{
	struct layers layers;
	struct os_samples samples = {.at = {60, 30, LAYERS_SAMPLES - 91, 5000}, .libc_apart = true};
	layers_make(&layers, &warm, &costs, &samples);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_TOGETHER, OS_NCALLS), 430000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_OWN, OS_NCALLS), -1);
	CU_ASSERT_EQUAL(layers.samples, LAYERS_SAMPLES - 1);
	++samples.at[OS_AT_LIBRARY];
	layers_make(&layers, &warm, &costs, &samples);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_TOGETHER, OS_NCALLS), -1);
	CU_ASSERT_TRUE(ns_of(&layers, LAYER_OWN, OS_NCALLS) > 0);
	layers_make(&layers, &warm, &costs, NULL);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_TOGETHER, OS_NCALLS), 430000);

	/* Linked statically: one row for the program and the C library. */
	struct os_samples one = {.at = {200}};
	layers_make(&layers, &warm, &costs, &one);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_OWN, OS_NCALLS), 430000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_LIBC, OS_NCALLS), -1);
	CU_ASSERT_STRING_EQUAL(layer_title(&layers, LAYER_OWN), "our code and the C library");
}

/** Waiting, and waiting for a processor. */
UNIT_TEST(waiting_and_waiting_for_a_processor)
{
	struct layers layers;
	struct os_clock cold = warm;
	cold.off[OS_GETDENTS] = 300000;
	cold.off[OS_STATX] = 60000;
	cold.outside_off = 82000;
	cold.sleeps = 9;
	layers_make(&layers, &cold, &costs, NULL);
	CU_ASSERT_EQUAL(sum(&layers), layers.real);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WAITING, OS_GETDENTS), 300000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WAITING, OS_STATX), 60000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WORK, OS_GETDENTS), 100000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_PROCESSOR, OS_NCALLS), 0);
	/* Off the processor outside of calls, and not queued: unknown. */
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_REST, OS_NCALLS), 82000);

	/* Of the time in the queue 82,000 ns were outside of calls. */
	cold.queued = 118000;
	layers_make(&layers, &cold, &costs, NULL);
	CU_ASSERT_EQUAL(sum(&layers), layers.real);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_PROCESSOR, OS_NCALLS), 118000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WAITING, OS_GETDENTS), 270000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WAITING, OS_STATX), 54000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_REST, OS_NCALLS), 0);

	/* The scheduler reports more than the clocks. */
	cold.queued = 500000;
	layers_make(&layers, &cold, &costs, NULL);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WAITING, OS_GETDENTS), -1);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_REST, OS_NCALLS), 442000 - 500000);

	/* Preempted while the clock was read. */
	cold.looking = 50000;
	cold.looking_off = 43000;
	cold.queued = 125000;
	layers_make(&layers, &cold, &costs, NULL);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_CLOCKS, OS_NCALLS), 7000 + 100 * 50);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WAITING, OS_GETDENTS), 300000);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_REST, OS_NCALLS), 0);
	CU_ASSERT_EQUAL(sum(&layers), layers.real);
	cold.looking = 7000;
	cold.looking_off = 0;
	cold.queued = 118000;

	/* It never slept: it was preempted. */
	cold.sleeps = 0;
	layers_make(&layers, &cold, &costs, NULL);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WAITING, OS_GETDENTS), -1);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_REST, OS_NCALLS), 324000);

	/* Time in the queue is unknown: no row. */
	cold.sleeps = 1;
	cold.queued = OS_UNKNOWN;
	layers_make(&layers, &cold, &costs, NULL);
	CU_ASSERT_FALSE(layers.queue_known);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_PROCESSOR, OS_NCALLS), -1);
	CU_ASSERT_EQUAL(ns_of(&layers, LAYER_WAITING, OS_GETDENTS), 300000);
	CU_ASSERT_EQUAL(sum(&layers), layers.real);
}

/** With any numbers the rows add up, and only the rest may be negative. */
UNIT_TEST(any_numbers_add_up)
{
	unsigned seed = 7;
	struct layers layers;
	for (int run = 0; run < 20000; ++run) {
		struct os_clock clock = {0};
		struct os_samples samples = {.libc_apart = run & 1};
		uint64_t most = UINT64_C(1) << rand_r(&seed) % 50;
#define ANY() ((uint64_t)rand_r(&seed) * (uint64_t)rand_r(&seed) % most)
		for (int i = 0; i < 6; ++i) {
			int kind = rand_r(&seed) % OS_NCALLS;
			clock.calls[kind] = ANY();
			clock.ns[kind] = ANY();
			clock.off[kind] = ANY();
		}
		clock.outside = ANY();
		clock.outside_off = ANY();
		clock.looking = ANY();
		clock.looking_off = ANY();
		clock.faults = ANY();
		clock.sleeps = ANY() % 2;
		clock.queued = run % 3 ? ANY() : OS_UNKNOWN;
		for (int i = 0; i < OS_AT_NWHERE; ++i)
			samples.at[i] = ANY();
		layers_make(&layers, &clock, &costs, run % 5 ? &samples : NULL);
		int bad = layers.n > LAYERS_MAX || sum(&layers) != layers.real;
		for (size_t i = 0; i + 1 < layers.n; ++i)
			bad += layers.rows[i].ns < 0 || layers.rows[i].ns > layers.real;
		if (bad) {
			printf("  run %d\n", run);
			CU_FAIL("rows add up");
			return;
		}
	}
	struct os_clock none = {0};
	layers_make(&layers, &none, &costs, NULL);
	CU_ASSERT_EQUAL(layers.real, 0);
	CU_ASSERT_EQUAL(layer_share(&layers, &layers.rows[0]), 0);
	for (int i = 0; i < LAYER_NKINDS; ++i)
		CU_ASSERT_TRUE(*layer_key((enum layer)i) && *layer_title(&layers, (enum layer)i));
}

/* The clocks. */

static void look_about(struct os *os, int times)
{
	struct k_statx st;
	char buf[4096];
	for (int i = 0; i < times; ++i) {
		os_statx(os, AT_FDCWD, "/", 0, K_STATX_TYPE, &st);
		int fd = os_opendir(os, AT_FDCWD, "/");
		while (os_getdents(os, fd, buf, sizeof(buf)) > 0)
			continue;
		os_close(os, fd);
	}
}

/** The same calls are made, each is timed, and the times add up. */
UNIT_TEST(the_same_calls_timed)
{
	struct os plain, timed;
	struct os_clock clock;
	os_init(&plain, NULL);
	os_init(&timed, NULL);
	CU_ASSERT_PTR_NULL(timed.clock);
	memset(plain.calls, 0, sizeof(plain.calls));
	look_about(&plain, 50);

	double before = os_now();
	int proc = os_openat(&timed, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY);
	os_clock_start(&timed, &clock, false, proc);
	double began = os_now();
	look_about(&timed, 50);
	double end = os_now();
	os_clock_stop(&timed);
	double after = os_now();
	CU_ASSERT_PTR_NULL(timed.clock);

	uint64_t in_calls = 0;
	for (int i = 0; i < OS_NCALLS; ++i) {
		CU_ASSERT_EQUAL(clock.calls[i], plain.calls[i]);
		CU_ASSERT_EQUAL(clock.ns[i] > 0, plain.calls[i] > 0);
		CU_ASSERT_TRUE(clock.off[i] <= clock.ns[i]);
		in_calls += clock.ns[i];
	}
	double real = (double)(os_clock_real(&clock) + clock.looking) / 1e9;
	CU_ASSERT_TRUE(in_calls < os_clock_real(&clock));
	CU_ASSERT_TRUE(real >= end - began && real <= after - before);
	os_close(&timed, proc);
	/* The clock has stopped. */
	look_about(&timed, 1);
	CU_ASSERT_EQUAL(clock.calls[OS_CLOSE], 50);

	/* The sums of two runs. */
	struct os_clock two = clock;
	os_clock_add(&two, &clock);
	CU_ASSERT_EQUAL(os_clock_real(&two), 2 * os_clock_real(&clock));
	CU_ASSERT_EQUAL(two.calls[OS_STATX], 100);
	CU_ASSERT_EQUAL(two.queued, clock.queued == OS_UNKNOWN ? OS_UNKNOWN : 2 * clock.queued);
}

/** Calls of a worker are not timed; errno of a call is kept. */
UNIT_TEST(a_worker_is_not_timed)
{
	struct os os, worker;
	struct os_clock clock;
	os_init(&os, NULL);
	os_clock_start(&os, &clock, false, -1);
	os_clone_state(&worker, &os);
	CU_ASSERT_PTR_NULL(worker.clock);
	look_about(&worker, 1);
	errno = 0;
	CU_ASSERT_EQUAL(os_openat(&os, AT_FDCWD, "/proc/self/none", O_RDONLY), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
	os_clock_stop(&os);
	CU_ASSERT_EQUAL(clock.calls[OS_OPENAT], 1);
	CU_ASSERT_EQUAL(clock.calls[OS_CLOSE], 0);
	CU_ASSERT_EQUAL(clock.queued, OS_UNKNOWN);
}

/** Sleeping in a call is waiting; working outside is not. */
UNIT_TEST(waiting_and_work)
{
	struct os os;
	struct os_clock clock;
	struct layers layers;
	os_init(&os, NULL);
	os_clock_start(&os, &clock, false, -1);
	os_poll(&os, NULL, 0, 60);
	for (double start = unit_cpu(); unit_cpu() - start < 0.02;)
		continue;
	os_clock_stop(&os);
	CU_ASSERT_TRUE(clock.ns[OS_POLL] >= 60000000);
	CU_ASSERT_TRUE(clock.off[OS_POLL] >= 58000000);
	CU_ASSERT_TRUE(clock.sleeps >= 1);
	CU_ASSERT_TRUE(clock.outside - clock.outside_off >= 15000000);
	layers_make(&layers, &clock, &costs, NULL);
	CU_ASSERT_EQUAL(sum(&layers), layers.real);
	int64_t waited = ns_of(&layers, LAYER_WAITING, OS_POLL),
	                 queued = ns_of(&layers, LAYER_PROCESSOR, OS_NCALLS);
	CU_ASSERT_TRUE(waited + (queued > 0 ? queued : 0) >= 55000000);
	CU_ASSERT_TRUE(ns_of(&layers, LAYER_WORK, OS_POLL) < waited);
}

UNIT_TEST(costs)
{
	struct os os;
	struct os_costs found = {0};
	os_init(&os, NULL);
	uint64_t before = os.calls[OS_GETEUID];
	CU_ASSERT_EQUAL(os_costs_measure(&os, &found), 0);
	CU_ASSERT_TRUE(found.inside > 0 && found.outside > 0 && found.empty > 0 && found.fault > 0);
	CU_ASSERT_TRUE(found.inside < 100000 && found.empty < 1000000 && found.fault < 10000000);
	CU_ASSERT_TRUE(os.calls[OS_GETEUID] > before);
	CU_ASSERT_EQUAL(os.calls[OS_MMAP], os.calls[OS_MUNMAP]);
}

/* The sampler. */

static void work_a_while(double seconds)
{
	for (double start = unit_cpu(); unit_cpu() - start < seconds;) {
		for (volatile int i = 0; i < 20000; ++i)
			continue;
	}
}

UNIT_TEST(where_a_thread_is)
{
	struct os os;
	struct os_clock clock;
	struct os_samples own = {0}, calls = {0};
	struct sigaction before, after;
	os_init(&os, NULL);
	sigaction(SIGRTMAX - 1, NULL, &before);

	os_clock_start(&os, &clock, true, -1);
	if (os_sampler_start(&clock, 500000) != 0) {
		CU_ASSERT_EQUAL(errno, ENOSYS);
		os_clock_stop(&os);
		UNIT_SKIP("where a thread is interrupted is not known on this processor");
	}
	CU_ASSERT_EQUAL(os_sampler_start(&clock, 500000), -1);
	CU_ASSERT_EQUAL(errno, EBUSY);
	work_a_while(0.1);
	os_sampler_stop(&own);
	CU_ASSERT_EQUAL(clock.outside + clock.ns[OS_STATX] + clock.looks, 0);

	CU_ASSERT_EQUAL(os_sampler_start(&clock, 500000), 0);
	for (double start = unit_cpu(); unit_cpu() - start < 0.1;)
		look_about(&os, 100);
	os_sampler_stop(&calls);
	os_clock_stop(&os);
	sigaction(SIGRTMAX - 1, NULL, &after);
	CU_ASSERT_TRUE(before.sa_handler == after.sa_handler);

	printf("  at work: %d %d %d %d; in calls: %d %d %d %d\n", (int)own.at[0], (int)own.at[1],
	       (int)own.at[2], (int)own.at[3], (int)calls.at[0], (int)calls.at[1], (int)calls.at[2],
	       (int)calls.at[3]);
	CU_ASSERT_TRUE(own.at[OS_AT_PROGRAM] > 0);
	CU_ASSERT_EQUAL(own.at[OS_AT_CALL], 0);
	CU_ASSERT_TRUE(own.at[OS_AT_PROGRAM] > own.at[OS_AT_LIBC] + own.at[OS_AT_LIBRARY]);
	CU_ASSERT_TRUE(calls.at[OS_AT_CALL] > calls.at[OS_AT_PROGRAM]);
}
