/* SPDX-License-Identifier: MIT */
/**
 * The format of proc_pid_mountinfo(5).
 */
#ifndef GM_BASE_MOUNTINFO_H
#define GM_BASE_MOUNTINFO_H

#include "base/mount.h"

/** Parse a line.
    @line, end  The line, without its newline; *end is writable too.  Modified only if it is valid.
    @m [out]  Zeroed first; its strings are parts of the line.
    @return NULL, or the reason why the line is invalid: then m is undefined. */
const char *mountinfo_parse(char *line, char *end, struct mount *m);

#endif
