/* SPDX-License-Identifier: MIT */
/*
 * index/segment: what is written is read, whatever the rows are; filters have no false negatives;
 * a damaged cluster is never read as another one.
 */
#include "unit.h"

#include "index/segment.h"

/** A cluster made by a test, with the names and rows that it must hold. */
struct sample {
	struct index_row *rows;
	struct segment_name *names;
	struct segment_slot *slots;
	char *text;
	uint32_t nrows, nslots;
};

static uint64_t seed = 88172645463325252u;

static uint64_t chance(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 16) % n;
}

enum shape { PLAIN, RANDOM, EQUAL, MAXIMAL, SHAPES };

static void fill_name(char *name, uint32_t *len, enum shape shape, uint32_t i)
{
	static const char *const words[] = {"lib", "test", "data", "main", "README", "x86", "conf"};
	static const char *const ends[] = {".c", ".h", ".o", "", ".txt", ".so.1", ".PNG"};
	if (shape != RANDOM) {
		*len = (uint32_t)sprintf(name, "%s-%s%u%s", words[chance(7)], words[chance(7)],
		                         shape == EQUAL ? 0 : i / 2, ends[chance(7)]);
		return;
	}
	*len = (uint32_t)(chance(20) == 0 ? INDEX_NAME_MAX : 3 + chance(30));
	for (uint32_t k = 0; k < *len; ++k) {
		do {
			name[k] = (char)chance(256);
		} while (name[k] == '\0' || name[k] == '/');
	}
}

static struct sample make_sample(uint32_t nslots, uint32_t nrows, enum shape shape)
{
	struct sample s = {
		.rows = calloc(nrows + 1, sizeof(*s.rows)),
		.names = calloc(nrows + 1, sizeof(*s.names)),
		.slots = calloc(nslots + 1, sizeof(*s.slots)), .text = malloc((nrows + 1) * 256ul),
		.nrows = nrows, .nslots = nslots,
	};
	for (uint32_t i = 0; i < nslots; ++i)
		s.slots[i] = (struct segment_slot){
			.parent = i ? (index_dir)chance(i) : INDEX_DIR_NONE,
			.listed = 1700000000 + i,
		};
	for (uint32_t i = 0; i < nrows; ++i) {
		char *name = s.text + i * 256ul;
		uint64_t *col = s.rows[i].col;
		fill_name(name, &s.names[i].len, shape, i);
		s.names[i].text = name;
		for (unsigned c = IC_NAME + 1; c < IC_COUNT; ++c) {
			col[c] = shape == MAXIMAL ? UINT64_MAX - chance(2) : shape == EQUAL ? c
			         : shape == RANDOM ? chance(UINT64_MAX) >> chance(64)
			         : chance(1000);
		}
		if (shape == PLAIN) {
			col[IC_MSEC] = index_from_signed(1700000000 + (int64_t)chance(100000000));
			col[IC_CSEC] = col[IC_MSEC] + (chance(4) ? 0 : chance(1000000));
			col[IC_BSEC] = chance(20) ? col[IC_CSEC] : 0;
			col[IC_SIZE] = chance(1000000) >> chance(20);
			col[IC_BLOCKS] = chance(5) ? (col[IC_SIZE] + 4095) / 4096 * 8 : 16;
			col[IC_MNSEC] = chance(2) ? 0 : chance(1000000000);
			col[IC_CNSEC] = chance(2) ? col[IC_MNSEC] : chance(1000000000);
		}
		bool dir = i < nslots;
		col[IC_DIR] = dir ? i : chance(nslots);
		col[IC_NAME] = i;
		col[IC_MODE] = dir ? 040755 : 0100644;
	}
	/* Rows come in any order. */
	for (uint32_t i = nrows; i-- > 1;) {
		uint32_t k = (uint32_t)chance(i + 1);
		struct index_row row = s.rows[i];
		s.rows[i] = s.rows[k];
		s.rows[k] = row;
	}
	return s;
}

static void free_sample(struct sample *s)
{
	free(s->rows);
	free(s->names);
	free(s->slots);
	free(s->text);
}

static void write_sample(struct sample *s, struct strbuf *out, struct segment_summary *summary)
{
	struct segment_contents contents = {
		.rows = s->rows, .nrows = s->nrows, .names = s->names, .nnames = s->nrows,
		.slots = s->slots, .nslots = s->nslots, .lsn = 4711,
	};
	CU_ASSERT_EQUAL_FATAL(segment_write(&contents, out, summary), 0);
	CU_ASSERT_EQUAL(out->len % 8, 0);
}

