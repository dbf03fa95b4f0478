/* SPDX-License-Identifier: MIT */
/**
 * The mounts that a search can meet, and the one decision about each: may it be accessed.
 *
 * A directory is on a mount, which is known by its ID; the table of mounts says which name in it
 * leads to which other mount.  So the tree that is searched may be anywhere: in another mount
 * namespace, or below a mount that covers it.  Paths are compared only within one mount.
 */
#ifndef GM_SEARCH_MOUNTS_H
#define GM_SEARCH_MOUNTS_H

#include "base/arena.h"
#include "base/map64.h"
#include "bfs.h"
#include "os/os.h"
#include "search/avoid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Properties of a mount. */
enum search_mount_flags {
	MOUNT_BLOCKS = 1 << 0,
	MOUNT_LAST_POS = 1 << 1,  /* K_LAST_POS is the end of its directories */
	MOUNT_NOSYMFOLLOW = 1 << 2,
	MOUNT_UNLISTED = 1 << 3,  /* FST_UNLISTED */
	MOUNT_CROSSED = 1 << 4,   /* FST_LAST: links of sysfs and proc cross each other so often
	                             that the paths through them are practically infinite */
};

struct search_mount {
	uint64_t id, parent;
	uint32_t old_id;          /* the 32-bit ID; 0: unknown */
	const char *point;        /* its path from "/" of its namespace; NULL: unknown */
	unsigned flags;           /* enum search_mount_flags */
	uint32_t fs;              /* the number of its file system in fs, from 1; 0: none */
	uint32_t root;            /* its node in avoid, AVOID_NONE or AVOID_UNKNOWN */
	const char *type;         /* of its file system; NULL: unknown */
	/* Of a mount that may be delegated, see struct mount; else NULL: */
	const char *source, *dir, *opts;   /* dir: the directory of the file system */
};

/** The mounts, and their properties. */
struct search_mounts {
	bool any;                 /* every mount may be entered */
	bool unique;              /* mount IDs have 64 bits */
	bool nosymfollow;         /* a mount has this option */
	bool protected_links;     /* the sysctl fs.protected_symlinks */
	struct search_mount *list;
	uint32_t n;
	size_t size;
	struct map64 by_id;       /* mount ID -> index in list */
	struct avoid *avoid;      /* where the mounts are; not all are in it */
	struct arena points;
	struct bfs_fs **fs;       /* file systems with a bulk interface; owned */
	uint32_t nfs;
	const char *exclude_types;   /* do not enter mounts of these types, separated by commas; a
	                             type without its ".subtype" matches too.  NULL: none */
	uint64_t top;             /* the mount of "/"; 0: unknown */
	uint64_t entered;         /* the mount of the root, which is entered even if it can
	                             block; 0: unknown */
	/**
	 * Read the mounts again, with those of the namespace of another mount; or NULL.
	 *
	 * @id      The 32-bit ID of that mount; 0: only those of this process.
	 * @return  0, or -1.  Errors: ENOENT: no namespace of a process has it; ENOMEM.
	 */
	int (*read)(struct os *os, uint64_t id, struct search_mounts *now);
};

/** Initialize an empty set.  @return 0, or -1.  Errors: ENOMEM. */
int search_mounts_init(struct search_mounts *mounts);

/** Free the members. */
void search_mounts_destroy(struct search_mounts *mounts);

/** Add a mount, unless its ID is known.  @mount  Copied; `root` is set later.
    @return 0, or -1.  Errors: ENOMEM. */
int search_mounts_add(struct search_mounts *mounts, const struct search_mount *mount);

/**
 * Find where the mounts are that were added since a number, parents before children.
 *
 * @all     Each mount is of interest; else those that can block or are MOUNT_UNLISTED.
 * @return  0, or -1.  Errors: ENOMEM.
 */
int search_mounts_place(struct search_mounts *mounts, uint32_t from, bool all);

/** Find again where all mounts are, as if each were of interest.  @return as above. */
int search_mounts_place_all(struct search_mounts *mounts);

/**
 * Where a mount is below a directory.
 *
 * @node, path  The directory: its node, and its path from "/" of the namespace.
 * @i           The index of the mount.
 * @return      The path of its mount point below the directory, "/a/b"; NULL: it is not there, is
 *              covered, or another mount is between.
 */
const char *search_mount_below(const struct search_mounts *mounts, uint32_t node, const char *path,
                               uint32_t i);

/** The mount with an ID, or NULL. */
const struct search_mount *search_mount_find(const struct search_mounts *mounts, uint64_t id);

/** The mount whose root a node is, or NULL. */
const struct search_mount *search_mount_at(const struct search_mounts *mounts, uint32_t node);

/** Whether another mount is, or may be, on a mount at or below a directory.
    @path  Its path from "/" of the namespace; "": unknown. */
bool search_mounts_below(const struct search_mounts *mounts, uint64_t id, const char *path);

/** Why a mount must not be accessed: EREMOTE: it can block, and is not that of the root; EXDEV: it
    is unknown.  0: it may be; also without mount IDs. */
int search_mounts_refuse(const struct search_mounts *mounts, const struct os *os, uint64_t id);

/** Whether a name that leads to a node must not be accessed: the mount there can block. */
bool search_mounts_blocked(const struct search_mounts *mounts, uint32_t node);

/** Whether a mount must not be entered because of its type, which is not an error; NULL: no. */
bool search_mount_excluded(const struct search_mounts *mounts, const struct search_mount *m);

/** The node of a directory.  @id  Its mount.  @path  Its path from "/" of that mount's namespace;
    "": unknown. */
uint32_t search_mounts_node(const struct search_mounts *mounts, uint64_t id, const char *path);

/** The node of the root of a mount. */
uint32_t search_mounts_root(const struct search_mounts *mounts, uint64_t id);

/** The mount that contains a directory on or above a mount: this mount or the nearest parent at or
    above the path; NULL: unknown. */
const struct search_mount *search_mount_up(const struct search_mounts *mounts, uint64_t id,
                                           const char *path);

#endif
