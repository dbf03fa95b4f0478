/* SPDX-License-Identifier: MIT */
/**
 * Growable arrays.
 *
 *     struct list { struct item *items; size_t count, room; };
 *
 *     if (!ARRAY_ROOM(list->items, list->count, &list->room))
 *             return -1;
 *     list->items[list->count++] = item;
 */
#ifndef GM_BASE_ARRAY_H
#define GM_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Make room for one more element.
    @items  A pointer to the elements, or NULL.
    @count  The number of elements.
    @room  The address of the number of allocated elements, a size_t.
    @return whether there is room; nothing changes if not.  Errors: ENOMEM. */
#define ARRAY_ROOM(items, count, room) \
	((count) < *(room) || array_grow(&(items), (room), sizeof(*(items))))

/** Double the room of an array.  @array  The address of the pointer to its elements.
    @return false if memory ran out. */
bool array_grow(void *array, size_t *room, size_t element);

/** Compare two uint64_t for qsort(3), ascending. */
int compare_u64(const void *a, const void *b);

static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

/** The median of n values; 0 if n is 0.  Sorts the values. */
double median(double *values, size_t n);

#endif
