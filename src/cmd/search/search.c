/* SPDX-License-Identifier: MIT */
/*
 * getmnt search: print paths that match a pattern as they are found.
 *
 *     options --> search_open() --+--> getmnt_search_read() --> out.c: a line each -----+--> flow.c
 *                                 '--> lines, made by out.c in the threads that read ---'
 *                 '------------------------ run.c ------------------------'
 */
#include "cmd/cmd.h"
#include "cmd/column.h"
#include "cmd/found/roots.h"
#include "cmd/search/advice.h"
#include "cmd/search/options.h"
#include "cmd/search/out.h"
#include "cmd/search/run.h"
#include "cmd/found/searched.h"
#include "os/os.h"
#include "remote/remote.h"
#include "search/search.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Check and apply the options of disk usage.  @return 0, or an exit status after a message. */
static int choose_usage(struct search_args *args, struct search_out *out)
{
	bool depth = args->usage;
	args->usage |= args->usage_options.by != USAGE_ALL;
	if (!args->usage && args->usage_options.apparent)
		return usage_error("--apparent-size", "only with --usage");
	if (!args->usage)
		return 0;
	const char *option = depth ? "--usage" : "--usage-by";
	const char *other = args->action.option ? args->action.option + 2
	                    : args->columns ? "output" : args->metadata ? "metadata"
	                    : out->form == SF_LONG ? "long" : out->form == SF_COUNT ? "count"
	                    : args->options.flags & SEARCH_STOPATFIRST ? "first" : NULL;
	if (other)
		return usage_error(option, "cannot be combined with --%s", other);
	if (args->sort && strcmp(args->sort->name, "SIZE") != 0
	    && strcmp(args->sort->name, "PATH") != 0)
		return usage_error("--sort", "%s can be sorted by SIZE or PATH", option);
	args->options.flags &= ~(SEARCH_BYNAME | SEARCH_BYINODE);
	out->needs |= SN_METADATA;
	out->usage_options = args->usage_options;
	out->usage_options.once = args->options.flags & SEARCH_FOLLOW;
	out->usage_options.xdev = args->options.flags & SEARCH_XDEV;
	return 0;
}

/** Choose the output format and the columns.  @return 0, or an exit status after a message. */
static int choose_form(struct search_args *args, struct search_out *out)
{
	enum search_form form = args->form >= 0 ? (enum search_form)args->form : SF_PATHS;
	bool json = form == SF_JSON || form == SF_JSONL;
	bool columns = args->columns || args->metadata;
	if (columns && (form == SF_LONG || form == SF_COUNT))
		return usage_error(args->columns ? "--output" : "--metadata",
		                   "cannot be combined with --%s",
		                   form == SF_LONG ? "long" : "count");
	int status = choose_usage(args, out);
	if (status)
		return status;
	out->human = !json && (args->sizes ? args->sizes == SIZES_HUMAN : args->usage);
	if (args->nul && form != SF_PATHS)
		return usage_error("--null", "only for paths and columns");
	if (form == SF_PATHS && columns)
		out->form = form = SF_COLUMNS;
	bool more = args->columns && *args->columns == '+';
	if (args->usage)
		return 0;
	if (args->action.option && (form != SF_PATHS || columns || args->nul))
		return usage_error(args->action.option, "cannot be combined with options that "
		                   "choose what is printed");
	if (args->action.local && args->sort)
		return usage_error(args->action.option, "cannot be combined with a sort by %s: "
		                   "the command runs while the directory is read; --sort=name "
		                   "and --sort=inode sort each directory", args->sort->name);
	if (args->action.local && args->reach.transport.delegate)
		return usage_error(args->action.option, "cannot be combined with --delegate: "
		                   "the directory must be read here");
	out->action = args->action.option ? &args->action : NULL;
	if ((columns || json) && (more || !args->columns)) {
		const char *usual = json ? "PATH,TYPE" : "PATH";
		if (args->metadata)
			usual = json ? "PATH,TYPE,MODE,NLINK,UID,GID,SIZE,MTIME,INO"
			             : "TYPE,MODE,NLINK,UID,GID,SIZE,MTIME,INO,PATH";
		search_out_columns(out, usual);
	}
	return args->columns ? search_out_columns(out, args->columns + more) : 0;
}

