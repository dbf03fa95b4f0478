/* SPDX-License-Identifier: MIT */
/*
 * What the files of recover/ share.
 *
 *     judge.c    which line is of which mount, and what is wrong with it
 *     build.c    the rebuilt file
 *     options.c  lists of options as sets; which of them are hints
 */
#ifndef GM_RECOVER_RECOVER_IMPL_H
#define GM_RECOVER_RECOVER_IMPL_H

#include "recover/recover.h"

/** A piece of a list of options. */
struct rec_option {
	const char *text;    /* decoded */
	size_t n;
	const char *raw;     /* as it is written, with an end */
};

/** A list of options as a set in which one can be several times. */
struct rec_set {
	struct rec_option *known;    /* what the kernel could know, sorted by text */
	size_t nknown;
	struct rec_option *hints;    /* what it does not, in order */
	size_t nhints;
	uint64_t hash;               /* of known, whatever its order */
};

/** Take a list apart.  @return 0, or -1 (ENOMEM). */
int rec_set_init(struct rec_set *set, const char *list, struct arena *arena);

/** Whether two sets have the same known options. */
bool rec_set_equal(const struct rec_set *a, const struct rec_set *b);

/** Whether one of the hints of a set is this. */
bool rec_set_has_hint(const struct rec_set *set, const struct rec_option *option);

#endif
