/* SPDX-License-Identifier: MIT */
/**
 * What an fstab wants, against what is mounted: DRIFT-* and SWAP-*.
 *
 *     file, plan --> fstab_match() --> differences --> audit_drift() --> findings
 *
 * The merge has said which line is of which mount, and what is otherwise; here that
 * becomes findings, and the lines of nothing are judged.  Told is what somebody should
 * look at: not what systemd, an automounter or a container mounts, a line that says
 * noauto, an automount that waits, or a device that may be missing and is.  Pure but for
 * what the facts ask; linear.
 */
#ifndef GM_AUDIT_DRIFT_H
#define GM_AUDIT_DRIFT_H

#include "audit/rules.h"
#include "fstab/match.h"

/** Of a system that is up for less, mounts may still come: in seconds. */
#define AUDIT_BOOTING 300

struct audit_drift_input {
	const struct tablines *lines;
	const struct fstab_match *match;     /* of these lines; nothing is to be fixed or added */
	const struct fstab_input *live;        /* that of the plan */
	const struct fstab_plan *plan;         /* with its owners: audit_own() */
	const struct fstab_facts *facts;       /* NULL: none */
	long uptime;                           /* in seconds; -1: not known, or of long */
	const struct host_units *units;        /* NULL: not known */
};

/**
 * Judge.
 *
 * @report  Of these lines, by audit_fstab(): what they ignore is left out.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_drift(const struct audit_drift_input *in, struct audit_report *report);

#endif
