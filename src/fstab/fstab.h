/* SPDX-License-Identifier: MIT */
/**
 * From mounts to the lines of an fstab(5) that mount them again.  Pure: what is read from the
 * machine comes through a struct fstab_world, so that every rule is tested from recorded tables.
 *
 *     discovery, swaps --> fstab_plan() --> lines, in the order of mount -a
 *                             ^
 *                   world: devices, fsck helpers, units
 *
 * Each mount below ROOT becomes a line, or a comment with the reason why there is no line, or is
 * left out because the system mounts it by itself.
 *
 * A mount that an ordinary user made (fstab_user()) is a comment, unless it is named: its source
 * would be that user's words on root's command line at the next boot.
 */
#ifndef GM_FSTAB_FSTAB_H
#define GM_FSTAB_FSTAB_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "devmap.h"
#include "discover/discover.h"
#include "host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	FSTAB_MINIMAL,     /* those that are not usual for the type */
	FSTAB_LIVE,        /* all that the kernel shows and mount(8) takes */
};

/** Whether two devices are one, or of one file system: 1, 0; -1: not known.  Those of a file system
    of several devices are compared by its UUID; others by their numbers and names. */
int fstab_same_device(const struct fstab_device *a, const struct fstab_device *b);

/** Whether mount(8) reads a source as a tag: UUID= and others. */
bool fstab_is_tag(const char *source);

/** What systemd has for a mount point. */
enum fstab_unit {
	FSTAB_NO_UNIT,
	FSTAB_OWN_UNIT,    /* a mount or automount unit that is no fstab's */
	FSTAB_GPT_UNIT,    /* the same, made for a partition by its type */
	FSTAB_AUTOMOUNT,   /* an automount unit of a line of the fstab */
	FSTAB_IDLE_UNIT,   /* a mount unit that no other unit links to, but may name */
};

/** What is known besides the mounts.  A function that is NULL: not known. */
struct fstab_world {
	void *arg;

	/** The device of a mount; of a swap space, by its name in /proc/swaps.
	    @return 0, or -1 (ENOMEM). */
	int (*device)(void *arg, const struct mount *mount, struct fstab_device *device);
	int (*swap)(void *arg, const char *name, struct fstab_device *device);

	/** How many devices have a tag ("UUID") of this value; 0: not known. */
	unsigned (*holders)(void *arg, const char *tag, const char *value);

	/** Whether ROOT has the helper fsck.TYPE: 1, 0; -1: not known. */
	int (*fsck)(void *arg, const char *fstype);

	/** Of a mount point, relative to ROOT. */
	enum fstab_unit (*unit)(void *arg, const char *target);

	/** Options that mount(8) kept for a mount of this name: utab; or NULL. */
	const char *(*kept)(void *arg, const char *name, const struct mount *mount);

	/** Whether a source or options hold a secret. */
	bool (*secret)(const char *source, const char *options);

	/** Whether the device of a mount is known to take no writes. */
	bool (*protected)(void *arg, const struct mount *mount);
};

/**
 * What the rules about the text of an fstab read from the machine.  A function that is NULL, or
 * that returns "not known", leaves open what depends on it: it is reported as not checked.
 */
struct fstab_facts {
	void *arg;

	/** The devices that a source names: a path, or TAG=value without quotes.
	    @device [out]  The first of them: its tags stay the callee's; NULL to count only.
	    @return how many there are; -1: not known, ENOMEM too. */
	int (*devices)(void *arg, const char *source, struct fstab_device *device);

	/** What is at an absolute path from ROOT now, links being followed within ROOT; nothing
	    that can block is touched.
	    @real [out]  Gets the path without links, from ROOT, unless unknown or missing;
	                 may be NULL. */
	enum fact_kind (*look)(void *arg, const char *path, struct strbuf *real);

	/** Whether ROOT has a helper, "mount.nfs" or "fsck.ext4": 1, 0; -1: not known. */
	int (*helper)(void *arg, const char *name);

	/** Whether the kernel of ROOT can mount a type, with a module that it would load:
	    1, 0; -1: not known. */
	int (*fstype)(void *arg, const char *fstype);

	/** Whether what is at a path, found as by look, can be read by others than its owner
	    and group: 1, 0; -1: not known. */
	int (*open_to_all)(void *arg, const char *path);

	/** Whether the admin has no unit of a name, for certain: fstab_system_lacks(). */
	bool (*lacks_unit)(void *arg, const char *name);
};

struct fstab_input {
	const struct discovery *d;
	const char *root;          /* ROOT, as names of the discovery have it: normal */
	const struct fstab_swap *swaps;
	size_t nswaps;
	enum fstab_id id;
	enum fstab_options options;
	bool nofail;               /* add nofail where a boot can do without */
	const char *const *add;    /* mount points, from ROOT, and swap spaces that get a line in a
	                              merge, and though an ordinary user mounted them */
	size_t nadd;
	struct fstab_world world;

	/* Of genfstab(8): */
	bool (*pseudo)(const char *fstype);  /* types that are left out; or NULL */
	bool all;                  /* API file systems stay */
	const char *filter;        /* names must begin so; or NULL */
};

/** What became of a mount or swap space. */
enum fstab_fate {
	FSTAB_LINE,
	FSTAB_COMMENT,   /* why there is no line */
	FSTAB_OWN,       /* the system makes it by itself, or it was not requested */
};

/** All strings are decoded bytes. */
struct fstab_line {
	enum fstab_fate fate;
	bool boot;                  /* OWN: it exists when the fstab is read */
	bool hidden;                /* another mount is mounted over it */
	bool unnamed;               /* COMMENT: only because its device has no name that lasts */
	const struct mount *mount;  /* NULL for a swap space */
	const struct mount *beneath;  /* the mount of the same directory that this one is mounted
	                                 on, on the same mount point: a bind onto itself; or NULL */
	const char *why;            /* of COMMENT and OWN */
	const char *owner;          /* of OWN, who mounts it: api, automount, container:ENGINE,
	                               credentials, gpt-auto, initrd, nsfs, session, snap, udisks,
	                               unit, zfs; of others user:NAME if a user did; or NULL */
	const char *note;           /* comment above a line; or NULL */
	const char *warning;        /* what somebody should look at; or NULL */
	const char *source, *target, *fstype, *options;
	int passno;
	const char *swap;           /* of a swap space: its name in /proc/swaps */
	uint32_t of;                /* the number of the line of an fstab that is for it, or for its
	                               mount point: audit_own(); 0: none */
};

struct fstab_plan {
	struct fstab_line *lines;   /* lines, each after those that it needs; comments; others */
	size_t count;
	size_t of[FSTAB_OWN + 1];   /* how many of each fate */
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

#endif
