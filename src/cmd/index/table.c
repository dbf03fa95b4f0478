/* SPDX-License-Identifier: MIT */
#include "cmd/index/table.h"

#include "base/escape.h"
#include "base/fail.h"
#include "cmd/column.h"
#include "cmd/json.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>

static const struct table_column *column_at(const struct table *table, size_t i)
{
	const char *columns = table->columns;
	return (const void *)(columns + i * table->size);
}

int table_print(const struct table *table)
{
	struct libscols_table *out = scols_new_table();
	struct strbuf text = {0}, seen = {0};
	bool failed = !out;
	for (size_t i = 0; !failed && i < table->ncolumns; ++i) {
		const struct table_column *column = column_at(table, i);
		int flags = (column->type == CT_STRING ? 0 : SCOLS_FL_RIGHT)
		            | (column->only_json ? SCOLS_FL_HIDDEN : 0);
		failed = !scols_table_new_column(out, column->name, 0, flags);
	}
	for (size_t r = 0; !failed && r < table->nrows; ++r) {
		struct libscols_line *line = scols_table_new_line(out, NULL);
		failed = !line;
		for (size_t i = 0; !failed && i < table->ncolumns; ++i) {
			strbuf_reset(&text);
			strbuf_reset(&seen);
			table->cell(table->arg, r, column_at(table, i), false, &text);
			bool unseen = escape_unseen(&seen, strbuf_str(&text));
			failed = scols_line_set_data(line, i, strbuf_str(unseen ? &seen : &text));
		}
	}
	failed = failed || text.failed || seen.failed || print_table(out) != 0;
	strbuf_destroy(&text);
	strbuf_destroy(&seen);
	scols_unref_table(out);
	return failed ? fail(ENOMEM) : 0;
}

void table_json(const struct table *table, struct json *json, const char *key)
{
	struct strbuf text = {0};
	json_put_array(json, key, JSON_LINES);
	for (size_t r = 0; r < table->nrows; ++r) {
		json_put_object(json, NULL, JSON_INLINE);
		for (size_t i = 0; i < table->ncolumns; ++i) {
			const struct table_column *column = column_at(table, i);
			strbuf_reset(&text);
			table->cell(table->arg, r, column, true, &text);
			column_json(json, column->name,
			            column->type == CT_SIZE ? (unsigned)CT_NUMBER : column->type,
			            strbuf_str(&text));
		}
		json_end(json);
	}
	json_end(json);
	json->out->failed |= text.failed;
	strbuf_destroy(&text);
}
