/* SPDX-License-Identifier: MIT */
/**
 * The options of a line compared with those of its mount.
 *
 * Of the options of a file system the kernel shows some, in its own way (mountopts/shown.h): one
 * that the mount shows and the line lacks, or has with another value, is a difference; one that
 * only the line has stays, like those for mount(8) and systemd.  The VFS flags (ro, nosuid,
 * noatime ...) are compared by mountopts/vfsflags.h.  Pure.
 */
#ifndef GM_MOUNTOPTS_COMPARE_H
#define GM_MOUNTOPTS_COMPARE_H

#include "mountopts/vfsflags.h"

struct opt_compared {
	const char *fstype;            /* that the kernel shows; NULL: unknown */
	const char *line;              /* the options of the line, decoded */
	const char *mount;             /* those of the mount, as a line has them; NULL: none */
	const char *shown;             /* those of its file system, as the kernel shows them; NULL:
	                                  not compared */
	const struct vfs_flags *flags; /* of the mount, if they differ from the line's: options of
	                                  the line that set one are left out; else NULL */
	bool lacks;                    /* compare also what only the mount has */
	const char *first;             /* options that need no request: those of the line that
	                                  mounted the file system first; NULL: none */
};

/** Compare options.
    @list [out]    The options of the line with the values of the mount, without flags.
    @differ [out]  Those that differ, as the mount has them.
    @return 0, or -1: memory ran out; both lists may lack options. */
int opt_compare(const struct opt_compared *in, struct strbuf *list, struct strbuf *differ);

#endif
