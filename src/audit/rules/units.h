/* SPDX-License-Identifier: MIT */
/**
 * What units want, against what is mounted: DRIFT-* and SWAP-NOT-ACTIVE of them.
 *
 *     wanted units --> lines of a table --> fstab_merge(), audit_drift() --> findings of units
 *
 * A unit is judged as the line of an fstab that says the same, and told by its own file.
 * Pure but for what the merge and the facts ask.
 */
#ifndef GM_AUDIT_UNITS_H
#define GM_AUDIT_UNITS_H

#include "audit/rules.h"
#include "fstab/edit/merge.h"
#include "fstab/wanted.h"

struct audit_units_input {
	const struct wanted *wanted;
	const char *prefix;                      /* of their files, for people */
	struct fstab_merge_input merge;          /* how to ask; its world.unit knows those that are wanted
	                                            as nobody's, and their automounts as an fstab's */
	const struct fstab_facts *facts;         /* NULL: none */
	long uptime;                             /* as audit_drift() has it */
};

/**
 * Judge.
 *
 * @report  Gets the findings, and is put in order.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_units(const struct audit_units_input *in, struct audit_report *report);

#endif
