/* SPDX-License-Identifier: MIT */
/*
 * A search whose objects come from a source finds what a search of the directories finds; what it
 * looks at; and what it does of objects that have changed since.
 */
#include "unit.h"

#include "fault.h"
#include "query_world.h"
#include "tree.h"

#include "base/array.h"
#include "search/query_host.h"
#include "search/search_impl.h"
#include "search/source.h"

#include <dirent.h>
#include <ftw.h>

static struct tree top;

/** An object of the tree, as it was when it was read. */
struct object {
	char *path;                   /* of its directory below the root */
	char *name;
	uint32_t dir, self;           /* as in struct source_object */
	struct k_statx st;
};

/** A source that has the whole tree, and returns it in a random order. */
static struct world {
	struct object *objects;
	size_t n, room;
	uint32_t dirs;
	char **dir_paths;
	size_t dir_room;
	bool *entered, *asked;
	uint32_t *marks;
	uint32_t *order;
	size_t at;
	uint64_t seed;
	bool again, bounded, damaged, lost, missing;
	struct source_start start;
	struct query_bounds bounds;
	struct source_object object;
	const struct object *now;     /* the same */
	uint64_t compared;            /* names that the search compared, without those of next() */
} world;

static struct os os;

static void read_dir(const char *path, uint32_t number)
{
	char whole[4096];
	snprintf(whole, sizeof(whole), "%s%s", top.path, path);
	DIR *dir = opendir(whole);
	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		CU_ASSERT_TRUE_FATAL(ARRAY_ROOM(world.objects, world.n, &world.room));
		struct object *object = &world.objects[world.n++];
		*object = (struct object){
			.path = strdup(path), .name = strdup(e->d_name), .dir = number,
			.self = SOURCE_NONE,
		};
		snprintf(whole, sizeof(whole), "%s%s/%s", top.path, path, e->d_name);
		CU_ASSERT_EQUAL(os_statx(&os, AT_FDCWD, whole, AT_SYMLINK_NOFOLLOW,
		                         K_STATX_BASIC | K_STATX_BTIME, &object->st), 0);
		if (!S_ISDIR(object->st.mode))
			continue;
		object->self = ++world.dirs;
		snprintf(whole, sizeof(whole), "%s/%s", path, e->d_name);
		read_dir(whole, world.dirs);
	}
	closedir(dir);
}

static void forget_tree(void)
{
	for (size_t i = 0; i < world.n; ++i) {
		free(world.objects[i].path);
		free(world.objects[i].name);
	}
	free(world.objects);
	free(world.entered);
	free(world.asked);
	free(world.marks);
	free(world.order);
	world = (struct world){0};
}

static void read_tree(void)
{
	forget_tree();
	os = unit_os();
	read_dir("", 0);
	world.entered = calloc(world.dirs + 1, sizeof(*world.entered));
	world.asked = calloc(world.dirs + 1, sizeof(*world.asked));
	world.marks = calloc(world.dirs + 1, sizeof(*world.marks));
	world.order = calloc(world.n, sizeof(*world.order));
}

static void set_object(const struct object *from)
{
	world.object = (struct source_object){
		.dir = from->dir, .mark = world.marks[from->dir], .self = from->self,
		.path = from->path, .path_len = strlen(from->path),
		.name = from->name, .len = strlen(from->name),
		.type = IFTODT(from->st.mode), .within = QUERY_OPEN,
	};
	world.now = from;
	for (const char *p = from->path; *p; ++p)
		world.object.depth += *p == '/';
}

static enum query_value is_within(const struct object *object);

/** Enter a directory.  @return whether it was. */
static bool enter_dir(uint32_t dir)
{
	if (world.asked[dir])
		return world.entered[dir];
	world.asked[dir] = true;
	size_t i = 0;
	while (world.objects[i].self != dir)
		++i;
	if (!enter_dir(world.objects[i].dir))
		return false;
	set_object(&world.objects[i]);
	world.object.within = is_within(&world.objects[i]);
	int rc = world.start.enter(world.start.arg, &world.object, &world.marks[dir]);
	world.entered[dir] = rc > 0;
	return rc > 0;
}

