/* SPDX-License-Identifier: MIT */
/**
 * Open the directories of an index.  Each is opened relative to its parent; symlinks are not
 * followed, and other mounts are not entered.
 *
 * The directories from the root to the last opened directory stay open.  So if directories are
 * opened in preorder, each is opened once.  In a deep tree, the directories near the root are
 * closed.
 */
#ifndef GM_INDEX_FOLLOW_CHAIN_H
#define GM_INDEX_FOLLOW_CHAIN_H

#include "index/store/tree.h"
#include "os/os.h"

#include <errno.h>

/** Invariants: first <= n <= room; links from `first` up to `n` are open, at most OPEN_MAX_LINKS;
    each link is the parent of the next one, and the first a subdirectory of the root. */
struct chain {
	struct os *os;            /* os and tree are borrowed */
	const struct tree *tree;
	int rootfd;               /* root directory of the index; borrowed */
	const struct map64 *covered;   /* hashes, by map64_text(), of the names of all mount points
	                                  below the root.  statx(2) of such a name could block;
	                                  borrowed */
	struct k_statx root, st;  /* attributes of the root directory, of the last opened
	                             directory */
	struct chain_link { uint32_t at; int fd; } *links;   /* the open directories below the
	                                                        root */
	size_t n, room;
	size_t first;             /* the links with a lower index are closed */
};

/** Begin with no open directory.  @return 0, or -1.  Errors: those of statx(2). */
int chain_init(struct chain *chain, struct os *os, const struct tree *tree, int rootfd,
               const struct map64 *covered);
void chain_destroy(struct chain *chain);

/** Close all directories, so that directories are opened again by their present names. */
void chain_close(struct chain *chain);

/** Open a directory.  chain->st becomes the attributes of the directory, unless the directory was
    open before.
    @return an O_PATH descriptor, valid until the next call, or -1. Errors: those of openat(2),
    about the directory of chain_failed(); ESTALE: another object has the name of this directory;
    EXDEV: a mount covers the directory. */
int chain_open(struct chain *chain, uint32_t at);

/** After an error of chain_open(): get the directory that could not be opened, which is the
    requested one or one above it. */
uint32_t chain_failed(const struct chain *chain);

/** Whether an error is a lack of memory or descriptors.  Such an error ends an update, since it
    says nothing about the file. */
static inline bool chain_is_fatal(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE;
}

/** Get the attributes of an entry of an open directory.
    @name  "": the directory itself.
    @return 0, or -1.  Errors: those of statx(2); EXDEV: a mount covers the entry.  If the name is
    in `covered`, the entry is opened without entering a mount. */
int chain_look(struct chain *chain, int fd, const char *name, struct k_statx *st);

/** Whether an object is the directory `at` of the index, by its inode number.  Number 0 in the
    index matches every directory: when it was indexed, a mount covered it.
    @return false with errno ESTALE. */
bool chain_is_dir(const struct chain *chain, uint32_t at, const struct k_statx *st);

/** Whether an object is on another device than the root directory: in another subvolume of
    btrfs. */
bool chain_is_foreign(const struct chain *chain, const struct k_statx *st);

#endif
