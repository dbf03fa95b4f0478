/* SPDX-License-Identifier: MIT */
#include "index/follow/refresh.h"

#include "base/array.h"
#include "os/change.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

int refresh_init(struct refresh *r, struct os *os, struct index *index, struct tree *tree,
                 int rootfd, const struct map64 *covered)
{
	*r = (struct refresh){.os = os, .index = index, .tree = tree, .oldest = INT64_MIN};
	if (chain_init(&r->chain, os, tree, rootfd, covered) != 0)
		return -1;
	return S_ISDIR(r->chain.root.mode) && r->chain.root.ino == tree->dirs[tree->root].ino
	               ? 0 : fail(ESTALE);
}

void refresh_destroy(struct refresh *r)
{
	int error = errno;
	chain_destroy(&r->chain);
	free(r->todo.items);
	free(r->gone.items);
	free(r->later.items);
	free(r->links);
	for (size_t i = 0; i < r->nahead; ++i)
		gather_free(r->ahead[i], r->os);
	free(r->ahead);
	map64_destroy(&r->by_ino);
	errno = error;
}

static int list_add(struct refresh_list *list, uint32_t at)
{
	assert(at != TREE_NONE);
	if (!ARRAY_ROOM(list->items, list->n, &list->room))
		return -1;
	list->items[list->n++] = at;
	return 0;
}

/* Compare the times of directories. */

/** Set the state of a directory that could not be opened or examined.
    @failed  The directory for which this failed: `at` or one above it.
    @return 0; 1: the directory may still exist; -1: a lack of memory or descriptors. */
static int lost_state(struct tree *tree, uint32_t at, uint32_t failed)
{
	struct tree_dir *dir = &tree->dirs[at];
	if (chain_is_fatal(errno))
		return -1;
	/* If the failed directory is above this one, the fate of this directory depends on it. */
	dir->state = TREE_UNSEEN;
	if (failed != at)
		return 0;
	bool gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ESTALE;
	dir->state = gone ? TREE_GONE : TREE_KEPT;
	return gone || errno == EXDEV ? 0 : 1;
}

static bool is_changed(const struct tree_dir *dir, const struct k_statx *st, int64_t oldest)
{
	return dir->msec != st->mtime.sec || dir->mnsec != st->mtime.nsec
	       || dir->csec != st->ctime.sec || dir->cnsec != st->ctime.nsec || dir->is_unread
	       || dir->csec >= dir->listed - INDEX_SETTLED || dir->listed <= oldest;
}

int refresh_compare(struct chain *chain, struct tree *tree, uint32_t at, int64_t oldest)
{
	struct tree_dir *dir = &tree->dirs[at];
	struct k_statx st;
	assert(at < tree->n && dir->dir != INDEX_DIR_NONE);
	if (at == tree->root) {
		st = chain->root;
	} else if (dir->first != TREE_NONE) {
		/* A directory with subdirectories is opened, since its subdirectories need the
		   descriptor. */
		int fd = chain_open(chain, at);
		if (fd < 0
		    || (chain->st.ino != dir->ino && dir->ino
		        && chain_look(chain, fd, "", &chain->st) != 0))
			return lost_state(tree, at, fd < 0 ? chain_failed(chain) : at);
		st = chain->st;
	} else {
		int fd = chain_open(chain, dir->parent);
		if (fd < 0 || chain_look(chain, fd, tree_name(tree, at), &st) != 0)
			return lost_state(tree, at, fd < 0 ? chain_failed(chain) : at);
	}
	if (!chain_is_dir(chain, at, &st))
		dir->state = TREE_GONE;
	else if (chain_is_foreign(chain, &st) || !is_changed(dir, &st, oldest))
		dir->state = TREE_SAME;
	else
		dir->state = TREE_CHANGED;
	return 0;
}

/* Store directories and other objects that were found. */

int refresh_note_gone(struct refresh *r, uint32_t at)
{
	assert(r->tree->dirs[at].dir != INDEX_DIR_NONE);
	r->tree->dirs[at].state = TREE_GONE;
	return list_add(&r->gone, at);
}

int refresh_note_todo(struct refresh *r, uint32_t at)
{
	return list_add(&r->todo, at);
}

