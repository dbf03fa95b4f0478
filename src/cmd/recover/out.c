/* SPDX-License-Identifier: MIT */
/*
 * The report of `getmnt recover`: a line for each finding, or a JSON document.  Secrets are masked
 * here; the rebuilt file contains them as the kernel shows them.
 */
#include "cmd/json.h"
#include "cmd/recover/recover.h"

#include "base/escape.h"
#include "base/secret.h"
#include "cmd/stats.h"
#include "cmd/text.h"
#include "mountopts/edit.h"

#include <inttypes.h>
#include <string.h>

/** Names of the fields with an expected value, in the order of enum tabline_place and rec_field. */
static const char *const words[] = {"source", "mount point", "type", "options", "freq", "pass"};
enum { WORDS = sizeof(words) / sizeof(*words), OF_KERNEL = 4 };

/** Append the value of a field, with secrets masked. */
static void add_masked(struct strbuf *out, size_t field, const char *value)
{
	if (field == TABLINE_SOURCE)
		mask_source(value, out);
	else if (field == TABLINE_OPTIONS)
		mask_options(value, out);
	else
		strbuf_puts(out, value);
}

/** The expected value of a field of a row. */
static const char *expected(const struct recovery *r, uint32_t row, size_t field)
{
	return field < OF_KERNEL ? r->result.fields[row][field] : "0";
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

/** Append the options that occur more often in `list` than in `other`.
    @head  Written before the options.
    @return whether there are such options. */
static bool add_extra_options(struct strbuf *out, const char *list, const char *other,
                              const char *head)
{
	struct strbuf extra = {0};
	opt_surplus(list, other, &extra);
	bool found = extra.len > 0;
	if (found) {
		strbuf_puts(out, head);
		mask_options(strbuf_str(&extra), out);
	}
	out->failed |= extra.failed;
	strbuf_destroy(&extra);
	return found;
}

/** Append how the actual options, `value`, differ from the expected options, `should`. */
static void add_options(struct strbuf *out, const char *value, const char *should)
{
	strbuf_puts(out, "options");
	size_t lack = add_extra_options(out, should, value, " lack ");
	size_t beyond = add_extra_options(out, value, should, lack ? ", and have " : " have ");
	if (beyond)
		strbuf_puts(out, ", unlike the mount");
	else if (!lack)
		strbuf_puts(out, " differ from those of the mount");
}

static void add_wrong(struct strbuf *out, const struct recovery *r,
                      const struct rec_finding *f)
{
	const char *part = " ";
	for (size_t i = 0; i < WORDS; ++i) {
		if (!(f->fields & 1u << i))
			continue;
		const char *value = tabline_value(f->line, (enum tabline_place)i);
		strbuf_puts(out, part);
		part = "; ";
		if (value && i == TABLINE_OPTIONS) {
			add_options(out, value, expected(r, f->row, i));
			continue;
		}
		strbuf_printf(out, "%s%s%s", value ? "" : "no ", words[i], value ? " " : "");
		if (value)
			add_masked(out, i, value);
		strbuf_puts(out, ", should be ");
		add_masked(out, i, expected(r, f->row, i));
	}
	const char *time = tabline_value(f->line, TABLINE_FREQ);
	struct {
		unsigned field;
		const char *text, *more;
	} const rest[] = {
		{REC_TIME, time ? "time " : "no time: not a possible time of the mount", time},
		{REC_REST, "text after the last field", NULL},
		{REC_END, f->line->n == f->line->size ? "no newline at the end"
		                                      : "a CR at the end", NULL},
	};
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); ++i) {
		if (!(f->fields & rest[i].field))
			continue;
		strbuf_printf(out, "%s%s", part, rest[i].text);
		if (rest[i].more)
			strbuf_printf(out, "%s: not a possible time of the mount", rest[i].more);
		part = "; ";
	}
	if (f->fields & REC_ORDER)
		strbuf_printf(out, "%sprecedes line %" PRIu32 ", which lists its parent "
		              "mount", part, f->other);
	if (f->why && !(f->fields & REC_REST))
		strbuf_printf(out, " (%s)", f->why);
}

