/* SPDX-License-Identifier: MIT */
/*
 * fstab(5) and mtab, by libmount.
 *
 * libmount decides which lines are entries and parses them.  It reads a stream over memory and
 * resolves nothing, so that it makes no system call.  Three things that it does not report are
 * found in the lines: the number of an entry's line (entries are, in order, the lines that are
 * neither blank, comment nor refused), whether freq and passno exist, and the options before
 * decoding.
 */
#include "table/table_impl.h"

#include "base/map64.h"

#include <errno.h>
#include <libmount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * libmount guesses the format from the first entry and takes two leading numbers for mountinfo;
 * this line is put before the text.
 */
#define FORMAT_LINE "none none none none 0 0\n"

/** A line of the file. */
struct tab_line {
	const char *text;
	size_t n;
	bool entry;      /* neither blank nor comment */
	bool refused;    /* by libmount */
};

struct tab {
	struct mount_table *table;
	char *copy;                 /* FORMAT_LINE, then the text */
	size_t copy_len;
	struct tab_line *lines;
	size_t nlines;
	bool failed;                /* out of memory in a callback */
};

/** Split the text into lines. */
static int tab_lines(struct tab *tab, const char *text, size_t len)
{
	size_t head = strlen(FORMAT_LINE), n = 1;
	for (size_t i = 0; i < len; ++i)
		n += text[i] == '\n';
	tab->lines = calloc(n, sizeof(*tab->lines));
	tab->copy = malloc(head + len + 1);
	if (!tab->lines || !tab->copy)
		return -1;
	memcpy(tab->copy, FORMAT_LINE, head);
	memcpy(tab->copy + head, text, len);
	tab->copy_len = head + len;

	for (size_t start = 0; start < len;) {
		const char *newline = memchr(text + start, '\n', len - start);
		struct tab_line *line = &tab->lines[tab->nlines++];
		line->text = text + start;
		line->n = (newline ? (size_t)(newline - text) : len) - start;
		size_t next = start + line->n + 1;
		if (line->n > 0 && line->text[line->n - 1] == '\r')
			--line->n;
		size_t blanks = 0;
		while (blanks < line->n && strchr(" \t", line->text[blanks]))
			++blanks;
		line->entry = blanks < line->n && line->text[blanks] != '#';
		start = next;
	}
	return 0;
}

/** Callback of libmount: a line could not be parsed.  @return 1: continue. */
static int tab_refused(struct libmnt_table *lt, const char *filename, int number)
{
	struct tab *tab = mnt_table_get_userdata(lt);
	(void)filename;
	/* libmount refuses valid lines when out of memory: only errno shows the difference. */
	if (errno == ENOMEM)
		tab->failed = true;
	if (number < 2 || (size_t)number - 2 >= tab->nlines)
		return 1;
	struct tab_line *line = &tab->lines[number - 2];
	if (!line->refused && line->entry) {
		line->refused = true;
		tab->failed |= table_problem(tab->table, (uint32_t)number - 1,
		                             "not a valid line of fstab(5)",
		                             line->text, line->n) != 0;
	}
	return 1;
}

/** Find the n-th field of a line, from 1.  @return its length, 0 if it does not exist. */
static size_t tab_field(const struct tab_line *line, int n, const char **field)
{
	const char *at = line->text, *end = line->text + line->n;
	for (;;) {
		while (at < end && (*at == ' ' || *at == '\t'))
			++at;
		*field = at;
		while (at < end && *at != ' ' && *at != '\t')
			++at;
		if (--n == 0 || at == end)
			return n == 0 ? (size_t)(at - *field) : 0;
	}
}

/** Copy a string into the table; NULL for an empty one. */
static int tab_keep(struct tab *tab, const char *str, const char **kept)
{
	*kept = str && *str ? arena_strndup(&tab->table->arena, str, strlen(str)) : NULL;
	return str && *str && !*kept ? -1 : 0;
}

/** Add the entry of a line. */
static int tab_add(struct tab *tab, struct libmnt_fs *fs, const struct tab_line *line)
{
	struct mount_table *table = tab->table;
	struct mount *m = table_add(table);
	if (!m)
		return -1;
	m->key = m->parent_key = table->count;
	m->id = m->parent_id = (uint32_t)table->count;
	m->line = (uint32_t)(line - tab->lines) + 1;
	if (tab_keep(tab, mnt_fs_get_source(fs), &m->source) != 0
	    || tab_keep(tab, mnt_fs_get_target(fs), &m->point) != 0
	    || tab_keep(tab, mnt_fs_get_fstype(fs), &m->fstype) != 0)
		return -1;

	const char *field;
	size_t n = tab_field(line, 4, &field);
	if (n && !(m->fs_opts = arena_strndup(&table->arena, field, n)))
		return -1;
	m->freq = tab_field(line, 5, &field) ? mnt_fs_get_freq(fs) : -1;
	m->passno = tab_field(line, 6, &field) ? mnt_fs_get_passno(fs) : -1;
	return 0;
}

