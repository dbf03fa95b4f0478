/* SPDX-License-Identifier: MIT */
#include "cmd/search/out.h"

#include "base/escape.h"
#include "cmd/cmd.h"
#include "cmd/column.h"
#include "cmd/found/flow.h"
#include "cmd/found/searched.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void search_out_init(struct search_out *out, enum search_form form, struct os *os)
{
	*out = (struct search_out){.form = form, .os = os, .widths = {2, 4, 4, 8},
	                           .json = {.out = &out->text}};
	if (form == SF_LONG)
		out->needs = SN_METADATA | SN_TYPE | SN_LINK;
	object_cells_init(&out->cells, os);
}

void search_out_destroy(struct search_out *out)
{
	search_sort_destroy(&out->sort);
	usage_free(out->usage);
	colors_free(out->colors);
	object_cells_destroy(&out->cells);
	strbuf_destroy(&out->text);
}

int search_out_columns(struct search_out *out, const char *list)
{
	bool json = out->form == SF_JSON || out->form == SF_JSONL;
	int status = column_add(&search_columns, list, json, out->columns, &out->ncolumns);
	for (size_t i = 0; i < out->ncolumns; ++i)
		out->needs |= ((const struct search_column *)(const void *)out->columns[i])->needs;
	return status;
}

void search_out_sort(struct search_out *out, const struct column_info *by, bool down, size_t most)
{
	bool metadata = out->needs & SN_METADATA;
	out->sort = (struct search_sort){
		.by = (const void *)by, .down = down, .most = most, .metadata = metadata,
	};
	out->needs |= out->sort.by->needs;
}

static void put_path(struct search_out *out, const struct object *o)
{
	if (out->colors)
		colors_path(out->colors, o->path, o->type, o->st, &out->text);
	else if ((out->terminal || out->form == SF_LONG) && !out->nul)
		escape_terminal(&out->text, o->path);
	else
		strbuf_puts(&out->text, o->path);
}

/** Append text that may contain any byte, escaped unless -0 was given. */
static void put_field(const struct search_out *out, const char *field, struct strbuf *text)
{
	if (out->nul)
		strbuf_puts(text, field);
	else
		escape_raw(text, field);
}

/** Separate the words of a list by commas, if the column is a list.  @from  Start of the cell. */
static void put_commas(const struct search_column *column, struct strbuf *text, size_t from)
{
	if (column->info.type != CT_LIST || text->len == from)
		return;
	for (char *at = text->data + from; (at = strchr(at, '\n')); ++at)
		*at = ',';
}

static void put_columns(const struct search_out *out, const struct object *o, struct strbuf *text)
{
	for (size_t i = 0; i < out->ncolumns; ++i) {
		const struct search_column *column = (const void *)out->columns[i];
		if (i)
			strbuf_putc(text, '\t');
		if (column->cell == search_cell_path) {
			strbuf_add(text, o->dir, o->dir_len);
			put_field(out, o->path, text);
		} else if (column->cell == search_cell_name) {
			put_field(out, search_name_of(o), text);
		} else if (column->needs & (SN_LINK | SN_OWNERS | SN_XATTRS)) {
			const char *cell = object_cell(column, o);
			put_commas(column, &o->cells->text, 0);
			if (cell)
				put_field(out, cell, text);
		} else if (search_is_known(column, o)) {
			/* The cell has only digits, letters and signs, which need no escaping. */
			const size_t from = text->len;
			column->cell(o, text);
			put_commas(column, text, from);
		}
	}
}

bool search_out_lines(const struct search_out *out)
{
	if (out->colors || out->terminal || out->sort.by || out->action)
		return false;
	return out->form == SF_PATHS
	       || (out->form == SF_COLUMNS && !(out->needs & (SN_LINK | SN_OWNERS | SN_XATTRS)));
}

void search_out_line(const struct search_out *out, const struct search_object *object,
                     struct strbuf *text)
{
	struct object o = {
		.dir = object->dir, .dir_len = object->dir_len, .path = object->name,
		.type = object->type, .st = (const struct k_statx *)(const void *)object->st,
		.human = out->human,
	};
	put_columns(out, &o, text);
	strbuf_putc(text, out->nul ? '\0' : '\n');
}

