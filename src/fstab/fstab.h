/* SPDX-License-Identifier: MIT */
/**
 * From mounts to the lines of an fstab(5) that mount them again.  Pure: data about the machine
 * comes from a struct fstab_facts, so that every rule can be tested with recorded tables.
 *
 *     discovery, swaps --> fstab_plan() --> lines, in the order of mount -a
 *                             ^
 *                   facts: devices, fsck helpers, units
 *
 * Each mount below ROOT becomes a line, or a comment with the reason why there is no line, or is
 * left out because the system mounts it by itself.
 *
 * A mount made by an ordinary user (fstab_user()) becomes a comment, unless it is requested by
 * name: otherwise the user could choose arguments of commands that root runs at the next boot.
 */
#ifndef GM_FSTAB_FSTAB_H
#define GM_FSTAB_FSTAB_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "devmap.h"
#include "discover/discover.h"
#include "fstab/entry.h"
#include "host/host.h"

/** How a device is named. */
enum fstab_id {
	FSTAB_AUTO,        /* device mapper by its name; else UUID; else, if that is missing or
	                      shared, PARTUUID; else no line */
	FSTAB_UUID,
	FSTAB_LABEL,
	FSTAB_PARTUUID,
	FSTAB_PARTLABEL,
	FSTAB_PATH,
};

/** Which options a line has. */
enum fstab_options {
	FSTAB_MINIMAL,     /* those that differ from the defaults of the type */
	FSTAB_LIVE,        /* all that the kernel shows and mount(8) accepts */
};

/** Whether two devices are the same or belong to the same file system: 1, 0; -1: unknown.  Devices
    of a multi-device file system are compared by its UUID; others by number and name. */
int fstab_same_device(const struct fstab_device *a, const struct fstab_device *b);

/** Whether mount(8) reads a source as a tag: UUID= and others. */
bool fstab_is_tag(const char *source);

/** The systemd unit of a mount point. */
enum fstab_unit {
	FSTAB_NO_UNIT,
	FSTAB_OWN_UNIT,    /* a mount or automount unit that was not generated from an fstab */
	FSTAB_GPT_UNIT,    /* the same, generated for a partition by its type */
	FSTAB_AUTOMOUNT,   /* an automount unit of a line of the fstab */
	FSTAB_IDLE_UNIT,   /* a mount unit that no other unit links to, but may name */
};

struct fstab_line;

/** Questions about ROOT, each with a name: fstab_answer(). */
enum fstab_question {
	FSTAB_HAS_HELPER,     /* "mount.nfs", "fsck.ext4": it is installed */
	FSTAB_HAS_TYPE,       /* the kernel can mount it, by loading a module if necessary */
	FSTAB_IS_OPEN,        /* all users can read the file at a path, found as by look() */
	FSTAB_IS_PROTECTED,   /* the block device "MAJ:MIN" is write-protected */
	FSTAB_LACKS_UNIT,     /* the admin has no unit of this name, for certain:
	                         host_system_lacks_unit() */
	FSTAB_UNIT,           /* the enum fstab_unit of a mount point, relative to ROOT, instead of
	                         1 or 0 */
};

/** The data that plans and rules read from the machine besides the mounts.  If a member is NULL,
    or returns "unknown", the rules that depend on it are reported as not checked. */
struct fstab_facts {
	const struct host_utab *utab;   /* the options that mount(8) recorded for the mounts */
	void *arg;

	/** fstab_device_of() */
	int (*device)(void *arg, const struct mount *mount, const char *swap,
	              struct fstab_device *device);

	/** The devices that a source names: a path, or TAG=value without quotes.
	    @device [out]  The first of them: its tags stay the callee's; NULL to count only.
	    @return their number; -1: unknown, or ENOMEM. */
	int (*devices)(void *arg, const char *source, struct fstab_device *device);

	/** The kind of file at an absolute path below ROOT now; symlinks are followed within ROOT,
	    and file systems that can block are not touched.
	    @real [out]  Gets the path without links, from ROOT, unless unknown; if missing, with
	                 the links that exist followed; may be NULL. */
	enum fact_kind (*look)(void *arg, const char *path, struct strbuf *real);

