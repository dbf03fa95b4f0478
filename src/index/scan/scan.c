/* SPDX-License-Identifier: MIT */
/*
 * The candidates of a scan, cluster by cluster.
 *
 *     summary --> filters --> names: one, or a bitmap --> leaves by their ranges --> columns --.
 *     delta: each change ---------------------------------------------------------------------+
 *                                                          entered directories <-- below <----'
 *
 * A pattern is compared with each distinct name of a cluster once.  Attributes are decoded when the
 * caller requests them.
 */
#include "index/scan/scan_impl.h"

#include "base/array.h"
#include "base/fail.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE_COLUMNS = 8 };   /* minimum candidates of a leaf for decoding whole columns */

struct scan *scan_new(struct index *index, const struct scan_options *options)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	if (!scan)
		return NULL;
	scan->index = index;
	scan->options = *options;
	if (scan_dirs_init(scan) != 0 || wish_init(&scan->wish, options) != 0) {
		scan_free(scan);
		return fail_null(ENOMEM);
	}
	scan->counts.clusters = index_clusters(index);
	scan->object.self = SOURCE_NONE;
	/* An empty index has no start directory. */
	if (scan->wish.bounds.none || options->start == INDEX_DIR_NONE)
		scan->cluster = index_clusters(index);
	return scan;
}

void scan_free(struct scan *scan)
{
	if (!scan)
		return;
	scan_dirs_destroy(scan);
	wish_destroy(&scan->wish);
	free(scan->matches);
	free(scan);
}

void scan_count(const struct scan *scan, struct scan_counts *counts)
{
	*counts = scan->counts;
}

/* Clusters. */

/** Find the names of the cluster that candidates can have: one name_id, or a bit in `matches` for
    each name.
    @return 1; 0: no such name; -1. */
static int find_names(struct scan *scan)
{
	struct wish *wish = &scan->wish;
	if (wish->literal)
		return segment_find_name(scan->segment, wish->literal, wish->literal_len, false,
		                         &scan->name_id);
	uint32_t n = segment_names(scan->segment);
	size_t bytes = (size_t)n / 8 + 1;
	int found = 0;
	while (scan->matches_room < bytes) {
		if (!array_grow(&scan->matches, &scan->matches_room, 1))
			return -1;
	}
	memset(scan->matches, 0, bytes);
	for (uint32_t i = 0; i < n; ++i) {
		size_t len;
		const char *name = segment_name(scan->segment, i, &len);
		if (!name)
			return -1;
		if (wish_has_name(wish, name, len)) {
			scan->matches[i / 8] |= (uint8_t)(1u << i % 8);
			found = 1;
		}
	}
	return found;
}

/** Whether directories of the cluster can be below the start: the start is in the cluster, or a
    parent of its directories is below the start.
    @return 1, 0, or -1. */
static int has_dirs(struct scan *scan)
{
	const index_dir start = scan->options.start;
	if (start == index_root(scan->index) || index_dir_cluster(start) == scan->current)
		return 1;
	size_t n;
	const index_dir *parents = index_parents(scan->index, scan->current, &n);
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; ++i)
		rc = index_dir_cluster(parents[i]) < index_clusters(scan->index)
		     ? scan_is_below(scan, parents[i]) : 0;
	return rc;
}

/** Begin with the next cluster.  @return 1; 0: no more clusters; -1. */
static int next_cluster(struct scan *scan)
{
	if (scan->cluster >= index_clusters(scan->index))
		return 0;
	assert(scan->row == scan->nrows);
	scan->current = scan->cluster++;
	/* Names that are needed for paths later are decoded again. */
	if (scan->opened)
		segment_trim(scan->opened);
	scan->opened = scan->segment = NULL;
	scan->leaf = 0;
	scan->nrows = scan->row = 0;
	scan->change = 0;
	scan->changed = index_is_changed(scan->index, scan->current);
	const struct segment_summary *summary = index_summary(scan->index, scan->current);
	if (!summary || !wish_has_summary(&scan->wish, summary))
		return 1;
	if (index_segment(scan->index, scan->current, &scan->segment) != 0)
		return -1;
	scan->opened = scan->segment;
	int rc = scan->segment ? wish_has_filters(&scan->wish, scan->segment) : 0;
	if (rc > 0)
		rc = has_dirs(scan);
	scan->counts.opened += rc > 0;
	if (rc > 0 && scan->wish.names)
		rc = find_names(scan);
	if (rc <= 0)
		scan->segment = NULL;
	return rc < 0 ? -1 : 1;
}

