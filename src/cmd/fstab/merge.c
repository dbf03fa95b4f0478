/* SPDX-License-Identifier: MIT */
#include "cmd/fstab/merge.h"

#include "audit/rules.h"
#include "audit/selfcheck.h"
#include "base/arena.h"
#include "base/command.h"
#include "base/map64.h"
#include "base/words.h"
#include "cmd/run.h"
#include "fstab/target.h"
#include "path/named.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 20 };

/** Mark each option that, according to the findings of an audit, the kernel refuses. */
static void mark_refused(struct fstab_file *file, const struct audit_report *report)
{
	for (size_t i = 0; i < report->count; ++i) {
		const struct audit_finding *finding = &report->findings[i];
		struct fstab_entry *entry = finding->refused && finding->option && finding->line
		                            ? &file->entries[finding->line - 1] : NULL;
		for (uint32_t k = 0; entry && k < entry->nopts; ++k) {
			struct opt *option = &entry->opts[k];
			option->refused |= word_is(option->text, option->n, finding->option);
		}
	}
}

/** Open FILE, or ROOT/etc/fstab unless accessing ROOT can block.
    @return 0, or an exit status after a message. */
static int open_file(struct run *run, const struct merge_opts *opts, const struct fstab_input *in,
                     struct put **put)
{
	struct replace_name request = {
		.path = opts->file ? opts->file : "/etc/fstab",
		.root = opts->file ? NULL : in->root, .may_create = true,
		.blocks = run->live ? mounts_name_block : NULL, .blocks_arg = run_paths(run),
		.named = opts->file != NULL,
	};
	if (!opts->file && strcmp(in->root, "/") != 0
	    && mounts_path_block(run_paths(run), in->root)) {
		message(in->root, "accessing it can block, so its etc/fstab is not read; name that "
		        "with --merge=FILE");
		return PX_NOT_CHECKED;
	}
	return put_open(&run->os, &opts->put, &request, put);
}

/** Whether a file has a line of a mount or swap space. */
static bool has_entry(const struct fstab_file *file)
{
	for (size_t i = 0; i < file->count; ++i) {
		if (fstab_is_entry(&file->entries[i]))
			return true;
	}
	return false;
}

static int read_base(struct run *run, const char *path, char **text, struct fstab_file **base)
{
	size_t len;
	if (path_read_named(&run->os, path, NULL, FILE_MAX, text, &len) != 0) {
		message(path, "cannot be read: %s", path_error(errno));
		return PX_NOT_CHECKED;
	}
	*base = fstab_parse(*text, len);
	if (*base && has_entry(*base))
		return 0;
	/* If the base (the earlier fstab) had no lines, all lines of the file would count as
	   new. */
	message(path, "%s", !*base ? strerror(errno)
	        : "has no line of a mount; give the fstab that the system has loaded");
	return PX_NOT_CHECKED;
}

/** Whether a path is the path of ROOT/etc/fstab after following symlinks. */
static bool is_own(struct host *host, const char *path)
{
	struct strbuf place = {0};
	bool is = host->in.live && host_follow(host, "/etc/fstab", &place) == PATH_SEEN
	          && strcmp(strbuf_str(&place), path) == 0;
	strbuf_destroy(&place);
	return is;
}

/** Check that FILE is not the fstab of a root directory other than ROOT: the merge compares FILE
    with the mounts of ROOT.
    @path  The resolved path of FILE.
    @return 0, or an exit status after a message. */
static int check_root(struct host *host, const struct merge_opts *opts, const char *path)
{
	static const char tail[] = "/etc/fstab";
	const char *root = host->in.root;
	size_t len = strlen(path), n = len - (sizeof(tail) - 1);
	if (!opts->file || !host->in.live || len < sizeof(tail) - 1
	    || strcmp(path + n, tail) != 0 || is_own(host, path)
	    || word_is(path, n, strcmp(root, "/") == 0 ? "" : root))
		return 0;
	struct strbuf word = {0}, place = {0};
	strbuf_add(&place, n ? path : "/", n ? n : 1);
	command_words(&word, "getmnt", "fstab", "--merge", "--", strbuf_str(&place), NULL);
	bool refused = opts->put.write && !opts->put.force;
	message(path, "is the fstab of %s, and compared with what is mounted in %s; \"%s\" "
	        "compares it with what is mounted there%s", strbuf_str(&place), root,
	        strbuf_str(&word),
	        refused ? ".  Not written; --force writes it all the same" : "");
	strbuf_destroy(&word);
	strbuf_destroy(&place);
	return refused ? PX_NOT_CHECKED : 0;
}

