/* SPDX-License-Identifier: MIT */
#include "index/store/place.h"

#include "base/fstypes.h"
#include "base/map64.h"
#include "base/words.h"
#include "mountopts/layers.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"
#include "os/change.h"
#include "os/inodes.h"
#include "path/named.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <xxhash.h>

/* The directory that contains all indexes. */

/** Append the path of the directory that contains all indexes.
    @return 0, or -1.  Errors: ENOENT: the user has no home directory; ENOMEM. */
static int place_path(struct os *os, const char *given, struct strbuf *path)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	if (given)
		strbuf_puts(path, given);
	else if (os_geteuid(os) == 0)
		strbuf_puts(path, "/var/lib/getmnt/index");
	else if (cache && *cache == '/')
		strbuf_printf(path, "%s/getmnt/index", cache);
	else if (home && *home == '/')
		strbuf_printf(path, "%s/.cache/getmnt/index", home);
	else
		return fail(ENOENT);
	return path->failed ? fail(ENOMEM) : 0;
}

int index_place_open(struct os *os, const char *given, bool create, struct strbuf *path)
{
	const size_t from = path->len;
	const char *name = NULL;
	if (place_path(os, given, path) != 0 || !(name = strbuf_text(path)))
		return -1;
	return path_open_dir_named(os, name + from, create);
}

/* IDs and names of indexes. */

void index_place_uuid(struct os *os, int fd, const struct mount *mount, const char *known,
                      char uuid[INDEX_UUID])
{
	unsigned char bytes[16];
	struct statfs fs;
	struct stat st;
	uint64_t id = 0;
	size_t n = 0;
	if (fd >= 0 && os_fs_uuid(os, fd, bytes) == 0) {
		for (size_t i = 0; i < sizeof(bytes); ++i)
			n += (size_t)snprintf(uuid + n, INDEX_UUID - n, "%s%02x",
			                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			                      bytes[i]);
		return;
	}
	for (; known && known[n] && n < INDEX_UUID - 1; ++n)
		uuid[n] = isalnum((unsigned char)known[n]) || known[n] == '-' ? known[n] : '_';
	uuid[n] = '\0';
	if (n == 0 && fd >= 0 && os_fstatfs(os, fd, &fs) == 0)
		memcpy(&id, &fs.f_fsid, sizeof(id));
	if (id == 0 || id == makedev(mount->dev_major, mount->dev_minor))
		return;
	n = (size_t)snprintf(uuid, INDEX_UUID, "fsid-%016" PRIx64, id);
	/* The f_fsid of an overlay is that of the file system of its upper layer, so append the
	   inode number of the root directory of the overlay. */
	if (fstype_flags(mount->fstype) & FST_LAYERED && os_fstatat(os, fd, "", &st) == 0)
		snprintf(uuid + n, INDEX_UUID - n, "-%" PRIu64, (uint64_t)st.st_ino);
}

void index_place_name(const char *uuid, const char *root, struct strbuf *out)
{
	strbuf_puts(out, uuid);
	if (strcmp(root, "/") == 0)
		return;
	strbuf_printf(out, ".%016" PRIx64, (uint64_t)XXH3_64bits(root, strlen(root)));
}

/* Which mounts get an index. */

static const char *const phrases[] = {
	[PLACE_SAME] = "indexed through another mount",
	[PLACE_PSEUDO] = "a pseudo file system",
	[PLACE_NETWORK] = "a network file system",
	[PLACE_FUSE] = "a FUSE file system",
	[PLACE_REMOVABLE] = "removable",
	[PLACE_SNAPSHOT] = "a snapshot",
	[PLACE_MEMORY] = "kept in memory only",
	[PLACE_HIDDEN] = "not reachable: another mount covers it",
	[PLACE_FILE] = "a single file",
	[PLACE_LAYERS] = "an overlay of indexed file systems",
	[PLACE_BLOCKS] = "calls on it can block",
	[PLACE_NAMELESS] = "without a UUID: its index could be taken for that of another file "
	                   "system",
	[PLACE_TWIN] = "its UUID is also that of",
	[PLACE_UNKNOWN] = "an unknown type of file system",
};

