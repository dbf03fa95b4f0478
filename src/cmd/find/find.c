/* SPDX-License-Identifier: MIT */
/*
 * getmnt find: find(1), using the search of getmnt search.
 *
 *     options, paths, expression --> query_parse() --> search_open() --+--> getmnt_search_read()
 *                                                                      |      --> actions
 *                        only -print, or only -print0: lines made '--> flow.c
 *                        by reading threads
 */
#include "cmd/find/find.h"

#include "cmd/cmd.h"
#include "cmd/found/roots.h"
#include "cmd/found/searched.h"
#include "cmd/text.h"
#include "search/query_host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum links { LINKS_NONE, LINKS_ROOTS, LINKS_ALL };

struct find_args {
	struct search_options options;
	struct reach reach;
	bool help, debug_help;
	bool tree;                   /* -D tree */
	int links;                   /* enum links */
	int stats;                   /* enum stats_form */
	struct indexed_args indexed;
};

static int parse_debug(void *to, const struct option_row *row, const char *text)
{
	struct find_args *args = to;
	(void)row;
	if (strcmp(text, "help") == 0) {
		text_say(stdout, "-D tree  print the expression in its canonical form\n"
		         "-D help  print this list\n"
		         "For counts of calls and objects, use --stats.\n");
		args->debug_help = true;
		return 0;
	}
	if (strcmp(text, "tree") != 0)
		return usage_error("-D", "\"%s\": must be tree or help; for counts of calls, use "
		                   "--stats", text);
	args->tree = true;
	return 0;
}

static int parse_level(void *to, const struct option_row *row, const char *text)
{
	uint64_t level;
	(void)to, (void)row;
	if (!option_number(text, UINT64_MAX, &level))
		return usage_error("-O", "\"%s\": must be a number", text);
	return 0;
}

static const struct option_row find_rows[] = {
	OPTION_GROUP("Symbolic links"),
	{NULL, 'P', NULL, "never follow them (the default)",
	 OPT_IS_SET(struct find_args, links), .base = LINKS_NONE},
	{NULL, 'H', NULL, "follow those among the paths", OPT_IS_SET(struct find_args, links),
	 .base = LINKS_ROOTS},
	{NULL, 'L', NULL, "follow all", OPT_IS_SET(struct find_args, links), .base = LINKS_ALL},
	OPTIONS_REACH(struct find_args, reach),
	OPTION_GROUP("Of getmnt"),
	{"blocking", 0, NULL, "enter file systems that can block (NFS, FUSE ...)",
	 OPT_IS_FLAG(struct find_args, options.blocking)},
	{"threads", 0, "N", "threads that read (0: chosen)",
	 OPT_IS_NUMBER(struct find_args, options.threads, 1000000)},
	OPTION_INDEXED(struct find_args, indexed),
	OPTION_STATS(struct find_args, stats),
	OPTION_GROUP("General"),
	{NULL, 'D', "WORD", "tree: print the expression; or help", .parse = parse_debug},
	{NULL, 'O', "N", "accepted, without effect", .parse = parse_level},
	OPTION_HELP(struct find_args, help),
};

const struct option_table find_table = {
	"find", find_rows, sizeof(find_rows) / sizeof(*find_rows),
};

static const char usage[] =
	"Usage:\n getmnt find [-H|-L|-P] [options] [PATH ...] [EXPRESSION]\n\n"
	"Find files below each PATH (the current directory), as find(1) does.\n";

static const char primaries[] =
	"Tests:\n"
	" -name -iname -path -ipath -regex -iregex -lname -ilname -type -xtype -fstype\n"
	" -size -empty -links -inum -samefile -perm -readable -writable -executable\n"
	" -user -group -uid -gid -nouser -nogroup -mtime -mmin -atime -amin -ctime -cmin\n"
	" -newer -newerXY -older -anewer -cnewer -used -hidden -true -false\n"
	"Actions:\n"
	" -print -print0 -printf FORMAT -ls -fprint FILE -fprint0 FILE -fls FILE\n"
	" -fprintf FILE FORMAT -exec COMMAND ; -exec COMMAND {} + -execdir -ok -okdir\n"
	" -delete -prune -quit\n"
	"Options of the search:\n"
	" -maxdepth N -mindepth N -depth -xdev -mount -follow -daystart -regextype TYPE\n"
	" -files0-from FILE -ignore_readdir_race -exclude TEST -nohidden -unique\n"
	"Operators:\n"
	" ( EXPR )  ! EXPR  EXPR -a EXPR  EXPR -o EXPR  EXPR , EXPR\n";

/** Whether a word consists of one or several of -H, -L and -P. */
static bool is_links(const char *word)
{
	size_t n = *word == '-' ? strspn(word + 1, "HLP") : 0;
	return n > 0 && word[1 + n] == '\0';
}

