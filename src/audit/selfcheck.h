/* SPDX-License-Identifier: MIT */
/**
 * The check of an fstab before it is written: whether it reproduces the live mounts
 * (fstab/reproduce.h), and which boot risks it adds (rules.h).
 *
 * Rules that lack a fact are reported as not checked.  Pure except for the
 * callbacks of `live` and `match`.
 */
#ifndef GM_AUDIT_SELFCHECK_H
#define GM_AUDIT_SELFCHECK_H

#include "audit/rules.h"
#include "fstab/reproduce.h"

struct selfcheck_input {
	const char *old;         /* the former text; may contain any bytes */
	size_t old_len;          /* 0: no file, so every risk is new */
	const char *new;
	size_t len;
	const struct fstab_input *live;
	const struct fstab_match_input *match;   /* as in struct reproduce_input; has the plan */
	bool missing_told; /* mounts without a line were already reported: no notes about them */
};

/** The result of a check.  All texts are without secrets and line feeds, and not yet escaped for
    a terminal. */
struct selfcheck {
	bool same;               /* all mounts and swap spaces are reproduced */
	const char *summary;     /* "reproduces 14 of 14 mounts, 1 cannot be expressed in fstab,
	                            1 of 1 swap spaces" */
	const char **notes;      /* a line each: mounts that are not reproduced, and why;
	                            additional mounts */
	size_t nnotes;
	const char *not_checked;    /* rules not checked on every line; NULL: none */
	const char **risks;      /* a line each, starting with a code: risks that the old text
	                            does not have */
	size_t nrisks;
	struct arena arena;
};

/**
 * Check a new text.
 *
 * O(n log n).  libmount parses the text line by line (mounts/tablines.h); lines that it refuses
 * mount nothing.
 *
 * @check [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM; those of tablines_parse().
 */
int selfcheck_make(const struct selfcheck_input *in, struct selfcheck *check);

void selfcheck_destroy(struct selfcheck *check);

#endif
