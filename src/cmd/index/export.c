/* SPDX-License-Identifier: MIT */
/*
 * getmnt index export: every object of the indexes, cluster by cluster, as CSV or JSON lines.
 * A cluster is a group of directories that an index stores together.
 */
#include "cmd/index/index.h"

#include "base/escape.h"
#include "cmd/found/object.h"
#include "index/scan/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum export_form { EXPORT_NONE, EXPORT_CSV, EXPORT_JSONL };

enum { FLUSH_BYTES = 64 * 1024 };

struct export_opts {
	struct index_opts common;
	const char *columns;
	int form;                    /* enum export_form */
};

enum { ONE_FORM = 1 };

static const struct option_row export_rows[] = {
	OPTION_GROUP("Output"),
	{"csv", 0, NULL, "comma-separated values, after a header line",
	 OPT_IS_SET(struct export_opts, form), .base = EXPORT_CSV, .excludes = ONE_FORM},
	{"jsonl", 0, NULL, "one JSON object per line", OPT_IS_SET(struct export_opts, form),
	 .base = EXPORT_JSONL, .excludes = ONE_FORM},
	{"output", 'o', "COLS", "columns, comma-separated",
	 OPT_IS_TEXT(struct export_opts, columns)},
	OPTIONS_INDEX_GENERAL,
};

const struct option_table index_export_table = {
	"index export", export_rows, sizeof(export_rows) / sizeof(*export_rows),
};

/** An object, and the number of the cluster that contains the object. */
struct exported {
	struct object object;        /* must be first: functions of cells get its address */
	uint32_t cluster;
};

static bool cell_cluster(const struct object *o, struct strbuf *text)
{
	strbuf_number(text, ((const struct exported *)(const void *)o)->cluster);
	return true;
}

static const struct search_column own_columns[] = {
	{{"CLUSTER", "number of the cluster in the index", CT_NUMBER}, 0, cell_cluster},
};

const struct column_table index_columns
	= COLUMN_TABLE(own_columns, "getmnt search -H", &search_columns);

/** Whether an index stores the data of a column. */
static bool is_in_index(const struct search_column *column)
{
	return !(column->needs & (SN_LINK | SN_MOUNT | SN_XATTRS))
	       && strcmp(column->info.name, "DEV") != 0;
}

/** Append a field quoted as in RFC 4180.  Names are escaped as on a terminal, so that no field has
    a line break, and all fields are valid UTF-8.
    @escaped  A buffer to use. */
static void put_csv(const char *field, struct strbuf *out, struct strbuf *escaped)
{
	strbuf_reset(escaped);
	escape_terminal(escaped, field);
	field = strbuf_str(escaped);
	const char *quote = field[strcspn(field, ",\"")] ? "\"" : "";
	strbuf_puts(out, quote);
	for (; *field; ++field) {
		if (*field == '"')
			strbuf_putc(out, '"');
		strbuf_putc(out, *field);
	}
	strbuf_puts(out, quote);
}

struct printing {
	int form;
	const struct column_info *columns[COLUMNS_MAX];
	size_t ncolumns;
	struct object_cells cells;
	struct json json;
	const char *top;             /* the mount point; or "" */
	size_t top_len;
	struct strbuf text, path, escaped;
};

/** Print pending text.  @return whether the text was printed. */
static bool flush(struct printing *p)
{
	bool printed = fwrite(strbuf_str(&p->text), 1, p->text.len, stdout) == p->text.len;
	strbuf_reset(&p->text);
	return printed;
}

static void put_header(struct printing *p)
{
	for (size_t i = 0; i < p->ncolumns && p->form == EXPORT_CSV; ++i) {
		if (i)
			strbuf_putc(&p->text, ',');
		for (const char *c = p->columns[i]->name; *c; ++c)
			strbuf_putc(&p->text, *c >= 'A' && *c <= 'Z' ? (char)(*c + 'a' - 'A') : *c);
	}
	if (p->form == EXPORT_CSV)
		strbuf_puts(&p->text, "\n");
}

