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

/** The operation that failed, as a word: "open", "read", "stat" ... */
const char *searched_error_word(const struct searchent *e);

/** Append the text of an error.
    @why  whysearch()
    @find  Brief, as in find(1); else with the operation, and a hint for `getmnt search`. */
void searched_error(const struct searchent *e, const char *why, bool find, struct strbuf *text);

/** Report the last entry of a search, an error.  @flow  Held during the message. */
void searched_report(const SEARCH *search, const struct searchent *e, bool find,
                     struct flow *flow);

/** Print --stats.  @form  enum stats_form.  @found  The number of objects found.
    @start  os_now() at the start.  @indexed  NULL: directories were read. */
void searched_stats(const SEARCH *search, int form, uint64_t found, double start,
                    const struct indexed *indexed);

#endif
