/* SPDX-License-Identifier: MIT */
/*
 * Write a cluster: names, filters, ordered rows, columns, header.
 */
#include "index/segment/segment_impl.h"

#include <stdlib.h>

struct writer {
	struct segment_contents *contents;
	struct strbuf *out;
	size_t begin;                     /* offset of the cluster in `out` */
	struct dict dict;
	struct strbuf ranges[SC_COUNT];
	size_t leaves;                    /* offset of the part of leaves in `out` */
	uint64_t *values, *reference;     /* values of a column and of its reference column */
};

/* Columns. */

/** The layout of packed numbers.  Numbers that fit in `bits` bits are packed with this width; the
    others are stored as exceptions. */
struct layout {
	unsigned bits, exception_bits, exceptions, size;
};

static struct layout choose_layout(const uint64_t *values, unsigned n)
{
	unsigned count[65] = {0}, most = 0;
	for (unsigned i = 0; i < n; ++i)
		++count[pack_bits(values[i])];
	for (unsigned bits = 0; bits <= 64; ++bits) {
		if (count[bits] > 0)
			most = bits;
	}
	struct layout best = {.bits = most, .size = (unsigned)pack_size(n, most)};
	unsigned above = 0;
	for (unsigned bits = most; bits-- > 0;) {
		above += count[bits + 1];
		unsigned size = (unsigned)(pack_size(n, bits) + above + pack_size(above, most));
		if (size < best.size && bits <= 57 && above <= UINT8_MAX)
			best = (struct layout){bits, most, above, size};
	}
	return best;
}

/** Append the packed values of a leaf.  @return whether there was enough memory. */
static bool put_values(struct strbuf *out, const uint64_t *values, unsigned n, struct layout how)
{
	uint64_t usual[INDEX_LEAF], exceptions[INDEX_LEAF];
	uint8_t bytes[PACK_MAX + PACK_PADDING], positions[INDEX_LEAF];
	unsigned found = 0;
	for (unsigned i = 0; i < n; ++i) {
		bool fits = how.bits == 64 || values[i] >> how.bits == 0;
		usual[i] = fits ? values[i] : 0;
		if (fits)
			continue;
		positions[found] = (uint8_t)i;
		exceptions[found++] = values[i];
	}
	assert(found == how.exceptions);
	size_t size = pack(bytes, usual, n, how.bits);
	memcpy(bytes + size, positions, found);
	size += found;
	size += pack(bytes + size, exceptions, found, how.exception_bits);
	assert(size == how.size && size <= PACK_MAX);
	strbuf_add(out, (const char *)bytes, size);
	return !out->failed;
}

/** Append a column of a leaf.
    @first  The number of the first row or slot of the leaf.
    @n  The number of rows or slots in the leaf. */
static int put_column(struct writer *w, uint32_t first, unsigned n, unsigned column)
{
	const uint32_t leaf = first / INDEX_LEAF;
	const uint64_t *values = w->values + first, *reference = w->reference + first;
	assert(first % INDEX_LEAF == 0 && n > 0 && n <= INDEX_LEAF);
	uint64_t min = values[0], max = values[0], plain[INDEX_LEAF] = {0}, refer[INDEX_LEAF] = {0};
	for (unsigned i = 1; i < n; ++i) {
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
	}
	for (unsigned i = 0; i < n; ++i)
		plain[i] = values[i] - min;
	struct layout how = choose_layout(plain, n);
	bool refers = false;
	if (segment_reference(column) != column && how.size > 0) {
		for (unsigned i = 0; i < n; ++i)
			refer[i] = zigzag(values[i] - segment_predict(column, reference[i]));
		struct layout other = choose_layout(refer, n);
		refers = other.size < how.size;
		how = refers ? other : how;
	}
	size_t at = w->out->len;
	if (at - w->leaves > UINT32_MAX)
		return fail(EFBIG);
	if (!put_values(w->out, refers ? refer : plain, n, how))
		return -1;
	uint8_t *range = (uint8_t *)strbuf_extend(&w->ranges[column], RANGE_SIZE);
	if (!range)
		return -1;
	store64(range, min);
	store64(range + 8, max);
	store32(range + 16, (uint32_t)(at - w->leaves));
	store32(range + 20, checksum32(strbuf_str(w->out) + at, w->out->len - at,
	                               (uint64_t)column << 32 | leaf));
	range[24] = refers;
	range[25] = (uint8_t)how.bits;
	range[26] = (uint8_t)how.exception_bits;
	range[27] = (uint8_t)how.exceptions;
	return 0;
}

