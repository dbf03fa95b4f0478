/* SPDX-License-Identifier: MIT */
/*
 * Whether a line mounts what is mounted.
 *
 * A device has many names: tags, perhaps quoted, links in /dev/disk, /dev/mapper.  A bind can name
 * its directory by any path that shows it.  So what names refer to is compared, as far as it is
 * known; what is not known counts as the same.
 */
#include "fstab/match/matcher.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"
#include "mounttree.h"
#include "mountopts/fsopts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *tag, *dir;
} tag_rows[] = {
	{"UUID=", "/dev/disk/by-uuid/"}, {"LABEL=", "/dev/disk/by-label/"},
	{"PARTUUID=", "/dev/disk/by-partuuid/"}, {"PARTLABEL=", "/dev/disk/by-partlabel/"},
};

/** Append a name that udev escaped with \xhh. */
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

const char *match_tag(struct matcher *m, const char *source)
{
	for (size_t i = 0; i < sizeof(tag_rows) / sizeof(*tag_rows); ++i) {
		const char *tag = tag_rows[i].tag, *dir = tag_rows[i].dir;
		size_t n = strlen(tag), len = strlen(source);
		if (strncmp(source, dir, strlen(dir)) == 0) {
			strbuf_reset(&m->text);
			strbuf_puts(&m->text, tag);
			add_udev_name(&m->text, source + strlen(dir));
			return match_format(m, "%s", strbuf_str(&m->text));
		}
		if (strncmp(source, tag, n) != 0)
			continue;
		bool quoted = len >= n + 2 && (source[n] == '"' || source[n] == '\'')
		    && source[len - 1] == source[n];
		return quoted ? match_format(m, "%s%.*s", tag, (int)(len - n - 2), source + n + 1)
		       : source;
	}
	return NULL;
}

void match_device(struct matcher *m, const struct fstab_line *line, struct fstab_device *device)
{
	const struct fstab_world *world = &m->in->in->world;
	int rc = 0;
	*device = (struct fstab_device){0};
	if (line->mount && world->device)
		rc = world->device(world->arg, line->mount, device);
	else if (line->swap && world->swap)
		rc = world->swap(world->arg, line->swap, device);
	m->failed |= rc != 0;
}

/** Whether a tag is the device's: 1, 0; -1: not known. */
static int same_tag(const struct devmap_tags *tags, const char *tag)
{
	if (!tags || tags->known != DEVMAP_KNOWN)
		return -1;
	const char *const values[] = {tags->uuid, tags->label, tags->partuuid, tags->partlabel};
	for (size_t i = 0; i < sizeof(tag_rows) / sizeof(*tag_rows); ++i) {
		size_t n = strlen(tag_rows[i].tag);
		if (strncmp(tag, tag_rows[i].tag, n) == 0)
			return values[i] && strcmp(values[i], tag + n) == 0;
	}
	return -1;
}

/** Whether the source of a mount is a mere name. */
static bool is_mere_name(const struct mount *mount)
{
	return mount && (fstype_flags(mount->fstype) & FST_PSEUDO
	                 || (mount->fstype && strcmp(mount->fstype, "overlay") == 0));
}

/** Whether a mount shows all of a file system that exists once: mounted again it is the same
    (get_tree_single() of the kernel, or once for each namespace or hierarchy). */
static bool is_single(const struct mount *mount)
{
	static const char types[] =
		"binfmt_misc cgroup cgroup2 configfs debugfs devtmpfs efivarfs fusectl mqueue nfsd "
		"proc pstore rpc_pipefs securityfs selinuxfs smackfs sysfs tracefs";
	return fsopt_type_in(mount->fstype, types)
	       && (!mount->root || strcmp(mount->root, "/") == 0);
}

static bool is_bind(const struct words *words)
{
	return opt_has(words->options, "bind") || opt_has(words->options, "rbind");
}

