/* SPDX-License-Identifier: MIT */
/*
 * The table of rules, and auditing the text of an fstab: each entry by itself, then with the
 * others.
 *
 * No false alarms: what installers write and what works is not reported, nor what depends on an
 * unknown fact.  A finding is a risk for the boot only if the boot needs the entry: not with
 * noauto, nofail or an automount.
 */
#include "audit/audit_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/places.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct audit_rule audit_rules[AUDIT_CODES] = {
#define AUDIT_RULE_ROW(name, code, severity, flags, what) \
	[name] = {code, AUDIT_##severity, flags, what},
	AUDIT_RULES(AUDIT_RULE_ROW)
#undef AUDIT_RULE_ROW
};

enum { SET_WORDS = AUDIT_CODES / 64 + 1 };

void audit_set_add_all(struct audit_set *set, const struct audit_set *more)
{
	for (size_t i = 0; i < SET_WORDS; ++i)
		set->words[i] |= more->words[i];
}

void audit_set_remove_all(struct audit_set *set, const struct audit_set *less)
{
	for (size_t i = 0; i < SET_WORDS; ++i)
		set->words[i] &= ~less->words[i];
}

void audit_set_keep(struct audit_set *set, const struct audit_set *only)
{
	for (size_t i = 0; i < SET_WORDS; ++i)
		set->words[i] &= only->words[i];
}

unsigned audit_set_count(const struct audit_set *set)
{
	unsigned count = 0;
	for (size_t i = 0; i < SET_WORDS; ++i)
		count += (unsigned)__builtin_popcountll(set->words[i]);
	return count;
}

