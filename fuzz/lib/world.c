/* SPDX-License-Identifier: MIT */
#include "world.h"

#include "base/fstypes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The tree of every file system.  A place is known by its index. */
enum { P_ROOT, P_A, P_AB, P_C, P_CD, P_CDE, P_F, P_AF, P_L, P_COUNT };

static const struct place {
	const char *name;
	unsigned parent;
	unsigned char type;   /* DT_* */
} places[P_COUNT] = {
	[P_ROOT] = {"", P_ROOT, DT_DIR}, [P_A] = {"a", P_ROOT, DT_DIR}, [P_AB] = {"b", P_A, DT_DIR},
	[P_C] = {"c", P_ROOT, DT_DIR},   [P_CD] = {"d", P_C, DT_DIR},
	          [P_CDE] = {"e", P_CD, DT_DIR},
	[P_F] = {"f", P_ROOT, DT_REG},   [P_AF] = {"f", P_A, DT_REG},
	          [P_L] = {"l", P_ROOT, DT_LNK},
};

static const char *const types[] = {
	"tmpfs", "ext4", "xfs", "proc", "vfat", "nfs", "fuse.x", "autofs", "9p", "strange",
	"overlay", "sysfs",
};

static struct world *world;
static unsigned without;     /* a mount that is not there; 0: none */
static bool met;             /* a path led into that one */

/** The directory of each mount that may be without permission. */
enum { DENIED_PLACE = P_C };

/** The major device number of a mount: 0 if it is on no device. */
static uint32_t world_major(const struct world_mount *m)
{
	return fstype_flags(m->fstype) & FST_DEVICE ? 8 : 0;
}

/* Following paths. */

/** The mount on a place, the uppermost; the mount itself if there is none. */
static void cross_up(struct world_at *at)
{
	for (bool crossed = true; crossed;) {
		crossed = false;
		for (unsigned i = 1; i < world->n && !crossed; ++i) {
			const struct world_mount *m = &world->mounts[i];
			if (m->gone || m->parent != at->mount || m->place != at->place)
				continue;
			met |= i == without;
			if (i == without)
				continue;
			at->mount = i;
			at->place = P_ROOT;
			crossed = true;
		}
	}
}

/** Go up from a directory.  The first mount's root is the process's. */
static void step_up(struct world_at *at)
{
	while (at->place == P_ROOT && at->mount != 0) {
		at->place = world->mounts[at->mount].place;
		at->mount = world->mounts[at->mount].parent;
	}
	at->place = places[at->place].parent;
	if (at->mount != 0 || at->place != P_ROOT)
		cross_up(at);
}

static bool is_dir(const struct world_at *at)
{
	return at->place == P_ROOT ? !world->mounts[at->mount].is_file
	       : places[at->place].type == DT_DIR;
}

/** Whether a directory lets nobody in. */
static bool is_denied(const struct world_at *at)
{
	return at->place == DENIED_PLACE && world->mounts[at->mount].denied;
}

/** Go down by a name.  @return success; else at->error. */
static bool step_down(struct world_at *at, const char *name, size_t n)
{
	at->behind |= world->mounts[at->mount].blocks;
	at->touches |= world->mounts[at->mount].blocks && at->mount != 0;
	at->error = !is_dir(at) ? ENOTDIR : is_denied(at) ? EACCES : ENOENT;
	if (at->error != ENOENT)
		return false;
	for (unsigned p = 1; p < P_COUNT; ++p) {
		if (places[p].parent == at->place && strlen(places[p].name) == n
		    && memcmp(places[p].name, name, n) == 0) {
			at->place = p;
			at->error = 0;
			cross_up(at);
			return true;
		}
	}
	return false;
}

struct world_at world_follow(const char *path, bool follow)
{
	struct world_at at = {0};
	char rest[4 * WORLD_PATH];
	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		at.error = ENAMETOOLONG;
	unsigned links = 0;
	for (char *name = rest; !at.error && *name;) {
		size_t n = strcspn(name, "/");
		char *next = name + n + (name[n] == '/');
		if (n == 2 && memcmp(name, "..", 2) == 0) {
			step_up(&at);
		} else if (n > 0 && !(n == 1 && *name == '.')) {
			struct world_at before = at;
			if (!step_down(&at, name, n))
				break;
			/* A name with a slash behind it is followed too. */
			if (at.place == P_L && (follow || *next || name[n])) {
				char tail[2 * WORLD_PATH];
				const char *link = world->mounts[at.mount].link;
				if (++links > 40) {
					at.error = ELOOP;
					break;
				}
				snprintf(tail, sizeof(tail), "%s", next);
				snprintf(rest, sizeof(rest), "%s/%s", link, tail);
				before.touches |= at.touches;
				before.behind |= at.behind;
				at = before;
				if (*link == '/')
					at.mount = 0, at.place = P_ROOT;
				name = rest;
				continue;
			}
		} else if (name[n] && !is_dir(&at)) {
			at.error = ENOTDIR;
		}
		name = next;
	}
	return at;
}

