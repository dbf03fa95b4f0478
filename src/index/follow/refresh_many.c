/* SPDX-License-Identifier: MIT */
/* Read many directories: threads gather the entries of some of them, then one thread stores
   these. */
#include "index/follow/refresh.h"

#include "base/array.h"
#include "os/process.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	FEW = 16,                 /* minimum directories to use several threads */
	PORTION = 8 << 20,        /* bytes of entries that are gathered before they are stored */
	AHEAD = 256,              /* maximum directories of refresh.todo that are gathered ahead */
};

/** Directories whose entries are gathered. */
struct many {
	struct refresh *r;
	const uint32_t *dirs;
	size_t n;
	struct gather **gathers;  /* [directory]: its entries; NULL: not gathered */
	bool of_cluster;          /* the directories are of one cluster: load `known` */
	struct known *known;
	atomic_size_t next;       /* index of the first directory that no thread has begun */
	atomic_size_t bytes;      /* bytes of entries gathered, but not stored yet */
	atomic_int error;
};

unsigned refresh_threads(struct refresh *r)
{
	/* At least two threads, even on one processor, since they wait for a disk. */
	if (r->threads == 0)
		r->threads = os_cpus(r->os);
	return r->threads < 2 ? 2 : r->threads < OS_PARTS ? r->threads : OS_PARTS;
}

/** Load the objects that the index has in the directories.  @return NULL: an error. */
static struct known *load_known(const struct many *m)
{
	const struct tree_dir *dirs = m->r->tree->dirs;
	unsigned char slots[INDEX_SLOTS / 8] = {0};
	for (size_t i = 0; i < m->n; ++i) {
		assert(index_dir_cluster(dirs[m->dirs[i]].dir)
		       == index_dir_cluster(dirs[m->dirs[0]].dir));
		uint32_t slot = index_dir_slot(dirs[m->dirs[i]].dir);
		slots[slot / 8] |= (unsigned char)(1 << slot % 8);
	}
	return known_load(m->r->index, index_dir_cluster(dirs[m->dirs[0]].dir), slots);
}

/** Gather the entries of directory i, if it is still to be read.  @return 0, or -1. */
static int gather_one(struct many *m, struct chain *chain, size_t i)
{
	if (m->r->tree->dirs[m->dirs[i]].state != TREE_CHANGED)
		return 0;
	assert(!m->gathers[i]);
	m->gathers[i] = malloc(sizeof(*m->gathers[i]));
	if (!m->gathers[i])
		return -1;
	int rc = gather_begin(m->gathers[i], chain, m->dirs[i], m->r->watching);
	atomic_fetch_add(&m->bytes, m->gathers[i]->entries.len);
	return rc;
}

/** In each thread, gather directories until PORTION bytes are gathered.  The first thread loads the
    known objects before. */
static void gather_part(struct os *os, void *arg, unsigned part, size_t from, size_t to)
{
	struct many *m = arg;
	struct refresh *r = m->r;
	struct chain own = {0};
	int rc = 0;
	(void)from, (void)to;
	if (part == 0 && m->of_cluster && !m->known) {
		m->known = load_known(m);
		rc = m->known ? 0 : -1;
	} else if (part > 0) {
		rc = chain_init(&own, os, r->tree, r->chain.rootfd, r->chain.covered);
	}
	for (size_t i; rc == 0 && !atomic_load(&m->error) && atomic_load(&m->bytes) < PORTION
	     && (i = atomic_fetch_add(&m->next, 1)) < m->n;)
		rc = gather_one(m, part ? &own : &r->chain, i);
	if (rc != 0)
		atomic_store(&m->error, errno);
	chain_destroy(&own);
}

/** Gather the next directories that are not gathered yet, up to PORTION bytes.  @return 0, or
    -1. */
