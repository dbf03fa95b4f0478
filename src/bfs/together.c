/* SPDX-License-Identifier: MIT */
/*
 * The directories of a batch, opened by one call.
 *
 *     reads --> ring: openat2, cached names only --+--> open
 *                                                  '--> left to plain calls: all else
 *
 * The kernel does the same work, but is entered once; and threads whose descriptors are in
 * one table block each other less.  (Closing by the ring was tried: it gains only where
 * entering the kernel is expensive, since the kernel defers part of it.)
 *
 * The kernel refuses at once a name that it would have to look up on a disk or a server, and
 * what cannot be opened; a plain call then opens it, or has the reason.  Where most names are
 * like that, some batches are not tried.
 */
#include "bfs/bfs_impl.h"

#include "os/ring.h"

enum {
	FEW = 4,                  /* directories for which it does not pay */
	BATCHES_BEFORE = 8,       /* for a ring to pay */
	WORKERS = 1,              /* threads of the kernel: they have no work here */
	PLAIN = 15,               /* batches that are not tried */
	IN_VAIN = 4,              /* batches of which nothing was opened: a kernel that opens
	                             no directories so */
};

void together_init(struct together *together, struct os *os, bool wanted)
{
	*together = (struct together){
		.os = os,
		.off = !wanted || !(os->caps & OSC_OPENAT2),
	};
}

void together_destroy(struct together *together)
{
	os_ring_free(together->os, together->ring);
	together->ring = NULL;
	together->off = true;
}

/** Whether to open n directories by the ring, which then exists. */
static bool together_pays(struct together *together, size_t n)
{
	if (together->off || n < FEW)
		return false;
	if (together->plain > 0) {
		--together->plain;
		return false;
	}
	if (together->ring)
		return true;
	if (++together->before <= BATCHES_BEFORE)
		return false;
	together->ring = os_ring_new(together->os, BFS_TOGETHER, WORKERS);
	together->off = !together->ring;
	return together->ring;
}

size_t together_open(struct together *together, struct bfs_read *reads, size_t n, int flags)
{
	struct os_ring_open opens[BFS_TOGETHER];
	struct bfs_read *which[BFS_TOGETHER];
	size_t wanted = 0, opened = 0;
	for (size_t i = 0; i < n && wanted < BFS_TOGETHER; ++i) {
		if (reads[i].fd >= 0)
			continue;
		which[wanted] = &reads[i];
		opens[wanted++] = (struct os_ring_open){
			.dirfd = reads[i].parentfd,
			.name = reads[i].name,
		};
	}
	if (!together_pays(together, wanted))
		return 0;
	int rc = os_ring_open(together->os, together->ring, flags, RESOLVE_NO_XDEV, opens,
	                      wanted);
	++together->tried;
	for (size_t i = 0; i < wanted; ++i) {
		which[i]->fd = opens[i].fd;
		opened += opens[i].fd >= 0;
	}
	together->opened |= opened > 0;
	if (rc != 0 || (together->tried == IN_VAIN && !together->opened))
		together_destroy(together);
	else if (opened < wanted / 2)
		together->plain = PLAIN;
	return opened;
}
