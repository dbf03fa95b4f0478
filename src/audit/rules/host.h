/* SPDX-License-Identifier: MIT */
/**
 * Rules about a host besides its mounts: mtab, mode of the fstab, errors of file systems, kernel
 * command line, crypttab.  Pure: what is not known is reported as not checked.
 */
#ifndef GM_AUDIT_HOST_H
#define GM_AUDIT_HOST_H

#include "audit/rules.h"
#include "fstab/facts.h"
#include "fstab/fstab.h"
#include "host/host.h"
#include "table/tablines.h"

/** What /etc/mtab is, and what is wrong with it. */
struct audit_mtab {
	enum host_mtab_kind kind;
	size_t wrong, gone, missing, unreadable;   /* lines, and mounts without one */
};

struct audit_host {
	const struct tablines *lines;      /* of the fstab */
	const struct fstab_plan *plan;
	const struct fstab_world *world;
	const struct fstab_facts *facts;   /* NULL: none */
	struct audit_mtab mtab;

	bool fstab_seen;                   /* its mode and owner are known: */
	unsigned fstab_mode, fstab_uid;

	const struct host_errors_list *errors;   /* of the mounts of the plan's lines */

	const char *cmdline;               /* of the kernel; NULL: not known */
	const char *crypttab;              /* its text; NULL: it does not exist */
	const char *crypttab_name;         /* for people */
	bool crypttab_unknown;             /* it may exist, but could not be read */
};

/**
 * Judge: MTAB-*, FSTAB-MODE, FS-ERRORS, BOOT-*.
 *
 * @report  Of the fstab, by audit_fstab().
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_host(const struct audit_host *in, struct audit_report *report);

#endif