static int put_dir(struct refresh *r, uint32_t at, const struct index_row *row, int64_t listed)
{
	const struct tree_dir *dir = &r->tree->dirs[at];
	index_dir number = dir->dir;
	assert(number != INDEX_DIR_NONE && (dir->parent == TREE_NONE) == (at == r->tree->root));
	index_dir parent = dir->parent == TREE_NONE ? INDEX_DIR_NONE
	                                            : r->tree->dirs[dir->parent].dir;
	return index_put_dir(r->index, &number, parent, tree_name(r->tree, at), dir->len, row,
	                     listed);
}

/** Add a directory to the index.  @st  NULL: a mount covers the directory. */
static int add_dir(struct refresh *r, uint32_t parent, const char *name, size_t len,
                   const struct k_statx *st)
{
	struct index_row row = {{0}};
	index_dir number = INDEX_DIR_NONE;
	bool is_apart = !st || chain_is_foreign(&r->chain, st);
	if (st)
		index_row_from(&row, st);
	else
		index_row_lost(&row, DT_DIR);
	if (is_apart)
		row.col[IC_FLAGS] |= IF_UNREAD;
	if (index_put_dir(r->index, &number, r->tree->dirs[parent].dir, name, len, &row, 0) != 0)
		return -1;
	uint32_t at = tree_add(r->tree, parent, name, len, number, row.col[IC_INO]);
	if (at == TREE_NONE)
		return -1;
	struct tree_dir *dir = &r->tree->dirs[at];
	tree_set_row(r->tree, at, &row, 0);
	dir->is_new = dir->is_seen = true;
	++r->counts.dirs_added;
	dir->state = is_apart ? TREE_SAME : TREE_CHANGED;
	return is_apart ? 0 : refresh_note_todo(r, at);
}

/** Make the row of a directory from its present attributes.
    @old  The row in the index.
    @return whether the birth time differs: then another directory has its inode number now. */
static bool row_today(struct index_row *row, const struct index_row *old, const struct k_statx *st)
{
	*row = (struct index_row){{0}};
	index_row_from(row, st);
	row->col[IC_FLAGS] |= old->col[IC_FLAGS] & IF_UNREAD;
	return row->col[IC_BSEC] != old->col[IC_BSEC] || row->col[IC_BNSEC] != old->col[IC_BNSEC];
}

/** Move a directory that was found at another path than in the index.  @return 0, or -1. */
static int move_dir(struct refresh *r, uint32_t at, uint32_t parent, const char *name, size_t len,
                    const struct k_statx *st)
{
	struct index_row old, row;
	int64_t listed = r->tree->dirs[at].listed;
	if (tree_is_below(r->tree, parent, at)) {
		/* In the tree, the new parent is still below this directory: it was moved out
		   before, but this was not found yet. */
		r->unsettled = true;
		r->incomplete |= !r->watching;
		if (!r->watching)
			return 0;
		r->tree->dirs[parent].listed = 0;
		if (r->tree->dirs[parent].state == TREE_GONE)
			return 0;
		r->tree->dirs[parent].state = TREE_CHANGED;
		return refresh_note_todo(r, parent);
	}
	if (index_dir_row(r->index, r->tree->dirs[at].dir, INDEX_ALL, &old) != 0
	    || tree_move(r->tree, at, parent, name, len) != 0)
		return -1;
	/* An update compares the times of the directory later, so the index keeps the old ones. */
	if (row_today(&row, &old, st))
		listed = 0;
	if (r->watching)
		tree_set_row(r->tree, at, &row, listed);
	++r->counts.dirs_moved;
	r->tree->dirs[at].state = TREE_UNSEEN;
	return put_dir(r, at, r->watching ? &row : &old, listed);
}

int refresh_dir_row(struct refresh *r, uint32_t at, const struct k_statx *st)
{
	struct index_row old, row;
	int64_t listed = r->tree->dirs[at].listed;
	if (index_dir_row(r->index, r->tree->dirs[at].dir, INDEX_ALL, &old) != 0)
		return -1;
	if (row_today(&row, &old, st))
		listed = 0;
	if (objects_digest(&row, false) == objects_digest(&old, false))
		return 0;
	tree_set_row(r->tree, at, &row, listed);
	return put_dir(r, at, &row, listed);
}

