/* SPDX-License-Identifier: MIT */
/* Disk usage from an index, and its export: sums by every key, hard links, changes. */
#include "unit.h"

#include "index/build/build.h"
#include "index/scan/export.h"
#include "index/scan/report.h"

#include <dirent.h>

enum { NOW = 1000000000, DAY = 86400 };

static int dir_fd = -1;
static char dir_name[] = "/tmp/getmnt-unit-XXXXXX";
static struct os kernel;

static struct index_row row_of(unsigned mode, uint32_t uid, uint64_t size, uint64_t blocks,
                               uint64_t ino, uint32_t nlink, int64_t mtime)
{
	struct index_row row = {0};
	row.col[IC_MODE] = mode;
	row.col[IC_UID] = uid;
	row.col[IC_GID] = uid + 100;
	row.col[IC_SIZE] = size;
	row.col[IC_BLOCKS] = blocks;
	row.col[IC_INO] = ino;
	row.col[IC_NLINK] = nlink;
	row.col[IC_MSEC] = index_from_signed(mtime);
	return row;
}

static void add(struct index_build *build, uint32_t dir, const char *name, struct index_row row)
{
	CU_ASSERT_EQUAL_FATAL(index_build_add(build, dir, name, strlen(name), &row), 0);
}

static uint32_t add_dir(struct index_build *build, uint32_t parent, const char *name, uint64_t ino)
{
	struct index_row row = row_of(S_IFDIR | 0755, 0, 4096, 8, ino, 2, NOW - 2 * DAY);
	uint32_t dir = index_build_dir(build, parent, name, strlen(name), &row, NOW);
	CU_ASSERT_NOT_EQUAL_FATAL(dir, UINT32_MAX);
	return dir;
}

/** An index of "/": a/x.c, a/b/y.c, a/b/link, c/link, c/z.tar.gz, c/.hidden */
static struct index *make(enum index_mode mode)
{
	char root[] = "/";
	memcpy(dir_name + sizeof(dir_name) - 7, "XXXXXX", 6);
	kernel = unit_os();
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir_name));
	dir_fd = open(dir_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct index_build *build = index_build_new(&kernel, dir_fd);
	CU_ASSERT_PTR_NOT_NULL_FATAL(build);
	uint32_t top = add_dir(build, UINT32_MAX, "", 2), a = add_dir(build, top, "a", 3);
	uint32_t b = add_dir(build, a, "b", 4), c = add_dir(build, top, "c", 5);
	add(build, a, "x.c", row_of(S_IFREG | 0644, 1, 100, 8, 10, 1, NOW));
	add(build, b, "y.c", row_of(S_IFREG | 0644, 2, 1 << 20, 16, 11, 1, NOW - DAY));
	add(build, b, "link", row_of(S_IFREG | 0644, 3, 5000, 32, 12, 2, NOW - 400 * DAY));
	add(build, c, "link", row_of(S_IFREG | 0644, 3, 5000, 32, 12, 2, NOW - 400 * DAY));
	add(build, c, "z.tar.gz", row_of(S_IFLNK | 0777, 1, 7, 0, 13, 1, NOW + 1));
	add(build, c, ".hidden", row_of(S_IFREG | 0644, 2, 0, 0, 14, 1, -5 * (int64_t)NOW));
	const struct index_info info = {.uuid = "u", .type = "t", .root = root};
	CU_ASSERT_EQUAL_FATAL(index_build_finish(build, &info, 1), 0);
	index_build_free(build);
	struct index *index = index_open(&kernel, dir_fd, mode);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	return index;
}

static void end(struct index *index)
{
	index_close(index);
	close(dir_fd);
	char command[sizeof(dir_name) + 16];
	snprintf(command, sizeof(command), "rm -r %s", dir_name);
	CU_ASSERT_EQUAL(system(command), 0);
}

