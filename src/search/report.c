/* SPDX-License-Identifier: MIT */
/*
 * Report objects and errors, in any thread.
 *
 * An object is reported as a line if search_more.lines is set and the path of its directory is
 * short, otherwise as a record.  A line starts with the escaped path of the directory.
 */
#include "search/search_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
	LINES_PATH = 512,         /* maximum length of a directory path for lines, each of which
	                             contains the path; records do not contain it */
	XATTRS_SIZE = UINT16_MAX - PATH_MAX,   /* maximum bytes of the names of extended attributes;
	                                          if they are longer, they are unknown */
	LINES_SIZE = 32 * 1024,   /* bytes of lines per directory, after which objects become
	                             records; with line(), only after a line that is longer than its
	                             record */
};

/* Values of run_start.  NO_RUN: no lines of the directory were begun.  NO_LINES: objects of the
   directory become records.  Other values: 1 + offset of the directory's lines in
   batch_done.text. */
static const uint64_t NO_RUN = 0, NO_LINES = UINT64_MAX;

/** Whether lines were begun for the directory, and further objects become lines. */
static bool lines_go_on(const struct bfs_scratch *scratch)
{
	return scratch->output->run_start != NO_RUN && scratch->output->run_start != NO_LINES;
}

/** Append a record to the output.
    @st  Used if record->meta.
    @actions  For an object, with a query: the reached actions; otherwise NULL.
    @target  May be NULL if record->target is 0. */
static void put_record(struct bfs_scratch *scratch, const struct record *record,
                       const struct k_statx *st, const uint64_t *actions, const char *name,
                       const char *target)
{
	size_t meta = record->meta ? sizeof(*st) : 0, acts = actions ? sizeof(*actions) : 0;
	size_t size = sizeof(*record) + meta + acts + record->len + record->target;
	char *to = strbuf_extend(&scratch->output->dir, size);
	if (!to)
		return;
	to = mempcpy(to, record, sizeof(*record));
	if (meta)
		to = mempcpy(to, st, meta);
	if (acts)
		to = mempcpy(to, actions, acts);
	to = mempcpy(to, name, record->len);
	if (record->target)
		memcpy(to, target, record->target);
}

void search_put_error(struct bfs_scratch *scratch, const struct bfs_entry *entry, int source,
                      int error)
{
	put_record(scratch, &(struct record){
		.len = (uint32_t)entry->len, .error = error, .source = (uint8_t)source,
	}, NULL, NULL, entry->name, NULL);
}

void search_put_mount(struct bfs_scratch *scratch, const struct bfs_entry *entry, uint32_t avoid,
                      unsigned wanted)
{
	put_record(scratch, &(struct record){
		.ino = avoid, .len = (uint32_t)entry->len, .error = EREMOTE, .source = MOUNT,
		.type = (uint8_t)wanted,
	}, NULL, NULL, entry->name, NULL);
}

/** Append the names of extended attributes to the last record.
    @fd  The object; -1: entry->name in scratch->fd.
    @at  Offset of the record in the output. */
static void add_xattrs(const SEARCH *search, struct bfs_scratch *scratch,
                       const struct bfs_entry *entry, int fd, size_t at)
{
	struct strbuf *out = &scratch->output->dir;
	struct record record;
	const char *name = fd < 0 ? entry->name : "";
	fd = fd < 0 ? search_fd(search, scratch) : fd;
	if (fd < 0 || !strbuf_room(out, XATTRS_SIZE + 1))
		return;
	char *to = out->data + out->len;
	ssize_t n = os_list_xattrs(scratch->os, fd, name, to + 1, XATTRS_SIZE - 1);
	if (n < 0 && errno == EOPNOTSUPP)
		n = 0;
	*to = '\0';
	if (n < 0)
		return;
	out->len += (size_t)n + 1;
	out->data[out->len] = '\0';
	memcpy(&record, out->data + at, sizeof(record));
	record.target = (uint16_t)(record.target + n + 1);
	memcpy(out->data + at, &record, sizeof(record));
}

