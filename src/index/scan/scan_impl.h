/* SPDX-License-Identifier: MIT */
/**
 * Declarations that the files of a scan share.
 */
#ifndef GM_INDEX_SCAN_SCAN_IMPL_H
#define GM_INDEX_SCAN_SCAN_IMPL_H

#include "index/scan/scan.h"

#include "base/strbuf.h"

enum {
	WISH_KEYS = 64,           /* maximum number of filter keys for one name */
	WISH_COLUMNS = 10,
};

/** A filter key that a cluster with candidates has. */
struct wish_key {
	uint8_t filter;           /* the filter, enum segment_filter */
	uint64_t hash;
	bool or_name;             /* or the filter SF_NAMES has the key `name` */
	uint64_t name;
};

/** The criteria of a scan, in the form in which a cluster can be tested. */
struct wish {
	struct query_bounds bounds;
	const struct pattern *pattern;   /* NULL: the pattern excludes no name */
	uint64_t *live;           /* the words from pattern_last() */
	char *literal;            /* the only name of candidates; NULL: there can be several
	                             names */
	size_t literal_len;
	bool names;               /* names are compared */
	bool named;               /* the value of source_object.named for candidates */
	struct query_memo memo;   /* the tests that a compared name has passed */
	bool exact;               /* an object is in the result of the query if its name matches and
	                             its attributes are within the bounds */
	struct wish_key keys[WISH_KEYS];
	size_t nkeys;
	/* The ranges of columns that candidates must have. */
	uint32_t needs;           /* the set of these columns, IC_MODE and IC_FLAGS */
	struct wish_column {
		enum index_column column;
		uint64_t min, max;
	} columns[WISH_COLUMNS];
	size_t ncolumns;
};

/** A directory for which enter() was called, or that is below a directory that enter() refused. */
struct scan_dir {
	index_dir dir;
	uint32_t parent;          /* index in scan.dirs of its parent; unused for the start */
	uint32_t name;            /* offset in scan.names */
	uint32_t path_len, depth;
	uint32_t mark;            /* the mark that enter() set */
	uint8_t len;              /* length of its name; 0: the start */
	bool entered;
	bool all;                 /* everything below it is entered */
};

/** A directory on the way up to a known directory. */
struct scan_link {
	index_dir dir;
	struct index_dir_info info;   /* only .parent is set, or all members */
};

/** Invariants: `segment` is `opened` or NULL; `rows` has nrows ascending numbers of rows of the
    leaf leaf_now, of which those from `row` on were not returned yet; the first element of `dirs`
    is the start, and the parent of each other one comes before it. */
struct scan {
	struct index *index;
	struct scan_options options;
	struct wish wish;
	struct scan_counts counts;
	int error;                /* errno that ended the scan; 0: none */

	/* Directories (dirs.c): */
	uint32_t **known;         /* [cluster][slot]: state of a directory, see dirs.c; NULL: all
	                             are unknown */
	struct scan_dir *dirs;
	size_t ndirs, dirs_room;
	struct strbuf names;
	struct scan_link *chain;  /* buffer of climb() in dirs.c */
	size_t nchain, chain_room;
	struct strbuf path;       /* path from the start to the directory path_of */
	uint32_t path_of;

	/* The current cluster: */
	uint32_t cluster;         /* number of the next cluster */
	uint32_t current;
	struct segment *opened;   /* segment of the current cluster; NULL: none */
	struct segment *segment;  /* equal to `opened`, if the segment can have candidates; NULL:
	                             only the delta is scanned */
	uint32_t name_id;         /* number in the cluster of the name wish.literal */
	uint8_t *matches;         /* if there is no literal: a bit for each name of the cluster */
	size_t matches_room;
	bool changed;             /* the cluster has a delta */
	size_t change;            /* position for index_next_change() */
	uint32_t leaf;            /* the next leaf */
	uint16_t rows[INDEX_LEAF];   /* rows of the leaf that are candidates */
	size_t nrows, row;
	uint32_t leaf_now;
	bool decoded[IC_COUNT];   /* [column]: `values` has this column of the leaf */
	uint64_t values[IC_COUNT][INDEX_LEAF];

	struct source_object object;
	struct index_row object_row;   /* the row of `object`, if has_row */
	bool has_row;
	uint32_t object_at;       /* if not has_row: index of its row in the leaf */
};

/* wish.c (pure except for the segment) */

/** Convert the options of a scan.  @return 0, or -1 (ENOMEM). */
int wish_init(struct wish *wish, const struct scan_options *options);
void wish_destroy(struct wish *wish);

/** Whether a cluster can have candidates according to its summary. */
bool wish_has_summary(const struct wish *wish, const struct segment_summary *summary);

/** Whether a cluster can have candidates according to its filters.  @return 1, 0, or -1
    (EBADMSG). */
int wish_has_filters(const struct wish *wish, struct segment *segment);

/** Whether an object with this name can be a candidate. */
bool wish_has_name(const struct wish *wish, const char *name, size_t len);

/** Whether a row can be a candidate; its name is not tested. */
bool wish_has_row(const struct wish *wish, const struct index_row *row);

/** Whether a candidate is within the bounds.
    @row  With the columns wish->needs. */
enum query_value wish_within(const struct wish *wish, const struct index_row *row);

/** Whether a cluster or leaf may have objects without attributes (IF_LOST), whose change time is
    stored as second 0.
    @least_csec  The minimum of IC_CSEC. */
static inline bool wish_may_be_lost(uint64_t least_csec)
{
	return least_csec <= index_from_signed(0);
}

/* dirs.c */

int scan_dirs_init(struct scan *scan);
void scan_dirs_destroy(struct scan *scan);

/** Whether a directory is the start or below it.  @return 1, 0, or -1. */
int scan_is_below(struct scan *scan, index_dir dir);

/** Decide whether objects in a directory can be candidates: call enter() for the directories from
    the start to this one, unless it was called before.
    @object [out]  An object in the directory: dir, mark, path, path_len and depth are set.
    @return 1; 0: enter() refused, or the directory is not below the start; or -1. */
int scan_enter(struct scan *scan, index_dir dir, struct source_object *object);

/** Get columns of the row of a directory.
    @columns  As in segment_row().
    @return 1; 0: the directory does not exist; -1. */
int scan_dir_row(struct scan *scan, index_dir dir, uint32_t columns, struct index_row *row);

#endif
