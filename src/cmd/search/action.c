/* SPDX-License-Identifier: MIT */
#include "cmd/search/action.h"

#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/** Get the length of the placeholder at the start of a text; 0: none. */
static size_t placeholder(const char *text)
{
	static const char *const all[] = {"{}", "{/}", "{//}", "{.}", "{/.}"};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
		size_t len = strlen(all[i]);
		if (strncmp(text, all[i], len) == 0)
			return len;
	}
	return 0;
}

/** Find the first placeholder in a word; or NULL. */
static const char *find_placeholder(const char *word)
{
	while ((word = strchr(word, '{')) && !placeholder(word))
		++word;
	return word;
}

/** Append a word with its placeholders replaced: {} the path, {/} its last component, {//} its
    directory, {.} and {/.} the path and the last component without the extension.  If a word
    would start with the '-' of a name, "./" is put before the word. */
static void action_replace(struct strbuf *out, const char *word, const char *path)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		--len;
	const char *slash = memrchr(path, '/', len);
	const char *name = slash && len > 1 ? slash + 1 : path;
	const char *point = memrchr(name, '.', (size_t)(path + len - name));
	const char *stem = point && point > name ? point : path + len;
	for (const char *at; (at = find_placeholder(word)); word = at + placeholder(at)) {
		bool base = at[1] == '/', parent = base && at[2] == '/';
		bool cut = at[1] == '.' || (base && at[2] == '.');
		const char *text = parent && !slash ? "." : base && !parent ? name : path;
		const char *end = parent ? (slash == path ? path + 1 : slash)
		                  : cut ? stem : path + (base ? len : strlen(path));
		strbuf_add(out, word, (size_t)(at - word));
		/* The name must not look like an option of the command. */
		if (*text == '-' && at == word)
			strbuf_puts(out, "./");
		strbuf_add(out, text, parent && !slash ? 1 : (size_t)(end - text));
	}
	strbuf_puts(out, word);
}

/** Check the command of --exec-batch, and set action->before, the number of words before the paths.
    @return 0, or an exit status after a message. */
static int check_batch(struct action *action)
{
	bool found = false;
	action->before = action->n;
	for (size_t i = 0; i < action->n; ++i) {
		const char *word = action->words[i];
		if (!find_placeholder(word))
			continue;
		if (strcmp(word, "{}") != 0 || found || i == 0)
			return usage_error(action->option, "\"%s\": only one {} is allowed, as a "
			                   "word of its own after the command", word);
		action->before = i;
		found = true;
	}
	return 0;
}

const char *action_example(const struct action *action)
{
	return action->batch   ? "getmnt search '*.log' /tmp --exec-batch ls -l"
	       : action->local ? "getmnt search '*.log' /tmp --exec-dir ls -l"
	                       : "getmnt search '*.log' /tmp --exec ls -l";
}

/** Check that PATH does not find the command in the directory of an object.
    @return 0, or an exit status after a message. */
static int check_local(const struct action *action)
{
	struct strbuf why = {0};
	if (exec_check_path(action->option, &why) == 0)
		return 0;
	message(NULL, "%s", why.failed ? strerror(ENOMEM) : strbuf_str(&why));
	strbuf_destroy(&why);
	return CX_ERROR;
}

int action_parse(struct action *action, int *argc, char **argv)
{
	for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; ++i) {
		static const char *const options[] = {"--exec", "--exec-batch", "--exec-dir"};
		size_t k = 0;
		while (k < sizeof(options) / sizeof(*options) && strcmp(argv[i], options[k]) != 0)
			++k;
		if (k == sizeof(options) / sizeof(*options))
			continue;
		if (action->option)
			return usage_error(argv[i], "only one command can be given");
		int from = i + 1, to = from;
		while (to < *argc && strcmp(argv[to], ";") != 0)
			++to;
		action->option = options[k];
		action->batch = k == 1;
		action->local = k == 2;
		action->n = (size_t)(to - from);
		if (to == from)
			return usage_error(action->option, "no command given; example: %s",
			                   action_example(action));
		/* Copy the words, since argv is shifted over them. */
		char **words = malloc(action->n * sizeof(*words));
		if (!words)
			return message_error("search", ENOMEM, CX_ERROR);
		action->words = (const char *const *)words;
		memcpy(words, argv + from, action->n * sizeof(*words));
		to += to < *argc;
		memmove(argv + i, argv + to, (size_t)(*argc - to) * sizeof(*argv));
		*argc -= to - i;
		argv[*argc] = NULL;
		--i;
	}
	return action->batch ? check_batch(action) : action->local ? check_local(action) : 0;
}

