/* SPDX-License-Identifier: MIT */
/**
 * Pack the directories of a tree into clusters (pure).
 *
 * The directories are packed bottom-up (after Kundu and Misra).  The rest of a directory is the set
 * of directories of its subtree that are not in a cluster yet.  If a directory and the rests of its
 * children fit into one cluster, together they are the rest of this directory.  Else the directory
 * and the rests of its children are put into bins, the largest first.  All bins except the emptiest
 * become clusters; the emptiest bin is the rest of this directory.  Two bins that are less than
 * half full would have been one bin, so nearly all clusters are more than half full.
 *
 * Clusters, and the slots in each cluster, are numbered in the order of a depth-first walk: parents
 * come before their children, and neighboring parts of the tree have neighboring clusters.
 */
#ifndef GM_INDEX_BUILD_PACK_H
#define GM_INDEX_BUILD_PACK_H

#include "index/segment/row.h"

/** A directory to be packed. */
struct pack_dir {
	uint32_t parent;         /* number of the parent, smaller than its own; unused for the root,
	                            number 0 */
	uint32_t rows;           /* number of objects in the directory that are not directories */
};

struct pack {
	uint32_t clusters;
	index_dir *places;       /* [directory]: its cluster and slot */
	uint32_t *members;       /* the directories, ordered by cluster and slot */
	uint32_t *first;         /* [cluster]: index in `members` of its first directory; the last
	                            element is the end */
};

/** Pack n directories, n > 0.  @pack [out]
    @return 0, or -1.  Errors: ENOMEM; EFBIG: too many clusters.  Ownership: pack_destroy(). */
int index_pack(const struct pack_dir *dirs, uint32_t n, struct pack *pack);
void pack_destroy(struct pack *pack);

#endif
