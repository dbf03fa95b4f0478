/* SPDX-License-Identifier: MIT */
/*
 * The mounts, each decided when those that it needs are.
 *
 * A mount needs the mount that it stands on; a bind, the mount that its source
 * lies in; an overlay, those of its layers; the image of a loop, that of its
 * file.  Without these it can have no line either.  So mounts are gone through
 * from the root up, again and again while that decides any; nearly always once,
 * and a second time for binds whose source comes later.  The order in which they
 * are decided is the order of the lines: mount -a goes from first to last.
 *
 *     classify()  what it is: elsewhere, the system's own, hidden ..., a mount of
 *                 its file system, or a bind: a part of one, or one more of it
 *     decide()    is there all that it needs?  its line, or why there is none
 *
 * Two indexes make this linear: the visible mounts by name, to find the mount that
 * holds a path and see whether another covers it on the way; and by device and
 * root, to find where the source of a bind is seen.
 */
#include "fstab/fstab_impl.h"

#include "base/fstypes.h"
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PASSES_MAX = 64,
	CANDIDATES_MAX = 32,   /* places of one part of a file system that are tried */
};

enum state { ELSEWHERE, WAITING, LINE, REFUSED, OWN };

/** What is known of a node beside what the discovery knows. */
struct place {
	const char *target;      /* relative to ROOT; NULL: not below it, or no name */
	uint8_t state;           /* enum state */
	bool visible;            /* below ROOT, and what its name leads to */
	bool boot;               /* OWN, and there when the fstab is read */
	bool bind;
	bool automount;          /* by an automount unit of the fstab */
	struct link {
		uint32_t next;   /* of the same hash; MT_NONE */
		uint32_t last;   /* of the first: the last of them */
	} name, root;
	const char *why;
};

struct maker {
	struct fstab_draft draft;
	const struct fstab_input *in;
	struct fstab_plan *plan;
	const struct mtree *tree;
	struct place *places;
	struct map64 by_name;    /* hash of target -> node */
	struct map64 by_root;    /* hash of device and root -> node */
	struct map64 primary;    /* device -> the node of its whole that is mounted first */
	struct strbuf path, scratch;
};

static const struct mount *mount_of(const struct maker *mk, uint32_t node)
{
	return mk->tree->nodes[node].mount;
}

static const char *type_of(const struct mount *mount)
{
	return mount->fstype ? mount->fstype : "";
}

static const char *root_of(const struct mount *mount)
{
	return mount->root ? mount->root : "/";
}

/** A name of the discovery as it is from ROOT; NULL if it is not below it. */
static const char *below_root(const struct fstab_input *in, const char *name)
{
	if (!name || !mtree_path_within(name, in->root))
		return NULL;
	if (strcmp(in->root, "/") == 0)
		return name;
	name += strlen(in->root);
	return *name ? name : "/";
}

/** A path from a directory, and what stands behind it. */
static const char *join(struct maker *mk, const char *dir, const char *rest)
{
	rest += strspn(rest, "/");
	if (!*rest)
		return dir;
	return fstab_format(&mk->draft, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, rest);
}

/* Indexes. */

/** The visible mount of a name of n bytes, of this hash. */
static uint32_t find_name(const struct maker *mk, uint64_t hash, const char *name, size_t n)
{
	uint32_t node = map64_get(&mk->by_name, hash);
	for (; node != MAP64_NONE; node = mk->places[node].name.next) {
		const char *target = mk->places[node].target;
		if (strncmp(target, name, n) == 0 && !target[n])
			return node;
	}
	return MT_NONE;
}

/** The visible mount that holds a path from ROOT; MT_NONE: only ROOT does. */
static uint32_t holder(const struct maker *mk, const char *path)
{
	uint64_t hash = map64_bytes(MAP64_BYTES, "/", 1);
	uint32_t best = find_name(mk, hash, "/", 1);
	hash = MAP64_BYTES;
	for (size_t at = 0; path[at];) {
		size_t n = 1 + strcspn(path + at + 1, "/");
		hash = map64_bytes(hash, path + at, n);
		at += n;
		uint32_t found = at > 1 ? find_name(mk, hash, path, at) : MT_NONE;
		if (found != MT_NONE)
			best = found;
	}
	return best;
}

static uint64_t root_hash(const struct mount *mount, const char *root, size_t n)
{
	uint64_t device = mount_dev(mount);
	return map64_bytes(map64_bytes(MAP64_BYTES, (const char *)&device, sizeof(device)), root, n);
}

