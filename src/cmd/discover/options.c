/* SPDX-License-Identifier: MIT */

#include "cmd/discover/output.h"
#include "cmd/text.h"

#include <getopt.h>
#include <libmount.h>
#include <stdlib.h>

/* Sets of options: at most one option of a set may be given. */
enum {
	EX_CANON_C  = 1 << 0,   /* -C -c */
	EX_CANON_E  = 1 << 1,   /* -C -e */
	EX_TARGET   = 1 << 2,   /* -M -T */
	EX_SOURCE   = 1 << 3,   /* -N -k -m -s */
	EX_PSEUDO   = 1 << 4,   /* --pseudo --real */
	EX_LIST     = 1 << 5,   /* -l -P -r */
	EX_FORM     = 1 << 6,   /* -J -P -r, --format */
	EX_TREE     = 1 << 7,   /* -l --tree */
	EX_FILE     = 1 << 8,   /* -F -N --root */
	EX_COLUMNS  = 1 << 9,   /* -D -I */
	EX_ROOT     = 1 << 10,  /* --root -N -m -s */
	EX_POLL     = 1 << 11,  /* -m -p -s */
};

#define EX(set) .excludes = EX_##set
#define REFUSED .how = OPT_REFUSED, .hidden = true
#define FLAG(field) OPT_IS_FLAG(struct options, field)
#define TEXT(field) OPT_IS_TEXT(struct options, field)
#define ONCE(field) OPT_IS_ONCE(struct options, field)
#define SET(field) OPT_IS_SET(struct options, field)
#define WORD(field) OPT_IS_WORD(struct options, field)
#define NUMBER(field, max) OPT_IS_NUMBER(struct options, field, max)
#define ID(field) OPT_IS_ID(struct options, field)
#define SECONDS(field, max) OPT_IS_SECONDS(struct options, field, max)

static int bad_argument(const struct option_row *row, const char *arg, const char *text)
{
	char title[OPTION_TITLE_SIZE];
	return usage_error(option_title(row, title), "\"%s\": %s", arg, text);
}

/** Parse -O.  Refuse an item without a name after "+" or "no", for which libmount 2.38 reads
    uninitialized memory. */
static int parse_mount_options(void *opts, const struct option_row *row, const char *arg)
{
	char *at = strdupa(arg), *name;
	size_t len;
	int rc;
	while ((rc = mnt_optstr_next_option(&at, &name, &len, NULL, NULL)) == 0) {
		if ((len == 1 && *name == '+') || (len == 2 && memcmp(name, "no", 2) == 0))
			return bad_argument(row, arg, "an item has no option name");
	}
	if (rc < 0)
		return bad_argument(row, arg, "not a list of options such as ro,nosuid");
	((struct options *)opts)->pick.mount_options = arg;
	return 0;
}

/** Get the i-th word that --format accepts. */
static const char *format_word(int i)
{
	return output_forms[i].name;
}

static int parse_format(void *opts, const struct option_row *row, const char *arg)
{
	struct options *o = opts;
	char title[OPTION_TITLE_SIZE];
	int form = row->base;
	if (arg) {
		int word = option_parse_word(row, arg);
		if (word < 0)
			return CX_ERROR;
		form = word < FORM_RAW ? FORM_DEFAULT : word;
		o->tree |= word == FORM_DEFAULT;
		o->list |= word == FORM_LIST;
	}
	if (form && o->form && o->form != form)
		return usage_error(option_title(row, title), "only one output format can be given");
	o->form = form ? form : o->form;
	return 0;
}

/** Parse --search-limit=DIRS[,SEC]. */
static int parse_search_limit(void *opts, const struct option_row *row, const char *arg)
{
	struct options *o = opts;
	size_t n = strcspn(arg, ",");
	o->in.search_seconds = 0;
	o->limit_given = true;
	if (!option_number(strndupa(arg, n), UINT64_MAX, &o->in.max_dirs)
	    || (arg[n] && !option_seconds(arg + n + 1, 1e6, &o->in.search_seconds)))
		return bad_argument(row, arg, "must be DIRS or DIRS,SECONDS");
	return 0;
}

