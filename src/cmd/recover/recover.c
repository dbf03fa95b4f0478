/* SPDX-License-Identifier: MIT */
/*
 * getmnt recover: check a file that lists mounts line by line, and rebuild it.
 *
 *     options --> run_know() --> names --.
 *                                         >-- rec_check() --> findings, or
 *     put_open() --> lines --------------'    rec_build() --> the file: put_finish()
 *
 * Exit status: 0 correct or fixed, 1 differences found, 2 could not be checked, 16 could not be
 * written.
 */
#include "cmd/recover/recover.h"

#include "base/command.h"
#include "cmd/progress.h"
#include "cmd/putfile.h"
#include "cmd/run.h"
#include "cmd/stats.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	LINES_MAX = 2000000,     /* maximum lines of a file: 20 times the default of
	                            fs.mount-max */
	REPORTED_NAMELESS = 5,   /* maximum mounts without a name that are reported singly */
};

static const struct option_row recover_rows[] = {
	OPTION_GROUP("Report"),
	{"all", 'a', NULL, "report correct lines as well", OPT_IS_FLAG(struct recover_opts, all)},
	{"json", 'J', NULL, "the report as JSON: a row for each line and mount",
	 OPT_IS_FLAG(struct recover_opts, json)},
	{"print", 'p', NULL, "print the corrected file; write nothing",
	 OPT_IS_FLAG(struct recover_opts, print)},
	PUT_ROWS(struct recover_opts, put),
	OPTION_GROUP("Input"),
	{"format", 0, "FORMAT", "format of FILE: mtab, mnttab, setmnt", "mtab|mnttab|setmnt",
	 OPT_IS_WORD(struct recover_opts, format)},
	{"keep", 0, "checked|all|none", "options that the kernel does not know",
	 OPT_IS_WORD(struct recover_opts, keep)},
	{"names", 0, "HOW", "as in getmnt discover: hint, walk, pure, kernel",
	 "hint|walk|pure|kernel", OPT_IS_WORD(struct recover_opts, names)},
	{"root", 0, "DIR", "the mounts and FILE as seen with DIR as the root",
	 OPT_IS_TEXT(struct recover_opts, root)},
	{"tab-file", 'F', "FILE", "a recorded mountinfo instead of the live mounts",
	 OPT_IS_TEXT(struct recover_opts, tab_file)},
	OPTION_GROUP("General"),
	OPTION_STATS(struct recover_opts, stats),
	OPTION_HELP(struct recover_opts, help),
};

const struct option_table recover_table = {
	"recover", recover_rows, sizeof(recover_rows) / sizeof(*recover_rows),
};

/** Check combinations of options, and set the defaults of FILE and --format.
    @return 0, or an exit status after a message. */
static int check_opts(struct recover_opts *opts)
{
	const struct put_options *put = &opts->put;
	if (opts->print && (opts->json || put->check || put->diff || put->write))
		return usage_error("--print", "cannot be combined with --json, --check, --diff or "
		                   "--write");
	if (opts->json && (put->diff || put->write))
		return usage_error("--json", "cannot be combined with --diff or --write");
	if (opts->tab_file && opts->names >= 0 && opts->names != DN_KERNEL)
		return usage_error("--names", "cannot be combined with --tab-file: nothing live is "
		                   "touched");
	if (opts->root && (!*opts->root || (opts->file && *opts->file != '/')))
		return usage_error(opts->root, *opts->root ? "with --root FILE must be an absolute "
		                   "path" : "the root is empty");
	/* Refuse --names=kernel: it does not test whether the root, below which FILE is read, can
	   block. */
	if (opts->root && strcmp(opts->root, "/") != 0 && !opts->tab_file
	    && opts->names == DN_KERNEL)
		return usage_error("--names=kernel", "cannot be combined with --root, below which "
		                   "FILE is read");
	if (opts->file && !*opts->file)
		return usage_error("recover", "FILE is empty; the default is /etc/mtab");
	if (opts->file && (strcmp(opts->file, "-") == 0 || strcmp(opts->file, "/dev/stdin") == 0
	                    || strncmp(opts->file, "/dev/fd/", 8) == 0))
		return usage_error(opts->file, "a descriptor cannot be replaced; give the name of "
		                   "a file");
	if (opts->format < 0) {
		const char *base = opts->file ? strrchr(opts->file, '/') : NULL;
		base = base ? base + 1 : opts->file;
		opts->format = base && strcmp(base, "mnttab") == 0 ? REC_MNTTAB : REC_MTAB;
		opts->format_named = true;
	}
	if (!opts->file && opts->format == REC_SETMNT)
		return usage_error("--format=setmnt", "requires FILE");
	if (!opts->file)
		opts->file = opts->format == REC_MNTTAB ? "/etc/mnttab" : "/etc/mtab";
	return put_check(put);
}

