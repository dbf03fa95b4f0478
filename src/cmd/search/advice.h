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
	char **options;              /* options of the command line with their arguments, which are
	                                copied into suggested commands */
	size_t noptions;
	const char *operand;         /* the pattern, if the first operand is the pattern; else
	                                NULL */
	const char *const *paths;    /* the operands that are paths */
	size_t npaths;
	bool here;                   /* no PATH was given: the current directory is searched */
};

/** Refuse arguments written for find(1), and print the corresponding command line of getmnt find.
    @table  The options of search.
    @return 0, or an exit status after a message. */
int advice_find(const struct option_table *table, int argc, char **argv);

/** Refuse a pattern that can never match.  @title  The option with the pattern, for messages.
    @return an exit status, after a message. */
int advice_never(const struct advice *advice, const char *title, const char *pattern);

/** After a search that found nothing, print a note if the pattern looks like a regular expression
    or an absolute path. */
void advice_nothing(const struct advice *advice);

#endif
