/* SPDX-License-Identifier: MIT */
/*
 * Hints: the names of the table, each tested by one statx.
 *
 * A name is right if statx shows the ID of the mount and STATX_ATTR_MOUNT_ROOT; the ID alone is not
 * enough, since every path inside a mount shows it.  A stack is tested once, at its top.
 *
 * A mount whose name fails is not searched for, since it has only one mount point and the kernel
 * reported it.  All such mounts are read from the kernel again: mounts that are gone are dropped,
 * renamed ones are tested again, and for the others the result of the test decides: another mount
 * is visible there (hidden), no permission (denied), a dead server or device (stale).
 */
#include "discover/discover_impl.h"

#include "base/fstypes.h"
#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	HINT_ROUNDS = 3,
	TESTS_A_LOOK = 64,   /* tests between readings of the clock */
	THREAD_TESTS = 512,  /* tests for a thread of their own to pay */
	THREADS_MAX = 4,
	NOT_LOOKED = -1,     /* look.error: there was no time */
};

/** The fields of a statx that a test needs; there may be 100,000 of these. */
struct look {
	uint32_t node;
	int error;           /* errno of statx; 0; NOT_LOOKED */
	uint64_t mnt_id;
	uint32_t mask, nlink, dev_major, dev_minor;
	uint16_t mode;
	bool mount_root;
};

/** The result of a test. */
struct hint {
	uint32_t node;
	uint32_t seen;   /* the node that statx shows, or MT_NONE */
	int error;       /* errno of statx, or 0 */
};

struct hints {
	struct hint *items;
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
	if (strlen(name) < PATH_MAX)
		return os_statx(os, at, name, flags, mask, st);

	/* Longer than the kernel takes: go down in pieces. */
	char *path = strdup(name);
	if (!path)
		return -1;
	char *piece = path;
	int rc = -1;
	for (;;) {
		size_t n = strlen(piece);
		if (n < PATH_MAX) {
			rc = os_statx(os, at, piece, flags, mask, st);
			break;
		}
		char *cut = piece + PATH_MAX - 1;
		while (*cut != '/')
			--cut;
		*cut = '\0';
		int fd = os_openat(os, at, piece, O_PATH | O_DIRECTORY | O_NOFOLLOW);
		if (at != rootfd)
			os_close(os, at);
		at = fd;
		if (fd < 0)
			break;
		piece = cut + 1;
	}
	if (at >= 0 && at != rootfd)
		os_close(os, at);
	int error = errno;
	free(path);
	errno = error;
	return rc;
}

/** Whether a name may be examined, by the table: even opening the root of an NFS mount with O_PATH
    asks the server. */
static bool hint_may_look(struct dsc *dsc, const char *name, size_t len)
{
	if (!dsc->no_look.slots) {
		if (map64_reserve(&dsc->no_look, 1) != 0)
			return false;
		for (uint32_t i = 0; i < dsc->tree->count; ++i) {
			const char *point = dsc_kernel_name(dsc, i);
			if (!(dsc->flags[i] & DF_NO_LOOK) || !point)
				continue;
			if (map64_put(&dsc->no_look, map64_text(point), i) == MAP64_NONE)
				return false;
		}
	}
	return map64_get(&dsc->no_look, map64_bytes(MAP64_BYTES, name, len)) == MAP64_NONE;
}

/** A name that is looked at component by component. */
struct careful {
	struct dsc *dsc;
	const char *name;
	size_t len;            /* of the part that was looked at */
};

/** Open a component in a mount that is of the table and does not block. */
static int careful_open(void *arg, int at, const char *component)
{
	struct careful *careful = arg;
	struct dsc *dsc = careful->dsc;
	struct k_statx st;
	if (os_statx(dsc->os, at, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) != 0)
		return -1;
	uint32_t in = dsc_node_of(dsc, &st);
	careful->len += 1 + strlen(component);
	/* What was mounted there since is in the way: nothing else is seen behind it. */
	bool blocks = in != MT_NONE && (dsc->flags[in] & (DF_BLOCKS | DF_BEHIND)
	                                || !hint_may_look(dsc, careful->name, careful->len));
	if (in == MT_NONE || blocks) {
		errno = blocks ? EREMOTE : ENOENT;
		return -1;
	}
	return os_openat(dsc->os, at, component, O_PATH | O_NOFOLLOW);
}

