/* SPDX-License-Identifier: MIT */
/**
 * What the files of the system in ROOT share.
 *
 *     system.c   helpers; units by what they mount
 *     wanted.c   units by their names; what those that are pulled in want
 */
#ifndef GM_FSTAB_SYSTEM_IMPL_H
#define GM_FSTAB_SYSTEM_IMPL_H

#include "base/map64.h"
#include "fstab/system.h"

#include <dirent.h>

enum { HELPERS_MAX = 64, HELPER_NAME_MAX = 40, DIRS_MAX = 8, UNIT_MAX = 64 << 10 };

/** Directories of units; the first that has one of a name has the one that counts. */
enum units_dir {
	UNITS_ETC, UNITS_RUN, UNITS_GENERATOR, UNITS_LOCAL, UNITS_USR, UNITS_LIB, UNITS_LATE, UNITS_DIRS,
};
extern const char *const units_dirs[UNITS_DIRS];

/** What pulls a unit in: a set. */
enum units_pull {
	PULL_BOOT = 1 << 0,      /* a target that each boot reaches wants it */
	PULL_OTHER = 1 << 1,     /* another target */
	PULL_REQUIRED = 1 << 2,  /* one of the first requires it */
	PULL_TAKEN = 1 << 3,     /* a link to /dev/null takes one of these back */
};

/** A unit, or a directory of drop-ins, by its name. */
struct unit_name {
	const char *name;
	unsigned there, masked;  /* sets: 1 << enum units_dir */
	unsigned pulled;
	uint32_t next;
};

struct fstab_system {
	struct os *os;
	int root;                  /* O_PATH */
	const char *dirs[DIRS_MAX + 1];   /* where helpers are looked for; NULL ends */
	const char *root_name;
	bool (*blocks)(void *arg, const char *path);
	void *arg;
	struct helper {
		char name[HELPER_NAME_MAX];
		signed char there; /* -1: it cannot be seen */
	} helpers[HELPERS_MAX];
	size_t nhelpers;
	bool listed;               /* units are */
	bool unlisted;             /* a directory of them cannot be */
	bool usr_listed;           /* that of usr/lib is */
	bool dropins;              /* a directory of drop-ins is there */
	signed char systemd;       /* systemd is there; -1: is not; 0: not looked for */
	struct arena arena;
	struct map64 units;        /* hash of the mount point -> of these */
	struct unit {
		const char *path;
		enum fstab_unit what;
		bool masked;
		const char *file;      /* of a generator that has not been looked at; or NULL */
		uint32_t next;
	} *known;
	size_t nunits, size;
	struct map64 by_name;      /* hash of a name -> of these */
	struct unit_name *names;
	size_t nnames, names_room;
	bool failed;
};

/** Whether a path below ROOT may be touched; errno: as `blocks` has it. */
bool system_may_touch(struct fstab_system *sys, const char *path);

/** Open a path below ROOT that may be touched.  A link to an absolute path, which was
    judged as one of this process, is followed where ROOT is this process's alone. */
int system_open(struct fstab_system *sys, const char *path, int flags);

/** Whether a unit is a link to /dev/null: systemctl mask makes it. */
bool system_is_masked(struct fstab_system *sys, int dir, const struct k_dirent *entry);

/** List the units, once. */
void system_list(struct fstab_system *sys);

/** The path that a unit is named after, as fstab_unit_path(); of a swap unit as well.
    @path  Longer than the name. */
bool system_unit_path(const char *name, size_t len, char *path, bool *automount);

/* wanted.c */

/** Note a name that a directory has, if it is one that matters: of n bytes. */
void system_note(struct fstab_system *sys, enum units_dir dir, const char *name, size_t n, bool masked);

/** What a directory of links pulls in by its name, "local-fs.target.wants": a set. */
unsigned system_pull(const char *name, size_t n);

/** Note that a unit is pulled in. */
void system_note_pull(struct fstab_system *sys, const char *name, size_t n, unsigned pull);

#endif
