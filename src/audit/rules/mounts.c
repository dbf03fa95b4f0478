/* SPDX-License-Identifier: MIT */
/*
 * Report broken mounts, independent of the fstab, and processes that keep an unmounted file system
 * busy.
 *
 * Mounts of the system, of sessions and of containers, for which audit_is_others() is true, are
 * only counted: one info finding of each kind has their number.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/secret.h"
#include "fstab/target.h"

#include <string.h>
#include <time.h>

/** Percentage of fs.mount-max from which the number of mounts is reported with this severity. */
enum { LIMIT_WARNING = 80, LIMIT_CRITICAL = 95 };

/** Mounts of one file system, each over another, on one mount point. */
struct stack {
	uint32_t node;           /* the first hidden mount */
	const char *target;
	const struct fstab_line *line;
	const struct mount *over;   /* the mount that covers `node` */
	uint32_t oldest;         /* the oldest node of the stack, which is first in the table */
	bool copied;             /* propagation copied a mount of the stack to another mount
	                            point */
	size_t depth;            /* number of mounts, with the uppermost; copies count only if they
	                            are the oldest */
};

struct mounts_audit {
	const struct audit_live *in;
	struct audit_report *report;
	struct map64 by_mount;   /* address of a mount -> its line in the plan */
	struct map64 dead;       /* device of a superblock that was already reported -> node */
	struct map64 stacked;    /* hash of mount point, device and root directory of a mount ->
	                            index in stacks[] */
	struct stack *stacks;
	size_t nstacks;
	/* Numbers of mounts for which audit_is_others() is true: */
	size_t others_deleted, others_hidden, others_dead;
};

/** Find the line of a mount in the plan, or NULL. */
static const struct fstab_line *line_of(const struct mounts_audit *mounts,
                                        const struct mount *mount)
{
	uint32_t i = map64_get(&mounts->by_mount, (uint64_t)(uintptr_t)mount);
	return i == MAP64_NONE ? NULL : &mounts->in->plan->lines[i];
}

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/** Set the members of a finding that name a mount.
    @over  The mount that covers this mount; or NULL.  If the comment above the fstab line of `over`
           ignores the code, the finding gets that line, so that the comment ignores the finding. */
static struct audit_finding about(const struct mounts_audit *mounts, enum audit_code code,
                                  const char *target, const struct fstab_line *line,
                                  const struct mount *over)
{
	const struct fstab_line *other = over ? line_of(mounts, over) : NULL;
	bool ignored = other && audit_line_ignores(mounts->report, other->of, code);
	return (struct audit_finding){.target = target, .owner = line->owner,
	                              .line = ignored ? other->of : line->of,
	                              .fstype = line->mount->fstype};
}

/** Find the node of the mount that propagation or a recursive bind made together with a mount, as
    its copy or its origin.  The origin is the older of both.
    @line    The line of the mount in the plan; or NULL.
    @return  MT_NONE: there is no such mount. */
static uint32_t twin_of(const struct mounts_audit *mounts, const struct fstab_line *line)
{
	const struct mount *twin = line ? line->twin : NULL;
	return twin ? mtree_find(&mounts->in->d->tree, twin->key) : MT_NONE;
}

/** Count a mount of a stack.  Of the copies, which propagation may also put beneath an older mount,
    only the oldest mount of the stack counts. */
static void count_stacked(struct mounts_audit *mounts, struct stack *stack, uint32_t node)
{
	const struct mtree *tree = &mounts->in->d->tree;
	uint32_t oldest = node < stack->oldest ? node : stack->oldest;
	uint32_t twin = twin_of(mounts, line_of(mounts, tree->nodes[node].mount));
	uint32_t first = stack->oldest == MT_NONE ? MT_NONE
	                 : twin_of(mounts, line_of(mounts, tree->nodes[stack->oldest].mount));
	bool is_copy = twin != MT_NONE && twin < node;
	/* The oldest mount counted also if it is a copy: it is no longer the oldest. */
	if (oldest != stack->oldest && stack->oldest != MT_NONE && first < stack->oldest)
		--stack->depth;
	stack->depth += !is_copy || oldest == node;
	stack->oldest = oldest;
	stack->copied |= twin != MT_NONE;
}

/** Record a mount that is hidden by a mount of the same file system.  Mounts on one mount point
    become one stack, to be reported once. */
