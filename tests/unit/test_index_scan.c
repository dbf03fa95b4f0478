/* SPDX-License-Identifier: MIT */
/*
 * Candidates from an index: everything of a random world that a random query finds, nothing that
 * does not exist, nothing twice; with changes in deltas, and after they were folded.
 */
#include "unit.h"

#include "query_world.h"
#include "store_world.h"
#include "tree.h"

#include "base/fail.h"
#include "base/map64.h"
#include "index/scan/scan.h"

#include <dirent.h>

static struct tree tree;
static struct os os;

/** A scan, compared with the world. */
struct run {
	struct world *world;
	struct index *index;
	struct scan *scan;
	struct query *query;
	struct pattern *pattern;
	uint32_t start;               /* position in world->dirs */
	uint32_t refused;             /* directories whose inode number it divides; 0: none */
	const char *only;             /* the pattern */
	unsigned decided;             /* objects of which the scan knew whether they are found */
	struct map64 asked, got;      /* inode numbers: of enter(), of candidates */
	uint32_t nasked, ngot;
};

/** The position of an object, by its inode number.  @return false: there is none. */
static bool find_object(const struct world *w, uint64_t ino, const struct world_dir **dir,
                        const struct world_file **file)
{
	*dir = NULL;
	*file = NULL;
	for (uint32_t i = 0; i < w->ndirs && !*dir; ++i)
		*dir = w->dirs[i].live && w->dirs[i].ino == ino ? &w->dirs[i] : NULL;
	for (uint32_t i = 0; i < w->nfiles && !*dir && !*file; ++i)
		*file = w->files[i].live && w->files[i].ino == ino ? &w->files[i] : NULL;
	return *dir || *file;
}

/** Append the path of a directory below another one.  @return false: it is not below, or a
    directory on the way is refused. */
static bool put_path(const struct run *run, uint32_t dir, struct strbuf *out)
{
	const struct world_dir *d = &run->world->dirs[dir];
	if (dir == run->start)
		return true;
	if (!d->live || d->parent == dir || (run->refused && d->ino % run->refused == 0)
	    || !put_path(run, d->parent, out))
		return false;
	strbuf_printf(out, "/%s", d->name);
	return true;
}

/** Whether the query and the pattern are true for an object. */
static bool is_found(const struct run *run, const char *name, const struct k_statx *st)
{
	struct query_thing thing;
	struct query_outcome outcome;
	uint64_t live[PATTERN_WORDS_MAX];
	char words[] = "";
	query_thing_init(&thing, words);
	thing.object.name = name;
	thing.object.len = strlen(name);
	thing.object.type = IFTODT(st->mode);
	thing.object.st = st;
	query_test(run->query, &thing.object, QUERY_STATX, &outcome);
	pattern_root(run->pattern, live);
	return outcome.acts != QUERY_NO
	       && pattern_step(run->pattern, live, name, strlen(name), NULL) & PATTERN_MATCH;
}

/** Check an object against the world.  @return its inode number. */
static uint64_t check_object(struct run *run, const struct source_object *object)
{
	const struct world_dir *dir;
	const struct world_file *file;
	struct k_statx st;
	STRBUF(path);
	CU_ASSERT_EQUAL_FATAL(scan_attributes(run->scan, object, UINT_MAX, &st), 1);
	CU_ASSERT_TRUE_FATAL(find_object(run->world, st.ino, &dir, &file));
	unit_expect(object->name, dir ? dir->name : file->name);
	CU_ASSERT_EQUAL(object->len, strlen(object->name));
	CU_ASSERT_EQUAL(object->type, dir ? DT_DIR : DT_REG);
	CU_ASSERT_EQUAL(object->self, dir ? dir->dir : SOURCE_NONE);
	CU_ASSERT_EQUAL(st.size, dir ? 0 : file->size);
	uint32_t parent = dir ? dir->parent : file->dir;
	CU_ASSERT_EQUAL(object->dir, run->world->dirs[parent].dir);
	CU_ASSERT_EQUAL(object->mark, parent == run->start ? 77 : run->world->dirs[parent].ino);
	CU_ASSERT_TRUE(put_path(run, parent, &path));
	unit_expect(object->path, strbuf_str(&path));
	CU_ASSERT_EQUAL(object->path_len, path.len);
	unsigned depth = 0;
	for (const char *p = strbuf_str(&path); *p; ++p)
		depth += *p == '/';
	CU_ASSERT_EQUAL(object->depth, depth);
	/* Where the query and the pattern agree. */
	if (object->within != QUERY_OPEN && !strcmp(run->only, "*"))
		CU_ASSERT_EQUAL(object->within == QUERY_YES, is_found(run, object->name, &st));
	run->decided += object->within != QUERY_OPEN;
	return st.ino;
}

