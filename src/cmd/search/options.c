/* SPDX-License-Identifier: MIT */
#include "cmd/search/options.h"

#include "cmd/cmd.h"
#include "cmd/search/out.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>

_Static_assert(SEARCH_ENGINE_AUTO == 0 && SEARCH_ENGINE_SYNC == 1 && SEARCH_ENGINE_BULK == 2,
               "words of --engine");

static const char access_letters[] = "rwx", type_letters[] = "bcdflps";

#define FLAG(field) OPT_IS_FLAG(struct search_args, field)

/** Parse the letters of --type or --access, and set a bit for each letter. */
static int parse_letters(void *to, const struct option_row *row, const char *text)
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

static int parse_flag(void *to, const struct option_row *row, const char *text)
{
	(void)text;
	((struct search_args *)to)->options.flags |= row->base;
	return 0;
}

static int parse_where(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	return where_add(&args->where, row, text);
}

static int parse_pattern(void *to, const struct option_row *row, const char *text)
{
	(void)row;
	return patterns_add(&((struct search_args *)to)->patterns.find, text);
}

static int parse_exclude(void *to, const struct option_row *row, const char *text)
{
	(void)row;
	return patterns_add(&((struct search_args *)to)->patterns.exclude, text ? text : ".*");
}

static int parse_exclude_type(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	(void)row;
	for (const char *type = text;; type = strchr(type, ',') + 1) {
		if (!*type || *type == ',')
			return usage_error("--exclude-type", "\"%s\": a type is empty", text);
		if (!strchr(type, ','))
			break;
	}
	if (args->exclude_types.len > 0)
		strbuf_putc(&args->exclude_types, ',');
	strbuf_puts(&args->exclude_types, text);
	return 0;
}

static int parse_form(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	char title[OPTION_TITLE_SIZE];
	int form = text ? option_parse_word(row, text) : row->base;
	if (form < 0)
		return CX_ERROR;
	if (args->form >= 0 && args->form != form)
		return usage_error(option_title(row, title),
		                   "only one of --count, --format, --json and --long can be given");
	args->form = form;
	return 0;
}

static int parse_depth(void *to, const struct option_row *row, const char *text)
{
	struct search_args *args = to;
	uint64_t depth;
	(void)row;
	if (!option_number(text, 1000000, &depth))
		return usage_error("--depth", "\"%s\": must be a number from 1 to 1000000", text);
	/* Refuse 0, which means no limit in struct search_options. */
	if (depth == 0)
		return usage_error("--depth",
		                   "\"%s\": must be at least 1; for the entries of PATH itself use "
		                   "a pattern of one component, as '/*'", text);
	args->options.depth = (unsigned)depth;
	return 0;
}

static int parse_sort(void *to, const struct option_row *row, const char *text)
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

static int parse_top(void *to, const struct option_row *row, const char *text)
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

static int parse_usage(void *to, const struct option_row *row, const char *text)
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

/** Refuse a command that action_parse() did not find. */
static int parse_command(void *to, const struct option_row *row, const char *text)
{
	char title[OPTION_TITLE_SIZE];
	(void)to, (void)text;
	return usage_error(option_title(row, title), "the command must follow as words of its own");
}

/** Parse --delegate[=LOGIN].  LOGIN is the user for NFS servers. */
static int parse_delegate(void *to, const struct option_row *row, const char *text)
{
	(void)row;
	((struct search_args *)to)->reach.transport.delegate = text ? text : "";
	return 0;
}

#define REFUSED(name, text) {name, 0, NULL, text, .how = OPT_REFUSED, .hidden = true}