/** Append a cell of -l, at least as wide as in earlier lines. */
static void put_padded(struct search_out *out, int i, bool right)
{
	int len = 0;
	for (const char *at = strbuf_str(&out->cells.text); *at; ++len)
		at += utf8_len(at) ? utf8_len(at) : 1;
	if (len > out->widths[i])
		out->widths[i] = len;
	int blanks = out->widths[i] - len;
	strbuf_printf(&out->text, " %*s", right ? blanks : 0, "");
	escape_terminal(&out->text, strbuf_str(&out->cells.text));
	strbuf_printf(&out->text, "%*s", right ? 0 : blanks, "");
}

/** Append a date between blanks. */
static void put_date(struct strbuf *text, bool known, int64_t sec)
{
	const int64_t cycle = 146097 * 86400LL;   /* 400 years, after which the calendar repeats */
	struct tm tm;
	char date[40];
	int64_t cycles = sec / cycle;
	if (cycles > -5000000 && cycles < 5000000)
		cycles = 0;   /* the year fits in an int */
	else
		cycles += cycles < 0 ? 1 : -1;
	time_t near = (time_t)(sec - cycles * cycle);
	if (known && localtime_r(&near, &tm) && strftime(date, sizeof(date), "%m-%d %H:%M", &tm))
		strbuf_printf(text, " %lld-%s ", 1900LL + tm.tm_year + 400 * cycles, date);
	else
		strbuf_puts(text, " ? ");
}

static void put_long(struct search_out *out, const struct object *o)
{
	const struct k_statx *st = o->st;
	if (st->mask & K_STATX_MODE)
		search_cell_perms(o, &out->text);
	else
		strbuf_puts(&out->text, "??????????");
	for (int i = 0; i < SEARCH_LONG_CELLS; ++i) {
		if (!object_cell(&search_long_cells[i], o))
			strbuf_puts(&out->cells.text, "?");
		if (i == 3 && search_is_device(o)) {
			strbuf_reset(&out->cells.text);
			strbuf_printf(&out->cells.text, "%u, %u", st->rdev_major, st->rdev_minor);
		}
		put_padded(out, i, i == 0 || i == 3);
	}
	put_date(&out->text, st->mask & K_STATX_MTIME, st->mtime.sec);
	put_path(out, o);
	if (o->target) {
		strbuf_puts(&out->text, " -> ");
		escape_terminal(&out->text, o->target);
	}
}

/** Print out->text.  @line  Append the end of a line first.  @return 0, or -1 (ENOMEM). */
static int print_text(struct search_out *out, bool line)
{
	if (line && out->form != SF_JSON)
		strbuf_putc(&out->text, out->nul ? '\0' : '\n');
	if (out->text.failed || out->cells.text.failed)
		return -1;
	flow_add(out->flow, &out->text);
	return 0;
}

/** Print an object, or run the command for the object.  @return 0, or -1 (ENOMEM). */
static int put_object(struct search_out *out, const struct object *o)
{
	if (out->action)
		return action_run(out->action, o->path);
	strbuf_reset(&out->text);
	switch (out->form) {
	case SF_PATHS:
		put_path(out, o);
		break;
	case SF_COLUMNS:
		put_columns(out, o, &out->text);
		break;
	case SF_LONG:
		put_long(out, o);
		break;
	case SF_JSON:
	case SF_JSONL:
		object_json(&out->json, out->columns, out->ncolumns, o);
		break;
	case SF_COUNT:
		return 0;
	}
	return print_text(out, true);
}

int search_out_object(struct search_out *out, const SEARCH *search, const char *path)
{
	struct object o = {
		.cells = &out->cells, .dir = "", .path = path, .type = search_type(search),
		.st = (const struct k_statx *)(const void *)getmnt_search_statx(search),
		.target = search_target(search), .xattrs = search_xattrs(search),
	};
	/* For sorting, sizes must be numbers without a unit. */
	o.human = out->human && !out->sort.by;
	if (!out->usage)
		return out->sort.by ? search_sort_add(&out->sort, &o) : put_object(out, &o);
	strbuf_reset(&out->text);
	return usage_object(out->usage, &out->usage_options, search_root(search), path, o.st,
	                    &out->text);
}

static int by_usage(const void *left, const void *right, void *arg)
{
	const struct usage_row *a = left, *b = right;
	const struct search_out *out = arg;
	bool by_path = out->sort.by->cell == search_cell_path;
	int order = a->sum.size < b->sum.size ? -1 : a->sum.size > b->sum.size;
	int paths = strcmp(a->path, b->path);
	order = by_path ? paths : order;
	if (order)
		return out->sort.down ? -order : order;
	return paths ? paths : a->key < b->key ? -1 : a->key > b->key;
}

