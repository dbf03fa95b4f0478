/* SPDX-License-Identifier: MIT */
/*
 * The threads that read add up the objects of a batch of directories.  A text is a sequence of
 * parts, each the path of a directory and a struct part, so that the last ones can be found from
 * the end, and added to.  A file that may be found again is a part of its own.  The owner's thread
 * adds the parts to rows.
 */
#include "cmd/search/usage.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/map64.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOK_BACK = 8 };       /* parts that an object may be added to */

/** The end of a part. */
struct part {
	uint64_t size, count;
	uint64_t dev, ino;        /* of a file that is counted once */
	uint32_t key;
	uint32_t dir_len : 31, once : 1;
};

/** A row being counted. */
struct tally {
	struct usage_row row;     /* with size and count of the parts */
	uint64_t size, count;     /* of the rows below it */
	size_t len;               /* of the path without a trailing slash */
	uint32_t next;            /* row with the same hash; or MAP64_NONE */
};

/** A file that is counted once. */
struct file {
	uint64_t dev, ino, size;
	uint32_t row;
};

struct usage {
	struct usage_options options;
	const char *const *roots;
	size_t nroots;
	struct arena paths;
	struct tally *rows;
	size_t nrows, rows_room;
	struct map64 by_hash;     /* hash -> the last of these rows */
	uint32_t last;            /* the row that was used last */
	struct file *files;
	size_t nfiles, files_room;
	struct map64 by_file;     /* hash, or the next number that is free -> index in files */
	struct strbuf text;       /* of usage_object() */
	struct usage_row *result;
};

struct usage *usage_new(const struct usage_options *options, const char *const roots[], size_t n)
{
	struct usage *usage = calloc(1, sizeof(*usage));
	if (usage) {
		usage->options = *options;
		usage->roots = roots;
		usage->nroots = n;
	}
	return usage;
}

void usage_free(struct usage *usage)
{
	if (!usage)
		return;
	arena_destroy(&usage->paths);
	free(usage->rows);
	map64_destroy(&usage->by_hash);
	free(usage->files);
	map64_destroy(&usage->by_file);
	strbuf_destroy(&usage->text);
	free(usage->result);
	free(usage);
}

/** Add an object to one of the last parts.  @return whether there is one of its row. */
static bool add_to_part(struct strbuf *text, const struct part *new, const char *dir)
{
	size_t end = text->len;
	struct part part;
	for (int i = 0; i < LOOK_BACK && end > 0; ++i) {
		size_t at = end - sizeof(part);
		memcpy(&part, text->data + at, sizeof(part));
		end = at - part.dir_len;
		if (part.once || part.key != new->key || part.dir_len != new->dir_len
		    || memcmp(text->data + end, dir, new->dir_len) != 0)
			continue;
		part.size += new->size;
		part.count += new->count;
		memcpy(text->data + at, &part, sizeof(part));
		return true;
	}
	return false;
}

void usage_note(const struct usage *usage, const struct search_object *object, struct strbuf *text)
{
	const struct usage_options *options = &usage->options;
	const struct k_statx *st = (const void *)object->st;
	/* After a failure the last part may be cut. */
	if (text->failed || (options->xdev && os_statx_is_mount_root(st)))
		return;
	bool sized = S_ISREG(st->mode) || S_ISLNK(st->mode), dir = S_ISDIR(st->mode);
	struct part part = {
		.size = !options->apparent ? st->blocks * 512 : sized ? st->size : 0,
		.count = 1,
		.key = options->by == USAGE_USER ? st->uid : options->by == USAGE_GROUP ? st->gid
		       : options->by == USAGE_TYPE ? IFTODT(st->mode) : 0,
		.dir_len = options->depth ? (uint32_t)object->dir_len : 0,
		.once = options->once || (st->nlink > 1 && !dir),
	};
	bool own = dir && options->depth;   /* it may have a row of its own */
	if (!part.once && !own && add_to_part(text, &part, object->dir))
		return;
	if (part.once) {
		part.dev = (uint64_t)st->dev_major << 32 | st->dev_minor;
		part.ino = st->ino;
	}
	strbuf_add(text, object->dir, part.dir_len);
	if (own) {
		strbuf_puts(text, object->name);
		part.dir_len += (uint32_t)strlen(object->name);
	}
	strbuf_add(text, (const char *)&part, sizeof(part));
}

