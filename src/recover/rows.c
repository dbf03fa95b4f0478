/* SPDX-License-Identifier: MIT */
#include "recover/recover.h"

#include "mountopts/optlist.h"
#include "mounttree.h"

#include <stdlib.h>
#include <string.h>

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

/** What an entry has that an mtab never has; NULL: nothing. */
static const char *line_sign(const struct tabline *line)
{
	static const char *const tags[] = {"UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", "ID="};
	static const char *const options[] = {"defaults", "noauto", "nofail", "sw"};
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); ++i) {
		if (strncmp(tabline_value(line, TABLINE_SOURCE), tags[i], strlen(tags[i])) == 0)
			return tags[i];
	}
	if (strcmp(tabline_value(line, TABLINE_FSTYPE), "swap") == 0)
		return "swap";
	const char *list = tabline_value(line, TABLINE_OPTIONS);
	for (size_t i = 0; list && i < sizeof(options) / sizeof(*options); ++i) {
		if (opt_has(list, options[i]))
			return options[i];
	}
	return NULL;
}

const char *rec_fstab_sign(const char *path, const struct tablines *lines, uint32_t *number)
{
	const char *base = strrchr(path, '/');
	*number = 0;
	if (strcmp(base ? base + 1 : path, "fstab") == 0)
		return "its name";
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines[i];
		const char *sign = line->kind == TABLINE_ENTRY ? line_sign(line) : NULL;
		*number = line->number;
		if (sign)
			return sign;
	}
	return NULL;
}
