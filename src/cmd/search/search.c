/* SPDX-License-Identifier: MIT */
/*
 * getmnt search: print the paths that match a pattern, when they are found.
 *
 *     options --> searchv() --+--> readsearch() --> out.c: a line each ------------+--> flow.c
 *                             '--> lines, made by out.c in the threads that read --'
 *                 '-------------------- run.c --------------------'
 */
#include "cmd/cmd.h"

#include "base/escape.h"
#include "cmd/column.h"
#include "cmd/listing.h"
#include "cmd/output.h"
#include "cmd/roots.h"
#include "cmd/search/out.h"
#include "cmd/search/patterns.h"
#include "cmd/search/run.h"
#include "cmd/search/where.h"
#include "cmd/searched.h"
#include "os/os.h"
#include "search/search.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(SEARCH_ENGINE_AUTO == 0 && SEARCH_ENGINE_SYNC == 1 && SEARCH_ENGINE_BULK == 2,
               "words of --engine");

enum { SIZES_BYTES = 1, SIZES_HUMAN, SILENT_SECONDS = 60 };

struct search_args {
	struct search_options options;
	bool nul, metadata, help, list_columns, usage;
	int sizes;                   /* SIZES_*; 0: as usual */
	struct usage_options usage_options;
	int form;                    /* enum search_form; -1: not given */
	int color;                   /* enum color_when */
	bool sort_down;              /* the greatest value first */
	unsigned top;                /* print only the first objects; 0: all */
	const struct column_info *sort;   /* order of all objects; NULL: none */
	int stats;                   /* enum stats_form */
	unsigned types;              /* 1 << DT_*; 0: all */
	const char *columns;         /* of -o */
	const char *files0_from;
	struct strbuf where;         /* what attributes must be, in find's language; "" */
	unsigned mindepth, maxdepth;
	struct strbuf exclude_types;
	struct patterns patterns;
	const char *operand;         /* the pattern given as an operand; NULL: by -e */
	const char *rsh;             /* NULL: ssh */
	struct search_transport transport;
};

static const char access_letters[] = "rwx", type_letters[] = "bcdflps";

#define FLAG(field) OPT_IS_FLAG(struct search_args, field)

/** Set a bit for each letter of an option. */
static int take_letters(void *to, const struct option_row *row, const char *text)
{
	static const int access_bits[] = {SEARCH_R_OK, SEARCH_W_OK, SEARCH_X_OK};
	static const int type_bits[] = {1 << DT_BLK, 1 << DT_CHR, 1 << DT_DIR, 1 << DT_REG,
	                                1 << DT_LNK, 1 << DT_FIFO, 1 << DT_SOCK};
	struct search_args *args = to;
	bool types = row->letters == type_letters;
	int bits = 0;
	for (const char *p = text; *p; ++p) {
		const char *at = strchr(row->letters, *p);
		if (at)
			bits |= (types ? type_bits : access_bits)[at - row->letters];
		else if (*p != ',')
			bits = INT_MIN;
	}
	if (bits <= 0)
		return usage_error(types ? "--type" : "--access",
		                   "\"%s\": must be letters of \"%s\"", text, row->letters);
	if (types)
		args->types |= (unsigned)bits;
	else
		args->options.flags |= bits;
	return 0;
}

static int take_flag(void *to, const struct option_row *row, const char *text)
{
	(void)text;
	((struct search_args *)to)->options.flags |= row->base;
	return 0;
}

static int take_where(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	return where_take(&args->where, row, text, args->options.flags & SEARCH_FOLLOW);
}

static int take_pattern(void *to, const struct option_row *row, const char *text)
{
	(void)row;
	return patterns_add(&((struct search_args *)to)->patterns.find, text);
}

static int take_exclude(void *to, const struct option_row *row, const char *text)
{
	(void)row;
	return patterns_add(&((struct search_args *)to)->patterns.exclude, text ? text : ".*");
}

