/* SPDX-License-Identifier: MIT */
/**
 * Colours of names, as dircolors(1) writes them in LS_COLORS and ls(1) reads them.
 *
 * A value becomes part of an escape sequence, so that only digits and semicolons are accepted.
 */
#ifndef GM_CMD_COLORS_H
#define GM_CMD_COLORS_H

#include "base/strbuf.h"

#include <stdbool.h>

struct colors;
struct k_statx;

/** Read colours.  @text  The value of LS_COLORS; NULL or "": those of ls without it.
    @return them, or NULL.  Errors: ENOMEM.  Ownership: colors_free(). */
struct colors *colors_new(const char *text);

/** Free colours; NULL is fine. */
void colors_free(struct colors *colors);

/** Whether some need the mode of a file: executables, writable directories ... */
bool colors_need_mode(const struct colors *colors);

/** Append a path, escaped for a terminal, its directories in their colour and its name in its
    own.  @type  DT_*.  @st  Its attributes, or NULL: not known. */
void colors_path(const struct colors *colors, const char *path, unsigned char type,
                 const struct k_statx *st, struct strbuf *out);

#endif