/**
 * statx of a name, component by component, without lookups in mounts that are not in the table or
 * can block.  For use when the table may be out of date.
 *
 * @return 0, or -1.  Errors: EREMOTE: a mount on the path can block; ENOENT: a mount on the path is
 *         not in the table.
 */
static int hint_statx_careful(struct dsc *dsc, const char *name, struct k_statx *st)
{
	struct careful careful = {.dsc = dsc, .name = name};
	struct os *os = dsc->os;
	const char *root = dsc->rootfd == AT_FDCWD ? "/" : ".";
	int top = os_openat(os, dsc->rootfd, root, O_PATH | O_DIRECTORY), fd = top;
	bool is_top = name[strspn(name, "/")] == '\0';
	if (!is_top && top >= 0)
		fd = path_open_below(os, top, name, careful_open, &careful);
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	unsigned mask = dsc_id_mask(dsc) | K_STATX_TYPE | K_STATX_NLINK;
	int rc = fd < 0 ? -1 : os_statx(os, fd, "", flags, mask, st);
	int error = errno;
	os_close(dsc->os, fd);
	if (!is_top)
		os_close(dsc->os, top);
	errno = error;
	return rc;
}

/** Whether a test by device number shows the node. */
static bool hint_dev_shows(const struct dsc *dsc, uint32_t node, const struct k_statx *st)
{
	const struct mount *m = dsc->tree->nodes[node].mount;
	return m->dev_major == st->dev_major && m->dev_minor == st->dev_minor;
}

/** The statx mask for the name of a node. */
static unsigned hint_mask(const struct dsc *dsc, uint32_t node)
{
	return dsc->flags[node] & DF_BLOCKS ? 0 : dsc_id_mask(dsc) | K_STATX_TYPE | K_STATX_NLINK;
}

/**
 * Judge the statx of the name of a node.
 *
 * @error
 *         errno of statx, or 0.
 * @return whether the node was settled; else hint has the result.
 */
static bool hint_take(struct dsc *dsc, uint32_t node, int error, const struct k_statx *st,
                      struct hint *hint)
{
	*hint = (struct hint){.node = node, .seen = MT_NONE, .error = error};
	if (error != 0)
		return false;
	bool shows;
	if (dsc->by_dev) {
		shows = hint_dev_shows(dsc, node, st);
	} else {
		hint->seen = dsc_node_of(dsc, st);
		/* The root of a chroot may be a plain directory of its mount. */
		shows = hint->seen == node
		        && (os_statx_is_mount_root(st) || node == dsc->d->root);
	}
	if (!shows)
		return false;
	struct mt_node *n = &dsc->tree->nodes[node];
	dsc_looked(dsc, node, st);
	dsc_name(dsc, node, dsc_kernel_name(dsc, node), MT_NAMED_VERIFIED);
	/* The mount was examined without touching its file system. */
	if (dsc->flags[node] & DF_BLOCKS)
		mtree_state(dsc->tree, node, MT_UNTESTED);
	if (n->place_hidden) {
		n->states &= (uint16_t)~(1u << MT_HIDDEN);
		n->covered_by = MT_NONE;
	}
	return true;
}

/** Test a name while the table may be out of date.  @return like hint_take(). */
static bool hint_test(struct dsc *dsc, uint32_t node, struct hint *hint)
{
	struct k_statx st;
	int rc = hint_statx_careful(dsc, dsc_kernel_name(dsc, node), &st);
	return hint_take(dsc, node, rc != 0 ? errno : 0, &st, hint);
}

