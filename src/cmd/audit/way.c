/* SPDX-License-Identifier: MIT */
/*
 * How an audit is printed, where to, and within which time.
 *
 *     audit_way_run() --> run(), here or in a child with a deadline --> document
 *                                                                         |
 *                                    standard output, or a file, whole <--'
 *
 * Formats for machines are always complete, also after a failure, which they report.  So nothing is
 * printed before the audit is done, and a child that was killed has printed nothing.
 */
#include "cmd/audit/audit.h"

#include "cmd/columns.h"
#include "cmd/listing.h"
#include "cmd/output.h"
#include "cmd/putfile.h"
#include "os/bounded.h"
#include "os/change.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Monitoring systems may run plugins without a time limit of their own. */
enum { SECONDS_DEFAULT = 10, SECONDS_MAX = 86400 };

static const char *const form_names[AF_FORMS + 1] = {
	[AF_TEXT] = "text", [AF_JSON] = "json", [AF_JSONL] = "jsonl", [AF_NAGIOS] = "nagios",
	[AF_PROMETHEUS] = "prometheus",
};

void audit_way_init(struct audit_way *way)
{
	*way = (struct audit_way){
		.root = "/", .live = true, .terminal = isatty(STDOUT_FILENO) != 0, .seconds = -1,
		.limits = {.warning = {.text = "0"}, .critical = {.text = "0"}},
	};
	strbuf_init(&way->said);
	strbuf_init(&way->saved);
}

void audit_way_destroy(struct audit_way *way)
{
	message_note(NULL, false);
	strbuf_destroy(&way->said);
	strbuf_destroy(&way->saved);
}

/* Options. */

/** Find the last option of this name, as one word or two.
    @value [out]  Its value, or NULL. */
static bool find_option(const struct audit_way *way, int argc, char **argv, const char *name,
                        const char **value)
{
	bool found = false;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
		const char *given;
		size_t count;
		const struct option_row *row = option_find(way->table, argv[i], &given, &count);
		if (!row || strcmp(row->name, name) != 0)
			continue;
		found = true;
		*value = given || !row->argument ? given : argv[i + 1];
	}
	return found;
}

/** Whether a format is requested, by its own option or by --format. */
static bool asks_for_form(const struct audit_way *way, int argc, char **argv, const char *form)
{
	const char *value;
	return find_option(way, argc, argv, form, &value)
	       || (find_option(way, argc, argv, "format", &value) && value
	           && strcmp(value, form) == 0);
}

bool audit_way_plugin(struct audit_way *way, const struct option_table *table, bool named, int argc,
                      char **argv)
{
	way->table = table;
	way->plugin = named || asks_for_form(way, argc, argv, "nagios");
	if (way->plugin)
		way->form = AF_NAGIOS;
	message_note(&way->said, way->plugin);
	return way->plugin;
}

struct option_table audit_plugin_table(const struct option_table *of, struct option_row *rows)
{
	static const char *const left_out[] = {
		"fail-on", "json", "jsonl", "list-rules", "max-time", "output", "prometheus",
		"save", "stats",
		"help", "verbose", "format", "nagios",
	};
	static const struct option_row own[] = {
		OPTION_GROUP("Plugin"),
		{"critical", 'c', "RANGE", "CRITICAL if the critical findings are outside (0)"},
		{"format", 0, "nagios", "the default"},
		{"nagios", 0, NULL, "the default"},
		{"timeout", 't', "SEC", "UNKNOWN after this time (10)"},
		{"verbose", 'v', NULL, "one line per finding; -vv and -vvv print more"},
		{"version", 'V', NULL, "the version"},
		{"warning", 'w', "RANGE", "WARNING if the number of warnings is outside (0)"},
		{"help", 'h', NULL, "this help"},
	};
	size_t n = 0;
	for (size_t i = 0; i < of->count; ++i) {
		bool out = false;
		for (size_t k = 0; k < sizeof(left_out) / sizeof(*left_out); ++k)
			out |= !of->rows[i].name || strcmp(of->rows[i].name, left_out[k]) == 0;
		if (!out)
			rows[n++] = of->rows[i];
	}
	for (size_t k = 0; k < sizeof(own) / sizeof(*own) && n < OPTION_ROWS_MAX; ++k)
		rows[n++] = own[k];
	return (struct option_table){"check_getmnt", rows, n};
}

