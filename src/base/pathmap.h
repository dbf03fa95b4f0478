/* SPDX-License-Identifier: MIT */
/**
 * A map from absolute paths to numbers, such as indexes of mounts or lines.
 *
 * A path can have several numbers.  Paths are compared as text: "/a" is not "/a/", and nothing is
 * resolved.  A lookup of a path of n bytes takes O(n) whatever its depth, plus the numbers that it
 * steps through; memory is linear in the number of paths.
 */
#ifndef GM_BASE_PATHMAP_H
#define GM_BASE_PATHMAP_H

#include "base/map64.h"

/** No number. */
#define PATHMAP_NONE UINT32_MAX

/** A path and a number stored for it. */
struct pathmap_entry {
	const char *path;      /* borrowed */
	uint32_t value;
	uint32_t next;         /* the entry of the same hash that was added before, or
	                          PATHMAP_NONE */
};

/** A map; empty if zeroed.  With newest.arena the arena owns its memory, and records that an
    addition failed: then all later ones fail as well. */
struct pathmap {
	struct pathmap_entry *entries;   /* in the order in which they were added */
	uint32_t count;
	size_t room;
	struct map64 newest;   /* the hash of a path -> its newest entry */
};

/** A position in a lookup. */
struct pathmap_at {
	const char *path;      /* that is looked up */
	size_t n;              /* bytes of it that are the path of this entry; above a path, 0 is
	                          that of "/" */
	uint64_t hash;         /* of them */
	uint32_t entry;        /* PATHMAP_NONE: before the first */
	uint32_t value;        /* of this entry */
	bool begun;            /* a first step was made */
};

/** Free the memory of a map; not needed if an arena owns it. */
void pathmap_destroy(struct pathmap *map);

/** Add a number to those of a path.
    @path   Must remain valid as long as the map.
    @value  Not PATHMAP_NONE.
    @return 0, or -1.  Errors: ENOMEM. */
int pathmap_add(struct pathmap *map, const char *path, uint32_t value);

/** The number that was last added to a path of n bytes, or PATHMAP_NONE. */
uint32_t pathmap_find(const struct pathmap *map, const char *path, size_t n);

/** The number that was last added to a path, or PATHMAP_NONE. */
uint32_t pathmap_get(const struct pathmap *map, const char *path);

/** The number that was last added to a path or the nearest directory above it, or PATHMAP_NONE. */
uint32_t pathmap_nearest(const struct pathmap *map, const char *path);

/** Begin a lookup of one path. */
struct pathmap_at pathmap_of(const char *path);

/** Step to the next number of the path, the last added first.  @return false: it has no other, and
    the lookup has ended. */
bool pathmap_next(const struct pathmap *map, struct pathmap_at *at);

/** Step to the next number of the path or of a directory above it: from "/" down, and of each
    directory as pathmap_next() does.  @return false: there is no other; a path that is not
    absolute has none. */
bool pathmap_next_above(const struct pathmap *map, struct pathmap_at *at);

/** As pathmap_next_above(), but only the number that was last added to each directory. */
bool pathmap_next_newest(const struct pathmap *map, struct pathmap_at *at);

#endif
