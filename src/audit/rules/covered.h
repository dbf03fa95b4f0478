/* SPDX-License-Identifier: MIT */
/**
 * MNT-UNDER-NOT-EMPTY: data in the directory that something is mounted on.  Pure: which
 * directories to look at is decided here, host_cover_look() looks.
 *
 *     audit_covered_list() --> host_cover_look() for each --> audit_covered()
 *
 * Not listed: mounts of the system, of sessions and of containers; directories bound onto
 * themselves; an overlay on one of its own layers.
 */
#ifndef GM_AUDIT_COVERED_H
#define GM_AUDIT_COVERED_H

#include "audit/rules.h"
#include "fstab/fstab.h"
#include "host/host.h"

struct audit_covered {
	const struct fstab_line *line;
	struct host_covered covered;
};

/**
 * List what is to be looked at, those of one parent together.
 *
 * @plan    With its owners: audit_own().
 * @include As in struct audit_mounts_input.
 * @list [out]  To be freed by audit_covered_free().
 * @return its length, or -1.  Errors: ENOMEM.
 */
ssize_t audit_covered_list(const struct discovery *d, const struct fstab_plan *plan,
                         const char *const *include,
                         struct audit_covered **list);

void audit_covered_free(struct audit_covered *list, size_t n);

/**
 * Judge.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_covered(const struct audit_covered *list, size_t n, struct audit_report *report);

#endif
