/* SPDX-License-Identifier: MIT */
/*
 * Trees, lists, raw, pairs and JSON, printed by libsmartcols.
 *
 * libsmartcols (2.38 to 2.42) escapes cells: in tables, control bytes and bytes invalid in the
 * locale become \xhh; in raw and pairs, all but printable ASCII.  So cells are not escaped here.
 * In JSON, libsmartcols would copy invalid UTF-8, but writes cells of type "number" unchanged.
 * So all cells have this type and contain JSON.
 */
#include "cmd/discover/output.h"

#include "base/escape.h"
#include "base/secret.h"
#include "cmd/discover/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Make the columns of a table.  @return 0, or -1. */
static int add_columns(struct libscols_table *table, const struct listing *list, bool tree)
{
	const struct options *o = list->opt;
	for (size_t i = 0; i < list->cols->count; ++i) {
		const struct column *column = columns_at(list->cols, i);
		int flags = column->flags;
		if (!tree)
			flags &= ~SCOLS_FL_TREE;
		if (column->info.type == CT_NUMBER || column->info.type == CT_SIZE)
			flags |= SCOLS_FL_RIGHT;
		if (o->notruncate)
			flags &= ~SCOLS_FL_TRUNC;
		struct libscols_column *made = scols_table_new_column(table, column->info.name,
		                                                      column->width, flags);
		if (!made)
			return -1;
		if (flags & SCOLS_FL_WRAP) {
			scols_column_set_wrapfunc(made, scols_wrapnl_chunksize,
			                          scols_wrapnl_nextchunk, NULL);
			if (scols_column_set_safechars(made, "\n") != 0)
				return -1;
		}
		if (o->form == FORM_JSON)
			scols_column_set_json_type(made, SCOLS_JSON_NUMBER);
	}
	return 0;
}

/** Write the member "stacked": the mounts below the top of a stack. */
static void put_stacked(struct cells *cells, const struct view *view, const struct row *row,
                        struct json *json)
{
	const struct run *run = &cells->list->run;
	json_put_array(json, "stacked", JSON_INLINE);
	for (uint32_t k = 0; k < row->nbeneath; ++k) {
		uint32_t node = view->beneath[row->beneath + k];
		const struct mount *mount = run_mount(run, node);
		json_put_object(json, NULL, JSON_INLINE);
		json_put_number(json, "id", mount->id);
		strbuf_reset(&cells->scratch);
		if (mount->source)
			mask_source(mount->source, &cells->scratch);
		json_put_string(json, "source", mount->source ? strbuf_str(&cells->scratch) : NULL);
		json_put_string(json, "fstype", mount->fstype);
		json_put_string(json, "state",
		                mtree_state_name(mtree_shown_state(&run->d->tree.nodes[node])));
		json_end(json);
	}
	json_end(json);
}

/** Get the text that libsmartcols prints in the i-th column of a row; NULL: no text.
    @out, seen  Buffers for the text, used if the text differs from cell_text(). */
static const char *shown_text(struct cells *cells, const struct view *view, const struct row *row,
                             size_t i, struct strbuf *out, struct strbuf *seen)
{
	const struct columns *columns = cells->list->cols;
	const struct column *column = columns_at(columns, i);
	strbuf_reset(out);
	if (cells->list->opt->form == FORM_JSON) {
		struct json json;
		json_resume(&json, out, JSON_INLINE, true);
		cell_json(cells, column, row, &json);
		if (row->nbeneath && i + 1 == columns->count)
			put_stacked(cells, view, row, &json);
		return strbuf_str(out);
	}
	const char *text = cell_text(cells, column, row);
	if (!text)
		return NULL;
	strbuf_reset(seen);
	if (cells->list->opt->form == FORM_DEFAULT && escape_unseen(seen, text))
		text = strbuf_str(seen);
	if (column->flags & SCOLS_FL_TREE && row->nbeneath) {
		strbuf_printf(out, "%s (+%" PRIu32 " beneath)", text, row->nbeneath);
		return strbuf_str(out);
	}
	if (column->info.type == CT_LIST && !(column->flags & SCOLS_FL_WRAP)) {
		for (; *text; ++text)
			strbuf_putc(out, (char)(*text == '\n' ? ',' : *text));
		return strbuf_str(out);
	}
	return text;
}

/** Get the state of a row's mount; MT_OK if the row has no node. */
static enum mt_state row_state(const struct run *run, const struct row *row)
{
	return !run->d || row->node == MT_NONE ? MT_OK
	       : mtree_shown_state(&run->d->tree.nodes[row->node]);
}

static bool shows_state(const struct columns *columns, size_t column)
{
	return strcmp(columns_at(columns, column)->info.name, "STATE") == 0;
}

/** Color a state that needs attention. */
static void color_state(struct libscols_cell *cell, enum mt_state state)
{
	const unsigned bad = 1u << MT_HUNG | 1u << MT_STALE | 1u << MT_DELETED | 1u << MT_LOST;
	if (state != MT_OK && state != MT_UNTESTED)
		scols_cell_set_color(cell, bad >> state & 1 ? "red" : "brown");
}

