/* SPDX-License-Identifier: MIT */
#include "cmd/audit/audit.h"

#include "base/secret.h"
#include "cmd/json.h"
#include "cmd/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** The text of the man page about each rule. */
static const struct {
	const char *code, *text;
} rule_texts[] = {
#include <rule_texts.h>
};

/** Append the text of the man page about a rule. */
static void explain_rule(const struct audit_rule *rule, struct strbuf *out)
{
	static const char remedy[] = "Remedy:";
	size_t i = 0;
	while (strcmp(rule_texts[i].code, rule->code) != 0)
		++i;
	const char *text = rule_texts[i].text, *at = strstr(text, remedy);
	text_add(out, "%s ", rule->code);
	/* The text is a constant: it needs no escaping, and its line ends must remain. */
	strbuf_add(out, text, at ? (size_t)(at - text - 1) : strlen(text));
	strbuf_puts(out, at ? "\n  " : "");
	strbuf_add(out, at ? at : "", at ? strlen(at) : 0);
	strbuf_puts(out, "\n");
}

/** Append a severity, ten columns wide. */
static void put_severity(struct strbuf *out, enum audit_severity severity, bool colored)
{
	static const char *const colors[] = {
		[AUDIT_WARNING] = "\033[33m", [AUDIT_CRITICAL] = "\033[1;31m"};
	const char *color = colored ? colors[severity] : NULL;
	/* The color is a constant, which needs no escaping. */
	strbuf_puts(out, color ? color : "");
	text_add(out, "%-9s", audit_severity_name(severity));
	strbuf_puts(out, color ? "\033[m " : " ");
}

void audit_list_rules(const struct audit_opts *opts, struct strbuf *out)
{
	struct json json = {.out = out};
	bool as_json = opts->way.form == AF_JSON || opts->way.form == AF_JSONL;
	if (as_json) {
		json_put_object(&json, NULL, JSON_LINES);
		json_put_array(&json, "rules", JSON_LINES);
	}
	for (int code = 0; code < AUDIT_CODES; ++code) {
		const struct audit_rule *rule = &audit_rules[code];
		const char *severity = audit_severity_name(rule->severity);
		if (rule->flags & AR_MERGE || !audit_set_has(opts->rules & ~opts->without, code))
			continue;
		if (as_json) {
			json_put_object(&json, NULL, JSON_INLINE);
			json_put_string(&json, "code", rule->code);
			json_put_string(&json, "severity", severity);
			json_put_bool(&json, "boot", rule->flags & AR_BOOT);
			json_put_string(&json, "requires", rule->flags & AR_PROBE ? "--probe"
			                : rule->flags & AR_UNDER ? "--under"
			                : rule->flags & AR_HOLDERS ? "--holders"
			                : rule->flags & AR_BASELINE ? "--baseline" : NULL);
			json_put_string(&json, "reports", rule->what);
			json_end(&json);
		} else if (opts->explain) {
			explain_rule(rule, out);
		} else {
			text_add(out, "%-24s", rule->code);
			put_severity(out, rule->severity, color_is_on(opts->way.color,
			                                              opts->way.terminal));
			text_add(out, "%s\n", rule->what);
		}
	}
	if (as_json) {
		json_end(&json);
		json_end(&json);
	}
}

void audit_cut(struct strbuf *out, size_t from, size_t chars)
{
	enum { WORD_MAX = 16 };
	size_t n = 0, kept = from;
	for (size_t at = from; at < out->len; ++at) {
		if (((unsigned char)out->data[at] & 0xc0) == 0x80)
			continue;
		if (++n == chars - 2)
			kept = at;   /* where to put "..." */
		if (n > chars) {
			size_t word = kept;
			while (word > from + 1 && !strchr(" /", out->data[word - 1]))
				--word;
			out->len = word > from + 1 && kept - word < WORD_MAX ? word : kept;
			strbuf_puts(out, "...");
			return;
		}
	}
}

void audit_put_text(struct strbuf *out, const struct audit_finding *finding, const char *text)
{
	size_t from = out->len;
	text_add(out, "%s", text);
	if (audit_is_users(finding->owner))
		audit_cut(out, from, AUDIT_TEXT_MAX);
}

void audit_put_left_out(struct strbuf *out, const struct audit_report *report)
{
	const size_t *of = report->left_out;
	if (of[AUDIT_CRITICAL] + of[AUDIT_WARNING] + of[AUDIT_INFO])
		text_add(
		    out,
		    "left out, of users' mounts: %zu critical, %zu warning%s, %zu informational\n",
		    of[AUDIT_CRITICAL], of[AUDIT_WARNING], of[AUDIT_WARNING] == 1 ? "" : "s",
		    of[AUDIT_INFO]);
}

