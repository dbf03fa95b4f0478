/* SPDX-License-Identifier: MIT */
/**
 * Little-endian numbers in the files of an index: append numbers to a buffer, and read numbers from
 * bytes without reading past their end; signed numbers as unsigned ones.
 */
#ifndef GM_INDEX_SEGMENT_BYTES_H
#define GM_INDEX_SEGMENT_BYTES_H

#include "base/strbuf.h"

#include <assert.h>
#include <endian.h>

/** Convert a signed number to an unsigned number that is small if the absolute value is small. */
static inline uint64_t zigzag(uint64_t n)
{
	return n << 1 ^ -(n >> 63);
}

static inline uint64_t unzigzag(uint64_t n)
{
	return n >> 1 ^ -(n & 1);
}

static inline void bytes_put32(struct strbuf *out, uint32_t value)
{
	value = htole32(value);
	strbuf_add(out, (const char *)&value, sizeof(value));
}

static inline void bytes_put64(struct strbuf *out, uint64_t value)
{
	value = htole64(value);
	strbuf_add(out, (const char *)&value, sizeof(value));
}

/** Bytes that remain to be read.  Invariants: `at` is never after `end`; once `failed` is set,
    every later number is 0. */
struct bytes {
	const char *at, *end;
	bool failed;             /* a read went beyond `end`; this read and all later ones return 0
	                            or NULL */
};

/** Read n bytes.  @return the bytes; NULL: fewer than n bytes are left. */
static inline const char *bytes_take(struct bytes *in, size_t n)
{
	const char *at = in->at;
	assert(at <= in->end);
	if (in->failed || n > (size_t)(in->end - at)) {
		in->failed = true;
		return NULL;
	}
	in->at += n;
	return at;
}

static inline uint32_t bytes_get32(struct bytes *in)
{
	uint32_t value = 0;
	const char *at = bytes_take(in, sizeof(value));
	if (at)
		memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t bytes_get64(struct bytes *in)
{
	uint64_t value = 0;
	const char *at = bytes_take(in, sizeof(value));
	if (at)
		memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

#endif
