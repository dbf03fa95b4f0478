/* SPDX-License-Identifier: MIT */
/**
 * The bytes of a cluster.  All numbers are little-endian; parts begin at multiples of 8.
 *
 *     header, HEADER_SIZE bytes
 *       0  8     "gmindex\n"
 *       8  4     version, SEGMENT_VERSION
 *      12  4     number of rows
 *      16  4     number of slots
 *      20  4     number of distinct names; each is used by a row
 *      24  4     number of blocks of names
 *      28  4     number of names that directories have; these names come first
 *      32  8     LSN (log sequence number): the last journaled change that the rows include
 *      40  8     size of the cluster in bytes, a multiple of 8
 *      48  24*P  of each part (enum segment_part): offset, length, checksum; 8 bytes each
 *      ..  8     checksum of the header up to here
 *
 *     filter of names, of extensions, of trigrams (no checksum in the header)
 *       blocks of 64 bytes: 480 bits of which each key sets FILTER_BITS, and a checksum of
 *       4 bytes.  So a lookup reads one cache line of the processor
 *
 *     front index: which names are in which block
 *       (blocks + 1) * 16   for each block, and for the end: number of the first name of the
 *                           block; offset of the block in the part of names; offset of the
 *                           first name in the texts that follow; checksum of the block;
 *                           4 bytes each
 *       ...                 texts of the first name of each block
 *
 *     names (no checksum in the header)
 *       blocks, each a zstd frame that contains: for each name, the number of its first bytes
 *       that are equal to those of the previous name in the block (the maximum; 0 for the
 *       first name), one byte each; for each name, the number of its remaining bytes, one byte
 *       each; then the remaining bytes of all names.  A block has up to BLOCK_TEXT bytes of
 *       names, counting a final NUL for each name.  The names of directories come first; the
 *       other names begin a new block.  Both groups are sorted by their bytes
 *
 *     ranges, one part for each column (the columns of slots come last)
 *       RANGE_SIZE bytes for each leaf:
 *       0  8     minimum
 *       8  8     maximum
 *      16  4     offset of the packed values in the part of leaves
 *      20  4     checksum of the packed values
 *      24  1     0: the packed values are differences to the minimum; 1: they are differences
 *                to predictions from the values of another column in this leaf
 *                (segment_reference(), segment_predict()), as zigzag numbers:
 *                0, -1, 1, -2 ... are stored as 0, 1, 2, 3 ...
 *      25  1     bits of a value: 0 to 57, or 64
 *      26  1     bits of an exception: 0 to 57, or 64
 *      27  1     number of exceptions: values that do not fit in the bits of a value
 *
 *     leaves: the packed values (no checksum in the header)
 *       for each column, for each of its leaves: the values, with 0 for exceptions; the positions
 *       of the exceptions in the leaf, ascending, one byte each; the exceptions.  The first value
 *       is in the lowest bits of the first byte.  The lists of values and of exceptions are
 *       padded to whole bytes.  8 bytes of 0 follow the last leaf, so that a reader may load
 *       8 bytes at any value
 *
 * Checksums are XXH3 of 64 bits; a checksum of 4 bytes is the lower half.  The seed depends on the
 * position, so that exchanged blocks are detected.  Seeds: the number of a part (0 for the header);
 * for a block of a filter, filter << 32 | block; for a block of names, its number; for packed
 * values, column << 32 | leaf.
 *
 * The slots of directories are stored like rows: each member of struct segment_slot is a column, in
 * leaves of INDEX_LEAF slots.
 */
#ifndef GM_INDEX_SEGMENT_SEGMENT_IMPL_H
#define GM_INDEX_SEGMENT_SEGMENT_IMPL_H

#include "base/fail.h"
#include "index/segment/bytes.h"
#include "index/segment/segment.h"
#include "os/map.h"

#include <assert.h>
#include <endian.h>
#include <string.h>
#include <xxhash.h>

enum segment_part {
	SP_FILTERS,                            /* one part for each of SF_NAMES, SF_EXTENSIONS,
	                                          SF_TRIGRAMS */
	SP_FRONT = SP_FILTERS + SF_TRIGRAMS + 1,
	SP_NAMES,
	SP_LEAVES,
	SP_RANGES,                             /* one part for each column */
	SC_PARENT = IC_COUNT, SC_ROW, SC_NAME, SC_LISTED,   /* columns of slots: members of struct
	                                                       segment_slot */
	SC_COUNT,
	SP_COUNT = SP_RANGES + SC_COUNT,
};

