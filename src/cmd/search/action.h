/* SPDX-License-Identifier: MIT */
/**
 * --exec, --exec-dir and --exec-batch: a command that is run for the objects found.
 *
 * --exec-dir runs the command in the directory that was read, by its descriptor.  So moving or
 * replacing the directory does not redirect the command.
 */
#ifndef GM_CMD_SEARCH_ACTION_H
#define GM_CMD_SEARCH_ACTION_H

#include "cmd/found/exec.h"
#include "cmd/found/flow.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>

/** The command; zeroed: none. */
struct action {
	const char *option;       /* "--exec", "--exec-dir" ...; NULL: none */
	const char *const *words;
	size_t n;
	bool batch;               /* --exec-batch */
	bool local;               /* --exec-dir: run in the directory of the object */
	size_t before;            /* --exec-batch: number of words before the paths */
	struct exec exec;
	struct flow *flow;
	SEARCH *search;
	struct pack pack;
	bool failed;              /* a command failed */
	bool stopped;             /* the command cannot be executed: end the search */
};

/** Remove the command from a command line: the words after --exec, --exec-dir or --exec-batch,
    up to ";" or the end.  @argc, argv [in,out]  @return 0, or an exit status after a message. */
int action_parse(struct action *action, int *argc, char **argv);

/** Get an example of a command line with the option, for messages. */
const char *action_example(const struct action *action);

/** Prepare to run the command.
    @os  Has the limit of open descriptors with which this process was started. */
void action_begin(struct action *action, struct os *os, SEARCH *search);

/** Run the command for the path that the search returned last, or add the path to the arguments.
    @return 0, or -1 (ENOMEM). */
int action_run(struct action *action, const char *path);

/** Run the command for the remaining arguments.  @return whether all commands succeeded. */
bool action_end(struct action *action);

void action_destroy(struct action *action);

#endif
