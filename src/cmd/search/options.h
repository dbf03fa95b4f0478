/* SPDX-License-Identifier: MIT */
/**
 * The options of `getmnt search`.
 */
#ifndef GM_CMD_SEARCH_OPTIONS_H
#define GM_CMD_SEARCH_OPTIONS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "cmd/column.h"
#include "cmd/found/indexed.h"
#include "cmd/found/roots.h"
#include "cmd/options.h"
#include "cmd/search/action.h"
#include "cmd/search/patterns.h"
#include "cmd/search/usage.h"
#include "search/search.h"
#include "select/query.h"

#include <stdbool.h>
#include <stddef.h>

enum { SIZES_BYTES = 1, SIZES_HUMAN };

/** An option about attributes: words of find(1). */
struct where_part {
	const char *title;           /* the option, for messages */
	bool text;                   /* it is an expression that the user wrote */
	const char **words;
	size_t n;
};

/** All of them; zero at first. */
struct where {
	struct arena arena;
	struct where_part *parts;
	size_t n;
	struct os os;
	struct query_env env;
};

struct search_args {
	struct search_options options;
	bool nul, metadata, help, list_columns, usage;
	int sizes;                   /* SIZES_*; 0: not given */
	struct usage_options usage_options;
	int form;                    /* enum search_form; -1: not given */
	int color;                   /* enum color_when */
	bool sort_down;              /* greatest value first */
	unsigned top;                /* maximum number of objects to print; 0: all */
	const struct column_info *sort;   /* column by which all objects are sorted; NULL: none */
	int stats;                   /* enum stats_form */
	unsigned types;              /* 1 << DT_*; 0: all */
	const char *columns;         /* argument of -o */
	const char *files0_from;
	struct where where;          /* conditions on attributes */
	unsigned mindepth, maxdepth;
	struct strbuf exclude_types;
	struct patterns patterns;
	struct action action;
	const char *operand;         /* the pattern, if an operand is the pattern; NULL: -e gives
	                                the patterns */
	struct reach reach;
	struct indexed_args indexed;
};

/* where.c */

/** Kinds of options that select objects by their attributes; the base of their rows. */
enum where_kind {
	WHERE_SIZE, WHERE_WITHIN, WHERE_BEFORE, WHERE_NEWER, WHERE_USER, WHERE_GROUP, WHERE_PERM,
	WHERE_LINKS, WHERE_EMPTY, WHERE_QUERY,
};

/** Add an option.  @return 0, or an exit status after a message. */
int where_add(struct where *where, const struct option_row *row, const char *value);

/** Parse all options.  @follow  Symlinks are followed.  @query [out]  NULL: no option was given.
    @return 0, or an exit status after a message. */
int where_parse(struct where *where, bool follow, struct query **query);

/** Free them. */
void where_destroy(struct where *where);

#endif