/** Report that FILE cannot be checked.  @return an exit status. */
static int cannot_check(const struct recovery *r, const char *why)
{
	message(strbuf_str(&r->name), "cannot be checked: %s", why);
	return PX_NOT_CHECKED;
}

/** Report that FILE is a file of /proc or a symlink to a file of /proc.
    @link   The target of the symlink; NULL: FILE is not a symlink.
    @right  The file of /proc is the kernel's mount table in the format of an mtab.
    @return an exit status. */
static int report_link(struct recovery *r, const char *link, bool right)
{
	const char *name = strbuf_str(&r->name);
	r->link = link;
	r->right = right;
	if (r->opts->json) {
		if (recover_json(r) != 0)
			return cannot_check(r, strerror(ENOMEM));
	} else if (right) {
		message(name, "right: %s%s is the kernel's own table", link ? "a symlink; " : "",
		        link ? link : "it");
	} else if (link) {
		message(name, "wrong: a symlink to %s, which does not have the format of an mtab; "
		        "replace it by ln -sfn /proc/self/mounts, or by a file with --force-file",
		        link);
	} else {
		message(name, "wrong: a file of /proc without the format of an mtab");
	}
	return right ? PX_OK : PX_DIFFERENT;
}

/* Mounts. */

/** Report the mounts without a name. */
static void report_nameless(const struct recovery *r)
{
	const struct discovery *d = r->run.d;
	size_t found = 0;
	for (uint32_t i = 0; i < d->tree.count && found < r->nameless; ++i) {
		const struct mt_node *node = &d->tree.nodes[i];
		if (!rec_has_line(node) || d->targets[i] || ++found > REPORTED_NAMELESS)
			continue;
		char id[32];
		snprintf(id, sizeof(id), "mount %" PRIu32, node->mount->id);
		message(id, "no line: its name could not be established (%s %s, %s)",
		        node->mount->fstype ? node->mount->fstype : "?",
		        node->mount->source ? node->mount->source : "?",
		        mtree_state_name(mtree_shown_state(node)));
	}
	if (r->nameless > REPORTED_NAMELESS)
		message(r->run.table_name, "%zu more mounts without a name",
		        r->nameless - REPORTED_NAMELESS);
}

/** Set the range of possible mount times, for an mnttab: from boot to now. */
static void set_times(struct recovery *r)
{
	char *text;
	size_t len;
	r->in.first_time = 1;
	r->in.last_time = INT64_MAX;
	if (!r->run.live)
		return;
	time_t now = time(NULL);
	r->in.last_time = (uint64_t)now;
	if (os_read_file(r->os, AT_FDCWD, "/proc/uptime", 4096, &text, &len) == 0) {
		double up = strtod(text, NULL);
		if (up > 0 && up < (double)now)
			r->in.first_time = (uint64_t)((double)now - up) - 1;
		free(text);
	}
}

/* The file. */

/** Split a text into lines.  @return the lines, or NULL after a message. */
static struct tablines *cut_text(const struct recovery *r, const char *text, size_t len)
{
	size_t n = 0;
	for (const char *at = text, *end = text + len;
	     (at = memchr(at, '\n', (size_t)(end - at))) != NULL; ++at)
		++n;
	struct tablines *lines = NULL;
	if (n <= LINES_MAX)
		lines = r->in.format == REC_MTAB ? tablines_parse(text, len)
		        : tablines_cut(text, len);
	if (!lines)
		cannot_check(r, n > LINES_MAX ? "it has more lines than the kernel allows mounts"
		             : strerror(errno));
	return lines;
}

/** Refuse an fstab: rebuilding would replace its lines by the current mounts.  @return 0, or -1
    after a message. */
