/* SPDX-License-Identifier: MIT */
/*
 * Finds the mount that contains the root of the run.
 */
#include "discover/discover_impl.h"

#include "base/words.h"

#include <fcntl.h>

/** Examine a root directory.
    @rootfd  The directory; AT_FDCWD: the root of the process.
    @st [out]  Type, link count and mount ID.
    @return 0, or -1.  Errors: those of statx(2). */
static int dsc_look_at_root(struct dsc *dsc, int rootfd, struct k_statx *st)
{
	struct os *os = dsc->os;
	bool cwd = rootfd == AT_FDCWD;
	unsigned id = dsc_id_mask(dsc);
	/* os_init() has examined "/", and has both mount IDs if the kernel provides them. */
	*st = os->root;
	if (id == K_STATX_MNT_ID && os->root_old_id != 0 && st->mask & K_STATX_MNT_ID_UNIQUE) {
		st->mnt_id = os->root_old_id;
		st->mask = (st->mask & ~(unsigned)K_STATX_MNT_ID_UNIQUE) | K_STATX_MNT_ID;
	}
	if (cwd && st->mode != 0 && (st->mask & id) == id)
		return 0;
	int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC | (cwd ? 0 : AT_EMPTY_PATH);
	return os_statx(os, rootfd, cwd ? "/" : "", flags, id | K_STATX_TYPE | K_STATX_NLINK, st);
}

/** The key of the mount that contains a root directory; 0 if unknown.
    @prefix  The path of the root directory. */
static uint64_t dsc_key_of(const struct dsc *dsc, const struct k_statx *st, const char *prefix)
{
	uint64_t key = os_statx_mnt_id(st, dsc->unique);
	if (key != 0)
		return key;
	/* Identity by device: the nearest mount of that device at or above the prefix. */
	uint64_t dev = (uint64_t)st->dev_major << 32 | st->dev_minor;
	size_t longest = 0;
	for (size_t i = 0; i < dsc->table->count; ++i) {
		const struct mount *m = &dsc->table->mounts[i];
		if (m->point && mount_dev(m) == dev && word_below(prefix, m->point)
		    && strlen(m->point) >= longest) {
			longest = strlen(m->point);
			key = m->key;
		}
	}
	return key;
}

int dsc_root_key(struct dsc *dsc, uint64_t *found)
{
	*found = 0;
	if (dsc->table->source >= TABLE_RECORDED)
		return 0;
	if (dsc->opts->names == DN_KERNEL) {
		/* Only "/" may be accessed, and os_init() has examined it; and a root that was
		   opened because it cannot block. */
		if (dsc->rootfd != AT_FDCWD) {
			if (dsc->opts->root_cannot_block
			    && dsc_look_at_root(dsc, dsc->rootfd, &dsc->root_st) == 0)
				*found = os_statx_mnt_id(&dsc->root_st, dsc->unique);
			return 0;
		}
		*found = os_statx_mnt_id(&dsc->os->root, dsc->unique);
		if (*found != 0 || dsc->by_dev)
			return 0;
	}
	if (dsc_look_at_root(dsc, dsc->rootfd, &dsc->root_st) != 0)
		return -1;
	*found = dsc_key_of(dsc, &dsc->root_st, dsc->opts->prefix);
	return 0;
}

int dsc_own_root(struct dsc *dsc, uint32_t *found)
{
	*found = dsc->d->root;
	if (strcmp(dsc->opts->prefix, "/") == 0 || dsc->opts->names == DN_KERNEL
	    || dsc->table->source >= TABLE_RECORDED)
		return 0;
	struct k_statx st;
	if (dsc_look_at_root(dsc, AT_FDCWD, &st) != 0)
		return -1;
	*found = mtree_find(dsc->tree, dsc_key_of(dsc, &st, "/"));
	return 0;
}
