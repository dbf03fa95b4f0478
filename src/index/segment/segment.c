/* SPDX-License-Identifier: MIT */
/*
 * Open a cluster: read its header and find its parts.
 */
#include "index/segment/segment_impl.h"

#include <stdlib.h>

_Static_assert(SC_COUNT <= 32, "segment->verified has a bit for each column");
_Static_assert(INDEX_SLOTS / INDEX_LEAF <= 32, "segment->slots_decoded has a bit for each leaf");

/** Read the offset and length of each part.  @return whether all parts are inside the segment. */
static bool read_parts(struct segment *segment, size_t size)
{
	for (unsigned i = 0; i < SP_COUNT; ++i) {
		const uint8_t *at = segment->data + PARTS_AT + (size_t)24 * i;
		uint64_t offset = load64(at), len = load64(at + 8);
		if (offset % 8 != 0 || offset > size || len > size - offset)
			return false;
		segment->parts[i] = (struct part){
			.data = segment->data + offset, .len = (size_t)len,
			.check = load64(at + 16),
		};
	}
	return true;
}

/** Whether the lengths of the parts match the numbers of rows, slots and blocks in the header. */
static bool lengths_valid(const struct segment *segment)
{
	uint64_t slot_leaves = ((uint64_t)segment->nslots + INDEX_LEAF - 1) / INDEX_LEAF;
	for (unsigned i = 0; i < SC_COUNT; ++i) {
		uint64_t leaves = i < SC_PARENT ? segment_leaves(segment) : slot_leaves;
		if (segment->parts[SP_RANGES + i].len != leaves * RANGE_SIZE)
			return false;
	}
	for (unsigned i = SP_FILTERS; i <= SP_FILTERS + SF_TRIGRAMS; ++i) {
		if (segment->parts[i].len % FILTER_BLOCK != 0
		    || segment->parts[i].len / FILTER_BLOCK > UINT32_MAX)
			return false;
	}
	return segment->parts[SP_FRONT].len >= ((uint64_t)segment->nblocks + 1) * FRONT_SIZE
	       /* Each name is used by a row, so there are at most as many names as rows.  The
	          lengths of the ranges have confirmed the number of rows. */
	       && segment->nnames <= segment->nrows
	       && segment->nblocks <= segment->nnames && segment->ndirnames <= segment->nnames
	       && (segment->nblocks > 0) == (segment->nnames > 0)
	       && (segment->nrows == 0 || (segment->nslots > 0 && segment->nnames > 0))
	       && segment->nslots <= INDEX_SLOTS && segment->parts[SP_NAMES].len <= UINT32_MAX;
}

struct segment *segment_open(const void *data, size_t size)
{
	const uint8_t *bytes = data;
	if (size < HEADER_SIZE || (uintptr_t)data % 8 != 0 || memcmp(bytes, SEGMENT_MAGIC, 8) != 0)
		return fail_null(EBADMSG);
	if (load32(bytes + 8) != SEGMENT_VERSION)
		return fail_null(EPROTONOSUPPORT);
	if (XXH3_64bits(bytes, HEADER_SIZE - 8) != load64(bytes + HEADER_SIZE - 8)
	    || load64(bytes + 40) != size)
		return fail_null(EBADMSG);
	struct segment *segment = calloc(1, sizeof(*segment));
	if (!segment)
		return NULL;
	segment->data = bytes;
	segment->nrows = load32(bytes + 12);
	segment->nslots = load32(bytes + 16);
	segment->nnames = load32(bytes + 20);
	segment->nblocks = load32(bytes + 24);
	segment->ndirnames = load32(bytes + 28);
	segment->lsn = load64(bytes + 32);
	if (!read_parts(segment, size) || !lengths_valid(segment)) {
		segment_close(segment);
		return fail_null(EBADMSG);
	}
	size_t leaves = segment_leaves(segment), slot_leaves = INDEX_SLOTS / INDEX_LEAF;
	segment->verified = calloc(leaves > slot_leaves ? leaves : slot_leaves,
	                           sizeof(*segment->verified));
	if (!segment->verified) {
		segment_close(segment);
		return fail_null(ENOMEM);
	}
	return segment;
}

void segment_guard(struct segment *segment, const atomic_bool *lost)
{
	segment->lost = lost;
}

void segment_close(struct segment *segment)
{
	if (!segment)
		return;
	segment_trim(segment);
	free(segment->verified);
	free(segment);
}

void segment_trim(struct segment *segment)
{
	segment_trim_names(segment);
	free(segment->slots);
	segment->slots = NULL;
	segment->slots_decoded = 0;
}

uint32_t segment_rows(const struct segment *segment)
{
	return segment->nrows;
}

uint32_t segment_slots(const struct segment *segment)
{
	return segment->nslots;
}

uint64_t segment_lsn(const struct segment *segment)
{
	return segment->lsn;
}

uint32_t segment_names(const struct segment *segment)
{
	return segment->nnames;
}

int segment_verify(struct segment *segment, unsigned number)
{
	struct part *part = &segment->parts[number];
	/* The other parts have checksums in their blocks or leaves. */
	assert(number == SP_FRONT || (number >= SP_RANGES && number < SP_COUNT));
	if (!part->verified && XXH3_64bits_withSeed(part->data, part->len, number) != part->check)
		return fail(EBADMSG);
	part->verified = true;
	return 0;
}
