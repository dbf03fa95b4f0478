/* SPDX-License-Identifier: MIT */
/* Add findings about a line and a mount, and name both in messages. */
#include "audit/rules/drift_impl.h"

#include "base/secret.h"
#include "fstab/target.h"

#include <stdarg.h>

void drift_report(struct drift *drift, enum audit_code code, const struct fstab_entry *line,
                  const struct fstab_line *live, enum audit_severity severity,
                  const char *expected, const char *actual, const char *hint,
                  const char *format, ...)
{
	const struct audit_live *in = drift->in;
	const char *target = live && live->swap ? live->swap : live ? live->target : NULL;
	if (!target && line) {
		target = line->target;
		if (*target != '/')
			target = line->source;
	}
	if (target && *target != '/' && source_has_secret(target))
		target = NULL;
	const struct audit_finding at = {
		.line = line ? line->number : 0, .target = target ? target : "",
		.owner = line ? "fstab" : live->owner,
		.fstype = live && live->mount ? live->mount->fstype
		          : live              ? "swap" : line->fstype,
	};
	struct strbuf text = {.arena = &drift->report->arena};
	va_list args;
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	const char *message = strbuf_str(&text);
	/* In a container, lines of devices need not be mounted: only an info. */
	if (line && code != DRIFT_READONLY && severity > AUDIT_INFO
	    && audit_is_contained(in->facts, line->source, &drift->container)) {
		severity = AUDIT_INFO;
		hint = NULL;
	}
	if (line && target && in->units && fstab_has_dropins(in->units, target)
	    && (code == DRIFT_SOURCE || code == DRIFT_TYPE || code == DRIFT_OPTIONS
	        || code == DRIFT_READONLY)) {
		severity = AUDIT_INFO;
		message = "not mounted as the line says; a drop-in of the unit may change that";
		if (hint)
			hint = "compare the drop-ins (systemctl cat) with what is mounted";
	}
	if (line)
		drift->reported[line->number - 1] = true;
	if (code == DRIFT_READONLY)
		drift->report->readonly[live - in->plan->lines] = true;
	audit_add_at(drift->report, &at, code, severity, expected, actual, hint, "%s", message);
}

const char *drift_line_name(const struct drift *drift, const struct fstab_entry *line,
                            const struct fstab_line *live)
{
	struct strbuf name = {.arena = &drift->report->arena};
	fstab_name_line(line, live, &name);
	return strbuf_str(&name);
}

const char *drift_live_name(const struct drift *drift, const struct fstab_line *live,
                            const struct fstab_entry *line)
{
	struct strbuf name = {.arena = &drift->report->arena};
	fstab_name_live(live, line, &name);
	return strbuf_str(&name);
}

bool drift_same_device(const struct drift *drift, const char *source, const struct fstab_line *live)
{
	const struct fstab_facts *facts = drift->in->facts;
	struct fstab_device named = {0}, mounted = {0};
	if (!source || !live->mount || !facts->device || audit_devices(facts, source, &named) != 1)
		return false;
	fstab_device_of(facts, live->mount, NULL, &drift->report->arena, &mounted);
	return fstab_same_device(&named, &mounted) == 1;
}

const struct fstab_line *drift_live_at(const struct drift *drift, const char *target)
{
	uint32_t i = pathmap_get(&drift->by_target, target);
	return i == PATHMAP_NONE ? NULL : &drift->in->plan->lines[i];
}
