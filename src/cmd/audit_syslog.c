/* SPDX-License-Identifier: MIT */
/*
 *     critical DRIFT-NOT-MOUNTED target="/data" line="/etc/fstab:3" ...: it is not mounted
 *     0 critical, 0 warning, 3 info host="n1" boot_id="..." ... complete=true
 *
 * The second is sent in any case: that it is missing says that no audit was made.
 */
#include "cmd/audit.h"

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
		escape_terminal(out, told->failed);
	} else {
		strbuf_printf(out, "%zu critical, %zu warning, %zu info", of[AUDIT_CRITICAL], of[AUDIT_WARNING], of[AUDIT_INFO]);
	}
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
}

int audit_syslog(const struct audit_told_run *told)
{
	static const int priorities[] = {
		[AUDIT_INFO] = SYSLOG_INFO, [AUDIT_WARNING] = SYSLOG_WARNING, [AUDIT_CRITICAL] = SYSLOG_CRIT,
	};
	struct os *os = &told->run->os;
	struct os_syslog log;
	struct strbuf line;
	size_t lines = 0, sent = 0;
	int error = 0;
	if (os_syslog_open(os, &log) != 0) {
		message("/dev/log", "nothing was logged: %s", strerror(errno));
		return -1;
	}
	strbuf_init(&line);
	for (size_t i = 0; i <= told->report->count; ++i) {
		const struct audit_finding *f = i < told->report->count ? &told->report->findings[i] : NULL;
		if (f && !audit_is_on(told, f))
			continue;
		strbuf_reset(&line);
		if (f)
			put_finding(&line, told, f);
		else
			put_whole(&line, told);
		int priority = f ? priorities[f->severity] : told->failed ? SYSLOG_ERR : SYSLOG_INFO;
		++lines;
		if (!line.failed && os_syslog_send(os, &log, priority, tag, strbuf_str(&line)) == 0)
			++sent;
		else if (!error)
			error = line.failed ? ENOMEM : errno;
	}
	if (sent < lines)
		message("/dev/log", "%zu of %zu lines were not logged: %s", lines - sent, lines,
		        error == EAGAIN ? "whoever writes the log has no room for them" : strerror(error));
	strbuf_destroy(&line);
	os_syslog_close(os, &log);
	return sent == lines ? 0 : -1;
}
