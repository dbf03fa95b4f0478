/* SPDX-License-Identifier: MIT */
/*
 * The table of rules, and auditing the text of an fstab: each entry by itself, then with the
 * others.
 *
 * To avoid false alarms, lines that installers write, lines that work, and findings that depend on
 * an unknown fact are not reported.  A finding is a risk for the boot only if boot needs the
 * entry: not with noauto, nofail or an automount.
 */
#include "audit/audit_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/places.h"
#include "fstab/units.h"
#include "mountopts/optlist.h"

#include <stdlib.h>
#include <string.h>

#define INFO AUDIT_INFO
#define WARN AUDIT_WARNING
#define CRIT AUDIT_CRITICAL
#define LINT AR_STATIC
#define BOOT_LINT (AR_BOOT | AR_STATIC)
#define RULE(name, code, severity, flags, what) [name] = {code, severity, flags, what},
const struct audit_rule audit_rules[AUDIT_CODES] = {AUDIT_RULES(RULE)};

audit_set audit_set_of(unsigned flags)
{
	audit_set set = 0;
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (!flags || audit_rules[code].flags & flags)
			set |= audit_set_only((enum audit_code)code);
	}
	return set;
}

int audit_code(const char *name, size_t n)
{
	for (int i = 0; i < AUDIT_CODES; ++i) {
		if (word_is(name, n, audit_rules[i].code))
			return i;
	}
	return -1;
}

bool audit_codes(const char *name, size_t n, audit_set *set)
{
	bool found = false, all = n > 0 && name[n - 1] == '*';
	for (int i = 0; i < AUDIT_CODES; ++i) {
		const char *code = audit_rules[i].code;
		if (all ? strncmp(code, name, n - 1) == 0 : word_is(name, n, code)) {
			*set |= audit_set_only((enum audit_code)i);
			found = true;
		}
	}
	return found;
}

const char *audit_severity_name(enum audit_severity severity)
{
	static const char *const names[] = {
		[AUDIT_INFO] = "info", [AUDIT_WARNING] = "warning", [AUDIT_CRITICAL] = "critical",
	};
	return names[severity];
}

/* Entries. */

const struct fstab_entry *audit_at(const struct audit *audit, const char *path)
{
	uint32_t i = pathmap_get(&audit->by_target, path);
	return i == PATHMAP_NONE ? NULL : &audit->entries[i];
}

const struct fstab_entry *audit_above(const struct audit *audit, const struct fstab_entry *self,
                                      const char *path)
{
	const struct fstab_entry *found = NULL;
	for (struct pathmap_at at = pathmap_of(path);
	     pathmap_next_newest(&audit->by_target, &at);) {
		struct pathmap_at other = at;
		bool is_self = &audit->entries[at.value] == self;
		if (at.n > 0 && (!is_self || pathmap_next(&audit->by_target, &other)))
			found = &audit->entries[other.value];
	}
	return found;
}

/** Find the kind of file at a mount point now, and resolve its symlinks. */
static void look_at_target(struct audit *audit, struct fstab_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	struct strbuf real = {0};
	if (!entry->path || !entry->path[1] || !facts->look)
		return;
	entry->kind = facts->look(facts->arg, entry->path, &real);
	if (entry->kind != FACT_UNKNOWN && entry->kind != FACT_MISSING && real.len) {
		entry->real = fstab_normal(&audit->report->arena, strbuf_str(&real));
		audit->report->failed |= !entry->real;
	}
	audit->report->failed |= real.failed;
	strbuf_destroy(&real);
}

/** Read an entry. */
static void read_entry(struct audit *audit, struct fstab_entry *entry, const struct tabline *line)
{
	if (fstab_entry_read(entry, line, &audit->report->arena) != 0) {
		audit->report->failed = true;
		*entry = (struct fstab_entry){.line = line, .source = "", .target = "",
		                              .fstype = "", .options = ""};
		return;
	}
	bool longer = strlen(entry->options) > AUDIT_OPTIONS_MAX;
	if (longer) {
		entry->options = "";
		audit->report->failed |=
			fstab_entry_complete(entry, &audit->report->arena) != 0;
	}
	look_at_target(audit, entry);
	entry->skipped = entry->path && fstab_is_skipped(fstab_entry_place(entry))
	                 && audit_is_systemd(audit);
	entry->needed &= !entry->skipped;
	if (longer)
		audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT, NULL, NULL,
			       NULL, "its options are longer than the kernel accepts; they are "
			       "not checked");
}

