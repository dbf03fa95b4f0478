/* SPDX-License-Identifier: MIT */
/*
 * Clocks around calls.
 *
 * CLOCK_MONOTONIC is read in about 30 ns without a system call, so it is read before and after
 * each call:
 *
 *        outside          call         outside
 *     ---------------|-----------|------------------
 *                enter()      leave()
 *
 * CLOCK_THREAD_CPUTIME_ID enters the kernel, for about 1,000 ns: more than many a call.  But a
 * thread that sleeps, sleeps long.  So it is read (a "look") only after a piece, a call or the
 * time between calls, that took OS_CLOCK_LONG or longer.  The excess of real time over CPU time
 * since the last look is attributed to that piece, since all pieces before it were short.  The
 * waiting of short pieces goes to the next long one.  The time of the look itself is measured and
 * counted in neither.
 */
#include "os/clock.h"

#include "base/array.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/** A long piece ended at `now`: return how long the thread was off the processor. */
static uint64_t clock_read_cpu(struct os_clock *clock, uint64_t now)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), after = clock_ns(CLOCK_MONOTONIC);
	uint64_t took = after - now, most = now - clock->last;
	if (took / 2 < clock->half)
		clock->half = took / 2;
	/* The CPU time was read half a look after `now`, and before that half a look before
	   `looked`. */
	int64_t off = (int64_t)(now - clock->looked) - (int64_t)(cpu - clock->cpu)
	              + 2 * (int64_t)clock->half;
	++clock->looks;
	clock->looking += took;
	if (took >= 2 * clock->half + OS_CLOCK_OFF)
		clock->looking_off += took - 2 * clock->half;
	clock->looked = clock->last = after;
	clock->cpu = cpu;
	return off < OS_CLOCK_OFF ? 0 : (uint64_t)off > most ? most : (uint64_t)off;
}

/** Add the time since the last reading to *sum.  @off  The time off the processor is added to
    it. */
static void clock_attribute(struct os_clock *clock, uint64_t *sum, uint64_t *off)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), piece = now - clock->last;
	*sum += piece;
	if (piece >= OS_CLOCK_LONG)
		*off += clock_read_cpu(clock, now);
	else
		clock->last = now;
}

void os_clock_enter(struct os_clock *clock)
{
	if (!clock->marks)
		clock_attribute(clock, &clock->outside, &clock->outside_off);
	clock->inside = 1;
}

void os_clock_leave(struct os_clock *clock, enum os_call kind)
{
	int error = errno;
	clock->inside = 0;
	++clock->calls[kind];
	if (!clock->marks)
		clock_attribute(clock, &clock->ns[kind], &clock->off[kind]);
	errno = error;
}