/** The link of a node in one of the two indexes. */
static struct link *link_of(struct maker *mk, const struct map64 *map, uint32_t node)
{
	return map == &mk->by_name ? &mk->places[node].name : &mk->places[node].root;
}

/** Put a node behind the others of its hash. */
static bool add_index(struct maker *mk, struct map64 *map, uint64_t hash, uint32_t node)
{
	uint32_t first = map64_put(map, hash, node);
	if (first == MAP64_NONE)
		return false;
	struct link *head = link_of(mk, map, first);
	link_of(mk, map, node)->next = MT_NONE;
	if (first != node)
		link_of(mk, map, head->last)->next = node;
	head->last = node;
	return true;
}

/** Whether the file system can be written to, and this mount of it cannot. */
static bool is_ro_view(const struct mount *mount)
{
	return fstab_has_option(mount->vfs_opts, "ro") && !fstab_has_option(mount->fs_opts, "ro");
}

static bool make_indexes(struct maker *mk)
{
	const struct mtree *tree = mk->tree;
	for (uint32_t at = 0; at < tree->count; ++at) {
		uint32_t i = tree->order[at];
		struct place *place = &mk->places[i];
		const struct mount *m = mount_of(mk, i);
		if (!place->visible)
			continue;
		const char *root = root_of(m);
		uint64_t name = map64_bytes(MAP64_BYTES, place->target, strlen(place->target));
		if (!add_index(mk, &mk->by_name, name, i)
		    || !add_index(mk, &mk->by_root, root_hash(m, root, strlen(root)), i))
			return false;
		if (strcmp(root, "/") != 0)
			continue;
		/* The mount of a device: one that can be written to, if there is any. */
		uint32_t first = map64_put(&mk->primary, mount_dev(m), i);
		if (first == MAP64_NONE)
			return false;
		if (first != i && is_ro_view(mount_of(mk, first)) && !is_ro_view(m)) {
			map64_remove(&mk->primary, mount_dev(m));
			map64_put(&mk->primary, mount_dev(m), i);   /* there is room */
		}
	}
	return true;
}

/* What a mount is. */

/** Whether a path ends with the components of another. */
static bool ends_with(const char *path, const char *tail)
{
	size_t n = strlen(path), m = strlen(tail);
	return m <= n && strcmp(path + n - m, tail) == 0;
}

/** Whether a mount is a file system or subvolume by itself, by its source alone. */
static bool stands_alone(struct maker *mk, const struct mount *m)
{
	const char *root = root_of(m), *fstype = type_of(m);
	if (strcmp(fstype, "btrfs") == 0) {
		/* A directory of a subvolume is none (g10). */
		bool told = fstab_option_value(m->fs_opts, "subvol", &mk->scratch);
		return !told || strcmp(strbuf_str(&mk->scratch), root) == 0;
	}
	if (fstype_flags(fstype) & FST_NET && !(fstype_flags(fstype) & FST_DEVICE))
		return strcmp(root, "/") == 0 || (m->source && ends_with(m->source, root));
	return strcmp(root, "/") == 0;
}

/** Whether a node shows what another mount does already, or a part of it. */
static bool is_bind(struct maker *mk, uint32_t node)
{
	const struct mount *m = mount_of(mk, node);
	unsigned flags = fstype_flags(m->fstype);
	if (!stands_alone(mk, m))
		return true;
	if (flags & FST_SUBVOL || (flags & FST_NET && !(flags & FST_DEVICE)))
		return false;
	uint32_t first = map64_get(&mk->primary, mount_dev(m));
	if (first == MAP64_NONE || first == node)
		return false;
	/* A device can be mounted twice, but not once for reading and once for
	   writing; what stands on none would be a new one. */
	return m->dev_major == 0 || is_ro_view(m) != is_ro_view(mount_of(mk, first));
}

