/* SPDX-License-Identifier: MIT */
#include "index/build/walk.h"

#include "base/array.h"
#include "base/map64.h"
#include "index/build/spill.h"
#include "os/file.h"
#include "search/search.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/*
 * The text that the threads of the search make: records, each followed by the path of a directory
 * and by rows.  If the path of a record is empty, its directory is the directory of the previous
 * record.  While rows are appended, the text ends with a tail.
 */
enum record_kind {
	RECORD_OBJECTS,          /* rows of objects of a directory that are not directories */
	RECORD_DIR,              /* the row of one subdirectory */
	RECORD_LONG,             /* instead of rows, a name that is too long for an index */
};

struct walk_record {
	uint32_t path;           /* length of the path in bytes; 0: the directory of the previous
	                            record */
	uint32_t size;           /* bytes of all rows */
	uint32_t rows;
	uint32_t kind;           /* enum record_kind */
};

struct walk_tail {
	uint32_t last;           /* offset of the last record */
	uint32_t path;           /* offset of the last record with a path */
};

_Static_assert((int)sizeof(struct walk_tail) >= SPILL_SLACK, "the tail follows the last row");

/** A directory in the path walk.path. */
struct walk_step {
	size_t end;              /* offset in walk.path after the name of the directory and its
	                            slash */
	uint32_t dir;
};

/** Invariant: the steps end at the slashes of `path`, in its order, and the last one at its end. */
struct walk {
	struct index_build *build;
	const struct walk_options *options;
	struct walk_counts *counts;
	SEARCH *search;
	uint64_t root_dev;
	size_t prefix;           /* length of the path of the root directory, with its final
	                            slash */
	struct map64 by_name;    /* hash of parent and name --> number of the directory */
	struct strbuf path;      /* path of the last directory, from the root directory: "a/b/" */
	struct walk_step *steps;
	size_t nsteps, steps_room;
	struct strbuf row;       /* row of an object of getmnt_search_read() */
	int error;               /* errno that ended the walk */
};

/* These functions run in the threads of the search: */

/** Make the row of an object.  @st  NULL: the attributes are unknown. */
static void make_row(const struct walk *walk, unsigned char type, const struct k_statx *st,
                     struct index_row *row)
{
	bool dir = type == DT_DIR, mount = st && st->attributes & K_STATX_ATTR_MOUNT_ROOT;
	if (st && !mount)
		index_row_from(row, st);
	else
		index_row_lost(row, type);
	if (dir && (!st || mount
	            || makedev(st->dev_major, st->dev_minor) != walk->root_dev
	            || st->attributes & K_STATX_ATTR_AUTOMOUNT))
		row->col[IC_FLAGS] |= IF_UNREAD;
}

/** Begin a record for an object, unless the object belongs to the last record.
    @tail [in,out]
    @first  The text has no record yet. */
static void begin_record(const struct search_object *object, enum record_kind kind,
                         struct strbuf *text, struct walk_tail *tail, bool first)
{
	struct walk_record head, last;
	bool same = false;
	if (!first) {
		memcpy(&head, text->data + tail->path, sizeof(head));
		same = head.path == object->dir_len
		       && memcmp(text->data + tail->path + sizeof(head), object->dir,
		                 object->dir_len) == 0;
		memcpy(&last, text->data + tail->last, sizeof(last));
		if (same && last.kind == RECORD_OBJECTS && kind == RECORD_OBJECTS)
			return;
	}
	head = (struct walk_record){
		.path = same ? 0 : (uint32_t)object->dir_len, .kind = kind,
	};
	tail->last = (uint32_t)text->len;
	tail->path = same ? tail->path : tail->last;
	strbuf_add(text, (const char *)&head, sizeof(head));
	strbuf_add(text, object->dir, head.path);
}

