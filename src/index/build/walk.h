/* SPDX-License-Identifier: MIT */
/**
 * The objects of a mount, for an index: found by a search, whose threads make their rows.
 *
 *     search: line() in each thread --> rows of a directory --> lines() --> index_build_put()
 *
 * Not entered are other mounts and nested subvolumes of btrfs.  A mount point is an object of which
 * only the name and the type count (IF_LOST); a directory that is one, or a subvolume, is
 * IF_UNREAD.
 */
#ifndef GM_INDEX_BUILD_WALK_H
#define GM_INDEX_BUILD_WALK_H

#include "index/build/build.h"

struct walk_options {
	const char *path;        /* of the mount point, to be printed */
	int rootfd;              /* the directory itself */
	int engine;              /* SEARCH_ENGINE_* */
	unsigned threads;        /* 0: one for each processor */
	int64_t begin;           /* the time of day, before the walk */
	/* Called before directories are read; or NULL. */
	void (*watch)(void *arg, uint64_t dirs, uint64_t objects, const char *where);
	/* An object could not be examined.  @source  SEARCH_ERR_*; or NULL. */
	void (*report)(void *arg, const char *path, int source, int error);
	void *arg;
};

struct walk_counts {
	uint64_t objects, dirs;  /* without the root */
	uint64_t apart;          /* mount points and subvolumes */
	uint64_t errors;         /* directories that could not be read, objects without
	                            attributes */
	int root_error;          /* an errno: the root cannot be read */
};

/** Walk a mount, and add all objects.
    @counts [out]
    @return 0, or -1.  Errors: counts->root_error; those of index_build_add(). */
int index_walk(struct index_build *build, struct os *os, const struct walk_options *options,
               struct walk_counts *counts);

#endif
