/* SPDX-License-Identifier: MIT */
/**
 * Arguments of a command, packed (pure).
 */
#ifndef GM_CMD_FIND_EXEC_H
#define GM_CMD_FIND_EXEC_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/** Arguments for a command, up to a size. */
struct pack {
	struct strbuf text;       /* the arguments, each with its NUL */
	size_t n;                 /* their number */
	size_t used, room;        /* bytes as execve(2) counts them: text and pointers */
};

/** The bytes that an argument takes of the limit of execve(2). */
size_t pack_cost(const char *arg);

/** Add an argument.  The first one always fits.
    @return false: it does not fit, or memory ran out (pack->text.failed). */
bool pack_add(struct pack *pack, const char *arg);

/** Make the arguments of a command: n words, the arguments from `from` to `to` - 1, and NULL.
    @return an array that the caller frees, or NULL (ENOMEM). */
char **pack_command(const struct pack *pack, const char *const words[], size_t n, size_t from,
                    size_t to);

/** Remove all arguments. */
void pack_reset(struct pack *pack);

/** Append a text with each {} replaced. */
void exec_replace(struct strbuf *out, const char *text, const char *with);

/** Why commands must not be looked up by this PATH in directories that others can write to.
    @return the directory, "" for an empty one; NULL: all are absolute. */
const char *exec_unsafe(const char *path, size_t *len);

#endif
