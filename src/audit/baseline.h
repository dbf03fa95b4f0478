/* SPDX-License-Identifier: MIT */
/**
 * A host compared with an earlier state of itself.
 *
 *     plan --> audit_baseline_take() --> now --.
 *                                              +--> audit_baseline_compare() --> BASE-*
 *     file (cmd/audit/baseline.h) --> old -----'    audit_baseline_ages() --> new findings
 *
 * An entry is a mount or a swap space.  Its key is the mount point and what identifies the source
 * over a boot: a name in /dev/mapper, the file of a loop device, a UUID, a server.  Names such as
 * /dev/sda1, mount IDs, the order of options, and options that change with every mount are left
 * out.  So are mounts that come and go by themselves: at and below an automounter's trigger, and
 * what a server mounts below another of its mounts.  Pure; linear but for sorting.
 */
#ifndef GM_AUDIT_BASELINE_H
#define GM_AUDIT_BASELINE_H

#include "audit/rules.h"
#include "fstab/fstab.h"

/** A mount, a swap space or a finding.  Strings are decoded bytes without secrets, never NULL; ""
   is none. */
struct audit_base_entry {
	enum audit_base_kind { BASE_MOUNT, BASE_SWAP, BASE_FINDING } kind;
	bool light;              /* it comes and goes at will: a change is only information */
	const char *target;      /* the mount point; of a swap space its source; of a finding its
	                            code */
	const char *source;      /* what identifies it over a boot, if that is known; of a finding
	                            its target */
	const char *uuid;        /* of the file system */
	const char *fstype;
	const char *root;        /* the directory of the file system that is mounted */
	const char *options;     /* of the mount and the file system, with the propagation: sorted,
	                            each once */
	const char *owner;
	struct audit_finding *finding;   /* not saved */
};

struct audit_base_list {
	struct audit_base_entry *entries;
	size_t count, room;
};

struct audit_baseline {
	const char *host, *root;
	int64_t time;            /* seconds since 1970 */
	struct audit_set rules;  /* that were checked */
	uint64_t include;        /* set of owners: a bit for each of audit_owners[] */
	struct audit_base_list mounts;     /* and swap spaces: sorted */
	struct audit_base_list findings;   /* sorted */
	struct arena arena;      /* the strings */
};

/** How a host differs from its baseline. */
struct audit_base_counts {
	size_t came, went, changed;          /* mounts and swap spaces */
	size_t new_findings, gone_findings;
};

void audit_baseline_init(struct audit_baseline *baseline);
void audit_baseline_destroy(struct audit_baseline *baseline);

/** Add an entry, all of whose strings are "".  @return it, valid until the next call; NULL: ENOMEM.
 */
struct audit_base_entry *audit_baseline_add(struct audit_baseline *baseline,
                                            enum audit_base_kind kind);

/** How much of two entries is compared. */
enum audit_base_key { KEY_PLACE, KEY_SHOWN, KEY_ALL };

/** The order of two entries by a key; that of KEY_ALL is the order of a list. */
int audit_base_order(const struct audit_base_entry *a, const struct audit_base_entry *b,
                     enum audit_base_key key);

/** An option of a list. */
struct audit_word {
	const char *at;
	size_t n;
};

/** The order of two words by their bytes, for qsort(3). */
int audit_word_order(const void *a, const void *b);

/** Sort both lists by their keys. */
void audit_baseline_sort(struct audit_baseline *baseline);

/** The bit of an owner's name in a set; 0: no such owner. */
uint64_t audit_owner_bit(const char *owner);

/** The owners that a baseline leaves out unless they are included. */
uint64_t audit_baseline_left_out(void);

/**
 * Collect the mounts and swap spaces of now.
 *
 * @plan      With its owners: audit_own().
 * @lines     Of the fstab: mounts of lines with noauto come and go.
 * @baseline  Its `include` says which owners are not left out; gets sorted entries.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_baseline_take(const struct fstab_plan *plan, const struct fstab_world *world,
                        const struct tablines *lines, struct audit_baseline *baseline);

/**
 * Report what came, went and changed: BASE-*.
 *
 * @uptime  Seconds; soon after a boot it is not reported what went.  -1: unknown, or long.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_baseline_compare(const struct audit_baseline *old, const struct audit_baseline *now,
                           long uptime, struct audit_report *report,
                           struct audit_base_counts *counts);

/**
 * Collect the findings of now, and mark which are new since the baseline, by code and target.  The
 * age of a finding stays unknown if its rule was not checked then, and for BASE-*.
 *
 * @old    NULL: only collect.
 * @rules  The rules that are on; findings of others are ignored.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_baseline_findings(const struct audit_baseline *old, struct audit_report *report,
                            const struct audit_set *rules, struct audit_baseline *now,
                            struct audit_base_counts *counts);

/** Append when a baseline was saved: "2026-11-22 20:31 UTC". */
void audit_baseline_when(const struct audit_baseline *baseline, struct strbuf *out);

#endif