/** Parse --poll[=[+]ACTION,...]. */
static int parse_poll(void *opts, const struct option_row *row, const char *arg)
{
	struct options *o = opts;
	const unsigned usual = CHANGE_MOUNT | CHANGE_UMOUNT | CHANGE_REMOUNT | CHANGE_MOVE;
	bool more = arg && *arg == '+';
	o->poll = true;
	o->poll_kinds = !arg || more ? usual : 0;
	/* The words of --poll are in the order of the bits of enum change_kind. */
	return arg ? option_parse_words(row, arg + more, &o->poll_kinds) : 0;
}

/** Get the name of the i-th pruning rule, a word of --prune without its + or -. */
static const char *rule_word(int i)
{
	return discover_rules[i].name;
}

static int parse_prune(void *opts, const struct option_row *row, const char *arg)
{
	struct options *o = opts;
	for (;; ++arg) {
		size_t n = strcspn(arg, ",");
		bool on = *arg == '+';
		if (!on && *arg != '-')
			return bad_argument(row, arg, "each rule must follow a + or -");
		int rule = option_word_index(row, arg + 1, n - 1);
		if (rule < 0)
			return option_bad_word(row, arg + 1, n - 1);
		unsigned bit = 1u << rule;
		o->in.prune_on = on ? o->in.prune_on | bit : o->in.prune_on & ~bit;
		o->in.prune_off = on ? o->in.prune_off & ~bit : o->in.prune_off | bit;
		arg += n;
		if (!*arg)
			return 0;
	}
}

