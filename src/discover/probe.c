/* SPDX-License-Identifier: MIT */
/*
 * Probing: the prober accesses mounts, each with a deadline.
 *
 * A mount is probed when all mounts on its path have responded and no other probe of its superblock
 * is running.  So probes follow the tree from its roots, and those of different superblocks run
 * simultaneously: a hundred dead servers take as long as one.
 *
 * A mount that does not respond is hung, and so is every mount below it.  A hung superblock is not
 * probed again: not in this run, nor in another run while the blocked process exists.
 *
 * An automount directory is examined from outside only; below it, a name is followed only if the
 * table and then the directory contain the name.
 */
#include "discover/discover_impl.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

enum probe_state {
	PS_WAITING,   /* until its parent is done */
	PS_READY,     /* in the queue of its superblock */
	PS_RUNNING,
	PS_OPEN,      /* the mounts on it may be probed */
	PS_CLOSED,    /* hung: the mounts on it cannot be reached */
	PS_LEFT,      /* not probed, nor are the mounts on it */
};

/** A node, and the superblock whose first node it is, which has at most one running probe. */
struct probe_node {
	enum probe_state state;
	bool steps;             /* an automount directory is on its path */
	bool busy, hung;        /* the superblock */
	uint32_t super;         /* the first node of its superblock */
	uint32_t first, last;   /* queue of ready nodes of the superblock, or MT_NONE */
	uint32_t next;          /* the next ready node in the queue */
};

struct probing {
	struct dsc *dsc;
	struct probe_node *nodes;
	uint32_t *todo;         /* a stack of superblocks with ready nodes */
	uint32_t ntodo;
	uint32_t *parked;       /* superblocks that wait because of the owner's limit */
	uint32_t nparked;
	uint32_t *strays;       /* nodes whose names led to other mounts */
	uint32_t nstrays;
	uint32_t *owners;       /* of each node: the user whose server can block it */
	uint32_t running;       /* number of running probes */
};

static const char COULD_NOT[] = "a mount could not be probed";
static const unsigned UNREACHABLE = 1u << MT_HIDDEN | 1u << MT_OUTSIDE;

static bool probing_is_autofs(const struct probing *p, uint32_t node)
{
	return dsc_type(p->dsc, node) & FST_AUTOFS;
}

/** Set the reason why probes were not made. */
static void probing_incomplete(struct probing *p, const char *reason)
{
	struct discovery *d = p->dsc->d;
	d->complete = false;
	if (!d->incomplete)
		d->incomplete = reason;
	if (!d->unprobed)
		d->unprobed = reason;
}

/** Whether a mount should be probed. */
static bool probing_wants(const struct probing *p, uint32_t node)
{
	const struct dsc *dsc = p->dsc;
	const struct mt_node *n = &dsc->tree->nodes[node];
	bool blocks = mounts_block(dsc->mounts, node);
	if (n->made || n->top != node || !dsc_kernel_name(dsc, node))
		return false;
	/* Examined without the prober, unless a mount on the path can block. */
	if (probing_is_autofs(p, node) && !mounts_block_before(dsc->mounts, node))
		return false;
	return !blocks || dsc->opts->probe == DP_ALL;
}

/** Mark a mount that is below a hung mount. */
static void probing_close(struct probing *p, uint32_t node)
{
	struct dsc *dsc = p->dsc;
	p->nodes[node].state = PS_CLOSED;
	mounts_assume_behind(dsc->mounts, node);
	if (dsc->tree->nodes[node].states & UNREACHABLE)
		return;
	mtree_state(dsc->tree, node, MT_HUNG);
	dsc_settle(dsc, node, MT_UNTESTED);
}

/** Put a node into the queue of its superblock. */
static void probing_queue(struct probing *p, uint32_t node)
{
	struct probe_node *super = &p->nodes[p->nodes[node].super];
	assert(p->nodes[node].state == PS_WAITING);   /* so no node is queued twice */
	p->nodes[node].state = PS_READY;
	p->nodes[node].next = MT_NONE;
	if (super->first == MT_NONE)
		super->first = node;
	else
		p->nodes[super->last].next = node;
	super->last = node;
	if (!super->busy)
		p->todo[p->ntodo++] = p->nodes[node].super;
}

/** After a node is done, continue with its children.  Children that are not probed are done
    immediately; instead of recursing, they form a stack linked through `next`. */
