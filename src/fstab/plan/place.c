/* SPDX-License-Identifier: MIT */
/*
 * The places of the mounts.
 *
 * Indexes make this linear: the visible mounts by name, to find the mount that
 * holds a path and see whether another covers it on the way; the hidden ones by
 * name, which may hold what has that name still; and by device and root, to find
 * where the source of a bind is seen.
 */
#include "fstab/plan/place.h"

#include "base/fstypes.h"

#include <string.h>

/** Places of one part of a file system that are tried for the source of a bind. */
enum { CANDIDATES_MAX = 32 };

const struct mount *place_mount(const struct maker *mk, uint32_t node)
{
	return mk->tree->nodes[node].mount;
}

const char *place_type(const struct mount *mount)
{
	return mount->fstype ? mount->fstype : "";
}

const char *place_root(const struct mount *mount)
{
	return mount->root ? mount->root : "/";
}

const char *place_below(const struct fstab_input *in, const char *name)
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

/** The mount of a name of n bytes, of this hash, in an index of names. */
static uint32_t find_name(const struct maker *mk, const struct map64 *map, uint64_t hash,
                          const char *name,
                          size_t n)
{
	uint32_t node = map64_get(map, hash);
	for (; node != MAP64_NONE; node = mk->places[node].name.next) {
		const char *target = mk->places[node].target;
		if (strncmp(target, name, n) == 0 && !target[n])
			return node;
	}
	return MT_NONE;
}

/** The lowest mount of an index whose name a path from ROOT is at or below. */
static uint32_t lowest_above(const struct maker *mk, const struct map64 *map, const char *path)
{
	uint64_t hash = map64_bytes(MAP64_BYTES, "/", 1);
	uint32_t best = find_name(mk, map, hash, "/", 1);
	hash = MAP64_BYTES;
	for (size_t at = 0; path[at];) {
		size_t n = 1 + strcspn(path + at + 1, "/");
		hash = map64_bytes(hash, path + at, n);
		at += n;
		uint32_t found = at > 1 ? find_name(mk, map, hash, path, at) : MT_NONE;
		if (found != MT_NONE)
			best = found;
	}
	return best;
}

/** The visible mount that holds a path from ROOT; MT_NONE: only ROOT does. */
static uint32_t place_holder(const struct maker *mk, const char *path)
{
	return lowest_above(mk, &mk->by_name, path);
}

/** What the hash of a part of a file system begins with: the bytes of its root follow. */
static uint64_t device_hash(const struct mount *mount)
{
	uint64_t device = mount_dev(mount);
	return map64_bytes(MAP64_BYTES, (const char *)&device, sizeof(device));
}

/** The link of a node in an index: it is in one of names, and in that of roots. */
static struct link *link_of(struct maker *mk, const struct map64 *map, uint32_t node)
{
	return map == &mk->by_root ? &mk->places[node].root : &mk->places[node].name;
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
	return opt_shown_has(mount->vfs_opts, "ro") && !opt_shown_has(mount->fs_opts, "ro");
}

/* What a mount is. */

/** The hash of a device and the source of its mounts. */
static uint64_t source_hash(const struct mount *mount)
{
	return map64_bytes(device_hash(mount), mount->source, strlen(mount->source));
}

/** Whether the source of a mount is known to be that of the top of its device. */
static bool is_top_source(const struct maker *mk, const struct mount *m)
{
	uint32_t i = map64_get(&mk->tops, source_hash(m));
	const struct mount *top = i != MAP64_NONE ? place_mount(mk, i) : NULL;
	return top && mount_dev(top) == mount_dev(m) && strcmp(top->source, m->source) == 0;
}

/**
 * Whether a mount shows of a share the directory that its source names behind it:
 * //server/share/dir.
 *
 * Only SMB shows what it was asked for as the root.  A bind of a directory shows
 * the source of the mount that it is of, and can look the same: if that is there.
 */
