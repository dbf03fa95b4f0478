/* SPDX-License-Identifier: MIT */
/*
 * getmnt index report: disk usage from indexes, as a table, JSON or SVG.
 */
#include "cmd/column.h"
#include "cmd/index/index.h"

#include "cmd/index/svg.h"
#include "cmd/json.h"
#include "cmd/found/indexed.h"
#include "cmd/found/object.h"
#include "cmd/putfile.h"
#include "cmd/index/table.h"
#include "cmd/run.h"
#include "index/scan/report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 1000000, TOP_MOST = INT_MAX, SVG_DEPTH = 3, SVG_TOP = 2000 };

struct report_opts {
	struct index_opts common;
	const char *svg;
	int by;                      /* enum report_by */
	unsigned depth, top;         /* --depth, UINT_MAX: not given; --top, 0: all rows */
	bool json, bytes;
};

static const struct option_row option_rows[] = {
	OPTION_GROUP("Rows"),
	{"by", 0, "KEY", "dir, user, group, type, extension, age or size",
	 "dir|user|group|type|extension|age|size",
	 OPT_IS_WORD(struct report_opts, by)},
	{"depth", 0, "D", "directories down to D (--by=dir: 1, else: 0)",
	 OPT_IS_NUMBER(struct report_opts, depth, DEPTH_MOST)},
	{"top", 0, "N", "only the N largest", OPT_IS_NUMBER(struct report_opts, top, TOP_MOST)},
	OPTION_GROUP("Output"),
	{"bytes", 'b', NULL, "sizes in bytes", OPT_IS_FLAG(struct report_opts, bytes)},
	{"json", 'J', NULL, "a JSON document", OPT_IS_FLAG(struct report_opts, json)},
	{"svg", 0, "FILE", "also draw directories and ages (-: on stdout)",
	 OPT_IS_TEXT(struct report_opts, svg)},
	OPTIONS_INDEX_GENERAL,
};

const struct option_table index_report_table = {
	"index report", option_rows, sizeof(option_rows) / sizeof(*option_rows),
};

/** A directory to report. */
struct reported {
	const struct index_found *found;
	index_dir dir;
};

/** State of the output. */
struct printing {
	const struct report_opts *opts;
	const struct report *report;
	const struct usage_row *rows;
	size_t n;
	struct object_cells cells;
};

/** A column of the table; `cell` appends the text of the column in a row. */
struct report_column {
	struct table_column head;
	void (*cell)(struct printing *p, const struct usage_row *row, bool json,
	             struct strbuf *text);
};

static void put_size(struct printing *p, uint64_t size, bool json, struct strbuf *text)
{
	if (json || p->opts->bytes)
		strbuf_number(text, size);
	else
		column_size(text, size);
}

static void put_used(struct printing *p, const struct usage_row *row, bool json,
                     struct strbuf *text)
{
	put_size(p, row->sum.size, json, text);
}

static void put_apparent(struct printing *p, const struct usage_row *row, bool json,
                         struct strbuf *text)
{
	put_size(p, row->sum.apparent, json, text);
}

static void put_objects(struct printing *p, const struct usage_row *row, bool json,
                        struct strbuf *text)
{
	(void)p;
	(void)json;
	strbuf_number(text, row->sum.count);
}

static void put_dir(struct printing *p, const struct usage_row *row, bool json,
                    struct strbuf *text)
{
	(void)p;
	(void)json;
	strbuf_puts(text, row->path);
}

static void put_age(uint32_t key, struct strbuf *text)
{
	uint64_t from, to;
	report_range(REPORT_AGE, key, &from, &to);
	const uint64_t unit = from >= 365 ? 365 : 1;
	const char *word = unit == 1 ? "days" : "years";
	if (to == 0)
		strbuf_puts(text, "in the future");
	else if (to == UINT64_MAX)
		strbuf_printf(text, "over %" PRIu64 " %s", from / unit, word);
	else
		strbuf_printf(text, "%" PRIu64 "-%" PRIu64 " %s", from / unit, to / unit, word);
}

