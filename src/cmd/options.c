/* SPDX-License-Identifier: MIT */
#include "cmd/options.h"

#include "cmd/cmd.h"
#include "table/tablediff.h"

#include <errno.h>
#include <getopt.h>
#include <libmount.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options of which at most one may be given. */
enum {
	EX_CANON_C  = 1 << 0,   /* -C -c */
	EX_CANON_E  = 1 << 1,   /* -C -e */
	EX_TARGET   = 1 << 2,   /* -M -T */
	EX_SOURCE   = 1 << 3,   /* -N -k -m -s */
	EX_PSEUDO   = 1 << 4,   /* --pseudo --real */
	EX_LIST     = 1 << 5,   /* -l -P -r */
	EX_FORM     = 1 << 6,   /* -J -P -r, a --format of its own */
	EX_TREE     = 1 << 7,   /* -l --tree */
	EX_FILE     = 1 << 8,   /* -F -N --root */
	EX_COLUMNS  = 1 << 9,   /* -D -I */
	EX_ROOT     = 1 << 10,  /* --root -N -m -s */
	EX_POLL     = 1 << 11,  /* -m -p -s */
};

#define AT(field) offsetof(struct options, field)

static int take_mount_options(struct options *o, const struct option_row *row, const char *arg);
static int take_names(struct options *o, const struct option_row *row, const char *arg);
static int take_search_limit(struct options *o, const struct option_row *row, const char *arg);
static int take_format(struct options *o, const struct option_row *row, const char *arg);
static int take_kernel(struct options *o, const struct option_row *row, const char *arg);
static int take_poll(struct options *o, const struct option_row *row, const char *arg);
static int take_probe(struct options *o, const struct option_row *row, const char *arg);
static int take_prune(struct options *o, const struct option_row *row, const char *arg);
static int take_stats(struct options *o, const struct option_row *row, const char *arg);
static int take_table(struct options *o, const struct option_row *row, const char *arg);
static int take_task(struct options *o, const struct option_row *row, const char *arg);
static int take_timeout(struct options *o, const struct option_row *row, const char *arg);

