/* SPDX-License-Identifier: MIT */
/**
 * Programs and units installed below ROOT.  Only files below ROOT are accessed, and symlinks are
 * followed within ROOT.
 */
#ifndef GM_HOST_SYSTEM_H
#define GM_HOST_SYSTEM_H

#include "mounts/paths.h"

struct host_system;

/** Open ROOT.
    @paths  The paths of this process; paths that could block are not accessed.
    @return the system, or NULL.  Errors: ENOMEM; those of openat(2).  Ownership:
    host_system_free(). */
struct host_system *host_system_new(struct os *os, const char *root, struct mounts_paths *paths);

/** Free a system; NULL is allowed. */
void host_system_free(struct host_system *sys);

/** Whether a helper such as "fsck.ext4" or "mount.nfs" exists: 1, 0; -1: unknown.  Cached. */
int host_system_helper(struct host_system *sys, const char *name);

/** Whether it is certain that neither /etc/systemd/system nor /run/systemd/system contains a unit
    with this name.  Both directories are listed once, because many lines need the answer. */
bool host_system_lacks_unit(struct host_system *sys, const char *name);

/** The swap file that dphys-swapfile(8) creates and uses; NULL: none. */
const char *host_system_swap_file(struct host_system *sys);

/** Whether an open file is the one at a path below ROOT. */
bool host_system_is(struct host_system *sys, int fd, const char *path);

#endif
