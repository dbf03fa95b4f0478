/* SPDX-License-Identifier: MIT */
/*
 * getmnt audit: compare an fstab with the live mounts and the devices of the machine.
 *
 *     options --> run_know() --> fstab_plan() --> fstab_match() --> audit_drift() --.
 *                     |                                                              >-- findings
 *     fstab --> lines +--> audit_fstab(), audit_mounts() ----------------------------'
 *     configuration --> audit_policy() ----------------------------------------------^
 *     baseline --> audit_baseline_compare() --------------------------------------------^
 *
 * Only --output and --save write files, and no file system that can block is accessed.
 *
 * Exit status: 0 clean, 1 findings, 2 the audit failed.
 */
#include "cmd/audit/audit.h"

#include "base/words.h"
#include "cmd/run.h"
#include "cmd/stats.h"
#include "cmd/text.h"
#include "fstab/target.h"
#include "os/change.h"
#include "os/file.h"
#include "path/named.h"
#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 64 << 20 };
enum { AUDIT_FIELDS = DISCOVER_FIELDS | MF_SOURCE | MF_VFS_OPTS | MF_FS_OPTS | MF_PROPAGATION };

/** The state of an audit. */
struct auditing {
	struct audit_opts *opts;
	struct fstab_machine machine;
	struct strbuf path;       /* name of the fstab, for messages */
	struct strbuf merge;      /* option of getmnt fstab that names this fstab, for hints */
	bool is_there;            /* the fstab exists */
	bool is_seen;             /* the fstab is ROOT/etc/fstab, and `st` was read */
	bool is_foreign;          /* given by --fstab, and not the fstab of the host */
	bool is_closed;           /* only the owner of the file can read it */
	struct k_statx st;
	char *text;
	struct fstab_file *file;
	struct audit_config config;
	int64_t today;
	struct audit_report report;
	struct arena names;       /* texts of the resolved paths to which opts->paths points */
	struct audit_base_run base, last;   /* base: for --baseline and --save; last: for --watch */
	audit_set unavailable;  /* rules whose input could not be read: their findings are
	                           ignored */
	int64_t began;            /* seconds since 1970 */
};

/** Find the path of the fstab, from --fstab or below ROOT, and set its name for messages.
    @place [out]  The resolved path. */
static enum path_followed find_fstab(struct auditing *a, struct strbuf *place)
{
	struct fstab_machine *machine = &a->machine;
	const char *named = a->opts->fstab, *root = strbuf_str(&machine->root);
	if (!named) {
		strbuf_printf(&a->path, "%s/etc/fstab", strcmp(root, "/") == 0 ? "" : root);
		return host_follow(&machine->host, "/etc/fstab", place);
	}
	strbuf_puts(&a->path, named);
	a->is_foreign = true;
	if (!machine->run.live) {
		strbuf_puts(place, named);
		return PATH_SEEN;
	}
	host_follow(&machine->host, "/etc/fstab", place);
	char *own = strdup(strbuf_str(place));
	enum path_followed known = mounts_follow(run_paths(&machine->run), named, place);
	a->is_foreign = !own || strcmp(own, strbuf_str(place)) != 0;
	free(own);
	return known;
}

/** Read the fstab.  A file given by --fstab may be a pipe; ROOT/etc/fstab must be a regular file.
    If ROOT/etc/fstab does not exist, an empty fstab is audited, and the report says so.
    @return 0, or -1 after a message. */