static void put_range(uint32_t key, struct strbuf *text)
{
	uint64_t from, to;
	report_range(REPORT_SIZE, key, &from, &to);
	column_size(text, from);
	if (to > 1) {
		strbuf_putc(text, '-');
		column_size(text, to);
	}
}

static void put_key(struct printing *p, const struct usage_row *row, bool json,
                    struct strbuf *text)
{
	const char *extension;
	switch (p->opts->by) {
	case REPORT_USER:
		object_owner(&p->cells.users, row->key, text);
		break;
	case REPORT_GROUP:
		object_owner(&p->cells.groups, row->key, text);
		break;
	case REPORT_TYPE:
		strbuf_putc(text, type_letter(row->key) ? type_letter(row->key) : '?');
		break;
	case REPORT_EXTENSION:
		extension = report_extension(p->report, row->key);
		strbuf_puts(text, *extension || json ? extension : "(none)");
		break;
	case REPORT_AGE:
		put_age(row->key, text);
		break;
	case REPORT_SIZE:
		put_range(row->key, text);
		break;
	}
}

static void put_limit(struct printing *p, uint32_t key, bool end, struct strbuf *text)
{
	uint64_t limit[2];
	report_range((enum report_by)p->opts->by, key, &limit[0], &limit[1]);
	/* Print no limit for the start of the range of future times, or for the end of the last
	   range: these ranges have no such limit. */
	if (limit[end] != UINT64_MAX && (end || limit[1] > 0))
		strbuf_number(text, limit[end]);
}

static void put_from(struct printing *p, const struct usage_row *row, bool json,
                     struct strbuf *text)
{
	(void)json;
	put_limit(p, row->key, false, text);
}

static void put_to(struct printing *p, const struct usage_row *row, bool json,
                   struct strbuf *text)
{
	(void)json;
	put_limit(p, row->key, true, text);
}

static void put_cell(const void *arg, size_t row, const void *column, bool json,
                     struct strbuf *text)
{
	struct printing *p = *(struct printing *const *)arg;
	((const struct report_column *)column)->cell(p, &p->rows[row], json, text);
}

/** Print the rows.
    @dirs   Show the column DIR.
    @fresh  When the oldest index was up to date, in seconds since 1970.
    @return 0, or -1 (ENOMEM). */
static int print_rows(struct printing *p, bool dirs, int64_t fresh)
{
	static const char *const heads[] = {
		NULL, "USER", "GROUP", "TYPE", "EXTENSION", "AGE", "RANGE",
	};
	const int by = p->opts->by;
	struct report_column columns[7] = {
		{{"USED", CT_SIZE}, put_used}, {{"APPARENT", CT_SIZE}, put_apparent},
		{{"OBJECTS", CT_NUMBER}, put_objects},
	};
	size_t n = 3;
	if (by != REPORT_DIR)
		columns[n++] = (struct report_column){{heads[by], CT_STRING}, put_key};
	if (by == REPORT_AGE || by == REPORT_SIZE) {
		columns[n++] = (struct report_column){{"FROM", CT_NUMBER, true}, put_from};
		columns[n++] = (struct report_column){{"TO", CT_NUMBER, true}, put_to};
	}
	if (dirs || p->opts->json)
		columns[n++] = (struct report_column){{"DIR", CT_STRING}, put_dir};
	const struct table table = {
		.columns = columns, .size = sizeof(*columns), .ncolumns = n, .nrows = p->n,
		.cell = put_cell, .arg = &p,
	};
	if (!p->opts->json)
		return table_print(&table);
	struct strbuf out = {0};
	struct json json = {.out = &out};
	json_put_object(&json, NULL, JSON_LINES);
	table_json(&table, &json, "rows");
	json_put_integer(&json, "fresh", fresh);
	json_put_number(&json, "schema", 1);
	json_put_string(&json, "version", GETMNT_VERSION);
	json_end(&json);
	return json_print(&json);
}

