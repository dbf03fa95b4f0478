/* SPDX-License-Identifier: MIT */
/*
 * getmnt audit: what an fstab wants, against what is mounted, and what devices are
 * called.
 *
 *     options --> run_know() --> fstab_plan() --> fstab_merge() --> audit_drift() --.
 *                     |                                                              >-- findings
 *     fstab --> lines +--> audit_fstab(), audit_mounts() ----------------------------'
 *     configuration --> audit_policy() ----------------------------------------------^
 *     baseline --> audit_base_judge() -----------------------------------------------^
 *
 * Nothing is written but what --output and --save name, and nothing that can block is touched.
 *
 * Exit status: 0 clean, 1 findings, 2 it could not be audited.
 */
#include "cmd/audit.h"

#include "audit/drift.h"
#include "audit/mounts.h"
#include "audit/owner.h"
#include "audit/policy.h"
#include "base/words.h"
#include "cmd/audit_baseline.h"
#include "cmd/audit_collect.h"
#include "cmd/audit_config.h"
#include "cmd/audit_held.h"
#include "cmd/audit_host.h"
#include "cmd/audit_under.h"
#include "cmd/audit_units.h"
#include "cmd/fstab_machine.h"
#include "cmd/fstab_merge.h"
#include "cmd/input.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/rows.h"
#include "cmd/snapshot.h"
#include "cmd/view.h"
#include "os/change.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_MAX = 64 << 20, OWNERS_MAX = 32, SECONDS_MAX = 600,
	LOCK_SECONDS = 3,         /* and the time of a probe: another run that probes is waited for */
};
enum { AUDIT_FIELDS = DISCOVER_FIELDS | MF_SOURCE | MF_VFS_OPTS | MF_FS_OPTS | MF_PROPAGATION };

struct asked {
	bool help, list_rules, show_config, verbose, version;
	bool only;                /* --only was given */
	uint64_t rules, without;  /* sets of codes: those that are on; those of --disable */
	int fail_on;              /* enum audit_severity; above: never */
	int stats;                /* enum stats_form */
	int probe;                /* enum discover_probe */
	bool under, holders;      /* look at what lies under mounts; at what holds them */
	double timeout;           /* of a probe, in seconds */
	bool timed;               /* ... and it was given */
	const char *baseline, *config, *fstab, *root, *save, *tab_file, *swaps;
	const char *include[OWNERS_MAX + 1];   /* of audit_owners[] */
	struct audit_way way;
	bool collect;
	struct collect_asked of;  /* with --collect */
};

/** All that is audited. */
struct auditing {
	struct asked *asked;
	struct fstab_machine machine;
	struct strbuf path;       /* of the fstab, as it is shown */
	bool is_there;            /* the fstab */
	bool is_seen;             /* ... by its usual name, and this of it: */
	bool is_known;            /* ... who may write to it */
	bool is_closed;           /* nobody but its owner can read it */
	struct k_statx st;
	char *text;
	struct tablines *lines;
	struct audit_config config;
	int64_t today;
	struct audit_report report;
	struct audit_base_run base;
	uint64_t unjudged;        /* beside the report's */
	uint64_t blind;           /* of these, of which nothing is known: not told */
	struct snapshot *snapshot;   /* that ROOT is; or NULL */
	int64_t began;            /* seconds since 1970 */
};

