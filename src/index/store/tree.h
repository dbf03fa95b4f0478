/* SPDX-License-Identifier: MIT */
/**
 * All directories of an index, in memory.  An update compares each directory with the file system;
 * a watch finds directories by inode number and by name.
 *
 * A directory takes about 90 bytes and its name.
 */
#ifndef GM_INDEX_STORE_TREE_H
#define GM_INDEX_STORE_TREE_H

#include "base/map64.h"
#include "base/strbuf.h"
#include "index/store/store.h"

/** The value for "no directory" in place of an index in tree.dirs. */
#define TREE_NONE UINT32_MAX

/** The result of comparing a directory of the index with the file system. */
enum tree_state {
	TREE_UNSEEN,      /* not compared yet */
	TREE_SAME,        /* unchanged */
	TREE_CHANGED,     /* changed; not read yet */
	TREE_READ,        /* changed, and read */
	TREE_GONE,        /* not found at its path; it may have been moved */
	TREE_KEPT,        /* not reachable: covered by a mount, or an error occurred.  Its
	                     subdirectories are not compared */
};

struct tree_dir {
	index_dir dir;            /* INDEX_DIR_NONE: this element is free */
	uint32_t parent;          /* index in tree.dirs; TREE_NONE: this is the root */
	uint32_t first, next, prev;   /* first subdirectory; next and previous sibling */
	uint32_t chain;           /* next directory with this hash of parent and name */
	uint32_t name;            /* offset in tree.names of the name, which has a final NUL */
	uint8_t len;
	uint8_t state;            /* enum tree_state */
	bool is_unread;           /* IF_UNREAD is set in its row */
	bool is_new;              /* added by this update: the index has no objects of the directory
	                             yet */
	bool is_seen;             /* found in its parent, while the parent is being read */
	uint64_t ino;             /* 0: unknown, because a mount covered the directory */
	int64_t listed;           /* as in struct segment_slot */
	int64_t msec, csec;
	uint32_t mnsec, cnsec;
};

/** Invariants (tree_check()): the subdirectories of a directory are linked in both directions, and
    each names it as its parent; no directory is below itself; `count` elements are directories, the
    others are linked from `spare`; by_dir has the number of each directory; each is in the chain of
    its place.  by_ino has at most one directory for each inode number, which has that number. */
struct tree {
	struct tree_dir *dirs;
	size_t n, room;           /* number of elements, including free ones; allocated elements */
	uint32_t root, spare;     /* the root; the first free element, linked by `next` */
	struct strbuf names;
	size_t waste;             /* bytes in `names` that are no longer used */
	struct map64 by_ino, by_dir;   /* inode number, index_dir --> index in `dirs` */
	uint32_t *places;         /* hash table of parent and name --> index in `dirs`: heads of
	                             chains */
	size_t nplaces;           /* size of `places`: a power of two, or 0 */
	size_t count;             /* number of directories */
};

/** Read all directories of an index.
    @tree [out]
    @return 0, or -1.  Errors: EBADMSG, ENOMEM; ENOENT: the index is empty. */
int tree_load(struct tree *tree, struct index *index);
void tree_destroy(struct tree *tree);

/** Assert the invariants; does nothing if NDEBUG is defined. */
void tree_check(const struct tree *tree);

static inline const char *tree_name(const struct tree *tree, uint32_t at)
{
	assert(at < tree->n && tree->dirs[at].name + tree->dirs[at].len < tree->names.len);
	return strbuf_str(&tree->names) + tree->dirs[at].name;
}

/** Find a directory by its inode number, which is not 0; by its number in the index; by parent and
    name, unless its state is TREE_GONE.
    @return its index in `dirs`, or TREE_NONE. */
uint32_t tree_by_ino(const struct tree *tree, uint64_t ino);
uint32_t tree_by_dir(const struct tree *tree, index_dir dir);
uint32_t tree_child(const struct tree *tree, uint32_t parent, const char *name, size_t len);

/** Add a directory.  Set its attributes by tree_set_row().
    @return its index in `dirs`, or TREE_NONE (ENOMEM). */
uint32_t tree_add(struct tree *tree, uint32_t parent, const char *name, size_t len, index_dir dir,
                  uint64_t ino);

/** Store the attributes of a directory. */
void tree_set_row(struct tree *tree, uint32_t at, const struct index_row *row, int64_t listed);

/** Move or rename a directory.
    @parent  Not below the directory.  @name  Not in tree->names, which may move.
    @return 0, or -1 (ENOMEM). */
int tree_move(struct tree *tree, uint32_t at, uint32_t parent, const char *name, size_t len);

/** Remove a directory without subdirectories. */
void tree_drop(struct tree *tree, uint32_t at);

/** Whether the directory `at` is the directory `above` or below it. */
bool tree_is_below(const struct tree *tree, uint32_t at, uint32_t above);

/** Get the directory after `at` in preorder.  @return TREE_NONE: `at` is the last directory. */
uint32_t tree_next(const struct tree *tree, uint32_t at);

#endif
