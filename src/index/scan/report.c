/* SPDX-License-Identifier: MIT */
/*
 * Count disk usage cluster by cluster.  The row of usage for a slot is found when the first object
 * of the slot is counted.  Paths are made only for directories that have a row of their own.
 */
#include "index/scan/report.h"

#include "base/array.h"
#include "base/intern.h"
#include "base/map64.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE = 256, DAY = 86400 };

/** The row in which the objects of a directory are counted. */
struct place {
	uint32_t row;             /* row of usage with key 0; USAGE_NONE: the directory is not below
	                             the start */
	uint32_t depth;
};

/** A directory whose row is not known yet. */
struct step {
	index_dir dir;
	const char *name;
	size_t len;
};

struct report {
	enum report_by by;
	unsigned depth;
	int64_t now;
	struct usage *usage;
	struct intern extensions;
	/* The index that is being counted: */
	struct index *index;
	size_t root;
	uint64_t fs;
	struct map64 dirs;        /* index_dir -> index in places */
	struct place *places;
	size_t nplaces, places_room;
	struct step *steps;
	size_t nsteps, steps_room;
	struct { uint32_t place, key, row; } cache[CACHE];   /* [hash]: recent results of
	                                                        find_row() */
	/* The cluster that is being counted: */
	uint32_t cluster;
	uint32_t slots[INDEX_SLOTS];      /* [slot]: index in places; UINT32_MAX: not known yet */
	uint32_t *of_name;        /* [name]: its extension; UINT32_MAX: not known yet */
	struct segment *segment;
	struct strbuf path;
};

/* Limits of the ranges of ages in days.  The key of an age is the number of limits that are less
   than or equal to it. */
static const uint16_t ages[] = {1, 7, 30, 90, 365, 730, 1461, 2922, 5844};
enum { AGES = sizeof(ages) / sizeof(*ages), AGE_FUTURE = AGES + 1 };

void report_range(enum report_by by, uint32_t key, uint64_t *from, uint64_t *to)
{
	if (by == REPORT_AGE) {
		*from = key == 0 || key > AGES ? 0 : ages[key - 1];
		*to = key < AGES ? ages[key] : key == AGES ? UINT64_MAX : 0;
	} else {
		*from = key == 0 ? 0 : (uint64_t)1 << (key - 1);
		*to = key == 64 ? UINT64_MAX : (uint64_t)1 << key;
	}
}

static uint32_t age_key(int64_t now, uint64_t column)
{
	int64_t sec = index_to_signed(column);
	uint32_t key = 0;
	if (sec > now)
		return AGE_FUTURE;
	while (key < AGES && (uint64_t)now - (uint64_t)sec >= (uint64_t)ages[key] * DAY)
		++key;
	return key;
}

static uint32_t size_key(uint64_t size)
{
	return size ? 64 - (uint32_t)__builtin_clzll(size) : 0;
}

struct report *report_new(enum report_by by, const char *const roots[], unsigned depth, int64_t now)
{
	struct report *report = calloc(1, sizeof(*report));
	if (!report)
		return NULL;
	report->by = by;
	report->depth = depth;
	report->now = now;
	report->usage = usage_new(roots, depth);
	if (report->usage)
		return report;
	report_free(report);
	return NULL;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	usage_free(report->usage);
	intern_destroy(&report->extensions);
	map64_destroy(&report->dirs);
	free(report->places);
	free(report->steps);
	free(report->of_name);
	strbuf_destroy(&report->path);
	free(report);
}

const char *report_extension(const struct report *report, uint32_t key)
{
	return report->extensions.of[key];
}

int report_rows(struct report *report, struct usage_row **rows, size_t *n)
{
	return usage_rows(report->usage, report->by == REPORT_DIR, rows, n);
}

/** Store the place of a directory.  @return its index, or UINT32_MAX: ENOMEM. */
static uint32_t keep_place(struct report *r, index_dir dir, struct place place)
{
	if (r->nplaces == UINT32_MAX || !ARRAY_ROOM(r->places, r->nplaces, &r->places_room)) {
		errno = ENOMEM;
		return UINT32_MAX;
	}
	r->places[r->nplaces] = place;
	return map64_set(&r->dirs, dir, (uint32_t)r->nplaces++);
}

/** Get the place of a subdirectory.
    @place [in,out]  The place of the parent; replaced.
    @return 0, or -1: ENOMEM. */
static int place_below(struct report *r, const struct step *step, struct place *place)
{
	if (place->row == USAGE_NONE || ++place->depth > r->depth)
		return 0;
	/* The start has the first place. */
	assert(r->nplaces > 0 && r->places[0].row != USAGE_NONE);
	size_t len;
	const char *above = usage_path(r->usage, place->row, &len);
	strbuf_reset(&r->path);
	strbuf_add(&r->path, above, len);
	strbuf_putc(&r->path, '/');
	strbuf_add(&r->path, step->name, step->len);
	if (r->path.failed)
		return fail(ENOMEM);
	place->row = usage_find(r->usage, r->root, r->path.data, r->path.len, 0);
	return place->row == USAGE_NONE ? -1 : 0;
}

