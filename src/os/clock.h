/* SPDX-License-Identifier: MIT */
/**
 * What the time of a run was spent on: each system call timed by kind; and what a clock, an empty
 * call and a page fault cost on this machine.
 *
 * A struct os has a clock between os_clock_start() and os_clock_stop(); otherwise a call costs two
 * tests of a pointer, and no clock is read.  Each nanosecond in between is counted either in one
 * call or outside of all calls: the sums are exactly the real time.
 *
 * Whether the thread waited is checked only after long pieces, since this takes a system call
 * itself: see clock.c.
 */
#ifndef GM_OS_CLOCK_H
#define GM_OS_CLOCK_H

#include "os/crossing.h"
#include "os/os.h"

#include <signal.h>

enum {
	OS_CLOCK_LONG = 5000,   /* ns: after a longer piece the CPU clock is read */
	OS_CLOCK_OFF = 2000,    /* ns off the processor to ignore: a real switch takes longer */
	OS_TRIES = 32,          /* of a call that was interrupted, or raced with a rename */
};

/** Not known. */
#define OS_UNKNOWN UINT64_MAX

struct os_clock {
	uint64_t calls[OS_NCALLS];   /* the number timed */
	uint64_t ns[OS_NCALLS];      /* in calls, with one reading of the clock each */
	uint64_t off[OS_NCALLS];     /* of ns: off the processor */
	uint64_t outside;            /* ns between calls, before the first and after the last */
	uint64_t outside_off;        /* of outside: off the processor */
	uint64_t looks;              /* readings of the CPU clock */
	uint64_t looking;            /* ns, in neither ns nor outside */
	uint64_t looking_off;        /* of looking: off the processor */

	/* Of the thread, from start to stop, by getrusage(2) and the scheduler. */
	uint64_t faults;             /* pages mapped at first use */
	uint64_t sleeps;             /* voluntary context switches */
	uint64_t queued;             /* ns runnable without a processor; OS_UNKNOWN */

	/* The current state. */
	int procfd;
	bool marks;                  /* no clock is read; only inside is kept */
	volatile sig_atomic_t inside;  /* 1 in a call; for the sampler */
	uint64_t last;               /* ns: the last reading */
	uint64_t looked, cpu;        /* ns: both times at the last reading of the CPU clock */
	uint64_t half;               /* ns: half of the fastest such reading */
};

/** Costs on this machine, in nanoseconds. */
struct os_costs {
	double inside;               /* of timing a call: the part counted in the call */
	double outside;              /* ... and the part counted outside */
	double empty;                /* an empty call */
	double fault;                /* a page at its first use */
};

/** Measure the costs.  Takes some milliseconds.
    The calls are counted in os (geteuid, mmap, munmap).  Each cost is the median of batches, so
    that other work on the machine matters little.
    @return 0, or -1 (ENOMEM): *costs is unchanged. */
int os_costs_measure(struct os *os, struct os_costs *costs);

/**
 * Start timing the calls of os, which only this thread uses.
 *
 * Workers of os_clone_state() are not timed.
 *
 * @clock   Emptied.  Must outlive os_clock_stop().
 * @marks   Read no clock; only tell a sampler when a call is made.
 * @procfd  /proc, to read how long the thread is queued; or -1.
 * Its own calls are counted in os, and not timed.
 */
void os_clock_start(struct os *os, struct os_clock *clock, bool marks, int procfd);

/** Stop; the clock of os holds the sums. */
void os_clock_stop(struct os *os);

/** Add the sums of another run, which has ended. */
void os_clock_add(struct os_clock *sum, const struct os_clock *clock);

/** The real time between start and stop, without looking. */
uint64_t os_clock_real(const struct os_clock *clock);

/** For OS_CALL(): a call begins. */
void os_clock_enter(struct os_clock *clock);

/** For OS_CALL(): a call has ended; keeps errno. */
void os_clock_leave(struct os_clock *clock, enum os_call kind);

#ifdef CROSS
#define OS_ENTER(function, ...) CROSS(sys_##function, ##__VA_ARGS__)
#define OS_ENTER_NUMBER(name, ...) CROSS(sys_##name, ##__VA_ARGS__)
#else
#define OS_ENTER(function, ...) function(__VA_ARGS__)
#define OS_ENTER_NUMBER(name, ...) syscall(SYS_##name, __VA_ARGS__)
#endif

#define OS_COUNTED(os, kind, call) __extension__({ \
		++(os)->calls[kind]; \
		if (__builtin_expect((os)->clock != NULL, 0)) \
			os_clock_enter((os)->clock); \
		__auto_type os_result_ = (call); \
		if (__builtin_expect((os)->clock != NULL, 0)) \
			os_clock_leave((os)->clock, (kind)); \
		os_result_; \
	})

/** For the files of os/: make a system call, counted and, if there is a clock, timed.  All
    system calls are made by this and by OS_SYSCALL().
    @function  Of the C library; its arguments follow.  Its value is the macro's. */
#define OS_CALL(os, kind, function, ...) \
	OS_COUNTED(os, kind, OS_ENTER(function, ##__VA_ARGS__))

/** The same by syscall(2).  @name  That of SYS_name. */
#define OS_SYSCALL(os, kind, name, ...) OS_COUNTED(os, kind, OS_ENTER_NUMBER(name, __VA_ARGS__))

/** Make a call by OS_CALL() or OS_SYSCALL(), again each time that a signal interrupts it: at most
    OS_TRIES times, so that nobody can keep us for ever. */
#define OS_RETRY(call) __extension__({ \
		long os_retried_; \
		unsigned os_tries_ = 0; \
		do { \
			os_retried_ = (call); \
		} while (os_retried_ < 0 && errno == EINTR && ++os_tries_ < OS_TRIES); \
		os_retried_; \
	})

#endif
