/* SPDX-License-Identifier: MIT */
/**
 * A table whose cells are made one by one, for a terminal or as JSON.
 */
#ifndef GM_CMD_INDEX_TABLE_H
#define GM_CMD_INDEX_TABLE_H

#include "cmd/column.h"

/** The first member of the struct of each column. */
struct table_column {
	const char *name;
	unsigned char type;       /* enum column_type */
	bool only_json;           /* shown only in JSON */
};

struct table {
	const void *columns;      /* each starts with a struct table_column */
	size_t size, ncolumns;    /* size of a column; number of columns */
	size_t nrows;
	/* Append the text of a cell, without escaping; nothing if the value is unknown.
	   @column  The element of `columns`.
	   @json  The text is for JSON: numbers have no units. */
	void (*cell)(const void *arg, size_t row, const void *column, bool json,
	             struct strbuf *text);
	const void *arg;
};

/** Print the table.  @return 0, or -1.  Errors: ENOMEM. */
__attribute__((warn_unused_result))
int table_print(const struct table *table);

/** Write the rows as a JSON array. */
void table_json(const struct table *table, struct json *json, const char *key);

#endif
