/* SPDX-License-Identifier: MIT */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/target.h"
#include "mountopts/layers.h"

#include <stdlib.h>
#include <string.h>

bool audit_is_others(const struct fstab_line *line, const char *const *include)
{
	if (!line || line->fate != FSTAB_OWN)
		return false;
	/* Check mounts of these owners like the administrator's: they are made once at boot, and do
	   not cover data or mounts on purpose. */
	if (line->target && (audit_is_owner(line->owner, "zfs")
	                     || audit_is_owner(line->owner, "gpt-auto")
	                     || (audit_is_owner(line->owner, "unit")
	                         && !word_below(line->target, "/run"))))
		return false;
	for (const char *const *name = include; *name; ++name) {
		if (audit_is_owner(line->owner, *name))
			return false;
	}
	return true;
}

/** The part of a path below a directory; "": the directory itself; NULL: not below. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	return word_below(path, dir) ? path + n + (path[n] == '/') : NULL;
}

/** Whether a mount is an overlay, and a directory is its upper layer or a lower layer. */
static bool has_layer(const struct mount *m, const char *dir, struct arena *arena)
{
	struct opt_dir *dirs;
	bool found = false;
	if (!(fstype_flags(m->fstype) & FST_LAYERED) || !m->fs_opts)
		return false;
	size_t n = opt_layers(m->fs_opts, opt_next_shown, arena, &dirs);
	for (size_t i = 0; i < n && !found; ++i)
		found = (dirs[i].of == 'l' || dirs[i].of == 'u') && strcmp(dirs[i].path, dir) == 0;
	return found;
}

static int by_parent(const void *a, const void *b)
{
	const struct audit_covered *one = a, *other = b;
	if (one->covered.parent != other->covered.parent)
		return one->covered.parent < other->covered.parent ? -1 : 1;
	return strcmp(one->line->target, other->line->target);
}

/** Whether the directory covered by the mount of a line should be examined.
    @under [out]  The mount, and the directory if its path is known. */
static bool is_covering(const struct discovery *d, const struct fstab_line *line,
                        struct audit_covered *under, struct arena *arena)
{
	const struct mtree *tree = &d->tree;
	uint32_t node = line->mount && line->target ? mtree_find(tree, line->mount->key) : MT_NONE;
	if (node == MT_NONE || tree->nodes[node].top != node || tree->nodes[node].gone
	    || fstype_flags(line->mount->fstype) & FST_AUTOFS
	    || tree->nodes[node].states & (1u << MT_HIDDEN | 1u << MT_OUTSIDE | 1u << MT_DELETED))
		return false;
	/* All mounts of a stack cover the same directory: the mount point of `base`, the lowest
	   mount of the stack. */
	uint32_t base = node;
	while (mtree_stacked(tree, base))
		base = tree->nodes[base].parent;
	uint32_t parent = tree->nodes[base].parent;
	const char *name = d->targets[node], *dir = parent == MT_NONE ? NULL : d->targets[parent];
	if (parent == MT_NONE)
		return false;
	/* On pseudo file systems other than tmpfs, ramfs, overlay and autofs, only the kernel
	   creates directories: a covered directory contains no data of users. */
	const char *type = tree->nodes[parent].mount->fstype;
	type = type ? type : "";
	if (fstype_flags(type) & FST_PSEUDO && !(fstype_flags(type) & (FST_LAYERED | FST_AUTOFS))
	    && strcmp(type, "tmpfs") != 0 && strcmp(type, "ramfs") != 0)
		return false;
	*under = (struct audit_covered){.line = line, .covered.parent = parent};
	const char *place = name && dir && !tree->nodes[parent].made ? below(name, dir) : NULL;
	if (!place || !*place)
		return true;
	under->covered.place = place;
	return !(base == node && fstab_upon_itself(d, node))
	       && !has_layer(line->mount, name, arena);
}

ssize_t audit_covered_list(const struct audit_live *in, struct audit_covered **list)
{
	const struct fstab_plan *plan = in->plan;
	struct arena arena = {0};
	size_t n = 0;
	*list = calloc(plan->count + 1, sizeof(**list));
	if (!*list)
		return -1;
	for (size_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		n += !audit_is_others(line, in->include)
		     && is_covering(in->d, line, &(*list)[n], &arena);
	}
	int rc = arena_check(&arena);
	arena_destroy(&arena);
	if (rc != 0)
		audit_covered_free(*list, n);
	else
		qsort(*list, n, sizeof(**list), by_parent);
	return rc == 0 ? (ssize_t)n : -1;
}

void audit_covered_free(struct audit_covered *list, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		for (size_t k = 0; k < HOST_COVERED_NAMES; ++k)
			free(list[i].covered.names[k]);
	}
	free(list);
}

/** Whether a mount covers its directory on purpose: a bind, or a file system without stored
    data. */
static bool hides(const struct mount *m)
{
	unsigned flags = fstype_flags(m->fstype);
	bool part = m->root && strcmp(m->root, "/") != 0 && !(flags & (FST_SUBVOL | FST_NET));
	return part || flags & (FST_LAYERED | FST_PSEUDO);
}

int audit_covered(const struct audit_covered *list, size_t n, struct audit_report *report)
{
	for (size_t i = 0; i < n; ++i) {
		const struct fstab_line *line = list[i].line;
		const struct host_covered *c = &list[i].covered;
		struct strbuf names = {.arena = &report->arena};
		if (c->state == HOST_COVERED_UNKNOWN)
			audit_not_checked(report, MNT_UNDER_NOT_EMPTY);
		if (c->state != HOST_COVERED_DATA)
			continue;
		for (size_t k = 0; k < HOST_COVERED_NAMES && c->names[k]; ++k)
			strbuf_printf(&names, "%s%s", k ? ", " : ": ", c->names[k]);
		if (c->more || c->count > HOST_COVERED_NAMES)
			strbuf_puts(&names, " ...");
		struct audit_finding at = {.target = line->target, .owner = line->owner,
		                           .fstype = line->mount->fstype};
		audit_add_at(report, &at, MNT_UNDER_NOT_EMPTY,
			     hides(line->mount) ? AUDIT_INFO : AUDIT_WARNING, "an empty directory",
			     "not empty", "bind the file system below to another directory (mount "
			     "--bind) to reach the data; move or remove it",
			     "it hides %s%zu entr%s of the directory below%s",
			     c->more ? "at least " : "", c->count, c->count == 1 ? "y" : "ies",
			     strbuf_str(&names));
	}
	return audit_finish(report);
}
