/* SPDX-License-Identifier: MIT */
/*
 * index/segment: a damaged cluster is never read as another one; no memory is an error.
 */
#include "unit.h"

#include "cluster.h"
#include "fault.h"
#include "index/segment/segment_impl.h"

/** Whether a call returned what it should, or reported damage. */
static bool agrees(int result, bool same)
{
	return result >= 0 ? same : errno == EBADMSG;
}

static bool rows_agree(struct segment *segment, struct segment *whole)
{
	bool same = true;
	for (uint32_t i = 0; i < segment_rows(whole); ++i) {
		struct index_row a = {0}, b;
		segment_row(whole, i, INDEX_ALL, &b);
		int result = segment_row(segment, i, INDEX_ALL, &a);
		same &= agrees(result, memcmp(&a, &b, sizeof(a)) == 0);
	}
	for (uint32_t leaf = 0; leaf < segment_leaves(whole); ++leaf) {
		for (unsigned c = 0; c < IC_COUNT; ++c) {
			uint64_t v[INDEX_LEAF] = {0}, w[INDEX_LEAF], min = 0, max = 0, low, high;
			size_t size = segment_leaf_rows(whole, leaf) * sizeof(*v);
			segment_leaf_column(whole, leaf, c, w);
			int result = segment_leaf_column(segment, leaf, c, v);
			same &= agrees(result, memcmp(v, w, size) == 0);
			segment_leaf_range(whole, leaf, c, &low, &high);
			result = segment_leaf_range(segment, leaf, c, &min, &max);
			same &= agrees(result, min == low && max == high);
		}
	}
	return same;
}

static bool names_agree(struct segment *segment, struct segment *whole)
{
	bool same = true;
	for (uint32_t i = 0; i < segment_names(whole); ++i) {
		size_t len, n;
		uint32_t id = i;
		const char *text = segment_name(whole, i, &n);
		const char *name = segment_name(segment, i, &len);
		same &= agrees(name ? 1 : -1, name && len == n && memcmp(name, text, n) == 0);
		int found = segment_find_name(segment, text, n, false, &id);
		same &= agrees(found, found == 1 && id == i);
		found = segment_may_have(segment, SF_NAMES, segment_hash(text, n));
		same &= agrees(found, found == 1);
	}
	return same;
}

/** Whether each value that a damaged segment gives is that of the whole one. */
static bool all_agree(struct segment *segment, struct segment *whole)
{
	bool same = segment_rows(segment) == segment_rows(whole)
	            && segment_names(segment) == segment_names(whole)
	            && segment_slots(segment) == segment_slots(whole)
	            && segment_lsn(segment) == segment_lsn(whole);
	for (uint32_t i = 0; i < segment_slots(whole); ++i) {
		struct segment_slot a = {0}, b;
		segment_slot(whole, i, &b);
		int result = segment_slot(segment, i, &a);
		same &= agrees(result, slots_equal(&a, &b));
	}
	return same && rows_agree(segment, whole) && names_agree(segment, whole);
}

UNIT_TEST(damage)
{
	for (enum shape shape = 0; shape < SHAPES; ++shape) {
		STRBUF(out);
		struct segment_summary summary;
		struct sample s = make_sample(3, 20, shape);
		struct segment *whole = sample_segment(&s, &out, &summary);
		char *copy = malloc(out.len);
		unsigned wrong = 0, silent = 0;
		for (size_t at = 0; at < out.len; at += unit_step()) {
			for (unsigned bit = 0; bit < 8; ++bit) {
				unit_note("shape %d, byte %zu, bit %u", shape, at, bit);
				memcpy(copy, out.data, out.len);
				copy[at] ^= (char)(1 << bit);
				struct segment *segment = segment_open(copy, out.len);
				if (!segment)
					continue;
				STRBUF(why);
				/* Only zeros between parts are not covered. */
				if (segment_check(segment, &why) == 0)
					silent += out.data[at] != '\0';
				else
					wrong += errno != EBADMSG || why.len == 0;
				segment_close(segment);
				segment = segment_open(copy, out.len);
				wrong += !all_agree(segment, whole);
				segment_close(segment);
			}
		}
		CU_ASSERT_EQUAL(wrong, 0);
		CU_ASSERT_EQUAL(silent, 0);
		for (size_t len = 0; len < out.len; len += unit_step()) {
			/* Of exactly this size, so that valgrind and ASan see what is read. */
			char *cut = malloc(len + !len);
			memcpy(cut, out.data, len);
			CU_ASSERT_PTR_NULL(segment_open(cut, len));
			CU_ASSERT_EQUAL(errno, EBADMSG);
			free(cut);
		}
		free(copy);
		segment_close(whole);
		free_sample(&s);
	}
}

/* The header with another count, and the checksum that belongs to it. */
UNIT_TEST(counts)
{
	static const struct { unsigned at; uint32_t count; } rows[] = {
		{12, 0}, {12, 257}, {12, UINT32_MAX}, {16, 0}, {16, INDEX_SLOTS + 1},
		{16, UINT32_MAX}, {20, 0}, {20, UINT32_MAX}, {24, 0}, {24, 21}, {24, UINT32_MAX},
		{28, 0}, {28, 1}, {28, 4}, {28, UINT32_MAX},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(out);
		STRBUF(why);
		struct segment_summary summary;
		struct sample s = make_sample(3, 20, PLAIN);
		segment_close(sample_segment(&s, &out, &summary));
		store32(out.data + rows[i].at, rows[i].count);
		store64(out.data + HEADER_SIZE - 8, XXH3_64bits(out.data, HEADER_SIZE - 8));
		struct segment *segment = segment_open(out.data, out.len);
		unit_note("row %zu", i);
		CU_ASSERT(!segment || segment_check(segment, &why) == -1);
		CU_ASSERT_EQUAL(errno, EBADMSG);
		segment_close(segment);
		free_sample(&s);
	}
}

UNIT_TEST(version)
{
	STRBUF(out);
	struct segment_summary summary;
	struct sample s = make_sample(1, 1, PLAIN);
	segment_close(sample_segment(&s, &out, &summary));
	out.data[8] = SEGMENT_VERSION + 1;
	CU_ASSERT_PTR_NULL(segment_open(out.data, out.len));
	CU_ASSERT_EQUAL(errno, EPROTONOSUPPORT);
	free_sample(&s);
}

/** Write a cluster and read it.  @return 0, or -1. */
static int write_and_read(void *arg)
{
	struct sample *s = arg;
	struct strbuf out = {0}, why = {0};
	struct segment_summary summary;
	struct segment_contents contents = sample_contents(s);
	int result = segment_write(&contents, &out, &summary);
	struct segment *segment = result == 0 ? segment_open(out.data, out.len) : NULL;
	size_t len;
	struct segment_slot slot;
	result = segment && segment_slot(segment, 1, &slot) == 0 && segment_name(segment, 3, &len)
	         ? segment_check(segment, &why) : -1;
	segment_close(segment);
	strbuf_destroy(&why);
	strbuf_destroy(&out);
	return result;
}

UNIT_TEST(no_memory)
{
	FAULT_OR_SKIP();
	struct sample s = make_sample(3, 300, PLAIN);
	fault_each_allocation(write_and_read, &s, 10);
	free_sample(&s);
}