bool world_is_visible(const struct world *w, unsigned i)
{
	struct world_at at = world_follow(w->mounts[i].point, false);
	return !w->mounts[i].gone && !at.error && at.mount == i && at.place == P_ROOT;
}

/* As the kernel does. */

/** What must not be done to what can block. */
static struct world_at look(const char *path, bool follow)
{
	struct world_at at = world_follow(path, follow);
	FUZZ_CHECK(!at.touches);
	FUZZ_CHECK(at.mount == 0 || at.place != P_ROOT || !world->mounts[at.mount].no_look);
	return at;
}

/** The entries of a directory. */
static const struct fuzz_file *list(const struct world_at *at)
{
	static struct fuzz_file files[2][P_COUNT];
	static _Alignas(8) char bytes[2][P_COUNT][256];
	bool no_types = world->mounts[at->mount].no_types;
	struct fuzz_file *file = &files[no_types][at->place];
	if (file->path)
		return file;
	char *out = bytes[no_types][at->place];
	size_t used = 0;
	for (unsigned p = 1; p < P_COUNT; ++p) {
		if (places[p].parent != at->place)
			continue;
		struct k_dirent *entry = (void *)(out + used);
		entry->ino = p;
		entry->reclen = 24;
		entry->type = no_types ? DT_UNKNOWN : places[p].type;
		strcpy(entry->name, places[p].name);
		used += entry->reclen;
	}
	*file = (struct fuzz_file){.path = "", .kind = FK_DIRENTS, .bytes = out, .len = used};
	return file;
}

static const struct fuzz_file *world_open(const char *dir, const char *path, int flags,
                                          uint64_t resolve)
{
	static const struct fuzz_file plain = {.path = "", .kind = FK_FILE, .bytes = "", .len = 0};
	struct world_at at = look(path, !(flags & O_NOFOLLOW));
	if (resolve & RESOLVE_NO_XDEV && !at.error) {
		struct world_at from = world_follow(dir, true);
		if (from.mount != at.mount)
			at.error = EXDEV;
	}
	bool opened = !(flags & O_PATH);
	FUZZ_CHECK(!(opened && world->mounts[at.mount].blocks && at.mount != 0) || at.error);
	if (!at.error && opened && is_denied(&at))
		at.error = EACCES;
	if (!at.error && flags & O_DIRECTORY && !is_dir(&at))
		at.error = ENOTDIR;
	if (!at.error && opened && at.place == P_L)
		at.error = ELOOP;
	if (at.error) {
		errno = at.error;
		return NULL;
	}
	return is_dir(&at) ? list(&at) : &plain;
}

static const char *world_readlink(const char *path)
{
	struct world_at at = look(path, false);
	if (at.error || at.place != P_L) {
		errno = at.error ? at.error : EINVAL;
		return NULL;
	}
	return world->mounts[at.mount].link;
}

static int world_statx(const char *path, int flags, unsigned mask, struct k_statx *st)
{
	struct world_at at = look(path, !(flags & AT_SYMLINK_NOFOLLOW));
	const struct world_mount *m = &world->mounts[at.mount];
	/* The root of what blocks: not so that its server is asked. */
	if (!at.error && m->blocks && at.mount != 0)
		FUZZ_CHECK(flags & AT_STATX_DONT_SYNC);
	FUZZ_CHECK(flags & (AT_NO_AUTOMOUNT | AT_EMPTY_PATH));
	if (at.error) {
		errno = at.error;
		return -1;
	}
	unsigned char type = at.place == P_ROOT && m->is_file ? DT_REG : places[at.place].type;
	st->mask = K_STATX_TYPE | K_STATX_NLINK | K_STATX_INO | K_STATX_MTIME;
	st->mode = (uint16_t)(DTTOIF(type) | 0755);
	st->ino = 1000 + at.place;
	st->nlink = 1;
	st->dev_major = world_major(m);
	st->dev_minor = 30 + at.mount;
	st->attributes_mask = K_STATX_ATTR_MOUNT_ROOT | K_STATX_ATTR_AUTOMOUNT;
	st->attributes = at.place == P_ROOT ? K_STATX_ATTR_MOUNT_ROOT : 0;
	if (type == DT_DIR && fstype_flags(m->fstype) & FST_NLINK) {
		st->nlink = 2;
		for (unsigned p = 1; p < P_COUNT; ++p)
			st->nlink += places[p].parent == at.place && places[p].type == DT_DIR;
	}
	if (world->by_dev)
		return 0;
	if (mask & K_STATX_MNT_ID_UNIQUE) {
		st->mask |= K_STATX_MNT_ID_UNIQUE;
		st->mnt_id = m->key;
	} else {
		st->mask |= K_STATX_MNT_ID;
		st->mnt_id = m->id;
	}
	return 0;
}

