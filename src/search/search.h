/* SPDX-License-Identifier: MIT */
/**
 * Search, for libgetmnt and getmnt search; include/getmnt/search.h is the public interface.
 *
 * Like discovery, it is a policy for bfs.  The caller, who knows the mounts, specifies what must
 * not be accessed and which mounts may be entered (src/lib/libgetmnt_search.c).
 */
#ifndef GM_SEARCH_SEARCH_H
#define GM_SEARCH_SEARCH_H

#include "getmnt/search.h"
#include "base/strbuf.h"
#include "bfs.h"
#include "os/os.h"
#include "search/mounts.h"
#include "search/source.h"
#include "select/query.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct getmnt_search SEARCH;

/** The most descriptors that a search uses; and at most half of those that the process may have. */
enum { SEARCH_FDS = 8192 };

/**
 * Start a search.
 *
 * @os
 *         The capabilities, and the calls made before the search; copied.
 * @mounts, query
 *         Taken over, also on failure.
 * Everything else is as in getmnt_search_open().
 */
SEARCH *search_new(const struct os *os, struct search_mounts *mounts, const char *const roots[],
                   size_t n, const char *pattern, const struct search_options *options,
                   struct query *query);

/** As getmnt_search_open(), with a query instead of that of the options.
    @query  Taken over, also on failure; valid until the search is closed.  NULL: none. */
SEARCH *search_open(const char *const roots[], size_t n, const char *pattern,
                    const struct search_options *options, struct query *query);

/** An object of which a query reaches an action. */
struct search_visit {
	struct query_object object;  /* as at QUERY_ALL; object.st is NULL if it was not needed */
	uint64_t actions;            /* query_outcome.actions: the reached ones; 0: query_run()
	                                finds out */
	const char *path;            /* as printed */
	const char *root;            /* the given root at or above it */
	size_t prefix;               /* bytes of it before its path on another host; 0 */
	const char *below;           /* its path below the root, without a leading slash; "" */
	SEARCH *search;
	int dirfd;                   /* for search_visit_dir() */
};

enum search_go { SEARCH_GO, SEARCH_PRUNE /* do not enter it */, SEARCH_STOP /* end */ };

/** An object for line(). */
struct search_object {
	const char *dir;          /* path of its directory, escaped */
	size_t dir_len;
	const char *name;
	unsigned char type;       /* DT_* */
	const struct statx *st;   /* with SEARCH_METADATA; else NULL */
};

