/* SPDX-License-Identifier: MIT */
#include "index/store/tree.h"

#include "index/store/store_impl.h"

#include "base/array.h"

#include <dirent.h>
#include <stdlib.h>

enum { WASTE_MIN = 1 << 20 };

/* The hash table tree.places: parent and name --> directory. */

static uint64_t place_hash(uint32_t parent, const char *name, size_t len)
{
	return map64_bytes(map64_bytes(MAP64_BYTES, (const char *)&parent, sizeof(parent)), name,
	                   len);
}

static uint32_t *place_head(const struct tree *tree, uint32_t parent, const char *name, size_t len)
{
	uint64_t hash = place_hash(parent, name, len);
	assert(tree->nplaces > 0 && (tree->nplaces & (tree->nplaces - 1)) == 0);
	return &tree->places[(hash ^ hash >> 32) & (tree->nplaces - 1)];
}

static void place_put(struct tree *tree, uint32_t at)
{
	struct tree_dir *dir = &tree->dirs[at];
	uint32_t *head = place_head(tree, dir->parent, tree_name(tree, at), dir->len);
	dir->chain = *head;
	*head = at;
}

static void place_remove(struct tree *tree, uint32_t at)
{
	struct tree_dir *dir = &tree->dirs[at];
	uint32_t *link = place_head(tree, dir->parent, tree_name(tree, at), dir->len);
	while (*link != at) {
		assert(*link != TREE_NONE);
		link = &tree->dirs[*link].chain;
	}
	*link = dir->chain;
}

/** If the table of places is full, double its size and insert all directories.  @return 0, or
    -1. */
static int place_room(struct tree *tree)
{
	if (tree->count < tree->nplaces)
		return 0;
	size_t size = tree->nplaces ? tree->nplaces * 2 : 1024;
	uint32_t *places = malloc(size * sizeof(*places));
	if (!places)
		return -1;
	memset(places, 0xff, size * sizeof(*places));
	free(tree->places);
	tree->places = places;
	tree->nplaces = size;
	for (uint32_t at = 0; at < tree->n; ++at) {
		if (tree->dirs[at].dir != INDEX_DIR_NONE)
			place_put(tree, at);
	}
	return 0;
}

/* The names of directories. */

/** Remove the unused names.  @return 0, or -1: nothing has changed. */
static int names_compact(struct tree *tree)
{
	struct strbuf names = {0};
	for (uint32_t at = 0; at < tree->n; ++at) {
		if (tree->dirs[at].dir != INDEX_DIR_NONE)
			strbuf_add(&names, tree_name(tree, at), tree->dirs[at].len + 1u);
	}
	if (names.failed) {
		strbuf_destroy(&names);
		return -1;
	}
	uint32_t end = 0;
	for (uint32_t at = 0; at < tree->n; ++at) {
		if (tree->dirs[at].dir == INDEX_DIR_NONE)
			continue;
		tree->dirs[at].name = end;
		end += tree->dirs[at].len + 1u;
	}
	strbuf_destroy(&tree->names);
	tree->names = names;
	tree->waste = 0;
	return 0;
}

/** Append a name to tree->names.  @at [out]  The offset of the name.  @return 0, or -1 (ENOMEM). */
static int names_add(struct tree *tree, const char *name, size_t len, uint32_t *at)
{
	assert(tree->waste <= tree->names.len);
	if (tree->waste > WASTE_MIN && tree->waste > tree->names.len / 2)
		names_compact(tree);
	size_t end = tree->names.len;
	if (end > UINT32_MAX - INDEX_NAME_MAX - 1 || len > INDEX_NAME_MAX)
		return fail(ENOMEM);
	strbuf_add(&tree->names, name, len);
	strbuf_putc(&tree->names, '\0');
	if (tree->names.failed)
		return fail(ENOMEM);
	*at = (uint32_t)end;
	return 0;
}

/* The lists of subdirectories. */

static void link_child(struct tree *tree, uint32_t at)
{
	struct tree_dir *dir = &tree->dirs[at];
	dir->prev = dir->next = TREE_NONE;
	if (dir->parent == TREE_NONE)
		return;
	struct tree_dir *parent = &tree->dirs[dir->parent];
	assert(dir->parent < tree->n && dir->parent != at && parent->dir != INDEX_DIR_NONE);
	dir->next = parent->first;
	if (dir->next != TREE_NONE)
		tree->dirs[dir->next].prev = at;
	parent->first = at;
}

