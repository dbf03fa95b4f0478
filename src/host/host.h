/* SPDX-License-Identifier: MIT */
/**
 * What is read from a host besides its mount table: devices, files of the system, swap spaces,
 * what mount(8) keeps, errors of file systems, holders of file systems, covered data, and the
 * units of systemd.
 *
 *     struct host_input --> host_open() --> struct host --> host_*() --> data
 *
 * Nothing here prints or decides: what could not be read is part of the data.  Nothing that can
 * block is touched.
 */
#ifndef GM_HOST_HOST_H
#define GM_HOST_HOST_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/strbuf.h"
#include "devmap.h"
#include "discover/discover.h"
#include "host/system.h"
#include "host/units.h"
#include "os/os.h"
#include "table/table.h"
#include "table/tablines.h"

#include <limits.h>

/* Paths. */

/** How a path was followed. */
enum host_followed {
	HOST_SEEN,       /* to its end: it exists */
	HOST_BLIND,      /* not touched: it could block */
	HOST_MISSING,    /* errno says why */
};

/** How paths of this process are followed; every function gets `arg`. */
struct host_paths {
	void *arg;
	enum host_followed (*follow)(void *arg, const char *path, struct strbuf *out);
	/** As statx(2), without following a link or asking a server. */
	int (*look)(void *arg, const char *path, unsigned mask, struct k_statx *st);
	/** Whether touching a path could block; then errno is ENOENT if it does not exist. */
	bool (*blocks)(void *arg, const char *path);
	/** Whether a path whose parent may be touched is the mount point of what could block. */
	bool (*point_blocks)(void *arg, const char *path);
	/** Whether a node of the mount tree could block. */
	bool (*node_blocks)(void *arg, uint32_t node);
};

/* The host.  The functions with `void *host` are those of struct fstab_world and fstab_facts. */

struct host_input {
	struct os *os;
	struct devmap *devs;              /* NULL: no device may be looked at */
	const struct discovery *d;
	const struct mount_table *table;
	bool live;                        /* the table is the kernel's, of now */
	bool own;                         /* and is that of this process and its root */
	const char *root;                 /* ROOT, normal */
	struct host_system *system;       /* of ROOT; NULL: not known; host_close() frees it */
	struct host_paths paths;
};

struct host {
	struct host_input in;
	bool nomem;                       /* memory ran out: something may be missing */
	int devices_error;                /* why devices could not be listed; 0: they were, or were
	                                     not needed */

	/* Private: caches. */
	bool listed, unlisted, complete;  /* devices are listed; cannot be; all are known */
	struct devmap_device *devices;
	size_t ndevices;
	struct map64 tags;                /* hash of "TAG=value" -> index of counts */
	struct host_tag {
		unsigned count;
		uint32_t device;          /* the first */
		bool sorted;              /* members, and paths to others, are not counted */
	} *counts;
	size_t ncounts, counts_size;
	bool types_read;
	char *filesystems, *modules;      /* /proc/filesystems; modules.alias of this kernel */
	bool units_read;
	struct host_units units;
};

/** Begin.  Nothing is read yet. */
void host_open(struct host *host, const struct host_input *in);

/** Free what was read; all zero is fine. */
void host_close(struct host *host);

/** The units of systemd, read once; not known below another root, or of a recorded table. */
const struct host_units *host_units(struct host *host);

/* Devices: devices.c */

/** The device of a mount or swap space. */
struct fstab_device {
	const struct devmap_tags *tags;   /* NULL: no device */
	struct devmap_loop loop;          /* file is NULL if it is not a loop device */
	bool remote;
	bool crypt;                       /* a mapping of cryptsetup(8) */
	bool numbered;                    /* its number is known, though it may have no tags */
	uint32_t major, minor;
};

/** The device of a mount.  @return 0, or -1 (ENOMEM). */
int host_mount_device(void *host, const struct mount *mount, struct fstab_device *device);

/** The device of a swap space, by its name in /proc/swaps.  @return 0, or -1 (ENOMEM). */
int host_swap_device(void *host, const char *name, struct fstab_device *device);

/** Whether the device of a mount is known to take no writes. */
bool host_is_protected(void *host, const struct mount *mount);

/** How many devices have a tag of this value; 0: none, or not known. */
unsigned host_tag_holders(void *host, const char *tag, const char *value);

/**
 * The devices that a source names.
 *
 * @source  A path, or TAG=value without quotes.
 * @device [out]  The first; NULL to count only.
 * @return how many; -1: not known.
 */
int host_devices(void *host, const char *source, struct fstab_device *device);

/** The number of the block device at a path from ROOT.  @return whether it is one; errno is
    ENOENT if nothing is there, and 0 if it is not known. */
bool host_device_number(struct host *host, const char *path, uint32_t *major, uint32_t *minor);

