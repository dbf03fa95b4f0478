/* SPDX-License-Identifier: MIT */
/**
 * Colors of file names, as dircolors(1) writes them in LS_COLORS and ls(1) reads them.
 *
 * A value becomes part of an escape sequence, so only digits and semicolons are accepted.
 */
#ifndef GM_CMD_COLORS_H
#define GM_CMD_COLORS_H

#include "base/strbuf.h"

struct colors;
struct k_statx;

/** Parse colors.  @text  The value of LS_COLORS; NULL or "": the defaults of ls.
    @return the colors, or NULL.  Errors: ENOMEM.  Ownership: colors_free(). */
struct colors *colors_new(const char *text);

/** Free colors; NULL is allowed. */
void colors_free(struct colors *colors);

/** Whether any color depends on the mode of a file: executables, writable directories ... */
bool colors_need_mode(const struct colors *colors);

/** Append a path, escaped for a terminal, with its directories and its last component in their
    colors.
    @type  DT_*.  @st  The attributes of the file; NULL: unknown. */
void colors_path(const struct colors *colors, const char *path, unsigned char type,
                 const struct k_statx *st, struct strbuf *out);

#endif
