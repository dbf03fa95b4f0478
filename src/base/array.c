/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { ARRAY_FIRST = 16 };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

double median(double *values, size_t n)
{
	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

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
