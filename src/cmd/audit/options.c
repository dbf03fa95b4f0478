/* SPDX-License-Identifier: MIT */
#include "cmd/audit/options.h"

#include "audit/owner.h"
#include "base/words.h"
#include "cmd/listing.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_MAX = 600 };

static const struct option_row audit_rows[] = {
	OPTION_GROUP("Rules"),
	{"config", 0, "FILE|none", "the configuration (ROOT/etc/getmnt/audit.conf)"},
	{"disable", 0, "CODE,...", "without these rules"},
	{"include", 0, "OWNER,...", "report each deleted or hidden mount of these owners"},
	{"list-rules", 0, NULL, "list the rules and their severities"},
	{"only", 0, "CODE,...", "only these rules"},
	{"show-config", 0, NULL, "print the configuration and where it comes from"},
	OPTION_GROUP("Input"),
	{"baseline", 0, "FILE", "report what changed since --save=FILE"},
	{"fstab", 0, "FILE", "the fstab (ROOT/etc/fstab)"},
	{"holders", 0, NULL, "look for holders of unmounted file systems"},
	{"probe", 0, "[local|all]", "touch mounts, with a time limit",
	 OPT_IS_WORD(struct audit_opts, probe), .base = DP_LOCAL},
	{"probe-timeout", 0, "SEC", "time limit of a probe (3)"},
	{"root", 0, "DIR", "audit the mounts at and below DIR"},
	{"save", 0, "FILE", "save the present state for --baseline"},
	{"swaps", 0, "FILE", "a recorded /proc/swaps"},
	{"tab-file", 'F', "FILE", "a recorded mountinfo instead of the live mounts"},
	{"under", 0, NULL, "look for files that mounts cover"},
	AUDIT_WAY_ROWS,
	OPTION_GROUP("General"),
	{"fail-on", 0, "SEVERITY", "exit 1 from this on: info, warning, critical, never",
	 "info|warning|critical|never", OPT_IS_WORD(struct audit_opts, fail_on)},
	OPTION_STATS(struct audit_opts, stats),
	{"verbose", 'v', NULL, "print informational findings as well"},
	{"help", 'h', NULL, "this help"},
};

const struct option_table audit_table = {
	"audit", audit_rows, sizeof(audit_rows) / sizeof(*audit_rows),
};

void audit_options_help(FILE *out)
{
	options_help(&audit_table,
	             "Usage:\n getmnt audit [options]\n\n"
	             "Compare an fstab with what is mounted and with the devices of this "
	             "machine.\n",
	             "Exit status: 0 clean, 1 findings, 2 could not be audited.\n", out);
}

/** Read codes with commas between.
    @return 0, or an exit status after a message. */
