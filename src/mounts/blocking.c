/* SPDX-License-Identifier: MIT */
/*
 * Finds the mounts that can block, and the mounts behind them.
 *
 * A layer can have a relative name, as Docker's "l/XYZ".  The kernel does not report the directory
 * that mount(2) was called in.  Such a layer is local if no mount in the table can block,
 * or if the names lead to local mounts from a directory where they exist, which is proven by a
 * long random name that an engine chose.
 *
 * Two of the conditions of mounts.h depend on other mounts: a path that blocks, and an ancestor
 * that blocks.  They are found by iteration.  Following a path through symlinks accesses the mounts
 * on the path.  So a mount is unsure until every path that it depends on was checked, and no path
 * is followed through an unsure mount.  Each round settles at least one path; chains such as an
 * overlay on a loop device on an overlay are short.  Paths that are not settled after BLOCK_ROUNDS,
 * or depend on each other in a cycle, are assumed to block.
 */
#include "mounts/mounts.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fail.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/layers.h"
#include "mounts/paths.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

enum {
	BLOCK_ROUNDS = 32,
	CHOSEN_LENGTH = 20,   /* shortest name that is not the same by accident in two places */
};

/** Properties of a mount. */
enum mounts_flags {
	MB_BLOCKS  = 1 << 0,  /* its file system can block */
	MB_BEHIND  = 1 << 1,  /* a mount on its path can block */
	MB_NO_LOOK = 1 << 2,  /* even statx of its root can block */
	/* While finding these: */
	MB_UNSURE  = 1 << 3,  /* a path that it depends on is not yet checked */
	MB_UNSURE_BEHIND = 1 << 4,   /* a mount on its path is unsure */
	MB_ANY = MB_BLOCKS | MB_BEHIND | MB_UNSURE | MB_UNSURE_BEHIND,
};

/** A mount that depends on a path: a layer of an overlay, or the backing file of a loop device. */
struct mounts_dependency {
	uint32_t node;
	uint32_t on;                /* if it blocks: the mount that contains the path, or the
	                               blocking mount on the path; MT_NONE: unknown */
	const char *path;           /* decoded; valid while these are found */
	uint32_t major, minor;      /* the loop device with this backing file; 0: none */
	bool named;                 /* known only by its path: may be on a hidden mount */
	bool relative;              /* the relative names of an overlay's layers: a list in path,
	                               each ended by NUL, the last one followed by another */
	bool clear;                 /* found not to block */
};

/** Whether a path leads into or through a mount that blocks, or through an unsure one. */
enum leads { LEADS_CLEAR, LEADS_BLOCKED, LEADS_UNSURE };

struct blocking {
	struct mounts *mounts;
	struct mounts_paths paths;
	struct strbuf path;
	struct strbuf followed;
	struct strbuf relative;  /* relative names of layers, each ended by NUL */
	struct arena arena;      /* the paths of layers */
	uint32_t node;           /* the node whose paths are being added */
	bool failed;             /* memory ran out */
};

/** The enum fstype_flags of a node. */
static unsigned type_of(const struct mounts *m, uint32_t node)
{
	return fstype_flags(m->tree->nodes[node].mount->fstype);
}

/** Whether the table's names begin at the root of this process, not of the run. */
static bool is_own(const struct mounts *m)
{
	return m->rootfd == AT_FDCWD || strcmp(m->prefix, "/") != 0;
}

bool mount_type_blocks(const struct mount *mount)
{
	const char *last = mount->root ? strrchr(mount->root, '/') : NULL;
	/* A mount whose type is unknown is assumed to block. */
	return fstype_blocks(mount->fstype)
	       || (last && fstype_dir_waits(mount->fstype, last + 1));
}

/** Add what the current node depends on. */
static void depend_on(struct blocking *b, struct mounts_dependency on)
{
	struct mounts *m = b->mounts;
	if (!ARRAY_ROOM(m->dependencies, m->ndependencies, &m->dependencies_room)) {
		b->failed = true;
		return;
	}
	on.node = b->node;
	on.on = MT_NONE;
	m->dependencies[m->ndependencies++] = on;
}

