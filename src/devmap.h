/* SPDX-License-Identifier: MIT */
/**
 * Names and identifiers of block devices by device number, like Smith's table of block special
 * files.
 *
 * Names come from sysfs.  Identifiers come from these sources, in order: the udev database; a
 * low-level probe of the device by libblkid, only if that device is requested and only if it is
 * local and safe to open (not a path of a multipath, a member of md, LVM, zfs or bcache, removable,
 * suspended or shut down); for a mounted btrfs, sysfs; libblkid's cache file
 * (/run/blkid/blkid.tab, parsed as text).  Nothing is ever written.
 *
 * Everything is read on first use and kept.  A map must be used by one thread.  The call counts of
 * os include the opens of a probe, but not the few reads and ioctls that libblkid makes.
 */
#ifndef GM_DEVMAP_H
#define GM_DEVMAP_H

#include "base/mount.h"
#include "os/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether identifiers are known, and why not.  None of these is an error. */
enum devmap_known {
	DEVMAP_KNOWN,        /* identified (a NULL tag does not exist) */
	DEVMAP_ANONYMOUS,    /* not a block device: major 0 */
	DEVMAP_NO_DEVICE,    /* sysfs does not have this number */
	DEVMAP_DENIED,       /* no permission to open the device */
	DEVMAP_UNSAFE,       /* a probe would be needed, but is not safe: see reason */
	DEVMAP_UNTAGGED,     /* probed: libblkid recognizes nothing on it */
	DEVMAP_FAILED,       /* probed: I/O error */
	DEVMAP_NO_NODE,      /* in sysfs but not in /dev: a container */
	DEVMAP_AMBIVALENT,   /* has signatures of more than one type */
};

struct devmap_tags {
	const char *name;        /* "/dev/sda1", "/dev/mapper/x" rather than dm-0; or NULL */
	const char *type;        /* "ext4", "swap", "crypto_LUKS" */
	const char *usage;       /* "filesystem", "raid", "crypto", "other" */
	const char *uuid, *label;
	const char *partuuid, *partlabel;
	enum devmap_known known;
	const char *uuid_sub;    /* of one device of a multi-device file system: btrfs, bcachefs */
	bool multi_device;       /* one of several devices of a mounted btrfs */
	bool remote;             /* udev has a path over a network: iSCSI */
	const char *reason;      /* of DEVMAP_UNSAFE: "path of a multipath" */
};

struct devmap;

/** Usually /sys, /run, /dev and /proc; NULL: it does not exist, or must not be touched. */
struct devmap_roots {
	const char *sys, *run, *dev, *proc;
};

/**
 * Make an empty map.  Nothing is read yet.
 *
 * @roots
 *         The strings must outlive the map.
 * @return it, or NULL.  Errors: ENOMEM.  Ownership: devmap_free().
 */
struct devmap *devmap_new(struct os *os, const struct devmap_roots *roots);

/** Free a map and everything that it returned; NULL is fine. */
void devmap_free(struct devmap *map);

/**
 * Whether memory ran out at any time, so that answers since then may be wrong, also that a device
 * does not block.
 */
bool devmap_failed(const struct devmap *map);

/**
 * The first file of udev or libblkid that was not read because it is not a regular file, or on a
 * file system that can block.
 *
 * @error [out]  EREMOTE, ENOTSUP or EISDIR.
 * @return its path, or NULL.
 */
const char *devmap_refused(const struct devmap *map, int *error);

/**
 * Set the callback that judges the backing files of loop devices, for which the mounts must be
 * known.  Earlier judgements are dropped.  To be called before tags are requested.
 *
 * @blocks
 *         Whether touching this file could block, or is unknown.  major, minor: the loop device,
 *         for devmap_file_here().  path: of the file, or of its directory if it is deleted.
 *         Without a callback, files are assumed to be local.
 */
void devmap_set_judge(struct devmap *map,
                      bool (*blocks)(void *arg, const char *path, uint32_t major, uint32_t minor),
                      void *arg);

/** A backing file. */
struct devmap_file {
	const char *path;        /* its path, or that of its directory if it is deleted */
	uint32_t major, minor;   /* its loop device */
};

/**
 * Call each() for each backing file below the device of a mount: directly, through other devices,
 * or through another device of its file system.  devmap_mount_blocks() must be called before.
 */
void devmap_mount_files(struct devmap *map, const struct mount *m,
                        void (*each)(void *arg, const struct devmap_file *file), void *arg);

/** Whether a backing file is the file of its name in this mount namespace. */
enum devmap_here {
	DEVMAP_UNREAD,
	DEVMAP_HERE,         /* it is */
	DEVMAP_ELSEWHERE,    /* it is not */
	DEVMAP_NAMED,        /* cannot be proven */
};

/**
 * Find whether the backing file of a loop device is the file of its name.  The directory of the
 * file must be safe to open.  It cannot be proven without the right to chroot(2), nor for a file
 * in "/"; then a deleted file counts as elsewhere.  Forks once.
 *
 * @dirfd
 *         The root of names; AT_FDCWD for "/".
 */
