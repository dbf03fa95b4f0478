/* SPDX-License-Identifier: MIT */
/* The options of a line: of a bind here, of any other mount by mountopts/request.h. */
#include "fstab/plan/plan_impl.h"

#include "mountopts/request.h"
#include "mountopts/vfsflags.h"

#include <string.h>

/** The flags of a mount; the defaults if they are not known. */
static struct vfs_flags flags_of(const struct mount *mount)
{
	struct vfs_flags flags = {0};
	if (mount->vfs_opts)
		vfs_flags_of_mount(mount, &flags);
	return flags;
}

/**
 * Append the options of a bind: those of the mount, not of its file system.
 *
 * A bind begins with the flags of the mount that its source lies in.  Where it has others, all are
 * written: mount(8) changes flags only if the line names one, and clears none that it does not
 * name.
 */
static void add_bind(struct strbuf *out, const struct mount *mount, const struct mount *bound,
                     bool minimal)
{
	struct vfs_flags mine = flags_of(mount), source = flags_of(bound);
	opt_puts(out, "bind");
	if (minimal && bound->vfs_opts && memcmp(mine.value, source.value, VFS_OF_MOUNT) == 0)
		return;
	for (int flag = 0; flag < VFS_OF_MOUNT; ++flag) {
		if (flag != VFS_ATIME && (mine.value[flag] || source.value[flag] || flag == VFS_RO))
			opt_puts(out, vfs_name(flag, mine.value[flag]));
	}
	opt_puts(out, vfs_name(VFS_ATIME, mine.value[VFS_ATIME]));
}

enum state options_choose(struct maker *mk, const struct mount *mount, const struct mount *bound,
                          const char *first, const struct strbuf *more, struct fstab_line *line)
{
	struct strbuf out = {0}, why = {0}, warning = {0};
	const struct opt_request request = {mount, mk->in->root,
	                                    mk->in->options == FSTAB_MINIMAL, first};
	int rc = bound ? 0 : opt_request(&request, &out, &why, &warning);
	if (bound)
		add_bind(&out, mount, bound, request.minimal);
	if (more->len)
		opt_add(&out, more->data, more->len);
	if (rc == 0)
		line->options = plan_format(mk, "%s", out.len ? strbuf_str(&out) : "defaults");
	else if (rc > 0)
		line->why = plan_format(mk, "%s", strbuf_str(&why));
	if (warning.len)
		line->warning = plan_format(mk, "%s%s%s", line->warning ? line->warning : "",
		                            line->warning ? "; " : "", strbuf_str(&warning));
	mk->failed |= rc < 0 || out.failed;
	strbuf_destroy(&out);
	strbuf_destroy(&why);
	strbuf_destroy(&warning);
	return rc == 0 && !mk->failed ? LINE : REFUSED;
}
