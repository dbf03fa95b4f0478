/* SPDX-License-Identifier: MIT */
/*
 * Read columns: the minimum and maximum of each leaf, and its values.
 */
#include "index/segment/segment_impl.h"

#include <stdlib.h>

unsigned segment_reference(unsigned column)
{
	switch (column) {
	case IC_GID: return IC_UID;
	case IC_BLOCKS: return IC_SIZE;
	case IC_CSEC: return IC_MSEC;
	case IC_ASEC: case IC_BSEC: return IC_CSEC;
	case IC_CNSEC: return IC_MNSEC;
	case IC_ANSEC: case IC_BNSEC: return IC_CNSEC;
	default: return column;
	}
}

uint32_t segment_leaves(const struct segment *segment)
{
	return (uint32_t)(((uint64_t)segment->nrows + INDEX_LEAF - 1) / INDEX_LEAF);
}

uint32_t segment_leaf_rows(const struct segment *segment, uint32_t leaf)
{
	return segment_leaf_values(segment, leaf, 0);
}

uint32_t segment_leaf_values(const struct segment *segment, uint32_t leaf, unsigned column)
{
	assert(column < SC_COUNT);
	uint32_t all = column < SC_PARENT ? segment->nrows : segment->nslots;
	if ((uint64_t)leaf * INDEX_LEAF >= all)
		return 0;
	uint32_t left = all - leaf * INDEX_LEAF;
	return left < INDEX_LEAF ? left : INDEX_LEAF;
}

/** The packed values of a column in a leaf. */
struct packed {
	const uint8_t *values, *positions, *exceptions;
	uint64_t min, max;
	unsigned n, bits, exception_bits, exceptions_n;
	bool refers;
};

static int find_range(struct segment *segment, uint32_t leaf, unsigned column,
                      const uint8_t **range)
{
	if (segment_leaf_values(segment, leaf, column) == 0
	    || segment_verify(segment, SP_RANGES + column) != 0)
		return fail(EBADMSG);
	*range = segment->parts[SP_RANGES + column].data + (size_t)leaf * RANGE_SIZE;
	return 0;
}

int segment_range(struct segment *segment, uint32_t leaf, unsigned column, uint64_t *min,
                  uint64_t *max)
{
	const uint8_t *range;
	if (find_range(segment, leaf, column, &range) != 0)
		return -1;
	*min = load64(range);
	*max = load64(range + 8);
	return *min <= *max ? segment_intact(segment) : fail(EBADMSG);
}

int segment_leaf_range(struct segment *segment, uint32_t leaf, enum index_column column,
                       uint64_t *min, uint64_t *max)
{
	return segment_range(segment, leaf, column, min, max);
}

/** Find the packed values of a column in a leaf.  Verify their checksum when they are first
    used. */
static int find_packed(struct segment *segment, uint32_t leaf, unsigned column, struct packed *p)
{
	const uint8_t *range;
	if (find_range(segment, leaf, column, &range) != 0)
		return -1;
	p->min = load64(range);
	p->max = load64(range + 8);
	size_t offset = load32(range + 16);
	p->n = segment_leaf_values(segment, leaf, column);
	p->refers = range[24];
	p->bits = range[25];
	p->exception_bits = range[26];
	p->exceptions_n = range[27];
	const struct part *leaves = &segment->parts[SP_LEAVES];
	size_t positions = pack_size(p->n, p->bits), exceptions = positions + p->exceptions_n;
	size_t size = exceptions + pack_size(p->exceptions_n, p->exception_bits);
	if (p->min > p->max || range[24] > 1 || !pack_bits_valid(p->bits)
	    || !pack_bits_valid(p->exception_bits) || p->exceptions_n > p->n
	    || (p->refers && segment_reference(column) == column)
	    || leaves->len < PACK_PADDING || offset > leaves->len - PACK_PADDING
	    || size > leaves->len - PACK_PADDING - offset)
		return fail(EBADMSG);
	p->values = leaves->data + offset;
	p->positions = p->values + positions;
	p->exceptions = p->values + exceptions;
	uint32_t bit = UINT32_C(1) << column, *verified = &segment->verified[leaf];
	if (*verified & bit)
		return 0;
	if (checksum32(p->values, size, (uint64_t)column << 32 | leaf)
	    != load32(range + 20))
		return fail(EBADMSG);
	for (unsigned i = 0; i < p->exceptions_n; ++i) {
		if (p->positions[i] >= p->n || (i > 0 && p->positions[i] <= p->positions[i - 1]))
			return fail(EBADMSG);
	}
	*verified |= bit;
	return 0;
}

/** The largest valid value of a column.  IC_DIR and IC_NAME are numbers of slots and names; a
    cluster with rows has at least one slot and one name. */
static uint64_t greatest(const struct segment *segment, unsigned column)
{
	assert(segment->nrows == 0 || (segment->nslots > 0 && segment->nnames > 0));
	return column == IC_DIR ? segment->nslots - (uint64_t)1
	       : column == IC_NAME ? segment->nnames - (uint64_t)1 : UINT64_MAX;
}

/** Whether all values of a leaf are at most `number`, which is below 1 << 63. */
static bool at_most(const uint64_t *values, uint64_t number)
{
	/* For a larger value, the top bit of the value or of the difference is set.  SSE2 cannot
	   compare numbers of 64 bits, so a loop of comparisons would not become vector code. */
	uint64_t bad = 0;
	for (unsigned i = 0; i < INDEX_LEAF; ++i)
		bad |= values[i] | (number - values[i]);
	return bad >> 63 == 0;
}