static const struct row_option audit_rows[] = {
	{"baseline", 0, "FILE", "tell what came, went and changed since --save=FILE, and which findings are new"},
	{"collect", 0, NULL, "put together what --jsonl printed on many hosts: FILE..., or - for standard input"},
	{"config", 0, "FILE|none", "the configuration; else ROOT/etc/getmnt/audit.conf, audit.conf.d"},
	{"disable", 0, "CODE,...", "do without these rules"},
	{"fail-on", 0, "info|warning|critical|never", "findings from here on make the status 1: warning"},
	{"fstab", 0, "FILE", "what is wanted; else ROOT/etc/fstab"},
	{"holders", 0, NULL, "look for what holds file systems that are unmounted here"},
	{"hosts", 0, "FILE", "the hosts that there should be, with --collect"},
	{"include", 0, "OWNER,...", "tell of deleted and hidden mounts of these owners one by one"},
	{"list-rules", 0, NULL, "print the rules, and how grave each is"},
	{"max-age", 0, "AGE", "what is older is stale, with --collect; 90m, 26h, 2d"},
	{"only", 0, "CODE,...", "these rules alone"},
	{"probe", 0, "[local|all]", "touch mounts, each with a deadline: those that should not block, or every one"},
	{"probe-timeout", 0, "SEC", "the time that one probe may take: 3"},
	{"root", 0, "DIR", "audit what is mounted at and below DIR, by its etc/fstab"},
	{"save", 0, "FILE", "keep what there is now, for --baseline"},
	{"show-config", 0, NULL, "print what is configured, and where"},
	{"stats", 0, "[json]", "tell what it cost, on standard error"},
	{"swaps", 0, "FILE", "a recorded /proc/swaps"},
	{"tab-file", 'F', "FILE", "a recorded mountinfo; nothing live is touched but the fstab"},
	{"under", 0, NULL, "look at what lies under mounts: in a copy of the mount below, which nobody sees"},
	AUDIT_WAY_ROWS,
	{"verbose", 'v', NULL, "tell of what is but for information, too"},
	{"help", 'h', NULL, "this text"},
};

static const struct row_table audit_table = {
	"audit", audit_rows, sizeof(audit_rows) / sizeof(*audit_rows),
};

static void audit_help(FILE *out)
{
	fputs("Usage:\n getmnt audit [options]\n getmnt audit --collect [options] FILE...\n\n"
	      "Compare what an fstab wants with what is mounted, and with what devices are called.\n\nOptions:\n", out);
	rows_help(&audit_table, out);
	fputs("\nExit status: 0 clean, 1 findings, 2 it could not be audited.\n\nDetails: getmnt-audit(8).\n", out);
}

void audit_option_words(FILE *out)
{
	rows_words(&audit_table, out);
}

/** Read codes with commas between.
    @return 0, or an exit status after a message. */
static int take_codes(const char *name, const char *value, uint64_t *set)
{
	for (const char *at = value;; ++at) {
		size_t n = strcspn(at, ",");
		uint64_t found = audit_codes(at, n) & ~audit_bit(FSTAB_LOST);
		if (!found)
			return usage_error(name, "\"%.*s\": no such rule; getmnt audit --list-rules shows them", (int)n, at);
		*set |= found;
		at += n;
		if (!*at)
			return 0;
	}
}

/** Read owners with commas between.  @return 0, or an exit status after a message. */
static int take_owners(const char *value, const char **include)
{
	size_t n, had = 0;
	for (const char *at = value;; at += n + 1) {
		n = strcspn(at, ",");
		const char *const *owner = audit_owners;
		while (*owner && !word_is(at, n, *owner))
			++owner;
		if (!*owner)
			return usage_error("--include", "\"%.*s\": no such owner; getmnt-audit(8) names them", (int)n, at);
		for (had = 0; include[had] && include[had] != *owner;)
			++had;
		include[had] = *owner;
		if (!at[n])
			return 0;
	}
}

/** Read a time.  @return 0, or an exit status after a message. */
static int take_seconds(const char *name, const char *value, double *seconds)
{
	char *end;
	*seconds = strtod(value, &end);
	if (end == value || *end || !(*seconds > 0 && *seconds <= SECONDS_MAX))
		return usage_error(name, "\"%s\": a number of seconds, above 0 and up to %d", value, SECONDS_MAX);
	return 0;
}

