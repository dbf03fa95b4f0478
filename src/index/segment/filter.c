/* SPDX-License-Identifier: MIT */
/*
 * Blocked Bloom filters (Putze, Sanders and Singler: Cache-, Hash- and Space-Efficient Bloom
 * Filters).  The upper half of a key's hash chooses a block; the product of the hash and an odd
 * number chooses the bits in the block.
 */
#include "index/segment/segment_impl.h"

uint64_t segment_hash(const char *key, size_t len)
{
	return XXH3_64bits(key, len);
}

static uint32_t block_of(uint64_t hash, uint32_t nblocks)
{
	assert(nblocks > 0);
	return (uint32_t)((hash >> 32) * nblocks >> 32);
}

/** Get the bits of a hash that choose the bits of a block: from the top, 10 bits for each of the
    FILTER_BITS bits that a key sets. */
static inline uint64_t bits_of(uint64_t hash)
{
	return hash * 0x9e3779b97f4a7c15u;
}

static inline unsigned next_bit(uint64_t *bits)
{
	unsigned bit = (unsigned)((*bits >> 54) * FILTER_BLOCK_BITS >> 10);
	*bits <<= 10;
	return bit;
}

void filter_add(uint8_t *blocks, uint32_t nblocks, uint64_t hash)
{
	uint8_t *block = blocks + (size_t)block_of(hash, nblocks) * FILTER_BLOCK;
	uint64_t bits = bits_of(hash);
	for (unsigned i = 0; i < FILTER_BITS; ++i) {
		unsigned bit = next_bit(&bits);
		block[bit / 8] |= (uint8_t)(1u << bit % 8);
	}
}

static uint32_t block_check(const uint8_t *block, uint32_t number, enum segment_filter filter)
{
	return checksum32(block, FILTER_BLOCK_BITS / 8,
	                                      (uint64_t)filter << 32 | number);
}

void filter_seal(uint8_t *blocks, uint32_t nblocks, enum segment_filter filter)
{
	for (uint32_t i = 0; i < nblocks; ++i) {
		uint8_t *block = blocks + (size_t)i * FILTER_BLOCK;
		store32(block + FILTER_BLOCK_BITS / 8, block_check(block, i, filter));
	}
}

bool filter_block_valid(const uint8_t *blocks, uint32_t number, enum segment_filter filter)
{
	const uint8_t *block = blocks + (size_t)number * FILTER_BLOCK;
	return load32(block + FILTER_BLOCK_BITS / 8) == block_check(block, number, filter);
}

int segment_may_have(struct segment *segment, enum segment_filter filter, uint64_t hash)
{
	const struct part *part = &segment->parts[SP_FILTERS + filter];
	uint32_t nblocks = (uint32_t)(part->len / FILTER_BLOCK);
	if (nblocks == 0)
		return 0;
	uint32_t number = block_of(hash, nblocks);
	if (!filter_block_valid(part->data, number, filter))
		return fail(EBADMSG);
	const uint8_t *block = part->data + (size_t)number * FILTER_BLOCK;
	uint64_t bits = bits_of(hash);
	int has = 1;
	for (unsigned i = 0; i < FILTER_BITS && has; ++i) {
		unsigned bit = next_bit(&bits);
		has = block[bit / 8] >> bit % 8 & 1;
	}
	return segment_intact(segment) == 0 ? has : -1;
}

const char *name_extension(const char *name, size_t len, size_t *ext_len)
{
	const char *dot = len > 1 ? memrchr(name + 1, '.', len - 1) : NULL;
	if (!dot)
		return NULL;
	*ext_len = len - (size_t)(dot + 1 - name);
	return dot + 1;
}
