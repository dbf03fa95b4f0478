/* SPDX-License-Identifier: MIT */
/**
 * Names of users and groups, from /etc/passwd and /etc/group; types and permissions as letters.
 *
 * No directory service is used, since its server may not answer.  Users and groups that are not
 * in the file are shown by number.
 */
#ifndef GM_CMD_OWNERS_H
#define GM_CMD_OWNERS_H

#include "base/map64.h"
#include "base/strbuf.h"
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

/** The letter of a type, DT_*, which is also the S_IF* of a mode >> 12; 0: none. */
char type_letter(unsigned type);

/** Append a mode as ls -l shows it: "drwxr-xr-x". */
void permissions(unsigned mode, struct strbuf *text);

#endif
