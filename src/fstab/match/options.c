/* SPDX-License-Identifier: MIT */
/*
 * Compare the options of a line and its mount.
 *
 * The kernel always shows the VFS flags of a mount (ro, nosuid, noatime ...): a flag that the line
 * does not name has its default value, or for a bind the value of its source.  All other options
 * are compared by mountopts/compare.h.
 */
#include "fstab/match/matcher.h"

#include "mountopts/compare.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"
#include "mountopts/vfsflags.h"

#include <string.h>

/** Whether a mount is read-only because a line on its mount point has the option ro, not because
    its file system is read-only. */
static bool is_readonly_by_line(struct matcher *m, const struct mount *actual)
{
	for (size_t i = 0; i < m->nmounts && !shown_super_readonly(actual); ++i) {
		const struct candidate *entry = m->mounts[i].line->mount == actual
		                            ? match_first_on(m, &m->mounts[i]) : NULL;
		for (; entry; entry = match_next_on(m, entry)) {
			if (fstab_entry_has(&entry->is, "ro"))
				return true;
		}
	}
	return false;
}

/** Compare the propagation of a line and its mount.  If the line does not name a propagation, the
    mount may have the propagation fstab_line.usual; or be shared, since "/" alone may have been
    made private later.  An unbindable mount counts as private.
    @options [in,out]  The options that the line should have.
    @changed  Gets the propagation of the mount appended, if it differs. */
static void compare_propagation(struct matcher *m, const struct candidate *entry,
                                const struct planned *mount, const char *from,
                                struct strbuf *options, struct strbuf *changed)
{
	const struct fstab_line *line = mount->line;
	struct fstab_bound bound;
	const struct mount *actual = line->mount;
	unsigned is = line->shares;
	/* The last condition is for a slave of a mount in another mount namespace: its propagation
	   comes from there, not from a line. */
	if (line->fate != FSTAB_LINE || !actual || !line->target[1]
	    || (actual->propagation & MP_SLAVE && !(is & MP_SLAVE)))
		return;
	bool named;
	unsigned requested = vfs_propagation_of_line(from, 0, &named);
	/* The option "slave" makes a mount without peers private.  With the option "shared", a bind
	   of a slave is both shared and a slave. */
	unsigned known = is & MP_SLAVE && !(requested & MP_SHARED) ? ~0u : ~(unsigned)MP_SLAVE;
	bool usual = (is & ~(unsigned)MP_UNBINDABLE) == line->usual || is == MP_SHARED;
	if (named ? ((requested ^ is) & known) == 0 : usual)
		return;
	/* The line may name a source that is a slave itself. */
	if (!named && is & MP_SLAVE && match_bound(m, entry, mount, &bound)
	    && bound.in->master == actual->master)
		return;
	const char *list = arena_built(m->arena, options);
	strbuf_reset(options);
	vfs_propagation_replace(list, line->propagation, options);
	vfs_propagation_replace("", vfs_propagation_options(is, false), changed);
}

