/* SPDX-License-Identifier: MIT */
/**
 * A tree that a test knows, and the index that should agree with it.
 *
 * All that happens to it follows from its seed: a copy that makes the same steps has the same
 * state.
 */
#ifndef GM_TESTS_STORE_WORLD_H
#define GM_TESTS_STORE_WORLD_H

#include "index/store/store.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORLD_DIRS = 4000, WORLD_FILES = 40000 };

struct world_dir {
	index_dir dir;
	uint32_t parent;         /* position in dirs; the root has itself */
	char name[32];
	uint64_t ino, mtime;
	int64_t listed;
	uint32_t subdirs;
	bool live;
};

struct world_file {
	uint32_t dir;
	char name[32];
	uint64_t ino, size;
	bool live;
};

struct world {
	struct world_dir dirs[WORLD_DIRS];
	struct world_file files[WORLD_FILES];
	uint32_t ndirs, nfiles;
	uint64_t random, ino;
	int64_t fresh, looked;
	uint64_t generation;
};

struct tree;

/** Make a directory in memory, where a sync takes no time; to be removed by tree_end(). */
void world_begin(struct tree *tree);

/** The next random number below n. */
uint32_t world_random(struct world *world, uint32_t n);

/** Make a tree, of as many clusters as `dirs_each` directories give.  @return a world that the
    caller frees. */
struct world *world_new(uint64_t seed, uint32_t ndirs, uint32_t nfiles, uint32_t dirs_each);

/** Write it as a new index.  @return 0, or -1. */
int world_build(const struct world *world, struct os *os, int dirfd);

/** Begin a tree, write it there as a new index, and open that for writing. */
struct index *world_open(const struct world *world, struct os *os, struct tree *tree);

/** Change the world, and the index, unless it is NULL (then directories that are made later have
    no number).  @return 0, or -1. */
int world_step(struct world *world, struct index *index);

/** Make the steps up to the next commit, the same for each copy of a world.  @return 0, or -1. */
int world_steps(struct world *world, struct index *index);

/** Find the numbers of all directories by their paths.  @return 0, or -1. */
int world_resolve(struct world *world, struct index *index);

/** All objects as sorted lines; of the world, and of the index.  @return 0, or -1: the index
    cannot be read. */
void world_dump(const struct world *world, struct strbuf *out);
int index_dump(struct index *index, struct strbuf *out);

/** The dump of the world, as an allocated string. */
char *world_text(const struct world *world);

/** Whether an index opens, passes index_check(), and has a dump.  @why  Appended if not. */
bool index_has(struct os *os, int dirfd, const char *dump, struct strbuf *why);

#endif
