/* SPDX-License-Identifier: MIT */
/*
 * Reading a table from its source, and reading it again.
 */
#include "mounts/table_impl.h"

#include "os/file.h"
#include "path/named.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

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

struct mount_table *table_parse_tabfile(const char *text, size_t len, enum table_source source)
{
	/* mount(8) ignores the rest of a line after a NUL. */
	if (memchr(text, '\0', len))
		return fail_null(EILSEQ);
	struct tablines *lines = tablines_cut(text, len);
	struct mount_table *table = lines ? table_of_lines(lines, source) : NULL;
	tablines_free(lines);
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
