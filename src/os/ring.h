/* SPDX-License-Identifier: MIT */
/**
 * Opening several names by one call, through io_uring(7).
 *
 * The kernel opens names in its cache at once, in the caller's thread, so this saves the
 * cost of entering it for each.  A function returns when all requests are answered: the
 * kernel then uses no buffer of the caller.
 */
#ifndef GM_OS_RING_H
#define GM_OS_RING_H

#include "os/os.h"

struct os_ring;

/**
 * Make a ring.
 *
 * @entries  Requests at a time, at most; a power of two.
 * @workers  Threads of the kernel for them, at most (5.15).
 * @return it, or NULL.  Ownership: os_ring_free().
 * Errors: ENOSYS (not in this kernel, before 5.6 among them, or disabled),
 *         EPERM (refused: sysctl, seccomp), ENOMEM, EMFILE, ENFILE.
 * Source: io_uring_setup(2), io_uring_register(2).
 */
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
 * Open several names that the kernel has in its cache (5.12; directories with O_DIRECTORY from
 * 6.5, 5.15.127 and 6.4.11 on: before, none is opened, or each by a thread of the kernel).
 *
 * No name is looked up on a disk or a server; opening the object may wait for one (FUSE), as in
 * openat2(2).
 *
 * @flags, resolve  As for os_openat2(), for all.
 * @return 0; or -1: free the ring, which cannot be used.  In either case each name is open, or
 *         its fd is -1.
 * Source: openat2(2), RESOLVE_CACHED; io_uring_enter(2).
 */
int os_ring_open(struct os *os, struct os_ring *ring, int flags, uint64_t resolve,
                 struct os_ring_open *opens, size_t n);

#endif