static int read_fstab(struct auditing *a)
{
	struct run *run = &a->machine.run;
	const char *named = a->opts->fstab;
	struct strbuf place = {0};
	size_t len = 0;
	int rc = -1;
	enum path_followed known = find_fstab(a, &place);
	const char *name = strbuf_text(&a->path), *path = strbuf_text(&place);
	if (!name || !path) {
		message(NULL, "%s", strerror(ENOMEM));
		goto out;
	}
	if (known == PATH_UNTOUCHED
	    || (known == PATH_SEEN && run->live && mounts_path_block(run_paths(run), path))) {
		message(name, "accessing it can block; name a copy with --fstab");
		goto out;
	}
	if (known == PATH_MISSING && errno == ENOENT && !named
	    && machine_dangles(&a->machine.host, "/etc/fstab"))
		goto out;
	if (known != PATH_MISSING)
		rc = named ? path_read_named(&run->os, path, named, FILE_MAX, &a->text, &len)
		           : os_read_regular(&run->os, AT_FDCWD, path, FILE_MAX, &a->text, &len);
	if (rc != 0 && (named || errno != ENOENT)) {
		message(name, "cannot be read: %s", path_error(errno));
		goto out;
	}
	bool seen = a->text && run->live
	            && mounts_look(run_paths(run), path, K_STATX_BASIC, &a->st) == 0;
	a->is_there = a->text;
	a->is_seen = seen && !named;
	a->is_closed = seen && !(a->st.mode & (S_IRGRP | S_IROTH));
	a->file = fstab_parse(a->text ? a->text : "", len);
	rc = a->file ? 0 : -1;
	if (rc != 0)
		message(name, "%s", strerror(errno));
out:
	strbuf_destroy(&place);
	return rc;
}

/** With --under, check for data covered by mounts.  @return 0, or -1 (ENOMEM). */
static int check_covered(struct auditing *a, const struct audit_live *live)
{
	struct host_cover cover;
	struct audit_covered *list;
	if (!a->opts->under) {
		audit_not_checked(&a->report, MNT_UNDER_NOT_EMPTY);
		return 0;
	}
	ssize_t n = audit_covered_list(live, &list);
	if (n < 0)
		return -1;
	int rc = 0;
	host_cover_open(&cover, &a->machine.host);
	for (ssize_t i = 0; i < n && rc == 0; ++i)
		rc = host_cover_look(&cover, &list[i].covered);
	host_cover_close(&cover);
	if (rc == 0)
		rc = audit_covered(list, (size_t)n, &a->report);
	audit_covered_free(list, (size_t)n);
	return rc;
}

/** With --holders, check for processes that keep unmounted file systems busy.
    @return 0, or -1 (ENOMEM). */
static int check_holders(struct auditing *a)
{
	struct host_holders holders;
	if (!a->opts->holders) {
		audit_not_checked(&a->report, MNT_HELD);
		return 0;
	}
	int rc = host_read_holders(&a->machine.host, a->file->lines, &holders);
	if (rc == 0 && holders.partly)
		audit_not_checked(&a->report, MNT_HELD);
	if (rc == 0)
		rc = audit_holders(holders.list, holders.count, &a->report);
	host_holders_destroy(&holders);
	return rc;
}

/** Collect the mounts for --baseline and --save, and compare them with the old baseline.
    @return 0, or -1 (ENOMEM). */
static int check_baseline(struct auditing *a, const struct audit_live *live)
{
	struct audit_base_run *base = &a->base;
	if (!base->baseline && !base->save)
		return 0;
	if (audit_baseline_collect(live->plan, live->facts, a->file, &base->now) != 0)
		return -1;
	return base->compared ? audit_baseline_compare(&base->old, &base->now, live->uptime,
	                                               &a->report, &base->counts) : 0;
}

/** Apply the configuration, and compare the findings with the baseline and, with --watch, with the
    findings of the last audit.
    @return 0, or -1 (ENOMEM). */
static int check_findings(struct auditing *a)
{
	struct audit_base_run *base = &a->base;
	audit_report_keep(&a->report, a->opts->rules, a->opts->paths, a->opts->npaths);
	if (audit_config_apply(&a->report, &a->config, a->today) != 0)
		return -1;
	audit_set rules = a->opts->rules & ~(a->config.off | audit_set_of(AR_BASELINE));
	if ((base->baseline || base->save)
	    && audit_baseline_findings(base->compared ? &base->old : NULL, &a->report, rules,
	                               &base->now, &base->counts) != 0)
		return -1;
	return audit_watch_compare(&a->opts->way, &a->report, &a->last);
}

