/* SPDX-License-Identifier: MIT */
/**
 * Data read from a host besides its mount table: devices, system files, swap spaces, the records of
 * mount(8), errors of file systems, holders of file systems, covered data, and units of systemd.
 *
 *     struct host_input --> host_open() --> struct host --> host_*() --> data
 *
 * Nothing here prints or decides: if something could not be read, the data says so.  Nothing that
 * can block is accessed.
 */
#ifndef GM_HOST_HOST_H
#define GM_HOST_HOST_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/map64.h"
#include "base/pathmap.h"
#include "base/strbuf.h"
#include "devmap.h"
#include "discover/discover.h"
#include "host/units.h"
#include "os/os.h"
#include "mounts/paths.h"
#include "mounts/table.h"
#include "mounts/tablines.h"

/* The host.  Functions with `void *host` are callbacks of struct fstab_facts. */

struct host_system;

struct host_input {
	struct os *os;
	struct devmap *devs;              /* NULL: devices must not be examined */
	const struct discovery *d;
	const struct mount_table *table;
	bool live;                        /* the table is the kernel's current one */
	bool own;                         /* and belongs to this process and its root */
	const char *root;                 /* ROOT as a normalized path */
	struct host_system *system;       /* the system below ROOT; NULL: unknown; host_close()
	                                     frees it */
	struct mounts_paths *paths;       /* of this process */
};

/** The type of the object at a path. */
enum fact_kind {
	FACT_UNKNOWN,    /* not examined, or unknown */
	FACT_MISSING,
	FACT_DIR,
	FACT_FILE,
	FACT_BLOCK,      /* a block device */
	FACT_OTHER,
};

struct host {
	struct host_input in;
	bool nomem;                       /* memory ran out: data may be missing */
	int devices_error;                /* errno of listing devices; 0: success, or not needed */

	/* Private: caches. */
	bool listed, unlisted, complete;  /* devices are listed; cannot be listed; all are known */
	struct devmap_device *devices;
	size_t ndevices;
	struct map64 tags;                /* hash of "TAG=value" -> index of counts */
	struct host_tag {
		unsigned count;
		uint32_t device;          /* the first device */
		bool sorted;              /* members, and paths to other devices, are excluded */
	} *counts;
	size_t ncounts, counts_size;
	bool types_read;
	char *filesystems, *modules;      /* /proc/filesystems; modules.alias of this kernel */
	bool units_read;
	struct host_units units;
	struct host_mappings {            /* host_mappings() */
		bool read, unknown;       /* unknown: a table could not be read */
		struct host_mapping *list;
		size_t count;
		struct map64 by_name;     /* name -> index of its first mapping */
		bool searched;            /* `closed` is set */
		const char *closed;       /* the line of the first mapping without noauto that is
		                             not open, but can be opened; or NULL */
		struct arena arena;
	} mappings;
	struct intern looked;             /* the paths of host_look() */
	struct host_looked {
		enum fact_kind kind;
		const char *real;         /* NULL: unknown */
	} *looks;                         /* by their numbers */
	size_t looks_room;
};

/** Initialize a host.  Reads nothing yet. */
void host_open(struct host *host, const struct host_input *in);

/** Free all data; a zeroed struct is allowed. */
void host_close(struct host *host);

/** The units of systemd, read once; unknown below another root, or for a recorded table. */
const struct host_units *host_units(struct host *host);

/* Devices: devices.c */

/** The device of a mount or swap space. */
struct fstab_device {
	const struct devmap_tags *tags;   /* NULL: no device */
	struct devmap_loop loop;          /* file is NULL if not a loop device */
	bool remote;
	bool crypt;                       /* a mapping of cryptsetup(8) */
	bool numbered;                    /* its number is known, but it may have no tags */
	uint32_t major, minor;
};

/** The device of a mount.  @return 0, or -1 (ENOMEM). */
int host_mount_device(struct host *host, const struct mount *mount, struct fstab_device *device);

/** The device of a mount; or, without one, of a swap space by its name in /proc/swaps.
    @return 0, or -1 (ENOMEM). */
int host_device(void *host, const struct mount *mount, const char *swap,
                struct fstab_device *device);

/** Whether a block device is known to be write-protected.  @number  "MAJ:MIN". */
bool host_is_protected(struct host *host, const char *number);

