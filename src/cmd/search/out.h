/* SPDX-License-Identifier: MIT */
/**
 * Output forms of `getmnt search`.  Each object is printed when it is found, and not kept, unless
 * all are sorted.
 */
#ifndef GM_CMD_SEARCH_OUT_H
#define GM_CMD_SEARCH_OUT_H

#include "cmd/found/colors.h"
#include "cmd/found/object.h"
#include "cmd/search/action.h"
#include "cmd/search/sort.h"
#include "cmd/search/usage.h"
#include "search/search.h"

/** Forms; the first four in the order of the words of --format. */
enum search_form {
	SF_PATHS,     /* a path a line */
	SF_LONG,      /* as ls -l */
	SF_JSON,      /* one document */
	SF_JSONL,     /* an object a line */
	SF_COLUMNS,   /* columns, with tabs between them */
	SF_COUNT,     /* only the number of objects */
};

struct search_out {
	enum search_form form;
	bool nul;                 /* -0: lines end with it, and nothing is escaped */
	bool terminal;            /* stdout is one */
	const struct column_info *columns[COLUMNS_MAX];   /* of rows of struct search_column */
	size_t ncolumns;
	struct search_sort sort;
	struct action *action;    /* what is done with an object instead of printing; or NULL */
	struct usage *usage;      /* print its rows instead of objects; NULL: print objects */
	struct usage_options usage_options;
	bool human;               /* sizes have a unit, except in JSON */
	unsigned needs;           /* enum search_need */
	struct colors *colors;    /* NULL: none */
	struct os *os;
	struct flow *flow;        /* what is printed */
	struct object_cells cells;
	int widths[SEARCH_LONG_CELLS];            /* of -l, growing */
	struct json json;         /* writes to text */
	struct strbuf text;
};

/** Prepare to print a form, without columns. */
void search_out_init(struct search_out *out, enum search_form form, struct os *os);
void search_out_destroy(struct search_out *out);

/** Add columns by name, "PATH,SIZE".  @return 0, or an exit status after a message. */
int search_out_columns(struct search_out *out, const char *list);

/** Sort all objects.  @by  A column, also one that is not printed.  @most  Print the first ones
    only; 0: all. */
void search_out_sort(struct search_out *out, const struct column_info *by, bool down, size_t most);

/** Begin the output, before the first object. */
void search_out_begin(struct search_out *out);

/** Print an object, or keep it to be sorted.
    @search  Its attributes and type are those of the last readsearch().
    @return 0, or -1.  Errors: ENOMEM. */
int search_out_object(struct search_out *out, const SEARCH *search, const char *path);

/** Whether objects can be printed as lines that search_out_line() makes. */
bool search_out_lines(const struct search_out *out);

/** Append the line of an object.  Any thread may call it. */
void search_out_line(const struct search_out *out, const struct search_object *object,
                     struct strbuf *text);

/** Print what was kept until the end: sorted objects, the rows of usage.  @return as
    search_out_object(). */
int search_out_rest(struct search_out *out);

/** Print an error as an entry of JSON.  @return as search_out_object(). */
int search_out_error(struct search_out *out, const SEARCH *search, const struct searchent *e);

/** End the output, after all objects.
    @reason  Why the search is incomplete; NULL: it is complete.
    @return as search_out_object(). */
int search_out_end(struct search_out *out, uint64_t found, uint64_t errors, const char *reason);

#endif