/* In rows with a parse function, .base is data for this function. */
static const struct option_row search_rows[] = {
	OPTION_GROUP("What to find"),
	{"access", 0, "rwx", "only what we may read, write, execute", .letters = access_letters,
	 .parse = parse_letters},
	{"exclude", 0, "PATTERN", "neither print nor enter what matches",
	 .parse = parse_exclude},
	{NULL, 'e', "PATTERN", "find this too; then each operand is a PATH",
	 .parse = parse_pattern},
	{"first", 0, NULL, "stop after the first match", .base = SEARCH_STOPATFIRST,
	 .parse = parse_flag},
	{"ignore-case", 'i', NULL, "ignore case in patterns and names", .base = SEARCH_NOCASE,
	 .parse = parse_flag},
	{"no-hidden", 0, NULL, "same as --exclude='.*'", .parse = parse_exclude},
	{"paper", 0, NULL, "the paper's patterns: no ** and {a,b}, ? also none",
	 .base = SEARCH_PAPER_Q, .parse = parse_flag},
	{"period", 0, NULL, "only a period matches a leading period", .base = SEARCH_PERIOD,
	 .parse = parse_flag},
	{"type", 0, "LETTERS", "only these types: b, c, d, f, l, p, s, as in find",
	 .letters = type_letters, .parse = parse_letters},
	OPTION_GROUP("By attributes"),
	{"size", 0, "SIZE", "in bytes, k, M, G; +SIZE or more, -SIZE or less", .base = WHERE_SIZE,
	 .parse = parse_where},
	{"changed-within", 0, "TIME", "changed within 2d, 3h ... or after a date",
	 .base = WHERE_WITHIN, .parse = parse_where},
	{"changed-before", 0, "TIME", "changed more than 2d, 3h ... ago, or before a date",
	 .base = WHERE_BEFORE, .parse = parse_where},
	{"newer", 0, "FILE", "changed after FILE", .base = WHERE_NEWER, .parse = parse_where},
	{"user", 0, "USER", "owned by a user", .base = WHERE_USER, .parse = parse_where},
	{"group", 0, "GROUP", "owned by a group", .base = WHERE_GROUP, .parse = parse_where},
	{"perm", 0, "MODE", "these permissions; -MODE: all of these, /MODE: any",
	 .base = WHERE_PERM, .parse = parse_where},
	{"links", 0, "N", "N hard links; +N: more, -N: fewer", .base = WHERE_LINKS,
	 .parse = parse_where},
	{"empty", 0, NULL, "empty files and directories", .base = WHERE_EMPTY,
	 .parse = parse_where},
	{"where", 0, "EXPRESSION", "tests of find, as '-size +1M ! -user root'",
	 .base = WHERE_QUERY, .parse = parse_where},
	OPTION_GROUP("Where to search"),
	{"blocking", 0, NULL, "enter file systems that can block (NFS, FUSE ...)",
	 FLAG(options.blocking)},
	{"depth", 0, "N", "do not enter directories deeper than N", .parse = parse_depth},
	{"files0-from", 0, "FILE", "PATHs in FILE (-: input), each ended by NUL",
	 OPT_IS_TEXT(struct search_args, files0_from)},
	{"exclude-type", 0, "TYPE,...", "do not enter file systems of these types",
	 .parse = parse_exclude_type},
	OPTION_INDEXED(struct search_args, indexed),
	{"ignore-vanished", 0, NULL, "what is removed meanwhile is no error",
	 .base = SEARCH_VANISHED, .parse = parse_flag},
	{"maxdepth", 0, "N", "nothing deeper than N, silently; PATH/x has depth 1",
	 OPT_IS_NUMBER(struct search_args, maxdepth, 1000000)},
	{"mindepth", 0, "N", "nothing less deep than N",
	 OPT_IS_NUMBER(struct search_args, mindepth, 1000000)},
	{"follow", 'L', NULL, "follow symbolic links", .base = SEARCH_FOLLOW, .parse = parse_flag},
	{"xdev", 0, NULL, "do not enter other mounts", .base = SEARCH_XDEV, .parse = parse_flag},
	OPTIONS_REACH(struct search_args, reach),
	{"delegate", 0, "[LOGIN]", "mounts of sshfs, or NFS, on their servers",
	 .parse = parse_delegate},
	OPTION_GROUP("Output"),
	{"bytes", 'b', NULL, "sizes in bytes", OPT_IS_SET(struct search_args, sizes),
	 .base = SIZES_BYTES},
	{"color", 0, "[WHEN]", "colors of LS_COLORS: auto, always, never", "auto|always|never",
	 OPT_IS_WORD(struct search_args, color), .bare = COLOR_ALWAYS},
	{"count", 0, NULL, "print only the number of matches", .base = SF_COUNT,
	 .parse = parse_form},
	{"format", 0, "FORM", "paths, long, json (one document) or jsonl", "paths|long|json|jsonl",
	 .parse = parse_form},
	{"human-readable", 0, NULL, "sizes with a unit: 1.5K",
	 OPT_IS_SET(struct search_args, sizes), .base = SIZES_HUMAN},
	{"json", 'J', NULL, "same as --format=json", .base = SF_JSON, .parse = parse_form},
	{"list-columns", 'H', NULL, "list the columns for -o", FLAG(list_columns)},
	{"long", 'l', NULL, "same as --format=long: a list as ls -l", .base = SF_LONG,
	 .parse = parse_form},
	{"metadata", 'm', NULL, "type, mode, links, owner, size, time, inode, path",
	 FLAG(metadata)},
	{"null", '0', NULL, "end each line with NUL, and escape nothing", FLAG(nul)},
	{"output", 'o', "[+]COL,...", "print these columns, separated by tabs",
	 OPT_IS_TEXT(struct search_args, columns)},
	{"sort", 0, "[-]COL", "sort by a column; name, inode: each directory", "name|inode",
	 .parse = parse_sort},
	{"top", 0, "N", "print the first N, in the order of --sort", .parse = parse_top},
	OPTION_GROUP("Disk usage"),
	{"usage", 0, "[DEPTH]", "totals as du has them, of directories down to DEPTH",
	 .parse = parse_usage},
	{"usage-by", 0, "KEY", "by user, group or type", "user|group|type",
	 OPT_IS_WORD(struct search_args, usage_options.by), .base = USAGE_USER},
	{"apparent-size", 0, NULL, "add up the sizes of files and links",
	 FLAG(usage_options.apparent)},
	OPTION_GROUP("Commands"),
	{"exec", 0, "COMMAND...", "run it for each result, until ; or the end",
	 .parse = parse_command},
	{"exec-batch", 0, "COMMAND...", "run it once for all results", .parse = parse_command},
	{"exec-dir", 0, "COMMAND...", "as --exec, in the directory of the result",
	 .parse = parse_command},
	OPTION_GROUP("Speed"),
	{"ahead", 0, NULL, "read many attributes at once, by inode number", FLAG(options.ahead)},
	{"cached", 0, NULL, "cached attributes, without asking a server", .base = SEARCH_CACHED,
	 .parse = parse_flag},
	{"engine", 0, "ENGINE", "how attributes are read: auto, sync, bulk", "auto|sync|bulk",
	 OPT_IS_WORD(struct search_args, options.engine)},
	{"threads", 0, "N", "threads that read (0: chosen)",
	 OPT_IS_NUMBER(struct search_args, options.threads, 1000000)},
	OPTION_GROUP("General"),
	OPTION_STATS(struct search_args, stats),
	OPTION_HELP(struct search_args, help),

	/* Options of find(1): the text says what to use instead. */
	REFUSED("iname", "use -i: getmnt search -i '*.c' DIR"),
	REFUSED("mount", "use --xdev"),
	REFUSED("name", "the pattern is the first argument: getmnt search '*.c' DIR"),
	REFUSED("path", "the pattern is the first argument: getmnt search 'a/*/b' DIR"),
	REFUSED("print0", "use -0"),
};

const struct option_table search_table = {
	"search", search_rows, sizeof(search_rows) / sizeof(*search_rows),
};
