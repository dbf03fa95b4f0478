/* SPDX-License-Identifier: MIT */
#include "index/export.h"

#include "base/fail.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

struct export {
	struct index *index;
	struct segment *segment;         /* of the cluster; NULL: none */
	bool begun;                      /* the cluster */
	uint32_t cluster, leaf, leaves, row, rows;
	size_t change;
	uint64_t values[IC_COUNT][INDEX_LEAF];   /* of the leaf before `leaf` */
	/* Paths of the cluster's directories, each with a NUL; where that of a slot begins, plus 1;
	   0: not made yet. */
	struct strbuf paths;
	size_t at[INDEX_SLOTS];
	struct strbuf path;
	struct index_row object_row;
	struct export_object object;
};

struct export *export_new(struct index *index)
{
	struct export *e = calloc(1, sizeof(*e));
	if (e)
		e->index = index;
	return e;
}

void export_free(struct export *e)
{
	if (!e)
		return;
	strbuf_destroy(&e->paths);
	strbuf_destroy(&e->path);
	free(e);
}

/** Begin a cluster.  @return 0, or -1. */
static int begin_cluster(struct export *e)
{
	if (index_segment(e->index, e->cluster, &e->segment) != 0)
		return -1;
	e->begun = true;
	e->leaf = e->row = e->rows = 0;
	e->leaves = e->segment ? segment_leaves(e->segment) : 0;
	e->change = 0;
	strbuf_reset(&e->paths);
	for (size_t i = 0; i < INDEX_SLOTS; ++i)
		e->at[i] = 0;
	return 0;
}

/** The path of the directory in a slot; NULL: EBADMSG, ENOMEM. */
static const char *slot_path(struct export *e, uint64_t slot)
{
	if (slot >= INDEX_SLOTS) {
		errno = EBADMSG;
		return NULL;
	}
	if (!e->at[slot]) {
		const size_t at = e->paths.len;
		index_dir dir = e->cluster << INDEX_SLOT_BITS | (uint32_t)slot;
		if (index_path(e->index, dir, index_root(e->index), &e->paths) != 0) {
			errno = errno == ENOENT ? EBADMSG : errno;
			return NULL;
		}
		strbuf_putc(&e->paths, '\0');
		e->at[slot] = at + 1;
	}
	if (e->paths.failed) {
		errno = ENOMEM;
		return NULL;
	}
	return e->paths.data + e->at[slot] - 1;
}

/** Make the object of a row.  @return it, or NULL: EBADMSG, ENOMEM. */
static const struct export_object *make_object(struct export *e, const struct index_row *row,
                                               const char *name, size_t len)
{
	const char *dir = slot_path(e, row->col[IC_DIR]);
	if (!dir)
		return NULL;
	e->object = (struct export_object){.cluster = e->cluster, .path = dir, .row = row};
	if (index_row_type(row) != DT_DIR) {
		strbuf_reset(&e->path);
		strbuf_puts(&e->path, dir);
		strbuf_putc(&e->path, '/');
		strbuf_add(&e->path, name, len);
		if (e->path.failed) {
			errno = ENOMEM;
			return NULL;
		}
		e->object.path = e->path.data;
	}
	return &e->object;
}

/** The next row of the segment that the delta has not replaced.
    @name [out]  Its name.  @return 1; 0: no more; -1: EBADMSG, ENOMEM. */
static int next_row(struct export *e, const char **name, size_t *len)
{
	for (;;) {
		if (e->row == e->rows) {
			if (e->leaf == e->leaves)
				return 0;
			for (int c = 0; c < IC_COUNT; ++c) {
				if (segment_leaf_column(e->segment, e->leaf, (enum index_column)c,
				                        e->values[c]) != 0)
					return -1;
			}
			e->rows = segment_leaf_rows(e->segment, e->leaf++);
			e->row = 0;
			continue;
		}
		for (int c = 0; c < IC_COUNT; ++c)
			e->object_row.col[c] = e->values[c][e->row];
		++e->row;
		if (e->object_row.col[IC_NAME] >= segment_names(e->segment))
			return fail(EBADMSG);
		*name = segment_name(e->segment, (uint32_t)e->object_row.col[IC_NAME], len);
		if (!*name)
			return -1;
		if (!index_is_replaced(e->index, e->cluster, &e->object_row, *name, *len))
			return 1;
	}
}

const struct export_object *export_next(struct export *e)
{
	const char *name;
	size_t len;
	while (e->cluster < index_clusters(e->index)) {
		if (!e->begun && begin_cluster(e) != 0)
			return NULL;
		int found = next_row(e, &name, &len);
		if (found)
			return found > 0 ? make_object(e, &e->object_row, name, len) : NULL;
		struct index_change change;
		while (index_next_change(e->index, e->cluster, &e->change, &change)) {
			if (change.row)
				return make_object(e, change.row, change.name, change.len);
		}
		if (e->segment)
			segment_trim(e->segment);
		++e->cluster;
		e->begun = false;
	}
	errno = 0;
	return NULL;
}
