/* SPDX-License-Identifier: MIT */
/*
 * Classify each mount: made by the system, not expressible in fstab, a bind, or a mount of a whole
 * file system.
 *
 * Two maps by mount point make this linear.  by_name has the visible mounts, to find the mount that
 * contains a path, and whether another mount covers the path.  by_hidden has the hidden mounts,
 * which may contain the source of a bind that was made before they were hidden.
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "fstab/target.h"
#include "mountopts/fsopts.h"
#include "mountopts/shown.h"

#include <string.h>

/* Classification without regard to other mounts of the file system. */

static bool is_of_systemd(const struct mount *trigger)
{
	return trigger && trigger->source && strcmp(trigger->source, "systemd-1") == 0;
}

/** Whether the NFS client mounted an export by itself, on access, below a mounted export:
    server:/a/b on x/b, where server:/a is mounted on x. */
static bool is_below_nfs(const struct maker *mk, uint32_t node)
{
	uint32_t parent = mk->tree->nodes[node].parent;
	const struct mount *m = plan_mount(mk, node);
	const struct mount *on = parent == MT_NONE ? NULL : plan_mount(mk, parent);
	const char *name = mk->decisions[node].target;
	const char *above = on ? mk->decisions[parent].target : NULL;
	if (!above || strcmp(plan_type(m), "nfs4") != 0 || strcmp(plan_type(on), "nfs4") != 0
	    || !m->source || !on->source || !word_below(name, above))
		return false;
	const char *rest = name + (strcmp(above, "/") == 0 ? 0 : strlen(above));
	size_t n = strlen(on->source);
	n -= n && on->source[n - 1] == '/';
	return *rest && strncmp(m->source, on->source, n) == 0 && strcmp(m->source + n, rest) == 0;
}

const char *plan_unit_owner(const struct fstab_facts *facts, const char *target)
{
	int unit = fstab_answer(facts, FSTAB_UNIT, target);
	return unit == FSTAB_GPT_UNIT ? "gpt-auto" : unit == FSTAB_OWN_UNIT ? "unit" : NULL;
}

/** Why no line can make this mount; NULL: a line can. */
static const char *unspeakable(struct maker *mk, const struct mount *m)
{
	/* The options that the kernel shows for ceph have a placeholder instead of the secret, and
	   an fstab line works without the secret. */
	bool ceph = strcmp(plan_type(m), "ceph") == 0;
	if (source_has_secret(m->source) || (!ceph && has_secret(m->fs_opts)))
		return "it was mounted with a secret, which does not belong in an fstab";
	if (opt_shown_has(m->vfs_opts, "idmapped"))
		return "only the kernel knows its ID mapping";
	if (strcmp(plan_type(m), "fuse") == 0)
		return "the program that serves it is not known";
	const char *port = shown_local_port(m, &mk->scratch);
	if (port)
		return arena_printf(mk->arena, "its server is a program on this host at port %s, "
		                    "such as the end of a tunnel, which does not listen there at "
		                    "the next boot", port);
	if (!fsopt_type_in(m->fstype, "cifs smb3")
	    || !opt_shown_value(m->fs_opts, "username", &mk->scratch) || !mk->scratch.len)
		return NULL;
	bool sec = opt_shown_value(m->fs_opts, "sec", &mk->scratch);
	if (sec && (strncmp(strbuf_str(&mk->scratch), "krb5", 4) == 0
	            || strcmp(strbuf_str(&mk->scratch), "none") == 0))
		return NULL;
	return "only the kernel knows its password; write a line with credentials=FILE";
}

/** Set mk->layers if the mount of "/" is an overlay. */
static void find_root_layers(struct maker *mk)
{
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		const struct mt_node *node = &mk->tree->nodes[i];
		const char *target = !node->gone && !node->made
		                     ? plan_path(mk->in, mk->in->d->targets[i]) : NULL;
		if (target && strcmp(target, "/") == 0 && !(node->states & 1u << MT_HIDDEN)
		    && strcmp(plan_type(node->mount), "overlay") == 0)
			mk->layers = node->mount;
	}
}

/** Set decision.visible of the mounts that are reachable by their paths, and decision.onto_itself
    of the binds of a mount point onto itself that lie over them. */
