/* SPDX-License-Identifier: MIT */
/**
 * Which mounts of a plan are reproduced by the lines of an fstab.
 *
 *     lines, plan --> fstab_match(): which line makes which mount ----.
 *     lines, mounts without a line --> order_run(): lines mounted ----+--> one item for each mount
 *     lines that are mounted --> simulate_line(): copies -------------'
 *
 * A mount is reproduced if a line makes the same mount with the same options, and all mounts that
 * the line needs exist when mount -a reaches the line.  A copy is reproduced if propagation or a
 * recursive bind makes it again.  Pure except for the callbacks of `match`.
 */
#ifndef GM_FSTAB_REPRODUCE_H
#define GM_FSTAB_REPRODUCE_H

#include "fstab/match.h"

struct reproduce_input {
	const struct fstab_file *file;
	const struct fstab_match_input *match;   /* the plan and its input; match->file is not
	                                            used */
	const char *const *refused;   /* refused[i]: why the kernel refuses line i, or NULL; may be
	                                 NULL */
	const char *const *missing;   /* missing[i]: why the source of line i does not exist, or
	                                 NULL; may be NULL */
};

enum reproduce_verdict {
	REPRODUCE_SAME,
	REPRODUCE_NO_LINE,   /* no line makes the mount */
	REPRODUCE_WRONG,     /* the line of the mount fails, or makes a different mount */
	REPRODUCE_EXTRA,     /* a line whose mount, or a copy of its mount, does not exist now */
};

struct reproduce_item {
	enum reproduce_verdict verdict;
	const struct fstab_line *want;   /* line of the plan; NULL: no mount belongs to the line */
	uint32_t line;                   /* line number in the file; 0: none */
	const char *target;              /* mount point; "none" for a swap space */
	const char *source;              /* source of a swap space; NULL for a mount */
	const char *why;                 /* the difference, without secrets; NULL: no difference */
};

struct reproduction {
	struct reproduce_item *items;    /* the mounts and swap spaces, in the order of the plan;
	                                    then lines that make no mount of the plan, or fail */
	size_t count;
	size_t same, mounts;             /* numbers of mounts: reproduced, planned as lines */
	size_t without;                  /* number of mounts that cannot be expressed in fstab */
	size_t swaps_same, swaps;        /* numbers of swap spaces: reproduced, planned as lines */
	size_t systemd;                  /* number of mounts that are reproduced if systemd, not
	                                    mount -a, mounts the lines */
	struct arena arena;
};

/** Check which mounts the lines reproduce; O(n log n) in lines and mounts.
    @out  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int reproduce(const struct reproduce_input *in, struct reproduction *out);

void reproduction_destroy(struct reproduction *out);

#endif
