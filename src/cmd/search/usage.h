/* SPDX-License-Identifier: MIT */
/**
 * Disk usage of found objects, by directory and by owner, group or type (pure).
 */
#ifndef GM_CMD_SEARCH_USAGE_H
#define GM_CMD_SEARCH_USAGE_H

#include "base/strbuf.h"
#include "base/usage.h"
#include "os/kernel.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The key that distinguishes rows of a directory, in the order of the words of --usage-by. */
enum usage_by { USAGE_ALL, USAGE_USER, USAGE_GROUP, USAGE_TYPE };

struct usage_options {
	unsigned depth;           /* see usage_new() */
	int by;                   /* enum usage_by: the key of a row is a user, group, or DT_* */
	bool apparent;            /* use the size of regular files and links instead of disk
	                             space */
	bool once;                /* count every object once, not only those with several links */
	bool xdev;                /* do not count the roots of other mounts */
};

/** Add an object to the counts in `text`.  Any thread may call this function. */
void usage_note(const struct usage_options *options, const struct search_object *object,
                struct strbuf *text);

/** Add the counts that usage_note() stored in `text` to the rows, and empty `text`.
    @root  Index of the root of the objects.
    @return 0, or -1.  Errors: ENOMEM. */
int usage_merge(struct usage *usage, size_t root, struct strbuf *text);

/** Add an object to the rows, in the thread that owns the search.
    @path  The root, or a path starting with the root.
    @text  An empty buffer to use.
    @return as usage_merge(). */
int usage_object(struct usage *usage, const struct usage_options *options, size_t root,
                 const char *path, const struct k_statx *st, struct strbuf *text);

#endif