/* Places below ROOT: places.c */

/** What is at a path. */
enum fact_kind {
	FACT_UNKNOWN,    /* not looked at, or not known */
	FACT_MISSING,
	FACT_DIR,
	FACT_FILE,
	FACT_BLOCK,      /* a block device */
	FACT_OTHER,
};

/** Follow a path as it is followed with ROOT as "/"; /dev is this system's. */
enum host_followed host_follow(struct host *host, const char *path, struct strbuf *out);

/** What is at a path from ROOT.  @real [out]  Gets the path without links, from ROOT; or NULL. */
enum fact_kind host_look(void *host, const char *path, struct strbuf *real);

/** Whether others than owner and group can read a path: 1, 0; -1: not known. */
int host_open_to_all(void *host, const char *path);

/** Why a path that host_follow() does not find is more than missing. */
enum host_dangling {
	HOST_NOT_DANGLING,
	HOST_DANGLING_LINK,      /* a link leads nowhere */
	HOST_NOT_A_DIRECTORY,    /* something on the way is not a directory */
};

/** See whether a path dangles.  @part [out]  Its beginning, up to what is wrong. */
enum host_dangling host_dangles(struct host *host, const char *path, struct strbuf *part);

/** Whether the running kernel can mount a type, with a module that it would load: 1, 0; -1. */
int host_fstype(void *host, const char *fstype);

/* Files: host.c */

/** Whether this is the initial PID namespace: not a container. */
bool host_has_first_pids(struct os *os);

/** Find the name of a block device in sysfs.  @return whether it has one. */
bool host_kernel_name(struct os *os, uint32_t major, uint32_t minor, char name[NAME_MAX + 1]);

/** A number at the beginning of a small file of the kernel's; -1: not known. */
long host_read_number(struct os *os, const char *path);

/** A small file of the kernel's, to be freed; or NULL. */
char *host_read_kernel(struct os *os, const char *path);

/** The command line of this boot, to be freed; NULL: not known, or not that of this root. */
char *host_cmdline(struct host *host);

/** What /etc/mtab is. */
enum host_mtab_kind {
	HOST_MTAB_UNKNOWN,
	HOST_MTAB_NONE,          /* it does not exist */
	HOST_MTAB_KERNEL,        /* a link to the kernel's own table */
	HOST_MTAB_NOWHERE,       /* a link that leads nowhere */
	HOST_MTAB_FILE,
};

/** Read /etc/mtab.  @text [out]  Of HOST_MTAB_FILE, to be freed. */
enum host_mtab_kind host_mtab(struct host *host, char **text, size_t *len);

/** How a file was read. */
enum host_read {
	HOST_READ,
	HOST_READ_NONE,          /* it does not exist */
	HOST_READ_DENIED,
	HOST_READ_BLIND,         /* not touched: it could block */
	HOST_READ_NUL,           /* it has a NUL byte */
	HOST_READ_FAILED,        /* errno says why */
};

/**
 * Read the crypttab of ROOT.
 *
 * @text [out]  Of HOST_READ, to be freed.
 * @name [out]  Gets its name, for people.
 */
enum host_read host_crypttab(struct host *host, char **text, struct strbuf *name);

/* Errors of file systems: errors.c */

struct host_errors {
	uint32_t of;                 /* the index of the mount */
	unsigned long long count;    /* errors that it has met */
	unsigned missing;            /* devices that it lacks */
	const char *detail;          /* or NULL */
	bool shutdown;               /* it answers nothing any more */
};

struct host_errors_list {
	struct host_errors *list;    /* of those with any error */
	size_t count;
	bool unknown;                /* some could not be read */
	struct arena arena;
};

/**
 * Read which errors file systems report in /sys, each once.
 *
 * @mounts  n of them; NULL is passed over.
 * @errors [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int host_read_errors(struct host *host, const struct mount *const *mounts, size_t n,
                     struct host_errors_list *errors);

void host_errors_destroy(struct host_errors_list *errors);

/* Holders of what is not mounted: holders.c */

enum host_held {
	HOST_HELD_ELSEWHERE,     /* a file system of a line, mounted in other namespaces alone */
	HOST_HELD_ALIVE,         /* of a line, mounted nowhere, and still in use by the kernel */
	HOST_HELD_DELETED,       /* a mount whose directory was removed has open files */
	HOST_HELD_DETACHED,      /* a file system that is mounted nowhere has open files */
};

struct host_holder {
	enum host_held kind;
	const char *target;      /* NULL for a detached one */
	const char *source;      /* of a line */
	uint32_t line;           /* of the fstab; 0: of none */
	size_t count;            /* namespaces, or open files; 0: nobody was seen */
	int pid;                 /* of the first */
	char comm[32];
	const char *where;       /* where it is mounted there; the open file */
};