static void add_stacked(struct mounts_audit *mounts, const struct stack *stack)
{
	const struct mtree *tree = &mounts->in->d->tree;
	const struct mount *m = tree->nodes[stack->node].mount;
	const char *root = m->root ? m->root : "";
	uint64_t dev = mount_dev(m);
	uint64_t key = map64_bytes(map64_text(stack->target), (const char *)&dev, sizeof(dev));
	uint32_t at = map64_put(&mounts->stacked, map64_bytes(key, root, strlen(root)),
	                        (uint32_t)mounts->nstacks);
	if (at >= mounts->nstacks || strcmp(mounts->stacks[at].target, stack->target) != 0) {
		at = (uint32_t)mounts->nstacks;
		ARENA_PUSH(&mounts->report->arena, mounts->stacks, mounts->nstacks, *stack);
		if (at < mounts->nstacks)
			count_stacked(mounts, &mounts->stacks[at],
			              tree->nodes[stack->node].covered_by);
	}
	if (at < mounts->nstacks)
		count_stacked(mounts, &mounts->stacks[at], stack->node);
}

static void report_stacks(struct mounts_audit *mounts)
{
	for (size_t i = 0; i < mounts->nstacks; ++i) {
		const struct stack *stack = &mounts->stacks[i];
		struct audit_finding at =
			about(mounts, MNT_DUP, stack->target, stack->line, stack->over);
		const char *hint = stack->copied
			? "unmount it once, which also unmounts the copies that propagation made; "
			  "find what mounts it repeatedly"
			: stack->depth == 2
			? "unmount the upper one; find the line or unit that mounts it twice"
			: "unmount all but one; find what mounts it repeatedly";
		if (stack->depth < 2)
			continue;
		if (stack->depth == 2)
			audit_add_at(mounts->report, &at, MNT_DUP, AUDIT_WARNING, "one mount",
				     "two", hint,
				     "the same file system is mounted twice on top of itself");
		else
			audit_add_at(mounts->report, &at, MNT_DUP, AUDIT_WARNING, "one mount",
				     "more than two", hint,
				     "the same file system is mounted %zu times on top of itself",
				     stack->depth);
	}
}

/** The remedy for a mount that another mount hides.
    @by    The line of the covering mount in the plan; or NULL.
    @upon  Both have the same mount point. */
static const char *hidden_hint(const struct mounts_audit *mounts, const struct fstab_line *by,
                               bool upon)
{
	const struct fstab_line *twin = by && by->twin ? line_of(mounts, by->twin) : NULL;
	if (twin && twin->target && by->target)
		return audit_format(mounts->report, "propagation mounted it on %s and on %s at "
		                    "once: unmount it there, and mount it again with private "
		                    "in its options", by->target, twin->target);
	return upon ? "unmount the one that is not needed"
	       : "it was mounted before its parent: mount it again after the parent";
}

/** Report a mount that another mount hides, unless this seems intended. */
static void check_hidden(struct mounts_audit *mounts, uint32_t node, const char *target,
                         const struct fstab_line *line)
{
	const struct discovery *d = mounts->in->d;
	const struct mt_node *n = &d->tree.nodes[node];
	bool covered = n->covered_by != MT_NONE;
	const struct mount *m = n->mount, *over = covered ? d->tree.nodes[n->covered_by].mount
	                                                  : NULL;
	const char *name = covered ? d->targets[n->covered_by] : NULL;
	const char *inside = name ? fstab_from_root(mounts->in->root, name) : NULL;
	name = inside ? inside : name;
	bool upon = inside && strcmp(inside, target) == 0;
	const struct fstab_line *by = over ? line_of(mounts, over) : NULL;
	/* A triggered automount is covered by the mount that it made. */
	if (fstype_flags(m->fstype) & FST_AUTOFS && upon)
		return;
	if (upon && mount_dev(m) == mount_dev(over) && same(m->root, over->root)) {
		bool other = (m->vfs_opts && over->vfs_opts
		              && strcmp(m->vfs_opts, over->vfs_opts) != 0)
		             || (by && by->of && by->of != line->of && !by->twin);
		/* Do not report a covering mount with different flags or with a line of its own,
		   which is intended, or /dev/shm, which containers mount twice. */
		if (!other && strcmp(target, "/dev/shm") != 0)
			add_stacked(mounts, &(struct stack){.node = node, .target = target,
			                                    .line = line, .over = over,
			                                    .oldest = MT_NONE});
		return;
	}
	/* Another mount shows the same, or is reported. */
	uint32_t twin = twin_of(mounts, line);
	if (twin != MT_NONE && (twin < node || !(d->tree.nodes[twin].states & 1u << MT_HIDDEN)))
		return;
	struct audit_finding at = about(mounts, MNT_SHADOWED, target, line, over);
	audit_add_at(mounts->report, &at, MNT_SHADOWED, AUDIT_WARNING, NULL, NULL,
		     hidden_hint(mounts, by, !name || upon), "%s (%s), mounted on %s, hides it",
		     !over || !over->source ? "another mount"
		     : source_has_secret(over->source) ? "***" : over->source,
		     over && over->fstype ? over->fstype : "?", name ? name : "?");
}