static void add_finding(struct strbuf *out, const struct recovery *r,
                        const struct rec_finding *f)
{
	strbuf_puts(out, strbuf_str(&r->name));
	if (f->line)
		strbuf_printf(out, ":%" PRIu32, f->line->number);
	strbuf_printf(out, ": %s: ", rec_verdict_names[f->verdict]);
	const struct rec_row *at = f->row == REC_NONE ? NULL : &r->in.rows[f->row];
	if (at)
		strbuf_puts(out, at->target);
	switch (f->verdict) {
	case REC_WRONG:
		strbuf_putc(out, ':');
		add_wrong(out, r, f);
		break;
	case REC_GONE:
		strbuf_printf(out, "%s: %s", tabline_value(f->line, TABLINE_TARGET), f->why);
		if (f->other)
			strbuf_printf(out, "; see line %" PRIu32, f->other);
		add_kind(out, r->in.format == REC_SETMNT ? NULL
		         : tabline_value(f->line, TABLINE_FSTYPE),
		         tabline_value(f->line, TABLINE_SOURCE));
		break;
	case REC_MISSING:
		if (f->other)
			strbuf_printf(out, ": line %" PRIu32 " may have been its line", f->other);
		add_kind(out, expected(r, f->row, TABLINE_FSTYPE),
		         expected(r, f->row, TABLINE_SOURCE));
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

int recover_text(const struct recovery *r)
{
	const struct rec_result *j = &r->result;
	struct strbuf raw = {0};
	bool failed = false;
	for (size_t i = 0; i < j->count && !failed; ++i) {
		const struct rec_finding *f = &j->findings[i];
		if (!r->opts->all && (f->verdict == REC_RIGHT || f->verdict == REC_IGNORED))
			continue;
		strbuf_reset(&raw);
		add_finding(&raw, r, f);
		failed = raw.failed;
		if (!failed)
			text_say(stdout, "%s\n", strbuf_str(&raw));
	}
	strbuf_destroy(&raw);
	return failed ? -1 : 0;
}

/* JSON. */

/** Write a value with secrets masked, or null. */
static void put_value(struct json *json, const char *key, size_t field, const char *value)
{
	struct strbuf masked = {0};
	if (value)
		add_masked(&masked, field, value);
	json_put_string(json, key, value ? strbuf_str(&masked) : NULL);
	json->out->failed |= masked.failed;
	strbuf_destroy(&masked);
}

/** Write the hints of a line that are kept or, if `kept` is false, the hints that are not kept. */
static void put_hints(struct json *json, const struct rec_result *j, const struct rec_finding *f,
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

/** Write a finding, with the fields of its line in the file and the expected fields. */
static void put_finding(struct json *json, const struct recovery *r,
                        const struct rec_finding *f)
{
	bool readable = f->line && f->verdict != REC_UNREADABLE && f->verdict != REC_IGNORED;
	size_t n = r->in.format == REC_SETMNT ? 2 : OF_KERNEL;
	json_put_object(json, NULL, JSON_INLINE);
	json_put_id(json, "line", f->line ? f->line->number : 0);
	json_put_string(json, "verdict", rec_verdict_names[f->verdict]);
	for (size_t i = 0; i < OF_KERNEL; ++i)
		put_value(json, rec_field_names[i], i, readable && i < n
		          ? tabline_value(f->line, (enum tabline_place)i) : NULL);
	json_put_array(json, "fields", JSON_INLINE);
	for (unsigned b = 0; b < REC_NFIELDS; ++b) {
		if (f->fields & 1u << b)
			json_put_string(json, NULL, rec_field_names[b]);
	}
	json_end(json);
	if (f->row == REC_NONE || f->verdict == REC_RIGHT) {
		json_put_string(json, "expected", NULL);
	} else {
		json_put_object(json, "expected", JSON_INLINE);
		for (size_t i = 0; i < n; ++i)
			put_value(json, rec_field_names[i], i, expected(r, f->row, i));
		json_end(json);
	}
	json_put_id(json, "other_line", f->other);
	json_put_string(json, "reason", f->why);
	put_hints(json, &r->result, f, true);
	put_hints(json, &r->result, f, false);
	json_end(json);
}

int recover_json(const struct recovery *r)
{
	const struct rec_result *j = &r->result;
	struct strbuf out = {0};
	struct json json = {.out = &out};
	json_put_object(&json, NULL, JSON_LINES);
	json_put_array(&json, "findings", JSON_LINES);
	for (size_t i = 0; i < j->count && !out.failed; ++i)
		put_finding(&json, r, &j->findings[i]);
	json_end(&json);
	json_put_string(&json, "file", strbuf_str(&r->name));
	json_put_string(&json, "link", r->link);
	json_put_string(&json, "format", rec_format_names[r->in.format]);
	json_put_bool(&json, "right", r->right);
	if (j->findings) {
		json_put_object(&json, "counts", JSON_INLINE);
		for (enum rec_verdict v = 0; v < REC_NVERDICTS; ++v)
			json_put_number(&json, rec_verdict_names[v], j->of[v]);
		json_end(&json);
	} else {
		json_put_string(&json, "counts", NULL);
	}
	json_head(&r->run, &json);
	json_end(&json);
	return json_print(&json);
}