/** The rows of a report as text, "PATH KEY BLOCKS APPARENT COUNT", compared. */
static void expect(struct index *index, const char *start, enum report_by by, unsigned depth,
                   const char *expected)
{
	STRBUF(text);
	const char *roots[] = {"/m"};
	struct usage_row *rows;
	size_t n;
	index_dir dir;
	CU_ASSERT_EQUAL_FATAL(index_lookup(index, start, &dir), 0);
	struct report *report = report_new(by, roots, depth, NOW);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_EQUAL_FATAL(report_add(report, 0, index, dir), 0);
	CU_ASSERT_EQUAL_FATAL(report_rows(report, &rows, &n), 0);
	for (size_t i = 0; i < n; ++i) {
		strbuf_printf(&text, "%s ", rows[i].path);
		if (by == REPORT_EXTENSION)
			strbuf_printf(&text, "\"%s\"", report_extension(report, rows[i].key));
		else
			strbuf_number(&text, rows[i].key);
		CU_ASSERT_EQUAL(rows[i].sum.size % 512, 0);
		strbuf_printf(&text, " %u %u %u\n", (unsigned)(rows[i].sum.size / 512),
		              (unsigned)rows[i].sum.apparent, (unsigned)rows[i].sum.count);
	}
	report_free(report);
	unit_expect(strbuf_str(&text), expected);
}

UNIT_TEST(sums)
{
	struct index *index = make(INDEX_READ);
	expect(index, "", REPORT_DIR, 0, "/m 0 88 1053683 9\n");
	/* The file with two links counts where it is first, in a/b. */
	expect(index, "", REPORT_DIR, 1, "/m/a 0 72 1053676 5\n/m/c 0 8 7 3\n/m 0 88 1053683 9\n");
	expect(index, "", REPORT_DIR, 9, "/m/a/b 0 56 1053576 3\n/m/a 0 72 1053676 5\n"
	       "/m/c 0 8 7 3\n/m 0 88 1053683 9\n");
	expect(index, "c", REPORT_DIR, 1, "/m 0 40 5007 4\n");
	expect(index, "a", REPORT_DIR, 1, "/m/b 0 56 1053576 3\n/m 0 72 1053676 5\n");
	expect(index, "", REPORT_USER, 0, "/m 0 32 0 4\n/m 1 8 107 2\n/m 2 16 1048576 2\n"
	       "/m 3 32 5000 1\n");
	expect(index, "", REPORT_GROUP, 1, "/m/a 100 16 0 2\n/m/a 101 8 100 1\n"
	       "/m/a 102 16 1048576 1\n/m/a 103 32 5000 1\n/m/c 100 8 0 1\n/m/c 101 0 7 1\n"
	       "/m/c 102 0 0 1\n/m 100 32 0 4\n/m 101 8 107 2\n/m 102 16 1048576 2\n"
	       "/m 103 32 5000 1\n");
	expect(index, "a/b", REPORT_TYPE, 0, "/m 4 8 0 1\n/m 8 48 1053576 2\n");
	/* 2 days: 1; 0 s: 0; 1 day: 1; 400 days: 5; in the future: 10; before 1970: 9. */
	expect(index, "", REPORT_AGE, 0, "/m 0 8 100 1\n/m 1 48 1048576 5\n/m 5 32 5000 1\n"
	       "/m 9 0 0 1\n/m 10 0 7 1\n");
	expect(index, "", REPORT_SIZE, 0, "/m 0 0 0 1\n/m 3 0 7 1\n/m 7 8 100 1\n"
	       "/m 13 64 5000 5\n/m 21 16 1048576 1\n");
	end(index);
}

UNIT_TEST(extensions)
{
	struct index *index = make(INDEX_READ);
	const char *roots[] = {""};
	struct usage_row *rows;
	size_t n;
	struct report *report = report_new(REPORT_EXTENSION, roots, 0, NOW);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_EQUAL_FATAL(report_add(report, 0, index, index_root(index)), 0);
	CU_ASSERT_EQUAL_FATAL(report_rows(report, &rows, &n), 0);
	CU_ASSERT_EQUAL_FATAL(n, 3);
	for (size_t i = 0; i < n; ++i) {
		const char *extension = report_extension(report, rows[i].key);
		uint64_t count = strcmp(extension, "c") == 0 ? 2 : strcmp(extension, "gz") == 0 ? 1
		                 : *extension ? 99 : 6;
		CU_ASSERT_EQUAL(rows[i].sum.count, count);
	}
	report_free(report);
	end(index);
}

