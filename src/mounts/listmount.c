/* SPDX-License-Identifier: MIT */
/*
 * Reading the mount table by listmount(2) and statmount(2).
 *
 * listmount returns the IDs in pages, sorted in ascending order (a child may precede its parent);
 * statmount.c reads one mount at a time.
 */
#include "mounts/table_impl.h"

#include "base/array.h"
#include "os/process.h"

#include <stdlib.h>

enum {
	LIST_PAGE = 2048,
	RELISTS = 3,                   /* how many times a changing table is read again */
	THREADS_FROM = 256,            /* number of mounts from which threads are faster */
	DEPTH_MAX = 1024,              /* limit on the depth of a stack; usual stacks are below
	                                  10 */
};

int table_list_ids(struct os *os, uint64_t top, uint64_t **ids, size_t *n)
{
	uint64_t *list = NULL;
	size_t count = 0, room = 0;
	for (;;) {
		if (room - count < LIST_PAGE) {
			room = room * 2 + LIST_PAGE;
			uint64_t *bigger = reallocarray(list, room, sizeof(*list));
			if (!bigger)
				goto fail;
			list = bigger;
		}
		uint64_t last = count ? list[count - 1] : 0;
		ssize_t got = os_listmount(os, top, last, list + count, LIST_PAGE);
		if (got < 0)
			goto fail;
		count += (size_t)got;
		if (got < LIST_PAGE)
			break;
	}
	*ids = list;
	*n = count;
	return 0;

fail:
	free(list);
	return -1;
}

/** Check that the missed mounts were unmounted.  If one is still listed, a security policy hides
    it, and the table would be incomplete.
    @return 0, or -1.  Errors: EPERM: a missed mount is still listed; those of table_list_ids(). */
static int reader_check_missed(struct reader *r)
{
	uint64_t *ids = NULL;
	size_t n = 0;
	if (r->nmissed == 0)
		return 0;
	if (table_list_ids(r->os, K_LSMT_ROOT, &ids, &n) != 0)
		return -1;
	bool listed = false;
	for (size_t i = 0; i < r->nmissed && !listed; ++i)
		listed = bsearch(&r->missed[i], ids, n, sizeof(*ids), compare_u64) != NULL;
	free(ids);
	errno = EPERM;
	return listed ? -1 : 0;
}

/** Handle 32-bit IDs that were reused while the table was read: of two mounts with the same ID,
    drop the older one, which has the smaller key.
    @return 0, or -1 (ENOMEM). */
static int reader_drop_reused(struct reader *r)
{
	struct mount_table *table = r->table;
	struct map64 latest = {0};
	if (map64_reserve(&latest, table->count) != 0)
		return -1;
	for (size_t i = table->count; i-- > 0;)
		map64_put(&latest, table->mounts[i].id, (uint32_t)i);
	size_t kept = 0;
	for (size_t i = 0; i < table->count; ++i) {
		if (map64_get(&latest, table->mounts[i].id) == i)
			table->mounts[kept++] = table->mounts[i];
	}
	table->vanished += (unsigned)(table->count - kept);
	table->count = kept;
	map64_destroy(&latest);
	return 0;
}

/** Read some mounts and add them to the table.  @return 0, or -1. */
static int reader_add_all(struct reader *r, const uint64_t *ids, size_t n)
{
	if (table_reserve(r->table, r->table->count + n) != 0)
		return -1;
	for (size_t i = 0; i < n; ++i) {
		if (reader_add(r, ids[i]) != 0)
			return -1;
	}
	return 0;
}

/** A list of IDs that several readers divide among themselves. */
struct parts {
	struct reader *main;           /* reads the first part */
	struct reader others[OS_PARTS];
	const uint64_t *ids;
	int errors[OS_PARTS];          /* errno of each part, or 0 */
};

/** Read one part; the callback of os_divide(). */
static void part_read(struct os *os, void *arg, unsigned part, size_t from, size_t to)
{
	struct parts *parts = arg;
	struct reader *r = part ? &parts->others[part] : parts->main;
	parts->errors[part] = 0;
	if (part && reader_init(r, os, parts->main->fields) != 0)
		parts->errors[part] = errno;
	/* The main thread has read the first mount of the table, so statmount is permitted. */
	r->allowed |= part > 0;
	if (!parts->errors[part] && reader_add_all(r, parts->ids + from, to - from) != 0)
		parts->errors[part] = errno;
}

