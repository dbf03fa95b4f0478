/* SPDX-License-Identifier: MIT */
/**
 * Shared by the tables of columns of all commands: finding a column by name, --list-columns, the
 * completion, and writing a cell as JSON.
 */
#ifndef GM_CMD_COLUMN_H
#define GM_CMD_COLUMN_H

#include "cmd/json.h"
#include "cmd/options.h"

/** The type of the cells of a column: decides how the cells are written as JSON. */
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

/** A table of columns; tables can form a chain. */
struct column_table {
	const void *rows;
	size_t size;              /* size of a row */
	size_t count;
	const char *list_command; /* command that lists the columns, such as "getmnt -H", for
	                             messages */
	const struct column_table *more;   /* the next table of the chain; or NULL */
};

#define COLUMN_TABLE(rows, command, more) \
	{rows, sizeof(*(rows)), sizeof(rows) / sizeof(*(rows)), command, more}

/** The next row in alphabetical order.  @previous  NULL: return the first row.
    @return NULL after the last row. */
const void *column_after(const struct column_table *table, const void *previous);

/** Find the column with a name of n bytes, in upper or lower case; or NULL. */
const struct column_info *column_find(const struct column_table *table, const char *name, size_t n);

/** Find a column as column_find() does, and report an unknown name.
    @option  The option whose argument contains the name, for the message.
    @return NULL after a message. */
const struct column_info *column_named(const struct column_table *table, const char *option,
                                       const char *name, size_t n);

/** Maximum number of columns in a list. */
enum { COLUMNS_MAX = 128 };

/** Append the columns of a comma-separated list of names, ignoring case.
    @once  Skip a column that `columns` has already: the keys of a JSON object are unique.
    @columns, count [in,out]  The columns.
    @return 0, or CX_ERROR after a message. */
int column_add(const struct column_table *table, const char *list, bool once,
               const struct column_info *columns[COLUMNS_MAX], size_t *count);

struct libscols_table;
struct strbuf;

/** Append a table in its output format; JSON without a final newline.  Unlike libsmartcols, fail if
    memory ran out.
    @return 0, or -1.  Errors: ENOMEM. */
__attribute__((warn_unused_result))
int table_text(struct libscols_table *table, struct strbuf *text);

/** Print a table; unlike libsmartcols, fail if memory ran out.
    @return 0, or -1.  Errors: ENOMEM. */
__attribute__((warn_unused_result))
int print_table(struct libscols_table *table);

/** Print --list-columns.  @form  FORM_RAW, FORM_PAIRS, FORM_JSON, or any other: a table.
    @return 0, or -1.  Errors: ENOMEM. */
__attribute__((warn_unused_result))
int column_list(const struct column_table *table, int form);

/** Write the text of a cell as JSON, by the type of its column; NULL or "" is null. */
void column_json(struct json *json, const char *key, unsigned type, const char *text);

/** Append a size with a unit letter and at most one decimal, as findmnt prints it: "1.5K". */
void column_size(struct strbuf *text, uint64_t bytes);

/** Append a size as column_size() does, but rounded up, as du(1) prints sizes. */
void column_size_up(struct strbuf *text, uint64_t bytes);

/** Append the percentage that df(1) prints: used / (used + available), rounded up, or "-" if the
    percentage is undefined.
    @total, left, available  The numbers of statfs(2): all, free, and available blocks or inodes.
    2^64 - n available blocks mean -n, and the largest number means unknown. */
void column_percent(struct strbuf *text, uint64_t total, uint64_t left, uint64_t available);

#endif