/** Why the system has mounted this by automounting; NULL if it has not. */
static const char *by_automount(struct maker *mk, uint32_t node, bool *fstab)
{
	const struct mount *m = mount_of(mk, node);
	uint32_t parent = mk->tree->nodes[node].parent;
	if (parent == MT_NONE)
		return NULL;
	const struct mount *on = mount_of(mk, parent);
	const struct fstab_world *world = &mk->in->world;
	if (fstype_flags(on->fstype) & FST_AUTOFS) {
		const char *target = mk->places[node].target;
		bool unit = on->source && strcmp(on->source, "systemd-1") == 0;
		*fstab = unit && world->unit && world->unit(world->arg, target) == FSTAB_AUTOMOUNT;
		return *fstab ? NULL : "mounted by an automounter";
	}
	/* NFS mounts what a server exports below by itself: server:/a/b on x/b. */
	const char *name = mk->places[node].target, *above = mk->places[parent].target;
	if (strcmp(type_of(m), "nfs4") == 0 && strcmp(type_of(on), "nfs4") == 0 && above && m->source
	    && on->source && mtree_path_within(name, above)) {
		const char *rest = name + (strcmp(above, "/") == 0 ? 0 : strlen(above));
		size_t n = strlen(on->source);
		n -= n && on->source[n - 1] == '/';
		if (*rest && strncmp(m->source, on->source, n) == 0 && strcmp(m->source + n, rest) == 0)
			return "NFS mounts it when it is entered";
	}
	return NULL;
}

/** Why the kernel alone can say how this was mounted; NULL if a line can. */
static const char *unspeakable(struct maker *mk, const struct mount *m)
{
	const struct fstab_world *world = &mk->in->world;
	const char *fstype = type_of(m);
	/* What ceph shows for a secret is none. */
	bool ceph = strcmp(fstype, "ceph") == 0;
	if (world->secret && world->secret(m->source, ceph ? NULL : m->fs_opts))
		return "it was mounted with a secret, which does not belong here";
	if (fstab_has_option(m->vfs_opts, "idmapped"))
		return "its ID mapping is known to the kernel alone";
	if (strcmp(fstype, "fuse") == 0)
		return "what program serves it is not known";
	if ((strcmp(fstype, "cifs") == 0 || strcmp(fstype, "smb3") == 0)
	    && fstab_option_value(m->fs_opts, "username", &mk->scratch) && mk->scratch.len
	    && !(fstab_option_value(m->fs_opts, "sec", &mk->scratch)
	         && (strncmp(strbuf_str(&mk->scratch), "krb5", 4) == 0
	             || strcmp(strbuf_str(&mk->scratch), "none") == 0)))
		return "its password is known to the kernel alone; write a line with credentials=FILE";
	return NULL;
}

static void refuse(struct place *place, const char *why)
{
	place->state = REFUSED;
	place->why = why;
}

/** Leave a node out. */
static void leave_out(struct place *place, const char *why, bool boot)
{
	place->state = OWN;
	place->boot = boot;
	place->why = why;
}

/** Say what a node is, by itself. */
static void classify(struct maker *mk, uint32_t i)
{
	const struct fstab_input *in = mk->in;
	const struct mt_node *node = &mk->tree->nodes[i];
	const struct mount *m = node->mount;
	struct place *place = &mk->places[i];
	const char *name = in->d->targets[i], *why;
	place->state = ELSEWHERE;
	if (node->gone || node->made || node->states & 1u << MT_OUTSIDE)
		return;
	if (!name) {
		/* It may be anywhere. */
		if (strcmp(in->root, "/") == 0)
			refuse(place, "its place is not known");
		return;
	}
	place->target = below_root(in, name);
	if (!place->target)
		return;
	place->visible = !(node->states & (1u << MT_HIDDEN | 1u << MT_LOST | 1u << MT_UNSEARCHED));
	if (in->filter && strncmp(name, in->filter, strlen(in->filter)) != 0) {
		leave_out(place, "not asked for: -f", true);
		return;
	}
	bool boot;
	const char *kept = in->world.kept ? in->world.kept(in->world.arg, name) : NULL;
	if ((why = fstab_own(m, place->target, in->all, &boot)) != NULL) {
		leave_out(place, why, boot);
	} else if (in->pseudo && in->pseudo(type_of(m)) && strcmp(place->target, "/") != 0) {
		leave_out(place, "a pseudo file system: -P", true);
	} else if (fstab_has_option(kept, "uhelper=udisks2")) {
		leave_out(place, "of udisks", false);
	} else if ((why = by_automount(mk, i, &place->automount)) != NULL) {
		leave_out(place, why, false);
	} else if (in->world.unit && in->world.unit(in->world.arg, place->target) == FSTAB_OWN_UNIT) {
		leave_out(place, "of a unit of its own", true);
	} else if (node->states & 1u << MT_HIDDEN) {
		const char *by = node->covered_by != MT_NONE ? in->d->targets[node->covered_by] : NULL;
		refuse(place, fstab_format(&mk->draft, "hidden: %s is mounted over it", by ? by : "another"));
	} else if (!place->visible) {
		refuse(place, "it was not found at its place");
	} else if (node->states & 1u << MT_DELETED) {
		refuse(place, "the directory that it shows was removed");
	} else if ((why = unspeakable(mk, m)) != NULL) {
		refuse(place, why);
	} else {
		place->state = WAITING;
	}
}

