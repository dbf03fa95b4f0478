/* SPDX-License-Identifier: MIT */
/**
 * What a kernel shows of the options that it was given.
 *
 *     umask=077               fmask=0077,dmask=0077
 *     noload                  norecovery
 *     defaults                rw,attr2,inode64,logbufs=8 ...
 *
 * It renames, shows one option as several, writes numbers for names and units as it
 * likes, and shows what it chose by itself.  So a line and a mount are compared only
 * after the line's options were written as the kernel would: shown_as().  Then what is
 * in both by name must have the same value, shown_same(); and what is shown and was not
 * asked for is a difference unless it can be there unasked, shown_unasked().  Pure.
 *
 * The rows are by what show_options() of the kernel's file systems (5.4 to 6.18) and the
 * manuals of the mount helpers say, and by trying: tests/fixtures/options.
 */
#ifndef GM_MOUNTOPTS_SHOWN_H
#define GM_MOUNTOPTS_SHOWN_H

#include "base/mount.h"
#include "mountopts/optset.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Append an option as the kernel shows it: no, one or several options with commas between.
 *
 * @fstype
 *         Of the mount, as the kernel has it; a ".subtype" is ignored.  NULL: not known.
 * @option, n
 *         As mount(8) takes it; with a value in quotes or not.
 */
void shown_as(const char *fstype, const char *option, size_t n, struct strbuf *out);

/** Append a list of options as the kernel shows it.  Those of mount(8) stay. */
void shown_list(const char *fstype, const char *options, struct strbuf *out);

/**
 * Whether an option that was asked for, as shown_as() has it, is what is shown by the same
 * name; where its value cannot be told, it is.
 *
 * @asked, n
 * @shown, m
 *         Options with their values, if they have one.  An older kernel may show one as it
 *         is asked for: "space_cache=v1" is "space_cache".
 */
bool shown_same(const char *fstype, const char *asked, size_t n, const char *shown, size_t m);

/**
 * Whether a list that was asked for, as shown_as() has it and by name, has what an option of a mount
 * means, or need not have it: what stands for a default.  "usebackuproot", as Linux 5.8
 * shows it, is "rescue=usebackuproot".
 *
 * @use    For use in passing; whether it failed is the caller's to look.
 */
bool shown_has(const char *fstype, const struct opt_set *asked, const char *shown, size_t n, struct strbuf *use);

/** Whether a file system was shut down, or made read-only, by an error. */
bool shown_failed(const char *fstype, const char *options);

/** Whether a line of a type, or of a list of them with commas, makes a mount of a type as
    the kernel shows it: "sshfs" one of "fuse.sshfs", "ntfs-3g" one of "fuseblk".  NULL and
    "auto" make any. */
bool shown_type(const char *asked, const char *live);

/** Whether a mount is read-only by nature, whatever is asked for: by its type, as one of lower
    layers alone, or of a disc. */
bool shown_readonly(const struct mount *mount);

/** Whether a type's mounts may have a flag, or not, where the line does not speak of it. */
bool shown_any_flag(const char *fstype, const char *flag);

/** Flags that a mount has where the line does not speak of them: libfuse's
    "nosuid,nodev", and the like; or "". */
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

#endif
