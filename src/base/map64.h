/* SPDX-License-Identifier: MIT */
/**
 * A hash map from 64-bit keys (mount IDs, device numbers) to 32-bit indices.
 */
#ifndef GM_BASE_MAP64_H
#define GM_BASE_MAP64_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** What map64_get() gives for a key that is not there. */
#define MAP64_NONE UINT32_MAX

struct map64 {
	struct map64_slot *slots;
	size_t mask;   /* number of slots - 1; slots is NULL before the first put */
	size_t count;
};

/**
 * Make hashes unknown to those who write the tables that are read: keys made for one hash would
 * all be looked for in one place, in the square of their number.  Without it all is the same in
 * each run: unit tests, fuzz targets.  Before the first map, and once.
 *
 * @random  16 bytes that nobody else knows.
 */
void map64_seed(const void *random);

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

/** What map64_bytes() begins with. */
#define MAP64_BYTES 0xcbf29ce484222325u

/**
 * A hash of bytes, as a key: FNV-1a, with the factor of map64_seed().  Two strings may have the
 * same, so that what is found by it must be compared.
 *
 * @hash
 *         MAP64_BYTES, or the hash of the bytes before these.
 */
uint64_t map64_bytes(uint64_t hash, const char *bytes, size_t n);

/** The same of a string. */
static inline uint64_t map64_text(const char *text)
{
	return map64_bytes(MAP64_BYTES, text, strlen(text));
}

/** The value of a key, or MAP64_NONE. */
uint32_t map64_get(const struct map64 *map, uint64_t key);

/**
 * Take a key out.  What is left moves up, so that a map that keys come to and
 * go from does not grow.
 *
 * @return
 *         The value that it had, or MAP64_NONE if it was not there.
 */
uint32_t map64_remove(struct map64 *map, uint64_t key);

#endif
