/* SPDX-License-Identifier: MIT */
/**
 * Whose a FUSE mount is, as its mount table entry says.
 */
#ifndef GM_MOUNTOPTS_FUSE_H
#define GM_MOUNTOPTS_FUSE_H

#include <stdbool.h>
#include <stdint.h>

#define FUSE_USER_UNKNOWN UINT32_MAX

/** Whether a type is one of FUSE: fuse, fuse.SUBTYPE, fuseblk; but not fusectl. */
bool is_fuse(const char *fstype);

/**
 * The user who mounted a FUSE, by the option user_id= that the kernel shows.
 *
 * @options  Of the file system; may be NULL.
 * @return the user ID; 0 for all other types; FUSE_USER_UNKNOWN if it is not shown.
 */
uint32_t fuse_user(const char *fstype, const char *options);

#endif
