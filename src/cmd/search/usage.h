/* SPDX-License-Identifier: MIT */
/**
 * Disk usage of what a search finds, by directory and by owner, group or type (pure).
 *
 * A file with several hard links is counted once: in the row that is the first of those where it
 * is found, so that the result is always the same.
 */
#ifndef GM_CMD_SEARCH_USAGE_H
#define GM_CMD_SEARCH_USAGE_H

#include "base/strbuf.h"
#include "os/kernel.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What rows of one directory differ in; in the order of the words of --usage-by. */
enum usage_by { USAGE_ALL, USAGE_USER, USAGE_GROUP, USAGE_TYPE };

struct usage_options {
	unsigned depth;           /* of the deepest directories with rows; 0: the roots */
	int by;                   /* enum usage_by */
	bool apparent;            /* sizes of regular files and links instead of disk space */
	bool once;                /* count any object once, not only those with several links */
	bool xdev;                /* do not count the roots of other mounts */
};

struct usage_row {
	size_t root;              /* index */
	const char *path;
	uint64_t size;            /* bytes, including what is below */
	uint64_t count;           /* objects */
	uint32_t key;             /* user, group, or DT_*: enum usage_by */
};

struct usage;

/** Count nothing yet.  @roots  n directories, which must remain valid.
    @return NULL: ENOMEM.  Ownership: usage_free(). */
struct usage *usage_new(const struct usage_options *options, const char *const roots[], size_t n);

/** Free it; NULL is allowed. */
void usage_free(struct usage *usage);

/** Make a row for a root, even if nothing is counted.  @return 0, or -1.  Errors: ENOMEM. */
int usage_root(struct usage *usage, size_t root);

/** Add an object to what is counted in text; in any thread. */
void usage_note(const struct usage *usage, const struct search_object *object, struct strbuf *text);

/** Count an object in the owner's thread.
    @path  It starts with the root, or is the root, as given.
    @return as usage_root(). */
int usage_object(struct usage *usage, size_t root, const char *path, const struct k_statx *st);

/** Take what was counted in a text, which is then empty.  @return as usage_root(). */
int usage_take(struct usage *usage, size_t root, struct strbuf *text);

/** Make the rows, after everything was counted: by root, a directory after those in it, by key.
    @rows [out]  Valid until usage_free().
    @return as usage_root(). */
int usage_rows(struct usage *usage, struct usage_row **rows, size_t *n);

#endif