int refresh_unlist(struct refresh *r, uint32_t at)
{
	struct index_row row;
	if (r->tree->dirs[at].listed == 0)
		return 0;
	if (index_dir_row(r->index, r->tree->dirs[at].dir, INDEX_ALL, &row) != 0)
		return -1;
	r->tree->dirs[at].listed = 0;
	return put_dir(r, at, &row, 0);
}

/** Store a directory that was found by its name.  @return 0, or -1. */
static int found_dir(struct refresh *r, uint32_t parent, const char *name, size_t len,
                     const struct k_statx *st)
{
	uint32_t child = tree_child(r->tree, parent, name, len), at = child;
	if (!chain_is_foreign(&r->chain, st))
		at = tree_by_ino(r->tree, st->ino);
	if (child != TREE_NONE && child != at && refresh_note_gone(r, child) != 0)
		return -1;
	if (at == TREE_NONE)
		return add_dir(r, parent, name, len, st);
	if (at != child && move_dir(r, at, parent, name, len, st) != 0)
		return -1;
	struct tree_dir *dir = &r->tree->dirs[at];
	if (dir->parent != parent)
		return 0;
	dir->is_seen = true;
	if (!r->watching) {
		if (dir->state != TREE_UNSEEN && dir->state != TREE_GONE)
			return 0;
		dir->state = TREE_UNSEEN;
		return refresh_note_todo(r, at);
	}
	if (refresh_dir_row(r, at, st) != 0)
		return -1;
	/* Without a birth time, it may be a new directory that has the inode number of a removed
	   one. */
	bool read = dir->listed == 0 || !(st->mask & K_STATX_BTIME);
	dir->state = read ? TREE_CHANGED : TREE_SAME;
	return read && !chain_is_foreign(&r->chain, st) ? refresh_note_todo(r, at) : 0;
}

int refresh_link(struct refresh *r, const struct k_statx *st)
{
	if (!ARRAY_ROOM(r->links, r->nlinks, &r->links_room))
		return -1;
	uint32_t i = map64_put(&r->by_ino, st->ino, (uint32_t)r->nlinks);
	if (i == MAP64_NONE)
		return -1;
	if (i == r->nlinks)
		r->links[r->nlinks++] = (struct refresh_link){.ino = st->ino};
	assert(i < r->nlinks && r->links[i].ino == st->ino);
	index_row_from(&r->links[i].row, st);
	return 0;
}

/** Store the attributes of an inode for refresh_links(), if it has several names, or is in the list
    already.
    @return 0, or -1. */
static int note_links(struct refresh *r, const struct k_statx *st)
{
	return st->nlink > 1 || map64_get(&r->by_ino, st->ino) != MAP64_NONE
	               ? refresh_link(r, st) : 0;
}

/** Store an object that is not a directory and was found by its name.
    @known  The objects of the directory in the index; NULL: store the row without comparison.
    @return 0, or -1. */
static int found_object(struct refresh *r, uint32_t parent, const char *name, size_t len,
                        const struct index_row *row, struct known *known)
{
	const struct tree_dir *dir = &r->tree->dirs[parent];
	uint64_t digest = 0;
	bool exists = known && known_see(known, index_dir_slot(dir->dir), name, len, &digest);
	/* If the index has an object of this name, do not search for a directory of this name,
	   which read_missing() would remove. */
	uint32_t child = exists ? TREE_NONE : tree_child(r->tree, parent, name, len);
	if (child != TREE_NONE && refresh_note_gone(r, child) != 0)
		return -1;
	if (exists && digest == objects_digest(row, true))
		return 0;
	if (exists)
		++r->counts.changed;
	else
		++r->counts.added;
	return index_put(r->index, dir->dir, name, len, row);
}

/** Load the objects that the index has in a directory, unless *known is set or the directory is
    new.
    @own [out]  The loaded objects, to be freed; or NULL.
    @return 0, or -1. */
static int load_known(struct refresh *r, uint32_t at, struct known **known, struct known **own)
{
	unsigned char slots[INDEX_SLOTS / 8] = {0};
	const struct tree_dir *dir = &r->tree->dirs[at];
	uint32_t slot = index_dir_slot(dir->dir);
	*own = NULL;
	if (*known || dir->is_new)
		return 0;
	slots[slot / 8] |= (unsigned char)(1 << slot % 8);
	*own = *known = known_load(r->index, index_dir_cluster(dir->dir), slots);
	return *own ? 0 : -1;
}

