/* SPDX-License-Identifier: MIT */
#include "index/build/build_impl.h"

#include "base/array.h"
#include "index/build/spill.h"
#include "os/change.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BUFFER = 1024 * 1024,    /* bytes collected before they are written to the spill file */
	ROWS = 64 * 1024,        /* maximum bytes of rows of a directory before they become a
	                            block */
};

struct index_build *index_build_new(struct os *os, int dirfd)
{
	struct index_build *build = calloc(1, sizeof(*build));
	if (!build)
		return NULL;
	build->os = os;
	build->spill = -1;
	build->writer = index_writer_new(os, dirfd);
	if (build->writer)
		build->spill = os_create_unnamed(os, dirfd);
	if (build->spill >= 0)
		return build;
	int error = errno;
	index_build_free(build);
	return fail_null(error);
}

void index_build_free(struct index_build *build)
{
	if (!build)
		return;
	index_writer_free(build->writer);
	os_close(build->os, build->spill);
	free(build->tree);
	free(build->dirs);
	strbuf_destroy(&build->names);
	strbuf_destroy(&build->buffer);
	strbuf_destroy(&build->rows);
	free(build);
}

/** Append the bytes in build->buffer to the spill file.  @return 0, or -1. */
static int write_buffer(struct index_build *build)
{
	const char *bytes = strbuf_text(&build->buffer);
	if (!bytes)
		return -1;
	for (size_t at = 0; at < build->buffer.len;) {
		ssize_t n = os_write(build->os, build->spill, bytes + at, build->buffer.len - at);
		if (n <= 0)
			return n < 0 ? -1 : fail(ENOSPC);
		at += (size_t)n;
	}
	build->spilled += build->buffer.len;
	strbuf_reset(&build->buffer);
	return 0;
}

/** Add a block with rows of directory i.  @return 0, or -1. */
static int put_block(struct index_build *build, uint32_t i, const char *bytes, size_t size,
                     uint32_t rows)
{
	struct build_dir *dir = &build->dirs[i];
	struct build_block block = {0, dir->last, dir->last_size, rows};
	const size_t at = build->buffer.len;
	assert(i < build->n && rows > 0);
	assert(dir->last_size == 0
	       || dir->last + dir->last_size <= build->spilled + build->buffer.len);
	if (size > UINT32_MAX - sizeof(block))
		return fail(EFBIG);
	dir->last = build->spilled + at;
	dir->last_size = (uint32_t)(sizeof(block) + size);
	strbuf_add(&build->buffer, (const char *)&block, sizeof(block));
	strbuf_add(&build->buffer, bytes, size);
	if (!build->buffer.failed) {
		char *to = build->buffer.data + at;
		block.sum = build_block_sum(to, dir->last_size, dir->last);
		memcpy(to, &block.sum, sizeof(block.sum));
	}
	return build->buffer.len < BUFFER && !build->buffer.failed ? 0 : write_buffer(build);
}

/** Make a block of the rows in build->rows.  @return 0, or -1. */
static int close_rows(struct index_build *build)
{
	const char *rows = strbuf_text(&build->rows);
	int rc = rows ? 0 : -1;
	if (rc == 0 && build->nrows > 0)
		rc = put_block(build, build->open, rows, build->rows.len, build->nrows);
	strbuf_reset(&build->rows);
	build->nrows = 0;
	return rc;
}

/** Add the row of an object in a directory; if the name is "", the row of the directory itself.
    @return 0, or -1. */
static int add_row(struct index_build *build, uint32_t dir, const char *name, size_t len,
                   const struct index_row *row)
{
	assert(dir < build->n && len <= INDEX_NAME_MAX);
	if (build->open != dir || build->rows.len > ROWS) {
		if (close_rows(build) != 0)
			return -1;
		build->open = dir;
	}
	spill_put(&build->rows, name, len, row);
	++build->nrows;
	return build->rows.failed ? fail(ENOMEM) : 0;
}

uint32_t index_build_dir(struct index_build *build, uint32_t parent, const char *name, size_t len,
                         const struct index_row *row, int64_t listed)
{
	const uint32_t i = build->n;
	/* The root, without a name, is the first; index_pack() relies on the order. */
	assert(i == 0 ? len == 0 : parent < i && len > 0);
	if (i == UINT32_MAX || len > INDEX_NAME_MAX || build->names.len > UINT32_MAX - len) {
		errno = EFBIG;
		return UINT32_MAX;
	}
	if (!ARRAY_ROOM(build->tree, i, &build->tree_room)
	    || !ARRAY_ROOM(build->dirs, i, &build->dirs_room))
		return UINT32_MAX;
	build->tree[i] = (struct pack_dir){.parent = parent};
	build->dirs[i] = (struct build_dir){
		.listed = listed, .name = (uint32_t)build->names.len, .len = (uint8_t)len,
	};
	strbuf_add(&build->names, name, len);
	if (build->names.failed) {
		errno = ENOMEM;
		return UINT32_MAX;
	}
	++build->n;
	return !row || index_build_dir_row(build, i, row, listed) == 0 ? i : UINT32_MAX;
}

int index_build_dir_row(struct index_build *build, uint32_t dir, const struct index_row *row,
                        int64_t listed)
{
	assert(dir < build->n);
	build->dirs[dir].listed = listed;
	return add_row(build, dir, "", 0, row);
}

void index_build_unread(struct index_build *build, uint32_t dir)
{
	assert(dir < build->n);
	build->dirs[dir].unread = true;
}

const char *index_build_name(const struct index_build *build, uint32_t dir, size_t *len)
{
	assert(dir < build->n);
	*len = build->dirs[dir].len;
	return build->names.data + build->dirs[dir].name;
}

uint32_t index_build_parent(const struct index_build *build, uint32_t dir)
{
	return build->tree[dir].parent;
}

int index_build_add(struct index_build *build, uint32_t dir, const char *name, size_t len,
                    const struct index_row *row)
{
	if (len == 0 || len > INDEX_NAME_MAX)
		return fail(EINVAL);
	++build->tree[dir].rows;
	return add_row(build, dir, name, len, row);
}

int index_build_put(struct index_build *build, uint32_t dir, const char *bytes, size_t size,
                    uint32_t rows)
{
	assert(dir < build->n && rows > 0 && size > 0);
	build->tree[dir].rows += rows;
	return put_block(build, dir, bytes, size, rows);
}

int build_flush(struct index_build *build)
{
	return close_rows(build) == 0 ? write_buffer(build) : -1;
}