/** Find the devices that a source names.
    @source  A path, or TAG=value without quotes.
    @device [out]  The first device; NULL to count only.
    @return their number; -1: unknown. */
int host_devices(void *host, const char *source, struct fstab_device *device);

/** Get the number of the block device at a path below ROOT.
    @return whether it is a block device.  If not, errno is ENOENT if the path does not exist, and 0
    if that is unknown. */
bool host_device_number(struct host *host, const char *path, uint32_t *major, uint32_t *minor);

/* Places below ROOT: places.c */

/** Follow a path as a process with ROOT as "/" would; /dev is this system's. */
enum path_followed host_follow(struct host *host, const char *path, struct strbuf *out);

/** Find the type of the object at a path below ROOT, which is looked at once.
    @real [out]  The path without symlinks, relative to ROOT; or NULL. */
enum fact_kind host_look(void *host, const char *path, struct strbuf *real);

/** Whether others than owner and group can read a path: 1, 0; -1: unknown. */
int host_open_to_all(void *host, const char *path);

/** Why a path that host_follow() does not find is not just missing. */
enum host_dangling {
	HOST_NOT_DANGLING,
	HOST_DANGLING_LINK,      /* a symlink to a missing target */
	HOST_NOT_A_DIRECTORY,    /* a component of the path is not a directory */
};

/** Check whether a path dangles.  @part [out]  The prefix up to the component at fault. */
enum host_dangling host_dangles(struct host *host, const char *path, struct strbuf *part);

/** Whether the running kernel can mount a type, if necessary by loading a module: 1, 0; -1:
    unknown. */
int host_fstype(void *host, const char *fstype);

/** Whether the running kernel is of a version, such as "6.8", or later: 1, 0; -1: unknown. */
int host_kernel_since(void *host, const char *version);

/** Open the root directory of a mount by the name of its mount point.
    @node  The node of the mount in the tree of the discovery.
    @return an O_PATH descriptor; -1: opening failed or could block, or the name leads to a
            different mount. */
int host_open_mount(struct host *host, uint32_t node);

/* Files: host.c */

/** Whether this is the initial PID namespace, not a container. */
bool host_has_first_pids(struct os *os);

/** Find the name of a block device in sysfs.  @return whether it was found. */
bool host_kernel_name(struct os *os, uint32_t major, uint32_t minor, char name[NAME_MAX + 1]);

/** Read the number at the start of a small kernel file; -1: unknown. */
long host_read_number(struct os *os, const char *path);

/** Read a small kernel file.  @return its text, which the caller frees; or NULL. */
char *host_read_kernel(struct os *os, const char *path);

/** The kernel command line, which the caller frees; NULL: unknown, or for another root. */
char *host_cmdline(struct host *host);

/** The type of /etc/mtab. */
enum host_mtab_kind {
	HOST_MTAB_UNKNOWN,
	HOST_MTAB_NONE,          /* does not exist */
	HOST_MTAB_KERNEL,        /* a symlink to the kernel's own table */
	HOST_MTAB_NOWHERE,       /* a dangling symlink */
	HOST_MTAB_FILE,
};

/** Examine /etc/mtab, and read it if it is a file.  @text [out]  For HOST_MTAB_FILE; the caller
    frees it. */
enum host_mtab_kind host_mtab(struct host *host, char **text, size_t *len);

/** The result of reading a file. */
enum host_read {
	HOST_READ,
	HOST_READ_NONE,          /* does not exist */
	HOST_READ_DENIED,
	HOST_READ_BLIND,         /* not accessed: it could block */
	HOST_READ_NUL,           /* contains a NUL byte */
	HOST_READ_FAILED,        /* errno says why */
};

/** Read the crypttab of ROOT.
    @text [out]  For HOST_READ; the caller frees it.
    @name [out]  Its name, for messages. */
enum host_read host_crypttab(struct host *host, char **text, struct strbuf *name);

/* Mappings that are opened at boot: mappings.c */

/** The fields of a line of a crypttab: name, device, key file, options. */
enum { HOST_CRYPT_FIELDS = 4 };

/** A field: n bytes of the line. */
struct host_field {
	const char *at;
	size_t n;
};

/** Split a line of n bytes of a crypttab into fields.  Pure.
    @fields [out]  Only the fields that the line has are set.
    @more [out]    Text follows the last field.
    @return the number of fields; 0 for a comment. */