/** Store an object that a mount covers, or that could not be examined.  If the index has the
    object, its row is kept.
    @type  DT_UNKNOWN: store nothing.
    @return 0, or -1. */
static int found_lost(struct refresh *r, uint32_t at, const char *name, size_t len, uint8_t type)
{
	uint32_t child = tree_child(r->tree, at, name, len);
	struct known *known = NULL, *own;
	struct index_row row = {{0}};
	uint64_t digest;
	if (errno != EXDEV)
		r->incomplete = true;
	if (child != TREE_NONE) {
		r->tree->dirs[child].is_seen = true;
		return 0;
	}
	if (type == DT_DIR)
		return add_dir(r, at, name, len, NULL);
	if (type == DT_UNKNOWN)
		return 0;
	index_row_lost(&row, type);
	if (load_known(r, at, &known, &own) != 0)
		return -1;
	bool exists = known && known_see(known, index_dir_slot(r->tree->dirs[at].dir), name, len,
	                                 &digest);
	known_free(own);
	return exists ? 0 : found_object(r, at, name, len, &row, NULL);
}

int refresh_entry(struct refresh *r, uint32_t at, int fd, const char *name, size_t len)
{
	struct index_row row = {{0}};
	struct k_statx st = {0};
	if (chain_look(&r->chain, fd, name, &st) != 0) {
		if (errno == ENOMEM)
			return -1;
		if (errno != ENOENT)
			return found_lost(r, at, name, len, IFTODT(st.mode));
		uint32_t child = tree_child(r->tree, at, name, len);
		if (child != TREE_NONE && refresh_note_gone(r, child) != 0)
			return -1;
		r->counts.removed += child == TREE_NONE;
		return index_remove(r->index, r->tree->dirs[at].dir, name, len);
	}
	if (S_ISDIR(st.mode))
		return index_remove(r->index, r->tree->dirs[at].dir, name, len) != 0
		               ? -1 : found_dir(r, at, name, len, &st);
	index_row_from(&row, &st);
	return note_links(r, &st) != 0 ? -1 : found_object(r, at, name, len, &row, NULL);
}

/* Store the entries of a directory. */

/** Store an entry of the directory that is being read.  @return 0, or -1. */
static int read_entry(struct refresh *r, uint32_t at, struct gather_entry *entry,
                      struct known *known)
{
	struct index_row row = {{0}};
	uint64_t digest;
	uint32_t child = entry->type == DT_DIR
	                         ? tree_child(r->tree, at, entry->name, entry->len) : TREE_NONE;
	if (child != TREE_NONE && r->tree->dirs[child].ino == entry->ino && !r->watching) {
		struct tree_dir *dir = &r->tree->dirs[child];
		dir->is_seen = true;
		if (dir->state != TREE_UNSEEN && dir->state != TREE_GONE)
			return 0;
		dir->state = TREE_UNSEEN;
		return refresh_note_todo(r, child);
	}
	/* The entry was not examined, because the tree had a directory with this name and inode
	   number; that directory was moved since. */
	if (!entry->is_looked) {
		int fd = chain_open(&r->chain, at);
		entry->error = fd < 0 || chain_look(&r->chain, fd, entry->name, &entry->st) != 0
		                       ? errno : 0;
	}
	if (entry->error == ENOMEM || entry->error == ENOENT)
		return entry->error == ENOENT ? 0 : fail(ENOMEM);
	if (!entry->error && S_ISDIR(entry->st.mode))
		return found_dir(r, at, entry->name, entry->len, &entry->st);
	if (!entry->error) {
		index_row_from(&row, &entry->st);
		return note_links(r, &entry->st) != 0
		               ? -1 : found_object(r, at, entry->name, entry->len, &row, known);
	}
	if (known)
		known_see(known, index_dir_slot(r->tree->dirs[at].dir), entry->name, entry->len,
		          &digest);
	errno = entry->error;
	return found_lost(r, at, entry->name, entry->len, entry->type);
}

/** Store all entries of a directory, and gather the next ones until all are stored.  @return 0, or
    -1. */
