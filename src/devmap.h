/* SPDX-License-Identifier: MIT */
/**
 * Device number <-> name and identity, as Smith's table of block special
 * files was.
 *
 * Names come from sysfs, identifiers from the udev database, then from
 * libblkid's cache file (/run/blkid/blkid.tab, read as text), and last from a
 * low-level probe of the device, made only when asked for that device, and
 * only when it is local and idle-safe: never a path of a multipath, a member
 * of md, LVM, zfs or bcache, removable media, or anything suspended.  Nothing
 * is ever written (libblkid's cache is /dev/null).
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
	DEVMAP_UNSAFE,       /* would have to be probed, and must not be */
	DEVMAP_UNTAGGED,     /* probed: holds nothing that libblkid knows */
	DEVMAP_FAILED,       /* probed: I/O error */
};

struct devmap_tags {
	const char *name;        /* "/dev/sda1", "/dev/mapper/x" rather than dm-0;
	                            NULL if it has none */
	const char *type;        /* "ext4", "swap", "crypto_LUKS" */
	const char *usage;       /* "filesystem", "raid", "crypto", "other" */
	const char *uuid, *label;
	const char *partuuid, *partlabel;
	enum devmap_known known;
	bool multi_device;       /* one of several of the file system: btrfs */
	const char *origin;      /* "udev", "cache", "probe": where tags are from */
};

struct devmap;

/** Make an empty map.  @return it, or NULL.  Errors: ENOMEM.
    Ownership: devmap_free(). */
struct devmap *devmap_new(struct os *os);

/** Free a map and all that it gave out; NULL is fine. */
void devmap_free(struct devmap *map);

/**
 * The /dev name of a device number, without opening the device.
 *
 * @return the name, or NULL: none is known.  Stays the map's.
 */
const char *devmap_name(struct devmap *map, uint32_t major, uint32_t minor);

/**
 * Everything known of a device; probes it if that is needed and safe.
 *
 * @source
 *         The mount's source ("/dev/loop0"), for file systems whose device
 *         number is anonymous though they stand on a device (btrfs); or NULL.
 * @return the tags, which stay the map's; never NULL but on ENOMEM.
 */
const struct devmap_tags *devmap_tags(struct devmap *map, uint32_t major, uint32_t minor,
                                      const char *source);

/**
 * Whether I/O to a device could block: it is suspended, shut down, or remote
 * (nbd, rbd, drbd, iSCSI, NVMe over fabrics), or stands through dm, md or a
 * loop on one that is.  Reads sysfs alone.
 *
 * @backing [out]
 *         For a loop device, the path of its file; else NULL.  Stays the map's.
 */
bool devmap_blocks(struct devmap *map, uint32_t major, uint32_t minor, const char **backing);

/** A block device that holds a file system. */
struct devmap_device {
	uint32_t major, minor;
	const struct devmap_tags *tags;
};

/**
 * All block devices that hold a file system (not swap, not members).
 *
 * @devices [out]  An array, to be freed by the caller; the tags are the map's.
 * @return its length, or -1.
 * Errors: ENOENT or EACCES (no sysfs), ENOMEM.
 */
ssize_t devmap_list(struct devmap *map, struct devmap_device **devices);

#endif