static bool shows_source(const struct maker *mk, const struct mount *m)
{
	const char *fstype = place_type(m), *rest = m->source;
	if ((strcmp(fstype, "cifs") != 0 && strcmp(fstype, "smb3") != 0) || !rest
	    || strncmp(rest, "//", 2) != 0)
		return false;
	rest += 2 + strcspn(rest + 2, "/");
	if (*rest)
		rest += 1 + strcspn(rest + 1, "/");
	return strcmp(rest, place_root(m)) == 0 && !is_top_source(mk, m);
}

/** Whether a mount is a file system or subvolume by itself, by its source alone. */
static bool stands_alone(struct maker *mk, const struct mount *m)
{
	const char *root = place_root(m), *fstype = place_type(m);
	if (strcmp(fstype, "btrfs") == 0) {
		/* A directory of a subvolume is not a subvolume (g10). */
		bool told = opt_shown_value(m->fs_opts, "subvol", &mk->scratch);
		return !told || strcmp(strbuf_str(&mk->scratch), root) == 0;
	}
	if (fstype_flags(fstype) & FST_NET && !(fstype_flags(fstype) & FST_DEVICE))
		return strcmp(root, "/") == 0 || shows_source(mk, m);
	return strcmp(root, "/") == 0;
}

/** Index the mounts of tops of network file systems, wherever they are.
    @return false: ENOMEM. */
static bool index_tops(struct maker *mk)
{
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		const struct mount *m = place_mount(mk, i);
		if (m && m->source && fstype_flags(m->fstype) & FST_NET
		    && strcmp(place_root(m), "/") == 0
		    && map64_put(&mk->tops, source_hash(m), i) == MAP64_NONE)
			return false;
	}
	return true;
}

/** Whether a hidden mount can hold what was named below it: not an automounter's
    trigger, nor what the kernel starts from. */
static bool holds_files(const struct mount *m)
{
	return !(fstype_flags(m->fstype) & FST_AUTOFS) && strcmp(place_type(m), "rootfs") != 0;
}

bool place_index(struct maker *mk)
{
	const struct mtree *tree = mk->tree;
	if (!index_tops(mk))
		return false;
	for (uint32_t at = 0; at < tree->count; ++at) {
		uint32_t i = tree->order[at];
		struct place *place = &mk->places[i];
		const struct mount *m = place_mount(mk, i);
		if (!place->target)
			continue;
		const char *root = place_root(m);
		uint64_t name = map64_text(place->target);
		if (!place->visible) {
			if (holds_files(m) && !add_index(mk, &mk->by_hidden, name, i))
				return false;
			continue;
		}
		if (!add_index(mk, &mk->by_name, name, i)
		    || !add_index(mk, &mk->by_root, map64_bytes(device_hash(m), root,
		        strlen(root)), i))
			return false;
		if (!stands_alone(mk, m))
			continue;
		/* The mount of a device: one that can be written to, if there is any. */
		uint32_t first = map64_put(&mk->primary, mount_dev(m), i);
		if (first == MAP64_NONE)
			return false;
		if (first != i && is_ro_view(place_mount(mk, first)) && !is_ro_view(m)) {
			map64_remove(&mk->primary, mount_dev(m));
			map64_put(&mk->primary, mount_dev(m), i);   /* there is room */
		}
	}
	return true;
}

/** Whether a node shows what another mount does already, or a part of it. */
static bool is_bind(struct maker *mk, uint32_t node)
{
	const struct mount *m = place_mount(mk, node);
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
	return m->dev_major == 0 || is_ro_view(m) != is_ro_view(place_mount(mk, first));
}

/** Whether systemd has mounted this when it was entered, and nobody can say by what. */
static bool by_unknown_unit(struct maker *mk, uint32_t node)
{
	uint32_t parent = mk->tree->nodes[node].parent;
	const struct mount *on = parent == MT_NONE ? NULL : place_mount(mk, parent);
	return on && !mk->in->world.unit && fstype_flags(on->fstype) & FST_AUTOFS && on->source
	       && strcmp(on->source, "systemd-1") == 0;
}