/** Compare two rows: largest first; for equal sizes the shortest path, then the original order. */
static int by_size(const void *left, const void *right)
{
	const struct usage_row *a = *(const struct usage_row *const *)left;
	const struct usage_row *b = *(const struct usage_row *const *)right;
	if (a->sum.size != b->sum.size)
		return a->sum.size < b->sum.size ? 1 : -1;
	size_t one = strlen(a->path), two = strlen(b->path);
	return one != two ? (one < two ? -1 : 1) : a < b ? -1 : a > b;
}

static int by_address(const void *left, const void *right)
{
	const struct usage_row *a = *(const struct usage_row *const *)left;
	const struct usage_row *b = *(const struct usage_row *const *)right;
	return a < b ? -1 : a > b;
}

/** Copy the largest rows.
    @n [in,out]  The number of rows.
    @top     Maximum number of rows to copy; 0: all.
    @sorted  Sort the copies by size; else keep their order.
    @return the copies, for free(3); NULL: ENOMEM. */
static struct usage_row *largest(const struct usage_row *rows, size_t *n, size_t top, bool sorted)
{
	const struct usage_row **order = calloc(*n + 1, sizeof(*order));
	struct usage_row *kept = calloc(*n + 1, sizeof(*kept));
	if (order && kept) {
		for (size_t i = 0; i < *n; ++i)
			order[i] = &rows[i];
		qsort(order, *n, sizeof(*order), by_size);
		*n = top && top < *n ? top : *n;
		if (!sorted)
			qsort(order, *n, sizeof(*order), by_address);
		for (size_t i = 0; i < *n; ++i)
			kept[i] = *order[i];
	} else {
		free(kept);
		kept = NULL;
	}
	free(order);
	return kept;
}

/** Count the disk usage of n directories in their indexes.
    @names, by, depth  As for report_new().
    @return a report, or NULL after a message. */
static struct report *count(struct index_run *ir, const struct reported *dirs, size_t n,
                            const char *const *names, enum report_by by, unsigned depth)
{
	struct report *report = report_new(by, names, depth, os_time().tv_sec);
	if (!report)
		message("index", "%s", strerror(errno));
	for (size_t i = 0; report && i < n; ++i) {
		if (report_add(report, i, dirs[i].found->index, dirs[i].dir) == 0)
			continue;
		index_report(ir, dirs[i].found->title, errno);
		report_free(report);
		report = NULL;
	}
	return report;
}

/** Draw the disk usage of n directories, by directory and by age, as SVG.
    @return 0, or an exit status after a message. */