const char *index_why(enum place_why why)
{
	return phrases[why];
}

/** Whether the mount table shows that a mount is a snapshot: by a path of snapper or Timeshift, by
    the name of a zfs snapshot ("pool/data@name"), or by the option cp of nilfs2. */
static bool is_snapshot(const struct mount *m)
{
	const char *at = m->root ? strstr(m->root, "/.snapshots/") : NULL;
	if (!at && m->root)
		at = strstr(m->root, "/timeshift-btrfs/snapshots/");
	if (at)
		return true;
	if (m->fstype && strcmp(m->fstype, "zfs") == 0)
		return m->source && strchr(m->source, '@');
	struct strbuf value = {0};
	bool found = m->fstype && strcmp(m->fstype, "nilfs2") == 0
	             && opt_shown_value(m->fs_opts, "cp", &value);
	strbuf_destroy(&value);
	return found;
}

/** Whether a mount point is in the directory where udisks, or a program before udisks, mounts
    removable media. */
static bool is_media(const struct mount *m)
{
	return m->point && (word_below(m->point, "/run/media")
	                    || word_below(m->point, "/media"));
}

/** Decide whether a mount gets an index, without considering the other mounts.
    @return the reason against it, or PLACE_INDEX. */
static enum place_why judge_alone(const struct place *place)
{
	const struct mount *m = place->mount;
	unsigned type = fstype_flags(m->fstype);
	bool top = m->point && strcmp(m->point, "/") == 0;
	if (!(type & FST_KNOWN))
		return m->fstype && strncmp(m->fstype, "fuse", 4) == 0 ? PLACE_FUSE : PLACE_UNKNOWN;
	/* The type holds no user files on a disk.  If searches visit it last, the kernel generates
	   its files; else it is in memory. */
	if (type & FST_PSEUDO)
		return type & FST_LAST ? PLACE_PSEUDO : PLACE_MEMORY;
	if (type & FST_NET)
		return PLACE_NETWORK;
	if (is_fuse(m->fstype) || strcmp(m->fstype, "virtiofs") == 0)
		return PLACE_FUSE;
	if (place->hidden || !m->point || !m->root)
		return PLACE_HIDDEN;
	/* The root directory of a running system may be a snapshot, after a rollback. */
	if (!top && (place->snapshot || is_snapshot(m)))
		return PLACE_SNAPSHOT;
	if (!top && (place->removable || is_media(m)))
		return PLACE_REMOVABLE;
	if (place->file)
		return PLACE_FILE;
	return place->blocks && !top ? PLACE_BLOCKS : PLACE_INDEX;
}

/** Whether two mounts of one file system show the same directory tree: of a btrfs, they must show
    the same subvolume. */
static bool same_tree(const struct mount *a, const struct mount *b)
{
	if (!(fstype_flags(a->fstype) & FST_SUBVOL))
		return true;
	struct strbuf of_a = {0}, of_b = {0};
	bool known = opt_shown_value(a->fs_opts, "subvolid", &of_a)
	             && opt_shown_value(b->fs_opts, "subvolid", &of_b);
	bool same = known ? strcmp(strbuf_str(&of_a), strbuf_str(&of_b)) == 0
	            : strcmp(a->root, b->root) == 0;
	strbuf_destroy(&of_a);
	strbuf_destroy(&of_b);
	return same;
}

/** Whether to index mount `a` rather than `b`, if both show the same directory, or one shows a
    directory below that of the other.  The mount of the higher directory is better, then the
    shorter mount point. */
static bool is_better(const struct mount *a, const struct mount *b)
{
	size_t n = strlen(a->root), m = strlen(b->root);
	if (n != m)
		return n < m;
	n = strlen(a->point);
	m = strlen(b->point);
	return n < m || (n == m && strcmp(a->point, b->point) < 0);
}

/** Find the mount that has a path, according to the mount points.  @return its index; SIZE_MAX:
    none. */
static size_t mount_of_path(const struct place *places, size_t n, const char *path)
{
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < n; ++i) {
		const char *point = places[i].mount->point;
		if (point && !places[i].hidden && word_below(path, point)
		    && (best == SIZE_MAX || strlen(point) >= strlen(places[best].mount->point)))
			best = i;
	}
	return best;
}

