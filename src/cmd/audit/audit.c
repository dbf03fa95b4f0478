/* SPDX-License-Identifier: MIT */
/*
 * getmnt audit: an fstab compared with what is mounted and with the devices of the machine.
 *
 *     options --> run_know() --> fstab_plan() --> fstab_match() --> audit_drift() --.
 *                     |                                                              >-- findings
 *     fstab --> lines +--> audit_fstab(), audit_mounts() ----------------------------'
 *     configuration --> audit_policy() ----------------------------------------------^
 *     baseline --> audit_base_judge() -----------------------------------------------^
 *
 * Only --output and --save write files, and nothing that can block is touched.
 *
 * Exit status: 0 clean, 1 findings, 2 the audit failed.
 */
#include "cmd/audit/audit.h"

#include "audit/owner.h"
#include "audit/policy.h"
#include "cmd/audit/baseline.h"
#include "cmd/audit/config.h"
#include "cmd/audit/host.h"
#include "cmd/audit/options.h"
#include "cmd/machine.h"
#include "cmd/output.h"
#include "cmd/view.h"
#include "os/change.h"
#include "os/file.h"
#include "path/named.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 20 };
enum { AUDIT_FIELDS = DISCOVER_FIELDS | MF_SOURCE | MF_VFS_OPTS | MF_FS_OPTS | MF_PROPAGATION };

/** All that is audited. */
struct auditing {
	struct audit_opts *opts;
	struct fstab_machine machine;
	struct strbuf path;       /* of the fstab, as it is shown */
	bool is_there;            /* the fstab exists */
	bool is_lost;             /* it is known not to exist */
	bool is_seen;             /* it was read at its usual place: `st` is known */
	bool is_closed;           /* only its owner can read it */
	struct k_statx st;
	char *text;
	struct tablines *lines;
	struct audit_config config;
	int64_t today;
	struct audit_report report;
	struct audit_base_run base;
	struct audit_set unavailable;  /* the rules whose input could not be read: no findings */
	int64_t began;            /* seconds since 1970 */
};

/** Read the fstab.  A named one may be a pipe; at the usual place it must be a regular file. */
static int read_text(struct auditing *a, const char *path, size_t *len)
{
	struct run *run = &a->machine.run;
	struct os *os = &run->os;
	return a->opts->fstab ? path_read_named(os, path, a->opts->fstab, FILE_MAX, &a->text, len)
	                       : os_read_regular(os, AT_FDCWD, path, FILE_MAX, &a->text, len);
}

/** Read the fstab.  If it does not exist and was not named, the report says so.
    @return 0, or -1 after a message. */
static int read_fstab(struct auditing *a)
{
	struct fstab_machine *machine = &a->machine;
	struct run *run = &machine->run;
	const struct audit_opts *opts = a->opts;
	struct strbuf place;
	size_t len;
	strbuf_init(&place);
	enum host_followed known;
	bool live = run->live;
	if (opts->fstab) {
		strbuf_puts(&a->path, opts->fstab);
		known = live ? path_follow(run, opts->fstab, &place) : HOST_SEEN;
		if (!live)
			strbuf_puts(&place, opts->fstab);
	} else {
		const char *root = strbuf_str(&machine->root);
		strbuf_printf(&a->path, "%s/etc/fstab", strcmp(root, "/") == 0 ? "" : root);
		known = host_follow(&machine->host, "/etc/fstab", &place);
	}
	const char *name = strbuf_str(&a->path), *path = strbuf_str(&place);
	int rc = -1;
	if (place.failed || a->path.failed) {
		message(NULL, "%s", strerror(ENOMEM));
	} else if (known == HOST_BLIND || (known == HOST_SEEN && live && path_blocks(run, path))) {
		message(name, "touching it can block; name a copy with --fstab");
	} else if (known == HOST_MISSING && errno == ENOENT && !opts->fstab
	           && machine_dangles(&machine->host, "/etc/fstab")) {
		rc = -1;
	} else if ((known == HOST_MISSING || read_text(a, path, &len) != 0)
	           && (opts->fstab || errno != ENOENT)) {
		message(name, "cannot be read: %s", path_error(errno));
	} else {
		a->is_there = a->text;
		bool seen = a->text && run->live
		    && path_look(run, path, K_STATX_BASIC, &a->st) == 0;
		a->is_seen = seen && !opts->fstab;
		a->is_closed = seen && !(a->st.mode & (S_IRGRP | S_IROTH));
		if (!a->text) {
			len = 0;
			a->is_lost = true;
		}
		a->lines = tablines_parse(a->text ? a->text : "", len);
		rc = a->lines ? 0 : -1;
		if (rc != 0)
			message(name, "%s", strerror(errno));
	}
	strbuf_destroy(&place);
	return rc;
}

