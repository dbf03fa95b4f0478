/* SPDX-License-Identifier: MIT */
/**
 * The options of a mount and of its file system, as one list.  Pure.
 */
#ifndef GM_MOUNTOPTS_JOIN_H
#define GM_MOUNTOPTS_JOIN_H

#include "base/mount.h"
#include "base/strbuf.h"

/** Append the options as findmnt's OPTIONS column shows them: "rw" or "ro" (of the mount or its
    file system), the mount's options, then the file system's, without duplicates and
    decoded.  Options from an fstab or mtab are not changed. */
void join_findmnt(const struct mount *mount, struct strbuf *out);

/** Append the options, ordered and escaped as in /proc/mounts: first the superblock options
    known to the VFS and the security module, then the options of the mount, then of the file
    system.  Source: show_vfsmnt() of fs/proc_namespace.c. */
void join_mtab(const struct mount *mount, struct strbuf *out);

#endif
