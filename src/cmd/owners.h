/* SPDX-License-Identifier: MIT */
/**
 * Names of users and groups, as /etc/passwd and /etc/group have them.
 *
 * No directory service is used, since its server may not answer.  Users that are not in the
 * file are shown by number.
 */
#ifndef GM_CMD_OWNERS_H
#define GM_CMD_OWNERS_H

#include "base/map64.h"
#include "os/os.h"

#include <stdint.h>

/** One file of names, read when it is first needed; zeroed at first. */
struct owners {
	const char *path;
	struct os *os;
	bool read;
	char *text;               /* of the file, each name followed by a NUL */
	struct map64 names;       /* number -> where its name begins */
};

/** Initialize; nothing is read yet. */
void owners_init(struct owners *owners, struct os *os, const char *path);

void owners_destroy(struct owners *owners);

/** The name of a user or group, by the first line that has it; or NULL. */
const char *owners_name(struct owners *owners, uint32_t id);

#endif
