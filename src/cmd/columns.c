/* SPDX-License-Identifier: MIT */
#include "cmd/columns.h"

#include "base/escape.h"
#include "cmd/cells.h"
#include "cmd/listing.h"
#include "cmd/output.h"
#include "table/tablediff.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	RIGHT = SCOLS_FL_RIGHT,
	TRUNC = SCOLS_FL_TRUNC,
	NOEXTREMES = SCOLS_FL_NOEXTREMES,
};

/* Names, widths, meanings and JSON types are those of findmnt where it has the column. */
static const struct column column_rows[] = {
	{{"ACTION", "mount, umount, remount, move or propagation [--poll only]", CT_STRING},
	 10, SCOLS_FL_STRICTWIDTH, 0, cell_action, CW_POLL},
	{{"AVAIL", "file system size available", CT_SIZE}, 5, RIGHT, 0, cell_avail, CW_STILL},
	{{"COVERED-BY", "ID of the mount that hides this one", CT_NUMBER},
	 2, RIGHT, 0, cell_covered_by, CW_STILL},
	{{"DEPTH", "number of mounts between this mount and the root", CT_NUMBER},
	 2, RIGHT, 0, cell_depth, CW_STILL},
	{{"ERROR", "error of --probe, such as ETIMEDOUT for a hung mount", CT_STRING},
	 0, 0, 0, cell_error, CW_STILL},
	{{"FREQ", "dump(8) period in days [fstab only]", CT_NUMBER}, 1, RIGHT, 0, cell_freq},
	{{"FS-OPTIONS", "mount options of the file system", CT_STRING},
	 0.10, TRUNC, MF_FS_OPTS, cell_fs_options},
	{{"FSROOT", "file system root", CT_STRING}, 0.25, NOEXTREMES, MF_ROOT, cell_fsroot},
	{{"FSTYPE", "file system type", CT_STRING}, 0, 0, MF_FSTYPE, cell_fstype},
	{{"ID", "mount ID", CT_NUMBER}, 2, RIGHT, 0, cell_id},
	{{"INO.AVAIL", "number of available inodes", CT_STRING},
	 5, RIGHT, 0, cell_ino_avail, CW_STILL},
	{{"INO.TOTAL", "total number of inodes", CT_STRING}, 5, RIGHT, 0, cell_ino_total, CW_STILL},
	{{"INO.USE%", "percentage of inodes used", CT_STRING}, 3, RIGHT, 0, cell_ino_use, CW_STILL},
	{{"INO.USED", "number of used inodes", CT_STRING}, 5, RIGHT, 0, cell_ino_used, CW_STILL},
	{{"KIND", "type of the mount point: dir or file", CT_STRING}, 0, 0, 0, cell_kind, CW_STILL},
	{{"LABEL", "file system label", CT_STRING}, 0.10, 0, MF_DEV | MF_SOURCE, cell_label},
	{{"MAJ:MIN", "major:minor device number", CT_STRING}, 6, 0, MF_DEV, cell_majmin},
	{{"MOUNTED-ON", "major:minor of the mount that holds the mount point", CT_STRING},
	 0, 0, MF_DEV, cell_mounted_on, CW_STILL},
	{{"NAMED", "how the name was established", CT_STRING}, 0, 0, 0, cell_named, CW_STILL},
	{{"NODE", "leaf or internal in the mount tree; unreferenced: a device not mounted",
	  CT_STRING},
	 0, 0, 0, cell_node, CW_STILL},
	{{"NS", "mount namespace", CT_NUMBER}, 10, RIGHT, 0, cell_ns},
	{{"OLD-OPTIONS", "options before a remount or umount [--poll only]", CT_STRING},
	 0.10, TRUNC, 0, cell_old_options, CW_POLL},
	{{"OLD-PROPAGATION", "propagation flags before a change [--poll only]", CT_STRING},
	 0.10, 0, MF_PROPAGATION, cell_old_propagation, CW_POLL},
	{{"OLD-TARGET", "mount point before a move or umount [--poll only]", CT_STRING},
	 0.30, 0, 0, cell_old_target, CW_POLL},
	{{"OPT-FIELDS", "optional mount fields", CT_STRING},
	 0.10, TRUNC, MF_PROPAGATION, cell_opt_fields},
	{{"OPTIONS", "all mount options", CT_STRING},
	 0.10, TRUNC, MF_VFS_OPTS | MF_FS_OPTS, cell_options},
	{{"PARENT", "mount ID of the parent", CT_NUMBER}, 2, RIGHT, 0, cell_parent},
	{{"PARTLABEL", "partition label", CT_STRING}, 0.10, 0, MF_DEV | MF_SOURCE, cell_partlabel},
	{{"PARTUUID", "partition UUID", CT_STRING}, 36, 0, MF_DEV | MF_SOURCE, cell_partuuid},
	{{"PASSNO", "pass number of parallel fsck(8) [fstab only]", CT_NUMBER},
	 1, RIGHT, 0, cell_passno},
	{{"PROPAGATION", "VFS propagation flags", CT_STRING},
	 0.10, 0, MF_PROPAGATION, cell_propagation},
	{{"SIZE", "file system size", CT_SIZE}, 5, RIGHT, 0, cell_size, CW_STILL},
	{{"SOURCE", "source device", CT_STRING},
	 0.25, NOEXTREMES, MF_SOURCE | MF_ROOT | MF_DEV, cell_source},
	{{"SOURCES", "all possible source devices", CT_LIST},
	 0.25, SCOLS_FL_WRAP, MF_SOURCE | MF_ROOT | MF_DEV, cell_sources},
	{{"STATE", "state; blank in the default table if there is nothing to report", CT_STRING},
	 0, 0, 0, cell_state, CW_STILL},
	{{"STATES", "all states", CT_LIST}, 0, 0, 0, cell_states, CW_STILL},
	{{"TARGET", "mount point", CT_STRING},
	 0.30, SCOLS_FL_TREE | NOEXTREMES, MF_POINT, cell_target},
	{{"TID", "task ID of --task", CT_NUMBER}, 4, RIGHT, 0, cell_tid},
	{{"UNIQ-ID", "64-bit mount ID", CT_NUMBER}, 10, RIGHT, 0, cell_uniq_id},
	{{"USE%", "file system use percentage", CT_STRING}, 3, RIGHT, 0, cell_use, CW_STILL},
	{{"USED", "file system size used", CT_SIZE}, 5, RIGHT, 0, cell_used, CW_STILL},
	{{"UUID", "file system UUID", CT_STRING}, 36, 0, MF_DEV | MF_SOURCE, cell_uuid},
	{{"VFS-OPTIONS", "mount options of the VFS", CT_STRING},
	 0.20, TRUNC, MF_VFS_OPTS, cell_vfs_options},
};

