/* SPDX-License-Identifier: MIT */
/*
 * What `getmnt recover` says of a file: a line for each finding, or a document.
 *
 * Both are reports: secrets are masked, which the file made anew has as the kernel
 * shows them to everybody.
 */
#include "cmd/recover/recover.h"

#include "base/escape.h"
#include "cmd/output.h"
#include "mountopts/optlist.h"

#include <inttypes.h>
#include <string.h>

/** The fields of a line, as they are in struct tabline. */
static const struct place {
	unsigned field;               /* enum rec_field */
	enum tabline_place place;
	const char *words;            /* for people */
} places[] = {
	{REC_SOURCE, TABLINE_SOURCE, "source"},
	{REC_TARGET, TABLINE_TARGET, "mount point"},
	{REC_FSTYPE, TABLINE_FSTYPE, "type"},
	{REC_OPTIONS, TABLINE_OPTIONS, "options"},
	{REC_FREQ, TABLINE_FREQ, "freq"},
	{REC_PASSNO, TABLINE_PASSNO, "pass"},
};

/** Append a value of a field without its secrets. */
static void add_masked(struct strbuf *out, unsigned field, const char *value)
{
	if (field == REC_SOURCE)
		mask_source(value, out);
	else if (field == REC_OPTIONS)
		mask_options(value, out);
	else
		strbuf_puts(out, value);
}

/** What a field should be. */
static const char *expected(const struct recover_report *report, uint32_t row, unsigned field)
{
	const struct rec_row *r = &report->in->rows[row];
	switch (field) {
	case REC_SOURCE:
		return r->mount->source && *r->mount->source ? r->mount->source : "none";
	case REC_TARGET:
		return r->target;
	case REC_FSTYPE:
		return r->mount->fstype && *r->mount->fstype ? r->mount->fstype : "none";
	case REC_OPTIONS:
		return report->judgement->options[row];
	default:
		return "0";
	}
}

/** Append "(type source)", of what a line or a mount is. */
static void add_kind(struct strbuf *out, const char *fstype, const char *source)
{
	if (fstype || source) {
		strbuf_printf(out, " (%s%s", fstype ? fstype : "", fstype && source ? " " : "");
		if (source)
			mask_source(source, out);
		strbuf_putc(out, ')');
	}
}

/** Append the options of a list that another does not have as often. */
static size_t add_beyond(struct strbuf *out, const char *list, const char *other, const char *head)
{
	enum { SHOWN_MAX = 100 };
	size_t found = 0, n, count = 0;
	struct strbuf beyond;
	strbuf_init(&beyond);
	for (const char *o, *at = list; (o = opt_next_mtab(&at, &n)) != NULL && ++count <= SHOWN_MAX;) {
		size_t m, here = 1, there = 0, seen = 0;
		for (const char *e, *back = list; (e = opt_next_mtab(&back, &m)) != NULL && e != o;)
			here += m == n && memcmp(e, o, n) == 0;
		for (const char *e, *to = other; (e = opt_next_mtab(&to, &m)) != NULL && ++seen <= SHOWN_MAX;)
			there += m == n && memcmp(e, o, n) == 0;
		if (here <= there)
			continue;
		strbuf_puts(&beyond, found++ ? "," : "");
		strbuf_add(&beyond, o, n);
	}
	if (found) {
		strbuf_puts(out, head);
		mask_options(strbuf_str(&beyond), out);
	}
	out->failed |= beyond.failed;
	strbuf_destroy(&beyond);
	return found;
}

/** Append how options differ from what they should be. */
static void add_options(struct strbuf *out, const char *value, const char *should)
{
	strbuf_puts(out, "options");
	size_t lack = add_beyond(out, should, value, " lack ");
	size_t beyond = add_beyond(out, value, should, lack ? ", and have " : " have ");
	if (beyond)
		strbuf_puts(out, ", which the mount has not");
	else if (!lack)
		strbuf_puts(out, " are not those of the mount");
}

