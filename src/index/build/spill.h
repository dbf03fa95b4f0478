/* SPDX-License-Identifier: MIT */
/**
 * Rows as bytes, for the spill file of an index that is built (pure).  A row takes about 55 bytes
 * and the name:
 *
 *     length of the name; the width of each column in bytes, 4 bits each; the columns; the name
 */
#ifndef GM_INDEX_BUILD_SPILL_H
#define GM_INDEX_BUILD_SPILL_H

#include "base/strbuf.h"
#include "index/segment/row.h"

/** Number of bytes after the rows that spill_get() may read. */
enum { SPILL_SLACK = 8 };

/** Append a row.
    @len  At most INDEX_NAME_MAX; 0: the row is of the directory itself.
    @row  IC_DIR and IC_NAME are ignored. */
void spill_put(struct strbuf *to, const char *name, size_t len, const struct index_row *row);

/** Read a row.
    @at [in,out]  Moved to the next row.
    @row [out]  IC_DIR and IC_NAME are not set.
    @return the name of the object, of *len bytes, not NUL-terminated. */
const char *spill_get(const char **at, struct index_row *row, size_t *len);

#endif