static int begin(void *arg, struct source_start *start)
{
	(void)arg;
	CU_ASSERT_TRUE(start->is_root);
	errno = EIO;
	if (world.missing)
		return -1;
	world.start = *start;
	world.bounds = *start->bounds;
	world.at = 0;
	start->dir = 0;
	start->again = world.again;
	memset(world.entered, 0, world.dirs + 1);
	memset(world.asked, 0, world.dirs + 1);
	world.entered[0] = world.asked[0] = true;
	world.marks[0] = start->mark;
	for (uint32_t i = 0; i < world.n; ++i) {
		world.seed = world.seed * 6364136223846793005u + 1442695040888963407u;
		uint32_t j = (uint32_t)(world.seed >> 33) % (i + 1);
		world.order[i] = world.order[j];
		world.order[j] = i;
	}
	return 1;
}

/** Whether an object is within the bounds. */
static bool is_wanted(const struct object *object)
{
	uint64_t live[PATTERN_WORDS_MAX];
	STRBUF(text);
	bool sole = false;
	size_t len = strlen(object->name);
	if (!world.bounded)
		return true;
	if (pattern_last(world.start.pattern, live, &text, &sole)) {
		bool matches = pattern_step(world.start.pattern, live, object->name, len, NULL);
		/* The text is a necessary condition. */
		if (matches && sole && !pattern_nocase(world.start.pattern)
		    && !strpbrk(strbuf_str(&text), "*\\") && text.len > 0)
			unit_expect(object->name, strbuf_str(&text));
		if (!matches)
			return false;
	}
	return !world.bounds.none
	       && query_bounds_name(&world.bounds, object->name, len)
	       && world.bounds.types >> IFTODT(object->st.mode) & 1
	       && object->st.size >= world.bounds.size.min
	       && object->st.size <= world.bounds.size.max;
}

/** Set the members of world.object about tests of its name that is_wanted() has made. */
static void set_tested(void)
{
	uint64_t live[PATTERN_WORDS_MAX];
	STRBUF(text);
	bool sole = false;
	if (!world.bounded)
		return;
	world.object.named = pattern_last(world.start.pattern, live, &text, &sole) && sole;
	world.object.memo = world.bounds.memo;
}

/** Whether the bounds have ranges of which is_wanted() knows nothing. */
static bool has_other_bounds(void)
{
	const struct query_bounds *b = &world.bounds;
	const struct query_range *ranges[] = {&b->uid, &b->gid, &b->ino, &b->nlink};
	const struct query_times *times[] = {&b->mtime, &b->ctime, &b->atime, &b->btime};
	bool has = false;
	for (size_t i = 0; i < COUNT(ranges); ++i)
		has |= ranges[i]->min != 0 || ranges[i]->max != UINT64_MAX
		       || times[i]->min != INT64_MIN || times[i]->max != INT64_MAX;
	return has;
}

/** See struct source_object. */
static enum query_value is_within(const struct object *object)
{
	if (!world.bounded || world.lost)
		return QUERY_OPEN;
	if (!is_wanted(object))
		return QUERY_NO;
	return world.bounds.exact && !has_other_bounds() ? QUERY_YES : QUERY_OPEN;
}

/** The next object: next() without the count. */
static const struct source_object *next_object(void)
{
	while (world.at < world.n) {
		const struct object *object = &world.objects[world.order[world.at++]];
		if (!is_wanted(object))
			continue;
		if (S_ISDIR(object->st.mode))
			enter_dir(object->self);
		if (S_ISDIR(object->st.mode) || !enter_dir(object->dir))
			continue;
		set_object(object);
		world.object.within = is_within(object);
		set_tested();
		errno = 0;
		return &world.object;
	}
	errno = world.damaged ? EBADMSG : 0;
	return NULL;
}

static const struct source_object *next(void *arg)
{
	(void)arg;
	world.compared += fault_names();
	const struct source_object *object = next_object();
	fault_names();
	return object;
}

static int find(void *arg, const char *path, size_t len, struct source_object *in)
{
	(void)arg, (void)path, (void)len, (void)in;
	CU_FAIL("there are no mounts");
	return 0;
}