static int take_exclude_type(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	(void)row;
	if (!*text)
		return usage_error("--exclude-type", "the type is empty");
	if (args->exclude_types.len > 0)
		strbuf_putc(&args->exclude_types, ',');
	strbuf_puts(&args->exclude_types, text);
	return 0;
}

static int take_form(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	char title[OPTION_TITLE_SIZE];
	int form = text ? option_take_word(row, text) : row->base;
	if (form < 0)
		return CX_ERROR;
	if (args->form >= 0 && args->form != form)
		return usage_error(option_title(row, title),
		                   "only one of --count, --format, --json and --long can be given");
	args->form = form;
	return 0;
}

static int take_depth(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	uint64_t depth;
	(void)row;
	if (!option_number(text, 1000000, &depth))
		return usage_error("--depth", "\"%s\": must be a number from 1 to 1000000", text);
	/* To the library 0 is no limit. */
	if (depth == 0)
		return usage_error("--depth",
		                   "\"%s\": must be at least 1; for the entries of PATH itself use "
		                   "a pattern of one component, as '/*'", text);
	args->options.depth = (unsigned)depth;
	return 0;
}

static int take_sort(void *to, const struct option_row *row, const char *text)
{
	static const int orders[] = {SEARCH_BYNAME, SEARCH_BYINODE};
	struct search_args *args = to;
	int order = option_word_index(row, text, strlen(text));
	args->options.flags &= ~(SEARCH_BYNAME | SEARCH_BYINODE);
	args->sort = NULL;
	args->sort_down = *text == '-';
	if (order >= 0) {
		args->options.flags |= orders[order];
		return 0;
	}
	text += args->sort_down;
	args->sort = column_named(&search_columns, "--sort", text, strlen(text));
	return args->sort ? 0 : CX_ERROR;
}

static int take_top(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	uint64_t top;
	(void)row;
	if (!option_number(text, UINT_MAX, &top) || top == 0)
		return usage_error("--top", "\"%s\": must be a number from 1 to %u", text,
		                   UINT_MAX);
	args->top = (unsigned)top;
	return 0;
}

static int take_usage(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	uint64_t depth = 0;
	(void)row;
	if (text && !option_number(text, 1000000, &depth))
		return usage_error("--usage", "\"%s\": must be a number from 0 to 1000000", text);
	args->usage = true;
	args->usage_options.depth = (unsigned)depth;
	return 0;
}

/* The base of a row without words is the value that its function sets. */
#define REFUSED(name, text) {name, 0, NULL, text, .how = OPT_REFUSED, .hidden = true}