/** Check for data that mounts cover.  @return 0, or -1 (ENOMEM). */
static int judge_covered(struct auditing *a, const struct audit_live *live)
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

/** Check what holds unmounted file systems.  @return 0, or -1 (ENOMEM). */
static int judge_holders(struct auditing *a, const struct audit_live *live)
{
	struct host_holders holders;
	if (!a->opts->holders) {
		audit_not_checked(&a->report, MNT_HELD);
		return 0;
	}
	int rc = host_read_holders(&a->machine.host, a->lines, &holders);
	if (rc == 0 && holders.partly)
		audit_not_checked(&a->report, MNT_HELD);
	if (rc == 0)
		rc = audit_holders(live, holders.list, holders.count, &a->report);
	host_holders_destroy(&holders);
	return rc;
}

/** Compare the findings with those of the baseline.  @return 0, or -1 (ENOMEM). */
static int judge_findings(struct auditing *a)
{
	struct audit_set rules = a->opts->rules;
	rules.bits &= ~a->config.off.bits;
	return audit_base_findings(&a->base, &rules, &a->report);
}

/** Check all rules.  @return 0, or -1 after a message. */
static int judge(struct auditing *a)
{
	struct fstab_machine *machine = &a->machine;
	struct run *run = &machine->run;
	struct fstab_facts facts = machine_facts(&machine->host);
	struct fstab_input in = {
		.d = run->d, .root = strbuf_str(&machine->root), .swaps = machine->swaps.list,
		.nswaps = machine->swaps.count,
		.id = FSTAB_AUTO, .options = FSTAB_MINIMAL, .world = machine_world(machine),
	};
	struct fstab_plan plan;
	struct fstab_match match = {0};
	struct machine_merge merging = {.host = &machine->host, .in = &in};
	struct fstab_match_input matching = machine_match_input(&merging, &plan, a->lines);
	bool usual = run->live && strcmp(in.root, "/") == 0;
	struct audit_live live = {
		.d = run->d, .root = in.root, .world = &in.world, .facts = &facts,
		.lines = a->lines, .plan = &plan, .match = &match,
		.units = host_units(&machine->host), .include = a->opts->include,
		.mount_max = run->live ? host_read_number(&run->os, "/proc/sys/fs/mount-max") : -1,
		.uptime = usual ? host_read_number(&run->os, "/proc/uptime") : -1,
		.fstab_seen = a->is_seen, .fstab_mode = a->st.mode, .fstab_uid = a->st.uid,
	};
	struct audit_policy_input policy = {&a->config, run->d, in.root, &facts, in.world.secret};
	a->config.rules = a->opts->rules;
	/* To be destroyed. */
	int rc = fstab_plan(&in, &plan);
	if (rc == 0)
		rc = audit_fstab(&(struct audit_input){a->lines, &facts, in.world.secret, run->d,
			a->is_closed, in.root}, &a->report);
	if (rc == 0)
		rc = fstab_match(&matching, &match);
	if (rc == 0)
		rc = audit_own(&plan, &match, a->lines, &in.world);
	if (rc == 0)
		rc = audit_mounts(&live, &a->report);
	if (rc == 0)
		rc = judge_covered(a, &live);
	if (rc == 0)
		rc = judge_holders(a, &live);
	if (rc == 0 && (a->is_there || a->is_lost))
		rc = audit_drift(&live, &a->report);
	if (rc == 0)
		rc = audit_units(&live, &a->report);
	if (rc == 0)
		rc = audit_judge_host(machine, &live, &a->report);
	if (rc == 0)
		rc = audit_base_judge(&a->base, &plan, &in.world, a->lines, live.uptime,
		                      &a->report);
	if (rc == 0)
		rc = audit_policy(&policy, &a->report);
	if (rc == 0)
		rc = audit_config_apply(&a->report, &a->config, a->today);
	if (rc == 0)
		rc = judge_findings(a);
	if (rc == 0 && machine_failed(machine)) {
		rc = -1;
		errno = ENOMEM;
	}
	if (rc == -1)
		message(strbuf_str(&a->path), "could not be audited: %s",
		        strerror(errno ? errno : ENOMEM));
	if (machine->no_swaps)
		a->unavailable = audit_set_of(AR_SWAPS);
	fstab_match_destroy(&match);
	fstab_plan_destroy(&plan);
	return rc == 0 ? 0 : -1;
}