struct host_holders {
	struct host_holder *list;
	size_t count;
	struct arena arena;      /* their strings */
	bool partly;             /* not all processes could be looked at */
};

/**
 * Look for processes and mount namespaces that hold a file system that is not mounted here.
 *
 * Only /proc, /sys and /dev are read: links are read and not followed, so that no
 * file system is touched.
 *
 * @lines    Of the fstab.
 * @out [out] To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int host_read_holders(struct host *host, const struct tablines *lines, struct host_holders *out);

void host_holders_destroy(struct host_holders *holders);

/* Covered data: covered.c */

enum { HOST_COVERED_NAMES = 3 };

enum host_covered_state {
	HOST_COVERED_UNKNOWN,    /* it was not looked at, or could not be */
	HOST_COVERED_NOTHING,    /* it is empty, or not a directory */
	HOST_COVERED_DATA,
};

/** A directory that something is mounted on. */
struct host_covered {
	uint32_t parent;         /* the node of the mount that it lies in */
	const char *place;       /* from the root of that mount, without a leading slash; NULL:
	                            not known */
	enum host_covered_state state;   /* [out], with all that follows */
	size_t count;            /* entries */
	bool more;               /* there may be more entries */
	char *names[HOST_COVERED_NAMES];   /* the first of them, to be freed */
};

/** Clones of mounts, kept from one look to the next. */
struct host_cover {
	struct host *host;
	uint32_t parent;
	int clone;
};

void host_cover_open(struct host_cover *cover, struct host *host);

/**
 * Look at the first entries of a directory, in a clone of its mount that has nothing on it.
 * It stays unknown where the mount could block, without privilege, and where the kernel has
 * no open_tree(2).  Directories of one parent follow each other.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int host_cover_look(struct host_cover *cover, struct host_covered *covered);

void host_cover_close(struct host_cover *cover);

/* Tables besides the mounts: tables.c */

/** A swap space that is in use: a line of /proc/swaps. */
struct fstab_swap {
	const char *name;
	bool file, deleted;
	int priority;
};

/** The most swap spaces that a kernel has: MAX_SWAPFILES is below. */
enum { HOST_SWAPS_MAX = 32 };

/** How /proc/swaps was read. */
enum host_swaps_problem {
	HOST_SWAPS_GOOD,
	HOST_SWAPS_BLIND,        /* not read: it could block */
	HOST_SWAPS_UNREADABLE,   /* errno says why */
	HOST_SWAPS_TOO_MANY,     /* more than a kernel can have */
	HOST_SWAPS_DAMAGED,      /* an invalid line */
};

struct host_swaps {
	struct fstab_swap *list;
	size_t count;
	size_t damaged;          /* the line, from 1 */
	char *text;
	struct arena arena;
};

/**
 * Read the swap spaces.
 *
 * @file   A copy of /proc/swaps; NULL: the kernel's.
 * @swaps [out]  To be destroyed, whatever is returned.
 */
enum host_swaps_problem host_read_swaps(struct os *os, const char *file, struct host_swaps *swaps);

void host_swaps_destroy(struct host_swaps *swaps);

/**
 * Parse the text of /proc/swaps.  Pure.
 *
 * @arena   Gets the names.
 * @swaps [out]  An array, to be freed.
 * @damaged [out]  The first invalid line, which is passed over; the heading is 1;
 *          0: none.
 * @return its length, or -1.  Errors: ENOMEM.
 */
ssize_t fstab_parse_swaps(const char *text, struct arena *arena, struct fstab_swap **swaps,
                          size_t *damaged);

/** What mount(8) keeps of a mount besides the kernel: a line of libmount's utab. */
struct fstab_kept {
	const char *target, *options;
	const char *source, *root;   /* NULL: not given */
	unsigned long id;            /* 0: not given */
};

/** The next line of a utab that has a target and options.  Pure; the text is changed.
    @return whether there was one. */
bool fstab_utab_next(char **text, struct fstab_kept *kept);

/** Whether an entry fits a mount of the same target: it may be left of an earlier one. */
bool fstab_utab_fits(const struct fstab_kept *kept, const struct mount *mount);

/** What mount(8) keeps of all mounts. */
struct host_utab {
	struct host_utab_entry {
		struct fstab_kept kept;
		uint32_t before;         /* the one before of this target, or MAP64_NONE */
	} *entries;
	size_t count;
	struct map64 by_target;      /* hash of the target -> the last of these */
	char *text;
};

/**
 * Read the utab; it may not exist.
 *
 * @utab [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int host_read_utab(struct host *host, struct host_utab *utab);

void host_utab_destroy(struct host_utab *utab);

/** The options that mount(8) kept for a mount of this name, or NULL. */
const char *host_utab_options(const struct host_utab *utab, const char *name,
                              const struct mount *mount);

#endif
