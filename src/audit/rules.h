/* SPDX-License-Identifier: MIT */
/**
 * Rules: possible faults of an fstab and of the live mounts, each with a stable code.
 *
 *     lines of a file, facts --> audit_fstab() --> findings
 *     the live mounts -------> audit_drift(), audit_mounts() ... (live.h) --------^
 *     a configuration -------> audit_policy(), audit_config_apply() (config.h)
 *
 * The lines of an fstab are checked one by one, and compared with each other.  Facts about the
 * machine come from struct fstab_facts; a rule that lacks a fact is marked as not checked.  Pure,
 * and linear in the bytes of the text.
 *
 * audit_compare() compares two texts by what they mount at boot.
 *
 * A comment "# getmnt: ignore=CODE,CODE" directly above an entry ignores findings about the entry
 * with these codes.
 */
#ifndef GM_AUDIT_RULES_H
#define GM_AUDIT_RULES_H

#include "fstab/fstab.h"
#include "fstab/entry.h"

#include <assert.h>

enum audit_severity { AUDIT_INFO, AUDIT_WARNING, AUDIT_CRITICAL };

/** Properties of a rule. */
enum audit_rule_flags {
	AR_BOOT = 1 << 0,        /* its findings can keep a system from booting */
	AR_PROBE = 1 << 1,       /* checked only with --probe */
	AR_UNDER = 1 << 2,       /* checked only with --under */
	AR_HOLDERS = 1 << 3,     /* checked only with --holders */
	AR_SWAPS = 1 << 4,       /* needs the list of swap spaces */
	AR_BASELINE = 1 << 5,    /* compares with a baseline: baseline.h */
	AR_MERGE = 1 << 6,       /* compares two fstabs: audit_compare(), not getmnt audit */
	AR_STATIC = 1 << 7,      /* checks the text of a line, without facts about a host */
};

/** The rules: code, highest severity of a finding (CRIT: AUDIT_CRITICAL ...), flags (LINT stands
    for AR_STATIC, BOOT for AR_BOOT ...), meaning.  Each rule has a row here, a check in a file of
    rules/, an entry in getmnt-audit(8), and a test. */
