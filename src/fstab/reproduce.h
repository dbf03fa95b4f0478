/* SPDX-License-Identifier: MIT */
/**
 * Which mounts of a plan are reproduced by the lines of an fstab.
 *
 *     lines, plan --> fstab_match(): which line mounts which mount ---.
 *     lines, mounts without a line --> order_run(): what is mounted --+--> one item for each mount
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
	const struct fstab_match_input *match;   /* but for its file; has the plan */
	const char *const *refused;   /* by line of the file: why the kernel refuses it; or NULL */
	const char *const *missing;   /* ... why its source does not exist; or NULL */
};

enum reproduce_verdict {
	REPRODUCE_SAME,
	REPRODUCE_NO_LINE,   /* no line mounts it */
	REPRODUCE_WRONG,     /* its line cannot be mounted, or with a different result */
	REPRODUCE_EXTRA,     /* of a line: its mount does not exist now */
};

struct reproduce_item {
	enum reproduce_verdict verdict;
	const struct fstab_line *want;   /* of the plan; NULL: a line that is of no mount */
	uint32_t line;                   /* its number in the file; 0: none */
	const char *target;              /* of a swap space "none" */
	const char *source;              /* of a swap space; else NULL */
	const char *why;                 /* without secrets; NULL if it is the same */
};

struct reproduction {
	struct reproduce_item *items;    /* the mounts and swap spaces of the plan, in its order;
	                                    then lines that mount something else, or fail */
	size_t count;
	size_t same, mounts;             /* of mounts: reproduced, all */
	size_t without;                  /* mounts besides that cannot be expressed in fstab */
	size_t swaps_same, swaps;
	size_t systemd;                  /* of mounts: reproduced in the order of systemd */
	struct arena arena;
};

/** Compare, in O(n log n) of lines and mounts.
    @out  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int reproduce(const struct reproduce_input *in, struct reproduction *out);

void reproduction_destroy(struct reproduction *out);

#endif
