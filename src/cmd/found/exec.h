/* SPDX-License-Identifier: MIT */
/**
 * Commands that `getmnt find` and `getmnt search` run for objects that they find.
 */
#ifndef GM_CMD_EXEC_H
#define GM_CMD_EXEC_H

#include "base/strbuf.h"
#include "os/process.h"

#include <stdbool.h>
#include <stddef.h>

/** Arguments for a command, limited in size. */
struct pack {
	struct strbuf text;       /* the arguments, each with its NUL */
	size_t n;                 /* number of arguments */
	size_t used, room;        /* bytes in use, and their maximum, as counted by execve(2): text
	                             and pointers */
};

/** Get the number of bytes with which an argument counts towards the limit of execve(2). */
size_t pack_cost(const char *arg);

enum pack_added {
	PACK_ADDED,
	PACK_FULL,                /* the argument does not fit: run the command first */
	PACK_NOMEM,
};

/** Add an argument.  The first argument of a pack always fits.  Unless PACK_ADDED is returned, the
    pack does not change.
    @arg  NULL, as strbuf_text() returns after a failure: PACK_NOMEM. */
__attribute__((warn_unused_result))
enum pack_added pack_add(struct pack *pack, const char *arg);

/** Make the arguments of a command: n words, with arguments `from` to `to` - 1 of the pack inserted
    after the first `before` words, and NULL.
    @return an array that the caller frees, or NULL (ENOMEM). */
char **pack_command(const struct pack *pack, const char *const words[], size_t n, size_t before,
                    size_t from, size_t to);

/** Remove all arguments. */
void pack_reset(struct pack *pack);

/** Append the argument of a command that runs in the directory of an object: "./NAME", which no
    command reads as an option.  @name  n bytes: one component, or "/" for the root. */
void exec_put_local(struct strbuf *out, const char *name, size_t n);

/** Find an entry of PATH that is not absolute, and so may lead into a searched directory.
    @path  The value of PATH.
    @len [out]  The length of the entry.
    @return the entry, which may be empty; NULL: all entries are absolute. */
const char *exec_unsafe(const char *path, size_t *len);

/** Check that PATH finds no command in the directory of an object.
    @option  The option that runs commands in this directory.
    @why  The problem is appended, as a sentence.
    @return 0, or -1 (EINVAL). */
int exec_check_path(const char *option, struct strbuf *why);

/** How to run commands.  Before a command runs, the caller prints its pending output. */
struct exec {
	struct os *os;
	struct os_command command;   /* everything except argv */
	void *arg;
	/* A command failed.  @error  errno if the command could not be executed; else 0.
	   @text  The signal that ended the command; NULL: the command ended with a status
	   other than 0. */
	void (*failed)(void *arg, const char *command, int error, const char *text);
};

/** Run a command and wait for its end.
    @return whether the status of the command is 0; false: failed() was called. */
bool exec_run(const struct exec *exec, char *const *argv);

/** Run a command with the arguments of a pack, which becomes empty.  If the kernel refuses that
    many arguments, run the command several times.  @words, n, before  As in pack_command(). */
void exec_batch(const struct exec *exec, struct pack *pack, const char *const words[], size_t n,
                size_t before);

#endif