/** Add a path of a layer of an overlay.
    @named  It is known only by this path. */
static void depend_on_layer(struct blocking *b, const char *path, bool named)
{
	/* A layer given by descriptor may be on a mount that was never attached. */
	if (*path == '/')
		depend_on(b, (struct mounts_dependency){.path = path, .named = named});
	else
		strbuf_add(&b->relative, path, strlen(path) + 1);
}

/** Add the layers of an overlay.  In lowerdir= a backslash escapes ':' and '\'; in lowerdir+= and
    datadir+= it is part of the name; in upperdir= and workdir= this depends on the kernel version,
    so that both paths are added.  @return whether all are known. */
static bool depend_on_layers(struct blocking *b, const struct mount *m)
{
	struct opt_dir *dirs;
	bool known = m->fs_opts;
	strbuf_reset(&b->relative);
	size_t n = known ? opt_layers(m->fs_opts, opt_next_shown, &b->arena, &dirs) : 0;
	b->failed |= b->arena.failed;
	for (size_t i = 0; i < n && !b->failed; ++i) {
		bool named = !dirs[i].list && (dirs[i].of == 'l' || dirs[i].of == 'd');
		if (dirs[i].other)
			depend_on_layer(b, dirs[i].other, named);
		depend_on_layer(b, dirs[i].path, named);
	}
	b->failed |= b->relative.failed;
	if (b->relative.len && !b->failed) {
		const char *names = arena_strndup(&b->arena, b->relative.data, b->relative.len);
		b->failed |= !names;
		depend_on(b, (struct mounts_dependency){.path = names, .relative = true});
	}
	return known;
}

/** Whether a mount blocks because of its type or device, as far as no path is involved; the paths
    that it depends on are added. */
static bool blocks_by_itself(struct blocking *b, uint32_t i, const struct mount *root)
{
	struct devmap *devs = b->mounts->devs;
	const struct mount *m = b->mounts->tree->nodes[i].mount;
	unsigned flags = fstype_flags(m->fstype);
	bool blocks = mount_type_blocks(m);
	b->node = i;
	/* Without its device number it is not known what it stands on. */
	bool numbered = b->mounts->table->fields & MF_DEV || b->mounts->more;
	if (!numbered && i != b->mounts->root && flags & (FST_DEVICE | FST_LAYERED))
		return true;
	/* The layers of a container's root are paths of its host, which cannot be followed from
	   inside; and this process accesses its root anyway. */
	bool own = numbered && root && mount_dev(m) == mount_dev(root);
	if (i == b->mounts->root && b->mounts->trusts_root)
		return blocks;
	/* An overlay with unknown layers is assumed to block. */
	if (flags & FST_LAYERED && !own)
		blocks |= !depend_on_layers(b, m);
	/* btrfs and bcachefs have anonymous device numbers; other file systems on devices only if
	   they are backed by a file: erofs. */
	bool behind = flags & FST_SUBVOL;
	if (flags & FST_DEVICE && m->dev_major == 0 && !behind && !own && !blocks) {
		if (m->source && *m->source == '/')
			depend_on(b, (struct mounts_dependency){.path = m->source, .named = true});
		else
			blocks = true;
	}
	if ((m->dev_major != 0 || behind) && devs) {
		size_t n = 0;
		const struct devmap_file *f = NULL;
		if (devmap_mount_blocks(devs, m))
			blocks = true;
		else if (!own)
			f = devmap_mount_files(devs, m, &n);
		for (size_t k = 0; k < n; ++k)
			depend_on(b, (struct mounts_dependency){
				.path = f[k].path, .major = f[k].major, .minor = f[k].minor,
			});
	}
	return blocks;
}

/** Mark mounts that block because of their type or device, and collect the paths that other mounts
    depend on. */
