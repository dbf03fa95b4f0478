/* SPDX-License-Identifier: MIT */
#include "cmd/column.h"

#include "base/escape.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "base/words.h"
#include "cmd/cmd.h"
#include "cmd/json.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/** The i-th row of a chain of tables; NULL: no more rows. */
static const struct column_info *row_at(const struct column_table *table, size_t i)
{
	for (; table; i -= table->count, table = table->more) {
		const char *rows = table->rows;
		if (i < table->count)
			return (const void *)(rows + i * table->size);
	}
	return NULL;
}

const void *column_after(const struct column_table *table, const void *previous)
{
	const struct column_info *after = previous, *best = NULL, *row;
	for (size_t i = 0; (row = row_at(table, i)); ++i) {
		if ((!after || strcmp(row->name, after->name) > 0)
		    && (!best || strcmp(row->name, best->name) < 0))
			best = row;
	}
	return best;
}

const struct column_info *column_find(const struct column_table *table, const char *name, size_t n)
{
	const struct column_info *row;
	for (size_t i = 0; (row = row_at(table, i)); ++i) {
		if (strlen(row->name) == n && strncasecmp(row->name, name, n) == 0)
			break;
	}
	return row;
}

const struct column_info *column_named(const struct column_table *table, const char *option,
                                       const char *name, size_t n)
{
	const struct column_info *row = column_find(table, name, n);
	if (row)
		return row;
	struct near near = {.word = name, .n = n};
	for (size_t i = 0; n > 2 && (row = row_at(table, i)); ++i)
		near_try(&near, row->name, row->name);
	int shown = (int)utf8_cut(name, n < 60 ? n : 60);
	bool list = strcmp(option, "--output") == 0;
	if (near.best)
		message(option, "unknown column \"%.*s\"; did you mean \"%s\"?", shown, name,
		        (const char *)near.best);
	else if (list && (!n || memchr(name, ' ', n)))
		message(option, "\"%.*s\" is no column; separate columns by commas, without "
		        "blanks: -o A,B", shown, name);
	else
		message(option, "unknown column \"%.*s\"; %s lists the columns", shown, name,
		        table->list_command);
	return NULL;
}

int column_add(const struct column_table *table, const char *list, bool once,
               const struct column_info *columns[COLUMNS_MAX], size_t *count)
{
	for (;; ++list) {
		size_t n = strcspn(list, ","), had = once ? 0 : *count;
		const struct column_info *row = column_named(table, "--output", list, n);
		if (!row)
			return CX_ERROR;
		while (had < *count && columns[had] != row)
			++had;
		if (had == COLUMNS_MAX) {
			message("--output", "more than %d columns", COLUMNS_MAX);
			return CX_ERROR;
		}
		columns[had] = row;
		*count += had == *count;
		list += n;
		if (!*list)
			return 0;
	}
}

/** Append bytes to a struct strbuf: for fopencookie(3). */
static ssize_t keep(void *cookie, const char *bytes, size_t n)
{
	struct strbuf *text = cookie;
	strbuf_add(text, bytes, n);
	return text->failed ? 0 : (ssize_t)n;
}

int table_text(struct libscols_table *table, struct strbuf *text)
{
	FILE *to = scols_table_get_stream(table);
	char room[16 * 1024];
	FILE *kept = fopencookie(text, "w", (cookie_io_functions_t){ .write = keep });
	if (!kept)
		return -1;
	/* libsmartcols writes single bytes: do not lock the stream for each byte, since no other
	   thread uses this stream. */
	__fsetlocking(kept, FSETLOCKING_BYCALLER);
	setvbuf(kept, room, _IOFBF, sizeof(room));
	scols_table_set_stream(table, kept);
	errno = 0;
	int rc = scols_print_table(table);
	/* If memory runs out, libsmartcols can leave out data and return 0, but errno is set. */
	int error = rc == 0 ? errno : -rc;
	scols_table_set_stream(table, to);
	if (fclose(kept) != 0)
		error = ENOMEM;
	return rc == 0 && error != ENOMEM ? 0 : fail(error);
}