/** Find or make the place of a directory.  @return its index, or UINT32_MAX: EBADMSG, ENOMEM. */
static uint32_t place_of(struct report *r, index_dir dir)
{
	uint32_t found = MAP64_NONE;
	r->nsteps = 0;
	while (dir != INDEX_DIR_NONE && (found = map64_get(&r->dirs, dir)) == MAP64_NONE) {
		struct index_dir_info info;
		if (index_dir_get(r->index, dir, &info) != 0) {
			errno = errno == ENOENT ? EBADMSG : errno;
			return UINT32_MAX;
		}
		/* More steps than directories exist: the directories form a cycle. */
		if (r->nsteps > (size_t)index_clusters(r->index) << INDEX_SLOT_BITS) {
			errno = EBADMSG;
			return UINT32_MAX;
		}
		if (!ARRAY_ROOM(r->steps, r->nsteps, &r->steps_room))
			return UINT32_MAX;
		r->steps[r->nsteps++] = (struct step){dir, info.name, info.len};
		dir = info.parent;
	}
	struct place place = {USAGE_NONE, 0};
	if (dir != INDEX_DIR_NONE)
		place = r->places[found];
	while (r->nsteps > 0) {
		const struct step *step = &r->steps[--r->nsteps];
		if (place_below(r, step, &place) != 0)
			return UINT32_MAX;
		found = keep_place(r, step->dir, place);
		if (found == UINT32_MAX)
			return UINT32_MAX;
	}
	return found;
}

/** Get the number of the extension of a name; segment.h defines extensions.  @return 0, or -1. */
static int extension_of(struct report *r, const char *name, size_t len, uint32_t *key)
{
	size_t ext_len = 0;
	const char *extension = name_extension(name, len, &ext_len);
	return intern_put(&r->extensions, extension ? extension : "", ext_len, key);
}

/** Get the key of an object.
    @name  NULL: the segment has the name, number IC_NAME.
    @return 1; 0: the attribute is unknown; -1: EBADMSG, ENOMEM. */
static int key_of(struct report *r, const struct index_row *row, const char *name, size_t len,
                  uint32_t *key)
{
	const uint64_t *col = row->col;
	const uint8_t type = index_row_type(row);
	*key = 0;
	if (col[IC_FLAGS] & IF_LOST && r->by != REPORT_DIR && r->by != REPORT_TYPE
	    && r->by != REPORT_EXTENSION)
		return 0;
	switch (r->by) {
	case REPORT_DIR: break;
	case REPORT_USER: *key = (uint32_t)col[IC_UID]; break;
	case REPORT_GROUP: *key = (uint32_t)col[IC_GID]; break;
	case REPORT_TYPE: *key = type; break;
	case REPORT_AGE: *key = age_key(r->now, col[IC_MSEC]); break;
	case REPORT_SIZE: *key = size_key(col[IC_SIZE]); break;
	case REPORT_EXTENSION:
		if (type == DT_DIR)
			return intern_put(&r->extensions, "", 0, key) == 0 ? 1 : -1;
		if (name)
			return extension_of(r, name, len, key) == 0 ? 1 : -1;
		if (col[IC_NAME] >= segment_names(r->segment))
			return fail(EBADMSG);
		uint32_t *known = &r->of_name[col[IC_NAME]];
		if (*known == UINT32_MAX) {
			name = segment_name(r->segment, (uint32_t)col[IC_NAME], &len);
			if (!name || extension_of(r, name, len, known) != 0)
				return -1;
		}
		*key = *known;
		break;
	}
	return 1;
}

/** Find the row of usage for the directory of a row and a key.
    @place  The row of usage with key 0.
    @return USAGE_NONE: ENOMEM. */
static uint32_t find_row(struct report *r, uint32_t place, uint32_t key)
{
	const uint32_t at = (place * 31 + key) % CACHE;
	if (r->by == REPORT_DIR)
		return place;
	if (r->cache[at].row == USAGE_NONE || r->cache[at].place != place
	    || r->cache[at].key != key) {
		size_t len;
		const char *path = usage_path(r->usage, place, &len);
		r->cache[at].place = place;
		r->cache[at].key = key;
		r->cache[at].row = usage_find(r->usage, r->root, path, len, key);
	}
	return r->cache[at].row;
}

