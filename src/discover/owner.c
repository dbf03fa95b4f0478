/* SPDX-License-Identifier: MIT */
/*
 * The owner of each mount, for the prober's limits: each user has a share, so that nobody can
 * keep the mounts of others from being probed.
 *
 * A FUSE belongs to the user who mounted it.  So does what stands on such a mount or lies below
 * it, since that user can keep it from answering.  All else is root's.
 */
#include "discover/discover_impl.h"

#include "base/strbuf.h"
#include "mountopts/shown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 5 };   /* mounts named in a reason */

void dsc_find_owners(struct dsc *dsc, uint32_t *owners)
{
	const struct mtree *tree = dsc->tree;
	struct k_statx st;
	uint32_t task = 0;
	/* In the user namespace of another process, root is its creator. */
	if (dsc->opts->procfd != AT_FDCWD)
		task = os_statx(dsc->os, dsc->opts->procfd, "", AT_EMPTY_PATH, K_STATX_BASIC, &st)
		                       == 0
		               ? st.uid
		               : FUSE_USER_UNKNOWN;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mount *m = tree->nodes[i].mount;
		owners[i] = task != 0 && is_fuse(m->fstype) ? task
		                                            : fuse_user(m->fstype, m->fs_opts);
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < tree->count; ++i) {
			uint32_t node = tree->order[i], parent = tree->nodes[node].parent;
			if (owners[node] == 0 && parent != MT_NONE && owners[parent] != 0
			    && !mtree_stacked(tree, node)) {
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
		if (owners[i] == FUSE_USER_UNKNOWN)
			strbuf_puts(&text, "(unknown user)");
		else
			strbuf_printf(&text, "(user %u)", owners[i]);
	}
	if (named < count)
		strbuf_printf(&text, " and %u more", count - named);
	strbuf_printf(
		&text,
		": too many mounts do not answer (at most %d of one user are probed, %d of all "
	        "users "
		"but root, %d in all); unmount the hung mounts or end their servers, and try again "
		"when the " PROBER_PROCESS " processes have ended",
		PROBER_LEFT_USER, PROBER_LEFT_USERS, PROBER_LEFT_MAX);
	const char *reason = dsc_keep_text(dsc, &text);
	return reason ? reason : "mounts were not probed: too many mounts do not answer";
}
