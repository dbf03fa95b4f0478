/* SPDX-License-Identifier: MIT */
/*
 * The directories of a scan: whether they are below the start, whether they are entered, and their
 * paths.  Each directory is decided once, from the decision for its parent.  If a damaged index has
 * a cycle of directories, it is found because each directory on the way up is marked.
 */
#include "index/scan/scan_impl.h"

#include "base/array.h"
#include "base/fail.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/** The state of a directory: one of these, or SD_PLACED + its index in scan->dirs. */
enum {
	SD_UNKNOWN,
	SD_OUTSIDE,               /* not below the start, or does not exist */
	SD_BELOW,                 /* the start or below it; enter() was not called yet */
	SD_VISITED,               /* on the way up of climb(): if it is reached again, there is a
	                             cycle */
	SD_PLACED,
};

/** The variable with the state of a directory.  @return NULL: EBADMSG, ENOMEM. */
static uint32_t *known_of(struct scan *scan, index_dir dir)
{
	uint32_t cluster = index_dir_cluster(dir);
	if (dir == INDEX_DIR_NONE || cluster >= index_clusters(scan->index))
		return fail_null(EBADMSG);
	if (!scan->known[cluster])
		scan->known[cluster] = calloc(INDEX_SLOTS, sizeof(**scan->known));
	return scan->known[cluster] ? &scan->known[cluster][index_dir_slot(dir)] : NULL;
}

/** Add a directory that is the start or below it to scan->dirs.  @return NULL: ENOMEM, EBADMSG. */
static struct scan_dir *place(struct scan *scan, const struct scan_dir *dir)
{
	uint32_t *known = known_of(scan, dir->dir);
	assert(scan->ndirs == 0 ? dir->len == 0 : dir->len > 0 && dir->parent < scan->ndirs);
	if (!known || !ARRAY_ROOM(scan->dirs, scan->ndirs, &scan->dirs_room)
	    || scan->ndirs > UINT32_MAX - SD_PLACED)
		return NULL;
	*known = (uint32_t)scan->ndirs + SD_PLACED;
	scan->dirs[scan->ndirs] = *dir;
	return &scan->dirs[scan->ndirs++];
}

int scan_dirs_init(struct scan *scan)
{
	scan->known = calloc((size_t)index_clusters(scan->index) + 1, sizeof(*scan->known));
	if (!scan->known)
		return -1;
	if (scan->options.start == INDEX_DIR_NONE)
		return 0;
	return place(scan, &(struct scan_dir){
		.dir = scan->options.start, .mark = scan->options.mark, .entered = true,
		.all = scan->options.all,
	}) ? 0 : -1;
}

void scan_dirs_destroy(struct scan *scan)
{
	uint32_t clusters = index_clusters(scan->index);
	for (uint32_t i = 0; scan->known && i < clusters; ++i)
		free(scan->known[i]);
	free(scan->known);
	free(scan->dirs);
	free(scan->chain);
	strbuf_destroy(&scan->names);
	strbuf_destroy(&scan->path);
}

/** Store a directory and those above it in scan->chain, up to a directory whose state is known.
    @names  Get their names, too.
    @known [out]  The state of that directory; SD_OUTSIDE: no known directory.
    @return 0, or -1. */
static int climb(struct scan *scan, index_dir dir, bool names, uint32_t *known)
{
	scan->nchain = 0;
	*known = SD_OUTSIDE;
	for (index_dir at = dir; at != INDEX_DIR_NONE;) {
		uint32_t *now = known_of(scan, at);
		if (!now)
			return -1;
		if (*now == SD_VISITED)
			return fail(EBADMSG);
		if (*now != SD_UNKNOWN && *now != SD_BELOW) {
			*known = *now;
			return 0;
		}
		*now = SD_VISITED;
		if (!ARRAY_ROOM(scan->chain, scan->nchain, &scan->chain_room))
			return -1;
		struct scan_link *link = &scan->chain[scan->nchain++];
		link->dir = at;
		int rc = names ? index_dir_get(scan->index, at, &link->info)
		         : index_dir_parent(scan->index, at, &link->info.parent);
		if (rc != 0 && errno != ENOENT)
			return -1;
		at = rc == 0 ? link->info.parent : INDEX_DIR_NONE;
	}
	return 0;
}

/** Set the state of the directories in scan->chain, and empty it. */
static void set_chain(struct scan *scan, uint32_t known)
{
	while (scan->nchain > 0) {
		uint32_t *now = known_of(scan, scan->chain[--scan->nchain].dir);
		/* climb() has marked it, and so made its element. */
		assert(now && *now == SD_VISITED);
		*now = known;
	}
}

int scan_is_below(struct scan *scan, index_dir dir)
{
	uint32_t *now = known_of(scan, dir), known;
	if (!now)
		return -1;
	if (*now == SD_BELOW)
		return 1;
	if (climb(scan, dir, false, &known) != 0)
		return -1;
	set_chain(scan, known == SD_OUTSIDE ? SD_OUTSIDE : SD_BELOW);
	return known != SD_OUTSIDE;
}

