/* SPDX-License-Identifier: MIT */
/**
 * Flags of a mount that every file system has: ro, nosuid, noatime ...  One table.
 *
 * The kernel always shows them, so a flag that is missing in a line must have its default value.
 */
#ifndef GM_MOUNTOPTS_VFSFLAGS_H
#define GM_MOUNTOPTS_VFSFLAGS_H

#include "base/mount.h"
#include "base/strbuf.h"

enum vfs_flag {
	VFS_RO, VFS_NOSUID, VFS_NODEV, VFS_NOEXEC, VFS_ATIME, VFS_NODIRATIME, VFS_NOSYMFOLLOW,
	VFS_OF_MOUNT,                /* flags above belong to the mount, those below to its
	                                superblock */
	VFS_SYNC = VFS_OF_MOUNT, VFS_DIRSYNC, VFS_LAZYTIME,
	VFS_FLAGS,
};

/** Values of VFS_ATIME; other flags are 0 or 1. */
enum { VFS_RELATIME, VFS_NOATIME, VFS_STRICTATIME };

struct vfs_option {
	const char *name;
	enum vfs_flag flag;
	unsigned char value;
	bool cancels;            /* only cancels an earlier option with this value of VFS_ATIME;
	                            alone, it has no effect */
};

/** The options; for each flag and value, the usual name comes first.  Ends with a NULL name. */
extern const struct vfs_option vfs_options[];

/** The flags of a mount, or those that a line requests. */
struct vfs_flags {
	unsigned char value[VFS_FLAGS];  /* 0 is the kernel's default */
	bool any;                        /* the options name at least one flag */
};

/** Find an option of n bytes; NULL: not a flag. */
const struct vfs_option *vfs_option(const char *option, size_t n);

/** Whether flags are as an option requests. */
static inline bool vfs_option_holds(const struct vfs_option *option, const struct vfs_flags *flags)
{
	return (flags->value[option->flag] == option->value) != option->cancels;
}

/** The usual name of a flag with a value. */
const char *vfs_name(enum vfs_flag flag, unsigned char value);

/** The flags that the options of a line request: user and users imply noexec, nosuid, nodev.
    @base  The flags without options; NULL: the kernel's defaults. */
void vfs_flags_of_line(const char *options, const struct vfs_flags *base, struct vfs_flags *flags);

/** The flags of a mount itself; mount->vfs_opts is not NULL. */
void vfs_flags_of_mount(const struct mount *mount, struct vfs_flags *flags);

/** The flags of a mount and its superblock. */
void vfs_flags_shown(const struct mount *mount, struct vfs_flags *flags);

/** Set the flags that options name; without those that "user" and the like imply. */
void vfs_flags_named(const char *options, struct vfs_flags *flags);

/** Append the options of a line that are flags. */
void vfs_flags_add_list(const char *options, struct strbuf *list);

/** Append to the options of a line so that they set these flags.
    @want  The flags.
    @base  The flags without options, as in vfs_flags_of_line(). */
void vfs_flags_add(const struct vfs_flags *want, const struct vfs_flags *base, struct strbuf *list);

/** Append the flags of b that differ in a.  @return whether there are any. */
bool vfs_flags_differ(const struct vfs_flags *a, const struct vfs_flags *b, struct strbuf *differ);

/*
 * Propagation: options of a line that set how mounts are passed on, which the kernel does not show
 * among the flags.
 */

/** Get the propagation that an option of n bytes sets, an enum mount_propagation; -1: the option
    sets no propagation.
    @deep [out]  The option includes the mounts below, as "rprivate" does.  NULL: do not find such
                 options. */
int vfs_propagation(const char *option, size_t n, bool *deep);

/** The options that set a propagation.
    @flags  A set of enum mount_propagation.
    @deep   Set the propagation of the mounts below as well. */
const char *vfs_propagation_options(unsigned flags, bool deep);

/** Get the propagation of a mount that is made with the options of a line, a set of enum
    mount_propagation.
    @usual  The propagation of the mount if no option sets the propagation.
    @named [out]  Whether an option sets the propagation. */
unsigned vfs_propagation_of_line(const char *options, unsigned usual, bool *named);

/** Whether all options of a list set the propagation. */
bool vfs_propagation_alone(const char *options);

/** Append the options of a list that do not set the propagation, and then `propagation`.
    @propagation  Options such as "private"; or NULL. */
void vfs_propagation_replace(const char *list, const char *propagation, struct strbuf *out);

#endif