/** The mount of the plan that a path lies in, or NULL.  @rest [out]  The path within the mount. */
static const struct mount *holder(struct matcher *m, const char *path, const char *skip,
                                  const char **rest)
{
	const char *key = match_normal(m, path);
	const struct mount *found = NULL;
	uint64_t hash = MAP64_BYTES;
	/* "/", "/a", "/a/b": the hash of each continues that of its parent. */
	for (size_t n = 1, hashed = 0; key;) {
		hash = map64_bytes(hash, key + hashed, n - hashed);
		hashed = n;
		uint32_t i = map64_get(&m->mount_by, hash);
		const struct planned *mount = i != MAP64_NONE ? &m->mounts[i] : NULL;
		if (mount && mount->line->mount && word_is(key, n, mount->key)
		    && strcmp(mount->key, skip) != 0) {
			found = mount->line->mount;
			*rest = key + (n == 1 ? 0 : n);
		}
		if (!key[n])
			break;
		n += (n > 1) + strcspn(key + n + (n > 1), "/");
	}
	return found;
}

/** The mount of the plan that a path lies in, or NULL.
    @whole [out]  The path within its file system. */
static const struct mount *shown_by(struct matcher *m, const char *path,
                                    const struct planned *mount,
                                    const char **whole)
{
	const char *rest;
	/* Of a bind onto itself, or onto its source, the former mount is not known. */
	const struct mount *in = holder(m, path, mount->key ? mount->key : "", &rest);
	if (!in)
		return NULL;
	const char *root = in->root ? in->root : "/";
	*whole = match_format(m, "%s%s", strcmp(root, "/") == 0 ? "" : root,
	                      strcmp(rest, "/") == 0 ? "" : rest);
	*whole = **whole ? *whole : "/";
	return in;
}

/** Compare a place with the first n bytes of the path of another and the byte end. */
static int compare_place(const struct place *a, const struct place *b, size_t n, char end)
{
	if (a->root != b->root)
		return a->root ? 1 : -1;
	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	int order = strncmp(a->path, b->path, n);
	return order ? order : (unsigned char)a->path[n] - (unsigned char)end;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *place = b;
	return compare_place(a, b, strlen(place->path), '\0');
}

/** Sort the mount points and the roots of mounts, to look up bind sources. */
static void sort_places(struct matcher *m)
{
	m->places = malloc((2 * m->nmounts + 1) * sizeof(*m->places));
	m->failed |= !m->places;
	for (size_t i = 0; i < m->nmounts && m->places; ++i) {
		const struct mount *actual = m->mounts[i].line->mount;
		if (actual && m->mounts[i].key)
			m->places[m->nplaces++] = (struct place){.path = m->mounts[i].key};
		if (actual && actual->root)
			m->places[m->nplaces++] =
			    (struct place){.path = actual->root, .dev = mount_dev(actual),
			                   .root = true};
	}
	if (m->nplaces > 1)
		qsort(m->places, m->nplaces, sizeof(*m->places), compare_places);
}