static int take_option(void *arg, const char *name, const char *value)
{
	static const char *const severities[] = {
		[AUDIT_INFO] = "info", [AUDIT_WARNING] = "warning", [AUDIT_CRITICAL] = "critical", "never", NULL,
	};
	static const char *const probes[] = {[DP_NONE] = "", [DP_LOCAL] = "local", [DP_ALL] = "all", NULL};
	struct asked *asked = arg;
	uint64_t set = 0;
	int taken;
	if (audit_way_take(&asked->way, name, value, &taken))
		return taken;
	if (strcmp(name, "max-age") == 0)
		return audit_collect_age(value, &asked->of.max_age);
	if (strcmp(name, "fail-on") == 0)
		return rows_word("--fail-on", value, severities, &asked->fail_on);
	if (strcmp(name, "stats") == 0)
		return rows_stats(value, &asked->stats);
	if (strcmp(name, "probe") == 0)
		return rows_word("--probe", value ? value : "local", probes, &asked->probe);
	if (strcmp(name, "probe-timeout") == 0) {
		asked->timed = true;
		return take_seconds("--probe-timeout", value, &asked->timeout);
	}
	if (strcmp(name, "include") == 0)
		return take_owners(value, asked->include);
	if (strcmp(name, "disable") == 0 || strcmp(name, "only") == 0) {
		bool only = strcmp(name, "only") == 0;
		int status = take_codes(only ? "--only" : "--disable", value, &set);
		if (only && !status)
			asked->rules = asked->only ? asked->rules | set : set;
		else if (!status)
			asked->without |= set;
		asked->only |= only;
		return status;
	}
	if (strcmp(name, "config") == 0 && !*value)
		return usage_error("--config", "name a file, or none");
	if (strcmp(name, "config") == 0 && asked->config)
		return usage_error("--config", "it is given twice; put the lines into one file, or into /etc/getmnt/audit.conf.d");
	/* Of two one would not be audited. */
	if (strcmp(name, "fstab") == 0)
		return rows_once("--fstab", value, &asked->fstab);
	if (strcmp(name, "root") == 0)
		return rows_once("--root", value, &asked->root);
	if (strcmp(name, "tab-file") == 0)
		return rows_once("--tab-file", value, &asked->tab_file);
	if (strcmp(name, "swaps") == 0)
		return rows_once("--swaps", value, &asked->swaps);
	if (strcmp(name, "baseline") == 0)
		return rows_once("--baseline", value, &asked->baseline);
	if (strcmp(name, "save") == 0)
		return rows_once("--save", value, &asked->save);
	if (strcmp(name, "hosts") == 0)
		return rows_once("--hosts", value, &asked->of.hosts);
	if (strcmp(name, "config") == 0)
		asked->config = value;
	else if (strcmp(name, "collect") == 0)
		asked->collect = true;
	else if (strcmp(name, "under") == 0)
		asked->under = true;
	else if (strcmp(name, "holders") == 0)
		asked->holders = true;
	else if (strcmp(name, "list-rules") == 0)
		asked->list_rules = true;
	else if (strcmp(name, "show-config") == 0)
		asked->show_config = true;
	else if (strcmp(name, "verbose") == 0) {
		asked->verbose = true;
		++asked->way.limits.verbose;
	} else if (strcmp(name, "version") == 0)
		asked->version = true;
	else
		asked->help = true;
	return 0;
}

/** Read it.  What was named may be a pipe; else a FIFO is none. */
static int read_text(struct auditing *a, const char *path, size_t *len)
{
	struct run *run = &a->machine.run;
	struct os *os = machine_outside(&a->machine);
	return a->asked->fstab ? os_read_named(os, path, FILE_MAX, &a->text, len)
	                       : os_read_regular(&run->os, AT_FDCWD, path, FILE_MAX, &a->text, len);
}

/** Whether something stands where the fstab should, that leads nowhere; after a message then.
    Leaves errno. */
static bool is_astray(struct auditing *a)
{
	struct fstab_machine *machine = &a->machine;
	const char *root = strbuf_str(&machine->root), *why = NULL;
	struct strbuf part, name;
	int error = errno;
	if (a->asked->fstab)
		return false;
	strbuf_init(&part);
	strbuf_init(&name);
	why = facts_astray(&machine->facts, "/etc/fstab", &part);
	strbuf_printf(&name, "%s%s%s", snapshot_prefix(&machine->run), strcmp(root, "/") == 0 ? "" : root, strbuf_str(&part));
	if (why)
		message(strbuf_str(&name), "%s", why);
	strbuf_destroy(&part);
	strbuf_destroy(&name);
	errno = error;
	return why;
}

/** Read the fstab.  One that is not there, and was not named, is told by the report.
    @return 0, or -1 after a message. */