/** Report a mount that does not respond, or only with errors; once for each superblock. */
static void check_dead(struct mounts_audit *mounts, uint32_t node, const char *target,
                       const struct fstab_line *line)
{
	const struct discovery *d = mounts->in->d;
	const struct mount *m = d->tree.nodes[node].mount;
	bool hung = d->tree.nodes[node].states & 1u << MT_HUNG;
	int error = d->probed ? d->probed[node].error : 0;
	int pid = d->probed ? d->probed[node].pid : 0;
	uint32_t first = map64_put(&mounts->dead, mount_dev(m), node);
	if (first != node)
		return;
	enum audit_code code = hung ? MNT_TIMEOUT : MNT_STALE;
	const char *actual = hung ? "no answer in time" : !error ? "an error"
		: audit_format(mounts->report, "%s: %s",
		               strerrorname_np(error) ? strerrorname_np(error) : "?",
		               strerror(error));
	const char *hint = m->fstype && strncmp(m->fstype, "fuse", 4) == 0
		? "check whether its daemon runs; unmount it and restart the daemon"
		: fstype_flags(m->fstype) & FST_NET
		? "check whether the server is up and still exports it; umount -l, then mount it "
		  "again"
		: "check whether its device exists; unmount it, then mount it again";
	struct audit_finding at = about(mounts, code, target, line, NULL);
	if (hung && pid) {
		char date[32] = "";
		time_t since = (time_t)d->probed[node].since;
		struct tm tm;
		if (since <= 0 || !gmtime_r(&since, &tm)
		    || !strftime(date, sizeof(date), " since %FT%TZ", &tm))
			date[0] = '\0';
		audit_add_at(mounts->report, &at, code, AUDIT_CRITICAL, "an answer", actual, hint,
			     "still does not answer: process %d waits for it%s", pid, date);
	} else {
		audit_add_at(mounts->report, &at, code, AUDIT_CRITICAL, "an answer", actual, hint,
			     hung ? "does not answer: processes that access it hang"
			          : "answers only with an error");
	}
}

static void check_node(struct mounts_audit *mounts, uint32_t node)
{
	const struct discovery *d = mounts->in->d;
	const struct mt_node *n = &d->tree.nodes[node];
	bool deleted = n->states & 1u << MT_DELETED, hidden = n->states & 1u << MT_HIDDEN;
	bool dead = n->states & (1u << MT_HUNG | 1u << MT_STALE) && !hidden;
	if (n->gone || n->made || n->states & 1u << MT_OUTSIDE || !(deleted || hidden || dead))
		return;
	const struct fstab_line *line = line_of(mounts, n->mount);
	/* The plan has no line for a mount outside of ROOT. */
	const char *target = line && line->target ? line->target : n->mount->point;
	if (!line || !target)
		return;
	if (audit_is_others(line, mounts->in->include)) {
		mounts->others_deleted += deleted;
		mounts->others_dead += dead;
		mounts->others_hidden += hidden && !deleted
		                         && !(fstype_flags(n->mount->fstype) & FST_AUTOFS);
		return;
	}
	if (dead)
		check_dead(mounts, node, target, line);
	struct audit_finding at = about(mounts, MNT_DELETED, target, line, NULL);
	const char *kind = discover_kind_name(d, node);
	if (deleted)
		audit_add_at(mounts->report, &at, MNT_DELETED, AUDIT_WARNING, NULL, n->mount->root,
			     strcmp(kind, "file") == 0 ? "unmount it, or bind the new file"
			     : strcmp(kind, "directory") == 0
			     ? "unmount it, or bind the new directory"
			     : "unmount it, or bind the new one",
			     "the %s that it shows was removed", kind);
	if (hidden)
		check_hidden(mounts, node, target, line);
}

static void report_count(struct mounts_audit *mounts, enum audit_code code, size_t count,
                         const char *one, const char *more)
{
	if (count)
		audit_add_at(mounts->report, &(struct audit_finding){.target = ""}, code,
			     AUDIT_INFO, NULL, NULL, NULL,
			     "%zu mount%s of the system, of sessions or containers %s", count,
			     count == 1 ? "" : "s", count == 1 ? one : more);
}