/** Add the rows of a view to a table.  @longest [out]  Number of bytes in the longest row.
    @return 0, or -1. */
static int add_rows(struct libscols_table *table, struct cells *cells, const struct view *view,
                    bool colored, size_t *longest)
{
	*longest = 0;
	struct libscols_line **lines = malloc((view->count + 1) * sizeof(struct libscols_line *));
	struct strbuf text = {0}, seen = {0};
	int rc = -1;
	if (!lines)
		goto out;
	for (size_t r = 0; r < view->count; ++r) {
		const struct row *row = &view->rows[r];
		lines[r] = scols_table_new_line(table, row->parent == MT_NONE ? NULL
		                                : lines[row->parent]);
		if (!lines[r])
			goto out;
		size_t len = 0;
		for (size_t i = 0; i < cells->list->cols->count; ++i) {
			const char *cell = shown_text(cells, view, row, i, &text, &seen);
			len += cell ? strlen(cell) : 0;
			if (text.failed || seen.failed
			    || (cell && scols_line_set_data(lines[r], i, cell) != 0))
				goto out;
			if (colored && shows_state(cells->list->cols, i))
				color_state(scols_line_get_cell(lines[r], i),
				            row_state(&cells->list->run, row));
		}
		*longest = len > *longest ? len : *longest;
	}
	rc = cells_failed(cells) ? -1 : 0;
out:
	free(lines);
	strbuf_destroy(&text);
	strbuf_destroy(&seen);
	return rc;
}

/** Whether there is enough memory to print a row of `longest` bytes.  If memory runs out,
    libsmartcols prints a blank and reports no error. */
static bool have_room(size_t longest)
{
	/* libsmartcols may write each byte as four, \xhh, and stores each row in two buffers. */
	char *volatile room = malloc(64 * 1024 + 16 * longest);   /* volatile: so that the compiler
	                                                             keeps the call */
	bool have = room;
	free(room);
	return have;
}

/** Before a part of a list is printed, make its columns at least as wide as in earlier parts; after
    printing (`printed`), store the widths of its columns. */
static void keep_widths(struct libscols_table *table, const struct columns *columns,
                        struct out_widths *widths, bool printed)
{
	for (size_t i = 0; i < columns->count; ++i) {
		struct libscols_column *column = scols_table_get_column(table, i);
		size_t width = scols_column_get_width(column);
		if (!printed && columns_at(columns, i)->width < 1 && widths->of[i])
			scols_column_set_whint(column, widths->of[i]);
		/* Do not store a width above OUT_WIDTH_MAX: one long name would widen all later
		   parts. */
		if (printed && width > widths->of[i] && width <= OUT_WIDTH_MAX)
			widths->of[i] = (uint16_t)width;
	}
	widths->begun = printed;
}

/** Hide the column STATE if all mounts are ok. */
static void hide_states(struct libscols_table *table, const struct listing *list,
                        const struct view *view)
{
	for (size_t r = 0; r < view->count; ++r) {
		if (row_state(&list->run, &view->rows[r]) != MT_OK)
			return;
	}
	for (size_t i = 0; i < list->cols->count; ++i) {
		struct libscols_column *column = scols_table_get_column(table, i);
		if (shows_state(list->cols, i))
			scols_column_set_flags(column, scols_column_get_flags(column)
			                               | SCOLS_FL_HIDDEN);
	}
}

int out_scols(struct listing *list, const struct view *view, struct out_widths *widths)
{
	const struct options *o = list->opt;
	/* --stats does not count the kernel calls of libsmartcols and of printing. */
	os_mark(MARK_END);
	bool colored = o->form == FORM_DEFAULT && color_is_on(o->color, isatty(STDOUT_FILENO));
	struct libscols_table *table = scols_new_table();
	if (!table)
		return -1;
	os_mark(MARK_BEGIN);

	struct cells cells = {.list = list, .machine = o->form != FORM_DEFAULT};
	size_t longest;
	scols_table_enable_raw(table, o->form == FORM_RAW);
	scols_table_enable_export(table, o->form == FORM_PAIRS);
	scols_table_enable_json(table, o->form == FORM_JSON);
	scols_table_enable_shellvar(table, o->shell);
	scols_table_enable_ascii(table, o->ascii);
	scols_table_enable_noheadings(table, o->noheadings || (widths && widths->begun));

	int rc = -1;
	bool failed = scols_table_set_name(table, "filesystems") != 0
	              || add_columns(table, list, view->tree) != 0;
	if (!failed && widths && o->form == FORM_DEFAULT)
		keep_widths(table, list->cols, widths, false);
	failed = failed || add_rows(table, &cells, view, colored, &longest) != 0
	         || !have_room(longest);
	scols_table_enable_colors(table, colored);
	if (!failed && o->form == FORM_DEFAULT && !widths && !list->cols->state_requested)
		hide_states(table, list, view);
	os_mark(MARK_END);
	errno = ENOMEM;
	if (!failed)
		rc = o->form == FORM_JSON ? out_document(table, list) : print_table(table);
	if (rc == 0 && widths)
		keep_widths(table, list->cols, widths, true);
	cells_destroy(&cells);
	scols_unref_table(table);
	return rc;
}
