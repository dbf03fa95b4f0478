/* SPDX-License-Identifier: MIT */
/**
 * What differs between two machines of the same role, and from one boot to the next, taken
 * out of a text: "*" stands in its place.
 *
 * Of paths: UUIDs, numbers of long hex (containers, layers, netns), what follows
 * /run/user, /proc, /snap/NAME and the like, names that mkstemp(3) makes, loop
 * devices, kernel names of disks (sda1, nvme0n1p2, vda, dm-0, md127), what udev calls
 * devices by what they are (by-uuid, by-id, by-path).  Of values besides: UUID= and its
 * kin, device numbers, options that follow the size of disks and memory (size=, nr_inodes=,
 * stripe=), sizes, counts above 9999, percentages, dates, and the host's own name.
 *
 * What a role is made of stays: /data/1 and /data/2, LABEL=, volumes of LVM by name, servers,
 * uid=, mode=.  Pure, linear.
 */
#ifndef GM_AUDIT_MASK_H
#define GM_AUDIT_MASK_H

#include "base/strbuf.h"

/** Append a mount point. */
void mask_path(struct strbuf *out, const char *path);

/**
 * Append what was expected or is.
 *
 * @host  The name of this host, or NULL.  It is a "*" where it stands as a word, and as
 *        its first part; but not if it is a plain word (letters alone), as "data" is.
 */
void mask_value(struct strbuf *out, const char *value, const char *host);

#endif