enum {
	SEGMENT_VERSION = 2,
	PARTS_AT = 48,
	HEADER_SIZE = PARTS_AT + 24 * SP_COUNT + 8,
	RANGE_SIZE = 28,
	FRONT_SIZE = 16,
	BLOCK_TEXT = 4096,           /* maximum bytes of the names of a block, each with a final
	                                NUL */
	FILTER_BLOCK = 64,
	FILTER_BLOCK_BITS = 480,
	FILTER_BITS = 6,             /* number of bits that a key sets */
	FILTER_KEY_BITS = 10,        /* bits of a filter per key */
	PACK_PADDING = 8,
	PACK_MAX = INDEX_LEAF * 8 * 2 + INDEX_LEAF,  /* maximum bytes of a packed column of a
	                                                leaf */
};

_Static_assert(HEADER_SIZE % 8 == 0, "the first part begins at a multiple of 8");
_Static_assert(INDEX_LEAF <= UINT8_MAX + 1, "the position of an exception is a byte");
_Static_assert(BLOCK_TEXT > (int)INDEX_NAME_MAX, "a block has room for at least one name");
_Static_assert(FILTER_BLOCK_BITS / 8 + 4 == FILTER_BLOCK, "bits and checksum fill a block");
_Static_assert(FILTER_BITS * 10 <= 64, "a hash has 10 bits for each bit of a key");

#define SEGMENT_MAGIC "gmindex\n"

static inline uint32_t load32(const void *at)
{
	uint32_t n;
	memcpy(&n, at, sizeof(n));
	return le32toh(n);
}

static inline uint64_t load64(const void *at)
{
	uint64_t n;
	memcpy(&n, at, sizeof(n));
	return le64toh(n);
}

static inline void store32(void *at, uint32_t n)
{
	n = htole32(n);
	memcpy(at, &n, sizeof(n));
}

static inline void store64(void *at, uint64_t n)
{
	n = htole64(n);
	memcpy(at, &n, sizeof(n));
}

/** Make a checksum of 4 bytes. */
static inline uint32_t checksum32(const void *data, size_t size, uint64_t seed)
{
	return (uint32_t)XXH3_64bits_withSeed(data, size, seed);
}

/* Packed numbers (pack.c). */

/** Whether values can be stored in as many bits: 8 bytes at the byte of a value contain it. */
static inline bool pack_bits_valid(unsigned bits)
{
	return bits <= 57 || bits == 64;
}

/** Pack n values, n <= INDEX_LEAF, into `bits` bits each.
    @bits  0 to 57, or 64.
    @return the number of bytes of the packed values; up to PACK_PADDING bytes after them may be
    overwritten. */
size_t pack(uint8_t *out, const uint64_t *values, unsigned n, unsigned bits);

/** Unpack n values of `bits` bits each.  PACK_PADDING bytes after the packed values must be
    readable. */
void unpack(const uint8_t *in, uint64_t *values, unsigned n, unsigned bits);

/** The number of bytes of n packed values. */
static inline size_t pack_size(unsigned n, unsigned bits)
{
	return ((size_t)n * bits + 7) / 8;
}

/** Unpack value i. */
static inline uint64_t unpack_one(const uint8_t *in, unsigned i, unsigned bits)
{
	assert(i < INDEX_LEAF && pack_bits_valid(bits));
	if (bits == 0)
		return 0;
	size_t at = (size_t)i * bits;
	return load64(in + at / 8) >> at % 8 & UINT64_MAX >> (64 - bits);
}

/** The smallest width, of 0 to 57 or 64 bits, that holds a value. */
static inline unsigned pack_bits(uint64_t value)
{
	unsigned bits = value ? 64 - (unsigned)__builtin_clzll(value) : 0;
	return pack_bits_valid(bits) ? bits : 64;
}

/* Columns (columns.c). */

/** Get the reference column of a column, whose values may be stored as differences to those of the
    reference column.  Reference columns come before the columns that refer to them.
    @return the column itself, if it has no reference column. */
unsigned segment_reference(unsigned column);

/** Predict the value of a column from the value of its reference column.  The prediction of the
    blocks of 512 bytes from the size is right for file systems that allocate blocks of 4 KiB,
    without holes and compression. */
static inline uint64_t segment_predict(unsigned column, uint64_t reference)
{
	if (column != IC_BLOCKS)
		return reference;
	return (reference >> 12 << 3) + (reference & 4095 ? 8 : 0);
}

/* Filters (filter.c). */

/** The size in bytes of a filter for a number of keys. */
static inline size_t filter_size(size_t keys)
{
	return (keys * FILTER_KEY_BITS + FILTER_BLOCK_BITS - 1) / FILTER_BLOCK_BITS * FILTER_BLOCK;
}

/** Add a key, given by its hash, to a filter. */
void filter_add(uint8_t *blocks, uint32_t nblocks, uint64_t hash);

/** Write the checksum of each block of a filter. */
void filter_seal(uint8_t *blocks, uint32_t nblocks, enum segment_filter filter);