/** Whether there is a place at or below this one. */
static bool has_place(const struct matcher *m, const struct place *place)
{
	size_t n = strlen(place->path);
	while (n > 0 && place->path[n - 1] == '/')
		--n;
	/* "/a-b" sorts between "/a" and "/a/b". */
	for (int below = 0; below < 2; ++below) {
		for (size_t low = 0, high = m->nplaces; low < high;) {
			size_t middle = low + (high - low) / 2;
			int order = compare_place(&m->places[middle], place, n, below ? '/' : '\0');
			if (order == 0)
				return true;
			*(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
		}
	}
	return false;
}

/** Whether other mounts prove that no component of a path is a link: one is mounted at or below it,
    or shows it, or a directory below it. */
static bool is_linkless(struct matcher *m, const char *path, const struct mount *in,
                        const char *whole)
{
	if (!m->places)
		sort_places(m);
	return has_place(m, &(struct place){.path = path})
	       || has_place(m, &(struct place){.path = whole, .dev = mount_dev(in), .root = true});
}

/** Whether a path shows the directory that a mount shows: 1, 0; -1: not known.
    @bound [out]  Where, if 1. */
static int same_directory(struct matcher *m, const char *source, const struct planned *mount,
                          struct fstab_bound *bound)
{
	const struct mount *actual = mount->line->mount;
	const char *path = *source == '/' ? match_normal(m, source) : NULL, *whole;
	if (!path)
		return 0;
	const struct mount *in = actual ? shown_by(m, path, mount, &whole) : NULL;
	if (!in)
		return -1;
	const char *root = actual->root ? actual->root : "/";
	*bound = (struct fstab_bound){in, path};
	if (mount_dev(in) == mount_dev(actual) && strcmp(whole, root) == 0)
		return 1;
	/* The names differ, but a component may be a link. */
	struct strbuf real;
	strbuf_init(&real);
	int led = m->in->follow ? m->in->follow(m->in->arg, path, &real) : -1;
	const char *there = led > 0 ? match_normal(m, strbuf_str(&real)) : NULL;
	m->failed |= real.failed;
	strbuf_destroy(&real);
	if (!there || strcmp(there, path) == 0)
		return led >= 0 || is_linkless(m, path, in, whole) ? 0 : -1;
	in = shown_by(m, there, mount, &whole);
	*bound = (struct fstab_bound){in, there};
	return !in ? -1 : mount_dev(in) == mount_dev(actual) && strcmp(whole, root) == 0;
}

bool match_bound(struct matcher *m, const struct entry *entry, const struct planned *mount,
                 struct fstab_bound *bound)
{
	struct fstab_bound found;
	if (!is_bind(&entry->words) || same_directory(m, entry->words.source, mount, &found) != 1)
		return false;
	*bound = found;
	return true;
}

bool match_by_helper(const struct entry *entry, const struct mount *mount)
{
	const struct words *words = &entry->words;
	bool nfs = mount && mount->fstype
	    && (strcmp(mount->fstype, "nfs4") == 0 || strcmp(mount->fstype, "nfs") == 0);
	return nfs && strcmp(words->fstype, "efs") == 0
	       && fstype_line_flags(words->fstype, words->source) & FST_NET;
}

/** Whether the line of a helper may make a mount: fs-ID:/PATH makes that of
    fs-ID.efs.REGION.amazonaws.com, or of any address.  @return 0; -1: not known. */
static int same_helped(const char *source, const char *live)
{
	size_t n = strcspn(source, ":"), k = live ? strcspn(live, ":") : 0;
	if (!live || !live[k])
		return -1;
	const char *path = source[n] && source[n + 1] ? source + n + 1 : "/";
	bool named = strncmp(live, "fs-", 3) == 0;
	bool own = k >= n && strncmp(live, source, n) == 0 && (k == n || live[n] == '.');
	return (!named || own) && word_same_path(path, live + k + 1) ? -1 : 0;
}

/** Whether n bytes are an address: IPv4, or IPv6 with or without brackets. */
static bool is_address(const char *text, size_t n)
{
	size_t numbers = strspn(text, "0123456789."),
	    digits = strspn(text, "0123456789abcdefABCDEF:.[]%");
	return (numbers >= n && memchr(text, '.', n)) || (digits >= n && memchr(text, ':', n));
}

/** Whether two NFS servers are the same: 1, 0; -1: only the DNS knows. */
static int same_host(const char *a, size_t n, const char *b, size_t k, const struct mount *mount)
{
	size_t m;
	if (n == k && memcmp(a, b, n) == 0)
		return 1;
	if (is_address(a, n)) {
		for (const char *at = mount->fs_opts ? mount->fs_opts : "",
		     *o; (o = opt_next(&at, &m)) != NULL;) {
			if (m > 5 && memcmp(o, "addr=", 5) == 0)
				return m - 5 == n && memcmp(o + 5, a, n) == 0;
		}
		return is_address(b, k) ? 0 : -1;
	}
	/* A name with and without its domain. */
	size_t label = strcspn(a, ".:"), other = strcspn(b, ".:");
	bool shorter = label == n || other == k;
	return is_address(b, k) || (shorter && label == other && memcmp(a, b, label) == 0) ? -1 : 0;
}

/** Whether two lists of NIDs of a Lustre server are the same, as same_host(): a name is shown as
    its address, and the first network of a kind with or without its number. */
static int same_nids(const char *a, size_t n, const char *b, size_t k)
{
	for (size_t i = 0, j = 0; i < n || j < k; ++i, ++j) {
		size_t x = strcspn(a + i, ":,@"), y = strcspn(b + j, ":,@");
		if (!is_address(a + i, x))
			return -1;
		if (x != y || memcmp(a + i, b + j, x) != 0)
			return 0;
		i += x;
		j += y;
		x = a[i] == '@' ? strcspn(a + i, ":,") : 0;
		y = b[j] == '@' ? strcspn(b + j, ":,") : 0;
		size_t net = x - (x > 1 && a[i + x - 1] == '0'),
		    other = y - (y > 1 && b[j + y - 1] == '0');
		if (net != other || strncmp(a + i, b + j, net) != 0)
			return 0;
		i += x;
		j += y;
	}
	return 1;
}

/** Whether a source names the server and path of a mount: 1, 0; -1: the server's name may be
    another name of the same server. */
static int same_server(const char *source, const struct mount *mount)
{
	const char *live = mount->source, *fstype = mount->fstype ? mount->fstype : "";
	if (word_same_path(source, live))
		return 1;
	bool nfs = strcmp(fstype, "nfs") == 0 || strcmp(fstype, "nfs4") == 0;
	const char *path = strstr(source, ":/"), *own = strstr(live, ":/");
	if ((!nfs && strcmp(fstype, "lustre") != 0) || !path || !own || !word_same_path(path, own))
		return 0;
	return nfs ? same_host(source, (size_t)(path - source), live, (size_t)(own - live), mount)
	           : same_nids(source, (size_t)(path - source), live, (size_t)(own - live));
}

/** Whether a path is the kernel's own name of a device. */
static bool is_kernel_name(const char *path)
{
	if (strncmp(path, "/dev/mapper/", 12) == 0)
		return true;
	return strncmp(path, "/dev/", 5) == 0 && !strchr(path + 5, '/')
	       && strncmp(path, "/dev/dm-", 8) != 0
	       && strcmp(path, "/dev/root") != 0;
}

/** Append a part of a logical volume's name as device mapper writes it. */
static void add_volume(struct strbuf *out, const char *part, size_t n)
{
	for (size_t i = 0; i < n; ++i)
		strbuf_puts(out, part[i] == '-' ? "--" : (char[]){part[i], '\0'});
}

/** Whether a path in /dev may lead to a device of device mapper: /dev/GROUP/VOLUME, or a link of
    udev. */
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
	/* Two different files. */
	if (!device && line->source && *line->source == '/'
	    && strncmp(line->source, "/dev/", 5) != 0)
		return true;
	/* A file may be the image of a loop device. */
	if (!is_kernel_name(own) || (!device && strncmp(own, "/dev/loop", 9) == 0))
		return false;
	if (device && strncmp(own, "/dev/mapper/", 12) == 0)
		return !may_be_mapped(m, source, own);
	return !device || is_kernel_name(source);
}