static const struct option_row option_rows[] = {
	OPTION_GROUP("Which mounts"),
	{"all", 'A', NULL, "no built-in filter (of -D, -I, --pseudo, --real)", FLAG(pick.all)},
	{"direction", 'd', "WAY", "order of the table: forward, backward", "forward|backward",
	 WORD(pick.backward)},
	{"first-only", 'f', NULL, "only the first match", FLAG(pick.first_only)},
	{"id", 0, "NUMBER", "the mount with this ID", ID(pick.id)},
	{"invert", 'i', NULL, "mounts that do not match", FLAG(pick.invert)},
	{"mountpoint", 'M', "PATH", "the mount on this mount point", TEXT(pick.mountpoint),
	 EX(TARGET)},
	{"options", 'O', "LIST", "mounts with these options; noOPT: without OPT",
	 .parse = parse_mount_options},
	{"pseudo", 0, NULL, "only pseudo file systems", FLAG(pick.pseudo), EX(PSEUDO)},
	{"real", 0, NULL, "only real file systems", FLAG(pick.real), EX(PSEUDO)},
	{"shadowed", 0, NULL, "only mounts that another mount is stacked on", FLAG(pick.shadowed)},
	{"source", 'S', "SPEC", "by device, MAJ:MIN, or LABEL=, UUID=, PARTUUID= ...",
	 TEXT(pick.spec)},
	{"submounts", 'R', NULL, "the matches and all mounts below them", FLAG(pick.submounts)},
	{"target", 'T', "PATH", "the mount that contains this file or directory", TEXT(pick.target),
	 EX(TARGET)},
	{"types", 't', "LIST", "by file system type; noLIST: all but these", TEXT(pick.types)},
	{"uniq", 'U', NULL, "one mount for each target: the last", FLAG(pick.uniq)},
	{"uniq-id", 0, "NUMBER", "the mount with this 64-bit ID", ID(pick.uniq_id)},
	{"unmounted", 0, NULL, "add devices with a file system that is not mounted",
	 FLAG(pick.unmounted)},

	OPTION_GROUP("Output"),
	{"ascii", 'a', NULL, "draw the tree in ASCII", FLAG(ascii)},
	{"bytes", 'b', NULL, "sizes in bytes", FLAG(bytes)},
	OPTION_COLOR(struct options, color),
	{"canonicalize", 'c', NULL, "canonical names of sources", FLAG(canonicalize), EX(CANON_C)},
	{"df", 'D', NULL, "the columns of df(1)", FLAG(df), EX(COLUMNS)},
	{"dfi", 'I', NULL, "the columns of df -i", FLAG(dfi), EX(COLUMNS)},
	{"evaluate", 'e', NULL, "device names instead of LABEL=, UUID= ...", FLAG(evaluate),
	 EX(CANON_E)},
	{"format", 0, "FORM", "", .word = format_word, .parse = parse_format},
	{"json", 'J', NULL, "JSON", EX(FORM), .base = FORM_JSON, .parse = parse_format},
	{"list", 'l', NULL, "a list: one row for each mount", FLAG(list), EX(LIST) | EX_TREE},
	{"list-columns", 'H', NULL, "list the columns for -o", FLAG(list_columns)},
	{"nocanonicalize", 'C', NULL, "compare paths as written", FLAG(in.nocanonicalize),
	 EX(CANON_C) | EX_CANON_E},
	{"nofsroot", 'v', NULL, "no [/dir] after the source of a bind mount", FLAG(nofsroot)},
	{"noheadings", 'n', NULL, "no header line", FLAG(noheadings)},
	{"notruncate", 'u', NULL, "do not truncate text", FLAG(notruncate)},
	{"output", 'o', "[+]COL,...", "these columns; with +, after the default ones",
	 TEXT(output)},
	{"output-all", 0, NULL, "all columns", FLAG(output_all)},
	{"pairs", 'P', NULL, "KEY=\"value\" pairs", EX(FORM) | EX_LIST,
	 .base = FORM_PAIRS, .parse = parse_format},
	{"quiet", 'q', NULL, "print nothing; only set the exit status", FLAG(quiet)},
	{"raw", 'r', NULL, "raw text, unsafe bytes as \\xhh", EX(FORM) | EX_LIST,
	 .base = FORM_RAW, .parse = parse_format},
	{"shell", 'y', NULL, "column names that are valid shell variables", FLAG(shell)},
	{"stacks", 0, "collapse|nest", "mounts on one point: one row, or nested", WORD(nest)},
	{"tree", 0, NULL, "a tree even where a list is the default", FLAG(tree), EX(TREE)},
	{"vfs-all", 0, NULL, "VFS-OPTIONS with implied defaults", FLAG(vfs_all)},

	OPTION_GROUP("Source of the table"),
	{"fstab", 's', NULL, "/etc/fstab", EX(SOURCE) | EX_ROOT | EX_POLL,
	 SET(in.source), .base = TABLE_FSTAB},
	{"kernel", 'k', "[WAY]", "the kernel: listmount or mountinfo (as -k)",
	 "listmount|mountinfo", EX(SOURCE), WORD(in.source), .base = TABLE_LISTMOUNT, .bare = 1},
	{"mtab", 'm', NULL, "/etc/mtab", EX(SOURCE) | EX_ROOT | EX_POLL,
	 SET(in.source), .base = TABLE_MTAB},
	{"root", 0, "DIR", "the mounts that a process with root DIR sees", ONCE(in.root),
	 EX(ROOT) | EX_FILE},
	{"tab-file", 'F', "FILE", "a recorded mountinfo, or with -s, -m such a file",
	 ONCE(in.tab_file), EX(FILE)},
	{"task", 'N', "PID", "the mount namespace and root of a process",
	 EX(SOURCE) | EX_ROOT | EX_FILE, ID(in.task), .max = INT_MAX},

	OPTION_GROUP("How mounts are named and tested"),
	{"boundaries", 0, NULL, "report mounts that no table lists; --names=walk",
	 FLAG(in.boundaries)},
	{"depth", 0, "N", "do not enter directories deeper than N (0: any)", NUMBER(in.depth, 1e6)},
	{"engine", 0, "auto|sync", "how directories are read", WORD(engine)},
	{"max-time", 0, "SEC", "stop after this time with a partial result",
	 SECONDS(in.max_time, 1e6)},
	{"names", 0, "HOW", "hint, walk, pure or kernel (touches nothing)", "hint|walk|pure|kernel",
	 WORD(in.names)},
	{"probe", 0, "[local|all]", "touch each mount, with a time limit", WORD(in.probe),
	 .base = DP_LOCAL},
	{"search-limit", 0, "N[,SEC]", "limit of the search: directories, seconds",
	 .parse = parse_search_limit},
	{"strict", 0, NULL, "exit 64 also for stale, hung and denied mounts", FLAG(strict)},
	{"threads", 0, "N", "threads that read (0: chosen; 1: exact counts)",
	 NUMBER(in.threads, 256)},
	{"timeout", 0, "SEC", "of --probe: seconds to answer (5); of --poll: as -w",
	 TEXT(timeout_text)},

	OPTION_GROUP("Watching"),
	{"poll", 'p', "[ACTION,...]", "print changes of the table as they happen",
	 "mount|umount|remount|move|propagation", .attached = true, EX(POLL), .parse = parse_poll},
	{NULL, 'w', "MSEC", "of --poll: milliseconds to wait for a change", TEXT(wait_text)},

	OPTION_GROUP("The study of 1988, and diagnostics"),
	{"algorithm", 0, "NAME", "of the search: getmnt3, getmnt2 or getmnt1",
	 "getmnt3|getmnt2|getmnt1", WORD(in.algorithm)},
	{"debug", 0, NULL, "trace the run on standard error", FLAG(in.debug)},
	{"explain", 0, NULL, "print the pruning rules and how often each applied", FLAG(explain)},
	{"identity", 0, "mntid|dev", "identify mounts by mount ID or device number",
	 WORD(in.identity)},
	{"prune", 0, "+RULE,-RULE", "switch pruning rules on and off", .word = rule_word,
	 .parse = parse_prune},
	OPTION_STATS(struct options, stats),

	OPTION_GROUP("General"),
	OPTION_HELP(struct options, help),
	{"version", 'V', NULL, "version, libraries and kernel features", FLAG(version)},

	/* Options of findmnt that are not supported. */
	{"filter", 'Q', "EXPR", "not supported; use -t, -O, -S, or jq on --json", REFUSED},
	{"hyperlink", 0, "[WHEN]", "not supported", REFUSED},
	{"verbose", 0, NULL, "belongs to --verify; use getmnt audit", REFUSED},
	{"verify", 'x', NULL, "not supported; use getmnt audit", REFUSED},
};

