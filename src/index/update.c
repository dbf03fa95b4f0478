/* SPDX-License-Identifier: MIT */
#include "index/update.h"

#include "base/array.h"
#include "os/change.h"
#include "os/process.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
	PORTION = 512,            /* directories that a thread takes at a time */
	COMMIT = 4096,            /* directories read between commits */
};

/** A directory, in preorder. */
struct step {
	uint32_t at, cluster, order;
};

struct update {
	struct refresh refresh;
	struct tree *tree;
	struct step *steps;
	size_t nsteps;
	atomic_size_t next;       /* the first step that no thread has taken */
	atomic_int error;
	atomic_bool incomplete;
};

/* Comparing. */

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

/** Compare all directories.  @return 0, or -1. */
static int compare_all(struct update *update)
{
	struct tree *tree = update->tree;
	size_t n = 0;
	update->steps = malloc(tree->count * sizeof(*update->steps));
	if (!update->steps)
		return -1;
	for (uint32_t at = tree->root; at != TREE_NONE; at = tree_next(tree, at)) {
		tree->dirs[at].state = TREE_UNSEEN;
		update->steps[n] = (struct step){at, index_dir_cluster(tree->dirs[at].dir),
		                                 (uint32_t)n};
		++n;
	}
	update->nsteps = n;
	/* Two threads also where there is one processor: they wait for a disk. */
	unsigned cpus = os_cpus(update->refresh.os), most = cpus < 2 ? 2 : cpus;
	unsigned parts = n < 2 * PORTION ? 1 : most < OS_PARTS ? most : OS_PARTS;
	os_divide(update->refresh.os, parts, parts, compare_part, update);
	update->refresh.incomplete |= atomic_load(&update->incomplete);
	update->refresh.counts.dirs += n;
	int error = atomic_load(&update->error);
	return error ? fail(error) : 0;
}

/* Reading. */

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return x->cluster != y->cluster ? (x->cluster < y->cluster ? -1 : 1)
	                                : x->order < y->order ? -1 : x->order > y->order;
}

/** Read the directories of a cluster that changed.  @return 0, or -1. */
static int read_cluster(struct update *update, const struct step *steps, size_t n)
{
	struct refresh *r = &update->refresh;
	const struct tree *tree = update->tree;
	unsigned char slots[INDEX_SLOTS / 8] = {0};
	for (size_t i = 0; i < n; ++i) {
		uint32_t slot = index_dir_slot(tree->dirs[steps[i].at].dir);
		slots[slot / 8] |= (unsigned char)(1 << slot % 8);
	}
	struct known *known = known_load(r->index, steps->cluster, slots);
	int rc = known ? 0 : -1;
	for (size_t i = 0; i < n && rc == 0; ++i) {
		/* It may have been moved meanwhile, and so read. */
		if (tree->dirs[steps[i].at].state == TREE_CHANGED)
			rc = refresh_read(r, steps[i].at, known);
		if (rc == 0)
			rc = refresh_todo(r);
		if (rc == 0 && r->tick)
			rc = r->tick(r->arg);
	}
	known_free(known);
	return rc;
}

/** Read all directories that changed.  @return 0, or -1. */
static int read_all(struct update *update)
{
	struct refresh *r = &update->refresh;
	struct step *steps = update->steps;
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
	qsort(steps, n, sizeof(*steps), compare_steps);
	for (size_t i = 0; i < n && rc == 0; i = end) {
		for (end = i; end < n && steps[end].cluster == steps[i].cluster;)
			++end;
		rc = read_cluster(update, steps + i, end - i);
		if (rc == 0 && r->counts.read - committed >= COMMIT) {
			committed = r->counts.read;
			rc = index_commit(r->index);
		}
	}
	return rc;
}

/* Inodes with several names. */

struct linked {
	uint64_t ino, digest;
	uint32_t at, name;        /* a directory of the tree; where the name is */
};

struct linked_names {
	const struct tree *tree;
	struct linked *items;
	size_t n, room;
	struct strbuf names;
};

static bool may_be_linked(void *arg, uint64_t min, uint64_t max)
{
	(void)arg, (void)min;
	return max > 1;
}

