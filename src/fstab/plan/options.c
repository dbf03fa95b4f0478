/* SPDX-License-Identifier: MIT */
/*
 * The options of a line.
 *
 * The kernel shows more than was requested: what it found out when it mounted (addresses, file
 * descriptors, the ID of a subvolume), which a line must not freeze, and defaults.
 * mountopts/fsopts.h knows both.  An unknown option is kept: as far as we can tell, it was
 * requested.
 */
#include "fstab/plan/plan_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/layers.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"
#include "mountopts/vfsflags.h"

#include <stdlib.h>
#include <string.h>

/** Whether a protocol is of another address family than the server's address: the mount may share
    a connection to the server's other address. */
static bool is_other_family(const struct mount *mount, const char *option, size_t n)
{
	const char *source = mount->source ? mount->source : "";
	size_t digits = strspn(source, "0123456789.");
	if (!fsopt_type_in(mount->fstype, "nfs nfs4"))
		return false;
	return *source == '[' ? word_in(option, n, "proto=tcp proto=udp proto=rdma")
	       : digits && source[digits] == ':'
	         && word_in(option, n, "proto=tcp6 proto=udp6 proto=rdma6");
}

/** Append the value of lowerdir= and the like, with paths from ROOT. */
static bool add_layers(struct maker *mk, struct strbuf *out, const char *option, size_t n,
                       bool list, struct fstab_line *line)
{
	const char *root = mk->in->root, *equals = memchr(option, '=', n);
	size_t cut = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (cut && strpbrk(root, ":\\")) {
		line->why = "ROOT has a colon or a backslash in its name, which layers of an "
		            "overlay escape";
		return false;
	}
	strbuf_add(out, option, (size_t)(equals + 1 - option));
	strbuf_reset(&mk->text);
	unescape_octal_add(&mk->text, equals + 1, (size_t)(option + n - equals - 1));
	struct opt_layer layer;
	for (const char *at = strbuf_str(&mk->text); *at;) {
		if (opt_layer_next(&at, list, &layer)) {
			opt_layer_path(&layer, &mk->path);
			const char *path = strbuf_str(&mk->path);
			if (!mtree_path_within(path, root)) {
				line->why = *path != '/' ? "its layers have no absolute names"
				            : plan_format(mk, "its layer %s lies outside ROOT",
				                          path);
				return false;
			}
			strbuf_puts(out, layer.n == cut ? "/" : "");
			strbuf_add(out, layer.text + cut, layer.n - cut);
		}
		if (*at == ':')
			strbuf_putc(out, *at++);
	}
	return true;
}

/* The line. */

/** Why mount(8) would read an option as something else; NULL: it would not.  It ends an option
    at a comma that no quotation marks or backslash protect, and drops one whose quotation marks
    are not closed: then another tree is mounted. */
static const char *misread(const char *option, size_t n)
{
	if ((opt_name(option, n) == n && fsopt_has(option, n, OPT_USERSPACE))
	    || opt_is_x(option, n))
		return "is one that mount(8) keeps for itself";
	if (memmem(option, n, "\\054", 4) || (memchr(option, ',', n) && !opt_label_length(option)))
		return "has a comma in its value";
	if (memmem(option, n, "\\042", 4) || (memchr(option, '"', n) && !opt_label_length(option)))
		return "has a quotation mark in its value";
	if (option[n - 1] == '\\' || (n >= 4 && memcmp(option + n - 4, "\\134", 4) == 0))
		return "ends with a backslash";
	return NULL;
}

/** Append the options of a list that belong in a line.
    @other  If the list is the file system's: the list of the mount, whose options are not
            repeated; or NULL.
    @return false: there can be no line. */
