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

/** What is special about a rule. */
enum audit_rule_flags {
	AR_BOOT = 1 << 0,        /* its findings can keep a system from booting */
	AR_PROBE = 1 << 1,       /* checked only with --probe */
	AR_UNDER = 1 << 2,       /* checked only with --under */
	AR_HOLDERS = 1 << 3,     /* checked only with --holders */
	AR_SWAPS = 1 << 4,       /* needs the list of swap spaces */
	AR_BASELINE = 1 << 5,    /* compares with a baseline: baseline.h */
	AR_MERGE = 1 << 6,       /* compares two fstabs: audit_compare(), not getmnt audit */
};

/**
 * Every rule, one row each: RULE(enum, code, highest severity, flags, what it finds).
 *
 * To add one: a row here, its check in a file of rules/, its entry in getmnt-audit(8), a test.
 */
#define AUDIT_RULES(RULE) \
	RULE(FSTAB_SYNTAX, "FSTAB-SYNTAX", CRITICAL, AR_BOOT, \
	     "an invalid line, or one that does not mean what it seems to") \
	RULE(FSTAB_ESCAPE, "FSTAB-ESCAPE", CRITICAL, AR_BOOT, \
	     "a backslash or quotation mark without the effect it seems to have") \
	RULE(FSTAB_ORDER, "FSTAB-ORDER", CRITICAL, AR_BOOT, \
	     "a line before the line whose mount it needs") \
	RULE(FSTAB_DUP_TARGET, "FSTAB-DUP-TARGET", WARNING, AR_BOOT, \
	     "two lines, or a line and a unit, with the same mount point") \
	RULE(FSTAB_DUP_SOURCE, "FSTAB-DUP-SOURCE", WARNING, 0, \
	     "a swap space or file system in two lines") \
	RULE(FSTAB_OPT_UNKNOWN, "FSTAB-OPT-UNKNOWN", WARNING, AR_BOOT, \
	     "an option or value that the file system type does not accept") \
	RULE(FSTAB_OPT_TYPO, "FSTAB-OPT-TYPO", CRITICAL, AR_BOOT, \
	     "an option that looks like a misspelled one") \
	RULE(FSTAB_OPT_CONFLICT, "FSTAB-OPT-CONFLICT", WARNING, AR_BOOT, \
	     "options that contradict each other, or lack another option") \
	RULE(FSTAB_PASSNO, "FSTAB-PASSNO", WARNING, 0, \
	     "a dump or fsck number that does not fit") \
	RULE(FSTAB_SWAP, "FSTAB-SWAP", WARNING, 0, \
	     "a swap space with options that swapon(8) does not accept") \
	RULE(FSTAB_SRC_MISSING, "FSTAB-SRC-MISSING", CRITICAL, AR_BOOT, \
	     "a source that does not exist") \
	RULE(FSTAB_SRC_AMBIGUOUS, "FSTAB-SRC-AMBIGUOUS", CRITICAL, AR_BOOT, \
	     "an identifier that more than one device has") \
	RULE(FSTAB_SRC_UNSTABLE, "FSTAB-SRC-UNSTABLE", WARNING, AR_BOOT, \
	     "a device name that may be another device at the next boot") \
	RULE(FSTAB_BIND_SRC, "FSTAB-BIND-SRC", CRITICAL, AR_BOOT, \
	     "a bind of a path that does not exist") \
	RULE(FSTAB_OVERLAY_DIR, "FSTAB-OVERLAY-DIR", CRITICAL, AR_BOOT, \
	     "an overlay with a missing or unusable directory") \
	RULE(FSTAB_TGT_MISSING, "FSTAB-TGT-MISSING", WARNING, 0, \
	     "a mount point that does not exist") \
	RULE(FSTAB_TGT_SYMLINK, "FSTAB-TGT-SYMLINK", INFO, 0, \
	     "a mount point that is a symlink") \
	RULE(FSTAB_TYPE_MISMATCH, "FSTAB-TYPE-MISMATCH", CRITICAL, AR_BOOT, \
	     "a type other than the one on the device") \
	RULE(FSTAB_TYPE_UNSUPPORTED, "FSTAB-TYPE-UNSUPPORTED", CRITICAL, AR_BOOT, \
	     "a type that the kernel cannot mount") \
	RULE(FSTAB_HELPER_MISSING, "FSTAB-HELPER-MISSING", WARNING, 0, \
	     "a type whose mount or fsck helper is not installed") \
	RULE(FSTAB_NOFAIL, "FSTAB-NOFAIL", WARNING, AR_BOOT, \
	     "a mount that boot waits for without needing it") \
	RULE(FSTAB_NETDEV, "FSTAB-NETDEV", WARNING, AR_BOOT, \
	     "network block storage without _netdev") \
	RULE(FSTAB_ESP_MASK, "FSTAB-ESP-MASK", INFO, 0, \
	     "an EFI system partition that everybody can read") \
	RULE(FSTAB_SECRET, "FSTAB-SECRET", WARNING, 0, \
	     "a secret in a file that everybody can read") \
	RULE(FSTAB_LOST, "FSTAB-LOST", CRITICAL, AR_BOOT | AR_MERGE, \
	     "a mount of the previous fstab that the new one lacks") \
	RULE(DRIFT_NOT_MOUNTED, "DRIFT-NOT-MOUNTED", WARNING, 0, \
	     "a line that is not mounted") \
	RULE(DRIFT_NOT_IN_FSTAB, "DRIFT-NOT-IN-FSTAB", WARNING, 0, \
	     "a mount without a line and without a known owner") \
	RULE(DRIFT_SOURCE, "DRIFT-SOURCE", CRITICAL, 0, \
	     "another source is mounted than the line names") \
	RULE(DRIFT_TYPE, "DRIFT-TYPE", WARNING, 0, \
	     "mounted with another type than the line names") \
	RULE(DRIFT_OPTIONS, "DRIFT-OPTIONS", WARNING, 0, \
	     "mounted with other options than the line names") \
	RULE(DRIFT_READONLY, "DRIFT-READONLY", CRITICAL, 0, \
	     "mounted read-only, but the line does not say so") \
	RULE(SWAP_NOT_ACTIVE, "SWAP-NOT-ACTIVE", WARNING, AR_SWAPS, \
	     "a swap space of a line that is not in use") \
	RULE(SWAP_EXTRA, "SWAP-EXTRA", WARNING, AR_SWAPS, \
	     "a swap space in use without a line") \
	RULE(MNT_DELETED, "MNT-DELETED", WARNING, 0, \
	     "a mount of a directory or file that was removed") \
	RULE(MNT_SHADOWED, "MNT-SHADOWED", WARNING, 0, \
	     "a mount hidden by another mount") \
	RULE(MNT_DUP, "MNT-DUP", WARNING, 0, \
	     "the same mount stacked on itself") \
	RULE(MNT_LIMIT, "MNT-LIMIT", CRITICAL, 0, \
	     "nearly as many mounts as fs.mount-max allows") \
	RULE(MNT_STALE, "MNT-STALE", CRITICAL, AR_PROBE, \
	     "a mount whose server, daemon or device is gone") \
	RULE(MNT_TIMEOUT, "MNT-TIMEOUT", CRITICAL, AR_PROBE, \
	     "a mount that does not answer") \
	RULE(BASE_CAME, "BASE-CAME", WARNING, AR_BASELINE, \
	     "a mount or swap space that the baseline lacks") \
	RULE(BASE_WENT, "BASE-WENT", WARNING, AR_BASELINE, \
	     "a mount or swap space of the baseline that is gone") \
	RULE(BASE_CHANGED, "BASE-CHANGED", WARNING, AR_BASELINE, \
	     "a mount that differs from the baseline") \
	RULE(MNT_UNDER_NOT_EMPTY, "MNT-UNDER-NOT-EMPTY", WARNING, AR_UNDER, \
	     "data in a directory that is covered by a mount") \
	RULE(MNT_HELD, "MNT-HELD", WARNING, AR_HOLDERS, \
	     "a file system that is unmounted here, but still in use") \
	RULE(MTAB_REGULAR, "MTAB-REGULAR", INFO, 0, \
	     "an mtab that is a regular file") \
	RULE(MTAB_STALE, "MTAB-STALE", WARNING, 0, \
	     "an mtab that differs from what is mounted") \
	RULE(MTAB_CORRUPT, "MTAB-CORRUPT", WARNING, 0, \
	     "an mtab that cannot be read") \
	RULE(FSTAB_MODE, "FSTAB-MODE", CRITICAL, 0, \
	     "an fstab that others than root can write") \
	RULE(FSTAB_SYSTEMD_STALE, "FSTAB-SYSTEMD-STALE", WARNING, 0, \
	     "a line that systemd has not loaded, or loaded differently") \
	RULE(UNIT_FAILED, "UNIT-FAILED", WARNING, 0, \
	     "a mount, automount or swap unit that has failed") \
	RULE(FS_ERRORS, "FS-ERRORS", CRITICAL, 0, \
	     "a file system with errors or missing devices") \
	RULE(BOOT_ROOT, "BOOT-ROOT", CRITICAL, AR_BOOT, \
	     "root= or resume= names a missing or another device") \
	RULE(BOOT_CRYPTTAB, "BOOT-CRYPTTAB", CRITICAL, AR_BOOT, \
	     "a crypttab line that cannot be set up") \
	RULE(POLICY_OPTION, "POLICY-OPTION", WARNING, 0, \
	     "a mount without options that the configuration requires") \
	RULE(POLICY_PARTITION, "POLICY-PARTITION", WARNING, 0, \
	     "a path that must be a mount point, but is not") \
	RULE(MNT_PROPAGATION, "MNT-PROPAGATION", WARNING, 0, \
	     "a propagation other than the configuration requires")