static int enter(void *arg, const struct source_object *dir, uint32_t *mark)
{
	struct run *run = arg;
	uint64_t ino = check_object(run, dir);
	/* Once, and parents first: check_object() fails below a refused one. */
	CU_ASSERT_EQUAL(map64_put(&run->asked, ino, run->nasked), run->nasked);
	++run->nasked;
	*mark = (uint32_t)ino;
	return !(run->refused && ino % run->refused == 0);
}

/** Check that an object is a candidate if it must be one. */
static void expect_candidate(const struct run *run, uint32_t dir, const char *name,
                             const struct k_statx *st)
{
	STRBUF(path);
	if (!is_found(run, name, st) || !put_path(run, dir, &path))
		return;
	/* Of a directory, that enter() was called. */
	if (map64_get(S_ISDIR(st->mode) ? &run->asked : &run->got, st->ino) == MAP64_NONE) {
		unit_note("%s/%s", strbuf_str(&path), name);
		CU_FAIL("an object is missing");
	}
}

static void expect_candidates(const struct run *run)
{
	const struct world *w = run->world;
	for (uint32_t i = 0; i < w->ndirs; ++i) {
		const struct world_dir *d = &w->dirs[i];
		const struct k_statx st = {
			.mask = K_STATX_BASIC, .mode = S_IFDIR | 0755, .ino = d->ino, .nlink = 2,
			.mtime = {.sec = (int64_t)d->mtime}, .ctime = {.sec = 1000},
		};
		if (d->live && i != run->start && d->parent != i)
			expect_candidate(run, d->parent, d->name, &st);
	}
	for (uint32_t i = 0; i < w->nfiles; ++i) {
		const struct world_file *f = &w->files[i];
		const struct k_statx st = {
			.mask = K_STATX_BASIC, .mode = S_IFREG | 0644, .ino = f->ino, .nlink = 1,
			.uid = (uint32_t)(f->ino % 7), .size = f->size,
			.mtime = {.sec = (int64_t)f->size}, .ctime = {.sec = 1000},
		};
		if (f->live && w->dirs[f->dir].live)
			expect_candidate(run, f->dir, f->name, &st);
	}
}

static uint32_t live_dir(struct world *w)
{
	uint32_t i;
	do
		i = world_random(w, w->ndirs);
	while (!w->dirs[i].live);
	return i;
}

