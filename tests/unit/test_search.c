/* SPDX-License-Identifier: MIT */
/*
 * Searches of real directories: they return what a plain walk and pattern_match() return, for
 * every flag and number of threads.
 */
#include "unit.h"

#include "fault.h"

#include "base/strbuf.h"
#include "cmd/search/out.h"
#include "getmnt/search.h"
#include "search/avoid.h"
#include "search/pattern.h"
#include "search/search_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];

static void make_dir(const char *name)
{
	char path[512];
	snprintf(path, sizeof(path), "%s%s%s", top, *name ? "/" : "", name);
	if (mkdir(path, 0755) != 0)
		CU_FAIL_FATAL("mkdir");
}

static void make_file(const char *name)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", top, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
}

/** A new directory for a test. */
static void begin(void)
{
	strcpy(top, "/tmp/getmnt-search-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void end(void)
{
	CU_ASSERT_EQUAL(nftw(top, remove_one, 32, FTW_DEPTH | FTW_PHYS), 0);
}

static void make_link(const char *name, const char *target)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", top, name);
	CU_ASSERT_EQUAL_FATAL(symlink(target, path), 0);
}

/** Make directories, whose names end in a slash, files, and links: name, target, ... NULL. */
static void make_tree(const char *const names[], const char *const links[])
{
	for (; *names; ++names) {
		size_t n = strlen(*names) - 1;
		if ((*names)[n] == '/')
			make_dir(strndupa(*names, n));
		else
			make_file(*names);
	}
	for (; *links; links += 2)
		make_link(links[0], links[1]);
}

/** The tree of the paper's examples, and odd names. */
static void plain_tree(void)
{
	static const char *const names[] = {
		"a/", "a/b/", "a/b/c/", "foo/", "foo/a/", "foo/b/", ".hid/", "sp ace/", "empty/", "a/b/c/d/",
		"a/b/c/d/e/", "a/b/bar", "a/b/foo", "a/b/c/bar", "foo/a/bar", "foo/b/bar", ".hid/bar",
		"sp ace/bar", ".dot", "ab", "abc", "ac", "co:lon", "new\nline", "a/b/c/d/e/bar", "inv\xff",
		"a/*", "a/b/c/d/x.c", "a/b/y.c", "z.c.d", NULL,
	};
	static const char *const links[] = {"link", "a", "dangling", "nowhere", "foo/loop", "..", NULL};
	char path[512];
	make_tree(names, links);
	snprintf(path, sizeof(path), "%s/foo/fifo", top);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
}

struct names {
	char **items;
	size_t n, size;
};

static void names_add(struct names *names, const char *name)
{
	if (names->n == names->size) {
		names->size = names->size ? names->size * 2 : 64;
		names->items = realloc(names->items, names->size * sizeof(*names->items));
	}
	names->items[names->n++] = strdup(name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_free(struct names *names)
{
	for (size_t i = 0; i < names->n; ++i)
		free(names->items[i]);
	free(names->items);
	*names = (struct names){0};
}

static struct names all;

static int add_path(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type;
	if (at->level > 0)
		names_add(&all, path + strlen(top));
	return 0;
}

/** What a walk and pattern_match() find. */
static struct names expected(const char *text, unsigned flags)
{
	struct names found = {0};
	struct pattern *pattern = pattern_compile(text, strlen(text), flags & (unsigned)PATTERN_FLAGS, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
	CU_ASSERT_EQUAL(nftw(top, add_path, 32, FTW_PHYS), 0);
	for (size_t i = 0; i < all.n; ++i) {
		if (pattern_match(pattern, all.items[i]))
			names_add(&found, all.items[i]);
	}
	names_free(&all);
	pattern_free(pattern);
	return found;
}

/** What a search finds.  @errors  Incremented for each error. */
static struct names found_by(const struct search_options *options, const char *pattern, int *errors)
{
	struct names found = {0};
	const char *const roots[] = {top};
	SEARCH *search = searchv(roots, 1, pattern, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	struct searchent *e;
	while ((e = readsearch(search))) {
		if (e->err) {
			++*errors;
			continue;
		}
		CU_ASSERT_EQUAL(e->info != NULL, (options->flags & SEARCH_METADATA) != 0);
		if (e->info) {
			char path[5000];
			struct stat st;
			snprintf(path, sizeof(path), "%s%s", top, e->path);
			CU_ASSERT_EQUAL(lstat(path, &st), 0);
			CU_ASSERT_TRUE(st.st_ino == e->info->st_ino && st.st_mode == e->info->st_mode
			               && st.st_size == e->info->st_size && st.st_dev == e->info->st_dev
			               && st.st_mtim.tv_nsec == e->info->st_mtim.tv_nsec
			               && st.st_nlink == e->info->st_nlink);
			CU_ASSERT_PTR_NOT_NULL(statxsearch(search));
		}
		names_add(&found, e->path);
	}
	CU_ASSERT_EQUAL(errno, 0);
	CU_ASSERT_PTR_NULL(readsearch(search));
	closesearch(search);
	return found;
}

static void compare(struct names *want, struct names *got, const char *pattern, int flags, unsigned threads)
{
	if (want->n)
		qsort(want->items, want->n, sizeof(*want->items), by_name);
	if (got->n)
		qsort(got->items, got->n, sizeof(*got->items), by_name);
	bool same = want->n == got->n;
	for (size_t i = 0; same && i < want->n; ++i)
		same = strcmp(want->items[i], got->items[i]) == 0;
	if (!same) {
		printf("  %s, flags %#x, %u threads: %zu wanted, %zu found\n", pattern, (unsigned)flags, threads,
		       want->n, got->n);
		for (size_t i = 0; i < want->n || i < got->n; ++i)
			printf("    %s | %s\n", i < want->n ? want->items[i] : "", i < got->n ? got->items[i] : "");
	}
	CU_ASSERT_TRUE(same);
	names_free(want);
	names_free(got);
}

static const char *const patterns[] = {
	"*", "/*", "bar", "/bar", "c/bar", "/c/bar", "b/bar", "/a/b/foo", "/*/foo", "/*/*/foo", "*/*r",
	"*r", "b/*", "/a", "/a/b", "/a/b/c/d/e/bar", "/a/*/c|foo", "|bar", "*.c", "*.c|*.d", "?b", "ab?",
	"/[ab]*", ".*", "/.*", "/.hid/bar", "sp\\ ace/bar", "co:lon", "new\nline", "/link", "link/b",
	"dangling", "/foo/*/bar", "/foo/*|/a/*", "a/\\*", "*/", "/", "e/*", "/*/*/*/*", "inv?", "nothing",
	"/a/b|/a/b/bar|/nosuch/x", "*o*|*a*", "fifo", "/foo/loop/a",
};

/** Compare a search for each pattern with a walk. */
static void compare_with_walk(const char *const texts[], size_t n, int flags, unsigned threads)
{
	for (size_t i = 0; i < n; ++i) {
		int errors = 0;
		struct search_options options = {.size = sizeof(options), .flags = flags, .threads = threads};
		struct names want = expected(texts[i], (unsigned)flags), got = found_by(&options, texts[i], &errors);
		CU_ASSERT_EQUAL(errors, 0);
		compare(&want, &got, texts[i], flags, threads);
	}
}

static void test_same_as_walk(void)
{
	static const int flags[] = {
		0, SEARCH_BYNAME, SEARCH_METADATA, SEARCH_PERIOD, SEARCH_PAPER_Q, SEARCH_XDEV, SEARCH_METADATA | SEARCH_CACHED,
	};
	static const char *const some[] = {"*", "f3.c", "/d5*/e*/f1.c", "e1?/*", "/d1/*"};
	char name[64];
	begin();
	plain_tree();
	for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); ++k) {
		for (unsigned threads = 1; threads <= 4; threads += 3)
			compare_with_walk(patterns, sizeof(patterns) / sizeof(*patterns), flags[k], threads);
	}
	end();
	/* Directories enough for threads to be started. */
	begin();
	for (int i = 0; i < 60 * 60; ++i) {
		snprintf(name, sizeof(name), "d%d", i / 60);
		if (i % 60 == 0)
			make_dir(name);
		snprintf(name, sizeof(name), "d%d/e%d", i / 60, i % 60);
		make_dir(name);
		snprintf(name, sizeof(name), "d%d/e%d/f%d.c", i / 60, i % 60, i % 60 % 7);
		make_file(name);
	}
	for (unsigned threads = 1; threads <= 4; ++threads)
		compare_with_walk(some, sizeof(some) / sizeof(*some), 0, threads);
	end();
}

/** Roots: several, none, a file, with and without their names. */
static void test_roots(void)
{
	begin();
	plain_tree();
	char paths[400], want[200];
	snprintf(paths, sizeof(paths), "%s/a/b:%s/nosuch:%s/co\\:lon:%s/foo", top, top, top, top);
	SEARCH *search = opensearch(paths, "/bar|/a", SEARCH_INCLUDEROOT);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	static const struct {
		const char *path;
		int source, err;
	} rows[] = {
		{"/a/b/bar", 0, 0}, {"/nosuch", SEARCH_ERR_OPEN, ENOENT}, {"/co:lon", SEARCH_ERR_OPEN, ENOTDIR},
		{"/foo/a", 0, 0},
	};
	struct searchent *e;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		e = readsearch(search);
		CU_ASSERT_PTR_NOT_NULL_FATAL(e);
		snprintf(want, sizeof(want), "%s%s", top, rows[i].path);
		CU_ASSERT_STRING_EQUAL(e->path, want);
		CU_ASSERT_TRUE(e->errsource == rows[i].source && e->err == rows[i].err && !e->info);
	}
	CU_ASSERT_PTR_NULL(readsearch(search));
	struct search_counts counts;
	countsearch(search, &counts, sizeof(counts));
	CU_ASSERT_TRUE(counts.found == 2 && counts.errors == 2 && counts.dirs == 2);
	closesearch(search);

	/* Without the root; only the first. */
	snprintf(paths, sizeof(paths), "%s/a/b", top);
	search = opensearch(paths, "bar", SEARCH_STOPATFIRST);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	e = readsearch(search);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	CU_ASSERT_TRUE(e->path[0] == '/' && strstr(e->path, "bar") && !strstr(e->path, top));
	CU_ASSERT_TRUE(readsearch(search) == NULL && errno == 0);
	closesearch(search);

	/* An error is no first object, and attributes not available, whatever was before it. */
	snprintf(paths, sizeof(paths), "%s/a/b:%s/nosuch:%s/a/b", top, top, top);
	for (int first = 0; first < 2; ++first) {
		int flags = SEARCH_METADATA | SEARCH_INCLUDEROOT | (first ? SEARCH_STOPATFIRST : 0);
		search = opensearch(first ? strchr(paths, ':') + 1 : paths, "/bar", flags);
		for (int i = first; i < 3; ++i) {
			e = search ? readsearch(search) : NULL;
			CU_ASSERT_TRUE_FATAL(e != NULL);
			CU_ASSERT_TRUE(e->err == (i == 1 ? ENOENT : 0) && !e->info == (i == 1) && !statxsearch(search) == (i == 1));
		}
		CU_ASSERT_TRUE(readsearch(search) == NULL && errno == 0);
		closesearch(search);
	}
	end();
}

/** Counts of a caller compiled with another version of the structure. */
static void test_counts_size(void)
{
	const char *const roots[] = {"/nosuch"};
	struct {
		struct search_counts counts;
		unsigned char more[16];
	} whole, part;
	SEARCH *search = searchv(roots, 1, "*", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	CU_ASSERT_PTR_NOT_NULL(readsearch(search));
	countsearch(search, &whole.counts, sizeof(whole.counts));
	CU_ASSERT_TRUE(whole.counts.errors == 1 && whole.counts.threads == 1 && whole.counts.calls > 0);
	memset(whole.more, 0, sizeof(whole.more));
	for (size_t size = 0; size <= sizeof(part); ++size) {
		memset(&part, 0xa5, sizeof(part));
		countsearch(search, &part.counts, size);
		CU_ASSERT_EQUAL(memcmp(&part, &whole, size), 0);
		for (size_t i = size; i < sizeof(part); ++i)
			CU_ASSERT_EQUAL(((unsigned char *)&part)[i], 0xa5);
	}
	closesearch(search);
}

/** An empty path is the current directory, ".". */
static void test_here(void)
{
	static const struct {
		const char *paths, *pattern, *want;
	} rows[] = {
		{"", "/ab", "./ab"}, {".", "/ab", "./ab"}, {"", "/a[b]", "./ab"}, {":a", "/ab", "./ab"}, {"a/b:", "/ab", "./ab"},
	};
	begin();
	plain_tree();
	CU_ASSERT_EQUAL_FATAL(chdir(top), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		SEARCH *search = opensearch(rows[i].paths, rows[i].pattern, SEARCH_INCLUDEROOT);
		CU_ASSERT_PTR_NOT_NULL_FATAL(search);
		struct searchent *e = readsearch(search);
		CU_ASSERT_TRUE(e && !e->err && strcmp(e->path, rows[i].want) == 0);
		CU_ASSERT_TRUE(readsearch(search) == NULL && errno == 0);
		closesearch(search);
	}
	SEARCH *search = opensearch("", "/ab", 0);
	struct searchent *e = search ? readsearch(search) : NULL;
	CU_ASSERT_TRUE(e && strcmp(e->path, "/ab") == 0);
	closesearch(search);
	/* It was removed, which a kernel may report. */
	make_dir("gone");
	CU_ASSERT_TRUE_FATAL(chdir("gone") == 0 && rmdir("../gone") == 0);
	search = opensearch("", "*", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	e = readsearch(search);
	CU_ASSERT_TRUE(e ? e->err == ENOENT && strcmp(e->path, ".") == 0 : errno == 0);
	closesearch(search);
	CU_ASSERT_EQUAL(chdir("/"), 0);
	end();
}

/** An anchored pattern opens only what it must, and a literal one nothing. */
static void test_counts(void)
{
	static const struct {
		const char *pattern;
		uint64_t dirs;
	} rows[] = {
		{"/a/b/bar", 0}, {"/nosuch/x", 0}, {"/*", 1}, {"/a/*", 2}, {"/a/b/*", 3}, {"/*/bar", 6},
		{"/foo/*/bar", 4}, {"bar", 12}, {"/z*", 1},
	};
	begin();
	plain_tree();
	const char *const roots[] = {top};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		SEARCH *search = searchv(roots, 1, rows[i].pattern, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(search);
		while (readsearch(search))
			;
		struct search_counts counts;
		countsearch(search, &counts, sizeof(counts));
		if (counts.dirs != rows[i].dirs)
			printf("  %s: %ju directories\n", rows[i].pattern, (uintmax_t)counts.dirs);
		CU_ASSERT_EQUAL(counts.dirs, rows[i].dirs);
		/* For names no object is examined. */
		const struct os *os = search_os(search);
		CU_ASSERT_TRUE(os->calls[OS_STATX] <= 2);
		CU_ASSERT_EQUAL(counts.calls, os_calls_total(os));
		CU_ASSERT_TRUE(counts.mount_calls > 0 && counts.mount_calls == os_calls_total(search_looked(search)));
		/* On ext4 one call for each is saved. */
		CU_ASSERT_TRUE(os->calls[OS_GETDENTS] == 2 * counts.dirs || os->calls[OS_GETDENTS] == counts.dirs);
		closesearch(search);
	}
	/* With metadata: one call for each match. */
	SEARCH *search = opensearch(top, "bar", SEARCH_METADATA);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	while (readsearch(search))
		;
	CU_ASSERT_EQUAL(search_os(search)->calls[OS_STATX], 1 + 7);
	closesearch(search);
	end();
}

/** All the ways in which attributes are fetched, and none. */
static const struct search_options ways[] = {
	{.size = sizeof(ways[0])},
	{.size = sizeof(ways[0]), .flags = SEARCH_METADATA},
	{.size = sizeof(ways[0]), .flags = SEARCH_METADATA, .engine = SEARCH_ENGINE_SYNC, .ahead = true},
	{.size = sizeof(ways[0]), .flags = SEARCH_METADATA, .ahead = true},
	{.size = sizeof(ways[0]), .flags = SEARCH_METADATA},
};
enum { NWAYS = sizeof(ways) / sizeof(*ways) };

/** Prepare a search by one of them: the last has no clock, so that calls seem to wait. */
static void way_begin(size_t way)
{
	static char given[200], without[210];
	static bool known;
	if (!known) {
		const char *env = getenv("GETMNT_DISABLE");
		snprintf(given, sizeof(given), "%s", env ? env : "");
		snprintf(without, sizeof(without), "%s,clock", given);
		known = true;
	}
	unit_note("way %zu", way);
	setenv("GETMNT_DISABLE", way == NWAYS - 1 ? without : given, 1);
}

/** Each way asks for the attributes of each entry once. */
static void test_ways(void)
{
	enum { FILES = 3000 };
	begin();
	make_dir("d");
	for (int i = 0; i < FILES; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "d/%x", i * 2654435761u);
		make_file(name);
	}
	const char *const roots[] = {top};
	for (size_t way = 0; way < NWAYS; ++way) {
		struct search_options options = ways[way];
		way_begin(way);
		options.threads = 1;
		SEARCH *search = searchv(roots, 1, "/d/*", &options);
		CU_ASSERT_PTR_NOT_NULL_FATAL(search);
		ino_t last = 0;
		size_t n = 0, before = 0;
		for (struct searchent *e; (e = readsearch(search)); ++n) {
			before += e->info && e->info->st_ino < last;
			last = e->info ? e->info->st_ino : 0;
		}
		search_stop(search);
		const uint64_t *calls = search_os(search)->calls;
		CU_ASSERT_EQUAL(n, FILES);
		CU_ASSERT_TRUE(!options.ahead || before == 0);
		/* The first buffer, then all the rest. */
		CU_ASSERT_TRUE(way < NWAYS - 1 || before <= 1);
		/* And some for the root. */
		CU_ASSERT_TRUE(calls[OS_STATX] < 20 + (options.flags ? FILES : 0));
		CU_ASSERT_TRUE(!options.flags || calls[OS_STATX] >= FILES);
		CU_ASSERT_EQUAL(calls[OS_URING_SETUP], 0);
		closesearch(search);
	}
	way_begin(0);
	end();
}

/** A large directory comes in parts; a search may be left at any point. */
static void test_large_and_early(void)
{
	enum { FILES = 20000 };
	begin();
	make_dir("big");
	for (int i = 0; i < FILES; ++i) {
		char name[64];
		snprintf(name, sizeof(name), "big/a-name-of-some-length-%d", i);
		make_file(name);
	}
	make_dir("big/dir");
	make_file("big/dir/last");
	int fds = unit_count("/proc/self/fd");
	for (size_t way = 0; way < NWAYS; ++way) {
		for (unsigned threads = way < 2 ? 1 : 2; threads <= 2; ++threads) {
			struct search_options options = ways[way];
			way_begin(way);
			options.threads = threads;
			int errors = 0;
			struct names got = found_by(&options, "*", &errors);
			CU_ASSERT_TRUE(got.n == FILES + 3 && errors == 0);
			names_free(&got);
			static const int leave[] = {0, 1, 5000, FILES};
			for (size_t i = 0; i < sizeof(leave) / sizeof(*leave); ++i) {
				const char *const roots[] = {top};
				SEARCH *search = searchv(roots, 1, "*", &options);
				for (int k = 0; k < leave[i]; ++k)
					CU_ASSERT_PTR_NOT_NULL_FATAL(readsearch(search));
				cancelsearch(search);
				CU_ASSERT_TRUE(readsearch(search) == NULL && errno == ECANCELED);
				closesearch(search);
			}
		}
	}
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), fds);
	way_begin(0);
	end();
}

static void test_depth_and_access(void)
{
	begin();
	plain_tree();
	struct search_options options = {.size = sizeof(options), .depth = 2};
	int errors = 0;
	struct names got = found_by(&options, "*", &errors);
	/* /a/b/c is at depth 3: reported and not entered. */
	CU_ASSERT_EQUAL(errors, 1);
	for (size_t i = 0; i < got.n; ++i)
		CU_ASSERT_PTR_NULL(strstr(got.items[i], "/a/b/c/"));
	names_free(&got);

	char path[200];
	snprintf(path, sizeof(path), "%s/abc", top);
	CU_ASSERT_EQUAL(chmod(path, 0755), 0);
	options = (struct search_options){.size = sizeof(options), .flags = SEARCH_X_OK};
	errors = 0;
	got = found_by(&options, "/ab*|/foo|/link", &errors);
	/* Not /ab, which nobody may execute. */
	CU_ASSERT_TRUE(got.n == 3 && errors == 0);
	names_free(&got);
	end();
}

_Static_assert(SEARCH_INCLUDEROOT == R_OK && SEARCH_METADATA == W_OK && SEARCH_STOPATFIRST == X_OK,
               "what opensearch(3) warns of");

static void test_refused(void)
{
	static const struct {
		const char *pattern;
		int flags;
	} rows[] = {{"", 0}, {"[", 0}, {"a\\", 0}, {"x", 1 << 30}, {"x", 1 << 7},
	           {"x", SEARCH_BYNAME | SEARCH_BYINODE}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
		CU_ASSERT_TRUE(opensearch("/", rows[i].pattern, rows[i].flags) == NULL && errno == EINVAL);
	CU_ASSERT_EQUAL(closesearch(NULL), 0);
}

/** Options of a caller compiled with another version of the structure. */
static void test_options_size(void)
{
	const char *const roots[] = {"/"};
	struct {
		struct search_options options;
		unsigned char more[8192];
	} own = {.options = {.depth = 1}};
	static const struct {
		size_t size;
		int at, error;                /* a byte that is not 0; the result */
	} rows[] = {
		{0, -1, EINVAL}, {sizeof(size_t), -1, EINVAL}, {offsetof(struct search_options, ahead), -1, EINVAL},
		{sizeof(own.options), -1, 0}, {sizeof(own.options), 0, 0}, {sizeof(own.options) + 1, -1, 0},
		{sizeof(own.options) + 1, 0, E2BIG}, {sizeof(own.options) + 64, -1, 0}, {sizeof(own.options) + 64, 63, E2BIG},
		{sizeof(own.options) + 64, 64, 0}, {4096, -1, 0}, {4097, -1, E2BIG}, {SIZE_MAX, -1, E2BIG},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		memset(own.more, 0, sizeof(own.more));
		if (rows[i].at >= 0)
			own.more[rows[i].at] = 1;
		own.options.size = rows[i].size;
		errno = 0;
		SEARCH *search = searchv(roots, 1, "*", &own.options);
		unit_note("size %zu", rows[i].size);
		CU_ASSERT_TRUE(rows[i].error ? !search && errno == rows[i].error : search != NULL);
		closesearch(search);
	}
	/* Every byte is checked. */
	for (size_t i = 0; i < sizeof(own.options.reserved); ++i) {
		own.options = (struct search_options){.size = sizeof(own.options)};
		own.options.reserved[i] = 1;
		CU_ASSERT_TRUE(searchv(roots, 1, "*", &own.options) == NULL && errno == E2BIG);
	}
	/* Invalid engines; no options. */
	own.options = (struct search_options){.size = sizeof(own.options), .engine = -1};
	CU_ASSERT_TRUE(searchv(roots, 1, "*", &own.options) == NULL && errno == EINVAL);
	own.options.engine = SEARCH_ENGINE_BULK + 1;
	CU_ASSERT_TRUE(searchv(roots, 1, "*", &own.options) == NULL && errno == EINVAL);
	SEARCH *search = searchv(roots, 1, "*", NULL);
	CU_ASSERT_PTR_NOT_NULL(search);
	closesearch(search);
}

static void test_avoid(void)
{
	struct avoid *avoid = avoid_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(avoid);
	CU_ASSERT_EQUAL(avoid_add(avoid, "/srv/nfs"), 0);
	CU_ASSERT_EQUAL(avoid_add(avoid, "/srv/nfs/below"), 0);
	for (int i = 0; i < 100; ++i) {
		char path[64];
		snprintf(path, sizeof(path), "/home/user%d/fuse", i);
		CU_ASSERT_EQUAL(avoid_add(avoid, path), 0);
	}
	uint32_t srv = avoid_find(avoid, "//srv/"), nfs = avoid_step(avoid, srv, "nfs", 3);
	uint32_t below = avoid_find(avoid, "/srv/nfs/below");
	CU_ASSERT_TRUE(srv != AVOID_NONE && srv == avoid_step(avoid, avoid_find(avoid, "/"), "srv", 3));
	CU_ASSERT_TRUE(!avoid_here(avoid, srv) && avoid_below(avoid, srv) && avoid_here(avoid, nfs));
	CU_ASSERT_TRUE(avoid_here(avoid, avoid_find(avoid, "/home/user77/fuse")));
	CU_ASSERT_EQUAL(avoid_step(avoid, srv, "nfs4", 4), AVOID_NONE);
	CU_ASSERT_EQUAL(avoid_step(avoid, srv, "nf", 2), AVOID_NONE);
	CU_ASSERT_EQUAL(avoid_step(avoid, AVOID_NONE, "srv", 3), AVOID_NONE);
	CU_ASSERT_EQUAL(avoid_find(avoid, "/usr"), AVOID_NONE);
	const struct {
		const char *path;
		uint32_t cover;
	} rows[] = {
		{"/srv/nfs", nfs}, {"/srv//nfs/x/y", nfs}, {"/srv/nfs/below/x", below}, {"/srv", AVOID_NONE},
		{"/", AVOID_NONE}, {"/usr/x", AVOID_NONE},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
		CU_ASSERT_EQUAL(avoid_cover(avoid, rows[i].path), rows[i].cover);
	avoid_free(avoid);
	avoid_free(NULL);
}

/** Linear: many places in one directory, each of them met, and as many other names. */
static void test_avoid_many(void)
{
	enum { N = 200000 };
	struct avoid *avoid = avoid_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(avoid);
	double start = unit_cpu();
	char path[64];
	size_t wrong = 0;
	for (int i = 0; i < N; ++i) {
		snprintf(path, sizeof(path), "/m/%06d", i);
		wrong += avoid_add(avoid, path) != 0;
	}
	uint32_t dir = avoid_find(avoid, "/m");
	for (int i = 0; i < 2 * N; ++i) {
		snprintf(path, sizeof(path), "%06d", i);
		uint32_t at = avoid_step(avoid, dir, path, strlen(path));
		wrong += i < N ? !avoid_here(avoid, at) : at != AVOID_NONE;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_TRUE(unit_cpu() - start < 20);
	avoid_free(avoid);
}

/** Linear: many mounts that are entered. */
static void test_mounts_many(void)
{
	enum { N = 400000 };
	const char *const roots[] = {"/"};
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	SEARCH *search = search_new(&os, NULL, NULL, roots, 1, "*", &(struct search_options){0});
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	double start = unit_cpu();
	size_t wrong = 0;
	for (uint32_t i = 0; i < N; ++i)
		wrong += search_mount_number(search, (uint64_t)i * 3) != i || search_mount_number(search, i / 2 * (uint64_t)3) != i / 2;
	CU_ASSERT_TRUE(wrong == 0 && search->mount_ids[N - 1].id == (uint64_t)(N - 1) * 3);
	CU_ASSERT_TRUE(unit_cpu() - start < 10);
	closesearch(search);
}

/** A tree t with links, and what is next to it. */
static void linked_tree(void)
{
	char out[200];
	snprintf(out, sizeof(out), "%s/./out/../out/", top);
	make_tree((const char *const[]){
		"t/", "t/a/", "t/a/b/", "out/", "out/sub/", "out/deep/", "t/a/x", "t/a/b/y", "out/o", "out/sub/p", NULL,
	}, (const char *const[]){
		"t/abs", out, "t/link", "a", "t/link2", "link", "t/a/up", "..", "t/a/rel", "../../out/sub/../sub",
		"t/a/file", "b/./y", "t/self", "self", "t/ping", "pong", "t/pong", "ping", "t/dangling", "no/where",
		"t/a/not-dir", "x/", "t/a/below-file", "x/y", "out/back", "../t", "out/deep/again", "../../out", NULL,
	});
}

/** The entries of a search of t, sorted, one per line: "SOURCE:errno:" before errors, the type
    after objects. */
static struct names lines_of(const char *pattern, const struct search_options *options)
{
	struct names lines = {0};
	char root[100], line[700];
	snprintf(root, sizeof(root), "%s/t", top);
	const char *const roots[] = {root};
	SEARCH *search = searchv(roots, 1, pattern, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	struct searchent *e;
	while ((e = readsearch(search))) {
		static const char letters[] = "?pc?d?b?f?l?s";
		if (e->err)
			snprintf(line, sizeof(line), "%d:%d:%s", e->errsource, e->err, e->path + strlen(root));
		else
			snprintf(line, sizeof(line), "%s %c", e->path,
			         letters[e->info ? IFTODT(e->info->st_mode) : search_type(search)]);
		CU_ASSERT_EQUAL(!e->err && options->flags & SEARCH_METADATA, e->info != NULL);
		names_add(&lines, line);
	}
	CU_ASSERT_EQUAL(errno, 0);
	closesearch(search);
	if (lines.n)
		qsort(lines.items, lines.n, sizeof(*lines.items), by_name);
	return lines;
}

static void expect_lines(const char *pattern, const struct search_options *options, const char *want)
{
	struct names lines = lines_of(pattern, options);
	char text[4096] = "";
	for (size_t i = 0; i < lines.n; ++i) {
		strcat(text, i ? "\n" : "");
		strcat(text, lines.items[i]);
	}
	if (strcmp(text, want) != 0)
		printf("  %s, flags %#x:\n%s\n  wanted:\n%s\n", pattern, (unsigned)options->flags, text, want);
	CU_ASSERT_STRING_EQUAL(text, want);
	names_free(&lines);
}

/** Lines taken. */
struct taken {
	struct strbuf text;
	uint64_t n;
};

static void take_lines(void *arg, struct strbuf *text, uint64_t n)
{
	struct taken *taken = arg;
	strbuf_add(&taken->text, text->data, text->len);
	taken->n += n;
}

static void line_of(void *arg, const struct search_object *object, struct strbuf *text)
{
	(void)arg;
	strbuf_printf(text, "%.*s%s %d %d", (int)object->dir_len, object->dir, object->name, object->type,
	              object->st ? (int)IFTODT(object->st->stx_mode) : -1);
}

/** Escape a path: '0' becomes "00". */
static void escape_double(struct strbuf *text, const char *path)
{
	for (; *path; ++path)
		strbuf_puts(text, *path == '0' ? "00" : (const char[]){*path, '\0'});
}

/** Objects become lines of the caller; readsearch() returns none. */
static void test_made_lines(void)
{
	char name[256];
	snprintf(name, sizeof(name), "lines/%0100d", 0);
	begin();
	make_dir("lines");
	make_dir(name);
	make_file("lines/one");
	for (int deep = 0; deep < 2; ++deep) {
		size_t n = strlen(name);
		snprintf(name + n, sizeof(name) - n, "/d");
		make_dir(name);
	}
	struct search_more more = {.lines = take_lines, .line = line_of, .escape = escape_double, .end = ';', .statx = true};
	for (int flags = SEARCH_INCLUDEROOT; flags <= (SEARCH_INCLUDEROOT | SEARCH_METADATA); flags += SEARCH_METADATA) {
		struct taken taken = {0};
		strbuf_init(&taken.text);
		more.arg = &taken;
		char root[100], want[700];
		snprintf(root, sizeof(root), "%s/lines", top);
		const char *const roots[] = {root};
		SEARCH *search = searchv(roots, 1, "*", &(struct search_options){.size = sizeof(struct search_options),
		                                                                 .flags = flags});
		CU_ASSERT_PTR_NOT_NULL_FATAL(search);
		search_more(search, &more);
		CU_ASSERT_PTR_NULL(readsearch(search));
		CU_ASSERT_EQUAL(errno, 0);
		closesearch(search);
		CU_ASSERT_EQUAL(taken.n, 4);
		struct strbuf escaped;
		strbuf_init(&escaped);
		escape_double(&escaped, root);
		bool meta = flags & SEARCH_METADATA;
		snprintf(want, sizeof(want), "%s/one %d %d;", escaped.data, DT_REG, meta ? DT_REG : -1);
		CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&taken.text), want));
		snprintf(want, sizeof(want), "%s/%0200d/d/d %d %d;", escaped.data, 0, DT_DIR, meta ? DT_DIR : -1);
		CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&taken.text), want));
		strbuf_destroy(&escaped);
		strbuf_destroy(&taken.text);
	}
	end();
}

