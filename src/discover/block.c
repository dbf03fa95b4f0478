/* SPDX-License-Identifier: MIT */
/*
 * Finds the mounts that can block, and the mounts below them.
 *
 * A file system can block because of its type (network, FUSE, autofs, unknown ...), its device
 * (suspended, remote, or a loop device on a file that can block), or the paths that it depends on
 * (the layers of an overlay).  A mount is "behind" a mount that blocks if that is one of its
 * ancestors and the mount is not just stacked on the ancestor's root.
 *
 * A layer can have a relative name, as Docker's "l/XYZ".  The kernel does not report the directory
 * that mount(2) was called in.  Such a layer is local if no mount in the table can block,
 * or if the names lead to local mounts from a directory where they exist, which is proven by a
 * long random name that an engine chose.
 *
 * Two of these conditions depend on other mounts: a path that blocks, and an ancestor that
 * blocks.  They are found by iteration.  Following a path through symlinks accesses the mounts on
 * the path.  So a mount is unsure until every path that it depends on was checked, and no path is
 * followed through an unsure mount.  Each round settles at least one path; chains such as an
 * overlay on a loop device on an overlay are short.  Paths that are not settled after BLOCK_ROUNDS,
 * or depend on each other in a cycle, are assumed to block.
 */
#include "discover/discover_impl.h"

#include "base/array.h"
#include "base/words.h"
#include "mountopts/layers.h"

#include <fcntl.h>
#include <stdlib.h>

enum {
	BLOCK_ROUNDS = 32,
	CHOSEN_LENGTH = 20,   /* shortest name that is not the same by accident in two places */
};

struct blocking {
	struct dsc *dsc;
	struct dsc_paths paths;
	struct strbuf path;
	struct strbuf relative;  /* relative names of layers, each ended by NUL */
	uint32_t node;           /* the node whose paths are being added */
	bool failed;             /* memory ran out */
};

/** Add what the current node depends on.  @on  Its path is copied.  @n  Bytes of the path. */
static void depend_put(struct blocking *b, const struct dsc_dependency *on, size_t n)
{
	struct dsc *dsc = b->dsc;
	char *copy = arena_strndup(&dsc->d->names, on->path, n);
	if (!copy || !ARRAY_ROOM(dsc->dependencies, dsc->ndependencies, &dsc->dependencies_room)) {
		b->failed = true;
		return;
	}
	struct dsc_dependency *added = &dsc->dependencies[dsc->ndependencies++];
	*added = *on;
	added->node = b->node;
	added->on = MT_NONE;
	added->path = copy;
}

/** Add a path that the current node depends on. */
static void depend_add(struct blocking *b, const char *path, bool named, uint32_t major,
                       uint32_t minor)
{
	depend_put(b, &(struct dsc_dependency){
		.path = path, .major = major, .minor = minor, .named = named,
	}, strlen(path));
}

/** Add a layer of an overlay.  In lowerdir= a backslash escapes ':' and '\'; in lowerdir+= and
    datadir+= it is part of the name; in upperdir= and workdir= this depends on the kernel
    version. */
static void depend_on_layer(struct blocking *b, const struct opt_layers *layers)
{
	struct opt_layer form = layers->layer;
	bool either = layers->of == 'u' || layers->of == 'w', list = form.list;
	bool both = either && memchr(form.text, '\\', form.n);
	form.list |= either;
	for (int i = 0; i <= both; ++i, form.list = false) {
		opt_layer_path(&form, &b->path);
		b->failed |= b->path.failed;
		const char *path = strbuf_str(&b->path);
		/* A layer given by descriptor may be on a mount that was never attached. */
		if (*path == '/')
			depend_add(b, path, !list && !either, 0, 0);
		else
			strbuf_add(&b->relative, path, strlen(path) + 1);
	}
}

/** Add the layers of an overlay.  @return whether all are known. */
static bool depend_on_layers(struct blocking *b, const struct mount *m)
{
	struct opt_layers layers;
	bool known = m->fs_opts;
	opt_layers_init(&layers, m->fs_opts, opt_next_shown);
	strbuf_reset(&b->relative);
	while (known && opt_layers_next(&layers))
		depend_on_layer(b, &layers);
	if (b->relative.len)
		depend_put(b, &(struct dsc_dependency){
			.path = strbuf_str(&b->relative), .relative = true,
		}, b->relative.len);
	b->failed |= b->relative.failed | !opt_layers_destroy(&layers);
	return known;
}

static void depend_on_file(void *arg, const struct devmap_file *file)
{
	depend_add(arg, file->path, false, file->major, file->minor);
}

/** Mark mounts that block because of their type or device, and collect the paths that other mounts
    depend on. */
