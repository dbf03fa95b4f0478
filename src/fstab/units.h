/* SPDX-License-Identifier: MIT */
/**
 * The systemd units of a mount point or swap space: whether a unit makes it, and whether systemd
 * has a unit generated from a line of the fstab for it.  Pure.
 */
#ifndef GM_FSTAB_UNITS_H
#define GM_FSTAB_UNITS_H

#include "fstab/fstab.h"
#include "host/units.h"

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