static bool attributes(void *arg, const struct source_object *object, unsigned mask,
                       struct k_statx *st)
{
	(void)arg, (void)object;
	*st = world.now->st;
	st->mask &= mask | K_STATX_TYPE | K_STATX_MODE;
	st->dev_major = st->dev_minor = 0;
	return !world.lost;
}

static const char *why(void *arg)
{
	(void)arg;
	return world.missing ? "no index; build one" : NULL;
}

static void end(void *arg)
{
	(void)arg;
}

static const struct search_source source = {
	.begin = begin, .next = next, .find = find, .attributes = attributes, .why = why,
	.end = end,
};

static const struct query_env *query_env(void)
{
	static struct query_env env;
	env.action = query_world.action;
	query_env_host(&env, &os);
	return &env;
}

/** A search, with or without the source. */
static SEARCH *begin_search(const char *pattern, const char *text, int flags, bool sourced,
                            const struct search_more *settings)
{
	const struct search_options options = {
		.size = sizeof(options), .flags = flags | SEARCH_INCLUDEROOT | SEARCH_EXTENDED,
		.threads = 1,
	};
	const char *roots[] = {top.path};
	struct query *query = text ? query_parse_text(text, query_env(), NULL) : NULL;
	CU_ASSERT_TRUE_FATAL(!text || query);
	SEARCH *search = search_open(roots, 1, pattern, &options, query);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	struct search_more more = settings ? *settings : (struct search_more){0};
	more.maxdepth = more.maxdepth ? more.maxdepth : UINT_MAX;
	more.source = sourced ? &source : NULL;
	more.statx = true;
	search_more(search, &more);
	return search;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** Append what a search finds, in order of the lines. */
static void found(const char *pattern, const char *text, int flags, bool sourced,
                  const struct search_more *settings, bool ordered, struct strbuf *out)
{
	char **lines = NULL;
	size_t n = 0, room = 0;
	SEARCH *search = begin_search(pattern, text, flags, sourced, settings);
	for (struct searchent *e; (e = getmnt_search_read(search));) {
		STRBUF(line);
		const struct k_statx *st = (const void *)getmnt_search_statx(search);
		strbuf_printf(&line, "%s %d %d", e->path, e->err, search_type(search));
		if (st && flags & SEARCH_METADATA)
			strbuf_printf(&line, " %o %d:%d %llu %lld.%u", st->mode, st->dev_major,
			              st->dev_minor, (unsigned long long)st->size,
			              (long long)st->mtime.sec, st->mtime.nsec);
		if (search_target(search))
			strbuf_printf(&line, " -> %s", search_target(search));
		CU_ASSERT_TRUE_FATAL(ARRAY_ROOM(lines, n, &room));
		lines[n++] = strbuf_take(&line);
	}
	CU_ASSERT_EQUAL(errno, 0);
	getmnt_search_close(search);
	if (n > 0 && !ordered)
		qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; ++i) {
		strbuf_printf(out, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
}

static void make_tree(void)
{
	tree_begin(&top);
	tree_make(&top, (const char *const[]){
		"a/", "a/b/", "a/b/c/", "a/b/c/d/", "x/", "x/a/", "x/.git/", "x/.git/a/", "e/",
		"a/f.c", "a/b/f.c", "a/b/c/g.c", "a/b/c/d/F.C", "x/a/f.c", "x/.git/a/f.c", "f.c",
		"x/g.h", "x/\n", "x/k", NULL,
	}, (const char *const[]){"x/l", "k", "a/b/dangling", "nowhere", NULL});
	for (unsigned i = 0; i < 40; ++i)
		tree_file(&top, "x/a/%u", i);
	int fd = openat(top.fd, "a/f.c", O_WRONLY);
	CU_ASSERT_EQUAL(ftruncate(fd, 3000), 0);
	close(fd);
	read_tree();
}

UNIT_TEST(finds_the_same)
{
	static const char *const patterns[] = {
		"*", "f.c", "*.c", "/a/*", "a/*", "b/c/**", "f.c|k", "x/**/f.c", "{f,g}.c", "[f]*",
	};
	static const char *const queries[] = {
		NULL, "", "-name '*.c'", "-type d", "-name .git -prune -o -type f", "-size +1k",
		"-depth", "-mindepth 2 -maxdepth 3", "! -name f.c -type f,l", "-lname k",
		"-empty", "-path '*/b/*'", "-exclude -name a", "-readable -type f", "-unique",
		"-false", "-size -1k",
		"-newermt '1970-01-01' -links 1", "-name f.c -print -o -type d -print0",
		"-xdev -fstype nonsense", "-mount -user root -o -type l",
	};
	static const int flags[] = {
		0, SEARCH_METADATA, SEARCH_NOCASE, SEARCH_R_OK, SEARCH_METADATA | SEARCH_XDEV,
	};
	make_tree();
	size_t results = 0;
	for (size_t i = 0; i < COUNT(patterns) * COUNT(queries) * COUNT(flags);
	     i += unit_step()) {
		const char *pattern = patterns[i % COUNT(patterns)];
		const char *query = queries[i / COUNT(patterns) % COUNT(queries)];
		int flag = flags[i / COUNT(patterns) / COUNT(queries)];
		STRBUF(expected);
		STRBUF(got);
		STRBUF(bounded);
		unit_note("%s, %s, %x", pattern, query ? query : "no query", (unsigned)flag);
		struct search_more more = {
			.type = true, .links = true, .roots = query != NULL,
			.types = i % 3 ? 0 : 1u << DT_REG | 1u << DT_LNK,
		};
		world.seed = i;
		world.bounded = false;
		found(pattern, query, flag, false, &more, false, &expected);
		found(pattern, query, flag, true, &more, false, &got);
		unit_expect(strbuf_str(&got), strbuf_str(&expected));
		world.bounded = true;
		found(pattern, query, flag, true, &more, false, &bounded);
		unit_expect(strbuf_str(&bounded), strbuf_str(&expected));
		world.lost = i % 7 == 0;
		strbuf_reset(&got);
		found(pattern, query, flag, true, &more, false, &got);
		unit_expect(strbuf_str(&got), strbuf_str(&expected));
		world.lost = false;
		results += got.len;
		if (CU_get_number_of_failures() > 5)
			break;
	}
	CU_ASSERT_TRUE(results > 10000 || unit_step() > 1);
	tree_end(&top);
}

/** The search does not test a name again that the source has tested.  Names of directories are not
    counted: next() enters directories. */
UNIT_TEST(names_tested_once)
{
	static const struct {
		const char *pattern, *query;
		int flags;
		uint64_t compared;
	} rows[] = {
		{"*", "-name '*.c' -size -1M -print0", 0, 0},
		{"*", "-name '*.c' -path '*/a/*' -uid 0", 0, 6},
		{"*.c", NULL, SEARCH_METADATA, 0},
		{"x/**/f.c", "-size -1M", 0, 0},
		{"/a/*.c", "-name f*", 0, 0},
	};
	FAULT_OR_SKIP();
	make_tree();
	world.bounded = true;
	for (size_t i = 0; i < COUNT(rows) * 2; ++i) {
		STRBUF(got);
		/* With `again`, the search also reads the attributes of each result. */
		world.again = i % 2;
		world.compared = 0;
		fault_names();
		found(rows[i / 2].pattern, rows[i / 2].query, rows[i / 2].flags, true, NULL, false,
		      &got);
		STRBUF(count);
		STRBUF(expected);
		strbuf_printf(&count, "%zu: %d", i, (int)world.compared);
		strbuf_printf(&expected, "%zu: %d", i, (int)rows[i / 2].compared);
		unit_expect(strbuf_str(&count), strbuf_str(&expected));
	}
	tree_end(&top);
}

/** Take lines. */
static void take_lines(void *arg, struct strbuf *text, uint64_t n)
{
	(void)n;
	strbuf_add(arg, text->data, text->len);
	strbuf_reset(text);
}

static int count_lines(const char *text)
{
	int n = 0;
	for (; *text; ++text)
		n += *text == '\n';
	return n;
}

/* Directories come before their contents, or with -depth after them; in an order they are sorted;
   lines have whole paths. */
UNIT_TEST(order_and_lines)
{
	make_tree();
	for (unsigned i = 0; i < 20; ++i) {
		STRBUF(down);
		STRBUF(up);
		world.seed = i;
		found("*", "-type d", 0, true, &(struct search_more){.roots = true}, true, &down);
		found("*", "-type d -depth", 0, true, &(struct search_more){.roots = true}, true,
		      &up);
		const char *whole[] = {strbuf_str(&down), strbuf_str(&up)};
		for (int j = 0; j < 2; ++j) {
			const char *b = strstr(whole[j], "/a/b 0");
			const char *d = strstr(whole[j], "/a/b/c/d 0");
			const char *git = strstr(whole[j], "/x/.git 0");
			const char *in = strstr(whole[j], "/x/.git/a 0");
			CU_ASSERT_TRUE_FATAL(b && d && git && in);
			CU_ASSERT_EQUAL(b < d, j == 0);
			CU_ASSERT_EQUAL(git < in, j == 0);
		}
		for (int flag = SEARCH_BYNAME;; flag = SEARCH_BYINODE) {
			STRBUF(expected);
			STRBUF(got);
			found("x/a/*", NULL, flag, false, NULL, true, &expected);
			found("x/a/*", NULL, flag, true, NULL, true, &got);
			CU_ASSERT_EQUAL(count_lines(strbuf_str(&got)), 41);
			unit_expect(strbuf_str(&got), strbuf_str(&expected));
			/* The bounds decide. */
			strbuf_reset(&expected);
			strbuf_reset(&got);
			world.bounded = true;
			found("*", "-name '[0-9]*'", flag, false, NULL, true, &expected);
			found("*", "-name '[0-9]*'", flag, true, NULL, true, &got);
			CU_ASSERT_EQUAL(count_lines(strbuf_str(&got)), 40);
			unit_expect(strbuf_str(&got), strbuf_str(&expected));
			world.bounded = false;
			if (flag == SEARCH_BYINODE)
				break;
		}
		STRBUF(lines);
		const struct search_more more = {.lines = take_lines, .end = '\n', .arg = &lines};
		SEARCH *search = begin_search("*.c", NULL, 0, true, &more);
		CU_ASSERT_PTR_NULL(getmnt_search_read(search));
		getmnt_search_close(search);
		CU_ASSERT_EQUAL(count_lines(strbuf_str(&lines)), 6);
		char path[100];
		snprintf(path, sizeof(path), "%s/a/b/c/g.c\n", top.path);
		CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&lines), path));
	}
	tree_end(&top);
}

