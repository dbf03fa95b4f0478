/* SPDX-License-Identifier: MIT */
#include "cmd/discover/columns.h"

#include "cmd/discover/listing.h"
#include "mounts/tablediff.h"

#include <string.h>

void cells_destroy(struct cells *cells)
{
	strbuf_destroy(&cells->text);
	strbuf_destroy(&cells->scratch);
}

bool cells_failed(const struct cells *cells)
{
	return cells->text.failed || cells->scratch.failed || run_failed(&cells->list->run);
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
		if (strcmp(columns->of[i]->name, name) == 0)
			return columns_at(columns, i);
	}
	return NULL;
}

/** Get the names of the columns that are shown without -o, separated by commas. */
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
	if (o->in.source == TABLE_FSTAB || o->in.source == TABLE_MTAB)
		return "TARGET,SOURCE,FSTYPE,OPTIONS";
	return "TARGET,SOURCE,FSTYPE,STATE,OPTIONS";
}

int columns_choose(struct columns *columns, const struct options *o)
{
	*columns = (struct columns){0};
	bool json = output_forms[o->form].flags & FF_OBJECTS;
	const char *list = o->output, *shown[3] = {NULL};
	bool more = list && *list == '+';
	const struct column *column = NULL;
	if (o->output_all && (!list || more)) {
		while ((column = column_after(&discover_columns, column))) {
			if (o->poll ? column->when < CW_STILL : column->when != CW_POLL)
				columns->of[columns->count++] = &column->info;
		}
	} else if (!list || more) {
		shown[0] = default_columns(o, json);
		shown[1] = o->pick.unmounted && !o->df && !o->dfi ? "NODE" : NULL;
		shown[2] = o->poll_kinds & CHANGE_PROPAGATION ? "PROPAGATION,OLD-PROPAGATION"
		           : NULL;
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); ++i) {
		if (shown[i])
			column_add(&discover_columns, shown[i], json, columns->of,
			           &columns->count);
	}
	size_t usual = columns->count;
	if (list && column_add(&discover_columns, list + more, json, columns->of,
	                       &columns->count) != 0)
		return CX_ERROR;
	for (size_t i = usual; i < columns->count; ++i) {
		column = columns_at(columns, i);
		if (o->poll && column->when >= CW_STILL) {
			message("--output", "%s is not available with --poll, which touches "
			        "no mount",
			        column->info.name);
			return CX_ERROR;
		}
		columns->state_requested |= strcmp(column->info.name, "STATE") == 0;
	}
	return 0;
}

unsigned columns_fields(const struct columns *columns)
{
	unsigned fields = MF_IDS;
	for (size_t i = 0; i < columns->count; ++i)
		fields |= columns_at(columns, i)->fields;
	return fields;
}

void cell_json(struct cells *cells, const struct column *column, const struct row *row,
               struct json *json)
{
	unsigned type = column->info.type;
	if (type == CT_SIZE)
		type = cells->list->opt->bytes ? CT_NUMBER : CT_STRING;
	column_json(json, column->info.name, type, cell_text(cells, column, row));
}
