/* SPDX-License-Identifier: MIT */
/**
 * Rules about the running system: its mounts, units and swap spaces, by themselves and compared
 * with the fstab.
 *
 *     audit_mounts()   MNT-*: broken mounts, independent of the fstab
 *     audit_covered()  MNT-UNDER-NOT-EMPTY: data in the directory that a mount covers
 *     audit_holders()  MNT-HELD: processes that keep an unmounted file system busy
 *     audit_drift()    DRIFT-*, SWAP-*: the fstab compared with the live mounts
 *     audit_units()    UNIT-FAILED, FSTAB-SYSTEMD-STALE; DRIFT-NOT-MOUNTED and SWAP-NOT-ACTIVE
 *                      of units without a line
 *     audit_host()     MTAB-*, FSTAB-MODE, FS-ERRORS, BOOT-*
 *
 * Each of these functions adds findings to a report, sorts the report, and returns 0, or -1
 * (ENOMEM).  Pure except for the facts; linear.  A rule that lacks a fact is marked as not checked.
 */
#ifndef GM_AUDIT_LIVE_H
#define GM_AUDIT_LIVE_H

#include "audit/rules.h"
#include "fstab/match.h"
#include "host/host.h"
#include "host/units.h"

/* Who made each mount.
   The plan knows the owners of mounts that the system makes itself.  Mounts of fstab lines,
   including the copies that a bind makes, belong to the fstab; the root belongs to the initrd; the
   owner of any other mount is unknown. */

/** All owners.  In findings, an engine follows a container, as in "container:docker", and a name
    or ID follows a user, as in "user:1500".  Ends with NULL. */
extern const char *const audit_owners[];

/** The word of audit_owners[] that an owner starts with; NULL: unknown. */
const char *audit_owner_name(const char *owner);

/** Whether an owner starts with this word of audit_owners[]. */
bool audit_is_owner(const char *owner, const char *name);

/** Whether an owner is an ordinary user, who made the mounts by hand, in a session or through
    udisks.  A user can make any number of mounts with any names. */
bool audit_is_users(const char *owner);

/** Set the owners of a plan's mounts, and the fstab line of each mount.
    @plan   Gets missing owners, and the numbers fstab_line.of.
    @match  The result of fstab_match() for `file` and `plan`.
    @facts  For FSTAB_UNIT: a mount with a unit file of its own belongs to the unit.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_own(struct fstab_plan *plan, const struct fstab_match *match,
              const struct fstab_file *file, const struct fstab_facts *facts);

/** Seconds of uptime before which mounts may still be pending. */
#define AUDIT_BOOTING 300

/** The type of /etc/mtab, and its faults. */
struct audit_mtab {
	enum host_mtab_kind kind;
	size_t wrong, gone, missing, unreadable;   /* number of lines that differ from their mount,
	                                              of lines without a mount, of mounts without
	                                              a line, of invalid lines */
};

struct audit_live {
	const struct discovery *d;
	const char *root;                  /* fstab_input.root: root directory of the audited
	                                      system */
	const struct fstab_facts *facts;
	const struct fstab_file *file;      /* the parsed fstab */
	const struct fstab_plan *plan;     /* with the owners that audit_own() set */
	const struct fstab_match *match;   /* the result of fstab_match() for file and plan */
	const struct host_units *units;    /* NULL: unknown */
	const char *const *include;        /* owners whose mounts are reported one by one; mounts of
	                                      other owners are only counted; ends with NULL */
	long mount_max;                    /* fs.mount-max; -1: unknown */
	long uptime;                       /* seconds since boot; -1: unknown, counts as
	                                      AUDIT_BOOTING or more */

	/* For audit_units() and audit_host(): */
	bool fstab_seen;                   /* `file` is /etc/fstab, and fstab_mode and fstab_uid are
	                                      set */
	unsigned fstab_mode, fstab_uid;
	struct audit_mtab mtab;
	const struct host_errors_list *errors;   /* errors of the file systems of the plan's
	                                            lines */
	const char *cmdline;               /* kernel command line; NULL: unknown */
	const char *crypttab;              /* text of the crypttab; NULL: it does not exist */
	const char *crypttab_name;         /* path of the crypttab, for messages */
	bool crypttab_unknown;             /* the crypttab may exist, but could not be read */
};

int audit_mounts(const struct audit_live *in, struct audit_report *report);
int audit_units(const struct audit_live *in, struct audit_report *report);
int audit_host(const struct audit_live *in, struct audit_report *report);

/** Compare the fstab with the live mounts.
    @report  The report of audit_fstab() about in->file. */
int audit_drift(const struct audit_live *in, struct audit_report *report);

int audit_holders(const struct host_holder *holders, size_t n, struct audit_report *report);

/** A mount, and the directory that it covers. */
struct audit_covered {
	const struct fstab_line *line;
	struct host_covered covered;
};

/**
 * List the covered directories that host_cover_look() should examine, grouped by the mount that
 * contains them.
 *
 * The list has no directories covered by mounts of the system, of sessions or of containers, by a
 * bind of the directory onto itself, or by an overlay that has the directory as a layer.
 *
 * @list [out]  To be freed by audit_covered_free().
 * @return the length of the list, or -1 (ENOMEM).
 */
ssize_t audit_covered_list(const struct audit_live *in, struct audit_covered **list);

void audit_covered_free(struct audit_covered *list, size_t n);

int audit_covered(const struct audit_covered *list, size_t n, struct audit_report *report);

#endif
