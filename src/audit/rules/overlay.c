/* SPDX-License-Identifier: MIT */
/*
 * The layers of an overlay against each other, and against those of other lines.
 *
 * The kernel refuses what lies on one file system twice: a lower layer that is another one, or in
 * another one, or in the upper; what is a mount of its own is not in the one below it.  An upper in a
 * lower layer it takes.
 */
#include "audit/audit_impl.h"

#include "fstab/places.h"
#include "mountopts/layers.h"
#include "mounttree.h"

#include <string.h>

enum { LAYERS_MAX = 128 };   /* that are compared */

struct layer {
	const char *path;        /* normal */
	char of;                 /* as in struct opt_layer */
};

struct layers {
	struct audit *audit;
	const struct audit_entry *entry;
	struct layer at[LAYERS_MAX];
	size_t count, lower;     /* lower and data layers */
	bool relative, shared;   /* it was told */
	struct strbuf path;
};

static bool is_lower(const struct layer *layer)
{
	return layer->of == 'l' || layer->of == 'd';
}

static void tell(const struct layers *layers, enum audit_severity severity, const char *message, const char *expected,
                 const char *actual, const char *hint)
{
	audit_tell(layers->audit, layers->entry, FSTAB_OVERLAY_DIR,
	           &(struct audit_told){severity, severity == AUDIT_CRITICAL, message, expected, actual, hint});
}

static bool take_layer(void *arg, const struct opt_layer *layer)
{
	struct layers *layers = arg;
	opt_layer_path(layer, &layers->path);
	const char *text = strbuf_str(&layers->path), *path = fstab_normal(&layers->audit->report->arena, text);
	if (*text != '/' && !layers->relative)
		tell(layers, AUDIT_WARNING, audit_format(layers->audit, "its directory %s is no absolute path: where it is looked for is not told", text),
		     "/...", NULL, "begin it with a /");
	layers->relative |= *text != '/';
	struct layer taken = {path, layer->of};
	layers->lower += is_lower(&taken);
	if (path && layers->count < LAYERS_MAX)
		layers->at[layers->count++] = taken;
	return !layers->path.failed;
}

/** The mount that a path lies on now: its mount point; NULL: it is not known. */
static const char *live_point(const struct audit *audit, const char *path)
{
	const struct discovery *d = audit->in->root && strcmp(audit->in->root, "/") == 0 ? audit->in->live : NULL;
	const char *found = NULL;
	for (uint32_t i = 0; d && i < d->tree.count; ++i) {
		const char *point = d->tree.nodes[i].mount->point;
		if (point && mtree_path_within(path, point) && (!found || strlen(point) >= strlen(found)))
			found = point;
	}
	return found;
}

/** Whether two paths lie on two mounts: of other lines, or, of what is not mounted now, as it is now. */
static bool lie_apart(struct audit *audit, const struct audit_entry *entry, const char *a, const char *b)
{
	const struct audit_entry *x = audit_above(audit, entry, a), *y = audit_above(audit, entry, b);
	if (x != y && (!x || !y || strcmp(x->path, y->path) != 0))
		return true;
	const char *own = entry->path ? live_point(audit, entry->path) : NULL;
	if (!own || strcmp(own, entry->path) == 0)
		return false;
	const char *p = live_point(audit, a), *q = live_point(audit, b);
	return p && q && strcmp(p, q) != 0;
}

/** Judge a lower layer and another layer, n and m in the list. */
static bool judge_two(struct layers *layers, const struct layer *a, const struct layer *b)
{
	struct audit *audit = layers->audit;
	bool lower = is_lower(a) && is_lower(b), in = mtree_path_within(a->path, b->path), holds = mtree_path_within(b->path, a->path);
	const struct layer *one = is_lower(a) ? a : b, *other = one == a ? b : a;
	if (!is_lower(one) || (!in && !holds) || (!lower && !mtree_path_within(one->path, other->path))
	    || ((!in || !holds) && lie_apart(audit, layers->entry, a->path, b->path)))
		return true;
	const char *what = other->of == 'u' ? "its upperdir" : other->of == 'w' ? "its workdir" : "another of its layers";
	tell(layers, AUDIT_CRITICAL,
	     audit_format(audit, in && holds ? "the layer %s is %s as well: the kernel would refuse the mount"
	                  : "the layer %s and %s lie in one another: the kernel would refuse the mount", one->path, what),
	     "directories side by side", other->path, "name another, or take one away");
	return false;
}

/** Judge a directory that the kernel writes to against those of lines before. */
static void judge_shared(struct layers *layers, const struct layer *layer)
{
	struct audit *audit = layers->audit;
	uint32_t self = (uint32_t)(layers->entry - audit->entries);
	uint32_t first = map64_put(&audit->written, map64_text(layer->path), self);
	audit->failed |= first == MAP64_NONE;
	if (first == MAP64_NONE || first == self || layers->shared)
		return;
	layers->shared = true;
	tell(layers, AUDIT_WARNING, audit_format(audit, "line %u writes to %s as well: what two overlays make of it is not defined",
	     audit->entries[first].line->number, layer->path), "a directory of its own", layer->path, "give each its own upperdir and workdir");
}

void audit_overlay(struct audit *audit, const struct audit_entry *entry)
{
	struct layers layers = {.audit = audit, .entry = entry};
	struct strbuf scratch;
	strbuf_init(&scratch);
	strbuf_init(&layers.path);
	const char *raw = tabline_value(entry->line, TABLINE_OPTIONS), *upper = NULL, *work = NULL;
	if (raw && *entry->options)
		opt_each_layer_of_line(raw, &scratch, take_layer, &layers);
	bool good = true;
	for (size_t i = 0; i < layers.count; ++i) {
		const struct layer *layer = &layers.at[i];
		upper = layer->of == 'u' ? layer->path : upper;
		work = layer->of == 'w' ? layer->path : work;
		for (size_t k = 0; k < i && good; ++k)
			good = judge_two(&layers, &layers.at[k], layer);
		if (!is_lower(layer) && !entry->noauto)
			judge_shared(&layers, layer);
	}
	if (layers.lower == 1 && !audit_option(audit, entry, "upperdir") && !audit_option(audit, entry, "workdir"))
		tell(&layers, AUDIT_CRITICAL, "it has one lowerdir and no upperdir: the kernel would refuse the mount", "two layers", "one",
		     "give it an upperdir and a workdir, or another lowerdir behind a colon");
	if (upper && work && !mtree_path_within(upper, work) && !mtree_path_within(work, upper) && lie_apart(audit, entry, upper, work))
		tell(&layers, AUDIT_CRITICAL, "its upperdir and workdir are of two mounts: the kernel would refuse the mount", "both of one mount",
		     audit_format(audit, "upperdir=%s,workdir=%s", upper, work), "put the workdir beside the upperdir");
	audit->failed |= scratch.failed || layers.path.failed;
	strbuf_destroy(&scratch);
	strbuf_destroy(&layers.path);
}
