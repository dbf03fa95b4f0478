/* SPDX-License-Identifier: MIT */
#include "fstab/simulate.h"

#include "base/words.h"
#include "fstab/target.h"
#include "mountopts/vfsflags.h"

#include <string.h>

#define NONE SIMULATE_NONE

void simulate_init(struct simulation *sim, struct arena *arena, size_t limit)
{
	/* Groups of the live mounts are 32-bit numbers. */
	*sim = (struct simulation){
		.arena = arena, .limit = limit, .by_point.newest.arena = arena,
		.children.arena = arena, .next_group = UINT64_C(1) << 32};
	peers_init(&sim->peers, arena);
}

static uint64_t hash_of(uint32_t mount, const char *dir)
{
	uint64_t hash = map64_bytes(MAP64_BYTES, (const char *)&mount, sizeof(mount));
	return map64_bytes(hash, dir, strlen(dir));
}

/** Add a mount that is not attached yet.  @return its index; NONE: the limit is reached. */
static uint32_t add_mount(struct simulation *sim, struct simulated mount)
{
	if (sim->count >= sim->limit) {
		sim->too_many = true;
		return NONE;
	}
	mount.parent = mount.first = mount.next = NONE;
	ARENA_PUSH(sim->arena, sim->mounts, sim->count, mount);
	return sim->arena->failed ? NONE : (uint32_t)sim->count - 1;
}

static void link_child(struct simulation *sim, uint32_t child, uint32_t parent, const char *on)
{
	struct simulated *mount = &sim->mounts[child];
	mount->parent = parent;
	mount->on = on;
	mount->next = sim->mounts[parent].first;
	sim->mounts[parent].first = child;
	map64_set(&sim->children, hash_of(parent, on), child);
}

static void unlink_child(struct simulation *sim, uint32_t child)
{
	uint32_t parent = sim->mounts[child].parent, *at = &sim->mounts[parent].first;
	while (*at != child)
		at = &sim->mounts[*at].next;
	*at = sim->mounts[child].next;
}

/** The mount on a directory of a mount; NONE: none. */
static uint32_t child_of(const struct simulation *sim, uint32_t parent, const char *on)
{
	uint32_t i = map64_get(&sim->children, hash_of(parent, on));
	return i != MAP64_NONE && sim->mounts[i].parent == parent
	       && strcmp(sim->mounts[i].on, on) == 0 ? i : NONE;
}

/** A mount and the mounts below it, parents first: a part of sim->mounts[]. */
struct tree {
	uint32_t start, end;
};

/** A copy of a mount, not added yet. */
static struct simulated copy_of(const struct simulation *sim, uint32_t from, uint32_t line)
{
	struct simulated copy = sim->mounts[from];
	copy.from = from;
	copy.line = line;
	copy.copy = true;
	return copy;
}

/** Copy a mount, and with `deep` the mounts below a directory of it.
    @root  The directory that the copy shows.
    @return the copy, not attached. */
static struct tree copy_tree(struct simulation *sim, uint32_t from, const char *root, bool deep,
                             uint32_t line)
{
	struct tree tree = {(uint32_t)sim->count, (uint32_t)sim->count};
	struct simulated copy = copy_of(sim, from, line);
	copy.root = root;
	copy.unbindable = false;
	add_mount(sim, copy);
	for (uint32_t k = tree.start; deep && k < sim->count && !sim->arena->failed; ++k) {
		uint32_t i = sim->mounts[sim->mounts[k].from].first;
		for (; i != NONE; i = sim->mounts[i].next) {
			copy = copy_of(sim, i, line);
			if (copy.unbindable || !word_below(copy.on, sim->mounts[k].root))
				continue;
			uint32_t below = add_mount(sim, copy);
			if (below != NONE)
				link_child(sim, below, k, copy.on);
		}
	}
	tree.end = (uint32_t)sim->count;
	return tree;
}

