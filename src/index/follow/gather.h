/* SPDX-License-Identifier: MIT */
/**
 * The entries of a directory and their attributes, as refresh_read() stores them.
 *
 * To gather is to wait for the kernel: several threads can do it at a time, each with a chain of
 * its own, while nobody changes the tree.  One thread stores.
 */
#ifndef GM_INDEX_FOLLOW_GATHER_H
#define GM_INDEX_FOLLOW_GATHER_H

#include "base/strbuf.h"
#include "index/follow/chain.h"

enum {
	/* Bytes of entries that are gathered at a time; the rest of a large directory follows
	   after they are stored. */
	GATHER_MOST = 1 << 20,
};

struct gather {
	uint32_t at;              /* the directory */
	bool all;                 /* look at all entries, also at directories of the tree */
	int fd;                   /* the directory; -1: there are no more entries */
	int error;                /* an errno: it could not be opened, or looked at */
	uint32_t failed;          /* then: that directory, or one above it */
	bool partial;             /* entries could not be read */
	int partial_error;        /* an errno: why */
	bool has_odd;             /* a name is too long for the index */
	int64_t listed;           /* the time of day, before it was opened */
	struct k_statx st;
	struct strbuf entries;
	size_t n;                 /* entries */
};

struct gather_entry {
	const char *name;         /* with a final NUL */
	size_t len;
	uint64_t ino;             /* as in the directory */
	uint8_t type;             /* DT_*, as in the directory */
	bool is_looked;           /* it was looked at; otherwise the tree had it in this place */
	int error;                /* an errno: it was in vain; 0: st is set */
	struct k_statx st;
};

/** Open a directory, and gather the first entries.
    @gather [out]  To be ended in any case.
    @return 0, also if the directory cannot be read; or -1: ENOMEM, EMFILE, ENFILE. */
int gather_begin(struct gather *gather, struct chain *chain, uint32_t at, bool all);

/** Forget the entries, and gather the next; for gather->fd >= 0.
    @threads  That look at them, if they are many.
    @return as gather_begin(). */
int gather_more(struct gather *gather, struct chain *chain, unsigned threads);

/** Iterate over the entries that were gathered.  @at  0 first.  @return false: no more. */
bool gather_next(const struct gather *gather, size_t *at, struct gather_entry *entry);

void gather_end(struct gather *gather, struct os *os);

/** End and free.  @gather  NULL: nothing. */
void gather_free(struct gather *gather, struct os *os);

#endif