static void unlink_child(struct tree *tree, uint32_t at)
{
	struct tree_dir *dir = &tree->dirs[at];
	if (dir->next != TREE_NONE)
		tree->dirs[dir->next].prev = dir->prev;
	if (dir->prev != TREE_NONE)
		tree->dirs[dir->prev].next = dir->next;
	else if (dir->parent != TREE_NONE)
		tree->dirs[dir->parent].first = dir->next;
}

/* Find, add, move and remove directories. */

uint32_t tree_by_ino(const struct tree *tree, uint64_t ino)
{
	return map64_get(&tree->by_ino, ino);
}

uint32_t tree_by_dir(const struct tree *tree, index_dir dir)
{
	return map64_get(&tree->by_dir, dir);
}

uint32_t tree_child(const struct tree *tree, uint32_t parent, const char *name, size_t len)
{
	uint32_t at = tree->nplaces ? *place_head(tree, parent, name, len) : TREE_NONE;
	while (at != TREE_NONE
	       && (tree->dirs[at].parent != parent || tree->dirs[at].len != len
	           || tree->dirs[at].state == TREE_GONE
	           || memcmp(tree_name(tree, at), name, len) != 0))
		at = tree->dirs[at].chain;
	return at;
}

/** Add an element without parent, which is not in the table of places. */
static uint32_t add_element(struct tree *tree, const char *name, size_t len, index_dir dir)
{
	uint32_t at = tree->spare, where;
	assert(dir != INDEX_DIR_NONE && map64_get(&tree->by_dir, dir) == MAP64_NONE);
	if (names_add(tree, name, len, &where) != 0)
		return TREE_NONE;
	if (at != TREE_NONE) {
		assert(at < tree->n && tree->dirs[at].dir == INDEX_DIR_NONE);
		tree->spare = tree->dirs[at].next;
	} else {
		if (tree->n >= TREE_NONE || !ARRAY_ROOM(tree->dirs, tree->n, &tree->room))
			return TREE_NONE;
		at = (uint32_t)tree->n++;
	}
	tree->dirs[at] = (struct tree_dir){
		.dir = dir, .name = where, .len = (uint8_t)len, .parent = TREE_NONE,
		.first = TREE_NONE, .next = TREE_NONE, .prev = TREE_NONE, .chain = TREE_NONE,
	};
	return at;
}

static void free_element(struct tree *tree, uint32_t at)
{
	tree->waste += tree->dirs[at].len + 1u;
	tree->dirs[at].dir = INDEX_DIR_NONE;
	tree->dirs[at].state = TREE_GONE;
	tree->dirs[at].next = tree->spare;
	tree->spare = at;
}

uint32_t tree_add(struct tree *tree, uint32_t parent, const char *name, size_t len, index_dir dir,
                  uint64_t ino)
{
	if (place_room(tree) != 0)
		return TREE_NONE;
	uint32_t at = add_element(tree, name, len, dir);
	if (at == TREE_NONE)
		return TREE_NONE;
	if (map64_set(&tree->by_dir, dir, at) == MAP64_NONE
	    || (ino && map64_put(&tree->by_ino, ino, at) == MAP64_NONE)) {
		map64_remove(&tree->by_dir, dir);
		free_element(tree, at);
		return TREE_NONE;
	}
	tree->dirs[at].ino = ino;
	tree->dirs[at].parent = parent;
	link_child(tree, at);
	place_put(tree, at);
	++tree->count;
	return at;
}

void tree_set_row(struct tree *tree, uint32_t at, const struct index_row *row, int64_t listed)
{
	struct tree_dir *dir = &tree->dirs[at];
	assert(at < tree->n && dir->dir != INDEX_DIR_NONE);
	if (dir->ino != row->col[IC_INO]) {
		if (map64_get(&tree->by_ino, dir->ino) == at)
			map64_remove(&tree->by_ino, dir->ino);
		dir->ino = row->col[IC_INO];
		if (dir->ino)
			map64_put(&tree->by_ino, dir->ino, at);
	}
	dir->msec = index_to_signed(row->col[IC_MSEC]);
	dir->csec = index_to_signed(row->col[IC_CSEC]);
	dir->mnsec = (uint32_t)row->col[IC_MNSEC];
	dir->cnsec = (uint32_t)row->col[IC_CNSEC];
	dir->is_unread = row->col[IC_FLAGS] & IF_UNREAD;
	dir->listed = listed;
}

