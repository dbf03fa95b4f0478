/* SPDX-License-Identifier: MIT */
#include "audit/selfcheck.h"

#include "base/escape.h"
#include "base/map64.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

/** Format a text with the lifetime of the check; a line feed becomes "\012". */
__attribute__((format(printf, 2, 3)))
static const char *keep(struct selfcheck *check, const char *format, ...)
{
	struct strbuf text = {0}, line = {0};
	va_list args;
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	escape_octal(&line, strbuf_str(&text), "\n", false);
	const char *kept = arena_strndup(&check->arena, strbuf_str(&line), line.len);
	check->failed |= text.failed || line.failed || !kept;
	strbuf_destroy(&text);
	strbuf_destroy(&line);
	return kept ? kept : "";
}

/** Report which mounts are reproduced, and which are not. */
static void report_reproduction(struct selfcheck *check, const struct reproduction *got,
                                bool missing_told)
{
	const char **notes = check->notes;
	check->same = got->same == got->mounts && got->swaps_same == got->swaps;
	check->summary = keep(check, "reproduces %zu of %zu mounts%s%s", got->same, got->mounts,
		got->without ? keep(check, ", %zu cannot be expressed in fstab", got->without) : "",
		got->swaps ? keep(check, ", %zu of %zu swap spaces", got->swaps_same, got->swaps)
		           : "");
	for (size_t i = 0; i < got->count; ++i) {
		const struct reproduce_item *item = &got->items[i];
		const char *name = item->source ? item->source : item->target, *why = item->why;
		if (item->verdict == REPRODUCE_SAME
		    || (item->verdict == REPRODUCE_NO_LINE && missing_told))
			continue;
		notes[check->nnotes++] =
			item->verdict == REPRODUCE_EXTRA
			? keep(check, "line %u also mounts %s: %s", item->line, name, why)
			: !item->want
			? keep(check, "line %u, of %s, cannot be mounted: %s", item->line, name,
			       why)
			: item->line
			? keep(check, "does not reproduce %s (line %u): %s", name, item->line, why)
			: keep(check, "does not reproduce %s: %s", name, why);
	}
	if (got->systemd != got->same)
		notes[check->nnotes++] =
			keep(check, "in the order of systemd, which goes by paths, it reproduces "
			     "%zu of %zu mounts", got->systemd, got->mounts);
}

/** Report which rules could not be checked. */
static void report_unchecked(struct selfcheck *check, audit_set not_checked)
{
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (!audit_set_has(not_checked, (enum audit_code)code))
			continue;
		const char *before = check->not_checked;
		check->not_checked = keep(check, "%s%s%s",
		                          before ? before : "not checked on every line: ",
		                          before ? ", " : "", audit_rules[code].code);
	}
}

/** A text and its findings. */
struct checked {
	struct fstab_file *file;
	struct audit_report report;
};

/** Parse and audit a text.  @return 0, or -1 (ENOMEM). */
static int check_text(const struct selfcheck_input *in, const char *text, size_t len,
                      struct checked *checked)
{
	*checked = (struct checked){.file = fstab_parse(len ? text : "", len)};
	return checked->file
	               ? audit_fstab(&(struct audit_input){checked->file, &in->live->facts,
	                                                   in->live->d},
	                             &checked->report)
	               : -1;
}

static void checked_destroy(struct checked *checked)
{
	int error = errno;
	audit_report_destroy(&checked->report);
	fstab_file_free(checked->file);
	errno = error;
}

/** Compare the mounts of a text with the live mounts.  Lines that the kernel refuses mount nothing.
    @return 0, or -1. */
static int compare(struct selfcheck *check, const struct selfcheck_input *in,
                   const struct checked *checked, struct reproduction *got)
{
	size_t lines = checked->file->count;
	const char **refused = calloc(lines + 1, sizeof(*refused)),
		   **missing = calloc(lines + 1, sizeof(*missing));
	int rc = -1;
	if (!refused || !missing)
		goto out;
	for (size_t i = 0; i < checked->report.count; ++i) {
		const struct audit_finding *finding = &checked->report.findings[i];
		enum audit_code code = finding->code;
		if (finding->file || finding->line == 0 || finding->line > lines)
			continue;
		if (finding->refused && !refused[finding->line - 1])
			refused[finding->line - 1] =
				keep(check, "%s: %s", finding->refused, audit_rules[code].code);
		if (code == FSTAB_SRC_MISSING || code == FSTAB_BIND_SRC
		    || code == FSTAB_OVERLAY_DIR)
			missing[finding->line - 1] =
				keep(check, finding->actual ? "%s (%s)" : "%s", finding->message,
			             finding->actual);
	}
	rc = reproduce(&(struct reproduce_input){checked->file, in->match, refused, missing}, got);
out:;
	int error = errno;
	free(refused);
	free(missing);
	errno = error;
	return rc;
}

