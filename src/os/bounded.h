/* SPDX-License-Identifier: MIT */
/**
 * Work with a time limit, done in a child whose output is kept.
 *
 *     os_bounded() --fork--> run(arg) --stdout, stderr--> strbufs, until it ends
 *                                                         or is killed at the limit
 *
 * A timer in the process itself is not enough: no signal ends a process that waits for a server
 * in the kernel.  Such a child is killed and abandoned; it does not hold this process's standard
 * output or error open.
 */
#ifndef GM_OS_BOUNDED_H
#define GM_OS_BOUNDED_H

#include "base/strbuf.h"
#include "os/os.h"

/** The most bytes of output that are kept. */
enum { BOUNDED_MAX = 256 << 20 };

struct os_bounded {
	struct strbuf out, err;   /* its standard output and error */
	int status;               /* returned by run() */
	int signal;               /* the signal that ended it, or 0 */
	bool late;                /* it was killed at the limit */
};

/**
 * Run a function in a child.  Call it before any thread starts, and with stdio flushed.
 *
 * The child ends when this process does.
 *
 * @seconds  The time limit.
 * @run      Prints by stdio, which it flushes, and returns a status of 0 to 255.
 * @done [out]  os_bounded_destroy() frees it, in any case.
 * @return 0, or -1.  Errors: those of fork(2) and socketpair(2); EFBIG:
 *         it printed more than BOUNDED_MAX; ENOMEM.
 */
int os_bounded(struct os *os, double seconds, int (*run)(void *arg), void *arg,
               struct os_bounded *done);

/** Run a program; its standard input is empty.
    @argv  argv[0] is its path; ended by NULL, as is envp.
    @done [out]  Its status is 127 if it cannot be run. */
int os_bounded_program(struct os *os, double seconds, char *const argv[], char *const envp[],
                       struct os_bounded *done);

void os_bounded_destroy(struct os_bounded *done);

#endif
