/* SPDX-License-Identifier: MIT */
/*
 * Text for Prometheus, in the format of node_exporter's textfile collector.
 *
 * The collector rejects a file with duplicate label sets or with timestamps, so equal series are
 * printed once.  The number of series is limited: the most severe findings get a series, findings
 * of users' mounts last.
 */
#include "cmd/audit/audit.h"

#include "base/escape.h"
#include "base/intern.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LABEL_MAX = 1000, EXPIRED_MAX = 50 /* series of expired lines */ };

void audit_label(struct strbuf *out, const char *value)
{
	const size_t begin = out->len;
	strbuf_putc(out, '"');
	while (*value) {
		size_t n = utf8_len(value);
		if (out->len - begin > LABEL_MAX) {
			strbuf_puts(out, "...");
			break;
		}
		if (*value == '\n')
			strbuf_puts(out, "\\n");
		else if (value[0] == '\\' && value[1] == 'x')
			strbuf_puts(out, "\\\\x5c");   /* otherwise "\\x5c" would be read as an
			                                  escaped byte */
		else if (*value == '"' || *value == '\\')
			strbuf_printf(out, "\\%c", *value);
		else if (escape_harms(value))
			for (size_t i = 0; i < n + (n == 0); ++i)
				strbuf_printf(out, "\\\\x%02x", (unsigned char)value[i]);
		else
			strbuf_add(out, value, n);
		value += n + (n == 0);
	}
	strbuf_putc(out, '"');
}

static void put_label(struct strbuf *out, const char *name, const char *value)
{
	if (out->len && out->data[out->len - 1] != '{')
		strbuf_putc(out, ',');
	strbuf_puts(out, name);
	strbuf_putc(out, '=');
	audit_label(out, value ? value : "");
}

/** The metrics appended so far. */
struct metrics {
	struct strbuf *out;
	unsigned series;     /* number of series */
};

/** Append the lines HELP and TYPE of a metric. */
static void head(struct metrics *m, const char *name, const char *help)
{
	strbuf_printf(m->out, "# HELP getmnt_audit_%s %s\n# TYPE getmnt_audit_%s gauge\n", name,
	              help, name);
}

static void put_gauge(struct metrics *m, const char *name, const char *help, double value)
{
	head(m, name, help);
	strbuf_printf(m->out, "getmnt_audit_%s %.*f\n", name,
	              value == (double)(int64_t)value ? 0 : 6, value);
	++m->series;
}

/** Append a metric with a series for each severity.  @of  The number for each severity. */
static void put_severities(struct metrics *m, const char *name, const char *help,
                           const size_t of[AUDIT_CRITICAL + 1])
{
	head(m, name, help);
	for (int severity = AUDIT_INFO; severity <= AUDIT_CRITICAL; ++severity) {
		strbuf_printf(m->out, "getmnt_audit_%s{severity=\"%s\"} %zu\n", name,
		              audit_severity_name((enum audit_severity)severity), of[severity]);
		++m->series;
	}
}

static void put_info(struct metrics *m, const struct audit_reported *reported)
{
	const struct run *run = reported->run;
	char mntns[24] = "";
	if (run->mntns)
		snprintf(mntns, sizeof(mntns), "%" PRIu64, run->mntns);
	head(m, "info", "What was audited, by which version.");
	strbuf_puts(m->out, "getmnt_audit_info{");
	put_label(m->out, "version", GETMNT_VERSION);
	put_label(m->out, "host", run->host);
	put_label(m->out, "boot_id", run->boot_id);
	put_label(m->out, "mntns", mntns);
	put_label(m->out, "table", run->table ? table_source_name(run->table->source) : NULL);
	put_label(m->out, "fstab", reported->fstab);
	put_label(m->out, "root", reported->root);
	strbuf_puts(m->out, "} 1\n");
	++m->series;
}

