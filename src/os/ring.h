/* SPDX-License-Identifier: MIT */
/**
 * Opening several names by one call, through io_uring(7).
 *
 * The kernel opens names that are in its cache immediately, in the caller's thread, so this saves
 * entering the kernel for each name.  os_ring_open() returns when all requests are complete: then
 * the kernel no longer uses the caller's buffers.
 */
#ifndef GM_OS_RING_H
#define GM_OS_RING_H

#include "os/os.h"

struct os_ring;

/** Create a ring.
    @entries  The most requests at a time; a power of two.
    @workers  The most kernel threads that serve them (5.15).
    @return the ring, or NULL.  Ownership: os_ring_free().  Errors: ENOSYS (kernel older than 5.6 or
    without io_uring, or disabled), EPERM (refused: sysctl, seccomp), ENOMEM, EMFILE, ENFILE.
    Source: io_uring_setup(2), io_uring_register(2). */
struct os_ring *os_ring_new(struct os *os, unsigned entries, unsigned workers);

/** Free a ring; NULL is allowed. */
void os_ring_free(struct os *os, struct os_ring *ring);

/** A name to open, and the result. */
struct os_ring_open {
	int dirfd;
	const char *name;
	int fd;                   /* [out] to be closed by the caller; or -1: use os_openat2(),
	                             which returns the reason */
};

/**
 * Open several names that the kernel has in its cache (5.12; directories with O_DIRECTORY since
 * 6.5, 5.15.127 and 6.4.11: older kernels open none, or use a kernel thread for each).
 *
 * No name is looked up on a disk or a server; opening the object may still wait for a server
 * (FUSE), as in openat2(2).
 *
 * @flags, resolve  As for os_openat2(), for all names.
 * @return 0; or -1: free the ring, which is unusable.  In either case each name is open, or
 *         its fd is -1.
 * Source: openat2(2), RESOLVE_CACHED; io_uring_enter(2).
 */
int os_ring_open(struct os *os, struct os_ring *ring, int flags, uint64_t resolve,
                 struct os_ring_open *opens, size_t n);

#endif