static enum search_go prune_b(void *arg, const struct search_visit *visit)
{
	strbuf_printf(arg, "%s\n", visit->below);
	CU_ASSERT_TRUE(search_visit_dir(visit) >= 0);
	return strcmp(visit->object.name, "b") == 0 ? SEARCH_PRUNE : SEARCH_GO;
}

/* What the caller does not want entered is not searched. */
UNIT_TEST(visited_first)
{
	make_tree();
	STRBUF(visited);
	const struct search_more more = {.visit = prune_b, .arg = &visited, .roots = true};
	SEARCH *search = begin_search("*", "-exec false ';' -prune -o -print", 0, true, &more);
	CU_ASSERT_PTR_NULL(getmnt_search_read(search));
	getmnt_search_close(search);
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&visited), "a/b\n"));
	CU_ASSERT_PTR_NULL(strstr(strbuf_str(&visited), "a/b/"));
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&visited), "x/.git/a/f.c\n"));
	tree_end(&top);
}

/** Change the tree after it was read. */
static void change_tree(void)
{
	CU_ASSERT_EQUAL(unlinkat(top.fd, "a/f.c", 0), 0);
	CU_ASSERT_EQUAL(renameat(top.fd, "x/a", top.fd, "x/moved"), 0);
	CU_ASSERT_EQUAL(unlinkat(top.fd, "f.c", 0), 0);
	tree_dir(&top, "f.c");
	tree_file(&top, "f.c/new");
	int fd = openat(top.fd, "a/b/f.c", O_WRONLY);
	CU_ASSERT_EQUAL(write(fd, "x", 1), 1);
	close(fd);
}