static void probing_go_on(struct probing *p, uint32_t node)
{
	const struct mtree *tree = p->dsc->tree;
	p->nodes[node].next = MT_NONE;
	for (uint32_t stack = node; stack != MT_NONE;) {
		uint32_t at = stack;
		stack = p->nodes[at].next;
		bool closed = p->nodes[at].state == PS_CLOSED;
		for (uint32_t c = tree->nodes[at].first; c != MT_NONE; c = tree->nodes[c].next) {
			const struct mt_node *child = &tree->nodes[c];
			if (p->nodes[c].state != PS_WAITING)
				continue;
			/* A mount stacked on a hung root is reached without it. */
			if (closed && !mtree_stacked(tree, c)) {
				probing_close(p, c);
			} else if (child->states & UNREACHABLE && child->top == c) {
				p->nodes[c].state = PS_LEFT;
				continue;
			} else if (probing_wants(p, c)) {
				probing_queue(p, c);
				continue;
			} else {
				p->nodes[c].state = PS_OPEN;
			}
			p->nodes[c].next = stack;
			stack = c;
		}
	}
}

/** Mark a mount whose superblock did not respond. */
static void probing_hung(struct probing *p, uint32_t node, bool seen)
{
	struct dsc *dsc = p->dsc;
	p->nodes[node].state = PS_CLOSED;
	mounts_assume(dsc->mounts, node);
	dsc->d->probed[node].error = ETIMEDOUT;
	dsc_settle(dsc, node, MT_HUNG);
	if (seen)
		dsc->tree->nodes[node].named = MT_NAMED_VERIFIED;
}

/** Handle a probe that was not made.  @reason  The first is kept; NULL: from dsc_over_share(). */
static void probing_not_made(struct probing *p, uint32_t node, int error, const char *reason)
{
	struct dsc *dsc = p->dsc;
	if (reason && !dsc->d->unprobed) {
		struct strbuf text = {0};
		strbuf_printf(&text, "%s: %s", reason, strerror(error));
		const char *kept = dsc_keep_text(dsc, &text);
		probing_incomplete(p, kept ? kept : reason);
	}
	dsc->d->probed[node].error = error;
	dsc_settle(dsc, node, MT_UNTESTED);
	p->nodes[node].state = PS_LEFT;
}

/** Start the probe of a node.  @return as prober_ask(). */
static int probing_start(struct probing *p, uint32_t node)
{
	struct dsc *dsc = p->dsc;
	const struct mount *m = dsc->tree->nodes[node].mount;
	unsigned type = fstype_flags(m->fstype);
	struct probe_question question = {
		.tag = node,
		.path = dsc_kernel_name(dsc, node),
		.id = m->id,
		.dev_major = m->dev_major,
		.dev_minor = m->dev_minor,
		.key = m->key,
		.owner = p->owners[node],
	};
	unsigned by_dev = type & FST_SUBVOL ? 0 : PROBE_BY_DEV;
	question.flags = (dsc->by_dev ? by_dev : PROBE_BY_ID)
	                 | (node == dsc->d->root ? PROBE_INSIDE : 0)
	                 | (type & FST_AUTOFS ? PROBE_LOOK : 0)
	                 | (p->nodes[node].steps ? PROBE_STEPS : 0);
	struct devmap *devs = dsc->mounts->devs;
	if (devs && type & FST_DEVICE
	    && devmap_mount_device(devs, m, &question.device_major, &question.device_minor))
		question.device = devmap_name(devs, question.device_major,
		                              question.device_minor);
	return prober_ask(dsc->opts->prober, &question);
}

/** Start the next probe of a superblock.  @return 0, or -1 (EAGAIN; EBUSY; EPIPE). */
static int probing_super(struct probing *p, struct probe_node *super)
{
	while (super->first != MT_NONE && !super->busy) {
		uint32_t node = super->first, next = p->nodes[node].next;
		const struct mount *m = p->dsc->tree->nodes[node].mount;
		struct discover_probed *probed = &p->dsc->d->probed[node];
		probed->pid = prober_left(p->dsc->opts->prober, m->dev_major, m->dev_minor,
		                          &probed->since);
		if (super->hung || probed->pid) {
			super->hung = true;
			super->first = next;
			++p->dsc->d->stats.probes_spared;
			probing_hung(p, node, false);
			probing_go_on(p, node);
			continue;
		}
		if (p->running == PROBER_MAX)
			return fail(EAGAIN);
		assert(p->nodes[node].state == PS_READY);
		if (probing_start(p, node) == 0) {
			p->nodes[node].state = PS_RUNNING;
			super->busy = true;
			++p->running;
			++p->dsc->d->stats.probes;
		} else if (errno == EDQUOT || errno == ENAMETOOLONG || errno == EMSGSIZE) {
			probing_not_made(p, node, errno, errno == EDQUOT ? NULL : COULD_NOT);
		} else {
			return -1;
		}
		super->first = next;
	}
	return 0;
}

