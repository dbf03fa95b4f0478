/* SPDX-License-Identifier: MIT */
/*
 * Hints: the names in the table, each tested by one statx.
 *
 * A name is right if statx shows the ID of the mount and STATX_ATTR_MOUNT_ROOT; the ID alone is not
 * enough, since every path inside the mount shows it.  A stack is tested once, at its top.
 *
 * A mount whose name fails is not searched for, since it has only one mount point and the kernel
 * reported it.  All of these mounts are read from the kernel again: mounts that are gone are
 * dropped, renamed mounts are tested again, and for the others the result of the test determines
 * the state: another mount is visible there (hidden), no permission (denied), a dead server or
 * device (stale).
 */
#include "discover/discover_impl.h"

#include "os/process.h"
#include "path/resolve.h"

#include <fcntl.h>
#include <stdlib.h>

enum {
	HINT_ROUNDS = 3,
	CLOCK_TESTS = 64,    /* tests between two checks of the deadline */
	THREAD_TESTS = 512,  /* number of tests from which a further thread is faster */
	NOT_TESTED = -1,     /* hint.error: the time was over */
};

/** The test of a name. */
struct hint {
	uint32_t node;
	uint32_t seen;   /* the node that statx shows, or MT_NONE */
	int error;       /* errno of statx; or 0, or NOT_TESTED */
	bool right;      /* the name leads to the mount */
};

struct hints {
	struct dsc *dsc;
	struct hint *items;   /* room for every node */
	uint32_t *nodes;      /* likewise */
	size_t n;
};

/** statx of a name of any length, relative to the root of the run. */
static int hint_statx(struct os *os, int rootfd, const char *name, unsigned mask,
                      struct k_statx *st)
{
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
	int at = rootfd;
	if (at != AT_FDCWD) {
		while (*name == '/')
			++name;
		if (!*name)
			name = ".";
	}
	/* The name is longer than the kernel accepts: descend in pieces. */
	while (strlen(name) >= PATH_MAX) {
		char piece[PATH_MAX];
		const char *cut = memrchr(name, '/', PATH_MAX);
		if (!cut || cut == name)
			break;
		memcpy(piece, name, (size_t)(cut - name));
		piece[cut - name] = '\0';
		int fd = os_openat(os, at, piece, O_PATH | O_DIRECTORY | O_NOFOLLOW);
		if (at != rootfd)
			os_close(os, at);
		if (fd < 0)
			return -1;
		at = fd;
		name = cut + 1;
	}
	int rc = os_statx(os, at, name, flags, mask, st);
	if (at != rootfd)
		os_close(os, at);
	return rc;
}

/** Whether, according to the table, a name may be examined: even opening the root of an NFS mount
    with O_PATH contacts the server. */
static bool hint_may_look(struct dsc *dsc, const char *name, size_t len)
{
	for (uint32_t i = 0; !dsc->no_look_read && i < dsc->tree->count; ++i) {
		const char *point = dsc_kernel_name(dsc, i);
		if (mounts_no_look(dsc->mounts, i) && point
		    && pathmap_add(&dsc->no_look, point, i) != 0)
			return false;
	}
	dsc->no_look_read = true;
	return pathmap_find(&dsc->no_look, name, len) == PATHMAP_NONE;
}

/** A name that is examined component by component. */
struct careful {
	struct dsc *dsc;
	const char *name;
	size_t len;            /* length of the part already examined */
};

/** Open a component if its mount is in the table and does not block. */
static int careful_open(void *arg, int at, const char *component)
{
	struct careful *careful = arg;
	struct dsc *dsc = careful->dsc;
	struct k_statx st;
	if (os_statx(dsc->os, at, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) != 0)
		return -1;
	uint32_t in = dsc_node_of(dsc, &st);
	careful->len += 1 + strlen(component);
	/* A mount that is newer than the table hides everything below it. */
	bool blocks = in != MT_NONE && (mounts_block(dsc->mounts, in)
	                                || !hint_may_look(dsc, careful->name, careful->len));
	if (in == MT_NONE || blocks)
		return fail(blocks ? EREMOTE : ENOENT);
	return os_openat(dsc->os, at, component, O_PATH | O_NOFOLLOW);
}

/** statx of a name, component by component, without lookups in mounts that are not in the table or
    can block.  Used when the table may be outdated.
    @return 0, or -1.  Errors: EREMOTE: a mount on the path can block; ENOENT: a mount on the path
    is not in the table. */
