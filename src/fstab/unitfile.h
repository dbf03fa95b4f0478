/* SPDX-License-Identifier: MIT */
/**
 * What a mount, automount or swap unit wants: its file, and its drop-ins above it.  Pure.
 *
 *     [Unit]
 *     ConditionPathExists=/srv                  (any condition: it may not be mounted)
 *     [Mount]                                   ([Automount], [Swap])
 *     What=/dev/disk/by-uuid/0a1b
 *     Where=/srv
 *     Type=ext4
 *     Options=noatime,size=50%%                 (%% is a '%'; another specifier is not known)
 *
 * Source: systemd.syntax(7), systemd.mount(5), systemd.swap(5).
 */
#ifndef GM_FSTAB_UNITFILE_H
#define GM_FSTAB_UNITFILE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The settings that are looked at. */
enum unitfile_key { UNITFILE_WHAT, UNITFILE_WHERE, UNITFILE_TYPE, UNITFILE_OPTIONS, UNITFILE_PRIORITY, UNITFILE_KEYS };

/** What a unit has of one. */
struct unitfile_value {
	const char *text;       /* NULL: nothing, or it was taken back by an empty one */
	const char *file;       /* where it was said, as it was given; NULL with it */
	uint32_t line;          /* from 1 */
	bool odd;               /* a specifier: what it says is not known */
};

struct unitfile {
	struct unitfile_value values[UNITFILE_KEYS];
	bool conditional, asserted;   /* it has a condition; an assertion */
	bool odd;               /* a text of it cannot be read: a NUL byte */
};

/**
 * Read a text on top of what was read.
 *
 * @unit   All zero at first.
 * @arena  Gets the strings.
 * @file   Its name; is not copied.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int unitfile_read(struct unitfile *unit, struct arena *arena, const char *file, const char *text, size_t len);

#endif
