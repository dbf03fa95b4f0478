/* SPDX-License-Identifier: MIT */
/*
 * The public search: include/getmnt/search.h on top of search/, which knows
 * directories, and of discovery, which knows what must not be touched.
 */
#include "search/search.h"

#include "devmap.h"
#include "discover.h"
#include "table/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * See which mounts can block, by the table alone.  Where there is no table no
 * other mount is known, so that none is entered.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
static int mounts_read(struct os *os, struct search_mounts *mounts)
{
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	opts.blocking = true;
	opts.guest = true;
	*mounts = (struct search_mounts){.avoid = avoid_new()};
	if (!mounts->avoid)
		return -1;
	map64_init(&mounts->known);
	struct mount_table *table = table_read_kernel(os, TABLE_AUTO, DISCOVER_FIELDS);
	struct devmap *devs = table ? discover_devmap(os, table) : NULL;
	struct discovery *d = devs ? discover(os, devs, table, &opts) : NULL;
	int rc = !d && errno == ENOMEM ? -1 : 0;
	mounts->unique = table && table->unique_ids;
	for (uint32_t i = 0; d && rc == 0 && i < d->tree.count; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		if (!discovery_blocks(d, i))
			rc = map64_put(&mounts->known, m->key, 0) == MAP64_NONE ? -1 : 0;
		else if (m->point && d->tree.nodes[i].top == i)
			rc = avoid_add(mounts->avoid, m->point);
	}
	if (rc != 0)
		search_mounts_destroy(mounts);
	discovery_free(d);
	devmap_free(devs);
	table_free(table);
	return rc;
}

SEARCH *searchv(const char *const roots[], size_t n, const char *pattern,
                const struct search_options *options)
{
	struct search_options own = {0};
	if (options)
		memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	struct search_mounts mounts;
	if (own.blocking)
		return search_new(&os, NULL, roots, n, pattern, &own);
	if (mounts_read(&os, &mounts) != 0)
		return NULL;
	return search_new(&os, &mounts, roots, n, pattern, &own);
}

SEARCH *opensearch(const char *paths, const char *pattern, int flags)
{
	size_t len = strlen(paths), n = 0;
	const char **roots = malloc((len + 2) * sizeof(*roots));
	char *text = malloc(len + 1);
	SEARCH *search = NULL;
	if (!roots || !text)
		goto out;
	char *to = text;
	roots[n++] = to;
	for (const char *from = paths; *from; ++from) {
		if (*from == '\\' && (from[1] == ':' || from[1] == '\\')) {
			*to++ = *++from;
		} else if (*from == ':') {
			*to++ = '\0';
			roots[n++] = to;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	search = searchv(roots, n, pattern, &(struct search_options){
		.size = sizeof(struct search_options), .flags = flags,
	});
out:
	{
		int error = errno;
		free(roots);
		free(text);
		errno = error;
	}
	return search;
}

/* Weak, so that a program may have a search() of its own beside what else is here. */
__attribute__((weak))
ssize_t search(const char *paths, const char *pattern, int flags, void *buffer, size_t len)
{
	SEARCH *whole = opensearch(paths, pattern, flags);
	if (!whole)
		return -1;
	ssize_t n = search_raw(whole, buffer, len);
	int error = errno;
	closesearch(whole);
	errno = error;
	return n;
}