/** Append a label and a text of a finding; nothing if the text is NULL. */
static void put_labeled(struct strbuf *out, const struct audit_finding *f, const char *label,
                        const char *text)
{
	if (text) {
		strbuf_puts(out, label);
		audit_put_text(out, f, text);
	}
}

/** Append a finding except for its severity and code: position, message, values, remedy.
    @new     Written before the message if the finding is new.
    @indent  Written before the values and before the remedy. */
static void put_finding(struct strbuf *out, const struct audit_finding *f, const char *new,
                        const char *indent)
{
	if (f->file || f->line) {
		text_add(out, "%s", f->file ? " (" : " (line ");
		text_add(out, "%s", f->file ? f->file : "");
		if (f->line)
			text_add(out, "%s%" PRIu32, f->file ? ":" : "", f->line);
		strbuf_putc(out, ')');
	}
	put_labeled(out, f, f->age == AUDIT_NEW ? new : ": ", f->message);
	if (f->expected || f->actual)
		strbuf_puts(out, indent);
	put_labeled(out, f, "expected: ", f->expected);
	put_labeled(out, f, f->expected ? ", actual: " : "actual: ", f->actual);
	put_labeled(out, f, indent, f->hint);
	strbuf_putc(out, '\n');
}

/** Append a line with the rules of a set and why they were not checked, if there are any. */
static void put_not_checked(struct strbuf *out, const struct audit_reported *reported,
                            audit_set set)
{
	audit_name_not_checked(out, set, &reported->situation);
	strbuf_puts(out, set ? "\n" : "");
}

void audit_put_not_checked(struct strbuf *out, const struct audit_reported *reported)
{
	put_not_checked(out, reported, reported->not_checked);
}

/** If the fstab is of another host, append the rules that were not checked for lack of facts about
    that host.  With -v, audit_put_not_checked() appends these rules. */
static void put_lacking(struct strbuf *out, const struct audit_reported *reported)
{
	if (reported->situation.foreign && reported->least > AUDIT_INFO)
		put_not_checked(out, reported, reported->lacking);
}

/** Append a line of the configuration, without secrets. */
static void audit_put_row(struct strbuf *out, const struct audit_row *row)
{
	struct strbuf masked = {0};
	mask_options(row->text, &masked);
	out->failed |= masked.failed;
	text_add(out, "%s", strbuf_str(&masked));
	strbuf_destroy(&masked);
}

/** List the findings that the configuration ignores, each with the position of the statement that
    ignores it. */
static void put_silenced(struct strbuf *out, const struct audit_config *config)
{
	size_t users = 0;
	for (size_t i = 0; i < config->nsilenced; ++i) {
		const struct audit_silenced *silenced = &config->silenced[i];
		if (audit_is_users(silenced->finding.owner) && ++users > AUDIT_USERS_MAX)
			continue;
		strbuf_puts(out, "ignored by ");
		text_add(out, "%s", silenced->row->place);
		text_add(out, ": %s %s", audit_severity_name(silenced->finding.severity),
		              audit_rules[silenced->finding.code].code);
		if (*silenced->finding.target) {
			strbuf_putc(out, ' ');
			audit_put_text(out, &silenced->finding, silenced->finding.target);
		}
		strbuf_putc(out, '\n');
	}
	if (users > AUDIT_USERS_MAX)
		text_add(out, "ignored by the configuration: %zu more of users' mounts\n",
		              users - AUDIT_USERS_MAX);
}

const struct audit_row *audit_next_over(const struct audit_reported *reported, size_t *at)
{
	while (*at < reported->config->count) {
		const struct audit_row *row = &reported->config->rows[(*at)++];
		if (audit_row_over(row, reported->today))
			return row;
	}
	return NULL;
}

/** List the expired statements of the configuration. */
static void put_over(struct strbuf *out, const struct audit_reported *reported)
{
	const struct audit_row *row;
	for (size_t at = 0; (row = audit_next_over(reported, &at));) {
		text_add(out, "%s", row->place);
		strbuf_puts(out, " has expired; remove the line, or give it another date: ");
		audit_put_row(out, row);
		strbuf_putc(out, '\n');
	}
}

static int compare_targets(const void *a, const void *b)
{
	const struct audit_finding *const *x = a, *const *y = b;
	int order = strcmp((*x)->target, (*y)->target);
	if (order == 0)
		order = (int)(*y)->severity - (int)(*x)->severity;
	return order ? order : *x < *y ? -1 : *x > *y;
}

