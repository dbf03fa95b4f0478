/* SPDX-License-Identifier: MIT */
#include "cmd/audit/options.h"

#include "audit/owner.h"
#include "base/words.h"
#include "cmd/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_MAX = 600 };

static const struct row_option audit_rows[] = {
	{"baseline", 0, "FILE", "tell what came, went and changed since --save=FILE, and which findings are new"},
	{"config", 0, "FILE|none", "the configuration; else ROOT/etc/getmnt/audit.conf, audit.conf.d"},
	{"disable", 0, "CODE,...", "do without these rules"},
	{"fail-on", 0, "info|warning|critical|never", "findings from here on make the status 1: warning"},
	{"fstab", 0, "FILE", "what is wanted; else ROOT/etc/fstab"},
	{"holders", 0, NULL, "look for what holds file systems that are unmounted here"},
	{"include", 0, "OWNER,...", "tell of deleted and hidden mounts of these owners one by one"},
	{"list-rules", 0, NULL, "print the rules, and how grave each is"},
	{"only", 0, "CODE,...", "these rules alone"},
	{"probe", 0, "[local|all]", "touch mounts, with a deadline: those that should not block, or all; at most 16 "
	 "hung ones of a user"},
	{"probe-timeout", 0, "SEC", "the time that one probe may take: 3"},
	{"root", 0, "DIR", "audit what is mounted at and below DIR, by its etc/fstab"},
	{"save", 0, "FILE", "keep what there is now, for --baseline"},
	{"show-config", 0, NULL, "print what is configured, and where"},
	{"stats", 0, "[text|json]", "tell what it cost, on standard error"},
	{"swaps", 0, "FILE", "a recorded /proc/swaps"},
	{"tab-file", 'F', "FILE", "a recorded mountinfo; nothing live is touched but the fstab"},
	{"under", 0, NULL, "look at what lies under mounts: in a copy of the mount below, which nobody sees"},
	AUDIT_WAY_ROWS,
	{"verbose", 'v', NULL, "tell of what is but for information, too"},
	{"help", 'h', NULL, "this text"},
};

const struct row_table audit_table = {
	"audit", audit_rows, sizeof(audit_rows) / sizeof(*audit_rows),
};

void audit_options_help(FILE *out)
{
	fputs("Usage:\n getmnt audit [options]\n\n"
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
static int take_codes(const char *name, const char *value, struct audit_set *set)
{
	for (const char *at = value;; ++at) {
		size_t n = strcspn(at, ",");
		struct audit_set found = {0}, merge = audit_set_of(AR_MERGE);
		audit_codes(at, n, &found);
		audit_set_remove_all(&found, &merge);
		if (!audit_set_count(&found))
			return usage_error(name, "\"%.*s\": no such rule; getmnt audit --list-rules shows them", (int)n, at);
		audit_set_add_all(set, &found);
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
	struct audit_asked *asked = arg;
	struct audit_set set = {0};
	int taken;
	if (audit_way_take(&asked->way, name, value, &taken))
		return taken;
	if (strcmp(name, "fail-on") == 0)
		return rows_word("--fail-on", value, severities, &asked->fail_on);
	if (strcmp(name, "stats") == 0)
		return rows_stats(value, &asked->stats);
	if (strcmp(name, "probe") == 0)
		return rows_word("--probe", value ? value : "local", probes, &asked->probe);
	if (strcmp(name, "probe-timeout") == 0) {
		return take_seconds("--probe-timeout", value, &asked->timeout);
	}
	if (strcmp(name, "include") == 0)
		return take_owners(value, asked->include);
	if (strcmp(name, "disable") == 0 || strcmp(name, "only") == 0) {
		bool only = strcmp(name, "only") == 0;
		int status = take_codes(only ? "--only" : "--disable", value, &set);
		if (only && !asked->only)
			asked->rules = (struct audit_set){0};
		if (!status)
			audit_set_add_all(only ? &asked->rules : &asked->without, &set);
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
	if (strcmp(name, "config") == 0)
		asked->config = value;
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

int audit_options_read(const struct row_table *table, int argc, char **argv, struct audit_asked *asked)
{
	int status = rows_parse(table, argc, argv, take_option, asked);
	if (status || asked->help || asked->list_rules || asked->version)
		return status;
	struct audit_set merge = audit_set_of(AR_MERGE), base = audit_set_of(AR_BASELINE);
	audit_set_remove_all(&asked->rules, &asked->without);
	audit_set_remove_all(&asked->rules, &merge);
	struct audit_set others = asked->rules;
	audit_set_remove_all(&others, &base);
	if (!audit_set_count(&asked->rules))
		return usage_error("--disable", "no rule is left; take one away");
	if (!audit_set_count(&others) && !asked->baseline && !asked->save && !asked->show_config)
		return usage_error("--only", "BASE-* compares with a baseline: --baseline=FILE; --save=FILE makes one");
	if (optind < argc)
		return usage_error(argv[optind], "no operand is taken; --root=DIR or --fstab=FILE");
	if (asked->tab_file && asked->probe)
		return usage_error("--probe", "nothing live is touched with --tab-file");
	if (asked->tab_file && (asked->under || asked->holders))
		return usage_error(asked->under ? "--under" : "--holders", "nothing live is touched with --tab-file");
	if (asked->tab_file && !asked->fstab && !asked->show_config)
		return usage_error("--tab-file", "of a recorded table: name what is wanted as well, --fstab=FILE");
	const struct audit_way *way = &asked->way;
	if (asked->show_config && (way->form != AF_TEXT || way->plugin || way->output || asked->save || asked->baseline))
		return usage_error("--show-config", "stands alone: nothing is audited with it");
	asked->root = asked->root ? asked->root : "/";
	if (asked->save && way->output && strcmp(asked->save, way->output) == 0)
		return usage_error("--save", "%s is that of --output, too; name two files", asked->save);
	asked->way.save = asked->save;
	asked->way.root = asked->root;
	asked->way.live = !asked->tab_file;
	return 0;
}
