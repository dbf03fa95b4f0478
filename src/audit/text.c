/* SPDX-License-Identifier: MIT */
/*
 * Audit the text of an fstab: each entry by itself, and compared with the other entries.
 *
 * To avoid false alarms, lines that installers write, lines that work, and findings that depend on
 * an unknown fact are not reported.  A finding is a risk for the boot only if boot needs the
 * entry: not with noauto, nofail or an automount.
 *
 * A comment ignores codes for the line below it:
 *
 *     # getmnt: ignore=CODE,CODE reason
 *
 * Unknown codes in such a comment are reported, since the author expects them to work.
 */
#include "audit/audit_impl.h"

#include "base/words.h"
#include "fstab/target.h"

#include <string.h>
#include <strings.h>

/* Comments that ignore codes. */

/** Find the code that a misspelled word resembles; or NULL. */
static const char *near_code(struct audit *audit, const char *word, size_t n)
{
	const char *found = NULL;
	unsigned best = 4;
	size_t len;
	if (n < 4 || n > AUDIT_NAME_MAX || audit->misses++ >= AUDIT_MISSES_MAX)
		return NULL;
	for (int code = 0; code < AUDIT_CODES; ++code) {
		const char *is = audit_rules[code].code;
		if (strlen(is) == n && strncasecmp(is, word, n) == 0)
			return is;
		audit_nearest(is, word, n, &best, &found, &len);
	}
	return found;
}

/** Report a comment that is meant to ignore codes but, in whole or in part, has no effect. */
static void report_comment(struct audit *audit, const struct tabline *line, const char *message,
                           const char *expected)
{
	struct fstab_entry entry = {.line = line, .source = "", .target = "", .fstype = ""};
	audit_add_line(audit, &entry, FSTAB_SYNTAX, AUDIT_INFO, expected, NULL,
		       "getmnt audit --list-rules lists the codes; separate them by commas", "%s",
		       message);
}

/** Add to `set` the codes that a comment "# getmnt: ignore=CODE,CODE" ignores. */
static void read_comment(struct audit *audit, const struct tabline *line, audit_set *set)
{
	static const char blanks[] = " \t\r";
	bool reported = false;
	if (!memmem(line->bytes, line->n, "getmnt:", 7))
		return;
	const char *at = audit_format(audit->report, "%.*s", (int)line->n, line->bytes);
	at += strspn(at, "# \t");
	if (strncmp(at, "getmnt:", 7) != 0)
		return;
	at += 7;
	at += strspn(at, blanks);
	if (strncmp(at, "ignore", 6) != 0)
		return;
	at += 6;
	at += strspn(at, blanks);
	if (*at != '=')
		report_comment(audit, line, "this comment ignores nothing", "ignore=CODE,CODE");
	for (char before = '='; *at == before; before = ',') {
		++at;
		at += strspn(at, blanks);
		size_t n = strcspn(at, ", \t\r\n");
		if ((!n || !audit_codes(at, n, set)) && !reported) {
			reported = true;
			const char *near = near_code(audit, at, n);
			int len = n < AUDIT_NAME_MAX ? (int)n : AUDIT_NAME_MAX;
			const char *message = !n ? "a code is missing: nothing is ignored"
				: audit_format(audit->report, "unknown rule %.*s: it is not "
				               "ignored", len, at);
			report_comment(audit, line, message, near ? near : "a code");
		}
		at += n;
		at += strspn(at, blanks);
	}
}

/* Lines. */

/** Set entry->kind and entry->real: the type of the file that is now at the mount point, and the
    mount point with symlinks followed. */
static void look_at_target(struct audit *audit, struct fstab_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	struct strbuf real = {.arena = &audit->report->arena};
	if (!entry->path || entry->root || !facts->look)
		return;
	entry->kind = facts->look(facts->arg, entry->path, &real);
	if (entry->kind != FACT_UNKNOWN && entry->kind != FACT_MISSING && real.len)
		entry->real = fstab_normal(&audit->report->arena, strbuf_str(&real));
}

/** Add an entry of the file, and set its facts about the host.  Options that are too long are
    reported, and not checked. */
static void add_entry(struct audit *audit, const struct fstab_entry *read)
{
	struct fstab_entry *entry = &audit->entries[audit->count++];
	*entry = *read;
	bool longer = strlen(entry->options) > AUDIT_OPTIONS_MAX;
	if (longer) {
		entry->options = "";
		fstab_entry_complete(entry, &audit->report->arena);
	}
	look_at_target(audit, entry);
	entry->skipped = entry->path && fstab_is_skipped(fstab_entry_target(entry))
	                 && audit_is_systemd(audit);
	entry->needed &= !entry->skipped;
	if (longer)
		audit_add_line(audit, entry, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT, NULL, NULL,
			       NULL, "its options are longer than the kernel accepts; they are "
			       "not checked");
}

