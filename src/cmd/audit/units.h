/* SPDX-License-Identifier: MIT */
/**
 * What units want, read and judged.
 */
#ifndef GM_CMD_AUDIT_UNITS_H
#define GM_CMD_AUDIT_UNITS_H

#include "audit/rules.h"
#include "cmd/machine.h"
#include "cmd/fstab/merge.h"

/** Lines, with what drop-ins of the units that are made of them say. */
struct audit_lines {
	struct tablines lines;      /* borrow the others' text */
	struct tabline *list;
	bool *more;                 /* of each line whether there is more than it says; NULL: of none */
	struct arena arena;
};

/**
 * Put what drop-ins say over lines.
 *
 * @lines  Of the fstab; to live as long.
 * @with [out]
 *         To be destroyed by audit_lines_destroy(), also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_lines_with(struct fstab_machine *machine, const struct tablines *lines, struct audit_lines *with);

void audit_lines_destroy(struct audit_lines *with);

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
