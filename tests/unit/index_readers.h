/* SPDX-License-Identifier: MIT */
/** What reads an index, for tests of damaged ones. */
#ifndef GM_TESTS_INDEX_READERS_H
#define GM_TESTS_INDEX_READERS_H

#include "index/store/store.h"

#include <stdbool.h>

/** A reader appends what it has read.  @return 0, or -1 with errno. */
struct index_reader {
	const char *name;
	int (*read)(struct index *index, struct strbuf *out);
	bool streams;            /* commands print what was appended before an error */
};

/** All; ended by a NULL name. */
extern const struct index_reader index_readers[];

/** Called for each object by those that stream, except "directories"; or NULL. */
extern void (*index_readers_hook)(void);

#endif
