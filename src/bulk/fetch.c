/* SPDX-License-Identifier: MIT */
/*
 * Metadata, fetched after the verdict on a name.
 *
 *     fetch_add() --> wanted --> [in inode order] --+--> statx, one by one --+--> meta()
 *                                                   +--> ring: a batch ------+
 *                                                   '--> many: a range ------'
 *
 * Without `ahead` a batch is part of one buffer of names, and fetched as soon
 * as it is full.  With it names are copied, and many buffers' are put in order.
 */
#include "bulk/bulk_impl.h"

#include "os/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
	RING_ENTRIES = 256,       /* under way at once */
	RING_WORKERS = 16,        /* of the kernel, for one ring */
};

struct fetch_ring {
	struct os_ring *ring;
	struct os_ring_stat stats[RING_ENTRIES];
	struct k_statx sts[RING_ENTRIES];
};

void fetch_init(struct fetch *fetch, struct os *os, const struct bulk_how *how)
{
	*fetch = (struct fetch){.os = os, .how = how};
	strbuf_init(&fetch->names);
}

/** Do without a ring from now on. */
static void ring_drop(struct fetch *fetch)
{
	if (fetch->ring)
		os_ring_free(fetch->os, fetch->ring->ring);
	free(fetch->ring);
	fetch->ring = NULL;
	fetch->no_ring = true;
}

void fetch_destroy(struct fetch *fetch)
{
	ring_drop(fetch);
	many_free(fetch->many);
	free(fetch->wanted);
	strbuf_destroy(&fetch->names);
}

/** Whether so many entries are asked for by a ring, which is then there. */
static bool ring_pays(struct fetch *fetch, size_t n)
{
	if (fetch->how->engine != BULK_URING || n < 2 || fetch->no_ring)
		return false;
	if (fetch->ring)
		return true;
	fetch->ring = malloc(sizeof(*fetch->ring));
	if (fetch->ring)
		fetch->ring->ring = os_ring_new(fetch->os, RING_ENTRIES, RING_WORKERS);
	if (!fetch->ring || !fetch->ring->ring)
		ring_drop(fetch);
	return fetch->ring;
}

/** Pass metadata on. */
static enum bulk_verdict pass(struct fetch *fetch, const struct bulk_policy *policy, struct bulk_dir *dir,
                              const struct bulk_entry *entry, struct k_statx *st, int error, void *arg)
{
	/* FUSE without allow_other tells other users, root too, nothing but what
	   the VFS itself knows: the mount ID. */
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	if (error == EACCES)
		error = os_statx(fetch->os, dir->fd, entry->name, flags, 0, st) == 0 ? 0 : errno;
	enum bulk_verdict verdict = policy->meta(arg, dir, entry, st, error);
	return verdict == BULK_ENTER ? policy->enter(arg, dir, entry) : verdict;
}

/** Fetch that of one entry. */
static enum bulk_verdict fetch_one(struct fetch *fetch, const struct bulk_policy *policy,
                                   struct bulk_dir *dir, const struct bulk_entry *entry, void *arg)
{
	struct k_statx st;
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	int rc = os_statx(fetch->os, dir->fd, entry->name, flags, policy->statx_mask, &st);
	return pass(fetch, policy, dir, entry, &st, rc == 0 ? 0 : errno, arg);
}

/** Ask for that of entries, at most RING_ENTRIES.  @return whether it is there. */
static bool ring_ask(struct fetch *fetch, const struct bulk_policy *policy, const struct bulk_dir *dir,
                     const struct fetch_wanted *wanted, size_t n)
{
	struct fetch_ring *ring = fetch->ring;
	memset(ring->sts, 0, n * sizeof(*ring->sts));
	for (size_t i = 0; i < n; ++i)
		ring->stats[i] = (struct os_ring_stat){.name = wanted[i].entry.name, .st = &ring->sts[i]};
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	if (os_ring_statx(fetch->os, ring->ring, dir->fd, flags, policy->statx_mask, ring->stats, n) == 0)
		return true;
	ring_drop(fetch);
	return false;
}

static int by_inode(const void *left, const void *right)
{
	const struct bulk_entry *a = &((const struct fetch_wanted *)left)->entry;
	const struct bulk_entry *b = &((const struct fetch_wanted *)right)->entry;
	return a->ino != b->ino ? (a->ino < b->ino ? -1 : 1) : strcmp(a->name, b->name);
}

void fetch_forget(struct fetch *fetch)
{
	fetch->n = 0;
	strbuf_reset(&fetch->names);
}