static int draw(struct index_run *ir, const struct report_opts *opts, const struct reported *dirs,
                size_t n, const char *const *names)
{
	const bool to_stdout = strcmp(opts->svg, "-") == 0;
	if (!to_stdout && put_report(&ir->run.os, opts->svg, NULL, 0) != 0)
		return CX_ERROR;
	struct report *places = count(ir, dirs, n, names, REPORT_DIR,
	                              opts->depth == UINT_MAX ? SVG_DEPTH : opts->depth);
	struct report *ages = places ? count(ir, dirs, n, names, REPORT_AGE, 0) : NULL;
	struct strbuf svg = {0}, labels = {0};
	struct usage_row *rows, *kept = NULL;
	struct svg_bar bars[16] = {0};
	size_t nrows, nbars = 0, nages;
	int status = CX_ERROR;
	if (!ages)
		goto out;
	if (report_rows(places, &rows, &nrows) != 0
	    || !(kept = largest(rows, &nrows, opts->top ? opts->top : SVG_TOP, false))
	    || report_rows(ages, &rows, &nages) != 0)
		goto fail;
	/* For each range of ages, make a bar of the sum over all directories. */
	for (uint32_t key = 0; key < sizeof(bars) / sizeof(*bars); ++key) {
		struct svg_bar bar = {0};
		for (size_t i = 0; i < nages; ++i) {
			bar.sum.size += rows[i].key == key ? rows[i].sum.size : 0;
			bar.sum.count += rows[i].key == key ? rows[i].sum.count : 0;
		}
		if (bar.sum.count == 0)
			continue;
		bars[nbars++] = bar;
		put_age(key, &labels);
		strbuf_putc(&labels, '\0');
	}
	const char *label = strbuf_str(&labels);
	for (size_t i = 0; i < nbars && !labels.failed; ++i, label += strlen(label) + 1)
		bars[i].label = label;
	if (labels.failed || svg_report(&svg, kept, nrows, bars, nbars) != 0)
		goto fail;
	const char *bytes = strbuf_text(&svg);
	if (!bytes || (to_stdout && print_buffer(&svg) != 0))
		goto fail;
	if (to_stdout || put_report(&ir->run.os, opts->svg, bytes, svg.len) == 0)
		status = CX_OK;
	goto out;
fail:
	message("index", "%s", strerror(errno));
out:
	free(kept);
	strbuf_destroy(&svg);
	strbuf_destroy(&labels);
	report_free(places);
	report_free(ages);
	return status;
}

/** Report that an index does not have a directory. */
static void report_no_dir(const struct index_run *ir, const char *path, const char *title)
{
	struct strbuf text = {0};
	indexed_no_dir(title, ir->given, &text);
	message(path, "%s", strbuf_str(&text));
	strbuf_destroy(&text);
}

/** Find the directory of an operand in an index.  @return 0, or an exit status after a message. */
static int find_dir(struct index_run *ir, const char *path, struct reported *to)
{
	struct strbuf full = {0}, below = {0};
	int status = CX_ERROR;
	if (!index_path_given(path))
		return status;
	enum path_followed followed = mounts_follow(run_paths(&ir->run), path, &full);
	uint32_t node = followed == PATH_MISSING || full.failed ? MT_NONE
	                : mounts_holding(run_paths(&ir->run), strbuf_str(&full));
	const char *name = node == MT_NONE ? NULL : run_name(&ir->run, node);
	to->found = name ? index_found_for(ir, node) : NULL;
	if (full.failed) {
		message(path, "%s", strerror(ENOMEM));
	} else if (followed == PATH_MISSING) {
		message(path, "%s", path_error(errno));
	} else if (!to->found) {
		index_report_missing(ir, path, node);
	} else if (!to->found->index) {
		index_report(ir, to->found->title, to->found->error);
	} else {
		/* The path in the index: from the root of the index to the root of the mount, then
		   the path below the mount point. */
		const char *above = index_info(to->found->index)->root;
		const char *root = ir->places[node].mount->root;
		strbuf_puts(&below, root + (above[1] ? strlen(above) : 0));
		if (below.len > 0 && below.data[below.len - 1] == '/')
			below.data[--below.len] = '\0';
		strbuf_puts(&below, strbuf_str(&full) + (name[1] ? strlen(name) : 0));
		const char *dir = strbuf_str(&below) + strspn(strbuf_str(&below), "/");
		if (below.failed)
			message(path, "%s", strerror(ENOMEM));
		else if (index_lookup(to->found->index, dir, &to->dir) == 0)
			status = CX_OK;
		else if (errno == ENOENT)
			report_no_dir(ir, path, to->found->title);
		else
			index_report(ir, to->found->title, errno);
	}
	strbuf_destroy(&full);
	strbuf_destroy(&below);
	return status;
}

/** Find the directories to report: the directories that the operands name or, without operands, the
    roots of all indexes.
    @names, dirs [out]  Have room for each operand and each index.
    @n [out]  The number of directories.
    @return 0, or an exit status after a message. */