UNIT_TEST(looked_at_again)
{
	static const struct {
		const char *query, *then, *now;
	} rows[] = {
		{"-name f.c", "/a/b/f.c /a/f.c /f.c /x/.git/a/f.c /x/a/f.c",
		 "/a/b/f.c /f.c /x/.git/a/f.c"},
		{"-name f.c -type f -size 0", "/a/b/f.c /f.c /x/.git/a/f.c /x/a/f.c",
		 "/x/.git/a/f.c"},
		/* What was not found is not looked at. */
		{"-name f.c -size +0", "/a/f.c", ""},
		{"-path '*/x/a*' -type d", "/x/a", ""},
	};
	make_tree();
	change_tree();
	for (size_t i = 0; i < COUNT(rows) * 2; ++i) {
		STRBUF(got);
		STRBUF(list);
		world.again = i % 2;
		unit_note("%s, %zu", rows[i / 2].query, i % 2);
		found("*", rows[i / 2].query, 0, true, NULL, false, &got);
		for (char *line = got.data, *at; line && *line; line = strchr(at, '\n') + 1) {
			at = strstr(line, " 0 ");
			CU_ASSERT_PTR_NOT_NULL_FATAL(at);
			strbuf_printf(&list, "%s%.*s", list.len ? " " : "",
			              (int)(at - line - (long)strlen(top.path)),
			              line + strlen(top.path));
		}
		unit_expect(strbuf_str(&list), i % 2 ? rows[i / 2].now : rows[i / 2].then);
	}
	tree_end(&top);
}