int tree_move(struct tree *tree, uint32_t at, uint32_t parent, const char *name, size_t len)
{
	uint32_t where;
	assert(at != tree->root && parent < tree->n && !tree_is_below(tree, parent, at));
	assert(name < tree->names.data || name >= tree->names.data + tree->names.size);
	if (names_add(tree, name, len, &where) != 0)
		return -1;
	place_remove(tree, at);
	unlink_child(tree, at);
	tree->waste += tree->dirs[at].len + 1u;
	tree->dirs[at].name = where;
	tree->dirs[at].len = (uint8_t)len;
	tree->dirs[at].parent = parent;
	link_child(tree, at);
	place_put(tree, at);
	return 0;
}

void tree_drop(struct tree *tree, uint32_t at)
{
	struct tree_dir *dir = &tree->dirs[at];
	assert(at != tree->root && dir->dir != INDEX_DIR_NONE && dir->first == TREE_NONE);
	place_remove(tree, at);
	unlink_child(tree, at);
	map64_remove(&tree->by_dir, dir->dir);
	if (map64_get(&tree->by_ino, dir->ino) == at)
		map64_remove(&tree->by_ino, dir->ino);
	free_element(tree, at);
	--tree->count;
}

bool tree_is_below(const struct tree *tree, uint32_t at, uint32_t above)
{
	while (at != above && at != TREE_NONE)
		at = tree->dirs[at].parent;
	return at == above;
}

uint32_t tree_next(const struct tree *tree, uint32_t at)
{
	if (tree->dirs[at].first != TREE_NONE)
		return tree->dirs[at].first;
	while (at != TREE_NONE && tree->dirs[at].next == TREE_NONE)
		at = tree->dirs[at].parent;
	return at == TREE_NONE ? TREE_NONE : tree->dirs[at].next;
}

void tree_check(const struct tree *tree)
{
#ifndef NDEBUG
	size_t count = 0, spare = 0, chained = 0, below = 0;
	for (uint32_t at = 0; at < tree->n; ++at) {
		const struct tree_dir *dir = &tree->dirs[at];
		uint32_t before = TREE_NONE;
		if (dir->dir == INDEX_DIR_NONE)
			continue;
		++count;
		assert(map64_get(&tree->by_dir, dir->dir) == at);
		assert((dir->parent == TREE_NONE) == (at == tree->root));
		uint32_t same = dir->ino ? map64_get(&tree->by_ino, dir->ino) : MAP64_NONE;
		assert(same == MAP64_NONE || tree->dirs[same].ino == dir->ino);
		for (uint32_t child = dir->first; child != TREE_NONE;
		     before = child, child = tree->dirs[child].next, ++below)
			assert(tree->dirs[child].parent == at && tree->dirs[child].prev == before);
	}
	for (uint32_t at = tree->spare; at != TREE_NONE; at = tree->dirs[at].next, ++spare)
		assert(tree->dirs[at].dir == INDEX_DIR_NONE);
	for (size_t i = 0; i < tree->nplaces; ++i)
		for (uint32_t at = tree->places[i]; at != TREE_NONE;
		     at = tree->dirs[at].chain, ++chained)
			assert(place_head(tree, tree->dirs[at].parent, tree_name(tree, at),
			                  tree->dirs[at].len) == &tree->places[i]);
	assert(count == tree->count && count + spare == tree->n && chained == count);
	/* Each but the root is linked once.  If all are reached, no directory is below itself. */
	assert(below + 1 == count);
	for (uint32_t at = tree->root; at != TREE_NONE; at = tree_next(tree, at))
		--count;
	assert(count == 0);
#else
	(void)tree;
#endif
}

/* Loading. */