void audit_plugin_help(const struct option_table *table, FILE *out)
{
	fputs("Usage:\n check_getmnt [options]\n getmnt audit --nagios [options]\n\n"
	      "Compare an fstab with what is mounted: a plugin for Nagios, Icinga and others.\n",
	      out);
	options_help(table, "", NULL, out);
	fputs("\nA RANGE is [@]START:END.  START: has no end, ~:END no start, and END starts "
	      "at 0.\n"
	      "Numbers outside the range count, with @ those inside.\n"
	      "\nExit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.\n\n"
	      "Details: getmnt-audit(8).\n", out);
}

static int choose(struct audit_way *way, int form)
{
	if (way->plugin && form != AF_NAGIOS)
		return usage_error("--format",
		                   "\"%s\" is not a format of the plugin; use getmnt audit",
		                   form_names[form]);
	if (way->chosen && way->form != form)
		return usage_error("--format", "%s and %s exclude each other",
		                   form_names[way->form], form_names[form]);
	way->chosen = true;
	way->form = form;
	return 0;
}

static int take_seconds(const char *name, const char *value, double *seconds)
{
	char *end;
	double number = strtod(value, &end);
	if (end == value || *end || !(number > 0) || number > SECONDS_MAX)
		return usage_error(name, "\"%s\": must be a number of seconds above 0, at most %d",
		                   value, SECONDS_MAX);
	*seconds = number;
	return 0;
}

bool audit_way_take(struct audit_way *way, const char *name, const char *value, int *status)
{
	static const struct {
		const char *name;
		int form;
	} forms[] = {
		{"json", AF_JSON}, {"jsonl", AF_JSONL}, {"nagios", AF_NAGIOS},
		{"prometheus", AF_PROMETHEUS},
	};
	int form;
	*status = 0;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); ++i) {
		if (strcmp(name, forms[i].name) == 0) {
			*status = choose(way, forms[i].form);
			return true;
		}
	}
	if (strcmp(name, "format") == 0) {
		*status = option_word("--format", value, form_names, &form);
		if (!*status)
			*status = choose(way, form);
	} else if (strcmp(name, "critical") == 0 || strcmp(name, "warning") == 0) {
		bool critical = *name == 'c';
		if (!audit_range_read(value, critical ? &way->limits.critical
		                      : &way->limits.warning))
			*status = usage_error(critical ? "--critical" : "--warning",
			                      "\"%s\": must be a RANGE: [@]START:END", value);
	} else if (strcmp(name, "max-time") == 0) {
		*status = take_seconds("--max-time", value, &way->seconds);
	} else if (strcmp(name, "timeout") == 0) {
		*status = take_seconds("--timeout", value, &way->seconds);
	} else if (strcmp(name, "output") == 0) {
		*status = option_once("--output", value, &way->output);
	} else if (strcmp(name, "require-complete") == 0) {
		way->whole = true;
	} else {
		return false;
	}
	return true;
}

bool audit_way_is_text(const struct audit_way *way)
{
	return way->form == AF_TEXT;
}

/* The formats. */

int audit_way_report(struct audit_way *way, const struct audit_reported *given,
                     struct strbuf *document)
{
	struct audit_reported reported = *given;
	const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
	reported.terminal = way->terminal && !way->output;
	reported.colored = reported.terminal && term && strcmp(term, "dumb") != 0
	    && !(plain && *plain);
	reported.limits = &way->limits;
	reported.whole = way->whole;
	if (way->whole && (!audit_is_complete(&reported) || audit_set_count(&reported.lacking)))
		reported.status = AX_FAILED;
	if (way->unsaved)
		reported.status = AX_FAILED;
	int status = reported.status;
	switch (way->form) {
	case AF_TEXT: audit_text(&reported, document); break;
	case AF_JSON: audit_json(&reported, document); break;
	case AF_JSONL: audit_jsonl(&reported, document); break;
	case AF_PROMETHEUS: audit_prometheus(&reported, document); break;
	case AF_NAGIOS:
		audit_nagios(&reported, document);
		status = audit_nagios_status(&reported);
		break;
	default:
		break;
	}
	return status;
}

const char *audit_way_why(struct audit_way *way)
{
	struct strbuf *said = &way->said;
	if (said->failed || !said->len)
		return "memory ran out";
	if (said->data[said->len - 1] == '\n')
		said->data[--said->len] = '\0';
	const char *before = memrchr(said->data, '\n', said->len);
	return before ? before + 1 : said->data;
}

