/* SPDX-License-Identifier: MIT */
/**
 * The callers of the library: forked children, and canceled threads.  Not counted.
 */
#ifndef GM_OS_CALLER_H
#define GM_OS_CALLER_H

#include <stdbool.h>

/** The process that created an object. */
struct os_origin {
	void *block;           /* the allocation of mark */
	unsigned char *mark;   /* a page that the kernel clears in a child; NULL: not available */
	int pid;               /* without a mark */
};

/** Note this process.  Never fails. */
void os_origin_init(struct os_origin *origin);

/** Whether this is the process that was noted, and not a child that fork(2) made
    of it. */
bool os_origin_is_here(const struct os_origin *origin);

void os_origin_destroy(struct os_origin *origin);

/** Defer the cancellation of this thread.  @return the state for os_cancel_restore(). */
int os_cancel_defer(void);

/** Restore the state.  No cancellation happens in here. */
void os_cancel_restore(int state);

#endif
