/* SPDX-License-Identifier: MIT */
/*
 * Whose mounts they are, for the prober's bounds: each user's mounts have a share
 * of their own, so that nobody keeps the mounts of others from being probed.
 *
 * FUSE tells who mounted it.  What stands on a mount of a user, or lies below
 * one, can be kept from answering by that user, and counts as that user's.
 * All else is root's.
 */
#include "discover/discover_impl.h"

#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 5 };   /* mounts named in a reason */

/** Whether a type is one of FUSE: fuse, fuse.SUBTYPE, fuseblk, but not fusectl. */
static bool owner_is_fuse(const char *fstype)
{
	if (!fstype || strncmp(fstype, "fuse", 4) != 0)
		return false;
	fstype += strncmp(fstype + 4, "blk", 3) == 0 ? 7 : 4;
	return *fstype == '\0' || *fstype == '.';
}

uint32_t dsc_fuse_owner(const struct mount *m)
{
	static const char name[] = "user_id=";
	if (!owner_is_fuse(m->fstype))
		return 0;
	for (const char *option = m->fs_opts; option; option = strchr(option, ',')) {
		option += *option == ',';
		if (strncmp(option, name, sizeof(name) - 1) != 0)
			continue;
		char *end;
		errno = 0;
		unsigned long id = strtoul(option + sizeof(name) - 1, &end, 10);
		return errno == 0 && end > option + sizeof(name) - 1 && (*end == '\0' || *end == ',') && id <= UINT32_MAX
		       ? (uint32_t)id : DSC_OWNER_UNKNOWN;
	}
	return DSC_OWNER_UNKNOWN;
}

void dsc_find_owners(struct dsc *dsc, uint32_t *owners)
{
	const struct mtree *tree = dsc->tree;
	struct k_statx st;
	uint32_t task = 0;
	/* In the user namespace of another process, root is whoever made that. */
	if (dsc->opts->procfd != AT_FDCWD)
		task = os_statx(dsc->os, dsc->opts->procfd, "", AT_EMPTY_PATH, K_STATX_BASIC, &st) == 0 ? st.uid
		                                                                                      : DSC_OWNER_UNKNOWN;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mount *m = tree->nodes[i].mount;
		owners[i] = task != 0 && owner_is_fuse(m->fstype) ? task : dsc_fuse_owner(m);
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < tree->count; ++i) {
			uint32_t node = tree->order[i], parent = tree->nodes[node].parent;
			if (owners[node] == 0 && parent != MT_NONE && owners[parent] != 0 && !mtree_stacked(tree, node)) {
				owners[node] = owners[parent];
				changed = true;
			}
		}
		for (size_t i = 0; i < dsc->nstands; ++i) {
			const struct dsc_stands *s = &dsc->stands[i];
			if (owners[s->node] == 0 && owners[s->on] != 0) {
				owners[s->node] = owners[s->on];
				changed = true;
			}
		}
	}
}

const char *dsc_over_share(struct dsc *dsc, const uint32_t *owners)
{
	struct strbuf text;
	uint32_t count = 0;
	for (uint32_t i = 0; i < dsc->tree->count; ++i)
		count += dsc->d->probed[i].error == EDQUOT;
	if (count == 0)
		return NULL;
	strbuf_init(&text);
	strbuf_printf(&text, "%u mount%s not probed: ", count, count == 1 ? " was" : "s were");
	uint32_t named = 0;
	for (uint32_t i = 0; i < dsc->tree->count && named < NAMES_MAX; ++i) {
		const char *name = dsc_kernel_name(dsc, i);
		if (dsc->d->probed[i].error != EDQUOT || !name)
			continue;
		strbuf_printf(&text, "%s%s ", named++ ? ", " : "", name);
		if (owners[i] == DSC_OWNER_UNKNOWN)
			strbuf_puts(&text, "(of an unknown user)");
		else
			strbuf_printf(&text, "(of user %u)", owners[i]);
	}
	if (named < count)
		strbuf_printf(&text, " and %u more", count - named);
	strbuf_printf(&text, ": too many other mounts do not answer (at most %d of one user are probed, %d of all users but root, "
	              "%d in all); unmount those that are hung or end their servers, and probe again when their "
	              "processes (" PROBER_PROCESS ") have ended", PROBER_LEFT_USER, PROBER_LEFT_USERS, PROBER_LEFT_MAX);
	const char *reason = text.failed ? NULL : arena_strndup(&dsc->d->names, strbuf_str(&text), text.len);
	strbuf_destroy(&text);
	return reason ? reason : "mounts were not probed: too many others do not answer";
}