static void failed(void *arg, const char *command, int error, const char *text)
{
	struct action *action = arg;
	action->failed = true;
	if (error) {
		action->stopped = true;
		getmnt_search_cancel(action->search);
	}
	if (error || text) {
		flow_hold(action->flow);
		message(command, "%s", error ? strerror(error) : text);
		flow_release(action->flow);
	}
}

void action_begin(struct action *action, struct os *os, SEARCH *search)
{
	size_t room = os_arg_room(os), fixed = sizeof(char *);
	action->search = search;
	action->exec = (struct exec){
		.os = os, .arg = action, .failed = failed,
		.command = {.dirfd = -1, .files = os_nofile(os, UINT_MAX, false)},
	};
	pthread_sigmask(SIG_SETMASK, NULL, &action->exec.command.mask);
	signal(SIGCHLD, SIG_DFL);
	for (size_t i = 0; i < action->n; ++i)
		fixed += pack_cost(action->words[i]);
	action->pack.room = !action->batch ? SIZE_MAX : room > fixed ? room - fixed : 0;
}

/** Run the command of --exec-batch with the paths of the pack. */
static void run_batch(struct action *action)
{
	/* Leave out the word {}, which stands for the paths. */
	size_t n = action->n, before = action->before;
	const char **words = malloc((n + 1) * sizeof(*words));
	if (!words) {
		failed(action, action->words[0], ENOMEM, NULL);
		return;
	}
	memcpy(words, action->words, before * sizeof(*words));
	if (before < n)
		memcpy(words + before, action->words + before + 1,
		       (n - before - 1) * sizeof(*words));
	flow_flush(action->flow);
	exec_batch(&action->exec, &action->pack, words, n - (before < n), before);
	free(words);
}

/** Add the words of the command to the pack, with placeholders replaced for a path; without a
    placeholder, also add the path.  @return false: ENOMEM. */
static bool put_words(struct action *action, const char *path)
{
	struct strbuf arg = {0};
	bool replaced = false, good = true;
	for (size_t i = 0; good && i <= action->n; ++i) {
		const char *word = i < action->n ? action->words[i] : replaced ? NULL : "{}";
		if (!word)
			break;
		replaced |= find_placeholder(word) != NULL;
		strbuf_reset(&arg);
		action_replace(&arg, word, path);
		good = pack_add(&action->pack, strbuf_text(&arg)) == PACK_ADDED;
	}
	strbuf_destroy(&arg);
	return good;
}

/** Run the command for a path.  @return false: ENOMEM. */
static bool run_one(struct action *action, const char *path)
{
	struct pack *pack = &action->pack;
	pack_reset(pack);
	char **argv = put_words(action, path) ? pack_command(pack, NULL, 0, 0, 0, pack->n) : NULL;
	bool good = argv;
	flow_flush(action->flow);
	if (argv)
		exec_run(&action->exec, argv);
	free(argv);
	return good;
}

/** Add a path to the arguments of --exec-batch; run the command first if the path does not fit.
    @return false: ENOMEM. */
static bool put_in_batch(struct action *action, const char *path)
{
	struct strbuf arg = {0};
	action_replace(&arg, "{}", path);
	enum pack_added added = pack_add(&action->pack, strbuf_text(&arg));
	if (added == PACK_FULL) {
		run_batch(action);
		added = pack_add(&action->pack, strbuf_text(&arg));
	}
	strbuf_destroy(&arg);
	return added == PACK_ADDED;
}

/** Run the command in the directory of the object that was found last.
    @path  The object, for messages.
    @return false: ENOMEM. */
static bool run_local(struct action *action, const char *path)
{
	struct search_visit visit;
	struct strbuf name = {0};
	search_last(action->search, &visit);
	int dir = search_visit_dir(&visit);
	if (dir < 0) {
		action->failed = true;
		flow_hold(action->flow);
		message(path, "%s", strerror(errno));
		flow_release(action->flow);
		return true;
	}
	exec_put_local(&name, visit.object.name, visit.object.len);
	const char *local = strbuf_text(&name);
	action->exec.command.dirfd = dir;
	bool good = local && run_one(action, local);
	strbuf_destroy(&name);
	return good;
}

int action_run(struct action *action, const char *path)
{
	if (action->stopped)
		return 0;
	bool good = action->batch ? put_in_batch(action, path)
	            : action->local ? run_local(action, path) : run_one(action, path);
	return good ? 0 : -1;
}

bool action_end(struct action *action)
{
	if (action->batch && !action->stopped)
		run_batch(action);
	return !action->failed;
}

void action_destroy(struct action *action)
{
	strbuf_destroy(&action->pack.text);
	free((void *)(uintptr_t)action->words);
}