/** Why the system has mounted this by automounting; NULL if it has not. */
static const char *by_automount(struct maker *mk, uint32_t node, bool *fstab)
{
	const struct mount *m = place_mount(mk, node);
	uint32_t parent = mk->tree->nodes[node].parent;
	if (parent == MT_NONE)
		return NULL;
	const struct mount *on = place_mount(mk, parent);
	const struct fstab_world *world = &mk->in->world;
	if (fstype_flags(on->fstype) & FST_AUTOFS) {
		const char *target = mk->places[node].target;
		bool unit = on->source && strcmp(on->source, "systemd-1") == 0;
		*fstab = unit && world->unit && world->unit(world->arg, target) == FSTAB_AUTOMOUNT;
		return *fstab ? NULL : "mounted by an automounter";
	}
	/* NFS mounts what a server exports below by itself: server:/a/b on x/b. */
	const char *name = mk->places[node].target, *above = mk->places[parent].target;
	if (strcmp(place_type(m), "nfs4") == 0 && strcmp(place_type(on), "nfs4") == 0 && above
	    && m->source && on->source && mtree_path_within(name, above)) {
		const char *rest = name + (strcmp(above, "/") == 0 ? 0 : strlen(above));
		size_t n = strlen(on->source);
		n -= n && on->source[n - 1] == '/';
		if (*rest && strncmp(m->source, on->source, n) == 0 && strcmp(m->source + n,
		        rest) == 0)
			return "NFS mounts it on access";
	}
	return NULL;
}

const char *place_unit(const struct fstab_world *world, const char *target)
{
	enum fstab_unit unit = world->unit ? world->unit(world->arg, target) : FSTAB_NO_UNIT;
	return unit == FSTAB_GPT_UNIT ? "gpt-auto" : unit == FSTAB_OWN_UNIT ? "unit" : NULL;
}

/** Why the kernel alone can say how this was mounted; NULL if a line can. */
static const char *unspeakable(struct maker *mk, const struct mount *m)
{
	const struct fstab_world *world = &mk->in->world;
	const char *fstype = place_type(m);
	/* ceph shows a placeholder for a secret. */
	bool ceph = strcmp(fstype, "ceph") == 0;
	if (world->secret && world->secret(m->source, ceph ? NULL : m->fs_opts))
		return "it was mounted with a secret, which does not belong in an fstab";
	if (opt_shown_has(m->vfs_opts, "idmapped"))
		return "only the kernel knows its ID mapping";
	if (strcmp(fstype, "fuse") == 0)
		return "the program that serves it is not known";
	if ((strcmp(fstype, "cifs") == 0 || strcmp(fstype, "smb3") == 0)
	    && opt_shown_value(m->fs_opts, "username", &mk->scratch) && mk->scratch.len
	    && !(opt_shown_value(m->fs_opts, "sec", &mk->scratch)
	         && (strncmp(strbuf_str(&mk->scratch), "krb5", 4) == 0
	             || strcmp(strbuf_str(&mk->scratch), "none") == 0)))
		return "only the kernel knows its password; write a line with credentials=FILE";
	return NULL;
}

/** Learn whether the root is of layers. */
static const struct mount *layered_root(struct maker *mk)
{
	for (uint32_t i = 0; i < mk->tree->count && !mk->looked; ++i) {
		const struct mt_node *node = &mk->tree->nodes[i];
		const char *name = mk->in->d->targets[i];
		const char *target = !node->gone && !node->made && name ? place_below(mk->in,
		        name) : NULL;
		if (target && strcmp(target, "/") == 0 && !(node->states & 1u << MT_HIDDEN)
		    && strcmp(place_type(node->mount), "overlay") == 0)
			mk->layers = node->mount;
	}
	mk->looked = true;
	return mk->layers;
}

/** Whether a directory is a layer of the root, or holds one at most "most" levels below. */
static bool is_layer_of(struct maker *mk, const struct mount *root, const char *dir, unsigned most)
{
	static const char *const names[] = {"lowerdir", "upperdir", NULL};
	size_t n = strlen(dir);
	for (const char *const *name = names; *name; ++name) {
		if (!root->fs_opts || !opt_shown_value(root->fs_opts, *name, &mk->scratch))
			continue;
		for (const char *at = strbuf_str(&mk->scratch); *at; at += *at == ':') {
			size_t len = strcspn(at, ":"), below = 0;
			for (size_t k = n; k < len; ++k)
				below += at[k] == '/' && k + 1 < len && at[k + 1] != '/';
			if (len >= n && strncmp(at, dir, n) == 0 && (len == n || at[n] == '/')
			    && below <= most)
				return true;
			at += len;
		}
	}
	return false;
}

