/* SPDX-License-Identifier: MIT */
/*
 * Searches of real directories through the library.  What matches what, and which links are
 * followed, is tested by tests/system/search_rows.py.
 */
#include "unit.h"

#include "fault.h"
#include "loop.h"
#include "query_world.h"
#include "tree.h"

#include "base/strbuf.h"
#include "cmd/found/searched.h"
#include "getmnt/search_paper.h"
#include "search/mounts.h"
#include "search/query_host.h"
#include "search/search_impl.h"
#include "select/pattern.h"

#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>

static struct tree top;

static const char *const no_links[] = {NULL};

static void plain_tree(void)
{
	tree_begin(&top);
	tree_make(&top, (const char *const[]){
		"a/", "a/b/", "foo/", "foo/a/", "a/b/bar", "a/b/foo", "foo/a/bar", "ab", "ac",
		"co:lon", NULL,
	}, no_links);
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

/** A search of a directory. */
static SEARCH *begin_search(const char *root, const char *pattern,
                            const struct search_options *options)
{
	SEARCH *search = getmnt_search_open(&root, 1, pattern, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	return search;
}

/** What a search of the tree finds, which has no errors. */
static struct names found_by(const struct search_options *options, const char *pattern)
{
	struct names found = {0};
	SEARCH *search = begin_search(top.path, pattern, options);
	for (struct searchent *e; (e = getmnt_search_read(search));) {
		CU_ASSERT_EQUAL(e->err, 0);
		CU_ASSERT_EQUAL(e->info != NULL, (options->flags & SEARCH_METADATA) != 0);
		struct stat st;
		if (e->info && fstatat(top.fd, e->path + 1, &st, AT_SYMLINK_NOFOLLOW) == 0) {
			CU_ASSERT_TRUE(
			        st.st_ino == e->info->st_ino && st.st_mode == e->info->st_mode
			        && st.st_size == e->info->st_size && st.st_dev == e->info->st_dev
			        && st.st_mtim.tv_nsec == e->info->st_mtim.tv_nsec
			        && st.st_nlink == e->info->st_nlink);
			CU_ASSERT_PTR_NOT_NULL(getmnt_search_statx(search));
		}
		names_add(&found, e->path);
	}
	CU_ASSERT_EQUAL(errno, 0);
	CU_ASSERT_PTR_NULL(getmnt_search_read(search));
	getmnt_search_close(search);
	if (found.n > 0)
		qsort(found.items, found.n, sizeof(*found.items), by_name);
	return found;
}

static struct names walked;
static struct pattern *walk_pattern;

static int walk_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type;
	path += strlen(top.path);
	if (at->level > 0 && tree_matches(walk_pattern, path))
		names_add(&walked, path);
	return 0;
}

/** A tree with directories enough for threads to be started: the same is found as by a walk. */
UNIT_TEST(same_as_a_walk)
{
	static const char *const patterns[] = {"*", "f3.c", "/d5*/e*/f1.c", "e1?/*", "/d1/*"};
	tree_begin(&top);
	for (int i = 0; i < 60 * 60; ++i) {
		if (i % 60 == 0)
			tree_dir(&top, "d%d", i / 60);
		tree_dir(&top, "d%d/e%d", i / 60, i % 60);
		tree_file(&top, "d%d/e%d/f%d.c", i / 60, i % 60, i % 60 % 7);
	}
	for (size_t i = 0; i < COUNT(patterns); ++i) {
		walk_pattern = pattern_compile(patterns[i], strlen(patterns[i]), 0, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(walk_pattern);
		CU_ASSERT_EQUAL(nftw(top.path, walk_one, 32, FTW_PHYS), 0);
		qsort(walked.items, walked.n, sizeof(*walked.items), by_name);
		for (unsigned threads = 1; threads <= 4; ++threads) {
			struct search_options options = {
				.size = sizeof(options), .threads = threads,
				.flags = threads % 2 ? 0 : SEARCH_METADATA, .ahead = threads > 2,
			};
			unit_note("%s, %u threads", patterns[i], threads);
			struct names got = found_by(&options, patterns[i]);
			CU_ASSERT_EQUAL_FATAL(got.n, walked.n);
			for (size_t k = 0; k < got.n; ++k)
				CU_ASSERT_STRING_EQUAL(got.items[k], walked.items[k]);
			names_free(&got);
		}
		names_free(&walked);
		pattern_free(walk_pattern);
	}
	tree_end(&top);
}

/** Each name is compared with a pattern once: also the name of a directory, and if attributes are
    read or an action is performed after the comparison. */
UNIT_TEST(names_tested_once)
{
	static const struct {
		const char *pattern, *query;
		int flags;
		uint64_t compared;
	} rows[] = {
		{"*", "-name f* -size -1M", 0, 7},
		{"*", "-size -1M -name f* -print0", 0, 7},
		{"*", "-name f* -exec x ;", 0, 7},
		{"*", "( -name f* -size +0 -o -name f* -uid 0 ) -print", 0, 14},
		{"*", "-path */a -size -1M -o -empty", SEARCH_METADATA, 7},
		{"f*", NULL, SEARCH_METADATA, 6},
		{"f*", "-size -1M", SEARCH_METADATA, 6},
		{"f*", NULL, SEARCH_METADATA | SEARCH_FOLLOW, 6},
	};
	struct query_env env = {.action = query_world.action};
	struct os os;
	FAULT_OR_SKIP();
	tree_begin(&top);
	tree_make(&top, (const char *const[]){"a/", "fd/", "a/f1", "a/g", "fd/f2", "fd/h", NULL},
	          no_links);
	os_init(&os, NULL);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		const struct search_options options = {
			.size = sizeof(options), .flags = rows[i].flags | SEARCH_INCLUDEROOT,
			.threads = 1,
		};
		const char *root = top.path;
		query_env_host(&env, &os);
		struct query *query = rows[i].query
		                      ? query_parse_text(rows[i].query, &env, NULL) : NULL;
		SEARCH *search = search_open(&root, 1, rows[i].pattern, &options, query);
		CU_ASSERT_PTR_NOT_NULL_FATAL(search);
		search_more(search, &(struct search_more){
			.maxdepth = UINT_MAX, .roots = query != NULL && *rows[i].pattern == '*',
			.statx = true,
		});
		fault_names();
		while (getmnt_search_read(search))
			;
		CU_ASSERT_EQUAL(errno, 0);
		uint64_t compared = fault_names();
		unit_note("%s %s", rows[i].pattern, rows[i].query ? rows[i].query : "");
		CU_ASSERT_EQUAL(compared, rows[i].compared);
		getmnt_search_close(search);
	}
	tree_end(&top);
}

/** Each entry has the index of its root, its path below the root, and its type. */
UNIT_TEST(entries_placed)
{
	static const char *const endings[] = {"", "/", "//"};
	tree_begin(&top);
	tree_make(&top, (const char *const[]){"a/", "a/f", "b/", "b/c/", "b/c/f", NULL}, no_links);
	for (size_t i = 0; i < 2 * COUNT(endings); ++i) {
		struct search_options options = {
			.size = sizeof(options), .flags = i % 2 ? SEARCH_INCLUDEROOT : 0,
			.threads = 1,
		};
		char first[PATH_MAX], second[PATH_MAX];
		const char *roots[] = {first, "/nosuch", second};
		snprintf(first, sizeof(first), "%s/a%s", top.path, endings[i / 2]);
		snprintf(second, sizeof(second), "%s/b%s", top.path, endings[i / 2]);
		SEARCH *search = getmnt_search_open(roots, 3, "*", &options);
		CU_ASSERT_PTR_NOT_NULL_FATAL(search);
		STRBUF(found);
		for (struct searchent *e; (e = getmnt_search_read(search));) {
			strbuf_printf(&found, "%zu %s %d\n", e->root, e->below, e->type);
			CU_ASSERT_TRUE(e->below >= e->path
			               && e->below <= e->path + strlen(e->path));
		}
		unit_expect(strbuf_str(&found), "0 f 8\n1  0\n2 c 4\n2 c/f 8\n");
		getmnt_search_close(search);
	}
	tree_end(&top);
}

/** Check what a search of roots and a pattern returns, without the path of the tree: "PATH", "+"
    with attributes, and " SOURCE:ERROR". */
static void expect(const char *paths, const char *pattern, int flags, const char *expected)
{
	STRBUF(got);
	SEARCH *search = opensearch(paths, pattern, flags);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	for (struct searchent *e; (e = getmnt_search_read(search));) {
		bool in_tree = strncmp(e->path, top.path, strlen(top.path)) == 0;
		CU_ASSERT_EQUAL(!e->info, !getmnt_search_statx(search));
		strbuf_printf(&got, "%s%s%s", got.len ? ", " : "",
		              e->path + (in_tree ? strlen(top.path) : 0), e->info ? "+" : "");
		if (e->err)
			strbuf_printf(&got, " %d:%s", e->errsource, strerrorname_np(e->err));
	}
	CU_ASSERT_EQUAL(errno, 0);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&got), expected);
	struct search_counts counts;
	getmnt_search_count(search, &counts, sizeof(counts));
	unsigned errors = 0;
	for (const char *at = expected; (at = strchr(at, ':')); ++at)
		errors += at[1] == 'E';
	CU_ASSERT_EQUAL(counts.errors, errors);
	getmnt_search_close(search);
}

