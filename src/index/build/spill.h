/* SPDX-License-Identifier: MIT */
/**
 * Rows as bytes, while they wait for an index to be built (pure): about 55 bytes and the name.
 *
 *     length of the name; of each column the number of bytes that it takes, as half a byte;
 *     the columns; the name
 */
#ifndef GM_INDEX_BUILD_SPILL_H
#define GM_INDEX_BUILD_SPILL_H

#include "base/strbuf.h"
#include "index/segment/row.h"

/** Bytes after the rows that spill_get() may read. */
enum { SPILL_SLACK = 8 };

/** Append a row.  @len  At most INDEX_NAME_MAX; 0: the row is of the directory itself.
    @row  IC_DIR and IC_NAME do not count. */
void spill_put(struct strbuf *to, const char *name, size_t len, const struct index_row *row);

/** Get a row.
    @at [in,out]  Advanced past it.
    @row [out]  Without IC_DIR and IC_NAME.
    @return its name, of *len bytes, without a final NUL. */
const char *spill_get(const char **at, struct index_row *row, size_t *len);

#endif
