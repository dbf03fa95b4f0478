/* SPDX-License-Identifier: MIT */
#include "audit/rules/mounts.h"

#include "audit/audit_impl.h"
#include "base/array.h"
#include "base/fstypes.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** How much of fs.mount-max may be used, in percent. */
enum { LIMIT_WARNING = 80, LIMIT_CRITICAL = 95 };

/** The same file system mounted on top of itself. */
struct stack {
	uint32_t node;           /* the first hidden one */
	const char *target;
	const struct fstab_line *line;
	const struct mount *over;
	size_t depth;
};

struct look {
	const struct audit_mounts_input *in;
	struct audit_report *report;
	struct map64 by_mount;   /* address of a mount -> its line of the plan */
	struct map64 dead;       /* superblocks already reported */
	struct map64 stacked;    /* hash of a mount point and its file system -> index of stacks */
	struct stack *stacks;
	size_t nstacks, room;
	size_t own_deleted, own_hidden, own_dead;
	struct strbuf text, more;
	bool failed;
};

static void add_finding(struct look *look, const struct audit_finding *finding)
{
	look->failed |= look->text.failed || look->more.failed
	|| audit_report_add(look->report, finding) != 0;
}

/** The plan's line of a mount, or NULL. */
static const struct fstab_line *line_of(const struct look *look, const struct mount *mount)
{
	uint32_t i = map64_get(&look->by_mount, (uint64_t)(uintptr_t)mount);
	return i == MAP64_NONE ? NULL : &look->in->plan->lines[i];
}

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/** The fstab line that a hidden mount is reported for.  An ignore comment on the line of the
    covering mount, which may cover on purpose, counts too. */
static uint32_t said(const struct look *look, enum audit_code code, const struct fstab_line *line,
                     const struct mount *over)
{
	const struct fstab_line *other = over ? line_of(look, over) : NULL;
	const struct audit_report *report = look->report;
	return other && audit_line_ignores(report, other->of, code) ? other->of : line->of;
}

/** Count a mount hidden by the same file system: each stack is reported once. */
static void add_stacked(struct look *look, const struct stack *stack)
{
	const struct mount *m = look->in->d->tree.nodes[stack->node].mount;
	uint64_t dev = mount_dev(m), key = map64_bytes(map64_text(stack->target),
	                                               (const char *)&dev, sizeof(dev));
	uint32_t at = map64_put(&look->stacked,
	                        map64_bytes(key, m->root ? m->root : "",
	                                    strlen(m->root ? m->root : "")),
	                                    (uint32_t)look->nstacks);
	if (at != MAP64_NONE && at < look->nstacks
	    && strcmp(look->stacks[at].target, stack->target) == 0) {
		++look->stacks[at].depth;
		return;
	}
	look->failed |= at == MAP64_NONE;
	if (!ARRAY_ROOM(look->stacks, look->nstacks, &look->room)) {
		look->failed = true;
		return;
	}
	look->stacks[look->nstacks++] = *stack;
}

static void add_stacks(struct look *look)
{
	for (size_t i = 0; i < look->nstacks && !look->failed; ++i) {
		const struct stack *stack = &look->stacks[i];
		strbuf_reset(&look->text);
		if (stack->depth == 2)
			strbuf_puts(&look->text, "the same file system is mounted twice on top of "
			                         "itself");
		else
			strbuf_printf(&look->text, "the same is mounted there %zu times, upon "
			                           "itself", stack->depth);
		add_finding(look, &(struct audit_finding){
			.code = MNT_DUP, .severity = AUDIT_WARNING, .target = stack->target,
				.owner = stack->line->owner,
			.line = said(look, MNT_DUP, stack->line, stack->over),
				.fstype = look->in->d->tree.nodes[stack->node].mount->fstype,
			.message = strbuf_str(&look->text), .expected = "one mount",
				.actual = stack->depth == 2 ? "two" : "more than two",
			.hint = stack->depth == 2 ? "unmount the upper one; find the line or unit "
			                                   "that mounts it twice"
			                                 : "unmount all but one; find what mounts "
			                                   "it "
			                                   "repeatedly"});
	}
}

