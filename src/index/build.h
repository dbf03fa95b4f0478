/* SPDX-License-Identifier: MIT */
/**
 * Building an index: rows come in any order, directory by directory; at the end they are packed
 * into clusters.
 *
 *     index_build_add() --> spill file, a block for each directory --.
 *     index_build_dir() --> table of directories, in memory ---------+--> pack --> clusters
 *
 * Packing is bottom-up, after Kundu and Misra: what is left of the children of a directory joins it
 * while it fits; otherwise siblings share a cluster.  Magellan's greedy packing in the order of the
 * crawl leaves 95 % of the clusters almost empty (docs/INDEX.md).
 *
 * Memory: some 50 bytes and the name for each directory; objects wait in the spill file.
 */
#ifndef GM_INDEX_BUILD_H
#define GM_INDEX_BUILD_H

#include "index/row.h"
#include "index/store.h"
#include "os/os.h"

struct index_build;

/** @dirfd  The directory of the index, also for the spill file, which has no name.  Borrowed. */
struct index_build *index_build_new(struct os *os, int dirfd);
void index_build_free(struct index_build *build);

/** Add a directory; the first is the root, whose name is "".
    @parent  A number returned before.
    @return its number, or UINT32_MAX (ENOMEM, ENOSPC ...). */
uint32_t index_build_dir(struct index_build *build, uint32_t parent, const char *name, size_t len,
                         const struct index_row *row, int64_t listed);

/** Add an object that is not a directory.  @return 0, or -1. */
int index_build_add(struct index_build *build, uint32_t dir, const char *name, size_t len,
                    const struct index_row *row);

/** Pack, and replace the index.  @threads  That write clusters.  @return 0, or -1. */
int index_build_finish(struct index_build *build, const struct index_info *info,
                       unsigned threads);

#endif
