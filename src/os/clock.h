/* SPDX-License-Identifier: MIT */
/**
 * What a run's time was spent on: each call timed by its kind, and what such
 * a clock, an empty call and a page fault cost on this machine.
 *
 * A struct os has a clock only while one is set by os_clock_start(); without it
 * a call costs two tests of a pointer, and no clock is read.  Clocks are read
 * one behind the other, so that each nanosecond between start and stop is of a
 * call or outside of all: the sums are real time, exactly.
 *
 * A thread that has been on a processor all the time has not waited.  That is
 * asked for only after what took long, since the answer is a call of its own:
 * clock.c says how.
 */
#ifndef GM_OS_CLOCK_H
#define GM_OS_CLOCK_H

#include "os/os.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	OS_CLOCK_LONG = 5000,   /* ns: after what took longer, the CPU clock is looked at */
	OS_CLOCK_OFF = 2000,    /* ns off the processor that are none: to leave and return costs more */
};

/** What is not known. */
#define OS_UNKNOWN UINT64_MAX

struct os_clock {
	uint64_t calls[OS_NCALLS];   /* that were timed */
	uint64_t ns[OS_NCALLS];      /* in them, with the reading of the clock that is in between */
	uint64_t off[OS_NCALLS];     /* of ns: off the processor */
	uint64_t outside;            /* ns between them, before the first and behind the last */
	uint64_t outside_off;        /* of outside: off the processor */
	uint64_t looks;              /* at the CPU clock */
	uint64_t looking;            /* ns, in neither ns nor outside */
	uint64_t looking_off;        /* of looking: off the processor */

	/* Of the thread, from start to stop, by getrusage(2) and the scheduler. */
	uint64_t faults;             /* pages mapped at their first use */
	uint64_t sleeps;             /* voluntary switches: it waited for something */
	uint64_t queued;             /* ns ready to run, but no processor free; OS_UNKNOWN */

	/* Where it stands. */
	int procfd;
	bool marks;                  /* no clock is read; inside is kept all the same */
	volatile sig_atomic_t inside;  /* 1 in a call; for who samples */
	uint64_t last;               /* ns: the reading before */
	uint64_t looked, cpu;        /* ns: real and CPU time of the last look */
	uint64_t half;               /* ns: half of the quickest look */
};

/** What things cost on this machine, in nanoseconds. */
struct os_costs {
	double inside;               /* of timing a call: what its ns have too much */
	double outside;              /* ... and what is added outside */
	double empty;                /* a call that does nothing: into the kernel and back */
	double fault;                /* a page at its first use */
};

/**
 * Measure what things cost: some milliseconds.
 *
 * The calls are counted in os (geteuid, mmap, munmap).  Each cost is the median of
 * batches, so that what else runs does not matter much.
 * @return 0, or -1: no memory; *costs is as it was.
 */
int os_costs_measure(struct os *os, struct os_costs *costs);

/**
 * Begin to time the calls of os, which is used by this thread alone.
 *
 * Workers of os_clone_state() are not timed: a run that is to be explained has one thread.
 *
 * @clock   Emptied.  Must outlive os_clock_stop().
 * @marks   Read no clock; only tell a sampler when a call is made.
 * @procfd  Of /proc, for how long the thread is queued; -1: that is not asked for.
 * What this itself asks the kernel for is counted in os, and not timed.
 */
void os_clock_start(struct os *os, struct os_clock *clock, bool marks, int procfd);

/** End that; the clock of os holds the sums. */
void os_clock_stop(struct os *os);

/** Add the sums of another run, which has ended. */
void os_clock_add(struct os_clock *sum, const struct os_clock *clock);

/** All real time between start and stop but looking. */
uint64_t os_clock_real(const struct os_clock *clock);

/** For OS_CALL(): a call begins. */
void os_clock_enter(struct os_clock *clock);

/** For OS_CALL(): a call has ended; keeps errno. */
void os_clock_leave(struct os_clock *clock, enum os_call kind);

/**
 * For the files of os/: make a call of a kind, counted and, where there is a clock,
 * timed.  Every crossing is made by this.
 *
 * @call    An expression; its value is the macro's.
 */
#define OS_CALL(os, kind, call) __extension__({ \
		++(os)->calls[kind]; \
		if (__builtin_expect((os)->clock != NULL, 0)) \
			os_clock_enter((os)->clock); \
		__typeof__(call) os_result_ = (call); \
		if (__builtin_expect((os)->clock != NULL, 0)) \
			os_clock_leave((os)->clock, (kind)); \
		os_result_; \
	})

#endif
