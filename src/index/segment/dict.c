/* SPDX-License-Identifier: MIT */
/*
 * Write the names of a cluster and their filters.  Each name that a row uses is stored once, in
 * compressed blocks.  The names of directories come first, so that they fill few blocks: a reader
 * that builds paths decompresses only these blocks.
 */
#include "index/segment/segment_impl.h"

#include "base/array.h"
#include <stdlib.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 1, NONE = UINT32_MAX, OF_DIR = 1 };

/** Get the 8 bytes of a name from position `at`, as a number.  Numbers of two names compare as the
    bytes do; bytes after the end of a name count as 0. */
static uint64_t prefix_of(const struct segment_name *name, size_t at)
{
	uint64_t prefix = 0;
	size_t left = name->len > at ? name->len - at : 0;
	if (left > 0)
		memcpy(&prefix, name->text + at, left < sizeof(prefix) ? left : sizeof(prefix));
	return be64toh(prefix);
}

static inline void swap(struct dict_name *a, struct dict_name *b)
{
	struct dict_name t = *a;
	*a = *b;
	*b = t;
}

/**
 * Sort distinct names by multikey quicksort (Bentley and Sedgewick: Fast Algorithms for Sorting and
 * Searching Strings), 8 bytes at a time.  All names are equal before position `at`, and the prefix
 * of each is its 8 bytes from there.
 */
static void sort_names(struct dict_name *sorted, size_t n, size_t at,
                       const struct segment_name *names, uint32_t random)
{
	while (n > 1) {
		random = random * 1664525 + 1013904223;
		uint64_t pivot = sorted[(random >> 8) % n].prefix;
		size_t less = 0, next = 0, more = n;
		while (next < more) {
			uint64_t prefix = sorted[next].prefix;
			if (prefix < pivot)
				swap(&sorted[less++], &sorted[next++]);
			else if (prefix > pivot)
				swap(&sorted[next], &sorted[--more]);
			else
				++next;
		}
		sort_names(sorted, less, at, names, random);
		for (size_t i = less; i < more && more - less > 1; ++i)
			sorted[i].prefix = prefix_of(&names[sorted[i].name], at + sizeof(pivot));
		sort_names(sorted + less, more - less, at + sizeof(pivot), names, random);
		sorted += more;
		n -= more;
	}
}

/** Find the distinct names with a hash table and store them in dict->sorted, still unsorted.  For
    each used name, ids[i] becomes the index of the first equal name in the contents. */
static int find_distinct(struct dict *dict, const struct segment_contents *contents)
{
	size_t size = 16;
	while (size < (size_t)contents->nnames * 2)
		size *= 2;
	uint32_t *table = malloc(size * sizeof(*table));
	if (!table)
		return -1;
	memset(table, 0xff, size * sizeof(*table));
	for (uint32_t i = 0; i < contents->nnames; ++i) {
		const struct segment_name *name = &contents->names[i];
		if (dict->ids[i] == NONE)
			continue;
		if (!name_valid(name->text, name->len)) {
			free(table);
			return fail(EINVAL);
		}
		uint64_t hash = segment_hash(name->text, name->len);
		size_t at = hash & (size - 1);
		for (; table[at] != NONE; at = (at + 1) & (size - 1)) {
			const struct dict_name *other = &dict->sorted[table[at]];
			const struct segment_name *text = &contents->names[other->name];
			if (other->hash == hash && text->len == name->len
			    && memcmp(text->text, name->text, name->len) == 0)
				break;
		}
		if (table[at] == NONE) {
			table[at] = dict->n;
			dict->sorted[dict->n++] = (struct dict_name){
				.prefix = prefix_of(name, 0), .hash = hash, .name = i,
			};
		}
		dict->sorted[table[at]].dir |= dict->ids[i] == OF_DIR;
		dict->ids[i] = dict->sorted[table[at]].name;
	}
	free(table);
	return 0;
}

/** Assert the invariants of struct dict. */
static void dict_check(const struct dict *dict, const struct segment_contents *contents)
{
#ifndef NDEBUG
	assert(dict->ndirs <= dict->n && dict->n <= contents->nnames);
	for (uint32_t i = 0; i < dict->n; ++i) {
		const struct dict_name *name = &dict->sorted[i];
		assert(name->dir == (i < dict->ndirs) && dict->ids[name->name] == i);
		if (i == 0 || i == dict->ndirs)
			continue;
		const struct segment_name *b = &contents->names[name->name];
		const struct segment_name *a = &contents->names[dict->sorted[i - 1].name];
		assert(name_compare(a->text, a->len, b->text, b->len) < 0);
	}
	for (uint32_t i = 0; i < contents->nrows; ++i)
		assert(dict->ids[contents->rows[i].col[IC_NAME]] < dict->n);
#else
	(void)dict, (void)contents;
#endif
}

