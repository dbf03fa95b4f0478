/* SPDX-License-Identifier: MIT */
/* The actions of an expression: prepare them before the search, and perform them. */
#include "cmd/find/find.h"

#include "base/array.h"
#include "cmd/cmd.h"
#include "os/change.h"
#include "remote/remote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { LS_MASK = K_STATX_BASIC };

/** Compile the format of an action.  @return 0, or -1 with `why`. */
static int compile_format(struct find_action *prepared, struct query_action *action,
                          struct strbuf *why)
{
	struct strbuf text = {0}, warnings = {0};
	prepared->format = format_compile(action->args[action->nargs - 1], &warnings, &text);
	for (size_t i = 0; i < warnings.len; i += strlen(warnings.data + i) + 1)
		message(action->word, "warning: %s", warnings.data + i);
	strbuf_destroy(&warnings);
	if (!prepared->format && errno == EINVAL)
		strbuf_printf(why, "%s: %s", action->word, strbuf_str(&text));
	strbuf_destroy(&text);
	if (!prepared->format)
		return -1;
	action->mask = prepared->format->mask;
	action->xtype = prepared->format->xtype;
	action->target = prepared->format->target;
	action->attributes = prepared->format->mask != 0;
	action->type = prepared->format->type;
	return 0;
}

/** Open the file of an action.  @return 0, or -1 with `why`. */
static int open_file(struct find *find, struct find_action *prepared,
                     const struct query_action *action, struct strbuf *why)
{
	struct strbuf refused = {0};
	prepared->file = find_file_open(find, action->args[0], &refused);
	if (!prepared->file) {
		strbuf_printf(why, "%s: %s: %s", action->word, action->args[0],
		              refused.len ? strbuf_str(&refused) : strerror(errno));
		errno = EINVAL;
	}
	strbuf_destroy(&refused);
	return prepared->file ? 0 : -1;
}

int find_action_compile(void *arg, struct query_action *action, struct strbuf *why)
{
	struct find *find = arg;
	_Static_assert(offsetof(struct find, os) == 0, "struct query_env passes the address of os");
	while (find->nactions <= action->index) {
		if (!ARRAY_ROOM(find->actions, find->nactions, &find->room))
			return -1;
		find->actions[find->nactions++] = (struct find_action){.file = &find->out};
	}
	struct find_action *prepared = &find->actions[action->index];
	enum query_action_kind kind = action->kind;
	bool has_file = kind == QA_FPRINT || kind == QA_FPRINT0 || kind == QA_FPRINTF
	                || kind == QA_FLS;
	if (has_file && open_file(find, prepared, action, why) != 0)
		return -1;
	switch (kind) {
	case QA_LS: case QA_FLS:
		action->mask = LS_MASK;
		action->target = action->attributes = true;
		return 0;
	case QA_PRINTF: case QA_FPRINTF:
		return compile_format(prepared, action, why);
	case QA_EXEC: case QA_EXECDIR: case QA_OK: case QA_OKDIR:
		return find_exec_compile(find, action, why);
	default:
		return 0;
	}
}

/** If an action cannot be performed for objects of another host, append why. */
static void check_action(const struct find *find, const struct query_action *action,
                         const char *root, struct strbuf *why)
{
	const struct format *format = find->actions[action->index].format;
	struct search_server server;
	const char *path;
	if (action->kind < QA_EXEC || action->kind == QA_QUIT) {
		if (format && format->local)
			strbuf_printf(why, "%s: %%%c is not known of objects on another host",
			              action->word, format->local);
		return;
	}
	char *text = strdup(root);
	strbuf_printf(why, "%s cannot be performed on another host, only printing can",
	              action->word);
	if (text && !remote_parse(text, &server, &path) && strcmp(server.scheme, "ssh") == 0) {
		strbuf_puts(why, "; run find there: ssh ");
		if (server.port)
			strbuf_printf(why, "-p %u ", server.port);
		strbuf_printf(why, "%s%s%s find ...", server.user ? server.user : "",
		              server.user ? "@" : "", server.host);
	}
	free(text);
}

