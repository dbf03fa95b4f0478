/* SPDX-License-Identifier: MIT */
/**
 * Where the time of a run goes: each system call is timed by kind.  Also measures what a clock, an
 * empty call and a page fault cost on this machine.
 *
 * A struct os has a clock between os_clock_start() and os_clock_stop(); at other times a call costs
 * two tests of a pointer, and no clock is read.  Each nanosecond in between is counted either in
 * one call or outside of all calls: the sums are exactly the real time.
 *
 * Whether the thread slept is checked only after long pieces, because the check is a system call
 * itself: see clock.c.
 */
#ifndef GM_OS_CLOCK_H
#define GM_OS_CLOCK_H

#include "os/crossing.h"
#include "os/os.h"

#include <signal.h>

enum {
	OS_CLOCK_LONG = 5000,   /* ns: a piece this long causes a reading of the CPU clock */
	OS_CLOCK_OFF = 2000,    /* ns: ignore less time off the processor than this */
	OS_TRIES = 32,          /* of a call that is interrupted or races with a rename */
};

/** Unknown. */
#define OS_UNKNOWN UINT64_MAX

struct os_clock {
	uint64_t calls[OS_NCALLS];   /* timed calls */
	uint64_t ns[OS_NCALLS];      /* time in calls, including one clock reading each */
	uint64_t off[OS_NCALLS];     /* the part of ns off the processor */
	uint64_t outside;            /* ns between calls, before the first and after the last */
	uint64_t outside_off;        /* the part of outside off the processor */
	uint64_t looks;              /* readings of the CPU clock */
	uint64_t looking;            /* ns spent on them; not part of ns or outside */
	uint64_t looking_off;        /* the part of looking off the processor */

	/* Of the thread, from start to stop; from getrusage(2) and schedstat. */
	uint64_t faults;             /* minor page faults */
	uint64_t sleeps;             /* voluntary context switches */
	uint64_t queued;             /* ns runnable without a processor, or OS_UNKNOWN */

	/* The current state. */
	int procfd;
	bool marks;                  /* read no clock; only set inside */
	volatile sig_atomic_t inside;  /* 1 during a call; read by the sampler */
	uint64_t last;               /* ns: the last clock reading */
	uint64_t looked, cpu;        /* ns: both times at the last reading of the CPU clock */
	uint64_t half;               /* ns: half of the fastest such reading */
};

/** Costs on this machine, in nanoseconds. */
struct os_costs {
	double inside;               /* of timing a call: the part counted in the call */
	double outside;              /* of timing a call: the part counted outside */
	double empty;                /* an empty call */
	double fault;                /* the first use of a page */
};

/** Measure the costs, in some milliseconds.

    The calls are counted in os (geteuid, mmap, munmap).  Each cost is the median of several
    batches, so that other load on the machine matters little.
    @return 0, or -1 (ENOMEM): *costs is unchanged. */
int os_costs_measure(struct os *os, struct os_costs *costs);

/**
 * Start timing the calls of os, which only this thread may use.
 *
 * Workers made by os_clone_state() are not timed.
 *
 * @clock   Zeroed first.  Must remain valid until os_clock_stop().
 * @marks   Read no clock; only mark for a sampler when a call is in progress.
 * @procfd  /proc, for reading how long the thread is queued; or -1.
 *
 * The calls of this function are counted in os, but not timed.
 */
void os_clock_start(struct os *os, struct os_clock *clock, bool marks, int procfd);

/** Stop timing; the sums are in the clock of os. */
void os_clock_stop(struct os *os);

/** Add the sums of another, stopped clock. */
void os_clock_add(struct os_clock *sum, const struct os_clock *clock);

/** The real time between start and stop, without the looks. */
uint64_t os_clock_real(const struct os_clock *clock);

/** A call begins; for OS_CALL(). */
void os_clock_enter(struct os_clock *clock);

/** A call has ended; for OS_CALL().  Preserves errno. */
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

/** Make a system call, counted and, if os has a clock, timed.  For the files of os/, which make all
    system calls by this macro or OS_SYSCALL().
    @function  A function of the C library; its arguments follow.
    @return the value of the function. */
#define OS_CALL(os, kind, function, ...) \
	OS_COUNTED(os, kind, OS_ENTER(function, ##__VA_ARGS__))

/** The same by syscall(2).  @name  The name without SYS_. */
#define OS_SYSCALL(os, kind, name, ...) OS_COUNTED(os, kind, OS_ENTER_NUMBER(name, __VA_ARGS__))

/** Make a call by OS_CALL() or OS_SYSCALL(), and repeat it if a signal interrupts it.  OS_TRIES
    limits the repetitions, so that a stream of signals cannot keep us here forever. */
#define OS_RETRY(call) __extension__({ \
		long os_retried_; \
		unsigned os_tries_ = 0; \
		do { \
			os_retried_ = (call); \
		} while (os_retried_ < 0 && errno == EINTR && ++os_tries_ < OS_TRIES); \
		os_retried_; \
	})

#endif
