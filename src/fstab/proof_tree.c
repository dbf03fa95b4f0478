/* SPDX-License-Identifier: MIT */
/*
 * A tree of mounts by their places, live or simulated; and what is known to be
 * where in a file system.
 *
 * The place of a mount is the mount it is on and its name: so a path leads down from
 * mount to mount, and what a later mount covers is not found by it.  What is live
 * tells much without any look: where a mount is, there is a directory (or file), and
 * so is what it shows of its file system, and all above these.
 */
#include "fstab/proof_impl.h"

#include "base/fstypes.h"

#include <stdlib.h>
#include <string.h>

/** Mounts of one file system that are tried, to find a place of it live. */
enum { SHOWN_MAX = 32 };

/** Make room for one more.  @return 0, or -1 (ENOMEM). */
static int grow(struct pf *pf, void *array, size_t *room, size_t count, size_t size)
{
	if (count < *room)
		return 0;
	size_t more = *room ? 2 * *room : 64;
	void **at = array, *grown = count < PF_NONE - 1 ? reallocarray(*at, more, size) : NULL;
	if (!grown) {
		pf->draft.failed = true;
		return -1;
	}
	*at = grown;
	*room = more;
	return 0;
}

const char *pf_normal(struct pf *pf, const char *path)
{
	const char *normal = fstab_normal(pf->draft.arena, path);
	pf->draft.failed |= !normal && path && *path == '/';
	return normal;
}

/* File systems. */

uint32_t pf_add_fs(struct pf *pf, const struct pf_fs *fs)
{
	if (grow(pf, &pf->fs, &pf->fs_room, pf->nfs, sizeof(*pf->fs)) != 0)
		return PF_NONE;
	pf->fs[pf->nfs] = *fs;
	pf->fs[pf->nfs].first = pf->fs[pf->nfs].last = pf->fs[pf->nfs].line = PF_NONE;
	return pf->nfs++;
}

bool pf_same_fs(const struct pf *pf, uint32_t a, uint32_t b)
{
	if (a == b || a == PF_NONE || b == PF_NONE)
		return a == b;
	return pf->fs[a].live && pf->fs[b].live && pf->fs[a].dev == pf->fs[b].dev;
}

/* Names. */

void pf_add_name(struct pf *pf, const char *text, uint32_t fs, const char *root)
{
	if (!text || fs == PF_NONE)
		return;
	uint64_t hash = map64_text(text);
	uint32_t first = map64_get(&pf->by_name, hash), of = root ? fs : PF_NONE;
	for (uint32_t i = first; i != MAP64_NONE; i = pf->names[i].next) {
		struct pf_name *name = &pf->names[i];
		if (strcmp(name->text, text) != 0 || (name->root ? name->fs : PF_NONE) != of)
			continue;
		name->twice |= name->fs != fs;
		return;
	}
	if (grow(pf, &pf->names, &pf->names_room, pf->nnames, sizeof(*pf->names)) != 0)
		return;
	pf->names[pf->nnames] = (struct pf_name){.text = text, .fs = fs, .next = first, .root = root};
	map64_remove(&pf->by_name, hash);
	if (map64_put(&pf->by_name, hash, pf->nnames++) == MAP64_NONE)
		pf->draft.failed = true;
}

const struct pf_name *pf_find_name(const struct pf *pf, const char *text, uint32_t fs)
{
	uint32_t i = map64_get(&pf->by_name, map64_text(text));
	for (; i != MAP64_NONE; i = pf->names[i].next) {
		const struct pf_name *name = &pf->names[i];
		if (strcmp(name->text, text) == 0 && (name->root ? name->fs : PF_NONE) == fs)
			return name;
	}
	return NULL;
}

void pf_rename(struct pf *pf, const char *text, uint32_t fs)
{
	const struct pf_name *name = pf_find_name(pf, text, PF_NONE);
	if (name)
		pf->names[name - pf->names].fs = fs;
	else
		pf_add_name(pf, text, fs, NULL);
}

/* Mounts. */