/** Find the mount whose index has the files of the overlay `of`: the mount with its upper layer;
    without an upper layer, the mount with a lower layer.
    @return SIZE_MAX: a layer is not in an indexed file system. */
static size_t layers_on(const struct place *places, size_t n, size_t of)
{
	struct arena arena = {0};
	struct opt_dir *dirs;
	size_t lower = SIZE_MAX, upper = SIZE_MAX;
	size_t ndirs = opt_layers(places[of].mount->fs_opts, opt_next_shown, &arena, &dirs);
	bool known = !arena.failed;
	for (size_t i = 0; i < ndirs && known; ++i) {
		const char *path = dirs[i].path;
		size_t on = *path == '/' ? mount_of_path(places, n, path) : SIZE_MAX;
		bool has = on != SIZE_MAX && on != of
		           && (places[on].why == PLACE_INDEX || places[on].why == PLACE_SAME);
		if (dirs[i].of == 'u')
			upper = has ? on : SIZE_MAX;
		else if (dirs[i].of == 'l')
			lower = has ? on : lower;
		known &= has || dirs[i].of == 'w';
	}
	arena_destroy(&arena);
	return !known ? SIZE_MAX : upper != SIZE_MAX ? upper : lower;
}

void index_choose(struct place *places, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		places[i].why = judge_alone(&places[i]);
		places[i].of = i;
	}
	for (size_t i = 0; i < n; ++i) {
		const struct mount *m = places[i].mount;
		size_t best = i;
		for (size_t k = 0; k < n && places[i].why == PLACE_INDEX; ++k) {
			const struct mount *other = places[k].mount;
			if (k != i && places[k].why == PLACE_INDEX
			    && mount_dev(other) == mount_dev(m)
			    && word_below(m->root, other->root) && same_tree(other, m)
			    && is_better(other, places[best].mount))
				best = k;
		}
		places[i].of = best;
	}
	for (size_t i = 0; i < n; ++i) {
		if (places[i].of != i)
			places[i].why = PLACE_SAME;
	}
	for (size_t i = 0; i < n; ++i) {
		const struct mount *m = places[i].mount;
		if (places[i].why != PLACE_INDEX || !(fstype_flags(m->fstype) & FST_LAYERED)
		    || strcmp(m->point, "/") == 0)
			continue;
		size_t on = layers_on(places, n, i);
		if (on != SIZE_MAX) {
			places[i].why = PLACE_LAYERS;
			places[i].of = places[on].of;
		}
	}
}

/** Find the first place with the UUID of place i.  @return NULL: the UUID of place i is unknown. */
static struct place *first_named(struct place *places, const struct map64 *first, size_t i)
{
	const char *uuid = places[i].uuid;
	uint32_t at = uuid && *uuid ? map64_get(first, map64_text(uuid)) : MAP64_NONE;
	return at != MAP64_NONE && strcmp(places[at].uuid, uuid) == 0 ? &places[at] : NULL;
}

int index_choose_named(struct place *places, size_t n)
{
	struct map64 first = {0};
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; ++i) {
		const char *uuid = places[i].uuid;
		if (uuid && !*uuid)
			places[i].why = PLACE_NAMELESS;
		else if (uuid && map64_put(&first, map64_text(uuid), (uint32_t)i) == MAP64_NONE)
			rc = -1;
		struct place *same = first_named(places, &first, i);
		if (same && same->why != PLACE_TWIN
		    && mount_dev(same->mount) != mount_dev(places[i].mount)) {
			same->why = PLACE_TWIN;
			same->of = i;
		}
	}
	for (size_t i = 0; i < n && rc == 0; ++i) {
		struct place *same = first_named(places, &first, i);
		if (!same || same->why != PLACE_TWIN)
			continue;
		places[i].why = PLACE_TWIN;
		places[i].of = mount_dev(same->mount) == mount_dev(places[i].mount) ? same->of
		               : (size_t)(same - places);
	}
	map64_destroy(&first);
	return rc;
}