/** Whether the initial RAM disk of a live system, or of one that keeps nothing, has mounted this:
    layers of the root, and the medium that they are on. */
static bool is_of_live(struct maker *mk, const struct mount *m, const char *target)
{
	const struct mount *root = strcmp(target, "/") != 0 ? layered_root(mk) : NULL;
	if (!root)
		return false;
	bool device = fstype_flags(place_type(m)) & FST_DEVICE,
	     memory = strcmp(place_type(m), "tmpfs") == 0;
	if ((device || memory) && is_layer_of(mk, root, target, 1))
		return true;
	if (mtree_path_within(target, "/run/live") && is_layer_of(mk, root, "/run/live", 9))
		return device || memory;
	bool casper = is_layer_of(mk, root, "/cow", 1);
	return casper && device && (strcmp(target, "/cdrom") == 0 || strcmp(target, "/rofs") == 0);
}

static void refuse(struct place *place, const char *why)
{
	place->state = REFUSED;
	place->why = why;
}

/** Leave a node out. */
static void leave_out(struct place *place, const char *owner, const char *why, bool boot)
{
	place->state = OWN;
	place->boot = boot;
	place->why = why;
	place->owner = owner;
}

void place_classify(struct maker *mk, uint32_t i)
{
	const struct fstab_input *in = mk->in;
	const struct mt_node *node = &mk->tree->nodes[i];
	const struct mount *m = node->mount;
	struct place *place = &mk->places[i];
	const char *name = in->d->targets[i], *why, *owner;
	place->state = ELSEWHERE;
	if (node->gone || node->made || node->states & 1u << MT_OUTSIDE)
		return;
	if (!name) {
		/* It may be anywhere. */
		if (strcmp(in->root, "/") == 0)
			refuse(place, "its path is not known");
		return;
	}
	place->target = place_below(in, name);
	if (!place->target)
		return;
	place->visible = !(node->states & (1u << MT_HIDDEN | 1u << MT_LOST | 1u << MT_UNSEARCHED));
	if (in->filter && strncmp(name, in->filter, strlen(in->filter)) != 0) {
		leave_out(place, NULL, "excluded by -f", true);
		return;
	}
	struct fstab_own own;
	const char *kept = in->world.kept ? in->world.kept(in->world.arg, name, m) : NULL;
	strbuf_reset(&mk->scratch);
	bool user = fstab_user(m, place->target, kept, &mk->scratch);
	if (user)
		place->owner = fstab_format(&mk->draft, "user:%s", strbuf_str(&mk->scratch));
	if (fstab_own(m, place->target, fstab_upon_itself(in->d, i), in->all, user, &own)) {
		leave_out(place, own.owner, own.why, own.boot);
	} else if (is_of_live(mk, m, place->target)) {
		leave_out(place, "initrd", "part of the root, or its source", true);
	} else if (in->pseudo && in->pseudo(place_type(m)) && strcmp(place->target, "/") != 0) {
		leave_out(place, "api", "a pseudo file system: -P", true);
	} else if (opt_shown_has(kept, "uhelper=udisks2")) {
		leave_out(place, "udisks", "of udisks", false);
	} else if (!user && by_unknown_unit(mk, i)) {
		refuse(place, "systemd mounts it on access, by an fstab line or by a unit of its "
		              "own: which one is "
		              "not known here");
	} else if (!user && (why = by_automount(mk, i, &place->automount)) != NULL) {
		leave_out(place, "automount", why, false);
	} else if (!user && (owner = place_unit(&in->world, place->target)) != NULL) {
		leave_out(place, owner, "mounted by its own unit", true);
	} else if (node->states & 1u << MT_HIDDEN) {
		const char *by = node->covered_by != MT_NONE ? in->d->targets[node->covered_by]
		        : NULL;
		refuse(place, fstab_format(&mk->draft, "hidden: %s is mounted over it",
		                           by ? by : "another"));
	} else if (!place->visible) {
		refuse(place, "it was not found at its path");
	} else if (node->states & 1u << MT_DELETED) {
		refuse(place, "the directory that it shows was removed");
	} else if (fstab_hides_kernels(m, place->target)) {
		refuse(place, "it hides what the kernel shows there");
	} else if ((why = unspeakable(mk, m)) != NULL) {
		refuse(place, why);
	} else {
		place->state = WAITING;
	}
}

