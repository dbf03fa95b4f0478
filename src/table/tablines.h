/* SPDX-License-Identifier: MIT */
/**
 * The text of an fstab or mtab as a list of lines, of which no byte is lost.
 *
 * Whatever the bytes are, the lines put together are the text again.  What a line
 * means is told beside its bytes: blank, a comment, an entry, or damaged; of an
 * entry its fields, where they lie and decoded; of what is damaged why, and what
 * of its fields could be made out, as a hint.  Which lines are entries libmount
 * says, as mount(8) would; a line is never dropped because of another.
 *
 * Pure, and linear in the bytes: lines without end, of any length, and files of
 * one NUL only are as good as any.
 */
#ifndef GM_TABLE_TABLINES_H
#define GM_TABLE_TABLINES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tabline_kind {
	TABLINE_BLANK,      /* nothing but blanks and tabs */
	TABLINE_COMMENT,    /* '#' behind any blanks */
	TABLINE_ENTRY,      /* mount(8) takes it */
	TABLINE_DAMAGED,    /* mount(8) refuses it, or takes another thing than stands there */
};

/** The fields of an entry. */
enum tabline_place {
	TABLINE_SOURCE,
	TABLINE_TARGET,
	TABLINE_FSTYPE,
	TABLINE_OPTIONS,
	TABLINE_FREQ,
	TABLINE_PASSNO,
	TABLINE_FIELDS,     /* how many there are */
};

struct tabline_field {
	const char *raw;    /* in the text; NULL: the line has no such field */
	size_t n;           /* bytes of that */
	const char *value;  /* decoded once, ends in a NUL; of options the text as it is
	                       written, for a decoded ',' could not be told from one that
	                       parts two; NULL: no such field */
};

struct tabline {
	const char *bytes;  /* in the text */
	size_t size;        /* bytes with the end of line */
	size_t n;           /* bytes without "\n" or "\r\n" */
	uint32_t number;    /* from 1 */
	enum tabline_kind kind;

	/* Why it is damaged.  Of an entry: what mount(8) passes over and somebody should
	   see, as an escape that is none; else NULL.  Static; no byte of the line. */
	const char *why;

	/* Of entries, and of damaged lines what can be made out. */
	unsigned nfields;   /* at most TABLINE_FIELDS */
	struct tabline_field fields[TABLINE_FIELDS];
	const char *rest;   /* behind the sixth field and its blanks: passed over by mount(8);
	                       NULL if nothing is there */
	size_t nrest;
	int freq, passno;   /* -1: not given, or no number */
};

struct tablines {
	struct tabline *lines;
	size_t count;
	const char *text;   /* as it was given; the lines point into it */
	size_t len;
	const char *eol;    /* the end that most lines have: "\n" or "\r\n" */
	bool ended;         /* the last line has its end; so has a text of no line */
	bool mark;          /* the text begins with a byte order mark: the first line is damaged */
	struct arena arena; /* the values */
};

/**
 * Cut a text into lines, and have each judged.
 *
 * Damaged are lines with a NUL byte, with a byte order mark before them, without
 * the first three fields, with a freq or pass that is no number, with an escape that
 * is a NUL or no byte at all (\400), and what else libmount refuses.  An entry with a why is one with a backslash in its source,
 * target or type that begins no escape of three octal digits, with a target that
 * is neither absolute nor a word for none, with bytes that are control characters,
 * with a number that is out of range, with text behind the last field that is no comment,
 * or with a CR at the end of a word.
 *
 * @text    Must live as long as the result.  Needs no NUL at its end.
 * @return  a list, to be freed by tablines_free(); NULL on error.
 * Errors: ENOMEM; EOVERFLOW (more than 2^32 - 1 lines).
 */
struct tablines *tablines_parse(const char *text, size_t len);

/** The same, but that no line is judged by libmount: for a format of which only lines
    and fields are of fstab's make (mnttab, setmnt); what has a field is an entry. */
struct tablines *tablines_cut(const char *text, size_t len);

/** Free a list; NULL is fine. */
void tablines_free(struct tablines *lines);

/** The decoded value of a field, or NULL: of entries and of damaged lines. */
static inline const char *tabline_value(const struct tabline *line, enum tabline_place place)
{
	return line->fields[place].value;
}

#endif
