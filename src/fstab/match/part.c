/* SPDX-License-Identifier: MIT */
/*
 * Compare the part of a file system (a subvolume, a directory, the layers of an overlay) that a
 * line and a mount have, and name this part in messages.
 */
#include "fstab/match/matcher.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"

#include <string.h>

/** Whether the options of an overlay line and of an overlay mount name the same layers.  If memory
    runs out, the arena fails. */
static bool same_layers(struct matcher *m, const char *line, const char *live)
{
	int same = shown_same_layers(line, live);
	if (same < 0)
		arena_fail(m->arena);
	return same > 0;
}

/** Whether a mount shows a subvolume below the top, but the line has neither subvol= nor subvolid=.
    False for a line of "/": a booted snapshot is usually the default subvolume.
    @live  The options of the mount. */
static bool lacks_subvol(const struct fstab_entry *line, const char *live)
{
	size_t n;
	const char *subvol = opt_value(live, "subvol", &n);
	return subvol && !word_is(subvol, n, "/") && !fstab_entry_find(line, "subvol")
	       && !fstab_entry_find(line, "subvolid") && strcmp(line->target, "/") != 0;
}

/** Whether a mount that shows a directory of a device cannot result from a line that mounts the
    whole device.  The mount may result from the line if it is on "/", since boot or a container may
    choose the directory, or if ostree or systemd (for the private directories of a service) bound
    the directory. */
static bool is_strange_part(const struct candidate *entry, const struct mount *mount)
{
	return mount->dev_major != 0 && fstype_flags(mount->fstype) & FST_DEVICE
	       && strcmp(entry->is.target, "/") != 0
	       && strncmp(mount->root, "/ostree/", 8) != 0
	       && !strstr(mount->root, "/systemd-private-");
}

/** Options with their octal escapes decoded; "" for NULL. */
static const char *decoded(struct matcher *m, const char *options)
{
	struct strbuf plain = {.arena = m->arena};
	unescape_octal_add(&plain, options ? options : "", options ? strlen(options) : 0);
	return strbuf_str(&plain);
}

bool match_same_part(struct matcher *m, const struct candidate *entry,
                     const struct fstab_line *line)
{
	const struct mount *mount = line->mount;
	if (!mount || entry->is.bind)
		return true;
	const char *options = line->fate == FSTAB_LINE && strcmp(line->fstype, "none") != 0
	    ? line->options : mount->fs_opts;
	const char *plain = options == mount->fs_opts ? decoded(m, options) : options;
	bool overlay = mount->fstype && strcmp(mount->fstype, "overlay") == 0;
	/* If ROOT is not "/", the paths of the layers that the kernel shows are not from ROOT; only
	   the plan has converted them. */
	bool compare = !overlay || line->fate == FSTAB_LINE || strcmp(m->in->root, "/") == 0;
	if (compare && (overlay ? !same_layers(m, entry->is.options, plain)
	                : !shown_same_value(entry->is.options, plain, "subvol", true)
	                  || lacks_subvol(&entry->is, plain)))
		return false;
	/* part: the mount shows a directory, but the line would show the root directory of the file
	   system. */
	bool part = mount->root && strcmp(mount->root, "/") != 0
	            && !fstab_entry_find(&entry->is, "X-mount.subdir")
	            && !(fstype_flags(mount->fstype) & (FST_SUBVOL | FST_PSEUDO));
	bool bound = line->fate == FSTAB_LINE && strcmp(line->fstype, "none") == 0;
	if (part && (bound || is_strange_part(entry, mount)))
		return false;
	return !(fstype_flags(mount->fstype) & FST_SUBVOL) || overlay
	       || shown_same_value(entry->is.options, mount->fs_opts, "subvolid", true);
}

/* Names of lines and mounts in messages. */

/** Append a source and type, with secrets masked. */
static void add_name(struct strbuf *out, const char *source, const char *fstype)
{
	mask_source(source ? source : "none", out);
	strbuf_puts(out, " (");
	mask_options(fstype ? fstype : "?", out);
	strbuf_putc(out, ')');
}

/** Append the part of a file system that options select: subvolume or layers.
    @other  The options to compare with: if these have the same subvolid, the subvolid is left out;
            or NULL. */
static void add_part(struct strbuf *out, const char *fstype, const char *options, const char *other)
{
	unsigned flags = fstype_flags(fstype);
	size_t n = 0, k = 0;
	if (!options || !*options || !(flags & (FST_SUBVOL | FST_LAYERED)))
		return;
	const char *subvol = opt_find(options, "subvol", 6, &n),
	           *id = opt_find(options, "subvolid", 8, &k);
	if (flags & FST_LAYERED) {
		strbuf_puts(out, ": ");
		mask_options(options, out);
		return;
	}
	/* Name the subvolid only if it differs, as for a subvolume that was created again. */
	if (id && subvol && (!other || shown_same_value(other, options, "subvolid", true)))
		id = NULL;
	strbuf_puts(out, subvol || id ? ": " : "");
	strbuf_add(out, id ? id : "", k * (id != NULL));
	strbuf_puts(out, id && subvol ? "," : "");
	strbuf_add(out, subvol ? subvol : "", n);
}

void fstab_name_line(const struct fstab_entry *line, const struct fstab_line *live,
                     struct strbuf *out)
{
	add_name(out, line->source, line->fstype);
	add_part(out, line->fstype, line->options,
	         live->mount ? live->mount->fs_opts : NULL);
}

void fstab_name_live(const struct fstab_line *live, const struct fstab_entry *line,
                     struct strbuf *out)
{
	const struct mount *mount = live->mount;
	bool own = live->fate == FSTAB_LINE || !mount;
	const char *fstype = mount ? mount->fstype : "swap";
	add_name(out, own ? live->source : mount->source, fstype);
	if (!mount || (own && strcmp(live->fstype, "none") == 0))
		return;
	bool part = fstype_flags(fstype) & (FST_SUBVOL | FST_LAYERED | FST_PSEUDO);
	if (!own && !part && mount->root && strcmp(mount->root, "/") != 0)
		strbuf_printf(out, ": %s", mount->root);
	else if (line || !(fstype_flags(fstype) & FST_LAYERED))
		add_part(out, fstype, mount->fs_opts,
		         line ? line->options : NULL);
}
