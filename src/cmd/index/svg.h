/* SPDX-License-Identifier: MIT */
/**
 * A report as a picture, in SVG (pure): a treemap of directories, and bars.  Equal rows give equal
 * bytes.
 */
#ifndef GM_CMD_INDEX_SVG_H
#define GM_CMD_INDEX_SVG_H

#include "base/strbuf.h"
#include "base/usage.h"

struct svg_bar {
	const char *label;
	struct usage_sum sum;
};

/** Append an SVG document.
    @dirs  Directories in the order of usage_rows().  Each directory has a rectangle, inside the
           rectangle of its nearest parent in the list.
    @return 0, or -1.  Errors: ENOMEM. */
int svg_report(struct strbuf *out, const struct usage_row *dirs, size_t ndirs,
               const struct svg_bar *bars, size_t nbars);

#endif