/** Choose the order of the objects.  @return 0, or an exit status after a message. */
static int choose_order(const struct search_args *args, struct search_out *out)
{
	if (args->top && !args->sort)
		return usage_error("--top", "an order of all objects is missing; for the largest "
		                   "add --sort=-SIZE");
	if (args->top && out->form == SF_COUNT)
		return usage_error("--top", "cannot be combined with --count");
	if (args->sort && args->options.flags & SEARCH_STOPATFIRST)
		return usage_error("--first", "cannot be combined with --sort; use --top=1");
	if (args->sort && out->form != SF_COUNT)
		search_out_sort(out, args->sort, args->sort_down, args->top);
	return 0;
}

/** Choose the output, and request the attributes that it needs.
    @optional [out]  Attributes are needed only for colors.
    @return 0, or an exit status. */
static int prepare(struct search_args *args, struct search_out *out, bool *optional)
{
	out->nul = args->nul;
	out->terminal = isatty(STDOUT_FILENO);
	int status = choose_form(args, out);
	if (!status)
		status = choose_order(args, out);
	if (status)
		return status;
	if (out->needs & SN_METADATA)
		args->options.flags |= SEARCH_METADATA;
	if ((out->form == SF_PATHS || out->form == SF_LONG) && !out->nul && !out->action
	    && color_is_on(args->color, out->terminal)) {
		out->colors = colors_new(getenv("LS_COLORS"));
		if (!out->colors)
			return message_error("search", ENOMEM, CX_ERROR);
		bool access = args->options.flags & (SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK);
		*optional = !(out->needs & SN_METADATA) && !access;
		out->needs |= SN_TYPE;
		out->sort.metadata = true;
		if (colors_need_mode(out->colors))
			args->options.flags |= SEARCH_METADATA;
	}
	return 0;
}

/** Prepare to search indexes, if --index was given.  @return 0, or an exit status. */
static int prepare_index(const struct search_args *args, const struct roots *roots,
                         struct show *show)
{
	const char *refused = args->options.flags & SEARCH_FOLLOW ? "--follow"
	                      : args->reach.transport.delegate ? "--delegate" : NULL;
	if (args->indexed.index)   /* without --index, only the search probes the kernel */
		os_init(&show->os, secure_getenv("GETMNT_DISABLE"));
	return indexed_new(&show->os, &args->indexed, refused, roots, &show->indexed);
}

/** Collect the patterns, from the first operand or from -e, and the arguments that suggested
    commands repeat.
    @return 0, or an exit status after a message. */
static int choose_patterns(struct search_args *args, struct advice *advice, int argc, char **argv)
{
	struct patterns *patterns = &args->patterns;
	const char *title = patterns->find.n > 0 ? "-e" : "search";
	int status = 0, first = optind;
	if (first > 1 && strcmp(argv[first - 1], "--") == 0)
		--first;
	if (patterns->find.n == 0 && optind == argc && args->action.option)
		return usage_error("search", "no pattern given before %s, which takes all words "
		                   "up to \";\" as its command; example: %s",
		                   args->action.option, action_example(&args->action));
	if (patterns->find.n == 0 && optind == argc)
		return usage_error("search", "no pattern given; "
		                   "example: getmnt search '*.conf' /etc");
	if (patterns->find.n == 0)
		status = patterns_add(&patterns->find, args->operand = argv[optind++]);
	if (!(args->options.flags & SEARCH_PAPER_Q))
		args->options.flags |= SEARCH_EXTENDED;
	/* options_read() has moved the options before the operands. */
	advice->options = argv + 1;
	advice->noptions = (size_t)first - 1;
	advice->operand = args->operand;
	advice->paths = (const char *const *)argv + optind;
	advice->npaths = (size_t)(argc - optind);
	advice->here = optind == argc && !args->files0_from;
	if (!status)
		status = patterns_join(patterns, title, args->options.flags, advice);
	if (!status && patterns->excluded.len > 0)
		args->options.exclude = strbuf_str(&patterns->excluded);
	return status;
}