void place_consider(struct maker *mk, uint32_t i)
{
	struct place *place = &mk->places[i];
	if (place->state != WAITING)
		return;
	/* Of a stack one is visible; a table that makes no tree can have more. */
	size_t n = strlen(place->target);
	if (find_name(mk, &mk->by_name, map64_bytes(MAP64_BYTES, place->target, n), place->target,
	              n) != i)
		refuse(place, "another mount has the same path");
	else
		place->bind = is_bind(mk, i);
}

/* What a mount needs. */

/** Whether what is below a mount goes with it at a shutdown.  The root's own
    contents are somebody else's care. */
static bool is_volatile(const struct maker *mk, uint32_t node)
{
	const char *fstype = place_type(place_mount(mk, node));
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

enum state place_needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                             uint32_t *node, const char **why)
{
	*node = place_holder(mk, path);
	if (*node == i && i != MT_NONE) {
		*node = mk->tree->nodes[i].parent;
		if (*node != MT_NONE && mk->places[*node].state == ELSEWHERE)
			*node = MT_NONE;
		if (strcmp(mk->places[i].target, "/") == 0
		    || (*node != MT_NONE && !mk->places[*node].visible)) {
			*why = fstab_format(&mk->draft, "%s %s is covered by itself", what, path);
			return REFUSED;
		}
	}
	/* Its name is that of the time when it was opened. */
	uint32_t hidden = lowest_above(mk, &mk->by_hidden, path);
	if (hidden != MT_NONE) {
		*why = fstab_format(&mk->draft,
		                    "%s %s may be that of a mount on %s which is hidden now", what,
		                    path, mk->places[hidden].target);
		return REFUSED;
	}
	enum state state = available(mk, *node);
	if (state == LINE && *node != MT_NONE && is_volatile(mk, *node)) {
		*why = fstab_format(&mk->draft, "%s %s is in memory and does not survive a reboot",
		                    what, path);
		return REFUSED;
	}
	if (state == REFUSED || state == OWN) {
		*why = fstab_format(&mk->draft, "%s %s lies on %s, which has no line", what, path,
		                    mk->places[*node].target);
		return REFUSED;
	}
	return state;
}

/** The mount that the place of a node lies in; MT_NONE: one outside of ROOT. */
static uint32_t parent_of(const struct maker *mk, uint32_t i)
{
	const struct mt_node *nodes = mk->tree->nodes;
	uint32_t parent = nodes[i].parent;
	/* What it is stacked on is hidden, and told of. */
	while (parent != MT_NONE && mk->places[parent].target && !mk->places[parent].visible
	       && strcmp(mk->places[parent].target, mk->places[i].target) == 0)
		parent = nodes[parent].parent;
	return parent == MT_NONE || mk->places[parent].state == ELSEWHERE ? MT_NONE : parent;
}

/** Whether a mount stands on a directory, as far as that is known. */
static bool is_on_directory(const struct maker *mk, uint32_t i)
{
	enum discover_kind kind = (enum discover_kind)mk->in->d->kinds[i];
	if (kind == DK_UNKNOWN)
		return !mk->places[i].bind || strcmp(place_root(place_mount(mk, i)), "/") == 0
		       || mk->tree->nodes[i].first != MT_NONE;
	return kind == DK_DIR;
}

bool place_wants_mkdir(const struct maker *mk, uint32_t i)
{
	uint32_t parent = parent_of(mk, i);
	return parent != MT_NONE && mk->places[parent].target && is_volatile(mk, parent);
}