const struct option_table discover_options = {
	"discover", option_rows, sizeof(option_rows) / sizeof(*option_rows),
};

void discover_help(FILE *out)
{
	text_say(out, "Usage:\n getmnt [discover] [options] [SOURCE|TARGET ...]\n"
	      " getmnt [discover] [options] SOURCE TARGET\n getmnt COMMAND [options] ...\n\n"
	      "List every mount point with its state: whether its name leads to the mount, and\n"
	      "if not, why.  File systems that can block are not touched.\n"
	      "\nCommands (getmnt help COMMAND):\n");
	commands_help(commands, out);
	options_help(&discover_options, "",
	             "Exit status: 0 complete, 1 error, 32 nothing matched, 64 incomplete.\n", out);
}

/** Parse --timeout and -w, which depend on --poll.  @return 0, or an exit status after a
    message. */
static int finish_timeout(struct options *o)
{
	const char *arg = o->wait_text ? o->wait_text : o->timeout_text;
	const char *name = o->wait_text ? "-w" : "--timeout";
	if (!arg)
		return 0;
	if (o->wait_text && !o->poll)
		return usage_error(name, "requires --poll: the milliseconds to wait for the next "
		                   "change; --max-time limits a run");
	if (!o->poll && !o->in.probe)
		return usage_error(name, "requires --probe (the seconds in which a mount must "
		                   "answer) or --poll (as -w); --max-time limits a run");
	if (!o->poll)
		return option_parse_seconds(name, arg, 1e6, &o->in.timeout);
	if (o->wait_text && o->timeout_text)
		return usage_error("--timeout", "with --poll the same as -w: give one of them");
	uint64_t number;
	bool negative = *arg == '-';
	if (!option_number(arg + negative, INT_MAX, &number))
		return usage_error(name, "\"%s\": with --poll, must be a whole number of "
		                   "milliseconds, at most %d", arg, INT_MAX);
	o->wait = negative ? -1 : (int)number;
	return 0;
}

/** Store and check the operands.  The name of a command is allowed only after "--". */
static int check_operands(struct options *o, int argc, char **argv)
{
	o->pick.operands = argv + optind;
	o->pick.noperands = argc - optind;
	bool dashed = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
	for (int i = 0; i < o->pick.noperands; ++i) {
		if (!*o->pick.operands[i])
			return usage_error("\"\"", "the argument is empty; name a mount point or "
			                   "source");
		if (!dashed && command_find(commands, o->pick.operands[i]))
			return usage_error(o->pick.operands[i],
			                   "a command must be the first argument; for a mount "
			                   "point of this name write ./%s", o->pick.operands[i]);
	}
	if (o->pick.noperands && (o->pick.target || o->pick.mountpoint || o->pick.spec))
		return usage_error(o->pick.operands[0],
		                   "an operand cannot be combined with --source, --target "
		                   "or --mountpoint");
	return 0;
}

int discover_options_read(struct options *o, int argc, char **argv)
{
	*o = (struct options)OPTIONS_DEFAULT;
	int status = options_read(&discover_options, argc, argv, o);
	if (status)
		return status;
	/* EX_TREE refuses --tree with --list, but --format can request a tree or a list too. */
	if (o->tree && o->list)
		return usage_error("--format", "a tree and a list cannot be combined");
	status = finish_timeout(o);
	return status || o->help ? status : check_operands(o, argc, argv);
}

