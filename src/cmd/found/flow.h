/* SPDX-License-Identifier: MIT */
/**
 * Output of a search: many whole lines in one write, with a delay of at most 0.1 s even while the
 * search is blocked; and the progress line.
 */
#ifndef GM_CMD_FLOW_H
#define GM_CMD_FLOW_H

#include "base/strbuf.h"
#include "os/os.h"
#include "search/search.h"

struct flow;

/** Create the output of a search.
    @os  The capabilities of the kernel; copied.
    @progress  Show the progress line: the result of progress_open().
    @search  The search, which ends once a write to stdout has failed, unless stdout was closed from
             the start.  After a failure, nothing more is written.
    @return the flow, or NULL.  Errors: ENOMEM.  Ownership: flow_end(). */
struct flow *flow_new(const struct os *os, bool progress, SEARCH *search);

/** Print whole lines, or a part of a document.
    @text  Emptied; its memory may be exchanged for memory of the flow. */
void flow_add(struct flow *flow, struct strbuf *text);

/** Print all pending text, before another process prints. */
void flow_flush(struct flow *flow);

/** Set the text of the progress line. */
void flow_progress(struct flow *flow, const char *head, const char *where);

/** Call before each step of the search.  The first call starts the timer thread, and blocks
    signals in this thread until flow_end(). */
void flow_turn(struct flow *flow);

/** Stop output until flow_release(), to print a message to standard error or to start a process.
    Until then signals are delivered; pending signals immediately. */
void flow_hold(struct flow *flow);
void flow_release(struct flow *flow);

/** Print pending text and free the flow; NULL is allowed.  finish_stdout() reports write errors. */
void flow_end(struct flow *flow);

#endif