static int refuse_fstab(const struct recovery *r, const char *path)
{
	uint32_t line;
	const char *sign = rec_fstab_sign(path, r->lines, &line), *name = strbuf_str(&r->name);
	struct strbuf use = {0};
	/* With a recorded table, do not suggest getmnt fstab --merge: it would compare the fstab
	   with the mounts of this host. */
	if (!r->opts->tab_file) {
		strbuf_puts(&use, "; use ");
		command_words(&use, "getmnt", "fstab", NULL);
		command_option(&use, "--merge", path);
		strbuf_puts(&use, " --diff");
	}
	if (sign && line)
		message(name, "is an fstab, not an mtab: line %" PRIu32 " has %s%s", line, sign,
		        strbuf_str(&use));
	else if (sign)
		message(name, "is an fstab by its name%s", strbuf_str(&use));
	strbuf_destroy(&use);
	return sign ? -1 : 0;
}

/** Split FILE into lines.  If only the name of FILE suggests a format, find out the format from the
    lines.
    @return the lines, or NULL after a message. */
static struct tablines *read_lines(struct recovery *r)
{
	const struct replace *file = &r->put->file;
	enum rec_format named = r->in.format;
	if (r->opts->format_named) {
		r->in.format = REC_MNTTAB;
		struct tablines *lines = cut_text(r, file->text, file->len);
		if (lines)
			r->in.format = rec_format_of(lines, named);
		if (!lines || r->in.format == REC_MNTTAB)
			return lines;
		tablines_free(lines);
	}
	return cut_text(r, file->text, file->len);
}

/** Compare the lines of FILE with the mounts, unless FILE is an fstab.
    @return 0, or -1 after a message. */
static int check_lines(struct recovery *r)
{
	r->in.lines = r->lines = read_lines(r);
	if (!r->lines)
		return -1;
	r->in.keep = (enum rec_keep)r->opts->keep;
	r->in.rows = r->rows;
	if (r->in.format == REC_MNTTAB)
		set_times(r);
	if (r->in.format == REC_MTAB && refuse_fstab(r, r->opts->file) != 0)
		return -1;
	int rc = rec_check(&r->in, &r->result);
	if (rc == 0 && r->in.keep == REC_CHECKED)
		hints_confirm(r);
	if (rc == 0 && !r->hints.failed && !run_failed(&r->run))
		return 0;
	cannot_check(r, strerror(ENOMEM));
	return -1;
}

/** Rebuild the text of FILE in r->made, and check that the text has a correct line for each mount.
    @return 0, or -1 after a message. */
static int make_file(struct recovery *r)
{
	rec_build(&r->in, &r->result, &r->made);
	if (r->made.failed) {
		message(strbuf_str(&r->name), "cannot be rebuilt: %s", strerror(ENOMEM));
		return -1;
	}
	struct rec_result proof = {0};
	struct tablines *lines = cut_text(r, strbuf_str(&r->made), r->made.len);
	struct rec_input in = r->in;
	in.keep = REC_ALL;
	in.lines = lines;
	int rc = lines ? rec_check(&in, &proof) : -1;
	if (rc == 0 && (!rec_is_right(&proof) || proof.of[REC_RIGHT] != in.nrows)) {
		message(strbuf_str(&r->name), "the rebuilt file describes only %zu of %zu mounts; "
		        "nothing is written", proof.of[REC_RIGHT], in.nrows);
		rc = -1;
	}
	rec_result_destroy(&proof);
	tablines_free(lines);
	return rc;
}

/** Report the hints that the rebuilt file lacks because no source confirms them. */
static void report_dropped(const struct recovery *r)
{
	const struct rec_result *j = &r->result;
	for (size_t i = 0; i < j->nlines && r->in.keep == REC_CHECKED; ++i) {
		const struct rec_finding *f = &j->findings[i];
		for (size_t k = f->hint; k < f->hint + f->nhints; ++k) {
			if (j->hints[k].kept)
				continue;
			struct strbuf object = {0};
			strbuf_printf(&object, "%s:%" PRIu32, strbuf_str(&r->name),
			              f->line->number);
			message(strbuf_str(&object), "%s is not kept: no other source confirms it; "
			        "--keep=all keeps it", j->hints[k].option);
			strbuf_destroy(&object);
		}
	}
}

