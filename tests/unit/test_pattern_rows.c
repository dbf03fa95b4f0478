/* SPDX-License-Identifier: MIT */
/*
 * The rows of tests/fixtures/search, tried on the patterns alone: the tree is
 * the list of its entries, walked as a search would walk it.
 */
#include "unit.h"

#include "base/arena.h"
#include "base/escape.h"
#include "search/pattern.h"

#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TREES = 32, MAX_ENTRIES = 96, MAX_FOUND = 128, MAX_FIELDS = 128, MAX_WORDS = 4 };

struct entry {
	char type;          /* as in the file: d, f, x, w, o, m, p, l */
	const char *path;   /* "/a/b" */
};

struct tree {
	const char *name;
	struct entry entries[MAX_ENTRIES];
	size_t n;
};

struct rows {
	struct arena arena;
	struct tree trees[MAX_TREES];
	size_t ntrees;
	size_t run;
};

/** A search of a row, and what it has come to. */
struct search {
	struct rows *rows;
	const struct tree *tree;
	const struct pattern *pattern;
	const char *root;     /* "" for the top */
	bool first, with_root;
	bool readable, writable, executable;
	bool xdev, follow;
	const char *found[MAX_FOUND];
	size_t nfound, hits, entered;
	bool wrong;           /* two ways to one answer did not agree */
};

/* Reading */

static char *read_file(struct arena *arena, const char *name)
{
	FILE *file = fopen(name, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	char *text = arena_alloc(arena, 1 << 20);
	size_t n = fread(text, 1, (1 << 20) - 1, file);
	fclose(file);
	CU_ASSERT_TRUE_FATAL(n > 0 && n < (1 << 20) - 1);
	text[n] = '\0';
	return text;
}

/** The next line that is no comment, or NULL. */
static char *next_line(char **text)
{
	char *line;
	do {
		line = strsep(text, "\n");
	} while (line && (*line == '\0' || *line == '#'));
	return line;
}

/** Split a text in place; empty fields count.  @return their number. */
static size_t split(char *text, const char *separator, char **fields)
{
	size_t n = 0;
	while (text) {
		CU_ASSERT_FATAL(n < MAX_FIELDS);
		fields[n++] = strsep(&text, separator);
	}
	return n;
}

/** Decode \ooo in place. */
static char *decode(char *text)
{
	text[unescape_octal(text, text, strlen(text))] = '\0';
	return text;
}

/** Join strings. */
static const char *join(struct rows *rows, const char *a, const char *b, const char *c)
{
	size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
	char *text = arena_alloc(&rows->arena, size);
	snprintf(text, size, "%s%s%s", a, b, c);
	return text;
}

static void read_trees(struct rows *rows, const char *name)
{
	char *text = read_file(&rows->arena, name), *line;
	struct tree *tree = NULL;
	while ((line = next_line(&text))) {
		char *fields[MAX_FIELDS];
		size_t n = split(line, " ", fields);
		CU_ASSERT_FATAL(n >= 2);
		if (strcmp(fields[0], "tree") == 0) {
			CU_ASSERT_FATAL(rows->ntrees < MAX_TREES);
			tree = &rows->trees[rows->ntrees++];
			tree->name = fields[1];
			continue;
		}
		CU_ASSERT_FATAL(tree && tree->n < MAX_ENTRIES && n == (fields[0][0] == 'l' ? 3 : 2));
		CU_ASSERT_PTR_NOT_NULL_FATAL(strchr("dfxwompl", fields[0][0]));
		tree->entries[tree->n++] = (struct entry){
			.type = fields[0][0], .path = join(rows, "/", decode(fields[1]), ""),
		};
	}
}

static const struct tree *find_tree(const struct rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->ntrees; ++i) {
		if (strcmp(rows->trees[i].name, name) == 0)
			return &rows->trees[i];
	}
	return NULL;
}

/* Searching */

static void deliver(struct search *search, const char *result)
{
	CU_ASSERT_FATAL(search->nfound < MAX_FOUND);
	search->found[search->nfound++] = result;
}

static bool among(const char *text, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if (strcmp(texts[i], text) == 0)
			return true;
	}
	return false;
}

/** Whether a name is among those that alone can match, if there are such. */
static bool may_be(const struct search *search, const uint64_t *state, const char *name)
{
	const char *names[8];
	size_t n = pattern_names(search->pattern, state, names, 8);
	return n == 0 || among(name, names, n);
}

static bool is_dir(const struct entry *entry)
{
	return entry->type == 'd' || entry->type == 'm';
}

/** Whether another than its owner may use an entry as is asked. */
static bool may_use(const struct search *search, const struct entry *entry)
{
	if (entry->type == 'l')
		return true;
	return (!search->readable || entry->type != 'o') && (!search->writable || entry->type == 'w')
	       && (!search->executable || is_dir(entry) || entry->type == 'x');
}

static void walk(struct search *search, const char *dir, const uint64_t *state)
{
	++search->entered;
	for (size_t i = 0; i < search->tree->n && !(search->first && search->hits); ++i) {
		const struct entry *entry = &search->tree->entries[i];
		const char *name = strrchr(entry->path, '/') + 1;
		size_t len = (size_t)(name - 1 - entry->path);
		if (len != strlen(dir) || memcmp(entry->path, dir, len) != 0)
			continue;
		bool below = is_dir(entry) && !(search->xdev && entry->type == 'm');
		uint64_t child[MAX_WORDS];
		unsigned verdict = pattern_step(search->pattern, state, name, strlen(name),
		                                below ? child : NULL);
		const char *path = entry->path + strlen(search->root);
		if (!!(verdict & PATTERN_MATCH) != pattern_match(search->pattern, path)
		    || (verdict && !may_be(search, state, name)))
			search->wrong = true;
		if (verdict & PATTERN_MATCH && may_use(search, entry)) {
			deliver(search, search->with_root ? entry->path : path);
			++search->hits;
		}
		if (verdict & PATTERN_BELOW)
			walk(search, entry->path, child);
	}
}

