/* SPDX-License-Identifier: MIT */
/**
 * Rules: what can be wrong with an fstab and with what is mounted, each with a code that
 * stays.
 *
 *     lines of a file, facts --> audit_fstab() --> findings
 *     what is mounted -------> audit_drift(), audit_mounts() (drift.h, mounts.h) --^
 *     a configuration -------> audit_policy() (policy.h); audit_config_apply() (config.h)
 *
 * The text is judged line by line, and lines against each other.  What has to be
 * asked of the machine is asked through struct fstab_facts; where nobody answers,
 * the rule is told as not judged.  Pure, and linear in the bytes of the text.
 *
 * Two texts are compared by what they mount at a boot: audit_compare().
 *
 * A comment "# getmnt: ignore=CODE,CODE" in the lines of comment right above an entry
 * takes these codes from it.  What is no code there is told, for information.
 */
#ifndef GM_AUDIT_RULES_H
#define GM_AUDIT_RULES_H

#include "fstab/facts.h"
#include "table/tablines.h"

enum audit_severity { AUDIT_INFO, AUDIT_WARNING, AUDIT_CRITICAL };

/** The rules; audit_rules[] has a row for each. */
enum audit_code {
	FSTAB_SYNTAX,
	FSTAB_ESCAPE,
	FSTAB_ORDER,
	FSTAB_DUP_TARGET,
	FSTAB_DUP_SOURCE,
	FSTAB_OPT_UNKNOWN,
	FSTAB_OPT_TYPO,
	FSTAB_OPT_CONFLICT,
	FSTAB_PASSNO,
	FSTAB_SWAP,
	FSTAB_SRC_MISSING,
	FSTAB_SRC_AMBIGUOUS,
	FSTAB_SRC_UNSTABLE,
	FSTAB_BIND_SRC,
	FSTAB_OVERLAY_DIR,
	FSTAB_TGT_MISSING,
	FSTAB_TGT_SYMLINK,
	FSTAB_TYPE_MISMATCH,
	FSTAB_TYPE_UNSUPPORTED,
	FSTAB_HELPER_MISSING,
	FSTAB_NOFAIL,
	FSTAB_NETDEV,
	FSTAB_ESP_MASK,
	FSTAB_SECRET,
	FSTAB_LOST,          /* told by audit_compare() alone */
	DRIFT_NOT_MOUNTED,
	DRIFT_NOT_IN_FSTAB,
	DRIFT_SOURCE,
	DRIFT_TYPE,
	DRIFT_OPTIONS,
	DRIFT_READONLY,
	SWAP_NOT_ACTIVE,
	SWAP_EXTRA,
	MNT_DELETED,
	MNT_SHADOWED,
	MNT_DUP,
	MNT_LIMIT,
	MNT_STALE,
	MNT_TIMEOUT,
	BASE_CAME,           /* against a baseline: baseline.h */
	BASE_WENT,
	BASE_CHANGED,
	MNT_UNDER_NOT_EMPTY,
	MNT_HELD,
	MTAB_REGULAR,
	MTAB_STALE,
	MTAB_CORRUPT,
	FSTAB_MODE,
	FSTAB_SYSTEMD_STALE,
	UNIT_FAILED,
	FS_ERRORS,
	BOOT_ROOT,
	BOOT_CRYPTTAB,
	POLICY_OPTION,
	POLICY_PARTITION,
	MNT_PROPAGATION,
	AUDIT_CODES,         /* how many there are */
};

struct audit_rule {
	const char *code;    /* "FSTAB-SYNTAX" */
	enum audit_severity severity;   /* the highest that a finding has */
	bool boot;           /* it can keep a system from booting */
	const char *what;    /* one line */
};

extern const struct audit_rule audit_rules[AUDIT_CODES];

/** The code of this name, n bytes long; -1: there is none. */
int audit_code(const char *name, size_t n);

/** The codes of this name, n bytes long: "DRIFT-*" is all that begin so, "*" all.  @return a set of
    codes; 0: there is none. */
uint64_t audit_codes(const char *name, size_t n);

/** A set of codes has a bit for each. */
static inline uint64_t audit_bit(enum audit_code code)
{
	return UINT64_C(1) << code;
}

/** "info", "warning", "critical". */
const char *audit_severity_name(enum audit_severity severity);

/** A finding against a baseline. */
enum audit_age { AUDIT_AGELESS /* not known */, AUDIT_NEW, AUDIT_KNOWN };