static int gather_many(struct many *m)
{
	unsigned parts = m->n - atomic_load(&m->next) < FEW ? 1 : refresh_threads(m->r);
	os_divide(m->r->os, parts, parts, gather_part, m);
	if (atomic_load(&m->next) > m->n)
		atomic_store(&m->next, m->n);
	int error = atomic_load(&m->error);
	return error ? fail(error) : 0;
}

int refresh_read_cluster(struct refresh *r, const uint32_t *dirs, size_t n)
{
	struct many m = {.r = r, .dirs = dirs, .n = n, .of_cluster = true};
	int rc = 0;
	m.gathers = calloc(n, sizeof(struct gather *));
	if (!m.gathers)
		return -1;
	for (size_t i = 0; i < n && rc == 0; ++i) {
		if (i == atomic_load(&m.next)) {
			atomic_store(&m.bytes, 0);
			rc = gather_many(&m);
		}
		/* This directory may have been found moved when another one was read, and so was
		   read already. */
		if (rc == 0 && r->tree->dirs[dirs[i]].state == TREE_CHANGED)
			rc = refresh_read(r, dirs[i], m.known, m.gathers[i]);
		gather_free(m.gathers[i], r->os);
		m.gathers[i] = NULL;
		if (rc == 0)
			rc = refresh_todo(r);
		if (rc == 0 && r->events)
			rc = file_events_read(r->events, r->os);
	}
	int error = errno;
	for (size_t i = 0; i < n; ++i)
		gather_free(m.gathers[i], r->os);
	free(m.gathers);
	known_free(m.known);
	return rc == 0 ? 0 : fail(error);
}

/* refresh.todo is a stack, so that a tree is stored in preorder, and neighboring directories get
   into one cluster.  The entries of the next directories on the stack are gathered together, ahead
   of their turn. */

/** If the next directory of refresh->todo is not gathered, gather up to AHEAD directories.
    @return 0, or -1. */
static int gather_ahead(struct refresh *r)
{
	uint32_t dirs[AHEAD];
	size_t places[AHEAD], top = r->todo.n;
	struct gather *gathers[AHEAD] = {NULL};
	struct many m = {.r = r, .dirs = dirs, .gathers = gathers, .bytes = r->ahead_bytes};
	for (size_t i = top; i-- > 0 && top - i <= AHEAD && (i >= r->nahead || !r->ahead[i]);) {
		dirs[m.n] = r->todo.items[i];
		places[m.n] = i;
		m.n += r->tree->dirs[dirs[m.n]].state == TREE_CHANGED;
	}
	if (m.n < FEW || r->ahead_bytes >= PORTION)
		return 0;
	while (r->ahead_room < top) {
		if (!array_grow(&r->ahead, &r->ahead_room, sizeof(*r->ahead)))
			return -1;
	}
	while (r->nahead < top)
		r->ahead[r->nahead++] = NULL;
	assert(r->nahead == top);
	int rc = gather_many(&m);
	for (size_t i = 0; i < m.n; ++i)
		r->ahead[places[i]] = gathers[i];
	r->ahead_bytes = atomic_load(&m.bytes);
	return rc;
}

int refresh_take(struct refresh *r, uint32_t *at, struct gather **gather)
{
	/* A watch does not gather ahead: the entries could be older than events that are applied
	   before their turn. */
	assert(r->todo.n > 0 && r->nahead <= r->todo.n && (!r->watching || r->nahead == 0));
	if (!r->watching && gather_ahead(r) != 0)
		return -1;
	size_t i = --r->todo.n;
	*at = r->todo.items[i];
	*gather = i < r->nahead ? r->ahead[i] : NULL;
	if (i < r->nahead)
		r->nahead = i;
	if (*gather) {
		assert((*gather)->at == *at && (*gather)->entries.len <= r->ahead_bytes);
		r->ahead_bytes -= (*gather)->entries.len;
	}
	assert(r->nahead > 0 || r->ahead_bytes == 0);
	return 0;
}
