/* SPDX-License-Identifier: MIT */
/*
 * Reading fstab(5) and mtab with libmount.
 *
 * tablines.c splits the text into lines; libmount parses each line that is neither blank nor a
 * comment, and so decides which lines are entries.  It reads a stream over memory and resolves no
 * names, so it makes no system call.  libmount reports neither whether freq and passno exist, nor
 * the options before decoding: these are taken from the line.
 */
#include "mounts/table_impl.h"

#include "base/fstypes.h"

#include <libmount.h>
#include <stdio.h>
#include <stdlib.h>

/** Parsed first: libmount guesses the format from the first entry, and would mistake an entry with
    two leading numbers for mountinfo. */
static const char FORMAT_LINE[] = "none none none none 0 0";

/** Callback of libmount: a line could not be parsed.  @return 1: continue. */
static int tab_refused(struct libmnt_table *lt, const char *filename, int number)
{
	(void)filename;
	(void)number;
	/* Out of memory, libmount rejects valid lines: only errno shows the difference. */
	*(bool *)mnt_table_get_userdata(lt) |= errno == ENOMEM;
	return 1;
}

/** Parse a line.
    @fs [out]  The entry, owned by lt; NULL: the line is not an entry.
    @return 0, or -1. */
static int tab_parse(struct libmnt_table *lt, const char *text, size_t n, struct libmnt_fs **fs)
{
	union {
		const char *text;
		void *any;
	} bytes = {text};   /* not modified */
	bool nomem = false;
	FILE *stream = fmemopen(bytes.any, n, "r");
	if (!stream)
		return -1;
	*fs = NULL;
	int before = mnt_table_get_nents(lt);
	mnt_table_set_userdata(lt, &nomem);
	errno = 0;
	int rc = mnt_table_parse_stream(lt, stream, "fstab");
	int error = nomem || errno == ENOMEM ? ENOMEM : -rc;   /* libmount may have reported
	                                                          success */
	fclose(stream);
	if (rc == 0 && error != ENOMEM && mnt_table_get_nents(lt) > before)
		mnt_table_last_fs(lt, fs);
	errno = error;
	return rc < 0 || error == ENOMEM ? -1 : 0;
}

/** Copy a string into the table; NULL for an empty one. */
static int tab_keep(struct mount_table *table, const char *str, const char **kept)
{
	*kept = str && *str ? arena_strndup(&table->arena, str, strlen(str)) : NULL;
	return str && *str && !*kept ? -1 : 0;
}

/** Add the entry of a line. */
static int tab_add(struct mount_table *table, struct libmnt_fs *fs, const struct tabline *line)
{
	struct mount *m = table_add(table);
	if (!m)
		return -1;
	m->key = m->parent_key = table->count;
	m->id = m->parent_id = (uint32_t)table->count;
	m->line = line->number;
	m->freq = line->fields[TABLINE_FREQ].raw ? mnt_fs_get_freq(fs) : -1;
	m->passno = line->fields[TABLINE_PASSNO].raw ? mnt_fs_get_passno(fs) : -1;
	return tab_keep(table, mnt_fs_get_source(fs), &m->source)
	       || tab_keep(table, mnt_fs_get_target(fs), &m->point)
	       || tab_keep(table, mnt_fs_get_fstype(fs), &m->fstype)
	       || tab_keep(table, tabline_value(line, TABLINE_OPTIONS), &m->fs_opts) ? -1 : 0;
}

/* Parents, from the paths. */

/** Advance *at to the next component.  @return the component's length, 0 at the end. */
static size_t path_component(const char **at)
{
	while (**at == '/')
		++*at;
	return strcspn(*at, "/");
}

/** Find the entry with the longest mount point that is a prefix of a path.
    @last  Hash of a path -> the last entry so far with that mount point.
    @self  Include the path itself.
    @hash [out]  The hash of the path.
    @return An index, or MAP64_NONE. */
static uint32_t paths_find(const struct map64 *last, const char *path, bool self, uint64_t *hash)
{
	uint32_t found = MAP64_NONE;
	uint64_t h = MAP64_BYTES;
	size_t n = path_component(&path);
	for (;;) {
		uint32_t at = n > 0 || self ? map64_get(last, h) : MAP64_NONE;
		found = at == MAP64_NONE ? found : at;
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
	struct map64 last = {0};
	int rc = map64_reserve(&last, table->count);

	/* In an fstab, a parent such as "/" may come later. */
	int passes = table->source == TABLE_FSTAB ? 2 : 1;
	for (int pass = 0; rc == 0 && pass < passes; ++pass) {
		for (size_t i = 0; i < table->count; ++i) {
			struct mount *m = &table->mounts[i];
			uint64_t hash;
			if (!m->point || m->point[0] != '/' || m->parent_key != m->key)
				continue;
			bool self = table->source == TABLE_MTAB;
			uint32_t parent = paths_find(&last, m->point, self, &hash);
			if (parent != MAP64_NONE) {
				m->parent_key = table->mounts[parent].key;
				m->parent_id = table->mounts[parent].id;
			}
			if (pass == 0)
				map64_set(&last, hash, (uint32_t)i);
		}
	}
	map64_destroy(&last);
	return rc;
}

struct mount_table *table_of_lines(struct tablines *lines, enum table_source source)
{
	struct mount_table *table = table_new(source);
	struct libmnt_table *lt = mnt_new_table();
	struct libmnt_fs *fs;
	int rc = table && lt ? tab_parse(lt, FORMAT_LINE, sizeof(FORMAT_LINE) - 1, &fs) : -1;
	if (rc == 0)
		mnt_table_set_parser_errcb(lt, tab_refused);
	for (size_t i = 0; rc == 0 && i < lines->count; ++i) {
		struct tabline *line = &lines->lines[i];
		if (line->kind == TABLINE_ENTRY) {
			/* With its end: libmount removes one carriage return before it. */
			rc = tab_parse(lt, line->bytes, line->size, &fs);
			if (rc == 0 && fs) {
				rc = tab_add(table, fs, line);
				continue;
			}
			line->kind = TABLINE_DAMAGED;
		}
		const char *why = line->why ? line->why : "not a valid line of fstab(5)";
		if (rc == 0 && line->kind == TABLINE_DAMAGED)
			rc = table_problem(table, line->number, why, line->bytes, line->n);
	}
	if (rc == 0) {
		table->fields = MF_IDS | MF_POINT | MF_FSTYPE | MF_SOURCE | MF_FS_OPTS;
		rc = tab_parents(table);
	}
	int error = errno;
	mnt_unref_table(lt);
	errno = error;
	if (rc == 0)
		return table;
	table_free(table);
	return NULL;
}

bool fstype_is_pseudo(const char *fstype)
{
	return fstype && (fstype_flags(fstype) & FST_PSEUDO || mnt_fstype_is_pseudofs(fstype));
}