/** Check all rules.  @return 0, or -1 after a message. */
static int check_rules(struct auditing *a)
{
	struct fstab_machine *machine = &a->machine;
	struct run *run = &machine->run;
	struct fstab_input in = {
		.d = run->d, .root = strbuf_str(&machine->root), .swaps = machine->swaps.list,
		.nswaps = machine->swaps.count,
		.id = FSTAB_AUTO, .options = FSTAB_MINIMAL, .file = a->file,
		.facts = machine_facts(machine),
	};
	struct fstab_plan plan;
	struct fstab_match match = {0};
	struct fstab_match_input matching = {a->file, &plan, in.root, &in.facts};
	bool usual = run->live && strcmp(in.root, "/") == 0;
	struct audit_live live = {
		.d = run->d, .root = in.root, .facts = &in.facts,
		.file = a->file, .plan = &plan, .match = &match,
		.units = host_units(&machine->host), .include = a->opts->include,
		.mount_max = run->live ? host_read_number(&run->os, "/proc/sys/fs/mount-max") : -1,
		.uptime = usual ? host_read_number(&run->os, "/proc/uptime") : -1,
		.fstab_seen = a->is_seen, .fstab_mode = a->st.mode, .fstab_uid = a->st.uid,
	};
	struct audit_policy_input policy = {&a->config, run->d, in.root, &in.facts};
	strbuf_puts(&a->merge, "--merge=");
	strbuf_puts(&a->merge, strbuf_str(&a->path));
	struct audit_input text = {
		a->file, &in.facts, run->d, a->is_closed, in.root, !usual,
		a->is_foreign ? strbuf_text(&a->merge) : NULL,
	};
	int host = 0;
	bool done = fstab_plan(&in, &plan) == 0 && fstab_prefer(&plan, a->file, NULL, 0) == 0
	            && audit_fstab(&text, &a->report) == 0
	            && fstab_match(&matching, &match) == 0
	            && audit_own(&plan, &match, a->file, &in.facts) == 0
	            && audit_mounts(&live, &a->report) == 0 && check_covered(a, &live) == 0
	            && check_holders(a) == 0 && audit_drift(&live, &a->report) == 0
	            && audit_units(&live, &a->report) == 0
	            && (host = audit_check_host(machine, &live, &a->report)) == 0
	            && check_baseline(a, &live) == 0 && audit_policy(&policy, &a->report) == 0
	            && check_findings(a) == 0;
	if (done && machine_failed(machine)) {
		done = false;
		errno = ENOMEM;
	}
	if (!done && host != -2)
		message(strbuf_str(&a->path), "could not be audited: %s",
		        strerror(errno ? errno : ENOMEM));
	if (machine->no_swaps)
		a->unavailable = audit_set_of(AR_SWAPS);
	fstab_match_destroy(&match);
	fstab_plan_destroy(&plan);
	return done ? 0 : -1;
}

/** Append the report to the document.
    @failed  Why the audit failed; NULL: the audit succeeded.
    @return an exit status. */
static int report(struct auditing *a, const char *failed, struct strbuf *document)
{
	struct run *run = &a->machine.run;
	struct audit_opts *opts = a->opts;
	struct audit_way *way = &opts->way;
	struct audit_reported reported = {
		.run = run, .report = &a->report, .config = &a->config, .today = a->today,
		.fstab = a->is_there ? strbuf_str(&a->path) : NULL,
		.root = strbuf_str(&a->machine.root), .rules = opts->rules & ~a->unavailable,
		.not_checked = (a->report.not_checked | a->unavailable) & opts->rules
		               & ~a->config.off,
		.least = way->limits.verbose || opts->fail_on == AUDIT_INFO ? AUDIT_INFO
		                                                            : AUDIT_WARNING,
		.failed = failed, .began = a->began, .seconds = os_now() - run->start,
		.mounts = run->d ? run->d->tree.count : 0,
		.baseline = a->base.compared ? a->base.baseline : NULL, .old = &a->base.old,
		.since = &a->base.counts, .last = a->last.compared ? &a->last.old : NULL,
	};
	unsigned missing = (opts->probe ? 0 : AR_PROBE) | (opts->under ? 0 : AR_UNDER)
	                   | (opts->holders ? 0 : AR_HOLDERS);
	audit_report_keep(&a->report, reported.rules, NULL, 0);
	if (opts->is_static)
		reported.not_checked = 0;
	if (reported.not_checked && (way->form == AF_TEXT || way->form == AF_NAGIOS))
		reported.situation = machine_situation(&a->machine);
	reported.situation.foreign = a->is_foreign;
	reported.situation.probe = opts->probe;
	reported.situation.under = opts->under;
	reported.situation.holders = opts->holders;
	reported.lacking = missing ? reported.not_checked & ~audit_set_of(missing)
	                           : reported.not_checked;
	bool found = false;
	for (int severity = opts->fail_on; severity <= AUDIT_CRITICAL; ++severity)
		found |= a->report.of[severity] > 0;
	reported.status = failed ? AX_FAILED
	                  : found ? AX_FINDINGS : run->complete ? AX_CLEAN : AX_FAILED;
	if (failed)
		run_incomplete(run, failed);
	if (!run->host && way->form != AF_TEXT && machine_read(run, false) != 0) {
		document->failed = true;
		return AX_FAILED;
	}
	if (!failed)
		os_mark(MARK_END);
	way->unsaved = !failed && way->save
	               && (audit_way_may_save(way) != 0
	                   || audit_base_text(&a->base, &reported, &way->saved) != 0);
	if (way->watch > 0 && !failed)
		audit_base_write(&a->last.now, &way->saved);
	/* Limit only the findings in the output: the text of the new baseline, made above, has all
	   findings. */
	audit_report_bound(&a->report);
	int status = audit_way_report(way, &reported, document);
	if (way->unsaved)
		strbuf_renew(&way->saved);
	return status;
}