const struct option_row option_rows[] = {
	/* Which table. */
	{"fstab", 's', OG_TABLE, ARG_NONE, OH_CALL, NULL,
	 "the file systems of /etc/fstab", .excludes = EX_SOURCE | EX_ROOT | EX_POLL, .take = take_table},
	{"kernel", 'k', OG_TABLE, ARG_MAY, OH_CALL, "listmount|mountinfo",
	 "the kernel's table (the default), read in this way; -k is --kernel=mountinfo",
	 .excludes = EX_SOURCE, .take = take_kernel},
	{"mtab", 'm', OG_TABLE, ARG_NONE, OH_CALL, NULL,
	 "the file systems of /etc/mtab", .excludes = EX_SOURCE | EX_ROOT | EX_POLL, .take = take_table},
	{"root", 0, OG_TABLE, ARG_NEEDED, OH_STRING, "DIR",
	 "as a process whose root is DIR sees it", AT(root), EX_ROOT | EX_FILE},
	{"tab-file", 'F', OG_TABLE, ARG_NEEDED, OH_STRING, "FILE",
	 "a recorded mountinfo (- is standard input), or a file for -s and -m; nothing live is touched",
	 AT(tab_file), EX_FILE},
	{"task", 'N', OG_TABLE, ARG_NEEDED, OH_CALL, "PID",
	 "the mount namespace and root of a process", .excludes = EX_SOURCE | EX_ROOT | EX_FILE, .take = take_task},

	/* Which mounts. */
	{"all", 'A', OG_WHICH, ARG_NONE, OH_FLAG, NULL,
	 "no built-in filter (of -D, -I, --real, --pseudo)", AT(all)},
	{"direction", 'd', OG_WHICH, ARG_NEEDED, OH_WORD, "forward|backward",
	 "the order in which the table is gone through", AT(backward)},
	{"first-only", 'f', OG_WHICH, ARG_NONE, OH_FLAG, NULL, "the first match alone", AT(first_only)},
	{"id", 0, OG_WHICH, ARG_NEEDED, OH_ID, "NUMBER", "the mount of this ID", AT(id)},
	{"invert", 'i', OG_WHICH, ARG_NONE, OH_FLAG, NULL, "what does not match", AT(invert)},
	{"mountpoint", 'M', OG_WHICH, ARG_NEEDED, OH_STRING, "PATH",
	 "the mount on this mount point", AT(mountpoint), EX_TARGET},
	{"options", 'O', OG_WHICH, ARG_NEEDED, OH_CALL, "LIST",
	 "by mount options; \"noOPTION\" is without it", .take = take_mount_options},
	{"pseudo", 0, OG_WHICH, ARG_NONE, OH_FLAG, NULL, "pseudo file systems alone", AT(pseudo), EX_PSEUDO},
	{"real", 0, OG_WHICH, ARG_NONE, OH_FLAG, NULL, "real file systems alone", AT(real), EX_PSEUDO},
	{"shadowed", 0, OG_WHICH, ARG_NONE, OH_FLAG, NULL,
	 "mounts that another one is mounted over", AT(shadowed)},
	{"source", 'S', OG_WHICH, ARG_NEEDED, OH_STRING, "SPEC",
	 "by device, MAJ:MIN, LABEL=, UUID=, PARTLABEL=, PARTUUID=", AT(spec)},
	{"submounts", 'R', OG_WHICH, ARG_NONE, OH_FLAG, NULL,
	 "with all mounts below those that match", AT(submounts)},
	{"target", 'T', OG_WHICH, ARG_NEEDED, OH_STRING, "PATH",
	 "the mount that holds this file or directory", AT(target), EX_TARGET},
	{"types", 't', OG_WHICH, ARG_NEEDED, OH_STRING, "LIST",
	 "by file system type; a \"no\" before the list is all but these", AT(types)},
	{"uniq", 'U', OG_WHICH, ARG_NONE, OH_FLAG, NULL, "one mount for each target: the last", AT(uniq)},
	{"uniq-id", 0, OG_WHICH, ARG_NEEDED, OH_ID, "NUMBER", "the mount of this 64-bit ID", AT(uniq_id)},
	{"unmounted", 0, OG_WHICH, ARG_NONE, OH_FLAG, NULL,
	 "add the devices with a file system that is not mounted", AT(unmounted)},

	/* How they are found. */
	{"algorithm", 0, OG_HOW, ARG_NEEDED, OH_WORD, "getmnt3|getmnt2|getmnt1",
	 "the search: breadth-first and pruned; depth-first and pruned; exhaustive", AT(algorithm)},
	{"boundaries", 0, OG_HOW, ARG_NONE, OH_FLAG, NULL,
	 "report the boundaries that no table lists; implies --names=walk", AT(boundaries)},
	{"depth", 0, OG_HOW, ARG_NEEDED, OH_UINT, "N",
	 "enter no directory deeper than this (0: no bound)", AT(depth), .max = 1e6},
	{"engine", 0, OG_HOW, ARG_NEEDED, OH_WORD, "auto|sync",
	 "how directories are read", AT(engine)},
	{"identity", 0, OG_HOW, ARG_NEEDED, OH_WORD, "mntid|dev",
	 "tell mounts by mount ID, or by device number as in 1988", AT(identity)},
	{"max-time", 0, OG_HOW, ARG_NEEDED, OH_SECONDS, "SEC",
	 "end after this time with what is known: incomplete", AT(max_time), .max = 1e6},
	{"names", 0, OG_HOW, ARG_NEEDED, OH_CALL, "hint|walk|pure|kernel",
	 "test the kernel's names; search for them; by IDs alone; touch nothing", .take = take_names},
	{"probe", 0, OG_HOW, ARG_MAY, OH_CALL, "local|all",
	 "touch each mount with a deadline: those held not to block (the default), or all; "
	 "no more than 16 of one user's that hang",
	 .take = take_probe},
	{"prune", 0, OG_HOW, ARG_NEEDED, OH_CALL, "+RULE,-RULE",
	 "switch pruning rules (see --explain)", .take = take_prune},
	{"search-limit", 0, OG_HOW, ARG_NEEDED, OH_CALL, "DIRS[,SEC]",
	 "bound the search (default with --names=hint: 20000,2; 0: no bound)", .take = take_search_limit},
	{"strict", 0, OG_HOW, ARG_NONE, OH_FLAG, NULL,
	 "exit 64 also for stale, hung and denied mounts", AT(strict)},
	{"threads", 0, OG_HOW, ARG_NEEDED, OH_UINT, "N",
	 "threads that read (0: chosen; 1: exact counts)", AT(threads), .max = 256},
	{"timeout", 'w', OG_HOW, ARG_NEEDED, OH_CALL, "NUM",
	 "the seconds that one probe may take (default 5); with --poll, and as -w, the milliseconds to "
	 "wait for one more event", .max = 1e6, .take = take_timeout},

	/* How they are shown. */
	{"ascii", 'a', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "draw the tree in ASCII", AT(ascii)},
	{"bytes", 'b', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "sizes in bytes", AT(bytes)},
	{"canonicalize", 'c', OG_SHOWN, ARG_NONE, OH_FLAG, NULL,
	 "sources by their canonical names", AT(canonicalize), EX_CANON_C},
	{"df", 'D', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "the columns of df(1)", AT(df), EX_COLUMNS},
	{"dfi", 'I', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "the columns of df -i", AT(dfi), EX_COLUMNS},
	{"evaluate", 'e', OG_SHOWN, ARG_NONE, OH_FLAG, NULL,
	 "LABEL= and the like as device names", AT(evaluate), EX_CANON_E},
	{"format", 0, OG_SHOWN, ARG_NEEDED, OH_CALL, "tree|list|mtab|fstab|setmnt|dot|jsonl",
	 "the form of output", .take = take_format},
	{"json", 'J', OG_SHOWN, ARG_NONE, OH_CALL, NULL, "JSON", .excludes = EX_FORM, .take = take_format},
	{"list", 'l', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "a list, a row for each mount", AT(list),
	 EX_LIST | EX_TREE},
	{"list-columns", 'H', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "the columns that -o takes", AT(list_columns)},
	{"nocanonicalize", 'C', OG_SHOWN, ARG_NONE, OH_FLAG, NULL,
	 "compare paths as they are written", AT(nocanonicalize), EX_CANON_C | EX_CANON_E},
	{"nofsroot", 'v', OG_SHOWN, ARG_NONE, OH_FLAG, NULL,
	 "no [/dir] behind the source of a bind mount or subvolume", AT(nofsroot)},
	{"noheadings", 'n', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "no header line", AT(noheadings)},
	{"notruncate", 'u', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "cut no text", AT(notruncate)},
	{"output", 'o', OG_SHOWN, ARG_NEEDED, OH_STRING, "[+]COL,...",
	 "these columns (+: behind the usual ones)", AT(output)},
	{"output-all", 0, OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "all columns", AT(output_all)},
	{"pairs", 'P', OG_SHOWN, ARG_NONE, OH_CALL, NULL, "KEY=\"value\" pairs",
	 .excludes = EX_FORM | EX_LIST, .take = take_format},
	{"quiet", 'q', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "print nothing: the exit status tells", AT(quiet)},
	{"raw", 'r', OG_SHOWN, ARG_NONE, OH_CALL, NULL, "raw text, unsafe bytes as \\xhh",
	 .excludes = EX_FORM | EX_LIST, .take = take_format},
	{"shell", 'y', OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "column names fit for shell variables", AT(shell)},
	{"stacks", 0, OG_SHOWN, ARG_NEEDED, OH_WORD, "collapse|nest",
	 "mounts on one point as one node of a tree, or each in the other", AT(nest)},
	{"tree", 0, OG_SHOWN, ARG_NONE, OH_FLAG, NULL, "a tree, where there can be one", AT(tree), EX_TREE},
	{"vfs-all", 0, OG_SHOWN, ARG_NONE, OH_FLAG, NULL,
	 "VFS-OPTIONS with those that are in force unsaid", AT(vfs_all)},

	/* Watching. */
	{"poll", 'p', OG_POLL, ARG_ATTACHED, OH_CALL, "mount|umount|remount|move|propagation",
	 "watch the table, and print each change: those of a list, behind a + beside the usual ones; all "
	 "but propagation are usual", .excludes = EX_POLL, .take = take_poll},

	/* How it went. */
	{"debug", 0, OG_STUDY, ARG_NONE, OH_FLAG, NULL, "tell on standard error what is done", AT(debug)},
	{"explain", 0, OG_STUDY, ARG_NONE, OH_FLAG, NULL,
	 "the pruning rules, and how often each applied", AT(explain)},
	{"stats", 0, OG_STUDY, ARG_MAY, OH_CALL, "text|json",
	 "kernel calls and counts on standard error", .take = take_stats},

	{"help", 'h', OG_GENERAL, ARG_NONE, OH_FLAG, NULL, "this help", AT(help)},
	{"version", 'V', OG_GENERAL, ARG_NONE, OH_FLAG, NULL,
	 "version, libraries, and what the kernel has", AT(version)},

	/* findmnt's, not taken. */
	{"dump-completion", 0, OG_HIDDEN, ARG_NONE, OH_FLAG, NULL, "the bash completion", AT(dump_completion)},
	{"filter", 'Q', OG_HIDDEN, ARG_NEEDED, OH_REFUSED, "EXPR",
	 "not in this version; select by -t, -O, -S, or by jq from --json"},
	{"hyperlink", 0, OG_HIDDEN, ARG_MAY, OH_REFUSED, "WHEN",
	 "not in this version; names are printed as they are"},
	{"verbose", 0, OG_HIDDEN, ARG_NONE, OH_REFUSED, NULL,
	 "belongs to --verify; `getmnt audit` judges the fstab"},
	{"verify", 'x', OG_HIDDEN, ARG_NONE, OH_REFUSED, NULL,
	 "`getmnt audit` judges the fstab, and what is mounted by it"},
	{NULL, 0, OG_HIDDEN, ARG_NONE, OH_REFUSED, NULL, NULL},
};