static void add_wrong(struct strbuf *out, const struct recover_report *report, const struct rec_finding *f)
{
	const char *part = " ";
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); ++i) {
		if (!(f->fields & places[i].field))
			continue;
		const char *value = tabline_value(f->line, places[i].place);
		strbuf_puts(out, part);
		part = "; ";
		if (value && places[i].field == REC_OPTIONS) {
			add_options(out, value, expected(report, f->row, REC_OPTIONS));
			continue;
		}
		strbuf_printf(out, "%s%s%s", value ? "" : "no ", places[i].words, value ? " " : "");
		if (value)
			add_masked(out, places[i].field, value);
		strbuf_puts(out, ", should be ");
		add_masked(out, places[i].field, expected(report, f->row, places[i].field));
	}
	if (f->fields & REC_TIME) {
		const char *value = tabline_value(f->line, TABLINE_FREQ);
		strbuf_printf(out, "%s%s%s: no time that it can have been mounted at", part, value ? "time " : "no time",
		              value ? value : "");
		part = "; ";
	}
	if (f->fields & REC_REST) {
		strbuf_printf(out, "%stext behind the last field", part);
		part = "; ";
	}
	if (f->fields & REC_END) {
		strbuf_printf(out, "%s%s", part, f->line->n == f->line->size ? "no newline at its end" : "a CR at its end");
		part = "; ";
	}
	if (f->fields & REC_ORDER)
		strbuf_printf(out, "%sstands before line %" PRIu32 ", of the mount that this one is on", part, f->other);
	if (f->why && !(f->fields & REC_REST))
		strbuf_printf(out, " (%s)", f->why);
}

static void add_finding(struct strbuf *out, const struct recover_report *report, const struct rec_finding *f)
{
	strbuf_puts(out, report->name);
	if (f->line)
		strbuf_printf(out, ":%" PRIu32, f->line->number);
	strbuf_printf(out, ": %s: ", rec_verdict_name(f->verdict));
	const struct rec_row *row = f->row == REC_NONE ? NULL : &report->in->rows[f->row];
	if (row)
		strbuf_puts(out, row->target);
	switch (f->verdict) {
	case REC_WRONG:
		strbuf_putc(out, ':');
		add_wrong(out, report, f);
		break;
	case REC_GONE:
		strbuf_printf(out, "%s: %s", tabline_value(f->line, TABLINE_TARGET), f->why);
		if (f->other)
			strbuf_printf(out, "; see line %" PRIu32, f->other);
		add_kind(out, report->format == REC_SETMNT ? NULL : tabline_value(f->line, TABLINE_FSTYPE),
		         tabline_value(f->line, TABLINE_SOURCE));
		break;
	case REC_MISSING:
		if (f->other)
			strbuf_printf(out, ": line %" PRIu32 " may have been its", f->other);
		add_kind(out, expected(report, f->row, REC_FSTYPE), expected(report, f->row, REC_SOURCE));
		break;
	case REC_UNREADABLE:
	case REC_IGNORED:
		strbuf_puts(out, f->why);
		break;
	case REC_RIGHT:
	case REC_NVERDICTS:
		break;
	}
}

int recover_text(const struct recover_report *report)
{
	const struct rec_judgement *j = report->judgement;
	struct strbuf raw, line;
	strbuf_init(&raw);
	strbuf_init(&line);
	bool failed = false;
	for (size_t i = 0; i < j->count && !failed; ++i) {
		const struct rec_finding *f = &j->findings[i];
		if (!report->all && (f->verdict == REC_RIGHT || f->verdict == REC_IGNORED))
			continue;
		strbuf_reset(&raw);
		strbuf_reset(&line);
		add_finding(&raw, report, f);
		escape_terminal(&line, strbuf_str(&raw));
		strbuf_putc(&line, '\n');
		failed = raw.failed || line.failed;
		if (!failed)
			fwrite(line.data, 1, line.len, stdout);
	}
	strbuf_destroy(&raw);
	strbuf_destroy(&line);
	return failed ? -1 : 0;
}

void recover_counts(const struct rec_judgement *j, struct strbuf *out)
{
	for (enum rec_verdict v = 0; v < REC_NVERDICTS; ++v)
		strbuf_printf(out, "%s%zu %s", v ? ", " : "", j->of[v], rec_verdict_name(v));
}

/* JSON. */

/** Append a value without its secrets, as a string of JSON, or null. */
static void json_value(struct strbuf *out, struct strbuf *scratch, unsigned field, const char *value)
{
	if (!value) {
		strbuf_puts(out, "null");
		return;
	}
	strbuf_reset(scratch);
	add_masked(scratch, field, value);
	escape_json(out, strbuf_str(scratch));
}

