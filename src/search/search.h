/* SPDX-License-Identifier: MIT */
/**
 * Search, for libgetmnt and getmnt search; include/getmnt/search.h is the public interface.
 *
 * A policy of bfs, as discovery is.  The caller, who knows the mounts, says what must not be
 * touched and which mounts may be entered (src/lib/libgetmnt_search.c).
 */
#ifndef GM_SEARCH_SEARCH_H
#define GM_SEARCH_SEARCH_H

#include "getmnt/search.h"
#include "base/strbuf.h"
#include "bfs.h"
#include "os/os.h"
#include "search/follow.h"

#include <stdbool.h>
#include <stddef.h>

/** Descriptors that a search can use; it takes half of those that the process may have. */
enum { SEARCH_FDS = 8192 };

/**
 * Begin a search.
 *
 * @os
 *         Its capabilities, and the calls made before the search; copied.
 * @mounts
 *         Taken over, also on failure.
 * The rest is as in searchv().
 */
SEARCH *search_new(const struct os *os, struct search_mounts *mounts, const char *const roots[],
                   size_t n, const char *pattern, const struct search_options *options);

/** An object for line(). */
struct search_object {
	const char *dir;          /* its path without the name, escaped */
	size_t dir_len;
	const char *name;
	unsigned char type;       /* DT_* */
	const struct statx *st;   /* with SEARCH_METADATA; else NULL */
};

/** Settings besides the public options. */
struct search_more {
	unsigned types;           /* 1 << DT_*: only these types, which costs a statx where the
	                             directory does not give them; 0: all */
	bool type;                /* search_type() must be known, at the same cost */
	bool links;               /* search_target() must be known: a call for each link */
	unsigned mask;            /* K_STATX_*: with SEARCH_METADATA, also fetched */
	bool statx;               /* only statxsearch() is used: info is NULL */
	bool optional;            /* return objects whose attributes are not available */
	/* Takes n lines, each ended by `end`, made by the threads that read: whole paths, unless
	   line() makes them.  It may take the text, and leave another in its place.
	   readsearch() then returns only errors, and the few objects that are not lines.
	   Requires SEARCH_INCLUDEROOT, no order, and links false; or NULL. */
	void (*lines)(void *arg, struct strbuf *text, uint64_t n);
	bool count;               /* only n is needed: the text stays empty */
	char end;
	/* Append the line of an object, in any thread; and escape a path for it, byte by byte,
	   keeping '/'.  Or NULL. */
	void (*line)(void *arg, const struct search_object *object, struct strbuf *text);
	void (*escape)(struct strbuf *text, const char *path);
	void (*watch)(void *arg); /* called before each read; or NULL */
	void *arg;
};

/** Change the settings; before the first readsearch(). */
void search_more(SEARCH *search, const struct search_more *more);

/** The target of the last object, a link; NULL: not requested, or unknown. */
const char *search_target(const SEARCH *search);

/** With a watch: a directory that was read recently, "" at first; valid until the next
    readsearch(). */
const char *search_where(SEARCH *search);

/** End the search; all counts are then complete. */
void search_stop(SEARCH *search);

/** The type of the last object, DT_*; DT_UNKNOWN for an error. */
unsigned char search_type(const SEARCH *search);

/** The counts of the search. */
const struct os *search_os(const SEARCH *search);

/** The counts of calls made to probe the kernel and read the mounts. */
const struct os *search_looked(const SEARCH *search);

#endif
