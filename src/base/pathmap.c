/* SPDX-License-Identifier: MIT */
#include "base/pathmap.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fail.h"

#include <errno.h>
#include <stdlib.h>

void pathmap_destroy(struct pathmap *map)
{
	struct arena *arena = map->newest.arena;
	if (!arena)
		free(map->entries);
	map64_destroy(&map->newest);
	*map = (struct pathmap){.newest.arena = arena};
}

int pathmap_add(struct pathmap *map, const char *path, uint32_t value)
{
	struct arena *arena = map->newest.arena;
	if (arena ? !arena_room(arena, &map->entries, map->count, sizeof(*map->entries))
	          : !ARRAY_ROOM(map->entries, map->count, &map->room))
		return fail(ENOMEM);
	uint64_t hash = map64_text(path);
	uint32_t before = map64_get(&map->newest, hash);
	if (map64_set(&map->newest, hash, map->count) == MAP64_NONE || (arena && arena->failed))
		return -1;
	map->entries[map->count++] = (struct pathmap_entry){
		path, value, before == MAP64_NONE ? PATHMAP_NONE : before,
	};
	return 0;
}

/** From an entry on, the first one of a path of n bytes; paths can have the same hash. */
static uint32_t entry_from(const struct pathmap *map, uint32_t i, const char *path, size_t n)
{
	for (; i != PATHMAP_NONE; i = map->entries[i].next) {
		const char *own = map->entries[i].path;
		if (strncmp(own, path, n) == 0 && !own[n])
			break;
	}
	return i;
}

/** Put a lookup at an entry.  @return whether there is one. */
static bool put_at(const struct pathmap *map, struct pathmap_at *at, uint32_t entry)
{
	at->entry = entry;
	at->value = entry == PATHMAP_NONE ? PATHMAP_NONE : map->entries[entry].value;
	return entry != PATHMAP_NONE;
}

/** Step to the next entry of the same path, or to the first. */
static bool next_here(const struct pathmap *map, struct pathmap_at *at)
{
	uint32_t i = at->entry == PATHMAP_NONE ? map64_get(&map->newest, at->hash)
	                                       : map->entries[at->entry].next;
	return put_at(map, at, entry_from(map, i, at->path, at->n));
}

struct pathmap_at pathmap_of(const char *path)
{
	return (struct pathmap_at){
		.path = path, .hash = MAP64_BYTES, .entry = PATHMAP_NONE, .value = PATHMAP_NONE,
	};
}

bool pathmap_next(const struct pathmap *map, struct pathmap_at *at)
{
	if (at->begun)
		return put_at(map, at, entry_from(map, map->entries[at->entry].next, at->path,
		                                  at->n));
	at->begun = true;
	at->n = strlen(at->path);
	at->hash = map64_bytes(at->hash, at->path, at->n);
	return next_here(map, at);
}

/** Step to the next entry of the path or of a directory above it.
    @others  Also to the other entries of the same directory. */
static bool next_above(const struct pathmap *map, struct pathmap_at *at, bool others)
{
	/* "/" is no beginning of "/a" for map64_path(), which starts at 0. */
	uint64_t hash = at->hash;
	size_t n = at->n;
	if (*at->path != '/')
		return false;
	if (n == 0)
		at->hash = map64_bytes(hash, at->path, at->n = 1);
	bool here = (!at->begun || (others && at->entry != PATHMAP_NONE)) && next_here(map, at);
	at->begun = true;
	at->n = n;
	at->hash = hash;
	while (!here && map64_path(at->path, &at->n, &at->hash)) {
		at->entry = PATHMAP_NONE;
		here = next_here(map, at);
	}
	return here;
}

bool pathmap_next_above(const struct pathmap *map, struct pathmap_at *at)
{
	return next_above(map, at, true);
}

bool pathmap_next_newest(const struct pathmap *map, struct pathmap_at *at)
{
	return next_above(map, at, false);
}

uint32_t pathmap_find(const struct pathmap *map, const char *path, size_t n)
{
	uint32_t i = map64_get(&map->newest, map64_bytes(MAP64_BYTES, path, n));
	i = entry_from(map, i, path, n);
	return i == PATHMAP_NONE ? PATHMAP_NONE : map->entries[i].value;
}

uint32_t pathmap_get(const struct pathmap *map, const char *path)
{
	return pathmap_find(map, path, strlen(path));
}

uint32_t pathmap_nearest(const struct pathmap *map, const char *path)
{
	uint32_t nearest = PATHMAP_NONE;
	for (struct pathmap_at at = pathmap_of(path); pathmap_next_newest(map, &at);)
		nearest = at.value;
	return nearest;
}