/** Whether a path in /dev may be that of a device of device mapper. */
static bool device_word(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0
	       && (!is_kernel_name(path) || strncmp(path, "/dev/mapper/", 12) == 0);
}

static int same_source(struct matcher *m, const struct entry *entry, const struct planned *mount)
{
	const struct fstab_line *line = mount->line;
	const char *source = entry->words.source;
	bool planned = line->fate == FSTAB_LINE || !line->mount, bind = is_bind(&entry->words);
	/* Without "bind", mount(8) does not bind it. */
	if (planned && line->source && bind == (strcmp(line->fstype, "none") == 0)
	    && word_same_path(source, line->source))
		return 1;
	if (line->swap && word_same_path(source, line->swap))
		return 1;
	struct fstab_bound bound;
	if (bind)
		return same_directory(m, source, mount, &bound);
	/* Without "bind" the line makes another mount, unless the file system exists once. */
	if (is_mere_name(line->mount))
		return !(planned && line->source && strcmp(line->fstype, "none") == 0)
		       || is_single(line->mount);
	if (match_by_helper(entry, line->mount))
		return same_helped(source, line->mount->source);
	/* A server is written as the kernel has it. */
	if (line->mount && line->mount->dev_major == 0
	    && !(fstype_flags(line->mount->fstype) & FST_SUBVOL))
		return line->mount->source ? same_server(source, line->mount) : 0;
	struct fstab_device device;
	match_device(m, line, &device);
	const char *tag = match_tag(m, source);
	if (tag) {
		int same = same_tag(device.tags, tag);
		/* A swap file has no tag. */
		if (line->swap && strncmp(line->swap, "/dev/", 5) != 0)
			return 0;
		/* Two different tags of one kind. */
		const char *own = planned && line->source ? match_tag(m, line->source) : NULL;
		if (same < 0 && own && strcspn(own, "=") == strcspn(tag, "=")
		    && strncmp(own, tag, strcspn(tag, "=")) == 0)
			same = strcmp(own, tag) == 0;
		/* If the device's tags are not known, look for the device of the tag. */
		return same < 0 && m->in->leads ? m->in->leads(m->in->arg, tag, line) : same;
	}
	if (device.tags && device.tags->name && strcmp(device.tags->name, source) == 0)
		return 1;
	if (*source == '/' && source[1] != '/') {
		int same = m->in->leads ? m->in->leads(m->in->arg, source, line) : -1;
		if (same < 0 && line->mount && line->mount->source
		    && word_same_path(source, line->mount->source))
			return 1;
		/* Swap has no other evidence; /proc/swaps calls logical volumes /dev/dm-N. */
		bool mapped = line->swap && strncmp(line->swap, "/dev/dm-", 8) == 0
		    && device_word(source);
		return same < 0 && ((line->swap && !mapped) || is_other_path(m, source, line)) ? 0
		       : same;
	}
	return line->mount && line->mount->source && word_same_path(source, line->mount->source);
}

