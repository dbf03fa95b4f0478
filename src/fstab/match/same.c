/* SPDX-License-Identifier: MIT */
/*
 * Compare the source of a line and a mount.
 *
 * A device has many names: tags, perhaps quoted, symlinks in /dev/disk, names in /dev/mapper.  A
 * bind can name its source by any path that leads to it.  So the devices and directories to which
 * the names lead are compared.  If a name cannot be followed, the result is "unknown", which counts
 * as the same source.
 */
#include "fstab/match/matcher.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"
#include "mountopts/fsopts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const struct fstab_tag fstab_tags[FSTAB_TAGS] = {
	{"UUID=", "/dev/disk/by-uuid/"}, {"LABEL=", "/dev/disk/by-label/"},
	{"PARTUUID=", "/dev/disk/by-partuuid/"}, {"PARTLABEL=", "/dev/disk/by-partlabel/"},
};

/** Append a name from a link of udev, with \xhh decoded. */
static void add_udev_name(struct strbuf *out, const char *name)
{
	for (; *name; ++name) {
		if (name[0] == '\\' && name[1] == 'x' && isxdigit((unsigned char)name[2])
		    && isxdigit((unsigned char)name[3])) {
			char hex[3] = {name[2], name[3], '\0'};
			strbuf_putc(out, (char)strtoul(hex, NULL, 16));
			name += 3;
		} else {
			strbuf_putc(out, *name);
		}
	}
}

bool fstab_link_tag(const char *link, struct strbuf *tag)
{
	for (size_t i = 0; i < FSTAB_TAGS; ++i) {
		size_t n = strlen(fstab_tags[i].dir);
		if (strncmp(link, fstab_tags[i].dir, n) == 0) {
			strbuf_puts(tag, fstab_tags[i].tag);
			add_udev_name(tag, link + n);
			return true;
		}
	}
	return false;
}

/** Get the tag that a source names, such as "UUID=x", without quotation marks; also if the source
    is a link in /dev/disk.  NULL: the source does not name a tag. */
static const char *source_tag(struct matcher *m, const char *source)
{
	strbuf_reset(&m->text);
	if (fstab_link_tag(source, &m->text))
		return arena_printf(m->arena, "%s", strbuf_str(&m->text));
	for (size_t i = 0; i < FSTAB_TAGS; ++i) {
		const char *tag = fstab_tags[i].tag;
		size_t n = strlen(tag), len = strlen(source);
		if (strncmp(source, tag, n) != 0)
			continue;
		bool quoted = len >= n + 2 && (source[n] == '"' || source[n] == '\'')
		    && source[len - 1] == source[n];
		return !quoted ? source : arena_printf(m->arena, "%s%.*s", tag, (int)(len - n - 2),
		                                       source + n + 1);
	}
	return NULL;
}

/** Find the device of a line of the plan. */
static void find_device(struct matcher *m, const struct fstab_line *line,
                        struct fstab_device *device)
{
	const struct fstab_facts *facts = m->in->facts;
	*device = (struct fstab_device){0};
	if (line->mount || line->swap)
		fstab_device_of(facts, line->mount, line->swap, m->arena, device);
}

/** Whether a tag belongs to a device: 1, 0; -1: unknown. */
static int same_tag(const struct devmap_tags *tags, const char *tag)
{
	if (!tags || tags->known != DEVMAP_KNOWN)
		return -1;
	const char *const values[] = {tags->uuid, tags->label, tags->partuuid, tags->partlabel};
	for (size_t i = 0; i < FSTAB_TAGS; ++i) {
		size_t n = strlen(fstab_tags[i].tag);
		if (strncmp(tag, fstab_tags[i].tag, n) == 0)
			return values[i] && strcmp(values[i], tag + n) == 0;
	}
	return -1;
}

/** Whether the source of a mount is an arbitrary name: of a pseudo file system or overlay. */
static bool is_mere_name(const struct mount *mount)
{
	return mount && (fstype_flags(mount->fstype) & FST_PSEUDO
	                 || (mount->fstype && strcmp(mount->fstype, "overlay") == 0));
}

/** Whether a mount shows the root of a file system of which the kernel makes only one instance
    (get_tree_single(), or one for each namespace or hierarchy), so that a second mount shows the
    same file system. */
static bool is_single(const struct mount *mount)
{
	static const char types[] =
		"binfmt_misc cgroup cgroup2 configfs debugfs devtmpfs efivarfs fusectl mqueue nfsd "
		"proc pstore rpc_pipefs securityfs selinuxfs smackfs sysfs tracefs";
	return fsopt_type_in(mount->fstype, types)
	       && (!mount->root || strcmp(mount->root, "/") == 0);
}

