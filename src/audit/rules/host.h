/* SPDX-License-Identifier: MIT */
/**
 * What else a host has to do with mounts: the mtab, the mode of its fstab, what file
 * systems have counted as errors, the kernel's command line, the crypttab.  Pure: what
 * was read is handed in, and what is not known is told as not judged.
 */
#ifndef GM_AUDIT_HOST_H
#define GM_AUDIT_HOST_H

#include "audit/rules.h"
#include "fstab/fstab.h"
#include "table/tablines.h"

/** What /etc/mtab is. */
enum audit_mtab_kind {
	AUDIT_MTAB_UNKNOWN,
	AUDIT_MTAB_NONE,         /* there is none */
	AUDIT_MTAB_KERNEL,       /* the kernel's own table, by a link */
	AUDIT_MTAB_NOWHERE,      /* a link that leads nowhere */
	AUDIT_MTAB_FILE,
};

struct audit_mtab {
	enum audit_mtab_kind kind;
	size_t wrong, gone, missing, unreadable;   /* lines, and mounts without one */
};

/** What a file system says of itself. */
struct audit_errors {
	const char *target, *owner, *fstype;
	unsigned long long count;   /* errors that it has met */
	unsigned missing;           /* devices that it lacks */
	const char *detail;         /* or NULL */
	bool shutdown;              /* it answers nothing any more */
	uint32_t line;              /* of the fstab; 0: none */
};

struct audit_host {
	const struct tablines *lines;      /* of the fstab */
	const struct fstab_plan *plan;
	const struct fstab_world *world;
	const struct fstab_facts *facts;   /* NULL: none */
	struct audit_mtab mtab;

	bool fstab_seen;                   /* who may write to it is known: */
	unsigned fstab_mode, fstab_uid;

	const struct audit_errors *errors; /* of those that have any */
	size_t nerrors;
	bool errors_unknown;               /* some could not be asked */

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
