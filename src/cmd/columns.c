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

/* findmnt's names, widths, meanings and JSON types; those of our own stand
   among them. */
const struct column column_rows[] = {
	{"ACTION", 10, SCOLS_FL_STRICTWIDTH, CT_STRING, false, 0, cell_action,
	 "what --poll has seen: mount, umount, remount, move, propagation", CW_POLL},
	{"AVAIL", 5, RIGHT, CT_SIZE, true, 0, cell_avail, "file system size available", CW_STILL},
	{"COVERED-BY", 2, RIGHT, CT_NUMBER, false, 0, cell_covered_by,
	 "ID of the mount that hides this one", CW_STILL},
	{"DEPTH", 2, RIGHT, CT_NUMBER, false, 0, cell_depth, "mounts between this one and its root",
	 CW_STILL},
	{"ERROR", 0, 0, CT_STRING, false, 0, cell_error,
	 "what --probe met, as ETIMEDOUT for hung [probed mounts only]", CW_STILL},
	{"FREQ", 1, RIGHT, CT_NUMBER, false, 0, cell_freq, "dump(8) period in days [fstab only]"},
	{"FS-OPTIONS", 0.10, TRUNC, CT_STRING, false, MF_FS_OPTS, cell_fs_options,
	 "mount options of the file system"},
	{"FSROOT", 0.25, NOEXTREMES, CT_STRING, false, MF_ROOT, cell_fsroot, "file system root"},
	{"FSTYPE", 0, 0, CT_STRING, false, MF_FSTYPE, cell_fstype, "file system type"},
	{"ID", 2, RIGHT, CT_NUMBER, false, 0, cell_id, "mount ID"},
	{"INO.AVAIL", 5, RIGHT, CT_STRING, true, 0, cell_ino_avail, "number of available inodes",
	 CW_STILL},
	{"INO.TOTAL", 5, RIGHT, CT_STRING, true, 0, cell_ino_total, "total number of inodes",
	 CW_STILL},
	{"INO.USE%", 3, RIGHT, CT_STRING, true, 0, cell_ino_use, "percentage of inodes used",
	 CW_STILL},
	{"INO.USED", 5, RIGHT, CT_STRING, true, 0, cell_ino_used, "number of used inodes",
	 CW_STILL},
	{"KIND", 0, 0, CT_STRING, false, 0, cell_kind, "what the mount point is: dir or file",
	 CW_STILL},
	{"LABEL", 0.10, 0, CT_STRING, false, MF_DEV | MF_SOURCE, cell_label, "file system label"},
	{"MAJ:MIN", 6, 0, CT_STRING, false, MF_DEV, cell_majmin, "major:minor device number"},
	{"MOUNTED-ON", 0, 0, CT_STRING, false, MF_DEV, cell_mounted_on,
	 "major:minor of the mount that this one is mounted on", CW_STILL},
	{"NAMED", 0, 0, CT_STRING, false, 0, cell_named, "how the name was established", CW_STILL},
	{"NODE", 0, 0, CT_STRING, false, 0, cell_node,
	 "leaf or internal in the mount tree; unreferenced: a device not mounted", CW_STILL},
	{"NS", 10, RIGHT, CT_NUMBER, false, 0, cell_ns, "mount namespace"},
	{"OLD-OPTIONS", 0.10, TRUNC, CT_STRING, false, 0, cell_old_options,
	 "options before a remount or umount [--poll only]", CW_POLL},
	{"OLD-PROPAGATION", 0.10, 0, CT_STRING, false, MF_PROPAGATION, cell_old_propagation,
	 "propagation flags before they changed [--poll only]", CW_POLL},
	{"OLD-TARGET", 0.30, 0, CT_STRING, false, 0, cell_old_target,
	 "mount point before a move or umount [--poll only]", CW_POLL},
	{"OPT-FIELDS", 0.10, TRUNC, CT_STRING, false, MF_PROPAGATION, cell_opt_fields,
	 "optional mount fields"},
	{"OPTIONS", 0.10, TRUNC, CT_STRING, false, MF_VFS_OPTS | MF_FS_OPTS, cell_options,
	 "all mount options"},
	{"PARENT", 2, RIGHT, CT_NUMBER, false, 0, cell_parent, "mount ID of the parent"},
	{"PARTLABEL", 0.10, 0, CT_STRING, false, MF_DEV | MF_SOURCE, cell_partlabel,
	 "partition label"},
	{"PARTUUID", 36, 0, CT_STRING, false, MF_DEV | MF_SOURCE, cell_partuuid, "partition UUID"},
	{"PASSNO", 1, RIGHT, CT_NUMBER, false, 0, cell_passno,
	 "pass number of parallel fsck(8) [fstab only]"},
	{"PROPAGATION", 0.10, 0, CT_STRING, false, MF_PROPAGATION, cell_propagation,
	 "VFS propagation flags"},
	{"SIZE", 5, RIGHT, CT_SIZE, true, 0, cell_size, "file system size", CW_STILL},
	{"SOURCE", 0.25, NOEXTREMES, CT_STRING, false, MF_SOURCE | MF_ROOT | MF_DEV, cell_source,
	 "source device"},
	{"SOURCES", 0.25, SCOLS_FL_WRAP, CT_LIST, false, MF_SOURCE | MF_ROOT | MF_DEV, cell_sources,
	 "all possible source devices"},
	{"STATE", 0, 0, CT_STRING, false, 0, cell_state,
	 "standing; blank in the default table where there is nothing to say", CW_STILL},
	{"STATES", 0, 0, CT_LIST, false, 0, cell_states, "all standings", CW_STILL},
	{"TARGET", 0.30, SCOLS_FL_TREE | NOEXTREMES, CT_STRING, false, MF_POINT, cell_target,
	 "mount point"},
	{"TID", 4, RIGHT, CT_NUMBER, false, 0, cell_tid, "task ID of --task"},
	{"UNIQ-ID", 10, RIGHT, CT_NUMBER, false, 0, cell_uniq_id, "64-bit mount ID"},
	{"USE%", 3, RIGHT, CT_STRING, true, 0, cell_use, "file system use percentage", CW_STILL},
	{"USED", 5, RIGHT, CT_SIZE, true, 0, cell_used, "file system size used", CW_STILL},
	{"UUID", 36, 0, CT_STRING, false, MF_DEV | MF_SOURCE, cell_uuid, "file system UUID"},
	{"VFS-OPTIONS", 0.20, TRUNC, CT_STRING, false, MF_VFS_OPTS, cell_vfs_options,
	 "mount options of the VFS"},
	{NULL, 0, 0, 0, false, 0, NULL, NULL, 0},
};

