/* SPDX-License-Identifier: MIT */
#include "mountopts/request.h"

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

struct request {
	const struct opt_request *in;
	const char *fstype;
	struct strbuf *out, *why, *warning;
	struct strbuf text, path;    /* scratch */
};

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

/** Append lowerdir= or a similar option, with paths from ROOT.
    @list  The value is a list of directories.
    @return false: it cannot be expressed in fstab. */
static bool add_layers(struct request *r, const char *option, size_t n, bool list)
{
	const char *root = r->in->root, *equals = memchr(option, '=', n);
	size_t cut = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (cut && strpbrk(root, ":\\")) {
		strbuf_puts(r->why, "ROOT has a colon or a backslash in its name, which layers of "
		                    "an overlay escape");
		return false;
	}
	strbuf_add(r->out, option, (size_t)(equals + 1 - option));
	strbuf_reset(&r->text);
	unescape_octal_add(&r->text, equals + 1, (size_t)(option + n - equals - 1));
	struct opt_layer layer;
	for (const char *at = strbuf_str(&r->text); *at;) {
		if (opt_layer_next(&at, list, &layer)) {
			opt_layer_path(&layer, &r->path);
			const char *path = strbuf_str(&r->path);
			if (!word_below(path, root)) {
				if (*path == '/')
					strbuf_printf(r->why, "its layer %s lies outside ROOT",
					              path);
				else
					strbuf_puts(r->why, "its layers have no absolute names");
				return false;
			}
			strbuf_puts(r->out, layer.n == cut ? "/" : "");
			strbuf_add(r->out, layer.text + cut, layer.n - cut);
		}
		if (*at == ':')
			strbuf_putc(r->out, *at++);
	}
	return true;
}

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
    @return false: it cannot be expressed in fstab. */
static bool add_list(struct request *r, const char *list, const char *other)
{
	const struct mount *mount = r->in->mount;
	struct strbuf *out = r->out;
	unsigned dropped = OPT_FOUND_OUT | (r->in->minimal ? OPT_DEFAULT : 0);
	bool layers, good = true;
	struct opt_set others = {.whole = true};
	size_t n;
	opt_set_add_list(&others, other, opt_next_shown);
	for (const char *o; good && (o = opt_next_shown(&list, &n)) != NULL;) {
		/* The list of a mount has all its flags. */
		const struct vfs_option *flag = other ? vfs_option(o, n) : NULL;
		if (word_in(o, n, "rw ro") || opt_set_find(&others, o, n)
		    || (flag && flag->flag < VFS_OF_MOUNT)
		    || fsopt_flagged(r->fstype, o, n, dropped)
		    || is_other_family(mount, o, n))
			continue;
		const char *what = misread(o, n);
		if (what) {
			strbuf_printf(r->why, "the option %.*s %s", (int)opt_name(o, n), o, what);
			good = false;
			break;
		}
		if (out->len)
			strbuf_putc(out, ',');
		if (strcmp(r->fstype, "overlay") == 0 && opt_is_layers(o, n, &layers)) {
			good = add_layers(r, o, n, layers);
			continue;
		}
		/* By the name that mount(8) takes. */
		const struct fsopt *row = fsopt_of_mount(r->fstype, FSOPT_GIVEN, o, n);
		size_t key = row ? opt_name(o, n) + 1 : 0;
		strbuf_puts(out, row ? row->given : "");
		unescape_octal_add(out, o + key, n - key);
	}
	if (others.failed)
		strbuf_fail(out);
	opt_set_destroy(&others);
	return good;
}

/** Append the subvolume of a btrfs if the kernel does not show it (before 4.2): the root of the
    mount.  A root of "/" may be that of any subvolume.
    @return false: it cannot be expressed in fstab. */