static void search_root(struct search *search, const char *root)
{
	const struct entry *at = NULL;
	for (size_t i = 0; i < search->tree->n; ++i) {
		if (strcmp(search->tree->entries[i].path, root) == 0)
			at = &search->tree->entries[i];
	}
	bool top = strcmp(root, "/") == 0;
	if (!top && (!at || !is_dir(at))) {
		deliver(search, join(search->rows, "OPEN:", at ? "ENOTDIR:" : "ENOENT:", root));
		return;
	}
	search->root = top ? "" : root;
	uint64_t state[MAX_WORDS];
	if (pattern_root(search->pattern, state))
		walk(search, search->root, state);
}

/* Judging */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** Whether what was found is what is expected. */
static bool as_expected(struct search *search, char *text)
{
	char *fields[MAX_FIELDS];
	const char *expected[MAX_FIELDS];
	size_t n = strcmp(text, "-") == 0 ? 0 : split(text, " ", fields), hits = 0;
	for (size_t i = 0; i < n; ++i) {
		expected[i] = decode(fields[i]);
		hits += expected[i][0] == '/';
	}
	if (search->first) {
		for (size_t i = 0; i < search->nfound; ++i) {
			if (!among(search->found[i], expected, n))
				return false;
		}
		return search->hits == (hits > 0);
	}
	if (n != search->nfound)
		return false;
	qsort(expected, n, sizeof(*expected), by_text);
	qsort(search->found, n, sizeof(*search->found), by_text);
	for (size_t i = 0; i < n; ++i) {
		if (strcmp(expected[i], search->found[i]) != 0)
			return false;
	}
	return true;
}

/** Set what the flags of a row say.  @return the pattern's flags. */
static unsigned read_flags(struct search *search, char *text)
{
	unsigned flags = 0;
	char *fields[MAX_FIELDS];
	size_t n = strcmp(text, "-") == 0 ? 0 : split(text, ",", fields);
	for (size_t i = 0; i < n; ++i) {
		if (strcmp(fields[i], "PERIOD") == 0)
			flags |= PATTERN_PERIOD;
		else if (strcmp(fields[i], "PAPER_Q") == 0)
			flags |= PATTERN_PAPER_Q;
		else if (strcmp(fields[i], "STOPATFIRST") == 0)
			search->first = true;
		else if (strcmp(fields[i], "INCLUDEROOT") == 0)
			search->with_root = true;
		else if (strcmp(fields[i], "R_OK") == 0)
			search->readable = true;
		else if (strcmp(fields[i], "W_OK") == 0)
			search->writable = true;
		else if (strcmp(fields[i], "X_OK") == 0)
			search->executable = true;
		else if (strcmp(fields[i], "XDEV") == 0)
			search->xdev = true;
		else if (strcmp(fields[i], "FOLLOW") == 0)
			search->follow = true;
		else if (strcmp(fields[i], "METADATA") != 0)   /* changes no entry */
			search->wrong = true;
	}
	return flags;
}

/** @return whether a row holds. */
static bool run_row(struct rows *rows, char **fields)
{
	struct search search = {.rows = rows, .tree = find_tree(rows, fields[0])};
	unsigned flags = read_flags(&search, fields[3]);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search.tree);
	char *pattern = decode(fields[2]);
	struct pattern_error error;
	struct pattern *compiled = pattern_compile(pattern, strlen(pattern), flags, &error);
	search.pattern = compiled;
	if (!compiled)
		return strcmp(fields[5], "!EINVAL") == 0 && errno == EINVAL && error.why
		       && error.at <= strlen(pattern);

	/* Where links lead is no matter of patterns: tests/system/search_rows.py. */
	if (search.follow) {
		pattern_free(compiled);
		return !search.wrong;
	}

	char *roots[MAX_FIELDS];
	size_t n = split(fields[1], " ", roots);
	CU_ASSERT_FATAL(pattern_words(compiled) <= MAX_WORDS);
	for (size_t i = 0; i < n && !(search.first && search.hits); ++i)
		search_root(&search, decode(roots[i]));
	pattern_free(compiled);
	return as_expected(&search, fields[5]) && !search.wrong
	       && (strcmp(fields[4], "-") == 0 || strtoul(fields[4], NULL, 10) == search.entered);
}

static void run_rows(void)
{
	static struct rows rows;
	rows = (struct rows){0};
	arena_init(&rows.arena);
	read_trees(&rows, "tests/fixtures/search/trees");
	char *text = read_file(&rows.arena, "tests/fixtures/search/rows"), *line;
	while ((line = next_line(&text))) {
		const char *whole = join(&rows, line, "", "");
		char *fields[MAX_FIELDS];
		CU_ASSERT_EQUAL_FATAL(split(line, "\t", fields), 6);
		bool holds = run_row(&rows, fields);
		if (!holds)
			printf("  does not hold: %s\n", whole);
		CU_ASSERT_TRUE(holds);
		++rows.run;
	}
	CU_ASSERT_TRUE(rows.run >= 600);
	arena_destroy(&rows.arena);
}

static void test_rows(void)
{
	run_rows();
}

/* What a character is does not hang on the locale. */
static void test_rows_utf8(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		UNIT_SKIP("there is no locale C.UTF-8");
	run_rows();
	setlocale(LC_CTYPE, "C");
}

static const struct unit_test tests[] = {
	{"rows", test_rows},
	{"rows_utf8", test_rows_utf8},
	{NULL, NULL},
};

const struct unit_suite suite_pattern_rows = {"pattern_rows", tests};