static void find_stacks(struct maker *mk)
{
	const unsigned not_visible = 1u << MT_HIDDEN | 1u << MT_LOST | 1u << MT_UNSEARCHED
	                             | 1u << MT_OUTSIDE;
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		const struct mt_node *node = &mk->tree->nodes[i];
		if (node->gone || node->made || node->states & not_visible
		    || !plan_path(mk->in, mk->in->d->targets[i]))
			continue;
		uint32_t base = plan_stack_base(mk, i);
		mk->decisions[base].visible = true;
		for (uint32_t at = i; at != base; at = mk->tree->nodes[at].parent)
			mk->decisions[at].onto_itself = true;
	}
}

/** Whether a directory is a layer of the overlay on "/", or contains a layer at most `most` levels
    below. */
static bool is_layer(struct maker *mk, const char *dir, int most)
{
	static const char *const names[] = {"lowerdir", "upperdir"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		if (!opt_shown_value(mk->layers->fs_opts, names[i], &mk->scratch))
			continue;
		char *list = mk->scratch.data, *layer;
		while ((layer = strsep(&list, ":")) != NULL) {
			int depth = fstab_depth_below(layer, dir);
			if (depth >= 0 && depth <= most)
				return true;
		}
	}
	return false;
}

/** Whether the initial RAM disk of a live system, or of a system without persistent storage,
    made this mount: a layer of the root, or the medium that contains the layers. */
static bool is_of_live(struct maker *mk, const struct mount *m, const char *target)
{
	if (!mk->layers || strcmp(target, "/") == 0)
		return false;
	bool device = fstype_flags(plan_type(m)) & FST_DEVICE;
	bool disk = device || strcmp(plan_type(m), "tmpfs") == 0;
	if (disk && is_layer(mk, target, 1))
		return true;
	if (word_below(target, "/run/live") && is_layer(mk, "/run/live", 9))
		return disk;
	return device && (strcmp(target, "/cdrom") == 0 || strcmp(target, "/rofs") == 0)
	       && is_layer(mk, "/cow", 1);
}

static void refuse(struct decision *decision, const char *why)
{
	decision->state = REFUSED;
	decision->why = why;
}

/** Decide that a mount gets neither a line nor a comment. */
static void leave_out(struct decision *decision, const char *owner, const char *why, bool boot)
{
	decision->state = OWN;
	decision->boot = boot;
	decision->why = why;
	decision->owner = owner;
}

/** Classify a mount as OWN, REFUSED, ELSEWHERE or else WAITING, without regard to other mounts of
    its file system. */
