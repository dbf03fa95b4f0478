/* SPDX-License-Identifier: MIT */
/**
 * Names of users and groups, from /etc/passwd and /etc/group; types and permissions as letters.
 *
 * Directory services are not used, since a server may not respond.  Users and groups missing in the
 * file are shown by number.
 */
#ifndef GM_CMD_OWNERS_H
#define GM_CMD_OWNERS_H

#include "base/map64.h"
#include "base/strbuf.h"
#include "os/os.h"

/** Names from one of these files, which is read when the first name is needed. */
struct owners {
	const char *path;
	struct os *os;
	bool read;
	char *text;               /* the file, with NUL after each name */
	struct map64 names;       /* number -> offset of its name */
};

/** Initialize without reading the file. */
void owners_init(struct owners *owners, struct os *os, const char *path);

void owners_destroy(struct owners *owners);

/** The name of a user or group, from the first line with its number; or NULL. */
const char *owners_name(struct owners *owners, uint32_t id);

/** The letter of a type, DT_*, which is also the S_IF* of a mode >> 12; 0: none. */
char type_letter(unsigned type);

/** Append a mode as ls -l shows it: "drwxr-xr-x". */
void permissions(unsigned mode, struct strbuf *text);

#endif