enum mt_state dsc_error_state(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return MT_DENIED;
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return MT_HIDDEN;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EINTR:
	case EAGAIN:
	case EINVAL:
	case EBADF:
	case EFAULT:
	case EOVERFLOW:
	case ENOSYS:
		return MT_UNTESTED;
	default:
		return MT_STALE;
	}
}

/**
 * Find the mount that covers a name that does not exist: that of its nearest existing ancestor.
 *
 * @by [out]  The node, or MT_NONE if it is not in the table.
 * @return whether there is such an ancestor.
 */
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

/** Judge a node whose name failed although the kernel still reports it. */
static void hint_judge(struct dsc *dsc, const struct hint *hint)
{
	struct mtree *tree = dsc->tree;
	struct mt_node *n = &tree->nodes[hint->node];
	const char *name = dsc_kernel_name(dsc, hint->node);
	enum mt_state state = hint->error ? dsc_error_state(hint->error) : MT_HIDDEN;
	uint32_t by = hint->seen;
	/* The path leads through a mount that can block. */
	if (hint->error == EREMOTE) {
		dsc_untouched(dsc, hint->node);
		return;
	}
	if (state == MT_UNTESTED || (state == MT_HIDDEN
	    && (dsc->unasked || (hint->error && !hint_coverer(dsc, name, &by)))))
		state = MT_UNSEARCHED;
	if (state == MT_UNSEARCHED && !dsc->partly)
		dsc->partly = "names could not be tested";
	dsc_name(dsc, hint->node, name, MT_NAMED_KERNEL);
	/* The mount that contains its mount point. */
	uint32_t on = hint->node;
	while (mtree_stacked(tree, on))
		on = tree->nodes[on].parent;
	on = tree->nodes[on].parent;
	if (state == MT_HIDDEN && (by == hint->node || (by != MT_NONE && by == on))) {
		/* Its mount point is visible, but it is not there: the table is changing. */
		mtree_state(tree, hint->node, MT_UNSEARCHED);
		return;
	}
	mtree_state(tree, hint->node, state);
	if (state == MT_HIDDEN)
		n->covered_by = by;
}

/** Test the names of hidden mounts whose covering mount is gone. */
static void hints_uncover(struct dsc *dsc)
{
	/* By device, careful tests are impossible. */
	if (dsc->by_dev)
		return;
	for (uint32_t i = 0; i < dsc->tree->count; ++i) {
		struct mt_node *n = &dsc->tree->nodes[i];
		if (n->covered_by == MT_NONE || !dsc->tree->nodes[n->covered_by].gone
		    || !n->place_hidden || n->gone)
			continue;
		struct hint hint;
		n->covered_by = MT_NONE;
		if (!(dsc->flags[i] & (DF_BEHIND | DF_NO_LOOK)) && n->top == i)
			hint_test(dsc, i, &hint);
	}
}

/** Read the mounts whose names failed again, and update them.  @return 0, or -1 (ENOMEM). */
static int hints_ask_again(struct dsc *dsc, const struct hints *failed)
{
	struct discovery *d = dsc->d;
	uint64_t *keys = malloc((failed->n + 1) * sizeof(*keys));
	if (!keys)
		return -1;
	for (size_t i = 0; i < failed->n; ++i)
		keys[i] = dsc->tree->nodes[failed->items[i].node].mount->key;
	const struct mount_table *again;
	struct map64 there;
	int rc = dsc_ask_again(dsc, keys, failed->n, &again, &there);
	free(keys);
	if (rc != 0 || !again)
		return rc;
	bool gone = false;
	for (size_t i = 0; i < failed->n; ++i) {
		uint32_t node = failed->items[i].node;
		struct mt_node *n = &dsc->tree->nodes[node];
		uint32_t found = n->made ? MAP64_NONE : map64_get(&there, n->mount->key);
		if (n->made)
			continue;
		if (found == MAP64_NONE) {
			n->gone = gone = true;
			mtree_settle(dsc->tree, node);
			/* The mount that it was stacked on is visible again. */
			if (n->parent != MT_NONE && dsc->tree->nodes[n->parent].top == node) {
				struct mt_node *nodes = dsc->tree->nodes;
				uint32_t below = n->parent, at = below;
				while (at != MT_NONE && nodes[at].top == node) {
					nodes[at].top = below;
					at = nodes[at].parent;
				}
				dsc->tree->nodes[below].states &= (uint16_t)~(1u << MT_HIDDEN);
				dsc->tree->nodes[below].covered_by = MT_NONE;
			}
			continue;
		}
		const struct mount *now = &again->mounts[found];
		if (now->point && n->mount->point && strcmp(now->point, n->mount->point) != 0)
			++d->stats.renamed;
		if (now->point)
			n->mount = now;
	}
	if (gone)
		hints_uncover(dsc);
	map64_destroy(&there);
	return 0;
}