/** Report a damaged line. */
static void report_damaged(struct audit *audit, const struct fstab_entry *read)
{
	struct fstab_entry entry = *read;
	const struct tabline *line = entry.line;
	entry.needed = true;
	entry.fstype = entry.options = "";
	bool blank = line->nfields >= 5 && line->freq < 0;
	/* "UUID= x", "UUID = x", "UUID =x" */
	size_t n = strlen(entry.source);
	bool equals = blank && (*entry.target == '=' || (n && entry.source[n - 1] == '='));
	if (!audit_blanks(audit, &entry))
		audit_add_line(audit, &entry, FSTAB_SYNTAX, AUDIT_CRITICAL | AUDIT_BOOT,
			       "source, mount point, type, options, two numbers", NULL,
			       equals ? "remove the blanks around ="
			       : blank ? "separate options by commas without blanks; write a blank "
			               "in a name as \\040"
			             : "fix the line, or comment it out",
			       "%s", line->why ? line->why : "not a line of fstab(5)");
}

/** Read all lines: collect the entries, report damaged lines, read the comments that ignore
    codes. */
static void read_lines(struct audit *audit)
{
	const struct fstab_file *file = audit->in->file;
	struct audit_report *report = audit->report;
	audit_set ignored = {0};
	report->ignored = arena_new(&report->arena, file->count, sizeof(*report->ignored));
	report->nlines = file->count;
	for (size_t i = 0; i < file->count && !report->arena.failed; ++i) {
		const struct tabline *line = &file->lines->lines[i];
		if (line->kind == TABLINE_COMMENT) {
			read_comment(audit, line, &ignored);
			continue;
		}
		report->ignored[i] = ignored;
		ignored = 0;
		if (line->kind == TABLINE_ENTRY)
			add_entry(audit, &file->entries[i]);
		else if (line->kind == TABLINE_DAMAGED)
			report_damaged(audit, &file->entries[i]);
	}
}

/** Index the entries by mount point and by source, in reverse order, so that the first entry is
    found first. */
static void index_entries(struct audit *audit)
{
	for (uint32_t i = (uint32_t)audit->count; i-- > 0 && !audit->report->arena.failed;) {
		struct fstab_entry *entry = &audit->entries[i];
		if (entry->path && !entry->idle)
			pathmap_add(&audit->by_target, entry->path, i);
		if (entry->path)
			pathmap_add(&audit->first_at, fstab_entry_target(entry), i);
		if (entry->path && !entry->noauto)
			pathmap_add(&audit->first_mounted_at, fstab_entry_target(entry), i);
		if (!entry->idle && !entry->bind)
			audit_index_source(audit, i);
	}
}

int audit_fstab(const struct audit_input *in, struct audit_report *report)
{
	static const struct fstab_facts none;
	struct audit_input input = *in;
	if (!input.facts)
		input.facts = &none;
	*report = (struct audit_report){
		.elsewhere = in->elsewhere, .merge = in->merge ? in->merge : "--merge",
	};
	struct arena *arena = &report->arena;
	struct audit audit = {
		.in = &input, .report = report,
		.entries = arena_new(arena, in->file->count, sizeof(*audit.entries)),
		.by_target.newest.arena = &audit.work, .first_at.newest.arena = &audit.work,
		.first_mounted_at.newest.arena = &audit.work, .by_source.arena = &audit.work,
		.written.arena = &audit.work, .keys.arena = &audit.work,
	};
	read_lines(&audit);
	index_entries(&audit);
	audit_order_make(&audit);
	arena->failed |= audit.work.failed;
	for (size_t i = 0; i < audit.count && !arena->failed; ++i) {
		const struct fstab_entry *entry = &audit.entries[i];
		if (audit_blanks(&audit, entry))
			continue;
		bool fields = audit_fields(&audit, entry);
		audit_syntax(&audit, entry);
		audit_order(&audit, entry);
		audit_repeated(&audit, entry);
		if (fields) {
			audit_numbers(&audit, entry);
			audit_options(&audit, entry);
			audit_values(&audit, entry);
		}
		audit_source(&audit, entry);
		audit_target(&audit, entry);
	}
	arena->failed |= audit.work.failed;
	arena_destroy(&audit.work);
	return audit_finish(report);
}
