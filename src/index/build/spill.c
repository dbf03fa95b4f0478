/* SPDX-License-Identifier: MIT */
#include "index/build/spill.h"

#include "index/segment/bytes.h"

#include <assert.h>

enum {
	FIRST = IC_UID,
	COLUMNS = IC_COUNT - FIRST,
	WIDTHS = (COLUMNS + 1) / 2,   /* bytes of the widths of all columns */
};

void spill_put(struct strbuf *to, const char *name, size_t len, const struct index_row *row)
{
	const size_t begin = to->len;
	assert(len <= INDEX_NAME_MAX);
	if (!strbuf_room(to, 1 + WIDTHS + COLUMNS * sizeof(uint64_t) + len))
		return;
	uint64_t values[COLUMNS + 1];
	memcpy(values, row->col + FIRST, COLUMNS * sizeof(*values));
	values[COLUMNS] = 0;
	/* Most times are near the modification time, so their differences take few bytes. */
	const uint64_t mtime = row->col[IC_MSEC];
	values[IC_MSEC - FIRST] = zigzag(mtime - index_from_signed(0));
	values[IC_CSEC - FIRST] = zigzag(row->col[IC_CSEC] - mtime);
	values[IC_ASEC - FIRST] = zigzag(row->col[IC_ASEC] - mtime);
	values[IC_BSEC - FIRST] = zigzag(row->col[IC_BSEC] - mtime);
	unsigned char *widths = (unsigned char *)to->data + begin;
	*widths++ = (unsigned char)len;
	char *at = (char *)widths + WIDTHS;
	for (int i = 0; i < WIDTHS; ++i) {
		unsigned width = 0;
		for (int k = 0; k < 2; ++k) {
			uint64_t value = values[2 * i + k];
			unsigned n = value ? (unsigned)(71 - __builtin_clzll(value)) / 8 : 0;
			memcpy(at, &value, sizeof(value));
			at += n;
			width |= n << 4 * k;
		}
		widths[i] = (unsigned char)width;
	}
	assert(at + len < to->data + to->size);
	memcpy(at, name, len);
	at += len;
	*at = '\0';
	to->len = (size_t)(at - to->data);
}

const char *spill_get(const char **from, struct index_row *row, size_t *len)
{
	const unsigned char *widths = (const unsigned char *)*from + 1;
	const char *at = (const char *)widths + WIDTHS;
	uint64_t values[COLUMNS + 1];
	*len = (unsigned char)**from;
	for (int i = 0; i < 2 * WIDTHS; ++i) {
		unsigned n = widths[i / 2] >> 4 * (i & 1) & 15;
		uint64_t value;
		memcpy(&value, at, sizeof(value));
		values[i] = n == 8 ? value : value & (((uint64_t)1 << 8 * n) - 1);
		at += n;
	}
	memcpy(row->col + FIRST, values, COLUMNS * sizeof(*values));
	const uint64_t mtime = unzigzag(values[IC_MSEC - FIRST]) + index_from_signed(0);
	row->col[IC_MSEC] = mtime;
	row->col[IC_CSEC] = mtime + unzigzag(values[IC_CSEC - FIRST]);
	row->col[IC_ASEC] = mtime + unzigzag(values[IC_ASEC - FIRST]);
	row->col[IC_BSEC] = mtime + unzigzag(values[IC_BSEC - FIRST]);
	*from = at + *len;
	return at;
}