	/** fstab_answer() */
	int (*answer)(void *arg, enum fstab_question question, const char *name);

	/** Whether a path of a device or file, from ROOT, or TAG=value without quotes, leads to
	    the source of a line of the plan: 1, 0; -1: unknown. */
	int (*leads)(void *arg, const char *source, const struct fstab_line *line);
};

/** Find the device of a mount; or of a swap space, by its name in /proc/swaps.
    @mount  NULL: of the swap space.
    @device [out]  Unchanged if devices are unknown.
    @return 0, or -1 (ENOMEM). */
static inline int fstab_device_of(const struct fstab_facts *facts, const struct mount *mount,
                                  const char *swap, struct fstab_device *device)
{
	return facts->device ? facts->device(facts->arg, mount, swap, device) : 0;
}

/** Answer a question about ROOT: 1, 0; -1: unknown. */
static inline int fstab_answer(const struct fstab_facts *facts, enum fstab_question question,
                               const char *name)
{
	return facts->answer ? facts->answer(facts->arg, question, name) : -1;
}

struct fstab_input {
	const struct discovery *d;
	const char *root;          /* ROOT, as names of the discovery have it: normal */
	const struct fstab_swap *swaps;
	size_t nswaps;
	enum fstab_id id;
	enum fstab_options options;
	bool nofail;               /* add nofail to mounts that boot does not need */
	const char *const *add;    /* mount points, from ROOT, and swap spaces that get a line in a
	                              merge, even if an ordinary user mounted them */
	size_t nadd;
	struct fstab_facts facts;

	/* Of genfstab(8): */
	bool (*pseudo)(const char *fstype);  /* types that are excluded; or NULL */
	bool all;                  /* include API file systems */
	const char *filter;        /* required prefix of mount points; or NULL */
};

/** The decision about a mount or swap space. */
enum fstab_fate {
	FSTAB_LINE,
	FSTAB_COMMENT,   /* no line: the comment has the reason */
	FSTAB_OWN,       /* the system makes it itself, or it was not requested */
};

/** All strings are decoded bytes. */
struct fstab_line {
	enum fstab_fate fate;
	bool boot;                  /* OWN: it exists when the fstab is read */
	bool hidden;                /* another mount is mounted over it */
	bool unnamed;               /* COMMENT: only because its device has no persistent name */
	const struct mount *mount;  /* NULL for a swap space */
	const struct mount *beneath;  /* the mount of the same directory that this one is mounted
	                                 on, on the same mount point: a bind onto itself; or NULL */
	const char *why;            /* of COMMENT and OWN */
	const char *owner;          /* of OWN, who mounts it: api, automount, container:ENGINE,
	                               credentials, gpt-auto, initrd, nsfs, session, snap, udisks,
	                               unit, zfs; of others user:NAME if a user did; or NULL */
	const char *note;           /* comment above a line; or NULL */
	const char *warning;        /* a warning for the administrator; or NULL */
	const char *source, *target, *fstype, *options;
	int passno;
	const char *swap;           /* of a swap space: its name in /proc/swaps */
	uint32_t of;                /* the number of the fstab line of the mount, or of its mount
	                               point: audit_own(); 0: none */
};

struct fstab_plan {
	struct fstab_line *lines;   /* lines, each after those that it needs; comments; others */
	size_t count;
	size_t of[FSTAB_OWN + 1];   /* the number of lines with each decision */
	struct arena arena;
};

/**
 * Decide on every mount below ROOT, and all swap spaces.
 *
 * Linear in the mounts, but for a chain of binds each of which shows a part of the next and of
 * nothing else: after 64 of these, the others become comments.
 *
 * @plan [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int fstab_plan(const struct fstab_input *in, struct fstab_plan *plan);

void fstab_plan_destroy(struct fstab_plan *plan);

/** Make the entry that a line of a plan is once it is written.
    @return 0, or -1.  Errors: ENOMEM. */
int fstab_line_entry(const struct fstab_line *line, struct arena *arena, struct fstab_entry *entry);

#endif