/** Append the mounts of another reader to the table.  @return 0, or -1 (ENOMEM). */
static int reader_append(struct reader *r, struct reader *other)
{
	struct mount_table *table = r->table, *more = other->table;
	if (table_reserve(table, table->count + more->count) != 0)
		return -1;
	if (more->count > 0)
		memcpy(table->mounts + table->count, more->mounts,
		       more->count * sizeof(*more->mounts));
	table->count += more->count;
	table->vanished += more->vanished;
	r->seen |= other->seen;
	for (size_t i = 0; i < other->nmissed; ++i) {
		if (reader_miss(r, other->missed[i]) != 0)
			return -1;
	}
	arena_merge(&table->arena, &more->arena);
	return 0;
}

/** Like reader_add_all(), by several threads if that is faster: statmount takes no lock in the
    kernel that other callers wait for.  The number of calls does not depend on the number of
    threads. */
static int reader_add_divided(struct reader *r, const uint64_t *ids, size_t n)
{
	if (n < THREADS_FROM)
		return reader_add_all(r, ids, n);
	if (r->threads == 0)
		r->threads = os_cpus(r->os);
	unsigned n_parts = r->threads < OS_PARTS ? r->threads : OS_PARTS;
	struct parts parts = {.main = r, .ids = ids};
	os_divide(r->os, n, n_parts, part_read, &parts);
	int error = parts.errors[0];
	for (unsigned i = 1; i < n_parts; ++i) {
		error = error ? error : parts.errors[i];
		if (!error && reader_append(r, &parts.others[i]) != 0)
			error = ENOMEM;
		reader_finish(&parts.others[i], true);
	}
	errno = error;
	return error ? -1 : 0;
}

/** Whether the last mounts of the table form a deep stack, each mounted on the preceding one. */
static bool reader_is_deep(const struct mount_table *table)
{
	const struct mount *m = table->mounts + table->count;
	unsigned n = 0;
	while (n < DEPTH_MAX && n + 1 < table->count && m[-1].parent_key == m[-2].key)
		++n, --m;
	return n == DEPTH_MAX;
}

/** Read all mounts, page by page.  See table_read_listmount(). */
static int reader_read(struct reader *r, bool any_depth)
{
	uint64_t page[LIST_PAGE], last = 0;
	for (;;) {
		ssize_t got = os_listmount(r->os, K_LSMT_ROOT, last, page, LIST_PAGE);
		++r->pages;
		if (got < 0 || reader_add_divided(r, page, (size_t)got) != 0)
			return -1;
		if (got < LIST_PAGE)
			return 0;
		last = page[got - 1];
		if (!any_depth && reader_is_deep(r->table))
			return fail(E2BIG);
	}
}

struct mount_table *table_read_listmount(struct os *os, unsigned fields, bool any_depth)
{
	struct reader r;
	bool failed = true;

	if (reader_init(&r, os, fields) != 0)
		goto out;
	/* Read again if the table changed meanwhile. */
	for (int torn = 1; torn; r.table->relisted += (unsigned)torn) {
		r.table->count = r.nmissed = r.pages = 0;
		if (reader_read(&r, any_depth) != 0)
			goto out;
		/* The IDs of a single listmount call existed at the same time. */
		if (r.pages > 1 && reader_drop_reused(&r) != 0)
			goto out;
		torn = r.table->relisted < RELISTS ? table_torn(r.table) : 0;
		if (torn < 0)
			goto out;
	}
	failed = reader_check_missed(&r) != 0 || reader_complete(&r) != 0;
out:
	return reader_finish(&r, failed);
}

struct mount_table *table_read_some(struct os *os, unsigned fields, const uint64_t *keys, size_t n)
{
	struct reader r;
	bool failed = true;
	if (reader_init(&r, os, fields) != 0)
		goto out;
	r.allowed = true;   /* the table was read before, so statmount is permitted */
	if (reader_add_all(&r, keys, n) != 0)
		goto out;
	failed = reader_check_missed(&r) != 0 || reader_complete(&r) != 0;
out:
	return reader_finish(&r, failed);
}
