/* SPDX-License-Identifier: MIT */
/**
 * The text of an fstab or mtab as a list of lines.  Pure.
 *
 * Concatenated, the lines are exactly the text, whatever its bytes.  Each line is blank, a comment,
 * an entry, or damaged.  An entry has fields, raw and decoded; a damaged line has the reason, and
 * the fields that could be read.  libmount decides which lines are entries, as mount(8) would.
 *
 * The time is linear in the size of the text.
 */
#ifndef GM_MOUNTS_TABLINES_H
#define GM_MOUNTS_TABLINES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum tabline_kind {
	TABLINE_BLANK,      /* only blanks and tabs */
	TABLINE_COMMENT,    /* '#', possibly after blanks */
	TABLINE_ENTRY,      /* mount(8) accepts it */
	TABLINE_DAMAGED,    /* mount(8) rejects or misreads it */
};

/** The fields of an entry. */
enum tabline_place {
	TABLINE_SOURCE,
	TABLINE_TARGET,
	TABLINE_FSTYPE,
	TABLINE_OPTIONS,
	TABLINE_FREQ,
	TABLINE_PASSNO,
	TABLINE_FIELDS,     /* number of fields */
};

struct tabline_field {
	const char *raw;    /* points into the text; NULL: the line lacks this field */
	size_t n;           /* length of raw */
	const char *value;  /* decoded, but options stay escaped, since a decoded ',' would look
	                       like a separator; NULL: the line lacks this field */
};

struct tabline {
	const char *bytes;  /* points into the text */
	size_t size;        /* length including the line ending */
	size_t n;           /* length without "\n" or "\r\n" */
	uint32_t number;    /* from 1 */
	enum tabline_kind kind;

	/* Why the line is damaged; for an entry, something suspicious that mount(8) ignores, or
	   NULL.  A static string. */
	const char *why;

	/* For entries, and for damaged lines as far as readable. */
	unsigned nfields;   /* at most TABLINE_FIELDS */
	struct tabline_field fields[TABLINE_FIELDS];
	const char *rest;   /* text after the sixth field, ignored by mount(8), or NULL */
	size_t nrest;
	int freq, passno;   /* -1: missing or not a number */
};

struct tablines {
	struct tabline *lines;
	size_t count;
	const char *text;   /* the argument of tablines_parse(); the lines point into it */
	size_t len;
	const char *eol;    /* the most frequent line ending: "\n" or "\r\n" */
	bool ended;         /* the last line has a line ending, or there are no lines */
	bool mark;          /* the text starts with a byte order mark: the first line is damaged */
	struct arena arena; /* owns the decoded values */
};

/**
 * Split a text into lines and classify them.
 *
 * Damaged: a NUL byte; a byte order mark; fewer than three fields; a freq or pass that is not a
 * number; an escape for NUL or beyond \377; anything else that libmount rejects.  Suspicious (an
 * entry whose why is set): a backslash in source, target or type without three octal digits; a
 * target that is neither absolute nor "none"; control characters; a number out of range; text after
 * the sixth field that is not a comment; a CR at the end of the last field.
 *
 * @text    Must remain valid as long as the result.  Need not end in a NUL.
 * @return  a list, or NULL.  Errors: ENOMEM; EOVERFLOW (more than 2^32 - 1 lines).
 */
struct tablines *tablines_parse(const char *text, size_t len);

/** Like tablines_parse() without libmount, for formats similar to fstab (mnttab, setmnt): every
    line with a field is an entry. */
struct tablines *tablines_cut(const char *text, size_t len);

/** Free a list; NULL is allowed. */
void tablines_free(struct tablines *lines);

/** Whether a line with at most six fields ends in a backslash, perhaps before blanks.  Its author
    may expect that the next line continues it, as in other files. */
bool tabline_is_continued(const struct tabline *line);

/** The decoded value of a field, or NULL. */
static inline const char *tabline_value(const struct tabline *line, enum tabline_place place)
{
	return line->fields[place].value;
}

#endif
