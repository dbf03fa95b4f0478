/* SPDX-License-Identifier: MIT */
/**
 * The bytes of a cluster.  All numbers are little-endian; parts begin at multiples of 8.
 *
 *     header, HEADER_SIZE bytes
 *       0  8     "gmindex\n"
 *       8  4     version, SEGMENT_VERSION
 *      12  4     number of rows
 *      16  4     number of slots
 *      20  4     number of names, of which each is that of a row
 *      24  4     number of blocks of names
 *      28  4     number of names that directories have, which come first
 *      32  8     LSN
 *      40  8     bytes of the cluster, a multiple of 8
 *      48  24*P  of each part (enum segment_part): offset, length, checksum; 8 bytes each
 *      ..  8     checksum of the header up to here
 *
 *     filter of names, of extensions, of trigrams (no checksum in the header)
 *       blocks of 64 bytes: 480 bits of which each key sets FILTER_BITS, and a checksum of
 *       4 bytes.  So a test reads one line of the processor's cache
 *
 *     front index: where names are
 *       (blocks + 1) * 16   of each block, and of the end: number of its first name; offset of
 *                           its data in the part of names; offset of its first name in the
 *                           texts below; checksum of its data; 4 bytes each
 *       ...                 texts of the first names
 *
 *     names (no checksum in the header)
 *       blocks, each a zstd frame of: of each name, the number of bytes at its beginning that
 *       are those of the name before in the block, as many as there are, one byte each; of each
 *       name, the number of other bytes; then these bytes.  A block has up to BLOCK_TEXT bytes
 *       of names, when each has a final NUL.  Names are sorted as bytes: first those that a
 *       directory has, then the others, which begin a new block
 *
 *     ranges of a column, one part for each (those of slots come last)
 *       of each leaf RANGE_SIZE bytes:
 *       0  8     minimum
 *       8  8     maximum
 *      16  4     offset of the packed values in the part of leaves
 *      20  4     their checksum
 *      24  1     0: the values are differences to the minimum; 1: to another column's values in
 *                the same leaf (segment_reference(), segment_predict()), as zigzag numbers:
 *                0, -1, 1, -2 ... are 0, 1, 2, 3 ...
 *      25  1     bits of a value: 0 to 57, or 64
 *      26  1     bits of an exception, as well
 *      27  1     number of exceptions: values that need more bits than the others
 *
 *     leaves: the packed values (no checksum in the header)
 *       column by column, leaf by leaf: the values, with 0 for exceptions; the positions of
 *       exceptions in the leaf, ascending, a byte each; the exceptions.  The first value is in
 *       the lowest bits of the first byte.  Both lists end at a byte.  8 bytes of 0 follow the
 *       last leaf, so that a reader may load 8 bytes at any value
 *
 * Checksums are XXH3 (64 bits; of 4 bytes the lower half).  The seed of a block's checksum is its
 * number, so that blocks cannot change places: of filters filter << 32 | block; of names the
 * block; of packed values column << 32 | leaf.
 *
 * The slots of directories are stored in the same way: their rows (struct segment_slot) are
 * columns, in leaves of INDEX_LEAF slots.
 */
#ifndef GM_INDEX_SEGMENT_SEGMENT_IMPL_H
#define GM_INDEX_SEGMENT_SEGMENT_IMPL_H

#include "base/fail.h"
#include "index/segment/segment.h"
#include "os/map.h"

#include <endian.h>
#include <string.h>
#include <xxhash.h>

enum segment_part {
	SP_FILTERS,                            /* SF_NAMES, SF_EXTENSIONS, SF_TRIGRAMS */
	SP_FRONT = SP_FILTERS + SF_TRIGRAMS + 1,
	SP_NAMES,
	SP_LEAVES,
	SP_RANGES,                             /* of each column */
	SC_PARENT = IC_COUNT, SC_ROW, SC_NAME, SC_LISTED,   /* columns of slots */
	SC_COUNT,
	SP_COUNT = SP_RANGES + SC_COUNT,
};

enum {
	SEGMENT_VERSION = 2,
	PARTS_AT = 48,
	HEADER_SIZE = PARTS_AT + 24 * SP_COUNT + 8,
	RANGE_SIZE = 28,
	FRONT_SIZE = 16,
	BLOCK_TEXT = 4096,           /* bytes of the names of a block, each with a final NUL */
	FILTER_BLOCK = 64,
	FILTER_BLOCK_BITS = 480,
	FILTER_BITS = 6,             /* that a key sets */
	FILTER_KEY_BITS = 10,        /* of a filter, for each key */
	PACK_PADDING = 8,
	PACK_MAX = INDEX_LEAF * 8 * 2 + INDEX_LEAF,  /* bytes of a packed column, at most */
};

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

/** A checksum of 4 bytes. */
static inline uint32_t checksum32(const void *data, size_t size, uint64_t seed)
{
	return (uint32_t)XXH3_64bits_withSeed(data, size, seed);
}

/* Packed numbers (segment_pack.c). */

/** Pack n values, n <= INDEX_LEAF, in as many bits each.  @bits  0 to 57, or 64.
    @return the number of bytes written; up to PACK_PADDING more may be. */
size_t pack(uint8_t *out, const uint64_t *values, unsigned n, unsigned bits);

/** Unpack n values.  PACK_PADDING bytes after the packed ones are readable. */
void unpack(const uint8_t *in, uint64_t *values, unsigned n, unsigned bits);

/** The number of bytes of n packed values. */
static inline size_t pack_size(unsigned n, unsigned bits)
{
	return ((size_t)n * bits + 7) / 8;
}

