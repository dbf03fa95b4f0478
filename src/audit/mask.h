/* SPDX-License-Identifier: MIT */
/**
 * What differs between two machines of the same role, and from one boot to the next, taken
 * out of a text: "*" stands in its place.
 *
 * Of paths: UUIDs, numbers of long hex (containers, layers, netns), what follows
 * /run/user, /proc, /snap/NAME and the like, names that mkstemp(3) makes, loop
 * devices, kernel names of disks (sda1, nvme0n1p2, vda, dm-0, md127), what udev calls
 * devices by what they are (by-uuid, by-id, by-path), and the host's own name.  Of values
 * besides: UUID= and its kin, device numbers, options that follow the size of disks and memory
 * (size=, nr_inodes=, stripe=), sizes, counts above 9999, numbers of lines, percentages, dates.
 *
 * What a role is made of stays: /data/1 and /data/2, LABEL=, volumes of LVM by name, servers,
 * uid=, mode=.  Pure, linear.
 */
#ifndef GM_AUDIT_MASK_H
#define GM_AUDIT_MASK_H

#include "base/strbuf.h"

/**
 * Append a mount point.
 *
 * @host  The name of this host, or NULL.  It is a "*" where it stands, and where its first part
 *        does, in whatever case, between what is neither letter nor digit: in a volume group, a
 *        label, a directory.  As the name of a server it must be that as a whole.  If it
 *        is a plain word (letters alone), as "data" is, it is taken out of the names
 *        alone that installers give volume groups: data-vg, rhel_data.  If it has no letters,
 *        it must be a whole word.
 */
void mask_path(struct strbuf *out, const char *path, const char *host);

/** Append what was expected or is; as above. */
void mask_value(struct strbuf *out, const char *value, const char *host);

#endif