/* Leaves. */

/** Get a decoded column of the current leaf.  @return NULL: EBADMSG. */
static const uint64_t *column(struct scan *scan, enum index_column which)
{
	assert(scan->segment && which < IC_COUNT && scan->leaf_now < scan->leaf);
	uint64_t *values = scan->values[which];
	if (!scan->decoded[which]
	    && segment_leaf_column(scan->segment, scan->leaf_now, which, values) != 0)
		return NULL;
	scan->decoded[which] = true;
	return values;
}

/** Whether the current leaf can have candidates according to its ranges.  @return 1, 0, or -1. */
static int has_ranges(struct scan *scan)
{
	const struct wish *wish = &scan->wish;
	uint64_t min, max;
	if (wish->literal) {
		if (segment_leaf_range(scan->segment, scan->leaf_now, IC_NAME, &min, &max) != 0)
			return -1;
		if (scan->name_id < min || scan->name_id > max)
			return 0;
	}
	for (size_t i = 0; i < wish->ncolumns; ++i) {
		const struct wish_column *c = &wish->columns[i];
		if (segment_leaf_range(scan->segment, scan->leaf_now, c->column, &min, &max) != 0)
			return -1;
		if (max >= c->min && min <= c->max)
			continue;
		if (segment_leaf_range(scan->segment, scan->leaf_now, IC_CSEC, &min, &max) != 0)
			return -1;
		if (!wish_may_be_lost(min))
			return 0;
	}
	return 1;
}

/** Keep the rows of the leaf whose names can be those of candidates.  @return 0, or -1. */
static int keep_names(struct scan *scan)
{
	const uint64_t *ids = column(scan, IC_NAME);
	size_t n = 0;
	if (!ids)
		return -1;
	for (size_t i = 0; i < scan->nrows; ++i) {
		uint64_t id = ids[scan->rows[i]];
		/* segment_leaf_column() has checked it: find_names() has a bit for each name. */
		assert(id < segment_names(scan->segment));
		if (scan->wish.literal ? id == scan->name_id : scan->matches[id / 8] >> id % 8 & 1)
			scan->rows[n++] = scan->rows[i];
	}
	scan->nrows = n;
	return 0;
}

/** Keep the rows whose value in a column is in the range, and rows without attributes (IF_LOST). */
static int keep_range(struct scan *scan, const struct wish_column *c)
{
	const uint64_t *values = column(scan, c->column), *flags = column(scan, IC_FLAGS);
	size_t n = 0;
	if (!values || !flags)
		return -1;
	for (size_t i = 0; i < scan->nrows; ++i) {
		uint16_t row = scan->rows[i];
		if ((values[row] >= c->min && values[row] <= c->max) || flags[row] & IF_LOST)
			scan->rows[n++] = row;
	}
	scan->nrows = n;
	return 0;
}

/** Keep the rows whose type is one of wish.bounds.types or unknown. */
static int keep_types(struct scan *scan)
{
	const uint64_t *modes = column(scan, IC_MODE);
	size_t n = 0;
	if (!modes)
		return -1;
	for (size_t i = 0; i < scan->nrows; ++i) {
		unsigned type = (unsigned)modes[scan->rows[i]] >> 12 & 15;
		if (type == DT_UNKNOWN || scan->wish.bounds.types >> type & 1)
			scan->rows[n++] = scan->rows[i];
	}
	scan->nrows = n;
	return 0;
}

