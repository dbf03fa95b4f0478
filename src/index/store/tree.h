/* SPDX-License-Identifier: MIT */
/**
 * All directories of an index, in memory: for an update, which compares each with the file system,
 * and for a watch, which looks directories up by inode number and by name.
 *
 * Some 90 bytes and the name for each directory.
 */
#ifndef GM_INDEX_STORE_TREE_H
#define GM_INDEX_STORE_TREE_H

#include "base/map64.h"
#include "base/strbuf.h"
#include "index/store/store.h"

/** No directory. */
#define TREE_NONE UINT32_MAX

/** What an update knows of a directory. */
enum tree_state {
	TREE_UNSEEN,      /* not compared yet */
	TREE_SAME,        /* as in the index */
	TREE_CHANGED,     /* to be read again */
	TREE_READ,        /* was read */
	TREE_GONE,        /* not in its place; perhaps in another one */
	TREE_KEPT,        /* not reachable: covered by a mount, or an error.  What is below it is
	                     not compared */
};

struct tree_dir {
	index_dir dir;            /* INDEX_DIR_NONE: this element is free */
	uint32_t parent;          /* numbers in struct tree; of the root TREE_NONE */
	uint32_t first, next, prev;   /* its subdirectories; its siblings */
	uint32_t chain;           /* the next directory whose place has the same hash */
	uint32_t name;            /* where its name is; with a final NUL */
	uint8_t len;
	uint8_t state;            /* enum tree_state */
	bool is_unread;           /* IF_UNREAD */
	bool is_new;              /* the index has none of its objects yet */
	bool is_seen;             /* while its parent is read: it was found there */
	uint64_t ino;             /* 0: unknown, since a mount covered it */
	int64_t listed;           /* as in struct segment_slot */
	int64_t msec, csec;
	uint32_t mnsec, cnsec;
};

struct tree {
	struct tree_dir *dirs;
	size_t n, room;           /* elements, including free ones */
	uint32_t root, spare;     /* the root; the first free element, linked by next */
	struct strbuf names;
	size_t waste;             /* bytes of names that are not used any more */
	struct map64 by_ino, by_dir;   /* numbers of directories */
	uint32_t *places;         /* heads of chains, by parent and name */
	size_t nplaces;           /* a power of two, or 0 */
	size_t count;             /* directories */
};

/** Read all directories of an index.  @tree [out]  @return 0, or -1.
    Errors: EBADMSG, ENOMEM; ENOENT: the index is empty. */
int tree_load(struct tree *tree, struct index *index);
void tree_destroy(struct tree *tree);

static inline const char *tree_name(const struct tree *tree, uint32_t at)
{
	return strbuf_str(&tree->names) + tree->dirs[at].name;
}

/** Find a directory by its inode number (not 0), by its number in the index, by its place
    (unless it is gone from there).
    @return its number, or TREE_NONE. */
uint32_t tree_by_ino(const struct tree *tree, uint64_t ino);
uint32_t tree_by_dir(const struct tree *tree, index_dir dir);
uint32_t tree_child(const struct tree *tree, uint32_t parent, const char *name, size_t len);

/** Add a directory.  Its attributes are set by tree_set_row().
    @return its number, or TREE_NONE (ENOMEM). */
uint32_t tree_add(struct tree *tree, uint32_t parent, const char *name, size_t len, index_dir dir,
                  uint64_t ino);

/** Note the attributes of a directory. */
void tree_set_row(struct tree *tree, uint32_t at, const struct index_row *row, int64_t listed);

/** Move or rename a directory.  @return 0, or -1 (ENOMEM). */
int tree_move(struct tree *tree, uint32_t at, uint32_t parent, const char *name, size_t len);

/** Remove a directory without subdirectories. */
void tree_drop(struct tree *tree, uint32_t at);

/** Whether a directory is another one, or below it. */
bool tree_is_below(const struct tree *tree, uint32_t at, uint32_t above);

/** The directory that follows in preorder.  @return TREE_NONE at the end. */
uint32_t tree_next(const struct tree *tree, uint32_t at);

#endif
