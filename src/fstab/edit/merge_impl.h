/* SPDX-License-Identifier: MIT */
/**
 * Interfaces between the files of the merge.
 *
 *     merge.c      calls the other files in order
 *     decide.c     decides for each mount whether a line is added, and for each line on its mount
 *                  point whether the line is kept, changed or commented out; adds notes
 *     order.c      finds positions for added lines; moves lines that precede lines that they need
 *     text.c       writes the lines as bytes, and checks the result
 */
#ifndef GM_FSTAB_MERGE_IMPL_H
#define GM_FSTAB_MERGE_IMPL_H

#include "base/map64.h"
#include "fstab/edit/merge.h"
#include "fstab/match/matcher.h"
#include "mountopts/optlist.h"
#include "fstab/target.h"

/** A line of the result: a line of the file or of the plan. */
struct item {
	bool is_new;                /* a line of the plan; false: a line of the file */
	uint32_t i;                 /* index in match.mounts[], if new, or in match.entries[] */
	uint32_t position, rank;    /* keys by which order.c sorts the items */
	uint32_t line;           /* index of the line in the graph of order.c; ORDER_NONE: the line
	                            is not in the graph */
};

struct merger {
	const struct fstab_merge_input *in;
	struct fstab_merged *out;
	struct arena *arena;           /* memory of the result and of this struct */
	struct matcher match;          /* the lines of the file and the mounts of the plan */
	struct matcher base;           /* the lines of the earlier text of the file, if such a text
	                                  is the base */
	bool based;                    /* there is a base: an earlier text of the file, or the units
	                                  that systemd loaded */
	struct item *items;            /* the lines of the result, in order */
	size_t nitems;
	bool damaged;                  /* there is a base, and merge_damaged(): no line counts as
	                                  removed */
};

/* decide.c */

/** Add a note about `entry`, a line of the file, and `mount`, a mount of the plan; either may be
    NULL.
    @note  The members of the note other than kind, line and live. */
void merge_note(struct merger *m, enum fstab_note_kind kind, const struct candidate *entry,
                const struct planned *mount, struct fstab_note note);

/** Whether the file has no entry, or has a damaged line that in->base does not have. */
bool merge_damaged(struct merger *m);

/** Decide that a line is commented out.
    @why  The reason, for the comment. */
void merge_aside(struct candidate *entry, const char *why);

/** Find the lines of the file that added lines must precede, so that lines of the file and added
    lines make the same copies. */
void merge_precede(struct merger *m);

/** Decide whether a line is added for a mount, and whether the lines on its mount point are kept,
    changed or commented out; add notes about these decisions. */
void merge_decide(struct merger *m, struct planned *mount);

/* order.c */

/** Set m->items, in the order of the result.  A line that precedes a line that it needs is moved,
    or only reported. */
void merge_order(struct merger *m);

/* text.c */

/** Write m->items as text to m->out, and check that the text is read as intended.
    @return 0, or -1: EBADMSG, ENOMEM. */
int merge_write(struct merger *m);

#endif
