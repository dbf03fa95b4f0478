/* SPDX-License-Identifier: MIT */
/**
 * Search, for libgetmnt and getmnt search; include/getmnt/search.h is the public interface.
 *
 * The search is a policy for bfs (src/bfs.h), as discovery is.  The caller reads the mounts and
 * specifies which of them may be entered (src/lib/libgetmnt_search.c).
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

/** Maximum number of descriptors that a search uses; it uses at most half of the number that the
    process may have. */
enum { SEARCH_FDS = 8192 };

/**
 * Start a search.
 *
 * @os
 *         The capabilities of the kernel, and the counts of calls made before the search; copied.
 * @mounts, query
 *         Owned by the search from now on, also on failure.
 * The other parameters and the result are as for getmnt_search_open().
 */
SEARCH *search_new(const struct os *os, struct search_mounts *mounts, const char *const roots[],
                   size_t n, const char *pattern, const struct search_options *options,
                   struct query *query);

/** Start a search as getmnt_search_open() does, but with this query instead of the options' query.
    @options  Of this version; not NULL.
    @query  Owned by the search from now on, also on failure.  NULL: none. */
SEARCH *search_open(const char *const roots[], size_t n, const char *pattern,
                    const struct search_options *options, struct query *query);

/** An object for which a query has reached an action. */
struct search_visit {
	struct query_object object;  /* complete, as at QUERY_ALL; object.st is NULL if no
	                                attributes were needed */
	uint64_t actions;            /* query_outcome.actions: the reached actions; 0: query_run()
	                                determines them */
	const char *path;            /* path of the object, as printed */
	const char *root;            /* the given root: the object itself or a directory above it */
	size_t prefix;               /* length of "ssh://host" in `path`, before the path on another
	                                host; 0: this host */
	const char *below;           /* path of the object below the root, without a leading slash;
	                                "": the root */
	SEARCH *search;
	int dirfd;                   /* for search_visit_dir() */
};

enum search_go {
	SEARCH_GO,
	SEARCH_PRUNE,             /* do not enter the directory */
	SEARCH_STOP               /* end the search */
};

/** An object for search_more.line(). */
struct search_object {
	const char *dir;          /* path of the directory that contains the object, escaped by
	                             search_more.escape() */
	size_t dir_len;
	const char *name;
	unsigned char type;       /* DT_* */
	const struct statx *st;   /* attributes, with SEARCH_METADATA; otherwise NULL */
};

