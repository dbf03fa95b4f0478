/* SPDX-License-Identifier: MIT */
/**
 * Check the text of an fstab before the file is written: whether the lines reproduce the live
 * mounts (fstab/reproduce.h), and which boot risks the new text adds (rules.h).
 *
 * Rules that lack a fact are reported as not checked.  Pure except for the facts.
 */
#ifndef GM_AUDIT_SELFCHECK_H
#define GM_AUDIT_SELFCHECK_H

#include "audit/rules.h"
#include "fstab/reproduce.h"

struct selfcheck_input {
	const char *old;         /* the former text of the file, which may contain any bytes */
	size_t old_len;          /* 0: the file does not exist, so every risk is new */
	const char *new;         /* the text to check */
	size_t len;
	const struct discovery *d;
	const struct fstab_match_input *match;   /* reproduce_input.match, which has the plan */
	bool missing_told; /* add no notes about mounts without a line, which were already
	                      reported */
};

/** The result of a check.  All texts are without secrets and line feeds, and not yet escaped for
    a terminal. */
struct selfcheck {
	bool same;               /* all mounts and swap spaces are reproduced */
	bool more;               /* lines also make mounts that do not exist now */
	const char *summary;     /* "reproduces 14 of 14 mounts, 1 cannot be expressed in fstab,
	                            1 of 1 swap spaces" */
	const char **notes;      /* one text for each mount that is not reproduced, with the
	                            reason, and for each additional mount */
	size_t nnotes;
	audit_set not_checked;   /* rules that were not checked on every line */
	const char **risks;      /* one text, which starts with the code of the rule, for each
	                            boot risk that the old text does not have */
	size_t nrisks;
	const char **misread;    /* one text for each finding FSTAB-SYNTAX (an invalid or misleading
	                            line), whether or not boot needs the line */
	size_t nmisread;
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
