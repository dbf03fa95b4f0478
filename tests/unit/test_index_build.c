/* SPDX-License-Identifier: MIT */
/* An index that is built of a generated tree, read back. */
#include "unit.h"

#include "index/build/build_impl.h"

#include <dirent.h>

enum { DIRS = 3000, LARGE = 50000 };

static char top[40];

static void begin(void)
{
	strcpy(top, "/tmp/getmnt-build-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
}

static void end(void)
{
	char *remove = NULL;
	CU_ASSERT(asprintf(&remove, "rm -r %s", top) > 0 && system(remove) == 0);
	free(remove);
}

/** A number that depends on two others. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a + 1) * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xc2b2ae3d27d4eb4fu;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

/** The parent of a generated directory. */
static uint32_t parent_of(uint32_t dir)
{
	return (uint32_t)(mix(dir, 1) % dir);
}

/** How many objects it has that are not directories. */
static uint32_t rows_of(uint32_t dir)
{
	return dir == 7 ? LARGE : (uint32_t)(mix(dir, 2) % 20);
}

/** The row of an object of a directory; UINT32_MAX: of the directory itself. */
static struct index_row row_of(uint32_t dir, uint32_t object)
{
	struct index_row row = {0};
	uint64_t number = mix(dir, object);
	for (int i = IC_UID; i < IC_COUNT; ++i)
		row.col[i] = mix(number, (uint64_t)i) >> number % 50;
	row.col[IC_MODE] = object == UINT32_MAX ? S_IFDIR | 0755 : S_IFREG | (number & 07777);
	row.col[IC_FLAGS] = number & IF_BTIME;
	return row;
}

/** A name of any bytes that no other object of the directory has. */
static size_t name_of(uint32_t dir, uint32_t object, char *name)
{
	uint64_t number = mix(dir, object);
	size_t len = 8 + number % 248;
	for (size_t i = 0; i < len; ++i)
		name[i] = (char)(1 + mix(number, i) % 255);
	for (size_t i = 0; i < len; ++i)
		name[i] = name[i] == '/' ? '\n' : name[i];
	/* Numbers without a slash and NUL. */
	for (int i = 0; i < 8; ++i)
		name[i] = (char)('a' + (object >> 4 * i & 15));
	return len;
}

/** Build from generated directories.  Their own rows come before, after or never; objects of a
    directory come in several parts. */
static void build_generated(struct os *os, int dirfd, unsigned threads)
{
	char name[256], type[] = "ext4", root[] = "/";
	struct index_build *build = index_build_new(os, dirfd);
	CU_ASSERT_PTR_NOT_NULL_FATAL(build);
	for (uint32_t i = 0; i < DIRS; ++i) {
		struct index_row row = row_of(i, UINT32_MAX);
		size_t len = i ? name_of(parent_of(i), UINT32_MAX - i, name) : 0;
		CU_ASSERT_EQUAL_FATAL(index_build_dir(build, i ? parent_of(i) : 0, name, len,
		                                      i % 3 ? NULL : &row, 1000 + i), i);
	}
	for (uint32_t part = 0; part < 4; ++part) {
		for (uint32_t i = 0; i < DIRS; ++i) {
			for (uint32_t k = part; k < rows_of(i); k += 4) {
				struct index_row row = row_of(i, k);
				size_t len = name_of(i, k, name);
				CU_ASSERT_EQUAL_FATAL(index_build_add(build, i, name, len, &row),
				                      0);
			}
		}
	}
	for (uint32_t i = 0; i < DIRS; ++i) {
		struct index_row row = row_of(i, UINT32_MAX);
		if (i % 3 == 1)
			CU_ASSERT_EQUAL(index_build_dir_row(build, i, &row, 1000 + i), 0);
		if (i % 100 == 5)
			index_build_unread(build, i);
	}
	struct index_info info = {.root = root, .fresh = 77};
	strcpy(info.type, type);
	CU_ASSERT_EQUAL(index_build_finish(build, &info, threads), 0);
	index_build_free(build);
}

/** Whether a row of an index is as expected.  @flags  IF_UNREAD, or 0.  @lost  It was never set. */
static bool same_row(const struct index_row *got, struct index_row expected, uint64_t flags,
                     bool lost)
{
	if (lost) {
		expected = (struct index_row){0};
		expected.col[IC_MODE] = S_IFDIR;
		for (int i = IC_MSEC; i <= IC_BSEC; ++i)
			expected.col[i] = index_from_signed(0);
		flags |= IF_LOST;
	}
	expected.col[IC_FLAGS] |= flags;
	for (int i = IC_UID; i < IC_COUNT; ++i) {
		if (got->col[i] != expected.col[i])
			return false;
	}
	return true;
}

/** Compare an index with the generated tree. */
static void check_generated(struct os *os, int dirfd)
{
	char name[256];
	uint32_t wrong = 0, found = 0;
	uint64_t rows = 0;
	struct index_row row;
	struct index_dir_info info;
	static index_dir places[DIRS];
	struct index *index = index_open(os, dirfd, INDEX_READ);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	STRBUF(why);
	CU_ASSERT_EQUAL(index_check(index, &why), 0);
	unit_expect(strbuf_str(&why), "");
	/* Each directory is found by its path. */
	STRBUF(path);
	for (uint32_t i = 0; i < DIRS; ++i) {
		strbuf_reset(&path);
		uint32_t chain[DIRS], n = 0;
		for (uint32_t k = i; k; k = parent_of(k))
			chain[n++] = k;
		while (n > 0) {
			size_t len = name_of(parent_of(chain[n - 1]), UINT32_MAX - chain[n - 1],
			                     name);
			strbuf_puts(&path, path.len ? "/" : "");
			strbuf_add(&path, name, len);
			--n;
		}
		bool unread = i % 100 == 5;
		if (index_lookup(index, strbuf_str(&path), &places[i]) != 0
		    || index_dir_row(index, places[i], INDEX_ALL, &row) != 0
		    || index_dir_get(index, places[i], &info) != 0) {
			++wrong;
			continue;
		}
		wrong += !same_row(&row, row_of(i, UINT32_MAX), unread ? IF_UNREAD : 0, i % 3 == 2);
		wrong += info.listed != (unread ? 0 : 1000 + (int64_t)i);
		rows += 1 + rows_of(i);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(index_info(index)->rows, rows);
	CU_ASSERT_EQUAL(index_info(index)->dirs, DIRS);
	CU_ASSERT_EQUAL(index_info(index)->fresh, 77);
	/* Each object is in the cluster of its directory, once. */
	for (uint32_t i = 0; i < DIRS; ++i) {
		struct segment *segment = NULL;
		index_segment(index, index_dir_cluster(places[i]), &segment);
		CU_ASSERT_PTR_NOT_NULL_FATAL(segment);
		for (uint32_t k = 0; k < rows_of(i); k += 1 + rows_of(i) / 50) {
			uint32_t id;
			size_t len = name_of(i, k, name);
			wrong += segment_find_name(segment, name, len, false, &id) != 1;
			++found;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(found > DIRS);
	uint64_t sum = 0, expected = 0;
	for (uint32_t c = 0; c < index_clusters(index); ++c) {
		struct segment *segment;
		CU_ASSERT_EQUAL_FATAL(index_segment(index, c, &segment), 0);
		for (uint32_t r = 0; r < segment_rows(segment); ++r) {
			CU_ASSERT_EQUAL_FATAL(segment_row(segment, r, INDEX_ALL, &row), 0);
			size_t len;
			const char *text = segment_name(segment, (uint32_t)row.col[IC_NAME], &len);
			CU_ASSERT_PTR_NOT_NULL_FATAL(text);
			if (index_row_type(&row) != DT_DIR)
				sum += mix(row.col[IC_SIZE] ^ row.col[IC_INO], len)
				       ^ mix(row.col[IC_MODE], (unsigned char)text[len - 1]);
		}
	}
	for (uint32_t i = 0; i < DIRS; ++i) {
		for (uint32_t k = 0; k < rows_of(i); ++k) {
			row = row_of(i, k);
			size_t len = name_of(i, k, name);
			expected += mix(row.col[IC_SIZE] ^ row.col[IC_INO], len)
			            ^ mix(row.col[IC_MODE], (unsigned char)name[len - 1]);
		}
	}
	CU_ASSERT_EQUAL(sum, expected);
	index_close(index);
}

UNIT_TEST(generated)
{
	struct os os = unit_os();
	begin();
	int dirfd = open(top, O_RDONLY | O_DIRECTORY);
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		build_generated(&os, dirfd, threads);
		check_generated(&os, dirfd);
	}
	/* Nothing else is left in the directory. */
	struct dirent **list;
	int n = scandir(top, &list, NULL, NULL);
	for (int i = 0; i < n; ++i) {
		const char *name = list[i]->d_name;
		CU_ASSERT(*name == '.' || strstr(name, "segment.") || strstr(name, "journal.")
		          || strcmp(name, "manifest") == 0 || strcmp(name, "lock") == 0);
		free(list[i]);
	}
	free(list);
	CU_ASSERT(n <= 6);
	close(dirfd);
	end();
}

/** Without index_build_finish() the old index stays; and a second builder is refused. */
UNIT_TEST(abandoned)
{
	struct os os = unit_os();
	begin();
	int dirfd = open(top, O_RDONLY | O_DIRECTORY);
	build_generated(&os, dirfd, 2);
	struct index_build *build = index_build_new(&os, dirfd);
	CU_ASSERT_PTR_NOT_NULL_FATAL(build);
	CU_ASSERT_PTR_NULL(index_build_new(&os, dirfd));
	CU_ASSERT_EQUAL(errno, EWOULDBLOCK);
	struct index_row row = row_of(0, 0);
	CU_ASSERT_EQUAL(index_build_dir(build, 0, "", 0, &row, 1), 0);
	CU_ASSERT_EQUAL(index_build_add(build, 0, "x", 1, &row), 0);
	CU_ASSERT_EQUAL(index_build_add(build, 0, "", 0, &row), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	index_build_free(build);
	check_generated(&os, dirfd);
	close(dirfd);
	end();
}

/** Rows that wait on disk come back as they were, or the build fails: a bit is flipped,
    or the file is truncated. */
UNIT_TEST(spill)
{
	struct os os = unit_os();
	struct index_info info = {.type = "ext4", .fresh = 1};
	uint64_t size = 0;
	begin();
	int dirfd = open(top, O_RDONLY | O_DIRECTORY);
	for (uint64_t bit = 0; bit == 0 || bit <= size * 8 + 1; bit += bit < 2 ? 1 : 37) {
		struct index_build *build = index_build_new(&os, dirfd);
		CU_ASSERT_PTR_NOT_NULL_FATAL(build);
		for (uint32_t i = 0; i < 3; ++i) {
			struct index_row row = row_of(i, UINT32_MAX);
			index_build_dir(build, 0, "dir", i ? 3 : 0, &row, 1);
			for (uint32_t k = 0; k < 4; ++k) {
				row = row_of(i, k);
				index_build_add(build, i, &"0123456789"[k], 10 - k, &row);
			}
		}
		/* Bits from 1 on; 0: none; after the last one: the last byte is missing. */
		CU_ASSERT_EQUAL(build_flush(build), 0);
		size = build->spilled;
		char byte;
		if (bit > size * 8) {
			CU_ASSERT_EQUAL(ftruncate(build->spill, (off_t)size - 1), 0);
		} else if (bit > 0) {
			off_t at = (off_t)(bit - 1) / 8;
			CU_ASSERT_EQUAL(pread(build->spill, &byte, 1, at), 1);
			byte ^= (char)(1 << (bit - 1) % 8);
			CU_ASSERT_EQUAL(pwrite(build->spill, &byte, 1, at), 1);
		}
		unit_note("bit %llu of %llu", (unsigned long long)bit, (unsigned long long)size);
		errno = 0;
		int rc = index_build_finish(build, &info, 1);
		CU_ASSERT(bit == 0 ? rc == 0 : rc == -1 && errno == EIO);
		index_build_free(build);
	}
	close(dirfd);
	end();
}
