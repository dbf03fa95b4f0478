/* SPDX-License-Identifier: MIT */
/**
 * Mount points: their normal form, those that belong to the system or the kernel, and their systemd
 * units.  Pure.
 */
#ifndef GM_FSTAB_TARGET_H
#define GM_FSTAB_TARGET_H

#include "base/arena.h"
#include "base/map64.h"
#include "discover/discover.h"
#include "fstab/fstab.h"
#include "host/units.h"

/** Normalize a path by its text: remove "//", "/./", "/../" and a '/' at the end.  No link is
    followed.
    @return the path; NULL if it is not absolute, or after a failure of the arena. */
const char *fstab_normal(struct arena *arena, const char *path);

/** Convert a path of the mount table to a path that starts from the root directory `root`.
    @root, path  Normalized, as spelled in the mount table.
    @return a part of `path`, or "/"; NULL: the path is not at or below `root`. */
const char *fstab_from_root(const char *root, const char *path);

/** Append to a directory the part of another path below a directory.
    @rest  The result of word_below(): "" or "/" stands for `dir` itself.
    @return a new path; "" after a failure of the arena. */
const char *fstab_join(struct arena *arena, const char *dir, const char *rest);

/** Count the components of a path below a directory; 0: the path is the directory; -1: the path is
    not below the directory. */
int fstab_depth_below(const char *path, const char *dir);

/** Whether a path is, or is below, a directory of a NULL-terminated list. */
bool fstab_below_any(const char *target, const char *const *dirs);

/** Whether the mount of a node is a bind of its mount point onto itself. */
bool fstab_upon_itself(const struct discovery *d, uint32_t node);

/** Whether a mount point belongs to the kernel: at or below /proc, /sys or /dev, but not a
    directory in /dev/shm. */
bool fstab_is_kernels(const char *target);

/** Whether a mount hides files of /proc, /sys or /dev: a mount of a disk, a server, an overlay or a
    FUSE program, any mount on the directory of a process, or a mount on /proc with a type other
    than proc. */
bool fstab_hides_kernels(const struct mount *mount, const char *target);

/** Hash the device number of a mount.  Continued with the bytes of mount->root, the hash stands for
    the part of the file system that the mount shows. */
static inline uint64_t fstab_device_hash(const struct mount *mount)
{
	uint64_t device = mount_dev(mount);
	return map64_bytes(MAP64_BYTES, (const char *)&device, sizeof(device));
}

/** Whether a mount point is "/", or at or below a directory of the system: /boot, /usr, /var, /home
    and others. */
bool fstab_is_system(const char *target);

/** Whether a boot fails to remount its root with the options of the line of "/", since the root is
    an image: an overlay without an upper directory, composefs, or a read-only file system of a
    type other than that of the line.  systemd-remount-fs, or a different init, remounts the root.
    @why [out]  What fails, appended. */
bool fstab_root_fault(const struct fstab_entry *line, const struct mount *root,
                      struct strbuf *why);

/* The systemd units of mounts and swap spaces; which of them were generated from fstab lines. */

/** The kind of unit that makes a mount or swap space.
    @path  The mount point, or a name in /proc/swaps. */
enum fstab_unit fstab_unit_of(const struct host_units *units, const char *path);

/** Whether systemd has loaded a line of /etc/fstab for a mount point or swap space. */
bool fstab_has_loaded(const struct host_units *units, const char *path);

/** Whether drop-ins change the unit that systemd generated from the line of /etc/fstab for a mount
    point. */
bool fstab_has_dropins(const struct host_units *units, const char *path);

/** Whether a unit was generated from a line of /etc/fstab. */
bool fstab_is_lines_unit(const struct host_unit *unit);

/** The units that systemd generated from the lines of /etc/fstab. */
struct fstab_loaded {
	size_t count;
	size_t stale;      /* units generated before the file was last changed */
};

struct fstab_loaded fstab_count_loaded(const struct host_units *units);

/** Whether systemd ignores fstab lines of a mount point, such as /proc, because systemd mounts an
    API file system on it.  Source: mount_point_is_api(), mount_point_ignore() of systemd 252.
    @path  Normalized. */
bool fstab_is_skipped(const char *path);

/** Append the name of the unit of a mount point, without its ".mount": systemd.unit(5).
    @path  Absolute; additional slashes are skipped. */
void fstab_unit_name(struct strbuf *out, const char *path);

/** Whether a list of unit names contains a target that each boot reaches, such as
    local-fs.target. */
bool fstab_is_boot_target(const char *names);

#endif