static uint64_t place_hash(uint64_t hash, uint32_t parent)
{
	return map64_bytes(hash, (const char *)&parent, sizeof(parent));
}

/** The mount on another, of a name of n bytes. */
static uint32_t find_child(const struct pf_tree *tree, uint32_t parent, const char *name, size_t n,
                           uint64_t hash)
{
	uint32_t i = map64_get(&tree->by_place, place_hash(hash, parent));
	for (; i != MAP64_NONE; i = tree->mounts[i].same) {
		const struct pf_mount *m = &tree->mounts[i];
		if (m->parent == parent && strncmp(m->target, name, n) == 0 && !m->target[n])
			return i;
	}
	return PF_NONE;
}

uint32_t pf_add_mount(struct pf *pf, struct pf_tree *tree, const struct pf_mount *mount)
{
	if (grow(pf, &tree->mounts, &tree->room, tree->count, sizeof(*tree->mounts)) != 0)
		return PF_NONE;
	uint32_t i = tree->count;
	struct pf_mount *m = &tree->mounts[i];
	*m = *mount;
	m->first = m->next = m->of_fs = PF_NONE;
	uint64_t key = place_hash(map64_text(m->target), m->parent);
	m->lowest = m->highest = i;
	if (m->parent != PF_NONE && strcmp(tree->mounts[m->parent].target, m->target) == 0) {
		m->lowest = tree->mounts[m->parent].lowest;
		tree->mounts[m->lowest].highest = i;
	}
	m->same = map64_remove(&tree->by_place, key);
	if (map64_put(&tree->by_place, key, i) == MAP64_NONE) {
		pf->draft.failed = true;
		return PF_NONE;
	}
	if (m->parent != PF_NONE) {
		m->next = tree->mounts[m->parent].first;
		tree->mounts[m->parent].first = i;
	}
	return tree->count++;
}

void pf_clear_tree(struct pf_tree *tree)
{
	map64_destroy(&tree->by_place);
	map64_init(&tree->by_place);
	tree->count = 0;
}

/** Go on to what is mounted at a name, upon each other: to the highest at once, since
    each line may mount upon the last. */
static uint32_t go_up(const struct pf_tree *tree, uint32_t at, const char *name, size_t n, uint64_t hash,
                      uint32_t beneath)
{
	uint32_t child;
	if (beneath == PF_NONE) {
		if (strncmp(tree->mounts[at].target, name, n) != 0 || tree->mounts[at].target[n])
			at = (child = find_child(tree, at, name, n, hash)) != PF_NONE ? child : at;
		else
			child = at;
		return child != PF_NONE ? tree->mounts[tree->mounts[at].lowest].highest : at;
	}
	while ((child = find_child(tree, at, name, n, hash)) != PF_NONE && child != beneath)
		at = child;
	return at;
}

const char *pf_rest(const char *path, const char *above)
{
	/* A table that no kernel wrote can have "/a/", within which "/a" lies. */
	size_t n = strlen(above);
	while (n > 0 && above[n - 1] == '/')
		--n;
	return pf_is_top(path + n) ? "" : path + n;
}

const char *pf_move(struct pf *pf, const char *path, const char *above, const char *onto)
{
	const char *rest = pf_rest(path, above);
	if (!*rest)
		return onto;
	return pf_is_top(onto) ? rest : fstab_format(&pf->draft, "%s%s", onto, rest);
}

uint32_t pf_resolve(struct pf *pf, const struct pf_tree *tree, const char *path, uint32_t beneath,
                    const char **inner)
{
	uint32_t at = go_up(tree, 0, "/", 1, map64_bytes(MAP64_BYTES, "/", 1), beneath);
	uint64_t hash = MAP64_BYTES;
	for (size_t n = 0; path[n] && path[1];) {
		size_t more = 1 + strcspn(path + n + 1, "/");
		hash = map64_bytes(hash, path + n, more);
		n += more;
		at = go_up(tree, at, path, n, hash, beneath);
	}
	if (!inner)
		return at;
	const struct pf_mount *m = &tree->mounts[at];
	*inner = pf_move(pf, path, m->target, m->root);
	return at;
}

