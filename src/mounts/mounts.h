/* SPDX-License-Identifier: MIT */
/**
 * The mounts of a run: which of them can block.
 *
 * A system call on a file system that can block may never return.  One can block because of its
 * type (network, FUSE, autofs, unknown ...), its device (suspended, remote, or a loop device on a
 * file that can block), or the paths that it depends on (the layers of an overlay).  A mount is
 * "behind" another one that can block if that is an ancestor, and the mount is not just stacked on
 * the ancestor's root.
 *
 * This is the only answer to that question; mounts/paths.h gives it for paths.
 */
#ifndef GM_MOUNTS_MOUNTS_H
#define GM_MOUNTS_MOUNTS_H

#include "devmap.h"
#include "mounts/table.h"
#include "mounttree.h"
#include "os/os.h"

struct mounts {
	/* Set by the caller; valid as long as this: */
	struct os *os;
	struct devmap *devs;       /* finds which devices can block; NULL: none can */
	const struct mount_table *table;
	struct mtree *tree;        /* over table->mounts */
	uint32_t root;             /* the node of the root of the run, or MT_NONE */
	int rootfd;                /* that root; AT_FDCWD: this process's root */
	const char *prefix;        /* its path in the table, or "/" */
	int procfd;                /* where mountinfo was read, for reading it again */
	const char *procpath;
	bool lets_expire;          /* mounts on automount triggers are behind these too: a lookup
	                              through a trigger restarts its idle time */
	bool unjudged;             /* mtree_judge() was not called: it is not known which mounts
	                              are covered */
	bool trusts_root;          /* the device of the root is taken for one that cannot block */

	bool failed;               /* memory ran out: all mounts are assumed to block */
	bool closed;               /* mounts_close() */

	/* Private: blocking.c */
	uint8_t *flags;            /* of each node; NULL: not known yet */
	struct mounts_dependency *dependencies;   /* mounts that depend on a path */
	size_t ndependencies, dependencies_room;
	struct mount_table *more;  /* records that were read again, of nodes of the tree */
};

/** Free what the functions below have allocated. */
void mounts_destroy(struct mounts *mounts);

/** Find nothing more, because what the caller has set will not be valid any more: if it is not
    known which mounts can block, all of them can. */
void mounts_close(struct mounts *mounts);

/** Move the results of `from` to `to`, another tree of the same table without results, whose root
    is at or below that of `from`. */
void mounts_adopt(struct mounts *to, struct mounts *from);

/** Find which mounts can block, unless that is known; the functions below do it too.
    @return 0, or -1.  Errors: ENOMEM. */
int mounts_find_blocking(struct mounts *mounts);

/** Whether it was found which mounts can block. */
bool mounts_are_known(const struct mounts *mounts);

/** Whether a mount, or a mount on its path, can block; true if memory ran out. */
bool mounts_block(struct mounts *mounts, uint32_t node);

/** Whether a mount can block by itself, wherever it is. */
bool mounts_block_itself(struct mounts *mounts, uint32_t node);

/** Whether a mount on the path of a mount can block. */
bool mounts_block_before(struct mounts *mounts, uint32_t node);

/** Whether even statx(2) of a mount's root can block. */
bool mounts_no_look(struct mounts *mounts, uint32_t node);

/** Take a mount for one that can block, because it did not answer, or its state is not known. */
void mounts_assume(struct mounts *mounts, uint32_t node);

/** Take a mount for one that is behind a mount that can block. */
void mounts_assume_behind(struct mounts *mounts, uint32_t node);

/** Propagate a property from mounts to the mounts below them, except stacked mounts, and to mounts
    that depend on them by a path.  Call mounts_find_blocking() before.
    @apply  Copies the property from `on` to `node`.  @return whether `node` changed. */
void mounts_propagate(const struct mounts *mounts,
                      bool (*apply)(void *arg, uint32_t node, uint32_t on, bool below), void *arg);

/** Whether the name of a loop device's backing file refers to that file: proven, or unprovable
    while no FUSE file system is hidden.  See devmap_file_here(). */
bool mounts_loop_here(const struct mounts *mounts, uint32_t major, uint32_t minor);

/** Whether a mount can block by its type, which is all that its record alone says. */
bool mount_type_blocks(const struct mount *mount);

/** Whether a file system on a path can block by its type, before anything else is known.  That of
    "/" is touched anyway, and not considered. */
bool mounts_type_blocks(const struct mount_table *table, const char *path);

/** Create a map of devices that uses /sys, /run, /dev and /proc only if they cannot block.
    @own  The table of this process, with points and types; NULL: mountinfo is read.
    @return as devmap_new(). */
struct devmap *mounts_devmap(struct os *os, const struct mount_table *own);

#endif
