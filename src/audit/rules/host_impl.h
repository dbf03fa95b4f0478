/* SPDX-License-Identifier: MIT */
/**
 * What the files of the host's rules share.
 *
 *     host.c       the flow; mtab, the fstab's mode, errors of file systems
 *     boot.c       the kernel's command line
 *     crypttab.c   the crypttab
 */
#ifndef GM_AUDIT_HOST_IMPL_H
#define GM_AUDIT_HOST_IMPL_H

#include "audit/rules/host.h"

struct host_rules {
	const struct audit_host *in;
	struct audit_report *report;
	bool failed;             /* ENOMEM */
};

/** A formatted string, kept by the report; "" on ENOMEM. */
__attribute__((format(printf, 2, 3)))
const char *rules_format(struct host_rules *rules, const char *format, ...);

/** Add a finding. */
void rules_add(struct host_rules *rules, const struct audit_finding *finding);

/** Whether a source can name a device: a path in /dev, or one of the four tags. */
bool rules_names_device(const char *source);

void rules_boot_root(struct host_rules *rules);
void rules_crypttab(struct host_rules *rules);

#endif
