/* SPDX-License-Identifier: MIT */
/**
 * What the files of replacing share.
 */
#ifndef GM_PATH_REPLACE_IMPL_H
#define GM_PATH_REPLACE_IMPL_H

#include "path/replace.h"
#include "path/resolve.h"

#include <limits.h>
#include <time.h>

/* place.c */

enum { PROC_MAGIC = 0x9fa0 };

/** The place of a file that is read or replaced as root: its directory, held open, and its name. */
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

enum { NAME_SIZE = NAME_MAX + 64 };

/** The state of a replacement: what is open, and which temporary files exist. */
struct writer {
	struct replace *file;
	struct replace_error *error;
	int dir;                    /* for fsync and a listing */
	int lock, new;
	uid_t euid;
	bool made_lock, made_new, made_old, made_backup;
	char lock_name[NAME_SIZE], new_name[NAME_SIZE], old_name[NAME_SIZE], backup_name[NAME_SIZE];
};

/* replace.c */

/** Whether a file has not changed, by its times. */
bool replace_same_times(const struct stat *a, const struct stat *b);

/* replace_write.c */

/** Set the error that errno means here.  @return -1. */
int writer_fail(const struct writer *w, const char *step, const char *name);

/** The attributes of a name in the directory of the file, if it is not a mount point.
    @return 0, or -1 with errno. */
int writer_look(const struct writer *w, const char *name, struct stat *st);

/**
 * Write a new file, with owner, mode and attributes of the old one, to disk, and read it back.
 * What a killed run left at the name is removed.
 *
 * @times  Of access and change, or NULL.
 * @made [out]  The file exists: also after some failures.
 * @return a descriptor, or -1 and the error.
 */
int writer_make(const struct writer *w, const char *name, const char *bytes, size_t len,
                const struct timespec *times, bool *made);

/** Rename to a name that does not exist yet.  @return 0, or -1 with errno. */
int writer_rename(const struct writer *w, const char *from, const char *to);

/* replace_keep.c */

/** Give a new file the owner, mode and attributes of the old one; 0644 if there is none.
    @return 0, or -1 and the error. */
int writer_keep(const struct writer *w, int fd, const char *name);

/* replace_backup.c */

/** Make a backup.  At each moment it is whole or does not exist, since it is renamed into place.
    @return 0, or -1 and the error. */
int backup_make(struct writer *w);

/** Remove all backups but the last REPLACE_BACKUPS.  Failures are ignored. */
void backup_prune(const struct writer *w);

#endif
