/* SPDX-License-Identifier: MIT */
/**
 * Candidates for a query, from an index: routed by the summaries and filters of clusters, then by
 * the ranges of leaves, then by the columns of rows.
 *
 * What it returns includes every object for which the query can be true; the caller evaluates the
 * query for each.  Objects whose attributes are unknown (IF_LOST) are only bound by name and type.
 */
#ifndef GM_INDEX_SCAN_SCAN_H
#define GM_INDEX_SCAN_SCAN_H

#include "index/store/store.h"
#include "search/source.h"

struct scan;

/** What a scan is of. */
struct scan_options {
	index_dir start;                 /* objects below this directory */
	uint32_t mark;                   /* of the start */
	bool all;                        /* everything is entered, with this mark */
	const struct query_bounds *bounds;   /* copied */
	const struct pattern *pattern;   /* of the search; outlives the scan.  NULL: none */
	/* As of struct source_start; directories have the numbers of index_dir. */
	int (*enter)(void *arg, const struct source_object *dir, uint32_t *mark);
	void *arg;
};

/** @index  Borrowed.  @return NULL: ENOMEM. */
struct scan *scan_new(struct index *index, const struct scan_options *options);
void scan_free(struct scan *scan);

/** The next candidate that is not a directory, valid until the next call; directories that are
    candidates are passed to enter().  NULL: the end (errno 0), or an error: EBADMSG,
    ENOMEM, that of enter(). */
const struct source_object *scan_next(struct scan *scan);

/** Find a directory below the start, and call enter() for it and those above it.
    @path  "": the start; or "/a/b", len bytes.
    @in [out]  An object in it, without a name; valid until the next call.
    @return 1; 0: it does not exist, or is not entered; -1 (EBADMSG, ENOMEM, that of enter()). */
int scan_find(struct scan *scan, const char *path, size_t len, struct source_object *in);

/** Get attributes of the last candidate, or of the argument of enter().
    @mask  STATX_*, those to get.
    @return 1; 0: they are unknown; -1 (EBADMSG, ENOMEM). */
int scan_attributes(struct scan *scan, const struct source_object *object, unsigned mask,
                    struct k_statx *st);

/** Counts, for --stats and tests. */
struct scan_counts {
	uint64_t clusters, opened;       /* that exist; that the filters did not exclude */
	uint64_t leaves, rows;           /* whose columns were decoded; that were compared */
};
void scan_count(const struct scan *scan, struct scan_counts *counts);

#endif