/** Append the expired statements of the configuration. */
static void put_expired(struct metrics *m, const struct audit_reported *reported)
{
	const struct audit_row *row;
	size_t n = 0;
	for (size_t at = 0; (row = audit_next_over(reported, &at)); ++n) {
		if (n == 0)
			head(m, "config_line_expired", "An expired line of the configuration.");
		if (n >= EXPIRED_MAX)
			continue;
		strbuf_puts(m->out, "getmnt_audit_config_line_expired{");
		put_label(m->out, "file", row->file);
		strbuf_printf(m->out, ",line=\"%" PRIu32 "\"} 1\n", row->line);
		++m->series;
	}
	put_gauge(m, "config_lines_expired", "Expired lines of the configuration.", (double)n);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** Append a series for each finding: findings of the system before findings of users' mounts, the
    most severe first.  @room  Maximum number of series. */
static void put_findings(struct metrics *m, const struct audit_reported *reported, unsigned room)
{
	const struct audit_report *report = reported->report;
	struct intern lines = {0};
	struct strbuf line = {0};
	uint32_t number;
	size_t left[AUDIT_CRITICAL + 1];
	memcpy(left, report->left_out, sizeof(left));
	for (int rank = 0; rank < 2 * (AUDIT_CRITICAL + 1); ++rank) {
		int severity = AUDIT_CRITICAL - rank % (AUDIT_CRITICAL + 1);
		size_t from = lines.count;
		for (size_t i = 0; i < report->count; ++i) {
			const struct audit_finding *f = &report->findings[i];
			if ((int)f->severity != severity
			    || audit_is_users(f->owner) != (rank > AUDIT_CRITICAL))
				continue;
			strbuf_reset(&line);
			strbuf_puts(&line, "getmnt_audit_finding{");
			put_label(&line, "code", audit_rules[f->code].code);
			put_label(&line, "severity", audit_severity_name(f->severity));
			put_label(&line, "target", f->target);
			put_label(&line, "owner", f->owner);
			strbuf_puts(&line, "} 1\n");
			m->out->failed |= intern_put(&lines, strbuf_str(&line), line.len, &number);
		}
		/* Sort the series of each rank alone: series of two ranks differ in a label. */
		if (lines.count > from)
			qsort(lines.of + from, lines.count - from, sizeof(*lines.of),
			      compare_lines);
		for (size_t i = from; i < lines.count; ++i) {
			if (i == 0)
				head(m, "finding", "A finding.");
			strbuf_puts(m->out, i < room ? lines.of[i] : "");
			left[severity] += i >= room;
		}
	}
	m->out->failed |= line.failed;
	m->series += lines.count < room ? (unsigned)lines.count : room;
	strbuf_destroy(&line);
	intern_destroy(&lines);
	put_severities(m, "findings_left_out", "Findings without a series of their own.", left);
}

void audit_prometheus(const struct audit_reported *reported, struct strbuf *out)
{
	struct metrics m = {.out = out};
	put_gauge(&m, "success", "Whether the audit was done.", reported->failed ? 0 : 1);
	put_gauge(&m, "complete", "Whether all mounts are known.", audit_is_complete(reported));
	put_gauge(&m, "last_run_timestamp_seconds", "When the last audit began.",
	          (double)reported->began);
	put_gauge(&m, "duration_seconds", "How long the audit took.", reported->seconds);
	put_info(&m, reported);
	for (size_t i = 0; i < reported->run->nreasons; ++i) {
		if (i == 0)
			head(&m, "incomplete", "Why not all mounts are known.");
		strbuf_puts(out, "getmnt_audit_incomplete{");
		put_label(out, "reason", reported->run->reasons[i]);
		strbuf_puts(out, "} 1\n");
		++m.series;
	}
	if (reported->failed)
		return;
	put_gauge(&m, "last_completion_timestamp_seconds", "When the last successful audit ended.",
	          (double)(reported->began + (int64_t)reported->seconds));
	put_gauge(&m, "mounts", "The number of mounts.", (double)reported->mounts);
	put_severities(&m, "findings", "The number of findings.", reported->report->of);
	put_gauge(&m, "findings_ignored", "Findings ignored by comments in the fstab.",
	          (double)reported->report->suppressed);
	put_gauge(&m, "findings_silenced", "Findings ignored by the configuration.",
	          (double)reported->report->silenced);
	put_expired(&m, reported);
	put_gauge(&m, "rules_not_judged", "Rules that could not be checked everywhere.",
	          audit_set_count(reported->not_checked));
	if (audit_set_count(reported->not_checked))
		head(&m, "rule_not_judged", "A rule that could not be checked everywhere.");
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(reported->not_checked, (enum audit_code)code)) {
			strbuf_printf(out, "getmnt_audit_rule_not_judged{code=\"%s\"} 1\n",
			              audit_rules[code].code);
			++m.series;
		}
	}
	put_findings(&m, reported, AUDIT_SERIES_MAX - m.series - (AUDIT_CRITICAL + 1));
}