static int read_fstab(struct auditing *a)
{
	struct fstab_machine *machine = &a->machine;
	struct run *run = &machine->run;
	const struct asked *asked = a->asked;
	struct strbuf place;
	size_t len;
	strbuf_init(&place);
	enum path_known known;
	bool live = run->live && !a->snapshot;
	if (asked->fstab) {
		strbuf_puts(&a->path, asked->fstab);
		known = live ? path_follow(run, asked->fstab, &place) : PATH_SEEN;
		if (!live)
			strbuf_puts(&place, asked->fstab);
	} else {
		const char *root = strbuf_str(&machine->root);
		strbuf_printf(&a->path, "%s%s/etc/fstab", snapshot_prefix(run), strcmp(root, "/") == 0 ? "" : root);
		known = facts_follow(&machine->facts, "/etc/fstab", &place);
	}
	const char *name = strbuf_str(&a->path), *path = strbuf_str(&place);
	int rc = -1;
	if (place.failed || a->path.failed) {
		message(NULL, "%s", strerror(ENOMEM));
	} else if (known == PATH_BLIND || (known == PATH_SEEN && live && path_blocks(run, path))) {
		message(name, "touching it can block; give a copy with --fstab");
	} else if (known == PATH_MISSING && errno == ENOENT && is_astray(a)) {
		rc = -1;
	} else if ((known == PATH_MISSING || read_text(a, path, &len) != 0)
	           && (asked->fstab || !(errno == ENOENT || (errno == EACCES && a->snapshot && known == PATH_MISSING)))) {
		message(name, "cannot be read: %s", errno == ENOTSUP ? "it is no regular file" : path_error(errno));
	} else {
		a->is_there = a->text;
		bool seen = a->text && run->live && (!a->snapshot || !asked->fstab) && path_look(run, path, K_STATX_BASIC, &a->st) == 0;
		bool known_mode = seen && (!a->snapshot || snapshot_mode(a->snapshot, &a->st));
		a->is_seen = seen && !asked->fstab;
		a->is_known = a->is_seen && known_mode;
		a->is_closed = known_mode && !(a->st.mode & (S_IRGRP | S_IROTH));
		if (!a->text) {
			len = 0;
			a->unjudged |= audit_bit(DRIFT_NOT_IN_FSTAB) | audit_bit(SWAP_EXTRA);
			/* What is not recorded may be there. */
			if (a->snapshot && errno == EACCES)
				a->unjudged |= (audit_codes("FSTAB-*", 7) & ~audit_bit(FSTAB_LOST)) | audit_codes("DRIFT-*", 7) | audit_codes("SWAP-*", 6);
		}
		a->lines = tablines_parse(a->text ? a->text : "", len);
		rc = a->lines ? 0 : -1;
		if (rc != 0)
			message(name, "%s", strerror(errno));
	}
	strbuf_destroy(&place);
	return rc;
}

/** Judge what the host has beside its fstab.
    @return 0; -1, ENOMEM; or -2 after a message. */
static int judge_host(struct auditing *a, const struct fstab_merge_input *merge, const struct fstab_facts *facts)
{
	struct audit_gathered gathered;
	struct audit_host *host = &gathered.host;
	audit_gathered_init(&gathered);
	int rc = audit_gather(&gathered, &a->machine, merge, a->is_seen) == 0 ? 0 : -2;
	if (rc == 0) {
		host->lines = a->lines;
		host->plan = merge->plan;
		host->world = &merge->in->world;
		host->facts = facts;
		host->fstab_seen = a->is_known;
		host->fstab_mode = a->st.mode;
		host->fstab_uid = a->st.uid;
		rc = audit_host(host, &a->report);
	}
	audit_gathered_destroy(&gathered);
	return rc;
}

/** Judge what lies under mounts.  @return 0, or -1 (ENOMEM). */
static int judge_under(struct auditing *a, const struct fstab_plan *plan)
{
	struct run *run = &a->machine.run;
	struct audit_under *list;
	if (!a->asked->under) {
		a->unjudged |= audit_bit(MNT_UNDER_NOT_EMPTY);
		return 0;
	}
	ssize_t n = audit_under_list(run->d, plan, a->asked->include, &list);
	if (n < 0)
		return -1;
	int rc = audit_under_look(run, list, (size_t)n);
	if (rc == 0)
		rc = audit_under(list, (size_t)n, &a->report);
	audit_under_free(list, (size_t)n);
	return rc;
}

