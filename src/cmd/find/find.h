/* SPDX-License-Identifier: MIT */
/**
 * `getmnt find`: the state of a run, and the actions.
 *
 *     query_parse() --> find_action_compile(): prepares formats, files, commands
 *     getmnt_search_read()  --> find_act(): performed in order, in one thread
 */
#ifndef GM_CMD_FIND_FIND_H
#define GM_CMD_FIND_FIND_H

#include "cmd/find/format.h"
#include "cmd/found/flow.h"
#include "cmd/found/indexed.h"
#include "cmd/found/owners.h"
#include "os/process.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct batch;

/** A file that actions write to, shared by all actions that name it. */
struct find_file {
	struct find_file *next;
	const char *name;
	int fd;                   /* -1: standard output, through struct flow */
	uint64_t dev, ino;
	bool terminal;
	bool failed;              /* a write failed, which was reported */
	struct strbuf text;       /* bytes that are not written yet */
};

/** The prepared data of an action. */
struct find_action {
	struct find_file *file;   /* for actions that print */
	struct format *format;    /* for -printf and -fprintf */
	struct batch *batch;      /* for -exec ... + and -execdir ... + */
};

/** The state of a run. */
struct find {
	struct os os;             /* for all calls outside the search; the first member, because
	                             its address is also query_env.arg */
	SEARCH *search;
	struct query *query;
	const struct query_info *info;
	struct flow *flow;
	struct indexed *indexed;  /* the indexes to search, with --index; or NULL */
	struct find_action *actions;   /* indexed by query_action.index */
	size_t nactions, room;
	struct find_file out;     /* standard output, followed by other files */
	struct owners users, groups;
	struct os_command command;     /* directory, signals and limits of commands */
	struct strbuf text, names;     /* scratch for the current action */
	struct timespec now;      /* start of the run */
	int widths[8];            /* column widths of -ls; a longer cell widens its column */
	uint64_t found;           /* number of objects found */
	const struct search_visit *visit;   /* the current object */
	bool follows;             /* -L or -follow */
	bool follow_roots;        /* -H or -L */
	bool ignore_race;         /* a removed object is not an error */
	bool errors;              /* the exit status is 1 */
};

/* actions.c */

/** Prepare an action: the function for struct query_env.action.  @arg  &find->os. */
int find_action_compile(void *arg, struct query_action *action, struct strbuf *why);

/** Check that the expression can be evaluated, and its actions performed, for roots on other hosts.
    @return 0, or an exit status after a message. */
int find_check_roots(const struct find *find, const char *const roots[], size_t n);

/** Perform an action for the current object: the query_act for query_run().  @arg  A struct find.
    @return whether the action is true. */
bool find_act(void *arg, const struct query_action *action, const struct query_object *object);

/** After the search: run the commands of incomplete batches, and close all files. */
void find_actions_finish(struct find *find);

/** Free everything except the search and its query. */
void find_destroy(struct find *find);

/* print.c */

/** Report an error of an object.  @error  An errno. */
void find_error(struct find *find, const char *object, int error);

/** Open a file for writing, unless the file is open already.
    @why [out]  Why the file is refused, as for path_create_named().
    @return the file, or NULL with errno. */
struct find_file *find_file_open(struct find *find, const char *name, struct strbuf *why);

/** Append find->text to a file, or to the buffer of the file, and empty find->text. */
void find_put(struct find *find, struct find_file *file);

/** Write the buffers of all files. */
void find_flush(struct find *find);

/** Write the buffers, and close all files except standard output. */
void find_files_finish(struct find *find);

/* ls.c */

/** Append the line of -ls to find->text. */
void find_list(struct find *find);

/* exec.c */

/** Append a text with each {} replaced by `with`. */
void exec_replace(struct strbuf *out, const char *text, const char *with);

/** Check the command of an action, and prepare its batch.
    @return 0, or -1 after appending a sentence to `why`. */
int find_exec_compile(struct find *find, const struct query_action *action, struct strbuf *why);

/** Run the command of an action for the current object, or add the object to the batch.
    @return whether the action is true. */
bool find_exec(struct find *find, const struct query_action *action);

/** Run the command of a batch, if it has arguments.  @action  The action of the batch. */
void find_batch_run(struct find *find, const struct query_action *action);

/** Free a batch; NULL is allowed. */
void find_batch_free(struct find *find, struct batch *batch);

#endif