static bool same_type(const struct entry *entry, const struct fstab_line *line)
{
	const char *type = entry->words.fstype, *live = line->mount ? line->mount->fstype : "swap";
	/* mount(8) ignores the type of a bind. */
	return is_bind(&entry->words) || shown_type(type, live) || match_by_helper(entry,
	        line->mount)
	       || (line->fate == FSTAB_LINE && shown_type(type, line->fstype));
}

/** Append the layers of a list of options, as one list. */
static void add_layers(const char *options, struct strbuf *out)
{
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		static const char *const names[] = {"lowerdir=", "lowerdir+=", "datadir+="};
		static const char *const between[] = {"", ":", "::"};
		for (size_t i = 0; i < 3; ++i) {
			size_t len = strlen(names[i]);
			if (n < len || memcmp(o, names[i], len) != 0)
				continue;
			strbuf_puts(out, out->len ? between[i] : "");
			bool quoted = n >= len + 2 && o[len] == '"' && o[n - 1] == '"';
			strbuf_add(out, o + len + quoted, n - len - 2 * (size_t)quoted);
		}
	}
}

/** Whether two overlays have the same layers; "lowerdir+=" adds one to the list. */
static bool same_layers(struct matcher *m, const char *a, const char *b)
{
	static const char *const names[] = {"upperdir", "workdir"};
	for (size_t i = 0; i < 2; ++i) {
		size_t n, k;
		const char *x = opt_value(a, names[i], &n), *y = opt_value(b, names[i], &k);
		if (!x != !y || (x && (n != k || memcmp(x, y, n) != 0)))
			return false;
	}
	struct strbuf one, other;
	strbuf_init(&one);
	strbuf_init(&other);
	add_layers(a, &one);
	add_layers(b, &other);
	bool same = strcmp(strbuf_str(&one), strbuf_str(&other)) == 0;
	m->failed |= one.failed || other.failed;
	strbuf_destroy(&one);
	strbuf_destroy(&other);
	return same;
}

/** Whether two lists do not have different values of an option. */
static bool same_value(const char *a, const char *b, const char *name)
{
	size_t n, k;
	const char *x = opt_value(a, name, &n), *y = opt_value(b, name, &k);
	if (!x || !y)
		return true;
	if (strcmp(name, "subvol") == 0) {
		while (n > 0 && *x == '/')
			++x, --n;
		while (k > 0 && *y == '/')
			++y, --k;
	}
	return n == k && memcmp(x, y, n) == 0;
}

/**
 * Whether a line does not name the mounted subvolume, like a truncated one.  For "/" that is usual
 * where snapshots are booted: it is the default of the file system.
 * default.
 */
