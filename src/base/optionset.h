/* SPDX-License-Identifier: MIT */
/**
 * The options of a list, found by name without a scan of the list.
 *
 * A list can have as many options as its author likes.  To look up each option of one list
 * in another takes time in proportion to both lengths together with a set, and to their
 * product without one.
 */
#ifndef GM_BASE_OPTIONSET_H
#define GM_BASE_OPTIONSET_H

#include "base/map64.h"

#include <stdbool.h>
#include <stddef.h>

/** The options of one name.  All pointers are into the lists that were added. */
struct option_entry {
	const char *first, *last;   /* the first and the last of them */
	size_t nfirst, nlast;       /* their bytes */
	const char *bare;           /* the first without a value; NULL: all have one */
	size_t nname;
	unsigned times;
};

struct option_set {
	bool whole;                 /* the key is the whole option, not its name */
	bool failed;                /* out of memory: the set lacks options */
	struct option_entry *of;
	size_t count, room;
	struct map64 map;
};

/** Steps through a list of options.  @return the next, of *n bytes, or NULL. */
typedef const char *option_next_fn(const char **list, size_t *n);

/** Make an empty set.  It allocates nothing yet.
    @whole  The key is the whole option with its value. */
void option_set_init(struct option_set *set, bool whole);

void option_set_destroy(struct option_set *set);

/** Add an option of n bytes, which must outlive the set. */
void option_set_add(struct option_set *set, const char *option, size_t n);

/** Add the options of a list, which may be NULL. */
void option_set_add_list(struct option_set *set, const char *list, option_next_fn *next);

/** The options of a name of n bytes (a whole option if the set is one of these), or NULL. */
const struct option_entry *option_set_find(const struct option_set *set, const char *name, size_t n);

#endif