uint32_t pf_wanted(struct pf *pf, const char *target)
{
	uint32_t at = pf_resolve(pf, &pf->live, target, PF_NONE, NULL);
	/* A table that makes no tree can have more than one there. */
	for (; at != PF_NONE && strcmp(pf->live.mounts[at].target, target) == 0; at = pf->live.mounts[at].parent) {
		uint32_t node = pf->live.mounts[at].node;
		if (node != MT_NONE && pf->plan_of[node] && pf->plan_of[node]->fate == FSTAB_LINE)
			return at;
	}
	return PF_NONE;
}

/* Places. */

static uint64_t known_hash(uint32_t fs)
{
	return map64_bytes(MAP64_BYTES, (const char *)&fs, sizeof(fs));
}

/** Find a place of n bytes.  @return it, or NULL. */
static struct pf_place *find_place(const struct pf *pf, uint32_t fs, const char *path, size_t n, uint64_t hash)
{
	uint32_t i = map64_get(&pf->by_place, hash);
	for (; i != MAP64_NONE; i = pf->places[i].next) {
		struct pf_place *place = &pf->places[i];
		if (place->fs == fs && place->n == n && memcmp(place->path, path, n) == 0
		    && (place->run == 0 || place->run == pf->run))
			return place;
	}
	return NULL;
}

/** @return whether it was not known before. */
static bool know_one(struct pf *pf, uint32_t fs, const char *path, size_t n, uint64_t hash,
                     enum fact_kind kind, uint8_t run)
{
	struct pf_place *place = find_place(pf, fs, path, n, hash);
	if (place) {
		if (place->kind == FACT_UNKNOWN || place->kind == FACT_MISSING || place->kind == FACT_OTHER)
			place->kind = (uint8_t)kind;
		return false;
	}
	if (grow(pf, &pf->places, &pf->places_room, pf->nplaces, sizeof(*pf->places)) != 0)
		return false;
	pf->places[pf->nplaces] = (struct pf_place){
		.path = path, .n = (uint32_t)n, .fs = fs, .kind = (uint8_t)kind, .run = run,
		.next = map64_remove(&pf->by_place, hash),
	};
	if (map64_put(&pf->by_place, hash, pf->nplaces++) == MAP64_NONE)
		pf->draft.failed = true;
	return true;
}

void pf_know(struct pf *pf, uint32_t fs, const char *path, enum fact_kind kind, uint8_t run)
{
	uint64_t hash = known_hash(fs);
	if (!path || pf_failed(pf))
		return;
	for (size_t n = 0; path[n] && path[1];) {
		size_t more = 1 + strcspn(path + n + 1, "/");
		hash = map64_bytes(hash, path + n, more);
		n += more;
		know_one(pf, fs, path, n, hash, path[n] && kind != FACT_MISSING ? FACT_DIR : path[n] ? FACT_UNKNOWN : kind,
		         run);
	}
}

/** The live path of a place in a file system, where no other mount covers it; or NULL. */
static const char *live_path(struct pf *pf, uint32_t fs, const char *path)
{
	unsigned tries = 0;
	for (uint32_t i = pf->fs[fs].first; i != PF_NONE && tries < SHOWN_MAX; i = pf->live.mounts[i].of_fs, ++tries) {
		const struct pf_mount *m = &pf->live.mounts[i];
		if (!mtree_path_within(path, m->root))
			continue;
		const char *whole = pf_move(pf, path, m->root, m->target);
		if (whole && pf_resolve(pf, &pf->live, whole, PF_NONE, NULL) == i)
			return whole;
	}
	return NULL;
}

