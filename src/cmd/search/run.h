/* SPDX-License-Identifier: MIT */
/**
 * A search in progress, which prints results, messages and progress.
 */
#ifndef GM_CMD_SEARCH_RUN_H
#define GM_CMD_SEARCH_RUN_H

#include "cmd/found/indexed.h"
#include "cmd/search/out.h"
#include "os/os.h"
#include "search/search.h"

#include <stdbool.h>
#include <stdint.h>

/** A search in progress, and its output. */
struct show {
	SEARCH *search;
	struct search_out *out;
	struct flow *flow;
	struct indexed *indexed;     /* the indexes to search, with --index; or NULL */
	struct os os;                /* for calls outside the search */
	double start, next;          /* os_now() at the start of the search, and at the next update
	                                of the progress line */
	bool shown;                  /* a progress line is shown, on a terminal */
	unsigned steps;              /* steps of the search, up to FIRST_STEPS */
	uint64_t found;              /* number of objects found */
	bool failed;                 /* memory ran out */
};

/** Start counting disk usage, before show_run().
    @only  The pattern, if it is the only operand; else NULL.
    @roots  n directories; borrowed.
    @return 0, or an exit status after a message. */
int show_usage(struct show *show, const char *only, const char *const roots[], size_t n);

/** Search, and print the results.
    @more  Settings of the search; this function adds what the output needs.
    @lines  The threads that read directories may make the lines.
    @return an exit status. */
int show_run(struct show *show, struct search_more *more, bool lines);

#endif
