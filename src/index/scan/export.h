/* SPDX-License-Identifier: MIT */
/**
 * All objects of an index, cluster by cluster, in the order of the rows of each; then its delta.
 *
 * Memory: the paths of the directories of one cluster.
 */
#ifndef GM_INDEX_SCAN_EXPORT_H
#define GM_INDEX_SCAN_EXPORT_H

#include "index/store/store.h"

/** An object; valid during the call. */
struct export_object {
	uint32_t cluster;
	const char *path;        /* below the root of the index: "/a/b"; of the root "" */
	const struct index_row *row;     /* IC_NAME has no meaning */
};

/** Visit all objects.  @visit  @return 0, or -1: end.
    @return 0, or -1.  Errors: EBADMSG, ENOMEM; those of visit(). */
int index_export(struct index *index,
                 int (*visit)(void *arg, const struct export_object *object), void *arg);

#endif
