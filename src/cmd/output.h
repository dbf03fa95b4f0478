/* SPDX-License-Identifier: MIT */
/** The output formats, and reports about the run: statistics, rules, progress.
 */
#ifndef GM_CMD_OUTPUT_H
#define GM_CMD_OUTPUT_H

#include "cmd/columns.h"
#include "cmd/listing.h"
#include "cmd/view.h"
#include "cmd/text.h"

#include <stdio.h>

/** The format of a listing. */
static inline const struct output_form *list_form(const struct listing *list)
{
	return &output_forms[list->opt->form];
}

/** Column widths of a list that is printed in parts. */
struct out_widths {
	bool begun;            /* the header has been printed */
	uint16_t of[COLUMNS_MAX];   /* as in struct columns */
};

enum { OUT_WIDTH_MAX = 40 };

/** Print as a tree, a list, raw, pairs or JSON, by libsmartcols.
    @widths  Of a list that is printed in parts, aligned with the previous ones; NULL: the list
             is complete.
    @return 0, or -1.  Errors: ENOMEM. */
int out_scols(struct listing *list, const struct view *view, struct out_widths *widths);

struct libscols_table;

/** Print a table as a JSON document with the members that follow the rows.
    @return 0, or -1.  Errors: ENOMEM. */
int out_document(struct libscols_table *table, const struct listing *list);

/** Print a view in the format of the listing.  @widths  As for out_scols().
    @return 0, or -1.  Errors: ENOMEM. */
__attribute__((warn_unused_result))
int out_print(struct listing *list, const struct view *view, struct out_widths *widths);

/** Write the members that every JSON document of a run has: schema, version, host ...
    incomplete_reasons. */
void json_head(const struct run *run, struct json *json);

/** Append the number of kernel calls of each kind as text, or write the members "calls"
    and "total_calls". */
void stats_calls_text(const struct os *os, struct text *out);
void stats_calls_json(const struct os *os, struct json *json);

/** Print --stats on stderr.
    @form  enum stats_form.  @watched  The number of mounts, if the run has no table. */
void stats_print(struct run *run, int form, size_t watched);

/** Append the table of --explain. */
void explain_text(const struct run *run, struct text *out);

/** Write the member "rules". */
void explain_json(const struct run *run, struct json *json);

typedef void progress_fn(const struct discover_progress *progress, void *arg);

/** Prepare to show progress on stderr if it is a terminal; else to end by SIGPIPE when the
    reader of stdout is gone.
    @return the function for struct discover_opts; its argument is the struct run. */
progress_fn *progress_begin(void);

/** Prepare to show a progress line, and catch the signals that must clear it.
    @return whether the line may be shown: stdout and stderr are terminals. */
bool progress_open(void);

/** Show a line of progress, cut to the width of the terminal. */
void progress_line(const char *head, const char *where);

/** Raise SIGPIPE if the reader of stdout is gone, so that the search ends. */
void progress_reader(struct os *os);

/** Clear the line of progress. */
void progress_end(void);

/** Print --version. */
void version_print(const struct os *os);

#endif