/** A row and its name, to be sorted. */
struct item {
	struct index_row row;
	const char *name;
	size_t len;
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);
	if (order == 0)
		order = (x->len > y->len) - (x->len < y->len);
	return order ? order : memcmp(&x->row, &y->row, sizeof(x->row));
}

/** The rows of a sample, sorted, without numbers of names. */
static struct item *items_of(const struct sample *s)
{
	struct item *items = calloc(s->nrows + 1, sizeof(*items));
	for (uint32_t i = 0; i < s->nrows; ++i) {
		const struct segment_name *name = &s->names[s->rows[i].col[IC_NAME]];
		items[i] = (struct item){s->rows[i], name->text, name->len};
		items[i].row.col[IC_NAME] = 0;
	}
	qsort(items, s->nrows, sizeof(*items), compare_items);
	return items;
}

/** The same of a segment. */
static struct item *items_read(struct segment *segment)
{
	uint32_t n = segment_rows(segment);
	struct item *items = calloc(n + 1, sizeof(*items));
	for (uint32_t leaf = 0; leaf < segment_leaves(segment); ++leaf) {
		for (unsigned c = 0; c < IC_COUNT; ++c) {
			uint64_t values[INDEX_LEAF], min, max, low = UINT64_MAX, high = 0;
			CU_ASSERT_EQUAL_FATAL(segment_leaf_column(segment, leaf, c, values), 0);
			for (uint32_t i = 0; i < segment_leaf_rows(segment, leaf); ++i) {
				items[leaf * INDEX_LEAF + i].row.col[c] = values[i];
				low = values[i] < low ? values[i] : low;
				high = values[i] > high ? values[i] : high;
			}
			CU_ASSERT_EQUAL(segment_leaf_range(segment, leaf, c, &min, &max), 0);
			CU_ASSERT(min == low && max == high);
		}
	}
	for (uint32_t i = 0; i < n; ++i) {
		struct index_row row;
		CU_ASSERT_EQUAL_FATAL(segment_row(segment, i, &row), 0);
		CU_ASSERT_EQUAL(memcmp(&row, &items[i].row, sizeof(row)), 0);
		items[i].name = segment_name(segment, (uint32_t)row.col[IC_NAME], &items[i].len);
		CU_ASSERT_PTR_NOT_NULL_FATAL(items[i].name);
		items[i].row.col[IC_NAME] = 0;
	}
	qsort(items, n, sizeof(*items), compare_items);
	return items;
}

static void expect_equal(struct sample *s, struct segment *segment)
{
	CU_ASSERT_EQUAL_FATAL(segment_rows(segment), s->nrows);
	struct item *expected = items_of(s), *actual = items_read(segment);
	for (uint32_t i = 0; i < s->nrows; ++i) {
		if (compare_items(&expected[i], &actual[i]) != 0) {
			CU_FAIL("a row");
			break;
		}
	}
	free(expected);
	free(actual);
}

UNIT_TEST(round_trip)
{
	static const struct { uint32_t slots, rows; } sizes[] = {
		{0, 0}, {1, 1}, {1, 2}, {3, 255}, {5, 256}, {257, 257}, {10, 513}, {4096, 5000},
		{1, 100000},
	};
	for (size_t i = 0; i < COUNT(sizes); ++i) {
		for (enum shape shape = 0; shape < SHAPES; ++shape) {
			unit_note("%u rows, shape %d", sizes[i].rows, shape);
			STRBUF(out);
			STRBUF(why);
			struct segment_summary summary;
			struct sample s = make_sample(sizes[i].slots, sizes[i].rows, shape);
			write_sample(&s, &out, &summary);
			CU_ASSERT_EQUAL(summary.nrows, s.nrows);
			CU_ASSERT_EQUAL(summary.ndirs, s.nslots);
			struct segment *segment = segment_open(out.data, out.len);
			CU_ASSERT_PTR_NOT_NULL_FATAL(segment);
			CU_ASSERT_EQUAL(segment_lsn(segment), 4711);
			expect_equal(&s, segment);
			for (uint32_t slot = 0; slot < s.nslots; ++slot) {
				struct segment_slot got;
				CU_ASSERT_EQUAL(segment_slot(segment, slot, &got), 0);
				CU_ASSERT_EQUAL(memcmp(&got, &s.slots[slot], sizeof(got)), 0);
			}
			CU_ASSERT_EQUAL(segment_check(segment, &why), 0);
			CU_ASSERT_STRING_EQUAL(strbuf_str(&why), "");
			segment_close(segment);
			free_sample(&s);
		}
	}
}
