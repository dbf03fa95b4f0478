/* SPDX-License-Identifier: MIT */
/**
 * Trees of files for tests, below a directory in /tmp.
 */
#ifndef GM_TESTS_TREE_H
#define GM_TESTS_TREE_H

#include <stdbool.h>

struct tree {
	char path[40];            /* the directory */
	int fd;                   /* opened with O_PATH */
};

/** Make the directory.  The functions below end the test if they fail. */
void tree_begin(struct tree *tree);

/** Remove a directory and all below it. */
void tree_remove(const char *path);

/** Remove the directory and all below it. */
void tree_end(struct tree *tree);

/** Make a directory. */
__attribute__((format(printf, 2, 3)))
void tree_dir(const struct tree *tree, const char *format, ...);

/** Make an empty file. */
__attribute__((format(printf, 2, 3)))
void tree_file(const struct tree *tree, const char *format, ...);

/** Make a symbolic link. */
void tree_link(const struct tree *tree, const char *name, const char *target);

/** Make directories, whose names end in a slash, and files; and links: name, target, ...
    Both end with NULL. */
void tree_make(const struct tree *tree, const char *const names[], const char *const links[]);

struct pattern;

/** Whether a pattern of the search matches a path, which is relative to the root of the search, in
    steps along it.  Leading, trailing and repeated slashes are ignored. */
bool tree_matches(const struct pattern *pattern, const char *path);

#endif
