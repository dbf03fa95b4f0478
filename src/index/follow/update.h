/* SPDX-License-Identifier: MIT */
/**
 * Bring an index up to date.  Only directories whose times have changed are read again.
 *
 *     find       find the inodes that changed since the last update, if the file system can
 *                return them
 *     compare    compare each directory of the index by one statx(2), in threads, in preorder
 *     read       read the changed directories: threads gather the entries of some directories,
 *                then one thread stores them; new directories are walked, moved directories are
 *                recognized
 *     look       read the attributes of the found inodes, each once; if no inodes can be
 *                returned, of the inodes with several names
 *     remove     remove the directories that were not found anywhere
 *
 * A directory that changed less than INDEX_SETTLED seconds before it was last read is read again,
 * because its times may not show a later change.  If the file system cannot return its inodes
 * (look.h), a file that was modified in place is not noticed, unless it has several names, or its
 * directory is read again because of opts->max_age.
 */
#ifndef GM_INDEX_FOLLOW_UPDATE_H
#define GM_INDEX_FOLLOW_UPDATE_H

#include "index/follow/refresh.h"

struct index_update_opts {
	int rootfd;               /* root directory of the index; borrowed */
	const struct map64 *covered;   /* as in struct chain */
	int64_t max_age;          /* directories that were last read more than this many seconds ago
	                             are read again; -1: read only changed directories */
	int64_t look_age;         /* the argument `age` of look_find() */
	struct file_events *events;   /* as in struct refresh */
};

/** Bring an index up to date, commit, and fold if there are many changes.
    @tree  All directories of the index; NULL: load them.
    @counts [out]
    @return 0, or -1.  Errors: ESTALE: rootfd is not the root directory of this index; those of
    store.h. */
int index_update(struct os *os, struct index *index, struct tree *tree,
                 const struct index_update_opts *opts, struct refresh_counts *counts);

#endif
