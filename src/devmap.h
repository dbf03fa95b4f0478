/* SPDX-License-Identifier: MIT */
/**
 * Device number <-> name and identity, as Smith's table of block special
 * files was.
 *
 * Names come from sysfs.  Identifiers come from the udev database; then from
 * a low-level probe of the device, made only when asked for that device, and
 * only when it is local and idle-safe: never a path of a multipath, a member
 * of md, LVM, zfs or bcache, removable media, or anything suspended or shut
 * down; then, for a mounted btrfs, from sysfs; and last from libblkid's cache
 * file (/run/blkid/blkid.tab, read as text).  Nothing is ever written:
 * libblkid's own cache is not used at all.
 *
 * Everything is read when it is first asked for, and kept.  A map belongs to
 * one thread.  What libblkid itself reads in a probe (a few reads and ioctls)
 * is not in the counts of os; the opens are.
 */
#ifndef GM_DEVMAP_H
#define GM_DEVMAP_H

#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Why an identity is not known.  None of these is an error. */
enum devmap_known {
	DEVMAP_KNOWN,        /* identified (a tag that is NULL does not exist) */
	DEVMAP_ANONYMOUS,    /* no block device: major 0 */
	DEVMAP_NO_DEVICE,    /* a block device number that sysfs does not know */
	DEVMAP_DENIED,       /* not permitted to open it */
	DEVMAP_UNSAFE,       /* would have to be probed, and must not be: reason */
	DEVMAP_UNTAGGED,     /* probed: holds nothing that libblkid knows */
	DEVMAP_FAILED,       /* probed: I/O error */
	DEVMAP_NO_NODE,      /* sysfs knows it, /dev does not: a container */
	DEVMAP_AMBIVALENT,   /* holds the marks of more than one type */
};

struct devmap_tags {
	const char *name;        /* "/dev/sda1", "/dev/mapper/x" rather than dm-0;
	                            NULL if it has none */
	const char *type;        /* "ext4", "swap", "crypto_LUKS" */
	const char *usage;       /* "filesystem", "raid", "crypto", "other" */
	const char *uuid, *label;
	const char *partuuid, *partlabel;
	enum devmap_known known;
	const char *uuid_sub;    /* of one device of a file system of several: btrfs, bcachefs */
	bool multi_device;       /* one of several of a mounted file system: btrfs */
	const char *origin;      /* "udev", "probe", "sysfs", "cache": where type and
	                            uuid are from; NULL if they are not known */
	bool remote;             /* its path, as udev has it, leads over a network: iSCSI */
	const char *reason;      /* DEVMAP_UNSAFE: why, as "path of a multipath" */
};

struct devmap;

/**
 * Make an empty map.  Nothing is read yet.
 *
 * @sysroot, runroot, devroot
 *         Usually /sys, /run and /dev; NULL: as if there was none.
 * @return it, or NULL.  Errors: ENOMEM.  Ownership: devmap_free().
 */
struct devmap *devmap_new_at(struct os *os, const char *sysroot, const char *runroot,
                             const char *devroot);

/** Free a map and all that it gave out; NULL is fine. */
void devmap_free(struct devmap *map);

/**
 * Whether memory ran out at any time, so that what was told since may lack
 * something: devices that were said not to block among it.
 */
bool devmap_failed(const struct devmap *map);

/**
 * The first file of udev's or libblkid's that was not read since it was no regular file, or
 * a file system that can block was mounted on it.
 *
 * @error [out]  EREMOTE, ENOTSUP or EISDIR.
 * @return its path, or NULL.
 */
const char *devmap_refused(const struct devmap *map, int *error);

/**
 * Let the caller judge the files that loop devices stand on, which only one
 * who knows the mounts can do.
 *
 * To be called before tags are asked for; what was judged before is judged
 * anew.
 *
 * @blocks
 *         Whether touching the file of this path could block, or that cannot
 *         be told; the number is that of the loop device, for
 *         devmap_file_here().  The path is that of the directory if the file
 *         is deleted.  Without a judge, a file is taken to be local.
 */
void devmap_set_judge(struct devmap *map,
                      bool (*blocks)(void *arg, const char *path, uint32_t major, uint32_t minor), void *arg);

/** A file that a device stands on. */
struct devmap_file {
	const char *path;        /* its path, or that of its directory if it is deleted; the map's */
	uint32_t major, minor;   /* the loop device on it */
};

/**
 * Call for each file that the device of a mount stands on: directly, through
 * other devices, or through another device of its btrfs.  What sysfs says was
 * read by devmap_mount_blocks(), which is to be called before.
 *
 * @source
 *         As for devmap_behind().
 */
void devmap_files(struct devmap *map, uint32_t major, uint32_t minor, const char *source,
                  void (*each)(void *arg, const struct devmap_file *file), void *arg);

/** What is known of the name of a loop's file. */
enum devmap_here {
	DEVMAP_UNREAD,
	DEVMAP_HERE,         /* it is the file of this name */
	DEVMAP_ELSEWHERE,    /* it is another */
	DEVMAP_NAMED,        /* that cannot be proved */
};

/**
 * Whether the file of a loop device is the one that its name leads to.  To be
 * asked where it is known that the directory of the file can be opened.  It cannot
 * be proved without the right to chroot(2), nor of a file in "/"; then a deleted file is
 * taken for another.  Forks once.
 *
 * @dirfd
 *         What names begin at: AT_FDCWD for "/".
 */
enum devmap_here devmap_file_here(struct devmap *map, uint32_t major, uint32_t minor, int dirfd);

