/* SPDX-License-Identifier: MIT */
/**
 * Names and identifiers of block devices by device number, like Smith's table of block special
 * files.
 *
 * Names come from sysfs.  Identifiers come from the udev database; else from a low-level probe of
 * the device by libblkid, but only if this device was requested, is local, and is safe to open (not
 * a path of a multipath, not a member of md, LVM, zfs or bcache, not removable, suspended or shut
 * down); else, for a mounted btrfs, from sysfs; else from libblkid's cache file
 * (/run/blkid/blkid.tab, parsed as text).
 *
 * Nothing is ever written.  Everything is read on first use and cached.  A map must be used by one
 * thread.  The call counts of os include the opens of a probe, but not the few reads and ioctls
 * that libblkid makes.
 */
#ifndef GM_DEVMAP_H
#define GM_DEVMAP_H

#include "base/mount.h"
#include "os/file.h"

/** Whether identifiers are known, or why not.  None of these is an error. */
enum devmap_known {
	DEVMAP_KNOWN,        /* identified (a NULL tag means that the device has none) */
	DEVMAP_ANONYMOUS,    /* not a block device: major 0 */
	DEVMAP_NO_DEVICE,    /* sysfs does not have this number */
	DEVMAP_DENIED,       /* no permission to open the device */
	DEVMAP_UNSAFE,       /* a probe is necessary, but not safe: see reason */
	DEVMAP_UNTAGGED,     /* probed: libblkid recognizes nothing on it */
	DEVMAP_FAILED,       /* probed: I/O error */
	DEVMAP_NO_NODE,      /* in sysfs but not in /dev: a container */
	DEVMAP_AMBIVALENT,   /* signatures of more than one type */
};

struct devmap_tags {
	const char *name;        /* "/dev/sda1", "/dev/mapper/x" rather than dm-0; or NULL */
	const char *type;        /* "ext4", "swap", "crypto_LUKS" */
	const char *usage;       /* "filesystem", "raid", "crypto", "other" */
	const char *uuid, *label;
	const char *partuuid, *partlabel;
	enum devmap_known known;
	const char *uuid_sub;    /* of a single device of a multi-device file system: btrfs,
	                            bcachefs */
	bool multi_device;       /* one of several devices of a mounted btrfs */
	bool remote;             /* udev reports a path over a network: iSCSI */
	const char *reason;      /* for DEVMAP_UNSAFE: "path of a multipath" */
};

struct devmap;

/** Usually /sys, /run, /dev and /proc; NULL: missing, or must not be accessed. */
struct devmap_roots {
	const char *sys, *run, *dev, *proc;
};

/** Create an empty map.  Reads nothing yet.
    @roots  The strings must remain valid as long as the map.
    @return the map, or NULL.  Errors: ENOMEM.  Ownership: devmap_free(). */
struct devmap *devmap_new(struct os *os, const struct devmap_roots *roots);

/** Free a map and everything that it returned; NULL is allowed. */
void devmap_free(struct devmap *map);

/** Whether memory ran out at any time.  If so, results since then may be wrong, including the
    result that a device does not block. */
bool devmap_failed(const struct devmap *map);

/** The first file of udev or libblkid that was not read because it is not a regular file, or is on
    a file system that can block.
    @error [out]  EREMOTE, ENOTSUP or EISDIR.
    @return its path, or NULL. */
const char *devmap_refused(const struct devmap *map, int *error);

/** Set the callback that checks the backing files of loop devices, for which the mounts must be
    known.  Discards earlier results.  Call it before tags are requested.
    @blocks  Whether access to the file at path could block; true if unknown.  If the file is
    deleted, path is its directory.  major, minor: the loop device, for devmap_file_here().
    Without a callback, files are assumed to be local. */
void devmap_set_blocking_test(struct devmap *map,
                      bool (*blocks)(void *arg, const char *path, uint32_t major, uint32_t minor),
                      void *arg);

/** @trust  true: ignore that callback, because the caller checks the files of devmap_mount_files()
    itself; false: use it again.  Discards earlier results. */
void devmap_trust_files(struct devmap *map, bool trust);

/** A backing file. */
struct devmap_file {
	const char *path;        /* path of the file, or of its directory if the file is deleted */
	uint32_t major, minor;   /* its loop device */
};

/** The backing files below the device of a mount: directly, through other devices, or through
    another device of its file system.  Requires an earlier devmap_mount_blocks().
    @n [out]  Their number.  @return the files, valid as long as the map. */
const struct devmap_file *devmap_mount_files(struct devmap *map, const struct mount *m, size_t *n);

/** Whether the name of a backing file refers to that file in this mount namespace. */
enum devmap_here {
	DEVMAP_UNREAD,
	DEVMAP_HERE,         /* yes */
	DEVMAP_ELSEWHERE,    /* no */
	DEVMAP_NAMED,        /* cannot be determined */
};