static void mark_by_itself(struct blocking *b)
{
	struct mounts *m = b->mounts;
	const struct mount *root = m->root == MT_NONE ? NULL : m->tree->nodes[m->root].mount;
	for (uint32_t i = 0; i < m->tree->count; ++i) {
		if (m->tree->nodes[i].made)
			continue;
		if (blocks_by_itself(b, i, root))
			m->flags[i] |= MB_BLOCKS;
		if (type_of(m, i) & FST_NO_LOOK)
			m->flags[i] |= MB_NO_LOOK;
	}
}

/** Set the flag `behind` on the mounts that are reached through mounts with the flag `flag`.
    @return whether any mount changed. */
static bool block_pass_down(struct mounts *m, uint8_t flag, uint8_t behind)
{
	const struct mtree *tree = m->tree;
	bool changed = false;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t index = tree->order[i], parent = tree->nodes[index].parent;
		/* Access to "/" is unavoidable. */
		if (parent == MT_NONE || m->flags[index] & behind || index == m->root)
			continue;
		/* A mount stacked on the root of a blocking mount is reached without a lookup in
		   that mount. */
		bool idles = m->lets_expire && type_of(m, parent) & FST_AUTOFS;
		if (m->flags[parent] & behind
		    || (m->flags[parent] & flag && (idles || !mtree_stacked(tree, index)))) {
			m->flags[index] |= behind;
			changed = true;
		}
	}
	return changed;
}

/** Recompute MB_UNSURE and MB_UNSURE_BEHIND. */
static void block_mark_unsure(struct mounts *m)
{
	for (uint32_t i = 0; i < m->tree->count; ++i)
		m->flags[i] &= (uint8_t)~(MB_UNSURE | MB_UNSURE_BEHIND);
	for (size_t i = 0; i < m->ndependencies; ++i) {
		if (!m->dependencies[i].clear)
			m->flags[m->dependencies[i].node] |= MB_UNSURE;
	}
	block_pass_down(m, MB_UNSURE, MB_UNSURE_BEHIND);
}

/** Where a path leads that needs a mount. */
static enum leads leads_of(const struct mounts *m, uint32_t node)
{
	uint8_t flags = m->flags[node];
	return flags & (MB_BLOCKS | MB_BEHIND) ? LEADS_BLOCKED
	       : flags & (MB_UNSURE | MB_UNSURE_BEHIND) ? LEADS_UNSURE : LEADS_CLEAR;
}

/** Follow a path, reading symlinks only on mounts that are known not to block.  A path that cannot
    be followed is LEADS_BLOCKED.
    @in [out]  The mount that contains the path, or the mount where following it ended. */
static enum leads path_leads(struct blocking *b, const char *path, uint32_t *in)
{
	enum path_followed followed = mounts_follow(&b->paths, path, &b->followed);
	*in = b->paths.reached;
	return followed == PATH_SEEN ? LEADS_CLEAR
	       : followed == PATH_UNTOUCHED && *in != MT_NONE ? leads_of(b->mounts, *in)
	                                                      : LEADS_BLOCKED;
}

/** Check a path that is covered by the mount that depends on it, as with an overlay mounted over
    its own lower layer: the path is on the covered mount, whose symlinks cannot be read any
    more. */
static enum leads block_beneath(const struct mounts *m, const struct mounts_dependency *on)
{
	const struct mt_node *nodes = m->tree->nodes;
	enum leads leads = LEADS_CLEAR;
	for (uint32_t next, at = nodes[on->node].parent; at != MT_NONE; at = next) {
		enum leads here = leads_of(m, at);
		if (here == LEADS_BLOCKED)
			return here;
		leads = here == LEADS_UNSURE ? here : leads;
		next = MT_NONE;
		for (uint32_t c = nodes[at].first; c != MT_NONE; c = nodes[c].next) {
			const char *point = nodes[c].mount->point;
			if (c != on->node && point && word_below(on->path, point))
				next = c;
		}
	}
	return leads;
}

