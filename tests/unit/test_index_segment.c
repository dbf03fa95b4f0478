/* SPDX-License-Identifier: MIT */
/*
 * index/segment: what is written is read, whatever the rows are; filters have no false negatives.
 */
#include "unit.h"

#include "cluster.h"

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
		CU_ASSERT_EQUAL_FATAL(segment_row(segment, i, INDEX_ALL, &row), 0);
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

/** The summary has the limits of all leaves. */
static void expect_summary(struct segment *segment, const struct segment_summary *summary)
{
	for (unsigned c = IC_FIRST_ZONE; c < IC_END_ZONE; ++c) {
		uint64_t low = UINT64_MAX, high = 0, min, max;
		for (uint32_t leaf = 0; leaf < segment_leaves(segment); ++leaf) {
			CU_ASSERT_EQUAL(segment_leaf_range(segment, leaf, c, &min, &max), 0);
			low = min < low ? min : low;
			high = max > high ? max : high;
		}
		CU_ASSERT(summary->min[c] == low && summary->max[c] == high);
	}
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
			struct segment *segment = sample_segment(&s, &out, &summary);
			CU_ASSERT_EQUAL(summary.nrows, s.nrows);
			CU_ASSERT_EQUAL(summary.ndirs, s.nslots);
			expect_summary(segment, &summary);
			CU_ASSERT_EQUAL(segment_lsn(segment), 4711);
			expect_equal(&s, segment);
			for (uint32_t slot = 0; slot < s.nslots; ++slot) {
				struct segment_slot got;
				CU_ASSERT_EQUAL(segment_slot(segment, slot, &got), 0);
				CU_ASSERT(slots_equal(&got, &s.slots[slot]));
			}
			CU_ASSERT_EQUAL(segment_check(segment, &why), 0);
			CU_ASSERT_STRING_EQUAL(strbuf_str(&why), "");
			segment_close(segment);
			free_sample(&s);
		}
	}
}

/* Filters and names. */

/** The keys that are in no name: names do not begin with "?". */
static uint64_t absent_hash(uint32_t i, char *key, size_t *len)
{
	*len = (size_t)sprintf(key, "?%u", i);
	return segment_hash(key, *len);
}

static void lower(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; ++i)
		to[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] + 'a' - 'A' : from[i]);
}

/** How many keys of a name a segment's filters lack. */
static unsigned missing_keys(struct segment *segment, const struct segment_name *name)
{
	char low[INDEX_NAME_MAX];
	uint64_t hash = segment_hash(name->text, name->len);
	unsigned missing = segment_may_have(segment, SF_NAMES, hash) != 1;
	lower(low, name->text, name->len);
	const char *dot = memrchr(name->text + 1, '.', name->len - 1u);
	if (dot) {
		hash = segment_hash(dot + 1, (size_t)(name->text + name->len - dot - 1));
		missing += segment_may_have(segment, SF_EXTENSIONS, hash) != 1;
	}
	for (size_t at = 0; at + 3 <= name->len; ++at)
		missing += segment_may_have(segment, SF_TRIGRAMS, segment_hash(low + at, 3)) != 1;
	return missing;
}

UNIT_TEST(filters)
{
	for (enum shape shape = PLAIN; shape <= RANDOM; ++shape) {
		STRBUF(out);
		struct segment_summary summary;
		struct sample s = make_sample(100, 40000, shape);
		struct segment *segment = sample_segment(&s, &out, &summary);
		CU_ASSERT(segment_names(segment) >= 20000);
		unsigned missing = 0, wrong = 0;
		for (uint32_t i = 0; i < s.nrows; ++i)
			missing += missing_keys(segment, &s.names[i]);
		CU_ASSERT_EQUAL(missing, 0);
		for (uint32_t i = 0; i < 100000; ++i) {
			char key[16];
			size_t len;
			uint64_t hash = absent_hash(i, key, &len);
			wrong += segment_may_have(segment, SF_NAMES, hash) != 0;
		}
		CU_ASSERT(wrong < 3000);
		segment_close(segment);
		free_sample(&s);
	}
}