/** Attach a tree.  A mount that is on the directory already stays on top. */
static void attach_tree(struct simulation *sim, struct tree tree, uint32_t parent, const char *on)
{
	uint32_t above = child_of(sim, parent, on);
	if (above != NONE) {
		unlink_child(sim, above);
		link_child(sim, above, tree.start, sim->mounts[tree.start].root);
	}
	link_child(sim, tree.start, parent, on);
	/* A peer may be covered itself, as by a bind onto itself. */
	bool visible = above == NONE
	               && pathmap_get(&sim->by_point, sim->mounts[parent].point) == parent;
	for (uint32_t k = tree.start; k < tree.end && !sim->arena->failed; ++k) {
		struct simulated *mount = &sim->mounts[k];
		const struct simulated *below = &sim->mounts[mount->parent];
		mount->point = fstab_join(sim->arena, below->point,
		                          word_below(mount->on, below->root));
		mount->visible = visible;
		if (visible)
			pathmap_add(&sim->by_point, mount->point, k);
	}
}

/* Propagation. */

/** The groups that the copies of one tree get on the members of a group. */
struct level {
	uint64_t of;             /* the group of the mounts that receive the tree */
	uint64_t first;          /* the group of the copy of mount k: first + k - tree.start */
};

struct pass {
	struct simulation *sim;
	struct tree tree;
	uint64_t own;            /* the group of the mount that the tree is attached to: copies on
	                            its peers are peers of the tree */
	struct level *levels;
	size_t nlevels;
};

/** The group of the copy of a mount of the tree, on the members of a group. */
static uint64_t group_on(struct pass *pass, uint64_t group, uint32_t of)
{
	struct simulation *sim = pass->sim;
	if (group == pass->own)
		return sim->mounts[of].group;
	size_t i = 0;
	while (i < pass->nlevels && pass->levels[i].of != group)
		++i;
	if (i == pass->nlevels) {
		ARENA_PUSH(sim->arena, pass->levels, pass->nlevels,
		           (struct level){group, sim->next_group});
		sim->next_group += pass->tree.end - pass->tree.start;
	}
	return i < pass->nlevels ? pass->levels[i].first + of - pass->tree.start : 0;
}

/** Copy the tree to a mount that receives it. */
static struct tree copy_to(struct pass *pass, const struct peers_receiver *receiver)
{
	struct simulation *sim = pass->sim;
	uint32_t line = sim->mounts[pass->tree.start].line;
	struct tree copy = copy_tree(sim, pass->tree.start, sim->mounts[pass->tree.start].root,
	                             true, line);
	for (uint32_t k = copy.start; k < copy.end && !sim->arena->failed; ++k) {
		uint32_t of = sim->mounts[k].from;
		bool peer = receiver->group == pass->own;
		uint64_t group = receiver->group ? group_on(pass, receiver->group, of) : 0;
		sim->mounts[k].group = group;
		if (!peer)
			sim->mounts[k].master = group_on(pass, receiver->from, of);
	}
	return copy;
}

/** Make the groups of a tree known to later mounts. */
static void publish(struct simulation *sim, struct tree tree)
{
	for (uint32_t k = tree.start; k < tree.end && !sim->arena->failed; ++k) {
		const struct simulated *mount = &sim->mounts[k];
		peers_add(&sim->peers, k, mount->dev, mount->root, mount->group, mount->master);
	}
}

/** Attach a tree to a mount, and copies of it to the mounts that receive it. */
static void propagate_tree(struct simulation *sim, struct tree tree, uint32_t parent,
                           const char *on)
{
	struct pass pass = {.sim = sim, .tree = tree, .own = sim->mounts[parent].group};
	const struct peers_receiver *found;
	for (uint32_t k = tree.start; k < tree.end && pass.own; ++k) {
		if (!sim->mounts[k].group)
			sim->mounts[k].group = sim->next_group++;
	}
	size_t n = peers_receive(&sim->peers, pass.own, sim->mounts[parent].dev, on, &found);
	struct tree *copies = arena_new(sim->arena, n, sizeof(*copies));
	for (size_t i = 0; i < n && !sim->too_many && !sim->arena->failed; ++i) {
		if (found[i].value != parent)
			copies[i] = copy_to(&pass, &found[i]);
	}
	if (sim->arena->failed)
		return;
	attach_tree(sim, tree, parent, on);
	for (size_t i = 0; i < n && !sim->arena->failed; ++i) {
		if (copies[i].end > copies[i].start)
			attach_tree(sim, copies[i], found[i].value, on);
	}
	for (size_t i = 0; i < n; ++i)
		publish(sim, copies[i]);
}

