/* SPDX-License-Identifier: MIT */
/**
 * What reading and fetching share.  Private to src/bulk/.
 */
#ifndef GM_BULK_IMPL_H
#define GM_BULK_IMPL_H

#include "bulk/bulk.h"

#include "base/strbuf.h"

struct fetch_ring;

/** Entries that wait for their metadata. */
struct fetch {
	struct os *os;
	const struct bulk_how *how;
	struct bulk_entry *wanted;
	size_t n, size;
	struct strbuf names;      /* with ahead: theirs; an entry's name is an offset */
	struct fetch_ring *ring;  /* NULL: none yet */
	bool no_ring;             /* there is none to be had */
};

void fetch_init(struct fetch *fetch, struct os *os, const struct bulk_how *how);
void fetch_destroy(struct fetch *fetch);

/** An entry is wanted: it waits, or is fetched with those that do.
    @return the verdict. */
enum bulk_verdict fetch_add(struct fetch *fetch, const struct bulk_policy *policy,
                            struct bulk_dir *dir, const struct bulk_entry *entry, void *arg);

/** Fetch what waits, none of which does then.  @return the verdict. */
enum bulk_verdict fetch_flush(struct fetch *fetch, const struct bulk_policy *policy,
                              struct bulk_dir *dir, void *arg);

/** Let nothing wait any more. */
void fetch_forget(struct fetch *fetch);

/** The buffer that the names are in is to be used again.  @return the verdict. */
enum bulk_verdict fetch_buffer_ends(struct fetch *fetch, const struct bulk_policy *policy,
                                    struct bulk_dir *dir, void *arg);

#endif
