/* SPDX-License-Identifier: MIT */
/**
 * What the files of devmap share.
 *
 *     devmap.c        the map, names, tags and their order of preference
 *     sysfs.c  reading sysfs: what a device is, and stands on
 *     judge.c  may it be touched, may it be probed
 *     loop.c   the files of loop devices, and whether their names are believed
 *     text.c   the udev database and blkid.tab          (pure)
 *     probe.c  the low-level probe by libblkid
 */
#ifndef GM_DEVMAP_IMPL_H
#define GM_DEVMAP_IMPL_H

#include "base/arena.h"
#include "base/map64.h"
#include "devmap.h"

enum {
	DEVMAP_ATTR_MAX = 4200,        /* sysfs gives at most a page */
	DEVMAP_TAG_MAX = 1024,         /* a label or the like, decoded */
	DEVMAP_PATH_MAX = 4096,
	DEVMAP_UDEV_MAX = 1 << 20,     /* one file of the udev database */
	DEVMAP_CACHE_MAX = 16 << 20,   /* blkid.tab */
	DEVMAP_DEPTH_MAX = 16,         /* devices that stand on each other */
};

struct devmap_dev;

/** A list of devices, in the map's arena. */
struct devmap_below {
	struct devmap_dev *dev;
	struct devmap_below *next;
};

/** One device number.  Lives in the map's arena, so that it never moves. */
struct devmap_dev {
	uint32_t major, minor;
	const char *kname;       /* devmap_kname() alone reads it; "" until then */
	const char *name;        /* devmap_tags.name */
	bool resolved;           /* kname, virtual, iscsi are read */
	bool virtual;            /* below /sys/devices/virtual: may have slaves */
	bool iscsi;
	bool named;              /* name is read */
	bool judged;             /* partition, removable, blocks, backing are read */
	bool judging;
	bool fs_judged;
	bool fs_blocks;          /* blocks, or that of another device of its btrfs */
	bool looked;             /* partition is read */
	bool partition;
	bool removable_known;    /* read where a device may be opened: map->opening */
	bool removable;          /* it, or one that it stands on */
	const char *blocks;      /* why I/O to it could block, or NULL */
	const char *backing;     /* the file of a loop device */
	const char *way;         /* the same; or its directory, if the file is deleted */
	enum devmap_here here;
	struct devmap_below *below;    /* devices that it stands on */
	struct devmap_below *members;  /* those of its btrfs, if fs_judged */
	bool loop_read;          /* loop_offset, loop_limit are */
	uint64_t loop_offset, loop_limit;
	bool avoided;            /* by devmap_avoid() */
	bool tagged;
	bool told;               /* tags are something */
	const char *part;        /* devmap_part(), by its tags */
	struct devmap_tags tags;

	/* An anonymous number: */
	const char *source;
	struct devmap_dev *behind;
};

/** blkid.tab, with the lines found by device number. */
struct devmap_cache {
	bool read;
	char *text;
	struct devmap_line {
		const char *str;
		size_t len;
		uint64_t time;
	} *lines;
	struct map64 index;
};

struct devmap {
	struct os *os;
	const char *sysroot, *runroot, *devroot;
	int sys;                 /* an O_PATH descriptor of sysroot; -1 until it is needed */
	bool (*judge)(void *arg, const char *path, uint32_t major, uint32_t minor);
	void *judge_arg;
	bool avoids;             /* whether any device is avoided */
	struct arena arena;
	struct map64 index;
	struct devmap_dev **devs;
	size_t ndevs, size;
	bool failed;             /* something was lost: ENOMEM; stays */
	bool unrooted;           /* changing the root was refused: no loop's file can be proved */
	bool unread;             /* sysfs could not be read: nothing is known of it */
	const char *refused;     /* the first file in runroot that was not what it should be */
	int refused_error;
	bool opening;            /* some device may be opened */
	signed char zfs;         /* the zfs module is loaded; -1: not asked */
	struct devmap_tags anonymous;
	struct devmap_cache cache;
};

/** Copy a string into the map; NULL (and map->failed) for want of memory. */
const char *devmap_strndup(struct devmap *map, const char *str, size_t n);

/** The record of a number, made if need be.  NULL: ENOMEM (map->failed). */
struct devmap_dev *devmap_get(struct devmap *map, uint32_t major, uint32_t minor);

/** The device that a number and a source lead to; NULL if there is none. */
struct devmap_dev *devmap_find_behind(struct devmap *map, uint32_t major, uint32_t minor,
                                      const char *source);

/** Set dev->name. */
void devmap_read_name(struct devmap *map, struct devmap_dev *dev);

/** Note why a file in runroot was not read.  Takes errno. */
void devmap_note(struct devmap *map, const char *path);

/* sysfs.c */

/** Format a path.  @return whether it fits and no part was cut. */
__attribute__((format(printf, 3, 4)))
bool devmap_path(char *buf, size_t size, const char *format, ...);

