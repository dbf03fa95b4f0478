/* SPDX-License-Identifier: MIT */
/**
 * Building an index: directories and rows come in any order; at the end they are packed into
 * clusters (pack.h).
 *
 *     index_build_dir() --> table of directories, in memory ------------.
 *     index_build_add() --> spill file, a chain of blocks for each -----+--> clusters --> store.h
 *                           directory
 *
 * Memory: some 90 bytes and the name for each directory; and what a cluster needs, for each thread.
 * Rows wait in the spill file, which has no name, in the directory of the index.
 */
#ifndef GM_INDEX_BUILD_BUILD_H
#define GM_INDEX_BUILD_BUILD_H

#include "index/segment/row.h"
#include "index/store/store.h"
#include "os/os.h"

struct index_build;

/** Begin to build, or to build again: the index is locked for writing.
    @dirfd  The directory of the index.  Borrowed.
    @return NULL: errors as index_writer_new(); those of creating a file. */
struct index_build *index_build_new(struct os *os, int dirfd);
void index_build_free(struct index_build *build);

/** Add a directory; the first is the root, whose name is "".
    @parent  A number returned before.
    @row  NULL: it follows by index_build_dir_row(), or is never known (IF_LOST).
    @listed  As in struct segment_slot.
    @return its number, or UINT32_MAX.  Errors: as index_build_add(); EFBIG. */
uint32_t index_build_dir(struct index_build *build, uint32_t parent, const char *name, size_t len,
                         const struct index_row *row, int64_t listed);

/** Set the row of a directory.  @return 0, or -1. */
int index_build_dir_row(struct index_build *build, uint32_t dir, const struct index_row *row,
                        int64_t listed);

/** Note that a directory could not be read, or not completely: IF_UNREAD. */
void index_build_unread(struct index_build *build, uint32_t dir);

/** The name of a directory, valid until the next call of index_build_dir(); its parent. */
const char *index_build_name(const struct index_build *build, uint32_t dir, size_t *len);
uint32_t index_build_parent(const struct index_build *build, uint32_t dir);

/** Add an object that is not a directory.  @return 0, or -1.  Errors: ENOMEM; ENOSPC and others of
    writing a file. */
int index_build_add(struct index_build *build, uint32_t dir, const char *name, size_t len,
                    const struct index_row *row);

/** Add rows that spill_put() has made.  @return as index_build_add(). */
int index_build_put(struct index_build *build, uint32_t dir, const char *bytes, size_t size,
                    uint32_t rows);

/** Pack, and replace the index.  @threads  That make clusters.
    @return 0, or -1.  Errors: as index_build_add(), index_writer_finish(). */
int index_build_finish(struct index_build *build, const struct index_info *info,
                       unsigned threads);

#endif
