/* SPDX-License-Identifier: MIT */
/**
 * What may happen to callers of the library: they fork, and their threads are canceled.  These
 * functions do not count their calls.
 */
#ifndef GM_OS_CALLER_H
#define GM_OS_CALLER_H

#include <stdbool.h>

/** The process that created an object. */
struct os_origin {
	void *block;           /* the allocation that contains mark */
	unsigned char *mark;   /* a page that the kernel clears in a child; NULL: not supported */
	int pid;               /* the process ID, if mark is NULL */
};

/** Record this process.  Never fails. */
void os_origin_init(struct os_origin *origin);

/** Whether this is the recorded process, and not a child created by fork(2). */
bool os_origin_is_here(const struct os_origin *origin);

void os_origin_destroy(struct os_origin *origin);

/** Disable cancellation of this thread.  @return the previous state, for os_cancel_restore(). */
int os_cancel_defer(void);

/** Restore the state.  This function itself is not a cancellation point. */
void os_cancel_restore(int state);

#endif
