/* SPDX-License-Identifier: MIT */
/**
 * Damaging a cluster of an index so that its checksums are right: what a reader meets that somebody
 * made.
 */
#ifndef GM_TESTS_SEAL_SEGMENT_H
#define GM_TESTS_SEAL_SEGMENT_H

#include "index/segment/segment_impl.h"

#include <stdbool.h>
#include <stdint.h>

/** Find a part.  @return whether it lies in the cluster. */
static bool part_at(uint8_t *bytes, size_t size, unsigned part, uint8_t **data, size_t *len)
{
	const uint8_t *at = bytes + PARTS_AT + (size_t)24 * part;
	uint64_t offset = load64(at), n = load64(at + 8);
	if (offset > size || n > size - offset)
		return false;
	*data = bytes + offset;
	*len = (size_t)n;
	return true;
}

/** Put the checksums of packed values right. */
static void seal_leaves(uint8_t *bytes, size_t size, unsigned column)
{
	uint8_t *leaves, *ranges;
	size_t leaves_len, len;
	uint32_t all = load32(bytes + (column < SC_PARENT ? 12 : 16));
	if (!part_at(bytes, size, SP_LEAVES, &leaves, &leaves_len)
	    || !part_at(bytes, size, SP_RANGES + column, &ranges, &len))
		return;
	for (uint32_t leaf = 0; (leaf + 1ul) * RANGE_SIZE <= len; ++leaf) {
		uint8_t *range = ranges + (size_t)leaf * RANGE_SIZE;
		uint32_t left = (uint64_t)leaf * INDEX_LEAF < all ? all - leaf * INDEX_LEAF : 0;
		uint32_t offset = load32(range + 16), n = left < INDEX_LEAF ? left : INDEX_LEAF;
		size_t packed = pack_size(n, range[25]) + range[27]
		                + pack_size(range[27], range[26]);
		/* Also of values that end after the part. */
		if (offset <= leaves_len && packed <= (size_t)(bytes + size - leaves) - offset)
			store32(range + 20, checksum32(leaves + offset, packed,
			                               (uint64_t)column << 32 | leaf));
	}
}

/** Put the checksums of blocks of names right. */
static void seal_names(uint8_t *bytes, size_t size)
{
	uint8_t *names, *front;
	size_t names_len, len;
	if (!part_at(bytes, size, SP_NAMES, &names, &names_len)
	    || !part_at(bytes, size, SP_FRONT, &front, &len))
		return;
	for (uint32_t i = 0; (i + 2ul) * FRONT_SIZE <= len; ++i) {
		uint8_t *at = front + (size_t)i * FRONT_SIZE;
		uint32_t from = load32(at + 4), to = load32(at + FRONT_SIZE + 4);
		if (from <= to && to <= names_len)
			store32(at + 12, checksum32(names + from, to - from, i));
	}
}

/** Put magic, version, size and all checksums right. */
static void seal_segment(uint8_t *bytes, size_t size)
{
	uint8_t *data;
	size_t len;
	if (size < HEADER_SIZE)
		return;
	memcpy(bytes, SEGMENT_MAGIC, 8);
	store32(bytes + 8, SEGMENT_VERSION);
	store64(bytes + 40, size);
	for (unsigned column = 0; column < SC_COUNT; ++column)
		seal_leaves(bytes, size, column);
	seal_names(bytes, size);
	for (unsigned i = SP_FILTERS; i <= SP_FILTERS + SF_TRIGRAMS; ++i) {
		if (part_at(bytes, size, i, &data, &len))
			filter_seal(data, (uint32_t)(len / FILTER_BLOCK), i - SP_FILTERS);
	}
	for (unsigned i = 0; i < SP_COUNT; ++i) {
		if (part_at(bytes, size, i, &data, &len))
			store64(bytes + PARTS_AT + (size_t)24 * i + 16,
			        XXH3_64bits_withSeed(data, len, i));
	}
	store64(bytes + HEADER_SIZE - 8, XXH3_64bits(bytes, HEADER_SIZE - 8));
}

#endif