enum devmap_here devmap_file_here(struct devmap *map, uint32_t major, uint32_t minor, int dirfd);

/** A directory that is being read. */
struct devmap_dir {
	struct os_dir os;        /* at the end, error is 0 or says why not all was read */
	_Alignas(struct k_dirent) char buf[4096];
};

/** Open a directory below the sysfs root. */
__attribute__((format(printf, 3, 4)))
void devmap_dir_open(struct devmap *map, struct devmap_dir *dir, const char *format, ...);

/** The next name; NULL at the end, where the directory is closed. */
const char *devmap_dir_next(struct devmap *map, struct devmap_dir *dir);

/** Close a directory that was not read to its end. */
void devmap_dir_close(struct devmap *map, struct devmap_dir *dir);

/**
 * Assume that the device of a mount can block, whatever sysfs reports, since the mount did not
 * answer; also the devices on it, and the disk of a partition.  To be called before
 * devmap_set_judge().
 */
void devmap_mount_avoid(struct devmap *map, const struct mount *m);

/**
 * The /dev name of a device number, without opening the device: one readlink, and for dm devices
 * one small file.
 *
 * @return the name, owned by the map; or NULL.
 */
const char *devmap_name(struct devmap *map, uint32_t major, uint32_t minor);

/**
 * Find the block device of a mount: that of its number; of a btrfs and bcachefs, which have
 * anonymous numbers, that of its source ("/dev/loop0").
 *
 * @major, minor [out]
 *         The device; unchanged if there is none.
 * @return whether there is one.
 */
bool devmap_mount_device(struct devmap *map, const struct mount *m, uint32_t *major,
                         uint32_t *minor);

/**
 * The identifiers of a device, or of that of a mount; probes it if needed and safe.
 *
 * @return the tags, owned by the map; NULL only for ENOMEM.
 */
const struct devmap_tags *devmap_tags(struct devmap *map, uint32_t major, uint32_t minor);
const struct devmap_tags *devmap_mount_tags(struct devmap *map, const struct mount *m);

/**
 * Whether I/O to a device of the file system of a mount could block: its device; the other devices
 * of a btrfs; the log and the real-time device of an XFS; an external journal of ext2 to ext4.
 *
 * A device blocks if it is suspended, shut down, or remote (nbd, rbd, drbd, iSCSI, NVMe over
 * fabrics), or is on such a device through dm, md or loop; or if sysfs does not have it or cannot
 * be read.  A multipath blocks when no path works, as reported by sysfs, and for root by device
 * mapper (ioctl).  Otherwise only sysfs is read.  False for mounts of no device.
 *
 * @m      With fstype and source; of an XFS also with fs_opts.
 */
bool devmap_mount_blocks(struct devmap *map, const struct mount *m);

/**
 * Whether a device is outside of this machine (nbd, rbd, drbd, iSCSI, NVMe over fabrics), or on
 * such a device through dm, md or loop, so that mounting it needs the network.
 */
bool devmap_remote(struct devmap *map, uint32_t major, uint32_t minor);

/** Whether a device is a mapping of cryptsetup(8): CRYPT-LUKS2-...  Reads one file of sysfs for dm
    devices. */
bool devmap_crypt(struct devmap *map, uint32_t major, uint32_t minor);

/** Whether a device is read-only: an optical disc, a write-protected card, or attached read-only.
    Reads one file of sysfs. */
bool devmap_protected(struct devmap *map, uint32_t major, uint32_t minor);

/** A loop device. */
struct devmap_loop {
	const char *file;        /* path of the backing file, which may end in " (deleted)" */
	uint64_t offset, limit;  /* in bytes; limit 0: none */
	bool partition;          /* it is a partition of the loop device */
};

/**
 * The backing file of a loop device, by sysfs.
 *
 * @loop [out]  Unchanged if it is not one.
 * @return whether it is a loop device with a backing file.
 */
bool devmap_loop(struct devmap *map, uint32_t major, uint32_t minor, struct devmap_loop *loop);

/** A block device with known contents. */
struct devmap_device {
	uint32_t major, minor;
	const struct devmap_tags *tags;
};

/**
 * List block devices with identifiers, sorted by number.
 *
 * @all    Also swap, members and empty partitions, to find whether an identifier is unique; else
 *         only file systems.
 * @devices [out]  An array, to be freed by the caller; the tags are owned by the map.
 * @whole [out]  No device with unknown identifiers is left out.
 * @return its length, or -1.  Errors: ENOENT or EACCES (no sysfs), ENOMEM.
 */
ssize_t devmap_list(struct devmap *map, bool all, struct devmap_device **devices, bool *whole);

/** Why a listed device is not mounted itself, although it may show the identifiers of one that is:
    it or its disk is a path of a multipath, or a member of md, LVM, zfs or bcache.
    Only reads sysfs, if tags are not enough.
    @return the reason, or NULL. */
const char *devmap_part(struct devmap *map, uint32_t major, uint32_t minor);

#endif