int find_check_roots(const struct find *find, const char *const roots[], size_t n)
{
	struct strbuf why = {0};
	size_t i = 0, nactions;
	const struct query_action *actions = query_actions(find->query, &nactions);
	while (i < n && !remote_is(roots[i]))
		++i;
	if (i == n)
		return 0;
	if (find->info->samefile)
		strbuf_puts(&why, "-samefile compares with a file of this host; use -inum");
	else if (nactions > TALK_ACTIONS)
		strbuf_printf(&why, "more than %d actions; run find several times", TALK_ACTIONS);
	for (size_t k = 0; k < find->nactions && why.len == 0; ++k)
		check_action(find, &actions[k], roots[i], &why);
	if (why.len > 0)
		message(roots[i], "%s", strbuf_str(&why));
	bool refused = why.len > 0;
	strbuf_destroy(&why);
	return refused ? CX_ERROR : 0;
}

/** Remove the current object.  @return whether the object no longer exists. */
static bool delete(struct find *find)
{
	const struct search_visit *visit = find->visit;
	const struct query_object *object = &visit->object;
	if (strcmp(visit->path, ".") == 0)
		return true;   /* "." cannot be removed; find(1) ignores it too */
	int dir = search_visit_dir(visit);
	int rc = dir < 0 ? -1 : os_remove(&find->os, dir, object->name, object->type == DT_DIR);
	/* With -L, object->type is the type of the target.  If the object is a symlink to a
	   directory, remove the symlink as a file. */
	if (rc != 0 && dir >= 0 && find->follows && errno == ENOTDIR)
		rc = os_remove(&find->os, dir, object->name, false);
	if (rc == 0 || (errno == ENOENT && find->ignore_race))
		return true;
	int error = errno;
	struct strbuf text = {0};
	strbuf_printf(&text, "cannot delete %s", visit->path);
	find_error(find, strbuf_str(&text), error);
	strbuf_destroy(&text);
	return false;
}

static void format_failed(void *arg, int error, bool warning)
{
	struct find *find = arg;
	bool errors = find->errors;
	find_error(find, find->visit->path, error);
	find->errors = errors || !warning;
}

/** Append the path of the current object.
    @quote  Replace characters that could harm a terminal.
    @end  Appended after the path. */
static void put_path(struct find *find, bool quote, char end)
{
	if (quote)
		format_quote(&find->text, find->visit->path);
	else
		strbuf_puts(&find->text, find->visit->path);
	strbuf_putc(&find->text, end);
}

bool find_act(void *arg, const struct query_action *action, const struct query_object *object)
{
	struct find *find = arg;
	struct find_action none = {.file = &find->out};
	/* If the expression has no action, an implicit -print is performed, which has no prepared
	   data. */
	const struct find_action *prepared =
		action->index < find->nactions ? &find->actions[action->index] : &none;
	const struct format_env env = {
		.os = &find->os, .users = &find->users, .groups = &find->groups,
		.quote = prepared->file->terminal, .failed = format_failed, .arg = find,
	};
	(void)object;
	strbuf_reset(&find->text);
	switch (action->kind) {
	case QA_PRINT: case QA_FPRINT:
		put_path(find, prepared->file->terminal, '\n');
		break;
	case QA_PRINT0: case QA_FPRINT0:
		put_path(find, false, '\0');
		break;
	case QA_PRINTF: case QA_FPRINTF:
		format_put(prepared->format, find->visit, &env, &find->text);
		break;
	case QA_LS: case QA_FLS:
		find_list(find);
		break;
	case QA_EXEC: case QA_EXECDIR: case QA_OK: case QA_OKDIR:
		return find_exec(find, action);
	case QA_DELETE:
		return delete(find);
	case QA_QUIT:
		return true;
	}
	find_put(find, prepared->file);
	if (prepared->format && prepared->format->flush)
		find_flush(find);
	return true;
}

void find_actions_finish(struct find *find)
{
	size_t n;
	const struct query_action *actions = query_actions(find->query, &n);
	for (size_t i = 0; i < n && i < find->nactions; ++i) {
		if (find->actions[i].batch)
			find_batch_run(find, &actions[i]);
	}
	find_files_finish(find);
}

void find_destroy(struct find *find)
{
	for (size_t i = 0; i < find->nactions; ++i) {
		format_free(find->actions[i].format);
		find_batch_free(find, find->actions[i].batch);
	}
	free(find->actions);
	find_files_finish(find);
	indexed_free(find->indexed);
	owners_destroy(&find->users);
	owners_destroy(&find->groups);
	strbuf_destroy(&find->text);
	strbuf_destroy(&find->names);
}