/** Say what a node is among the others. */
static void consider(struct maker *mk, uint32_t i)
{
	struct place *place = &mk->places[i];
	if (place->state != WAITING)
		return;
	/* Of a stack one is visible; a table that makes no tree can have more. */
	size_t n = strlen(place->target);
	if (find_name(mk, map64_bytes(MAP64_BYTES, place->target, n), place->target, n) != i)
		refuse(place, "another mount has this name as well");
	else
		place->bind = is_bind(mk, i);
}

/* What a mount needs. */

/** Whether what is below a mount goes with it at a shutdown.  The root's own
    contents are somebody else's care. */
static bool is_volatile(const struct maker *mk, uint32_t node)
{
	const char *fstype = type_of(mount_of(mk, node));
	return (strcmp(fstype, "tmpfs") == 0 || strcmp(fstype, "ramfs") == 0)
	       && strcmp(mk->places[node].target, "/") != 0;
}

/** Whether a mount is there when one that needs it is mounted: LINE; else what
    it waits for. */
static enum state available(const struct maker *mk, uint32_t node)
{
	if (node == MT_NONE)
		return LINE;   /* ROOT is a directory of a mount outside */
	const struct place *place = &mk->places[node];
	/* The root is mounted before anybody reads an fstab. */
	if (place->visible && strcmp(place->target, "/") == 0)
		return LINE;
	return place->state == OWN && place->boot ? LINE : (enum state)place->state;
}

/**
 * Look whether there is the mount that a file or directory lies in.
 *
 * @i     The node that needs it, which may cover it: an overlay of what it is
 *        mounted on.  MT_NONE: none.
 * @path  From ROOT.
 * @what  "its image", for the reason.
 * @node [out]  The mount.
 * @return LINE, WAITING, or REFUSED with *why.
 */
static enum state needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                             uint32_t *node, const char **why)
{
	*node = holder(mk, path);
	if (*node == i && i != MT_NONE) {
		*node = mk->tree->nodes[i].parent;
		if (*node != MT_NONE && mk->places[*node].state == ELSEWHERE)
			*node = MT_NONE;
		if (strcmp(mk->places[i].target, "/") == 0 || (*node != MT_NONE && !mk->places[*node].visible)) {
			*why = fstab_format(&mk->draft, "%s %s is covered by itself", what, path);
			return REFUSED;
		}
	}
	enum state state = available(mk, *node);
	if (state == LINE && *node != MT_NONE && is_volatile(mk, *node)) {
		*why = fstab_format(&mk->draft, "%s %s lies in memory, and will be gone", what, path);
		return REFUSED;
	}
	if (state == REFUSED || state == OWN) {
		*why = fstab_format(&mk->draft, "%s %s lies on %s, which has no line", what, path,
		                    mk->places[*node].target);
		return REFUSED;
	}
	return state;
}

/** The same of the mount that a node stands on. */
static enum state needs_parent(struct maker *mk, uint32_t i, const char **why)
{
	const struct mt_node *nodes = mk->tree->nodes;
	uint32_t parent = nodes[i].parent;
	/* What it is stacked on is hidden, and told of. */
	while (parent != MT_NONE && mk->places[parent].target && !mk->places[parent].visible
	       && strcmp(mk->places[parent].target, mk->places[i].target) == 0)
		parent = nodes[parent].parent;
	if (parent == MT_NONE || mk->places[parent].state == ELSEWHERE || mk->places[i].automount)
		return LINE;
	enum state state = available(mk, parent);
	if (state == LINE || state == WAITING)
		return state;
	const struct place *above = &mk->places[parent];
	*why = fstab_format(&mk->draft, "it stands on %s, which %s", above->target ? above->target : "?",
	                    state == OWN ? "the system mounts by itself, and perhaps not" : "has no line");
	return state;
}

/** A bind in the making: the best that is known so far. */
struct bind {
	uint32_t in;             /* the mount that its source lies in */
	const char *source;
	const char *why;
	bool waiting;            /* for another that may show its source */
};

