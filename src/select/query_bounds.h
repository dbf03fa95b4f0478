/* SPDX-License-Identifier: MIT */
/**
 * What a query requires of every object of which an action is reached, as ranges (pure), by
 * which an index selects candidates.
 *
 * The bounds are necessary conditions, not sufficient ones: of AND they are the intersection, of OR
 * the hull, of what has no bounds everything.  They hold for objects whose type and attributes are
 * known.  With `exact` they are also sufficient, except at the ends of times: there, fractions of
 * seconds decide.
 */
#ifndef GM_SELECT_QUERY_BOUNDS_H
#define GM_SELECT_QUERY_BOUNDS_H

#include "select/query.h"

/** A range, both ends included; min > max: nothing. */
struct query_range {
	uint64_t min, max;
};

/** The same of a time, in seconds. */
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
	/* Names: all of the object's name must match this pattern of fnmatch(3); NULL: any. */
	const char *name;                /* borrowed from the query */
	bool literal;                    /* it has no special characters left: it is the name */
	bool any_case;
	const struct query_pattern *pattern;   /* the same, for query_bounds_name() */
	struct query_memo memo;          /* of a name that matches */
};

/** Fill the bounds of a query.  They remain valid as long as the query.
    @query  NULL: none.  @bounds [out] */
void query_bounds(const struct query *query, struct query_bounds *bounds);

/** Whether a name, which ends in a NUL, matches the pattern; also without one. */
bool query_bounds_name(const struct query_bounds *bounds, const char *name, size_t len);

#endif
