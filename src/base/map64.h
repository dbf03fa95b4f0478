/* SPDX-License-Identifier: MIT */
/**
 * A hash map from 64-bit keys (mount IDs, device numbers) to 32-bit indices.
 */
#ifndef GM_BASE_MAP64_H
#define GM_BASE_MAP64_H

#include <stddef.h>
#include <stdint.h>

/** What map64_get() gives for a key that is not there. */
#define MAP64_NONE UINT32_MAX

struct map64 {
	struct map64_slot *slots;
	size_t mask;   /* number of slots - 1; slots is NULL before the first put */
	size_t count;
};

/** Make an empty map.  It allocates nothing yet. */
void map64_init(struct map64 *map);

/** Free the map's memory. */
void map64_destroy(struct map64 *map);

/**
 * Make room for n keys, so that as many puts cannot fail.
 *
 * @return 0, or -1.
 * Errors: ENOMEM.
 */
int map64_reserve(struct map64 *map, size_t n);

/**
 * Map key to value unless the key is there already.
 *
 * @return
 *         The value that the key has now: the given one, or the older one.
 *         MAP64_NONE when memory ran out.
 * Errors: ENOMEM.
 */
uint32_t map64_put(struct map64 *map, uint64_t key, uint32_t value);

/** The value of a key, or MAP64_NONE. */
uint32_t map64_get(const struct map64 *map, uint64_t key);

#endif
