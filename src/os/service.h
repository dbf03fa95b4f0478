/* SPDX-License-Identifier: MIT */
/**
 * For a program that runs until it is stopped: signals, changed files and changes of a file system
 * as descriptors for poll(2), and the protocol of sd_notify(3).
 *
 * Changes of a file system come from fanotify(7) with directories and names, and so do its errors;
 * processes that change files never wait for the reader of the events.
 */
#ifndef GM_OS_SERVICE_H
#define GM_OS_SERVICE_H

#include "os/os.h"

/** Block SIGHUP, SIGINT and SIGTERM, in children as well.
    @return a descriptor that is readable while one is pending, or -1. */
int os_signalfd_open(struct os *os);

/** Read a pending signal.  @return its number; 0: none. */
int os_signalfd_read(struct os *os, int fd);

/** inotify_init1(2).  @return a descriptor that is readable once a watched file has changed, or -1.
    A child may add files to it. */
int os_files_open(struct os *os);

/** Watch a file for changes, its removal and its replacement; of a directory, its entries.
    @path  Resolved: no symlink is followed.  @return 0, or -1. */
int os_files_add(struct os *os, int fd, const char *path);

/** Send a message to a service manager; waits at most a second for it.
    @address  As in NOTIFY_SOCKET: an absolute path, or "@" and an abstract name.
    @return 0, or -1.  Errors: EINVAL: another kind of address; those of connect(2) and
    sendmsg(2). */
int os_notify(struct os *os, const char *address, const char *text);

/** One event of fanotify(7). */
struct os_event {
	uint64_t mask;            /* FAN_CREATE ... */
	int pid;                  /* the process that caused it; 0: in another PID namespace */
	const char *info;         /* size bytes of records, within the bytes that were read */
	size_t size;
};

/** Take the first event of bytes that were read from fanotify(7).
    @at, len [in,out]  The rest of the bytes.
    @return 1; 0: no bytes are left; -1.  Errors: EPROTO: not an event. */
int os_event_next(const char **at, size_t *len, struct os_event *event);

/** A file handle: struct file_handle of the C library, with room. */
struct os_handle {
	uint32_t bytes;           /* of data; at most OS_HANDLE_MAX */
	int32_t type;
	unsigned char data[128];
};
enum { OS_HANDLE_MAX = 128 };

/** Watch a file system, all its subvolumes included: each object that is created, removed, renamed
    or modified, or whose attributes change, causes an event.
    @fd  A directory of the file system; O_PATH is enough.
    @return a non-blocking descriptor, or -1.
    Errors: EPERM (needs CAP_SYS_ADMIN and CAP_DAC_READ_SEARCH in the initial user namespace),
    EINVAL (before Linux 5.9), ENODEV and EOPNOTSUPP (this file system has no handles or no ID),
    EXDEV. */
int os_watch_files(struct os *os, int fd);

/** A descriptor that is readable once a watched file system has reported an error; a child may add
    file systems to it.  ext4 reports errors, and further types from Linux 7.0.
    @return the descriptor, non-blocking, or -1.  Errors: ENOSYS: disabled; those of
    fanotify_init(2). */
int os_errors_open(struct os *os);

/** Watch a file system for errors until it is unmounted.
    @fd  As for os_watch_files().
    @return 0, or -1.  Errors: EINVAL (before Linux 5.16), EPERM (needs CAP_SYS_ADMIN), those of
    os_watch_files(). */
int os_errors_add(struct os *os, int group, int fd);

/** Read all errors that were reported.
    @except  The ID of a process.
    @return whether a process other than `except` met an error. */
bool os_errors_read(struct os *os, int group, int except);

/** Open an object by its handle, with O_PATH.
    @mount  Any object of its file system, not O_PATH; the result belongs to the same mount.
    @return a descriptor, or -1.  Errors: ESTALE: it was removed; those of open_by_handle_at(2). */
int os_open_handle(struct os *os, int mount, const struct os_handle *handle);

/** os_poll() until a time of os_now(), but at most for some days. */
int os_poll_until(struct os *os, struct pollfd *fds, size_t n, double until);

#endif