#define AUDIT_RULES(RULE) \
	RULE(FSTAB_SYNTAX, "FSTAB-SYNTAX", CRIT, BOOT_LINT, "an invalid or misleading line") \
	RULE(FSTAB_ESCAPE, "FSTAB-ESCAPE", CRIT, BOOT_LINT, \
	     "a backslash or quotation mark that has no effect") \
	RULE(FSTAB_ORDER, "FSTAB-ORDER", CRIT, BOOT_LINT, \
	     "a line before the line whose mount it needs") \
	RULE(FSTAB_DUP_TARGET, "FSTAB-DUP-TARGET", WARN, BOOT_LINT, \
	     "lines, or a line and a unit, with one mount point") \
	RULE(FSTAB_DUP_SOURCE, "FSTAB-DUP-SOURCE", WARN, LINT, \
	     "a swap space or file system in two lines") \
	RULE(FSTAB_OPT_UNKNOWN, "FSTAB-OPT-UNKNOWN", WARN, BOOT_LINT, \
	     "an option or value that the type does not accept") \
	RULE(FSTAB_OPT_TYPO, "FSTAB-OPT-TYPO", CRIT, BOOT_LINT, \
	     "an option that looks like a misspelled one") \
	RULE(FSTAB_OPT_CONFLICT, "FSTAB-OPT-CONFLICT", WARN, BOOT_LINT, \
	     "options that conflict, or lack another option") \
	RULE(FSTAB_PASSNO, "FSTAB-PASSNO", WARN, LINT, "a dump or fsck number that does not fit") \
	RULE(FSTAB_SWAP, "FSTAB-SWAP", WARN, LINT, \
	     "a swap space with options unknown to swapon(8)") \
	RULE(FSTAB_SRC_MISSING, "FSTAB-SRC-MISSING", CRIT, BOOT_LINT, \
	     "a source that does not exist") \
	RULE(FSTAB_SRC_AMBIGUOUS, "FSTAB-SRC-AMBIGUOUS", CRIT, AR_BOOT, \
	     "an identifier that more than one device has") \
	RULE(FSTAB_SRC_UNSTABLE, "FSTAB-SRC-UNSTABLE", WARN, BOOT_LINT, \
	     "a device name that may change with the next boot") \
	RULE(FSTAB_BIND_SRC, "FSTAB-BIND-SRC", CRIT, BOOT_LINT, \
	     "a bind of a path that does not exist") \
	RULE(FSTAB_OVERLAY_DIR, "FSTAB-OVERLAY-DIR", CRIT, BOOT_LINT, \
	     "an overlay with a missing or unusable directory") \
	RULE(FSTAB_TGT_MISSING, "FSTAB-TGT-MISSING", WARN, 0, "a mount point that does not exist") \
	RULE(FSTAB_TGT_SYMLINK, "FSTAB-TGT-SYMLINK", INFO, 0, "a mount point that is a symlink") \
	RULE(FSTAB_TYPE_MISMATCH, "FSTAB-TYPE-MISMATCH", CRIT, AR_BOOT, \
	     "a type other than the one on the device") \
	RULE(FSTAB_TYPE_UNSUPPORTED, "FSTAB-TYPE-UNSUPPORTED", CRIT, BOOT_LINT, \
	     "a type that the kernel cannot mount") \
	RULE(FSTAB_HELPER_MISSING, "FSTAB-HELPER-MISSING", WARN, 0, \
	     "a type whose mount or fsck helper is not installed") \
	RULE(FSTAB_NOFAIL, "FSTAB-NOFAIL", WARN, BOOT_LINT, \
	     "a mount that boot waits for without needing it") \
	RULE(FSTAB_NETDEV, "FSTAB-NETDEV", WARN, BOOT_LINT, \
	     "network block storage without _netdev") \
	RULE(FSTAB_ESP_MASK, "FSTAB-ESP-MASK", INFO, LINT, \
	     "an EFI system partition that everybody can read") \
	RULE(FSTAB_SECRET, "FSTAB-SECRET", WARN, LINT, \
	     "a secret in a file that everybody can read") \
	RULE(FSTAB_LOST, "FSTAB-LOST", CRIT, AR_BOOT | AR_MERGE, \
	     "a mount that only the former fstab makes") \
	RULE(DRIFT_NOT_MOUNTED, "DRIFT-NOT-MOUNTED", WARN, 0, "a line that is not mounted") \
	RULE(DRIFT_NOT_IN_FSTAB, "DRIFT-NOT-IN-FSTAB", WARN, 0, \
	     "a mount without a line and without a known owner") \
	RULE(DRIFT_SOURCE, "DRIFT-SOURCE", CRIT, 0, \
	     "another source is mounted than the line names") \
	RULE(DRIFT_TYPE, "DRIFT-TYPE", WARN, 0, "mounted with another type than the line names") \
	RULE(DRIFT_OPTIONS, "DRIFT-OPTIONS", WARN, 0, \
	     "mounted with other options than the line names") \
	RULE(DRIFT_READONLY, "DRIFT-READONLY", CRIT, 0, \
	     "mounted read-only, but the line does not say so") \
	RULE(SWAP_NOT_ACTIVE, "SWAP-NOT-ACTIVE", WARN, AR_SWAPS, \
	     "a swap space of a line that is not in use") \
	RULE(SWAP_EXTRA, "SWAP-EXTRA", WARN, AR_SWAPS, "a swap space in use without a line") \
	RULE(MNT_DELETED, "MNT-DELETED", WARN, 0, \
	     "a mount of a directory or file that was removed") \
	RULE(MNT_SHADOWED, "MNT-SHADOWED", WARN, 0, "a mount hidden by another mount") \
	RULE(MNT_DUP, "MNT-DUP", WARN, 0, "the same mount stacked on itself") \
	RULE(MNT_LIMIT, "MNT-LIMIT", CRIT, 0, "nearly as many mounts as fs.mount-max allows") \
	RULE(MNT_STALE, "MNT-STALE", CRIT, AR_PROBE, \
	     "a mount whose server, daemon or device is gone") \
	RULE(MNT_TIMEOUT, "MNT-TIMEOUT", CRIT, AR_PROBE, "a mount that does not answer") \
	RULE(BASE_CAME, "BASE-CAME", WARN, AR_BASELINE, \
	     "a mount or swap space that the baseline lacks") \
	RULE(BASE_WENT, "BASE-WENT", WARN, AR_BASELINE, \
	     "a mount or swap space of the baseline that is gone") \
	RULE(BASE_CHANGED, "BASE-CHANGED", WARN, AR_BASELINE, \
	     "a mount that differs from the baseline") \
	RULE(MNT_UNDER_NOT_EMPTY, "MNT-UNDER-NOT-EMPTY", WARN, AR_UNDER, \
	     "data in a directory that is covered by a mount") \
	RULE(MNT_HELD, "MNT-HELD", WARN, AR_HOLDERS, \
	     "a file system that is unmounted here, but still in use") \
	RULE(MTAB_REGULAR, "MTAB-REGULAR", INFO, 0, "an mtab that is a regular file") \
	RULE(MTAB_STALE, "MTAB-STALE", WARN, 0, "an mtab that differs from what is mounted") \
	RULE(MTAB_CORRUPT, "MTAB-CORRUPT", WARN, 0, "an mtab that cannot be read") \
	RULE(FSTAB_MODE, "FSTAB-MODE", CRIT, 0, "an fstab that others than root can write") \
	RULE(FSTAB_SYSTEMD_STALE, "FSTAB-SYSTEMD-STALE", WARN, 0, \
	     "a line that systemd has not loaded as it is now") \
	RULE(UNIT_FAILED, "UNIT-FAILED", WARN, 0, \
	     "a mount, automount or swap unit that has failed") \
	RULE(FS_ERRORS, "FS-ERRORS", CRIT, 0, "a file system with errors or missing devices") \
	RULE(BOOT_ROOT, "BOOT-ROOT", CRIT, AR_BOOT, \
	     "root= or resume= names a missing or another device") \
	RULE(BOOT_CRYPTTAB, "BOOT-CRYPTTAB", CRIT, AR_BOOT, \
	     "a crypttab line that cannot be set up") \
	RULE(POLICY_OPTION, "POLICY-OPTION", WARN, 0, \
	     "a mount without options that the configuration requires") \
	RULE(POLICY_PARTITION, "POLICY-PARTITION", WARN, 0, \
	     "a path that must be a mount point, but is not") \
	RULE(MNT_PROPAGATION, "MNT-PROPAGATION", WARN, 0, \
	     "a propagation other than the configuration requires")