static void test_follow(void)
{
	/* ELOOP is 40, EOVERFLOW 75.  Each directory is entered once, by its own name before that
	   of a link; of links, by the first. */
	static const struct {
		const char *pattern, *want;
	} rows[] = {
		{"*", "/a d\n/a/b d\n/a/b/y f\n/a/below-file l\n/a/file f\n/a/not-dir l\n/a/rel d\n/a/up d\n"
		      "/a/x f\n/abs d\n/abs/back d\n/abs/deep d\n/abs/deep/again d\n/abs/o f\n/abs/sub d\n"
		      "/abs/sub/p f\n/dangling l\n/link d\n/link2 d\n/ping l\n/pong l\n/self l\n"
		      "1:40:/a/up\n1:40:/abs/back\n1:40:/abs/deep/again\n1:40:/ping\n1:40:/pong\n1:40:/self"},
		{"/link/x", "/link/x f"}, {"/link2/b/y", "/link2/b/y f"}, {"/self", "/self l\n1:40:/self"},
		{"/self/x", "1:40:/self/x"}, {"/dangling", "/dangling l"}, {"/dangling/x", ""}, {"/nothing", ""},
		{"/a/not-dir", "/a/not-dir l"}, {"/abs/sub/p", "/abs/sub/p f"}, {"/a/up/a/up/abs/o", "/a/up/a/up/abs/o f"},
		{"/abs/*", "/abs/back d\n/abs/deep d\n/abs/o f\n/abs/sub d"},
		{"/lin[k]/*/y", "/link/b/y f\n1:40:/link/up"},
		/* With other live states it is entered again. */
		{"/a/x|/link/b/*", "/a/x f\n/link/b/y f"},
		{"/a/up/*", "1:40:/a/up"},
	};
	begin();
	linked_tree();
	int fds = unit_count("/proc/self/fd");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		for (int more = 0; more <= SEARCH_METADATA; more += SEARCH_METADATA) {
			for (unsigned threads = 1; threads <= 4; threads += 3) {
				struct search_options options = {
					.size = sizeof(options), .flags = SEARCH_FOLLOW | more, .threads = threads,
				};
				expect_lines(rows[i].pattern, &options, rows[i].want);
			}
		}
	}
	/* Limits hold below links too. */
	struct search_options options = {.size = sizeof(options), .flags = SEARCH_FOLLOW, .depth = 1};
	expect_lines("/abs/sub/*", &options, "6:75:/abs/sub");
	options = (struct search_options){.size = sizeof(options), .flags = SEARCH_FOLLOW | SEARCH_X_OK};
	expect_lines("/abs|/a/file|/a/x|/dangling", &options, "/abs d\n/dangling l");
	options.flags = SEARCH_FOLLOW | SEARCH_STOPATFIRST;
	expect_lines("/abs/sub/p*", &options, "/abs/sub/p f");
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), fds);
	end();
}