/** Try a mount for the source of a bind.  @return whether that is it. */
static bool try_bind(struct maker *mk, uint32_t i, uint32_t candidate, size_t prefix, struct bind *bind)
{
	const struct mount *m = mount_of(mk, i);
	const char *root = root_of(m), *rest = root + prefix, *target = mk->places[i].target;
	enum state state = available(mk, candidate);
	if (state != LINE) {
		bind->waiting |= state == WAITING;
		return false;
	}
	const char *source = join(mk, mk->places[candidate].target, rest);
	if (!source)
		return false;
	uint32_t found = holder(mk, source);
	bool onto_itself = found == i && strcmp(source, target) == 0
	                   && mk->tree->nodes[i].parent == candidate;
	if (found != candidate && !onto_itself) {
		if (!bind->why)
			bind->why = fstab_format(&mk->draft, "its source %s is covered by the mount on %s", source,
			                         mk->places[found].target);
		return false;
	}
	if (rest[strspn(rest, "/")] && is_volatile(mk, candidate)) {
		if (!bind->why)
			bind->why = fstab_format(&mk->draft, "its source %s lies in memory, and will be gone", source);
		return false;
	}
	bind->in = candidate;
	bind->source = source;
	return true;
}

/** Find where the source of a bind is seen: in a mount of the same file system, of
    its root or of a directory above; the higher ones first, since those are mounts
    of it rather than binds. */
static void find_bind(struct maker *mk, uint32_t i, struct bind *bind)
{
	const struct mount *m = mount_of(mk, i);
	const char *root = root_of(m);
	*bind = (struct bind){.in = MT_NONE};
	for (size_t n = *root != '\0';; n += strcspn(root + n, "/")) {
		uint32_t node = map64_get(&mk->by_root, root_hash(m, root, n));
		for (unsigned tries = 0; node != MAP64_NONE && tries < CANDIDATES_MAX; ++tries) {
			const struct mount *other = mount_of(mk, node);
			const char *shown = root_of(other);
			bool fits = node != i && mount_dev(other) == mount_dev(m) && strncmp(shown, root, n) == 0
			            && !shown[n];
			if (fits && try_bind(mk, i, node, n, bind))
				return;
			node = mk->places[node].root.next;
		}
		if (!root[n])
			return;
		n += root[n] == '/';
	}
}

