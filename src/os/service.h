/* SPDX-License-Identifier: MIT */
/**
 * For a program that runs until it is stopped: signals and changed files as descriptors for
 * poll(2), and the protocol of sd_notify(3).
 */
#ifndef GM_OS_SERVICE_H
#define GM_OS_SERVICE_H

#include "os/os.h"

#include <stdbool.h>

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

#endif
