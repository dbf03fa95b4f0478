/* SPDX-License-Identifier: MIT */
/**
 * --exec, --exec-dir and --exec-batch: a command that is run for what is found.
 *
 * --exec-dir runs it in the directory that was read, which is named by a descriptor.  So a
 * directory that was moved or replaced meanwhile leads nowhere else.
 */
#ifndef GM_CMD_SEARCH_ACTION_H
#define GM_CMD_SEARCH_ACTION_H

#include "cmd/found/exec.h"
#include "cmd/found/flow.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>

/** The command; all zero: none. */
struct action {
	const char *option;       /* "--exec", "--exec-dir" ...; NULL: none */
	const char *const *words;
	size_t n;
	bool batch;
	bool local;               /* in the directory of the object */
	size_t before;            /* of the words of a batch, those before {} */
	struct exec exec;
	struct flow *flow;
	SEARCH *search;
	struct pack pack;
	bool failed;              /* a command failed */
	bool stopped;             /* it cannot be executed: the search ends */
};

/** Take the command out of a command line: what follows --exec, --exec-dir or --exec-batch, up to
    ";" or the end.  @argc, argv [in, out]  @return 0, or an exit status after a message. */
int action_take(struct action *action, int *argc, char **argv);

/** An example of a command line, for messages. */
const char *action_example(const struct action *action);

/** Prepare to run it.  @os  Before its limits are changed. */
void action_begin(struct action *action, struct os *os, SEARCH *search);

/** Run it for the path that the search returned last, or add that to its arguments.
    @return 0, or -1 (ENOMEM). */
int action_run(struct action *action, const char *path);

/** Run it for the rest.  @return whether all commands were successful. */
bool action_end(struct action *action);

void action_destroy(struct action *action);

/** Append a word with its placeholders replaced: {} the path, {/} its last component, {//} what is
    before that, {.} and {/.} the same without the extension.  A word that would begin with the
    minus sign of a name begins with "./". */
void action_replace(struct strbuf *out, const char *word, const char *path);

#endif
