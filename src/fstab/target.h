/* SPDX-License-Identifier: MIT */
/**
 * Mount points: their names, what a system has there, and their systemd units.  Pure.
 */
#ifndef GM_FSTAB_TARGET_H
#define GM_FSTAB_TARGET_H

#include "base/arena.h"
#include "base/map64.h"
#include "discover/discover.h"
#include "fstab/fstab.h"
#include "host/units.h"

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

/* The units of a mount point or swap space: whether a unit makes it, and whether systemd has a unit
   generated from a line of the fstab for it. */

/** The kind of unit that makes a mount or swap space.
    @path  The mount point, or a name in /proc/swaps. */
enum fstab_unit fstab_unit_of(const struct host_units *units, const char *path);

/** Whether systemd has loaded a line of /etc/fstab for a mount point or swap space. */
bool fstab_has_loaded(const struct host_units *units, const char *path);

/** Whether drop-ins change the unit of a line of /etc/fstab for a mount point. */
bool fstab_has_dropins(const struct host_units *units, const char *path);

/** Whether a unit was made of a line of /etc/fstab. */
bool fstab_is_lines_unit(const struct host_unit *unit);

/** The units that systemd made of the lines of /etc/fstab. */
struct fstab_loaded {
	size_t count;
	size_t stale;      /* of these, how many it made before the file was last changed */
};

struct fstab_loaded fstab_count_loaded(const struct host_units *units);

/** Whether systemd makes no unit of a line of a mount point: of the API file systems, which it
    mounts by itself.  Source: mount_point_is_api(), mount_point_ignore() of systemd 252.
    @path  Normal. */
bool fstab_is_skipped(const char *path);

/** Append the name of the unit of a mount point, without its ".mount": systemd.unit(5).
    @path  Absolute; additional slashes are skipped. */
void fstab_unit_name(struct strbuf *out, const char *path);

/** Whether a list of unit names has one that each boot reaches: local-fs.target and its like. */
bool fstab_is_boot_target(const char *names);

#endif
