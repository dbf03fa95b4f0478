/* SPDX-License-Identifier: MIT */
/**
 * Compare the mounts, swap spaces and findings of a host with an earlier state, the baseline.
 *
 *     plan --> audit_baseline_collect() --> now --.
 *                                              +--> audit_baseline_compare() --> BASE-*
 *     file (cmd/audit/baseline.c) --> old -----'    audit_baseline_findings() --> new findings
 *
 * The key of a mount is its mount point and a name of the source that survives a boot: a name in
 * /dev/mapper, the file of a loop device, a UUID, a server.  Names such as /dev/sda1, mount IDs,
 * the order of options, and options that change with every mount are ignored; so are mounts at and
 * below an automount trigger, and submounts of network mounts.  Pure; linear except for sorting.
 */
#ifndef GM_AUDIT_BASELINE_H
#define GM_AUDIT_BASELINE_H

#include "audit/rules.h"
#include "fstab/fstab.h"

/** A mount, a swap space or a finding.  Strings are decoded, without secrets, and never NULL. */
struct audit_base_entry {
	enum audit_base_kind { BASE_MOUNT, BASE_SWAP, BASE_FINDING } kind;
	bool light;              /* users or the kernel may make and remove the mount at any time,
	                            so BASE-CAME and BASE-WENT have severity info */
	union {
		struct {
			const char *target;   /* the mount point, the swap space, or the code of
			                         the finding */
			const char *source;   /* a name that survives a boot; for a finding,
			                         the target of the finding */
			const char *uuid;     /* UUID of the file system; for a finding of a
			                         `detailed` baseline, its severity */
			const char *fstype;
			const char *root;     /* the mounted directory of the file system */
			const char *options;  /* options of the mount and its file system,
			                         sorted */
			const char *owner;
		};
		const char *text[7];     /* the strings above, as an array */
	};
	/* Not saved to the file: */
	struct audit_finding *finding;   /* BASE_FINDING: the finding in the report */
	struct audit_base_entry *pair;   /* the entry of the other baseline that this entry is
	                                    compared with; NULL: no such entry */
};

struct audit_base_list {
	struct audit_base_entry *entries;
	size_t count;
};

struct audit_baseline {
	const char *host, *root;
	int64_t time;            /* of the collection, in seconds since 1970 */
	audit_set rules;  /* rules that were checked */
	unsigned include;        /* owners whose mounts are included: bit i for
	                            audit_base_owners[i] */
	bool detailed;           /* findings have an owner and a severity; the severity is compared
	                            too */
	struct audit_base_list mounts;     /* mounts and swap spaces, sorted */
	struct audit_base_list findings;   /* findings, sorted */
	struct arena arena;      /* memory of the lists and strings */
};

/** The differences between a host and its baseline. */
struct audit_base_counts {
	size_t came, went, changed;          /* numbers of new, missing and changed mounts and
	                                        swap spaces */
	size_t new_findings, gone_findings;
};

void audit_baseline_init(struct audit_baseline *baseline);
void audit_baseline_destroy(struct audit_baseline *baseline);

/** Add an entry with empty strings.  @return the entry, valid until the next call; or NULL.
    Errors: ENOMEM. */
struct audit_base_entry *audit_baseline_add(struct audit_baseline *baseline,
                                            enum audit_base_kind kind);

void audit_baseline_sort(struct audit_baseline *baseline);

/** Owners whose mounts a baseline leaves out unless baseline.include has their bit; ends with
    NULL. */
extern const char *const audit_base_owners[];

/** The bit of an owner in baseline.include; 0: mounts of this owner are never left out. */
unsigned audit_baseline_owner(const char *owner);

/** Collect the mounts and swap spaces of a host.
    @plan      The plan, with the owners that audit_own() set.
    @file      The fstab: mounts with a noauto line are `light`.
    @baseline  Gets the entries, sorted.  The caller has set `include`.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_baseline_collect(const struct fstab_plan *plan, const struct fstab_facts *facts,
                           const struct fstab_file *file, struct audit_baseline *baseline);

/** Report new, missing and changed mounts and swap spaces: BASE-*.
    @uptime  Seconds since boot; -1: unknown.  If known and less than AUDIT_BOOTING, missing entries
             are not reported, since their mounts may be pending.
    @counts  The numbers of new, missing and changed entries are added.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_baseline_compare(struct audit_baseline *old, struct audit_baseline *now, long uptime,
                           struct audit_report *report, struct audit_base_counts *counts);

/** Add the findings of a report to a baseline, and set their `age`.  A finding is known if the old
    baseline has a finding with this code and target; its age stays unknown if the old baseline did
    not check the rule.
    @old    The old baseline; NULL: do not set ages.
    @rules  Findings of rules that are not in this set are ignored.  The set has no BASE-* rules if
            the baseline is to be saved.
    @now    Gets the findings, sorted.
    @counts  The numbers of new and gone findings are added.
    @return 0, or -1.  Errors: ENOMEM. */
int audit_baseline_findings(struct audit_baseline *old, struct audit_report *report,
                            audit_set rules, struct audit_baseline *now,
                            struct audit_base_counts *counts);

/** Append the time of a baseline: "2026-11-22 20:31 UTC". */
void audit_baseline_when(const struct audit_baseline *baseline, struct strbuf *out);

#endif
