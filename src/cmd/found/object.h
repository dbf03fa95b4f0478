/* SPDX-License-Identifier: MIT */
/**
 * The table of the columns of file system objects, for `getmnt search` and `getmnt index export`.
 */
#ifndef GM_CMD_OBJECT_H
#define GM_CMD_OBJECT_H

#include "base/strbuf.h"
#include "cmd/column.h"
#include "cmd/found/owners.h"
#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>

/** What a column requires of a search. */
enum search_need {
	SN_METADATA = 1 << 0,     /* attributes, from statx(2) */
	SN_TYPE = 1 << 1,         /* the type of each object */
	SN_LINK = 1 << 2,         /* the targets of symlinks */
	SN_MOUNT = 1 << 3,        /* the mount ID; requires SN_METADATA */
	SN_OWNERS = 1 << 4,       /* names of users and groups, which are cached */
	SN_XATTRS = 1 << 5,       /* names of extended attributes; requires SN_METADATA */
};

/** State shared by the functions of all cells. */
struct object_cells {
	struct owners users, groups;
	struct strbuf text;          /* text of the last cell */
};

void object_cells_init(struct object_cells *cells, struct os *os);
void object_cells_destroy(struct object_cells *cells);

/** The input of a cell. */
struct object {
	struct object_cells *cells;  /* NULL: only columns that any thread can show */
	const char *dir;             /* the path up to the name, as printed; "": `path` is the whole
	                                path */
	size_t dir_len;
	const char *path;            /* the rest of the path: the name, or the whole path */
	unsigned char type;          /* DT_* */
	const struct k_statx *st;    /* NULL: not requested */
	const char *target;          /* target of a symlink; NULL: not requested, or not a
	                                symlink */
	const char *xattrs;          /* names, each NUL-terminated, then ""; NULL: unknown */
	bool human;                  /* print sizes with a unit */
};

struct search_column {
	struct column_info info;
	unsigned char needs;         /* enum search_need */
	/* Append the value of the column for an object.  @return whether the object has a value. */
	bool (*cell)(const struct object *o, struct strbuf *text);
	unsigned mask;               /* K_STATX_*: the attributes that the cell needs */
	bool pair;                   /* two numbers, like 8:1 */
};

/** The cells of -l that are padded: links, owner, group, size. */
enum { SEARCH_LONG_CELLS = 4 };
extern const struct search_column search_long_cells[SEARCH_LONG_CELLS];

/** Make the text of a cell.  @return valid until the next call; NULL: no text. */
const char *object_cell(const struct search_column *column, const struct object *o);

/** Write an object with n columns as JSON. */
void object_json(struct json *json, const struct column_info *const columns[], size_t n,
                 const struct object *o);

/** Append the name of an owner, or the number if there is no name.  @return true. */
bool object_owner(struct owners *owners, uint32_t id, struct strbuf *text);

/** Whether the data of an object that a column needs is known. */
bool search_is_known(const struct search_column *column, const struct object *o);

/** Get the last component of the path of an object. */
const char *search_name_of(const struct object *o);

/** Whether the object is a device file.  Requires o->st. */
bool search_is_device(const struct object *o);

/* Functions of columns: struct search_column.cell. */
bool search_cell_path(const struct object *o, struct strbuf *text);
bool search_cell_name(const struct object *o, struct strbuf *text);
bool search_cell_perms(const struct object *o, struct strbuf *text);

#endif