enum { NROWS = sizeof(option_rows) / sizeof(*option_rows) - 1 };

/** An option as messages write it. */
static const char *row_title(const struct option_row *row, char title[static 40])
{
	if (row->name)
		snprintf(title, 40, "--%s", row->name);
	else
		snprintf(title, 40, "-%c", row->letter);
	return title;
}

static int bad_argument(const struct option_row *row, const char *arg, const char *want)
{
	char title[40];
	return usage_error(row_title(row, title), "\"%s\": %s", arg, want);
}

/** The number of a word in "a|b|c", or -1. */
static int word_number(const char *words, const char *word)
{
	size_t len = strlen(word);
	for (int i = 0;; ++i) {
		size_t n = strcspn(words, "|");
		if (n == len && strncmp(words, word, n) == 0)
			return i;
		if (!words[n])
			return -1;
		words += n + 1;
	}
}

static int bad_word(const struct option_row *row, const char *arg)
{
	char title[40];
	return usage_error(row_title(row, title), "\"%s\": not one of %s", arg, row->argument);
}

bool option_number(const char *text, uint64_t max, uint64_t *number)
{
	if (*text < '0' || *text > '9')
		return false;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || *end || value > max)
		return false;
	*number = value;
	return true;
}

bool option_seconds(const char *text, double max, double *seconds)
{
	char *end;
	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	if (strpbrk(text, "xXnN"))
		return false;
	double value = strtod(text, &end);
	if (end == text || *end || !isfinite(value) || value < 0 || value > max)
		return false;
	*seconds = value;
	return true;
}

