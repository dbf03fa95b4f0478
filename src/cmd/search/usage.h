/* SPDX-License-Identifier: MIT */
/**
 * Disk usage of what a search finds, by directory and by owner, group or type (pure).
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

/** What rows of one directory differ in; in the order of the words of --usage-by. */
enum usage_by { USAGE_ALL, USAGE_USER, USAGE_GROUP, USAGE_TYPE };

struct usage_options {
	unsigned depth;           /* of usage_new() */
	int by;                   /* enum usage_by: the key of a row is a user, group, or DT_* */
	bool apparent;            /* sizes of regular files and links instead of disk space */
	bool once;                /* count any object once, not only those with several links */
	bool xdev;                /* do not count the roots of other mounts */
};

/** Add an object to what is counted in text; in any thread. */
void usage_note(const struct usage_options *options, const struct search_object *object,
                struct strbuf *text);

/** Take what was counted in a text, which is then empty.  @return 0, or -1.  Errors: ENOMEM. */
int usage_take(struct usage *usage, size_t root, struct strbuf *text);

/** Count an object in the owner's thread.
    @path  It starts with the root, or is the root.
    @text  An empty buffer to use.
    @return as usage_take(). */
int usage_object(struct usage *usage, const struct usage_options *options, size_t root,
                 const char *path, const struct k_statx *st, struct strbuf *text);

#endif
