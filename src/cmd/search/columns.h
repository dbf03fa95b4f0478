/* SPDX-License-Identifier: MIT */
/**
 * The columns of `getmnt search`: one table.
 */
#ifndef GM_CMD_SEARCH_COLUMNS_H
#define GM_CMD_SEARCH_COLUMNS_H

#include "base/strbuf.h"
#include "cmd/column.h"
#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>

struct search_out;

/** What a column needs of a search. */
enum search_need {
	SN_METADATA = 1 << 0,
	SN_TYPE = 1 << 1,
	SN_LINK = 1 << 2,
	SN_MOUNT = 1 << 3,        /* with SN_METADATA */
	SN_OWNERS = 1 << 4,       /* names of users and groups, which are kept */
	SN_XATTRS = 1 << 5,       /* with SN_METADATA */
};

/** The input of a cell. */
struct object {
	struct search_out *out;      /* NULL: in any thread */
	const char *dir;             /* as printed: in a line, all but the name */
	size_t dir_len;
	const char *path;            /* the rest of the path */
	unsigned char type;          /* DT_* */
	const struct k_statx *st;    /* NULL: not requested */
	const char *target;          /* of a link; NULL: not requested, or not a link */
	const char *xattrs;          /* names, each with its NUL, then ""; NULL: unknown */
	bool human;                  /* sizes have a unit */
};

struct search_column {
	struct column_info info;
	unsigned char needs;         /* enum search_need */
	/* Append the text of an object.  @return whether there is any. */
	bool (*cell)(const struct object *o, struct strbuf *text);
	unsigned mask;               /* K_STATX_*: the attributes that it is made from */
	bool pair;                   /* two numbers, as 8:1 */
};

/** The cells of -l that are padded: links, owner, group, size. */
enum { SEARCH_LONG_CELLS = 4 };
extern const struct search_column search_long_cells[SEARCH_LONG_CELLS];

/** Whether what a column needs is known. */
bool search_is_known(const struct search_column *column, const struct object *o);

/** The last component of the path. */
const char *search_name_of(const struct object *o);

/** Whether it is a device file.  Requires o->st. */
bool search_is_device(const struct object *o);

/* Functions of columns: struct search_column.cell. */
bool search_cell_path(const struct object *o, struct strbuf *text);
bool search_cell_name(const struct object *o, struct strbuf *text);
bool search_cell_perms(const struct object *o, struct strbuf *text);

#endif