/** Whether a container engine binds a file of this name into every container. */
static bool is_injected(const struct maker *mk, uint32_t i)
{
	static const char *const names[] = {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf", NULL};
	const char *target = mk->places[i].target;
	for (size_t k = 0; names[k]; ++k) {
		if (strcmp(target, names[k]) == 0)
			return true;
	}
	return false;
}

/* Lines. */

/** Add a line to the plan. */
static struct fstab_line *add_line(struct maker *mk, enum fstab_fate fate, const struct fstab_line *line)
{
	struct fstab_line *to = &mk->plan->lines[mk->plan->count++];
	*to = *line;
	to->fate = fate;
	++mk->plan->of[fate];
	return to;
}

/** Types that come over a network, of which systemd does not know it. */
static bool wants_netdev(const struct mount *m)
{
	static const char *const types[] = {
		"acfs", "coda", "fuse.ceph", "fuse.ceph-fuse", "fuse.cephfs", "fuse.curlftpfs", "fuse.gcsfuse",
		"fuse.juicefs", "fuse.mfs", "fuse.moosefs", "fuse.rclone", "fuse.s3fs", "fuse.seaweedfs",
		"fuse.sshfs", "gpfs", "orangefs", NULL,
	};
	for (size_t i = 0; types[i]; ++i) {
		if (strcmp(type_of(m), types[i]) == 0)
			return true;
	}
	return strcmp(type_of(m), "9p") == 0 && fstab_has_option(m->fs_opts, "trans=tcp");
}

/** Append an option to a list of them. */
static void add_more(struct strbuf *more, const char *option)
{
	strbuf_printf(more, "%s%s", more->len ? "," : "", option);
}

/** Append of the options that mount(8) kept those that are for others. */
static void add_kept(struct maker *mk, const char *name, struct strbuf *more)
{
	const struct fstab_world *world = &mk->in->world;
	const char *kept = world->kept ? world->kept(world->arg, name) : NULL;
	while (kept && *kept) {
		size_t n = strcspn(kept, ",");
		bool takes = (n > 2 && memcmp(kept, "x-", 2) == 0) || (n == 7 && memcmp(kept, "_netdev", 7) == 0);
		if (takes && n < 1024) {
			char option[1024];
			memcpy(option, kept, n);
			option[n] = '\0';
			if (!fstab_has_option(strbuf_str(more), option))
				add_more(more, option);
		}
		kept += n + (kept[n] == ',');
	}
}

/** The pass of fsck: of what has a helper in ROOT that does something. */
static int pass_of(const struct maker *mk, const char *fstype, const char *target)
{
	const struct fstab_world *world = &mk->in->world;
	if (!(fstype_flags(fstype) & FST_FSCK) || (world->fsck && world->fsck(world->arg, fstype) == 0))
		return 0;
	return strcmp(target, "/") == 0 ? 1 : 2;
}

/** Layers of an overlay, each of which must be there. */
struct layers {
	struct maker *mk;
	uint32_t i;
	enum state state;
	const char *why;
	struct strbuf *more;     /* gets what systemd must wait for */
};

static bool each_layer(void *arg, const struct fstab_layer *layer)
{
	struct layers *layers = arg;
	struct maker *mk = layers->mk;
	fstab_layer_path(layer, &mk->path);
	const char *path = below_root(mk->in, strbuf_str(&mk->path));
	if (!path)
		return true;   /* the options tell of it */
	uint32_t node;
	enum state state = needs_path(mk, layers->i, path, "its layer", &node, &layers->why);
	if (state != LINE) {
		layers->state = state;
		return state == WAITING;
	}
	if (node != MT_NONE && mk->places[node].state == LINE
	    && strcmp(mk->places[node].target, "/") != 0 && !strpbrk(mk->places[node].target, " ,\"\\")) {
		const char *option = fstab_format(&mk->draft, "x-systemd.requires-mounts-for=%s",
		                                  mk->places[node].target);
		if (option && !fstab_has_option(strbuf_str(layers->more), option))
			add_more(layers->more, option);
	}
	return true;
}

/** What a loop device becomes: the file that it shows, as somebody would mount it;
    where that lies outside of ROOT, a disk. */
static enum state name_image(struct maker *mk, uint32_t i, const struct fstab_device *device,
                             struct fstab_line *line, const char **first)
{
	const struct devmap_loop *loop = &device->loop;
	const char *path = loop->file ? below_root(mk->in, loop->file) : NULL;
	*first = NULL;
	if (!path)
		return LINE;
	if (loop->partition) {
		line->warning = fstab_format(&mk->draft, "it is a partition of the image %s, which must be attached "
		                             "before: losetup -P", path);
		return LINE;
	}
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), tail = sizeof(deleted) - 1;
	if (n > tail && strcmp(path + n - tail, deleted) == 0) {
		line->why = "the image that it shows was removed";
		return REFUSED;
	}
	uint32_t node;
	enum state state = needs_path(mk, i, path, "its image", &node, &line->why);
	if (state != LINE)
		return state;
	line->source = path;
	line->note = device->tags && device->tags->uuid
	             ? fstab_format(&mk->draft, "UUID=%s", device->tags->uuid) : NULL;
	*first = "loop";
	if (loop->offset && loop->limit)
		*first = fstab_format(&mk->draft, "loop,offset=%llu,sizelimit=%llu",
		                      (unsigned long long)loop->offset, (unsigned long long)loop->limit);
	else if (loop->offset)
		*first = fstab_format(&mk->draft, "loop,offset=%llu", (unsigned long long)loop->offset);
	else if (loop->limit)
		*first = fstab_format(&mk->draft, "loop,sizelimit=%llu", (unsigned long long)loop->limit);
	return LINE;
}

/** Whether the source of a mount is a device. */
static bool on_device(const struct mount *m)
{
	return m->dev_major != 0 || fstype_flags(m->fstype) & FST_SUBVOL || strcmp(type_of(m), "fuseblk") == 0;
}

/** The line of a mount of its file system.  @return LINE, WAITING or REFUSED. */
static enum state make_mount(struct maker *mk, uint32_t i, struct fstab_line *line)
{
	const struct mount *m = mount_of(mk, i);
	const struct fstab_input *in = mk->in;
	struct fstab_device device = {0};
	const char *first = NULL;
	struct strbuf more;
	strbuf_init(&more);
	enum state state = LINE;