static void put_line(void *arg, const struct search_object *object, struct strbuf *text)
{
	const struct walk *walk = arg;
	struct walk_tail tail = {0};
	struct index_row row;
	bool first = text->len == 0;
	const size_t len = strlen(object->name);
	const enum record_kind kind = len > INDEX_NAME_MAX ? RECORD_LONG
	                              : object->type == DT_DIR ? RECORD_DIR : RECORD_OBJECTS;
	if (text->failed)
		return;
	if (!first) {
		assert(text->len > sizeof(tail));
		text->len -= sizeof(tail);
		memcpy(&tail, text->data + text->len, sizeof(tail));
		assert(tail.path <= tail.last
		       && tail.last + sizeof(struct walk_record) <= text->len);
	}
	make_row(walk, object->type, (const struct k_statx *)(const void *)object->st, &row);
	begin_record(object, kind, text, &tail, first);
	size_t from = text->len;
	if (kind == RECORD_LONG)
		strbuf_add(text, object->name, len);
	else
		spill_put(text, object->name, len, &row);
	if (text->failed)
		return;
	struct walk_record record;
	memcpy(&record, text->data + tail.last, sizeof(record));
	record.size += (uint32_t)(text->len - from);
	++record.rows;
	memcpy(text->data + tail.last, &record, sizeof(record));
	strbuf_add(text, (const char *)&tail, sizeof(tail));
}

/* These functions run in the thread of the caller: */

/** End the walk with an error. */
static void end_walk(struct walk *walk, int error)
{
	if (!walk->error)
		walk->error = error;
	getmnt_search_cancel(walk->search);
}

/** Find a directory by its parent and name, or add it.
    @return its number, or UINT32_MAX. */
static uint32_t child_of(struct walk *walk, uint32_t parent, const char *name, size_t len)
{
	uint64_t hash = map64_bytes(MAP64_BYTES ^ parent * 0x9e3779b97f4a7c15u, name, len);
	for (;; ++hash) {
		size_t n;
		uint32_t i = map64_get(&walk->by_name, hash);
		if (i == MAP64_NONE)
			break;
		const char *other = index_build_name(walk->build, i, &n);
		if (index_build_parent(walk->build, i) == parent && n == len
		    && memcmp(other, name, len) == 0)
			return i;
	}
	uint32_t i = index_build_dir(walk->build, parent, name, len, NULL, 0);
	if (i == UINT32_MAX)
		end_walk(walk, errno);
	else if (map64_put(&walk->by_name, hash, i) == MAP64_NONE)
		end_walk(walk, ENOMEM);
	return i;
}

/** Find or add the directory with a path of n bytes from the root, "a/b/"; "": the root.
    @return its number, or UINT32_MAX. */
static uint32_t dir_of(struct walk *walk, const char *path, size_t n)
{
	size_t common = 0;
	while (common < n && common < walk->path.len && walk->path.data[common] == path[common])
		++common;
	while (walk->nsteps > 0 && walk->steps[walk->nsteps - 1].end > common)
		--walk->nsteps;
	struct walk_step at = {0, 0};
	if (walk->nsteps > 0)
		at = walk->steps[walk->nsteps - 1];
	assert(at.end <= common && walk->nsteps <= walk->path.len);
	assert(n == 0 || path[n - 1] == '/');
	walk->path.len = at.end;
	while (at.end < n) {
		const char *name = path + at.end;
		size_t len = (size_t)((const char *)memchr(name, '/', n - at.end) - name);
		/* refuse_name() was called for this directory; objects below it are left out. */
		if (len > INDEX_NAME_MAX)
			return UINT32_MAX;
		at.dir = child_of(walk, at.dir, name, len);
		at.end += len + 1;
		if (at.dir == UINT32_MAX)
			return UINT32_MAX;
		if (!ARRAY_ROOM(walk->steps, walk->nsteps, &walk->steps_room)) {
			end_walk(walk, ENOMEM);
			return UINT32_MAX;
		}
		walk->steps[walk->nsteps++] = at;
		strbuf_add(&walk->path, name, len + 1);
	}
	if (walk->path.failed)
		end_walk(walk, ENOMEM);
	return at.dir;
}

/** Set the row of a directory.  The time of the listing is valid only if the last change of the
    directory is clearly older. */
