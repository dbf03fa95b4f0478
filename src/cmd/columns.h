/* SPDX-License-Identifier: MIT */
/**
 * The columns: one table, which feeds -o, --list-columns, the completion, the
 * fields asked of the kernel, and every form of output.
 */
#ifndef GM_CMD_COLUMNS_H
#define GM_CMD_COLUMNS_H

#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/view.h"

/** What a column holds: how JSON writes it. */
enum column_type {
	CT_STRING,
	CT_NUMBER,
	CT_DECIMAL,  /* a number with digits behind its point */
	CT_SIZE,     /* a string for readers; a number with --bytes */
	CT_LIST,     /* strings, separated by newlines */
};

/** With or without --poll. */
enum column_when {
	CW_ALWAYS,
	CW_POLL,     /* empty without it */
	CW_STILL,    /* of a mount that is touched or judged: not with it */
};

struct cells;

struct column {
	const char *name;
	double width;         /* libsmartcols' hint; below 1 a part of the terminal's */
	int flags;            /* SCOLS_FL_* */
	unsigned char type;   /* enum column_type */
	bool sized;           /* asks the file system: fstatfs */
	unsigned fields;      /* enum mount_fields */
	/* The text of a row; NULL: none.  It is good until the next call. */
	const char *(*cell)(struct cells *cells, const struct row *row);
	const char *help;
	unsigned char when;   /* enum column_when */
};

/** The table, sorted by name; ended by a row without one. */
extern const struct column column_rows[];

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

/** A column of any command, as --list-columns shows it. */
struct column_told {
	const char *name, *help;
	unsigned char type;       /* enum column_type */
};

/**
 * Print a list of columns.
 *
 * @row     Gives column i; its name is NULL behind the last.
 * @form    FORM_RAW, FORM_PAIRS, FORM_JSON, or any other: a table.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int columns_table(struct column_told (*row)(size_t i), int form);

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

/** Write the text of a column by its type (enum column_type): a string, number, list or
    null. */
void json_column(struct json *json, const char *key, unsigned type, const char *text);

/** Write a cell as a member of an object. */
void cell_json(struct cells *cells, const struct column *column, const struct row *row,
               struct json *json);

#endif