/** A mount that another mount hides. */
static void judge_hidden(struct look *look, uint32_t node, const char *target,
                         const struct fstab_line *line)
{
	const char *owner = line->owner;
	const struct discovery *d = look->in->d;
	const struct mt_node *n = &d->tree.nodes[node];
	const struct mt_node *by = n->covered_by == MT_NONE ? NULL : &d->tree.nodes[n->covered_by];
	const struct mount *m = n->mount, *over = by ? by->mount : NULL;
	const char *name = by ? d->targets[n->covered_by] : NULL;
	/* An automount that was triggered. */
	if (fstype_flags(m->fstype) & FST_AUTOFS && name && strcmp(name, target) == 0)
		return;
	if (over && name && strcmp(name, target) == 0 && mount_dev(m) == mount_dev(over)
	    && same(m->root, over->root)) {
		bool ro = m->vfs_opts && over->vfs_opts && !opt_shown_has(m->vfs_opts, "ro")
			&& opt_shown_has(over->vfs_opts, "ro");
		bool shm = strcmp(target, "/dev/shm") == 0;
		if (ro || shm)
			return;   /* NixOS binds its store so; containers mount it twice */
		add_stacked(look, &(struct stack){.node = node, .target = target, .line = line,
		                                  .over = over, .depth = 2});
		return;
	}
	strbuf_reset(&look->text);
	strbuf_printf(&look->text, "%s (%s), mounted on %s, hides it", !over
	              || !over->source ? "another mount" : look->in->secret
	              && look->in->secret(over->source, NULL) ? "***" : over->source,
	              over && over->fstype ? over->fstype : "?", name ? name : "?");
	bool below = name && strcmp(name, target) != 0;
	add_finding(look, &(struct audit_finding){
		.code = MNT_SHADOWED, .severity = AUDIT_WARNING, .target = target, .owner = owner,
			.line = said(look, MNT_SHADOWED, line, over),
		.fstype = m->fstype, .message = strbuf_str(&look->text),
		.hint = below ? "it was mounted before its parent: mount it again after the parent"
			: "unmount the one that is not needed"});
}

/** A mount that does not answer, or only with errors: each superblock is reported once. */
static void judge_dead(struct look *look, uint32_t node, const char *target,
                       const struct fstab_line *line)
{
	const struct discovery *d = look->in->d;
	const struct mount *m = d->tree.nodes[node].mount;
	bool hung = d->tree.nodes[node].states & 1u << MT_HUNG;
	int error = d->probed ? d->probed[node].error : 0;
	uint32_t first = map64_put(&look->dead, mount_dev(m), node);
	look->failed |= first == MAP64_NONE;
	if (first != node)
		return;
	strbuf_reset(&look->text);
	if (hung)
		strbuf_puts(&look->text, "no answer in time");
	else if (error)
		strbuf_printf(&look->text, "%s: %s",
		              strerrorname_np(error) ? strerrorname_np(error) : "?",
		              strerror(error));
	else
		strbuf_puts(&look->text, "an error");
	const char *message = hung ? "does not answer: processes that access it hang"
	                           : "answers only with an error";
	if (hung && d->probed && d->probed[node].pid) {
		char date[32];
		time_t since = (time_t)d->probed[node].since;
		struct tm tm;
		bool dated = since > 0 && gmtime_r(&since, &tm)
			&& strftime(date, sizeof(date), "%FT%TZ", &tm) > 0;
		strbuf_reset(&look->more);
		strbuf_printf(&look->more, "still does not answer: process %d waits for it%s%s",
		              d->probed[node].pid, dated ? " since " : "", dated ? date : "");
		message = strbuf_str(&look->more);
	}
	bool fuse = m->fstype && strncmp(m->fstype, "fuse", 4) == 0,
		net = fstype_flags(m->fstype) & FST_NET;
	add_finding(look, &(struct audit_finding){
		.code = hung ? MNT_TIMEOUT : MNT_STALE, .severity = AUDIT_CRITICAL,
			.target = target, .owner = line->owner, .line = line->of,
				.fstype = m->fstype,
		.message = message,
		.expected = "an answer", .actual = strbuf_str(&look->text),
		.hint = fuse  ? "check whether its daemon runs; unmount it and restart the daemon"
		               : net ? "check whether the server is up and still exports it; "
		                       "umount -l, "
		                       "then mount it again"
		                     : "check whether its device exists; unmount it, then mount it "
		                       "again"});
}