/** Settings in addition to the public options. */
struct search_more {
	unsigned types;           /* 1 << DT_*: return only these types, which costs a statx if the
	                             directory does not list them; 0: all */
	bool type;                /* search_type() must be known, at the same cost */
	bool links;               /* search_target() must be known: costs a call for each link */
	bool xattrs;              /* search_xattrs() must be known: a call for each object.
	                             Requires SEARCH_METADATA, and that lines is NULL */
	unsigned mask;            /* K_STATX_*: fetched in addition, with SEARCH_METADATA */
	bool statx;               /* only getmnt_search_statx() is used: info is NULL */
	bool optional;            /* also return objects whose attributes are unavailable */
	/* Takes n lines made by the reading threads: complete paths, each ended by `end`, unless
	   line() makes them.  It may take the text, and leave another one in its place.
	   getmnt_search_read() then returns only errors, and the few objects that are not
	   lines.  Requires SEARCH_INCLUDEROOT, no order, and links false; or NULL. */
	void (*lines)(void *arg, struct strbuf *text, uint64_t n);
	bool count;               /* only n is used: the text stays empty */
	char end;
	/* Append the line of an object with its end, in any thread; and escape a path for the
	   line, byte by byte, keeping '/'.  Or NULL. */
	void (*line)(void *arg, const struct search_object *object, struct strbuf *text);
	void (*escape)(struct strbuf *text, const char *path);
	void (*watch)(void *arg); /* called before each read; or NULL */
	/* For a query with waits: perform the actions of an object, in the caller's thread,
	   before it is entered.  getmnt_search_read() then returns only errors.  Otherwise NULL. */
	enum search_go (*visit)(void *arg, const struct search_visit *visit);
	/* A mount was not delegated: its path, and why, as a phrase; in the caller's thread.  Or
	   NULL. */
	void (*undelegated)(void *arg, const char *path, const char *why);
	bool roots;               /* also return each root, at depth 0; it need not be a
	                             directory */
	bool follow_roots;        /* with roots: follow a symlink that is a root */
	/* The one root is open: this directory is searched, whatever its path leads to by now. */
	bool opened;
	int rootfd;               /* borrowed, until the first getmnt_search_read() */
	bool files;               /* return a root that is not a directory, if its last component
	                             matches */
	const char *prefix;       /* printed before each root, as "ssh://host"; NULL: "".
	                             Not used with name */
	/* Roots are seen by NFS too.  One that NFS shows in another way is an error: something is
	   mounted on it or below (EBUSY), or only exports below it are shown (EXDEV).  With roots
	   and SEARCH_METADATA their attributes are not those in a cache, and have
	   k_statx.fs_ids. */
	bool exported;
	/* The one root is a part of a larger search, see struct talk_request: the name begins
	   the paths of objects, and pattern and depths count from its first name_root bytes.
	   Not with SEARCH_FOLLOW; NULL: no part. */
	const char *name;
	size_t name_root;
	unsigned mindepth, maxdepth;   /* other objects are skipped silently; 0 and UINT_MAX: no
	                                  limit.  Objects of a root are at depth 1 */
	bool one_device;          /* with XDEV: do not enter subvolumes of btrfs either, whose
	                             device is another one */
	const char *exclude_types;   /* search_mounts.exclude_types; it remains valid until
	                             getmnt_search_close() */
	/* Objects come from it, directories are not read.  Not with SEARCH_FOLLOW.  NULL: none. */
	const struct search_source *source;
	bool alters;              /* commands get what is found: what the source says of it is
	                             verified */
	bool dirs;                /* search_visit_dir() is called */
	void *arg;
};

/** Change the settings; call it before the first getmnt_search_read(). */
void search_more(SEARCH *search, const struct search_more *more);

/** The last object, for a query.  @visit [out]  Valid until the next getmnt_search_read(). */
void search_last(SEARCH *search, struct search_visit *visit);

/**
 * The directory that contains an object, whose name in it is visit->object.name.
 *
 * It is the directory that was read, even if its path leads to another one by now.
 *
 * @return a descriptor made with O_PATH, borrowed until the next object; or -1.
 * Errors: ESTALE: it was moved or replaced; EREMOTE: it is on another host; those of openat2(2).
 */
int search_visit_dir(const struct search_visit *visit);

/** Where the last entry is.
    @below [out]  Its path below its root, "/a/b"; "": the root.  Valid as long as the entry.
    @return the index of its root. */
size_t search_below(const SEARCH *search, const char **below);

/** The target of the last object, if it is a symlink; NULL: not requested, or unknown. */
const char *search_target(const SEARCH *search);

/** The names of the extended attributes of the last object, each with its NUL, and after them an
    empty one; NULL: not requested, or unknown. */
const char *search_xattrs(const SEARCH *search);

/** If watch is set: a directory that was read recently, initially ""; valid until the next
    getmnt_search_read(). */
const char *search_where(SEARCH *search);

/** Whether nothing may be written on the terminal: ssh may be asking for a password there. */
bool search_asks(const SEARCH *search);

/** End the search; afterwards all counts are complete. */
void search_stop(SEARCH *search);

/** The index of the given directory that is being searched, before the first read undefined. */
size_t search_root(const SEARCH *search);

/** The type of the last object, DT_*; DT_UNKNOWN for an error. */
unsigned char search_type(const SEARCH *search);

/** The counts of the search. */
const struct os *search_os(const SEARCH *search);

/** The query; or NULL. */
const struct query *search_query(const SEARCH *search);

/** The counts of the calls that probed the kernel and read the mounts. */
const struct os *search_looked(const SEARCH *search);

#endif
