/* SPDX-License-Identifier: MIT */
/**
 * What the system in ROOT has: the helpers of fsck(8), and systemd's units.
 *
 * Only files below ROOT are looked at, and links are followed within it.
 */
#ifndef GM_FSTAB_SYSTEM_H
#define GM_FSTAB_SYSTEM_H

#include "fstab/fstab.h"
#include "os/os.h"

struct fstab_system;

/**
 * Open ROOT.
 *
 * @blocks  Whether touching a path of this process could block; what lies there is
 *          not looked at then.  errno is ENOENT of what is not there.
 * @return it, or NULL.  Errors: ENOMEM; those of openat(2).
 * Ownership: fstab_system_free().
 */
struct fstab_system *fstab_system_new(struct os *os, const char *root,
                                      bool (*blocks)(void *arg, const char *path), void *arg);

/** Free it; NULL is fine. */
void fstab_system_free(struct fstab_system *sys);

/** Whether there is a helper, "fsck.ext4" or "mount.nfs": 1, 0; -1: it cannot be seen.
    Looked for once. */
int fstab_system_helper(struct fstab_system *sys, const char *name);

/** What systemd has for a mount point.  Units are listed once, when they are first
    asked for. */
enum fstab_unit fstab_system_unit(struct fstab_system *sys, const char *target);

/** Whether an open file is the one of a path below ROOT. */
bool fstab_system_is(struct fstab_system *sys, int fd, const char *path);

/** Whether memory ran out, so that something may not have been told. */
bool fstab_system_failed(const struct fstab_system *sys);

#endif