UNIT_TEST(ranges)
{
	uint64_t from, to, last = 0;
	for (uint32_t key = 0; key <= 64; ++key) {
		report_range(REPORT_SIZE, key, &from, &to);
		CU_ASSERT_EQUAL(from, last);
		CU_ASSERT_TRUE(to > from);
		last = to;
	}
	CU_ASSERT_EQUAL(last, UINT64_MAX);
	last = 0;
	for (uint32_t key = 0; last != UINT64_MAX; ++key) {
		report_range(REPORT_AGE, key, &from, &to);
		CU_ASSERT_EQUAL(from, last);
		CU_ASSERT_TRUE(to > from);
		last = to;
	}
}

struct lines {
	char *text[64];
	size_t n;
	uint32_t cluster;
};

static int add_line(void *arg, const struct export_object *object)
{
	struct lines *lines = arg;
	CU_ASSERT_TRUE(object->cluster >= lines->cluster);
	lines->cluster = object->cluster;
	CU_ASSERT_FATAL(lines->n < COUNT(lines->text));
	CU_ASSERT_FATAL(asprintf(&lines->text[lines->n++], "%s %u", object->path,
	                         (unsigned)object->row->col[IC_INO]) > 0);
	return 0;
}

/** The export as text, "CLUSTER PATH INO" in the order of paths, compared. */
static void expect_export(struct index *index, const char *expected)
{
	STRBUF(text);
	struct lines all = {0};
	char **lines = all.text, *at;
	CU_ASSERT_EQUAL(index_export(index, add_line, &all), 0);
	const size_t n = all.n;
	for (size_t i = 0; i < n; ++i) {
		for (size_t k = i + 1; k < n; ++k) {
			if (strcmp(lines[k], lines[i]) < 0) {
				at = lines[i];
				lines[i] = lines[k];
				lines[k] = at;
			}
		}
		strbuf_printf(&text, "%s\n", lines[i]);
		free(lines[i]);
	}
	unit_expect(strbuf_str(&text), expected);
}

UNIT_TEST(changes)
{
	struct index *index = make(INDEX_WRITE);
	index_dir a, b, c;
	expect_export(index, " 2\n/a 3\n/a/b 4\n/a/b/link 12\n/a/b/y.c 11\n/a/x.c 10\n/c 5\n"
	              "/c/.hidden 14\n/c/link 12\n/c/z.tar.gz 13\n");
	CU_ASSERT_EQUAL_FATAL(index_lookup(index, "a", &a), 0);
	CU_ASSERT_EQUAL_FATAL(index_lookup(index, "a/b", &b), 0);
	CU_ASSERT_EQUAL_FATAL(index_lookup(index, "c", &c), 0);
	/* One grows, one goes, one comes; a/b moves to c/d. */
	struct index_row row = row_of(S_IFREG | 0644, 1, 200, 80, 10, 1, NOW);
	CU_ASSERT_EQUAL(index_put(index, a, "x.c", 3, &row), 0);
	CU_ASSERT_EQUAL(index_remove(index, c, "link", 4), 0);
	row = row_of(S_IFREG | 0644, 7, 1, 800, 20, 1, NOW);
	CU_ASSERT_EQUAL(index_put(index, b, "new.c", 5, &row), 0);
	row = row_of(S_IFDIR | 0755, 0, 4096, 8, 4, 2, NOW);
	CU_ASSERT_EQUAL(index_put_dir(index, &b, c, "d", 1, &row, NOW), 0);
	expect(index, "", REPORT_DIR, 2, "/m/a 0 88 200 2\n/m/c/d 0 856 1053577 4\n"
	       "/m/c 0 864 1053584 7\n/m 0 960 1053784 10\n");
	expect_export(index, " 2\n/a 3\n/a/x.c 10\n/c 5\n/c/.hidden 14\n/c/d 4\n/c/d/link 12\n"
	              "/c/d/new.c 20\n/c/d/y.c 11\n/c/z.tar.gz 13\n");
	expect(index, "", REPORT_USER, 0, "/m 0 32 0 4\n/m 1 80 207 2\n/m 2 16 1048576 2\n"
	       "/m 3 32 5000 1\n/m 7 800 1 1\n");
	/* A directory with its objects. */
	CU_ASSERT_EQUAL(index_remove_dir(index, b), 0);
	expect(index, "", REPORT_DIR, 0, "/m 0 104 207 6\n");
	end(index);
}
