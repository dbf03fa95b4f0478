/* SPDX-License-Identifier: MIT */
/**
 * How the kernel shows the options of a line.
 *
 *     umask=077               fmask=0077,dmask=0077
 *     noload                  norecovery
 *     defaults                rw,attr2,inode64,logbufs=8 ...
 *
 * The kernel renames options, shows one as several, writes numbers for names, and shows what it
 * chose by itself.  To compare a line with a mount, write the line's options as the kernel would
 * show them: shown_as().  Then options with the same name must have the same value:
 * shown_same().  An option that the mount alone has is a difference, unless the table says that
 * it may be there unrequested: fsopt_flagged().  Pure.
 */
#ifndef GM_MOUNTOPTS_SHOWN_H
#define GM_MOUNTOPTS_SHOWN_H

#include "base/mount.h"
#include "base/strbuf.h"
#include "mountopts/optlist.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Append an option as the kernel shows it: no, one or several options.
 *
 * @fstype     Of the mount, as the kernel has it; a ".subtype" is ignored.  NULL: unknown.
 * @option, n  As mount(8) takes it; its value may be in quotation marks.
 */
void shown_as(const char *fstype, const char *option, size_t n, struct strbuf *out);

/** Append the options of a line as the kernel shows them.  Those for mount(8) stay. */
void shown_list(const char *fstype, const char *options, struct strbuf *out);

/**
 * Whether two options with the same name have the same value.  A value that cannot be compared
 * counts as the same.
 *
 * @given, n  Of a line, as shown_as() has it.
 * @shown, m  Of the mount.  Older kernels may show the option as it is given.
 */
bool shown_same(const char *fstype, const char *given, size_t n, const char *shown, size_t m);

/**
 * Whether a line has what an option of a mount means.
 *
 * "usebackuproot", as Linux 5.8 shows it, is "rescue=usebackuproot"; an option that is a default
 * needs nothing.
 *
 * @given  The options of the line, as shown_list() has them, by name.
 * @use    Scratch; the caller checks whether it failed.
 */
bool shown_has(const char *fstype, const struct opt_set *given, const char *shown, size_t n,
               struct strbuf *use);

/** Whether a file system was shut down, or made read-only, by an error. */
bool shown_failed(const char *fstype, const char *options);

/** Whether a line with a list of types makes a mount of a type that the kernel shows: "sshfs"
    makes "fuse.sshfs", "ntfs-3g" makes "fuseblk".  NULL and "auto" make any. */
bool shown_type(const char *types, const char *live);

/** Whether a mount is read-only whatever the options: by its type, as an overlay of lower layers
    alone, or as a disc. */
bool shown_readonly(const struct mount *mount);

/** Whether mounts of a type may or may not have a flag that the line does not name. */
bool shown_any_flag(const char *fstype, const char *flag);

/** The flags that a mount has though the line does not name them, such as libfuse's
    "nosuid,nodev"; or "". */
const char *shown_flags(const char *fstype);

/**
 * Append the options of a line that its mount lacks, of those that the kernel always shows while
 * they are in force.
 *
 * What the kernel does not always show is no difference.  The options are the file system's: if
 * several lines mount it, its first one decides.
 *
 * @mount    Of the line, and no bind.  Without separate lists of options nothing is appended.
 * @options  Of the line, decoded.
 */
void shown_lacks(const struct mount *mount, const char *options, struct strbuf *lacks);

/** Whether a type is one of FUSE: fuse, fuse.SUBTYPE, fuseblk; but not fusectl. */
bool is_fuse(const char *fstype);

#define FUSE_USER_UNKNOWN UINT32_MAX

/** The user ID of who mounted a FUSE, by the option user_id= of the file system; 0 for all other
    types; FUSE_USER_UNKNOWN if it is not shown. */
uint32_t fuse_user(const char *fstype, const char *options);

#endif
