/* SPDX-License-Identifier: MIT */
/**
 * Advice for patterns and command lines written for another tool: the mistake, and what to type
 * instead.
 */
#ifndef GM_CMD_SEARCH_ADVICE_H
#define GM_CMD_SEARCH_ADVICE_H

#include "cmd/options.h"

#include <stdbool.h>
#include <stddef.h>

/** The arguments of a search. */
struct advice {
	char **options;              /* with their arguments, to be repeated */
	size_t noptions;
	const char *operand;         /* the pattern, if it is the first operand; else NULL */
	const char *const *paths;    /* the other operands */
	size_t npaths;
	bool here;                   /* no PATH: search the current directory */
};

/** Refuse arguments in find's language.  @table  The options of search.
    @return 0, or an exit status after a message. */
int advice_find(const struct option_table *table, int argc, char **argv);

/** Refuse a pattern that can never match.  @title  The option that gave it, for messages.
    @return an exit status, after a message. */
int advice_never(const struct advice *advice, const char *title, const char *pattern);

/** If nothing was found: print a note if the pattern looks like something else. */
void advice_nothing(const struct advice *advice);

#endif
