/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { ARRAY_FIRST = 16 };

bool array_grow(void *array, size_t *room, size_t element)
{
	size_t more = *room ? 2 * *room : ARRAY_FIRST;
	void *items;
	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, more, element);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*room = more;
	return true;
}
