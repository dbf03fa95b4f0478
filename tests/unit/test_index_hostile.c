/* SPDX-License-Identifier: MIT */
/*
 * index/segment: a cluster whose checksums are right but whose contents cannot be is refused.
 */
#include "unit.h"

#include "../lib/seal_segment.h"
#include "cluster.h"

#include <zstd.h>

/** A cluster of three directories and 300 rows, to be changed. */
static void make(struct strbuf *out)
{
	struct segment_summary summary;
	struct sample s = make_sample(3, 150, PLAIN);
	segment_close(sample_segment(&s, out, &summary));
	free_sample(&s);
}

static uint8_t *part_of(const struct strbuf *out, unsigned part)
{
	uint8_t *data = NULL;
	size_t len;
	CU_ASSERT_FATAL(part_at((uint8_t *)out->data, out->len, part, &data, &len));
	return data;
}

/** Read everything: what is not refused is within its limits. */
static void read_all(struct segment *segment)
{
	for (unsigned c = 0; c < IC_COUNT; ++c) {
		uint64_t values[INDEX_LEAF];
		if (segment_leaf_column(segment, 0, c, values) != 0)
			continue;
		for (uint32_t i = 0; i < segment_leaf_rows(segment, 0); ++i) {
			CU_ASSERT(c != IC_DIR || values[i] < segment_slots(segment));
			CU_ASSERT(c != IC_NAME || values[i] < segment_names(segment));
		}
	}
	for (uint32_t i = 0; i < segment_rows(segment); ++i)
		segment_row(segment, i, INDEX_ALL, &(struct index_row){0});
	for (uint32_t i = 0; i < segment_names(segment); ++i) {
		size_t len;
		const char *name = segment_name(segment, i, &len);
		CU_ASSERT(!name || (strlen(name) == len && !strchr(name, '/')));
	}
}

/** The cluster, sealed, is refused by its check. */
static void expect_refused(struct strbuf *out)
{
	STRBUF(why);
	seal_segment((uint8_t *)out->data, out->len);
	struct segment *segment = segment_open(out->data, out->len);
	if (segment) {
		read_all(segment);
		errno = 0;
		CU_ASSERT_EQUAL(segment_check(segment, &why), -1);
		CU_ASSERT(why.len > 0);
		segment_close(segment);
	}
	CU_ASSERT_EQUAL(errno, EBADMSG);
}

