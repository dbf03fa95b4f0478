/* SPDX-License-Identifier: MIT */
/**
 * What an fstab would mount, compared with what is mounted.  Pure.
 *
 *     entries of an fstab --> simulated, from what there is when it is read --> tree
 *                                                                                |
 *     discovery, plan ------> which mounts are to be there again ----------> compared
 *
 * What is simulated is mount(8) with -a: line by line, as they stand; a line is
 * passed over that is "/", a swap, noauto, or mounted when it begins.  A directory is
 * there in the simulation if live there is one in the same file system; a tmpfs is
 * empty; what is covered, or not mounted now, cannot be seen and is held not to be there.
 * A tag or link that nobody can look up, as of a recorded table, is held to be what is
 * mounted there, if that can be it.
 * The order of systemd, which goes by paths and by what needs what, takes the first
 * of two lines of one target, and makes mount points that are missing, is simulated
 * beside it: `systemd` says how much that reproduces.  noauto with
 * x-systemd.automount counts as mounted in both, for it is when it is entered.
 *
 * Not simulated: propagation (of which an fstab says nothing), what helpers such as
 * mount.nfs do, and that a mount fails for what is in the file system.
 */
#ifndef GM_FSTAB_PROOF_H
#define GM_FSTAB_PROOF_H

#include "fstab/facts.h"
#include "fstab/fstab.h"
#include "table/table.h"

struct proof_input {
	const struct mount_table *entries;    /* TABLE_FSTAB: as libmount reads it */
	const struct fstab_input *live;       /* as fstab_plan() had it: ROOT, discovery, world */
	const struct fstab_plan *plan;        /* whose lines are the mounts that are to be there */
	struct fstab_facts facts;
	const char *const *refused;           /* by entry: why the kernel refuses it for its options,
	                                         or NULL; NULL: none is known to be refused */
};

/** What becomes of a mount that is to be there again, or of a line. */
enum proof_verdict {
	PROOF_SAME,      /* the same file system, root, type and options, at the same place */
	PROOF_NO_LINE,   /* no line mounts it */
	PROOF_NOAUTO,    /* its line is not mounted at boot */
	PROOF_FAILED,    /* its line cannot be mounted */
	PROOF_HIDDEN,    /* it is mounted, and another covers it */
	PROOF_SOURCE,    /* another file system, or another part of it */
	PROOF_TYPE,
	PROOF_OPTIONS,
	PROOF_EXTRA,     /* of a line: it is mounted, and nothing of the kind is live */
};

struct proof_item {
	enum proof_verdict verdict;
	const struct fstab_line *want;   /* of the plan; NULL: of a line that is of none */
	uint32_t line;                   /* its number in the file; 0: none */
	const char *target;              /* of a swap space "none" */
	const char *source;              /* of swap spaces; else NULL */
	const char *why;                 /* in words, without secrets; NULL if it is the same */
};

struct proof {
	struct proof_item *items;        /* those that are wanted, in the plan's order; then
	                                    lines that are extra or fail for nothing wanted */
	size_t count;
	size_t same, mounts;             /* of mounts: reproduced, wanted */
	size_t without;                  /* mounts beside these that can have no line */
	size_t swaps_same, swaps;
	size_t systemd;                  /* of mounts: reproduced in the order of systemd */
	size_t held;                     /* places that could not be looked at, and are held
	                                    to be there */
	size_t held_sources;             /* sources of which nobody knows the device, and that
	                                    are held to be what is mounted there */
	struct arena arena;
};

/**
 * Simulate an fstab, and compare.
 *
 * Linear in lines, mounts and the length of their names; rbind lines may together
 * look at 256 mounts and copy four for each that there is; those beyond are not made.
 *
 * @proof [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int proof_make(const struct proof_input *in, struct proof *proof);

void proof_destroy(struct proof *proof);

/** A verdict's name: "same", "no line" ... */
const char *proof_verdict_name(enum proof_verdict verdict);

#endif
