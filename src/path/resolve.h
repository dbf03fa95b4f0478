/* SPDX-License-Identifier: MIT */
/**
 * Resolution of paths, component by component.
 *
 * The kernel resolves a path in one call: through every symlink, into servers that do not respond,
 * and through automount points, which it triggers.  Here the caller checks each component before it
 * is accessed, and each symlink before it is followed.  As in the kernel, the number of symlinks is
 * limited, and neither symlinks nor ".." lead out of the root.
 *
 *     path_resolve()      follows symlinks: by text alone, or with a descriptor of each directory
 *     path_open_below()   follows no symlink
 *     path_open_plain()   likewise, by one call where the kernel can
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

enum { PATH_LINKS = 40 };   /* the most symlinks to follow, as in path_resolution(7) */

/** The state of a resolution.  Callers only read the fields. */
struct path_walk {
	struct strbuf text;    /* the current path, starting with "/": no symlink, no "."; "" for
	                          "/" */
	size_t root;           /* the length of the root within text */
	char *rest;            /* the path that remains to be resolved, from at on */
	size_t at;
	size_t name;           /* offset in text of the current component */
	bool last;             /* nothing follows the component, not even a slash */
	bool path_unknown;     /* text is empty, and ".." is always entered */
	unsigned links;        /* number of symlinks followed */
};

/** Callbacks of a resolution.  All but link may be NULL: then nothing is done. */
struct path_how {
	/** Called before a component is accessed; text ends with it.
	    @return 0 to continue, or -1 with errno to end the resolution. */
	int (*may)(void *arg, struct path_walk *walk);
	/** Read the component as a symlink, as readlinkat(2) does.
	    @return its length, or -1 with errno; EINVAL: not a symlink, or not to be followed. */
	ssize_t (*link)(void *arg, struct path_walk *walk, char target[PATH_MAX]);
	/** Enter the component, which is not a symlink.
	    @return 0; 1 to end the resolution here; or -1 with errno. */
	int (*enter)(void *arg, struct path_walk *walk);
	/** Enter the parent directory; never called at the root.  @return 0, or -1. */
	int (*up)(void *arg, struct path_walk *walk);
	/** Enter the root.  @return 0, or -1. */
	int (*top)(void *arg, struct path_walk *walk);
	void *arg;
};

/** Whether another user may have prepared a symlink, file or FIFO for us: in a sticky directory
    that everybody may write to, such as /tmp, it belongs neither to us nor to the owner of the
    directory.
    Source: may_follow_link() and may_create_in_sticky() in fs/namei.c. */
bool path_is_planted(uid_t euid, uid_t owner, uid_t dir_owner, mode_t dir_mode);

/** Start a resolution in "/"; the caller may append another path to text.
    @return 0, or -1 (ENOMEM).  Ownership: call path_destroy() in either case. */
int path_begin(struct path_walk *walk, const char *path);

/** Free a resolution.  Preserves errno. */
void path_destroy(struct path_walk *walk);

/**
 * Resolve to the end.
 *
 * @return 0, or -1: the walk remains at the component that failed.
 * Errors: those of the callbacks; ELOOP: too many symlinks; ENAMETOOLONG: the target of a symlink;
 *         ENOENT: an empty target; ENOMEM.
 */
int path_resolve(struct path_walk *walk, const struct path_how *how);

/** Append the unresolved rest of the path as it is. */
void path_append_rest(struct path_walk *walk);

/** Whether only slashes remain. */
bool path_is_done(const struct path_walk *walk);

/** The current component. */
const char *path_name(const struct path_walk *walk);

/** The current path: "/" for the root directory. */
const char *path_text(const struct path_walk *walk);

/**
 * Open a path below a directory one component at a time, without following symlinks: for names
 * longer than the kernel accepts, and for kernels without openat2(2).  Allocates nothing, so that a
 * forked child may call it.
 *
 * @dirfd      Stays open.  AT_FDCWD: "/", or the working directory for a relative path.
 * @open_step  Opens a component that is not "", like openat(2).  NULL: with O_PATH and O_NOFOLLOW.
 * @return     a descriptor, or -1.  Errors: those of open_step; ENAMETOOLONG.
 */
int path_open_below(struct os *os, int dirfd, const char *path,
                    int (*open_step)(void *arg, int dirfd, const char *name), void *arg);

/**
 * Open a path without following symlinks, by openat2(2) if this kernel has it and the path is short
 * enough, or else by path_open_below().
 *
 * @dirfd    As for openat(2).
 * @flags    With O_DIRECTORY or O_PATH.
 * @resolve  RESOLVE_ flags that openat2(2) also gets.  path_open_below() ignores them.
 * @return   a descriptor, or -1.  Errors: those of openat2(2); ENAMETOOLONG.
 */
int path_open_plain(struct os *os, int dirfd, const char *path, int flags, uint64_t resolve);

/** Write a path without ".", ".." and double slashes; a relative path stays relative. */
void path_normal(const char *path, struct strbuf *out);

#endif