/** A combination of options that is not allowed. */
struct refused {
	bool given;
	const char *option, *why;
};

/** Report the first combination of `rows` that was given.  @prefix  The start of the message.
    @return 0: none was given; or CX_ERROR. */
static int refuse(const struct refused *rows, size_t n, const char *prefix)
{
	for (size_t i = 0; i < n; ++i) {
		if (rows[i].given)
			return usage_error(rows[i].option, "%s%s", prefix, rows[i].why);
	}
	return 0;
}

/** Refuse options that have no effect with --poll, and set --names=kernel. */
static int check_poll(struct options *o)
{
	const struct refused rows[] = {
		{o->form == FORM_JSON, "--json", "a document would never end; use --format=jsonl"},
		{!(output_forms[o->form].flags & FF_POLL), "--format",
		 "only a list, --pairs, --raw and --format=jsonl"},
		{o->tree, "--tree", "only a list, --pairs, --raw and --format=jsonl"},
		{o->in.tab_file != NULL, "--tab-file",
		 "a file does not change; --task watches another namespace"},
		{o->in.root != NULL, "--root",
		 "use -R -M DIR for mounts below DIR, or --task for the root of another process"},
		{o->in.names >= 0 && o->in.names != DN_KERNEL, "--names",
		 "the kernel's names are used; no mount is touched"},
		{o->in.probe, "--probe", "no mount is touched"},
		{o->df, "--df", "no file system is touched"},
		{o->dfi, "--dfi", "no file system is touched"},
		{o->in.boundaries, "--boundaries", "there is no search"},
		{o->explain, "--explain", "there is no search"},
		{o->pick.unmounted, "--unmounted", "only mounts are watched"},
		{o->pick.shadowed, "--shadowed", "single mounts are reported, not stacks"},
		{o->pick.uniq, "--uniq", "every mount is reported"},
		{o->pick.backward, "--direction", "changes are reported in their order"},
		{o->canonicalize, "--canonicalize", "no path is resolved"},
		{o->in.max_time > 0, "--max-time",
		 "there is no search; use timeout(1), or -w to wait for another change"},
	};
	o->in.names = DN_KERNEL;
	return refuse(rows, sizeof(rows) / sizeof(*rows), "not with --poll: ");
}

int discover_options_check(struct options *o)
{
	static const char dead[] = "cannot be combined with --tab-file, --fstab or --mtab: the "
	                           "live system is not touched";
	const bool file = o->in.source == TABLE_FSTAB || o->in.source == TABLE_MTAB;
	const bool recorded = o->in.tab_file || file, named = o->in.names >= 0;
	const struct refused rows[] = {
		{o->in.tab_file && o->in.source == TABLE_LISTMOUNT, "--kernel=listmount",
		 "cannot be combined with --tab-file"},
		{recorded && named && o->in.names != DN_KERNEL, "--names", dead},
		{recorded && o->in.boundaries, "--boundaries", dead},
		{recorded && o->in.probe, "--probe", dead},
		{o->in.tab_file && o->pick.unmounted, "--unmounted",
		 "cannot be combined with --tab-file: the devices are those of this machine"},
		{o->pick.types && !o->pick.types[strspn(o->pick.types, ",")], "--types",
		 "the list is empty; give types, such as ext4,xfs"},
		{o->pick.types && strchr(o->pick.types, ' '), "--types",
		 "a type has no blank; separate types by commas, such as ext4,xfs"},
		{o->in.boundaries && named && o->in.names != DN_WALK && o->in.names != DN_PURE,
		 "--boundaries", "requires a search: --names=walk or --names=pure"},
	};
	if (o->poll)
		return check_poll(o);
	if (refuse(rows, sizeof(rows) / sizeof(*rows), "") != 0)
		return CX_ERROR;
	if (o->in.tab_file && !file)
		o->in.names = DN_KERNEL;
	else if (!named)
		o->in.names = o->in.boundaries ? DN_WALK : DN_HINT;
	if (o->in.max_dirs == 0 && !o->limit_given && o->in.names == DN_HINT) {
		o->in.max_dirs = HINT_DIRS;
		o->in.search_seconds = HINT_SECONDS;
	}
	return 0;
}
