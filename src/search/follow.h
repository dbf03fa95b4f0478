/* SPDX-License-Identifier: MIT */
/**
 * Following symbolic links component by component, so that nothing that can block is accessed and
 * no automount is triggered; and the ancestors of directories, so that loops are found.
 */
#ifndef GM_SEARCH_FOLLOW_H
#define GM_SEARCH_FOLLOW_H

#include "base/map64.h"
#include "base/strbuf.h"
#include "os/os.h"
#include "search/mounts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether reading a name in an accessible directory can block: fstype_dir_waits(). */
bool search_dir_waits(struct os *os, int dirfd, const char *name);

/** A directory, as far as it is known. */
struct follow_place {
	uint64_t mount;           /* its mount ID; 0: unknown */
	struct strbuf path;       /* from "/" of its namespace, without links; "": unknown */
};

/**
 * Resolve a path from a directory, through the links that the kernel would follow; magic links by
 * their text.
 *
 * @mounts
 *         NULL: everything may be accessed, and every link followed.
 * @dirfd
 *         Where a relative path begins.
 * @place
 *         That directory.  [out] that of the result; undefined after an error.
 * @target
 *         The path.
 * @return a descriptor made with O_PATH, not of a link, or -1.
 * Errors: EREMOTE: the path leads to or through a mount that can block and is not the one that
 *         is entered.  EXDEV: the mount is unknown.  ELOOP: more than 40 links, or one on a
 *         mount with nosymfollow.  EACCES: fs.protected_symlinks forbids to follow a link.
 *         ENAMETOOLONG, ENOMEM, those of openat2(2).
 */
int follow_path(struct os *os, const struct search_mounts *mounts, int dirfd,
                struct follow_place *place, const char *target);

/** The identity of a directory. */
struct seen_dir {
	uint64_t mount, dev, ino;
	uint64_t state;           /* the live states of the pattern in it */
	uint32_t parent;          /* the number of its parent; or SEEN_NONE */
	bool crossed;             /* it, or one it was reached through, is on a mount with
	                             MOUNT_CROSSED */
};

/** No directory. */
#define SEEN_NONE UINT32_MAX

/** The directories that were entered, numbered from 0. */
struct seen {
	struct seen_dir *dirs;
	uint32_t n;
	size_t size;
	struct map64 by_hash;     /* used by seen_once() */
};

/** Free the memory. */
void seen_destroy(struct seen *seen);

/** Whether a directory is its parent, or an ancestor of it. */
bool seen_above(const struct seen *seen, const struct seen_dir *dir);

/** Add a directory.  @return its number; or SEEN_NONE.  Errors: ENOMEM. */
uint32_t seen_add(struct seen *seen, const struct seen_dir *dir);

/** Add a directory to a set.  @return 0, or an error number.  Errors: EEXIST: it is in the set with
    the same state; ENOMEM. */
int seen_once(struct seen *seen, const struct seen_dir *dir);

#endif
