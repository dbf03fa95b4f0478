/* SPDX-License-Identifier: MIT */
/*
 * Who may have made a mount that is not in the fstab.
 */
#include "audit/rules/drift_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/places.h"
#include "mountopts/shown.h"

#include <string.h>

bool drift_is_lost(const struct drift *drift, const struct fstab_line *live)
{
	const struct mtree *tree = &drift->in->d->tree;
	uint32_t node = live->mount ? mtree_find(tree, live->mount->key) : MT_NONE;
	return live->fate != FSTAB_LINE && node != MT_NONE
	       && tree->nodes[node].states & (1u << MT_HIDDEN | 1u << MT_DELETED);
}

bool drift_is_of_server(const struct fstab_entry *line, const struct fstab_line *live)
{
	const char *fstype = live->mount && live->mount->fstype ? live->mount->fstype : "";
	bool root = live->target && strcmp(live->target, "/") == 0;
	return fstab_match_served(line->fstype,
	                          line->options, live->mount)
	       || (root && (word_in(fstype, strlen(fstype), "overlay composefs")
	                    || fstype_flags(fstype) & FST_NET));
}

/** If units are unknown: whether a mount or swap space may belong to udisks, or to a unit that many
    systems have. */
static bool may_be_units(const struct drift *drift, const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	const char *name = live->swap ? live->swap : live->target;
	if (name && fstab_answer(drift->in->facts, FSTAB_UNIT, name) >= 0)
		return false;
	if (live->swap)
		return strcmp(live->swap, "/var/swap") == 0;
	if (!m || !m->fstype || !live->target)
		return false;
	bool stick = strncmp(live->target, "/media/", 7) == 0 && strchr(live->target + 7, '/')
	             && shown_is_safe(m);
	return stick || (strcmp(m->fstype, "tmpfs") == 0 && strcmp(live->target, "/tmp") == 0);
}

/** Whether a directory is bound onto itself read-only, like the store of NixOS. */
static bool is_locked(const struct drift *drift, const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	uint32_t node = m ? mtree_find(&drift->in->d->tree, m->key) : MT_NONE;
	return node != MT_NONE && shown_mount_readonly(m)
	       && fstab_upon_itself(drift->in->d, node);
}

/** Whether an empty fstab probably lost the line of a mount or swap space in use: a swap space or a
    whole file system on a disk, except /usr, which an initrd mounts; the root is also on a disk,
    and the system is not a container. */
static bool is_forgotten(struct drift *drift, const struct fstab_line *live)
{
	const char *source = live->swap ? live->swap : live->mount ? live->mount->source : NULL;
	bool part = live->mount && ((live->target && strcmp(live->target, "/usr") == 0)
	                            || (live->mount->root && strcmp(live->mount->root, "/") != 0));
	return source && audit_begins(source, "/dev/") && !part && drift->of_disk
	       && !audit_begins(source, "/dev/loop /dev/zram /dev/ram /dev/fuse /dev/sr /dev/scd")
	       && !audit_is_contained(drift->in->facts, source, &drift->container);
}

bool drift_wants_line(struct drift *drift, const struct fstab_line *live, bool can)
{
	if ((!drift->any && !is_forgotten(drift, live)) || may_be_units(drift, live))
		return false;
	/* No line can mount what is on zram, which is set up at boot. */
	const char *source = live->mount ? live->mount->source : NULL;
	bool zram = source && strncmp(source, "/dev/zram", 9) == 0;
	return can ? !is_locked(drift, live) : live->unnamed && !zram;
}