/** Whether the file system of this directory is asked by its own interface. */
static bool many_pays(const struct fetch *fetch, const struct bulk_dir *dir, size_t n)
{
	return fetch->how->engine == BULK_FS && dir->fs && fetch->many && n > 1;
}

void fetch_begin(struct fetch *fetch, const struct bulk_policy *policy, const struct bulk_dir *dir)
{
	if (fetch->how->engine != BULK_FS || !dir->fs || policy->batch <= 1)
		return;
	if (!fetch->many)
		fetch->many = many_new();
	if (fetch->many)
		many_begin(fetch->many, fetch->os, policy, dir);
}

/** Fetch that of a part of the entries, at most as many as there is room for. */
static enum bulk_verdict fetch_part(struct fetch *fetch, const struct bulk_policy *policy, struct bulk_dir *dir,
                                    const struct fetch_wanted *wanted, size_t n, bool by_ring, void *arg)
{
	enum bulk_verdict verdict = BULK_SKIP;
	bool by_many = !by_ring && many_pays(fetch, dir, n);
	by_ring = by_ring && fetch->ring && ring_ask(fetch, policy, dir, wanted, n);
	if (by_many)
		many_ask(fetch->many, fetch->os, policy, dir, wanted, n);
	for (size_t i = 0; i < n && verdict < BULK_END_DIR; ++i) {
		const struct bulk_entry *entry = &wanted[i].entry;
		struct k_statx *st = by_many ? many_answer(fetch->many, i) : NULL;
		if (by_ring)
			verdict = pass(fetch, policy, dir, entry, &fetch->ring->sts[i], fetch->ring->stats[i].error, arg);
		else if (st)
			verdict = pass(fetch, policy, dir, entry, st, 0, arg);
		else
			verdict = fetch_one(fetch, policy, dir, entry, arg);
	}
	return verdict;
}

enum bulk_verdict fetch_flush(struct fetch *fetch, const struct bulk_policy *policy,
                              struct bulk_dir *dir, void *arg)
{
	size_t n = fetch->n;
	enum bulk_verdict verdict = BULK_SKIP;
	fetch->n = 0;
	if (fetch->how->ahead) {
		for (size_t i = 0; i < n; ++i)
			fetch->wanted[i].entry.name = fetch->names.data + fetch->wanted[i].at;
		if (n > 1)
			qsort(fetch->wanted, n, sizeof(*fetch->wanted), by_inode);
	}
	bool by_ring = ring_pays(fetch, n);
	size_t most = !by_ring ? MANY_ENTRIES : policy->batch < RING_ENTRIES ? policy->batch : RING_ENTRIES;
	for (size_t i = 0; i < n && verdict < BULK_END_DIR; i += most) {
		size_t part = n - i < most ? n - i : most;
		verdict = fetch_part(fetch, policy, dir, fetch->wanted + i, part, by_ring, arg);
	}
	fetch_forget(fetch);
	return verdict;
}

enum bulk_verdict fetch_add(struct fetch *fetch, const struct bulk_policy *policy,
                            struct bulk_dir *dir, const struct bulk_entry *entry, void *arg)
{
	if (policy->batch <= 1)
		return fetch_one(fetch, policy, dir, entry, arg);
	if (fetch->n == fetch->size) {
		size_t size = fetch->size ? fetch->size * 2 : 64;
		struct fetch_wanted *bigger = realloc(fetch->wanted, size * sizeof(*bigger));
		if (!bigger)
			return fetch_one(fetch, policy, dir, entry, arg);
		fetch->wanted = bigger;
		fetch->size = size;
	}
	struct fetch_wanted *wanted = &fetch->wanted[fetch->n];
	*wanted = (struct fetch_wanted){.entry = *entry};
	if (fetch->how->ahead) {
		size_t len = entry->len + 1;
		char *name = strbuf_extend(&fetch->names, len);
		if (!name) {
			fetch->names.failed = false;
			return fetch_one(fetch, policy, dir, entry, arg);
		}
		memcpy(name, entry->name, len);
		wanted->at = (size_t)(name - fetch->names.data);
		++fetch->n;
		return BULK_SKIP;
	}
	return ++fetch->n < policy->batch ? BULK_SKIP : fetch_flush(fetch, policy, dir, arg);
}

enum bulk_verdict fetch_buffer_ends(struct fetch *fetch, const struct bulk_policy *policy,
                                    struct bulk_dir *dir, void *arg)
{
	size_t most = dir->resume ? BULK_AHEAD_MAX : BULK_AHEAD_FIRST;
	return fetch->how->ahead && fetch->n < most ? BULK_SKIP : fetch_flush(fetch, policy, dir, arg);
}