/** A path that is looked up has the same depth limit as one that is searched for. */
static void test_depth_literal(void)
{
	static const char *const paths[] = {
		"/a", "/a/b", "/a/b/y", "/a/b/c/z", "/a/b/c", "/a/b/c/none", "/a/x/z", "/none/b/y", "/link/b/c/z", "/link2/b",
		"/abs/sub/p", "/abs/o/x", "/dangling/x/y", "/a/file/x/y",
	};
	static const int flags[] = {0, SEARCH_FOLLOW, SEARCH_XDEV, SEARCH_METADATA, SEARCH_FOLLOW | SEARCH_METADATA};
	char disable[200];
	const char *given = getenv("GETMNT_DISABLE");
	snprintf(disable, sizeof(disable), "%s", given ? given : "");
	begin();
	linked_tree();
	make_dir("t/a/b/c");
	make_file("t/a/b/c/z");
	struct search_options options = {.size = sizeof(options), .threads = 1};
	for (int old = 0; old < 2; ++old) {
		setenv("GETMNT_DISABLE", old ? "openat2,statx-mntid" : disable, 1);
		for (options.depth = 0; options.depth < 5; ++options.depth) {
			for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) * 5; ++i) {
				const char *path = paths[i / 5];
				char pattern[100], want[700] = "";
				options.flags = flags[i % 5];
				size_t n = strlen(path) - 1;
				snprintf(pattern, sizeof(pattern), "%.*s[%c]", (int)n, path, path[n]);
				struct names lines = lines_of(pattern, &options);
				for (size_t k = 0; k < lines.n; ++k)
					snprintf(want + strlen(want), sizeof(want) - strlen(want), "%s%s", k ? "\n" : "", lines.items[k]);
				names_free(&lines);
				expect_lines(path, &options, want);
			}
		}
	}
	setenv("GETMNT_DISABLE", disable, 1);
	options = (struct search_options){.size = sizeof(options), .depth = 1};
	expect_lines("/a/b/c/z", &options, "6:75:/a/b");
	options.flags = SEARCH_FOLLOW;
	expect_lines("/abs/sub/p", &options, "6:75:/abs/sub");
	end();
}

