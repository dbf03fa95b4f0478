/* SPDX-License-Identifier: MIT */
/**
 * Changes of the files of a file system: fanotify(7) with directories and names, and the handles
 * that its events have.
 *
 * Processes that change files never wait for the reader of the events.
 */
#ifndef GM_OS_WATCH_H
#define GM_OS_WATCH_H

#include "os/os.h"

/** A file handle: struct file_handle of the C library, with room. */
struct os_handle {
	uint32_t bytes;           /* of data; at most OS_HANDLE_MAX */
	int32_t type;
	unsigned char data[128];
};
enum { OS_HANDLE_MAX = 128 };

/** Watch a file system, all its subvolumes included: each object that is created, removed, renamed
    or modified, or whose attributes change, causes an event.
    @fd  A directory of the file system, not O_PATH.
    @return a non-blocking descriptor, or -1.
    Errors: EPERM (needs CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH in the initial user namespace),
    EINVAL (before Linux 5.9), ENODEV and EOPNOTSUPP (this file system has no handles or no ID),
    EXDEV. */
int os_watch_files(struct os *os, int fd);

/** The handle of a directory.  @return 0, or -1.  Errors: those of name_to_handle_at(2). */
int os_handle(struct os *os, int fd, struct os_handle *handle);

/** Open an object by its handle, with O_PATH.
    @mount  Any object of its file system, not O_PATH; the result belongs to the same mount.
    @return a descriptor, or -1.  Errors: ESTALE: it was removed; those of open_by_handle_at(2). */
int os_open_handle(struct os *os, int mount, const struct os_handle *handle);

#endif
