/* SPDX-License-Identifier: MIT */
/*
 * The parser of mountinfo.  The input is the text of a table.
 *
 * No line is lost; what was read can be written, and reads the same; what is
 * written so, libmount reads alike.
 */
#include "lib/fuzz.h"

#include "base/escape.h"
#include "mountopts/join.h"
#include "mounts/table.h"

#include <inttypes.h>
#include <libmount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The lines of a text that are not empty, as the parser has to see them. */
static size_t count_lines(const char *text, size_t len)
{
	const char *first = len ? memchr(text, '\n', len) : NULL;
	bool crlf = first && first > text && first[-1] == '\r';
	size_t lines = 0;
	for (size_t at = 0; at < len;) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t n = newline ? (size_t)(newline - text) - at : len - at;
		lines += n > (crlf && n && text[at + n - 1] == '\r');
		at += n + 1;
	}
	return lines;
}

/** Write a record as the kernel would. */
static void write_mount(struct strbuf *out, const struct mount *m)
{
	strbuf_printf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 ":%" PRIu32 " ", m->id, m->parent_id,
	              m->dev_major, m->dev_minor);
	escape_octal(out, m->root, ESCAPE_PATH, false);
	strbuf_putc(out, ' ');
	escape_octal(out, m->point, ESCAPE_PATH, false);
	strbuf_putc(out, ' ');
	escape_octal(out, m->vfs_opts, ESCAPE_PATH, false);
	strbuf_printf(out, "%s%s - ", m->opt_fields ? " " : "", m->opt_fields ? m->opt_fields : "");
	escape_octal(out, m->fstype, ESCAPE_SOURCE, false);
	strbuf_putc(out, ' ');
	if (m->source)
		escape_octal(out, m->source, ESCAPE_SOURCE, false);
	strbuf_printf(out, " %s\n", m->fs_opts);
}

static void check_record(const struct mount *m)
{
	FUZZ_CHECK(m->id != 0 && m->key == m->id && m->parent_key == m->parent_id
	           && m->uniq_id == 0);
	FUZZ_CHECK(m->root && *m->root && m->point && *m->point == '/' && m->vfs_opts
	           && *m->vfs_opts);
	FUZZ_CHECK(m->fstype && *m->fstype && m->fs_opts && *m->fs_opts);
	FUZZ_CHECK(!m->opt_fields || *m->opt_fields);
	FUZZ_CHECK(!m->source || *m->source);
	FUZZ_CHECK(!!(m->propagation & MP_SHARED) == (m->peer_group != 0));
	FUZZ_CHECK(!!(m->propagation & MP_SLAVE) == (m->master != 0));
	FUZZ_CHECK(m->line == 0);
}

static void check_options(const struct mount *m)
{
	struct strbuf out;
	strbuf_init(&out);
	join_findmnt(m, &out);
	const char *text = strbuf_str(&out);
	FUZZ_CHECK(strlen(text) == out.len);
	FUZZ_CHECK((strncmp(text, "ro", 2) == 0 || strncmp(text, "rw", 2) == 0)
	           && (!text[2] || text[2] == ','));
	strbuf_destroy(&out);
}

static void check_same(const struct mount *a, const struct mount *b)
{
	FUZZ_CHECK(a->id == b->id && a->parent_id == b->parent_id && mount_dev(a) == mount_dev(b));
	FUZZ_SAME(b->root, a->root);
	FUZZ_SAME(b->point, a->point);
	FUZZ_SAME(b->vfs_opts, a->vfs_opts);
	FUZZ_SAME(b->opt_fields, a->opt_fields);
	FUZZ_SAME(b->fstype, a->fstype);
	FUZZ_SAME(b->source, a->source);
	FUZZ_SAME(b->fs_opts, a->fs_opts);
	FUZZ_CHECK(a->propagation == b->propagation && a->peer_group == b->peer_group
	           && a->master == b->master && a->propagate_from == b->propagate_from);
}

/** Read what was written by libmount, which takes less. */
static void check_libmount(const struct mount_table *table, const char *text, size_t len)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if (m->id > INT32_MAX || m->parent_id > INT32_MAX || m->dev_major > 0xfff
		    || m->dev_minor > 0xfffff)
			return;
		/* A CR at the end of a line it takes for an editor's, and passes over
		   lines that end in a blank. */
		size_t n = strlen(m->fs_opts);
		if (strcmp(m->fs_opts, "\r") == 0
		    || (n > 0 && (m->fs_opts[n - 1] == '\t' || m->fs_opts[n - 1] == ' ')))
			return;
	}
	FILE *stream = fmemopen((char *)(uintptr_t)text, len, "r");
	struct libmnt_table *lt = mnt_new_table();
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	FUZZ_CHECK(stream && lt && iter);
	FUZZ_CHECK(mnt_table_parse_stream(lt, stream, "mountinfo") == 0);
	size_t i = 0;
	while (mnt_table_next_fs(lt, iter, &fs) == 0) {
		FUZZ_CHECK(i < table->count);
		const struct mount *m = &table->mounts[i++];
		FUZZ_CHECK(mnt_fs_get_id(fs) == (int)m->id
		           && mnt_fs_get_parent_id(fs) == (int)m->parent_id);
		FUZZ_SAME(mnt_fs_get_root(fs), m->root);
		FUZZ_SAME(mnt_fs_get_target(fs), m->point);
		FUZZ_SAME(mnt_fs_get_fstype(fs), m->fstype);
		FUZZ_SAME(mnt_fs_get_source(fs), m->source ? m->source : "");
	}
	FUZZ_CHECK(i == table->count);
	mnt_free_iter(iter);
	mnt_unref_table(lt);
	fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct mount_table *table = table_parse_mountinfo(text, size);
	FUZZ_CHECK(table && table->source == TABLE_RECORDED && table->fields == MF_ALL);
	FUZZ_CHECK(table->count + table->nproblems + table->more_problems
	           == count_lines(text, size));
	for (size_t i = 0; i < table->nproblems; ++i) {
		const struct table_problem *problem = &table->problems[i];
		FUZZ_CHECK(problem->line > 0 && problem->reason && problem->text
		           && strlen(problem->text) <= 200);
		FUZZ_CHECK(i == 0 || problem->line > problem[-1].line);
	}

	/* The first line is empty, lest a CR at the end of the next be an editor's. */
	struct strbuf written;
	strbuf_init(&written);
	strbuf_putc(&written, '\n');
	for (size_t i = 0; i < table->count; ++i) {
		check_record(&table->mounts[i]);
		check_options(&table->mounts[i]);
		write_mount(&written, &table->mounts[i]);
	}
	struct mount_table *again = table_parse_mountinfo(written.data, written.len);
	FUZZ_CHECK(again && again->count == table->count && again->nproblems == 0);
	for (size_t i = 0; i < table->count; ++i)
		check_same(&table->mounts[i], &again->mounts[i]);
	FUZZ_CHECK(table_torn(table) == table_torn(again));
	check_libmount(again, written.data + 1, written.len - 1);
	strbuf_destroy(&written);
	table_free(again);
	table_free(table);
	return 0;
}