int dict_make(struct dict *dict, const struct segment_contents *contents)
{
	uint32_t n = contents->nnames;
	dict->n = dict->ndirs = 0;
	dict->ids = malloc(((size_t)n + 1) * sizeof(*dict->ids));
	dict->sorted = malloc(((size_t)n + 1) * sizeof(*dict->sorted));
	uint32_t *rank = malloc(((size_t)n + 1) * sizeof(*rank));
	int result = -1;
	if (!dict->ids || !dict->sorted || !rank)
		goto out;
	memset(dict->ids, 0xff, n * sizeof(*dict->ids));
	for (uint32_t i = 0; i < contents->nrows; ++i) {
		uint64_t name = contents->rows[i].col[IC_NAME];
		if (name >= n) {
			errno = EINVAL;
			goto out;
		}
		if (dict->ids[name] == NONE)
			dict->ids[name] = 0;
		if (index_row_type(&contents->rows[i]) == DT_DIR)
			dict->ids[name] = OF_DIR;
	}
	if (find_distinct(dict, contents) != 0)
		goto out;
	for (uint32_t i = 0; i < dict->n; ++i) {
		if (dict->sorted[i].dir)
			swap(&dict->sorted[i], &dict->sorted[dict->ndirs++]);
	}
	sort_names(dict->sorted, dict->ndirs, 0, contents->names, 1);
	sort_names(dict->sorted + dict->ndirs, dict->n - dict->ndirs, 0, contents->names, 1);
	for (uint32_t i = 0; i < dict->n; ++i)
		rank[dict->sorted[i].name] = i;
	for (uint32_t i = 0; i < n; ++i) {
		if (dict->ids[i] != NONE)
			dict->ids[i] = rank[dict->ids[i]];
	}
	dict_check(dict, contents);
	result = 0;
out:
	free(rank);
	return result;
}

void dict_destroy(struct dict *dict)
{
	free(dict->ids);
	free(dict->sorted);
}

static const struct segment_name *name_at(const struct dict *dict,
                                          const struct segment_contents *contents, uint32_t i)
{
	return &contents->names[dict->sorted[i].name];
}

static size_t shared_bytes(const struct segment_name *a, const struct segment_name *b)
{
	size_t n = a->len < b->len ? a->len : b->len, i = 0;
	while (i < n && a->text[i] == b->text[i])
		++i;
	return i;
}

/** Make the uncompressed data of the block of names that begins with name `from`.
    @return the number of the next block's first name. */
static uint32_t make_block(const struct dict *dict, const struct segment_contents *contents,
                           uint32_t from, struct strbuf *raw)
{
	uint32_t end = from, limit = from < dict->ndirs ? dict->ndirs : dict->n;
	for (size_t text = 0; end < limit; ++end) {
		text += name_at(dict, contents, end)->len + 1;
		if (text > BLOCK_TEXT)
			break;
	}
	/* Blocks end, and none has names of both parts. */
	assert(end > from && (from >= dict->ndirs || end <= dict->ndirs));
	strbuf_reset(raw);
	char *lengths = strbuf_extend(raw, 2 * (size_t)(end - from));
	if (!lengths)
		return end;
	for (uint32_t i = from; i < end; ++i) {
		const struct segment_name *name = name_at(dict, contents, i);
		size_t shared = i > from ? shared_bytes(name_at(dict, contents, i - 1), name) : 0;
		raw->data[i - from] = (char)shared;
		raw->data[end - from + i - from] = (char)(name->len - shared);
		strbuf_add(raw, name->text + shared, name->len - shared);
	}
	return end;
}

/** Append `raw`, compressed, to `out`.  @return the number of bytes appended; 0: out of memory. */
static size_t compress(ZSTD_CCtx *zstd, const struct strbuf *raw, struct strbuf *out)
{
	size_t room = ZSTD_compressBound(raw->len);
	char *to = strbuf_extend(out, room);
	if (!to)
		return 0;
	size_t size = ZSTD_compressCCtx(zstd, to, room, raw->data, raw->len, ZSTD_LEVEL);
	out->len -= ZSTD_isError(size) ? room : room - size;
	return ZSTD_isError(size) ? 0 : size;
}

static void add_front(struct strbuf *front, uint32_t first, size_t data, size_t text,
                      uint32_t check)
{
	char *at = strbuf_extend(front, FRONT_SIZE);
	if (!at)
		return;
	store32(at, first);
	store32(at + 4, (uint32_t)data);
	store32(at + 8, (uint32_t)text);
	store32(at + 12, check);
}

