/* SPDX-License-Identifier: MIT */
/*
 * What each mount is, and which mounts it needs.
 *
 * Two maps by mount point make this linear: of the visible mounts, to find the mount that contains
 * a path and whether another mount covers it; and of the hidden mounts, which may contain the
 * source of a bind that was made before they were hidden.
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "fstab/units.h"
#include "mountopts/fsopts.h"

#include <string.h>

const char *place_below(const struct fstab_input *in, const char *name)
{
	if (!name || !word_below(name, in->root))
		return NULL;
	if (strcmp(in->root, "/") == 0)
		return name;
	name += strlen(in->root);
	return *name ? name : "/";
}

uint32_t place_holder(const struct maker *mk, const char *path)
{
	return pathmap_nearest(&mk->by_name, path);
}

/** Insert a node at the head of the chain of its hash.  @return the next node, or MAP64_NONE. */
static uint32_t push(struct maker *mk, struct map64 *map, uint64_t hash, uint32_t node)
{
	uint32_t next = map64_remove(map, hash);
	mk->failed |= map64_put(map, hash, node) == MAP64_NONE;
	return next;
}

void place_index(struct maker *mk)
{
	for (uint32_t at = mk->tree->count; at-- > 0 && !mk->failed;) {
		uint32_t i = mk->tree->order[at];
		struct place *place = &mk->places[i];
		const struct mount *m = place_mount(mk, i);
		if (!place->target)
			continue;
		if (place->visible) {
			mk->failed |= pathmap_add(&mk->by_name, place->target, i) != 0;
			place->next_root = push(mk, &mk->by_root, bind_hash(m, place_root(m)), i);
			bind_index(mk, i);
		} else if (!place->onto_itself && !(fstype_flags(m->fstype) & FST_AUTOFS)
		           && strcmp(place_type(m), "rootfs") != 0) {
			/* It may contain files that were once visible below its mount point. */
			mk->failed |= pathmap_add(&mk->by_hidden, place->target, i) != 0;
			map64_remove(&mk->hidden, mount_dev(m));
			mk->failed |= map64_put(&mk->hidden, mount_dev(m), i) == MAP64_NONE;
		}
	}
}

/* What a mount is. */

static bool is_of_systemd(const struct mount *trigger)
{
	return trigger && trigger->source && strcmp(trigger->source, "systemd-1") == 0;
}

/** Whether NFS has mounted by itself an export below another export: server:/a/b on x/b. */
static bool is_below_nfs(const struct maker *mk, uint32_t node)
{
	uint32_t parent = mk->tree->nodes[node].parent;
	const struct mount *m = place_mount(mk, node);
	const struct mount *on = parent == MT_NONE ? NULL : place_mount(mk, parent);
	const char *name = mk->places[node].target;
	const char *above = on ? mk->places[parent].target : NULL;
	if (!above || strcmp(place_type(m), "nfs4") != 0 || strcmp(place_type(on), "nfs4") != 0
	    || !m->source || !on->source || !word_below(name, above))
		return false;
	const char *rest = name + (strcmp(above, "/") == 0 ? 0 : strlen(above));
	size_t n = strlen(on->source);
	n -= n && on->source[n - 1] == '/';
	return *rest && strncmp(m->source, on->source, n) == 0 && strcmp(m->source + n, rest) == 0;
}

const char *place_unit(const struct fstab_facts *facts, const char *target)
{
	int unit = fstab_answer(facts, FSTAB_UNIT, target);
	return unit == FSTAB_GPT_UNIT ? "gpt-auto" : unit == FSTAB_OWN_UNIT ? "unit" : NULL;
}

/** Why no line can repeat this mount; NULL: a line can. */
static const char *unspeakable(struct maker *mk, const struct mount *m)
{
	/* ceph shows a placeholder for a secret. */
	bool ceph = strcmp(place_type(m), "ceph") == 0;
	if (source_has_secret(m->source) || (!ceph && has_secret(m->fs_opts)))
		return "it was mounted with a secret, which does not belong in an fstab";
	if (opt_shown_has(m->vfs_opts, "idmapped"))
		return "only the kernel knows its ID mapping";
	if (strcmp(place_type(m), "fuse") == 0)
		return "the program that serves it is not known";
	if (!fsopt_type_in(m->fstype, "cifs smb3")
	    || !opt_shown_value(m->fs_opts, "username", &mk->scratch) || !mk->scratch.len)
		return NULL;
	bool sec = opt_shown_value(m->fs_opts, "sec", &mk->scratch);
	if (sec && (strncmp(strbuf_str(&mk->scratch), "krb5", 4) == 0
	            || strcmp(strbuf_str(&mk->scratch), "none") == 0))
		return NULL;
	return "only the kernel knows its password; write a line with credentials=FILE";
}

void place_find_layers(struct maker *mk)
{
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		const struct mt_node *node = &mk->tree->nodes[i];
		const char *target = !node->gone && !node->made
		                     ? place_below(mk->in, mk->in->d->targets[i]) : NULL;
		if (target && strcmp(target, "/") == 0 && !(node->states & 1u << MT_HIDDEN)
		    && strcmp(place_type(node->mount), "overlay") == 0)
			mk->layers = node->mount;
	}
}