/** Roots: several, none, a file, with and without their names. */
UNIT_TEST(roots)
{
	plain_tree();
	char paths[400];
	const char *t = top.path;
	snprintf(paths, sizeof(paths), "%s/a/b:%s/nosuch:%s/co\\:lon:%s/foo", t, t, t, t);
	expect(paths, "/bar|/a", SEARCH_INCLUDEROOT,
	       "/a/b/bar, /nosuch 1:ENOENT, /co:lon 1:ENOTDIR, /foo/a");
	/* Without the root; only the first. */
	snprintf(paths, sizeof(paths), "%s/a/b", t);
	expect(paths, "bar", SEARCH_STOPATFIRST, "/bar");
	/* An error is not a first object, and has no attributes, whatever came before it. */
	snprintf(paths, sizeof(paths), "%s/a/b:%s/nosuch:%s/a/b", t, t, t);
	const int flags = SEARCH_METADATA | SEARCH_INCLUDEROOT;
	expect(paths, "/bar", flags, "/a/b/bar+, /nosuch 1:ENOENT, /a/b/bar+");
	expect(strchr(paths, ':') + 1, "/bar", flags | SEARCH_STOPATFIRST,
	       "/nosuch 1:ENOENT, /a/b/bar+");
	tree_end(&top);
}

