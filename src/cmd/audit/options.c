/* SPDX-License-Identifier: MIT */
#include "cmd/audit/audit.h"
#include "cmd/text.h"

#include "base/words.h"

#include <getopt.h>
#include <string.h>

enum { PROBE_SECONDS_MAX = 600, SECONDS_MAX = 86400, WATCH_SECONDS = 60 };

#define FORMS "text|json|jsonl|nagios|prometheus"   /* in the order of enum audit_form */

/* Functions that parse the arguments of options. */

static int parse_form(void *arg, const struct option_row *row, const char *value)
{
	struct audit_way *way = &((struct audit_opts *)arg)->way;
	const struct option_row forms = {"format", .words = FORMS};
	int form = value ? option_parse_word(&forms, value) : row->base;
	size_t n, m;
	if (form < 0)
		return AX_FAILED;
	const char *name = option_word_at(&forms, form, &n),
	           *other = option_word_at(&forms, way->form, &m);
	if (way->plugin && form != AF_NAGIOS)
		return usage_error("--format",
		                   "\"%.*s\" is not a format of the plugin; use %s", (int)n,
		                   name, "getmnt audit");
	if (way->chosen && way->form != form)
		return usage_error("--format", "%.*s and %.*s exclude each other", (int)m, other,
		                   (int)n, name);
	way->chosen = true;
	way->form = form;
	return 0;
}

/** Get the code of the i-th rule of an audit; NULL: no more. */
static const char *code_word(int i)
{
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (!(audit_rules[code].flags & AR_MERGE) && i-- == 0)
			return audit_rules[code].code;
	}
	return NULL;
}

/** Find the code that a misspelled word of n bytes may mean; or NULL. */
static const char *nearest_code(const char *word, size_t n)
{
	struct near near = {.word = word, .n = n};
	const char *code;
	for (int i = 0; n > 4 && (code = code_word(i)); ++i)
		near_try(&near, code, code);
	return near.best;
}

/** Parse the codes of --only, --disable and --explain. */
static int parse_codes(void *arg, const struct option_row *row, const char *value)
{
	struct audit_opts *opts = arg;
	char title[OPTION_TITLE_SIZE];
	bool only = row->name[0] != 'd';
	opts->explain |= row->name[0] == 'e';
	opts->list_rules |= opts->explain;
	audit_set *set = only ? &opts->rules : &opts->without;
	if (only && !opts->only)
		*set = 0;
	opts->only |= only;
	for (const char *at = value;; ++at) {
		size_t n = strcspn(at, ",");
		audit_set found = 0;
		audit_codes(at, n, &found);
		found &= ~audit_set_of(AR_MERGE);
		const char *near = found ? NULL : nearest_code(at, n);
		if (near)
			return usage_error(option_title(row, title), "unknown rule \"%.*s\"; did "
			                   "you mean \"%s\"?", (int)n, at, near);
		if (!found)
			return usage_error(option_title(row, title),
			                   "unknown rule \"%.*s\"; %s prints them", (int)n, at,
			                   "getmnt audit --list-rules");
		*set |= found;
		at += n;
		if (!*at)
			return 0;
	}
}

/** Parse the owners of --include. */
static int parse_owners(void *arg, const struct option_row *row, const char *value)
{
	const char **include = ((struct audit_opts *)arg)->include;
	size_t n, had;
	for (const char *at = value;; at += n + 1) {
		n = strcspn(at, ",");
		const char *const *owner = audit_owners;
		while (*owner && !word_is(at, n, *owner))
			++owner;
		if (!*owner)
			return option_bad_word(row, at, n);
		for (had = 0; include[had] && include[had] != *owner;)
			++had;
		include[had] = *owner;
		if (!at[n])
			return 0;
	}
}