enum state place_needs_parent(struct maker *mk, uint32_t i, const char **why)
{
	uint32_t parent = parent_of(mk, i);
	if (place_wants_mkdir(mk, i) && !is_on_directory(mk, i)) {
		*why = mk->in->d->kinds[i] == DK_UNKNOWN
		               ? "its mount point is in memory and does not survive a reboot; "
		                 "whether it is a directory is not known"
		               : "the file that it is mounted on is in memory and does not survive "
		                 "a reboot";
		return REFUSED;
	}
	if (parent == MT_NONE || mk->places[i].automount)
		return LINE;
	enum state state = available(mk, parent);
	if (state == LINE || state == WAITING)
		return state;
	const struct place *above = &mk->places[parent];
	*why = fstab_format(
	        &mk->draft, "it is mounted on %s, which %s", above->target ? above->target : "?",
	        state == OWN ? "the system mounts by itself, if at all" : "has no line");
	return state;
}

/** Try a mount for the source of a bind.  @return whether that is it. */
static bool try_bind(struct maker *mk, uint32_t i, uint32_t candidate, size_t prefix,
                     struct bind *bind)
{
	const struct mount *m = place_mount(mk, i);
	const char *root = place_root(m), *rest = root + prefix, *target = mk->places[i].target;
	enum state state = available(mk, candidate);
	if (state != LINE) {
		bind->waiting |= state == WAITING;
		return false;
	}
	const char *source = join(mk, mk->places[candidate].target, rest);
	if (!source)
		return false;
	uint32_t found = place_holder(mk, source);
	bool onto_itself = found == i && strcmp(source, target) == 0
	                   && mk->tree->nodes[i].parent == candidate;
	if (found != candidate && !onto_itself) {
		if (!bind->why)
			bind->why = fstab_format(&mk->draft,
			                         "its source %s is covered by the mount on %s",
			                         source, mk->places[found].target);
		return false;
	}
	if (rest[strspn(rest, "/")] && is_volatile(mk, candidate)) {
		if (!bind->why)
			bind->why = fstab_format(
			        &mk->draft,
			        "its source %s is in memory and does not survive a reboot", source);
		return false;
	}
	bind->in = candidate;
	bind->source = source;
	return true;
}

void place_find_bind(struct maker *mk, uint32_t i, struct bind *bind)
{
	const struct mount *m = place_mount(mk, i);
	const char *root = place_root(m);
	*bind = (struct bind){.in = MT_NONE};
	uint64_t hash = device_hash(m);
	size_t hashed = 0;
	for (size_t n = *root != '\0';; n += strcspn(root + n, "/")) {
		hash = map64_bytes(hash, root + hashed, n - hashed);
		hashed = n;
		uint32_t node = map64_get(&mk->by_root, hash);
		for (unsigned tries = 0; node != MAP64_NONE && tries < CANDIDATES_MAX; ++tries) {
			const struct mount *other = place_mount(mk, node);
			const char *shown = place_root(other);
			bool fits = node != i && mount_dev(other) == mount_dev(m)
			        && strncmp(shown, root, n) == 0
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

const char *place_writes_refused(struct maker *mk, uint32_t i)
{
	const struct mount *m = place_mount(mk, i);
	if (opt_shown_has(m->vfs_opts, "ro") || opt_shown_has(m->fs_opts, "ro"))
		return NULL;
	uint32_t whole = map64_get(&mk->primary, mount_dev(m));
	/* What is there at boot has been mounted by others, who know how. */
	if (whole == MAP64_NONE || mk->places[whole].state == OWN || !is_ro_view(place_mount(mk,
	        whole)))
		return NULL;
	return fstab_format(&mk->draft,
	                    "it is writable, but the line of %s makes its file system read-only",
	                    mk->places[whole].target);
}

bool place_injected(const struct maker *mk, uint32_t i)
{
	static const char *const names[] = {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf",
	                                    NULL};
	const char *target = mk->places[i].target;
	for (size_t k = 0; names[k]; ++k) {
		if (strcmp(target, names[k]) == 0)
			return true;
	}
	return false;
}