/** Report the findings.  @return an exit status. */
static int report_file(struct recovery *r)
{
	const char *name = strbuf_str(&r->name);
	const size_t *of = r->result.of;
	if ((r->opts->json ? recover_json(r) : recover_text(r)) != 0)
		return cannot_check(r, strerror(ENOMEM));
	if (!r->opts->json && r->put->file.missing)
		message(name, "does not exist; a symlink to /proc/self/mounts needs no "
		        "maintenance");
	if (!r->opts->json)
		message(name, "%s%zu right, %zu wrong, %zu gone, %zu missing, %zu unreadable, "
		        "%zu ignored%s", r->right ? "right: " : "", of[REC_RIGHT], of[REC_WRONG],
		        of[REC_GONE], of[REC_MISSING], of[REC_UNREADABLE], of[REC_IGNORED],
		        r->right ? "" : "; --diff shows what --write would change");
	return r->right ? PX_OK : PX_DIFFERENT;
}

/** Report, print or write the checked file.  @return an exit status. */
static int settle(struct recovery *r)
{
	const struct recover_opts *opts = r->opts;
	const struct replace *file = &r->put->file;
	/* With --force-file, a symlink counts as wrong: a file is to replace the symlink. */
	bool right = r->right = rec_is_right(&r->result) && !file->missing
	                        && !(opts->put.force_file && file->link);
	r->link = file->link;
	const bool changes = opts->print || opts->put.diff || opts->put.write;
	bool usual = strcmp(opts->file, "/etc/mtab") == 0 || strcmp(opts->file, "/etc/mnttab") == 0;
	if (file->missing && !usual && !changes)
		return cannot_check(r, "it does not exist; --write creates it");
	bool whole = r->nameless == 0 && r->run.complete;
	int unsure = whole ? PX_OK : PX_NOT_CHECKED;
	for (size_t i = 0; i < r->run.nreasons; ++i)
		message(NULL, "incomplete: %s", r->run.reasons[i]);
	if (put_is_stdout(r->put)) {
		message("standard output", "is FILE itself, which the shell has truncated; use "
		        "--write");
		return PX_NOT_CHECKED;
	}

	if (!changes) {
		if (!right && !opts->json)
			report_dropped(r);
		int status = report_file(r);
		return status == PX_OK ? unsure : status;
	}
	if (!right || opts->print) {
		if (make_file(r) != 0)
			return PX_NOT_CHECKED;
		if (!right)
			report_dropped(r);
	}
	if (opts->print) {
		os_mark(MARK_END);
		bool shown = put_show(strbuf_str(&r->made), r->made.len);
		os_mark(MARK_BEGIN);
		if (!shown)
			return PX_NOT_CHECKED;
		return unsure ? unsure : right ? PX_OK : PX_DIFFERENT;
	}
	if (opts->put.write && !whole && !opts->put.force) {
		message(strbuf_str(&r->name), "is not written: a mount without a name would have "
		        "no line; use --force to write it anyway");
		return PX_NOT_CHECKED;
	}
	char summary[80];
	snprintf(summary, sizeof(summary), "reproduces %zu of %zu mounts", r->in.nrows,
	         r->in.nrows + r->nameless);
	const struct put_verdict verdict = {.summary = summary};
	const char *text = right ? file->text : strbuf_text(&r->made);
	if (!text) {
		message(strbuf_str(&r->name), "cannot be rebuilt: %s", strerror(ENOMEM));
		return PX_NOT_CHECKED;
	}
	int status = right ? put_finish(r->put, text, file->len, NULL)
	                   : put_finish(r->put, text, r->made.len, &verdict);
	return status == PX_OK ? unsure : status;
}

/** Read the mounts and find their names, unless the mounts were read before.
    @return 0, or an exit status after a message. */
static int know_mounts(struct recovery *r)
{
	const unsigned fields = DISCOVER_FIELDS | MF_SOURCE | MF_VFS_OPTS | MF_FS_OPTS;
	return r->run.table || run_know(&r->run, fields) == 0 ? 0 : PX_NOT_CHECKED;
}