/** Append the record of an object. */
static void search_put_record(const SEARCH *search, struct bfs_scratch *scratch,
                              const struct bfs_entry *entry, const struct k_statx *st,
                              int fd, uint64_t actions)
{
	char target[PATH_MAX];
	const bool lost = st && st->mask == 0;
	/* If fd is the target of a followed symlink, entry->type is the type of the target.  So
	   with DT_LNK, fd is a root that is a symlink. */
	ssize_t n = search->more.links && entry->type == DT_LNK
	            && (fd >= 0 || search_fd(search, scratch) >= 0)
	            ? os_readlinkat(scratch->os, fd < 0 ? scratch->fd : fd,
	                            fd < 0 ? entry->name : "", target, sizeof(target))
	            : 0;
	/* Before the first record of a directory, append the directory's identity. */
	if (search->want.identify && scratch->output->run_start == NO_RUN
	    && search_fd(search, scratch) >= 0) {
		search_put_dir_id(search, scratch);
		scratch->output->run_start = NO_LINES;
	}
	const size_t at = scratch->output->dir.len;
	put_record(scratch, &(struct record){
		.ino = entry->ino, .len = (uint32_t)entry->len, .type = entry->type,
		.meta = st && !lost, .lost = lost,
		.target = n > 0 ? (uint16_t)n : 0,
	}, lost ? NULL : st, search->want.query ? &actions : NULL, entry->name, target);
	if (search->more.xattrs && at < scratch->output->dir.len)
		add_xattrs(search, scratch, entry, fd, at);
}

/** Escape a path for lines; the result replaces the path. */
static void escape_whole(const SEARCH *search, struct strbuf *path)
{
	struct strbuf escaped = {0};
	search->more.escape(&escaped, strbuf_str(path));
	strbuf_reset(path);
	strbuf_add(path, strbuf_str(&escaped), escaped.len);
	path->failed |= escaped.failed;
	strbuf_destroy(&escaped);
}

/** Build the path prefix of a directory's lines, and set run_start. */
static void lines_begin(const SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at)
{
	struct strbuf *path = &scratch->output->path_prefix.text;
	/* Keep the parent's path if the previous directory has the same parent. */
	if (scratch->output->path_prefix.of != at->parent) {
		struct bfs_at parent = {.parent = at->parent, .dir = "", .name = ""};
		strbuf_reset(path);
		strbuf_add(path, search->root.name, search->root.len);
		strbuf_puts(path, strbuf_str(&search->root.via));
		bfs_path(&parent, path);
		if (!path->failed && path->data[path->len - 1] != '/')
			strbuf_putc(path, '/');
		if (search->more.escape)
			escape_whole(search, path);
		scratch->output->path_prefix.of = at->parent;
		scratch->output->path_prefix.len = path->len;
	}
	if (!path->failed)
		path->len = scratch->output->path_prefix.len;
	if (strcmp(at->dir, ".") != 0) {
		if (search->more.escape)
			search->more.escape(path, at->dir);
		else
			strbuf_puts(path, at->dir);
		strbuf_putc(path, '/');
	}
	bool lines = strbuf_room(path, BFS_SLACK) && !path->failed && path->len <= LINES_PATH;
	scratch->output->run_start = lines ? scratch->output->batch_done.text.len + 1 : NO_LINES;
}

void search_lines_begin(const SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at)
{
	if (search->more.lines && !search->more.count && scratch->output->run_start == NO_RUN)
		lines_begin(search, scratch, at);
}

/** Append objects as lines to the output.
    @slack  BFS_SLACK bytes after each name are readable.
    @return the number of appended lines: less than n if LINES_SIZE was reached. */