/** Handle the answer of a probe. */
static void probing_answer(struct probing *p, uint32_t node, const struct probe_answer *answer)
{
	struct dsc *dsc = p->dsc;
	struct discover_probed *probed = &dsc->d->probed[node];
	enum mt_state state = dsc_error_state(answer->error);
	bool blocks = mounts_block(dsc->mounts, node);
	bool removed = dsc->tree->nodes[node].states & 1u << MT_DELETED;
	p->nodes[node].state = PS_OPEN;
	probed->error = answer->error;

	switch ((enum probe_how)answer->how) {
	case PROBE_HUNG:
		p->nodes[p->nodes[node].super].hung = true;
		dsc->d->stats.probes_left += answer->left;
		probing_hung(p, node, answer->seen);
		break;
	case PROBE_NOT_MADE:
		probing_not_made(p, node, answer->error, COULD_NOT);
		break;
	case PROBE_NO_RECORD:
		probing_not_made(p, node, answer->error, "mounts were not probed: the record of a "
		                 "probe could not be written to " DSC_RECORDS);
		break;
	case PROBE_ANSWERED:
		probed->sized = answer->sized;
		probed->sizes = answer->sizes;
		if (answer->error && state == MT_UNTESTED) {
			probing_not_made(p, node, answer->error, COULD_NOT);
			break;
		}
		/* A removed root directory is unreadable, but not stale. */
		if (answer->error && !(answer->error == ENOENT && removed))
			mtree_state(dsc->tree, node, state == MT_HIDDEN ? MT_STALE : state);
		/* The search itself finds mounts that do not block. */
		if (answer->error || blocks || dsc->opts->names == DN_HINT
		    || dsc->opts->names == DN_KERNEL) {
			dsc_looked(dsc, node, &answer->st);
			dsc_name(dsc, node, dsc_kernel_name(dsc, node), MT_NAMED_VERIFIED);
			if (probing_is_autofs(p, node))
				mtree_state(dsc->tree, node, MT_UNTESTED);
		}
		break;
	default:   /* PROBE_ELSEWHERE */
		if (answer->error && state != MT_HIDDEN && state != MT_UNTESTED) {
			dsc_settle(dsc, node, state);
		} else {
			probed->error = 0;
			p->strays[p->nstrays++] = node;
		}
	}
}

/** Wait for an answer, and report progress.  @return as prober_answer(). */
static int probing_wait(struct probing *p, struct probe_answer *answer)
{
	const struct dsc *dsc = p->dsc;
	const struct discover_opts *opts = dsc->opts;
	for (;;) {
		double deadline = opts->deadline, tick = opts->progress ? os_now() + 0.25 : 0;
		bool ticks = tick > 0 && (deadline <= 0 || tick < deadline);
		int got = prober_answer(opts->prober, answer, ticks ? tick : deadline);
		if (got != 0 || !ticks)
			return got;
		uint32_t node = 0;
		while (node < dsc->tree->count && p->nodes[node].state != PS_RUNNING)
			++node;
		dsc_progress(dsc, &(struct discover_progress){
			.probes = p->running,
			.where = node < dsc->tree->count ? dsc_kernel_name(dsc, node) : NULL,
		});
	}
}

/** After an answer, make a superblock ready again, preferably of the same owner. */
static void probing_unpark(struct probing *p, uint32_t owner)
{
	uint32_t i = 0;
	while (i < p->nparked && p->owners[p->nodes[p->parked[i]].first] != owner)
		++i;
	if (i == p->nparked && i-- == 0)
		return;
	p->todo[p->ntodo++] = p->parked[i];
	p->parked[i] = p->parked[--p->nparked];
}

/** Probe until all mounts are done, or the time is over.  @return 0, or -1 (the prober failed). */
static int probing_run(struct probing *p)
{
	struct dsc *dsc = p->dsc;
	for (;;) {
		while (p->ntodo > 0) {
			uint32_t super = p->todo[--p->ntodo];
			if (probing_super(p, &p->nodes[super]) == 0)
				continue;
			if (errno == EBUSY)
				p->parked[p->nparked++] = super;
			else
				p->todo[p->ntodo++] = super;
			if (errno == EAGAIN)
				break;
			if (errno != EBUSY)
				return -1;
		}
		if (p->running == 0 && p->nparked == 0)
			return p->ntodo == 0 ? 0 : -1;
		/* If no probe is running, waiting is useless: try all parked superblocks. */
		if (p->running == 0) {
			while (p->nparked > 0)
				p->todo[p->ntodo++] = p->parked[--p->nparked];
			continue;
		}
		struct probe_answer answer;
		int got = probing_wait(p, &answer);
		if (got < 0)
			return -1;
		if (got == 0) {
			dsc_out_of_time(dsc);
			probing_incomplete(p, dsc->partly);
			/* These mounts must not be accessed without the prober. */
			for (uint32_t i = 0; i < dsc->tree->count; ++i) {
				enum probe_state state = p->nodes[i].state;
				if (state == PS_RUNNING || state == PS_READY)
					dsc_settle(dsc, i, MT_UNTESTED);
			}
			return 0;
		}
		uint32_t node = answer.tag;
		if (node >= dsc->tree->count || p->nodes[node].state != PS_RUNNING)
			continue;
		struct probe_node *super = &p->nodes[p->nodes[node].super];
		assert(super->busy && p->running > 0);
		super->busy = false;
		--p->running;
		probing_answer(p, node, &answer);
		probing_unpark(p, p->owners[node]);
		if (super->first != MT_NONE)
			p->todo[p->ntodo++] = p->nodes[node].super;
		if (p->nodes[node].state != PS_LEFT)
			probing_go_on(p, node);
	}
}

