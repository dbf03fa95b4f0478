/* SPDX-License-Identifier: MIT */
/*
 * getmnt fstab: create an fstab from the live mounts; also in the format of genfstab(8).
 *
 *     options --> run_know() --> fstab_plan() --> lines, or comments that say why there is no line
 *                                   ^
 *              devices, swaps, fsck helpers, units, utab
 *
 * With --merge, the plan is merged into an existing fstab: merge.c.
 */
#include "cmd/fstab/merge.h"

#include "audit/selfcheck.h"
#include "base/array.h"
#include "base/escape.h"
#include "base/words.h"
#include "cmd/run.h"
#include "cmd/stats.h"
#include "cmd/text.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Exit statuses of getmnt fstab.  With the options of genfstab(8), the exit status is 1 after any
    error. */
enum { FX_OK = 0, FX_COMMENTS = 1, FX_FAILED = 2 };

struct opts {
	bool genfstab;            /* with the layout and exit status of genfstab(8) */
	bool help, nofail, all;
	int id;                   /* enum fstab_id */
	int options;              /* --options: enum fstab_options; FSTAB_LIVE + 1: keep */
	int stats;                /* enum stats_form */
	const char *tab_file, *swaps, *filter;
	const char *root;
	const char *given;        /* ROOT from --root; or NULL */
	const char *operand;      /* for --merge: ROOT or FILE */
	struct merge_opts merge;
};

/** Parse -t, as genfstab(8) does. */
static int parse_tag(void *to, const struct option_row *row, const char *value)
{
	static const char *const tags[] = {
		[FSTAB_UUID] = "UUID", [FSTAB_LABEL] = "LABEL", [FSTAB_PARTUUID] = "PARTUUID",
		[FSTAB_PARTLABEL] = "PARTLABEL",
	};
	int *id = &((struct opts *)to)->id;
	(void)row;
	for (*id = FSTAB_PARTLABEL; *id > FSTAB_AUTO; --*id) {
		if (strcasecmp(value, tags[*id]) == 0)
			return 0;
	}
	message("-t", "\"%s\": must be one of: UUID, LABEL, PARTUUID, PARTLABEL", value);
	return FX_FAILED;
}

static int parse_genfstab(void *to, const struct option_row *row, const char *value)
{
	(void)to, (void)row, (void)value;
	return usage_error("--genfstab", "must be the first option; the others are then those of "
	                   "genfstab");
}

static int parse_merge(void *to, const struct option_row *row, const char *value)
{
	struct merge_opts *merge = &((struct opts *)to)->merge;
	(void)row;
	merge->merge = true;
	merge->file = value ? value : merge->file;
	return 0;
}

static int parse_fix(void *to, const struct option_row *row, const char *value)
{
	return option_parse_words(row, value, &((struct opts *)to)->merge.fix);
}

static int parse_add(void *to, const struct option_row *row, const char *value)
{
	struct merge_opts *merge = &((struct opts *)to)->merge;
	(void)row;
	for (const char *at = value;; ++at) {
		size_t n = strcspn(at, ",");
		if (n == 0)
			return usage_error("--add", "\"%s\": an empty name; a comma in one is "
			                   "\\054", value);
		if (word_is(at, n, "persistent")) {
			merge->persistent = true;
		} else {
			char *name = strndup(at, n);
			if (!name || !ARRAY_ROOM(merge->add, merge->nadd, &merge->add_room)) {
				free(name);
				return message_error(NULL, ENOMEM, FX_FAILED);
			}
			name[unescape_octal(name, name, n)] = '\0';
			merge->add[merge->nadd++] = name;
		}
		at += n;
		if (!*at)
			return 0;
	}
}

