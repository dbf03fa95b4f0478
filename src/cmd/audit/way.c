/* SPDX-License-Identifier: MIT */
/*
 * The output format, the destination and the time limit of an audit.
 *
 *     audit_way_run() --> work, here or in a child with a deadline --> document
 *                                                                         |
 *                                    standard output, or a file, whole <--'
 *
 * Documents for programs are always complete, and report a failed audit.  So nothing is printed
 * before the audit has ended, and a killed child has printed nothing.
 */
#include "cmd/audit/audit.h"

#include "cmd/run.h"
#include "cmd/putfile.h"
#include "os/bounded.h"
#include "os/change.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** The default time limit of a plugin in seconds: some monitoring systems set no limit. */
enum { SECONDS_DEFAULT = 10 };

void audit_way_init(struct audit_way *way)
{
	*way = (struct audit_way){
		.root = "/", .live = true, .terminal = isatty(STDOUT_FILENO) != 0,
		.seconds = -1, .files = -1, .errors = -1,
		.limits = {.warning = {.text = "0"}, .critical = {.text = "0"}},
	};
}

void audit_way_destroy(struct audit_way *way)
{
	message_note(NULL, false);
	strbuf_destroy(&way->said);
	strbuf_destroy(&way->saved);
	strbuf_destroy(&way->known);
	strbuf_destroy(&way->metrics);
}

/* Options. */

/** Find the last occurrence of an option, written as one word or two.
    @value [out]  The argument of the option, or NULL.
    @return whether the option was given. */
static bool find_option(int argc, char **argv, const char *name, const char **value)
{
	bool found = false;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
		const char *given;
		size_t count;
		const struct option_row *row = option_find(&audit_table, argv[i], &given, &count);
		if (!row || strcmp(row->name, name) != 0)
			continue;
		found = true;
		*value = given || !row->argument ? given : argv[i + 1];
	}
	return found;
}

/** Whether a format is requested, by its own option or by --format. */
static bool has_form(int argc, char **argv, const char *form)
{
	const char *value;
	return find_option(argc, argv, form, &value)
	       || (find_option(argc, argv, "format", &value) && value && strcmp(value, form) == 0);
}

bool audit_way_plugin(struct audit_way *way, bool named, int argc, char **argv)
{
	way->plugin = named || has_form(argc, argv, "nagios");
	if (way->plugin)
		way->form = AF_NAGIOS;
	message_note(&way->said, way->plugin);
	return way->plugin;
}

/* The formats. */

static void (*const formats[])(const struct audit_reported *reported, struct strbuf *out) = {
	[AF_TEXT] = audit_text, [AF_JSON] = audit_json, [AF_JSONL] = audit_jsonl,
	[AF_NAGIOS] = audit_nagios, [AF_PROMETHEUS] = audit_prometheus,
};

