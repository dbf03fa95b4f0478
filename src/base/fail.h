/* SPDX-License-Identifier: MIT */
/** Failing with an error number: `return fail(EINVAL);` */
#ifndef GM_BASE_FAIL_H
#define GM_BASE_FAIL_H

#include <errno.h>
#include <stddef.h>

/** Set errno.  @return -1. */
static inline int fail(int error)
{
	errno = error;
	return -1;
}

/** Set errno.  @return NULL. */
static inline void *fail_null(int error)
{
	errno = error;
	return NULL;
}

#endif
