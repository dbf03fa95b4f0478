/* SPDX-License-Identifier: MIT */
/**
 * The columns of a listing of mounts: a chain of tables for -o, --list-columns, the completion, the
 * fields requested from the kernel, and every output format.
 *
 * A column is a row of columns_mount.c or columns_device.c and a function next to it.
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
	CW_STILL,    /* requires access to the mount: not with --poll */
	CW_NODE,     /* as CW_STILL; empty for rows that are not a node of the tree */
};

struct cells;

struct column {
	struct column_info info;
	double width;         /* hint for libsmartcols; below 1: share of the terminal width */
	int flags;            /* SCOLS_FL_*; numbers and sizes are always right-aligned */
	unsigned fields;      /* enum mount_fields */
	/* The text of a row, valid until the next call; NULL: none. */
	const char *(*cell)(struct cells *cells, const struct row *row);
	unsigned char when;   /* enum column_when */
	size_t arg;           /* cells->arg of the function */
};

/** Columns of discover_columns in columns_mount.c.  All rows are of struct column. */
extern const struct column_table mount_columns;

/** The columns of a run. */
struct columns {
	const struct column_info *of[COLUMNS_MAX];   /* rows of struct column */
	size_t count;
	bool state_requested;     /* STATE was requested by name: not blank for "ok" */
};

static inline const struct column *columns_at(const struct columns *columns, size_t i)
{
	return (const void *)columns->of[i];
}

/** Choose the columns that the options request.
    @return 0, or an exit status after a message. */
int columns_choose(struct columns *columns, const struct options *options);

/** The mount fields (enum mount_fields) that columns need. */
unsigned columns_fields(const struct columns *columns);

/** Find a chosen column by name.  @return NULL: not chosen. */
const struct column *columns_have(const struct columns *columns, const char *name);

/** The state that the cells of a run share. */
struct cells {
	struct listing *list;
	bool machine;             /* output for programs: plain MAJ:MIN, no blank STATE */
	bool terminal;            /* output for programs is printed on a terminal */
	size_t arg;               /* arg of the column */
	const struct mt_node *node;   /* node of the row */
	struct strbuf text;       /* scratch: the text of a cell */
	struct strbuf scratch;
	/* Sizes of `sized`, the last mount. */
	const struct mount *sized;
	bool has_sizes;
	struct os_sizes sizes;
};

void cells_destroy(struct cells *cells);

/** Whether memory ran out, so that a cell may be incomplete. */
bool cells_failed(const struct cells *cells);

/** The text of a cell, valid until the next call; NULL: none. */
const char *cell_text(struct cells *cells, const struct column *column, const struct row *row);

/** Write a cell as a member of an object. */
void cell_json(struct cells *cells, const struct column *column, const struct row *row,
               struct json *json);

/** The node of a row, or NULL for a device or a line of an fstab. */
const struct mt_node *cell_node(const struct cells *cells, const struct row *row);

/** Whether the kernel reported the record of a row, with IDs, as opposed to a line of an fstab. */
bool cell_of_kernel(const struct cells *cells, const struct row *row);

/** A number as the text of a cell. */
const char *cell_number(struct cells *cells, uint64_t value);

/* Cells of columns that other output formats show too. */
const char *cell_options(struct cells *cells, const struct row *row);
const char *cell_source(struct cells *cells, const struct row *row);
const char *cell_target(struct cells *cells, const struct row *row);

#endif