/** Get the index of the first argument that is not an option or the argument of an option. */
static int count_options(int argc, char **argv)
{
	int at = 1;
	while (at < argc) {
		const char *word = argv[at], *value;
		size_t count;
		if (strcmp(word, "--") == 0)
			return at + 1;
		const struct option_row *row = option_find(&find_table, word, &value, &count);
		if (strcmp(word, "-D") == 0)
			++at;
		else if (row)
			at += row->argument && !option_is_optional(row) && !value;
		else if (!is_links(word) && strncmp(word, "-O", 2) != 0
		         && strncmp(word, "--", 2) != 0)
			break;
		++at;
	}
	return at < argc ? at : argc;
}

/** Whether a word starts the expression and so ends the paths. */
static bool begins_expression(const char *word)
{
	return (*word == '-' && word[1]) || strcmp(word, "(") == 0 || strcmp(word, "!") == 0;
}

/** Whether the command line has a single argument, `one` or `other`. */
static bool is_only(int argc, char **argv, const char *one, const char *other)
{
	return argc == 2 && (strcmp(argv[1], one) == 0 || strcmp(argv[1], other) == 0);
}

static void warn_query(void *arg, const char *text)
{
	(void)arg;
	message(NULL, "warning: %s", text);
}

/** Parse the expression, and prepare its actions.  @return 0, or an exit status after a message. */
static int parse(struct find *find, const struct find_args *args, char **words, size_t n)
{
	struct query_env env = {
		.follow = args->links == LINKS_ALL, .follow_roots = args->links != LINKS_NONE,
		.quiet = !isatty(STDIN_FILENO), .action = find_action_compile, .warn = warn_query,
	};
	struct query_error error = {0};
	query_env_host(&env, &find->os);
	find->now = env.now;
	find->query = query_parse((const char *const *)words, n, &env, &error);
	if (find->query) {
		find->info = query_info(find->query);
	} else if (errno == ENOMEM || error.why.len == 0) {
		message("find", "%s", strerror(errno));
	} else {
		usage_error("find", "%s", strbuf_str(&error.why));
	}
	strbuf_destroy(&error.why);
	return find->query ? 0 : CX_ERROR;
}

static void watch(void *arg)
{
	struct find *find = arg;
	flow_turn(find->flow);
}

/** Print lines that reading threads made, and count their n objects. */
static void print_lines(void *arg, struct strbuf *text, uint64_t n)
{
	struct find *find = arg;
	find->found += n;
	if (text->len > 0)
		flow_add(find->flow, text);
}

/** Perform the actions for an object.  Called for each result, or as search_more.visit. */
static enum search_go visit(void *arg, const struct search_visit *visit)
{
	struct find *find = arg;
	bool stop = false;
	int error = 0;
	find->visit = visit;
	++find->found;
	if (visit->actions == 0 || find->info->waits) {
		bool prune = query_run(find->query, &visit->object, find_act, find, &stop, &error);
		if (error) {
			find->errors = true;
			searched_report(find->search, &(struct searchent){
				.path = (char *)(uintptr_t)visit->path, .err = error,
				.errsource = SEARCH_ERR_ACCESS,
			}, true, find->flow);
		}
		return stop ? SEARCH_STOP : prune ? SEARCH_PRUNE : SEARCH_GO;
	}
	size_t n;
	const struct query_action *actions = query_actions(find->query, &n);
	for (size_t i = 0; i < n; ++i) {
		if (!(visit->actions >> i & 1))
			continue;
		if (actions[i].kind == QA_QUIT)
			return SEARCH_STOP;
		find_act(find, &actions[i], &visit->object);
	}
	return SEARCH_GO;
}

/** Search, and perform the actions. */
static void run(struct find *find)
{
	const struct query_info *info = find->info;
	struct searchent *e;
	struct search_more more = {
		.statx = true, .roots = true, .follow_roots = find->follow_roots,
		.watch = watch, .arg = find,
		.mindepth = info->mindepth, .maxdepth = info->maxdepth,
		.visit = info->waits ? visit : NULL,
	};
	more.source = indexed_source(find->indexed, find->flow);
	/* If the expression only prints paths on standard output, the reading threads can make the
	   lines; not for -print on a terminal, which quotes paths. */
	if (info->only_prints && !info->depth && !info->waits
	    && (info->end == '\0' || !find->out.terminal)) {
		more.lines = print_lines;
		more.end = info->end;
	}
	search_more(find->search, &more);
	while ((e = getmnt_search_read(find->search))) {
		struct search_visit object;
		if (e->err) {
			find->errors = true;
			searched_report(find->search, e, true, find->flow);
			continue;
		}
		search_last(find->search, &object);
		if (visit(find, &object) == SEARCH_STOP)
			break;
	}
	/* ECANCELED: writing to stdout failed; finish_stdout() reports the failure. */
	if (!e && errno && errno != ECANCELED)
		find_error(find, "find", errno);
}

