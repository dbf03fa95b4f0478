/* SPDX-License-Identifier: MIT */
/**
 * Places that a search must not touch: mount points of what can block, as a
 * tree of names, so that a directory costs nothing unless one lies below it,
 * and then a name a step, however many of them lie there.
 * Pure.
 */
#ifndef GM_SEARCH_AVOID_H
#define GM_SEARCH_AVOID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No place to be avoided lies here or below. */
#define AVOID_NONE 0

struct avoid;

/** Make an empty tree.  @return it, or NULL.  Errors: ENOMEM. */
struct avoid *avoid_new(void);

/** Free a tree; NULL is fine. */
void avoid_free(struct avoid *avoid);

/** Add an absolute path.  @return 0, or -1.  Errors: ENOMEM. */
int avoid_add(struct avoid *avoid, const char *path);

/** Where an absolute path stands in the tree: AVOID_NONE or a node. */
uint32_t avoid_find(const struct avoid *avoid, const char *path);

/** Where a name in the directory of a node stands: AVOID_NONE or a node. */
uint32_t avoid_step(const struct avoid *avoid, uint32_t node, const char *name, size_t len);

/** Whether something below a node is to be avoided. */
bool avoid_below(const struct avoid *avoid, uint32_t node);

/** Whether a node is itself a place to be avoided. */
bool avoid_here(const struct avoid *avoid, uint32_t node);

/** The place to be avoided that an absolute path is or lies below, the nearest; AVOID_NONE:
    none. */
uint32_t avoid_cover(const struct avoid *avoid, const char *path);

#endif