unsigned host_crypt_fields(const char *line, size_t n, struct host_field fields[HOST_CRYPT_FIELDS],
                           bool *more);

/** A mapping of the device mapper that ROOT opens at boot. */
struct host_mapping {
	const char *name, *device;   /* without quotation marks */
	const char *where;           /* "line 2 of /etc/crypttab" */
	bool noauto;                 /* opened only if a mount or swap space needs this name */
};

/** The mappings of crypttab(5) and the tables like it, read once. */
const struct host_mappings *host_mappings(struct host *host);

/** The line that makes ROOT open a mapping at boot: `opens` of struct fstab_facts.
    @name  The name of the mapping; NULL: any mapping that is not open now, but whose device exists.
    @return "line 2 of /etc/crypttab"; NULL: no such line; "": a table could not be read. */
const char *host_opens(void *host, const char *name);

/* Errors of file systems: errors.c */

struct host_errors {
	uint32_t of;                 /* the index of the mount */
	unsigned long long count;    /* number of errors that occurred */
	unsigned missing;            /* number of missing devices */
	const char *detail;          /* or NULL */
	bool shutdown;               /* the file system was shut down: all operations fail */
};

struct host_errors_list {
	struct host_errors *list;    /* file systems with at least one error */
	size_t count;
	bool unknown;                /* some could not be read */
	struct arena arena;
};

/** Read the errors that file systems report in /sys, each once.
    @mounts  n mounts; NULL entries are skipped.
    @errors [out]  Destroy it, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int host_read_errors(struct host *host, const struct mount *const *mounts, size_t n,
                     struct host_errors_list *errors);

void host_errors_destroy(struct host_errors_list *errors);

/** Watch the local file systems that are on a device for errors, each once.
    @group  os_errors_open(), or -1: nothing is watched. */
void host_watch_errors(struct host *host, int group);

/* Holders of file systems that are not mounted: holders.c */

enum host_held {
	HOST_HELD_ELSEWHERE,     /* the file system of a line, mounted only in other namespaces */
	HOST_HELD_ALIVE,         /* the file system of a line, mounted nowhere, but still in use by
	                            the kernel */
	HOST_HELD_DELETED,       /* a mount whose directory was removed has open files */
	HOST_HELD_DETACHED,      /* a file system that is mounted nowhere has open files */
};

struct host_holder {
	enum host_held kind;
	const char *target;      /* NULL for HOST_HELD_DETACHED */
	const char *source;      /* of the line */
	uint32_t line;           /* line number in the fstab; 0: none */
	size_t count;            /* number of namespaces or open files; 0: no holder was found */
	int pid;                 /* the first holder */
	char comm[32];
	const char *where;       /* where the holder has it mounted; or the open file */
};

struct host_holders {
	struct host_holder *list;
	size_t count;
	struct arena arena;      /* owns the list, its strings, and the maps that make it */
	bool partly;             /* some processes could not be examined */
};

/**
 * Find processes and mount namespaces that hold a file system that is not mounted here.
 *
 * Reads only /proc, /sys and /dev: links are read but not followed, so that no file system is
 * accessed.
 *
 * @lines    The lines of the fstab.
 * @out [out] Destroy it, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int host_read_holders(struct host *host, const struct tablines *lines, struct host_holders *out);

void host_holders_destroy(struct host_holders *holders);

/* Covered data: covered.c */

enum { HOST_COVERED_NAMES = 3 };

enum host_covered_state {
	HOST_COVERED_UNKNOWN,    /* not examined, or that failed */
	HOST_COVERED_NOTHING,    /* empty, or not a directory */
	HOST_COVERED_DATA,
};

/** A directory that is covered by a mount. */
struct host_covered {
	uint32_t parent;         /* the node of the mount that contains it */
	const char *place;       /* relative to the root of that mount, without a leading slash;
	                            NULL: unknown */
	enum host_covered_state state;   /* [out], with all following fields */
	size_t count;            /* number of entries */
	bool more;               /* there may be more entries */
	char *names[HOST_COVERED_NAMES];   /* the first of them; the caller frees them */
};

/** A clone of a mount, reused by consecutive calls of host_cover_look(). */
struct host_cover {
	struct host *host;
	uint32_t parent;
	int clone;
};

void host_cover_open(struct host_cover *cover, struct host *host);

