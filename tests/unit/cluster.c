/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "cluster.h"

static uint64_t seed = 88172645463325252u;

uint64_t chance(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 16) % n;
}

static void fill_name(char *name, uint32_t *len, enum shape shape, uint32_t i)
{
	static const char *const words[] = {"lib", "test", "data", "main", "README", "x86", "conf"};
	static const char *const ends[] = {".c", ".h", ".o", "", ".txt", ".so.1", ".PNG"};
	if (shape != RANDOM) {
		*len = (uint32_t)sprintf(name, "%s-%s%u%s", words[chance(7)], words[chance(7)],
		                         shape == EQUAL ? 0 : i / 2, ends[chance(7)]);
		return;
	}
	*len = (uint32_t)(chance(20) == 0 ? INDEX_NAME_MAX : 3 + chance(30));
	for (uint32_t k = 0; k < *len; ++k) {
		do {
			name[k] = (char)chance(256);
		} while (name[k] == '\0' || name[k] == '/');
	}
}

struct sample make_sample(uint32_t nslots, uint32_t nrows, enum shape shape)
{
	struct sample s = {
		.rows = calloc(nrows + 1, sizeof(*s.rows)),
		.names = calloc(nrows + 1, sizeof(*s.names)),
		.slots = calloc(nslots + 1, sizeof(*s.slots)), .text = malloc((nrows + 1) * 256ul),
		.nrows = nrows, .nslots = nslots,
	};
	for (uint32_t i = 0; i < nslots; ++i)
		s.slots[i] = (struct segment_slot){
			.parent = i ? (index_dir)chance(i) : INDEX_DIR_NONE,
			.listed = 1700000000 + i,
		};
	for (uint32_t i = 0; i < nrows; ++i) {
		char *name = s.text + i * 256ul;
		uint64_t *col = s.rows[i].col;
		fill_name(name, &s.names[i].len, shape, i);
		s.names[i].text = name;
		for (unsigned c = IC_NAME + 1; c < IC_COUNT; ++c) {
			col[c] = shape == MAXIMAL ? UINT64_MAX - chance(2) : shape == EQUAL ? c
			         : shape == RANDOM ? chance(UINT64_MAX) >> chance(64)
			         : chance(1000);
		}
		if (shape == PLAIN) {
			col[IC_MSEC] = index_from_signed(1700000000 + (int64_t)chance(100000000));
			col[IC_CSEC] = col[IC_MSEC] + (chance(4) ? 0 : chance(1000000));
			col[IC_BSEC] = chance(20) ? col[IC_CSEC] : 0;
			col[IC_SIZE] = chance(1000000) >> chance(20);
			col[IC_BLOCKS] = chance(5) ? (col[IC_SIZE] + 4095) / 4096 * 8 : 16;
			col[IC_MNSEC] = chance(2) ? 0 : chance(1000000000);
			col[IC_CNSEC] = chance(2) ? col[IC_MNSEC] : chance(1000000000);
		}
		bool dir = i < nslots;
		col[IC_DIR] = dir ? i : chance(nslots);
		col[IC_NAME] = i;
		col[IC_MODE] = dir ? 040755 : 0100644;
	}
	/* Rows come in any order. */
	for (uint32_t i = nrows; i-- > 1;) {
		uint32_t k = (uint32_t)chance(i + 1);
		struct index_row row = s.rows[i];
		s.rows[i] = s.rows[k];
		s.rows[k] = row;
	}
	return s;
}

void free_sample(struct sample *s)
{
	free(s->rows);
	free(s->names);
	free(s->slots);
	free(s->text);
}

struct segment_contents sample_contents(const struct sample *s)
{
	return (struct segment_contents){
		.rows = s->rows, .nrows = s->nrows, .names = s->names, .nnames = s->nrows,
		.slots = s->slots, .nslots = s->nslots, .lsn = 4711,
	};
}

struct segment *sample_segment(const struct sample *s, struct strbuf *out,
                               struct segment_summary *summary)
{
	struct segment_contents contents = sample_contents(s);
	CU_ASSERT_EQUAL_FATAL(segment_write(&contents, out, summary), 0);
	CU_ASSERT_EQUAL(out->len % 8, 0);
	struct segment *segment = segment_open(out->data, out->len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(segment);
	return segment;
}
