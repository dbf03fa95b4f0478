/* SPDX-License-Identifier: MIT */
/**
 * Visit all objects of an index, cluster by cluster.  The objects of a cluster are visited in the
 * order of its rows, then those in its delta.
 *
 * Memory: the paths of the directories of one cluster.
 */
#ifndef GM_INDEX_SCAN_EXPORT_H
#define GM_INDEX_SCAN_EXPORT_H

#include "index/store/store.h"

/** An object of the index; valid during the call of visit(). */
struct export_object {
	uint32_t cluster;
	const char *path;        /* from the root of the index: "/a/b"; "" for the root */
	const struct index_row *row;     /* IC_NAME is undefined */
};

/** Visit all objects.
    @visit  Returns 0, or -1 to stop.
    @return 0, or -1.  Errors: EBADMSG, ENOMEM; those of visit(). */
int index_export(struct index *index,
                 int (*visit)(void *arg, const struct export_object *object), void *arg);

#endif
