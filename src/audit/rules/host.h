/* SPDX-License-Identifier: MIT */
/**
 * What else a host has to do with mounts: the mtab, the mode of its fstab, what file
 * systems have counted as errors, the kernel's command line, the crypttab.  Pure: what
 * was read is handed in, and what is not known is told as not judged.
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

	bool fstab_seen;                   /* who may write to it is known: */
	unsigned fstab_mode, fstab_uid;

	const struct host_errors_list *errors;   /* of the mounts of the plan's lines */

	const char *cmdline;               /* of the boot of this system; NULL: not known */
	const char *crypttab;              /* NUL-terminated; NULL: there is none */
	const char *crypttab_name;         /* for people */
	bool crypttab_unknown;             /* there may be one */
};

/**
 * Judge: MTAB-*, FSTAB-MODE, FS-ERRORS, BOOT-*.
 *
 * @report  Of the fstab, by audit_fstab().
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_host(const struct audit_host *in, struct audit_report *report);

#endif
