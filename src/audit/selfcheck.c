/* SPDX-License-Identifier: MIT */
#include "audit/selfcheck.h"

#include "base/escape.h"
#include "base/map64.h"

#include <errno.h>
#include <stdarg.h>

/** Format a text with the lifetime of the check; a line feed becomes "\012". */
__attribute__((format(printf, 2, 3)))
static const char *keep(struct selfcheck *check, const char *format, ...)
{
	struct strbuf text = {.arena = &check->arena}, line = text;
	va_list args;
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	escape_octal(&line, strbuf_str(&text), "\n", false);
	return strbuf_str(&line);
}

/** Set `same` and `summary`, and add a note for each item that is not reproduced.
    @missing_told  Add no notes about mounts without a line. */
static void report_reproduction(struct selfcheck *check, const struct reproduction *got,
                                bool missing_told)
{
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
		check->more |= item->verdict == REPRODUCE_EXTRA;
		const char *note =
			item->verdict == REPRODUCE_EXTRA
			? keep(check, "line %u also mounts %s: %s", item->line, name, why)
			: !item->want
			? keep(check, "line %u, of %s, cannot be mounted: %s", item->line, name,
			       why)
			: item->line
			? keep(check, "does not reproduce %s (line %u): %s", name, item->line, why)
			: keep(check, "does not reproduce %s: %s", name, why);
		ARENA_PUSH(&check->arena, check->notes, check->nnotes, note);
	}
	if (got->systemd != got->same)
		ARENA_PUSH(&check->arena, check->notes, check->nnotes,
		           keep(check, "in the order of systemd, which goes by paths and reads "
		                "only the first line of a mount point, it reproduces %zu of %zu "
		                "mounts", got->systemd, got->mounts));
}

/** The text of an fstab, parsed, and its findings. */
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
	       ? audit_fstab(&(struct audit_input){
	                     .file = checked->file, .facts = in->match->facts, .live = in->d,
	                     .elsewhere = in->match->root[1]}, &checked->report) : -1;
}

static void checked_destroy(struct checked *checked)
{
	audit_report_destroy(&checked->report);
	fstab_file_free(checked->file);
}

/** Compare the mounts that the lines of a text would make with the live mounts.  Lines for which a
    finding shows that the kernel refuses the mount, or that the source is missing, mount nothing.
    @got [out]  The result.
    @return 0, or -1 (ENOMEM). */
static int compare(struct selfcheck *check, const struct selfcheck_input *in,
                   const struct checked *checked, struct reproduction *got)
{
	size_t lines = checked->file->count;
	const char **refused = arena_new(&check->arena, lines, sizeof(*refused)),
		   **missing = arena_new(&check->arena, lines, sizeof(*missing));
	for (size_t i = 0; i < checked->report.count && !check->arena.failed; ++i) {
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
	return reproduce(&(struct reproduce_input){checked->file, in->match, refused, missing},
	                 got);
}

/** Argument of is_lost(): which mounts the old and the new text reproduce. */
struct lost {
	struct selfcheck *check;
	const struct selfcheck_input *in;
	struct checked *old;
	const struct reproduction *new_got;
	struct map64 same[2];    /* hash of the mount point of a reproduced mount -> 1: a line
	                            mounts it; 0: it is made as a copy; [0]: of the old text, [1]:
	                            of the new text */
	bool read;               /* `same` is set */
};

/** Add the mount points of all reproduced mounts to `same`. */
static void note_same(struct map64 *same, const struct reproduction *got)
{
	for (size_t i = 0; i < got->count; ++i) {
		const struct reproduce_item *item = &got->items[i];
		if (item->verdict == REPRODUCE_SAME && item->want && !item->source)
			map64_put(same, map64_text(item->target), item->line != 0);
	}
}

/** audit_lost_fn().  The first call compares the mounts of the old text with the live mounts. */
static int is_lost(void *arg, const char *path)
{
	struct lost *lost = arg;
	if (!lost->read) {
		struct reproduction got = {0};
		if (compare(lost->check, lost->in, lost->old, &got) != 0)
			arena_fail(&lost->check->arena);
		note_same(&lost->same[0], &got);
		note_same(&lost->same[1], lost->new_got);
		lost->read = true;
		reproduction_destroy(&got);
	}
	uint64_t hash = map64_text(path);
	uint32_t now = map64_get(&lost->same[1], hash);
	return now == 0 ? -1 : now == MAP64_NONE && map64_get(&lost->same[0], hash) != MAP64_NONE;
}

/** Report the boot risks that only the new text has.  @return 0, or -1 (ENOMEM). */
static int report_risks(struct selfcheck *check, const struct selfcheck_input *in,
                        struct checked *old, struct checked *new, const struct reproduction *got)
{
	struct lost lost = {.check = check, .in = in, .old = old, .new_got = got,
	                    .same = {{.arena = &check->arena}, {.arena = &check->arena}}};
	if (audit_compare(old->file, new->file, &new->report, is_lost, &lost) != 0
	    || audit_clear_old_risks(&old->report, &new->report) != 0)
		return -1;
	for (size_t i = 0; i < new->report.count; ++i) {
		const struct audit_finding *risk = &new->report.findings[i];
		const char *code = audit_rules[risk->code].code;
		if (!risk->boot && risk->code != FSTAB_SYNTAX)
			continue;
		const char *text =
			risk->line ? keep(check, "%s %s (line %u): %s", code, risk->target,
		                          risk->line, risk->message)
				   : keep(check, "%s %s: %s", code, risk->target, risk->message);
		if (risk->boot)
			ARENA_PUSH(&check->arena, check->risks, check->nrisks, text);
		if (risk->code == FSTAB_SYNTAX)
			ARENA_PUSH(&check->arena, check->misread, check->nmisread, text);
	}
	check->not_checked = new->report.not_checked;
	return arena_check(&check->arena);
}

int selfcheck_make(const struct selfcheck_input *in, struct selfcheck *check)
{
	*check = (struct selfcheck){.summary = ""};
	struct reproduction got = {0};
	struct checked new = {0}, old = {0};
	int rc = -1;
	if (check_text(in, in->new, in->len, &new) == 0
	    && check_text(in, in->old, in->old_len, &old) == 0
	    && compare(check, in, &new, &got) == 0) {
		report_reproduction(check, &got, in->missing_told);
		rc = report_risks(check, in, &old, &new, &got);
	}
	int error = errno;
	reproduction_destroy(&got);
	checked_destroy(&old);
	checked_destroy(&new);
	errno = error;
	return rc;
}

void selfcheck_destroy(struct selfcheck *check)
{
	arena_destroy(&check->arena);
}