/** The requested order. */
static void test_order(void)
{
	begin();
	plain_tree();
	for (int i = 0; i < 3000; ++i) {
		char name[64];
		snprintf(name, sizeof(name), "empty/%d", i * 7919 % 3000);
		make_file(name);
	}
	static const int flags[] = {
		SEARCH_BYNAME, SEARCH_BYINODE, SEARCH_BYNAME | SEARCH_METADATA, SEARCH_BYINODE | SEARCH_METADATA,
	};
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); ++i) {
		for (unsigned threads = 1; threads <= 4; threads += 3) {
			const char *const roots[] = {top};
			struct search_options options = {.size = sizeof(options), .flags = flags[i], .threads = threads};
			SEARCH *search = searchv(roots, 1, "*", &options);
			CU_ASSERT_PTR_NOT_NULL_FATAL(search);
			char last_dir[400] = "", last[400] = "", path[800];
			ino_t last_ino = 0;
			size_t n = 0;
			struct names got = {0};
			for (struct searchent *e; (e = readsearch(search)); ++n) {
				struct stat st;
				const char *name = strrchr(e->path, '/') + 1;
				size_t dir = (size_t)(name - e->path);
				snprintf(path, sizeof(path), "%s%s", top, e->path);
				CU_ASSERT_TRUE(e->err == 0 && lstat(path, &st) == 0);
				if (strlen(last_dir) == dir && memcmp(last_dir, e->path, dir) == 0)
					CU_ASSERT_TRUE(flags[i] & SEARCH_BYNAME ? strcmp(last, name) < 0 : last_ino < st.st_ino);
				snprintf(last_dir, sizeof(last_dir), "%.*s", (int)dir, e->path);
				snprintf(last, sizeof(last), "%s", name);
				last_ino = st.st_ino;
				names_add(&got, e->path);
			}
			closesearch(search);
			struct names want = expected("*", 0);
			compare(&want, &got, "*", flags[i], threads);
		}
	}
	end();
}

