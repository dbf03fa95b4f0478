/* SPDX-License-Identifier: MIT */
/**
 * The mount, automount and swap units that a boot is to start, and what each wants.
 *
 *     directories (fstab_system_unit) --> names, what pulls them in --.
 *     files of these alone, drop-ins ----------------------------------+--> fstab_system_wanted()
 *
 * Wanted is what a link in *.target.wants or *.target.requires pulls in, and what generators
 * have made and pulled in; not what is masked, what the fstab's generator made (the fstab
 * says it), and API file systems.
 */
#ifndef GM_FSTAB_WANTED_H
#define GM_FSTAB_WANTED_H

#include "fstab/system.h"
#include "fstab/unitfile.h"

/** Where a setting was said. */
struct wanted_place {
	const char *file;       /* from ROOT: "/etc/systemd/system/x.mount" */
	uint32_t line;          /* from 1; 0: in no line of it */
};

/** A unit; strings are never NULL but for the places. */
struct wanted_unit {
	const char *name;       /* "x.mount"; "x.automount" of one that is mounted when it is entered */
	const char *source, *target, *fstype, *options;   /* as a line of an fstab has them: "none" for
	                           the target of swap, "auto" and "" for what was not said */
	bool swap, automount;
	bool required;          /* by a target of the boot */
	bool may_not;           /* it may be that it is not to be there: a condition, a target that may
	                           not be reached */
	bool usual;             /* of the distribution, in usr/lib: somebody else may mount there */
	const char *owner;      /* unit, gpt-auto */
	struct wanted_place said[UNITFILE_KEYS];
};

struct wanted {
	struct wanted_unit *units;
	size_t count, room;
	bool mounts_open, swaps_open;   /* not all could be read, or understood */
	struct arena arena;
};

/**
 * See what units want.
 *
 * @skip  Whether a mount point is not asked for: the fstab has it.
 * @wanted [out]  To be destroyed, also after an error.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int fstab_system_wanted(struct fstab_system *sys, bool (*skip)(void *arg, const char *target), void *arg,
                        struct wanted *wanted);

/**
 * Put what drop-ins say over the mount unit that is made of a line: systemctl edit makes one.
 *
 * @target  The mount point, as the line has it.
 * @arena   Gets the strings.
 * @unit [in,out]
 *          What the line says.
 * @return whether they say anything; not, where one cannot be read or understood.
 */
bool fstab_system_dropins(struct fstab_system *sys, const char *target, struct arena *arena, struct unitfile *unit);

/** Whether no unit of a name is in /etc/systemd/system or /run/systemd/system, for certain: of many
    lines each asks, and the directories are listed once. */
bool fstab_system_lacks(struct fstab_system *sys, const char *name);

void wanted_destroy(struct wanted *wanted);

#endif