static int take_codes(const char *name, const char *value, struct audit_set *set)
{
	for (const char *at = value;; ++at) {
		size_t n = strcspn(at, ",");
		struct audit_set found = {0}, merge = audit_set_of(AR_MERGE);
		audit_codes(at, n, &found);
		found.bits &= ~merge.bits;
		if (!found.bits)
			return usage_error(name, "unknown rule \"%.*s\"; getmnt audit --list-rules "
			                         "prints them", (int)n, at);
		set->bits |= found.bits;
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
			return usage_error("--include", "unknown owner \"%.*s\"; getmnt-audit(8) "
			                                "lists them", (int)n, at);
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
		return usage_error(name, "\"%s\": must be a number of seconds above 0, at most %d",
		                   value,
		                   SECONDS_MAX);
	return 0;
}

static int take_option(void *arg, const char *name, const char *value)
{
	struct audit_opts *opts = arg;
	struct audit_set set = {0};
	int taken;
	if (audit_way_take(&opts->way, name, value, &taken))
		return taken;
	if (strcmp(name, "probe-timeout") == 0)
		return take_seconds("--probe-timeout", value, &opts->timeout);
	if (strcmp(name, "include") == 0)
		return take_owners(value, opts->include);
	if (strcmp(name, "disable") == 0 || strcmp(name, "only") == 0) {
		bool only = strcmp(name, "only") == 0;
		int status = take_codes(only ? "--only" : "--disable", value, &set);
		if (only && !opts->only)
			opts->rules = (struct audit_set){0};
		if (!status)
			(only ? &opts->rules : &opts->without)->bits |= set.bits;
		opts->only |= only;
		return status;
	}
	if (strcmp(name, "config") == 0 && !*value)
		return usage_error("--config", "name a file, or none");
	if (strcmp(name, "config") == 0 && opts->config)
		return usage_error("--config", "given twice; put the lines into one file, or "
		                               "into /etc/getmnt/audit.conf.d");
	/* Of two one would not be audited. */
	if (strcmp(name, "fstab") == 0)
		return option_once("--fstab", value, &opts->fstab);
	if (strcmp(name, "root") == 0)
		return option_once("--root", value, &opts->root);
	if (strcmp(name, "tab-file") == 0)
		return option_once("--tab-file", value, &opts->tab_file);
	if (strcmp(name, "swaps") == 0)
		return option_once("--swaps", value, &opts->swaps);
	if (strcmp(name, "baseline") == 0)
		return option_once("--baseline", value, &opts->baseline);
	if (strcmp(name, "save") == 0)
		return option_once("--save", value, &opts->save);
	if (strcmp(name, "config") == 0)
		opts->config = value;
	else if (strcmp(name, "under") == 0)
		opts->under = true;
	else if (strcmp(name, "holders") == 0)
		opts->holders = true;
	else if (strcmp(name, "list-rules") == 0)
		opts->list_rules = true;
	else if (strcmp(name, "show-config") == 0)
		opts->show_config = true;
	else if (strcmp(name, "verbose") == 0) {
		opts->verbose = true;
		++opts->way.limits.verbose;
	} else if (strcmp(name, "version") == 0)
		opts->version = true;
	else
		opts->help = true;
	return 0;
}

int audit_options_read(const struct option_table *table, int argc, char **argv,
                       struct audit_opts *opts)
{
	int status = options_read(table, argc, argv, opts, take_option);
	if (status || opts->help || opts->list_rules || opts->version)
		return status;
	struct audit_set merge = audit_set_of(AR_MERGE), base = audit_set_of(AR_BASELINE);
	opts->rules.bits &= ~opts->without.bits;
	opts->rules.bits &= ~merge.bits;
	struct audit_set others = opts->rules;
	others.bits &= ~base.bits;
	if (!opts->rules.bits)
		return usage_error("--disable", "all rules are disabled; remove a code");
	if (!others.bits && !opts->baseline && !opts->save && !opts->show_config)
		return usage_error("--only", "BASE-* compares with a baseline: --baseline=FILE; "
		                             "--save=FILE makes one");
	if (optind < argc)
		return usage_error(argv[optind],
		                   "unexpected argument; use --root=DIR or --fstab=FILE");
	if (opts->tab_file && opts->probe)
		return usage_error("--probe", "cannot be used with --tab-file");
	if (opts->tab_file && (opts->under || opts->holders))
		return usage_error(opts->under ? "--under" : "--holders",
		                   "cannot be used with --tab-file");
	if (opts->tab_file && !opts->fstab && !opts->show_config)
		return usage_error("--tab-file", "also requires --fstab=FILE");
	const struct audit_way *way = &opts->way;
	if (opts->show_config && (way->form != AF_TEXT || way->plugin || way->output || opts->save
	                          || opts->baseline))
		return usage_error("--show-config", "cannot be combined with a format, --output, "
		                                    "--save or --baseline");
	opts->root = opts->root ? opts->root : "/";
	if (opts->save && way->output && strcmp(opts->save, way->output) == 0)
		return usage_error("--save", "%s is also the file of --output; name two files",
		                   opts->save);
	opts->way.save = opts->save;
	opts->way.root = opts->root;
	opts->way.live = !opts->tab_file;
	return 0;
}
