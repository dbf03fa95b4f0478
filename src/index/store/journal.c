/* SPDX-License-Identifier: MIT */
/*
 * The journal as bytes.  All numbers are little-endian; records begin at multiples of 8.
 *
 *     header       "gmindexJ" (8 bytes), version, 0 (4 bytes each), number of the file, LSN of the
 *                  last change before the journal, checksum of the header (8 bytes each)
 *     record
 *       0  4       length of the record
 *       4  2       type
 *       6  2       length of the name
 *       8  4       cluster
 *      12  4       slot
 *      16  8       LSN (log sequence number): 1 more than the LSN of the previous record
 *      24  ...     PUT, PUT_DIR: all columns of the row except IC_DIR and IC_NAME, 8 bytes each;
 *                  PUT_DIR: parent, 0 (4 bytes each), listed (8 bytes);
 *                  COMMIT: fresh, flags, looked, generation (8 bytes each)
 *       ...        the name, padded with zeros to a multiple of 8
 *       ..  8      checksum: XXH3, with the number of the journal file as its seed
 *
 * A writer appends records and a COMMIT, syncs the file, and only then appends SYNCED.  So an
 * incomplete commit after a crash can be told from damage: no SYNCED record follows it.
 */
#include "index/store/store_impl.h"

#include "index/segment/bytes.h"

#include <xxhash.h>

static const char magic[8] = "gmindexJ";

enum {
	RECORD_HEAD = 24,
	ROW_SIZE = (IC_COUNT - 2) * 8,
	FLAG_INCOMPLETE = 1,
};

/** The contents of each type of record. */
static const struct shape {
	bool row, name;
	uint16_t more;           /* bytes of further members */
} shapes[JR_END_TYPES] = {
	[JR_PUT] = {.row = true, .name = true},
	[JR_REMOVE] = {.name = true},
	[JR_PUT_DIR] = {.row = true, .name = true, .more = 16},
	[JR_REMOVE_DIR] = {0},
	[JR_COMMIT] = {.more = 32},
	[JR_SYNCED] = {0},
};

_Static_assert(RECORD_HEAD % 8 == 0 && ROW_SIZE % 8 == 0 && JOURNAL_HEAD % 8 == 0,
               "records begin at multiples of 8");
_Static_assert(INDEX_NAME_MAX <= UINT16_MAX, "the length of a name has 2 bytes");

/** The length in bytes of a record whose name has `len` bytes. */
static size_t record_size(enum journal_type type, size_t len)
{
	assert(type > 0 && type < JR_END_TYPES);
	const struct shape *shape = &shapes[type];
	return RECORD_HEAD + (shape->row ? ROW_SIZE : 0) + shape->more + (len + 7) / 8 * 8 + 8;
}

int journal_begin(struct strbuf *out, uint64_t number, uint64_t lsn)
{
	size_t start = out->len;
	strbuf_add(out, magic, sizeof(magic));
	bytes_put32(out, INDEX_FORMAT);
	bytes_put32(out, 0);
	bytes_put64(out, number);
	bytes_put64(out, lsn);
	if (out->failed)
		return fail(ENOMEM);
	bytes_put64(out, XXH3_64bits(out->data + start, out->len - start));
	return out->failed ? fail(ENOMEM) : 0;
}

int journal_append(struct strbuf *out, uint64_t number, const struct journal_record *r,
                   uint64_t lsn)
{
	size_t size = record_size(r->type, r->len), start = out->len;
	if (out->failed || !strbuf_room(out, size))
		return fail(ENOMEM);
	bytes_put32(out, (uint32_t)size);
	bytes_put32(out, (uint32_t)r->type | (uint32_t)r->len << 16);
	bytes_put32(out, r->cluster);
	bytes_put32(out, r->slot);
	bytes_put64(out, lsn);
	for (int k = IC_NAME + 1; shapes[r->type].row && k < IC_COUNT; ++k)
		bytes_put64(out, r->row.col[k]);
	if (r->type == JR_PUT_DIR) {
		bytes_put32(out, r->parent);
		bytes_put32(out, 0);
		bytes_put64(out, (uint64_t)r->listed);
	} else if (r->type == JR_COMMIT) {
		bytes_put64(out, (uint64_t)r->fresh);
		bytes_put64(out, r->incomplete ? FLAG_INCOMPLETE : 0);
		bytes_put64(out, (uint64_t)r->looked);
		bytes_put64(out, r->generation);
	}
	strbuf_add(out, r->len ? r->name : "", r->len);
	while (out->len % 8 != start % 8)
		strbuf_putc(out, '\0');
	bytes_put64(out, XXH3_64bits_withSeed(out->data + start, out->len - start, number));
	assert(!out->failed && out->len - start == size && size % 8 == 0);
	return 0;
}