static void block_by_itself(struct blocking *b)
{
	struct dsc *dsc = b->dsc;
	struct mtree *tree = dsc->tree;
	const struct mount *root = NULL;
	if (dsc->d->root != MT_NONE)
		root = tree->nodes[dsc->d->root].mount;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mount *m = tree->nodes[i].mount;
		if (tree->nodes[i].made)
			continue;
		/* A mount whose type is unknown is assumed to block. */
		unsigned flags = fstype_flags(m->fstype);
		if (flags & FST_BLOCKS)
			dsc->flags[i] |= DF_BLOCKS;
		if (flags & FST_NO_LOOK)
			dsc->flags[i] |= DF_NO_LOOK;
		const char *last = m->root ? strrchr(m->root, '/') : NULL;
		if (last && fstype_dir_waits(m->fstype, last + 1))
			dsc->flags[i] |= DF_BLOCKS;
		/* The layers of a container's root are paths of its host, which cannot be followed
		   from inside; and this process accesses its root anyway. */
		bool own = root && mount_dev(m) == mount_dev(root);
		b->node = i;
		/* An overlay with unknown layers is assumed to block. */
		if (flags & FST_LAYERED && !own && !depend_on_layers(b, m))
			dsc->flags[i] |= DF_BLOCKS;
		/* btrfs and bcachefs have anonymous device numbers; other file systems on devices
		   only if they are backed by a file: erofs. */
		bool behind = flags & FST_SUBVOL;
		if (flags & FST_DEVICE && m->dev_major == 0 && !behind && !own
		    && !(dsc->flags[i] & DF_BLOCKS)) {
			if (m->source && *m->source == '/')
				depend_add(b, m->source, true, 0, 0);
			else
				dsc->flags[i] |= DF_BLOCKS;
		}
		if ((m->dev_major != 0 || behind) && dsc->devs) {
			if (devmap_mount_blocks(dsc->devs, m))
				dsc->flags[i] |= DF_BLOCKS;
			else if (!own)
				devmap_mount_files(dsc->devs, m, depend_on_file, b);
		}
	}
}

/** Set the flag `behind` on the mounts that are reached through mounts with the flag `flag`.
    @return whether any mount changed. */
static bool block_pass_down(struct dsc *dsc, uint8_t flag, uint8_t behind)
{
	const struct mtree *tree = dsc->tree;
	bool changed = false;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t index = tree->order[i], parent = tree->nodes[index].parent;
		/* Access to "/" is unavoidable. */
		if (parent == MT_NONE || dsc->flags[index] & behind || index == dsc->d->root)
			continue;
		/* A mount stacked on the root of a blocking mount is reached without a lookup in
		   that mount. */
		bool idles = dsc->opts->lets_expire && dsc_type(dsc, parent) & FST_AUTOFS;
		if (dsc->flags[parent] & behind
		    || (dsc->flags[parent] & flag && (idles || !mtree_stacked(tree, index)))) {
			dsc->flags[index] |= behind;
			changed = true;
		}
	}
	return changed;
}

/** Recompute DF_UNSURE and DF_UNSURE_BEHIND. */
static void block_mark_unsure(struct dsc *dsc)
{
	for (uint32_t i = 0; i < dsc->tree->count; ++i)
		dsc->flags[i] &= (uint8_t)~(DF_UNSURE | DF_UNSURE_BEHIND);
	for (size_t i = 0; i < dsc->ndependencies; ++i) {
		if (!dsc->dependencies[i].clear)
			dsc->flags[dsc->dependencies[i].node] |= DF_UNSURE;
	}
	block_pass_down(dsc, DF_UNSURE, DF_UNSURE_BEHIND);
}

/** Check a path that is covered by the mount that depends on it, as with an overlay mounted over
    its own lower layer: the path is on the covered mount, whose symlinks cannot be read any
    more. */
