/* SPDX-License-Identifier: MIT */
/**
 * Copies of mounts that a recursive bind makes.
 *
 *     /home  /export  none  rbind          /home/t --> /export/t
 *
 * A recursive bind also copies the mounts below its source, and mounts made there later propagate
 * where the source is shared.  A copy is at the same place below the bind, and shows the same
 * directory of the same file system.  Pure; linear in mounts and the depth of their paths.
 */
#ifndef GM_AUDIT_RBIND_H
#define GM_AUDIT_RBIND_H

#include "fstab/match.h"

/**
 * Give copies without a known owner the line of the bind as their owner.
 *
 * @plan Gets the owner, and the number of the line.
 * @match Of a file and this plan.
 * @lines That file.
 * @return whether there was memory.
 */
bool audit_own_copies(struct fstab_plan *plan, const struct fstab_match *match,
                      const struct tablines *lines);

/**
 * Call for each recursive bind and each mount that it should have copied but did not: one that is
 * older than the bind, by its unique ID, and can be bound.  Without unique IDs nothing is known.
 *
 * @d Of the plan.
 * @return whether there was memory.
 */
bool audit_left_out(const struct fstab_plan *plan, const struct fstab_match *match,
                    const struct tablines *lines,
                    const struct discovery *d,
                    void (*each)(void *arg, const struct tabline *line,
                                 const struct fstab_line *child),
                    void *arg);

#endif
