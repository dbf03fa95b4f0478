/* SPDX-License-Identifier: MIT */
/**
 * Shared by the readers of tables; private to table/.
 */
#ifndef GM_TABLE_TABLE_IMPL_H
#define GM_TABLE_TABLE_IMPL_H

#include "table/table.h"

/** How often mountinfo is read at most until it is consistent. */
enum { TABLE_READS = 4 };

/** The mountinfo of this process. */
#define TABLE_SELF_MOUNTINFO "/proc/self/mountinfo"

/** Make room for n mounts in all.  @return 0, or -1 (ENOMEM). */
int table_reserve(struct mount_table *table, size_t n);

/**
 * Read by listmount(2) and statmount(2).  See table_read_kernel().
 *
 * @any_depth
 *         Continue even if mounts are stacked thousands deep.  For each mount, the kernel walks
 *         up to the root: three times in statmount, once for a line of mountinfo.
 * Errors: E2BIG (stacked that deep), and others.
 */
struct mount_table *table_read_listmount(struct os *os, unsigned fields, bool any_depth);

/**
 * List the IDs of the mounts below a mount.
 *
 * @top     A unique ID; K_LSMT_ROOT for everything below this process's root.
 * @ids [out] Ascending; to be freed by the caller.
 * @return 0, or -1 with the outputs untouched.
 * Errors: those of os_listmount(); ENOMEM.
 */
int table_list_ids(struct os *os, uint64_t top, uint64_t **ids, size_t *n);

/** Read the mounts with some keys by statmount(2).  See table_ask_again(). */
struct mount_table *table_ask_listmount(struct os *os, unsigned fields, const uint64_t *keys,
                                        size_t n);

/** Parse the text of an fstab or mtab.  See table_read_file(). */
struct mount_table *table_parse_tabfile(const char *text, size_t len, enum table_source source);

#endif
