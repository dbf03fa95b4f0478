/* SPDX-License-Identifier: MIT */
#include "audit/rules/units.h"

#include "audit/rules/drift.h"
#include "base/words.h"

#include <errno.h>
#include <string.h>

/** What is judged of a unit. */
static const uint64_t of_mounts = UINT64_C(1) << DRIFT_NOT_MOUNTED | UINT64_C(1) << DRIFT_SOURCE | UINT64_C(1) << DRIFT_TYPE
                                  | UINT64_C(1) << DRIFT_OPTIONS | UINT64_C(1) << DRIFT_READONLY;

/** Append the line that says what a unit does. */
static void put_line(struct strbuf *out, const struct wanted_unit *unit)
{
	struct strbuf options;
	strbuf_init(&options);
	strbuf_puts(&options, *unit->options ? unit->options : "defaults");
	/* A boot that wants it alone does without it. */
	if (!unit->required || unit->may_not)
		strbuf_puts(&options, ",nofail");
	if (unit->automount)
		strbuf_puts(&options, ",x-systemd.automount");
	out->failed |= options.failed;
	fstab_write_line(out, &(struct fstab_line){
		.source = unit->source, .target = unit->target, .fstype = unit->fstype, .options = strbuf_str(&options)}, 0);
	strbuf_destroy(&options);
}

/** Append a message about a line as one about a unit. */
static void put_message(struct strbuf *out, const char *text)
{
	static const char word[] = "line";
	for (const char *found; (found = strstr(text, word)) != NULL; text = found + sizeof(word) - 1) {
		strbuf_add(out, text, (size_t)(found - text));
		strbuf_puts(out, "unit");
	}
	strbuf_puts(out, text);
}

/** Where a unit says what is not so. */
static struct wanted_place place_of(const struct wanted_unit *unit, enum audit_code code)
{
	enum unitfile_key key = code == DRIFT_SOURCE || code == SWAP_NOT_ACTIVE ? UNITFILE_WHAT
	                        : code == DRIFT_TYPE ? UNITFILE_TYPE
	                        : code == DRIFT_OPTIONS || code == DRIFT_READONLY ? UNITFILE_OPTIONS : UNITFILE_WHERE;
	struct wanted_place place = unit->said[key];
	if (place.line)
		return place;
	place = unit->said[UNITFILE_WHAT];
	return place.line && code != DRIFT_NOT_MOUNTED ? place : unit->said[UNITFILE_WHERE];
}

/** How grave it is: somebody else may mount where a unit is not sure to be started. */
static enum audit_severity severity_of(const struct wanted_unit *unit, const struct audit_finding *finding)
{
	bool other = finding->code == DRIFT_OPTIONS || finding->code == DRIFT_READONLY;
	return unit->may_not && (unit->usual || !other) ? AUDIT_INFO : finding->severity;
}

/** Tell of a unit what drift has told of its line. */
static int tell(const struct audit_units_input *in, const struct wanted_unit *unit, const struct tabline *line,
                const struct audit_finding *said, struct strbuf *text, struct audit_report *report)
{
	struct audit_finding finding = *said;
	struct wanted_place place = place_of(unit, said->code);
	const char *options = tabline_value(line, TABLINE_OPTIONS);
	struct strbuf file, hint;
	strbuf_init(&file);
	strbuf_init(&hint);
	strbuf_reset(text);
	put_message(text, said->message);
	strbuf_printf(&file, "%s%s", in->prefix, place.file);
	switch (said->code) {
	case DRIFT_NOT_MOUNTED:
	case SWAP_NOT_ACTIVE:
		strbuf_printf(&hint, "systemctl status '%s'; systemctl start '%s', or disable it", unit->name, unit->name);
		break;
	case DRIFT_READONLY:
		strbuf_puts(&hint, "look into the kernel's log for why; check the file system, and mount it again");
		break;
	case DRIFT_OPTIONS:
		strbuf_printf(&hint, "systemctl daemon-reload and systemctl reload-or-restart '%s', or mend the unit", unit->name);
		break;
	default:
		strbuf_printf(&hint, "see which is meant; systemctl cat '%s'; systemctl restart '%s', or mend the unit", unit->name, unit->name);
	}
	finding.severity = severity_of(unit, said);
	finding.file = strbuf_str(&file);
	finding.line = place.line;
	finding.owner = unit->owner;
	finding.message = strbuf_str(text);
	finding.hint = strcmp(in->merge.in->root, "/") == 0 ? strbuf_str(&hint) : NULL;
	if (finding.expected && options && strcmp(finding.expected, options) == 0)
		finding.expected = *unit->options ? unit->options : "defaults";
	int rc = file.failed || hint.failed || text->failed ? -1 : audit_report_add(report, &finding);
	strbuf_destroy(&file);
	strbuf_destroy(&hint);
	return rc;
}

