/* SPDX-License-Identifier: MIT */
/*
 * A cluster of an index: whatever its bytes are, reading gives values within their limits, or an
 * error; one that passes its check can be written again, and has the same rows.
 *
 * The input: a byte of flags (1: put magic, version, size and all checksums right before reading,
 * so that what they protect is reached), and the cluster.
 */
#include "lib/fuzz.h"

#include "index/segment_impl.h"

#include <errno.h>
#include <stdlib.h>

enum { SEAL = 1, MOST = 100000 /* numbers that are tried, of names and rows */ };

/** Whether a part lies in the cluster. */
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
		if (offset <= leaves_len && packed <= leaves_len - offset)
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

static void seal(uint8_t *bytes, size_t size)
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

/** Columns give numbers that exist; a row is what its columns are. */
static void read_rows(struct segment *segment)
{
	uint32_t n = segment_rows(segment);
	for (uint32_t leaf = 0; leaf < segment_leaves(segment); ++leaf) {
		for (unsigned column = 0; column < IC_COUNT; ++column) {
			uint64_t values[INDEX_LEAF], min, max;
			segment_leaf_range(segment, leaf, column, &min, &max);
			if (segment_leaf_column(segment, leaf, column, values) != 0)
				continue;
			for (uint32_t i = 0; i < segment_leaf_rows(segment, leaf); ++i) {
				FUZZ_CHECK(column != IC_DIR || values[i] < segment_slots(segment));
				FUZZ_CHECK(column != IC_NAME || values[i] < segment_names(segment));
				struct index_row row;
				if (i % 16 == 0
				    && segment_row(segment, leaf * INDEX_LEAF + i, &row) == 0)
					FUZZ_CHECK(row.col[column] == values[i]);
			}
		}
	}
	struct index_row row;
	FUZZ_CHECK(segment_row(segment, n, &row) == -1);
	struct segment_slot slot;
	for (uint32_t i = 0; i < segment_slots(segment); ++i) {
		if (segment_slot(segment, i, &slot) == 0)
			FUZZ_CHECK(slot.row < n || slot.row == UINT32_MAX);
	}
}

/** A name is one, and is found by its text. */
static void read_names(struct segment *segment)
{
	uint32_t n = segment_names(segment);
	for (uint32_t id = 0; id < n && id < MOST; ++id) {
		size_t len;
		uint32_t found;
		const char *name = segment_name(segment, id, &len);
		if (!name)
			continue;
		FUZZ_CHECK(strlen(name) == len && len <= INDEX_NAME_MAX && !strchr(name, '/'));
		if (segment_find_name(segment, name, len, &found) == 1)
			FUZZ_CHECK(found < n);
		segment_may_have(segment, SF_NAMES, segment_hash(name, len));
	}
}

/** Write what a cluster has. */
static void write_again(struct segment *segment)
{
	uint32_t nrows = segment_rows(segment), nslots = segment_slots(segment);
	uint32_t nnames = segment_names(segment);
	struct index_row *rows = fuzz_alloc((nrows + 1) * sizeof(*rows));
	struct segment_name *names = fuzz_alloc((nnames + 1) * sizeof(*names));
	struct segment_slot *slots = fuzz_alloc((nslots + 1) * sizeof(*slots));
	for (uint32_t i = 0; i < nrows; ++i)
		FUZZ_CHECK(segment_row(segment, i, &rows[i]) == 0);
	for (uint32_t i = 0; i < nslots; ++i)
		FUZZ_CHECK(segment_slot(segment, i, &slots[i]) == 0);
	for (uint32_t i = 0; i < nnames; ++i) {
		size_t len;
		uint32_t id;
		names[i].text = segment_name(segment, i, &len);
		names[i].len = (uint32_t)len;
		FUZZ_CHECK(segment_find_name(segment, names[i].text, len, &id) == 1 && id == i);
	}
	struct segment_contents contents = {
		.rows = rows, .nrows = nrows, .names = names, .nnames = nnames, .slots = slots,
		.nslots = nslots, .lsn = segment_lsn(segment),
	};
	struct segment_summary summary;
	struct strbuf out = {0}, why = {0};
	FUZZ_CHECK(segment_write(&contents, &out, &summary) == 0);
	struct segment *again = segment_open(out.data, out.len);
	FUZZ_CHECK(again && segment_rows(again) == nrows && segment_names(again) <= nnames);
	FUZZ_CHECK(segment_check(again, &why) == 0);
	segment_close(again);
	strbuf_destroy(&out);
	strbuf_destroy(&why);
	free(rows);
	free(names);
	free(slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	uint8_t flags = fuzz_byte(&in);
	size_t len;
	const char *bytes = fuzz_bytes(&in, size, &len);
	uint8_t *copy = fuzz_alloc(len + 1);
	struct strbuf why = {0};
	memcpy(copy, bytes, len);
	if (flags & SEAL)
		seal(copy, len);
	/* What reads beyond the end is found. */
	copy = realloc(copy, len + !len);
	FUZZ_CHECK(copy);
	struct segment *segment = segment_open(copy, len);
	FUZZ_CHECK(segment || errno == EBADMSG || errno == EPROTONOSUPPORT);
	if (segment) {
		read_rows(segment);
		read_names(segment);
		segment_trim(segment);
		if (segment_check(segment, &why) == 0)
			write_again(segment);
		else
			FUZZ_CHECK(errno == EBADMSG && why.len > 0);
		segment_close(segment);
	}
	strbuf_destroy(&why);
	free(copy);
	return 0;
}
