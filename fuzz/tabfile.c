/* SPDX-License-Identifier: MIT */
/*
 * fstab and mtab, through libmount.  The input is the text of a file; it is
 * read as both.
 *
 * No line is lost, or taken for another; what was read can be written, and
 * reads the same; parents are in the table, and make a tree.
 */
#include "lib/fuzz.h"

#include "base/escape.h"
#include "mounttree.h"
#include "mounts/table_impl.h"

#include <errno.h>
#include <libmount.h>
#include <stdlib.h>
#include <string.h>

/** Take a field of a line, decoded as libmount does, which takes \400 and more
    for something as well.  @return it, to be freed; or NULL. */
static char *take_field(const char **at, const char *end)
{
	while (*at < end && (**at == ' ' || **at == '\t'))
		++*at;
	const char *begin = *at;
	while (*at < end && **at != ' ' && **at != '\t')
		++*at;
	if (*at == begin)
		return NULL;
	char *field = fuzz_string(begin, (size_t)(*at - begin)), *plain = mnt_unmangle(field);
	FUZZ_CHECK(plain);
	free(field);
	return plain;
}

/** Whether a record is what its line says. */
static void check_line(const struct mount *m, const char *line, size_t n)
{
	const char *at = line, *end = line + n;
	if (n && end[-1] == '\r')
		--end;
	char *source = take_field(&at, end), *point = take_field(&at, end),
	               *type = take_field(&at, end);
	FUZZ_CHECK(source && point);
	/* A word that libmount writes anew is not compared: it is not ours. */
	if (m->source && strcmp(source, "none") != 0)
		FUZZ_SAME(m->source, source);
	FUZZ_SAME(m->fstype, type && *type ? type : NULL);
	free(source);
	free(point);
	free(type);

	const char *raw = at;
	char *opts = take_field(&at, end);
	if (opts) {
		raw += strspn(raw, " \t");
		FUZZ_CHECK(strlen(m->fs_opts) == (size_t)(at - raw)
		           && memcmp(m->fs_opts, raw, strlen(m->fs_opts)) == 0);
	} else {
		FUZZ_CHECK(!m->fs_opts);
	}
	free(opts);
}

static bool is_entry(const char *line, size_t n)
{
	size_t blanks = 0;
	while (blanks < n && (line[blanks] == ' ' || line[blanks] == '\t'))
		++blanks;
	return blanks < n && line[blanks] != '#' && !(line[blanks] == '\r' && blanks + 1 == n);
}

/** Hold the table against the lines of the text. */
static void check_lines(const struct mount_table *table, const char *text, size_t len)
{
	size_t at = 0, next_mount = 0, next_problem = 0;
	uint32_t number = 0;
	while (at < len) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t n = newline ? (size_t)(newline - text) - at : len - at;
		++number;
		const struct mount *m = next_mount < table->count ? &table->mounts[next_mount]
		                        : NULL;
		if (m && m->line == number) {
			FUZZ_CHECK(is_entry(text + at, n));
			check_line(m, text + at, n);
			++next_mount;
		} else if (next_problem < table->nproblems
		           && table->problems[next_problem].line == number) {
			++next_problem;
		} else if (table->more_problems == 0) {
			FUZZ_CHECK(!is_entry(text + at, n));
		}
		at += n + 1;
	}
	FUZZ_CHECK(next_mount == table->count && next_problem == table->nproblems);
}

static void check_tree(const struct mount_table *table)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		FUZZ_CHECK(m->key == i + 1 && m->id == m->key && m->parent_id == m->parent_key);
		FUZZ_CHECK(m->parent_key >= 1 && m->parent_key <= table->count);
		const struct mount *parent = &table->mounts[m->parent_key - 1];
		if (parent == m)
			continue;
		/* The point of the parent is above it; in an mtab it may be the same. */
		FUZZ_CHECK(parent->point && m->point && *m->point == '/');
		FUZZ_CHECK(table->source == TABLE_FSTAB || m->parent_key < m->key);
	}
	struct mtree tree;
	FUZZ_CHECK(mtree_init(&tree, table->mounts, table->count, 0) == 0);
	FUZZ_CHECK(tree.odd == 0);
	mtree_destroy(&tree);
}

static void write_table(const struct mount_table *table, struct strbuf *out)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		/* libmount's own escapes leave a '#' at the beginning, a comment. */
		const char *source = m->source ? m->source : "none";
		/* A byte order mark at the start of the file would not be read as part of it. */
		if (i == 0 && strncmp(source, "\xef\xbb\xbf", 3) == 0) {
			strbuf_puts(out, "\\357");
			++source;
		}
		escape_octal(out, source, ESCAPE_SOURCE, false);
		strbuf_putc(out, ' ');
		escape_octal(out, m->point ? m->point : "none", ESCAPE_PATH, false);
		strbuf_putc(out, ' ');
		escape_octal(out, m->fstype ? m->fstype : "auto", ESCAPE_PATH, false);
		strbuf_printf(out, " %s", m->fs_opts ? m->fs_opts : "defaults");
		/* A CR at the end of a line is none of the options. */
		bool cr = out->data[out->len - 1] == '\r';
		if (m->freq >= 0 || cr)
			strbuf_printf(out, " %d", m->freq >= 0 ? m->freq : 0);
		if (m->freq >= 0 && m->passno >= 0)
			strbuf_printf(out, " %d", m->passno);
		strbuf_putc(out, '\n');
	}
}

static void check_again(const struct mount_table *table)
{
	struct strbuf text;
	strbuf_init(&text);
	write_table(table, &text);
	struct mount_table *again = table_parse_tabfile(strbuf_str(&text), text.len, table->source);
	FUZZ_CHECK(again && again->count == table->count && again->nproblems == 0);
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *a = &table->mounts[i], *b = &again->mounts[i];
		FUZZ_SAME(b->source, a->source ? a->source : "none");
		FUZZ_SAME(b->point, a->point ? a->point : "none");
		FUZZ_SAME(b->fstype, a->fstype ? a->fstype : "auto");
		FUZZ_SAME(b->fs_opts, a->fs_opts ? a->fs_opts : "defaults");
		FUZZ_CHECK(a->parent_key == b->parent_key);
		FUZZ_CHECK(a->freq < 0 ? b->freq <= 0 : a->freq == b->freq);
	}
	table_free(again);
	strbuf_destroy(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	static const enum table_source sources[] = {TABLE_FSTAB, TABLE_MTAB};
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); ++i) {
		errno = 0;
		struct mount_table *table = table_parse_tabfile(text, size, sources[i]);
		if (size && memchr(text, '\0', size)) {
			FUZZ_CHECK(!table && errno == EILSEQ);
			continue;
		}
		FUZZ_CHECK(table && table->source == sources[i]);
		check_lines(table, text, size);
		check_tree(table);
		check_again(table);
		table_free(table);
	}
	return 0;
}
