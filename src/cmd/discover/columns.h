/* SPDX-License-Identifier: MIT */
/**
 * The columns of a listing of mounts.  A chain of tables defines them for -o, --list-columns, the
 * completion, every output format, and the choice of the fields requested from the kernel.
 *
 * A column is a row of a table in columns_mount.c or columns_device.c, and a function in that file.
 */
#ifndef GM_CMD_COLUMNS_H
#define GM_CMD_COLUMNS_H

#include "cmd/column.h"
#include "cmd/discover/listing.h"
#include "cmd/discover/view.h"

/** When a column is available. */
enum column_when {
	CW_ALWAYS,
	CW_POLL,     /* empty without --poll */
	CW_STILL,    /* requires access to the mount: refused with --poll */
	CW_NODE,     /* as CW_STILL; empty for rows that are not a node of the mount tree */
};

struct cells;

struct column {
	struct column_info info;
	double width;         /* hint for libsmartcols; below 1: share of the terminal width */
	int flags;            /* SCOLS_FL_*; numbers and sizes are always right-aligned */
	unsigned fields;      /* set of enum mount_fields that cell() reads */
	/* Get the text of the column in a row, valid until the next call; NULL: no text. */
	const char *(*cell)(struct cells *cells, const struct row *row);
	unsigned char when;   /* enum column_when */
	size_t arg;           /* value of cells->arg when cell() is called */
};

/** The part of discover_columns that columns_mount.c defines.  All rows are of struct column. */
extern const struct column_table mount_columns;

/** The columns to print. */
struct columns {
	const struct column_info *of[COLUMNS_MAX];   /* rows of struct column */
	size_t count;
	bool state_requested;     /* -o names STATE, which then shows "ok" instead of a blank */
};

static inline const struct column *columns_at(const struct columns *columns, size_t i)
{
	return (const void *)columns->of[i];
}

/** Choose the columns that the options request.
    @return 0, or an exit status after a message. */
int columns_choose(struct columns *columns, const struct options *options);

/** Get the fields of the mount table (set of enum mount_fields) that columns need. */
unsigned columns_fields(const struct columns *columns);

/** Find a chosen column by name.  @return NULL: not chosen. */
const struct column *columns_have(const struct columns *columns, const char *name);

/** State shared by all calls of column.cell in a run. */
struct cells {
	struct listing *list;
	bool machine;             /* output for programs: no padding of MAJ:MIN, no blank STATE */
	bool terminal;            /* output for programs is printed on a terminal */
	size_t arg;               /* column.arg of the requested cell */
	const struct mt_node *node;   /* node of the requested row, or NULL */
	struct strbuf text;       /* scratch: the text of a cell */
	struct strbuf scratch;
	/* Sizes of the file system of `sized`, the mount whose sizes were requested last. */
	const struct mount *sized;
	bool has_sizes;
	struct os_sizes sizes;
};

void cells_destroy(struct cells *cells);

/** Whether memory ran out, so that a cell may be incomplete. */
bool cells_failed(const struct cells *cells);

/** Get the text of a cell, valid until the next call; NULL: no text. */
const char *cell_text(struct cells *cells, const struct column *column, const struct row *row);

/** Write a cell as a member of a JSON object. */
void cell_json(struct cells *cells, const struct column *column, const struct row *row,
               struct json *json);

/** Get the node of a row.  @return NULL if the row is a device or a line of an fstab. */
const struct mt_node *cell_node(const struct cells *cells, const struct row *row);

/** Whether a row is a mount that the kernel reported, with IDs; false: a device, or a line of an
    fstab. */
bool cell_of_kernel(const struct cells *cells, const struct row *row);

/** Convert a number to the text of a cell. */
const char *cell_number(struct cells *cells, uint64_t value);

/* Functions of cells that output formats without columns call too. */
const char *cell_options(struct cells *cells, const struct row *row);
const char *cell_source(struct cells *cells, const struct row *row);
const char *cell_target(struct cells *cells, const struct row *row);

#endif
