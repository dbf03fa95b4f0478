/* SPDX-License-Identifier: MIT */
/**
 * The configuration of an audit, getmnt-audit.conf(5): one statement per line.
 *
 *     files --> audit_config_parse() --> rows --+--> audit_policy() --> POLICY-*
 *                                               '--> audit_config_apply(): findings ignored
 *
 * Pure, and linear in the bytes of the files.  Matching a pattern takes time proportional to at
 * most its length times the length of the name.
 */
#ifndef GM_AUDIT_CONFIG_H
#define GM_AUDIT_CONFIG_H

#include "audit/rules.h"
#include "discover/discover.h"
#include "mountopts/options.h"
#include "search/glob.h"

enum {
	AUDIT_LINE_MAX = 4096,       /* bytes of a line */
	AUDIT_ROWS_MAX = 4096,       /* statements, in all files */
	AUDIT_PROBLEMS_MAX = 100,    /* problems that are stored; more are only counted */
};

/** `until` of a row without an end date. */
#define AUDIT_FOREVER INT64_MAX

enum audit_verb { AUDIT_IGNORE, AUDIT_SEVERITY, AUDIT_REQUIRE };

/** A pattern for a whole string; `*` and `?` also match slashes. */
struct audit_glob {
	const char *exact;       /* the pattern, if it has no wildcards; else NULL */
	struct glob glob;
	struct glob_pool pool;
};

/** A statement. */
struct audit_row {
	enum audit_verb verb;
	const char *file;
	uint32_t line;           /* line number, from 1 */
	const char *place;       /* "FILE:LINE" */
	const char *text;        /* without a comment */
	int64_t until;           /* the last day on which it is valid, in days since 1970-01-01 */

	/* For ignore and severity: */
	audit_set codes;
	enum audit_severity severity;
	struct audit_glob *target, *type, *owner;   /* NULL: any */

	/* For require: */
	const char *path;        /* absolute and normalized */
	const char *options;
	struct opt *opts;        /* `options`, read by opts_read() */
	uint32_t nopts;
};

struct audit_problem {
	const char *place;       /* "FILE:LINE" */
	const char *why;         /* the problem and the remedy; may contain any bytes of the line */
};

/** An ignored finding, and the row that ignores it. */
struct audit_silenced {
	struct audit_finding finding;    /* its strings belong to the report */
	const struct audit_row *row;
};

/** Initialize with zeros. */
struct audit_config {
	struct audit_row *rows;          /* in the order of the files */
	size_t count;
	struct audit_problem problems[AUDIT_PROBLEMS_MAX];
	size_t nproblems;                /* number of all problems; at most AUDIT_PROBLEMS_MAX
	                                    are stored */
	audit_set off;            /* rules ignored everywhere; set by audit_config_apply() */
	struct audit_silenced *silenced; /* set by audit_config_apply() */
	size_t nsilenced;
	struct arena arena;
};

void audit_config_destroy(struct audit_config *config);

/** Parse a file, and append its statements.
    @file  The name, which is copied.
    @return 0, even if there are problems; or -1.  Errors: ENOMEM. */
int audit_config_parse(struct audit_config *config, const char *file, const char *text, size_t len);

/** Set the severities of findings, and move ignored findings from a report to config->silenced.
    @today  Days since 1970-01-01: rows with an earlier `until` have expired.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_config_apply(struct audit_report *report, struct audit_config *config, int64_t today);

/** Whether a row has expired. */
static inline bool audit_row_over(const struct audit_row *row, int64_t today)
{
	return row->until < today;
}

/** The days since 1970-01-01 of a date YYYY-MM-DD of n bytes; -1: not a date. */
int64_t audit_day(const char *date, size_t n);

/* policy.c: the requirements of the configuration compared with the mounts: POLICY-*,
   MNT-PROPAGATION.  Pure except for the facts. */

struct audit_policy_input {
	const struct audit_config *config;
	const struct discovery *d;
	const char *root;        /* paths of the configuration are below it */
	const struct fstab_facts *facts;
};

/** Check the requirements.  The mount at a path is the visible one, the top of a stack.  The
    options of an automount trigger are not checked.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_policy(const struct audit_policy_input *in, struct audit_report *report);

bool audit_glob_matches(const struct audit_glob *glob, const char *text);

#endif
