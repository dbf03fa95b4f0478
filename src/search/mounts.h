/* SPDX-License-Identifier: MIT */
/**
 * The mounts that a search can reach, and the decision whether a mount may be accessed.
 *
 * A search knows the mount ID of each directory; struct avoid has the names in directories of this
 * mount that lead to further mounts.  Paths are compared only within one mount.  So the searched
 * tree may also be in another mount namespace, or be covered by a mount.
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
	MOUNT_LAST_POS = 1 << 1,  /* no position in its directories is beyond K_LAST_POS:
	                             FST_LAST_POS */
	MOUNT_NOSYMFOLLOW = 1 << 2,
	MOUNT_UNLISTED = 1 << 3,  /* FST_UNLISTED: a directory may not list a name that can be
	                             looked up in it */
	MOUNT_CROSSED = 1 << 4,   /* FST_LAST: symlinks in sysfs and proc lead to each other so
	                             often that there are practically infinitely many paths through
	                             them */
};

struct search_mount {
	uint64_t id, parent;
	uint32_t old_id;          /* 32-bit mount ID; 0: unknown */
	const char *point;        /* path of the mount point from "/" of its namespace; NULL:
	                             unknown */
	unsigned flags;           /* enum search_mount_flags */
	uint32_t fs;              /* 1 + index of its file system in search_mounts.fs; 0: not in
	                             `fs` */
	uint32_t root;            /* node of its root in search_mounts.avoid, AVOID_NONE or
	                             AVOID_UNKNOWN */
	const char *type;         /* file system type; NULL: unknown */
	/* Of a mount that may be delegated, as in struct mount; otherwise NULL: */
	const char *source, *dir, *opts;   /* dir: root directory of the mount in its file system */
};

/** A set of mounts, called "table of mounts" in comments.  A node in the table of mounts is a node
    of `avoid`. */
struct search_mounts {
	bool any;                 /* every mount may be entered */
	bool unique;              /* mount IDs have 64 bits */
	bool nosymfollow;         /* a mount has the option nosymfollow */
	bool protected_links;     /* the sysctl fs.protected_symlinks is set */
	struct search_mount *list;
	uint32_t n;
	size_t size;
	struct map64 by_id;       /* mount ID -> index in list */
	struct avoid *avoid;      /* tree of the paths to mounts; may omit mounts, see
	                             search_mounts_place() */
	struct arena points;
	struct bfs_fs **fs;       /* file systems with a bulk interface for attributes; owned */
	uint32_t nfs;
	const char *exclude_types;   /* do not enter mounts of these types, separated by commas;
	                                "fuse" stands for "fuse.sshfs" too.  NULL: no type is
	                                excluded */
	uint64_t top;             /* ID of the mount of "/"; 0: unknown */
	uint64_t entered;         /* ID of the mount of the given root, which is entered even if it
	                             can block; 0: unknown */
	/**
	 * Read the mounts again, including the mounts of another mount namespace.  May be NULL.
	 *
	 * @id      32-bit ID of a mount in this namespace; 0: read only the mounts of this process.
	 * @now     [out]
	 * @return  0, or -1.  Errors: ENOENT: no process is in a namespace with this mount; ENOMEM.
	 */
	int (*read)(struct os *os, uint64_t id, struct search_mounts *now);
};

/** Initialize an empty set.  @return 0, or -1.  Errors: ENOMEM. */
int search_mounts_init(struct search_mounts *mounts);

/** Free the members. */
void search_mounts_destroy(struct search_mounts *mounts);

/** Add a mount, unless a mount with its ID exists.
    @mount  Copied; `root` is set by search_mounts_place().
    @return 0, or -1.  Errors: ENOMEM. */
int search_mounts_add(struct search_mounts *mounts, const struct search_mount *mount);

/**
 * Add mounts to `avoid`, with the mounts that lead to them or cover them.  Sets search_mount.root.
 *
 * @from    Index of the first mount to add, in `list`, where parents come before children.
 * @all     Add each mount; false: only mounts that can block or are MOUNT_UNLISTED.
 * @return  0, or -1.  Errors: ENOMEM.
 */
int search_mounts_place(struct search_mounts *mounts, uint32_t from, bool all);

/** Call search_mounts_place() again for all mounts, with all = true.  @return 0, or -1. */
int search_mounts_place_all(struct search_mounts *mounts);

/**
 * Get the path of a mount point below a directory.
 *
 * @node, path  The directory: its node in `avoid`, and its path from "/" of the namespace.
 * @i           Index of the mount.
 * @return      The path below the directory, "/a/b"; NULL: the mount is not below the directory, is
 *              covered, or is below a further mount.
 */
const char *search_mount_below(const struct search_mounts *mounts, uint32_t node, const char *path,
                               uint32_t i);

/** Find the mount with an ID; NULL: no such mount. */
const struct search_mount *search_mount_find(const struct search_mounts *mounts, uint64_t id);

/** Find the mount whose root is a node of `avoid`; NULL: the node is not a root. */
const struct search_mount *search_mount_at(const struct search_mounts *mounts, uint32_t node);

/** Whether a further mount is, or may be, mounted on a directory of a mount or below this
    directory.
    @id  ID of the mount that contains the directory.
    @path  Path of the directory from "/" of the namespace; "": unknown. */
bool search_mounts_below(const struct search_mounts *mounts, uint64_t id, const char *path);

/** Check whether a mount may be accessed.
    @return 0: it may, or mount IDs are not available; EREMOTE: the mount can block, and is not the
    mount of the given root; EXDEV: the mount is unknown. */
int search_mounts_refuse(const struct search_mounts *mounts, const struct os *os, uint64_t id);

/** Whether a name that leads to a node must not be accessed, because the node is the root of a
    mount that can block. */
bool search_mounts_blocked(const struct search_mounts *mounts, uint32_t node);

/** Whether a mount must not be entered because of its type, which is not an error.
    @m  NULL: unknown mount, false. */
bool search_mount_excluded(const struct search_mounts *mounts, const struct search_mount *m);

/** Get the node of a directory.
    @id  ID of the directory's mount.
    @path  Path of the directory from "/" of that mount's namespace; "": unknown. */
uint32_t search_mounts_node(const struct search_mounts *mounts, uint64_t id, const char *path);

/** Get the node of the root of the mount with an ID. */
uint32_t search_mounts_root(const struct search_mounts *mounts, uint64_t id);

/** Find the mount that contains a directory: the mount with this ID, if its mount point is the
    directory or above it, or else the nearest such parent mount.
    @path  Path of the directory.
    @return NULL: unknown. */
const struct search_mount *search_mount_up(const struct search_mounts *mounts, uint64_t id,
                                           const char *path);

#endif
