/* SPDX-License-Identifier: MIT */
/**
 * The rules of a host, with what they need read.
 */
#ifndef GM_CMD_AUDIT_HOST_H
#define GM_CMD_AUDIT_HOST_H

#include "audit/live.h"
#include "cmd/machine.h"

/**
 * Read what audit_host() needs, and judge.
 *
 * @in  Without what is read here: mtab, errors, cmdline, crypttab.
 * @return 0; -1 (ENOMEM); or -2 after a message.
 */
int audit_judge_host(struct fstab_machine *machine, struct audit_live *in,
                     struct audit_report *report);

#endif