/** Find the mount of the plan that contains a path, or NULL.
    @mount        A bind that may cover the path: mounts on its mount point are skipped.
    @whole [out]  The path from the root of the file system of the mount found. */
static const struct mount *shown_by(struct matcher *m, const char *path,
                                    const struct planned *mount, const char **whole)
{
	const char *key = fstab_normal(m->arena, path), *rest = key;
	/* A bind on "/" covers its source; which mount contains the source is then unknown. */
	const char *skip = mount->key ? mount->key : "";
	const struct planned *in = strcmp(skip, "/") != 0 ? match_live(m, "/") : NULL;
	struct pathmap_at at = pathmap_of(key ? key : "");
	while (pathmap_next_newest(&m->mount_by, &at)) {
		if (at.n > 0 && strcmp(m->mounts[at.value].key, skip) != 0) {
			in = &m->mounts[at.value];
			rest = key + at.n;
		}
	}
	if (!key || !in)
		return NULL;
	*whole = fstab_join(m->arena, mount_root(in->line->mount), rest);
	return in->line->mount;
}

/** Add to m->shown the hashes of a path and of the directories above it.
    @hash  The start of each hash, which stands for a device or is MAP64_BYTES. */
static void add_shown(struct matcher *m, uint64_t hash, const char *path)
{
	for (size_t at = 0, n = strlen(path); at < n && !m->arena->failed;) {
		size_t more = 1 + strcspn(path + at + 1, "/");
		hash = map64_bytes(hash, path + at, more);
		at += more;
		map64_put(&m->shown, hash, 0);
	}
}

/** Whether the mounts of the plan prove that no component of a path is a symlink: the path, or a
    path below, is a mount point or the root directory of a mount.
    @in, whole  The results of shown_by() for the path. */
static bool is_linkless(struct matcher *m, const char *path, const struct mount *in,
                        const char *whole)
{
	for (size_t i = 0; i < m->nmounts && !m->has_shown; ++i) {
		const struct mount *actual = m->mounts[i].line->mount;
		if (actual && m->mounts[i].key)
			add_shown(m, MAP64_BYTES, m->mounts[i].key);
		if (actual && actual->root)
			add_shown(m, fstab_device_hash(actual), actual->root);
	}
	m->has_shown = true;
	return map64_get(&m->shown, map64_text(path)) != MAP64_NONE
	       || map64_get(&m->shown, map64_bytes(fstab_device_hash(in), whole, strlen(whole)))
	          != MAP64_NONE;
}

/** Whether the source of a bind leads to the directory that a mount shows: 1, 0; -1: unknown.
    @bound [out]  For 1: the source, and the mount that contains it. */
static int same_directory(struct matcher *m, const char *source, const struct planned *mount,
                          struct fstab_bound *bound)
{
	const struct mount *actual = mount->line->mount;
	const char *path = fstab_normal(m->arena, source), *whole;
	if (!path)
		return 0;
	if (mount->line->beneath && strcmp(path, mount->key) == 0) {
		*bound = (struct fstab_bound){mount->line->beneath, path};
		return 1;
	}
	for (bool followed = false; actual; followed = true) {
		const struct mount *in = shown_by(m, path, mount, &whole);
		const char *root = mount_root(actual);
		if (!in)
			break;
		if (mount_dev(in) == mount_dev(actual) && strcmp(whole, root) == 0) {
			*bound = (struct fstab_bound){in, path};
			return 1;
		}
		if (followed)
			return 0;
		/* By its text, the path leads to a different directory; follow its symlinks. */
		struct strbuf real = {.arena = m->arena};
		int led = match_follow(m, source, &real);
		const char *there = led > 0 ? fstab_normal(m->arena, strbuf_str(&real)) : NULL;
		if (!there || strcmp(there, path) == 0)
			return led >= 0 || is_linkless(m, path, in, whole) ? 0 : -1;
		path = there;
	}
	return -1;
}

bool match_bound(struct matcher *m, const struct candidate *entry, const struct planned *mount,
                 struct fstab_bound *bound)
{
	return entry->is.bind
	       && same_directory(m, entry->is.source, mount, bound) == 1;
}

/** Whether a path is the main name of a device, such as /dev/sda1 or /dev/mapper/x, not a further
    name, such as a link in /dev/disk. */
static bool is_kernel_name(const char *path)
{
	if (strncmp(path, "/dev/mapper/", 12) == 0)
		return true;
	return strncmp(path, "/dev/", 5) == 0 && !strchr(path + 5, '/')
	       && strncmp(path, "/dev/dm-", 8) != 0
	       && strcmp(path, "/dev/root") != 0;
}