enum fact_kind pf_look(struct pf *pf, uint32_t fs, const char *path, const char **moved, bool *seen)
{
	uint64_t hash = known_hash(fs);
	if (moved)
		*moved = NULL;
	if (seen)
		*seen = true;
	if (!path || pf_is_top(path))
		return FACT_DIR;
	size_t n = strlen(path);
	hash = map64_bytes(hash, path, n);
	const struct pf_place *place = find_place(pf, fs, path, n, hash);
	/* Of some it is known that they are there, and not what they are. */
	enum fact_kind known = place ? (enum fact_kind)place->kind : FACT_UNKNOWN;
	if (known != FACT_UNKNOWN && (known != FACT_OTHER || !pf->in->facts.look))
		return known;
	if (pf->fs[fs].fresh && !place)
		return FACT_MISSING;
	const struct fstab_facts *facts = &pf->in->facts;
	const char *whole = pf->fs[fs].kept ? live_path(pf, fs, path) : NULL;
	if (seen)
		*seen = whole;
	if (!whole || !facts->look)
		return known;
	strbuf_reset(&pf->real);
	enum fact_kind kind = facts->look(facts->arg, whole, &pf->real);
	/* That it is there, the table of mounts knows better. */
	if (kind == FACT_UNKNOWN || (kind == FACT_MISSING && known != FACT_UNKNOWN))
		return known;
	if (kind != FACT_MISSING && pf->real.len && strcmp(strbuf_str(&pf->real), whole) != 0) {
		/* A link: only where it leads says what is there. */
		if (moved)
			*moved = fstab_format(&pf->draft, "%s", strbuf_str(&pf->real));
		return kind;
	}
	pf_know(pf, fs, path, kind, 0);
	return kind;
}

/* The live tree. */

/** The file system of a node. */
static uint32_t fs_of_node(struct pf *pf, const struct mount *m)
{
	uint64_t dev = mount_dev(m);
	uint32_t i = map64_get(&pf->fs_by_dev, dev);
	if (i != MAP64_NONE)
		return i;
	i = pf_add_fs(pf, &(struct pf_fs){.dev = dev, .live = true, .kept = true, .name = m->source,
	                                  .fstype = m->fstype});
	if (i != PF_NONE && map64_put(&pf->fs_by_dev, dev, i) == MAP64_NONE)
		pf->draft.failed = true;
	return i;
}

void pf_name_tags(struct pf *pf, const struct devmap_tags *tags, uint32_t fs)
{
	if (!tags)
		return;
	const char *const all[][2] = {
		{"UUID", tags->uuid}, {"LABEL", tags->label}, {"PARTUUID", tags->partuuid}, {"PARTLABEL", tags->partlabel},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
		if (all[i][1])
			pf_add_name(pf, fstab_format(&pf->draft, "%s=%s", all[i][0], all[i][1]), fs, NULL);
	}
	pf_add_name(pf, tags->name, fs, NULL);
}

/** Name what a mount stands on: once for each file system. */
static void name_fs(struct pf *pf, uint32_t fs, const struct mount *m)
{
	const struct fstab_world *world = &pf->in->live->world;
	struct fstab_device device = {0};
	bool on_device = m->dev_major != 0 || fstype_flags(m->fstype) & FST_SUBVOL;
	if (!on_device)
		return;
	if (world->device && world->device(world->arg, m, &device) != 0) {
		pf->draft.failed = true;
		return;
	}
	pf_name_tags(pf, device.tags, fs);
	pf->fs[fs].tagged = device.tags && (device.tags->uuid || device.tags->label || device.tags->partuuid
	                                    || device.tags->partlabel);
	if (m->source && *m->source == '/')
		pf_add_name(pf, m->source, fs, NULL);
	if (device.tags && device.tags->name)
		pf->fs[fs].name = device.tags->name;
	/* The file of a loop device, as it lies in its own file system. */
	if (device.loop.file && !device.loop.partition) {
		const char *root = pf->in->live->root, *file = device.loop.file;
		if (!mtree_path_within(file, root))
			return;
		file = pf_rest(file, root);
		const char *inner;
		uint32_t on = pf_resolve(pf, &pf->live, *file ? file : "/", PF_NONE, &inner);
		uint32_t of = pf->live.mounts[on].fs;
		pf_add_name(pf, fstab_format(&pf->draft, "loop %u %llu %llu %s", of,
		                             (unsigned long long)device.loop.offset,
		                             (unsigned long long)device.loop.limit, inner ? inner : ""), fs, NULL);
		pf_know(pf, of, inner, FACT_FILE, 0);
	}
}

