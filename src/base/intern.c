/* SPDX-License-Identifier: MIT */
#include "base/intern.h"

#include "base/array.h"
#include "base/fail.h"

#include <stdlib.h>

void intern_destroy(struct intern *intern)
{
	free(intern->of);
	map64_destroy(&intern->map);
	arena_destroy(&intern->arena);
	*intern = (struct intern){0};
}

/** Find a string.  Strings with the same hash have consecutive keys.
    @key [out]  Its key, or the key with which to add it. */
static uint32_t find_key(const struct intern *intern, const char *text, size_t n, uint64_t *key)
{
	uint32_t at;
	*key = map64_bytes(MAP64_BYTES, text, n);
	for (; (at = map64_get(&intern->map, *key)) != MAP64_NONE; ++*key) {
		if (strncmp(intern->of[at], text, n) == 0 && !intern->of[at][n])
			return at;
	}
	return INTERN_NONE;
}

uint32_t intern_find(const struct intern *intern, const char *text, size_t n)
{
	uint64_t key;
	return find_key(intern, text, n, &key);
}

int intern_put(struct intern *intern, const char *text, size_t n, uint32_t *number)
{
	uint64_t key;
	uint32_t at = find_key(intern, text, n, &key);
	if (at != INTERN_NONE) {
		*number = at;
		return 0;
	}
	if (intern->count == INTERN_NONE || !ARRAY_ROOM(intern->of, intern->count, &intern->room))
		return fail(ENOMEM);
	intern->of[intern->count] = arena_strndup(&intern->arena, text, n);
	if (!intern->of[intern->count]
	    || map64_put(&intern->map, key, (uint32_t)intern->count) == MAP64_NONE)
		return -1;
	*number = (uint32_t)intern->count++;
	return 0;
}
