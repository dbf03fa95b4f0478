/* SPDX-License-Identifier: MIT */
/**
 * Commands that `getmnt find` and `getmnt search` run for what they find.
 */
#ifndef GM_CMD_EXEC_H
#define GM_CMD_EXEC_H

#include "base/strbuf.h"
#include "os/process.h"

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

/** Make the arguments of a command: n words, among them the arguments from `from` to `to` - 1 after
    the first `before` words, and NULL.
    @return an array that the caller frees, or NULL (ENOMEM). */
char **pack_command(const struct pack *pack, const char *const words[], size_t n, size_t before,
                    size_t from, size_t to);

/** Remove all arguments. */
void pack_reset(struct pack *pack);

/** How commands are run; all functions get arg. */
struct exec {
	struct os *os;
	struct os_command command;   /* all but argv */
	void *arg;
	/* Print what waits, before a command is run. */
	void (*flush)(void *arg);
	/* A command failed.  @error  Why it could not be executed, an errno; 0: it was.
	   @text  Which signal ended it; NULL: it returned a status other than 0. */
	void (*failed)(void *arg, const char *command, int error, const char *text);
};

/** Run a command and wait for it.  @return whether its status is 0; after failed() if not. */
bool exec_run(const struct exec *exec, char *const *argv);

/** Run a command with the arguments of a pack, which is then empty: in parts, if the kernel refuses
    so many.  Words as in pack_command(). */
void exec_batch(const struct exec *exec, struct pack *pack, const char *const words[], size_t n,
                size_t before);

#endif
