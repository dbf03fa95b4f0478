/* SPDX-License-Identifier: MIT */
#include "base/map64.h"

#include "base/arena.h"
#include "base/fail.h"

#include <stdlib.h>

struct map64_slot {
	uint64_t key;
	uint32_t value;   /* MAP64_NONE: the slot is free */
};

/** Parameters of the hash functions, set by map64_seed(). */
static struct {
	uint64_t key;     /* XORed with each key */
	uint64_t factor;  /* odd */
} seed = {0, 0x100000001b3u};

void map64_seed(const void *random)
{
	uint64_t words[2];
	memcpy(words, random, sizeof(words));
	seed.key = words[0];
	seed.factor = words[1] << 3 | 5;
}

void map64_destroy(struct map64 *map)
{
	if (!map->arena)
		free(map->slots);
	else if (map->slots)
		arena_release(map->arena, map->slots, (map->mask + 1) * sizeof(*map->slots));
	*map = (struct map64){.arena = map->arena};
}

/** Mix the bits of a key: the seed, then the finalizer of splitmix64. */
static size_t map64_hash(uint64_t key)
{
	key = (key ^ seed.key) * seed.factor;
	key ^= key >> 30;
	key *= 0xbf58476d1ce4e5b9;
	key ^= key >> 27;
	key *= 0x94d049bb133111eb;
	key ^= key >> 31;
	return key;
}

/** The slot of a key, or the free slot where it belongs. */
static struct map64_slot *map64_slot(const struct map64 *map, uint64_t key)
{
	size_t i = map64_hash(key) & map->mask;
	while (map->slots[i].value != MAP64_NONE && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

int map64_reserve(struct map64 *map, size_t n)
{
	size_t size = map->slots ? map->mask + 1 : 16;
	if (n > SIZE_MAX / 4 / sizeof(*map->slots) || (map->arena && map->arena->failed))
		return fail(ENOMEM);
	/* At most three quarters of the slots are used. */
	while (size / 4 * 3 < n)
		size *= 2;
	if (map->slots && size == map->mask + 1)
		return 0;

	struct map64 bigger = {.mask = size - 1, .count = map->count, .arena = map->arena};
	bigger.slots = map->arena ? arena_new(map->arena, size, sizeof(*bigger.slots))
	                          : malloc(size * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (size_t i = 0; i < size; ++i)
		bigger.slots[i].value = MAP64_NONE;
	for (size_t i = 0; map->slots && i <= map->mask; ++i) {
		if (map->slots[i].value != MAP64_NONE)
			*map64_slot(&bigger, map->slots[i].key) = map->slots[i];
	}
	map64_destroy(map);
	*map = bigger;
	return 0;
}

uint32_t map64_put(struct map64 *map, uint64_t key, uint32_t value)
{
	if (map64_reserve(map, map->count + 1) != 0)
		return map->arena ? value : MAP64_NONE;
	struct map64_slot *slot = map64_slot(map, key);
	if (slot->value == MAP64_NONE) {
		*slot = (struct map64_slot){key, value};
		++map->count;
	}
	return slot->value;
}

uint32_t map64_set(struct map64 *map, uint64_t key, uint32_t value)
{
	if (map64_get(map, key) == MAP64_NONE)
		return map64_put(map, key, value);
	return map64_slot(map, key)->value = value;
}

uint64_t map64_bytes(uint64_t hash, const char *bytes, size_t n)
{
	const uint64_t factor = seed.factor;
	for (size_t i = 0; i < n; ++i)
		hash = (hash ^ (unsigned char)bytes[i]) * factor;
	return hash;
}

uint32_t map64_get(const struct map64 *map, uint64_t key)
{
	if (!map->slots)
		return MAP64_NONE;
	return map64_slot(map, key)->value;
}

uint32_t map64_remove(struct map64 *map, uint64_t key)
{
	if (!map->slots)
		return MAP64_NONE;
	size_t hole = (size_t)(map64_slot(map, key) - map->slots);
	uint32_t value = map->slots[hole].value;
	if (value == MAP64_NONE)
		return MAP64_NONE;
	/* Move keys that a search would no longer find because of the hole. */
	const size_t mask = map->mask;
	for (size_t i = (hole + 1) & mask; map->slots[i].value != MAP64_NONE; i = (i + 1) & mask) {
		size_t home = map64_hash(map->slots[i].key) & mask;
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].value = MAP64_NONE;
	--map->count;
	return value;
}