static enum dsc_leads block_beneath(const struct dsc *dsc, const struct dsc_dependency *on)
{
	const struct mt_node *nodes = dsc->tree->nodes;
	enum dsc_leads leads = LEADS_CLEAR;
	for (uint32_t next, at = nodes[on->node].parent; at != MT_NONE; at = next) {
		if (dsc->flags[at] & (DF_BLOCKS | DF_BEHIND))
			return LEADS_BLOCKED;
		if (dsc->flags[at] & (DF_UNSURE | DF_UNSURE_BEHIND))
			leads = LEADS_UNSURE;
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
static bool discover_fuse_hidden(struct devmap *devs, const struct mount_table *table)
{
	struct devmap_dir dir;
	bool hidden = false;
	if (discover_path_blocks(table, "/sys/fs/fuse/connections"))
		return false;
	devmap_dir_open(devs, &dir, "fs/fuse/connections");
	for (const char *name; !hidden && (name = devmap_dir_next(devs, &dir)) != NULL;) {
		char *end;
		unsigned long dev = strtoul(name, &end, 10);
		bool mounted = end == name || *end != '\0';
		for (size_t i = 0; i < table->count && !mounted; ++i) {
			const struct mount *m = &table->mounts[i];
			mounted = ((unsigned long)m->dev_major << 20 | m->dev_minor) == dev;
		}
		hidden = !mounted;
	}
	devmap_dir_close(devs, &dir);
	return hidden;
}

bool discover_loop_here(struct devmap *devs, const struct mount_table *table, uint32_t major,
                        uint32_t minor, int dirfd)
{
	enum devmap_here here = devmap_file_here(devs, major, minor, dirfd);
	return here == DEVMAP_HERE || (here == DEVMAP_NAMED && !discover_fuse_hidden(devs, table));
}

/** Whether a layer could be on a mount that can block, wherever it is.  The kernel accepts no
    directory of an automounter as a layer. */
static enum dsc_leads block_anywhere(const struct dsc *dsc)
{
	for (uint32_t i = 0; i < dsc->tree->count; ++i) {
		if (dsc->flags[i] & DF_BLOCKS && !(dsc_type(dsc, i) & FST_AUTOFS))
			return LEADS_BLOCKED;
	}
	for (size_t i = 0; i < dsc->ndependencies; ++i) {
		/* Overlays with relative layers are local together, or none of them is. */
		if (!dsc->dependencies[i].clear && !dsc->dependencies[i].relative)
			return LEADS_UNSURE;
	}
	return !dsc->devs || discover_fuse_hidden(dsc->devs, dsc->table) ? LEADS_BLOCKED
	                                                                 : LEADS_CLEAR;
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
static enum dsc_leads block_from(struct blocking *b, const char *dir, size_t n, const char *names,
                                 uint32_t node)
{
	enum dsc_leads worst = LEADS_CLEAR;
	bool chosen = false;
	for (const char *name = names; *name; name += strlen(name) + 1) {
		uint32_t in;
		strbuf_reset(&b->path);
		strbuf_add(&b->path, dir, n);
		strbuf_putc(&b->path, '/');
		strbuf_puts(&b->path, name);
		b->failed |= b->path.failed;
		enum dsc_leads leads = dsc_path_leads(&b->paths, strbuf_str(&b->path), &in);
		if (leads == LEADS_BLOCKED || in == node)
			return LEADS_BLOCKED;
		worst = leads == LEADS_UNSURE ? leads : worst;
		chosen |= is_chosen(name);
	}
	return chosen ? worst : LEADS_BLOCKED;
}

/** Check relative names from each directory above a path.
    @return the best result. */
static enum dsc_leads block_above(struct blocking *b, const char *path, const char *names,
                                  uint32_t node)
{
	enum dsc_leads best = LEADS_BLOCKED;
	for (size_t n = path ? strlen(path) : 0; n > 0 && best != LEADS_CLEAR;) {
		while (n > 0 && path[n - 1] != '/')
			--n;
		while (n > 0 && path[n - 1] == '/')
			--n;
		enum dsc_leads leads = block_from(b, path, n, names, node);
		best = leads == LEADS_BLOCKED ? best : leads;
	}
	return best;
}

/** Check the relative names of an overlay's layers.  Engines mount in a directory above the mount
    point (Docker, Podman), or above the upper layer (containerd). */
static enum dsc_leads block_relative(struct blocking *b, const struct dsc_dependency *on)
{
	const struct dsc *dsc = b->dsc;
	enum dsc_leads leads = block_anywhere(dsc);
	if (leads != LEADS_BLOCKED)
		return leads;
	leads = block_above(b, dsc->tree->nodes[on->node].mount->point, on->path, on->node);
	for (size_t i = 0; i < dsc->ndependencies && leads == LEADS_BLOCKED; ++i) {
		const struct dsc_dependency *layer = &dsc->dependencies[i];
		if (layer->node == on->node && !layer->relative)
			leads = block_above(b, layer->path, on->path, on->node);
	}
	return leads;
}

/** Check a path by the current flags.  If the mount that contains the path is known, set on->on. */
static enum dsc_leads block_leads(struct blocking *b, struct dsc_dependency *on)
{
	struct dsc *dsc = b->dsc;
	uint32_t in;
	if (on->relative)
		return block_relative(b, on);
	enum dsc_leads leads = dsc_path_leads(&b->paths, on->path, &in);
	on->on = in == on->node ? MT_NONE : in;
	if (in == on->node)
		return block_beneath(dsc, on);
	if (leads != LEADS_CLEAR)
		return leads;
	bool own = dsc->rootfd == AT_FDCWD || strcmp(dsc->opts->prefix, "/") != 0;
	int dirfd = own ? AT_FDCWD : dsc->rootfd;
	bool elsewhere = on->named && dsc->devs && discover_fuse_hidden(dsc->devs, dsc->table);
	if (!elsewhere && on->major != 0)
		elsewhere = !discover_loop_here(dsc->devs, dsc->table, on->major, on->minor, dirfd);
	if (elsewhere)
		on->on = MT_NONE;
	return elsewhere ? LEADS_BLOCKED : LEADS_CLEAR;
}

/** Follow the paths that are not settled.  @return whether at least one was settled. */
static bool block_follow(struct blocking *b)
{
	struct dsc *dsc = b->dsc;
	bool changed = false;
	block_mark_unsure(dsc);
	for (size_t i = 0; i < dsc->ndependencies; ++i) {
		struct dsc_dependency *on = &dsc->dependencies[i];
		if (on->clear || dsc->flags[on->node] & DF_BLOCKS)
			continue;
		enum dsc_leads leads = block_leads(b, on);
		on->clear = leads == LEADS_CLEAR;
		on->on = leads == LEADS_BLOCKED ? on->on : MT_NONE;
		if (leads == LEADS_BLOCKED)
			dsc->flags[on->node] |= DF_BLOCKS;
		changed |= leads != LEADS_UNSURE;
	}
	return changed;
}

/** Read the fields that only a few types need: the layers of overlays, the source of btrfs, the log
    device of XFS.  The table may contain only the fields needed for the columns. */
static int block_read_more(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	unsigned lacks = (MF_SOURCE | MF_FS_OPTS) & ~dsc->table->fields;
	if (lacks == 0 || dsc->table->source != TABLE_LISTMOUNT)
		return 0;
	const struct mount **more = NULL;
	uint32_t *nodes = malloc((tree->count + 1) * sizeof(*nodes));
	if (!nodes)
		return -1;
	size_t n = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		unsigned flags = fstype_flags(node->mount->fstype);
		bool behind = flags & FST_DEVICE && node->mount->dev_major == 0;
		bool need = (flags & (FST_LAYERED | FST_OPT_DEVICES) && lacks & MF_FS_OPTS)
		            || (behind && lacks & MF_SOURCE);
		if (!node->made && need)
			nodes[n++] = i;
	}
	int rc = n > 0 ? dsc_read_again(dsc, nodes, n, lacks, &more) : 0;
	/* A mount whose fields could not be read is assumed to block. */
	for (size_t i = 0; rc == 0 && more && i < n; ++i)
		tree->nodes[nodes[i]].mount = more[i] ? more[i] : tree->nodes[nodes[i]].mount;
	free(more);
	free(nodes);
	return rc;
}

bool discover_path_blocks(const struct mount_table *table, const char *path)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if (m->point && strcmp(m->point, "/") != 0 && word_below(path, m->point)
		    && fstype_flags(m->fstype) & FST_BLOCKS)
			return true;
	}
	return false;
}

