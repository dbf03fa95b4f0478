/* SPDX-License-Identifier: MIT */
/**
 * What the files of `getmnt audit --collect` share.
 *
 *     audit_collect.c        options, files read, the exit status
 *     audit_collect_line.c   a line: JSON of any kind, bounded, judged (no I/O)
 *     audit_collect_out.c    the result on one screen, and as a document (no I/O)
 *
 * What is put together of lines is of audit/collect.h.
 */
#ifndef GM_CMD_AUDIT_COLLECT_H
#define GM_CMD_AUDIT_COLLECT_H

#include "audit/collect.h"
#include "cmd/audit.h"

/** What is asked of it. */
struct collect_asked {
	struct audit_way *way;
	char **files;            /* ended by NULL; "-": standard input */
	const char *hosts;       /* a file of those expected; or NULL */
	int64_t max_age;         /* in seconds; below 0: any */
	uint64_t rules;          /* set of codes that are on */
	bool only;               /* and no others */
	int fail_on;             /* enum audit_severity; above: never */
	bool verbose;
};

/** Do it.  @return an exit status. */
int audit_collect(struct collect_asked *asked);

/** Read an age: a number, and s, m, h or d behind it.  @return 0, or an exit status after a message. */
int audit_collect_age(const char *text, int64_t *seconds);

/* A line. */

enum {
	COLLECT_LINE_MAX = 4 << 20,      /* bytes */
	COLLECT_DEPTH_MAX = 16,          /* of brackets within each other */
	COLLECT_VALUES_MAX = 200000,     /* of members and elements */
	COLLECT_NAME_MAX = 255,          /* bytes of a host's name */
	COLLECT_CODE_MAX = 63,
	COLLECT_REASON_MAX = 160,        /* of those longer, the beginning is kept */
};

/** What is the matter with a line, beside enum collect_trouble. */
enum { COLLECT_TAKEN = -1, COLLECT_BLANK = -2, COLLECT_NOMEM = -3 };

/** A line that was read. */
struct collect_read {
	struct collect_line line;        /* its strings are of json */
	struct collect_finding *findings;
	const char **unjudged;
	char why[COLLECT_REASON_MAX + 1];      /* of what cannot be taken */
	char reason[COLLECT_REASON_MAX + 1], failed[COLLECT_REASON_MAX + 1];
	void *json;
};

/**
 * Read a line: an audit as docs/audit.schema.json has it, of which each key that the
 * collection goes by must be there, and its findings as many as it counts.
 *
 * @read [out]  To be destroyed in any case.  Of another schema it has the host, if that is
 *              there, and the time; else host is NULL.
 * @return COLLECT_TAKEN, COLLECT_BLANK, COLLECT_NOMEM, or an enum collect_trouble.
 */
int collect_read_line(const char *text, size_t n, struct collect_read *read);
void collect_read_destroy(struct collect_read *read);

/**
 * Read a line, and put it to a collection.
 *
 * @return as collect_read_line().
 */
int collect_take(struct collection *c, const char *text, size_t n, struct collect_place place);

/* The result. */

/** A file that could not be read. */
struct collect_unreadable {
	const char *file, *why;
};

/** What there is to be told. */
struct collect_result {
	const struct collection *c;
	const struct collect_asked *asked;
	const struct collect_unreadable *unreadable;
	size_t nunreadable;
	int64_t now;
	int status;              /* AX_CLEAN ... */
	unsigned width;          /* of a screen; 0: nothing is cut */
	unsigned lines;          /* it may have */
};

/** The version of the document. */
enum { COLLECT_DOCUMENT = 1 };

/** On one screen. */
void audit_collect_text(const struct collect_result *result, struct strbuf *out);

/** All, as one document: docs/collect.schema.json. */
void audit_collect_json(const struct collect_result *result, struct strbuf *out);

#endif