/** The kind of a mount point, if it is known. */
static enum fact_kind kind_of(const struct pf *pf, uint32_t node)
{
	enum discover_kind kind = (enum discover_kind)pf->in->live->d->kinds[node];
	if (kind == DK_DIR || kind == DK_FILE)
		return kind == DK_DIR ? FACT_DIR : FACT_FILE;
	/* What has a mount below it, or is the top of something, is a directory. */
	const struct mt_node *n = &pf->in->live->d->tree.nodes[node];
	return n->first != MT_NONE || !n->mount->root || pf_is_top(n->mount->root) ? FACT_DIR : FACT_OTHER;
}

/** A name of the discovery from ROOT, or NULL. */
static const char *below_root(const struct pf *pf, const char *name)
{
	const char *root = pf->in->live->root;
	if (!name || !mtree_path_within(name, root))
		return NULL;
	name = pf_rest(name, root);
	return *name ? name : "/";
}

static bool is_visible(const struct mt_node *node)
{
	return !node->gone && !node->made
	       && !(node->states & (1u << MT_OUTSIDE | 1u << MT_HIDDEN | 1u << MT_LOST | 1u << MT_UNSEARCHED));
}

/** Put a mount to those of its file system, behind them. */
static void link_fs(struct pf *pf, uint32_t mount)
{
	struct pf_fs *fs = &pf->fs[pf->live.mounts[mount].fs];
	if (fs->first == PF_NONE)
		fs->first = mount;
	else
		pf->live.mounts[fs->last].of_fs = mount;
	fs->last = mount;
}

/** What holds ROOT, if no mount is there: a directory of another. */
static void add_base(struct pf *pf)
{
	const struct discovery *d = pf->in->live->d;
	const char *root = pf->in->live->root, *name = NULL;
	uint32_t holder = MT_NONE;
	for (uint32_t at = 0; at < d->tree.count; ++at) {
		uint32_t i = d->tree.order[at];
		const char *target = d->targets[i];
		if (!is_visible(&d->tree.nodes[i]) || !target || !mtree_path_within(root, target))
			continue;
		if (holder == MT_NONE || strlen(target) >= strlen(name)) {
			holder = i;
			name = target;
		}
	}
	struct pf_mount base = {.parent = PF_NONE, .fs = PF_NONE, .line = PF_NONE, .node = MT_NONE, .root = "/",
	                        .target = "/", .unknown = PFF_ALL};
	if (holder != MT_NONE) {
		const struct mount *m = d->tree.nodes[holder].mount;
		base.fs = fs_of_node(pf, m);
		base.node = strcmp(name, root) == 0 ? holder : MT_NONE;
		base.flags = pf_live_flags(m);
		base.unknown = 0;
		base.root = pf_move(pf, root, name, m->root ? m->root : "/");
	}
	if (base.fs == PF_NONE)
		base.fs = pf_add_fs(pf, &(struct pf_fs){.name = "ROOT"});
	if (base.fs == PF_NONE || !base.root)
		return;
	uint32_t i = pf_add_mount(pf, &pf->live, &base);
	if (i != PF_NONE)
		link_fs(pf, i);
}

/** A layer of an overlay is there, also where the overlay covers it. */
struct layers {
	struct pf *pf;
	uint32_t self;
	struct strbuf path;
};

static bool know_layer(void *arg, const struct opt_layer *layer)
{
	struct layers *layers = arg;
	struct pf *pf = layers->pf;
	opt_layer_path(layer, &layers->path);
	const char *path = pf_normal(pf, strbuf_str(&layers->path)), *inner;
	path = path ? below_root(pf, path) : NULL;
	if (path) {
		uint32_t on = pf_resolve(pf, &pf->live, path, layers->self, &inner);
		pf_know(pf, pf->live.mounts[on].fs, inner, FACT_DIR, 0);
	}
	return !layers->path.failed && !pf_failed(pf);
}

