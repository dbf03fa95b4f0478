/* SPDX-License-Identifier: MIT */
/**
 * Opening the directories of an index, each relative to its parent, through no symlink and into no
 * other mount.
 *
 * The directories from the root to the one that was opened last stay open, so that in preorder each
 * is opened once.  Of a deep tree those near the root are closed.
 */
#ifndef GM_INDEX_FOLLOW_CHAIN_H
#define GM_INDEX_FOLLOW_CHAIN_H

#include "index/store/tree.h"
#include "os/os.h"

#include <errno.h>

struct chain {
	struct os *os;            /* borrowed, as is tree */
	const struct tree *tree;
	int rootfd;               /* the root of the index; borrowed */
	const struct map64 *covered;   /* map64_text() of each name that another mount covers in
	                             some directory, and where statx(2) could block; borrowed */
	struct k_statx root, st;  /* the root; the directory that was opened last */
	struct chain_link { uint32_t at; int fd; } *links;   /* below the root */
	size_t n, room;
	size_t first;             /* links before this one are closed */
};

/** Begin.  @return 0, or -1: errors of statx(2). */
int chain_init(struct chain *chain, struct os *os, const struct tree *tree, int rootfd,
               const struct map64 *covered);
void chain_destroy(struct chain *chain);

/** Close all directories: those opened later are the ones that exist then. */
void chain_close(struct chain *chain);

/** Open a directory, and fill chain->st if it was not open before.
    @return an O_PATH descriptor, valid until the next call, or -1.
    Errors: those of openat(2); ESTALE: another object has its name; EXDEV: a mount covers it.
    They are those of chain_failed(). */
int chain_open(struct chain *chain, uint32_t at);

/** After an error of chain_open(): the directory that could not be opened, or one above it. */
uint32_t chain_failed(const struct chain *chain);

/** Whether an error of these functions is a lack of memory or descriptors, which ends an update: it
    says nothing of the file. */
static inline bool chain_is_fatal(int error)
{
	return error == ENOMEM || error == EMFILE || error == ENFILE;
}

/** Get the attributes of an entry of an open directory.
    @name  "": the directory itself.
    @return 0, or -1.  Errors: those of statx(2); EXDEV: a mount covers it, which was not
    touched if its name is in `covered`. */
int chain_look(struct chain *chain, int fd, const char *name, struct k_statx *st);

/** Whether an object is the directory of the index.  What a mount covered, had no number (0).
    @return false with errno ESTALE. */
bool chain_is_dir(const struct chain *chain, uint32_t at, const struct k_statx *st);

/** Whether an object is in another subvolume than the root. */
bool chain_is_foreign(const struct chain *chain, const struct k_statx *st);

#endif
