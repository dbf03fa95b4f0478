/* SPDX-License-Identifier: MIT */
/**
 * Sort all results of a search by a column.
 */
#ifndef GM_CMD_SEARCH_SORT_H
#define GM_CMD_SEARCH_SORT_H

#include "cmd/found/object.h"

#include <stddef.h>

struct kept;

/** The settings of a sort, then the results.  At first, all members except the settings are
    zero. */
struct search_sort {
	const struct search_column *by;   /* NULL: the results are not sorted */
	bool down;                /* greatest value first */
	size_t most;              /* maximum number of objects to keep; 0: all */
	bool metadata;            /* store the attributes of each object, for printing */
	struct kept **kept;       /* the objects */
	size_t count, room;
	struct strbuf cell, next; /* scratch: the cell and the struct kept of a new object */
};

/** Free the results. */
void search_sort_destroy(struct search_sort *sort);

/**
 * Keep an object, unless `most` objects that come before it are kept already.
 *
 * Objects are ordered by the values of the column, as numbers or bytewise.  Objects without a value
 * are last.  The path decides between equal values.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int search_sort_add(struct search_sort *sort, const struct object *o);

/** Sort the objects.  Call this function after the last object was added. */
void search_sort_end(struct search_sort *sort);

/** Get the i-th object of the sorted results.  @o [out]  Valid until the results are changed or
    freed. */
void search_sort_get(const struct search_sort *sort, size_t i, struct object *o);

#endif
