/* SPDX-License-Identifier: MIT */
#include "cmd/discover/output.h"

#include "base/escape.h"
#include "base/secret.h"
#include "cmd/discover/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/** Append a field of a line of an mtab or fstab.
    @set   Bytes to escape; on a terminal, harmful characters are escaped as well.
    @none  The field if `text` is NULL or empty. */
static void add_field(struct strbuf *out, const struct cells *cells, const char *text,
                      const char *set, const char *none)
{
	if (!text || !*text)
		strbuf_puts(out, none);
	else
		escape_octal(out, text, set, cells->terminal);
}

/** Append the source of a row in the form that mount(8) expects.  @set  As in add_field(). */
static void add_source(struct strbuf *out, struct cells *cells, const struct row *row,
                       const char *set)
{
	if (!row->mount->source || !*row->mount->source) {
		strbuf_puts(out, "none");
		return;
	}
	strbuf_reset(&cells->scratch);
	mask_source(row->mount->source, &cells->scratch);
	escape_first_field(out, strbuf_str(&cells->scratch), set, cells->terminal);
}

/** Append a line of an mtab ("device directory type options 0 0"), an fstab, or the input of
    setmnt(1M) ("device directory"). */
static void line_table(struct strbuf *out, struct cells *cells, const struct view *view, size_t r)
{
	const struct row *row = &view->rows[r];
	const struct mount *mount = row->mount;
	unsigned flags = list_form(cells->list)->flags;
	bool fstab = flags & FF_FSTAB, setmnt = flags & FF_SETMNT;
	bool of_file = fstab && !cells->list->run.d;
	const char *set = fstab ? ESCAPE_PATH : ESCAPE_SOURCE;
	if (!mount || !run_name(&cells->list->run, row->node))
		return;   /* without a visible mount point there is no line */
	add_source(out, cells, row, set);
	strbuf_putc(out, ' ');
	add_field(out, cells, cell_target(cells, row), ESCAPE_PATH, fstab ? "none" : "/");
	if (!setmnt) {
		strbuf_putc(out, ' ');
		add_field(out, cells, mount->fstype, set, fstab ? "auto" : "none");
		strbuf_putc(out, ' ');
		add_field(out, cells, cell_options(cells, row), ESCAPE_PATH,
		          fstab ? "defaults" : "rw");
		strbuf_printf(out, " %d %d", of_file && mount->freq > 0 ? mount->freq : 0,
		              of_file && mount->passno > 0 ? mount->passno : 0);
	}
	strbuf_putc(out, '\n');
}

static void line_jsonl(struct strbuf *out, struct cells *cells, const struct view *view, size_t r)
{
	const struct listing *list = cells->list;
	struct json json = {.out = out};
	json_put_object(&json, NULL, JSON_INLINE);
	json_put_string(&json, "host", list->run.host);
	for (size_t i = 0; i < list->cols->count; ++i)
		cell_json(cells, columns_at(list->cols, i), &view->rows[r], &json);
	json_end(&json);
	strbuf_putc(out, '\n');
}

/** Append text inside a quoted string of dot(1).  Graphviz decodes HTML entities in labels
    ("&amp;", "&#8238;"), and some versions decode them again in an SVG: so the '&' of an entity is
    written as \x26, the form of escape_terminal(). */
static void add_label(struct strbuf *out, struct strbuf *scratch, const char *text)
{
	static const char word[] =
		"#0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	strbuf_reset(scratch);
	escape_terminal(scratch, text);
	for (const char *c = strbuf_str(scratch); *c; ++c) {
		if (*c == '&' && c[1 + strspn(c + 1, word)] == ';') {
			strbuf_puts(out, "\\\\x26");
			continue;
		}
		if (*c == '"' || *c == '\\')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *c);
	}
}

static void line_dot(struct strbuf *out, struct cells *cells, const struct view *view, size_t r)
{
	const struct row *row = &view->rows[r];
	const struct mt_node *node = cell_node(cells, row);
	const char *text = cell_target(cells, row);
	strbuf_printf(out, "\tm%zu [label=\"", r);
	add_label(out, &cells->scratch, text ? text : "(no name)");
	if (row->nbeneath)
		strbuf_printf(out, " (+%" PRIu32 " beneath)", row->nbeneath);
	strbuf_puts(out, "\\n");
	if ((text = row->mount ? row->mount->fstype : row->device->tags->type))
		add_label(out, &cells->scratch, text);
	if ((text = cell_source(cells, row))) {
		strbuf_putc(out, ' ');
		add_label(out, &cells->scratch, text);
	}
	enum mt_state state = node ? mtree_shown_state(node) : MT_OK;
	if (state != MT_OK && state != MT_UNTESTED)
		strbuf_printf(out, "\\n%s", mtree_state_name(state));
	strbuf_printf(out, "\", shape=%s];\n", row->device ? "box, style=dashed"
	              : node && node->has_children ? "box, style=filled, fillcolor=lightgrey"
	                                           : "ellipse");
	if (row->parent != MT_NONE)
		strbuf_printf(out, "\tm%" PRIu32 " -> m%zu;\n", row->parent, r);
}

/** Formats that are printed line by line. */
static const struct {
	void (*line)(struct strbuf *out, struct cells *cells, const struct view *view, size_t row);
	const char *head, *end;   /* text before and after the lines; or NULL */
} writers[] = {
	[FORM_MTAB] = {line_table}, [FORM_FSTAB] = {line_table}, [FORM_SETMNT] = {line_table},
	[FORM_DOT] = {line_dot, "digraph getmnt {\n\trankdir=LR;\n", "}\n"},
	[FORM_JSONL] = {line_jsonl},
};

/** Print a view in a format of `writers`.  @return 0, or -1.  Errors: ENOMEM. */
static int out_text(struct listing *list, const struct view *view)
{
	const int form = list->opt->form;
	const char *head = writers[form].head, *end = writers[form].end;
	struct cells cells = {.list = list, .machine = true};
	struct strbuf text = {0};

	os_mark(MARK_END);
	cells.terminal = isatty(STDOUT_FILENO);
	os_mark(MARK_BEGIN);
	strbuf_puts(&text, head ? head : "");
	for (size_t r = 0; r < view->count; ++r)
		writers[form].line(&text, &cells, view, r);
	strbuf_puts(&text, end ? end : "");
	os_mark(MARK_END);

	text.failed |= cells_failed(&cells);
	cells_destroy(&cells);
	errno = ENOMEM;
	return print_buffer(&text);
}

int out_print(struct listing *list, const struct view *view, struct out_widths *widths)
{
	return list->opt->form >= FORM_MTAB ? out_text(list, view) : out_scols(list, view, widths);
}