/** Judge what holds what is not mounted.  @return 0, or -1 (ENOMEM). */
static int judge_holders(struct auditing *a, const struct fstab_facts *facts, bool (*secret)(const char *, const char *))
{
	struct audit_holders holders;
	if (!a->asked->holders) {
		a->unjudged |= audit_bit(MNT_HELD);
		return 0;
	}
	int rc = audit_holders_read(&a->machine.run, a->lines, facts, &holders);
	if (rc == 0 && holders.partly)
		a->unjudged |= audit_bit(MNT_HELD);
	if (rc == 0)
		rc = audit_held(holders.held, holders.count, secret, &a->report);
	audit_holders_destroy(&holders);
	return rc;
}

/** Judge all.  @return 0, or -1 after a message. */
static int judge(struct auditing *a)
{
	struct fstab_machine *machine = &a->machine;
	struct run *run = &machine->run;
	struct fstab_facts facts = facts_functions(&machine->facts);
	struct fstab_input in = {
		.d = run->d, .root = strbuf_str(&machine->root), .swaps = machine->swaps, .nswaps = machine->nswaps,
		.id = FSTAB_AUTO, .options = FSTAB_MINIMAL, .world = machine_world(machine),
	};
	struct fstab_plan plan;
	struct fstab_merged merged = {0};
	struct merge_machine merging = {.facts = &machine->facts, .run = run, .in = &in};
	struct fstab_merge_input merge = merge_input(&merging, &plan, a->lines);
	struct audit_mounts_input mounts = {
		.d = run->d, .plan = &plan, .include = a->asked->include,
		.secret = in.world.secret, .limit = run->live ? audit_read_number(&run->os, "/proc/sys/fs/mount-max") : -1,
	};
	struct audit_drift_input drift = {
		.lines = a->lines, .merged = &merged, .live = &in, .plan = &plan, .facts = &facts,
		.uptime = a->snapshot ? a->snapshot->uptime
		          : run->live && strcmp(in.root, "/") == 0 ? audit_read_number(&run->os, "/proc/uptime") : -1,
	};
	struct audit_policy_input policy = {&a->config, run->d, in.root, &facts, in.world.secret};
	a->config.rules = a->asked->rules;
	int rc = fstab_plan(&in, &plan);
	if (rc == 0)
		rc = audit_fstab(&(struct audit_input){a->lines, &facts, in.world.secret, run->d, a->is_closed}, &a->report);
	if (rc == 0)
		rc = fstab_merge(&merge, &merged);
	if (rc == 0)
		rc = audit_own(&plan, &merged, a->lines, &in.world);
	if (rc == 0)
		rc = audit_mounts(&mounts, &a->report);
	if (rc == 0)
		rc = judge_under(a, &plan);
	if (rc == 0)
		rc = judge_holders(a, &facts, in.world.secret);
	if (rc == 0 && a->is_there)
		rc = audit_drift(&drift, &a->report);
	if (rc == 0)
		rc = audit_judge_units(machine, &in, a->lines, &facts, drift.uptime, &a->report);
	if (rc == 0)
		rc = judge_host(a, &merge, &facts);
	struct audit_base_input taken = {.plan = &plan, .world = &in.world, .merged = &merged, .lines = a->lines};
	if (rc == 0)
		rc = audit_base_judge(&a->base, &taken, drift.uptime, &a->report);
	if (rc == 0)
		rc = audit_policy(&policy, &a->report);
	if (rc == 0)
		rc = audit_config_apply(&a->report, &a->config, a->today);
	if (rc == 0)
		rc = audit_base_age(&a->base, a->config.rules & ~a->config.off, &a->report);
	if (rc == 0 && (run_failed(run) || run->nomem || (machine->system && fstab_system_failed(machine->system))))
		rc = -1;
	if (rc == -1)
		message(strbuf_str(&a->path), "cannot be audited: %s", strerror(errno ? errno : ENOMEM));
	if (machine->no_swaps)
		a->blind = audit_bit(SWAP_NOT_ACTIVE) | audit_bit(SWAP_EXTRA);
	if (mounts.limit < 0)
		a->unjudged |= audit_bit(MNT_LIMIT);
	fstab_merged_destroy(&merged);
	fstab_plan_destroy(&plan);
	return rc == 0 ? 0 : -1;
}

/** Tell.
    @failed  Why it could not be audited; NULL: it was.
    @return an exit status. */