static void classify_alone(struct maker *mk, uint32_t i)
{
	const struct fstab_input *in = mk->in;
	const struct mt_node *node = &mk->tree->nodes[i];
	const struct mount *m = node->mount;
	struct decision *decision = &mk->decisions[i];
	const char *name = in->d->targets[i], *why, *owner;
	const struct mount *on = node->parent == MT_NONE ? NULL : plan_mount(mk, node->parent);
	const struct mount *trigger = on && fstype_flags(on->fstype) & FST_AUTOFS ? on : NULL;
	decision->state = ELSEWHERE;
	if (node->gone || node->made || node->states & 1u << MT_OUTSIDE)
		return;
	/* A mount without a known path is below ROOT only if ROOT is "/". */
	if (!name && strcmp(in->root, "/") == 0)
		refuse(decision, "its path is not known");
	decision->target = plan_path(in, name);
	if (!decision->target)
		return;
	if (in->filter && strncmp(name, in->filter, strlen(in->filter)) != 0) {
		leave_out(decision, NULL, "excluded by -f", true);
		return;
	}
	decision->kept = in->facts.utab ? host_utab_options(in->facts.utab, name, m) : NULL;
	strbuf_reset(&mk->scratch);
	bool user = fstab_user(m, decision->target, decision->kept, &mk->scratch);
	if (user)
		decision->owner = arena_printf(mk->arena, "user:%s", strbuf_str(&mk->scratch));
	bool lazy = !user && is_of_systemd(trigger);
	int unit = lazy ? fstab_answer(&in->facts, FSTAB_UNIT, decision->target) : -1;
	decision->automount = unit == FSTAB_AUTOMOUNT;
	const struct fstab_own *own = fstab_own(m, decision->target, fstab_upon_itself(in->d, i),
	                                        in->all, user);
	if (own) {
		leave_out(decision, own->owner, own->why, own->boot);
	} else if (is_of_live(mk, m, decision->target)) {
		leave_out(decision, "initrd", "part of the root, or its source", true);
	} else if (in->no_pseudo && fstype_is_pseudo(plan_type(m))
	           && strcmp(decision->target, "/") != 0) {
		leave_out(decision, "api", "a pseudo file system: -P", true);
	} else if (opt_shown_has(decision->kept, "uhelper=udisks2")) {
		leave_out(decision, "udisks", "of udisks", false);
	} else if (lazy && unit < 0) {
		refuse(decision, "systemd mounts it on access, by an fstab line or by a unit of "
		       "its own: which one is not known here");
	} else if (!user && trigger && !decision->automount) {
		leave_out(decision, "automount", "mounted by an automounter", false);
	} else if (!user && !trigger && is_below_nfs(mk, i)) {
		leave_out(decision, "automount", "NFS mounts it on access", false);
	} else if (!user && (owner = plan_unit_owner(&in->facts, decision->target)) != NULL) {
		leave_out(decision, owner, "mounted by its own unit", true);
	} else if (decision->onto_itself) {
		bool same = on && m->vfs_opts && on->vfs_opts
		            && strcmp(m->vfs_opts, on->vfs_opts) == 0;
		refuse(decision, same ? "the same is mounted beneath it on this mount point"
		       : "it is bound onto itself, and systemd has one unit for a mount "
		         "point: that of the mount beneath");
		decision->covered = true;
	} else if (node->states & 1u << MT_HIDDEN && !decision->visible) {
		uint32_t by = node->covered_by;
		const char *over = by != MT_NONE ? in->d->targets[by] : NULL;
		const char *inside = plan_path(in, over);
		over = inside ? inside : over;
		refuse(decision, arena_printf(mk->arena, "hidden: %s is mounted over it",
		                              over ? over : "another"));
		decision->covered = true;
	} else if (!decision->visible) {
		refuse(decision, "it was not found at its path");
	} else if (node->states & 1u << MT_DELETED) {
		refuse(decision, arena_printf(mk->arena, "the %s that it shows was removed",
		                              discover_kind_name(in->d, i)));
	} else if (fstab_is_skipped(decision->target) && !(fstype_flags(m->fstype) & FST_PSEUDO)) {
		refuse(decision, "systemd mounts this mount point by itself, and skips lines of "
		       "it");
	} else if (fstab_hides_kernels(m, decision->target)) {
		refuse(decision, "it hides what the kernel shows there");
	} else if ((why = unspeakable(mk, m)) != NULL) {
		refuse(decision, why);
	} else {
		decision->state = WAITING;
	}
}

/* Binds. */

/** Whether the root directory of the file system of m is mounted, with the source of m. */
static bool is_top_source(const struct maker *mk, const struct mount *m)
{
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		const struct mount *top = plan_mount(mk, i);
		if (top && mount_dev(top) == mount_dev(m) && strcmp(mount_root(top), "/") == 0
		    && top->source && strcmp(top->source, m->source) == 0)
			return true;
	}
	return false;
}

/**
 * Whether the root of a mount is the directory that its source names: //server/share/dir.
 *
 * Only SMB shows the requested directory as the root.  A bind of a directory has the source of its
 * file system, and can look the same if a mount of the share's root exists.
 */
static bool shows_source(const struct maker *mk, const struct mount *m)
{
	const char *rest = m->source;
	if (!fsopt_type_in(m->fstype, "cifs smb3") || !rest || strncmp(rest, "//", 2) != 0)
		return false;
	rest += 2 + strcspn(rest + 2, "/");
	if (*rest)
		rest += 1 + strcspn(rest + 1, "/");
	return strcmp(rest, mount_root(m)) == 0 && !is_top_source(mk, m);
}

static bool is_network(const struct mount *m)
{
	return (fstype_flags(m->fstype) & (FST_NET | FST_DEVICE)) == FST_NET;
}

/** Whether the root directory of a mount alone shows that it is a mount of a whole file system or
    subvolume; false: a bind of a directory. */
static bool stands_alone(struct maker *mk, const struct mount *m)
{
	const char *root = mount_root(m);
	/* For a bind of a directory of a subvolume, subvol= differs from the root directory. */
	if (strcmp(plan_type(m), "btrfs") == 0)
		return !opt_shown_value(m->fs_opts, "subvol", &mk->scratch)
		       || strcmp(strbuf_str(&mk->scratch), root) == 0;
	return strcmp(root, "/") == 0 || (is_network(m) && shows_source(mk, m));
}

/** Enter a visible mount in mk->primary if it shows the root of its file system.  A read-only view
    does not replace a mount that is not read-only.  Call for the nodes in reverse order. */
