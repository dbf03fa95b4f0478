/* SPDX-License-Identifier: MIT */
/**
 * Bringing an index up to date: directories whose times changed are read again, others are not.
 *
 *     find       inodes that changed since the last update, if the file system can return them
 *     compare    each known directory by one statx(2), in threads, in preorder
 *     read       those that changed, in threads, a portion at a time, which one thread stores;
 *                new directories are walked, moved ones are recognized
 *     look       at the inodes that were found, or else at those with several names, once each
 *     remove     directories that were found nowhere
 *
 * A change within 3 seconds of the last reading of its directory is not trusted: the directory is
 * read again.  If the file system cannot return its inodes (look.h), a file that was modified in
 * place is not noticed, unless it has several names or its directory is read again for its age.
 */
#ifndef GM_INDEX_FOLLOW_UPDATE_H
#define GM_INDEX_FOLLOW_UPDATE_H

#include "index/follow/refresh.h"

struct index_update_opts {
	int rootfd;               /* the root of the index; borrowed */
	const struct map64 *covered;   /* as in struct chain */
	int64_t max_age;          /* seconds: directories that were last read earlier are read
	                             again; -1: any age */
	int64_t look_age;         /* as of look_find() */
	struct file_events *events;   /* as in struct refresh */
};

/** Bring an index up to date, commit, and fold what is worth it.
    @tree  All directories; NULL: they are loaded.
    @counts [out]
    @return 0, or -1.  Errors: ESTALE: rootfd is not the root of this index; those of store.h. */
int index_update(struct os *os, struct index *index, struct tree *tree,
                 const struct index_update_opts *opts, struct refresh_counts *counts);

#endif
