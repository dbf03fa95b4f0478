/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include "unit.h"

#include "select/pattern.h"

#include <ftw.h>
#include <limits.h>
#include <stdarg.h>

void tree_begin(struct tree *tree)
{
	strcpy(tree->path, "/tmp/getmnt-tree-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(tree->path));
	tree->fd = open(tree->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_FATAL(tree->fd >= 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void tree_remove(const char *path)
{
	CU_ASSERT_EQUAL(nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS), 0);
}

void tree_end(struct tree *tree)
{
	CU_ASSERT_EQUAL(close(tree->fd), 0);
	tree_remove(tree->path);
}

void tree_dir(const struct tree *tree, const char *format, ...)
{
	char name[PATH_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	CU_ASSERT_EQUAL_FATAL(mkdirat(tree->fd, name, 0755), 0);
}

void tree_file(const struct tree *tree, const char *format, ...)
{
	char name[PATH_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	CU_ASSERT_EQUAL_FATAL(mknodat(tree->fd, name, S_IFREG | 0644, 0), 0);
}

void tree_link(const struct tree *tree, const char *name, const char *target)
{
	CU_ASSERT_EQUAL_FATAL(symlinkat(target, tree->fd, name), 0);
}

void tree_make(const struct tree *tree, const char *const names[], const char *const links[])
{
	for (; *names; ++names) {
		size_t n = strlen(*names) - 1;
		if ((*names)[n] == '/')
			tree_dir(tree, "%.*s", (int)n, *names);
		else
			tree_file(tree, "%s", *names);
	}
	for (; *links; links += 2)
		tree_link(tree, links[0], links[1]);
}

bool tree_matches(const struct pattern *pattern, const char *path)
{
	const size_t words = pattern_words(pattern);
	uint64_t *states = calloc(2 * words, sizeof(*states));
	CU_ASSERT_PTR_NOT_NULL_FATAL(states);
	uint64_t *state = states, *child = states + words;
	unsigned verdict = pattern_root(pattern, state);
	for (path += strspn(path, "/"); *path && verdict; path += strspn(path, "/")) {
		size_t len = strcspn(path, "/");
		verdict = verdict & PATTERN_BELOW
		          ? pattern_step(pattern, state, path, len, child) : 0;
		uint64_t *swap = state;
		state = child;
		child = swap;
		path += len;
	}
	free(states);
	return verdict & PATTERN_MATCH;
}