/** The row of a path.  @return its index, or MAP64_NONE: ENOMEM. */
static uint32_t find_row(struct usage *usage, size_t root, const char *path, size_t len,
                         uint32_t key)
{
	uint64_t hash = map64_bytes(MAP64_BYTES + root, path, len) ^ key * 0x9e3779b97f4a7c15u;
	uint32_t first = map64_get(&usage->by_hash, hash);
	for (uint32_t i = first; i != MAP64_NONE; i = usage->rows[i].next) {
		const struct tally *row = &usage->rows[i];
		if (row->row.root == root && row->row.key == key && row->len == len
		    && memcmp(row->row.path, path, len) == 0)
			return i;
	}
	if (usage->nrows == MAP64_NONE
	    || !ARRAY_ROOM(usage->rows, usage->nrows, &usage->rows_room)) {
		errno = ENOMEM;
		return MAP64_NONE;
	}
	uint32_t new = (uint32_t)usage->nrows;
	const char *name = usage->roots[root];
	bool whole = len < strlen(name);   /* the root, as it is given */
	const char *copy = whole ? name : arena_strndup(&usage->paths, path, len);
	if (!copy || map64_set(&usage->by_hash, hash, new) == MAP64_NONE)
		return MAP64_NONE;
	usage->rows[usage->nrows++] = (struct tally){
		.row = {.root = root, .path = copy, .key = key}, .len = len, .next = first,
	};
	return new;
}

/** The length of a root without a trailing slash. */
static size_t root_len(const struct usage *usage, size_t root)
{
	size_t len = strlen(usage->roots[root]);
	return len - (len > 0 && usage->roots[root][len - 1] == '/');
}

/** The row of a directory: its own, or that of the one above it that is deep enough. */
static uint32_t row_of(struct usage *usage, size_t root, const char *dir, size_t n, uint32_t key)
{
	size_t len = root_len(usage, root);
	for (unsigned depth = usage->options.depth; depth > 0 && len + 1 < n; --depth) {
		const char *slash = memchr(dir + len + 1, '/', n - len - 1);
		len = slash ? (size_t)(slash - dir) : n;
	}
	const struct tally *last = usage->last < usage->nrows ? &usage->rows[usage->last] : NULL;
	if (n == 0)
		dir = usage->roots[root];
	if (!last || last->row.root != root || last->row.key != key || last->len != len
	    || memcmp(last->row.path, dir, len) != 0)
		usage->last = find_row(usage, root, dir, len, key);
	return usage->last;
}

int usage_root(struct usage *usage, size_t root)
{
	return row_of(usage, root, "", 0, 0) == MAP64_NONE ? -1 : 0;
}

/** The order of two rows. */
static int by_place(const void *left, const void *right)
{
	const struct tally *a = left, *b = right;
	if (a->row.root != b->row.root)
		return a->row.root < b->row.root ? -1 : 1;
	size_t n = a->len < b->len ? a->len : b->len, i = 0;
	while (i < n && a->row.path[i] == b->row.path[i])
		++i;
	/* A slash is before any other byte; the end is after it. */
	int one = i == a->len ? 1 : a->row.path[i] == '/' ? 0 : 1 + (unsigned char)a->row.path[i];
	int two = i == b->len ? 1 : b->row.path[i] == '/' ? 0 : 1 + (unsigned char)b->row.path[i];
	if (one != two)
		return one - two;
	return a->row.key < b->row.key ? -1 : a->row.key > b->row.key;
}

