/* SPDX-License-Identifier: MIT */
#include "base/usage.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fail.h"
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** A row being counted. */
struct tally {
	struct usage_row row;     /* with the sum of its own objects */
	struct usage_sum below;   /* of the rows below it */
	size_t len;               /* of the path without a trailing slash */
	uint32_t next;            /* row with the same hash; or MAP64_NONE */
};

/** A file that is counted once. */
struct file {
	uint64_t dev, ino;
	struct usage_sum sum;
	uint32_t row;
};

struct usage {
	const char *const *roots;
	unsigned depth;
	struct arena paths;
	struct tally *rows;
	size_t nrows, rows_room;
	struct map64 by_hash;     /* hash -> the last of these rows */
	uint32_t last;            /* the row that was used last */
	struct file *files;
	size_t nfiles, files_room;
	struct map64 by_file;     /* hash, or the next number that is free -> index in files */
	struct usage_row *result;
};

struct usage *usage_new(const char *const roots[], unsigned depth)
{
	struct usage *usage = calloc(1, sizeof(*usage));
	if (usage) {
		usage->roots = roots;
		usage->depth = depth;
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
	free(usage->result);
	free(usage);
}

static void add_sum(struct usage_sum *to, const struct usage_sum *sum)
{
	to->size += sum->size;
	to->apparent += sum->apparent;
	to->count += sum->count;
}

/** The row of a path.  @return its index, or USAGE_NONE: ENOMEM. */
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
		return USAGE_NONE;
	}
	uint32_t new = (uint32_t)usage->nrows;
	const char *name = usage->roots[root];
	bool whole = len < strlen(name);   /* the root, as it is given */
	const char *copy = whole ? name : arena_strndup(&usage->paths, path, len);
	if (!copy || map64_set(&usage->by_hash, hash, new) == MAP64_NONE)
		return USAGE_NONE;
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

const char *usage_root(const struct usage *usage, size_t root)
{
	return usage->roots[root];
}

uint32_t usage_find(struct usage *usage, size_t root, const char *dir, size_t n, uint32_t key)
{
	size_t len = root_len(usage, root);
	for (unsigned depth = usage->depth; depth > 0 && len + 1 < n; --depth) {
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

const char *usage_path(const struct usage *usage, uint32_t row, size_t *len)
{
	*len = usage->rows[row].len;
	return usage->rows[row].row.path;
}

void usage_add(struct usage *usage, uint32_t row, const struct usage_sum *sum)
{
	add_sum(&usage->rows[row].row.sum, sum);
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

/* It is kept for the first row. */
int usage_add_once(struct usage *usage, uint32_t row, uint64_t dev, uint64_t ino,
                   const struct usage_sum *sum)
{
	uint64_t key = (ino ^ dev * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	const uint32_t new = (uint32_t)usage->nfiles;
	if (new == MAP64_NONE || !ARRAY_ROOM(usage->files, usage->nfiles, &usage->files_room))
		return fail(ENOMEM);
	for (;; ++key) {
		uint32_t i = map64_put(&usage->by_file, key, new);
		if (i == MAP64_NONE)
			return -1;
		struct file *file = &usage->files[i];
		if (i == new) {
			*file = (struct file){dev, ino, *sum, row};
			++usage->nfiles;
			return 0;
		}
		if (file->dev == dev && file->ino == ino) {
			if (by_place(&usage->rows[row], &usage->rows[file->row]) < 0)
				file->row = row;
			return 0;
		}
	}
}

int usage_rows(struct usage *usage, bool roots, struct usage_row **rows, size_t *n)
{
	for (size_t i = 0; i < usage->nfiles; ++i)
		usage_add(usage, usage->files[i].row, &usage->files[i].sum);
	usage->nfiles = 0;
	size_t own = usage->nrows;
	for (size_t i = 0; i < own; ++i) {
		const struct usage_row row = usage->rows[i].row;
		size_t top = root_len(usage, row.root);
		for (size_t len = usage->rows[i].len; len > top;) {
			while (row.path[--len] != '/')
				;
			uint32_t above = find_row(usage, row.root, row.path, len, row.key);
			if (above == USAGE_NONE)
				return -1;
			add_sum(&usage->rows[above].below, &row.sum);
		}
	}
	usage->result = calloc(usage->nrows + 1, sizeof(*usage->result));
	if (!usage->result)
		return -1;
	if (usage->nrows > 0)
		qsort(usage->rows, usage->nrows, sizeof(*usage->rows), by_place);
	*n = 0;
	for (size_t i = 0; i < usage->nrows; ++i) {
		struct tally *row = &usage->rows[i];
		bool root = row->len == root_len(usage, row->row.root);
		add_sum(&row->row.sum, &row->below);
		/* All of a directory can count elsewhere. */
		if (row->row.sum.count > 0 || (root && roots))
			usage->result[(*n)++] = row->row;
	}
	*rows = usage->result;
	return 0;
}
