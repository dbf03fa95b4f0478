/* SPDX-License-Identifier: MIT */
/**
 * Strings that are each kept once, and numbered: 0, 1, 2 ...
 */
#ifndef GM_BASE_INTERN_H
#define GM_BASE_INTERN_H

#include "base/arena.h"
#include "base/map64.h"

#include <stddef.h>
#include <stdint.h>

/** What intern_find() gives for a string that is not there. */
#define INTERN_NONE UINT32_MAX

struct intern {
	const char **of;     /* by number; they live until intern_destroy() */
	size_t count, room;
	struct map64 map;
	struct arena arena;
};

/** Make an empty set.  It allocates nothing yet. */
void intern_init(struct intern *intern);

void intern_destroy(struct intern *intern);

/**
 * The number of n bytes, none of which is NUL; they are copied if they are new.
 *
 * @number [out]
 * @return 0, or -1.  Errors: ENOMEM.
 */
int intern_put(struct intern *intern, const char *text, size_t n, uint32_t *number);

/** The number of a string, or INTERN_NONE. */
uint32_t intern_find(const struct intern *intern, const char *text, size_t n);

#endif