static int hint_statx_careful(struct dsc *dsc, const char *name, struct k_statx *st)
{
	struct careful careful = {.dsc = dsc, .name = name};
	struct os *os = dsc->os;
	int fd = path_open_below(os, dsc->rootfd, name, careful_open, &careful);
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	unsigned mask = dsc_id_mask(dsc) | K_STATX_TYPE | K_STATX_NLINK;
	int rc = fd < 0 ? -1 : os_statx(os, fd, "", flags, mask, st);
	os_close(os, fd);
	return rc;
}

/** Compare the statx result for the name of a node with its mount.  Runs in any thread.
    @error  errno of statx, or 0. */
static void hint_compare(struct dsc *dsc, struct hint *hint, int error, const struct k_statx *st)
{
	uint32_t node = hint->node;
	const struct mount *m = dsc->tree->nodes[node].mount;
	*hint = (struct hint){.node = node, .seen = MT_NONE, .error = error};
	if (error != 0)
		return;
	if (dsc->by_dev) {
		hint->right = m->dev_major == st->dev_major && m->dev_minor == st->dev_minor;
	} else {
		hint->seen = dsc_node_of(dsc, st);
		/* The root of a chroot may be a plain directory of its mount. */
		hint->right = hint->seen == node
		              && (os_statx_is_mount_root(st) || node == dsc->d->root);
	}
	if (hint->right)
		dsc_looked(dsc, node, st);
}

/** Settle a node if its name is right.  @return whether it is. */
static bool hint_settle(struct dsc *dsc, const struct hint *hint)
{
	if (!hint->right)
		return false;
	dsc_name(dsc, hint->node, dsc_kernel_name(dsc, hint->node), MT_NAMED_VERIFIED);
	/* The mount was identified without accessing its file system. */
	if (mounts_block_itself(dsc->mounts, hint->node))
		mtree_state(dsc->tree, hint->node, MT_UNTESTED);
	if (dsc->tree->nodes[hint->node].place_hidden)
		mtree_uncover(dsc->tree, hint->node);
	return true;
}

/** Test a name when the table may be outdated.  @return whether the name is right. */
static bool hint_test(struct dsc *dsc, uint32_t node, struct hint *hint)
{
	struct k_statx st;
	int rc = hint_statx_careful(dsc, dsc_kernel_name(dsc, node), &st);
	hint->node = node;
	hint_compare(dsc, hint, rc != 0 ? errno : 0, &st);
	return hint_settle(dsc, hint);
}

enum mt_state dsc_error_state(int error)
{
	static const int not_of_the_mount[] = {
		EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN, EINVAL, EBADF, EFAULT, EOVERFLOW, ENOSYS,
	};
	if (error == EACCES || error == EPERM)
		return MT_DENIED;
	if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG)
		return MT_HIDDEN;
	for (size_t i = 0; i < sizeof(not_of_the_mount) / sizeof(*not_of_the_mount); ++i) {
		if (error == not_of_the_mount[i])
			return MT_UNTESTED;
	}
	return MT_STALE;
}

/** Find the mount that covers a name that does not exist: the mount of its nearest existing
    ancestor.
    @by [out]  The node, or MT_NONE if that mount is not in the table.
    @return whether an existing ancestor was found. */
static bool hint_coverer(struct dsc *dsc, const char *name, uint32_t *by)
{
	char *path = strdup(name);
	bool seen = false;
	for (char *slash; path && (slash = strrchr(path, '/')) && path[1];) {
		struct k_statx st;
		slash[slash == path] = '\0';   /* the last one is "/" */
		seen = hint_statx_careful(dsc, path, &st) == 0;
		if (seen)
			*by = dsc_node_of(dsc, &st);
		if (seen || dsc_error_state(errno) != MT_HIDDEN)
			break;
	}
	free(path);
	return seen;
}

