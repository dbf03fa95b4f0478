/* SPDX-License-Identifier: MIT */
/**
 * A directory that stands for a whole system: the names of a struct os that has entered
 * one lead below it, and nowhere else.
 *
 * Links are followed within it, name by name, ".." ends at it, and nothing but
 * directories and regular files is opened: what is in it may come from anybody.  A file
 * system's own objects that need root to be made are links instead:
 *
 *     dev/sda1 -> getmnt:block:8:1     a block device: never opened, only looked at
 *     dev/null -> getmnt:other         what is neither of these nor a directory, file or link
 *     srv/data -> getmnt:missing       what was looked for, and is not there
 *
 * A directory has all that there was, and what it lacks is missing (ENOENT).  Of one with
 * a file .getmnt-part in it, and of the topmost, that is not known: EACCES, as of what may
 * not be seen; nor can such a one be listed.
 *
 * Who has entered has no working directory, and a relative name without a descriptor is
 * not there.  Descriptors of before lead where they did.
 */
#ifndef GM_OS_INSIDE_H
#define GM_OS_INSIDE_H

#include "os/os.h"

#define INSIDE_MISSING "getmnt:missing"
#define INSIDE_BLOCK "getmnt:block:"
#define INSIDE_OTHER "getmnt:other"
#define INSIDE_PART ".getmnt-part"

/**
 * Have all names lead below a directory from here on.
 *
 * @os   What it can do is forgotten: listmount and its kin would tell of this system.
 * @dir  A descriptor, which os_leave() closes.
 */
void os_enter(struct os *os, int dir);

/** Close the directory that was entered, if one was. */
void os_leave(struct os *os);

/** Whether it has entered one. */
static inline bool os_is_inside(const struct os *os)
{
	return os->inside > 0;
}

/* For os.c: the calls of these names, inside. */
int os_inside_open(struct os *os, int dirfd, const char *path, int flags);
int os_inside_statx(struct os *os, int dirfd, const char *path, int flags, struct k_statx *st);
ssize_t os_inside_readlink(struct os *os, int dirfd, const char *path, char *buf, size_t size);

/** The number of a block device that an open link stands for.  @return whether it does. */
bool os_inside_block(struct os *os, int fd, uint32_t *major, uint32_t *minor);

#endif
