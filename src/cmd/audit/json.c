/* SPDX-License-Identifier: MIT */
#include "cmd/audit/audit.h"

#include "base/escape.h"
#include "cmd/columns.h"
#include "cmd/output.h"

#include <inttypes.h>

void audit_put_codes(struct strbuf *out, const struct audit_set *set, const char *between, const char *quote)
{
	const char *part = "";
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(set, (enum audit_code)code)) {
			strbuf_printf(out, "%s%s%s%s", part, quote, audit_rules[code].code, quote);
			part = between;
		}
	}
}

static void put_string(struct strbuf *out, const char *value)
{
	if (value)
		escape_json(out, value);
	else
		strbuf_puts(out, "null");
}

void audit_member(struct strbuf *out, const char *name, const char *value)
{
	strbuf_printf(out, ", \"%s\": ", name);
	put_string(out, value);
}

/** The expired lines of the configuration, as "FILE:LINE". */
static void put_expired(const struct audit_reported *reported, struct strbuf *out)
{
	struct strbuf place;
	const char *part = "";
	strbuf_init(&place);
	strbuf_puts(out, ",\n   \"expired\": [");
	for (size_t at = 0; audit_next_over(reported, &at, &place);) {
		strbuf_puts(out, part);
		escape_json(out, strbuf_str(&place));
		part = ", ";
	}
	strbuf_puts(out, "]");
	out->failed |= place.failed;
	strbuf_destroy(&place);
}

/** The baseline, and what differs from it. */
static void put_baseline(const struct audit_reported *reported, struct strbuf *out)
{
	strbuf_puts(out, ",\n   \"baseline\": {\"file\": ");
	put_string(out, reported->baseline);
	audit_member(out, "host", *reported->old->host ? reported->old->host : NULL);
	const struct audit_base_counts *since = reported->since;
	strbuf_printf(out, ", \"time\": %" PRId64 ", \"mounts\": {\"new\": %zu, \"changed\": %zu, \"gone\": %zu}, "
	              "\"findings\": {\"new\": %zu, \"gone\": %zu}}",
	              reported->old->time, since->came, since->changed, since->went, since->new_findings, since->gone_findings);
}

static void put_counts(const struct audit_reported *reported, struct strbuf *out)
{
	size_t of[AUDIT_CRITICAL + 1];
	audit_count(reported, of);
	strbuf_printf(out, "\"counts\": {\"critical\": %zu, \"warning\": %zu, \"info\": %zu, \"ignored\": %zu, \"silenced\": %zu}", of[AUDIT_CRITICAL],
	              of[AUDIT_WARNING], of[AUDIT_INFO], reported->report->suppressed, reported->report->silenced);
	const size_t *left = reported->report->left_out;
	strbuf_printf(out, ",\n   \"left_out\": {\"critical\": %zu, \"warning\": %zu, \"info\": %zu}", left[AUDIT_CRITICAL], left[AUDIT_WARNING],
	              left[AUDIT_INFO]);
	put_expired(reported, out);
	if (reported->baseline)
		put_baseline(reported, out);
	strbuf_puts(out, ",\n   \"not_judged\": [");
	audit_put_codes(out, &reported->not_checked, ", ", "\"");
	strbuf_puts(out, "],\n   \"failed\": ");
	put_string(out, reported->failed);
	strbuf_printf(out, ",\n   \"exit_status\": %d", reported->status);
}

/** What was audited, when and where. */
static void put_head(const struct audit_reported *reported, struct strbuf *out)
{
	strbuf_puts(out, ",\n   \"fstab\": ");
	put_string(out, reported->fstab);
	strbuf_puts(out, ",\n   \"root\": ");
	put_string(out, reported->root);
	strbuf_printf(out, ",\n   \"mounts\": %zu,\n   \"time\": %" PRId64 ",\n   \"seconds\": %.6f", reported->mounts,
	              reported->began, reported->seconds);
	struct json json;
	json_resume(&json, out, JSON_LINES, false);
	json_head(reported->run, &json);
	json_end(&json);
}

void audit_json(const struct audit_reported *reported, struct strbuf *out)
{
	const struct audit_report *report = reported->report;
	struct strbuf source;
	const char *part = "";
	strbuf_init(&source);
	strbuf_puts(out, "{\n   \"findings\": [");
	for (size_t i = 0; i < report->count; ++i) {
		const struct audit_finding *f = &report->findings[i];
		if (!audit_is_on(reported, f))
			continue;
		strbuf_printf(out, "%s\n      {\"code\": \"%s\", \"severity\": \"%s\"", part, audit_rules[f->code].code,
		              audit_severity_name(f->severity));
		strbuf_reset(&source);
		if (f->line)
			strbuf_printf(&source, "%s:%" PRIu32, f->file ? f->file : reported->fstab ? reported->fstab : "?", f->line);
		struct json json;
		json_resume(&json, out, JSON_INLINE, false);
		json_put_text(&json, "target", *f->target ? f->target : NULL);
		audit_member(out, "owner", f->owner);
		audit_member(out, "message", f->message);
		audit_member(out, "expected", f->expected);
		audit_member(out, "actual", f->actual);
		audit_member(out, "hint", f->hint);
		audit_member(out, "source", f->line ? strbuf_str(&source) : NULL);
		if (reported->baseline)
			strbuf_printf(out, ", \"new\": %s", f->age == AUDIT_NEW ? "true" : f->age == AUDIT_KNOWN ? "false" : "null");
		strbuf_putc(out, '}');
		part = ",";
	}
	strbuf_printf(out, "%s],\n   ", *part ? "\n   " : "");
	put_counts(reported, out);
	put_head(reported, out);
	out->failed |= source.failed;
	strbuf_destroy(&source);
}

/** Put a document on one line.  Its strings contain no newlines. */
static void fold(const struct strbuf *document, struct strbuf *out)
{
	for (const char *at = strbuf_str(document); *at;) {
		size_t n = strcspn(at, "\n");
		strbuf_add(out, at, n);
		at += n;
		bool after = n && at[-1] == ',';
		if (*at)
			at += 1 + strspn(at + 1, " ");
		if (after)
			strbuf_putc(out, ' ');
	}
	strbuf_putc(out, '\n');
	out->failed |= document->failed;
}

void audit_jsonl(const struct audit_reported *reported, struct strbuf *out)
{
	struct strbuf document;
	strbuf_init(&document);
	audit_json(reported, &document);
	fold(&document, out);
	strbuf_destroy(&document);
}