/** Run getmnt search; cmd_search() frees the arguments.  @return an exit status. */
static int search_command(struct search_args *args, int argc, char **argv)
{
	int status = advice_find(&search_table, argc, argv);
	if (!status)
		status = options_read(&search_table, argc, argv, args);
	if (status)
		return status;
	if (args->help || args->list_columns) {
		int rc = 0;
		if (args->help)
			options_help(&search_table,
			             "Usage:\n getmnt search [options] PATTERN [PATH ...]\n\n"
			             "Print the paths below each PATH (the current directory) that "
			             "match PATTERN.\n", NULL, stdout);
		else
			rc = column_list(&search_columns,
			                 args->form == SF_JSON ? FORM_JSON : FORM_DEFAULT);
		if (rc != 0)
			return message_error(NULL, ENOMEM, CX_ERROR);
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	if (args->mindepth > args->maxdepth)
		return usage_error("--mindepth", "nothing is deeper than --maxdepth=%u",
		                   args->maxdepth);
	struct search_out out;
	struct show show = {.out = &out, .start = os_now()};
	roots_reach(&args->reach, &args->options, &show.flow);
	struct advice advice = {0};
	struct roots roots = {0};
	bool optional = false;
	/* The features of the kernel are unknown until the search probes them; before the search,
	   no feature is needed. */
	status = choose_patterns(args, &advice, argc, argv);
	if (status)
		return status;
	search_out_init(&out, args->form >= 0 ? (enum search_form)args->form : SF_PATHS, &show.os);
	status = roots_choose(&roots, &show.os, (const char *const *)argv + optind,
	                      (size_t)(argc - optind), "--files0-from", args->files0_from);
	for (size_t i = 0; !status && i < roots.n && args->action.option; ++i) {
		if (remote_is(roots.names[i]))
			status = usage_error(args->action.option, "commands run on this host; "
			                     "\"%s\" is on another one", roots.names[i]);
	}
	status = status ? status : prepare(args, &out, &optional);
	if (!status && args->usage && roots_once(&roots, &show.os) != 0)
		status = message_error("search", errno, CX_ERROR);
	status = status ? status : prepare_index(args, &roots, &show);
	if (status)
		goto out;
	/* If memory ran out for one of these texts, the search would find more, or exclude less,
	   than requested. */
	const char *pattern = strbuf_text(&args->patterns.text);
	const char *exclude_types = strbuf_text(&args->exclude_types);
	struct query *query = NULL;
	if (!pattern || !exclude_types) {
		status = message_error("search", ENOMEM, CX_ERROR);
		goto out;
	}
	status = where_parse(&args->where, args->options.flags & SEARCH_FOLLOW, &query);
	if (status)
		goto out;
	os_mark(MARK_BEGIN);
	show.search = search_open(roots.names, roots.n, pattern, &args->options, query);
	os_mark(MARK_END);
	if (!show.search) {
		status = patterns_refuse(errno);
		goto out;
	}
	os_clone_state(&show.os, search_os(show.search));
	if (out.action)
		action_begin(out.action, &show.os, show.search);
	unsigned fds = os_nofile(&show.os, SEARCH_FDS, true);
	if (args->options.threads != 1)
		os_grow_fds(&show.os, STDERR_FILENO, fds / 2);
	if (args->usage) {
		status = show_usage(&show, optind < argc ? NULL : args->operand, roots.names,
		                    roots.n);
		if (status)
			goto out;
	}
	bool first = args->options.flags & SEARCH_STOPATFIRST;
	bool ordered = args->options.flags & (SEARCH_BYNAME | SEARCH_BYINODE);
	bool lines = !first && (out.form == SF_COUNT || (search_out_lines(&out) && !ordered));
	struct search_more more = {
		.types = args->types, .optional = optional, .files = true,
		.mindepth = args->mindepth, .maxdepth = args->maxdepth,
		.exclude_types = *exclude_types ? exclude_types : NULL,
		.roots = args->usage && args->patterns.everything, .follow_roots = true,
	};
	status = show_run(&show, &more, lines);
	if (!status && !show.found)
		advice_nothing(&advice);
	indexed_report_memory(show.indexed);
	if (args->stats)
		searched_stats(show.search, args->stats, show.found, show.start, show.indexed);
	else
		indexed_report(show.indexed);
	if (finish_stdout() != 0 || roots.errors)
		status = CX_ERROR;
out:
	getmnt_search_close(show.search);
	indexed_free(show.indexed);
	roots_destroy(&roots);
	search_out_destroy(&out);
	return status;
}

int cmd_search(int argc, char **argv)
{
	struct search_args args = {
		.options = {.size = sizeof(args.options), .flags = SEARCH_INCLUDEROOT}, .form = -1,
		.maxdepth = UINT_MAX,
		.reach = REACH_DEFAULT,
	};
	args.reach.transport.here = roots_connect_here;
	int status = action_parse(&args.action, &argc, argv);
	if (!status)
		status = search_command(&args, argc, argv);
	action_destroy(&args.action);
	patterns_destroy(&args.patterns);
	where_destroy(&args.where);
	strbuf_destroy(&args.exclude_types);
	return status;
}