/** Whether this many threads are left; one that was joined may still be visible. */
static bool threads_are(int tasks)
{
	for (int i = 0; i < 2000 && unit_count("/proc/self/task") != tasks; ++i)
		usleep(1000);
	return unit_count("/proc/self/task") == tasks;
}

/** Search once, since a sanitizer may start a thread with the first one.
    @return the number of threads. */
static int warm_up(void)
{
	struct search_options options = {.size = sizeof(options), .threads = 4};
	int errors = 0;
	struct names found = found_by(&options, "*", &errors);
	names_free(&found);
	int least = unit_count("/proc/self/task");
	for (int i = 0; i < 100; ++i) {
		usleep(1000);
		int now = unit_count("/proc/self/task");
		least = now < least ? now : least;
	}
	return least;
}

/** Directories enough for threads to be started. */
static void wide_tree(int dirs)
{
	for (int i = 0; i < dirs; ++i) {
		char name[64];
		snprintf(name, sizeof(name), "w%d", i);
		make_dir(name);
		snprintf(name, sizeof(name), "w%d/f", i);
		make_file(name);
	}
}

/** Searches closed after each number of entries. */
static void test_close_anywhere(void)
{
	enum { DIRS = 300 };
	begin();
	wide_tree(DIRS);
	make_link("w0/link", "../w1");
	int tasks = warm_up(), fds = unit_count("/proc/self/fd");
	const char *const roots[] = {top};
	bool any = false;
	for (size_t way = 0; way <= NWAYS; ++way) {
		/* The last follows links. */
		struct search_options options = ways[way % NWAYS];
		way_begin(way % NWAYS);
		options.flags |= way == NWAYS ? SEARCH_FOLLOW : 0;
		options.threads = 4;
		for (int k = 0; k <= 2 * DIRS + 1; k += way ? 7 : 1) {
			unit_note("closed after %d", k);
			SEARCH *search = searchv(roots, 1, "*", &options);
			CU_ASSERT_PTR_NOT_NULL_FATAL(search);
			for (int i = 0; i < k; ++i)
				CU_ASSERT_PTR_NOT_NULL_FATAL(readsearch(search));
			if (k % 50 == 49)
				any |= unit_count("/proc/self/task") > tasks;
			closesearch(search);
			if (k % 10 == 0 || unit_count("/proc/self/fd") != fds || !threads_are(tasks))
				CU_ASSERT_TRUE_FATAL(unit_count("/proc/self/fd") == fds && threads_are(tasks));
		}
	}
	/* Threads were running. */
	CU_ASSERT_TRUE(any);
	end();
}