uint32_t place_base(const struct maker *mk, uint32_t node)
{
	const struct mt_node *nodes = mk->tree->nodes;
	while (node != MT_NONE && mtree_stacked(mk->tree, node)) {
		uint32_t on = nodes[node].parent;
		const struct mount *m = place_mount(mk, node), *beneath = place_mount(mk, on);
		if (!mk->in->d->targets[on] || nodes[on].states & 1u << MT_OUTSIDE
		    || mount_dev(beneath) != mount_dev(m)
		    || strcmp(place_root(beneath), place_root(m)) != 0)
			break;
		node = on;
	}
	return node;
}

void place_find_stacks(struct maker *mk)
{
	const unsigned not_visible = 1u << MT_HIDDEN | 1u << MT_LOST | 1u << MT_UNSEARCHED
	                             | 1u << MT_OUTSIDE;
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		const struct mt_node *node = &mk->tree->nodes[i];
		if (node->gone || node->made || node->states & not_visible
		    || !place_below(mk->in, mk->in->d->targets[i]))
			continue;
		uint32_t base = place_base(mk, i);
		mk->places[base].visible = true;
		for (uint32_t at = i; at != base; at = mk->tree->nodes[at].parent)
			mk->places[at].onto_itself = true;
	}
}

/** Whether a directory is a layer of the root, or contains one at most `most` levels below it. */
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

/** Whether the initial RAM disk of a live system, or of a system without persistent storage, has
    mounted this: layers of the root, and the medium that contains them. */
static bool is_of_live(struct maker *mk, const struct mount *m, const char *target)
{
	if (!mk->layers || strcmp(target, "/") == 0)
		return false;
	bool device = fstype_flags(place_type(m)) & FST_DEVICE;
	bool disk = device || strcmp(place_type(m), "tmpfs") == 0;
	if (disk && is_layer(mk, target, 1))
		return true;
	if (word_below(target, "/run/live") && is_layer(mk, "/run/live", 9))
		return disk;
	return device && (strcmp(target, "/cdrom") == 0 || strcmp(target, "/rofs") == 0)
	       && is_layer(mk, "/cow", 1);
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
	const struct mount *on = node->parent == MT_NONE ? NULL : place_mount(mk, node->parent);
	const struct mount *trigger = on && fstype_flags(on->fstype) & FST_AUTOFS ? on : NULL;
	place->state = ELSEWHERE;
	if (node->gone || node->made || node->states & 1u << MT_OUTSIDE)
		return;
	/* Its mount point is not known. */
	if (!name && strcmp(in->root, "/") == 0)
		refuse(place, "its path is not known");
	place->target = place_below(in, name);
	if (!place->target)
		return;
	if (in->filter && strncmp(name, in->filter, strlen(in->filter)) != 0) {
		leave_out(place, NULL, "excluded by -f", true);
		return;
	}
	const char *kept = in->facts.kept ? in->facts.kept(in->facts.arg, name, m) : NULL;
	strbuf_reset(&mk->scratch);
	bool user = fstab_user(m, place->target, kept, &mk->scratch);
	if (user)
		place->owner = plan_format(mk, "user:%s", strbuf_str(&mk->scratch));
	bool lazy = !user && is_of_systemd(trigger);
	int unit = lazy ? fstab_answer(&in->facts, FSTAB_UNIT, place->target) : -1;
	place->automount = unit == FSTAB_AUTOMOUNT;
	const struct fstab_own *own = fstab_own(m, place->target, fstab_upon_itself(in->d, i),
	                                        in->all, user);
	if (own) {
		leave_out(place, own->owner, own->why, own->boot);
	} else if (is_of_live(mk, m, place->target)) {
		leave_out(place, "initrd", "part of the root, or its source", true);
	} else if (in->pseudo && in->pseudo(place_type(m)) && strcmp(place->target, "/") != 0) {
		leave_out(place, "api", "a pseudo file system: -P", true);
	} else if (opt_shown_has(kept, "uhelper=udisks2")) {
		leave_out(place, "udisks", "of udisks", false);
	} else if (lazy && unit < 0) {
		refuse(place, "systemd mounts it on access, by an fstab line or by a unit of its "
		       "own: which one is not known here");
	} else if (!user && trigger && !place->automount) {
		leave_out(place, "automount", "mounted by an automounter", false);
	} else if (!user && !trigger && is_below_nfs(mk, i)) {
		leave_out(place, "automount", "NFS mounts it on access", false);
	} else if (!user && (owner = place_unit(&in->facts, place->target)) != NULL) {
		leave_out(place, owner, "mounted by its own unit", true);
	} else if (place->onto_itself) {
		refuse(place, "it is bound onto itself, and systemd has one unit for a mount "
		       "point: that of the mount beneath");
	} else if (node->states & 1u << MT_HIDDEN && !place->visible) {
		uint32_t by = node->covered_by;
		const char *over = by != MT_NONE ? in->d->targets[by] : NULL;
		refuse(place, plan_format(mk, "hidden: %s is mounted over it",
		                          over ? over : "another"));
	} else if (!place->visible) {
		refuse(place, "it was not found at its path");
	} else if (node->states & 1u << MT_DELETED) {
		refuse(place, "the directory that it shows was removed");
	} else if (fstab_is_skipped(place->target) && !(fstype_flags(m->fstype) & FST_PSEUDO)) {
		refuse(place, "systemd mounts this mount point by itself, and skips lines of it");
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
	/* One mount of a stack is visible; if the table is no tree, there can be more. */
	if (pathmap_get(&mk->by_name, place->target) != i)
		refuse(place, "another mount has the same path");
	else
		place->bind = bind_is(mk, i);
}

/* What a mount needs. */

bool place_is_volatile(const struct maker *mk, uint32_t node)
{
	return fsopt_type_in(place_mount(mk, node)->fstype, "tmpfs ramfs")
	       && strcmp(mk->places[node].target, "/") != 0;
}

enum state place_available(const struct maker *mk, uint32_t node)
{
	const struct place *place = node != MT_NONE ? &mk->places[node] : NULL;
	/* ROOT is a directory of a mount outside; or the mount exists before an fstab is read. */
	if (!place || (place->visible && strcmp(place->target, "/") == 0)
	    || (place->state == OWN && place->boot))
		return LINE;
	return (enum state)place->state;
}

const char *place_lack(enum state state)
{
	return state == OWN ? "the system mounts by itself, if at all" : "has no line";
}

enum state place_needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                            uint32_t *node, struct fstab_line *line)
{
	uint32_t in = place_holder(mk, path);
	if (in == i && i != MT_NONE) {
		in = mk->tree->nodes[i].parent;
		if (in != MT_NONE && mk->places[in].state == ELSEWHERE)
			in = MT_NONE;
		if (strcmp(mk->places[i].target, "/") == 0
		    || (in != MT_NONE && !mk->places[in].visible))
			return plan_refuse(mk, line, "%s %s is covered by itself", what, path);
	}
	if (node)
		*node = in;
	/* The path is the one under which the file was opened; a mount may hide it now. */
	uint32_t hidden = pathmap_nearest(&mk->by_hidden, path);
	if (hidden != MT_NONE)
		return plan_refuse(mk, line, "%s %s may be that of a mount on %s which is hidden "
		                   "now", what, path, mk->places[hidden].target);
	enum state state = place_available(mk, in);
	if (state == LINE && in != MT_NONE && place_is_volatile(mk, in))
		return plan_refuse(mk, line, "%s %s is in memory and does not survive a reboot",
		                   what, path);
	if (state == REFUSED || state == OWN)
		return plan_refuse(mk, line, "%s %s lies on %s, which %s", what, path,
		                   mk->places[in].target, place_lack(state));
	return state;
}