enum audit_code {
#define AUDIT_RULE_ENUM(name, code, severity, flags, what) name,
	AUDIT_RULES(AUDIT_RULE_ENUM)
#undef AUDIT_RULE_ENUM
	AUDIT_CODES,         /* the number of rules */
};

struct audit_rule {
	const char *code;    /* "FSTAB-SYNTAX" */
	enum audit_severity severity;   /* the highest that a finding has */
	unsigned flags;      /* enum audit_rule_flags */
	const char *what;    /* one line */
};

extern const struct audit_rule audit_rules[AUDIT_CODES];

/** A set of rules. */
struct audit_set {
	uint64_t words[AUDIT_CODES / 64 + 1];
};

static inline bool audit_set_has(const struct audit_set *set, enum audit_code code)
{
	return set->words[code / 64] >> code % 64 & 1;
}

static inline void audit_set_add(struct audit_set *set, enum audit_code code)
{
	set->words[code / 64] |= UINT64_C(1) << code % 64;
}

/** Add the rules of another set. */
void audit_set_add_all(struct audit_set *set, const struct audit_set *more);

/** Remove the rules of another set. */
void audit_set_remove_all(struct audit_set *set, const struct audit_set *less);

/** Keep only the rules that another set has too. */
void audit_set_keep(struct audit_set *set, const struct audit_set *only);

