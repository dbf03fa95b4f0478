/* SPDX-License-Identifier: MIT */
#include "audit/audit_impl.h"

#include "base/command.h"
#include "base/secret.h"
#include "base/words.h"
#include "fstab/target.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const audit_owners[] = {
    "api",     "automount", "container", "credentials", "fstab",   "gpt-auto", "initrd", "nsfs",
    "session", "snap",      "udisks",    "unit",        "unknown", "user",     "zfs",    NULL,
};

bool audit_is_owner(const char *owner, const char *name)
{
	size_t n = strlen(name);
	return owner && strncmp(owner, name, n) == 0 && (owner[n] == '\0' || owner[n] == ':');
}

const char *audit_owner_name(const char *owner)
{
	const char *const *name = audit_owners;
	while (*name && !audit_is_owner(owner, *name))
		++name;
	return *name;
}

bool audit_is_users(const char *owner)
{
	return audit_is_owner(owner, "user") || audit_is_owner(owner, "session")
	       || audit_is_owner(owner, "udisks");
}

void audit_not_checked(struct audit_report *report, enum audit_code code)
{
	report->not_checked |= audit_set_only(code);
}

bool audit_line_ignores(const struct audit_report *report, uint32_t line, enum audit_code code)
{
	return line && line <= report->nlines && audit_set_has(report->ignored[line - 1], code);
}

/** Replace a string by a copy in the arena of the report, unless it is NULL.
    @mask  Replace secrets by "***". */
static void keep(struct audit_report *report, const char **text, bool mask)
{
	struct strbuf masked = {.arena = &report->arena};
	if (*text && mask && has_secret(*text)) {
		mask_text(*text, &masked);
		*text = strbuf_str(&masked);
	} else if (*text) {
		*text = arena_text(&report->arena, *text);
	}
}

void audit_report_add(struct audit_report *report, const struct audit_finding *finding)
{
	struct audit_finding copy = *finding;
	if (!copy.file && audit_line_ignores(report, copy.line, copy.code)) {
		++report->suppressed;
		return;
	}
	/* Users must not be able to trigger critical alerts. */
	if (audit_is_users(copy.owner) && copy.severity > AUDIT_WARNING)
		copy.severity = AUDIT_WARNING;
	const char **const plain[] = {&copy.target, &copy.hint, &copy.file, &copy.owner};
	const char **const masked[] = {&copy.message, &copy.expected, &copy.actual, &copy.fstype};
	for (size_t i = 0; i < 4; ++i) {
		keep(report, plain[i], false);
		keep(report, masked[i], true);
	}
	ARENA_PUSH(&report->arena, report->findings, report->count, copy);
	++report->of[copy.severity];
}

/** Add a finding.  The pointers in `at` are stored, not copied. */
__attribute__((format(printf, 8, 0)))
static void add(struct audit_report *report, struct audit_finding at, enum audit_code code,
                unsigned level, const char *expected, const char *actual, const char *hint,
                const char *format, va_list args)
{
	struct strbuf message = {.arena = &report->arena};
	strbuf_vprintf(&message, format, args);
	at.code = code;
	at.severity = level & ~(unsigned)AUDIT_BOOT;
	at.boot = level & AUDIT_BOOT;
	at.message = strbuf_str(&message);
	at.expected = expected;
	at.actual = actual;
	at.hint = hint;
	audit_report_add(report, &at);
}

void audit_add_at(struct audit_report *report, const struct audit_finding *at, enum audit_code code,
                  unsigned level, const char *expected, const char *actual, const char *hint,
                  const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add(report, *at, code, level, expected, actual, hint, format, args);
	va_end(args);
}

void audit_add_line(struct audit *audit, const struct fstab_entry *entry, enum audit_code code,
                    unsigned level, const char *expected, const char *actual, const char *hint,
                    const char *format, ...)
{
	const char *target = entry->swap ? entry->source : entry->target;
	struct strbuf masked = {.arena = &audit->report->arena};
	if (entry->swap && source_has_secret(target))
		target = "";
	/* The field may contain the options, if the line is damaged. */
	else if (*target != '/' && has_secret(target))
		mask_options(target, &masked);
	struct audit_finding at = {.line = entry->line->number,
	                           .target = masked.len ? strbuf_str(&masked) : target,
	                           .owner = "fstab", .refused = audit->refused,
	                           .option = audit->option};
	va_list args;
	va_start(args, format);
	add(audit->report, at, code, entry->needed ? level : level & ~(unsigned)AUDIT_BOOT,
	    expected, actual, hint, format, args);
	va_end(args);
}