	struct layers layers = {.mk = mk, .i = i, .state = LINE, .more = &more};
	if (strcmp(type_of(m), "overlay") == 0) {
		fstab_each_layer(m->fs_opts, &mk->scratch, each_layer, &layers);
		line->why = layers.why;
		state = layers.state;
		if (state != LINE)
			goto out;
	}
	line->fstype = m->fstype ? m->fstype : "auto";
	line->source = m->source && *m->source ? m->source : "none";
	if (on_device(m)) {
		line->source = NULL;
		if (in->world.device && in->world.device(in->world.arg, m, &device) != 0) {
			mk->draft.failed = true;
			goto out;
		}
		state = name_image(mk, i, &device, line, &first);
		if (state == LINE && !line->source && !fstab_name_device(&mk->draft, &device, m->source, line))
			state = REFUSED;
		if (state != LINE)
			goto out;
		if (strcmp(line->fstype, "fuseblk") == 0) {
			line->fstype = device.tags ? device.tags->type : NULL;
			if (!line->fstype) {
				line->why = "the type of what is on the device is not known";
				state = REFUSED;
				goto out;
			}
		}
		if (!first)
			line->passno = pass_of(mk, line->fstype, mk->places[i].target);
	}
	if (device.remote || wants_netdev(m))
		add_more(&more, "_netdev");
	if ((in->nofail && !fstab_is_system(mk->places[i].target)) || (device.loop.partition && line->warning))
		add_more(&more, "nofail");
	if (mk->places[i].automount)
		add_more(&more, "x-systemd.automount");
	add_kept(mk, in->d->targets[i], &more);
	struct fstab_choice choice = {.mount = m, .first = first, .more = more.len ? strbuf_str(&more) : NULL};
	if (!fstab_choose_options(&mk->draft, &choice, line))
		state = REFUSED;
out:
	mk->draft.failed |= more.failed;
	strbuf_destroy(&more);
	return state;
}

/** The line of a bind. */
static enum state make_bind(struct maker *mk, uint32_t i, bool last, struct fstab_line *line)
{
	const struct mount *m = mount_of(mk, i);
	const struct fstab_input *in = mk->in;
	struct bind bind;
	find_bind(mk, i, &bind);
	if (!bind.source) {
		if (bind.waiting && !last)
			return WAITING;
		line->why = bind.why ? bind.why : bind.waiting ? "its source is seen only in mounts that have no line"
		            : fstab_format(&mk->draft, "its source, %s of %s, is seen nowhere %s", root_of(m),
		                           m->source ? m->source : "none",
		                           strcmp(in->root, "/") == 0 ? "else" : "below ROOT");
		if (is_injected(mk, i)) {
			line->why = "of a container";
			return OWN;
		}
		return REFUSED;
	}
	line->source = bind.source;
	line->fstype = "none";
	struct strbuf more;
	strbuf_init(&more);
	if (in->nofail && !fstab_is_system(mk->places[i].target))
		add_more(&more, "nofail");
	if (mk->places[i].automount)
		add_more(&more, "x-systemd.automount");
	add_kept(mk, in->d->targets[i], &more);
	struct fstab_choice choice = {.mount = m, .bound = mount_of(mk, bind.in), .bind = true,
	                              .more = more.len ? strbuf_str(&more) : NULL};
	enum state state = fstab_choose_options(&mk->draft, &choice, line) ? LINE : REFUSED;
	mk->draft.failed |= more.failed;
	strbuf_destroy(&more);
	return state;
}

/** Put down what was decided. */
static void settle(struct maker *mk, uint32_t i, enum state state, const struct fstab_line *line)
{
	mk->places[i].state = (uint8_t)state;
	mk->places[i].why = line->why;
	if (state == LINE)
		add_line(mk, FSTAB_LINE, line);
}

/**
 * Decide on a node, if all that it needs is decided.
 *
 * @last  Whether what waits still waits for each other.
 */
static void decide(struct maker *mk, uint32_t i, bool last)
{
	struct place *place = &mk->places[i];
	struct fstab_line line = {.mount = mount_of(mk, i), .target = place->target};
	enum state state = needs_parent(mk, i, &line.why);
	if (state == LINE)
		state = place->bind ? make_bind(mk, i, last, &line) : make_mount(mk, i, &line);
	if (state == WAITING && last) {
		line.why = "it needs others that need it";
		state = REFUSED;
	}
	if (state != WAITING)
		settle(mk, i, state, &line);
}

static void decide_all(struct maker *mk)
{
	const struct mtree *tree = mk->tree;
	bool again = true;
	for (unsigned pass = 0; again && !mk->draft.failed; ++pass) {
		size_t waiting = 0, decided = 0;
		bool last = pass >= PASSES_MAX;
		for (uint32_t at = 0; at < tree->count && !mk->draft.failed; ++at) {
			uint32_t i = tree->order[at];
			if (mk->places[i].state != WAITING)
				continue;
			decide(mk, i, last);
			decided += mk->places[i].state != WAITING;
			waiting += mk->places[i].state == WAITING;
		}
		/* What is left goes round in circles: a last time, without waiting. */
		if (waiting && !decided)
			pass = PASSES_MAX;
		again = waiting > 0;
	}
}