#define RULE(name, ...) name,
enum audit_code {
	AUDIT_RULES(RULE)
	AUDIT_CODES,         /* the number of rules */
};
#undef RULE

struct audit_rule {
	const char *code;    /* "FSTAB-SYNTAX" */
	enum audit_severity severity;   /* highest severity of a finding */
	unsigned flags;      /* enum audit_rule_flags */
	const char *what;    /* description in one line */
};

extern const struct audit_rule audit_rules[AUDIT_CODES];

/** A set of rules, as bits 1 << code. */
typedef unsigned __int128 audit_set;
_Static_assert(AUDIT_CODES <= 128, "a set of rules is one number");

static inline audit_set audit_set_only(enum audit_code code)
{
	return (audit_set)1 << code;
}

static inline bool audit_set_has(audit_set set, enum audit_code code)
{
	return set >> code & 1;
}

/** The number of rules in a set. */
static inline unsigned audit_set_count(audit_set set)
{
	return (unsigned)(__builtin_popcountll((uint64_t)set)
	                  + __builtin_popcountll((uint64_t)(set >> 64)));
}

/** All rules with any of these enum audit_rule_flags; for 0, all rules. */
audit_set audit_set_of(unsigned flags);

/** Find the rule whose code is a name of n bytes; -1: no such rule. */
int audit_code(const char *name, size_t n);

/** Add the rules whose code matches a name of n bytes to a set; "DRIFT-*" matches a prefix, "*"
    all.
    @return whether any rule matches. */
bool audit_codes(const char *name, size_t n, audit_set *set);

/** The name of a severity: "info", "warning" or "critical". */
const char *audit_severity_name(enum audit_severity severity);

/** Whether a finding is new compared with a baseline. */
enum audit_age { AUDIT_AGELESS /* unknown */, AUDIT_NEW, AUDIT_KNOWN };

/** A finding.  All strings are decoded bytes, without secrets. */
struct audit_finding {
	enum audit_code code;
	enum audit_severity severity;
	bool boot;               /* a risk for the boot */
	const char *file;        /* the file that `line` refers to; NULL: the fstab */
	uint32_t line;           /* line number, from 1; 0: none */
	const char *target;      /* the mount point, or the source of a swap space; "": none */
	const char *owner;       /* who made the mount, one of audit_owners[]; NULL: not a mount.
	                            If audit_is_users(owner), the severity is at most warning */
	const char *fstype;      /* type of the mount; NULL: not a mount */
	const char *message;     /* the problem */
	const char *expected, *actual;   /* the expected and the actual value; or NULL */
	const char *hint;        /* the remedy; or NULL */
	const char *refused; /* why the kernel refuses the mount of the line: "the line has ...";
	                        or NULL */
	const char *option;      /* the option, as written, that the kernel refuses; NULL: none */
	enum audit_age age;      /* set by audit_baseline_findings() */
	bool left_out;           /* audit_report_bound() will remove the finding */
};

struct audit_input {
	const struct fstab_file *file;
	const struct fstab_facts *facts;   /* NULL: no facts are known */

	/** The live mounts.  If a live mount with the file system type of a line shows an option,
	    the kernel knows the option.  NULL: the mounts are unknown. */
	const struct discovery *live;

	/** Only the owner of the fstab can read the file. */
	bool closed;

