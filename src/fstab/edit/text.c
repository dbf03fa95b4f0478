/* SPDX-License-Identifier: MIT */
/*
 * Write the text of the result.
 *
 * A kept line is copied byte by byte.  A changed line keeps the bytes around its fields.  A line
 * that is commented out is written after the reason, in one comment; if the line contains a NUL, at
 * which most programs stop reading the line, NUL is written as \000 and a backslash as \134.
 * Finally the text is parsed, and compared with the intended lines.
 */
#include "fstab/edit/merge_impl.h"

#include "base/escape.h"
#include "base/fail.h"
#include "base/secret.h"

#include <string.h>

/** Append text to a comment, with newlines escaped. */
static void write_text(struct strbuf *out, const char *text)
{
	escape_octal(out, text, "\n", true);
}

/** Append a field, escaped.
    @first  The field begins the line, and must not look like a comment. */
static void put_field(struct strbuf *out, const char *text, bool first, bool terminal)
{
	if (first)
		escape_first_field(out, text, ESCAPE_PATH, terminal);
	else
		escape_octal(out, text, ESCAPE_PATH, terminal);
}

/** Append a comment, which consists of "# " and the four texts, without a newline.  Newlines in
    `text` and `end` are escaped. */
static void write_comment(struct strbuf *out, const char *before, const char *text,
                          const char *after, const char *end)
{
	strbuf_printf(out, "# %s", before);
	write_text(out, text);
	strbuf_puts(out, after);
	write_text(out, end);
}

/** Append a line of the plan and the comments above it.
    @form  enum fstab_form.
    @eol   The end of a line. */
static void write_line(struct strbuf *out, const struct fstab_line *line, unsigned form,
                       const char *eol)
{
	static const int widths[2][4] = {{41, 15, 7, 15}, {20, 10, 10, 10}};
	bool genfstab = form & FSTAB_FORM_GENFSTAB, tabs = form & FSTAB_FORM_TABS;
	if (line->warning) {
		write_comment(out, "getmnt: ", line->mount ? line->target : line->source, ": ",
		              line->warning);
		strbuf_puts(out, eol);
	}
	if (line->note) {
		write_comment(out, "", line->note, "", "");
		strbuf_puts(out, eol);
	}
	const char *const fields[] = {line->source, line->target, line->fstype, line->options};
	for (size_t i = 0; i < 4; ++i) {
		size_t before = out->len;
		put_field(out, fields[i], i == 0, form & FSTAB_FORM_TERMINAL);
		size_t width = (size_t)widths[genfstab][i], n = out->len - before;
		for (; !tabs && n < width; ++n)
			strbuf_putc(out, ' ');
		strbuf_putc(out, genfstab || tabs ? '\t' : ' ');
	}
	strbuf_printf(out, "0%c%d%s%s", tabs ? '\t' : ' ', line->passno, eol, genfstab ? eol : "");
}

/** Append the reason why a mount has no line. */
static void write_reason(struct strbuf *out, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	write_comment(out, "getmnt: no line for ",
	              !m ? line->source : line->target ? line->target : "a mount without a name",
	              " (", !m ? "swap" : m->fstype ? m->fstype : "?");
	if (m && m->source) {
		struct strbuf masked = {0};
		mask_source(m->source, &masked);
		strbuf_putc(out, ' ');
		write_text(out, strbuf_str(&masked));
		if (masked.failed)
			strbuf_fail(out);
		strbuf_destroy(&masked);
	}
	strbuf_puts(out, "): ");
	write_text(out, line->why ? line->why : "?");
	strbuf_putc(out, '\n');
}

void fstab_write_plan(struct strbuf *out, const struct fstab_plan *plan, unsigned form)
{
	if (!(form & FSTAB_FORM_GENFSTAB))
		strbuf_puts(out, "# <source> <target> <type> <options> <freq> <pass>\n");
	for (size_t i = 0; i < plan->count; ++i) {
		if (plan->lines[i].fate == FSTAB_LINE)
			write_line(out, &plan->lines[i], form, "\n");
	}
	for (size_t i = 0; i < plan->count; ++i) {
		if (plan->lines[i].fate == FSTAB_COMMENT || plan->lines[i].fate == FSTAB_COPY)
			write_reason(out, &plan->lines[i]);
	}
}

/** Append a changed line without its newline: the fields from entry->becomes, separated by the
    blanks of the old line. */
static void put_changed(struct strbuf *out, const struct candidate *entry)
{
	const struct tabline *line = entry->is.line;
	const struct fstab_entry *was = &entry->is, *is = &entry->becomes;
	const char *const before[] = {was->source, was->target, was->fstype, was->options};
	const char *const after[] = {is->source, is->target, is->fstype, is->options};
	const char *at = line->bytes, *end = line->bytes + line->n;
	char blank = line->nfields > 1 && line->fields[1].raw[-1] == '\t' ? '\t' : ' ';
	for (unsigned i = 0; i < TABLINE_FIELDS; ++i) {
		const struct tabline_field *field = &line->fields[i];
		bool differs = i < TABLINE_FREQ && strcmp(before[i], after[i]) != 0;
		/* End at a missing field, unless its value changes, or the pass must be written
		   after it. */
		if (!field->raw && is->passno <= 0 && !differs)
			break;
		if (field->raw) {
			strbuf_add(out, at, (size_t)(field->raw - at));
			at = field->raw + field->n;
		} else {
			strbuf_putc(out, blank);
		}
		if (i == TABLINE_FREQ)
			strbuf_add(out, field->raw ? field->raw : "0", field->raw ? field->n : 1);
		else if (i == TABLINE_PASSNO && field->raw && is->passno == line->passno)
			strbuf_add(out, field->raw, field->n);
		else if (i == TABLINE_PASSNO)
			strbuf_number(out, (uint64_t)(is->passno > 0 ? is->passno : 0));
		else if (field->raw && !differs)
			strbuf_add(out, field->raw, field->n);
		else
			put_field(out, after[i], i == 0, false);
	}
	strbuf_add(out, at, (size_t)(end - at));
}

