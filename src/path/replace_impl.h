/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files that implement replacing.
 */
#ifndef GM_PATH_REPLACE_IMPL_H
#define GM_PATH_REPLACE_IMPL_H

#include "path/replace.h"
#include "path/resolve.h"

#include <limits.h>
#include <time.h>

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

enum { NAME_SIZE = NAME_MAX + 64 };

/** The state of a replacement: open files, and existing temporary files. */
struct writer {
	struct replace *file;
	struct replace_error *error;
	int dir;                    /* for fsync and for listing */
	int lock, new;
	uid_t euid;
	bool made_lock, made_new, made_old, made_backup;
	char lock_name[NAME_SIZE], new_name[NAME_SIZE], old_name[NAME_SIZE], backup_name[NAME_SIZE];
};

/* replace.c */

/** Whether a file is unchanged, judging by its times. */
bool replace_same_times(const struct stat *a, const struct stat *b);

/* replace_write.c */

/** Set the error that corresponds to errno.  @return -1. */
int writer_fail(const struct writer *w, const char *step, const char *name);

/** Get the attributes of a name in the directory of the file, unless it is a mount point.
    @return 0, or -1 with errno. */
int writer_look(const struct writer *w, const char *name, struct stat *st);

/**
 * Write a new file with owner, mode and attributes of the old one to disk, and read it
 * back.  Removes a file that a killed run left under this name.
 *
 * @times  Times of access and modification, or NULL.
 * @made [out]  The file exists, also after some failures.
 * @return a descriptor, or -1 and the error.
 */
int writer_make(const struct writer *w, const char *name, const char *bytes, size_t len,
                const struct timespec *times, bool *made);

/** Rename to a name that must not exist yet.  @return 0, or -1 with errno. */
int writer_rename(const struct writer *w, const char *from, const char *to);

/* replace_keep.c */

/** Give a new file the owner, mode and attributes of the old one; mode 0644 if there is no old
    file.
    @return 0, or -1 and the error. */
int writer_keep(const struct writer *w, int fd, const char *name);

/* replace_backup.c */

/** Make a backup.  It is renamed into place, so it is never incomplete.
    @return 0, or -1 and the error. */
int backup_make(struct writer *w);

/** Remove all but the latest REPLACE_BACKUPS backups.  Failures are ignored. */
void backup_prune(const struct writer *w);

#endif