static bool add_subvolume(struct request *r)
{
	const struct mount *mount = r->in->mount;
	const char *root = mount_root(mount);
	if (strcmp(r->fstype, "btrfs") != 0
	    || opt_shown_value(mount->fs_opts, "subvol", &r->text))
		return true;
	if (strcmp(root, "/") != 0) {
		strbuf_reset(&r->text);
		strbuf_printf(&r->text, "subvol=%s", root);
		const char *what = misread(strbuf_str(&r->text), r->text.len);
		if (what) {
			strbuf_printf(r->why, "the option subvol %s", what);
			return false;
		}
		opt_puts(r->out, strbuf_str(&r->text));
	} else if (opt_shown_value(mount->fs_opts, "subvolid", &r->text)) {
		opt_puts(r->out, "subvolid=");
		strbuf_printf(r->out, "%llu", strtoull(strbuf_str(&r->text), NULL, 10));
		return true;
	} else {
		strbuf_puts(r->why, "which of its subvolumes is mounted is not known");
		return false;
	}
	strbuf_printf(r->warning, "%sthe kernel does not show its subvolume: %s is assumed",
	              r->warning->len ? "; " : "", root);
	return true;
}

/** Append all options.  @return false: it cannot be expressed in fstab. */
static bool add_mount(struct request *r)
{
	const struct mount *mount = r->in->mount;
	bool readonly = shown_mount_readonly(mount);
	bool broken = !readonly && shown_super_readonly(mount);
	/* Read-only by nature: by its type, or as an overlay of lower layers alone. */
	bool natural = fstype_flags(mount->fstype) & FST_READONLY
	               || (strcmp(r->fstype, "overlay") == 0
	                   && !opt_shown_value(mount->fs_opts, "upperdir", &r->text));
	bool failed = shown_failed(mount);
	if (failed)
		strbuf_puts(r->warning, "the file system had an error and is read-only since; the "
		                        "line is not");
	else if (broken && !natural)
		strbuf_puts(r->warning, "the file system is read-only, the mount is not: it may "
		                        "have had an error");
	if (!failed && (readonly || (broken && natural)))
		opt_puts(r->out, "ro");
	else if (!r->in->minimal)
		opt_puts(r->out, "rw");
	if (!add_list(r, mount->vfs_opts, NULL))
		return false;
	struct vfs_flags flags = {0};
	if (mount->vfs_opts)
		vfs_flags_of_mount(mount, &flags);
	if (flags.value[VFS_ATIME] == VFS_STRICTATIME)
		opt_puts(r->out, "strictatime");
	if (r->in->first)
		opt_puts(r->out, r->in->first);
	return add_list(r, mount->fs_opts, mount->vfs_opts) && add_subvolume(r);
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
 * Append the options of a bind: the options of the mount, not of its file system.
 *
 * A bind begins with the flags of the mount that its source lies in.  Where it has others, all are
 * written: mount(8) changes flags only if the line names one, and clears none that it does not
 * name.
 */
static void add_bind(const struct opt_request *in, struct strbuf *out)
{
	struct vfs_flags mine = flags_of(in->mount), source = flags_of(in->bound);
	opt_puts(out, in->recursive ? "rbind" : "bind");
	if (in->minimal && in->bound->vfs_opts
	    && memcmp(mine.value, source.value, VFS_OF_MOUNT) == 0)
		return;
	for (int flag = 0; flag < VFS_OF_MOUNT; ++flag) {
		if (flag != VFS_ATIME && (mine.value[flag] || source.value[flag] || flag == VFS_RO))
			opt_puts(out, vfs_name(flag, mine.value[flag]));
	}
	opt_puts(out, vfs_name(VFS_ATIME, mine.value[VFS_ATIME]));
}

int opt_request(const struct opt_request *in, struct strbuf *options, struct strbuf *why,
                struct strbuf *warning)
{
	struct request r = {.in = in, .fstype = in->mount->fstype ? in->mount->fstype : "",
	                    .out = options, .why = why, .warning = warning};
	bool good = in->bound || add_mount(&r);
	if (in->bound)
		add_bind(in, options);
	if (in->more)
		opt_puts(options, in->more);
	bool failed = options->failed || why->failed || warning->failed || r.text.failed
	              || r.path.failed;
	strbuf_destroy(&r.text);
	strbuf_destroy(&r.path);
	return failed ? -1 : !good;
}
