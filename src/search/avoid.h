/* SPDX-License-Identifier: MIT */
/**
 * The mount points below directories, as one tree of names for each mount: a node is a component of
 * the path to a mount point.  It contains only mounts of interest, such as mounts that can block;
 * see search_mounts_place().  In a directory with a mount of interest below it, each name costs one
 * lookup; in other directories, nothing.  Pure.
 */
#ifndef GM_SEARCH_AVOID_H
#define GM_SEARCH_AVOID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	AVOID_NONE = 0,                   /* the node of a directory with no mount of interest below
	                                     it */
	AVOID_NO_MOUNT = UINT32_MAX,
};

/** The node of a directory for which it is unknown which mounts are below. */
#define AVOID_UNKNOWN (UINT32_MAX - 1)

struct avoid;

/** Create an object without trees.  @return NULL: ENOMEM. */
struct avoid *avoid_new(void);

/** Free the object; NULL is allowed. */
void avoid_free(struct avoid *avoid);

/** Add an empty tree for a mount.
    @mount  The number that avoid_mount() returns for the root.
    @return the node of the root, or AVOID_NONE.  Errors: ENOMEM. */
uint32_t avoid_add(struct avoid *avoid, uint32_t mount);

/** Add a mount point to the tree of a mount.
    @root  Node of the root of this mount.
    @path  Path of the mount point below the root; "": the root itself.
    @to  Node of the root of the mount on the mount point, or AVOID_UNKNOWN.
    @return 0, or -1.  Errors: ENOMEM. */
int avoid_lead(struct avoid *avoid, uint32_t root, const char *path, uint32_t to);

/** Find the node of a path in the tree of a mount, even if another mount covers the path.
    @return AVOID_NONE: no mount of interest is at or below the path. */
uint32_t avoid_find(const struct avoid *avoid, uint32_t root, const char *path);

/** Get the node that a name in the directory of a node leads to: at a mount point, the root of the
    topmost mount.
    @return AVOID_NONE: no mount of interest is at or below the name. */
uint32_t avoid_step(const struct avoid *avoid, uint32_t node, const char *name, size_t len);

/** Whether a mount of interest is, or may be, below a node. */
bool avoid_below(const struct avoid *avoid, uint32_t node);

/** The number of the mount whose root is this node; AVOID_NO_MOUNT: the node is not a root. */
uint32_t avoid_mount(const struct avoid *avoid, uint32_t node);

#endif