	/** Root directory of the audited system, as a path in the mount table `live`; NULL:
	    unknown. */
	const char *root;

	/** The audited system is not the running system, but a recorded table or another root:
	    hints contain no commands, which would show or change the wrong system. */
	bool elsewhere;

	/** The option with which `getmnt fstab` merges into this fstab, such as --merge=FILE; NULL:
	    --merge. */
	const char *merge;
};

/** The findings of rules.  Initialize with zeros. */
struct audit_report {
	struct audit_finding *findings;    /* sorted by line; findings without a line are last */
	size_t count;
	size_t of[AUDIT_CRITICAL + 1];        /* number of findings by severity */
	size_t suppressed;                 /* findings ignored by comments in the fstab */
	size_t silenced;                   /* findings ignored by the configuration */
	size_t left_out[AUDIT_CRITICAL + 1]; /* findings of users' mounts that
	                                        audit_report_bound() removed, by severity */
	audit_set *ignored;         /* ignored[number - 1]: codes that the comment above the line
	                               ignores */
	size_t nlines;
	audit_set not_checked;      /* rules for which a fact was unknown on some line */
	bool elsewhere;                    /* audit_input.elsewhere */
	const char *merge;                 /* audit_input.merge; not NULL after audit_fstab() */
	bool *readonly;                    /* readonly[i]: DRIFT-READONLY reports the mount of line
	                                      i of the plan; NULL before audit_drift() */
	struct arena arena;                /* memory of the report; if `failed` is set, findings
	                                      are missing */
};

/** Check the text of an fstab.
    @report [out]  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_fstab(const struct audit_input *in, struct audit_report *report);

void audit_report_destroy(struct audit_report *report);

/** Add a finding, whose strings are copied.  A finding that a comment in the fstab ignores is only
    counted, in report->suppressed. */
void audit_report_add(struct audit_report *report, const struct audit_finding *finding);

/** Record that a rule was not checked on some line or mount. */
void audit_not_checked(struct audit_report *report, enum audit_code code);

/** The circumstances that explain why a rule was not checked. */
struct audit_situation {
	bool recorded;           /* the mounts are from a recorded table */
	bool rooted;             /* the root directory of the audited system is not "/" */
	bool foreign;            /* the fstab is not that of the host */
	bool udev, systemd;      /* the host runs udev, systemd */
	bool probe, under, holders;   /* --probe, --under, --holders is given */
};

/** The reason why a rule was not checked on all lines or mounts, such as "needs --probe". */
const char *audit_why_not_checked(enum audit_code code, const struct audit_situation *at);

/** Append "3 rules not checked here: A, B (needs --probe); C (no udev on this host)"; nothing if
    the set is empty. */
void audit_name_not_checked(struct strbuf *out, audit_set set, const struct audit_situation *at);

/** Whether the comment above a line (from 1; 0: none) ignores a rule. */
bool audit_line_ignores(const struct audit_report *report, uint32_t line, enum audit_code code);

/** Remove the findings of rules that are not in `rules`, and findings whose target is not at or
    below a path in `paths`, unless `npaths` is 0. */
void audit_report_keep(struct audit_report *report, audit_set rules, char *const *paths,
                       size_t npaths);

/** Maximum number of findings about users' mounts in a report, and maximum bytes of their texts. */
enum { AUDIT_USERS_MAX = 50, AUDIT_USERS_BYTES = 64 << 10 };

/** Limit the findings of users' mounts, so that many mounts with long names cannot crowd out
    findings about the system in any format.  The most severe findings are kept; of the same
    severity, the first. */
void audit_report_bound(struct audit_report *report);

/** Sort findings by line and code; findings without a line by target and code. */
void audit_report_sort(struct audit_report *report);

/** Whether the mount on a mount point of the former text is lost.
    @return 1: the former text reproduces the live mount, but the new text does not; -1: in the new
    text, the line of another mount makes it; 0: neither, or not known. */
typedef int audit_lost_fn(void *arg, const char *path);

/**
 * Compare the texts of two fstabs, and report the risks for the boot that the new text adds:
 *
 * - FSTAB-LOST: the new text no longer mounts a device, server or directory on a mount point of
 *   the system (fstab_is_system()), or on another mount point for which `lost` returns 1;
 * - FSTAB-NOFAIL: a mount was optional, and boot now needs it.
 *
 * Linear.
 *
 * @report  The report about the new text.
 * @lost    NULL: check only mount points of the system.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_compare(const struct fstab_file *old, const struct fstab_file *new,
                  struct audit_report *report, audit_lost_fn *lost, void *arg);

/** Clear `boot` in the findings of a report for which `old` has a boot risk with the same code and
    target.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_clear_old_risks(const struct audit_report *old, struct audit_report *report);

#endif