/** Report a damaged line. */
static void report_damaged(struct audit *audit, const struct tabline *line)
{
	struct fstab_entry entry;
	if (fstab_entry_read(&entry, line, &audit->report->arena) != 0) {
		audit->report->failed = true;
		return;
	}
	entry.needed = true;
	entry.fstype = entry.options = "";
	bool blank = line->nfields >= 5 && line->freq < 0;
	if (!audit_blanks(audit, &entry))
		audit_add_line(audit, &entry, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT,
			       "source, mount point, type, options, two numbers", NULL,
			       blank ? "separate options by commas without blanks; write a blank "
			               "in a name as \\040"
			             : "fix the line, or comment it out",
			       "%s", line->why ? line->why : "not a line of fstab(5)");
}

bool audit_begins(const char *text, const char *heads)
{
	for (size_t n; *heads; heads += n + (heads[n] == ' ')) {
		n = strcspn(heads, " ");
		if (strncmp(text, heads, n) == 0)
			return true;
	}
	return false;
}

enum fact_kind audit_look_for(struct audit *audit, const struct fstab_entry *entry,
                              const char *path, enum audit_code code)
{
	enum fact_kind kind = audit_look(audit->in->facts, path);
	if (kind == FACT_UNKNOWN)
		audit_not_checked(audit->report, code);
	return kind == FACT_MISSING && audit_above(audit, entry, path) ? FACT_UNKNOWN : kind;
}

/* The flow. */

/** Parse the lines; report damaged ones. */
static void read_lines(struct audit *audit)
{
	const struct fstab_file *file = audit->in->file;
	struct audit_report *report = audit->report;
	audit_set ignored = {0};
	report->ignored = calloc(file->count + 1, sizeof(*report->ignored));
	report->nlines = file->count;
	report->failed |= !report->ignored;
	for (size_t i = 0; i < file->count && !report->failed; ++i) {
		const struct tabline *line = &file->lines->lines[i];
		if (line->kind == TABLINE_COMMENT) {
			audit_ignored(audit, line, &ignored);
			continue;
		}
		report->ignored[i] = ignored;
		ignored = 0;
		if (line->kind == TABLINE_ENTRY)
			read_entry(audit, &audit->entries[audit->count++], line);
		else if (line->kind == TABLINE_DAMAGED)
			report_damaged(audit, line);
	}
}

/** Index the entries, last line first, so that the first line of a path is found first. */
static void index_entries(struct audit *audit)
{
	for (uint32_t i = (uint32_t)audit->count; i-- > 0 && !audit->report->failed;) {
		struct fstab_entry *entry = &audit->entries[i];
		if (entry->path && !entry->noauto)
			audit->report->failed |=
				pathmap_add(&audit->by_target, entry->path, i) != 0;
		if (entry->noauto || entry->bind)
			continue;
		audit_number_source(audit, entry);
		uint64_t source = audit_source_key(entry);
		uint32_t later = map64_remove(&audit->by_source, source);
		/* The root is mounted first, wherever its line is; this matters for subvolumes. */
		const char *path = later != MAP64_NONE && entry->type & FST_SUBVOL
		                   ? audit->entries[later].path : NULL;
		audit->report->failed |=
			map64_put(&audit->by_source, source, path && strcmp(path, "/") == 0
			                                     ? later : i) == MAP64_NONE;
	}
}

int audit_fstab(const struct audit_input *in, struct audit_report *report)
{
	static const struct fstab_facts none;
	struct audit_input input = *in;
	if (!input.facts)
		input.facts = &none;
	*report = (struct audit_report){.elsewhere = in->elsewhere};
	size_t n = in->file->count;
	struct audit audit = {
		.in = &input, .report = report, .entries = calloc(n + 1, sizeof(*audit.entries)),
	};
	report->failed = !audit.entries;
	if (!report->failed)
		read_lines(&audit);
	if (!report->failed)
		index_entries(&audit);
	if (!report->failed)
		audit_order_make(&audit);
	for (size_t i = 0; i < audit.count && !report->failed; ++i) {
		const struct fstab_entry *entry = &audit.entries[i];
		if (audit_blanks(&audit, entry))
			continue;
		audit_syntax(&audit, entry);
		audit_numbers(&audit, entry);
		audit_order(&audit, entry);
		audit_twice(&audit, entry);
		audit_options(&audit, entry);
		audit_values(&audit, entry);
		audit_source(&audit, entry);
		audit_place(&audit, entry);
	}
	free(audit.entries);
	free(audit.order_lines);
	free(audit.order_findings);
	order_destroy(&audit.order);
	pathmap_destroy(&audit.by_target);
	map64_destroy(&audit.by_source);
	map64_destroy(&audit.written);
	map64_destroy(&audit.keys);
	return audit_finish(report);
}
