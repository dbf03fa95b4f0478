/* SPDX-License-Identifier: MIT */
/**
 * Mount points: their names, and the usual mounts of each kind of system.
 */
#ifndef GM_FSTAB_PLACES_H
#define GM_FSTAB_PLACES_H

#include "base/arena.h"
#include "base/map64.h"
#include "discover/discover.h"

/** A path without "//", "/./", "/../" and a '/' at its end.  No link is followed.
    @return the path; NULL if it is not absolute, or on ENOMEM. */
const char *fstab_normal(struct arena *arena, const char *path);

/** How many components a path has below a directory; -1: it is not below. */
int fstab_depth_below(const char *path, const char *dir);

/** Whether a path is one of the directories of a list that ends with NULL, or below one. */
bool fstab_below_any(const char *target, const char *const *dirs);

/** Whether the mount of a node of the tree shows the directory that it is mounted on. */
bool fstab_upon_itself(const struct discovery *d, uint32_t node);

/** Whether a mount point is the kernel's: at or below /proc, /sys or /dev, but not a directory
    in /dev/shm. */
bool fstab_is_kernels(const char *target);

/** Whether a mount hides files of the kernel or the system: with files of a disk, a server or a
    program, or a mount on a process directory. */
bool fstab_hides_kernels(const struct mount *mount, const char *target);

/** What the hash of a part of a file system begins with: the bytes of its root follow. */
static inline uint64_t fstab_device_hash(const struct mount *mount)
{
	uint64_t device = mount_dev(mount);
	return map64_bytes(MAP64_BYTES, (const char *)&device, sizeof(device));
}

/** Whether a system cannot run without this mount point. */
bool fstab_is_system(const char *target);

#endif
