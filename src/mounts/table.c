/* SPDX-License-Identifier: MIT */
#include "mounts/table_impl.h"

#include "base/array.h"

#include <stdlib.h>

enum { PROBLEM_TEXT = 200 };

struct mount_table *table_new(enum table_source source)
{
	struct mount_table *table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	table->source = source;
	table->fields = MF_IDS;
	return table;
}

void table_free(struct mount_table *table)
{
	if (!table)
		return;
	arena_destroy(&table->arena);
	free(table->mounts);
	free(table->problems);
	free(table);
}

int table_reserve(struct mount_table *table, size_t n)
{
	if (n <= table->mounts_room)
		return 0;
	struct mount *mounts = reallocarray(table->mounts, n, sizeof(*mounts));
	if (!mounts)
		return -1;
	table->mounts = mounts;
	table->mounts_room = n;
	return 0;
}

struct mount *table_add(struct mount_table *table)
{
	if (!ARRAY_ROOM(table->mounts, table->count, &table->mounts_room))
		return NULL;
	struct mount *m = &table->mounts[table->count++];
	*m = (struct mount){0};
	return m;
}

int table_problem(struct mount_table *table, uint32_t line, const char *reason,
                  const char *text, size_t len)
{
	if (table->nproblems == TABLE_MAX_PROBLEMS) {
		++table->more_problems;
		return 0;
	}
	if (!ARRAY_ROOM(table->problems, table->nproblems, &table->problems_room))
		return -1;
	if (len > PROBLEM_TEXT)
		len = PROBLEM_TEXT;
	char *copy = arena_strndup(&table->arena, text, len);
	if (!copy)
		return -1;
	for (char *nul; (nul = memchr(copy, '\0', len)) != NULL;)
		*nul = '?';
	table->problems[table->nproblems++] = (struct table_problem){line, reason, copy};
	return 0;
}

const char *table_source_name(enum table_source source)
{
	static const char *const names[] = {
		[TABLE_AUTO] = "auto",           [TABLE_LISTMOUNT] = "listmount",
		[TABLE_MOUNTINFO] = "mountinfo", [TABLE_RECORDED] = "recorded",
		[TABLE_FSTAB] = "fstab",         [TABLE_MTAB] = "mtab",
	};
	return names[source];
}

int table_torn(const struct mount_table *table)
{
	struct map64 keys = {0};
	if (map64_reserve(&keys, table->count) != 0)
		return -1;
	bool torn = false;
	for (size_t i = 0; i < table->count; ++i)
		torn |= map64_put(&keys, table->mounts[i].key, (uint32_t)i) != i;

	/* One missing parent is allowed; none if a root is its own parent. */
	bool has_allowed = false;
	uint64_t allowed_parent = 0;
	for (size_t i = 0; i < table->count && !has_allowed; ++i) {
		has_allowed = table->mounts[i].parent_key == table->mounts[i].key;
		allowed_parent = table->mounts[i].key;
	}
	for (size_t i = 0; i < table->count && !torn; ++i) {
		uint64_t parent = table->mounts[i].parent_key;
		if (parent == 0 || map64_get(&keys, parent) != MAP64_NONE)
			continue;
		if (!has_allowed) {
			has_allowed = true;
			allowed_parent = parent;
		}
		torn = parent != allowed_parent;
	}
	map64_destroy(&keys);
	return torn;
}

bool table_alike(const struct mount_table *a, const struct mount_table *b)
{
	bool alike = a->count == b->count;
	for (size_t i = 0; alike && i < a->count; ++i) {
		const struct mount *m = &a->mounts[i], *n = &b->mounts[i];
		alike = m->key == n->key && m->parent_key == n->parent_key
		        && mount_dev(m) == mount_dev(n)
		        && (m->point && n->point ? strcmp(m->point, n->point) == 0
		                                 : m->point == n->point);
	}
	return alike;
}