/** A mount that depends on a hung mount is hung as well, even if it responded from the kernel's
    caches; so are the mounts below it. */
static bool probing_apply(void *arg, uint32_t node, uint32_t on, bool below)
{
	struct probing *p = arg;
	if (p->nodes[on].state != PS_CLOSED || p->nodes[node].state != PS_OPEN)
		return false;
	if (below)
		probing_close(p, node);
	else if (p->dsc->tree->nodes[node].states & UNREACHABLE)
		return false;
	else
		probing_hung(p, node, true);
	return true;
}

/** Drop the strays that were unmounted.  @return 0, or -1 (ENOMEM). */
static int probing_read_again(struct probing *p)
{
	const struct mount **now;
	if (p->nstrays == 0)
		return 0;
	if (dsc_read_again(p->dsc, p->strays, p->nstrays, &now) != 0)
		return -1;
	for (uint32_t i = 0; now && i < p->nstrays; ++i) {
		if (now[i])
			continue;
		p->dsc->tree->nodes[p->strays[i]].gone = true;
		mtree_settle(p->dsc->tree, p->strays[i]);
	}
	free(now);
	return 0;
}

/** Initialize the nodes.  @return 0, or -1 (ENOMEM). */
static int probing_prepare(struct probing *p)
{
	const struct mtree *tree = p->dsc->tree;
	struct map64 by_dev = {0};
	if (map64_reserve(&by_dev, tree->count) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t index = tree->order[i], parent = tree->nodes[index].parent;
		struct probe_node *node = &p->nodes[index];
		node->super = map64_put(&by_dev, mount_dev(tree->nodes[index].mount), index);
		node->first = node->last = MT_NONE;
		node->steps = parent != MT_NONE
		              && (p->nodes[parent].steps || probing_is_autofs(p, parent));
	}
	map64_destroy(&by_dev);
	return 0;
}

/** Probe all mounts.  @return 0, or -1 (the prober failed). */
static int probing_all(struct probing *p)
{
	const struct mtree *tree = p->dsc->tree;
	if (p->dsc->rootfd != AT_FDCWD && prober_root(p->dsc->opts->prober, p->dsc->rootfd) != 0)
		return -1;
	dsc_find_owners(p->dsc, p->owners);
	for (uint32_t i = 0; i < tree->count; ++i) {
		if (tree->nodes[i].parent != MT_NONE)
			continue;
		if (probing_wants(p, i)) {
			probing_queue(p, i);
		} else {
			p->nodes[i].state = PS_OPEN;
			probing_go_on(p, i);
		}
	}
	return probing_run(p);
}

int dsc_probe(struct dsc *dsc)
{
	size_t n = dsc->tree->count + 1;
	struct probing p = {.dsc = dsc};
	const char *why = NULL;
	int rc = -1;
	p.nodes = calloc(n, sizeof(*p.nodes));
	p.todo = calloc(2 * n, sizeof(*p.todo));
	p.parked = calloc(n, sizeof(*p.parked));
	p.strays = calloc(n, sizeof(*p.strays));
	p.owners = calloc(n, sizeof(*p.owners));
	dsc->d->probed = calloc(n, sizeof(*dsc->d->probed));
	if (!p.nodes || !p.todo || !p.parked || !p.strays || !p.owners || !dsc->d->probed
	    || probing_prepare(&p) != 0)
		goto out;
	rc = 0;
	bool failed = dsc_permit_probes(dsc, &why) != 0;
	if (!failed && why) {
		probing_incomplete(&p, why);
		free(dsc->d->probed);
		dsc->d->probed = NULL;
	} else if (failed || probing_all(&p) != 0) {
		/* Mounts that have no name yet become untested. */
		probing_incomplete(&p, "mounts could not be probed: the prober process was killed "
		                   "or stopped, or a system call was refused");
	} else {
		why = dsc_over_share(dsc, p.owners);
		if (why)
			probing_incomplete(&p, why);
		mounts_propagate(dsc->mounts, probing_apply, &p);
		rc = probing_read_again(&p);
	}
out:
	free(p.nodes);
	free(p.todo);
	free(p.parked);
	free(p.strays);
	free(p.owners);
	return rc != 0 ? fail(ENOMEM) : 0;
}