static const struct option_row search_rows[] = {
	OPTION_GROUP("What to find"),
	{"access", 0, "rwx", "only what we may read, write, execute", .letters = access_letters,
	 .take = take_letters},
	{"exclude", 0, "PATTERN", "neither print nor enter what matches",
	 .take = take_exclude},
	{NULL, 'e', "PATTERN", "find this too; then each operand is a PATH",
	 .take = take_pattern},
	{"first", 0, NULL, "stop after the first match", .base = SEARCH_STOPATFIRST,
	 .take = take_flag},
	{"ignore-case", 'i', NULL, "ignore case in patterns and names", .base = SEARCH_NOCASE,
	 .take = take_flag},
	{"no-hidden", 0, NULL, "same as --exclude='.*'", .take = take_exclude},
	{"paper", 0, NULL, "the paper's patterns: no ** and {a,b}, ? also none",
	 .base = SEARCH_PAPER_Q, .take = take_flag},
	{"period", 0, NULL, "only a period matches a leading period", .base = SEARCH_PERIOD,
	 .take = take_flag},
	{"type", 0, "LETTERS", "only these types: b, c, d, f, l, p, s, as in find",
	 .letters = type_letters, .take = take_letters},
	OPTION_GROUP("By attributes"),
	{"size", 0, "SIZE", "in bytes, k, M, G; +SIZE or more, -SIZE or less", .base = WHERE_SIZE,
	 .take = take_where},
	{"changed-within", 0, "TIME", "changed within 2d, 3h ... or after a date",
	 .base = WHERE_WITHIN, .take = take_where},
	{"changed-before", 0, "TIME", "changed more than 2d, 3h ... ago, or before a date",
	 .base = WHERE_BEFORE, .take = take_where},
	{"newer", 0, "FILE", "changed after FILE", .base = WHERE_NEWER, .take = take_where},
	{"user", 0, "USER", "owned by a user", .base = WHERE_USER, .take = take_where},
	{"group", 0, "GROUP", "owned by a group", .base = WHERE_GROUP, .take = take_where},
	{"perm", 0, "MODE", "these permissions; -MODE: all of these, /MODE: any",
	 .base = WHERE_PERM, .take = take_where},
	{"links", 0, "N", "N hard links; +N: more, -N: fewer", .base = WHERE_LINKS,
	 .take = take_where},
	{"empty", 0, NULL, "empty files and directories", .base = WHERE_EMPTY,
	 .take = take_where},
	{"where", 0, "EXPRESSION", "tests of find, as '-size +1M ! -user root'",
	 .base = WHERE_QUERY, .take = take_where},
	OPTION_GROUP("Where to search"),
	{"blocking", 0, NULL, "enter file systems that can block (NFS, FUSE ...)",
	 FLAG(options.blocking)},
	{"depth", 0, "N", "do not enter directories deeper than N", .take = take_depth},
	{"files0-from", 0, "FILE", "PATHs in FILE (-: input), each ended by NUL",
	 OPT_IS_TEXT(struct search_args, files0_from)},
	{"exclude-type", 0, "TYPE,...", "do not enter file systems of these types",
	 .take = take_exclude_type},
	{"ignore-vanished", 0, NULL, "what is removed meanwhile is no error",
	 .base = SEARCH_VANISHED, .take = take_flag},
	{"maxdepth", 0, "N", "nothing deeper than N, silently; PATH/x has depth 1",
	 OPT_IS_NUMBER(struct search_args, maxdepth, 1000000)},
	{"mindepth", 0, "N", "nothing less deep than N",
	 OPT_IS_NUMBER(struct search_args, mindepth, 1000000)},
	{"follow", 'L', NULL, "follow symbolic links", .base = SEARCH_FOLLOW, .take = take_flag},
	{"xdev", 0, NULL, "do not enter other mounts", .base = SEARCH_XDEV, .take = take_flag},
	OPTION_GROUP("Other hosts: ssh://[USER@]HOST[:PORT]/DIR"),
	{"rsh", 0, "COMMAND", "used instead of ssh", OPT_IS_TEXT(struct search_args, rsh)},
	{"timeout", 0, "SECONDS", "give a host up that is silent so long (60)",
	 OPT_IS_NUMBER(struct search_args, transport.timeout, 86400)},
	OPTION_GROUP("Output"),
	{"bytes", 'b', NULL, "sizes in bytes", OPT_IS_SET(struct search_args, sizes),
	 .base = SIZES_BYTES},
	{"color", 0, "[WHEN]", "colors of LS_COLORS: auto, always, never", "auto|always|never",
	 OPT_IS_WORD(struct search_args, color), .bare = COLOR_ALWAYS},
	{"count", 0, NULL, "print only the number of matches", .base = SF_COUNT, .take = take_form},
	{"format", 0, "FORM", "paths, long, json (one document) or jsonl", "paths|long|json|jsonl",
	 .take = take_form},
	{"human-readable", 0, NULL, "sizes with a unit: 1.5K",
	 OPT_IS_SET(struct search_args, sizes), .base = SIZES_HUMAN},
	{"json", 'J', NULL, "same as --format=json", .base = SF_JSON, .take = take_form},
	{"list-columns", 'H', NULL, "list the columns for -o", FLAG(list_columns)},
	{"long", 'l', NULL, "same as --format=long: a list as ls -l", .base = SF_LONG,
	 .take = take_form},
	{"metadata", 'm', NULL, "type, mode, links, owner, size, time, inode, path",
	 FLAG(metadata)},
	{"null", '0', NULL, "end each line with NUL, and escape nothing", FLAG(nul)},
	{"output", 'o', "[+]COL,...", "print these columns, separated by tabs",
	 OPT_IS_TEXT(struct search_args, columns)},
	{"sort", 0, "[-]COL", "sort by a column; name, inode: each directory", "name|inode",
	 .take = take_sort},
	{"top", 0, "N", "print the first N, in the order of --sort", .take = take_top},
	OPTION_GROUP("Disk usage"),
	{"usage", 0, "[DEPTH]", "totals as du has them, of directories down to DEPTH",
	 .take = take_usage},
	{"usage-by", 0, "KEY", "by user, group or type", "user|group|type",
	 OPT_IS_WORD(struct search_args, usage_options.by), .base = USAGE_USER},
	{"apparent-size", 0, NULL, "add up the sizes of files and links",
	 FLAG(usage_options.apparent)},
	OPTION_GROUP("Speed"),
	{"ahead", 0, NULL, "read many attributes at once, by inode number", FLAG(options.ahead)},
	{"cached", 0, NULL, "cached attributes, without asking a server", .base = SEARCH_CACHED,
	 .take = take_flag},
	{"engine", 0, "ENGINE", "how attributes are read: auto, sync, bulk", "auto|sync|bulk",
	 OPT_IS_WORD(struct search_args, options.engine)},
	{"threads", 0, "N", "threads that read (0: chosen)",
	 OPT_IS_NUMBER(struct search_args, options.threads, 1000000)},
	OPTION_GROUP("General"),
	OPTION_STATS(struct search_args, stats),
	OPTION_HELP(struct search_args, help),

	/* Options of find. */
	REFUSED("exec", "not supported; use getmnt search -0 PATTERN DIR | xargs -0 COMMAND"),
	REFUSED("iname", "use -i: getmnt search -i '*.c' DIR"),
	REFUSED("mount", "use --xdev"),
	REFUSED("name", "the pattern is the first argument: getmnt search '*.c' DIR"),
	REFUSED("path", "the pattern is the first argument: getmnt search 'a/*/b' DIR"),
	REFUSED("print0", "use -0"),
};