static void set_dir(struct walk *walk, uint32_t dir, const struct index_row *row)
{
	int64_t mtime = index_to_signed(row->col[IC_MSEC]);
	int64_t ctime = index_to_signed(row->col[IC_CSEC]);
	int64_t last = mtime > ctime ? mtime : ctime, begin = walk->options->begin;
	int64_t listed = last < begin - INDEX_SETTLED ? begin : 0;
	if (index_build_dir_row(walk->build, dir, row, listed) != 0)
		end_walk(walk, errno);
	if (row->col[IC_FLAGS] & IF_UNREAD) {
		index_build_unread(walk->build, dir);
		++walk->counts->apart;
	}
}

/** Report an object that is left out since its name is too long: exFAT has names of 255 characters.
    The index is incomplete. */
static void refuse_name(struct walk *walk, const char *path)
{
	++walk->counts->errors;
	if (walk->options->report)
		walk->options->report(walk->options->arg, path, SEARCH_ERR_OPEN, ENAMETOOLONG);
}

/** The same for a name in the directory of walk->path. */
static void refuse_long(struct walk *walk, const char *name, size_t len)
{
	struct strbuf path = {0};
	strbuf_puts(&path, walk->options->path);
	strbuf_puts(&path, path.len < walk->prefix ? "/" : "");
	strbuf_add(&path, strbuf_str(&walk->path), walk->path.len);
	strbuf_add(&path, name, len);
	refuse_name(walk, strbuf_str(&path));
	strbuf_destroy(&path);
}

/** Add the rows of a record to the index.  @rows  SPILL_SLACK bytes after the rows are readable. */
static void take_rows(struct walk *walk, uint32_t dir, const struct walk_record *record,
                      const char *rows)
{
	if (record->kind == RECORD_OBJECTS) {
		walk->counts->objects += record->rows;
		if (index_build_put(walk->build, dir, rows, record->size, record->rows) != 0)
			end_walk(walk, errno);
		return;
	}
	assert(record->rows == 1);
	if (record->kind == RECORD_LONG) {
		refuse_long(walk, rows, record->size);
		return;
	}
	struct index_row row;
	size_t len;
	const char *name = spill_get(&rows, &row, &len);
	assert(len > 0);
	uint32_t child = child_of(walk, dir, name, len);
	++walk->counts->dirs;
	if (child != UINT32_MAX)
		set_dir(walk, child, &row);
}

static void take_lines(void *arg, struct strbuf *text, uint64_t n)
{
	struct walk *walk = arg;
	uint32_t dir = UINT32_MAX;
	(void)n;
	if (text->failed) {
		end_walk(walk, ENOMEM);
		return;
	}
	const char *at = text->data, *end = at + text->len - sizeof(struct walk_tail);
	while (at < end && !walk->error) {
		struct walk_record record;
		memcpy(&record, at, sizeof(record));
		at += sizeof(record);
		assert(record.rows > 0 && record.path <= end - at
		       && record.size <= end - at - record.path);
		if (record.path) {
			size_t prefix = record.path < walk->prefix ? record.path : walk->prefix;
			dir = dir_of(walk, at + prefix, record.path - prefix);
		}
		at += record.path;
		if (dir != UINT32_MAX)
			take_rows(walk, dir, &record, at);
		at += record.size;
	}
	strbuf_reset(text);
}

/** Find the directory that contains the object at a path.  @name [out]  The name of the object.
    @return the number of the directory, or UINT32_MAX. */
static uint32_t above(struct walk *walk, const char *path, const char **name)
{
	const char *below = strlen(path) < walk->prefix ? "" : path + walk->prefix;
	const char *slash = strrchr(below, '/');
	*name = slash ? slash + 1 : below;
	return dir_of(walk, below, (size_t)(*name - below));
}

/** Add an object that the search returns itself, not in the text of a thread. */
static void take_object(struct walk *walk, const char *path)
{
	const char *name;
	uint32_t dir = above(walk, path, &name);
	struct walk_record record = {
		.rows = 1,
		.kind = search_type(walk->search) == DT_DIR ? RECORD_DIR : RECORD_OBJECTS,
	};
	struct index_row row;
	if (dir == UINT32_MAX || !*name)
		return;
	if (strlen(name) > INDEX_NAME_MAX) {
		refuse_name(walk, path);
		return;
	}
	make_row(walk, search_type(walk->search),
	         (const struct k_statx *)(const void *)getmnt_search_statx(walk->search), &row);
	strbuf_reset(&walk->row);
	spill_put(&walk->row, name, strlen(name), &row);
	record.size = (uint32_t)walk->row.len;
	if (walk->row.failed || !strbuf_room(&walk->row, SPILL_SLACK))
		end_walk(walk, ENOMEM);
	else
		take_rows(walk, dir, &record, walk->row.data);
}

