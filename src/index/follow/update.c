/* SPDX-License-Identifier: MIT */
#include "index/follow/update.h"

#include "index/follow/look.h"
#include "os/change.h"
#include "os/file.h"
#include "os/process.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	PORTION = 512,            /* number of directories that a thread compares at a time */
	COMMIT = 4096,            /* number of directories read between two commits */
};

/** A directory of the index; `order` is its position in preorder. */
struct step {
	uint32_t at, cluster, order;
};

struct update {
	struct refresh refresh;
	struct tree *tree;
	struct step *steps;
	size_t nsteps;
	atomic_size_t next;       /* index of the first step that no thread has begun */
	atomic_int error;
	atomic_bool incomplete;
};

/* Compare all directories. */

static void compare_part(struct os *os, void *arg, unsigned part, size_t from, size_t to)
{
	struct update *update = arg;
	struct chain chain;
	(void)part, (void)from, (void)to;
	if (chain_init(&chain, os, update->tree, update->refresh.chain.rootfd,
	               update->refresh.chain.covered) != 0) {
		atomic_store(&update->error, errno);
		return;
	}
	for (size_t i; (i = atomic_fetch_add(&update->next, PORTION)) < update->nsteps;) {
		size_t end = i + PORTION < update->nsteps ? i + PORTION : update->nsteps;
		for (; i < end && !atomic_load(&update->error); ++i) {
			int rc = refresh_compare(&chain, update->tree, update->steps[i].at,
			                         update->refresh.oldest);
			if (rc < 0)
				atomic_store(&update->error, errno);
			else if (rc > 0)
				atomic_store(&update->incomplete, true);
		}
	}
	chain_destroy(&chain);
}

/** Compare all directories of the index with the file system.  @return 0, or -1. */
static int compare_all(struct update *update)
{
	struct tree *tree = update->tree;
	size_t n = 0;
	update->steps = malloc(tree->count * sizeof(*update->steps));
	if (!update->steps)
		return -1;
	for (uint32_t at = tree->root; at != TREE_NONE; at = tree_next(tree, at)) {
		assert(n < tree->count);
		tree->dirs[at].state = TREE_UNSEEN;
		update->steps[n] = (struct step){at, index_dir_cluster(tree->dirs[at].dir),
		                                 (uint32_t)n};
		++n;
	}
	assert(n == tree->count);
	update->nsteps = n;
	unsigned parts = n < 2 * PORTION ? 1 : refresh_threads(&update->refresh);
	os_divide(update->refresh.os, parts, parts, compare_part, update);
	update->refresh.incomplete |= atomic_load(&update->incomplete);
	update->refresh.counts.dirs += n;
	int error = atomic_load(&update->error);
	return error ? fail(error) : 0;
}

/* Read the changed directories. */

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return x->cluster != y->cluster ? (x->cluster < y->cluster ? -1 : 1)
	                                : x->order < y->order ? -1 : x->order > y->order;
}

/** Read all directories with state TREE_CHANGED, cluster by cluster.  @return 0, or -1. */
static int read_all(struct update *update)
{
	struct refresh *r = &update->refresh;
	struct step *steps = update->steps;
	uint32_t *dirs = NULL;
	size_t n = 0, end;
	uint64_t committed = 0;
	int rc = 0;
	for (size_t i = 0; i < update->nsteps; ++i) {
		uint8_t state = update->tree->dirs[steps[i].at].state;
		if (state == TREE_GONE && refresh_note_gone(r, steps[i].at) != 0)
			return -1;
		if (state == TREE_CHANGED)
			steps[n++] = steps[i];
	}
	if (n == 0)
		return 0;
	qsort(steps, n, sizeof(*steps), compare_steps);
	dirs = malloc(n * sizeof(*dirs));
	if (!dirs)
		return -1;
	for (size_t i = 0; i < n; ++i)
		dirs[i] = steps[i].at;
	for (size_t i = 0; i < n && rc == 0; i = end) {
		for (end = i; end < n && steps[end].cluster == steps[i].cluster;)
			++end;
		rc = refresh_read_cluster(r, dirs + i, end - i);
		if (rc == 0 && r->counts.read - committed >= COMMIT) {
			committed = r->counts.read;
			rc = index_commit(r->index);
		}
	}
	free(dirs);
	return rc;
}

int index_update(struct os *os, struct index *index, struct tree *tree,
                 const struct index_update_opts *opts, struct refresh_counts *counts)
{
	struct update update = {0};
	struct tree own = {0};
	struct look look = {0};
	struct refresh *r = &update.refresh;
	int64_t now = os_time().tv_sec;
	if (!tree && tree_load(&own, index) != 0)
		return -1;
	update.tree = tree ? tree : &own;
	int rc = refresh_init(r, os, index, update.tree, opts->rootfd, opts->covered);
	/* If the root directory were unreadable, all directories would seem to be removed. */
	if (rc == 0 && os_dir_readable(os, opts->rootfd) != 0) {
		r->counts.root_error = errno;
		rc = -1;
	}
	if (opts->max_age >= 0)
		r->oldest = now - opts->max_age;
	r->events = opts->events;
	if (rc == 0)
		rc = look_find(&look, os, opts->rootfd, index_info(index), now, opts->look_age,
		               refresh_threads(r));
	if (rc == 0)
		rc = compare_all(&update);
	if (rc == 0)
		rc = read_all(&update);
	if (rc == 0)
		rc = look_all(&look, r);
	if (rc == 0)
		rc = refresh_links(r);
	if (rc == 0)
		rc = refresh_gone(r);
	if (rc == 0)
		rc = index_set_fresh(index, now, r->incomplete);
	r->counts.is_bulk = look.is_bulk;
	if (rc == 0 && look.is_bulk)
		rc = index_set_looked(index, now, look.generation);
	if (rc == 0)
		rc = index_commit(index);
	if (rc == 0)
		rc = index_fold(index, false);
	*counts = r->counts;
	refresh_destroy(r);
	look_destroy(&look);
	free(update.steps);
	if (!tree)
		tree_destroy(&own);
	return rc;
}