struct devmap *discover_devmap(struct os *os, const struct mount_table *own)
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
		*root[i] = known && discover_path_blocks(own, places[i][1]) ? NULL : places[i][0];
	table_free(read);
	return devmap_new(os, &roots);
}

int dsc_find_blocking(struct dsc *dsc)
{
	const struct mtree *tree = dsc->tree;
	struct blocking b = {.dsc = dsc};
	if (block_read_more(dsc) != 0)
		return -1;
	block_by_itself(&b);
	b.failed |= (dsc->devs && devmap_failed(dsc->devs))
	            || (dsc->ndependencies > 0 && dsc_paths_init(&b.paths, dsc) != 0);
	bool changed = !b.failed;
	for (int round = 0; changed && round < BLOCK_ROUNDS; ++round) {
		changed = block_pass_down(dsc, DF_BLOCKS, DF_BEHIND);
		changed |= block_follow(&b);
	}
	for (size_t i = 0; i < dsc->ndependencies; ++i) {
		if (!dsc->dependencies[i].clear)
			dsc->flags[dsc->dependencies[i].node] |= DF_BLOCKS;
	}
	block_pass_down(dsc, DF_BLOCKS, DF_BEHIND);
	/* If statx is unavailable, os/ uses fstatat, which contacts the server. */
	for (uint32_t i = 0; i < tree->count && !dsc->os->statx_works; ++i) {
		if (dsc->flags[i] & DF_BLOCKS)
			dsc->flags[i] |= DF_NO_LOOK;
	}
	b.failed |= b.paths.failed;
	dsc_paths_destroy(&b.paths);
	strbuf_destroy(&b.path);
	strbuf_destroy(&b.relative);
	return b.failed ? fail(ENOMEM) : 0;
}
