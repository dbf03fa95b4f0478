/* SPDX-License-Identifier: MIT */
/**
 * Find the inodes whose attributes must be read although the times of their directories have not
 * changed: a file that is modified in place changes only its own times.
 *
 *     bulk         if the file system can return all inodes (os/inodes.h): the inodes whose ctime
 *                  is not earlier than the last reading of all attributes (index_info.looked)
 *     otherwise    the inodes with several names
 *
 * The attributes of an inode are read by a name that the index has for the inode.
 */
#ifndef GM_INDEX_FOLLOW_LOOK_H
#define GM_INDEX_FOLLOW_LOOK_H

#include "index/follow/refresh.h"

struct look {
	bool is_bulk;             /* `inos` has all changed inodes */
	uint64_t *inos;           /* numbers of the changed inodes, ascending; no directories */
	size_t n;
	uint64_t generation;      /* generation of the file system before the inodes were
	                             requested */
};

/** Find the inodes that changed since the attributes of an index were read (index_info.looked).
    @look [out]  Call look_destroy(), also after an error.
    @rootfd  The root directory of the index.
    @now  The time before this call, in seconds since 1970.
    @age  XFS cannot return only changed inodes: request them all only if the last request was at
          least this many seconds ago.  0: always request inodes; -1: never, for all types of file
          systems.
    @threads  At most OS_PARTS.
    @return 0, or -1 (ENOMEM). */
int look_find(struct look *look, struct os *os, int rootfd, const struct index_info *info,
              int64_t now, int64_t age, unsigned threads);
void look_destroy(struct look *look);

/** Read the attributes of the inodes, except in directories that were read before, and store the
    differences.  The attributes of inodes with several names are left to refresh_links().
    @return 0, or -1. */
int look_all(const struct look *look, struct refresh *refresh);

#endif