static int take_kernel(struct options *o, const struct option_row *row, const char *arg)
{
	int word = arg ? word_number(row->argument, arg) : 1;
	if (word < 0)
		return bad_word(row, arg);
	o->source = word == 0 ? TABLE_LISTMOUNT : TABLE_MOUNTINFO;
	return 0;
}

static int take_probe(struct options *o, const struct option_row *row, const char *arg)
{
	int word = arg ? word_number(row->argument, arg) : 0;
	if (word < 0)
		return bad_word(row, arg);
	o->probe = word == 0 ? DP_LOCAL : DP_ALL;
	return 0;
}

static int take_table(struct options *o, const struct option_row *row, const char *arg)
{
	(void)arg;
	o->source = row->letter == 's' ? TABLE_FSTAB : TABLE_MTAB;
	return 0;
}

static int take_task(struct options *o, const struct option_row *row, const char *arg)
{
	uint64_t pid;
	if (!option_number(arg, INT_MAX, &pid) || pid == 0)
		return bad_argument(row, arg, "not the number of a process");
	o->task = (pid_t)pid;
	return 0;
}

/** -O: each item has a name, behind its "+" or "no".  libmount 2.38 matches
    one that has none by memory that nobody wrote. */
static int take_mount_options(struct options *o, const struct option_row *row, const char *arg)
{
	char *at = strdupa(arg), *name;
	size_t len;
	int rc;
	while ((rc = mnt_optstr_next_option(&at, &name, &len, NULL, NULL)) == 0) {
		if ((len == 1 && *name == '+') || (len == 2 && memcmp(name, "no", 2) == 0))
			return bad_argument(row, arg, "an item without the name of an option");
	}
	if (rc < 0)
		return bad_argument(row, arg, "not a list of options, as ro,nosuid");
	o->mount_options = arg;
	return 0;
}

