/* SPDX-License-Identifier: MIT */
/**
 * Inodes to look at although the times of their directories have not changed: a file that is
 * modified in place changes only its own times.
 *
 *     bulk         where the file system can return all inodes (os/inodes.h): those whose ctime is
 *                  not earlier than the last time they were looked at
 *     otherwise    those with several names
 *
 * Each is looked at by a name that leads to it.
 */
#ifndef GM_INDEX_FOLLOW_LOOK_H
#define GM_INDEX_FOLLOW_LOOK_H

#include "index/follow/refresh.h"

struct look {
	bool is_bulk;             /* inos contains the inodes */
	uint64_t *inos;           /* ascending, without directories */
	size_t n;
	uint64_t generation;      /* of the file system, before they were found */
};

/** Find the inodes that have changed since the time of an index (index_info.looked).
    @look [out]  look_destroy() in any case.  @rootfd  The root of the index.
    @now  The time of day, before this call.
    @age  All inodes have to be requested (XFS): only if that was last done this many seconds ago or
    more.  0: request them in any case; -1: request none.
    @threads  At most OS_PARTS.
    @return 0, or -1 (ENOMEM). */
int look_find(struct look *look, struct os *os, int rootfd, const struct index_info *info,
              int64_t now, int64_t age, unsigned threads);
void look_destroy(struct look *look);

/** Look at the inodes, except where the directory was read before, and store what differs; of
    inodes with several names by refresh_links().  @return 0, or -1. */
int look_all(const struct look *look, struct refresh *refresh);

#endif