/** Get the text of the key of a row, such as the name of a user; the key distinguishes the rows of
    a directory. */
static const char *usage_key(struct search_out *out, uint32_t key)
{
	bool type = out->usage_options.by == USAGE_TYPE, user = out->usage_options.by == USAGE_USER;
	struct object_cells *cells = &out->cells;
	strbuf_reset(&cells->text);
	if (type)
		strbuf_putc(&cells->text, type_letter(key) ? type_letter(key) : '?');
	else
		object_owner(user ? &cells->users : &cells->groups, key, &cells->text);
	return strbuf_str(&cells->text);
}

/** Print the rows of disk usage, in the order of --sort or, without --sort, of usage_rows().
    @return 0, or -1 (ENOMEM). */
static int put_usage(struct search_out *out)
{
	static const char *const keys[] = {NULL, "user", "group", "type"};
	const char *key = keys[out->usage_options.by];
	struct usage_row *rows;
	size_t n;
	int rc = usage_rows(out->usage, !key, &rows, &n);
	if (rc == 0 && out->sort.by && n > 0)
		qsort_r(rows, n, sizeof(*rows), by_usage, out);
	for (size_t i = 0; rc == 0 && i < n && (!out->sort.most || i < out->sort.most); ++i) {
		struct object o = {.path = rows[i].path, .type = DT_DIR};
		const char *text = key ? usage_key(out, rows[i].key) : "";
		strbuf_reset(&out->text);
		if (out->form == SF_PATHS) {
			if (out->human)
				column_size_up(&out->text, rows[i].sum.size);
			else
				strbuf_number(&out->text, rows[i].sum.size);
			strbuf_putc(&out->text, '\t');
			if (key && !out->nul)
				escape_terminal(&out->text, text);
			else if (key)
				strbuf_puts(&out->text, text);
			if (key)
				strbuf_putc(&out->text, '\t');
			put_path(out, &o);
		} else {
			json_put_object(&out->json, NULL, JSON_INLINE);
			json_put_text(&out->json, "path", o.path);
			if (key)
				json_put_text(&out->json, key, text);
			json_put_number(&out->json, "size", rows[i].sum.size);
			json_put_number(&out->json, "count", rows[i].sum.count);
			json_end(&out->json);
		}
		rc = print_text(out, true);
	}
	return rc;
}

int search_out_rest(struct search_out *out)
{
	if (out->usage)
		return put_usage(out);
	int rc = 0;
	search_sort_end(&out->sort);
	for (size_t i = 0; i < out->sort.count && rc == 0; ++i) {
		struct object o;
		search_sort_get(&out->sort, i, &o);
		o.cells = &out->cells;
		o.human = out->human;
		rc = put_object(out, &o);
	}
	return rc;
}

int search_out_error(struct search_out *out, const SEARCH *search, const struct searchent *e)
{
	const char *name = strerrorname_np(e->err);
	strbuf_reset(&out->text);
	strbuf_reset(&out->cells.text);
	searched_error(e, getmnt_search_why(search), false, &out->cells.text);
	json_put_object(&out->json, NULL, JSON_INLINE);
	json_put_text(&out->json, "path", e->path);
	json_put_string(&out->json, "error", name ? name : "?");
	json_put_string(&out->json, "errsource", searched_error_word(e));
	json_put_text(&out->json, "message", strbuf_str(&out->cells.text));
	json_end(&out->json);
	return print_text(out, true);
}

void search_out_begin(struct search_out *out)
{
	strbuf_reset(&out->text);
	if (out->form == SF_JSON) {
		json_put_object(&out->json, NULL, JSON_LINES);
		json_put_array(&out->json, "entries", JSON_LINES);
	}
	print_text(out, false);
}

int search_out_end(struct search_out *out, uint64_t found, uint64_t errors, const char *reason)
{
	strbuf_reset(&out->text);
	if (out->form == SF_COUNT)
		strbuf_printf(&out->text, "%" PRIu64 "\n", found);
	if (out->form == SF_JSON) {
		json_end(&out->json);
		json_put_number(&out->json, "schema", 1);
		json_put_string(&out->json, "version", GETMNT_VERSION);
		json_put_number(&out->json, "found", found);
		json_put_number(&out->json, "errors", errors);
		json_put_bool(&out->json, "complete", !reason);
		json_put_array(&out->json, "incomplete_reasons", JSON_INLINE);
		if (reason)
			json_put_string(&out->json, NULL, reason);
		json_end(&out->json);
		json_end(&out->json);
	}
	return print_text(out, false);
}