/** Counts of a caller compiled with another version of the structure. */
UNIT_TEST(size_of_the_counts)
{
	struct {
		struct search_counts counts;
		unsigned char more[16];
	} whole, part;
	SEARCH *search = begin_search("/proc/self/none", "*", NULL);
	CU_ASSERT_PTR_NOT_NULL(getmnt_search_read(search));
	getmnt_search_count(search, &whole.counts, sizeof(whole.counts));
	CU_ASSERT_TRUE(whole.counts.errors == 1 && whole.counts.threads == 1);
	CU_ASSERT_EQUAL(whole.counts.calls, os_calls_total(search_os(search)));
	CU_ASSERT_EQUAL(whole.counts.mount_calls, os_calls_total(search_looked(search)));
	CU_ASSERT_TRUE(whole.counts.calls > 0 && whole.counts.mount_calls > 0);
	memset(whole.more, 0, sizeof(whole.more));
	for (size_t size = 0; size <= sizeof(part); ++size) {
		memset(&part, 0xa5, sizeof(part));
		getmnt_search_count(search, &part.counts, size);
		CU_ASSERT_EQUAL(memcmp(&part, &whole, size), 0);
		for (size_t i = size; i < sizeof(part); ++i)
			CU_ASSERT_EQUAL(((unsigned char *)&part)[i], 0xa5);
	}
	getmnt_search_close(search);
}

/** An empty path is the current directory, ".". */
UNIT_TEST(the_current_directory)
{
	static const struct {
		const char *paths, *pattern;
		int flags;
		const char *want;
	} rows[] = {
	        {"", "/ab", SEARCH_INCLUDEROOT, "./ab"},
	        {".", "/ab", SEARCH_INCLUDEROOT, "./ab"},
	        {"", "/a[b]", SEARCH_INCLUDEROOT, "./ab"},
	        {":a", "/ab", SEARCH_INCLUDEROOT, "./ab"},
	        {"a/b:", "/ab", SEARCH_INCLUDEROOT, "./ab"},
	        {"", "/ab", 0, "/ab"},
	};
	plain_tree();
	CU_ASSERT_EQUAL_FATAL(chdir(top.path), 0);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		expect(rows[i].paths, rows[i].pattern, rows[i].flags, rows[i].want);
	}
	/* It was removed, which a kernel may report. */
	tree_dir(&top, "gone");
	CU_ASSERT_TRUE_FATAL(chdir("gone") == 0 && rmdir("../gone") == 0);
	SEARCH *search = opensearch("", "*", 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	struct searchent *e = getmnt_search_read(search);
	CU_ASSERT_TRUE(e ? e->err == ENOENT && strcmp(e->path, ".") == 0 : errno == 0);
	getmnt_search_close(search);
	CU_ASSERT_EQUAL(chdir("/"), 0);
	tree_end(&top);
}

/** What is excluded is neither returned nor entered, nor looked up. */
UNIT_TEST(exclude)
{
	static const struct {
		const char *pattern, *exclude;
		int flags;
		const char *found;
		unsigned dirs;               /* directories read */
	} rows[] = {
		{"*", "b", 0, "/a /ab /ac /co:lon /foo /foo/a /foo/a/bar", 4},
		{"*", "/a|/foo", 0, "/ab /ac /co:lon", 1},
		{"*", "a/b|a?|co*", 0, "/a /foo /foo/a /foo/a/bar", 4},
		{"bar", "foo", 0, "/a/b/bar", 3},
		{"/a/b/bar", "b", 0, "", 2},
		{"/a/b/bar", "bar", 0, "", 3},
		{"/a/b/bar", "/b", 0, "/a/b/bar", 3},
		{"bar|/ab", "*", 0, "", 1},
		{"BAR", "FOO", SEARCH_NOCASE, "/a/b/bar", 3},
		{"{ab,ac}", "/**/b/*", SEARCH_EXTENDED, "/ab /ac", 5},
		{"**", "{a,x}|/foo/**", SEARCH_EXTENDED, "/ab /ac /co:lon /foo", 2},
	};
	plain_tree();
	for (size_t i = 0; i < COUNT(rows); ++i) {
		for (unsigned threads = 1; threads <= 2; ++threads) {
			struct search_options options = {
				.size = sizeof(options), .flags = rows[i].flags, .threads = threads,
				.exclude = rows[i].exclude,
			};
			struct search_counts counts;
			unit_note("%s without %s", rows[i].pattern, rows[i].exclude);
			struct names names = found_by(&options, rows[i].pattern);
			STRBUF(got);
			for (size_t k = 0; k < names.n; ++k)
				strbuf_printf(&got, "%s%s", k ? " " : "", names.items[k]);
			CU_ASSERT_STRING_EQUAL(strbuf_str(&got), rows[i].found);
			names_free(&names);
			SEARCH *search = begin_search(top.path, rows[i].pattern, &options);
			while (getmnt_search_read(search))
				;
			getmnt_search_count(search, &counts, sizeof(counts));
			CU_ASSERT_EQUAL(counts.dirs, rows[i].dirs);
			getmnt_search_close(search);
		}
	}
	const char *root = top.path;
	struct search_options bad = {.size = sizeof(bad), .exclude = ""};
	CU_ASSERT_TRUE(!getmnt_search_open(&root, 1, "*", &bad) && errno == EINVAL);
	bad.exclude = "[";
	CU_ASSERT_TRUE(!getmnt_search_open(&root, 1, "*", &bad) && errno == EINVAL);
	tree_end(&top);
}

