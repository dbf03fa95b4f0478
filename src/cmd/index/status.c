/* SPDX-License-Identifier: MIT */
/*
 * getmnt index status: each mount, its index, or why it has none.
 */
#include "cmd/index/index.h"

#include "base/escape.h"
#include "cmd/column.h"
#include "cmd/json.h"
#include "cmd/output.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct status_opts {
	const char *dir;
	bool json, help;
};

static const struct option_row status_rows[] = {
	OPTION_GROUP("Output"),
	{"json", 'J', NULL, "a JSON document", OPT_IS_FLAG(struct status_opts, json)},
	OPTION_GROUP("General"),
	OPTION_INDEX_DIR(struct status_opts, dir),
	OPTION_HELP(struct status_opts, help),
};

const struct option_table index_status_table = {
	"index status", status_rows, sizeof(status_rows) / sizeof(*status_rows),
};

/** A row of the table. */
struct status_row {
	struct index_run *ir;
	const struct place *place;
};

/** A column of the table. */
struct status_column {
	const char *name;
	unsigned char type;      /* enum column_type */
	/* Append the text; nothing: unknown. */
	void (*cell)(const struct status_row *row, struct strbuf *text);
};

static void put_target(const struct status_row *row, struct strbuf *text)
{
	const char *name = run_name(&row->ir->run, (size_t)(row->place - row->ir->places));
	name = name ? name : row->place->mount->point;
	strbuf_puts(text, name ? name : "");
}

static void put_fstype(const struct status_row *row, struct strbuf *text)
{
	strbuf_puts(text, row->place->mount->fstype ? row->place->mount->fstype : "");
}

static void put_note(const struct status_row *row, struct strbuf *text)
{
	const struct place *place = row->place;
	struct status_row other = {row->ir, row->ir->places + place->of};
	strbuf_puts(text, place->why == PLACE_INDEX ? "not indexed" : index_why(place->why));
	if (place->why == PLACE_SAME) {
		strbuf_puts(text, ", ");
		put_target(&other, text);
	}
}

static const struct status_column columns[] = {
	{"TARGET", CT_STRING, put_target},
	{"FSTYPE", CT_STRING, put_fstype},
	{"NOTE", CT_STRING, put_note},
};

enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

/** Print the rows as a table.  @return 0, or -1 (ENOMEM). */
static int put_table(const struct status_row *rows, size_t n)
{
	struct libscols_table *table = scols_new_table();
	struct strbuf text = {0}, seen = {0};
	bool failed = !table;
	for (size_t i = 0; !failed && i < COLUMNS; ++i)
		failed = !scols_table_new_column(table, columns[i].name, 0,
		                                 columns[i].type == CT_STRING ? 0
		                                 : SCOLS_FL_RIGHT);
	for (size_t r = 0; !failed && r < n; ++r) {
		struct libscols_line *line = scols_table_new_line(table, NULL);
		failed = !line;
		for (size_t i = 0; !failed && i < COLUMNS; ++i) {
			strbuf_reset(&text);
			strbuf_reset(&seen);
			columns[i].cell(&rows[r], &text);
			bool unseen = escape_unseen(&seen, strbuf_str(&text));
			failed = scols_line_set_data(line, i, strbuf_str(unseen ? &seen : &text));
		}
	}
	failed = failed || text.failed || seen.failed || print_table(table) != 0;
	strbuf_destroy(&text);
	strbuf_destroy(&seen);
	scols_unref_table(table);
	return failed ? fail(ENOMEM) : 0;
}

/** Print the rows as JSON.  @return 0, or -1 (ENOMEM). */
static int put_json(const struct status_row *rows, size_t n)
{
	struct strbuf out = {0}, text = {0};
	struct json json = {.out = &out};
	json_put_object(&json, NULL, JSON_LINES);
	json_put_array(&json, "filesystems", JSON_LINES);
	for (size_t r = 0; r < n; ++r) {
		json_put_object(&json, NULL, JSON_INLINE);
		for (size_t i = 0; i < COLUMNS; ++i) {
			strbuf_reset(&text);
			columns[i].cell(&rows[r], &text);
			column_json(&json, columns[i].name, columns[i].type, strbuf_str(&text));
		}
		json_end(&json);
	}
	json_end(&json);
	json_put_number(&json, "schema", 1);
	json_put_string(&json, "version", GETMNT_VERSION);
	json_end(&json);
	out.failed |= text.failed;
	strbuf_destroy(&text);
	return print_buffer(&out);
}

int cmd_index_status(int argc, char **argv)
{
	struct status_opts opts = {0};
	int status = options_read(&index_status_table, argc, argv, &opts);
	if (status)
		return status;
	if (opts.help) {
		options_help(&index_status_table, "Usage:\n getmnt index status [options]\n\n"
		             "Print each mount with its index, or why it has none.\n", NULL,
		             stdout);
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	if (optind < argc)
		return usage_error(argv[optind], "unexpected argument");
	struct index_run ir;
	status = index_run_begin(&ir, opts.dir, false);
	struct status_row *rows = status ? NULL : calloc(ir.nplaces + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < ir.nplaces; ++i)
		rows[i] = (struct status_row){&ir, &ir.places[i]};
	if (!status && (!rows || (opts.json ? put_json : put_table)(rows, ir.nplaces) != 0)) {
		message("index", "%s", strerror(errno));
		status = CX_ERROR;
	}
	free(rows);
	index_run_end(&ir);
	return finish_stdout() == 0 ? status : CX_ERROR;
}
