/* SPDX-License-Identifier: MIT */
#include "audit/rules/drift_impl.h"

#include "audit/rules/rbind.h"
#include "audit/owner.h"
#include "base/escape.h"
#include "base/fstypes.h"
#include "base/secret.h"
#include "fstab/places.h"
#include "mountopts/optlist.h"
#include "fstab/units.h"
#include "mountopts/shown.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/** Whether a line is not expected to be mounted, since this is a container. */
static bool is_contained(struct drift *drift, const struct tabline *line)
{
	return line
	       && audit_is_contained(drift->in->facts, tabline_value(line, TABLINE_SOURCE),
	                             &drift->container);
}

const char *drift_form(struct strbuf *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	strbuf_reset(out);
	strbuf_vprintf(out, format, args);
	va_end(args);
	return strbuf_str(out);
}

/** The command that adds a line.  The name may be a user's choice: it is escaped. */
static const char *add_hint(struct strbuf *out, const char *name)
{
	strbuf_reset(out);
	strbuf_puts(out, "getmnt fstab --merge --add=");
	escape_shell_octal(out, name);
	strbuf_puts(out, " --diff");
	return strbuf_str(out);
}

/** The command that mounts a line. */
static const char *mount_hint(struct strbuf *out, const char *target)
{
	strbuf_reset(out);
	strbuf_puts(out, "mount ");
	escape_operand(out, target);
	strbuf_puts(out, ", or give the line noauto");
	return strbuf_str(out);
}

void drift_report(struct drift *drift, enum audit_code code, const struct tabline *line,
                const struct fstab_line *live, struct audit_finding *finding)
{
	const struct fstab_world *world = &drift->in->live->world;
	const char *target = live && live->swap ? live->swap : live ? live->target : NULL;
	if (!target && line) {
		target = tabline_value(line, TABLINE_TARGET);
		if (!target || *target != '/')
			target = tabline_value(line, TABLINE_SOURCE);
	}
	if (finding->hint && strcmp(drift->in->live->root, "/") != 0)
		finding->hint = NULL;   /* it would change this system */
	if (target && *target != '/' && world->secret && world->secret(target, NULL))
		target = NULL;
	if (code != DRIFT_READONLY && finding->severity > AUDIT_INFO && is_contained(drift, line)) {
		finding->severity = AUDIT_INFO;
		if (finding->hint)
			finding->hint = "in a container nothing mounts the devices of an fstab: "
			                "remove the line";
	}
	if (line && target && drift->in->units && fstab_has_dropins(drift->in->units, target)
	    && (code == DRIFT_SOURCE || code == DRIFT_TYPE || code == DRIFT_OPTIONS
	        || code == DRIFT_READONLY)) {
		finding->severity = AUDIT_INFO;
		finding->message =
		        "not mounted as the line says; a drop-in of the unit may change that";
		if (finding->hint)
			finding->hint = "systemctl cat shows the drop-ins; compare them with what "
			                "is mounted";
	}
	finding->code = code;
	finding->line = line ? line->number : 0;
	finding->target = target ? target : "";
	finding->owner = line ? "fstab" : live->owner;
	finding->fstype = live && live->mount ? live->mount->fstype
	                  : live              ? "swap"
	                                      : tabline_value(line, TABLINE_FSTYPE);
	if (line)
		drift->reported[line->number - 1] = true;
	drift->failed |= drift->text.failed || drift->actual.failed
	                 || audit_report_add(drift->report, finding) != 0;
}

const char *drift_name(const struct drift *drift, struct strbuf *out, const char *source,
                       const char *fstype)
{
	const struct fstab_world *world = &drift->in->live->world;
	bool secret = source && world->secret && world->secret(source, NULL);
	strbuf_reset(out);
	strbuf_puts(out, secret ? "***" : source ? source : "none");
	strbuf_puts(out, " (");
	mask_options(fstype ? fstype : "?", out);
	strbuf_puts(out, ")");
	return strbuf_str(out);
}

const char *drift_live_name(const struct drift *drift, struct strbuf *out,
                            const struct fstab_line *live)
{
	bool own = live->fate == FSTAB_LINE || !live->mount;
	return drift_name(drift, out, own ? live->source : live->mount->source,
	                  live->mount ? live->mount->fstype : "swap");
}

bool drift_same_device(const struct drift *drift, const char *source, const struct fstab_line *live)
{
	const struct fstab_facts *facts = drift->in->facts;
	const struct fstab_world *world = &drift->in->live->world;
	struct fstab_device named = {0}, mounted = {0};
	return source && live->mount && facts && facts->devices && world->device
	       && facts->devices(facts->arg, source, &named) == 1
	       && world->device(world->arg, live->mount, &mounted) == 0
	       && fstab_same_device(&named, &mounted) == 1;
}