const char *match_options(struct matcher *m, const struct candidate *entry, const char *from,
                          const struct planned *mount, const char **differ)
{
	const char *live = mount->line->options;
	const struct mount *actual = mount->line->mount;
	bool bind = opt_is_bind(from), flags, known = actual && actual->vfs_opts;
	struct vfs_flags base, have, want;
	struct strbuf changed = {.arena = m->arena};
	const char *fstype = actual && actual->fstype ? actual->fstype : "";
	/* If a quotation mark in the options is not closed, do not change the options: an appended
	   option would be within the quotation. */
	if (opt_is_open(from))
		return NULL;
	/* For a mount that cannot be expressed in fstab, use the options that the kernel shows,
	   since the plan has none. */
	if (!live)
		live = known ? actual->vfs_opts : "";
	strbuf_reset(&m->more);
	struct fstab_bound bound;
	vfs_flags_of_line(live, NULL, &want);
	if (known && !mount->line->options)
		vfs_flags_shown(actual, &want);
	vfs_flags_of_line(shown_flags(fstype), NULL, &base);
	for (const struct vfs_option *row = vfs_options; row->name; ++row) {
		if (shown_any_flag(fstype, row->name))
			base.value[row->flag] = want.value[row->flag];
	}
	strbuf_reset(&m->text);
	shown_list(fstype, from, &m->text);
	vfs_flags_of_line(strbuf_str(&m->text), &base, &have);
	if (bind && have.any && known) {
		/* A flag that the line does not name comes from the source or is the default,
		   depending on the version of mount(8): accept both values. */
		struct vfs_flags source, shown;
		bool found = match_bound(m, entry, mount, &bound) && bound.in->vfs_opts;
		vfs_flags_of_mount(actual, &shown);
		if (found)
			vfs_flags_of_mount(bound.in, &source);
		for (int flag = 0; flag < VFS_OF_MOUNT; ++flag) {
			if (!found || shown.value[flag] == source.value[flag])
				base.value[flag] = shown.value[flag];
		}
		strbuf_reset(&m->text);
		shown_list(fstype, from, &m->text);
		vfs_flags_of_line(strbuf_str(&m->text), &base, &have);
	}
	/* It is no difference if a mount is read-only because of its type or after an error. */
	if (actual && !bind && (shown_readonly(actual) || shown_failed(actual)))
		have.value[VFS_RO] = want.value[VFS_RO];
	/* A bind whose line names no flag has the flags of its source. */
	bool as_source = bind && !have.any;
	if (bind && !want.any && have.any && known)
		vfs_flags_of_mount(actual, &want);
	/* It is no difference if a bind is read-only because its file system is. */
	if (bind && !as_source && known && shown_super_readonly(actual))
		have.value[VFS_RO] = want.value[VFS_RO];
	if (as_source && known && match_bound(m, entry, mount, &bound) && bound.in->vfs_opts) {
		/* Take the flags of the mount that contains the source named by the line.  The plan
		   may name a different source. */
		vfs_flags_of_mount(bound.in, &have);
		vfs_flags_of_mount(actual, &want);
		/* If the source is read-only but the bind is writable, this is a difference only if
		   a line made the source read-only, and not for a bind onto itself, which may be
		   older than a remount of the source. */
		bool itself = mount->key && strcmp(bound.path, mount->key) == 0;
		have.value[VFS_RO] = have.value[VFS_RO]
		    && (want.value[VFS_RO] || (!itself && is_readonly_by_line(m, bound.in)));
		flags = vfs_flags_differ(&have, &want, &changed);
		live = actual->vfs_opts;
	} else if (as_source) {
		flags = want.any;
		if (flags)
			vfs_flags_differ(&(struct vfs_flags){0}, &want, &changed);
		if (flags && !changed.len)
			strbuf_puts(&changed, "rw");
	} else {
		flags = vfs_flags_differ(&have, &want, &changed);
	}
	/* All subvolumes have the options of the first line that mounts the file system. */
	uint32_t first = actual && !bind ? map64_get(&m->first_of, mount_dev(actual)) : MAP64_NONE;
	const struct opt_compared compared = {
		.fstype = fstype, .line = from, .mount = live,
		/* A bind does not set options of the file system. */
		.shown = bind || !actual ? NULL : actual->fs_opts,
		.flags = flags ? &want : NULL,
		.lacks = !bind && !match_by_helper(entry, actual),
		.first = first != MAP64_NONE ? m->entries[first].is.options : NULL,
	};
	opt_compare(&compared, &m->more, &changed);
	/* The line of a bind must name all flags if it names any. */
	if (flags && bind)
		vfs_flags_add_list(live, &m->more);
	else if (flags)
		vfs_flags_add(&want, &base, &m->more);
	compare_propagation(m, entry, mount, from, &m->more, &changed);
	const char *options = NULL;
	if (changed.len) {
		options = m->more.len ? arena_built(m->arena, &m->more) : "defaults";
		*differ = strbuf_str(&changed);
	}
	return options;
}

void fstab_match_named(const struct fstab_line *live, const char *options, struct strbuf *differ)
{
	const struct mount *mount = live->mount;
	if (!mount || !mount->vfs_opts || opt_is_open(options))
		return;
	struct vfs_flags have, want;
	struct strbuf rest = {0};
	vfs_flags_shown(mount, &have);
	want = have;
	vfs_flags_named(options, &want);
	if (have.value[VFS_RO])
		want.value[VFS_RO] = 1;
	vfs_flags_differ(&want, &have, differ);
	const struct opt_compared compared = {
		.fstype = mount->fstype, .line = options, .mount = mount->vfs_opts,
		.shown = opt_is_bind(options) ? NULL : mount->fs_opts,
	};
	opt_compare(&compared, &rest, differ);
	strbuf_destroy(&rest);
}