static const struct column *column_find(const char *name, size_t n)
{
	for (const struct column *column = column_rows; column->name; ++column) {
		if (strlen(column->name) == n && strncasecmp(column->name, name, n) == 0)
			return column;
	}
	return NULL;
}

const struct column *columns_have(const struct columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->count; ++i) {
		if (strcmp(columns->of[i]->name, name) == 0)
			return columns->of[i];
	}
	return NULL;
}

/** Add columns by name.  @return 0, or an exit status. */
static int columns_add(struct columns *columns, const char *list, const struct options *o)
{
	bool json = o->form == FORM_JSON || o->form == FORM_JSONL;
	for (;;) {
		size_t n = strcspn(list, ",");
		const struct column *column = column_find(list, n);
		if (!column) {
			char name[80];
			snprintf(name, sizeof(name), "--output: \"%.*s\"",
			         (int)utf8_cut(list, n < 60 ? n : 60), list);
			message(name, "no such column; getmnt -H lists them");
			return CX_ERROR;
		}
		if (o->poll && column->when == CW_STILL) {
			message("--output",
			        "%s: not with --poll, which touches no mount and judges none",
			        column->name);
			return CX_ERROR;
		}
		/* An object has each key once. */
		if (!json || !columns_have(columns, column->name)) {
			if (columns->count == sizeof(columns->of) / sizeof(*columns->of)) {
				message("--output", "more than %zu columns", columns->count);
				return CX_ERROR;
			}
			columns->of[columns->count++] = column;
		}
		if (!list[n])
			return 0;
		list += n + 1;
	}
}

