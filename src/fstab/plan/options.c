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
#include "mountopts/optset.h"
#include "mountopts/shown.h"
#include "mountopts/vfsflags.h"
#include "mounttree.h"

#include <stdlib.h>
#include <string.h>

/** Whether a protocol is of another address family than the server's address: the mount may share
    a connection to the server's other address. */
static bool is_other_family(const struct mount *mount, const char *option, size_t n)
{
	const char *source = mount->source ? mount->source : "";
	if (!fsopt_type_in(mount->fstype, "nfs nfs4"))
		return false;
	if (*source == '[')
		return word_is(option, n, "proto=tcp") || word_is(option, n, "proto=udp")
		       || word_is(option, n, "proto=rdma");
	size_t digits = strspn(source, "0123456789.");
	return digits && source[digits] == ':'
	       && (word_is(option, n, "proto=tcp6") || word_is(option, n, "proto=udp6")
	           || word_is(option, n, "proto=rdma6"));
}

/** Append an option by the name that mount(8) takes. */
static void add_renamed(struct strbuf *out, const char *fstype, const char *option, size_t n)
{
	const struct fsopt *row = fsopt_given(fstype, option, n);
	size_t key = row ? opt_name(option, n) + 1 : 0;
	if (row)
		strbuf_puts(out, row->given);
	unescape_octal_add(out, option + key, n - key);
}

/** Append the value of lowerdir= and the like, with paths from ROOT. */
static bool add_layers(struct fstab_draft *draft, struct strbuf *out, const char *option, size_t n,
                       bool list, struct fstab_line *line)
{
	const char *root = draft->in->root, *equals = memchr(option, '=', n);
	size_t cut = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (cut && strpbrk(root, ":\\")) {
		line->why = "ROOT has a colon or a backslash in its name, which layers of an "
		            "overlay escape";
		return false;
	}
	strbuf_add(out, option, (size_t)(equals - option));
	strbuf_putc(out, '=');
	struct strbuf value, path;
	strbuf_init(&value);
	strbuf_init(&path);
	unescape_octal_add(&value, equals + 1, (size_t)(option + n - equals - 1));
	bool good = true;
	struct opt_layer layer;
	for (const char *at = strbuf_str(&value); good && *at;) {
		if (opt_layer_next(&at, list, &layer)) {
			opt_layer_path(&layer, &path);
			good = mtree_path_within(strbuf_str(&path), root);
			strbuf_puts(out, good && layer.n == cut ? "/" : "");
			strbuf_add(out, layer.text + (good ? cut : 0), layer.n - (good ? cut : 0));
			if (!good)
				line->why = *strbuf_str(&path) == '/'
				                    ? fstab_format(draft,
				                                   "its layer %s lies outside ROOT",
				                                   strbuf_str(&path))
				                    : "its layers have no absolute names";
		}
		if (*at == ':')
			strbuf_putc(out, *at++);
	}
	draft->failed |= value.failed || path.failed;
	strbuf_destroy(&value);
	strbuf_destroy(&path);
	return good;
}

/* The line. */

/** Why mount(8) would read an option as something else; NULL: it would not.  It ends an option
    at a comma that no quotation marks or backslash protect, and drops one whose quotation marks
    are not closed: then another tree is mounted. */
static const char *misread(const char *option, size_t n)
{
	if ((opt_name(option, n) == n && fsopt_has(option, n, OPT_USERSPACE)) || opt_is_x(option,
	        n))
		return "is one that mount(8) keeps for itself";
	if (memmem(option, n, "\\054", 4) || (memchr(option, ',', n) && !opt_label_length(option)))
		return "has a comma in its value";
	if (memmem(option, n, "\\042", 4) || (memchr(option, '"', n) && !opt_label_length(option)))
		return "has a quotation mark in its value";
	if (option[n - 1] == '\\' || (n >= 4 && memcmp(option + n - 4, "\\134", 4) == 0))
		return "ends with a backslash";
	return NULL;
}

/** Whether an option is a flag of a mount, whose own list has all that it has. */
static bool is_flag_of_mount(const char *option, size_t n)
{
	const struct vfs_option *flag = vfs_option(option, n);
	return flag && flag->flag < VFS_OF_MOUNT;
}

/**
 * Append the options of a list that belong in a line.
 *
 * @other  If the list is the file system's: the list of the mount, whose options are not repeated;
 *         or NULL.
 * @return false: there can be no line.
 */
static bool add_list(struct fstab_draft *draft, struct strbuf *out, const struct mount *mount,
                     const char *list, const char *other, struct fstab_line *line)
{
	const char *fstype = mount->fstype ? mount->fstype : "";
	unsigned dropped = OPT_FOUND_OUT | (draft->in->options == FSTAB_MINIMAL ? OPT_DEFAULT : 0);
	bool layers, good = true;
	struct opt_set others;
	size_t n;
	opt_set_init(&others, true);
	opt_set_add_list(&others, other, opt_next_shown);
	for (const char *o; good && (o = opt_next_shown(&list, &n)) != NULL;) {
		if (word_is(o, n, "rw") || word_is(o, n, "ro") || opt_set_find(&others, o, n)
		    || (other && is_flag_of_mount(o, n)) || fsopt_flagged(fstype, o, n, dropped)
		    || is_other_family(mount, o, n))
			continue;
		const char *what = misread(o, n);
		if (what) {
			line->why = fstab_format(draft, "the option %.*s %s", (int)opt_name(o, n),
			                         o, what);
			good = false;
			break;
		}
		if (out->len)
			strbuf_putc(out, ',');
		if (strcmp(fstype, "overlay") == 0 && opt_is_layers(o, n, &layers))
			good = add_layers(draft, out, o, n, layers, line);
		else
			add_renamed(out, fstype, o, n);
	}
	draft->failed |= others.failed;
	opt_set_destroy(&others);
	return good;
}

