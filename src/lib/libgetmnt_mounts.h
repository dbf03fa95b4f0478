/* SPDX-License-Identifier: MIT */
#ifndef GM_LIB_LIBGETMNT_MOUNTS_H
#define GM_LIB_LIBGETMNT_MOUNTS_H

#include "search/mounts.h"

#include <stdbool.h>

/**
 * Find the mounts of this process, and which can block, using only the table.  Without a table no
 * mount is known, so none is entered.
 *
 * @bulk    Also find the mounts that have a file system with a bulk interface and no ID mapping,
 *          and on which no file is covered by a mount.
 * @follow  Also find which links the kernel does not follow.
 * @all     The place of each mount is of interest, also of those that cannot block.
 * @delegate   Also find the sources of mounts that may be delegated.
 * @return 0, or -1.  Errors: ENOMEM.  Ownership: search_mounts_destroy().
 */
int libgetmnt_mounts(struct os *os, struct search_mounts *mounts, bool bulk, bool follow,
                     bool all, bool delegate);

/** See search_mounts.read. */
int libgetmnt_mounts_again(struct os *os, uint64_t id, struct search_mounts *now);

#endif