/** Put comments behind the lines, and then what is left out, in the tree's order. */
static void add_others(struct maker *mk)
{
	for (int own = 0; own < 2; ++own) {
		for (uint32_t at = 0; at < mk->tree->count; ++at) {
			uint32_t i = mk->tree->order[at];
			const struct place *place = &mk->places[i];
			if (place->state != (own ? OWN : REFUSED))
				continue;
			struct fstab_line line = {
				.mount = mount_of(mk, i), .why = place->why,
				.target = place->target ? place->target : mk->in->d->targets[i],
			};
			add_line(mk, own ? FSTAB_OWN : FSTAB_COMMENT, &line);
		}
	}
}

/* Swap. */

static void add_swap(struct maker *mk, const struct fstab_swap *swap)
{
	const struct fstab_input *in = mk->in;
	struct fstab_line line = {.target = "none", .fstype = "swap", .source = swap->name};
	enum fstab_fate fate = FSTAB_LINE;
	struct fstab_device device = {0};
	uint32_t node;
	if (in->filter && strncmp(swap->name, in->filter, strlen(in->filter)) != 0) {
		line.why = "not asked for: -f";
		fate = FSTAB_OWN;
	} else if (strncmp(swap->name, "/dev/zram", 9) == 0) {
		line.why = "zram is set up at boot, and has another UUID then";
		fate = FSTAB_OWN;
	} else if (swap->deleted) {
		line.why = "its file was removed, or cannot be reached";
		fate = FSTAB_COMMENT;
	} else if (swap->file) {
		line.source = below_root(in, swap->name);
		if (!line.source) {
			line.source = swap->name;
			line.why = "its file lies outside ROOT";
			fate = FSTAB_OWN;
		} else if (needs_path(mk, MT_NONE, line.source, "its file", &node, &line.why) != LINE) {
			fate = FSTAB_COMMENT;
		}
	} else if (in->world.swap && in->world.swap(in->world.arg, swap->name, &device) != 0) {
		mk->draft.failed = true;
		return;
	} else if (!fstab_name_device(&mk->draft, &device, swap->name, &line)) {
		line.source = swap->name;
		fate = FSTAB_COMMENT;
	}
	line.options = device.remote ? "defaults,_netdev" : "defaults";
	if (swap->priority >= 0)
		line.options = fstab_format(&mk->draft, "%s,pri=%d", line.options, swap->priority);
	add_line(mk, fate, &line);
}

int fstab_plan(const struct fstab_input *in, struct fstab_plan *plan)
{
	const struct mtree *tree = &in->d->tree;
	*plan = (struct fstab_plan){0};
	arena_init(&plan->arena);
	struct maker mk = {
		.draft = {.in = in, .arena = &plan->arena}, .in = in, .plan = plan, .tree = tree,
		.places = calloc(tree->count + 1, sizeof(struct place)),
	};
	plan->lines = calloc(tree->count + in->nswaps + 1, sizeof(*plan->lines));
	map64_init(&mk.by_name);
	map64_init(&mk.by_root);
	map64_init(&mk.primary);
	strbuf_init(&mk.draft.text);
	strbuf_init(&mk.path);
	strbuf_init(&mk.scratch);
	bool good = mk.places && plan->lines;
	if (good) {
		for (uint32_t at = 0; at < tree->count; ++at)
			classify(&mk, tree->order[at]);
		good = make_indexes(&mk);
	}
	if (good) {
		for (uint32_t at = 0; at < tree->count; ++at)
			consider(&mk, tree->order[at]);
		decide_all(&mk);
		for (size_t i = 0; i < in->nswaps && !mk.draft.failed; ++i)
			add_swap(&mk, &in->swaps[i]);
		add_others(&mk);
	}
	good = good && !mk.draft.failed && !mk.draft.text.failed && !mk.path.failed && !mk.scratch.failed;
	strbuf_destroy(&mk.draft.text);
	strbuf_destroy(&mk.path);
	strbuf_destroy(&mk.scratch);
	map64_destroy(&mk.by_name);
	map64_destroy(&mk.by_root);
	map64_destroy(&mk.primary);
	free(mk.places);
	if (!good)
		errno = ENOMEM;
	return good ? 0 : -1;
}

void fstab_plan_destroy(struct fstab_plan *plan)
{
	free(plan->lines);
	plan->lines = NULL;
	arena_destroy(&plan->arena);
}
