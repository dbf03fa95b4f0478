/* SPDX-License-Identifier: MIT */
/*
 * Output following the guidelines of the Monitoring Plugins: a line of less than 80 characters,
 * then '|' and perfdata; with -v more lines.  Texts contain no '|', which would begin perfdata.
 */
#include "cmd/audit/audit.h"
#include "cmd/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LINE_MAX_CHARS = 79, PATH_MIN = 8, REASON_MIN = 12 };
#define MORE " and %zu more"

/** Parse a decimal number of exactly n bytes. */
static bool read_number(const char *at, size_t n, double *number)
{
	enum { DIGITS = 24 };
	char copy[DIGITS + 1], *end;
	size_t digits = 0;
	if (n == 0 || n > DIGITS)
		return false;
	for (size_t i = 0; i < n; ++i) {
		digits += at[i] >= '0' && at[i] <= '9';
		if ((at[i] < '0' || at[i] > '9') && at[i] != '.' && !(i == 0 && at[i] == '-'))
			return false;
	}
	memcpy(copy, at, n);
	copy[n] = '\0';
	*number = strtod(copy, &end);
	return digits > 0 && !*end;
}

bool audit_range_read(const char *text, struct audit_range *range)
{
	struct audit_range read = {.text = text, .from = 0, .to = INFINITY, .inside = *text == '@'};
	const char *at = text + read.inside, *colon = strchr(at, ':'),
	           *end = colon ? colon + 1 : at;
	if (colon && colon - at == 1 && *at == '~')
		read.from = -INFINITY;
	else if (colon && colon != at && !read_number(at, (size_t)(colon - at), &read.from))
		return false;
	if (colon == at && !*end)
		return false;
	if ((!colon || *end) && !read_number(end, strlen(end), &read.to))
		return false;
	if (read.from > read.to)
		return false;
	*range = read;
	return true;
}

bool audit_range_alerts(const struct audit_range *range, double number)
{
	bool in = number >= range->from && number <= range->to;
	return in == range->inside;
}

int audit_nagios_status(const struct audit_reported *reported)
{
	const size_t *of = reported->report->of;
	if (reported->failed)
		return NX_UNKNOWN;
	if (audit_range_alerts(&reported->way->limits.critical, (double)of[AUDIT_CRITICAL]))
		return NX_CRITICAL;
	if (audit_range_alerts(&reported->way->limits.warning, (double)of[AUDIT_WARNING]))
		return NX_WARNING;
	return !audit_is_complete(reported)
	       || (reported->way->whole && reported->lacking)
	           ? NX_UNKNOWN
		   : NX_OK;
}

/** Append a text with "\x7c" for each '|', and destroy the text. */
static void put_without_bars(struct strbuf *out, struct strbuf *text)
{
	for (const char *at = strbuf_str(text); *at; ++at)
		strbuf_puts(out, *at == '|' ? "\\x7c" : (char[]){*at, '\0'});
	out->failed |= text->failed;
	strbuf_destroy(text);
}

/** Append why the audit failed: a message, which is already escaped. */
static void put_failed(const struct audit_reported *reported, struct strbuf *out)
{
	strbuf_add(out, reported->failed, strlen(reported->failed));
}

/** Count the characters of a line, which is UTF-8. */
static size_t line_width(const struct strbuf *line)
{
	size_t width = 0;
	for (size_t i = 0; i < line->len; ++i)
		width += ((unsigned char)line->data[i] & 0xc0) != 0x80;
	return width;
}

/** Append as many findings as fit, the most severe first: "DRIFT-SOURCE /data and 3 more".
    @room  Maximum number of characters of the line, including the findings. */
static void put_gravest(const struct audit_reported *reported, struct strbuf *line, size_t room)
{
	const struct audit_report *report = reported->report;
	size_t listed = 0, left = report->of[AUDIT_CRITICAL] + report->of[AUDIT_WARNING];
	bool fits = true;
	/* rank is 2 * severity, plus 1 for findings of the system, which come before findings of
	   users' mounts. */
	for (int rank = 2 * AUDIT_CRITICAL + 1; rank >= 2 * AUDIT_WARNING; --rank) {
		for (size_t i = 0; i < report->count && fits; ++i) {
			const struct audit_finding *f = &report->findings[i];
			if ((int)f->severity != rank / 2 || audit_is_users(f->owner) != !(rank % 2))
				continue;
			size_t start = line->len;
			text_add(line, "%s", listed ? ", " : ": ");
			text_add(line, "%s", audit_rules[f->code].code);
			size_t end = line->len, width = line_width(line) + 1;
			struct strbuf path = {0};
			audit_put_text(&path, f, f->target);
			text_add(line, "%s", *f->target ? " " : "");
			put_without_bars(line, &path);
			int more = left > 1 ? snprintf(NULL, 0, MORE, left - 1) : 0;
			size_t most = room - (size_t)more;
			/* The first finding is always listed: if the finding does not fit, its path
			   is cut or omitted. */
			fits = line_width(line) <= most;
			if (!fits && listed)
				line->len = start;
			else if (!fits && width + PATH_MIN <= most)
				audit_cut(line, end + 1, most - width);
			else if (!fits)
				line->len = end;
			left -= fits || !listed;
			++listed;
		}
	}
	if (left)
		text_add(line, MORE, left);
}

