/* SPDX-License-Identifier: MIT */
/*
 * Read the names of a cluster.  The front index tells which block has a name.  A block is
 * decompressed and checked when it is first used; the decoded names stay in memory.
 */
#include "index/segment/segment_impl.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <zstd.h>

/** The decoded names of a block, each with a final NUL.  Name i begins at starts[i] of `text`;
    starts[n] is the end of the last name. */
struct names_block {
	uint32_t n;
	uint16_t *starts;
	char *text;
};

_Static_assert(BLOCK_TEXT < UINT16_MAX, "positions in a block");

/** An entry of the front index, as described in segment_impl.h. */
struct front {
	uint32_t first, data, text, check;
};

static struct front front_at(const struct segment *segment, uint32_t block)
{
	assert(block <= segment->nblocks);
	const uint8_t *at = segment->parts[SP_FRONT].data + (size_t)block * FRONT_SIZE;
	return (struct front){load32(at), load32(at + 4), load32(at + 8), load32(at + 12)};
}

/** Get the first name of a block from the front index.  @return 0, or -1 (EBADMSG). */
static int first_name(const struct segment *segment, uint32_t block, const char **name,
                      size_t *len)
{
	const struct part *part = &segment->parts[SP_FRONT];
	size_t texts = ((size_t)segment->nblocks + 1) * FRONT_SIZE;
	uint32_t from = front_at(segment, block).text, to = front_at(segment, block + 1).text;
	if (from > to || to > part->len - texts)
		return fail(EBADMSG);
	*name = (const char *)part->data + texts + from;
	*len = to - from;
	return 0;
}

/** Compare name i of a block with a given name. */
static int compare_at(const struct names_block *block, uint32_t i, const char *name, size_t len)
{
	uint16_t start = block->starts[i], end = block->starts[i + 1];
	return name_compare(block->text + start, end - start - 1u, name, len);
}

/** Decode the names of a block from its decompressed data.
    @raw  COPY_BLOCK bytes after the data are readable.
    @return whether all names are valid and in ascending order. */
static bool read_names(struct names_block *block, const char *raw, size_t size)
{
	size_t n = block->n, from = 2 * n, at = 0, before_len = 0;
	if (from > size || memchr(raw + from, '\0', size - from)
	    || memchr(raw + from, '/', size - from))
		return false;
	for (size_t i = 0; i < n; ++i) {
		size_t shared = (uint8_t)raw[i], rest = (uint8_t)raw[n + i], len = shared + rest;
		char *name = block->text + at;
		const char *before = name - before_len - 1;
		if (shared > before_len || rest > size - from || len > INDEX_NAME_MAX
		    || len >= BLOCK_TEXT - at)
			return false;
		/* The writer shares as many bytes as possible, so the first byte that is not shared
		   decides the order of the two names. */
		if (i > 0 && (rest == 0 || (shared < before_len
		                            && (uint8_t)raw[from] <= (uint8_t)before[shared])))
			return false;
		copy_blocks(name, before, shared);
		copy_blocks(name + shared, raw + from, rest);
		name[len] = '\0';
		if (len <= 2 && name_is_dots(name, len))
			return false;
		block->starts[i] = (uint16_t)at;
		at += len + 1;
		assert(at <= BLOCK_TEXT);
		from += rest;
		before_len = len;
	}
	block->starts[n] = (uint16_t)at;
	return from == size;
}

/** Decompress a zstd frame into at most `room` bytes.
    @out_size [out]  The number of decompressed bytes.
    @return 0, or -1 (EBADMSG, ENOMEM). */
static int decompress(char *out, size_t room, const uint8_t *data, size_t size, size_t *out_size)
{
	/* A zstd context that is kept for the next block of any segment.  Creating a context takes
	   as long as decompressing a block in a virtual machine, where the CPUID instruction that
	   zstd uses is slow. */
	static _Atomic(ZSTD_DCtx *) kept;
	ZSTD_DCtx *zstd = atomic_exchange(&kept, NULL);
	if (!zstd)
		zstd = ZSTD_createDCtx();
	if (!zstd)
		return fail(ENOMEM);
	*out_size = ZSTD_decompressDCtx(zstd, out, room, data, size);
	ZSTD_freeDCtx(atomic_exchange(&kept, zstd));
	return ZSTD_isError(*out_size) ? fail(EBADMSG) : 0;
}

/** Decompress a block of names and decode it.  @return 0, or -1 (EBADMSG, ENOMEM). */
static int read_block(const struct segment *segment, uint32_t number, struct names_block *block)
{
	const struct part *part = &segment->parts[SP_NAMES];
	struct front front = front_at(segment, number), next = front_at(segment, number + 1);
	if (front.data > next.data || next.data > part->len)
		return fail(EBADMSG);
	/* Copy the data: the bytes of a map may change after their checksum was verified. */
	uint8_t data[ZSTD_COMPRESSBOUND(2 * BLOCK_TEXT)];
	size_t size = next.data - front.data;
	char raw[2 * BLOCK_TEXT + COPY_BLOCK];
	if (size > sizeof(data))
		return fail(EBADMSG);
	memcpy(data, part->data + front.data, size);
	if (checksum32(data, size, number) != front.check)
		return fail(EBADMSG);
	size_t raw_size;
	if (decompress(raw, 2 * BLOCK_TEXT, data, size, &raw_size) != 0)
		return -1;
	if (!read_names(block, raw, raw_size))
		return fail(EBADMSG);
	const char *first;
	size_t len;
	if (first_name(segment, number, &first, &len) != 0
	    || compare_at(block, 0, first, len) != 0)
		return fail(EBADMSG);
	return segment_intact(segment);
}