uint32_t dict_write(const struct dict *dict, const struct segment_contents *contents,
                    struct strbuf *out, struct strbuf *front)
{
	struct strbuf raw = {0}, texts = {0};
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t begin = out->len;
	uint32_t blocks = 0;
	bool failed = !zstd;
	for (uint32_t next, first = 0; !failed && first < dict->n; first = next, ++blocks) {
		next = make_block(dict, contents, first, &raw);
		const struct segment_name *name = name_at(dict, contents, first);
		size_t at = out->len, size = raw.failed ? 0 : compress(zstd, &raw, out);
		failed = size == 0;
		if (failed)
			break;
		add_front(front, first, at - begin, texts.len,
		          checksum32(out->data + at, size, blocks));
		strbuf_add(&texts, name->text, name->len);
	}
	add_front(front, dict->n, out->len - begin, texts.len, 0);
	strbuf_add(front, strbuf_str(&texts), texts.len);
	failed |= texts.failed || front->failed || out->len - begin > UINT32_MAX;
	ZSTD_freeCCtx(zstd);
	strbuf_destroy(&raw);
	strbuf_destroy(&texts);
	if (failed)
		errno = ENOMEM;
	return failed ? NONE : blocks;
}

/* Filters. */

/** The hashes of the keys of a filter: the number of keys decides the size of the filter. */
struct keys {
	uint64_t *hashes;
	size_t n;
};

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static int name_keys(const struct dict *dict, const struct segment_contents *contents,
                     struct keys *keys)
{
	(void)contents;
	keys->hashes = malloc(((size_t)dict->n + dict->ndirs + 1) * sizeof(*keys->hashes));
	if (!keys->hashes)
		return -1;
	for (uint32_t i = 0; i < dict->n; ++i)
		keys->hashes[keys->n++] = dict->sorted[i].hash;
	for (uint32_t i = 0; i < dict->ndirs; ++i)
		keys->hashes[keys->n++] = segment_dir_hash(dict->sorted[i].hash);
	return 0;
}

static int extension_keys(const struct dict *dict, const struct segment_contents *contents,
                          struct keys *keys)
{
	keys->hashes = malloc(((size_t)dict->n + 1) * sizeof(*keys->hashes));
	if (!keys->hashes)
		return -1;
	uint64_t recent[256] = {0};       /* [hash % 256]: the last hash that was added.  Most names
	                                     have one of a few extensions, so this drops most
	                                     duplicates. */
	for (uint32_t i = 0; i < dict->n; ++i) {
		const struct segment_name *name = name_at(dict, contents, i);
		size_t len;
		const char *extension = name_extension(name->text, name->len, &len);
		uint64_t hash = extension ? segment_hash(extension, len) : 0;
		if (extension && recent[hash % 256] != hash)
			keys->hashes[keys->n++] = recent[hash % 256] = hash;
	}
	qsort(keys->hashes, keys->n, sizeof(*keys->hashes), compare_hashes);
	size_t distinct = 0;
	for (size_t i = 0; i < keys->n; ++i) {
		if (i == 0 || keys->hashes[i] != keys->hashes[i - 1])
			keys->hashes[distinct++] = keys->hashes[i];
	}
	keys->n = distinct;
	return 0;
}

static int trigram_keys(const struct dict *dict, const struct segment_contents *contents,
                        struct keys *keys)
{
	uint64_t *seen = calloc((1 << 24) / 64, sizeof(*seen));
	size_t room = 0;
	if (!seen)
		return -1;
	for (uint32_t i = 0; i < dict->n; ++i) {
		const struct segment_name *name = name_at(dict, contents, i);
		/* The trigrams in the bytes shared with the previous name were added with that
		   name. */
		size_t shared = i > 0 ? shared_bytes(name_at(dict, contents, i - 1), name) : 0;
		size_t at = shared > 2 ? shared - 2 : 0, begin = at;
		for (uint32_t trigram = 0; at < name->len; ++at) {
			trigram = trigram_next(trigram, name->text[at]);
			if (at < begin + 2)
				continue;
			uint64_t bit = UINT64_C(1) << trigram % 64;
			if (seen[trigram / 64] & bit)
				continue;
			seen[trigram / 64] |= bit;
			if (!ARRAY_ROOM(keys->hashes, keys->n, &room)) {
				free(seen);
				return -1;
			}
			keys->hashes[keys->n++] = trigram_hash(trigram);
		}
	}
	free(seen);
	return 0;
}

int dict_filter(const struct dict *dict, const struct segment_contents *contents,
                enum segment_filter filter, struct strbuf *out)
{
	static int (*const collect[])(const struct dict *, const struct segment_contents *,
	                              struct keys *) = {
		[SF_NAMES] = name_keys, [SF_EXTENSIONS] = extension_keys,
		[SF_TRIGRAMS] = trigram_keys,
	};
	struct keys keys = {0};
	int result = -1;
	if (collect[filter](dict, contents, &keys) != 0)
		goto out;
	size_t size = filter_size(keys.n);
	uint8_t *blocks = (uint8_t *)strbuf_extend(out, size);
	if (!blocks)
		goto out;
	memset(blocks, 0, size);
	uint32_t nblocks = (uint32_t)(size / FILTER_BLOCK);
	assert(nblocks > 0 || keys.n == 0);
	for (size_t i = 0; i < keys.n; ++i)
		filter_add(blocks, nblocks, keys.hashes[i]);
	filter_seal(blocks, nblocks, filter);
	result = 0;
out:
	free(keys.hashes);
	return result;
}