/** The number of rules in a set. */
unsigned audit_set_count(const struct audit_set *set);

/** All rules with any of these flags; with 0 all rules. */
struct audit_set audit_set_of(unsigned flags);

/** The code of this name, n bytes long; -1: there is none. */
int audit_code(const char *name, size_t n);

/** Add the codes of this name, n bytes long, to a set: "DRIFT-*" is all that begin so, "*" is all.
    @return whether there is one. */
bool audit_codes(const char *name, size_t n, struct audit_set *set);

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
	struct audit_set ignored;
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
	size_t silenced;                   /* by the configuration */
	size_t left_out[AUDIT_CRITICAL + 1];  /* findings of users' mounts that are not in the list,
	                                         of each severity: audit_report_bound() */
	struct audit_mount *mounts;        /* as the lines stand */
	size_t nmounts;
	struct audit_set *ignored;         /* of each line, from number 1 on: what its comment ignores */
	size_t nlines;
	struct audit_set not_checked;      /* rules for which some fact was not available */
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

/** Note that a rule could not be checked everywhere. */
void audit_not_checked(struct audit_report *report, enum audit_code code);

/** Whether the comment above a line (from 1; 0: none) ignores a rule. */
bool audit_line_ignores(const struct audit_report *report, uint32_t line, enum audit_code code);

/** Findings of users' mounts that a report keeps, and bytes of text that they have together. */
enum { AUDIT_USERS_MAX = 50, AUDIT_USERS_BYTES = 64 << 10 };

/**
 * Bound the findings of mounts that users made: so many mounts and such long names as a user likes do
 * not push those of the system out of any form.  The gravest are kept; of equal ones the first.
 *
 * @rules  Findings of other rules are neither left out nor counted.
 */
void audit_report_bound(struct audit_report *report, const struct audit_set *rules);

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