static SEARCH *to_cancel;
static pthread_t owner;

/** Cancel soon; with an argument, by a signal to the owner. */
static void *cancel_soon(void *arg)
{
	usleep(arg ? 2500 : 2000);
	if (arg)
		pthread_kill(owner, SIGUSR1);
	else
		cancelsearch(to_cancel);
	return NULL;
}

static void cancel_now(int signal)
{
	(void)signal;
	cancelsearch(to_cancel);
}

/** Read to the end.  @return how many entries came before. */
static int read_out(SEARCH *search, int *error)
{
	int n = 0;
	while (readsearch(search))
		++n;
	*error = errno;
	return n;
}

static void test_cancel(void)
{
	enum { DIRS = 600, RUNS = 30 };
	begin();
	wide_tree(DIRS);
	int tasks = warm_up(), fds = unit_count("/proc/self/fd"), cancelled = 0;
	struct sigaction action = {.sa_handler = cancel_now}, old;
	CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &action, &old), 0);
	/* The same tree many times: long enough to cancel. */
	const char *roots[200];
	for (int i = 0; i < 200; ++i)
		roots[i] = top;
	for (int run = 0; run < RUNS; ++run) {
		struct search_options options = {.size = sizeof(options), .threads = 1 + (unsigned)run % 4};
		pthread_t thread;
		int error, n;
		to_cancel = searchv(roots, 200, "*", &options);
		CU_ASSERT_PTR_NOT_NULL_FATAL(to_cancel);
		owner = pthread_self();
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cancel_soon, run % 2 ? &owner : NULL), 0);
		n = read_out(to_cancel, &error);
		pthread_join(thread, NULL);
		CU_ASSERT_TRUE(error == ECANCELED || (error == 0 && n == 200 * 2 * DIRS));
		cancelled += error == ECANCELED;
		CU_ASSERT_TRUE(error == 0 || (readsearch(to_cancel) == NULL && errno == ECANCELED));
		closesearch(to_cancel);
		CU_ASSERT_TRUE(unit_count("/proc/self/fd") == fds && threads_are(tasks));
	}
	CU_ASSERT_TRUE(cancelled > RUNS / 2);
	sigaction(SIGUSR1, &old, NULL);
	end();
}

