/* SPDX-License-Identifier: MIT */
/**
 * Units of systemd: UNIT-FAILED; FSTAB-SYSTEMD-STALE; and DRIFT-NOT-MOUNTED and SWAP-NOT-ACTIVE
 * for units that have no line in the fstab.  Pure.
 */
#ifndef GM_AUDIT_UNITS_H
#define GM_AUDIT_UNITS_H

#include "audit/rules.h"
#include "fstab/facts.h"
#include "host/units.h"
#include "table/tablines.h"

struct audit_units_input {
	const struct host_units *units;
	const struct tablines *lines;            /* of the fstab */
	bool is_usual_fstab;                     /* /etc/fstab, from which systemd makes units */
	const struct fstab_facts *facts;
	long uptime;                             /* as in struct audit_drift_input */
};

/**
 * Judge.
 *
 * @report  Gets the findings, and is sorted.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_units(const struct audit_units_input *in, struct audit_report *report);

#endif
