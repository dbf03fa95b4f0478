/* SPDX-License-Identifier: MIT */
/*
 * Which options stand in a line.
 *
 * The kernel shows more than was asked for: what it found out when it mounted
 * (addresses, file descriptors, the ID of a subvolume), which a line must not
 * freeze; and what is so anyway.  Both are rows of one table.  What it shows by another
 * name than it takes is of a second.  An option that is not known is kept: it was asked
 * for, as far as we can tell.
 */
#include "fstab/common.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "mountopts/optset.h"
#include "base/words.h"
#include "fstab/shown.h"
#include "mounttree.h"

#include <stdlib.h>
#include <string.h>

enum drop {
	RUN_TIME,   /* found out, or not to be given: in no line */
	USUAL,      /* what there is without it: not in minimal */
};

/** Types are separated by blanks and without subtype, "*" is any; an option ends
    with '=' to stand for any value.

    Nothing of ext2 to ext4 is usual: they show what is not the superblock's.  An
    option that may have been given stays: asking for what was agreed on does no harm. */
static const struct drop_row {
	const char *types;
	const char *option;
	enum drop drop;
} drop_rows[] = {
	{"*", "seclabel", RUN_TIME},
	{"ext2 ext3 ext4", "emergency_ro", RUN_TIME},   /* what became of it */
	{"ext2 ext3 ext4", "shutdown", RUN_TIME},
	{"*", "relatime", USUAL},
	{"btrfs", "subvolid=", RUN_TIME},   /* a snapshot that was put back has another */
	{"btrfs", "ssd", USUAL},
	{"btrfs", "space_cache", USUAL},
	{"btrfs", "space_cache=v2", USUAL},
	{"f2fs", "acl", RUN_TIME},          /* a kernel may know but noacl, nouser_xattr */
	{"f2fs", "user_xattr", RUN_TIME},
	{"f2fs", "atgc", RUN_TIME},         /* mount(8) is refused by it */
	{"f2fs", "active_logs=6", USUAL},
	{"f2fs", "alloc_mode=default", USUAL},
	{"f2fs", "background_gc=on", USUAL},
	{"f2fs", "barrier", USUAL},
	{"f2fs", "checkpoint_merge", USUAL},
	{"f2fs", "discard_unit=block", USUAL},
	{"f2fs", "errors=continue", USUAL},
	{"f2fs", "extent_cache", USUAL},
	{"f2fs", "flush_merge", USUAL},
	{"f2fs", "fsync_mode=posix", USUAL},
	{"f2fs", "inline_data", USUAL},
	{"f2fs", "inline_dentry", USUAL},
	{"f2fs", "inline_xattr", USUAL},
	{"f2fs", "memory=normal", USUAL},
	{"f2fs", "mode=adaptive", USUAL},
	{"f2fs", "nogc_merge", USUAL},
	{"fuse fuseblk", "fd=", RUN_TIME},
	{"fuse fuseblk", "rootmode=", RUN_TIME},
	{"fuse fuseblk", "user_id=", RUN_TIME},
	{"fuse fuseblk", "group_id=", RUN_TIME},
	{"fuse fuseblk", "blksize=", RUN_TIME},
	{"fuse fuseblk", "max_read=", RUN_TIME},
	{"iso9660", "check=s", USUAL},
	{"iso9660", "map=n", USUAL},
	{"iso9660", "blocksize=2048", USUAL},
	{"nfs nfs4", "addr=", RUN_TIME},
	{"nfs nfs4", "clientaddr=", RUN_TIME},
	{"nfs nfs4", "mountaddr=", RUN_TIME},
	{"nfs nfs4", "mounthost=", RUN_TIME},
	{"nfs nfs4", "mountport=", RUN_TIME},
	{"nfs nfs4", "mountproto=", RUN_TIME},
	{"nfs nfs4", "mountvers=", RUN_TIME},
	{"nfs nfs4", "namlen=", RUN_TIME},
	{"nfs nfs4", "port=0", RUN_TIME},
	{"nfs nfs4", "fatal_neterrors=none", USUAL},
	{"nfs nfs4", "hard", USUAL},
	{"nfs nfs4", "local_lock=none", USUAL},
	{"nfs nfs4", "proto=tcp", USUAL},
	{"nfs nfs4", "retrans=2", USUAL},
	{"nfs nfs4", "rsize=1048576", USUAL},   /* others: agreed on, or given */
	{"nfs nfs4", "sec=sys", USUAL},
	{"nfs nfs4", "timeo=600", USUAL},
	{"nfs nfs4", "wsize=1048576", USUAL},
	{"cifs smb3", "addr=", RUN_TIME},
	{"cifs smb3", "password=", RUN_TIME},
	{"cifs smb3", "actimeo=1", USUAL},
	{"cifs smb3", "bsize=1048576", USUAL},
	{"cifs smb3", "cache=strict", USUAL},
	{"cifs smb3", "closetimeo=1", USUAL},
	{"cifs smb3", "echo_interval=60", USUAL},
	{"cifs smb3", "mapposix", USUAL},
	{"cifs smb3", "noforcegid", USUAL},
	{"cifs smb3", "noforceuid", USUAL},
	{"cifs smb3", "retrans=1", USUAL},
	{"cifs smb3", "rsize=4194304", USUAL},
	{"cifs smb3", "serverino", USUAL},
	{"cifs smb3", "soft", USUAL},
	{"cifs smb3", "wsize=4194304", USUAL},
	{"ceph", "secret=", RUN_TIME},      /* mount.ceph finds it by the name */
	{"9p", "rfdno=", RUN_TIME},
	{"9p", "wfdno=", RUN_TIME},
	{"squashfs", "errors=continue", USUAL},
	{"squashfs", "threads=single", USUAL},
	{"tmpfs", "inode64", USUAL},
	{"vfat msdos", "codepage=437", USUAL},
	{"vfat msdos", "errors=remount-ro", USUAL},
	{"vfat msdos", "iocharset=ascii", USUAL},
	{"vfat msdos", "shortname=mixed", USUAL},
	{"xfs", "attr2", USUAL},
	{"xfs", "inode64", USUAL},
	{"xfs", "logbsize=32k", USUAL},
	{"xfs", "logbufs=8", USUAL},
	{"xfs", "noquota", USUAL},
	{"xfs", "sunit=", USUAL},           /* the superblock keeps them, also if given */
	{"xfs", "swidth=", USUAL},
};