static const struct option_row fstab_rows[] = {
	OPTION_GROUP("Lines"),
	{"id", 0, "ID", "auto, uuid, label, partuuid, partlabel or path",
	 "auto|uuid|label|partuuid|partlabel|path", OPT_IS_WORD(struct opts, id)},
	{NULL, 'U', NULL, "same as --id=uuid", OPT_IS_SET(struct opts, id), .base = FSTAB_UUID},
	{NULL, 'L', NULL, "same as --id=label", OPT_IS_SET(struct opts, id), .base = FSTAB_LABEL},
	{NULL, 'p', NULL, "without effect: pseudo file systems are always left out",
	 .how = OPT_REFUSED, .hidden = true},
	{NULL, 'P', NULL, "only with --genfstab: getmnt fstab --genfstab -P ROOT",
	 .how = OPT_REFUSED, .hidden = true},
	{NULL, 't', "TAG", "same as --id=TAG", "UUID|LABEL|PARTUUID|PARTLABEL",
	 .parse = parse_tag},
	{"nofail", 0, NULL, "nofail for mounts that the boot does not need",
	 OPT_IS_FLAG(struct opts, nofail)},
	{"options", 0, "WHICH", "minimal (no defaults), live (all), keep (of a file)",
	 "minimal|live|keep", OPT_IS_WORD(struct opts, options)},
	OPTION_GROUP("Updating a file"),
	{"merge", 0, "[FILE]", "merge into ROOT/etc/fstab or FILE", .parse = parse_merge},
	{"add", 0, "MOUNT,...", "lines for these mounts; persistent: for all", .parse = parse_add},
	{"fix", 0, "WHAT,...", "change lines: source, options, pass, order, damaged",
	 "source|options|pass|order|damaged", .parse = parse_fix},
	{"base", 0, "FILE|none", "the fstab loaded by systemd; later edits are kept",
	 OPT_IS_TEXT(struct opts, merge.base)},
	PUT_ROWS(struct opts, merge.put),
	OPTION_GROUP("Input"),
	{"root", 0, "DIR", "same as ROOT", OPT_IS_TEXT(struct opts, given)},
	{"swaps", 0, "FILE", "a recorded /proc/swaps", OPT_IS_TEXT(struct opts, swaps)},
	{"tab-file", 'F', "FILE", "a recorded mountinfo instead of the live mounts",
	 OPT_IS_TEXT(struct opts, tab_file)},
	OPTION_GROUP("General"),
	{"explain", 0, NULL, "report on standard error what is left out and why",
	 OPT_IS_FLAG(struct opts, merge.explain)},
	{"genfstab", 0, NULL, "as genfstab(8); must be the first option", .parse = parse_genfstab},
	OPTION_STATS(struct opts, stats),
	OPTION_HELP(struct opts, help),
};

const struct option_table fstab_table = {
	"fstab", fstab_rows, sizeof(fstab_rows) / sizeof(*fstab_rows),
};

/** Check combinations of options.  @return 0, or not 0 after a message. */
static int check_options(const struct merge_opts *opts, bool recorded)
{
	const struct put_options *put = &opts->put;
	const char *alone = opts->base ? "--base" : opts->fix ? "--fix"
	                    : opts->nadd || opts->persistent ? "--add" : put->check ? "--check"
	                    : put->diff ? "--diff" : put->write ? "--write" : put->yes ? "--yes"
	                    : put->force ? "--force" : put->no_backup ? "--no-backup"
	                    : put->force_file ? "--force-file" : NULL;
	if (!opts->merge && alone)
		return usage_error(alone, "requires --merge");
	if (opts->file && !*opts->file)
		return usage_error("--merge", "the file name is empty");
	if (recorded && ((opts->merge && !opts->file) || (opts->keep && !opts->merge)))
		return usage_error(opts->merge ? "--merge" : "--options=keep",
		                   "requires --merge=FILE with a recorded table");
	if (opts->keep && opts->fix & FSTAB_FIX_OPTIONS)
		return usage_error("--fix=options", "changes what --options=keep keeps");
	return opts->merge ? put_check(put) : 0;
}

/** Check that the lines of a plan reproduce the mounts of the plan, and report the differences.
    @return an exit status. */
static int check_plan(const struct fstab_input *in, const struct fstab_plan *plan)
{
	struct strbuf text = {0};
	struct selfcheck check = {0};
	fstab_write_plan(&text, plan, 0);
	int status = FX_OK;
	const struct fstab_match_input match = {NULL, plan, in->root, &in->facts};
	if (text.failed || selfcheck_make(&(struct selfcheck_input){
			.new = strbuf_str(&text), .len = text.len, .d = in->d, .match = &match},
			&check) != 0) {
		status = message_error(NULL, ENOMEM, FX_FAILED);
	} else if (!check.same || check.more) {
		message(in->root, "%s", check.summary);
		for (size_t i = 0; i < check.nnotes; ++i)
			message(in->root, "%s", check.notes[i]);
		status = FX_COMMENTS;
	}
	for (size_t i = 0; i < check.nmisread; ++i)
		message(in->root, "%s", check.misread[i]);
	selfcheck_destroy(&check);
	strbuf_destroy(&text);
	return status;
}

