/* SPDX-License-Identifier: MIT */
/**
 * What is checked of an fstab before it is written: what it mounts, against what is
 * mounted (fstab/proof.h), and which risks for a boot it adds (rules.h).
 *
 * A command calls it so, with what it has of fstab_plan() already:
 *
 *     struct selfcheck check;
 *     if (selfcheck_make(&(struct selfcheck_input){
 *             .old = old, .old_len = old_len, .new = new, .len = len,
 *             .live = &input, .plan = &plan, .facts = facts}, &check) != 0)
 *             ...   // ENOMEM
 *     put_finish(put, new, len, &(struct put_verdict){
 *             check.summary, check.risks, check.nrisks});
 *     for (size_t i = 0; i < check.nnotes; ++i)
 *             message(NULL, "%s", check.notes[i]);
 *     selfcheck_destroy(&check);
 *
 * `.live` is the struct fstab_input that the plan was made of.  What `.facts` does not
 * know is told as not judged.  Pure but for what these two ask.
 */
#ifndef GM_AUDIT_SELFCHECK_H
#define GM_AUDIT_SELFCHECK_H

#include "audit/rules.h"
#include "fstab/proof.h"

struct selfcheck_input {
	const char *old;         /* the file as it was; any byte may be in it */
	size_t old_len;          /* 0: there was none, and every risk is new */
	const char *new;
	size_t len;
	const struct fstab_input *live;
	const struct fstab_plan *plan;
	struct fstab_facts facts;
	bool missing_told;       /* which mounts have no line was told already: no notes of these */
};

/** All texts are bytes without secrets and line feeds, to be escaped for a terminal. */
struct selfcheck {
	bool same;               /* it reproduces all */
	const char *summary;     /* "reproduces 14 of 14 mounts, 1 can have no line,
	                            1 of 1 swap spaces" */
	const char **notes;      /* a line each: what it does not reproduce, and why; what it
	                            mounts beside */
	size_t nnotes;
	const char *unjudged;    /* which rules nobody could judge everywhere; NULL: none */
	const char **risks;      /* a line each, that begins with a code: what the old text did
	                            not have */
	size_t nrisks;
	struct arena arena;
};

/**
 * Check a new text.
 *
 * Linear.  The text is judged by libmount line by line (table/tablines.h); lines that
 * it refuses mount nothing.
 *
 * @check [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM; those of tablines_parse().
 */
int selfcheck_make(const struct selfcheck_input *in, struct selfcheck *check);

void selfcheck_destroy(struct selfcheck *check);

/** The entries of a text as a table, as tabfile.c makes it, but for the parents.
    @return it, to be freed by table_free(); or NULL.  Errors: ENOMEM. */
struct mount_table *selfcheck_entries(const struct tablines *lines);

#endif