/** Print the report.
    @failed  Why the audit failed; NULL: it did not.
    @return an exit status. */
static int report(struct auditing *a, const char *failed, struct strbuf *document)
{
	struct run *run = &a->machine.run;
	struct audit_opts *opts = a->opts;
	struct audit_reported reported = {
		.run = run, .report = &a->report, .config = &a->config, .today = a->today,
		.fstab = a->is_there ? strbuf_str(&a->path) : NULL,
		.root = strbuf_str(&a->machine.root), .rules = opts->rules,
		.not_checked = a->report.not_checked,
		.least = opts->verbose || opts->fail_on == AUDIT_INFO ? AUDIT_INFO : AUDIT_WARNING,
		.failed = failed, .began = a->began, .seconds = os_now() - run->start,
		.mounts = run->d ? run->d->tree.count : 0,
		.baseline = a->base.compared ? a->base.baseline : NULL, .old = &a->base.old,
		.since = &a->base.counts,
	};
	unsigned missing = (opts->probe ? 0 : AR_PROBE) | (opts->under ? 0 : AR_UNDER)
	                   | (opts->holders ? 0 : AR_HOLDERS);
	struct audit_set optional = missing ? audit_set_of(missing) : (struct audit_set){0};
	reported.rules.bits &= ~a->unavailable.bits;
	reported.not_checked.bits |= a->unavailable.bits;
	reported.not_checked.bits &= opts->rules.bits;
	reported.not_checked.bits &= ~a->config.off.bits;
	reported.lacking = reported.not_checked;
	reported.lacking.bits &= ~optional.bits;
	bool found = false;
	size_t of[AUDIT_CRITICAL + 1];
	audit_count(&reported, of);
	for (int severity = opts->fail_on; severity <= AUDIT_CRITICAL; ++severity)
		found |= of[severity] > 0;
	reported.status = failed          ? AX_FAILED
	                  : found         ? AX_FINDINGS
	                  : run->complete ? AX_CLEAN
	                                  : AX_FAILED;
	if (failed)
		run_incomplete(run, failed);
	if ((!run->host && opts->way.form != AF_TEXT && machine_read(run) != 0)) {
		document->failed = true;
		return AX_FAILED;
	}
	opts->way.unsaved = !failed && opts->save
	                     && (audit_way_may_save(&opts->way) != 0
	                         || audit_base_text(&a->base, &reported, &opts->way.saved) != 0);
	/* A baseline keeps all findings; no format lists all of them. */
	audit_report_bound(&a->report, &reported.rules);
	int status = audit_way_report(&opts->way, &reported, document);
	if (opts->way.unsaved)
		strbuf_reset(&opts->way.saved);
	return status;
}

/** Print the configuration.  @return an exit status. */
static int show_config(struct auditing *a)
{
	bool looked = a->machine.run.live && !a->opts->config;
	if (audit_config_show(&a->config, looked ? strbuf_str(&a->machine.root) : NULL,
	                      a->today) == 0)
		return AX_CLEAN;
	message(NULL, "%s", strerror(ENOMEM));
	return AX_FAILED;
}