/**
 * Append the subvolume of a btrfs if the kernel does not show it (before 4.2): the root of the
 * mount.  A root of "/" may be that of any subvolume.
 *
 * @return false: there can be no line.
 */
static bool add_subvolume(struct fstab_draft *draft, struct strbuf *out, const struct mount *mount,
                          struct fstab_line *line)
{
	const char *root = mount->root ? mount->root : "/";
	if (!mount->fstype || strcmp(mount->fstype, "btrfs") != 0
	    || opt_shown_value(mount->fs_opts, "subvol", &draft->text))
		return true;
	if (strcmp(root, "/") != 0) {
		const char *option = fstab_format(draft, "subvol=%s", root);
		const char *what = option ? misread(option, strlen(option)) : NULL;
		if (what)
			line->why = fstab_format(draft, "the option subvol %s", what);
		if (what || !option)
			return false;
		opt_puts(out, option);
	} else if (opt_shown_value(mount->fs_opts, "subvolid", &draft->text)) {
		unsigned long long id = strtoull(strbuf_str(&draft->text), NULL, 10);
		const char *option = fstab_format(draft, "subvolid=%llu", id);
		if (option)
			opt_puts(out, option);
		return option;
	} else {
		line->why = "which of its subvolumes is mounted is not known";
		return false;
	}
	line->warning =
	        fstab_format(draft, "%s%sthe kernel does not show its subvolume: %s is assumed",
		             line->warning ? line->warning : "", line->warning ? "; " : "", root);
	return true;
}

/** The flags of a mount; the defaults if they are not known. */
static struct vfs_flags flags_of(const struct mount *mount)
{
	struct vfs_flags flags = {0};
	if (mount && mount->vfs_opts)
		vfs_flags_of_mount(mount, &flags);
	return flags;
}

static bool is_readonly(const struct mount *mount)
{
	return opt_shown_has(mount->vfs_opts, "ro");
}

/** Whether a file system is read-only by nature: by its type, or as an overlay of lower layers
    alone. */
static bool is_never_written(struct fstab_draft *draft, const struct mount *mount)
{
	return fstype_flags(mount->fstype) & FST_READONLY
	       || (mount->fstype && strcmp(mount->fstype, "overlay") == 0
	           && !opt_shown_value(mount->fs_opts, "upperdir", &draft->text));
}

/**
 * Append the options of a bind: those of the mount, not of its file system.
 *
 * A bind begins with the flags of the mount that its source lies in.  Where it has others, all are
 * written: mount(8) changes flags only if the line names one, and clears none that it does not
 * name.
 */
static void add_bind(struct strbuf *out, const struct fstab_choice *choice, bool minimal)
{
	struct vfs_flags mine = flags_of(choice->mount), source = flags_of(choice->bound);
	bool known = choice->bound && choice->bound->vfs_opts;
	opt_puts(out, "bind");
	if (minimal && known && memcmp(mine.value, source.value, VFS_OF_MOUNT) == 0)
		return;
	for (int flag = 0; flag < VFS_OF_MOUNT; ++flag) {
		if (flag != VFS_ATIME && (mine.value[flag] || source.value[flag] || flag == VFS_RO))
			opt_puts(out, vfs_name(flag, mine.value[flag]));
	}
	opt_puts(out, vfs_name(VFS_ATIME, mine.value[VFS_ATIME]));
}

bool fstab_choose_options(struct fstab_draft *draft, const struct fstab_choice *choice,
                          struct fstab_line *line)
{
	const struct mount *mount = choice->mount;
	bool minimal = draft->in->options == FSTAB_MINIMAL;
	struct strbuf out;
	strbuf_init(&out);
	bool good = true;
	if (choice->bind) {
		add_bind(&out, choice, minimal);
	} else {
		bool broken = !is_readonly(mount) && opt_shown_has(mount->fs_opts, "ro");
		bool natural = is_never_written(draft, mount),
		        failed = shown_failed(mount->fstype, mount->fs_opts);
		if (failed)
			line->warning = "the file system had an error and is read-only since; the "
			                "line is not";
		else if (broken && !natural)
			line->warning = "the file system is read-only, the mount is not: it may "
			                "have had an error";
		if (!failed && (is_readonly(mount) || (broken && natural)))
			opt_puts(&out, "ro");
		else if (!minimal)
			opt_puts(&out, "rw");
		good = add_list(draft, &out, mount, mount->vfs_opts, NULL, line);
		if (good && flags_of(mount).value[VFS_ATIME] == VFS_STRICTATIME)
			opt_puts(&out, "strictatime");
		if (good && choice->first)
			opt_puts(&out, choice->first);
		good = good && add_list(draft, &out, mount, mount->fs_opts, mount->vfs_opts, line)
		       && add_subvolume(draft, &out, mount, line);
	}
	if (good && choice->more)
		opt_puts(&out, choice->more);
	if (good && !out.len)
		opt_puts(&out, "defaults");
	if (good && !out.failed)
		line->options = arena_strndup(draft->arena, out.data, out.len);
	draft->failed |= out.failed || (good && !line->options);
	strbuf_destroy(&out);
	return good && !draft->failed;
}
