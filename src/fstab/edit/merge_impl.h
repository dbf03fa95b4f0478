/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of the merge.
 *
 *     merge.c      the flow
 *     decide.c     the decision about a mount and the lines on its mount point; changes
 *                  since the base; notes
 *     order.c      where added lines go; lines that stand too early
 *     text.c       bytes: writing lines, and checking the result
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
	bool is_new;
	uint32_t i;
	uint32_t position, rank;    /* order.c: items are sorted by these */
	uint32_t line;           /* in the graph of order.c; ORDER_NONE */
};

struct merger {
	const struct fstab_merge_input *in;
	struct fstab_merged *out;
	struct arena *arena;           /* of the result, and of all of this */
	struct matcher match;          /* matcher of the file */
	struct matcher base;           /* matcher of the base, if it is a text */
	bool based;                    /* there is a base: a text, or units that systemd loaded */
	struct item *items;            /* the result, in order */
	size_t nitems;
	bool damaged;                  /* damaged since the base: nothing counts as removed */
};

/* decide.c */

/** Add a note.  @note  The other members. */
void merge_note(struct merger *m, enum fstab_note_kind kind, const struct candidate *entry,
                const struct planned *mount, struct fstab_note note);

/** Whether the file has no entry, or damaged lines that the base does not have. */
bool merge_damaged(struct merger *m);

void merge_aside(struct candidate *entry, const char *why);

/** Decide about a mount, and the lines on its mount point. */
void merge_decide(struct merger *m, struct planned *mount);

/* order.c */

/** Set m->items, sorted.  A line that stands before a line it needs is moved or reported. */
void merge_order(struct merger *m);

/* text.c */

/** Write m->items, and check that they read as intended.
    @return 0, or -1: EBADMSG, ENOMEM. */
int merge_write(struct merger *m);

#endif