int audit_way_report(struct audit_way *way, const struct audit_reported *given,
                     struct strbuf *document)
{
	struct audit_reported reported = *given;
	int form = way->form;
	reported.terminal = way->watch ? true : way->terminal && !way->output;
	reported.colored = (way->watch || !way->output) && color_is_on(way->color, way->terminal);
	reported.way = way;
	if (way->watch && form == AF_PROMETHEUS) {
		audit_prometheus(&reported, &way->metrics);
		form = AF_TEXT;
	}
	if (way->unsaved
	    || (way->whole && (!audit_is_complete(&reported) || reported.lacking)))
		reported.status = AX_FAILED;
	if (!reported.last || reported.failed)
		formats[form](&reported, document);
	else if (form == AF_TEXT)
		audit_text_changes(&reported, document);
	else
		audit_jsonl_changes(&reported, document);
	return way->form == AF_NAGIOS ? audit_nagios_status(&reported) : reported.status;
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

int audit_way_fail(struct audit_way *way, const char *why, struct strbuf *document)
{
	static const struct audit_config none;
	static const struct input_opts input = INPUT_DEFAULT;
	struct audit_report report = {0};
	struct run run;
	run_init(&run, &input);
	run.live = way->live;
	run.os.statx_works = true;
	run_incomplete(&run, why);
	machine_read(&run, false);
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

/** Write text to a file, completely or not at all.
    @text  NULL: only check whether the file can be written.
    @return 0, or -1 after a message. */
static int put_into(const char *path, const char *text, size_t len)
{
	struct os os;
	os_init(&os, secure_getenv("GETMNT_DISABLE"));
	return put_report(&os, path, text, len) ? -1 : 0;
}

int audit_way_put_metrics(struct audit_opts *opts, struct strbuf *document)
{
	struct audit_way *way = &opts->way;
	const char *text = strbuf_text(&way->metrics);
	int rc = -1;
	if (text)
		rc = put_into(way->output, text, way->metrics.len);
	else
		message(way->output, "not written: %s", strerror(ENOMEM));
	strbuf_reset(&way->metrics);
	(void)document;
	return rc == 0 ? AX_CLEAN : AX_FAILED;
}

/** Write the new baseline, if requested.  @return 0, or -1 after a message. */
static int put_saved(struct audit_way *way)
{
	const char *text = strbuf_text(&way->saved);
	if (!way->save)
		return 0;
	if (text)
		return way->saved.len ? put_into(way->save, text, way->saved.len) : 0;
	message(way->save, "not saved: %s", strerror(ENOMEM));
	return -1;
}

int audit_way_may_save(const struct audit_way *way)
{
	return put_into(way->save, NULL, 0);
}

/** Append the document of an audit that ran out of memory, without allocating memory. */
static void put_no_memory(const struct audit_way *way, struct strbuf *out)
{
	static const struct audit_config config;
	static const struct audit_report report;
	struct run run = {.reasons = {"memory ran out"}, .nreasons = 1};
	if (way->form == AF_NAGIOS)
		strbuf_puts(out, "GETMNT UNKNOWN - memory ran out\n");
	else
		formats[way->form](&(struct audit_reported){
			.run = &run, .report = &report, .config = &config, .root = "",
			.failed = run.reasons[0], .status = AX_FAILED,
			.began = os_time_ms() / 1000, .way = way}, out);
}

/** Print a document, or write it to the file of --output.  @return 0, or -1 after a message. */
static int deliver(struct audit_way *way, struct strbuf *document)
{
	char bytes[4096];
	struct strbuf lost = {.data = bytes, .size = sizeof(bytes)};
	const char *text = strbuf_text(document);
	size_t len = document->len;
	int rc = 0;
	if (!text) {
		/* Free memory so that the message can be printed. */
		strbuf_destroy(document);
		message(NULL, "%s", strerror(ENOMEM));
		put_no_memory(way, &lost);
		text = strbuf_text(&lost);
		len = lost.len;
		rc = -1;
	}
	if (way->output)
		return (len || rc == 0) && put_into(way->output, text, len) == 0 ? rc : -1;
	if (len)
		fwrite(text, 1, len, stdout);
	return finish_stdout() == 0 ? rc : -1;
}

enum { BROKEN = 255 };   /* exit status of a child that printed nothing usable */

/** The lengths of the three parts of a child's output, written after the parts. */
struct lengths {
	uint64_t document, saved, metrics;
};

/** Do the work, and print the document, the new baseline, the metrics, and their lengths. */
void audit_way_child(const struct audit_work *work)
{
	struct audit_way *way = &work->opts->way;
	struct strbuf document = {0};
	int status = work->run(work->opts, &document);
	const struct strbuf *const parts[] = {&document, &way->saved, &way->metrics};
	struct lengths of = {document.len, way->saved.len, way->metrics.len};
	bool whole = true;
	for (int i = 0; i < 3; ++i)
		whole = whole && !parts[i]->failed
		        && fwrite(strbuf_str(parts[i]), 1, parts[i]->len, stdout) == parts[i]->len;
	whole = whole && fwrite(&of, 1, sizeof(of), stdout) == sizeof(of) && fflush(stdout) == 0
	        && fflush(stderr) == 0;
	os_exit_process(whole ? status : BROKEN);
}

int audit_way_collect(struct audit_way *way, int rc, const struct os_bounded *done,
                      struct strbuf *document)
{
	struct lengths of;
	const char *out = strbuf_str(&done->out);
	*way->why = '\0';
	if (rc != 0)
		snprintf(way->why, sizeof(way->why), "could not be audited: %s", strerror(errno));
	else if (done->late)
		snprintf(way->why, sizeof(way->why), "not audited within %g seconds", way->seconds);
	else if (done->signal)
		snprintf(way->why, sizeof(way->why), "the audit was killed by signal %d (%s)",
		         done->signal, strsignal(done->signal));
	else if (done->status == BROKEN || done->out.len < sizeof(of))
		snprintf(way->why, sizeof(way->why), "the report could not be printed");
	if (*way->why)
		return -1;
	memcpy(&of, out + done->out.len - sizeof(of), sizeof(of));
	strbuf_add(document, out, of.document);
	strbuf_add(&way->saved, out + of.document, of.saved);
	strbuf_add(&way->metrics, out + of.document + of.saved, of.metrics);
	return done->status;
}

/** Do the work in a child with a time limit.  @return an exit status. */
static int run_bounded(const struct audit_work *work, struct strbuf *document)
{
	struct audit_way *way = &work->opts->way;
	struct os os = {.statx_works = true};
	struct os_bounded done;
	int rc = os_bounded_start(&os, way->seconds, &done);
	if (rc == 0)
		audit_way_child(work);
	rc = rc > 0 ? os_bounded_finish(&os, &done) : -1;
	int status = audit_way_collect(way, rc, &done, document);
	print_stderr(&done.err);
	if (status < 0) {
		message(NULL, "%s", way->why);
		status = audit_way_fail(way, way->why, document);
	}
	os_bounded_destroy(&done);
	return status;
}

int audit_way_run(const struct audit_work *work)
{
	struct audit_way *way = &work->opts->way;
	struct strbuf document = {0};
	if (way->seconds < 0)
		way->seconds = way->form == AF_NAGIOS ? SECONDS_DEFAULT : 0;
	int status = way->seconds > 0 ? run_bounded(work, &document)
	                              : work->run(work->opts, &document);
	/* If a failed audit has no document, do not write the file: an empty file would suggest a
	   clean system. */
	bool failed = status == AX_FAILED && way->output && document.len == 0 && !document.failed;
	if (!failed && deliver(way, &document) != 0)
		status = way->plugin ? NX_UNKNOWN : AX_FAILED;
	else if (!failed && put_saved(way) != 0)
		/* The old baseline remains, so the next audit reports the changes again. */
		status = way->plugin ? NX_UNKNOWN : AX_FAILED;
	strbuf_destroy(&document);
	audit_way_destroy(way);
	return status;
}

int audit_way_refuse(struct audit_way *way, int argc, char **argv)
{
	struct strbuf document = {0};
	int status = AX_FAILED;
	/* If --output names a file of metrics, replace the results of an earlier audit in this
	   file: the failure is a metric. */
	bool metrics = has_form(argc, argv, "prometheus");
	way->output = NULL;
	find_option(argc, argv, "output", &way->output);
	if (way->plugin || (metrics && way->output && *way->output)) {
		way->form = way->plugin ? AF_NAGIOS : AF_PROMETHEUS;
		way->output = way->plugin ? NULL : way->output;
		way->limits.verbose = 0;
		status = audit_way_fail(way, audit_way_why(way), &document);
		deliver(way, &document);
	}
	strbuf_destroy(&document);
	audit_way_destroy(way);
	return status;
}