/** Collect the values of a column from the rows in their order, or from the slots.
    @return the number of values. */
static uint32_t collect(const struct writer *w, const uint32_t *order, unsigned column,
                        uint64_t *values)
{
	const struct segment_contents *c = w->contents;
	for (uint32_t i = 0; column < IC_COUNT && i < c->nrows; ++i)
		values[i] = c->rows[order[i]].col[column];
	for (uint32_t i = 0; column == IC_NAME && i < c->nrows; ++i)
		values[i] = w->dict.ids[values[i]];
	for (uint32_t i = 0; column >= IC_COUNT && i < c->nslots; ++i) {
		const struct segment_slot *slot = &c->slots[i];
		values[i] = column == SC_PARENT ? slot->parent : column == SC_ROW ? slot->row
		            : column == SC_NAME ? slot->name : index_from_signed(slot->listed);
	}
	return column < IC_COUNT ? c->nrows : c->nslots;
}

/** Append all leaves of a column.  The leaves of one column are adjacent, so that a query that
    decodes few columns reads few pages. */
static int put_leaves(struct writer *w, const uint32_t *order, unsigned column)
{
	uint32_t all = collect(w, order, column, w->values);
	if (segment_reference(column) != column)
		collect(w, order, segment_reference(column), w->reference);
	for (uint32_t first = 0; first < all; first += INDEX_LEAF) {
		unsigned n = all - first < INDEX_LEAF ? all - first : INDEX_LEAF;
		if (put_column(w, first, n, column) != 0)
			return -1;
	}
	return 0;
}

/** Set the row and name of each slot, and check that the directory of each row has a row. */
static int place_slots(struct segment_contents *c, const struct dict *dict, const uint32_t *order)
{
	for (uint32_t i = 0; i < c->nslots; ++i) {
		c->slots[i].row = UINT32_MAX;
		c->slots[i].name = 0;
	}
	for (uint32_t i = 0; i < c->nrows; ++i) {
		const struct index_row *row = &c->rows[order[i]];
		if (row->col[IC_DIR] >= c->nslots)
			return fail(EINVAL);
		struct segment_slot *slot = &c->slots[row->col[IC_DIR]];
		if (index_row_type(row) != DT_DIR)
			continue;
		if (slot->row != UINT32_MAX)
			return fail(EINVAL);
		slot->row = i;
		slot->name = dict->ids[row->col[IC_NAME]];
	}
	for (uint32_t i = 0; i < c->nrows; ++i) {
		if (c->slots[c->rows[i].col[IC_DIR]].row == UINT32_MAX)
			return fail(EINVAL);
	}
	return 0;
}

/* The whole cluster. */

/** The position in the header of the offset, length and checksum of a part. */
static char *part_at(const struct writer *w, unsigned part)
{
	return w->out->data + w->begin + PARTS_AT + (size_t)24 * part;
}

/** Append zeros up to a multiple of 8, then begin a part. */
static void begin_part(struct writer *w, unsigned part)
{
	size_t at = w->out->len - w->begin;
	strbuf_add(w->out, "\0\0\0\0\0\0\0", -at % 8);
	if (!w->out->failed)
		store64(part_at(w, part), w->out->len - w->begin);
}

/** End the part that was begun.
    @whole  Whether the header has a checksum of the whole part. */
static void end_part(struct writer *w, unsigned part, bool whole)
{
	if (w->out->failed)
		return;
	char *at = part_at(w, part);
	size_t offset = w->begin + load64(at), len = w->out->len - offset;
	/* It was begun, and it is after the header. */
	assert(load64(at) >= HEADER_SIZE && load64(at) % 8 == 0 && offset <= w->out->len);
	store64(at + 8, len);
	store64(at + 16, whole ? XXH3_64bits_withSeed(w->out->data + offset, len, part) : 0);
}

static void put_part(struct writer *w, unsigned part, const struct strbuf *bytes)
{
	w->out->failed |= bytes->failed;
	begin_part(w, part);
	strbuf_add(w->out, strbuf_str(bytes), bytes->len);
	end_part(w, part, true);
}