static int take_names(struct options *o, const struct option_row *row, const char *arg)
{
	o->names = word_number(row->argument, arg);
	if (o->names < 0)
		return bad_word(row, arg);
	o->names_given = true;
	return 0;
}

static int take_format(struct options *o, const struct option_row *row, const char *arg)
{
	static const int forms[] = {
		FORM_DEFAULT, FORM_DEFAULT, FORM_MTAB, FORM_FSTAB, FORM_SETMNT, FORM_DOT, FORM_JSONL,
	};
	int form;
	if (!arg) {
		form = row->letter == 'J' ? FORM_JSON : row->letter == 'P' ? FORM_PAIRS : FORM_RAW;
	} else {
		int word = word_number(row->argument, arg);
		if (word < 0)
			return bad_word(row, arg);
		form = forms[word];
		o->tree |= word == 0;
		o->list |= word == 1;
	}
	if (form != FORM_DEFAULT) {
		if (o->form != FORM_DEFAULT && o->form != form) {
			char title[40];
			return usage_error(row_title(row, title), "one form of output at a time");
		}
		o->form = form;
	}
	return 0;
}

static int take_stats(struct options *o, const struct option_row *row, const char *arg)
{
	int word = arg ? word_number(row->argument, arg) : 0;
	if (word < 0)
		return bad_word(row, arg);
	o->stats = word == 0 ? STATS_TEXT : STATS_JSON;
	return 0;
}

/** --search-limit=DIRS[,SEC]. */
static int take_search_limit(struct options *o, const struct option_row *row, const char *arg)
{
	char dirs[24];
	size_t n = strcspn(arg, ",");
	if (n >= sizeof(dirs))
		return bad_argument(row, arg, "out of range");
	memcpy(dirs, arg, n);
	dirs[n] = '\0';
	double seconds = 0;
	if (!option_number(dirs, UINT64_MAX, &o->max_dirs)
	    || (arg[n] && !option_seconds(arg + n + 1, 1e6, &seconds)))
		return bad_argument(row, arg, "not DIRS or DIRS,SECONDS");
	o->search_seconds = seconds;
	o->limit_given = true;
	return 0;
}

/** --poll[=[+]ACTION,...] */
static int take_poll(struct options *o, const struct option_row *row, const char *arg)
{
	o->poll = true;
	o->poll_kinds = CHANGE_MOUNT | CHANGE_UMOUNT | CHANGE_REMOUNT | CHANGE_MOVE;
	if (!arg)
		return 0;
	if (*arg == '+')
		++arg;
	else
		o->poll_kinds = 0;
	for (;;) {
		char word[16] = "";
		size_t n = strcspn(arg, ",");
		memcpy(word, arg, n < sizeof(word) ? n : 0);
		int action = word_number(row->argument, word);
		if (action < 0) {
			char title[40];
			return usage_error(row_title(row, title), "\"%.*s\": not one of the actions %s", (int)n,
			                   arg, row->argument);
		}
		/* The words stand in the order of the bits. */
		o->poll_kinds |= 1u << action;
		if (!arg[n])
			return 0;
		arg += n + 1;
	}
}

