/* SPDX-License-Identifier: MIT */
/*
 * Findings as hosts are compared by them: by clubak(1), dshbak(1), diff(1), a digest.
 *
 *     # getmnt audit 1
 *     # incomplete: ...                       none if all is known
 *     # not judged: CODE CODE
 *     # ignored: CODE CODE                    by the fstab
 *     # silenced: CODE CODE                   by the configuration
 *     # has run out: FILE:LINE                of the configuration
 *     CODE SEVERITY OWNER TARGET EXPECTED ACTUAL
 *
 * Fields are parted by one blank; what is none is "-"; bytes in them are escaped as in
 * all raw output.  Lines are sorted by their bytes, and each stands there once.
 */
#include "cmd/audit/audit.h"

#include "audit/mask.h"
#include "base/escape.h"
#include "base/sha256.h"

#include <stdlib.h>

/** Append a field, with a blank before it. */
static void put_field(struct strbuf *out, const char *value)
{
	strbuf_putc(out, ' ');
	if (!value || !*value)
		strbuf_putc(out, '-');
	else if (strcmp(value, "-") == 0)
		strbuf_puts(out, "\\x2d");
	else
		escape_raw(out, value);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct masked {
	const struct audit_told_run *told;
	bool full;
	struct strbuf text;
};

static const char *masked(struct masked *m, const char *value, bool path)
{
	if (m->full || !value)
		return value;
	strbuf_reset(&m->text);
	if (path)
		mask_path(&m->text, value, m->told->run->host);
	else
		mask_value(&m->text, value, m->told->run->host);
	return strbuf_str(&m->text);
}

static void put_line(struct masked *m, const struct audit_finding *f, struct strbuf *out)
{
	/* Of how many there are, and may be, a role says nothing. */
	bool counts = !m->full && (f->code == MNT_LIMIT || f->code == MTAB_STALE || f->code == MTAB_CORRUPT || f->code == FS_ERRORS);
	strbuf_printf(out, "%s %s", audit_rules[f->code].code, audit_severity_name(f->severity));
	put_field(out, f->owner);
	put_field(out, masked(m, f->target, *f->target == '/'));
	put_field(out, counts ? "*" : masked(m, f->expected, false));
	put_field(out, counts ? "*" : masked(m, f->actual, false));
}

static void put_codes(struct strbuf *out, const char *what, uint64_t codes)
{
	if (!codes)
		return;
	strbuf_printf(out, "# %s: ", what);
	audit_put_codes(out, codes, " ", "");
	strbuf_putc(out, '\n');
}

/** What could not be told, what is not, and what was not for a time; how often differs from host to host. */
static void put_untold(const struct audit_told_run *told, struct strbuf *out)
{
	struct strbuf place;
	uint64_t silenced = 0;
	for (size_t i = 0; i < told->config->nsilenced; ++i)
		silenced |= audit_bit(told->config->silenced[i].finding.code);
	put_codes(out, "not judged", told->unjudged);
	put_codes(out, "ignored", told->report->suppressed_codes & told->rules);
	put_codes(out, "silenced", silenced & told->rules);
	strbuf_init(&place);
	for (size_t at = 0; audit_next_over(told, &at, &place);) {
		strbuf_puts(out, "# has run out: ");
		escape_terminal(out, strbuf_str(&place));
		strbuf_putc(out, '\n');
	}
	out->failed |= place.failed;
	strbuf_destroy(&place);
}

void audit_canonical(const struct audit_told_run *told, bool full, struct strbuf *out)
{
	const struct audit_report *report = told->report;
	struct masked m = {.told = told, .full = full};
	char **lines = calloc(report->count + 1, sizeof(*lines));
	struct strbuf line;
	size_t n = 0;
	if (told->failed || !lines) {
		out->failed |= !lines;
		free(lines);
		return;
	}
	strbuf_init(&line);
	strbuf_init(&m.text);
	for (size_t i = 0; i < report->count; ++i) {
		if (!audit_is_on(told, &report->findings[i]))
			continue;
		put_line(&m, &report->findings[i], &line);
		out->failed |= line.failed;
		lines[n] = strbuf_take(&line);
		n += lines[n] != NULL;
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	strbuf_puts(out, "# getmnt audit 1\n");
	for (size_t i = 0; i < told->run->nreasons; ++i) {
		strbuf_puts(out, "# incomplete: ");
		escape_terminal(out, told->run->reasons[i]);
		strbuf_putc(out, '\n');
	}
	put_untold(told, out);
	for (size_t i = 0; i < n; ++i) {
		if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0) {
			strbuf_puts(out, lines[i]);
			strbuf_putc(out, '\n');
		}
	}
	for (size_t i = 0; i < n; ++i)
		free(lines[i]);
	free(lines);
	out->failed |= m.text.failed || line.failed;
	strbuf_destroy(&m.text);
	strbuf_destroy(&line);
}

void audit_digest(const struct audit_told_run *told, struct strbuf *out)
{
	struct strbuf text;
	char hex[SHA256_HEX];
	if (told->failed)
		return;
	strbuf_init(&text);
	audit_canonical(told, false, &text);
	sha256_hex(strbuf_str(&text), text.len, hex);
	strbuf_puts(out, hex);
	strbuf_putc(out, '\n');
	out->failed |= text.failed;
	strbuf_destroy(&text);
}
