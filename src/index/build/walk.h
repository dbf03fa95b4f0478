/* SPDX-License-Identifier: MIT */
/**
 * Add the objects of a mount to an index that is built: a search finds the objects, and its threads
 * make their rows.
 *
 *     search: line() in each thread --> rows of a directory --> lines() --> index_build_put()
 *
 * Other mounts and nested subvolumes of btrfs are not entered.  A mount point is stored with its
 * name and type only (IF_LOST).  A directory that is a mount point or a subvolume has IF_UNREAD.
 */
#ifndef GM_INDEX_BUILD_WALK_H
#define GM_INDEX_BUILD_WALK_H

#include "index/build/build.h"

struct walk_options {
	const char *path;        /* path of the mount point, for messages */
	int rootfd;              /* the directory at this path */
	int engine;              /* search engine, SEARCH_ENGINE_* */
	unsigned threads;        /* number of threads; 0: one for each processor */
	int64_t begin;           /* the time before the walk, seconds since 1970 */
	/* Called with the progress before directories are read; or NULL. */
	void (*watch)(void *arg, uint64_t dirs, uint64_t objects, const char *where);
	/* Called if an object could not be examined; or NULL.  @source  SEARCH_ERR_*. */
	void (*report)(void *arg, const char *path, int source, int error);
	void *arg;
};

struct walk_counts {
	uint64_t objects, dirs;  /* numbers of objects that are not directories, of directories;
	                            without the root */
	uint64_t apart;          /* number of directories that were not entered: mount points,
	                            subvolumes */
	uint64_t errors;         /* number of directories that could not be read, and of objects
	                            whose attributes could not be read */
	int root_error;          /* the errno of reading the root directory; 0: it was read */
};

/** Add all objects of a mount.
    @counts [out]
    @return 0, or -1.  Errors: counts->root_error; those of index_build_add(). */
int index_walk(struct index_build *build, struct os *os, const struct walk_options *options,
               struct walk_counts *counts);

#endif
