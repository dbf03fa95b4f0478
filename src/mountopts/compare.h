/* SPDX-License-Identifier: MIT */
/**
 * The options of a line compared with the options of its mount.
 *
 * The kernel shows some options of a file system, in a form of its own (mountopts/shown.h).  An
 * option that the mount shows is a difference if the line lacks the option or has another value.
 * An option that only the line has is no difference, and neither is one for mount(8) or systemd.
 * The VFS flags (ro, nosuid, noatime ...) are compared by mountopts/vfsflags.h.  Pure.
 */
#ifndef GM_MOUNTOPTS_COMPARE_H
#define GM_MOUNTOPTS_COMPARE_H

#include "mountopts/options.h"
#include "mountopts/vfsflags.h"

struct opt_compared {
	const char *fstype;            /* that the kernel shows; NULL: unknown */
	const char *line;              /* the options of the line, decoded */
	const char *mount;             /* the options of the mount, in the form of a line; NULL:
	                                  no options */
	const char *shown;             /* the options of its file system, as the kernel shows them;
	                                  NULL: not compared */
	const struct vfs_flags *flags; /* the flags of the mount, if they differ from the flags of
	                                  the line: options of the line that set a flag are left
	                                  out; else NULL */
	bool lacks;                    /* an option that only the mount has is a difference, too */
	const char *first;             /* the options of the line that mounted the file system
	                                  first: the mount may show them, too; NULL: no such line */
};

/** Compare options.
    @list [out]    The options of the line with the values of the mount; if `flags` is set,
                   without flags.
    @differ [out]  The options that differ, as the mount has them.  Marked as failed also
                   if memory for `list` ran out. */
void opt_compare(const struct opt_compared *in, struct strbuf *list, struct strbuf *differ);

/** Append the options of a line that the line which mounts its file system first overrules, because
    the file system has one set of options for all mounts.
    @first    The options of that line.
    @opts, n  Those of the line. */
void opt_overruled(const char *fstype, const char *first, const struct opt *opts, size_t n,
                   struct strbuf *lost);

#endif