/** What the kernel shows by another name than it takes; of isofs modes in octal, which
    it takes for decimal without a 0 before. */
static const struct name_row {
	const char *types;
	const char *shown, *taken;
} name_rows[] = {
	{"iso9660", "fmode=", "mode=0"},
	{"iso9660", "dmode=", "dmode=0"},
	{"iso9660", "blocksize=", "block="},
};

/** Append bytes, decoded. */
static void add_decoded(struct strbuf *out, const char *text, size_t n)
{
	char *to = strbuf_extend(out, n);
	if (!to)
		return;
	out->len -= n - unescape_octal(to, text, n);
	out->data[out->len] = '\0';
}

bool fstab_is_dropped(const char *fstype, const char *option, size_t n, bool minimal)
{
	for (size_t i = 0; i < sizeof(drop_rows) / sizeof(*drop_rows); ++i) {
		const struct drop_row *row = &drop_rows[i];
		size_t len = strlen(row->option);
		bool any = row->option[len - 1] == '=';
		if (n >= len && memcmp(option, row->option, len) == 0 && (any || n == len)
		    && fstab_type_in(fstype, row->types))
			return row->drop == RUN_TIME || minimal;
	}
	/* As mount(8) makes them of a umask of 022. */
	if (minimal && fstab_type_in(fstype, "vfat msdos exfat"))
		return word_is(option, n, "fmask=0022") || word_is(option, n, "dmask=0022");
	return false;
}

/** Whether a protocol is of the other family than a server that is named by its address:
    the connection may be one that was there under the server's other address. */