/** Whether a FUSE file system exists that is not in the table: detached, or in another
    namespace.  The kernel lists the connections by device number. */
static bool is_fuse_hidden(const struct mounts *m)
{
	struct devmap_dir dir;
	bool hidden = false;
	if (mounts_type_blocks(m->table, "/sys/fs/fuse/connections"))
		return false;
	devmap_dir_open(m->devs, &dir, "fs/fuse/connections");
	for (const char *name; !hidden && (name = devmap_dir_next(m->devs, &dir)) != NULL;) {
		char *end;
		unsigned long dev = strtoul(name, &end, 10);
		bool mounted = end == name || *end != '\0';
		for (size_t i = 0; i < m->table->count && !mounted; ++i) {
			const struct mount *one = &m->table->mounts[i];
			mounted = ((unsigned long)one->dev_major << 20 | one->dev_minor) == dev;
		}
		hidden = !mounted;
	}
	devmap_dir_close(m->devs, &dir);
	return hidden;
}

bool mounts_loop_here(const struct mounts *m, uint32_t major, uint32_t minor)
{
	enum devmap_here here = devmap_file_here(m->devs, major, minor,
	                                         is_own(m) ? AT_FDCWD : m->rootfd);
	return here == DEVMAP_HERE || (here == DEVMAP_NAMED && !is_fuse_hidden(m));
}

/** Whether a layer could be on a mount that can block, wherever it is.  The kernel accepts no
    directory of an automounter as a layer. */
static enum leads block_anywhere(const struct mounts *m)
{
	for (uint32_t i = 0; i < m->tree->count; ++i) {
		if (m->flags[i] & MB_BLOCKS && !(type_of(m, i) & FST_AUTOFS))
			return LEADS_BLOCKED;
	}
	for (size_t i = 0; i < m->ndependencies; ++i) {
		/* Either all overlays with relative layers are local, or none. */
		if (!m->dependencies[i].clear && !m->dependencies[i].relative)
			return LEADS_UNSURE;
	}
	return !m->devs || is_fuse_hidden(m) ? LEADS_BLOCKED : LEADS_CLEAR;
}

/** Whether a relative name has a component that is as long as those that engines choose. */
static bool is_chosen(const char *name)
{
	for (size_t n; *name; name += n + (name[n] == '/')) {
		n = strcspn(name, "/");
		if (n >= CHOSEN_LENGTH)
			return true;
	}
	return false;
}

/** Check relative names from a directory, of n bytes.  @names  Of the dependency. */
static enum leads block_from(struct blocking *b, const char *dir, size_t n, const char *names,
                             uint32_t node)
{
	enum leads worst = LEADS_CLEAR;
	bool chosen = false;
	for (const char *name = names; *name; name += strlen(name) + 1) {
		uint32_t in;
		strbuf_reset(&b->path);
		strbuf_add(&b->path, dir, n);
		strbuf_putc(&b->path, '/');
		strbuf_puts(&b->path, name);
		b->failed |= b->path.failed;
		enum leads leads = path_leads(b, strbuf_str(&b->path), &in);
		if (leads == LEADS_BLOCKED || in == node)
			return LEADS_BLOCKED;
		worst = leads == LEADS_UNSURE ? leads : worst;
		chosen |= is_chosen(name);
	}
	return chosen ? worst : LEADS_BLOCKED;
}

/** Check relative names from each directory above a path.
    @return the best result. */
static enum leads block_above(struct blocking *b, const char *path, const char *names,
                              uint32_t node)
{
	enum leads best = LEADS_BLOCKED;
	for (size_t n = path ? strlen(path) : 0; n > 0 && best != LEADS_CLEAR;) {
		while (n > 0 && path[n - 1] != '/')
			--n;
		while (n > 0 && path[n - 1] == '/')
			--n;
		enum leads leads = block_from(b, path, n, names, node);
		best = leads == LEADS_BLOCKED ? best : leads;
	}
	return best;
}

