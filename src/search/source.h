/* SPDX-License-Identifier: MIT */
/**
 * Where the objects of a search come from if directories are not read: an index.
 *
 *     root --> begin() --> next() ... --> matched and judged as entries of directories are
 *                            '--> enter(): each directory that may be found, and those above what
 *                                          may be found, once, parents first
 *
 * A source is of one mount.  Where another mount is in the tree today, the search looks at its
 * root, and begins again there.  All functions are called in the thread of getmnt_search_read().
 */
#ifndef GM_SEARCH_SOURCE_H
#define GM_SEARCH_SOURCE_H

#include "select/pattern.h"
#include "select/query.h"
#include "select/query_bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No directory. */
#define SOURCE_NONE UINT32_MAX

/** An object below the start. */
struct source_object {
	uint32_t dir;             /* the number of its directory */
	uint32_t mark;            /* what enter() made of its directory */
	uint32_t self;            /* of a directory its own number; else SOURCE_NONE */
	const char *path;         /* of its directory below the start: "", "/a/b" */
	size_t path_len;
	unsigned depth;           /* of its directory: 0: the start */
	const char *name;         /* with a final NUL */
	size_t len;
	uint8_t type;             /* DT_* */
	enum query_value within;  /* the bounds, as far as the source knows */
	bool named;               /* never of a directory: the name matches the only last component
	                             of the pattern, see pattern_last() */
	struct query_memo memo;   /* what the source has tested of its name */
};

/** Where a search begins, and what it looks for. */
struct source_start {
	uint64_t mount;           /* its ID */
	bool unique;              /* it has 64 bits */
	int fd;                   /* the directory, opened with O_PATH */
	const char *path;         /* from "/" of the mount's namespace; "": unknown */
	const char *name;         /* as printed */
	bool is_root;             /* given by the user; else the root of a mount below that */
	/* Objects that are not within these bounds, or whose name cannot match the last component
	   of the pattern, may be left out. */
	const struct query_bounds *bounds;
	const struct pattern *pattern;
	/* Judge a directory, and whether what is in it is wanted.  Called before an object in it is
	   returned, once for each directory, parents first.
	   @mark [out]  Kept for what is in it.
	   @return 1: yes; 2: yes, and everything below: there it is only called for directories
	   that may be found; 0: no; -1: end with errno. */
	int (*enter)(void *arg, const struct source_object *dir, uint32_t *mark);
	void *arg;
	uint32_t mark;            /* of the start */
	bool all;                 /* everything below it is wanted */
	uint32_t dir;             /* [out] its number */
	bool again;               /* [out] the attributes are old: look at each result again */
};

struct search_source {
	void *arg;
	/** Begin.  @return 1; 0: it has nothing of this mount, which is no error; -1: see
	    why(). */
	int (*begin)(void *arg, struct source_start *start);
	/** The next object that is not a directory, valid until the next call.  NULL: the end
	    (errno 0), or see why(). */
	const struct source_object *(*next)(void *arg);
	/** Find a directory below the start, and call enter() for it and those above it.
	    @path  "": the start; or "/a/b", len bytes.
	    @in [out]  An object in it: dir, mark, path, path_len and depth, valid until the next
	    call.
	    @return 1; 0: it is unknown or not entered; -1: see why(). */
	int (*find)(void *arg, const char *path, size_t len, struct source_object *in);
	/** Get attributes of the last object of next(), or of the argument of enter().
	    @mask  STATX_*, those to get: not the device and mount.
	    @return false: they are unknown. */
	bool (*attributes)(void *arg, const struct source_object *object, unsigned mask,
	                   struct k_statx *st);
	/** Why a function failed, as a phrase with what to do; valid until the next call.  NULL:
	    see errno. */
	const char *(*why)(void *arg);
	/** End what begin() began. */
	void (*end)(void *arg);
};

#endif
