/* SPDX-License-Identifier: MIT */
/**
 * What the files of replace_commit() share.
 */
#ifndef GM_PATH_REPLACE_IMPL_H
#define GM_PATH_REPLACE_IMPL_H

#include "path/replace.h"

#include <limits.h>
#include <time.h>

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