/** The mounts that the old and the new text reproduce. */
struct lost {
	struct selfcheck *check;
	const struct selfcheck_input *in;
	struct checked *old;
	const struct reproduction *new_got;
	struct map64 same[2];    /* hash of a target -> its item, for old and new */
	bool read, failed;       /* ENOMEM */
};

/** Record which mounts are reproduced. */
static void note_same(struct lost *lost, struct map64 *same, const struct reproduction *got)
{
	for (size_t i = 0; i < got->count; ++i) {
		const struct reproduce_item *item = &got->items[i];
		if (item->verdict == REPRODUCE_SAME && item->want && !item->source)
			lost->failed |= map64_put(same, map64_text(item->target), (uint32_t)i)
			                == MAP64_NONE;
	}
}

/** Whether the old text reproduces a mount that the new text does not.  The first call compares
    the old text. */
static bool is_lost(void *arg, const char *path)
{
	struct lost *lost = arg;
	if (!lost->read && !lost->failed) {
		struct reproduction got = {0};
		lost->failed = compare(lost->check, lost->in, lost->old, &got) != 0;
		if (!lost->failed) {
			note_same(lost, &lost->same[0], &got);
			note_same(lost, &lost->same[1], lost->new_got);
		}
		lost->read = true;
		reproduction_destroy(&got);
	}
	uint64_t hash = map64_text(path);
	return map64_get(&lost->same[0], hash) != MAP64_NONE
	       && map64_get(&lost->same[1], hash) == MAP64_NONE;
}

/** Report the boot risks that only the new text has. */
static int report_risks(struct selfcheck *check, const struct selfcheck_input *in,
                        struct checked *new, const struct reproduction *got)
{
	struct checked old;
	struct lost lost = {.check = check, .in = in, .old = &old, .new_got = got};
	int rc = -1;
	if (check_text(in, in->old, in->old_len, &old) != 0)
		goto out;
	if (audit_compare(old.file, new->file, &new->report, is_lost, &lost) != 0)
		goto out;
	if (lost.failed) {
		errno = ENOMEM;
		goto out;
	}
	if (audit_clear_old_risks(&old.report, &new->report) != 0)
		goto out;
	check->risks = calloc(new->report.count + 1, sizeof(*check->risks));
	if (!check->risks)
		goto out;
	for (size_t i = 0; i < new->report.count; ++i) {
		const struct audit_finding *risk = &new->report.findings[i];
		const char *code = audit_rules[risk->code].code;
		if (!risk->boot)
			continue;
		check->risks[check->nrisks++] =
			risk->line ? keep(check, "%s %s (line %u): %s", code, risk->target,
		                          risk->line, risk->message)
				   : keep(check, "%s %s: %s", code, risk->target, risk->message);
	}
	report_unchecked(check, new->report.not_checked);
	rc = 0;
out:;
	int error = errno;
	map64_destroy(&lost.same[0]);
	map64_destroy(&lost.same[1]);
	checked_destroy(&old);
	errno = error;
	return rc;
}

int selfcheck_make(const struct selfcheck_input *in, struct selfcheck *check)
{
	*check = (struct selfcheck){.summary = ""};
	struct reproduction got = {0};
	struct checked new;
	int rc = -1;
	if (check_text(in, in->new, in->len, &new) != 0 || compare(check, in, &new, &got) != 0)
		goto out;
	check->notes = calloc(got.count + 5, sizeof(*check->notes));
	if (!check->notes)
		goto out;
	report_reproduction(check, &got, in->missing_told);
	rc = report_risks(check, in, &new, &got);
	if (check->failed) {
		errno = ENOMEM;
		rc = -1;
	}
out:;
	int error = errno;
	reproduction_destroy(&got);
	checked_destroy(&new);
	errno = error;
	return rc;
}

void selfcheck_destroy(struct selfcheck *check)
{
	free(check->notes);
	free(check->risks);
	check->notes = check->risks = NULL;
	arena_destroy(&check->arena);
}
