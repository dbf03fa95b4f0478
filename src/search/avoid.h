/* SPDX-License-Identifier: MIT */
/**
 * Places that a search must not access: mount points of mounts that can block, as a tree of
 * names.  A directory costs nothing unless a place is below it, and then one lookup for each
 * name.  Pure.
 */
#ifndef GM_SEARCH_AVOID_H
#define GM_SEARCH_AVOID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No place is here or below. */
#define AVOID_NONE 0

struct avoid;

/** Create an empty tree.  @return the tree, or NULL.  Errors: ENOMEM. */
struct avoid *avoid_new(void);

/** Free a tree; NULL is allowed. */
void avoid_free(struct avoid *avoid);

/** Add an absolute path.  @return 0, or -1.  Errors: ENOMEM. */
int avoid_add(struct avoid *avoid, const char *path);

/** The node of an absolute path, or AVOID_NONE. */
uint32_t avoid_find(const struct avoid *avoid, const char *path);

/** The node of a name in the directory of another node, or AVOID_NONE. */
uint32_t avoid_step(const struct avoid *avoid, uint32_t node, const char *name, size_t len);

/** Whether a place is below a node. */
bool avoid_below(const struct avoid *avoid, uint32_t node);

/** Whether a node is a place itself. */
bool avoid_here(const struct avoid *avoid, uint32_t node);

/** The nearest place that is an absolute path or above it; AVOID_NONE: none. */
uint32_t avoid_cover(const struct avoid *avoid, const char *path);

#endif
