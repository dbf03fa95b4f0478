/* SPDX-License-Identifier: MIT */
/**
 * The configuration of an audit: which rules are on and how grave they are, which mounts
 * are not to be told of, and what a policy requires.
 *
 *     files --> audit_config_parse() --> rows --+--> audit_policy() (policy.h) --> findings
 *                                               '--> audit_config_apply(): what is silenced
 *
 * A statement is a line; getmnt-audit.conf(5) has the language.  Pure, and linear in the
 * bytes of the files; what has wildcards is at most AUDIT_WILD_MAX rows, each of which
 * costs a finding at most the length of the glob times that of the mount point.
 *
 * A line that is none is a problem, with file and line: who uses a configuration that has
 * any would tell too little.
 */
#ifndef GM_AUDIT_CONFIG_H
#define GM_AUDIT_CONFIG_H

#include "audit/rules.h"
#include "base/map64.h"
#include "search/glob.h"

enum {
	AUDIT_LINE_MAX = 4096,       /* bytes of a line */
	AUDIT_WILD_MAX = 4096,       /* rows with wildcards, in all files */
	AUDIT_PROBLEMS_MAX = 100,    /* that are kept; the others are counted */
};

/** A row without an end. */
#define AUDIT_FOREVER INT64_MAX

enum audit_verb {
	AUDIT_RULE,
	AUDIT_IGNORE_OWNER,
	AUDIT_IGNORE_TYPE,
	AUDIT_IGNORE_TARGET,
	AUDIT_REQUIRE,
	AUDIT_SEPARATE,
	AUDIT_PROPAGATION,
};

/** A pattern of whole strings, in which `*` and `?` take slashes too. */
struct audit_glob {
	const char *exact;       /* without wildcards: the string; NULL: what is below */
	struct glob glob;
	struct glob_pool pool;
};

/** A statement. */
struct audit_row {
	enum audit_verb verb;
	const char *file;        /* as it was given */
	uint32_t line;           /* from 1 */
	const char *text;        /* as it stands, without a comment */
	int64_t until;           /* the last day on which it has effect, from 1970-01-01 on;
	                            AUDIT_FOREVER */
	uint64_t codes;          /* AUDIT_RULE: set of codes */
	int on;                  /* AUDIT_RULE: 1 on, 0 off, -1 nothing said */
	int severity;            /* AUDIT_RULE: enum audit_severity; -1 nothing said */
	struct audit_glob *glob; /* AUDIT_RULE: of the target, or NULL: all; AUDIT_IGNORE_* */
	const char *path;        /* a policy's: absolute, normal */
	const char *options;     /* AUDIT_REQUIRE: as they stand */
	unsigned propagation;    /* AUDIT_PROPAGATION: an enum mount_propagation */
};

/** What is wrong with a line. */
struct audit_problem {
	const char *file;
	uint32_t line;
	const char *why;         /* and what to do; may have any bytes of the line */
};

/** A finding that is not to be told, and the row that says so. */
struct audit_silenced {
	struct audit_finding finding;    /* its strings are the report's */
	const struct audit_row *row;
};

struct audit_config {
	struct audit_row *rows;          /* as they were read: later ones count more */
	size_t count, room, wild;
	struct audit_problem *problems;
	size_t nproblems;                /* all; AUDIT_PROBLEMS_MAX at most are kept */
	uint64_t rules;                  /* set of codes: findings of others are let be */
	uint64_t off;                    /* set of codes, by audit_config_apply(): nothing of them
	                                    is told of anything */
	struct audit_silenced *silenced; /* by audit_config_apply() */
	size_t nsilenced, silenced_room;
	struct arena arena;
};

void audit_config_init(struct audit_config *config);
void audit_config_destroy(struct audit_config *config);

/**
 * Read a file, behind those that were read before.
 *
 * @file   Its name, which is copied.
 * @return 0, also where there are problems; or -1.  Errors: ENOMEM.
 */
int audit_config_parse(struct audit_config *config, const char *file, const char *text, size_t len);

/**
 * Change the severity of findings, and take those from a report that are not to be told:
 * they are config->silenced then, and counted in report->silenced.
 *
 * @today  Days from 1970-01-01 on: a row whose `until` is before that has no effect.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_config_apply(struct audit_report *report, struct audit_config *config, int64_t today);

/** Whether a row has run out. */
static inline bool audit_row_over(const struct audit_row *row, int64_t today)
{
	return row->until < today;
}

/** The day of a date, n bytes that are YYYY-MM-DD; -1: it is none. */
int64_t audit_day(const char *date, size_t n);

/** Whether a glob matches a string. */
bool audit_glob_matches(const struct audit_glob *glob, const char *text);

/** Go through options with commas between.  @return the next one, of *n bytes, or NULL. */
const char *audit_next_option(const char **list, size_t *n);

/**
 * By what an option is known, so that those that contradict each other have the same: of
 * `exec` "noexec", of `size=1g` "size".
 *
 * @len [out]  Its length.
 * @shown [out]  Whether the kernel shows the option itself; else it is there where what
 *         it is known by is not shown.
 */
const char *audit_option_key(const char *option, size_t n, size_t *len, bool *shown);

#endif