static int put_names(struct writer *w, uint32_t *blocks)
{
	struct strbuf front = {0};
	for (unsigned filter = 0; filter <= SF_TRIGRAMS; ++filter) {
		begin_part(w, SP_FILTERS + filter);
		if (dict_filter(&w->dict, w->contents, filter, w->out) != 0)
			return -1;
		end_part(w, SP_FILTERS + filter, false);
	}
	begin_part(w, SP_NAMES);
	*blocks = dict_write(&w->dict, w->contents, w->out, &front);
	end_part(w, SP_NAMES, false);
	put_part(w, SP_FRONT, &front);
	strbuf_destroy(&front);
	return *blocks == UINT32_MAX ? -1 : 0;
}

static int put_columns(struct writer *w, const uint32_t *order)
{
	begin_part(w, SP_LEAVES);
	w->leaves = w->out->len;
	size_t most = w->contents->nrows > w->contents->nslots ? w->contents->nrows
	              : w->contents->nslots;
	w->values = malloc((most + 1) * sizeof(*w->values));
	w->reference = malloc((most + 1) * sizeof(*w->reference));
	if (!w->values || !w->reference)
		return -1;
	for (unsigned column = 0; column < SC_COUNT; ++column) {
		if (put_leaves(w, order, column) != 0)
			return -1;
	}
	strbuf_add(w->out, "\0\0\0\0\0\0\0", PACK_PADDING);
	end_part(w, SP_LEAVES, false);
	for (unsigned column = 0; column < SC_COUNT; ++column)
		put_part(w, SP_RANGES + column, &w->ranges[column]);
	strbuf_add(w->out, "\0\0\0\0\0\0\0", -(w->out->len - w->begin) % 8);
	return 0;
}

static void put_header(struct writer *w, uint32_t blocks)
{
	const struct segment_contents *c = w->contents;
	char *header = w->out->data + w->begin;
	assert((w->out->len - w->begin) % 8 == 0);
	memcpy(header, SEGMENT_MAGIC, 8);
	store32(header + 8, SEGMENT_VERSION);
	store32(header + 12, c->nrows);
	store32(header + 16, c->nslots);
	store32(header + 20, w->dict.n);
	store32(header + 24, blocks);
	store32(header + 28, w->dict.ndirs);
	store64(header + 32, c->lsn);
	store64(header + 40, w->out->len - w->begin);
	store64(header + HEADER_SIZE - 8, XXH3_64bits(header, HEADER_SIZE - 8));
}

static void summarize(const struct writer *w, struct segment_summary *summary)
{
	const struct segment_contents *c = w->contents;
	memset(summary, 0, sizeof(*summary));
	summary->nrows = c->nrows;
	for (uint32_t i = 0; i < c->nslots; ++i)
		summary->ndirs += c->slots[i].row != UINT32_MAX;
	for (unsigned column = IC_FIRST_ZONE; column < IC_END_ZONE; ++column) {
		const struct strbuf *ranges = &w->ranges[column];
		summary->min[column] = UINT64_MAX;
		for (size_t at = 0; at < ranges->len; at += RANGE_SIZE) {
			const char *range = ranges->data + at;
			uint64_t min = load64(range), max = load64(range + 8);
			if (min < summary->min[column])
				summary->min[column] = min;
			if (max > summary->max[column])
				summary->max[column] = max;
		}
	}
}

int segment_write(struct segment_contents *contents, struct strbuf *out,
                  struct segment_summary *summary)
{
	size_t begin = out->len;
	assert(begin % 8 == 0);
	struct writer *w = calloc(1, sizeof(*w));
	uint32_t *order = malloc(((size_t)contents->nrows + 1) * sizeof(*order)), blocks = 0;
	char *header = strbuf_extend(out, HEADER_SIZE);
	int result = -1;
	if (!w || !order || !header)
		goto out;
	memset(header, 0, HEADER_SIZE);
	w->contents = contents;
	w->out = out;
	w->begin = begin;
	if (contents->nslots > INDEX_SLOTS) {
		errno = EINVAL;
		goto out;
	}
	if (dict_make(&w->dict, contents) != 0 || segment_order(contents, order) != 0
	    || place_slots(contents, &w->dict, order) != 0 || put_names(w, &blocks) != 0
	    || put_columns(w, order) != 0)
		goto out;
	if (out->failed) {
		errno = ENOMEM;
		goto out;
	}
	put_header(w, blocks);
	summarize(w, summary);
	result = 0;
out:
	if (result != 0)
		out->len = begin;
	for (unsigned i = 0; w && i < SC_COUNT; ++i)
		strbuf_destroy(&w->ranges[i]);
	if (w) {
		dict_destroy(&w->dict);
		free(w->values);
		free(w->reference);
	}
	free(w);
	free(order);
	return result;
}
