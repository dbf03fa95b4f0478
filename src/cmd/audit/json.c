/* SPDX-License-Identifier: MIT */
#include "cmd/audit/audit.h"
#include "cmd/json.h"
#include "cmd/stats.h"

#include <inttypes.h>

void audit_put_rules(struct json *json, const char *key, audit_set set)
{
	json_put_array(json, key, JSON_INLINE);
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(set, (enum audit_code)code))
			json_put_string(json, NULL, audit_rules[code].code);
	}
	json_end(json);
}

static void put_severities(struct json *json, const size_t of[AUDIT_CRITICAL + 1])
{
	for (int severity = AUDIT_CRITICAL; severity >= AUDIT_INFO; --severity)
		json_put_number(json, audit_severity_name((enum audit_severity)severity),
		                of[severity]);
}

/** Write the members "event" and "time"; nothing if `event` is NULL. */
static void put_event(struct json *json, const struct audit_reported *reported, const char *event)
{
	if (event) {
		json_put_string(json, "event", event);
		json_put_integer(json, "time", reported->began);
	}
}

/** Write a finding.  @event  The event, if the finding is a line of --watch; else NULL. */
static void put_finding(struct json *json, const struct audit_reported *reported,
                        const char *event, const struct audit_finding *f)
{
	struct strbuf source = {0};
	if (f->line)
		strbuf_printf(&source, "%s:%" PRIu32,
		              f->file ? f->file : reported->fstab ? reported->fstab : "?", f->line);
	json_put_object(json, NULL, JSON_INLINE);
	put_event(json, reported, event);
	json_put_string(json, "code", audit_rules[f->code].code);
	json_put_string(json, "severity", audit_severity_name(f->severity));
	json_put_text(json, "target", *f->target ? f->target : NULL);
	json_put_string(json, "owner", f->owner);
	json_put_string(json, "message", f->message);
	json_put_string(json, "expected", f->expected);
	json_put_string(json, "actual", f->actual);
	json_put_string(json, "hint", f->hint);
	json_put_string(json, "source", f->line ? strbuf_str(&source) : NULL);
	if (reported->baseline && !event && f->age == AUDIT_AGELESS)
		json_put_string(json, "new", NULL);
	else if (reported->baseline && !event)
		json_put_bool(json, "new", f->age == AUDIT_NEW);
	json_end(json);
	json->out->failed |= source.failed;
	strbuf_destroy(&source);
}

static void put_counts(struct json *json, const struct audit_reported *reported)
{
	const struct audit_report *report = reported->report;
	json_put_object(json, "counts", JSON_INLINE);
	put_severities(json, report->of);
	json_put_number(json, "ignored", report->suppressed);
	json_put_number(json, "silenced", report->silenced);
	json_end(json);
	json_put_object(json, "left_out", JSON_INLINE);
	put_severities(json, report->left_out);
	json_end(json);
}

/** Write the baseline and the differences from it. */
static void put_baseline(struct json *json, const struct audit_reported *reported)
{
	const struct audit_base_counts *since = reported->since;
	const struct audit_baseline *old = reported->old;
	json_put_object(json, "baseline", JSON_INLINE);
	json_put_string(json, "file", reported->baseline);
	json_put_string(json, "host", *old->host ? old->host : NULL);
	json_put_integer(json, "time", old->time);
	json_put_object(json, "mounts", JSON_INLINE);
	json_put_number(json, "new", since->came);
	json_put_number(json, "changed", since->changed);
	json_put_number(json, "gone", since->went);
	json_end(json);
	json_put_object(json, "findings", JSON_INLINE);
	json_put_number(json, "new", since->new_findings);
	json_put_number(json, "gone", since->gone_findings);
	json_end(json);
	json_end(json);
}

static void put_document(const struct audit_reported *reported, enum json_layout layout,
                         struct strbuf *out)
{
	const struct audit_report *report = reported->report;
	struct json json = {.out = out};
	json_put_object(&json, NULL, layout);
	if (reported->way->watch > 0)
		json_put_string(&json, "event", reported->failed ? "failed" : "start");
	json_put_array(&json, "findings", layout);
	for (size_t i = 0; i < report->count; ++i)
		put_finding(&json, reported, NULL, &report->findings[i]);
	json_end(&json);
	put_counts(&json, reported);
	const struct audit_row *row;
	json_put_array(&json, "expired", JSON_INLINE);
	for (size_t at = 0; (row = audit_next_over(reported, &at));)
		json_put_string(&json, NULL, row->place);
	json_end(&json);
	if (reported->baseline)
		put_baseline(&json, reported);
	audit_put_rules(&json, "not_judged", reported->not_checked);
	json_put_string(&json, "failed", reported->failed);
	json_put_integer(&json, "exit_status", reported->status);
	json_put_string(&json, "fstab", reported->fstab);
	json_put_string(&json, "root", reported->root);
	json_put_number(&json, "mounts", reported->mounts);
	json_put_integer(&json, "time", reported->began);
	json_put_real(&json, "seconds", reported->seconds, 6);
	json_head(reported->run, &json);
	json_end(&json);
}

void audit_json(const struct audit_reported *reported, struct strbuf *out)
{
	put_document(reported, JSON_LINES, out);
}

void audit_jsonl(const struct audit_reported *reported, struct strbuf *out)
{
	put_document(reported, JSON_INLINE, out);
	strbuf_putc(out, '\n');
}

void audit_jsonl_changes(const struct audit_reported *reported, struct strbuf *out)
{
	const struct audit_report *report = reported->report;
	const struct audit_base_entry *entry;
	for (struct audit_cleared at = {0}; (entry = audit_next_cleared(reported, &at));) {
		struct json json = {.out = out};
		json_put_object(&json, NULL, JSON_INLINE);
		put_event(&json, reported, "cleared");
		json_put_string(&json, "code", entry->target);
		json_put_string(&json, "severity", entry->uuid);
		json_put_text(&json, "target", *entry->source ? entry->source : NULL);
		json_put_string(&json, "owner", *entry->owner ? entry->owner : NULL);
		json_end(&json);
		strbuf_putc(out, '\n');
	}
	for (size_t i = 0; i < report->count; ++i) {
		if (report->findings[i].age == AUDIT_NEW) {
			struct json json = {.out = out};
			put_finding(&json, reported, "new", &report->findings[i]);
			strbuf_putc(out, '\n');
		}
	}
}
