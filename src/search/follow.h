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
#include "search/avoid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Properties of a mount: flags, and the number of its file system. */
enum mount_known {
	MOUNT_BLOCKS = 1 << 0,
	MOUNT_LAST_POS = 1 << 1,  /* K_LAST_POS is the end of its directories */
	MOUNT_NOSYMFOLLOW = 1 << 2,
	MOUNT_FS = 1 << 3,        /* multiplied by the number of its file system in fs, from 1 */
};

/** The mounts, and their properties. */
struct search_mounts {
	bool any;                 /* every mount may be entered */
	struct avoid *avoid;      /* mount points of mounts that can block; owned */
	struct avoid *unlisted;   /* mount points of types with FST_UNLISTED; owned */
	struct map64 known;       /* mount ID -> enum mount_known */
	bool unique;              /* mount IDs have 64 bits */
	bool nosymfollow;         /* a mount has this option */
	bool protected_links;     /* the sysctl fs.protected_symlinks */
	struct bfs_fs **fs;       /* file systems with a bulk interface; owned */
	uint32_t nfs;
	/* Read the mounts again; or NULL.  @return 0, or -1.  Errors: ENOMEM. */
	int (*again)(struct os *os, struct search_mounts *now);
	/* A mount that can block, but is entered because a root is on it. */
	uint32_t entered;         /* its node in avoid, or AVOID_NONE */
	uint64_t entered_id;      /* its mount ID; 0: unknown */
};

/** Free the members. */
void search_mounts_destroy(struct search_mounts *mounts);

/** Why a mount must not be entered: EREMOTE: it can block; EXDEV: it is unknown, because it was
    mounted after the mounts were read.  0: it may be; also without mount IDs. */
int search_mounts_refuse(const struct search_mounts *mounts, const struct os *os, uint64_t id);

/** Whether reading a name in an accessible directory can block: fstype_dir_waits(). */
bool search_dir_waits(struct os *os, int dirfd, const char *name);

/**
 * Resolve a path from a directory, through the links that the kernel would follow; magic links by
 * their text.
 *
 * @mounts
 *         NULL: everything may be accessed, and every link followed.
 * @dirfd
 *         Where a relative path begins.
 * @place
 *         The path of that directory from "/", without links; "": unknown, and the path leads
 *         to other mounts only from "/".  [out] that of the result; undefined after an error.
 * @target
 *         The path.
 * @return a descriptor made with O_PATH, not of a link, or -1.
 * Errors: EREMOTE: the path leads to or through a mount that can block and is not the one that
 *         is entered.  EXDEV: the mount is unknown.  ELOOP: more than 40 links, or one on a
 *         mount with nosymfollow.  EACCES: fs.protected_symlinks forbids to follow a link.
 *         ENAMETOOLONG, ENOMEM, those of openat2(2).
 */
int follow_path(struct os *os, const struct search_mounts *mounts, int dirfd,
                struct strbuf *place, const char *target);

/** The identity of a directory. */
struct seen_dir {
	uint64_t mount, dev, ino;
	uint32_t parent;          /* the number of its parent; or SEEN_NONE */
};

/** No directory. */
#define SEEN_NONE UINT32_MAX

/** The directories that were entered, numbered from 0. */
struct seen {
	struct seen_dir *dirs;
	uint32_t n;
	size_t size;
};

/** Whether a directory is its parent, or an ancestor of it. */
bool seen_above(const struct seen *seen, const struct seen_dir *dir);

/** Add a directory.  @return its number; or SEEN_NONE.  Errors: ENOMEM. */
uint32_t seen_add(struct seen *seen, const struct seen_dir *dir);

#endif
