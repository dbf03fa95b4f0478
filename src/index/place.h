/* SPDX-License-Identifier: MIT */
/**
 * Where indexes are, and which file systems have one.
 *
 * An index is of a directory of a file system, usually its root, and so independent of where and
 * how often the file system is mounted.  It is in a directory named by the UUID of the file system;
 * if another directory than "/" is its root (a btrfs subvolume, a bind mount of a file system that
 * is not mounted elsewhere), by the UUID, "." and a hash of that path.
 */
#ifndef GM_INDEX_PLACE_H
#define GM_INDEX_PLACE_H

#include "base/mount.h"
#include "index/store.h"
#include "os/os.h"

/** Open the directory that holds all indexes: /var/lib/getmnt/index for root, else
    XDG_CACHE_HOME/getmnt/index or ~/.cache/getmnt/index.
    @given  Of --index-dir; NULL: not given.
    @create  Make it, mode 0700, if it does not exist.
    @path [out]  Its path, for messages; initialized by the caller.
    @return a descriptor, or -1. */
int index_place_open(struct os *os, const char *given, bool create, struct strbuf *path);

enum place_why {
	PLACE_INDEX,             /* gets an index */
	PLACE_SAME,              /* a file system, or part of one, that another mount indexes */
	PLACE_PSEUDO, PLACE_NETWORK, PLACE_FUSE, PLACE_REMOVABLE, PLACE_SNAPSHOT,
	PLACE_MEMORY,            /* tmpfs: gone with the next boot */
	PLACE_HIDDEN,           /* not reachable by its path */
};

/** What becomes of each mount when `getmnt index build` names none (pure).
    @why [out]  n of them.
    @of [out]  n of them: with PLACE_SAME the index of that mount. */
void index_choose(const struct mount *mounts, size_t n, enum place_why *why, size_t *of);

/** A phrase for a reason, "a network file system". */
const char *index_why(enum place_why why);

/** The name of the directory of an index.  @uuid  "" is not allowed.  @out  Appended. */
void index_place_name(const char *uuid, const char *root, struct strbuf *out);

#endif