static bool is_other_family(const struct mount *mount, const char *option, size_t n)
{
	const char *source = mount->source ? mount->source : "";
	if (!fstab_type_in(mount->fstype, "nfs nfs4"))
		return false;
	if (*source == '[')
		return word_is(option, n, "proto=tcp") || word_is(option, n, "proto=udp") || word_is(option, n, "proto=rdma");
	size_t digits = strspn(source, "0123456789.");
	return digits && source[digits] == ':'
	       && (word_is(option, n, "proto=tcp6") || word_is(option, n, "proto=udp6") || word_is(option, n, "proto=rdma6"));
}

/** Append an option by the name that mount(8) takes. */
static void add_renamed(struct strbuf *out, const char *fstype, const char *option, size_t n)
{
	for (size_t i = 0; i < sizeof(name_rows) / sizeof(*name_rows); ++i) {
		const struct name_row *row = &name_rows[i];
		size_t len = strlen(row->shown);
		if (n > len && memcmp(option, row->shown, len) == 0 && fstab_type_in(fstype, row->types)) {
			strbuf_puts(out, row->taken);
			option += len;
			n -= len;
			break;
		}
	}
	add_decoded(out, option, n);
}

/* Layers of overlays. */

/** The next directory of a value, which may be a list with ':' between.
    @return whether there was one; *at is behind it. */
static bool layer_next(const char **at, bool list, struct fstab_layer *layer)
{
	const char *text = *at;
	size_t n = list ? 0 : strlen(text);
	for (; list && text[n] && text[n] != ':'; ++n)
		n += text[n] == '\\' && text[n + 1];
	*layer = (struct fstab_layer){.text = text, .n = n, .list = list};
	*at += n;
	return n > 0;
}

/** Whether an option of an overlay names directories.
    @list [out]  More than one. */
static bool is_layers(const char *option, size_t n, bool *list)
{
	static const char *const names[] = {"lowerdir=", "lowerdir+=", "datadir+=", "upperdir=", "workdir="};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		size_t len = strlen(names[i]);
		*list = i == 0;
		if (n > len && memcmp(option, names[i], len) == 0)
			return true;
	}
	return false;
}

/** Go through the directories of an option that may name some.  @return false if each() did. */
static bool each_of_option(const char *option, size_t n, struct strbuf *scratch,
                           bool (*each)(void *arg, const struct fstab_layer *layer), void *arg)
{
	bool list;
	if (!is_layers(option, n, &list))
		return true;
	const char *equals = memchr(option, '=', n);
	strbuf_reset(scratch);
	add_decoded(scratch, equals + 1, (size_t)(option + n - equals - 1));
	struct fstab_layer layer;
	for (const char *at = strbuf_str(scratch); *at; at += *at == ':') {
		if (!layer_next(&at, list, &layer))
			continue;
		layer.of = *option;
		if (!each(arg, &layer))
			return false;
	}
	return true;
}

bool fstab_each_layer(const char *options, struct strbuf *scratch,
                      bool (*each)(void *arg, const struct fstab_layer *layer), void *arg)
{
	size_t n;
	for (const char *o; (o = opt_next_shown(&options, &n)) != NULL;) {
		if (!each_of_option(o, n, scratch, each, arg))
			return false;
	}
	return !scratch->failed;
}

bool fstab_each_line_layer(const char *options, struct strbuf *scratch,
                           bool (*each)(void *arg, const struct fstab_layer *layer), void *arg)
{
	struct strbuf plain;
	size_t n;
	bool all = true;
	strbuf_init(&plain);
	if (options)
		add_decoded(&plain, options, strlen(options));
	const char *list = strbuf_str(&plain);
	for (const char *o; all && (o = opt_next(&list, &n)) != NULL;)
		all = each_of_option(o, n, scratch, each, arg);
	all = all && !plain.failed && !scratch->failed;
	scratch->failed |= plain.failed;
	strbuf_destroy(&plain);
	return all;
}

void fstab_layer_path(const struct fstab_layer *layer, struct strbuf *path)
{
	strbuf_reset(path);
	for (size_t i = 0; i < layer->n; ++i) {
		i += layer->list && layer->text[i] == '\\' && i + 1 < layer->n;
		strbuf_putc(path, layer->text[i]);
	}
}