/* Many names at once. */

/** A share of the looks, and the thread that takes them. */
struct lookers {
	struct os os;
	const struct dsc *dsc;
	struct look *looks;
	size_t n;
	pthread_t thread;
	bool started;
};

/** Take one look. */
static void look_at(const struct dsc *dsc, struct os *os, struct look *look)
{
	struct k_statx st;
	const char *name = dsc_kernel_name(dsc, look->node);
	if (hint_statx(os, dsc->rootfd, name, hint_mask(dsc, look->node), &st) != 0) {
		look->error = errno;
		return;
	}
	*look = (struct look){
		.node = look->node, .mnt_id = st.mnt_id, .mask = st.mask, .nlink = st.nlink,
		.dev_major = st.dev_major, .dev_minor = st.dev_minor, .mode = st.mode,
		.mount_root = os_statx_is_mount_root(&st),
	};
}

static void *lookers_main(void *arg)
{
	struct lookers *l = arg;
	double deadline = l->dsc->opts->deadline;
	for (size_t i = 0; i < l->n; ++i) {
		if (i % TESTS_A_LOOK == 0 && deadline > 0 && os_now() >= deadline)
			break;
		look_at(l->dsc, &l->os, &l->looks[i]);
	}
	return NULL;
}

/**
 * Take all looks, by several threads where there are many.  The calls are the
 * same ones, whoever makes them.
 */
static void look_at_all(struct dsc *dsc, struct look *looks, size_t n)
{
	struct lookers all[THREADS_MAX];
	size_t threads = n / THREAD_TESTS;
	if (threads > 1) {
		size_t most = dsc->opts->threads ? dsc->opts->threads : os_cpus(dsc->os);
		threads = threads < most ? threads : most;
	}
	threads = threads > THREADS_MAX ? THREADS_MAX : threads + !threads;
	for (size_t i = threads; i-- > 0;) {
		size_t from = n * i / threads;
		all[i] = (struct lookers){
			.dsc = dsc, .looks = looks + from, .n = n * (i + 1) / threads - from,
		};
		os_clone_state(&all[i].os, dsc->os);
		if (i > 0)
			all[i].started = os_thread(&all[i].thread, lookers_main, &all[i]) == 0;
		else
			lookers_main(&all[i]);
	}
	for (size_t i = 0; i < threads; ++i) {
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
		else if (i > 0)
			lookers_main(&all[i]);   /* no thread to be had: do it here */
		os_join(dsc->os, &all[i].os);
	}
}

/** Judge a look.  @return as hint_take(). */
static bool look_take(struct dsc *dsc, const struct look *look, struct hint *hint)
{
	uint64_t root = look->mount_root ? K_STATX_ATTR_MOUNT_ROOT : 0;
	struct k_statx st = {
		.mnt_id = look->mnt_id, .mask = look->mask, .nlink = look->nlink,
		.dev_major = look->dev_major, .dev_minor = look->dev_minor, .mode = look->mode,
		.attributes = root, .attributes_mask = root,
	};
	return hint_take(dsc, look->node, look->error, &st, hint);
}

/**
 * Test every name that is not settled.
 *
 * @careful
 *         Whether the table may be out of date.
 * @looks
 *         Space for one per node.
 * @hints [out]
 *         Those that failed.
 */
