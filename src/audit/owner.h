/* SPDX-License-Identifier: MIT */
/**
 * Who has mounted what there is.
 *
 * What the system mounts by itself has its owner by the plan.  Of the rest, what a line
 * of the fstab makes is the fstab's, with what comes along with a bind; the root is the boot's, and nobody is known to own
 * what is left.
 */
#ifndef GM_AUDIT_OWNER_H
#define GM_AUDIT_OWNER_H

#include "fstab/match.h"

/** All owners there are, as findings name them; a container's is followed by its
    engine: "container:docker", a user's by the name or ID: "user:1500".  NULL ends them. */
extern const char *const audit_owners[];

/** The name of an owner, without an engine: of audit_owners[]; NULL for what is none. */
const char *audit_owner_name(const char *owner);

/** Whether an owner is the one of a name, with any engine. */
bool audit_is_owner(const char *owner, const char *name);

/** Whether an ordinary user made a mount of this owner: as many, and with such names, as that user
    likes; by hand, in a session, or through udisks. */
bool audit_is_users(const char *owner);

/**
 * Name the owners of a plan's mounts, and the line that each is of.
 *
 * @plan    Gets the owner of each line that has none, and the line of the file.
 * @match  Of a file and this plan.
 * @lines   That file.
 * @world   Asked for units: one that is there owns what is mounted on its place, whatever
 *          has started it.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_own(struct fstab_plan *plan, const struct fstab_match *match, const struct tablines *lines, const struct fstab_world *world);

#endif