int scan_dir_row(struct scan *scan, index_dir dir, uint32_t columns, struct index_row *row)
{
	if (index_dir_row(scan->index, dir, columns, row) != 0)
		return errno == ENOENT ? 0 : -1;
	return 1;
}

/** Make the path of directory `number` in scan->path. */
static int build_path(struct scan *scan, uint32_t number)
{
	const struct scan_dir *dir = &scan->dirs[number];
	struct strbuf *path = &scan->path;
	strbuf_reset(path);
	if (!strbuf_room(path, (size_t)dir->path_len + 1))
		return -1;
	strbuf_extend(path, dir->path_len);
	char *to = path->data + dir->path_len;
	*to = '\0';
	for (; dir->len > 0; dir = &scan->dirs[dir->parent]) {
		assert(to - path->data > dir->len && dir->parent < dir - scan->dirs);
		to -= dir->len;
		memcpy(to, scan->names.data + dir->name, dir->len);
		*--to = '/';
	}
	assert(to == path->data && dir == scan->dirs);
	return 0;
}

/** Decide whether a directory that may be entered is itself a result.
    @return enum query_value, or -1: an error. */
static int is_found(struct scan *scan, index_dir dir, const char *name, size_t len)
{
	const struct wish *wish = &scan->wish;
	struct index_row row;
	if (dir == scan->object.self)
		return scan->object.within;
	if (wish->names && !wish_has_name(wish, name, len))
		return QUERY_NO;
	if (scan_dir_row(scan, dir, wish->needs, &row) <= 0)
		return -1;
	return wish_has_row(wish, &row) ? wish_within(wish, &row) : QUERY_NO;
}

/** Add a subdirectory to scan->dirs, and call enter() for it unless its parent was refused.
    @parent  The index of its parent in scan->dirs.
    @return the index of the subdirectory, or SOURCE_NONE: an error. */
static uint32_t enter_child(struct scan *scan, uint32_t parent, const struct scan_link *link)
{
	const char *name = link->info.name;
	const size_t len = link->info.len;
	const index_dir dir = link->dir;
	const struct scan_dir above = scan->dirs[parent];
	struct scan_dir child = {
		.dir = dir, .parent = parent, .len = (uint8_t)len,
		.name = (uint32_t)scan->names.len,
		.path_len = above.path_len + 1 + (uint32_t)len, .depth = above.depth + 1,
		.mark = above.mark, .entered = above.all, .all = above.all,
	};
	if (len == 0 || len > INDEX_NAME_MAX || child.path_len <= above.path_len
	    || scan->names.len > UINT32_MAX - INDEX_NAME_MAX) {
		errno = EBADMSG;
		return SOURCE_NONE;
	}
	int within = above.entered ? is_found(scan, dir, name, len) : QUERY_NO;
	if (within < 0)
		return SOURCE_NONE;
	if (above.entered && (!above.all || within != QUERY_NO)) {
		const struct source_object object = {
			.dir = above.dir, .self = dir, .mark = above.mark,
			.path = strbuf_str(&scan->path), .path_len = scan->path.len,
			.depth = above.depth, .name = name, .len = len, .type = DT_DIR,
			.within = (enum query_value)within,
		};
		int rc = scan->options.enter(scan->options.arg, &object, &child.mark);
		if (rc < 0)
			return SOURCE_NONE;
		child.entered = rc > 0;
		child.all = rc > 1;
	}
	strbuf_add(&scan->names, name, len);
	if (scan->names.failed)
		return SOURCE_NONE;
	return place(scan, &child) ? (uint32_t)scan->ndirs - 1 : SOURCE_NONE;
}

int scan_enter(struct scan *scan, index_dir dir, struct source_object *object)
{
	uint32_t known;
	if (climb(scan, dir, true, &known) != 0)
		return -1;
	if (known == SD_OUTSIDE) {
		set_chain(scan, known);
		return 0;
	}
	uint32_t number = known - SD_PLACED;
	assert(known >= SD_PLACED && number < scan->ndirs);
	bool built = scan->path_of == number;
	/* After an error the path is that of no directory. */
	scan->path_of = SOURCE_NONE;
	if (!built && build_path(scan, number) != 0)
		return -1;
	while (scan->nchain > 0) {
		const struct scan_link *link = &scan->chain[--scan->nchain];
		number = enter_child(scan, number, link);
		if (number == SOURCE_NONE)
			return -1;
		strbuf_putc(&scan->path, '/');
		strbuf_add(&scan->path, link->info.name, link->info.len);
	}
	if (scan->path.failed)
		return fail(ENOMEM);
	scan->path_of = number;
	const struct scan_dir *at = &scan->dirs[number];
	assert(at->dir == dir && at->path_len == scan->path.len);
	object->dir = dir;
	object->mark = at->mark;
	object->path = strbuf_str(&scan->path);
	object->path_len = scan->path.len;
	object->depth = at->depth;
	return at->entered;
}