const struct option_table search_table = {
	"search", search_rows, sizeof(search_rows) / sizeof(*search_rows),
};

/** Choose what usage shows.  @return 0, or an exit status. */
static int choose_usage(struct search_args *args, struct search_out *out)
{
	bool depth = args->usage;
	args->usage |= args->usage_options.by != USAGE_ALL;
	if (!args->usage && args->usage_options.apparent)
		return usage_error("--apparent-size", "only with --usage");
	if (!args->usage)
		return 0;
	const char *option = depth ? "--usage" : "--usage-by";
	const char *other = args->columns ? "output" : args->metadata ? "metadata"
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

/** Choose the form and the columns.  @return 0, or an exit status. */
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
	if ((columns || json) && (more || !args->columns)) {
		const char *usual = json ? "PATH,TYPE" : "PATH";
		if (args->metadata)
			usual = json ? "PATH,TYPE,MODE,NLINK,UID,GID,SIZE,MTIME,INO"
			             : "TYPE,MODE,NLINK,UID,GID,SIZE,MTIME,INO,PATH";
		search_out_columns(out, usual);
	}
	return args->columns ? search_out_columns(out, args->columns + more) : 0;
}

/** Choose the order.  @return 0, or an exit status. */
static int choose_order(const struct search_args *args, struct search_out *out)
{
	if (args->top && !args->sort)
		return usage_error("--top", "an order of all objects is missing; for the largest "
		                   "add --sort=-SIZE");
	if (args->top && out->form == SF_COUNT)
		return usage_error("--top", "cannot be combined with --count");
	if (args->sort && args->options.flags & SEARCH_STOPATFIRST)
		return usage_error("--first", "cannot be combined with --sort=%s; use --top=1",
		                   args->sort->name);
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
	if ((out->form == SF_PATHS || out->form == SF_LONG) && !out->nul
	    && color_is_on(args->color, out->terminal)) {
		out->colors = colors_new(getenv("LS_COLORS"));
		if (!out->colors) {
			message("search", "%s", strerror(ENOMEM));
			return CX_ERROR;
		}
		bool access = args->options.flags & (SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK);
		*optional = !(out->needs & SN_METADATA) && !access;
		out->needs |= SN_TYPE;
		out->sort.metadata = true;
		if (colors_need_mode(out->colors))
			args->options.flags |= SEARCH_METADATA;
	}
	return 0;
}