UNIT_TEST(extensions)
{
	static const struct {
		const char *name, *key;
		int has;
	} rows[] = {
		{"a.c", "c", 1}, {"a.tar.gz", "gz", 1}, {".a.b", "b", 1}, {"a.", "", 1},
		{"..a", "a", 1}, {".c", "c", 0}, {"c", "c", 0}, {"c.", "c", 0}, {"a.c.b", "c", 0},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(out);
		struct segment_summary summary;
		struct sample s = make_sample(1, 1, PLAIN);
		s.names[0] = (struct segment_name){rows[i].name, (uint32_t)strlen(rows[i].name)};
		struct segment *segment = sample_segment(&s, &out, &summary);
		uint64_t hash = segment_hash(rows[i].key, strlen(rows[i].key));
		unit_note("\"%s\"", rows[i].name);
		CU_ASSERT_EQUAL(segment_may_have(segment, SF_EXTENSIONS, hash), rows[i].has);
		segment_close(segment);
		free_sample(&s);
	}
}

UNIT_TEST(find_name)
{
	for (enum shape shape = PLAIN; shape <= EQUAL; ++shape) {
		STRBUF(out);
		struct segment_summary summary;
		struct sample s = make_sample(10, 5000, shape);
		s.names[17].len = 0;      /* the root */
		struct segment *segment = sample_segment(&s, &out, &summary);
		uint32_t id;
		for (uint32_t i = 0; i < s.nrows; ++i) {
			const struct segment_name *name = &s.names[i];
			size_t len;
			CU_ASSERT_EQUAL(segment_find_name(segment, name->text, name->len, false,
			                                  &id), 1);
			const char *text = segment_name(segment, id, &len);
			CU_ASSERT_PTR_NOT_NULL_FATAL(text);
			CU_ASSERT(len == name->len && memcmp(text, name->text, len) == 0);
			CU_ASSERT_EQUAL(text[len], '\0');
		}
		for (uint32_t i = 0; i < 1000; ++i) {
			char key[16];
			size_t len;
			absent_hash(i, key, &len);
			CU_ASSERT_EQUAL(segment_find_name(segment, key, len, false, &id), 0);
			/* After a name, and so in its block. */
			key[0] = '\0';
			CU_ASSERT_EQUAL(segment_find_name(segment, key, len, false, &id), 0);
		}
		/* Those of directories, and only they, are found as such, and come first. */
		uint32_t dirs = 0, ends = 0;
		for (uint32_t i = 0; i < s.nrows; ++i) {
			size_t len;
			struct index_row row;
			CU_ASSERT_EQUAL_FATAL(segment_row(segment, i, INDEX_ALL, &row), 0);
			const char *text = segment_name(segment, (uint32_t)row.col[IC_NAME], &len);
			if (index_row_type(&row) != DT_DIR)
				continue;
			CU_ASSERT_EQUAL(segment_find_name(segment, text, len, true, &id), 1);
			dirs = id + 1 > dirs ? id + 1 : dirs;
		}
		for (uint32_t i = dirs; i < segment_names(segment); ++i) {
			size_t len;
			const char *text = segment_name(segment, i, &len);
			CU_ASSERT_EQUAL(segment_find_name(segment, text, len, true, &id), 0);
		}
		for (uint32_t i = 0; i + 1 < segment_names(segment); ++i) {
			/* What was returned remains valid. */
			size_t a_len, b_len;
			const char *a = segment_name(segment, i, &a_len);
			const char *b = segment_name(segment, i + 1, &b_len);
			int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
			bool sorted = order < 0 || (order == 0 && a_len < b_len);
			CU_ASSERT(sorted || i + 1 == dirs);
			ends += !sorted;
		}
		CU_ASSERT_TRUE(dirs > 0 && ends <= 1);
		segment_trim(segment);
		const struct segment_name *name = &s.names[0];
		CU_ASSERT_EQUAL(segment_find_name(segment, name->text, name->len, false, &id), 1);
		CU_ASSERT_EQUAL(segment_name(segment, segment_names(segment), &(size_t){0}), NULL);
		CU_ASSERT_EQUAL(errno, EBADMSG);
		segment_close(segment);
		free_sample(&s);
	}
}

UNIT_TEST(prefixes)
{
	/* Each name is the beginning of the next, or differs from it in its last byte. */
	STRBUF(out);
	struct segment_summary summary;
	struct sample s = make_sample(1, 2 * INDEX_NAME_MAX, PLAIN);
	for (uint32_t i = 0; i < s.nrows; ++i) {
		char *name = s.text + i * 256ul;
		s.names[i] = (struct segment_name){name, i / 2 + 1};
		memset(name, 'a', s.names[i].len);
		name[s.names[i].len - 1] = i % 2 ? '\xff' : 'a';
	}
	struct segment *segment = sample_segment(&s, &out, &summary);
	CU_ASSERT_EQUAL(segment_names(segment), s.nrows);
	expect_equal(&s, segment);
	CU_ASSERT_EQUAL(segment_check(segment, &(struct strbuf){0}), 0);
	segment_close(segment);
	free_sample(&s);
}