/** With a failing allocation or kernel call a search ends, reports what it could not do, and
    leaves nothing behind. */
static void test_faults(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	begin();
	linked_tree();
	char root[100];
	snprintf(root, sizeof(root), "%s/t", top);
	const char *const roots[] = {root};
	static const int kinds[] = {
		FAULT_ALLOC, OS_OPENAT, OS_OPENAT2, OS_STATX, OS_GETDENTS, OS_READLINK,
		FAULT_ALLOC, OS_STATX,
	};
	enum { PLAIN = 6 };
	struct search_options options = {
		.size = sizeof(options), .flags = SEARCH_FOLLOW | SEARCH_BYNAME | SEARCH_METADATA, .threads = 1,
	};
	struct fault_count count;
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	int whole = 0;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); ++kind) {
		uint64_t calls = 1;
		options.engine = kind < PLAIN ? SEARCH_ENGINE_SYNC : SEARCH_ENGINE_AUTO;
		options.ahead = kind >= PLAIN;
		for (uint64_t n = 0; n <= calls; ++n) {
			/* The first run counts the calls. */
			struct fault fault = {n ? FAULT_ONCE : FAULT_NONE, kinds[kind], n, n ? kinds[kind] == FAULT_ALLOC ? ENOMEM : EIO : 0};
			int found = 0, told = 0, loops = 0, error;
			unit_note("%s %ju", fault_kind_name(kinds[kind]), (uintmax_t)n);
			fault_begin(&fault, 100000);
			SEARCH *search = searchv(roots, 1, "*", &options);
			error = errno;
			for (struct searchent *e; search && (e = readsearch(search));)
				e->err == 0 ? ++found : e->err == ELOOP ? ++loops : ++told;
			error = search ? errno : error;
			closesearch(search);
			fault_end(&count);
			CU_ASSERT_TRUE(count.blocks == 0 && count.fds == 0 && count.bad_closes == 0);
			if (n == 0) {
				calls = count.calls[kinds[kind]];
				whole = found + loops;
				CU_ASSERT_TRUE(found == 22 && loops == 6 && told == 0 && error == 0);
				CU_ASSERT_TRUE(calls > 0 || (kinds[kind] == OS_OPENAT2 && !(os.caps & OSC_OPENAT2)));
			} else if (kinds[kind] == FAULT_ALLOC) {
				/* It ends, or has an error. */
				CU_ASSERT_TRUE(search == NULL || error == ENOMEM || told > 0 || found + loops >= whole);
			} else {
				CU_ASSERT_TRUE(search != NULL && error == 0);
				if (told == 0 && found + loops < whole)
					printf("  %s %ju: %d found, %d told\n", fault_kind_name(kinds[kind]), (uintmax_t)n, found, told);
				CU_ASSERT_TRUE(told > 0 || found + loops >= whole);
			}
		}
	}
	end();
}

/** Access to the target of a link is checked without faccessat2(2) too; failures are reported. */
static void test_access_faults(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	static const int errors[] = {ENOSYS, EPERM, ENOENT, EIO};
	begin();
	linked_tree();
	char root[100];
	snprintf(root, sizeof(root), "%s/t", top);
	const char *const roots[] = {root};
	struct search_options options = {.size = sizeof(options), .flags = SEARCH_FOLLOW | SEARCH_R_OK, .threads = 1};
	uint64_t calls = 1;
	int whole = 0;
	for (uint64_t n = 0; n <= calls * sizeof(errors) / sizeof(*errors); ++n) {
		int error = errors[n % (sizeof(errors) / sizeof(*errors))], found = 0, told = 0;
		struct fault fault = {n ? FAULT_ONCE : FAULT_NONE, OS_ACCESS, (n + 3) / 4, error};
		struct fault_count count;
		unit_note("access %ju, %s", (uintmax_t)n, strerror(error));
		fault_begin(&fault, 100000);
		SEARCH *search = searchv(roots, 1, "*", &options);
		for (struct searchent *e; search && (e = readsearch(search));) {
			found += e->err == 0;
			told += e->err && e->errsource == SEARCH_ERR_ACCESS && e->err == error;
		}
		closesearch(search);
		fault_end(&count);
		if (n == 0) {
			calls = count.calls[OS_ACCESS];
			whole = found;
			CU_ASSERT_TRUE(calls > 10 && found > 10);
		} else {
			/* The first two errors are retried in another way. */
			int lost = error == ENOENT || error == EIO;
			CU_ASSERT_TRUE(told == lost && found == whole - lost);
		}
	}
	end();
}

static int fuse_fd = -1;

/** Mount a tmpfs, or a FUSE whose server never answers, which blocks. */
static void mount_on(const char *name, bool blocks)
{
	char path[512], data[100];
	snprintf(path, sizeof(path), "%s/%s", top, name);
	if (blocks && fuse_fd < 0)
		fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(data, sizeof(data), "fd=%d,rootmode=40755,user_id=0,group_id=0", fuse_fd);
	CU_ASSERT_EQUAL_FATAL(blocks ? mount("hung", path, "fuse", 0, data) : mount("tmpfs", path, "tmpfs", 0, NULL), 0);
}

/** Enter a private mount namespace.  @return why the test must be skipped; or NULL. */
static const char *private_mounts(void)
{
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	if (!(os.caps & OSC_OPENAT2) || !(os.caps & OSC_STATX_MNT_ID))
		return "only places are known here";
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return "no private mount namespace";
	return NULL;
}