static void index_primary(struct maker *mk, uint32_t i)
{
	const struct mount *m = plan_mount(mk, i);
	uint32_t later = map64_get(&mk->primary, mount_dev(m));
	if (!stands_alone(mk, m)
	    || (later != MAP64_NONE && plan_is_ro_view(m)
	        && !plan_is_ro_view(plan_mount(mk, later))))
		return;
	map64_remove(&mk->primary, mount_dev(m));
	map64_put(&mk->primary, mount_dev(m), i);
}

/** Index a visible node by its device and root directory. */
static void index_root(struct maker *mk, uint32_t i)
{
	const struct mount *m = plan_mount(mk, i);
	uint64_t hash = map64_bytes(fstab_device_hash(m), mount_root(m), strlen(mount_root(m)));
	mk->decisions[i].next_root = map64_remove(&mk->by_root, hash);
	map64_put(&mk->by_root, hash, i);
	index_primary(mk, i);
}

/** Fill the maps of mk, after classify_alone() was called for all nodes. */
static void make_indexes(struct maker *mk)
{
	/* Add the copies before all other mounts, so that they are last in the lists of by_root: a
	   copy is the source of a bind only if no other mount shows the directory. */
	for (uint32_t at = mk->tree->count; at-- > 0 && !mk->work.failed;) {
		uint32_t i = plan_nth(mk, at);
		const struct decision *decision = &mk->decisions[i];
		if (decision->target && decision->visible && decision->copy_of != MT_NONE)
			index_root(mk, i);
	}
	for (uint32_t at = mk->tree->count; at-- > 0 && !mk->work.failed;) {
		uint32_t i = plan_nth(mk, at);
		struct decision *decision = &mk->decisions[i];
		const struct mount *m = plan_mount(mk, i);
		if (!decision->target)
			continue;
		if (decision->visible) {
			pathmap_add(&mk->by_name, decision->target, i);
			if (decision->copy_of == MT_NONE)
				index_root(mk, i);
		} else if (!decision->onto_itself && !(fstype_flags(m->fstype) & FST_AUTOFS)
		           && strcmp(plan_type(m), "rootfs") != 0) {
			/* A hidden mount may contain files that were opened before it was
			   hidden. */
			pathmap_add(&mk->by_hidden, decision->target, i);
			map64_remove(&mk->hidden, mount_dev(m));
			map64_put(&mk->hidden, mount_dev(m), i);
		}
	}
	mk->arena->failed |= mk->work.failed;
}

/** Whether a mount is a bind: a line must name a directory as its source, not a device. */
static bool is_bind(struct maker *mk, uint32_t node)
{
	const struct mount *m = plan_mount(mk, node);
	uint32_t first = map64_get(&mk->primary, mount_dev(m));
	const struct mount *other = first != MAP64_NONE && first != node ? plan_mount(mk, first)
	                            : NULL;
	/* Only binds, and the mounts that were bound, have peers. */
	if (!stands_alone(mk, m) || (other && m->peer_group && m->peer_group == other->peer_group
	                             && strcmp(mount_root(m), mount_root(other)) == 0))
		return true;
	if (fstype_flags(m->fstype) & FST_SUBVOL || is_network(m))
		return false;
	if (first == MAP64_NONE || first == node)
		return false;
	/* This is a second mount of the root of the file system.  If the file system is not on a
	   device, a line without "bind" would make a new file system.  A device can be mounted
	   twice, but not once writable and once read-only. */
	return m->dev_major == 0 || plan_is_ro_view(m) != plan_is_ro_view(plan_mount(mk, first));
}

/** Set decision.bind of a mount that is still WAITING, using the maps of mk. */
static void classify_among(struct maker *mk, uint32_t i)
{
	struct decision *decision = &mk->decisions[i];
	if (decision->state != WAITING || decision->copy_of != MT_NONE)
		return;
	/* Two visible mounts have the same path only if the mount table is not a tree. */
	if (pathmap_get(&mk->by_name, decision->target) != i)
		refuse(decision, "another mount has the same path");
	else
		decision->bind = is_bind(mk, i);
}

void plan_classify(struct maker *mk)
{
	const struct mtree *tree = mk->tree;
	find_root_layers(mk);
	find_stacks(mk);
	for (uint32_t at = 0; at < tree->count; ++at)
		classify_alone(mk, tree->order[at]);
	plan_find_copies(mk);
	make_indexes(mk);
	for (uint32_t at = 0; at < tree->count && !mk->arena->failed; ++at)
		classify_among(mk, tree->order[at]);
}