static unsigned of_key(uint64_t key)
{
	unsigned i = 0;
	while (i < world->n && (world->mounts[i].key != key || world->mounts[i].gone))
		++i;
	return i;
}

static ssize_t world_listmount(uint64_t last, uint64_t *ids, size_t n)
{
	size_t got = 0;
	while (got < n) {
		uint64_t next = UINT64_MAX;
		for (unsigned i = 0; i < world->n; ++i) {
			const struct world_mount *m = &world->mounts[i];
			if (!m->gone && m->key > last && m->key < next)
				next = m->key;
		}
		if (next == UINT64_MAX)
			break;
		ids[got++] = last = next;
	}
	return (ssize_t)got;
}

static int world_statmount(uint64_t id, uint64_t mask, struct k_statmount *sm, size_t size)
{
	unsigned i = of_key(id);
	if (i == world->n) {
		errno = ENOENT;
		return -1;
	}
	const struct world_mount *m = &world->mounts[i];
	struct mount records[WORLD_MOUNTS];
	world_records(world, records);
	FUZZ_CHECK(size > sizeof(*sm));
	*sm = (struct k_statmount){
		.mask = mask & (K_STATMOUNT_SB_BASIC | K_STATMOUNT_MNT_BASIC | K_STATMOUNT_MNT_ROOT
		                | K_STATMOUNT_MNT_POINT
		                | K_STATMOUNT_FS_TYPE | K_STATMOUNT_SB_SOURCE
		                | K_STATMOUNT_MNT_OPTS),
		.sb_dev_major = records[i].dev_major, .sb_dev_minor = records[i].dev_minor,
		                .mnt_id = m->key, .mnt_parent_id = records[i].parent_key,
		.mnt_id_old = m->id, .mnt_parent_id_old = records[i].parent_id,
		              .mnt_propagation = MS_PRIVATE,
	};
	const struct {
		const char *text;
		uint32_t *offset;
	} strings[] = {
		{"/", &sm->mnt_root}, {m->point, &sm->mnt_point}, {m->fstype, &sm->fs_type},
		{"src", &sm->sb_source},
		{m->options, &sm->mnt_opts},
	};
	size_t used = 0;
	for (size_t k = 0; k < sizeof(strings) / sizeof(*strings); ++k) {
		size_t len = strlen(strings[k].text) + 1;
		if (sizeof(*sm) + used + len > size) {
			errno = EOVERFLOW;
			return -1;
		}
		*strings[k].offset = (uint32_t)used;
		memcpy(sm->str + used, strings[k].text, len);
		used += len;
	}
	return 0;
}

void world_records(const struct world *w, struct mount *records)
{
	for (unsigned i = 0; i < w->n; ++i) {
		const struct world_mount *m = &w->mounts[i];
		const struct world_mount *parent = &w->mounts[m->parent];
		records[i] = (struct mount){
			.key = m->key, .uniq_id = m->key, .id = m->id, .root = "/",
			       .point = m->point, .fstype = m->fstype,
			.parent_key = i ? parent->key : 7, .parent_id = i ? parent->id : 1,
			.source = "src", .vfs_opts = "rw",
			          .fs_opts = *m->options ? m->options : "rw",
			.dev_major = world_major(m), .dev_minor = 30 + i,
			.freq = -1, .passno = -1,
		};
	}
}

/* Making one. */

/** Mount on a place of an earlier mount; where one is already, on that. */
static void mount_on(unsigned i, unsigned parent, unsigned place)
{
	struct world_mount *m = &world->mounts[i];
	if (world->mounts[parent].is_file)
		place = P_ROOT;
	for (unsigned k = 1; k < i; ++k) {
		if (world->mounts[k].parent == parent && world->mounts[k].place == place) {
			parent = k;
			place = P_ROOT;
			k = 0;
		}
	}
	m->parent = parent;
	m->place = place;
	m->is_file = place == P_ROOT ? world->mounts[parent].is_file : places[place].type == DT_REG;

	/* The point: up to the root, from the last name to the first. */
	char *at = m->point + sizeof(m->point) - 1;
	*at = '\0';
	for (struct world_at up = {.mount = parent, .place = place};;) {
		while (up.place == P_ROOT && up.mount != 0) {
			up.place = world->mounts[up.mount].place;
			up.mount = world->mounts[up.mount].parent;
		}
		if (up.place == P_ROOT)
			break;
		size_t n = strlen(places[up.place].name);
		at -= n + 1;
		FUZZ_CHECK(at > m->point);
		*at = '/';
		memcpy(at + 1, places[up.place].name, n);
		up.place = places[up.place].parent;
	}
	if (!*at)
		*--at = '/';
	memmove(m->point, at, strlen(at) + 1);
}

