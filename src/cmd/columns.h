/* SPDX-License-Identifier: MIT */
/**
 * The columns of a listing of mounts: one table for -o, --list-columns, the completion, the
 * fields requested from the kernel, and every output format.
 */
#ifndef GM_CMD_COLUMNS_H
#define GM_CMD_COLUMNS_H

#include "cmd/cmd.h"
#include "cmd/column.h"
#include "cmd/view.h"

/** With or without --poll. */
enum column_when {
	CW_ALWAYS,
	CW_POLL,     /* empty without --poll */
	CW_STILL,    /* requires a touch or a test: not with --poll */
};

struct cells;

struct column {
	struct column_info info;
	double width;         /* libsmartcols' hint; below 1 a part of the terminal's */
	int flags;            /* SCOLS_FL_* */
	unsigned fields;      /* enum mount_fields */
	/* The text of a row, valid until the next call; NULL: none. */
	const char *(*cell)(struct cells *cells, const struct row *row);
	unsigned char when;   /* enum column_when */
};

/** The table: rows of struct column. */
extern const struct column_table discover_columns;

/** The columns of a run. */
struct columns {
	const struct column *of[128];
	size_t count;
	bool state_requested;     /* STATE was requested by name: never blank */
};

/**
 * Choose the columns that the options request.
 *
 * @return 0, or an exit status after a message.
 */
int columns_choose(struct columns *columns, const struct options *options);

/** The mount fields that columns need. */
unsigned columns_fields(const struct columns *columns);

/** A column of these, by name.  @return it, or NULL. */
const struct column *columns_have(const struct columns *columns, const char *name);

/** Print --list-columns.  @return 0, or -1. */
int columns_list(const struct options *options);

/** The state that the cells of a run share. */
struct cells {
	struct run *run;
	bool machine;             /* output for programs: plain MAJ:MIN, no blank STATE */
	bool terminal;            /* output for programs goes to a terminal */
	struct strbuf text;       /* the text of a cell */
	struct strbuf scratch;
	/* Sizes of the last row. */
	const struct mount *sized;
	bool has_sizes;
	struct os_sizes sizes;
};

void cells_init(struct cells *cells, struct run *run, bool machine);
void cells_destroy(struct cells *cells);

/** Whether memory ran out, so that a cell may lack something. */
bool cells_failed(const struct cells *cells);

/** Write a cell as a member of an object. */
void cell_json(struct cells *cells, const struct column *column, const struct row *row,
               struct json *json);

#endif