static void know_layers(struct pf *pf, uint32_t mount)
{
	uint32_t node = pf->live.mounts[mount].node;
	const struct mount *m = pf->in->live->d->tree.nodes[node].mount;
	const struct fstab_line *plan = pf->plan_of[node];
	if (!m->fstype || strcmp(m->fstype, "overlay") != 0 || !m->fs_opts || !plan || plan->fate != FSTAB_LINE)
		return;
	struct layers layers = {.pf = pf, .self = mount};
	struct strbuf scratch;
	strbuf_init(&layers.path);
	strbuf_init(&scratch);
	opt_each_layer(m->fs_opts, &scratch, know_layer, &layers);
	pf->draft.failed |= scratch.failed || layers.path.failed;
	strbuf_destroy(&layers.path);
	strbuf_destroy(&scratch);
}

void pf_make_live(struct pf *pf)
{
	const struct discovery *d = pf->in->live->d;
	const struct mtree *tree = &d->tree;
	add_base(pf);
	for (uint32_t at = 0; at < tree->count && !pf_failed(pf); ++at) {
		uint32_t i = tree->order[at];
		const struct mt_node *node = &tree->nodes[i];
		const struct mount *m = node->mount;
		const char *target = below_root(pf, d->targets[i]), *root = m->root ? m->root : "/";
		if (node->gone || node->made || !target || node->states & 1u << MT_OUTSIDE)
			continue;
		uint32_t fs = fs_of_node(pf, m);
		if (fs == PF_NONE)
			return;
		if (!(node->states & 1u << MT_DELETED) && *root == '/')
			pf_know(pf, fs, root, kind_of(pf, i), 0);
		/* Where it stands. */
		const struct mt_node *on = node->parent != MT_NONE ? &tree->nodes[node->parent] : NULL;
		const char *above = on ? below_root(pf, d->targets[node->parent]) : NULL;
		if (on && above && on->mount->root && mtree_path_within(target, above)) {
			pf_know(pf, fs_of_node(pf, on->mount), pf_move(pf, target, above, on->mount->root), kind_of(pf, i), 0);
		}
		if (!is_visible(node))
			continue;
		const char *inner;
		uint32_t parent = pf_resolve(pf, &pf->live, target, PF_NONE, &inner);
		pf_know(pf, pf->live.mounts[parent].fs, inner, kind_of(pf, i), 0);
		/* Of a stack one is visible; a table that makes no tree can have more. */
		if (pf->live.mounts[0].node == i || strcmp(pf->live.mounts[parent].target, target) == 0)
			continue;
		uint32_t mount = pf_add_mount(pf, &pf->live, &(struct pf_mount){
			.parent = parent, .fs = fs, .line = PF_NONE, .node = i, .root = root, .target = target,
			.flags = pf_live_flags(m)});
		if (mount != PF_NONE)
			link_fs(pf, mount);
	}
	/* When all are there: a file of an image is found through them. */
	for (uint32_t i = 0; i < pf->live.count && !pf_failed(pf); ++i) {
		const struct pf_mount *m = &pf->live.mounts[i];
		if (m->node == MT_NONE)
			continue;
		const struct mount *record = tree->nodes[m->node].mount;
		know_layers(pf, i);
		if (pf->fs[m->fs].first == i)
			name_fs(pf, m->fs, record);
		else if (record->source && *record->source == '/' && (record->dev_major || fstype_flags(record->fstype) & FST_SUBVOL))
			pf_add_name(pf, record->source, m->fs, NULL);
		if (fstype_flags(record->fstype) & FST_SUBVOL
		    && opt_shown_value(record->fs_opts, "subvolid", &pf->real)) {
			const char *id = fstab_format(&pf->draft, "%s", strbuf_str(&pf->real));
			if (id && opt_shown_value(record->fs_opts, "subvol", &pf->real))
				pf_add_name(pf, id, m->fs, fstab_format(&pf->draft, "%s", strbuf_str(&pf->real)));
		}
	}
}
