/* SPDX-License-Identifier: MIT */
/**
 * What the tables of columns of all commands share: finding a column by name, --list-columns,
 * the completion, and how JSON writes a cell.
 */
#ifndef GM_CMD_COLUMN_H
#define GM_CMD_COLUMN_H

#include "cmd/json.h"

#include <stddef.h>

/** What a column contains: how JSON writes it. */
enum column_type {
	CT_STRING,
	CT_NUMBER,
	CT_DECIMAL,  /* a number with digits after the point */
	CT_SIZE,     /* a string for people; a number with --bytes */
	CT_LIST,     /* strings, separated by newlines */
};

/** The first member of every row of a table of columns. */
struct column_info {
	const char *name;
	const char *help;
	unsigned char type;       /* enum column_type */
};

/** A table of columns, maybe the first of a chain. */
struct column_table {
	const void *rows;
	size_t size;              /* of a row */
	size_t count;
	const char *list_command; /* for messages: "getmnt -H" */
	const struct column_table *more;
};

#define COLUMN_TABLE(rows, command, more) \
	{rows, sizeof(*(rows)), sizeof(rows) / sizeof(*(rows)), command, more}

/** The row that follows another one in the order of names.  @previous  NULL: the first.
    @return NULL if there is none. */
const void *column_after(const struct column_table *table, const void *previous);

/** The number of columns that may be requested. */
enum { COLUMNS_MAX = 128 };

/**
 * Append the columns of a list of names with commas between; case does not matter.
 *
 * @once    Leave out a column that is there already: an object has each key once.
 * @columns, count [in, out]  The rows.
 * @return 0, or CX_ERROR after a message.
 */
int column_add(const struct column_table *table, const char *list, bool once,
               const struct column_info *columns[COLUMNS_MAX], size_t *count);

/** Print --list-columns.  @form  FORM_RAW, FORM_PAIRS, FORM_JSON, or any other: a table.
    @return 0, or -1.  Errors: ENOMEM. */
int column_list(const struct column_table *table, int form);

/** Write the text of a cell by the type of its column; NULL or "" is null. */
void column_json(struct json *json, const char *key, unsigned type, const char *text);

#endif
