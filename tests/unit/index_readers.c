/* SPDX-License-Identifier: MIT */
#include "index_readers.h"

#include "unit.h"

#include "index/scan/export.h"
#include "index/scan/report.h"
#include "index/scan/scan.h"
#include "index/store/store_impl.h"
#include "select/query.h"
#include "query_world.h"
#include "store_world.h"

void (*index_readers_hook)(void);

static int read_dump(struct index *index, struct strbuf *out)
{
	return index_dump(index, out);
}

static int read_check(struct index *index, struct strbuf *out)
{
	return index_check(index, out);
}

static int put_exported(void *arg, const struct export_object *object)
{
	if (index_readers_hook)
		index_readers_hook();
	strbuf_printf(arg, "%s %llu\n", object->path,
	              (unsigned long long)object->row->col[IC_INO]);
	return 0;
}

static int read_export(struct index *index, struct strbuf *out)
{
	return index_export(index, put_exported, out);
}

static int read_report_by(struct index *index, enum report_by by, struct strbuf *out)
{
	static const char *const roots[] = {"/"};
	struct report *report = report_new(by, roots, 3, 0);
	struct usage_row *rows = NULL;
	size_t n = 0;
	int rc = report_add(report, 0, index, index_root(index));
	int error = errno;
	if (rc == 0)
		rc = report_rows(report, &rows, &n);
	for (size_t i = 0; rc == 0 && i < n; ++i)
		strbuf_printf(out, "%s %u %llu\n", rows[i].path, rows[i].key,
		              (unsigned long long)rows[i].sum.count);
	report_free(report);
	errno = error;
	return rc;
}

static int read_report(struct index *index, struct strbuf *out)
{
	return read_report_by(index, REPORT_DIR, out);
}

static int read_extensions(struct index *index, struct strbuf *out)
{
	return read_report_by(index, REPORT_EXTENSION, out);
}

/** The directories by their numbers. */
static int read_dirs(struct index *index, struct strbuf *out)
{
	const index_dir end = index_clusters(index) << INDEX_SLOT_BITS;
	int rc = 0;
	for (index_dir dir = 0; rc == 0 && dir < end; ++dir) {
		struct index_row row;
		rc = index_dir_row(index, dir, INDEX_ALL, &row);
		if (rc == 0)
			rc = index_path(index, dir, index_root(index), out);
		if (rc == 0)
			strbuf_printf(out, " %llu\n", (unsigned long long)row.col[IC_INO]);
		else if (errno == ENOENT)
			rc = 0;
	}
	return rc;
}

static int enter_any(void *arg, const struct source_object *dir, uint32_t *mark)
{
	(void)mark;
	if (index_readers_hook)
		index_readers_hook();
	strbuf_printf(arg, "%s/%.*s/\n", dir->path, (int)dir->len, dir->name);
	return 1;
}

static int scan_for(struct index *index, const char *text, struct strbuf *out)
{
	index_dir start;
	if (index_lookup(index, "", &start) != 0)
		return -1;
	struct query *query = query_parse_text(text, &query_world, NULL);
	struct query_bounds bounds;
	CU_ASSERT_PTR_NOT_NULL_FATAL(query);
	query_bounds(query, &bounds);
	struct scan *scan = scan_new(index, &(struct scan_options){
		.start = start, .bounds = &bounds, .enter = enter_any, .arg = out,
	});
	const struct source_object *object;
	struct k_statx st;
	int rc = 0;
	while (rc == 0 && (object = scan_next(scan))) {
		if (index_readers_hook)
			index_readers_hook();
		rc = scan_attributes(scan, object, K_STATX_BASIC, &st);
		if (rc > 0)
			strbuf_printf(out, "%s/%.*s %llu\n", object->path, (int)object->len,
			              object->name, (unsigned long long)st.ino);
		rc = rc < 0 ? -1 : 0;
	}
	if (rc == 0 && errno)
		rc = -1;
	int error = errno;
	scan_free(scan);
	query_free(query);
	errno = error;
	return rc;
}

static int read_scan(struct index *index, struct strbuf *out)
{
	return scan_for(index, "-size -100c", out);
}

static int read_names(struct index *index, struct strbuf *out)
{
	return scan_for(index, "-name *1*", out);
}

const struct index_reader index_readers[] = {
	{"dump", read_dump, false}, {"check", read_check, false}, {"export", read_export, true},
	{"report", read_report, false}, {"extensions", read_extensions, false},
	{"directories", read_dirs, true}, {"scan", read_scan, true}, {"names", read_names, true},
	{NULL, NULL, false},
};
