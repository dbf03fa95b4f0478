/* SPDX-License-Identifier: MIT */
/*
 * The actions -exec, -execdir, -ok and -okdir.
 *
 * -execdir runs its command in the directory that was read: the child changes to the descriptor of
 * the directory, and the name of the object is one component.  So moving or replacing the directory
 * does not redirect the command.
 */
#include "cmd/find/find.h"

#include "base/fail.h"
#include "cmd/cmd.h"
#include "cmd/found/exec.h"
#include "cmd/text.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Arguments waiting for -exec ... + or -execdir ... +. */
struct batch {
	struct pack pack;
	int dir;                  /* -execdir: the directory that contains the objects; -1: none */
	const char *root;         /* the root below which the objects were found */
	struct strbuf dir_path;   /* the path of `dir` as printed */
};

void exec_replace(struct strbuf *out, const char *text, const char *with)
{
	for (const char *at; (at = strstr(text, "{}")); text = at + 2) {
		strbuf_add(out, text, (size_t)(at - text));
		strbuf_puts(out, with);
	}
	strbuf_puts(out, text);
}

static bool is_local(const struct query_action *action)
{
	return action->kind == QA_EXECDIR || action->kind == QA_OKDIR;
}

static bool asks(const struct query_action *action)
{
	return action->kind == QA_OK || action->kind == QA_OKDIR;
}

int find_exec_compile(struct find *find, const struct query_action *action, struct strbuf *why)
{
	if (is_local(action) && exec_check_path(action->word, why) != 0)
		return -1;
	if (!action->plus)
		return 0;
	size_t fixed = sizeof(char *);
	for (size_t i = 0; i < action->nargs; ++i) {
		const char *arg = action->args[i];
		fixed += pack_cost(arg);
		if (!strstr(arg, "{}"))
			continue;
		strbuf_printf(why, "%s ... +: \"%s\": \"{}\" may occur only once, as a word of its "
		              "own before the +; or end the command with \";\"", action->word, arg);
		return fail(EINVAL);
	}
	struct batch *batch = calloc(1, sizeof(*batch));
	size_t room = os_arg_room(&find->os);
	if (!batch)
		return -1;
	batch->dir = -1;
	batch->pack.room = room > fixed ? room - fixed : 0;
	find->actions[action->index].batch = batch;
	return 0;
}

/** An action that runs commands. */
struct running {
	struct find *find;
	const struct query_action *action;
};

static void failed(void *arg, const char *command, int error, const char *text)
{
	const struct running *running = arg;
	struct find *find = running->find;
	if (error) {
		find_error(find, command, error);
		return;
	}
	find->errors |= running->action->plus;
	if (text) {
		flow_hold(find->flow);
		message(command, "%s", text);
		flow_release(find->flow);
	}
}

/** Make the struct exec for the commands of an action.
    @dir  The directory in which the commands run; -1: the current directory. */
static struct exec exec_of(struct running *running, int dir)
{
	struct exec exec = {
		.os = &running->find->os, .command = running->find->command, .arg = running,
		.failed = failed,
	};
	if (dir >= 0)
		exec.command.dirfd = dir;
	return exec;
}

/** Ask the user whether to run the command for the current object. */
static bool confirmed(struct find *find, const struct query_action *action)
{
	struct strbuf quoted = {0}, answer = {0};
	char c;
	find_flush(find);
	format_quote(&quoted, find->visit->path);
	if (quoted.failed) {
		/* Memory ran out: do not ask an incomplete question. */
		find_error(find, find->visit->path, ENOMEM);
		strbuf_destroy(&quoted);
		return false;
	}
	flow_hold(find->flow);
	text_say(stderr, "< %s ... %s > ? ", action->args[0], strbuf_str(&quoted));
	flow_release(find->flow);
	strbuf_destroy(&quoted);
	/* Read byte by byte: the command may read the rest of standard input. */
	while (os_read(&find->os, STDIN_FILENO, &c, 1) == 1 && c != '\n')
		strbuf_putc(&answer, c);
	setlocale(LC_MESSAGES, "");
	bool yes = !answer.failed && rpmatch(strbuf_str(&answer)) == 1;
	setlocale(LC_MESSAGES, "C");   /* messages are in English */
	strbuf_destroy(&answer);
	return yes;
}

