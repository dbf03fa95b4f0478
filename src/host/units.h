/* SPDX-License-Identifier: MIT */
/**
 * The mount, automount and swap units that systemd has loaded, as `systemctl show` prints them.
 *
 *     systemctl show --all *.mount *.automount *.swap --> host_units_parse() --> struct host_units
 *
 * What systemd wants cannot be read from a unit that is active: What= is then the source that
 * the kernel shows.  What is known of every unit is its state, the files that it was made from,
 * and what pulls it in.
 */
#ifndef GM_HOST_UNITS_H
#define GM_HOST_UNITS_H

#include "base/map64.h"
#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>

/** A unit; a string is "" where systemd has no value. */
struct host_unit {
	const char *id;               /* "srv-data.mount" */
	const char *load_state, *active_state, *result;
	const char *where;            /* the mount point; of a swap unit "" */
	const char *what;             /* the source */
	const char *fragment;         /* the unit file; "" of a mount that has none */
	const char *source_path;      /* what a generator made it from: "/etc/fstab" */
	const char *dropins;          /* the files that change it, with blanks between them */
	const char *wanted_by, *required_by, *triggered_by;   /* units, with blanks between them */
	const char *following;        /* of a swap space with several names: the unit that counts */
	const char *need_reload;      /* "yes": its files were changed since systemd read them */
	const char *condition_result, *condition_time;   /* "no", and not "0": a condition failed */
	uint32_t next;                /* of the same path; MAP64_NONE ends */
};

struct host_units {
	bool known;                   /* systemd runs here and answered */
	struct host_unit *list;
	size_t count;
	char *text;                   /* has the strings */
	struct map64 by_path;         /* hash of where, of swap of what -> the first */
	struct map64 by_id;
};

/**
 * Parse what `systemctl show` printed.  Pure.
 *
 * A unit without an Id is passed over, and so is a line that is not KEY=VALUE: a value with a
 * newline in it is printed as "[unprintable]".
 *
 * @text   Is changed.  Ownership: that of units, also after an error.
 * @units [out]  To be destroyed, also after an error; known if there is any unit.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int host_units_parse(char *text, struct host_units *units);

/**
 * Run systemctl, for at most five seconds.
 *
 * @blocks  Whether touching a path could block.
 * @units [out]  To be destroyed, also after an error.  Not known where systemd does not run,
 *          is that of another root, or does not answer.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int host_units_read(struct os *os, bool (*blocks)(void *arg, const char *path), void *arg,
                    struct host_units *units);

void host_units_destroy(struct host_units *units);

/** The first unit of a mount point or swap space; its `next` is another one.  NULL: none. */
const struct host_unit *host_units_at(const struct host_units *units, const char *path);

/** The unit of a name, or NULL. */
const struct host_unit *host_units_find(const struct host_units *units, const char *id);

/** Whether a unit is of a kind: ".mount". */
bool host_unit_is(const struct host_unit *unit, const char *suffix);

/** Whether this root is the one that systemd runs in: not in a chroot. */
bool host_is_managers_root(struct os *os);

#endif
