/* SPDX-License-Identifier: MIT */
/**
 * Ranges for the attributes of the objects that reach an action of a query (pure).  An index
 * selects candidates by these bounds.
 *
 * The bounds are necessary conditions, not sufficient ones: for AND they are the intersection of
 * the operands' bounds, for OR the smallest ranges that contain them; a test without bounds has
 * infinite ranges.  They hold for objects whose type and attributes are known.  With `exact` they
 * are also sufficient, except at the ends of ranges of time, where fractions of a second decide.
 */
#ifndef GM_SELECT_QUERY_BOUNDS_H
#define GM_SELECT_QUERY_BOUNDS_H

#include "select/query.h"

/** A range, including both ends; empty if min > max. */
struct query_range {
	uint64_t min, max;
};

/** A range of times, in seconds, including both ends. */
struct query_times {
	int64_t min, max;
};

struct query_pattern;

struct query_bounds {
	bool none;                       /* no object can satisfy the query */
	bool exact;
	unsigned types;                  /* 1 << DT_* */
	struct query_range uid, gid, size /* bytes */, ino, nlink;
	struct query_times mtime, ctime, atime, btime;
	/* Names: the whole name of the object must match this pattern of fnmatch(3); NULL: any
	   name. */
	const char *name;                /* borrowed from the query */
	bool literal;                    /* `name` has no special characters: the object's name must
	                                    equal it, except in case with any_case */
	bool any_case;
	const struct query_pattern *pattern;   /* `name` compiled, for query_bounds_name() */
	struct query_memo memo;          /* results of tests that are known for each name that
	                                    matches */
};

/** Fill the bounds of a query.  They are valid until the query is freed.
    @query  NULL: every object is selected.
    @bounds  [out] */
void query_bounds(const struct query *query, struct query_bounds *bounds);

/** Whether a name, which is followed by a NUL, matches the pattern of the bounds; true if there is
    no pattern. */
bool query_bounds_name(const struct query_bounds *bounds, const char *name, size_t len);

#endif