/** Add libmount's entries to the table, and find their lines. */
static int tab_take(struct tab *tab, struct libmnt_table *lt)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	int rc = iter ? 0 : -1;
	bool first = true;
	const struct tab_line *line = tab->lines, *end = tab->lines + tab->nlines;

	while (rc == 0 && mnt_table_next_fs(lt, iter, &fs) == 0) {
		if (first) {
			first = false;
			continue;
		}
		while (line < end && (!line->entry || line->refused))
			++line;
		if (line == end)
			break;
		rc = tab_add(tab, fs, line++);
	}
	/* In case that libmount ever drops a line silently. */
	for (; rc == 0 && line < end; ++line) {
		uint32_t number = (uint32_t)(line - tab->lines) + 1;
		if (line->entry && !line->refused)
			rc = table_problem(tab->table, number, "not read", line->text, line->n);
	}
	int error = errno;
	mnt_free_iter(iter);
	errno = error;
	return rc;
}

/** Parse the copy by libmount.  @return 0, or -1. */
static int tab_parse(struct tab *tab)
{
	FILE *stream = fmemopen(tab->copy, tab->copy_len, "r");
	struct libmnt_table *lt = mnt_new_table();
	int rc = -1;
	if (!stream || !lt)
		goto out;
	mnt_table_set_userdata(lt, tab);
	mnt_table_set_parser_errcb(lt, tab_refused);
	errno = 0;
	rc = mnt_table_parse_stream(lt, stream, "fstab");
	if (rc < 0) {
		errno = -rc;
		rc = -1;
		goto out;
	}
	tab->failed |= errno == ENOMEM;   /* libmount may end early and report success */
	rc = tab->failed ? -1 : tab_take(tab, lt);
	if (tab->failed)
		errno = ENOMEM;
out:;
	int error = errno;
	mnt_unref_table(lt);
	if (stream)
		fclose(stream);
	errno = error;
	return rc;
}

/* Parents, from the paths. */

/** The mount points seen so far. */
struct tab_paths {
	struct map64 first;      /* hash of the normalized path -> an index into last */
	uint32_t *last;          /* the last entry with that path */
	size_t n;
};

/** Move *at to the next component.  @return its length, 0 at the end. */
static size_t path_component(const char **at)
{
	while (**at == '/')
		++*at;
	return strcspn(*at, "/");
}

/**
 * Find the entry of the longest known prefix of a path.
 *
 * @self  Whether the path itself counts.
 * @hash [out]  Of the path.
 * @return  An index, or MAP64_NONE.
 */
static uint32_t paths_find(const struct tab_paths *paths, const char *path, bool self,
                           uint64_t *hash)
{
	uint32_t found = MAP64_NONE;
	uint64_t h = MAP64_BYTES;
	size_t n = path_component(&path);
	for (;;) {
		uint32_t slot = n > 0 || self ? map64_get(&paths->first, h) : MAP64_NONE;
		if (slot != MAP64_NONE)
			found = paths->last[slot];
		if (n == 0)
			break;
		h = map64_bytes(map64_bytes(h, "/", 1), path, n);
		path += n;
		n = path_component(&path);
	}
	*hash = h;
	return found;
}

/** Find the parent of each entry; see table_read_file(). */
static int tab_parents(struct mount_table *table)
{
	struct tab_paths paths = {0};
	map64_init(&paths.first);
	paths.last = malloc((table->count + 1) * sizeof(*paths.last));
	int rc = paths.last ? map64_reserve(&paths.first, table->count) : -1;

	/* In an fstab, a parent such as "/" may come later. */
	int passes = table->source == TABLE_FSTAB ? 2 : 1;
	for (int pass = 0; rc == 0 && pass < passes; ++pass) {
		for (size_t i = 0; i < table->count; ++i) {
			struct mount *m = &table->mounts[i];
			uint64_t hash;
			if (!m->point || m->point[0] != '/' || m->parent_key != m->key)
				continue;
			bool self = table->source == TABLE_MTAB;
			uint32_t parent = paths_find(&paths, m->point, self, &hash);
			if (parent != MAP64_NONE) {
				m->parent_key = table->mounts[parent].key;
				m->parent_id = table->mounts[parent].id;
			}
			if (pass > 0)
				continue;
			uint32_t slot = map64_put(&paths.first, hash, (uint32_t)paths.n);
			paths.n += slot == paths.n;
			paths.last[slot] = (uint32_t)i;
		}
	}
	int error = errno;
	free(paths.last);
	map64_destroy(&paths.first);
	errno = error;
	return rc;
}

struct mount_table *table_parse_tabfile(const char *text, size_t len, enum table_source source)
{
	/* libmount ignores the rest of a line after a NUL. */
	if (memchr(text, '\0', len)) {
		errno = EILSEQ;
		return NULL;
	}
	struct tab tab = {.table = table_new(source)};
	if (!tab.table)
		return NULL;
	tab.table->fields = MF_IDS | MF_POINT | MF_FSTYPE | MF_SOURCE | MF_FS_OPTS;
	bool failed = tab_lines(&tab, text, len) != 0 || tab_parse(&tab) != 0
	              || tab_parents(tab.table) != 0;
	int error = errno;
	if (failed)
		table_free(tab.table);
	free(tab.copy);
	free(tab.lines);
	errno = error;
	return failed ? NULL : tab.table;
}
