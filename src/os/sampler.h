/* SPDX-License-Identifier: MIT */
/**
 * Samples where a thread spends its time: in a system call, in our code, in the C library or in
 * another library.  For runs whose clock (os/clock.h) only marks calls.
 *
 * Not for runs whose calls are counted: a signal ends getdents64(2) early, which causes one more
 * call.
 */
#ifndef GM_OS_SAMPLER_H
#define GM_OS_SAMPLER_H

#include "os/clock.h"

enum os_where {
	OS_AT_PROGRAM,   /* the program's own code, and libraries linked statically */
	OS_AT_LIBC,      /* the C library, outside of counted calls */
	OS_AT_LIBRARY,   /* another library, or the vdso */
	OS_AT_CALL,      /* a counted call, including the C library's part */
	OS_AT_NWHERE,
};

struct os_samples {
	uint64_t at[OS_AT_NWHERE];
	bool libc_apart;   /* the C library is shared; otherwise it counts as OS_AT_PROGRAM */
};

/**
 * Start sampling this thread.
 *
 * One sampler runs at a time.  It uses a real-time signal, whose action os_sampler_stop()
 * restores.
 *
 * @clock   The clock of the struct os that this thread uses.
 * @period  Nanoseconds of real time between samples.
 * @return 0, or -1.
 * Errors: EBUSY (a sampler runs), ENOSYS (not implemented for this processor), those of
 *         timer_create(2).
 */
int os_sampler_start(const struct os_clock *clock, uint64_t period);

/** Stop sampling.  @samples  The counts are added to it. */
void os_sampler_stop(struct os_samples *samples);

#endif
