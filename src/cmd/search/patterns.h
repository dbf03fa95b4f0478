/* SPDX-License-Identifier: MIT */
/**
 * The patterns of a command line: what to find, and what to exclude.
 */
#ifndef GM_CMD_SEARCH_PATTERNS_H
#define GM_CMD_SEARCH_PATTERNS_H

#include "base/strbuf.h"
#include "cmd/search/advice.h"

#include <stdbool.h>
#include <stddef.h>

/** Patterns as given, which are not owned. */
struct pattern_list {
	const char **items;
	size_t n, room;
};

/** The patterns of a command line; all zero: none. */
struct patterns {
	struct pattern_list find, exclude;
	struct strbuf text, excluded;   /* each joined to one pattern */
	bool everything;          /* one of those to find matches every object */
};

/** Add a pattern.  @return 0, or an exit status after a message. */
int patterns_add(struct pattern_list *list, const char *pattern);

/** Check and join the patterns.  @title  Where those to find come from, for messages.
    @flags  SEARCH_*.  @return 0, or an exit status after a message. */
int patterns_join(struct patterns *patterns, const char *title, int flags,
                  const struct advice *advice);

/** Report why a search with the joined patterns could not begin.  @return an exit status. */
int patterns_refuse(int error);

void patterns_destroy(struct patterns *patterns);

#endif