static void put_line(const struct audit_reported *reported, int status, struct strbuf *out)
{
	static const char *const names[] = {
		[NX_OK] = "OK",
		[NX_WARNING] = "WARNING",
		[NX_CRITICAL] = "CRITICAL",
		[NX_UNKNOWN] = "UNKNOWN",
	};
	const size_t *of = reported->report->of;
	struct strbuf line = {0}, tail = {0};
	text_add(&line, "GETMNT %s - ", names[status]);
	if (reported->failed) {
		put_failed(reported, &line);
	} else {
		text_add(&line, "%zu critical, %zu warning%s", of[AUDIT_CRITICAL],
		              of[AUDIT_WARNING], of[AUDIT_WARNING] == 1 ? "" : "s");
		if (!audit_is_complete(reported))
			strbuf_puts(&tail, "; incomplete");
		else if (status == NX_UNKNOWN)
			text_add(&tail, "; %u rules not checked",
			              audit_set_count(reported->not_checked));
		if (of[AUDIT_CRITICAL] + of[AUDIT_WARNING])
			put_gravest(reported, &line, LINE_MAX_CHARS - tail.len);
		else
			text_add(&line, ", %zu mount%s", reported->mounts,
			              reported->mounts == 1 ? "" : "s");
		text_add(&line, "%s", strbuf_str(&tail));
		if (!audit_is_complete(reported) && reported->run->nreasons
		    && line_width(&line) + REASON_MIN <= LINE_MAX_CHARS) {
			strbuf_puts(&line, ": ");
			text_add(&line, "%s", reported->run->reasons[0]);
		}
	}
	line.failed |= tail.failed;
	strbuf_destroy(&tail);
	put_without_bars(out, &line);
	audit_cut(out, 0, LINE_MAX_CHARS);
}

static void put_perfdata(const struct audit_reported *reported, struct strbuf *out)
{
	const size_t *of = reported->report->of;
	text_add(
	    out,
	    " | critical=%zu;;%s;0 warning=%zu;%s;;0 info=%zu;;;0 ignored=%zu;;;0 "
	    "silenced=%zu;;;0 not_judged=%u;;;0 mounts=%zu;;;0",
	    of[AUDIT_CRITICAL], reported->way->limits.critical.text, of[AUDIT_WARNING],
	    reported->way->limits.warning.text, of[AUDIT_INFO], reported->report->suppressed,
	    reported->report->silenced, audit_set_count(reported->not_checked), reported->mounts);
	text_add(out, " time=%.6fs;;;0", reported->seconds);
	if (reported->way->seconds > 0)
		strbuf_printf(out, ";%g", reported->way->seconds);
}

/** Print the lines of -v, -vv and -vvv: findings; informational findings and remedies; the scope
    of the audit. */
static void put_long(const struct audit_reported *reported, struct strbuf *out)
{
	const struct audit_report *report = reported->report;
	const struct run *run = reported->run;
	int verbose = reported->way->limits.verbose;
	for (int severity = AUDIT_CRITICAL; severity >= (verbose > 1 ? AUDIT_INFO : AUDIT_WARNING);
	     --severity) {
		for (size_t i = 0; i < report->count; ++i) {
			const struct audit_finding *f = &report->findings[i];
			if ((int)f->severity != severity)
				continue;
			text_add(out, "%s%s %s ", f->age == AUDIT_NEW ? "new: " : "",
			              audit_severity_name(f->severity), audit_rules[f->code].code);
			audit_put_text(out, f, f->target);
			text_add(out, "%s", *f->target ? ": " : "");
			audit_put_text(out, f, f->message);
			if (verbose > 1 && f->hint) {
				strbuf_puts(out, "; ");
				audit_put_text(out, f, f->hint);
			}
			strbuf_putc(out, '\n');
		}
	}
	const struct audit_row *row;
	for (size_t at = 0; (row = audit_next_over(reported, &at));) {
		text_add(out, "%s has expired\n", row->place);
	}
	for (size_t i = 0; i < run->nreasons; ++i) {
		strbuf_puts(out, "incomplete: ");
		if (reported->failed && strcmp(reported->failed, run->reasons[i]) == 0)
			put_failed(reported, out);
		else
			text_add(out, "%s", run->reasons[i]);
		strbuf_putc(out, '\n');
	}
	if (verbose > 1)
		audit_put_not_checked(out, reported);
	if (verbose > 2) {
		strbuf_puts(out, "getmnt " GETMNT_VERSION ", host ");
		text_add(out, "%s", run->host ? run->host : "?");
		text_add(out, ", boot %s, namespace %" PRIu64 ", table %s, fstab ",
		              run->boot_id ? run->boot_id : "?", run->mntns,
		              run->table ? table_source_name(run->table->source) : "?");
		text_add(out, "%s", reported->fstab ? reported->fstab : "none");
		strbuf_putc(out, '\n');
	}
}

void audit_nagios(const struct audit_reported *reported, struct strbuf *out)
{
	put_line(reported, audit_nagios_status(reported), out);
	if (!reported->failed)
		put_perfdata(reported, out);
	strbuf_putc(out, '\n');
	audit_put_left_out(out, reported->report);
	if (reported->way->limits.verbose) {
		struct strbuf text = {0};
		put_long(reported, &text);
		put_without_bars(out, &text);
	}
}