/** End the walk because the root directory cannot be read.  An index without most objects must not
    replace a complete one. */
static void end_at_root(struct walk *walk, int error)
{
	walk->counts->root_error = error;
	end_walk(walk, error);
}

/** Report an error, and mark a directory that could not be read. */
static void take_error(struct walk *walk, const struct searchent *e)
{
	const char *name;
	uint32_t dir = above(walk, e->path, &name);
	if (dir == 0 && !*name) {
		end_at_root(walk, e->err);
		return;
	}
	++walk->counts->errors;
	if (walk->options->report)
		walk->options->report(walk->options->arg, e->path, e->errsource, e->err);
	if (dir == UINT32_MAX || e->errsource == SEARCH_ERR_STAT)
		return;
	if (strlen(name) > INDEX_NAME_MAX)
		return;
	if (*name)
		dir = child_of(walk, dir, name, strlen(name));
	if (dir != UINT32_MAX)
		index_build_unread(walk->build, dir);
}

static void watch(void *arg)
{
	struct walk *walk = arg;
	struct search_counts counts;
	if (!walk->options->watch)
		return;
	getmnt_search_count(walk->search, &counts, sizeof(counts));
	walk->options->watch(walk->options->arg, counts.dirs,
	                     walk->counts->objects + walk->counts->dirs,
	                     search_where(walk->search));
}

/** Read all results of the search. */
static void read_all(struct walk *walk, struct os *os)
{
	struct searchent *e;
	while ((e = getmnt_search_read(walk->search))) {
		if (e->err)
			take_error(walk, e);
		else
			take_object(walk, e->path);
	}
	if (errno)
		end_walk(walk, errno);
	/* If the root directory is not readable any more, the file system has failed during the
	   walk, and directories are missing. */
	else if (os_dir_readable(os, walk->options->rootfd) != 0)
		end_at_root(walk, errno);
}

int index_walk(struct index_build *build, struct os *os, const struct walk_options *options,
               struct walk_counts *counts)
{
	struct walk walk = {.build = build, .options = options, .counts = counts};
	struct k_statx st;
	struct index_row row;
	const struct search_options how = {
		.size = sizeof(how), .threads = options->threads, .engine = options->engine,
		.flags = SEARCH_INCLUDEROOT | SEARCH_METADATA | SEARCH_XDEV | SEARCH_VANISHED,
	};
	*counts = (struct walk_counts){0};
	if (os_statx(os, options->rootfd, "", AT_EMPTY_PATH, K_STATX_BASIC | K_STATX_BTIME, &st)
	            != 0 || os_dir_readable(os, options->rootfd) != 0) {
		counts->root_error = errno;
		return -1;
	}
	walk.root_dev = makedev(st.dev_major, st.dev_minor);
	walk.prefix = strlen(options->path);
	walk.prefix += walk.prefix == 0 || options->path[walk.prefix - 1] != '/';
	index_row_from(&row, &st);
	if (index_build_dir(build, 0, "", 0, NULL, 0) == UINT32_MAX)
		return -1;
	set_dir(&walk, 0, &row);
	walk.search = search_open(&options->path, 1, "*", &how, NULL);
	if (!walk.search)
		return -1;
	search_more(walk.search, &(struct search_more){
		.opened = true, .rootfd = options->rootfd,
		.statx = true, .optional = true, .one_device = true, .maxdepth = UINT_MAX,
		.line = put_line, .lines = take_lines, .watch = watch, .arg = &walk,
	});
	if (!walk.error)
		read_all(&walk, os);
	search_stop(walk.search);
	getmnt_search_close(walk.search);
	map64_destroy(&walk.by_name);
	strbuf_destroy(&walk.path);
	strbuf_destroy(&walk.row);
	free(walk.steps);
	return walk.error ? fail(walk.error) : 0;
}