/** Print the plan.  @return an exit status. */
static int print_plan(struct fstab_machine *machine, const struct opts *opts,
                      const struct fstab_input *in, const struct fstab_plan *plan)
{
	struct strbuf out = {0};
	os_mark(MARK_END);
	unsigned form = (isatty(STDOUT_FILENO) ? FSTAB_FORM_TERMINAL : 0)
	                | (opts->genfstab ? FSTAB_FORM_GENFSTAB : 0);
	os_mark(MARK_BEGIN);
	fstab_write_plan(&out, plan, form);
	int status = opts->genfstab ? FX_OK : check_plan(in, plan);
	os_mark(MARK_END);
	if (status == FX_OK && !(machine->run.complete && plan->of[FSTAB_COMMENT] == 0))
		status = FX_COMMENTS;
	if (out.failed) {
		status = message_error(NULL, ENOMEM, FX_FAILED);
	} else if (status != FX_FAILED) {
		bool printed = print_buffer(&out) == 0;
		status = finish_stdout() != 0 || !printed ? FX_FAILED : status;
	}
	strbuf_destroy(&out);
	if (plan->of[FSTAB_COMMENT])
		message(in->root, "%zu of %zu mounts and swap spaces have a comment instead of a "
		        "line", plan->of[FSTAB_COMMENT],
		        plan->of[FSTAB_COMMENT] + plan->of[FSTAB_LINE]);
	return status;
}

/** Make the plan, and print it or merge it into a file.  @return an exit status. */
static int make_fstab(struct fstab_machine *machine, const struct opts *opts, const char *root)
{
	struct run *run = &machine->run;
	if (machine->host.in.system && !opts->genfstab
	    && host_system_is(machine->host.in.system, STDOUT_FILENO, "/etc/fstab")) {
		message("standard output", "this is %s/etc/fstab itself: \"> FILE\" has emptied "
		        "it, \">> FILE\" would add to it what it has; --merge --write keeps what "
		        "is in it, --diff shows what it would change",
		        strcmp(root, "/") == 0 ? "" : root);
		return FX_FAILED;
	}
	struct fstab_input in = {
		.d = run->d, .root = root, .swaps = machine->swaps.list,
		.nswaps = machine->swaps.count, .id = (enum fstab_id)opts->id,
		.options = (enum fstab_options)opts->options, .nofail = opts->nofail,
		.add = (const char *const *)opts->merge.add, .nadd = opts->merge.nadd,
		.filter = opts->filter, .all = opts->all, .facts = machine_facts(machine),
		.no_pseudo = opts->genfstab && !opts->all,
	};
	struct fstab_plan plan = {0};
	int status = FX_FAILED;
	if (opts->merge.merge) {
		status = merge_run(machine, &opts->merge, &in, &plan);
	} else if (fstab_plan(&in, &plan) != 0 || machine_failed(machine)) {
		message(root, "%s", strerror(ENOMEM));
	} else if (!opts->merge.keep || merge_keep(machine, &opts->merge, &in, &plan) == 0) {
		if (opts->merge.explain)
			merge_explain(&plan);
		status = print_plan(machine, opts, &in, &plan);
	}
	fstab_plan_destroy(&plan);
	return status;
}

/** Find out whether the operand of --merge is ROOT, a directory, or FILE.
    @return 0, or an exit status after a message. */
static int parse_operand(struct run *run, struct opts *opts)
{
	struct k_statx st;
	struct strbuf path = {0};
	enum path_followed known =
		run->live ? mounts_follow(run_paths(run), opts->operand, &path) : PATH_SEEN;
	int rc = known != PATH_SEEN ? 0
	         : run->live ? mounts_look(run_paths(run), strbuf_str(&path), K_STATX_TYPE, &st)
	         : os_statx(&run->os, AT_FDCWD, opts->operand, AT_NO_AUTOMOUNT, K_STATX_TYPE, &st);
	strbuf_destroy(&path);
	/* If FILE is known, an operand that does not exist counts as ROOT: ROOT of a recorded table
	   need not exist. */
	bool missing = known == PATH_MISSING || rc != 0;
	bool dir = known == PATH_UNTOUCHED || missing || S_ISDIR(st.mode);
	if (missing && !opts->merge.file)
		return usage_error(opts->operand, "neither a directory nor a file; a new file is "
		                   "named by --merge=FILE");
	*(dir || opts->merge.file ? &opts->root : &opts->merge.file) = opts->operand;
	return 0;
}

/** Read the mounts and the machine, and make the fstab.  @return an exit status. */
static int run_fstab(struct opts *opts)
{
	struct fstab_machine machine;
	struct run *run = &machine.run;
	machine_init(&machine, opts->tab_file);
	int status = FX_FAILED;
	if (run_know(run, DISCOVER_FIELDS | MF_SOURCE | MF_VFS_OPTS | MF_FS_OPTS
	                  | MF_PROPAGATION) != 0)
		goto out;
	if (opts->operand && parse_operand(run, opts) != 0)
		goto out;
	if (check_options(&opts->merge, opts->tab_file) != 0
	    || machine_know(&machine, opts->root, opts->swaps) != 0)
		goto out;
	const char *root = strbuf_str(&machine.root);
	bool mounted = run_has_target(run, root);
	if (!mounted && opts->genfstab) {
		message(opts->root, "is not a mount point");
		goto out;
	}
	if (!mounted)
		message(opts->root, "nothing is mounted there: there is no line for /");
	status = make_fstab(&machine, opts, root);
	for (size_t i = 0; i < run->nreasons; ++i)
		message(NULL, "incomplete: %s", run->reasons[i]);
	if (opts->stats)
		stats_print(run, opts->stats, 0);
out:
	machine_destroy(&machine);
	return status;
}