/** Read the first entries of a directory in a clone of its mount, where nothing covers it.  The
    state stays unknown if the mount could block, without privilege, and if the kernel lacks
    open_tree(2).  Pass directories with the same parent consecutively.
    @return 0, or -1.  Errors: ENOMEM. */
int host_cover_look(struct host_cover *cover, struct host_covered *covered);

void host_cover_close(struct host_cover *cover);

/* Programs and units installed below ROOT: system.c.  Only files below ROOT are accessed, and
   symlinks are followed within ROOT. */

/** Open ROOT.
    @paths  The paths of this process; paths that could block are not accessed.
    @return the system, or NULL.  Errors: ENOMEM; those of openat(2).  Ownership:
    host_system_free(). */
struct host_system *host_system_new(struct os *os, const char *root, struct mounts_paths *paths);

/** Free a system; NULL is allowed. */
void host_system_free(struct host_system *sys);

/** Whether a helper such as "fsck.ext4" or "mount.nfs" exists: 1, 0; -1: unknown.  Cached. */
int host_system_helper(struct host_system *sys, const char *name);

/** Whether it is certain that neither /etc/systemd/system nor /run/systemd/system contains a unit
    with this name.  Both directories are listed once, because many lines need the answer. */
bool host_system_lacks_unit(struct host_system *sys, const char *name);

/** The swap file that dphys-swapfile(8) creates and uses; NULL: none. */
const char *host_system_swap_file(struct host_system *sys);

/** Whether an open file is the one at an absolute path below ROOT. */
bool host_system_is(struct host_system *sys, int fd, const char *path);

/* Tables other than the mount table: tables.c */

/** A swap space in use: a line of /proc/swaps. */
struct fstab_swap {
	const char *name;
	bool file, deleted;
	int priority;
};

/** The most swap spaces; the kernel's MAX_SWAPFILES is lower. */
enum { HOST_SWAPS_MAX = 32 };

/** The result of reading /proc/swaps. */
enum host_swaps_problem {
	HOST_SWAPS_GOOD,
	HOST_SWAPS_BLIND,        /* not read: it could block */
	HOST_SWAPS_UNREADABLE,   /* errno says why */
	HOST_SWAPS_TOO_MANY,     /* more than the kernel allows */
	HOST_SWAPS_DAMAGED,      /* an invalid line */
};

struct host_swaps {
	struct fstab_swap *list;
	size_t count;
	size_t damaged;          /* the number of the first invalid line, which is skipped; the
	                            heading is line 1; 0: none */
	struct arena arena;
};

/** Read the swap spaces.
    @file  A copy of /proc/swaps; NULL: the kernel's.
    @swaps [out]  Destroy it, also after an error. */
enum host_swaps_problem host_read_swaps(struct os *os, const char *file, struct host_swaps *swaps);

void host_swaps_destroy(struct host_swaps *swaps);

/** Parse the text of /proc/swaps.  Pure.
    @swaps [out]  Destroy it, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int host_swaps_parse(const char *text, struct host_swaps *swaps);

/** What mount(8) records about a mount: a line of libmount's utab. */
struct fstab_kept {
	const char *target, *options;
	const char *source, *root;   /* NULL: missing */
	unsigned long id;            /* 0: missing */
};

/** Get the next line of a utab that has a target and options.  Pure; modifies the text.
    @return whether a line was found. */
bool fstab_utab_next(char **text, struct fstab_kept *kept);

/** Whether an entry can belong to a mount with the same target: it may be left over from an earlier
    mount. */
bool fstab_utab_fits(const struct fstab_kept *kept, const struct mount *mount);

/** What mount(8) records about all mounts. */
struct host_utab {
	struct fstab_kept *entries;
	size_t count;
	struct pathmap by_target;    /* target -> entries */
	char *text;                  /* owns the strings */
	struct arena arena;
};

/** Parse the text of a utab.  Pure.
    @text  Modified; freed by host_utab_destroy().
    @utab [out]  Destroy it, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int host_parse_utab(char *text, struct host_utab *utab);

/** Read the utab, which may not exist.
    @utab [out]  Destroy it, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int host_read_utab(struct host *host, struct host_utab *utab);

void host_utab_destroy(struct host_utab *utab);

/** The options that mount(8) recorded for a mount at this path, or NULL. */
const char *host_utab_options(const struct host_utab *utab, const char *name,
                              const struct mount *mount);

#endif
