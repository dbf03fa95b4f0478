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

/** The names in /etc/passwd or /etc/group, which is read when the first name is needed. */
struct owners {
	const char *path;
	struct os *os;
	bool read;
	char *text;               /* the text of the file, with NUL after each name */
	struct map64 names;       /* ID -> offset of its name in text */
};

/** Initialize without reading the file. */
void owners_init(struct owners *owners, struct os *os, const char *path);

void owners_destroy(struct owners *owners);

/** Get the name of a user or group, from the first line of the file with this ID; or NULL. */
const char *owners_name(struct owners *owners, uint32_t id);

/** Get the letter of a file type, such as 'd'; 0: none.  @type  DT_*, or a mode >> 12. */
char type_letter(unsigned type);

/** Append a mode as ls -l shows it: "drwxr-xr-x". */
void permissions(unsigned mode, struct strbuf *text);

#endif