/** Determine the state of a node whose name failed although the kernel still reports it. */
static void hint_judge(struct dsc *dsc, const struct hint *hint)
{
	const struct mtree *tree = dsc->tree;
	uint32_t node = hint->node, by = hint->seen, on = node;
	enum mt_state state = hint->error ? dsc_error_state(hint->error) : MT_HIDDEN;
	/* A mount on the path can block. */
	if (hint->error == EREMOTE) {
		dsc_settle(dsc, node, MT_UNTESTED);
		return;
	}
	if (state == MT_UNTESTED || (state == MT_HIDDEN
	    && (dsc->unread || (hint->error
	                        && !hint_coverer(dsc, dsc_kernel_name(dsc, node), &by))))) {
		state = MT_UNSEARCHED;
		dsc->partly = dsc->partly ? dsc->partly : "names could not be tested";
	}
	/* The mount that contains the mount point. */
	while (mtree_stacked(tree, on))
		on = tree->nodes[on].parent;
	on = tree->nodes[on].parent;
	/* The mount point is visible, but the mount is not there: the table is changing. */
	if (state == MT_HIDDEN && by != MT_NONE && (by == node || by == on))
		state = MT_UNSEARCHED;
	/* Without mount IDs, the mount of the ancestor may be the one that contains it. */
	if (state == MT_HIDDEN && by == MT_NONE && dsc->by_dev) {
		state = MT_UNSEARCHED;
		dsc->partly = dsc->partly ? dsc->partly : "names could not be tested";
	}
	dsc_settle(dsc, node, state);
	if (state == MT_HIDDEN)
		dsc->tree->nodes[node].covered_by = by;
}

/** Test the names of hidden mounts whose covering mount is gone. */
static void hints_uncover(struct dsc *dsc)
{
	/* Careful tests need mount IDs. */
	if (dsc->by_dev)
		return;
	for (uint32_t i = 0; i < dsc->tree->count; ++i) {
		struct mt_node *n = &dsc->tree->nodes[i];
		if (n->covered_by == MT_NONE || !dsc->tree->nodes[n->covered_by].gone
		    || !n->place_hidden || n->gone)
			continue;
		struct hint hint;
		n->covered_by = MT_NONE;
		if (n->top == i && !mounts_block_before(dsc->mounts, i)
		    && !mounts_no_look(dsc->mounts, i))
			hint_test(dsc, i, &hint);
	}
}

/** After a mount is gone, make the mount that it was stacked on visible. */
static void hint_unstack(struct mtree *tree, uint32_t gone)
{
	struct mt_node *nodes = tree->nodes;
	uint32_t below = nodes[gone].parent;
	if (below == MT_NONE || nodes[below].top != gone)
		return;
	for (uint32_t at = below; at != MT_NONE && nodes[at].top == gone; at = nodes[at].parent)
		nodes[at].top = below;
	mtree_uncover(tree, below);
}

/** Read the mounts whose names failed again, and update their nodes.
    @return whether anything changed, or -1 (ENOMEM). */
static int hints_read_again(struct hints *hints)
{
	struct dsc *dsc = hints->dsc;
	const struct mount **now;
	bool gone = false, renamed = false;
	for (size_t i = 0; i < hints->n; ++i)
		hints->nodes[i] = hints->items[i].node;
	if (dsc_read_again(dsc, hints->nodes, hints->n, &now) != 0)
		return -1;
	for (size_t i = 0; now && i < hints->n; ++i) {
		uint32_t node = hints->nodes[i];
		struct mt_node *n = &dsc->tree->nodes[node];
		if (!now[i]) {
			n->gone = gone = true;
			mtree_settle(dsc->tree, node);
			hint_unstack(dsc->tree, node);
		} else if (now[i]->point) {
			bool moved = n->mount->point && strcmp(now[i]->point, n->mount->point) != 0;
			dsc->d->stats.renamed += moved;
			renamed |= moved;
			n->mount = now[i];
		}
	}
	free(now);
	if (gone)
		hints_uncover(dsc);
	return gone || renamed;
}

/** Test some names; the callback of os_divide(). */
static void hints_test(struct os *os, void *arg, unsigned part, size_t from, size_t to)
{
	struct hints *hints = arg;
	struct dsc *dsc = hints->dsc;
	double deadline = dsc->opts->deadline;
	(void)part;
	for (size_t i = from; i < to; ++i) {
		struct hint *hint = &hints->items[i];
		struct k_statx st;
		if ((i - from) % CLOCK_TESTS == 0 && deadline > 0 && os_now() >= deadline)
			break;
		/* For a mount that can block, request only what the kernel has without contacting
		   it. */
		unsigned mask = 0;
		if (!mounts_block_itself(dsc->mounts, hint->node))
			mask = dsc_id_mask(dsc) | K_STATX_TYPE | K_STATX_NLINK;
		const char *name = dsc_kernel_name(dsc, hint->node);
		int rc = hint_statx(os, dsc->rootfd, name, mask, &st);
		hint_compare(dsc, hint, rc != 0 ? errno : 0, &st);
	}
}

