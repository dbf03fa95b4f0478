/* SPDX-License-Identifier: MIT */
/*
 * The report of `getmnt recover`: a line for each finding, or a JSON document.  Secrets are
 * masked here; the rebuilt file has them as the kernel shows them.
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

/** The expected value of a field. */
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

/** Append "(type source)". */
static void add_kind(struct strbuf *out, const char *fstype, const char *source)
{
	if (fstype || source) {
		strbuf_printf(out, " (%s%s", fstype ? fstype : "", fstype && source ? " " : "");
		if (source)
			mask_source(source, out);
		strbuf_putc(out, ')');
	}
}

/** Append the options that occur more often in one list than in another. */
static size_t add_beyond(struct strbuf *out, const char *list, const char *other, const char *head)
{
	enum { SHOWN_MAX = 100 };
	size_t found = 0, n, count = 0;
	struct strbuf beyond;
	strbuf_init(&beyond);
	for (const char *o, *at = list; (o = opt_next_mtab(&at, &n)) != NULL
	     && ++count <= SHOWN_MAX;) {
		size_t m, here = 1, there = 0, seen = 0;
		for (const char *e, *back = list; (e = opt_next_mtab(&back, &m)) != NULL && e != o;)
			here += m == n && memcmp(e, o, n) == 0;
		for (const char *e, *to = other; (e = opt_next_mtab(&to, &m)) != NULL
		     && ++seen <= SHOWN_MAX;)
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

/** Append the differences between options and the expected ones. */
static void add_options(struct strbuf *out, const char *value, const char *should)
{
	strbuf_puts(out, "options");
	size_t lack = add_beyond(out, should, value, " lack ");
	size_t beyond = add_beyond(out, value, should, lack ? ", and have " : " have ");
	if (beyond)
		strbuf_puts(out, ", unlike the mount");
	else if (!lack)
		strbuf_puts(out, " differ from those of the mount");
}

static void add_wrong(struct strbuf *out, const struct recover_report *report,
                      const struct rec_finding *f)
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
		strbuf_printf(out, "%s%s%s: not a possible time of the mount", part, value
		              ? "time " : "no time",
		              value ? value : "");
		part = "; ";
	}
	if (f->fields & REC_REST) {
		strbuf_printf(out, "%stext after the last field", part);
		part = "; ";
	}
	if (f->fields & REC_END) {
		strbuf_printf(out, "%s%s", part, f->line->n == f->line->size
		              ? "no newline at the end" : "a CR at the end");
		part = "; ";
	}
	if (f->fields & REC_ORDER)
		strbuf_printf(out,
		              "%sprecedes line %" PRIu32 ", which has the mount that this one is "
		              "on",
		              	part, f->other);
	if (f->why && !(f->fields & REC_REST))
		strbuf_printf(out, " (%s)", f->why);
}

static void add_finding(struct strbuf *out, const struct recover_report *report,
                        const struct rec_finding *f)
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
		add_kind(out, report->format == REC_SETMNT ? NULL
		         : tabline_value(f->line, TABLINE_FSTYPE),
		         tabline_value(f->line, TABLINE_SOURCE));
		break;
	case REC_MISSING:
		if (f->other)
			strbuf_printf(out, ": line %" PRIu32 " may have been its", f->other);
		add_kind(out, expected(report, f->row, REC_FSTYPE),
		         expected(report, f->row, REC_SOURCE));
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

/** Write a value without its secrets, or null. */
static void put_value(struct json *json, const char *key, unsigned field, const char *value)
{
	struct strbuf masked;
	strbuf_init(&masked);
	if (value)
		add_masked(&masked, field, value);
	json_put_string(json, key, value ? strbuf_str(&masked) : NULL);
	json->out->failed |= masked.failed;
	strbuf_destroy(&masked);
}

/** Write the options of a line that only it has and that are kept, or are not. */
static void put_hints(struct json *json, const struct rec_judgement *j, const struct rec_finding *f,
                      bool kept)
{
	json_put_array(json, kept ? "kept" : "not_kept", JSON_INLINE);
	for (size_t i = 0; i < f->nhints; ++i) {
		const struct rec_hint *hint = &j->hints[f->hint + i];
		if (hint->kept == kept)
			json_put_string(json, NULL, hint->option);
	}
	json_end(json);
}

static void put_line_number(struct json *json, const char *key, uint32_t line)
{
	if (line)
		json_put_number(json, key, line);
	else
		json_put_null(json, key);
}

/** Write a line of the file and the finding about it. */
static void put_finding(struct json *json, const struct recover_report *report,
                        const struct rec_finding *f)
{
	bool readable = f->line && f->verdict != REC_UNREADABLE && f->verdict != REC_IGNORED;
	size_t nplaces = report->format == REC_SETMNT ? 2 : 4;
	json_put_object(json, NULL, JSON_INLINE);
	put_line_number(json, "line", f->line ? f->line->number : 0);
	json_put_string(json, "verdict", rec_verdict_name(f->verdict));
	for (size_t i = 0; i < 4; ++i)
		put_value(json, rec_field_name((unsigned)i), places[i].field,
		          readable && i < nplaces ? tabline_value(f->line, places[i].place) : NULL);
	json_put_array(json, "fields", JSON_INLINE);
	for (unsigned b = 0; b < REC_NFIELDS; ++b) {
		if (f->fields & 1u << b)
			json_put_string(json, NULL, rec_field_name(b));
	}
	json_end(json);
	if (f->row == REC_NONE || f->verdict == REC_RIGHT) {
		json_put_null(json, "expected");
	} else {
		json_put_object(json, "expected", JSON_INLINE);
		for (size_t i = 0; i < nplaces; ++i)
			put_value(json, rec_field_name((unsigned)i), places[i].field,
			          expected(report, f->row, places[i].field));
		json_end(json);
	}
	put_line_number(json, "other_line", f->other);
	put_value(json, "reason", 0, f->why);
	put_hints(json, report->judgement, f, true);
	put_hints(json, report->judgement, f, false);
	json_end(json);
}

int recover_json(const struct recover_report *report)
{
	const struct rec_judgement *j = report->judgement;
	struct strbuf out;
	struct json json;
	strbuf_init(&out);
	json_init(&json, &out);
	json_put_object(&json, NULL, JSON_LINES);
	json_put_array(&json, "findings", JSON_LINES);
	for (size_t i = 0; j && i < j->count && !out.failed; ++i)
		put_finding(&json, report, &j->findings[i]);
	json_end(&json);
	json_put_string(&json, "file", report->name);
	put_value(&json, "link", 0, report->link);
	json_put_string(&json, "format", rec_format_name(report->format));
	json_put_bool(&json, "right", report->right);
	if (j) {
		json_put_object(&json, "counts", JSON_INLINE);
		for (enum rec_verdict v = 0; v < REC_NVERDICTS; ++v)
			json_put_number(&json, rec_verdict_name(v), j->of[v]);
		json_end(&json);
	} else {
		json_put_null(&json, "counts");
	}
	json_head(report->run, &json);
	json_end(&json);
	return print_buffer(&out);
}
