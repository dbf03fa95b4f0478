/* SPDX-License-Identifier: MIT */
/**
 * The options of a string, found by name in constant time.
 *
 * Comparing two strings option by option takes time in proportion to the product of their
 * lengths; with a set, to the sum.
 */
#ifndef GM_MOUNTOPTS_OPTSET_H
#define GM_MOUNTOPTS_OPTSET_H

#include "base/map64.h"
#include "mountopts/optlist.h"

#include <stdbool.h>
#include <stddef.h>

/** The options with one name.  All pointers are into the strings that were added. */
struct opt_entry {
	const char *first, *last;   /* the first and the last of them */
	size_t nfirst, nlast;       /* their lengths */
	const char *bare;           /* the first without a value; NULL: all have one */
	size_t nname;
	unsigned times;
};

struct opt_set {
	bool whole;                 /* the key is the whole option, not its name */
	bool failed;                /* out of memory: options are missing */
	struct opt_entry *entries;
	size_t count, capacity;
	struct map64 map;
};

/** Make an empty set.  Allocates nothing.
    @whole  The key is the whole option with its value. */
void opt_set_init(struct opt_set *set, bool whole);

void opt_set_destroy(struct opt_set *set);

/** Add an option of n bytes, which must outlive the set. */
void opt_set_add(struct opt_set *set, const char *option, size_t n);

/** Add the options of a string, which may be NULL. */
void opt_set_add_list(struct opt_set *set, const char *list, opt_next_fn *next);

/** Find the options by a name of n bytes, or by a whole option.  @return them, or NULL. */
const struct opt_entry *opt_set_find(const struct opt_set *set, const char *name, size_t n);

#endif