int segment_decode(struct segment *segment, uint32_t leaf, unsigned column, uint64_t *values)
{
	struct packed p;
	if (find_packed(segment, leaf, column, &p) != 0)
		return -1;
	/* The compiler makes vector code of the loops below because their length, a whole leaf, is
	   constant. */
	memset(values + p.n, 0, (INDEX_LEAF - p.n) * sizeof(*values));
	unpack(p.values, values, p.n, p.bits);
	if (p.exceptions_n > 0) {
		uint64_t exceptions[INDEX_LEAF];
		unpack(p.exceptions, exceptions, p.exceptions_n, p.exception_bits);
		for (unsigned i = 0; i < p.exceptions_n; ++i)
			values[p.positions[i]] = exceptions[i];
	}
	if (p.refers) {
		/* So the recursion ends. */
		assert(segment_reference(column) < column);
		uint64_t reference[INDEX_LEAF];
		if (segment_decode(segment, leaf, segment_reference(column), reference) != 0)
			return -1;
		for (unsigned i = 0; i < INDEX_LEAF; ++i)
			values[i] = unzigzag(values[i]) + segment_predict(column, reference[i]);
	} else if (p.min != 0) {
		for (unsigned i = 0; i < INDEX_LEAF; ++i)
			values[i] += p.min;
	}
	uint64_t number = greatest(segment, column);
	return number == UINT64_MAX || at_most(values, number) ? segment_intact(segment)
	       : fail(EBADMSG);
}

int segment_leaf_column(struct segment *segment, uint32_t leaf, enum index_column column,
                        uint64_t *values)
{
	return segment_decode(segment, leaf, column, values);
}

/** Add the reference columns of a set of columns.  A reference column comes before the columns that
    are stored as differences to it, so one pass from the last column finds all. */
static uint32_t with_references(uint32_t columns)
{
	for (unsigned column = IC_COUNT; column-- > 0;) {
		if (columns >> column & 1)
			columns |= UINT32_C(1) << segment_reference(column);
	}
	return columns;
}

int segment_row(struct segment *segment, uint32_t row, uint32_t columns, struct index_row *out)
{
	uint32_t leaf = row / INDEX_LEAF;
	unsigned at = row % INDEX_LEAF;
	if (row >= segment->nrows)
		return fail(EBADMSG);
	for (uint32_t left = with_references(columns); left; left &= left - 1) {
		unsigned column = (unsigned)__builtin_ctz(left);
		struct packed p;
		if (find_packed(segment, leaf, column, &p) != 0)
			return -1;
		const uint8_t *exception = memchr(p.positions, (int)at, p.exceptions_n);
		uint64_t value = unpack_one(p.values, at, p.bits);
		if (exception)
			value = unpack_one(p.exceptions, (unsigned)(exception - p.positions),
			                   p.exception_bits);
		/* Columns are decoded in ascending order: the reference was decoded before. */
		assert(!p.refers || segment_reference(column) < column);
		uint64_t reference = out->col[segment_reference(column)];
		out->col[column] = p.refers ? unzigzag(value) + segment_predict(column, reference)
		                   : value + p.min;
		if (out->col[column] > greatest(segment, column))
			return fail(EBADMSG);
	}
	return segment_intact(segment);
}

int segment_slot(struct segment *segment, uint32_t slot, struct segment_slot *out)
{
	if (slot >= segment->nslots)
		return fail(EBADMSG);
	if (!segment->slots) {
		/* segment_open() verified that there are at most INDEX_SLOTS slots. */
		segment->slots = malloc(segment->nslots * sizeof(*segment->slots));
		if (!segment->slots)
			return -1;
	}
	uint32_t leaf = slot / INDEX_LEAF, n = segment_leaf_values(segment, leaf, SC_PARENT);
	assert(slot < INDEX_SLOTS && slot - leaf * INDEX_LEAF < n);
	if (!(segment->slots_decoded >> leaf & 1)) {
		uint64_t parent[INDEX_LEAF], row[INDEX_LEAF], name[INDEX_LEAF], listed[INDEX_LEAF];
		if (segment_decode(segment, leaf, SC_PARENT, parent) != 0
		    || segment_decode(segment, leaf, SC_ROW, row) != 0
		    || segment_decode(segment, leaf, SC_NAME, name) != 0
		    || segment_decode(segment, leaf, SC_LISTED, listed) != 0)
			return -1;
		struct segment_slot *slots = segment->slots + leaf * INDEX_LEAF;
		for (unsigned i = 0; i < n; ++i) {
			bool free = row[i] == UINT32_MAX;
			if (parent[i] > UINT32_MAX || (row[i] >= segment->nrows && !free)
			    || name[i] >= (uint64_t)segment->ndirnames + free
			    || !index_clock_valid(index_to_signed(listed[i])))
				return fail(EBADMSG);
			slots[i] = (struct segment_slot){
				.parent = (index_dir)parent[i], .row = (uint32_t)row[i],
				.name = (uint32_t)name[i], .listed = index_to_signed(listed[i]),
			};
		}
		segment->slots_decoded |= UINT32_C(1) << leaf;
	}
	*out = segment->slots[slot];
	return 0;
}
