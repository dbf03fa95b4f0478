/* SPDX-License-Identifier: MIT */
/**
 * Find the candidates for a query in an index.  First the summaries and filters of clusters exclude
 * clusters, then the ranges of leaves exclude leaves, then the columns exclude rows.
 *
 * The candidates include every object for which the query can be true; the caller evaluates the
 * query for each candidate.  An object whose attributes are unknown (IF_LOST) is excluded only by
 * its name and type.
 */
#ifndef GM_INDEX_SCAN_SCAN_H
#define GM_INDEX_SCAN_SCAN_H

#include "index/store/store.h"
#include "search/source.h"

struct scan;

/** The directory, bounds and pattern of a scan. */
struct scan_options {
	index_dir start;                 /* the directory to search below */
	uint32_t mark;                   /* the mark of `start`, as from enter() */
	bool all;                        /* enter all directories below `start`, with this mark */
	const struct query_bounds *bounds;   /* copied */
	const struct pattern *pattern;   /* pattern of the search, which must exist until
	                                    scan_free(); NULL: none */
	/* As in struct source_start; the number of a directory is its index_dir. */
	int (*enter)(void *arg, const struct source_object *dir, uint32_t *mark);
	void *arg;
};

/** Begin a scan.  @index  Borrowed.  @return NULL: ENOMEM. */
struct scan *scan_new(struct index *index, const struct scan_options *options);
void scan_free(struct scan *scan);

/** Get the next candidate that is not a directory, valid until the next call.  Directories that are
    candidates are passed to enter().
    @return NULL: the end (errno is 0), or an error: EBADMSG, ENOMEM, errors of enter(). */
const struct source_object *scan_next(struct scan *scan);

/** Find a directory at or below the start, and call enter() for it and the directories above it.
    @path  "" for the start, or "/a/b", of len bytes.
    @in [out]  An object in the directory, without a name; valid until the next call.
    @return 1; 0: the directory does not exist, or was not entered; -1: EBADMSG, ENOMEM, errors of
    enter(). */
int scan_find(struct scan *scan, const char *path, size_t len, struct source_object *in);

/** Get attributes of the last candidate, or of the argument of enter().
    @mask  The attributes to get, STATX_*.
    @return 1; 0: the attributes are unknown; -1 (EBADMSG, ENOMEM). */
int scan_attributes(struct scan *scan, const struct source_object *object, unsigned mask,
                    struct k_statx *st);

/** Counts of the work of a scan, for --stats and tests. */
struct scan_counts {
	uint64_t clusters, opened;       /* all clusters; clusters that the summaries and filters
	                                    did not exclude */
	uint64_t leaves, rows;           /* leaves with decoded columns; rows that were compared */
};
void scan_count(const struct scan *scan, struct scan_counts *counts);

#endif