/** Parse the RANGE of --warning or --critical. */
static int parse_range(void *arg, const struct option_row *row, const char *value)
{
	struct audit_limits *limits = &((struct audit_opts *)arg)->way.limits;
	char title[OPTION_TITLE_SIZE];
	if (audit_range_read(value, *row->name == 'c' ? &limits->critical : &limits->warning))
		return 0;
	return usage_error(option_title(row, title), "\"%s\": must be a RANGE: [@]START:END",
	                   value);
}

static int parse_watch(void *arg, const struct option_row *row, const char *value)
{
	double *watch = &((struct audit_opts *)arg)->way.watch;
	*watch = WATCH_SECONDS;
	(void)row;
	return value ? option_parse_seconds("--watch", value, SECONDS_MAX, watch) : 0;
}

static int parse_verbose(void *arg, const struct option_row *row, const char *value)
{
	(void)row;
	(void)value;
	++((struct audit_opts *)arg)->way.limits.verbose;
	return 0;
}

static const char *owner_word(int i)
{
	return audit_owners[i];
}

/* The tables. */

#define FLAG(field) OPT_IS_FLAG(struct audit_opts, field)
#define ONCE(field) OPT_IS_ONCE(struct audit_opts, field)
#define SECONDS(field, most) OPT_IS_SECONDS(struct audit_opts, field, most)
#define FORM(form) .parse = parse_form, .base = form

static const struct option_row audit_rows[] = {
	OPTION_GROUP("Rules"),
	{"config", 0, "FILE|none", "the configuration (ROOT/etc/getmnt/audit.conf)", ONCE(config)},
	{"disable", 0, "CODE,...", "without these rules", .parse = parse_codes,
	 .word = code_word},
	{"explain", 0, "CODE,...", "what these rules report, and the remedy", .parse = parse_codes,
	 .word = code_word},
	{"include", 0, "OWNER,...", "report each deleted or hidden mount of these owners",
	 .parse = parse_owners, .word = owner_word},
	{"list-rules", 0, NULL, "list the rules and their severities", FLAG(list_rules)},
	{"only", 0, "CODE,...", "only these rules", .parse = parse_codes,
	 .word = code_word},
	{"show-config", 0, NULL, "print the configuration and where it comes from",
	 FLAG(show_config)},
	OPTION_GROUP("Input"),
	{"baseline", 0, "FILE", "report what changed since --save=FILE", ONCE(baseline)},
	{"fstab", 0, "FILE", "the fstab (ROOT/etc/fstab)", ONCE(fstab)},
	{"holders", 0, NULL, "look for holders of unmounted file systems", FLAG(holders)},
	{"probe", 0, "[local|all]", "touch mounts, with a time limit",
	 OPT_IS_WORD(struct audit_opts, probe), .base = DP_LOCAL},
	{"probe-timeout", 0, "SEC", "time limit of a probe (3)",
	 SECONDS(timeout, PROBE_SECONDS_MAX)},
	{"root", 0, "DIR", "audit the mounts at and below DIR", ONCE(root)},
	{"save", 0, "FILE", "save the present state for --baseline", ONCE(way.save)},
	{"static", 0, NULL, "check the fstab alone; read nothing of this host",
	 FLAG(is_static)},
	{"swaps", 0, "FILE", "a recorded /proc/swaps", ONCE(swaps)},
	{"tab-file", 'F', "FILE", "a recorded mountinfo instead of the live mounts",
	 ONCE(tab_file)},
	{"under", 0, NULL, "look for files that mounts cover", FLAG(under)},
	OPTION_GROUP("Output"),
	OPTION_COLOR(struct audit_opts, way.color),
	{"format", 0, "FORM", "text, json, jsonl, nagios or prometheus", FORMS,
	 .parse = parse_form},
	{"json", 'J', NULL, "one JSON document", FORM(AF_JSON)},
	{"jsonl", 0, NULL, "JSON on one line, for collectors", FORM(AF_JSONL)},
	{"max-time", 0, "SEC", "stop after this time", SECONDS(way.seconds, SECONDS_MAX)},
	{"nagios", 0, NULL, "as a monitoring plugin; see check_getmnt --help", FORM(AF_NAGIOS)},
	{"output", 0, "FILE", "write the output to FILE, completely or not at all",
	 ONCE(way.output)},
	{"prometheus", 0, NULL, "metrics for node_exporter's textfile collector",
	 FORM(AF_PROMETHEUS)},
	{"require-complete", 0, NULL, "exit 2 if something could not be checked", FLAG(way.whole)},
	OPTION_GROUP("General"),
	{"fail-on", 0, "SEVERITY", "exit 1 from this on: info, warning, critical, never",
	 "info|warning|critical|never", OPT_IS_WORD(struct audit_opts, fail_on)},
	OPTION_STATS(struct audit_opts, stats),
	{"watch", 0, "[SEC]", "audit again after each change, and every SEC (60)",
	 .parse = parse_watch},
	{"verbose", 'v', NULL, "print informational findings as well", .parse = parse_verbose},
	OPTION_HELP(struct audit_opts, help),
};

