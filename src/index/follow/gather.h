/* SPDX-License-Identifier: MIT */
/**
 * Gather the entries of a directory and their attributes, which refresh_read() stores in the index.
 *
 * Gathering waits for the kernel.  So several threads can gather, each with its own chain, while no
 * thread changes the tree.  One thread stores the entries.
 */
#ifndef GM_INDEX_FOLLOW_GATHER_H
#define GM_INDEX_FOLLOW_GATHER_H

#include "base/strbuf.h"
#include "index/follow/chain.h"

enum {
	/* Maximum bytes of entries that are gathered at a time.  The remaining entries of a large
	   directory are gathered after these are stored. */
	GATHER_MOST = 1 << 20,
};

/** Invariants: with `error`, or if `partial` and there are no entries, fd is -1; `entries` contains
    n entries, which gather_next() passes exactly. */
struct gather {
	uint32_t at;              /* index in tree.dirs of the directory */
	bool all;                 /* read the attributes of all entries, also of directories that
	                             the tree has */
	int fd;                   /* descriptor of the directory; -1: no more entries */
	int error;                /* errno, if the directory could not be opened or its attributes
	                             not read; else 0 */
	uint32_t failed;          /* with .error: the directory that could not be opened: this one
	                             or one above it */
	bool partial;             /* some entries could not be read */
	int partial_error;        /* with .partial: the errno */
	bool has_odd;             /* an entry was skipped because its name is too long for the
	                             index */
	int64_t listed;           /* time before the directory was opened, seconds since 1970 */
	struct k_statx st;
	struct strbuf entries;
	size_t n;                 /* number of entries */
};

struct gather_entry {
	const char *name;         /* NUL-terminated */
	size_t len;
	uint64_t ino;             /* inode number from getdents */
	uint8_t type;             /* DT_*, from getdents */
	bool is_looked;           /* its attributes were requested; false: the tree has a directory
	                             with this name and inode number */
	int error;                /* errno of the failed statx; 0: st is set */
	struct k_statx st;
};

/** Open a directory, and gather its first entries.
    @gather [out]  Call gather_end(), also after an error.
    @all  As in struct gather.
    @return 0, also if the directory cannot be read; or -1: ENOMEM, EMFILE, ENFILE. */
int gather_begin(struct gather *gather, struct chain *chain, uint32_t at, bool all);

/** Replace the entries by the next entries of the directory, if gather->fd >= 0.
    @threads  Number of threads that read attributes, if there are many entries.
    @return as gather_begin(). */
int gather_more(struct gather *gather, struct chain *chain, unsigned threads);

/** Iterate over the gathered entries.  @at  0 for the first call.  @return false: no more
    entries. */
bool gather_next(const struct gather *gather, size_t *at, struct gather_entry *entry);

void gather_end(struct gather *gather, struct os *os);

/** End and free.  @gather  NULL: do nothing. */
void gather_free(struct gather *gather, struct os *os);

#endif
