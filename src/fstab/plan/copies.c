/* SPDX-License-Identifier: MIT */
/*
 * Mounts that the kernel makes from other mounts: by propagation to the peers and slaves of the
 * mount that holds the mount point, or by a recursive bind.
 *
 *     /A  /B  none  bind       x  /A/m  tmpfs          x on /A/m --> x on /B/m
 *     x  /A/m  tmpfs           /A  /B  none  rbind     x on /A/m --> x on /B/m
 *
 * The line of the origin makes its copies, too; a line for a copy would mount on all of them once
 * more.  Of each set the oldest mount is the origin: a table lists mounts in the order in which
 * they were made.  A copy that is younger than the bind that holds it was propagated; one whose
 * origin is older than that bind came with it, so the bind is recursive.
 *
 * A mount also has a propagation of its own, which the options of a line can set.
 */
#include "fstab/plan/plan_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/vfsflags.h"
#include "mounts/peers.h"

#include <string.h>

struct copies {
	struct maker *mk;
	struct peers peers;
	struct map64 children;   /* hash of a node and a directory of it -> node mounted there */
	const char **on;         /* by node: the directory of the parent's file system that it is
	                            mounted on; NULL: unknown */
	size_t budget;           /* number of receivers that may still be visited */
};

static uint64_t hash_of(uint32_t node, const char *dir)
{
	uint64_t hash = map64_bytes(MAP64_BYTES, (const char *)&node, sizeof(node));
	return map64_bytes(hash, dir, strlen(dir));
}

static bool is_mount(const struct maker *mk, uint32_t node)
{
	return node != MT_NONE && !mk->tree->nodes[node].gone && !mk->tree->nodes[node].made;
}

/** The directory of the parent's file system that a node is mounted on, or NULL. */
static const char *mounted_on(struct copies *c, uint32_t i)
{
	const struct maker *mk = c->mk;
	uint32_t parent = mk->tree->nodes[i].parent;
	const struct mount *m = plan_mount(mk, i), *on = is_mount(mk, parent)
		? plan_mount(mk, parent) : NULL;
	const char *rest = on && m->point && on->point ? word_below(m->point, on->point) : NULL;
	return rest ? fstab_join(&c->mk->work, mount_root(on), rest) : NULL;
}

/** The node mounted on a directory of a node; MT_NONE: none. */
static uint32_t child_of(const struct copies *c, uint32_t node, const char *dir)
{
	uint32_t i = map64_get(&c->children, hash_of(node, dir));
	bool is = i != MAP64_NONE && c->mk->tree->nodes[i].parent == node
	          && strcmp(c->on[i], dir) == 0;
	return is ? i : MT_NONE;
}

/** Record the copies of a node. */
static void find_copies_of(struct copies *c, uint32_t i)
{
	struct maker *mk = c->mk;
	uint32_t parent = mk->tree->nodes[i].parent;
	const struct mount *m = plan_mount(mk, i), *on = plan_mount(mk, parent);
	const struct peers_receiver *list;
	size_t n = peers_receive(&c->peers, on->peer_group, mount_dev(on), c->on[i], &list);
	c->budget -= n < c->budget ? n : c->budget;
	for (size_t k = 0; k < n && !mk->work.failed; ++k) {
		uint32_t holder = list[k].value, copy = child_of(c, holder, c->on[i]);
		struct decision *of = copy != MT_NONE ? &mk->decisions[copy] : NULL;
		if (holder == parent || holder == i)
			continue;
		/* Whether `holder` receives the mount depends on which was made first: their lines
		   must keep this order. */
		mk->by_age = true;
		if (!of && i < holder && mk->decisions[i].missed == MT_NONE)
			mk->decisions[i].missed = holder;
		/* A copy is younger. */
		if (!of || copy <= i || copy == parent || of->copy_of != MT_NONE
		    || of->state == ELSEWHERE
		    || !mount_shows_same(plan_mount(mk, copy), m))
			continue;
		of->twin = i;
		mk->decisions[i].twin = copy;
		/* The kernel puts a copy beneath an older mount on its mount point.  If both show
		   the same directory, the mount on top counts as the copy. */
		uint32_t above = child_of(c, copy, mount_root(m));
		if (above != MT_NONE && above < copy && above != i
		    && mount_shows_same(plan_mount(mk, above), m)) {
			if (mk->decisions[above].copy_of == MT_NONE)
				mk->decisions[above].copy_of = i;
			continue;
		}
		of->copy_of = i;
		of->came_along = i < holder;
		of->exchangeable = list[k].group == on->peer_group && i > holder && copy > parent;
		if (of->came_along && mk->decisions[holder].copy_of == MT_NONE)
			mk->decisions[holder].recursive = true;
	}
}

/** If an origin is covered, and so cannot have a line, make a visible peer the origin.  The lowest
    mount of a stack of copies has the line of all. */
static void choose_visible(struct maker *mk)
{
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		struct decision *copy = &mk->decisions[i];
		struct decision *origin = copy->copy_of != MT_NONE ? &mk->decisions[copy->copy_of]
		                          : NULL;
		if (!origin)
			continue;
		if (origin->copy_of != MT_NONE) {
			copy->copy_of = origin->copy_of;
		} else if (origin->covered && !copy->covered && !copy->exchangeable
		           && origin->target && copy->target
		           && strcmp(origin->target, copy->target) == 0) {
			copy->copy_of = MT_NONE;
		} else if (origin->covered && !copy->covered && copy->exchangeable) {
			origin->copy_of = i;
			origin->exchangeable = true;
			copy->copy_of = MT_NONE;
		}
	}
	/* An origin may have become a copy after its other copies were visited. */
	for (uint32_t i = 0; i < mk->tree->count; ++i) {
		uint32_t *of = &mk->decisions[i].copy_of;
		while (*of != MT_NONE && mk->decisions[*of].copy_of != MT_NONE)
			*of = mk->decisions[*of].copy_of;
	}
}

