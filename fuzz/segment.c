/* SPDX-License-Identifier: MIT */
/*
 * A cluster of an index: whatever its bytes are, reading gives values within their limits, or an
 * error; one that passes its check can be written again, and has the same rows.
 *
 * The input: a byte of flags (1: put magic, version, size and all checksums right before reading,
 * so that what they protect is reached), and the cluster.
 */
#include "lib/fuzz.h"

#include "../tests/lib/seal_segment.h"

#include <errno.h>
#include <stdlib.h>

enum { SEAL = 1, MOST = 100000 /* numbers that are tried, of names and rows */ };

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
				    && segment_row(segment, leaf * INDEX_LEAF + i, INDEX_ALL,
				                   &row) == 0)
					FUZZ_CHECK(row.col[column] == values[i]);
			}
		}
	}
	struct index_row row;
	FUZZ_CHECK(segment_row(segment, n, INDEX_ALL, &row) == -1);
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
		if (segment_find_name(segment, name, len, false, &found) == 1)
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
		FUZZ_CHECK(segment_row(segment, i, INDEX_ALL, &rows[i]) == 0);
	for (uint32_t i = 0; i < nslots; ++i)
		FUZZ_CHECK(segment_slot(segment, i, &slots[i]) == 0);
	for (uint32_t i = 0; i < nnames; ++i) {
		size_t len;
		uint32_t id;
		names[i].text = segment_name(segment, i, &len);
		names[i].len = (uint32_t)len;
		FUZZ_CHECK(segment_find_name(segment, names[i].text, len, false, &id) == 1
		           && id == i);
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
		seal_segment(copy, len);
	/* What reads beyond the end is found. */
	copy = realloc(copy, len + !len);
	FUZZ_CHECK(copy);
	struct segment *segment = segment_open(copy, len);
	FUZZ_CHECK(segment || errno == EBADMSG || errno == EPROTONOSUPPORT);
	if (segment) {
		/* Readers allocate memory in proportion to these. */
		FUZZ_CHECK(segment_rows(segment) <= len && segment_names(segment) <= len);
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
