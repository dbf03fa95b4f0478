/* SPDX-License-Identifier: MIT */
/**
 * All objects of an index, cluster by cluster, in the order of the rows of each; then its delta.
 *
 * Memory: the paths of the directories of one cluster.
 */
#ifndef GM_INDEX_EXPORT_H
#define GM_INDEX_EXPORT_H

#include "index/store.h"

struct export;

/** An object; valid until the next one. */
struct export_object {
	uint32_t cluster;
	const char *path;        /* below the root of the index: "/a/b"; of the root "" */
	const struct index_row *row;     /* IC_NAME has no meaning */
};

/** @index  Borrowed, and not changed meanwhile.  @return NULL: ENOMEM.
    Ownership: export_free(). */
struct export *export_new(struct index *index);
void export_free(struct export *export);

/** The next object.  NULL: the end (errno 0), or an error: EBADMSG, ENOMEM. */
const struct export_object *export_next(struct export *export);

#endif
