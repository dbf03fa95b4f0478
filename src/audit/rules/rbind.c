/* SPDX-License-Identifier: MIT */
/*
 * Find the copies of mounts that a recursive bind makes.
 *
 *     /home  /export  none  rbind          /home/t --> /export/t
 *
 * A recursive bind also copies the mounts below its source.  Mounts made below the source later
 * propagate to the bind if the source is shared.  A copy has the path below the bind that its
 * original has below the source, and shows the same directory of the same file system.  Linear in
 * mounts and the depth of their paths.
 */
#include "audit/rules/drift_impl.h"

#include "base/fstypes.h"
#include "base/map64.h"
#include "base/pathmap.h"
#include "base/words.h"
#include "mountopts/optlist.h"
#include "mounttree.h"

#include <string.h>

/** The binds of a file and the visible mounts. */
struct bounds {
	const struct fstab_plan *plan;
	const struct fstab_match *match;
	const struct fstab_file *file;
	struct map64 seen;       /* hash of a mount point -> the visible mount of the plan */
	struct pathmap binds;    /* path -> indexes of the bind lines with this target or source;
	                            the first line is added last, and so found first */
	bool source;             /* `binds` has the sources of the lines, not the targets */
};

/** Get the target or source of a line that makes a visible bind.  NULL: the line makes no visible
    bind, or the path is unknown or is "/", which contains every path. */
static const char *end_of(const struct bounds *b, uint32_t line)
{
	const struct fstab_line *of = b->match->of[line];
	if (!of || !b->match->bound[line].in || !of->mount || !of->target || of->hidden)
		return NULL;
	const char *path = b->source ? b->match->bound[line].path : of->target;
	return path && path[1] ? path : NULL;
}

/** Fill b->binds and b->seen. */
static void bounds_init(struct bounds *b, struct arena *arena)
{
	b->seen.arena = b->binds.newest.arena = arena;
	for (uint32_t i = (uint32_t)b->file->count; i-- > 0;) {
		const char *path = end_of(b, i);
		if (path)
			pathmap_add(&b->binds, path, i);
	}
	for (uint32_t i = 0; b->binds.count && i < b->plan->count; ++i) {
		const struct fstab_line *line = &b->plan->lines[i];
		if (line->mount && line->target && !line->hidden)
			map64_put(&b->seen, map64_text(line->target), i);
	}
}

/** Find the visible mount whose mount point is `dir`, followed by n bytes of `rest`; or NULL. */
static const struct fstab_line *seen_on(const struct bounds *b, const char *dir, const char *rest,
                                        size_t n)
{
	size_t len = strlen(dir);
	uint32_t at = map64_get(&b->seen, map64_bytes(map64_bytes(MAP64_BYTES, dir, len), rest, n));
	const struct fstab_line *line = at == MAP64_NONE ? NULL : &b->plan->lines[at];
	bool same = line && strncmp(line->target, dir, len) == 0
		&& strncmp(line->target + len, rest, n) == 0 && !line->target[len + n];
	return same ? line : NULL;
}

/** Step to the next bind whose target or source is above the path of `at`.
    @return false: no further bind. */
static bool next_above(const struct bounds *b, struct pathmap_at *at)
{
	while (pathmap_next_above(&b->binds, at)) {
		if (at->path[at->n])
			return true;
	}
	return false;
}

void audit_own_copies(struct fstab_plan *plan, const struct fstab_match *match,
                      const struct fstab_file *file, struct arena *arena)
{
	struct bounds b = {.plan = plan, .match = match, .file = file};
	bounds_init(&b, arena);
	for (size_t i = 0; b.binds.count && i < plan->count; ++i) {
		struct fstab_line *line = &plan->lines[i];
		if (line->owner || !line->mount || !line->target || line->hidden)
			continue;
		struct pathmap_at at = pathmap_of(line->target);
		while (next_above(&b, &at)) {
			const char *rest = line->target + at.n;
			const struct fstab_line *origin =
				seen_on(&b, match->bound[at.value].path, rest, strlen(rest));
			if (!origin || origin == line
			    || !mount_shows_same(origin->mount, line->mount))
				continue;
			line->owner = "fstab";
			line->of = file->entries[at.value].number;
			break;
		}
	}
}