/** Append the name of a logical volume or volume group, with '-' doubled as in /dev/mapper. */
static void add_volume(struct strbuf *out, const char *part, size_t n)
{
	for (size_t i = 0; i < n; ++i)
		strbuf_puts(out, part[i] == '-' ? "--" : (char[]){part[i], '\0'});
}

/** Whether a path in /dev may lead to the device of device mapper with the path `mapped`: the path
    is /dev/GROUP/VOLUME of this device, or a link of udev. */
static bool may_be_mapped(struct matcher *m, const char *path, const char *mapped)
{
	const char *group = path + strlen("/dev/");
	size_t n = strcspn(group, "/");
	if (!group[n] || strncmp(path, "/dev/disk/", 10) == 0
	    || strncmp(path, "/dev/block/", 11) == 0)
		return !is_kernel_name(path);
	strbuf_reset(&m->text);
	strbuf_puts(&m->text, "/dev/mapper/");
	add_volume(&m->text, group, n);
	strbuf_putc(&m->text, '-');
	add_volume(&m->text, group + n + 1, strlen(group + n + 1));
	return strcmp(strbuf_str(&m->text), mapped) == 0;
}

/** Whether the names alone prove that a path is not the source of a mount. */
static bool is_other_path(struct matcher *m, const char *source, const struct fstab_line *line)
{
	const char *own = line->swap ? line->swap : line->mount && line->mount->source
	    ? line->mount->source : "";
	bool device = strncmp(source, "/dev/", 5) == 0;
	/* Both sources are paths outside of /dev: two different files. */
	if (!device && line->source && *line->source == '/'
	    && strncmp(line->source, "/dev/", 5) != 0)
		return true;
	/* Nothing is proved if the mounted device is named by a link, or is a loop device, whose
	   image the path may be. */
	if (!is_kernel_name(own) || (!device && strncmp(own, "/dev/loop", 9) == 0))
		return false;
	if (device && strncmp(own, "/dev/mapper/", 12) == 0)
		return !may_be_mapped(m, source, own);
	return !device || is_kernel_name(source);
}

/** Whether a mount may belong to a line although its source differs, because a server chose the
    shown source.  Not for sshfs, which shows the source of the line. */
static bool is_served(const struct candidate *entry, const struct mount *mount)
{
	return fstab_match_served(entry->is.fstype, entry->is.options, mount)
	       && strcmp(mount->fstype, "fuse.sshfs") != 0;
}

static int same_source(struct matcher *m, const struct candidate *entry,
                       const struct planned *mount)
{
	const struct fstab_facts *facts = m->in->facts;
	const struct fstab_line *line = mount->line;
	const char *source = entry->is.source;
	bool planned = line->fate == FSTAB_LINE || !line->mount;
	bool bind = entry->is.bind;
	/* The line of the file and the line of the plan have the same source.  This is enough if
	   both lines make a bind, or neither does. */
	if (planned && line->source && bind == (strcmp(line->fstype, "none") == 0)
	    && word_same_path(source, line->source))
		return 1;
	if (line->swap && word_same_path(source, line->swap))
		return 1;
	struct fstab_bound bound;
	if (bind)
		return same_directory(m, source, mount, &bound);
	/* Arbitrary names are not compared.  But if the plan has a bind, a line without "bind"
	   would make a new file system, unless the kernel has only one instance. */
	if (is_mere_name(line->mount))
		return !(planned && line->source && strcmp(line->fstype, "none") == 0)
		       || is_single(line->mount);
	if (match_by_helper(entry, line->mount))
		return match_same_helped(source, line->mount->source);
	/* A mount without a device shows the source of the line, unless a server chose the shown
	   source. */
	if (line->mount && line->mount->dev_major == 0
	    && !(fstype_flags(line->mount->fstype) & FST_SUBVOL)) {
		int same = line->mount->source ? match_same_server(source, line->mount) : 0;
		return same == 0 && is_served(entry, line->mount) ? -1 : same;
	}
	struct fstab_device device;
	find_device(m, line, &device);
	const char *tag = source_tag(m, source);
	if (tag) {
		int same = same_tag(device.tags, tag);
		/* A tag cannot name a swap file. */
		if (line->swap && strncmp(line->swap, "/dev/", 5) != 0)
			return 0;
		/* If the tags of the device are unknown, compare the tag with the tag of the plan,
		   if both are of the same kind. */
		const char *own = planned && line->source ? source_tag(m, line->source) : NULL;
		if (same < 0 && own && strcspn(own, "=") == strcspn(tag, "=")
		    && strncmp(own, tag, strcspn(tag, "=")) == 0)
			same = strcmp(own, tag) == 0;
		/* If the result is still unknown, look up the device that the tag names. */
		return same < 0 && facts->leads ? facts->leads(facts->arg, tag, line) : same;
	}
	if (device.tags && device.tags->name && strcmp(device.tags->name, source) == 0)
		return 1;
	if (*source == '/' && source[1] != '/') {
		int same = facts->leads ? facts->leads(facts->arg, source, line) : -1;
		if (same < 0 && line->mount && line->mount->source
		    && word_same_path(source, line->mount->source))
			return 1;
		/* For a swap space, an unknown result counts as different, since all names of the
		   swap space were compared above.  The exception is a device of device mapper,
		   which /proc/swaps calls /dev/dm-N. */
		bool mapped = line->swap && strncmp(line->swap, "/dev/dm-", 8) == 0
		              && strncmp(source, "/dev/", 5) == 0
		              && (!is_kernel_name(source)
		                  || strncmp(source, "/dev/mapper/", 12) == 0);
		return same < 0 && ((line->swap && !mapped) || is_other_path(m, source, line)) ? 0
		       : same;
	}
	return line->mount && line->mount->source && word_same_path(source, line->mount->source);
}