bool drift_has_option(const struct tabline *line, const char *name)
{
	size_t n;
	return opt_find(tabline_value(line, TABLINE_OPTIONS), name, strlen(name), &n);
}

/** Whether the device, file or directory of a line is known to be missing. */
static bool is_missing(const struct drift *drift, const struct tabline *line)
{
	const struct fstab_facts *facts = drift->in->facts;
	const char *source = tabline_value(line, TABLINE_SOURCE);
	if (!facts || !source)
		return false;
	if (*source == '/' && strncmp(source, "/dev/", 5) != 0)
		return facts->look && source[1] != '/'
		       && facts->look(facts->arg, source, NULL) == FACT_MISSING;
	return facts->devices && (*source == '/' || strchr(source, '='))
	       && facts->devices(facts->arg, source, NULL) == 0;
}

/** Note the lines whose source is reported as missing or misspelled already. */
static void note_causes(struct drift *drift)
{
	const struct tablines *lines = drift->in->lines;
	for (size_t i = 0; i < drift->report->count; ++i) {
		const struct audit_finding *finding = &drift->report->findings[i];
		enum audit_code code = finding->code;
		if (finding->file || finding->line == 0 || finding->line > lines->count)
			continue;
		const char *source =
		        tabline_value(&lines->lines[finding->line - 1], TABLINE_SOURCE);
		bool quoted = code == FSTAB_ESCAPE && source && (*source == '"' || *source == '\'');
		if (quoted || code == FSTAB_SRC_MISSING || code == FSTAB_BIND_SRC
		    || code == FSTAB_OVERLAY_DIR)
			drift->cause[finding->line - 1] = i + 1;
	}
}

/** Add to the finding that a line's source is missing that something else is mounted instead: this
    makes it a warning at least. */
static void extend_cause(struct drift *drift, struct audit_finding *cause, bool contained,
                         const struct fstab_line *live)
{
	struct audit_report *report = drift->report;
	const char *message = drift_form(&drift->text, "%s; mounted instead: %s", cause->message,
	                                 drift_live_name(drift, &drift->actual, live));
	cause->message = arena_strndup(&report->arena, message, drift->text.len);
	drift->failed |= drift->text.failed || drift->actual.failed || !cause->message;
	if (cause->severity < AUDIT_WARNING && !contained) {
		--report->of[cause->severity];
		cause->severity = AUDIT_WARNING;
		++report->of[cause->severity];
	}
}

/** Whether a damaged line has the mount point: fixing it may give the mount its line. */
static bool is_of_damaged(const struct drift *drift, const struct fstab_line *live)
{
	return live->of && drift->in->lines->lines[live->of - 1].kind == TABLINE_DAMAGED;
}

