/* SPDX-License-Identifier: MIT */
/**
 * The audits of many hosts, put together: which hosts are clean, and which are not and why.
 *
 *     lines, each of an audit --> collect_add() ---.
 *     lines that are none ------> collect_note() ---+-> collect_judge() --> states, groups
 *     hosts there should be ----> collect_expect() '
 *
 * Pure.  What a host says last is what it says: of several lines of a host the one with
 * the latest time is taken, of those with the same time the last, and the others are
 * counted and named as duplicates.
 *
 * Hosts and codes are numbers here, and a host's findings of one code and severity are one
 * entry of 8 bytes: 10,000 hosts with 20 findings each are under 4 MiB.
 */
#ifndef GM_AUDIT_COLLECT_H
#define GM_AUDIT_COLLECT_H

#include "audit/rules.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The version of the lines that is known: docs/audit.schema.json. */
enum { COLLECT_SCHEMA = 1 };

/** What there is to be said of a host, the first that holds from MISSING on backwards. */
enum collect_state {
	COLLECT_CLEAN,       /* all is known, and nothing at or above fail_on was found */
	COLLECT_INCOMPLETE,  /* the same, but not all is known; or its status was 2 */
	COLLECT_FINDINGS,
	COLLECT_FAILED,      /* it could not be audited */
	COLLECT_STALE,       /* its line is too old, or of a time that has not come */
	COLLECT_UNREAD,      /* its line is of another schema */
	COLLECT_MISSING,     /* it is expected, and there is no line of it */
	COLLECT_STATES,
};

/** "clean", "incomplete", "findings", "failed", "stale", "unread", "missing". */
const char *collect_state_name(enum collect_state state);

/** What may be the matter with a line. */
enum collect_trouble {
	COLLECT_DUPLICATE,   /* there is a later one of this host */
	COLLECT_CUT,         /* its end is missing */
	COLLECT_DAMAGED,     /* it is no audit */
	COLLECT_OLDER,       /* of an older schema than is known */
	COLLECT_NEWER,       /* of a newer one */
	COLLECT_TROUBLES,
};

/** "duplicate", "cut", "damaged", "older", "newer". */
const char *collect_trouble_name(enum collect_trouble trouble);

/** Where a line stands. */
struct collect_place {
	uint32_t file;       /* of collection.files */
	uint32_t line;       /* from 1; 0: none */
};

/** What is the matter with a line, and why. */
struct collect_told {
	struct collect_place place;
	const char *why;     /* or NULL */
};

struct collect_finding {
	const char *code;    /* of letters, digits and "-"; one that is not ours as well */
	enum audit_severity severity;
};

/** What a line says. */
struct collect_line {
	const char *host;
	int64_t schema;      /* of another than COLLECT_SCHEMA, the rest below is not known */
	int64_t time;        /* seconds since 1970; INT64_MAX: not known */
	bool complete;
	int exit_status;
	const char *failed;  /* why it could not be audited; or NULL */
	const char *reason;  /* why not all is known, the first one; or NULL */
	const struct collect_finding *findings;
	size_t nfindings;
	const char *const *unjudged;   /* codes that could not be judged of everything */
	size_t nunjudged;
};

/** Of a host: so many findings of a code and severity. */
struct collect_found {
	uint32_t code : 29, severity : 3;   /* AUDIT_CRITICAL + 1: not judged of everything */
	uint32_t count;
};
enum { COLLECT_UNJUDGED = AUDIT_CRITICAL + 1 };

struct collect_host {
	const struct collect_found *found;   /* by code and severity */
	uint32_t nfound;
	struct collect_place place;
	uint32_t why;        /* of collection.texts: why it failed, or is not complete; or INTERN_NONE */
	int64_t time;
	unsigned char state; /* enum collect_state, by collect_judge() */
	bool expected, complete, failed, unread, doubtful;
};

/** Hosts that have something in common. */
struct collect_group {
	const char *text;    /* a code, or why a host is in its state ("" for nothing) */
	int kind;            /* severity as in struct collect_found, or enum collect_state */
	size_t findings;     /* of the code and severity, on all of these */
	const char **hosts;  /* their names, in the order of their first lines */
	size_t count;
};

/** Positions that are kept of each trouble; beyond, they are counted. */
enum { COLLECT_PLACES_MAX = 10000 };

struct collection {
	struct intern names;             /* of hosts; hosts[] has the same numbers */
	struct intern codes, texts;
	const char **files;
	size_t nfiles;
	struct collect_host *hosts;
	size_t room;
	size_t lines;                    /* that were taken, also of those that others replaced */
	struct collect_told *told[COLLECT_TROUBLES];
	size_t ntold[COLLECT_TROUBLES], troubles[COLLECT_TROUBLES];
	bool expects;                    /* collect_expect() was called */
	struct arena arena;

	/* By collect_judge(). */
	bool *on;                            /* of each code */
	size_t of[COLLECT_STATES], unexpected, ahead;   /* ahead: of the stale, those of a time to come */
	struct collect_group *codes_found;   /* by severity, gravest first, and hosts, most first */
	size_t ncodes_found;
	struct collect_group *reasons;       /* of each state, but clean; by hosts, most first */
	size_t nreasons;
	struct arena judged;
};

/** How it is judged. */
struct collect_rules {
	enum audit_severity fail_on;     /* what is graver or as grave makes a host one with findings */
	uint64_t rules;                  /* set of codes that are on */
	bool others;                     /* and of codes that are not ours */
	int64_t now;                     /* seconds since 1970 */
	int64_t max_age;                 /* in seconds; below 0: any */
};

/** Of a clock that is not quite ours, in seconds. */
enum { COLLECT_AHEAD = 300 };

void collect_init(struct collection *c);
void collect_destroy(struct collection *c);

/** Begin a file of this name.  @return its number, or -1.  Errors: ENOMEM. */
int collect_file(struct collection *c, const char *name);

/** Take a line; its strings are copied.  @return 0, or -1.  Errors: ENOMEM. */
int collect_add(struct collection *c, const struct collect_line *line, struct collect_place place);

/** Count a line that cannot be taken.  @why  Copied; or NULL.
    @return 0, or -1.  Errors: ENOMEM. */
int collect_note(struct collection *c, enum collect_trouble trouble, struct collect_place place, const char *why);

/** Expect a host.  @return 0, or -1.  Errors: ENOMEM. */
int collect_expect(struct collection *c, const char *host);

/** Give each host its state, group them, and put troubles in order.  It may be called again.
    @return 0, or -1.  Errors: ENOMEM. */
int collect_judge(struct collection *c, const struct collect_rules *rules);

#endif
