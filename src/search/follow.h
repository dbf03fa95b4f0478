/* SPDX-License-Identifier: MIT */
/**
 * Symbolic links of a search, followed by hand: name by name, so that nothing
 * on the way is touched that can block, and no automount is triggered; and the
 * directories that were seen, so that none is entered for ever.
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

/** What is known of a mount: that it can block, or else where its directories end. */
enum mount_known {
	MOUNT_BLOCKS,
	MOUNT_ENDS_READ,          /* where a read gives nothing */
	MOUNT_ENDS_LAST_POS,      /* at K_LAST_POS too */
};

/** What is known of the mounts. */
struct search_mounts {
	struct avoid *avoid;      /* points of mounts that can block; owned */
	struct map64 known;       /* mount ID -> enum mount_known */
	bool unique;              /* these are 64-bit IDs */
	/* Read them as they are now; or NULL.  @return 0, or -1.  Errors: ENOMEM. */
	int (*again)(struct os *os, struct search_mounts *now);
	/* One that can block is entered: that of a root, which was named. */
	uint32_t entered;         /* its place in avoid, or AVOID_NONE */
	uint64_t entered_id;      /* its mount ID; 0: not known */
};

/** Free what it holds. */
void search_mounts_destroy(struct search_mounts *mounts);

/** Why a mount may not be entered: EREMOTE: it can block; EXDEV: it is not known, since it was
    made after the mounts were read.  0: it may; so may any where mount IDs are not told. */
int search_mounts_refuse(const struct search_mounts *mounts, const struct os *os, uint64_t id);

/** Whether a mount is one whose directories have nothing at K_LAST_POS. */
bool search_mounts_last_pos(const struct search_mounts *mounts, const struct os *os, uint64_t id);

/** Whether a name in a directory is that of one that waits to be read: fstype_dir_waits().
    The directory is one that may be touched. */
bool search_dir_waits(struct os *os, int dirfd, const char *name);

/**
 * Follow a path from a directory, through links but no magic ones.
 *
 * @mounts
 *         NULL: everything may be touched.
 * @dirfd
 *         Where a relative path begins.
 * @place
 *         The path of that directory from "/", through no link; "" where it is
 *         not known: then the path leads to no other mount but from "/".
 *         [out] that of what was reached; not to be used after a failure.
 * @target
 *         The path.
 * @return a descriptor made with O_PATH, of what is no link, or -1.
 * Errors: EREMOTE: the path leads to, or through, a mount that can block, and is
 *         not the one that is entered.  EXDEV: the mount is not known.  ELOOP: more than 40 links.  ENAMETOOLONG, ENOMEM, those
 *         of openat2(2).
 */
int follow_path(struct os *os, const struct search_mounts *mounts, int dirfd,
                struct strbuf *place, const char *target);

/** What makes a directory one and the same, and another of its kind. */
struct seen_dir {
	uint64_t mount, dev, ino;
	uint64_t state;           /* of the search there */
	uint32_t parent;          /* its number among those seen; or SEEN_NONE */
};

/** No directory. */
#define SEEN_NONE UINT32_MAX

/** Directories that were seen, each with a number from 0 on. */
struct seen {
	struct seen_dir *dirs;
	uint32_t n, size;
	struct map64 by_hash;
};

/** Make an empty set. */
void seen_init(struct seen *seen);

/** Free its memory; it is empty then. */
void seen_destroy(struct seen *seen);

/** Whether a directory is the one of this number, or one above it. */
bool seen_above(const struct seen *seen, uint32_t number, const struct seen_dir *dir);

/**
 * Add a directory, unless it was seen in the same state.
 *
 * @fresh [out]
 *         Whether it was not.
 * @return its number; or SEEN_NONE.  Errors: ENOMEM.
 */
uint32_t seen_add(struct seen *seen, const struct seen_dir *dir, bool *fresh);

#endif