_Static_assert(SEARCH_INCLUDEROOT == R_OK && SEARCH_METADATA == W_OK && SEARCH_STOPATFIRST == X_OK,
               "what opensearch(3) warns of");

UNIT_TEST(refused)
{
	static const struct {
		const char *pattern;
		int flags;
	} rows[] = {{"", 0}, {"[", 0}, {"a\\", 0}, {"x", 1 << 30}, {"x", 1 << 7},
	           {"x", SEARCH_BYNAME | SEARCH_BYINODE}};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		CU_ASSERT_PTR_NULL(opensearch("/", rows[i].pattern, rows[i].flags));
		CU_ASSERT_EQUAL(errno, EINVAL);
	}
	CU_ASSERT_EQUAL(getmnt_search_close(NULL), 0);
}

/** Options of a caller compiled with another version of the structure. */
UNIT_TEST(size_of_the_options)
{
	static const char *const roots[] = {"/"};
	enum { OWN = sizeof(struct search_options) };
	struct {
		struct search_options options;
		unsigned char more[8192];
	} own = {.options = {.depth = 1}};
	static const struct {
		size_t size;
		int at, error;                /* a byte that is not 0; the result */
	} rows[] = {
		{0, -1, EINVAL}, {sizeof(size_t), -1, EINVAL},
		{offsetof(struct search_options, ahead), -1, EINVAL},
		{OWN, -1, 0}, {OWN, 0, 0}, {OWN + 1, -1, 0}, {OWN + 1, 0, E2BIG}, {OWN + 64, -1, 0},
		{OWN + 64, 63, E2BIG}, {OWN + 64, 64, 0}, {4096, -1, 0}, {4097, -1, E2BIG},
		{SIZE_MAX, -1, E2BIG},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		memset(own.more, 0, sizeof(own.more));
		if (rows[i].at >= 0)
			own.more[rows[i].at] = 1;
		own.options.size = rows[i].size;
		errno = 0;
		SEARCH *search = getmnt_search_open(roots, 1, "*", &own.options);
		unit_note("size %zu", rows[i].size);
		CU_ASSERT_TRUE(rows[i].error ? !search && errno == rows[i].error : search != NULL);
		getmnt_search_close(search);
	}
	/* Every byte is checked. */
	for (size_t i = 0; i < sizeof(own.options.reserved); ++i) {
		own.options = (struct search_options){.size = OWN};
		own.options.reserved[i] = 1;
		CU_ASSERT_TRUE(!getmnt_search_open(roots, 1, "*", &own.options)
		               && errno == E2BIG);
	}
	for (int bad = -1; bad <= SEARCH_ENGINE_BULK + 1; bad += SEARCH_ENGINE_BULK + 2) {
		own.options = (struct search_options){.size = OWN, .engine = bad};
		CU_ASSERT_TRUE(!getmnt_search_open(roots, 1, "*", &own.options)
		               && errno == EINVAL);
	}
	getmnt_search_close(begin_search("/", "*", NULL));
}

