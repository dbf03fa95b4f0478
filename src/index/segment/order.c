/* SPDX-License-Identifier: MIT */
/*
 * The order in which a cluster stores rows: a K-D tree over owner, size and mtime, split at the
 * median of one dimension after the other.  The split is at a multiple of INDEX_LEAF, so each full
 * leaf of the cluster is a leaf of the tree.
 */
#include "index/segment/segment_impl.h"

#include <stdlib.h>

enum { DIMENSIONS = 3 };
static const uint8_t dimensions[DIMENSIONS] = {IC_UID, IC_SIZE, IC_MSEC};

struct point {
	uint64_t key[DIMENSIONS];
	uint32_t row;
};

static inline void swap(struct point *a, struct point *b)
{
	struct point t = *a;
	*a = *b;
	*b = t;
}

/** Reorder the points so that point k is where sorting by dimension `dim` would put it: no point
    before it is larger, no point after it is smaller (Hoare's selection). */
static void select_point(struct point *points, size_t n, size_t k, unsigned dim)
{
	uint32_t random = 1;
	while (n > 1) {
		/* The pivot is the median of three points at pseudo-random positions, so that an
		   unlucky order of the rows cannot make this slow. */
		random = random * 1664525 + 1013904223;
		uint64_t a = points[random % n].key[dim], b = points[(random >> 8) % n].key[dim];
		uint64_t c = points[(random >> 16) % n].key[dim];
		uint64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
		size_t i = 0, j = n - 1;
		for (;;) {
			while (points[i].key[dim] < pivot)
				++i;
			while (points[j].key[dim] > pivot)
				--j;
			if (i >= j)
				break;
			swap(&points[i++], &points[j--]);
		}
		/* No point up to j is larger than the pivot, and no point after j is smaller.  If j
		   is the last point, that point is the pivot and larger than all others: it alone
		   becomes the second part. */
		size_t left = j + 1 < n ? j + 1 : j;
		if (k < left) {
			n = left;
		} else {
			points += left;
			n -= left;
			k -= left;
		}
	}
}

/** Assert what select_point() promises. */
static void select_check(const struct point *points, size_t n, size_t k, unsigned dim)
{
#ifndef NDEBUG
	assert(k > 0 && k < n);
	for (size_t i = 0; i < n; ++i)
		assert(i < k ? points[i].key[dim] <= points[k].key[dim]
		       : points[i].key[dim] >= points[k].key[dim]);
#else
	(void)points, (void)n, (void)k, (void)dim;
#endif
}

/** Order points as a tree.  Invariant: the first of `points` is at a multiple of INDEX_LEAF, so
    that only the last leaf is not full. */
static void split(struct point *points, size_t n, unsigned dim)
{
	while (n > INDEX_LEAF) {
		unsigned tried = 0;
		for (; tried < DIMENSIONS; ++tried, dim = (dim + 1) % DIMENSIONS) {
			size_t i = 1;
			while (i < n && points[i].key[dim] == points[0].key[dim])
				++i;
			if (i < n)
				break;
		}
		if (tried == DIMENSIONS)
			return;
		size_t leaves = (n + INDEX_LEAF - 1) / INDEX_LEAF, left = leaves / 2 * INDEX_LEAF;
		select_point(points, n, left, dim);
		select_check(points, n, left, dim);
		dim = (dim + 1) % DIMENSIONS;
		split(points, left, dim);
		points += left;
		n -= left;
	}
}

int segment_order(const struct segment_contents *contents, uint32_t *order)
{
	struct point *points = malloc((contents->nrows + (size_t)1) * sizeof(*points));
	if (!points)
		return -1;
	for (uint32_t i = 0; i < contents->nrows; ++i) {
		for (unsigned d = 0; d < DIMENSIONS; ++d)
			points[i].key[d] = contents->rows[i].col[dimensions[d]];
		points[i].row = i;
	}
	split(points, contents->nrows, 0);
	for (uint32_t i = 0; i < contents->nrows; ++i)
		order[i] = points[i].row;
	free(points);
	return 0;
}
