/* SPDX-License-Identifier: MIT */
/**
 * Output formats of `getmnt search`.  Each object is printed when it is found, unless all objects
 * are sorted.
 */
#ifndef GM_CMD_SEARCH_OUT_H
#define GM_CMD_SEARCH_OUT_H

#include "cmd/found/colors.h"
#include "cmd/found/object.h"
#include "cmd/search/action.h"
#include "cmd/search/sort.h"
#include "cmd/search/usage.h"
#include "search/search.h"

/** Output formats; the first four are in the order of the words of --format. */
enum search_form {
	SF_PATHS,     /* one path per line */
	SF_LONG,      /* like ls -l */
	SF_JSON,      /* a single document */
	SF_JSONL,     /* one object per line */
	SF_COLUMNS,   /* columns separated by tabs */
	SF_COUNT,     /* only the number of objects */
};

struct search_out {
	enum search_form form;
	bool nul;                 /* -0: lines end with NUL, and nothing is escaped */
	bool terminal;            /* stdout is a terminal */
	const struct column_info *columns[COLUMNS_MAX];   /* rows of struct search_column */
	size_t ncolumns;
	struct search_sort sort;
	struct action *action;    /* run for each object instead of printing; or NULL */
	struct usage *usage;      /* rows of disk usage to print instead of objects; or NULL */
	struct usage_options usage_options;
	bool human;               /* sizes have a unit, except in JSON */
	unsigned needs;           /* enum search_need */
	struct colors *colors;    /* NULL: none */
	struct os *os;
	struct flow *flow;        /* receives the output */
	struct object_cells cells;
	int widths[SEARCH_LONG_CELLS];            /* widths of the cells of -l; a longer cell makes
	                                             all later cells wider */
	struct json json;         /* writes to `text` */
	struct strbuf text;       /* the text to be printed next */
};

/** Initialize for an output format.  No columns are set yet. */
void search_out_init(struct search_out *out, enum search_form form, struct os *os);
void search_out_destroy(struct search_out *out);

/** Add columns by name, "PATH,SIZE".  @return 0, or an exit status after a message. */
int search_out_columns(struct search_out *out, const char *list);

/** Print the objects sorted by a column.
    @by    The column, which need not be printed.
    @down  Print the greatest value first.
    @most  Maximum number of objects to print; 0: all. */
void search_out_sort(struct search_out *out, const struct column_info *by, bool down, size_t most);

/** Begin the output, before the first object. */
void search_out_begin(struct search_out *out);

/** Print an object, store the object for sorting, or count the object for disk usage.
    @search  getmnt_search_read() has returned the object, so its attributes and type are known.
    @return 0, or -1.  Errors: ENOMEM. */
int search_out_object(struct search_out *out, const SEARCH *search, const char *path);

/** Whether search_out_line() can make the lines of the output, in the threads that read
    directories. */
bool search_out_lines(const struct search_out *out);

/** Append the line of an object.  Any thread may call this function. */
void search_out_line(const struct search_out *out, const struct search_object *object,
                     struct strbuf *text);

/** After the search, print the sorted objects or the rows of disk usage.
    @return as search_out_object(). */
int search_out_rest(struct search_out *out);

/** Print an error as a JSON entry.  @return as search_out_object(). */
int search_out_error(struct search_out *out, const SEARCH *search, const struct searchent *e);

/** End the output, after all objects.
    @reason  Why the search is incomplete; NULL: it is complete.
    @return as search_out_object(). */
int search_out_end(struct search_out *out, uint64_t found, uint64_t errors, const char *reason);

#endif