static void auditing_destroy(struct auditing *a)
{
	audit_base_destroy(&a->base);
	audit_report_destroy(&a->report);
	audit_config_destroy(&a->config);
	tablines_free(a->lines);
	free(a->text);
	strbuf_destroy(&a->path);
	machine_destroy(&a->machine);
}

/** @return an exit status. */
static int run_audit(void *arg, struct strbuf *document)
{
	struct audit_opts *opts = arg;
	struct auditing a = {.opts = opts, .began = os_time_ms() / 1000};
	struct run *run = &a.machine.run;
	strbuf_init(&a.path);
	audit_report_init(&a.report);
	audit_config_init(&a.config);
	audit_base_init(&a.base, opts->baseline, opts->save, opts->include);
	a.today = audit_today();
	machine_init(&a.machine, opts->tab_file, opts->stats);
	a.machine.options.probe = opts->probe;
	a.machine.options.lets_expire = true;
	if (opts->probe && !(run->prober = prober_new(&run->os, opts->timeout))) {
		message("--probe", "could not start a prober: %s; nothing was probed",
		        strerror(errno));
		run_incomplete(run, "could not start a prober");
	}
	bool known = run_know(run, AUDIT_FIELDS) == 0;
	prober_free(run->prober);
	run->prober = NULL;
	int status = AX_FAILED;
	if (known && opts->tab_file && run_count(run) == 0) {
		message(run->table_name, "no mounts; use a copy of /proc/self/mountinfo");
		known = false;
	}
	if (!known || machine_know(&a.machine, opts->root, opts->swaps) != 0
	    || audit_config_read(&a.machine, opts->config, &a.config) != 0
	    || (!opts->show_config && (audit_base_read(&a.base, &a.machine) != 0
	                               || read_fstab(&a) != 0 || judge(&a) != 0))) {
		status = opts->show_config ? AX_FAILED
		    : report(&a, audit_way_why(&opts->way), document);
		goto out;
	}
	os_mark(MARK_END);
	status = opts->show_config ? show_config(&a) : report(&a, NULL, document);
	if (audit_way_is_text(&opts->way) && !opts->show_config) {
		for (size_t i = 0; i < run->nreasons; ++i)
			message(NULL, "incomplete: %s", run->reasons[i]);
	}
	if (opts->stats)
		stats_print(run);
out:
	auditing_destroy(&a);
	return status;
}

/** @plugin  It is called as check_getmnt. */
static int audit(int argc, char **argv, bool plugin)
{
	struct audit_opts opts = {.timeout = 3, .fail_on = AUDIT_WARNING, .rules = audit_set_of(0)};
	struct option_row rows[OPTION_ROWS_MAX];
	struct option_table table = audit_table;
	audit_way_init(&opts.way);
	if (audit_way_plugin(&opts.way, &audit_table, plugin, argc, argv))
		table = audit_plugin_table(&audit_table, rows);
	if (audit_options_read(&table, argc, argv, &opts) != 0)
		return audit_way_refuse(&opts.way, argc, argv);
	if (!opts.help && !opts.list_rules && !opts.version)
		return audit_way_run(&opts.way, run_audit, &opts);
	if (opts.version)
		puts("check_getmnt " GETMNT_VERSION);
	else if (opts.list_rules)
		audit_list_rules(stdout);
	else if (opts.way.plugin)
		audit_plugin_help(&table, stdout);
	else
		audit_options_help(stdout);
	int status = finish_stdout(true) == 0 ? AX_CLEAN : AX_FAILED;
	/* As the guidelines of the plugins say. */
	if (opts.way.plugin)
		status = NX_UNKNOWN;
	audit_way_destroy(&opts.way);
	return status;
}

int cmd_audit(int argc, char **argv)
{
	return audit(argc, argv, false);
}

int cmd_check(int argc, char **argv)
{
	return audit(argc, argv, true);
}
