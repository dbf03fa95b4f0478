/* SPDX-License-Identifier: MIT */
/**
 * The columns: one table, which feeds -o, --list-columns, the completion, the
 * fields asked of the kernel, and every form of output.
 */
#ifndef GM_CMD_COLUMNS_H
#define GM_CMD_COLUMNS_H

#include "cmd/cmd.h"
#include "cmd/column.h"
#include "cmd/view.h"

/** With or without --poll. */
enum column_when {
	CW_ALWAYS,
	CW_POLL,     /* empty without it */
	CW_STILL,    /* of a mount that is touched or judged: not with it */
};

struct cells;

struct column {
	struct column_info info;
	double width;         /* libsmartcols' hint; below 1 a part of the terminal's */
	int flags;            /* SCOLS_FL_* */
	bool sized;           /* asks the file system: fstatfs */
	unsigned fields;      /* enum mount_fields */
	/* The text of a row; NULL: none.  It is good until the next call. */
	const char *(*cell)(struct cells *cells, const struct row *row);
	unsigned char when;   /* enum column_when */
};

/** The table: rows of struct column. */
extern const struct column_table discover_columns;

/** The columns of a run. */
struct columns {
	const struct column *of[128];
	size_t count;
	bool state_asked;     /* STATE was asked for by name: never blank */
};

/**
 * Choose the columns that the options ask for.
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

/** What the cells of a run share. */
struct cells {
	struct run *run;
	bool machine;             /* for programs: plain MAJ:MIN, no blank STATE */
	bool terminal;            /* what is for programs goes to a terminal after all */
	struct strbuf text;       /* what a cell was written to */
	struct strbuf scratch;
	/* Sizes of the row that was asked last. */
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