int columns_choose(struct columns *columns, const struct options *o)
{
	*columns = (struct columns){0};
	bool json = o->form == FORM_JSON || o->form == FORM_JSONL;
	bool file = o->source == TABLE_FSTAB || o->source == TABLE_MTAB;
	const char *list = o->output;
	bool more = list && *list == '+';

	if (!list || more) {
		const char *usual = "TARGET,SOURCE,FSTYPE,STATE,OPTIONS";
		if (o->poll)
			usual = json
				? "ACTION,TARGET,SOURCE,FSTYPE,OPTIONS,OLD-TARGET,OLD-OPTIONS,ID,UNIQ-ID"
			             : "ACTION,TARGET,SOURCE,FSTYPE,OPTIONS";
		else if (o->df)
			usual = "SOURCE,FSTYPE,SIZE,USED,AVAIL,USE%,TARGET";
		else if (o->dfi)
			usual = "SOURCE,FSTYPE,INO.TOTAL,INO.USED,INO.AVAIL,INO.USE%,TARGET";
		else if (json)
			usual = "TARGET,SOURCE,FSTYPE,STATE,OPTIONS,ID,NAMED,STATES";
		else if (file)
			usual = "TARGET,SOURCE,FSTYPE,OPTIONS";
		if (!o->output_all) {
			columns_add(columns, usual, o);
			if (o->unmounted && !o->df && !o->dfi)
				columns_add(columns, "NODE", o);
			if (o->poll_kinds & CHANGE_PROPAGATION)
				columns_add(columns, "PROPAGATION,OLD-PROPAGATION", o);
		} else {
			for (const struct column *column = column_rows; column->name; ++column) {
				if (column->when != (o->poll ? CW_STILL : CW_POLL))
					columns->of[columns->count++] = column;
			}
		}
	}
	if (!list)
		return 0;
	size_t usual = columns->count;
	int status = columns_add(columns, list + more, o);
	for (size_t i = usual; i < columns->count; ++i)
		columns->state_asked |= columns->of[i]->cell == cell_state;
	return status;
}

void discover_column_words(FILE *out)
{
	for (const struct column *column = column_rows; column->name; ++column)
		fprintf(out, "%s%s", column == column_rows ? "" : " ", column->name);
}

unsigned columns_fields(const struct columns *columns)
{
	unsigned fields = MF_IDS;
	for (size_t i = 0; i < columns->count; ++i)
		fields |= columns->of[i]->fields;
	return fields;
}

static struct column_told discover_told(size_t i)
{
	const struct column *column = &column_rows[i];
	return (struct column_told){column->name, column->help, column->type};
}

int columns_list(const struct options *o)
{
	return columns_table(discover_told, o->form);
}

int columns_table(struct column_told (*row)(size_t i), int form)
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
	struct column_told column;
	for (size_t i = 0; (column = row(i)).name; ++i) {
		struct libscols_line *line = scols_table_new_line(table, NULL);
		if (!line || scols_line_set_data(line, 0, column.name)
		    || scols_line_set_data(line, 1, types[column.type])
		    || scols_line_set_data(line, 2, column.help))
			goto out;
	}
	rc = print_table(table);
out:
	scols_unref_table(table);
	return rc;
}

void json_column(struct json *json, const char *key, unsigned type, const char *text)
{
	if (type == CT_LIST) {
		struct strbuf item;
		strbuf_init(&item);
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
		json_put_null(json, key);
	} else if (type == CT_NUMBER || type == CT_DECIMAL) {
		json_put_literal(json, key, text);
	} else {
		json_put_text(json, key, text);
	}
}

void cell_json(struct cells *cells, const struct column *column, const struct row *row,
               struct json *json)
{
	unsigned type = column->type;
	if (type == CT_SIZE)
		type = cells->run->opt->bytes ? CT_NUMBER : CT_STRING;
	json_column(json, column->name, type, column->cell(cells, row));
}