/** Find the candidates of the next leaf.  @return 1; 0: no more leaves; -1. */
static int next_leaf(struct scan *scan)
{
	const struct wish *wish = &scan->wish;
	if (!scan->segment || scan->leaf >= segment_leaves(scan->segment))
		return 0;
	scan->leaf_now = scan->leaf++;
	scan->nrows = scan->row = 0;
	memset(scan->decoded, 0, sizeof(scan->decoded));
	int rc = has_ranges(scan);
	if (rc <= 0)
		return rc < 0 ? -1 : 1;
	scan->nrows = segment_leaf_rows(scan->segment, scan->leaf_now);
	assert(scan->nrows > 0 && scan->nrows <= INDEX_LEAF);
	++scan->counts.leaves;
	scan->counts.rows += scan->nrows;
	for (size_t i = 0; i < scan->nrows; ++i)
		scan->rows[i] = (uint16_t)i;
	if (wish->names && keep_names(scan) != 0)
		return -1;
	for (size_t i = 0; i < wish->ncolumns && scan->nrows > 0; ++i) {
		if (keep_range(scan, &wish->columns[i]) != 0)
			return -1;
	}
	return scan->nrows > 0 && keep_types(scan) != 0 ? -1 : 1;
}

/* Objects. */

/** Get columns of the current object.  @return 0, or -1. */
static int get_row(struct scan *scan, uint32_t columns, struct index_row *row)
{
	if (scan->has_row) {
		*row = scan->object_row;
		return 0;
	}
	assert(scan->segment && scan->object_at < segment_leaf_rows(scan->segment, scan->leaf_now));
	if (scan->nrows < WHOLE_COLUMNS)
		return segment_row(scan->segment, scan->leaf_now * INDEX_LEAF + scan->object_at,
		                   columns, row);
	for (; columns; columns &= columns - 1) {
		int i = __builtin_ctz(columns);
		const uint64_t *values = column(scan, (enum index_column)i);
		if (!values)
			return -1;
		row->col[i] = values[scan->object_at];
	}
	return 0;
}

/** Set scan->object, if its directory is entered.  A directory is only passed to enter().
    @dir  The directory of the object; for a directory, its own number.
    @return 1; 0: not entered, or a directory; or -1. */
static int set_object(struct scan *scan, index_dir dir, uint8_t type, const char *name, size_t len)
{
	struct source_object *object = &scan->object;
	*object = (struct source_object){
		.self = type == DT_DIR ? dir : SOURCE_NONE, .name = name, .len = len, .type = type,
	};
	struct index_row row = {{0}};
	if (get_row(scan, scan->wish.needs, &row) != 0)
		return -1;
	object->within = wish_within(&scan->wish, &row);
	if (type != DT_DIR) {
		object->named = scan->wish.named;
		object->memo = scan->wish.memo;
	}
	int rc = scan_enter(scan, dir, object);
	return rc > 0 && type == DT_DIR ? 0 : rc;
}

/** Set scan->object to a row of the current leaf.
    @return 1; 0: replaced by the delta, or as set_object(); or -1. */
static int set_row(struct scan *scan, uint32_t row)
{
	const uint64_t *dirs = column(scan, IC_DIR), *modes = column(scan, IC_MODE);
	const uint64_t *ids = column(scan, IC_NAME);
	if (!dirs || !modes || !ids)
		return -1;
	size_t len;
	const char *name = segment_name(scan->segment, (uint32_t)ids[row], &len);
	if (!name)
		return -1;
	if (scan->changed) {
		struct index_row key = {
			.col = {[IC_DIR] = dirs[row], [IC_NAME] = ids[row], [IC_MODE] = modes[row]},
		};
		if (index_is_replaced(scan->index, scan->current, &key, name, len))
			return 0;
	}
	scan->object_at = row;
	scan->has_row = false;
	index_dir dir = index_dir_of(scan->current, (uint32_t)dirs[row]);
	return set_object(scan, dir, (uint8_t)(modes[row] >> 12 & 15), name, len);
}

/** Set scan->object to the next change of the cluster.
    @return 1; 0: the change is no candidate; -1; 2: no more changes. */