static int take_prune(struct options *o, const struct option_row *row, const char *arg)
{
	for (const char *word = arg;;) {
		size_t n = strcspn(word, ",");
		int rule = -1;
		char name[16];
		if (n > 1 && n <= sizeof(name) && (*word == '+' || *word == '-')) {
			memcpy(name, word + 1, n - 1);
			name[n - 1] = '\0';
			rule = discover_rule(name);
		}
		if (rule < 0) {
			struct strbuf names;
			strbuf_init(&names);
			for (int i = 0; discover_rules[i].name; ++i)
				strbuf_printf(&names, "%s%s", i ? ", " : "", discover_rules[i].name);
			char title[40];
			usage_error(row_title(row, title), "\"%.*s\": not + or - and one of the rules %s",
			            (int)n, word, strbuf_str(&names));
			strbuf_destroy(&names);
			return CX_ERROR;
		}
		unsigned bit = 1u << rule;
		o->prune_on = *word == '+' ? o->prune_on | bit : o->prune_on & ~bit;
		o->prune_off = *word == '-' ? o->prune_off | bit : o->prune_off & ~bit;
		if (!word[n])
			return 0;
		word += n + 1;
	}
}

static int take_seconds(const struct option_row *row, const char *arg, double *seconds)
{
	char title[40];
	if (option_seconds(arg, row->max, seconds) && *seconds > 0)
		return 0;
	return usage_error(row_title(row, title),
	                   "\"%s\": not a time in seconds, above 0 and up to %.0f", arg, row->max);
}

/** --timeout: what it means, --poll tells, which may stand behind it. */
static int take_timeout(struct options *o, const struct option_row *row, const char *arg)
{
	(void)row;
	o->timeout_text = arg;
	return 0;
}

/** Understand --timeout, when all options are known. */
static int finish_timeout(struct options *o)
{
	const struct option_row *row = option_rows;
	const char *arg = o->timeout_text;
	uint64_t number;
	o->wait = -1;
	if (!arg)
		return 0;
	while (row->take != take_timeout)
		++row;
	if (!o->poll && o->timeout_letter) {
		message("-w", "milliseconds that --poll waits for one more event; give it with --poll");
		return CX_ERROR;
	}
	if (!o->poll)
		return take_seconds(row, arg, &o->timeout);
	bool negative = *arg == '-';
	if (!option_number(arg + negative, INT_MAX, &number))
		return usage_error(o->timeout_letter ? "-w" : "--timeout", "\"%s\": not a number of "
		                   "milliseconds up to %d", arg, INT_MAX);
	o->wait = negative ? -1 : (int)number;
	return 0;
}

/** Take one option.  @return 0, or an exit status. */
static int take_option(struct options *o, const struct option_row *row, const char *arg)
{
	void *field = (char *)o + row->offset;
	uint64_t number;
	char title[40];

	switch ((enum option_how)row->how) {
	case OH_FLAG:
		*(bool *)field = true;
		return 0;
	case OH_STRING:
		if (row->excludes & EX_FILE && *(const char **)field)
			return usage_error(row_title(row, title), "given twice; one table at a time");
		*(const char **)field = arg;
		return 0;
	case OH_WORD:
		*(int *)field = word_number(row->argument, arg);
		return *(int *)field < 0 ? bad_word(row, arg) : 0;
	case OH_UINT:
		if (!option_number(arg, (uint64_t)row->max, &number))
			return usage_error(row_title(row, title), "\"%s\": not a number from 0 to %.0f",
			                   arg, row->max);
		*(unsigned *)field = (unsigned)number;
		return 0;
	case OH_ID:
		if (!option_number(arg, UINT64_MAX, &number) || number == 0)
			return bad_argument(row, arg, "not an ID");
		*(uint64_t *)field = number;
		return 0;
	case OH_SECONDS:
		return take_seconds(row, arg, field);
	case OH_CALL:
		return row->take(o, row, arg);
	case OH_REFUSED:
		message(row_title(row, title), "%s", row->help);
		return CX_ERROR;
	}
	return CX_ERROR;
}