const char *audit_in_case(struct audit_report *report, const char *text, bool upper)
{
	char *copy = arena_strndup(&report->arena, text, strlen(text));
	for (char *c = copy; c && *c; ++c)
		*c = (char)(upper ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
	return copy ? copy : "";
}

const char *audit_unit_name(struct audit_report *report, const char *path, const char *kind)
{
	struct strbuf out = {.arena = &report->arena};
	fstab_unit_name(&out, path);
	strbuf_puts(&out, kind);
	return strbuf_str(&out);
}

const char *audit_command(struct audit_report *report, const char *instead, const char *word, ...)
{
	struct strbuf out = {.arena = &report->arena};
	va_list args;
	if (report->elsewhere)
		return instead;
	va_start(args, word);
	command_vwords(&out, word, args);
	va_end(args);
	return strbuf_str(&out);
}

int audit_finish(struct audit_report *report)
{
	if (!report->arena.failed)
		audit_report_sort(report);
	return arena_check(&report->arena);
}

static int compare_findings(const void *a, const void *b)
{
	const struct audit_finding *x = a, *y = b;
	uint32_t xline = x->file ? 0 : x->line, yline = y->file ? 0 : y->line;
	if (xline != yline)
		return xline - 1 < yline - 1 ? -1 : 1;   /* line 0 is last */
	int order = xline ? 0 : strcmp(x->target, y->target);
	if (order == 0 && x->code != y->code)
		return x->code < y->code ? -1 : 1;
	order = order ? order : strcmp(x->target, y->target);
	return order || x->line == y->line ? order : x->line < y->line ? -1 : 1;
}

void audit_report_sort(struct audit_report *report)
{
	if (report->count)
		qsort(report->findings, report->count, sizeof(*report->findings), compare_findings);
}

/** Count the bytes of all texts of a finding. */
static size_t text_bytes(const struct audit_finding *f)
{
	const char *const texts[] = {f->target,   f->owner,  f->message,
	                             f->expected, f->actual, f->hint};
	size_t bytes = 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		bytes += texts[i] ? strlen(texts[i]) : 0;
	return bytes;
}

/** Whether a mount point is at or below a path of a list; true if the list is empty. */
static bool is_below(const char *target, char *const *paths, size_t npaths)
{
	bool found = npaths == 0;
	for (size_t i = 0; i < npaths && !found; ++i)
		found = word_below(target, paths[i]);
	return found;
}

void audit_report_keep(struct audit_report *report, audit_set rules, char *const *paths,
                       size_t npaths)
{
	size_t kept = 0;
	for (size_t i = 0; i < report->count; ++i) {
		const struct audit_finding *f = &report->findings[i];
		if (audit_set_has(rules, f->code) && is_below(f->target, paths, npaths))
			report->findings[kept++] = *f;
		else
			--report->of[f->severity];
	}
	report->count = kept;
}

void audit_report_bound(struct audit_report *report)
{
	size_t kept = 0, bytes = 0, count = 0;
	for (int severity = AUDIT_CRITICAL; severity >= AUDIT_INFO; --severity) {
		for (size_t i = 0; i < report->count; ++i) {
			struct audit_finding *f = &report->findings[i];
			if ((int)f->severity != severity || !audit_is_users(f->owner))
				continue;
			size_t n = text_bytes(f);
			f->left_out = kept == AUDIT_USERS_MAX || bytes + n > AUDIT_USERS_BYTES;
			kept += !f->left_out;
			bytes += f->left_out ? 0 : n;
			report->left_out[severity] += f->left_out;
		}
	}
	for (size_t i = 0; i < report->count; ++i) {
		if (!report->findings[i].left_out)
			report->findings[count++] = report->findings[i];
	}
	report->count = count;
}

void audit_report_destroy(struct audit_report *report)
{
	arena_destroy(&report->arena);
	*report = (struct audit_report){0};
}