static int tell(struct auditing *a, const char *failed, struct strbuf *document)
{
	struct run *run = &a->machine.run;
	struct asked *asked = a->asked;
	struct audit_told_run told = {
		.run = run, .report = &a->report, .config = &a->config, .today = a->today, .fstab = a->is_there ? strbuf_str(&a->path) : NULL,
		.unasked = (asked->probe ? 0 : audit_bit(MNT_STALE) | audit_bit(MNT_TIMEOUT))
		           | (asked->under ? 0 : audit_bit(MNT_UNDER_NOT_EMPTY)) | (asked->holders ? 0 : audit_bit(MNT_HELD)),
		.root = a->snapshot ? a->snapshot->name : strbuf_str(&a->machine.root), .rules = asked->rules & ~a->blind,
		.unjudged = (a->report.unjudged | a->unjudged | a->blind) & asked->rules & ~a->config.off,
		.least = asked->verbose || asked->fail_on == AUDIT_INFO ? AUDIT_INFO : AUDIT_WARNING,
		.failed = failed, .began = a->began, .seconds = os_now() - run->start, .mounts = run->d ? run->d->tree.count : 0,
		.baseline = a->base.compared ? a->base.baseline : NULL, .old = &a->base.old, .fresh = a->base.fresh, .gone = a->base.gone,
	};
	bool found = false;
	for (size_t i = 0; i < a->report.count; ++i) {
		const struct audit_finding *f = &a->report.findings[i];
		found |= audit_is_on(&told, f) && (int)f->severity >= asked->fail_on;
	}
	told.status = failed ? AX_FAILED : found ? AX_FINDINGS : run->complete ? AX_CLEAN : AX_FAILED;
	if (failed)
		run_incomplete(run, failed);
	if ((!run->host && asked->way.form != AF_TEXT && machine_read(run) != 0)) {
		message(NULL, "%s", strerror(ENOMEM));
		return AX_FAILED;
	}
	asked->way.unsaved = !failed && asked->save
	                     && (audit_way_may_save(&asked->way) != 0 || audit_base_text(&a->base, &told, &asked->way.saved) != 0);
	int status = audit_way_tell(&asked->way, &told, document);
	/* What was not told must be told the next time. */
	if (!failed && asked->save && asked->way.unlogged)
		message(asked->save, "not saved: not all was logged");
	if (asked->way.unsaved || asked->way.unlogged)
		strbuf_reset(&asked->way.saved);
	return status;
}

/** Print the configuration.  @return an exit status. */
static int show_config(struct auditing *a)
{
	bool looked = a->machine.run.live && !a->asked->config;
	if (audit_config_show(&a->config, looked ? strbuf_str(&a->machine.root) : NULL, a->today) == 0)
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
	snapshot_close(a->snapshot);
}

/** Ask the snapshot from here on.  @return 0, or -1 after a message. */
static int enter_snapshot(struct auditing *a)
{
	/* What is told of a failure is not of this host. */
	a->asked->way.live = false;
	const struct asked *asked = a->asked;
	const char *live = asked->probe ? "--probe" : asked->under ? "--under" : asked->holders ? "--holders" : NULL;
	if (!live)
		return machine_enter(&a->machine, a->snapshot);
	message(live, "%s is a snapshot: nothing live is touched", a->snapshot->name);
	return -1;
}