/** Options of check_getmnt.  They replace the options of audit_rows that plugin_lacks names. */
static const struct option_row plugin_rows[] = {
	OPTION_GROUP("Plugin"),
	{"critical", 'c', "RANGE", "CRITICAL if the critical findings are outside (0)",
	 .parse = parse_range},
	{"format", 0, "nagios", "the default", "nagios", .parse = parse_form},
	{"nagios", 0, NULL, "the default", FORM(AF_NAGIOS)},
	{"timeout", 't', "SEC", "UNKNOWN after this time (10)", SECONDS(way.seconds, SECONDS_MAX)},
	{"verbose", 'v', NULL, "one line per finding; -vv and -vvv print more",
	 .parse = parse_verbose},
	{"version", 'V', NULL, "the version", FLAG(version)},
	{"warning", 'w', "RANGE", "WARNING if the number of warnings is outside (0)",
	 .parse = parse_range},
	{"watch", 0, "[SEC]", "not in a plugin; use getmnt audit --watch", .how = OPT_REFUSED,
	 .hidden = true},
	OPTION_HELP(struct audit_opts, help),
};

static const char plugin_lacks[] = "color explain fail-on json jsonl list-rules max-time output "
                                   "prometheus save static stats help verbose watch format nagios";

const struct option_table audit_table = {
	"audit", audit_rows, sizeof(audit_rows) / sizeof(*audit_rows),
};

struct option_table audit_plugin_table(struct option_row *rows)
{
	size_t n = 0;
	for (size_t i = 0; i < audit_table.count; ++i) {
		const char *name = audit_rows[i].name;
		if (name && !word_in(name, strlen(name), plugin_lacks))
			rows[n++] = audit_rows[i];
	}
	memcpy(rows + n, plugin_rows, sizeof(plugin_rows));
	return (struct option_table){
		"check_getmnt", rows, n + sizeof(plugin_rows) / sizeof(*plugin_rows)};
}

void audit_options_help(const struct option_table *table, bool plugin)
{
	if (!plugin) {
		options_help(table, "Usage:\n getmnt audit [options] [PATH ...]\n\n"
		             "Compare an fstab with what is mounted and with the devices of this "
		             "machine.\nWith PATH, report what is at or below it.\n",
		             "Exit status: 0 clean, 1 findings, 2 could not be audited.\n", stdout);
		return;
	}
	options_help(table, "Usage:\n check_getmnt [options]\n getmnt audit --nagios [options]\n\n"
	             "Compare an fstab with what is mounted: a plugin for Nagios, Icinga and "
	             "others.\n", NULL, stdout);
	text_say(stdout, "\nA RANGE is [@]START:END.  START: has no end, ~:END no start, and END "
	         "starts at 0.\n"
	         "Numbers outside the range count, with @ those inside.\n"
	         "\nExit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.\n\n"
	         "Details: getmnt-audit(8).\n");
}

