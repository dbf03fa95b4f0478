/* SPDX-License-Identifier: MIT */
/**
 * The configuration of an audit, getmnt-audit.conf(5): one statement per line.
 *
 *     files --> audit_config_parse() --> rows --+--> audit_policy() --> POLICY-*
 *                                               '--> audit_config_apply(): findings ignored
 *
 * Pure, and linear in the bytes of the files.  The time to match a name with a pattern is at most
 * proportional to the product of their lengths.
 */
#ifndef GM_AUDIT_CONFIG_H
#define GM_AUDIT_CONFIG_H

#include "audit/rules.h"
#include "discover/discover.h"
#include "mountopts/options.h"
#include "select/glob.h"

enum {
	AUDIT_LINE_MAX = 4096,       /* maximum bytes of a line */
	AUDIT_ROWS_MAX = 4096,       /* maximum number of statements in all files */
	AUDIT_PROBLEMS_MAX = 100,    /* maximum number of problems that are stored; further
	                                problems are only counted */
};

/** The value of audit_row.until for a statement without an end date. */
#define AUDIT_FOREVER INT64_MAX

enum audit_verb { AUDIT_IGNORE, AUDIT_SEVERITY, AUDIT_REQUIRE };

/** A pattern that a whole string must match; `*` and `?` also match slashes. */
struct audit_glob {
	const char *exact;       /* the pattern, if it has no wildcards; else NULL */
	struct glob glob;
	struct glob_pool pool;
};

/** A statement of the configuration. */
struct audit_row {
	enum audit_verb verb;
	const char *file;
	uint32_t line;           /* line number, from 1 */
	const char *place;       /* "FILE:LINE" */
	const char *text;        /* the statement, without a comment */
	int64_t until;           /* the last day on which the statement is valid, in days since
	                            1970-01-01 */

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

/** An ignored finding, and the statement that ignores it. */
struct audit_silenced {
	struct audit_finding finding;    /* its strings belong to the report */
	const struct audit_row *row;
};

/** A parsed configuration.  Initialize with zeros. */
struct audit_config {
	struct audit_row *rows;          /* in the order of the files */
	size_t count;
	struct audit_problem problems[AUDIT_PROBLEMS_MAX];
	size_t nproblems;                /* number of all problems; at most AUDIT_PROBLEMS_MAX
	                                    are stored */
	audit_set off;            /* rules of which all findings are ignored; set by
	                             audit_config_apply() */
	struct audit_silenced *silenced; /* set by audit_config_apply() */
	size_t nsilenced;
	struct arena arena;
};

void audit_config_destroy(struct audit_config *config);

/** Parse the text of a file, and append its statements and problems.
    @file  The name of the file, which is copied.
    @return 0, even if the file has problems; or -1.  Errors: ENOMEM. */
int audit_config_parse(struct audit_config *config, const char *file, const char *text, size_t len);

/** Set the severities of findings, and move ignored findings from a report to config->silenced.
    @today  Days since 1970-01-01: statements with an earlier `until` have expired.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_config_apply(struct audit_report *report, struct audit_config *config, int64_t today);

/** Whether a statement has expired. */
static inline bool audit_row_over(const struct audit_row *row, int64_t today)
{
	return row->until < today;
}

/** Convert a date YYYY-MM-DD of n bytes to days since 1970-01-01; -1: not a date. */
int64_t audit_day(const char *date, size_t n);

/* policy.c: compare the mounts with the requirements of the configuration: POLICY-*,
   MNT-PROPAGATION.  Pure except for the facts. */

struct audit_policy_input {
	const struct audit_config *config;
	const struct discovery *d;
	const char *root;        /* root directory of the audited system: paths in the configuration
	                            start from this directory */
	const struct fstab_facts *facts;
};

/** Check the requirements.  Of several mounts on a path, the visible mount, the uppermost, is
    checked.  The options of an automount trigger are not checked.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_policy(const struct audit_policy_input *in, struct audit_report *report);

bool audit_glob_matches(const struct audit_glob *glob, const char *text);

#endif
