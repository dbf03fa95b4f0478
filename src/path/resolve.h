/* SPDX-License-Identifier: MIT */
/**
 * Resolution of paths, component by component.
 *
 * The kernel resolves a path in one call: through every symlink, into servers that do not answer
 * and automounts that wake up.  Here each component is shown to the caller before it is touched,
 * and each symlink before it is followed.  Links are bounded as in the kernel,
 * and neither they nor ".." lead out of the root.
 *
 *     path_resolve()      through symlinks: by text alone, or with a descriptor of each directory
 *     path_open_below()   through no symlink
 *     path_normal()       by text alone, without symlinks
 */
#ifndef GM_PATH_RESOLVE_H
#define GM_PATH_RESOLVE_H

#include "base/strbuf.h"
#include "os/os.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PATH_LINKS = 40 };   /* the most symlinks to follow, as path_resolution(7) has it */

/** Where a resolution is.  Fields are for reading. */
struct path_walk {
	struct strbuf text;    /* the place, from "/" on: no symlink, no "."; "" for "/" */
	size_t root;           /* how much of text is the root */
	char *rest;            /* the path that is not resolved yet, from at on */
	size_t at;
	size_t name;           /* where in text the component at hand begins */
	bool last;             /* nothing follows it, not even a slash */
	bool up;               /* a ".." was resolved */
	bool adrift;           /* the place is unknown: text is empty, ".." is always entered */
	unsigned links;        /* symlinks followed */
};

/** What a resolution does.  Members but link may be NULL: then nothing is done. */
struct path_how {
	/** Called before a component is touched; text ends with it.
	    @return 0 to touch it, or -1 with errno to end the resolution. */
	int (*may)(void *arg, struct path_walk *walk);
	/** Read the component as a symlink, as readlinkat(2) does.
	    @return its length, or -1 with errno; EINVAL: not a symlink, or not to be followed. */
	ssize_t (*link)(void *arg, struct path_walk *walk, char target[PATH_MAX]);
	/** Enter the component, which is no symlink.
	    @return 0; 1 to end the resolution here; or -1 with errno. */
	int (*enter)(void *arg, struct path_walk *walk);
	/** Enter the parent directory, which is not above the root.  @return 0, or -1. */
	int (*up)(void *arg, struct path_walk *walk);
	/** Enter the root.  @return 0, or -1. */
	int (*top)(void *arg, struct path_walk *walk);
	void *arg;
};

/** Begin a resolution in "/"; the caller may append another place to text.
    @return 0, or -1 (ENOMEM).  Ownership: path_destroy(), in any case. */
int path_begin(struct path_walk *walk, const char *path);

/** Free it; errno survives. */
void path_destroy(struct path_walk *walk);

/**
 * Resolve to the end.
 *
 * @return 0, or -1: the walk stands at the component that failed.
 * Errors: those of the members of how; ELOOP: too many symlinks; ENAMETOOLONG: the target of one;
 *         ENOENT: an empty one; ENOMEM.
 */
int path_resolve(struct path_walk *walk, const struct path_how *how);

/** Append what was not resolved, as it is written. */
void path_append_rest(struct path_walk *walk);

/** Whether nothing but slashes is left. */
bool path_is_done(const struct path_walk *walk);

/** The component at hand. */
const char *path_name(const struct path_walk *walk);

/** The place as text: "/" for the root directory. */
const char *path_text(const struct path_walk *walk);

/**
 * Open a path below a directory through no symlink, a component at a time: for names that are
 * longer than the kernel takes, and where there is no openat2(2).  Allocates nothing, so that a
 * forked child may call it.
 *
 * @dirfd      Stays open.
 * @open_step  Opens a component, as openat(2); it is not "".  NULL: with O_PATH and O_NOFOLLOW.
 * @return     a descriptor, or -1.  Errors: those of open_step; ENAMETOOLONG.
 */
int path_open_below(struct os *os, int dirfd, const char *path,
                    int (*open_step)(void *arg, int dirfd, const char *name), void *arg);

/** Write a path without ".", ".." and double slashes; a relative one stays relative. */
void path_normal(const char *path, struct strbuf *out);

#endif
