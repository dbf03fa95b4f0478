/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of scan.h.
 */
#ifndef GM_INDEX_SCAN_SCAN_IMPL_H
#define GM_INDEX_SCAN_SCAN_IMPL_H

#include "index/scan/scan.h"

#include "base/strbuf.h"

enum {
	WISH_KEYS = 64,           /* keys of filters for one name, at most */
	WISH_COLUMNS = 10,
};

/** A key that one of two filters must have. */
struct wish_key {
	uint8_t filter;           /* enum segment_filter */
	uint64_t hash;
	bool or_name;             /* or SF_NAMES has this: */
	uint64_t name;
};

/** What a scan looks for. */
struct wish {
	struct query_bounds bounds;
	const struct pattern *pattern;   /* NULL: none that excludes a name */
	uint64_t *live;           /* of pattern_last() */
	char *literal;            /* the only name; NULL: several */
	size_t literal_len;
	bool names;               /* names are compared */
	bool named;               /* see struct source_object */
	struct query_memo memo;   /* of names that are compared */
	bool exact;               /* what has such a name and is within bounds is found */
	struct wish_key keys[WISH_KEYS];
	size_t nkeys;
	/* The ranges of columns, in the form of these. */
	uint32_t needs;           /* the set of these, IC_MODE and IC_FLAGS */
	struct wish_column {
		enum index_column column;
		uint64_t min, max;
	} columns[WISH_COLUMNS];
	size_t ncolumns;
};

/** A directory that was judged, or one below a refused one. */
struct scan_dir {
	index_dir dir;
	uint32_t parent;          /* its place in dirs; the start has none */
	uint32_t name;            /* its place in names */
	uint32_t path_len, depth;
	uint32_t mark;            /* what enter() made of it */
	uint8_t len;              /* of its name; 0: the start */
	bool entered;
	bool all;                 /* also everything below */
};

/** A directory on the way to a known one. */
struct scan_link {
	index_dir dir;
	struct index_dir_info info;   /* only the parent, or all */
};

struct scan {
	struct index *index;
	struct scan_options options;
	struct wish wish;
	struct scan_counts counts;
	int error;                /* that ended the scan; 0 */

	/* Directories: scan_dirs.c */
	uint32_t **known;         /* of each cluster, what is known of each slot; or NULL */
	struct scan_dir *dirs;
	size_t ndirs, dirs_room;
	struct strbuf names;
	struct scan_link *chain;  /* scratch */
	size_t nchain, chain_room;
	struct strbuf path;       /* of the directory path_of, below the start */
	uint32_t path_of;

	/* The current cluster. */
	uint32_t cluster;         /* the next one */
	uint32_t current;
	struct segment *opened;   /* its segment, or NULL */
	struct segment *segment;  /* the same; NULL: only its delta is left */
	uint32_t name_id;         /* of wish.literal */
	uint8_t *matches;         /* otherwise: a bit for each name */
	size_t matches_room;
	bool changed;             /* it has a delta */
	size_t change;            /* place in the delta */
	uint32_t leaf;            /* the next one */
	uint16_t rows[INDEX_LEAF];   /* of the leaf, that are candidates */
	size_t nrows, row;
	uint32_t leaf_now;
	bool decoded[IC_COUNT];   /* columns of the leaf */
	uint64_t values[IC_COUNT][INDEX_LEAF];

	struct source_object object;
	struct index_row object_row;   /* if it comes from a delta */
	bool has_row;
	uint32_t object_at;       /* else its row in the leaf */
};

/* scan_wish.c (pure, but for the segment) */

/** @return 0, or -1 (ENOMEM). */
int wish_init(struct wish *wish, const struct scan_options *options);
void wish_destroy(struct wish *wish);

/** Whether a cluster can have candidates, by its summary. */
bool wish_has_summary(const struct wish *wish, const struct segment_summary *summary);

/** The same, by its filters.  @return 1, 0, or -1 (EBADMSG). */
int wish_has_filters(const struct wish *wish, struct segment *segment);

/** Whether a name can be that of a candidate. */
bool wish_has_name(const struct wish *wish, const char *name, size_t len);

/** Whether a row can be a candidate, except for its name. */
bool wish_has_row(const struct wish *wish, const struct index_row *row);

/** Whether a candidate is within the bounds.  @row  Its columns of wish->columns, IC_MODE and
    IC_FLAGS. */
enum query_value wish_within(const struct wish *wish, const struct index_row *row);

/** Whether the least time of change shows that there may be objects without attributes. */
static inline bool wish_may_be_lost(uint64_t least_csec)
{
	return least_csec <= index_from_signed(0);
}

/* scan_dirs.c */

int scan_dirs_init(struct scan *scan);
void scan_dirs_destroy(struct scan *scan);

/** Whether a directory is the start, or below it.  @return 1, 0, or -1. */
int scan_is_below(struct scan *scan, index_dir dir);

/** Whether the objects in a directory are wanted: call enter() for it and those above it, unless it
    was called.
    @object [out]  An object in it: dir, mark, path, path_len and depth are set.
    @return 1, 0: not wanted, or not below the start; or -1. */
int scan_enter(struct scan *scan, index_dir dir, struct source_object *object);

/** Get columns of a directory's row.  @columns  As of segment_row().
    @return 1; 0: it does not exist; -1. */
int scan_dir_row(struct scan *scan, index_dir dir, uint32_t columns, struct index_row *row);

#endif