/** Write a random query, and a pattern. */
static void choose(struct run *run, struct strbuf *query, struct strbuf *pattern)
{
	static const char *const names[] = {
		"*.c", "f*", "*.jpeg", "d*", "*a*.gz", "?1*", "*", "f1?.c", "*.tar.*", "[fd]1*",
	};
	struct world *w = run->world;
	const char *some = w->nfiles ? w->files[world_random(w, w->nfiles)].name : "x";
	switch (world_random(w, 8)) {
	case 0: strbuf_printf(query, "-name %s", some); break;
	case 1: strbuf_printf(query, "-iname '%s'", names[world_random(w, COUNT(names))]); break;
	case 2: strbuf_printf(query, "-uid %u", world_random(w, 8)); break;
	case 3: strbuf_printf(query, "-size +%uc -uid +2", world_random(w, 20000)); break;
	case 4: strbuf_printf(query, "! -newermt @%u -type f", world_random(w, 9999)); break;
	case 5: strbuf_printf(query, "-type d -newermt @%u", world_random(w, 999999)); break;
	case 6: strbuf_printf(query, "-name '%s' -o -inum %u", names[world_random(w, COUNT(names))],
	                      world_random(w, 9999)); break;
	default: strbuf_puts(query, "-true");
	}
	if (world_random(w, 3) > 0)
		strbuf_puts(pattern, "*");
	else if (world_random(w, 2))
		strbuf_puts(pattern, names[world_random(w, COUNT(names))]);
	else
		strbuf_printf(pattern, "%s|*.c", some);
}

/** Make a scan, and check it.  @return the number of candidates. */
static uint32_t scan_once(struct world *w, struct index *index, struct scan_counts *counts,
                          uint64_t *decided)
{
	struct run run = {.world = w, .index = index};
	struct query_bounds bounds;
	STRBUF(text);
	STRBUF(pattern);
	choose(&run, &text, &pattern);
	run.start = world_random(w, 2) ? 0 : live_dir(w);
	run.refused = world_random(w, 3) ? 0 : 3 + world_random(w, 20);
	unit_note("%s, %s, from %s", strbuf_str(&text), strbuf_str(&pattern),
	          w->dirs[run.start].name);
	run.query = query_parse_text(strbuf_str(&text), &query_world, NULL);
	run.pattern = pattern_compile(strbuf_str(&pattern), pattern.len, 0, NULL);
	CU_ASSERT_TRUE_FATAL(run.query && run.pattern);
	run.only = strbuf_str(&pattern);
	query_bounds(run.query, &bounds);
	run.scan = scan_new(index, &(struct scan_options){
		.start = w->dirs[run.start].dir, .mark = 77, .bounds = &bounds,
		.pattern = run.pattern, .enter = enter, .arg = &run,
	});
	CU_ASSERT_PTR_NOT_NULL_FATAL(run.scan);
	for (const struct source_object *object; (object = scan_next(run.scan));) {
		uint64_t ino = check_object(&run, object);
		CU_ASSERT_EQUAL(object->self, SOURCE_NONE);
		CU_ASSERT_EQUAL(map64_put(&run.got, ino, run.ngot), run.ngot);
		++run.ngot;
	}
	CU_ASSERT_EQUAL(errno, 0);
	expect_candidates(&run);
	/* Directories by their paths. */
	for (int i = 0; i < 5; ++i) {
		STRBUF(path);
		struct source_object in = {0};
		uint32_t dir = live_dir(w);
		if (!put_path(&run, dir, &path))
			continue;
		CU_ASSERT_EQUAL(scan_find(run.scan, strbuf_str(&path), path.len, &in), 1);
		CU_ASSERT_EQUAL(in.dir, w->dirs[dir].dir);
		CU_ASSERT_EQUAL(in.path_len, path.len);
		strbuf_puts(&path, "/none");
		CU_ASSERT_EQUAL(scan_find(run.scan, path.data, path.len, &in), 0);
	}
	scan_count(run.scan, counts);
	*decided += run.decided;
	scan_free(run.scan);
	map64_destroy(&run.asked);
	map64_destroy(&run.got);
	query_free(run.query);
	pattern_free(run.pattern);
	return run.ngot;
}

