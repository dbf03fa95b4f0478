/* SPDX-License-Identifier: MIT */
/**
 * Shared by `getmnt index update` and `getmnt index watch`.
 */
#ifndef GM_CMD_INDEX_LIVE_H
#define GM_CMD_INDEX_LIVE_H

#include "base/map64.h"
#include "cmd/index/index.h"
#include "index/refresh.h"

/** Collect the last components of all mount points, for chain.covered.
    @covered [in,out]  Replaced.  @return 0, or -1: covered is unchanged. */
int live_covered(struct os *os, struct map64 *covered);

/** Print the result of an update.  @title  The title of the index. */
void live_print(const char *title, const struct refresh_counts *counts, double seconds);

/** Whether an index can be updated: it is open, and its file system is mounted.
    @named  An operand names the index: an error if its file system is not mounted.
    @status [in,out]  An exit status.  @return false after a message. */
bool live_usable(const struct index_run *ir, const struct index_found *found, bool named,
                 int *status);

#endif