static int visit_linked(void *arg, index_dir dir, const char *name, size_t len,
                        const struct index_row *row)
{
	struct linked_names *linked = arg;
	uint32_t at = tree_by_dir(linked->tree, dir);
	if (row->col[IC_NLINK] < 2 || at == TREE_NONE)
		return 0;
	if (linked->names.len > UINT32_MAX - INDEX_NAME_MAX - 1)
		return fail(ENOMEM);
	if (!ARRAY_ROOM(linked->items, linked->n, &linked->room))
		return -1;
	linked->items[linked->n++] = (struct linked){
		.ino = row->col[IC_INO], .digest = objects_digest(row, false), .at = at,
		.name = (uint32_t)linked->names.len,
	};
	strbuf_add(&linked->names, name, len);
	strbuf_putc(&linked->names, '\0');
	return linked->names.failed ? fail(ENOMEM) : 0;
}

static int compare_linked(const void *a, const void *b)
{
	const struct linked *x = a, *y = b;
	return x->ino != y->ino ? (x->ino < y->ino ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

/** Look at an inode by the first of its names that still leads to it, and note its attributes if
    the index has others for one of the names. */
static int look_linked(struct refresh *r, const struct linked_names *linked, size_t first)
{
	const struct linked *items = linked->items;
	struct k_statx st;
	struct index_row row = {{0}};
	for (size_t i = first; i < linked->n && items[i].ino == items[first].ino; ++i) {
		int fd = chain_open(&r->chain, items[i].at);
		const char *name = linked->names.data + items[i].name;
		if (fd < 0 || chain_look(&r->chain, fd, name, &st) != 0
		    || st.ino != items[i].ino)
			continue;
		index_row_from(&row, &st);
		uint64_t digest = objects_digest(&row, false);
		for (i = first; i < linked->n && items[i].ino == items[first].ino; ++i) {
			if (items[i].digest != digest)
				return refresh_link(r, &st);
		}
		break;
	}
	return 0;
}

/** The first name of an inode: in the order of directories, each is opened once. */
struct linked_first { uint32_t at; size_t first; };

static int compare_first(const void *a, const void *b)
{
	const struct linked_first *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int look_all_linked(struct update *update)
{
	struct refresh *r = &update->refresh;
	struct linked_names linked = {.tree = update->tree};
	const struct objects_visit visit = {IC_NLINK, may_be_linked, visit_linked, &linked};
	struct linked_first *firsts = NULL;
	size_t n = 0;
	int rc = 0;
	for (uint32_t cluster = 0; cluster < index_clusters(r->index) && rc == 0; ++cluster)
		rc = objects_visit(r->index, cluster, &visit);
	if (rc == 0 && linked.n > 0) {
		qsort(linked.items, linked.n, sizeof(*linked.items), compare_linked);
		firsts = malloc(linked.n * sizeof(*firsts));
		rc = firsts ? 0 : -1;
	}
	for (size_t i = 0; i < linked.n && rc == 0; ++i) {
		if (i == 0 || linked.items[i].ino != linked.items[i - 1].ino)
			firsts[n++] = (struct linked_first){linked.items[i].at, i};
	}
	if (n > 0)
		qsort(firsts, n, sizeof(*firsts), compare_first);
	for (size_t i = 0; i < n && rc == 0; ++i)
		rc = look_linked(r, &linked, firsts[i].first);
	free(firsts);
	strbuf_destroy(&linked.names);
	free(linked.items);
	return rc;
}

int index_update(struct os *os, struct index *index, struct tree *tree,
                 const struct index_update_opts *opts, struct refresh_counts *counts)
{
	struct update update = {0};
	struct tree own = {0};
	struct refresh *r = &update.refresh;
	int64_t now = os_time().tv_sec;
	if (!tree && tree_load(&own, index) != 0)
		return -1;
	update.tree = tree ? tree : &own;
	int rc = refresh_init(r, os, index, update.tree, opts->rootfd, opts->covered);
	if (opts->max_age >= 0)
		r->oldest = now - opts->max_age;
	r->tick = opts->tick;
	r->arg = opts->arg;
	if (rc == 0)
		rc = compare_all(&update);
	if (rc == 0)
		rc = read_all(&update);
	if (rc == 0)
		rc = look_all_linked(&update);
	if (rc == 0)
		rc = refresh_links(r);
	if (rc == 0)
		rc = refresh_gone(r);
	if (rc == 0)
		rc = index_set_fresh(index, now, r->incomplete);
	if (rc == 0)
		rc = index_commit(index);
	if (rc == 0)
		rc = index_fold(index, false);
	*counts = r->counts;
	refresh_destroy(r);
	free(update.steps);
	if (!tree)
		tree_destroy(&own);
	return rc;
}