static bool same_type(const struct candidate *entry, const struct fstab_line *line)
{
	const char *type = entry->is.fstype, *live = line->mount ? line->mount->fstype : "swap";
	/* mount(8) ignores the type of a bind. */
	return entry->is.bind || shown_type(type, live)
	       || match_by_helper(entry, line->mount) || is_served(entry, line->mount)
	       || (line->fate == FSTAB_LINE && shown_type(type, line->fstype));
}

/** Whether a mount is on "/", and the source of the line is no particular device: /dev/root or
    rootfs. */
static bool is_any_root(const struct candidate *entry, const struct planned *mount)
{
	const struct fstab_entry *is = &entry->is;
	return strcmp(mount->key, "/") == 0 && fstype_flags(mount->line->mount->fstype) & FST_DEVICE
	       && (strcmp(is->source, "/dev/root") == 0 || strcmp(is->source, "rootfs") == 0)
	       && (strcmp(is->fstype, "rootfs") == 0 || same_type(entry, mount->line));
}

int match_same(struct matcher *m, const struct candidate *entry, const struct planned *mount)
{
	if (!mount->line->mount)
		return entry->is.swap ? same_source(m, entry, mount) : 0;
	if (mount->key && is_any_root(entry, mount))
		return match_same_part(m, entry, mount->line);
	if (!same_type(entry, mount->line) || !match_same_part(m, entry, mount->line))
		return 0;
	return same_source(m, entry, mount);
}

bool match_same_name(const struct candidate *entry, const struct planned *mount)
{
	const struct fstab_line *line = mount->line;
	return is_mere_name(line->mount) || entry->is.bind
	       || strcmp(line->fstype, "none") == 0
	       || word_same_path(entry->is.source, line->source);
}

/* Lines whose source is mounted at a different mount point. */

/** Fill m->devices: index the mounts that have a line in the plan by tags and path of the
    device. */
static void index_devices(struct matcher *m)
{
	m->has_devices = true;
	for (uint32_t i = 0; i < m->nmounts && !m->arena->failed; ++i) {
		const struct fstab_line *line = m->mounts[i].line;
		if (line->fate != FSTAB_LINE || !line->mount || strcmp(line->fstype, "none") == 0)
			continue;
		struct fstab_device device;
		find_device(m, line, &device);
		const struct devmap_tags *tags = device.tags, path = {
			.name = *line->source == '/' ? line->source : NULL};
		tags = tags ? tags : &path;
		const char *const names[][2] = {
			{"UUID=", tags->uuid}, {"LABEL=", tags->label},
			{"PARTUUID=", tags->partuuid}, {"PARTLABEL=", tags->partlabel},
			{"", tags->name},
		};
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); ++k) {
			const char *value = names[k][1] ? names[k][1] : "";
			uint64_t hash = map64_bytes(map64_text(names[k][0]), value, strlen(value));
			if (*value)
				map64_put(&m->devices, hash, i);
		}
	}
}

const struct planned *match_elsewhere(struct matcher *m, const struct candidate *entry)
{
	if (!fstab_is_entry(&entry->is) || entry->live != NO_LINE || !entry->key
	    || entry->is.noauto || match_live(m, entry->key)
	    || fstype_flags(entry->is.fstype) & FST_SUBVOL)
		return NULL;
	if (!m->has_devices)
		index_devices(m);
	const char *tag = source_tag(m, entry->is.source);
	uint32_t i = map64_get(&m->devices, map64_text(tag ? tag : entry->is.source));
	return i == MAP64_NONE ? NULL : &m->mounts[i];
}
