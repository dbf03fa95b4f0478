/* SPDX-License-Identifier: MIT */
#include "cmd/fstab/merge.h"

#include "audit/rules.h"
#include "audit/selfcheck.h"
#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "cmd/view.h"
#include "fstab/units.h"
#include "mountopts/optlist.h"
#include "path/named.h"
#include "fstab/edit/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 20 };

static int take_fix(struct merge_opts *opts, const char *value)
{
	static const struct {
		const char *word;
		unsigned fix;
	} rows[] = {
		{"source", FSTAB_FIX_SOURCE}, {"options", FSTAB_FIX_OPTIONS},
		 {"pass", FSTAB_FIX_PASS},
		{"order", FSTAB_FIX_ORDER}, {"damaged", FSTAB_FIX_DAMAGED},
	};
	for (const char *at = value;; ++at) {
		size_t n = strcspn(at, ","), i = 0;
		while (i < sizeof(rows) / sizeof(*rows) && !word_is(at, n, rows[i].word))
			++i;
		if (i == sizeof(rows) / sizeof(*rows)) {
			usage_error("--fix",
			            "\"%.*s\": must be one of: source, options, pass, order, "
			            "damaged",
			            (int)n, at);
			return PX_UNJUDGED;
		}
		opts->fix |= rows[i].fix;
		at += n;
		if (!*at)
			return 0;
	}
}

static int take_add(struct merge_opts *opts, const char *value)
{
	for (const char *at = value;; ++at) {
		size_t n = strcspn(at, ",");
		if (n == 0) {
			usage_error("--add", "\"%s\": an empty name; a comma in one is \\054",
			            value);
			return PX_UNJUDGED;
		}
		char **more = realloc(opts->add, (opts->nadd + 1) * sizeof(*more));
		char *name = malloc(n + 1);
		if (more)
			opts->add = more;
		if (!more || !name) {
			free(name);
			message(NULL, "%s", strerror(ENOMEM));
			return PX_UNJUDGED;
		}
		name[unescape_octal(name, at, n)] = '\0';
		if (word_is(at, n, "persistent")) {
			opts->persistent = true;
			free(name);
		} else {
			opts->add[opts->nadd++] = name;
		}
		at += n;
		if (!*at)
			return 0;
	}
}

int merge_option(struct merge_opts *opts, const char *name, const char *value)
{
	if (strcmp(name, "fix") == 0)
		return take_fix(opts, value);
	if (strcmp(name, "add") == 0)
		return take_add(opts, value);
	if (strcmp(name, "base") == 0)
		opts->base = value;
	opts->merge |= strcmp(name, "merge") == 0;
	if (strcmp(name, "merge") == 0 && value)
		opts->file = value;
	return 0;
}

int merge_check_options(const struct merge_opts *opts, bool recorded)
{
	const struct put_options *put = &opts->put;
	const char *alone = opts->base ? "--base" : opts->fix ? "--fix" : opts->nadd
	                    || opts->persistent ? "--add"
	                    : put->check ? "--check" : put->diff ? "--diff" : put->write ? "--write"
	                    : put->yes ? "--yes" : put->force ? "--force" : put->no_backup
	                    ? "--no-backup"
	                    : put->force_file ? "--force-file" : NULL;
	if (!opts->merge && alone) {
		usage_error(alone, "requires --merge");
		return PX_UNJUDGED;
	}
	if (opts->file && !*opts->file) {
		usage_error("--merge", "the file name is empty");
		return PX_UNJUDGED;
	}
	if (recorded && ((opts->merge && !opts->file) || (opts->keep && !opts->merge))) {
		usage_error(opts->merge ? "--merge" : "--options=keep",
		            "requires --merge=FILE with a recorded table");
		return PX_UNJUDGED;
	}
	if (opts->keep && opts->fix & FSTAB_FIX_OPTIONS) {
		usage_error("--fix=options", "changes what --options=keep keeps");
		return PX_UNJUDGED;
	}
	return opts->merge ? put_check(put) : 0;
}

void merge_opts_destroy(struct merge_opts *opts)
{
	for (size_t i = 0; i < opts->nadd; ++i)
		free(opts->add[i]);
	free(opts->add);
}

