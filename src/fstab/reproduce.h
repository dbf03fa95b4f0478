/* SPDX-License-Identifier: MIT */
/**
 * Which mounts of a plan are reproduced by the lines of an fstab.
 *
 *     lines, plan --> fstab_match(): which line makes which mount ----.
 *     lines, mounts without a line --> order_run(): lines mounted ----+--> one item for each mount
 *
 * A mount is reproduced if a line makes the same mount with the same options, and all mounts that
 * the line needs exist when mount -a reaches it.  Pure except for the callbacks of `match`.
 */
#ifndef GM_FSTAB_REPRODUCE_H
#define GM_FSTAB_REPRODUCE_H

#include "fstab/fstab.h"

struct fstab_match_input;

struct reproduce_input {
	const struct fstab_file *file;
	const struct fstab_match_input *match;   /* its `file` is not used; contains the plan */
	const char *const *refused;   /* by line: why the kernel refuses it; or NULL */
	const char *const *missing;   /* by line: why its source does not exist; or NULL */
};

enum reproduce_verdict {
	REPRODUCE_SAME,
	REPRODUCE_NO_LINE,   /* no line mounts it */
	REPRODUCE_WRONG,     /* its line fails, or makes a different mount */
	REPRODUCE_EXTRA,     /* a line whose mount does not exist now */
};

struct reproduce_item {
	enum reproduce_verdict verdict;
	const struct fstab_line *want;   /* line of the plan; NULL: no mount belongs to the line */
	uint32_t line;                   /* line number in the file; 0: none */
	const char *target;              /* "none" for a swap space */
	const char *source;              /* for a swap space; else NULL */
	const char *why;                 /* the difference, without secrets; NULL: the same */
};

struct reproduction {
	struct reproduce_item *items;    /* the mounts and swap spaces of the plan, in its order;
	                                    then lines that mount something else, or fail */
	size_t count;
	size_t same, mounts;             /* mounts that are reproduced, all mounts */
	size_t without;                  /* other mounts, which cannot be expressed in fstab */
	size_t swaps_same, swaps;
	size_t systemd;                  /* mounts reproduced in the order of systemd */
	struct arena arena;
};

/** Check which mounts the lines reproduce; O(n log n) in lines and mounts.
    @out  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int reproduce(const struct reproduce_input *in, struct reproduction *out);

void reproduction_destroy(struct reproduction *out);

#endif
