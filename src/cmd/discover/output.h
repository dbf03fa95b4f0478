/* SPDX-License-Identifier: MIT */
/** Output: print a listing of mounts in its output format. */
#ifndef GM_CMD_OUTPUT_H
#define GM_CMD_OUTPUT_H

#include "cmd/discover/columns.h"
#include "cmd/discover/listing.h"
#include "cmd/discover/view.h"
#include "cmd/text.h"

#include <stdio.h>

/** Get the output format of a listing. */
static inline const struct output_form *list_form(const struct listing *list)
{
	return &output_forms[list->opt->form];
}

/** Column widths of a list that is printed in parts. */
struct out_widths {
	bool begun;            /* the header was printed */
	uint16_t of[COLUMNS_MAX];   /* the width of each column, in the order of struct columns */
};

/** Maximum width of a column that later parts of the list take over. */
enum { OUT_WIDTH_MAX = 40 };

/** Print as a tree, a list, raw, pairs or JSON, by libsmartcols.
    @widths  For a list printed in parts, to align the parts; NULL: the list is complete.
    @return 0, or -1.  Errors: ENOMEM. */
int out_scols(struct listing *list, const struct view *view, struct out_widths *widths);

struct libscols_table;

/** Print a table as a JSON document: its rows, then the members about the run.
    @return 0, or -1.  Errors: ENOMEM. */
int out_document(struct libscols_table *table, const struct listing *list);

/** Print a view in the format of the listing.  @widths  As in out_scols().
    @return 0, or -1.  Errors: ENOMEM. */
__attribute__((warn_unused_result))
int out_print(struct listing *list, const struct view *view, struct out_widths *widths);

#endif
