/* SPDX-License-Identifier: MIT */
/**
 * MNT-UNDER-NOT-EMPTY: what lies in the directory that something is mounted on.  Pure: which
 * directories are to be looked at is told here, the look is somebody else's.
 *
 *     audit_under_list() --> a look at each, through its parent --> audit_under()
 *
 * Left out is what is meant to have something under it: what the system, sessions and
 * containers mount; what is bound onto itself; an overlay upon one of its own layers.
 */
#ifndef GM_AUDIT_UNDER_H
#define GM_AUDIT_UNDER_H

#include "audit/rules.h"
#include "fstab/fstab.h"
#include "host/host.h"

struct audit_under {
	const struct fstab_line *line;
	struct host_covered covered;
};

/**
 * List what is to be looked at, those of one parent together.
 *
 * @plan    With its owners: audit_own().
 * @include As in struct audit_mounts_input.
 * @list [out]  To be freed by audit_under_free().
 * @return its length, or -1.  Errors: ENOMEM.
 */
ssize_t audit_under_list(const struct discovery *d, const struct fstab_plan *plan,
                         const char *const *include,
                         struct audit_under **list);

void audit_under_free(struct audit_under *list, size_t n);

/**
 * Judge.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_under(const struct audit_under *list, size_t n, struct audit_report *report);

#endif
