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

enum audit_under_seen {
	AUDIT_UNDER_UNKNOWN,     /* it was not looked at, or could not be */
	AUDIT_UNDER_NOTHING,     /* it is empty, or no directory */
	AUDIT_UNDER_DATA,
};

enum { AUDIT_UNDER_NAMES = 3 };

struct audit_under {
	const struct fstab_line *line;
	uint32_t parent;         /* the node that its place is in */
	const char *place;       /* from the root of that mount, without a slash at its head;
	                            NULL: not known */
	enum audit_under_seen seen;
	size_t count;            /* entries */
	bool more;               /* there can be more of them */
	char *names[AUDIT_UNDER_NAMES];   /* the first of them; to be freed with the list */
};

/**
 * List what is to be looked at, those of one parent together.
 *
 * @plan    With its owners: audit_own().
 * @include As in struct audit_mounts_input.
 * @list [out]  To be freed by audit_under_free().
 * @return its length, or -1.  Errors: ENOMEM.
 */
ssize_t audit_under_list(const struct discovery *d, const struct fstab_plan *plan, const char *const *include,
                         struct audit_under **list);

void audit_under_free(struct audit_under *list, size_t n);

/** Whether a name is that of a file that keeps a directory in an archive, and holds nothing. */
bool audit_under_keeps(const char *name);

/**
 * Judge.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_under(const struct audit_under *list, size_t n, struct audit_report *report);

#endif