/** Report a difference between a line and its mount. */
static void judge_difference(struct drift *drift, const struct fstab_difference *difference)
{
	const struct fstab_line *live = difference->live;
	const char *source =
	        difference->line ? tabline_value(difference->line, TABLINE_SOURCE) : NULL;
	const char *fstype =
	        difference->line ? tabline_value(difference->line, TABLINE_FSTYPE) : NULL;
	bool same = false;
	switch (difference->kind) {
	case FSTAB_DIFFER_MISSING:
		if (strcmp(live->owner, "unknown") != 0 || is_of_damaged(drift, live))
			break;
		/* In a system without any line others mount, such as a container engine. */
		drift_report(drift, live->swap ? SWAP_EXTRA : DRIFT_NOT_IN_FSTAB, NULL, live,
		             &(struct audit_finding){
		                     .severity = drift_wants_line(drift, live, true) ? AUDIT_WARNING
				                                                     : AUDIT_INFO,
		                     .message = live->swap ? "it is in use, but not in fstab"
				                           : "it is mounted, but not in fstab, and "
				                             "its owner is not known",
		                     .expected = "a line",
		                     .actual = drift_live_name(drift, &drift->actual, live),
		                     .hint = add_hint(&drift->text,
				                      live->swap ? live->swap : live->target)});
		break;
	case FSTAB_DIFFER_NO_LINE:
		if (audit_is_owner(live->owner, "user")) {
			drift_report(
			        drift, DRIFT_NOT_IN_FSTAB, NULL, live,
			        &(struct audit_finding){
			                .severity = AUDIT_INFO,
			                .message = "an ordinary user mounted it, and it is not in "
					           "fstab",
			                .actual = drift_live_name(drift, &drift->actual, live)});
			break;
		}
		if (strcmp(live->owner, "unknown") != 0 || is_of_damaged(drift, live))
			break;
		if (live->mount && live->target && !live->hidden
		    && fstab_hides_kernels(live->mount, live->target)) {
			drift_report(
			        drift, DRIFT_NOT_IN_FSTAB, NULL, live,
			        &(struct audit_finding){
			                .severity = AUDIT_WARNING,
			                .message = "it hides what the kernel shows there, and its "
					           "owner is not known",
			                .expected = "what the kernel shows",
			                .actual = drift_live_name(drift, &drift->actual, live),
			                .hint = "find out who mounted it and why; unmount it"});
			break;
		}
		drift_report(
		        drift, live->swap ? SWAP_EXTRA : DRIFT_NOT_IN_FSTAB, NULL, live,
		        &(struct audit_finding){
		                .severity = drift_wants_line(drift, live, false) ? AUDIT_WARNING
				                                                 : AUDIT_INFO,
		                .message = drift_form(
		                        &drift->text,
		                        live->unnamed
				                ? "it is not in fstab, its owner is not known, and "
				                  "it has no lasting name for a line: %s"
				                : "it is not in fstab, and cannot be expressed "
				                  "there: %s",
		                        difference->actual ? difference->actual : "?"),
		                .actual = drift_live_name(drift, &drift->actual, live)});
		break;
	case FSTAB_DIFFER_SOURCE:
		if (drift_is_of_server(difference->line, live)) {
			audit_not_checked(drift->report, DRIFT_TYPE);
			drift_judge_unknown(drift, difference->line, live);
		}
		if (drift_is_lost(drift, live) || drift_is_of_server(difference->line, live)) {
			drift->reported[difference->line->number - 1] = true;
			break;
		}
		same = source && live->mount && live->mount->source
		       && !shown_type(fstype, live->mount->fstype)
		       && (strcmp(source, live->mount->source) == 0
		           || drift_same_device(drift, source, live));
		if (!same && drift->cause[difference->line->number - 1]) {
			extend_cause(
			        drift,
			        &drift->report
			                 ->findings[drift->cause[difference->line->number - 1] - 1],
			        is_contained(drift, difference->line), live);
			drift->reported[difference->line->number - 1] = true;
			break;
		}
		if (!same && drift_may_be_default(drift, difference->line, live)) {
			drift_report_source(drift, difference->line, live, AUDIT_INFO,
			                    drift_of_default);
			break;
		}
		drift_report_source(drift, difference->line, live,
		                    same ? AUDIT_WARNING : AUDIT_CRITICAL,
		                    same ? "it is mounted as another type than the line says"
		                         : "something else is mounted than the line says");
		break;
	case FSTAB_DIFFER_OPTIONS:
		drift_report_options(drift, difference->line, live, difference->actual);
		break;
	case FSTAB_DIFFER_ELSEWHERE:
		drift_report(drift, DRIFT_NOT_MOUNTED, difference->line, NULL,
		             &(struct audit_finding){
		                     .severity = AUDIT_WARNING,
		                     .message = drift_form(
		                             &drift->text,
		                             "it is not mounted, but its source is mounted on %s",
		                             live->target),
		                     .expected = "mounted",
		                     .actual = "not mounted",
		                     .hint = "correct the mount point, or mount it there"});
		break;
	case FSTAB_DIFFER_BESIDE:
	case FSTAB_DIFFER_REPEATED:
		/* FSTAB-DUP-TARGET reports these. */
		drift->reported[difference->line->number - 1] = true;
		break;
	}
}

/** Judge a line that matches no mount. */
static void judge_line(struct drift *drift, const struct tabline *line)
{
	const char *target = tabline_value(line, TABLINE_TARGET),
	           *fstype = tabline_value(line, TABLINE_FSTYPE);
	bool swap = fstype && strcmp(fstype, "swap") == 0;
	bool automount = drift_has_option(line, "x-systemd.automount")
	                 || drift_has_option(line, "comment=systemd.automount");
	if (!target || !fstype || strcmp(fstype, "ignore") == 0
	    || (drift_has_option(line, "noauto") && !automount) || (!swap && *target != '/')
	    || (drift->in->uptime >= 0 && drift->in->uptime < AUDIT_BOOTING))
		return;
	uint32_t at = map64_get(&drift->by_target, map64_text(target));
	const struct fstab_line *live =
	        at == MAP64_NONE || swap ? NULL : &drift->in->plan->lines[at];
	if (live && strcmp(live->target, target) == 0) {
		/* The system mounts by itself what the line names. */
		bool idle = live->mount && fstype_flags(live->mount->fstype) & FST_AUTOFS;
		bool alike = (live->mount && shown_type(fstype, live->mount->fstype))
		             || drift_is_of_server(line, live);
		if (!idle && alike)
			drift_judge_unknown(drift, line, live);
		/* A mount without an owner that covers the line's is a finding of its own. */
		if (idle || alike || live->fate != FSTAB_OWN || drift_has_option(line, "bind")
		    || drift_has_option(line, "rbind"))
			return;
		drift_report(
		        drift, DRIFT_TYPE, line, live,
		        &(struct audit_finding){
		                .severity = AUDIT_WARNING,
		                .message = "the system mounted another type than the line says",
		                .expected = fstype,
		                .actual = live->mount && live->mount->fstype ? live->mount->fstype
				                                             : "?"});
		return;
	}
	bool missing = is_missing(drift, line),
	     can = missing && (drift_has_option(line, "nofail") || automount);
	drift_report(
	        drift, swap ? SWAP_NOT_ACTIVE : DRIFT_NOT_MOUNTED, line, NULL,
	        &(struct audit_finding){
	                .severity = can ? AUDIT_INFO : AUDIT_WARNING,
	                .message = swap        ? missing ? "it is not in use, and does not exist"
			                                 : "it is not in use"
			           : automount ? missing ? "it is neither mounted nor automounted, "
			                                   "and its source does not exist"
			                                 : "it is neither mounted nor automounted"
			           : missing   ? "it is not mounted, and its source does not exist"
			                       : "it is not mounted",
	                .expected = swap ? "in use" : "mounted",
	                .actual = swap ? "not in use" : "not mounted",
	                .hint = missing     ? "attach the device, or add noauto to the line"
			        : swap      ? "swapon -a, or remove the line"
			        : automount ? "run systemctl daemon-reload, and start its "
			                      "automount unit"
			                    : mount_hint(&drift->text, target)});
}