/** Whether a swap space is in use that the plan makes no line of, as one in memory that is compressed. */
static bool is_used(const struct audit_units_input *in, const struct fstab_plan *plan, const struct wanted_unit *unit)
{
	for (size_t i = 0; unit->swap && i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		if (line->swap && line->fate != FSTAB_LINE
		    && (strcmp(line->swap, unit->source) == 0 || (in->merge.leads && in->merge.leads(in->merge.arg, unit->source, line) != 0)))
			return true;
	}
	return false;
}

/** Judge lines, which are of units in their order. */
static int judge(const struct audit_units_input *in, const struct tablines *lines, struct fstab_plan *plan, struct audit_report *report)
{
	struct fstab_merge_input merge = in->merge;
	struct fstab_merged merged = {0};
	struct audit_report own;
	struct strbuf text;
	audit_report_init(&own);
	strbuf_init(&text);
	merge.file = lines;
	merge.plan = plan;
	int rc = fstab_merge(&merge, &merged);
	/* What no unit wants is told by the fstab. */
	for (size_t i = 0; i < plan->count; ++i)
		plan->lines[i].owner = "unit";
	if (rc == 0)
		rc = audit_drift(&(struct audit_drift_input){
			.lines = lines, .merged = &merged, .live = merge.in, .plan = plan, .facts = in->facts, .uptime = in->uptime}, &own);
	report->unjudged |= own.unjudged;
	for (size_t i = 0; i < own.count && rc == 0; ++i) {
		const struct audit_finding *said = &own.findings[i];
		if (!said->line || said->line > in->wanted->count)
			continue;
		const struct wanted_unit *unit = &in->wanted->units[said->line - 1];
		bool booting = said->code == DRIFT_NOT_MOUNTED && in->uptime >= 0 && in->uptime < AUDIT_BOOTING;
		if (!booting && (said->code != SWAP_NOT_ACTIVE || !is_used(in, plan, unit)))
			rc = tell(in, unit, &lines->lines[said->line - 1], said, &text, report);
	}
	strbuf_destroy(&text);
	audit_report_destroy(&own);
	fstab_merged_destroy(&merged);
	return rc;
}

int audit_units(const struct audit_units_input *in, struct audit_report *report)
{
	const struct wanted *wanted = in->wanted;
	struct fstab_plan plan;
	struct strbuf table;
	struct tablines *lines = NULL;
	int rc = 0;
	report->unjudged |= (wanted->mounts_open ? of_mounts : 0) | (wanted->swaps_open ? audit_bit(SWAP_NOT_ACTIVE) : 0);
	if (wanted->count == 0)
		return 0;
	strbuf_init(&table);
	for (size_t i = 0; i < wanted->count; ++i)
		put_line(&table, &wanted->units[i]);
	if (!table.failed)
		lines = tablines_parse(strbuf_str(&table), table.len);
	if (!lines)
		rc = -1;
	/* One line each, or none is known to be of its unit. */
	if (rc == 0 && lines->count != wanted->count) {
		report->unjudged |= of_mounts | audit_bit(SWAP_NOT_ACTIVE);
	} else if (rc == 0) {
		for (size_t i = 0; i < lines->count; ++i) {
			if (lines->lines[i].kind != TABLINE_ENTRY)
				report->unjudged |= of_mounts;
		}
		rc = fstab_plan(in->merge.in, &plan);
		if (rc == 0)
			rc = judge(in, lines, &plan, report);
		fstab_plan_destroy(&plan);
	}
	if (rc == 0)
		audit_report_sort(report);
	tablines_free(lines);
	strbuf_destroy(&table);
	if (rc != 0)
		errno = ENOMEM;
	return rc;
}