/** Append the value of lowerdir= and the like as it is below ROOT. */
static bool add_layers(struct fstab_draft *draft, struct strbuf *out, const char *option, size_t n,
                       bool list, struct fstab_line *line)
{
	const char *root = draft->in->root, *equals = memchr(option, '=', n);
	size_t cut = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (cut && strpbrk(root, ":\\")) {
		line->why = "ROOT has a colon or a backslash in its name, which layers of an overlay escape";
		return false;
	}
	strbuf_add(out, option, (size_t)(equals - option));
	strbuf_putc(out, '=');
	struct strbuf value, path;
	strbuf_init(&value);
	strbuf_init(&path);
	add_decoded(&value, equals + 1, (size_t)(option + n - equals - 1));
	bool good = true;
	struct fstab_layer layer;
	for (const char *at = strbuf_str(&value); good && *at;) {
		if (layer_next(&at, list, &layer)) {
			fstab_layer_path(&layer, &path);
			good = mtree_path_within(strbuf_str(&path), root);
			strbuf_puts(out, good && layer.n == cut ? "/" : "");
			strbuf_add(out, layer.text + (good ? cut : 0), layer.n - (good ? cut : 0));
			if (!good)
				line->why = *strbuf_str(&path) == '/'
				            ? fstab_format(draft, "its layer %s lies outside ROOT", strbuf_str(&path))
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

/** What of an option mount(8) would read as something else; NULL: it does not.  It
    ends an option at a ',', but for one in quotes or behind a backslash, and drops
    one whose quotes do not end: then another tree is mounted. */
static const char *misread(const char *option, size_t n)
{
	static const char *const own[] = {"auto", "noauto", "nofail", "user", "users", "owner", "group", "bind", "rbind", "move", "remount",
	                                  "loop", "private", "rprivate", "shared", "rshared", "slave", "rslave", "unbindable", "runbindable"};
	if (WORD_OF(option, n, own) || opt_is_x(option, n))
		return "is one that mount(8) keeps for itself";
	if (memmem(option, n, "\\054", 4) || (memchr(option, ',', n) && !opt_label_length(option)))
		return "has a comma in its value";
	if (memmem(option, n, "\\042", 4) || (memchr(option, '"', n) && !opt_label_length(option)))
		return "has a quotation mark in its value";
	if (option[n - 1] == '\\' || (n >= 4 && memcmp(option + n - 4, "\\134", 4) == 0))
		return "ends with a backslash";
	return NULL;
}

/** Flags of a mount, and what takes them back; that of access times apart. */
static const char *const mount_flags[][2] = {
	{"ro", "rw"}, {"nosuid", "suid"}, {"nodev", "dev"}, {"noexec", "exec"},
	{"nodiratime", "diratime"}, {"nosymfollow", "symfollow"},
};
enum { MOUNT_FLAGS = sizeof(mount_flags) / sizeof(*mount_flags) };

/** Whether it is a flag of a mount: what its own list does not have, it has not. */
static bool is_mount_flag(const char *option, size_t n)
{
	static const char *const times[] = {"noatime", "relatime", "strictatime"};
	for (size_t i = 0; i < MOUNT_FLAGS; ++i) {
		if (word_is(option, n, mount_flags[i][0]) || word_is(option, n, mount_flags[i][1]))
			return true;
	}
	return WORD_OF(option, n, times);
}

/**
 * Append the options of a list that stay.
 *
 * @other  The list of the mount itself, beside that of its file system: what stands in it
 *         is not said again; or NULL.
 * @return false: there can be no line.
 */
static bool add_list(struct fstab_draft *draft, struct strbuf *out, const struct mount *mount,
                     const char *list, const char *other, struct fstab_line *line)
{
	const char *fstype = mount->fstype ? mount->fstype : "";
	bool minimal = draft->in->options == FSTAB_MINIMAL, layers, good = true;
	struct opt_set others;
	size_t n;
	opt_set_init(&others, true);
	opt_set_add_list(&others, other, opt_next_shown);
	for (const char *o; good && (o = opt_next_shown(&list, &n)) != NULL;) {
		if (word_is(o, n, "rw") || word_is(o, n, "ro") || opt_set_find(&others, o, n) || (other && is_mount_flag(o, n))
		    || fstab_is_dropped(fstype, o, n, minimal) || is_other_family(mount, o, n))
			continue;
		const char *what = misread(o, n);
		if (what) {
			line->why = fstab_format(draft, "the option %.*s %s", (int)opt_name(o, n), o, what);
			good = false;
			break;
		}
		if (out->len)
			strbuf_putc(out, ',');
		if (strcmp(fstype, "overlay") == 0 && is_layers(o, n, &layers))
			good = add_layers(draft, out, o, n, layers, line);
		else
			add_renamed(out, fstype, o, n);
	}
	draft->failed |= others.failed;
	opt_set_destroy(&others);
	return good;
}

/**
 * Append which subvolume of a btrfs it is, where the kernel shows no subvol= (before
 * 4.2): the root that the mount has.  A root of "/" can be that of any.
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
	line->warning = fstab_format(draft, "%s%sthe kernel does not show its subvolume, which is held to be %s",
	                             line->warning ? line->warning : "", line->warning ? "; " : "", root);
	return true;
}

/** Whether a mount keeps access times as it did before relatime: the kernel shows
    that by no word, and mount(8) does not do so unasked. */
static bool is_strict(const struct mount *mount)
{
	return mount->vfs_opts && !opt_shown_has(mount->vfs_opts, "relatime")
	       && !opt_shown_has(mount->vfs_opts, "noatime");
}

static bool is_readonly(const struct mount *mount)
{
	return opt_shown_has(mount->vfs_opts, "ro");
}

/** Whether a file system cannot be written to, whatever its state: of an overlay, one
    of lower layers alone. */
static bool is_never_written(struct fstab_draft *draft, const struct mount *mount)
{
	return fstype_flags(mount->fstype) & FST_READONLY
	       || (mount->fstype && strcmp(mount->fstype, "overlay") == 0
	           && !opt_shown_value(mount->fs_opts, "upperdir", &draft->text));
}

/**
 * The options of a bind: those of the mount, not of the file system (g6).  It
 * begins with those of the mount that its source lies in; where it has others,
 * all are said, since mount(8) sets them only if there is one to be set, and
 * takes none away that it is not told of.
 */
static void add_bind(struct strbuf *out, const struct fstab_choice *choice, bool minimal)
{
	const char *mine = choice->mount->vfs_opts;
	const char *other = choice->bound ? choice->bound->vfs_opts : NULL;
	bool same = other && is_strict(choice->mount) == is_strict(choice->bound)
	            && opt_shown_has(mine, "noatime") == opt_shown_has(other, "noatime");
	for (size_t i = 0; i < MOUNT_FLAGS && same; ++i)
		same = opt_shown_has(mine, mount_flags[i][0]) == opt_shown_has(other, mount_flags[i][0]);
	opt_puts(out, "bind");
	if (same && minimal)
		return;
	for (size_t i = 0; i < MOUNT_FLAGS; ++i) {
		bool has = opt_shown_has(mine, mount_flags[i][0]);
		bool had = opt_shown_has(other, mount_flags[i][0]);
		if (has || had || i == 0)
			opt_puts(out, mount_flags[i][!has]);
	}
	opt_puts(out, is_strict(choice->mount) ? "strictatime"
	                 : opt_shown_has(mine, "noatime") ? "noatime" : "relatime");
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
		bool natural = is_never_written(draft, mount), failed = shown_failed(mount->fstype, mount->fs_opts);
		if (failed)
			line->warning = "the file system has met an error, and is read-only since; its line is not";
		else if (broken && !natural)
			line->warning = "the file system is read-only now, the mount is not: after an error?";
		if (!failed && (is_readonly(mount) || (broken && natural)))
			opt_puts(&out, "ro");
		else if (!minimal)
			opt_puts(&out, "rw");
		good = add_list(draft, &out, mount, mount->vfs_opts, NULL, line);
		if (good && is_strict(mount))
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
