/* SPDX-License-Identifier: MIT */
/*
 * Check overlays: their options, and conflicts of their layers with each other and with the layers
 * of other lines.
 *
 * The kernel refuses a lower layer that is, or lies in, another lower layer or the upper directory,
 * if both are on the same mount.  The kernel accepts an upper directory within a lower layer.
 */
#include "audit/audit_impl.h"

#include "base/words.h"
#include "fstab/target.h"
#include "mountopts/fsopts.h"
#include "mountopts/layers.h"
#include "mounttree.h"

#include <string.h>

enum { LAYERS_MAX = 128 };   /* maximum number of layers compared with each other */

struct layer {
	const char *path;        /* normalized */
	char of;                 /* opt_dir.of: 'l'ower, 'd'ata, 'u'pper, 'w'ork */
};

struct layers {
	struct audit *audit;
	const struct fstab_entry *entry;
	struct layer at[LAYERS_MAX];
	size_t count, lower;     /* lower: number of lower and data layers */
	bool relative, shared;   /* a relative path, a shared directory was already reported */
};

static bool is_lower(const struct layer *layer)
{
	return layer->of == 'l' || layer->of == 'd';
}

/** Collect the layers of the entry, and report a layer whose path is relative. */
static void note_layers(struct layers *layers)
{
	struct audit *audit = layers->audit;
	struct arena *arena = &audit->report->arena;
	struct opt_dir *dirs;
	size_t n = opt_layers(layers->entry->options, opt_next, arena, &dirs);
	for (size_t i = 0; i < n; ++i) {
		const char *text = dirs[i].path, *path = fstab_normal(arena, text);
		if (*text != '/' && !layers->relative)
			audit_add_line(audit, layers->entry, FSTAB_OVERLAY_DIR, AUDIT_WARNING,
				       "/...", NULL, "start the path with /",
				       "the layer %s is not an absolute path", text);
		layers->relative |= *text != '/';
		struct layer layer = {path, dirs[i].of};
		layers->lower += is_lower(&layer);
		if (path && layers->count < LAYERS_MAX)
			layers->at[layers->count++] = layer;
	}
}

/** The mount point of the mount that contains a path now; NULL: unknown. */
static const char *live_point(const struct audit *audit, const char *path)
{
	const struct discovery *d =
		audit->in->root && strcmp(audit->in->root, "/") == 0 ? audit->in->live : NULL;
	const char *found = NULL;
	for (uint32_t i = 0; d && i < d->tree.count; ++i) {
		const char *point = d->tree.nodes[i].mount->point;
		if (point && word_below(path, point)
		    && (!found || strlen(point) >= strlen(found)))
			found = point;
	}
	return found;
}

/** Whether two paths are on different mounts: they are below mount points of different lines; or,
    if the overlay is not mounted now, on different live mounts. */
static bool lie_apart(struct audit *audit, const struct fstab_entry *entry, const char *a,
                      const char *b)
{
	const struct fstab_entry *x = audit_above(audit, entry, a),
				 *y = audit_above(audit, entry, b);
	if (x != y && (!x || !y || strcmp(x->path, y->path) != 0))
		return true;
	const char *own = entry->path ? live_point(audit, entry->path) : NULL;
	if (!own || strcmp(own, entry->path) == 0)
		return false;
	const char *p = live_point(audit, a), *q = live_point(audit, b);
	return p && q && strcmp(p, q) != 0;
}

/** Report a lower layer and a second layer that the kernel refuses because they are equal or
    nested.
    @return whether the kernel accepts both. */
static bool check_two(struct layers *layers, const struct layer *a, const struct layer *b)
{
	struct audit *audit = layers->audit;
	bool lower = is_lower(a) && is_lower(b), in = word_below(a->path, b->path),
	     holds = word_below(b->path, a->path);
	const struct layer *one = is_lower(a) ? a : b, *other = one == a ? b : a;
	if (!is_lower(one) || (!in && !holds)
	    || (!lower && !word_below(one->path, other->path))
	    || ((!in || !holds) && lie_apart(audit, layers->entry, a->path, b->path)))
		return true;
	const char *what = other->of == 'u'   ? "its upperdir"
	                   : other->of == 'w' ? "its workdir"
	                                      : "another layer";
	audit_add_line(layers->audit, layers->entry, FSTAB_OVERLAY_DIR, AUDIT_CRITICAL | AUDIT_BOOT,
		       "separate directories", other->path, "use another directory, or remove one",
		       in && holds ? "the layer %s is also %s: the kernel refuses the mount"
		       : "the layer %s and %s are nested: the kernel refuses the mount", one->path,
		       what);
	return false;
}

/** Report an upper or work directory that an overlay of an earlier line also writes to. */
static void check_shared(struct layers *layers, const struct layer *layer)
{
	struct audit *audit = layers->audit;
	uint32_t self = (uint32_t)(layers->entry - audit->entries);
	uint32_t first = map64_put(&audit->written, map64_text(layer->path), self);
	if (first == self || layers->shared)
		return;
	layers->shared = true;
	audit_add_line(layers->audit, layers->entry, FSTAB_OVERLAY_DIR, AUDIT_WARNING,
		       "separate directories", layer->path,
		       "give each overlay its own upperdir and workdir",
		       "line %u also writes to %s: the result is undefined",
		       audit->entries[first].line->number, layer->path);
}

