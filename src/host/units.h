/* SPDX-License-Identifier: MIT */
/**
 * The mount, automount and swap units that systemd has loaded, as `systemctl show` prints them.
 *
 *     systemctl show --all *.mount *.automount *.swap --> host_units_parse() --> struct host_units
 *
 * The configured source of an active unit cannot be read: its What= is the source that the kernel
 * reports.  Known for every unit are its state, the files that define it, and the units that pull
 * it in.
 */
#ifndef GM_HOST_UNITS_H
#define GM_HOST_UNITS_H

#include "base/arena.h"
#include "base/map64.h"
#include "mounts/paths.h"

/** A unit; strings without a value are "". */
struct host_unit {
	const char *id;               /* "srv-data.mount" */
	const char *load_state, *active_state, *result;
	const char *where;            /* the mount point; "" for a swap unit */
	const char *what;             /* the source */
	const char *fragment;         /* the unit file; "" for a mount that has none */
	const char *source_path;      /* the file that a generator created it from: "/etc/fstab" */
	const char *dropins;          /* drop-in files, separated by blanks */
	const char *wanted_by, *required_by, *triggered_by;   /* units, separated by blanks */
	const char *following;        /* for a swap space with several names: the unit it follows */
	const char *need_reload;      /* "yes": its files changed since systemd read them */
	const char *condition_result, *condition_time;   /* "no" and not "0": a condition failed */
	uint32_t next;                /* the next unit with the same path; MAP64_NONE: none */
};

struct host_units {
	bool known;                   /* systemd is running here and has responded */
	struct host_unit *list;
	size_t count;
	char *text;                   /* owns the strings */
	struct map64 by_path;         /* hash of where (what for swap) -> the first unit */
	struct map64 by_id;
	struct arena arena;
};

/**
 * Parse the output of `systemctl show`.  Pure.
 *
 * Units without an Id are skipped, and so are lines that are not KEY=VALUE: systemctl prints a
 * value that contains a newline as "[unprintable]".
 *
 * @text   Modified.  Ownership passes to units, also after an error.
 * @units [out]  Destroy it, also after an error; known is set if there is at least one unit.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int host_units_parse(char *text, struct host_units *units);

/** Run systemctl, for at most five seconds.
    @units [out]  Destroy it, also after an error.  Not known if systemd is not running, runs in
    another root, or does not respond.
    @return 0, or -1.  Errors: ENOMEM. */
int host_units_read(struct os *os, struct mounts_paths *paths, struct host_units *units);

void host_units_destroy(struct host_units *units);

/** The first unit for a mount point or swap space; `next` leads to the others.  NULL: none. */
const struct host_unit *host_units_at(const struct host_units *units, const char *path);

/** The unit with a name, or NULL. */
const struct host_unit *host_units_find(const struct host_units *units, const char *id);

/** Whether a unit is of a kind, such as ".mount". */
bool host_unit_is(const struct host_unit *unit, const char *suffix);

/** Whether this root is the service manager's root, not a chroot. */
bool host_is_managers_root(struct os *os);

#endif