/** Call for the name of each connection of FUSE (/sys/fs/fuse/connections), until that says false. */
void devmap_each_connection(struct devmap *map, bool (*each)(void *arg, const char *name), void *arg);

/**
 * Hold a device to block, whatever sysfs says: what is on it did not answer.
 * So does all that stands on it, and for a partition its disk.
 *
 * To be called before devmap_set_judge().
 *
 * @source
 *         As for devmap_behind().
 */
void devmap_avoid(struct devmap *map, uint32_t major, uint32_t minor, const char *source);

/**
 * The /dev name of a device number, without opening the device.
 *
 * @return the name, or NULL: none is known.  Stays the map's.
 * Costs one readlink, and for dm one small file.
 */
const char *devmap_name(struct devmap *map, uint32_t major, uint32_t minor);

/**
 * The block device that a mount stands on.
 *
 * @source
 *         The mount's source ("/dev/loop0"), for file systems whose device
 *         number is anonymous though they stand on a device: to be given for
 *         btrfs and bcachefs alone (a tmpfs may call itself "/dev/sda"); or
 *         NULL.
 * @dev_major, dev_minor [out]
 *         The device; untouched if there is none.
 * @return whether there is one.
 */
bool devmap_behind(struct devmap *map, uint32_t major, uint32_t minor, const char *source,
                   uint32_t *dev_major, uint32_t *dev_minor);

/**
 * Everything known of a device; probes it if that is needed and safe.
 *
 * @source
 *         As for devmap_behind().  A device that is not then found to hold one
 *         of these types is not taken.
 * @return the tags, which stay the map's; never NULL but on ENOMEM.
 */
const struct devmap_tags *devmap_tags(struct devmap *map, uint32_t major, uint32_t minor,
                                      const char *source);

/** What was told of a device the last time that it was asked for; NULL: it was not.
    Nothing is read. */
const struct devmap_tags *devmap_told(const struct devmap *map, uint32_t major, uint32_t minor);

/**
 * Whether I/O to a device could block: it is suspended, shut down, or remote
 * (nbd, rbd, drbd, iSCSI, NVMe over fabrics), or stands through dm, md or a
 * loop on one that is; or sysfs has an answer and it cannot be read.  A
 * multipath blocks when no path works: as sysfs has it, and for root as device
 * mapper has it (ioctl).  Else reads sysfs alone.  Of a number that sysfs does not know, and of an anonymous one,
 * this is not said.
 *
 * @backing [out]
 *         For a loop device, the path of its file, which may end in
 *         " (deleted)"; else NULL.  Stays the map's.  May be a NULL pointer.
 */
bool devmap_blocks(struct devmap *map, uint32_t major, uint32_t minor, const char **backing);

/**
 * The same for a mount: through an anonymous device number to the device, and
 * for btrfs to all devices of the file system.  True also if a source in /dev
 * leads to no device that is known.
 *
 * @source
 *         As for devmap_behind().
 */
bool devmap_mount_blocks(struct devmap *map, uint32_t major, uint32_t minor, const char *source,
                         const char **backing);

/**
 * Whether a device ends outside this machine (nbd, rbd, drbd, iSCSI, NVMe over
 * fabrics), or stands through dm, md or a loop on one that does.  What is on it
 * is to be mounted when the network is up.
 */
bool devmap_remote(struct devmap *map, uint32_t major, uint32_t minor);

/** Whether a device is a mapping of cryptsetup(8): CRYPT-LUKS2-...  Reads one file of sysfs, of device
    mapper's alone. */
bool devmap_crypt(struct devmap *map, uint32_t major, uint32_t minor);

/** Whether a device is known to take no writes: a disc, a card with its switch on, what was attached
    so.  Reads one file of sysfs. */
bool devmap_protected(struct devmap *map, uint32_t major, uint32_t minor);

/** What a loop device shows. */
struct devmap_loop {
	const char *file;        /* its path, which may end in " (deleted)"; the map's */
	uint64_t offset, limit;  /* in bytes; a limit of 0 is none */
	bool partition;          /* it is a partition of that device */
};

/**
 * The file of a loop device, as sysfs tells it.
 *
 * @loop [out]  Untouched if it is none.
 * @return whether it is a loop device with a file.
 */
bool devmap_loop(struct devmap *map, uint32_t major, uint32_t minor, struct devmap_loop *loop);

/** A block device that holds something known. */
struct devmap_device {
	uint32_t major, minor;
	const struct devmap_tags *tags;
};

/**
 * All block devices that hold a file system (not swap, not members), in the
 * order of their numbers.
 *
 * @devices [out]  An array, to be freed by the caller; the tags are the map's.
 * @return its length, or -1.
 * Errors: ENOENT or EACCES (no sysfs), ENOMEM.
 */
ssize_t devmap_list(struct devmap *map, struct devmap_device **devices);

/** The same of all devices with anything that is known, swap as well, and partitions that
    hold nothing but have an identifier: for who asks whether one is that of a device alone.
    @whole [out]  There is no device that could have one and may not be looked at. */
ssize_t devmap_list_all(struct devmap *map, struct devmap_device **devices, bool *whole);

/** Why a device is not mounted by itself, though it may show the identifiers of what is: it is a
    path of a multipath, or a member of md, LVM, zfs or bcache; or its disk is.
    Reads sysfs alone, where the tags do not tell.
    @return NULL: it is none, or was not listed. */
const char *devmap_part(struct devmap *map, uint32_t major, uint32_t minor);

#endif
