/* SPDX-License-Identifier: MIT */
/**
 * In builds for gprof (GM_PROFILE) and for the unit tests (GM_CROSSING), each system call is a
 * separate function; in other builds this header is empty.  The unit tests define these functions
 * in tests/unit/fault.c, and can make them fail.
 *
 * OS_CALL() then enters the kernel through functions named sys_ plus the name from os_call_name():
 * sys_statx(), sys_read().  So gprof counts entries into the kernel, as struct os does: an
 * interrupted call counts once as os_read() and twice as sys_read().
 *
 * In a build for gprof they contain the system call instruction (except the LIBRARY rows of
 * OS_CALLS).  The reason: gprof samples the program counter in the program only, not in shared
 * libraries.  Kernel time is charged to the function that entered the kernel, and would be lost in
 * the C library.
 *
 * gprof counts between the marks (os_mark()), as --stats does.  sys_faccessat() and sys_writev()
 * count as faccessat2 and write.
 */
#ifndef GM_OS_CROSSING_H
#define GM_OS_CROSSING_H

#if defined(GM_PROFILE) || defined(GM_CROSSING)

#include "os/os.h"

/** A function of the C library, declared in no header: stop profiling (0) or continue. */
void moncontrol(int on);

#define CROSSING(kind, name) long sys_##name(long a, long b, long c, long d, long e, long f);
OS_CALLS(CROSSING, CROSSING)
CROSSING(ACCESS, faccessat)
CROSSING(WRITE, writev)
#undef CROSSING

/** Call a function with its arguments converted to six longs; missing ones are 0. */
#define CROSS(...) CROSS_(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CROSS_(function, a, b, c, d, e, f, ...) \
	function((long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Functions of the C library whose names differ from the system call's. */
#define sys_fork sys_clone
#define sys_fstat(fd, st, c, d, e, f) sys_newfstatat(fd, (long)"", st, AT_EMPTY_PATH, 0, 0)
#define sys_fstatat sys_newfstatat
#define sys_futimens(fd, times, c, d, e, f) sys_utimensat(fd, 0, times, 0, 0, 0)
#define sys_pread sys_pread64
#define sys_pwrite sys_pwrite64
#define sys_prlimit sys_prlimit64
#define sys_pthread_sigmask sys_rt_sigprocmask
#define sys_sigaction sys_rt_sigaction
#define sys_sigpending sys_rt_sigpending
#define sys_waitpid sys_wait4

#endif
#endif