struct audit_set audit_set_of(unsigned flags)
{
	struct audit_set set = {0};
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (!flags || audit_rules[code].flags & flags)
			audit_set_add(&set, (enum audit_code)code);
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

bool audit_codes(const char *name, size_t n, struct audit_set *set)
{
	bool found = false, all = n > 0 && name[n - 1] == '*';
	for (int i = 0; i < AUDIT_CODES; ++i) {
		const char *code = audit_rules[i].code;
		if (all ? strncmp(code, name, n - 1) == 0 : word_is(name, n, code)) {
			audit_set_add(set, (enum audit_code)i);
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

/* Reporting. */

const char *audit_format(struct audit *audit, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena_vprintf(&audit->report->arena, format, args);
	va_end(args);
	audit->failed |= !text;
	return text ? text : "";
}

/** Copy a string, which lives only as long as the lines. */
static const char *keep(struct audit *audit, const char *text)
{
	const char *copy = text ? arena_strndup(&audit->report->arena, text, strlen(text)) : NULL;
	audit->failed |= text && !copy;
	return copy;
}

void audit_add_for(struct audit *audit, const struct audit_entry *entry, enum audit_code code,
                const struct audit_details *details)
{
	if (audit_set_has(&entry->ignored, code)) {
		++audit->report->suppressed;
		return;
	}
	const char *target = entry->swap ? entry->source : entry->target;
	if (entry->swap && audit->in->secret && audit->in->secret(target, NULL))
		target = "";
	target = keep(audit, target);
	struct audit_finding finding = {.code = code,
	                                .severity = details->severity,
	                                .boot = details->boot && entry->needed,
	                                .line = entry->line->number,
	                                .target = target ? target : "",
	                                .owner = "fstab",
	                                .message = details->message,
	                                .expected = details->expected,
	                                .actual = keep(audit, details->actual),
	                                .hint = details->hint,
	                                .refused = details->refused,
	                                .option = details->option};
	audit->failed |= audit_add(audit->report, &finding) != 0;
}

/* Entries. */

const char *audit_option(struct audit *audit, const struct audit_entry *entry, const char *name)
{
	size_t m, len = strlen(name);
	const char *found = opt_find(entry->options, name, len, &m);
	if (!found || m <= len)
		return found ? "" : NULL;
	return audit_format(audit, "%.*s", (int)(m - len - 1), found + len + 1);
}

const struct audit_entry *audit_at(const struct audit *audit, const struct audit_entry *behind,
                                   const char *path, size_t n, uint64_t hash)
{
	uint32_t i = behind ? audit->next_target[behind - audit->entries]
	                    : map64_get(&audit->by_target, hash);
	for (; i != MAP64_NONE; i = audit->next_target[i]) {
		const struct audit_entry *entry = &audit->entries[i];
		if (strncmp(entry->path, path, n) == 0 && !entry->path[n])
			return entry;
	}
	return NULL;
}

/** Go on to the next component of a path.  @n, @hash  Of the path so far; 0 and MAP64_BYTES at
 * first. */
static bool next_part(const char *path, size_t *n, uint64_t *hash)
{
	if (!path[*n] || !path[1])
		return false;
	size_t more = 1 + strcspn(path + *n + 1, "/");
	*hash = map64_bytes(*hash, path + *n, more);
	*n += more;
	return true;
}

const struct audit_entry *audit_above(const struct audit *audit, const struct audit_entry *self,
                                      const char *path)
{
	const struct audit_entry *found = NULL;
	uint64_t hash = MAP64_BYTES;
	for (size_t n = 0; next_part(path, &n, &hash);) {
		const struct audit_entry *entry = audit_at(audit, NULL, path, n, hash);
		if (entry && entry == self)
			entry = audit_at(audit, entry, path, n, hash);
		found = entry ? entry : found;
	}
	return found;
}

/** Look at what is at a mount point now, and where its symlinks lead. */
static void look_at_target(struct audit *audit, struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	struct strbuf real;
	if (!entry->path || !entry->path[1] || !facts->look)
		return;
	strbuf_init(&real);
	entry->kind = facts->look(facts->arg, entry->path, &real);
	if (entry->kind != FACT_UNKNOWN && entry->kind != FACT_MISSING && real.len) {
		entry->real = fstab_normal(&audit->report->arena, strbuf_str(&real));
		audit->failed |= !entry->real;
	}
	audit->failed |= real.failed;
	strbuf_destroy(&real);
}

/** Parse an entry. */
static void read_entry(struct audit *audit, struct audit_entry *entry, const struct tabline *line,
                       const struct audit_set *ignored)
{
	const char *source = tabline_value(line, TABLINE_SOURCE),
	           *target = tabline_value(line, TABLINE_TARGET);
	const char *fstype = tabline_value(line, TABLINE_FSTYPE),
	           *raw = tabline_value(line, TABLINE_OPTIONS);
	*entry = (struct audit_entry){.line = line,
	                              .source = source ? source : "",
	                              .target = target ? target : "",
	                              .fstype = fstype ? fstype : "",
	                              .options = "",
	                              .ignored = *ignored};
	entry->flags = fstype_line_flags(entry->fstype, entry->source);
	size_t n = raw ? strlen(raw) : 0;
	char *options = n ? arena_strndup(&audit->report->arena, raw, n) : NULL;
	if (n && !options)
		audit->failed = true;
	if (options) {
		options[unescape_octal(options, options, n)] = '\0';
		entry->options = options;
	}
	entry->swap = strcmp(entry->fstype, "swap") == 0;
	entry->path = entry->swap ? NULL : fstab_normal(&audit->report->arena, entry->target);
	if (!entry->path && !entry->swap && *entry->target == '/')
		audit->failed = true;
	bool longer = strlen(entry->options) > AUDIT_OPTIONS_MAX;
	if (longer)
		entry->options = "";
	const char *list = entry->options;
	size_t len;
	for (const char *o; (o = opt_next(&list, &len)) != NULL;) {
		static const char *const words[] = {
		    "bind",    "rbind",         "noauto",       "nofail", "x-systemd.automount",
		    "_netdev", "X-mount.mkdir", "x-mount.mkdir"};
		bool *const flags[] = {&entry->bind,   &entry->bind,      &entry->noauto,
		                       &entry->nofail, &entry->automount, &entry->netdev,
		                       &entry->mkdir,  &entry->mkdir};
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); ++i) {
			size_t m = strlen(words[i]);
			*flags[i] |= len >= m && memcmp(o, words[i], m) == 0
			             && (len == m || o[m] == '=');
		}
	}
	look_at_target(audit, entry);
	bool remote = entry->flags & FST_NET && !(entry->flags & FST_DEVICE);
	entry->needed = !entry->swap && !entry->noauto && !entry->nofail && !entry->automount
	                && !remote;
	if (longer)
		audit_add_for(
		    audit, entry, FSTAB_SYNTAX,
		    &(struct audit_details){
		        AUDIT_CRITICAL, true,
		        "its options are longer than the kernel accepts; they are not checked",
		        NULL, NULL, NULL});
}

/* The flow. */

/** Parse the lines; report damaged ones. */
static void read_lines(struct audit *audit)
{
	const struct tablines *lines = audit->in->lines;
	struct audit_set ignored = {0};
	audit->report->ignored = calloc(lines->count + 1, sizeof(*audit->report->ignored));
	audit->report->nlines = lines->count;
	audit->failed |= !audit->report->ignored;
	for (size_t i = 0; i < lines->count && !audit->failed; ++i) {
		const struct tabline *line = &lines->lines[i];
		if (line->kind == TABLINE_COMMENT) {
			audit_ignored(audit, line, &ignored);
			continue;
		}
		if (line->kind == TABLINE_ENTRY) {
			read_entry(audit, &audit->entries[audit->count++], line, &ignored);
		} else if (line->kind == TABLINE_DAMAGED) {
			const char *target = tabline_value(line, TABLINE_TARGET);
			bool blank = line->nfields >= 5 && line->freq < 0;
			struct audit_entry entry = {.line = line,
			                            .target = target ? target : "",
			                            .source = "",
			                            .fstype = "",
			                            .options = "",
			                            .ignored = ignored,
			                            .needed = true};
			const char *source = tabline_value(line, TABLINE_SOURCE);
			entry.source = source ? source : "";
			if (!audit_blanks(audit, &entry))
				audit_add_for(
				    audit, &entry, FSTAB_SYNTAX,
				    &(struct audit_details){
				        AUDIT_CRITICAL, true,
				        line->why ? line->why : "not a line of fstab(5)",
				        "source, mount point, type, options, two numbers", NULL,
				        blank
				            ? "separate options by commas without blanks; write "
				              "a blank in a name as \\040"
					    : "fix the line, or comment it out"});
		}
		audit->report->ignored[i] = ignored;
		ignored = (struct audit_set){0};
	}
}

/** Index the entries from the last to the first, so that the first of a hash is the first line. */
static void index_entries(struct audit *audit)
{
	for (uint32_t i = (uint32_t)audit->count; i-- > 0 && !audit->failed;) {
		struct audit_entry *entry = &audit->entries[i];
		audit->next_target[i] = MAP64_NONE;
		if (entry->path && !entry->noauto) {
			uint64_t hash = map64_text(entry->path);
			audit->next_target[i] = map64_remove(&audit->by_target, hash);
			audit->failed |= map64_put(&audit->by_target, hash, i) == MAP64_NONE;
		}
		if (entry->noauto || entry->bind)
			continue;
		audit_number_source(audit, entry);
		uint64_t source = audit_source_key(entry);
		map64_remove(&audit->by_source, source);
		audit->failed |= map64_put(&audit->by_source, source, i) == MAP64_NONE;
	}
}

/** Keep what audit_compare() needs. */
static void keep_mounts(struct audit *audit)
{
	struct audit_report *report = audit->report;
	report->mounts = calloc(audit->count + 1, sizeof(*report->mounts));
	audit->failed |= !report->mounts;
	for (size_t i = 0; i < audit->count && !audit->failed; ++i) {
		const struct audit_entry *entry = &audit->entries[i];
		const char *type = entry->fstype;
		if (!entry->path || strcmp(type, "ignore") == 0)
			continue;
		bool none = entry->flags & (FST_PSEUDO | FST_LAYERED) || strcmp(type, "none") == 0;
		report->mounts[report->nmounts++] = (struct audit_mount){
			.path = entry->path, .line = entry->line->number, .ignored = entry->ignored,
			.boots = !entry->noauto || entry->automount,
			.optional = entry->noauto || entry->nofail || entry->automount,
			.needed = entry->needed,
			.device = entry->bind || !none,
		};
	}
}

int audit_fstab(const struct audit_input *in, struct audit_report *report)
{
	static const struct fstab_facts none;
	struct audit_input input = *in;
	if (!input.facts)
		input.facts = &none;
	audit_report_init(report);
	size_t n = in->lines->count;
	struct audit audit = {
		.in = &input, .report = report, .entries = calloc(n + 1, sizeof(*audit.entries)),
		.next_target = calloc(n + 1, sizeof(*audit.next_target)),
	};
	map64_init(&audit.by_target);
	map64_init(&audit.by_source);
	map64_init(&audit.written);
	map64_init(&audit.keys);
	intern_init(&audit.shown);
	audit.failed = !audit.entries || !audit.next_target;
	if (!audit.failed)
		read_lines(&audit);
	if (!audit.failed)
		index_entries(&audit);
	if (!audit.failed)
		audit_order_make(&audit);
	for (size_t i = 0; i < audit.count && !audit.failed; ++i) {
		const struct audit_entry *entry = &audit.entries[i];
		if (audit_blanks(&audit, entry))
			continue;
		audit_syntax(&audit, entry);
		audit_numbers(&audit, entry);
		audit_order(&audit, entry);
		audit_twice(&audit, entry);
		audit_options(&audit, entry);
		audit_source(&audit, entry);
		audit_place(&audit, entry);
	}
	if (!audit.failed)
		keep_mounts(&audit);
	if (!audit.failed)
		audit_report_sort(report);
	free(audit.entries);
	free(audit.next_target);
	free(audit.order_lines);
	free(audit.order_findings);
	order_destroy(&audit.order);
	map64_destroy(&audit.by_target);
	map64_destroy(&audit.by_source);
	map64_destroy(&audit.written);
	map64_destroy(&audit.keys);
	intern_destroy(&audit.shown);
	if (audit.failed)
		errno = ENOMEM;
	return audit.failed ? -1 : 0;
}
