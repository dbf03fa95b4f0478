/* SPDX-License-Identifier: MIT */
/**
 * The options of `getmnt search` that select objects by their attributes, as one query.
 */
#ifndef GM_CMD_SEARCH_WHERE_H
#define GM_CMD_SEARCH_WHERE_H

#include "base/strbuf.h"
#include "cmd/options.h"

/** Kinds of these options; the base of their rows. */
enum where_kind {
	WHERE_SIZE, WHERE_WITHIN, WHERE_BEFORE, WHERE_NEWER, WHERE_USER, WHERE_GROUP, WHERE_PERM,
	WHERE_LINKS, WHERE_EMPTY, WHERE_QUERY,
};

/** Add an option to a query.
    @text  The query so far, in find's language; "" at first.
    @follow  Symlinks are followed, since -L precedes this option.
    @return 0, or an exit status after a message. */
int where_add(struct strbuf *text, const struct option_row *row, const char *value, bool follow);

#endif