static void json_hints(struct strbuf *out, const struct rec_judgement *j, const struct rec_finding *f, bool kept)
{
	const char *part = "";
	for (size_t i = 0; i < f->nhints; ++i) {
		const struct rec_hint *hint = &j->hints[f->hint + i];
		if (hint->kept != kept)
			continue;
		strbuf_puts(out, part);
		escape_json(out, hint->option);
		part = ", ";
	}
}

/** Append what a line says, and what is to be said of it. */
static void json_finding(struct strbuf *out, struct strbuf *scratch, const struct recover_report *report,
                         const struct rec_finding *f)
{
	bool readable = f->line && f->verdict != REC_UNREADABLE && f->verdict != REC_IGNORED;
	size_t nplaces = report->format == REC_SETMNT ? 2 : 4;
	strbuf_puts(out, "      {\"line\": ");
	if (f->line)
		strbuf_printf(out, "%" PRIu32, f->line->number);
	else
		strbuf_puts(out, "null");
	strbuf_printf(out, ", \"verdict\": \"%s\"", rec_verdict_name(f->verdict));
	for (size_t i = 0; i < 4; ++i) {
		strbuf_printf(out, ", \"%s\": ", rec_field_name((unsigned)i));
		json_value(out, scratch, places[i].field,
		           readable && i < nplaces ? tabline_value(f->line, places[i].place) : NULL);
	}
	strbuf_puts(out, ", \"fields\": [");
	const char *part = "";
	for (unsigned b = 0; b < REC_NFIELDS; ++b) {
		if (f->fields & 1u << b) {
			strbuf_printf(out, "%s\"%s\"", part, rec_field_name(b));
			part = ", ";
		}
	}
	strbuf_puts(out, "], \"expected\": ");
	if (f->row == REC_NONE || f->verdict == REC_RIGHT) {
		strbuf_puts(out, "null");
	} else {
		part = "{";
		for (size_t i = 0; i < nplaces; ++i) {
			strbuf_printf(out, "%s\"%s\": ", part, rec_field_name((unsigned)i));
			json_value(out, scratch, places[i].field, expected(report, f->row, places[i].field));
			part = ", ";
		}
		strbuf_putc(out, '}');
	}
	strbuf_puts(out, ", \"other_line\": ");
	if (f->other)
		strbuf_printf(out, "%" PRIu32, f->other);
	else
		strbuf_puts(out, "null");
	strbuf_puts(out, ", \"reason\": ");
	json_value(out, scratch, 0, f->why);
	strbuf_puts(out, ", \"kept\": [");
	json_hints(out, report->judgement, f, true);
	strbuf_puts(out, "], \"not_kept\": [");
	json_hints(out, report->judgement, f, false);
	strbuf_puts(out, "]}");
}

int recover_json(const struct recover_report *report)
{
	const struct rec_judgement *j = report->judgement;
	struct strbuf out, scratch;
	strbuf_init(&out);
	strbuf_init(&scratch);
	strbuf_puts(&out, "{\n   \"findings\": [");
	for (size_t i = 0; j && i < j->count && !out.failed; ++i) {
		strbuf_puts(&out, i ? ",\n" : "\n");
		json_finding(&out, &scratch, report, &j->findings[i]);
	}
	strbuf_puts(&out, j && j->count ? "\n   ],\n   \"file\": " : "],\n   \"file\": ");
	escape_json(&out, report->name);
	strbuf_puts(&out, ",\n   \"link\": ");
	json_value(&out, &scratch, 0, report->link);
	strbuf_printf(&out, ",\n   \"format\": \"%s\",\n   \"right\": %s,\n   \"counts\": ", rec_format_name(report->format),
	              report->right ? "true" : "false");
	if (j) {
		for (enum rec_verdict v = 0; v < REC_NVERDICTS; ++v)
			strbuf_printf(&out, "%s\"%s\": %zu", v ? ", " : "{", rec_verdict_name(v), j->of[v]);
		strbuf_putc(&out, '}');
	} else {
		strbuf_puts(&out, "null");
	}
	strbuf_puts(&out, ",\n   ");
	json_head(report->run, &out);
	strbuf_puts(&out, "\n}\n");
	bool failed = out.failed || scratch.failed;
	if (!failed)
		fwrite(strbuf_str(&out), 1, out.len, stdout);
	strbuf_destroy(&out);
	strbuf_destroy(&scratch);
	return failed ? -1 : 0;
}
