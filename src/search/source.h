/* SPDX-License-Identifier: MIT */
/**
 * A source: the objects of a search come from an index, and directories are not read.
 *
 *     root --> begin() --> next() ... --> objects, matched as entries of directories are
 *                            '--> enter(): called once for each directory that may be a result or
 *                                          contain a result, parents first
 *
 * begin() covers one mount.  If another mount is below it, the search examines the root of this
 * mount and calls begin() for it.  All functions are called in the thread of getmnt_search_read().
 */
#ifndef GM_SEARCH_SOURCE_H
#define GM_SEARCH_SOURCE_H

#include "select/pattern.h"
#include "select/query.h"
#include "select/query_bounds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No directory: a value for directory numbers. */
#define SOURCE_NONE UINT32_MAX

/** An object below the directory where the search begins (the start). */
struct source_object {
	uint32_t dir;             /* number of the directory that contains the object */
	uint32_t mark;            /* the mark that enter() set for this directory */
	uint32_t self;            /* for a directory: its own number; otherwise SOURCE_NONE */
	const char *path;         /* path, below the start, of the directory that contains the
	                             object: "", "/a/b" */
	size_t path_len;
	unsigned depth;           /* depth of this directory; 0: the start */
	const char *name;         /* name of the object, with a final NUL */
	size_t len;
	uint8_t type;             /* DT_* */
	enum query_value within;  /* whether the object is within source_start.bounds; QUERY_OPEN:
	                             the source does not know */
	bool named;               /* the source found that the name matches the only last component
	                             of the pattern, see pattern_last(); false for directories */
	struct query_memo memo;   /* results of tests of the name by the source */
};

/** The directory where a search begins, and the objects that it looks for. */
struct source_start {
	uint64_t mount;           /* ID of the directory's mount */
	bool unique;              /* `mount` is a 64-bit ID */
	int fd;                   /* the directory, opened with O_PATH */
	const char *path;         /* path of the directory from "/" of the mount's namespace; "":
	                             unknown */
	const char *name;         /* path of the directory, as printed */
	bool is_root;             /* the user gave this root; false: the root of a mount below a
	                             given root */
	/* The source may leave out objects that are not within these bounds, and objects whose name
	   cannot match the last component of the pattern. */
	const struct query_bounds *bounds;
	const struct pattern *pattern;
	/* Test whether a directory is a result, and whether objects in it are wanted.  Called once
	   for each directory, parents first, before an object in it is returned.
	   @mark [out]  For source_object.mark of the objects in the directory.
	   @return 1: wanted; 2: all objects below it are wanted, so that enter() need be called
	   only for directories that may be results; 0: not wanted; -1: end the search, see
	   errno. */
	int (*enter)(void *arg, const struct source_object *dir, uint32_t *mark);
	void *arg;
	uint32_t mark;            /* mark of the start, for objects in it */
	bool all;                 /* all objects below the start are wanted */
	uint32_t dir;             /* [out] number of the start */
	bool again;               /* [out] the attributes in the source may be old: the search
	                             examines each result with statx */
};

struct search_source {
	void *arg;
	/** Begin to search a mount.  @return 1; 0: the source has no objects of this mount, which
	    is not an error; -1: see why(). */
	int (*begin)(void *arg, struct source_start *start);
	/** Get the next object that is not a directory; valid until the next call.  NULL: no more
	    objects (errno 0), or an error, see why(). */
	const struct source_object *(*next)(void *arg);
	/** Find a directory below the start.  Call enter() for the directories above it and for the
	    directory, unless enter() was called for them before.
	    @path  "": the start; or "/a/b", len bytes.
	    @in [out]  The members dir, mark, path, path_len and depth, as for an object in the
	    directory; valid until the next call.
	    @return 1; 0: the directory is unknown or not entered; -1: see why(). */
	int (*find)(void *arg, const char *path, size_t len, struct source_object *in);
	/** Get attributes of the object that next() returned last, or of the argument of enter().
	    @mask  STATX_* of the attributes, without device and mount ID.
	    @return false: they are unknown. */
	bool (*attributes)(void *arg, const struct source_object *object, unsigned mask,
	                   struct k_statx *st);
	/** Why the last function failed, as a phrase that names a remedy; valid until the next
	    call.  NULL: errno is the reason. */
	const char *(*why)(void *arg);
	/** End the search that begin() has begun. */
	void (*end)(void *arg);
};

#endif
