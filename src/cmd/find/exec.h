/* SPDX-License-Identifier: MIT */
/**
 * Words of the commands of -exec, -execdir, -ok and -okdir (pure).
 */
#ifndef GM_CMD_FIND_EXEC_H
#define GM_CMD_FIND_EXEC_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/** Append a text with each {} replaced by `with`. */
void exec_replace(struct strbuf *out, const char *text, const char *with);

#endif