/** Append a line that is commented out, after the reason, without its newline. */
static void put_aside(struct strbuf *out, const struct candidate *entry)
{
	const struct tabline *line = entry->is.line;
	bool nul = memchr(line->bytes, '\0', line->n);
	strbuf_printf(out, "# getmnt: line %u: ", (unsigned)line->number);
	write_text(out, entry->why);
	strbuf_puts(out, nul ? " (NUL as \\000, \\ as \\134): " : ": ");
	for (size_t i = 0; i < line->n; ++i) {
		if (nul && (line->bytes[i] == '\0' || line->bytes[i] == '\\'))
			strbuf_puts(out, line->bytes[i] ? "\\134" : "\\000");
		else
			strbuf_putc(out, line->bytes[i]);
	}
}

/** The form for added lines: FSTAB_FORM_TABS if most lines of the file have a tab after the first
    field; else 0. */
static unsigned layout(const struct merger *m)
{
	size_t tabs = 0, others = 0;
	for (size_t i = 0; i < m->match.nentries; ++i) {
		const struct tabline *line = m->match.entries[i].is.line;
		if (line->kind == TABLINE_ENTRY)
			++*(line->fields[1].raw[-1] == '\t' ? &tabs : &others);
	}
	return tabs > others ? FSTAB_FORM_TABS : 0;
}

/** Append all items.  @return whether any item differs from the file. */
static bool put_items(struct merger *m, struct strbuf *out)
{
	const struct tablines *file = m->in->match.file->lines;
	unsigned form = layout(m);
	bool changes = false;
	for (size_t k = 0; k < m->nitems; ++k) {
		const struct item *item = &m->items[k];
		changes |= item->is_new || m->match.entries[item->i].act != KEPT;
		if (item->is_new) {
			write_line(out, m->match.mounts[item->i].line, form, file->eol);
			continue;
		}
		const struct candidate *entry = &m->match.entries[item->i];
		const struct tabline *line = entry->is.line;
		if (entry->act == CHANGED)
			put_changed(out, entry);
		else if (entry->act == ASIDE)
			put_aside(out, entry);
		else
			strbuf_add(out, line->bytes, line->n);
		strbuf_add(out, line->bytes + line->n, line->size - line->n);
		/* The last line of the old file may lack its newline: add it before further
		   lines. */
		char last = line->bytes[line->size - 1];
		if (last != '\n' && k + 1 < m->nitems)
			strbuf_puts(out, last == '\r' ? "\n" : file->eol);
	}
	return changes;
}

/** Whether a parsed line has the intended fields. */
static bool reads(struct merger *m, const struct tabline *line, const struct fstab_entry *intended)
{
	struct fstab_entry is;
	fstab_entry_read(&is, line, m->arena);
	return line->kind == TABLINE_ENTRY && strcmp(is.source, intended->source) == 0
	       && strcmp(is.target, intended->target) == 0
	       && strcmp(is.fstype, intended->fstype) == 0
	       && strcmp(is.options, intended->options) == 0
	       && (is.passno > 0 ? is.passno : 0)
	          == (intended->passno > 0 ? intended->passno : 0);
}

/** Whether a parsed line of the result is as the item intends: added, changed, commented out, or
    kept. */
static bool is_item(struct merger *m, const struct item *item, const struct tabline *line)
{
	if (item->is_new) {
		const struct fstab_line *plan = m->match.mounts[item->i].line;
		return reads(m, line, &(struct fstab_entry){
			.source = plan->source, .target = plan->target, .fstype = plan->fstype,
			.options = plan->options, .passno = plan->passno});
	}
	const struct candidate *entry = &m->match.entries[item->i];
	if (entry->act != KEPT)
		return entry->act == ASIDE ? line->kind == TABLINE_COMMENT
		       : reads(m, line, &entry->becomes);
	const struct tabline *was = entry->is.line;
	return line->n == was->n && memcmp(line->bytes, was->bytes, line->n) == 0
	       && (line->kind == was->kind || was->number == 1);
}

/** Parse the result and compare each line with its item.  @return whether all are as intended. */
static bool check(struct merger *m, const char *text, size_t len)
{
	struct tablines *lines = tablines_parse(text, len);
	if (!lines)
		arena_fail(m->arena);
	size_t at = 0;
	bool good = lines;
	for (size_t k = 0; good && k < m->nitems; ++k) {
		const struct item *item = &m->items[k];
		const struct fstab_line *plan =
			item->is_new ? m->match.mounts[item->i].line : NULL;
		at += plan ? (size_t)!!plan->note + !!plan->warning : 0;
		good = at < lines->count && is_item(m, item, &lines->lines[at++]);
	}
	good = good && at == lines->count;
	tablines_free(lines);
	return good;
}

int merge_write(struct merger *m)
{
	struct strbuf out = {.arena = m->arena};
	strbuf_add(&out, "", 0);
	const struct tablines *file = m->in->match.file->lines;
	bool changes = !m->arena->failed && put_items(m, &out);
	if (m->arena->failed)
		return arena_check(m->arena);
	bool same = !changes && out.len == file->len && memcmp(out.data, file->text, out.len) == 0;
	bool good = same || check(m, out.data, out.len);
	if (m->arena->failed || !good)
		return fail(m->arena->failed ? ENOMEM : EBADMSG);
	m->out->len = out.len;
	m->out->text = out.data;
	return 0;
}