/** @return an exit status. */
static int run_audit(void *arg, struct strbuf *document)
{
	struct asked *asked = arg;
	struct auditing a = {.asked = asked, .began = os_time_ms() / 1000};
	struct run *run = &a.machine.run;
	strbuf_init(&a.path);
	audit_report_init(&a.report);
	audit_config_init(&a.config);
	audit_base_init(&a.base);
	a.base.baseline = asked->baseline;
	a.base.save = asked->save;
	for (size_t i = 0; asked->include[i]; ++i)
		a.base.include |= audit_owner_bit(asked->include[i]);
	bool known = asked->tab_file || snapshot_open(asked->root, &a.snapshot) == 0;
	a.today = a.snapshot && a.snapshot->time >= 0 ? a.snapshot->time / 86400 : audit_today();
	machine_init(&a.machine, asked->tab_file, asked->stats);
	a.machine.options.probe = asked->probe;
	a.machine.options.lets_expire = true;
	a.machine.options.probe_lock = asked->timeout + LOCK_SECONDS;
	if (a.snapshot) {
		known = enter_snapshot(&a) == 0;
	} else if (known && asked->probe && !(run->prober = prober_new(&run->os, asked->timeout))) {
		message("--probe", "no prober could be started: %s; nothing was probed", strerror(errno));
		run_incomplete(run, "no prober could be started");
	}
	known = known && run_know(run, AUDIT_FIELDS) == 0;
	prober_free(run->prober);
	run->prober = NULL;
	int status = AX_FAILED;
	if (known && (asked->tab_file || a.snapshot) && run_count(run) == 0) {
		message(run->table_name, "has no mount: give a copy of /proc/self/mountinfo");
		known = false;
	}
	if (!known || machine_know(&a.machine, asked->root, asked->swaps) != 0
	    || audit_config_read(&a.machine, asked->config, &a.config) != 0
	    || (!asked->show_config && (audit_base_read(&a.base, &a.machine) != 0 || read_fstab(&a) != 0 || judge(&a) != 0))) {
		status = asked->show_config ? AX_FAILED : tell(&a, audit_way_why(&asked->way), document);
		goto out;
	}
	os_mark(MARK_END);
	status = asked->show_config ? show_config(&a) : tell(&a, NULL, document);
	if (audit_way_is_text(&asked->way) && !asked->show_config) {
		for (size_t i = 0; i < run->nreasons; ++i)
			message(NULL, "not all is known: %s", run->reasons[i]);
	}
	if (asked->stats)
		stats_print(run);
out:
	auditing_destroy(&a);
	return status;
}

int audit_listen(void (*seen)(void *arg, int dirfd, const char *path, int flags), void *seen_arg,
                 void (*done)(void *arg, struct fstab_machine *machine), void *done_arg)
{
	struct asked asked = {.root = "/", .rules = audit_bit(AUDIT_CODES) - 1};
	struct auditing a = {.asked = &asked, .today = audit_today()};
	struct run *run = &a.machine.run;
	strbuf_init(&a.path);
	audit_report_init(&a.report);
	audit_config_init(&a.config);
	audit_base_init(&a.base);
	machine_init(&a.machine, NULL, 0);
	a.machine.options.lets_expire = true;
	int rc = run_know(run, AUDIT_FIELDS) == 0 ? 0 : -1;
	if (rc == 0) {
		/* What was asked of devices for the mounts is asked again, to be heard. */
		devmap_free(run->devs);
		run->devs = discover_devmap(&run->os, run->table);
		rc = run->devs ? 0 : -1;
	}
	if (rc == 0) {
		devmap_set_judge(run->devs, path_blocks, run);
		run->os.seen_arg = seen_arg;
		run->os.seen = seen;
		/* What cannot be judged is what somebody wants to show. */
		if (machine_know(&a.machine, asked.root, NULL) == 0) {
			audit_config_read(&a.machine, NULL, &a.config);
			if (read_fstab(&a) == 0)
				judge(&a);
		}
		run->os.seen = NULL;
		done(done_arg, &a.machine);
	}
	auditing_destroy(&a);
	return rc;
}

/** See that options go together with --collect.  @return 0, or an exit status after a message. */
static int read_collect(int argc, char **argv, struct asked *asked)
{
	const struct {
		bool given;
		const char *name;
	} others[] = {
		{asked->config, "--config"}, {asked->fstab, "--fstab"}, {asked->root, "--root"}, {asked->tab_file, "--tab-file"},
		{asked->swaps, "--swaps"}, {asked->include[0], "--include"}, {asked->probe, "--probe"}, {asked->show_config, "--show-config"},
		{asked->stats, "--stats"}, {asked->way.log, "--syslog"}, {asked->way.seconds >= 0, "--max-time"},
		{asked->baseline, "--baseline"}, {asked->save, "--save"}, {asked->under, "--under"}, {asked->holders, "--holders"},
		{asked->timed, "--probe-timeout"},
	};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); ++i) {
		if (others[i].given)
			return usage_error(others[i].name, "nothing is audited with --collect: give it where --jsonl is printed");
	}
	if (asked->way.form != AF_TEXT && asked->way.form != AF_JSON)
		return usage_error("--format", "with --collect there is text or json");
	if (optind == argc)
		return usage_error("--collect", "name the files that have what --jsonl printed, or - for standard input");
	asked->of.way = &asked->way;
	asked->of.files = argv + optind;
	asked->of.rules = asked->rules;
	asked->of.only = asked->only;
	asked->of.fail_on = asked->fail_on;
	asked->of.verbose = asked->verbose;
	return 0;
}

