/* SPDX-License-Identifier: MIT */
/**
 * An index that follows its file system: events of fanotify(7), and after a gap an update.
 *
 *     kernel --> index_watch_drain() --> places (events.h) --> index_watch_apply() --> store
 *
 * Between calls, no descriptor of the file system is open: it can be unmounted.
 */
#ifndef GM_INDEX_FOLLOW_WATCH_H
#define GM_INDEX_FOLLOW_WATCH_H

#include "index/follow/refresh.h"

struct index_watch;

/** Watch the file system of an index.  Then index_watch_apply() brings the index up to date.
    @index  Opened for writing; borrowed.
    @rootfd  The root of the index, not O_PATH; borrowed during the call.
    @return a watch, or NULL.  Errors: those of os_watch_files() and tree_load(). */
struct index_watch *index_watch_new(struct os *os, struct index *index, int rootfd);
void index_watch_free(struct index_watch *watch);

/** The descriptor that is readable while there are events; -1: they are gathered now, until
    index_watch_apply() is due. */
int index_watch_fd(const struct index_watch *watch);

/** Read events.  @return 0, or -1. */
int index_watch_drain(struct index_watch *watch);

/** When index_watch_apply() is to be called, as os_now(). */
double index_watch_due(const struct index_watch *watch);

/** Read the events that are left and store what all say, or update the index if events were
    lost; and commit.
    @rootfd  As in index_watch_new().  @covered  As in struct chain.
    @why [out]  What was done: events applied, or an update, at the start or since some were lost.
    @return 0, or -1. */
enum index_watch_why { WATCH_EVENTS, WATCH_START, WATCH_LOST };
int index_watch_apply(struct index_watch *watch, int rootfd, const struct map64 *covered,
                      enum index_watch_why *why, struct refresh_counts *counts);

#endif
