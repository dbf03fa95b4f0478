/* SPDX-License-Identifier: MIT */
/**
 * A piece of work with an end: it is done in a child, and what it prints is kept for
 * whoever waits, up to a moment.
 *
 *     os_bounded() --fork--> run(arg) --stdout, stderr--> strbufs, until it ends
 *                                                      |  or the moment comes: killed
 *
 * A timer in the process itself would not do: a signal is not delivered to a process
 * that waits for a server in the kernel.  A child that does is killed and left behind; it
 * holds neither standard output nor standard error of ours, so that who reads these to
 * their end is not kept.
 */
#ifndef GM_OS_BOUNDED_H
#define GM_OS_BOUNDED_H

#include "base/strbuf.h"
#include "os/os.h"

/** The most bytes that are kept of what it prints. */
enum { BOUNDED_MAX = 256 << 20 };

struct os_bounded {
	struct strbuf out, err;   /* what it printed on standard output and error */
	int status;               /* what run() returned */
	int signal;               /* what ended it instead; or 0 */
	bool late;                /* it was not done in time, and was killed */
};

/**
 * Do it.  To be called before there are threads, and with nothing unwritten in stdio.
 *
 * The child ends when this process does.
 *
 * @seconds  How long it may take.
 * @run      Prints by stdio, which it flushes itself, and returns a status of 0 to 255.
 * @done [out]  os_bounded_destroy() frees it, in any case.
 * @return 0, or -1: it was not done.  Errors: those of fork(2) and socketpair(2); EFBIG:
 *         it printed more than BOUNDED_MAX; ENOMEM.
 */
int os_bounded(struct os *os, double seconds, int (*run)(void *arg), void *arg, struct os_bounded *done);

/**
 * The same of a program; its standard input is empty.
 *
 * @argv  argv[0] is its path; ended by NULL, as is envp.
 * @done [out]  Its status is 127 if it cannot be run.
 */
int os_bounded_program(struct os *os, double seconds, char *const argv[], char *const envp[], struct os_bounded *done);

void os_bounded_destroy(struct os_bounded *done);

#endif
