/* SPDX-License-Identifier: MIT */
#include "cmd/columns.h"

#include "cmd/listing.h"
#include "cmd/output.h"
#include "table/tablediff.h"

#include <string.h>

void cells_init(struct cells *cells, struct run *run, bool machine)
{
	*cells = (struct cells){.run = run, .machine = machine};
}

void cells_destroy(struct cells *cells)
{
	strbuf_destroy(&cells->text);
	strbuf_destroy(&cells->scratch);
}

bool cells_failed(const struct cells *cells)
{
	return cells->text.failed || cells->scratch.failed || run_failed(cells->run);
}

const char *cell_text(struct cells *cells, const struct column *column, const struct row *row)
{
	cells->arg = column->arg;
	cells->node = cell_node(cells, row);
	return column->when == CW_NODE && !cells->node ? NULL : column->cell(cells, row);
}

const struct column *columns_have(const struct columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->count; ++i) {
		if (strcmp(columns->of[i]->info.name, name) == 0)
			return columns->of[i];
	}
	return NULL;
}

/** Add columns by name.  @return 0, or an exit status after a message. */
static int columns_add(struct columns *columns, const char *list, const struct options *o)
{
	bool json = output_forms[o->form].flags & FF_OBJECTS;
	for (;; ++list) {
		const struct column *column = column_next(&discover_columns, &list);
		if (!column)
			return CX_ERROR;
		if (o->poll && column->when >= CW_STILL) {
			message("--output", "%s: not with --poll, which touches no mount",
			        column->info.name);
			return CX_ERROR;
		}
		/* An object has each key once. */
		if (!json || !columns_have(columns, column->info.name)) {
			if (columns->count == sizeof(columns->of) / sizeof(*columns->of)) {
				message("--output", "more than %zu columns", columns->count);
				return CX_ERROR;
			}
			columns->of[columns->count++] = column;
		}
		if (!*list)
			return 0;
	}
}

/** The columns that are shown by default. */
static const char *default_columns(const struct options *o, bool json)
{
	if (o->poll && json)
		return "ACTION,TARGET,SOURCE,FSTYPE,OPTIONS,OLD-TARGET,OLD-OPTIONS,ID,UNIQ-ID";
	if (o->poll)
		return "ACTION,TARGET,SOURCE,FSTYPE,OPTIONS";
	if (o->df)
		return "SOURCE,FSTYPE,SIZE,USED,AVAIL,USE%,TARGET";
	if (o->dfi)
		return "SOURCE,FSTYPE,INO.TOTAL,INO.USED,INO.AVAIL,INO.USE%,TARGET";
	if (json)
		return "TARGET,SOURCE,FSTYPE,STATE,OPTIONS,ID,NAMED,STATES";
	if (o->source == TABLE_FSTAB || o->source == TABLE_MTAB)
		return "TARGET,SOURCE,FSTYPE,OPTIONS";
	return "TARGET,SOURCE,FSTYPE,STATE,OPTIONS";
}

int columns_choose(struct columns *columns, const struct options *o)
{
	*columns = (struct columns){0};
	bool json = output_forms[o->form].flags & FF_OBJECTS;
	const char *list = o->output;
	bool more = list && *list == '+';

	if (!list || more) {
		if (!o->output_all) {
			columns_add(columns, default_columns(o, json), o);
			if (o->unmounted && !o->df && !o->dfi)
				columns_add(columns, "NODE", o);
			if (o->poll_kinds & CHANGE_PROPAGATION)
				columns_add(columns, "PROPAGATION,OLD-PROPAGATION", o);
		} else {
			const struct column *column = NULL;
			while ((column = column_after(&discover_columns, column))) {
				if (o->poll ? column->when < CW_STILL : column->when != CW_POLL)
					columns->of[columns->count++] = column;
			}
		}
	}
	if (!list)
		return 0;
	size_t usual = columns->count;
	int status = columns_add(columns, list + more, o);
	for (size_t i = usual; i < columns->count; ++i)
		columns->state_requested |= strcmp(columns->of[i]->info.name, "STATE") == 0;
	return status;
}

unsigned columns_fields(const struct columns *columns)
{
	unsigned fields = MF_IDS;
	for (size_t i = 0; i < columns->count; ++i)
		fields |= columns->of[i]->fields;
	return fields;
}

void cell_json(struct cells *cells, const struct column *column, const struct row *row,
               struct json *json)
{
	unsigned type = column->info.type;
	if (type == CT_SIZE)
		type = cells->run->opt->bytes ? CT_NUMBER : CT_STRING;
	column_json(json, column->info.name, type, cell_text(cells, column, row));
}