/** Find whether the name of a loop device's backing file refers to that file.  The directory of the
    file must be safe to open.  Without the right to chroot(2), or for a file in "/", this cannot be
    determined; a deleted file then counts as elsewhere.  Forks once.
    @dirfd  The root directory for names; AT_FDCWD for "/". */
enum devmap_here devmap_file_here(struct devmap *map, uint32_t major, uint32_t minor, int dirfd);

/** A directory being read. */
struct devmap_dir {
	struct os_dir os;        /* at the end, error is 0 or the errno that ended reading */
	_Alignas(struct k_dirent) char buf[4096];
};

/** Open a directory below the sysfs root. */
__attribute__((format(printf, 3, 4)))
void devmap_dir_open(struct devmap *map, struct devmap_dir *dir, const char *format, ...);

/** The next name; NULL at the end, where the directory is closed automatically. */
const char *devmap_dir_next(struct devmap *map, struct devmap_dir *dir);

/** Close a directory before its end. */
void devmap_dir_close(struct devmap *map, struct devmap_dir *dir);

/** Assume that the device of a mount can block, whatever sysfs reports, because the mount did not
    respond; likewise the devices on top of it, and the disk of a partition.  Call it before
    devmap_set_blocking_test(). */
void devmap_mount_avoid(struct devmap *map, const struct mount *m);

/** The /dev name of a device number, without opening the device: one readlink, and for dm devices
    one small file is read.
    @return the name, owned by the map; or NULL. */
const char *devmap_name(struct devmap *map, uint32_t major, uint32_t minor);

/** Find the block device of a mount by its device number; btrfs and bcachefs have anonymous
    numbers, so for them by the source ("/dev/loop0").
    @major, minor [out]  The device; unchanged if the mount has no device.
    @return whether the mount has a block device. */
bool devmap_mount_device(struct devmap *map, const struct mount *m, uint32_t *major,
                         uint32_t *minor);

/** The identifiers of a device, or of the device of a mount; probes the device if needed and safe.
    @return the tags, owned by the map; NULL only for ENOMEM. */
const struct devmap_tags *devmap_tags(struct devmap *map, uint32_t major, uint32_t minor);
const struct devmap_tags *devmap_mount_tags(struct devmap *map, const struct mount *m);

/**
 * Whether I/O to a device of a mount's file system could block: its device; the other devices of a
 * btrfs; the log and real-time devices of an XFS; an external journal of ext2, ext3 or ext4.
 *
 * A device blocks if it is suspended, shut down, or remote (nbd, rbd, drbd, iSCSI, NVMe over
 * fabrics), or depends on such a device through dm, md or loop; or if it is missing from sysfs or
 * sysfs cannot be read.  A multipath blocks when no path works, as reported by sysfs, and for root
 * by device mapper (ioctl).  Otherwise only sysfs is read.  False for mounts without a device.
 *
 * @m      With fstype and source; for an XFS also with fs_opts.
 */
bool devmap_mount_blocks(struct devmap *map, const struct mount *m);

/** Whether a device is outside this machine (nbd, rbd, drbd, iSCSI, NVMe over fabrics), or depends
    on such a device through dm, md or loop, so that mounting it needs the network. */
bool devmap_remote(struct devmap *map, uint32_t major, uint32_t minor);

/** Whether the medium of a device, or of a device that it stands on, is removable.  Reads one file
    of sysfs for each. */
bool devmap_removable(struct devmap *map, uint32_t major, uint32_t minor);

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

/** Get the backing file of a loop device from sysfs.
    @loop [out]  Unchanged if this returns false.
    @return whether it is a loop device with a backing file. */
bool devmap_loop(struct devmap *map, uint32_t major, uint32_t minor, struct devmap_loop *loop);

/** A block device with known contents. */
struct devmap_device {
	uint32_t major, minor;
	const struct devmap_tags *tags;
};

/** List block devices with identifiers, sorted by number.
    @all  Include swap, members and empty partitions, to find whether an identifier is unique;
    otherwise only file systems.
    @devices [out]  An array that the caller frees; the tags are owned by the map.
    @whole [out]  No device was omitted because its identifiers are unknown.
    @return its length, or -1.  Errors: ENOENT or EACCES (no sysfs), ENOMEM. */
ssize_t devmap_list(struct devmap *map, bool all, struct devmap_device **devices, bool *whole);

/** Why a listed device is not mounted itself, although it may show the identifiers of a mounted
    device: it or its disk is a path of a multipath, or a member of md, LVM, zfs or bcache.  Reads
    only sysfs, and only if the tags are not enough.
    @return the reason, or NULL. */
const char *devmap_part(struct devmap *map, uint32_t major, uint32_t minor);

#endif