/** Print the configuration.  @return an exit status. */
static int show_config(struct auditing *a)
{
	bool looked = a->machine.run.live && !a->opts->config;
	if (audit_config_show(&a->config, looked ? strbuf_str(&a->machine.root) : NULL,
	                      a->today) == 0)
		return AX_CLEAN;
	return message_error(NULL, ENOMEM, AX_FAILED);
}

/** Whether any mount, or the mount point of any fstab line, is at or below a path from ROOT. */
static bool has_mounts(const struct auditing *a, const char *path)
{
	const struct run *run = &a->machine.run;
	const char *root = strbuf_str(&a->machine.root);
	bool found = false;
	for (size_t i = 0; i < run_count(run) && !found; ++i) {
		const char *name = run_name(run, i);
		name = name ? fstab_from_root(root, name) : NULL;
		found = name && word_below(name, path);
	}
	for (size_t i = 0; i < a->file->count && !found; ++i)
		found = word_below(a->file->entries[i].target, path);
	return found;
}

/** Resolve an operand of the command line.  An absolute operand is a path from ROOT, as in the
    fstab; a relative operand starts at the working directory.
    @place  A buffer to use.
    @return the path from ROOT; NULL: the operand is not below ROOT. */
static const char *follow_path(struct auditing *a, const char *given, struct strbuf *place)
{
	struct fstab_machine *machine = &a->machine;
	const char *root = strbuf_str(&machine->root);
	/* If the operand does not exist, use its text in normal form: the audit reports a missing
	   mount point. */
	if (!root[1] || *given != '/') {
		if (run_resolve(&machine->run, given, place) == PATH_MISSING)
			path_normal(given, place);
		return fstab_from_root(root, strbuf_str(place));
	}
	const char *path = NULL;
	if (machine->run.live && host_follow(&machine->host, given, place) == PATH_SEEN)
		path = fstab_from_root(root, strbuf_str(place));
	if (path)
		return path;
	path_normal(given, place);
	return strbuf_str(place);
}

/** Replace the operands by their resolved paths from ROOT.  @return 0, or -1 after a message. */
static int follow_paths(struct auditing *a)
{
	struct strbuf place = {0};
	bool is_root = !strbuf_str(&a->machine.root)[1];
	int rc = 0;
	for (size_t i = 0; i < a->opts->npaths && rc == 0; ++i) {
		const char *given = a->opts->paths[i], *path = follow_path(a, given, &place);
		char *copy = path ? arena_strndup(&a->names, path, strlen(path)) : NULL;
		if (place.failed || (path && !copy)) {
			rc = message_error(given, ENOMEM, -1);
		} else if (!copy || !has_mounts(a, copy)) {
			message(given, "no mount, and no line, is at or below it; name a mount "
			        "point%s", is_root ? ", or an fstab by --fstab"
			                           : " as the fstab below ROOT does");
			rc = -1;
		} else {
			a->opts->paths[i] = copy;
		}
	}
	strbuf_destroy(&place);
	return rc;
}