int audit_mounts(const struct audit_live *in, struct audit_report *report)
{
	struct arena *arena = &report->arena;
	struct mounts_audit mounts = {
		.in = in, .report = report, .by_mount.arena = arena, .dead.arena = arena,
		.stacked.arena = arena};
	const struct mtree *tree = &in->d->tree;
	size_t count = 0, max = in->mount_max > 0 ? (size_t)in->mount_max : 0;
	for (uint32_t i = 0; i < in->plan->count; ++i) {
		const struct mount *m = in->plan->lines[i].mount;
		if (m)
			map64_put(&mounts.by_mount, (uint64_t)(uintptr_t)m, i);
	}
	for (uint32_t i = 0; i < tree->count && !arena->failed; ++i) {
		count += !tree->nodes[i].gone && !tree->nodes[i].made;
		check_node(&mounts, i);
	}
	report_stacks(&mounts);
	report_count(&mounts, MNT_STALE, mounts.others_dead, "is dead", "are dead");
	report_count(&mounts, MNT_DELETED, mounts.others_deleted, "shows a removed "
	             "directory or file", "show removed directories or files");
	report_count(&mounts, MNT_SHADOWED, mounts.others_hidden, "is hidden by another",
	             "are hidden by others");
	if (max && 100 * count >= max * LIMIT_WARNING)
		audit_add_at(report, &(struct audit_finding){.target = ""}, MNT_LIMIT,
			     100 * count >= max * LIMIT_CRITICAL ? AUDIT_CRITICAL : AUDIT_WARNING,
			     audit_format(report, "fewer than %zu", max),
			     audit_format(report, "%zu", count), "find what leaks mounts; raise "
			     "the limit with sysctl fs.mount-max", "the number of mounts is close "
			     "to the limit of the namespace, where mounting fails");
	if (in->mount_max < 0)
		audit_not_checked(report, MNT_LIMIT);
	if (!in->d->probed || in->d->unprobed) {
		audit_not_checked(report, MNT_STALE);
		audit_not_checked(report, MNT_TIMEOUT);
	}
	return audit_finish(report);
}

int audit_holders(const struct host_holder *holders, size_t n, struct audit_report *report)
{
	for (size_t i = 0; i < n; ++i) {
		const struct host_holder *h = &holders[i];
		bool elsewhere = h->kind == HOST_HELD_ELSEWHERE;
		const char *source = source_has_secret(h->source) ? "***" : h->source;
		const char *process = audit_format(report, "process %d (%s)", h->pid, h->comm);
		const char *rest = h->count < 2 ? "" : audit_format(
			report, ", and %zu more %s%s", h->count - 1,
			elsewhere ? "namespace" : "file", h->count > 2 ? "s" : "");
		struct audit_finding at = {.target = h->target ? h->target : "", .line = h->line,
		                           .owner = h->line ? "fstab" : NULL};
		switch (h->kind) {
		case HOST_HELD_ELSEWHERE:
			audit_add_at(report, &at, MNT_HELD, AUDIT_WARNING, "not in use",
				     "mounted in another namespace", "unmount it there (nsenter -t "
				     "PID -m umount ...), or end the processes there",
				     "%s is busy: not mounted here, but in another mount namespace "
				     "on %s of %s%s", source, h->where, process, rest);
			break;
		case HOST_HELD_ALIVE:
			audit_add_at(report, &at, MNT_HELD, AUDIT_WARNING, "not in use", "in use",
				     "it was unmounted while in use (umount -l): fuser -vm DEVICE "
				     "lists the processes; end them", "%s is in use by the kernel, "
				     "but not mounted in any visible namespace", source);
			break;
		case HOST_HELD_DELETED:
			audit_add_at(report, &at, MNT_HELD, AUDIT_INFO, "not in use", "open files",
				     "end the process, then unmount it",
				     "open files in a removed directory: %s has %s%s", process,
				     h->where, rest);
			break;
		case HOST_HELD_DETACHED:
			audit_add_at(report, &at, MNT_HELD, AUDIT_INFO, "not in use", "open files",
				     "it was unmounted while in use (umount -l): it is busy until "
				     "the process ends", "%s has %s open, in a file system that is "
				     "no longer mounted%s", process, h->where, rest);
			break;
		}
	}
	return audit_finish(report);
}
