/* SPDX-License-Identifier: MIT */
/**
 * In a build for gprof (GM_PROFILE) and for the unit tests (GM_CROSSING), each system call is a
 * function of its own; otherwise this is empty.  The tests define these functions in
 * tests/unit/fault.c, and can let them fail.
 *
 * OS_CALL() then enters the kernel through functions named sys_ and the name of os_call_name():
 * sys_statx(), sys_read().  So gprof counts entries into the kernel, as struct os does: a call that
 * was interrupted is one call of os_read(), and two of sys_read().
 *
 * For gprof they enter by an instruction of their own (except the rows LIBRARY of OS_CALLS).  It
 * samples the program counter of the program, and sees no shared library: kernel time is charged to
 * the function that entered, and lost if that is in the C library.
 *
 * gprof counts between the marks (os_mark()), as --stats does.  sys_faccessat() and sys_writev()
 * count as faccessat2 and write.
 */
#ifndef GM_OS_CROSSING_H
#define GM_OS_CROSSING_H

#if defined(GM_PROFILE) || defined(GM_CROSSING)

#include "os/os.h"

/** Of the C library, in no header: stop the profile (0), or continue. */
void moncontrol(int on);

#define CROSSING(kind, name) long sys_##name(long a, long b, long c, long d, long e, long f);
OS_CALLS(CROSSING, CROSSING)
CROSSING(ACCESS, faccessat)
CROSSING(WRITE, writev)
#undef CROSSING

/** Call a function with six words, whatever they are. */
#define CROSS(...) CROSS_(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CROSS_(function, a, b, c, d, e, f, ...) \
	function((long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Functions of the C library that have another name than the call. */
#define sys_fork sys_clone
#define sys_fstat(fd, st, c, d, e, f) sys_newfstatat(fd, (long)"", st, AT_EMPTY_PATH, 0, 0)
#define sys_fstatat sys_newfstatat
#define sys_futimens(fd, times, c, d, e, f) sys_utimensat(fd, 0, times, 0, 0, 0)
#define sys_pread sys_pread64
#define sys_prlimit sys_prlimit64
#define sys_pthread_sigmask sys_rt_sigprocmask
#define sys_sigaction sys_rt_sigaction
#define sys_sigpending sys_rt_sigpending
#define sys_waitpid sys_wait4

#endif
#endif
