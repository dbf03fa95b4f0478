/* SPDX-License-Identifier: MIT */
/**
 * What a search prints: many whole lines by one write, none of which waits longer than
 * a tenth of a second, also while the search is held up; and the line of progress.
 *
 * One thread prints, but for what another brings in time.  In a process that is not to
 * have it, flow_turn() does what it can.
 */
#ifndef GM_CMD_SEARCH_FLOW_H
#define GM_CMD_SEARCH_FLOW_H

#include "base/strbuf.h"
#include "os/os.h"

#include <stdbool.h>

struct flow;

/** @os  The capabilities; copied.
    @progress  Progress is to be shown (progress_open()).
    @failed  Called once, in any thread, when stdout took not all, unless it was closed
             before; it is given no more then.
    @return it, or NULL.  Errors: ENOMEM.  Ownership: flow_end(). */
struct flow *flow_new(const struct os *os, bool progress, void (*failed)(void *arg), void *arg);

/** Print lines, whole ones.  @text  Gets other memory, and is empty then. */
void flow_take(struct flow *flow, struct strbuf *text);

/** Print lines, or a part of a document; a copy. */
void flow_add(struct flow *flow, const struct strbuf *text);

/** What to show of the progress, from now on. */
void flow_progress(struct flow *flow, const char *head, const char *where);

/** The search is about to do something that may take a while.  The first time the other
    thread is started; signals are held back in this one until flow_end(). */
void flow_turn(struct flow *flow);

/** Nothing is shown until flow_release(): to tell something on standard error. */
void flow_hold(struct flow *flow);
void flow_release(struct flow *flow);

/** Print what is left, and free it; NULL is fine.  Where something could not be printed
    finish_stdout() says why. */
void flow_end(struct flow *flow);

#endif