const struct column_table discover_columns = COLUMN_TABLE(column_rows, "getmnt -H");

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
	bool json = o->form == FORM_JSON || o->form == FORM_JSONL;
	for (;; ++list) {
		const struct column *column = column_next(&discover_columns, &list);
		if (!column)
			return CX_ERROR;
		if (o->poll && column->when == CW_STILL) {
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
	bool json = o->form == FORM_JSON || o->form == FORM_JSONL;
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
			for (size_t i = 0; i < discover_columns.count; ++i) {
				if (column_rows[i].when != (o->poll ? CW_STILL : CW_POLL))
					columns->of[columns->count++] = &column_rows[i];
			}
		}
	}
	if (!list)
		return 0;
	size_t usual = columns->count;
	int status = columns_add(columns, list + more, o);
	for (size_t i = usual; i < columns->count; ++i)
		columns->state_requested |= columns->of[i]->cell == cell_state;
	return status;
}

void discover_column_words(FILE *out)
{
	column_words(&discover_columns, out);
}

unsigned columns_fields(const struct columns *columns)
{
	unsigned fields = MF_IDS;
	for (size_t i = 0; i < columns->count; ++i)
		fields |= columns->of[i]->fields;
	return fields;
}

int columns_list(const struct options *o)
{
	return column_list(&discover_columns, o->form);
}

void cell_json(struct cells *cells, const struct column *column, const struct row *row,
               struct json *json)
{
	unsigned type = column->info.type;
	if (type == CT_SIZE)
		type = cells->run->opt->bytes ? CT_NUMBER : CT_STRING;
	column_json(json, column->info.name, type, column->cell(cells, row));
}
