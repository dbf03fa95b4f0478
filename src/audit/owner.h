/* SPDX-License-Identifier: MIT */
/**
 * Who made each mount.
 *
 * The plan has the owners of mounts that the system makes by itself.  Mounts of fstab lines,
 * including the copies that a bind makes, belong to the fstab; the root belongs to the initrd; the
 * owner of any other mount is unknown.
 */
#ifndef GM_AUDIT_OWNER_H
#define GM_AUDIT_OWNER_H

#include "fstab/match.h"

/** All owners.  In findings a container is followed by its engine, "container:docker", a user by
   name or ID, "user:1500".  Ends with NULL. */
extern const char *const audit_owners[];

/** The owner of audit_owners[] without engine or user; NULL: unknown. */
const char *audit_owner_name(const char *owner);

/** Whether an owner has this name, with any engine. */
bool audit_is_owner(const char *owner, const char *name);

/** Whether an ordinary user made the mounts of this owner: by hand, in a session or through udisks.
    A user can make any number of mounts with any names. */
bool audit_is_users(const char *owner);

/** Set the owners of a plan's mounts, and the fstab line of each mount.
    @plan  Receives the missing owners, and the line numbers.
    @match  Of a file and this plan.
    @lines  That file.
    @facts  Mounts with a unit file, by its unit(), belong to the unit.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_own(struct fstab_plan *plan, const struct fstab_match *match,
              const struct fstab_file *file, const struct fstab_facts *facts);

#endif