/** Report an rbind line that lacks a mount from below its source. */
static void report_left_out(void *arg, const struct tabline *line, const struct fstab_line *child)
{
	struct drift *drift = arg;
	if (drift->reported[line->number - 1])
		return;
	drift_report(
	        drift, DRIFT_OPTIONS, line, drift->in->match->of[line->number - 1],
	        &(struct audit_finding){.severity = AUDIT_WARNING,
		                        .message = drift_form(&drift->text,
		                                              "rbind includes what is mounted "
		                                              "below the source, but %s is missing",
		                                              child->target),
		                        .expected = "rbind",
		                        .actual = "bind",
		                        .hint = "unmount it and mount it again, or use bind"});
}

int audit_drift(const struct audit_drift_input *in, struct audit_report *report)
{
	struct drift drift = {.in = in,
	                      .report = report,
	                      .reported = calloc(in->lines->count + 1, sizeof(bool)),
	                      .cause = calloc(in->lines->count + 1, sizeof(size_t))};
	bool rooted = false;
	map64_init(&drift.by_target);
	map64_init(&drift.named);
	map64_init(&drift.flipped);
	map64_init(&drift.lined);
	strbuf_init(&drift.text);
	strbuf_init(&drift.actual);
	drift.failed = !drift.reported || !drift.cause;
	if (!drift.failed) {
		note_causes(&drift);
		drift_note_named(&drift);
	}
	for (uint32_t i = 0; i < in->lines->count && !drift.failed; ++i) {
		const struct fstab_line *of = in->match->of[i];
		drift.any |= in->lines->lines[i].kind == TABLINE_ENTRY;
		if (of && of->mount)
			drift.failed |= map64_put(&drift.lined, of->mount->key, i) == MAP64_NONE;
	}
	for (uint32_t i = 0; i < in->plan->count && !drift.failed; ++i) {
		const struct fstab_line *line = &in->plan->lines[i];
		if (line->mount && line->target && !line->hidden)
			drift.failed |= map64_put(&drift.by_target, map64_text(line->target), i)
			                == MAP64_NONE;
		if (!rooted && line->mount && line->mount->source && line->target
		    && strcmp(line->target, "/") == 0) {
			rooted = true;
			drift.of_disk = strncmp(line->mount->source, "/dev/", 5) == 0;
		}
	}
	for (size_t i = 0; i < in->match->count && !drift.failed; ++i)
		judge_difference(&drift, &in->match->differences[i]);
	for (size_t i = 0; i < in->lines->count && !drift.failed; ++i) {
		const struct tabline *line = &in->lines->lines[i];
		if (line->kind != TABLINE_ENTRY || drift.reported[i])
			continue;
		if (in->match->of[i]) {
			drift_judge_how(&drift, line, in->match->of[i]);
		} else {
			judge_line(&drift, line);
		}
	}
	drift.failed |= !drift.failed
	                && !audit_left_out(in->plan, in->match, in->lines, in->live->d,
	                                   report_left_out, &drift);
	if (!drift.failed)
		audit_report_sort(report);
	free(drift.reported);
	free(drift.cause);
	map64_destroy(&drift.named);
	map64_destroy(&drift.by_target);
	map64_destroy(&drift.flipped);
	map64_destroy(&drift.lined);
	strbuf_destroy(&drift.text);
	strbuf_destroy(&drift.actual);
	if (drift.failed)
		errno = ENOMEM;
	return drift.failed ? -1 : 0;
}
