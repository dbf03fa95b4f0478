/* SPDX-License-Identifier: MIT */
/*
 * getmnt index status: each mount with its index, or the reason why there is no index.
 */
#include "cmd/index/index.h"

#include "cmd/found/indexed.h"
#include "cmd/index/table.h"
#include "index/store/objects.h"
#include "os/change.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct status_opts {
	struct index_opts common;
	bool all, json;
};

static const struct option_row status_rows[] = {
	OPTION_GROUP("Output"),
	{"all", 'a', NULL, "also pseudo file systems and those in memory",
	 OPT_IS_FLAG(struct status_opts, all)},
	{"json", 'J', NULL, "a JSON document, always with --all",
	 OPT_IS_FLAG(struct status_opts, json)},
	OPTIONS_INDEX_GENERAL,
};

const struct option_table index_status_table = {
	"index status", status_rows, sizeof(status_rows) / sizeof(*status_rows),
};

/** A row of the table: a mount, or an index whose file system is not mounted. */
struct status_row {
	struct index_run *ir;
	const struct place *place;         /* the mount; NULL: the file system is not mounted */
	const struct index_found *found;   /* the index; NULL: the mount has no index */
	bool json;
	uint64_t rows, dirs;               /* objects and directories that a search finds */
	int error;                         /* why the index cannot be read; 0: the index can be
	                                      read */
};

/** A column of the table. */
struct status_column {
	struct table_column head;
	/* Append the text of a cell; nothing if the value is unknown. */
	void (*cell)(const struct status_row *row, struct strbuf *text);
};

static const struct index_info *info_of(const struct status_row *row)
{
	return row->found && !row->error ? index_info(row->found->index) : NULL;
}

static void put_target(const struct status_row *row, struct strbuf *text)
{
	const char *name = NULL;
	if (row->place)
		name = run_name(&row->ir->run, (size_t)(row->place - row->ir->places));
	if (row->place && !name)
		name = row->place->mount->point;
	if (!row->place && !row->json)
		name = row->found->name;
	strbuf_puts(text, name ? name : "");
}

static void put_fstype(const struct status_row *row, struct strbuf *text)
{
	const struct index_info *info = info_of(row);
	const char *type = row->place ? row->place->mount->fstype : info ? info->type : NULL;
	strbuf_puts(text, type ? type : "");
}

static void put_entries(const struct status_row *row, struct strbuf *text)
{
	if (info_of(row))
		strbuf_number(text, row->rows);
}

static void put_dirs(const struct status_row *row, struct strbuf *text)
{
	if (info_of(row))
		strbuf_number(text, row->dirs);
}

static void put_size(const struct status_row *row, struct strbuf *text)
{
	const struct index_info *info = info_of(row);
	if (info && row->json)
		strbuf_number(text, info->bytes);
	else if (info)
		column_size(text, info->bytes);
}

static void put_each(const struct status_row *row, struct strbuf *text)
{
	const struct index_info *info = info_of(row);
	if (info && row->rows)
		strbuf_printf(text, "%.1f", (double)info->bytes / (double)row->rows);
}

/** Append the age of an index, the time since it was up to date: in seconds for JSON, else with a
    unit. */