UNIT_TEST(mounts)
{
	static const struct search_mount list[] = {
		{1, 0, 0, "/", 0, 0, 0},
		{2, 1, 0, "/srv", 0, 0, 0},
		{3, 2, 0, "/srv/nfs", MOUNT_BLOCKS, 0, 0},
		{4, 3, 0, "/srv/nfs/below", 0, 0, 0},
		{5, 1, 0, "/a/f", MOUNT_BLOCKS, 0, 0},
		{6, 1, 0, "/a", 0, 0, 0},               /* covers 5 */
		{8, 1, 0, "/s", 0, 0, 0},
		{9, 8, 0, "/s", MOUNT_BLOCKS, 0, 0},    /* on the root of 8 */
		{10, 1, 0, "/vfat", MOUNT_UNLISTED, 0, 0},
		{11, 1, 0, NULL, MOUNT_BLOCKS, 0, 0},   /* out of reach */
		{12, 2, 0, "/home", MOUNT_BLOCKS, 0, 0},   /* read from another root */
		{13, 6, 0, "/a/13", 0, 0, 0},
	};
	enum { WALL = 3, OTHER_ROOT = 10 };
	/* The mount that a name in a directory leads to; with a node, what is known instead. */
	static const struct {
		uint64_t mount;
		const char *path, *name;
		uint64_t leads;
		uint32_t node;
	} rows[] = {
		{1, "/", "srv", 2, 0}, {1, "//", "sr", 0, AVOID_NONE},
		{1, "/srv", "nfs", 0, AVOID_NONE}, {2, "/srv", "nfs", 3, 0},
		{1, "/", "a", 6, 0}, {6, "/a", "f", 0, AVOID_NONE}, {1, "/a/", "f", 5, 0},
		{1, "/", "s", 9, 0}, {8, "/s", "x", 0, AVOID_NONE}, {1, "/", "vfat", 10, 0},
		{4, "/srv/nfs/below", "x", 0, AVOID_NONE}, {4, "", "x", 0, AVOID_NONE},
		{2, "", "x", 0, AVOID_UNKNOWN}, {2, "/home", "x", 0, AVOID_UNKNOWN},
		{99, "/", "x", 0, AVOID_UNKNOWN}, {1, "/home/user", "77", 177, 0},
	};
	struct search_mounts mounts;
	struct os os = {.caps = OSC_STATX_MNT_ID};
	for (uint32_t n = OTHER_ROOT; n <= COUNT(list); n += COUNT(list) - OTHER_ROOT) {
		CU_ASSERT_EQUAL_FATAL(search_mounts_init(&mounts), 0);
		for (size_t i = 0; i < n; ++i)
			CU_ASSERT_EQUAL(search_mounts_add(&mounts, &list[i]), 0);
		for (unsigned i = 0; i < 100; ++i) {
			char path[64];
			snprintf(path, sizeof(path), "/home/user/%u", i);
			struct search_mount user = {100 + i, 1, 0, path, MOUNT_BLOCKS, 0, 0};
			CU_ASSERT_EQUAL(search_mounts_add(&mounts, &user), 0);
		}
		CU_ASSERT_EQUAL(search_mounts_place(&mounts, 0, false), 0);
		for (size_t i = 0; i < COUNT(rows); ++i) {
			uint32_t node = search_mounts_node(&mounts, rows[i].mount, rows[i].path);
			node = avoid_step(mounts.avoid, node, rows[i].name, strlen(rows[i].name));
			const struct search_mount *m = search_mount_at(&mounts, node);
			/* With a mount of which the place is unknown nothing is known. */
			bool torn = rows[i].mount == 2 && n > OTHER_ROOT;
			unit_note("row %zu", i);
			CU_ASSERT_TRUE(torn ? node == AVOID_UNKNOWN
			               : rows[i].leads ? m && m->id == rows[i].leads
			                                 : node == rows[i].node);
			CU_ASSERT_EQUAL(search_mounts_blocked(&mounts, node),
			                m && m->flags & MOUNT_BLOCKS);
		}
		CU_ASSERT_TRUE(search_mount_up(&mounts, WALL, "/srv/x")->id == 2
		               && search_mount_up(&mounts, WALL, "/srvx")->id == 1
		               && search_mount_up(&mounts, 9, "/s/")->id == 9
		               && search_mount_up(&mounts, 9, "/")->id == 1
		               && search_mount_up(&mounts, 99, "/") == NULL);
		CU_ASSERT_TRUE(search_mounts_refuse(&mounts, &os, WALL) == EREMOTE
		               && search_mounts_refuse(&mounts, &os, 2) == 0
		               && search_mounts_refuse(&mounts, &os, 99) == EXDEV
		               && search_mounts_refuse(&mounts, &os, 0) == EXDEV);
		mounts.entered = WALL;
		CU_ASSERT_EQUAL(search_mounts_refuse(&mounts, &os, WALL), 0);
		mounts.any = true;
		CU_ASSERT_EQUAL(search_mounts_refuse(&mounts, &os, 99), 0);
		search_mounts_destroy(&mounts);
	}
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
	struct names found = found_by(&(struct search_options){
		.size = sizeof(struct search_options), .threads = 4,
	}, "*");
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
	tree_begin(&top);
	for (int i = 0; i < dirs; ++i) {
		tree_dir(&top, "w%d", i);
		tree_file(&top, "w%d/f", i);
	}
}

/** Searches closed after each number of entries, in each way to read attributes. */
UNIT_TEST(closed_anywhere)
{
	enum { DIRS = 300 };
	static const struct {
		int flags, engine;
		bool ahead, clock;            /* without a clock calls seem to wait */
	} ways[] = {
		{0, SEARCH_ENGINE_AUTO, false, true},
		{SEARCH_METADATA, SEARCH_ENGINE_AUTO, false, true},
		{SEARCH_METADATA, SEARCH_ENGINE_SYNC, true, true},
		{SEARCH_METADATA, SEARCH_ENGINE_AUTO, true, true},
		{SEARCH_METADATA, SEARCH_ENGINE_AUTO, false, false},
		{SEARCH_FOLLOW, SEARCH_ENGINE_AUTO, false, true},
	};
	char given[200], without[210];
	const char *env = getenv("GETMNT_DISABLE");
	snprintf(given, sizeof(given), "%s", env ? env : "");
	snprintf(without, sizeof(without), "%s,clock", given);
	wide_tree(DIRS);
	tree_link(&top, "w0/link", "../w1");
	int tasks = warm_up(), fds = unit_count("/proc/self/fd");
	bool any = false;
	for (size_t way = 0; way < COUNT(ways); ++way) {
		struct search_options options = {
			.size = sizeof(options), .flags = ways[way].flags,
			.engine = ways[way].engine, .ahead = ways[way].ahead, .threads = 4,
		};
		setenv("GETMNT_DISABLE", ways[way].clock ? given : without, 1);
		for (int k = 0; k <= 2 * DIRS + 1; k += way ? 7 : 1) {
			unit_note("way %zu, closed after %d", way, k);
			SEARCH *search = begin_search(top.path, "*", &options);
			for (int i = 0; i < k; ++i)
				CU_ASSERT_PTR_NOT_NULL_FATAL(getmnt_search_read(search));
			if (k % 50 == 49)
				any |= unit_count("/proc/self/task") > tasks;
			getmnt_search_close(search);
			if (k % 10 == 0 || unit_count("/proc/self/fd") != fds)
				CU_ASSERT_TRUE_FATAL(unit_count("/proc/self/fd") == fds
				                     && threads_are(tasks));
		}
	}
	setenv("GETMNT_DISABLE", given, 1);
	CU_ASSERT_TRUE(any);          /* threads were running */
	tree_end(&top);
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
		getmnt_search_cancel(to_cancel);
	return NULL;
}

