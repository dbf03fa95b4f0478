/* SPDX-License-Identifier: MIT */
/**
 * A host against its own past: what came, went and changed since a baseline was saved.
 *
 *     plan --> audit_baseline_take() --> now --.
 *                                              +--> audit_baseline_compare() --> BASE-*
 *     file (cmd/audit/baseline.h) --> old -----'    audit_baseline_age() --> which are new
 *
 * Compared is what stays over a boot: a device is the one of its UUID, of its name in
 * /dev/mapper, of its file behind a loop; the kernel's names of disks, mount ids, the order
 * of options and what a kernel chooses at each mount play no part.  Of several mounts on one
 * place each has its own one of before, whatever lies on top.
 *
 * No change either is what comes and goes by itself: a mount on or below an automount's
 * trigger; a mount of a server that shows up below another of it.  Pure; linear but for
 * sorting.
 */
#ifndef GM_AUDIT_BASELINE_H
#define GM_AUDIT_BASELINE_H

#include "audit/rules.h"
#include "fstab/match.h"

/** A mount, or a swap space.  Strings are decoded bytes, without secrets, and never NULL
    unless it is said; "" is none. */
struct audit_base_entry {
	bool swap;
	bool noauto;             /* by its line */
	const char *target;      /* of a swap space, its name in /proc/swaps */
	const char *source;      /* as the kernel shows it */
	const char *name;        /* a name that stays: /dev/mapper, the file of a loop */
	const char *uuid;        /* of the file system */
	const char *fstype;
	const char *root;        /* what of the file system is shown */
	const char *options;     /* of the mount: sorted, each once, without volatile ones */
	const char *super;       /* of the file system, the same */
	const char *propagation; /* "shared", "shared,slave", "private" ... */
	const char *owner;
	uint64_t dev;            /* the superblock, of what is mounted now; not saved */
};

/** A finding that there was. */
struct audit_base_finding {
	const char *code;        /* maybe of a later version */
	const char *target;
};

struct audit_baseline {
	const char *host, *machine, *boot_id;   /* NULL: not known; machine: a hash of its id */
	uint64_t mntns;                         /* 0: not known */
	const char *version, *table, *root;
	int64_t time;                           /* seconds since 1970 */
	uint64_t rules;                         /* set of codes that were judged */
	uint64_t include;                       /* set of owners: a bit for each of audit_owners[] */
	struct audit_base_entry *entries;
	size_t count, room;
	struct audit_base_finding *findings;
	size_t nfindings, findings_room;
	struct arena arena;                     /* the strings */
};

void audit_baseline_init(struct audit_baseline *baseline);
void audit_baseline_destroy(struct audit_baseline *baseline);

/** Add an entry, all of whose strings are "".  @return it, until the next; NULL (ENOMEM). */
struct audit_base_entry *audit_baseline_add(struct audit_baseline *baseline);

/** Add a finding, whose strings are the arena's.  @return 0, or -1 (ENOMEM). */
int audit_baseline_add_finding(struct audit_baseline *baseline, const char *code, const char *target);

/** The bit of an owner's name in a set, whatever its engine; 0: there is no such owner. */
uint64_t audit_owner_bit(const char *owner);

/** A set of owners that are left out unless they are included: session, credentials,
    container. */
uint64_t audit_baseline_left_out(void);

struct audit_base_input {
	const struct fstab_plan *plan;       /* with its owners: audit_own() */
	const struct fstab_world *world;
	const struct fstab_match *match;   /* of the lines and this plan */
	const struct tablines *lines;

	/** Append options, and a source, without secrets. */
	void (*mask_options)(const char *options, struct strbuf *out);
	void (*mask_source)(const char *source, struct strbuf *out);
};

/**
 * Take down what there is.
 *
 * @baseline  Gets entries, in an order that is the same whenever the same is mounted;
 *            its `include` tells which owners have some.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_baseline_take(const struct audit_base_input *in, struct audit_baseline *baseline);

/**
 * Tell what came, went and changed: BASE-*.
 *
 * Left out are owners that either of both leaves out.
 *
 * @lines   Of the fstab there is now: what it says noauto of may come and go.
 * @uptime  In seconds: of a system that has just booted it is not judged what went.  -1: not
 *          known, or of long.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_baseline_compare(const struct audit_baseline *old, const struct audit_baseline *now,
                           const struct tablines *lines, long uptime, struct audit_report *report);

/**
 * Mark which findings are new since the baseline, by code and target: of several alike, as
 * many as there are more.  Of a rule that was not judged then it is not known; BASE-* have
 * no age.
 *
 * @rules        Set of codes that are on: others are passed over.
 * @fresh [out]  How many are new.
 * @gone [out]   How many of before, of rules that are on, there are no more.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_baseline_age(const struct audit_baseline *old, struct audit_report *report, uint64_t rules,
                       size_t *fresh, size_t *gone);

/** Whose baseline it is. */
enum audit_base_host {
	AUDIT_BASE_SAME,       /* the same installation of the same name; or nothing is known */
	AUDIT_BASE_RENAMED,    /* the same installation, another name */
	AUDIT_BASE_OTHER,      /* another installation; or, where that is not known, another name */
};
enum audit_base_host audit_baseline_host(const struct audit_baseline *old, const struct audit_baseline *now);

/** Append when it was saved: "2026-11-22 20:31 UTC". */
void audit_baseline_when(const struct audit_baseline *baseline, struct strbuf *out);

#endif
