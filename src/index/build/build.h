/* SPDX-License-Identifier: MIT */
/**
 * Build an index.  Objects may be added in any order, directories after their parents; at the end
 * the directories are packed into clusters (pack.h).
 *
 *     index_build_dir() --> table of directories, in memory ------------.
 *     index_build_add() --> spill file, a chain of blocks for each -----+--> clusters --> store.h
 *                           directory
 *
 * Memory: about 90 bytes and the name for each directory, and one cluster for each thread.  The
 * rows are stored in the spill file, a file without a name in the directory of the index.
 */
#ifndef GM_INDEX_BUILD_BUILD_H
#define GM_INDEX_BUILD_BUILD_H

#include "index/segment/row.h"
#include "index/store/store.h"
#include "os/os.h"

struct index_build;

/** Begin to build an index, which will replace an existing index.  The directory is locked for
    writing.
    @dirfd  The directory of the index.  It may be closed after the call.
    @return NULL: errors as index_writer_new(); those of creating a file. */
struct index_build *index_build_new(struct os *os, int dirfd);
void index_build_free(struct index_build *build);

/** Add a directory.  The first directory is the root, with the name "".
    @parent  The number of the parent, returned by an earlier call.
    @row  NULL: the caller will call index_build_dir_row(); if not, the attributes are unknown
          (IF_LOST).
    @listed  As in struct segment_slot.
    @return the number of the directory, or UINT32_MAX.  Errors: as index_build_add(); EFBIG. */
uint32_t index_build_dir(struct index_build *build, uint32_t parent, const char *name, size_t len,
                         const struct index_row *row, int64_t listed);

/** Set the attributes of a directory.  @return 0, or -1. */
int index_build_dir_row(struct index_build *build, uint32_t dir, const struct index_row *row,
                        int64_t listed);

/** Set IF_UNREAD for a directory: it could not be read completely. */
void index_build_unread(struct index_build *build, uint32_t dir);

/** Get the name of a directory, valid until the next call of index_build_dir(); get its parent. */
const char *index_build_name(const struct index_build *build, uint32_t dir, size_t *len);
uint32_t index_build_parent(const struct index_build *build, uint32_t dir);

/** Add an object that is not a directory.
    @return 0, or -1.  Errors: ENOMEM; ENOSPC, and other errors of writing a file. */
int index_build_add(struct index_build *build, uint32_t dir, const char *name, size_t len,
                    const struct index_row *row);

/** Add rows of objects in a directory, made by spill_put().
    @rows  The number of rows.
    @return as index_build_add(). */
int index_build_put(struct index_build *build, uint32_t dir, const char *bytes, size_t size,
                    uint32_t rows);

/** Make the clusters, and replace the index.
    @threads  Number of threads that make clusters.
    @return 0, or -1.  Errors: as index_build_add(), index_writer_finish(); EIO: the rows in the
    spill file are damaged. */
int index_build_finish(struct index_build *build, const struct index_info *info,
                       unsigned threads);

#endif
