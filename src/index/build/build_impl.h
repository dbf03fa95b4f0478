/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of the builder.
 */
#ifndef GM_INDEX_BUILD_BUILD_IMPL_H
#define GM_INDEX_BUILD_BUILD_IMPL_H

#include "base/strbuf.h"
#include "index/build/build.h"
#include "index/build/pack.h"

/** A block of the spill file, followed by rows. */
struct build_block {
	uint64_t prev;           /* as in struct build_dir */
	uint32_t prev_size;
	uint32_t rows;
};

/** A directory, beside its struct pack_dir. */
struct build_dir {
	uint64_t last;           /* offset of its newest block in the spill file */
	int64_t listed;
	uint32_t last_size;      /* of that block; 0: none */
	uint32_t name;           /* offset in names */
	uint8_t len;
	bool unread;
};

struct index_build {
	struct os *os;
	struct index_writer *writer;
	struct pack_dir *tree;   /* n directories */
	struct build_dir *dirs;
	uint32_t n;
	size_t tree_room, dirs_room;
	struct strbuf names;
	int spill;
	uint64_t spilled;        /* bytes in the file */
	struct strbuf buffer;    /* blocks that follow them */
	uint32_t open;           /* a directory whose rows wait in `rows` */
	struct strbuf rows;
	uint32_t nrows;
};

/** Write what waits to the spill file.  @return 0, or -1. */
int build_flush(struct index_build *build);

#endif
