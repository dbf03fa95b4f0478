/* SPDX-License-Identifier: MIT */
/**
 * The patterns of a command line: objects to find, and to exclude.
 */
#ifndef GM_CMD_SEARCH_PATTERNS_H
#define GM_CMD_SEARCH_PATTERNS_H

#include "base/strbuf.h"
#include "cmd/search/advice.h"

#include <stdbool.h>
#include <stddef.h>

/** Patterns as given; borrowed. */
struct pattern_list {
	const char **items;
	size_t n, room;
};

/** The patterns of a command line; zeroed: none. */
struct patterns {
	struct pattern_list find, exclude;
	struct strbuf text, excluded;   /* patterns to find and to exclude, each joined into one */
	bool everything;          /* a pattern to find matches every object */
};

/** Add a pattern.  @return 0, or an exit status after a message. */
int patterns_add(struct pattern_list *list, const char *pattern);

/** Check and join the patterns.  @title  The option with the patterns to find, for messages.
    @flags  SEARCH_*.  @return 0, or an exit status after a message. */
int patterns_join(struct patterns *patterns, const char *title, int flags,
                  const struct advice *advice);

/** Report why a search with the joined patterns could not start.  @return an exit status. */
int patterns_refuse(int error);

void patterns_destroy(struct patterns *patterns);

#endif