/* The calls of a search: the root, and what must be looked at. */
UNIT_TEST(calls)
{
	static const struct {
		const char *query;
		bool again;
		unsigned opened, looked;
	} rows[] = {
		{"-name f.c", false, 0, 0},
		{"-name f.c -size 0 -newermt 1970-01-01", false, 0, 0},
		{"-name f.c", true, 5, 5},
		{"-name '[0-9]*' -path '*/x/*'", true, 1, 40},
	};
	if (!(unit_os().caps & OSC_OPENAT2))
		UNIT_SKIP("no openat2");
	make_tree();
	uint64_t base[2] = {0};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].query);
		world.again = rows[i].again;
		world.seed = 0;
		world.bounded = true;
		SEARCH *search = begin_search("*", rows[i].query, 0, true, NULL);
		while (getmnt_search_read(search))
			;
		const struct os *used = search_os(search);
		uint64_t opened = used->calls[OS_OPENAT2], looked = used->calls[OS_STATX];
		if (i == 0) {
			base[0] = opened;
			base[1] = looked;
			CU_ASSERT_EQUAL(used->calls[OS_GETDENTS], 0);
		}
		if (rows[i].opened > 1)
			CU_ASSERT_TRUE(opened - base[0] >= rows[i].opened - 1);
		CU_ASSERT_EQUAL(looked - base[1], rows[i].looked);
		getmnt_search_close(search);
	}
	tree_end(&top);
}

/* An error of the source is one of the root, with its reason. */
UNIT_TEST(errors)
{
	make_tree();
	world.damaged = true;
	SEARCH *search = begin_search("k", NULL, 0, true, NULL);
	struct searchent *e = getmnt_search_read(search);
	CU_ASSERT_TRUE_FATAL(e && e->err == 0);
	e = getmnt_search_read(search);
	CU_ASSERT_TRUE_FATAL(e && e->err == EBADMSG && e->errsource == SEARCH_ERR_OPEN);
	CU_ASSERT_PTR_NULL(getmnt_search_why(search));
	unit_expect(e->path, top.path);
	CU_ASSERT_PTR_NULL(getmnt_search_read(search));
	getmnt_search_close(search);
	world.missing = true;
	search = begin_search("k", NULL, 0, true, NULL);
	e = getmnt_search_read(search);
	CU_ASSERT_TRUE_FATAL(e && e->err == EIO);
	unit_expect(getmnt_search_why(search), "no index; build one");
	CU_ASSERT_PTR_NULL(getmnt_search_read(search));
	getmnt_search_close(search);
	/* Closed at once, and in the middle. */
	world.missing = world.damaged = false;
	getmnt_search_close(begin_search("*", NULL, 0, true, NULL));
	search = begin_search("*", NULL, 0, true, NULL);
	CU_ASSERT_PTR_NOT_NULL(getmnt_search_read(search));
	getmnt_search_close(search);
	tree_end(&top);
	forget_tree();
}
