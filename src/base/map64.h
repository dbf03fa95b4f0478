/* SPDX-License-Identifier: MIT */
/**
 * A hash map from 64-bit keys (mount IDs, device numbers) to 32-bit indices.
 */
#ifndef GM_BASE_MAP64_H
#define GM_BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The result of map64_get() if the key is missing. */
#define MAP64_NONE UINT32_MAX

struct arena;

/** A map; empty if zeroed. */
struct map64 {
	struct map64_slot *slots;
	size_t mask;   /* number of slots - 1; slots is NULL before the first put */
	size_t count;
	struct arena *arena;   /* owns the slots and records that a put failed, which returns the
	                          value as if it had been put; NULL: the map owns its slots */
};

/** Make hashes unpredictable, so that nobody can construct a mount table whose keys all
    collide.  Call it once, before the first map is created.  Unit tests and fuzz targets do not
    call it, so that their runs are reproducible.
    @random  16 secret bytes. */
void map64_seed(const void *random);

/** Free the map's memory; not needed if an arena owns it. */
void map64_destroy(struct map64 *map);

/** Make room for n keys, so that map64_put() cannot fail.  @return 0, or -1.
    Errors: ENOMEM. */
int map64_reserve(struct map64 *map, size_t n);

/** Map a key to a value unless the map already contains the key.
    @return the key's current value; MAP64_NONE on error.  Errors: ENOMEM. */
uint32_t map64_put(struct map64 *map, uint64_t key, uint32_t value);

/** Map a key to a value, whatever its value was.
    @return the value; MAP64_NONE on error.  Errors: ENOMEM; never if the map contains the key. */
uint32_t map64_set(struct map64 *map, uint64_t key, uint32_t value);

/** The initial hash for map64_bytes(). */
#define MAP64_BYTES 0xcbf29ce484222325u

/** A hash of bytes: FNV-1a with the factor of map64_seed().  Hashes may collide: compare the
    strings.
    @hash  MAP64_BYTES, or the hash of the preceding bytes. */
uint64_t map64_bytes(uint64_t hash, const char *bytes, size_t n);

/** A hash of a string. */
static inline uint64_t map64_text(const char *text)
{
	return map64_bytes(MAP64_BYTES, text, strlen(text));
}

/** Step through the beginnings "/a", "/a/b" of an absolute path.
    @n, @hash [in,out]  The length of one, and its hash; 0 and MAP64_BYTES at first.
    @return false: there is no other; "/" has none. */
static inline bool map64_path(const char *path, size_t *n, uint64_t *hash)
{
	if (!path[*n] || !path[1])
		return false;
	size_t more = 1 + strcspn(path + *n + 1, "/");
	*hash = map64_bytes(*hash, path + *n, more);
	*n += more;
	return true;
}

/** The value of a key, or MAP64_NONE. */
uint32_t map64_get(const struct map64 *map, uint64_t key);

/** Remove a key.  Leaves no tombstone, so that adding and removing keys does not fill the map.
    @return the value of the key, or MAP64_NONE. */
uint32_t map64_remove(struct map64 *map, uint64_t key);

#endif
