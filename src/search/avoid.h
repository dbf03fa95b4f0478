/* SPDX-License-Identifier: MIT */
/**
 * Where mounts are, as one tree of names for each mount: which name in which directory of a mount
 * leads to which other mount.  A directory costs nothing unless a mount of interest is below it,
 * and then one lookup for each name.  Pure.
 */
#ifndef GM_SEARCH_AVOID_H
#define GM_SEARCH_AVOID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	AVOID_NONE = 0,                   /* no mount of interest is below */
	AVOID_NO_MOUNT = UINT32_MAX,
};

/** It is unknown which mounts are below. */
#define AVOID_UNKNOWN (UINT32_MAX - 1)

struct avoid;

/** Create an empty forest.  @return it, or NULL.  Errors: ENOMEM. */
struct avoid *avoid_new(void);

/** Free it; NULL is allowed. */
void avoid_free(struct avoid *avoid);

/** Add the tree of a mount.  @return the node of its root, or AVOID_NONE.  Errors: ENOMEM. */
uint32_t avoid_add(struct avoid *avoid, uint32_t mount);

/** Add that a path in the tree of a mount leads to the root of another mount; a path of "" is the
    root itself.  @to  Its node, or AVOID_UNKNOWN.  @return 0, or -1.  Errors: ENOMEM. */
int avoid_lead(struct avoid *avoid, uint32_t root, const char *path, uint32_t to);

/** The node of a path in the tree of a mount, even if another mount covers it; or AVOID_NONE. */
uint32_t avoid_find(const struct avoid *avoid, uint32_t root, const char *path);

/** The node that a name in the directory of another node leads to, or AVOID_NONE. */
uint32_t avoid_step(const struct avoid *avoid, uint32_t node, const char *name, size_t len);

/** Whether a mount of interest is, or may be, below a node. */
bool avoid_below(const struct avoid *avoid, uint32_t node);

/** The mount whose root a node is, or AVOID_NO_MOUNT. */
uint32_t avoid_mount(const struct avoid *avoid, uint32_t node);

#endif