/** Read the kernel's counters of this thread; not by functions of os.c, which use this file. */
static void clock_account(struct os *os, struct os_clock *clock, int procfd)
{
	struct rusage usage;
	memset(&usage, 0, sizeof(usage));
	OS_CALL(os, OS_GETRUSAGE, getrusage, RUSAGE_THREAD, &usage);
	clock->faults = (uint64_t)usage.ru_minflt;
	clock->sleeps = (uint64_t)usage.ru_nvcsw;
	clock->queued = OS_UNKNOWN;
	/* The fields are: time on a processor, time runnable, slices
	   (Documentation/scheduler/sched-stats.rst). */
	char text[128], *end;
	int fd = procfd < 0 ? -1 : OS_RETRY(OS_CALL(os, OS_OPENAT, openat, procfd,
	                                            "thread-self/schedstat",
	                                            O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return;
	ssize_t n = OS_RETRY(OS_CALL(os, OS_READ, read, fd, text, sizeof(text) - 1));
	OS_SYSCALL(os, OS_CLOSE, close, fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	char *second = strchr(text, ' ');
	uint64_t queued = second ? strtoull(second, &end, 10) : 0;
	if (second && end > second && *end == ' ')
		clock->queued = queued;
}

void os_clock_start(struct os *os, struct os_clock *clock, bool marks, int procfd)
{
	memset(clock, 0, sizeof(*clock));
	clock_account(os, clock, procfd);
	clock->marks = marks;
	clock->half = UINT64_MAX / 4;
	clock->procfd = procfd;
	clock->cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	clock->looked = clock->last = clock_ns(CLOCK_MONOTONIC);
	os->clock = clock;
}

void os_clock_stop(struct os *os)
{
	struct os_clock *clock = os->clock, now;
	if (!clock->marks)
		clock_attribute(clock, &clock->outside, &clock->outside_off);
	os->clock = NULL;
	clock_account(os, &now, clock->procfd);
	clock->faults = now.faults - clock->faults;
	clock->sleeps = now.sleeps - clock->sleeps;
	if (clock->queued != OS_UNKNOWN)
		clock->queued = now.queued == OS_UNKNOWN ? OS_UNKNOWN : now.queued - clock->queued;
}

void os_clock_add(struct os_clock *sum, const struct os_clock *clock)
{
	for (int i = 0; i < OS_NCALLS; ++i) {
		sum->calls[i] += clock->calls[i];
		sum->ns[i] += clock->ns[i];
		sum->off[i] += clock->off[i];
	}
	sum->outside += clock->outside;
	sum->outside_off += clock->outside_off;
	sum->looks += clock->looks;
	sum->looking += clock->looking;
	sum->looking_off += clock->looking_off;
	sum->faults += clock->faults;
	sum->sleeps += clock->sleeps;
	sum->queued = sum->queued == OS_UNKNOWN || clock->queued == OS_UNKNOWN ? OS_UNKNOWN
	                      : sum->queued + clock->queued;
}

uint64_t os_clock_real(const struct os_clock *clock)
{
	uint64_t sum = clock->outside;
	for (int i = 0; i < OS_NCALLS; ++i)
		sum += clock->ns[i];
	return sum;
}

/* Costs. */

enum { BATCHES = 15, BATCH = 256, FAULT_PAGES = 64 };

/** Measure what timing costs, by timing an empty call. */
static void cost_of_timing(double *inside, double *outside)
{
	static struct os_clock clock;   /* static because it is large */
	memset(&clock, 0, sizeof(clock));
	clock.last = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < BATCH; ++i) {
		os_clock_enter(&clock);
		os_clock_leave(&clock, OS_GETEUID);
	}
	*inside = (double)clock.ns[OS_GETEUID] / BATCH;
	*outside = (double)clock.outside / BATCH;
}

static double cost_of_empty(struct os *os)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < BATCH; ++i)
		OS_CALL(os, OS_GETEUID, geteuid);
	return (double)(clock_ns(CLOCK_MONOTONIC) - before) / BATCH;
}

/** Measure a page fault.  @return the cost; below 0: no memory. */
static double cost_of_fault(struct os *os)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = FAULT_PAGES * page;
	char *at = (void *)OS_CALL(os, OS_MMAP, mmap, NULL, size, PROT_READ | PROT_WRITE,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return -1;
	/* Do not use huge pages: a growing heap does not. */
	madvise(at, size, MADV_NOHUGEPAGE);
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < size; i += page)
		*(volatile char *)(at + i) = 1;
	double ns = (double)(clock_ns(CLOCK_MONOTONIC) - before) / FAULT_PAGES;
	OS_CALL(os, OS_MUNMAP, munmap, at, size);
	return ns;
}

int os_costs_measure(struct os *os, struct os_costs *costs)
{
	double inside[BATCHES], outside[BATCHES], empty[BATCHES], fault[BATCHES];
	for (int i = 0; i < BATCHES; ++i) {
		cost_of_timing(&inside[i], &outside[i]);
		empty[i] = cost_of_empty(os);
		fault[i] = cost_of_fault(os);
		if (fault[i] < 0)
			return -1;
	}
	*costs = (struct os_costs){
		.inside = median(inside, BATCHES),
		.outside = median(outside, BATCHES),
		.empty = median(empty, BATCHES),
		.fault = median(fault, BATCHES),
	};
	return 0;
}