UNIT_TEST(unused_names)
{
	STRBUF(out);
	struct segment_summary summary;
	struct sample s = make_sample(1, 3, PLAIN);
	for (uint32_t i = 0; i < 3; ++i)
		s.rows[i].col[IC_NAME] = 1;
	s.names[0] = (struct segment_name){"a/b", 3};
	struct segment *segment = sample_segment(&s, &out, &summary);
	CU_ASSERT_EQUAL(segment_names(segment), 1);
	segment_close(segment);
	free_sample(&s);
}

UNIT_TEST(invalid_contents)
{
	static const char long_name[INDEX_NAME_MAX + 1] = "x";
	static const struct segment_name names[] = {
		{"a/b", 3}, {"a\0b", 3}, {".", 1}, {"..", 2}, {long_name, sizeof(long_name)},
	};
	for (unsigned i = 0; i < COUNT(names) + 5; ++i) {
		struct segment_summary summary;
		STRBUF(out);
		strbuf_puts(&out, "12345678");
		struct sample s = make_sample(3, 10, PLAIN);
		struct segment_contents contents = sample_contents(&s);
		if (i < COUNT(names))
			s.names[7] = names[i];
		uint64_t *file = s.rows[0].col;
		for (uint32_t k = 1; file[IC_MODE] >> 12 == DT_DIR; ++k)
			file = s.rows[k].col;
		switch (i - COUNT(names)) {
		case 0: file[IC_DIR] = 3; break;
		case 1: file[IC_NAME] = 10; break;
		case 2: file[IC_MODE] = 040755; break;        /* a second row of a directory */
		case 3: contents.nslots = INDEX_SLOTS + 1; break;
		case 4:                                       /* a directory without a row */
			file[IC_DIR] = 2;
			for (uint32_t k = 0; k < 10; ++k) {
				uint64_t *col = s.rows[k].col;
				if (col[IC_MODE] >> 12 == DT_DIR && col[IC_DIR] == 2)
					col[IC_MODE] = 0100644;
			}
			break;
		}
		unit_note("case %u", i);
		errno = 0;
		CU_ASSERT_EQUAL(segment_write(&contents, &out, &summary), -1);
		CU_ASSERT_EQUAL(errno, EINVAL);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), "12345678");
		free_sample(&s);
	}
}

/* Rows. */

UNIT_TEST(statx)
{
	struct k_statx st = {
		.mask = K_STATX_BASIC | K_STATX_BTIME, .attributes = 0x10, .attributes_mask = 0x10,
		.nlink = 3, .uid = UINT32_MAX, .gid = 7, .mode = 0120777,
		.ino = UINT64_MAX, .size = 5, .blocks = 9,
		.atime = {-1, 1, 0}, .btime = {INT64_MIN, 2, 0},
		.ctime = {INT64_MAX, 3, 0}, .mtime = {0, 999999999, 0}, .rdev_major = 8,
		.rdev_minor = UINT32_MAX,
	}, back;
	struct index_row row;
	index_row_from(&row, &st);
	CU_ASSERT_EQUAL(index_row_type(&row), DT_LNK);
	CU_ASSERT(row.col[IC_BSEC] < row.col[IC_ASEC] && row.col[IC_ASEC] < row.col[IC_MSEC]
	          && row.col[IC_MSEC] < row.col[IC_CSEC]);
	index_row_to(&row, &back);
	CU_ASSERT_EQUAL(memcmp(&st, &back, sizeof(st)), 0);
	st.mask = K_STATX_BASIC;
	index_row_from(&row, &st);
	index_row_to(&row, &back);
	CU_ASSERT_EQUAL(back.mask, K_STATX_BASIC);
	CU_ASSERT(back.btime.sec == 0 && back.btime.nsec == 0);
	row.col[IC_FLAGS] |= IF_LOST;
	index_row_to(&row, &back);
	CU_ASSERT_EQUAL(back.mask, K_STATX_TYPE);
}