/** Apply the options of a line that set the propagation. */
static void set_propagation(struct simulation *sim, struct tree tree,
                            const struct fstab_entry *entry)
{
	for (uint32_t i = 0; i < entry->nopts; ++i) {
		bool deep;
		int is = vfs_propagation(entry->opts[i].text, entry->opts[i].n, &deep);
		uint32_t end = is >= 0 && deep ? tree.end : tree.start + 1;
		for (uint32_t k = tree.start; is >= 0 && k < end; ++k) {
			struct simulated *mount = &sim->mounts[k];
			/* A slave without peers is private. */
			if (is == MP_SLAVE && mount->group)
				mount->master = peers_size(&sim->peers, mount->group)
				                ? mount->group : mount->master;
			else if (is == MP_PRIVATE || is == MP_UNBINDABLE)
				mount->master = 0;
			if (is != MP_SHARED)
				mount->group = 0;
			else if (!mount->group)
				mount->group = sim->next_group++;
			mount->unbindable = is == MP_UNBINDABLE;
		}
	}
}

/* Interface. */

/** The topmost mount that contains a path.
    @dir [out]  The path within its file system. */
static uint32_t holding(struct simulation *sim, const char *path, const char **dir)
{
	uint32_t i = pathmap_nearest(&sim->by_point, path);
	if (i == PATHMAP_NONE)
		return NONE;
	*dir = fstab_join(sim->arena, sim->mounts[i].root, word_below(path, sim->mounts[i].point));
	return i;
}

void simulate_boot(struct simulation *sim, const struct mount *mount, const char *point)
{
	const char *on = NULL;
	uint32_t parent = holding(sim, point, &on);
	uint32_t i = add_mount(sim, (struct simulated){
		.dev = mount_dev(mount), .root = mount_root(mount), .point = point,
		.line = NONE, .group = mount->peer_group, .master = mount->master,
		.unbindable = mount->propagation & MP_UNBINDABLE});
	if (i == NONE)
		return;
	if (parent != NONE)
		link_child(sim, i, parent, on);
	pathmap_add(&sim->by_point, point, i);
	publish(sim, (struct tree){i, i + 1});
}

bool simulate_line(struct simulation *sim, uint32_t line, const struct fstab_entry *entry,
                   const char *target, const char *source, uint64_t dev, const char *root)
{
	const char *on, *dir = root;
	uint32_t parent = holding(sim, target, &on);
	uint32_t from = source ? holding(sim, source, &dir) : NONE;
	if (parent == NONE || sim->arena->failed || (source && from == NONE))
		return false;
	const struct simulated *top = &sim->mounts[parent];
	if (source)
		dev = sim->mounts[from].dev;
	if (top->copy && strcmp(top->point, target) == 0 && top->dev == dev
	    && strcmp(top->root, dir) == 0)
		return true;
	struct tree tree = {(uint32_t)sim->count, (uint32_t)sim->count + 1};
	if (source)
		tree = copy_tree(sim, from, dir, fstab_entry_find(entry, "rbind"), line);
	else if (add_mount(sim, (struct simulated){.dev = dev, .root = root, .line = line}) == NONE)
		return false;
	if (sim->too_many || sim->arena->failed)
		return false;
	sim->mounts[tree.start].copy = false;
	propagate_tree(sim, tree, parent, on);
	if (sim->arena->failed)
		return false;
	set_propagation(sim, tree, entry);
	publish(sim, tree);
	return false;
}
