/* SPDX-License-Identifier: MIT */
/**
 * Declarations that the files of build/ share.
 */
#ifndef GM_INDEX_BUILD_BUILD_IMPL_H
#define GM_INDEX_BUILD_BUILD_IMPL_H

#include "base/strbuf.h"
#include "index/build/build.h"
#include "index/build/pack.h"

#include <xxhash.h>

/** The header of a block of the spill file.  Rows follow it. */
struct build_block {
	uint64_t sum;            /* build_block_sum() */
	uint64_t prev;           /* offset of the previous block of the directory */
	uint32_t prev_size;
	uint32_t rows;
};

/** The checksum of the bytes of a block after `sum`.  @offset  Of the block in the spill file. */
static inline uint64_t build_block_sum(const char *block, size_t size, uint64_t offset)
{
	const size_t from = sizeof(uint64_t);
	return XXH3_64bits_withSeed(block + from, size - from, offset);
}

/** A directory; struct pack_dir has its other members. */
struct build_dir {
	uint64_t last;           /* offset of its newest block in the spill file */
	int64_t listed;
	uint32_t last_size;      /* size of its newest block in bytes; 0: no block */
	uint32_t name;           /* offset in build->names */
	uint8_t len;
	bool unread;
};

/** Invariants: the parent of each directory but the root has a smaller number; the blocks of a
    directory are linked from the newest to the oldest, each at a lower offset; `rows` are of the
    directory `open`. */
struct index_build {
	struct os *os;
	struct index_writer *writer;
	struct pack_dir *tree;   /* [directory], n directories */
	struct build_dir *dirs;
	uint32_t n;
	size_t tree_room, dirs_room;
	struct strbuf names;
	int spill;
	uint64_t spilled;        /* bytes written to the file */
	struct strbuf buffer;    /* blocks that are not written to the file yet */
	uint32_t open;           /* the directory of the rows in `rows` */
	struct strbuf rows;
	uint32_t nrows;
};

/** Write all rows in memory to the spill file.  @return 0, or -1. */
int build_flush(struct index_build *build);

#endif