/** Get a block of names; decode it when it is first used.  @return NULL: EBADMSG or ENOMEM. */
static const struct names_block *get_block(struct segment *segment, uint32_t number)
{
	assert(number < segment->nblocks);
	if (!segment->blocks) {
		segment->blocks = calloc(segment->nblocks, sizeof(struct names_block *));
		if (!segment->blocks)
			return NULL;
	}
	if (segment->blocks[number])
		return segment->blocks[number];
	uint32_t first = front_at(segment, number).first, end = front_at(segment, number + 1).first;
	if (first >= end || end - first > BLOCK_TEXT)
		return fail_null(EBADMSG);
	uint32_t n = end - first;
	struct names_block *block;
	block = malloc(sizeof(*block) + (n + 1) * sizeof(*block->starts) + BLOCK_TEXT
	               + 2 * COPY_BLOCK);
	if (!block)
		return NULL;
	block->n = n;
	block->starts = (uint16_t *)(block + 1);
	block->text = (char *)(block->starts + n + 1);
	if (read_block(segment, number, block) != 0) {
		free(block);
		return NULL;
	}
	return segment->blocks[number] = block;
}

/** Find the block that has the name with number `id`.
    @return its number; UINT32_MAX (EBADMSG): the front index is damaged. */
static uint32_t find_block(struct segment *segment, uint32_t id)
{
	uint32_t low = 0, high = segment->nblocks;
	if (segment_verify(segment, SP_FRONT) != 0)
		return UINT32_MAX;
	/* The names of directories are in the first blocks, so try blocks 1, 2, 4 ... as upper
	   limit. */
	for (uint32_t i = 1; i < high && id < segment->ndirnames; i *= 2) {
		if (id < front_at(segment, i).first)
			high = i;
		else
			low = i + 1;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (front_at(segment, middle).first <= id)
			low = middle + 1;
		else
			high = middle;
	}
	errno = EBADMSG;
	return low - 1;
}

/** Find a name in the blocks from `low` up to but excluding `high`.
    @return as segment_find_name(). */
static int find_name(struct segment *segment, uint32_t low, uint32_t high, const char *name,
                     size_t len, uint32_t *id)
{
	uint32_t begin = low;
	assert(low <= high && high <= segment->nblocks);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *first;
		size_t first_len;
		if (first_name(segment, middle, &first, &first_len) != 0)
			return -1;
		if (name_compare(first, first_len, name, len) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == begin)
		return 0;
	uint32_t number = low - 1;
	const struct names_block *block = get_block(segment, number);
	if (!block)
		return -1;
	for (low = 0, high = block->n; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare_at(block, middle, name, len);
		if (order == 0) {
			*id = front_at(segment, number).first + middle;
			return *id < segment->nnames ? 1 : fail(EBADMSG);
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

int segment_find_name(struct segment *segment, const char *name, size_t len, bool dirs,
                      uint32_t *id)
{
	/* `end` is the number of the first block without names of directories. */
	uint32_t ndirs = segment->ndirnames;
	uint32_t end = ndirs == 0 ? 0 : find_block(segment, ndirs - 1) + 1;
	if (segment_verify(segment, SP_FRONT) != 0 || (ndirs > 0 && end == 0))
		return -1;
	int found = segment_may_have(segment, SF_NAMES,
	                             segment_dir_hash(segment_hash(name, len)));
	if (found > 0)
		found = find_name(segment, 0, end, name, len, id);
	if (found == 0 && !dirs)
		found = find_name(segment, end, segment->nblocks, name, len, id);
	return segment_intact(segment) == 0 ? found : -1;
}

const char *segment_name(struct segment *segment, uint32_t id, size_t *len)
{
	uint32_t number = id < segment->nnames ? find_block(segment, id) : UINT32_MAX;
	if (number == UINT32_MAX)
		return fail_null(EBADMSG);
	const struct names_block *block = get_block(segment, number);
	if (!block)
		return NULL;
	uint32_t i = id - front_at(segment, number).first;
	if (i >= block->n || segment_intact(segment) != 0)
		return fail_null(EBADMSG);
	*len = block->starts[i + 1] - block->starts[i] - 1u;
	return block->text + block->starts[i];
}

int segment_check_names(struct segment *segment)
{
	if (segment_verify(segment, SP_FRONT) != 0)
		return -1;
	if (front_at(segment, 0).first != 0
	    || front_at(segment, segment->nblocks).first != segment->nnames
	    || front_at(segment, segment->nblocks).data != segment->parts[SP_NAMES].len)
		return fail(EBADMSG);
	bool split = segment->ndirnames == 0 || segment->ndirnames == segment->nnames;
	for (uint32_t i = 0; i < segment->nblocks; ++i) {
		const struct names_block *block = get_block(segment, i);
		if (!block)
			return -1;
		if (i == 0)
			continue;
		const struct names_block *before = segment->blocks[i - 1];
		bool splits = front_at(segment, i).first == segment->ndirnames;
		split |= splits;
		if (!splits
		    && compare_at(before, before->n - 1, block->text, block->starts[1] - 1u) >= 0)
			return fail(EBADMSG);
	}
	return split ? segment_intact(segment) : fail(EBADMSG);
}

void segment_trim_names(struct segment *segment)
{
	for (uint32_t i = 0; segment->blocks && i < segment->nblocks; ++i)
		free(segment->blocks[i]);
	free(segment->blocks);
	segment->blocks = NULL;
}