/** Report the rules that could not be checked, and why. */
static void report_not_checked(struct fstab_machine *fstab, const char *path, audit_set set)
{
	struct strbuf text = {0};
	struct audit_situation situation = machine_situation(fstab);
	audit_name_not_checked(&text, set, &situation);
	message(path, "%s", strbuf_str(&text));
	strbuf_destroy(&text);
}

/** Append how many mounts and swap spaces still have no line after the merge, if there are any. */
static void put_without_line(struct strbuf *out, const struct fstab_merged *merged)
{
	size_t n = 0, swaps = 0;
	for (size_t i = 0; i < merged->nnotes; ++i) {
		const struct fstab_note *note = &merged->notes[i];
		bool counts = note->kind == FSTAB_NOTE_MISSING && !note->done && !note->edited;
		n += counts;
		swaps += counts && note->live->swap;
	}
	if (n)
		strbuf_printf(out, "%zu %s no line: --add=persistent adds %s; ", n,
		              n == 1 ? swaps ? "swap space has" : "mount has"
		              : swaps ? "mounts and swap spaces have" : "mounts have",
		              n == 1 ? "it" : "them");
}

/** Print, compare or write the checked new text.  @return an exit status. */
static int finish(const struct run *run, const struct merge_opts *opts, struct put *put,
                  const struct fstab_merged *merged, const struct selfcheck *check)
{
	const char *path = put->file.path;
	bool same = !merged->left && check->same && run->complete;
	if (!opts->put.check && !opts->put.diff && !opts->put.write) {
		if (!check->same)
			message(path, "%s", check->summary);
		for (size_t i = 0; i < check->nrisks; ++i)
			message(path, "new boot risk: %s", check->risks[i]);
		return !put_show(merged->text, merged->len) ? PX_NOT_CHECKED
		       : same ? PX_OK : PX_DIFFERENT;
	}
	if (put->file.missing && merged->len == 0) {
		message(path, "nothing to write; --add=persistent adds a line for each mount");
		return PX_DIFFERENT;
	}
	if (!run->complete && opts->put.write && !opts->put.force) {
		for (size_t i = 0; i < run->nreasons; ++i)
			message(path, "incomplete: %s", run->reasons[i]);
		message(path, "not written: it was compared with a part of what is mounted; "
		        "--force writes it all the same");
		return PX_NOT_WRITTEN;
	}
	const struct replace *file = &put->file;
	bool changed = file->len != merged->len
	               || (file->len > 0 && memcmp(file->text, merged->text, file->len) != 0);
	struct strbuf summary = {0};
	if (!changed)
		put_without_line(&summary, merged);
	strbuf_puts(&summary, check->summary);
	struct put_verdict verdict = {.summary = strbuf_str(&summary), .risks = check->risks,
	                              .nrisks = check->nrisks};
	int status = put_finish(put, merged->text, merged->len, &verdict);
	strbuf_destroy(&summary);
	return status == PX_OK && !same && !(opts->put.write && changed) ? PX_DIFFERENT : status;
}

void merge_explain(const struct fstab_plan *plan)
{
	enum { EXPLAIN_MAX = 100 };
	struct arena arena = {0};
	struct map64 first = {.arena = &arena};
	uint32_t *count = arena_new(&arena, plan->count, sizeof(*count));
	for (uint32_t i = 0; i < plan->count && count; ++i) {
		if (plan->lines[i].fate == FSTAB_OWN)
			++count[map64_put(&first, map64_text(plan->lines[i].why), i)];
	}
	for (uint32_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		if (line->fate != FSTAB_OWN)
			continue;
		const char *name = line->mount ? line->target : line->source;
		uint32_t all = arena.failed ? 1 : count[map64_get(&first, map64_text(line->why))];
		if (all <= EXPLAIN_MAX)
			message(name, "left out: %s", line->why);
		else if (count[i])
			message(name, "left out, as %u more mounts: %s", (unsigned)all - 1,
			        line->why);
	}
	arena_destroy(&arena);
}