/** Report an audit that was not done.  @return the exit status. */
static int report_failure(struct audit_way *way, const char *why, struct strbuf *document)
{
	static const struct audit_config none;
	static const struct options o = OPTIONS_DEFAULT;
	struct columns columns = {0};
	struct audit_report report;
	struct run run = {.opt = &o, .cols = &columns, .procfd = AT_FDCWD, .rootfd = AT_FDCWD,
		.live = way->live};
	run.os.statx_works = true;
	audit_report_init(&report);
	run_incomplete(&run, why);
	machine_read(&run);
	int status = audit_way_report(way, &(struct audit_reported){
		.run = &run, .report = &report, .config = &none, .root = way->root, .failed = why,
		.status = AX_FAILED, .began = os_time_ms() / 1000},
		document);
	audit_report_destroy(&report);
	free(run.host);
	free(run.boot_id);
	return status;
}

/* Delivery. */

/** Asks the mounts whether a symlink in the name of an output file leads to what can block. */
struct way_out {
	struct os *os;
	struct mount_table *table;   /* once it was read */
};

static bool leads_astray(void *arg, const char *path)
{
	struct way_out *to = arg;
	if (!to->table)
		to->table = table_read_kernel(to->os, TABLE_AUTO, MF_POINT | MF_FSTYPE | MF_SOURCE);
	return !to->table || discover_path_blocks(to->table, path);
}

/** Write text to a file, completely or not at all.
    @text  NULL: check only whether it can be written.
    @return 0, or -1 after a message. */
static int put_into(const char *path, const char *text, size_t len)
{
	struct os os;
	os_init(&os, secure_getenv("GETMNT_DISABLE"));
	struct way_out to = {.os = &os};
	struct replace_name request = {.path = path, .may_create = true, .named = true,
		.blocks = leads_astray, .blocks_arg = &to};
	int status = put_report(&os, &request, text, len);
	table_free(to.table);
	return status ? -1 : 0;
}

int audit_way_may_save(const struct audit_way *way)
{
	return put_into(way->save, NULL, 0);
}

/* What audit_json() prints for an audit that failed before anything was known. */
#define JSON_NO_MEMORY \
	"{\"findings\": [], \"counts\": {\"critical\": 0, \"warning\": 0, \"info\": 0, " \
	"\"ignored\": 0, \"silenced\": 0}, " \
	"\"left_out\": {\"critical\": 0, \"warning\": 0, \"info\": 0}, " \
	"\"expired\": [], \"not_judged\": [], \"failed\": \"memory ran out\", " \
	"\"exit_status\": 2, \"fstab\": null, \"root\": \"\", \"mounts\": 0, \"time\": 0, " \
	"\"seconds\": 0, \"schema\": 1, \"version\": \"" GETMNT_VERSION "\", \"host\": null, " \
	"\"boot_id\": null, \"mntns\": null, \"table\": null, \"complete\": false, " \
	"\"incomplete_reasons\": [\"memory ran out\"]}\n"

/** What formats for machines print if there is no memory for the document; NULL: nothing. */
static const char *const no_memory[AF_FORMS] = {
	[AF_NAGIOS] = "GETMNT UNKNOWN - memory ran out\n",
	[AF_JSON] = JSON_NO_MEMORY,
	[AF_JSONL] = JSON_NO_MEMORY,
	[AF_PROMETHEUS] = "# HELP getmnt_audit_success Whether it could be audited.\n"
	                  "# TYPE getmnt_audit_success gauge\ngetmnt_audit_success 0\n",
};

/** Print a document, or write it to its file.  @return 0, or -1 after a message. */
static int deliver(struct audit_way *way, struct strbuf *document)
{
	const char *text = document->failed ? no_memory[way->form] : strbuf_str(document);
	size_t len = document->failed ? text ? strlen(text) : 0 : document->len;
	int rc = 0;
	if (document->failed) {
		message(NULL, "%s", strerror(ENOMEM));
		rc = -1;
		/* Frees memory for what follows. */
		strbuf_destroy(document);
	}
	if (way->output)
		return text && put_into(way->output, text, len) == 0 ? rc : -1;
	if (len)
		fwrite(text, 1, len, stdout);
	return finish_stdout(true) == 0 ? rc : -1;
}

