/* SPDX-License-Identifier: MIT */
/**
 * Comparing fstab with what is mounted: DRIFT-* and SWAP-*.
 *
 *     file, plan --> fstab_match() --> differences --> audit_drift() --> findings
 *
 * Differences become findings, and lines that match nothing are judged.  Not reported are
 * mounts of systemd, automounters and containers, lines with noauto, automounts that wait, and
 * devices that may be missing.  Pure but for the facts; linear.
 */
#ifndef GM_AUDIT_DRIFT_H
#define GM_AUDIT_DRIFT_H

#include "audit/rules.h"
#include "fstab/match.h"

/** Seconds of uptime before which mounts may still be pending. */
#define AUDIT_BOOTING 300

struct audit_drift_input {
	const struct tablines *lines;
	const struct fstab_match *match;       /* of these lines and the plan */
	const struct fstab_input *live;        /* of the plan */
	const struct fstab_plan *plan;         /* with its owners: audit_own() */
	const struct fstab_facts *facts;       /* NULL: none */
	long uptime;                           /* in seconds; -1: not known, or long */
	const struct host_units *units;        /* NULL: not known */
};

/**
 * Judge.
 *
 * @report  Of audit_fstab() for these lines; gets findings, but those that a line ignores.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_drift(const struct audit_drift_input *in, struct audit_report *report);

#endif