bool journal_next(const char *bytes, size_t size, size_t *at, uint64_t number, uint64_t lsn,
                  struct journal_record *r)
{
	struct bytes in = {bytes + *at, bytes + size, false};
	uint32_t length = bytes_get32(&in), kind = bytes_get32(&in);
	*r = (struct journal_record){.type = kind & 0xffff, .len = kind >> 16};
	if (in.failed || r->type == 0 || r->type >= JR_END_TYPES || r->len > INDEX_NAME_MAX
	    || length != record_size(r->type, r->len) || length > size - *at)
		return false;
	const struct shape *shape = &shapes[r->type];
	r->cluster = bytes_get32(&in);
	r->slot = bytes_get32(&in);
	r->lsn = bytes_get64(&in);
	struct bytes sum = {bytes + *at + length - 8, bytes + *at + length, false};
	if (bytes_get64(&sum) != XXH3_64bits_withSeed(bytes + *at, length - 8, number))
		return false;
	r->row.col[IC_DIR] = r->slot;
	for (int k = IC_NAME + 1; shape->row && k < IC_COUNT; ++k)
		r->row.col[k] = bytes_get64(&in);
	if (r->type == JR_PUT_DIR) {
		r->parent = bytes_get32(&in);
		bytes_get32(&in);
		r->listed = (int64_t)bytes_get64(&in);
	} else if (r->type == JR_COMMIT) {
		r->fresh = (int64_t)bytes_get64(&in);
		r->incomplete = bytes_get64(&in) & FLAG_INCOMPLETE;
		r->looked = (int64_t)bytes_get64(&in);
		r->generation = bytes_get64(&in);
	}
	r->name = bytes_take(&in, r->len);
	/* Only the root of an index has an empty name. */
	bool named = r->len > 0 || (r->type == JR_PUT_DIR && r->parent == INDEX_DIR_NONE);
	if (in.failed || r->lsn != lsn || named != shape->name || r->slot >= INDEX_SLOTS
	    || !name_valid(r->name, r->len) || !index_clock_valid(r->listed)
	    || !index_clock_valid(r->fresh) || !index_clock_valid(r->looked))
		return false;
	*at += length;
	return true;
}

void journal_check(const struct strbuf *out, size_t start, uint64_t number, uint64_t lsn,
                   const struct journal_record *r)
{
#ifndef NDEBUG
	struct journal_record read;
	size_t end = start;
	assert(journal_next(out->data, out->len, &end, number, lsn, &read) && end == out->len);
	assert(read.type == r->type && read.cluster == r->cluster && read.slot == r->slot
	       && read.len == r->len && (r->type != JR_PUT_DIR || read.parent == r->parent));
#else
	(void)out, (void)start, (void)number, (void)lsn, (void)r;
#endif
}

/** Whether a valid SYNCED record with an LSN of at least `lsn` exists at or after offset `at`. */
static bool synced_later(const char *bytes, size_t size, size_t at, uint64_t number, uint64_t lsn)
{
	struct journal_record r;
	const size_t length = record_size(JR_SYNCED, 0);
	for (; at + length <= size; at += 8) {
		struct bytes in = {bytes + at + 16, bytes + size, false};
		uint64_t its = bytes_get64(&in);
		size_t next = at;
		if (its >= lsn && journal_next(bytes, size, &next, number, its, &r)
		    && r.type == JR_SYNCED)
			return true;
	}
	return false;
}

int journal_scan(const char *bytes, size_t size, uint64_t number, uint64_t first, size_t *end,
                 uint64_t *lsn)
{
	struct bytes in = {bytes, bytes + size, false};
	const char *head = bytes_take(&in, sizeof(magic));
	uint32_t version = bytes_get32(&in);
	bytes_get32(&in);
	uint64_t its = bytes_get64(&in), its_first = bytes_get64(&in);
	uint64_t sum = bytes_get64(&in);
	if (in.failed || memcmp(head, magic, sizeof(magic)) != 0
	    || sum != XXH3_64bits(bytes, JOURNAL_HEAD - 8) || its != number || its_first != first)
		return fail(EBADMSG);
	if (version != INDEX_FORMAT)
		return fail(EPROTONOSUPPORT);
	struct journal_record r;
	size_t at = JOURNAL_HEAD;
	uint64_t last = first;
	*end = at;
	*lsn = last;
	while (journal_next(bytes, size, &at, number, last + 1, &r)) {
		++last;
		if (r.type == JR_COMMIT || r.type == JR_SYNCED) {
			*end = at;
			*lsn = last;
		}
	}
	return synced_later(bytes, size, at, number, last + 1) ? fail(EBADMSG) : 0;
}
