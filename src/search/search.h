/* SPDX-License-Identifier: MIT */
/**
 * The search primitive, within: include/getmnt/search.h is what programs see.
 *
 * A policy over bfs, as discovery is.  What must not be touched, and which
 * other mounts may be entered, is told by the caller, who knows the mounts
 * (src/lib/libgetmnt_search.c).
 */
#ifndef GM_SEARCH_SEARCH_H
#define GM_SEARCH_SEARCH_H

#include "getmnt/search.h"
#include "base/strbuf.h"
#include "bfs/bulk.h"
#include "os/os.h"
#include "search/follow.h"

#include <stdbool.h>
#include <stddef.h>

/** Descriptors that a search has a use for; it takes half of what the process may have. */
enum { SEARCH_FDS = 8192 };

/** The file systems that can be asked for many inodes at once. */
struct search_bulk {
	struct map64 by_mount;    /* mount ID -> which */
	struct bfs_fs **fs;
	uint32_t n;
	bool unique;              /* these are 64-bit IDs */
};

/** Free what it holds. */
void search_bulk_destroy(struct search_bulk *bulk);

/**
 * Begin a search.
 *
 * @os
 *         The capabilities, and the counts of what came before the search; copied.
 * @mounts
 *         Taken over, also on failure; NULL: everything may be entered.
 * @bulk
 *         SEARCH_ENGINE_BULK: taken over, also on failure; NULL: none is known.
 * As searchv() else.
 */
SEARCH *search_new(const struct os *os, struct search_mounts *mounts, struct search_bulk *bulk,
                   const char *const roots[], size_t n, const char *pattern,
                   const struct search_options *options);

/** An object, of which a line is made. */
struct search_object {
	const char *dir;          /* its path but for the name, as search_more.escape made it */
	size_t dir_len;
	const char *name;
	unsigned char type;       /* DT_* */
	const struct statx *st;   /* with SEARCH_METADATA; else NULL */
};

/** What is wanted beside the public options. */
struct search_more {
	unsigned types;           /* 1 << DT_*: objects of these alone, which costs a
	                             look where the directory does not tell; 0: all */
	bool type;                /* search_type() is to be known, at the same cost */
	bool links;               /* search_target(), a call for each link */
	unsigned mask;            /* K_STATX_*: with SEARCH_METADATA, asked as well */
	bool statx;               /* attributes are taken from statxsearch() alone: info is NULL */
	bool optional;            /* an object that is there and has none is given out without */
	/* Lines, made by who reads and passed on many at a time, n of them, each with `end`
	   behind it: whole paths, unless line() makes more of them.  The text may be taken, and
	   another left in its place.  readsearch() then gives out errors, and what few objects
	   are not among these.  With SEARCH_INCLUDEROOT, in no order, and without links alone;
	   or NULL. */
	void (*lines)(void *arg, struct strbuf *text, uint64_t n);
	bool count;               /* of lines n alone is wanted: the text stays empty */
	char end;
	/* Append the line of an object, in any thread; and how a path is written there, byte
	   by byte, '/' as it is.  Or NULL. */
	void (*line)(void *arg, const struct search_object *object, struct strbuf *text);
	void (*escape)(struct strbuf *text, const char *path);
	void (*watch)(void *arg); /* called before what may take a while; or NULL */
	void *arg;
};

/** Say what is wanted, before the first readsearch(). */
void search_more(SEARCH *search, const struct search_more *more);

/** Where the last object, a link, leads; NULL: not asked for, not known. */
const char *search_target(const SEARCH *search);

/** With a watch: a directory that was read not long before, "" at first; the search's until
    the next readsearch(). */
const char *search_where(SEARCH *search);

/** Read no more; the counts are then whole. */
void search_stop(SEARCH *search);

/** The rest of a search, packed into a buffer, as search().  @return, errors  As
    that; nothing was read where the buffer is no good. */
ssize_t search_raw(SEARCH *search, void *buffer, size_t len);

/** The type of the last object, DT_*; DT_UNKNOWN with an error. */
unsigned char search_type(const SEARCH *search);

/** The counts of the search. */
const struct os *search_os(const SEARCH *search);

/** The counts of looks at the mounts, of the first of which the kernel was probed. */
const struct os *search_looked(const SEARCH *search);

#endif
