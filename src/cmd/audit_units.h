/* SPDX-License-Identifier: MIT */
/**
 * What units want, read and judged.
 */
#ifndef GM_CMD_AUDIT_UNITS_H
#define GM_CMD_AUDIT_UNITS_H

#include "audit/rules.h"
#include "cmd/fstab_machine.h"
#include "cmd/fstab_merge.h"

/**
 * Judge what units want that the fstab has no line for.
 *
 * @in      Of the fstab's plan.
 * @lines   Of the fstab.
 * @uptime  As audit_drift() has it.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_judge_units(struct fstab_machine *machine, const struct fstab_input *in, const struct tablines *lines,
                      const struct fstab_facts *facts, long uptime, struct audit_report *report);

#endif