/** Add a directory of the index.  Its parent is set later, when all directories are loaded.
    @parents  The index_dir of the parent, for each element of the tree.
    @return 1; 0: the slot is free, or its directory was added before; or -1. */
static int load_dir(struct tree *tree, struct index *index, index_dir dir, index_dir **parents,
                    size_t *room)
{
	/* The columns that tree_set_row() uses. */
	const uint32_t columns = 1 << IC_INO | 1 << IC_MSEC | 1 << IC_MNSEC | 1 << IC_CSEC
	                         | 1 << IC_CNSEC | 1 << IC_FLAGS;
	struct dir_view view;
	if (map64_get(&tree->by_dir, dir) != MAP64_NONE)
		return 0;
	if (dir_view(index, dir, columns, &view) != 0)
		return errno == ENOENT ? 0 : -1;
	const uint64_t ino = view.row.col[IC_INO];
	uint32_t at = add_element(tree, view.name, view.len, dir);
	if (at == TREE_NONE || !ARRAY_ROOM(*parents, at, room))
		return -1;
	(*parents)[at] = view.parent;
	tree->dirs[at].ino = ino;
	tree_set_row(tree, at, &view.row, view.listed);
	if (map64_put(&tree->by_dir, dir, at) == MAP64_NONE
	    || (ino && map64_put(&tree->by_ino, ino, at) == MAP64_NONE))
		return -1;
	return 1;
}

static int load_cluster(struct tree *tree, struct index *index, uint32_t cluster,
                        index_dir **parents, size_t *room)
{
	struct index_change change;
	struct segment *segment;
	if (index_segment(index, cluster, &segment) != 0)
		return -1;
	uint32_t slots = segment ? segment_slots(segment) : 0;
	for (uint32_t slot = 0; slot < slots; ++slot) {
		if (load_dir(tree, index, index_dir_of(cluster, slot), parents, room) < 0)
			return -1;
	}
	/* Add the directories that are only in the delta. */
	for (size_t at = 0; index_next_change(index, cluster, &at, &change);) {
		if (!change.row || index_row_type(change.row) != DT_DIR)
			continue;
		index_dir dir = index_dir_of(cluster, (uint32_t)change.row->col[IC_DIR]);
		if (load_dir(tree, index, dir, parents, room) < 0)
			return -1;
	}
	if (segment)
		segment_trim(segment);
	return 0;
}

int tree_load(struct tree *tree, struct index *index)
{
	index_dir *parents = NULL;
	size_t room = 0;
	int rc = 0;
	*tree = (struct tree){.root = TREE_NONE, .spare = TREE_NONE};
	for (uint32_t cluster = 0; cluster < index_clusters(index) && rc == 0; ++cluster)
		rc = load_cluster(tree, index, cluster, &parents, &room);
	for (uint32_t at = (uint32_t)tree->n; at-- > 0 && rc == 0;) {
		uint32_t parent = tree_by_dir(tree, parents[at]);
		if (parents[at] == INDEX_DIR_NONE && tree->root == TREE_NONE)
			tree->root = at;
		else if (parents[at] == INDEX_DIR_NONE || parent == TREE_NONE || parent == at)
			rc = fail(EBADMSG);
		else
			tree->dirs[at].parent = parent;
		link_child(tree, at);
	}
	tree->count = tree->n;
	while (rc == 0 && tree->nplaces <= tree->count)
		rc = place_room(tree);
	if (rc == 0 && tree->root == TREE_NONE)
		rc = fail(tree->n ? EBADMSG : ENOENT);
	/* Directories in a cycle are not reached from the root. */
	size_t reached = 0;
	for (uint32_t at = tree->root; rc == 0 && at != TREE_NONE; at = tree_next(tree, at))
		++reached;
	if (rc == 0 && reached != tree->n)
		rc = fail(EBADMSG);
	free(parents);
	if (rc == 0)
		tree_check(tree);
	else
		tree_destroy(tree);
	return rc;
}

void tree_destroy(struct tree *tree)
{
	int error = errno;
	free(tree->dirs);
	free(tree->places);
	strbuf_destroy(&tree->names);
	map64_destroy(&tree->by_ino);
	map64_destroy(&tree->by_dir);
	*tree = (struct tree){.root = TREE_NONE, .spare = TREE_NONE};
	errno = error;
}