/** Keep a file that is counted once: in the first row. */
static int add_file(struct usage *usage, const struct part *part, uint32_t row)
{
	uint64_t key = (part->ino ^ part->dev * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	const uint32_t new = (uint32_t)usage->nfiles;
	if (new == MAP64_NONE || !ARRAY_ROOM(usage->files, usage->nfiles, &usage->files_room)) {
		errno = ENOMEM;
		return -1;
	}
	for (;; ++key) {
		uint32_t i = map64_put(&usage->by_file, key, new);
		if (i == MAP64_NONE)
			return -1;
		struct file *file = &usage->files[i];
		if (i == new) {
			*file = (struct file){part->dev, part->ino, part->size, row};
			++usage->nfiles;
			return 0;
		}
		if (file->dev == part->dev && file->ino == part->ino) {
			if (by_place(&usage->rows[row], &usage->rows[file->row]) < 0)
				file->row = row;
			return 0;
		}
	}
}

int usage_take(struct usage *usage, size_t root, struct strbuf *text)
{
	int rc = 0;
	struct part part;
	for (size_t end = text->len; end > 0 && rc == 0;) {
		end -= sizeof(part);
		memcpy(&part, text->data + end, sizeof(part));
		end -= part.dir_len;
		uint32_t row = row_of(usage, root, text->data + end, part.dir_len, part.key);
		if (row == MAP64_NONE) {
			rc = -1;
		} else if (part.once) {
			rc = add_file(usage, &part, row);
		} else {
			usage->rows[row].row.size += part.size;
			usage->rows[row].row.count += part.count;
		}
	}
	strbuf_reset(text);
	return rc;
}

int usage_object(struct usage *usage, size_t root, const char *path, const struct k_statx *st)
{
	struct k_statx copy = *st;
	const char *slash = strrchr(path, '/');
	size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
	/* A root counts in its own row, also if it is a file, or the root of a mount. */
	if (strcmp(path, usage->roots[root]) == 0) {
		dir = root_len(usage, root);
		copy.attributes = 0;
	}
	usage_note(usage, &(struct search_object){
		.dir = path, .dir_len = dir, .name = path + dir,
		.st = (const struct statx *)(const void *)&copy,
	}, &usage->text);
	if (!usage->text.failed)
		return usage_take(usage, root, &usage->text);
	errno = ENOMEM;
	return -1;
}

int usage_rows(struct usage *usage, struct usage_row **rows, size_t *n)
{
	for (size_t i = 0; i < usage->nfiles; ++i) {
		struct usage_row *row = &usage->rows[usage->files[i].row].row;
		row->size += usage->files[i].size;
		++row->count;
	}
	usage->nfiles = 0;
	size_t own = usage->nrows;
	for (size_t i = 0; i < own; ++i) {
		const struct usage_row row = usage->rows[i].row;
		size_t top = root_len(usage, row.root);
		for (size_t len = usage->rows[i].len; len > top;) {
			while (row.path[--len] != '/')
				;
			uint32_t above = find_row(usage, row.root, row.path, len, row.key);
			if (above == MAP64_NONE)
				return -1;
			usage->rows[above].size += row.size;
			usage->rows[above].count += row.count;
		}
	}
	usage->result = calloc(usage->nrows + 1, sizeof(*usage->result));
	if (!usage->result)
		return -1;
	if (usage->nrows > 0)
		qsort(usage->rows, usage->nrows, sizeof(*usage->rows), by_place);
	*n = 0;
	for (size_t i = 0; i < usage->nrows; ++i) {
		const struct tally *row = &usage->rows[i];
		bool root = row->len == root_len(usage, row->row.root);
		/* All of a directory can count elsewhere. */
		if (row->row.count + row->count == 0
		    && (!root || usage->options.by != USAGE_ALL))
			continue;
		usage->result[*n] = row->row;
		usage->result[*n].size += row->size;
		usage->result[(*n)++].count += row->count;
	}
	*rows = usage->result;
	return 0;
}