/** Run a command with each {} replaced by a name.  @dir  As for exec_of(). */
static bool run_one(struct find *find, const struct query_action *action, const char *name, int dir)
{
	struct pack pack = {.room = SIZE_MAX};
	struct strbuf arg = {0};
	struct running running = {find, action};
	bool good = true;
	for (size_t i = 0; good && i < action->nargs; ++i) {
		strbuf_reset(&arg);
		exec_replace(&arg, action->args[i], name);
		good = pack_add(&pack, strbuf_text(&arg)) == PACK_ADDED;
	}
	char **argv = good ? pack_command(&pack, NULL, 0, 0, 0, pack.n) : NULL;
	good = false;
	struct exec exec = exec_of(&running, dir);
	find_flush(find);
	if (argv)
		good = exec_run(&exec, argv);
	else
		find_error(find, find->visit->path, ENOMEM);
	free(argv);
	strbuf_destroy(&arg);
	strbuf_destroy(&pack.text);
	return good;
}

void find_batch_run(struct find *find, const struct query_action *action)
{
	struct batch *batch = find->actions[action->index].batch;
	struct running running = {find, action};
	struct exec exec = exec_of(&running, batch->dir);
	if (batch->pack.n > 0)
		find_flush(find);
	exec_batch(&exec, &batch->pack, action->args, action->nargs, action->nargs);
}

/** Make the directory of the current object the directory of the batch.  If the batch has objects
    of another directory, run the command for these objects first.
    @return 0, or -1. */
static int batch_enter(struct find *find, const struct query_action *action)
{
	struct batch *batch = find->actions[action->index].batch;
	const struct search_visit *visit = find->visit;
	const char *base = format_base(visit->path);
	size_t len = (size_t)(base - visit->path);
	if (batch->dir >= 0 && batch->root == visit->root && batch->dir_path.len == len
	    && memcmp(strbuf_str(&batch->dir_path), visit->path, len) == 0)
		return 0;
	find_batch_run(find, action);
	os_close(&find->os, batch->dir);
	batch->dir = -1;
	strbuf_renew(&batch->dir_path);
	strbuf_add(&batch->dir_path, visit->path, len);
	if (!strbuf_text(&batch->dir_path))
		return -1;
	int dir = search_visit_dir(visit);
	batch->dir = dir < 0 ? -1 : os_dupfd(&find->os, dir, STDERR_FILENO + 1);
	batch->root = visit->root;
	return batch->dir < 0 ? -1 : 0;
}

/** Add the current object to the batch of an action; run the command first if the batch is full.
    @name  The argument for the object. */
static void add_to_batch(struct find *find, const struct query_action *action, const char *name)
{
	struct batch *batch = find->actions[action->index].batch;
	if (is_local(action) && batch_enter(find, action) != 0) {
		find_error(find, find->visit->path, errno);
		return;
	}
	if (pack_add(&batch->pack, name) == PACK_ADDED)
		return;
	find_batch_run(find, action);
	if (pack_add(&batch->pack, name) != PACK_ADDED)
		find_error(find, find->visit->path, ENOMEM);
}

bool find_exec(struct find *find, const struct query_action *action)
{
	const char *name = find->visit->path;
	int dir = -1;
	if (is_local(action)) {
		name = format_base(name);
		strbuf_renew(&find->names);
		exec_put_local(&find->names, name, format_base_len(name));
		name = strbuf_text(&find->names);
		if (!name) {
			find_error(find, find->visit->path, errno);
			return action->plus;
		}
	}
	if (action->plus) {
		add_to_batch(find, action, name);
		return true;
	}
	if (asks(action) && !confirmed(find, action))
		return false;
	if (is_local(action) && (dir = search_visit_dir(find->visit)) < 0) {
		find_error(find, find->visit->path, errno);
		return false;
	}
	return run_one(find, action, name, dir);
}

void find_batch_free(struct find *find, struct batch *batch)
{
	if (!batch)
		return;
	os_close(&find->os, batch->dir);
	strbuf_destroy(&batch->pack.text);
	strbuf_destroy(&batch->dir_path);
	free(batch);
}