/** Refuse options that --watch does not support.  @return 0, or an exit status after a message. */
static int check_watch(const struct audit_opts *opts)
{
	const struct audit_way *way = &opts->way;
	const struct {
		bool given;
		const char *option, *instead;
	} refused[] = {
		{way->form == AF_JSON, "--json", "use --jsonl: a line for each change"},
		{way->form == AF_PROMETHEUS && !way->output, "--prometheus without --output",
		 "name the file that is kept current"},
		{way->output && way->form != AF_PROMETHEUS, "--output",
		 "use --prometheus --output=FILE, or "
		 "redirect the output"},
		{way->save, "--save", "save the state by getmnt audit --save"},
		{opts->show_config, "--show-config", "use getmnt audit --show-config"},
		{opts->is_static, "--static", "use getmnt audit --static"},
		{opts->tab_file, "--tab-file", "a recorded table does not change"},
		{opts->swaps, "--swaps", "a recorded list does not change"},
		{way->whole, "--require-complete", "a watch has no such exit status; use "
		 "getmnt_audit_complete of --prometheus"},
		{opts->fail_on != AUDIT_WARNING, "--fail-on", "a watch has no such exit status; "
		 "-v prints informational findings"},
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); ++i) {
		if (refused[i].given)
			return usage_error("--watch", "cannot be combined with %s; %s",
			                   refused[i].option, refused[i].instead);
	}
	return 0;
}

int audit_options_read(const struct option_table *table, int argc, char **argv,
                       struct audit_opts *opts)
{
	int status = options_read(table, argc, argv, opts);
	if (opts->is_static)
		opts->rules &= audit_set_of(AR_STATIC);
	if (status || opts->help || opts->list_rules || opts->version)
		return status;
	struct audit_way *way = &opts->way;
	opts->rules &= ~(opts->without | audit_set_of(AR_MERGE));
	if (opts->is_static && (!opts->rules || !opts->fstab))
		return usage_error("--static", opts->fstab ? "none of these rules checks only the "
		                   "text of an fstab" : "also requires --fstab=FILE");
	const char *other = opts->tab_file ? "--tab-file" : opts->probe ? "--probe"
	                    : opts->under ? "--under" : opts->holders ? "--holders"
	                    : opts->baseline ? "--baseline" : way->save ? "--save"
	                    : opts->swaps ? "--swaps" : opts->root ? "--root" : NULL;
	if (opts->is_static && other)
		return usage_error("--static", "cannot be combined with %s", other);
	if (!opts->rules)
		return usage_error("--disable", "all rules are disabled; remove a code");
	if (!(opts->rules & ~audit_set_of(AR_BASELINE)) && !opts->baseline && !way->save
	    && !opts->show_config)
		return usage_error("--only", "BASE-* compares with a baseline: --baseline=FILE; "
		                             "--save=FILE makes one");
	opts->paths = argv + optind;
	opts->npaths = (size_t)(argc - optind);
	if (opts->npaths && (opts->baseline || way->save || opts->show_config))
		return usage_error(*opts->paths, "PATH cannot be combined with --baseline, --save "
		                   "or --show-config");
	if (opts->tab_file && opts->probe)
		return usage_error("--probe", "cannot be used with --tab-file");
	if (opts->tab_file && (opts->under || opts->holders))
		return usage_error(opts->under ? "--under" : "--holders",
		                   "cannot be used with --tab-file");
	if (opts->tab_file && !opts->fstab && !opts->show_config)
		return usage_error("--tab-file", "also requires --fstab=FILE");
	if (opts->show_config && (way->form != AF_TEXT || way->plugin || way->output || way->save
	                          || opts->baseline))
		return usage_error("--show-config", "cannot be combined with a format, --output, "
		                                    "--save or --baseline");
	if (way->save && way->output && strcmp(way->save, way->output) == 0)
		return usage_error("--save", "%s is also the file of --output; name two files",
		                   way->save);
	opts->root = opts->root ? opts->root : "/";
	way->root = opts->root;
	way->live = !opts->tab_file && !opts->is_static;
	return way->watch > 0 ? check_watch(opts) : 0;
}