/** Check the relative names of an overlay's layers.  Engines mount in a directory above the mount
    point (Docker, Podman), or above the upper layer (containerd). */
static enum leads block_relative(struct blocking *b, const struct mounts_dependency *on)
{
	const struct mounts *m = b->mounts;
	enum leads leads = block_anywhere(m);
	if (leads != LEADS_BLOCKED)
		return leads;
	leads = block_above(b, m->tree->nodes[on->node].mount->point, on->path, on->node);
	for (size_t i = 0; i < m->ndependencies && leads == LEADS_BLOCKED; ++i) {
		const struct mounts_dependency *layer = &m->dependencies[i];
		if (layer->node == on->node && !layer->relative)
			leads = block_above(b, layer->path, on->path, on->node);
	}
	return leads;
}

/** Check a path by the current flags.  If the mount that contains the path is known, set on->on. */
static enum leads block_leads(struct blocking *b, struct mounts_dependency *on)
{
	const struct mounts *m = b->mounts;
	uint32_t in;
	if (on->relative)
		return block_relative(b, on);
	enum leads leads = path_leads(b, on->path, &in);
	on->on = in == on->node ? MT_NONE : in;
	if (in == on->node)
		return block_beneath(m, on);
	if (leads != LEADS_CLEAR)
		return leads;
	bool elsewhere = on->named && m->devs && is_fuse_hidden(m);
	if (!elsewhere && on->major != 0)
		elsewhere = !mounts_loop_here(m, on->major, on->minor);
	if (elsewhere)
		on->on = MT_NONE;
	return elsewhere ? LEADS_BLOCKED : LEADS_CLEAR;
}

/** Follow the paths that are not settled.  @return whether at least one was settled. */
static bool block_follow(struct blocking *b)
{
	struct mounts *m = b->mounts;
	bool changed = false;
	block_mark_unsure(m);
	for (size_t i = 0; i < m->ndependencies; ++i) {
		struct mounts_dependency *on = &m->dependencies[i];
		if (on->clear || m->flags[on->node] & MB_BLOCKS)
			continue;
		enum leads leads = block_leads(b, on);
		on->clear = leads == LEADS_CLEAR;
		on->on = leads == LEADS_BLOCKED ? on->on : MT_NONE;
		if (leads == LEADS_BLOCKED)
			m->flags[on->node] |= MB_BLOCKS;
		changed |= leads != LEADS_UNSURE;
	}
	return changed;
}

/** Put the records that were read again into the tree. */
static void use_more(struct mounts *m)
{
	for (size_t i = 0; m->more && i < m->more->count; ++i) {
		uint32_t node = mtree_find(m->tree, m->more->mounts[i].key);
		if (node != MT_NONE && !m->tree->nodes[node].made)
			m->tree->nodes[node].mount = &m->more->mounts[i];
	}
}

/** Read the fields that only a few types need: the layers of overlays, the source of btrfs, the log
    device of XFS; and device numbers.  The table may contain only the fields needed for the
    columns. */
static int block_read_more(struct mounts *m)
{
	struct mtree *tree = m->tree;
	unsigned lacks = (MF_SOURCE | MF_FS_OPTS | MF_DEV) & ~m->table->fields;
	if (lacks == 0 || m->table->source != TABLE_LISTMOUNT)
		return 0;
	uint64_t *keys = malloc((tree->count + 1) * sizeof(*keys));
	if (!keys)
		return -1;
	size_t n = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		unsigned flags = type_of(m, i);
		bool behind = flags & FST_DEVICE && node->mount->dev_major == 0;
		bool need = lacks & MF_DEV || (behind && lacks & MF_SOURCE)
		            || (flags & (FST_LAYERED | FST_OPT_DEVICES) && lacks & MF_FS_OPTS);
		if (!node->made && need)
			keys[n++] = node->mount->key;
	}
	if (n > 0)
		m->more = table_read_again(m->os, m->table, lacks, keys, n, m->procfd,
		                           m->procpath);
	free(keys);
	if (n > 0 && !m->more)
		return errno == ENOMEM ? -1 : 0;
	/* A mount whose fields could not be read is assumed to block. */
	use_more(m);
	return 0;
}

