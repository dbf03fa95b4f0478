/* SPDX-License-Identifier: MIT */
/**
 * Keep an index up to date by the events of fanotify(7).  If events were lost, the whole index is
 * updated.
 *
 *     kernel --> index_watch_drain() --> places (events.h) --> index_watch_apply() --> store
 *
 * Between calls, no descriptor of the file system is open: it can be unmounted.
 */
#ifndef GM_INDEX_FOLLOW_WATCH_H
#define GM_INDEX_FOLLOW_WATCH_H

#include "index/follow/refresh.h"

struct index_watch;

/** Watch the file system of an index.  The first index_watch_apply() brings the index up to date.
    @index  Opened for writing; borrowed.
    @rootfd  The root directory of the index, not opened by O_PATH; borrowed during the call.
    @return a watch, or NULL.  Errors: those of os_watch_files() and tree_load(). */
struct index_watch *index_watch_new(struct os *os, struct index *index, int rootfd);
void index_watch_free(struct index_watch *watch);

/** Get the descriptor that becomes readable when there are events.
    @return -1: events were read, and more are awaited until index_watch_due(). */
int index_watch_fd(const struct index_watch *watch);

/** Read the available events.  @return 0, or -1. */
int index_watch_drain(struct index_watch *watch);

/** Get the time, as of os_now(), when to call index_watch_apply(). */
double index_watch_due(const struct index_watch *watch);

/** Read the remaining events, store the changes, and commit.  If events were lost, update the whole
    index instead.
    @rootfd  As in index_watch_new().  @covered  As in struct chain.
    @why [out]  WATCH_EVENTS: events were applied; else the index was updated, because the watch
    began, or events were lost.
    @return 0, or -1. */
enum index_watch_why { WATCH_EVENTS, WATCH_START, WATCH_LOST };
int index_watch_apply(struct index_watch *watch, int rootfd, const struct map64 *covered,
                      enum index_watch_why *why, struct refresh_counts *counts);

#endif
