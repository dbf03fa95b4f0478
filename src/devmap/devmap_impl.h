/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of devmap.
 *
 *     devmap.c           the map: records of devices, its memory, what it could not read
 *     devmap/sysfs.c     reading sysfs; the names of a device
 *     devmap/loop.c      backing files of loop devices, and whether their names are right
 *     devmap/text.c      the udev database and blkid.tab
 *     devmap/probe.c     the low-level probe by libblkid
 *     devmap/blocking.c  whether a device can block, and whether it may be probed
 *     devmap/mount.c     the devices of a mount
 *     devmap/tags.c      tags, by the order of their sources
 */
#ifndef GM_DEVMAP_IMPL_H
#define GM_DEVMAP_IMPL_H

#include "base/intern.h"
#include "devmap.h"

enum {
	DEVMAP_ATTR_MAX = 4200,        /* a sysfs attribute is at most a page */
	DEVMAP_TAG_MAX = 1024,         /* a label or the like, decoded */
	DEVMAP_PATH_MAX = 4096,
	DEVMAP_UDEV_MAX = 1 << 20,     /* one file of the udev database */
	DEVMAP_CACHE_MAX = 16 << 20,   /* blkid.tab */
	DEVMAP_DEPTH_MAX = 16,         /* layers of devices */
};

struct devmap_dev;

/** A list of devices, in the map's arena. */
struct devmap_below {
	struct devmap_dev *dev;
	struct devmap_below *next;
};

/** One device number.  Allocated in the map's arena, so that its address never changes. */
struct devmap_dev {
	uint32_t major, minor;
	const char *kname;       /* read it by devmap_kname(); "" until then */
	const char *name;        /* devmap_tags.name */
	bool resolved;           /* kname, virtual, iscsi are valid */
	bool virtual;            /* below /sys/devices/virtual: may have slaves */
	bool iscsi;
	bool named;              /* name is valid */
	bool judged;             /* partition, blocks, backing are valid */
	bool judging;
	unsigned fs_judged;      /* fs_blocks and members are valid: the kind of the file system */
	bool fs_blocks;          /* another device of its file system blocks */
	bool looked;             /* partition is valid */
	bool partition;
	bool removable_known;    /* removable is valid: read when the device may be opened */
	bool removable;
	const char *blocks;      /* why I/O to it could block, or NULL */
	const char *backing;     /* the path of a loop device's backing file */
	const char *way;         /* backing, or its directory if the file is deleted */
	enum devmap_here here;
	struct devmap_below *below;    /* devices below it */
	struct devmap_below *members;  /* other devices of its file system, if fs_judged */
	bool loop_read;          /* loop_offset, loop_limit are valid */
	uint64_t loop_offset, loop_limit;
	bool avoided;            /* set by devmap_mount_avoid() */
	bool tagged;
	bool has_tags;           /* tags are valid */
	const char *part;        /* the result of devmap_part() that follows from the tags */
	struct devmap_tags tags;

	/* For an anonymous number: */
	const char *source;
	struct devmap_dev *of_source;
};

struct devmap {
	struct os *os;
	struct devmap_roots roots;
	int sys;                 /* an O_PATH descriptor of roots.sys; -1 until first used */
	bool (*file_blocks)(void *arg, const char *path, uint32_t major, uint32_t minor);
	void *file_blocks_arg;
	bool trusts_files;     /* file_blocks is ignored */
	bool avoids;             /* at least one device is avoided */
	struct arena arena;      /* fails as the map does */
	struct map64 index;
	struct devmap_dev **devs;
	size_t ndevs, size;
	bool unrooted;           /* chroot(2) is not permitted: no backing file can be verified */
	bool unread;             /* sysfs could not be read */
	const char *refused;     /* see devmap_refused() */
	int refused_error;
	signed char zfs;         /* the zfs module is loaded; -1: unknown */
	struct devmap_tags anonymous;
	struct devmap_file *files;   /* result of devmap_mount_files(), in the arena */
	size_t nfiles;
	bool cache_read;
	char *cache;             /* blkid.tab */
	bool journals_read;
	struct intern journals;  /* in use: the names in /proc/fs/jbd2 */
};

/* devmap.c */

/** Find or add the record of a device number.
    @return the record, or NULL (ENOMEM). */
struct devmap_dev *devmap_get(struct devmap *map, uint32_t major, uint32_t minor);

/** Add a device to a list.  @return false for ENOMEM. */
bool devmap_add_below(struct devmap *map, struct devmap_below **list, struct devmap_dev *dev);

/** Record errno of a file in roots.run that could not be read. */
void devmap_note(struct devmap *map, const char *path);

/* mount.c */

/** The device of a mount, or NULL. */
struct devmap_dev *devmap_of_mount(struct devmap *map, const struct mount *m);

