/* SPDX-License-Identifier: MIT */
#include "cmd/found/exec.h"

#include "base/fail.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

size_t pack_cost(const char *arg)
{
	return strlen(arg) + 1 + sizeof(char *);
}

enum pack_added pack_add(struct pack *pack, const char *arg)
{
	size_t cost = arg ? pack_cost(arg) : 0;
	if (!arg)
		return PACK_NOMEM;
	if (pack->n > 0 && (pack->used >= pack->room || cost > pack->room - pack->used))
		return PACK_FULL;
	if (!strbuf_try(&pack->text, arg, strlen(arg) + 1))
		return PACK_NOMEM;
	++pack->n;
	pack->used += cost;
	return PACK_ADDED;
}

char **pack_command(const struct pack *pack, const char *const words[], size_t n, size_t before,
                    size_t from, size_t to)
{
	char **command = calloc(n + (to - from) + 1, sizeof(*command)), **end = command;
	char *arg = pack->text.data;
	/* pack_add() added each argument completely, or not at all. */
	assert(!pack->text.failed);
	if (!command)
		return NULL;
	for (size_t i = 0; i < before; ++i)
		*end++ = (char *)(uintptr_t)words[i];
	for (size_t i = 0; i < to; ++i, arg += strlen(arg) + 1) {
		if (i >= from)
			*end++ = arg;
	}
	for (size_t i = before; i < n; ++i)
		*end++ = (char *)(uintptr_t)words[i];
	return command;
}

void exec_put_local(struct strbuf *out, const char *name, size_t n)
{
	if (*name != '/')
		strbuf_puts(out, "./");
	strbuf_add(out, name, n);
}

const char *exec_unsafe(const char *path, size_t *len)
{
	for (;; path += *len + 1) {
		*len = strcspn(path, ":");
		if (*path != '/')
			return path;
		if (!path[*len])
			return NULL;
	}
}

int exec_check_path(const char *option, struct strbuf *why)
{
	const char *path = secure_getenv("PATH");
	size_t len = 0;
	const char *unsafe = path ? exec_unsafe(path, &len) : NULL;
	if (!unsafe)
		return 0;
	if (len == 0 || (len == 1 && *unsafe == '.'))
		strbuf_printf(why, "%s: PATH contains the current directory, so that a command in "
		              "a searched directory could be run; remove \".\" and empty entries "
		              "from PATH", option);
	else
		strbuf_printf(why, "%s: PATH contains the relative directory \"%.*s\", so that a "
		              "command in a searched directory could be run; remove it from PATH",
		              option, (int)len, unsafe);
	return fail(EINVAL);
}

void pack_reset(struct pack *pack)
{
	strbuf_reset(&pack->text);
	pack->n = pack->used = 0;
}

/** Run a command.  @good [out]  The command was executed, and its status is 0.
    @return 0: the command was executed; else the error number of execve(2). */
static int run(const struct exec *exec, char *const *argv, bool *good)
{
	struct os_command command = exec->command;
	int status = 0;
	*good = false;
	command.argv = argv;
	int error = os_run(exec->os, &command, &status);
	if (error > 0)
		return error;
	if (error < 0) {
		exec->failed(exec->arg, argv[0], errno, NULL);
	} else if (WIFSIGNALED(status)) {
		const char *name = sigabbrev_np(WTERMSIG(status));
		char text[64];
		snprintf(text, sizeof(text), "terminated by signal %d (SIG%s)", WTERMSIG(status),
		         name ? name : "?");
		exec->failed(exec->arg, argv[0], 0, text);
	} else if (WEXITSTATUS(status) != 0) {
		exec->failed(exec->arg, argv[0], 0, NULL);
	} else {
		*good = true;
	}
	return 0;
}

bool exec_run(const struct exec *exec, char *const *argv)
{
	bool good;
	int error = run(exec, argv, &good);
	if (error)
		exec->failed(exec->arg, argv[0], error, NULL);
	return good;
}

/** Run a command with the arguments `from` to `to` - 1 of a pack.  If the kernel refuses that many
    arguments, run the command with each half of these arguments, and limit later packs to the size
    of a half. */
static void run_part(const struct exec *exec, struct pack *pack, const char *const words[],
                     size_t n, size_t before, size_t from, size_t to)
{
	bool good;
	char **argv = pack_command(pack, words, n, before, from, to);
	if (!argv) {
		exec->failed(exec->arg, words[0], ENOMEM, NULL);
		return;
	}
	int error = run(exec, argv, &good);
	if (error == E2BIG && to - from > 1) {
		size_t middle = from + (to - from) / 2;
		size_t half = pack->used / pack->n * (middle - from);
		pack->room = pack->room < half ? pack->room : half;
		run_part(exec, pack, words, n, before, from, middle);
		run_part(exec, pack, words, n, before, middle, to);
	} else if (error) {
		exec->failed(exec->arg, argv[0], error, NULL);
	}
	free(argv);
}

void exec_batch(const struct exec *exec, struct pack *pack, const char *const words[], size_t n,
                size_t before)
{
	if (pack->n > 0)
		run_part(exec, pack, words, n, before, 0, pack->n);
	pack_reset(pack);
}