/** Perform an audit, and append its report to the document.  @return an exit status. */
static int run_audit(struct audit_opts *opts, struct strbuf *document)
{
	struct auditing a = {.opts = opts, .began = os_time_ms() / 1000};
	struct run *run = &a.machine.run;
	audit_base_init(&a.base, opts->baseline, opts->way.save, opts->include);
	audit_base_init(&a.last, NULL, NULL, opts->include);
	a.today = os_time_ms() / 1000 / 86400;
	machine_init(&a.machine, opts->tab_file);
	a.machine.input.no_table = opts->is_static;
	a.machine.input.probe = opts->probe;
	a.machine.input.lets_expire = true;
	if (opts->probe && !(run->prober = prober_new(&run->os, opts->timeout))) {
		message("--probe", "could not start a prober: %s; nothing was probed",
		        strerror(errno));
		run_incomplete(run, "could not start a prober");
	}
	bool known = run_know(run, AUDIT_FIELDS) == 0;
	prober_free(run->prober);
	run->prober = NULL;
	if (known && opts->tab_file && run_count(run) == 0) {
		message(run->table_name, "no mounts; use a copy of /proc/self/mountinfo");
		known = false;
	}
	known = known && machine_know(&a.machine, opts->root, opts->swaps) == 0;
	if (known)
		audit_watch_all(opts, &a.machine);
	known = known && audit_config_read(&a.machine, opts->config, &a.config) == 0;
	int status = AX_FAILED;
	if (opts->show_config) {
		if (known)
			status = show_config(&a);
	} else if (!known || audit_base_read(&a.base, &a.machine) != 0 || read_fstab(&a) != 0
	           || follow_paths(&a) != 0 || check_rules(&a) != 0) {
		known = false;
		status = report(&a, audit_way_why(&opts->way), document);
	} else {
		status = report(&a, NULL, document);
		for (size_t i = 0; opts->way.form == AF_TEXT && i < run->nreasons; ++i)
			message(NULL, "incomplete: %s", run->reasons[i]);
	}
	if (opts->stats && known)
		stats_print(run, opts->stats, 0);
	audit_base_destroy(&a.base);
	audit_base_destroy(&a.last);
	audit_report_destroy(&a.report);
	arena_destroy(&a.names);
	audit_config_destroy(&a.config);
	fstab_file_free(a.file);
	free(a.text);
	strbuf_destroy(&a.path);
	strbuf_destroy(&a.merge);
	machine_destroy(&a.machine);
	return status;
}

/** Run the command.  @plugin  Called as check_getmnt. */
static int audit(int argc, char **argv, bool plugin)
{
	struct audit_opts opts = {.timeout = 3, .fail_on = AUDIT_WARNING, .rules = audit_set_of(0)};
	struct option_row rows[OPTION_ROWS_MAX];
	audit_way_init(&opts.way);
	plugin = audit_way_plugin(&opts.way, plugin, argc, argv);
	struct option_table table = plugin ? audit_plugin_table(rows) : audit_table;
	set_lost_status(plugin ? NX_UNKNOWN : AX_FAILED);
	if (audit_options_read(&table, argc, argv, &opts) != 0)
		return audit_way_refuse(&opts.way, argc, argv);
	if (!opts.help && !opts.list_rules && !opts.version)
		return (opts.way.watch > 0 ? audit_watch_run : audit_way_run)
		       (&(struct audit_work){&opts, run_audit});
	struct strbuf list = {0};
	if (opts.version)
		text_say(stdout, "check_getmnt " GETMNT_VERSION "\n");
	else if (opts.list_rules)
		audit_list_rules(&opts, &list);
	else
		audit_options_help(&table, plugin);
	int status = print_buffer(&list) == 0 ? AX_CLEAN : AX_FAILED;
	if (status != AX_CLEAN)
		message(NULL, "%s", strerror(ENOMEM));
	status = finish_stdout() == 0 ? status : AX_FAILED;
	audit_way_destroy(&opts.way);
	/* The guidelines of the Monitoring Plugins require UNKNOWN for --help and --version. */
	return plugin ? NX_UNKNOWN : status;
}

int cmd_audit(int argc, char **argv)
{
	return audit(argc, argv, false);
}

int cmd_check(int argc, char **argv)
{
	return audit(argc, argv, true);
}