/** The same, of a path below a root; where that is NULL, there is none (ENOENT). */
__attribute__((format(printf, 4, 5)))
bool devmap_at(char *buf, size_t size, const char *root, const char *format, ...);

/** Whether text may be used as one component of a path. */
bool devmap_is_component(const char *text);

/** Whether text is a relative path of sane components. */
bool devmap_is_subpath(const char *text);

/**
 * Read a small file below the sysfs root.
 *
 * @buf [out]  Its text without the last newline, with a NUL.
 * @return     The length; or -1: it is not there, too long, or has a NUL in it.
 */
ssize_t devmap_read(struct devmap *map, char *buf, size_t size, const char *path);

/** The same for an attribute of a device ("dm/name", "../removable"). */
ssize_t devmap_attr(struct devmap *map, const struct devmap_dev *dev, const char *attr,
                    char *buf, size_t size);

/** Whether an attribute of a device begins with "1". */
bool devmap_flag(struct devmap *map, const struct devmap_dev *dev, const char *attr);

/** Whether a path below the sysfs root exists. */
bool devmap_exists(struct devmap *map, const char *path);

/** Read "MAJ:MIN" and find the device.  NULL: no such, or ENOMEM. */
struct devmap_dev *devmap_dev_at(struct devmap *map, const char *path);

/**
 * Call for each entry of a directory below the sysfs root, until it says
 * false.  Names are components in the sense of devmap_is_component().
 *
 * @return 0, or -1: the directory could not be read to its end.
 */
int devmap_each(struct devmap *map, const char *path,
                bool (*each)(struct devmap *map, const char *name, void *arg), void *arg);

/**
 * The name that sysfs has for a device ("cciss!c0d0").  The first call reads it,
 * and sets virtual and iscsi.
 *
 * @return the name; "" if sysfs does not know the device or is not mounted.  Never NULL.
 */
const char *devmap_kname(struct devmap *map, struct devmap_dev *dev);

/** The device of a name below /dev, by sysfs alone; or NULL. */
struct devmap_dev *devmap_by_name(struct devmap *map, const char *name);

/**
 * The directory of the mounted btrfs that a device belongs to.
 *
 * @uuid  Its UUID if that is known, else NULL.
 * @path [out]  Room for DEVMAP_PATH_MAX, as for devmap_each(); its last 36
 *              bytes are the UUID.
 */
bool devmap_btrfs(struct devmap *map, struct devmap_dev *dev, const char *uuid, char *path);

/* loop.c */

/** Set backing and way.  @return success; false: ENOMEM. */
bool devmap_take_file(struct devmap *map, struct devmap_dev *dev, const char *file, size_t n);

/** Add a device to a list.  @return success; false: ENOMEM (map->failed). */
bool devmap_add_below(struct devmap *map, struct devmap_below **list, struct devmap_dev *dev);

/* judge.c */

/** Fill in partition, removable, blocks and backing. */
void devmap_judge(struct devmap *map, struct devmap_dev *dev);

/** The disk of a partition; NULL: it is none, or not known. */
struct devmap_dev *devmap_whole(struct devmap *map, const struct devmap_dev *dev);

/** Why a device must not be probed, or NULL.  It is judged. */
const char *devmap_unsafe(struct devmap *map, struct devmap_dev *dev);

/* text.c */

/** What a file of the udev database says beyond the tags. */
struct devmap_udev {
	bool there;              /* the database has the device */
	bool ambivalent;
	const char *unsafe;      /* a reason not to probe, or NULL */
	bool path;               /* of a multipath */
};

/** Parse a file of the udev database into the tags and the rest. */
void devmap_parse_udev(struct devmap *map, const char *text, size_t len,
                       struct devmap_tags *tags, struct devmap_udev *udev);

/**
 * Whether the status of a multipath target tells of paths, and of none that
 * works: "2 0 0 0 1 1 E 0 2 1 8:16 F 3 1 8:32 F 2 1".
 */
bool devmap_paths_failed(const char *status);

/** The usage that goes with a type, as libblkid has it; NULL for none. */
const char *devmap_usage(const char *type);

/** Fill tags that are NULL from blkid.tab.  @return whether there was a type. */
bool devmap_cached(struct devmap *map, const struct devmap_dev *dev, struct devmap_tags *tags);

/** Free the text and its index. */
void devmap_cache_destroy(struct devmap_cache *cache);

/* probe.c */

/** What device mapper says of the paths of a multipath.  @return length, or -1. */
ssize_t devmap_paths_status(struct devmap *map, const struct devmap_dev *dev, char *buf, size_t size);

/** The number of the block device of a name below /dev.  @return 0, or -1. */
int devmap_node_number(struct devmap *map, const char *name, uint32_t *major, uint32_t *minor);

/** Open and probe a device that is safe; fill tags that are NULL. */
enum devmap_known devmap_probe(struct devmap *map, struct devmap_dev *dev, struct devmap_tags *tags);

#endif