/** The mount that the place of a node lies in; MT_NONE: one outside of ROOT. */
static uint32_t parent_of(const struct maker *mk, uint32_t i)
{
	const struct mt_node *nodes = mk->tree->nodes;
	uint32_t parent = place_base(mk, nodes[i].parent);
	/* Mounts below it in a stack are hidden. */
	while (parent != MT_NONE && mk->places[parent].target && !mk->places[parent].visible
	       && strcmp(mk->places[parent].target, mk->places[i].target) == 0)
		parent = nodes[parent].parent;
	return parent == MT_NONE || mk->places[parent].state == ELSEWHERE ? MT_NONE : parent;
}

bool place_wants_mkdir(const struct maker *mk, uint32_t i)
{
	uint32_t parent = parent_of(mk, i);
	return parent != MT_NONE && mk->places[parent].target && place_is_volatile(mk, parent);
}

enum state place_needs_parent(struct maker *mk, uint32_t i, struct fstab_line *line)
{
	uint32_t parent = parent_of(mk, i);
	enum discover_kind kind = (enum discover_kind)mk->in->d->kinds[i];
	/* The mount point is a directory, as far as that is known. */
	bool dir = kind != DK_UNKNOWN ? kind == DK_DIR
	           : !mk->places[i].bind || strcmp(place_root(place_mount(mk, i)), "/") == 0
	             || mk->tree->nodes[i].first != MT_NONE;
	if (place_wants_mkdir(mk, i) && !dir)
		return plan_refuse(mk, line, kind == DK_UNKNOWN
			? "its mount point is in memory and does not survive a reboot; whether it "
			  "is a directory is not known"
			: "the file that it is mounted on is in memory and does not survive a "
			  "reboot");
	if (parent == MT_NONE || mk->places[i].automount)
		return LINE;
	enum state state = place_available(mk, parent);
	const char *above = mk->places[parent].target;
	if (state == REFUSED || state == OWN)
		line->why = plan_format(mk, "it is mounted on %s, which %s", above ? above : "?",
		                        place_lack(state));
	return state;
}