/** All strings are decoded bytes, without secrets. */
struct audit_finding {
	enum audit_code code;
	enum audit_severity severity;
	bool boot;               /* this one is a risk for a boot */
	const char *file;        /* where it was said, for people; NULL: in the fstab */
	uint32_t line;           /* in the file, from 1; 0: it is of none */
	const char *target;      /* of a swap space, its source; "" for none */
	const char *owner;       /* who mounts it: "fstab", "unknown", or as fstab_line has it; NULL:
	                            it is of no mount.  audit_is_users(): at most a warning */
	const char *fstype;      /* of the mount; NULL the same */
	const char *message;
	const char *expected, *actual;   /* or NULL */
	const char *hint;        /* what to do; or NULL */
	const char *refused;     /* why the kernel is known to refuse the mount, of the line: "the
	                            line has ..."; or NULL */
	const char *option;      /* which one it is, if it is refused, as it stands; else NULL */
	enum audit_age age;      /* audit_baseline_age() */
	bool left_out;           /* within audit_report_bound() alone */
};

struct audit_input {
	const struct tablines *lines;
	const struct fstab_facts *facts;   /* NULL: none */

	/** Whether a source or options (the other is NULL) hold a secret; or NULL. */
	bool (*secret)(const char *source, const char *options);

	/** The mounts that there are: an option that one of the same type shows is known to
	    the kernel.  NULL: not known. */
	const struct discovery *live;

	/** Nobody but its owner can read the file. */
	bool closed;

	/** ROOT, as the mount points of `live` have it; NULL: not known. */
	const char *root;
};

/** A line that has a mount point, as two texts are compared by it. */
struct audit_mount {
	const char *path;        /* normal */
	uint32_t line;
	uint64_t ignored;        /* set of codes */
	bool boots;              /* mounted at a boot, or by an automount: not noauto */
	bool optional;           /* noauto, nofail or an automount */
	bool needed;             /* a boot fails without it */
	bool device;             /* stands on what is there before it: a device, server, directory */
};

struct audit_report {
	struct audit_finding *findings;    /* by line, those of none last */
	size_t count, room;
	size_t of[AUDIT_CRITICAL + 1];        /* how many of each severity */
	size_t suppressed;                 /* by lines of the fstab */
	uint64_t suppressed_codes;         /* of these: set of codes */
	size_t silenced;                   /* by the configuration */
	size_t left_out[AUDIT_CRITICAL + 1];  /* findings of users' mounts that are not in the list,
	                                         of each severity: audit_report_bound() */
	struct audit_mount *mounts;        /* as the lines stand */
	size_t nmounts;
	uint64_t *ignored;                 /* of each line, that of number 1 first: set of codes */
	size_t nlines;
	uint64_t unjudged;                 /* set of codes: some entry needed an answer that
	                                      nobody gave */
	struct arena arena;
};

/**
 * Judge an fstab.
 *
 * @report [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_fstab(const struct audit_input *in, struct audit_report *report);

void audit_report_destroy(struct audit_report *report);

/** Begin a report without an fstab. */
void audit_report_init(struct audit_report *report);

/**
 * Add a finding; its strings are copied.  One that its line takes from it is counted in
 * `suppressed` instead.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_report_add(struct audit_report *report, const struct audit_finding *finding);

/** Findings of users' mounts that a report keeps, and bytes of text that they have together. */
enum { AUDIT_USERS_MAX = 50, AUDIT_USERS_BYTES = 64 << 10 };

/**
 * Bound the findings of mounts that users made: so many mounts and such long names as a user likes do
 * not push those of the system out of any form.  The gravest are kept; of equal ones the first.
 *
 * @rules  A set of codes; findings of others are neither left out nor counted.
 */
void audit_report_bound(struct audit_report *report, uint64_t rules);

/** Put findings in their order: by line and code; of those without a line, by target and code. */
void audit_report_sort(struct audit_report *report);

/** Whether a mount that the text of before made as it is live is not made so any more. */
typedef bool audit_lost_fn(void *arg, const char *path);

/**
 * Put to a report what is a risk only beside the text that was there before:
 *
 * - FSTAB-LOST: what was mounted of a device, a server or a directory is mounted no
 *   more, or of a type that stands on nothing.  Of a place of the system always
 *   (fstab_is_system()), of another if `lost` says so;
 * - FSTAB-NOFAIL: a boot could do without a mount, and now cannot.
 *
 * Linear.
 *
 * @lost  NULL: only places of the system.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_compare(const struct audit_report *old, struct audit_report *report, audit_lost_fn *lost, void *arg);

/**
 * The risks for a boot that one report has and another has not, by code and target.
 *
 * @risks [out]  An array of pointers into the report, to be freed.
 * @return its length, or -1.  Errors: ENOMEM.
 */
ssize_t audit_new_risks(const struct audit_report *old, const struct audit_report *report,
                        const struct audit_finding ***risks);

#endif