/** Take the patterns: the first operand, unless -e is given.  @return 0, or an exit status. */
static int choose_patterns(struct search_args *args, int argc, char **argv)
{
	struct patterns *patterns = &args->patterns;
	const char *title = patterns->find.n > 0 ? "-e" : "search";
	int status = 0;
	if (patterns->find.n == 0 && optind == argc)
		return usage_error("search", "no pattern given; "
		                   "example: getmnt search '*.conf' /etc");
	if (patterns->find.n == 0)
		status = patterns_add(&patterns->find, args->operand = argv[optind++]);
	if (!(args->options.flags & SEARCH_PAPER_Q))
		args->options.flags |= SEARCH_EXTENDED;
	if (!status)
		status = patterns_join(patterns, title, args->options.flags);
	if (!status && patterns->excluded.len > 0)
		args->options.exclude = patterns->excluded.data;
	return status;
}

/** Implements cmd_search(), which frees the patterns. */
static int search_command(struct search_args *args, int argc, char **argv)
{
	int status = options_read(&search_table, argc, argv, args);
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
		if (rc != 0) {
			message(NULL, "%s", strerror(ENOMEM));
			return CX_ERROR;
		}
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	if (args->mindepth > args->maxdepth)
		return usage_error("--mindepth", "nothing is deeper than --maxdepth=%u",
		                   args->maxdepth);
	args->transport.arg = (void *)(uintptr_t)args->rsh;
	args->options.transport = &args->transport;
	status = choose_patterns(args, argc, argv);
	if (status)
		return status;
	struct search_out out;
	struct show show = {.out = &out, .start = os_now()};
	struct roots roots = {0};
	bool optional = false;
	os_init(&show.os, secure_getenv("GETMNT_DISABLE"));
	search_out_init(&out, args->form >= 0 ? (enum search_form)args->form : SF_PATHS, &show.os);
	status = roots_choose(&roots, &show.os, (const char *const *)argv + optind,
	                      (size_t)(argc - optind), "--files0-from", args->files0_from);
	status = status ? status : prepare(args, &out, &optional);
	if (status)
		goto out;
	args->options.query = args->where.len ? args->where.data : NULL;
	os_mark(MARK_BEGIN);
	show.search = searchv(roots.names, roots.n, args->patterns.text.data, &args->options);
	os_mark(MARK_END);
	if (!show.search) {
		status = patterns_refuse(errno);
		goto out;
	}
	os_clone_state(&show.os, search_os(show.search));
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
		.exclude_types = args->exclude_types.len ? args->exclude_types.data : NULL,
		.roots = args->usage && args->patterns.everything, .follow_roots = true,
	};
	status = show_run(&show, &more, lines);
	if (args->stats)
		searched_stats(show.search, args->stats, show.found, show.start);
	if (finish_stdout() != 0 || roots.errors)
		status = CX_ERROR;
out:
	closesearch(show.search);
	roots_destroy(&roots);
	search_out_destroy(&out);
	return status;
}

int cmd_search(int argc, char **argv)
{
	struct search_args args = {
		.options = {.size = sizeof(args.options), .flags = SEARCH_INCLUDEROOT}, .form = -1,
		.maxdepth = UINT_MAX,
		.transport = {.connect = searchrsh, .timeout = SILENT_SECONDS},
	};
	int status = search_command(&args, argc, argv);
	patterns_destroy(&args.patterns);
	strbuf_destroy(&args.where);
	strbuf_destroy(&args.exclude_types);
	return status;
}