/** Settings in addition to the public options. */
struct search_more {
	unsigned types;           /* 1 << DT_*: return only these types, which costs a statx if the
	                             directory does not list them; 0: all */
	bool type;                /* search_type() must be known: costs a statx if the directory
	                             does not list the type */
	bool links;               /* search_target() must be known: costs a call for each symlink */
	bool xattrs;              /* search_xattrs() must be known: costs a call for each object.
	                             Requires SEARCH_METADATA, and that `lines` is NULL */
	unsigned mask;            /* K_STATX_*: further attributes to get, with SEARCH_METADATA */
	bool statx;               /* the caller uses only getmnt_search_statx(): info is NULL */
	bool optional;            /* also return objects whose attributes are unavailable */
	/* Takes n lines made by the reading threads: a complete path followed by `end`, or the text
	   of line().  The function may keep the text and leave another buffer in its place.
	   getmnt_search_read() then returns only errors, and the few objects that were not made
	   into lines.  Requires SEARCH_INCLUDEROOT, no order, and that `links` is false.  NULL: no
	   lines. */
	void (*lines)(void *arg, struct strbuf *text, uint64_t n);
	bool count;               /* lines() uses only n: the text stays empty */
	char end;
	/* Called in any thread; may be NULL.  line(): append the line of an object, with its end.
	   escape(): append a path, escaped byte by byte for a line, except '/'. */
	void (*line)(void *arg, const struct search_object *object, struct strbuf *text);
	void (*escape)(struct strbuf *text, const char *path);
	void (*watch)(void *arg); /* called before each step of reading; may be NULL */
	/* For a query whose directories must not be entered before their actions are performed:
	   perform the actions of an object, in the owner's thread.  getmnt_search_read() then
	   returns only errors.  NULL: the caller performs the actions after
	   getmnt_search_read(). */
	enum search_go (*visit)(void *arg, const struct search_visit *visit);
	/* Called in the owner's thread if a mount was not delegated to its server: the path of the
	   mount, and the reason as a phrase.  May be NULL. */
	void (*undelegated)(void *arg, const char *path, const char *why);
	bool roots;               /* also return each root, at depth 0, even if the root is not a
	                             directory */
	bool follow_roots;        /* with `roots`: follow a root that is a symlink */
	/* There is one root, whose directory is already open as rootfd: search this directory, even
	   if the path of the root leads to a different one. */
	bool opened;
	int rootfd;               /* borrowed until the first getmnt_search_read() */
	bool files;               /* if a root is not a directory, return the root if its last
	                             component matches */
	const char *prefix;       /* text printed before each root, such as "ssh://host"; NULL: "".
	                             Not used with `name` */
	/* NFS clients see the roots too.  A root is an error if NFS shows clients something
	   different: because a mount is on the root or below it (EBUSY), or because only the
	   exports below it are shown (EXDEV).  With `roots` and SEARCH_METADATA, the attributes of
	   the root are not taken from a cache, and k_statx.fs_ids is set. */
	bool exported;
	/* The one root is a part of a larger search, see struct talk_request: paths of objects
	   begin with `name`, and the pattern and the depths apply to the path after the first
	   name_root bytes of `name`.  Not with SEARCH_FOLLOW.  NULL: the root is not a part. */
	const char *name;
	size_t name_root;
	unsigned mindepth, maxdepth;   /* objects outside of these depths are skipped silently; 0
	                                  and UINT_MAX: no limit.  Objects in a root are at depth
	                                  1 */
	bool one_device;          /* with XDEV: do not enter subvolumes of btrfs either, since they
	                             have other device numbers */
	const char *exclude_types;   /* for search_mounts.exclude_types; must remain valid until
	                                getmnt_search_close() */
	/* The objects come from this source instead of directories.  Not with SEARCH_FOLLOW.  NULL:
	   directories are read. */
	const struct search_source *source;
	bool alters;              /* found objects are passed to commands: verify the facts that the
	                             source states about them */
	bool dirs;                /* search_visit_dir() will be called */
	void *arg;
};

/** Set the settings; call this before the first getmnt_search_read(). */
void search_more(SEARCH *search, const struct search_more *more);

/** Describe the last object for a query.  @visit [out]  Valid until the next
    getmnt_search_read(). */
void search_last(SEARCH *search, struct search_visit *visit);

/**
 * Open the directory that contains an object.  visit->object.name is the object's name in it.
 *
 * @return a descriptor made with O_PATH, borrowed until the next object; or -1.
 * Errors: ESTALE: the directory's path now leads to a different directory than the one that was
 *         read.  EREMOTE: the object is on another host.  Errors of openat2(2).
 */
int search_visit_dir(const struct search_visit *visit);

/** Get the root of the last entry, and the entry's path below it.
    @below [out]  "/a/b"; "": the root.  Valid until the next getmnt_search_read().
    @return the index of the root. */
size_t search_below(const SEARCH *search, const char **below);

/** The target of the last object, if it is a symlink; NULL: not requested, unknown, or not a
    symlink. */
const char *search_target(const SEARCH *search);

/** The names of the extended attributes of the last object, each followed by a NUL, and an empty
    name at the end; NULL: not requested, or unknown. */
const char *search_xattrs(const SEARCH *search);

/** The path of a directory that was read recently, initially ""; valid until the next
    getmnt_search_read().  Requires search_more.watch. */
const char *search_where(SEARCH *search);

/** Whether nothing may be written to the terminal, because ssh may be asking for a password
    there. */
bool search_asks(const SEARCH *search);

/** End the search; after this call all counts are complete. */
void search_stop(SEARCH *search);

/** The index of the root of the last entry; undefined before the first getmnt_search_read(). */
size_t search_root(const SEARCH *search);

/** The type of the last object, DT_*; DT_UNKNOWN if the last entry is an error. */
unsigned char search_type(const SEARCH *search);

/** The counts of system calls of the search. */
const struct os *search_os(const SEARCH *search);

/** The query of the search; NULL: none. */
const struct query *search_query(const SEARCH *search);

/** The counts of system calls that probed the kernel and read the mounts. */
const struct os *search_looked(const SEARCH *search);

#endif