/** Index the mount points of the table, as the paths of layers and files begin at its root. */
static int paths_init(struct blocking *b)
{
	struct mounts *m = b->mounts;
	const struct mtree *tree = m->tree;
	struct mtree own = {0};
	b->paths = (struct mounts_paths){
		.mounts = m, .rootfd = is_own(m) ? AT_FDCWD : m->rootfd, .blind = true,
	};
	int rc = 0;
	if (m->unjudged) {
		uint64_t key = m->root == MT_NONE ? 0 : tree->nodes[m->root].mount->key;
		tree = &own;
		rc = mtree_init(&own, m->table->mounts, m->table->count, key);
		rc = rc == 0 ? mtree_judge(&own, m->root, "/") : rc;
	}
	for (uint32_t i = 0; rc == 0 && i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		const char *point = node->mount->point;
		/* Only visible mounts: the top of a stack. */
		if (point && node->top == i && !node->place_hidden)
			rc = mounts_paths_add(&b->paths, point, i);
	}
	mtree_destroy(&own);
	return rc;
}

/** Find which mounts can block.  @return 0, or -1 (ENOMEM). */
static int find_blocking(struct mounts *m)
{
	struct blocking b = {.mounts = m};
	if (block_read_more(m) != 0)
		return -1;
	/* The callback of devmap asks mounts_path_block(), which needs the result of this. */
	if (m->devs)
		devmap_trust_files(m->devs, true);
	mark_by_itself(&b);
	b.failed |= (m->devs && devmap_failed(m->devs))
	            || (m->ndependencies > 0 && paths_init(&b) != 0);
	bool changed = !b.failed;
	for (int round = 0; changed && round < BLOCK_ROUNDS; ++round) {
		changed = block_pass_down(m, MB_BLOCKS, MB_BEHIND);
		changed |= block_follow(&b);
	}
	for (size_t i = 0; i < m->ndependencies; ++i) {
		if (!m->dependencies[i].clear)
			m->flags[m->dependencies[i].node] |= MB_BLOCKS;
	}
	for (uint32_t i = 0; i < m->tree->count; ++i)
		m->flags[i] &= MB_BLOCKS | MB_BEHIND | MB_NO_LOOK;
	block_pass_down(m, MB_BLOCKS, MB_BEHIND);
	/* If statx is unavailable, os/ uses fstatat, which contacts the server. */
	for (uint32_t i = 0; i < m->tree->count && !m->os->statx_works; ++i) {
		if (m->flags[i] & MB_BLOCKS)
			m->flags[i] |= MB_NO_LOOK;
	}
	if (m->devs)
		devmap_trust_files(m->devs, false);
	b.failed |= b.paths.failed;
	mounts_paths_destroy(&b.paths);
	strbuf_destroy(&b.path);
	strbuf_destroy(&b.followed);
	strbuf_destroy(&b.relative);
	arena_destroy(&b.arena);
	return b.failed ? fail(ENOMEM) : 0;
}

int mounts_find_blocking(struct mounts *m)
{
	if (m->flags)
		return 0;
	/* A tree of this table has at most one node more. */
	m->flags = calloc(m->table->count + 1, sizeof(*m->flags));
	int rc = m->flags ? find_blocking(m) : -1;
	m->failed |= rc != 0;
	if (rc != 0 && m->flags)
		memset(m->flags, MB_BLOCKS | MB_BEHIND | MB_NO_LOOK, m->table->count + 1);
	return rc;
}

