/* SPDX-License-Identifier: MIT */
/**
 * What is installed in the system below ROOT.  Only files below ROOT are looked at, and links
 * are followed within it.
 */
#ifndef GM_HOST_SYSTEM_H
#define GM_HOST_SYSTEM_H

#include "os/os.h"

struct host_system;

/**
 * Open ROOT.
 *
 * @blocks  Whether touching a path of this process could block; such a path is not touched.
 *          errno is ENOENT of one that does not exist.
 * @return it, or NULL.  Errors: ENOMEM; those of openat(2).
 * Ownership: host_system_free().
 */
struct host_system *host_system_new(struct os *os, const char *root,
                                    bool (*blocks)(void *arg, const char *path), void *arg);

/** Free it; NULL is fine. */
void host_system_free(struct host_system *sys);

/** Whether there is a helper, "fsck.ext4" or "mount.nfs": 1, 0; -1: not known.  Cached. */
int host_system_helper(struct host_system *sys, const char *name);

/** Whether neither /etc/systemd/system nor /run/systemd/system has a unit of a name, for certain.
    Both are listed once: many lines need to know. */
bool host_system_lacks_unit(struct host_system *sys, const char *name);

/** The swap file that dphys-swapfile(8) makes and swaps onto; NULL: none. */
const char *host_system_swap_file(struct host_system *sys);

/** Whether an open file is the one of a path below ROOT. */
bool host_system_is(struct host_system *sys, int fd, const char *path);

#endif
