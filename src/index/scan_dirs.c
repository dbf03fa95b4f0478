/* SPDX-License-Identifier: MIT */
/*
 * The directories of a scan: whether they are below the start, whether they are entered, and their
 * paths.  Each directory is judged once, by what was found out of its parent.  A damaged index may
 * have a cycle of directories: it is found, since each directory on the way is marked.
 */
#include "index/scan_impl.h"
#include "index/store_impl.h"

#include "base/array.h"
#include "base/fail.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { DIRS_KEPT = 65536 };   /* paths, before they are forgotten */

int scan_dirs_init(struct scan *scan)
{
	uint32_t clusters = index_clusters(scan->index);
	scan->states = calloc((size_t)clusters + 1, sizeof(*scan->states));
	scan->path_of = SOURCE_NONE;
	return scan->states ? 0 : -1;
}

void scan_dirs_destroy(struct scan *scan)
{
	uint32_t clusters = index_clusters(scan->index);
	for (uint32_t i = 0; scan->states && i < clusters; ++i)
		free(scan->states[i]);
	free(scan->states);
	free(scan->dirs);
	free(scan->chain);
	map64_destroy(&scan->by_dir);
	arena_destroy(&scan->names);
	strbuf_destroy(&scan->path);
	strbuf_destroy(&scan->enter_path);
}

void scan_dirs_trim(struct scan *scan)
{
	if (scan->ndirs < DIRS_KEPT)
		return;
	scan->ndirs = 0;
	map64_destroy(&scan->by_dir);
	arena_destroy(&scan->names);
	scan->path_of = SOURCE_NONE;
}

/** The state of a directory.  @return NULL: EBADMSG, ENOMEM. */
static uint8_t *state_of(struct scan *scan, index_dir dir)
{
	uint32_t cluster = index_dir_cluster(dir);
	if (dir == INDEX_DIR_NONE || cluster >= index_clusters(scan->index))
		return fail_null(EBADMSG);
	if (!scan->states[cluster])
		scan->states[cluster] = calloc(INDEX_SLOTS, 1);
	return scan->states[cluster] ? &scan->states[cluster][index_dir_slot(dir)] : NULL;
}

int scan_parent(struct scan *scan, index_dir dir, index_dir *parent)
{
	if (dir_parent(scan->index, dir, parent) == 0)
		return 1;
	return errno == ENOENT ? 0 : -1;
}

/** Add a directory to the chain.  @return 0, or -1. */
static int chain_add(struct scan *scan, index_dir dir)
{
	if (!ARRAY_ROOM(scan->chain, scan->nchain, &scan->chain_room))
		return -1;
	scan->chain[scan->nchain++] = dir;
	return 0;
}

int scan_is_below(struct scan *scan, index_dir dir)
{
	enum scan_state found = SD_OUTSIDE;
	int rc = 0;
	scan->nchain = 0;
	for (index_dir at = dir; rc == 0 && at != INDEX_DIR_NONE;) {
		uint8_t *state = state_of(scan, at);
		if (!state)
			return -1;
		if (at == scan->options.start)
			*state = SD_ENTERED;
		if (*state == SD_VISITED)
			return fail(EBADMSG);
		if (*state != SD_UNKNOWN) {
			found = *state == SD_OUTSIDE ? SD_OUTSIDE : SD_BELOW;
			break;
		}
		*state = SD_VISITED;
		if (chain_add(scan, at) != 0)
			return -1;
		index_dir parent = INDEX_DIR_NONE;
		int known = scan_parent(scan, at, &parent);
		rc = known < 0 ? -1 : 0;
		at = known > 0 ? parent : INDEX_DIR_NONE;
	}
	while (scan->nchain > 0)
		*state_of(scan, scan->chain[--scan->nchain]) = (uint8_t)found;
	return rc < 0 ? -1 : found == SD_BELOW;
}

