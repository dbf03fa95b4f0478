/* SPDX-License-Identifier: MIT */
/**
 * Several calls by one, through io_uring(7).
 *
 * The kernel hands each statx(2) to a thread of its own, so that this pays where an
 * answer has to be waited for, and costs where it is at hand.  Names in its cache it
 * opens at once, in the caller's thread: there it saves what it costs to enter the
 * kernel.  All that is begun is waited for: no buffer is the kernel's when a function
 * has returned.
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
 * Errors: ENOSYS (not in this kernel, before 5.6 among them, disabled, or one that
 *         refuses statx(2)),
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

/** A name to be opened, and what came of it. */
struct os_ring_open {
	int dirfd;
	const char *name;
	int fd;                   /* [out] the caller's to close; or -1: open it by os_openat2(),
	                             which tells why where it cannot be */
};

/**
 * Open several names that the kernel has in its cache (5.12; directories with
 * O_DIRECTORY from 6.5, and 5.15.127 and 6.4.11, on: before, none of them is opened, or
 * each by a thread of the kernel's).
 *
 * No name is looked up on a disk or at a server; to open what it stands for can wait
 * for one (FUSE), as in openat2(2).
 *
 * @flags, resolve  As os_openat2() has them, for all.
 * @opens   Any number of them.
 * @return 0; or -1: free the ring, which is of no use.  In either case each is open, or
 *         its fd is -1.
 * Source: openat2(2), RESOLVE_CACHED; io_uring_enter(2).
 */
int os_ring_open(struct os *os, struct os_ring *ring, int flags, uint64_t resolve,
                 struct os_ring_open *opens, size_t n);

#endif