/** Report directories of an overlay that do not exist. */
static void check_exists(struct audit *audit, const struct fstab_entry *entry)
{
	struct order_paths paths = {.arena = &audit->report->arena};
	order_read_paths(&paths, entry);
	for (size_t i = 0; i < paths.count; ++i) {
		const char *path = paths.list[i].path;
		enum fact_kind kind = audit_look_for(audit, entry, path, FSTAB_OVERLAY_DIR);
		if (kind == FACT_MISSING || kind == FACT_FILE)
			audit_add_line(audit, entry, FSTAB_OVERLAY_DIR,
				       (entry->optional ? AUDIT_INFO : AUDIT_CRITICAL) | AUDIT_BOOT,
				       NULL, NULL, "create it", "the directory %s does not exist",
				       path);
	}
}

/** Report an upper and work directory that overlap, or that are on different mounts. */
static void check_upper(struct layers *layers, const char *upper, const char *work)
{
	struct audit *audit = layers->audit;
	const char *both = audit_format(audit->report, "upperdir=%s,workdir=%s", upper, work);
	if (word_below(upper, work) || word_below(work, upper))
		audit_add_line(layers->audit, layers->entry, FSTAB_OVERLAY_DIR,
			       AUDIT_CRITICAL | AUDIT_BOOT, "two separate directories", both,
			       "use another directory",
			       "workdir and upperdir overlap: the kernel refuses the mount");
	else if (lie_apart(audit, layers->entry, upper, work))
		audit_add_line(layers->audit, layers->entry, FSTAB_OVERLAY_DIR,
			       AUDIT_CRITICAL | AUDIT_BOOT, "both on one mount", both,
			       "put the workdir next to the upperdir",
			       "upperdir and workdir are on two mounts: the kernel refuses the "
			       "mount");
}

/** Report options that the kernel truncates: mount(2) reads one page, and the last byte must be
    0. */
static void check_length(struct audit *audit, const struct fstab_entry *entry)
{
	enum { PAGE_MAX = 4095 };
	size_t length = 0;
	const char *cut = NULL;
	bool upper = false;
	for (uint32_t i = 0; i < entry->nopts; ++i) {
		const struct opt *o = &entry->opts[i];
		if (o->is_x || fsopt_is_general(o->text, o->nname))
			continue;
		length += o->n + (length > 0);
		if (length > PAGE_MAX) {
			upper |= word_in(o->name, o->nname, "upperdir workdir");
			cut = cut ? cut : o->name;
		}
	}
	if (cut)
		audit_add_line(audit, entry, FSTAB_OVERLAY_DIR, AUDIT_CRITICAL | AUDIT_BOOT,
			       "at most 4095 bytes", audit_format(audit->report, "%zu", length),
			       "use shorter paths or fewer layers",
			       upper ? "the kernel cuts the options in %s: without upperdir and "
			               "workdir it mounts the overlay read-only"
			             : "the kernel cuts the options in %s: layers are missing",
			       cut);
}

void audit_overlay(struct audit *audit, const struct fstab_entry *entry)
{
	struct layers layers = {.audit = audit, .entry = entry};
	const char *upper = NULL, *work = NULL;
	bool has_upper = fstab_entry_value(entry, "upperdir"),
	     has_work = fstab_entry_value(entry, "workdir");
	bool has_lower = fstab_entry_value(entry, "lowerdir")
	                 || fstab_entry_value(entry, "lowerdir+");
	const char *lack = !has_lower              ? "lowerdir"
	                   : has_upper == has_work ? NULL
	                   : has_upper             ? "workdir"
	                                           : "upperdir";
	/* In a live system, the line of "/" only remounts the overlay, and needs no layers. */
	bool mounted = entry->root && !has_lower && !has_upper && !has_work;
	if (lack && !mounted)
		audit_add_line(audit, entry, FSTAB_OVERLAY_DIR, AUDIT_CRITICAL | AUDIT_BOOT,
			       audit_format(audit->report, "%s=", lack), NULL,
			       "add the missing option", "%s is missing", lack);
	check_exists(audit, entry);
	check_length(audit, entry);
	note_layers(&layers);
	bool good = true;
	for (size_t i = 0; i < layers.count; ++i) {
		const struct layer *layer = &layers.at[i];
		upper = layer->of == 'u' ? layer->path : upper;
		work = layer->of == 'w' ? layer->path : work;
		for (size_t k = 0; k < i && good; ++k)
			good = check_two(&layers, &layers.at[k], layer);
		if (!is_lower(layer) && !entry->idle)
			check_shared(&layers, layer);
	}
	if (layers.lower == 1 && !has_upper && !has_work)
		audit_add_line(audit, entry, FSTAB_OVERLAY_DIR, AUDIT_CRITICAL | AUDIT_BOOT,
			       "two layers", "one",
			       "add upperdir and workdir, or a second lowerdir after a colon",
			       "only one lowerdir and no upperdir: the kernel refuses the mount");
	if (upper && work)
		check_upper(&layers, upper, work);
}