static bool is_refused(void *arg, uint32_t line, const char *option, size_t n)
{
	const struct audit_report *report = ((const struct machine_merge *)arg)->report;
	size_t low = 0;
	for (size_t high = report->count; low < high;) {
		size_t middle = low + (high - low) / 2;
		if (report->findings[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < report->count && report->findings[low].line == line; ++low) {
		const struct audit_finding *finding = &report->findings[low];
		if (finding->refused && word_is(option, n, finding->option))
			return true;
	}
	return false;
}

/* Messages. */

/** A name as --add takes it, quoted for a shell where it has to be. */
static void put_name(struct strbuf *out, const char *name)
{
	strbuf_puts(out, "--add=");
	escape_shell_octal(out, name);
}

/** What a mount is: its source and type. */
static void put_live(struct strbuf *out, const struct fstab_line *live)
{
	const char *source = live->fate == FSTAB_LINE ? live->source
	                     : live->mount ? live->mount->source : live->source;
	mask_source(source ? source : "none", out);
	strbuf_printf(out, " (%s", live->mount && live->mount->fstype ? live->mount->fstype
	              : "swap");
	if (live->mount && fstype_flags(live->mount->fstype) & FST_SUBVOL && live->mount->root
	    && live->mount->root[0] && live->mount->root[1])
		strbuf_printf(out, " %s", live->mount->root);
	strbuf_putc(out, ')');
}

/** What a line mounts. */
static void put_line(struct strbuf *out, const struct tabline *line)
{
	const char *fstype = tabline_value(line, TABLINE_FSTYPE);
	size_t n;
	mask_source(tabline_value(line, TABLINE_SOURCE), out);
	strbuf_printf(out, " (%s", fstype);
	const char *subvol = fstype_flags(fstype) & FST_SUBVOL
		? opt_value(tabline_value(line, TABLINE_OPTIONS), "subvol", &n) : NULL;
	if (subvol)
		strbuf_printf(out, " %.*s", (int)n, subvol);
	strbuf_putc(out, ')');
}

/** Whose line it is. */
static const char *place_of(const struct fstab_note *note)
{
	const struct fstab_line *live = note->live;
	const char *target = note->line ? tabline_value(note->line, TABLINE_TARGET) : NULL;
	if (live && live->swap)
		return live->swap;
	if (target && *target == '/')
		return target;
	return live && live->target ? live->target : note->line
	       ? tabline_value(note->line, TABLINE_SOURCE) : NULL;
}

static void report_note(const char *file, const struct fstab_note *note)
{
	static const char *const fixes[FSTAB_NOTE_KINDS] = {
		[FSTAB_NOTE_DAMAGED] = "--fix=damaged", [FSTAB_NOTE_SOURCE] = "--fix=source",
		[FSTAB_NOTE_OPTIONS] = "--fix=options",
		[FSTAB_NOTE_REFUSED] = "--fix=options",
		[FSTAB_NOTE_PASS] = "--fix=pass", [FSTAB_NOTE_REPEATED] = "--fix=damaged",
		[FSTAB_NOTE_ORDER] = "--fix=order",
	};
	const char *place = place_of(note);
	struct strbuf out;
	strbuf_init(&out);
	if (note->line)
		strbuf_printf(&out, "line %" PRIu32 ": ", note->line->number);
	if (place && *place)
		strbuf_printf(&out, "%s: ", place);
	switch (note->kind) {
	case FSTAB_NOTE_DAMAGED:
		strbuf_printf(&out, "damaged: %s", note->text);
		break;
	case FSTAB_NOTE_ODD:
		strbuf_puts(&out, note->text);
		break;
	case FSTAB_NOTE_MISSING:
		strbuf_puts(&out, "mounted from ");
		put_live(&out, note->live);
		strbuf_puts(&out, ", and has no line");
		break;
	case FSTAB_NOTE_NO_LINE:
		strbuf_printf(&out, "has no line and cannot be expressed in fstab: %s",
		              note->text ? note->text : "?");
		break;
	case FSTAB_NOTE_SOURCE:
		strbuf_puts(&out, "mounts ");
		put_line(&out, note->line);
		strbuf_puts(&out, ", but the mount there is ");
		put_live(&out, note->live);
		break;
	case FSTAB_NOTE_NAME:
		strbuf_puts(&out, note->done || note->edited ? "another name of "
		            : "it is not known whether its source is ");
		put_live(&out, note->live);
		break;
	case FSTAB_NOTE_OPTIONS:
		strbuf_puts(&out, "is mounted with other options: ");
		mask_options(note->text, &out);
		break;
	case FSTAB_NOTE_REFUSED:
		strbuf_puts(&out, "has options that the kernel refuses: ");
		mask_options(note->text, &out);
		break;
	case FSTAB_NOTE_PASS:
		strbuf_printf(&out, "pass is %d, expected %d",
		              note->line->passno > 0 ? note->line->passno : 0,
		              note->live->passno);
		break;
	case FSTAB_NOTE_REPEATED:
		strbuf_printf(&out, "the same source and mount point as line %" PRIu32,
		              note->other->number);
		break;
	case FSTAB_NOTE_BESIDE:
		strbuf_printf(&out, "mounts something else; the mount there is that of line %"
		              PRIu32, note->other->number);
		break;
	case FSTAB_NOTE_ELSEWHERE:
		strbuf_printf(&out, "not mounted; its source is mounted on %s", note->live->target);
		break;
	case FSTAB_NOTE_ORDER:
		if (note->other)
			strbuf_printf(&out, "needs line %" PRIu32 ", which comes later",
			              note->other->number);
		else
			strbuf_printf(&out, "needs the line of %s, which comes later",
			              note->live->target);
		break;
	case FSTAB_NOTE_UNKNOWN:
		strbuf_printf(&out, "%s cannot have a line: %s", note->text,
		              note->live && note->live->why ? note->live->why
		              : "it is not mounted");
		break;
	case FSTAB_NOTE_KINDS:
		break;
	}
	if (note->edited) {
		strbuf_puts(&out, "; changed since the base, so left");
	} else if (note->back) {
		strbuf_puts(&out, "; fixed, although it was removed after systemd loaded it");
	} else if (note->done) {
		strbuf_puts(&out, "; fixed");
	} else if (note->kind == FSTAB_NOTE_MISSING) {
		strbuf_puts(&out, "; ");
		put_name(&out, place ? place : "?");
	} else if (fixes[note->kind] && (note->kind != FSTAB_NOTE_SOURCE
	                                 || note->live->fate == FSTAB_LINE)) {
		strbuf_printf(&out, "; %s", fixes[note->kind]);
	}
	message(file, "%s", strbuf_str(&out));
	strbuf_destroy(&out);
}

/** Tell what is left, and what comes back; with explain also what is mended.
    @return whether what was named is mounted. */
static bool report_notes(const char *file, const struct fstab_merged *merged, bool explain)
{
	bool good = true;
	for (size_t i = 0; i < merged->nnotes; ++i) {
		const struct fstab_note *note = &merged->notes[i];
		good &= note->kind != FSTAB_NOTE_UNKNOWN;
		if (!note->done || note->back || explain)
			report_note(file, note);
	}
	return good;
}

/* The file. */

/** Open the file, but for one of a ROOT that can block, unless it is named.
    @return 0, or an exit status after a message. */
static int open_file(struct run *run, const struct merge_opts *opts, const struct fstab_input *in,
                     struct put **put)
{
	struct replace_name request = {
		.path = opts->file ? opts->file : "/etc/fstab",
		.root = opts->file ? NULL : in->root, .may_create = true,
		.blocks = run->live ? put_blocks : NULL, .blocks_arg = run,
		.named = opts->file != NULL,
	};
	if (!opts->file && strcmp(in->root, "/") != 0 && path_blocks(run, in->root)) {
		message(in->root, "touching it can block, so its etc/fstab is not read; name that "
		        "with --merge=FILE");
		return PX_UNJUDGED;
	}
	return put_open(&run->os, &opts->put, &request, put);
}

/** Whether a file mounts anything. */
static bool has_entry(const struct tablines *lines)
{
	for (size_t i = 0; i < lines->count; ++i) {
		if (lines->lines[i].kind == TABLINE_ENTRY)
			return true;
	}
	return false;
}

static int read_base(struct run *run, const char *path, char **text, struct tablines **lines)
{
	size_t len;
	if (path_read_named(&run->os, path, NULL, FILE_MAX, text, &len) != 0) {
		message(path, "cannot be read: %s", path_error(errno));
		return PX_UNJUDGED;
	}
	*lines = tablines_parse(*text, len);
	if (!*lines) {
		message(path, "%s", strerror(errno));
		return PX_UNJUDGED;
	}
	if (has_entry(*lines))
		return 0;
	/* By such a one all that is there was changed since. */
	message(path, "has no line of a mount; give the fstab that the system has loaded");
	return PX_UNJUDGED;
}

/** Whether a file is the one that systemd makes units of. */
static bool is_loaded_from(const struct machine_merge *machine, const char *path)
{
	struct strbuf place;
	strbuf_init(&place);
	bool is = machine->host->in.live && strcmp(machine->in->root, "/") == 0
	          && host_follow(machine->host, "/etc/fstab", &place) == HOST_SEEN
	          && strcmp(strbuf_str(&place), path) == 0;
	strbuf_destroy(&place);
	return is;
}

/**
 * See whether FILE is the fstab of a root other than ROOT: what is mounted here is not
 * what that one has to mount.
 *
 * @return 0, or an exit status after a message.
 */
static int check_root(const struct machine_merge *machine, const struct merge_opts *opts,
                      const char *path)
{
	static const char tail[] = "/etc/fstab";
	const char *root = machine->in->root;
	size_t len = strlen(path), n = len - (sizeof(tail) - 1);
	if (!opts->file || !machine->host->in.live || len < sizeof(tail) - 1
	    || strcmp(path + n, tail) != 0)
		return 0;
	struct strbuf word, place;
	strbuf_init(&word);
	strbuf_init(&place);
	/* That of ROOT may be a link into another. */
	bool own = host_follow(machine->host, tail, &place) == HOST_SEEN
	           && strcmp(strbuf_str(&place), path) == 0;
	own |= strcmp(root, "/") == 0 ? n == 0 : strlen(root) == n && strncmp(root, path, n) == 0;
	strbuf_reset(&place);
	strbuf_add(&place, n ? path : "/", n ? n : 1);
	put_quoted(&word, strbuf_str(&place));
	bool refused = opts->put.write && !opts->put.force;
	if (!own)
		message(path, "is the fstab of %s, and compared with what is mounted in %s; "
		        "\"getmnt fstab --merge %s\" compares it "
		        "with what is mounted there%s", strbuf_str(&place), root, strbuf_str(&word),
		        refused ? ".  Not written; --force writes it all the same" : "");
	strbuf_destroy(&word);
	strbuf_destroy(&place);
	return !own && refused ? PX_UNJUDGED : 0;
}

int merge_run(struct fstab_machine *fstab, const struct merge_opts *opts,
              const struct fstab_input *in,
              const struct fstab_plan *plan, bool explain)
{
	struct run *run = &fstab->run;
	struct host *host = &fstab->host;
	struct audit_report report = {0};
	bool show = !opts->put.check && !opts->put.diff && !opts->put.write;
	struct machine_merge machine = {.host = host, .in = in, .report = &report};
	struct put *put = NULL;
	struct tablines *file = NULL, *base = NULL;
	char *base_text = NULL;
	struct fstab_merged merged = {0};
	struct selfcheck check = {0};
	int status = open_file(run, opts, in, &put);
	if (status)
		goto out;
	status = PX_UNJUDGED;
	const struct replace *target = &put->file;
	const char *path = target->path;
	if (put_is_stdout(put)) {
		message("standard output", "this is %s itself: \"> FILE\" has emptied it, \">> "
		        "FILE\" would add to it what "
		        "it has; --write changes it in its place", path);
		goto out;
	}
	if (check_root(&machine, opts, path) != 0)
		goto out;
	if (target->missing)
		message(path, "does not exist; treated as empty");
	file = tablines_parse(target->text, target->len);
	if (!file) {
		message(path, "%s", strerror(errno));
		goto out;
	}
	if (audit_fstab(&(struct audit_input){.lines = file, .secret = in->world.secret,
	                                      .live = in->d}, &report) != 0) {
		message(path, "%s", strerror(errno));
		goto out;
	}
	bool none = opts->base && strcmp(opts->base, "none") == 0;
	if (opts->base && !none && read_base(run, opts->base, &base_text, &base) != 0)
		goto out;
	const struct host_units *units = !opts->base && is_loaded_from(&machine, path)
	                                 ? host_units(host) : NULL;
	bool changed = units && fstab_count_loaded(units).stale > 0,
	               lost = changed && !has_entry(file);
	if (lost)
		message(path, "has no line of a mount: it counts as lost, and not as changed since "
		        "systemd loaded it");
	struct fstab_merge_input input = {.match = machine_match_input(&machine, plan, file)};
	input.base = base;
	input.loaded = changed && !lost ? units : NULL;
	input.fix = opts->fix;
	input.persistent = opts->persistent;
	input.keep = opts->keep;
	input.add = (const char *const *)opts->add;
	input.nadd = opts->nadd;
	input.refused = is_refused;
	if (fstab_merge(&input, &merged) != 0) {
		message(path, errno == EBADMSG ? "cannot be merged: a line would not read as it is "
		        "meant" : "%s",
		        strerror(errno));
		goto out;
	}
	os_mark(MARK_END);
	if (input.loaded && (merged.edited || explain))
		message("base", "%s was changed since systemd loaded it, so lines that differ are "
		        "left; "
		        "to change them too: systemctl daemon-reload first, or --base=none", path);
	if (merged.damaged && explain)
		message(path, "shows damage since the base, so that no line counts as taken out");
	if (!report_notes(path, &merged, explain))
		goto out;
	if (selfcheck_make(&(struct selfcheck_input){
			.old = target->text, .old_len = target->len, .new = merged.text,
			.len = merged.len,
			.live = in, .match = &input.match, .facts = machine_facts(host),
			.missing_told = true}, &check) != 0 || run->nomem || host->nomem) {
		message(path, "%s", strerror(ENOMEM));
		goto out;
	}
	for (size_t i = 0; i < check.nnotes; ++i)
		message(path, "%s", check.notes[i]);
	if (explain && check.not_checked)
		message(path, "%s", check.not_checked);
	if (show) {
		if (!check.same)
			message(path, "%s", check.summary);
		for (size_t i = 0; i < check.nrisks; ++i)
			message(path, "new boot risk: %s", check.risks[i]);
		status = !put_show(merged.text, merged.len) ? PX_UNJUDGED : merged.left
		         || !check.same || !run->complete ? PX_DIFFERENT : PX_OK;
	} else if (target->missing && merged.len == 0) {
		message(path, "nothing to write; --add=persistent adds a line for each "
		        "mount");
		status = PX_DIFFERENT;
	} else if (!run->complete && opts->put.write && !opts->put.force) {
		for (size_t i = 0; i < run->nreasons; ++i)
			message(path, "incomplete: %s", run->reasons[i]);
		message(path, "not written: it was compared with a part of what is mounted; "
		        "--force writes it all the same");
		status = PX_UNWRITTEN;
	} else {
		struct put_verdict verdict = {.summary = check.summary, .risks = check.risks,
		                              .nrisks = check.nrisks};
		status = put_finish(put, merged.text, merged.len, &verdict);
		if (status == PX_OK && !opts->put.write && (merged.left || !check.same
		                                             || !run->complete))
			status = PX_DIFFERENT;
	}
	/* What was written stays so, whoever reads of it. */
	if (finish_stdout(!opts->put.write) != 0 && !opts->put.write)
		status = PX_UNJUDGED;
out:
	selfcheck_destroy(&check);
	audit_report_destroy(&report);
	fstab_merged_destroy(&merged);
	tablines_free(file);
	tablines_free(base);
	free(base_text);
	put_close(put);
	return status;
}

int merge_keep(struct fstab_machine *fstab, const struct merge_opts *opts,
               const struct fstab_input *in,
               struct fstab_plan *plan)
{
	struct run *run = &fstab->run;
	struct machine_merge machine = {&fstab->host, in};
	struct put *put = NULL;
	int status = open_file(run, opts, in, &put);
	if (status)
		return status;
	const struct replace *target = &put->file;
	struct tablines *file = tablines_parse(target->text, target->len);
	struct fstab_match_input input = machine_match_input(&machine, plan, file);
	if (!file || fstab_keep_options(&input, plan) != 0) {
		message(target->path, "%s", strerror(errno));
		status = PX_UNJUDGED;
	}
	tablines_free(file);
	put_close(put);
	return status;
}