/** Count an object.  @name  As in key_of().  @return 0, or -1. */
static int count(struct report *r, const struct index_row *row, const char *name, size_t len)
{
	const uint64_t *col = row->col;
	const uint8_t type = index_row_type(row);
	uint32_t key;
	if (col[IC_DIR] >= INDEX_SLOTS)
		return fail(EBADMSG);
	uint32_t *slot = &r->slots[col[IC_DIR]];
	if (*slot == UINT32_MAX)
		*slot = place_of(r, index_dir_of(r->cluster, (uint32_t)col[IC_DIR]));
	if (*slot == UINT32_MAX)
		return -1;
	const uint32_t place = r->places[*slot].row;
	int known = place == USAGE_NONE ? 0 : key_of(r, row, name, len, &key);
	if (known <= 0)
		return known;
	uint32_t at = find_row(r, place, key);
	if (at == USAGE_NONE)
		return -1;
	const struct usage_sum sum = {
		.size = col[IC_BLOCKS] * 512, .count = 1,
		.apparent = type == DT_REG || type == DT_LNK ? col[IC_SIZE] : 0,
	};
	if (col[IC_NLINK] > 1 && type != DT_DIR)
		return usage_add_once(r->usage, at, r->fs, col[IC_INO], &sum);
	usage_add(r->usage, at, &sum);
	return 0;
}

/** Count the rows of a leaf.  @changed  Whether the delta may replace or remove rows. */
static int count_leaf(struct report *r, uint32_t leaf, bool changed)
{
	/* The column IC_INO is needed only if the leaf has hard links. */
	static const unsigned char always[] = {
		IC_DIR, IC_MODE, IC_NLINK, IC_BLOCKS, IC_SIZE, IC_FLAGS,
	};
	static const unsigned char of_key[] = {
		[REPORT_USER] = IC_UID, [REPORT_GROUP] = IC_GID, [REPORT_EXTENSION] = IC_NAME,
		[REPORT_AGE] = IC_MSEC, [REPORT_SIZE] = IC_SIZE,
	};
	uint64_t values[IC_COUNT][INDEX_LEAF];
	unsigned columns = 1u << of_key[r->by] | (changed ? 1u << IC_NAME : 0);
	const uint32_t n = segment_leaf_rows(r->segment, leaf);
	struct index_row row = {0};
	bool linked = false;
	for (size_t i = 0; i < sizeof(always); ++i)
		columns |= 1u << always[i];
	for (unsigned c = 0; c < IC_COUNT; ++c) {
		if (columns >> c & 1
		    && segment_leaf_column(r->segment, leaf, (enum index_column)c, values[c]) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < n && !linked; ++i)
		linked = values[IC_NLINK][i] > 1 && (values[IC_MODE][i] >> 12 & 15) != DT_DIR;
	if (linked) {
		columns |= 1u << IC_INO;
		if (segment_leaf_column(r->segment, leaf, IC_INO, values[IC_INO]) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < n; ++i) {
		for (unsigned left = columns; left; left &= left - 1) {
			const int c = __builtin_ctz(left);
			row.col[c] = values[c][i];
		}
		if (changed) {
			size_t len;
			const char *name = segment_name(r->segment, (uint32_t)row.col[IC_NAME],
			                                &len);
			if (!name)
				return -1;
			if (index_is_replaced(r->index, r->cluster, &row, name, len))
				continue;
		}
		if (count(r, &row, NULL, 0) != 0)
			return -1;
	}
	return 0;
}

/** Count the objects of a cluster, with its delta. */
static int count_cluster(struct report *r)
{
	const bool changed = index_is_changed(r->index, r->cluster);
	struct index_change change;
	memset(r->slots, -1, sizeof(r->slots));
	if (index_segment(r->index, r->cluster, &r->segment) != 0)
		return -1;
	if (r->segment && r->by == REPORT_EXTENSION) {
		const size_t n = segment_names(r->segment) + (size_t)1;
		uint32_t *names = realloc(r->of_name, n * sizeof(*names));
		if (!names)
			return -1;
		memset(names, -1, n * sizeof(*names));
		r->of_name = names;
	}
	const uint32_t leaves = r->segment ? segment_leaves(r->segment) : 0;
	for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
		if (count_leaf(r, leaf, changed) != 0)
			return -1;
	}
	for (size_t at = 0; index_next_change(r->index, r->cluster, &at, &change);) {
		if (change.row && count(r, change.row, change.name, change.len) != 0)
			return -1;
	}
	if (r->segment)
		segment_trim(r->segment);
	return 0;
}

int report_add(struct report *r, size_t root, struct index *index, index_dir start)
{
	r->index = index;
	r->root = root;
	r->fs = map64_text(index_info(index)->uuid);
	r->nplaces = 0;
	map64_destroy(&r->dirs);
	memset(r->cache, -1, sizeof(r->cache));
	uint32_t row = usage_find(r->usage, root, "", 0, 0);
	if (row == USAGE_NONE || keep_place(r, start, (struct place){row, 0}) == UINT32_MAX)
		return -1;
	for (r->cluster = 0; r->cluster < index_clusters(index); ++r->cluster) {
		if (count_cluster(r) != 0)
			return -1;
	}
	return 0;
}