static void cancel_now(int signal)
{
	(void)signal;
	getmnt_search_cancel(to_cancel);
}

UNIT_TEST(cancelled)
{
	enum { DIRS = 600, RUNS = 30, ROOTS = 200 };
	wide_tree(DIRS);
	int tasks = warm_up(), fds = unit_count("/proc/self/fd"), cancelled = 0;
	struct sigaction action = {.sa_handler = cancel_now}, old;
	CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &action, &old), 0);
	/* The same tree many times: long enough to cancel. */
	const char *roots[ROOTS];
	for (int i = 0; i < ROOTS; ++i)
		roots[i] = top.path;
	owner = pthread_self();
	for (int run = 0; run < RUNS; ++run) {
		struct search_options options = {
			.size = sizeof(options), .threads = 1 + (unsigned)run % 4,
		};
		pthread_t thread;
		int n = 0;
		to_cancel = getmnt_search_open(roots, ROOTS, "*", &options);
		CU_ASSERT_PTR_NOT_NULL_FATAL(to_cancel);
		void *by_signal = run % 2 ? &owner : NULL;
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, cancel_soon, by_signal), 0);
		while (getmnt_search_read(to_cancel))
			++n;
		int error = errno;
		pthread_join(thread, NULL);
		CU_ASSERT_TRUE(error == ECANCELED || (error == 0 && n == ROOTS * 2 * DIRS));
		cancelled += error == ECANCELED;
		CU_ASSERT_TRUE(error == 0
		               || (!getmnt_search_read(to_cancel) && errno == ECANCELED));
		getmnt_search_close(to_cancel);
		CU_ASSERT_TRUE(unit_count("/proc/self/fd") == fds && threads_are(tasks));
	}
	CU_ASSERT_TRUE(cancelled > RUNS / 2);
	sigaction(SIGUSR1, &old, NULL);
	tree_end(&top);
}

/** A tree t with links, and what is next to it. */
static void linked_tree(void)
{
	char out[100];
	tree_begin(&top);
	snprintf(out, sizeof(out), "%s/./out/../out/", top.path);
	tree_make(&top, (const char *const[]){
		"t/", "t/a/", "t/a/b/", "out/", "out/sub/", "out/deep/", "t/a/x", "t/a/b/y",
		"out/o", "out/sub/p", NULL,
	}, (const char *const[]){
		"t/abs", out, "t/link", "a", "t/link2", "link", "t/a/up", "..",
		"t/a/rel", "../../out/sub/../sub", "t/a/file", "b/./y", "t/self", "self",
		"t/ping", "pong", "t/pong", "ping", "t/dangling", "no/where",
		"t/a/not-dir", "x/", "t/a/below-file", "x/y", "out/back", "../t",
		"out/deep/again", "../../out", NULL,
	});
}

/** With a failing allocation or kernel call a search ends, reports what it could not do, and
    leaves nothing behind. */
