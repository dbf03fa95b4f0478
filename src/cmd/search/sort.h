/* SPDX-License-Identifier: MIT */
/**
 * All results of a search in the order of a column.
 */
#ifndef GM_CMD_SEARCH_SORT_H
#define GM_CMD_SEARCH_SORT_H

#include "cmd/found/object.h"

#include <stddef.h>

struct kept;

/** The results; {0}, except for the settings: empty. */
struct search_sort {
	const struct search_column *by;   /* NULL: the results are not sorted */
	bool down;                /* the greatest value first */
	size_t most;              /* keep the first ones only; 0: all */
	bool metadata;            /* keep the attributes, for printing */
	struct kept **kept;
	size_t count, room;
	struct strbuf cell, next;
};

/** Free the results. */
void search_sort_destroy(struct search_sort *sort);

/**
 * Keep an object, if it is among the first ones.
 *
 * The order is that of the values of the column: as numbers, or bytewise.  Objects without a value
 * are last.  The path decides between equal values.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int search_sort_add(struct search_sort *sort, const struct object *o);

/** Sort the objects, after the last one was added. */
void search_sort_end(struct search_sort *sort);

/** Get the i-th object in this order.  @o  [out] Valid while sort is. */
void search_sort_get(const struct search_sort *sort, size_t i, struct object *o);

#endif
