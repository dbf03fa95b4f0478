/* SPDX-License-Identifier: MIT */
/**
 * Several calls of statx(2) under way at once, by io_uring(7).
 *
 * The kernel hands each to a thread of its own, so that this pays where an
 * answer has to be waited for, and costs where it is at hand.  All that is
 * begun is waited for: no buffer is the kernel's when a function has returned.
 */
#ifndef GM_OS_RING_H
#define GM_OS_RING_H

#include "os/os.h"

struct os_ring;

/** One call, and its answer. */
struct os_ring_stat {
	const char *name;
	struct k_statx *st;       /* zeroed before */
	int error;                /* [out] 0, or an errno value */
};

/**
 * Make a ring.
 *
 * @entries  Calls under way at most; a power of two.
 * @workers  Threads of the kernel's for them, at most (5.15).
 * @return it, or NULL.  Ownership: os_ring_free().
 * Errors: ENOSYS (not in this kernel, before 5.6 among them, or disabled),
 *         EPERM (refused: sysctl, seccomp), ENOMEM, EMFILE, ENFILE.
 * Source: io_uring_setup(2), io_uring_register(2).
 */
struct os_ring *os_ring_new(struct os *os, unsigned entries, unsigned workers);

/** Free a ring; NULL is fine. */
void os_ring_free(struct os *os, struct os_ring *ring);

/**
 * Ask for the attributes of several names in a directory.
 *
 * @stats  Any number of them.
 * @return 0 when each was answered; or -1, and none is: ask by os_statx(), and
 *         free the ring.
 * Source: io_uring_enter(2).
 */
int os_ring_statx(struct os *os, struct os_ring *ring, int dirfd, int flags, unsigned mask,
                  struct os_ring_stat *stats, size_t n);

#endif