static void judge_node(struct look *look, uint32_t node)
{
	const struct discovery *d = look->in->d;
	const struct mt_node *n = &d->tree.nodes[node];
	const char *target = d->targets[node] ? d->targets[node] : n->mount->point;
	bool deleted = n->states & 1u << MT_DELETED, hidden = n->states & 1u << MT_HIDDEN;
	bool dead = n->states & (1u << MT_HUNG | 1u << MT_STALE) && !hidden;
	if (n->gone || n->made || n->states & 1u << MT_OUTSIDE || !target
	    || !(deleted || hidden || dead))
		return;
	const struct fstab_line *line = line_of(look, n->mount);
	if (!line)
		return;   /* outside of ROOT */
	if (audit_is_others(line, look->in->include)) {
		look->own_deleted += deleted;
		look->own_dead += dead;
		look->own_hidden += hidden && !deleted
		&& !(fstype_flags(n->mount->fstype) & FST_AUTOFS);
		return;
	}
	if (dead)
		judge_dead(look, node, target, line);
	if (deleted)
		add_finding(look, &(struct audit_finding){
			.code = MNT_DELETED, .severity = AUDIT_WARNING, .target = target,
				.owner = line->owner, .line = line->of, .fstype = n->mount->fstype,
			.message = "the directory that it shows was removed",
				.actual = n->mount->root,
			.hint = "unmount it, or bind the new directory"});
	if (hidden)
		judge_hidden(look, node, target, line);
}

static void add_count(struct look *look, enum audit_code code, size_t count, const char *one,
                     const char *more)
{
	if (count == 0)
		return;
	strbuf_reset(&look->text);
	strbuf_printf(&look->text, "%zu mount%s of the system, of sessions or containers %s", count,
	              count == 1 ? "" : "s",
	              count == 1 ? one : more);
	add_finding(look, &(struct audit_finding){.code = code, .severity = AUDIT_INFO,
	                                          .target = "",
	                                          .message = strbuf_str(&look->text)});
}

int audit_mounts(const struct audit_mounts_input *in, struct audit_report *report)
{
	struct look look = {.in = in, .report = report};
	const struct mtree *tree = &in->d->tree;
	size_t count = 0;
	map64_init(&look.by_mount);
	map64_init(&look.dead);
	map64_init(&look.stacked);
	strbuf_init(&look.text);
	strbuf_init(&look.more);
	for (uint32_t i = 0; i < in->plan->count && !look.failed; ++i) {
		const struct mount *m = in->plan->lines[i].mount;
		look.failed = m && map64_put(&look.by_mount, (uint64_t)(uintptr_t)m,
		                             i) == MAP64_NONE;
	}
	for (uint32_t i = 0; i < tree->count && !look.failed; ++i) {
		count += !tree->nodes[i].gone && !tree->nodes[i].made;
		judge_node(&look, i);
	}
	add_stacks(&look);
	add_count(&look, MNT_STALE, look.own_dead, "is dead", "are dead");
	add_count(&look, MNT_DELETED, look.own_deleted, "shows what was removed",
	         "show what was removed");
	add_count(&look, MNT_SHADOWED, look.own_hidden, "is hidden by another",
	         "are hidden by others");
	if (in->limit > 0 && 100 * count >= (size_t)in->limit * LIMIT_WARNING) {
		bool critical = 100 * count >= (size_t)in->limit * LIMIT_CRITICAL;
		char expected[48], actual[32];
		snprintf(expected, sizeof(expected), "fewer than %ld", in->limit);
		snprintf(actual, sizeof(actual), "%zu", count);
		add_finding(&look, &(struct audit_finding){
			.code = MNT_LIMIT, .severity = critical ? AUDIT_CRITICAL : AUDIT_WARNING,
				.target = "",
			.message = "the number of mounts is close to the limit of the namespace, "
			                  "where mounting fails",
			.expected = expected, .actual = actual,
				.hint = "find what leaks mounts; raise the limit with sysctl "
				               "fs.mount-max"});
	}
	if (!in->d->probed || in->d->unprobed) {
		audit_not_checked(report, MNT_STALE);
		audit_not_checked(report, MNT_TIMEOUT);
	}
	if (!look.failed)
		audit_report_sort(report);
	map64_destroy(&look.by_mount);
	map64_destroy(&look.dead);
	map64_destroy(&look.stacked);
	free(look.stacks);
	strbuf_destroy(&look.text);
	strbuf_destroy(&look.more);
	if (look.failed)
		errno = ENOMEM;
	return look.failed ? -1 : 0;
}
