/* SPDX-License-Identifier: MIT */
/**
 * A look at what lies under mounts, for audit_under().
 */
#ifndef GM_CMD_AUDIT_UNDER_H
#define GM_CMD_AUDIT_UNDER_H

#include "audit/rules/under.h"
#include "cmd/view.h"

/**
 * Look at each: the first entries of its directory, in a copy of the parent's mount that has
 * nothing on it and is attached nowhere.  What cannot be looked at stays unknown: where the
 * parent can block, without privilege, and where the kernel has no open_tree(2).
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_under_look(struct run *run, struct audit_under *list, size_t n);

#endif
