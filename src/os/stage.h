/* SPDX-License-Identifier: MIT */
/**
 * A place to build and measure in: a mount namespace of this process alone, whose root
 * is an empty tmpfs; and what a process has used.
 *
 * All of it ends with the processes that are in it, however they end.
 */
#ifndef GM_OS_STAGE_H
#define GM_OS_STAGE_H

#include "os/os.h"

/** Which step os_stage_enter() failed at. */
enum os_stage_step {
	STAGE_UNSHARE,     /* no namespace: EPERM, ENOSPC (user.max_*_namespaces), ENOSYS */
	STAGE_MAP,         /* none with this user in it: no /proc, or EPERM */
	STAGE_PRIVATE,     /* EINVAL: "/" is no mount point, so that others would see it */
	STAGE_MOUNT,       /* no tmpfs */
	STAGE_ROOT,        /* it did not become the root */
};

/**
 * Leave the mounts of the host: a mount namespace of our own, in which no mount reaches
 * another, and in it an empty tmpfs as the root of this process.  As an ordinary user in
 * a user namespace as well, as its root.  To be called before there are threads.
 *
 * Nothing of the host is to be named any more; what is open stays open.
 *
 * @step [out]  What failed.
 * @return 0, or -1: this process may be in a namespace of its own all the same.
 */
int os_stage_enter(struct os *os, enum os_stage_step *step);

/** Mount an empty tmpfs on a directory.  @return 0, or -1. */
int os_stage_mount(struct os *os, const char *path);

/** Give a directory this time of its last change, in seconds since 1970.  @return 0, or -1. */
int os_stage_date(struct os *os, const char *path, int64_t seconds);

/** What this process has used, all threads together. */
struct os_usage {
	double user, system;       /* seconds of a processor */
	uint64_t faults;           /* pages that had to be read */
	uint64_t blocks_in;        /* of 512 bytes, read from devices */
	uint64_t waits, switches;  /* how often it waited, and was made to */
};

/** getrusage(2). */
void os_usage(struct os *os, struct os_usage *usage);

/** Be killed when the parent ends.  @parent  Its process ID.
    @return whether that is so: it is still there, and the kernel agreed. */
bool os_die_with(struct os *os, int parent);

/** The ID of this process. */
int os_getpid(void);

#endif