static int set_change(struct scan *scan)
{
	struct index_change change;
	if (!scan->changed
	    || !index_next_change(scan->index, scan->current, &scan->change, &change))
		return 2;
	if (!change.row || !wish_has_row(&scan->wish, change.row)
	    || !wish_has_name(&scan->wish, change.name, change.len))
		return 0;
	++scan->counts.rows;
	scan->object_row = *change.row;
	scan->has_row = true;
	index_dir dir = index_dir_of(scan->current, (uint32_t)change.row->col[IC_DIR]);
	return set_object(scan, dir, index_row_type(change.row), change.name, change.len);
}

const struct source_object *scan_next(struct scan *scan)
{
	int rc = 0;
	while (rc == 0 && !scan->error) {
		if (scan->row < scan->nrows) {
			rc = set_row(scan, scan->rows[scan->row++]);
		} else if ((rc = next_leaf(scan)) != 0) {
			rc = rc > 0 ? 0 : -1;
		} else if ((rc = set_change(scan)) == 2) {
			rc = next_cluster(scan);
			if (rc == 0)
				return fail_null(0);
			rc = rc > 0 ? 0 : -1;
		}
	}
	if (rc > 0)
		return &scan->object;
	if (!scan->error)
		scan->error = errno ? errno : EBADMSG;
	return fail_null(scan->error);
}

/** Get the set of columns for attributes.  @mask  STATX_*. */
static uint32_t columns_of(unsigned mask)
{
	static const struct {
		unsigned mask;
		uint32_t columns;
	} table[] = {
		{K_STATX_UID, 1 << IC_UID}, {K_STATX_GID, 1 << IC_GID},
		{K_STATX_SIZE, 1 << IC_SIZE}, {K_STATX_BLOCKS, 1 << IC_BLOCKS},
		{K_STATX_INO, 1 << IC_INO}, {K_STATX_NLINK, 1 << IC_NLINK},
		{K_STATX_MTIME, 1 << IC_MSEC | 1 << IC_MNSEC},
		{K_STATX_CTIME, 1 << IC_CSEC | 1 << IC_CNSEC},
		{K_STATX_ATIME, 1 << IC_ASEC | 1 << IC_ANSEC},
		{K_STATX_BTIME, 1 << IC_BSEC | 1 << IC_BNSEC},
	};
	uint32_t columns = 1 << IC_MODE | 1 << IC_FLAGS;
	if ((mask & K_STATX_BASIC) == K_STATX_BASIC)
		return INDEX_ALL;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); ++i)
		columns |= mask & table[i].mask ? table[i].columns : 0;
	return columns;
}

int scan_attributes(struct scan *scan, const struct source_object *object, unsigned mask,
                    struct k_statx *st)
{
	const uint32_t columns = columns_of(mask);
	struct index_row row = {{0}};
	int rc = 1;
	if (object->self == scan->object.self)
		rc = get_row(scan, columns, &row) == 0 ? 1 : -1;
	else
		rc = object->self == SOURCE_NONE ? 0
		     : scan_dir_row(scan, object->self, columns, &row);
	if (rc <= 0 || row.col[IC_FLAGS] & IF_LOST)
		return rc < 0 ? -1 : 0;
	index_row_to(&row, st);
	/* Attributes that were not requested were not decoded. */
	if (columns != INDEX_ALL)
		st->mask &= mask | K_STATX_TYPE | K_STATX_MODE;
	return 1;
}

int scan_find(struct scan *scan, const char *path, size_t len, struct source_object *in)
{
	struct strbuf whole = {0};
	index_dir dir;
	int rc = index_path(scan->index, scan->options.start, index_root(scan->index), &whole);
	strbuf_add(&whole, path, len);
	if (rc == 0 && whole.failed)
		rc = fail(ENOMEM);
	if (rc == 0)
		rc = index_lookup(scan->index, whole.len ? whole.data + 1 : "", &dir);
	int error = errno;
	strbuf_destroy(&whole);
	errno = error;
	if (rc != 0)
		return errno == ENOENT ? 0 : -1;
	return scan_enter(scan, dir, in);
}
