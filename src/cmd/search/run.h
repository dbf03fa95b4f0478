/* SPDX-License-Identifier: MIT */
/**
 * A search in progress: what it finds is printed, with messages, progress and statistics.
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
	struct indexed *indexed;     /* of --index; or NULL */
	struct os os;                /* for calls that are not part of the search */
	double start, next;
	bool shown;                  /* progress is shown, on a terminal */
	unsigned steps;              /* of the search, up to FIRST_STEPS */
	uint64_t found;
	bool failed;                 /* memory ran out */
};

/** Begin to count usage, before show_run().
    @only  The pattern, if there is no other operand; else NULL.
    @roots  n directories, which must remain valid.
    @return 0, or an exit status after a message. */
int show_usage(struct show *show, const char *only, const char *const roots[], size_t n);

/** Search, and print.
    @more  Settings; completed by what the output needs.
    @lines  Threads that read may make the lines.
    @return an exit status. */
int show_run(struct show *show, struct search_more *more, bool lines);

#endif
