/* SPDX-License-Identifier: MIT */
/**
 * Candidates for a query, from an index: routed by the summaries and filters of clusters, then by
 * the ranges of leaves, then by the columns of rows.
 *
 * What it returns includes every object for which the query can be true; the caller evaluates the
 * query for each.
 */
#ifndef GM_INDEX_SCAN_H
#define GM_INDEX_SCAN_H

#include "index/store.h"
#include "search/query_bounds.h"

/** A candidate. */
struct scan_object {
	index_dir dir;           /* its directory; of a directory itself its own number */
	bool is_dir;
	const char *path;        /* of its directory below the start: "", "/a/b"; of the start "" */
	size_t path_len;
	const char *name;        /* "" only for the start itself */
	size_t len;
	uint8_t type;            /* DT_* */
	const struct index_row *row;     /* complete */
};

struct scan;

/** What a scan is of. */
struct scan_options {
	index_dir start;                 /* objects at and below this directory */
	const struct query_bounds *bounds;   /* what the query requires; NULL: nothing */
	/* Directories whose contents are not wanted, such as those that another mount covers; and
	   those that -prune excludes.  NULL: all are entered.  Asked once for each directory at
	   most, parents first.  @return 1: enter; 0: do not; -1: end with errno. */
	int (*enter)(void *arg, const struct scan_object *dir);
	void *arg;
};

/** @index  Borrowed.  @return NULL: ENOMEM, EBADMSG. */
struct scan *scan_new(struct index *index, const struct scan_options *options);
void scan_free(struct scan *scan);

/** The next candidate, valid until the next call.  NULL: the end (errno 0), or an error: EBADMSG,
    ENOMEM. */
const struct scan_object *scan_next(struct scan *scan);

/** Counts, for --stats and tests. */
struct scan_counts {
	uint64_t clusters, opened;       /* that exist; that the filters did not exclude */
	uint64_t leaves, rows;           /* that were decoded */
};
void scan_count(const struct scan *scan, struct scan_counts *counts);

#endif