UNIT_TEST(faults)
{
	FAULT_OR_SKIP();
	enum { META = SEARCH_FOLLOW | SEARCH_BYNAME | SEARCH_METADATA };
	static const struct {
		int kind, error, flags, engine;
		bool ahead;
		bool again;                   /* the access is then checked in another way */
	} rows[] = {
		{FAULT_ALLOC, ENOMEM, META, SEARCH_ENGINE_SYNC, false, false},
		{FAULT_ALLOC, ENOMEM, META, SEARCH_ENGINE_AUTO, true, false},
		{OS_OPENAT, EIO, META, SEARCH_ENGINE_SYNC, false, false},
		{OS_OPENAT2, EIO, META, SEARCH_ENGINE_SYNC, false, false},
		{OS_STATX, EIO, META, SEARCH_ENGINE_SYNC, false, false},
		{OS_STATX, EIO, META, SEARCH_ENGINE_AUTO, true, false},
		{OS_GETDENTS, EIO, META, SEARCH_ENGINE_SYNC, false, false},
		{OS_READLINK, EIO, META, SEARCH_ENGINE_SYNC, false, false},
		{OS_ACCESS, ENOSYS, SEARCH_FOLLOW | SEARCH_R_OK, SEARCH_ENGINE_AUTO, false, true},
		{OS_ACCESS, EPERM, SEARCH_FOLLOW | SEARCH_R_OK, SEARCH_ENGINE_AUTO, false, true},
		{OS_ACCESS, ENOENT, SEARCH_FOLLOW | SEARCH_R_OK, SEARCH_ENGINE_AUTO, false, false},
		{OS_ACCESS, EIO, SEARCH_FOLLOW | SEARCH_R_OK, SEARCH_ENGINE_AUTO, false, false},
	};
	enum { OBJECTS = 41, LOOPS = 8 };   /* as find -L */
	linked_tree();
	char root[100];
	snprintf(root, sizeof(root), "%s/t", top.path);
	const char *const roots[] = {root};
	struct os os = unit_os();
	for (size_t row = 0; row < COUNT(rows); ++row) {
		int kind = rows[row].kind;
		struct search_options options = {
			.size = sizeof(options), .flags = rows[row].flags,
			.engine = rows[row].engine, .ahead = rows[row].ahead, .threads = 1,
		};
		/* The first run counts the calls. */
		uint64_t calls = 1;
		for (uint64_t n = 0; n <= calls; ++n) {
			struct fault fault = {n ? FAULT_ONCE : FAULT_NONE, kind, n,
			                      n ? rows[row].error : 0};
			struct fault_count count;
			int found = 0, reported = 0, error;
			unit_note("row %zu, %s %ju", row, fault_kind_name(kind), (uintmax_t)n);
			fault_begin(&fault, 100000);
			SEARCH *search = getmnt_search_open(roots, 1, "*", &options);
			error = errno;
			for (struct searchent *e; search && (e = getmnt_search_read(search));) {
				found += e->err == 0 || e->err == ELOOP;
				reported += e->err != 0 && e->err != ELOOP;
				CU_ASSERT_TRUE(kind != OS_ACCESS || e->err == 0 || e->err == ELOOP
				               || e->errsource == SEARCH_ERR_ACCESS);
			}
			error = search ? errno : error;
			getmnt_search_close(search);
			fault_end(&count);
			CU_ASSERT_TRUE(count.blocks == 0 && count.fds == 0
			               && count.bad_closes == 0);
			bool whole = found >= OBJECTS + LOOPS;
			if (n == 0) {
				calls = count.calls[kind];
				CU_ASSERT_TRUE(found == OBJECTS + LOOPS && reported == 0
				               && error == 0);
				CU_ASSERT_TRUE(calls > 0 || (kind == OS_OPENAT2
				                             && !(os.caps & OSC_OPENAT2)));
			} else if (kind == FAULT_ALLOC) {
				CU_ASSERT_TRUE(!search || error == ENOMEM || reported > 0 || whole);
			} else {
				CU_ASSERT_TRUE(search && error == 0 && (reported > 0 || whole));
			}
			if (n > 0 && kind == OS_ACCESS) {
				CU_ASSERT_EQUAL(reported, !rows[row].again);
				CU_ASSERT_EQUAL(found, OBJECTS + LOOPS - reported);
			}
		}
	}
	tree_end(&top);
}

static int fuse_fd = -1;

/** Mount a tmpfs, or a FUSE whose server never answers, which blocks. */
static void mount_on(const char *name, bool blocks)
{
	char path[200], data[100];
	int rc;
	snprintf(path, sizeof(path), "%s/%s", top.path, name);
	if (blocks) {
		if (fuse_fd < 0)
			fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
		snprintf(data, sizeof(data), "fd=%d,rootmode=40755,user_id=0,group_id=0", fuse_fd);
		rc = mount("hung", path, "fuse", 0, data);
	} else {
		rc = mount("tmpfs", path, "tmpfs", 0, NULL);
	}
	CU_ASSERT_EQUAL_FATAL(rc, 0);
}

/** Remove what mount_on() has mounted. */
static void unmount(const char *const names[], size_t n)
{
	close(fuse_fd);
	fuse_fd = -1;
	for (size_t i = 0; i < n; ++i) {
		char path[200];
		snprintf(path, sizeof(path), "%s/%s", top.path, names[i]);
		umount2(path, MNT_DETACH);
	}
}

/** Enter a private mount namespace.  @return why the test must be skipped; or NULL. */
static const char *no_private_mounts(void)
{
	struct os os = unit_os();
	if (!(os.caps & OSC_OPENAT2) || !(os.caps & OSC_STATX_MNT_ID))
		return "only places are known here";
	if (!private_mounts())
		return "no private mount namespace";
	return NULL;
}

