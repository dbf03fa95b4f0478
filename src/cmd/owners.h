/* SPDX-License-Identifier: MIT */
/**
 * Names of users and groups, from /etc/passwd and /etc/group.
 *
 * No directory service is used, since its server may not answer.  Users and groups that are not
 * in the file are shown by number.
 */
#ifndef GM_CMD_OWNERS_H
#define GM_CMD_OWNERS_H

#include "base/map64.h"
#include "os/os.h"

/** One of these files, read when the first name is needed. */
struct owners {
	const char *path;
	struct os *os;
	bool read;
	char *text;               /* the file, with a NUL after each name */
	struct map64 names;       /* number -> where its name begins */
};

/** Initialize; nothing is read yet. */
void owners_init(struct owners *owners, struct os *os, const char *path);

void owners_destroy(struct owners *owners);

/** The name of a user or group, from the first line with its number; or NULL. */
const char *owners_name(struct owners *owners, uint32_t id);

#endif
