/* SPDX-License-Identifier: MIT */
/*
 * Reading the mount table from mountinfo, and parsing its text.
 */
#include "mounts/table_impl.h"

#include "base/mountinfo.h"
#include "os/file.h"

#include <stdlib.h>

enum { TABLE_READS = 4 };   /* most attempts to read a consistent mountinfo */

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
