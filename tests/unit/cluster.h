/* SPDX-License-Identifier: MIT */
/** Clusters of an index, for tests. */
#ifndef GM_TESTS_CLUSTER_H
#define GM_TESTS_CLUSTER_H

#include "index/segment/segment.h"

/** A cluster made by a test, with the names and rows that it must hold. */
struct sample {
	struct index_row *rows;
	struct segment_name *names;      /* as many as rows */
	struct segment_slot *slots;
	char *text;
	uint32_t nrows, nslots;
};

enum shape { PLAIN, RANDOM, EQUAL, MAXIMAL, SHAPES };

/** A random number below n; the same ones in each run. */
uint64_t chance(uint64_t n);

/** Whether slots are equal. */
static inline bool slots_equal(const struct segment_slot *a, const struct segment_slot *b)
{
	return a->parent == b->parent && a->row == b->row && a->listed == b->listed
	       && a->name == b->name;
}

/** Make a cluster.  @nslots  Directories, each with a row among nrows.  @shape  Of the rows. */
struct sample make_sample(uint32_t nslots, uint32_t nrows, enum shape shape);
void free_sample(struct sample *s);

/** Its contents, to be written. */
struct segment_contents sample_contents(const struct sample *s);

/** Write and open it, or end the test. */
struct segment *sample_segment(const struct sample *s, struct strbuf *out,
                               struct segment_summary *summary);

#endif