static void put_age(const struct status_row *row, struct strbuf *text)
{
	static const struct {
		int64_t seconds;
		char unit;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	const struct index_info *info = info_of(row);
	if (!info)
		return;
	int64_t age = os_time().tv_sec - info->fresh;
	age = age < 0 ? 0 : age;
	size_t i = 0;
	while (units[i].seconds > 1 && age < 2 * units[i].seconds)
		++i;
	strbuf_number(text, (uint64_t)(row->json ? age : age / units[i].seconds));
	if (!row->json)
		strbuf_putc(text, units[i].unit);
}

static void put_index(const struct status_row *row, struct strbuf *text)
{
	strbuf_puts(text, row->found ? row->found->name : "");
}

/** Append the state of an index in words. */
static void put_state(const struct status_row *row, struct strbuf *text)
{
	const struct index_info *info = info_of(row);
	if (!info) {
		const char *phrase = indexed_phrase(row->error);
		strbuf_printf(text, "cannot be opened: %s%s", phrase ? "it " : "",
		              phrase ? phrase : strerror(row->error));
		return;
	}
	strbuf_puts(text, row->place ? info->incomplete ? "incomplete: some objects "
	            "could not be read" : "complete"
	            : row->found->twin != SIZE_MAX ? "not used: two mounted file systems have this "
	                                             "UUID" : "not mounted here");
}

static void put_note(const struct status_row *row, struct strbuf *text)
{
	const struct place *place = row->place;
	if (row->found) {
		put_state(row, text);
		return;
	}
	if (place->why == PLACE_INDEX)
		strbuf_puts(text, "not indexed");
	else
		index_run_why(row->ir, (size_t)(place - row->ir->places), place->why, text);
}

static const struct status_column columns[] = {
	{{"TARGET", CT_STRING}, put_target},
	{{"FSTYPE", CT_STRING}, put_fstype},
	{{"ENTRIES", CT_NUMBER}, put_entries},
	{{"DIRS", CT_NUMBER}, put_dirs},
	{{"SIZE", CT_NUMBER}, put_size},
	{{"EACH", CT_DECIMAL}, put_each},
	{{"AGE", CT_NUMBER}, put_age},
	{{"INDEX", CT_STRING, true}, put_index},
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
	return json_print(&json);
}

/** Whether to list a mount that has no index for the reason `why`.  Pseudo file systems and file
    systems in memory are listed only with --all or --json. */
static bool is_listed(enum place_why why, const struct status_opts *opts)
{
	return opts->all || opts->json || (why != PLACE_PSEUDO && why != PLACE_MEMORY);
}

/** Make the rows: first the indexes, then the mounts without an index.  @rows [out]
    @return the number of rows, or -1 (ENOMEM). */
static ssize_t make_rows(struct index_run *ir, const struct status_opts *opts,
                         struct status_row *rows)
{
	const struct index_found *found = ir->found;
	size_t n = 0, nfound = ir->nfound;
	for (size_t i = 0; i < nfound; ++i) {
		const struct place *place = found[i].place == SIZE_MAX ? NULL
		                            : &ir->places[found[i].place];
		struct status_row row = {
			ir, place, &found[i], opts->json, .error = found[i].error,
		};
		if (found[i].index && objects_count(found[i].index, &row.rows, &row.dirs) != 0)
			row.error = errno;
		if (row.error == ENOMEM)
			return -1;
		rows[n++] = row;
	}
	for (int left_out = 0; left_out < 2; ++left_out) {
		for (size_t i = 0; i < ir->nplaces; ++i) {
			bool has = false;
			for (size_t k = 0; k < nfound; ++k)
				has |= found[k].place == i;
			enum place_why why = ir->places[i].why;
			if (!has && (why != PLACE_INDEX) == left_out && is_listed(why, opts))
				rows[n++] = (struct status_row){
					ir, &ir->places[i], .json = opts->json,
				};
		}
	}
	return (ssize_t)n;
}

static int print_status(struct index_run *ir, const void *status_opts, char **operands, size_t n)
{
	const struct status_opts *opts = status_opts;
	struct status_row *rows = NULL;
	if (n > 0)
		return usage_error(operands[0], "unexpected argument");
	int status = index_run_begin(ir, &opts->common);
	if (!status)
		status = index_run_indexes(ir, NULL, 0, INDEX_READ, false);
	if (!status)
		rows = calloc(ir->nplaces + ir->nfound + 1, sizeof(*rows));
	ssize_t nrows = rows ? make_rows(ir, opts, rows) : -1;
	const struct table table = {
		.columns = columns, .size = sizeof(*columns),
		.ncolumns = sizeof(columns) / sizeof(*columns),
		.nrows = nrows < 0 ? 0 : (size_t)nrows, .cell = put_cell, .arg = rows,
	};
	if (!status && (nrows < 0 || (opts->json ? put_json : table_print)(&table) != 0))
		status = message_error("index", errno, CX_ERROR);
	free(rows);
	return status;
}

int cmd_index_status(int argc, char **argv)
{
	static const struct index_verb verb = {
		&index_status_table,
		"Usage:\n getmnt index status [options]\n\n"
		"List each mount with its index, or the reason why it has none.\n", NULL,
		print_status,
	};
	return index_verb(&verb, argc, argv, &(struct status_opts){0});
}