static int put_object(void *printing, const struct export_object *object)
{
	struct printing *p = printing;
	struct k_statx st;
	strbuf_reset(&p->path);
	strbuf_add(&p->path, p->top, p->top_len);
	strbuf_puts(&p->path, object->path);
	if (p->path.len == 0)
		strbuf_putc(&p->path, '/');
	index_row_to(object->row, &st);
	const struct exported exported = {
		.object = {
			.cells = &p->cells, .dir = "", .path = strbuf_str(&p->path),
			.type = index_row_type(object->row), .st = &st,
		},
		.cluster = object->cluster,
	};
	const struct object *o = &exported.object;
	if (p->form == EXPORT_JSONL)
		object_json(&p->json, p->columns, p->ncolumns, o);
	for (size_t i = 0; i < p->ncolumns && p->form == EXPORT_CSV; ++i) {
		const char *cell = object_cell((const void *)p->columns[i], o);
		if (i)
			strbuf_putc(&p->text, ',');
		if (cell)
			put_csv(cell, &p->text, &p->escaped);
	}
	strbuf_putc(&p->text, '\n');
	if (p->text.failed || p->path.failed || p->escaped.failed || p->cells.text.failed)
		return fail(ENOMEM);
	return p->text.len < FLUSH_BYTES || flush(p) ? 0 : fail(0);
}

/** Print the objects of an index.  @return 0, or -1 with errno; 0 also if stdout failed. */
static int print_index(struct index_run *ir, const struct index_found *found, struct printing *p)
{
	const char *name = found->place == SIZE_MAX ? NULL : run_name(&ir->run, found->place);
	p->top = name ? name : "";
	p->top_len = strlen(p->top);
	p->top_len -= p->top_len > 0 && p->top[p->top_len - 1] == '/';
	return index_export(found->index, put_object, p) == 0 || errno == 0 ? 0 : -1;
}

/** Choose the columns, from -o or by default.  @return 0, or an exit status after a message. */
static int choose_columns(const struct export_opts *opts, struct printing *p)
{
	const char *list = opts->columns ? opts->columns
		: "CLUSTER,PATH,TYPE,MODE,UID,GID,SIZE,BLOCKS,NLINK,INO,MTIME,CTIME,ATIME,BTIME";
	int status = column_add(&index_columns, list, true, p->columns, &p->ncolumns);
	for (size_t i = 0; i < p->ncolumns && !status; ++i) {
		if (!is_in_index((const void *)p->columns[i]))
			status = usage_error("--output", "%s is not in an index",
			                     p->columns[i]->name);
	}
	return status;
}

static int export_all(struct index_run *ir, const void *export_opts, char **operands, size_t n)
{
	const struct export_opts *opts = export_opts;
	struct printing p = {.form = opts->form, .json.out = &p.text};
	if (!opts->form)
		return usage_error("index export", "--csv or --jsonl is required");
	int status = choose_columns(opts, &p);
	if (status)
		return status;
	status = index_run_begin(ir, &opts->common);
	object_cells_init(&p.cells, &ir->run.os);
	if (!status)
		status = index_run_indexes(ir, operands, n, INDEX_READ, true);
	if (ir->nfound > 0)
		put_header(&p);
	for (size_t i = 0; i < ir->nfound; ++i) {
		const struct index_found *found = &ir->found[i];
		if (n == 0 && index_found_within(ir, i))
			continue;
		if (found->index && print_index(ir, found, &p) == 0)
			continue;
		index_report(ir, found->title, found->index ? errno : found->error);
		status = CX_ERROR;
	}
	flush(&p);
	object_cells_destroy(&p.cells);
	strbuf_destroy(&p.text);
	strbuf_destroy(&p.path);
	strbuf_destroy(&p.escaped);
	return status;
}

int cmd_index_export(int argc, char **argv)
{
	static const struct index_verb verb = {
		&index_export_table,
		"Usage:\n getmnt index export --csv|--jsonl [options] [INDEX ...]\n\n"
		"Print every object of indexes: all, or those of the mount points or with the\n"
		"names INDEX.\n", NULL, export_all,
	};
	return index_verb(&verb, argc, argv, &(struct export_opts){0});
}