UNIT_TEST(unchanged)
{
	STRBUF(out);
	STRBUF(why);
	make(&out);
	seal_segment((uint8_t *)out.data, out.len);
	struct segment *segment = segment_open(out.data, out.len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(segment);
	CU_ASSERT_EQUAL(segment_check(segment, &why), 0);
	segment_close(segment);
}

/* What a range says of a leaf. */
UNIT_TEST(ranges)
{
	static const struct {
		unsigned column, at, size;
		uint64_t value;
	} rows[] = {
		{IC_UID, 25, 1, 58}, {IC_UID, 25, 1, 65}, {IC_UID, 25, 1, 255}, {IC_UID, 26, 1, 63},
		{IC_UID, 16, 4, UINT32_MAX}, {IC_UID, 16, 4, 1 << 20}, {IC_UID, 24, 1, 1},
		{IC_GID, 24, 1, 2}, {IC_UID, 27, 1, 255}, {IC_UID, 0, 8, UINT64_MAX},
		{IC_UID, 8, 8, 0}, {IC_DIR, 0, 8, 3}, {IC_DIR, 0, 8, UINT64_MAX},
		{IC_DIR, 0, 8, UINT64_C(1) << 63},
		{IC_NAME, 0, 8, 301}, {IC_NAME, 0, 8, UINT64_MAX - 100}, {IC_MODE, 0, 8, 0},
		{SC_ROW, 0, 8, 300}, {SC_ROW, 0, 8, UINT32_MAX},
		{SC_PARENT, 0, 8, UINT64_C(1) << 32}, {SC_PARENT, 25, 1, 58},
		{SC_LISTED, 16, 4, UINT32_MAX},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(out);
		unit_note("row %zu", i);
		make(&out);
		uint64_t value = htole64(rows[i].value);
		uint8_t *range = part_of(&out, SP_RANGES + rows[i].column);
		memcpy(range + rows[i].at, &value, rows[i].size);
		expect_refused(&out);
		struct segment *segment = segment_open(out.data, out.len);
		CU_ASSERT_PTR_NOT_NULL_FATAL(segment);
		/* Without the check, but for limits alone that are wrong. */
		uint64_t values[INDEX_LEAF];
		unsigned column = rows[i].column;
		bool limits = rows[i].at < 16 && column != IC_DIR && column != IC_NAME;
		if (column < IC_COUNT && !limits)
			CU_ASSERT_EQUAL(segment_leaf_column(segment, 0, column, values), -1);
		segment_close(segment);
	}
}

/* Values that begin in the part of leaves, and end after it. */
UNIT_TEST(beyond)
{
	STRBUF(out);
	uint64_t values[INDEX_LEAF];
	make(&out);
	uint64_t len = load64(out.data + PARTS_AT + 24 * SP_LEAVES + 8);
	store32(part_of(&out, SP_RANGES + IC_INO) + 16, (uint32_t)len - PACK_PADDING - 1);
	expect_refused(&out);
	struct segment *segment = segment_open(out.data, out.len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(segment);
	CU_ASSERT_EQUAL(segment_leaf_column(segment, 0, IC_INO, values), -1);
	segment_close(segment);
}

/* Directories that were listed when no clock can have been. */
UNIT_TEST(clock)
{
	static const int64_t times[] = {-1, INT64_MIN, INT64_MAX};
	for (size_t i = 0; i < COUNT(times); ++i) {
		STRBUF(out);
		struct segment_summary summary;
		struct sample s = make_sample(3, 150, PLAIN);
		s.slots[1].listed = times[i];
		segment_close(sample_segment(&s, &out, &summary));
		free_sample(&s);
		expect_refused(&out);
	}
}

/* Positions of exceptions: not in the leaf, or not ascending. */
UNIT_TEST(exceptions)
{
	for (unsigned i = 0; i < 3; ++i) {
		STRBUF(out);
		make(&out);
		uint8_t *range = part_of(&out, SP_RANGES + IC_BLOCKS);
		CU_ASSERT_FATAL(range[27] > 1);
		uint8_t *positions = part_of(&out, SP_LEAVES) + load32(range + 16)
		                     + pack_size(INDEX_LEAF, range[25]);
		uint8_t first = positions[0];
		positions[0] = i == 0 ? positions[1] : i == 1 ? 255 : first;
		if (i == 2)
			positions[range[27] - 1] = first;
		expect_refused(&out);
	}
}

/* The front index. */
UNIT_TEST(front)
{
	static const struct {
		unsigned at;
		uint32_t value;
	} rows[] = {
		/* The first block. */
		{0, 1}, {4, 1}, {4, UINT32_MAX}, {8, 1}, {8, UINT32_MAX},
		/* The second: names that no directory has. */
		{FRONT_SIZE, 0}, {FRONT_SIZE, 1}, {FRONT_SIZE, 100}, {FRONT_SIZE, UINT32_MAX},
		{FRONT_SIZE + 4, 0}, {FRONT_SIZE + 4, UINT32_MAX}, {FRONT_SIZE + 8, UINT32_MAX},
		/* The end. */
		{2 * FRONT_SIZE, 0}, {2 * FRONT_SIZE, 100}, {2 * FRONT_SIZE, UINT32_MAX},
		{2 * FRONT_SIZE + 4, 0}, {2 * FRONT_SIZE + 4, UINT32_MAX},
		{2 * FRONT_SIZE + 8, UINT32_MAX},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(out);
		unit_note("row %zu", i);
		make(&out);
		CU_ASSERT_EQUAL_FATAL(load32(out.data + 24), 2);
		store32(part_of(&out, SP_FRONT) + rows[i].at, rows[i].value);
		expect_refused(&out);
	}
}

/** Replace the names by n others, as if directories had them all: those of one block, before it is
    compressed.  The filters then have every key. */
static void put_names(struct strbuf *out, uint32_t n, const char *raw, size_t size)
{
	size_t at = out->len, room = ZSTD_compressBound(size) + 8;
	char *to = strbuf_extend(out, room);
	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	size_t len = ZSTD_compress(to, room, raw, size, 1);
	CU_ASSERT_FATAL(!ZSTD_isError(len));
	out->len = at + (len + 7) / 8 * 8;
	char *part = out->data + PARTS_AT + 24 * SP_NAMES;
	store64(part, at);
	store64(part + 8, len);
	uint8_t *front = part_of(out, SP_FRONT);
	store32(front + FRONT_SIZE, n);
	store32(front + FRONT_SIZE + 4, (uint32_t)len);
	/* The first name: that of the block, or "a". */
	store32(front + FRONT_SIZE + 8, 1);
	front[2 * FRONT_SIZE] = 'a';
	store32(out->data + 20, n);
	store32(out->data + 24, 1);
	store32(out->data + 28, n);
	for (unsigned i = SP_FILTERS; i <= SP_FILTERS + SF_TRIGRAMS; ++i)
		memset(part_of(out, i), 0xff, load64(out->data + PARTS_AT + 24 * i + 8));
}

/** A cluster of two rows, with keys for each filter. */
static void make_small(struct strbuf *out)
{
	struct segment_summary summary;
	struct sample s = make_sample(1, 2, PLAIN);
	s.names[0] = (struct segment_name){"abc.d", 5};
	s.names[1] = (struct segment_name){"b", 1};
	segment_close(sample_segment(&s, out, &summary));
	free_sample(&s);
}

UNIT_TEST(names)
{
#define TEXT(text) text, sizeof(text) - 1
	static const struct {
		uint32_t n;
		const char *raw;
		size_t size;
	} rows[] = {
		{2, TEXT("\0\0" "\1\1" "ab")}, {2, TEXT("\0\1" "\1\1" "ab")},   /* right */
		{2, TEXT("\0\0" "\1\1" "aa")}, {2, TEXT("\0\1" "\1\0" "a")},    /* equal */
		{2, TEXT("\0\0" "\1\0" "a")}, {2, TEXT("\0\0" "\1\2" "aab")},   /* not sorted */
		{2, TEXT("\0\1" "\1\1" "a/")}, {2, TEXT("\0\1" "\1\1" "a\0")},
		{2, TEXT("\0\2" "\1\1" "ab")}, {2, TEXT("\1\0" "\1\1" "ab")},  /* shares too much */
		{2, TEXT("\0\0" "\1\2" "ab")}, {2, TEXT("\0\0" "\1\1" "abc")},  /* lengths */
		{2, TEXT("\0\0" "\1")}, {2, TEXT("")}, {3, TEXT("\0\0" "\1\1" "ab")},
		{1, TEXT("\0\0" "\1\1" "ab")}, {0, TEXT("")}, {8193, TEXT("\0\0" "\1\1" "ab")},
		{2, TEXT("\0\0" "\1\1" "bc")},       /* not the first name of the front index */
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(out);
		STRBUF(why);
		unit_note("row %zu", i);
		make_small(&out);
		put_names(&out, rows[i].n, rows[i].raw, rows[i].size);
		if (i > 1) {
			expect_refused(&out);
			continue;
		}
		seal_segment((uint8_t *)out.data, out.len);
		struct segment *segment = segment_open(out.data, out.len);
		CU_ASSERT_PTR_NOT_NULL_FATAL(segment);
		CU_ASSERT_EQUAL(segment_check(segment, &why), 0);
		segment_close(segment);
	}
}

/* "." and "..", which sort before "a", as a first name. */
UNIT_TEST(dots)
{
	for (size_t len = 1; len <= 2; ++len) {
		STRBUF(out);
		make_small(&out);
		char raw[] = {0, 0, (char)len, 1, '.', len == 1 ? 'b' : '.', 'b'};
		put_names(&out, 2, raw, 5 + len);
		memset(part_of(&out, SP_FRONT) + 2 * FRONT_SIZE, '.', len);
		store32(part_of(&out, SP_FRONT) + FRONT_SIZE + 8, (uint32_t)len);
		expect_refused(&out);
	}
}

/* Names that are longer than allowed, and blocks that are, when they are decompressed. */
UNIT_TEST(large)
{
	static char raw[1 << 20];
	for (unsigned i = 0; i < 3; ++i) {
		STRBUF(out);
		make_small(&out);
		memset(raw, 'b', sizeof(raw));
		if (i == 0) {            /* "a", 255 bytes, and one more that shares them */
			memcpy(raw, "\0\0\377" "\1\377\1" "a", 7);
			put_names(&out, 3, raw, 7 + 255 + 1);
		} else if (i == 1) {     /* 60 names of 200 bytes */
			raw[0] = raw[60] = 0;
			memcpy(raw + 60, "\1\310", 2);
			raw[120] = 'a';
			for (unsigned k = 2; k < 60; ++k) {
				raw[k] = (char)198;
				raw[60 + k] = 2;
				raw[321 + 2 * (k - 2)] = (char)('b' + k);
			}
			put_names(&out, 60, raw, 321 + 2 * 58);
		} else {
			put_names(&out, 2, raw, sizeof(raw));
		}
		expect_refused(&out);
	}
}