/** A mount made during a search is looked up, and entered if it cannot block. */
UNIT_TEST(mounted_later)
{
	enum { DIRS = 2000 };
	static const char *const names[] = {"a", "b", "many", "c", "d", "e"};
	static const char *const points[] = {"a/new", "b/early", "c/late", "d/outer", "e/hung"};
	const char *why = no_private_mounts();
	if (why)
		UNIT_SKIP(why);
	tree_begin(&top);
	char paths[COUNT(names)][80], line[200];
	const char *roots[COUNT(names)];
	for (size_t i = 0; i < COUNT(names); ++i) {
		tree_dir(&top, "%s", names[i]);
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", top.path, names[i]);
		roots[i] = paths[i];
	}
	for (int i = 0; i < DIRS; ++i)
		tree_dir(&top, "many/%d", i);
	for (size_t i = 0; i < COUNT(points); ++i)
		tree_dir(&top, "%s", points[i]);
	bool fuse = access("/dev/fuse", R_OK | W_OK) == 0;
	struct search_options options = {
		.size = sizeof(options), .flags = SEARCH_INCLUDEROOT, .threads = 1,
	};
	SEARCH *search = getmnt_search_open(roots, COUNT(names), "*", &options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	uint64_t looked = os_calls_total(search_looked(search));
	mount_on("a/new", false);
	tree_dir(&top, "a/new/x");
	mount_on("a/new/x", false);
	tree_file(&top, "a/new/x/y");
	struct names lines = {0};
	for (struct searchent *e; (e = getmnt_search_read(search));) {
		const char *path = e->path + strlen(top.path) + 1;
		if (!e->err && strncmp(path, "many/", 5) == 0)
			continue;
		snprintf(line, sizeof(line), "%d:%d:%s", e->errsource, e->err, path);
		names_add(&lines, line);
		if (strcmp(path, "b/early") == 0 && !e->err) {
			mount_on("b/early", false);
			tree_file(&top, "b/early/y");
		} else if (strcmp(path, "c/late") == 0 && !e->err) {
			mount_on("c/late", false);
			tree_file(&top, "c/late/y");
			mount_on("d/outer", false);
			tree_dir(&top, "d/outer/hung");
			/* Both are of one server. */
			if (fuse) {
				char inner[200];
				mount_on("e/hung", true);
				snprintf(line, sizeof(line), "%s/e/hung", top.path);
				snprintf(inner, sizeof(inner), "%s/d/outer/hung", top.path);
				CU_ASSERT_EQUAL(mount(line, inner, NULL, MS_BIND, NULL), 0);
			}
		}
	}
	CU_ASSERT_EQUAL(errno, 0);
	CU_ASSERT_TRUE(os_calls_total(search_looked(search)) > looked);
	getmnt_search_close(search);
	/* The mounts are read again; not so soon again; then once more: what can block is not
	   entered. */
	static const char *const want[] = {
		"0:0:a/new", "0:0:a/new/x", "0:0:a/new/x/y", "0:0:b/early", "1:18:b/early",
		"0:0:c/late", "0:0:c/late/y", "0:0:d/outer", "0:0:d/outer/hung",
		"1:66:d/outer/hung", "0:0:e/hung", "1:66:e/hung",
	};
	size_t n = 0;
	for (size_t i = 0; i < COUNT(want); ++i) {
		if (fuse || strncmp(want[i], "1:66", 4) != 0)
			CU_ASSERT_TRUE(n < lines.n && strcmp(lines.items[n++], want[i]) == 0);
	}
	CU_ASSERT_EQUAL(lines.n, n);
	names_free(&lines);
	STRBUF(text);
	searched_error(&(struct searchent){.errsource = SEARCH_ERR_OPEN, .err = EXDEV}, NULL,
	               false, &text);
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&text), "unknown whether its mount can block"));
	unmount(points, COUNT(points));
	tree_end(&top);
}

/** A mount that can block, made or moved during a search, is not asked for attributes and not
    entered. */
UNIT_TEST(hung_later)
{
	static const int flags[] = {
		0, SEARCH_METADATA, SEARCH_FOLLOW, SEARCH_FOLLOW | SEARCH_METADATA,
		SEARCH_XDEV | SEARCH_METADATA, SEARCH_METADATA | SEARCH_BYNAME,
	};
	enum { ENGINES = SEARCH_ENGINE_BULK + 1 };
	if (access("/dev/fuse", R_OK | W_OK) != 0)
		UNIT_SKIP("there is no FUSE");
	const char *why = no_private_mounts();
	if (why)
		UNIT_SKIP(why);
	for (int way = 0; way < (int)COUNT(flags) * ENGINES * 2; ++way) {
		int flag = flags[way / 2 / ENGINES];
		bool moved = way % 2;
		struct search_options options = {
			.size = sizeof(options), .flags = flag, .engine = way / 2 % ENGINES,
			.threads = 1 + (unsigned)(way / 2 / ENGINES) % 2,
		};
		tree_begin(&top);
		tree_make(&top, (const char *const[]){"p/", "p/fu/", "p/x", NULL}, no_links);
		if (moved)
			mount_on("p/fu", true);
		SEARCH *search = begin_search(top.path, "*", &options);
		if (!moved)
			mount_on("p/fu", true);
		else
			CU_ASSERT_EQUAL(renameat(top.fd, "p", top.fd, "q"), 0);
		unit_note("flags %d, engine %d, moved %d", flag, options.engine, moved);
		int found = 0, refused = 0;
		/* It must not hang. */
		alarm(60);
		for (struct searchent *e; (e = getmnt_search_read(search));) {
			found += !e->err;
			refused += e->errsource == SEARCH_ERR_OPEN
			           && (e->err == EREMOTE || e->err == EXDEV);
		}
		alarm(0);
		CU_ASSERT_TRUE(errno == 0 && found == 3 && refused == !(flag & SEARCH_XDEV));
		getmnt_search_close(search);
		unmount((const char *const[]){moved ? "q/fu" : "p/fu"}, 1);
		tree_end(&top);
	}
}
