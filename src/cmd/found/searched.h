/* SPDX-License-Identifier: MIT */
/**
 * Reports of `getmnt search` and `getmnt find`: errors of objects, and counts.
 */
#ifndef GM_CMD_SEARCHED_H
#define GM_CMD_SEARCHED_H

#include "base/strbuf.h"
#include "cmd/found/flow.h"
#include "cmd/found/indexed.h"
#include "search/search.h"

#include <stdbool.h>
#include <stdint.h>

/** Get the operation that failed, as a word: "open", "read", "stat" ... */
const char *searched_error_word(const struct searchent *e);

/** Append the text of an error.
    @why  The result of getmnt_search_why().
    @find  Write a brief text as find(1) does; else name the operation, and add a hint for users of
           getmnt search. */
void searched_error(const struct searchent *e, const char *why, bool find, struct strbuf *text);

/** Report an error that getmnt_search_read() has returned.  @e  The error.
    @flow  The output of the search, which stops during the message. */
void searched_report(const SEARCH *search, const struct searchent *e, bool find,
                     struct flow *flow);

/** Print --stats.  @form  enum stats_form.  @found  The number of objects found.
    @start  os_now() at the start.  @indexed  NULL: directories were read. */
void searched_stats(const SEARCH *search, int form, uint64_t found, double start,
                    const struct indexed *indexed);

#endif
