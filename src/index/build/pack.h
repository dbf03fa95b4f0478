/* SPDX-License-Identifier: MIT */
/**
 * Packing the directories of a tree into clusters (pure).
 *
 * It is bottom-up, after Kundu and Misra: what is left of the children of a directory joins it
 * while it fits into a cluster.  If it does not fit, the directory and what is left of each child
 * are put into bins, the largest first; all but the emptiest bin become clusters, and that one is
 * what is left of the directory.  Two bins that are less than half full would have become one, so
 * nearly all clusters are more than half full.
 *
 * Clusters are numbered in the order in which a walk in depth first comes to them, and so are the
 * slots of each: parents are before their children, and parts of the tree that are near each other
 * have clusters that are near each other.
 */
#ifndef GM_INDEX_BUILD_PACK_H
#define GM_INDEX_BUILD_PACK_H

#include "index/segment/row.h"

/** A directory. */
struct pack_dir {
	uint32_t parent;         /* its number, which is smaller; of the root (number 0) any */
	uint32_t rows;           /* objects in it that are not directories */
};

struct pack {
	uint32_t clusters;
	index_dir *places;       /* of each directory */
	uint32_t *members;       /* the directories, by cluster and slot */
	uint32_t *first;         /* of each cluster in members; and of the end */
};

/** Pack n directories, at least one.  @pack [out]
    @return 0, or -1.  Errors: ENOMEM; EFBIG: too many clusters.  Ownership: pack_destroy(). */
int index_pack(const struct pack_dir *dirs, uint32_t n, struct pack *pack);
void pack_destroy(struct pack *pack);

#endif