UNIT_TEST(random_scans)
{
	os = unit_os();
	uint64_t found = 0, opened = 0, clusters = 0, decided = 0;
	for (uint64_t seed = 0; seed < 6; seed += unit_step()) {
		tree_begin(&tree);
		struct world *w = world_new(seed, 150, 3000, 20);
		CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
		for (int i = 0; i < 8 && CU_get_number_of_failures() < 5; ++i) {
			struct index *index = index_open(&os, tree.fd, INDEX_READ);
			CU_ASSERT_PTR_NOT_NULL_FATAL(index);
			for (int j = 0; j < 30 && CU_get_number_of_failures() < 5; ++j) {
				struct scan_counts counts;
				found += scan_once(w, index, &counts, &decided);
				opened += counts.opened;
				clusters += counts.clusters;
			}
			index_close(index);
			index = index_open(&os, tree.fd, INDEX_WRITE);
			CU_ASSERT_PTR_NOT_NULL_FATAL(index);
			for (uint32_t n = world_random(w, 200); n > 0; --n)
				CU_ASSERT_EQUAL_FATAL(world_step(w, index), 0);
			CU_ASSERT_EQUAL_FATAL(index_commit(index), 0);
			if (world_random(w, 3) == 0)
				CU_ASSERT_EQUAL_FATAL(index_fold(index, true), 0);
			index_close(index);
		}
		free(w);
		tree_end(&tree);
	}
	CU_ASSERT_TRUE(found > 20000);
	CU_ASSERT_TRUE(decided > found / 4);
	/* The filters exclude something. */
	CU_ASSERT_TRUE(opened < clusters * 9 / 10);
}

/* An empty index, and a query that is never true. */
UNIT_TEST(nothing)
{
	struct query_bounds bounds;
	tree_begin(&tree);
	struct world *w = world_new(1, 10, 10, 20);
	CU_ASSERT_EQUAL_FATAL(world_build(w, &os, tree.fd), 0);
	struct index *index = index_open(&os, tree.fd, INDEX_READ);
	struct query *query = query_parse_text("-name a -name b", &query_world, NULL);
	query_bounds(query, &bounds);
	struct scan *scan = scan_new(index, &(struct scan_options){
		.start = index_root(index), .bounds = &bounds,
	});
	CU_ASSERT_TRUE(!scan_next(scan) && errno == 0);
	CU_ASSERT_TRUE(!scan_next(scan) && errno == 0);
	scan_free(scan);
	query_free(query);
	index_close(index);
	free(w);
	tree_end(&tree);
}

/** Refuse the second directory by an error. */
static int enter_one(void *arg, const struct source_object *dir, uint32_t *mark)
{
	(void)dir, (void)mark;
	return ++*(unsigned *)arg == 2 ? fail(EIO) : 1;
}

/** After an error of enter(), the start is still found with its own path. */
UNIT_TEST(enter_error)
{
	struct query_bounds bounds;
	struct source_object in;
	unsigned calls = 0, deep = 0;
	STRBUF(path);
	os = unit_os();
	struct world *w = world_new(3, 60, 100, 20);
	struct index *index = world_open(w, &os, &tree);
	query_bounds(NULL, &bounds);
	for (uint32_t i = 1; i < w->ndirs && !deep; ++i) {
		uint32_t parent = w->dirs[i].parent;
		deep = parent && w->dirs[parent].parent ? i : 0;
	}
	CU_ASSERT_FATAL(deep > 0);
	CU_ASSERT_EQUAL(index_path(index, w->dirs[deep].dir, index_root(index), &path), 0);
	struct scan *scan = scan_new(index, &(struct scan_options){
		.start = index_root(index), .bounds = &bounds, .enter = enter_one, .arg = &calls,
	});
	CU_ASSERT_PTR_NOT_NULL_FATAL(scan);
	CU_ASSERT(scan_find(scan, path.data, path.len, &in) == -1 && errno == EIO);
	CU_ASSERT_EQUAL(calls, 2);
	CU_ASSERT_EQUAL(scan_find(scan, "", 0, &in), 1);
	CU_ASSERT_EQUAL(in.path_len, 0);
	scan_free(scan);
	index_close(index);
	free(w);
	tree_end(&tree);
}