int print_table(struct libscols_table *table)
{
	FILE *to = scols_table_get_stream(table);
	struct strbuf text = {0};
	int rc = table_text(table, &text);
	if (rc == 0) {
		fwrite(strbuf_str(&text), 1, text.len, to);
		if (text.len && scols_table_is_json(table))
			putc('\n', to);
	}
	int error = errno;
	strbuf_destroy(&text);
	errno = rc == 0 ? 0 : error;
	return rc;
}

int column_list(const struct column_table *columns, int form)
{
	static const char *const types[] = {
		[CT_STRING] = "<string>", [CT_NUMBER] = "<integer>", [CT_DECIMAL] = "<number>",
		[CT_SIZE] = "<string|number>", [CT_LIST] = "<array>",
	};
	struct libscols_table *table = scols_new_table();
	if (!table)
		return -1;

	int rc = -1;
	scols_table_enable_noheadings(table, 1);
	scols_table_enable_raw(table, form == FORM_RAW);
	scols_table_enable_export(table, form == FORM_PAIRS);
	scols_table_enable_json(table, form == FORM_JSON);
	if (scols_table_set_name(table, "getmnt-columns") != 0
	    || !scols_table_new_column(table, "HOLDER", 0, SCOLS_FL_RIGHT)
	    || !scols_table_new_column(table, "TYPE", 0, 0)
	    || !scols_table_new_column(table, "DESCRIPTION", 0, 0))
		goto out;
	for (const struct column_info *column = column_after(columns, NULL); column;
	     column = column_after(columns, column)) {
		struct libscols_line *line = scols_table_new_line(table, NULL);
		if (!line || scols_line_set_data(line, 0, column->name)
		    || scols_line_set_data(line, 1, types[column->type])
		    || scols_line_set_data(line, 2, column->help))
			goto out;
	}
	rc = print_table(table);
out:
	scols_unref_table(table);
	return rc;
}

void column_json(struct json *json, const char *key, unsigned type, const char *text)
{
	if (type == CT_LIST) {
		struct strbuf item = {0};
		json_put_array(json, key, JSON_INLINE);
		while (text && *text) {
			size_t n = strcspn(text, "\n");
			strbuf_reset(&item);
			strbuf_add(&item, text, n);
			json_put_string(json, NULL, strbuf_str(&item));
			text += n + (text[n] == '\n');
		}
		json_end(json);
		json->out->failed |= item.failed;
		strbuf_destroy(&item);
	} else if (!text || !*text) {
		json_put_string(json, key, NULL);
	} else if (type == CT_NUMBER || type == CT_DECIMAL) {
		json_put_literal(json, key, text);
	} else {
		json_put_text(json, key, text);
	}
}

/** Append a size as column_size() does.  @up  Round up, instead of to the nearest tenth. */
static void put_size(struct strbuf *text, uint64_t bytes, bool up)
{
	unsigned exp = 0;
	while (exp < 60 && bytes >> (exp + 10))
		exp += 10;
	const uint64_t unit = (uint64_t)1 << exp;
	uint64_t whole = bytes >> exp;
	/* A unit is at most 2^60, so ten units fit into 64 bits. */
	uint64_t tenths = ((bytes & (unit - 1)) * 10 + (up ? unit - 1 : unit / 2)) >> exp;
	if (tenths == 10) {
		++whole;
		tenths = 0;
	}
	strbuf_number(text, whole);
	if (tenths)
		strbuf_printf(text, ".%u", (unsigned)tenths);
	if (bytes)
		strbuf_putc(text, "BKMGTPE"[exp / 10]);
}

void column_size(struct strbuf *text, uint64_t bytes)
{
	put_size(text, bytes, false);
}

void column_size_up(struct strbuf *text, uint64_t bytes)
{
	put_size(text, bytes, true);
}

void column_percent(struct strbuf *text, uint64_t total, uint64_t left, uint64_t available)
{
	__int128 used = (__int128)total - left;
	__int128 whole = used + (int64_t)available;
	if (used < 0 || whole <= 0 || left == UINT64_MAX || available == UINT64_MAX) {
		strbuf_putc(text, '-');
		return;
	}
	strbuf_number(text, (uint64_t)((used * 100 + whole - 1) / whole));
	strbuf_putc(text, '%');
}