/** Check FILE, and report, print or write the result.  @return an exit status. */
static int check_file(struct recovery *r)
{
	const struct recover_opts *opts = r->opts;
	struct replace_name request = {
		.path = opts->file, .root = opts->root, .may_create = true,
		.named = opts->file_given,
	};
	/* Read the live mounts before FILE is accessed: the mounts show whether the access can
	   block. */
	int status = opts->tab_file ? 0 : know_mounts(r);
	if (status != 0)
		return status;
	if (r->run.live) {
		request.blocks = mounts_name_block;
		request.blocks_arg = run_paths(&r->run);
		if (opts->root && r->run.prefix)
			request.root = r->run.prefix;   /* the path of ROOT in the mount table */
	}
	bool follows = !opts->print && !opts->put.force_file;
	char link[PATH_MAX];
	int kind = follows ? recover_link(r->os, &request, link) : 0;
	/* Do not compare the lines of a file in /proc, or of a symlink to such a file.  Exception:
	   if FILE is itself the kernel's mount table, a recorded table of --tab-file may differ
	   from FILE. */
	if (kind != 0 && !(kind > 0 && !*link && opts->tab_file))
		return report_link(r, *link ? link : NULL, kind > 0);
	if ((status = put_open(r->os, &opts->put, &request, &r->put)) != 0)
		return status;
	/* FILE can be a file of /proc that recover_link() did not detect: a directory of the path
	   can be a symlink into /proc. */
	const struct replace *file = &r->put->file;
	bool named = opts->tab_file && !file->link;
	if (file->of_kernel && !named && follows) {
		const char *base = strrchr(file->path, '/');
		return report_link(r, file->link, base && strcmp(base, "/mounts") == 0);
	}
	if ((status = know_mounts(r)) != 0)
		return status;
	if ((opts->json && machine_read(&r->run, false) != 0)
	    || rec_rows(&r->run.d->tree, r->run.d->targets, &r->rows, &r->in.nrows,
	                &r->nameless) != 0)
		return cannot_check(r, strerror(ENOMEM));
	report_nameless(r);
	return check_lines(r) == 0 ? settle(r) : PX_NOT_CHECKED;
}

static void recovery_destroy(struct recovery *r)
{
	put_close(r->put);
	rec_result_destroy(&r->result);
	tablines_free(r->lines);
	host_utab_destroy(&r->hints.utab);
	fstab_file_free(r->hints.fstab);
	free(r->hints.fstab_text);
	free(r->hints.passwd);
	strbuf_destroy(&r->made);
	strbuf_destroy(&r->name);
	free(r->rows);
	run_destroy(&r->run);
}

/** Check FILE.  The caller has validated the options.  @return an exit status. */
static int run_recover(const struct recover_opts *opts)
{
	struct input_opts input = INPUT_LIMITED;
	input.tab_file = opts->tab_file;
	input.root = opts->tab_file ? NULL : opts->root;
	input.names = opts->tab_file ? DN_KERNEL : opts->names < 0 ? DN_HINT : opts->names;
	if (input.names != DN_HINT)
		input.max_dirs = 0, input.search_seconds = 0;
	struct recovery r = {.opts = opts, .in.format = (enum rec_format)opts->format};
	run_init(&r.run, &input);
	strbuf_printf(&r.name, "%s%s", opts->root && strcmp(opts->root, "/") != 0 ? opts->root : "",
	              opts->file);
	if (r.name.failed)
		return cannot_check(&r, strerror(ENOMEM));
	r.run.progress = progress_begin();
	run_start(&r.run);
	r.os = opts->tab_file ? &r.files : &r.run.os;
	if (opts->tab_file)
		os_init(&r.files, secure_getenv("GETMNT_DISABLE"));

	int status = check_file(&r);
	os_mark(MARK_END);
	if (finish_stdout() != 0)
		status = PX_NOT_CHECKED;
	if (opts->tab_file)
		os_join(&r.run.os, &r.files);
	if (opts->stats)
		stats_print(&r.run, opts->stats, 0);
	recovery_destroy(&r);
	return status;
}

int cmd_recover(int argc, char **argv)
{
	struct recover_opts opts = {.format = -1, .names = -1};
	set_lost_status(PX_NOT_CHECKED);
	if (options_read(&recover_table, argc, argv, &opts) != 0)
		return PX_NOT_CHECKED;
	if (opts.help) {
		options_help(&recover_table,
		             "Usage:\n getmnt recover [options] [FILE]\n\n"
		             "Check a file that lists mounts (/etc/mtab) line by line against "
		             "the kernel's\ntable, and rebuild it.\n",
		             "Exit status: 0 correct or corrected, 1 differences found, 2 could "
		             "not be\nchecked, 16 could not be written.\n", stdout);
		return finish_stdout() == 0 ? PX_OK : PX_NOT_CHECKED;
	}
	if (optind < argc)
		opts.file = argv[optind++];
	opts.file_given = opts.file != NULL;
	if (optind < argc) {
		usage_error("recover", "one FILE at a time");
		return PX_NOT_CHECKED;
	}
	return check_opts(&opts) == 0 ? run_recover(&opts) : PX_NOT_CHECKED;
}
