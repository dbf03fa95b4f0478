/* SPDX-License-Identifier: MIT */
#include "recover/recover.h"

#include "mounttree.h"

#include <stdlib.h>

int rec_rows(const struct mtree *tree, const char *const *targets, struct rec_row **rows,
             size_t *nrows,
             void (*nameless)(void *arg, size_t i), void *arg)
{
	size_t count = tree->count, n = 0;
	struct rec_row *made = calloc(count + 1, sizeof(*made));
	uint32_t *row_of = calloc(count + 1, sizeof(*row_of));
	if (!made || !row_of) {
		free(made);
		free(row_of);
		return -1;
	}
	for (size_t i = 0; i < count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		row_of[i] = REC_NONE;
		if (node->made || node->gone || node->states & 1u << MT_OUTSIDE)
			continue;
		if (!targets[i]) {
			nameless(arg, i);
			continue;
		}
		row_of[i] = (uint32_t)n;
		made[n++] = (struct rec_row){node->mount, targets[i], node->parent};
	}
	for (size_t k = 0; k < n; ++k) {
		uint32_t parent = made[k].parent;
		made[k].parent = parent == MT_NONE ? REC_NONE : row_of[parent];
	}
	free(row_of);
	*rows = made;
	*nrows = n;
	return 0;
}
