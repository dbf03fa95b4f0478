/* SPDX-License-Identifier: MIT */
/**
 * What reading and fetching share.  Private to src/bulk/.
 */
#ifndef GM_BULK_IMPL_H
#define GM_BULK_IMPL_H

#include "bulk/bulk.h"

#include "base/strbuf.h"

struct fetch_ring;
struct many;

/** An entry that waits. */
struct fetch_wanted {
	struct bulk_entry entry;
	size_t at;                /* with ahead: where its name begins in names */
};

/** Entries that wait for their metadata. */
struct fetch {
	struct os *os;
	const struct bulk_how *how;
	struct fetch_wanted *wanted;
	size_t n, size;
	struct strbuf names;      /* with ahead: theirs */
	struct fetch_ring *ring;  /* NULL: none yet */
	bool no_ring;             /* there is none to be had */
	struct many *many;        /* BULK_FS; NULL: none yet */
};

void fetch_init(struct fetch *fetch, struct os *os, const struct bulk_how *how);
void fetch_destroy(struct fetch *fetch);

/** A directory was opened, and is about to be read. */
void fetch_begin(struct fetch *fetch, const struct bulk_policy *policy, const struct bulk_dir *dir);

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

/* many.c: by the file system's own interface. */

enum { MANY_ENTRIES = 1024 };   /* asked for together, at most */

struct many *many_new(void);
void many_free(struct many *many);

/** A directory was opened: see whether its file system can be asked. */
void many_begin(struct many *many, struct os *os, const struct bulk_policy *policy, const struct bulk_dir *dir);

/** Ask for entries of that directory, at most MANY_ENTRIES. */
void many_ask(struct many *many, struct os *os, const struct bulk_policy *policy,
              const struct bulk_dir *dir, const struct fetch_wanted *wanted, size_t n);

/** The metadata of one of those asked for; NULL: to be asked for by itself. */
struct k_statx *many_answer(struct many *many, size_t i);

#endif
