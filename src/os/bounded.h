/* SPDX-License-Identifier: MIT */
/**
 * Running work in a child process with a time limit, and keeping its output.
 *
 *     os_bounded_start() --fork--> child --stdout, stderr--> strbufs, until the child ends
 *                                                            or is killed at the limit
 *
 * A timer within the process is not enough: no signal ends a process that waits in the kernel for a
 * server.  A child that waits like that is killed and abandoned; it does not hold this process's
 * standard output or error open.
 */
#ifndef GM_OS_BOUNDED_H
#define GM_OS_BOUNDED_H

#include "base/strbuf.h"
#include "os/os.h"

#include <poll.h>

/** The maximum size of the output. */
enum { BOUNDED_MAX = 256 << 20 };

struct os_bounded {
	struct strbuf out, err;   /* standard output and standard error of the child */
	int status;               /* the exit status of the child */
	int signal;               /* the signal that ended the child, or 0 */
	bool late;                /* the child was killed at the time limit */
	int pid, fds[2];          /* while it runs: the child, and its output */
	double end;               /* the time limit, as os_now() */
};

/**
 * Start a child process, which is killed if this process ends.
 *
 * Call it before any thread is created, and with stdio flushed.
 *
 * @seconds  The time limit.
 * @done [out]  Free it with os_bounded_destroy(), also after an error.
 * @return 1; 0 in the child, which may print by stdio, must flush it, and ends by os_exit_process()
 *         with a status of 0 to 255; or -1.  Errors: those of fork(2) and socketpair(2).
 */
int os_bounded_start(struct os *os, double seconds, struct os_bounded *done);

/** Wait for the end of the child, or kill it at the time limit.
    @return 0, or -1.  Errors: EFBIG: the output is larger than BOUNDED_MAX; ENOMEM. */
int os_bounded_finish(struct os *os, struct os_bounded *done);

/* The steps of os_bounded_finish(), for a caller that waits for other things as well: wait while
   that returns 1, end. */

/** Wait for output of the child, or for something else.
    @fds, n  Two elements that this function sets, then the caller's, as for poll(2).
    @until   When to return at the latest, as os_now().
    @return 1: the child runs; 0: it has ended, or is late; -1: an error. */
int os_bounded_wait(struct os *os, struct os_bounded *done, struct pollfd *fds, size_t n,
                    double until);

/** Kill the child unless it has ended.  Preserves errno. */
void os_bounded_end(struct os *os, struct os_bounded *done);

/** Run a program whose standard input is empty.
    @argv, envp  End in NULL; argv[0] is the path of the program.
    @done [out]  As os_bounded_start(); the status is 127 if the program cannot be run.
    @return 0, or -1.  Errors: those of the functions above. */
int os_bounded_program(struct os *os, double seconds, char *const argv[], char *const envp[],
                       struct os_bounded *done);

void os_bounded_destroy(struct os_bounded *done);

#endif
