/* SPDX-License-Identifier: MIT */
/*
 * The directories of a bunch, opened by one call.
 *
 *     dirs --> ring: openat2, cached names only --+--> open
 *                                                 '--> left to plain calls: all else
 *
 * The work is the same, and what it costs to enter the kernel is not; nor do threads
 * get in each other's way as often, where their descriptors are in one table.  (To
 * close by the ring was tried: it pays where entering the kernel is dear, and costs as
 * much where it is not, since the kernel puts off what is left to do.)
 *
 * A name that the kernel would have to look up on a disk or ask a server for is refused
 * by it at once, and opened by a plain call; so is what cannot be opened, which tells
 * why.  Where most are like that, some bunches are not tried.
 */
#include "bfs/bulk_impl.h"

#include "os/ring.h"

enum {
	FEW = 4,                  /* directories for which it does not pay */
	READS_BEFORE = 8,         /* bunches, for a ring to pay */
	WORKERS = 1,              /* of the kernel: none has work here */
	PLAIN = 15,               /* bunches that are not tried */
	IN_VAIN = 4,              /* bunches of which nothing was opened, for the kernel to be
	                             held to be one that opens no directories so */
};

void together_init(struct together *together, struct os *os, bool wanted)
{
	*together = (struct together){
		.os = os,
		.none = !wanted || !(os->caps & OSC_OPENAT2),
	};
}

/** Do without a ring from now on. */
static void together_drop(struct together *together)
{
	os_ring_free(together->os, together->ring);
	together->ring = NULL;
	together->none = true;
}

void together_destroy(struct together *together)
{
	together_drop(together);
}

/** Whether so many directories are opened by a ring, which is then there. */
static bool together_pays(struct together *together, size_t n)
{
	if (together->none || n < FEW)
		return false;
	if (together->plain > 0) {
		--together->plain;
		return false;
	}
	if (together->ring)
		return true;
	if (++together->reads <= READS_BEFORE)
		return false;
	together->ring = os_ring_new(together->os, TOGETHER_MAX, WORKERS);
	together->none = !together->ring;
	return together->ring;
}

size_t together_open(struct together *together, struct bulk_dir *dirs, size_t n, int flags, uint64_t resolve)
{
	struct os_ring_open opens[TOGETHER_MAX];
	struct bulk_dir *whose[TOGETHER_MAX];
	size_t wanted = 0, opened = 0;
	for (size_t i = 0; i < n && wanted < TOGETHER_MAX; ++i) {
		if (dirs[i].fd >= 0 || !dirs[i].same_mount)
			continue;
		whose[wanted] = &dirs[i];
		opens[wanted++] = (struct os_ring_open){.dirfd = dirs[i].parentfd, .name = dirs[i].name};
	}
	if (!together_pays(together, wanted))
		return 0;
	int rc = os_ring_open(together->os, together->ring, flags, resolve, opens, wanted);
	++together->tried;
	for (size_t i = 0; i < wanted; ++i) {
		whose[i]->fd = opens[i].fd;
		opened += opens[i].fd >= 0;
	}
	together->opened |= opened > 0;
	if (rc != 0 || (together->tried == IN_VAIN && !together->opened))
		together_drop(together);
	else if (opened < wanted / 2)
		together->plain = PLAIN;
	return opened;
}