/** The number in dirs of a directory that is below the start.  @return SOURCE_NONE: an error. */
static uint32_t number_of(struct scan *scan, index_dir dir)
{
	uint32_t number = MAP64_NONE;
	scan->nchain = 0;
	for (index_dir at = dir; (number = map64_get(&scan->by_dir, at)) == MAP64_NONE;) {
		struct index_dir_info info;
		if (chain_add(scan, at) != 0)
			return SOURCE_NONE;
		if (at == scan->options.start)
			break;
		if (index_dir_get(scan->index, at, &info) != 0)
			return SOURCE_NONE;
		at = info.parent;
	}
	while (scan->nchain > 0) {
		struct index_dir_info info = {.name = ""};
		index_dir at = scan->chain[--scan->nchain];
		const struct scan_dir *parent =
			number == MAP64_NONE ? NULL : &scan->dirs[number];
		if (parent && index_dir_get(scan->index, at, &info) != 0)
			return SOURCE_NONE;
		const char *name = arena_strndup(&scan->names, info.name, info.len);
		if (!name || !ARRAY_ROOM(scan->dirs, scan->ndirs, &scan->dirs_room))
			return SOURCE_NONE;
		parent = number == MAP64_NONE ? NULL : &scan->dirs[number];
		scan->dirs[scan->ndirs] = (struct scan_dir){
			.dir = at, .parent = number, .name = name, .len = info.len,
			.path_len = parent ? parent->path_len + 1 + info.len : 0,
			.depth = parent ? parent->depth + 1 : 0,
		};
		number = map64_put(&scan->by_dir, at, (uint32_t)scan->ndirs++);
		if (number == MAP64_NONE)
			return SOURCE_NONE;
	}
	return number;
}

/** Build the path of a directory. */
static int build_path(const struct scan *scan, uint32_t number, struct strbuf *path)
{
	const struct scan_dir *dir = &scan->dirs[number];
	strbuf_reset(path);
	if (!strbuf_room(path, dir->path_len + 1))
		return -1;
	strbuf_extend(path, dir->path_len);
	char *to = path->data + dir->path_len;
	*to = '\0';
	for (; dir->parent != MAP64_NONE; dir = &scan->dirs[dir->parent]) {
		to -= dir->len;
		memcpy(to, dir->name, dir->len);
		*--to = '/';
	}
	return 0;
}

int scan_set_dir(struct scan *scan, index_dir dir, struct source_object *object)
{
	uint32_t number = number_of(scan, dir);
	if (number == SOURCE_NONE)
		return -1;
	if (scan->path_of != number && build_path(scan, number, &scan->path) != 0)
		return -1;
	scan->path_of = number;
	object->dir = dir;
	object->path = strbuf_str(&scan->path);
	object->path_len = scan->path.len;
	object->depth = scan->dirs[number].depth;
	return 0;
}

/** Call enter() for a directory whose parent is entered.  @return 1, 0, or -1. */
static int ask(struct scan *scan, uint32_t number)
{
	const struct scan_dir *dir = &scan->dirs[number], *parent = &scan->dirs[dir->parent];
	if (build_path(scan, dir->parent, &scan->enter_path) != 0)
		return -1;
	struct source_object object = {
		.dir = parent->dir, .self = dir->dir, .path = strbuf_str(&scan->enter_path),
		.path_len = scan->enter_path.len, .depth = parent->depth, .name = dir->name,
		.len = dir->len, .type = DT_DIR,
	};
	return scan->options.enter(scan->options.arg, &object);
}

int scan_enter(struct scan *scan, index_dir dir)
{
	uint8_t *state = state_of(scan, dir);
	if (!state)
		return -1;
	if (*state == SD_ENTERED || *state == SD_REFUSED)
		return *state == SD_ENTERED;
	uint32_t number = number_of(scan, dir);
	if (number == SOURCE_NONE)
		return -1;
	int rc = 1;
	scan->nchain = 0;
	for (uint32_t at = number; at != MAP64_NONE; at = scan->dirs[at].parent) {
		state = state_of(scan, scan->dirs[at].dir);
		if (*state == SD_ENTERED || *state == SD_REFUSED) {
			rc = *state == SD_ENTERED;
			break;
		}
		if (chain_add(scan, at) != 0)
			return -1;
	}
	/* From the top; the chain has numbers in dirs. */
	while (scan->nchain > 0) {
		uint32_t at = scan->chain[--scan->nchain];
		if (rc > 0)
			rc = ask(scan, at);
		if (rc < 0)
			return -1;
		*state_of(scan, scan->dirs[at].dir) = rc ? SD_ENTERED : SD_REFUSED;
	}
	return rc;
}
