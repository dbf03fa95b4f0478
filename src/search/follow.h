/* SPDX-License-Identifier: MIT */
/**
 * Follow symbolic links component by component, so that no mount that can block is accessed and no
 * automount is triggered.  Find loops by remembering the ancestors of directories.
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

/** Whether reading the directory `name` in dirfd can block, as /proc/PID/map_files does; see
    fstype_dir_waits(). */
bool search_dir_waits(struct os *os, int dirfd, const char *name);

/** The mount and path of a directory, as far as they are known. */
struct follow_place {
	uint64_t mount;           /* mount ID; 0: unknown */
	struct strbuf path;       /* path from "/" of the mount's namespace, without symlinks; "":
	                             unknown */
};

/**
 * Resolve a path through the symlinks that the kernel would follow.  Magic links of /proc are
 * followed by their text.
 *
 * @mounts
 *         NULL: everything may be accessed, and every symlink is followed.
 * @dirfd
 *         The directory at which a relative path begins.
 * @place
 *         Mount and path of dirfd; [out] of the result; undefined after an error.
 * @target
 *         The path to resolve.
 * @return a descriptor of the result made with O_PATH, or -1.  The result is not a symlink.
 * Errors: EREMOTE: the path leads to or through a mount that can block and is not
 *         mounts->entered.  EXDEV: a mount is unknown.  ELOOP: more than 40 symlinks, or a symlink
 *         on a mount with nosymfollow.  EACCES: fs.protected_symlinks forbids to follow a symlink.
 *         ENAMETOOLONG, ENOMEM, errors of openat2(2).
 */
int follow_path(struct os *os, const struct search_mounts *mounts, int dirfd,
                struct follow_place *place, const char *target);

/** The identity of a directory. */
struct seen_dir {
	uint64_t mount, dev, ino;
	uint64_t state;           /* live states of the pattern in the directory, or a hash of
	                             them */
	uint32_t parent;          /* number of the parent directory; or SEEN_NONE */
	bool crossed;             /* the directory, or a directory that leads to it, is on a
	                             MOUNT_CROSSED mount */
};

/** No directory: a value for numbers of directories. */
#define SEEN_NONE UINT32_MAX

/** The directories that were entered, numbered from 0. */
struct seen {
	struct seen_dir *dirs;
	uint32_t n;
	size_t size;
	struct map64 by_hash;     /* hash -> number; filled by seen_once() only */
};

/** Free the memory. */
void seen_destroy(struct seen *seen);

/** Whether a directory is its own ancestor: compare with its parent, and so on upwards. */
bool seen_above(const struct seen *seen, const struct seen_dir *dir);

/** Add a directory.  @return its number; or SEEN_NONE.  Errors: ENOMEM. */
uint32_t seen_add(struct seen *seen, const struct seen_dir *dir);

/** Add a directory, unless an equal one was added.  seen_add() must not be used for the same
    `seen`.
    @return 0, or an error number.  Errors: EEXIST: the same directory with the same `state` was
    added before; ENOMEM. */
int seen_once(struct seen *seen, const struct seen_dir *dir);

#endif