/* sysfs.c */

/** Format a path.  @return whether it fits into buf. */
__attribute__((format(printf, 3, 4)))
bool devmap_path(char *buf, size_t size, const char *format, ...);

/** Format a path below a root; errno is ENOENT if the root is NULL. */
__attribute__((format(printf, 4, 5)))
bool devmap_at(char *buf, size_t size, const char *root, const char *format, ...);

/** Whether text is a relative path without "." and "..". */
bool devmap_is_subpath(const char *text);

/** Read a small file below the sysfs root.
    @buf [out]  The text without the last newline, with a NUL.
    @return The length; or -1: the file is missing, too long, or contains a NUL. */
__attribute__((format(printf, 4, 5)))
ssize_t devmap_read(struct devmap *map, char *buf, size_t size, const char *format, ...);

/** Read an attribute of a device ("dm/name", "../removable").  Like devmap_read(). */
__attribute__((format(printf, 5, 6)))
ssize_t devmap_attr(struct devmap *map, const struct devmap_dev *dev, char *buf, size_t size,
                    const char *format, ...);

/** Whether an attribute of a device begins with "1". */
bool devmap_flag(struct devmap *map, const struct devmap_dev *dev, const char *attr);

/** Whether a path below the sysfs root exists. */
__attribute__((format(printf, 2, 3)))
bool devmap_exists(struct devmap *map, const char *format, ...);

/** Read "MAJ:MIN" from a file and find that device.  @return the device, or NULL. */
__attribute__((format(printf, 2, 3)))
struct devmap_dev *devmap_dev_at(struct devmap *map, const char *format, ...);

/** Start reading a directory, which is closed at the end; fd -1: it could not be opened. */
void devmap_dir_begin(struct devmap *map, struct devmap_dir *dir, int fd);

/** The name of a device in sysfs ("cciss!c0d0").  The first call also sets virtual and iscsi.
    @return the name; "" if sysfs lacks the device or is not mounted.  Never NULL. */
const char *devmap_kname(struct devmap *map, struct devmap_dev *dev);

/** Set dev->name. */
void devmap_read_name(struct devmap *map, struct devmap_dev *dev);

/** The disk of a partition, or NULL. */
struct devmap_dev *devmap_whole(struct devmap *map, const struct devmap_dev *dev);

/** Find the device with a name below /dev, by sysfs; or NULL. */
struct devmap_dev *devmap_by_name(struct devmap *map, const char *name);

/** Find the mounted btrfs of a device in sysfs: fs/btrfs/UUID.
    @known  Its UUID if known, else NULL. */
bool devmap_btrfs(struct devmap *map, struct devmap_dev *dev, const char *known, char uuid[37]);

/* loop.c */

/** Set backing and way from the name of a file.  @return false for ENOMEM. */
bool devmap_take_file(struct devmap *map, struct devmap_dev *dev, const char *file, size_t n);

/* blocking.c */

/** Determine partition, removable, blocks and backing. */
void devmap_find_blocking(struct devmap *map, struct devmap_dev *dev);

/** Check whether a device may be probed.  @return why it must not be, or NULL. */
const char *devmap_unsafe(struct devmap *map, struct devmap_dev *dev);

/* text.c */

/** Data of the udev database other than tags. */
struct devmap_udev {
	bool ambivalent;
	const char *unsafe;      /* why the device must not be probed, or NULL */
	bool path;               /* the device is a path of a multipath */
};

/** Parse a file of the udev database. */
void devmap_parse_udev(struct devmap *map, const char *text, size_t len,
                       struct devmap_tags *tags, struct devmap_udev *udev);

/** Whether the status of a multipath target lists paths, all of which have failed: "2 0 0 0 1 1 E 0
    2 1 8:16 F 3 1 8:32 F 2 1". */
bool devmap_paths_failed(const char *status);

/** The usage of a type, as libblkid reports it; or NULL. */
const char *devmap_usage(const char *type);

/** Fill tags that are NULL from blkid.tab.  @return whether it lists a type for the device. */
bool devmap_cached(struct devmap *map, const struct devmap_dev *dev, struct devmap_tags *tags);

/* probe.c */

/** Read the status of a multipath target from device mapper.  @return length, or -1. */
ssize_t devmap_paths_status(struct devmap *map, const struct devmap_dev *dev, char *buf,
                            size_t size);

/** Get the number of the block device node with a name below /dev.  @return 0, or -1. */
int devmap_node_number(struct devmap *map, const char *name, uint32_t *major, uint32_t *minor);

/** Open and probe a device that is safe to probe, and fill tags that are NULL. */
enum devmap_known devmap_probe(struct devmap *map, struct devmap_dev *dev,
                               struct devmap_tags *tags);

#endif
