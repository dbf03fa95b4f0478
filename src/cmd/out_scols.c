/* SPDX-License-Identifier: MIT */
/*
 * Trees, lists, raw, pairs and JSON, by libsmartcols.
 *
 * What it does to the bytes of a cell (2.38 to 2.42): for readers, control
 * bytes and what is not valid in the locale become \xhh; raw and pairs write
 * all but printable ASCII as \xhh; so these get the bytes as they are, and
 * nothing is escaped twice.  In JSON it would pass invalid UTF-8 through; but
 * a cell of the type "number" is written as it stands, so all cells of ours
 * are of that type and hold finished JSON.
 */
#include "cmd/output.h"

#include "base/escape.h"
#include "cmd/options.h"

#include <inttypes.h>
#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

/** Make the columns of a table.  @return 0, or -1. */
static int add_columns(struct libscols_table *table, const struct run *run, bool tree)
{
	const struct options *o = run->opt;
	for (size_t i = 0; i < run->cols->count; ++i) {
		const struct column *column = run->cols->of[i];
		int flags = column->flags;
		if (!tree)
			flags &= ~SCOLS_FL_TREE;
		if (o->notruncate)
			flags &= ~SCOLS_FL_TRUNC;
		struct libscols_column *made = scols_table_new_column(table, column->name, column->width, flags);
		if (!made)
			return -1;
		if (flags & SCOLS_FL_WRAP) {
			scols_column_set_wrapfunc(made, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
			scols_column_set_safechars(made, "\n");
		}
		if (o->form == FORM_JSON)
			scols_column_set_json_type(made, SCOLS_JSON_NUMBER);
	}
	return 0;
}

/** Append the key "stacked" of a row that stands on others. */
static void add_stacked(struct cells *cells, const struct view *view, const struct row *row,
                        struct strbuf *out)
{
	struct run *run = cells->run;
	strbuf_puts(out, ", \"stacked\": [");
	for (uint32_t k = 0; k < row->nbeneath; ++k) {
		uint32_t node = view->beneath[row->beneath + k];
		const struct mount *mount = run_mount(run, node);
		strbuf_printf(out, "%s{\"id\": %" PRIu32 ", \"source\": ", k ? ", " : "", mount->id);
		if (mount->source) {
			strbuf_reset(&cells->scratch);
			mask_source(mount->source, &cells->scratch);
			escape_json(out, strbuf_str(&cells->scratch));
		} else {
			strbuf_puts(out, "null");
		}
		strbuf_puts(out, ", \"fstype\": ");
		if (mount->fstype)
			escape_json(out, mount->fstype);
		else
			strbuf_puts(out, "null");
		strbuf_printf(out, ", \"state\": \"%s\"}",
		              mtree_state_name(mtree_shown_state(&run->d->tree.nodes[node])));
	}
	strbuf_putc(out, ']');
}

/** Write one cell to a buffer.  @return its text, or NULL for none. */
static const char *cell_text(struct cells *cells, const struct view *view, const struct row *row,
                             size_t i, struct strbuf *out)
{
	const struct columns *columns = cells->run->cols;
	const struct column *column = columns->of[i];
	strbuf_reset(out);
	if (cells->run->opt->form == FORM_JSON) {
		cell_json(cells, column, row, out);
		if (row->nbeneath && i + 1 == columns->count)
			add_stacked(cells, view, row, out);
		return strbuf_str(out);
	}
	const char *text = column->cell(cells, row);
	if (!text)
		return NULL;
	if (column->flags & SCOLS_FL_TREE && row->nbeneath) {
		strbuf_printf(out, "%s (+%" PRIu32 " beneath)", text, row->nbeneath);
		return strbuf_str(out);
	}
	if (column->type == CT_LIST && !(column->flags & SCOLS_FL_WRAP)) {
		for (; *text; ++text)
			strbuf_putc(out, (char)(*text == '\n' ? ',' : *text));
		return strbuf_str(out);
	}
	return text;
}

/** Fill a table.  @return 0, or -1. */
static int add_rows(struct libscols_table *table, struct cells *cells, const struct view *view)
{
	struct libscols_line **lines = malloc((view->count + 1) * sizeof(struct libscols_line *));
	struct strbuf text;
	strbuf_init(&text);
	int rc = -1;
	if (!lines)
		goto out;
	for (size_t r = 0; r < view->count; ++r) {
		const struct row *row = &view->rows[r];
		lines[r] = scols_table_new_line(table, row->parent == MT_NONE ? NULL : lines[row->parent]);
		if (!lines[r])
			goto out;
		for (size_t i = 0; i < cells->run->cols->count; ++i) {
			const char *cell = cell_text(cells, view, row, i, &text);
			if (text.failed || cells->text.failed || cells->scratch.failed
			    || (cell && scols_line_set_data(lines[r], i, cell) != 0))
				goto out;
		}
	}
	rc = 0;
out:
	free(lines);
	strbuf_destroy(&text);
	return rc;
}

static void json_string_or_null(struct strbuf *out, const char *str)
{
	if (str)
		escape_json(out, str);
	else
		strbuf_puts(out, "null");
}

void json_head(struct run *run, struct strbuf *out)
{
	strbuf_puts(out, "\"schema\": 1,\n   \"version\": ");
	escape_json(out, GETMNT_VERSION);
	strbuf_puts(out, ",\n   \"host\": ");
	json_string_or_null(out, run->host);
	strbuf_puts(out, ",\n   \"boot_id\": ");
	json_string_or_null(out, run->boot_id);
	strbuf_puts(out, ",\n   \"mntns\": ");
	if (run->mntns)
		strbuf_printf(out, "%" PRIu64, run->mntns);
	else
		strbuf_puts(out, "null");
	strbuf_puts(out, ",\n   \"table\": ");
	json_string_or_null(out, run->table ? table_source_name(run->table->source) : NULL);
	strbuf_printf(out, ",\n   \"complete\": %s,\n   \"incomplete_reasons\": [",
	              run->complete ? "true" : "false");
	for (size_t i = 0; i < run->nreasons; ++i) {
		strbuf_puts(out, i ? ", " : "");
		escape_json(out, run->reasons[i]);
	}
	strbuf_putc(out, ']');
}

/** A line that could not be read, its secrets masked word by word. */
static void json_masked_line(const char *line, struct strbuf *out)
{
	struct strbuf masked, word;
	strbuf_init(&masked);
	strbuf_init(&word);
	while (*line) {
		size_t n = strcspn(line, " \t");
		strbuf_reset(&word);
		strbuf_add(&word, line, n);
		if (has_secret(strbuf_str(&word)))
			mask_options(strbuf_str(&word), &masked);
		else
			mask_source(strbuf_str(&word), &masked);
		line += n;
		if (*line)
			strbuf_putc(&masked, *line++);
	}
	json_string_or_null(out, masked.failed || word.failed ? NULL : strbuf_str(&masked));
	strbuf_destroy(&masked);
	strbuf_destroy(&word);
}

static void json_problems(const struct mount_table *table, struct strbuf *out)
{
	strbuf_puts(out, ",\n   \"problems\": [");
	for (size_t i = 0; i < table->nproblems; ++i) {
		const struct table_problem *problem = &table->problems[i];
		strbuf_printf(out, "%s\n      {\"line\": %" PRIu32 ", \"reason\": ", i ? "," : "",
		              problem->line);
		json_string_or_null(out, problem->reason);
		strbuf_puts(out, ", \"text\": ");
		json_masked_line(problem->text ? problem->text : "", out);
		strbuf_putc(out, '}');
	}
	strbuf_puts(out, "\n   ]");
}

static void json_boundaries(const struct run *run, struct strbuf *out)
{
	strbuf_puts(out, ",\n   \"boundaries\": [");
	for (size_t i = 0; run->d && i < run->d->nboundaries; ++i) {
		const struct discover_boundary *b = &run->d->boundaries[i];
		strbuf_printf(out, "%s\n      {\"path\": ", i ? "," : "");
		json_string_or_null(out, b->path);
		if (b->path && !utf8_valid(b->path)) {
			strbuf_puts(out, ", \"path-b64\": \"");
			escape_base64(out, b->path, strlen(b->path));
			strbuf_putc(out, '"');
		}
		strbuf_printf(out, ", \"mnt_id\": %" PRIu64 ", \"maj:min\": \"%" PRIu32 ":%" PRIu32 "\"",
		              b->mnt_id, b->dev_major, b->dev_minor);
		strbuf_puts(out, ", \"parent\": ");
		if (b->node != MT_NONE)
			strbuf_printf(out, "%" PRIu32, run_mount(run, b->node)->id);
		else
			strbuf_puts(out, "null");
		strbuf_printf(out, ", \"automount\": %s}", b->automount ? "true" : "false");
	}
	strbuf_puts(out, "\n   ]");
}

/** Print the table as a document, with what is to be said beside it. */
static int print_json(struct libscols_table *table, struct run *run)
{
	char *document = NULL;
	if (scols_print_table_to_string(table, &document) != 0 || !document) {
		free(document);
		return -1;
	}
	/* {"filesystems": [...] and then ours, before the last brace. */
	char *end = strrchr(document, '}');
	size_t len = end ? (size_t)(end - document) : 0;
	while (len && strchr(" \t\n", document[len - 1]))
		--len;

	struct strbuf rest;
	strbuf_init(&rest);
	strbuf_puts(&rest, ",\n   ");
	json_head(run, &rest);
	if (run->table && run->table->nproblems)
		json_problems(run->table, &rest);
	if (run->opt->boundaries)
		json_boundaries(run, &rest);
	if (run->opt->explain) {
		strbuf_puts(&rest, ",\n   \"rules\": ");
		explain_json(run, &rest);
	}
	strbuf_puts(&rest, "\n}\n");
	int rc = end && !rest.failed ? 0 : -1;
	if (rc == 0) {
		fwrite(document, 1, len, stdout);
		fwrite(strbuf_str(&rest), 1, rest.len, stdout);
	}
	strbuf_destroy(&rest);
	free(document);
	return rc;
}

int out_scols(struct run *run, const struct view *view)
{
	const struct options *o = run->opt;
	/* What libsmartcols asks of a terminal, and the printing, is not counted. */
	os_mark(MARK_END);
	struct libscols_table *table = scols_new_table();
	if (!table)
		return -1;
	os_mark(MARK_BEGIN);

	struct cells cells;
	cells_init(&cells, run, o->form != FORM_DEFAULT);
	scols_table_enable_raw(table, o->form == FORM_RAW);
	scols_table_enable_export(table, o->form == FORM_PAIRS);
	scols_table_enable_json(table, o->form == FORM_JSON);
	scols_table_enable_shellvar(table, o->shell);
	scols_table_enable_ascii(table, o->ascii);
	scols_table_enable_noheadings(table, o->noheadings);
	scols_table_set_name(table, "filesystems");

	int rc = add_columns(table, run, view->tree);
	if (rc == 0)
		rc = add_rows(table, &cells, view);
	os_mark(MARK_END);
	if (rc != 0)
		goto out;
	if (o->form == FORM_JSON)
		rc = print_json(table, run);
	else
		rc = scols_print_table(table) == 0 ? 0 : -1;
out:
	cells_destroy(&cells);
	scols_unref_table(table);
	return rc;
}