/** Read what was asked for.  @return 0, or an exit status after a message. */
static int read_options(const struct row_table *table, int argc, char **argv, struct asked *asked)
{
	int status = rows_parse(table, argc, argv, take_option, asked);
	if (status || asked->help || asked->list_rules || asked->version)
		return status;
	const uint64_t base = audit_bit(BASE_CAME) | audit_bit(BASE_WENT) | audit_bit(BASE_CHANGED);
	asked->rules &= ~(asked->without | audit_bit(FSTAB_LOST));
	if (!asked->rules)
		return usage_error("--disable", "no rule is left; take one away");
	if (asked->collect)
		return read_collect(argc, argv, asked);
	if (!(asked->rules & ~base) && !asked->baseline && !asked->save && !asked->show_config)
		return usage_error("--only", "BASE-* compares with a baseline: --baseline=FILE; --save=FILE makes one");
	if (asked->of.hosts || asked->of.max_age >= 0)
		return usage_error(asked->of.hosts ? "--hosts" : "--max-age", "is for --collect alone");
	if (optind < argc)
		return usage_error(argv[optind], "no operand is taken; --root=DIR or --fstab=FILE");
	if (asked->tab_file && asked->probe)
		return usage_error("--probe", "nothing live is touched with --tab-file");
	if (asked->tab_file && (asked->under || asked->holders))
		return usage_error(asked->under ? "--under" : "--holders", "nothing live is touched with --tab-file");
	if (asked->tab_file && !asked->fstab && !asked->show_config)
		return usage_error("--tab-file", "of a recorded table: name what is wanted as well, --fstab=FILE");
	const struct audit_way *way = &asked->way;
	if (asked->show_config && (way->form != AF_TEXT || way->plugin || way->output || way->log || asked->save || asked->baseline))
		return usage_error("--show-config", "stands alone: nothing is audited with it");
	if (way->form == AF_SYSLOG && way->output)
		return usage_error("--output", "--format=syslog prints nothing; --syslog goes beside another form");
	asked->root = asked->root ? asked->root : "/";
	if (asked->save && way->output && strcmp(asked->save, way->output) == 0)
		return usage_error("--save", "%s is that of --output, too; name two files", asked->save);
	asked->way.save = asked->save;
	asked->way.root = asked->root;
	asked->way.live = !asked->tab_file;
	return 0;
}

/** @plugin  It is called as check_getmnt. */
static int audit(int argc, char **argv, bool plugin)
{
	struct asked asked = {.of.max_age = -1, .timeout = 3, .fail_on = AUDIT_WARNING, .rules = audit_bit(AUDIT_CODES) - 1};
	struct row_option rows[ROWS_MAX];
	struct row_table table = audit_table;
	audit_way_init(&asked.way);
	if (audit_way_plugin(&asked.way, &audit_table, plugin, argc, argv))
		table = audit_plugin_table(&audit_table, rows);
	if (read_options(&table, argc, argv, &asked) != 0)
		return audit_way_refuse(&asked.way, argc, argv);
	if (!asked.help && !asked.list_rules && !asked.version && asked.collect)
		return audit_collect(&asked.of);
	if (!asked.help && !asked.list_rules && !asked.version)
		return audit_way_run(&asked.way, run_audit, &asked);
	if (asked.version)
		puts("check_getmnt " GETMNT_VERSION);
	else if (asked.list_rules)
		audit_list_rules(stdout);
	else if (asked.way.plugin)
		audit_plugin_help(&table, stdout);
	else
		audit_help(stdout);
	int status = finish_stdout(true) == 0 ? AX_CLEAN : AX_FAILED;
	/* As the guidelines have it: nothing was checked. */
	if (asked.way.plugin)
		status = NX_UNKNOWN;
	audit_way_destroy(&asked.way);
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