static int read_entries(struct refresh *r, struct gather *gather, struct known *known)
{
	struct gather_entry entry;
	for (;;) {
		for (size_t i = 0; gather_next(gather, &i, &entry);) {
			if (read_entry(r, gather->at, &entry, known) != 0)
				return -1;
		}
		/* A commit is harmless here: as the row of the directory is not stored yet, the
		   next update reads the directory again. */
		if (index_relieve(r->index) != 0)
			return -1;
		if (gather->fd < 0)
			return 0;
		if (gather_more(gather, &r->chain, refresh_threads(r)) != 0)
			return -1;
	}
}

/** Remove the objects and subdirectories of a directory that were not found when it was read.
    @return 0, or -1. */
static int read_missing(struct refresh *r, uint32_t at, struct known *known)
{
	const struct tree_dir *dirs = r->tree->dirs;
	const char *name;
	size_t len;
	while (known && (name = known_unseen(known, index_dir_slot(dirs[at].dir), &len))) {
		++r->counts.removed;
		if (index_remove(r->index, dirs[at].dir, name, len) != 0
		    || index_relieve(r->index) != 0)
			return -1;
	}
	for (uint32_t child = dirs[at].first; child != TREE_NONE; child = dirs[child].next) {
		if (!dirs[child].is_seen && refresh_note_gone(r, child) != 0)
			return -1;
	}
	return 0;
}

/** Handle a directory that could not be opened at its path.  @return 0, or -1. */
static int read_lost(struct refresh *r, const struct gather *gather)
{
	struct tree *tree = r->tree;
	uint32_t at = gather->at;
	errno = gather->error;
	int rc = lost_state(tree, at, gather->failed);
	r->incomplete |= rc > 0;
	if (rc < 0)
		return -1;
	if (!r->watching)
		return tree->dirs[at].state == TREE_GONE ? refresh_note_gone(r, at) : 0;
	if (tree->dirs[at].state == TREE_KEPT)
		return 0;
	/* The event of the name of the directory will show whether the directory exists: read it
	   after the next events. */
	tree->dirs[at].state = TREE_CHANGED;
	return list_add(&r->later, at);
}

/** Store the differences between the entries of a directory and the index, then its row.
    @return 0, or -1. */
static int read_store(struct refresh *r, struct gather *gather, struct known *known)
{
	struct tree *tree = r->tree;
	struct known *own;
	uint32_t at = gather->at;
	assert(tree->dirs[at].state == TREE_CHANGED && !gather->error);
	if (load_known(r, at, &known, &own) != 0)
		return -1;
	for (uint32_t child = tree->dirs[at].first; child != TREE_NONE;
	     child = tree->dirs[child].next)
		tree->dirs[child].is_seen = false;
	r->unsettled = false;
	int rc = read_entries(r, gather, known);
	if (rc == 0 && gather->partial && at == tree->root && !r->watching) {
		r->counts.root_error = gather->partial_error;
		rc = fail(gather->partial_error);
	}
	if (rc == 0 && !gather->partial)
		rc = read_missing(r, at, known);
	known_free(own);
	if (rc != 0)
		return -1;
	struct index_row row = {{0}};
	index_row_from(&row, &gather->st);
	if (gather->partial) {
		row.col[IC_FLAGS] |= IF_UNREAD;
		++r->counts.unread;
	}
	r->incomplete |= gather->partial || gather->has_odd;
	int64_t listed = gather->partial || r->unsettled ? 0 : gather->listed;
	++r->counts.read;
	tree_set_row(tree, at, &row, listed);
	tree->dirs[at].is_new = false;
	tree->dirs[at].state = TREE_READ;
	if (r->unsettled && r->watching && list_add(&r->later, at) != 0)
		return -1;
	return put_dir(r, at, &row, listed);
}

int refresh_read(struct refresh *r, uint32_t at, struct known *known, struct gather *gather)
{
	struct gather own = {.fd = -1};
	int rc = 0;
	assert(!gather || gather->at == at);
	/* After an error, gather again: if a directory above this one was moved meanwhile, the path
	   is new. */
	if (!gather || gather->error) {
		gather = &own;
		rc = gather_begin(gather, &r->chain, at, r->watching);
	}
	if (rc == 0)
		rc = gather->error ? read_lost(r, gather) : read_store(r, gather, known);
	gather_end(&own, r->os);
	return rc;
}
