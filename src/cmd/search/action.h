/* SPDX-License-Identifier: MIT */
/**
 * --exec and --exec-batch: a command that is run for what is found.
 */
#ifndef GM_CMD_SEARCH_ACTION_H
#define GM_CMD_SEARCH_ACTION_H

#include "cmd/exec.h"
#include "cmd/flow.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>

/** The command; all zero: none. */
struct action {
	const char *option;       /* "--exec", "--exec-batch"; NULL: none */
	const char *const *words;
	size_t n;
	bool batch;
	size_t before;            /* of the words of a batch, those before {} */
	struct exec exec;
	struct flow *flow;
	SEARCH *search;
	struct pack pack;
	bool failed;              /* a command failed */
	bool stopped;             /* it cannot be executed: the search ends */
};

/** Take the command out of a command line: what follows --exec or --exec-batch, up to ";" or the
    end.  @argc, argv [in, out]  @return 0, or an exit status after a message. */
int action_take(struct action *action, int *argc, char **argv);

/** An example of a command line, for messages. */
const char *action_example(bool batch);

/** Prepare to run it.  @os  Before its limits are changed. */
void action_begin(struct action *action, struct os *os, SEARCH *search);

/** Run it for a path, or add the path to its arguments.  @return 0, or -1 (ENOMEM). */
int action_run(struct action *action, const char *path);

/** Run it for the rest.  @return whether all commands were successful. */
bool action_end(struct action *action);

void action_destroy(struct action *action);

/** Append a word with its placeholders replaced: {} the path, {/} its last component, {//} what is
    before that, {.} and {/.} the same without the extension. */
void action_replace(struct strbuf *out, const char *word, const char *path);

#endif
