/* SPDX-License-Identifier: MIT */
/**
 * Sums of objects by directory, down to some depth, and by a key such as the owner.
 *
 * A file with several hard links is counted once: in the row that is the first of those where it
 * is found, so that the result is always the same.
 */
#ifndef GM_BASE_USAGE_H
#define GM_BASE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usage_sum {
	uint64_t size;            /* bytes */
	uint64_t apparent;        /* bytes, if the caller counts both */
	uint64_t count;           /* objects */
};

struct usage_row {
	size_t root;              /* index */
	const char *path;
	uint32_t key;
	struct usage_sum sum;     /* including directories below */
};

struct usage;

/** The result of usage_find() without memory. */
#define USAGE_NONE UINT32_MAX

/** Count nothing yet.
    @roots  Directories, by the indices that other calls use; they must remain valid.
    @depth  Of the deepest directories with rows; 0: the roots.
    @return NULL: ENOMEM.  Ownership: usage_free(). */
struct usage *usage_new(const char *const roots[], unsigned depth);

/** Free it; NULL is allowed. */
void usage_free(struct usage *usage);

/** The name of a root, as given. */
const char *usage_root(const struct usage *usage, size_t root);

/** Find the row in which objects of a directory count: the row of the directory, or of the deepest
    directory above it within the depth.
    @dir  n bytes; it starts with the root, as given; "": the root.
    @return USAGE_NONE: ENOMEM. */
uint32_t usage_find(struct usage *usage, size_t root, const char *dir, size_t n, uint32_t key);

/** The path of a row, and its length without a trailing slash. */
const char *usage_path(const struct usage *usage, uint32_t row, size_t *len);

/** Add to a row. */
void usage_add(struct usage *usage, uint32_t row, const struct usage_sum *sum);

/** Add a file that may be found again.  @return 0, or -1.  Errors: ENOMEM. */
int usage_add_once(struct usage *usage, uint32_t row, uint64_t dev, uint64_t ino,
                   const struct usage_sum *sum);

/** Make the rows, after everything was counted: by root, a directory after those in it, by key.
    @roots  Also rows of roots in which nothing was counted.
    @rows [out]  Valid until usage_free().
    @return as usage_add_once(). */
int usage_rows(struct usage *usage, bool roots, struct usage_row **rows, size_t *n);

#endif
