/* SPDX-License-Identifier: MIT */
/**
 * How the kernel shows the options of a line.
 *
 *     umask=077               fmask=0077,dmask=0077
 *     noload                  norecovery
 *     defaults                rw,attr2,inode64,logbufs=8 ...
 *
 * The kernel renames options, splits one into several, replaces names by numbers, and adds options
 * of its own.  To compare a line with a mount, convert the line's options to the form that the
 * kernel shows: shown_as().  Then options with the same name must have the same value:
 * shown_same().  An option that only the mount has is a difference, unless the table lists it as
 * possible without a request: fsopt_flagged().  Pure.
 */
#ifndef GM_MOUNTOPTS_SHOWN_H
#define GM_MOUNTOPTS_SHOWN_H

#include "base/mount.h"
#include "base/strbuf.h"
#include "mountopts/optlist.h"

/** Append an option as the kernel shows it: zero, one or several options.
    @fstype  The type that the kernel shows; a ".subtype" is ignored.  NULL: unknown.
    @option, n  As written for mount(8); its value may be in quotation marks. */
void shown_as(const char *fstype, const char *option, size_t n, struct strbuf *out);

/** Append the options of a line as the kernel shows them.  Options for mount(8) are kept. */
void shown_list(const char *fstype, const char *options, struct strbuf *out);

/** Whether two options with the same name have the same value.  A value that cannot be compared
    counts as the same.
    @given, n  Of a line, as shown_as() writes it.
    @shown, m  Of the mount.  Older kernels may show the option unchanged. */
bool shown_same(const char *fstype, const char *given, size_t n, const char *shown, size_t m);

/**
 * Whether a line requests an option that its mount shows.
 *
 * For example, "usebackuproot", as Linux 5.8 shows it, is requested by "rescue=usebackuproot"; a
 * default needs no request.
 * @given  The options of the line, as shown_list() writes them, by name.
 * @use    Scratch; the caller checks whether it failed.
 */
bool shown_has(const char *fstype, const struct opt_set *given, const char *shown, size_t n,
               struct strbuf *use);

/** The effect of an error on a file system, if the kernel shows it in the options: emergency_ro,
    shutdown. */
enum shown_fault {
	SHOWN_NO_FAULT,
	SHOWN_EMERGENCY,   /* the file system rejects writes */
	SHOWN_SHUTDOWN,    /* the file system was shut down */
};
enum shown_fault shown_fault(const struct mount *mount);

/** Whether an error shut down a file system on a disk, or made it read-only. */
bool shown_failed(const struct mount *mount);

/** Whether a mount ignores set-user-ID bits and device nodes: nosuid,nodev. */
bool shown_is_safe(const struct mount *mount);

/** Whether a line with a list of types can result in a mount of type `live`: "sshfs" in
    "fuse.sshfs", "ntfs-3g" in "fuseblk", NULL and "auto" in any. */
bool shown_type(const char *types, const char *live);

/** Whether the options of a mount or of its file system have exactly this option of n bytes. */
bool shown_lists(const struct mount *mount, const char *option, size_t n);

/** Whether the file system of a mount shows an option of n bytes, or an option with this name. */
bool shown_names(const struct mount *mount, const char *option, size_t n);

/** Whether two lists have the same value of an option.
    @missing  The result if only one list has the option. */
bool shown_same_value(const char *line, const char *live, const char *name, bool missing);

/** Whether the options of two overlays name the same directories; "lowerdir+=" adds one to the
    list.  @return 1 or 0; -1: memory ran out. */
int shown_same_layers(const char *line, const char *live);

/** Whether a mount is read-only by its own options, whatever its file system is. */
static inline bool shown_mount_readonly(const struct mount *mount)
{
	return opt_shown_has(mount->vfs_opts, "ro");
}

/** Whether the file system of a mount is read-only. */
static inline bool shown_super_readonly(const struct mount *mount)
{
	return opt_shown_has(mount->fs_opts, "ro");
}

/** Whether a mount is always read-only: by its type, as an overlay without an upper layer, or as an
    optical disc. */
bool shown_readonly(const struct mount *mount);

/** The port of the server of a network mount, if the server is on this host and the port is not the
    port of the protocol: the end of a tunnel, or a program that serves this mount alone.
    @port  Memory for the result.  @return `port` as a string; or NULL. */
const char *shown_local_port(const struct mount *m, struct strbuf *port);

/** Whether a flag of a mount can differ from the line, for this type. */
bool shown_any_flag(const char *fstype, const char *flag);

/** The flags that mounts of a type have without a request, such as libfuse's "nosuid,nodev"; or "".
    */
const char *shown_flags(const char *fstype);

/**
 * Append the options of a line that its mount lacks.
 *
 * Only options that the kernel always shows while they are in force are considered.  They belong
 * to the file system: if several lines mount it, the options of the first one apply.
 *
 * @mount    The mount of the line; not a bind.  Without separate lists of options nothing is
 *           appended.
 * @options  Of the line, decoded.
 */
void shown_lacks(const struct mount *mount, const char *options, struct strbuf *lacks);

/** Whether a type is a FUSE type: fuse, fuse.SUBTYPE, fuseblk; not fusectl. */
bool is_fuse(const char *fstype);

#define FUSE_USER_UNKNOWN UINT32_MAX

/** The ID of the user who mounted a FUSE file system, from its option user_id=; FUSE_USER_UNKNOWN
    if the option is not shown; 0 for all other types. */
uint32_t fuse_user(const char *fstype, const char *options);

#endif