/** A mount made during a search is looked up, and entered if it cannot block. */
static void test_mounted_later(void)
{
	enum { DIRS = 2000 };
	const char *why = private_mounts();
	if (why)
		UNIT_SKIP(why);
	begin();
	static const char *const names[] = {"a", "b", "many", "c", "d", "e"};
	enum { ROOTS = sizeof(names) / sizeof(*names) };
	static char paths[ROOTS][80];
	const char *roots[ROOTS];
	for (size_t i = 0; i < ROOTS; ++i) {
		make_dir(names[i]);
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", top, names[i]);
		roots[i] = paths[i];
	}
	for (int i = 0; i < DIRS; ++i) {
		char name[64];
		snprintf(name, sizeof(name), "many/%d", i);
		make_dir(name);
	}
	static const char *const points[] = {"a/new", "b/early", "c/late", "d/outer", "e/hung"};
	for (size_t i = 0; i < sizeof(points) / sizeof(*points); ++i)
		make_dir(points[i]);
	bool fuse = access("/dev/fuse", R_OK | W_OK) == 0;
	struct search_options options = {.size = sizeof(options), .flags = SEARCH_INCLUDEROOT, .threads = 1};
	SEARCH *search = searchv(roots, ROOTS, "*", &options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	uint64_t looked = os_calls_total(search_looked(search));
	mount_on("a/new", false);
	make_dir("a/new/x");
	mount_on("a/new/x", false);
	make_file("a/new/x/y");
	struct names lines = {0};
	char line[200];
	for (struct searchent *e; (e = readsearch(search));) {
		if (!e->err && strstr(e->path, "/many/"))
			continue;
		snprintf(line, sizeof(line), "%d:%d:%s", e->errsource, e->err, e->path + strlen(top) + 1);
		names_add(&lines, line);
		if (strcmp(e->path + strlen(top), "/b/early") == 0 && !e->err) {
			mount_on("b/early", false);
			make_file("b/early/y");
		} else if (strcmp(e->path + strlen(top), "/c/late") == 0 && !e->err) {
			mount_on("c/late", false);
			make_file("c/late/y");
			mount_on("d/outer", false);
			make_dir("d/outer/hung");
			/* Both are of one server. */
			if (fuse) {
				mount_on("e/hung", true);
				snprintf(line, sizeof(line), "%s/e/hung", top);
				char inner[200];
				snprintf(inner, sizeof(inner), "%s/d/outer/hung", top);
				CU_ASSERT_EQUAL(mount(line, inner, NULL, MS_BIND, NULL), 0);
			}
		}
	}
	CU_ASSERT_EQUAL(errno, 0);
	CU_ASSERT_TRUE(os_calls_total(search_looked(search)) > looked);
	closesearch(search);
	/* The mounts are read again; not so soon again; then once more: what can block is not
	   entered, nor a mount above it. */
	static const char *const want[][2] = {
		{"0:0:a/new"}, {"0:0:a/new/x"}, {"0:0:a/new/x/y"}, {"0:0:b/early"}, {"1:18:b/early"}, {"0:0:c/late"},
		{"0:0:c/late/y"}, {"0:0:d/outer"}, {"1:18:d/outer", "0:0:d/outer/hung"}, {"0:0:e/hung"},
		{"1:66:e/hung"},
	};
	size_t n = sizeof(want) / sizeof(*want) - !fuse;
	for (size_t i = 0; i < lines.n && i < n; ++i)
		CU_ASSERT_STRING_EQUAL(lines.items[i], want[i][!fuse && want[i][1]]);
	CU_ASSERT_EQUAL(lines.n, n);
	names_free(&lines);
	struct strbuf text;
	strbuf_init(&text);
	search_error_text(&(struct searchent){.errsource = SEARCH_ERR_OPEN, .err = EXDEV}, &text);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&text), "not entered: unknown whether its mount can block (--blocking enters it)");
	strbuf_destroy(&text);
	close(fuse_fd);
	fuse_fd = -1;
	for (size_t i = 0; i < sizeof(points) / sizeof(*points); ++i) {
		snprintf(line, sizeof(line), "%s/%s", top, points[i]);
		umount2(line, MNT_DETACH);
	}
	end();
}

/** A mount that can block, made or moved during a search, is not asked for attributes and not
    entered. */
static void test_hung_later(void)
{
	static const int flags[] = {
		0, SEARCH_METADATA, SEARCH_FOLLOW, SEARCH_FOLLOW | SEARCH_METADATA, SEARCH_XDEV | SEARCH_METADATA,
		SEARCH_METADATA | SEARCH_BYNAME,
	};
	if (access("/dev/fuse", R_OK | W_OK) != 0)
		UNIT_SKIP("there is no FUSE");
	const char *why = private_mounts();
	if (why)
		UNIT_SKIP(why);
	for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); ++f) {
		for (int way = 0; way < 2 * (SEARCH_ENGINE_BULK + 1); ++way) {
			const char *const roots[] = {top};
			struct search_options options = {
				.size = sizeof(options), .flags = flags[f], .engine = way / 2, .threads = 1 + (unsigned)f % 2,
			};
			char path[80], moved[80];
			begin();
			make_dir("p");
			make_dir("p/fu");
			make_file("p/x");
			snprintf(path, sizeof(path), "%s/p", top);
			snprintf(moved, sizeof(moved), "%s/q", top);
			if (way % 2)
				mount_on("p/fu", true);
			SEARCH *search = searchv(roots, 1, "*", &options);
			CU_ASSERT_PTR_NOT_NULL_FATAL(search);
			if (way % 2) {
				CU_ASSERT_EQUAL(rename(path, moved), 0);
			} else {
				mount_on("p/fu", true);
			}
			unit_note("flags %d, engine %d, %s", flags[f], options.engine, way % 2 ? "moved" : "mounted");
			int found = 0, told = 0;
			/* It must not hang. */
			alarm(60);
			for (struct searchent *e; (e = readsearch(search));) {
				found += !e->err;
				told += e->errsource == SEARCH_ERR_OPEN && (e->err == EREMOTE || e->err == EXDEV);
			}
			alarm(0);
			CU_ASSERT_TRUE(errno == 0 && found == 3 && told == !(flags[f] & SEARCH_XDEV));
			closesearch(search);
			close(fuse_fd);
			fuse_fd = -1;
			snprintf(path, sizeof(path), "%s/%s/fu", top, way % 2 ? "q" : "p");
			CU_ASSERT_EQUAL(umount2(path, MNT_DETACH), 0);
			end();
		}
	}
}

static const struct unit_test tests[] = {
	{"faults", test_faults},
	{"access that cannot be checked", test_access_faults},
	{"closed anywhere", test_close_anywhere},
	{"cancelled", test_cancel},
	{"symbolic links followed", test_follow},
	{"lines made of objects", test_made_lines},
	{"depth of a path", test_depth_literal},
	{"order", test_order},
	{"same as a walk", test_same_as_walk},
	{"roots", test_roots},
	{"the current directory", test_here},
	{"counts", test_counts},
	{"size of the counts", test_counts_size},
	{"ways to fetch attributes", test_ways},
	{"large directories, and leaving", test_large_and_early},
	{"depth and access", test_depth_and_access},
	{"refused", test_refused},
	{"size of the options", test_options_size},
	{"places to be avoided", test_avoid},
	{"many places to be avoided", test_avoid_many},
	{"many mounts", test_mounts_many},
	{"mounted later", test_mounted_later},
	{"hung later", test_hung_later},
	{NULL, NULL},
};
const struct unit_suite suite_search = {"search", tests};
