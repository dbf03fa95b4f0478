/* SPDX-License-Identifier: MIT */
/* The work that is left after directories are read and names are examined: compare moved
   directories, remove directories, update further names of inodes. */

#include "index/follow/refresh.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

enum { TURNS = 16 };   /* directories handled between two readings of events */

/** Compare a directory, and note its subdirectories to be compared.  @return 0, or -1. */
static int compare(struct refresh *r, uint32_t at)
{
	const struct tree_dir *dirs = r->tree->dirs;
	int rc = refresh_compare(&r->chain, r->tree, at, r->oldest);
	r->incomplete |= rc > 0;
	++r->counts.dirs;
	if (rc < 0)
		return -1;
	if (dirs[at].state == TREE_GONE)
		return refresh_note_gone(r, at);
	if (dirs[at].state == TREE_KEPT)
		return 0;
	for (uint32_t child = dirs[at].first; child != TREE_NONE; child = dirs[child].next) {
		if (dirs[child].state == TREE_UNSEEN && refresh_note_todo(r, child) != 0)
			return -1;
	}
	return 0;
}

int refresh_todo(struct refresh *r)
{
	unsigned turn = 0;
	while (r->todo.n > 0) {
		struct gather *gather;
		uint32_t at;
		int rc = 0;
		if (refresh_take(r, &at, &gather) != 0)
			return -1;
		if (r->events && ++turn % TURNS == 0)
			rc = file_events_read(r->events, r->os);
		if (rc == 0 && r->tree->dirs[at].state == TREE_UNSEEN)
			rc = compare(r, at);
		if (rc == 0 && r->tree->dirs[at].state == TREE_CHANGED)
			rc = refresh_read(r, at, NULL, gather);
		gather_free(gather, r->os);
		if (rc != 0)
			return -1;
	}
	return 0;
}

int refresh_later(struct refresh *r)
{
	for (size_t i = 0; i < r->later.n; ++i) {
		if (r->tree->dirs[r->later.items[i]].state == TREE_CHANGED
		    && refresh_note_todo(r, r->later.items[i]) != 0)
			return -1;
	}
	r->later.n = 0;
	return refresh_todo(r);
}

int refresh_gone(struct refresh *r)
{
	struct tree *tree = r->tree;
	/* A directory that is still to be read could have one that seems to be gone. */
	assert(r->todo.n == 0 && r->nahead == 0);
	for (size_t i = 0; i < r->gone.n; ++i) {
		uint32_t top = r->gone.items[i], at = top, parent;
		if (tree->dirs[top].dir == INDEX_DIR_NONE || tree->dirs[top].state != TREE_GONE
		    || top == tree->root)
			continue;
		do {
			while (tree->dirs[at].first != TREE_NONE)
				at = tree->dirs[at].first;
			if (index_remove_dir(r->index, tree->dirs[at].dir) != 0)
				return -1;
			parent = tree->dirs[at].parent;
			tree_drop(tree, at);
			++r->counts.dirs_removed;
			if (at == top)
				break;
			at = parent;
		} while (true);
	}
	r->gone.n = 0;
	tree_check(tree);
	return 0;
}

/* Inodes with several names. */

/** A name in the index whose row differs from the present attributes of its inode. */
struct stale {
	index_dir dir;
	uint32_t name, len;       /* offset in stale_names.names, and length */
	uint32_t link;
};

struct stale_names {
	struct refresh *r;
	uint64_t *inos;           /* sorted inode numbers of refresh.links */
	struct stale *items;
	size_t n, room;
	struct strbuf names;
};

/** Whether refresh.links has an inode with a number from `min` to `max`. */
static bool may_be_noted(void *arg, uint64_t min, uint64_t max)
{
	const struct stale_names *stale = arg;
	return objects_any_ino(stale->inos, stale->r->nlinks, min, max);
}

static int visit_noted(void *arg, index_dir dir, const char *name, size_t len,
                       const struct index_row *row)
{
	struct stale_names *stale = arg;
	uint32_t link = map64_get(&stale->r->by_ino, row->col[IC_INO]);
	assert(link == MAP64_NONE || link < stale->r->nlinks);
	if (link == MAP64_NONE
	    || objects_digest(row, false)
	               == objects_digest(&stale->r->links[link].row, false))
		return 0;
	if (!ARRAY_ROOM(stale->items, stale->n, &stale->room))
		return -1;
	stale->items[stale->n++] = (struct stale){dir, (uint32_t)stale->names.len, (uint32_t)len,
	                                          link};
	strbuf_add(&stale->names, name, len);
	strbuf_putc(&stale->names, '\0');
	return stale->names.failed ? fail(ENOMEM) : 0;
}

int refresh_links(struct refresh *r)
{
	struct stale_names stale = {.r = r};
	const struct objects_visit visit = {IC_INO, may_be_noted, visit_noted, &stale, false};
	if (r->nlinks == 0)
		return 0;
	stale.inos = malloc(r->nlinks * sizeof(*stale.inos));
	int rc = stale.inos ? 0 : -1;
	for (size_t i = 0; i < r->nlinks && rc == 0; ++i)
		stale.inos[i] = r->links[i].ino;
	if (rc == 0)
		qsort(stale.inos, r->nlinks, sizeof(*stale.inos), compare_u64);
	for (uint32_t cluster = 0; cluster < index_clusters(r->index) && rc == 0; ++cluster)
		rc = objects_visit(r->index, cluster, &visit);
	for (size_t i = 0; i < stale.n && rc == 0; ++i) {
		const struct stale *name = &stale.items[i];
		++r->counts.changed;
		rc = index_put(r->index, name->dir, stale.names.data + name->name, name->len,
		               &r->links[name->link].row);
	}
	strbuf_destroy(&stale.names);
	free(stale.items);
	free(stale.inos);
	r->nlinks = 0;
	map64_destroy(&r->by_ino);
	return rc;
}