static int find_dirs(struct index_run *ir, char **operands, size_t noperands, const char **names,
                     struct reported *dirs, size_t *n)
{
	const struct index_found *found = ir->found;
	int status = 0;
	*n = 0;
	for (size_t i = 0; i < noperands; ++i) {
		int one = find_dir(ir, operands[i], &dirs[*n]);
		status = one ? one : status;
		names[*n] = operands[i];
		*n += one == 0;
	}
	for (size_t i = 0; i < ir->nfound && noperands == 0; ++i) {
		if (index_found_within(ir, i))
			continue;
		if (!found[i].index) {
			index_report(ir, found[i].title, found[i].error);
			status = CX_ERROR;
			continue;
		}
		names[*n] = found[i].title;
		dirs[(*n)++] = (struct reported){&found[i], index_root(found[i].index)};
	}
	return status;
}

/** Print the report.  @return 0, or an exit status after a message. */
static int print_report(struct index_run *ir, const struct report_opts *opts,
                        const struct reported *dirs, size_t n, const char *const *names)
{
	struct printing p = {.opts = opts};
	const bool ranges = opts->by == REPORT_AGE || opts->by == REPORT_SIZE;
	const unsigned depth = opts->depth != UINT_MAX ? opts->depth : opts->by == REPORT_DIR;
	struct report *report = count(ir, dirs, n, names, (enum report_by)opts->by, depth);
	struct usage_row *rows, *kept = NULL;
	int64_t fresh = INT64_MAX;
	if (!report)
		return CX_ERROR;
	for (size_t i = 0; i < n; ++i) {
		const struct index_info *info = index_info(dirs[i].found->index);
		fresh = info->fresh < fresh ? info->fresh : fresh;
	}
	p.report = report;
	object_cells_init(&p.cells, &ir->run.os);
	int rc = report_rows(report, &rows, &p.n);
	if (rc == 0)
		kept = largest(rows, &p.n, opts->top, !ranges || opts->top);
	p.rows = kept;
	if (!kept || print_rows(&p, opts->by == REPORT_DIR || depth > 0 || n > 1, fresh) != 0)
		rc = message_error("index", errno, -1);
	object_cells_destroy(&p.cells);
	free(kept);
	report_free(report);
	return rc ? CX_ERROR : CX_OK;
}

static int report_all(struct index_run *ir, const void *report_opts, char **operands, size_t n)
{
	const struct report_opts *opts = report_opts;
	size_t ndirs = 0;
	int status = index_run_begin(ir, &opts->common);
	if (!status)
		status = index_run_indexes(ir, NULL, 0, INDEX_READ, n == 0);
	const char **names = calloc(n + ir->nfound + 1, sizeof(*names));
	struct reported *dirs = calloc(n + ir->nfound + 1, sizeof(*dirs));
	if (!names || !dirs)
		status = message_error("index", ENOMEM, CX_ERROR);
	if (!status)
		status = find_dirs(ir, operands, n, names, dirs, &ndirs);
	if (ndirs > 0 && !(opts->svg && strcmp(opts->svg, "-") == 0)) {
		int printed = print_report(ir, opts, dirs, ndirs, names);
		status = printed ? printed : status;
	}
	if (ndirs > 0 && opts->svg) {
		int drawn = draw(ir, opts, dirs, ndirs, names);
		status = drawn ? drawn : status;
	}
	free(names);
	free(dirs);
	return status;
}

int cmd_index_report(int argc, char **argv)
{
	static const struct index_verb verb = {
		&index_report_table,
		"Usage:\n getmnt index report [options] [PATH ...]\n\n"
		"Print the disk usage of each directory PATH (default: all that is indexed) as\n"
		"du -x does, from the indexes.\n", NULL, report_all,
	};
	return index_verb(&verb, argc, argv, &(struct report_opts){.depth = UINT_MAX});
}