/** One of them. */
static inline uint64_t unpack_one(const uint8_t *in, unsigned i, unsigned bits)
{
	if (bits == 0)
		return 0;
	size_t at = (size_t)i * bits;
	return load64(in + at / 8) >> at % 8 & UINT64_MAX >> (64 - bits);
}

/** The number of bits to store a value in: 0 to 57, or 64. */
static inline unsigned pack_bits(uint64_t value)
{
	unsigned bits = value ? 64 - (unsigned)__builtin_clzll(value) : 0;
	return bits <= 57 ? bits : 64;
}

/** Signed numbers as unsigned ones, small ones remaining small. */
static inline uint64_t zigzag(uint64_t n)
{
	return n << 1 ^ -(n >> 63);
}

static inline uint64_t unzigzag(uint64_t n)
{
	return n >> 1 ^ -(n & 1);
}

/* Columns (segment_columns.c). */

/** The column whose values another one's may be differences to; the same if there is none.  A
    reference comes before the columns that refer to it. */
unsigned segment_reference(unsigned column);

/** What the values of a reference say of those of a column: file systems without holes and
    compression allocate blocks of 4 KiB. */
static inline uint64_t segment_predict(unsigned column, uint64_t reference)
{
	if (column != IC_BLOCKS)
		return reference;
	return (reference >> 12 << 3) + (reference & 4095 ? 8 : 0);
}

/* Filters (segment_filter.c). */

/** The bytes of a filter for so many keys. */
static inline size_t filter_size(size_t keys)
{
	return (keys * FILTER_KEY_BITS + FILTER_BLOCK_BITS - 1) / FILTER_BLOCK_BITS * FILTER_BLOCK;
}

/** Add a key to a filter. */
void filter_add(uint8_t *blocks, uint32_t nblocks, uint64_t hash);

/** Write the checksums of a filter's blocks. */
void filter_seal(uint8_t *blocks, uint32_t nblocks, enum segment_filter filter);

/** Whether a block is as it was written. */
bool filter_block_valid(const uint8_t *blocks, uint32_t block, enum segment_filter filter);

/** The extension of a name, or NULL. */
const char *name_extension(const char *name, size_t len, size_t *ext_len);

/** A trigram, as a number below 1 << 24, from the one before and the next byte; and its hash. */
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

/* Names (segment_names.c, segment_dict.c). */

/** Names compared as bytes. */
static inline int name_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/** A dictionary to be written: names that rows use, sorted, first those of directories. */
struct dict {
	uint32_t *ids;                   /* of each name of the contents: its number */
	struct dict_name {
		uint64_t prefix;             /* its first bytes, to compare */
		uint64_t hash;
		uint32_t name;               /* in the contents */
		bool dir;
	} *sorted;
	uint32_t n, ndirs;
};

/** Make a dictionary.  @return 0, or -1 (EINVAL, ENOMEM); dict_destroy() is due in any case. */
int dict_make(struct dict *dict, const struct segment_contents *contents);
void dict_destroy(struct dict *dict);

/** Append a part of names, and make its front index.
    @return the number of blocks, or UINT32_MAX (ENOMEM). */
uint32_t dict_write(const struct dict *dict, const struct segment_contents *contents,
                    struct strbuf *out, struct strbuf *front);

/** Append a filter.  @return 0, or -1 (ENOMEM). */
int dict_filter(const struct dict *dict, const struct segment_contents *contents,
                enum segment_filter filter, struct strbuf *out);

/* Order of rows (segment_order.c). */

/** Put rows into the order of a K-D tree.  @order [out]  Of each position the row. */
int segment_order(const struct segment_contents *contents, uint32_t *order);

/* A segment that is read. */

struct part {
	const uint8_t *data;
	size_t len;
	uint64_t check;
	bool verified;
};

struct names_block;

struct segment {
	const uint8_t *data;
	const atomic_bool *lost;         /* of the map that has the data; NULL: not in a map */
	uint32_t nrows, nslots, nnames, ndirnames, nblocks;
	uint64_t lsn;
	struct part parts[SP_COUNT];
	struct names_block **blocks;     /* of names, decoded; NULL before the first */
	uint32_t *verified;              /* of each leaf: columns whose checksums are right */
	struct segment_slot *slots;      /* decoded; NULL before the first */
	uint32_t slots_decoded;          /* leaves of slots: 1 << leaf */
};

/** Check that the map was not lost.  Call this after each read of the map, before you use the
    values.  @return 0, or -1 (EBADMSG). */
static inline int segment_intact(const struct segment *segment)
{
	return segment->lost && os_map_lost(segment->lost) ? fail(EBADMSG) : 0;
}

/** Verify the checksum of a part when it is first used.  @return 0, or -1 (EBADMSG). */
int segment_verify(struct segment *segment, unsigned part);

/** The number of rows or slots in a leaf of a column; 0: there is no such leaf. */
uint32_t segment_leaf_values(const struct segment *segment, uint32_t leaf, unsigned column);

/** As segment_leaf_column(), also for the columns of slots. */
int segment_decode(struct segment *segment, uint32_t leaf, unsigned column, uint64_t *values);

/** As segment_leaf_range(). */
int segment_range(struct segment *segment, uint32_t leaf, unsigned column, uint64_t *min,
                  uint64_t *max);

/** Decode all blocks of names and compare their limits.  @return 0, or -1. */
int segment_check_names(struct segment *segment);

/** Free the decoded names. */
void segment_trim_names(struct segment *segment);

#endif
