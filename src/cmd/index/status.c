/* SPDX-License-Identifier: MIT */
/*
 * getmnt index status: each mount, its index, or why it has none.
 */
#include "cmd/index/index.h"

#include "cmd/table.h"

#include <errno.h>
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
	struct table_column head;
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
	{{"TARGET", CT_STRING}, put_target},
	{{"FSTYPE", CT_STRING}, put_fstype},
	{{"NOTE", CT_STRING}, put_note},
};

static void put_cell(const void *rows, size_t row, const void *column, bool json,
                     struct strbuf *text)
{
	(void)json;
	((const struct status_column *)column)->cell((const struct status_row *)rows + row, text);
}

/** Print the table as JSON.  @return 0, or -1 (ENOMEM). */
static int put_json(const struct table *table)
{
	struct strbuf out = {0};
	struct json json = {.out = &out};
	json_put_object(&json, NULL, JSON_LINES);
	table_json(table, &json, "filesystems");
	json_put_number(&json, "schema", 1);
	json_put_string(&json, "version", GETMNT_VERSION);
	json_end(&json);
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
	const struct table table = {
		.columns = columns, .size = sizeof(*columns),
		.ncolumns = sizeof(columns) / sizeof(*columns), .nrows = ir.nplaces,
		.cell = put_cell, .arg = rows,
	};
	if (!status && (!rows || (opts.json ? put_json : table_print)(&table) != 0)) {
		message("index", "%s", strerror(errno));
		status = CX_ERROR;
	}
	free(rows);
	index_run_end(&ir);
	return finish_stdout() == 0 ? status : CX_ERROR;
}