/**
 * Test the name of every node that is not settled.
 *
 * @careful
 *         The table may be outdated.
 *
 * Afterwards hints contains the tests that failed, possibly because the table has changed.
 */
static void hints_round(struct hints *hints, bool careful)
{
	struct dsc *dsc = hints->dsc;
	const struct mtree *tree = dsc->tree;
	size_t n = 0, threads;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t node = tree->order[i];
		if (!tree->nodes[node].settled && tree->nodes[node].top == node
		    && dsc_kernel_name(dsc, node))
			hints->items[n++] = (struct hint){.node = node, .error = NOT_TESTED};
	}
	if (!careful && (threads = n / THREAD_TESTS) > 1) {
		size_t most = dsc->opts->threads ? dsc->opts->threads : os_cpus(dsc->os);
		threads = threads < most ? threads : most;
		threads = threads < OS_PARTS ? threads : OS_PARTS;
		os_divide(dsc->os, n, (unsigned)threads, hints_test, hints);
	} else if (!careful) {
		hints_test(dsc->os, hints, 0, 0, n);
	}
	hints->n = 0;
	for (size_t i = 0; i < n; ++i) {
		struct hint hint = hints->items[i];
		if (careful && i % CLOCK_TESTS == 0 && dsc_out_of_time(dsc))
			return;
		if (!careful && hint.error == NOT_TESTED)
			dsc_out_of_time(dsc);   /* sets the reason */
		else if (careful ? hint_test(dsc, hint.node, &hint) : hint_settle(dsc, &hint))
			continue;
		else if (hint.error && dsc_error_state(hint.error) != MT_HIDDEN)
			hint_judge(dsc, &hint);   /* denied and stale mounts are not read again */
		else
			hints->items[hints->n++] = hint;
	}
}

void dsc_confirm(struct dsc *dsc, uint32_t node)
{
	struct hint hint;
	/* Careful tests need mount IDs. */
	if (!dsc_kernel_name(dsc, node) || dsc->by_dev)
		return;
	bool right = hint_test(dsc, node, &hint);
	enum mt_state state = hint.error ? dsc_error_state(hint.error) : MT_OK;
	if (state == MT_UNTESTED && !dsc->partly)
		dsc->partly = "names could not be tested";
	if (dsc->opts->names == DN_PURE && (right || state == MT_DENIED)) {
		/* Pure naming gives it no name, but it is not lost. */
		dsc_name(dsc, node, NULL, MT_NAMED_NONE);
		mtree_state(dsc->tree, node, right ? MT_UNSEARCHED : MT_DENIED);
	} else if (state == MT_DENIED) {
		dsc_settle(dsc, node, MT_DENIED);
	}
}

int dsc_test_hints(struct dsc *dsc)
{
	size_t room = dsc->tree->count + 1;
	struct hints hints = {.dsc = dsc};
	hints.items = malloc(room * sizeof(*hints.items));
	hints.nodes = malloc(room * sizeof(*hints.nodes));
	int changed = hints.items && hints.nodes ? 1 : -1;
	/* The root was already examined. */
	struct hint root = {.node = dsc->d->root};
	if (root.node != MT_NONE && !dsc->tree->nodes[root.node].settled
	    && dsc->tree->nodes[root.node].top == root.node && dsc->root_st.mode != 0) {
		hint_compare(dsc, &root, 0, &dsc->root_st);
		hint_settle(dsc, &root);
	}
	for (int round = 0; changed > 0; ++round) {
		/* After the first round, a path may lead through a new mount that blocks. */
		hints_round(&hints, round > 0 && !dsc->by_dev);
		if (hints.n == 0)
			break;
		changed = round < HINT_ROUNDS ? hints_read_again(&hints) : 0;
	}
	/* No more changes: the results are final. */
	for (size_t i = 0; changed == 0 && i < hints.n; ++i)
		hint_judge(dsc, &hints.items[i]);
	free(hints.items);
	free(hints.nodes);
	return changed < 0 ? -1 : 0;
}
