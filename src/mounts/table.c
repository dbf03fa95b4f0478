/* SPDX-License-Identifier: MIT */
#include "mounts/table_impl.h"

#include "base/array.h"
#include "base/mountinfo.h"
#include "base/words.h"
#include "os/file.h"
#include "path/named.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	PROBLEM_TEXT = 200,
	TABLE_READS = 4,   /* most attempts to read a consistent mountinfo */
};

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

/* Reading. */

struct mount_table *table_read_kernel(struct os *os, enum table_source source, unsigned fields)
{
	if (source == TABLE_LISTMOUNT)
		return table_read_listmount(os, fields, true);

	struct mount_table *table = NULL;
	bool deep = false;
	if (source == TABLE_AUTO && os->caps & OSC_LISTMOUNT) {
		table = table_read_listmount(os, fields, false);
		if (table || errno == ENOMEM)
			return table;
		deep = errno == E2BIG;
	}
	table = table_read_mountinfo(os, AT_FDCWD, TABLE_SELF_MOUNTINFO);
	if (!table && deep && errno != ENOMEM)
		table = table_read_listmount(os, fields, true);
	return table;
}

struct mount_table *table_read_mountinfo(struct os *os, int dirfd, const char *path)
{
	struct mount_table *table = NULL;
	char *before = NULL;
	size_t before_len = 0;
	for (unsigned again = 0;; ++again) {
		char *text;
		size_t len;
		if (os_read_kernel(os, dirfd, path, TABLE_MAX_BYTES, &text, &len) != 0)
			break;
		/* If this kernel can lose a line, two reads must agree. */
		bool complete = !os->torn_reads
		             || (before && len == before_len && memcmp(text, before, len) == 0);
		table = table_parse_mountinfo(text, len);
		free(before);
		before = text;
		before_len = len;
		if (!table)
			break;
		table->source = TABLE_MOUNTINFO;
		table->relisted = again;
		if (again == TABLE_READS - 1)
			break;
		int torn = table_torn(table);
		if (torn == 0 && complete)
			break;
		table_free(table);
		table = NULL;
		if (torn < 0)
			break;
	}
	free(before);
	return table;
}

/** Parse the text of a file; frees the text. */
static struct mount_table *parse_file(char *text, size_t len, enum table_source source)
{
	struct mount_table *table;
	if (source == TABLE_FSTAB || source == TABLE_MTAB)
		table = table_parse_tabfile(text, len, source);
	else
		table = table_parse_mountinfo(text, len);
	free(text);
	return table;
}

struct mount_table *table_read_file(struct os *os, const char *path, bool fixed,
                                    enum table_source source)
{
	char *text;
	size_t len;
	if ((fixed ? os_read_file(os, AT_FDCWD, path, TABLE_MAX_BYTES, &text, &len)
	           : path_read_named(os, path, NULL, TABLE_MAX_BYTES, &text, &len)) != 0)
		return NULL;
	return parse_file(text, len, source);
}

struct mount_table *table_read_fd(struct os *os, int fd)
{
	char *text;
	size_t len;
	unsigned type = os_file_type(os, fd, NULL, NULL);
	if (type != S_IFREG && type != S_IFIFO && type != S_IFSOCK) {
		if (type != 0)
			return fail_null(type == S_IFDIR ? EISDIR : ENOTSUP);
	}
	if (os_read_fd(os, fd, TABLE_MAX_BYTES, &text, &len) != 0)
		return NULL;
	return parse_file(text, len, TABLE_RECORDED);
}

/** Keep only the mounts with the given keys.  @return 0, or -1 (ENOMEM). */
static int table_pick(struct mount_table *table, const uint64_t *keys, size_t n)
{
	struct map64 wanted = {0};
	if (map64_reserve(&wanted, n) != 0)
		return -1;
	for (size_t i = 0; i < n; ++i)
		map64_put(&wanted, keys[i], 0);

	size_t kept = 0;
	for (size_t i = 0; i < table->count; ++i) {
		if (map64_get(&wanted, table->mounts[i].key) != MAP64_NONE)
			table->mounts[kept++] = table->mounts[i];
	}
	table->count = kept;
	map64_destroy(&wanted);
	return 0;
}

struct mount_table *table_read_again(struct os *os, const struct mount_table *table, unsigned more,
                                     const uint64_t *keys, size_t n, int procfd, const char *path)
{
	unsigned fields = table->fields | more;
	if (table->source == TABLE_LISTMOUNT)
		return keys ? table_read_some(os, fields, keys, n)
		            : table_read_listmount(os, fields, true);
	if (table->source != TABLE_MOUNTINFO)
		return fail_null(EINVAL);

	struct mount_table *again = table_read_mountinfo(os, path ? procfd : AT_FDCWD,
	                                                 path ? path : TABLE_SELF_MOUNTINFO);
	if (again && keys && table_pick(again, keys, n) != 0) {
		table_free(again);
		again = NULL;
	}
	return again;
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

bool table_stands_still(struct os *os, const struct mount_table *table, int watch, int procfd,
                        const char *path)
{
	struct mount_table *now = table_read_again(os, table, 0, NULL, 0, procfd, path);
	bool still = now && table_alike(table, now);
	table_free(now);
	if (watch < 0)
		return still && table->unique_ids;
	/* mountinfo is always readable: if poll(2) returns 0, it has failed. */
	struct pollfd poll = {.fd = watch, .events = POLLIN | POLLPRI};
	return still && os_poll(os, &poll, 1, 0) == 1 && !(poll.revents & ~POLLIN);
}

struct mount_table *table_parse_mountinfo(const char *text, size_t len)
{
	struct mount_table *table = table_new(TABLE_RECORDED);
	if (!table)
		return NULL;
	char *copy = arena_alloc(&table->arena, len + 1);
	if (!copy)
		goto fail;
	memcpy(copy, text, len);
	copy[len] = '\0';
	table->fields = MF_ALL;

	/* Strip a CR only if the first line ends in CR LF: in a live table an option may end in CR,
	   because the kernel does not escape it in option values. */
	bool nuls = memchr(text, '\0', len) != NULL;
	const char *first = memchr(text, '\n', len);
	bool crlf = first && first > text && first[-1] == '\r';

	uint32_t number = 0;
	for (size_t start = 0, next; start < len; start = next) {
		const char *newline = memchr(text + start, '\n', len - start);
		size_t end = newline ? (size_t)(newline - text) : len;
		next = end + 1;
		if (crlf && end > start && text[end - 1] == '\r')
			--end;
		++number;
		if (end == start)
			continue;

		struct mount m = {0};
		const char *reason = "NUL byte";
		if (!nuls || !memchr(text + start, '\0', end - start))
			reason = mountinfo_parse(copy + start, copy + end, &m);
		if (reason) {
			if (table_problem(table, number, reason, text + start, end - start) != 0)
				goto fail;
			continue;
		}
		struct mount *added = table_add(table);
		if (!added)
			goto fail;
		*added = m;
	}
	return table;

fail:
	table_free(table);
	return NULL;
}
