/* SPDX-License-Identifier: MIT */
/*
 *     1 critical, 0 warning, 3 info host="n1" boot_id="..." ... complete=true
 *     critical DRIFT-NOT-MOUNTED target="/data" line=3 fstab="/etc/fstab" ...: it is not mounted
 *
 * The first is sent in any case: that it is missing says that no audit was made.  It and the
 * gravest go first, since a log that nobody reads has room for few.
 */
#include "cmd/audit/audit.h"

#include "base/escape.h"
#include "os/syslog.h"

#include <errno.h>
#include <inttypes.h>

static const char tag[] = "getmnt-audit";

/** Append ` NAME="VALUE"`, if there is one.  It is on one line, whatever is in it. */
static void put_value(struct strbuf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	strbuf_printf(out, " %s=", name);
	escape_json(out, value);
}

static void put_finding(struct strbuf *out, const struct audit_told_run *told, const struct audit_finding *f)
{
	strbuf_printf(out, "%s %s", audit_severity_name(f->severity), audit_rules[f->code].code);
	put_value(out, "target", f->target);
	put_value(out, "owner", f->owner);
	if (f->line)
		strbuf_printf(out, " line=%" PRIu32, f->line);
	put_value(out, f->file ? "file" : "fstab", !f->line ? NULL : f->file ? f->file : told->fstab);
	put_value(out, "expected", f->expected);
	put_value(out, "actual", f->actual);
	strbuf_puts(out, f->age == AUDIT_NEW ? " new=true: " : ": ");
	escape_terminal(out, f->message);
}

static void put_whole(struct strbuf *out, const struct audit_told_run *told)
{
	const struct run *run = told->run;
	size_t of[AUDIT_CRITICAL + 1];
	audit_count(told, of);
	if (told->failed) {
		strbuf_puts(out, "not audited: ");
		strbuf_puts(out, told->failed);   /* a message, which is escaped */
	} else {
		strbuf_printf(out, "%zu critical, %zu warning, %zu info", of[AUDIT_CRITICAL], of[AUDIT_WARNING], of[AUDIT_INFO]);
	}
	if (!told->failed)
		strbuf_printf(out, " ignored=%zu silenced=%zu", told->report->suppressed, told->report->silenced);
	put_value(out, "host", run->host);
	put_value(out, "boot_id", run->boot_id);
	if (run->mntns)
		strbuf_printf(out, " mntns=%" PRIu64, run->mntns);
	put_value(out, "table", run->table ? table_source_name(run->table->source) : NULL);
	put_value(out, "version", GETMNT_VERSION);
	put_value(out, "fstab", told->fstab);
	strbuf_printf(out, " complete=%s", audit_is_complete(told) ? "true" : "false");
	for (size_t i = 0; i < run->nreasons; ++i)
		put_value(out, "incomplete_reason", run->reasons[i]);
	if (told->unjudged) {
		strbuf_puts(out, " not_judged=");
		audit_put_codes(out, told->unjudged, ",", "");
	}
	struct strbuf place;
	strbuf_init(&place);
	for (size_t at = 0; audit_next_over(told, &at, &place);)
		put_value(out, "expired", strbuf_str(&place));
	out->failed |= place.failed;
	strbuf_destroy(&place);
}

/** A log, and what was sent to it. */
struct sending {
	struct os *os;
	struct os_syslog log;
	struct strbuf line;
	size_t lines, sent;
	int error;               /* the first */
};

/** Send the line that was made. */
static void send_line(struct sending *s, int priority)
{
	++s->lines;
	if (!s->line.failed && os_syslog_send(s->os, &s->log, priority, tag, strbuf_str(&s->line)) == 0)
		++s->sent;
	else if (!s->error)
		s->error = s->line.failed ? ENOMEM : errno;
	strbuf_reset(&s->line);
}

int audit_syslog(const struct audit_told_run *told)
{
	static const int priorities[] = {
		[AUDIT_INFO] = SYSLOG_INFO, [AUDIT_WARNING] = SYSLOG_WARNING, [AUDIT_CRITICAL] = SYSLOG_CRIT,
	};
	struct sending s = {.os = &told->run->os};
	if (os_syslog_open(s.os, &s.log) != 0) {
		message("/dev/log", "nothing was logged: %s", strerror(errno));
		return -1;
	}
	strbuf_init(&s.line);
	put_whole(&s.line, told);
	send_line(&s, told->failed ? SYSLOG_ERR : SYSLOG_INFO);
	for (int severity = AUDIT_CRITICAL; severity >= AUDIT_INFO; --severity) {
		for (size_t i = 0; i < told->report->count; ++i) {
			const struct audit_finding *f = &told->report->findings[i];
			if ((int)f->severity != severity || !audit_is_on(told, f))
				continue;
			put_finding(&s.line, told, f);
			send_line(&s, priorities[severity]);
		}
	}
	if (s.sent < s.lines)
		message("/dev/log", "%zu of %zu lines were not logged: %s", s.lines - s.sent, s.lines,
		        s.error == EAGAIN ? "whoever writes the log has no room for them" : strerror(s.error));
	strbuf_destroy(&s.line);
	os_syslog_close(s.os, &s.log);
	return s.sent == s.lines ? 0 : -1;
}