static bool add_list(struct maker *mk, struct strbuf *out, const struct mount *mount,
                     const char *list, const char *other, struct fstab_line *line)
{
	unsigned dropped = OPT_FOUND_OUT | (mk->in->options == FSTAB_MINIMAL ? OPT_DEFAULT : 0);
	bool layers, good = true;
	struct opt_set others = {.whole = true};
	size_t n;
	opt_set_add_list(&others, other, opt_next_shown);
	for (const char *o; good && (o = opt_next_shown(&list, &n)) != NULL;) {
		/* The list of a mount has all its flags. */
		const struct vfs_option *flag = other ? vfs_option(o, n) : NULL;
		if (word_in(o, n, "rw ro") || opt_set_find(&others, o, n)
		    || (flag && flag->flag < VFS_OF_MOUNT)
		    || fsopt_flagged(place_type(mount), o, n, dropped)
		    || is_other_family(mount, o, n))
			continue;
		const char *what = misread(o, n);
		if (what) {
			line->why = plan_format(mk, "the option %.*s %s", (int)opt_name(o, n), o,
			                        what);
			good = false;
			break;
		}
		if (out->len)
			strbuf_putc(out, ',');
		if (strcmp(place_type(mount), "overlay") == 0 && opt_is_layers(o, n, &layers)) {
			good = add_layers(mk, out, o, n, layers, line);
			continue;
		}
		/* By the name that mount(8) takes. */
		const struct fsopt *row = fsopt_of_mount(place_type(mount), FSOPT_GIVEN, o, n);
		size_t key = row ? opt_name(o, n) + 1 : 0;
		strbuf_puts(out, row ? row->given : "");
		unescape_octal_add(out, o + key, n - key);
	}
	mk->failed |= others.failed;
	opt_set_destroy(&others);
	return good;
}

/** Append the subvolume of a btrfs if the kernel does not show it (before 4.2): the root of the
    mount.  A root of "/" may be that of any subvolume.
    @return false: there can be no line. */
static bool add_subvolume(struct maker *mk, struct strbuf *out, const struct mount *mount,
                          struct fstab_line *line)
{
	const char *root = place_root(mount), *option;
	if (strcmp(place_type(mount), "btrfs") != 0
	    || opt_shown_value(mount->fs_opts, "subvol", &mk->text))
		return true;
	if (strcmp(root, "/") != 0) {
		option = plan_format(mk, "subvol=%s", root);
		const char *what = option ? misread(option, strlen(option)) : NULL;
		if (what) {
			line->why = plan_format(mk, "the option subvol %s", what);
			return false;
		}
	} else if (opt_shown_value(mount->fs_opts, "subvolid", &mk->text)) {
		option = plan_format(mk, "subvolid=%llu",
		                     strtoull(strbuf_str(&mk->text), NULL, 10));
		opt_puts(out, option ? option : "");
		return true;
	} else {
		line->why = "which of its subvolumes is mounted is not known";
		return false;
	}
	opt_puts(out, option ? option : "");
	line->warning = plan_format(
		mk, "%s%sthe kernel does not show its subvolume: %s is assumed",
		line->warning ? line->warning : "", line->warning ? "; " : "", root);
	return true;
}

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

/** Append the options of a mount that is no bind.  @return false: there can be no line. */
static bool add_mount(struct maker *mk, struct strbuf *out, const struct mount *mount,
                      const char *first, struct fstab_line *line)
{
	bool readonly = shown_mount_readonly(mount);
	bool broken = !readonly && shown_super_readonly(mount);
	/* Read-only by nature: by its type, or as an overlay of lower layers alone. */
	bool natural = fstype_flags(mount->fstype) & FST_READONLY
	               || (strcmp(place_type(mount), "overlay") == 0
	                   && !opt_shown_value(mount->fs_opts, "upperdir", &mk->text));
	bool failed = shown_failed(mount->fstype, mount->fs_opts);
	if (failed)
		line->warning = "the file system had an error and is read-only since; the line is "
		                "not";
	else if (broken && !natural)
		line->warning = "the file system is read-only, the mount is not: it may have had "
		                "an error";
	if (!failed && (readonly || (broken && natural)))
		opt_puts(out, "ro");
	else if (mk->in->options != FSTAB_MINIMAL)
		opt_puts(out, "rw");
	if (!add_list(mk, out, mount, mount->vfs_opts, NULL, line))
		return false;
	if (flags_of(mount).value[VFS_ATIME] == VFS_STRICTATIME)
		opt_puts(out, "strictatime");
	if (first)
		opt_puts(out, first);
	return add_list(mk, out, mount, mount->fs_opts, mount->vfs_opts, line)
	       && add_subvolume(mk, out, mount, line);
}

enum state options_choose(struct maker *mk, const struct mount *mount, const struct mount *bound,
                          const char *first, const struct strbuf *more, struct fstab_line *line)
{
	struct strbuf out = {0};
	bool good = bound || add_mount(mk, &out, mount, first, line);
	if (bound)
		add_bind(&out, mount, bound, mk->in->options == FSTAB_MINIMAL);
	if (more->len)
		opt_add(&out, more->data, more->len);
	if (good)
		line->options = plan_format(mk, "%s", out.len ? strbuf_str(&out) : "defaults");
	mk->failed |= out.failed;
	strbuf_destroy(&out);
	return good && !mk->failed ? LINE : REFUSED;
}