/** Find which overlays stand on what blocks, until nothing changes; not of the
    root, whose layers are written in the names of another. */
static void find_blocking(void)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (unsigned i = 1; i < world->n; ++i) {
			struct world_mount *m = &world->mounts[i];
			const char *layer = strchr(m->options, '/');
			if (m->blocks || strcmp(m->fstype, "overlay") != 0 || !layer)
				continue;
			/* What covers its own layer stands on what is beneath; deeper in
			   there no link can be read by anybody, and none is here. */
			without = i;
			met = false;
			struct world_at at = world_follow(layer, true);
			if (met)
				at = world_follow(strcpy(strchr(m->options, '/'), m->point), true);
			without = 0;
			m->blocks = at.behind || world->mounts[at.mount].blocks;
			changed |= m->blocks;
		}
	}
}

/**
 * Let no mount go away that was over one that blocks: whoever goes by a table
 * in which it is, looks there (docs/SECURITY.md).
 */
static bool keep_covers(void)
{
	bool kept = false;
	for (unsigned i = 0; i < world->n; ++i) {
		for (unsigned k = 0; k < world->n && world->mounts[i].gone; ++k) {
			const char *above = world->mounts[i].point, *point = world->mounts[k].point;
			size_t n = strlen(above) > 1 ? strlen(above) : 0;
			if (!world->mounts[k].blocks || strncmp(point, above, n) != 0
			    || (point[n] && point[n] != '/'))
				continue;
			for (unsigned all = 0; all < world->n; ++all)
				world->mounts[all].gone = false;
			kept = true;
		}
	}
	return kept;
}

void world_begin(struct world *w, struct fuzz_input *in)
{
	static const char *const links[] = {"a", "c/d", "/", "..", "/a/b", "/none", "l", "../l/a"};
	memset(w, 0, sizeof(*w));
	world = w;
	uint8_t flags = fuzz_byte(in);
	w->n = 1 + fuzz_byte(in) % (WORLD_MOUNTS - 1);
	for (unsigned i = 0; i < w->n; ++i) {
		struct world_mount *m = &w->mounts[i];
		uint8_t bits = fuzz_byte(in), type = fuzz_byte(in), parent = fuzz_byte(in),
		               place = fuzz_byte(in);
		uint8_t link = fuzz_byte(in);
		m->fstype = types[type % (sizeof(types) / sizeof(*types))];
		m->key = 0x80000000u + (flags & 1 ? 100 - i : i);
		m->id = 20 + i;
		m->denied = bits & 1 && bits & 2;
		m->no_types = bits & 4;
		m->gone = (bits & 0x18) == 0x18 && i > 0;
		strcpy(m->point, "/");
		if (i > 0)
			mount_on(i, parent % i, place % P_L);
		unsigned about = link / 8 % (i + 1);
		m->link = link & 0x80 ? w->mounts[about].point : links[link % 8];
		unsigned fs = fstype_flags(m->fstype);
		m->blocks = fs & FST_BLOCKS;
		m->no_look = fs & FST_NO_LOOK;
		if (fs & FST_LAYERED) {
			char below[WORLD_PATH];
			strcpy(below, w->mounts[about].point);
			snprintf(m->options, sizeof(m->options), "lowerdir=%.900s%s", below,
			         link & 1 ? "/l" : "/a");
			w->layered = true;
		}
		/* What goes is not mounted on by anything that stays. */
		for (unsigned up = i; up != 0 && !m->gone; up = w->mounts[up].parent)
			m->gone = w->mounts[up].gone;
	}
	w->by_dev = flags & 2;
	find_blocking();
	if (keep_covers()) {
		for (unsigned i = 0; i < w->n; ++i)
			w->mounts[i].blocks = fstype_blocks(w->mounts[i].fstype);
		find_blocking();
	}
	w->kernel = (struct fuzz_kernel){
		.caps = OSC_LISTMOUNT | (w->by_dev ? 0 : OSC_STATX_UNIQUE | OSC_STATX_MNT_ID)
		        | (flags & 4 ? 0 : OSC_OPENAT2),
		.statmount_mask = 0x3ff, .root_uniq = w->mounts[0].key, .open = world_open,
		                  .readlink = world_readlink, .statx = world_statx,
		.listmount = world_listmount, .statmount = world_statmount,
	};
	fuzz_kernel_set(&w->kernel);
}

void world_end(struct world *w)
{
	(void)w;
	fuzz_kernel_set(NULL);
	world = NULL;
}