static size_t put_lines(const SEARCH *search, struct bfs_scratch *scratch,
                        const struct bfs_entry *entries, size_t n, bool slack)
{
	const char *dir = scratch->output->path_prefix.text.data, end = search->more.end;
	const size_t dir_len = scratch->output->path_prefix.text.len;
	struct strbuf *text = &scratch->output->batch_done.text;
	size_t begin = text->len - (scratch->output->run_start - 1), size = begin, put = 0;
	for (; put < n && size < LINES_SIZE; ++put)
		size += dir_len + entries[put].len + 1;
	if (!strbuf_room(text, size - begin + BFS_SLACK))
		return n;
	char *to = strbuf_extend(text, size - begin);
	for (size_t i = 0; i < put; ++i) {
		to = copy_blocks(to, dir, dir_len);
		to = slack ? copy_blocks(to, entries[i].name, entries[i].len)
		           : mempcpy(to, entries[i].name, entries[i].len);
		*to++ = end;
	}
	*to = '\0';   /* copy_blocks() may have overwritten the final NUL */
	scratch->output->batch_done.n += put;
	if (size >= LINES_SIZE)
		scratch->output->run_start = NO_LINES;
	return put;
}

/** Append an object to the output, as a line made by search_more.line(). */
static void put_line(const SEARCH *search, struct bfs_scratch *scratch,
                     const struct bfs_entry *entry, const struct k_statx *st)
{
	struct strbuf *text = &scratch->output->batch_done.text;
	size_t from = text->len, record = sizeof(struct record) + entry->len
	              + (st ? sizeof(*st) : 0);
	search->more.line(search->more.arg, &(struct search_object){
		.dir = scratch->output->path_prefix.text.data,
		.dir_len = scratch->output->path_prefix.text.len,
		.name = entry->name, .type = entry->type,
		.st = (const struct statx *)(const void *)st,
	}, text);
	++scratch->output->batch_done.n;
	if (text->len - (scratch->output->run_start - 1) >= LINES_SIZE && text->len - from > record)
		scratch->output->run_start = NO_LINES;
}

void search_put_object(const SEARCH *search, struct bfs_scratch *scratch,
                       const struct bfs_entry *entry, const struct k_statx *st, int fd,
                       uint64_t actions)
{
	struct k_statx with_id;
	st = search->flags & SEARCH_METADATA || search->want.query ? st : NULL;
	/* statx(2) returned the 64-bit mount ID, which the search needs; take the requested 32-bit
	   ID from the table of mounts. */
	if (st && search->more.mask & K_STATX_MNT_ID && st->mask & K_STATX_MNT_ID_UNIQUE) {
		const struct search_mount *m = search_mount_find(&search->mounts, st->mnt_id);
		with_id = *st;
		with_id.mask &= ~(uint32_t)K_STATX_MNT_ID_UNIQUE;
		with_id.mask |= m && m->old_id ? K_STATX_MNT_ID : 0;
		with_id.mnt_id = m ? m->old_id : 0;
		st = &with_id;
	}
	if (!selection_has_type(&search->want, entry->type))
		return;
	if (search->access && entry->type != DT_LNK
	    && os_access(scratch->os, fd < 0 ? search_fd(search, scratch) : fd,
	                 fd < 0 ? entry->name : "", search->access) != 0) {
		/* These errors mean that access is denied, so that the object is not reported. */
		if (errno != EACCES && errno != EROFS && errno != EPERM && errno != ETXTBSY)
			search_put_error(scratch, entry, SEARCH_ERR_ACCESS, errno);
		return;
	}
	if (search->more.count) {
		++scratch->output->batch_done.n;
		return;
	}
	/* one: with a query, an object becomes a line only if one action is reached. */
	bool one = !search->want.query || (actions & (actions - 1)) == 0;
	if (lines_go_on(scratch) && one && (!search->want.query || actions)) {
		if (search->more.line)
			put_line(search, scratch, entry, st && st->mask ? st : NULL);
		else
			put_lines(search, scratch, entry, 1, false);
		return;
	}
	search_put_record(search, scratch, entry, st, fd, actions);
}

void search_put_plain(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                      const struct bfs_entry *entries, size_t n)
{
	size_t i = 0;
	if (search->more.count && !search->access) {
		scratch->output->batch_done.n += n;
		return;
	}
	search_lines_begin(search, scratch, at);
	while (i < n && lines_go_on(scratch) && !search->access && !search->more.line)
		i += put_lines(search, scratch, entries + i, n - i, true);
	for (; i < n; ++i)
		search_put_object(search, scratch, &entries[i], NULL, -1, 1);
}
