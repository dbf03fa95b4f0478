/* SPDX-License-Identifier: MIT */
/*
 * Pack numbers of equal width into bits, one after the other.  Eight numbers of any width end at a
 * byte boundary.  So for a constant width, the byte positions and shifts of eight numbers are
 * constants, too: the compiler makes a specialized loop for each width.
 */
#include "index/segment/segment_impl.h"

size_t pack(uint8_t *out, const uint64_t *values, unsigned n, unsigned bits)
{
	assert(n <= INDEX_LEAF && pack_bits_valid(bits));
	if (bits == 0)
		return 0;
	uint64_t word = 0;
	unsigned used = 0;
	uint8_t *at = out;
	for (unsigned i = 0; i < n; ++i) {
		assert(bits == 64 || values[i] >> bits == 0);
		word |= values[i] << used;
		unsigned end = used + bits;
		if (end >= 64) {
			store64(at, word);
			at += 8;
			word = used ? values[i] >> (64 - used) : 0;
			end -= 64;
		}
		used = end;
	}
	store64(at, word);
	return pack_size(n, bits);
}

__attribute__((always_inline))
static inline void unpack_width(const uint8_t *in, uint64_t *values, unsigned n, unsigned bits)
{
	const uint64_t mask = UINT64_MAX >> (64 - bits);
	unsigned i = 0;
	for (; i + 8 <= n; i += 8, in += bits) {
		for (unsigned j = 0; j < 8; ++j)
			values[i + j] = load64(in + j * bits / 8) >> j * bits % 8 & mask;
	}
	for (unsigned j = 0; i < n; ++i, ++j)
		values[i] = load64(in + j * bits / 8) >> j * bits % 8 & mask;
}

void unpack(const uint8_t *in, uint64_t *values, unsigned n, unsigned bits)
{
	assert(n <= INDEX_LEAF && pack_bits_valid(bits));
	switch (bits) {
	case 0:
		memset(values, 0, n * sizeof(*values));
		break;
#define WIDTH(w) case w: unpack_width(in, values, n, w); break;
#define WIDTHS(w) WIDTH(w) WIDTH(w + 1) WIDTH(w + 2) WIDTH(w + 3) WIDTH(w + 4) WIDTH(w + 5) \
	WIDTH(w + 6) WIDTH(w + 7)
	WIDTHS(1) WIDTHS(9) WIDTHS(17) WIDTHS(25) WIDTHS(33) WIDTHS(41) WIDTHS(49)
	WIDTH(57) WIDTH(64)
#undef WIDTHS
#undef WIDTH
	}
}