static void hints_round(struct dsc *dsc, bool careful, struct look *looks, struct hints *hints)
{
	struct mtree *tree = dsc->tree;
	size_t n = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t node = tree->order[i];
		if (!tree->nodes[node].settled && tree->nodes[node].top == node
		    && dsc_kernel_name(dsc, node))
			looks[n++] = (struct look){.node = node, .error = NOT_LOOKED};
	}
	if (!careful)
		look_at_all(dsc, looks, n);
	hints->n = 0;
	for (size_t i = 0; i < n; ++i) {
		if (careful && i % TESTS_A_LOOK == 0 && dsc_out_of_time(dsc))
			return;
		if (!careful && looks[i].error == NOT_LOOKED) {
			dsc_out_of_time(dsc);   /* which is noted */
			continue;
		}
		struct hint *hint = &hints->items[hints->n];
		bool settled = careful ? hint_test(dsc, looks[i].node, hint)
		                       : look_take(dsc, &looks[i], hint);
		hints->n += !settled;
	}
}

void dsc_confirm(struct dsc *dsc, uint32_t node)
{
	struct hint hint;
	const char *name = dsc_kernel_name(dsc, node);
	/* By device, careful tests are impossible. */
	if (!name || dsc->by_dev)
		return;
	bool there = hint_test(dsc, node, &hint);
	bool denied = !there && hint.error && dsc_error_state(hint.error) == MT_DENIED;
	if (!there && hint.error && dsc_error_state(hint.error) == MT_UNTESTED && !dsc->partly)
		dsc->partly = "names could not be tested";
	if (dsc->opts->names == DN_PURE && (there || denied)) {
		/* By IDs alone it gets no name, but it is not lost. */
		dsc_name(dsc, node, NULL, MT_NAMED_NONE);
		mtree_state(dsc->tree, node, there ? MT_UNSEARCHED : MT_DENIED);
	} else if (denied) {
		dsc_name(dsc, node, name, MT_NAMED_KERNEL);
		mtree_state(dsc->tree, node, MT_DENIED);
	}
}

int dsc_test_hints(struct dsc *dsc)
{
	struct hints hints = {0};
	struct look *looks = malloc((dsc->tree->count + 1) * sizeof(*looks));
	hints.items = malloc((dsc->tree->count + 1) * sizeof(*hints.items));
	int rc = looks && hints.items ? 0 : -1;
	/* The root was already examined. */
	uint32_t root = dsc->d->root;
	struct hint told;
	if (root != MT_NONE && !dsc->tree->nodes[root].settled && dsc->tree->nodes[root].top == root
	    && dsc->root_st.mode != 0)
		hint_take(dsc, root, 0, &dsc->root_st, &told);
	for (int round = 0; rc == 0; ++round) {
		/* After the first round, mounts may have moved behind one that blocks. */
		hints_round(dsc, round > 0 && !dsc->by_dev, looks, &hints);
		/* Denied and stale mounts are not read again. */
		size_t kept = 0;
		for (size_t i = 0; i < hints.n; ++i) {
			const struct hint *hint = &hints.items[i];
			if (hint->error && dsc_error_state(hint->error) != MT_HIDDEN)
				hint_judge(dsc, hint);
			else
				hints.items[kept++] = *hint;
		}
		hints.n = kept;
		if (kept == 0)
			break;
		if (round == HINT_ROUNDS) {
			for (size_t i = 0; i < kept; ++i)
				hint_judge(dsc, &hints.items[i]);
			break;
		}
		uint32_t waiting = dsc->tree->waiting;
		uint64_t renamed = dsc->d->stats.renamed;
		rc = hints_ask_again(dsc, &hints);
		if (rc == 0 && waiting == dsc->tree->waiting && renamed == dsc->d->stats.renamed) {
			/* Nothing changed: the results are final. */
			for (size_t i = 0; i < kept; ++i)
				hint_judge(dsc, &hints.items[i]);
			break;
		}
	}
	free(looks);
	free(hints.items);
	return rc;
}
