/* SPDX-License-Identifier: MIT */
#include "devmap/devmap_impl.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

struct devmap *devmap_new(struct os *os, const struct devmap_roots *roots)
{
	struct devmap *map = malloc(sizeof(*map));
	if (!map)
		return NULL;
	*map = (struct devmap){
		.os = os,
		.roots = *roots,
		.sys = -1,
		.zfs = -1,
		.anonymous = {.known = DEVMAP_ANONYMOUS},
	};
	return map;
}

void devmap_free(struct devmap *map)
{
	if (!map)
		return;
	os_close(map->os, map->sys);
	free(map->cache);
	map64_destroy(&map->index);
	intern_destroy(&map->journals);
	arena_destroy(&map->arena);
	free(map->devs);
	free(map);
}

bool devmap_failed(const struct devmap *map)
{
	return map->arena.failed;
}

void devmap_note(struct devmap *map, const char *path)
{
	if (errno == ENOMEM)
		arena_fail(&map->arena);
	if (!map->refused && (errno == EREMOTE || errno == ENOTSUP || errno == EISDIR)) {
		map->refused_error = errno;
		map->refused = arena_strndup(&map->arena, path, strlen(path));
	}
}

const char *devmap_refused(const struct devmap *map, int *error)
{
	*error = map->refused_error;
	return map->refused;
}

/** Forget which devices can block: results found without the callback are no longer valid. */
static void discard_judgements(struct devmap *map)
{
	for (size_t i = 0; i < map->ndevs; ++i)
		map->devs[i]->judged = false, map->devs[i]->fs_judged = 0;
}

void devmap_set_blocking_test(struct devmap *map,
                      bool (*blocks)(void *arg, const char *path, uint32_t major, uint32_t minor),
                      void *arg)
{
	map->file_blocks = blocks;
	map->file_blocks_arg = arg;
	discard_judgements(map);
}

void devmap_trust_files(struct devmap *map, bool trust)
{
	if (map->file_blocks)
		discard_judgements(map);
	map->trusts_files = trust;
}

struct devmap_dev *devmap_get(struct devmap *map, uint32_t major, uint32_t minor)
{
	uint64_t key = (uint64_t)major << 32 | minor;
	uint32_t at = map64_get(&map->index, key);
	assert(at == MAP64_NONE || (at < map->ndevs && map->devs[at]->major == major
	                            && map->devs[at]->minor == minor));
	if (at != MAP64_NONE)
		return map->devs[at];

	struct devmap_dev *dev = arena_alloc(&map->arena, sizeof(*dev));
	if (!dev || !ARRAY_ROOM(map->devs, map->ndevs, &map->size)
	    || map64_put(&map->index, key, (uint32_t)map->ndevs) == MAP64_NONE) {
		arena_fail(&map->arena);
		return NULL;
	}
	*dev = (struct devmap_dev){.major = major, .minor = minor, .kname = ""};
	map->devs[map->ndevs++] = dev;
	return dev;
}

bool devmap_add_below(struct devmap *map, struct devmap_below **list, struct devmap_dev *dev)
{
	struct devmap_below *below = arena_alloc(&map->arena, sizeof(*below));
	if (below) {
		*below = (struct devmap_below){dev, *list};
		*list = below;
	}
	return below;
}