int merge_run(struct fstab_machine *fstab, const struct merge_opts *opts,
              struct fstab_input *in, struct fstab_plan *plan)
{
	struct run *run = &fstab->run;
	struct host *host = &fstab->host;
	struct audit_report report = {0};
	struct put *put = NULL;
	struct fstab_file *file = NULL, *base = NULL;
	char *base_text = NULL;
	struct fstab_merged merged = {0};
	struct selfcheck check = {0};
	int status = open_file(run, opts, in, &put);
	if (status)
		goto out;
	status = PX_NOT_CHECKED;
	const struct replace *target = &put->file;
	const char *path = target->path;
	if (put_is_stdout(put)) {
		message("standard output", "this is %s itself: \"> FILE\" has emptied it, \">> "
		        "FILE\" would add to it what it has; --write changes it in its place",
		        path);
		goto out;
	}
	if (check_root(host, opts, path) != 0)
		goto out;
	if (target->missing)
		message(path, "does not exist; treated as empty");
	file = fstab_parse(target->text, target->len);
	if (!file
	    || audit_fstab(&(struct audit_input){.file = file, .live = in->d}, &report) != 0) {
		message(path, "%s", strerror(errno));
		goto out;
	}
	mark_refused(file, &report);
	in->file = file;
	if (fstab_plan(in, plan) != 0 || machine_failed(fstab)
	    || fstab_prefer(plan, file, in->add, in->nadd) != 0) {
		message(in->root, "%s", strerror(ENOMEM));
		goto out;
	}
	if (opts->explain)
		merge_explain(plan);
	bool none = opts->base && strcmp(opts->base, "none") == 0;
	if (opts->base && !none && read_base(run, opts->base, &base_text, &base) != 0)
		goto out;
	bool loaded = !opts->base && strcmp(in->root, "/") == 0 && is_own(host, path);
	const struct host_units *units = loaded ? host_units(host) : NULL;
	bool changed = units && fstab_count_loaded(units).stale > 0;
	bool lost = changed && !has_entry(file);
	if (lost)
		message(path, "has no line of a mount: it counts as lost, and not as changed since "
		        "systemd loaded it");
	struct fstab_merge_input input = {
		.match = {file, plan, in->root, &in->facts}, .add = in->add, .nadd = in->nadd,
		.base = base,
		.loaded = changed && !lost ? units : NULL, .fix = opts->fix,
		.persistent = opts->persistent, .keep = opts->keep,
	};
	if (fstab_merge(&input, &merged) != 0) {
		message(path, errno == EBADMSG ? "cannot be merged: a line would not read as "
		        "intended" : "%s", strerror(errno));
		goto out;
	}
	os_mark(MARK_END);
	if (input.loaded && (merged.edited || opts->explain))
		message("base", "%s was changed since systemd loaded it, so lines that differ are "
		        "left; to change them too: systemctl daemon-reload first, or --base=none",
		        path);
	if (merged.damaged && opts->explain)
		message(path, "shows damage since the base, so that no line counts as taken out");
	if (!merge_report(path, &merged, opts->explain))
		goto out;
	if (selfcheck_make(&(struct selfcheck_input){
			.old = target->text, .old_len = target->len, .new = merged.text,
			.len = merged.len, .d = in->d, .match = &input.match,
			.missing_told = true}, &check) != 0
	    || run->nomem || host->nomem) {
		message(path, "%s", strerror(ENOMEM));
		goto out;
	}
	for (size_t i = 0; i < check.nnotes; ++i)
		message(path, "%s", check.notes[i]);
	if (opts->explain && check.not_checked)
		report_not_checked(fstab, path, check.not_checked);
	status = finish(run, opts, put, &merged, &check);
	/* Keep the status of a write whose report cannot be printed: the file is written. */
	if (finish_stdout() != 0 && !opts->put.write)
		status = PX_NOT_CHECKED;
out:
	selfcheck_destroy(&check);
	audit_report_destroy(&report);
	fstab_merged_destroy(&merged);
	in->file = NULL;
	fstab_file_free(file);
	fstab_file_free(base);
	free(base_text);
	put_close(put);
	return status;
}

int merge_keep(struct fstab_machine *fstab, const struct merge_opts *opts,
               const struct fstab_input *in, struct fstab_plan *plan)
{
	struct run *run = &fstab->run;
	struct put *put = NULL;
	int status = open_file(run, opts, in, &put);
	if (status)
		return status;
	const struct replace *target = &put->file;
	struct fstab_file *file = fstab_parse(target->text, target->len);
	const struct fstab_match_input input = {file, plan, in->root, &in->facts};
	if (!file || fstab_prefer(plan, file, NULL, 0) != 0
	    || fstab_keep_options(&input, plan) != 0)
		status = message_error(target->path, errno, PX_NOT_CHECKED);
	fstab_file_free(file);
	put_close(put);
	return status;
}
