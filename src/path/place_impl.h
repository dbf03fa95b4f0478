/* SPDX-License-Identifier: MIT */
/**
 * The place of a file that is read or replaced as root: its directory, held open, and its name.
 *
 * A symlink of neither root nor the effective user is not followed: whoever made it could have
 * root read and replace any file.  Symlinks of the kernel in the top directory of a procfs are
 * followed.
 */
#ifndef GM_PATH_PLACE_IMPL_H
#define GM_PATH_PLACE_IMPL_H

#include "path/replace.h"
#include "path/resolve.h"

#include <limits.h>

enum { PROC_MAGIC = 0x9fa0 };

struct place {
	struct os *os;
	const struct replace_name *opts;
	struct path_walk walk;    /* its text is the path */
	int rootfd, fd;           /* O_PATH: the root, the directory */
	int pipe;                 /* the pipe that a last component in /proc/PID/fd links to; -1 */
	char *link;               /* target of the first symlink that was a last component */
	bool in_root;             /* below opts->root */
	bool dir;                 /* the root itself is being resolved */
	bool at_link;             /* a last component that is a symlink is the file */
	bool found;               /* the last component was reached; else it is a directory */
	struct replace_error refused;
};

/**
 * Resolve the path of opts.  The last component may be missing.
 *
 * @return 0, or -1 with errno and, if it was refused, place->refused.
 * Ownership: place_destroy(), in any case.
 */
int place_find(struct place *place, struct os *os, const struct replace_name *opts, bool at_link);

/** Close and free what it holds; errno survives. */
void place_destroy(struct place *place);

#endif