/** The audit in a child. */
struct audit_child {
	struct audit_way *way;
	int (*run)(void *arg, struct strbuf *document);
	void *arg;
};

static int run_child(void *arg)
{
	struct audit_child *child = arg;
	struct strbuf document;
	strbuf_init(&document);
	int status = child->run(child->arg, &document);
	enum { BROKEN = 255 };
	/* The length of the document follows both. */
	const struct strbuf *saved = &child->way->saved;
	uint64_t len = document.len;
	bool whole = !document.failed && !saved->failed
	             && fwrite(strbuf_str(&document), 1, document.len, stdout) == document.len
	             && fwrite(strbuf_str(saved), 1, saved->len, stdout) == saved->len
	             && fwrite(&len, 1, sizeof(len), stdout) == sizeof(len)
	             && fflush(stdout) == 0 && fflush(stderr) == 0;
	strbuf_destroy(&document);
	return whole ? status : BROKEN;
}

/** Audit in a child.  @return an exit status. */
static int run_bounded(struct audit_way *way, int (*run)(void *, struct strbuf *), void *arg,
                       struct strbuf *document)
{
	enum { BROKEN = 255 };
	struct audit_child child = {way, run, arg};
	struct os os = {.statx_works = true};
	struct os_bounded done;
	int status = AX_FAILED;
	char why[160] = "";
	uint64_t len;
	int rc = os_bounded(&os, way->seconds, run_child, &child, &done);
	if (rc != 0)
		snprintf(why, sizeof(why), "could not be audited: %s", strerror(errno));
	else if (done.late)
		snprintf(why, sizeof(why), "not audited within %g seconds", way->seconds);
	else if (done.signal)
		snprintf(why, sizeof(why), "the audit was killed by signal %d (%s)", done.signal,
		         strsignal(done.signal));
	else if (done.status == BROKEN || done.out.len < sizeof(len))
		snprintf(why, sizeof(why), "the report could not be printed");
	if (done.err.len)
		fwrite(strbuf_str(&done.err), 1, done.err.len, stderr);
	if (*why) {
		message(NULL, "%s", why);
		status = report_failure(way, why, document);
	} else {
		const char *out = strbuf_str(&done.out);
		memcpy(&len, out + done.out.len - sizeof(len), sizeof(len));
		strbuf_add(document, out, len);
		strbuf_add(&way->saved, out + len, done.out.len - sizeof(len) - len);
		status = done.status;
	}
	os_bounded_destroy(&done);
	return status;
}

int audit_way_run(struct audit_way *way, int (*run)(void *arg, struct strbuf *document), void *arg)
{
	struct strbuf document;
	strbuf_init(&document);
	if (way->seconds < 0)
		way->seconds = way->form == AF_NAGIOS ? SECONDS_DEFAULT : 0;
	way->limits.seconds = way->seconds;
	int status = way->seconds > 0 ? run_bounded(way, run, arg, &document) : run(arg, &document);
	/* An empty file would mean a clean system. */
	bool failed = status == AX_FAILED && way->output && document.len == 0 && !document.failed;
	if (!failed && deliver(way, &document) != 0)
		status = way->plugin ? NX_UNKNOWN : AX_FAILED;
	else if (!failed && way->saved.len && put_into(way->save, strbuf_str(&way->saved),
	                                               way->saved.len) != 0)
		status = AX_FAILED;   /* the next audit reports the changes again */
	strbuf_destroy(&document);
	audit_way_destroy(way);
	return status;
}

int audit_way_refuse(struct audit_way *way, int argc, char **argv)
{
	struct strbuf document;
	int status = AX_FAILED;
	strbuf_init(&document);
	/* A file of metrics must not keep the results of an earlier audit. */
	bool metrics = asks_for_form(way, argc, argv, "prometheus");
	way->output = NULL;
	find_option(way, argc, argv, "output", &way->output);
	if (way->plugin) {
		audit_nagios_unknown(audit_way_why(way), &document);
		status = NX_UNKNOWN;
		way->output = NULL;
		deliver(way, &document);
	} else if (metrics && way->output && *way->output) {
		way->form = AF_PROMETHEUS;
		report_failure(way, audit_way_why(way), &document);
		deliver(way, &document);
	}
	strbuf_destroy(&document);
	audit_way_destroy(way);
	return status;
}