static bool lacks_subvol(const struct entry *entry, const char *live)
{
	size_t n, k;
	const char *subvol = opt_value(live, "subvol", &n), *line = entry->words.options;
	while (subvol && n > 0 && *subvol == '/')
		++subvol, --n;
	return subvol && n > 0 && !opt_value(line, "subvol", &k) && !opt_value(line, "subvolid", &k)
	       && strcmp(entry->words.target, "/") != 0;
}

/**
 * Whether a directory of a device's file system is mounted where a line of the device mounts its
 * root.  Boot or a container may choose a directory as "/"; ostree and systemd, which gives
 * services directories of their own, bind directories.
 */
static bool is_strange_part(const struct entry *entry, const struct mount *mount)
{
	return mount->dev_major != 0 && fstype_flags(mount->fstype) & FST_DEVICE
	       && strcmp(entry->words.target, "/") != 0
	       && strncmp(mount->root, "/ostree/", 8) != 0
	           && !strstr(mount->root, "/systemd-private-");
}

/** Whether a line mounts the same part of a file system. */
static bool same_part(struct matcher *m, const struct entry *entry, const struct fstab_line *line)
{
	const struct mount *mount = line->mount;
	if (!mount || is_bind(&entry->words))
		return true;
	const char *options = line->fate == FSTAB_LINE && strcmp(line->fstype, "none") != 0
	    ? line->options : mount->fs_opts;
	char *plain = arena_strndup(m->arena, options ? options : "", options ? strlen(options)
	                            : 0);
	if (!plain) {
		m->failed = true;
		return true;
	}
	if (options == mount->fs_opts)
		plain[unescape_octal(plain, plain, strlen(plain))] = '\0';
	bool overlay = mount->fstype && strcmp(mount->fstype, "overlay") == 0;
	/* With ROOT, the kernel shows other paths of the layers. */
	bool compare = !overlay || line->fate == FSTAB_LINE || strcmp(m->in->in->root, "/") == 0;
	if (compare && (overlay ? !same_layers(m, entry->words.options, plain)
	                : !same_value(entry->words.options, plain, "subvol")
	                    || lacks_subvol(entry, plain)))
		return false;
	/* The mount shows a directory; the line would show the root of the file system. */
	size_t n;
	bool part = mount->root && strcmp(mount->root, "/") != 0
	    && !opt_value(entry->words.options, "X-mount.subdir", &n)
	            && !(fstype_flags(mount->fstype) & (FST_SUBVOL | FST_PSEUDO));
	if (part && line->fate == FSTAB_LINE && strcmp(line->fstype, "none") == 0)
		return false;
	if (part && is_strange_part(entry, mount))
		return false;
	return !(fstype_flags(mount->fstype) & FST_SUBVOL) || overlay
	       || same_value(entry->words.options, mount->fs_opts, "subvolid");
}

/** Whether a line mounts the root from whichever device the kernel booted. */
static bool is_any_root(const struct entry *entry, const struct planned *mount)
{
	const struct words *words = &entry->words;
	return strcmp(mount->key, "/") == 0 && fstype_flags(mount->line->mount->fstype) & FST_DEVICE
	       && (strcmp(words->source, "/dev/root") == 0 || strcmp(words->source, "rootfs") == 0)
	       && (strcmp(words->fstype, "rootfs") == 0 || same_type(entry, mount->line));
}

int match_same(struct matcher *m, const struct entry *entry, const struct planned *mount)
{
	if (!mount->line->mount)
		return entry->swap ? same_source(m, entry, mount) : 0;
	if (mount->key && is_any_root(entry, mount))
		return same_part(m, entry, mount->line);
	if (!same_type(entry, mount->line) || !same_part(m, entry, mount->line))
		return 0;
	return same_source(m, entry, mount);
}

bool match_same_name(struct matcher *m, const struct entry *entry, const struct planned *mount)
{
	const struct fstab_line *line = mount->line;
	(void)m;
	return is_mere_name(line->mount) || is_bind(&entry->words)
	       || strcmp(line->fstype, "none") == 0
	       || word_same_path(entry->words.source, line->source);
}
