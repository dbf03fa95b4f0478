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

struct host {
	const struct audit_host *in;
	struct audit_report *report;
	struct strbuf text;      /* for use in passing */
	bool failed;             /* ENOMEM */
};

/** A formatted string that stays; "" on ENOMEM. */
__attribute__((format(printf, 2, 3)))
const char *host_form(struct host *host, const char *format, ...);

/** Add a finding. */
void host_tell(struct host *host, const struct audit_finding *finding);

/** A rule could not be judged. */
void host_unjudged(struct host *host, enum audit_code code);

/** Whether a source can name a device: a path in /dev, or one of the four tags. */
bool host_names_device(const char *source);

void host_boot_root(struct host *host);
void host_crypttab(struct host *host);

#endif
