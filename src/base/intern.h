/* SPDX-License-Identifier: MIT */
/**
 * A set of strings numbered 0, 1, 2 ...
 */
#ifndef GM_BASE_INTERN_H
#define GM_BASE_INTERN_H

#include "base/arena.h"
#include "base/map64.h"

/** The result of intern_find() if the string is missing. */
#define INTERN_NONE UINT32_MAX

/** A set; empty if zeroed. */
struct intern {
	const char **of;     /* by number; valid until intern_destroy() */
	size_t count, room;
	struct map64 map;
	struct arena arena;
};

void intern_destroy(struct intern *intern);

/** Find or add a string of n bytes, none of which is NUL.
    @number [out]  Its number.
    @return 0, or -1.  Errors: ENOMEM. */
int intern_put(struct intern *intern, const char *text, size_t n, uint32_t *number);

/** The number of a string, or INTERN_NONE. */
uint32_t intern_find(const struct intern *intern, const char *text, size_t n);

#endif