/** See that a row goes with those given before.  @return 0, or an exit status. */
static int check_excludes(const struct option_row *row, const struct option_row **given)
{
	for (int i = 0; i < 32; ++i) {
		if (!(row->excludes & 1u << i))
			continue;
		if (given[i] && given[i] != row) {
			char title[40], other[40];
			return usage_error(row_title(row, title), "excludes %s; give one of them",
			                   row_title(given[i], other));
		}
		given[i] = row;
	}
	return 0;
}

/** Words of the command line that getopt would take for something else. */
static int check_operands(struct options *o, int argc, char **argv, size_t dashed)
{
	o->operands = argv + optind;
	o->noperands = argc - optind;
	for (int i = 0; i + (int)dashed < o->noperands; ++i) {
		if (command_find(o->operands[i]))
			return usage_error(o->operands[i], "a command comes first; a mount point of this "
			                   "name is given as ./%s or after --", o->operands[i]);
	}
	if (o->noperands && (o->target || o->mountpoint || o->spec))
		return usage_error(o->operands[0], "an operand is a source or a target by itself; "
		                   "give it without --source, --target and --mountpoint");
	return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
	static const int long_argument[] = {
		[ARG_NONE] = no_argument, [ARG_NEEDED] = required_argument,
		[ARG_MAY] = optional_argument, [ARG_ATTACHED] = optional_argument,
	};
	struct option longs[NROWS + 1];
	char letters[3 * NROWS + 2] = ":";
	size_t nlongs = 0, nletters = 1;
	for (int i = 0; i < NROWS; ++i) {
		const struct option_row *row = &option_rows[i];
		if (row->name)
			longs[nlongs++] = (struct option){row->name, long_argument[row->arg], NULL, 256 + i};
		if (row->letter) {
			letters[nletters++] = row->letter;
			if (row->arg == ARG_NEEDED || row->arg == ARG_ATTACHED)
				letters[nletters++] = ':';
			if (row->arg == ARG_ATTACHED)
				letters[nletters++] = ':';
		}
	}
	longs[nlongs] = (struct option){0};
	letters[nletters] = '\0';

	*o = (struct options){.source = TABLE_AUTO, .timeout = 5};
	size_t dashed = 0;
	for (int i = 1; i < argc; ++i) {
		if (strcmp(argv[i], "--") == 0) {
			dashed = (size_t)(argc - i - 1);
			break;
		}
	}

	/* -k takes its argument behind a '=' alone, so that -kl is -k -l. */
	for (int i = 1; i < argc - (int)dashed; ++i) {
		char *as_long = NULL;
		if (strncmp(argv[i], "-k=", 3) == 0 && asprintf(&as_long, "--kernel%s", argv[i] + 2) > 0)
			argv[i] = as_long;   /* lives as long as the arguments */
	}

	const struct option_row *given[32] = {NULL};
	opterr = 0;
	optind = 0;   /* GNU: begin anew */
	for (;;) {
		int c = getopt_long(argc, argv, letters, longs, NULL);
		if (c == -1)
			break;
		if (c == '?' || c == ':') {
			char letter[3] = {'-', (char)optopt, '\0'};
			const char *word = optopt > 0 && optopt < 256 ? letter : argv[optind - 1];
			if (c == ':')
				return usage_error(word, "needs an argument");
			if (optopt >= 256)
				return usage_error(word, "takes no argument");
			return usage_error(word, "no such option, or not clear which");
		}
		const struct option_row *row = c >= 256 ? &option_rows[c - 256] : option_rows;
		while (c < 256 && row->letter != c)
			++row;
		o->timeout_letter |= c == 'w';
		int status = check_excludes(row, given);
		if (!status)
			status = take_option(o, row, row->arg == ARG_NONE || c == 'k' ? NULL : optarg);
		if (status)
			return status;
	}
	/* Each of them can be said by --format as well. */
	if (o->tree && o->list)
		return usage_error("--format", "a tree and a list: give one of them");
	int status = finish_timeout(o);
	return status ? status : check_operands(o, argc, argv, dashed);
}