void mounts_adopt(struct mounts *to, struct mounts *from)
{
	assert(to->table == from->table && !to->flags);
	if (!from->flags)
		return;
	to->flags = from->flags;
	to->dependencies = from->dependencies;
	to->ndependencies = from->ndependencies;
	to->dependencies_room = from->dependencies_room;
	to->more = from->more;
	to->failed |= from->failed;
	use_more(to);
	from->flags = NULL;
	from->dependencies = NULL;
	from->ndependencies = from->dependencies_room = 0;
	from->more = NULL;
}

void mounts_close(struct mounts *m)
{
	m->closed = true;
	m->os = NULL;
	m->devs = NULL;
	m->prefix = m->procpath = NULL;
}

void mounts_destroy(struct mounts *m)
{
	free(m->flags);
	free(m->dependencies);
	table_free(m->more);
	m->flags = NULL;
	m->dependencies = NULL;
	m->more = NULL;
}

bool mounts_are_known(const struct mounts *m)
{
	return m->flags;
}

/** Whether a mount has one of some flags. */
static bool has(struct mounts *m, uint32_t node, uint8_t flags)
{
	/* What a recorded table describes is not here. */
	bool here = !m->closed && m->table->source < TABLE_RECORDED;
	assert(m->closed || node < m->tree->count);
	return (!m->flags && (!here || mounts_find_blocking(m) != 0)) || m->flags[node] & flags;
}

bool mounts_block(struct mounts *m, uint32_t node)
{
	return has(m, node, MB_ANY);
}

bool mounts_block_itself(struct mounts *m, uint32_t node)
{
	return has(m, node, MB_BLOCKS);
}

bool mounts_block_before(struct mounts *m, uint32_t node)
{
	return has(m, node, MB_BEHIND);
}

bool mounts_no_look(struct mounts *m, uint32_t node)
{
	return has(m, node, MB_NO_LOOK);
}

void mounts_assume(struct mounts *m, uint32_t node)
{
	if (mounts_find_blocking(m) == 0)
		m->flags[node] |= MB_BLOCKS;
}

void mounts_assume_behind(struct mounts *m, uint32_t node)
{
	if (mounts_find_blocking(m) == 0)
		m->flags[node] |= MB_BEHIND;
}

void mounts_propagate(const struct mounts *m,
                      bool (*apply)(void *arg, uint32_t node, uint32_t on, bool below), void *arg)
{
	const struct mtree *tree = m->tree;
	assert(m->flags || m->failed);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < tree->count; ++i) {
			uint32_t node = tree->order[i], parent = tree->nodes[node].parent;
			if (parent != MT_NONE && !mtree_stacked(tree, node))
				changed |= apply(arg, node, parent, true);
		}
		for (size_t i = 0; i < m->ndependencies; ++i) {
			const struct mounts_dependency *d = &m->dependencies[i];
			if (d->on != MT_NONE)
				changed |= apply(arg, d->node, d->on, false);
		}
	}
}

bool mounts_type_blocks(const struct mount_table *table, const char *path)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if (m->point && strcmp(m->point, "/") != 0 && word_below(path, m->point)
		    && mount_type_blocks(m))
			return true;
	}
	return false;
}

struct devmap *mounts_devmap(struct os *os, const struct mount_table *own)
{
	static const char *const places[][2] = {
		{"/sys", "/sys/dev/block"}, {"/run", "/run/udev/data"}, {"/dev", "/dev"},
		{"/proc", "/proc/fs/jbd2"},
	};
	struct devmap_roots roots;
	const char **const root[] = {&roots.sys, &roots.run, &roots.dev, &roots.proc};
	const unsigned need = MF_POINT | MF_FSTYPE;
	struct mount_table *read = NULL;
	if (!own)
		own = read = table_read_kernel(os, TABLE_MOUNTINFO, need);
	bool known = own && (own->fields & need) == need;
	for (size_t i = 0; i < sizeof(root) / sizeof(*root); ++i)
		*root[i] = known && mounts_type_blocks(own, places[i][1]) ? NULL : places[i][0];
	table_free(read);
	return devmap_new(os, &roots);
}
