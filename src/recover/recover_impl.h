/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of recover/.
 *
 *     check.c    which line belongs to which mount, and its faults
 *     build.c    the rebuilt file
 *     options.c  lists of options as sets; which of them are hints
 */
#ifndef GM_RECOVER_RECOVER_IMPL_H
#define GM_RECOVER_RECOVER_IMPL_H

#include "recover/recover.h"

/** An option of a list. */
struct rec_option {
	const char *text;    /* decoded */
	size_t n;
	const char *raw;     /* as written, terminated */
};

/** A list of options as a multiset. */
struct rec_set {
	struct rec_option *known;    /* options that the kernel may know, sorted by text */
	size_t nknown;
	struct rec_option *hints;    /* options that it does not know, in their order */
	size_t nhints;
	uint64_t hash;               /* of known, independent of the order */
};

/** Split a list of options.  @arena  Owns the set; check it. */
void rec_set_init(struct rec_set *set, const char *list, struct arena *arena);

/** Whether two sets have the same known options. */
bool rec_set_equal(const struct rec_set *a, const struct rec_set *b);

/** Whether a set has this hint. */
bool rec_set_has_hint(const struct rec_set *set, const struct rec_option *option);

#endif