/** Search the roots with the parsed expression.  @return an exit status. */
static int search_roots(struct find *find, struct find_args *args, const struct roots *roots)
{
	args->options.flags |= args->links == LINKS_ALL || find->info->follow ? SEARCH_FOLLOW : 0;
	find->follow_roots = args->links != LINKS_NONE;
	find->follows = args->options.flags & SEARCH_FOLLOW;
	find->ignore_race = find->info->ignore_race;
	roots_reach(&args->reach, &args->options, &find->flow);
	double start = os_now();
	int status = indexed_new(&find->os, &args->indexed,
	                         args->links == LINKS_ALL ? "-L" : find->follows ? "-follow" : NULL,
	                         roots, &find->indexed);
	if (status)
		return status;
	os_mark(MARK_BEGIN);
	find->search = search_open(roots->names, roots->n, "*", &args->options, find->query);
	os_mark(MARK_END);
	if (!find->search) {
		find->query = NULL;
		return message_error("find", errno, CX_ERROR);
	}
	unsigned fds = os_nofile(&find->os, SEARCH_FDS, true);
	if (args->options.threads != 1)
		os_grow_fds(&find->os, STDERR_FILENO, fds / 2);
	find->flow = flow_new(&find->os, false, find->search);
	if (find->flow) {
		os_mark(MARK_BEGIN);
		run(find);
		find_actions_finish(find);
		search_stop(find->search);
		os_mark(MARK_END);
		flow_end(find->flow);
		find->flow = NULL;
		indexed_report_memory(find->indexed);
		if (args->stats)
			searched_stats(find->search, args->stats, find->found, start,
			               find->indexed);
		else
			indexed_report(find->indexed);
	} else {
		find_error(find, "find", errno);
	}
	getmnt_search_close(find->search);
	find->query = NULL;
	return find->errors ? CX_ERROR : CX_OK;
}

/** Print the expression in its canonical form, for -D tree. */
static void print_tree(struct find *find)
{
	struct strbuf text = {0};
	query_print(find->query, &text);
	if (text.failed)
		find_error(find, "-D", ENOMEM);
	else
		text_say(stderr, "%s\n", strbuf_str(&text));
	strbuf_destroy(&text);
}

int cmd_find(int argc, char **argv)
{
	struct find_args args = {
		.options = {.size = sizeof(args.options), .flags = SEARCH_INCLUDEROOT},
		.reach = REACH_DEFAULT,
	};
	struct find find = {.out = {.fd = -1, .name = "standard output"}};
	struct roots roots = {0};
	char version[] = "-V", *version_args[] = {argv[0], version, NULL};
	setlocale(LC_TIME, "");
	setlocale(LC_CTYPE, "");     /* for patterns and regular expressions */
	int at = is_only(argc, argv, "-h", "-help") ? 1 : count_options(argc, argv);
	int status = options_read(&find_table, at, argv, &args);
	if (status)
		return status;
	if (is_only(argc, argv, "-version", "-V"))
		return cmd_discover(2, version_args);
	args.help |= is_only(argc, argv, "-h", "-help");
	if (args.help)
		options_help(&find_table, usage, primaries, stdout);
	if (args.help || args.debug_help)
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;

	int end = at;
	while (end < argc && !begins_expression(argv[end]))
		++end;
	os_init(&find.os, secure_getenv("GETMNT_DISABLE"));
	owners_init(&find.users, &find.os, "/etc/passwd");
	owners_init(&find.groups, &find.os, "/etc/group");
	find.out.terminal = isatty(STDOUT_FILENO);
	/* Commands run with the signals and limits that this process has now, before the search
	   changes them. */
	find.command = (struct os_command){
		.dirfd = -1, .files = os_nofile(&find.os, UINT_MAX, false),
	};
	pthread_sigmask(SIG_SETMASK, NULL, &find.command.mask);
	signal(SIGCHLD, SIG_DFL);
	status = parse(&find, &args, argv + end, (size_t)(argc - end));
	if (!status && args.tree)
		print_tree(&find);
	if (!status)
		status = roots_choose(&roots, &find.os, (const char *const *)argv + at,
		                      (size_t)(end - at), "-files0-from",
		                      find.info->files0_from);
	find.errors |= roots.errors;
	if (!status)
		status = find_check_roots(&find, roots.names, roots.n);
	if (!status)
		status = search_roots(&find, &args, &roots);
	query_free(find.query);
	find_destroy(&find);
	roots_destroy(&roots);
	return finish_stdout() == 0 ? status : CX_ERROR;
}