/** Parse the operands, and check the options.  @return 0, or not 0 after a message. */
static int parse_operands(struct opts *opts, int argc, char **argv)
{
	bool file = opts->merge.merge && !opts->merge.file;
	opts->merge.keep = opts->options > FSTAB_LIVE;
	if (opts->merge.keep)
		opts->options = FSTAB_MINIMAL;
	if (opts->given)
		opts->root = opts->given;
	if (file && optind < argc && (opts->given || optind + 2 == argc))
		opts->merge.file = argv[optind++];
	if (optind < argc && !opts->given)
		*(opts->merge.merge ? &opts->operand : &opts->root) = argv[optind++];
	if (optind < argc || !*opts->root || (opts->operand && !*opts->operand))
		return usage_error("fstab", optind < argc ? "only one ROOT is accepted"
		                   : "ROOT is empty; this system's is \"/\"");
	return check_options(&opts->merge, false);
}

int cmd_fstab(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--genfstab") == 0)
		return cmd_genfstab(argc - 1, argv + 1);
	struct opts opts = {.id = FSTAB_AUTO, .options = FSTAB_MINIMAL, .root = "/"};
	int status = FX_FAILED;
	set_lost_status(FX_FAILED);
	bool good = options_read(&fstab_table, argc, argv, &opts) == 0;
	if (good && opts.help) {
		options_help(&fstab_table,
		             "Usage:\n getmnt fstab [options] [ROOT]\n"
		             " getmnt fstab --merge[=FILE] [options] [ROOT]\n"
		             " getmnt fstab --genfstab [options of genfstab] ROOT\n\n"
		             "Print an fstab for what is mounted at and below ROOT (/), or "
		             "update one.\n",
		             "Exit status: 0 every mount has a line, 1 some have a comment "
		             "instead or with\n--merge differ, 2 could not be checked, 16 could "
		             "not be written.\n", stdout);
		status = finish_stdout() == 0 ? FX_OK : FX_FAILED;
	} else if (good && parse_operands(&opts, argc, argv) == 0) {
		status = run_fstab(&opts);
	}
	for (size_t i = 0; i < opts.merge.nadd; ++i)
		free(opts.merge.add[i]);
	free(opts.merge.add);
	return status;
}

/* genfstab. */

static void genfstab_help(FILE *out)
{
	text_say(out, "usage: genfstab [options] root\n\n"
	      "  Options:\n"
	      "    -f <filter>    Restrict output to mountpoints matching the prefix FILTER\n"
	      "    -L             Use labels for source identifiers (shortcut for -t LABEL)\n"
	      "    -p             Exclude pseudofs mounts (default behavior)\n"
	      "    -P             Include pseudofs mounts\n"
	      "    -t TAG         Use TAG for source identifiers (TAG should be one of: LABEL,\n"
	      "                     UUID, PARTLABEL, PARTUUID)\n"
	      "    -U             Use UUIDs for source identifiers (shortcut for -t UUID)\n\n"
	      "    -h             Print this help message\n\n"
	      "genfstab generates output suitable for addition to an fstab file based on the\n"
	      "devices mounted under the mountpoint specified by the given root.\n");
}

int cmd_genfstab(int argc, char **argv)
{
	static const struct option longs[] = {{"help", no_argument, NULL, 'h'}, {0}};
	struct opts opts = {.id = FSTAB_PATH, .options = FSTAB_LIVE, .genfstab = true};
	int c;
	if (argc < 2) {
		genfstab_help(stdout);
		(void)!finish_stdout();   /* an error has already been reported */
		return 1;
	}
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "+:f:hLpPt:U", longs, NULL)) != -1) {
		switch (c) {
		case 'f':
			opts.filter = optarg;
			break;
		case 'h':
			genfstab_help(stdout);
			return finish_stdout() == 0 ? 0 : 1;
		case 'L':
			opts.id = FSTAB_LABEL;
			break;
		case 'U':
			opts.id = FSTAB_UUID;
			break;
		case 'p':
		case 'P':
			opts.all = c == 'P';
			break;
		case 't':
			if (parse_tag(&opts, NULL, optarg) != 0)
				return 1;
			break;
		default:
			message(argv[optind - 1], c == ':' ? "needs an argument"
			        : "no such option of genfstab");
			return 1;
		}
	}
	if (optind == argc || !*argv[optind]) {
		message("genfstab", "no root directory specified");
		return 1;
	}
	opts.root = argv[optind];
	return run_fstab(&opts) == FX_OK ? 0 : 1;
}