/** Append "/etc/fstab: 6 critical, 12 warnings (16 informational; -v shows them)". */
static void put_summary(const struct audit_reported *reported, struct strbuf *out)
{
	const struct audit_report *report = reported->report;
	const size_t *of = report->of;
	text_add(out, "%s", reported->fstab ? reported->fstab : "no fstab");
	text_add(out, ": %zu critical, %zu warning%s", of[AUDIT_CRITICAL], of[AUDIT_WARNING],
	              of[AUDIT_WARNING] == 1 ? "" : "s");
	if (of[AUDIT_INFO])
		text_add(out,
		              reported->least == AUDIT_INFO ? ", %zu informational"
		                                        : " (%zu informational; -v shows %s)",
		              of[AUDIT_INFO], of[AUDIT_INFO] == 1 ? "it" : "them");
	if (report->suppressed)
		text_add(out, ", %zu ignored by the fstab", report->suppressed);
	if (report->silenced)
		text_add(out, ", %zu ignored by the configuration", report->silenced);
	if (reported->baseline) {
		const struct audit_base_counts *since = reported->since;
		strbuf_puts(out, "; since ");
		audit_baseline_when(reported->old, out);
		text_add(
		    out, ": mounts: %zu new, %zu changed, %zu gone; findings: %zu new, %zu gone",
		    since->came, since->changed, since->went, since->new_findings,
		    since->gone_findings);
	}
	strbuf_putc(out, '\n');
}

void audit_text(const struct audit_reported *reported, struct strbuf *out)
{
	const struct audit_report *report = reported->report;
	size_t n = 0;
	if (reported->failed)
		return;
	const struct audit_finding **shown = malloc((report->count + 1) * sizeof(*shown));
	out->failed |= !shown;
	for (size_t i = 0; shown && i < report->count; ++i) {
		const struct audit_finding *f = &report->findings[i];
		if (f->severity >= reported->least)
			shown[n++] = f;
	}
	if (shown)
		qsort(shown, n, sizeof(*shown), compare_targets);
	for (size_t i = 0; shown && i < n; ++i) {
		if (i == 0 || strcmp(shown[i]->target, shown[i - 1]->target) != 0) {
			audit_put_text(out, shown[i],
			               *shown[i]->target ? shown[i]->target : "this system");
			strbuf_putc(out, '\n');
		}
		strbuf_puts(out, "  ");
		put_severity(out, shown[i]->severity, reported->colored);
		text_add(out, "%s", audit_rules[shown[i]->code].code);
		put_finding(out, shown[i], ", new: ", "\n            ");
	}
	free(shown);
	/* For a clean system, nothing is printed when the audit runs from cron, without a terminal.
	   If facts about the host of a foreign fstab are missing, this fstab may not be clean:
	   print the summary. */
	if (n > 0 || reported->least == AUDIT_INFO || reported->terminal
	    || (reported->situation.foreign && reported->run->live && reported->lacking)) {
		put_lacking(out, reported);
		put_summary(reported, out);
		audit_put_left_out(out, report);
	}
	if (reported->least == AUDIT_INFO)
		put_silenced(out, reported->config);
	put_over(out, reported);
	if (reported->least == AUDIT_INFO)
		audit_put_not_checked(out, reported);
}

const struct audit_base_entry *audit_next_cleared(const struct audit_reported *reported,
                                                  struct audit_cleared *at)
{
	const struct audit_base_list *list = &reported->last->findings;
	while (at->at < list->count) {
		const struct audit_base_entry *entry = &list->entries[at->at++];
		bool users = !entry->pair && audit_is_users(entry->owner);
		at->users += users;
		if (entry->pair || (users && at->users > AUDIT_USERS_MAX))
			continue;
		at->severity = AUDIT_CRITICAL;
		while (at->severity > AUDIT_INFO
		       && strcmp(audit_severity_name(at->severity), entry->uuid) != 0)
			--at->severity;
		return entry;
	}
	return NULL;
}

/** Append the start of a line about a change: "2026-11-26T08:15:02Z new      warning   CODE
    /data". */
static void put_change(struct strbuf *out, const struct audit_reported *reported, const char *what,
                       enum audit_severity severity, const char *code, const char *target)
{
	time_t seconds = (time_t)reported->began;
	struct tm tm;
	char text[40] = "";
	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	text_add(out, "%s %-7s ", text, what);
	put_severity(out, severity, reported->colored);
	text_add(out, "%s ", code);
	text_add(out, "%s", *target ? target : "this system");
}

void audit_text_changes(const struct audit_reported *reported, struct strbuf *out)
{
	const struct audit_report *report = reported->report;
	const struct audit_base_entry *entry;
	/* A finding whose severity changed is printed as "cleared" with the old severity, then as
	   "new". */
	for (struct audit_cleared at = {0}; (entry = audit_next_cleared(reported, &at));) {
		if (at.severity < reported->least)
			continue;
		put_change(out, reported, "cleared", at.severity, entry->target, entry->source);
		strbuf_putc(out, '\n');
	}
	for (size_t i = 0; i < report->count; ++i) {
		const struct audit_finding *f = &report->findings[i];
		if (f->age != AUDIT_NEW || f->severity < reported->least)
			continue;
		put_change(out, reported, "new", f->severity, audit_rules[f->code].code,
		           f->target);
		put_finding(out, f, ": ", "; ");
	}
}