/** Whether the checksum of a block of a filter is right. */
bool filter_block_valid(const uint8_t *blocks, uint32_t block, enum segment_filter filter);


/** Get the next trigram from the previous trigram and the next byte, as a number below 1 << 24; get
    the hash of a trigram. */
static inline uint32_t trigram_next(uint32_t trigram, char next)
{
	uint8_t c = (uint8_t)next;
	return (trigram << 8 | (c >= 'A' && c <= 'Z' ? c | 0x20u : c)) & 0xffffff;
}

static inline uint64_t trigram_hash(uint32_t trigram)
{
	char text[3] = {(char)(trigram >> 16), (char)(trigram >> 8), (char)trigram};
	return segment_hash(text, sizeof(text));
}

/* Names (names.c, dict.c). */

/** Compare two names by their bytes; a name that begins with the other name comes after it. */
static inline int name_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/** The names of a cluster that is written: the distinct names that rows use, sorted, the names of
    directories first.  Invariants after dict_make(): each of the two parts of `sorted` is in
    ascending order, without duplicates; `sorted` contains each name that a row has, and `ids` is
    its position there. */
struct dict {
	uint32_t *ids;                   /* ids[i]: the number in the cluster of the i-th name of
	                                    the contents */
	struct dict_name {
		uint64_t prefix;             /* 8 bytes of the name, as a number, for comparisons */
		uint64_t hash;
		uint32_t name;               /* index in the names of the contents */
		bool dir;
	} *sorted;
	uint32_t n, ndirs;
};

/** Collect and sort the names.  @return 0, or -1 (EINVAL, ENOMEM).  Call dict_destroy() also after
    an error. */
int dict_make(struct dict *dict, const struct segment_contents *contents);
void dict_destroy(struct dict *dict);

/** Append the part of names to `out`, and the front index of these names to `front`.
    @return the number of blocks, or UINT32_MAX (ENOMEM). */
uint32_t dict_write(const struct dict *dict, const struct segment_contents *contents,
                    struct strbuf *out, struct strbuf *front);

/** Append a filter with the keys of all names.  @return 0, or -1 (ENOMEM). */
int dict_filter(const struct dict *dict, const struct segment_contents *contents,
                enum segment_filter filter, struct strbuf *out);

/* Order of rows (order.c). */

/** Sort rows in the order of a K-D tree.
    @order [out]  order[position] = index of the row in the contents. */
int segment_order(const struct segment_contents *contents, uint32_t *order);

/* A segment opened for reading. */

struct part {
	const uint8_t *data;
	size_t len;
	uint64_t check;
	bool verified;
};

struct names_block;

/** Invariants, which segment_open() establishes: each part is inside the data, with the length that
    the counts require; there are at most INDEX_SLOTS slots, and no more names than rows; with rows
    there are slots and names.  Values inside the parts are not trusted: each is checked when it is
    read. */
struct segment {
	const uint8_t *data;
	const atomic_bool *lost;         /* flag of the map that has the data; NULL: the data is not
	                                    in a map */
	uint32_t nrows, nslots, nnames, ndirnames, nblocks;
	uint64_t lsn;
	struct part parts[SP_COUNT];
	struct names_block **blocks;     /* [block]: decoded names; NULL: not yet decoded */
	uint32_t *verified;              /* [leaf]: columns whose checksums were verified, a bit for
	                                    each */
	struct segment_slot *slots;      /* decoded slots; NULL: none yet */
	uint32_t slots_decoded;          /* leaves of slots that were decoded, a bit for each */
};

/** Check that no page of the map was lost.  Call this after each read of the map, before you use
    the values.  @return 0, or -1 (EBADMSG). */
static inline int segment_intact(const struct segment *segment)
{
	return segment->lost && os_map_lost(segment->lost) ? fail(EBADMSG) : 0;
}

/** Verify the checksum of a part when it is first used.  @return 0, or -1 (EBADMSG). */
int segment_verify(struct segment *segment, unsigned part);

/** The number of rows or slots in a leaf of a column; 0: there is no such leaf. */
uint32_t segment_leaf_values(const struct segment *segment, uint32_t leaf, unsigned column);

/** Do what segment_leaf_column() does, also for the columns of slots. */
int segment_decode(struct segment *segment, uint32_t leaf, unsigned column, uint64_t *values);

/** Do what segment_leaf_range() does, also for the columns of slots. */
int segment_range(struct segment *segment, uint32_t leaf, unsigned column, uint64_t *min,
                  uint64_t *max);

/** Decode all blocks of names, and check that the names of consecutive blocks are in order.
    @return 0, or -1 (EBADMSG, ENOMEM). */
int segment_check_names(struct segment *segment);

/** Free the decoded names. */
void segment_trim_names(struct segment *segment);

#endif
