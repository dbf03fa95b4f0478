/* SPDX-License-Identifier: MIT */
/**
 * What `getmnt index update` and `getmnt index watch` share.
 */
#ifndef GM_CMD_INDEX_LIVE_H
#define GM_CMD_INDEX_LIVE_H

#include "base/map64.h"
#include "cmd/index/index.h"
#include "index/refresh.h"

/** The last components of all mount points, as struct chain has them.
    @covered [in,out]  Replaced.  @return 0, or -1: it is unchanged. */
int live_covered(struct os *os, struct map64 *covered);

/** Print what an update has found.  @title  Of the index. */
void live_print(const char *title, const struct refresh_counts *counts, double seconds);

/** Whether an index can be brought up to date: it is open, and its file system is mounted.
    @named  It was named: not to be mounted is an error.
    @status [in,out]  An exit status.  @return false after a message. */
bool live_usable(const struct index_run *ir, const struct index_found *found, bool named,
                 int *status);

#endif