/** Whether the mount `child`, and all mounts between it and `in`, are older than a bind and can be
    bound.
    @in    The mount that contains the source of the bind.
    @bind  The unique ID of the bind. */
static bool was_there(const struct discovery *d, const struct mount *child, const struct mount *in,
                      uint64_t bind)
{
	for (uint32_t node = mtree_find(&d->tree, child->key); node != MT_NONE;
	     node = d->tree.nodes[node].parent) {
		const struct mount *m = d->tree.nodes[node].mount;
		if (m == in)
			return true;
		if (!m->uniq_id || m->uniq_id > bind || m->propagation & MP_UNBINDABLE
		    || fstype_flags(m->fstype) & FST_AUTOFS)
			return false;
	}
	return false;
}

/** Whether a mount is missing below a bind, and the mounts on the way to its place are copies of
    the mounts below the source of the bind.
    @target  The mount point of the bind.
    @path    The source of the bind.
    @rest    The path of the mount below the source. */
static bool is_same_way(const struct bounds *b, const char *target, const char *path,
                        const char *rest)
{
	for (size_t n = 0; rest[n];) {
		n += 1 + strcspn(rest + n + 1, "/");
		const struct fstab_line *copy = seen_on(b, target, rest, n),
			*origin = seen_on(b, path, rest, n);
		if (rest[n] && (!copy != !origin
		                || (copy && !mount_shows_same(copy->mount, origin->mount))))
			return false;
		if (!rest[n] && copy)
			return false;
	}
	return true;
}

/** Whether a line is a recursive bind that lacks a copy of the mount `child`.
    @line  Index of the line.
    @rest  The path of the mount below the source. */
static bool lacks_copy(const struct bounds *b, const struct discovery *d, uint32_t line,
                       const struct fstab_line *child, const char *rest)
{
	const struct fstab_line *of = b->match->of[line];
	const struct fstab_bound *bound = &b->match->bound[line];
	return fstab_entry_find(&b->file->entries[line], "rbind") && of->mount->uniq_id
	       && !word_below(child->target, of->target)
	       && was_there(d, child->mount, bound->in, of->mount->uniq_id)
	       && is_same_way(b, of->target, bound->path, rest);
}

/** Report an rbind line that lacks a copy of a mount below its source. */
static void report_left_out(struct drift *drift, const struct fstab_entry *line,
                            const struct fstab_line *child)
{
	if (!drift->reported[line->number - 1])
		drift_report(drift, DRIFT_OPTIONS, line, drift->in->match->of[line->number - 1],
			     AUDIT_WARNING, "rbind", "bind",
			     "unmount it and mount it again, or use bind", "rbind includes what "
			     "is mounted below the source, but %s is missing", child->target);
}

void drift_find_left_out(struct drift *drift)
{
	const struct audit_live *in = drift->in;
	struct bounds b = {.plan = in->plan, .match = in->match, .file = in->file,
	                   .source = true};
	if (drift->report->arena.failed)
		return;
	bounds_init(&b, &drift->report->arena);
	for (size_t i = 0; b.binds.count && i < in->plan->count; ++i) {
		const struct fstab_line *line = &in->plan->lines[i];
		const char *owner = line->owner ? line->owner : "";
		/* Skip mounts of these owners, which are temporary: the copy may have been
		   unmounted. */
		bool passing = word_in(owner, strcspn(owner, ":"), "automount container "
		                       "credentials nsfs session snap udisks user");
		if (!line->mount || !line->target || line->hidden || passing)
			continue;
		struct pathmap_at at = pathmap_of(line->target);
		while (next_above(&b, &at)) {
			if (lacks_copy(&b, in->d, at.value, line, line->target + at.n))
				report_left_out(drift, &in->file->entries[at.value], line);
		}
	}
}
