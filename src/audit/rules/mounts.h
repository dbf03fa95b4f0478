/* SPDX-License-Identifier: MIT */
/**
 * Mounts that are broken, whatever the fstab says: MNT-*.  Pure; linear.  Mounts of others (the
 * system, sessions, containers: what a plan leaves out) are counted in one finding of each kind,
 * for information.
 */
#ifndef GM_AUDIT_MOUNTS_H
#define GM_AUDIT_MOUNTS_H

#include "audit/rules.h"
#include "fstab/fstab.h"

struct audit_mounts_input {
	const struct discovery *d;
	const struct fstab_plan *plan;   /* with its owners: audit_own() */
	const char *const *include;      /* owners whose mounts are reported one by one; ends with
	                                    NULL */
	bool (*secret)(const char *source, const char *options);   /* as in struct audit_input */
	long limit;              /* fs.mount-max; -1: not known */
};

/**
 * Judge.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_mounts(const struct audit_mounts_input *in, struct audit_report *report);

#endif
