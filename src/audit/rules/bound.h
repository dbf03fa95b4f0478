/* SPDX-License-Identifier: MIT */
/**
 * What comes along with a bind: mounts below what is bound.
 *
 *     /home  /export  none  rbind          /home/t --> /export/t
 *
 * What is bound recursively comes with what is mounted below it, and what is mounted there
 * since is passed on, where that is shared.  The copy stands at the same place below the
 * bind, and shows the same of the same file system.  Pure; linear in mounts and the depth of
 * their places.
 */
#ifndef GM_AUDIT_BOUND_H
#define GM_AUDIT_BOUND_H

#include "fstab/edit/merge.h"

/**
 * Say of copies that no owner is known of that they are of the line of the bind.
 *
 * @plan    Gets the owner, and the number of the line.
 * @merged  Of a file and this plan.
 * @lines   That file.
 * @return whether there was memory.
 */
bool audit_own_copies(struct fstab_plan *plan, const struct fstab_merged *merged,
                      const struct tablines *lines);

/**
 * Call for each line that binds recursively, and a mount that would have come along and has
 * not: which was there before the bind, as its unique ID tells, and can be bound.  Of a
 * table without such IDs nothing is known.
 *
 * @d  Of the plan.
 * @return whether there was memory.
 */
bool audit_left_out(const struct fstab_plan *plan, const struct fstab_merged *merged,
                    const struct tablines *lines,
                    const struct discovery *d,
                    void (*each)(void *arg, const struct tabline *line,
                                 const struct fstab_line *child),
                    void *arg);

#endif
