/* SPDX-License-Identifier: MIT */
/*
 * What the prober is permitted to do: its records, and its limits.  Each user has a share, so that
 * nobody can prevent the mounts of others from being probed.
 *
 * A FUSE mount belongs to the user who mounted it.  So do the mounts that depend on it or are below
 * it, since that user can keep them from responding.  All other mounts belong to root.
 */
#include "discover/discover_impl.h"

#include "mountopts/shown.h"

#include <fcntl.h>
#include <stdlib.h>

enum { NAMES_MAX = 5 };   /* mounts listed in a reason */

/** Callback of mounts_propagate(): a mount gets the owner of a mount that it depends on, unless
    that is root. */
static bool owner_apply(void *arg, uint32_t node, uint32_t on, bool below)
{
	uint32_t *owners = arg;
	(void)below;
	bool changed = owners[node] == 0 && owners[on] != 0;
	if (changed)
		owners[node] = owners[on];
	return changed;
}

void dsc_find_owners(struct dsc *dsc, uint32_t *owners)
{
	const struct mtree *tree = dsc->tree;
	struct k_statx st;
	uint32_t task = 0;
	/* In the user namespace of another process, root is the creator of that namespace. */
	if (dsc->opts->procfd != AT_FDCWD) {
		int fd = dsc->opts->procfd;
		int rc = os_statx(dsc->os, fd, "", AT_EMPTY_PATH, K_STATX_BASIC, &st);
		task = rc == 0 ? st.uid : FUSE_USER_UNKNOWN;
	}
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mount *m = tree->nodes[i].mount;
		bool tasks = task != 0 && is_fuse(m->fstype);
		owners[i] = tasks ? task : fuse_user(m->fstype, m->fs_opts);
	}
	mounts_propagate(dsc->mounts, owner_apply, owners);
}

const char *dsc_over_share(struct dsc *dsc, const uint32_t *owners)
{
	struct strbuf text = {0};
	uint32_t count = 0;
	for (uint32_t i = 0; i < dsc->tree->count; ++i)
		count += dsc->d->probed[i].error == EDQUOT;
	if (count == 0)
		return NULL;
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

/** Why the records of blocked processes of earlier runs could not be locked.  @error  An errno. */
static const char *records_failed(int error)
{
	switch (error) {
	case EWOULDBLOCK:
		return "nothing was probed: another run is probing, or was stopped while probing; "
		       "see fuser -v " DSC_RECORDS;
	case ENOTUNIQ:
	case ENOTDIR:
	case ELOOP:
		return "nothing was probed: " DSC_RECORDS " is not a directory with mode 0700 of "
		       "this user; see who made it, and remove it";
	case EFBIG:
		return "nothing was probed: " DSC_RECORDS " has too many files; remove them";
	case EROFS:
	case ENOSPC:
	case EDQUOT:
		return "nothing was probed: cannot write to " DSC_RECORDS "; is its file system "
		       "read-only or full?";
	case ENOENT:
		return "nothing was probed: cannot create " DSC_RECORDS "; does /run exist (for "
		       "users /tmp)?";
	default:
		return "nothing was probed: cannot create or lock " DSC_RECORDS ", the directory "
		       "for the records of hung mounts";
	}
}

/** Lock the records of blocked processes of earlier runs, in the first directory of this user.
    @own  The mounts of this process; NULL: unknown.  @return NULL, or why that failed. */
static const char *lock_records(struct dsc *dsc, const struct mount_table *own)
{
	char dir[PROBER_DIR_MAX];
	const char *why = "nothing was probed: there is no directory for the records of hung "
	                  "mounts; root needs /run, other users $XDG_RUNTIME_DIR or /tmp, on a "
	                  "file system that cannot block";
	for (unsigned i = 0; own && prober_memory_dir(i, dir); ++i) {
		if (mounts_type_blocks(own, dir))
			continue;
		if (prober_lock(dsc->opts->prober, dir, dsc->opts->deadline) == 0)
			return NULL;
		int error = errno;
		why = records_failed(error);
		if (error != ENOENT)
			break;
	}
	return why;
}

int dsc_permit_probes(struct dsc *dsc, const char **why)
{
	const struct mount_table *own = dsc->table;
	struct mount_table *read = NULL;
	if (dsc->opts->procfd != AT_FDCWD)
		own = read = table_read_kernel(dsc->os, TABLE_AUTO, MF_POINT | MF_FSTYPE);
	static const char *const cgroups[] = {
		PROBER_CGROUP_DIR "/unified", PROBER_CGROUP_DIR "/systemd",
	};
	bool may_move = own;
	for (size_t i = 0; i < sizeof(cgroups) / sizeof(*cgroups); ++i)
		may_move = may_move && !mounts_type_blocks(own, cgroups[i]);
	*why = lock_records(dsc, own);
	table_free(read);
	return *why || !may_move ? 0 : prober_permit_cgroups(dsc->opts->prober);
}
