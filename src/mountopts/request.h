/* SPDX-License-Identifier: MIT */
/**
 * The options that a line needs to make a mount like one that exists.
 *
 * The kernel shows more than was requested: what it found out when it mounted (addresses, file
 * descriptors, the ID of a subvolume), which a line must not freeze, and defaults.
 * mountopts/fsopts.h knows both.  An unknown option is kept: as far as we can tell, it was
 * requested.  Pure.
 */
#ifndef GM_MOUNTOPTS_REQUEST_H
#define GM_MOUNTOPTS_REQUEST_H

#include "base/mount.h"
#include "base/strbuf.h"

struct opt_request {
	const struct mount *mount;
	const struct mount *bound;   /* of a bind: the mount that its source lies in; else NULL */
	bool recursive;              /* of a bind: it includes the mounts below its source */
	const char *root;            /* the layers of an overlay must be below it, and are named
	                                from there */
	bool minimal;                /* leave out options that are defaults */
	const char *first;           /* appended before the options of the file system; NULL:
	                                nothing */
	const char *more;            /* appended at the end; or NULL */
};

/** Append the options of a line for a mount.  Nothing is appended if the line needs no options.
    @why [out]      Why the mount cannot be expressed in fstab.
    @warning [out]  A possible fault of the mount, or an assumption; nothing if there is no doubt.
    @return 0; 1: the mount cannot be expressed in fstab; -1: memory ran out. */
int opt_request(const struct opt_request *in, struct strbuf *options, struct strbuf *why,
                struct strbuf *warning);

#endif