/** Set the propagation of a mount, and what mk records about mounts on "/". */
static void find_propagation(const struct copies *c, uint32_t i)
{
	struct maker *mk = c->mk;
	struct decision *decision = &mk->decisions[i];
	const struct mount *m = plan_mount(mk, i);
	decision->propagation = (m->peer_group ? MP_SHARED : 0)
		| (m->master && peers_size(&c->peers, m->master) ? MP_SLAVE : 0)
		| (m->propagation & MP_UNBINDABLE);
	uint32_t parent = mk->tree->nodes[i].parent;
	const char *on = parent != MT_NONE ? mk->decisions[parent].target : NULL;
	bool bind = strcmp(mount_root(m), "/") != 0 && !(fstype_flags(m->fstype) & FST_SUBVOL);
	if (on && !on[1] && !bind)
		*(decision->propagation & MP_SHARED ? &mk->root_shared
		  : &mk->root_unshared) = true;
}

void plan_find_copies(struct maker *mk)
{
	uint32_t count = mk->tree->count;
	struct copies c = {
		.mk = mk, .children.arena = &mk->work,
		.on = arena_new(&mk->work, count, sizeof(*c.on)),
		.budget = 16 * (size_t)count + 4096,
	};
	peers_init(&c.peers, &mk->work);
	for (uint32_t i = 0; i < count && !mk->work.failed; ++i) {
		const struct mount *m = plan_mount(mk, i);
		struct decision *decision = &mk->decisions[i];
		decision->copy_of = decision->twin = decision->missed = MT_NONE;
		if (is_mount(mk, i))
			peers_add(&c.peers, i, mount_dev(m), mount_root(m), m->peer_group,
			          m->master);
	}
	/* If all mounts are private, nothing is passed on. */
	for (uint32_t i = 0; c.peers.count && i < count && !mk->work.failed; ++i) {
		c.on[i] = is_mount(mk, i) ? mounted_on(&c, i) : NULL;
		if (c.on[i])
			map64_put(&c.children, hash_of(mk->tree->nodes[i].parent, c.on[i]), i);
	}
	for (uint32_t i = 0; c.peers.count && i < count && c.budget && !mk->work.failed; ++i) {
		struct decision *decision = &mk->decisions[i];
		if (c.on[i] && decision->state != ELSEWHERE && decision->copy_of == MT_NONE
		    && plan_mount(mk, mk->tree->nodes[i].parent)->peer_group)
			find_copies_of(&c, i);
	}
	if (mk->work.failed)
		return;
	choose_visible(mk);
	for (uint32_t i = 0; i < count; ++i) {
		struct decision *decision = &mk->decisions[i];
		if (is_mount(mk, i))
			find_propagation(&c, i);
		/* The line of the origin makes a covered copy again, and it is covered again. */
		if (decision->copy_of != MT_NONE && decision->covered)
			decision->state = WAITING;
	}
}

enum state plan_decide_copy(struct maker *mk, uint32_t i, struct fstab_line *line)
{
	struct decision *decision = &mk->decisions[i];
	const struct decision *origin = &mk->decisions[decision->copy_of];
	uint32_t parent = mk->tree->nodes[i].parent;
	const char *of = origin->target ? origin->target : "?";
	enum state state = plan_available(mk, parent);
	if (origin->state == WAITING || state == WAITING)
		return WAITING;
	if (origin->state == OWN) {
		decision->owner = origin->owner;
		decision->boot = origin->boot;
		line->why = arena_printf(mk->arena, "a copy of the mount on %s", of);
		return OWN;
	}
	if (origin->state == REFUSED) {
		enum state made = plan_available(mk, decision->copy_of);
		if (made == LINE)
			return plan_refuse(mk, line, "it is a copy of the mount on %s", of);
		return plan_refuse(mk, line, "it is a copy of the mount on %s, which %s", of,
		                   plan_lack(mk, decision->copy_of, made));
	}
	if (state == REFUSED || state == OWN) {
		const char *above = mk->decisions[parent].target;
		return plan_refuse(mk, line, "it is mounted on %s, which %s", above ? above : "?",
		                   plan_lack(mk, parent, state));
	}
	return COPIED;
}

void plan_propagation(const struct maker *mk, uint32_t i, uint32_t source, struct fstab_line *line)
{
	const struct decision *decision = &mk->decisions[i];
	uint32_t parent = mk->tree->nodes[i].parent;
	unsigned is = line->shares = line->usual = decision->propagation;
	if (parent == MT_NONE || !decision->target[1])
		return;
	/* A mount on a shared mount is shared.  A bind also has the propagation of its source.  "/"
	   alone may have been made shared or private later; what "/" was before is then shown by
	   the mounts on it. */
	const char *on = mk->decisions[parent].target;
	bool shared = mk->decisions[parent].propagation & MP_SHARED;
	if (on && !on[1])
		shared = mk->root_shared && (shared || !mk->root_unshared);
	line->usual = shared ? MP_SHARED : 0;
	if (source != MT_NONE)
		line->usual |= mk->decisions[source].propagation & (MP_SHARED | MP_SLAVE);
	if (is == line->usual)
		return;
	bool deep = false;
	for (uint32_t k = 0; decision->recursive && k < mk->tree->count && !deep; ++k)
		deep = mk->tree->nodes[k].parent == i && mk->decisions[k].came_along
		       && mk->decisions[k].propagation == is;
	line->propagation = vfs_propagation_options(is, deep);
}
