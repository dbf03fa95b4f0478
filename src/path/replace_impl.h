/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files that implement replacing.
 */
#ifndef GM_PATH_REPLACE_IMPL_H
#define GM_PATH_REPLACE_IMPL_H

#include "path/replace.h"
#include "path/resolve.h"

/* place.c */

enum { PROC_MAGIC = 0x9fa0 };

/** The location of a file to be read or replaced: its directory, held open, and its name. */
struct place {
	struct os *os;
	const struct replace_name *opts;
	struct path_walk walk;    /* its text is the path */
	int rootfd, fd;           /* O_PATH: the root, the directory */
	int pipe;                 /* the pipe, if the last component is a link to one in
	                             /proc/PID/fd; or -1 */
	char *link;               /* target of the first symlink found as last component */
	bool in_root;             /* below opts->root */
	bool dir;                 /* a directory, or the root itself, is being resolved */
	bool create;              /* with dir: create missing directories */
	bool by_kernel;           /* the component is a symlink of procfs, whose text may be no
	                             path: the kernel follows it */
	bool at_link;             /* a symlink as last component is the file itself */
	bool found;               /* the last component was reached; false: the path is a
	                             directory */
	struct replace_error refused;
};

/**
 * Resolve the path of opts.  The last component may be missing.
 *
 * @return 0, or -1 with errno and, if a component was refused, place->refused.
 * Ownership: call place_destroy() in either case.
 */
int place_find(struct place *place, struct os *os, const struct replace_name *opts, bool at_link);

/** Resolve the path of a directory, and create missing directories with mode 0700 if `create`.
    Otherwise like place_find(). */
int place_find_dir(struct place *place, struct os *os, const struct replace_name *opts,
                   bool create);

/** Close and free a place.  Preserves errno. */
void place_destroy(struct place *place);

/* replace.c */

/** Set the error of a check that failed.  @number  errno, or 0.  @return -1. */
__attribute__((format(printf, 4, 5)))
int replace_fail(struct replace *file, enum replace_why why, int number, const char *step, ...);

/** Set the error of a call that failed, from errno and file->doing; a set error is kept.  After
    the file was replaced, it is RP_UNSURE.
    @name  The name of the file that the call used, for the message; or NULL.
    @return -1. */
int replace_fail_call(struct replace *file, const char *name);

/** Whether a file is unchanged, judging by its attributes. */
bool replace_same(const struct stat *a, const struct stat *b);

/* replace_keep.c */

/** Give a new file the owner, mode and attributes of the old one; mode 0644 if there is no old
    file.
    @return 0, or -1 with errno or the error. */
int replace_keep(struct replace *file, int to);

#endif
